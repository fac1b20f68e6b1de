/* generate.c: options, the clients, and the run as a whole.
 *
 * The cost of a run is about that of its operations: a client is picked, an
 * operation is chosen and executed by the store, and at the end of the
 * transaction its log is copied to the history.  Nothing is allocated in the
 * steady state but the columns of the history.
 */
#include "workload/generate.h"

#include <math.h>
#include <string.h>

#include "history/bulk.h"
#include "workload/driver.h"

#define MAX_KEYS ((uint32_t)1 << 28)
#define MAX_SESSIONS ((uint32_t)1 << 20)
#define MAX_OPS ((uint32_t)1 << 20)
#define MAX_TRANSACTIONS ((uint64_t)1 << 31)

typedef struct workload_row {
    const char *name, *summary;
    unsigned bugs; /* HF_BUG_IN_* */
    void (*run)(generator *g);
} workload_row;

static const workload_row workloads[HF_WORKLOAD_COUNT] = {
    [HF_WORKLOAD_REGISTER] = {"register",
                              "reads and writes of single keys, every value "
                              "written once",
                              HF_BUG_IN_REGISTER, hf_run_register},
    [HF_WORKLOAD_APPEND] = {"append",
                            "appends to lists and reads of whole lists",
                            HF_BUG_IN_APPEND, hf_run_append},
    [HF_WORKLOAD_PREDICATE] = {"predicate",
                               "rows read, changed and summed up one by one "
                               "and by conditions",
                               HF_BUG_IN_PREDICATE, hf_run_predicate},
    [HF_WORKLOAD_EMME_ITEM] = {"emme-item",
                               "rows inserted, updated, incremented and read "
                               "one by one, in Emme's item mix",
                               HF_BUG_IN_EMME_ITEM, hf_run_emme},
    [HF_WORKLOAD_EMME_PREDICATE] = {"emme-predicate",
                                    "rows also read and updated by ranges, "
                                    "least and greatest, in Emme's predicate "
                                    "mix",
                                    HF_BUG_IN_EMME_PREDICATE, hf_run_emme},
};

static const char *const version_sets[HF_VERSION_SETS_COUNT] = {
    [HF_VERSION_SETS_DEFAULT] = "default",
    [HF_VERSION_SETS_EXPLICIT] = "explicit",
    [HF_VERSION_SETS_TIME] = "time",
    [HF_VERSION_SETS_IDS] = "ids",
};

static const char *const distributions[HF_DISTRIBUTION_COUNT] = {
    [HF_DISTRIBUTION_UNIFORM] = "uniform",
    [HF_DISTRIBUTION_ZIPF] = "zipf",
    [HF_DISTRIBUTION_HOTSPOT] = "hotspot",
    [HF_DISTRIBUTION_EXPONENTIAL] = "exponential",
};

/* ---- names --------------------------------------------------------------- */

const char *hf_workload_name(hf_workload workload)
{
    HF_ASSERT((unsigned)workload < HF_WORKLOAD_COUNT);
    return workloads[workload].name;
}

const char *hf_workload_summary(hf_workload workload)
{
    HF_ASSERT((unsigned)workload < HF_WORKLOAD_COUNT);
    return workloads[workload].summary;
}

bool hf_workload_find(hf_str name, hf_workload *ret_workload)
{
    for (unsigned i = 0; i < HF_WORKLOAD_COUNT; i++) {
        if (hf_str_same_name(hf_str_of(workloads[i].name), name)) {
            *ret_workload = (hf_workload)i;
            return true;
        }
    }
    return false;
}

const char *hf_version_sets_name(hf_version_sets sets)
{
    HF_ASSERT((unsigned)sets < HF_VERSION_SETS_COUNT);
    return version_sets[sets];
}

bool hf_version_sets_find(hf_str name, hf_version_sets *ret_sets)
{
    for (unsigned i = 0; i < HF_VERSION_SETS_COUNT; i++) {
        if (hf_str_same_name(hf_str_of(version_sets[i]), name)) {
            *ret_sets = (hf_version_sets)i;
            return true;
        }
    }
    return false;
}

const char *hf_distribution_name(hf_distribution distribution)
{
    HF_ASSERT((unsigned)distribution < HF_DISTRIBUTION_COUNT);
    return distributions[distribution];
}

bool hf_distribution_find(hf_str name, hf_distribution *ret_distribution)
{
    for (unsigned i = 0; i < HF_DISTRIBUTION_COUNT; i++) {
        if (hf_str_same_name(hf_str_of(distributions[i]), name)) {
            *ret_distribution = (hf_distribution)i;
            return true;
        }
    }
    return false;
}

