/* test_weak_brute.c: the weak engine against the reference engine.
 *
 *     test_weak_brute [HISTORIES [SEED]]
 *
 * On random tiny histories (registers, lists with unread ends, both; aborts,
 * unknown outcomes, sessions, inserts, deletes, increments, certificates of
 * every completeness, mostly none; and registers of which only the order is in
 * doubt) and every level that the engine judges: it
 * never contradicts the reference; where every read has one possible source
 * it is never unknown; the proofs of the verdict and of every finding, written
 * as JSON and read back, are accepted by verify; and the verdicts keep the
 * lattice of levels.  A failure is shrunk and printed in the native text form.
 * A level that was never valid, never invalid, or, where there are forced
 * edges, never refuted by a proof was not tested, which is a failure too.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "random_history.h"

#define MAX_SHOWN 3 /* of each kind */

static const random_taste taste = {.fixtures = 15,
                                   .few = 10,
                                   .weak = 55,
                                   .lists = 25,
                                   .certificates = 30,
                                   .complete = 20,
                                   .rmw = 10,
                                   .last_read = 15,
                                   .unique = 30};

static const hf_level levels[] = {HF_READ_UNCOMMITTED,
                                  HF_READ_COMMITTED,
                                  HF_READ_COMMITTED_AXIOMATIC,
                                  HF_MONOTONIC_ATOMIC_VIEW,
                                  HF_READ_ATOMIC,
                                  HF_READ_YOUR_WRITES,
                                  HF_MONOTONIC_READS,
                                  HF_MONOTONIC_WRITES,
                                  HF_WRITES_FOLLOW_READS,
                                  HF_PRAM,
                                  HF_CAUSAL};
#define N_LEVELS (sizeof(levels) / sizeof(levels[0]))

typedef struct run {
    const hf_engine *engine, *reference;
    hf_out json;
    /* by the verdict of the engine, then of the reference */
    long counts[N_LEVELS][HF_VERDICT_COUNT][HF_VERDICT_COUNT];
    long proofs[N_LEVELS];
    long histories, decidable, lists, certificates, unknown_outcomes;
    long passed, failed;
    long failures[AGREEMENT_COUNT];
    int shown[AGREEMENT_COUNT];
    uint64_t shown_seed[AGREEMENT_COUNT];
    /* what is being shrunk */
    agreement kind;
    hf_level level, weaker;
} run;

static bool installs(const tiny_op *op, int key)
{
    return hf_op_installs(op->kind) && !op->failed && op->key == key;
}

/* ---- histories without an order ----------------------------------------- */

/* Writes a value of its own, or reads one that an earlier transaction of the
 * hidden order has as its last. */
static void add_op(tiny_history *t, int txn, const int *rank, hf_rng *r)
{
    tiny_txn *x = &t->txns[txn];
    tiny_op *op = &x->ops[x->n_ops];
    int from = (int)hf_rng_below(r, (uint32_t)t->n_txns), value = TINY_NIL;

    *op = (tiny_op){.kind = HF_OP_WRITE,
                    .key = (int)hf_rng_below(r, (uint32_t)t->n_keys),
                    .value = 10 * (txn + 1) + x->n_ops};
    for (int i = 0; i < x->n_ops; i++)
        if (x->ops[i].key == op->key)
            return; /* one write a key, and no read of it */
    for (int i = 0; i < t->txns[from].n_ops; i++)
        if (installs(&t->txns[from].ops[i], op->key))
            value = t->txns[from].ops[i].value;
    if (rank[from] < rank[txn] && value != TINY_NIL) {
        op->kind = HF_OP_READ;
        op->value = value;
    } else if (hf_rng_chance(r, 40)) {
        return;
    }
    x->n_ops++;
}

/* Registers with unique values, each read from anybody before it in some
 * order, so that only the order of versions can be wrong. */
