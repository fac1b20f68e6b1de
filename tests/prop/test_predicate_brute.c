/* test_predicate_brute.c: predicate operations, three judges.
 *
 *     test_predicate_brute [HISTORIES [SEED [ENGINE]]]
 *
 * Random tiny histories with predicate reads, updates and deletes and
 * aggregates: conditions of many forms over plain values and rows, version
 * sets that are listed (with writers or without, whole or in part) or follow
 * from a snapshot by time or by ids, or are missing; aborted, intermediate and
 * own versions in them; results that are wrong.  At every level
 *
 *   - the engine never contradicts the reference, and answers unknown only
 *     where something is not determined;
 *   - the reference agrees with the oracle, which is another definition of
 *     the levels and works out snapshots by itself;
 *   - every proof, written as JSON and read back, is accepted by verify;
 *   - of a valid history no operation is a fault, alone or with what another
 *     transaction did, that verify takes for a proof;
 *   - the verdicts keep the lattice of levels.
 *
 * In half of the histories conditions share trees in the engine, and in half
 * of them spaces in verify, though that would not pay.
 *
 * Engine polygraph is asked about the same histories without their version
 * orders, mostly, and has to search: it does not enumerate few transactions,
 * and knows what the reference knows.  In a third of them most rows have no
 * version set.
 *
 * A failure is shrunk and printed in the native text form.  What never came
 * up was not tested, which is a failure too.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "determined.h"
#include "history/certificate.h"
#include "history/promises.h"
#include "oracle.h"
#include "random_history.h"
#include "summary.h"
#include "verify/verify.h"

#define MAX_SHOWN 3      /* of each kind */
#define PROOFS_EVERY 5   /* histories: the reference's proofs, too */
#define FAULTS_EVERY 3   /* histories: each operation offered as a fault */
#define THREADS_EVERY 64 /* histories are also judged by two threads */

#define FEATURES(X)                                                            \
    X(DETERMINED, "all is determined")                                         \
    X(ROWS, "rows with columns")                                               \
    X(PLAIN, "plain values")                                                   \
    X(UPDATES, "predicate updates")                                            \
    X(DELETES, "predicate deletes")                                            \
    X(AGGREGATES, "aggregates")                                                \
    X(WRITERS, "writers in version sets")                                      \
    X(ROWS_BESIDE, "rows that the version set lacks")                          \
    X(NO_SET, "no version set")                                                \
    X(NO_ROWS, "no result")                                                    \
    X(BY_TIME, "snapshots by time")                                            \
    X(BY_IDS, "snapshots by ids")                                              \
    X(ABORTED, "aborted versions looked at")                                   \
    X(INTERMEDIATE, "intermediate versions looked at")                         \
    X(OWN, "own versions looked at")                                           \
    X(ABORTS, "aborts")                                                        \
    X(UNKNOWN_OUTCOMES, "unknown outcomes")                                    \
    X(SESSIONS, "sessions")                                                    \
    X(TIMES, "times")                                                          \
    X(ORDERS, "version orders")                                                \
    X(INITIAL, "initial values")                                               \
    X(ODD, "conditions nobody can judge")

#define FEATURE_ID(id, name) HAS_##id,
#define FEATURE_NAME(id, name) name,
enum { FEATURES(FEATURE_ID) FEATURE_COUNT };
static const char *const feature_names[] = {FEATURES(FEATURE_NAME)};

typedef struct run {
    const hf_engine *engine, *reference;
    hf_out json;
    /* by the verdict of the engine, then of the reference */
    summary_counts counts[HF_LEVEL_COUNT];
    /* anomalies reported by the engine only, the reference only, both */
    long anomalies[HF_ANOMALY_COUNT][3];
    long histories, refused, by_oracle, features[FEATURE_COUNT];
    bool searched;      /* without version orders, and not by enumeration */
    bool is_open;       /* the one at hand */
    long open, decided; /* questions that need a search; answered */
    long faults;        /* operations that are a proof */
    long passed, failed;
    long failures[AGREEMENT_COUNT];
    int shown[AGREEMENT_COUNT];
    uint64_t shown_seed[AGREEMENT_COUNT]; /* the last; one level is enough */
    /* what is being shrunk */
    agreement_case shrinking;
    hf_sql_cache *cache; /* conditions come again and again */
    agreement kind;
    hf_level weaker; /* DISAGREE_LATTICE */
} run;

/* Input that no engine is asked about. */
static bool is_bad_input(const hf_history *h)
{
    return hf_promises_check(h, NULL) != HF_OK ||
           hf_certificate_check(h, NULL) != HF_OK;
}

/* ---- the recorded order -------------------------------------------------- */

