/* describe.c: a chosen execution in the words of the history. */
#include "predict/search.h"

#include <string.h>

#include "base/error.h"
#include "base/sort.h"

static bool has_changed(const hf_events *e, const hf_chosen *x, uint32_t read)
{
    return x->source[read] != HF_NONE &&
           !e->sources.at[e->reads.at[read].source + x->source[read]].as_before;
}

/* Changed reads by segment. */
static uint32_t *changed_segments(const hf_events *e, const hf_chosen *x)
{
    uint32_t *n = HF_NEW_ZEROED(uint32_t, e->segments.n + 1);

    for (uint32_t i = 0; i < e->reads.n; i++)
        n[e->reads.at[i].segment] += has_changed(e, x, i);
    return n;
}

/* Everything up to an operation. */
static void stop_at(const hf_events *e, hf_predicted_session *p, hf_op_id op)
{
    p->txn = hf_op_txn(e->h, op);
    p->last = op;
    p->cut = op + 1 < e->h->op_first[p->txn + 1];
}

static void stop_after(const hf_events *e, hf_predicted_session *p, uint32_t t)
{
    p->txn = e->txn_of[t];
    p->last = e->h->op_first[p->txn + 1] - 1; /* before it, if it is empty */
    p->cut = false;
}

/* Where the session stops: behind its last segment there may be operations
 * that are no events, and the kind of boundary says how many belong to it. */
static void put_stop(const hf_events *e, hf_predicted_session *p,
                     const hf_event_segment *last, bool has_changed_end,
                     hf_boundary kind)
{
    if (kind == HF_BOUNDARY_STRICT || has_changed_end)
        stop_at(e, p, has_changed_end ? last->last : last->read);
    else if (last->flags & HF_CUT_RELAXED)
        stop_after(e, p, last->txn);
    else
        stop_at(e, p, last->last);
}

static hf_predicted_session boundary(const hf_events *e, const hf_chosen *x,
                                     uint32_t s, const uint32_t *changed,
                                     hf_boundary kind)
{
    const hf_event_session *row = &e->sessions.at[s];
    uint32_t at = row->segment + x->cut[s] - 1;
    hf_predicted_session p = {
        .session = row->session, .txn = HF_NONE, .last = HF_NONE};
    bool changed_end = x->cut[s] > 0 && changed[at] > 0;
    uint32_t end;

    if (row->n_txns == 0) {
        p.ends = true;
        return p;
    }
    for (uint32_t i = row->segment; i < row->segment + x->cut[s]; i++)
        p.changed += changed[i];
    end = e->session_txns[row->first_txn + row->n_txns - 1];
    if (x->cut[s] == row->n_segments && p.changed == 0)
        stop_after(e, &p, end);
    else if (x->cut[s] > 0)
        put_stop(e, &p, &e->segments.at[at],
                 changed_end && kind != HF_BOUNDARY_RELAXED, kind);
    else if (kind == HF_BOUNDARY_STRICT)
        stop_at(e, &p, row->read);
    else if (row->flags & HF_CUT_RELAXED) /* transactions without events */
        stop_after(e, &p, e->before[e->segments.at[row->segment].txn]);
    p.ends = p.txn == e->txn_of[end] && !p.cut;
    return p;
}

/* Nothing follows a changed read in its session. */
static bool is_strict(const hf_events *e, const hf_prediction *p)
{
    for (uint32_t i = 0; i < p->n_reads; i++) {
        const hf_predicted_read *r = &p->reads[i];

        if (r->changed &&
            p->sessions[e->session_of[e->number[r->txn]]].last != r->op)
            return false;
    }
    return true;
}

static bool is_in(const hf_events *e, const hf_prediction *p, uint32_t txn,
                  hf_op_id op)
{
    const hf_predicted_session *s = &p->sessions[e->session_of[txn]];

    return s->txn != HF_NONE && op <= s->last && e->txn_of[txn] <= s->txn;
}

static void put_reads(hf_prediction *p, const hf_events *e, const hf_chosen *x)
{
    p->reads = HF_NEW_ARRAY(hf_predicted_read, e->seen.n + 1);
    p->is_unseen = true;
    for (size_t i = 0; i < e->seen.n; i++) {
        const hf_event_seen *s = &e->seen.at[i];
        hf_predicted_read r = {.op = s->op,
                               .txn = e->txn_of[s->txn],
                               .key = s->key,
                               .source = e->txn_of[s->observed],
                               .observed = e->txn_of[s->observed],
                               .is_row = s->is_row,
                               .matches = s->matches};

        if (!is_in(e, p, s->txn, s->op))
            continue;
        if (s->read != HF_NONE) {
            const hf_event_read *c = &e->reads.at[s->read];
            const hf_event_source *from;

            HF_ASSERT(x->source[s->read] != HF_NONE);
            from = &e->sources.at[c->source + x->source[s->read]];
            r.source = e->txn_of[from->txn];
            r.changed = !from->as_before;
            p->is_unseen &= !r.changed || c->unseen || from->alike;
            r.matches = from->matches;
        }
        p->n_changed += r.changed;
        p->reads[p->n_reads++] = r;
    }
}

static void put_order(hf_prediction *p, const hf_events *e,
                      const uint32_t *place)
{
    hf_sortable *by_place = HF_NEW_ARRAY(hf_sortable, e->n);
    uint32_t n = 0;

    for (uint32_t t = 1; t < e->n; t++) {
        const hf_predicted_session *s = &p->sessions[e->session_of[t]];

        if (s->txn != HF_NONE && e->txn_of[t] <= s->txn)
            by_place[n++] = (hf_sortable){place[t], e->txn_of[t]};
    }
    hf_sort(by_place, n);
    p->order = HF_NEW_ARRAY(hf_txn_id, n + 1);
    p->n_order = n;
    for (uint32_t i = 0; i < n; i++)
        p->order[i] = (hf_txn_id)by_place[i].value;
    hf_free(by_place);
}

void hf_prediction_fill(hf_prediction *p, const hf_events *e,
                        const hf_chosen *x, const uint32_t *place,
                        hf_boundary kind)
{
    uint32_t *changed = changed_segments(e, x);

    p->sessions = HF_NEW_ARRAY(hf_predicted_session, e->sessions.n + 1);
    p->n_sessions = (uint32_t)e->sessions.n;
    for (uint32_t s = 0; s < e->sessions.n; s++)
        p->sessions[s] = boundary(e, x, s, changed, kind);
    put_reads(p, e, x);
    put_order(p, e, place);
    p->is_strict = is_strict(e, p);
    hf_free(changed);
}

void hf_prediction_release(hf_prediction *p)
{
    hf_free(p->sessions);
    hf_free(p->reads);
    hf_free(p->edges);
    hf_free(p->order);
    hf_free(p->others);
    memset(p, 0, sizeof(*p));
}
