/* states_core.c: few transactions that are impossible by themselves.
 *
 * A search that found no order has looked at everything, and nobody can look
 * over its shoulder.  So transactions are left out, in halves, then in
 * quarters, down to single ones, as long as the rest (restricted as
 * docs/semantics.md says) has no order either.  Where there are counters a SAT
 * solver says first which reads it takes: those who write their keys stay, key
 * by key as few as can be.  What remains, if it is at most
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
    hf_states_form form; /* of the search that found no order */
    hf_budget *budget;
    uint64_t steps;  /* of a search, at most */
    uint8_t *kept;   /* per transaction */
    hf_txn_id *txns; /* those that are kept */
    uint32_t n;
} cutter;

static uint32_t *plain_rank(const hf_states *s)
{
    uint32_t *rank = HF_NEW_ARRAY(uint32_t, 2 * (size_t)s->n + 2);

    for (uint32_t i = 0; i < 2 * s->n; i++)
        rank[i] = i;
    return rank;
}

static bool has_counters(const hf_states *s)
{
    for (hf_key_id k = 0; k < s->h->n_keys; k++)
        if (s->kind[k] == HF_CELL_COUNTER)
            return true;
    return false;
}

/* Does a solver find none?  `uses`: by which demands, or NULL. */
static bool is_unsolvable(cutter *c, const hf_states *s, const uint32_t *rank,
                          hf_states_uses *uses)
{
    hf_states_model m;
    bool none;

    hf_states_model_init(&m);
    m.wants_uses = uses != NULL;
    none = hf_states_solve(s, rank, c->budget, &m) == HF_STATES_NONE;
    if (none && uses) {
        uses->n = 0;
        for (size_t i = 0; i < m.uses.n; i++)
            hf_vec_push(uses, m.uses.at[i]);
    }
    hf_states_model_release(&m);
    return none;
}

/* Is there no order of those that are kept?  `uses`: a solver is asked. */
static bool is_impossible(cutter *c, hf_states_uses *uses)
{
    hf_states_limit limit = {.steps = c->steps, .budget = c->budget};
    hf_states_answer answer = HF_STATES_OPEN;
    hf_states_order order = {0};
    hf_states s;
    uint32_t *rank;
    bool none = false;

    hf_states_build(&s, c->h, c->form, c->kept);
    rank = plain_rank(&s);
    if (!s.unfit && !c->form.partial && !uses)
        answer = hf_states_search(&s, rank, &limit, &order);
    if (!s.unfit && answer == HF_STATES_OPEN && (uses || has_counters(&s)) &&
        !hf_budget_spent(c->budget))
        none = is_unsolvable(c, &s, rank, uses);
    hf_free(rank);
    hf_vec_release(&order);
    hf_states_release(&s);
    return none || answer == HF_STATES_NONE;
}

/* Leaves out those from `first` on, `n` of them, if the rest is impossible. */
static bool leave_out(cutter *c, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        c->kept[c->txns[first + i]] = 0;
    if (is_impossible(c, NULL)) {
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

/* ---- keys ---------------------------------------------------------------- */

/* Keeps who has one of these demands, or wrote one of their cells. */
static void keep_uses(cutter *c, const hf_states_uses *uses, hf_key_id without)
{
    const hf_history *h = c->h;
    uint8_t *cell = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    uint32_t n = 0;

    for (size_t i = 0; i < uses->n; i++)
        if (uses->at[i].cell != without)
            cell[uses->at[i].cell] = 1;
    for (uint32_t i = 0; i < c->n; i++) {
        hf_txn_id t = c->txns[i];
        bool kept = false;

        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
            kept |= h->op_key[o] < h->n_keys && cell[h->op_key[o]] &&
                    hf_states_writes(h, o);
        for (size_t k = 0; k < uses->n && !kept; k++)
            kept = uses->at[k].txn == t && uses->at[k].cell != without;
        c->kept[t] = kept;
        if (kept)
            c->txns[n++] = t;
    }
    c->n = n;
    hf_free(cell);
}

/* The same, if that is impossible; false: everything is as before. */
static bool narrow(cutter *c, hf_states_uses *uses, hf_key_id without)
{
    uint32_t n = c->n;
    hf_txn_id *old = HF_NEW_ARRAY(hf_txn_id, (size_t)n + 1);
    bool narrowed;

    memcpy(old, c->txns, n * sizeof(*old));
    keep_uses(c, uses, without);
    narrowed = c->n < n && c->n > 0 && is_impossible(c, uses);
    if (!narrowed) {
        memcpy(c->txns, old, n * sizeof(*old));
        c->n = n;
        for (uint32_t i = 0; i < n; i++)
            c->kept[old[i]] = 1;
    }
    hf_free(old);
    return narrowed;
}

static bool uses_cell(const hf_states_uses *uses, hf_key_id cell)
{
    for (size_t i = 0; i < uses->n; i++)
        if (uses->at[i].cell == cell)
            return true;
    return false;
}

/* Those whom a solver needs, without one key after the other if it can be. */
static void cut_by_keys(cutter *c)
{
    hf_states_uses uses = {0};

    if (is_impossible(c, &uses)) {
        while (narrow(c, &uses, HF_NONE))
            ;
        for (hf_key_id k = 0; k < c->h->n_keys; k++)
            if (!hf_budget_spent(c->budget) && uses_cell(&uses, k))
                (void)narrow(c, &uses, k);
    }
    hf_vec_release(&uses);
}

/* ---- order ----------------------------------------------------------------
 */

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

/* Increments whose result was not recorded. */
static bool has_counted(const hf_history *h)
{
    for (hf_op_id o = 0; o < h->n_ops; o++)
        if (hf_states_writes(h, o) && hf_op_kind_of(h, o) == HF_OP_INCREMENT &&
            hf_op_increment(h, o).after == HF_NONE)
            return true;
    return false;
}

bool hf_states_refute(const hf_history *h, const hf_txn_id *txns, uint32_t n,
                      hf_states_form form, uint64_t steps, double seconds,
                      hf_budget *budget, hf_result *r)
{
    hf_budget share = hf_states_share(budget, seconds);
    cutter c = {.h = h,
                .level = hf_level_get(r->level),
                .form = form,
                .budget = &share};
    bool done;

    c.kept = HF_NEW_ZEROED(uint8_t, (size_t)h->n_txns + 1);
    c.txns = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);
    memcpy(c.txns, txns, n * sizeof(*txns));
    c.n = n;
    c.steps = 20000 + 20 * (uint64_t)n + (has_counted(h) ? 0 : 2 * steps);
    for (uint32_t i = 0; i < c.n; i++)
        c.kept[c.txns[i]] = 1;
    if (has_counted(h))
        cut_by_keys(&c);
    shrink(&c);
    share = hf_states_share(budget, seconds);
    done = explain(&c, r);
    hf_free(c.kept);
    hf_free(c.txns);
    return done;
}
