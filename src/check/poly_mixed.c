/* poly_mixed.c: one world, each transaction judged by its own level.
 *
 * docs/semantics.md, "Mixed levels".  What a level demands of an order of
 * events is a graph: an edge is demanded by the transaction it enters, an
 * anti-dependency by the one it leaves.
 *
 *   events    the commit of each transaction and, for snapshot forms and
 *             prefix, its start; for the others both are one
 *   ww        enters the start of a snapshot form, else the commit
 *   wr so rt  enter the start, if the level has them
 *   rw        leaves from the start, at levels that are an order of events
 *
 * A cycle of these is a contradiction.  The levels that are not (consistent
 * view and the like, and those about what is visible) ask for each read
 * whether somebody who is visible to its transaction wrote a later version.
 *
 * Sessions and real time are chains of nodes, as in graph_open.c.  Cost: the
 * edges for the graph, and for each transaction at a level of the second kind
 * everything that is before it.
 */
#include "check/poly.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

#define MOST_CYCLES 16u

typedef struct event_edge {
    uint32_t from, to;
    hf_edge e; /* kind HF_EDGE_KIND_COUNT: inside a transaction, or a chain */
} event_edge;

typedef struct mixed {
    const hf_poly *p;
    hf_graph *g; /* of the world, every order known */
    uint32_t n_nodes;
    HF_VEC(event_edge) edges;
    uint32_t *first, *by_from; /* edges by node */
    uint32_t *waits;           /* per node */
    HF_VEC(uint32_t) order;    /* of nodes, as far as it goes */
    uint32_t *met, *via, round;
    HF_VEC(uint32_t) queue;
    hf_arena *arena;
    hf_graph_findings *ret;
} mixed;

static const hf_level_info *own(const mixed *m, hf_txn_id t)
{
    return m->g->own[t];
}

static bool is_prefix(const hf_level_info *l)
{
    return l->axiom & HF_AXIOM_PREFIX;
}

static bool is_split(const hf_level_info *l)
{
    return l->shape == HF_SHAPE_SNAPSHOT || is_prefix(l);
}

static bool reads_count(const hf_level_info *l)
{
    return l->shape != HF_SHAPE_WW;
}

static uint32_t commit_of(hf_txn_id t)
{
    return 2 * t + 1;
}

static uint32_t start_of(const mixed *m, hf_txn_id t)
{
    return is_split(own(m, t)) ? 2 * t : 2 * t + 1;
}

/* ---- the graph ----------------------------------------------------------- */

static hf_edge no_edge(void)
{
    return (hf_edge){.kind = HF_EDGE_KIND_COUNT};
}

static void add(mixed *m, uint32_t from, uint32_t to, hf_edge e)
{
    if (from != to)
        hf_vec_push(&m->edges, (event_edge){from, to, e});
}

static void add_write(mixed *m, hf_txn_id t, hf_op_id o, uint32_t v)
{
    const hf_graph *g = m->g;
    hf_txn_id before = g->ver_txn[v - 1];

    if (before != HF_NONE)
        add(m, commit_of(before),
            own(m, t)->shape == HF_SHAPE_SNAPSHOT ? start_of(m, t)
                                                  : commit_of(t),
            (hf_edge){HF_EDGE_WW, before, t, g->h->op_key[o], g->ver_op[v - 1],
                      o});
}

/* The writer of the version behind v, if there is one and it is not t. */
static hf_txn_id next_writer(const hf_graph *g, hf_key_id key, uint32_t v,
                             hf_txn_id t)
{
    if (v + 1 >= g->ver_end[key] || g->ver_txn[v + 1] == t)
        return HF_NONE;
    return g->ver_txn[v + 1];
}

static bool is_order(const hf_level_info *l)
{
    return l->shape == HF_SHAPE_SERIAL || l->shape == HF_SHAPE_ITEM ||
           is_split(l);
}

