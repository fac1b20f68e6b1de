/* test_watch_store.c: watch on traces of the embedded store.
 *
 *     test_watch_store [TRACES [SEED]]
 *
 *   clean    random small traces of the sound store, at every level that has
 *            a profile, with random intervals around the true instants: no
 *            violation.  Also with threads, and batches of other sizes.
 *            A share of them also as files: text, history, events.
 *   bugs     each bug of the store's catalogue, at the level that forbids it:
 *            found, by which mechanisms.
 *   threads  violations of traces with bugs are the same for 1, 2, 4 threads.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "watch_trace.h"

#define DEFAULT_TRACES 10000
#define BUG_TRACES 200
#define MOST_BUG_TRACES 2000

static const hf_level levels[] = {HF_SERIALIZABLE,    HF_SNAPSHOT_ISOLATION,
                                  HF_REPEATABLE_READ, HF_PREFIX,
                                  HF_READ_COMMITTED,  HF_READ_UNCOMMITTED};
#define N_LEVELS (sizeof(levels) / sizeof(levels[0]))

static int failures;

static void fail(const trace *t, const trace_verdict *v, const char *what,
                 uint64_t seed)
{
    if (failures++ > 2)
        return;
    fprintf(stderr, "%s: level %d bug %d seed %" PRIu64 "\n", what,
            (int)t->taste.level, (int)t->taste.bug, seed);
    trace_print(t);
    if (v->violations > 0)
        trace_print_violation(&v->first);
}

static void test_clean(uint64_t traces, uint64_t seed)
{
    uint64_t reads = 0, file_reads = 0, events = 0, uncertain = 0,
             dependencies = 0;

    for (uint64_t i = 0; i < traces; i++) {
        hf_rng r;
        trace t;
        trace_taste taste;
        trace_verdict v;
        hf_level level = levels[i % N_LEVELS];

        hf_rng_seed(&r, seed + i);
        taste = trace_random_taste(&r, level, HF_BUG_NONE);
        trace_make(&t, &taste, &r);
        v = trace_watch(&t, trace_profile(level), 1, i % 7 == 0 ? 5 : 0);
        if (v.violations > 0)
            fail(&t, &v, "false alarm", seed + i);
        reads += v.stats.reads_judged;
        events += v.stats.events;
        if (i % 5 == 0) {
            v = trace_watch_file(&t, trace_profile(level));
            if (v.violations > 0)
                fail(&t, &v, "false alarm on a file", seed + i);
            file_reads += v.stats.reads_judged;
        }
        for (int k = 0; k < HF_WATCH_DEPENDENCY_COUNT; k++) {
            uncertain += v.stats.uncertain[k];
            dependencies +=
                v.stats.uncertain[k] + v.stats.certain[k] + v.stats.deduced[k];
        }
        trace_release(&t);
    }
    printf("clean: %" PRIu64 " traces, %" PRIu64 " events, %" PRIu64
           " reads judged, %" PRIu64 " of %" PRIu64 " dependencies uncertain\n",
           traces, events, reads, uncertain, dependencies);
    printf("files: %" PRIu64 " reads judged\n", file_reads);
    if (reads == 0 || file_reads == 0)
        failures++;
}

/* The level at which a bug is looked for: the one that forbids it, or the
 * weakest above it that has a profile. */
static hf_level level_for(const hf_store_bug_info *bug)
{
    if (trace_profile(bug->shows_at))
        return bug->shows_at;
    return HF_SNAPSHOT_ISOLATION;
}

/* Nothing that isolation is about. */
static bool is_beyond(hf_store_bug bug)
{
    return bug == HF_BUG_NONE || bug == HF_BUG_COMMIT_ANSWER_LOST ||
           bug == HF_BUG_WRONG_ARITHMETIC;
}

static void test_bugs(uint64_t traces, uint64_t seed)
{
    printf("%-30s %-10s %8s %8s %8s %8s %8s\n", "bug", "level", "traces", "CR",
           "ME", "FUW", "SC");
    for (int b = 1; b < HF_BUG_COUNT; b++) {
        const hf_store_bug_info *bug = hf_store_bug_get((hf_store_bug)b);
        uint64_t found = 0, in_files = 0, by[HF_WATCH_MECHANISM_COUNT] = {0};

        for (uint64_t i = 0; i < traces; i++) {
            hf_rng r;
            trace t;
            trace_taste taste;
            trace_verdict v, w;

            hf_rng_seed(&r, seed + i * 1000 + (uint64_t)b);
            taste = trace_random_taste(&r, level_for(bug), bug->bug);
            taste.percent = bug->percent ? bug->percent : 100;
            if (taste.length > 12)
                taste.length = 12;
            trace_make(&t, &taste, &r);
            v = trace_watch(&t, trace_profile(taste.level), 1, 0);
            found += v.violations > 0;
            for (int m = 0; m < HF_WATCH_MECHANISM_COUNT; m++)
                by[m] += v.by[m] > 0;
            if (b == HF_BUG_COMMIT_ANSWER_LOST && v.violations > 0)
                fail(&t, &v, "false alarm", seed + i * 1000 + (uint64_t)b);
            if (v.violations > 0 && in_files == 0)
                in_files =
                    trace_watch_file(&t, trace_profile(taste.level)).violations;
            if (i < 40) {
                w = trace_watch(&t, trace_profile(taste.level), i % 2 ? 2 : 4,
                                16 + i);
                v = trace_watch(&t, trace_profile(taste.level), 1, 16 + i);
                if (w.hash != v.hash || w.violations != v.violations)
                    fail(&t, &v, "threads differ", seed + i);
            }
            trace_release(&t);
        }
        printf("%-30s %-10s %8" PRIu64, bug->name,
               trace_profile(level_for(bug))->level, found);
        for (int m = 0; m < HF_WATCH_MECHANISM_COUNT; m++)
            printf(" %8" PRIu64, by[m]);
        printf("\n");
        if (found > 0 && in_files == 0) {
            fprintf(stderr, "%s is never found in files\n", bug->name);
            failures++;
        }
        if (found == 0 && !is_beyond(bug->bug)) {
            fprintf(stderr, "%s is never found\n", bug->name);
            failures++;
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t traces = argc > 1 ? strtoull(argv[1], NULL, 10) : DEFAULT_TRACES;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t bugs = BUG_TRACES;

    test_clean(traces, seed);
    if (traces / 60 > BUG_TRACES)
        bugs = traces / 60 < MOST_BUG_TRACES ? traces / 60 : MOST_BUG_TRACES;
    test_bugs(bugs, seed);
    if (failures > 0)
        printf("%d failures\n", failures);
    return failures > 0;
}
