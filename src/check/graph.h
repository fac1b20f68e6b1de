/* graph.h: the parts of the graph engine, inside check/ only.
 *
 * The engine never stores the dependency graph of a whole history.  It stores
 * what the graph follows from, in flat arrays:
 *
 *   versions   Each key has a block of versions: its initial one, then those
 *              whose order is known (the chain), then the open ones.  A
 *              version is a 32-bit index, so "the next version" is index + 1.
 *   op_role    What an operation means: nothing, reads version i, or
 *              installs version i.
 *   readers    Who reads version i.
 *
 * The edges into a transaction are then a walk over its own operations
 * (graph_walk.c), and a history in which everybody depends on earlier
 * transactions is found acyclic in one pass.  Only components with a cycle are
 * made into a graph with labelled edges (graph_cut.c) to find the shortest
 * ones.
 *
 *   graph_facts.c   outcomes, keys, memory
 *   graph_place.c   writes, certificate, recorded order of transactions
 *   graph_lists.c   version orders from lists that were read
 *   graph_reads.c   what reads mean; anomalies without a cycle
 *   graph_open.c    what is known of versions without a total order
 *   graph_assume.c  --assume: more about the order of versions
 *   graph_pieces.c  the same work by several threads
 *   graph_walk.c    topological order, components
 *   graph_edges.c   the edges into one transaction
 *   graph_cut.c     components as labelled graphs; shortest cycles
 *   graph_weak.c    conditions of the weak levels
 *   graph_stamps.c  snapshot isolation against recorded timestamps
 *   graph_report.c  findings, put in order
 *   graph_finish.c  replaying and completing orders
 *   graph_judge.h   what is asked of all these, and the answer
 */
#ifndef HF_GRAPH_H
#define HF_GRAPH_H

#include "base/budget.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "check/check.h"
#include "history/extra.h"
#include "model/level.h"

/* ---- facts --------------------------------------------------------------- */

/* value_fact.ver: a version, or why there is none. */
#define HF_VER_NOBODY 0xffffffffu  /* nobody wrote it */
#define HF_VER_ABORTED 0xfffffffeu /* its writer aborted */
#define HF_VER_ABSENT 0xfffffffdu  /* ... or need not have happened */
#define HF_VER_INNER 0xfffffffcu   /* its writer overwrote it */
#define HF_VER_SEVERAL 0xfffffffbu /* several may have written it */
#define HF_VER_PENDING 0xfffffffau /* placed later, while building only */
#define HF_VER_MOST 0x7ffffff0u    /* versions are below this */

typedef struct hf_value_fact {
    uint32_t ver;
    hf_op_id op; /* the write; one of them if there are several */
} __attribute__((aligned(8))) hf_value_fact;

/* op_role: version * 2 + 1 for the write that installs it, version * 2 for
 * a read of others; HF_NONE: neither. */
#define HF_ROLE_READ(ver) ((ver)*2)
#define HF_ROLE_WRITE(ver) ((ver)*2 + 1)

/* key_use */
#define HF_USE_LIST 1u    /* appended to */
#define HF_USE_WRITTEN 2u /* written otherwise */
#define HF_USE_BLIND 4u   /* incremented, result not recorded */
#define HF_USE_MURKY 8u   /* a list element has several writers */
#define HF_USE_PATH 32u   /* each version read the one before it */
#define HF_USE_RANKED 16u /* ordered by a recorded order of transactions */

/* One anomaly without a cycle. */
typedef struct hf_place {
    hf_op_id ops[4];
} hf_place;

typedef struct hf_places {
    uint64_t count;
    HF_VEC(hf_place) kept;
} hf_places;

/* What is wrong with the longest list of a key, and from which place on;
 * HF_NONE: it is not there. */
typedef struct hf_bad_list {
    uint32_t first; /* the first of all */
    uint32_t garbage, twice, aborted, upon;
    hf_op_id aborted_op, upon_op;
} hf_bad_list;

/* A pair of versions of one key: `first` is certainly before `then`. */
typedef struct hf_version_pair {
    uint32_t first, then;
    hf_op_id first_op, then_op; /* touch them; HF_NONE: see graph_assume.c */
} hf_version_pair;
typedef HF_VEC(hf_version_pair) hf_version_pairs;

