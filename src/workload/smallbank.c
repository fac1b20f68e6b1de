/* smallbank.c: SmallBank (WORKLOADS.md 5): customers with a savings and a
 * checking account; the classic source of write skew and of the read-only
 * anomaly under snapshot isolation.
 *
 * Money is in cents.  By default 100 customers (Leopard: 1000 per scale
 * factor, BenchBase a million): enough contention for a few clients.
 * MonkeyDB's: --set accounts=5 --set least=2500 --set most=2500 and the mix
 * amalgamate 30, balance 30, send-payment 40.
 *
 * split-updates=1 turns bal = bal + x into a read and a write.
 * dialect=benchbase has that project's Amalgamate and WriteCheck; no invariants
 * hold then.
 *
 * Nothing fills savings up again: in a long run TransactSavings is refused more
 * and more often, as in the original.
 *
 * What each customer ought to own is counted as transactions commit, by what
 * they believed to have moved: exact whatever the order, because every
 * transaction but Amalgamate adds a constant and Amalgamate moves what it
 * read.  SB5 (was a penalty due?) is about the order: the checker's business.
 */
#include <stdio.h>

#include "workload/steps.h"

enum {
    AMALGAMATE = 0,
    BALANCE,
    DEPOSIT_CHECKING,
    SEND_PAYMENT,
    TRANSACT_SAVINGS,
    WRITE_CHECK
};

typedef struct bank_state {
    hf_count total;  /* of all accounts: what was loaded is in it */
    hf_count others; /* committed transactions that make or destroy money */
    hf_ledger owned; /* per customer */
    hf_memos notes;  /* 0: penalty or amount moved */
} bank_state;

static const char *const tables[] = {
    "CREATE TABLE accounts (custid BIGINT PRIMARY KEY, "
    "name VARCHAR(64) NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE INDEX accounts_name ON accounts (name)",
    "CREATE TABLE savings (custid BIGINT PRIMARY KEY, bal BIGINT NOT NULL, "
    "_tag BIGINT NOT NULL)",
    "CREATE TABLE checking (custid BIGINT PRIMARY KEY, bal BIGINT NOT NULL, "
    "_tag BIGINT NOT NULL)",
    NULL};

static const hf_workload_option options[] = {
    {"accounts", 100, 2, 1e9, "customers (Leopard 1000, BenchBase 1000000)"},
    {"least", 10000, 0, 1e9, "smallest balance that is loaded"},
    {"most", 50000, 0, 1e9, "largest balance that is loaded"},
    {"hot", 0, 0, 100, "percent of choices among the hot customers"},
    {"hot-accounts", 25, 1, 1e9, "how many customers are hot"},
    {"payment", 500, 0, 1e9, "cents of SendPayment"},
    {"deposit", 130, 0, 1e9, "cents of DepositChecking"},
    {"transact", 2020, 0, 1e9, "cents of TransactSavings"},
    {"check", 500, 0, 1e9, "cents of WriteCheck"},
    {"penalty", 100, 0, 1e9, "cents for a check without cover"},
    {"split-updates", 0, 0, 1, "additions as a read and a write"},
    {"dialect", 0, 0, 1, "original, or benchbase without invariants"},
};

static const hf_step by_name = {
    "SELECT _tag, custid FROM accounts WHERE name = $1", HF_STEP_SCAN,
    .table = "accounts", .keys = {1}};
static const hf_step by_id = {
    "SELECT _tag, name FROM accounts WHERE custid = $1", HF_STEP_READ,
    .table = "accounts", .keys = {1}};

/* savings, checking */
static const hf_step read_balance[2] = {
    {"SELECT _tag, bal FROM savings WHERE custid = $1", HF_STEP_READ,
     .table = "savings", .keys = {1}},
    {"SELECT _tag, bal FROM checking WHERE custid = $1", HF_STEP_READ,
     .table = "checking", .keys = {1}}};
static const hf_step add_balance[2] = {
    {"UPDATE savings SET bal = bal + $2, _tag = $3 WHERE custid = $1",
     HF_STEP_UPDATE, .table = "savings", .keys = {1}, .tag = 3},
    {"UPDATE checking SET bal = bal + $2, _tag = $3 WHERE custid = $1",
     HF_STEP_UPDATE, .table = "checking", .keys = {1}, .tag = 3}};
