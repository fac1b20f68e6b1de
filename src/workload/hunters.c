/* hunters.c: CobraBench's and Jepsen's small hunters of single anomalies
 * (WORKLOADS.md 1 and 14), each with few keys and much contention.
 *
 * write-skew, ro-anomaly and wo-ro-anomaly have two tables of two keys, here
 * the lower and the upper half of kv: read one key of a half, wait, write one
 * key of the other half.  on-call is the same with a meaning: of each pair one
 * must stay, and both look before they leave.  lost-update increments.
 * dirty-read has writers that abort on purpose; what they write is below
 * zero.
 *
 * The waits are up to 2 ms by default (CobraBench: 200 ms).
 */
#include <inttypes.h>
#include <time.h>

#include "workload/kv.h"
#include "workload/workloads.h"

#define MAX_KEYS 30

static void wait_up_to(hf_rng *r, double milliseconds)
{
    double ns = hf_rng_unit(r) * milliseconds * 1e6;
    struct timespec t = {(time_t)(ns / 1e9), 0};

    if (milliseconds <= 0)
        return;
    t.tv_nsec = (long)(ns - (double)t.tv_sec * 1e9);
    nanosleep(&t, NULL);
}

/* ---- write-skew, ro-anomaly, wo-ro-anomaly ------------------------------- */

typedef struct skew_state {
    int64_t half;
    double sleep, rollback;
} skew_state;

static const hf_workload_option skew_options[] = {
    {"keys", 2, 1, MAX_KEYS / 2, "of each of the two halves"},
    {"sleep", 2, 0, 10000, "wait, in milliseconds, at most (Cobra: 200)"},
    {"rollback", 0, 0, 100, "percent of transactions that give up at the end"},
};

static hf_status load_skew(hf_play *p, hf_error *err)
{
    skew_state *s = hf_play_state(p);

    s->half = hf_option(p, "keys");
    s->sleep = hf_play_option(p, "sleep");
    s->rollback = hf_play_option(p, "rollback");
    return hf_kv_load_all(p, 2 * s->half, err);
}

static void check_skew(hf_play *p, hf_client *c)
{
    const skew_state *s = hf_play_state(p);

    hf_kv_check_all(p, c, 2 * s->half);
}

/* The key that is read, the key that is written and its value, give up? */
static void draw_skew(hf_play *p, hf_client *c, hf_drawn *d)
{
    const skew_state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);
    bool up = hf_coin(r, 50);
    int64_t a = hf_uniform(r, 0, s->half - 1);
    int64_t b = s->half + hf_uniform(r, 0, s->half - 1);

    d->numbers[0] = up ? a : b;
    d->numbers[1] = up ? b : a;
    d->numbers[2] = hf_kv_value(r, d->numbers[1], 2 * s->half);
    d->numbers[3] = hf_coin(r, s->rollback);
    d->n = 4;
}

static bool read_judged(hf_play *p, hf_client *c, int64_t k)
{
    const skew_state *s = hf_play_state(p);
    int64_t v;
    bool found;

    if (!hf_kv_get(c, k, &v, &found))
        return false;
    if (found)
        hf_kv_judge(p, "KV2", k, v, 2 * s->half);
    return true;
}

static void run_skew(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const skew_state *s = hf_play_state(p);

    if (!read_judged(p, c, d->numbers[0]))
        return;
    wait_up_to(hf_client_rng(c), s->sleep);
    if (hf_kv_put(c, d->numbers[1], d->numbers[2]) && d->numbers[3])
        hf_client_give_up(c, "on purpose");
}

static void draw_rollback(hf_play *p, hf_client *c, hf_drawn *d)
{
    const skew_state *s = hf_play_state(p);

    d->numbers[d->n++] = hf_coin(hf_client_rng(c), s->rollback);
}

static void run_read_all(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const skew_state *s = hf_play_state(p);

    for (int64_t k = 0; k < 2 * s->half; k++)
        if (!read_judged(p, c, k))
            return;
    if (d->numbers[0])
        hf_client_give_up(c, "on purpose");
}

/* Each key with a chance of one half: its value, else -1; give up? first. */
static void draw_write_some(hf_play *p, hf_client *c, hf_drawn *d)
{
    const skew_state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);

    draw_rollback(p, c, d);
    for (int64_t k = 0; k < 2 * s->half; k++)
        d->numbers[d->n++] =
            hf_coin(r, 50) ? hf_kv_value(r, k, 2 * s->half) : -1;
}