typedef struct hf_pred hf_pred;

/* What a world settles; NULL: as the history has it. */
typedef struct hf_graph_world {
    const uint8_t *happened; /* per transaction */
    const uint32_t *source;  /* per operation: HF_CHOSEN_... of witness.h */
    bool spread; /* and whoever those that happened read from did, too */
    /* entries of version sets that several may have written: op << 32 | key ->
     * writer + 1, 0: the initial version.  NULL: they stay open */
    const hf_map *entries;
    /* per key: lists that say nothing by themselves, their order and sources
     * are the world's (poly_lists.c); NULL: none */
    const uint8_t *loose;
    /* reads of keys with increments without results have sources, as the world
     * says (poly_counters.c); else they are not decided */
    bool counted;
    /* per key, of the graph of a search: HF_USE_RANKED where the recorded order
     * holds; in other keys the search may have another.  NULL: no search */
    const uint8_t *key_use;
} hf_graph_world;

typedef struct hf_graph {
    const hf_history *h;
    const hf_level_info *level;
    hf_budget *budget;
    hf_check_options options;
    hf_graph_world world;
    /* per transaction: the level it is judged by; NULL: all by `level` */
    const hf_level_info *const *own;
    hf_level others; /* with own: of those that name none */
    unsigned rests;  /* HF_REST_* that something below was taken from */
    bool reads_matter;
    bool stopped;   /* the budget is spent */
    bool too_large; /* more versions than there are numbers for */

    uint32_t n_happened;
    uint8_t *happened; /* per transaction: certainly committed */
    bool all_happened; /* all but the aborted ones */
    uint8_t *key_use;
    hf_value_fact *value;
    bool has_lists, has_increments;

    uint32_t n_versions; /* room for so many */
    uint32_t *ver_first; /* per key: its initial version; n_keys + 1 */
    uint32_t *ver_end;   /* per key: after its last version */
    uint32_t *chain_end; /* per key: after the last one of known order */
    hf_txn_id *ver_txn;  /* HF_NONE for an initial version */
    hf_op_id *ver_op;
    uint32_t *op_role;
    uint32_t *op_source; /* read role of increments; NULL if there are none */
    uint32_t *reader_first; /* n_versions + 1 */
    hf_txn_id *reader_txn;

    /* lists; NULL if there are none */
    uint32_t *list_length; /* per value */
    uint32_t *list_kept;   /* ... without elements that do not count */
    uint8_t *list_several; /* ... has an element with several writers */
    uint32_t *list_times;  /* per value: appended so often, by whomever */
    uint8_t *list_on_path; /* per value: a beginning of the longest */
    hf_op_id *longest_op;  /* per key: who read the longest list */
    hf_bad_list *list_bad; /* per key */

    /* open orders; NULL if every key is one chain */
    bool total;
    uint32_t n_open_keys;
    uint8_t *open_key;            /* per key */
    struct hf_counters *counters; /* what keys can hold that have increments
                                     without results; NULL: none have */
    uint32_t *prev;     /* per version: a version certainly before it */
    uint32_t *group_of; /* per version: group of the versions after it */
    uint32_t n_groups;
    uint32_t *group_ver;    /* the version that all of them follow */
    hf_txn_id *group_alone; /* the one that reads it and is one of them */
    uint32_t *pair_first;   /* per version; NULL: no pairs */
    hf_version_pair *pairs; /* pairs[pair_first[v] ..].then == v */
    uint32_t n_pairs;

    /* sessions and time, where the level has them */
    hf_txn_id *session_prev; /* the one that happened before; or NULL */
    uint32_t n_times;
    hf_txn_id *time_txn;   /* in the order of their ends */
    uint32_t *time_before; /* per transaction: how many ended before */

    bool predicates; /* they are judged (pred.h) */
    hf_pred *pred;   /* NULL: not, or there are none */

    hf_places places[HF_G0];   /* by anomaly */
    uint64_t open_reads;       /* reads with several possible sources */
    hf_op_id open_read;        /* one of them */
    HF_VEC(hf_op_id) open;     /* all of them */
    char undecided[320];       /* what items cannot judge; empty: nothing */
    bool undecided_everywhere; /* at read-uncommitted as well */
    HF_VEC(hf_place) odd;      /* lists no version order explains */
    HF_VEC(hf_edge) clashes;   /* certificate against lists: cycles of two */
    hf_version_pairs listed;   /* certified pairs of list keys */
    HF_VEC(uint32_t) circles;  /* cyclic versions: how many ops, then these */
} hf_graph;

