/* cycles.c: the shortest cycle of a class.
 *
 * Every cycle of a class has an edge that makes it one of the class: an rw for
 * those with anti-dependencies, a wr for G1c, an so or rt for the session and
 * real-time forms of the rest.  From each such edge, its anchor, the graph is
 * searched breadth first for the way back, together with a few bits of
 * memory about the edges passed (was the last one an rw, was there an so).
 *
 * The search is run for length 2 from all anchors, then for length 3, and so
 * on, so that the first cycle found is a shortest one and the work before it
 * stays near the anchors.  A way back that visits a node twice is passed
 * over: it falls apart into shorter cycles, and if one of those is of the
 * class it has been found before.
 *
 * O(anchors * edges * states) at worst; `most_steps` bounds it, after which
 * the first cycle found has to do.
 */
#include "graph/labelled.h"

#include <string.h>

/* Memory of the way so far. */
#define SEEN_FORM 1u /* an so, or an rt, whatever the form wants */
#define SEEN_OTHER                                                             \
    2u                 /* a wr (G1c), a second rw (nonadjacent), or the first  \
                          edge that is not a ww of the key (causal) */
#define LAST_BLOCKS 4u /* an rw may not follow */
#define FRESH 8u       /* nothing but free steps after the anchor */
#define STATES 16u

typedef struct search {
    hf_cycle_search *s;
    const hf_labelled *g;
    uint32_t *stamp;  /* per node and state: the round that reached it */
    uint32_t *parent; /* ... the state it came from, or HF_NONE */
    uint32_t *by;     /* ... and the edge */
    uint32_t round;
    HF_VEC(uint32_t) now, next;
    uint64_t steps;
    bool cut;           /* something lies beyond the present length */
    hf_key_id key;      /* of the anchor */
    uint32_t start;     /* where the anchor leads */
    uint32_t *met;      /* per node: round in which a way visits it */
    uint32_t *position; /* per node, see find_positions(); may be NULL */
} search;

/* Edges of predicates count like those of items. */
static unsigned item_kind(unsigned kind)
{
    if (kind == HF_EDGE_PWR)
        return HF_EDGE_WR;
    return kind == HF_EDGE_PRW ? HF_EDGE_RW : kind;
}

static bool is_anchor(const hf_cycle_search *s, unsigned kind)
{
    kind = item_kind(kind);
    if (s->class_ >= HF_CLASS_SINGLE)
        return kind == HF_EDGE_RW;
    if (s->form == HF_FORM_SESSION)
        return kind == HF_EDGE_SO;
    if (s->form == HF_FORM_REALTIME)
        return kind == HF_EDGE_RT;
    if (s->class_ == HF_CLASS_G1C)
        return kind == HF_EDGE_WR;
    return kind == HF_EDGE_WW;
}

/* Kinds a cycle of this class and form may have. */
static bool is_allowed(const hf_cycle_search *s, unsigned kind)
{
    switch (item_kind(kind)) {
    case HF_EDGE_WW:
        return true;
    case HF_EDGE_WR:
        return s->class_ != HF_CLASS_G0;
    case HF_EDGE_RW:
        return s->class_ == HF_CLASS_NONADJACENT || s->class_ == HF_CLASS_G2 ||
               s->class_ == HF_CLASS_PREFIX;
    case HF_EDGE_SO:
        return s->form != HF_FORM_PLAIN;
    case HF_LABEL_FREE:
        return true;
    default:
        return s->form >= HF_FORM_REALTIME;
    }
}

/* The memory after one more edge; HF_NONE: the edge may not follow. */
static uint32_t pass(const search *x, uint32_t state, unsigned kind,
                     hf_key_id key)
{
    const hf_cycle_search *s = x->s;

    kind = item_kind(kind);
    if (kind == HF_LABEL_FREE)
        return state;
    /* the two rw of a G2 follow each other: anchor it at the first */
    if (s->class_ == HF_CLASS_G2 && (state & FRESH) && kind != HF_EDGE_RW)
        return HF_NONE;
    state &= ~FRESH;
    if ((kind == HF_EDGE_SO && s->form == HF_FORM_SESSION) ||
        (kind == HF_EDGE_RT && s->form == HF_FORM_REALTIME))
        state |= SEEN_FORM;
    switch (s->class_) {
    case HF_CLASS_G1C:
        return kind == HF_EDGE_WR ? state | SEEN_OTHER : state;
    case HF_CLASS_NONADJACENT:
        if (kind != HF_EDGE_RW)
            return state & ~LAST_BLOCKS;
        return state & LAST_BLOCKS ? HF_NONE : state | SEEN_OTHER | LAST_BLOCKS;
    case HF_CLASS_PREFIX:
        if (kind == HF_EDGE_RW && (state & LAST_BLOCKS))
            return HF_NONE;
        return kind == HF_EDGE_WR || kind == HF_EDGE_SO ? state & ~LAST_BLOCKS
                                                        : state | LAST_BLOCKS;
    case HF_CLASS_CAUSAL:
        if (kind != HF_EDGE_WW)
            return state | SEEN_OTHER;
        return (state & SEEN_OTHER) || key != x->key ? HF_NONE : state;
    default:
        return state;
    }
}

