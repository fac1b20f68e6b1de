/* encode.c: segments, choices and the boundary rules as clauses.
 *
 * Boundaries (docs/predict.md has them in words):
 *
 *   strict    a session stops after a read, or not at all; only the last read
 *             included may change
 *   relaxed   a session stops at the end of a transaction; any reads of the
 *             last transaction included may change, and nobody reads from a
 *             transaction with a changed read
 *   best      a session stops after a read or at the end of a transaction, or
 *             does not begin; any reads of the last transaction included may
 *             change, and nobody reads what was written after a changed read
 */
#include "predict/encode.h"

#include <string.h>

#include "base/error.h"

/* More implications than this are added when they are needed. */
#define MOST_IMPLICATIONS 30000000u

void hf_encoding_add(hf_encoding *c, const int *lits, uint32_t n)
{
    c->clause.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (lits[i] == c->yes)
            return;
        if (c->repairing && hf_encoding_true(c, lits[i]))
            return;
        if (lits[i] != -c->yes)
            hf_vec_push(&c->clause, lits[i]);
    }
    c->n_repaired += c->repairing;
    hf_sat_clause(c->sat, c->clause.at, (uint32_t)c->clause.n);
}

/* ---- wishes -------------------------------------------------------------- */

static int wish(const hf_encoding *c, unsigned which)
{
    return c->wish[__builtin_ctz(which)];
}

void hf_encoding_assume(hf_encoding *c, unsigned wishes)
{
    if (c->as_seen)
        hf_sat_assume(c->sat, c->commit);
    hf_encoding_assume_writers(c);
    for (unsigned i = 0; i < HF_WISHES; i++)
        if (wishes >> i & 1)
            hf_sat_assume(c->sat, c->wish[i]);
}

unsigned hf_encoding_failed(hf_encoding *c, unsigned wishes)
{
    unsigned failed = 0;

    for (unsigned i = 0; i < HF_WISHES; i++)
        if (wishes >> i & 1 && hf_sat_failed(c->sat, c->wish[i]))
            failed |= 1u << i;
    return failed;
}

bool hf_encoding_rests(hf_encoding *c)
{
    return c->as_seen && hf_sat_failed(c->sat, c->commit);
}

/* ---- boundaries ---------------------------------------------------------- */

/* A boundary that the kind does not allow: what is before it is not the end. */
static void forbid_cut(hf_encoding *c, int before, int after, unsigned flags)
{
    switch (c->boundary) {
    case HF_BOUNDARY_STRICT:
        if (!(flags & HF_CUT_STRICT))
            HF_CLAUSE(c, -before, after);
        break;
    case HF_BOUNDARY_RELAXED:
        if (!(flags & HF_CUT_RELAXED))
            HF_CLAUSE(c, -before, after);
        break;
    case HF_BOUNDARY_BEST:
        if (!(flags & HF_CUT_STRICT))
            HF_CLAUSE(c, -wish(c, HF_WISH_STRICT), -before, after);
        break;
    }
}

/* By the wish, a transaction that has begun goes on to its end. */
static void put_happens(hf_encoding *c, uint32_t i)
{
    const hf_events *e = c->e;

    if (i == 0 || e->segments.at[i - 1].txn != e->segments.at[i].txn) {
        c->happens[i] = c->segment[i];
        return;
    }
    c->happens[i] = hf_sat_lit(c->sat, true);
    HF_CLAUSE(c, -c->segment[i], c->happens[i]);
    HF_CLAUSE(c, -c->happens[i], c->happens[i - 1]);
    HF_CLAUSE(c, -wish(c, HF_WISH_FINISH), -c->happens[i - 1], c->happens[i]);
}

