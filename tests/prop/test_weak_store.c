/* test_weak_store.c: the weak engine on histories of the embedded store.
 *
 *     test_weak_store [RUNS [SEED]]
 *
 * Histories of up to a few hundred transactions, too large for the reference
 * engine, from stores that keep some level, some with a few reads changed, are
 * asked about all levels of the engine.
 *
 *   naive    Registers: the definition as matrices.  Who is visible to whom,
 *            every forced edge, a closure.  The verdicts are equal.
 *   certain  Registers and lists: the engine without the certificate against
 *            the graph engine with it.  What the true order of versions makes
 *            valid is valid, and what is invalid without it is invalid with it.
 *
 * Every proof, of the verdict and of findings, goes through JSON to verify.
 * Each level must have been valid and invalid; proofs must have come up.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/out.h"
#include "base/rng.h"
#include "check/check.h"
#include "report/report.h"
#include "verify/verify.h"
#include "workload/generate.h"

#define DEFAULT_RUNS 300
#define MAX_SHOWN 5
#define MAX_TXNS 256

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
    const hf_engine *weak, *graph;
    long verdicts[N_LEVELS][HF_VERDICT_COUNT];
    long proofs[N_LEVELS];
    long compared, passed, failed;
    int shown;
} run;

/* ---- the definition, naively --------------------------------------------- */

typedef struct matrix {
    uint64_t to[MAX_TXNS][MAX_TXNS / 64];
} matrix;

static bool has(const matrix *m, uint32_t a, uint32_t b)
{
    return m->to[a][b / 64] >> (b % 64) & 1u;
}

static void add(matrix *m, uint32_t a, uint32_t b)
{
    m->to[a][b / 64] |= (uint64_t)1 << (b % 64);
}

static void add_row(matrix *m, uint32_t a, const matrix *from, uint32_t b)
{
    for (unsigned i = 0; i < MAX_TXNS / 64; i++)
        m->to[a][i] |= from->to[b][i];
}

static void compose(const matrix *a, const matrix *b, uint32_t n, matrix *ret)
{
    memset(ret, 0, sizeof(*ret));
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            if (has(a, i, j))
                add_row(ret, i, b, j);
}

static void join(matrix *a, const matrix *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        add_row(a, i, b, i);
}

static void close_up(matrix *m, uint32_t n)
{
    for (uint32_t via = 0; via < n; via++)
        for (uint32_t i = 0; i < n; i++)
            if (has(m, i, via))
                add_row(m, i, m, via);
}

typedef struct naive {
    const hf_history *h;
    hf_op_id *writer; /* per value: the write, or HF_NONE: initial */
    hf_txn_id *txn;   /* per operation */
    matrix so, wr, visible, order, scratch, more;
} naive;

/* Does the operation return another's version, or the initial one? */
static bool reads_others(const naive *x, hf_op_id o)
{
    const hf_history *h = x->h;

    if (hf_op_kind_of(h, o) != HF_OP_READ ||
        h->txn_outcome[x->txn[o]] != HF_COMMITTED)
        return false;
    for (hf_op_id i = h->op_first[x->txn[o]]; i < o; i++)
        if (h->op_key[i] == h->op_key[o] && hf_op_kind_of(h, i) == HF_OP_WRITE)
            return false;
    return true;
}

static hf_txn_id source_of(const naive *x, hf_op_id o)
{
    hf_op_id w = x->writer[x->h->op_value[o]];

    return w == HF_NONE ? HF_NONE : x->txn[w];
}

static bool writes(const naive *x, hf_txn_id t, hf_key_id key)
{
    const hf_history *h = x->h;

    if (h->txn_outcome[t] != HF_COMMITTED)
        return false;
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        if (h->op_key[o] == key && hf_op_kind_of(h, o) == HF_OP_WRITE)
            return true;
    return false;
}

static void prepare(naive *x, const hf_history *h)
{
    x->h = h;
    x->writer = HF_NEW_ARRAY(hf_op_id, (size_t)h->n_values + 1);
    x->txn = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_ops + 1);
    memset(x->writer, 0xff, ((size_t)h->n_values + 1) * sizeof(*x->writer));
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            x->txn[o] = t;
            if (hf_op_kind_of(h, o) == HF_OP_WRITE)
                x->writer[h->op_value[o]] = o;
        }
    for (hf_op_id o = 0; o < h->n_ops; o++)
        if (reads_others(x, o) && source_of(x, o) != HF_NONE)
            add(&x->wr, source_of(x, o), x->txn[o]);
    for (hf_txn_id a = 0; a < h->n_txns; a++)
        for (hf_txn_id b = a + 1; b < h->n_txns; b++)
            if (h->txn_session[a] == h->txn_session[b] &&
                h->txn_outcome[a] == HF_COMMITTED &&
                h->txn_outcome[b] == HF_COMMITTED)
                add(&x->so, a, b);
}

