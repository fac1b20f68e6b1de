/* encode_cycle.c: a wish for a cycle that is in the model itself.
 *
 * Where the level has a rule of conflicts most executions are serializable
 * though they have a pivot, and each model has to be refuted by an order.  So
 * first a model is asked for that has a cycle of dependencies to show:
 *
 *   y, the first of its transactions in the commit order
 *   y -> ... -> p, each before the next in the commit order
 *   p -> y: p reads a version before that of y
 *
 * with links s -> t that are session order, t reads from s, or s reads a
 * version before that of t.  "On the path" needs a link from somebody on the
 * path who is earlier, so the commit order is the rank: nothing goes around in
 * a circle of its own.
 *
 * It is neither necessary (a cycle may go back more than once; rows outside of
 * a result are left out) nor sufficient (the version order of a key that is
 * written blindly need not be the commit order's): a candidate still has to be
 * judged, and "there is none" rests on the search without.
 *
 * O(n^2 + choices + reads * writers) variables and clauses.
 */
#include "predict/encode.h"

#include "base/error.h"

typedef struct link {
    int lit;
    uint32_t next; /* of the same two; HF_NONE: the last */
    bool reverse;  /* an anti-dependency */
} link;

typedef struct cycles {
    hf_encoding *c;
    HF_VEC(link) links;
    uint32_t *head;       /* n * n: in links */
    uint8_t *reads_group; /* per transaction, of the group at hand */
    int *on;              /* per transaction: on the path */
    int *first;           /* per transaction: it is y */
    HF_VEC(int) some;
} cycles;

static void add_link(cycles *q, uint32_t s, uint32_t t, int lit, bool reverse)
{
    uint32_t *head = &q->head[(size_t)s * q->c->e->n + t];
    link k = {lit, *head, reverse};

    *head = (uint32_t)q->links.n;
    hf_vec_push(&q->links, k);
}

/* ---- links --------------------------------------------------------------- */

static void link_sessions(cycles *q)
{
    const hf_events *e = q->c->e;

    for (uint32_t i = 0; i < e->segments.n; i++) {
        uint32_t t = e->segments.at[i].txn;

        if (e->before[t] != 0 && (i == 0 || e->segments.at[i - 1].txn != t))
            add_link(q, e->before[t], t, q->c->segment[i], false);
    }
}

static void link_sources(cycles *q, const hf_event_read *r)
{
    const hf_events *e = q->c->e;

    for (uint32_t j = r->source; j < r->source + r->n_sources; j++)
        if (e->sources.at[j].txn != 0 && e->sources.at[j].matches)
            add_link(q, e->sources.at[j].txn, r->txn, q->c->choice[j], false);
}

/* Does the write put a row into the result? */
static bool is_phantom(const hf_events *e, const hf_event_read *r, uint32_t t)
{
    for (uint32_t j = r->source; j < r->source + r->n_sources; j++)
        if (e->sources.at[j].txn == t)
            return e->sources.at[j].matches;
    return false;
}

/* The reader does not see the writer, so it has a version before.  Blindly
 * written versions may be anywhere, but not before the initial one. */
static void link_writer(cycles *q, const hf_event_read *r,
                        const hf_event_write *w)
{
    hf_encoding *c = q->c;
    int lit;

    if (w->txn == r->txn || hf_events_so(c->e, w->txn, r->txn) ||
        (r->is_row && !is_phantom(c->e, r, w->txn)))
        return;
    lit = hf_sat_lit(c->sat, false);
    HF_CLAUSE(c, -lit, c->segment[r->segment]);
    HF_CLAUSE(c, -lit, c->segment[w->segment]);
    HF_CLAUSE(c, -lit, -c->visible[(size_t)r->txn * c->e->n + w->txn]);
    if (!w->updates && !q->reads_group[w->txn] &&
        c->e->sources.at[r->source].txn == 0)
        HF_CLAUSE(c, -lit, c->choice[r->source]);
    add_link(q, r->txn, w->txn, lit, true);
}

static void mark_readers(cycles *q, uint32_t group, uint8_t mark)
{
    const hf_events *e = q->c->e;

    for (size_t i = 0; i < e->reads.n; i++)
        if (e->reads.at[i].group == group)
            q->reads_group[e->reads.at[i].txn] = mark;
}

