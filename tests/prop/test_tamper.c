/* test_tamper.c: witnesses that were tampered with are refused.
 *
 *     test_tamper [CLAIMS [SEED]]
 *
 * Takes witnesses that verify accepts, changes one thing, and asks again.
 * The changed claim must be refused or be true after all: the oracle agrees
 * with the verdict at the level claimed, an order does prove it, and the
 * edges of a cycle are at least about the operations they name.  The other
 * way round, the history is changed under an unchanged witness.
 *
 * In half of the histories lists have elements to begin with, of which the
 * oracle is told nothing: it is asked about the same history without them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"
#include "oracle.h"
#include "random_history.h"
#include "report/report.h"
#include "restrict.h"
#include "verify/verify.h"

#define MAX_SHOWN 8

typedef enum change {
    SWAP_ORDER,
    DROP_ORDER, /* a member of an order or a core */
    REPEAT_ORDER,
    EDGE_KIND,
    EDGE_KEY,
    EDGE_OPERATION,
    EDGE_TURNED,
    DROP_EDGE,
    OTHER_OPERATION,
    DROP_OPERATION,
    OTHER_ANOMALY,
    OTHER_SOURCE,
    DROP_SOURCE,
    OTHER_LEVEL,
    OTHER_VERDICT,
    OTHER_KIND,
    OTHER_DIGIT,   /* of the text */
    OTHER_HISTORY, /* under the same witness */
    CHANGE_COUNT
} change;

static const char *const change_names[CHANGE_COUNT] = {
    [SWAP_ORDER] = "two of the order swapped",
    [DROP_ORDER] = "one of the order or core dropped",
    [REPEAT_ORDER] = "one of the order repeated",
    [EDGE_KIND] = "kind of an edge changed",
    [EDGE_KEY] = "key of an edge changed",
    [EDGE_OPERATION] = "operation of an edge changed",
    [EDGE_TURNED] = "edge turned round",
    [DROP_EDGE] = "edge dropped",
    [OTHER_OPERATION] = "operation changed",
    [DROP_OPERATION] = "operation dropped",
    [OTHER_ANOMALY] = "anomaly renamed",
    [OTHER_SOURCE] = "source changed",
    [DROP_SOURCE] = "source dropped",
    [OTHER_LEVEL] = "level changed",
    [OTHER_VERDICT] = "verdict changed",
    [OTHER_KIND] = "kind of witness changed",
    [OTHER_DIGIT] = "digit changed",
    [OTHER_HISTORY] = "history changed",
};

typedef struct run {
    const hf_engine *engine;
    hf_rng rng;
    hf_out json, changed;
    int refused[CHANGE_COUNT], held[CHANGE_COUNT], lied[CHANGE_COUNT];
    int n_claims, n_failed;
    int n_begun; /* claims about lists with elements to begin with */
    bool begun;  /* the history in hand has some */
    int elements[TINY_KEYS][TINY_BEGUN];
} run;

static uint32_t below(run *r, uint32_t n)
{
    return hf_rng_below(&r->rng, n);
}

/* ---- changes ------------------------------------------------------------- */

static bool change_order(run *r, hf_witness *w, change c)
{
    uint32_t i, j;

    if (w->n_order < (c == SWAP_ORDER ? 2u : 1u))
        return false;
    i = below(r, w->n_order);
    j = below(r, w->n_order);
    if (c == SWAP_ORDER) {
        uint32_t x = w->order[i];

        w->order[i] = w->order[j];
        w->order[j] = x;
    } else if (c == REPEAT_ORDER) {
        w->order[i] = w->order[j];
    } else {
        w->n_order--;
        memmove(&w->order[i], &w->order[i + 1],
                (w->n_order - i) * sizeof(w->order[0]));
    }
    return true;
}