static tiny_history random_soup(hf_rng *r)
{
    tiny_history t = tiny_empty();
    int rank[TINY_TXNS];

    t.n_txns = 4 + (int)hf_rng_below(r, 4);
    t.n_keys = 2 + (int)hf_rng_below(r, 2);
    for (int i = 0; i < t.n_txns; i++) {
        int j = (int)hf_rng_below(r, (uint32_t)i + 1);

        rank[i] = rank[j];
        rank[j] = i;
        t.txns[i] = (tiny_txn){.outcome = HF_COMMITTED,
                               .session = (int)hf_rng_below(r, 5) - 1,
                               .begin = -1,
                               .end = -1};
    }
    for (int place = 0; place < t.n_txns; place++)
        for (int i = 0; i < t.n_txns; i++)
            for (int k = 0; rank[i] == place && k < 5; k++)
                add_op(&t, i, rank, r);
    return t;
}

/* ---- is every source known? ---------------------------------------------- */

/* Two writes of one value, or one of the initial value. */
static bool has_twice(const tiny_history *t, int key)
{
    int values[TINY_TXNS * TINY_OPS + 1], n = 0;

    if (t->initial[key] != TINY_NIL)
        values[n++] = t->initial[key];
    for (int i = 0; i < t->n_txns; i++)
        for (int j = 0; j < t->txns[i].n_ops; j++) {
            const tiny_op *op = &t->txns[i].ops[j];

            if (!installs(op, key))
                continue;
            for (int k = 0; k < n; k++)
                if (values[k] == op->value)
                    return true;
            if (op->kind == HF_OP_DELETE || op->value < 0)
                return true; /* nil may be the initial version as well */
            values[n++] = op->value;
        }
    return false;
}

static bool is_decidable(const tiny_history *t)
{
    for (int k = 0; k < t->n_keys; k++)
        if (has_twice(t, k) || (t->is_list[k] && t->initial[k] != TINY_NIL))
            return false;
    return true;
}

/* ---- one level ----------------------------------------------------------- */

static agreement try_level(run *r, const tiny_history *t, const hf_history *h,
                           hf_level level, agreement_answers *ret,
                           hf_error *why)
{
    agreement_case c = {
        .engine = r->engine, .reference = r->reference, .level = level};
    agreement a = agree_level(h, &c, &r->json, ret, why);

    if (a == AGREE && ret->engine == HF_UNKNOWN &&
        ret->reference != HF_UNKNOWN && is_decidable(t)) {
        (void)snprintf(why->text, sizeof(why->text), "see the reason below");
        return DISAGREE_UNKNOWN;
    }
    return a;
}

static bool fails_alike(const tiny_history *t, void *user)
{
    run *r = user;
    agreement_answers answers;
    hf_error err;
    hf_history *h = t->n_txns > 0 ? tiny_build(t, &err) : NULL;
    agreement a;

    if (!h)
        return false;
    a = try_level(r, t, h, r->level, &answers, &err);
    if (r->kind == DISAGREE_LATTICE && answers.engine == HF_VALID) {
        (void)try_level(r, t, h, r->weaker, &answers, &err);
        a = answers.engine == HF_INVALID ? DISAGREE_LATTICE : AGREE;
    }
    tiny_free(h);
    return a == r->kind;
}

/* r->kind and r->level say what failed. */
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
    (void)try_level(r, &t, h, r->level, &answers, &why);
    printf("seed %" PRIu64 ", %s: %s: %s\n", seed, hf_level_get(r->level)->name,
           agreement_name(r->kind),
           r->kind == DISAGREE_LATTICE ? hf_level_get(r->weaker)->name
                                       : why.text);
    tiny_print(&t, stdout);
    printf("%.*s\n\n", (int)r->json.n, r->json.at);
    (void)fflush(stdout);
    tiny_free(h);
}

static void check_lattice(run *r, const tiny_history *t, uint64_t seed,
                          const hf_verdict *verdicts)
{
    for (unsigned a = 0; a < N_LEVELS; a++)
        for (unsigned b = 0; b < N_LEVELS; b++) {
            if (verdicts[a] != HF_VALID || verdicts[b] != HF_INVALID ||
                !hf_level_implies(levels[a], levels[b]))
                continue;
            r->kind = DISAGREE_LATTICE;
            r->level = levels[a];
            r->weaker = levels[b];
            show(r, t, seed);
            return;
        }
}

/* ---- one history --------------------------------------------------------- */

