/* test_polygraph_store.c: three engines on histories of the embedded store.
 *
 *     test_polygraph_store [RUNS [SEED [show]]]
 *
 * Histories of the store, clean and with every injected bug: registers and
 * lists, values that repeat, unknown outcomes, with and without times, some
 * with a few reads changed.  Seven in eight have 9 to 40 transactions on few
 * keys, one in eight has 200 to 2,000.  Each is judged at its levels four
 * times, each time with less to know:
 *
 *   graph      with the whole version order (no timestamps: these are further
 *              claims, which a serializable store need not keep)
 *   polygraph  with a part of the version order
 *   polygraph  with none
 *   weak       with none, at the levels it knows
 *
 * One history in ten has conditions, with a version of every key listed, and
 * the bugs that only conditions show; there engine certificate takes the place
 * of graph, engine weak knows nothing, and polygraph may leave something open.
 *
 * What is valid with more knowledge is valid with less, at the same level and
 * at every weaker one; the last two know the same, so that neither may
 * contradict the other.  A store that keeps a level gives no alarm there.
 * Every witness, written as JSON and read back, is accepted by verify.
 * Polygraph has to decide: unknown is a failure but at the limit of time, which
 * is counted and may not happen often.  What was never seen (a verdict of a
 * level, a bug, a kind of witness) was not tested, and is a failure in runs
 * that are long enough.
 *
 * A failure is printed with the arguments that repeat it; `show` prints the
 * history without its certificate.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/mem.h"
#include "base/out.h"
#include "base/rng.h"
#include "check/check.h"
#include "history/text.h"
#include "proved.h"

#define DEFAULT_RUNS 400
#define LONG_RUNS 400 /* everything must have been seen */
#define MAX_SHOWN 10
#define LARGE_EVERY 8       /* runs */
#define SECONDS_EACH 5      /* of one check */
#define LIMITS 20           /* one check in so many may reach that */
#define FINDINGS_PROVED 3   /* of one result, besides its witness */
#define CONDITIONS_EVERY 10 /* runs */
#define OPEN 20 /* with conditions: one check in so many may be unknown */

enum { GRAPH, PART, BARE, WEAK, ANSWERS };
static const char *const answer_names[ANSWERS] = {
    "graph (certificate) with the version order", "polygraph with a part of it",
    "polygraph without", "weak without"};

typedef struct run {
    const hf_engine *engines[ANSWERS];
    const hf_engine *certificate;
    bool conditions; /* this history has some */
    bool show;
    uint64_t seed; /* of this history */
    hf_verdict verdicts[ANSWERS][HF_LEVEL_COUNT];
    bool asked[HF_LEVEL_COUNT];
    /* over all histories */
    long counts[HF_LEVEL_COUNT][HF_VERDICT_COUNT]; /* of BARE */
    long bugs[HF_BUG_COUNT];
    long found[HF_BUG_COUNT]; /* invalid at the level claimed, without */
    long kinds[HF_WITNESS_KIND_COUNT];
    long large, checks[2], limits[2]; /* the others, large ones */
    long duplicates, unknowns, disturbed;
    long with_conditions, condition_checks, condition_open;
    long passed, failed;
    int shown;
    double slowest;
    uint64_t slowest_seed;
} run;

static void complain(run *r, int who, hf_level level, const char *what,
                     const char *more)
{
    r->failed++;
    if (r->shown++ >= MAX_SHOWN)
        return;
    printf("test_polygraph_store 1 %" PRIu64 ": %s at %s: %s%s%s\n", r->seed,
           answer_names[who], hf_level_get(level)->name, what, more ? ": " : "",
           more ? more : "");
    (void)fflush(stdout);
}

/* ---- histories ----------------------------------------------------------- */

static uint32_t pick(hf_rng *rng, const uint32_t *from, uint32_t n)
{
    return from[hf_rng_below(rng, n)];
}

static void random_mix(hf_generate_options *o, hf_rng *rng)
{
    static const unsigned mixes[][3] = {
        {50, 50, 0}, {60, 20, 20}, {20, 60, 20}, {30, 0, 70}, {10, 90, 0}};
    const unsigned *mix = mixes[hf_rng_below(rng, 5)];

    o->read_percent = mix[0];
    o->write_percent = mix[1];
    o->rmw_percent = mix[2];
}

