/* poly_search.c: the search over worlds, from its nodes to its answer.
 *
 * Nodes, known edges and choices are given to the solver (solver/order.h),
 * which asks about each order it comes to (poly_try.c).  Edges of those that
 * need not have happened are kept apart, and come when they do.  First it is
 * tried whether more holds than the level asks for, as with most databases;
 * then the level itself, for a while; then with the pairs that reachability
 * decides, from different orders in turn, until a world is right or none is
 * left.  There are finitely many.
 */
#include "check/poly_worlds.h"

#include <string.h>

#define GUESS_CONFLICTS 2000u
#define MOST_BYTES ((size_t)2 << 30) /* for reachability */
#define FEW 20u /* transactions for which no guess is worth it */

/* ---- what is known ------------------------------------------------------- */

static bool is_guarded(const hf_worlds *w, uint32_t node)
{
    return w->n_uncertain > 0 && node < w->p.nodes.times &&
           w->uncertain[node / 2];
}

static void add_known(void *user, uint32_t from, uint32_t to,
                      hf_event_label label)
{
    hf_worlds *w = user;

    (void)label;
    if (from / 2 == to / 2 && to < w->p.nodes.times)
        hf_order_known(w->p.order, from, to);
    else if (is_guarded(w, from) || is_guarded(w, to))
        hf_vec_push(&w->guarded, (hf_guarded){from, to});
    else
        hf_order_known(w->p.order, from, to);
}

/* Guarded edges by the transactions at their ends. */
static void list_guards(hf_worlds *w)
{
    uint32_t n = w->g->h->n_txns;

    w->guard_first = HF_NEW_ZEROED(uint32_t, (size_t)n + 3);
    w->guards = HF_NEW_ARRAY(uint32_t, 2 * w->guarded.n + 1);
    for (size_t i = 0; i < w->guarded.n; i++) {
        if (is_guarded(w, w->guarded.at[i].from))
            w->guard_first[w->guarded.at[i].from / 2 + 2]++;
        if (is_guarded(w, w->guarded.at[i].to))
            w->guard_first[w->guarded.at[i].to / 2 + 2]++;
    }
    for (uint32_t t = 0; t <= n; t++)
        w->guard_first[t + 1] += w->guard_first[t];
    for (size_t i = 0; i < w->guarded.n; i++) {
        hf_guarded x = w->guarded.at[i];

        if (is_guarded(w, x.from))
            w->guards[w->guard_first[x.from / 2 + 1]++] = (uint32_t)i;
        if (is_guarded(w, x.to))
            w->guards[w->guard_first[x.to / 2 + 1]++] = (uint32_t)i;
    }
}

/* ---- beginning and end --------------------------------------------------- */

/* Where only orders are open: an order that proves more. */
static hf_txn_id *stronger_order(hf_worlds *w)
{
    const hf_graph *g = w->g;
    hf_graph_report report = *w->report;

    if (g->open_reads > 0 || !g->reads_matter || g->own || g->predicates ||
        w->loose)
        return NULL;
    report.g = w->g;
    return hf_poly_stronger_order(&report, w->r);
}

/* All nodes, with the commits of `order` in that order. */
static uint32_t *hint_of(const hf_worlds *w, const hf_txn_id *order)
{
    uint32_t n_txns = w->g->h->n_txns, n_nodes = hf_poly_n_nodes(&w->p);
    uint32_t *hint = HF_NEW_ARRAY(uint32_t, (size_t)n_nodes + 1), n = 0;
    uint8_t *there = HF_NEW_ZEROED(uint8_t, (size_t)n_txns + 1);

    for (uint32_t i = 0; i < w->base->n_happened; i++) {
        hint[n++] = 2 * order[i];
        hint[n++] = 2 * order[i] + 1;
        there[order[i]] = 1;
    }
    for (hf_txn_id t = 0; t < n_txns; t++)
        if (!there[t]) {
            hint[n++] = 2 * t;
            hint[n++] = 2 * t + 1;
        }
    for (uint32_t i = w->p.nodes.times; i < n_nodes; i++)
        hint[n++] = i;
    hf_free(there);
    return hint;
}

static void add_forced(void *user, uint32_t from, uint32_t to)
{
    hf_worlds *w = user;

    hf_order_known(w->p.order, from, to);
}

/* From this order; it is given away. */
static void start_from(hf_worlds *w, uint32_t *hint)
{
    (void)hf_order_begin(w->p.order, hint);
    hf_free(hint);
}

/* The nodes, the known edges and the choices; from an order that is likely.
 * `ret_balance`: pairs that reachability decides are known, and it gets another
 * order to begin with. */
