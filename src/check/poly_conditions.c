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
 * Where visibility counts, pwr from a that satisfies it is the fourth as well,
 * with the kinds turned.  One of unknown outcome that did not happen in this
 * world is excused by that.
 *
 * In a proof (verify/proof_steps.c) the second is the first to that version in
 * between, and ww from there; the last two name the order of the versions that
 * they rest on.
 *
 * Cost: the entries of the version set, and for the last kind the versions of
 * the key, for each edge of a cycle.
 */
#include "check/poly_worlds.h"

#include <string.h>

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

/* What the world takes the entry for, if that is a choice. */
static void add_entry_choice(hf_worlds *w, hf_op_id op, hf_key_id key,
                             hf_lit_list *list, uint32_t *ret_chosen)
{
    const hf_poly *p = &w->p;
    uint64_t name = (uint64_t)op << 32 | key;
    uint32_t choice = hf_map_get(&p->entry_of, name);
    uint32_t told = hf_map_get(&w->entries, name);
    hf_txn_id writer = told - 1; /* 0: HF_NONE */

    if (choice == UINT32_MAX)
        return;
    for (uint32_t i = 0; i < p->choices.at[choice].n; i++) {
        const hf_poly_candidate *x =
            &p->candidates.at[p->choices.at[choice].first + i];

        if (x->writer == writer)
            hf_worlds_add_lit(list, 2 * x->var);
    }
    *ret_chosen = told == 0 ? HF_CHOSEN_INITIAL : told;
}