static void random_size(hf_generate_options *o, bool large, hf_rng *rng)
{
    static const uint32_t sizes[] = {200, 200, 500, 500, 1000, 2000};
    static const uint32_t keys[] = {5, 20, 50, 200, 1000};

    o->transactions =
        large ? pick(rng, sizes, 6) : 9 + (uint64_t)hf_rng_below(rng, 32);
    o->keys = large ? pick(rng, keys, 5) : 2 + hf_rng_below(rng, 6);
    o->sessions = 2 + hf_rng_below(rng, large ? 20 : 5);
    o->min_ops = 1 + hf_rng_below(rng, 3);
    o->max_ops = o->min_ops + hf_rng_below(rng, large ? 6 : 4);
}

/* A bug that shows in the workload; otherwise a clean store. */
static hf_store_bug random_bug(hf_workload workload, uint64_t seed)
{
    bool conditions = workload == HF_WORKLOAD_EMME_PREDICATE;
    hf_store_bug bug =
        (hf_store_bug)(seed / (conditions ? CONDITIONS_EVERY : 4) %
                       HF_BUG_COUNT);
    unsigned in = conditions                       ? HF_BUG_IN_EMME_PREDICATE
                  : workload == HF_WORKLOAD_APPEND ? HF_BUG_IN_APPEND
                                                   : HF_BUG_IN_REGISTER;

    return hf_store_bug_get(bug)->workloads & in ? bug : HF_BUG_NONE;
}

/* Few rows, so that conditions meet. */
static void condition_options(hf_generate_options *o, uint64_t seed,
                              hf_rng *rng)
{
    hf_store_bug bug = random_bug(HF_WORKLOAD_EMME_PREDICATE, seed);

    hf_generate_defaults(o, HF_WORKLOAD_EMME_PREDICATE, bug);
    o->seed = seed;
    random_size(o, false, rng);
    o->certificate = true;
    o->version_sets = HF_VERSION_SETS_EXPLICIT;
    o->predicate_percent = 10 + hf_rng_below(rng, 50);
    o->range_percent = 20 + hf_rng_below(rng, 60);
    o->loaded_percent = hf_rng_below(rng, 100);
    o->unknown_percent = hf_rng_chance(rng, 20) ? 10 : 0;
    if (bug != HF_BUG_NONE)
        o->bug_percent = o->bug_percent < 50 ? 50 : o->bug_percent;
    else
        o->level = (hf_level)hf_rng_below(rng, HF_LEVEL_COUNT);
}

static void random_options(hf_generate_options *o, uint64_t seed, hf_rng *rng)
{
    hf_workload workload = seed % 2 ? HF_WORKLOAD_APPEND : HF_WORKLOAD_REGISTER;
    hf_store_bug bug = seed / 2 % 2 ? random_bug(workload, seed) : HF_BUG_NONE;

    if (seed % CONDITIONS_EVERY == CONDITIONS_EVERY - 1) {
        condition_options(o, seed, rng);
        return;
    }
    hf_generate_defaults(o, workload, bug);
    o->seed = seed;
    random_size(o, seed % LARGE_EVERY == LARGE_EVERY / 2 + seed / 8 % 2, rng);
    o->certificate = true;
    if (hf_rng_chance(rng, 30))
        o->unknown_percent = 12;
    if (bug != HF_BUG_NONE) {
        o->bug_percent = o->bug_percent < 50 ? 50 : o->bug_percent;
        return;
    }
    o->level = (hf_level)hf_rng_below(rng, HF_LEVEL_COUNT);
    random_mix(o, rng);
    o->distribution =
        (hf_distribution)hf_rng_below(rng, (uint32_t)HF_DISTRIBUTION_COUNT);
    o->abort_percent = hf_rng_chance(rng, 40) ? 10 : 0;
    o->times = hf_rng_chance(rng, 70);
    o->replicas = hf_rng_chance(rng, 50) ? 0 : 2 + hf_rng_below(rng, 3);
    if (workload == HF_WORKLOAD_REGISTER && hf_rng_chance(rng, 35))
        o->unique_values = false;
}

/* The last value of the key that t wrote; HF_NONE: none. */
static hf_value_id last_value(const hf_history *h, hf_txn_id t, hf_key_id key)
{
    hf_value_id v = HF_NONE;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        if (h->op_key[o] == key && hf_op_kind_of(h, o) == HF_OP_WRITE)
            v = h->op_value[o];
    return v;
}