static bool writes(const tiny_op *op, int key)
{
    return hf_op_installs(op->kind) && !op->failed && op->key == key;
}

static bool installs(const tiny_txn *x, int key)
{
    for (int i = 0; i < x->n_ops; i++)
        if (writes(&x->ops[i], key))
            return x->outcome != HF_ABORTED;
    return false;
}

/* The writers of the key by their commit times; false if two are equal. */
static bool order_key(tiny_history *t, int key)
{
    int *n = &t->n_order[key];

    for (int i = 0; i < t->n_txns; i++) {
        int at = *n;

        if (!installs(&t->txns[i], key) || t->txns[i].commit_ts == 0)
            continue;
        for (; at > 0; at--) {
            int before = t->txns[t->order[key][at - 1]].commit_ts;

            if (before == t->txns[i].commit_ts)
                return false;
            if (before < t->txns[i].commit_ts)
                break;
            t->order[key][at] = t->order[key][at - 1];
        }
        t->order[key][at] = i;
        ++*n;
    }
    return true;
}

/* The same history with version orders from the recorded commit times, for
 * keys that have none (docs/semantics.md, recorded-order); NULL if that cannot
 * be written so. */
static hf_history *with_order(const tiny_history *t)
{
    tiny_history s = *t;
    hf_error err;

    for (int k = 0; k < s.n_keys; k++)
        if (!s.is_list[k] && s.n_order[k] == 0 && !order_key(&s, k))
            return NULL;
    return tiny_build(&s, &err);
}

/* ---- failures ------------------------------------------------------------ */

static agreement agree_all(run *r, const hf_history *h, agreement_answers *ret,
                           hf_error *why)
{
    agreement a = agree_level(h, &r->shrinking, &r->json, ret, why);
    hf_verdict expected;

    if (r->kind == DISAGREE_ORACLE && oracle_knows(h)) {
        expected = oracle_check(h, r->shrinking.level);
        a = expected == ret->reference ? AGREE : DISAGREE_ORACLE;
        (void)snprintf(why->text, sizeof(why->text),
                       "the oracle says %s, the reference %s",
                       hf_verdict_name(expected),
                       hf_verdict_name(ret->reference));
    } else if (r->kind == DISAGREE_LATTICE && ret->engine == HF_VALID) {
        agreement_case weaker = r->shrinking;

        weaker.level = r->weaker;
        (void)agree_level(h, &weaker, &r->json, ret, why);
        a = ret->engine == HF_INVALID ? DISAGREE_LATTICE : AGREE;
    }
    return a;
}

static bool fails_alike(const tiny_history *t, void *user)
{
    run *r = user;
    agreement_answers answers;
    hf_error err;
    hf_history *h = t->n_txns > 0 ? tiny_build(t, &err) : NULL;
    hf_history *ordered = h ? with_order(t) : NULL;
    bool alike;

    r->shrinking.ordered = ordered;
    alike = h && !is_bad_input(h) && agree_all(r, h, &answers, &err) == r->kind;
    hf_history_free(ordered);
    hf_history_free(h);
    return alike;
}

/* r->kind and r->shrinking say what failed. */
static void show(run *r, const tiny_history *found, uint64_t seed)
{
    tiny_history t = *found;
    hf_error why = {{0}, 0, 0};
    agreement_answers answers;
    hf_history *h, *ordered;

    r->failed++;
    r->failures[r->kind]++;
    if (r->shown[r->kind] >= MAX_SHOWN || r->shown_seed[r->kind] == seed)
        return;
    r->shown[r->kind]++;
    r->shown_seed[r->kind] = seed;
    tiny_shrink(&t, fails_alike, r);
    h = tiny_build(&t, &why);
    ordered = with_order(&t);
    r->shrinking.ordered = ordered;
    (void)agree_all(r, h, &answers, &why);
    printf("seed %" PRIu64 ", %s: %s: %s\n", seed,
           hf_level_get(r->shrinking.level)->name, agreement_name(r->kind),
           r->kind == DISAGREE_LATTICE ? hf_level_get(r->weaker)->name
                                       : why.text);
    tiny_print(&t, stdout);
    printf("%.*s\n\n", (int)r->json.n, r->json.at);
    (void)fflush(stdout);
    hf_history_free(ordered);
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
            r->shrinking.level = (hf_level)a;
            r->weaker = (hf_level)b;
            show(r, t, seed);
            return;
        }
}

/* ---- features ------------------------------------------------------------ */

/* Does the transaction write the value and then another? */
static bool is_intermediate(const tiny_txn *x, const tiny_entry *e)
{
    bool written = false;
    int last = TINY_UNRECORDED;

    for (int i = 0; i < x->n_ops; i++)
        if (writes(&x->ops[i], e->key)) {
            last = x->ops[i].value;
            written |= last == e->value;
        }
    return written && last != e->value;
}

