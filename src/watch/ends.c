/* ends.c: a transaction ends: what it wrote and locked becomes items.
 *
 * Only now it is known from when to when its locks stood, and from when on its
 * versions may be seen.  A commit without an answer may have happened at any
 * time from its call on, or never; a transaction that did not commit may have
 * been rolled back long before its client heard, so its locks are known up to
 * its last call that succeeded.
 *
 * Cost: O(1) for each write and lock.
 */
#include "watch/inside.h"

/* How a transaction's end looks to its locks. */
typedef struct ending {
    span commit;  /* of versions */
    span release; /* of locks */
    bool is_committed, is_maybe;
} ending;

/* Has someone who still runs deleted the row?  That may be before this one, who
 * ends first. */
static bool may_be_emptied(const hf_watch *w, const watch_txn *t,
                           const own_write *o)
{
    if (!w->free_inserts || (o->flags & (ITEM_INSERTED | ITEM_DELETED)))
        return false;
    if (t->is_suspect) /* nobody knows when it was */
        return true;
    if (w->n_deleting == 0 || w->deleting[o->key % DELETING] == 0)
        return false;
    for (size_t i = 0; i < w->clients.n; i++) {
        uint32_t slot = w->clients.at[i].txn;
        const own_write *own =
            slot == NO_ID ? NULL : hf_watch_own(&w->txns.at[slot], o->key);

        if (own && own->value == HF_EVENT_NO_ROW && &w->txns.at[slot] != t)
            return true;
    }
    return false;
}

static void end_write(hf_watch *w, const watch_txn *t, const own_write *o,
                      const ending *x)
{
    watch_item it = hf_watch_item_of(w, t, o->key, o->row, ITEM_INSTALL);
    bool locks = (w->locks || w->fuw) && !w->profile.one_writer && o->locks;

    it.value = o->value;
    it.at = w->profile.locks_at_commit ? x->commit : o->at;
    it.is_changed = o->is_changed && !w->profile.locks_at_commit;
    it.end = x->commit;
    it.is_committed = x->is_committed;
    it.flags |= ITEM_EXCLUSIVE | o->flags | (t->is_weaker ? ITEM_WEAKER : 0);
    if (may_be_emptied(w, t, o))
        it.flags |= ITEM_INSERTED;
    it.may_insert = w->error > 0 && w->free_inserts;
    if (t->is_weaker && !w->locks)
        it.flags |= ITEM_SUSPECT; /* it may come after all who overlap it */
    if (o->is_doubtful)
        it.flags |= ITEM_SUSPECT; /* nor had it the row when it called commit */
    if (x->is_maybe || o->is_doubtful)
        it.flags |= ITEM_MAYBE;
    if (x->is_committed) {
        if (locks && !(it.flags & ITEM_MAYBE))
            it.flags |= ITEM_LOCKS;
        hf_watch_push_item(w, &it);
        if (!x->is_maybe || o->is_doubtful)
            return;
    } else {
        hf_watch_past_add(w, (past_write){.txn = t->id,
                                          .value = o->value,
                                          .key = o->key,
                                          .at = o->at,
                                          .end = x->commit,
                                          .is_aborted = true});
    }
    /* what locks by its commit, or was never answered, has locked nothing for
     * all that is known */
    if (!locks || w->profile.locks_at_commit || o->at.hi == FOR_EVER)
        return;
    it.kind = ITEM_LOCK;
    it.end = x->release;
    it.flags |= ITEM_WROTE;
    hf_watch_push_item(w, &it);
}

static void end_lock(hf_watch *w, const watch_txn *t, const own_lock *o,
                     const ending *x)
{
    watch_item it = hf_watch_item_of(w, t, o->row, o->row, ITEM_LOCK);

    it.at = o->at;
    it.scan = o->scan;
    it.end = x->release;
    it.is_committed = x->is_committed;
    it.flags |= o->flags | (x->is_maybe ? ITEM_MAYBE : 0);
    hf_watch_push_item(w, &it);
}

/* Where there is one writer at a time, he locks the database: by his first
 * write that had an answer, for certain. */