static void add_visible(naive *x, const matrix *a, const matrix *b)
{
    compose(a, b, x->h->n_txns, &x->scratch);
    join(&x->visible, &x->scratch, x->h->n_txns);
}

static void fill_visible(naive *x, unsigned axiom)
{
    uint32_t n = x->h->n_txns;

    memset(&x->visible, 0, sizeof(x->visible));
    if (axiom & HF_AXIOM_SO)
        join(&x->visible, &x->so, n);
    if (axiom & HF_AXIOM_WR)
        join(&x->visible, &x->wr, n);
    if (axiom & HF_AXIOM_WR_SO)
        add_visible(x, &x->wr, &x->so);
    if (axiom & HF_AXIOM_SO_WR)
        add_visible(x, &x->so, &x->wr);
    if (axiom & HF_AXIOM_WR_WR)
        add_visible(x, &x->wr, &x->wr);
    if (axiom & HF_AXIOM_WR_SO_WR) {
        compose(&x->wr, &x->so, n, &x->more);
        add_visible(x, &x->more, &x->wr);
    }
    if (axiom & HF_AXIOM_CAUSAL) {
        x->more = x->so;
        join(&x->more, &x->wr, n);
        close_up(&x->more, n);
        join(&x->visible, &x->more, n);
    }
}

static bool read_earlier(const naive *x, hf_op_id read, hf_txn_id t2)
{
    for (hf_op_id o = x->h->op_first[x->txn[read]]; o < read; o++)
        if (reads_others(x, o) && source_of(x, o) == t2)
            return true;
    return false;
}

/* The forced edges of a read; false if it is older than the first version. */
static bool force(naive *x, hf_op_id read, unsigned axiom)
{
    hf_txn_id t1 = source_of(x, read), t3 = x->txn[read];

    for (hf_txn_id t2 = 0; t2 < x->h->n_txns; t2++) {
        if (t2 == t1 || t2 == t3 || !writes(x, t2, x->h->op_key[read]) ||
            !(has(&x->visible, t2, t3) ||
              ((axiom & HF_AXIOM_EARLIER_READ) && read_earlier(x, read, t2))))
            continue;
        if (t1 == HF_NONE)
            return false;
        add(&x->order, t2, t1);
    }
    return true;
}

static bool repeats_agree(const naive *x)
{
    const hf_history *h = x->h;

    for (hf_op_id o = 0; o < h->n_ops; o++)
        for (hf_op_id p = h->op_first[x->txn[o]]; p < o; p++)
            if (h->op_key[o] == h->op_key[p] && reads_others(x, o) &&
                reads_others(x, p) && h->op_value[o] != h->op_value[p])
                return false;
    return true;
}

static hf_verdict judge_naively(naive *x, const hf_level_info *level)
{
    unsigned axiom =
        level->shape == HF_SHAPE_OTV ? HF_AXIOM_EARLIER_READ : level->axiom;
    uint32_t n = x->h->n_txns;

    if (level->shape == HF_SHAPE_WW)
        return HF_VALID;
    if (level->internal && !repeats_agree(x))
        return HF_INVALID;
    x->order = x->wr;
    if (level->session_order)
        join(&x->order, &x->so, n);
    fill_visible(x, axiom);
    for (hf_op_id o = 0; axiom && o < x->h->n_ops; o++)
        if (reads_others(x, o) && !force(x, o, axiom))
            return HF_INVALID;
    close_up(&x->order, n);
    for (uint32_t i = 0; i < n; i++)
        if (has(&x->order, i, i))
            return HF_INVALID;
    return HF_VALID;
}

/* ---- judging ------------------------------------------------------------- */

static void complain(run *r, const hf_generate_options *o, hf_level level,
                     const char *what, const char *more)
{
    r->failed++;
    if (r->shown++ >= MAX_SHOWN)
        return;
    printf("at %s: %s%s%s\n", hf_level_get(level)->name, what, more ? ": " : "",
           more ? more : "");
    printf("  holdfast gen -w %s -l %s -n %" PRIu64 " --seed %" PRIu64
           " --ops %u-%u -k %u -s %u --mix %u:%u:%u --no-certificate "
           "--no-times | holdfast check -e weak -l %s -\n",
           hf_workload_name(o->workload), hf_level_get(o->level)->name,
           o->transactions, o->seed, o->min_ops, o->max_ops, o->keys,
           o->sessions, o->read_percent, o->write_percent, o->rmw_percent,
           hf_level_get(level)->name);
}

