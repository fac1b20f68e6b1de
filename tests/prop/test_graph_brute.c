/* test_graph_brute.c: an engine of dependencies against the reference engine.
 *
 *     test_graph_brute [HISTORIES [SEED [ENGINE]]]
 *
 * On random tiny histories (lists, registers and both; aborts, unknown
 * outcomes, sessions, times, certificates of every completeness; no
 * conditions) and every level: the engine never contradicts the reference;
 * it answers unknown only where the order of versions is not determined; the
 * proofs of the verdict and of every finding, written as JSON and read back,
 * are accepted by verify; no cycle is longer than the reference's of that
 * name; the verdicts keep the lattice of levels; and for some histories one
 * thread and two give the same result.  A failure is shrunk and printed in
 * the native text form.  A level that was never valid or never invalid was
 * not tested, which is a failure too.
 *
 * ENGINE is graph, or polygraph, which has to know whatever the reference
 * knows: unknown is a failure.  Half of its histories have values that repeat
 * and unknown outcomes, and few orders are recorded.  Its cycles at weak
 * levels, which another engine decides for it, need not be the shortest.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "base/error.h"
#include "determined.h"
#include "random_history.h"
#include "summary.h"

#define MAX_SHOWN 3      /* of each kind */
#define THREADS_EVERY 32 /* histories are also judged by two threads */

/* What a history may have; each must have been there. */
#define FEATURES(X)                                                            \
    X(DETERMINED, "determined order")                                          \
    X(ONLY_LISTS, "only lists")                                                \
    X(ONLY_REGISTERS, "only registers")                                        \
    X(MIXED, "lists and registers")                                            \
    X(ABORTS, "aborts")                                                        \
    X(UNKNOWN_OUTCOMES, "unknown outcomes")                                    \
    X(SESSIONS, "sessions")                                                    \
    X(TIMES, "times")                                                          \
    X(FULL_ORDER, "complete certificates")                                     \
    X(PART_ORDER, "partial certificates")                                      \
    X(INITIAL, "initial values")                                               \
    X(DELETES, "deletes")                                                      \
    X(INSERTS, "inserts")                                                      \
    X(INCREMENTS, "increments")                                                \
    X(RMW, "read-modify-writes")                                               \
    X(DUPLICATES, "duplicate values")                                          \
    X(BROKEN_PROMISE, "duplicates against a promise")                          \
    X(UNIQUE, "a promise kept")                                                \
    X(REPEATED, "repeated list elements")                                      \
    X(BLIND, "increments without results")                                     \
    X(FAILED, "failed operations")

#define FEATURE_ID(id, name) HAS_##id,
#define FEATURE_NAME(id, name) name,
enum { FEATURES(FEATURE_ID) FEATURE_COUNT };
static const char *const feature_names[] = {FEATURES(FEATURE_NAME)};

typedef struct run {
    const hf_engine *engine, *reference;
    bool decides; /* the engine knows what the reference knows */
    bool search;  /* ... of the history at hand, without enumerating it */
    hf_out json;
    /* by the verdict of the engine, then of the reference */
    summary_counts counts[HF_LEVEL_COUNT];
    /* unknown though only unread transactions of unknown outcome are open */
    long loose[HF_LEVEL_COUNT];
    /* anomalies reported by the engine only, the reference only, both */
    long anomalies[HF_ANOMALY_COUNT][3];
    long histories, features[FEATURE_COUNT];
    long passed, failed;
    long failures[AGREEMENT_COUNT];
    int shown[AGREEMENT_COUNT];
    uint64_t shown_seed[AGREEMENT_COUNT]; /* the last; one level is enough */
    /* what is being shrunk */
    agreement_case shrinking;
    agreement kind;
    hf_level weaker; /* DISAGREE_LATTICE */
} run;

static agreement_case case_of(const run *r, hf_level level, bool threads)
{
    hf_level_shape shape = hf_level_get(level)->shape;

    return (agreement_case){.engine = r->engine,
                            .reference = r->reference,
                            .level = level,
                            .threads = threads,
                            .searched = r->search,
                            .lengths = !r->decides || shape >= HF_SHAPE_SINGLE};
}