/* What kind of version the entry is. */
static void mark_entry(const tiny_history *t, int txn, const tiny_entry *e,
                       bool *has)
{
    has[HAS_WRITERS] |= e->writer != 0;
    has[HAS_ROWS_BESIDE] |= e->unlisted;
    if (e->unlisted)
        return;
    for (int i = 0; i < t->n_txns; i++)
        has[HAS_INTERMEDIATE] |= i != txn && is_intermediate(&t->txns[i], e);
    if (e->writer > 0) {
        has[HAS_OWN] |= e->writer - 1 == txn;
        has[HAS_ABORTED] |= t->txns[e->writer - 1].outcome == HF_ABORTED;
    }
}

static void mark_predicate(const tiny_history *t, int txn, const tiny_op *op,
                           bool *has)
{
    has[op->on_rows ? HAS_ROWS : HAS_PLAIN] = true;
    has[HAS_UPDATES] |= op->kind == HF_OP_PREDICATE_UPDATE;
    has[HAS_DELETES] |= op->kind == HF_OP_PREDICATE_DELETE;
    has[HAS_AGGREGATES] |= op->kind > HF_OP_PREDICATE_DELETE;
    has[HAS_NO_SET] |= op->set == TINY_SET_NONE;
    has[HAS_NO_ROWS] |= op->no_rows;
    has[HAS_BY_TIME] |= op->set == TINY_SET_TIME;
    has[HAS_BY_IDS] |= op->set == TINY_SET_IDS;
    has[HAS_ODD] |= condition_is_odd(op->where.form);
    for (int i = 0; op->set == TINY_SET_LISTED && i < op->n_entries; i++)
        mark_entry(t, txn, &op->entries[i], has);
}

static void count_history(run *r, const tiny_history *t, bool determined)
{
    bool has[FEATURE_COUNT] = {false};

    has[HAS_DETERMINED] = determined;
    for (int i = 0; i < t->n_txns; i++) {
        const tiny_txn *x = &t->txns[i];

        has[HAS_ABORTS] |= x->outcome == HF_ABORTED;
        has[HAS_UNKNOWN_OUTCOMES] |= x->outcome == HF_UNKNOWN_OUTCOME;
        has[HAS_TIMES] |= x->begin >= 0 && x->end >= 0;
        has[HAS_SESSIONS] |= x->session >= 0;
        for (int j = 0; j < x->n_ops; j++)
            if (hf_op_has_predicate(x->ops[j].kind))
                mark_predicate(t, i, &x->ops[j], has);
    }
    for (int k = 0; k < t->n_keys; k++) {
        has[HAS_ORDERS] |= t->n_order[k] > 1;
        has[HAS_INITIAL] |= t->initial[k] != TINY_NIL;
    }
    r->histories++;
    for (int i = 0; i < FEATURE_COUNT; i++)
        r->features[i] += has[i];
}

/* ---- one history --------------------------------------------------------- */

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

/* Does verify take one operation, by itself or with what another transaction
 * did, for a proof? */
static bool has_fault(const hf_history *h, hf_level level)
{
    hf_verify_session *session = hf_verify_open(h);
    hf_step step = {.kind = HF_STEP_FAULT};
    hf_claim claim = {.verdict = HF_INVALID,
                      .level = level,
                      .witness = {.kind = HF_WITNESS_PROOF,
                                  .anomaly = HF_NO_ORDER,
                                  .n_steps = 1,
                                  .steps = &step}};
    bool any = false;

    for (step.op = 0; step.op < h->n_ops && !any; step.op++)
        for (hf_txn_id u = 0; u <= h->n_txns && !any; u++) {
            hf_verification answer = {.accepted = false};

            step.writer = u == h->n_txns ? HF_NONE : u;
            any = hf_verify_claim_in(session, &claim, NULL, &answer, NULL) ==
                      HF_OK &&
                  answer.accepted;
        }
    hf_verify_close(session);
    return any;
}

/* Of a valid one it must not. */
static void try_faults(run *r, const hf_history *h, hf_level level,
                       hf_verdict verdict, uint64_t seed)
{
    bool any = verdict != HF_UNKNOWN && has_fault(h, level);

    if (!any)
        return;
    r->faults++;
    if (verdict == HF_INVALID)
        return;
    printf("seed %" PRIu64 ": valid at %s, and verify takes a fault for a "
           "proof\n",
           seed, hf_level_get(level)->name);
    r->failed++;
}