static bool is_proved(const hf_history *h, const hf_result *result,
                      const hf_witness *w, hf_error *why)
{
    hf_verification v = {0};
    hf_claim claim;
    hf_arena arena;
    hf_out out;
    hf_json j;

    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    hf_witness_write(h, result->level, result->verdict, w, &j);
    hf_arena_init(&arena);
    if (hf_claim_read(h, out.at, out.n, &arena, &claim, why) == HF_OK &&
        hf_verify_claim(h, &claim, NULL, &v, why) == HF_OK && !v.accepted)
        (void)hf_fail(why, HF_ERR_INPUT, "%s", v.reason);
    hf_arena_release(&arena);
    hf_out_release(&out);
    return v.accepted;
}

/* The engine's verdict; its proofs are verified. */
static hf_verdict judge(run *r, const hf_generate_options *o,
                        const hf_history *h, unsigned i)
{
    hf_result *result = NULL;
    hf_verdict verdict = HF_UNKNOWN;
    hf_error err;

    if (r->weak->check(h, levels[i], NULL, NULL, &result, &err) != HF_OK) {
        complain(r, o, levels[i], "the engine failed", err.text);
        return HF_UNKNOWN;
    }
    verdict = result->verdict;
    if (verdict == HF_UNKNOWN)
        complain(r, o, levels[i], "unknown", result->reason);
    else if (!is_proved(h, result, &result->witness, &err))
        complain(r, o, levels[i], "verify does not accept", err.text);
    for (uint32_t k = 0; k < result->n_findings; k++)
        if (!is_proved(h, result, &result->findings[k].witness, &err)) {
            complain(r, o, levels[i], "verify does not accept a finding",
                     err.text);
            break;
        }
    r->verdicts[i][verdict]++;
    r->proofs[i] += result->witness.kind == HF_WITNESS_PROOF;
    hf_result_free(result);
    return verdict;
}

static hf_history *generate(const hf_generate_options *o)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_generate(o, b, &err) != HF_OK ||
        hf_builder_finish(b, &h, &err) != HF_OK) {
        printf("could not generate: %s\n", err.text);
        exit(2);
    }
    return h;
}

/* ---- comparing ----------------------------------------------------------- */

static void compare_naively(run *r, const hf_generate_options *o,
                            const hf_history *h, const hf_verdict *verdicts)
{
    naive *x = HF_NEW(naive);

    prepare(x, h);
    for (unsigned i = 0; i < N_LEVELS; i++) {
        hf_verdict v = judge_naively(x, hf_level_get(levels[i]));

        r->compared++;
        if (v == verdicts[i])
            r->passed++;
        else
            complain(r, o, levels[i], "the definition says",
                     hf_verdict_name(v));
    }
    hf_free(x->writer);
    hf_free(x->txn);
    hf_free(x);
}

static void compare_with_graph(run *r, const hf_generate_options *o,
                               const hf_history *certified,
                               const hf_verdict *verdicts)
{
    for (unsigned i = 0; i < N_LEVELS; i++) {
        hf_result *g = NULL;
        hf_error err;

        if (r->graph->check(certified, levels[i], NULL, NULL, &g, &err) !=
            HF_OK) {
            complain(r, o, levels[i], "graph failed", err.text);
            continue;
        }
        if (g->verdict == HF_VALID && verdicts[i] == HF_INVALID)
            complain(r, o, levels[i], "valid with the true order", NULL);
        else
            r->passed++;
        hf_result_free(g);
    }
}

static void check_lattice(run *r, const hf_generate_options *o,
                          const hf_verdict *verdicts)
{
    for (unsigned a = 0; a < N_LEVELS; a++)
        for (unsigned b = 0; b < N_LEVELS; b++)
            if (verdicts[a] == HF_VALID && verdicts[b] == HF_INVALID &&
                hf_level_implies(levels[a], levels[b]))
                complain(r, o, levels[b], "valid at",
                         hf_level_get(levels[a])->name);
}

/* The last value of the key that t wrote; HF_NONE: none. */
static hf_value_id last_value(const hf_history *h, hf_txn_id t, hf_key_id key)
{
    hf_value_id v = HF_NONE;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        if (h->op_key[o] == key && hf_op_kind_of(h, o) == HF_OP_WRITE)
            v = h->op_value[o];
    return v;
}

static bool wrote_before(const hf_history *h, hf_txn_id t, hf_op_id op)
{
    for (hf_op_id o = h->op_first[t]; o < op; o++)
        if (h->op_key[o] == h->op_key[op] && hf_op_kind_of(h, o) == HF_OP_WRITE)
            return true;
    return false;
}

/* Some reads return what another transaction wrote, earlier in the file. */
static void disturb(hf_history *h, hf_rng *rng, unsigned percent)
{
    for (hf_txn_id t = 1; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            hf_txn_id from = hf_rng_below(rng, t);
            hf_value_id v;

            if (hf_op_kind_of(h, o) != HF_OP_READ ||
                !hf_rng_chance(rng, percent) || wrote_before(h, t, o) ||
                h->txn_outcome[from] != HF_COMMITTED)
                continue;
            v = last_value(h, from, h->op_key[o]);
            if (v != HF_NONE)
                h->op_value[o] = v;
        }
}

