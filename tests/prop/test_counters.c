/* test_counters.c: counters whose increments have no recorded results.
 *
 *     test_counters [HISTORIES [SEED [SIZE [LEVEL]]]]
 *
 * A store runs transactions that add to counters, set and read them, serially
 * or on snapshots; of half of the histories one read of a counter is altered
 * afterwards, by 1 or 2.  Engine polygraph decides each at strong and weak
 * levels, with a witness that verify accepts, within SECONDS_EACH; what it
 * leaves open is a failure.  What a serial store did, and nobody altered, is
 * valid at every level.  A verdict at one level agrees with those of all
 * stronger and weaker ones.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/error.h"
#include "check/check.h"
#include "check/poly_core.h"
#include "history/text.h"
#include "proved.h"
#include "states_store.h"

#define SECONDS_EACH 20

static const hf_level levels[] = {HF_STRICT_SERIALIZABLE,
                                  HF_STRONG_SESSION_SERIALIZABLE,
                                  HF_SERIALIZABLE,
                                  HF_STRICT_SNAPSHOT_ISOLATION,
                                  HF_STRONG_SESSION_SNAPSHOT_ISOLATION,
                                  HF_SNAPSHOT_ISOLATION,
                                  HF_PARALLEL_SNAPSHOT_ISOLATION,
                                  HF_PREFIX,
                                  HF_CAUSAL,
                                  HF_READ_ATOMIC,
                                  HF_READ_COMMITTED};
#define N_LEVELS (sizeof(levels) / sizeof(*levels))

typedef struct run {
    const hf_engine *engine;
    const char *level;
    uint64_t seed;
    unsigned size;
    long verdicts[2][HF_VERDICT_COUNT]; /* as it was; with an altered read */
    long cores;
    double slowest[2];
    uint64_t slowest_seed[2];
    const char *slowest_level[2];
    long failed;
} run;

static void complain(run *r, hf_level level, const char *what, const char *why)
{
    r->failed++;
    printf("seed %" PRIu64 ", %s: %s: %s\n", r->seed, hf_level_get(level)->name,
           what, why ? why : "");
}

static double cpu_seconds(void)
{
    return (double)hf_clock_cpu_ns() / 1e9;
}

/* By CPU time: the machine may be busy. */
static bool is_late(void *user)
{
    return cpu_seconds() > *(const double *)user;
}

static hf_verdict ask(run *r, const hf_history *h, hf_level level, bool altered)
{
    hf_check_options options = {.threads = 1};
    double before = cpu_seconds(), until = before + SECONDS_EACH, took;
    hf_budget budget = {.interrupted = is_late, .user = &until};
    hf_verdict verdict;
    hf_result *x = NULL;
    hf_error err = {{0}, 0, 0};

    hf_budget_start(&budget);
    if (hf_engine_ask(r->engine, h, level, &options, &budget, &x, &err) !=
        HF_OK) {
        complain(r, level, "failed", err.text);
        return HF_UNKNOWN;
    }
    took = cpu_seconds() - before;
    verdict = x->verdict;
    r->verdicts[altered][verdict]++;
    r->cores += x->witness.kind == HF_WITNESS_CORE;
    if (took > r->slowest[altered]) {
        r->slowest[altered] = took;
        r->slowest_seed[altered] = r->seed;
        r->slowest_level[altered] = hf_level_get(level)->name;
    }
    if (r->level)
        printf("%s: %s in %.2f s: %s\n", hf_level_get(level)->name,
               hf_verdict_name(verdict), took, x->reason ? x->reason : "");
    if (verdict == HF_UNKNOWN)
        complain(r, level, "left open", x->reason);
    else if (!is_proved(NULL, h, x, &x->witness, &err))
        complain(r, level, "not proved", err.text);
    hf_result_free(x);
    return verdict;
}

static states_taste taste_of(hf_rng *r, unsigned size)
{
    bool snapshots = hf_rng_chance(r, 30);

    return (states_taste){.txns = size,
                          .keys = 1 + hf_rng_below(r, 1 + size / 8),
                          .sessions = 2 + hf_rng_below(r, 8),
                          .ops = 1 + hf_rng_below(r, 5),
                          .values = 2 + hf_rng_below(r, 20),
                          .counters = hf_rng_chance(r, 50) ? 100 : 50,
                          .results = hf_rng_chance(r, 50) ? 30 : 0,
                          .sets = hf_rng_chance(r, 50) ? 3 : 20,
                          .initial = hf_rng_chance(r, 50) ? 50 : 0,
                          .unknown = hf_rng_chance(r, 50) ? 10 : 0,
                          .aborted = 5,
                          .lag = snapshots ? 3 : 0,
                          .conflicts = true,
                          .times = hf_rng_chance(r, 50),
                          .overlap = hf_rng_below(r, 8),
                          .change = 50,
                          .shift = true};
}

static void show(const hf_history *h)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_text_write(h, &out);
    fprintf(stderr, "%.*s", (int)out.n, out.at);
    hf_out_release(&out);
}

/* The verdicts of one history follow from each other. */
static void compare(run *r, const hf_verdict *v)
{
    for (size_t i = 0; i < N_LEVELS; i++)
        for (size_t k = 0; k < N_LEVELS; k++)
            if (hf_level_implies(levels[i], levels[k]) && v[i] == HF_VALID &&
                v[k] == HF_INVALID)
                complain(r, levels[k], "invalid, but valid at",
                         hf_level_get(levels[i])->name);
}

static void try_history(run *r)
{
    hf_verdict v[N_LEVELS];
    states_taste taste;
    hf_history *h;
    hf_rng rng;
    bool altered;

    hf_rng_seed(&rng, r->seed);
    taste = taste_of(&rng, r->size);
    altered = r->seed % 2 == 1;
    taste.change = altered ? 100 : 0;
    h = states_history(&taste, &rng);
    if (r->level)
        show(h);
    for (size_t i = 0; i < N_LEVELS; i++) {
        v[i] = HF_UNKNOWN;
        if (r->level && strcmp(r->level, hf_level_get(levels[i])->name) != 0)
            continue;
        v[i] = ask(r, h, levels[i], altered);
        if (!altered && taste.lag == 0 && v[i] == HF_INVALID)
            complain(r, levels[i], "a serial store did it", "");
    }
    compare(r, v);
    hf_history_free(h);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 20;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    unsigned size = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 30;
    run r = {.engine = hf_engine_find(HF_STR("polygraph")),
             .size = size,
             .level = argc > 4 ? argv[4] : NULL};

    for (long i = 0; i < n; i++) {
        r.seed = seed + (uint64_t)i;
        try_history(&r);
    }
    for (int a = 0; a < 2; a++)
        printf("%s: valid %ld, invalid %ld, open %ld; slowest %.2f s (seed "
               "%" PRIu64 ", %s)\n",
               a ? "altered" : "as it was", r.verdicts[a][HF_VALID],
               r.verdicts[a][HF_INVALID], r.verdicts[a][HF_UNKNOWN],
               r.slowest[a], r.slowest_seed[a],
               r.slowest_level[a] ? r.slowest_level[a] : "");
    printf("%ld cores, %ld failed\n", r.cores, r.failed);
    return r.failed ? 1 : 0;
}
