/* profile.h: which mechanisms a database uses for a level.
 *
 * Profiles are data: a row says what is checked, and where the database's
 * makers write that it works like this.  `watch` mirrors the mechanisms of
 * one row; it knows nothing else about a database.  A user may write rows of
 * his own in a file, in the same words.
 */
#ifndef HF_WATCH_PROFILE_H
#define HF_WATCH_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "holdfast.h"
#include "model/level.h"

/* Consistent read: what one snapshot serves. */
typedef enum hf_watch_read {
    HF_WATCH_READ_NONE,        /* reads are not judged against snapshots */
    HF_WATCH_READ_ROW,         /* each row read: the newest, committed */
    HF_WATCH_READ_STATEMENT,   /* each statement has one */
    HF_WATCH_READ_TRANSACTION, /* the transaction has one */
    HF_WATCH_READ_COUNT
} hf_watch_read;

/* When a transaction's snapshot is taken. */
typedef enum hf_watch_snapshot {
    HF_WATCH_AT_FIRST, /* during its first statement */
    HF_WATCH_BY_FIRST, /* from BEGIN on, by the end of its first statement */
    HF_WATCH_AT_BEGIN, /* during BEGIN */
    HF_WATCH_AT_READ,  /* during its first read without a lock */
    HF_WATCH_AT_ANY,   /* from its first statement on: it may be moved */
    HF_WATCH_SNAPSHOT_COUNT
} hf_watch_snapshot;

/* Mutual exclusion: what is locked to the end of the transaction. */
typedef enum hf_watch_lock {
    HF_WATCH_LOCK_NONE,
    HF_WATCH_LOCK_WRITES, /* rows written, and locking reads */
    HF_WATCH_LOCK_ROWS,   /* and rows read, shared */
    HF_WATCH_LOCK_RANGES, /* and what is not there, in the range of a scan */
    HF_WATCH_LOCK_COUNT
} hf_watch_lock;

typedef enum hf_watch_certifier {
    HF_WATCH_SC_NONE,
    HF_WATCH_SC_SSI,        /* no pivot whose out-neighbour commits first */
    HF_WATCH_SC_TO,         /* one instant for all of a transaction */
    HF_WATCH_SC_OCC,        /* nothing read was overwritten before commit */
    HF_WATCH_SC_OCC_ITEMS,  /* the same for rows read, not for conditions */
    HF_WATCH_SC_PERCOLATOR, /* nothing written was overwritten since start */
    HF_WATCH_SC_CYCLE,      /* no cycle of dependencies */
    HF_WATCH_SC_COUNT
} hf_watch_certifier;

typedef struct hf_profile {
    const char *database; /* "postgresql" */
    const char *level;    /* "serializable", as the database calls it */
    const char *promise;  /* a level of model/level.h it amounts to, or "" */
    hf_watch_read read;
    hf_watch_snapshot snapshot;
    bool locked_reads_newest; /* reads that lock see the newest row and not
                                 the snapshot's */
    hf_watch_lock lock;
    bool locks_at_commit; /* by writes; else when the row is written */
    bool one_writer;      /* locks and FUW are about the database, not a row */
    bool first_updater_wins;
    bool inserts_conflict; /* first updater wins: putting a row where another
                              has deleted one counts as updating it */
    hf_watch_certifier certifier;
    bool texts_by_bytes; /* texts are equal if their bytes are; else that is a
                            matter of collations, and nobody knows */
    uint64_t slack;      /* ns by which the database's own clocks may differ
                            from each other; added to every interval */
    bool is_default;     /* the level of a transaction that names none */
    bool is_verified;    /* checked against the makers' pages */
    const char *where;   /* documented there */
    const char *note;    /* or "" */
} hf_profile;

/* The built-in rows, database by database. */
size_t hf_profile_count(void);
const hf_profile *hf_profile_at(size_t i);

/* The row named "database" (its default level) or "database/level"; names are
 * compared as people type them, and have aliases ("postgres", "rr").
 * NULL: none; *ret_hint (may be NULL) is then what may have been meant, or
 * NULL. */
const hf_profile *hf_profile_find(hf_str name, const char **ret_hint);

/* The same with the level apart; an empty level is the default one. */
const hf_profile *hf_profile_find_level(hf_str database, hf_str level);

/* "database/level" into its two; the second may be empty. */
void hf_profile_split(hf_str name, hf_str *ret_database, hf_str *ret_level);
/* Is this the row?  An empty level is the default one. */
bool hf_profile_is_named(const hf_profile *p, hf_str database, hf_str level);

/* Does a transaction at this level of ours owe what is promised?  Real time
 * aside: that is the database's, whatever the level is called. */
bool hf_profile_covers(const hf_profile *p, hf_level level);

/* "ME CR-t FUW SC(SSI)" into buffer; returns where it begins. */
const char *hf_profile_mechanisms(const hf_profile *p, char *buffer,
                                  size_t size);

const char *hf_watch_read_name(hf_watch_read read);
const char *hf_watch_snapshot_name(hf_watch_snapshot snapshot);
const char *hf_watch_lock_name(hf_watch_lock lock);
const char *hf_watch_certifier_name(hf_watch_certifier certifier);

/* Rows of a user's own file.  Each is a block of lines
 *
 *     [mydb/serializable]
 *     read = transaction          none, row, statement, transaction
 *     snapshot = first            first, by-first, begin, read, any
 *     locked-reads = newest       snapshot, newest
 *     locks = ranges              none, writes, rows, ranges
 *     write-locks = commit        write, commit
 *     writers = one               many, one
 *     first-updater-wins = yes    no, yes
 *     inserts = conflict          free, conflict
 *     certifier = ssi             none, ssi, to, occ, occ-items, percolator,
 *                                 cycle
 *     texts = bytes               any, bytes
 *     slack = 500ms               ns, us, ms, s
 *     promise = serializable      a level
 *     default = yes
 *     where = https://...
 *     note = ...
 *
 * where only the first is needed: what is left out is `none`, `no`, `first`,
 * `snapshot`, `write`, `many`, `free`, `any`,
 * 0.  A line that begins with # is a
 * remark. */
typedef struct hf_profiles hf_profiles;

HF_MUST_USE hf_status hf_profiles_parse(hf_str text, hf_profiles **ret_rows,
                                        hf_error *err);
void hf_profiles_free(hf_profiles *rows); /* NULL is fine */
size_t hf_profiles_count(const hf_profiles *rows);
const hf_profile *hf_profiles_at(const hf_profiles *rows, size_t i);
/* As hf_profile_find(), among these rows only. */
const hf_profile *hf_profiles_find(const hf_profiles *rows, hf_str name);

#endif
