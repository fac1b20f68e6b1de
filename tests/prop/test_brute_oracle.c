/* test_brute_oracle.c: the reference engine against the oracle.
 *
 *     test_brute_oracle [HISTORIES [SEED]]
 *
 * On random tiny histories and every level: engine and oracle give the same
 * verdict; the witness, written as JSON and read back, is accepted by verify;
 * and the verdicts keep the lattice of levels.  A failure is shrunk and
 * printed in the native text form.  A level that was never valid or never
 * invalid was not tested, which is a failure too.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"
#include "oracle.h"
#include "random_history.h"

#define MAX_SHOWN 3 /* of each kind */

typedef struct run {
    const hf_engine *engine;
    hf_out json;
    int counts[HF_LEVEL_COUNT][HF_VERDICT_COUNT];
    int passed, failed;
    int shown[COMPARISON_COUNT];
    /* what is being shrunk */
    hf_level level;
    comparison kind;
} run;

static bool fails_alike(const tiny_history *t, void *user)
{
    run *r = user;
    hf_error err;
    hf_history *h = tiny_build(t, &err);
    hf_verdict verdict;
    comparison c;

    if (!h)
        return false;
    c = compare_level(h, r->engine, r->level, oracle_check(h, r->level),
                      &r->json, &verdict, &err);
    tiny_free(h);
    return c == r->kind;
}

static void show(run *r, const tiny_history *found, uint64_t seed,
                 comparison kind, hf_level level)
{
    tiny_history t = *found;
    hf_error why = {{0}, 0, 0};
    hf_verdict verdict;
    hf_history *h;
    comparison c;

    if (r->shown[kind]++ >= MAX_SHOWN)
        return;
    r->level = level;
    r->kind = kind;
    tiny_shrink(&t, fails_alike, r);
    h = tiny_build(&t, &why);
    c = compare_level(h, r->engine, level, oracle_check(h, level), &r->json,
                      &verdict, &why);
    printf("seed %" PRIu64 ", %s: %s: %s\n", seed, hf_level_get(level)->name,
           comparison_name(c), why.text);
    tiny_print(&t, stdout);
    printf("%.*s\n\n", (int)r->json.n, r->json.at);
    tiny_free(h);
}

/* Counts one failure at most: one broken arrow breaks those behind it. */
static void check_lattice(run *r, const tiny_history *t, uint64_t seed,
                          const hf_verdict *verdicts)
{
    for (int a = 0; a < HF_LEVEL_COUNT; a++)
        for (int b = 0; b < HF_LEVEL_COUNT; b++) {
            if (verdicts[a] != HF_VALID || verdicts[b] != HF_INVALID ||
                !hf_level_implies((hf_level)a, (hf_level)b))
                continue;
            r->failed++;
            if (r->shown[AGREED]++ < MAX_SHOWN) {
                printf("seed %" PRIu64 ": valid at %s, invalid at %s\n", seed,
                       hf_level_get((hf_level)a)->name,
                       hf_level_get((hf_level)b)->name);
                tiny_print(t, stdout);
            }
            return;
        }
}

static void try_history(run *r, uint64_t seed)
{
    hf_verdict expected[HF_LEVEL_COUNT], verdicts[HF_LEVEL_COUNT];
    hf_rng rng;
    hf_error err;
    tiny_history t;
    hf_history *h;

    hf_rng_seed(&rng, seed);
    t = random_history(&rng);
    h = tiny_build(&t, &err);
    if (!h) {
        printf("seed %" PRIu64 ": not built: %s\n", seed, err.text);
        r->failed++;
        return;
    }
    oracle_check_all(h, expected);
    for (int i = 0; i < HF_LEVEL_COUNT; i++) {
        comparison c;

        verdicts[i] = HF_UNKNOWN;
        c = compare_level(h, r->engine, (hf_level)i, expected[i], &r->json,
                          &verdicts[i], &err);
        r->counts[i][verdicts[i]]++;
        if (c == AGREED) {
            r->passed++;
        } else {
            r->failed++;
            show(r, &t, seed, c, (hf_level)i);
        }
    }
    check_lattice(r, &t, seed, verdicts);
    tiny_free(h);
}

static void summarize(run *r)
{
    printf("%-44s %8s %8s %8s\n", "level", "valid", "invalid", "unknown");
    for (int i = 0; i < HF_LEVEL_COUNT; i++) {
        const int *c = r->counts[i];

        printf("%-44s %8d %8d %8d\n", hf_level_get((hf_level)i)->name,
               c[HF_VALID], c[HF_INVALID], c[HF_UNKNOWN]);
        if (c[HF_VALID] == 0 || c[HF_INVALID] == 0) {
            printf("%s was never %s\n", hf_level_get((hf_level)i)->name,
                   c[HF_VALID] ? "invalid" : "valid");
            r->failed++;
        }
    }
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    run r = {.engine = hf_engine_find(HF_STR("brute"))};

    if (!r.engine) {
        printf("no engine \"brute\"\n");
        return 1;
    }
    hf_out_init_memory(&r.json);
    for (long i = 0; i < n; i++)
        try_history(&r, seed + (uint64_t)i);
    summarize(&r);
    printf("%ld histories from seed %" PRIu64 ", %d levels\n", n, seed,
           HF_LEVEL_COUNT);
    printf("%d passed, %d failed\n", r.passed, r.failed);
    hf_out_release(&r.json);
    return r.failed ? 1 : 0;
}
