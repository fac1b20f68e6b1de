/* bank_server.c: the bank-server of Troubadour (WORKLOADS.md 13).
 *
 * Five transactions on accounts; money is whole cents.  A write that is not
 * blind ends with a read of the rows it touched.  A transfer pays first and
 * takes after that, whether or not the money is there; with `conditional` it
 * looks first.
 */
#include <inttypes.h>

#include "workload/kv.h"
#include "workload/workloads.h"

#define CENTS 100
#define FEE (10 * CENTS)
#define MAX_BREACHES 20u

typedef struct state {
    hf_chooser chooser;
    int64_t accounts, balance, most;
    double blind;
    bool conditional, split;
    _Atomic int64_t debts; /* transactions that may leave one */
    hf_count money;        /* paid in less taken out */
    hf_memos notes;        /* [0]: the same, of one transaction */
} state;

enum { BALANCE_CHECK, DEPOSIT, TRANSFER, WITHDRAW, OVERDRAFT };
/* Places in the numbers. */
enum { SOURCE, TARGET, AMOUNT, BLIND };

static const hf_workload_option options[] = {
    {"accounts", 1000, 2, 1e7, "accounts"},
    {"balance", 1000, 0, 1e9, "of an account at first"},
    {"amount", 100, 1, 1e9, "moved at once, at most"},
    {"rows", 100, 0, 100, "percent of the accounts that are used (least: 2)"},
    {"blind", 0, 0, 100, "percent of writers that do not read at their end"},
    {"conditional", 0, 0, 1, "a transfer looks whether the money is there"},
    {"split-updates", 0, 0, 1, "a balance is read, then written"},
    HF_CHOOSER_OPTIONS(0, 0),
};

static const char *const tables[] = {
    "CREATE TABLE accounts (acc_id BIGINT PRIMARY KEY, "
    "balance BIGINT NOT NULL, _tag BIGINT NOT NULL)",
    NULL};

static const hf_step read_account = {
    "SELECT _tag, acc_id, balance FROM accounts WHERE acc_id = $1",
    HF_STEP_READ, .table = "accounts", .keys = {1}};
static const hf_step add_to_account = {
    "UPDATE accounts SET balance = balance + $2, _tag = $3 WHERE acc_id = $1",
    HF_STEP_UPDATE, .table = "accounts", .keys = {1}, .tag = 3};
static const hf_step set_account = {
    "UPDATE accounts SET balance = $2, _tag = $3 WHERE acc_id = $1",
    HF_STEP_UPDATE,
    .table = "accounts",
    .keys = {1},
    .tag = 3,
    .blind = true};
static const hf_step read_all = {
    "SELECT _tag, acc_id, balance FROM accounts ORDER BY acc_id", HF_STEP_SCAN,
    .table = "accounts", .keys = {1}};

static hf_status load(hf_play *p, hf_error *err)
{
    state *s = hf_play_state(p);
    hf_status st = HF_OK;
    int64_t used;

    s->accounts = hf_option(p, "accounts");
    s->balance = hf_option(p, "balance") * CENTS;
    s->most = hf_option(p, "amount");
    s->blind = hf_play_option(p, "blind");
    s->conditional = hf_option(p, "conditional") == 1;
    s->split = hf_option(p, "split-updates") == 1;
    used = (int64_t)((double)s->accounts * hf_play_option(p, "rows") / 100);
    hf_chooser_init(&s->chooser, p, used < 2 ? 2 : used);
    for (int64_t i = 1; i <= s->accounts && st == HF_OK; i++)
        st = HF_LOAD(p, "accounts", err, hf_i(i), hf_i(s->balance), hf_tag());
    return st;
}

/* ---- transactions -------------------------------------------------------- */

static void draw(hf_play *p, hf_client *c, hf_drawn *d)
{
    const state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);

    hf_choose_some(&s->chooser, r, 2, d->numbers);
    d->numbers[SOURCE]++; /* accounts are counted from 1 */
    d->numbers[TARGET]++;
    d->numbers[AMOUNT] = hf_uniform(r, 1, s->most) * CENTS;
    d->numbers[BLIND] = hf_coin(r, s->blind);
    d->n = 4;
}

