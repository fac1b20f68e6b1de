/* test_mixed_brute.c: mixed levels, an engine against the reference.
 *
 *     test_mixed_brute [HISTORIES [SEED [ENGINE]]]
 *
 * The engine, polygraph unless another is named, has to search: it does not
 * enumerate few transactions.
 *
 * On random tiny histories (lists, registers and both, some with conditions;
 * aborts, unknown outcomes, sessions, times, duplicates) in which most
 * transactions name a level: the engine does not contradict the reference,
 * knows what it knows, and verify accepts every proof, of the reference too. Of
 * the reference alone:
 *   - where no transaction names a level, or all name one, each by its own is
 *     all by that one;
 *   - a level that is stronger, of one transaction, never makes an invalid
 *     history valid;
 *   - verify accepts no order of a history that is invalid: it is asked about
 *     orders of the same history at other levels, a little disturbed.
 * A failure is shrunk and printed in the native text form.  What was never
 * valid or never invalid was not tested, which is a failure too.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "determined.h"
#include "history/certificate.h"
#include "history/promises.h"
#include "random_history.h"
#include "verify/verify.h"

#define MAX_SHOWN 3
#define CONDITIONS_EVERY 5 /* histories, one may have them */

typedef enum kind { MIXED, ALL_EQUAL, STRONGER, ORDERS, KIND_COUNT } kind;

static const char *const kind_names[KIND_COUNT] = {
    "engine and reference, mixed", "all equal is not mixed",
    "a stronger level is weaker", "verify accepts a wrong order"};

typedef struct run {
    const hf_engine *engine, *reference;
    hf_out json;
    hf_level level; /* of those that name none */
    kind kind;      /* what is being tried, and so on while it is shrunk */
    int raised, to; /* STRONGER: which transaction, its new level */
    uint64_t seed;  /* ORDERS: of the disturbance */
    long accepted;  /* ORDERS */
    hf_error why;
    long counts[KIND_COUNT][HF_VERDICT_COUNT];
    long passed, failed, unknown;
    int shown[KIND_COUNT];
} run;

static hf_result *result_of(run *r, const hf_history *h, hf_level level,
                            bool mixed)
{
    hf_check_options options = {.mixed = mixed};
    hf_result *result = NULL;

    if (h && r->reference->check(h, level, &options, NULL, &result, &r->why) !=
                 HF_OK)
        return NULL;
    return result;
}

static hf_verdict ask(run *r, const tiny_history *t, hf_level level, bool mixed)
{
    hf_history *h = tiny_build(t, &r->why);
    hf_result *result = result_of(r, h, level, mixed);
    hf_verdict verdict = result ? result->verdict : HF_VERDICT_COUNT;

    hf_result_free(result);
    tiny_free(h);
    return verdict;
}

/* ---- the three ----------------------------------------------------------- */

static bool mixed_agrees(run *r, const tiny_history *t, hf_verdict *ret)
{
    agreement_case c = {.engine = r->engine,
                        .reference = r->reference,
                        .level = r->level,
                        .mixed = true,
                        .decides = true,
                        .proofs = true};
    hf_history *h = tiny_build(t, &r->why);
    agreement_answers answers;
    agreement a;

    if (!h)
        return false;
    c.searched = r->engine != r->reference;
    a = agree_level(h, &c, &r->json, &answers, &r->why);
    r->unknown +=
        answers.engine == HF_UNKNOWN && answers.reference != HF_UNKNOWN;
    *ret = answers.reference;
    tiny_free(h);
    return a == AGREE;
}

/* Half of the transactions name the level, the others are given it. */
static bool equal_agrees(run *r, const tiny_history *t, hf_verdict *ret)
{
    tiny_history equal = *t;
    hf_verdict plain;

    for (int i = 0; i < t->n_txns; i++)
        equal.txns[i].level = i % 2 ? 1 + (int)r->level : 0;
    plain = ask(r, &equal, r->level, false);
    *ret = ask(r, &equal, r->level, true);
    (void)snprintf(r->why.text, sizeof(r->why.text), "mixed %d, plain %d",
                   (int)*ret, (int)plain);
    return *ret == plain && plain != HF_VERDICT_COUNT;
}

static bool stronger_agrees(run *r, const tiny_history *t, hf_verdict *ret)
{
    tiny_history raised = *t;
    hf_verdict before, after;

    *ret = HF_UNKNOWN;
    if (r->raised >= t->n_txns || t->txns[r->raised].level == 0 ||
        !hf_level_implies((hf_level)(r->to - 1),
                          (hf_level)(t->txns[r->raised].level - 1)))
        return true;
    raised.txns[r->raised].level = r->to;
    before = ask(r, t, r->level, true);
    *ret = after = ask(r, &raised, r->level, true);
    (void)snprintf(r->why.text, sizeof(r->why.text), "transaction %d to %s",
                   r->raised + 1, hf_level_get((hf_level)(r->to - 1))->name);
    return before != HF_INVALID || after != HF_VALID;
}

/* Some events change places with their neighbours. */
static void disturb(hf_witness *w, hf_rng *rng)
{
    for (uint32_t n = hf_rng_below(rng, 4); n > 0 && w->n_order > 1; n--) {
        uint32_t i = hf_rng_below(rng, w->n_order - 1), e = w->order[i];

        if (e / 2 == w->order[i + 1] / 2)
            continue;
        w->order[i] = w->order[i + 1];
        w->order[i + 1] = e;
    }
}

/* An order of `other`, which differs from t in levels, is put to verify as one
 * of t. */
