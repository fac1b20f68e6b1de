/* inside.h: the inside of the engine, for src/watch only.
 *
 * Three stages, each a pure function of what came before it:
 *
 *   intake (intake.c, ends.c, scans.c, totals.c)   by the caller, in the order
 *       of the events: keeps running transactions; a read becomes an item at
 *       once, writes and locks when their transaction ends, for only then it
 *       is known from when to when they stood.  An item carries all that is
 *       needed to judge it.
 *   shards (shard.c, versions.c, locks.c, totals.c)   by any thread: rows are
 *       dealt to a fixed number of shards; each handles its items in their
 *       order, and knows the versions of its keys and the locks of its rows,
 *       nothing else.
 *       Consistent read, mutual exclusion and first updater wins are judged
 *       here.  What may matter beyond one row leaves as a finding.
 *   join (join.c, order.c, certify.c)   by the caller: findings of all
 *       shards in the order of their times; certifiers, and instants that
 *       several rows speak about.
 *
 * Since a shard never sees another, and since findings are put in order
 * before they are joined, the number of threads changes nothing.
 *
 * Times.  All intervals in here are [lo, hi], closed, with the clock error
 * added; hi UINT64_MAX: for ever.  x is certainly before y if x.hi < y.lo.
 *
 * Garbage.  Three times go with each batch of items, all of them lower bounds
 * that only grow:
 *
 *   now      no item with an event before this will come
 *   horizon  no read still to be judged has a snapshot before this, and no
 *            transaction still to end began before this
 *   live     no transaction that is running, or that may have overlapped a
 *            running one, has a snapshot before this
 *
 * What each structure may forget by them is proved where it forgets.
 */
#ifndef HF_WATCH_INSIDE_H
#define HF_WATCH_INSIDE_H

#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "watch/order.h"
#include "watch/watch.h"

#define FOR_EVER UINT64_MAX
#define NO_ID UINT32_MAX

typedef struct span {
    uint64_t lo, hi;
} span;

static inline bool certainly_before(span a, span b)
{
    return a.hi < b.lo;
}

/* ---- items --------------------------------------------------------------- */

typedef enum item_kind {
    ITEM_READ,
    ITEM_INSTALL,
    ITEM_LOCK,
    ITEM_TOTAL /* a key of a total; `value` is which */
} item_kind;

#define ITEM_MAYBE (1u << 0)     /* its transaction may not have committed */
#define ITEM_EXCLUSIVE (1u << 1) /* the lock */
#define ITEM_LOCKS (1u << 2)     /* INSTALL: the first of its row: locks it */
#define ITEM_LOOSE (1u << 3)     /* READ: shares no snapshot with others */
#define ITEM_UNSEEN (1u << 4)    /* READ: a scan that did not return the key */
#define ITEM_CONDITION (1u << 5) /* READ: of a scan with a condition */
#define ITEM_SCANNED (1u << 6)   /* READ: of a scan */
#define ITEM_SUSPECT (1u << 7)   /* a clock of it has jumped */
/* LOCK: the bit of LOOSE, which is of reads: an aborted write */
#define ITEM_WROTE ITEM_LOOSE
/* INSTALL, LOCK: bits of reads: what it did first to the row */
#define ITEM_INSERTED ITEM_UNSEEN
#define ITEM_DELETED ITEM_CONDITION
#define ITEM_WEAKER ITEM_SCANNED /* nobody promised that it has a snapshot */

typedef struct watch_item {
    uint64_t now, seq; /* when, in the stream */
    uint64_t txn, value;
    span at;       /* READ: the call; else how the lock was acquired */
    span snapshot; /* the one that is read; or of the transaction */
    span end;      /* not READ: commit, or release of an aborted one */
    uint64_t serial;
    uint32_t key, row;
    uint32_t scan;
    uint32_t statement;
    uint8_t kind, flags;
    bool is_committed; /* not READ: or may be, see ITEM_MAYBE */
    bool may_insert;   /* INSTALL: by clocks that differ, a delete that it came
                          after may not have been heard of */
    bool is_changed;   /* not READ: as in own_write */
} watch_item;

/* ---- what a shard keeps -------------------------------------------------- */

#define VERSION_MAYBE 1u   /* its writer may not have committed */
#define VERSION_INITIAL 2u /* was there at the beginning */
#define VERSION_WILD 4u    /* its value is not known */
#define VERSION_SUSPECT 8u
/* others that commit no earlier than it may have come before it */
#define VERSION_TIED 16u
#define VERSION_BITS 5u
#define VERSION_FLAGS UINT64_C(31)

