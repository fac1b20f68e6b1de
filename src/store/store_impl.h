/* store_impl.h: the inside of the store, for src/store only.
 *
 * Versions live in one array and are linked by index.  A key knows its newest
 * committed version, from which `prev` leads to older ones, and its pending
 * versions: one for each running transaction that wrote it, linked by `prev`
 * as well.
 *
 * Visibility is a number.  With one site it is the commit number: a version
 * is visible to a snapshot if its stamp is not greater.  With replicas each
 * replica counts what it applies, `applied` holds these counts for every
 * version and replica, and a snapshot is a replica and a count.  In both
 * cases the version read is the first visible one from the newest on.
 */
#ifndef HF_STORE_IMPL_H
#define HF_STORE_IMPL_H

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/store.h"

#define INVISIBLE UINT32_MAX        /* stamp of what is not committed */
#define SEE_NEWEST (UINT32_MAX - 1) /* snapshot that sees all commits */
#define SEE_UNCOMMITTED UINT32_MAX  /* and more: read uncommitted */

/* hf_store_version.flags */
#define VERSION_DEAD (1u << 0)       /* a delete */
#define VERSION_LIST (1u << 1)       /* an append */
#define VERSION_SUPERSEDED (1u << 2) /* overwritten by its own transaction */
#define VERSION_UNCHANGED (1u << 3)  /* wrote the value it found */
#define VERSION_INSERT (1u << 4)     /* the row must not exist */
#define VERSION_BACKDATED (1u << 5)  /* its writer committed on old reads */
#define VERSION_PENDING (1u << 6)    /* not committed; stamp: place in writes */

typedef enum delivery {
    DELIVER_ANY_ORDER,    /* atomic, nothing else */
    DELIVER_ORIGIN_ORDER, /* each origin's commits in order */
    DELIVER_CAUSAL        /* after all that the origin had applied */
} delivery;

/* What a level is made of, after the bug has spoiled it. */
typedef struct hf_policy {
    bool snapshot;       /* reads see the state at begin, else the newest */
    bool uncommitted;    /* reads see pending versions, writes lock */
    bool check_writes;   /* no written key changed since the snapshot */
    bool check_reads;    /* nor any read key, if anything was written */
    bool check_scans;    /* nor any condition's result */
    bool check_items;    /* rows read are still the newest */
    bool check_own_view; /* keys seen with own writes: nobody in between */
    bool replicated;
    delivery order;
} hf_policy;

typedef struct store_key {
    uint32_t newest;  /* committed version, HF_NONE: the initial one */
    uint32_t pending; /* newest uncommitted one */
    uint32_t stamp;   /* plain.h: of the newest value; 0: initial */
    uint32_t id;      /* plain.h: of the newest value */
} store_key;

typedef struct view {
    uint32_t site, snapshot;
} view;

typedef struct own_view {
    uint32_t key;
    uint32_t newest; /* committed version under the own one when looked at */
} own_view;

typedef struct store_txn {
    bool running;
    bool refused; /* the store said no: can only be rolled back */
    bool inserts; /* rows that must not exist */
    uint32_t number;
    uint32_t snapshot;      /* what commit checks against */
    uint32_t read_snapshot; /* what reads see */
    uint64_t filter;        /* plain.h: keys perhaps written */
    HF_VEC(hf_store_op) log;
    HF_VEC(hf_store_write_ref) writes;
    uint32_t replica;
    hf_map places; /* plain.h: where a key is in `writes`, if many */
    HF_VEC(hf_store_scanned) scans;
    HF_VEC(hf_store_row) rows;
    HF_VEC(own_view) views;
} store_txn;

/* plain.h: what a commit has overwritten. */
typedef struct undo_entry {
    uint32_t stamp, id;
    uint32_t older; /* the key's next older entry */
    uint32_t until; /* the commit that overwrote it */
} undo_entry;

/* index.h: where a committed version stands. */
typedef struct index_entry {
    uint32_t next, prev; /* in its bucket; prev HF_NONE: the first */
    uint32_t key;
    uint32_t until; /* the commit that overwrote it, INVISIBLE: none */
} index_entry;

typedef struct index_bucket {
    uint32_t first;   /* version, HF_NONE: empty */
    uint32_t changed; /* the last commit that put in or took out a row */
} index_bucket;

/* A commit on its way to the other replicas. */
typedef struct parcel {
    uint32_t origin, index; /* the index-th commit of replica `origin` */
    uint32_t depends[HF_STORE_REPLICAS]; /* what the origin had applied */
    unsigned waiting;                    /* replicas it has yet to reach */
    HF_VEC(hf_store_write_ref) writes;
} parcel;

#define INBOX_SIZE 12u
typedef struct replica {
    uint32_t applied;                  /* count of commits applied here */
    uint32_t known[HF_STORE_REPLICAS]; /* newest applied of each origin */
    uint32_t commits;                  /* made here */
    unsigned n_inbox;
    parcel *inbox[INBOX_SIZE]; /* in commit order */
} replica;

