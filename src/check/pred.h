/* pred.h: predicates in the graph engine, inside check/ only.
 *
 * What a predicate operation adds to the graph of items follows from its
 * condition and its version set: which versions of a key satisfy the
 * condition, and which one was looked at.  Both are found without asking
 * every condition about every version:
 *
 *   pred_columns.c     the columns of versions, decoded once; sorted indexes
 *   pred_conditions.c  each distinct condition once: the versions that
 *                      satisfy it, and those that change the matches (flips)
 *   pred_spans.c       conditions that are ranges of columns: no sets
 *   pred_boxes.c       ... of several columns
 *   pred_oracle.c      conditions that only a database can judge
 *   pred_looks.c       each operation with a list of versions it looked at:
 *                      is the result right, what does it read, its edges
 *   pred_inner.c       what one transaction saw, against itself
 *   pred_timed.c       the same for snapshots by time, without that list
 *   pred_clock.c       ... commit times as ranks and ticks
 *   pred_ids.c         ... and snapshots by ids as times
 *   pred_chains.c      ... in chains of changes; many ranges share a tree
 *   pred_parts.c       ... and many of several columns a tree of trees
 *   pred_totals.c      aggregates over snapshots by time
 *   pred_sums.c        ... of ranges that share a tree
 *   pred_part_sums.c   ... of those of several columns
 *   pred_questions.c   ... asked tree by tree, as time goes on
 *   pred_reads.c       ... what repeatable read wants to know of aggregates
 *   pred_edges.c       the edges, for the walk
 *   pred_cut.c         the edges inside one component, by name
 *   pred_needed.c      ... which of them, in a large one
 *   pred_weak.c        conditions of the weak levels
 *   pred_visible.c     ... of snapshots by time
 *   pred_sight.c       ... what these looked at and read from
 *   pred_times.c       ... proved by commit times
 *   pred_build.c       puts these together
 *
 * Version ids ascend by key and, within a key whose order is known, by
 * version order; so a set of versions is an ascending array, and the flip
 * next to a version is found by binary search.
 *
 * With P operations, V versions, K keys and M_c versions that satisfy
 * condition c: columns and indexes cost V log V, conditions the sum of
 * log V + M_c over the distinct ones (V for one that bounds no column), an
 * operation with a version set its length times log M_c, one with a snapshot
 * by time log M_c and its result (times a few for each own write).  Where the
 * conditions are ranges and the snapshots times, the sum of M_c is never paid
 * if (P + V) * log V is less, or, for ranges of k columns together, (P + V) *
 * log^k V / k!, at no level.  Snapshots by ids are times as well
 * if they are nested, as those of one database are (pred_ids.c).  Nothing costs
 * P * V; P * K is paid where version sets are listed, or ids not nested.
 */
#ifndef HF_PRED_H
#define HF_PRED_H

#include "base/map.h"
#include "base/sort.h"
#include "check/graph.h"
#include "graph/labelled.h"
#include "history/snapshot.h"
#include "sql/oracle.h"
#include "sql/sql.h"

/* ---- columns ------------------------------------------------------------- */

#define HF_PRED_MISSING 1u

typedef struct hf_pred_column {
    hf_str name;
    hf_sql_value *value; /* per version of the table */
    uint8_t *missing;    /* ... HF_PRED_MISSING: has no such column; else not
                            0: is nil */
    uint32_t *sorted;    /* places, by hf_sql_order(); NULL: not yet */
    uint32_t n_sorted;   /* nil rows and missing ones are left out */
    uint32_t class_first[7]; /* where each class of values begins in it */
    /* values numbered in their order; NULL: not yet */
    uint32_t *number;       /* per version of the table; HF_NONE: none */
    uint32_t n_numbers;     /* different ones */
    uint32_t *number_first; /* per number, and one more: into sorted */
    bool complete;          /* no version is without the column */
} hf_pred_column;

/* The versions of all keys of one table. */
typedef struct hf_pred_table {
    hf_string_id name;
    uint32_t n; /* versions */
    uint32_t n_keys;
    uint32_t *ver; /* ascending */
    bool regular;  /* on the clock, versions of every key ascend */
    bool has_open; /* some key has no known order */
    HF_VEC(hf_pred_column) columns;
} hf_pred_table;

