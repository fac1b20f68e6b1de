/* poly_conditions.c: conditions in a world that is searched for.
 *
 * A world gives every key one order, and then the edges of conditions are what
 * they are (pred.h).  If they close a cycle, something it rests on is not so;
 * here is what an edge rests on.  The operation looked at version k, which
 * does not satisfy the condition (else it is read as an item):
 *
 *   prw to b, which satisfies it: k is before b.  Whatever stands between, one
 *       of those after k up to b changes the matches, and its writer is before
 *       b's.
 *   prw to b, which does not: a version that does is between k and b.
 *   pwr from a, which satisfies it: a is before k.  Again one after it, up to
 *       k, changes the matches.
 *   pwr from a, which does not: a is k or before it, the version just before a
 *       satisfies it, and nobody else who does not is between those two.
 *
 * The steps of a proof can say the first and the third (verify/proof_steps.c).
 * Where a refutation needs the others, it is enumerated or not told.
 *
 * Cost: the entries of the version set, and for the last kind the versions of
 * the key, for each edge of a cycle.
 */
#include "check/poly_worlds.h"

#include "base/error.h"

/* ---- versions ------------------------------------------------------------ */

static const hf_pred_op *find_op(const hf_pred *p, hf_op_id op)
{
    size_t low = 0, high = p->ops.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (p->ops.at[middle].op < op)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == p->ops.n || p->ops.at[low].op != op)
        HF_BUG("an edge names an operation that is no condition");
    return &p->ops.at[low];
}

/* Several may have written it: the order tells who did, no choice does. */
static bool is_told(const hf_graph *g, hf_value_id v)
{
    return v != HF_NONE && g->value[v].ver == HF_VER_SEVERAL;
}

uint32_t hf_worlds_version_seen(hf_worlds *w, hf_op_id op, hf_key_id key)
{
    hf_pred *p = w->pred;
    const hf_pred_op *o = find_op(p, op);
    const hf_version_ref *row;

    if (hf_pred_entries_of(p, o, true, &p->entries))
        for (size_t i = 0; i < p->entries.n; i++) {
            const hf_pred_entry *e = &p->entries.at[i];

            if (e->key != key)
                continue;
            w->guessed |= e->writer == HF_NONE && is_told(w->g, e->value);
            return e->ver;
        }
    if (!hf_pred_sort_rows(p, &o->q))
        return HF_NONE;
    row = hf_pred_row_of(p, key);
    w->guessed |= row && row->writer == HF_NONE && is_told(w->g, row->value);
    return row ? hf_pred_version(p, o, *row, true) : HF_NONE;
}

static bool satisfies(const hf_worlds *w, hf_op_id op, uint32_t ver)
{
    const hf_pred *p = w->pred;

    return hf_pred_holds(p, &p->conditions.at[find_op(p, op)->condition], ver);
}

/* In the world at hand, counted from 1; 0: the initial version; HF_NONE: it
 * is not there. */
static uint32_t place_of(const hf_worlds *w, uint32_t ver)
{
    hf_txn_id t = w->g->ver_txn[ver];

    if (t == HF_NONE)
        return 0;
    return w->place[t] == HF_NONE ? HF_NONE : w->place[t] + 1;
}

/* The last version before `ver` in the world at hand. */
static uint32_t just_before(const hf_worlds *w, hf_key_id key, uint32_t ver)
{
    const hf_graph *g = w->g;
    uint32_t best = g->ver_first[key], at = place_of(w, ver);

    for (uint32_t v = best + 1; v < g->ver_end[key]; v++) {
        uint32_t its = place_of(w, v);

        if (its != HF_NONE && its < at && its > place_of(w, best))
            best = v;
    }
    return best;
}

/* ---- what edges rest on -------------------------------------------------- */

/* A version that satisfies the condition is between two that do not. */
static void add_between(hf_worlds *w, const hf_edge *e, uint32_t a, uint32_t b,
                        hf_lit_list *list)
{
    const hf_graph *g = w->g;

    for (uint32_t v = g->ver_first[e->key] + 1; v < g->ver_end[e->key]; v++) {
        uint32_t its = place_of(w, v);

        if (its == HF_NONE || its <= place_of(w, a) || its >= place_of(w, b) ||
            !satisfies(w, e->from_op, v))
            continue;
        hf_worlds_add_before(w, list, e->key, a, v);
        hf_worlds_add_before(w, list, e->key, v, b);
        return;
    }
}

