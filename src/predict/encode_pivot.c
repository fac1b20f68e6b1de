/* encode_pivot.c: what an execution must have to be not serializable, where
 * the level says so.
 *
 * Under snapshots with a rule of conflicts every edge of a dependency graph
 * x -> y but one kind means that x committed before y took its snapshot.  The
 * one kind is vulnerable: x reads a version before that of y, and neither sees
 * the other.  So (Adya; Fekete et al., "Making snapshot isolation
 * serializable"; here with session order, which is of the other kind):
 *
 *   snapshot isolation   a cycle has two vulnerable edges in a row, into and
 *                        out of a pivot p, and the one that the second leads
 *                        to commits before p
 *   parallel             a cycle has vulnerable edges out of two transactions
 *
 * It is not the definition, only implied by it: a candidate still has to be
 * judged.  But most executions have no pivot at all, and without these clauses
 * each would have to be refuted by an order of its own.  A vulnerable edge is
 * allowed if both ends are included as far as their first operations on a
 * common key, which is more than there are; that is on the safe side.
 *
 * O(n^2) variables and clauses, and one look at each read and writer.
 */
#include "predict/encode.h"

#include "base/error.h"

typedef struct pivots {
    hf_encoding *c;
    int *edge;                /* n * n: vulnerable; 0: there can be none */
    uint32_t *reads, *writes; /* beside it: the first segments */
} pivots;

static void note_conflicts(pivots *q, const hf_event_read *r)
{
    const hf_events *e = q->c->e;
    const hf_event_group *g = &e->groups.at[r->group];

    for (uint32_t i = 0; i < g->n_writes; i++) {
        const hf_event_write *w = &e->writes.at[g->write + i];
        size_t at = (size_t)r->txn * e->n + w->txn;

        if (w->txn == r->txn || hf_events_so(e, r->txn, w->txn) ||
            hf_events_so(e, w->txn, r->txn))
            continue;
        if (q->edge[at] == 0) {
            q->edge[at] = hf_sat_lit(q->c->sat, false);
            q->reads[at] = r->segment;
            q->writes[at] = w->segment;
        }
        if (r->segment < q->reads[at])
            q->reads[at] = r->segment;
        if (w->segment < q->writes[at])
            q->writes[at] = w->segment;
    }
}

static int visible(const hf_encoding *c, uint32_t a, uint32_t t)
{
    return c->visible[(size_t)t * c->e->n + a];
}

static void put_edge(pivots *q, uint32_t x, uint32_t y)
{
    hf_encoding *c = q->c;
    size_t at = (size_t)x * c->e->n + y;

    if (q->edge[at] == 0)
        return;
    HF_CLAUSE(c, -q->edge[at], c->segment[q->reads[at]]);
    HF_CLAUSE(c, -q->edge[at], c->segment[q->writes[at]]);
    HF_CLAUSE(c, -q->edge[at], -visible(c, y, x));
    HF_CLAUSE(c, -q->edge[at], -visible(c, x, y));
}

typedef HF_VEC(int) literals;

/* An edge out of p, to one that commits before p if that is asked for. */
static void put_out(pivots *q, uint32_t p, int why, bool first, literals *some)
{
    hf_encoding *c = q->c;

    some->n = 0;
    hf_vec_push(some, -why);
    for (uint32_t y = 1; y < c->e->n; y++) {
        int edge = q->edge[(size_t)p * c->e->n + y], out = edge;

        if (edge == 0)
            continue;
        if (first) {
            out = hf_sat_lit(c->sat, false);
            HF_CLAUSE(c, -out, edge);
            HF_CLAUSE(c, -out, hf_encoding_before(c, y, p));
        }
        hf_vec_push(some, out);
    }
    hf_encoding_add(c, some->at, (uint32_t)some->n);
}

static void put_in(pivots *q, uint32_t p, int why, literals *some)
{
    hf_encoding *c = q->c;

    some->n = 0;
    hf_vec_push(some, -why);
    for (uint32_t x = 1; x < c->e->n; x++)
        if (q->edge[(size_t)x * c->e->n + p] != 0)
            hf_vec_push(some, q->edge[(size_t)x * c->e->n + p]);
    hf_encoding_add(c, some->at, (uint32_t)some->n);
}

/* Some are the pivot; or, in parallel, two have an edge out of them. */
static void put_pivots(pivots *q)
{
    hf_encoding *c = q->c;
    bool one = c->rules->prefix;
    literals all = {0}, some = {0};

    for (uint32_t p = 1; p < c->e->n; p++) {
        int pivot = hf_sat_lit(c->sat, false);

        put_out(q, p, pivot, one, &some);
        if (one)
            put_in(q, p, pivot, &some);
        hf_vec_push(&all, pivot);
    }
    hf_encoding_add(c, all.at, (uint32_t)all.n);
    for (size_t i = 0; !one && i < all.n; i++) {
        some.n = 0;
        for (size_t j = 0; j < all.n; j++)
            if (j != i)
                hf_vec_push(&some, all.at[j]);
        hf_encoding_add(c, some.at, (uint32_t)some.n);
    }
    hf_vec_release(&all);
    hf_vec_release(&some);
}

void hf_encoding_pivots(hf_encoding *c)
{
    size_t n = (size_t)c->e->n * c->e->n;
    pivots q = {.c = c};

    if (!c->rules->conflict || c->rules->view != HF_VIEW_TXN)
        return;
    q.edge = HF_NEW_ZEROED(int, n);
    q.reads = HF_NEW_ARRAY(uint32_t, n);
    q.writes = HF_NEW_ARRAY(uint32_t, n);
    for (size_t i = 0; i < c->e->reads.n; i++)
        note_conflicts(&q, &c->e->reads.at[i]);
    for (uint32_t x = 1; x < c->e->n; x++)
        for (uint32_t y = 1; y < c->e->n; y++)
            put_edge(&q, x, y);
    put_pivots(&q);
    hf_free(q.edge);
    hf_free(q.reads);
    hf_free(q.writes);
}