static void add_read(mixed *m, hf_txn_id t, hf_op_id o, uint32_t v)
{
    const hf_graph *g = m->g;
    hf_key_id key = g->h->op_key[o];
    hf_txn_id from = g->ver_txn[v], next = next_writer(g, key, v, t);

    if (!reads_count(own(m, t)))
        return;
    if (from != HF_NONE && from != t)
        add(m, commit_of(from), start_of(m, t),
            (hf_edge){HF_EDGE_WR, from, t, key, g->ver_op[v], o});
    if (next != HF_NONE && is_order(own(m, t)))
        add(m, start_of(m, t), commit_of(next),
            (hf_edge){HF_EDGE_RW, t, next, key, o, g->ver_op[v + 1]});
}

static void add_operations(mixed *m, hf_txn_id t)
{
    const hf_graph *g = m->g;

    if (is_split(own(m, t)))
        add(m, start_of(m, t), commit_of(t), no_edge());
    for (hf_op_id o = g->h->op_first[t]; o < g->h->op_first[t + 1]; o++) {
        uint32_t role = g->op_role[o], source = hf_graph_source(g, o);

        if (role != HF_NONE && (role & 1u))
            add_write(m, t, o, role / 2);
        if (source != HF_NONE)
            add_read(m, t, o, source);
    }
}

/* A chain of nodes: whoever is before, through the last one. */
static void add_sessions(mixed *m)
{
    const hf_history *h = m->g->h;

    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        uint32_t chain = HF_NONE;

        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            if (!m->g->happened[t])
                continue;
            if (chain != HF_NONE && own(m, t)->session_order)
                add(m, chain, start_of(m, t),
                    (hf_edge){HF_EDGE_SO, HF_NONE, t, HF_NONE, HF_NONE,
                              HF_NONE});
            if (chain != HF_NONE)
                add(m, chain, m->n_nodes, no_edge());
            chain = m->n_nodes++;
            add(m, commit_of(t), chain, no_edge());
        }
    }
}

static void add_times(mixed *m)
{
    const hf_history *h = m->g->h;
    size_t room = hf_array_size((size_t)h->n_txns + 1, sizeof(hf_sortable));
    hf_sortable *ends = hf_alloc(room), *begins = hf_alloc(room);
    uint32_t n_ends = 0, n_begins = 0, passed = 0, chain = HF_NONE;

    for (hf_txn_id t = 0; h->txn_begin && h->txn_end && t < h->n_txns; t++) {
        uint64_t end = hf_txn_end_time(h, t), begin = hf_txn_begin_time(h, t);

        if (!m->g->happened[t])
            continue;
        if (end != HF_TIME_NONE && h->txn_outcome[t] == HF_COMMITTED)
            ends[n_ends++] = (hf_sortable){end, t};
        if (begin != HF_TIME_NONE && own(m, t)->real_time)
            begins[n_begins++] = (hf_sortable){begin, t};
    }
    hf_sort(ends, n_ends);
    hf_sort(begins, n_begins);
    for (uint32_t i = 0; i < n_begins; i++) {
        hf_txn_id t = (hf_txn_id)begins[i].value;

        for (; passed < n_ends && ends[passed].key < begins[i].key; passed++) {
            if (chain != HF_NONE)
                add(m, chain, m->n_nodes, no_edge());
            chain = m->n_nodes++;
            add(m, commit_of((hf_txn_id)ends[passed].value), chain, no_edge());
        }
        if (chain != HF_NONE)
            add(m, chain, start_of(m, t),
                (hf_edge){HF_EDGE_RT, HF_NONE, t, HF_NONE, HF_NONE, HF_NONE});
    }
    hf_free(ends);
    hf_free(begins);
}

static void sort_edges(mixed *m)
{
    uint32_t n = m->n_nodes;

    m->first = HF_NEW_ZEROED(uint32_t, (size_t)n + 3);
    m->by_from = HF_NEW_ARRAY(uint32_t, m->edges.n + 1);
    m->waits = HF_NEW_ZEROED(uint32_t, (size_t)n + 1);
    m->met = HF_NEW_ZEROED(uint32_t, (size_t)n + 1);
    m->via = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    for (size_t i = 0; i < m->edges.n; i++) {
        m->first[m->edges.at[i].from + 2]++;
        m->waits[m->edges.at[i].to]++;
    }
    for (uint32_t v = 0; v <= n; v++)
        m->first[v + 1] += m->first[v];
    for (size_t i = 0; i < m->edges.n; i++)
        m->by_from[m->first[m->edges.at[i].from + 1]++] = (uint32_t)i;
}