/* Of a key's versions: 4 << class are the room for them. */
#define MOST_VERSIONS UINT16_MAX
#define VERSION_CLASSES 15u

typedef struct watch_version {
    uint64_t value;
    span at;      /* its writer's commit */
    uint64_t ref; /* transaction << VERSION_BITS | flags */
    uint64_t serial;
} watch_version;

static inline uint64_t version_txn(const watch_version *v)
{
    return v->ref & VERSION_INITIAL ? HF_WATCH_NO_TXN : v->ref >> VERSION_BITS;
}

/* One cache line.  Versions stand in the order of at.lo. */
typedef struct watch_key {
    watch_version one;   /* if n == 1 */
    watch_version *many; /* if not */
    uint16_t n;
    uint8_t rank;     /* many has room for 4 << rank */
    uint8_t has_open; /* as a row: someone's end is not known (shard.open) */
    uint32_t readers; /* newest entry of shard.readers, see there */
    uint32_t locks;   /* as a row: newest entry of shard.locks */
    uint32_t row;     /* of this key; NO_ID: not met yet */
} watch_key;

/* A lock that was held, or a row that was written. */
typedef struct watch_held {
    uint64_t txn;
    span at, snapshot, end;
    uint64_t latest; /* greatest end.hi of this and all older ones */
    uint32_t next;   /* older, same row */
    uint32_t row, key;
    uint32_t scan;  /* as in own_lock */
    uint64_t value; /* written */
    uint8_t flags;  /* ITEM_* */
    bool is_committed, wrote;
    bool left_none; /* it deleted the row */
    bool may_insert, is_changed;
} watch_held;

/* Two who updated a row, unless a delete comes that one of them came after. */
typedef struct watch_doubt {
    uint64_t until; /* then all that could have are known */
    watch_item it;
    watch_held mine, other;
} watch_doubt;

/* A read whose version may still get a successor. */
typedef struct watch_reader {
    uint64_t txn, ref; /* the version's */
    span snapshot;
    uint64_t serial;
    uint32_t key, next, scan;
    uint32_t statement;
    uint8_t flags;
} watch_reader;

/* Entries are numbered as they come and the oldest go first; a number that
 * is gone ends a list.  Numbers wrap: compare with ring_has(). */
typedef struct watch_ring {
    uint32_t begin, end, mask;
} watch_ring;

static inline bool ring_has(const watch_ring *r, uint32_t at)
{
    return at - r->begin < r->end - r->begin;
}

typedef struct thick_key {
    uint64_t until; /* not to be looked at before */
    uint32_t key;
} thick_key;

/* ---- findings ------------------------------------------------------------ */

typedef enum finding_kind {
    FOUND_VIOLATION, /* violations.at[index] */
    FOUND_INSTANTS,  /* from's instant is before to's */
    FOUND_RW,        /* SC: from read what to overwrote */
    FOUND_EDGE,      /* SC: another dependency */
    FOUND_OWN,       /* SC: from wrote the key itself, perhaps first */
    FOUND_TOTAL,     /* CR: total_parts.at[index] */
    FOUND_END        /* SC: a transaction ended */
} finding_kind;

/* Else the number of a statement: those that are greater share no instant
 * with others.  Together with a transaction's serial it is 64 bits. */
#define INSTANT_BITS 24u
#define INSTANT_COMMIT ((1u << INSTANT_BITS) - 1)
#define INSTANT_SNAPSHOT ((1u << INSTANT_BITS) - 2)
#define MOST_STATEMENTS INSTANT_SNAPSHOT

typedef struct watch_instant {
    uint64_t txn, serial;
    span at;
    uint32_t what;
} watch_instant;

typedef struct watch_finding {
    uint64_t time, seq; /* the order in which they are joined */
    watch_instant from, to;
    uint32_t key;
    uint32_t index;
    uint8_t kind;
    uint8_t dependency; /* hf_watch_dependency */
    uint8_t flags;      /* END: END_* */
    bool is_forced;     /* ww: because of first updater wins */
} watch_finding;

#define END_COMMITTED 1u
#define END_WROTE 2u
#define END_SCANNED 4u

/* Versions that were forgotten last, to tell what a bad read saw. */
#define DROPPED 64u
typedef struct dropped_version {
    watch_version version;
    uint32_t key;
} dropped_version;

/* ---- totals -------------------------------------------------------------- */