static inline bool hf_graph_is_loose(const hf_graph *g, hf_key_id key)
{
    return g->world.loose && g->world.loose[key];
}

static inline bool hf_graph_spent(hf_graph *g)
{
    if (!g->stopped && hf_budget_spent(g->budget))
        g->stopped = true;
    return g->stopped;
}

/* Do t's reads make edges? */
static inline bool hf_graph_reads_matter(const hf_graph *g, hf_txn_id t)
{
    return g->reads_matter && !(g->own && g->own[t]->shape == HF_SHAPE_WW);
}

/* Does t read from a snapshot, by the level that it is judged by? */
static inline bool hf_graph_takes_snapshot(const hf_graph *g, hf_txn_id t)
{
    return (g->own ? g->own[t] : g->level)->shape == HF_SHAPE_SNAPSHOT;
}

/* Is everything understood, and known but for the order of versions? */
static inline bool hf_graph_is_plain(const hf_graph *g)
{
    return g->open_reads == 0 && g->odd.n == 0 && g->clashes.n == 0 &&
           !g->undecided[0];
}

/* Does the level that t is judged by forbid the anomaly? */
static inline bool hf_graph_forbids(const hf_graph *g, hf_txn_id t,
                                    hf_anomaly anomaly)
{
    return hf_level_forbids(g->own ? g->own[t]->level : g->level->level,
                            anomaly);
}

/* Does it want repeated reads of t to agree? */
static inline bool hf_graph_is_internal(const hf_graph *g, hf_txn_id t)
{
    return (g->own ? g->own[t] : g->level)->internal;
}

static inline bool hf_graph_writes(const hf_history *h, hf_op_id op)
{
    return !(h->op_kind[op] & HF_OP_FAILED) &&
           hf_op_installs(hf_op_kind_of(h, op));
}

/* The value a write installs; HF_NONE: an increment without result. */
static inline hf_value_id hf_graph_written(const hf_history *h, hf_op_id op)
{
    return hf_op_kind_of(h, op) == HF_OP_INCREMENT
               ? hf_op_increment(h, op).after
               : h->op_value[op];
}

/* The version that operation o reads from others; HF_NONE: none. */
static inline uint32_t hf_graph_source(const hf_graph *g, hf_op_id o)
{
    if (g->op_source && g->op_source[o] != HF_NONE)
        return g->op_source[o] / 2;
    if (g->op_role[o] != HF_NONE && !(g->op_role[o] & 1u))
        return g->op_role[o] / 2;
    return HF_NONE;
}

/* Versions, what reads mean, which keys are one chain; then the rest.  False
 * if the budget ran out. */
bool hf_graph_build_facts(hf_graph *g);
bool hf_graph_build_edges(hf_graph *g);
void hf_graph_release(hf_graph *g);

/* Notes an anomaly without a cycle; unused ops are HF_NONE. */
void hf_graph_note(hf_graph *g, hf_anomaly anomaly, hf_op_id a, hf_op_id b,
                   hf_op_id c, hf_op_id d);
