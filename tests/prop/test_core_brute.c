/* test_core_brute.c: refutations shrunk to a core, against the reference.
 *
 *     test_core_brute [HISTORIES [SEED [store]]]
 *
 * On random tiny histories (some with duplicate values and unknown outcomes,
 * some with mixed levels, some with conditions, whose version sets are listed
 * or snapshots, and without version orders), at every level:
 *   - a part of a history (history/part.h) is valid or invalid as the
 *     reference says of the same history cut by restrict.h;
 *   - where engine polygraph says invalid by a proof, that is about a core;
 *     the core by itself is invalid, as the reference says, and if it is
 *     minimal it is valid without any one of them;
 *   - verify accepts it, written as JSON and read back, and the same proof
 *     without its core, unless a step speaks of a list, a sum or a condition:
 *     in the whole there are more elements, more who add, more versions that
 *     change the matches, and the step is not said of those
 *     (docs/semantics.md, "Proofs"); it refuses a core that lacks one, and one
 *     that is said to be minimal and has one too many.
 * On histories of the embedded store of 20 to 120 transactions with bugs or a
 * level that is too weak, without certificates: the same, the engine being
 * asked instead of the reference.
 *
 * One history in 40 is of the store; with `store` all are.  All small cores
 * must be minimal, unless a condition cannot be judged, and nearly all others.
 * Each check has 4 seconds by the clock, and shrinking half of what is left of
 * them: a proof without a core is a failure if it was there in less than a
 * third of that, and is counted if the time was up.
 * A failure is printed with the arguments that repeat it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/brute.h"
#include "check/check.h"
#include "history/certificate.h"
#include "history/part.h"
#include "history/promises.h"
#include "proved.h"
#include "random_history.h"
#include "restrict.h"

#define MAX_SHOWN 5
#define STORE_EVERY 40 /* tiny histories, one of the store */
#define SECONDS_EACH 4 /* of one check, which some reach */
#define LONG_RUN 2000  /* everything must have been seen */

typedef struct run {
    const hf_engine *engine, *reference;
    uint64_t seed;
    hf_level level;
    bool mixed;
    unsigned wrong; /* transactions with rows that are wrong by themselves */
    long looser;    /* parts that may say less than the reference's */
    long parts[2];  /* compared: valid, invalid */
    long cores[2];  /* tiny, of the store */
    long minimal[2], confirmed[2], rests, txns[2];
    long refused; /* tampered ones */
    long with_conditions, doubtful[2];
    long late; /* proofs that were not shrunk in time */
    long largest, failed;
    int shown;
} run;

static void complain(run *r, const char *what, const char *more)
{
    r->failed++;
    if (r->shown++ >= MAX_SHOWN)
        return;
    printf("test_core_brute 1 %" PRIu64 ": %s%s: %s%s%s\n", r->seed,
           hf_level_get(r->level)->name, r->mixed ? ", mixed" : "", what,
           more ? ": " : "", more ? more : "");
    (void)fflush(stdout);
}

/* ---- verdicts ------------------------------------------------------------ */

/* Does a step speak of a list, a sum or a condition? */
static bool speaks_of_cut(const hf_witness *w)
{
    for (uint32_t i = 0; i < w->n_steps; i++)
        if (w->steps[i].kind == HF_STEP_LIST || w->steps[i].entry != 0)
            return true;
    for (uint32_t i = 0; i < w->n_edges; i++)
        if (w->edges[i].kind == HF_EDGE_PWR || w->edges[i].kind == HF_EDGE_PRW)
            return true;
    return false;
}

static hf_verdict ask(const run *r, const hf_engine *engine,
                      const hf_history *h)
{
    hf_check_options options = {.mixed = r->mixed};
    hf_budget budget = {.seconds = SECONDS_EACH};
    hf_result *result = NULL;
    hf_verdict verdict = HF_VERDICT_COUNT;

    hf_budget_start(&budget);
    if (engine->check(h, r->level, &options, &budget, &result, NULL) == HF_OK)
        verdict = result->verdict;
    hf_result_free(result);
    return verdict;
}

/* What the reference says of the history cut by the other code; COUNT: it is
 * not cut. */