static const hf_step set_balance[2] = {
    {"UPDATE savings SET bal = $2, _tag = $3 WHERE custid = $1", HF_STEP_UPDATE,
     .table = "savings", .keys = {1}, .tag = 3, .blind = true},
    {"UPDATE checking SET bal = $2, _tag = $3 WHERE custid = $1",
     HF_STEP_UPDATE, .table = "checking", .keys = {1}, .tag = 3,
     .blind = true}};
enum { SAVINGS = 0, CHECKING = 1 };

static const hf_step all_savings = {
    "SELECT _tag, custid, bal FROM savings ORDER BY custid", HF_STEP_SCAN,
    .table = "savings", .keys = {1}};
static const hf_step all_checking = {
    "SELECT _tag, custid, bal FROM checking ORDER BY custid", HF_STEP_SCAN,
    .table = "checking", .keys = {1}};

/* The number with leading zeros, as wide as the column. */
static void name_of(int64_t customer, char name[65])
{
    snprintf(name, 65, "%064lld", (long long)customer);
}

/* ---- loading ------------------------------------------------------------- */

/* About Gaussian: twelve uniform numbers are enough. */
static int64_t draw_balance(hf_rng *r, int64_t least, int64_t most)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += hf_rng_unit(r);
    return (int64_t)((double)least * 100.0 +
                     (double)(most - least) * 100.0 * sum / 12.0);
}

static hf_status load_account(hf_play *p, hf_rng *r, int64_t i, hf_error *err)
{
    bank_state *state = hf_play_state(p);
    int64_t least = hf_option(p, "least"), most = hf_option(p, "most");
    int64_t savings = draw_balance(r, least, most);
    int64_t checking = draw_balance(r, least, most);
    char name[65];
    hf_status st;

    name_of(i, name);
    hf_count_add(&state->total, savings + checking, true);
    hf_count_add(hf_ledger_of(&state->owned, i), savings + checking, true);
    st = HF_LOAD(p, "accounts", err, hf_i(i), hf_t(name), hf_tag());
    if (st == HF_OK)
        st = HF_LOAD(p, "savings", err, hf_i(i), hf_i(savings), hf_tag());
    if (st == HF_OK)
        st = HF_LOAD(p, "checking", err, hf_i(i), hf_i(checking), hf_tag());
    return st;
}

static hf_status load(hf_play *p, hf_error *err)
{
    int64_t n = hf_option(p, "accounts");
    hf_status st = HF_OK;
    hf_rng rng;

    if (hf_play_option(p, "least") > hf_play_option(p, "most"))
        return hf_fail(err, HF_ERR_INPUT,
                       "the smallest balance (option \"least\") is above the "
                       "largest (option \"most\")");
    hf_rng_seed(&rng, 5);
    for (int64_t i = 0; i < n && st == HF_OK; i++)
        st = load_account(p, &rng, i, err);
    return st;
}

/* ---- transactions -------------------------------------------------------- */

static int64_t draw_customer(hf_play *p, hf_rng *r)
{
    int64_t n = hf_option(p, "accounts"), hot = hf_option(p, "hot-accounts");

    if (hf_coin(r, hf_play_option(p, "hot")) && hot < n)
        n = hot;
    return hf_uniform(r, 0, n - 1);
}

static void draw_one(hf_play *p, hf_client *c, hf_drawn *ret)
{
    ret->numbers[0] = draw_customer(p, hf_client_rng(c));
    ret->n = 1;
}

static void draw_two(hf_play *p, hf_client *c, hf_drawn *ret)
{
    hf_rng *r = hf_client_rng(c);
    int64_t n = hf_option(p, "accounts");

    ret->numbers[0] = draw_customer(p, r);
    ret->numbers[1] = draw_customer(p, r);
    if (ret->numbers[1] == ret->numbers[0])
        ret->numbers[1] = (ret->numbers[0] + hf_uniform(r, 1, n - 1)) % n;
    ret->n = 2;
}