static void run_write_some(hf_play *p, hf_client *c, const hf_drawn *d)
{
    (void)p;
    for (unsigned i = 1; i < d->n; i++)
        if (d->numbers[i] >= 0 && !hf_kv_put(c, i - 1, d->numbers[i]))
            return;
    if (d->numbers[0])
        hf_client_give_up(c, "on purpose");
}

#define SKEW(symbol, name_, summary_, skews, reads, writes)                    \
    static const hf_workload_type symbol##_types[] = {                         \
        {"write-skew", skews, false, draw_skew, run_skew},                     \
        {"read", reads, true, draw_rollback, run_read_all},                    \
        {"write", writes, false, draw_write_some, run_write_some},             \
    };                                                                         \
    const hf_workload hf_workload_##symbol = {                                 \
        .name = name_,                                                         \
        .summary = summary_,                                                   \
        .plain = true,                                                         \
        .options = skew_options,                                               \
        .n_options = HF_COUNT(skew_options),                                   \
        .types = symbol##_types,                                               \
        .n_types = HF_COUNT(symbol##_types),                                   \
        .tables = hf_kv_tables,                                                \
        .load = load_skew,                                                     \
        .check = check_skew,                                                   \
        .state_size = sizeof(skew_state)}
SKEW(write_skew, "write-skew", "read here, write there (CobraBench)", 100, 0,
     0);
SKEW(ro_anomaly, "ro-anomaly", "write-skew with readers of all (CobraBench)",
     50, 50, 0);
SKEW(wo_ro_anomaly, "wo-ro-anomaly",
     "ro-anomaly with writers that read nothing (CobraBench)", 40, 40, 20);

/* ---- on-call ------------------------------------------------------------- */

/* Keys 2i and 2i + 1 are the pair i; 1: on call. */
typedef struct call_state {
    int64_t pairs;
    double sleep;
    hf_memos notes; /* of a read: pairs that nobody stayed of, one of them */
} call_state;

static const hf_workload_option call_options[] = {
    {"pairs", 4, 1, 1e6, "pairs, one of which must stay on call"},
    {"sleep", 2, 0, 10000, "wait, in milliseconds, at most"},
};

enum { LEAVE, RETURN, LOOK };

static hf_status load_call(hf_play *p, hf_error *err)
{
    call_state *s = hf_play_state(p);
    hf_status st = HF_OK;

    s->pairs = hf_option(p, "pairs");
    s->sleep = hf_play_option(p, "sleep");
    for (int64_t k = 0; k < 2 * s->pairs && st == HF_OK; k++)
        st = hf_kv_load(p, k, 1, err);
    return st;
}

static void draw_call(hf_play *p, hf_client *c, hf_drawn *d)
{
    const call_state *s = hf_play_state(p);

    d->numbers[0] = hf_uniform(hf_client_rng(c), 0, 2 * s->pairs - 1);
    d->n = 1;
}

static bool read_pair(hf_client *c, int64_t k, int64_t *ret_own,
                      int64_t *ret_other)
{
    bool found;

    return hf_kv_get(c, k, ret_own, &found) &&
           hf_kv_get(c, k ^ 1, ret_other, &found);
}

static void run_leave(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const call_state *s = hf_play_state(p);
    int64_t own, other;

    if (!read_pair(c, d->numbers[0], &own, &other))
        return;
    wait_up_to(hf_client_rng(c), s->sleep);
    if (own == 1 && other == 1)
        (void)hf_kv_set(c, d->numbers[0], 0);
}

static void run_return(hf_play *p, hf_client *c, const hf_drawn *d)
{
    (void)p;
    (void)hf_kv_set(c, d->numbers[0], 1);
}

static void run_look(hf_play *p, hf_client *c, const hf_drawn *d)
{
    call_state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c), own, other;

    if (!read_pair(c, d->numbers[0], &own, &other))
        return;
    notes[0] = own + other < 1;
    notes[1] = d->numbers[0] / 2;
}

static void breach_of_call(hf_play *p, const char *who, int64_t pair)
{
    hf_play_breach(p, "OC1",
                   "%s: expected one of pair %" PRId64
                   " on call at least, found none",
                   who, pair);
}

