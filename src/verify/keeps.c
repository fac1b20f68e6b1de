/* keeps.c: does the world of an order keep the assumptions of its witness?
 *
 * The version order of a key is the order of its writers, the sources of
 * reads are settled, so each assumption is a comparison of places:
 *
 *   linearizable   per version the earliest end and the latest begin of those
 *                  that touch it; along the versions of a key, no end may be
 *                  before a begin already passed
 *   sequential     along a session, the versions of a key that are touched do
 *                  not go back
 *   reads          the source of a read is before the reader's own version
 *   order          along the versions of a key, recorded places do not go back
 *
 * Each is one or two passes over the operations.  And, first, what a level
 * itself may ask of the order: that it contains session order and real time.
 */
#include "verify/rests.h"

/* ---- levels -------------------------------------------------------------- */

bool hf_world_keeps_sessions(hf_verifier *v, const hf_world *w)
{
    const hf_history *h = v->h;

    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        hf_txn_id last = HF_NONE;

        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            if (w->place[t] == HF_NONE)
                continue;
            if (last != HF_NONE && w->place[t] < w->place[last])
                return hf_refuse(v,
                                 "%s is before %s in their session and "
                                 "after it in the order",
                                 hf_label_txn(h, last).text,
                                 hf_label_txn(h, t).text);
            last = t;
        }
    }
    return true;
}

/* From the end of the order to its beginning, keeping the earliest end of
 * the transactions passed: none of them may have ended before this began. */
bool hf_world_keeps_time(hf_verifier *v, const hf_world *w)
{
    const hf_history *h = v->h;
    uint64_t earliest = HF_TIME_NONE;
    hf_txn_id who = HF_NONE;

    for (uint32_t i = w->n; i-- > 0;) {
        hf_txn_id t = w->at[i];
        uint64_t begin = hf_txn_begin_time(h, t), end = hf_txn_end_time(h, t);

        if (begin != HF_TIME_NONE && who != HF_NONE && earliest < begin)
            return hf_refuse(v,
                             "%s ended before %s began and is after it in "
                             "the order",
                             hf_label_txn(h, who).text,
                             hf_label_txn(h, t).text);
        if (h->txn_outcome[t] == HF_COMMITTED && end < earliest) {
            earliest = end;
            who = t;
        }
    }
    return true;
}

/* ---- linearizable -------------------------------------------------------- */

typedef struct times {
    uint64_t *earliest_end, *latest_begin; /* per slot */
    uint64_t *passed; /* per key: the latest begin so far, 0 if none */
} times;

static void touch(const hf_history *h, const times *x, uint32_t slot,
                  hf_txn_id t)
{
    uint64_t begin = hf_txn_begin_time(h, t), end = hf_txn_end_time(h, t);

    if (h->txn_outcome[t] == HF_COMMITTED && end < x->earliest_end[slot])
        x->earliest_end[slot] = end;
    if (begin != HF_TIME_NONE && begin > x->latest_begin[slot])
        x->latest_begin[slot] = begin;
}

static void fill_times(hf_verifier *v, const hf_world *w, times *x)
{
    const hf_history *h = v->h;
    const hf_facts *f = &v->facts;
    uint32_t n_slots = f->write_first[h->n_txns];

    x->earliest_end = hf_nones(v, n_slots, sizeof(uint64_t));
    x->latest_begin = hf_zeros(v, n_slots, sizeof(uint64_t));
    x->passed = hf_zeros(v, h->n_keys, sizeof(uint64_t));
    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];
        uint64_t begin = hf_txn_begin_time(h, t);

        for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++)
            touch(h, x, s, t);
        for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++) {
            const hf_world_read *read = &w->reads[r];

            if (read->kind != HF_READ_ITEM)
                continue;
            if (read->source != HF_NONE)
                touch(h, x, hf_facts_slot(f, read->source, read->key), t);
            else if (begin != HF_TIME_NONE && begin > x->passed[read->key])
                x->passed[read->key] = begin;
        }
    }
}