/* False: the transaction is over.  A missing account has no money. */
static bool balance_of(hf_client *c, int64_t account, int64_t *ret)
{
    const hf_sql_result *rows;

    if (!HF_STEP(c, read_account, &rows, hf_i(account)))
        return false;
    *ret = rows->n_rows > 0 ? hf_cell(rows, 0, 2) : 0;
    return true;
}

static bool add(hf_play *p, hf_client *c, int64_t account, int64_t amount)
{
    state *s = hf_play_state(p);
    const hf_sql_result *rows;
    int64_t balance;

    if (!s->split) {
        if (!HF_STEP(c, add_to_account, &rows, hf_i(account), hf_i(amount),
                     hf_tag()))
            return false;
    } else if (!balance_of(c, account, &balance) ||
               !HF_STEP(c, set_account, &rows, hf_i(account),
                        hf_i(balance + amount), hf_tag())) {
        return false;
    }
    if (rows->affected > 0)
        hf_memo_of(&s->notes, c)[0] += amount;
    return true;
}

static bool look_again(hf_client *c, const hf_drawn *d, unsigned which)
{
    int64_t ignored;

    return d->numbers[BLIND] || balance_of(c, d->numbers[which], &ignored);
}

static void run_balance_check(hf_play *p, hf_client *c, const hf_drawn *d)
{
    int64_t ignored;

    (void)p;
    (void)balance_of(c, d->numbers[SOURCE], &ignored);
}

static void run_deposit(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);

    hf_memo_begin(&s->notes, c);
    if (add(p, c, d->numbers[TARGET], d->numbers[AMOUNT]))
        (void)look_again(c, d, TARGET);
}

static void run_transfer(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t balance;

    hf_memo_begin(&s->notes, c);
    if (s->conditional) {
        if (!balance_of(c, d->numbers[SOURCE], &balance) ||
            balance < d->numbers[AMOUNT])
            return;
    } else {
        atomic_fetch_add(&s->debts, 1);
    }
    if (add(p, c, d->numbers[TARGET], d->numbers[AMOUNT]) &&
        add(p, c, d->numbers[SOURCE], -d->numbers[AMOUNT]) &&
        look_again(c, d, TARGET))
        (void)look_again(c, d, SOURCE);
}

static void run_withdraw(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t balance, amount = d->numbers[AMOUNT];

    hf_memo_begin(&s->notes, c);
    if (!balance_of(c, d->numbers[SOURCE], &balance))
        return;
    if (balance < amount) {
        if (d->type == WITHDRAW)
            return;
        amount += FEE;
        atomic_fetch_add(&s->debts, 1);
    }
    if (add(p, c, d->numbers[SOURCE], -amount))
        (void)look_again(c, d, SOURCE);
}

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    state *s = hf_play_state(p);

    if (d->type != BALANCE_CHECK)
        hf_count_add(&s->money, hf_memo_of(&s->notes, c)[0], known);
}

static void check(hf_play *p, hf_client *c)
{
    state *s = hf_play_state(p);
    bool may_owe = atomic_load(&s->debts) > 0;
    unsigned breaches = 0;
    int64_t sum = 0;
    hf_grid g;

    if (!hf_grid_read(c, &read_all, &g))
        return;
    for (uint64_t i = 0; i < g.n; i++) {
        const int64_t *row = hf_grid_row(&g, i);

        sum += row[2];
        if (row[2] >= 0 || may_owe || breaches++ >= MAX_BREACHES)
            continue;
        hf_play_breach(p, "BS2",
                       "account %" PRId64
                       ": expected no balance below 0, found %" PRId64,
                       row[1], row[2]);
    }
    hf_count_expect(p, "BS1", &s->money, s->accounts * s->balance, sum,
                    "cents of all accounts");
    hf_grid_release(&g);
}

static const hf_workload_type types[] = {
    {"balance-check", 20, true, draw, run_balance_check},
    {"deposit", 20, false, draw, run_deposit},
    {"transfer", 20, false, draw, run_transfer},
    {"withdraw", 20, false, draw, run_withdraw},
    {"withdraw-overdraft", 20, false, draw, run_withdraw},
};

const hf_workload hf_workload_bank_server = {
    .name = "bank-server",
    .summary = "deposits, transfers and withdrawals (Troubadour)",
    .options = options,
    .n_options = HF_COUNT(options),
    .types = types,
    .n_types = HF_COUNT(types),
    .tables = tables,
    .load = load,
    .check = check,
    .done = done,
    .state_size = sizeof(state)};