/* Some reads return what another transaction wrote, earlier in the file. */
static void disturb(hf_history *h, hf_rng *rng, unsigned percent)
{
    for (hf_txn_id t = 1; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            hf_txn_id from = hf_rng_below(rng, t);
            hf_value_id v;

            if (hf_op_kind_of(h, o) != HF_OP_READ ||
                !hf_rng_chance(rng, percent) ||
                last_value(h, t, h->op_key[o]) != HF_NONE)
                continue;
            v = last_value(h, from, h->op_key[o]);
            if (v != HF_NONE)
                h->op_value[o] = v;
        }
}

/* Only the version order, and of that a part. */
static hf_certificate part_of(const hf_history *h, hf_rng *rng)
{
    hf_certificate part = {0};
    unsigned percent = 10 + hf_rng_below(rng, 90);
    bool whole_keys = hf_rng_chance(rng, 50);
    uint64_t n = 0, all;

    if (!h->cert.order_first)
        return part;
    all = h->cert.order_first[h->n_keys];
    part.order_first = HF_NEW_ZEROED(uint64_t, (size_t)h->n_keys + 1);
    part.order_txn = HF_NEW_ZEROED(hf_txn_id, (size_t)all + 1);
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        bool key = hf_rng_chance(rng, percent);

        part.order_first[k] = n;
        for (uint64_t i = h->cert.order_first[k];
             i < h->cert.order_first[k + 1]; i++)
            if (whole_keys ? key : hf_rng_chance(rng, percent))
                part.order_txn[n++] = h->cert.order_txn[i];
    }
    part.order_first[h->n_keys] = n;
    return part;
}

/* ---- judging ------------------------------------------------------------- */

static bool knows(int who, hf_level level)
{
    const hf_level_info *info = hf_level_get(level);

    return who != WEAK || info->shape == HF_SHAPE_WW ||
           info->shape == HF_SHAPE_W || info->shape == HF_SHAPE_OTV ||
           (info->shape == HF_SHAPE_AXIOM && !(info->axiom & HF_AXIOM_PREFIX));
}

static void prove(run *r, int who, hf_verify_session *session,
                  const hf_history *h, const hf_result *result)
{
    hf_error err = {{0}, 0, 0};

    if (result->verdict == HF_UNKNOWN)
        return;
    if (!is_proved(session, h, result, &result->witness, &err))
        complain(r, who, result->level, "verify does not accept", err.text);
    for (uint32_t i = 0; i < result->n_findings && i < FINDINGS_PROVED; i++)
        if (!is_proved(session, h, result, &result->findings[i].witness, &err))
            complain(r, who, result->level, "verify does not accept a finding",
                     err.text);
}

static void judge(run *r, int who, hf_verify_session *session,
                  const hf_history *h, hf_level level)
{
    const hf_engine *engine =
        who == GRAPH && r->conditions ? r->certificate : r->engines[who];
    bool large = h->n_txns >= 100;
    hf_budget budget = {.seconds = SECONDS_EACH};
    uint64_t begin = hf_clock_ns();
    hf_result *result = NULL;
    hf_error err;
    double seconds;

    hf_budget_start(&budget);
    if (engine->check(h, level, NULL, &budget, &result, &err) != HF_OK) {
        complain(r, who, level, "the engine failed", err.text);
        return;
    }
    seconds = (double)(hf_clock_ns() - begin) / 1e9;
    if (seconds > r->slowest) {
        r->slowest = seconds;
        r->slowest_seed = r->seed;
    }
    r->verdicts[who][level] = result->verdict;
    prove(r, who, session, h, result);
    if (who == BARE) {
        r->counts[level][result->verdict]++;
        r->kinds[result->witness.kind]++;
    }
    r->checks[large] += who == PART || who == BARE;
    r->condition_checks += r->conditions && (who == PART || who == BARE);
    if (result->verdict == HF_UNKNOWN && (who == PART || who == BARE)) {
        if (r->conditions)
            r->condition_open++;
        else if (budget.spent)
            r->limits[large]++;
        else
            complain(r, who, level, "unknown", result->reason);
    }
    hf_result_free(result);
}