/* ---- conditions ---------------------------------------------------------- */

/* Ascending versions. */
typedef struct hf_pred_set {
    uint32_t *at, n;
} hf_pred_set;

/* Numbers of values. */
typedef struct hf_pred_span {
    uint32_t low, end;
} hf_pred_span;

#define HF_PRED_SPANS 8u
#define HF_PRED_AXES 4u

/* Ranges of one column. */
typedef struct hf_pred_axis {
    uint32_t column;        /* in the table */
    uint32_t n_spans;       /* ascending */
    hf_pred_span *spans;    /* in the arena */
    const uint32_t *number; /* the column's */
    uint64_t n_within;      /* how many versions are inside */
} hf_pred_axis;

typedef struct hf_pred_condition {
    hf_string_id text;
    uint32_t table;          /* index */
    const hf_sql_expr *expr; /* NULL: not understood */
    char *why;               /* ... or odd: the reason */
    uint32_t *column;        /* per column of expr: its place in the table */
    bool asked;              /* a database judged it */
    bool judged;             /* it, or the interpreter, did */
    /* ranges of one or several columns, all of which must hold, and so that no
     * sets are needed: */
    bool is_spans;
    uint32_t n_axes;
    hf_pred_axis *axes; /* in the arena; by column */
    uint64_t n_within;  /* how many versions satisfy it, at most */
    uint32_t n_timed;   /* operations with snapshots by time */
    /* else, or once hf_pred_sets() was asked for them: */
    bool has_sets;
    hf_pred_set match; /* versions that satisfy it */
    hf_pred_set flip;  /* versions that change the matches */
    uint8_t *flip_on;  /* per flip: it satisfies the condition */
    hf_pred_set odd;   /* versions of which it cannot be said */
    /* by time, in chains of flips and in those of all changes: */
    uint32_t uses[2];        /* operations */
    uint32_t cover_first[2]; /* its chains, in hf_pred.covers */
    uint32_t n_covers[2];
    bool shares; /* they are nodes of a tree */
} hf_pred_condition;

/* ---- chains of changes, by commit time ----------------------------------- */

/* Of the versions that satisfy one condition, or that have one of the values
 * low .. end - 1 of a column. */
typedef struct hf_pred_chain {
    uint32_t condition; /* HF_NONE: values, or a part */
    uint32_t part;      /* of hf_pred.parts; HF_NONE */
    uint32_t low, end;
    bool all;          /* every change of a match, not only flips */
    uint32_t first, n; /* in hf_pred.event */
    uint32_t last;     /* where the last operation stood; a guess */
    int64_t start;     /* how many initial versions satisfy it */
} hf_pred_chain;

/* Versions that several conditions have in common, ascending. */
typedef struct hf_pred_part {
    uint64_t first; /* in hf_pred.part_vers */
    uint32_t n;
} hf_pred_part;

typedef struct hf_pred_event {
    uint32_t tick : 31;   /* the place of its version in the order of time */
    uint32_t matches : 1; /* from now on; else no more */
    int32_t net;          /* flips only: matches gained since the chain began */
} hf_pred_event;

/* An operation in its chain: it depends on the events before `until`, and
 * those from `behind` on depend on it. */
typedef struct hf_pred_joint {
    hf_txn_id txn;
    uint32_t chain : 31;
    uint32_t apart : 1;     /* what it depends on is in hf_pred.aparts */
    uint32_t until, behind; /* places in hf_pred.event */
} hf_pred_joint;

/* The same without some of the events: those before `until` that are not
 * among n places from hf_pred.outs[first] on, which ascend. */
typedef struct hf_pred_apart {
    hf_txn_id txn;
    uint32_t begin, until;
    uint32_t first, n;
} hf_pred_apart;

/* ---- operations ---------------------------------------------------------- */

