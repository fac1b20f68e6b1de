/* order.h: instants, what is known of their order, and when that is too much.
 *
 * A node is an instant that lies in an interval; an edge says that one is
 * before another.  An edge that its intervals already show is not needed: so
 * a graph holds the few edges between instants whose intervals overlap.  The
 * instants exist exactly if there is no cycle of edges and no path along
 * which a least time exceeds a greatest one.  For the first, an order of the
 * nodes is kept up (Pearce and Kelly); for the second, bounds are passed on
 * along edges as they come.  Both are told when an edge comes, by the edge.
 *
 * Nodes come and go, unlike those of solver/order_graph.h, which keeps an
 * order of a fixed set under edges that are taken back.
 */
#ifndef HF_WATCH_ORDER_H
#define HF_WATCH_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"

typedef struct hf_order_node {
    uint64_t name; /* who it is: unique */
    uint64_t txn;  /* the client's; what: of it */
    uint64_t lo, hi;
    uint32_t lo_by, hi_by; /* the edge that set the bound, UINT32_MAX: none */
    uint32_t out, in;      /* newest edge */
    uint32_t n_in;
    uint32_t place; /* in the order */
    uint32_t mark;
    uint32_t via; /* edge by which the search came here */
    uint32_t what;
} hf_order_node;

typedef struct hf_order_edge {
    uint32_t from, to;
    uint32_t next_out, next_in; /* kept by the graph */
    uint32_t key;               /* the rest is the client's */
    uint8_t kind;
    bool is_forced;
} hf_order_edge;

typedef struct hf_order_trail {
    uint32_t node, lo_by, hi_by;
    uint64_t lo, hi;
} hf_order_trail;

typedef struct hf_watch_order {
    HF_VEC(hf_order_node) nodes;
    HF_VEC(hf_order_edge) edges;
    hf_map by_name;
    uint32_t round;
    uint32_t next_place;
    size_t kept; /* nodes after the last collection */
    HF_VEC(uint32_t) stack;
    HF_VEC(uint32_t) ahead;
    HF_VEC(uint32_t) behind;
    HF_VEC(hf_sortable) sorted;
    HF_VEC(hf_sortable) free_places;
    HF_VEC(hf_order_trail) trail;
    /* What was found wrong: its edges, a cycle; or the chain that leads from
     * the node with a least time to the one with a greatest that it exceeds,
     * through the one where they met. */
    HF_VEC(uint32_t) path;
    uint32_t low, high; /* these two; UINT32_MAX: it is a cycle */
} hf_watch_order;

void hf_watch_order_init(hf_watch_order *g);
void hf_watch_order_release(hf_watch_order *g);

/* UINT32_MAX: there is no node of this name. */
uint32_t hf_watch_order_look(const hf_watch_order *g, uint64_t name);
/* A new node. */
uint32_t hf_watch_order_node(hf_watch_order *g, uint64_t name, uint64_t lo,
                             uint64_t hi);

/* Makes the interval of a node smaller, and passes it on.  False: somewhere
 * it became empty; g->path tells, and all is as before. */
bool hf_watch_order_bound(hf_watch_order *g, uint32_t node, uint64_t lo,
                          uint64_t hi);

/* Adds an edge, unless it is there.  False: there is a cycle or, with_bounds,
 * an interval became empty; g->path tells, and all is as before. */
bool hf_watch_order_add(hf_watch_order *g, hf_order_edge e, bool with_bounds);

/* Forgets nodes whose interval ends before `horizon`, and edges to them. */
void hf_watch_order_forget(hf_watch_order *g, uint64_t horizon);
/* Without bounds: those of them that nothing leads to, again and again. */
void hf_watch_order_forget_first(hf_watch_order *g, uint64_t horizon);

size_t hf_watch_order_bytes(const hf_watch_order *g);

#endif
