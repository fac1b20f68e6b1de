/* events.h: a history as sessions of reads and writes, ready for choices.
 *
 * Transactions that take part are numbered from 1 in the order of the file; 0
 * is the initial state, which writes every key.  Kept are those that
 * committed, and those of unknown outcome that somebody read from.
 *
 * A session is a row of segments.  A segment ends with a read that has a
 * choice, or with its transaction; the prediction boundary lies between two
 * segments, so an event is included exactly if its segment is.  Reads without
 * a choice (nobody else writes the key) are no events, but they are places
 * where the strict boundary may lie; segments with nothing else in them are
 * dropped and leave that as a flag of the boundary.
 *
 * Keys with the same writers, written between the same reads, are one group:
 * what is true of one is true of all.  At levels where a transaction sees one
 * state, reads of one group in one transaction are one choice.
 */
#ifndef HF_PREDICT_EVENTS_H
#define HF_PREDICT_EVENTS_H

#include "base/vec.h"
#include "history/extra.h"
#include "predict/targets.h"

#define HF_CUT_STRICT (1u << 0)  /* a read may be the last event here */
#define HF_CUT_RELAXED (1u << 1) /* a transaction ends here */

typedef struct hf_event_segment {
    uint32_t txn;
    hf_op_id last;  /* the operation that ends it */
    hf_op_id read;  /* of HF_CUT_STRICT: the read that may be the last event */
    unsigned flags; /* HF_CUT_*: of the boundary after it */
} hf_event_segment;

typedef struct hf_event_session {
    hf_session_id session;
    uint32_t segment, n_segments; /* in segments */
    uint32_t first_txn, n_txns;   /* in session_txns */
    unsigned flags;               /* HF_CUT_*: of the boundary before all */
    hf_op_id read;                /* of HF_CUT_STRICT */
} hf_event_session;

/* The last write of a key in a transaction. */
typedef struct hf_event_write {
    uint32_t txn;
    uint32_t segment;
    uint32_t block;     /* reads of the transaction before it */
    bool updates;       /* the same operation read the key just before */
    hf_op_id op;        /* HF_NONE: part of a predicate operation */
    uint32_t locked_at; /* statement of its first write */
    hf_value_id value;  /* the version it installs; HF_NONE: not recorded */
} hf_event_write;

typedef struct hf_event_source {
    uint32_t txn;   /* 0: the initial version */
    bool matches;   /* rows: the version satisfies the condition */
    bool as_before; /* for the application the same as what was observed */
    bool absent;    /* item reads: there is no such row */
    bool alike;     /* the statement is known to return the same for it */
    uint32_t rival; /* who inserts the row that the reader would insert then; 0:
                       nobody, as far as is known */
} hf_event_source;

/* One read with a choice. */
typedef struct hf_event_read {
    uint32_t txn, segment;
    hf_op_id op;
    hf_key_id key;
    uint32_t group;
    uint32_t statement; /* number within the transaction */
    uint32_t place;     /* number of the operation's reads, ascending */
    bool locking;       /* takes the newest version, and keeps it so */
    bool is_row;        /* of a predicate operation */
    bool unseen;        /* by the application: a part of an UPDATE */
    bool followed;      /* its transaction writes something later */
    bool names;         /* its transaction inserts a row by its result */
    uint32_t source, n_sources; /* in sources; the initial version is first */
    uint32_t observed;          /* which of them it was */
} hf_event_read;

/* Every read as the history has it: which choice it shares, or its only
 * source. */
typedef struct hf_event_seen {
    hf_op_id op;
    uint32_t txn;
    hf_key_id key;
    uint32_t read;     /* HF_NONE: no choice */
    uint32_t observed; /* transaction */
    bool is_row, matches;
} hf_event_seen;

typedef struct hf_event_group {
    uint32_t write, n_writes; /* in writes, ascending by transaction */
} hf_event_group;

typedef struct hf_events {
    const hf_history *h;
    const hf_target_rules *rules;
    uint32_t n;           /* transactions, with 0 */
    hf_txn_id *txn_of;    /* [0]: HF_NONE */
    uint32_t *number;     /* per transaction of h; 0: does not take part */
    uint32_t *session_of; /* [0]: HF_NONE */
    uint32_t *before;     /* the one before in the session; 0: none */
    uint32_t *statements; /* how many it has */
    uint32_t *plain_at; /* statement of its first read without a lock; HF_NONE:
                           there is none */
    uint32_t *session_txns;
    HF_VEC(hf_event_session) sessions;
    HF_VEC(hf_event_segment) segments;
    HF_VEC(hf_event_write) writes; /* by key, then transaction */
    uint32_t *write_first;         /* per key; n_keys + 1 */
    HF_VEC(hf_event_group) groups;
    uint32_t *group_of; /* per key */
    HF_VEC(hf_event_source) sources;
    HF_VEC(hf_event_read) reads; /* by session, then operation */
    HF_VEC(hf_event_seen) seen;  /* by transaction, then operation */
    uint32_t n_reads, n_writes;  /* of the history */
    uint32_t ignored, unjudged;  /* as in hf_predict_stats */
} hf_events;

