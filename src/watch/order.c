/* order.c: see order.h.
 *
 * Pearce and Kelly's algorithm on nodes that come and go: an edge against the
 * order moves what is reachable from its end, up to the place of its begin,
 * behind what leads to its begin.  Bounds travel along edges by a work list,
 * and are taken back by a trail if they cross somewhere.
 *
 * What may be forgotten (hf_watch_order_forget): nodes whose interval ends
 * before the horizon, where every node still to come begins.  Such a node x
 * gets no new edge, for an edge to a later node shows in the intervals.  A
 * node a -> x ends no later than x does, so it is forgotten too: no path
 * leads from a node that stays through x.  And the bounds that x has passed
 * on stay where they are.
 *
 * Cost: an edge that agrees with the order O(1); else the nodes between.
 */
#include "watch/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define NONE UINT32_MAX

void hf_watch_order_init(hf_watch_order *g)
{
    *g = (hf_watch_order){.low = NONE, .high = NONE};
    hf_map_init(&g->by_name);
}

void hf_watch_order_release(hf_watch_order *g)
{
    hf_vec_release(&g->nodes);
    hf_vec_release(&g->edges);
    hf_vec_release(&g->stack);
    hf_vec_release(&g->ahead);
    hf_vec_release(&g->behind);
    hf_vec_release(&g->sorted);
    hf_vec_release(&g->free_places);
    hf_vec_release(&g->path);
    hf_vec_release(&g->trail);
    hf_map_release(&g->by_name);
}

uint32_t hf_watch_order_look(const hf_watch_order *g, uint64_t name)
{
    return hf_map_get(&g->by_name, name);
}

uint32_t hf_watch_order_node(hf_watch_order *g, uint64_t name, uint64_t lo,
                             uint64_t hi)
{
    uint32_t at = (uint32_t)g->nodes.n;

    HF_ASSERT(hf_map_get(&g->by_name, name) == NONE);
    hf_vec_push(&g->nodes, (hf_order_node){.name = name,
                                           .lo = lo,
                                           .hi = hi,
                                           .lo_by = NONE,
                                           .hi_by = NONE,
                                           .out = NONE,
                                           .in = NONE,
                                           .place = g->next_place++,
                                           .via = NONE});
    hf_map_set(&g->by_name, name, at);
    return at;
}

/* ---- bounds -------------------------------------------------------------- */

static void remember(hf_watch_order *g, uint32_t node)
{
    const hf_order_node *x = &g->nodes.at[node];

    hf_vec_push(&g->trail,
                (hf_order_trail){node, x->lo_by, x->hi_by, x->lo, x->hi});
    hf_vec_push(&g->stack, node);
}

/* The chain that sets x's least time, oldest edge first, then the one that
 * sets its greatest. */
static void tell_bounds(hf_watch_order *g, uint32_t x)
{
    uint32_t at = x;
    size_t n;

    g->path.n = 0;
    while (g->nodes.at[at].lo_by != NONE && g->path.n < g->nodes.n) {
        hf_vec_push(&g->path, g->nodes.at[at].lo_by);
        at = g->edges.at[g->nodes.at[at].lo_by].from;
    }
    g->low = at;
    n = g->path.n;
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t other = g->path.at[i];

        g->path.at[i] = g->path.at[n - 1 - i];
        g->path.at[n - 1 - i] = other;
    }
    at = x;
    while (g->nodes.at[at].hi_by != NONE && g->path.n < n + g->nodes.n) {
        hf_vec_push(&g->path, g->nodes.at[at].hi_by);
        at = g->edges.at[g->nodes.at[at].hi_by].to;
    }
    g->high = at;
}

static void take_back(hf_watch_order *g)
{
    while (g->trail.n > 0) {
        hf_order_trail t = g->trail.at[--g->trail.n];
        hf_order_node *x = &g->nodes.at[t.node];

        x->lo = t.lo;
        x->hi = t.hi;
        x->lo_by = t.lo_by;
        x->hi_by = t.hi_by;
    }
}

static void raise(hf_watch_order *g, uint32_t node, uint64_t lo, uint32_t by)
{
    if (g->nodes.at[node].lo >= lo)
        return;
    remember(g, node);
    g->nodes.at[node].lo = lo;
    g->nodes.at[node].lo_by = by;
}

static void lower(hf_watch_order *g, uint32_t node, uint64_t hi, uint32_t by)
{
    if (g->nodes.at[node].hi <= hi)
        return;
    remember(g, node);
    g->nodes.at[node].hi = hi;
    g->nodes.at[node].hi_by = by;
}

/* Passes on what is on the work list. */
static bool pass_on(hf_watch_order *g)
{
    while (g->stack.n > 0) {
        uint32_t x = g->stack.at[--g->stack.n];
        const hf_order_node *at = &g->nodes.at[x];

        if (at->lo > at->hi) {
            tell_bounds(g, x);
            take_back(g);
            return false;
        }
        for (uint32_t e = at->out; e != NONE; e = g->edges.at[e].next_out)
            raise(g, g->edges.at[e].to, g->nodes.at[x].lo, e);
        for (uint32_t e = g->nodes.at[x].in; e != NONE;
             e = g->edges.at[e].next_in)
            lower(g, g->edges.at[e].from, g->nodes.at[x].hi, e);
    }
    g->trail.n = 0;
    return true;
}

