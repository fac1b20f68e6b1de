/* brute.h: the parts of the reference engine, for its own files only.
 *
 * The engine works on a digest of the history, the *case*: at most eight
 * transactions that may have happened (the nodes), what they wrote and what
 * they read.  A *world* settles everything the history leaves open (see
 * docs/semantics.md) and carries the dependency relations as bit matrices.
 *
 *   brute_case.c       history -> case
 *   brute_list.c       the list reads of a case
 *   brute_counters.c   reads of keys with increments without results
 *   brute_predicate.c  the predicate operations of a case
 *   brute_condition.c  evaluates a condition on one version
 *   brute_world.c      enumerates the worlds of a case
 *   brute_promises.c   what the user assumes, in a world
 *   brute_edges.c      the relations of a world
 *   brute_levels.c     does a level's definition hold in a world?
 *   brute_mixed.c      the same, each transaction judged by its own level
 *   brute_certain.c    edges that are there in every world
 *   brute_findings.c   anomalies without a cycle
 *   brute_cycles.c     cycles of certain edges
 *   brute_witness.c    witnesses that prove a history valid
 *   brute.c            the engine: puts these together
 */
#ifndef HF_BRUTE_H
#define HF_BRUTE_H

#include "base/budget.h"
#include "base/vec.h"
#include "check/counters.h"
#include "history/extra.h"
#include "model/witness.h"
#include "sql/sql.h"

#define HF_BRUTE_NODES 8u

/* Where a read may come from: node i is bit i, the initial version bit 8. */
#define HF_BRUTE_INITIAL 8u
#define HF_BRUTE_UNSET UINT8_MAX /* no source (yet), or an own write */

/* to[i] has bit j: i is related to j. */
typedef struct hf_relation {
    uint8_t to[HF_BRUTE_NODES];
} hf_relation;

/* One operation that installs a version, by a transaction of any outcome. */
typedef struct hf_brute_write {
    hf_op_id op;
    hf_txn_id txn;
    hf_key_id key;
    hf_value_id value;   /* HF_NONE: an increment without results */
    uint8_t node;        /* HF_BRUTE_UNSET: aborted, or not kept */
    bool kept;           /* its transaction is in the restricted history */
    bool append;         /* an element of a list */
    bool last;           /* its transaction's last write of the key */
    uint32_t next_equal; /* the next write of an equal value, or HF_NONE */
} hf_brute_write;

typedef struct hf_brute_key {
    uint8_t writers;               /* the nodes that write it */
    bool written;                  /* by anyone at all */
    bool list;                     /* it is appended to */
    bool opaque;                   /* has increments without results */
    bool removed_writer;           /* one that is not kept wrote it */
    uint32_t last[HF_BRUTE_NODES]; /* each node's last write */
    uint8_t n_listed; /* nodes the certificate orders, oldest first */
    uint8_t listed[HF_BRUTE_NODES];
    uint32_t n_writes[HF_BRUTE_NODES];
    /* lists: each node's are case.appends[first_write[i] ...] */
    uint32_t first_write[HF_BRUTE_NODES];
} hf_brute_key;

/* One key looked at by one operation of a node. */
typedef struct hf_brute_read {
    hf_op_id op;
    uint32_t index; /* in the version set; 0 for an item read */
    hf_key_id key;
    hf_value_id value;
    hf_txn_id writer; /* a version set may name it; HF_NONE: anyone */
    uint8_t node;
    bool list;
    bool counted;     /* of a key with increments without results */
    bool item;        /* returned: counts as a read of the item */
    bool predicate;   /* looked at by a condition: `matches` is filled */
    bool unlisted;    /* ... of which no version set was recorded */
    uint16_t matches; /* versions of the key that satisfy the condition */
    uint16_t sources; /* last writes of nodes, and the initial version */
    /* Every write (of any outcome) it may come from, plus the initial
     * version; only_write is the one if there is one and it is a write. */
    uint32_t n_candidates, only_write;
    /* The read before it of the same key by the same node, neither having
     * an own write before; or HF_NONE. */
    uint32_t previous;
    /* own_before, of lists and counted reads; lists: the elements as writes
     * (HF_NONE where several appended it) and as values; how many the reader
     * itself appended before. */
    uint32_t first_element, n_elements, own_before;
} hf_brute_read;

/* An anomaly that needs no world: its operations, in the order that
 * docs/semantics.md and verify agree upon. */