static void put_segments(hf_encoding *c)
{
    const hf_events *e = c->e;

    c->segment = HF_NEW_ARRAY(int, e->segments.n + 1);
    c->changed = HF_NEW_ARRAY(int, e->segments.n + 1);
    c->happens = HF_NEW_ARRAY(int, e->segments.n + 1);
    for (size_t i = 0; i < e->segments.n; i++) {
        c->segment[i] = hf_sat_lit(c->sat, true);
        c->changed[i] = hf_sat_lit(c->sat, false);
        put_happens(c, (uint32_t)i);
    }
    for (size_t s = 0; s < e->sessions.n; s++) {
        const hf_event_session *row = &e->sessions.at[s];

        for (uint32_t i = row->segment; i < row->segment + row->n_segments;
             i++) {
            bool first = i == row->segment;

            forbid_cut(c, first ? c->yes : c->segment[i - 1], c->segment[i],
                       first ? row->flags : e->segments.at[i - 1].flags);
            if (!first)
                HF_CLAUSE(c, -c->segment[i], c->segment[i - 1]);
            if (!first && e->segments.at[i].txn == e->segments.at[i - 1].txn)
                HF_CLAUSE(c, -c->changed[i - 1], c->changed[i]);
        }
    }
}

/* The segment after `segment` in its session, or -1; `txn`: the first one of a
 * later transaction. */
static int64_t next_segment(const hf_events *e, uint32_t segment, bool txn)
{
    uint32_t t = e->segments.at[segment].txn;
    const hf_event_session *s = &e->sessions.at[e->session_of[t]];

    for (uint32_t i = segment + 1; i < s->segment + s->n_segments; i++)
        if (!txn || e->segments.at[i].txn != t)
            return i;
    return -1;
}

/* What follows from "read r takes a source that is not the observed one". */
static void put_change(hf_encoding *c, const hf_event_read *r, int lit)
{
    int64_t next = next_segment(c->e, r->segment, false);
    int64_t later = next_segment(c->e, r->segment, true);

    HF_CLAUSE(c, -lit, c->changed[r->segment]);
    if (later >= 0)
        HF_CLAUSE(c, -lit, -c->segment[later]);
    if (next >= 0 && c->boundary == HF_BOUNDARY_STRICT)
        HF_CLAUSE(c, -lit, -c->segment[next]);
    if (next >= 0 && c->boundary == HF_BOUNDARY_BEST)
        HF_CLAUSE(c, -wish(c, HF_WISH_STRICT), -lit, -c->segment[next]);
}

/* A version can be read only if it is there, and is as it was observed. */
static void put_source(hf_encoding *c, const hf_event_read *r, uint32_t txn,
                       int lit)
{
    const hf_events *e = c->e;
    const hf_event_write *w = hf_events_write(e, r->key, txn);
    uint32_t last;

    HF_ASSERT(w);
    HF_CLAUSE(c, -lit, c->segment[w->segment]);
    if (c->boundary == HF_BOUNDARY_RELAXED) {
        for (last = w->segment;
             last + 1 < e->segments.n && e->segments.at[last + 1].txn == txn;)
            last++;
        HF_CLAUSE(c, -lit, -c->changed[last]);
    } else if (w->updates) {
        HF_CLAUSE(c, -lit, -c->changed[w->segment]);
    } else if (w->segment > 0 && e->segments.at[w->segment - 1].txn == txn) {
        HF_CLAUSE(c, -lit, -c->changed[w->segment - 1]);
    }
}

/* ---- choices ------------------------------------------------------------- */

/* At most one, by a ladder if there are many. */
static void at_most_one(hf_encoding *c, const int *lits, uint32_t n)
{
    int before = 0;

    if (n <= 6) {
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = i + 1; j < n; j++)
                HF_CLAUSE(c, -lits[i], -lits[j]);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        int now = hf_sat_lit(c->sat, false);

        HF_CLAUSE(c, -lits[i], now);
        if (before != 0) {
            HF_CLAUSE(c, -before, now);
            HF_CLAUSE(c, -before, -lits[i]);
        }
        before = now;
    }
}

