/* weak_way.c: how t2 became visible to t3, as edges.
 *
 * Asked only of what is reported.  The ways of the session guarantees are
 * found by looking at the sources of t3 and the readers of t2.  For causal
 * consistency a search goes back from t3, over sources and sessions, and does
 * not leave the part of the order between the two; a step in a session may
 * skip transactions, and each is looked at once, so the shortest way costs no
 * more than that part.
 */
#include "check/weak.h"

#include <string.h>

static hf_edge so_edge(hf_txn_id first, hf_txn_id then)
{
    return (hf_edge){HF_EDGE_SO, first, then, HF_NONE, HF_NONE, HF_NONE};
}

static hf_edge wr_edge(const hf_graph *g, hf_txn_id reader, hf_op_id read)
{
    uint32_t ver = hf_graph_source(g, read);

    return (hf_edge){HF_EDGE_WR,         g->ver_txn[ver], reader,
                     g->h->op_key[read], g->ver_op[ver],  read};
}

static hf_txn_id source_of(const hf_graph *g, hf_op_id o)
{
    uint32_t v = hf_graph_source(g, o);

    return v == HF_NONE ? HF_NONE : g->ver_txn[v];
}

static bool is_earlier(const hf_history *h, hf_txn_id first, hf_txn_id then)
{
    return first < then && h->txn_session[first] == h->txn_session[then];
}

/* The first operation of t, before `end`, that reads from t2. */
static hf_op_id reads_from(const hf_graph *g, hf_txn_id t, hf_txn_id t2,
                           hf_op_id end)
{
    for (hf_op_id o = g->h->op_first[t]; o < end; o++)
        if (source_of(g, o) == t2)
            return o;
    return HF_NONE;
}

/* ---- short ways ---------------------------------------------------------- */

typedef struct seeker {
    hf_weak *w;
    const hf_graph *g;
    hf_txn_id t2, t3;
    hf_op_id read;
    hf_weak_edges *ret;
} seeker;

static bool one_step(const seeker *s)
{
    const hf_history *h = s->g->h;
    unsigned axiom = s->w->axiom;
    hf_op_id o = HF_NONE;

    if ((axiom & HF_AXIOM_SO) && is_earlier(h, s->t2, s->t3)) {
        hf_vec_push(s->ret, so_edge(s->t2, s->t3));
        return true;
    }
    if (axiom & HF_AXIOM_WR)
        o = reads_from(s->g, s->t3, s->t2, h->op_first[s->t3 + 1]);
    else if (axiom & HF_AXIOM_EARLIER_READ)
        o = reads_from(s->g, s->t3, s->t2, s->read);
    if (o == HF_NONE)
        return false;
    hf_vec_push(s->ret, wr_edge(s->g, s->t3, o));
    return true;
}

/* so;wr and wr;wr: by a source of t3. */
static bool by_source(const seeker *s)
{
    const hf_history *h = s->g->h;

    for (hf_op_id o = h->op_first[s->t3]; o < h->op_first[s->t3 + 1]; o++) {
        hf_txn_id t = source_of(s->g, o);
        hf_op_id read = HF_NONE;

        if (t == HF_NONE || t == s->t2)
            continue;
        if ((s->w->axiom & HF_AXIOM_SO_WR) && is_earlier(h, s->t2, t)) {
            hf_vec_push(s->ret, so_edge(s->t2, t));
        } else if ((s->w->axiom & HF_AXIOM_WR_WR) &&
                   (read = reads_from(s->g, t, s->t2, h->op_first[t + 1])) !=
                       HF_NONE) {
            hf_vec_push(s->ret, wr_edge(s->g, t, read));
        } else {
            continue;
        }
        hf_vec_push(s->ret, wr_edge(s->g, s->t3, o));
        return true;
    }
    return false;
}

/* `reader` reads version v of t2, and leads on to t3. */
static bool by_reader(const seeker *s, uint32_t v, hf_txn_id reader)
{
    const hf_history *h = s->g->h;
    hf_edge first = wr_edge(s->g, reader, hf_graph_read_of(s->g, reader, v));

    if ((s->w->axiom & HF_AXIOM_WR_SO) && is_earlier(h, reader, s->t3)) {
        hf_vec_push(s->ret, first);
        hf_vec_push(s->ret, so_edge(reader, s->t3));
        return true;
    }
    if (!(s->w->axiom & HF_AXIOM_WR_SO_WR))
        return false;
    for (hf_op_id o = h->op_first[s->t3]; o < h->op_first[s->t3 + 1]; o++) {
        hf_txn_id t = source_of(s->g, o);

        if (t == HF_NONE || !is_earlier(h, reader, t))
            continue;
        hf_vec_push(s->ret, first);
        hf_vec_push(s->ret, so_edge(reader, t));
        hf_vec_push(s->ret, wr_edge(s->g, s->t3, o));
        return true;
    }
    return false;
}