/* Back at the anchor with this memory: is it a cycle of the class? */
static bool is_complete(const hf_cycle_search *s, uint32_t state)
{
    if (state & FRESH)
        return false; /* from a transaction to itself */
    if (s->form != HF_FORM_PLAIN && s->form != HF_FORM_ANY &&
        !(state & SEEN_FORM))
        return false;
    switch (s->class_) {
    case HF_CLASS_G1C:
    case HF_CLASS_CAUSAL:
        return state & SEEN_OTHER;
    case HF_CLASS_NONADJACENT:
        return (state & SEEN_OTHER) && !(state & LAST_BLOCKS);
    case HF_CLASS_PREFIX:
        return !(state & LAST_BLOCKS);
    default:
        return true;
    }
}

static uint32_t first_state(const search *x, const hf_labelled_edge *anchor)
{
    const hf_cycle_search *s = x->s;
    uint32_t state = FRESH;

    if ((anchor->kind == HF_EDGE_SO && s->form == HF_FORM_SESSION) ||
        (anchor->kind == HF_EDGE_RT && s->form == HF_FORM_REALTIME))
        state |= SEEN_FORM;
    if (s->class_ == HF_CLASS_G1C && item_kind(anchor->kind) == HF_EDGE_WR)
        state |= SEEN_OTHER;
    if (s->class_ == HF_CLASS_NONADJACENT || s->class_ == HF_CLASS_PREFIX)
        state |= LAST_BLOCKS;
    return state;
}

/* ---- the way back -------------------------------------------------------- */

static void reach(search *x, uint32_t node, uint32_t state, uint32_t from,
                  uint32_t by, bool free_step)
{
    uint32_t at = node * STATES + state;

    if (x->stamp[at] == x->round)
        return;
    x->stamp[at] = x->round;
    x->parent[at] = from;
    x->by[at] = by;
    if (free_step)
        hf_vec_push(&x->now, at);
    else
        hf_vec_push(&x->next, at);
}

/* The cycle that ends with edge `last` from place `at`; false if it visits a
 * transaction twice. */
static bool take_cycle(search *x, uint32_t anchor, uint32_t at, uint32_t last)
{
    const hf_labelled_edge *e = x->g->edges.at;
    uint32_t n = 2, i;
    uint32_t *cycle;

    for (uint32_t p = at; x->parent[p] != HF_NONE; p = x->parent[p])
        n++;
    cycle = HF_NEW_ARRAY(uint32_t, n);
    i = n - 1;
    cycle[i] = last;
    for (uint32_t p = at; x->parent[p] != HF_NONE; p = x->parent[p])
        cycle[--i] = x->by[p];
    cycle[0] = anchor;
    for (i = 0; i < n; i++) {
        uint32_t node = e[cycle[i]].to;

        if (node >= x->g->n_real)
            continue; /* a chain may be used twice */
        if (x->met[node] == x->round) {
            for (i = 0; i < n; i++)
                x->met[e[cycle[i]].to] = 0;
            hf_free(cycle);
            return false;
        }
        x->met[node] = x->round;
    }
    x->s->cycle = cycle;
    x->s->n = n;
    return true;
}

/* Follows all edges from a place; true if a cycle is complete. */
static bool follow(search *x, uint32_t anchor, uint32_t at, bool last_step)
{
    const hf_labelled *g = x->g;
    uint32_t node = at / STATES, goal = g->edges.at[anchor].from;

    for (uint32_t i = g->first[node]; i < g->first[node + 1]; i++) {
        const hf_labelled_edge *e = &g->edges.at[i];
        bool free_step = e->kind == HF_LABEL_FREE;
        uint32_t state;

        x->steps++;
        if (!is_allowed(x->s, e->kind))
            continue;
        state = pass(x, at % STATES, e->kind, e->key);
        if (state == HF_NONE)
            continue;
        if (e->to == goal) {
            if (is_complete(x->s, state) && take_cycle(x, anchor, at, i))
                return true;
            continue;
        }
        if (e->to == x->start ||
            (x->position && x->position[e->to] > x->position[goal]))
            continue;
        if (last_step && !free_step) {
            x->cut = true;
            continue;
        }
        reach(x, e->to, state, at, i, free_step);
    }
    return false;
}

