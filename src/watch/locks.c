/* locks.c: mutual exclusion and first updater wins, row by row.
 *
 * Mutual exclusion (Leopard, section V-B).  A lock is acquired at an instant
 * inside the call that asked for it and released at one inside the end of its
 * transaction.  Of two incompatible locks of a row one is released before the
 * other is acquired: if the intervals leave neither order, both were held at
 * once.  A transaction that did not commit may have been rolled back by the
 * database long before its client heard: its lock is only known to be there
 * up to its last call that succeeded.
 *
 * First updater wins (section V-C).  Of two committed transactions that wrote
 * a row, one committed before the other's snapshot.  It is the same question
 * with the snapshot in the place of the acquisition.  Databases differ in what
 * an insert is: where rows are objects (PostgreSQL) there is nothing that it
 * updates, so one that finds the place empty may follow whoever emptied it,
 * however old its snapshot is; where keys are (RocksDB) it is a write like any
 * other.  A write that may have been an insert ("insert or update") counts as
 * one if a delete may have come in between.  Clocks that differ by e at most
 * may bring that delete later than the insert: its commit was called before
 * the insert returned, and that before the inserter's commit was called, so by
 * the clocks it is at most 2 e later than that.  Until then two who have no
 * other excuse are doubted, and told if no delete of the row has come.
 *
 * Both are asked when a transaction ends, for each of its rows, against those
 * that ended before: each pair once.
 *
 * Garbage.  An entry is compared with transactions that end later, whose
 * locks and snapshots begin no earlier than they do.  If all of these began
 * after the entry's end, which is so when that end is before the horizon,
 * then "the entry first" is possible for each of them, and nothing can be
 * found.  Entries stand in a ring in the order in which they came; the oldest
 * go as soon as that holds.  What nobody knows the end of (an answer that
 * never came) stands apart until the row is locked again.
 *
 * Cost: the entries of the row that end after the new one began; `latest`
 * ends the walk there.
 */
#include "watch/inside.h"

static bool collide(const watch_held *a, const watch_held *b)
{
    return a->txn != b->txn && ((a->flags | b->flags) & ITEM_EXCLUSIVE) != 0;
}

/* A lock of what satisfies a condition is against writes that do.  Whoever
 * changed what he had written came into the range nobody knows when. */
static bool is_in_range(const watch_shard *s, const watch_held *lock,
                        const watch_held *other)
{
    const hf_watch_options *o = &s->w->options;

    if (lock->scan == NO_ID)
        return true;
    return other->wrote && !other->is_changed &&
           other->value != HF_EVENT_NO_ROW && o->matches &&
           o->matches(o->user, lock->scan, other->key, other->value) ==
               HF_MATCH_YES;
}

static hf_violation_part part_of(const watch_held *h, hf_watch_part part,
                                 span at)
{
    return (hf_violation_part){.txn = h->txn,
                               .key = part == HF_PART_SNAPSHOT ? UINT32_MAX
                                                               : h->key,
                               .before = at.lo,
                               .after = at.hi,
                               .part = (uint8_t)part,
                               .is_unknown = (h->flags & ITEM_MAYBE) != 0};
}

static void add_held(hf_violation *v, const watch_held *h, bool snapshot)
{
    if (snapshot)
        hf_watch_part_add(v, part_of(h, HF_PART_SNAPSHOT, h->snapshot));
    hf_watch_part_add(
        v, part_of(h, h->wrote ? HF_PART_WRITE : HF_PART_LOCK_READ, h->at));
    hf_watch_part_add(
        v,
        part_of(h, h->is_committed ? HF_PART_COMMIT : HF_PART_ABORT, h->end));
}

static void complain(watch_shard *s, const watch_item *it,
                     const watch_held *mine, const watch_held *other,
                     hf_watch_rule rule)
{
    hf_violation *v = hf_watch_shard_violation(s, it, it->now);

    v->rule = rule;
    v->mechanism = rule == HF_RULE_LOCKS              ? HF_WATCH_ME
                   : s->w->profile.first_updater_wins ? HF_WATCH_FUW
                                                      : HF_WATCH_SC;
    v->other = other->txn;
    if (other->flags & ITEM_SUSPECT)
        v->clock_suspect = true;
    add_held(v, other, rule == HF_RULE_LOST_UPDATE);
    add_held(v, mine, rule == HF_RULE_LOST_UPDATE);
}

/* May `second` have come after `first` though its snapshot is older? */
static bool inserted_after(watch_shard *s, const watch_held *first,
                           const watch_held *second)
{
    uint8_t flags = second->flags;

    if (first->left_none) /* its version may not be there yet */
        flags |= ITEM_INSERTED;
    return first->end.lo <= second->end.hi &&
           hf_watch_may_insert(s, second->key, second->snapshot, flags);
}

static void accuse(watch_shard *s, const watch_item *it, const watch_held *mine,
                   const watch_held *other)
{
    uint64_t wait = 2 * s->w->error;

    if (!mine->may_insert && !other->may_insert)
        complain(s, it, mine, other, HF_RULE_LOST_UPDATE);
    else
        hf_vec_push(&s->doubts,
                    (watch_doubt){it->now < FOR_EVER - wait ? it->now + wait
                                                            : FOR_EVER - 1,
                                  *it, *mine, *other});
}