typedef struct hf_brute_fault {
    hf_anomaly anomaly;
    uint8_t node; /* whose it is; HF_BRUTE_UNSET: of the whole history */
    uint8_t n_ops;
    hf_op_id ops[2];
} hf_brute_fault;

typedef struct hf_brute_element {
    hf_value_id value;
    uint32_t write; /* the append; HF_NONE: there are several */
} hf_brute_element;

typedef struct hf_brute_case {
    const hf_history *h;
    const uint8_t *kept; /* per transaction, borrowed; NULL: all */
    hf_arena arena;
    hf_sql_cache *sql; /* borrowed: conditions beyond our own language */
    uint32_t n_nodes;
    hf_txn_id txn[HF_BRUTE_NODES];
    uint8_t *node_of; /* per transaction; HF_BRUTE_UNSET: none */
    uint8_t maybe;    /* nodes of unknown outcome */
    uint8_t broken;   /* nodes that no level lets commit */
    bool refused;     /* whatever the outcomes, by every level */
    hf_relation so, rt;
    hf_relation listed;      /* before in the certificate's order of some key */
    HF_VEC(uint8_t) written; /* sets of nodes that wrote one key, distinct */

    hf_brute_key *keys; /* per key of the history */
    uint32_t n_appended;
    hf_key_id *appended;           /* the keys that are lists */
    uint32_t *appends;             /* their writes, by key and node */
    HF_VEC(hf_brute_write) writes; /* ascending by op */
    uint32_t *first_equal;         /* per value: first write of it */
    HF_VEC(hf_brute_read) reads;   /* ascending by op */
    HF_VEC(hf_brute_element) elements;
    hf_op_id *read_by; /* per value: the last list read that held it */
    HF_VEC(hf_brute_fault) faults; /* errors at every level: `broken` */
    /* Why a history that looks valid is not known to be; NULL: nothing. */
    char *undecided;
    /* The same, but only where reads matter (above read-uncommitted). */
    char *undecided_reads;
    hf_counters *counters; /* NULL: no increments without results */
} hf_brute_case;

/* The elements of a list read; NULL if the case has none at all. */
static inline const hf_brute_element *hf_brute_elements(const hf_brute_case *c,
                                                        const hf_brute_read *r)
{
    return c->elements.n ? c->elements.at + r->first_element : NULL;
}

typedef struct hf_brute_world {
    uint8_t committed;
    uint8_t n; /* of them */
    uint8_t order[HF_BRUTE_NODES];
    int8_t place[HF_BRUTE_NODES + 1]; /* in the order; initial: -1 */
    hf_relation so, rt, ww, wr, rw, pwr, prw;
    uint8_t *source; /* per read */
    uint8_t *from;   /* per read: the nodes it reads from, wr and pwr */
} hf_brute_world;

/* ---- relations ---------------------------------------------------------- */

static inline void hf_relation_add(hf_relation *r, unsigned from, unsigned to)
{
    r->to[from] |= (uint8_t)(1u << to);
}

static inline bool hf_relation_has(const hf_relation *r, unsigned from,
                                   unsigned to)
{
    return (r->to[from] >> to) & 1u;
}

hf_relation hf_relation_union(hf_relation a, hf_relation b);
hf_relation hf_relation_compose(hf_relation a, hf_relation b); /* a ; b */
hf_relation hf_relation_closure(hf_relation a);                /* a+ */
bool hf_relation_acyclic(hf_relation a);
/* Only the pairs inside `nodes`. */
hf_relation hf_relation_within(hf_relation a, uint8_t nodes);

/* ---- the case ----------------------------------------------------------- */

/* The digest of h restricted to the transactions with kept[t] != 0.  At most
 * HF_BRUTE_NODES of them may be committed or unknown (the caller has looked).
 * sql is borrowed until the case is released.  Fails on input that mixes
 * writes and appends on one key. */
HF_MUST_USE hf_status hf_brute_case_init(hf_brute_case *c, const hf_history *h,
                                         const uint8_t *kept, hf_sql_cache *sql,
                                         hf_error *err);
void hf_brute_case_release(hf_brute_case *c);

void hf_brute_fault_add(hf_brute_case *c, hf_anomaly anomaly, uint8_t node,
                        unsigned n_ops, const hf_op_id *ops);