static bool orders_agree(run *r, const tiny_history *t, hf_verdict *ret)
{
    tiny_history other = *t;
    hf_history *h = tiny_build(t, &r->why), *h_other;
    hf_verification answer = {.accepted = false};
    hf_result *result;
    hf_rng rng;

    hf_rng_seed(&rng, r->seed);
    random_levels(&other, &rng);
    h_other = tiny_build(&other, &r->why);
    *ret = ask(r, t, r->level, true);
    result = result_of(r, h_other, r->level, true);
    if (result && result->verdict == HF_VALID) {
        hf_claim claim = {HF_VALID, r->level, result->witness};

        disturb(&claim.witness, &rng);
        if (hf_verify_claim(h, &claim, NULL, &answer, &r->why) != HF_OK)
            answer.accepted = false;
    }
    r->accepted += answer.accepted;
    hf_result_free(result);
    tiny_free(h_other);
    tiny_free(h);
    return !answer.accepted || *ret != HF_INVALID;
}

static bool agrees(run *r, const tiny_history *t, hf_verdict *ret)
{
    switch (r->kind) {
    case MIXED:
        return mixed_agrees(r, t, ret);
    case ALL_EQUAL:
        return equal_agrees(r, t, ret);
    case STRONGER:
        return stronger_agrees(r, t, ret);
    default:
        return orders_agree(r, t, ret);
    }
}

/* Input that no engine is asked about. */
static bool is_bad_input(const tiny_history *t)
{
    hf_error err;
    hf_history *h = t->n_txns > 0 ? tiny_build(t, &err) : NULL;
    bool bad = !h || hf_promises_check(h, NULL) != HF_OK ||
               hf_certificate_check(h, NULL) != HF_OK;

    tiny_free(h);
    return bad;
}

static bool fails(const tiny_history *t, void *user)
{
    hf_verdict verdict;

    return !is_bad_input(t) && !agrees(user, t, &verdict);
}

static void attempt(run *r, kind k, tiny_history t, uint64_t seed)
{
    hf_verdict verdict = HF_UNKNOWN;

    r->kind = k;
    if (agrees(r, &t, &verdict)) {
        r->passed++;
        r->counts[k][verdict]++;
        return;
    }
    r->failed++;
    if (r->shown[k]++ >= MAX_SHOWN)
        return;
    tiny_shrink(&t, fails, r);
    (void)agrees(r, &t, &verdict);
    printf("seed %" PRIu64 ", others %s: %s: %s\n", seed,
           hf_level_get(r->level)->name, kind_names[k], r->why.text);
    tiny_print(&t, stdout);
    if (k == MIXED)
        printf("%.*s\n", (int)r->json.n, r->json.at);
    printf("\n");
    (void)fflush(stdout);
}

/* A stronger level for one transaction, if it names one. */
static void choose_raise(run *r, const tiny_history *t, hf_rng *rng)
{
    r->raised = (int)hf_rng_below(rng, (uint32_t)t->n_txns);
    r->to = t->txns[r->raised].level;
    for (int i = 0; i < 8 && r->to > 0; i++) {
        int to = 1 + (int)hf_rng_below(rng, HF_LEVEL_COUNT);

        if (hf_level_implies((hf_level)(to - 1), (hf_level)(r->to - 1)))
            r->to = to;
    }
}

static void try_history(run *r, uint64_t seed)
{
    tiny_history t;
    hf_rng rng;

    hf_rng_seed(&rng, seed);
    t = random_history_of(seed % CONDITIONS_EVERY   ? &random_items
                          : seed % 2 == 0           ? &random_unlisted
                          : hf_rng_chance(&rng, 50) ? &random_predicates
                                                    : &random_any,
                          &rng);
    random_levels(&t, &rng);
    if (is_bad_input(&t))
        return;
    r->level = (hf_level)hf_rng_below(&rng, HF_LEVEL_COUNT);
    choose_raise(r, &t, &rng);
    attempt(r, MIXED, t, seed);
    if (r->to > 0 && r->to != t.txns[r->raised].level)
        attempt(r, STRONGER, t, seed);
    attempt(r, ALL_EQUAL, t, seed);
    r->seed = seed;
    attempt(r, ORDERS, t, seed);
}

static void summarize(run *r)
{
    printf("%-30s %8s %8s %8s\n", "", "valid", "invalid", "unknown");
    for (int k = 0; k < KIND_COUNT; k++) {
        printf("%-30s %8ld %8ld %8ld\n", kind_names[k], r->counts[k][HF_VALID],
               r->counts[k][HF_INVALID], r->counts[k][HF_UNKNOWN]);
        if (r->counts[k][HF_VALID] == 0 || r->counts[k][HF_INVALID] == 0) {
            printf("only one verdict was met\n");
            r->failed++;
        }
    }
    printf("verify accepted %ld orders of other levels\n", r->accepted);
    if (r->accepted == 0)
        r->failed++;
    printf("%s did not know %ld that %s knew\n", r->engine->name, r->unknown,
           r->reference->name);
    printf("%ld passed, %ld failed\n", r->passed, r->failed);
}

/* They showed mistakes. */
static const uint64_t mended[] = {61001499, 138123, 138891, 159872,
                                  163270,   507658, 667015};

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 10000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const char *name = argc > 3 ? argv[3] : "polygraph";
    run r = {.engine = hf_engine_find(hf_str_of(name)),
             .reference = hf_engine_find(HF_STR("brute"))};

    if (!r.engine || !r.reference) {
        printf("no engine \"%s\"\n", r.engine ? "brute" : name);
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
