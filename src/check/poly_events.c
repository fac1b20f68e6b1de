/* poly_events.c: the nodes of the search over worlds, and what is known.
 *
 * Every transaction has a commit and, where its level has a snapshot, a start;
 * which edges count is a matter of the level it is judged by
 * (docs/semantics.md, "Mixed levels"; if all have one level, that is its
 * definition).  Levels that are no order of events have the edges that they
 * demand all the same, and the world is judged when an order was found.
 *
 * Nodes in between carry edges on: one for each transaction in its session, one
 * for each end in real time, and one for each open key, its gate, which readers
 * of the initial versions go through to all other writers.
 *
 * O(operations + versions + readers), times the number of writers in a row that
 * need not have happened.
 */
#include "check/poly_worlds.h"

#include <string.h>

#include "base/sort.h"

typedef struct listing {
    const hf_poly *p;
    const hf_graph *g;
    hf_event_edge edge;
    void *user;
} listing;

/* ---- nodes --------------------------------------------------------------- */

static uint8_t events_of(const hf_level_info *l)
{
    bool prefix = l->axiom & HF_AXIOM_PREFIX;
    bool snapshot = l->shape == HF_SHAPE_SNAPSHOT;
    bool serial = l->shape == HF_SHAPE_SERIAL || l->shape == HF_SHAPE_ITEM;

    return (uint8_t)((prefix || snapshot ? HF_EVENT_SPLIT : 0u) |
                     (snapshot ? HF_EVENT_EXCLUDES : 0u) |
                     (l->shape != HF_SHAPE_WW ? HF_EVENT_READS : 0u) |
                     (prefix || snapshot || serial ? HF_EVENT_ANTI : 0u) |
                     (l->session_order ? HF_EVENT_SESSION : 0u) |
                     (l->real_time ? HF_EVENT_TIME : 0u));
}

/* More than the level asks for. */
static uint8_t guess_more(uint8_t events, unsigned guess)
{
    unsigned more = events;
    bool serial = (events & HF_EVENT_ANTI) && !(events & HF_EVENT_SPLIT);

    if (guess & HF_GUESS_SESSIONS)
        more |= HF_EVENT_SESSION;
    if ((guess & HF_GUESS_SNAPSHOT) && (events & HF_EVENT_READS) && !serial)
        more |= HF_EVENT_SPLIT | HF_EVENT_EXCLUDES | HF_EVENT_ANTI;
    if ((guess & HF_GUESS_SERIAL) && (events & HF_EVENT_READS)) {
        more &= ~(HF_EVENT_SPLIT | HF_EVENT_EXCLUDES);
        more |= HF_EVENT_ANTI;
    }
    return (uint8_t)more;
}

static bool has_end(const hf_graph *g, hf_txn_id t)
{
    const hf_history *h = g->h;

    return h->txn_begin && h->txn_end && g->happened[t] &&
           h->txn_outcome[t] == HF_COMMITTED &&
           hf_txn_end_time(h, t) != HF_TIME_NONE;
}

static void number_keys(hf_poly *p)
{
    const hf_graph *g = p->g;

    p->open_of = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
    for (uint32_t i = 0; i < p->n_keys; i++)
        for (uint32_t v = g->ver_first[p->keys[i]]; v < g->ver_end[p->keys[i]];
             v++)
            p->open_of[v] = i;
}

void hf_poly_make_events(hf_poly *p, unsigned guess)
{
    const hf_graph *g = p->g;
    uint32_t n = g->h->n_txns, ends = 0, happened = 0, any = 0;
    size_t room = (size_t)g->n_versions + 1;

    p->events = HF_NEW_ZEROED(uint8_t, (size_t)n + 1);
    for (hf_txn_id t = 0; t < n; t++) {
        p->events[t] = events_of(g->own ? g->own[t] : g->level);
        p->events[t] = guess_more(p->events[t], guess);
        happened += g->happened[t];
        ends += has_end(g, t);
        any |= g->happened[t] ? p->events[t] : 0u;
    }
    p->session_base = 2 * n;
    p->time_base = p->session_base + (any & HF_EVENT_SESSION ? happened : 0);
    p->gate_base = p->time_base + (any & HF_EVENT_TIME ? ends : 0);
    p->n_gates = 0;
    p->nodes = (hf_walk_nodes){.times = 2 * n, .n = p->gate_base + p->n_keys};
    p->chosen_head = HF_NEW_ARRAY(uint32_t, room);
    memset(p->chosen_head, 0xff, room * sizeof(uint32_t));
    hf_map_init(&p->both_of);
    number_keys(p);
}

/* ---- edges of operations ------------------------------------------------- */

