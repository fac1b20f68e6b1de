/* test_assume_brute.c: what the user assumes, engines against the reference.
 *
 *     test_assume_brute [HISTORIES [SEED [ENGINE]]]
 *
 * Under an assumption (--assume) only the worlds count that keep it: the
 * reference enumerates exactly those (brute_promises.c).  On random tiny
 * histories (lists, registers, counters, conditions; aborts, unknown outcomes,
 * sessions, times, duplicates, mixed levels), each with a random assumption, at
 * some levels:
 *   - engine polygraph, which searches and does not enumerate, says what the
 *     reference says, and knows what it knows;
 *   - the engines graph or certificate, and weak, do not contradict it;
 *   - verify accepts every witness, of the reference too;
 *   - an assumption never makes an invalid history valid.
 * If ENGINE is named only that is asked.  A failure is shrunk and printed in
 * the native text form.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "determined.h"
#include "history/certificate.h"
#include "history/promises.h"
#include "random_history.h"

#define MAX_SHOWN 4
#define LEVELS_EACH 4 /* levels that a history is asked about */

/* Who is asked. */
typedef enum asked { SEARCH, KNOWN, WEAK, ASKED_COUNT } asked;

typedef struct run {
    const hf_engine *search, *graph, *certificate, *weak, *reference;
    hf_out json;
    hf_level level;
    unsigned assume;
    bool mixed;
    asked who;
    const char *only; /* an engine; NULL: all */
    hf_error why;
    agreement kind;
    long counts[ASKED_COUNT][HF_VERDICT_COUNT][HF_VERDICT_COUNT];
    long told; /* by the assumption: valid without it */
    long passed, failed;
    int shown[ASKED_COUNT][AGREEMENT_COUNT];
} run;

static const hf_engine *engine_of(const run *r, const hf_history *h)
{
    switch (r->who) {
    case SEARCH:
        return r->search;
    case KNOWN:
        return hf_has_predicates(h) ? r->certificate : r->graph;
    default:
        return r->weak;
    }
}

/* Input that no engine is asked about. */
static bool is_bad_input(const hf_history *h)
{
    return !h || hf_promises_check(h, NULL) != HF_OK ||
           hf_certificate_check(h, NULL) != HF_OK;
}

static agreement judge(run *r, const hf_history *h, agreement_answers *ret)
{
    agreement_case c = {.engine = engine_of(r, h),
                        .reference = r->reference,
                        .level = r->level,
                        .mixed = r->mixed,
                        .assume = r->assume,
                        .searched = true,
                        .decides = r->who == SEARCH,
                        .proofs = r->who == SEARCH};
    agreement a = agree_level(h, &c, &r->json, ret, &r->why);

    /* what is determined without the assumption may be open with it */
    return a == DISAGREE_UNKNOWN && r->who != SEARCH ? AGREE : a;
}

static bool fails_alike(const tiny_history *t, void *user)
{
    run *r = user;
    agreement_answers answers;
    hf_error err;
    hf_history *h = t->n_txns > 0 ? tiny_build(t, &err) : NULL;
    bool alike = !is_bad_input(h) && judge(r, h, &answers) == r->kind;

    tiny_free(h);
    return alike;
}

static void show(run *r, tiny_history t, uint64_t seed)
{
    agreement_answers answers;
    hf_history *h;

    r->failed++;
    if (r->shown[r->who][r->kind]++ >= MAX_SHOWN)
        return;
    tiny_shrink(&t, fails_alike, r);
    h = tiny_build(&t, &r->why);
    (void)judge(r, h, &answers);
    printf("seed %" PRIu64 ", %s%s, engine %s, assuming", seed,
           r->mixed ? "mixed, others " : "", hf_level_get(r->level)->name,
           engine_of(r, h)->name);
    for (unsigned i = 0; i < HF_REST_COUNT; i++)
        if (r->assume & 1u << i)
            printf(" %s", hf_rest_name(1u << i));
    printf(": %s: %s\n", agreement_name(r->kind), r->why.text);
    tiny_print(&t, stdout);
    printf("%.*s\n\n", (int)r->json.n, r->json.at);
    (void)fflush(stdout);
    tiny_free(h);
}

static void attempt(run *r, const tiny_history *t, const hf_history *h,
                    uint64_t seed)
{
    agreement_answers answers;

    if (r->only && strcmp(r->only, engine_of(r, h)->name) != 0)
        return;
    r->kind = judge(r, h, &answers);
    r->counts[r->who][answers.engine][answers.reference]++;
    if (r->kind == AGREE)
        r->passed++;
    else
        show(r, *t, seed);
}

static hf_verdict without(run *r, const hf_history *h)
{
    hf_check_options options = {.mixed = r->mixed};
    hf_result *result = NULL;
    hf_verdict verdict;

    if (r->reference->check(h, r->level, &options, NULL, &result, &r->why) !=
        HF_OK)
        return HF_UNKNOWN;
    verdict = result->verdict;
    hf_result_free(result);
    return verdict;
}