static void done_call(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    call_state *s = hf_play_state(p);
    const int64_t *notes = hf_memo_of(&s->notes, c);

    if (d->type == LOOK && known && notes[0])
        breach_of_call(p, "a read", notes[1]);
}

static void check_call(hf_play *p, hf_client *c)
{
    const call_state *s = hf_play_state(p);
    int64_t own, other;

    for (int64_t pair = 0; pair < s->pairs; pair++) {
        if (!read_pair(c, 2 * pair, &own, &other))
            return;
        if (own + other < 1)
            breach_of_call(p, "at the end", pair);
    }
}

static const hf_workload_type call_types[] = {
    {"leave", 40, false, draw_call, run_leave},
    {"return", 40, false, draw_call, run_return},
    {"look", 20, true, draw_call, run_look},
};

const hf_workload hf_workload_on_call = {
    .name = "on-call",
    .summary = "one of each pair stays; both look before they leave",
    .plain = true,
    .options = call_options,
    .n_options = HF_COUNT(call_options),
    .types = call_types,
    .n_types = HF_COUNT(call_types),
    .tables = hf_kv_tables,
    .load = load_call,
    .check = check_call,
    .done = done_call,
    .state_size = sizeof(call_state)};

/* ---- lost-update --------------------------------------------------------- */

typedef struct lost_state {
    hf_chooser chooser;
    int64_t keys;
    double sleep;
    bool adds;
    hf_ledger increments; /* by key */
} lost_state;

static const hf_workload_option lost_options[] = {
    {"keys", 5, 1, HF_LEDGER, "counters"},
    {"sleep", 0, 0, 10000, "wait, in milliseconds, at most"},
    HF_KV_ADDS,
    HF_CHOOSER_OPTIONS(0, 0),
};

enum { INCREMENT };

static hf_status load_lost(hf_play *p, hf_error *err)
{
    lost_state *s = hf_play_state(p);
    hf_status st = HF_OK;

    s->keys = hf_option(p, "keys");
    s->sleep = hf_play_option(p, "sleep");
    s->adds = hf_option(p, "adds") == 1;
    hf_chooser_init(&s->chooser, p, s->keys);
    for (int64_t k = 0; k < s->keys && st == HF_OK; k++)
        st = hf_kv_load(p, k, 0, err);
    return st;
}

static void draw_lost(hf_play *p, hf_client *c, hf_drawn *d)
{
    const lost_state *s = hf_play_state(p);

    d->numbers[0] = hf_choose(&s->chooser, hf_client_rng(c));
    d->n = 1;
}

static void run_increment(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const lost_state *s = hf_play_state(p);
    hf_kv_row row;

    if (!hf_kv_look(c, d->numbers[0], &row))
        return;
    wait_up_to(hf_client_rng(c), s->sleep);
    (void)hf_kv_add(c, &row, 1, s->adds);
}

static void run_lost_read(hf_play *p, hf_client *c, const hf_drawn *d)
{
    int64_t v;
    bool found;

    (void)p;
    (void)hf_kv_get(c, d->numbers[0], &v, &found);
}

static void done_lost(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    lost_state *s = hf_play_state(p);

    (void)c;
    if (d->type == INCREMENT)
        hf_count_add(hf_ledger_of(&s->increments, d->numbers[0]), 1, known);
}

static void check_lost(hf_play *p, hf_client *c)
{
    lost_state *s = hf_play_state(p);
    int64_t v;
    bool found;

    for (int64_t k = 0; k < s->keys; k++) {
        if (!hf_kv_get(c, k, &v, &found))
            return;
        hf_count_expect(p, "LU1", hf_ledger_of(&s->increments, k), 0, v,
                        "counter %" PRId64, k);
    }
}

static const hf_workload_type lost_types[] = {
    {"increment", 90, false, draw_lost, run_increment},
    {"read", 10, true, draw_lost, run_lost_read},
};

const hf_workload hf_workload_lost_update = {
    .name = "lost-update",
    .summary = "counters are read and written one higher",
    .plain = true,
    .options = lost_options,
    .n_options = HF_COUNT(lost_options),
    .types = lost_types,
    .n_types = HF_COUNT(lost_types),
    .tables = hf_kv_tables,
    .load = load_lost,
    .check = check_lost,
    .done = done_lost,
    .state_size = sizeof(lost_state)};

/* ---- dirty-read ---------------------------------------------------------- */