static void link_groups(cycles *q)
{
    const hf_events *e = q->c->e;

    for (uint32_t k = 0; k < e->groups.n; k++) {
        const hf_event_group *g = &e->groups.at[k];

        mark_readers(q, k, 1);
        for (size_t i = 0; i < e->reads.n; i++)
            for (uint32_t j = 0; e->reads.at[i].group == k && j < g->n_writes;
                 j++)
                link_writer(q, &e->reads.at[i], &e->writes.at[g->write + j]);
        mark_readers(q, k, 0);
    }
}

/* ---- the path ------------------------------------------------------------ */

/* A literal: s is on the path, linked to t, and on the side of t in the commit
 * order that is asked for; 0: there is no such link. */
static int step(cycles *q, uint32_t s, uint32_t t, bool back)
{
    hf_encoding *c = q->c;
    uint32_t k = q->head[(size_t)s * c->e->n + t];
    int lit;

    q->some.n = 0;
    for (; k != HF_NONE; k = q->links.at[k].next)
        if (!back || q->links.at[k].reverse)
            hf_vec_push(&q->some, q->links.at[k].lit);
    if (q->some.n == 0)
        return 0;
    lit = hf_sat_lit(c->sat, false);
    hf_vec_push(&q->some, -lit);
    hf_encoding_add(c, q->some.at, (uint32_t)q->some.n);
    HF_CLAUSE(c, -lit, q->on[s]);
    HF_CLAUSE(c, -lit,
              back ? hf_encoding_before(c, t, s) : hf_encoding_before(c, s, t));
    return lit;
}

static void put_path(cycles *q)
{
    hf_encoding *c = q->c;
    HF_VEC(int) from = {0};
    int before = -c->yes;

    for (uint32_t t = 1; t < c->e->n; t++) {
        int now = hf_sat_lit(c->sat, false);

        from.n = 0;
        hf_vec_push(&from, -q->on[t]);
        hf_vec_push(&from, q->first[t]);
        for (uint32_t s = 1; s < c->e->n; s++) {
            int lit = s == t ? 0 : step(q, s, t, false);

            if (lit != 0)
                hf_vec_push(&from, lit);
        }
        hf_encoding_add(c, from.at, (uint32_t)from.n);
        /* one first at most */
        HF_CLAUSE(c, -q->first[t], -before);
        HF_CLAUSE(c, -q->first[t], now);
        HF_CLAUSE(c, -before, now);
        before = now;
    }
    hf_vec_release(&from);
}

static void put_back_edge(cycles *q)
{
    hf_encoding *c = q->c;
    HF_VEC(int) all = {0};

    c->cycle = hf_sat_lit(c->sat, true);
    hf_vec_push(&all, -c->cycle);
    for (uint32_t p = 1; p < c->e->n; p++)
        for (uint32_t y = 1; y < c->e->n; y++) {
            int lit = p == y ? 0 : step(q, p, y, true);

            if (lit == 0)
                continue;
            HF_CLAUSE(c, -lit, q->first[y]);
            hf_vec_push(&all, lit);
        }
    hf_encoding_add(c, all.at, (uint32_t)all.n);
    hf_vec_release(&all);
}

void hf_encoding_cycles(hf_encoding *c)
{
    uint32_t n = c->e->n;
    cycles q = {.c = c};

    if (!c->rules->conflict || c->rules->view != HF_VIEW_TXN)
        return;
    q.head = HF_NEW_ARRAY(uint32_t, (size_t)n * n);
    for (size_t i = 0; i < (size_t)n * n; i++)
        q.head[i] = HF_NONE;
    q.reads_group = HF_NEW_ZEROED(uint8_t, n);
    q.on = HF_NEW_ARRAY(int, n);
    q.first = HF_NEW_ARRAY(int, n);
    for (uint32_t t = 0; t < n; t++) {
        q.on[t] = hf_sat_lit(c->sat, false);
        q.first[t] = hf_sat_lit(c->sat, false);
    }
    link_sessions(&q);
    for (size_t i = 0; i < c->e->reads.n; i++)
        link_sources(&q, &c->e->reads.at[i]);
    link_groups(&q);
    put_path(&q);
    put_back_edge(&q);
    hf_vec_release(&q.links);
    hf_vec_release(&q.some);
    hf_free(q.head);
    hf_free(q.reads_group);
    hf_free(q.on);
    hf_free(q.first);
}