static hf_verdict ask_restricted(const run *r, const tiny_history *t,
                                 unsigned keep)
{
    hf_verdict verdict;
    tiny_history cut;
    hf_error err;
    hf_history *h;

    if (!restrict_history(t, keep, &cut))
        return HF_VERDICT_COUNT;
    h = tiny_build(&cut, &err);
    if (!h)
        return HF_VERDICT_COUNT;
    verdict = ask(r, r->reference, h);
    tiny_free(h);
    return verdict;
}

static hf_verdict ask_part(const run *r, const hf_parts *parts,
                           const hf_engine *engine, const hf_txn_id *txns,
                           uint32_t n)
{
    hf_verdict verdict;
    hf_part part;

    hf_part_cut(parts, txns, n, &part);
    verdict = ask(r, engine, part.h);
    hf_part_release(&part);
    return verdict;
}

static bool is_core(const run *r, const hf_history *h, const hf_txn_id *txns,
                    uint32_t n)
{
    hf_brute_question q = {.level = r->level, .mixed = r->mixed};

    return hf_brute_core(h, txns, n, &q) == HF_INVALID;
}

/* ---- parts --------------------------------------------------------------- */

/* Does somebody who is gone write the key? */
static bool is_shared(const hf_history *h, hf_key_id key, unsigned keep)
{
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (h->op_key[op] == key && hf_op_installs(hf_op_kind_of(h, op)) &&
            !(keep >> hf_op_txn(h, op) & 1u))
            return true;
    return false;
}

/* Is something of what the operation looked at or returned gone? */
static bool is_cut(const hf_history *h, hf_op_id op, unsigned keep)
{
    hf_predicate q = hf_op_predicate(h, op);
    bool cut = false;

    for (uint32_t i = 0; i < q.n_versions; i++)
        cut |= is_shared(h, h->value_key[q.versions[i].value], keep);
    for (uint32_t i = 0; i < q.n_results; i++)
        cut |= is_shared(h, h->value_key[q.results[i].value], keep);
    for (hf_key_id key = 0; !q.has_version_set && key < h->n_keys; key++)
        cut |= (h->key_table ? h->key_table[key] : HF_NONE) == q.table &&
               is_shared(h, key, keep);
    return cut;
}

/* May the part say less than what the reference cuts out?  Of an operation of
 * which something is gone, an aggregate's rows, and those of a condition that
 * recorded none, are entries that satisfy the condition: the reference asks
 * that, and keeps them as reads, while history/ knows nothing of SQL.  So it is
 * without a version set, where the reference still asks about single keys, and
 * with rows that are wrong by themselves, which the reference judges whole. */
static bool may_say_less(const run *r, const hf_history *h, unsigned keep)
{
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);
        hf_txn_id t = hf_op_txn(h, op);

        if ((keep >> t & 1u) && hf_op_has_predicate(kind) &&
            is_cut(h, op, keep) &&
            (hf_op_is_aggregate(kind) || (r->wrong >> t & 1u) ||
             !hf_op_predicate(h, op).has_result_set ||
             !hf_op_predicate(h, op).has_version_set))
            return true;
    }
    return false;
}

/* The reference cuts by code of its own.  A read behind an own write it drops
 * where restrict.h keeps it, so of that only one direction counts. */
static void compare_part(run *r, const tiny_history *t, const hf_parts *parts,
                         unsigned keep)
{
    hf_txn_id txns[TINY_TXNS];
    hf_verdict by_part, by_restrict = ask_restricted(r, t, keep);
    uint32_t n = 0;
    bool core, less;

    for (int i = 0; i < t->n_txns; i++)
        if (keep >> i & 1u)
            txns[n++] = (hf_txn_id)i;
    by_part = ask_part(r, parts, r->reference, txns, n);
    core = is_core(r, parts->whole, txns, n);
    if (by_part == HF_UNKNOWN)
        return;
    r->parts[by_part == HF_INVALID]++;
    less = may_say_less(r, parts->whole, keep);
    r->looser += less;
    if (core ? by_part == HF_VALID && !less : by_part == HF_INVALID)
        complain(r, "a part is not what the reference cuts out",
                 hf_verdict_name(by_part));
    if (by_part == HF_INVALID && by_restrict == HF_VALID)
        complain(r, "a part demands more than it should", NULL);
}

