/* test_predicate_store.c: predicates, on histories of the embedded store.
 *
 *     test_predicate_store [RUNS [SEED]]
 *
 * A store that keeps a level gives no alarm: neither at that level nor at a
 * weaker one, whatever the workload, the size and how version sets are
 * recorded.  Unknown is a failure as well where the history says all that
 * happened (is_told()).  Replaying the expected
 * order finds nothing either, and is never unknown where a serial order was
 * recorded.
 *
 * A store with an injected bug that conditions can show is found out at the
 * level it claims, within a few seeds, however version sets are recorded; the
 * bugs that are about conditions as what they are, and by replay as well.
 * Every result is verified.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/out.h"
#include "base/rng.h"
#include "check/check.h"
#include "history/certificate.h"
#include "history/promises.h"
#include "proved.h"
#include "report/report.h"
#include "verify/verify.h"
#include "workload/generate.h"

#define DEFAULT_RUNS 300
#define MAX_SHOWN 10
#define BUG_SEEDS 10
#define THREADS_EVERY 7

typedef struct run {
    const hf_engine *certificate, *replay, *graph;
    long clean[HF_LEVEL_COUNT];   /* runs at the level of the store */
    long unknown[HF_LEVEL_COUNT]; /* of these, by certificate */
    long unreplayed[HF_LEVEL_COUNT];
    long passed, failed;
    int shown;
} run;

/* ---- judging ------------------------------------------------------------- */

/* The options as a command line that makes the same history. */
static void print_command(const hf_generate_options *o, const hf_engine *engine,
                          hf_level judged)
{
    printf("  holdfast gen -w %s -l %s -n %" PRIu64 " --seed %" PRIu64
           " --ops %u-%u -k %u -s %u --mix %u:%u:%u --aborts %u --unknown %u "
           "--predicates %u --range %u --loaded %u --version-sets %s",
           hf_workload_name(o->workload), hf_level_get(o->level)->name,
           o->transactions, o->seed, o->min_ops, o->max_ops, o->keys,
           o->sessions, o->read_percent, o->write_percent, o->rmw_percent,
           o->abort_percent, o->unknown_percent, o->predicate_percent,
           o->range_percent, o->loaded_percent,
           hf_version_sets_name(o->version_sets));
    if (o->bug != HF_BUG_NONE)
        printf(" --inject %s", hf_store_bug_get(o->bug)->name);
    printf("%s | holdfast check -e %s -l %s -\n",
           o->unique_values ? "" : " --duplicates", engine->name,
           hf_level_get(judged)->name);
}

static void complain(run *r, const hf_generate_options *o,
                     const hf_engine *engine, hf_level judged, const char *what,
                     const char *more)
{
    r->failed++;
    if (r->shown++ >= MAX_SHOWN)
        return;
    printf("%s at %s: %s%s%s\n", engine->name, hf_level_get(judged)->name, what,
           more ? ": " : "", more ? more : "");
    print_command(o, engine, judged);
}

static void verify(run *r, const hf_engine *engine,
                   const hf_generate_options *o, const hf_history *h,
                   const hf_result *result)
{
    hf_verify_session *session = hf_verify_open(h);
    hf_error err;

    if (result->verdict != HF_UNKNOWN &&
        !is_proved(session, h, result, &result->witness, &err))
        complain(r, o, engine, result->level, "verify does not accept",
                 err.text);
    for (uint32_t i = 0; i < result->n_findings; i++)
        if (!is_proved(session, h, result, &result->findings[i].witness,
                       &err)) {
            complain(r, o, engine, result->level,
                     "verify does not accept a finding", err.text);
            break;
        }
    hf_verify_close(session);
}

static hf_result *judge(run *r, const hf_engine *engine,
                        const hf_generate_options *o, const hf_history *h,
                        hf_level level)
{
    hf_result *result = NULL;
    hf_error err;

    if (hf_promises_check(h, &err) != HF_OK ||
        hf_certificate_check(h, &err) != HF_OK ||
        engine->check(h, level, NULL, NULL, &result, &err) != HF_OK) {
        complain(r, o, engine, level, "the engine failed", err.text);
        return NULL;
    }
    verify(r, engine, o, h, result);
    return result;
}

static void write_with(const hf_engine *engine, const hf_history *h,
                       hf_level level, unsigned threads, hf_out *out)
{
    hf_check_options options = {.threads = threads};
    hf_result *result = NULL;
    hf_error err;
    hf_json j;

    hf_out_init_memory(out);
    if (engine->check(h, level, &options, NULL, &result, &err) != HF_OK)
        return;
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

    write_with(r->certificate, h, level, 1, &one);
    for (unsigned threads = 2; threads <= 3; threads++) {
        write_with(r->certificate, h, level, threads, &more);
        if (!hf_str_eq(hf_out_view(&one), hf_out_view(&more)))
            complain(r, o, r->certificate, level, "threads change the result",
                     NULL);
        hf_out_release(&more);
    }
    hf_out_release(&one);
}

