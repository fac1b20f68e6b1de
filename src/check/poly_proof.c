/* poly_proof.c: what the search found, in the words of a witness.
 *
 * The solver's steps speak of nodes.  A cycle of nodes becomes a cycle of
 * labelled edges: nodes that only carry edges on disappear, a step from the
 * start to the commit of a transaction as well.  If a transaction is visited
 * twice, the cycle falls apart there, and one of the two parts is forbidden by
 * itself: its clause is stronger, and what was resolved away from the rest is
 * passed over by the reader of the proof.
 *
 * A pair that reachability decided (poly_prune.c) is a lemma of its own: the
 * cycle there would be the other way round, in the graph of the round in which
 * it was found.  Only those that are used are explained, each once.
 */
#include "check/poly_proof.h"

#include <string.h>

#include "base/error.h"

/* ---- cycles -------------------------------------------------------------- */

/* Does the level forbid this closed walk?  Nowhere does it come to a
 * transaction at its commit and leave it from its start. */
static bool is_forbidden(const hf_poly *p, const hf_told_edge *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (hf_poly_enters_at(p, &e[(i + n - 1) % n].e) >
            hf_poly_leaves_from(p, &e[i].e))
            return false;
    return true;
}

/* Finds i < j with one transaction; false: none is met twice. */
static bool find_twice(const hf_told_edges *c, size_t *ret_i, size_t *ret_j)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = i + 1; j < c->n; j++)
            if (c->at[i].e.from == c->at[j].e.from) {
                *ret_i = i;
                *ret_j = j;
                return true;
            }
    return false;
}

static void make_simple(hf_prover *v)
{
    hf_told_edges *c = &v->cycle;
    size_t i, j;

    while (find_twice(c, &i, &j)) {
        if (is_forbidden(v->p, c->at + i, j - i)) {
            memmove(c->at, c->at + i, (j - i) * sizeof(*c->at));
            c->n = j - i;
        } else {
            memmove(c->at + i, c->at + j, (c->n - j) * sizeof(*c->at));
            c->n -= j - i;
        }
    }
}

/* The cycle at hand is simple; it is kept, and forced pairs in it have to be
 * explained. */
static uint32_t keep_cycle(hf_prover *v)
{
    hf_poly_cycle c = {(uint32_t)v->all.n, 0};

    make_simple(v);
    c.n = (uint32_t)v->cycle.n;
    for (size_t i = 0; i < v->cycle.n; i++) {
        const hf_told_edge *l = &v->cycle.at[i];

        hf_vec_push(&v->all, *l);
        if (l->forced != HF_NONE)
            hf_vec_push(&v->waiting, l->forced);
    }
    hf_vec_push(&v->cycles, c);
    return (uint32_t)v->cycles.n - 1;
}

/* ---- forced pairs -------------------------------------------------------- */

typedef struct collector {
    hf_prover *v;
    HF_VEC(uint64_t) edges;
} collector;

static void collect(void *user, uint32_t from, uint32_t to)
{
    collector *c = user;

    hf_vec_push(&c->edges, (uint64_t)from << 32 | to);
}

/* The graph, forced edges included. */
static void list_edges(hf_prover *v)
{
    const hf_poly *p = v->p;
    uint32_t n = hf_poly_n_nodes(p);
    collector c = {.v = v};

    hf_poly_known(v->p, collect, &c);
    v->first = HF_NEW_ZEROED(uint32_t, (size_t)n + 3);
    v->to = HF_NEW_ARRAY(uint32_t, c.edges.n + 1);
    v->from = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    v->queue = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    v->met = HF_NEW_ZEROED(uint32_t, (size_t)n + 1);
    for (size_t i = 0; i < c.edges.n; i++)
        v->first[(c.edges.at[i] >> 32) + 2]++;
    for (uint32_t x = 0; x <= n; x++)
        v->first[x + 1] += v->first[x];
    for (size_t i = 0; i < c.edges.n; i++) {
        uint32_t at = v->first[(c.edges.at[i] >> 32) + 1]++;

        v->to[at] = (uint32_t)c.edges.at[i];
    }
    hf_vec_release(&c.edges);
}

/* The round from which on an edge is there.  One that a forced pair brought
 * was not there before. */
static uint32_t round_of_edge(const hf_poly *p, uint32_t from, uint32_t to)
{
    uint32_t j = hf_map_get(&p->forced_edge, (uint64_t)from << 32 | to);

    return j == UINT32_MAX ? 0 : p->forced.at[j].round + 1;
}

/* The shortest way through edges that were there in the round. */
static bool find_way(hf_prover *v, uint32_t start, uint32_t end, uint32_t round)
{
    uint32_t head = 0, n = 0;

    v->n_met++;
    v->queue[n++] = start;
    v->met[start] = v->n_met;
    while (head < n && v->met[end] != v->n_met) {
        uint32_t x = v->queue[head++];

        for (uint32_t i = v->first[x]; i < v->first[x + 1]; i++) {
            uint32_t y = v->to[i];

            if (v->met[y] == v->n_met || round_of_edge(v->p, x, y) > round)
                continue;
            v->met[y] = v->n_met;
            v->from[y] = x;
            v->queue[n++] = y;
        }
    }
    return v->met[end] == v->n_met;
}

