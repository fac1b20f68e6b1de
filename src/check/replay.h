/* replay.h: the parts of the replay engine, inside check/ only.
 *
 * The engine executes the transactions in one expected order and compares
 * every result with the state at its place.
 *
 *   replay_order.c    the expected order, and what is wrong with it
 *   replay_serial.c   items at serializable: one pass, one cell for each key
 *   replay_columns.c  the columns of rows, decoded once, as dense ranks
 *   replay_rows.c     the rows that are there now, with ordered indexes
 *   replay_tables.c   the tables and conditions of a history
 *   replay_oracle.c   conditions that only a database knows
 *   replay_query.c    predicate operations and aggregates at their place
 *   replay_looks.c    recorded version sets against the state
 *   replay_snapshots.c recorded snapshots against the state
 *   replay_versions.c all versions in the order
 *   replay_times.c    the rows of a condition over time
 *   replay_reach.c    the transactions that a snapshot holds
 *   replay_moves.c    what enters and leaves conditions between two states
 *   replay_states.c   which states explain an operation (weaker levels)
 *   replay_weak.c     read committed, read atomic, snapshot isolation
 *   replay_sources.c  the writers of values that several wrote
 *   replay_engine.c   who is asked what; findings
 *
 * States are numbered: state q is what the first q transactions of the order
 * left behind.  A transaction at place i runs on state i.
 */
#ifndef HF_REPLAY_H
#define HF_REPLAY_H

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "check/check.h"
#include "check/row_index.h"
#include "history/extra.h"
#include "history/snapshot.h"
#include "model/level.h"
#include "sql/sql.h"

/* ---- the expected order -------------------------------------------------- */

typedef struct hf_expected {
    unsigned by; /* one of HF_REST_EXPECTED */
    uint32_t n;
    hf_txn_id *at;     /* first to last */
    uint32_t *place;   /* per transaction; HF_NONE: it did not happen */
    hf_txn_id tied[2]; /* two with equal times; HF_NONE: there are none */
    hf_txn_id open;    /* of unknown outcome, the order does not tell */
} hf_expected;

/* *ret_why (in the arena) is set if there is no such order, or equal times
 * leave open what matters; else it is NULL.  Fails if the order contradicts
 * the history. */
HF_MUST_USE hf_status hf_expected_make(const hf_history *h, unsigned by,
                                       hf_arena *arena, hf_expected *ret,
                                       char **ret_why, hf_error *err);
void hf_expected_release(hf_expected *e);
/* "serial order", "order of commit times" */
const char *hf_expected_name(unsigned by);
/* Two transactions against session order, or real time; false: none. */
bool hf_expected_breaks(const hf_history *h, const hf_expected *e,
                        const hf_level_info *level, hf_txn_id *ret_first,
                        hf_txn_id *ret_second);

/* ---- columns ------------------------------------------------------------- */

/* A column of all the values that the keys of a table ever have.  Equal
 * values have one rank; ranks ascend by hf_sql_order(). */
typedef struct hf_ranked {
    hf_str name;
    uint32_t n_ranks;
    hf_sql_value *at; /* per rank */
    uint32_t *rank;   /* per value of the table; n_ranks: no such column */
    bool has_index;
    hf_row_index index; /* of the rows that are there now */
    unsigned scale;     /* of sums: digits after the point */
    bool summable;      /* no number but integers and decimals */
} hf_ranked;

/* ---- tables -------------------------------------------------------------- */

typedef struct hf_rows_table {
    hf_string_id name; /* HF_NONE: keys without a table */
    uint32_t n_keys;
    hf_key_id *keys;
    uint32_t n_values;
    hf_value_id *values; /* no nil, no lists */
    uint32_t n_live;
    hf_value_id *now; /* per key of the table; HF_NONE: no row */
    HF_VEC(hf_ranked) columns;
    HF_VEC(uint32_t) changes; /* keys of the table, as they changed */
    bool odd;                 /* it has lists, or blind increments */
} hf_rows_table;