/* What some rows add up to, whichever of their versions it is. */
typedef struct total_part {
    uint64_t total; /* its number */
    int64_t n, sum, least, greatest;
    uint32_t n_keys;
    bool is_open; /* nobody knows what some of them count */
} total_part;

/* One of several versions of a key that may have counted. */
typedef struct total_choice {
    uint64_t total;
    watch_version version;
    int64_t number;
    uint32_t key;
    bool counts;
} total_choice;

/* A sum, count, ... that was returned, until it is judged. */
typedef struct watch_total {
    uint64_t txn, serial, seq, value;
    span at, snapshot;
    int64_t number; /* returned */
    total_part own; /* of what the transaction had written itself */
    uint32_t scan, group;
    uint8_t what;  /* hf_watch_total_kind */
    uint8_t flags; /* ITEM_* */
    bool is_judged;
} watch_total;

typedef struct watch_shard {
    struct hf_watch *w;
    watch_key *const *pages;  /* as of this batch */
    HF_VEC(watch_item) next;  /* of the batch that intake fills */
    HF_VEC(watch_item) items; /* of the one that is judged */
    HF_VEC(watch_item) heap;  /* reads to be judged, least snapshot.hi first */
    HF_VEC(watch_finding) found;
    HF_VEC(hf_violation) violations;
    HF_VEC(total_part) total_parts;
    HF_VEC(total_choice) total_choices;

    watch_key whole_database; /* the row of that name, in its shard */
    watch_ring lock_ring, reader_ring, thick_ring;
    thick_key *thick; /* keys with several versions */
    watch_held *locks;
    watch_reader *readers;
    dropped_version dropped[DROPPED];
    uint64_t n_dropped;
    HF_VEC(watch_held) open; /* nobody knows when they end */
    HF_VEC(watch_doubt) doubts;

    watch_version *spare[VERSION_CLASSES]; /* linked by `value` */
    HF_VEC(void *) slabs;
    size_t bytes; /* of slabs */

    uint64_t now, horizon, live;
    hf_watch_stats stats; /* of this shard */
} watch_shard;

#define SHARDS 16u
#define WHOLE_DATABASE                                                         \
    (UINT32_MAX - 1) /* the row, where there is one writer                     \
                      */
#define PAGE_BITS 8u
#define PAGE_KEYS (1u << PAGE_BITS)

/* ---- intake -------------------------------------------------------------- */

typedef struct own_write {
    uint64_t value;
    span at; /* the first of its key: the lock */
    uint32_t key, row;
    bool locks;       /* the first of its row */
    bool is_doubtful; /* no answer came: nobody knows whether it is there */
    bool is_deleting; /* it counts in hf_watch.deleting */
    bool is_changed;  /* value is not what was written at `at` */
    uint8_t flags;    /* ITEM_INSERTED, ITEM_DELETED: how that one began */
} own_write;

typedef struct own_lock {
    span at;
    uint32_t row;
    uint32_t scan; /* NO_ID: of the row, else of what satisfies its condition */
    uint8_t flags;
} own_lock;

typedef struct own_read {
    uint64_t value;
    uint32_t key;
} own_read;

typedef struct watch_txn {
    uint64_t id, serial;
    uint32_t client;
    bool is_running, is_spoiled, has_scanned;
    bool has_snapshot; /* snapshot.lo is set */
    bool is_settled;   /* and snapshot.hi */
    bool is_suspect;
    bool has_deleted;
    bool has_written;  /* something, for certain */
    bool has_columns;  /* it wrote keys that are not rows of their own */
    bool is_weaker;    /* only its locks and what it wrote count */
    uint64_t first_lo; /* of BEGIN, or what came instead */
    uint64_t last_ok;  /* lo of the last statement that did not fail */
    uint64_t last_hi;  /* greatest hi so far */
    span snapshot;
    uint64_t filter[4]; /* keys perhaps written */
    /* if there are many writes: a table of their keys, by a hash; NO_ID: free
     */
    HF_VEC(uint32_t) places;
    bool is_placed; /* something is in it */
    HF_VEC(own_write) writes;
    HF_VEC(own_write)
    doubtful; /* earlier values, of keys whose next write had
                 no answer */
    HF_VEC(own_lock) locks;
    /* the statement whose rows are coming in */
    uint32_t scan; /* NO_ID: not a scan */
    uint32_t statement;
    bool has_statement;
    uint8_t scan_flags; /* of the SCAN event */
    span scan_at;
    uint64_t scan_value; /* of a total */
    int64_t scan_number;
    HF_VEC(own_read) rows;
} watch_txn;

