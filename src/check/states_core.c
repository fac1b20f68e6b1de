/* states_core.c: few transactions that are impossible by themselves.
 *
 * A search that found no order has looked at everything, and nobody can look
 * over its shoulder.  So transactions are left out, in halves, then in
 * quarters, down to single ones, as long as the rest (restricted as
 * docs/semantics.md says) has no order either.  What remains, if it is at most
 * eight, is enumerated; else engine polygraph is asked about it, for which few
 * transactions are easier to refute than all, and which has proofs.  If it
 * finds none the core stands by itself: verify executes it once more.
 *
 * O(n log n) searches if few remain, n^2 if many do; the caller's budget ends
 * it.
 */
#include "check/states.h"

#include <stdlib.h>
#include <string.h>

#include "check/brute.h"
#include "check/graph_engine.h"
#include "history/part.h"

typedef struct cutter {
    const hf_history *h;
    const hf_level_info *level;
    hf_budget *budget;
    uint64_t steps;  /* of a search, at most */
    uint8_t *kept;   /* per transaction */
    hf_txn_id *txns; /* those that are kept */
    uint32_t n;
} cutter;

/* Is there no order of those that are kept? */
static bool is_impossible(cutter *c)
{
    hf_states_form form = {.sessions = c->level->session_order,
                           .times = c->level->real_time,
                           .snapshots = c->level->shape == HF_SHAPE_SNAPSHOT,
                           .past = c->level->level == HF_READ_COMMITTED};
    hf_states_limit limit = {.steps = c->steps, .budget = c->budget};
    hf_states_order order = {0};
    hf_states s;
    uint32_t *rank;
    bool none;

    hf_states_build(&s, c->h, form, c->kept);
    rank = HF_NEW_ARRAY(uint32_t, 2 * (size_t)s.n + 2);
    for (uint32_t i = 0; i < 2 * s.n; i++)
        rank[i] = i;
    none = !s.unfit &&
           hf_states_search(&s, rank, &limit, &order) == HF_STATES_NONE;
    hf_free(rank);
    hf_vec_release(&order);
    hf_states_release(&s);
    return none;
}

/* Leaves out those from `first` on, `n` of them, if the rest is impossible. */
static bool leave_out(cutter *c, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        c->kept[c->txns[first + i]] = 0;
    if (is_impossible(c)) {
        memmove(c->txns + first, c->txns + first + n,
                (c->n - first - n) * sizeof(*c->txns));
        c->n -= n;
        return true;
    }
    for (uint32_t i = 0; i < n; i++)
        c->kept[c->txns[first + i]] = 1;
    return false;
}

/* Larger pieces again and again, as long as some can go; single ones once. */
static void shrink(cutter *c)
{
    bool any = false;

    for (uint32_t size = c->n / 2; size > 0; size = any ? size : size / 2) {
        any = false;
        for (uint32_t at = 0; at < c->n && !hf_budget_spent(c->budget);) {
            uint32_t n = c->n - at < size ? c->n - at : size;

            if (n < c->n && leave_out(c, at, n))
                any = true;
            else
                at += n;
        }
        any = any && size > 1 && c->n > 2 * size;
        if (hf_budget_spent(c->budget))
            return;
    }
}

static int by_id(const void *a, const void *b)
{
    hf_txn_id x = *(const hf_txn_id *)a, y = *(const hf_txn_id *)b;

    return (x > y) - (x < y);
}

/* ---- proofs -------------------------------------------------------------- */

static void set_finding(const cutter *c, hf_witness w, hf_result *r)
{
    hf_finding *f = hf_arena_get(&r->arena, sizeof(*f));
    hf_group *g = hf_arena_get(&r->arena, sizeof(*g));

    w.n_order = c->n;
    w.order = hf_arena_get(&r->arena, c->n * sizeof(*c->txns));
    memcpy(w.order, c->txns, c->n * sizeof(*c->txns));
    w.anomaly = HF_NO_ORDER;
    r->verdict = HF_INVALID;
    r->reason = NULL;
    r->witness = w;
    *f = (hf_finding){.anomaly = HF_NO_ORDER, .witness = w};
    *g = (hf_group){HF_NO_ORDER, 1, false};
    r->findings = f;
    r->n_findings = 1;
    r->groups = g;
    r->n_groups = 1;
}