struct hf_store {
    hf_policy policy;
    hf_store_bug bug;
    unsigned bug_percent;
    bool keep_versions, whole_orders;
    bool forgets; /* versions nobody can see are recycled */
    bool plain;   /* no bug, one site, no locks: the short way will do */
    hf_rng rng;
    const hf_store_commander *commander; /* NULL: none */

    uint32_t clock;   /* commits so far */
    uint32_t n_begun; /* transactions so far */
    HF_VEC(store_key) keys;
    HF_VEC(uint32_t) initial; /* by key: id of the initial version */
    HF_VEC(hf_store_version) versions;
    uint32_t free_version; /* linked by prev */
    store_txn *txns;       /* one per session */
    uint32_t n_sessions;

    /* plain only: a ring, entries undo_begin .. undo_end-1 are in use */
    undo_entry *undo;
    uint32_t undo_mask, undo_begin, undo_end;

    /* index.h; n_buckets 0: there is no index */
    uint32_t n_buckets;
    index_bucket *buckets;
    HF_VEC(index_entry) entries; /* by version */
    uint32_t rows_changed;       /* the last commit that wrote any row */

    /* No running snapshot is older than this. */
    uint32_t horizon;
    uint32_t horizon_age; /* commits since it was computed */

    /* replicated only */
    uint32_t n_replicas;
    replica replicas[HF_STORE_REPLICAS];
    HF_VEC(uint32_t) applied; /* [version * n_replicas + replica] */
    HF_VEC(parcel *) spare_parcels;

    /* fractured-read: versions whose turn has not come, and where */
    HF_VEC(hf_store_write_ref) delayed;
    /* aborted-read: by key, a version that was rolled back */
    HF_VEC(uint32_t) ghosts;
    /* certifier-forgets: commits up to this one */
    uint32_t forgotten;
    /* certifier-ignores-readonly: commit number of the last reader */
    HF_VEC(uint32_t) last_reader;
};

/* policy.c */
hf_policy hf_store_policy(hf_level level, hf_store_bug bug);

/* replica.c */
void hf_store_replicas_init(hf_store *s, uint32_t wanted);
void hf_store_replicas_release(hf_store *s);
/* Applies at t's replica what must come before the writes of t. */
void hf_store_replica_prepare(hf_store *s, const store_txn *t);
/* Makes what t has installed visible at its replica and sends it on its way
 * to the others. */
void hf_store_replica_commit(hf_store *s, const store_txn *t);

/* read.c */
/* Where a statement looks: decided once for each statement. */
view hf_store_look(hf_store *s, const store_txn *t);
/* What the statement finds: a version or HF_NONE, the initial one. */
uint32_t hf_store_find(hf_store *s, const store_txn *t, view w, uint32_t key);

/* Does the bug strike now? */
static inline bool strikes(hf_store *s, hf_store_bug bug)
{
    return s->bug == bug && hf_rng_chance(&s->rng, s->bug_percent);
}

/* The count that decides whether a version is visible at a replica. */
static inline uint32_t stamp_at(const hf_store *s, uint32_t v, uint32_t site)
{
    if (s->n_replicas == 1)
        return s->versions.at[v].stamp;
    return s->applied.at[(size_t)v * s->n_replicas + site];
}

/* From v on, the first version a snapshot at a replica sees. */
static inline uint32_t first_visible(const hf_store *s, uint32_t v,
                                     uint32_t site, uint32_t snapshot)
{
    while (v != HF_NONE && stamp_at(s, v, site) > snapshot)
        v = s->versions.at[v].prev;
    return v;
}

static inline uint32_t oldest_snapshot(const hf_store *s)
{
    uint32_t oldest = s->clock;

    for (uint32_t i = 0; i < s->n_sessions; i++)
        if (s->txns[i].running && s->txns[i].snapshot < oldest)
            oldest = s->txns[i].snapshot;
    return oldest;
}

static inline void free_version(hf_store *s, uint32_t v)
{
    s->versions.at[v].prev = s->free_version;
    s->free_version = v;
}

/* Takes v out of its key's pending versions. */
static inline void unlink_pending(hf_store *s, uint32_t key, uint32_t v)
{
    hf_store_version *versions = s->versions.at;
    uint32_t *link = &s->keys.at[key].pending;

    while (*link != v) {
        HF_ASSERT(*link != HF_NONE);
        link = &versions[*link].prev;
    }
    *link = versions[v].prev;
}

/* The running transaction's own pending version of a key, or HF_NONE. */
static inline uint32_t own_version(const hf_store *s, const store_txn *t,
                                   uint32_t key)
{
    uint32_t v = s->keys.at[key].pending;

    if (t->writes.n == 0)
        return HF_NONE;
    while (v != HF_NONE && s->versions.at[v].writer != t->number)
        v = s->versions.at[v].prev;
    return v;
}

static inline bool is_row(const hf_store *s, uint32_t v)
{
    return v != HF_NONE && !(s->versions.at[v].flags & VERSION_DEAD);
}

static inline bool is_item_read(uint32_t kind)
{
    return kind == HF_OP_READ || kind == HF_OP_READ_LIST;
}

#endif