hf_workload hf_store_bug_workload(hf_store_bug bug)
{
    unsigned in = hf_store_bug_get(bug)->workloads;
    unsigned i = 0;

    while (!(workloads[i].bugs & in))
        i++;
    return (hf_workload)i;
}

/* ---- options ------------------------------------------------------------- */

static bool is_emme(hf_workload workload)
{
    return workload == HF_WORKLOAD_EMME_ITEM ||
           workload == HF_WORKLOAD_EMME_PREDICATE;
}

/* WORKLOAD's own defaults, over those of registers. */
static void set_workload_defaults(hf_generate_options *o)
{
    switch (o->workload) {
    case HF_WORKLOAD_APPEND:
        o->keys = 10;
        o->max_ops = 4;
        o->writes_per_key = 64;
        o->distribution = HF_DISTRIBUTION_EXPONENTIAL;
        break;
    case HF_WORKLOAD_PREDICATE:
        o->keys = 20;
        o->max_ops = 5;
        break;
    case HF_WORKLOAD_EMME_ITEM:
    case HF_WORKLOAD_EMME_PREDICATE:
        o->min_ops = o->max_ops = 5;
        o->keys = 100;
        o->range_percent = 1;
        o->loaded_percent = 0;
        o->read_percent = 45;
        o->write_percent = 55;
        o->rmw_percent = 0;
        if (o->workload == HF_WORKLOAD_EMME_PREDICATE)
            break;
        o->keys = 1000;
        o->read_percent = o->write_percent = 40;
        o->rmw_percent = 20;
        break;
    default:
        break;
    }
}

void hf_generate_defaults(hf_generate_options *o, hf_workload workload,
                          hf_store_bug bug)
{
    const hf_store_bug_info *info = hf_store_bug_get(bug);

    *o = (hf_generate_options){
        .workload = workload,
        .transactions = 1000,
        .min_ops = 1,
        .max_ops = 8,
        .keys = 100,
        .sessions = 10,
        .seed = 1,
        .theta = 0.99,
        .hot_keys = 10,
        .hot_operations = 90,
        .read_percent = 50,
        .write_percent = 25,
        .rmw_percent = 25,
        .predicate_percent = 50,
        .range_percent = 20,
        .loaded_percent = 50,
        .level = info->shows_at,
        .bug = bug,
        .bug_percent = info->percent,
        .abort_percent = info->abort_percent,
        .times = true,
        .unique_values = !info->needs_duplicates,
        .certificate = true,
    };
    set_workload_defaults(o);
    if (bug != HF_BUG_NONE) {
        o->transactions = 200;
        o->keys = 10;
        if (is_emme(workload))
            o->range_percent = 20;
    }
}

static hf_status bad(hf_error *err, const char *what, uint64_t is)
{
    return hf_fail(err, HF_ERR_USAGE, "%s, not %llu", what,
                   (unsigned long long)is);
}

static hf_status check_counts(const hf_generate_options *o, hf_error *err)
{
    if (o->transactions > MAX_TRANSACTIONS)
        return bad(err, "transactions are at most 2147483648", o->transactions);
    if (o->min_ops < 1 || o->max_ops > MAX_OPS)
        return bad(err, "a transaction has 1 to 1048576 operations",
                   o->min_ops < 1 ? o->min_ops : o->max_ops);
    if (o->min_ops > o->max_ops)
        return hf_fail(err, HF_ERR_USAGE,
                       "operations per transaction from %u to %u: the first "
                       "is larger",
                       o->min_ops, o->max_ops);
    if (o->keys < 1 || o->keys > MAX_KEYS)
        return bad(err, "keys are 1 to 268435456", o->keys);
    if (o->sessions < 1 || o->sessions > MAX_SESSIONS)
        return bad(err, "sessions are 1 to 1048576", o->sessions);
    if (o->replicas == 1 || o->replicas > HF_STORE_REPLICAS)
        return bad(err, "replicas are 2 to 4, or 0 for the default",
                   o->replicas);
    return HF_OK;
}