/* ---- a store that keeps its level ---------------------------------------- */

static bool is_alarm(run *r, const hf_generate_options *o,
                     const hf_engine *engine, const hf_result *result)
{
    if (result->verdict == HF_INVALID)
        complain(r, o, engine, result->level, "a false alarm",
                 result->n_findings
                     ? hf_anomaly_get(result->findings[0].anomaly)->name
                     : NULL);
    return result->verdict == HF_INVALID;
}

/* Does the history say all that happened?  Not if equal values are written,
 * absence among them: who deleted the row that a read did not find? */
static bool is_told(const hf_generate_options *o)
{
    return o->unknown_percent == 0 && o->unique_values &&
           o->workload != HF_WORKLOAD_PREDICATE;
}

static void expect_no_alarm(run *r, const hf_generate_options *o,
                            const hf_history *h, hf_level level)
{
    hf_result *result = judge(r, r->certificate, o, h, level);

    if (!result)
        return;
    if (!is_alarm(r, o, r->certificate, result)) {
        bool unknown = result->verdict == HF_UNKNOWN;

        r->passed++;
        if (level == o->level)
            r->unknown[level] += unknown;
        if (unknown && is_told(o))
            complain(r, o, r->certificate, level,
                     "unknown, but the certificate says everything",
                     result->reason);
    }
    hf_result_free(result);
}

static void expect_replay(run *r, const hf_generate_options *o,
                          const hf_history *h, hf_level level)
{
    hf_result *result = judge(r, r->replay, o, h, level);

    if (!result)
        return;
    if (!is_alarm(r, o, r->replay, result)) {
        bool unknown = result->verdict == HF_UNKNOWN;

        r->passed++;
        if (level == o->level)
            r->unreplayed[level] += unknown;
        if (unknown && h->cert.n_serial > 0 && is_told(o) &&
            level != HF_READ_UNCOMMITTED) /* where reads do not matter */
            complain(r, o, r->replay, level, "unknown, but there is an order",
                     result->reason);
    }
    hf_result_free(result);
}

/* Without conditions the engine for items says the same. */
static void compare_graph(run *r, const hf_generate_options *o,
                          const hf_history *h, hf_level level)
{
    hf_result *a = judge(r, r->certificate, o, h, level);
    hf_result *b = judge(r, r->graph, o, h, level);

    if (a && b && a->verdict != b->verdict)
        complain(r, o, r->certificate, level, "graph says otherwise",
                 hf_verdict_name(b->verdict));
    hf_result_free(a);
    hf_result_free(b);
}

static uint32_t pick(hf_rng *rng, const uint32_t *from, uint32_t n)
{
    return from[hf_rng_below(rng, n)];
}

static void random_shape(hf_generate_options *o, hf_rng *rng)
{
    static const uint32_t sizes[] = {50, 100, 100, 200, 400};
    static const uint32_t keys[] = {3, 10, 20, 50};
    static const uint32_t sessions[] = {1, 2, 4, 10};
    static const uint32_t ranges[] = {1, 5, 20, 50};
    static const uint32_t predicates[] = {20, 50, 50, 80, 100};

    o->transactions = pick(rng, sizes, 5);
    o->keys = pick(rng, keys, 4);
    o->sessions = pick(rng, sessions, 4);
    o->range_percent = pick(rng, ranges, 4);
    o->predicate_percent = pick(rng, predicates, 5);
    o->loaded_percent = 50 * hf_rng_below(rng, 3);
    o->abort_percent = hf_rng_chance(rng, 30) ? 10 : 0;
    o->unknown_percent = hf_rng_chance(rng, 20) ? 8 : 0;
    o->unique_values = !hf_rng_chance(rng, 8);
}

static void random_options(hf_generate_options *o, uint64_t number,
                           uint64_t seed)
{
    static const hf_workload workloads[] = {
        HF_WORKLOAD_PREDICATE, HF_WORKLOAD_EMME_PREDICATE,
        HF_WORKLOAD_EMME_PREDICATE, HF_WORKLOAD_EMME_ITEM};
    hf_error unused;
    hf_rng rng;

    hf_rng_seed(&rng, seed + number);
    hf_generate_defaults(o, workloads[number / HF_LEVEL_COUNT % 4],
                         HF_BUG_NONE);
    o->level = (hf_level)(number % HF_LEVEL_COUNT);
    o->seed = seed + number;
    random_shape(o, &rng);
    o->version_sets =
        (hf_version_sets)hf_rng_below(&rng, HF_VERSION_SETS_COUNT);
    if (hf_generate_check(o, &unused) != HF_OK)
        o->version_sets = HF_VERSION_SETS_DEFAULT;
}

