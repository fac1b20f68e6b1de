/* poly_try.c: the order at hand as a world, tried.
 *
 * The order of nodes is a guess at a world: the order of open versions is that
 * of their writers, each read with several possible sources has one, and of
 * those of unknown outcome some happened.  Edges come with the choices, as in
 * the search over orders alone (poly_look.c).
 *
 * When the order keeps everything, the graph engine judges that world: for
 * levels that are an order of events it agrees; of the others each cycle it
 * finds says that not everything it rests on can be so, a clause.  Lists, sums
 * and what the user assumes are asked before.
 *
 * A source costs its edges; a judgement, the whole history.
 */
#include "check/poly_worlds.h"

#include <string.h>

#include "base/error.h"
#include "check/graph_engine.h"

/* ---- the world at hand --------------------------------------------------- */

/* The source that the order suggests: the newest before the reader, else the
 * oldest. */
static hf_lit suggest(const hf_poly *p, const hf_poly_choice *c)
{
    const uint32_t *place = hf_order_place(p->order);
    uint32_t at = place[hf_poly_start(p, c->reader)], best = HF_NONE,
             best_place = 0;
    bool best_before = false;

    for (uint32_t i = 0; i < c->n; i++) {
        hf_poly_candidate x = p->candidates.at[c->first + i];
        uint32_t its =
            x.writer == HF_NONE ? 0 : place[hf_poly_commit(p, x.writer)] + 1;
        bool before = its <= at;

        if (hf_order_value(p->order, 2 * x.var) == 0)
            continue;
        if (best == HF_NONE || (before && (!best_before || its > best_place)) ||
            (!before && !best_before && its < best_place)) {
            best = x.var;
            best_place = its;
            best_before = before;
        }
    }
    if (best == HF_NONE)
        HF_BUG("a read without a source left was not a conflict");
    return 2 * best;
}

/* For a read that the order breaks. */
static bool choose_source(hf_worlds *w, bool all, hf_lit *ret)
{
    uint32_t choice = hf_poly_next_broken(&w->p, all);

    if (choice == HF_NONE)
        return false;
    *ret = suggest(&w->p, &w->p.choices.at[choice]);
    return true;
}

static uint32_t set_world(hf_worlds *w)
{
    const hf_poly *p = &w->p;
    const hf_history *h = w->g->h;
    const uint32_t *place = hf_order_place(p->order);
    uint32_t n_nodes = hf_poly_n_nodes(p), n = 0;
    uint32_t *at = HF_NEW_ARRAY(uint32_t, (size_t)n_nodes + 1);

    for (uint32_t i = 0; i < n_nodes; i++)
        at[place[i]] = i;
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        w->happened[t] = w->all[t] && hf_poly_happens(p, t);
    memset(w->place, 0xff, (size_t)h->n_txns * sizeof(*w->place));
    for (uint32_t i = 0; i < n_nodes; i++) {
        hf_txn_id t = at[i] / 2;

        if (at[i] >= p->nodes.times || !w->happened[t])
            continue;
        if (at[i] & 1u) {
            w->place[t] = n;
            w->order[n++] = t;
        }
    }
    hf_free(at);
    memcpy(w->source, w->fixed, h->n_ops * sizeof(*w->source));
    for (size_t i = 0; i < w->g->open.n && p->choices.n > 0; i++) {
        hf_op_id op = w->g->open.at[i];
        const hf_poly_choice *c = &p->choices.at[p->choice_of[op]];
        uint32_t taken;
        hf_txn_id from;

        if (!w->happened[c->reader])
            continue;
        taken = hf_poly_taken(p, p->choice_of[op]);
        if (taken == HF_NONE)
            taken = hf_poly_told(p, p->choice_of[op]);
        from = p->candidates.at[c->first + taken].writer;
        w->source[op] = from == HF_NONE ? HF_CHOSEN_INITIAL : HF_CHOSEN(from);
    }
    hf_worlds_set_entries(w);
    return n;
}

/* ---- the client ---------------------------------------------------------- */