static void end_writer(hf_watch *w, const watch_txn *t, const ending *x)
{
    watch_item it =
        hf_watch_item_of(w, t, WHOLE_DATABASE, WHOLE_DATABASE, ITEM_LOCK);
    size_t i = 0;

    while (i < t->writes.n && t->writes.at[i].at.hi == FOR_EVER)
        i++;
    if (i == t->writes.n)
        return;
    it.key = t->writes.at[i].key;
    it.at = t->writes.at[i].at;
    it.end = x->release;
    it.is_committed = x->is_committed;
    it.flags |= ITEM_EXCLUSIVE | ITEM_WROTE | (x->is_maybe ? ITEM_MAYBE : 0) |
                (t->is_weaker ? ITEM_WEAKER : 0);
    hf_watch_page(w, it.key);
    hf_watch_push_item(w, &it);
}

void hf_watch_tell_end(hf_watch *w, const watch_txn *t, span commit,
                       bool is_committed)
{
    watch_finding f = {.kind = FOUND_END,
                       .time = w->now,
                       .seq = w->seq,
                       .from = {t->id, t->serial, t->snapshot, 0},
                       .to = {t->id, t->serial, commit, INSTANT_COMMIT}};

    if (is_committed && !t->is_spoiled && !t->is_weaker)
        f.flags |= END_COMMITTED;
    if (!(f.flags & END_COMMITTED))
        f.to.at.hi = w->now; /* nobody waits for it */
    if (t->has_written)
        f.flags |= END_WROTE;
    hf_vec_push(&w->found, f);
}

static void end_txn(hf_watch *w, uint32_t slot, ending x)
{
    watch_txn *t = &w->txns.at[slot];
    uint64_t last = t->last_hi;

    hf_watch_scan_close(w, slot);
    if (x.commit.hi != FOR_EVER && x.commit.hi > last)
        last = x.commit.hi;
    if (t->snapshot.hi == FOR_EVER)
        t->snapshot.hi = x.commit.hi;
    if (w->tracks_reads)
        hf_watch_tell_end(w, t, x.commit, x.is_committed && !x.is_maybe);
    if (!t->is_spoiled) {
        for (size_t i = 0; i < t->doubtful.n && x.is_committed; i++) {
            t->doubtful.at[i].is_doubtful = true;
            end_write(w, t, &t->doubtful.at[i], &x);
        }
        for (size_t i = 0; i < t->writes.n; i++)
            end_write(w, t, &t->writes.at[i], &x);
        if (w->profile.one_writer && t->writes.n > 0 && (w->locks || w->fuw))
            end_writer(w, t, &x);
        for (size_t i = 0; i < t->locks.n; i++)
            end_lock(w, t, &t->locks.at[i], &x);
        generation_add(&w->unripe, t->first_lo, last);
        generation_add(&w->recent, t->first_lo, last);
    }
    if (x.is_maybe)
        w->stats.unknown++;
    else if (x.is_committed)
        w->stats.committed++;
    else
        w->stats.aborted++;
    hf_watch_forget_txn(w, slot);
}

void hf_watch_end_maybe(hf_watch *w, uint32_t slot, uint64_t lo)
{
    const watch_txn *t = &w->txns.at[slot];

    end_txn(w, slot,
            (ending){.commit = {lo, FOR_EVER},
                     .release = {t->last_ok, FOR_EVER},
                     .is_committed = true,
                     .is_maybe = true});
}

void hf_watch_take_end(hf_watch *w, uint32_t slot, const hf_event *e, span at)
{
    const watch_txn *t = &w->txns.at[slot];

    if (e->kind == HF_EVENT_COMMIT && !(e->flags & HF_EVENT_FAILED)) {
        if (e->after == UINT64_MAX)
            hf_watch_end_maybe(w, slot, at.lo);
        else
            end_txn(
                w, slot,
                (ending){.commit = at, .release = at, .is_committed = true});
        return;
    }
    end_txn(w, slot, (ending){.commit = at, .release = {t->last_ok, at.hi}});
}