/* The customer by his name; false: over. */
static bool find(hf_client *c, int64_t customer, int64_t *ret)
{
    const hf_sql_result *rows;
    char name[65];

    name_of(customer, name);
    if (!HF_STEP(c, by_name, &rows, hf_t(name)))
        return false;
    if (rows->n_rows == 0) {
        hf_client_give_up(c, "no such account");
        return false;
    }
    *ret = hf_cell(rows, 0, 1);
    return true;
}

static bool exists(hf_client *c, int64_t customer)
{
    const hf_sql_result *rows;

    if (!HF_STEP(c, by_id, &rows, hf_i(customer)))
        return false;
    if (rows->n_rows == 0)
        hf_client_give_up(c, "no such account");
    return rows->n_rows > 0;
}

static bool balance_of(hf_client *c, int which, int64_t customer, int64_t *ret)
{
    const hf_sql_result *rows;

    if (!HF_STEP(c, read_balance[which], &rows, hf_i(customer)))
        return false;
    if (rows->n_rows == 0) {
        hf_client_give_up(c, "no balance");
        return false;
    }
    *ret = hf_cell(rows, 0, 1);
    return true;
}

static bool set(hf_client *c, int which, int64_t customer, int64_t value)
{
    return HF_STEP(c, set_balance[which], NULL, hf_i(customer), hf_i(value),
                   hf_tag());
}

/* bal = bal + amount; `read`: what the transaction has read already, for
 * split updates, or NULL. */
static bool add(hf_play *p, hf_client *c, int which, int64_t customer,
                int64_t amount, const int64_t *read)
{
    int64_t value;

    if (hf_play_option(p, "split-updates") == 0)
        return HF_STEP(c, add_balance[which], NULL, hf_i(customer),
                       hf_i(amount), hf_tag());
    if (read)
        value = *read;
    else if (!balance_of(c, which, customer, &value))
        return false;
    return set(c, which, customer, value + amount);
}

static void balance(hf_play *p, hf_client *c, const hf_drawn *d)
{
    int64_t customer, value;

    (void)p;
    if (find(c, d->numbers[0], &customer) &&
        balance_of(c, SAVINGS, customer, &value))
        (void)balance_of(c, CHECKING, customer, &value);
}

static void deposit_checking(hf_play *p, hf_client *c, const hf_drawn *d)
{
    int64_t customer;

    if (find(c, d->numbers[0], &customer))
        (void)add(p, c, CHECKING, customer, hf_option(p, "deposit"), NULL);
}

static void transact_savings(hf_play *p, hf_client *c, const hf_drawn *d)
{
    int64_t customer, value, amount = hf_option(p, "transact");

    if (!find(c, d->numbers[0], &customer) ||
        !balance_of(c, SAVINGS, customer, &value))
        return;
    if (value < amount) {
        hf_client_give_up(c, "savings would be negative");
        return;
    }
    (void)add(p, c, SAVINGS, customer, -amount, &value);
}

static void send_payment(hf_play *p, hf_client *c, const hf_drawn *d)
{
    int64_t from = d->numbers[0], to = d->numbers[1];
    int64_t value, amount = hf_option(p, "payment");

    if (!exists(c, from) || !exists(c, to) ||
        !balance_of(c, CHECKING, from, &value))
        return;
    if (value < amount) {
        hf_client_give_up(c, "not enough money");
        return;
    }
    if (add(p, c, CHECKING, from, -amount, &value))
        (void)add(p, c, CHECKING, to, amount, NULL);
}

static void write_check(hf_play *p, hf_client *c, const hf_drawn *d)
{
    bank_state *state = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&state->notes, c);
    int64_t penalty = hf_option(p, "penalty");
    int64_t customer, savings, checking, amount = hf_option(p, "check");

    if (!find(c, d->numbers[0], &customer) ||
        !balance_of(c, SAVINGS, customer, &savings) ||
        !balance_of(c, CHECKING, customer, &checking))
        return;
    if (savings + checking < amount)
        notes[0] = hf_play_option(p, "dialect") != 0 ? -penalty : penalty;
    (void)add(p, c, CHECKING, customer, -amount - notes[0], &checking);
}

