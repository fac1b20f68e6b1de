/* order_graph.c: an order of nodes that is kept up as edges come and go.
 *
 * Pearce and Kelly's algorithm: an edge u -> v against the order is made to
 * fit by moving what is reachable from v, up to u's place, behind what leads
 * to u, down to v's place.  Edges that go are forgotten; the order stays,
 * since it keeps the others all the same.
 *
 * Known edges lie in two arrays by node; chosen ones are a stack with lists
 * threaded through it, so that taking back the newest is O(1).
 */
#include "solver/order_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

static uint32_t *nones(size_t n)
{
    uint32_t *a = hf_alloc_large(hf_array_size(n + 1, sizeof(*a)));

    memset(a, 0xff, (n + 1) * sizeof(*a));
    return a;
}

void hf_order_graph_init(hf_order_graph *g, uint32_t n)
{
    *g = (hf_order_graph){.n = n};
    g->out_head = nones(n);
    g->in_head = nones(n);
    g->place = nones(n);
    g->parent = nones(n);
    g->via = nones(n);
    g->mark = HF_NEW_ZEROED(uint32_t, (size_t)n + 1);
}

void hf_order_graph_release(hf_order_graph *g)
{
    hf_vec_release(&g->collected);
    hf_vec_release(&g->links);
    hf_vec_release(&g->whys);
    hf_vec_release(&g->stack);
    hf_vec_release(&g->ahead);
    hf_vec_release(&g->behind);
    hf_vec_release(&g->slots);
    hf_vec_release(&g->moved);
    hf_free(g->out_first);
    hf_free(g->out_to);
    hf_free(g->in_first);
    hf_free(g->in_from);
    hf_free(g->out_head);
    hf_free(g->in_head);
    hf_free(g->place);
    hf_free(g->parent);
    hf_free(g->via);
    hf_free(g->mark);
}

/* ---- known edges --------------------------------------------------------- */

/* Edges by one of their ends: counting sort. */
static void by_node(const hf_order_graph *g, bool out, uint32_t *first,
                    uint32_t *other)
{
    const uint64_t *e = g->collected.at;

    for (size_t i = 0; i < g->collected.n; i++)
        first[(out ? (uint32_t)(e[i] >> 32) : (uint32_t)e[i]) + 2]++;
    for (uint32_t v = 0; v <= g->n; v++)
        first[v + 1] += first[v];
    for (size_t i = 0; i < g->collected.n; i++) {
        uint32_t from = (uint32_t)(e[i] >> 32), to = (uint32_t)e[i];

        other[first[(out ? from : to) + 1]++] = out ? to : from;
    }
}

void hf_order_graph_settle(hf_order_graph *g)
{
    size_t edges = g->collected.n + 1;

    g->out_first = HF_NEW_ZEROED(uint32_t, (size_t)g->n + 3);
    g->in_first = HF_NEW_ZEROED(uint32_t, (size_t)g->n + 3);
    g->out_to = hf_alloc_large(hf_array_size(edges, sizeof(uint32_t)));
    g->in_from = hf_alloc_large(hf_array_size(edges, sizeof(uint32_t)));
    by_node(g, true, g->out_first, g->out_to);
    by_node(g, false, g->in_first, g->in_from);
    hf_vec_release(&g->collected);
}

/* ---- topological order --------------------------------------------------- */

#define OPEN UINT32_MAX          /* place: not met yet */
#define STARTED (UINT32_MAX - 1) /* place: on the stack */

typedef struct visit {
    uint32_t node, at, link;
} visit;

/* The next node before v->node that has no place; HF_NO_TAG: none. */
static uint32_t next_before(const hf_order_graph *g, visit *v)
{
    while (v->at < g->in_first[v->node + 1]) {
        uint32_t p = g->in_from[v->at++];

        if (g->place[p] >= STARTED)
            return p;
    }
    while (v->link != HF_NO_TAG) {
        const hf_order_link *l = &g->links.at[v->link];

        v->link = l->next_in;
        if (g->place[l->from] >= STARTED)
            return l->from;
    }
    return HF_NO_TAG;
}

/* All that comes before `root` gets its place, then root. */
static bool place_from(hf_order_graph *g, uint32_t root, uint32_t *count,
                       visit **stack, size_t *cap)
{
    size_t n = 0;

    (*stack)[n++] = (visit){root, g->in_first[root], g->in_head[root]};
    g->place[root] = STARTED;
    while (n > 0) {
        uint32_t p = next_before(g, &(*stack)[n - 1]);

        if (p == HF_NO_TAG) {
            g->place[(*stack)[--n].node] = (*count)++;
            continue;
        }
        if (g->place[p] == STARTED) {
            g->on_cycle = p;
            return false;
        }
        if (n == *cap)
            hf_vec_grow((void **)stack, cap, n + 1, sizeof(**stack));
        g->place[p] = STARTED;
        (*stack)[n++] = (visit){p, g->in_first[p], g->in_head[p]};
    }
    return true;
}