static bool change_edge(run *r, const hf_history *h, hf_witness *w, change c)
{
    hf_edge *e;
    uint32_t i;

    if (w->n_edges == 0)
        return false;
    i = below(r, w->n_edges);
    e = &w->edges[i];
    if (c == EDGE_KIND) {
        e->kind = (hf_edge_kind)below(r, HF_EDGE_KIND_COUNT);
    } else if (c == EDGE_KEY && e->key != HF_NONE) {
        e->key = below(r, h->n_keys);
    } else if (c == EDGE_OPERATION && e->from_op != HF_NONE) {
        *(below(r, 2) ? &e->from_op : &e->to_op) = below(r, h->n_ops);
    } else if (c == EDGE_TURNED) {
        *e = (hf_edge){e->kind, e->to, e->from, e->key, e->to_op, e->from_op};
    } else if (c == DROP_EDGE) {
        w->n_edges--;
        memmove(e, e + 1, (w->n_edges - i) * sizeof(*e));
    }
    return true;
}

static bool change_operations(run *r, const hf_history *h, hf_witness *w,
                              change c)
{
    uint32_t i;

    if (w->n_ops == 0)
        return false;
    i = below(r, w->n_ops);
    if (c == OTHER_OPERATION) {
        w->ops[i] = below(r, h->n_ops);
    } else {
        w->n_ops--;
        memmove(&w->ops[i], &w->ops[i + 1], (w->n_ops - i) * sizeof(w->ops[0]));
    }
    return true;
}

static bool change_sources(run *r, const hf_history *h, hf_witness *w, change c)
{
    uint32_t i;

    if (w->n_sources == 0)
        return false;
    i = below(r, w->n_sources);
    if (c == OTHER_SOURCE) {
        uint32_t t = below(r, h->n_txns + 1);

        w->sources[i].writer = t == h->n_txns ? HF_NONE : t;
    } else {
        w->n_sources--;
        memmove(&w->sources[i], &w->sources[i + 1],
                (w->n_sources - i) * sizeof(w->sources[0]));
    }
    return true;
}

static bool change_kind(run *r, hf_witness *w)
{
    static const hf_witness_kind kinds[] = {HF_WITNESS_SERIAL,
                                            HF_WITNESS_COMMIT, HF_WITNESS_CORE};

    if (w->kind != HF_WITNESS_SERIAL && w->kind != HF_WITNESS_COMMIT &&
        w->kind != HF_WITNESS_CORE)
        return false;
    w->kind = kinds[below(r, 3)];
    return true;
}

/* False: the change does not apply to this claim. */
static bool apply(run *r, const hf_history *h, hf_claim *claim, change c)
{
    hf_witness *w = &claim->witness;

    if (c <= REPEAT_ORDER)
        return change_order(r, w, c);
    if (c <= DROP_EDGE)
        return change_edge(r, h, w, c);
    if (c <= DROP_OPERATION)
        return change_operations(r, h, w, c);
    if (c == OTHER_SOURCE || c == DROP_SOURCE)
        return change_sources(r, h, w, c);
    if (c == OTHER_ANOMALY) {
        w->anomaly = (hf_anomaly)below(r, HF_ANOMALY_COUNT);
        return w->kind == HF_WITNESS_CYCLE || w->kind == HF_WITNESS_OPERATIONS;
    }
    if (c == OTHER_LEVEL)
        claim->level = (hf_level)below(r, HF_LEVEL_COUNT);
    else if (c == OTHER_VERDICT)
        claim->verdict = claim->verdict == HF_VALID ? HF_INVALID : HF_VALID;
    else if (c == OTHER_KIND)
        return change_kind(r, w);
    return true;
}

/* Changes a digit of the text. */
static void change_digit(run *r)
{
    for (int tries = 0; tries < 200; tries++) {
        uint32_t i = below(r, (uint32_t)r->changed.n);

        if (r->changed.at[i] >= '0' && r->changed.at[i] <= '9') {
            r->changed.at[i] = (char)('0' + below(r, 10));
            return;
        }
    }
}

/* ---- is it true? --------------------------------------------------------- */

/* Is it an operation of t that writes (else: reads) the key?  A predicate
 * operation reads what it returns, and sees every key. */
