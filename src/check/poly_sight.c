/* poly_sight.c: what is visible to a transaction, in one world of mixed levels.
 *
 * The levels that are no order of events (consistent view and the like, and
 * those about what is visible) ask for each read whether somebody who is
 * visible to its transaction wrote a later version.
 *
 * A transaction to whom everything it read is the newest, at its place in the
 * order of the search, has nothing to fear: that costs its operations.  For the
 * others, everything between the first who wrote something newer and them.
 */
#include "check/poly_mixed.h"

#include <string.h>

typedef HF_VEC(hf_edge) edge_list;

/* A transaction that is before t, and the edge by which the next one on the way
 * to t is reached. */
typedef struct seen {
    hf_txn_id t;
    uint32_t next; /* in the list; HF_NONE: t itself */
    hf_edge e;
    hf_op_id by; /* t's own read that leads there; HF_NONE */
} seen;

typedef struct sight {
    hf_mixed *m;
    HF_VEC(seen) list;
    uint8_t *met;    /* per transaction */
    uint32_t *place; /* per node, in the order found here */
    uint32_t bound;  /* whoever commits before it does not matter */
} sight;

/* ---- places -------------------------------------------------------------- */

/* The writer of the version behind v, if there is one and it is not t. */
static hf_txn_id next_writer(const hf_graph *g, hf_key_id key, uint32_t v,
                             hf_txn_id t)
{
    if (v + 1 >= g->ver_end[key] || g->ver_txn[v + 1] == t)
        return HF_NONE;
    return g->ver_txn[v + 1];
}

/* The order of the search may not have all edges where some need not have
 * happened, and has none of conditions, nor of lists whose sources follow from
 * it. */
static bool has_all_edges(const hf_mixed *m)
{
    return !m->search->uncertain && !m->look_first && !m->g->world.loose;
}

/* Where everything that t demands to be before it ends, and where somebody
 * commits: in the order of the search, if it keeps all that is demanded (it may
 * have kept more for t); else in the order found here. */
static uint32_t horizon_of(const hf_mixed *m, const uint32_t *place,
                           hf_txn_id t)
{
    const hf_poly *p = m->search;

    return has_all_edges(m) ? hf_order_place(p->order)[hf_poly_start(p, t)]
                            : place[hf_poly_commit(&m->events, t)];
}

static uint32_t place_of(const hf_mixed *m, const uint32_t *place, hf_txn_id t)
{
    const hf_poly *p = m->search;

    return has_all_edges(m) ? hf_order_place(p->order)[hf_poly_commit(p, t)]
                            : place[hf_poly_commit(&m->events, t)];
}

/* The first who wrote a later version of what t read, if that was before t's
 * horizon: nobody before it can contradict a read of t.  HF_NONE: there is
 * none, and nobody who did is visible to t, whatever that means. */
static uint32_t first_newer(const hf_mixed *m, hf_txn_id t,
                            const uint32_t *place)
{
    const hf_graph *g = m->g;
    const hf_history *h = g->h;
    uint32_t horizon = horizon_of(m, place, t), first = HF_NONE;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t v = hf_graph_source(g, o), its;
        hf_txn_id next =
            v == HF_NONE ? HF_NONE : next_writer(g, h->op_key[o], v, t);

        if (next == HF_NONE)
            continue;
        its = place_of(m, place, next);
        if (its < horizon && its < first)
            first = its;
    }
    for (uint32_t i = m->look_first ? m->look_first[t] : 0;
         m->look_first && i < m->look_first[t + 1]; i++) {
        uint32_t v = hf_mixed_later(m, t, &m->looks.at[i]), its;

        if (v == HF_NONE)
            continue;
        its = place_of(m, place, g->ver_txn[v]);
        if (its < horizon && its < first)
            first = its;
    }
    return first;
}

/* ---- who is visible ------------------------------------------------------ */

/* Edges lead forward in the order, so those before the bound lead to nobody
 * behind it. */
static void see(sight *s, hf_txn_id t, uint32_t next, hf_edge e, bool once)
{
    hf_op_id by = next != HF_NONE ? s->list.at[next].by
                  : e.kind == HF_EDGE_WR || e.kind == HF_EDGE_PWR ? e.to_op
                                                                  : HF_NONE;

    if (t == HF_NONE || (once && s->met[t]) ||
        place_of(s->m, s->place, t) < s->bound)
        return;
    s->met[t] = 1;
    hf_vec_push(&s->list, (seen){t, next, e, by});
}

typedef struct looking {
    sight *s;
    uint32_t next;
    bool once;
} looking;

static void see_source(void *user, hf_edge e)
{
    const looking *l = user;

    see(l->s, e.from, l->next, e, l->once);
}

/* ... through conditions. */
static void see_looks(sight *s, hf_txn_id t, uint32_t next, bool once)
{
    const hf_mixed *m = s->m;
    looking l = {s, next, once};

    for (uint32_t i = m->look_first[t]; i < m->look_first[t + 1]; i++)
        hf_mixed_sources(m, t, &m->looks.at[i], see_source, &l);
}

