/* stamps.c: recorded starts and commits.
 *
 * By recorded timestamps, a commit at time c is in the snapshot of a start at
 * time s if c <= s; a transaction is never in its own.  That is the order of
 * events in which, at equal times, commits of writers stand before the starts
 * of others; so a writer must start before it commits, and one that writes
 * nothing may do both at one time.
 *
 * Two anomalies: a read that does not return the newest version in its
 * snapshot, or a predicate operation that misses one; and two writers of one
 * key of which neither is in the snapshot of the other.  And the check of an
 * order of events against the timestamps, which is one pass.
 */
#include "verify/operations.h"
#include "verify/rests.h"

static uint64_t start_of(const hf_history *h, hf_txn_id t)
{
    return h->cert.start_ts ? h->cert.start_ts[t] : HF_TIME_NONE;
}

static uint64_t commit_of(const hf_history *h, hf_txn_id t)
{
    return h->cert.commit_ts ? h->cert.commit_ts[t] : HF_TIME_NONE;
}

/* The last write of its key by one that happened. */
static bool installs(const hf_certain *c, const hf_cited *s)
{
    uint32_t slot;

    if (!c->happened[s->t] || !hf_op_writes(c->v->h, s->op))
        return false;
    slot = hf_facts_slot(&c->v->facts, s->t, s->key);
    return slot != HF_NONE && c->v->facts.write_op[slot] == s->op;
}

/* T starts at `start` and reads the version of `source`; the write is of
 * another transaction, which commits at `commit`. */
static bool is_outside(const hf_certain *c, uint64_t start, hf_txn_id source,
                       const hf_cited *write, uint64_t commit)
{
    uint64_t older;

    if (source == write->t)
        return commit > start ||
               hf_refuse_steps(c, "the version read was committed before the "
                                  "reader's start");
    if (commit > start)
        return hf_refuse_steps(c, "the version missed was committed after the "
                                  "reader's start");
    if (source == HF_NONE)
        return true;
    older = commit_of(c->v->h, source);
    return (older != HF_TIME_NONE && older < commit) ||
           hf_refuse_steps(c, "the version read is not certainly older than "
                              "the one missed");
}

/* The newest version of the key at the start, of others than t; HF_NONE: the
 * initial one.  False if that is not certain. */
static bool newest_at(const hf_certain *c, hf_txn_id t, hf_key_id key,
                      uint64_t start, hf_txn_id *ret)
{
    const hf_history *h = c->v->h;
    const hf_key_index *all = hf_writers_of_keys(c->v);
    uint64_t newest = 0;

    *ret = HF_NONE;
    if (!all)
        return false;
    for (uint32_t i = all->first[key]; i < all->first[key + 1]; i++) {
        hf_txn_id w = all->at[i];
        uint64_t commit = commit_of(h, w);

        if (w == t || h->txn_outcome[w] == HF_ABORTED)
            continue;
        if (!c->happened[w] || commit == HF_TIME_NONE ||
            (*ret != HF_NONE && commit == newest))
            return false;
        if (commit > start || (*ret != HF_NONE && commit < newest))
            continue;
        *ret = w;
        newest = commit;
    }
    return true;
}

/* The predicate operation looked at the version of `source` and did not return
 * it; the newest one at its start satisfies the condition.  What is cited is
 * that, or, if that is the initial version, the one looked at. */
static bool is_missed(const hf_certain *c, const hf_cited *look, uint64_t start,
                      hf_txn_id source, const hf_cited *write)
{
    const hf_condition *condition = hf_predicate_condition(c->v, look->op);
    hf_txn_id newest;

    if (!newest_at(c, look->t, write->key, start, &newest))
        return hf_refuse_steps(c, "it is not certain which version was the "
                                  "newest at the reader's start");
    if (newest == source || write->t != (newest == HF_NONE ? source : newest) ||
        (newest == HF_NONE && commit_of(c->v->h, source) <= start))
        return hf_refuse_steps(c, "the write is not that of the version that "
                                  "was missed");
    return hf_version_match(c, newest, write->key, condition) == HF_MATCH_YES ||
           hf_refuse_steps(c, "the newest version at the reader's start does "
                              "not certainly satisfy the condition");
}

