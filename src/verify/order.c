/* order.c: orders that prove validity.
 *
 * serial    The transactions are executed one after the other; each read must
 *           return the version that is current at its place.  That proves
 *           every level, if the order also keeps session order and real time
 *           where the level has them: a serial execution satisfies all the
 *           weaker conditions.
 * snapshot  Starts and commits are executed one after the other; each read
 *           must return the version current at its transaction's start, and
 *           nobody else may have committed a write of the same key between
 *           start and commit.  Proves the snapshot isolation levels only.
 * commit    See commit.c.  Proves the levels that are neither.
 *
 * Mixed levels are proved by a snapshot order: see mixed.c.
 *
 * Plain histories take the short way of values.c first.
 *
 * Linear in the history (rows that conditions did not return: see looks.c).
 */
#include "verify/mixed.h"
#include "verify/rests.h"

#include "base/error.h"

static bool place_one(hf_verifier *v, hf_world *w, hf_txn_id t)
{
    if (w->place[t] != HF_NONE)
        return hf_refuse(v, "%s is in the order twice",
                         hf_label_txn(v->h, t).text);
    if (v->h->txn_outcome[t] == HF_ABORTED)
        return hf_refuse(v, "%s aborted and is in the order",
                         hf_label_txn(v->h, t).text);
    w->place[t] = w->n;
    w->at[w->n++] = t;
    return true;
}

static bool has_all(hf_verifier *v, const hf_world *w)
{
    for (hf_txn_id t = 0; t < v->h->n_txns; t++)
        if (v->h->txn_outcome[t] == HF_COMMITTED && w->place[t] == HF_NONE)
            return hf_refuse(v, "%s committed and is not in the order",
                             hf_label_txn(v->h, t).text);
    return true;
}

static bool place_all(hf_verifier *v, hf_world *w)
{
    for (uint32_t i = 0; i < v->w->n_order; i++)
        if (!place_one(v, w, v->w->order[i]))
            return false;
    return has_all(v, w);
}

/* ---- serial -------------------------------------------------------------- */

static bool refuse_sight(hf_verifier *v, hf_txn_id t, const hf_world_read *r,
                         hf_txn_id current)
{
    if (r->kind == HF_READ_ITEM)
        return hf_refuse(v,
                         "%s reads key %s from %s, but the version it "
                         "should see is from %s",
                         hf_label_txn(v->h, t).text,
                         hf_label_key(v->h, r->key).text,
                         hf_label_txn(v->h, r->source).text,
                         hf_label_txn(v->h, current).text);
    return hf_refuse(
        v, "a condition of %s %s what %s changed of key %s",
        hf_label_txn(v->h, t).text,
        r->kind == HF_READ_FROM ? "sees too early" : "misses",
        hf_label_txn(v->h, r->kind == HF_READ_FROM ? r->source : r->change)
            .text,
        hf_label_key(v->h, r->key).text);
}

/* Is what t saw of a key what had been committed by then?  `places` has the
 * places of commits, `now` is the place of t's snapshot.  Repeatable read
 * does not mind changes that a condition misses. */
static bool sees(hf_verifier *v, hf_txn_id t, const hf_world_read *r,
                 hf_txn_id current, const uint32_t *places, uint32_t now)
{
    bool fine = true;

    if (r->kind == HF_READ_ITEM)
        fine = r->source == current;
    else if (r->kind == HF_READ_FROM)
        fine = places[r->source] < now;
    else if (v->info->shape != HF_SHAPE_ITEM)
        fine = r->change == HF_NONE || places[r->change] >= now;
    return fine || refuse_sight(v, t, r, current);
}