uint32_t hf_worlds_version_seen(hf_worlds *w, hf_op_id op, hf_key_id key,
                                hf_lit_list *list, uint32_t *ret_chosen)
{
    hf_pred *p = w->pred;
    const hf_pred_op *o = find_op(p, op);
    const hf_version_ref *row;

    add_entry_choice(w, op, key, list, ret_chosen);
    if (hf_pred_entries_of(p, o, true, &p->entries))
        for (size_t i = 0; i < p->entries.n; i++)
            if (p->entries.at[i].key == key)
                return p->entries.at[i].ver;
    if (!hf_pred_sort_rows(p, &o->q))
        return HF_NONE;
    row = hf_pred_row_of(p, key);
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

/* A version that satisfies the condition, between two that do not; HF_NONE:
 * there is none. */
static uint32_t between(const hf_worlds *w, const hf_edge *e, uint32_t a,
                        uint32_t b)
{
    const hf_graph *g = w->g;

    for (uint32_t v = g->ver_first[e->key] + 1; v < g->ver_end[e->key]; v++) {
        uint32_t its = place_of(w, v);

        if (its != HF_NONE && its > place_of(w, a) && its < place_of(w, b) &&
            satisfies(w, e->from_op, v))
            return v;
    }
    return HF_NONE;
}

static hf_edge ww_edge(const hf_graph *g, hf_key_id key, uint32_t a, uint32_t b)
{
    return (hf_edge){HF_EDGE_WW, g->ver_txn[a], g->ver_txn[b],
                     key,        g->ver_op[a],  g->ver_op[b]};
}

/* The cycle comes to the writer at place i once more: the way from there, by a
 * ww edge, back to it is a cycle that is forbidden as well. */
static void cut_at(hf_worlds_edges *c, size_t i)
{
    hf_worlds_edges part = {0};
    hf_txn_id t = c->at[i].from;

    for (size_t k = 0; k < c->n; k++) {
        hf_edge e = c->at[(i + k) % c->n];

        if (k > 0 && e.from == t)
            break;
        hf_vec_push(&part, e);
    }
    hf_vec_release(c);
    *c = part;
}

/* The anti-dependency at place i, to a version that does not satisfy the
 * condition: to one in between that does, and on from there. */
static void split(hf_worlds *w, hf_worlds_edges *c, size_t i)
{
    const hf_graph *g = w->g;
    hf_edge e = c->at[i], more;
    hf_lit_list none = {0};
    uint32_t chosen, v;
    uint32_t seen = hf_worlds_version_seen(w, e.from_op, e.key, &none, &chosen);
    uint32_t other = hf_graph_version_of(g, e.to, e.key);

    hf_vec_release(&none);
    v = seen == HF_NONE ? HF_NONE : between(w, &e, seen, other);
    if (v == HF_NONE)
        HF_BUG("nobody changed the matches");
    more = ww_edge(g, e.key, v, other);
    if (g->ver_txn[v] == e.from) {
        c->at[i] = more;
        return;
    }
    c->at[i].to = g->ver_txn[v];
    c->at[i].to_op = g->ver_op[v];
    hf_vec_push(c, more);
    memmove(c->at + i + 2, c->at + i + 1, (c->n - i - 2) * sizeof(*c->at));
    c->at[i + 1] = more;
    for (size_t k = 0; k < c->n; k++)
        if (k != i + 1 && c->at[k].from == more.from) {
            cut_at(c, i + 1);
            return;
        }
}

void hf_worlds_tell_edges(hf_worlds *w, const hf_witness *cycle,
                          hf_worlds_edges *ret)
{
    size_t i = 0;

    for (uint32_t k = 0; k < cycle->n_edges; k++)
        hf_vec_push(ret, cycle->edges[k]);
    while (i < ret->n) {
        const hf_edge *e = &ret->at[i];

        if (e->kind == HF_EDGE_PRW &&
            !satisfies(w, e->from_op,
                       hf_graph_version_of(w->g, e->to, e->key))) {
            split(w, ret, i);
            i = 0;
        } else {
            i++;
        }
    }
}

static void add_writer(hf_worlds *w, uint32_t ver, hf_lit_list *list)
{
    hf_txn_id t = w->g->ver_txn[ver];

    if (t != HF_NONE)
        hf_worlds_add_lit(list, hf_poly_happened(&w->p, t));
}

/* Version a is before b; the proof says it. */
static void add_order(hf_worlds *w, hf_key_id key, uint32_t a, uint32_t b,
                      hf_lit_list *list, hf_worlds_edges *orders)
{
    hf_worlds_add_before(w, list, key, a, b);
    if (w->g->ver_txn[a] != HF_NONE)
        hf_vec_push(orders, ww_edge(w->g, key, a, b));
}

/* Can nobody say whether the version satisfies the condition? */
static bool is_odd(const hf_worlds *w, hf_op_id op, uint32_t ver)
{
    const hf_pred *p = w->pred;

    return hf_pred_has(&p->conditions.at[find_op(p, op)->condition].odd, ver);
}

/* Version a changes the matches: the one before it is of the other kind.
 * Nobody else of a's kind is between the two. */
static void add_change(hf_worlds *w, const hf_edge *e, uint32_t a,
                       hf_lit_list *list, hf_worlds_edges *orders)
{
    const hf_graph *g = w->g;
    uint32_t before = just_before(w, e->key, a);
    bool match = satisfies(w, e->to_op, a);

    add_writer(w, before, list);
    add_order(w, e->key, before, a, list, orders);
    for (uint32_t v = g->ver_first[e->key] + 1; v < g->ver_end[e->key]; v++) {
        if (v == a || v == before ||
            (satisfies(w, e->to_op, v) != match && !is_odd(w, e->to_op, v)))
            continue;
        if (place_of(w, v) == HF_NONE)
            hf_worlds_add_lit(
                list, HF_LIT_NOT(hf_poly_happened(&w->p, g->ver_txn[v])));
        else if (place_of(w, v) < place_of(w, a))
            add_order(w, e->key, v, before, list, orders);
        else
            add_order(w, e->key, a, v, list, orders);
    }
}

/* Where it counts what is visible to a reader, who changes the matches has to
 * be said exactly. */
bool hf_worlds_is_strict(const hf_worlds *w, const hf_edge *edges, uint32_t n)
{
    const hf_graph *g = w->g;

    for (uint32_t i = 0; i < n; i++) {
        const hf_level_info *l = g->own ? g->own[edges[i].from] : g->level;

        if ((edges[i].kind == HF_EDGE_RW || edges[i].kind == HF_EDGE_PRW) &&
            (l->shape == HF_SHAPE_AXIOM || l->shape == HF_SHAPE_OTV))
            return true;
    }
    return false;
}

bool hf_worlds_lits_of_condition(hf_worlds *w, const hf_edge *e, bool strict,
                                 hf_lit_list *list, hf_worlds_edges *orders,
                                 uint32_t *ret_chosen)
{
    bool anti = e->kind == HF_EDGE_PRW;
    uint32_t seen = hf_worlds_version_seen(w, anti ? e->from_op : e->to_op,
                                           e->key, list, ret_chosen);
    uint32_t other = hf_graph_version_of(w->g, anti ? e->to : e->from, e->key);
    bool match;

    if (seen == HF_NONE || other == HF_NONE)
        HF_BUG("an edge of a condition has no versions");
    match = satisfies(w, anti ? e->from_op : e->to_op, other);
    if (seen != other)
        hf_worlds_add_before(w, list, e->key, anti ? seen : other,
                             anti ? other : seen);
    if (!anti && (!match || strict))
        add_change(w, e, other, list, orders);
    return !hf_pred_is_odd(
        w->pred,
        &w->pred->conditions
             .at[find_op(w->pred, anti ? e->from_op : e->to_op)->condition],
        e->key);
}

/* ---- all ----------------------------------------------------------------- */

hf_finding hf_poly_conflict(const hf_pred *p, hf_arena *arena)
{
    const hf_pred_seen *c = &p->conflicts.at[0];
    hf_finding f = {.anomaly = HF_NO_ORDER,
                    .witness = {.kind = HF_WITNESS_OPERATIONS, .n_ops = 1}};

    f.witness.ops = hf_arena_get(arena, 2 * sizeof(hf_op_id));
    f.witness.ops[0] = c->op;
    f.witness.ops[1] = c->condition;
    if (hf_pred_can_tell(p, c))
        f.witness.n_ops = 2;
    return f;
}

static void add_entry(const hf_worlds *w, hf_op_id op, uint32_t index,
                      hf_version_ref ref, hf_worlds_sources *ret)
{
    hf_key_id key = w->g->h->value_key[ref.value];
    uint32_t told = hf_map_get(&w->entries, (uint64_t)op << 32 | key);

    if (ref.writer == HF_NONE && told != UINT32_MAX)
        hf_vec_push(ret, (hf_source){op, index, told - 1}); /* 0: HF_NONE */
}

/* Behind the rows: by key. */
static void add_unlisted(const hf_worlds *w, hf_op_id op, const hf_predicate *q,
                         hf_key_id key, hf_worlds_sources *ret)
{
    uint32_t told = hf_map_get(&w->entries, (uint64_t)op << 32 | key);

    for (uint32_t i = 0; i < q->n_results; i++)
        if (w->g->h->value_key[q->results[i].value] == key)
            return;
    if (told != UINT32_MAX)
        hf_vec_push(ret, (hf_source){op, q->n_versions + q->n_results + key,
                                     told - 1}); /* 0: HF_NONE */
}

void hf_worlds_add_entries(const hf_worlds *w, hf_op_id op,
                           hf_worlds_sources *ret)
{
    const hf_history *h = w->g->h;
    hf_predicate q = hf_op_predicate(h, op);
    hf_txn_id t = hf_op_txn(h, op);
    bool unlisted;

    if (!w->happened[t] || (h->op_kind[op] & HF_OP_FAILED))
        return;
    unlisted = find_op(w->pred, op)->unlisted;
    if (q.snapshot != HF_SNAPSHOT_NONE && !unlisted)
        return; /* a snapshot tells by itself */
    for (uint32_t i = 0; i < q.n_versions; i++)
        add_entry(w, op, i, q.versions[i], ret);
    for (uint32_t i = 0; i < q.n_results; i++)
        add_entry(w, op, q.n_versions + i, q.results[i], ret);
    for (hf_key_id key = 0; unlisted && key < h->n_keys; key++)
        add_unlisted(w, op, &q, key, ret);
}

bool hf_worlds_take_conditions(hf_worlds *w)
{
    hf_graph *g = w->g;
    size_t n = 0;

    if (!g->pred && !hf_pred_build(g))
        return false;
    w->pred = g->pred;
    for (size_t i = 0; i < g->open.n; i++)
        if (!hf_op_has_predicate(hf_op_kind_of(g->h, g->open.at[i])))
            g->open.at[n++] = g->open.at[i];
    g->open.n = g->open_reads = n;
    return true;
}