static void begin(search *x, uint32_t anchor)
{
    const hf_labelled_edge *a = &x->g->edges.at[anchor];

    x->round++;
    x->now.n = x->next.n = 0;
    x->key = a->key;
    x->start = a->to;
    reach(x, a->to, first_state(x, a), HF_NONE, anchor, true);
}

static bool out_of_steps(search *x)
{
    if (x->s->most_steps && x->steps > x->s->most_steps)
        return true;
    return hf_budget_spent(x->s->budget);
}

/* The way back to an anchor, the cycle having at most `length` edges. */
static bool search_from(search *x, uint32_t anchor, uint32_t length)
{
    uint32_t depth = 1; /* edges behind the places in `now` */

    /* an anchor that leaves a chain: the last step into that is free */
    if (x->g->edges.at[anchor].from >= x->g->n_real && length != HF_NONE)
        length++;
    begin(x, anchor);
    for (;;) {
        while (x->now.n > 0) {
            uint32_t at = x->now.at[--x->now.n];

            if (follow(x, anchor, at, depth + 1 >= length))
                return true;
        }
        if (x->next.n == 0)
            return false;
        for (size_t i = 0; i < x->next.n; i++)
            hf_vec_push(&x->now, x->next.at[i]);
        x->next.n = 0;
        depth++;
    }
}

/* ---- positions ----------------------------------------------------------- */

/* Where the way back cannot have an rw, it lies in an acyclic graph: a node
 * that comes after the goal in its topological order leads nowhere. */
static bool has_positions(const hf_cycle_search *s)
{
    return s->class_ == HF_CLASS_SINGLE || s->class_ == HF_CLASS_CAUSAL;
}

/* Depth first from the last node to the first, finishing from the end.
 * False if there is a cycle after all. */
static bool visit(search *x, uint32_t root, uint32_t *cursor, uint32_t *left)
{
    const hf_labelled *g = x->g;

    x->now.n = 0;
    hf_vec_push(&x->now, root);
    cursor[root] = g->first[root];
    while (x->now.n > 0) {
        uint32_t node = x->now.at[x->now.n - 1];
        const hf_labelled_edge *e;

        if (cursor[node] == g->first[node + 1]) {
            x->position[node] = --*left;
            x->now.n--;
            continue;
        }
        e = &g->edges.at[cursor[node]++];
        if (item_kind(e->kind) == HF_EDGE_RW || !is_allowed(x->s, e->kind))
            continue;
        if (cursor[e->to] == HF_NONE) {
            cursor[e->to] = g->first[e->to];
            hf_vec_push(&x->now, e->to);
        } else if (x->position[e->to] == HF_NONE) {
            return false;
        }
    }
    return true;
}

static void find_positions(search *x)
{
    size_t bytes = ((size_t)x->g->n_nodes + 1) * sizeof(uint32_t);
    uint32_t *cursor = hf_alloc_large(bytes);
    uint32_t left = x->g->n_nodes;
    bool acyclic = true;

    x->position = hf_alloc_large(bytes);
    memset(x->position, 0xff, bytes);
    memset(cursor, 0xff, bytes);
    for (uint32_t v = x->g->n_nodes; v-- > 0 && acyclic;)
        if (cursor[v] == HF_NONE)
            acyclic = visit(x, v, cursor, &left);
    hf_free(cursor);
    if (!acyclic) {
        hf_free(x->position);
        x->position = NULL;
    }
}

/* ---- all anchors --------------------------------------------------------- */

static bool is_hopeless(const search *x, const hf_labelled_edge *anchor)
{
    return x->position && x->position[anchor->to] > x->position[anchor->from];
}

/* For one length; true if found. */
static bool search_length(search *x, uint32_t length)
{
    x->cut = false;
    for (uint32_t i = 0; i < x->g->edges.n; i++) {
        if (!is_anchor(x->s, x->g->edges.at[i].kind) ||
            is_hopeless(x, &x->g->edges.at[i]))
            continue;
        if (search_from(x, i, length))
            return true;
        if (out_of_steps(x)) {
            x->s->gave_up = true;
            return false;
        }
    }
    return false;
}

static uint32_t real_length(const search *x, const uint32_t *cycle, uint32_t n)
{
    uint32_t length = 0;

    for (uint32_t i = 0; i < n; i++)
        length += x->g->edges.at[cycle[i]].kind != HF_LABEL_FREE;
    return length;
}

/* Any length: each anchor once, always for something shorter than the best
 * so far.  With `one`, the first will do. */
