/* weak_proof.c: a cycle of known and forced edges, as a proof.
 *
 * A forced edge t2 -> t1 on x, because t3 reads x from t1 and t2 is visible to
 * it, is one step of a proof: if t1's version came before t2's, t3 rw t2 and
 * the way from t2 to t3 would be a cycle that the level forbids.  So
 * t2's is before t1's.  The cycle of known and forced edges is one more step,
 * and says that one of its forced edges is not there; resolved with the steps
 * of all of them nothing remains.
 *
 * In each component the shortest cycle is looked for, from every transaction
 * that a forced edge leads to, until some number of steps is spent.  A step
 * along a session may skip transactions; sets of transactions
 * (weak_session.c) are gone through without a step.
 */
#include "check/weak.h"

#include <string.h>

#include "check/cycle_name.h"

#define SEARCH_STEPS 4000000u /* in one component */
#define MOST_PROOFS 10u

/* How the search came from a transaction to the next. */
typedef struct link {
    uint32_t round;
    hf_txn_id next;
    uint32_t length; /* to the start */
    hf_edge_kind kind;
    hf_op_id op; /* wr: the read; ww: a forced edge's read, or HF_NONE */
} link;

/* One edge of the cycle found. */
typedef struct cycle_edge {
    hf_txn_id from;
    link to;
} cycle_edge;

typedef struct prover {
    hf_weak *w;
    hf_graph_report *r;
    const uint32_t *component; /* per node */
    uint32_t id;
    uint32_t round;
    link *links;    /* per transaction */
    uint32_t *sets; /* per set of transactions: the round it was met in */
    uint32_t *done; /* per session: round, then up to where it was met */
    uint32_t *done_round;
    HF_VEC(hf_txn_id) queue;
    HF_VEC(uint32_t) stack;
    uint64_t steps;
    hf_txn_id start;
    HF_VEC(cycle_edge) found, best;
    /* the proof */
    hf_weak_edges edges, way;
    HF_VEC(hf_step) list;
    HF_VEC(uint32_t) used;
} prover;

/* ---- searching ----------------------------------------------------------- */

static void keep_cycle(prover *p, link first)
{
    hf_txn_id t = p->start;

    p->found.n = 0;
    hf_vec_push(&p->found, (cycle_edge){t, first});
    for (t = first.next; t != p->start; t = p->links[t].next)
        hf_vec_push(&p->found, (cycle_edge){t, p->links[t]});
}

/* An edge from `from` to `l.next`.  True if it closes the cycle. */
static bool meet(prover *p, hf_txn_id from, link l)
{
    p->steps++;
    if (from == HF_NONE || p->component[from] != p->id)
        return false;
    if (from == p->start) {
        keep_cycle(p, l);
        return true;
    }
    if (p->links[from].round == p->round)
        return false;
    l.round = p->round;
    p->links[from] = l;
    hf_vec_push(&p->queue, from);
    return false;
}

/* The members of a set, each with a forced edge of this read. */
static bool meet_set(prover *p, uint32_t set, link l)
{
    const hf_weak *w = p->w;
    uint32_t n = w->h->n_txns;

    p->stack.n = 0;
    hf_vec_push(&p->stack, set);
    while (p->stack.n > 0) {
        uint32_t node = p->stack.at[--p->stack.n];

        if (p->sets[node - n] == p->round)
            continue;
        p->sets[node - n] = p->round;
        for (uint32_t i = w->in_first[node]; i < w->in_first[node + 1]; i++) {
            uint32_t from = w->edges.at[w->in[i]].from;

            if (from >= n)
                hf_vec_push(&p->stack, from);
            else if (meet(p, from, l))
                return true;
        }
    }
    return false;
}

static bool meet_session(prover *p, hf_txn_id t, link l)
{
    const hf_weak *w = p->w;
    const hf_history *h = w->h;
    hf_session_id s = h->txn_session[t];
    uint32_t from = w->pos[t], end = h->session_first[s];

    if (!w->g->session_prev)
        return false;
    l.kind = HF_EDGE_SO;
    if (p->done_round[s] != p->round) {
        p->done_round[s] = p->round;
        p->done[s] = 0;
    }
    if (p->done[s] > end)
        end = p->done[s];
    if (p->done[s] < from)
        p->done[s] = from;
    while (from-- > end)
        if (w->g->happened[h->session_txns[from]] &&
            meet(p, h->session_txns[from], l))
            return true;
    return false;
}