/* Is an element of a list appended twice? */
static bool has_repeated_element(const tiny_history *t)
{
    bool there[TINY_KEYS][TINY_ITEMS] = {{false}};

    for (int i = 0; i < t->n_txns; i++)
        for (int j = 0; j < t->txns[i].n_ops; j++) {
            const tiny_op *op = &t->txns[i].ops[j];

            if (op->kind != HF_OP_APPEND || op->failed || op->value < 0 ||
                op->value >= TINY_ITEMS)
                continue;
            if (there[op->key][op->value])
                return true;
            there[op->key][op->value] = true;
        }
    return false;
}

static bool has_blind_increment(const tiny_history *t)
{
    for (int i = 0; i < t->n_txns; i++)
        for (int j = 0; j < t->txns[i].n_ops; j++)
            if (t->txns[i].ops[j].kind == HF_OP_INCREMENT &&
                t->txns[i].ops[j].value == TINY_UNRECORDED)
                return true;
    return false;
}

static agreement judge(run *r, const hf_history *h, const agreement_case *c,
                       agreement_answers *ret, hf_error *why)
{
    agreement a = agree_level(h, c, &r->json, ret, why);

    if (a == AGREE && r->decides && ret->engine == HF_UNKNOWN &&
        ret->reference != HF_UNKNOWN) {
        (void)hf_fail(why, HF_ERR_INPUT, "unknown, the reference says %s",
                      hf_verdict_name(ret->reference));
        return DISAGREE_UNKNOWN;
    }
    return a;
}

/* ---- failures ------------------------------------------------------------ */

static bool fails_alike(const tiny_history *t, void *user)
{
    run *r = user;
    agreement_answers answers;
    hf_error err;
    hf_history *h = t->n_txns > 0 ? tiny_build(t, &err) : NULL;
    agreement a;

    if (!h)
        return false;
    a = judge(r, h, &r->shrinking, &answers, &err);
    if (r->kind == DISAGREE_LATTICE && answers.engine == HF_VALID) {
        agreement_case weaker = case_of(r, r->weaker, false);

        (void)agree_level(h, &weaker, &r->json, &answers, &err);
        a = answers.engine == HF_INVALID ? DISAGREE_LATTICE : AGREE;
    }
    tiny_free(h);
    return a == r->kind;
}

/* r->kind and r->shrinking say what failed. */
static void show(run *r, const tiny_history *found, uint64_t seed)
{
    tiny_history t = *found;
    hf_error why = {{0}, 0, 0};
    agreement_answers answers;
    hf_history *h;

    r->failed++;
    r->failures[r->kind]++;
    if (r->shown[r->kind] >= MAX_SHOWN || r->shown_seed[r->kind] == seed)
        return;
    r->shown[r->kind]++;
    r->shown_seed[r->kind] = seed;
    tiny_shrink(&t, fails_alike, r);
    h = tiny_build(&t, &why);
    (void)judge(r, h, &r->shrinking, &answers, &why);
    printf("seed %" PRIu64 ", %s: %s: %s\n", seed,
           hf_level_get(r->shrinking.level)->name, agreement_name(r->kind),
           r->kind == DISAGREE_LATTICE ? hf_level_get(r->weaker)->name
                                       : why.text);
    tiny_print(&t, stdout);
    printf("%.*s\n\n", (int)r->json.n, r->json.at);
    (void)fflush(stdout);
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
            r->kind = DISAGREE_LATTICE;
            r->shrinking = case_of(r, (hf_level)a, false);
            r->weaker = (hf_level)b;
            show(r, t, seed);
            return;
        }
}

/* ---- one history --------------------------------------------------------- */

