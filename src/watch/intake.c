/* intake.c: events become items, transaction by transaction.
 *
 * Each client has at most one transaction that runs.  What it wrote is kept
 * with it: a read of its own write is judged at once, everything else goes to
 * the shards, reads at once, writes and locks when their transaction ends.
 *
 * Bad input is named, counted, and never a reason to accuse anybody: a
 * transaction with a bad event is spoiled, its reads are not judged and its
 * writes may or may not have been committed, at any time from then on.  A
 * clock that goes back by d makes all later intervals of its client longer by
 * d, since nobody can tell whether it is right now or was before.
 *
 * Cost: O(1) for an event, besides what it becomes.
 */
#include "watch/inside.h"

#include <string.h>

#define MOST_CLIENTS (1u << 22)
#define MANY_WRITES 64u

/* ---- running transactions ------------------------------------------------ */

static uint32_t new_txn(hf_watch *w, uint64_t id, uint32_t client, uint64_t lo)
{
    uint32_t slot;
    watch_txn *t;

    if (w->free_txns.n > 0) {
        slot = w->free_txns.at[--w->free_txns.n];
    } else {
        slot = (uint32_t)w->txns.n;
        hf_vec_push(&w->txns, (watch_txn){0});
    }
    t = &w->txns.at[slot];
    t->id = id;
    t->client = client;
    t->serial = w->serial++;
    t->is_running = true;
    t->is_weaker = t->has_deleted = false;
    t->has_written = t->has_columns = false;
    t->is_spoiled = t->has_scanned = t->has_snapshot = t->is_settled = false;
    t->is_suspect = w->clients.at[client].jump > 0;
    t->has_statement = false;
    t->scan = NO_ID;
    t->first_lo = t->last_ok = t->last_hi = lo;
    t->snapshot = (span){lo, FOR_EVER};
    memset(t->filter, 0, sizeof(t->filter));
    t->writes.n = t->doubtful.n = t->locks.n = t->rows.n = 0;
    if (t->is_placed && t->places.n > 0)
        memset(t->places.at, 0xff, t->places.n * sizeof(*t->places.at));
    t->is_placed = false;
    w->clients.at[client].txn = slot;
    w->stats.transactions++;
    return slot;
}

void hf_watch_forget_txn(hf_watch *w, uint32_t slot)
{
    watch_txn *t = &w->txns.at[slot];
    watch_client *c = &w->clients.at[t->client];

    t->is_running = false;
    if (t->has_deleted) {
        w->n_deleting--;
        for (size_t i = 0; i < t->writes.n; i++)
            w->deleting[t->writes.at[i].key % DELETING] -=
                t->writes.at[i].is_deleting;
    }
    c->txn = NO_ID;
    c->last = t->id;
    hf_vec_push(&w->free_txns, slot);
}

/* Where the table of places has the write of the key, or would. */
static size_t place_of(const watch_txn *t, uint32_t key)
{
    uint32_t hash = key * 0x9e3779b1u;
    size_t i = (hash ^ hash >> 15) & (t->places.n - 1);

    while (t->places.at[i] != NO_ID && t->writes.at[t->places.at[i]].key != key)
        i = (i + 1) & (t->places.n - 1);
    return i;
}

/* The writes from `from` on get a place. */
static void place_writes(watch_txn *t, size_t from)
{
    if (t->places.n < t->writes.n * 2) {
        size_t room = t->places.n ? t->places.n : MANY_WRITES * 2;

        while (room < t->writes.n * 2)
            room *= 2;
        t->places.n = 0;
        hf_vec_reserve(&t->places, room);
        memset(t->places.at, 0xff, room * sizeof(*t->places.at));
        t->places.n = room;
        from = 0;
    }
    for (; from < t->writes.n; from++)
        t->places.at[place_of(t, t->writes.at[from].key)] = (uint32_t)from;
    t->is_placed = true;
}

const own_write *hf_watch_find_own(const watch_txn *t, uint32_t key)
{
    if (t->writes.n > MANY_WRITES) {
        uint32_t at = t->places.at[place_of(t, key)];

        return at == NO_ID ? NULL : &t->writes.at[at];
    }
    for (size_t i = t->writes.n; i-- > 0;)
        if (t->writes.at[i].key == key)
            return &t->writes.at[i];
    return NULL;
}