/* Notes what items alone cannot judge; the first one counts. */
void hf_graph_undecided(hf_graph *g, bool everywhere, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The version that t installed of key; HF_NONE if none. */
uint32_t hf_graph_version_of(const hf_graph *g, hf_txn_id t, hf_key_id key);
/* The first read of others of `key` in t that returned version `ver`. */
hf_op_id hf_graph_read_of(const hf_graph *g, hf_txn_id t, uint32_t ver);
/* Reorders the versions of key: order[i] becomes ver_first[key] + 1 + i. */
void hf_graph_permute(hf_graph *g, hf_key_id key, const uint32_t *order,
                      uint32_t n);

/* The same for reads, once all keys were permuted: map[old] is the new one. */
void hf_graph_remap(hf_graph *g, const uint32_t *map);

/* graph_pieces.c: runs work on items first .. end - 1 of each piece, with a
 * copy of g whose findings are joined to g's afterwards. */
typedef void (*hf_piece_work)(hf_graph *g, void *user, uint32_t piece,
                              uint32_t first, uint32_t end);
uint32_t hf_graph_n_pieces(const hf_graph *g);
void hf_graph_in_pieces(hf_graph *g, uint32_t n_items, hf_piece_work work,
                        void *user);
void hf_graph_release_findings(hf_graph *g);

/* graph_place.c */
bool hf_graph_place_writes(hf_graph *g);
void hf_graph_use_recorded_order(hf_graph *g);
/* graph_lists.c */
void hf_graph_order_lists(hf_graph *g);
/* A list read without own append before it: what it shows besides its
 * source. */
void hf_graph_look_at_list(hf_graph *g, hf_op_id op);
/* A list whose elements of one transaction are torn apart: true if others'
 * stand between them, with two edges that contradict each other; else
 * *ret_torn is the transaction whose elements are missing or out of order. */
bool hf_graph_explain_torn(const hf_graph *g, hf_op_id read, hf_edge *ret,
                           hf_txn_id *ret_torn);
bool hf_graph_ends_with_own(const hf_graph *g, hf_txn_id t, hf_op_id op);
/* graph_reads.c */
bool hf_graph_take_reads(hf_graph *g);
/* The version that operation op of t reads, if it returned value v of key and
 * has no own write before it; notes what is wrong with it. */
uint32_t hf_graph_take_value(hf_graph *g, hf_txn_id t, hf_op_id op,
                             hf_key_id key, hf_value_id v);
void hf_graph_link_readers(hf_graph *g);
void hf_graph_lost_updates(hf_graph *g);
/* graph_open.c */
void hf_graph_open_orders(hf_graph *g);
/* Fills open_key; a key with one open version may become a chain. */
void hf_graph_find_open(hf_graph *g);
/* Registers whose versions each read the one before: a chain after all. */
void hf_graph_find_paths(hf_graph *g);
void hf_graph_sessions_and_time(hf_graph *g);
/* graph_assume.c */
void hf_graph_assume(hf_graph *g, hf_version_pairs *pairs);

/* ---- walking ------------------------------------------------------------- */

/* Which edges count. */
#define HF_WALK_WW (1u << HF_EDGE_WW)
#define HF_WALK_WR (1u << HF_EDGE_WR)
#define HF_WALK_RW (1u << HF_EDGE_RW)
#define HF_WALK_PWR (1u << HF_EDGE_PWR)
#define HF_WALK_PRW (1u << HF_EDGE_PRW)
#define HF_WALK_SO (1u << HF_EDGE_SO)
#define HF_WALK_RT (1u << HF_EDGE_RT)
#define HF_WALK_W (HF_WALK_WW | HF_WALK_WR | HF_WALK_PWR)
#define HF_WALK_A (HF_WALK_RW | HF_WALK_PRW)

typedef enum hf_walk_form {
    HF_WALK_PLAIN,    /* one node a transaction */
    HF_WALK_SNAPSHOT, /* start and commit: an rw edge leaves from the start
                         and enters the commit, all others the reverse */
    HF_WALK_PREFIX,   /* the same, but ww edges enter the commit too */
    HF_WALK_FORM_COUNT
} hf_walk_form;

typedef struct hf_walk {
    hf_graph *g;
    unsigned mask;
    hf_walk_form form;
    /* results */
    bool acyclic;
    uint32_t n_order;
    uint32_t *order; /* transactions; other forms: 2 * t, 2 * t + 1 */
    /* if it is not: per transaction, the component; HF_NONE: alone */
    uint32_t n_components;
    uint32_t *component;
} hf_walk;

/* Topological order if there is one, else components.  False if the budget
 * ran out.  Roots are visited in the order of `hint` (NULL: by id). */
bool hf_walk_run(hf_walk *w, const hf_txn_id *hint, uint32_t n_hint);
void hf_walk_release(hf_walk *w);

/* The graph of a walk, edge by edge, for those who search it themselves.
 * Nodes: transactions (or starts 2t and commits 2t + 1), then those in between
 * that only carry edges on: see hf_walk_nodes. */
typedef struct hf_walk_nodes {
    uint32_t times;  /* first node of an end in real time */
    uint32_t groups; /* first node of a group */
    uint32_t more;   /* first node of a chain of predicates */
    uint32_t n;
} hf_walk_nodes;
hf_walk_nodes hf_walk_count(const hf_walk *w);
typedef void (*hf_walk_edge)(void *user, uint32_t from, uint32_t to);
void hf_walk_edges(const hf_walk *w, hf_walk_edge edge, void *user);

/* The edges into t, one by one: see graph_edges.c. */
typedef struct hf_in_edge {
    hf_edge_kind kind;
    hf_txn_id from;
    hf_key_id key;
    hf_op_id from_op, to_op;
} hf_in_edge;
typedef HF_VEC(hf_in_edge) hf_in_edges;
/* All but rt; the list is cleared first. */
void hf_graph_edges_into(const hf_graph *g, hf_txn_id t, unsigned mask,
                         hf_in_edges *ret);

/* ---- findings ------------------------------------------------------------ */

/* The read that a place is about; HF_NONE: about all its operations. */
hf_op_id hf_place_read(hf_anomaly anomaly, const hf_place *place);
/* By the level of its reader. */
bool hf_place_is_forbidden(const hf_graph *g, hf_anomaly anomaly,
                           const hf_place *place);

typedef HF_VEC(hf_finding) hf_graph_findings;

typedef struct hf_graph_report {
    hf_graph *g;
    hf_arena *arena;
    hf_graph_findings found;
    uint64_t count[HF_ANOMALY_COUNT];
    bool at_least[HF_ANOMALY_COUNT];
} hf_graph_report;

/* Adds the finding if the level forbids it; edges are copied. */
void hf_report_cycle(hf_graph_report *r, hf_anomaly anomaly,
                     const hf_edge *edges, uint32_t n);
void hf_report_places(hf_graph_report *r);
void hf_report_circles(hf_graph_report *r);
/* Proves by enumeration that these few alone are impossible, and leaves out
 * those that are not needed; the array is reordered. */
void hf_report_core(hf_graph_report *r, hf_txn_id *core, uint32_t n);
/* Cycles; only if nothing else was found, proofs by enumeration. */
void hf_report_odd_lists(hf_graph_report *r);
/* Verdict invalid, with all findings; there is at least one. */
void hf_report_deliver(hf_graph_report *report, hf_result *r);
/* Cycles of the level's classes in the components of a walk. */
void hf_report_components(hf_graph_report *r, const hf_walk *w);
/* graph_weak.c: conditions on single reads; adds cycles.  `walk` is a walk
 * over everything that the level has, with its components. */
void hf_report_weak(hf_graph_report *r, const hf_walk *walk);

/* graph_finish.c */
/* Every read of the order sees the state at its place.  `ret` gets the
 * sources of reads that could come from several writes. */
typedef HF_VEC(hf_source) hf_source_list;
bool hf_graph_replay(const hf_graph *g, const hf_txn_id *order, uint32_t n,
                     hf_source_list *ret);
/* Where every key is one chain: is this order of all that happened a serial
 * one? */
bool hf_graph_is_serial(const hf_graph *g, const hf_txn_id *order, uint32_t n);
/* graph_cut.c: HF_REST_* that the order of versions behind these edges was
 * taken from, besides the history itself. */
unsigned hf_graph_rests_of(const hf_graph *g, const hf_edge *edges, uint32_t n);
/* Gives every key one chain: its versions in this order of transactions. */
void hf_graph_complete(hf_graph *g, const hf_txn_id *order, uint32_t n);
/* What would decide it; in the arena. */
char *hf_graph_missing(const hf_graph *g, hf_arena *arena);

/* Who reads a version: reader_txn[first .. end - 1].  Nobody, where reads do
 * not matter. */
static inline uint32_t hf_graph_first_reader(const hf_graph *g, uint32_t ver)
{
    return g->reader_first ? g->reader_first[ver] : 0;
}

static inline uint32_t hf_graph_end_reader(const hf_graph *g, uint32_t ver)
{
    return g->reader_first ? g->reader_first[ver + 1] : 0;
}

/* graph_stamps.c: true if it decided (result filled). */
bool hf_graph_stamps(hf_graph *g, hf_result *r);

#endif