static bool keeps_time(hf_verifier *v, const hf_world *w)
{
    const hf_facts *f = &v->facts;
    times x;

    fill_times(v, w, &x);
    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];

        for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++) {
            hf_key_id key = f->write_key[s];

            if (x.earliest_end[s] < x.passed[key])
                return hf_refuse(v,
                                 "the versions of key %s are not per-key "
                                 "linearizable: that of %s was there before "
                                 "an earlier one was touched",
                                 hf_label_key(v->h, key).text,
                                 hf_label_txn(v->h, t).text);
            if (x.latest_begin[s] > x.passed[key])
                x.passed[key] = x.latest_begin[s];
        }
        if ((i & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

/* ---- sequential ---------------------------------------------------------- */

/* The newest version of each key that a session has touched so far. */
typedef struct progress {
    hf_session_id *stamp; /* per key: the session it is valid for */
    int64_t *newest;      /* per key: its place */
} progress;

/* `checking`: is the version (at `place`) not older than what the session
 * touched before?  Else it is noted. */
static bool pass(const progress *p, hf_session_id s, hf_key_id key,
                 int64_t place, bool checking)
{
    bool met = p->stamp[key] == s;

    if (checking)
        return !met || place >= p->newest[key];
    if (!met || place > p->newest[key])
        p->newest[key] = place;
    p->stamp[key] = s;
    return true;
}

static bool pass_all(hf_verifier *v, const hf_world *w, const progress *p,
                     hf_txn_id t, bool checking)
{
    const hf_facts *f = &v->facts;
    hf_session_id session = v->h->txn_session[t];
    hf_key_id key = HF_NONE;
    bool fine = true;

    for (uint32_t r = w->read_first[t]; fine && r < w->read_first[t + 1]; r++)
        if (w->reads[r].kind == HF_READ_ITEM) {
            key = w->reads[r].key;
            fine = pass(p, session, key, hf_world_age(w, w->reads[r].source),
                        checking);
        }
    for (uint32_t s = f->write_first[t]; fine && s < f->write_first[t + 1];
         s++) {
        key = f->write_key[s];
        fine = pass(p, session, key, w->place[t], checking);
    }
    return fine ||
           hf_refuse(v,
                     "the versions of key %s are not per-key "
                     "sequential: %s goes back behind its session",
                     hf_label_key(v->h, key).text, hf_label_txn(v->h, t).text);
}

static bool keeps_sessions(hf_verifier *v, const hf_world *w)
{
    const hf_history *h = v->h;
    progress p = {.stamp = hf_nones(v, h->n_keys, sizeof(*p.stamp)),
                  .newest = hf_zeros(v, h->n_keys, sizeof(*p.newest))};

    for (uint32_t i = 0; i < h->n_txns; i++) {
        hf_txn_id t = h->session_txns[i];

        if (w->place[t] != HF_NONE &&
            (!pass_all(v, w, &p, t, true) || !pass_all(v, w, &p, t, false)))
            return false;
        if ((i & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

/* ---- reads and order ----------------------------------------------------- */

static bool keeps_reads(hf_verifier *v, const hf_world *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];

        for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++) {
            const hf_world_read *read = &w->reads[r];

            if (read->kind == HF_READ_ITEM &&
                hf_world_age(w, read->source) > (int64_t)i &&
                hf_facts_writes(&v->facts, t, read->key))
                return hf_refuse(v,
                                 "%s reads key %s from %s and writes an "
                                 "older version",
                                 hf_label_txn(v->h, t).text,
                                 hf_label_key(v->h, read->key).text,
                                 hf_label_txn(v->h, read->source).text);
        }
        if ((i & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

static bool keeps_order(hf_verifier *v, const hf_world *w)
{
    const hf_facts *f = &v->facts;
    const uint64_t *ranks = hf_recorded_ranks(v);
    uint64_t *latest = hf_zeros(v, v->h->n_keys, sizeof(*latest));

    for (uint32_t i = 0; ranks && i < w->n; i++) {
        hf_txn_id t = w->at[i];

        if (ranks[t] == HF_TIME_NONE)
            continue;
        for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++) {
            hf_key_id key = f->write_key[s];

            if (ranks[t] < latest[key] && hf_is_unordered(v, key))
                return hf_refuse(v,
                                 "the recorded order puts %s before an "
                                 "earlier writer of key %s",
                                 hf_label_txn(v->h, t).text,
                                 hf_label_key(v->h, key).text);
            latest[key] = ranks[t];
        }
        if ((i & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

bool hf_world_keeps_rests(hf_verifier *v, const hf_world *w)
{
    unsigned rests = v->w->rests;

    if ((rests & HF_REST_TIMESTAMPS) && v->w->kind != HF_WITNESS_SNAPSHOT)
        return hf_refuse(v,
                         "a %s order has no starts to compare with "
                         "recorded timestamps",
                         hf_witness_kind_name(v->w->kind));
    return (!(rests & HF_REST_LINEARIZABLE) || keeps_time(v, w)) &&
           (!(rests & HF_REST_SEQUENTIAL) || keeps_sessions(v, w)) &&
           (!(rests & HF_REST_READS) || keeps_reads(v, w)) &&
           (!(rests & HF_REST_ORDER) || keeps_order(v, w)) &&
           (!(rests & HF_REST_TIMESTAMPS) || hf_events_keep_stamps(v));
}