static hf_status check_percent(const hf_generate_options *o, hf_error *err)
{
    const struct {
        const char *what;
        unsigned percent;
    } rows[] = {
        {"the share of hot keys is 0 to 100", o->hot_keys},
        {"the share of hot operations is 0 to 100", o->hot_operations},
        {"the share of predicates is 0 to 100", o->predicate_percent},
        {"the width of ranges is 0 to 100", o->range_percent},
        {"the share of loaded rows is 0 to 100", o->loaded_percent},
        {"the rate of the bug is 0 to 100", o->bug_percent},
        {"the rate of aborts is 0 to 100", o->abort_percent},
        {"the rate of unknown outcomes is 0 to 100", o->unknown_percent}};
    uint64_t sum =
        (uint64_t)o->read_percent + o->write_percent + o->rmw_percent;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].percent > 100)
            return bad(err, rows[i].what, rows[i].percent);
    if (sum != 100)
        return bad(err,
                   "the shares of reads, writes and read-modify-writes add "
                   "up to 100",
                   sum);
    if (o->distribution == HF_DISTRIBUTION_ZIPF &&
        !(o->theta > 0 && o->theta <= 10))
        return hf_fail(err, HF_ERR_USAGE,
                       "theta of zipf is above 0 and at most 10, not %g",
                       o->theta);
    return HF_OK;
}

/* Does the store have one clock, whose times say what a scan saw? */
static bool has_clock(const hf_generate_options *o)
{
    hf_store *s;
    bool has;

    if (!o->certificate || o->level == HF_READ_UNCOMMITTED)
        return false;
    s = hf_store_new(
        &(hf_store_options){.level = o->level, .bug = o->bug, .sessions = 1});
    has = !hf_store_is_replicated(s);
    hf_store_free(s);
    return has;
}

static hf_status check_sets(const hf_generate_options *o, hf_error *err)
{
    if (o->version_sets < HF_VERSION_SETS_TIME || has_clock(o))
        return HF_OK;
    if (!o->certificate)
        return hf_fail(err, HF_ERR_USAGE,
                       "version sets as snapshots without a certificate");
    return hf_fail(err, HF_ERR_USAGE,
                   "a store at level \"%s\"%s has no snapshots that all see: "
                   "version sets must be explicit",
                   hf_level_get(o->level)->name,
                   o->bug == HF_BUG_NONE ? "" : " with this bug");
}

static hf_version_sets sets_of(const hf_generate_options *o)
{
    if (o->version_sets != HF_VERSION_SETS_DEFAULT)
        return o->version_sets;
    return is_emme(o->workload) && has_clock(o) ? HF_VERSION_SETS_TIME
                                                : HF_VERSION_SETS_EXPLICIT;
}

hf_status hf_generate_check(const hf_generate_options *o, hf_error *err)
{
    const hf_store_bug_info *bug;
    hf_status st;

    if ((unsigned)o->workload >= HF_WORKLOAD_COUNT ||
        (unsigned)o->distribution >= HF_DISTRIBUTION_COUNT ||
        (unsigned)o->level >= HF_LEVEL_COUNT ||
        (unsigned)o->bug >= HF_BUG_COUNT ||
        (unsigned)o->version_sets >= HF_VERSION_SETS_COUNT)
        return hf_fail(err, HF_ERR_USAGE,
                       "workload, distribution, level, bug or version sets "
                       "out of range");
    st = check_counts(o, err);
    if (st == HF_OK)
        st = check_percent(o, err);
    if (st != HF_OK)
        return st;
    bug = hf_store_bug_get(o->bug);
    if (!(bug->workloads & workloads[o->workload].bugs))
        return hf_fail(err, HF_ERR_USAGE,
                       "bug \"%s\" does not show in workload \"%s\" but in "
                       "\"%s\"",
                       bug->name, workloads[o->workload].name,
                       hf_workload_name(hf_store_bug_workload(o->bug)));
    if (o->workload == HF_WORKLOAD_APPEND && !o->unique_values)
        return hf_fail(err, HF_ERR_USAGE,
                       "elements of lists are always unique: workload "
                       "\"append\" cannot repeat values");
    if (bug->needs_duplicates && o->unique_values)
        return hf_fail(err, HF_ERR_USAGE,
                       "bug \"%s\" shows only if values may repeat", bug->name);
    if ((bug->needs_times || o->intervals) && !o->times)
        return hf_fail(err, HF_ERR_USAGE, "%s without times of transactions",
                       o->intervals ? "intervals of operations" : bug->name);
    return check_sets(o, err);
}

/* ---- clients ------------------------------------------------------------- */

static void begin(generator *g, uint32_t i)
{
    const hf_generate_options *o = g->o;
    client *c = &g->clients[i];

    c->number = hf_store_begin(g->s, i);
    if (g->needs_writers)
        hf_vec_push(&g->txn_of, HF_NONE);
    c->running = true;
    c->left = o->min_ops;
    if (o->max_ops > o->min_ops)
        c->left += hf_rng_below(&g->rng, o->max_ops - o->min_ops + 1);
    c->rmw_key = HF_NONE;
    c->begin = g->clock;
    c->seen = hf_store_clock(g->s);
    c->ends.n = c->amounts.n = c->n_amounts = 0;
    g->n_begun++;
}