bool hf_watch_order_bound(hf_watch_order *g, uint32_t node, uint64_t lo,
                          uint64_t hi)
{
    g->stack.n = g->trail.n = 0;
    raise(g, node, lo, NONE);
    lower(g, node, hi, NONE);
    return pass_on(g);
}

/* ---- order --------------------------------------------------------------- */

static bool meet(hf_watch_order *g, uint32_t node, uint32_t via)
{
    if (g->nodes.at[node].mark == g->round)
        return false;
    g->nodes.at[node].mark = g->round;
    g->nodes.at[node].via = via;
    hf_vec_push(&g->stack, node);
    return true;
}

static void next_round(hf_watch_order *g)
{
    g->stack.n = 0;
    if (++g->round != 0)
        return;
    for (size_t i = 0; i < g->nodes.n; i++)
        g->nodes.at[i].mark = 0;
    g->round = 1;
}

/* What is reachable from `start` up to the place of `goal`; false: goal is. */
static bool look_ahead(hf_watch_order *g, uint32_t start, uint32_t goal)
{
    uint32_t last = g->nodes.at[goal].place;

    next_round(g);
    g->ahead.n = 0;
    (void)meet(g, start, NONE);
    while (g->stack.n > 0) {
        uint32_t x = g->stack.at[--g->stack.n];

        if (x == goal)
            return false;
        hf_vec_push(&g->ahead, x);
        for (uint32_t e = g->nodes.at[x].out; e != NONE;
             e = g->edges.at[e].next_out)
            if (g->nodes.at[g->edges.at[e].to].place <= last)
                (void)meet(g, g->edges.at[e].to, e);
    }
    return true;
}

static void look_behind(hf_watch_order *g, uint32_t start, uint32_t first)
{
    next_round(g);
    g->behind.n = 0;
    (void)meet(g, start, NONE);
    while (g->stack.n > 0) {
        uint32_t x = g->stack.at[--g->stack.n];

        hf_vec_push(&g->behind, x);
        for (uint32_t e = g->nodes.at[x].in; e != NONE;
             e = g->edges.at[e].next_in)
            if (g->nodes.at[g->edges.at[e].from].place >= first)
                (void)meet(g, g->edges.at[e].from, e);
    }
}

/* Sorts nodes by place, in a list of (place, node). */
static void by_place(hf_watch_order *g, const uint32_t *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hf_vec_push(&g->sorted,
                    (hf_sortable){g->nodes.at[nodes[i]].place, nodes[i]});
    hf_sort(g->sorted.at + g->sorted.n - n, n);
}

static void rearrange(hf_watch_order *g)
{
    size_t n = g->behind.n + g->ahead.n;

    g->sorted.n = 0;
    by_place(g, g->behind.at, g->behind.n);
    by_place(g, g->ahead.at, g->ahead.n);
    g->free_places.n = 0;
    for (size_t i = 0; i < n; i++)
        hf_vec_push(&g->free_places, (hf_sortable){g->sorted.at[i].key, 0});
    hf_sort(g->free_places.at, n);
    for (size_t i = 0; i < n; i++)
        g->nodes.at[g->sorted.at[i].value].place =
            (uint32_t)g->free_places.at[i].key;
}

/* The edges by which the search came from `start` to `goal`. */
static void tell_cycle(hf_watch_order *g, uint32_t start, uint32_t goal)
{
    size_t n;

    g->low = g->high = NONE;
    g->path.n = 0;
    for (uint32_t x = goal; x != start;
         x = g->edges.at[g->nodes.at[x].via].from)
        hf_vec_push(&g->path, g->nodes.at[x].via);
    n = g->path.n;
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t other = g->path.at[i];

        g->path.at[i] = g->path.at[n - 1 - i];
        g->path.at[n - 1 - i] = other;
    }
}

/* Among the newest few: a copy would be right, and only cost room. */
static bool has_edge(const hf_watch_order *g, uint32_t from, uint32_t to)
{
    uint32_t e = g->nodes.at[from].out;

    for (unsigned i = 0; i < 8 && e != NONE; i++) {
        if (g->edges.at[e].to == to)
            return true;
        e = g->edges.at[e].next_out;
    }
    return false;
}

static void unlink_newest(hf_watch_order *g)
{
    const hf_order_edge *e = &g->edges.at[g->edges.n - 1];

    g->nodes.at[e->from].out = e->next_out;
    g->nodes.at[e->to].in = e->next_in;
    g->nodes.at[e->to].n_in--;
    /* path may still name it: its contents stay until the next one comes */
    g->edges.n--;
}