static void put_read(hf_encoding *c, const hf_event_read *r)
{
    const hf_events *e = c->e;
    int *lits = c->choice + r->source;
    bool absent = e->sources.at[r->source + r->observed].absent;
    HF_VEC(int) some = {0};

    hf_vec_push(&some, -c->segment[r->segment]);
    for (uint32_t i = 0; i < r->n_sources; i++) {
        const hf_event_source *from = &e->sources.at[r->source + i];

        lits[i] = hf_sat_lit(c->sat, i == r->observed);
        HF_CLAUSE(c, -lits[i], c->segment[r->segment]);
        if (from->txn != 0)
            put_source(c, r, from->txn, lits[i]);
        if (!from->as_before)
            put_change(c, r, lits[i]);
        if (!from->as_before && !from->alike && !r->unseen) {
            HF_CLAUSE(c, -wish(c, HF_WISH_UNSEEN), -lits[i]);
            if (r->followed)
                HF_CLAUSE(c, -wish(c, HF_WISH_QUIET), -lits[i]);
            if (r->names && hf_target_is_unique(c->rules))
                HF_CLAUSE(c, -wish(c, HF_WISH_NAMES), -lits[i]);
        }
        if (from->absent != absent)
            HF_CLAUSE(c, -wish(c, HF_WISH_PRESENT), -lits[i]);
        if (absent && !from->absent)
            HF_CLAUSE(c, -wish(c, HF_WISH_GONE), -lits[i]);
        hf_vec_push(&some, lits[i]);
    }
    hf_encoding_add(c, some.at, (uint32_t)some.n);
    at_most_one(c, lits, r->n_sources);
    hf_vec_release(&some);
}

/* ---- all of it ----------------------------------------------------------- */

static uint64_t estimate(const hf_encoding *c)
{
    const hf_events *e = c->e;
    uint64_t n = e->n, sum = n * n * n / 3 + n * n * n;

    for (size_t i = 0; i < e->reads.n; i++)
        sum += (uint64_t)e->reads.at[i].n_sources *
               e->groups.at[e->reads.at[i].group].n_writes;
    if (c->rules->view == HF_VIEW_STATEMENT)
        sum += (uint64_t)e->sources.n * n;
    return sum;
}

hf_status hf_encoding_init(hf_encoding *c, const hf_events *e,
                           hf_boundary boundary, hf_budget *budget,
                           hf_error *err)
{
    memset(c, 0, sizeof(*c));
    c->e = e;
    c->rules = e->rules;
    c->boundary = boundary;
    c->budget = budget;
    c->sat = hf_sat_new(budget);
    if (!c->sat)
        return hf_fail(err, HF_ERR_UNSUPPORTED,
                       "this build has no SAT solver to predict with");
    c->yes = hf_sat_lit(c->sat, true);
    hf_sat_clause(c->sat, &c->yes, 1);
    for (unsigned i = 0; i < HF_WISHES; i++)
        c->wish[i] = hf_sat_lit(c->sat, true);
    c->commit = hf_sat_lit(c->sat, true);
    c->as_seen = true;
    put_segments(c);
    c->choice = HF_NEW_ZEROED(int, e->sources.n + 1);
    for (size_t i = 0; i < e->reads.n; i++)
        put_read(c, &e->reads.at[i]);
    hf_encoding_beyond(c);
    hf_encoding_views(c);
    c->has_rows = hf_encoding_has_rows(c);
    c->lazy = estimate(c) > MOST_IMPLICATIONS;
    if (!c->lazy)
        hf_encoding_level(c);
    return HF_OK;
}

void hf_encoding_release(hf_encoding *c)
{
    hf_sat_free(c->sat);
    hf_free(c->segment);
    hf_free(c->happens);
    hf_free(c->takes);
    hf_free(c->begun);
    hf_vec_release(&c->writers);
    hf_free(c->changed);
    hf_free(c->choice);
    hf_free(c->order);
    hf_free(c->view_of);
    hf_free(c->view_txn);
    hf_free(c->view_next);
    hf_free(c->view_statement);
    hf_free(c->visible);
    hf_free(c->model);
    hf_vec_release(&c->clause);
    memset(c, 0, sizeof(*c));
}