typedef struct hf_pred_op {
    hf_predicate q; /* decoded once */
    hf_op_id op;
    hf_txn_id txn;
    uint32_t condition;
    bool aggregate;
    bool known;      /* its version set is */
    bool unlisted;   /* ... not, once it was looked at (pred_looks.c) */
    bool fresh;      /* nothing was written before it */
    uint32_t ranks;  /* by time: commit times up to its snapshot */
    uint32_t ticks;  /* ... versions of those */
    bool timed;      /* looked at through a chain */
    bool all;        /* ... of all changes */
    uint64_t time;   /* ... its snapshot */
    bool on_clock;   /* its snapshot is a time of the clock, ... */
    uint64_t moment; /* ... this one */
} hf_pred_op;

/* An entry of a version set, as a version. */
typedef struct hf_pred_entry {
    hf_key_id key;
    hf_value_id value; /* HF_NONE: an initial version that is nil */
    hf_txn_id writer;  /* as in hf_version_ref */
    uint32_t ver;      /* HF_NONE: none that counts */
    bool returned;
    bool own;      /* own write before: no edges */
    bool unlisted; /* of no version set: the world says which version it is */
} hf_pred_entry;
typedef HF_VEC(hf_pred_entry) hf_pred_entries;

/* A row that was returned, by an operation with a snapshot by time. */
typedef struct hf_pred_row {
    hf_version_ref ref;
    hf_key_id key;
    uint32_t ver; /* in the snapshot; HF_NONE: own, or of another table */
    hf_op_id own; /* the own write before; HF_NONE: none */
} hf_pred_row;

/* One more edge into a node: a transaction, or n_txns + a node of a chain. */
typedef struct hf_more_edge {
    uint32_t from, to;
    hf_edge_kind kind;
} hf_more_edge;

/* What the operations of one transaction saw, for comparing. */
typedef struct hf_pred_seen {
    hf_key_id key;
    uint32_t ver;       /* an item; HF_NONE: not returned */
    uint32_t condition; /* ... by this condition */
    hf_op_id op;
} hf_pred_seen;

typedef struct hf_pred {
    hf_graph *g;
    hf_snapshots *snapshots; /* NULL: none, or not yet */
    hf_sql_cache *cache;
    hf_sql_oracle *oracle; /* NULL: not asked yet */
    hf_arena arena;
    uint32_t *ver_key;   /* per version */
    uint32_t *ver_place; /* per version: in its table */
    uint8_t *uncertain;  /* per key: somebody may have written it */
    bool any_uncertain;
    bool certain_only; /* leave out what such keys say */
    HF_VEC(hf_pred_table) tables;
    hf_map by_name; /* of a table: its place */
    uint32_t *table_of_key;
    HF_VEC(hf_pred_condition) conditions;
    hf_map by_text; /* table and text -> condition */
    HF_VEC(hf_pred_chain) chain;
    HF_VEC(uint32_t) covers; /* chains, condition by condition */
    HF_VEC(hf_pred_part) parts;
    HF_VEC(uint32_t) part_vers;
    hf_pred_event *event; /* chain by chain, in the order of time */
    /* per transaction: its commit on the clock of the snapshots, the one
     * recorded or one of our own (pred_ids.c); NULL: there is none */
    const uint64_t *commit;
    uint64_t *own_commit;
    uint64_t *rank_time; /* the commit times, ascending, each once */
    uint32_t n_ranks;
    uint8_t *shared_rank;   /* several commits have it */
    uint32_t *rank;         /* per transaction: the place of its commit time */
    uint32_t n_ticks;       /* versions with a rank */
    uint32_t *tick_ver;     /* ... in the order of their ranks */
    uint32_t *rank_tick;    /* per rank, and one more: its first tick */
    HF_VEC(hf_pred_op) ops; /* ascending by op */
    uint32_t *op_first;     /* per transaction, into ops; n_txns + 1 */
    HF_VEC(hf_more_edge) edges;
    HF_VEC(hf_pred_joint) joints;
    HF_VEC(hf_pred_apart) aparts;
    HF_VEC(uint32_t) outs;
    /* all edges, for the walk: into node v are from[first[v]] .. */
    uint32_t n_nodes; /* of chains */
    uint32_t *first;
    uint32_t *from;
    uint8_t *kind;
    HF_VEC(hf_pred_seen) seen;      /* by the transaction at hand */
    HF_VEC(hf_pred_seen) conflicts; /* INT: see hf_pred_report_conflicts() */
    HF_VEC(hf_pred_seen) renewed;   /* items of keys that the reader writes */
    char undecided_before[320];     /* what items alone could not judge */
    bool everywhere_before;
    bool has_unlisted;       /* rows speak of keys that no version set lists */
    hf_pred_entries entries; /* room */
    HF_VEC(hf_version_ref) rows; /* room */
    HF_VEC(hf_pred_row) found;   /* room */
} hf_pred;

