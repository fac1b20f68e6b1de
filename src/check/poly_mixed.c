/* poly_mixed.c: one world, each transaction judged by its own level.
 *
 * docs/semantics.md, "Mixed levels".  What a level demands of an order of
 * events is a graph (poly_events.c); a cycle of it is a contradiction.  What
 * the levels ask that are no order of events is in poly_sight.c.
 *
 * The edges of the graph, and a heap for an order near the one of the search.
 */
#include "check/poly_mixed.h"

#include <string.h>

#include "check/poly_proof.h"

/* ---- the graph ----------------------------------------------------------- */

static void add(void *user, uint32_t from, uint32_t to, hf_event_label label)
{
    hf_mixed *m = user;

    hf_vec_push(&m->edges, (hf_mixed_edge){from, to, label, HF_NONE});
}

static void sort_edges(hf_mixed *m)
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

static void build(hf_mixed *m)
{
    hf_poly_build(&m->events, m->g, 0, HF_WALK_PLAIN, NULL);
    hf_poly_make_events(&m->events, 0);
    m->n_nodes = hf_poly_n_nodes(&m->events);
    hf_poly_event_edges(&m->events, add, m);
    if (m->g->pred)
        hf_mixed_link_looks(m);
    sort_edges(m);
}

/* ---- cycles -------------------------------------------------------------- */

/* Where the search had a node; those that only carry edges on come at once. */
static uint32_t rank_of(const hf_mixed *m, uint32_t v)
{
    const uint32_t *place = hf_order_place(m->search->order);
    hf_txn_id t = v / 2;

    if (v >= 2 * m->g->h->n_txns)
        return 0;
    return place[v & 1u ? hf_poly_commit(m->search, t)
                        : hf_poly_start(m->search, t)];
}

/* A heap of nodes that wait for nobody, the first of the search on top. */
static void push_ready(hf_mixed *m, uint32_t v)
{
    uint64_t item = (uint64_t)rank_of(m, v) << 32 | v;
    size_t i = m->ready.n;

    hf_vec_push(&m->ready, item);
    for (; i > 0 && m->ready.at[(i - 1) / 2] > item; i = (i - 1) / 2)
        m->ready.at[i] = m->ready.at[(i - 1) / 2];
    m->ready.at[i] = item;
}

static uint32_t pop_ready(hf_mixed *m)
{
    uint64_t top = m->ready.at[0], item = m->ready.at[--m->ready.n];
    size_t i = 0, n = m->ready.n;

    for (;;) {
        size_t child = 2 * i + 1;

        if (child + 1 < n && m->ready.at[child + 1] < m->ready.at[child])
            child++;
        if (child >= n || m->ready.at[child] >= item)
            break;
        m->ready.at[i] = m->ready.at[child];
        i = child;
    }
    if (n > 0)
        m->ready.at[i] = item;
    return (uint32_t)top;
}

/* Kahn's, as near to the order of the search as the edges allow; what is left
 * waits for a cycle. */
static bool sort_nodes(hf_mixed *m)
{
    for (uint32_t v = 0; v < m->n_nodes; v++)
        if (m->waits[v] == 0)
            push_ready(m, v);
    while (m->ready.n > 0) {
        uint32_t v = pop_ready(m);

        hf_vec_push(&m->order, v);
        for (uint32_t k = m->first[v]; k < m->first[v + 1]; k++) {
            uint32_t to = m->edges.at[m->by_from[k]].to;

            if (--m->waits[to] == 0)
                push_ready(m, to);
        }
    }
    return m->order.n == m->n_nodes;
}

/* The shortest way back to `start`; via[] leads back along it. */
static bool find_way_back(hf_mixed *m, uint32_t start)
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
static void label(const hf_mixed *m, const number_list *hops, edge_list *ret)
{
    uint32_t n_events = m->events.nodes.times;
    size_t n = hops->n, first = 0;
    hf_txn_id from = HF_NONE;

    while (m->edges.at[hops->at[first]].from >= n_events)
        first++;
    for (size_t i = 0; i < n; i++) {
        const hf_mixed_edge *x = &m->edges.at[hops->at[(first + i) % n]];

        if (x->from < n_events)
            from = x->from / 2;
        if (x->named != HF_NONE)
            hf_vec_push(ret, m->named.at[x->named]);
        else if (x->label.kind != HF_EDGE_KIND_COUNT)
            hf_vec_push(ret,
                        hf_poly_event_edge(m->g, x->label, from, x->to / 2));
    }
}

