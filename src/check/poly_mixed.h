/* poly_mixed.h: one world of mixed levels, inside check/ only. */
#ifndef HF_POLY_MIXED_H
#define HF_POLY_MIXED_H

#include "check/poly.h"

typedef struct hf_mixed_edge {
    uint32_t from, to;
    hf_event_label label;
} hf_mixed_edge;

typedef struct hf_mixed {
    const hf_poly *search; /* that suggested the world */
    hf_graph *g;           /* of the world, every order known */
    hf_poly events;        /* its nodes and edges */
    uint32_t n_nodes;
    HF_VEC(hf_mixed_edge) edges;
    uint32_t *first, *by_from; /* edges by node */
    uint32_t *waits;           /* per node */
    HF_VEC(uint32_t) order;    /* of nodes, as far as it goes */
    HF_VEC(uint64_t) ready;    /* rank << 32 | node: a heap */
    uint32_t *met, *via, round;
    HF_VEC(uint32_t) queue;
    hf_arena *arena;
    hf_graph_findings *ret;
} hf_mixed;

#define HF_MIXED_MOST 16u /* cycles of one world */

void hf_mixed_report(hf_mixed *m, const hf_edge *edges, uint32_t n);
/* poly_sight.c: the levels that are no order of events. */
void hf_mixed_check_visible(hf_mixed *m);

static inline const hf_level_info *hf_mixed_own(const hf_mixed *m, hf_txn_id t)
{
    return m->g->own[t];
}

#endif
