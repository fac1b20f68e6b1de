/* test_graph_store.c: the graph engine on histories of the embedded store.
 *
 *     test_graph_store [RUNS [SEED [ENGINE]]]
 *
 * A store that keeps a level gives no alarm: neither at that level nor at a
 * weaker one, whatever the workload, the size, the number of keys and
 * clients, the mix, with and without a certificate.  Unknown is a failure
 * where the history says in which order versions were installed
 * (determined.h); elsewhere it is counted.  Every proof is verified.
 *
 * A store with an injected bug that items can show is found out, at the
 * weakest level that forbids what the bug does and at the level the store
 * claims, within a few seeds; and what is found is what the catalogue of bugs
 * expects.  Bugs that items do not show are listed with the reason.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/out.h"
#include "base/rng.h"
#include "check/check.h"
#include "determined.h"
#include "proved.h"
#include "report/report.h"
#include "verify/verify.h"
#include "workload/generate.h"

#define DEFAULT_RUNS 1100
#define MAX_SHOWN 10
#define BUG_SEEDS 10
#define THREADS_EVERY 7  /* runs are also judged by two and three threads */
#define REFERENCE_MOST 8 /* transactions the reference engine takes */

/* Register and append, without and with a certificate. */
#define CONFIGURATIONS 4
static const char *const configuration_names[CONFIGURATIONS] = {
    "register", "register+cert", "append", "append+cert"};

typedef struct run {
    const hf_engine *engine;
    uint64_t most; /* transactions; 0: no limit */
    bool thorough; /* a long run */
    /* per level claimed */
    long runs[HF_LEVEL_COUNT][CONFIGURATIONS];
    long unknown[HF_LEVEL_COUNT][CONFIGURATIONS];
    long passed, failed;
    int shown;
} run;

/* ---- judging ------------------------------------------------------------- */

/* The options as a command line that makes the same history. */
static void print_command(const hf_generate_options *o, hf_level judged)
{
    printf("  holdfast gen -w %s -l %s -n %" PRIu64 " --seed %" PRIu64
           " --ops %u-%u -k %u -s %u --mix %u:%u:%u -d %s --aborts %u "
           "--unknown %u",
           hf_workload_name(o->workload), hf_level_get(o->level)->name,
           o->transactions, o->seed, o->min_ops, o->max_ops, o->keys,
           o->sessions, o->read_percent, o->write_percent, o->rmw_percent,
           hf_distribution_name(o->distribution), o->abort_percent,
           o->unknown_percent);
    if (o->bug != HF_BUG_NONE)
        printf(" --inject %s", hf_store_bug_get(o->bug)->name);
    if (o->replicas)
        printf(" --replicas %u", o->replicas);
    printf("%s%s%s%s | holdfast check -e graph -l %s -\n",
           o->unique_values ? "" : " --duplicates",
           o->certificate ? "" : " --no-certificate",
           o->times ? "" : " --no-times", o->intervals ? " --intervals" : "",
           hf_level_get(judged)->name);
}

static void complain(run *r, const hf_generate_options *o, hf_level judged,
                     const char *what, const char *more)
{
    r->failed++;
    if (r->shown++ >= MAX_SHOWN)
        return;
    printf("at %s: %s%s%s\n", hf_level_get(judged)->name, what,
           more ? ": " : "", more ? more : "");
    print_command(o, judged);
}

static hf_result *judge(run *r, const hf_generate_options *o,
                        const hf_history *h, hf_level level)
{
    hf_result *result = NULL;
    hf_error err;

    if (r->engine->check(h, level, NULL, NULL, &result, &err) != HF_OK) {
        complain(r, o, level, "the engine failed", err.text);
        return NULL;
    }
    if (result->verdict != HF_UNKNOWN &&
        !is_proved(NULL, h, result, &result->witness, &err))
        complain(r, o, level, "verify does not accept", err.text);
    for (uint32_t i = 0; i < result->n_findings; i++)
        if (!is_proved(NULL, h, result, &result->findings[i].witness, &err)) {
            complain(r, o, level, "verify does not accept a finding", err.text);
            break;
        }
    return result;
}

/* ---- threads ------------------------------------------------------------- */