typedef struct hf_rank_range {
    uint32_t first, end;
} hf_rank_range;

/* What the rows of a condition add up to. */
typedef struct hf_rows_total {
    uint32_t column;
    uint32_t n;       /* values that are not null */
    uint32_t missing; /* rows without the column */
    uint32_t odd;     /* values that are no numbers */
    hf_int128 sum;    /* times 10^scale */
} hf_rows_total;

/* One condition on one table. */
typedef struct hf_rows_condition {
    hf_string_id text; /* HF_NONE: true */
    uint32_t table;
    const hf_sql_expr *expr; /* NULL: see why */
    char *why;
    uint8_t *asked; /* per value of the table: what a database said */
    bool refused;   /* it could not say, or is being asked */
    uint32_t n_columns;
    uint32_t *columns; /* of the expression: places in the table */
    uint32_t bound;    /* the column used, a place in the table, or HF_NONE */
    bool exact;        /* rows in the first n_sure ranges satisfy it */
    uint32_t n_ranges, n_sure;
    hf_rank_range *ranges;
    hf_rank_range spoken; /* ranks that the bound speaks of */
    /* the rows that satisfy it now, kept up by the changes */
    bool kept;
    uint8_t *member;      /* per key of the table: 1: in; 2: cannot be said */
    hf_value_id *members; /* per key: the value that was judged */
    uint32_t n_members, n_unsaid;
    size_t seen; /* changes so far */
    uint32_t last_cost;
    uint64_t moves_tested; /* so far, by replay_moves.c */
    HF_VEC(hf_rows_total) totals;
} hf_rows_condition;

typedef struct hf_replay_rows {
    const hf_history *h;
    hf_sql_cache *cache;
    bool own_cache;
    const struct hf_sql_oracle_kind *oracle_kind; /* or NULL */
    struct hf_sql_oracle *oracle;
    hf_budget *budget;
    hf_arena arena;
    HF_VEC(hf_rows_table) tables;
    uint32_t *table_of;  /* per key: index into tables, or HF_NONE */
    uint32_t *key_local; /* per key: its place in the table */
    uint32_t *local;     /* per value: its place in the table's values */
    HF_VEC(hf_rows_condition) conditions;
    hf_map by_text;      /* table and text -> condition */
    size_t kept_bytes;   /* of members */
    hf_op_id *row_stamp; /* per key: the operation whose rows have it */
    hf_value_id *row_value;
    uint32_t *row_at;      /* which of them */
    hf_sql_value *scratch; /* the columns of one row */
    uint32_t n_scratch;
} hf_replay_rows;

/* NULL if no operation of those that happened has a predicate. */
hf_replay_rows *hf_rows_new(const hf_history *h, const hf_expected *e,
                            const hf_check_options *options, hf_budget *budget);
void hf_rows_free(hf_replay_rows *rows);
/* The condition of a predicate operation. */
hf_rows_condition *hf_rows_condition_of(hf_replay_rows *rows,
                                        const hf_predicate *p);
uint32_t hf_rows_table_of(const hf_replay_rows *rows, hf_string_id name);
/* The column of a table, decoded. */
uint32_t hf_rows_column(hf_replay_rows *rows, uint32_t table, hf_str name);
/* Can it be evaluated at all? */
static inline bool hf_rows_is_known(const hf_rows_condition *c)
{
    return c->expr || c->asked;
}
/* Lets a database evaluate it, if there is one. */
bool hf_rows_ask_database(hf_replay_rows *rows, hf_rows_condition *c);
/* Does a value (not nil) satisfy the condition? */
hf_sql_truth hf_rows_test(hf_replay_rows *rows, const hf_rows_condition *c,
                          hf_value_id value);
/* The key has another value now; HF_NONE or a nil one: no row. */
void hf_rows_set(hf_replay_rows *rows, hf_key_id key, hf_value_id value);