static void ww_edge(const listing *l, uint32_t a, uint32_t b)
{
    hf_txn_id from = l->g->ver_txn[a], to = l->g->ver_txn[b];

    if (from != HF_NONE && from != to)
        l->edge(l->user, hf_poly_commit(l->p, from), hf_poly_entry(l->p, to),
                (hf_event_label){HF_EDGE_WW, a, b});
}

static bool has_anti(const hf_poly *p, hf_txn_id t)
{
    return p->events[t] & HF_EVENT_ANTI;
}

/* Readers of a come before b. */
static void rw_edges(const listing *l, uint32_t a, uint32_t b)
{
    const hf_graph *g = l->g;
    hf_txn_id to = g->ver_txn[b];

    for (uint32_t i = g->reader_first[a]; i < g->reader_first[a + 1]; i++) {
        hf_txn_id r = g->reader_txn[i];

        if (r != to && has_anti(l->p, r))
            l->edge(l->user, hf_poly_start(l->p, r), hf_poly_commit(l->p, to),
                    (hf_event_label){HF_EDGE_RW, a, b});
    }
}

static bool is_certain(const listing *l, uint32_t v)
{
    hf_txn_id t = l->g->ver_txn[v];

    return t == HF_NONE || !hf_poly_is_uncertain(l->p, t);
}

/* A key of known order: those before v, up to the first that is certain. */
static void closed_edges(const listing *l, hf_key_id key)
{
    const hf_graph *g = l->g;

    for (uint32_t v = g->ver_first[key] + 1; v < g->ver_end[key]; v++) {
        uint32_t a = v;

        do {
            a--;
            ww_edge(l, a, v);
            if (g->reader_first)
                rw_edges(l, a, v);
        } while (!is_certain(l, a));
    }
}

/* An open one: inside atoms, and what is known between them. */
static void open_edges(const listing *l, hf_key_id key)
{
    const hf_graph *g = l->g;

    for (uint32_t v = g->ver_first[key]; v < g->ver_end[key]; v++) {
        uint32_t next = l->p->next[v];

        if (next != HF_NONE) {
            ww_edge(l, v, next);
            if (g->reader_first)
                rw_edges(l, v, next);
        }
        /* those who may not have happened can follow each other in a circle */
        for (uint32_t a = g->prev[v], n = g->ver_first[key];
             a != HF_NONE && n < g->ver_end[key]; a = g->prev[a], n++) {
            ww_edge(l, a, v);
            if (is_certain(l, a))
                break;
        }
        for (uint32_t i = g->pair_first ? g->pair_first[v] : 0;
             g->pair_first && i < g->pair_first[v + 1]; i++)
            ww_edge(l, g->pairs[i].first, v);
    }
}

/* The gate of an open key.  A reader that is one event and writes the key
 * itself would come before itself: its edges are listed one by one. */
static void gate_edges(const listing *l, uint32_t index)
{
    const hf_poly *p = l->p;
    const hf_graph *g = l->g;
    hf_key_id key = p->keys[index];
    uint32_t initial = g->ver_first[key], last = p->tail[initial];
    uint32_t node = p->gate_base + index;

    for (uint32_t i = p->atom_first[index]; i < p->atom_first[index + 1]; i++) {
        if (p->atoms[i] == initial)
            continue;
        ww_edge(l, last, p->atoms[i]);
        l->edge(l->user, node, hf_poly_commit(p, g->ver_txn[p->atoms[i]]),
                (hf_event_label){HF_EDGE_RW, last, p->atoms[i]});
    }
    for (uint32_t i = g->reader_first ? g->reader_first[last] : 0;
         g->reader_first && i < g->reader_first[last + 1]; i++) {
        hf_txn_id r = g->reader_txn[i];

        if (!has_anti(p, r))
            continue;
        if ((p->events[r] & HF_EVENT_SPLIT) ||
            hf_graph_version_of(g, r, key) == HF_NONE) {
            l->edge(l->user, hf_poly_start(p, r), node,
                    (hf_event_label){HF_EDGE_RW, last, HF_NONE});
            continue;
        }
        for (uint32_t k = p->atom_first[index]; k < p->atom_first[index + 1];
             k++)
            if (p->atoms[k] != initial && g->ver_txn[p->atoms[k]] != r)
                l->edge(l->user, hf_poly_start(p, r),
                        hf_poly_commit(p, g->ver_txn[p->atoms[k]]),
                        (hf_event_label){HF_EDGE_RW, last, p->atoms[k]});
    }
}

