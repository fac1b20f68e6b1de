/* store.h: an embedded, in-process, multi-version transactional store.
 *
 * The store keeps rows of 64-bit numbers (or lists of them) under dense keys
 * 0 .. n-1 and runs one transaction per session at a time, at any level of
 * model/level.h.  It is single-threaded and does nothing by itself: whoever
 * calls decides the interleaving, so a run repeats exactly.
 *
 *     hf_store *s = hf_store_new(&(hf_store_options){
 *         .level = HF_SNAPSHOT_ISOLATION, .sessions = 2, .keys = 10});
 *     hf_store_begin(s, 0);
 *     hf_store_read(s, 0, 3);
 *     hf_store_write(s, 0, 3, (hf_store_value){.number = 7, .id = 1});
 *     hf_store_end e = hf_store_commit(s, 0);
 *
 * Mechanisms.  A transaction's writes stay with it until commit, which
 * installs them together.  What is read, and what commit checks:
 *
 *   serializable         a snapshot; nothing read or written, no row or
 *                        condition, changed since (readers commit freely)
 *   snapshot isolation   a snapshot; nothing written changed since
 *   repeatable read      the newest; no row that was read changed since
 *   prefix               a snapshot; no check
 *   read committed       the newest; no check
 *   read uncommitted     the newest, uncommitted or not; rows being written
 *                        by another cannot be written
 *   parallel snapshot,   several replicas, each session at its own; commits
 *   causal, pram,        travel in causal order, or each replica's in its
 *   read atomic          own order, or in any order; only parallel snapshot
 *                        checks for conflicting writes
 *
 * Strict and strong-session forms come for free: snapshots are always fresh.
 * A store may be told to have one bug of bugs.h.
 *
 * The log of a transaction and the versions it names are the truth about what
 * happened: the certificate is made from them.
 */
#ifndef HF_STORE_H
#define HF_STORE_H

#include "base/rng.h"
#include "store/bugs.h"

typedef struct hf_store hf_store;

/* At most this many replicas. */
#define HF_STORE_REPLICAS 4

typedef struct hf_store_options {
    hf_level level;
    hf_store_bug bug;
    unsigned bug_percent; /* how often it strikes when it could */
    uint32_t sessions;    /* at least 1 */
    uint32_t keys;        /* may grow, see hf_store_add_keys() */
    uint32_t replicas;    /* of levels that have them; 0: three */
    uint64_t seed;        /* of the bug, the replicas */
    /* Old versions that nobody can read any more stay, for
     * hf_store_newest(); else they are forgotten. */
    bool keep_versions;
    /* Only hf_store_read() and hf_store_write() will be used, and nobody asks
     * for versions: what is read and written is kept by id alone, much faster
     * (and replicas may take the versions of a key with gaps). */
    bool only_rows;
    /* Above 0: scans of numbers below this, and of all, go by an index where
     * the store can keep one (index.h); rows that a scan does not return are
     * then not told.  0: every scan looks at every key. */
    uint32_t span;
} hf_store_options;

/* What a version holds.  `id` is the caller's name for it, handed back by
 * reads; the store compares and adds numbers only. */
typedef struct hf_store_value {
    int64_t number;
    uint32_t id;
} hf_store_value;

/* One entry of a transaction's log. */
typedef struct hf_store_op {
    uint32_t key;     /* HF_NONE for a scan */
    uint32_t version; /* read or made; HF_NONE: the initial one; scan: which */
    uint32_t id;      /* of that version */
    uint32_t kind;    /* hf_op_kind */
} hf_store_op;

/* A version a transaction leaves: its last write of a key. */
typedef struct hf_store_write_ref {
    uint32_t key, version;
} hf_store_write_ref;

/* All of a transaction; borrowed until its session's next operation or begin.
 * After commit `writes` are the versions installed, in the order the keys were
 * first written; after rollback there are none. */
typedef struct hf_store_record {
    const hf_store_op *ops;
    size_t n_ops;
    const hf_store_write_ref *writes;
    size_t n_writes;
    size_t n_scans;
} hf_store_record;

/* One row a scan looked at. */
typedef struct hf_store_row {
    uint32_t key, version, id;
    uint32_t writer; /* transaction number, HF_NONE: initial */
    int64_t number;
    bool present;  /* the version is a row, not its absence */
    bool in_set;   /* part of the version set */
    bool returned; /* part of the result */
} hf_store_row;

/* One scan: rows lo <= number <= hi. */
typedef struct hf_store_scanned {
    int64_t lo, hi;
    size_t first_row, n_rows; /* in the transaction's rows */
    uint32_t n_keys; /* keys there were: later ones are not among them */
    /* What the store says it looked at: commits up to this number, which
     * transactions from this number on cannot be. */
    uint32_t snapshot, begun;
} hf_store_scanned;

/* A version, for those who walk them. */
typedef struct hf_store_version {
    uint32_t stamp;  /* commit number; internal while not committed */
    uint32_t prev;   /* older version of the key, HF_NONE: initial */
    uint32_t base;   /* list: what was appended to; else own earlier write */
    uint32_t id;     /* the caller's */
    int64_t number;  /* or the element */
    uint32_t writer; /* transaction number */
    uint32_t flags;  /* internal */
} hf_store_version;