static void try_level(run *r, const tiny_history *t, const hf_history *h,
                      uint64_t seed, const hf_verdict *expected,
                      hf_verdict *ret_verdict)
{
    agreement_answers answers;
    hf_error err;
    hf_level level = r->shrinking.level;

    r->kind = agree_level(h, &r->shrinking, &r->json, &answers, &err);
    *ret_verdict = answers.engine;
    r->open += r->is_open;
    r->decided += r->is_open && answers.engine != HF_UNKNOWN;
    count_answers(r, level, &answers);
    if (seed % FAULTS_EVERY == 0)
        try_faults(r, h, level, answers.reference, seed);
    if (r->kind == AGREE && expected && expected[level] != answers.reference)
        r->kind = DISAGREE_ORACLE;
    if (r->kind == AGREE)
        r->passed++;
    else
        show(r, t, seed);
}

static void try_history(run *r, uint64_t seed)
{
    hf_verdict expected[HF_LEVEL_COUNT], verdicts[HF_LEVEL_COUNT];
    hf_error err;
    hf_rng rng;
    tiny_history t;
    hf_history *h, *ordered;
    bool known;

    hf_rng_seed(&rng, seed);
    t = random_history_of(r->searched && seed % 3 == 0 ? &random_unlisted
                                                       : &random_predicates,
                          &rng);
    if (r->searched && seed % 4 != 0)
        memset(t.n_order, 0, sizeof(t.n_order));
    h = tiny_build(&t, &err);
    if (!h) {
        printf("seed %" PRIu64 ": not built: %s\n", seed, err.text);
        r->failed++;
        return;
    }
    if (is_bad_input(h)) {
        r->refused++;
        tiny_free(h);
        return;
    }
    ordered = with_order(&t);
    known = oracle_knows(h);
    if (known)
        oracle_check_all(h, expected);
    r->by_oracle += known;
    count_history(r, &t, is_determined(h, true));
    r->is_open = r->searched && !is_determined(h, true);
    for (int i = 0; i < HF_LEVEL_COUNT; i++) {
        r->shrinking = (agreement_case){.engine = r->engine,
                                        .reference = r->reference,
                                        .cache = r->cache,
                                        .level = (hf_level)i,
                                        .threads = seed % THREADS_EVERY == 0,
                                        .share = seed % 4 < 2,
                                        .eager = seed % 8 < 4,
                                        .searched = r->searched,
                                        .decides = r->searched,
                                        .proofs = seed % PROOFS_EVERY == 0,
                                        .ordered = ordered};
        try_level(r, &t, h, seed, known ? expected : NULL, &verdicts[i]);
    }
    r->shrinking.threads = r->shrinking.proofs = false;
    check_lattice(r, &t, seed, verdicts);
    hf_history_free(ordered);
    tiny_free(h);
}

/* ---- tables -------------------------------------------------------------- */

static void print_features(run *r)
{
    printf("\n%ld histories (%ld more refused), %d levels; the oracle judged "
           "%ld;\nof the histories have\n",
           r->histories, r->refused, HF_LEVEL_COUNT, r->by_oracle);
    r->failed += summary_features(feature_names, r->features, FEATURE_COUNT);
    if (r->searched)
        printf("%ld questions about orders or sources that are open, %ld "
               "decided\n",
               r->open, r->decided);
    else if (3 * r->features[HAS_DETERMINED] < r->histories) {
        printf("fewer than a third of the histories are determined\n");
        r->failed++;
    }
    if (10 * r->refused > r->histories) {
        printf("more than a tenth of the histories are bad input\n");
        r->failed++;
    }
}

static void summarize(run *r)
{
    r->failed += summary_levels(r->counts, NULL);
    summary_anomalies(r->anomalies, r->engine->name, r->reference->name);
    print_features(r);
    summary_failures(r->failures);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const char *name = argc > 3 ? argv[3] : "certificate";
    run r = {.engine = hf_engine_find(hf_str_of(name)),
             .reference = hf_engine_find(HF_STR("brute"))};

    if (!r.engine || !r.reference) {
        printf("no engine \"%s\"\n", r.engine ? "brute" : name);
        return 1;
    }
    r.searched = strcmp(name, "polygraph") == 0;
    hf_out_init_memory(&r.json);
    r.cache = hf_sql_cache_new(HF_SQL_ANY);
    for (long i = 0; i < n; i++)
        try_history(&r, seed + (uint64_t)i);
    summarize(&r);
    printf("%ld invalid with a fault that is a proof\n", r.faults);
    if (n >= 1000 && r.faults == 0)
        r.failed++;
    printf("%ld passed, %ld failed\n", r.passed, r.failed);
    hf_out_release(&r.json);
    hf_sql_cache_free(r.cache);
    return r.failed ? 1 : 0;
}