typedef struct dirty_state {
    int64_t rows;
    double abort, sleep;
    bool shuffle;
    hf_memos notes; /* of a read: least value, greatest, was it whole */
} dirty_state;

static const hf_workload_option dirty_options[] = {
    {"rows", 4, 1, MAX_KEYS, "rows, all of which are written and read"},
    {"abort", 50, 0, 100, "percent of writers that give up on purpose"},
    {"shuffle", 0, 0, 1, "writers take the rows in any order (deadlocks)"},
    {"sleep", 2, 0, 10000, "wait before the end, in milliseconds, at most"},
};

enum { WRITE, READ };

static hf_status load_dirty(hf_play *p, hf_error *err)
{
    dirty_state *s = hf_play_state(p);
    hf_status st = HF_OK;

    s->rows = hf_option(p, "rows");
    s->abort = hf_play_option(p, "abort");
    s->sleep = hf_play_option(p, "sleep");
    s->shuffle = hf_option(p, "shuffle") == 1;
    for (int64_t k = 0; k < s->rows && st == HF_OK; k++)
        st = hf_kv_load(p, k, 0, err);
    return st;
}

/* The value, which is below zero if it will be aborted; then the rows. */
static void draw_dirty(hf_play *p, hf_client *c, hf_drawn *d)
{
    const dirty_state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);
    int64_t value = hf_client_fresh(c);

    d->numbers[d->n++] = hf_coin(r, s->abort) ? -value : value;
    for (int64_t k = 0; k < s->rows; k++) {
        int64_t j = s->shuffle ? hf_uniform(r, 0, k) : k;

        d->numbers[1 + k] = d->numbers[1 + j];
        d->numbers[1 + j] = k;
        d->n++;
    }
}

static void run_dirty(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const dirty_state *s = hf_play_state(p);

    for (unsigned i = 1; i < d->n; i++)
        if (!hf_kv_set(c, d->numbers[i], d->numbers[0]))
            return;
    wait_up_to(hf_client_rng(c), s->sleep);
    if (d->numbers[0] < 0)
        hf_client_give_up(c, "on purpose");
}

static bool read_rows(hf_client *c, int64_t rows, int64_t *notes)
{
    int64_t v;
    bool found;

    for (int64_t k = 0; k < rows; k++) {
        if (!hf_kv_get(c, k, &v, &found))
            return false;
        if (k == 0 || v < notes[0])
            notes[0] = v;
        if (k == 0 || v > notes[1])
            notes[1] = v;
    }
    notes[2] = 1;
    return true;
}

static void judge_dirty(hf_play *p, const char *who, const int64_t *notes)
{
    if (!notes[2])
        return;
    if (notes[0] < 0)
        hf_play_breach(p, "DR1",
                       "%s: expected nothing of an aborted writer, found "
                       "%" PRId64,
                       who, notes[0]);
    if (notes[0] != notes[1])
        hf_play_breach(p, "DR2",
                       "%s: expected all rows alike, found %" PRId64
                       " and %" PRId64,
                       who, notes[0], notes[1]);
}

static void run_dirty_read(hf_play *p, hf_client *c, const hf_drawn *d)
{
    dirty_state *s = hf_play_state(p);

    (void)d;
    (void)read_rows(c, s->rows, hf_memo_begin(&s->notes, c));
}

static void done_dirty(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    dirty_state *s = hf_play_state(p);

    if (d->type == READ && known)
        judge_dirty(p, "a read", hf_memo_of(&s->notes, c));
}

static void check_dirty(hf_play *p, hf_client *c)
{
    const dirty_state *s = hf_play_state(p);
    int64_t notes[HF_MEMO_SIZE] = {0};

    if (read_rows(c, s->rows, notes))
        judge_dirty(p, "at the end", notes);
}

static const hf_workload_type dirty_types[] = {
    {"write", 50, false, draw_dirty, run_dirty},
    {"read", 50, true, NULL, run_dirty_read},
};

const hf_workload hf_workload_dirty_read = {
    .name = "dirty-read",
    .summary = "writers that abort on purpose, readers of all (Jepsen)",
    .plain = true,
    .options = dirty_options,
    .n_options = HF_COUNT(dirty_options),
    .types = dirty_types,
    .n_types = HF_COUNT(dirty_types),
    .tables = hf_kv_tables,
    .load = load_dirty,
    .check = check_dirty,
    .done = done_dirty,
    .state_size = sizeof(dirty_state)};