/* Fails if h cannot be an observed execution.  h must outlive it. */
HF_MUST_USE hf_status hf_events_init(hf_events *e, const hf_history *h,
                                     const hf_target_rules *rules,
                                     hf_error *err);
void hf_events_release(hf_events *e);

/* a comes before b in one session. */
static inline bool hf_events_so(const hf_events *e, uint32_t a, uint32_t b)
{
    return a == 0 ? b != 0 : a < b && e->session_of[a] == e->session_of[b];
}

/* ---- observe.c: the history as it is read -------------------------------- */

/* A read before it is known whether it has a choice. */
typedef struct hf_raw_read {
    hf_op_id op;
    uint32_t txn;
    hf_key_id key;
    uint32_t statement;
    uint32_t observed;  /* transaction */
    uint32_t condition; /* rows: number of the condition in rows.c */
    bool locking, is_row;
    bool modifies; /* by a statement that changes rows and returns none */
    bool matches;  /* rows: the observed version does */
} hf_raw_read;

typedef struct hf_observed {
    hf_events *e;
    HF_VEC(hf_raw_read) reads;  /* by transaction, then operation */
    uint32_t *by_value;         /* per value: first of writes, in next_same */
    uint32_t *next_same;        /* per write: the next with the same value */
    struct hf_event_rows *rows; /* NULL: no predicate operations */
} hf_observed;

/* Fills the transactions and writes of e, and the reads of o. */
HF_MUST_USE hf_status hf_observe(hf_observed *o, hf_error *err);
void hf_observe_release(hf_observed *o);

/* ---- labels.c: rows that say who wrote them --------------------------------
 */

typedef struct hf_event_labels hf_event_labels;
hf_event_labels *hf_event_labels_new(const hf_history *h); /* NULL: none */
void hf_event_labels_free(hf_event_labels *l);
/* Is the key a label, and no key? */
bool hf_event_labels_has(const hf_event_labels *l, hf_key_id key);
/* Whom the item read of transaction t is from, HF_NONE: the initial state;
 * false: no label says. */
bool hf_event_labels_source(const hf_event_labels *l, hf_txn_id t, hf_op_id op,
                            hf_txn_id *ret);

/* ---- alike.c: results ----------------------------------------------------
 */

/* Fills `alike` and `rival` of the sources and `names` of the reads. */
void hf_events_find_alike(hf_events *e);

/* ---- names.c: results that name rows --------------------------------------
 */

/* Does t insert a row later whose key has a value of the statement's result? */
bool hf_names_rows(const hf_history *h, hf_txn_id t, hf_op_id sql);
/* With the result of `other`, which asked the same, would the transaction of
 * `mine` insert a row that the other's inserts? */
bool hf_names_same(const hf_events *e, hf_op_id mine, hf_op_id other);

/* ---- rows.c: conditions ---------------------------------------------------
 */

typedef struct hf_event_rows hf_event_rows;
hf_event_rows *hf_event_rows_new(const hf_events *e);
void hf_event_rows_free(hf_event_rows *rows);
/* HF_NONE: not understood. */
uint32_t hf_event_rows_condition(hf_event_rows *rows, hf_string_id text);
/* Does the version that transaction `writer` (0: the initial one) installed of
 * `key` satisfy the condition?  False in *ret_known: cannot be said. */
bool hf_event_rows_match(hf_event_rows *rows, uint32_t condition, hf_key_id key,
                         uint32_t writer, bool *ret_known);
/* Of how many versions that were asked about it cannot be said. */
uint32_t hf_event_rows_unjudged(const hf_event_rows *rows);
/* The keys of a table, ascending. */
uint32_t hf_event_rows_keys(const hf_event_rows *rows, hf_string_id table,
                            const hf_key_id **ret);

/* The write of `key` by transaction number t; NULL: none. */
const hf_event_write *hf_events_write(const hf_events *e, hf_key_id key,
                                      uint32_t t);

#endif