void hf_watch_doubts_tell(watch_shard *s, uint64_t now)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->doubts.n; i++) {
        watch_doubt d = s->doubts.at[i];

        if (d.until >= now) {
            s->doubts.at[kept++] = d;
            continue;
        }
        d.it.now = d.until + 1;
        complain(s, &d.it, &d.mine, &d.other, HF_RULE_LOST_UPDATE);
    }
    s->doubts.n = kept;
}

void hf_watch_doubts_drop(watch_shard *s, uint32_t row)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->doubts.n; i++)
        if (s->doubts.at[i].it.row != row)
            s->doubts.at[kept++] = s->doubts.at[i];
    s->doubts.n = kept;
}

static void compare(watch_shard *s, const watch_item *it,
                    const watch_held *mine, const watch_held *other)
{
    const hf_watch *w = s->w;

    if (w->locks && collide(mine, other) && other->end.lo > mine->at.hi &&
        mine->end.lo > other->at.hi && is_in_range(s, mine, other) &&
        is_in_range(s, other, mine)) {
        complain(s, it, mine, other, HF_RULE_LOCKS);
        return;
    }
    if (!w->fuw || !mine->wrote || !other->wrote || !mine->is_committed ||
        !other->is_committed || ((mine->flags | other->flags) & ITEM_MAYBE) ||
        mine->txn == other->txn)
        return;
    if (other->end.lo > mine->snapshot.hi &&
        mine->end.lo > other->snapshot.hi && !inserted_after(s, other, mine) &&
        !inserted_after(s, mine, other))
        accuse(s, it, mine, other);
}

static void grow(watch_shard *s)
{
    watch_ring *r = &s->lock_ring;
    uint32_t room = (r->mask + 1) * 2;
    watch_held *more = HF_NEW_ARRAY(watch_held, room);

    for (uint32_t i = r->begin; i != r->end; i++)
        more[i & (room - 1)] = s->locks[i & r->mask];
    hf_free(s->locks);
    s->locks = more;
    r->mask = room - 1;
}

static bool has_lock(const watch_shard *s, uint32_t at, uint32_t row)
{
    const watch_ring *r = &s->lock_ring;

    return ring_has(r, at) && s->locks[at & r->mask].row == row;
}

/* Compares with those of unknown end; a lock taken after theirs shows that
 * they have ended. */
static void compare_open(watch_shard *s, const watch_item *it, watch_key *row,
                         const watch_held *mine)
{
    size_t kept = 0;
    bool more = false;

    for (size_t i = 0; i < s->open.n; i++) {
        watch_held *o = &s->open.at[i];

        if (o->row == it->row) {
            compare(s, it, mine, o);
            if (!(mine->flags & ITEM_MAYBE) && (mine->flags & ITEM_EXCLUSIVE) &&
                mine->at.lo > o->at.hi)
                continue;
            more = true;
        }
        s->open.at[kept++] = *o;
    }
    s->open.n = kept;
    row->has_open = more;
}

static watch_held held_of(const watch_item *it)
{
    return (watch_held){.txn = it->txn,
                        .at = it->at,
                        .snapshot = it->snapshot,
                        .end = it->end,
                        .latest = it->end.hi,
                        .row = it->row,
                        .key = it->key,
                        .flags = it->flags,
                        .is_committed = it->is_committed,
                        .scan = it->scan,
                        .value = it->value,
                        .left_none = it->value == HF_EVENT_NO_ROW,
                        .may_insert = it->may_insert,
                        .is_changed = it->is_changed,
                        .wrote = it->kind == ITEM_INSTALL ||
                                 (it->flags & ITEM_WROTE)};
}

void hf_watch_shard_lock(watch_shard *s, const watch_item *it)
{
    watch_key *row = it->row == WHOLE_DATABASE ? &s->whole_database
                                               : page_key(s->pages, it->row);
    watch_ring *r = &s->lock_ring;
    watch_held mine = held_of(it);
    uint64_t begin =
        s->w->fuw && it->snapshot.lo < it->at.lo ? it->snapshot.lo : it->at.lo;
    uint32_t at = row->locks;

    for (; has_lock(s, at, it->row); at = s->locks[at & r->mask].next) {
        const watch_held *other = &s->locks[at & r->mask];

        if (other->latest < begin)
            break;
        compare(s, it, &mine, other);
    }
    if (row->has_open)
        compare_open(s, it, row, &mine);
    if (it->flags & ITEM_MAYBE) {
        hf_vec_push(&s->open, mine);
        row->has_open = 1;
        return;
    }
    hf_watch_shard_locks_trim(s);
    if (r->end - r->begin > r->mask)
        grow(s);
    if (!has_lock(s, row->locks, it->row))
        row->locks = r->begin - 1;
    else if (s->locks[row->locks & r->mask].latest > mine.latest)
        mine.latest = s->locks[row->locks & r->mask].latest;
    mine.next = row->locks;
    row->locks = r->end++;
    s->locks[row->locks & r->mask] = mine;
}

void hf_watch_shard_locks_trim(watch_shard *s)
{
    watch_ring *r = &s->lock_ring;

    while (r->begin != r->end &&
           s->locks[r->begin & r->mask].end.hi < s->horizon)
        r->begin++;
}