/* All weaker levels of a small history, few of a large one. */
static void try_clean(run *r, uint64_t number, uint64_t seed)
{
    hf_generate_options o;
    hf_history *h;
    hf_rng rng;

    random_options(&o, number, seed);
    h = store_history(&o);
    r->clean[o.level]++;
    hf_rng_seed(&rng, seed + number);
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        if (!hf_level_implies(o.level, (hf_level)l) ||
            (l != (unsigned)o.level && o.transactions > 100 &&
             !hf_rng_chance(&rng, 15)))
            continue;
        expect_no_alarm(r, &o, h, (hf_level)l);
        expect_replay(r, &o, h, (hf_level)l);
        if (o.workload == HF_WORKLOAD_EMME_ITEM)
            compare_graph(r, &o, h, (hf_level)l);
    }
    if (number % THREADS_EVERY == 0)
        compare_threads(r, &o, h, o.level);
    hf_history_free(h);
}

/* ---- a store with a bug -------------------------------------------------- */

#define ANY(...)                                                               \
    {                                                                          \
        __VA_ARGS__, HF_ANOMALY_COUNT                                          \
    }

/* The bugs that are about conditions, and as what they are found: where the
 * versions looked at are listed one by one, and where the store only names
 * the snapshot that it should have looked at. */
typedef struct bug_row {
    hf_store_bug bug;
    hf_anomaly listed_as[6], named_as[6];
} bug_row;

static const bug_row bug_rows[] = {
    {HF_BUG_PHANTOM, ANY(HF_PHANTOM, HF_G_SINGLE), ANY(HF_RESULT_SET_MISMATCH)},
    {HF_BUG_SNAPSHOT_PER_ROW,
     ANY(HF_G_SINGLE, HF_G_SINGLE_ITEM, HF_NON_REPEATABLE_READ),
     ANY(HF_RESULT_SET_MISMATCH)},
    {HF_BUG_CERTIFIER_IGNORES_PREDICATES, ANY(HF_G2), ANY(HF_G2)},
    {HF_BUG_INDEX_NOT_VERSIONED, ANY(HF_RESULT_SET_MISMATCH),
     ANY(HF_RESULT_SET_MISMATCH)},
    {HF_BUG_WRONG_RESULT_SET, ANY(HF_RESULT_SET_MISMATCH),
     ANY(HF_RESULT_SET_MISMATCH)},
    {HF_BUG_TWO_ROW_VERSIONS, ANY(HF_TWO_VERSIONS), ANY(HF_TWO_VERSIONS)},
    {HF_BUG_CERTIFIER_NEWEST_ONLY, ANY(HF_G2_ITEM, HF_G2),
     ANY(HF_G2_ITEM, HF_G2)},
};
#define BUG_ROWS (sizeof(bug_rows) / sizeof(bug_rows[0]))

static const bug_row *row_of(hf_store_bug bug)
{
    for (size_t i = 0; i < BUG_ROWS; i++)
        if (bug_rows[i].bug == bug)
            return &bug_rows[i];
    return NULL;
}

/* The finding that the row asks for, or without a row the first; NULL: there
 * is none. */
static const char *found_as(const hf_generate_options *o,
                            const hf_result *result)
{
    const bug_row *row = row_of(o->bug);
    const hf_anomaly *wanted;

    if (!row)
        return result->n_findings
                   ? hf_anomaly_get(result->findings[0].anomaly)->name
                   : "a core";
    wanted = o->version_sets == HF_VERSION_SETS_EXPLICIT ? row->listed_as
                                                         : row->named_as;
    for (uint32_t i = 0; i < result->n_findings; i++)
        for (unsigned k = 0; wanted[k] != HF_ANOMALY_COUNT; k++)
            if (result->findings[i].anomaly == wanted[k])
                return hf_anomaly_get(wanted[k])->name;
    return NULL;
}

/* At every third level proofs hold, and no level is broken that a stronger
 * one, which holds, implies. */
static void judge_everywhere(run *r, const hf_generate_options *o,
                             const hf_history *h)
{
    hf_verdict verdicts[HF_LEVEL_COUNT];

    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        hf_result *result;

        verdicts[l] = HF_UNKNOWN;
        if ((l + (unsigned)o->bug) % 3 > 0)
            continue;
        result = judge(r, r->certificate, o, h, (hf_level)l);
        verdicts[l] = result ? result->verdict : HF_UNKNOWN;
        hf_result_free(result);
    }
    for (unsigned a = 0; a < HF_LEVEL_COUNT; a++)
        for (unsigned b = 0; b < HF_LEVEL_COUNT; b++)
            if (verdicts[a] == HF_VALID && verdicts[b] == HF_INVALID &&
                hf_level_implies((hf_level)a, (hf_level)b))
                complain(r, o, r->certificate, (hf_level)b,
                         "invalid, but valid at",
                         hf_level_get((hf_level)a)->name);
}