/* Pair j the other way round is a cycle: its edge, and the way back. */
static void explain(hf_prover *v, uint32_t j)
{
    const hf_poly *p = v->p;
    hf_poly_forced f = p->forced.at[j];
    hf_poly_edges edges = {0};
    HF_VEC(hf_order_step_edge) hops = {0};
    hf_edge turned;
    size_t i = 0;

    hf_poly_edges_of(p, f.b, f.a, &edges);
    while (i < edges.n &&
           !find_way(v, edges.at[i].to, edges.at[i].from, f.round))
        i++;
    if (i == edges.n)
        HF_BUG("a forced pair is not forced");
    for (uint32_t x = edges.at[i].from; x != edges.at[i].to; x = v->from[x])
        hf_vec_push(&hops, (hf_order_step_edge){v->from[x], x, HF_NO_TAG});
    for (size_t k = 0; k < hops.n / 2; k++) {
        hf_order_step_edge swap = hops.at[k];

        hops.at[k] = hops.at[hops.n - 1 - k];
        hops.at[hops.n - 1 - k] = swap;
    }
    turned = hf_poly_pair_edge(p, hf_poly_txn(p, edges.at[i].from), f.b, f.a);
    hf_prover_label_way(v, hops.at, (uint32_t)hops.n);
    hf_vec_push(&v->cycle, (hf_told_edge){turned, HF_CHOSEN_ONLY, HF_NONE});
    v->forced_cycle[j] = keep_cycle(v);
    hf_vec_release(&hops);
    hf_vec_release(&edges);
}

static void explain_forced(hf_prover *v)
{
    if (v->waiting.n > 0)
        list_edges(v);
    while (v->waiting.n > 0) {
        uint32_t j = v->waiting.at[--v->waiting.n];

        if (v->forced_cycle[j] == HF_NONE)
            explain(v, j);
    }
}

/* ---- steps --------------------------------------------------------------- */

static uint32_t add_step(hf_prover *v, hf_step s)
{
    hf_vec_push(&v->steps, s);
    return (uint32_t)v->steps.n - 1;
}

/* The cycle as a step; if forced pairs are in it, resolved with those. */
static uint32_t add_cycle(hf_prover *v, uint32_t index)
{
    hf_poly_cycle c = v->cycles.at[index];
    uint32_t step = add_step(v, (hf_step){HF_STEP_CYCLE, (uint32_t)v->edges.n,
                                          c.n, HF_NONE, HF_NONE, 0});
    uint32_t first = (uint32_t)v->used.n;

    for (uint32_t i = 0; i < c.n; i++)
        hf_vec_push(&v->edges, v->all.at[c.first + i]);
    for (uint32_t i = 0; i < c.n; i++) {
        uint32_t j = v->all.at[c.first + i].forced;
        bool again = false;

        for (uint32_t k = 0; j != HF_NONE && k < i; k++)
            again |= v->all.at[c.first + k].forced == j;
        if (j == HF_NONE || again)
            continue;
        if (v->used.n == first)
            hf_vec_push(&v->used, step);
        hf_vec_push(&v->used, v->forced_step[j]);
    }
    if (v->used.n == first)
        return step;
    return add_step(v, (hf_step){HF_STEP_RESOLVE, first,
                                 (uint32_t)v->used.n - first, HF_NONE, HF_NONE,
                                 0});
}

/* A clause that rests on the history alone. */
static uint32_t add_plain(hf_prover *v, const hf_poly_clause *c)
{
    const hf_poly *p = v->p;
    hf_step s = {c->kind, 0, 0, c->op, c->writer, c->entry};

    if (c->kind == HF_STEP_CYCLE || c->kind == HF_STEP_LIST ||
        c->kind == HF_STEP_PROMISE) {
        s.first = (uint32_t)v->edges.n;
        s.n = c->n;
        for (uint32_t i = 0; i < c->n; i++)
            hf_vec_push(&v->edges,
                        (hf_told_edge){p->lemma_edges.at[c->first + i],
                                       p->lemma_chosen.at[c->first + i],
                                       HF_NONE});
    }
    return add_step(v, s);
}

/* A clause that the solver was given; where sources of lists follow from
 * orders, resolved with what says so. */
