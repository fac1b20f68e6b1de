/* search_size.c: a prediction is made smaller, then longer.
 *
 * Smaller: reads go back to what was observed, or their session stops before
 * them, one by one, as long as it stays a prediction.  Longer: sessions in
 * which nothing changes go on to where they ended.
 */
#include "predict/search_impl.h"

#include <string.h>

#define SHRINK_TRIES 48u
#define STOP_TRIES 3u /* boundaries before a changed read */

/* ---- making it smaller --------------------------------------------------- */

bool hf_searcher_changed(const hf_searcher *q, uint32_t read, uint32_t source)
{
    const hf_event_read *r = &q->e->reads.at[read];

    return source != HF_NONE && !q->e->sources.at[r->source + source].as_before;
}

bool hf_searcher_is_one(const hf_searcher *q, hf_serial_answer a)
{
    return a == HF_SERIAL_CYCLE || (a == HF_SERIAL_NO_ORDER && q->exact);
}

/* Is q->y a prediction as well? */
static bool still_works(hf_searcher *q)
{
    if (!hf_searcher_is_one(
            q, hf_serial_judge(q->serial, &q->y, q->options->budget, NULL)))
        return false;
    return hf_encoding_allows(&q->c, &q->y, *q->wishes) == HF_SAT_YES;
}

void hf_searcher_copy(hf_searcher *q, hf_chosen *to, const hf_chosen *from)
{
    memcpy(to->cut, from->cut, q->e->sessions.n * sizeof(*to->cut));
    memcpy(to->source, from->source, q->e->reads.n * sizeof(*to->source));
}

/* q->y: as q->x, but read i takes what it was observed to take. */
static void put_back(hf_searcher *q, uint32_t i)
{
    hf_searcher_copy(q, &q->y, &q->x);
    q->y.source[i] = q->e->reads.at[i].observed;
}

/* q->y: as q->x, but the session of read i stops `back` segments before it. */
static bool stop_before(hf_searcher *q, uint32_t i, uint32_t back)
{
    uint32_t s = q->e->session_of[q->e->reads.at[i].txn];
    uint32_t first = q->e->sessions.at[s].segment;

    hf_searcher_copy(q, &q->y, &q->x);
    if (q->e->reads.at[i].segment < first + back)
        return false;
    q->y.cut[s] = q->e->reads.at[i].segment - first - back;
    for (uint32_t j = 0; j < q->e->reads.n; j++)
        if (!hf_chosen_has(q->e, &q->y, q->e->reads.at[j].txn,
                           q->e->reads.at[j].segment))
            q->y.source[j] = HF_NONE;
    return true;
}

/* Takes changes back, by the observed source or by stopping before them, while
 * that leaves a prediction. */
void hf_searcher_shrink(hf_searcher *q)
{
    uint32_t tries = 0;

    for (uint32_t i = 0; i < q->e->reads.n && tries < SHRINK_TRIES; i++) {
        bool works;

        if (!hf_searcher_changed(q, i, q->x.source[i]))
            continue;
        tries++;
        put_back(q, i);
        works = still_works(q);
        for (uint32_t back = 0; !works && back < STOP_TRIES; back++)
            works = stop_before(q, i, back) && still_works(q);
        if (works)
            hf_searcher_copy(q, &q->x, &q->y);
    }
}

/* ---- making it longer -----------------------------------------------------
 */

static bool session_changed(const hf_searcher *q, const hf_chosen *x,
                            uint32_t s)
{
    for (uint32_t i = 0; i < q->e->reads.n; i++)
        if (q->e->session_of[q->e->reads.at[i].txn] == s &&
            hf_searcher_changed(q, i, x->source[i]))
            return true;
    return false;
}

/* Can the segment take place as it was observed?  Sources in sessions with a
 * changed read are left to the solver. */
static bool fits(const hf_searcher *q, const hf_chosen *x, uint32_t segment)
{
    for (uint32_t i = 0; i < q->e->reads.n; i++) {
        const hf_event_read *r = &q->e->reads.at[i];
        const hf_event_write *w;
        uint32_t from = q->e->sources.at[r->source + r->observed].txn;

        if (r->segment != segment || from == 0)
            continue;
        w = hf_events_write(q->e, r->key, from);
        if (!w || !hf_chosen_has(q->e, x, from, w->segment))
            return false;
    }
    return true;
}

static void include(hf_searcher *q, uint32_t s)
{
    uint32_t segment = q->e->sessions.at[s].segment + q->y.cut[s]++;

    for (uint32_t i = 0; i < q->e->reads.n; i++)
        if (q->e->reads.at[i].segment == segment)
            q->y.source[i] = q->e->reads.at[i].observed;
}

/* Sessions in which nothing changes go on as far as they were observed to: a
 * longer execution is as little serializable. */
void hf_searcher_stretch(hf_searcher *q)
{
    bool more = true;

    hf_searcher_copy(q, &q->y, &q->x);
    while (more) {
        more = false;
        for (uint32_t s = 0; s < q->e->sessions.n; s++) {
            const hf_event_session *row = &q->e->sessions.at[s];

            if (session_changed(q, &q->x, s))
                continue;
            while (q->y.cut[s] < row->n_segments &&
                   fits(q, &q->y, row->segment + q->y.cut[s])) {
                include(q, s);
                more = true;
            }
        }
    }
    if (still_works(q))
        hf_searcher_copy(q, &q->x, &q->y);
}