/* The first write of a row, or NULL. */
static const own_write *own_row(const watch_txn *t, uint32_t row)
{
    for (size_t i = 0; i < t->writes.n; i++)
        if (t->writes.at[i].row == row)
            return &t->writes.at[i];
    return NULL;
}

hf_violation *hf_watch_intake_violation(hf_watch *w, const watch_txn *t)
{
    hf_violation *v;

    hf_vec_push(&w->found, (watch_finding){.kind = FOUND_VIOLATION,
                                           .time = w->now,
                                           .seq = w->seq,
                                           .index = (uint32_t)w->violations.n});
    hf_vec_reserve(&w->violations, 1);
    v = &w->violations.at[w->violations.n++];
    memset(v, 0, offsetof(hf_violation, parts));
    v->mechanism = HF_WATCH_CR;
    v->time = w->now;
    v->txn = t->id;
    v->other = HF_WATCH_NO_TXN;
    v->clock_suspect = t->is_suspect;
    return v;
}

/* ---- statements ---------------------------------------------------------- */

/* A statement takes the snapshot, if it is the one. */
static void take_snapshot(const hf_watch *w, watch_txn *t, const hf_event *e,
                          span at)
{
    bool locks = e->kind == HF_EVENT_WRITE ||
                 (e->flags & (HF_EVENT_FOR_UPDATE | HF_EVENT_FOR_SHARE));

    if (t->is_settled || w->profile.snapshot == HF_WATCH_AT_BEGIN ||
        (w->profile.snapshot == HF_WATCH_AT_READ && locks))
        return;
    /* from BEGIN on: a statement that left no event may have taken it */
    t->has_snapshot = true;
    /* without an answer, nobody knows whether that one has, or a later one */
    if (w->profile.snapshot == HF_WATCH_AT_ANY ||
        (e->flags & HF_EVENT_FAILED) || at.hi == FOR_EVER)
        return;
    t->snapshot.hi = at.hi;
    t->is_settled = true;
}

span hf_watch_read_snapshot(const hf_watch *w, const watch_txn *t, span at,
                            bool locks, uint8_t *ret_flags)
{
    if (w->profile.read != HF_WATCH_READ_TRANSACTION) {
        if (locks || w->profile.read == HF_WATCH_READ_ROW)
            *ret_flags |= ITEM_LOOSE;
        return at;
    }
    if (locks && w->profile.locked_reads_newest) {
        *ret_flags |= ITEM_LOOSE;
        return at;
    }
    if (t->is_settled)
        return t->snapshot;
    *ret_flags |= ITEM_LOOSE;
    return (span){t->snapshot.lo, at.hi};
}

void hf_watch_lock_read(hf_watch *w, watch_txn *t, own_lock lock)
{
    if (w->locks && !w->profile.one_writer)
        hf_vec_push(&t->locks, lock);
}

static void read_own(hf_watch *w, watch_txn *t, const own_write *own,
                     const hf_event *e, span at)
{
    hf_violation *v;

    if (own->is_doubtful) {
        w->stats.unjudged[HF_UNJUDGED_SPOILED]++;
        return;
    }
    w->stats.reads_judged++;
    if (own->value == e->value)
        return;
    v = hf_watch_intake_violation(w, t);
    v->rule = HF_RULE_OWN_WRITE;
    v->key = e->key;
    v->value = e->value;
    hf_watch_part_add(v, (hf_violation_part){.txn = t->id,
                                             .key = e->key,
                                             .value = own->value,
                                             .has_value = true,
                                             .before = own->at.lo,
                                             .after = own->at.hi,
                                             .part = HF_PART_WRITE});
    hf_watch_part_add(v, (hf_violation_part){.txn = t->id,
                                             .key = e->key,
                                             .value = e->value,
                                             .has_value = true,
                                             .before = at.lo,
                                             .after = at.hi,
                                             .part = HF_PART_READ});
}

static bool is_locking(const hf_event *e)
{
    return (e->flags & (HF_EVENT_FOR_UPDATE | HF_EVENT_FOR_SHARE)) != 0;
}