static bool replay_serial(hf_verifier *v, const hf_world *w)
{
    const hf_facts *f = &v->facts;
    hf_txn_id *current = hf_nones(v, v->h->n_keys, sizeof(*current));

    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];

        for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++)
            if (!sees(v, t, &w->reads[r], current[w->reads[r].key], w->place,
                      i))
                return false;
        for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++)
            current[f->write_key[s]] = t;
        if ((i & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

/* Serial and commit orders. */
static bool verify_line(hf_verifier *v, hf_world *w)
{
    if (!place_all(v, w) ||
        (v->info->session_order && !hf_world_keeps_sessions(v, w)) ||
        (v->info->real_time && !hf_world_keeps_time(v, w)))
        return false;
    if (hf_values_run_serial(v, w))
        return true;
    return v->status == HF_OK && hf_facts_build(v) && hf_world_build(v, w) &&
           (v->w->kind == HF_WITNESS_SERIAL ? replay_serial(v, w)
                                            : hf_verify_commit(v, w));
}

/* ---- snapshot ------------------------------------------------------------ */

/* Fills the world from the commits, and where each transaction starts and
 * commits in the list of events. */
static bool place_events(hf_verifier *v, hf_world *w, uint32_t *start,
                         uint32_t *commit)
{
    w->now = hf_nones(v, v->h->n_txns, sizeof(*w->now));
    for (uint32_t i = 0; i < v->w->n_order; i++) {
        hf_txn_id t = v->w->order[i] / 2;

        if (v->w->order[i] % 2 == 0) {
            if (start[t] != HF_NONE)
                return hf_refuse(v, "%s starts twice",
                                 hf_label_txn(v->h, t).text);
            start[t] = i;
            w->now[t] = w->n;
            continue;
        }
        if (start[t] == HF_NONE)
            return hf_refuse(v, "%s commits before it starts",
                             hf_label_txn(v->h, t).text);
        if (!place_one(v, w, t))
            return false;
        commit[t] = i;
    }
    for (hf_txn_id t = 0; t < v->h->n_txns; t++)
        if (start[t] != HF_NONE && commit[t] == HF_NONE)
            return hf_refuse(v, "%s starts and never commits",
                             hf_label_txn(v->h, t).text);
    return has_all(v, w);
}

static bool commit_one(hf_verifier *v, hf_txn_id t, hf_txn_id *current,
                       const uint32_t *start, const uint32_t *commit)
{
    const hf_facts *f = &v->facts;

    for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++) {
        hf_txn_id *last = &current[f->write_key[s]];

        if (*last != HF_NONE && commit[*last] > start[t])
            return hf_refuse(v, "%s and %s write key %s and overlap",
                             hf_label_txn(v->h, *last).text,
                             hf_label_txn(v->h, t).text,
                             hf_label_key(v->h, f->write_key[s]).text);
        *last = t;
    }
    return true;
}

static bool replay_events(hf_verifier *v, const hf_world *w,
                          const uint32_t *start, const uint32_t *commit)
{
    hf_txn_id *current = hf_nones(v, v->h->n_keys, sizeof(*current));

    for (uint32_t i = 0; i < v->w->n_order; i++) {
        hf_txn_id t = v->w->order[i] / 2;

        if (v->w->order[i] % 2 == 1) {
            if (!commit_one(v, t, current, start, commit))
                return false;
            continue;
        }
        for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++)
            if (!sees(v, t, &w->reads[r], current[w->reads[r].key], commit, i))
                return false;
        if ((i & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

static bool sessions_follow(hf_verifier *v, const uint32_t *start,
                            const uint32_t *commit)
{
    const hf_history *h = v->h;

    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        hf_txn_id last = HF_NONE;

        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            if (start[t] == HF_NONE)
                continue;
            if (last != HF_NONE && start[t] < commit[last])
                return hf_refuse(v,
                                 "%s starts before %s of its own session "
                                 "commits",
                                 hf_label_txn(h, t).text,
                                 hf_label_txn(h, last).text);
            last = t;
        }
    }
    return true;
}

/* As hf_world_keeps_time(), with commits against starts. */
static bool time_is_kept(hf_verifier *v)
{
    const hf_history *h = v->h;
    uint64_t earliest = HF_TIME_NONE;
    hf_txn_id who = HF_NONE;

    for (uint32_t i = v->w->n_order; i-- > 0;) {
        hf_txn_id t = v->w->order[i] / 2;
        uint64_t begin = hf_txn_begin_time(h, t), end = hf_txn_end_time(h, t);

        if (v->w->order[i] % 2 == 1) {
            if (h->txn_outcome[t] == HF_COMMITTED && end < earliest) {
                earliest = end;
                who = t;
            }
        } else if (begin != HF_TIME_NONE && who != HF_NONE &&
                   earliest < begin) {
            return hf_refuse(v,
                             "%s ended before %s began and commits after "
                             "its start",
                             hf_label_txn(h, who).text,
                             hf_label_txn(h, t).text);
        }
    }
    return true;
}

static bool verify_snapshot(hf_verifier *v, hf_world *w)
{
    uint32_t *start = hf_nones(v, v->h->n_txns, sizeof(*start));
    uint32_t *commit = hf_nones(v, v->h->n_txns, sizeof(*commit));

    if (v->w->mixed)
        return place_events(v, w, start, commit) &&
               hf_verify_mixed(v, w, start, commit);
    if (!place_events(v, w, start, commit) ||
        (v->info->session_order && !sessions_follow(v, start, commit)) ||
        (v->info->real_time && !time_is_kept(v)))
        return false;
    if (hf_values_run_events(v, w, start))
        return true;
    return v->status == HF_OK && hf_facts_build(v) && hf_world_build(v, w) &&
           replay_events(v, w, start, commit);
}

/* ---- all ----------------------------------------------------------------- */

static bool kind_fits(hf_verifier *v)
{
    hf_level_shape shape = v->info->shape;
    bool fits = true;

    if (v->w->mixed)
        return v->w->kind == HF_WITNESS_SNAPSHOT ||
               hf_refuse(v, "mixed levels are proved by a snapshot order");
    if (v->w->kind == HF_WITNESS_SNAPSHOT)
        fits = shape == HF_SHAPE_SNAPSHOT;
    /* reads do not matter at read-uncommitted, so nothing would be replayed */
    if (v->w->kind == HF_WITNESS_SERIAL)
        fits = shape != HF_SHAPE_WW;
    if (v->w->kind == HF_WITNESS_COMMIT)
        fits = shape != HF_SHAPE_SNAPSHOT && shape != HF_SHAPE_SERIAL &&
               shape != HF_SHAPE_ITEM;
    return fits || hf_refuse(v, "a %s order does not prove %s",
                             hf_witness_kind_name(v->w->kind), v->info->name);
}

bool hf_verify_order(hf_verifier *v)
{
    hf_world w = {0};
    bool fine;

    if (!kind_fits(v))
        return false;
    w.at = hf_nones(v, v->h->n_txns, sizeof(*w.at));
    w.place = hf_nones(v, v->h->n_txns, sizeof(*w.place));
    w.now = w.place; /* a snapshot order has its own */
    fine = (v->w->kind == HF_WITNESS_SNAPSHOT ? verify_snapshot(v, &w)
                                              : verify_line(v, &w)) &&
           hf_world_keeps_rests(v, &w);
    hf_world_release(&w);
    return fine;
}