static void count_history(run *r, const tiny_history *t)
{
    bool list = false, order = false, unknown = false;

    for (int k = 0; k < t->n_keys; k++) {
        list |= t->is_list[k];
        order |= t->n_order[k] > 0;
    }
    for (int i = 0; i < t->n_txns; i++)
        unknown |= t->txns[i].outcome == HF_UNKNOWN_OUTCOME;
    r->histories++;
    r->lists += list;
    r->certificates += order;
    r->unknown_outcomes += unknown;
    r->decidable += is_decidable(t);
}

static void try_history(run *r, uint64_t seed)
{
    hf_verdict verdicts[N_LEVELS];
    hf_error err;
    hf_rng rng;
    tiny_history t;
    hf_history *h;

    hf_rng_seed(&rng, seed);
    t = seed % 2 ? random_history_of(&taste, &rng) : random_soup(&rng);
    h = tiny_build(&t, &err);
    if (!h) {
        printf("seed %" PRIu64 ": not built: %s\n", seed, err.text);
        r->failed++;
        return;
    }
    count_history(r, &t);
    for (unsigned i = 0; i < N_LEVELS; i++) {
        agreement_answers answers;

        r->kind = try_level(r, &t, h, levels[i], &answers, &err);
        r->level = levels[i];
        verdicts[i] = answers.engine;
        r->counts[i][answers.engine][answers.reference]++;
        r->proofs[i] += answers.by_engine[HF_NO_ORDER] > 0;
        if (r->kind == AGREE)
            r->passed++;
        else
            show(r, &t, seed);
    }
    check_lattice(r, &t, seed, verdicts);
    tiny_free(h);
}

/* ---- summary ------------------------------------------------------------- */

static void demand(run *r, const char *what, long n)
{
    if (n > 0)
        return;
    printf("no %s\n", what);
    r->failed++;
}

static void print_levels(run *r)
{
    printf("%-28s %7s %8s %7s | unknown, but the reference says\n", "level",
           "valid", "invalid", "proofs");
    printf("%-28s %7s %8s %7s | %7s %8s %8s\n", "", "", "", "", "valid",
           "invalid", "unknown");
    for (unsigned i = 0; i < N_LEVELS; i++) {
        const hf_level_info *level = hf_level_get(levels[i]);
        long valid = 0, invalid = 0, *u = r->counts[i][HF_UNKNOWN];

        for (int v = 0; v < HF_VERDICT_COUNT; v++) {
            valid += r->counts[i][HF_VALID][v];
            invalid += r->counts[i][HF_INVALID][v];
        }
        printf("%-28s %7ld %8ld %7ld | %7ld %8ld %8ld\n", level->name, valid,
               invalid, r->proofs[i], u[HF_VALID], u[HF_INVALID],
               u[HF_UNKNOWN]);
        demand(r, "valid history", valid);
        demand(r, "invalid history", invalid);
        if (r->histories >= 10000 &&
            (level->shape == HF_SHAPE_AXIOM || level->shape == HF_SHAPE_OTV))
            demand(r, "proof", r->proofs[i]);
    }
}

static void summarize(run *r)
{
    print_levels(r);
    printf("%ld histories, %ld with known sources, %ld with lists, %ld with "
           "certificates, %ld with unknown outcomes\n",
           r->histories, r->decidable, r->lists, r->certificates,
           r->unknown_outcomes);
    demand(r, "history with known sources", r->decidable);
    demand(r, "history with lists", r->lists);
    demand(r, "history with a certificate", r->certificates);
    demand(r, "history with unknown outcomes", r->unknown_outcomes);
    for (unsigned i = 1; i < AGREEMENT_COUNT; i++)
        if (r->failures[i])
            printf("%ld times: %s\n", r->failures[i],
                   agreement_name((agreement)i));
    printf("%ld passed, %ld failed\n", r->passed, r->failed);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 10000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    run r = {.engine = hf_engine_find(HF_STR("weak")),
             .reference = hf_engine_find(HF_STR("brute"))};

    if (!r.engine || !r.reference) {
        printf("an engine is missing\n");
        return 1;
    }
    hf_out_init_memory(&r.json);
    for (long i = 0; i < n; i++)
        try_history(&r, seed + (uint64_t)i);
    summarize(&r);
    hf_out_release(&r.json);
    return r.failed ? 1 : 0;
}