/* A transaction that is met twice divides the cycle, and one part is a cycle
 * by itself: the one into whose joint one comes at the start, or leaves from
 * the commit. */
static void make_simple(const hf_mixed *m, edge_list *c)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = i + 1; j < c->n; j++) {
            if (c->at[i].from != c->at[j].from)
                continue;
            if (hf_poly_enters_at(&m->events, &c->at[j - 1]) <=
                hf_poly_leaves_from(&m->events, &c->at[i])) {
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

void hf_mixed_report(hf_mixed *m, const hf_edge *edges, uint32_t n)
{
    hf_finding f = {.witness = {.kind = HF_WITNESS_CYCLE, .n_edges = n}};

    f.witness.edges = hf_arena_get(m->arena, n * sizeof(*edges));
    memcpy(f.witness.edges, edges, n * sizeof(*edges));
    hf_vec_push(m->ret, f);
}

static void report_cycle(hf_mixed *m, uint32_t start)
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
    hf_mixed_report(m, edges.at, (uint32_t)edges.n);
    hf_vec_release(&hops);
    hf_vec_release(&edges);
}

static void report_cycles(hf_mixed *m)
{
    for (uint32_t v = 0; v < m->n_nodes && m->ret->n < HF_MIXED_MOST; v++)
        if (m->waits[v] > 0 && find_way_back(m, v))
            report_cycle(m, v);
}

/* ---- all ----------------------------------------------------------------- */

/* Events in the order of the graph; where start and commit are one, both. */
static void set_valid(hf_mixed *m, hf_result *r)
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
        if (!(m->events.events[v / 2] & HF_EVENT_SPLIT)) {
            if (!(v & 1u))
                continue;
            w->order[w->n_order++] = v - 1;
        }
        w->order[w->n_order++] = v;
    }
}

static void release(hf_mixed *m)
{
    hf_poly_release(&m->events);
    hf_vec_release(&m->edges);
    hf_vec_release(&m->order);
    hf_vec_release(&m->ready);
    hf_vec_release(&m->queue);
    hf_vec_release(&m->looks);
    hf_vec_release(&m->named);
    hf_free(m->look_first);
    hf_free(m->first);
    hf_free(m->by_from);
    hf_free(m->waits);
    hf_free(m->met);
    hf_free(m->via);
    hf_pred_free(m->g->pred);
    hf_graph_release(m->g);
}

/* The conditions of the world, in which every order is known. */
static bool look(hf_mixed *m)
{
    if (!m->g->predicates)
        return true;
    if (!hf_pred_build(m->g))
        return false;
    hf_mixed_list_looks(m);
    return true;
}

/* They leave open whether it is right. */
static bool is_open(const hf_mixed *m, hf_result *r)
{
    const hf_graph *g = m->g;

    if (!g->pred || (!g->undecided[0] && g->pred->conflicts.n == 0))
        return false;
    if (g->pred->conflicts.n > 0)
        hf_vec_push(m->ret, hf_poly_conflict(g->pred, m->arena));
    else
        r->reason =
            hf_arena_text(&r->arena, g->undecided, strlen(g->undecided));
    return true;
}

bool hf_poly_judge_mixed(const hf_poly *p, const hf_graph_world *world,
                         const hf_txn_id *order, uint32_t n, hf_result *r,
                         hf_graph_findings *ret)
{
    hf_graph g = {.h = p->g->h,
                  .level = p->g->level,
                  .budget = p->g->budget,
                  .options = p->g->options,
                  .own = p->g->own,
                  .others = p->g->others,
                  .predicates = p->g->predicates,
                  .world = *world};
    hf_mixed m = {.search = p, .g = &g, .arena = &r->arena, .ret = ret};
    bool valid = false;

    if (hf_graph_build_facts(&g) && hf_graph_build_edges(&g)) {
        if (!g.total)
            hf_graph_complete(&g, order, n);
        memset(g.open_key, 0, g.h->n_keys);
        g.n_open_keys = 0;
        if (look(&m)) {
            build(&m);
            if (!sort_nodes(&m))
                report_cycles(&m);
            if (ret->n == 0)
                hf_mixed_check_visible(&m);
            valid = ret->n == 0 && !g.stopped && m.order.n == m.n_nodes &&
                    !is_open(&m, r);
        }
        if (valid)
            set_valid(&m, r);
    }
    release(&m);
    return valid;
}