/* The version that a write installs; HF_NONE: overwritten, or not counted. */
static inline uint32_t hf_pred_installed(const hf_graph *g, hf_op_id write)
{
    uint32_t role = g->op_role[write];

    return role != HF_NONE && (role & 1u) ? role / 2 : HF_NONE;
}

/* What operations of the transaction did to the key before `op`. */
bool hf_pred_own_write(const hf_history *h, hf_txn_id t, hf_op_id op,
                       hf_key_id key, hf_op_id *ret_write);

/* pred_columns.c */
void hf_pred_make_tables(hf_pred *p);
/* The column's place in the table; decoded if it is new. */
uint32_t hf_pred_column_of(hf_pred *p, uint32_t table, hf_str name);
void hf_pred_sort_column(hf_pred *p, uint32_t table, uint32_t column);
/* Numbers its values; it is sorted. */
void hf_pred_number_column(hf_pred *p, uint32_t table, uint32_t column);
hf_value_id hf_pred_value_of(const hf_graph *g, uint32_t ver);
/* Values that are compared with each other: 0 for null, up to 5. */
unsigned hf_pred_class(const hf_sql_value *v);
/* hf_sql_order(), quick for integers. */
static inline int hf_pred_order(const hf_sql_value *a, const hf_sql_value *b)
{
    if (a->type == HF_SQL_INT && b->type == HF_SQL_INT)
        return (a->integer > b->integer) - (a->integer < b->integer);
    return hf_sql_order(a, b);
}
void hf_pred_release_tables(hf_pred *p);

/* pred_conditions.c */
uint32_t hf_pred_condition_of(hf_pred *p, hf_string_id table,
                              hf_string_id text);
void hf_pred_judge_conditions(hf_pred *p);
bool hf_pred_has(const hf_pred_set *s, uint32_t ver);
/* How many of the set are below `ver`. */
uint32_t hf_pred_below(const hf_pred_set *s, uint32_t ver);
/* Is there a version of the key of which it cannot be said? */
bool hf_pred_is_odd(const hf_pred *p, const hf_pred_condition *c,
                    hf_key_id key);
/* The condition on a value that need not be a version. */
hf_sql_truth hf_pred_test_value(hf_pred *p, uint32_t condition, hf_value_id v);

/* Finds the flips of a condition whose matches are known. */
void hf_pred_find_flips(hf_pred *p, hf_pred_condition *c);

/* pred_spans.c */
static inline bool hf_pred_is_inside(const hf_pred_axis *a, uint32_t place)
{
    uint32_t number = a->number[place];

    for (uint32_t i = 0; i < a->n_spans; i++)
        if (number - a->spans[i].low < a->spans[i].end - a->spans[i].low)
            return true;
    return false;
}
/* Does the version, of the table of the condition, satisfy it? */
static inline bool hf_pred_holds(const hf_pred *p, const hf_pred_condition *c,
                                 uint32_t ver)
{
    bool holds = true;

    if (!c->is_spans)
        return hf_pred_has(&c->match, ver);
    for (uint32_t k = 0; k < c->n_axes && holds; k++)
        holds = hf_pred_is_inside(&c->axes[k], p->ver_place[ver]);
    return holds;
}
/* The class that a bound speaks of, as of hf_pred_class(); 0: it is of no
 * use. */
