/* order_graph.h: the graph of an order search, inside solver/ only. */
#ifndef HF_ORDER_GRAPH_H
#define HF_ORDER_GRAPH_H

#include "solver/order.h"

/* An edge that came with choices. */
typedef struct hf_order_link {
    uint32_t from, to, tag;
    uint32_t next_out, next_in; /* older links of the same node */
    uint32_t first_why, n_why;  /* in whys */
} hf_order_link;

typedef struct hf_order_graph {
    uint32_t n;
    /* known: collected, then by node */
    HF_VEC(uint64_t) collected; /* from << 32 | to */
    uint32_t *out_first, *out_to, *in_first, *in_from;
    /* chosen, in the order in which they came */
    HF_VEC(hf_order_link) links;
    HF_VEC(hf_lit) whys;
    uint32_t n_fixed;             /* the first so many are there for good */
    uint32_t *out_head, *in_head; /* per node: newest link */

    uint32_t on_cycle;      /* a node, after sorting failed */
    uint32_t *place;        /* per node */
    uint32_t *mark;         /* per node: the round it was met in */
    uint32_t *parent, *via; /* per node: how a search came here */
    uint32_t round;
    HF_VEC(uint32_t) stack, ahead, behind;
    HF_VEC(uint32_t) slots;
    HF_VEC(uint32_t) moved; /* nodes whose place the last edge changed */
} hf_order_graph;

void hf_order_graph_init(hf_order_graph *g, uint32_t n);
void hf_order_graph_release(hf_order_graph *g);
/* Known edges by node; called once. */
void hf_order_graph_settle(hf_order_graph *g);
/* Topological order along `hint`; false if there is a cycle, through
 * g->on_cycle. */
bool hf_order_graph_sort(hf_order_graph *g, const uint32_t *hint);
/* Adds a link; false if it closes a cycle: then it is not added. */
bool hf_order_graph_add(hf_order_graph *g, uint32_t from, uint32_t to,
                        uint32_t tag, const hf_lit *why, uint32_t n_why);
/* Removes the newest links until n are left. */
void hf_order_graph_shrink(hf_order_graph *g, size_t n);
/* The way from `from` to `to` with the fewest choices; edge i is a number of a
 * link, or known.  False if there is none.  Only nodes between their places
 * are looked at if `within`. */
typedef struct hf_order_hop {
    uint32_t from, to;
    uint32_t link; /* HF_NO_TAG: known */
} hf_order_hop;
typedef HF_VEC(hf_order_hop) hf_order_way;
bool hf_order_graph_way(hf_order_graph *g, uint32_t from, uint32_t to,
                        bool within, hf_order_way *ret);
/* The shortest cycle of known edges through a node that is on one. */
void hf_order_graph_cycle(hf_order_graph *g, uint32_t node, hf_order_way *ret);

#endif
