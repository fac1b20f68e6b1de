/* bank.c: Jepsen's bank (WORKLOADS.md 14): transfers keep the total.
 *
 * A few accounts, transfers of small amounts between two of them, reads of all
 * of them.  Each read must show the total: read skew and lost updates break
 * it.  `bank` reads account by account, so that key-value stores can run it and
 * read committed shows its skew; `bank-scan` reads all with one statement, as
 * Jepsen does.
 */
#include <inttypes.h>

#include "workload/kv.h"
#include "workload/workloads.h"

#define MAX_ACCOUNTS 1000

typedef struct state {
    hf_chooser chooser;
    int64_t accounts, total, most;
    bool negative, adds;
    hf_memos notes; /* of a read: sum, least balance, was it whole */
} state;

enum { SUM, LEAST, WHOLE };
enum { TRANSFER, READ };

static const hf_workload_option options[] = {
    {"accounts", 8, 2, MAX_ACCOUNTS, "accounts"},
    {"total", 100, 0, 1e12, "money of all accounts together"},
    {"most", 5, 1, 1e9, "amount of a transfer, at most"},
    {"negative", 0, 0, 1, "a balance may be below zero"},
    HF_KV_ADDS,
    HF_CHOOSER_OPTIONS(0, 0),
};

static const hf_step read_all = {"SELECT _tag, k, v FROM kv ORDER BY k",
                                 HF_STEP_SCAN, .table = "kv", .keys = {1}};

static hf_status load(hf_play *p, hf_error *err)
{
    state *s = hf_play_state(p);
    hf_status st = HF_OK;

    s->accounts = hf_option(p, "accounts");
    s->total = hf_option(p, "total");
    s->most = hf_option(p, "most");
    s->negative = hf_option(p, "negative") == 1;
    s->adds = hf_option(p, "adds") == 1;
    hf_chooser_init(&s->chooser, p, s->accounts);
    for (int64_t k = 0; k < s->accounts && st == HF_OK; k++)
        st = hf_kv_load(
            p, k, s->total / s->accounts + (k < s->total % s->accounts ? 1 : 0),
            err);
    return st;
}

static void draw_transfer(hf_play *p, hf_client *c, hf_drawn *d)
{
    const state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);

    d->n = hf_choose_some(&s->chooser, r, 2, d->numbers);
    d->numbers[d->n++] = hf_uniform(r, 1, s->most);
}

static void run_transfer(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const state *s = hf_play_state(p);
    int64_t amount = d->numbers[2];
    hf_kv_row row[2];

    for (unsigned i = 0; i < 2; i++)
        if (!hf_kv_look(c, d->numbers[i], &row[i]))
            return;
    if (!row[0].found || !row[1].found) {
        hf_client_give_up(c, "an account is missing");
        return;
    }
    if (row[0].v < amount && !s->negative)
        return; /* too little: nothing happens */
    if (hf_kv_add(c, &row[0], -amount, s->adds))
        (void)hf_kv_add(c, &row[1], amount, s->adds);
}

/* ---- reads --------------------------------------------------------------- */

static void note(int64_t *notes, int64_t balance, bool first)
{
    notes[SUM] += balance;
    if (first || balance < notes[LEAST])
        notes[LEAST] = balance;
}

static bool sum_of_keys(hf_client *c, int64_t accounts, int64_t *notes)
{
    int64_t v;
    bool found;

    for (int64_t k = 0; k < accounts; k++) {
        if (!hf_kv_get(c, k, &v, &found))
            return false;
        note(notes, v, k == 0);
    }
    notes[WHOLE] = 1;
    return true;
}

static bool sum_of_rows(hf_client *c, int64_t *notes)
{
    const hf_sql_result *rows;

    if (!hf_client_step(c, &read_all, NULL, 0, &rows))
        return false;
    for (uint64_t i = 0; i < rows->n_rows; i++)
        note(notes, hf_cell(rows, i, 2), i == 0);
    notes[WHOLE] = 1;
    return true;
}

static void run_read(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);

    (void)d;
    (void)sum_of_keys(c, s->accounts, hf_memo_begin(&s->notes, c));
}

static void run_scan(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);

    (void)d;
    hf_client_covers(c, 0, s->accounts - 1);
    (void)sum_of_rows(c, hf_memo_begin(&s->notes, c));
}

static void judge(hf_play *p, const int64_t *notes, const char *who)
{
    const state *s = hf_play_state(p);

    if (notes[WHOLE] && notes[SUM] != s->total)
        hf_play_breach(p, "BK1",
                       "%s: expected a total of %" PRId64 ", found %" PRId64,
                       who, s->total, notes[SUM]);
    if (notes[WHOLE] && notes[LEAST] < 0 && !s->negative)
        hf_play_breach(p, "BK2",
                       "%s: expected no balance below 0, found %" PRId64, who,
                       notes[LEAST]);
}

/* A read counts when its transaction committed: until then a database may
 * still take back what it showed. */
static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    state *s = hf_play_state(p);

    if (d->type == READ && known)
        judge(p, hf_memo_of(&s->notes, c), "a read");
}

static void check(hf_play *p, hf_client *c)
{
    const state *s = hf_play_state(p);
    int64_t notes[HF_MEMO_SIZE] = {0};

    if (sum_of_keys(c, s->accounts, notes))
        judge(p, notes, "at the end");
}

static const hf_workload_type types[] = {
    {"transfer", 50, false, draw_transfer, run_transfer},
    {"read", 50, true, NULL, run_read},
};
static const hf_workload_type scan_types[] = {
    {"transfer", 50, false, draw_transfer, run_transfer},
    {"read", 50, true, NULL, run_scan},
};

const hf_workload hf_workload_bank = {
    .name = "bank",
    .summary = "transfers and reads of all accounts, one by one (Jepsen)",
    .plain = true,
    .options = options,
    .n_options = HF_COUNT(options),
    .types = types,
    .n_types = HF_COUNT(types),
    .tables = hf_kv_tables,
    .load = load,
    .check = check,
    .done = done,
    .state_size = sizeof(state)};

const hf_workload hf_workload_bank_scan = {
    .name = "bank-scan",
    .summary = "transfers and reads of all accounts at once (Jepsen)",
    .options = options,
    .n_options = HF_COUNT(options),
    .types = scan_types,
    .n_types = HF_COUNT(scan_types),
    .tables = hf_kv_tables,
    .load = load,
    .check = check,
    .done = done,
    .state_size = sizeof(state)};