static void amalgamate(hf_play *p, hf_client *c, const hf_drawn *d)
{
    bank_state *state = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&state->notes, c);
    bool benchbase = hf_play_option(p, "dialect") != 0;
    int64_t from = d->numbers[0], to = d->numbers[1], savings, checking;

    if (!exists(c, from) || !exists(c, to) ||
        !balance_of(c, SAVINGS, from, &savings) ||
        !balance_of(c, CHECKING, benchbase ? to : from, &checking))
        return;
    notes[0] = savings + checking;
    if (!set(c, CHECKING, from, 0))
        return;
    if (benchbase)
        (void)add(p, c, SAVINGS, to, -notes[0], NULL);
    else if (set(c, SAVINGS, from, 0))
        (void)add(p, c, CHECKING, to, notes[0], NULL);
}

/* ---- what was committed -------------------------------------------------- */

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    bank_state *state = hf_play_state(p);
    const int64_t *notes = hf_memo_of(&state->notes, c);
    hf_count *own = hf_ledger_of(&state->owned, d->numbers[0]);
    int64_t change = 0, moved = 0;

    switch (d->type) {
    case DEPOSIT_CHECKING:
        change = hf_option(p, "deposit");
        break;
    case TRANSACT_SAVINGS:
        change = -hf_option(p, "transact");
        break;
    case WRITE_CHECK:
        change = -hf_option(p, "check") - notes[0];
        break;
    case SEND_PAYMENT:
        moved = hf_option(p, "payment");
        break;
    case AMALGAMATE:
        moved = notes[0];
        break;
    default:
        return;
    }
    hf_count_add(&state->total, change, known);
    hf_count_add(own, change - moved, known);
    if (moved != 0)
        hf_count_add(hf_ledger_of(&state->owned, d->numbers[1]), moved, known);
    else
        hf_count_add(&state->others, 1, known);
}

static int64_t sum_up(hf_play *p, const hf_grid *g, hf_ledger_sums *found,
                      bool is_savings)
{
    int64_t sum = 0;

    for (uint64_t i = 0; i < g->n; i++) {
        const int64_t *row = hf_grid_row(g, i);

        sum += row[2];
        hf_ledger_found(found, row[1], row[2]);
        if (is_savings && row[2] < 0)
            hf_play_breach(p, "SB3",
                           "savings of customer %lld: expected no less than "
                           "0, found %lld",
                           (long long)row[1], (long long)row[2]);
    }
    return sum;
}

static void check(hf_play *p, hf_client *c)
{
    bank_state *state = hf_play_state(p);
    hf_ledger_sums found = {{0}};
    bool conserving = atomic_load(&state->others.high) == 0;
    hf_grid savings, checking;
    int64_t total;

    if (hf_play_option(p, "dialect") != 0 ||
        !hf_grid_read(c, &all_savings, &savings))
        return;
    if (hf_grid_read(c, &all_checking, &checking)) {
        total = sum_up(p, &savings, &found, true);
        total += sum_up(p, &checking, &found, false);
        if (hf_memo_exact(c)) {
            hf_count_expect(p, conserving ? "SB1" : "SB2", &state->total, 0,
                            total, "all money, in cents");
            hf_ledger_expect(p, "SB4", &state->owned, &found,
                             "savings and checking of customer");
        }
    }
    hf_grid_release(&savings);
    hf_grid_release(&checking);
}

static const hf_workload_type types[] = {
    {"amalgamate", 15, false, draw_two, amalgamate},
    {"balance", 15, true, draw_one, balance},
    {"deposit-checking", 15, false, draw_one, deposit_checking},
    {"send-payment", 25, false, draw_two, send_payment},
    {"transact-savings", 15, false, draw_one, transact_savings},
    {"write-check", 15, false, draw_one, write_check},
};

const hf_workload hf_workload_smallbank = {
    .name = "smallbank",
    .summary = "SmallBank: two accounts per customer, write skew",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .types = types,
    .n_types = sizeof(types) / sizeof(types[0]),
    .tables = tables,
    .load = load,
    .check = check,
    .done = done,
    .state_size = sizeof(bank_state),
};