static void write_with(run *r, const hf_generate_options *o,
                       const hf_history *h, hf_level level, unsigned threads,
                       hf_out *out)
{
    hf_check_options options = {.threads = threads};
    hf_result *result = NULL;
    hf_error err;
    hf_json j;

    hf_out_init_memory(out);
    if (r->engine->check(h, level, &options, NULL, &result, &err) != HF_OK) {
        complain(r, o, level, "the engine failed", err.text);
        return;
    }
    result->seconds = 0;
    hf_json_init(&j, out);
    hf_result_write(h, result, &j);
    hf_result_free(result);
}

/* The same bytes whatever the number of threads. */
static void compare_threads(run *r, const hf_generate_options *o,
                            const hf_history *h, hf_level level)
{
    hf_out one, more;

    write_with(r, o, h, level, 1, &one);
    for (unsigned threads = 2; threads <= 3; threads++) {
        write_with(r, o, h, level, threads, &more);
        if (!hf_str_eq(hf_out_view(&one), hf_out_view(&more)))
            complain(r, o, level, "threads change the result", NULL);
        hf_out_release(&more);
    }
    hf_out_release(&one);
}

/* ---- a store that keeps its level ---------------------------------------- */

static unsigned configuration(const hf_generate_options *o)
{
    return 2u * (o->workload == HF_WORKLOAD_APPEND) + o->certificate;
}

static void expect_no_alarm(run *r, const hf_generate_options *o,
                            const hf_history *h, hf_level level)
{
    hf_result *result = judge(r, o, h, level);

    if (!result)
        return;
    if (result->verdict == HF_INVALID) {
        complain(r, o, level, "a false alarm",
                 result->n_findings
                     ? hf_anomaly_get(result->findings[0].anomaly)->name
                     : NULL);
    } else if (result->verdict == HF_UNKNOWN && is_determined(h, false)) {
        complain(r, o, level, "unknown, but the order is determined",
                 result->reason);
    } else {
        r->passed++;
    }
    if (level == o->level) {
        r->runs[level][configuration(o)]++;
        r->unknown[level][configuration(o)] += result->verdict == HF_UNKNOWN;
    }
    hf_result_free(result);
}

/* Shares that add up to 100. */
static void random_mix(hf_generate_options *o, hf_rng *rng)
{
    static const unsigned mixes[][3] = {
        {50, 50, 0}, {80, 10, 10}, {20, 60, 20}, {30, 0, 70}, {60, 30, 10}};
    const unsigned *mix = mixes[hf_rng_below(rng, 5)];

    o->read_percent = mix[0];
    o->write_percent = mix[1];
    o->rmw_percent = mix[2];
}

static uint32_t pick(hf_rng *rng, const uint32_t *from, uint32_t n)
{
    return from[hf_rng_below(rng, n)];
}

static void random_options(hf_generate_options *o, uint64_t number,
                           uint64_t seed)
{
    static const uint32_t sizes[] = {50, 100, 100, 200, 200, 500, 1000, 2000};
    static const uint32_t keys[] = {2, 5, 10, 30, 100, 1000};
    static const uint32_t sessions[] = {1, 2, 4, 10, 30};
    hf_workload workload =
        number / HF_LEVEL_COUNT % 2 ? HF_WORKLOAD_APPEND : HF_WORKLOAD_REGISTER;
    hf_rng rng;

    hf_rng_seed(&rng, seed + number);
    hf_generate_defaults(o, workload, HF_BUG_NONE);
    o->level = (hf_level)(number % HF_LEVEL_COUNT);
    o->seed = seed + number;
    o->transactions = pick(&rng, sizes, 8);
    o->keys = pick(&rng, keys, 6);
    o->sessions = pick(&rng, sessions, 5);
    o->min_ops = 1 + hf_rng_below(&rng, 3);
    o->max_ops = o->min_ops + hf_rng_below(&rng, 8);
    o->distribution =
        (hf_distribution)hf_rng_below(&rng, (uint32_t)HF_DISTRIBUTION_COUNT);
    random_mix(o, &rng);
    o->certificate = number / (2 * HF_LEVEL_COUNT) % 2 == 0;
    o->abort_percent = hf_rng_chance(&rng, 40) ? 10 : 0;
    o->unknown_percent = hf_rng_chance(&rng, 30) ? 8 : 0;
    o->intervals = hf_rng_chance(&rng, 10);
    o->times = o->intervals || hf_rng_chance(&rng, 80);
    o->replicas = hf_rng_chance(&rng, 50) ? 0 : 2 + hf_rng_below(&rng, 3);
    if (workload == HF_WORKLOAD_REGISTER && hf_rng_chance(&rng, 8))
        o->unique_values = false;
}