bool hf_watch_order_add(hf_watch_order *g, hf_order_edge e, bool with_bounds)
{
    uint32_t at = (uint32_t)g->edges.n;
    hf_order_node *from = &g->nodes.at[e.from], *to = &g->nodes.at[e.to];

    HF_ASSERT(e.from != e.to);
    if (has_edge(g, e.from, e.to))
        return true;
    if (from->place > to->place) {
        if (!look_ahead(g, e.to, e.from)) {
            tell_cycle(g, e.to, e.from);
            hf_vec_push(&g->edges, e);
            hf_vec_push(&g->path, at);
            g->edges.n--;
            return false;
        }
        look_behind(g, e.from, to->place);
        rearrange(g);
    }
    e.next_out = from->out;
    e.next_in = to->in;
    hf_vec_push(&g->edges, e);
    from->out = to->in = at;
    to->n_in++;
    if (!with_bounds)
        return true;
    g->stack.n = g->trail.n = 0;
    raise(g, e.to, from->lo, at);
    lower(g, e.from, to->hi, at);
    if (pass_on(g))
        return true;
    unlink_newest(g);
    return false;
}

/* ---- forgetting ---------------------------------------------------------- */

/* Nodes with via == NONE stay; the others and their edges go. */
static void compact(hf_watch_order *g)
{
    uint32_t n = 0, m = 0;
    uint32_t *moved = HF_NEW_ARRAY(uint32_t, g->edges.n + 1);

    for (uint32_t e = 0; e < g->edges.n; e++) {
        hf_order_edge *x = &g->edges.at[e];
        bool stays =
            g->nodes.at[x->from].via == NONE && g->nodes.at[x->to].via == NONE;

        moved[e] = stays ? m++ : NONE;
    }
    /* new numbers of nodes, in `mark` */
    for (uint32_t v = 0; v < g->nodes.n; v++)
        g->nodes.at[v].mark = g->nodes.at[v].via == NONE ? n++ : NONE;
    for (uint32_t e = 0; e < g->edges.n; e++) {
        hf_order_edge x = g->edges.at[e];

        if (moved[e] == NONE)
            continue;
        x.from = g->nodes.at[x.from].mark;
        x.to = g->nodes.at[x.to].mark;
        g->edges.at[moved[e]] = x;
    }
    g->edges.n = m;
    g->sorted.n = 0;
    hf_map_release(&g->by_name);
    hf_map_init(&g->by_name);
    for (uint32_t v = 0, to; v < g->nodes.n; v++) {
        hf_order_node x = g->nodes.at[v];

        if (x.via != NONE)
            continue;
        to = x.mark;
        x.lo_by = x.lo_by == NONE ? NONE : moved[x.lo_by];
        x.hi_by = x.hi_by == NONE ? NONE : moved[x.hi_by];
        x.out = x.in = NONE;
        x.n_in = 0;
        x.mark = 0;
        g->nodes.at[to] = x;
        hf_vec_push(&g->sorted, (hf_sortable){x.place, to});
        hf_map_set(&g->by_name, x.name, to);
    }
    g->nodes.n = n;
    g->round = 0;
    hf_sort(g->sorted.at, n);
    for (uint32_t i = 0; i < n; i++)
        g->nodes.at[g->sorted.at[i].value].place = i;
    g->next_place = n;
    for (uint32_t e = 0; e < m; e++) {
        hf_order_edge *x = &g->edges.at[e];

        x->next_out = g->nodes.at[x->from].out;
        x->next_in = g->nodes.at[x->to].in;
        g->nodes.at[x->from].out = g->nodes.at[x->to].in = e;
        g->nodes.at[x->to].n_in++;
    }
    hf_free(moved);
    g->kept = n;
}

static bool is_small(const hf_watch_order *g)
{
    return g->nodes.n < 2 * g->kept + 256;
}

void hf_watch_order_forget(hf_watch_order *g, uint64_t horizon)
{
    if (is_small(g))
        return;
    for (size_t v = 0; v < g->nodes.n; v++)
        g->nodes.at[v].via = g->nodes.at[v].hi < horizon ? 0 : NONE;
    compact(g);
}

void hf_watch_order_forget_first(hf_watch_order *g, uint64_t horizon)
{
    if (is_small(g))
        return;
    g->stack.n = 0;
    for (uint32_t v = 0; v < g->nodes.n; v++) {
        hf_order_node *x = &g->nodes.at[v];

        x->via = NONE;
        if (x->n_in == 0 && x->hi < horizon)
            hf_vec_push(&g->stack, v);
    }
    while (g->stack.n > 0) {
        uint32_t v = g->stack.at[--g->stack.n];

        g->nodes.at[v].via = 0;
        for (uint32_t e = g->nodes.at[v].out; e != NONE;
             e = g->edges.at[e].next_out) {
            hf_order_node *to = &g->nodes.at[g->edges.at[e].to];

            if (--to->n_in == 0 && to->hi < horizon)
                hf_vec_push(&g->stack, g->edges.at[e].to);
        }
    }
    compact(g);
}

size_t hf_watch_order_bytes(const hf_watch_order *g)
{
    return g->nodes.cap * sizeof(*g->nodes.at) +
           g->edges.cap * sizeof(*g->edges.at) + g->by_name.cap * 16;
}