static void read_edges(const listing *l, hf_txn_id t)
{
    const hf_graph *g = l->g;
    const hf_history *h = g->h;

    if (l->p->events[t] & HF_EVENT_SPLIT)
        l->edge(l->user, 2 * t, 2 * t + 1,
                (hf_event_label){HF_EDGE_KIND_COUNT, HF_NONE, HF_NONE});
    if (!(l->p->events[t] & HF_EVENT_READS))
        return;
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t v = hf_graph_source(g, o);

        if (v != HF_NONE && g->ver_txn[v] != HF_NONE && g->ver_txn[v] != t)
            l->edge(l->user, hf_poly_commit(l->p, g->ver_txn[v]),
                    hf_poly_start(l->p, t), (hf_event_label){HF_EDGE_WR, v, o});
    }
}

/* ---- sessions and time --------------------------------------------------- */

static const hf_event_label carried = {HF_EDGE_KIND_COUNT, HF_NONE, HF_NONE};

static void session_edges(const listing *l)
{
    const hf_history *h = l->g->h;
    uint32_t node = l->p->session_base;

    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        uint32_t chain = HF_NONE;

        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            if (!l->g->happened[t])
                continue;
            if (chain != HF_NONE && (l->p->events[t] & HF_EVENT_SESSION))
                l->edge(l->user, chain, hf_poly_start(l->p, t),
                        (hf_event_label){HF_EDGE_SO, HF_NONE, HF_NONE});
            if (chain != HF_NONE)
                l->edge(l->user, chain, node, carried);
            chain = node++;
            l->edge(l->user, hf_poly_commit(l->p, t), chain, carried);
        }
    }
}

static void time_edges(const listing *l)
{
    const hf_history *h = l->g->h;
    size_t room = hf_array_size((size_t)h->n_txns + 1, sizeof(hf_sortable));
    hf_sortable *ends = hf_alloc_large(room), *begins = hf_alloc_large(room);
    uint32_t n_ends = 0, n_begins = 0, passed = 0, base = l->p->time_base;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        if (has_end(l->g, t))
            ends[n_ends++] = (hf_sortable){hf_txn_end_time(h, t), t};
        if (l->g->happened[t] && (l->p->events[t] & HF_EVENT_TIME) &&
            h->txn_begin && hf_txn_begin_time(h, t) != HF_TIME_NONE)
            begins[n_begins++] = (hf_sortable){hf_txn_begin_time(h, t), t};
    }
    hf_sort(ends, n_ends);
    hf_sort(begins, n_begins);
    for (uint32_t i = 0; i < n_ends; i++) {
        l->edge(l->user, hf_poly_commit(l->p, (hf_txn_id)ends[i].value),
                base + i, carried);
        if (i > 0)
            l->edge(l->user, base + i - 1, base + i, carried);
    }
    for (uint32_t i = 0; i < n_begins; i++) {
        while (passed < n_ends && ends[passed].key < begins[i].key)
            passed++;
        if (passed > 0)
            l->edge(l->user, base + passed - 1,
                    hf_poly_start(l->p, (hf_txn_id)begins[i].value),
                    (hf_event_label){HF_EDGE_RT, HF_NONE, HF_NONE});
    }
    hf_free(ends);
    hf_free(begins);
}

void hf_poly_event_edges(const hf_poly *p, hf_event_edge edge, void *user)
{
    const hf_graph *g = p->g;
    listing l = {p, g, edge, user};

    for (hf_txn_id t = 0; t < g->h->n_txns; t++)
        if (g->happened[t])
            read_edges(&l, t);
    for (hf_key_id k = 0; k < g->h->n_keys; k++) {
        if (g->open_key && g->open_key[k])
            open_edges(&l, k);
        else
            closed_edges(&l, k);
    }
    for (uint32_t i = 0; i < p->n_keys; i++)
        gate_edges(&l, i);
    if (p->time_base > p->session_base)
        session_edges(&l);
    if (p->gate_base > p->time_base)
        time_edges(&l);
}

typedef struct certain {
    const hf_poly *p;
    hf_walk_edge edge;
    void *user;
} certain;

static void pass_certain(void *user, uint32_t from, uint32_t to,
                         hf_event_label label)
{
    const certain *c = user;
    const hf_poly *p = c->p;

    (void)label;
    if ((from < p->nodes.times && hf_poly_is_uncertain(p, from / 2)) ||
        (to < p->nodes.times && hf_poly_is_uncertain(p, to / 2)))
        return;
    c->edge(c->user, from, to);
}

void hf_poly_certain_edges(const hf_poly *p, hf_walk_edge edge, void *user)
{
    certain c = {p, edge, user};

    hf_poly_event_edges(p, pass_certain, &c);
}