/* All weaker levels of a small history, few of a large one. */
static void try_clean(run *r, uint64_t number, uint64_t seed)
{
    hf_generate_options o;
    hf_history *h;
    hf_rng rng;

    random_options(&o, number, seed);
    if (r->most > 0 && o.transactions > r->most) {
        o.transactions = r->most;
        o.keys = 2;
        o.max_ops = o.min_ops + 1;
    }
    h = store_history(&o);
    expect_no_alarm(r, &o, h, o.level);
    if (number % THREADS_EVERY == 0)
        compare_threads(r, &o, h, o.level);
    hf_rng_seed(&rng, seed + number);
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
        if (l != (unsigned)o.level && hf_level_implies(o.level, (hf_level)l) &&
            (o.transactions <= 100 || hf_rng_chance(&rng, 15)))
            expect_no_alarm(r, &o, h, (hf_level)l);
    hf_history_free(h);
}

/* ---- a store with a bug -------------------------------------------------- */

#define ANY(...)                                                               \
    {                                                                          \
        __VA_ARGS__, HF_ANOMALY_COUNT                                          \
    }

/* What each bug must be found as, at the weakest level that forbids it: one
 * of these.  `hidden`: why items do not show it. */
typedef struct bug_row {
    hf_store_bug bug;
    hf_anomaly found_as[6];
    const char *hidden;
} bug_row;

static const bug_row bug_rows[] = {
    {HF_BUG_LOST_UPDATE, ANY(HF_LOST_UPDATE, HF_G_SINGLE_ITEM), NULL},
    {HF_BUG_WRITE_SKEW, ANY(HF_G2_ITEM), NULL},
    {HF_BUG_DIRTY_WRITE, ANY(HF_G0), NULL},
    {HF_BUG_DIRTY_READ, ANY(HF_G1A, HF_G1B, HF_G1C), NULL},
    {HF_BUG_ABORTED_READ, ANY(HF_G1A, HF_DIRTY_UPDATE), NULL},
    {HF_BUG_INTERMEDIATE_READ, ANY(HF_G1B), NULL},
    {HF_BUG_OWN_WRITE_MISSED, ANY(HF_INTERNAL), NULL},
    {HF_BUG_STALE_SNAPSHOT, ANY(HF_G_SINGLE_ITEM_SESSION), NULL},
    {HF_BUG_SNAPSHOT_PER_STATEMENT,
     ANY(HF_NON_REPEATABLE_READ, HF_G_SINGLE_ITEM), NULL},
    {HF_BUG_SNAPSHOT_PER_ROW, ANY(HF_NON_REPEATABLE_READ, HF_G_SINGLE_ITEM),
     NULL},
    {HF_BUG_FRACTURED_READ, ANY(HF_NON_REPEATABLE_READ, HF_G_SINGLE_ITEM),
     NULL},
    {HF_BUG_LONG_FORK, ANY(HF_G_NONADJACENT_ITEM), NULL},
    {HF_BUG_REPLICA_LAG, ANY(HF_G_SINGLE_ITEM_SESSION), NULL},
    {HF_BUG_ALTERNATING_REPLICAS, ANY(HF_NON_REPEATABLE_READ, HF_G_SINGLE_ITEM),
     NULL},
    {HF_BUG_LOST_CAUSALITY, ANY(HF_G_SINGLE_ITEM, HF_G_SINGLE_ITEM_SESSION),
     NULL},
    {HF_BUG_PHANTOM, ANY(HF_ANOMALY_COUNT), "needs conditions"},
    {HF_BUG_LOCK_SKIPPED_WHEN_UNCHANGED, ANY(HF_LOST_UPDATE, HF_G_SINGLE_ITEM),
     "needs values that repeat: which write a read saw is then not known"},
    {HF_BUG_TWO_ROW_VERSIONS, ANY(HF_ANOMALY_COUNT), "needs conditions"},
    {HF_BUG_KEEP_ABORTED_VERSIONS, ANY(HF_G1A, HF_DIRTY_UPDATE), NULL},
    {HF_BUG_EARLY_CONFLICT_CHECK, ANY(HF_LOST_UPDATE, HF_G_SINGLE_ITEM), NULL},
    {HF_BUG_CERTIFIER_IGNORES_PREDICATES, ANY(HF_ANOMALY_COUNT),
     "needs conditions"},
    {HF_BUG_CERTIFIER_FORGETS, ANY(HF_G2_ITEM), NULL},
    {HF_BUG_CERTIFIER_IGNORES_READONLY, ANY(HF_G2_ITEM), NULL},
    {HF_BUG_INDEX_NOT_VERSIONED, ANY(HF_ANOMALY_COUNT), "needs conditions"},
    /* who read its own lost append shows a list that nobody continues */
    {HF_BUG_COMMIT_LOST, ANY(HF_G_SINGLE_ITEM_SESSION, HF_INCOMPATIBLE_ORDER),
     NULL},
    {HF_BUG_COMMIT_REPORTED_FAILED, ANY(HF_G1A, HF_DIRTY_UPDATE), NULL},
    {HF_BUG_COMMIT_ANSWER_LOST, ANY(HF_ANOMALY_COUNT),
     "is no violation if recorded as unknown"},
    {HF_BUG_CLOCK_SKEW,
     ANY(HF_G0_REALTIME, HF_G1C_REALTIME, HF_G_SINGLE_ITEM_REALTIME), NULL},
    {HF_BUG_WRONG_RESULT_SET, ANY(HF_ANOMALY_COUNT), "needs conditions"},
    {HF_BUG_CERTIFIER_NEWEST_ONLY, ANY(HF_G2_ITEM), NULL},
    {HF_BUG_WRONG_ARITHMETIC, ANY(HF_SEMANTIC_ERROR), NULL},
};
#define BUG_ROWS (sizeof(bug_rows) / sizeof(bug_rows[0]))

