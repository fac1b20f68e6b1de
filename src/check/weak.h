/* weak.h: the parts of the weak engine, inside check/ only.
 *
 * A weak level wants an order of all transactions, the commit order, that
 * contains session order (where the level has it), reads-from and what is
 * known of the order of versions; and if t3 reads x from t1, t2 also writes
 * x, and t2 is visible to t3, then t2 comes before t1.  Where every read has
 * one source, who is visible to whom is fixed, so each such triple is an edge
 * t2 -> t1 that every commit order must have: a forced edge.  The history is
 * valid exactly if all edges together have no cycle.
 *
 * Few of them are ever needed.  In an order of the known edges, a read that
 * returns the newest version at its place has all visible writers behind it,
 * whatever visible means.  So:
 *
 *   1. put the transactions in an order of the known edges, near the one in
 *      which they were recorded                          (weak_order.c)
 *   2. of each read that is stale in it forced edges are added: one that the
 *      order breaks, if it is soon found (weak_near.c), else all it has
 *      (weak_direct.c, weak_session.c, weak_causal.c): it is expanded
 *   3. order again, as near to the last as can be; until no edge is added,
 *      or there is a cycle                               (weak_engine.c)
 *   4. a cycle is told                     (weak_report.c, weak_proof.c)
 *
 * Only the newest visible writer of a session is needed where session order
 * is part of the commit order.
 */
#ifndef HF_WEAK_H
#define HF_WEAK_H

#include "check/graph.h"

/* `from` comes before `to`, both transactions, or nodes that stand for sets
 * of them (n_txns and above): `from` is one of the set, or all of the set come
 * before `to`.  `read` is the read that forces it; HF_NONE: known, or between
 * nodes. */
typedef struct hf_weak_edge {
    uint32_t from, to;
    hf_op_id read;
} hf_weak_edge;

/* A read of something older than the initial version's successors: t2 is
 * visible and the read returned the initial version. */
typedef struct hf_weak_miss {
    hf_txn_id t2;
    hf_op_id read;
} hf_weak_miss;

/* A transaction by its session. */
typedef struct hf_weak_placed {
    hf_session_id session;
    uint32_t pos; /* in session_txns */
} hf_weak_placed;

typedef struct hf_weak {
    hf_graph *g;
    const hf_history *h;
    unsigned axiom; /* HF_AXIOM_* */

    /* known edges into each transaction: session, sources */
    uint32_t *dep_first; /* n_txns + 1 */
    hf_txn_id *dep;
    bool in_file_order;     /* they all lead forward in the file */
    hf_version_pairs pairs; /* known besides chains */

    /* forced edges, and known orders of versions */
    HF_VEC(hf_weak_edge) edges;
    HF_VEC(hf_weak_miss) missed;
    uint32_t n_nodes;   /* transactions and sets */
    uint32_t *in_first; /* n_nodes + 1: edges by `to`; NULL: none yet */
    uint32_t *in;       /* places in edges */

    uint32_t *order; /* transactions */
    uint32_t n_order;
    uint32_t *first_place; /* per transaction: place in the first order */

    bool all;       /* reads are expanded whether stale or not, and fully */
    uint8_t *state; /* per operation: HF_WEAK_* */
    HF_VEC(hf_txn_id) stale; /* those with reads that are to be expanded */

    /* by session; filled when first needed */
    uint32_t *pos;        /* per transaction: its place in session_txns */
    uint32_t *writer_at;  /* blocks as versions: places of writers, ascending */
    uint32_t *part_first; /* per key: its parts; n_keys + 1 */
    uint32_t *part;       /* where in the block each session begins */
    hf_session_id *part_session;
    struct hf_weak_clocks *clocks; /* weak_causal.c */
    uint32_t *met_first, *met_at;  /* weak_near.c: places of readers */

    /* the writers of each key in the order in hand, in blocks as versions;
     * where each version is; where those so far end */
    hf_weak_placed *line;
    uint32_t *line_at;
    uint32_t *line_end;

    /* per operation, for transactions with many: writes sorted by key */
    struct hf_weak_long *longs;
} hf_weak;

/* hf_weak.state */
#define HF_WEAK_STALE 1u    /* to be expanded now */
#define HF_WEAK_EXPANDED 2u /* its forced edges are there */

static inline hf_txn_id hf_weak_source(const hf_weak *w, hf_op_id read)
{
    return w->g->ver_txn[hf_graph_source(w->g, read)];
}

static inline bool hf_weak_is_stale(const hf_weak *w, hf_op_id o)
{
    return w->state[o] == HF_WEAK_STALE;
}

/* t2 is visible to the reader; it comes before what the read returned. */
void hf_weak_force(hf_weak *w, hf_txn_id t2, hf_op_id read);

/* weak_order.c */
void hf_weak_build(hf_weak *w);
/* Orders the transactions, near the last order; false: there is a cycle, or
 * the budget is spent. */
bool hf_weak_sort(hf_weak *w);
/* Fills first_place, if that was not done: from the order in hand. */
void hf_weak_note_places(hf_weak *w);
/* Marks what is stale in the order (`all`: or not) and was not expanded. */
void hf_weak_find_stale(hf_weak *w);
void hf_weak_release(hf_weak *w);
/* Components with a cycle, of all edges; per node, HF_NONE: alone.  The
 * caller frees it. */
uint32_t *hf_weak_components(hf_weak *w, uint32_t *ret_n);
void hf_weak_index_edges(hf_weak *w);

/* weak_writes.c: who writes what. */
/* Does t install a version of the key?  HF_NONE: no. */
uint32_t hf_weak_version_of(hf_weak *w, hf_txn_id t, hf_key_id key);
/* Fills pos; and that with all by session. */
void hf_weak_index_places(hf_weak *w);
void hf_weak_index_sessions(hf_weak *w);
/* The last writer of the key in the session of place `first`, at a place
 * before `end` and not before `first`; HF_NONE: none. */
hf_txn_id hf_weak_last_writer(const hf_weak *w, hf_key_id key, uint32_t first,
                              uint32_t end);

/* weak_near.c: goes along an order; both begin with no writers. */
void hf_weak_line_begin(hf_weak *w);
void hf_weak_line_up(hf_weak *w, hf_txn_id t);

/* Each adds forced edges of stale reads.  The first takes those with few
 * writers behind them off the list. */
void hf_weak_expand_near(hf_weak *w);
void hf_weak_expand_direct(hf_weak *w);
void hf_weak_expand_sessions(hf_weak *w);
void hf_weak_expand_causal(hf_weak *w);
void hf_weak_release_clocks(hf_weak *w);

/* weak_way.c: the edges by which t2 is visible to the reader of `read`; the
 * vector is cleared first. */
typedef HF_VEC(hf_edge) hf_weak_edges;
void hf_weak_way(hf_weak *w, hf_txn_id t2, hf_op_id read, hf_weak_edges *ret);

/* weak_report.c: the order has a cycle; adds findings. */
void hf_weak_report(hf_weak *w, hf_graph_report *r);
/* weak_proof.c: the same for the components of known and forced edges. */
void hf_weak_prove(hf_weak *w, hf_graph_report *r);

/* Version `first` is before `then` in every world, as verify sees it. */
bool hf_weak_is_certain(const hf_weak *w, uint32_t first, uint32_t then);

#endif