static bool op_is(const hf_history *h, hf_op_id op, hf_txn_id t, hf_key_id key,
                  bool write)
{
    hf_op_kind kind;

    if (op >= h->n_ops || hf_op_txn(h, op) != t)
        return false;
    kind = hf_op_kind_of(h, op);
    if (!write && hf_op_has_predicate(kind))
        return true;
    return h->op_key[op] == key &&
           (write ? hf_op_installs(kind)
                  : hf_op_reads_item(kind) || kind == HF_OP_INCREMENT);
}

static bool is_sensible(const hf_history *h, const hf_edge *e)
{
    switch (e->kind) {
    case HF_EDGE_WW:
        return op_is(h, e->from_op, e->from, e->key, true) &&
               op_is(h, e->to_op, e->to, e->key, true);
    case HF_EDGE_WR:
    case HF_EDGE_PWR:
        return op_is(h, e->from_op, e->from, e->key, true) &&
               op_is(h, e->to_op, e->to, e->key, false);
    case HF_EDGE_RW:
    case HF_EDGE_PRW:
        return op_is(h, e->from_op, e->from, e->key, false) &&
               op_is(h, e->to_op, e->to, e->key, true);
    case HF_EDGE_SO:
        return e->from < e->to &&
               h->txn_session[e->from] == h->txn_session[e->to];
    case HF_EDGE_RT:
        return hf_txn_end_time(h, e->from) < hf_txn_begin_time(h, e->to);
    default:
        return false;
    }
}

/* Does the anomaly's name go with the edges?  How many are anti-dependencies
 * and which come from outside is in the name. */
static bool is_name_right(const hf_witness *w)
{
    hf_str name = hf_str_of(hf_anomaly_get(w->anomaly)->name);
    int n_rw = 0, n_wr = 0;
    bool so = false, rt = false;
    bool says_rt = w->anomaly >= HF_G0 && (w->anomaly - HF_G0) % 3 == 2;
    bool says_so = w->anomaly >= HF_G0 && (w->anomaly - HF_G0) % 3 == 1;

    for (uint32_t i = 0; i < w->n_edges; i++) {
        n_rw +=
            w->edges[i].kind == HF_EDGE_RW || w->edges[i].kind == HF_EDGE_PRW;
        n_wr +=
            w->edges[i].kind == HF_EDGE_WR || w->edges[i].kind == HF_EDGE_PWR;
        so = so || w->edges[i].kind == HF_EDGE_SO;
        rt = rt || w->edges[i].kind == HF_EDGE_RT;
    }
    if (w->anomaly == HF_CYCLIC_VERSIONS)
        return n_rw == 0 && n_wr == 0;
    if (rt != says_rt || (so && !rt) != says_so)
        return false;
    if (hf_str_starts(name, HF_STR("G0")))
        return n_rw == 0 && n_wr == 0;
    if (hf_str_starts(name, HF_STR("G1c")))
        return n_rw == 0 && n_wr > 0;
    if (hf_str_starts(name, HF_STR("G-single")))
        return n_rw == 1;
    return n_rw > 1;
}

/* Are these transactions invalid by themselves? */
static bool is_core(const tiny_history *t, hf_level level, const hf_witness *w)
{
    unsigned keep = 0;
    tiny_history s;
    hf_error err;
    hf_history *h;
    bool invalid;

    for (uint32_t i = 0; i < w->n_order; i++)
        keep |= 1u << w->order[i];
    if (!restrict_history(t, keep, &s))
        return true;
    h = tiny_build(&s, &err);
    invalid = h && oracle_check(h, level) == HF_INVALID;
    tiny_free(h);
    return invalid;
}

static bool is_in_order(const hf_witness *w, int txn)
{
    for (uint32_t i = 0; i < w->n_order; i++)
        if (w->order[i] / (w->kind == HF_WITNESS_SNAPSHOT ? 2 : 1) ==
            (uint32_t)txn)
            return true;
    return false;
}