static void take_read(hf_watch *w, watch_txn *t, const hf_event *e, span at)
{
    const own_write *own = hf_watch_own(t, e->key);
    watch_item *it;

    if (own && w->profile.locks_at_commit)
        return; /* what is kept back until then may not be read either */
    if (own) {
        read_own(w, t, own, e, at);
        return;
    }
    /* what is not there is locked against inserts, where ranges are */
    if ((w->profile.lock == HF_WATCH_LOCK_RANGES && !t->is_weaker) ||
        (e->value != HF_EVENT_NO_ROW &&
         (is_locking(e) ||
          (w->profile.lock == HF_WATCH_LOCK_ROWS && !t->is_weaker))))
        hf_watch_lock_read(w, t,
                           (own_lock){at, e->row, NO_ID,
                                      (e->flags & HF_EVENT_FOR_UPDATE) &&
                                              e->value != HF_EVENT_NO_ROW
                                          ? ITEM_EXCLUSIVE
                                          : 0});
    if (w->profile.read == HF_WATCH_READ_NONE)
        return;
    if (t->is_weaker) {
        w->stats.unjudged[HF_UNJUDGED_LEVEL]++;
        return;
    }
    it = hf_watch_new_item(w, t, e->key, e->row, ITEM_READ);
    it->value = e->value;
    it->at = at;
    it->statement = e->statement;
    it->snapshot = hf_watch_read_snapshot(w, t, at, is_locking(e), &it->flags);
    if (e->statement >= MOST_STATEMENTS)
        it->flags |= ITEM_LOOSE;
    if ((e->key != e->row || t->has_columns) && !w->fuw && own_row(t, e->row) &&
        w->profile.read == HF_WATCH_READ_TRANSACTION) {
        /* its own version of the row has what others had written by then */
        it->snapshot.hi = at.hi;
        it->flags |= ITEM_LOOSE;
    }
    if (t->scan != NO_ID) {
        it->scan = t->scan;
        it->flags |= ITEM_SCANNED;
    }
}

/* Writes of a spoiled transaction may be seen by anybody from now on. */
static void install_spoiled(hf_watch *w, const watch_txn *t, const hf_event *e,
                            span at)
{
    watch_item it = hf_watch_item_of(w, t, e->key, e->row, ITEM_INSTALL);

    it.value = e->value;
    it.at = at;
    it.end = (span){t->first_lo < at.lo ? t->first_lo : at.lo, FOR_EVER};
    it.flags |= ITEM_MAYBE | ITEM_SUSPECT;
    it.is_committed = true;
    hf_watch_push_item(w, &it);
}

static void take_write(hf_watch *w, watch_txn *t, const hf_event *e, span at)
{
    own_write *own = (own_write *)hf_watch_own(t, e->key);
    uint64_t value = e->flags & HF_EVENT_DELETE ? HF_EVENT_NO_ROW : e->value;
    const own_write *first = NULL;
    uint8_t flags = (e->flags & HF_EVENT_INSERT ? ITEM_INSERTED : 0) |
                    (e->flags & HF_EVENT_DELETE ? ITEM_DELETED : 0);

    if (value == HF_EVENT_NO_ROW && !t->has_deleted) {
        t->has_deleted = true;
        w->n_deleting++;
    }
    t->has_written |= at.hi != FOR_EVER;
    if (own && value == HF_EVENT_NO_ROW && !own->is_deleting) {
        own->is_deleting = true;
        w->deleting[e->key % DELETING]++;
    }
    if (own && (own->is_doubtful || at.hi == FOR_EVER)) {
        /* what it had written may be what is there in the end */
        hf_vec_push(&t->doubtful, *own);
        own->is_doubtful = own->is_changed = true;
        own->value = value;
        return;
    }
    if (own) {
        own->is_changed |= own->value != value;
        if (own->value != value)
            hf_watch_past_add(w, (past_write){.txn = t->id,
                                              .value = own->value,
                                              .key = own->key,
                                              .at = own->at});
        own->value = value;
        return;
    }
    t->filter[e->key >> 6 & 3] |= (uint64_t)1 << (e->key & 63);
    if (e->key != e->row || t->has_columns)
        first = own_row(t, e->row);
    t->has_columns |= e->key != e->row;
    w->deleting[e->key % DELETING] += value == HF_EVENT_NO_ROW;
    hf_vec_push(&t->writes, (own_write){.value = value,
                                        .at = at,
                                        .key = e->key,
                                        .row = e->row,
                                        .locks = !first,
                                        .is_doubtful = at.hi == FOR_EVER,
                                        .is_deleting = value == HF_EVENT_NO_ROW,
                                        .flags = first ? first->flags : flags});
    if (t->writes.n > MANY_WRITES)
        place_writes(t, t->is_placed ? t->writes.n - 1 : 0);
}