static void build(mixed *m)
{
    m->n_nodes = 2 * m->g->h->n_txns;
    for (hf_txn_id t = 0; t < m->g->h->n_txns; t++)
        if (m->g->happened[t])
            add_operations(m, t);
    add_sessions(m);
    add_times(m);
    sort_edges(m);
}

/* ---- cycles -------------------------------------------------------------- */

/* Kahn's; what is left waits for a cycle. */
static bool sort_nodes(mixed *m)
{
    for (uint32_t v = 0; v < m->n_nodes; v++)
        if (m->waits[v] == 0)
            hf_vec_push(&m->order, v);
    for (size_t i = 0; i < m->order.n; i++) {
        uint32_t v = m->order.at[i];

        for (uint32_t k = m->first[v]; k < m->first[v + 1]; k++) {
            uint32_t to = m->edges.at[m->by_from[k]].to;

            if (--m->waits[to] == 0)
                hf_vec_push(&m->order, to);
        }
    }
    return m->order.n == m->n_nodes;
}

/* The shortest way back to `start`; via[] leads back along it. */
static bool find_way_back(mixed *m, uint32_t start)
{
    m->round++;
    m->queue.n = 0;
    hf_vec_push(&m->queue, start);
    for (size_t i = 0; i < m->queue.n; i++) {
        uint32_t v = m->queue.at[i];

        for (uint32_t k = m->first[v]; k < m->first[v + 1]; k++) {
            uint32_t to = m->edges.at[m->by_from[k]].to;

            if (m->met[to] == m->round || m->waits[to] == 0)
                continue;
            m->met[to] = m->round;
            m->via[to] = m->by_from[k];
            if (to == start)
                return true;
            hf_vec_push(&m->queue, to);
        }
    }
    return false;
}

typedef HF_VEC(hf_edge) edge_list;
typedef HF_VEC(uint32_t) number_list;

/* Real edges of a closed way; chains become one edge. */
static void label(const mixed *m, const number_list *hops, edge_list *ret)
{
    uint32_t n_events = 2 * m->g->h->n_txns;
    size_t n = hops->n, first = 0;
    hf_txn_id from = HF_NONE;

    while (m->edges.at[hops->at[first]].from >= n_events)
        first++;
    for (size_t i = 0; i < n; i++) {
        const event_edge *x = &m->edges.at[hops->at[(first + i) % n]];
        hf_edge e = x->e;

        if (x->from < n_events)
            from = x->from / 2;
        if (e.kind == HF_EDGE_KIND_COUNT)
            continue;
        if (e.from == HF_NONE)
            e.from = from;
        hf_vec_push(ret, e);
    }
}

/* Where an edge enters its transaction, and where it leaves one. */
static uint32_t entry_of(const mixed *m, const hf_edge *e)
{
    if (e->kind == HF_EDGE_RW ||
        (e->kind == HF_EDGE_WW && own(m, e->to)->shape != HF_SHAPE_SNAPSHOT))
        return commit_of(e->to);
    return start_of(m, e->to);
}

static uint32_t exit_of(const mixed *m, const hf_edge *e)
{
    return e->kind == HF_EDGE_RW ? start_of(m, e->from) : commit_of(e->from);
}

/* A transaction that is met twice divides the cycle, and one part is a cycle
 * by itself: the one into whose joint one comes at the start, or leaves from
 * the commit. */
static void make_simple(const mixed *m, edge_list *c)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = i + 1; j < c->n; j++) {
            if (c->at[i].from != c->at[j].from)
                continue;
            if (entry_of(m, &c->at[j - 1]) <= exit_of(m, &c->at[i])) {
                memmove(c->at, c->at + i, (j - i) * sizeof(*c->at));
                c->n = j - i;
            } else {
                memmove(c->at + i, c->at + j, (c->n - j) * sizeof(*c->at));
                c->n -= j - i;
            }
            make_simple(m, c);
            return;
        }
}