/* Notes the reason for verdict unknown, if it is the first. */
void hf_brute_undecided(hf_brute_case *c, bool reads_only, const char *format,
                        ...) __attribute__((format(printf, 3, 4)));

/* What a transaction did before the operation at hand, per key. */
typedef struct hf_brute_own {
    uint32_t *write; /* own last write so far, or HF_NONE */
    uint32_t *read;  /* last read so far with no own write before */
    uint32_t *count; /* own writes so far */
} hf_brute_own;

/* Adds a read of an item or an entry of a version set to the case: finds
 * where it may come from, and what is wrong with it whatever the world.  The
 * caller fills op, index, key, value, writer, node, item, predicate and
 * matches. */
void hf_brute_add_read(hf_brute_case *c, hf_brute_read r,
                       const hf_brute_own *own);

/* The same for a list; the caller fills op, key, value, writer, node, item. */
void hf_brute_add_list_read(hf_brute_case *c, hf_brute_read r,
                            const hf_brute_own *own);
/* The last step of both: r has no own write before it. */
void hf_brute_push_read(hf_brute_case *c, hf_brute_read r,
                        const hf_brute_own *own);

/* The reads of one predicate operation or aggregate of a node. */
void hf_brute_add_predicate(hf_brute_case *c, uint8_t node, hf_op_id op,
                            const hf_brute_own *own);

/* brute_counters.c: the same for a key with increments without results; ...  */
void hf_brute_add_counted_read(hf_brute_case *c, hf_brute_read r,
                               const hf_brute_own *own);
/* ... is it what the version of `source` holds in this order, or, after an own
 * write, what that makes of the version before? */
bool hf_brute_counted_fits(const hf_brute_case *c, const hf_brute_world *w,
                           const hf_brute_read *r, uint8_t source);

/* ---- conditions --------------------------------------------------------- */

typedef enum hf_brute_match {
    HF_BRUTE_MATCH_NO = 0, /* false, or null */
    HF_BRUTE_MATCH_YES,
    HF_BRUTE_MATCH_ERROR /* a condition outside of what is understood */
} hf_brute_match;

/* Does a row with this value satisfy the condition?  nil never does.  Only
 * what our own small language says. */
hf_brute_match hf_brute_condition(hf_str condition, hf_scalar row);
/* A column of a row ("value": the whole, of a plain value).  False if there
 * is no such column or the row cannot be read. */
bool hf_brute_column(hf_scalar row, hf_str name, hf_scalar *ret_value);

/* ---- worlds ------------------------------------------------------------- */

/* Who is judged by what. */
typedef struct hf_brute_levels {
    const hf_level_info *all; /* not mixed: all; mixed: those that name none */
    bool mixed;
    const hf_level_info *own[HF_BRUTE_NODES];
    uint8_t readers; /* nodes whose reads matter: not at read-uncommitted */
} hf_brute_levels;

hf_brute_levels hf_brute_levels_of(const hf_brute_case *c, hf_level level,
                                   bool mixed);

typedef struct hf_brute_search {
    const hf_brute_case *c;
    const hf_brute_levels *levels;
    unsigned promised; /* HF_REST_*: only worlds that keep it count */
    hf_budget *budget;
    uint64_t worlds;      /* complete orders tried */
    bool spent;           /* the budget ran out: the answer means nothing */
    hf_brute_world world; /* a valid one, if found */
    uint8_t before[HF_BRUTE_NODES]; /* who must come before each node */
    uint32_t n_open;
    uint32_t *open; /* reads with several sources */
    uint8_t *fixed; /* per read: its source if it has one */
} hf_brute_search;

void hf_brute_search_init(hf_brute_search *s, const hf_brute_case *c,
                          const hf_brute_levels *levels, unsigned promised,
                          hf_budget *budget);
void hf_brute_search_release(hf_brute_search *s);
/* True: s->world is a valid world.  False: there is none, or s->spent. */
bool hf_brute_search_run(hf_brute_search *s);

/* brute_promises.c: the world of the search, all its sources chosen, keeps
 * what is promised. */
bool hf_brute_keeps_promises(const hf_brute_search *s);

/* ---- relations and levels of a world ------------------------------------ */

/* so, rt, ww from the outcome and the order of the world; no reads yet. */
void hf_brute_world_begin(const hf_brute_case *c, hf_brute_world *w);
/* Read r takes the version of w->source[r]. */
void hf_brute_world_read(const hf_brute_case *c, hf_brute_world *w, uint32_t r);
/* The sources of all list reads, as the order implies them; false if a list
 * contradicts the order.  The reads of others than `readers` have none. */