/* Does the order prove the history valid?  It speaks of the world in which
 * transactions of unknown outcome that it leaves out did not happen. */
static bool is_proof(const tiny_history *t, hf_level level, const hf_witness *w)
{
    tiny_history s = *t;
    hf_error err;
    hf_history *h;
    bool proves;

    for (int i = 0; i < s.n_txns; i++)
        if (s.txns[i].outcome == HF_UNKNOWN_OUTCOME && !is_in_order(w, i))
            s.txns[i].outcome = HF_ABORTED;
    h = tiny_build(&s, &err);
    proves = h && oracle_check(h, level) == HF_VALID &&
             oracle_order_proves(h, level, w);
    tiny_free(h);
    return proves;
}

static bool is_true(const tiny_history *t, const hf_history *h,
                    const hf_claim *claim)
{
    const hf_witness *w = &claim->witness;

    if (hf_witness_proves(w->kind) != claim->verdict)
        return false;
    if (claim->verdict == HF_VALID)
        return is_proof(t, claim->level, w);
    if (oracle_check(h, claim->level) != HF_INVALID)
        return false;
    for (uint32_t i = 0; i < w->n_edges; i++)
        if (!is_sensible(h, &w->edges[i]) ||
            w->edges[i].to != w->edges[(i + 1) % w->n_edges].from)
            return false;
    if (w->kind == HF_WITNESS_CYCLE)
        return is_name_right(w);
    if (w->kind == HF_WITNESS_OPERATIONS)
        return hf_level_forbids(claim->level, w->anomaly);
    return is_core(t, claim->level, w);
}

/* ---- one claim ----------------------------------------------------------- */

static void show(run *r, const tiny_history *t, const hf_history *h,
                 hf_level level, change c)
{
    if (r->n_failed++ > MAX_SHOWN)
        return;
    printf("accepted, but false: %s; the oracle says %s\n", change_names[c],
           hf_verdict_name(oracle_check(h, level)));
    tiny_print(t, stdout);
    printf("%.*s\n%.*s\n\n", (int)r->json.n, r->json.at, (int)r->changed.n,
           r->changed.at);
}

/* r->changed is the claim now, about history t. */
/* Elements that are appended as well, or others. */
static void choose_elements(run *r, const tiny_history *t)
{
    r->begun = false;
    for (int k = 0; k < t->n_keys; k++)
        for (int i = 0; i < TINY_BEGUN; i++)
            r->elements[k][i] = 1 + (int)below(r, 9);
    if (hf_rng_chance(&r->rng, 50))
        for (int k = 0; k < t->n_keys; k++)
            r->begun |= t->is_list[k];
}

/* The history that claims are about. */
static hf_history *build(const run *r, const tiny_history *t, hf_error *err)
{
    tiny_history s = *t;

    for (int k = 0; r->begun && k < s.n_keys; k++)
        if (s.is_list[k]) {
            s.n_begun[k] = 1 + r->elements[k][0] % TINY_BEGUN;
            memcpy(s.begun[k], r->elements[k], sizeof(s.begun[k]));
        }
    return tiny_build(&s, err);
}

static void judge(run *r, const tiny_history *t, change c)
{
    hf_error err;
    hf_arena arena;
    hf_claim claim;
    hf_verification v;
    hf_history *h = tiny_build(t, &err), *full;

    if (!h)
        return;
    full = build(r, t, &err);
    if (!full) {
        tiny_free(h);
        return;
    }
    hf_arena_init(&arena);
    r->n_claims++;
    r->n_begun += r->begun;
    if (hf_claim_read(full, r->changed.at, r->changed.n, &arena, &claim,
                      &err) != HF_OK ||
        hf_verify_claim(full, &claim, NULL, &v, &err) != HF_OK || !v.accepted) {
        r->refused[c]++;
    } else if (is_true(t, h, &claim)) {
        r->held[c]++;
    } else {
        r->lied[c]++;
        show(r, t, h, claim.level, c);
    }
    hf_arena_release(&arena);
    tiny_free(full);
    tiny_free(h);
}