static void report(mixed *m, const hf_edge *edges, uint32_t n)
{
    hf_finding f = {.witness = {.kind = HF_WITNESS_CYCLE, .n_edges = n}};

    f.witness.edges = hf_arena_get(m->arena, n * sizeof(*edges));
    memcpy(f.witness.edges, edges, n * sizeof(*edges));
    hf_vec_push(m->ret, f);
}

static void report_cycle(mixed *m, uint32_t start)
{
    number_list hops = {0};
    edge_list edges = {0};
    uint32_t v = start;

    do {
        hf_vec_push(&hops, m->via[v]);
        v = m->edges.at[m->via[v]].from;
    } while (v != start);
    for (size_t i = 0; i < hops.n / 2; i++) {
        uint32_t swap = hops.at[i];

        hops.at[i] = hops.at[hops.n - 1 - i];
        hops.at[hops.n - 1 - i] = swap;
    }
    label(m, &hops, &edges);
    make_simple(m, &edges);
    report(m, edges.at, (uint32_t)edges.n);
    hf_vec_release(&hops);
    hf_vec_release(&edges);
}

static void report_cycles(mixed *m)
{
    for (uint32_t v = 0; v < m->n_nodes && m->ret->n < MOST_CYCLES; v++)
        if (m->waits[v] > 0 && find_way_back(m, v))
            report_cycle(m, v);
}

/* ---- what is visible ----------------------------------------------------- */

/* A transaction that is before t, and the edge by which the next one on the way
 * to t is reached. */
typedef struct seen {
    hf_txn_id t;
    uint32_t next; /* in the list; HF_NONE: t itself */
    hf_edge e;
    hf_op_id by; /* t's own read that leads there; HF_NONE */
} seen;

typedef struct sight {
    mixed *m;
    HF_VEC(seen) list;
    uint8_t *met; /* per transaction */
} sight;

static void see(sight *s, hf_txn_id t, uint32_t next, hf_edge e, bool once)
{
    hf_op_id by = next != HF_NONE        ? s->list.at[next].by
                  : e.kind == HF_EDGE_WR ? e.to_op
                                         : HF_NONE;

    if (t == HF_NONE || (once && s->met[t]))
        return;
    s->met[t] = 1;
    hf_vec_push(&s->list, (seen){t, next, e, by});
}

/* Everybody with an edge of these kinds into t, as far as t's level has it. */
static void see_before(sight *s, hf_txn_id t, uint32_t next, unsigned kinds,
                       bool once)
{
    const hf_graph *g = s->m->g;
    const hf_history *h = g->h;
    const hf_level_info *l = own(s->m, t);

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t role = g->op_role[o], v = hf_graph_source(g, o);

        if (v != HF_NONE && (kinds & HF_WALK_WR) && reads_count(l) &&
            g->ver_txn[v] != t)
            see(s, g->ver_txn[v], next,
                (hf_edge){HF_EDGE_WR, g->ver_txn[v], t, h->op_key[o],
                          g->ver_op[v], o},
                once);
        if (role != HF_NONE && (role & 1u) && (kinds & HF_WALK_WW))
            see(s, g->ver_txn[role / 2 - 1], next,
                (hf_edge){HF_EDGE_WW, g->ver_txn[role / 2 - 1], t, h->op_key[o],
                          g->ver_op[role / 2 - 1], o},
                once);
    }
    if ((kinds & HF_WALK_SO) && l->session_order) {
        hf_session_id session = h->txn_session[t];

        for (uint32_t i = h->session_first[session];
             i < h->session_first[session + 1] && h->session_txns[i] < t; i++)
            if (g->happened[h->session_txns[i]])
                see(s, h->session_txns[i], next,
                    (hf_edge){HF_EDGE_SO, h->session_txns[i], t, HF_NONE,
                              HF_NONE, HF_NONE},
                    once);
    }
    if (!(kinds & HF_WALK_RT) || !l->real_time || !h->txn_begin || !h->txn_end)
        return;
    for (hf_txn_id u = 0; u < h->n_txns; u++)
        if (g->happened[u] && h->txn_outcome[u] == HF_COMMITTED &&
            hf_txn_end_time(h, u) != HF_TIME_NONE &&
            hf_txn_begin_time(h, t) != HF_TIME_NONE &&
            hf_txn_end_time(h, u) < hf_txn_begin_time(h, t))
            see(s, u, next,
                (hf_edge){HF_EDGE_RT, u, t, HF_NONE, HF_NONE, HF_NONE}, once);
}