static const char *found_as(const bug_row *b, const hf_result *result)
{
    for (uint32_t i = 0; i < result->n_findings; i++)
        for (unsigned k = 0; b->found_as[k] != HF_ANOMALY_COUNT; k++)
            if (result->findings[i].anomaly == b->found_as[k])
                return hf_anomaly_get(b->found_as[k])->name;
    return NULL;
}

static void bug_options(const run *r, const bug_row *b, hf_workload workload,
                        uint64_t seed, hf_generate_options *o)
{
    hf_generate_defaults(o, workload, b->bug);
    o->seed = seed;
    o->transactions = 200 + 100 * (seed % 4);
    if (r->most > 0) {
        o->transactions = r->most;
        o->keys = 2 + (uint32_t)(seed % 2);
        o->sessions = 2 + (uint32_t)(seed % 4);
        o->min_ops = 1 + (uint32_t)(seed % 2);
        o->max_ops = 3;
    }
}

/* Is the bug found in this history, at the level given and at the one that
 * the store claims?  Returns as what, or NULL. */
static const char *try_bug(run *r, const bug_row *b,
                           const hf_generate_options *o, hf_level weakest)
{
    hf_history *h = store_history(o);
    hf_result *result = judge(r, o, h, weakest), *claimed = NULL;
    const char *name = NULL;

    if (result && result->verdict == HF_INVALID) {
        name = found_as(b, result);
        claimed = judge(r, o, h, o->level);
        if (!claimed || claimed->verdict != HF_INVALID)
            complain(r, o, o->level, "not invalid, but a weaker level is",
                     hf_level_get(weakest)->name);
    }
    hf_result_free(result);
    hf_result_free(claimed);
    hf_history_free(h);
    return name;
}

/* At every level, or in short runs at a third of them: proofs hold, threads do
 * not matter, no level is broken that a stronger one, which holds, implies. */
static void judge_everywhere(run *r, const hf_generate_options *o)
{
    hf_verdict verdicts[HF_LEVEL_COUNT];
    hf_history *h = store_history(o);

    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        hf_result *result;

        verdicts[l] = HF_UNKNOWN;
        if (!r->thorough && (l + (unsigned)o->bug) % 3 > 0)
            continue;
        result = judge(r, o, h, (hf_level)l);
        verdicts[l] = result ? result->verdict : HF_UNKNOWN;
        if (result && result->verdict == HF_UNKNOWN && is_determined(h, false))
            complain(r, o, (hf_level)l, "unknown, but the order is determined",
                     result->reason);
        hf_result_free(result);
        if (r->thorough || l == (unsigned)o->level)
            compare_threads(r, o, h, (hf_level)l);
    }
    for (unsigned a = 0; a < HF_LEVEL_COUNT; a++)
        for (unsigned b = 0; b < HF_LEVEL_COUNT; b++)
            if (verdicts[a] == HF_VALID && verdicts[b] == HF_INVALID &&
                hf_level_implies((hf_level)a, (hf_level)b))
                complain(r, o, (hf_level)b, "invalid, but valid at",
                         hf_level_get((hf_level)a)->name);
    hf_history_free(h);
}