unsigned hf_pred_bound_class(const hf_sql_bound *b);
/* The places of the index inside a range, or of a whole class. */
typedef struct hf_pred_places {
    uint32_t first, end;
} hf_pred_places;
hf_pred_places hf_pred_class_places(const hf_pred_column *c, unsigned class_);
hf_pred_places hf_pred_range_places(const hf_pred_column *c,
                                    const hf_sql_bound *b,
                                    const hf_sql_range *r);
/* Is every version with the column of the class of the bound, or null? */
bool hf_pred_is_uniform(const hf_pred_column *c, const hf_sql_bound *b);
/* The bound as ranges of numbers, if every version has the column, with values
 * of one class, and the ranges are not too many. */
bool hf_pred_make_axis(hf_pred *p, uint32_t table, uint32_t column,
                       const hf_sql_bound *b, hf_pred_axis *ret);
/* A condition that says no more than the bound of one column. */
bool hf_pred_make_spans(hf_pred *p, hf_pred_condition *c);

/* pred_boxes.c: which conditions need no sets, being ranges of several columns
 * together.  `left`: per condition, how many versions the best of its bounds
 * leaves. */
void hf_pred_choose_boxes(hf_pred *p, const uint64_t *left);

/* Writes the sets of a condition out, if they are not there yet. */
const hf_pred_condition *hf_pred_sets(hf_pred *p, uint32_t condition);

/* pred_oracle.c: the condition on n values that are not nil, by a database;
 * false: there is none, or it does not know either. */
bool hf_pred_ask(hf_pred *p, hf_str condition, const hf_value_id *values,
                 uint32_t n, hf_sql_truth *ret, hf_error *err);

/* pred_looks.c: an operation whose version set is listed, or can be. */
void hf_pred_look(hf_pred *p, hf_pred_op *o);
/* Its entries as versions; with `quiet`, nothing is noted.  False: there is no
 * version set, or it is not known.  Entries are ascending by key.  In a world
 * that says what was looked at, rows without a version set have an entry for
 * each other key of the table that some version satisfies the condition of. */
bool hf_pred_entries_of(hf_pred *p, const hf_pred_op *o, bool quiet,
                        hf_pred_entries *ret);
/* That of the key, or NULL. */
const hf_pred_entry *hf_pred_entry_of(const hf_pred_entries *all,
                                      hf_key_id key);
/* Does the entry satisfy the condition of the operation? */
hf_sql_truth hf_pred_matches(hf_pred *p, const hf_pred_op *o,
                             const hf_pred_entry *e);
/* The version a row or an entry names; HF_NONE: none that counts. */
uint32_t hf_pred_version(hf_pred *p, const hf_pred_op *o, hf_version_ref ref,
                         bool quiet);
/* Of an entry that several may have written: the version that the world says;
 * HF_NONE: it does not. */
uint32_t hf_pred_told(const hf_graph *g, hf_op_id op, hf_key_id key);
/* The rows returned, ascending by key; false if a key is there with two
 * versions. */
bool hf_pred_sort_rows(hf_pred *p, const hf_predicate *q);
const hf_version_ref *hf_pred_row_of(const hf_pred *p, hf_key_id key);
/* The operation reads this version as an item. */
void hf_pred_item(hf_pred *p, const hf_pred_op *o, hf_key_id key, uint32_t ver);
void hf_pred_mismatch(hf_pred *p, const hf_pred_op *o);
void hf_pred_unclear(hf_pred *p, const hf_pred_op *o, bool everywhere,
                     const char *why);

/* pred_inner.c: what one transaction saw, against itself. */
void hf_pred_note_absent(hf_pred *p, const hf_pred_op *o, hf_key_id key);
void hf_pred_compare(hf_pred *p, hf_txn_id t);
void hf_pred_report_conflicts(hf_graph_report *r);
/* Can a step of a proof say it? */
bool hf_pred_can_tell(const hf_pred *p, const hf_pred_seen *conflict);
/* Two that read one version and both wrote its key, one of them at least with
 * a predicate operation. */
void hf_pred_lost_updates(hf_pred *p);