void hf_client_tick(generator *g, uint32_t i)
{
    hf_store_record r = hf_store_log(g->s, i);

    while (g->clients[i].ends.n < r.n_ops)
        hf_vec_push(&g->clients[i].ends, g->clock);
}

/* How the transaction of client i ends, for the store and for the client. */
static hf_outcome finish(generator *g, uint32_t i, hf_store_end *ret_end)
{
    const hf_generate_options *o = g->o;

    if (o->abort_percent > 0 && hf_rng_chance(&g->rng, o->abort_percent)) {
        *ret_end = hf_store_abort(g->s, i);
        return HF_ABORTED;
    }
    if (o->unknown_percent > 0 && hf_rng_chance(&g->rng, o->unknown_percent)) {
        if (hf_rng_chance(&g->rng, 50)) {
            *ret_end = hf_store_abort(g->s, i);
            return HF_UNKNOWN_OUTCOME;
        }
        *ret_end = hf_store_commit(g->s, i);
        return ret_end->outcome == HF_COMMITTED ? HF_UNKNOWN_OUTCOME
                                                : ret_end->outcome;
    }
    *ret_end = hf_store_commit(g->s, i);
    return ret_end->outcome;
}

/* Lists read from versions that were not final then are looked up again. */
static void forget_lists(generator *g, uint32_t i)
{
    hf_store_record r = hf_store_log(g->s, i);

    for (size_t k = 0; k < r.n_ops; k++)
        if (r.ops[k].kind == HF_OP_APPEND && r.ops[k].version < g->list_of.n)
            g->list_of.at[r.ops[k].version] = HF_NONE;
}

static void end(generator *g, uint32_t i)
{
    hf_store_end how;
    hf_outcome outcome = finish(g, i, &how);

    if (g->sets > HF_VERSION_SETS_EXPLICIT)
        hf_record_commit_time(g, i);
    hf_record(g, i, outcome, &how);
    if (g->list_of.n > 0 && g->o->bug != HF_BUG_NONE)
        forget_lists(g, i);
    g->clients[i].running = false;
    if (g->n_ended++ == 0)
        hf_bulk_settle(g->b);
    if ((g->n_ended & 1023) == 0) {
        hf_budget_progress(g->o->budget, "transactions", g->n_ended,
                           g->o->transactions);
        g->stopped = hf_budget_spent(g->o->budget) || hf_builder_failed(g->b);
        if (g->stopped)
            g->n_active = 0;
    }
}

void hf_client_turn(generator *g, uint32_t slot)
{
    uint32_t i = g->active[slot];

    if (g->clients[i].running)
        end(g, i);
    if (g->stopped)
        return;
    if (g->n_begun < g->o->transactions) {
        g->clock += 2;
        begin(g, i);
    } else {
        g->active[slot] = g->active[--g->n_active];
    }
}

void hf_generate_bits(generator *g)
{
    hf_rng rng = g->rng; /* a copy the compiler can keep in registers */

    for (unsigned i = 0; i < N_BITS; i++)
        g->bits[i] = hf_rng_next(&rng);
    g->rng = rng;
    g->next_bits = 0;
}

void hf_generate_keys(generator *g, uint32_t n)
{
    uint32_t first = hf_store_add_keys(g->s, n);
    hf_string_id table = HF_NONE;

    if (g->table)
        table = hf_builder_string(g->b, g->table, strlen(g->table));
    for (uint32_t i = 0; i < n; i++) {
        int64_t name = (int64_t)first + i;
        hf_key_id key =
            g->table
                ? hf_builder_key_row(
                      g->b, table, (hf_scalar){.type = HF_INT, .number = name})
                : hf_builder_key_int(g->b, name);

        HF_ASSERT(key == first + i || hf_builder_failed(g->b));
        (void)key;
        hf_vec_push(&g->nil, HF_NONE);
    }
}

/* ---- a run --------------------------------------------------------------- */