typedef struct watch_client {
    uint32_t txn;  /* NO_ID: none is running */
    uint64_t last; /* id of the one that ended last */
    uint64_t last_before, last_after;
    uint64_t jump;  /* by which its clock was seen to go back */
    bool has_ended; /* `last` is one */
} watch_client;

/* Ended transactions that may still matter, as two generations of which only
 * the least and the greatest time is kept: the old one is forgotten when its
 * greatest has passed, and the young one takes its place. */
typedef struct generation {
    uint64_t least, greatest;
} generation;

typedef struct generations {
    generation old, young;
} generations;

static inline void generation_add(generations *g, uint64_t least,
                                  uint64_t greatest)
{
    if (least < g->young.least)
        g->young.least = least;
    if (greatest > g->young.greatest)
        g->young.greatest = greatest;
}

typedef struct placed {
    uint64_t place;
    uint32_t key;
} placed;

#define BLOCK_KEYS 256u
typedef struct place_block {
    uint32_t n;
    placed at[BLOCK_KEYS];
} place_block;

/* A scan that keys to come may belong to. */
typedef struct live_scan {
    uint64_t txn;
    span snapshot, at;
    uint64_t serial;
    uint32_t slot, scan;
    uint32_t statement;
    uint8_t flags; /* ITEM_* */
    bool is_exclusive;
} live_scan;

typedef struct watch_group {
    HF_VEC(placed) fresh; /* not in their blocks: nobody has asked yet */
    HF_VEC(place_block *) blocks;
    HF_VEC(live_scan) live;
} watch_group;

typedef struct scan_range {
    uint64_t first, last;
    uint32_t group;
    bool has_condition, is_defined;
    uint8_t total; /* hf_watch_total_kind */
} scan_range;

/* What a transaction that did not commit, or overwrote itself, had written:
 * to tell what a bad read saw. */
typedef struct past_write {
    uint64_t txn, value;
    span at, end;
    uint32_t key;
    bool is_aborted;
} past_write;
#define PAST_WRITES 1024u

/* Pages of keys that were taken from the system together. */
typedef struct key_slab {
    watch_key *keys;
    size_t n;
} key_slab;

struct watch_join;
struct watch_crew;

#define DELETING 1024u

struct hf_watch {
    hf_watch_options options;
    hf_profile profile; /* copied */
    uint64_t error;     /* clock error and slack */
    bool stopped, finished;
    /* what the profile asks for */
    bool locks, fuw, fuw_sharpens, tracks_reads, instants, all_edges;
    bool free_inserts; /* first updater wins is about rows that are there */
    bool direct_only;  /* the certifier asks who overwrote a read first */

    /* Keys stand in pages, found by a table; a table that became too small
     * is kept until the end, for the shards that may still look there. */
    watch_key **pages;
    uint32_t page_room;
    size_t n_pages;
    HF_VEC(void *) old_tables;
    uint64_t *whole; /* bits: keys known to be rows of their own */
    uint32_t whole_room;
    watch_key *slab;  /* where pages are taken from; all of them: */
    size_t slab_left; /* pages */
    HF_VEC(key_slab) slabs;
    watch_shard shards[SHARDS];

    uint64_t now, watermark; /* lo of the newest event; raw */
    uint64_t seq;
    uint64_t serial; /* of the next transaction */
    size_t in_batch;
    uint64_t horizon, live;
    uint64_t judged_horizon, judged_now; /* of the batch that is judged */
    bool has_batch;                      /* there is one */
    generations unripe; /* reads may not be judged: by their last time */
    generations recent; /* may have overlapped someone running */

    HF_VEC(watch_txn) txns; /* slots */
    HF_VEC(uint32_t) free_txns;
    uint32_t n_deleting; /* of those that run: with has_deleted */
    /* keys that they have deleted, by their last bits */
    uint32_t deleting[DELETING];
    HF_VEC(watch_client) clients;
    HF_VEC(watch_group) groups;
    HF_VEC(uint32_t) busy_groups; /* with live scans */
    HF_VEC(scan_range) scans;
    HF_VEC(watch_total) totals;  /* not judged, in their order */
    uint64_t first_total;        /* the number of totals.at[0] */
    HF_VEC(watch_finding) found; /* by intake, while the batch fills */
    HF_VEC(watch_finding) ready; /* of the batch before */
    HF_VEC(hf_violation) violations;
    HF_VEC(hf_violation) ready_violations;
    past_write *past;
    uint64_t n_past;