static uint32_t pick(hf_rng *rng, const uint32_t *from, uint32_t n)
{
    return from[hf_rng_below(rng, n)];
}

static void random_options(hf_generate_options *o, uint64_t seed)
{
    static const uint32_t sizes[] = {20, 40, 60, 100, 150, 200};
    static const uint32_t keys[] = {2, 3, 5, 10, 30, 100};
    static const uint32_t sessions[] = {1, 2, 3, 6, 10, 30};
    static const hf_level kept[] = {HF_READ_COMMITTED,
                                    HF_READ_COMMITTED_AXIOMATIC,
                                    HF_READ_ATOMIC,
                                    HF_MONOTONIC_READS,
                                    HF_MONOTONIC_WRITES,
                                    HF_READ_YOUR_WRITES,
                                    HF_PRAM,
                                    HF_CAUSAL,
                                    HF_PREFIX,
                                    HF_SNAPSHOT_ISOLATION,
                                    HF_SERIALIZABLE};
    hf_rng rng;

    hf_rng_seed(&rng, seed);
    hf_generate_defaults(
        o, hf_rng_chance(&rng, 75) ? HF_WORKLOAD_REGISTER : HF_WORKLOAD_APPEND,
        HF_BUG_NONE);
    o->level = kept[hf_rng_below(&rng, sizeof(kept) / sizeof(kept[0]))];
    o->seed = seed;
    o->transactions = pick(&rng, sizes, 6);
    o->keys = pick(&rng, keys, 6);
    o->sessions = pick(&rng, sessions, 6);
    o->min_ops = 1 + hf_rng_below(&rng, 4);
    o->max_ops =
        o->min_ops + (hf_rng_chance(&rng, 15) ? 40 : hf_rng_below(&rng, 6));
    o->read_percent = 30 + 10 * hf_rng_below(&rng, 5);
    o->rmw_percent = hf_rng_chance(&rng, 30) ? 10 : 0;
    o->write_percent = 100 - o->read_percent - o->rmw_percent;
    o->replicas = hf_rng_chance(&rng, 50) ? 0 : 2 + hf_rng_below(&rng, 3);
    o->abort_percent = o->unknown_percent = 0;
    o->times = false;
    o->certificate = true;
}

static void try_history(run *r, uint64_t seed)
{
    hf_generate_options o;
    hf_verdict verdicts[N_LEVELS];
    hf_history *certified, bare;
    hf_rng rng;

    random_options(&o, seed);
    certified = generate(&o);
    hf_rng_seed(&rng, ~seed);
    if (o.workload == HF_WORKLOAD_REGISTER && hf_rng_chance(&rng, 70))
        disturb(certified, &rng, 1u + hf_rng_below(&rng, 8));
    bare = *certified;
    memset(&bare.cert, 0, sizeof(bare.cert));
    for (unsigned i = 0; i < N_LEVELS; i++)
        verdicts[i] = judge(r, &o, &bare, i);
    check_lattice(r, &o, verdicts);
    if (o.workload == HF_WORKLOAD_REGISTER && bare.n_txns <= MAX_TXNS)
        compare_naively(r, &o, &bare, verdicts);
    compare_with_graph(r, &o, certified, verdicts);
    hf_history_free(certified);
}

static void demand(run *r, hf_level level, const char *what, long n)
{
    if (n > 0)
        return;
    printf("%s: never %s\n", hf_level_get(level)->name, what);
    r->failed++;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_RUNS;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    run r = {.weak = hf_engine_find(HF_STR("weak")),
             .graph = hf_engine_find(HF_STR("graph"))};
    long proofs = 0;

    for (long i = 0; i < n; i++)
        try_history(&r, seed + (uint64_t)i);
    for (unsigned i = 0; i < N_LEVELS; i++) {
        const hf_level_info *level = hf_level_get(levels[i]);

        printf("%-28s valid %5ld, invalid %5ld, by proof %5ld\n", level->name,
               r.verdicts[i][HF_VALID], r.verdicts[i][HF_INVALID], r.proofs[i]);
        proofs += r.proofs[i];
        demand(&r, levels[i], "valid", r.verdicts[i][HF_VALID]);
        if (level->shape == HF_SHAPE_AXIOM)
            demand(&r, levels[i], "invalid", r.verdicts[i][HF_INVALID]);
    }
    demand(&r, HF_CAUSAL, "or elsewhere, refuted by a proof", proofs);
    printf("%ld compared naively, %ld passed, %ld failed\n", r.compared,
           r.passed, r.failed);
    return r.failed ? 1 : 0;
}