/* Writes the witness of r->json with the change into r->changed; false if
 * nothing changed. */
static bool tamper(run *r, const hf_history *h, change c)
{
    hf_arena arena;
    hf_claim claim;
    hf_error err;
    hf_out plain;
    hf_json j;
    bool ok;

    hf_arena_init(&arena);
    hf_out_init_memory(&plain);
    r->changed.n = 0;
    ok = hf_claim_read(h, r->json.at, r->json.n, &arena, &claim, &err) == HF_OK;
    if (ok) {
        hf_json_init(&j, &plain);
        hf_witness_write(h, claim.level, claim.verdict, &claim.witness, &j);
        ok = apply(r, h, &claim, c);
        hf_json_init(&j, &r->changed);
        hf_witness_write(h, claim.level, claim.verdict, &claim.witness, &j);
        if (c == OTHER_DIGIT)
            change_digit(r);
        ok = ok && (c == OTHER_HISTORY ||
                    !hf_str_eq(hf_out_view(&plain), hf_out_view(&r->changed)));
    }
    hf_out_release(&plain);
    hf_arena_release(&arena);
    return ok;
}

/* Engine and verify agree with the oracle; the claim is in r->json.  About
 * elements to begin with nobody else asks. */
static bool is_claim(run *r, const hf_history *h, hf_level level,
                     hf_verdict expected)
{
    hf_verdict verdict;
    hf_error err;
    comparison c =
        compare_level(h, r->engine, level, expected, &r->json, &verdict, &err);

    if (c != AGREED && r->begun && r->n_failed++ < MAX_SHOWN)
        printf("with elements to begin with: %s at %s: %s\n",
               comparison_name(c), hf_level_get(level)->name, err.text);
    return c == AGREED;
}

static void try_history(run *r)
{
    tiny_history t = random_history(&r->rng);
    hf_error err;
    hf_history *plain = tiny_build(&t, &err), *h = NULL;
    hf_level level = (hf_level)below(r, HF_LEVEL_COUNT);
    hf_verdict expected;

    if (!plain)
        return;
    expected = oracle_check(plain, level);
    tiny_free(plain);
    choose_elements(r, &t);
    h = build(r, &t, &err);
    if (!h)
        return;
    if (expected != HF_UNKNOWN &&
        (expected == HF_INVALID || hf_rng_chance(&r->rng, 30)) &&
        is_claim(r, h, level, expected))
        for (int c = 0; c < CHANGE_COUNT; c++) {
            tiny_history other = t;

            if (c == OTHER_HISTORY)
                random_corrupt(&other, &r->rng);
            if (tamper(r, h, (change)c))
                judge(r, &other, (change)c);
        }
    tiny_free(h);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 30000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    run r = {.engine = hf_engine_find(HF_STR("brute"))};

    if (!r.engine) {
        printf("no engine \"brute\"\n");
        return 1;
    }
    hf_rng_seed(&r.rng, seed);
    hf_out_init_memory(&r.json);
    hf_out_init_memory(&r.changed);
    for (long i = 0; i < 10 * n && r.n_claims < n; i++)
        try_history(&r);
    printf("%-34s %8s %8s %8s\n", "what was changed", "refused", "true",
           "false");
    for (int c = 0; c < CHANGE_COUNT; c++)
        printf("%-34s %8d %8d %8d\n", change_names[c], r.refused[c], r.held[c],
               r.lied[c]);
    if (r.n_claims < n) {
        printf("only %d changed claims\n", r.n_claims);
        r.n_failed++;
    }
    printf("%d about lists with elements to begin with\n", r.n_begun);
    if (n >= 1000 && r.n_begun == 0)
        r.n_failed++;
    printf("%d passed, %d failed\n", r.n_claims - r.n_failed, r.n_failed);
    hf_out_release(&r.json);
    hf_out_release(&r.changed);
    return r.n_failed ? 1 : 0;
}