    struct watch_join *join;
    struct watch_crew *crew;
    hf_watch_stats stats;
};

static inline watch_key *page_key(watch_key *const *pages, uint32_t key)
{
    return &pages[key >> PAGE_BITS][key & (PAGE_KEYS - 1)];
}

static inline watch_key *key_at(const hf_watch *w, uint32_t key)
{
    return page_key(w->pages, key);
}

/* ---- shard.c ------------------------------------------------------------- */

void hf_watch_shard_init(watch_shard *s, hf_watch *w);
void hf_watch_shard_release(watch_shard *s);
/* Handles the items of the batch, then all reads that are ripe. */
void hf_watch_shard_run(watch_shard *s);
void hf_watch_key_init(watch_key *k, hf_watch_initial initial, uint64_t value);
watch_finding *hf_watch_shard_find(watch_shard *s, finding_kind kind,
                                   uint64_t time, uint64_t seq);
hf_violation *hf_watch_shard_violation(watch_shard *s, const watch_item *it,
                                       uint64_t time);

/* May this write have put a row where there was none, after its snapshot? */
bool hf_watch_may_insert(watch_shard *s, uint32_t key, span snapshot,
                         uint8_t flags);

static inline watch_version *versions_of(watch_key *k)
{
    return k->n == 1 ? &k->one : k->many;
}

/* ---- versions.c ---------------------------------------------------------- */

/* Drops what no read can ask for any more. */
void hf_watch_versions_collect(watch_shard *s, uint32_t key, watch_key *k);
/* A key that has MOST_VERSIONS gets v: the newest stands for it, too. */
void hf_watch_versions_blur(watch_key *k, const watch_version *v);
void hf_watch_versions_append(watch_shard *s, uint32_t key, watch_key *k,
                              const watch_version *v);
/* Looks at keys with several versions whose time has come. */
void hf_watch_versions_look(watch_shard *s);

/* ---- locks.c ------------------------------------------------------------- */

/* Compares the lock of an INSTALL or LOCK item with those of its row. */
void hf_watch_shard_lock(watch_shard *s, const watch_item *it);
/* Lost updates that nothing can excuse any more, by `now`, are told; a delete
 * of the row excuses. */
void hf_watch_doubts_tell(watch_shard *s, uint64_t now);
void hf_watch_doubts_drop(watch_shard *s, uint32_t row);
void hf_watch_shard_locks_trim(watch_shard *s);

/* ---- scans.c ------------------------------------------------------------- */

/* The statement of t whose rows came in is complete. */
void hf_watch_scan_close(hf_watch *w, uint32_t slot);
void hf_watch_scan_open(hf_watch *w, uint32_t slot, const hf_event *e, span at);
/* A READ that may be a row of it. */
void hf_watch_scan_row(hf_watch *w, uint32_t slot, const hf_event *e);
void hf_watch_scans_trim(hf_watch *w);
void hf_watch_scans_release(hf_watch *w);

/* ---- totals.c ------------------------------------------------------------ */

/* The statement of t was a total of a group. */
void hf_watch_total_open(hf_watch *w, const watch_txn *t, live_scan *s);
/* A key of it; `own` may be NULL. */
void hf_watch_total_key(hf_watch *w, uint32_t key, const own_write *own);
/* All keys were told. */
void hf_watch_total_close(hf_watch *w, const watch_txn *t);
/* A key of a group that was not there before. */
void hf_watch_total_place(hf_watch *w, uint32_t key, uint32_t group,
                          uint64_t place);
/* In a shard: what the key may count. */
void hf_watch_total_look(watch_shard *s, const watch_item *it);
/* In the join: the first part of a total, when all are there. */
void hf_watch_total_judge(hf_watch *w, const watch_finding *f, uint64_t total);
void hf_watch_totals_trim(hf_watch *w);

/* ---- intake.c and watch.c ------------------------------------------------ */

void hf_watch_take(hf_watch *w, const hf_event *e);
void hf_watch_take_late(hf_watch *w, const hf_event *e);
static inline watch_item hf_watch_item_of(const hf_watch *w, const watch_txn *t,
                                          uint32_t key, uint32_t row,
                                          item_kind kind)
{
    watch_item it;

    memset(&it, 0, sizeof(it));
    it.now = w->now;
    it.seq = w->seq;
    it.txn = t->id;
    it.serial = t->serial;
    it.snapshot = t->snapshot;
    it.key = key;
    it.row = row;
    it.scan = NO_ID;
    it.kind = (uint8_t)kind;
    it.flags = t->is_suspect ? ITEM_SUSPECT : 0;
    return it;
}