/* ---- comparing ----------------------------------------------------------- */

/* Does who know all that the other knows? */
static bool knows_more(int who, int other)
{
    return who <= other || (who == WEAK && other == BARE);
}

static void compare(run *r)
{
    for (int who = 0; who < ANSWERS; who++)
        for (int other = 0; other < ANSWERS; other++)
            for (int a = 0; knows_more(who, other) && a < HF_LEVEL_COUNT; a++)
                for (int b = 0; b < HF_LEVEL_COUNT; b++) {
                    if (r->verdicts[who][a] != HF_VALID ||
                        r->verdicts[other][b] != HF_INVALID ||
                        !hf_level_implies((hf_level)a, (hf_level)b))
                        continue;
                    complain(r, who, (hf_level)a, "valid, invalid is",
                             answer_names[other]);
                    printf("  at %s\n", hf_level_get((hf_level)b)->name);
                }
}

static void expect_no_alarm(run *r, hf_level kept)
{
    for (int who = 0; who < ANSWERS; who++)
        for (int l = 0; l < HF_LEVEL_COUNT; l++)
            if (r->verdicts[who][l] == HF_INVALID &&
                hf_level_implies(kept, (hf_level)l))
                complain(r, who, (hf_level)l, "a false alarm, the store keeps",
                         hf_level_get(kept)->name);
}

static void judge_all(run *r, int who, hf_history *h,
                      const hf_certificate *cert)
{
    hf_certificate kept = h->cert;
    hf_verify_session *session;

    h->cert = *cert;
    session = hf_verify_open(h);
    for (int l = 0; l < HF_LEVEL_COUNT; l++)
        if (r->asked[l] && knows(who, (hf_level)l) &&
            !(who == WEAK && r->conditions))
            judge(r, who, session, h, (hf_level)l);
    hf_verify_close(session);
    h->cert = kept;
}

static void count_history(run *r, const hf_history *h,
                          const hf_generate_options *o, bool disturbed)
{
    bool unknown = false;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        unknown |= h->txn_outcome[t] == HF_UNKNOWN_OUTCOME;
    r->bugs[o->bug]++;
    r->found[o->bug] += r->verdicts[BARE][o->level] == HF_INVALID;
    r->duplicates += !o->unique_values;
    r->unknowns += unknown;
    r->disturbed += disturbed;
    r->large += h->n_txns >= 100;
    r->passed++;
}

static void print_bare(hf_history *h)
{
    hf_certificate kept = h->cert;
    hf_out out;

    h->cert = (hf_certificate){0};
    hf_out_init_memory(&out);
    hf_text_write(h, &out);
    printf("%.*s", (int)out.n, out.at);
    (void)fflush(stdout);
    hf_out_release(&out);
    h->cert = kept;
}

static void try_history(run *r, uint64_t seed)
{
    hf_certificate none = {0}, part, whole = {0};
    hf_generate_options o;
    bool disturbed = false;
    hf_history *h;
    hf_rng rng;

    r->seed = seed;
    hf_rng_seed(&rng, seed);
    random_options(&o, seed, &rng);
    h = store_history(&o);
    r->conditions = o.workload == HF_WORKLOAD_EMME_PREDICATE;
    r->with_conditions += r->conditions;
    if (o.workload == HF_WORKLOAD_REGISTER && hf_rng_chance(&rng, 25)) {
        disturb(h, &rng, 1 + hf_rng_below(&rng, 10));
        disturbed = true;
    }
    memset(r->verdicts, 0, sizeof(r->verdicts));
    for (int who = 0; who < ANSWERS; who++)
        for (int l = 0; l < HF_LEVEL_COUNT; l++)
            r->verdicts[who][l] = HF_UNKNOWN;
    for (int l = 0; l < HF_LEVEL_COUNT; l++)
        r->asked[l] =
            h->n_txns < 100 || l == (int)o.level || hf_rng_chance(&rng, 25);
    if (r->show)
        print_bare(h);
    part = part_of(h, &rng);
    whole.order_first = h->cert.order_first;
    whole.order_txn = h->cert.order_txn;
    judge_all(r, GRAPH, h, &whole);
    judge_all(r, PART, h, &part);
    judge_all(r, BARE, h, &none);
    judge_all(r, WEAK, h, &none);
    compare(r);
    if (o.bug == HF_BUG_NONE && !disturbed)
        expect_no_alarm(r, o.level);
    count_history(r, h, &o, disturbed);
    hf_free(part.order_first);
    hf_free(part.order_txn);
    hf_history_free(h);
}