static void expect_bug(run *r, const bug_row *b, hf_workload workload,
                       bool certificate)
{
    const hf_store_bug_info *info = hf_store_bug_get(b->bug);
    uint64_t seeds = r->most > 0 ? 2000 : BUG_SEEDS;
    hf_generate_options o;

    for (uint64_t seed = 1; seed <= seeds; seed++) {
        const char *name;

        bug_options(r, b, workload, seed, &o);
        o.certificate = certificate;
        name = try_bug(r, b, &o, info->forbidden_from);
        if (!name)
            continue;
        printf("%-28s %-8s %-14s %-34s %s (seed %" PRIu64 ")\n", info->name,
               hf_workload_name(workload), certificate ? "certificate" : "",
               hf_level_get(info->forbidden_from)->name, name, seed);
        r->passed++;
        judge_everywhere(r, &o);
        return;
    }
    if (workload == HF_WORKLOAD_REGISTER && !certificate) {
        printf("%-28s %-8s %-14s %-34s not found\n", info->name,
               hf_workload_name(workload), "",
               hf_level_get(info->forbidden_from)->name);
        return;
    }
    complain(r, &o, info->forbidden_from, "the bug is not found", info->name);
}

/* A bug that does not show: never invalid at the level it is listed with, if
 * nothing is wrong; only "no alarm" is asked here. */
static void expect_quiet(run *r, const bug_row *b)
{
    for (uint64_t seed = 1; seed <= BUG_SEEDS; seed++)
        for (int w = HF_WORKLOAD_REGISTER; w <= HF_WORKLOAD_APPEND; w++) {
            hf_generate_options o;
            hf_history *h;

            bug_options(r, b, (hf_workload)w, seed, &o);
            h = store_history(&o);
            expect_no_alarm(r, &o, h, o.level);
            hf_history_free(h);
        }
}

static void try_bugs(run *r)
{
    for (size_t i = 0; i < BUG_ROWS; i++) {
        const bug_row *b = &bug_rows[i];
        const hf_store_bug_info *info = hf_store_bug_get(b->bug);

        if (b->hidden) {
            printf("%-28s %s\n", info->name, b->hidden);
            if (b->bug == HF_BUG_COMMIT_ANSWER_LOST)
                expect_quiet(r, b);
            continue;
        }
        for (int certificate = 1; certificate >= 0; certificate--) {
            if (info->workloads & HF_BUG_IN_REGISTER)
                expect_bug(r, b, HF_WORKLOAD_REGISTER, certificate);
            if (info->workloads & HF_BUG_IN_APPEND)
                expect_bug(r, b, HF_WORKLOAD_APPEND, certificate);
        }
    }
    if (BUG_ROWS != HF_BUG_COUNT - 1) {
        printf("a bug is in no row\n");
        r->failed++;
    }
}

/* ---- the whole ----------------------------------------------------------- */

static void print_runs(const run *r)
{
    printf("\n%-42s", "unknown / runs at the level of the store");
    for (unsigned c = 0; c < CONFIGURATIONS; c++)
        printf(" %13s", configuration_names[c]);
    printf("\n");
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        printf("%-42s", hf_level_get((hf_level)l)->name);
        for (unsigned c = 0; c < CONFIGURATIONS; c++)
            printf(" %6ld /%5ld", r->unknown[l][c], r->runs[l][c]);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_RUNS;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const char *name = argc > 3 ? argv[3] : "graph";
    run r = {.engine = hf_engine_find(hf_str_of(name)),
             .thorough = n > DEFAULT_RUNS};

    if (!r.engine) {
        printf("no engine \"%s\"\n", name);
        return 1;
    }
    if (strcmp(name, "brute") == 0)
        r.most = REFERENCE_MOST;
    try_bugs(&r);
    for (long i = 0; i < n; i++)
        try_clean(&r, (uint64_t)i, seed);
    print_runs(&r);
    printf("%ld runs from seed %" PRIu64 "\n", n, seed);
    printf("%ld passed, %ld failed\n", r.passed, r.failed);
    return r.failed ? 1 : 0;
}