/* Such an item, where its shard will find it, to be completed at once. */
static inline watch_item *hf_watch_new_item(hf_watch *w, const watch_txn *t,
                                            uint32_t key, uint32_t row,
                                            item_kind kind)
{
    watch_shard *s = &w->shards[row % SHARDS];
    watch_item *it;

    __builtin_prefetch(key_at(w, key), 1, 2);
    hf_vec_reserve(&s->next, 1);
    it = &s->next.at[s->next.n++];
    *it = hf_watch_item_of(w, t, key, row, kind);
    return it;
}

static inline void hf_watch_push_item(hf_watch *w, const watch_item *it)
{
    watch_shard *s = &w->shards[it->row % SHARDS];

    __builtin_prefetch(key_at(w, it->key), 1, 2);
    hf_vec_push(&s->next, *it);
}

void hf_watch_forget_txn(hf_watch *w, uint32_t slot);

/* ---- ends.c -------------------------------------------------------------- */

/* A COMMIT or ABORT. */
void hf_watch_take_end(hf_watch *w, uint32_t slot, const hf_event *e, span at);
/* Tells the certifiers. */
void hf_watch_tell_end(hf_watch *w, const watch_txn *t, span commit,
                       bool is_committed);
/* The transaction ended, and nobody knows how, no earlier than lo. */
void hf_watch_end_maybe(hf_watch *w, uint32_t slot, uint64_t lo);

/* ---- intake.c, for scans.c ----------------------------------------------- */

/* The snapshot that a read at `at` of t is of. */
span hf_watch_read_snapshot(const hf_watch *w, const watch_txn *t, span at,
                            bool locks, uint8_t *ret_flags);
/* Remembers a read's lock; scan: see own_lock. */
void hf_watch_lock_read(hf_watch *w, watch_txn *t, own_lock lock);
const own_write *hf_watch_find_own(const watch_txn *t, uint32_t key);
/* What t itself has written there; NULL: nothing. */
static inline const own_write *hf_watch_own(const watch_txn *t, uint32_t key)
{
    return t->filter[key >> 6 & 3] >> (key & 63) & 1 ? hf_watch_find_own(t, key)
                                                     : NULL;
}

void hf_watch_new_page(hf_watch *w, uint32_t page);

/* The key has a place. */
static inline void hf_watch_page(hf_watch *w, uint32_t key)
{
    uint32_t at = key >> PAGE_BITS;

    if (at >= w->page_room || !w->pages[at])
        hf_watch_new_page(w, at);
}

void hf_watch_mark_whole(hf_watch *w, uint32_t key);
/* A violation found by intake; to be filled. */
hf_violation *hf_watch_intake_violation(hf_watch *w, const watch_txn *t);

/* ---- join.c -------------------------------------------------------------- */

struct watch_join *hf_watch_join_new(hf_watch *w);
void hf_watch_join_free(struct watch_join *j);
/* Everything that was found up to `now`, in order. */
void hf_watch_join_batch(hf_watch *w, uint64_t horizon);
/* Adds what it keeps. */
void hf_watch_join_stats(const struct watch_join *j, hf_watch_stats *ret);
void hf_watch_deliver(hf_watch *w, hf_violation *v);

/* ---- explain.c ----------------------------------------------------------- */

void hf_watch_part_add(hf_violation *v, hf_violation_part part);
void hf_watch_edge_add(hf_violation *v, uint64_t from, uint64_t to,
                       uint32_t key, hf_watch_dependency kind);
/* Says what a read that fits no candidate did see. */
void hf_watch_explain_read(hf_watch *w, hf_violation *v);
/* Writes that never become versions are remembered for that. */
void hf_watch_past_add(hf_watch *w, past_write p);

/* ---- crew.c -------------------------------------------------------------- */

/* Threads that work on shards while the caller goes on. */
struct watch_crew *hf_watch_crew_new(hf_watch *w, unsigned threads);
void hf_watch_crew_free(struct watch_crew *c);
void hf_watch_crew_start(struct watch_crew *c);
/* By any thread: true, if there was something to do. */
bool hf_watch_crew_help(struct watch_crew *c);
/* Helps, and returns when all shards are done. */
void hf_watch_crew_wait(struct watch_crew *c);

#endif
