/* encode_rows.c: who changed the matches of a predicate operation.
 *
 * A row that is outside of a result was looked at in some version b.  The
 * operation depends on whoever made the row one that is outside, or inside,
 * up to b: each writer of a version, b's or an older one, that satisfies the
 * condition where the one before it does not, or the reverse
 * (docs/semantics.md, Predicates).  Where all that is older is visible too
 * that says nothing new; at the other levels it does:
 *
 *     the row takes b, a is b or before b, and a changes the matches:
 *     a is visible, and before the reader
 *
 * Whether a changes the matches depends on the one before it in the commit
 * order, so this is no clause but a condition on models: a model that breaks
 * it is answered by a clause that has the literals which make p the one before
 * a there.
 *
 * O(rows * writers^2) for each model.
 */
#include "predict/encode.h"

#include "base/error.h"

typedef struct row {
    hf_encoding *c;
    const hf_event_read *r;
    const int *in;  /* per segment: it counts; NULL: what is taken does */
    int unless;     /* a literal of every clause; 0: none */
    uint32_t view;  /* that learns what the row tells; HF_NONE: none */
    uint32_t taken; /* of its sources */
    HF_VEC(int) clause;
} row;

static const hf_event_source *source_of(const row *q, uint32_t i)
{
    return &q->c->e->sources.at[q->r->source + i];
}

/* The literal that the version counts. */
static int is_in(const row *q, uint32_t i)
{
    const hf_event_source *s = source_of(q, i);
    const hf_event_write *w;

    if (s->txn == 0)
        return q->c->yes;
    w = hf_events_write(q->c->e, q->r->key, s->txn);
    return q->in ? q->in[w->segment] : q->c->takes[w - q->c->e->writes.at];
}

static int before(const row *q, uint32_t i, uint32_t j)
{
    return hf_encoding_before(q->c, source_of(q, i)->txn, source_of(q, j)->txn);
}

static bool holds(const row *q, int lit)
{
    return hf_encoding_true(q->c, lit);
}

/* The last version before number i that counts.  The initial one, number 0, is
 * always there. */
static uint32_t one_before(const row *q, uint32_t i)
{
    uint32_t found = 0;

    for (uint32_t j = 1; j < q->r->n_sources; j++)
        if (j != i && holds(q, is_in(q, j)) && holds(q, before(q, j, i)) &&
            (found == 0 || holds(q, before(q, found, j))))
            found = j;
    return found;
}

/* Why nothing of a's kind stands between p and a: the reasons, negated. */
static void put_between(row *q, uint32_t p, uint32_t a)
{
    for (uint32_t w = 1; w < q->r->n_sources; w++) {
        if (w == a || source_of(q, w)->matches != source_of(q, a)->matches)
            continue;
        if (!holds(q, is_in(q, w)))
            hf_vec_push(&q->clause, is_in(q, w));
        else if (p != 0 && holds(q, before(q, w, p)))
            hf_vec_push(&q->clause, before(q, p, w));
        else
            hf_vec_push(&q->clause, before(q, w, a));
    }
}

/* The row takes b; a, which p comes before, changes the matches. */
static void put_change(row *q, uint32_t p, uint32_t a)
{
    hf_encoding *c = q->c;
    uint32_t b = q->taken, t = source_of(q, a)->txn;

    q->clause.n = 0;
    if (q->unless != 0)
        hf_vec_push(&q->clause, q->unless);
    hf_vec_push(&q->clause, -c->choice[q->r->source + b]);
    hf_vec_push(&q->clause, -is_in(q, a));
    hf_vec_push(&q->clause, -is_in(q, p));
    hf_vec_push(&q->clause, -before(q, p, a));
    if (a != b)
        hf_vec_push(&q->clause, -before(q, a, b));
    put_between(q, p, a);
    hf_vec_push(&q->clause, hf_encoding_before(c, t, q->r->txn));
    hf_encoding_add(c, q->clause.at, (uint32_t)q->clause.n);
    if (q->view == HF_NONE)
        return;
    q->clause.at[q->clause.n - 1] = c->visible[(size_t)q->view * c->e->n + t];
    hf_encoding_add(c, q->clause.at, (uint32_t)q->clause.n);
}

static void look_at(row *q)
{
    HF_ASSERT(source_of(q, 0)->txn == 0);
    for (uint32_t a = 1; a < q->r->n_sources; a++) {
        uint32_t p;

        if (!holds(q, is_in(q, a)) ||
            (a != q->taken && !holds(q, before(q, a, q->taken))))
            continue;
        p = one_before(q, a);
        if (source_of(q, p)->matches != source_of(q, a)->matches)
            put_change(q, p, a);
    }
}

/* Versions of both kinds; of an initial one that nobody can judge, nothing is
 * known of the others either. */
static bool has_both(const hf_events *e, const hf_event_read *r)
{
    bool inside = false, outside = false;

    if (e->sources.at[r->source].txn != 0)
        return false;
    for (uint32_t i = 0; r->is_row && i < r->n_sources; i++) {
        inside = inside || e->sources.at[r->source + i].matches;
        outside = outside || !e->sources.at[r->source + i].matches;
    }
    return inside && outside;
}

bool hf_encoding_has_rows(const hf_encoding *c)
{
    if (c->rules->prefix)
        return false;
    for (size_t i = 0; i < c->e->reads.n; i++)
        if (has_both(c->e, &c->e->reads.at[i]))
            return true;
    return false;
}

void hf_encoding_rows(hf_encoding *c)
{
    row q = {.c = c};

    for (uint32_t i = 0; i < c->e->reads.n; i++) {
        q.r = &c->e->reads.at[i];
        q.taken = HF_NONE;
        for (uint32_t j = 0; j < q.r->n_sources; j++)
            if (hf_encoding_true(c, c->choice[q.r->source + j]))
                q.taken = j;
        if (q.taken == HF_NONE || source_of(&q, q.taken)->matches ||
            !has_both(c->e, q.r))
            continue;
        q.view = hf_encoding_learns(c, i);
        q.in = c->segment;
        q.unless = 0;
        look_at(&q);
        q.in = c->happens;
        q.unless = -c->wish[__builtin_ctz(HF_WISH_FINISH)];
        look_at(&q);
        q.in = NULL;
        q.unless = 0; /* nobody has to write what is not included */
        look_at(&q);
    }
    hf_vec_release(&q.clause);
}