/* Steps of these kinds, one after the other, towards t. */
static void see_ways(sight *s, hf_txn_id t, const unsigned *kinds, unsigned n)
{
    size_t from = s->list.n, end;

    see_before(s, t, HF_NONE, kinds[n - 1], false);
    for (unsigned k = n - 1; k-- > 0;) {
        end = s->list.n;
        for (size_t i = from; i < end; i++)
            see_before(s, s->list.at[i].t, (uint32_t)i, kinds[k], false);
        /* those in between are not visible by this way */
        for (size_t i = from; i < end; i++)
            s->list.at[i].t = HF_NONE;
        from = end;
    }
}

static void see_closure(sight *s, hf_txn_id t, unsigned kinds)
{
    see_before(s, t, HF_NONE, kinds, true);
    for (size_t i = 0; i < s->list.n; i++)
        if (s->list.at[i].t != HF_NONE)
            see_before(s, s->list.at[i].t, (uint32_t)i, kinds, true);
}

static void look_around(sight *s, hf_txn_id t)
{
    static const unsigned so[] = {HF_WALK_SO}, wr[] = {HF_WALK_WR};
    static const unsigned wr_so[] = {HF_WALK_WR, HF_WALK_SO};
    static const unsigned so_wr[] = {HF_WALK_SO, HF_WALK_WR};
    static const unsigned wr_wr[] = {HF_WALK_WR, HF_WALK_WR};
    static const unsigned wr_so_wr[] = {HF_WALK_WR, HF_WALK_SO, HF_WALK_WR};
    const hf_level_info *l = own(s->m, t);
    unsigned a = l->axiom;

    s->list.n = 0;
    if (l->shape == HF_SHAPE_SINGLE)
        see_closure(s, t, HF_WALK_W | HF_WALK_SO | HF_WALK_RT);
    if (a & HF_AXIOM_CAUSAL)
        see_closure(s, t, HF_WALK_WR | HF_WALK_SO);
    if (a & HF_AXIOM_SO)
        see_ways(s, t, so, 1);
    if ((a & (HF_AXIOM_WR | HF_AXIOM_EARLIER_READ)) || l->shape == HF_SHAPE_OTV)
        see_ways(s, t, wr, 1);
    if (a & HF_AXIOM_WR_SO)
        see_ways(s, t, wr_so, 2);
    if (a & HF_AXIOM_SO_WR)
        see_ways(s, t, so_wr, 2);
    if (a & HF_AXIOM_WR_WR)
        see_ways(s, t, wr_wr, 2);
    if (a & HF_AXIOM_WR_SO_WR)
        see_ways(s, t, wr_so_wr, 3);
    for (size_t i = 0; i < s->list.n; i++) {
        if (s->list.at[i].t != HF_NONE)
            s->met[s->list.at[i].t] = 0;
        s->met[s->list.at[i].e.from] = 0;
    }
}

/* Is a transaction met twice on the way?  Then a shorter one is there. */
static bool is_simple(const edge_list *c)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < i; j++)
            if (c->at[i].from == c->at[j].from)
                return false;
    return true;
}

/* Read `op` of t is older than what list[i] wrote: t -rw-> ... -> t. */
static void report_stale(sight *s, hf_txn_id t, hf_op_id op, size_t i,
                         uint32_t ver)
{
    const hf_graph *g = s->m->g;
    edge_list c = {0};
    uint32_t at = (uint32_t)i;

    hf_vec_push(&c, (hf_edge){HF_EDGE_RW, t, s->list.at[i].e.from,
                              g->h->op_key[op], op, g->ver_op[ver]});
    for (; at != HF_NONE; at = s->list.at[at].next)
        hf_vec_push(&c, s->list.at[at].e);
    if (is_simple(&c) && s->m->ret->n < MOST_CYCLES)
        report(s->m, c.at, (uint32_t)c.n);
    hf_vec_release(&c);
}