/* ---- events -------------------------------------------------------------- */

static void complain(hf_watch *w, hf_watch_complaint c, const hf_event *e)
{
    w->stats.complaints[c]++;
    if (w->options.complaint)
        w->options.complaint(w->options.user, c, e);
}

static void spoil(hf_watch *w, uint32_t slot)
{
    watch_txn *t = &w->txns.at[slot];

    if (t->is_spoiled)
        return;
    t->is_spoiled = t->is_suspect = true;
    generation_add(&w->unripe, t->first_lo, t->last_hi); /* its reads so far */
    for (size_t i = 0; i < t->doubtful.n; i++)
        install_spoiled(w, t,
                        &(hf_event){.key = t->doubtful.at[i].key,
                                    .row = t->doubtful.at[i].row,
                                    .value = t->doubtful.at[i].value},
                        t->doubtful.at[i].at);
    for (size_t i = 0; i < t->writes.n; i++) {
        const own_write *o = &t->writes.at[i];

        install_spoiled(
            w, t, &(hf_event){.key = o->key, .row = o->row, .value = o->value},
            o->at);
    }
    t->scan = NO_ID;
    t->rows.n = 0;
}

static bool is_operation(const hf_event *e)
{
    return e->kind == HF_EVENT_READ || e->kind == HF_EVENT_WRITE;
}

/* A key that is a row of its own: events are let in without a look at it. */
void hf_watch_mark_whole(hf_watch *w, uint32_t key)
{
    uint32_t at = key >> 6;

    if (at >= w->whole_room) {
        uint32_t room = w->whole_room ? w->whole_room : 64;

        while (room <= at)
            room *= 2;
        w->whole = hf_realloc(w->whole, room * sizeof(*w->whole));
        memset(w->whole + w->whole_room, 0,
               (room - w->whole_room) * sizeof(*w->whole));
        w->whole_room = room;
    }
    w->whole[at] |= (uint64_t)1 << (key & 63);
}

/* A key is of one row; remembers which. */
static bool is_key(hf_watch *w, const hf_event *e)
{
    watch_key *k;

    if (e->key >= WHOLE_DATABASE || e->row >= WHOLE_DATABASE)
        return false;
    hf_watch_page(w, e->key);
    hf_watch_page(w, e->row);
    k = key_at(w, e->key);
    if (k->row == NO_ID) {
        k->row = e->row;
        w->stats.keys++;
    }
    if (k->row != e->row)
        return false;
    if (e->key == e->row)
        hf_watch_mark_whole(w, e->key);
    return true;
}

/* The usual case, without a look at the key itself. */
static inline bool is_whole(const hf_watch *w, const hf_event *e)
{
    return e->key == e->row && e->key >> 6 < w->whole_room &&
           (w->whole[e->key >> 6] >> (e->key & 63) & 1);
}

static bool is_event(hf_watch *w, const hf_event *e)
{
    if (e->kind >= HF_EVENT_KIND_COUNT || e->client >= MOST_CLIENTS ||
        e->txn >> (64 - VERSION_BITS) != 0)
        return false;
    return !is_operation(e) || is_whole(w, e) || is_key(w, e);
}

static void set_jump(hf_watch *w, uint32_t client, uint64_t jump)
{
    if (jump > w->clients.at[client].jump)
        w->clients.at[client].jump = jump;
    if (jump > w->stats.clock_jump)
        w->stats.clock_jump = jump;
}