/* The reference alone. */
static void compare_without(run *r, const hf_history *h, uint64_t seed)
{
    hf_check_options options = {.mixed = r->mixed, .assume = r->assume};
    hf_result *result = NULL;
    hf_verdict plain = without(r, h);

    if (r->reference->check(h, r->level, &options, NULL, &result, &r->why) !=
        HF_OK)
        return;
    r->told += plain == HF_VALID && result->verdict == HF_INVALID;
    if (plain == HF_INVALID && result->verdict == HF_VALID) {
        r->failed++;
        printf("seed %" PRIu64 ": valid under an assumption only\n", seed);
    } else {
        r->passed++;
    }
    hf_result_free(result);
}

static const random_taste *taste_of(uint64_t seed)
{
    static const random_taste *const tastes[] = {
        &random_items, &random_choices, &random_any, &random_predicates,
        &random_choices};

    return seed % 10 == 3 ? &random_unlisted : tastes[seed % 5];
}

/* Most transactions get times, and some a session. */
static void add_times(tiny_history *t, hf_rng *rng)
{
    bool sessions = hf_rng_chance(rng, 50);

    for (int i = 0; i < t->n_txns; i++) {
        tiny_txn *x = &t->txns[i];

        if (x->begin < 0 && hf_rng_chance(rng, 70)) {
            x->begin = (int)hf_rng_below(rng, 20);
            x->end = x->begin + (int)hf_rng_below(rng, 8);
        }
        if (sessions && x->session < 0 && hf_rng_chance(rng, 60))
            x->session = (int)hf_rng_below(rng, 2);
    }
}

static void try_history(run *r, uint64_t seed)
{
    hf_rng rng;
    tiny_history t;
    hf_history *h;

    hf_rng_seed(&rng, seed);
    t = random_history_of(taste_of(seed), &rng);
    if (hf_rng_chance(&rng, 60))
        add_times(&t, &rng);
    r->mixed = hf_rng_chance(&rng, 25);
    if (r->mixed)
        random_levels(&t, &rng);
    r->assume = 1 + hf_rng_below(&rng, HF_REST_ASSUMABLE);
    h = tiny_build(&t, &r->why);
    for (int i = 0; i < LEVELS_EACH && !is_bad_input(h); i++) {
        r->level = (hf_level)hf_rng_below(&rng, HF_LEVEL_COUNT);
        for (r->who = 0; r->who < (r->mixed ? KNOWN : ASKED_COUNT); r->who++)
            attempt(r, &t, h, seed);
        compare_without(r, h, seed);
    }
    tiny_free(h);
}

static void summarize(run *r)
{
    static const char *const names[] = {"polygraph", "graph or certificate",
                                        "weak"};

    printf("%-22s %9s %9s %9s %9s\n", "of what brute decides", "valid",
           "invalid", "unknown", "by times");
    for (int w = 0; w < ASKED_COUNT; w++) {
        long(*n)[HF_VERDICT_COUNT] = r->counts[w];

        printf("%-22s %9ld %9ld %9ld %9ld\n", names[w], n[HF_VALID][HF_VALID],
               n[HF_INVALID][HF_INVALID],
               n[HF_UNKNOWN][HF_VALID] + n[HF_UNKNOWN][HF_INVALID],
               n[HF_VALID][HF_INVALID] + n[HF_INVALID][HF_VALID]);
        if (!r->only &&
            (n[HF_VALID][HF_VALID] == 0 || n[HF_INVALID][HF_INVALID] == 0)) {
            printf("only one verdict was met\n");
            r->failed++;
        }
    }
    printf("valid without the assumption, invalid with it: %ld\n", r->told);
    if (r->told == 0)
        r->failed++;
    printf("%ld passed, %ld failed\n", r->passed, r->failed);
}

/* They showed mistakes. */
static const uint64_t mended[] = {5783, 501760, 507343};

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 3000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    run r = {.search = hf_engine_find(HF_STR("polygraph")),
             .graph = hf_engine_find(HF_STR("graph")),
             .certificate = hf_engine_find(HF_STR("certificate")),
             .weak = hf_engine_find(HF_STR("weak")),
             .reference = hf_engine_find(HF_STR("brute")),
             .only = argc > 3 ? argv[3] : NULL};

    if (r.only && !hf_engine_find(hf_str_of(r.only))) {
        printf("no engine \"%s\"\n", r.only);
        return 1;
    }
    hf_out_init_memory(&r.json);
    for (long i = 0; i < n; i++)
        try_history(&r, seed + (uint64_t)i);
    for (size_t i = 0; i < sizeof(mended) / sizeof(*mended); i++)
        try_history(&r, mended[i]);
    summarize(&r);
    hf_out_release(&r.json);
    return r.failed ? 1 : 0;
}
