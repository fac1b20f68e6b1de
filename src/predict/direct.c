/* direct.c: one read that changes, tried without a solver.
 *
 * Most predictions change one read, and if that is one whose result the
 * application does not get, nothing better can be wished for: all transactions
 * go on as observed, to their ends.  In a small execution such a change is
 * tried in less time than it takes to tell a solver the clauses.  What is not
 * found here is asked of the solver; nothing rests on it.
 *
 *     read r of t takes another source; t is the last of its session
 *     who reads what is not there any more, or from t, stops before that
 *     the level: what is visible, the order that follows from it, no cycle
 *     serial.c: a cycle of what every serial order must keep
 *
 * Only levels whose order is forced, none that has to be guessed: read
 * committed, read atomic, causal.  Boundaries are ends of transactions.
 *
 * O(reads + transactions^2) for each change, with sets of transactions as
 * words of 64 bits.
 */
#include "predict/search.h"

#include <string.h>

#define MOST_TXNS 64u
#define MOST_JUDGED 24u

typedef struct direct {
    const hf_events *e;
    hf_boundary boundary;
    hf_chosen *x;
    uint32_t txn;                /* whose read changes */
    uint64_t after[MOST_TXNS];   /* per transaction: who comes before it */
    uint64_t visible[MOST_TXNS]; /* per transaction */
} direct;

/* ---- boundaries ---------------------------------------------------------- */

static bool has_version(const direct *q, const hf_event_read *r, uint32_t b)
{
    const hf_event_write *w;

    if (b == 0)
        return true;
    w = hf_events_write(q->e, r->key, b);
    return w && b != q->txn && hf_chosen_has(q->e, q->x, b, w->segment);
}

/* May the session stop before this segment? */
static bool may_stop(const direct *q, const hf_event_session *row,
                     uint32_t segment)
{
    if (segment == row->segment + row->n_segments)
        return true;
    if (segment == row->segment)
        return q->boundary == HF_BOUNDARY_BEST ||
               (row->flags & HF_CUT_RELAXED) != 0;
    return (q->e->segments.at[segment - 1].flags & HF_CUT_RELAXED) != 0;
}

static bool stop_before(direct *q, uint32_t segment)
{
    uint32_t s = q->e->session_of[q->e->segments.at[segment].txn];
    const hf_event_session *row = &q->e->sessions.at[s];

    while (segment > row->segment &&
           q->e->segments.at[segment - 1].txn == q->e->segments.at[segment].txn)
        segment--;
    q->x->cut[s] = segment - row->segment;
    return may_stop(q, row, segment);
}

static bool stop_after(direct *q, uint32_t segment)
{
    uint32_t s = q->e->session_of[q->txn];
    const hf_event_session *row = &q->e->sessions.at[s];
    uint32_t end = row->segment + row->n_segments;

    while (segment < end && q->e->segments.at[segment].txn == q->txn)
        segment++;
    q->x->cut[s] = segment - row->segment;
    return may_stop(q, row, segment);
}

/* Everybody who would read what is not there stops before that. */
static bool settle(direct *q, uint32_t changed, uint32_t source)
{
    const hf_events *e = q->e;
    bool more = true;

    for (size_t s = 0; s < e->sessions.n; s++)
        q->x->cut[s] = e->sessions.at[s].n_segments;
    if (!stop_after(q, e->reads.at[changed].segment))
        return false;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < e->reads.n; i++) {
            const hf_event_read *r = &e->reads.at[i];

            q->x->source[i] = HF_NONE;
            if (!hf_chosen_has(e, q->x, r->txn, r->segment))
                continue;
            q->x->source[i] = i == changed ? source : r->observed;
            if (has_version(q, r,
                            e->sources.at[r->source + q->x->source[i]].txn))
                continue;
            if (!stop_before(q, r->segment))
                return false;
            more = true;
        }
    }
    return q->x->source[changed] != HF_NONE;
}

/* ---- the level ----------------------------------------------------------- */

static uint32_t source_of(const direct *q, uint32_t i)
{
    const hf_event_read *r = &q->e->reads.at[i];

    return q->e->sources.at[r->source + q->x->source[i]].txn;
}

static uint64_t bit(uint32_t t)
{
    return t == 0 ? 0 : (uint64_t)1 << t;
}