/* The first seed with which the engine finds the bug, and as what; 0: none. */
static uint64_t find_bug(run *r, const hf_engine *engine,
                         hf_generate_options *o, const char **ret_name)
{
    *ret_name = NULL;
    for (uint64_t seed = 1; seed <= BUG_SEEDS; seed++) {
        hf_history *h;
        hf_result *result;

        o->seed = seed;
        o->transactions = 200 + 100 * (seed % 4);
        h = store_history(o);
        result = judge(r, engine, o, h, o->level);
        if (result && result->verdict == HF_INVALID)
            *ret_name =
                engine == r->certificate ? found_as(o, result) : "found";
        if (*ret_name && engine == r->certificate)
            judge_everywhere(r, o, h);
        hf_result_free(result);
        hf_history_free(h);
        if (*ret_name)
            return seed;
    }
    return 0;
}

/* The bugs that are about conditions must be found by replay, too. */
static void expect_bug(run *r, hf_generate_options *o)
{
    const char *name, *replayed = "";
    uint64_t seed = find_bug(r, r->certificate, o, &name);

    if (seed == 0)
        complain(r, o, r->certificate, o->level, "the bug is not found", NULL);
    r->passed += seed > 0;
    if (row_of(o->bug)) {
        uint64_t at = find_bug(r, r->replay, o, &replayed);

        if (at == 0)
            complain(r, o, r->replay, o->level, "the bug is not found", NULL);
        r->passed += at > 0;
        replayed = at > 0 ? "; by replay, too" : "; NOT BY REPLAY";
    }
    printf("%-28s %-14s %-9s %-34s %s (seed %" PRIu64 ")%s\n",
           hf_store_bug_get(o->bug)->name, hf_workload_name(o->workload),
           hf_version_sets_name(o->version_sets), hf_level_get(o->level)->name,
           name ? name : "NOT FOUND", seed, replayed);
}

static void try_bug(run *r, const hf_store_bug_info *info, hf_workload workload)
{
    for (unsigned sets = HF_VERSION_SETS_EXPLICIT; sets < HF_VERSION_SETS_COUNT;
         sets++) {
        hf_generate_options o;
        hf_error unused;

        hf_generate_defaults(&o, workload, info->bug);
        o.version_sets = (hf_version_sets)sets;
        if (hf_generate_check(&o, &unused) == HF_OK)
            expect_bug(r, &o);
        else if (sets == HF_VERSION_SETS_EXPLICIT)
            complain(r, &o, r->certificate, o.level, "refused", unused.text);
    }
}

static void try_bugs(run *r)
{
    for (unsigned i = 1; i < HF_BUG_COUNT; i++) {
        const hf_store_bug_info *info = hf_store_bug_get((hf_store_bug)i);

        if (info->anomaly == HF_ANOMALY_COUNT)
            continue;
        if (info->workloads & HF_BUG_IN_PREDICATE)
            try_bug(r, info, HF_WORKLOAD_PREDICATE);
        if (info->workloads & HF_BUG_IN_EMME_PREDICATE)
            try_bug(r, info, HF_WORKLOAD_EMME_PREDICATE);
    }
}

/* ---- the whole ----------------------------------------------------------- */

static void print_runs(const run *r)
{
    printf("\n%-42s %8s %16s %16s\n", "clean runs", "runs", "unknown",
           "replay unknown");
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
        printf("%-42s %8ld %16ld %16ld\n", hf_level_get((hf_level)l)->name,
               r->clean[l], r->unknown[l], r->unreplayed[l]);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_RUNS;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    run r = {.certificate = hf_engine_find(HF_STR("certificate")),
             .replay = hf_engine_find(HF_STR("replay")),
             .graph = hf_engine_find(HF_STR("graph"))};

    if (!r.certificate || !r.replay || !r.graph) {
        printf("an engine is missing\n");
        return 1;
    }
    try_bugs(&r);
    r.shown = 0;
    for (long i = 0; i < n; i++)
        try_clean(&r, (uint64_t)i, seed);
    print_runs(&r);
    printf("%ld runs from seed %" PRIu64 "\n", n, seed);
    printf("%ld passed, %ld failed\n", r.passed, r.failed);
    return r.failed ? 1 : 0;
}