/* ---- cores --------------------------------------------------------------- */

/* Without transaction i. */
static uint32_t without(const hf_witness *w, uint32_t i, hf_txn_id *ret)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < w->n_order; k++)
        if (k != i)
            ret[n++] = w->order[k];
    return n;
}

/* By the reference's own code, if there are few; else by the engine. */
static hf_verdict ask_about(const run *r, bool few, const hf_parts *parts,
                            const hf_txn_id *txns, uint32_t n)
{
    if (!few)
        return ask_part(r, parts, r->engine, txns, n);
    return is_core(r, parts->whole, txns, n) ? HF_INVALID : HF_VALID;
}

static void check_core(run *r, bool few, const hf_parts *parts,
                       const hf_witness *w)
{
    hf_txn_id *rest = HF_NEW_ARRAY(hf_txn_id, (size_t)w->n_order + 1);

    if (ask_about(r, few, parts, w->order, w->n_order) != HF_INVALID)
        complain(r, "the core is not invalid", NULL);
    for (uint32_t i = 0; w->minimal && i < w->n_order; i++)
        if (ask_about(r, few, parts, rest, without(w, i, rest)) != HF_VALID)
            complain(r, "the core is not minimal", NULL);
    hf_free(rest);
}

/* Without one of them the reference has no answer: a condition that it cannot
 * evaluate. */
static bool is_in_doubt(const run *r, const hf_history *h, const hf_witness *w)
{
    hf_brute_question q = {.level = r->level, .mixed = r->mixed};
    hf_txn_id rest[8];
    bool doubt = false;

    for (uint32_t i = 0; i < w->n_order; i++)
        doubt |= hf_brute_core(h, rest, without(w, i, rest), &q) == HF_UNKNOWN;
    return doubt;
}

/* A core that lacks one of those it needs, or has one too many. */
static void tamper(run *r, const hf_history *h, const hf_result *result)
{
    hf_witness w = result->witness;
    hf_txn_id *txns = HF_NEW_ARRAY(hf_txn_id, (size_t)w.n_order + 2);
    hf_txn_id stranger = 0;
    hf_error why;

    w.order = txns;
    for (uint32_t i = 0; w.minimal && i < result->witness.n_order; i++) {
        w.n_order = without(&result->witness, i, txns);
        if (w.n_order > 0 && is_proved(NULL, h, result, &w, &why))
            complain(r, "verify accepts a core that lacks one", NULL);
        r->refused++;
    }
    w = result->witness;
    memcpy(txns, w.order, w.n_order * sizeof(*txns));
    w.order = txns;
    for (uint32_t i = 0; i < w.n_order && txns[i] == stranger; i++)
        stranger++;
    txns[w.n_order++] = stranger;
    if (w.minimal && w.n_order <= 8 && stranger < h->n_txns) {
        if (is_proved(NULL, h, result, &w, &why))
            complain(r, "verify accepts a core with one too many", NULL);
        r->refused++;
    }
    hf_free(txns);
}

static void judge(run *r, const tiny_history *t, const hf_history *h,
                  const hf_parts *parts)
{
    hf_check_options options = {.mixed = r->mixed};
    hf_budget budget = {.seconds = SECONDS_EACH};
    hf_result *result = NULL;
    hf_witness *w;
    int of_store = t == NULL;
    hf_error why;

    hf_budget_start(&budget);
    if (hf_engine_ask(r->engine, h, r->level, &options, &budget, &result,
                      &why) != HF_OK) {
        complain(r, "error", why.text);
        return;
    }
    w = &result->witness;
    if (w->kind == HF_WITNESS_PROOF && w->n_order == 0 && w->rests)
        r->rests++;
    else if (w->kind == HF_WITNESS_PROOF && w->n_order == 0 &&
             result->seconds < SECONDS_EACH / 3.0)
        complain(r, "a proof without a core", NULL);
    r->late += w->kind == HF_WITNESS_PROOF && w->n_order == 0 && !w->rests;
    if (w->n_order > 0 && result->verdict == HF_INVALID) {
        hf_witness whole = *w;

        r->cores[of_store]++;
        r->minimal[of_store] += w->minimal;
        r->confirmed[of_store] += w->confirmed;
        r->txns[of_store] += w->n_order;
        r->with_conditions += hf_has_predicates(h);
        r->largest = w->n_order > r->largest ? w->n_order : r->largest;
        if (!w->minimal && w->n_order <= 8 && !budget.spent) {
            r->doubtful[of_store]++;
            if (!is_in_doubt(r, h, w))
                complain(r, "a small core is not known to be minimal", NULL);
        }
        if (!is_proved(NULL, h, result, w, &why))
            complain(r, "verify refuses", why.text);
        whole.n_order = 0;
        whole.minimal = whole.confirmed = false;
        if (w->kind == HF_WITNESS_PROOF && !speaks_of_cut(w) &&
            !is_proved(NULL, h, result, &whole, &why))
            complain(r, "verify refuses the proof without its core", why.text);
        check_core(r, w->n_order <= 8, parts, w);
        tamper(r, h, result);
    }
    hf_result_free(result);
}