static void start_clients(generator *g)
{
    const hf_generate_options *o = g->o;
    uint64_t used = o->sessions;

    if (used > o->transactions)
        used = o->transactions; /* the others would have nothing to do */
    g->clients = HF_NEW_ZEROED(client, o->sessions);
    g->active = HF_NEW_ARRAY(uint32_t, o->sessions);
    g->n_active = (uint32_t)used;
    for (uint32_t i = 0; i < g->n_active; i++) {
        g->active[i] = i;
        g->clients[i].id = hf_builder_session_number(g->b, i);
        if (o->bug == HF_BUG_CLOCK_SKEW &&
            hf_rng_chance(&g->rng, o->bug_percent))
            g->clients[i].skew = 2 * hf_rng_below(&g->rng, 100);
    }
}

/* Makes room for what will come, or for a good part of it. */
static void expect(const hf_generate_options *o, hf_builder *b)
{
    const double most = (double)((uint64_t)1 << 27);
    double txns = (double)o->transactions;
    double choices = txns * ((double)o->min_ops + o->max_ops) / 2;
    double writes = choices * (100 - o->read_percent) / 100;
    double ops = choices * (100 + o->rmw_percent) / 100;

    txns = fmin(txns, most);
    ops = fmin(ops * 1.01, most);
    writes = fmin(writes * 1.01, most);
    hf_bulk_expect(b, (uint64_t)ops, (uint64_t)txns, (uint64_t)writes + o->keys,
                   o->certificate ? (uint64_t)writes : 0);
}

static void start(generator *g, const hf_generate_options *o, hf_builder *b)
{
    hf_store_options so = {.level = o->level,
                           .bug = o->bug,
                           .bug_percent = o->bug_percent,
                           .sessions = o->sessions,
                           .replicas = o->replicas,
                           .seed = o->seed ^ 0x5707e,
                           .keep_versions = o->workload == HF_WORKLOAD_APPEND,
                           .only_rows = o->workload == HF_WORKLOAD_REGISTER &&
                                        o->unique_values};

    *g = (generator){.o = o,
                     .b = b,
                     .next_bits = N_BITS,
                     .sets = sets_of(o),
                     .table = is_emme(o->workload) ? "t" : NULL,
                     .column = is_emme(o->workload) ? "c1" : "value"};
    if (is_emme(o->workload) && g->sets != HF_VERSION_SETS_EXPLICIT)
        so.span = HF_EMME_SPAN;
    hf_out_init_memory(&g->text);
    hf_rng_seed(&g->rng, o->seed);
    g->s = hf_store_new(&so);
    hf_keys_init(&g->keys, o);
    g->few_values =
        !o->unique_values && o->bug != HF_BUG_LOCK_SKIPPED_WHEN_UNCHANGED;
    g->serial = o->certificate && hf_level_implies(o->level, HF_SERIALIZABLE);
    g->intervals = o->intervals;
    g->needs_writers =
        o->workload >= HF_WORKLOAD_PREDICATE || o->bug == HF_BUG_DIRTY_WRITE;
    g->replicated = hf_store_is_replicated(g->s);
    g->snapshots = hf_store_has_snapshots(g->s);
    expect(o, b);
    hf_builder_unique_values(b, o->unique_values);
    /* what was lost has no place in the store's own record */
    hf_builder_partial_orders(b, o->bug == HF_BUG_COMMIT_LOST);
    if (o->times)
        hf_builder_time_unit(b, HF_TIME_UNIT_EVENT);
    start_clients(g);
}

static void stop(generator *g)
{
    for (uint32_t i = 0; i < g->o->sessions; i++) {
        hf_vec_release(&g->clients[i].ends);
        hf_vec_release(&g->clients[i].amounts);
    }
    hf_free(g->clients);
    hf_free(g->active);
    hf_vec_release(&g->nil);
    hf_vec_release(&g->txn_of);
    hf_vec_release(&g->serials);
    hf_vec_release(&g->refs);
    hf_vec_release(&g->commit_times);
    hf_vec_release(&g->commit_numbers);
    hf_vec_release(&g->ids);
    hf_out_release(&g->text);
    hf_vec_release(&g->list_of);
    hf_vec_release(&g->todo);
    hf_keys_release(&g->keys);
    hf_store_free(g->s);
}

hf_status hf_generate(const hf_generate_options *o, hf_builder *b,
                      hf_error *err)
{
    generator g;
    bool stopped;
    hf_status st = hf_generate_check(o, err);

    if (st != HF_OK)
        return st;
    start(&g, o, b);
    workloads[o->workload].run(&g);
    hf_record_rest(&g);
    stopped = g.stopped;
    stop(&g);
    if (stopped && !hf_builder_failed(b))
        return hf_fail(err, HF_ERR_LIMIT, "%s", hf_budget_reason(o->budget));
    return HF_OK;
}