/* Version a does not satisfy the condition, and the one before it does. */
static void add_change(hf_worlds *w, const hf_edge *e, uint32_t a,
                       hf_lit_list *list)
{
    const hf_graph *g = w->g;
    uint32_t before = just_before(w, e->key, a);

    hf_worlds_add_before(w, list, e->key, before, a);
    for (uint32_t v = g->ver_first[e->key] + 1; v < g->ver_end[e->key]; v++) {
        if (v == a || v == before || satisfies(w, e->to_op, v))
            continue;
        if (place_of(w, v) < place_of(w, a))
            hf_worlds_add_before(w, list, e->key, v, before);
        else
            hf_worlds_add_before(w, list, e->key, a, v);
    }
}

/* Where visibility counts, who changes the matches has to be said exactly. */
static bool is_strict(const hf_level_info *level)
{
    return level->shape == HF_SHAPE_AXIOM || level->shape == HF_SHAPE_OTV;
}

bool hf_worlds_lits_of_condition(hf_worlds *w, const hf_edge *e,
                                 hf_lit_list *list)
{
    bool anti = e->kind == HF_EDGE_PRW;
    uint32_t seen =
        hf_worlds_version_seen(w, anti ? e->from_op : e->to_op, e->key);
    uint32_t other = hf_graph_version_of(w->g, anti ? e->to : e->from, e->key);
    bool match;

    if (seen == HF_NONE || other == HF_NONE)
        HF_BUG("an edge of a condition has no versions");
    match = satisfies(w, anti ? e->from_op : e->to_op, other);
    if (anti && !match) {
        add_between(w, e, seen, other, list);
        return false;
    }
    if (seen != other)
        hf_worlds_add_before(w, list, e->key, anti ? seen : other,
                             anti ? other : seen);
    if (!anti && !match)
        add_change(w, e, other, list);
    return match && !(is_strict(w->g->level) && !anti);
}

/* ---- all ----------------------------------------------------------------- */

static void add_entry(const hf_worlds *w, hf_txn_id t, hf_op_id op,
                      uint32_t index, hf_version_ref ref,
                      hf_worlds_sources *ret)
{
    const hf_graph *g = w->g;
    hf_key_id key = g->h->value_key[ref.value];
    hf_op_id own;
    uint32_t told;

    if (ref.writer != HF_NONE || !is_told(g, ref.value) ||
        hf_pred_own_write(g->h, t, op, key, &own))
        return;
    told = hf_pred_told(g, t, ref.value);
    if (told != HF_NONE)
        hf_vec_push(ret, (hf_source){op, index, g->ver_txn[told]});
}

void hf_worlds_add_entries(const hf_worlds *w, hf_op_id op,
                           hf_worlds_sources *ret)
{
    const hf_history *h = w->g->h;
    hf_predicate q = hf_op_predicate(h, op);
    hf_txn_id t = hf_op_txn(h, op);

    if (!w->happened[t] || (h->op_kind[op] & HF_OP_FAILED) ||
        q.snapshot != HF_SNAPSHOT_NONE)
        return; /* a snapshot tells by itself */
    for (uint32_t i = 0; i < q.n_versions; i++)
        add_entry(w, t, op, i, q.versions[i], ret);
    for (uint32_t i = 0; i < q.n_results; i++)
        add_entry(w, t, op, q.n_versions + i, q.results[i], ret);
}

bool hf_worlds_take_conditions(hf_worlds *w)
{
    hf_graph *g = w->g;
    size_t n = 0;

    if (w->n_uncertain > 0 || (!g->pred && !hf_pred_build(g)))
        return false;
    w->pred = g->pred;
    for (size_t i = 0; i < g->open.n; i++)
        if (!hf_op_has_predicate(hf_op_kind_of(g->h, g->open.at[i])))
            g->open.at[n++] = g->open.at[i];
    g->open.n = g->open_reads = n;
    return true;
}