/* What was found about the part, as a proof about the whole; one cycle is a
 * proof of one step. */
static bool take_proof(const cutter *c, const hf_part *part,
                       const hf_witness *found, hf_result *r)
{
    hf_step step = {HF_STEP_CYCLE, 0, found->n_edges, HF_NONE, HF_NONE, 0};
    hf_witness own = *found, whole;

    if (found->kind == HF_WITNESS_CYCLE) {
        own.kind = HF_WITNESS_PROOF;
        own.n_steps = 1;
        own.steps = &step;
        own.n_ops = 0;
    }
    if (own.kind != HF_WITNESS_PROOF || own.rests)
        return false;
    own.n_order = 0;
    own.order = NULL;
    if (!hf_part_to_whole(part, &own, &r->arena, &whole))
        return false;
    set_finding(c, whole, r);
    return true;
}

/* Engine polygraph about those that are left. */
static bool prove_part(const cutter *c, hf_result *r)
{
    hf_check_options options = {.threads = 1};
    hf_result *found = NULL;
    hf_parts parts;
    hf_part part;
    bool proved = false;

    if (!hf_parts_init(&parts, c->h))
        return false;
    hf_part_cut(&parts, c->txns, c->n, &part);
    if (hf_polygraph_check(part.h, c->level->level, &options, c->budget, &found,
                           NULL) == HF_OK) {
        proved = found->verdict == HF_INVALID &&
                 take_proof(c, &part, &found->witness, r);
        hf_result_free(found);
    }
    hf_part_release(&part);
    hf_parts_release(&parts);
    return proved;
}

/* ---- all ----------------------------------------------------------------- */

/* Few are enumerated, and left out as long as the rest is impossible. */
static bool explain_few(cutter *c, hf_result *r)
{
    hf_brute_question q = {.level = c->level->level, .budget = c->budget};
    hf_witness w = {.kind = HF_WITNESS_CORE};
    uint32_t n = hf_brute_shrink(c->h, c->txns, c->n, &q, &w.minimal);

    if (n == 0)
        return false;
    c->n = n;
    w.confirmed = true;
    set_finding(c, w, r);
    return true;
}

/* Executing them again is the proof. */
static bool explain_executed(cutter *c, hf_result *r)
{
    hf_witness w = {.kind = HF_WITNESS_CORE, .confirmed = true};

    if (c->n == 0)
        return false;
    set_finding(c, w, r);
    return true;
}

static bool explain(cutter *c, hf_result *r)
{
    if (c->n > 0)
        qsort(c->txns, c->n, sizeof(*c->txns), by_id);
    return explain_few(c, r) || (c->n < c->h->n_txns && prove_part(c, r)) ||
           explain_executed(c, r);
}

bool hf_states_refute(const hf_history *h, const hf_txn_id *txns, uint32_t n,
                      uint64_t steps, double seconds, hf_budget *budget,
                      hf_result *r)
{
    hf_budget share = hf_states_share(budget, seconds);
    cutter c = {.h = h, .level = hf_level_get(r->level), .budget = &share};
    bool done = false;

    c.kept = HF_NEW_ZEROED(uint8_t, (size_t)h->n_txns + 1);
    c.txns = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);
    memcpy(c.txns, txns, n * sizeof(*txns));
    c.n = n;
    c.steps = 20000 + 20 * (uint64_t)n + 2 * steps;
    for (uint32_t i = 0; i < c.n; i++)
        c.kept[c.txns[i]] = 1;
    if (is_impossible(&c)) {
        shrink(&c);
        share = hf_states_share(budget, seconds);
        done = explain(&c, r);
    }
    hf_free(c.kept);
    hf_free(c.txns);
    return done;
}