/* ---- the whole ----------------------------------------------------------- */

static void demand(run *r, bool there, const char *what, const char *name)
{
    if (there)
        return;
    printf("%s: %s\n", what, name);
    r->failed++;
}

static void print_levels(run *r, bool all)
{
    for (int l = 0; l < HF_LEVEL_COUNT; l++) {
        const char *name = hf_level_get((hf_level)l)->name;
        const long *n = r->counts[l];

        printf("%-42s valid %6ld, invalid %6ld, unknown %6ld\n", name,
               n[HF_VALID], n[HF_INVALID], n[HF_UNKNOWN]);
        demand(r, !all || n[HF_VALID] > 0, "never valid", name);
        demand(r, !all || n[HF_INVALID] > 0, "never invalid", name);
    }
}

static void print_bugs(run *r, bool all)
{
    const unsigned made =
        HF_BUG_IN_REGISTER | HF_BUG_IN_APPEND | HF_BUG_IN_EMME_PREDICATE;

    for (int b = 0; b < HF_BUG_COUNT; b++) {
        const hf_store_bug_info *info = hf_store_bug_get((hf_store_bug)b);

        if (b == HF_BUG_NONE || !(info->workloads & made))
            continue;
        printf("%-28s %5ld runs, %5ld found without a certificate\n",
               info->name, r->bugs[b], r->found[b]);
        demand(r, !all || r->bugs[b] > 0, "never injected", info->name);
    }
}

static void summarize(run *r, bool all)
{
    static const hf_witness_kind wanted[] = {
        HF_WITNESS_SERIAL, HF_WITNESS_SNAPSHOT,   HF_WITNESS_COMMIT,
        HF_WITNESS_CYCLE,  HF_WITNESS_OPERATIONS, HF_WITNESS_PROOF};

    print_levels(r, all);
    print_bugs(r, all);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const char *name = hf_witness_kind_name(wanted[i]);

        printf("%s %ld%s", name, r->kinds[wanted[i]], i < 5 ? ", " : "\n");
        demand(r, !all || r->kinds[wanted[i]] > 0, "no witness", name);
    }
    printf("%ld with repeated values, %ld with unknown outcomes, "
           "%ld disturbed, %ld large\n",
           r->duplicates, r->unknowns, r->disturbed, r->large);
    demand(r,
           !all || (r->duplicates > 0 && r->unknowns > 0 && r->disturbed > 0 &&
                    r->large > 0),
           "not tested", "one of those");
    for (int large = 0; large < 2; large++) {
        printf("%ld of %ld checks of %s histories reached the limit of %d s\n",
               r->limits[large], r->checks[large], large ? "large" : "small",
               SECONDS_EACH);
        demand(r, !all || r->limits[large] * LIMITS <= r->checks[large],
               "too many limits", large ? "large" : "small");
    }
    printf("%ld with conditions, %ld of %ld checks of them left open\n",
           r->with_conditions, r->condition_open, r->condition_checks);
    demand(r, !all || r->condition_open * OPEN <= r->condition_checks,
           "too many unknown", "with conditions");
    printf("slowest check: %.2f s, seed %" PRIu64 "\n", r->slowest,
           r->slowest_seed);
    printf("%ld passed, %ld failed\n", r->passed, r->failed);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_RUNS;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    run r = {.engines = {hf_engine_find(HF_STR("graph")),
                         hf_engine_find(HF_STR("polygraph")),
                         hf_engine_find(HF_STR("polygraph")),
                         hf_engine_find(HF_STR("weak"))},
             .certificate = hf_engine_find(HF_STR("certificate")),
             .show = argc > 3};

    for (int i = 0; i < ANSWERS; i++)
        if (!r.engines[i] || !r.certificate) {
            printf("no engine for %s\n", answer_names[i]);
            return 1;
        }
    for (long i = 0; i < n; i++)
        try_history(&r, seed + (uint64_t)i);
    if (r.show)
        return r.failed ? 1 : 0;
    summarize(&r, n >= LONG_RUNS);
    return r.failed ? 1 : 0;
}