/* ---- histories ----------------------------------------------------------- */

static const random_taste *const tastes[] = {&random_choices, &random_items,
                                             &random_predicates};
#define CONDITIONS 2

/* No history for an engine. */
static bool is_refused(const hf_history *h)
{
    return hf_promises_check(h, NULL) != HF_OK ||
           hf_certificate_check(h, NULL) != HF_OK;
}

/* Who has rows that no version set gives, whatever the others did. */
static unsigned find_wrong_rows(const run *r, const hf_history *h)
{
    hf_result *result = NULL;
    unsigned wrong = 0;

    if (r->reference->check(h, HF_READ_UNCOMMITTED, NULL, NULL, &result,
                            NULL) != HF_OK)
        return 0;
    for (uint32_t i = 0; i < result->n_findings; i++)
        if (result->findings[i].anomaly == HF_RESULT_SET_MISMATCH ||
            result->findings[i].anomaly == HF_TWO_VERSIONS)
            wrong |= 1u << hf_op_txn(h, result->findings[i].witness.ops[0]);
    hf_result_free(result);
    return wrong;
}

static void try_tiny(run *r)
{
    tiny_history t;
    hf_parts parts;
    hf_history *h;
    hf_error err;
    hf_rng rng;

    hf_rng_seed(&rng, r->seed);
    t = random_history_of(tastes[r->seed % 3], &rng);
    if (r->seed % 3 == CONDITIONS && hf_rng_chance(&rng, 80))
        memset(t.n_order, 0, sizeof(t.n_order));
    r->mixed = r->seed % 5 == 0;
    if (r->mixed)
        random_levels(&t, &rng);
    h = tiny_build(&t, &err);
    if (h && is_refused(h)) {
        tiny_free(h);
        return;
    }
    if (!h || !hf_parts_init(&parts, h)) {
        r->level = HF_SERIALIZABLE;
        complain(r, "not built", h ? "statements" : err.text);
        return;
    }
    r->wrong = hf_has_predicates(h) ? find_wrong_rows(r, h) : 0;
    for (int i = 0; i < HF_LEVEL_COUNT; i++) {
        r->level = (hf_level)i;
        compare_part(r, &t, &parts, hf_rng_below(&rng, 1u << t.n_txns));
        judge(r, &t, h, &parts);
    }
    hf_parts_release(&parts);
    tiny_free(h);
}