/* How a transaction ended. */
typedef struct hf_store_end {
    hf_outcome outcome; /* as told to the client */
    bool installed;     /* its writes are there */
    uint32_t snapshot;  /* commits up to this number were visible */
    uint32_t stamp;     /* its commit number; 0: wrote nothing */
} hf_store_end;

/* Commanded reads: somebody else says which version a read finds, and is told
 * of every write.  For executions that are run again under control: one
 * transaction at a time, on a store that keeps its versions and checks
 * nothing (read committed), so that what is legal is the commander's business.
 * A transaction's own writes are found without asking. */
typedef struct hf_store_commander {
    void *user;
    /* A committed version of the key (hf_store_newest() and its `prev`), or
     * HF_NONE: the initial one.  check: an INSERT asks whether the row is
     * there. */
    uint32_t (*choose)(void *user, uint32_t session, uint32_t key, bool check);
    void (*wrote)(void *user, uint32_t session, uint32_t key, hf_op_kind kind);
} hf_store_commander;

/* Never fails; hf_store_free() accepts NULL. */
hf_store *hf_store_new(const hf_store_options *o);
void hf_store_free(hf_store *s);

/* From now on (borrowed; NULL: no more).  Not for plain stores, bugs, lists
 * or scans. */
void hf_store_command(hf_store *s, const hf_store_commander *c);

/* Adds n absent rows and returns the key of the first. */
uint32_t hf_store_add_keys(hf_store *s, uint32_t n);
/* Makes `value` the initial version of a key nobody has written. */
void hf_store_load(hf_store *s, uint32_t key, hf_store_value value);

/* Does the store keep snapshots (else: reads see the newest)?  And are there
 * several replicas (then commit numbers order versions, not visibility)? */
bool hf_store_has_snapshots(const hf_store *s);
bool hf_store_is_replicated(const hf_store *s);

/* Starts a transaction of the session, whose last one must have ended;
 * returns its number: 0, 1, 2, … */
uint32_t hf_store_begin(hf_store *s, uint32_t session);

/* The rest is about the running transaction of the session.  A read returns
 * its log entry, valid until the next operation.  A write returns false if
 * the store refuses; then only hf_store_abort() may follow. */
const hf_store_op *hf_store_read(hf_store *s, uint32_t session, uint32_t key);
/* Has the store taken the short way?  See only_rows and plain.h. */
bool hf_store_is_plain(const hf_store *s);
/* The same as HF_OP_READ_LIST. */
hf_store_op *hf_store_read_list(hf_store *s, uint32_t session, uint32_t key);
bool hf_store_write(hf_store *s, uint32_t session, uint32_t key,
                    hf_store_value value);
bool hf_store_append(hf_store *s, uint32_t session, uint32_t key,
                     hf_store_value element);
/* An update that adds to the number read last (the log's last entry), in the
 * same statement: first what the sum is, then the write of it. */
int64_t hf_store_sum(hf_store *s, uint32_t session, int64_t amount);
bool hf_store_increment(hf_store *s, uint32_t session, uint32_t key,
                        hf_store_value sum);
/* Commit refuses if the row has come to exist meanwhile. */
bool hf_store_insert(hf_store *s, uint32_t session, uint32_t key,
                     hf_store_value value);
/* The same, but a row that has come to exist meanwhile is overwritten. */
bool hf_store_upsert(hf_store *s, uint32_t session, uint32_t key,
                     hf_store_value value);
bool hf_store_delete(hf_store *s, uint32_t session, uint32_t key);
/* `kind` is a predicate kind or aggregate.  For predicate updates and deletes
 * the caller writes the rows returned, which may move when it does. */
const hf_store_scanned *hf_store_scan(hf_store *s, uint32_t session,
                                      hf_op_kind kind, int64_t lo, int64_t hi);
/* What the transaction would find, without asking officially. */
bool hf_store_peek(hf_store *s, uint32_t session, uint32_t key,
                   int64_t *ret_number);

hf_store_end hf_store_commit(hf_store *s, uint32_t session);
hf_store_end hf_store_abort(hf_store *s, uint32_t session);

/* Background work: now and then one commit reaches one more replica.  To be
 * called at every step; does nothing without replicas. */
void hf_store_deliver(hf_store *s);

/* Commits so far. */
uint32_t hf_store_clock(const hf_store *s);
/* What the session's running or last transaction did. */
hf_store_record hf_store_log(const hf_store *s, uint32_t session);
const hf_store_scanned *hf_store_scan_at(const hf_store *s, uint32_t session,
                                         uint32_t index);
const hf_store_row *hf_store_rows(const hf_store *s, uint32_t session);

const hf_store_version *hf_store_version_at(const hf_store *s, uint32_t v);
/* Does the version leave no row? */
bool hf_store_is_deletion(const hf_store *s, uint32_t v);
/* Has the session's transaction written the key? */
bool hf_store_has_written(const hf_store *s, uint32_t session, uint32_t key);
/* The newest committed version of a key; follow `prev` for the version order,
 * newest first (all of it only with keep_versions). */
uint32_t hf_store_newest(const hf_store *s, uint32_t key);

#endif