bool hf_check_outside_snapshot(const hf_certain *c, const hf_cited *s,
                               uint32_t n)
{
    const hf_history *h = c->v->h;
    hf_txn_id source;
    uint64_t start, commit;
    bool item;

    (void)n;
    if (s[0].t == s[1].t || !c->happened[s[0].t] || !installs(c, &s[1]))
        return hf_refuse_steps(c, "expected a read, and the last write of its "
                                  "key by another that certainly committed");
    item = hf_certain_source(c, s[0].t, s[0].op, s[1].key, &source);
    if (!item &&
        !hf_certain_look(c, s[0].t, s[0].op, s[1].key, HF_LOOK_VIEW, &source))
        return hf_refuse_steps(c, "it is not certain which version was read");
    start = start_of(h, s[0].t);
    commit = commit_of(h, s[1].t);
    if (start == HF_TIME_NONE || commit == HF_TIME_NONE)
        return hf_refuse_steps(c, "the start of the reader or the commit of "
                                  "the writer was not recorded");
    return item ? is_outside(c, start, source, &s[1], commit)
                : is_missed(c, &s[0], start, source, &s[1]);
}

bool hf_check_concurrent_write(const hf_certain *c, const hf_cited *s,
                               uint32_t n)
{
    const hf_history *h = c->v->h;
    const hf_cited *first = &s[0], *second = &s[1];

    (void)n;
    if (s[0].t == s[1].t || s[0].key != s[1].key || !installs(c, &s[0]) ||
        !installs(c, &s[1]))
        return hf_refuse_steps(c, "expected the last writes of one key by two "
                                  "that certainly committed");
    for (int i = 0; i < 2; i++)
        if (commit_of(h, s[i].t) == HF_TIME_NONE)
            return hf_refuse_steps(c, "a commit was not recorded");
    if (commit_of(h, second->t) < commit_of(h, first->t)) {
        if (c->v->w->mixed) /* it was the second whose level was asked */
            return hf_refuse_steps(c, "the first one named commits last");
        first = &s[1];
        second = &s[0];
    }
    if (start_of(h, second->t) == HF_TIME_NONE)
        return hf_refuse_steps(c, "a start was not recorded");
    return start_of(h, second->t) < commit_of(h, first->t) ||
           hf_refuse_steps(c, "one started after the other had committed");
}

/* ---- orders of events ---------------------------------------------------- */

static bool is_writer(const hf_history *h, hf_txn_id t)
{
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
        if (hf_op_writes(h, op))
            return true;
    return false;
}

static bool has_stamps(hf_verifier *v, hf_txn_id t)
{
    const hf_history *h = v->h;
    uint64_t start = start_of(h, t), commit = commit_of(h, t);

    if (start == HF_TIME_NONE || commit == HF_TIME_NONE)
        return hf_refuse(v, "the start or the commit of %s was not recorded",
                         hf_label_txn(h, t).text);
    return start < commit || (start == commit && !is_writer(h, t)) ||
           hf_refuse(v, "by its timestamps %s commits before it can write",
                     hf_label_txn(h, t).text);
}

bool hf_events_keep_stamps(hf_verifier *v)
{
    const hf_history *h = v->h;
    uint64_t now = 0;
    bool started = false; /* a transaction, at this time */

    for (uint32_t i = 0; i < v->w->n_order; i++) {
        hf_txn_id t = v->w->order[i] / 2;
        bool is_start = v->w->order[i] % 2 == 0;
        uint64_t time = is_start ? start_of(h, t) : commit_of(h, t);

        if (is_start && !has_stamps(v, t))
            return false;
        if (time < now)
            return hf_refuse(v,
                             "%s %s at %llu, after events of later "
                             "timestamps",
                             hf_label_txn(h, t).text,
                             is_start ? "starts" : "commits",
                             (unsigned long long)time);
        started &= time == now;
        now = time;
        /* a writer starts earlier, so what started now is another */
        if (!is_start && started && is_writer(h, t))
            return hf_refuse(v,
                             "%s commits at %llu, after starts that must see "
                             "it",
                             hf_label_txn(h, t).text, (unsigned long long)time);
        started |= is_start;
        if ((i & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}