/* What t reads, and what is known to be before what it writes. */
static bool meet_versions(prover *p, hf_txn_id t, link l)
{
    const hf_graph *g = p->w->g;
    const hf_history *h = g->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t v = hf_graph_source(g, o), role = g->op_role[o];
        hf_key_id key = h->op_key[o];

        l.kind = HF_EDGE_WR;
        l.op = o;
        if (v != HF_NONE && g->reads_matter && meet(p, g->ver_txn[v], l))
            return true;
        if (role == HF_NONE || !(role & 1u))
            continue;
        v = role / 2 < g->chain_end[key]    ? role / 2 - 1
            : g->key_use[key] & HF_USE_LIST ? g->chain_end[key] - 1
                                            : HF_NONE;
        l.kind = HF_EDGE_WW;
        l.op = HF_NONE;
        if (v != HF_NONE && meet(p, g->ver_txn[v], l))
            return true;
    }
    return false;
}

static bool meet_forced(prover *p, hf_txn_id t, link l)
{
    const hf_weak *w = p->w;

    l.kind = HF_EDGE_WW;
    for (uint32_t i = w->in_first[t]; i < w->in_first[t + 1]; i++) {
        hf_weak_edge e = w->edges.at[w->in[i]];

        l.op = e.read;
        if (e.from >= w->h->n_txns ? meet_set(p, e.from, l)
                                   : meet(p, e.from, l))
            return true;
    }
    return false;
}

/* The shortest cycle through the start, if it is shorter than the best. */
static bool search_from(prover *p, hf_txn_id start)
{
    size_t most = p->best.n ? p->best.n - 1 : SIZE_MAX;

    p->round++;
    p->start = start;
    p->queue.n = 0;
    p->links[start] = (link){.round = p->round, .next = start};
    hf_vec_push(&p->queue, start);
    for (size_t i = 0; i < p->queue.n; i++) {
        hf_txn_id t = p->queue.at[i];
        link l = {.next = t, .length = p->links[t].length + 1, .op = HF_NONE};

        if (l.length > most)
            return false;
        if (meet_versions(p, t, l) || meet_session(p, t, l) ||
            meet_forced(p, t, l))
            return true;
        if ((i & 0xff) == 0 && hf_graph_spent(p->w->g))
            return false;
    }
    return false;
}

/* ---- writing ------------------------------------------------------------- */

static void add_step(prover *p, hf_step_kind kind, size_t first, size_t n)
{
    hf_vec_push(&p->list, (hf_step){.kind = kind,
                                    .first = (uint32_t)first,
                                    .n = (uint32_t)n,
                                    .op = HF_NONE,
                                    .writer = HF_NONE});
}

/* t3 rw t2, and back. */
static void add_reason(prover *p, hf_txn_id t2, hf_op_id read)
{
    hf_weak *w = p->w;
    hf_key_id key = w->h->op_key[read];
    uint32_t ver = hf_weak_version_of(w, t2, key);
    size_t first = p->edges.n;

    hf_weak_way(w, t2, read, &p->way);
    hf_vec_push(&p->edges, (hf_edge){HF_EDGE_RW, hf_op_txn(w->h, read), t2, key,
                                     read, w->g->ver_op[ver]});
    for (size_t i = 0; i < p->way.n; i++)
        hf_vec_push(&p->edges, p->way.at[i]);
    add_step(p, HF_STEP_CYCLE, first, p->edges.n - first);
}

/* A key whose versions are known to be in this order. */
static hf_key_id known_key(prover *p, hf_txn_id from, hf_txn_id to)
{
    const hf_weak *w = p->w;
    const hf_graph *g = w->g;
    const hf_history *h = w->h;

    for (hf_op_id o = h->op_first[to]; o < h->op_first[to + 1]; o++) {
        uint32_t role = g->op_role[o], v;

        if (role == HF_NONE || !(role & 1u))
            continue;
        v = hf_graph_version_of(g, from, h->op_key[o]);
        if (v != HF_NONE && hf_weak_is_certain(w, v, role / 2))
            return h->op_key[o];
    }
    for (size_t i = 0; i < w->pairs.n; i++)
        if (g->ver_txn[w->pairs.at[i].first] == from &&
            g->ver_txn[w->pairs.at[i].then] == to)
            return h->op_key[g->ver_op[w->pairs.at[i].then]];
    return HF_NONE;
}

static hf_edge edge_of(prover *p, const cycle_edge *c)
{
    hf_weak *w = p->w;
    const hf_graph *g = w->g;
    hf_edge e = {c->to.kind, c->from, c->to.next, HF_NONE, HF_NONE, HF_NONE};
    uint32_t v;

    if (e.kind == HF_EDGE_SO)
        return e;
    if (e.kind == HF_EDGE_WR) {
        v = hf_graph_source(g, c->to.op);
        e.key = w->h->op_key[c->to.op];
        e.from_op = g->ver_op[v];
        e.to_op = c->to.op;
        return e;
    }
    e.key = c->to.op == HF_NONE ? known_key(p, e.from, e.to)
                                : w->h->op_key[c->to.op];
    e.from_op = g->ver_op[hf_weak_version_of(w, e.from, e.key)];
    e.to_op = g->ver_op[hf_weak_version_of(w, e.to, e.key)];
    return e;
}