/* Everybody with an edge of these kinds into t, as far as t's level has it. */
static void see_before(sight *s, hf_txn_id t, uint32_t next, unsigned kinds,
                       bool once)
{
    const hf_graph *g = s->m->g;
    const hf_history *h = g->h;
    const hf_level_info *l = hf_mixed_own(s->m, t);

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t role = g->op_role[o], v = hf_graph_source(g, o);

        if (v != HF_NONE && (kinds & HF_WALK_WR) && l->shape != HF_SHAPE_WW &&
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
    if (s->m->look_first && (kinds & HF_WALK_WR) && l->shape != HF_SHAPE_WW)
        see_looks(s, t, next, once);
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
    const hf_level_info *l = hf_mixed_own(s->m, t);
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

/* What t looked at is older than version ver of list[i]: t -rw-> ... -> t.  By
 * a condition: from `first` on somebody changed the matches. */
static void report_stale(sight *s, hf_txn_id t, const hf_look *look,
                         uint32_t first, size_t i, uint32_t ver)
{
    const hf_graph *g = s->m->g;
    bool item = look->condition == HF_NONE;
    edge_list c = {0};
    uint32_t at = (uint32_t)i;

    if (item || hf_mixed_changes(s->m, look, ver))
        first = ver;
    hf_vec_push(&c,
                (hf_edge){item ? HF_EDGE_RW : HF_EDGE_PRW, t, g->ver_txn[first],
                          look->key, look->op, g->ver_op[first]});
    if (first != ver)
        hf_vec_push(&c,
                    (hf_edge){HF_EDGE_WW, g->ver_txn[first], g->ver_txn[ver],
                              look->key, g->ver_op[first], g->ver_op[ver]});
    for (; at != HF_NONE; at = s->list.at[at].next)
        hf_vec_push(&c, s->list.at[at].e);
    if (is_simple(&c) && s->m->ret->n < HF_MIXED_MOST)
        hf_mixed_report(s->m, c.at, (uint32_t)c.n);
    hf_vec_release(&c);
}

/* Nobody visible wrote what the look should have seen. */
static void check_look(sight *s, hf_txn_id t, const hf_look *look)
{
    const hf_graph *g = s->m->g;
    const hf_level_info *l = hf_mixed_own(s->m, t);
    bool earlier = l->shape == HF_SHAPE_OTV ||
                   (l->axiom & ~HF_AXIOM_PREFIX) == HF_AXIOM_EARLIER_READ;
    uint32_t first = hf_mixed_later(s->m, t, look);

    for (size_t i = 0; first != HF_NONE && i < s->list.n; i++) {
        hf_txn_id t2 = s->list.at[i].t;
        uint32_t theirs;

        if (t2 == HF_NONE || t2 == t ||
            (earlier && s->list.at[i].by >= look->op))
            continue;
        theirs = hf_graph_version_of(g, t2, look->key);
        if (theirs != HF_NONE && theirs >= first)
            report_stale(s, t, look, first, i, theirs);
    }
}

static void check_visible(sight *s, hf_txn_id t)
{
    const hf_mixed *m = s->m;
    const hf_history *h = m->g->h;

    look_around(s, t);
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        hf_look look = {.op = o,
                        .key = h->op_key[o],
                        .ver = hf_graph_source(m->g, o),
                        .condition = HF_NONE};

        if (look.ver != HF_NONE)
            check_look(s, t, &look);
    }
    for (uint32_t i = m->look_first ? m->look_first[t] : 0;
         m->look_first && i < m->look_first[t + 1]; i++)
        check_look(s, t, &m->looks.at[i]);
}

void hf_mixed_check_visible(hf_mixed *m)
{
    const hf_history *h = m->g->h;
    sight s = {.m = m};

    s.place = HF_NEW_ZEROED(uint32_t, (size_t)m->n_nodes + 1);
    for (size_t i = 0; i < m->order.n; i++)
        s.place[m->order.at[i]] = (uint32_t)i;
    s.met = HF_NEW_ZEROED(uint8_t, (size_t)h->n_txns + 1);
    for (hf_txn_id t = 0; t < h->n_txns && !hf_graph_spent(m->g); t++) {
        hf_level_shape shape = hf_mixed_own(m, t)->shape;

        if (!m->g->happened[t] ||
            (shape != HF_SHAPE_SINGLE && shape != HF_SHAPE_OTV &&
             (shape != HF_SHAPE_AXIOM ||
              (hf_mixed_own(m, t)->axiom & HF_AXIOM_PREFIX))))
            continue;
        s.bound = first_newer(m, t, s.place);
        if (s.bound != HF_NONE)
            check_visible(&s, t);
    }
    hf_free(s.place);
    hf_free(s.met);
    hf_vec_release(&s.list);
}