/* Reads that take a version though one of these writes a later one. */
static bool put_axiom(direct *q, uint32_t i, uint64_t seen)
{
    const hf_event_read *r = &q->e->reads.at[i];
    const hf_event_group *g = &q->e->groups.at[r->group];
    uint32_t b = source_of(q, i);

    for (uint32_t k = g->write; k < g->write + g->n_writes; k++) {
        const hf_event_write *w = &q->e->writes.at[k];

        if (w->txn == r->txn || w->txn == b || !(seen & bit(w->txn)) ||
            !hf_chosen_has(q->e, q->x, w->txn, w->segment))
            continue;
        if (b == 0)
            return false;
        q->after[b] |= bit(w->txn);
    }
    return true;
}

static void relate(direct *q)
{
    const hf_events *e = q->e;

    for (uint32_t t = 0; t < e->n; t++) {
        q->after[t] = t > 0 ? bit(e->before[t]) : 0;
        q->visible[t] = 0;
        for (uint32_t a = t > 0 ? e->before[t] : 0;
             e->rules->sessions && a != 0; a = e->before[a])
            q->visible[t] |= bit(a);
    }
    for (uint32_t i = 0; i < e->reads.n; i++)
        if (q->x->source[i] != HF_NONE) {
            q->after[e->reads.at[i].txn] |= bit(source_of(q, i));
            q->visible[e->reads.at[i].txn] |= bit(source_of(q, i));
        }
}

/* What is visible to somebody visible. */
static void close_visible(direct *q)
{
    bool more = q->e->rules->causal;

    while (more) {
        more = false;
        for (uint32_t t = 1; t < q->e->n; t++) {
            uint64_t all = q->visible[t];

            for (uint64_t left = all; left; left &= left - 1)
                all |= q->visible[__builtin_ctzll(left)];
            more = more || all != q->visible[t];
            q->visible[t] = all;
        }
    }
}

/* Each after those that come before it, else as in the file. */
static bool order(const direct *q, uint32_t *ret_place)
{
    uint64_t done = 1; /* the initial state */

    ret_place[0] = 0;
    for (uint32_t n = 1; n < q->e->n; n++) {
        uint32_t t = 1;

        while (t < q->e->n && ((done >> t & 1) || (q->after[t] & ~done)))
            t++;
        if (t == q->e->n)
            return false;
        ret_place[t] = n;
        done |= bit(t);
    }
    return true;
}

/* Reads of one transaction stand together; those of one place see what those
 * of earlier places took. */
static bool keeps_level(direct *q, uint32_t *ret_place)
{
    const hf_events *e = q->e;
    bool by_reads = e->rules->view == HF_VIEW_READS;
    uint64_t seen = 0, now = 0;

    relate(q);
    close_visible(q);
    for (uint32_t i = 0; i < e->reads.n; i++) {
        const hf_event_read *r = &e->reads.at[i];

        if (i == 0 || r->txn != r[-1].txn)
            seen = now = 0;
        else if (r->place != r[-1].place)
            seen = now;
        if (q->x->source[i] == HF_NONE)
            continue;
        if (!put_axiom(q, i, by_reads ? seen : q->visible[r->txn]))
            return false;
        now |= bit(source_of(q, i));
    }
    return order(q, ret_place);
}

/* ---- all ----------------------------------------------------------------- */

static bool applies(const hf_events *e, hf_boundary boundary)
{
    const hf_target_rules *r = e->rules;

    if (e->n > MOST_TXNS || boundary == HF_BOUNDARY_STRICT || r->prefix ||
        r->conflict || r->locks || r->view == HF_VIEW_STATEMENT)
        return false;
    for (uint32_t i = 0; i < e->reads.n; i++)
        if (e->reads.at[i].is_row)
            return false;
    return true;
}

/* Nobody gets another result, and no row comes or goes. */
static bool is_wished(const hf_events *e, const hf_event_read *r, uint32_t j)
{
    const hf_event_source *from = &e->sources.at[r->source + j];

    return !from->as_before && (r->unseen || from->alike) &&
           from->absent == e->sources.at[r->source + r->observed].absent;
}

bool hf_direct(const hf_events *e, hf_boundary boundary, hf_serial *serial,
               hf_chosen *x, uint32_t *ret_place)
{
    direct q = {.e = e, .boundary = boundary, .x = x};
    uint32_t judged = 0;

    if (!applies(e, boundary))
        return false;
    for (uint32_t i = 0; i < e->reads.n; i++)
        for (uint32_t j = 0; j < e->reads.at[i].n_sources; j++) {
            if (!is_wished(e, &e->reads.at[i], j))
                continue;
            q.txn = e->reads.at[i].txn;
            if (!settle(&q, i, j) || !keeps_level(&q, ret_place))
                continue;
            if (hf_serial_judge(serial, x, NULL, NULL) == HF_SERIAL_CYCLE)
                return true;
            if (++judged >= MOST_JUDGED)
                return false;
        }
    return false;
}