bool hf_order_graph_sort(hf_order_graph *g, const uint32_t *hint)
{
    size_t cap = 64;
    visit *stack = HF_NEW_ARRAY(visit, cap);
    uint32_t count = 0;
    bool fine = true;

    memset(g->place, 0xff, (size_t)g->n * sizeof(*g->place));
    for (uint32_t i = 0; i < g->n && fine; i++) {
        uint32_t root = hint ? hint[i] : i;

        if (g->place[root] == OPEN)
            fine = place_from(g, root, &count, &stack, &cap);
    }
    hf_free(stack);
    return fine;
}

/* ---- an edge against the order ------------------------------------------- */

static bool meet(hf_order_graph *g, uint32_t node)
{
    if (g->mark[node] == g->round)
        return false;
    g->mark[node] = g->round;
    hf_vec_push(&g->stack, node);
    return true;
}

static void next_round(hf_order_graph *g)
{
    if (++g->round == 0) {
        memset(g->mark, 0, ((size_t)g->n + 1) * sizeof(*g->mark));
        g->round = 1;
    }
    g->stack.n = 0;
}

/* Everything reachable from v up to place `last`; false if that is the node
 * there. */
static bool look_ahead(hf_order_graph *g, uint32_t v, uint32_t last)
{
    const uint32_t *place = g->place;

    g->ahead.n = 0;
    next_round(g);
    (void)meet(g, v);
    while (g->stack.n > 0) {
        uint32_t x = g->stack.at[--g->stack.n];

        hf_vec_push(&g->ahead, x);
        for (uint32_t i = g->out_first[x]; i < g->out_first[x + 1]; i++) {
            if (place[g->out_to[i]] == last)
                return false;
            if (place[g->out_to[i]] < last)
                (void)meet(g, g->out_to[i]);
        }
        for (uint32_t l = g->out_head[x]; l != HF_NO_TAG;
             l = g->links.at[l].next_out) {
            uint32_t y = g->links.at[l].to;

            if (place[y] == last)
                return false;
            if (place[y] < last)
                (void)meet(g, y);
        }
    }
    return true;
}