static uint32_t add_clause(hf_prover *v, const hf_poly_clause *c)
{
    const hf_poly *p = v->p;
    uint32_t step = add_plain(v, c), n = c->n_lists, first;
    uint32_t *lists;

    if (n == 0)
        return step;
    lists = HF_NEW_ARRAY(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        lists[i] = add_plain(v, &p->lemma_lists.at[c->first_list + i]);
    first = (uint32_t)v->used.n;
    hf_vec_push(&v->used, step);
    for (uint32_t i = 0; i < n; i++)
        hf_vec_push(&v->used, lists[i]);
    hf_free(lists);
    return add_step(
        v, (hf_step){HF_STEP_RESOLVE, first, n + 1, HF_NONE, HF_NONE, 0});
}

static uint32_t add_resolution(hf_prover *v, const hf_order_proof *proof,
                               const hf_order_step *s, const uint32_t *number)
{
    uint32_t first = (uint32_t)v->used.n;

    for (uint32_t i = 0; i < s->n; i++)
        hf_vec_push(&v->used, number[proof->used[s->first + i]]);
    return add_step(
        v, (hf_step){HF_STEP_RESOLVE, first, s->n, HF_NONE, HF_NONE, 0});
}

static void add_steps(hf_prover *v, const hf_order_proof *proof)
{
    const hf_poly *p = v->p;
    uint32_t *number = HF_NEW_ARRAY(uint32_t, (size_t)proof->n_steps + 1);

    for (uint32_t i = 0; i < proof->n_steps; i++) {
        number[i] = HF_NONE;
        if (proof->steps[i].kind != HF_ORDER_STEP_CYCLE)
            continue;
        hf_prover_label_cycle(v, proof->edges + proof->steps[i].first,
                              proof->steps[i].n);
        number[i] = keep_cycle(v);
    }
    explain_forced(v);
    for (uint32_t j = 0; j < p->forced.n; j++)
        if (v->forced_cycle[j] != HF_NONE)
            v->forced_step[j] = add_cycle(v, v->forced_cycle[j]);
    for (uint32_t i = 0; i < proof->n_steps; i++) {
        const hf_order_step *s = &proof->steps[i];

        if (s->kind == HF_ORDER_STEP_RESOLVE)
            number[i] = add_resolution(v, proof, s, number);
        else if (s->kind == HF_ORDER_STEP_CLAUSE)
            number[i] = add_clause(v, &p->clauses.at[s->source]);
        else
            number[i] = add_cycle(v, number[i]);
    }
    hf_free(number);
}

/* ---- all ----------------------------------------------------------------- */

static void *kept(hf_arena *arena, const void *at, size_t n, size_t size)
{
    void *copy = hf_arena_get(arena, hf_array_size(n + 1, size));

    if (n > 0)
        memcpy(copy, at, n * size);
    return copy;
}

static void store(const hf_prover *v, hf_arena *arena, hf_witness *w)
{
    size_t n = v->edges.n;
    bool any = false;

    w->n_steps = (uint32_t)v->steps.n;
    w->steps = kept(arena, v->steps.at, v->steps.n, sizeof(hf_step));
    w->n_used = (uint32_t)v->used.n;
    w->used = kept(arena, v->used.at, v->used.n, sizeof(uint32_t));
    w->n_edges = (uint32_t)n;
    w->edges = hf_arena_get(arena, hf_array_size(n + 1, sizeof(hf_edge)));
    w->chosen = hf_arena_get(arena, hf_array_size(n + 1, sizeof(uint32_t)));
    for (size_t i = 0; i < n; i++) {
        w->edges[i] = v->edges.at[i].e;
        w->chosen[i] = v->edges.at[i].chosen;
        any |= w->chosen[i] != HF_CHOSEN_ONLY;
    }
    if (!any)
        w->chosen = NULL;
}

static void release(hf_prover *v)
{
    hf_vec_release(&v->in);
    hf_vec_release(&v->cycle);
    hf_vec_release(&v->all);
    hf_vec_release(&v->waiting);
    hf_vec_release(&v->cycles);
    hf_vec_release(&v->edges);
    hf_vec_release(&v->steps);
    hf_vec_release(&v->used);
    hf_vec_release(&v->events);
    hf_map_release(&v->event_of);
    hf_free(v->forced_cycle);
    hf_free(v->forced_step);
    hf_free(v->first);
    hf_free(v->to);
    hf_free(v->from);
    hf_free(v->queue);
    hf_free(v->met);
}

static bool can_be_told(const hf_poly *p, const hf_order_proof *proof)
{
    for (uint32_t i = 0; i < proof->n_steps; i++)
        if (proof->steps[i].kind == HF_ORDER_STEP_CLAUSE &&
            p->clauses.at[proof->steps[i].source].kind == HF_STEP_KIND_COUNT)
            return false;
    return true;
}

bool hf_poly_prove(hf_poly *p, const hf_order_proof *proof,
                   hf_graph_report *report)
{
    hf_prover v = {.p = p};
    hf_witness w = {.kind = HF_WITNESS_PROOF, .anomaly = HF_NO_ORDER};
    size_t room = p->forced.n + 1;

    if (!can_be_told(p, proof))
        return false;
    v.forced_cycle = HF_NEW_ARRAY(uint32_t, room);
    v.forced_step = HF_NEW_ARRAY(uint32_t, room);
    memset(v.forced_cycle, 0xff, room * sizeof(uint32_t));
    hf_map_init(&v.event_of);
    if (p->events)
        hf_poly_event_edges(p, hf_prover_note_event, &v);
    add_steps(&v, proof);
    store(&v, report->arena, &w);
    w.rests = hf_graph_rests_of(p->g, w.edges, w.n_edges);
    report->count[HF_NO_ORDER]++;
    hf_vec_push(&report->found,
                (hf_finding){.anomaly = HF_NO_ORDER, .witness = w});
    release(&v);
    return true;
}