/* pred_totals.c */
typedef struct hf_pred_total {
    int64_t matches, rows; /* count(*), count(column) */
    hf_int128 sum;
    bool has_extremes;
    hf_sql_value min, max;
    bool missing, no_sum, no_order;
    /* of values that are no integers: those that are decimals, and their sum
     * in units of HF_DECIMAL_ONE (not in `sum`); those that are texts */
    int64_t decimals, texts;
    hf_int128 parts;
} hf_pred_total;
void hf_pred_add(hf_pred_total *t, const hf_sql_value *v, bool missing);
/* Compares with the recorded result; notes what is wrong or unclear. */
void hf_pred_judge_total(hf_pred *p, const hf_pred_op *o, const hf_predicate *q,
                         const hf_pred_total *t);
/* Adds what `more` has: totals of rows of other keys. */
void hf_pred_join(hf_pred_total *t, const hf_pred_total *more);
typedef HF_VEC(hf_key_id) hf_pred_keys;
/* The keys of the table that the transaction wrote before its operation, and
 * the total of those own versions that satisfy the condition. */
void hf_pred_own_total(hf_pred *p, const hf_pred_op *o, hf_str column,
                       hf_pred_keys *ret_keys, hf_pred_total *ret);
/* Sums: a value comes (1) or goes (-1).  odd counts rows without the column,
 * values that cannot be added up, and values without an order. */
void hf_pred_count_value(hf_pred_total *t, uint32_t odd[3],
                         const hf_sql_value *v, bool missing, int sign);
/* Is it so of some of the values that were counted? */
void hf_pred_note_odd(hf_pred_total *t, const uint32_t odd[3]);
/* The place of an aggregate's column in its table. */
uint32_t hf_pred_total_column(hf_pred *p, const hf_pred_op *o,
                              const hf_predicate *q);
/* All aggregates over snapshots by time. */
void hf_pred_timed_totals(hf_pred *p);
/* pred_sums.c: those of conditions that share a tree. */
void hf_pred_shared_totals(hf_pred *p);
/* pred_part_sums.c: those of conditions that share parts. */
void hf_pred_part_totals(hf_pred *p);

/* pred_clock.c: ranks and ticks; which operations are timed, and how often
 * each condition is used by them.  False: none is. */
bool hf_pred_find_timed(hf_pred *p);

/* pred_ids.c: sets `commit` and, of the operations, `moment`, if there are
 * snapshots by ids only and they are nested; else false, nothing is set. */
bool hf_pred_clock_of_ids(hf_pred *p);

/* pred_parts.c */
typedef struct hf_pred_share {
    uint32_t condition, chain;
} hf_pred_share;
typedef HF_VEC(hf_pred_share) hf_pred_shares;
/* The parts of all conditions that are ranges of several columns, and their
 * chains, without events yet: for chains of flips and those of all changes the
 * chains of each condition, by condition. */
void hf_pred_make_parts(hf_pred *p, hf_pred_shares ret[2]);

/* pred_chains.c */
void hf_pred_make_chains(hf_pred *p);
/* The depth of a tree with n leaves. */
static inline unsigned hf_pred_depth(uint32_t n)
{
    unsigned depth = 1;

    while (n >>= 1)
        depth++;
    return depth;
}
/* Events of the chain before a tick. */
uint32_t hf_pred_events_before(const hf_pred *p, const hf_pred_chain *c,
                               uint32_t tick);
/* The same if at least `from` are. */
uint32_t hf_pred_events_from(const hf_pred *p, const hf_pred_chain *c,
                             uint32_t from, uint32_t tick);
static inline uint32_t hf_pred_event_ver(const hf_pred *p, uint32_t place)
{
    return p->tick_ver[p->event[place].tick];
}

/* pred_timed.c */
/* The version of a key of its table in the snapshot of the operation. */
uint32_t hf_pred_version_at(const hf_pred *p, const hf_pred_op *o,
                            hf_key_id key);
void hf_pred_look_timed(hf_pred *p, const hf_pred_op *o);