bool hf_brute_world_lists(const hf_brute_case *c, hf_brute_world *w,
                          uint8_t readers);
/* Does version `x` of the key of r differ from the version before it (in the
 * order of w) in satisfying the condition of r? */
bool hf_brute_changes(const hf_brute_case *c, const hf_brute_world *w,
                      const hf_brute_read *r, unsigned x);

/* The level's definition, for the reads of w that have a source. */
bool hf_brute_holds(const hf_brute_case *c, const hf_brute_world *w,
                    const hf_level_info *level);
/* The same, each transaction by its own. */
bool hf_brute_mixed_holds(const hf_brute_case *c, const hf_brute_world *w,
                          const hf_brute_levels *levels);
/* Where t, in a valid world, may start: directly before the commit that is at
 * this place of the order. */
int hf_brute_mixed_start(const hf_brute_world *w, const hf_brute_levels *levels,
                         unsigned t);

/* The parts of both.  Visibility conditions: t2 -> t3, by these edges (pwr
 * among wr). */
hf_relation hf_brute_visible(const hf_brute_world *w, unsigned axiom,
                             hf_relation so, hf_relation wr);
/* If one of `nodes` reads x from t1, another t2 writes x, and t2 is visible to
 * it, then t2 comes before t1. */
bool hf_brute_axiom_holds(const hf_brute_case *c, const hf_brute_world *w,
                          unsigned axiom, hf_relation visible, uint8_t nodes);
/* INT, of these nodes. */
bool hf_brute_internal_holds(const hf_brute_case *c, const hf_brute_world *w,
                             uint8_t nodes);
/* Every pair of the relation stands in this order in the world. */
bool hf_brute_in_order(const hf_brute_world *w, hf_relation r);

/* ---- witnesses and findings --------------------------------------------- */

/* Fills the verdict's witness from a valid world. */
void hf_brute_witness_valid(const hf_brute_case *c, const hf_brute_world *w,
                            const hf_brute_levels *levels, hf_result *result);

typedef HF_VEC(hf_finding) hf_brute_findings;

/* Nodes that happened in every world that is not refused because one of the
 * `readers` read an aborted transaction. */
uint8_t hf_brute_sure(const hf_brute_case *c, uint8_t readers);

/* Appends what is certain and forbidden at the level; the arrays are taken
 * from the arena. */
void hf_brute_find_operations(const hf_brute_case *c,
                              const hf_brute_levels *levels, hf_arena *arena,
                              hf_brute_findings *findings);
void hf_brute_find_cycles(const hf_brute_case *c, const hf_level_info *level,
                          hf_budget *budget, hf_arena *arena,
                          hf_brute_findings *findings);

/* The certain edges between sure nodes: one for each kind and pair. */
typedef struct hf_brute_certain {
    uint8_t sure;
    hf_relation has[HF_EDGE_KIND_COUNT];
    hf_edge edge[HF_EDGE_KIND_COUNT][HF_BRUTE_NODES][HF_BRUTE_NODES];
} hf_brute_certain;

void hf_brute_certain_edges(const hf_brute_case *c, const hf_level_info *level,
                            hf_brute_certain *ret);

/* What is asked about some transactions. */
typedef struct hf_brute_question {
    hf_level level;
    bool mixed;             /* each by its own level */
    unsigned promised;      /* HF_REST_*: what the user assumes */
    hf_sql_dialect dialect; /* of conditions */
    hf_budget *budget;      /* NULL: none */
} hf_brute_question;

/* Are these transactions (at most HF_BRUTE_NODES) possible by themselves?
 * HF_INVALID: no; HF_UNKNOWN: the budget ran out, or what is left of them
 * cannot all be evaluated. */
hf_verdict hf_brute_core(const hf_history *h, const hf_txn_id *txns, uint32_t n,
                         const hf_brute_question *question);

/* If they are impossible by themselves, leaves out one after the other as long
 * as the rest is.  How many are left, the first of txns, ascending; 0: nothing
 * is known.  *ret_minimal: without each that is left the others are possible.
 */
uint32_t hf_brute_shrink(const hf_history *h, hf_txn_id *txns, uint32_t n,
                         const hf_brute_question *question, bool *ret_minimal);

#endif
