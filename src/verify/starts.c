/* starts.c: the short way for commit orders of histories with conditions.
 *
 * Below snapshot isolation, what a transaction read from includes everybody
 * whose change a condition saw: the operations times the keys times their
 * versions, if all are listed.  But many orders are better than the level
 * asks: for each transaction there is a place, no later than its own, at
 * which all its reads are current.  Then all that the level can make visible
 * to it stands before that place (sources do; so do those before it in its
 * session, if that is checked; and whatever leads to those), and every read
 * returns the newest version from there.  A dependency into it can only come
 * from behind that place through a version that it overwrote, which is
 * checked where paths of versions count.
 *
 * The place is the latest possible: just before the first change that a read
 * does not see.  If there is one at all, this is one, since what a read does
 * see must only be somewhere before it.
 *
 * Where a level asks about the own reads and the own session of each
 * transaction only, those that have such a place are done with, even if others
 * have none.  Else, if one has none, nothing is known.
 *
 * Two passes as for a serial order.
 */
#include "verify/commit.h"

/* The first change after what the read saw. */
static uint32_t end_of(const hf_world *w, const hf_world_read *r)
{
    uint32_t at;

    if (r->kind == HF_READ_VIEW)
        return w->place[r->change];
    at = hf_world_writer_from(w, r->key, hf_world_age(w, r->source) + 1);
    return at < w->writer_first[r->key + 1] ? w->place[w->writers[at]]
                                            : UINT32_MAX;
}

/* From the stale reads of each. */
static uint32_t *find_starts(hf_commit *c)
{
    const hf_world *w = c->w;
    uint32_t *start = hf_nones(c->v, c->v->h->n_txns, sizeof(*start));

    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];

        start[t] = i;
        for (uint32_t s = c->stale_first[i]; s < c->stale_first[i + 1]; s++) {
            uint32_t end = end_of(w, &w->reads[c->stale[s]]);

            if (end < start[t])
                start[t] = end;
        }
    }
    return start;
}

static bool session_is_before(const hf_commit *c, hf_txn_id t, uint32_t start)
{
    hf_txn_id before = c->session_before[t];

    return before == HF_NONE || c->w->place[before] < start;
}

static bool overwritten_are_before(const hf_commit *c, hf_txn_id t,
                                   uint32_t start)
{
    const hf_facts *f = &c->v->facts;

    for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++)
        if (c->previous[s] != HF_NONE && c->w->place[c->previous[s]] >= start)
            return false;
    return true;
}

/* All reads are current at the start: views that are not are in the table. */
static bool reads_are_current(const hf_commit *c, hf_txn_id t, uint32_t start)
{
    const hf_world *w = c->w;

    for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++) {
        const hf_world_read *read = &w->reads[r];

        if (read->kind != HF_READ_ITEM ||
            hf_world_age(w, read->source) >= (int64_t)start ||
            end_of(w, read) < start)
            return false;
    }
    return true;
}

bool hf_commit_has_starts(hf_commit *c, hf_world *w, bool *has)
{
    const hf_level_info *info = c->v->info;
    const unsigned own_reads = HF_AXIOM_EARLIER_READ | HF_AXIOM_WR;
    bool sessions = info->session_order || (info->shape == HF_SHAPE_AXIOM &&
                                            (info->axiom & ~own_reads));
    uint32_t *start = find_starts(c);
    bool all = true;

    if (!hf_world_read_again(c->v, w, start)) {
        w->now = w->place;
        return false;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];

        has[t] = (!sessions || session_is_before(c, t, start[t])) &&
                 (info->shape != HF_SHAPE_SINGLE ||
                  overwritten_are_before(c, t, start[t])) &&
                 reads_are_current(c, t, start[t]);
        all &= has[t];
    }
    if (!all)
        w->now = w->place;
    return all;
}