/* pred_questions.c */
typedef struct hf_pred_question {
    uint32_t table;
    uint32_t column, other; /* what else tells trees apart, as who asks wants */
    uint32_t ticks;         /* of its snapshot */
    uint32_t op;            /* its place in hf_pred.ops */
} hf_pred_question;
typedef HF_VEC(hf_pred_question) hf_pred_questions;
/* n questions to one tree, in the order of time. */
typedef void hf_pred_answer(void *user, const hf_pred_question *all, size_t n);
/* Sorts them, and has each tree answer its own, until the limit. */
void hf_pred_ask_in_turn(const hf_pred *p, hf_pred_questions *all,
                         hf_pred_answer *answer, void *user);

/* pred_reads.c: before hf_pred_link() is done. */
void hf_pred_link_reads(hf_pred *p);

/* pred_edges.c */
void hf_pred_add_edge(hf_pred *p, uint32_t from, uint32_t to,
                      hf_edge_kind kind);
void hf_pred_flip_edges(hf_pred *p, const hf_pred_op *o, hf_key_id key,
                        uint32_t ver);
/* Do all edges lead forward in this order of all that happened?  Before
 * hf_pred_link() only. */
bool hf_pred_fits(hf_pred *p, const hf_txn_id *order, uint32_t n);
void hf_pred_link(hf_pred *p);

/* pred_cut.c: all edges of predicates between transactions with in[t] ==
 * wanted, added to the graph with nodes local[t]; `mask` as in a walk. */
void hf_pred_cut(hf_pred *p, const hf_txn_id *txns, uint32_t n,
                 const uint32_t *in, uint32_t wanted, const uint32_t *local,
                 unsigned mask, hf_labelled *graph);

/* pred_needed.c: per transaction, whether its operations are needed to show a
 * cycle of the component, if there is one; NULL: all are.  The caller frees
 * it. */
uint8_t *hf_pred_needed(hf_pred *p, const hf_txn_id *txns, uint32_t n,
                        const uint32_t *in, uint32_t wanted, unsigned mask);

/* pred_weak.c */
void hf_pred_report_weak(hf_graph_report *r, const hf_walk *walk);

/* pred_visible.c: the same; false: not all that it needs is known. */
bool hf_pred_report_timed(hf_graph_report *r, const hf_walk *walk);
/* pred_sight.c */
/* For those who follow what is visible themselves.  `reach`: per transaction,
 * a bound on the commit ranks + 1 of all that they will find before it. */
typedef struct hf_pred_sight hf_pred_sight;
typedef void (*hf_pred_source_work)(void *user, hf_txn_id from);
hf_pred_sight *hf_pred_sight_new(hf_pred *p, const uint32_t *reach);
void hf_pred_sight_free(hf_pred_sight *s);
/* Does a version of t2 contradict what t3 looked at, if t2 is visible? */
bool hf_pred_sight_misses(hf_pred_sight *s, hf_txn_id t3, hf_txn_id t2);
/* Whom t reads from, as far as they, or what is before them, have a commit
 * rank from `limit` on; some of them several times. */
void hf_pred_sight_sources(hf_pred_sight *s, hf_txn_id t, uint32_t limit,
                           hf_pred_source_work work, void *user);
/* All operations are by time, and all versions have times that ascend. */
bool hf_pred_is_timed(const hf_pred *p);

/* pred_stamps.c: notes what contradicts recorded starts and commits. */
void hf_pred_stamps(hf_pred *p);

/* Snapshots by ids go by the certificate's order: do they find every version of
 * the key that there is, and no other? */
bool hf_pred_is_listed(const hf_graph *g, hf_key_id key);
/* Every key in one order, and that of commits. */
bool hf_pred_is_regular(const hf_pred *p);
/* pred_times.c: an order of all that happened in which everybody saw what was
 * committed by a time of its own; NULL: there is none, or none is known. */
uint32_t *hf_pred_order_by_time(hf_pred *p, uint32_t *ret_n);

/* pred_build.c: made when first asked for; NULL: none. */
hf_snapshots *hf_pred_snapshots(hf_pred *p);
/* All but hf_pred_link(). */
bool hf_pred_build(hf_graph *g);
/* Once more: with certain edges only, or as version orders changed.  What was
 * noted without a cycle stays. */
void hf_pred_rebuild(hf_graph *g, bool certain_only);
void hf_pred_free(hf_pred *p);

#endif