static void search_on(search *x, bool one)
{
    uint32_t best = HF_NONE, n = 0;
    uint32_t *cycle = NULL;

    for (uint32_t i = 0; i < x->g->edges.n; i++) {
        if (!is_anchor(x->s, x->g->edges.at[i].kind) ||
            is_hopeless(x, &x->g->edges.at[i]))
            continue;
        if (search_from(x, i, best == HF_NONE ? best : best - 1)) {
            hf_free(cycle);
            cycle = x->s->cycle;
            n = x->s->n;
            best = real_length(x, cycle, n);
            if (one)
                break;
        }
        if (out_of_steps(x)) {
            x->s->gave_up = true;
            break;
        }
    }
    x->s->cycle = cycle;
    x->s->n = n;
}

/* ---- is there any? ------------------------------------------------------- */

enum { WHITE, GREY, BLACK };

/* Can an edge of this kind follow, where the last one was an rw or not? */
static bool may_follow(const hf_cycle_search *s, unsigned kind, bool after_rw)
{
    return is_allowed(s, kind) && !(s->class_ == HF_CLASS_NONADJACENT &&
                                    item_kind(kind) == HF_EDGE_RW && after_rw);
}

/* Depth first over nodes and whether an rw led there; true on a cycle. */
static bool finds_cycle(search *x, uint32_t root, uint8_t *color,
                        uint32_t *cursor)
{
    const hf_labelled *g = x->g;

    x->now.n = 0;
    hf_vec_push(&x->now, root);
    color[root] = GREY;
    cursor[root] = g->first[root / 2];
    while (x->now.n > 0) {
        uint32_t at = x->now.at[x->now.n - 1], next;
        const hf_labelled_edge *e;

        if (cursor[at] == g->first[at / 2 + 1]) {
            color[at] = BLACK;
            x->now.n--;
            continue;
        }
        e = &g->edges.at[cursor[at]++];
        if (!may_follow(x->s, e->kind, at & 1u))
            continue;
        next = 2 * e->to + (item_kind(e->kind) == HF_EDGE_RW ||
                            (e->kind == HF_LABEL_FREE && (at & 1u)));
        if (color[next] == GREY)
            return true;
        if (color[next] == BLACK)
            continue;
        color[next] = GREY;
        cursor[next] = g->first[e->to];
        hf_vec_push(&x->now, next);
    }
    return false;
}

/* Whether a search is worth while: linear, and most often enough. */
static bool may_have_cycle(search *x)
{
    uint32_t n = 2 * x->g->n_nodes;
    uint8_t *color;
    uint32_t *cursor;
    bool found = false;

    if (x->s->class_ != HF_CLASS_G0 && x->s->class_ != HF_CLASS_G1C &&
        x->s->class_ != HF_CLASS_NONADJACENT)
        return true;
    color = HF_NEW_ZEROED(uint8_t, (size_t)n + 1);
    cursor = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    for (uint32_t v = 0; v < n && !found; v += 2)
        if (color[v] == WHITE)
            found = finds_cycle(x, v, color, cursor);
    hf_free(color);
    hf_free(cursor);
    return found;
}

#define SHORT 7u /* lengths tried one by one */

static void search_all(search *x)
{
    hf_cycle_search *s = x->s;

    for (uint32_t length = 2; length <= SHORT; length++)
        if (search_length(x, length) || !x->cut || s->gave_up)
            break;
    if (s->n > 0 || (!x->cut && !s->gave_up))
        return;
    if (!s->gave_up)
        search_on(x, false);
    if (s->gave_up && s->n == 0) {
        x->steps = 0;
        search_on(x, true);
        s->gave_up = true;
    }
}

void hf_cycle_search_run(hf_cycle_search *s)
{
    search x = {.s = s, .g = s->graph};
    size_t n = (size_t)s->graph->n_nodes * STATES + 1;

    s->cycle = NULL;
    s->n = 0;
    s->gave_up = false;
    x.stamp = HF_NEW_ZEROED(uint32_t, n);
    x.parent = HF_NEW_ARRAY(uint32_t, n);
    x.by = HF_NEW_ARRAY(uint32_t, n);
    x.met = HF_NEW_ZEROED(uint32_t, (size_t)s->graph->n_nodes + 1);
    if (may_have_cycle(&x)) {
        if (has_positions(s))
            find_positions(&x);
        search_all(&x);
    }
    hf_free(x.position);
    hf_free(x.stamp);
    hf_free(x.parent);
    hf_free(x.by);
    hf_free(x.met);
    hf_vec_release(&x.now);
    hf_vec_release(&x.next);
}