/* The interval of e, and what is wrong with it. */
static span take_time(hf_watch *w, const hf_event *e, bool *ret_bad)
{
    watch_client *c = &w->clients.at[e->client];
    uint64_t before = e->before, after = e->after;
    uint64_t late;
    /* calls of which nobody knows more than between which others they were;
     * the last of a transaction that aborted may have had no answer */
    bool same = before == c->last_before &&
                (after == c->last_after || after == UINT64_MAX);

    if (after < before) {
        complain(w, HF_COMPLAINT_NEGATIVE, e);
        *ret_bad = true;
        set_jump(w, e->client, before - after);
        after = before;
    }
    if (before < c->last_after && c->last_after != UINT64_MAX && !same) {
        complain(w, HF_COMPLAINT_OUT_OF_ORDER, e);
        *ret_bad = true;
        set_jump(w, e->client, c->last_after - before);
    }
    if (before < w->watermark) {
        complain(w, HF_COMPLAINT_LATE, e);
        *ret_bad = true;
    } else {
        w->watermark = before;
        w->now = before > w->error ? before - w->error : 0;
    }
    c->last_before = before;
    c->last_after = after;
    late = w->error + c->jump;
    return (span){before > w->error ? before - w->error : 0,
                  after > UINT64_MAX - 1 - late ? FOR_EVER : after + late};
}

/* The slot of e's transaction; begins it, if it has to be. */
static uint32_t find_txn(hf_watch *w, const hf_event *e, span at, bool bad)
{
    watch_client *c = &w->clients.at[e->client];
    uint32_t slot = c->txn;

    if (slot != NO_ID && w->txns.at[slot].id == e->txn) {
        if (e->kind == HF_EVENT_BEGIN) {
            complain(w, HF_COMPLAINT_NOT_ENDED, e);
            spoil(w, slot);
        }
        if (bad)
            spoil(w, slot);
        return slot;
    }
    if (slot != NO_ID) {
        complain(w, HF_COMPLAINT_NOT_ENDED, e);
        spoil(w, slot);
        hf_watch_end_maybe(w, slot, w->txns.at[slot].last_ok);
    }
    slot = new_txn(w, e->txn, e->client, at.lo);
    if (e->kind != HF_EVENT_BEGIN) {
        complain(w,
                 e->txn == c->last && c->has_ended ? HF_COMPLAINT_ENDED
                                                   : HF_COMPLAINT_NO_BEGIN,
                 e);
        spoil(w, slot);
    }
    if (bad)
        spoil(w, slot);
    return slot;
}

static void take_operation(hf_watch *w, uint32_t slot, const hf_event *e,
                           span at)
{
    watch_txn *t = &w->txns.at[slot];

    if (t->scan != NO_ID && t->has_statement && t->statement != e->statement) {
        hf_watch_scan_close(w, slot);
        t = &w->txns.at[slot];
    }
    if (!t->has_statement) {
        w->stats.working++;
        w->stats.weaker += t->is_weaker;
    }
    t->statement = e->statement;
    t->has_statement = true;
    take_snapshot(w, t, e, at);
    if (e->flags & HF_EVENT_FAILED)
        return;
    if (at.hi != FOR_EVER) /* else it may have ended before that call */
        t->last_ok = at.lo;
    if (t->is_spoiled) {
        if (e->kind == HF_EVENT_WRITE)
            install_spoiled(w, t, e, at);
        else
            w->stats.unjudged[HF_UNJUDGED_SPOILED]++;
        return;
    }
    if (e->kind == HF_EVENT_WRITE) {
        take_write(w, t, e, at);
    } else if (e->kind == HF_EVENT_SCAN) {
        if (!t->is_weaker)
            hf_watch_scan_open(w, slot, e, at);
    } else if (at.hi != FOR_EVER) {
        if (t->scan != NO_ID)
            hf_watch_scan_row(w, slot, e);
        take_read(w, t, e, at);
    }
}

/* The usual case, without most of the questions: the next read or write, with
 * an answer, of a transaction that runs, has its snapshot and no open scan, at
 * a row that is known.  False: it is not that. */
static bool take_quickly(hf_watch *w, const hf_event *e)
{
    uint64_t before = e->before, after = e->after;
    watch_client *c;
    watch_txn *t;
    span at;

    if (!is_operation(e) || (e->flags & (HF_EVENT_FAILED | HF_EVENT_FIRST)) ||
        e->client >= w->clients.n || !is_whole(w, e))
        return false;
    c = &w->clients.at[e->client];
    if (c->txn == NO_ID || c->jump > 0 || before < w->watermark ||
        after < before || after > UINT64_MAX - 1 - w->error ||
        (before < c->last_after &&
         (before != c->last_before || after != c->last_after)))
        return false;
    t = &w->txns.at[c->txn];
    if (t->id != e->txn || t->scan != NO_ID || !t->is_settled ||
        !t->has_statement || t->is_spoiled)
        return false;
    w->watermark = c->last_before = before;
    c->last_after = after;
    w->now = at.lo = before > w->error ? before - w->error : 0;
    at.hi = after + w->error;
    if (at.hi > t->last_hi)
        t->last_hi = at.hi;
    t->statement = e->statement;
    t->last_ok = at.lo;
    if (e->kind == HF_EVENT_WRITE)
        take_write(w, t, e, at);
    else
        take_read(w, t, e, at);
    return true;
}