static void begin(hf_worlds *w, unsigned guess, uint32_t **ret_balance)
{
    hf_order_client client = hf_worlds_client(w);

    hf_poly_build(&w->p, w->g, 0, HF_WALK_PLAIN,
                  w->n_uncertain ? w->uncertain : NULL);
    hf_poly_make_events(&w->p, guess);
    if (ret_balance)
        (void)hf_poly_prune(&w->p, MOST_BYTES, ret_balance);
    w->p.order = hf_order_new(hf_poly_n_nodes(&w->p), &client);
    hf_poly_event_edges(&w->p, add_known, w);
    hf_poly_forced_edges(&w->p, add_forced, w);
    list_guards(w);
    start_from(w, w->guess ? hint_of(w, w->guess)
                           : hf_poly_hint(&w->p, hf_poly_has_times(w->g->h)
                                                     ? HF_HINT_END
                                                     : HF_HINT_FILE));
    hf_worlds_make_choices(w);
}

void hf_worlds_end(hf_worlds *w)
{
    hf_poly_release(&w->p);
    hf_vec_release(&w->guarded);
    hf_free(w->guard_first);
    hf_free(w->guards);
    w->p = (hf_poly){0};
    w->guarded.at = NULL;
    w->guarded.n = w->guarded.cap = 0;
    w->guard_first = w->guards = NULL;
}

/* ---- guesses ------------------------------------------------------------- */

/* More than the level asks for: only a world that is found says something. */
static bool try_guess(hf_worlds *w, unsigned guess)
{
    hf_order_answer answer;

    if (hf_graph_spent(w->g))
        return false;
    begin(w, guess, NULL);
    answer = hf_order_search(w->p.order, GUESS_CONFLICTS, 100, w->g->budget);
    w->conflicts += hf_order_conflicts(w->p.order);
    if (answer == HF_ORDER_FOUND && w->found) {
        hf_worlds_store_sources(w, w->source);
        return true;
    }
    hf_worlds_end(w);
    return false;
}

static bool has_sessions(const hf_history *h)
{
    for (hf_session_id s = 0; s < h->n_sessions; s++)
        if (h->session_first[s + 1] - h->session_first[s] > 1)
            return true;
    return false;
}

/* What databases mostly do. */
static bool try_guesses(hf_worlds *w)
{
    unsigned sessions = has_sessions(w->g->h) ? HF_GUESS_SESSIONS : 0;
    bool split = false, weak = false;

    for (hf_txn_id t = 0; t < w->g->h->n_txns; t++) {
        const hf_level_info *l = w->g->own ? w->g->own[t] : w->g->level;
        bool snapshot = l->shape == HF_SHAPE_SNAPSHOT;
        bool serial = l->shape == HF_SHAPE_SERIAL || l->shape == HF_SHAPE_ITEM;

        split |= snapshot || (l->axiom & HF_AXIOM_PREFIX) != 0;
        weak |= !snapshot && !serial && l->shape != HF_SHAPE_WW;
    }
    if ((split || weak) &&
        ((sessions && try_guess(w, HF_GUESS_SERIAL | sessions)) ||
         try_guess(w, HF_GUESS_SERIAL)))
        return true;
    if (weak && (try_guess(w, HF_GUESS_SNAPSHOT) ||
                 (sessions && try_guess(w, HF_GUESS_SNAPSHOT | sessions))))
        return true;
    return sessions && try_guess(w, sessions);
}

/* ---- the search ---------------------------------------------------------- */

/* With pairs that reachability decides, from different orders in turn, until
 * there is an answer. */
static hf_order_answer search_pruned(hf_worlds *w)
{
    static const uint32_t units[] = {100, 20, 5};
    uint64_t conflicts = GUESS_CONFLICTS;
    uint32_t *balance = NULL;
    size_t size;
    hf_order_answer answer = HF_ORDER_LIMIT;

    begin(w, 0, &balance);
    size = hf_poly_n_nodes(&w->p) * sizeof(uint32_t);
    for (uint32_t i = 0; answer == HF_ORDER_LIMIT && !hf_graph_spent(w->g);
         i++) {
        if (i % 3 == 1 && balance) {
            uint32_t *hint = hf_alloc_large(size + 1);

            memcpy(hint, balance, size);
            start_from(w, hint);
        }
        w->p.random = i % 3 == 2;
        answer =
            hf_order_search(w->p.order, conflicts, units[i % 3], w->g->budget);
        if (i % 3 == 2)
            conflicts *= 2;
    }
    hf_free(balance);
    return answer;
}

void hf_worlds_search(hf_worlds *w)
{
    const hf_history *h = w->g->h;
    hf_order_answer answer;

    w->happened = HF_NEW_ZEROED(uint8_t, (size_t)h->n_txns + 1);
    w->source = HF_NEW_ZEROED(uint32_t, (size_t)h->n_ops + 1);
    w->order = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);
    w->place = HF_NEW_ARRAY(uint32_t, (size_t)h->n_txns + 1);
    w->g->world.entries = &w->entries;
    if (!w->guess)
        w->guess = stronger_order(w);
    if (h->n_txns > FEW && try_guesses(w))
        return;
    begin(w, 0, NULL);
    answer = hf_order_search(w->p.order, GUESS_CONFLICTS, 100, w->g->budget);
    if (answer == HF_ORDER_LIMIT && !hf_graph_spent(w->g)) {
        w->conflicts += hf_order_conflicts(w->p.order);
        hf_worlds_end(w);
        answer = search_pruned(w);
    }
    hf_worlds_deliver(w, answer);
}
