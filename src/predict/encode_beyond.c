/* encode_beyond.c: what transactions that are cut short are taken to write.
 *
 * Behind a boundary nobody knows.  First they are taken to write what they
 * were observed to write:
 *
 *   writes      the level has to hold with these as well: who reads one write
 *               of a transaction sees the others, and where the level has a
 *               rule of conflicts a database aborts who breaks it
 *   rivals      where a second row of a primary key is refused, nobody gets a
 *               result by which it would insert a row that another inserts
 *
 * Both are one assumption (c->commit).  If nothing is left with it, the search
 * goes on without, and hf_encoding_others() says who has to write something
 * else for a prediction.
 */
#include "predict/encode.h"

#include "base/error.h"

/* Per transaction: a literal that it has begun. */
static int *find_begun(const hf_encoding *c)
{
    const hf_events *e = c->e;
    int *begun = HF_NEW_ARRAY(int, e->n);

    for (uint32_t t = 0; t < e->n; t++)
        begun[t] = -c->yes;
    for (size_t i = e->segments.n; i-- > 0;)
        begun[e->segments.at[i].txn] = c->segment[i];
    /* a strict boundary may lie behind a read without a choice, which is of
     * the next transaction */
    for (size_t s = 0; c->boundary == HF_BOUNDARY_STRICT && s < e->sessions.n;
         s++) {
        const hf_event_session *row = &e->sessions.at[s];

        if (row->flags & HF_CUT_STRICT)
            begun[e->number[hf_op_txn(e->h, row->read)]] = c->yes;
        for (uint32_t i = row->segment; i < row->segment + row->n_segments; i++)
            if (e->segments.at[i].flags & HF_CUT_STRICT) {
                uint32_t t = e->number[hf_op_txn(e->h, e->segments.at[i].read)];

                if (t != e->segments.at[i].txn)
                    begun[t] = c->segment[i];
            }
    }
    return begun;
}

/* Who reads that version goes on to insert a row that another inserts too. */
static void put_rivals(hf_encoding *c)
{
    const hf_events *e = c->e;

    for (size_t i = 0; hf_target_is_unique(c->rules) && i < e->sources.n; i++)
        if (e->sources.at[i].rival != 0)
            HF_CLAUSE(c, -c->commit, -c->choice[i],
                      -c->begun[e->sources.at[i].rival]);
}

/* Can a session stop within the transaction, before this write?  Relaxed
 * boundaries are ends of transactions. */
static bool can_be_beyond(const hf_encoding *c, const hf_event_write *w)
{
    return c->boundary != HF_BOUNDARY_RELAXED &&
           c->begun[w->txn] != c->segment[w->segment];
}

/* Who is cut short is taken to write behind the boundary what it was observed
 * to write. */
void hf_encoding_beyond(hf_encoding *c)
{
    const hf_events *e = c->e;

    c->begun = find_begun(c);
    c->takes = HF_NEW_ARRAY(int, e->writes.n + 1);
    for (size_t i = 0; i < e->writes.n; i++) {
        const hf_event_write *w = &e->writes.at[i];

        c->takes[i] = c->happens[w->segment];
        if (!can_be_beyond(c, w))
            continue;
        c->takes[i] = hf_sat_lit(c->sat, true);
        HF_CLAUSE(c, -c->happens[w->segment], c->takes[i]);
        HF_CLAUSE(c, -c->commit, -c->begun[w->txn], c->takes[i]);
    }
    put_rivals(c);
}

/* ---- who has to write something else --------------------------------------
 */

void hf_encoding_assume_writers(hf_encoding *c)
{
    for (size_t k = 0; k < c->writers.n; k++)
        for (size_t i = 0; i < c->e->writes.n; i++)
            if (c->e->writes.at[i].txn == c->writers.at[k])
                hf_sat_assume(c->sat, c->takes[i]);
}

/* Has t, by the last model, begun and something left to write? */
static bool is_cut(const hf_encoding *c, const hf_chosen *x, uint32_t t)
{
    if (!hf_sat_true(c->sat, c->begun[t]))
        return false;
    for (size_t i = 0; i < c->e->writes.n; i++)
        if (c->e->writes.at[i].txn == t &&
            !hf_chosen_has(c->e, x, t, c->e->writes.at[i].segment))
            return true;
    return false;
}

static void find_rivals(const hf_encoding *c, const hf_chosen *x,
                        hf_others *ret)
{
    for (size_t i = 0; hf_target_is_unique(c->rules) && i < c->e->reads.n;
         i++) {
        const hf_event_read *r = &c->e->reads.at[i];
        uint32_t rival;

        if (x->source[i] == HF_NONE)
            continue;
        rival = c->e->sources.at[r->source + x->source[i]].rival;
        if (rival != 0 && hf_sat_true(c->sat, c->begun[rival]))
            hf_vec_push(ret, (hf_other){r->txn, rival});
    }
}

void hf_encoding_others(hf_encoding *c, const hf_chosen *x, hf_others *ret)
{
    HF_VEC(uint32_t) cut = {0};

    ret->n = 0;
    c->writers.n = 0;
    if (c->as_seen)
        return;
    find_rivals(c, x, ret);
    for (uint32_t t = 1; t < c->e->n; t++)
        if (is_cut(c, x, t))
            hf_vec_push(&cut, t);
    for (size_t i = 0; i < cut.n; i++) {
        hf_vec_push(&c->writers, cut.at[i]);
        if (hf_encoding_allows(c, x, 0) == HF_SAT_YES)
            continue;
        c->writers.n--;
        hf_vec_push(ret, (hf_other){cut.at[i], 0});
    }
    hf_vec_release(&cut);
}