/* Is what the operation writes also written by an earlier one? */
static bool is_repeated(const tiny_history *t, int txn, int op)
{
    const tiny_op *x = &t->txns[txn].ops[op];

    for (int i = 0; i <= txn; i++)
        for (int j = 0; j < (i < txn ? t->txns[i].n_ops : op); j++) {
            const tiny_op *y = &t->txns[i].ops[j];

            if (hf_op_installs(x->kind) && hf_op_installs(y->kind) &&
                !x->failed && !y->failed && x->value > 0 && x->key == y->key &&
                x->value == y->value)
                return true;
        }
    return false;
}

static bool is_rmw(const tiny_txn *x, int op)
{
    for (int i = 0; i < op; i++)
        if (hf_op_installs(x->ops[op].kind) &&
            hf_op_reads_item(x->ops[i].kind) && x->ops[i].key == x->ops[op].key)
            return true;
    return false;
}

static void mark_txn(const tiny_history *t, int txn, bool *has)
{
    const tiny_txn *x = &t->txns[txn];

    has[HAS_ABORTS] |= x->outcome == HF_ABORTED;
    has[HAS_UNKNOWN_OUTCOMES] |= x->outcome == HF_UNKNOWN_OUTCOME;
    has[HAS_TIMES] |= x->begin >= 0 && x->end >= 0;
    for (int i = 0; i < txn; i++)
        has[HAS_SESSIONS] |=
            x->session >= 0 && t->txns[i].session == x->session;
    for (int i = 0; i < x->n_ops; i++) {
        hf_op_kind kind = x->ops[i].kind;

        has[HAS_DELETES] |= kind == HF_OP_DELETE;
        has[HAS_INSERTS] |= kind == HF_OP_INSERT;
        has[HAS_INCREMENTS] |= kind == HF_OP_INCREMENT && x->ops[i].value > 0;
        has[HAS_FAILED] |= x->ops[i].failed;
        has[HAS_RMW] |= is_rmw(x, i);
        has[HAS_DUPLICATES] |= is_repeated(t, txn, i);
    }
}

static void mark_key(const tiny_history *t, int key, bool *has)
{
    bool writes[TINY_TXNS] = {false};
    int writers = 0;

    for (int i = 0; i < t->n_txns; i++) {
        for (int j = 0; j < t->txns[i].n_ops; j++)
            writes[i] |= t->txns[i].ops[j].key == key &&
                         hf_op_installs(t->txns[i].ops[j].kind) &&
                         !t->txns[i].ops[j].failed;
        writers += writes[i] && t->txns[i].outcome != HF_ABORTED;
    }
    has[HAS_INITIAL] |= t->initial[key] != TINY_NIL;
    has[HAS_FULL_ORDER] |= writers > 1 && t->n_order[key] == writers;
    has[HAS_PART_ORDER] |= t->n_order[key] > 0 && t->n_order[key] < writers;
}

static void count_history(run *r, const tiny_history *t, bool determined)
{
    bool has[FEATURE_COUNT] = {false}, lists = false, registers = false;

    for (int k = 0; k < t->n_keys; k++) {
        lists |= t->is_list[k];
        registers |= !t->is_list[k];
        mark_key(t, k, has);
    }
    for (int i = 0; i < t->n_txns; i++)
        mark_txn(t, i, has);
    has[HAS_DETERMINED] = determined;
    has[HAS_ONLY_LISTS] = !registers;
    has[HAS_ONLY_REGISTERS] = !lists;
    has[HAS_MIXED] = lists && registers;
    has[HAS_BROKEN_PROMISE] = t->unique && has[HAS_DUPLICATES];
    has[HAS_UNIQUE] = t->unique && !has[HAS_DUPLICATES];
    has[HAS_REPEATED] = has_repeated_element(t);
    has[HAS_BLIND] = has_blind_increment(t);
    r->histories++;
    for (int i = 0; i < FEATURE_COUNT; i++)
        r->features[i] += has[i];
}