/* What satisfies the condition now. */
typedef struct hf_rows_answer {
    uint32_t n;           /* rows */
    bool unsaid;          /* for some row it cannot be said */
    hf_rows_total total;  /* of the column */
    uint32_t least, most; /* ranks; HF_NONE: none */
} hf_rows_answer;
/* column: HF_NONE: count only. */
hf_rows_answer hf_rows_ask(hf_replay_rows *rows, hf_rows_condition *c,
                           uint32_t column);
/* Adds a value of the column to the total, or takes it away. */
void hf_rows_count(const hf_ranked *k, uint32_t rank, int sign,
                   hf_rows_total *t);
/* One more row with this value. */
void hf_rows_add(const hf_replay_rows *rows, uint32_t table, hf_value_id value,
                 hf_rows_answer *a);
hf_rows_answer hf_rows_nothing(uint32_t column);
/* The column of an aggregate; HF_NONE for a count of rows. */
uint32_t hf_rows_column_of(hf_replay_rows *rows, uint32_t table,
                           hf_op_kind kind, const hf_predicate *p);
/* Calls for each row that satisfies it, until false. */
typedef bool (*hf_rows_visit)(void *user, hf_key_id key);
void hf_rows_each(hf_replay_rows *rows, hf_rows_condition *c,
                  hf_rows_visit visit, void *user);
/* Is the recorded result of the aggregate this answer?  HF_SQL_ERROR: it
 * cannot be computed. */
hf_sql_truth hf_rows_result_fits(const hf_replay_rows *rows, uint32_t table,
                                 hf_op_kind kind, const hf_predicate *p,
                                 const hf_rows_answer *a);

/* ---- the engine ---------------------------------------------------------- */

/* A value that cannot be known: after an increment without result. */
#define HF_REPLAY_OPEN (HF_NONE - 1)

#define HF_REPLAY_LIST 1u  /* appended to */
#define HF_REPLAY_BLIND 2u /* incremented, result not recorded */

typedef struct hf_replay_cell {
    hf_value_id value; /* lists: the longest list known to be a prefix */
    hf_txn_id writer;  /* HF_NONE: nobody yet */
} hf_replay_cell;

typedef struct hf_replay_version {
    uint32_t birth; /* the first state that has it; 0: initial */
    hf_value_id value;
} hf_replay_version;

/* The rows of a condition over all states (replay_times.c).  Events ascend by
 * state; each adds a version to the rows, or takes it away. */
typedef struct hf_replay_event {
    uint32_t q;
    hf_key_id key;
    hf_value_id value;
    bool added;
} hf_replay_event;

typedef struct hf_replay_totals {
    uint32_t column;
    hf_rows_answer *after; /* what the rows add up to after each event */
} hf_replay_totals;

typedef struct hf_replay_times {
    bool made, unsaid; /* for some version it cannot be said */
    bool open;         /* some version is not known */
    uint32_t n;
    hf_replay_event *at;
    uint32_t *count; /* rows after each event */
    HF_VEC(hf_replay_totals) totals;
} hf_replay_times;

/* All versions of the keys in the order; see replay_versions.c. */
struct hf_replay_versions;

typedef struct hf_replay {
    const hf_history *h;
    const hf_level_info *level;
    hf_budget *budget;
    hf_check_options options;
    hf_expected order;
    hf_arena *arena; /* of the result */
    hf_replay_cell *cells;
    hf_op_id *tail;   /* lists, per key: the last append after the prefix */
    hf_op_id *before; /* lists, per operation: the append before it */
    hf_replay_rows *rows;
    hf_snapshots *snapshots;
    struct hf_replay_versions *versions;
    HF_VEC(hf_replay_times) times;   /* per condition */
    struct hf_replay_shelf *shelves; /* kept by replay_times.c */
    size_t n_shelves;
    HF_VEC(struct hf_replay_moves *) moves; /* per column asked for */
    /* of the order, for snapshots: see replay_reach.c */
    struct hf_replay_span *by_time, *by_id;
    uint8_t *key_use; /* HF_REPLAY_*, for the weaker levels */
    bool odd_keys_known;
    HF_VEC(hf_key_id) odd_keys;
    hf_op_id *set_stamp; /* per key: the operation whose set lists it */

    bool first_only; /* stop at the first finding */
    bool stopped;    /* the budget is spent */
    uint64_t noted;  /* findings, kept or not */
    char undecided[256];
    HF_VEC(hf_finding) found;
    uint64_t count[HF_ANOMALY_COUNT];
} hf_replay;