static bool is_forced(const cycle_edge *c)
{
    return c->to.kind == HF_EDGE_WW && c->to.op != HF_NONE;
}

/* Two forced edges of one key, there and back, contradict each other without
 * a cycle. */
static bool is_contradiction(const prover *p)
{
    const hf_history *h = p->w->h;
    const cycle_edge *c = p->best.at;

    return p->best.n == 2 && is_forced(&c[0]) && is_forced(&c[1]) &&
           h->op_key[c[0].to.op] == h->op_key[c[1].to.op];
}

static void *keep(hf_arena *arena, const void *from, size_t n, size_t size)
{
    void *to = hf_arena_get(arena, hf_array_size(n + 1, size));

    memcpy(to, from, n * size);
    return to;
}

static void deliver(prover *p)
{
    hf_finding f = {
        .anomaly = HF_NO_ORDER,
        .witness = {.kind = HF_WITNESS_PROOF, .anomaly = HF_NO_ORDER}};
    hf_witness *w = &f.witness;
    hf_arena *arena = p->r->arena;

    w->rests = hf_graph_rests_of(p->w->g, p->edges.at, (uint32_t)p->edges.n);
    w->n_edges = (uint32_t)p->edges.n;
    w->edges = keep(arena, p->edges.at, p->edges.n, sizeof(hf_edge));
    w->n_steps = (uint32_t)p->list.n;
    w->steps = keep(arena, p->list.at, p->list.n, sizeof(hf_step));
    w->n_used = (uint32_t)p->used.n;
    w->used = keep(arena, p->used.at, p->used.n, sizeof(uint32_t));
    hf_vec_push(&p->r->found, f);
}

static void write_proof(prover *p)
{
    bool cycle = !is_contradiction(p);
    uint32_t n_reasons;

    p->edges.n = p->list.n = p->used.n = 0;
    for (size_t i = 0; i < p->best.n; i++)
        if (is_forced(&p->best.at[i]))
            add_reason(p, p->best.at[i].from, p->best.at[i].to.op);
    n_reasons = (uint32_t)p->list.n;
    if (cycle) {
        size_t first = p->edges.n;

        for (size_t i = 0; i < p->best.n; i++)
            hf_vec_push(&p->edges, edge_of(p, &p->best.at[i]));
        add_step(p, HF_STEP_CYCLE, first, p->best.n);
        hf_vec_push(&p->used, n_reasons);
    }
    for (uint32_t i = 0; i < n_reasons; i++)
        hf_vec_push(&p->used, i);
    add_step(p, HF_STEP_RESOLVE, 0, p->used.n);
    deliver(p);
}

/* ---- all ----------------------------------------------------------------- */

static void prove_component(prover *p)
{
    hf_weak *w = p->w;

    p->best.n = 0;
    p->steps = 0;
    for (hf_txn_id t = 0; t < w->h->n_txns; t++) {
        if (p->component[t] != p->id || w->in_first[t] == w->in_first[t + 1])
            continue;
        if (search_from(p, t)) {
            p->best.n = 0;
            for (size_t i = 0; i < p->found.n; i++)
                hf_vec_push(&p->best, p->found.at[i]);
        }
        if (p->best.n == 2 || p->steps > SEARCH_STEPS || w->g->stopped)
            break;
    }
    if (p->best.n > 0)
        write_proof(p);
}

static void prepare(prover *p)
{
    const hf_weak *w = p->w;
    size_t n = (size_t)w->h->n_sessions + 1;

    p->links = HF_NEW_ZEROED(link, (size_t)w->h->n_txns + 1);
    p->sets = HF_NEW_ZEROED(uint32_t, (size_t)(w->n_nodes - w->h->n_txns) + 1);
    p->done = HF_NEW_ZEROED(uint32_t, n);
    p->done_round = HF_NEW_ZEROED(uint32_t, n);
}

static void release(prover *p)
{
    hf_free(p->links);
    hf_free(p->sets);
    hf_free(p->done);
    hf_free(p->done_round);
    hf_vec_release(&p->queue);
    hf_vec_release(&p->stack);
    hf_vec_release(&p->found);
    hf_vec_release(&p->best);
    hf_vec_release(&p->edges);
    hf_vec_release(&p->way);
    hf_vec_release(&p->list);
    hf_vec_release(&p->used);
}

void hf_weak_prove(hf_weak *w, hf_graph_report *r)
{
    prover p = {.w = w, .r = r};
    uint32_t n = 0, *component;

    hf_weak_index_edges(w);
    hf_weak_index_places(w);
    component = hf_weak_components(w, &n);
    p.component = component;
    prepare(&p);
    for (p.id = 0; p.id < n && p.id < MOST_PROOFS && !w->g->stopped; p.id++) {
        hf_budget_progress(w->g->budget, "components with a cycle", p.id, n);
        prove_component(&p);
    }
    r->count[HF_NO_ORDER] += n;
    hf_free(component);
    release(&p);
}