/* Everything that leads to u, down to place `first`. */
static void look_behind(hf_order_graph *g, uint32_t u, uint32_t first)
{
    const uint32_t *place = g->place;

    g->behind.n = 0;
    next_round(g);
    (void)meet(g, u);
    while (g->stack.n > 0) {
        uint32_t x = g->stack.at[--g->stack.n];

        hf_vec_push(&g->behind, x);
        for (uint32_t i = g->in_first[x]; i < g->in_first[x + 1]; i++)
            if (place[g->in_from[i]] > first)
                (void)meet(g, g->in_from[i]);
        for (uint32_t l = g->in_head[x]; l != HF_NO_TAG;
             l = g->links.at[l].next_in)
            if (place[g->links.at[l].from] > first)
                (void)meet(g, g->links.at[l].from);
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Nodes as places and back, so that sorting is by a plain number. */
static void sort_by_place(hf_order_graph *g, uint32_t *nodes, size_t n,
                          uint64_t *room)
{
    for (size_t i = 0; i < n; i++)
        room[i] = (uint64_t)g->place[nodes[i]] << 32 | nodes[i];
    for (size_t i = 1; i < n && n <= 32; i++) {
        uint64_t x = room[i];
        size_t j = i;

        for (; j > 0 && room[j - 1] > x; j--)
            room[j] = room[j - 1];
        room[j] = x;
    }
    if (n > 32) {
        hf_sortable *s = HF_NEW_ARRAY(hf_sortable, n);

        for (size_t i = 0; i < n; i++)
            s[i] = (hf_sortable){room[i] >> 32, (uint32_t)room[i]};
        hf_sort(s, n);
        for (size_t i = 0; i < n; i++)
            room[i] = s[i].value;
        hf_free(s);
    }
    for (size_t i = 0; i < n; i++)
        nodes[i] = (uint32_t)room[i];
}

/* The places of all of them, given anew: first those behind, then those
 * ahead. */
static void shift(hf_order_graph *g)
{
    size_t n = g->behind.n + g->ahead.n, at = 0;
    uint64_t small[128];
    uint64_t *room = n <= 128 ? small : HF_NEW_ARRAY(uint64_t, n);

    sort_by_place(g, g->behind.at, g->behind.n, room);
    sort_by_place(g, g->ahead.at, g->ahead.n, room);
    g->slots.n = 0;
    for (size_t i = 0; i < g->behind.n; i++)
        hf_vec_push(&g->slots, g->place[g->behind.at[i]]);
    for (size_t i = 0; i < g->ahead.n; i++)
        hf_vec_push(&g->slots, g->place[g->ahead.at[i]]);
    qsort(g->slots.at, g->slots.n, sizeof(*g->slots.at), by_number);
    for (size_t i = 0; i < g->behind.n; i++)
        g->place[g->behind.at[i]] = g->slots.at[at++];
    for (size_t i = 0; i < g->ahead.n; i++)
        g->place[g->ahead.at[i]] = g->slots.at[at++];
    hf_vec_reserve(&g->moved, n);
    for (size_t i = 0; i < g->behind.n; i++)
        hf_vec_push(&g->moved, g->behind.at[i]);
    for (size_t i = 0; i < g->ahead.n; i++)
        hf_vec_push(&g->moved, g->ahead.at[i]);
    if (room != small)
        hf_free(room);
}

bool hf_order_graph_add(hf_order_graph *g, uint32_t from, uint32_t to,
                        uint32_t tag, const hf_lit *why, uint32_t n_why)
{
    hf_order_link l = {.from = from,
                       .to = to,
                       .tag = tag,
                       .next_out = g->out_head[from],
                       .next_in = g->in_head[to],
                       .first_why = (uint32_t)g->whys.n,
                       .n_why = n_why};

    g->moved.n = 0;
    if (from == to)
        return false;
    if (g->place[from] > g->place[to]) {
        if (!look_ahead(g, to, g->place[from]))
            return false;
        look_behind(g, from, g->place[to]);
        shift(g);
    }
    for (uint32_t i = 0; i < n_why; i++)
        hf_vec_push(&g->whys, why[i]);
    g->out_head[from] = g->in_head[to] = (uint32_t)g->links.n;
    hf_vec_push(&g->links, l);
    return true;
}

void hf_order_graph_shrink(hf_order_graph *g, size_t n)
{
    while (g->links.n > n) {
        const hf_order_link *l = &g->links.at[--g->links.n];

        g->out_head[l->from] = l->next_out;
        g->in_head[l->to] = l->next_in;
        g->whys.n = l->first_why;
    }
}

/* ---- the cheapest way ---------------------------------------------------- */

/* Nodes in the order of their cost: those at one cost, with all that leads on
 * from them for nothing, stand before those that cost one choice more.  A link
 * with several reasons costs one too: nearly all have one. */
typedef struct search {
    hf_order_graph *g;
    uint32_t low, high; /* places */
} search;

static void reach(const search *s, uint32_t from, uint32_t to, uint32_t link)
{
    hf_order_graph *g = s->g;

    if (g->mark[to] == g->round || g->place[to] < s->low ||
        g->place[to] > s->high)
        return;
    g->mark[to] = g->round;
    g->parent[to] = from;
    g->via[to] = link;
    hf_vec_push(&g->ahead, to);
}

static void reach_by_links(const search *s, uint32_t x, bool for_nothing)
{
    const hf_order_graph *g = s->g;

    for (uint32_t l = g->out_head[x]; l != HF_NO_TAG;
         l = g->links.at[l].next_out)
        if ((l < g->n_fixed) == for_nothing)
            reach(s, x, g->links.at[l].to, l);
}

static bool run(const search *s, uint32_t from, uint32_t to)
{
    hf_order_graph *g = s->g;
    size_t free_at = 0, paid_at = 0;

    g->mark[from] = g->round;
    g->ahead.n = 0;
    hf_vec_push(&g->ahead, from);
    while (g->mark[to] != g->round) {
        if (free_at < g->ahead.n) {
            uint32_t x = g->ahead.at[free_at++];

            for (uint32_t i = g->out_first[x]; i < g->out_first[x + 1]; i++)
                reach(s, x, g->out_to[i], HF_NO_TAG);
            reach_by_links(s, x, true);
        } else if (paid_at < g->ahead.n) {
            reach_by_links(s, g->ahead.at[paid_at++], false);
        } else {
            return false;
        }
    }
    return true;
}

bool hf_order_graph_way(hf_order_graph *g, uint32_t from, uint32_t to,
                        bool within, hf_order_way *ret)
{
    search s = {g, 0, UINT32_MAX};
    bool found;

    ret->n = 0;
    if (from == to)
        return true;
    if (within) {
        s.low = g->place[from];
        s.high = g->place[to];
    }
    next_round(g);
    found = run(&s, from, to);
    for (uint32_t x = to; found && x != from; x = g->parent[x])
        hf_vec_push(ret, (hf_order_hop){g->parent[x], x, g->via[x]});
    for (size_t i = 0; i < ret->n / 2; i++) {
        hf_order_hop swap = ret->at[i];

        ret->at[i] = ret->at[ret->n - 1 - i];
        ret->at[ret->n - 1 - i] = swap;
    }
    return found;
}

void hf_order_graph_cycle(hf_order_graph *g, uint32_t node, hf_order_way *ret)
{
    hf_order_way way = {0};

    ret->n = 0;
    for (uint32_t i = g->out_first[node]; i < g->out_first[node + 1]; i++) {
        if (!hf_order_graph_way(g, g->out_to[i], node, false, &way) ||
            (ret->n > 0 && way.n + 1 >= ret->n))
            continue;
        ret->n = 0;
        hf_vec_push(ret, (hf_order_hop){node, g->out_to[i], HF_NO_TAG});
        for (size_t k = 0; k < way.n; k++)
            hf_vec_push(ret, way.at[k]);
    }
    hf_vec_release(&way);
}