/* Notes a finding; ops that are HF_NONE are left out. */
void hf_replay_note(hf_replay *p, hf_anomaly anomaly, const hf_op_id *ops,
                    uint32_t n);
/* Notes what cannot be judged; the first one counts. */
void hf_replay_undecided(hf_replay *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool hf_replay_spent(hf_replay *p);

/* The value that an operation installs; HF_REPLAY_OPEN: not known. */
hf_value_id hf_replay_written(const hf_history *h, hf_op_id op);
static inline bool hf_replay_writes(const hf_history *h, hf_op_id op)
{
    return hf_op_installs(hf_op_kind_of(h, op)) &&
           !(h->op_kind[op] & HF_OP_FAILED);
}
/* The last write of key in t before operation `end`; HF_NONE: none. */
hf_op_id hf_replay_last_write(const hf_history *h, hf_txn_id t, hf_key_id key,
                              hf_op_id end);
static inline bool hf_replay_is_nil(const hf_history *h, hf_value_id v)
{
    return v == HF_NONE || h->value_type[v] == HF_NIL;
}
static inline bool hf_replay_same(const hf_history *h, hf_value_id a,
                                  hf_value_id b)
{
    return a == b || (hf_replay_is_nil(h, a) && hf_replay_is_nil(h, b));
}

/* replay_serial.c: false if the budget ran out. */
bool hf_replay_serial(hf_replay *p);
void hf_replay_check_plain(hf_replay *p, hf_txn_id t, hf_op_id op);
/* A write of the value was seen: one that explains it. */
hf_op_id hf_replay_explain(hf_replay *p, hf_value_id value);

/* replay_query.c: the predicate operation or aggregate of t, now. */
void hf_replay_query(hf_replay *p, hf_txn_id t, hf_op_id op);
/* Rows of one key twice. */
bool hf_replay_rows_twice(hf_replay *p, hf_op_id op, const hf_predicate *q);

/* The operation, the write that it should have seen of the key (HF_NONE:
 * none is named), one of the value it saw. */
void hf_replay_note_key(hf_replay *p, hf_op_id op, hf_key_id key,
                        hf_value_id seen);
/* The condition, or an aggregate, cannot be evaluated. */
void hf_replay_cannot_say(hf_replay *p, hf_txn_id t,
                          const hf_rows_condition *c);

/* replay_looks.c: is what the operation says it looked at the state now?
 * Notes what is not. */
void hf_replay_look_listed(hf_replay *p, hf_txn_id t, hf_op_id op,
                           const hf_predicate *q, hf_rows_condition *c);
/* Does no version of a key from `a` to `b` satisfy the condition? */
bool hf_replay_is_quiet(hf_replay *p, const hf_rows_condition *c,
                        const hf_replay_version *at, uint32_t a, uint32_t b);
/* What is wrong with the rows, the version set and the result of an operation
 * by themselves; HF_ANOMALY_COUNT: nothing. */
hf_anomaly hf_replay_set_fault(hf_replay *p, hf_op_id op);
/* The key that differs, or HF_NONE. */
hf_key_id hf_replay_look_snapshot(hf_replay *p, hf_txn_id t, hf_op_id op,
                                  const hf_predicate *q, hf_rows_condition *c);
/* The state that a snapshot is; HF_NONE: it is none of this order. */
uint32_t hf_replay_snapshot_state(hf_replay *p, hf_txn_id t,
                                  const hf_predicate *q);
/* Fills odd_keys, once: keys whose versions the certificate may order
 * otherwise than the expected order does. */
void hf_replay_find_odd_keys(hf_replay *p);
/* What a snapshot says of its table. */
typedef enum hf_snapshot_sight {
    HF_SIGHT_CLEAR, /* it is as its transactions are in the order */
    HF_SIGHT_ODD,   /* keys that must be asked for one by one */
    HF_SIGHT_NONE   /* not everything: it counts as no version set */
} hf_snapshot_sight;
hf_snapshot_sight hf_replay_snapshot_sight(hf_replay *p, hf_txn_id t,
                                           hf_op_id op,
                                           const hf_rows_condition *c);
void hf_replay_release_snapshots(hf_replay *p);

/* replay_versions.c */
/* Made when first asked for. */
struct hf_replay_versions *hf_replay_versions_get(hf_replay *p);
void hf_replay_versions_free(struct hf_replay_versions *v);
/* The versions of key, the initial one first; returns how many. */
uint32_t hf_replay_versions_of(hf_replay *p, hf_key_id key,
                               const hf_replay_version **ret);
/* Index of the version of key that state q has. */
uint32_t hf_replay_version_at(const hf_replay_version *at, uint32_t n,
                              uint32_t q);

/* So that candidates can be asked for; O(versions), once. */
void hf_replay_link_values(hf_replay *p);
/* The versions of key that have this value, the last first: the one after
 * `after` (HF_NONE at first), or HF_NONE. */
uint32_t hf_replay_candidate(hf_replay *p, hf_key_id key, hf_value_id value,
                             uint32_t after);

/* replay_times.c */
/* Of a condition; made when first asked for. */
const hf_replay_times *hf_replay_times_of(hf_replay *p, hf_rows_condition *c);
/* What they add up to after each event. */
const hf_rows_answer *hf_replay_totals_of(hf_replay *p, hf_rows_condition *c,
                                          uint32_t column);
/* How many events there are up to state q. */
uint32_t hf_replay_events_to(const hf_replay_times *t, uint32_t q);
void hf_replay_times_free(hf_replay *p);

/* replay_moves.c: the keys of which a version that satisfies the condition
 * was installed, or replaced, after state `from` and up to state `end`; until
 * false.  A key may come more than once.  False: that cannot be said, and
 * nothing was visited. */
bool hf_replay_moves_each(hf_replay *p, hf_rows_condition *c, uint32_t from,
                          uint32_t end, hf_rows_visit visit, void *user);
void hf_replay_moves_free(hf_replay *p);
/* Why a look cannot be judged. */
#define HF_REPLAY_BETWEEN                                                      \
    "a condition cannot be evaluated on a version between what was looked at " \
    "and the state"

/* replay_states.c: the last state from `least` to `most` that explains the
 * operation of t; HF_NONE: none.  HF_REPLAY_OPEN: it cannot be said. */
uint32_t hf_replay_state_of(hf_replay *p, hf_txn_id t, hf_op_id op,
                            uint32_t least, uint32_t most);
/* Does it say anything about states? */
bool hf_replay_looks(const hf_history *h, hf_op_id op);

/* replay_sources.c: who wrote what was read, where several could have; `state`
 * is per operation the state it saw (NULL: that of its transaction's place). */
void hf_replay_sources(hf_replay *p, const uint32_t *state, hf_witness *w);

/* replay_weak.c: is the level one that is given by states of the order? */
bool hf_replay_has_states(const hf_level_info *level);
/* Judges it; if nothing is found *ret is the witness.  False if the budget ran
 * out. */
bool hf_replay_weak(hf_replay *p, hf_witness *ret);

#endif