static void store_options(hf_generate_options *o, uint64_t seed, hf_rng *rng)
{
    static const hf_level levels[] = {HF_READ_COMMITTED, HF_SNAPSHOT_ISOLATION,
                                      HF_CAUSAL, HF_PARALLEL_SNAPSHOT_ISOLATION,
                                      HF_READ_ATOMIC};
    hf_workload workload =
        seed % 3 == 2 ? HF_WORKLOAD_APPEND : HF_WORKLOAD_REGISTER;

    hf_generate_defaults(o, workload, HF_BUG_NONE);
    o->seed = seed;
    o->transactions = 20 + (uint64_t)hf_rng_below(rng, 100);
    o->keys = 4 + hf_rng_below(rng, 20);
    o->sessions = 2 + hf_rng_below(rng, 8);
    o->min_ops = 2;
    o->max_ops = 2 + hf_rng_below(rng, 4);
    o->level = levels[hf_rng_below(rng, 5)];
    o->read_percent = 30 + 10 * hf_rng_below(rng, 4);
    o->write_percent = 100 - o->read_percent;
    o->rmw_percent = 0;
    if (hf_rng_chance(rng, 40)) {
        o->rmw_percent = o->write_percent / 2;
        o->write_percent -= o->rmw_percent;
    }
    o->certificate = false;
    o->times = hf_rng_chance(rng, 50);
    o->unknown_percent = hf_rng_chance(rng, 30) ? 10 : 0;
    o->abort_percent = hf_rng_chance(rng, 30) ? 10 : 0;
    if (workload == HF_WORKLOAD_REGISTER && hf_rng_chance(rng, 30))
        o->unique_values = false;
}

static void try_store(run *r)
{
    static const hf_level levels[] = {
        HF_SERIALIZABLE,       HF_STRONG_SESSION_SERIALIZABLE,
        HF_SNAPSHOT_ISOLATION, HF_PREFIX,
        HF_CONSISTENT_VIEW,    HF_CAUSAL};
    hf_generate_options o;
    hf_parts parts;
    hf_history *h;
    hf_rng rng;

    hf_rng_seed(&rng, r->seed);
    store_options(&o, r->seed, &rng);
    h = store_history(&o);
    r->mixed = false;
    if (!hf_parts_init(&parts, h))
        abort();
    for (int i = 0; i < 6; i++) {
        r->level = levels[i];
        judge(r, NULL, h, &parts);
    }
    hf_parts_release(&parts);
    hf_history_free(h);
}

/* ---- all ----------------------------------------------------------------- */

static void summarize(run *r, long runs)
{
    static const char *const names[] = {"tiny histories", "the store"};

    printf("%ld parts valid, %ld invalid, judged alike\n", r->parts[0],
           r->parts[1]);
    for (int i = 0; i < 2; i++)
        printf("%s: %ld cores, %ld minimal, %ld confirmed, %.1f transactions\n",
               names[i], r->cores[i], r->minimal[i], r->confirmed[i],
               r->cores[i] ? (double)r->txns[i] / (double)r->cores[i] : 0.0);
    printf("with conditions: %ld cores, %ld of all in doubt\n",
           r->with_conditions, r->doubtful[0]);
    printf("%ld parts may say less; %ld proofs were not shrunk in time\n",
           r->looser, r->late);
    printf("%ld proofs that rest on something; the largest core has %ld; %ld "
           "tampered ones asked\n",
           r->rests, r->largest, r->refused);
    for (int i = 0; i < 2 && runs >= LONG_RUN; i++)
        if (r->cores[i] < 10 ||
            100 * r->minimal[i] < 95 * (r->cores[i] - r->doubtful[i])) {
            printf("too few of them\n");
            r->failed++;
        }
    if (runs >= LONG_RUN && r->with_conditions < 10) {
        printf("too few of them with conditions\n");
        r->failed++;
    }
}

/* They showed mistakes. */
static const uint64_t mended[] = {51011292, 51014640};

static void try_seed(run *r, uint64_t seed, bool store)
{
    r->seed = seed;
    if (!store)
        try_tiny(r);
    if (store || seed % STORE_EVERY == 0)
        try_store(r);
}

int main(int argc, char **argv)
{
    long runs = argc > 1 ? strtol(argv[1], NULL, 10) : LONG_RUN;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    bool store = argc > 3 && strcmp(argv[3], "store") == 0;
    run *r = HF_NEW(run);
    bool failed;

    r->engine = hf_engine_find(HF_STR("polygraph"));
    r->reference = hf_engine_find(HF_STR("brute"));
    for (long i = 0; i < runs; i++)
        try_seed(r, seed + (uint64_t)i, store);
    for (size_t i = 0; runs >= LONG_RUN && i < sizeof(mended) / sizeof(*mended);
         i++)
        try_seed(r, mended[i], false);
    summarize(r, store ? 0 : runs);
    failed = r->failed > 0;
    printf("%s\n", failed ? "FAILED" : "ok");
    hf_free(r);
    return failed;
}