static void check_visible(sight *s, hf_txn_id t)
{
    const hf_graph *g = s->m->g;
    const hf_history *h = g->h;
    const hf_level_info *l = own(s->m, t);
    bool earlier = l->shape == HF_SHAPE_OTV ||
                   (l->axiom & ~HF_AXIOM_PREFIX) == HF_AXIOM_EARLIER_READ;

    look_around(s, t);
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t v = hf_graph_source(g, o);

        for (size_t i = 0; v != HF_NONE && i < s->list.n; i++) {
            hf_txn_id t2 = s->list.at[i].t;
            uint32_t theirs;

            if (t2 == HF_NONE || t2 == t || (earlier && s->list.at[i].by >= o))
                continue;
            theirs = hf_graph_version_of(g, t2, h->op_key[o]);
            if (theirs != HF_NONE && theirs > v)
                report_stale(s, t, o, i, theirs);
        }
    }
}

static void check_all_visible(mixed *m)
{
    const hf_history *h = m->g->h;
    sight s = {.m = m};

    s.met = HF_NEW_ZEROED(uint8_t, (size_t)h->n_txns + 1);
    for (hf_txn_id t = 0; t < h->n_txns && !hf_graph_spent(m->g); t++) {
        hf_level_shape shape = own(m, t)->shape;

        if (m->g->happened[t] &&
            (shape == HF_SHAPE_SINGLE || shape == HF_SHAPE_OTV ||
             (shape == HF_SHAPE_AXIOM && !is_prefix(own(m, t)))))
            check_visible(&s, t);
    }
    hf_free(s.met);
    hf_vec_release(&s.list);
}

/* ---- all ----------------------------------------------------------------- */

/* Events in the order of the graph; where start and commit are one, both. */
static void set_valid(mixed *m, hf_result *r)
{
    hf_witness *w = &r->witness;
    uint32_t n_events = 2 * m->g->h->n_txns;

    r->verdict = HF_VALID;
    w->kind = HF_WITNESS_SNAPSHOT;
    w->mixed = true;
    w->order = hf_arena_get(
        &r->arena, hf_array_size((size_t)n_events + 1, sizeof(uint32_t)));
    w->n_order = 0;
    for (size_t i = 0; i < m->order.n; i++) {
        uint32_t v = m->order.at[i];

        if (v >= n_events || !m->g->happened[v / 2])
            continue;
        if (!is_split(own(m, v / 2))) {
            if (!(v & 1u))
                continue;
            w->order[w->n_order++] = v - 1;
        }
        w->order[w->n_order++] = v;
    }
}

bool hf_poly_judge_mixed(const hf_poly *p, const hf_graph_world *world,
                         const hf_txn_id *order, uint32_t n, hf_result *r,
                         hf_graph_findings *ret)
{
    hf_graph g = {.h = p->g->h,
                  .level = p->g->level,
                  .budget = p->g->budget,
                  .own = p->g->own,
                  .world = *world};
    mixed m = {.p = p, .g = &g, .arena = &r->arena, .ret = ret};
    bool valid = false;

    if (hf_graph_build_facts(&g) && hf_graph_build_edges(&g)) {
        if (!g.total)
            hf_graph_complete(&g, order, n);
        build(&m);
        if (!sort_nodes(&m))
            report_cycles(&m);
        if (ret->n == 0)
            check_all_visible(&m);
        valid = ret->n == 0 && !g.stopped && m.order.n == m.n_nodes;
        if (valid)
            set_valid(&m, r);
    }
    hf_vec_release(&m.edges);
    hf_vec_release(&m.order);
    hf_vec_release(&m.queue);
    hf_free(m.first);
    hf_free(m.by_from);
    hf_free(m.waits);
    hf_free(m.met);
    hf_free(m.via);
    hf_graph_release(&g);
    return valid;
}