static void count_answers(run *r, hf_level level, const agreement_answers *a)
{
    r->counts[level][a->engine][a->reference]++;
    if (a->engine == HF_UNKNOWN)
        return;
    for (unsigned i = 0; i < HF_ANOMALY_COUNT; i++)
        if (a->by_engine[i] || a->by_reference[i])
            r->anomalies[i][!a->by_engine[i]      ? 1
                            : !a->by_reference[i] ? 0
                                                  : 2]++;
}

static void try_level(run *r, const tiny_history *t, const hf_history *h,
                      uint64_t seed, agreement_case c, hf_verdict *ret_verdict)
{
    agreement_answers answers;
    hf_error err;
    agreement a = judge(r, h, &c, &answers, &err);

    *ret_verdict = answers.engine;
    count_answers(r, c.level, &answers);
    if (answers.engine == HF_UNKNOWN && answers.reference != HF_UNKNOWN)
        r->loose[c.level] += is_determined(h, false);
    if (a == AGREE) {
        r->passed++;
    } else {
        r->shrinking = c;
        r->kind = a;
        show(r, t, seed);
    }
}

static void try_history(run *r, uint64_t seed)
{
    hf_verdict verdicts[HF_LEVEL_COUNT];
    hf_error err;
    hf_rng rng;
    tiny_history t;
    hf_history *h;

    hf_rng_seed(&rng, seed);
    t = random_history_of(
        r->decides && seed % 2 ? &random_choices : &random_items, &rng);
    h = tiny_build(&t, &err);
    if (!h) {
        printf("seed %" PRIu64 ": not built: %s\n", seed, err.text);
        r->failed++;
        return;
    }
    count_history(r, &t, is_determined(h, true));
    r->search = r->decides;
    for (int i = 0; i < HF_LEVEL_COUNT; i++)
        try_level(r, &t, h, seed,
                  case_of(r, (hf_level)i, seed % THREADS_EVERY == 0),
                  &verdicts[i]);
    check_lattice(r, &t, seed, verdicts);
    tiny_free(h);
}

/* ---- tables -------------------------------------------------------------- */

static void print_features(run *r)
{
    printf("\n%ld histories, %d levels; of the histories have\n", r->histories,
           HF_LEVEL_COUNT);
    r->failed += summary_features(feature_names, r->features, FEATURE_COUNT);
    if (!r->decides && 2 * r->features[HAS_DETERMINED] < r->histories) {
        printf("fewer than half of the histories have a determined order\n");
        r->failed++;
    }
}

/* Of what the reference knows. */
static void print_decided(run *r)
{
    long known = 0, unknown = 0;

    for (int l = 0; l < HF_LEVEL_COUNT; l++)
        for (int v = 0; v < HF_VERDICT_COUNT; v++) {
            known += v != HF_UNKNOWN ? r->counts[l][HF_VALID][v] +
                                           r->counts[l][HF_INVALID][v]
                                     : 0;
            unknown += v != HF_UNKNOWN ? r->counts[l][HF_UNKNOWN][v] : 0;
        }
    printf("of what %s decides %s leaves %ld of %ld open\n", r->reference->name,
           r->engine->name, unknown, known + unknown);
}

static void summarize(run *r)
{
    r->failed += summary_levels(r->counts, r->loose);
    summary_anomalies(r->anomalies, r->engine->name, r->reference->name);
    print_features(r);
    print_decided(r);
    summary_failures(r->failures);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const char *name = argc > 3 ? argv[3] : "graph";
    run r = {.engine = hf_engine_find(hf_str_of(name)),
             .reference = hf_engine_find(HF_STR("brute"))};

    if (!r.engine || !r.reference) {
        printf("no engine \"%s\"\n", r.engine ? "brute" : name);
        return 1;
    }
    r.decides = strcmp(name, "polygraph") == 0;
    hf_out_init_memory(&r.json);
    for (long i = 0; i < n; i++)
        try_history(&r, seed + (uint64_t)i);
    summarize(&r);
    printf("%ld passed, %ld failed\n", r.passed, r.failed);
    hf_out_release(&r.json);
    return r.failed ? 1 : 0;
}