/* Judges the world at hand.  DONE: it is right, or nothing can be said. */
static hf_order_next judge(hf_worlds *w, hf_lit *ret_lit)
{
    hf_graph_findings cycles = {0};
    hf_graph_world world = {.happened = w->happened,
                            .source = w->source,
                            .entries = &w->entries,
                            .loose = w->loose,
                            .counted = w->counts.n > 0,
                            .key_use = w->g->key_use};
    uint32_t n = set_world(w);
    hf_order_next next = HF_ORDER_AGAIN;

    if (w->lists.n > 0 && !hf_worlds_take_lists(w, ret_lit))
        return *ret_lit == HF_LIT_NONE ? HF_ORDER_AGAIN : HF_ORDER_DECIDE;
    if (w->counts.n > 0 && !hf_worlds_take_counts(w, ret_lit))
        return *ret_lit == HF_LIT_NONE ? HF_ORDER_AGAIN : HF_ORDER_DECIDE;
    if (w->promised && !hf_worlds_keeps_promises(w, ret_lit))
        return *ret_lit == HF_LIT_NONE ? HF_ORDER_AGAIN : HF_ORDER_DECIDE;
    w->found =
        w->g->own
            ? hf_poly_judge_mixed(&w->p, &world, w->order, n, w->r, &cycles)
            : hf_graph_judge_world(w->g, &world, w->order, n, w->r, &cycles);
    w->n_judged++;
    hf_budget_progress(w->g->budget, "worlds", w->n_judged, 0);
    w->stuck = !w->found && cycles.n == 0;
    if (w->found || w->stuck)
        next = HF_ORDER_DONE;
    for (size_t i = 0; i < cycles.n && next == HF_ORDER_AGAIN; i++) {
        hf_lit torn = hf_worlds_forbid_cycle(w, &cycles.at[i].witness);

        if (torn != HF_LIT_NONE && hf_order_value(w->p.order, torn) < 0) {
            *ret_lit = torn;
            next = HF_ORDER_DECIDE;
        }
    }
    hf_vec_release(&cycles);
    return next;
}

/* Keys are put in order first, then sources are chosen by that order, one by
 * one; in the end the world is judged. */
static hf_order_next look(void *user, hf_order *o, hf_lit *ret_lit)
{
    hf_worlds *w = user;
    hf_order_next next = hf_poly_look_at_keys(&w->p, ret_lit);

    (void)o;
    if (next != HF_ORDER_DONE)
        return next;
    if (choose_source(w, false, ret_lit) || choose_source(w, true, ret_lit))
        return HF_ORDER_DECIDE;
    *ret_lit = hf_worlds_turn_broken(&w->p);
    if (*ret_lit != HF_LIT_NONE)
        return HF_ORDER_DECIDE;
    return judge(w, ret_lit);
}

/* Pairs that were chosen before t happened have their edges now.  O(variables),
 * for each of unknown outcome that happens. */
static void link_pairs(hf_poly *p, hf_txn_id t)
{
    for (uint32_t i = 0; i < p->vars.n; i++) {
        hf_poly_var v = p->vars.at[i];
        int value;

        if (v.kind != HF_POLY_PAIR ||
            (p->g->ver_txn[v.a] != t && p->g->ver_txn[v.b] != t &&
             p->g->ver_txn[p->tail[v.a]] != t &&
             p->g->ver_txn[p->tail[v.b]] != t))
            continue;
        value = hf_order_value(p->order, 2 * i);
        if (value >= 0)
            (void)hf_poly_link(p, 2 * i + (value == 0), true);
    }
}

/* Somebody happened after all. */
static void take_happened(hf_worlds *w, hf_txn_id t, hf_lit lit)
{
    hf_poly *p = &w->p;

    for (uint32_t i = p->choice_first[t]; i < p->choice_first[t + 1]; i++)
        hf_poly_mark_stale(p, i);
    for (uint32_t i = w->guard_first[t]; i < w->guard_first[t + 1]; i++) {
        hf_guarded x = w->guarded.at[w->guards[i]];
        hf_lit why[3];

        if (!hf_poly_add_edge(p, x.from, x.to, lit, why, 0))
            return;
    }
    if (hf_poly_link_happened(p, t))
        link_pairs(p, t);
}

static void taken(void *user, hf_order *o, hf_lit lit)
{
    hf_worlds *w = user;
    hf_poly_var v = w->p.vars.at[HF_LIT_VAR(lit)];

    if (v.kind == HF_POLY_PAIR)
        hf_poly_take_pair(&w->p, o, lit);
    else if (lit & 1u)
        return;
    else if (v.kind == HF_POLY_HAPPENED)
        take_happened(w, v.a, lit);
    else if (!w->p.choices.at[v.a].entry)
        hf_poly_take_source(&w->p, lit);
}

static void undone(void *user, hf_order *o, hf_lit lit)
{
    hf_worlds *w = user;
    hf_poly_var v = w->p.vars.at[HF_LIT_VAR(lit)];

    (void)o;
    if (v.kind != HF_POLY_FROM || (lit & 1u))
        return;
    if (!w->p.choices.at[v.a].entry)
        hf_poly_drop_source(&w->p, lit);
    hf_poly_mark_stale(&w->p, v.a);
}

static void moved(void *user, uint32_t node)
{
    hf_worlds *w = user;

    hf_poly_moved(&w->p, node);
}

hf_order_client hf_worlds_client(hf_worlds *w)
{
    return (hf_order_client){.user = w,
                             .look = look,
                             .taken = taken,
                             .undone = undone,
                             .moved = moved};
}