void hf_watch_take(hf_watch *w, const hf_event *e)
{
    bool bad = false;
    uint32_t slot;
    span at;

    w->stats.events++;
    w->seq++;
    if (take_quickly(w, e))
        return;
    if (!is_event(w, e)) {
        complain(w, HF_COMPLAINT_BAD_EVENT, e);
        return;
    }
    while (w->clients.n <= e->client)
        hf_vec_push(&w->clients, (watch_client){.txn = NO_ID});
    if ((e->flags & HF_EVENT_FIRST) && w->clients.at[e->client].txn == NO_ID)
        w->clients.at[e->client] = (watch_client){.txn = NO_ID};
    at = take_time(w, e, &bad);
    slot = find_txn(w, e, at, bad);
    if (at.hi != FOR_EVER && at.hi > w->txns.at[slot].last_hi)
        w->txns.at[slot].last_hi = at.hi;
    switch ((hf_event_kind)e->kind) {
    case HF_EVENT_BEGIN:
        w->txns.at[slot].is_weaker = (e->flags & HF_EVENT_WEAKER) != 0;
        if (w->profile.snapshot == HF_WATCH_AT_BEGIN) {
            watch_txn *t = &w->txns.at[slot];

            t->snapshot = at;
            t->has_snapshot = t->is_settled = true;
        }
        break;
    case HF_EVENT_READ:
    case HF_EVENT_WRITE:
    case HF_EVENT_SCAN:
        take_operation(w, slot, e, at);
        break;
    case HF_EVENT_COMMIT:
    case HF_EVENT_ABORT:
        hf_watch_take_end(w, slot, e, at);
        w->clients.at[e->client].has_ended = true;
        break;
    case HF_EVENT_KIND_COUNT:
        break;
    }
}

/* What a transaction wrote that nobody else here knows of. */
static void write_late(hf_watch *w, const hf_event *e)
{
    watch_txn t = {.id = e->txn,
                   .client = e->client,
                   .serial = w->serial++,
                   .snapshot = {0, FOR_EVER},
                   .is_suspect = true,
                   .is_spoiled = true};
    hf_event as = *e;

    if (e->flags & HF_EVENT_DELETE)
        as.value = HF_EVENT_NO_ROW;
    install_spoiled(w, &t, &as, (span){0, FOR_EVER});
    if (w->tracks_reads)
        hf_watch_tell_end(w, &t, (span){0, FOR_EVER}, false);
}

void hf_watch_take_late(hf_watch *w, const hf_event *e)
{
    uint32_t slot;

    w->stats.events++;
    w->seq++;
    if (!is_event(w, e)) {
        complain(w, HF_COMPLAINT_BAD_EVENT, e);
        return;
    }
    complain(w, HF_COMPLAINT_LATE, e);
    while (w->clients.n <= e->client)
        hf_vec_push(&w->clients, (watch_client){.txn = NO_ID});
    if (e->kind != HF_EVENT_SCAN && e->extra > 0)
        set_jump(w, e->client, (uint64_t)e->extra * 1000);
    slot = w->clients.at[e->client].txn;
    if (slot != NO_ID && w->txns.at[slot].id != e->txn)
        slot = NO_ID;
    if (slot != NO_ID)
        spoil(w, slot);
    if (e->kind == HF_EVENT_WRITE && !(e->flags & HF_EVENT_FAILED))
        write_late(w, e);
    else if (e->kind == HF_EVENT_READ)
        w->stats.unjudged[HF_UNJUDGED_SPOILED]++;
    else if (slot != NO_ID &&
             (e->kind == HF_EVENT_COMMIT || e->kind == HF_EVENT_ABORT))
        hf_watch_end_maybe(w, slot, w->txns.at[slot].last_ok);
}