static bool by_readers(const seeker *s)
{
    const hf_graph *g = s->g;
    const hf_history *h = g->h;

    for (hf_op_id o = h->op_first[s->t2]; o < h->op_first[s->t2 + 1]; o++) {
        uint32_t v = g->op_role[o];

        if (v == HF_NONE || !(v & 1u))
            continue;
        v /= 2;
        for (uint32_t i = g->reader_first[v]; i < g->reader_first[v + 1]; i++)
            if (by_reader(s, v, g->reader_txn[i]))
                return true;
    }
    return false;
}

/* ---- causal -------------------------------------------------------------- */

typedef struct step {
    hf_txn_id next; /* towards t3; HF_NONE: not met */
    hf_op_id read;  /* of `next`; HF_NONE: session order */
} step;

typedef struct search {
    const seeker *s;
    step *steps;    /* per place in the first order, from t2's on */
    uint32_t base;  /* ... t2's */
    uint32_t *done; /* per session: all before this place are met */
    HF_VEC(hf_txn_id) queue;
} search;

static void meet(search *x, hf_txn_id t, hf_txn_id next, hf_op_id read)
{
    const hf_weak *w = x->s->w;
    step *at;

    if (t == HF_NONE || w->first_place[t] < x->base)
        return;
    at = &x->steps[w->first_place[t] - x->base];
    if (at->next != HF_NONE)
        return;
    *at = (step){next, read};
    hf_vec_push(&x->queue, t);
}

/* Those before t in its session, down to the ones that were met. */
static void meet_session(search *x, hf_txn_id t)
{
    const hf_weak *w = x->s->w;
    const hf_history *h = w->h;
    hf_session_id s = h->txn_session[t];
    uint32_t from = w->pos[t], end = h->session_first[s];

    if (x->done[s] > end)
        end = x->done[s];
    if (x->done[s] < from)
        x->done[s] = from;
    while (from-- > end) {
        hf_txn_id u = h->session_txns[from];

        if (!w->g->happened[u])
            continue;
        if (w->first_place[u] < x->base)
            break;
        meet(x, u, t, HF_NONE);
    }
}

static void search_back(search *x)
{
    const seeker *s = x->s;
    const hf_history *h = s->g->h;
    uint32_t t3_at = s->w->first_place[s->t3] - x->base;

    x->steps[t3_at].next = s->t3;
    hf_vec_push(&x->queue, s->t3);
    for (size_t i = 0; i < x->queue.n && x->steps[0].next == HF_NONE; i++) {
        hf_txn_id t = x->queue.at[i];

        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
            meet(x, source_of(s->g, o), t, o);
        meet_session(x, t);
    }
}

static void causal_way(const seeker *s)
{
    hf_weak *w = s->w;
    search x = {.s = s, .base = w->first_place[s->t2]};
    size_t n = (size_t)(w->first_place[s->t3] - x.base) + 1;

    x.steps = HF_NEW_ARRAY(step, n);
    memset(x.steps, 0xff, n * sizeof(*x.steps));
    x.done = HF_NEW_ZEROED(uint32_t, (size_t)w->h->n_sessions + 1);
    search_back(&x);
    for (hf_txn_id t = s->t2; t != s->t3;) {
        step at = x.steps[w->first_place[t] - x.base];

        hf_vec_push(s->ret, at.read == HF_NONE
                                ? so_edge(t, at.next)
                                : wr_edge(s->g, at.next, at.read));
        t = at.next;
    }
    hf_free(x.steps);
    hf_free(x.done);
    hf_vec_release(&x.queue);
}

/* ---- all ----------------------------------------------------------------- */

void hf_weak_way(hf_weak *w, hf_txn_id t2, hf_op_id read, hf_weak_edges *ret)
{
    seeker s = {.w = w,
                .g = w->g,
                .t2 = t2,
                .t3 = hf_op_txn(w->h, read),
                .read = read,
                .ret = ret};

    ret->n = 0;
    hf_weak_index_places(w);
    if (w->axiom & HF_AXIOM_CAUSAL) {
        hf_weak_note_places(w);
        causal_way(&s);
        return;
    }
    if (!w->g->reader_first)
        hf_graph_link_readers(w->g);
    if (!one_step(&s) && !by_source(&s))
        (void)by_readers(&s);
}
