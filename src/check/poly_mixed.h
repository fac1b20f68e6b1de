/* poly_mixed.h: one world of mixed levels, inside check/ only. */
#ifndef HF_POLY_MIXED_H
#define HF_POLY_MIXED_H

#include "check/poly_worlds.h"

typedef struct hf_mixed_edge {
    uint32_t from, to;
    hf_event_label label;
    uint32_t named; /* of a condition: in `named`; else HF_NONE */
} hf_mixed_edge;

typedef struct hf_mixed {
    const hf_poly *search; /* that suggested the world */
    hf_graph *g;           /* of the world, every order known */
    hf_poly events;        /* its nodes and edges */
    uint32_t n_nodes;
    HF_VEC(hf_mixed_edge) edges;
    hf_looks looks;            /* by transaction */
    uint32_t *look_first;      /* n_txns + 1; NULL: no conditions */
    HF_VEC(hf_edge) named;     /* the edges of looks */
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
/* poly_mixed_looks.c */
void hf_mixed_list_looks(hf_mixed *m);
void hf_mixed_link_looks(hf_mixed *m); /* adds their edges */
/* The first version of another than t, after the one looked at, that t should
 * have seen if it is visible; HF_NONE: there is none. */
uint32_t hf_mixed_later(const hf_mixed *m, hf_txn_id t, const hf_look *look);
/* Does version ver change the matches of the condition looked at? */
bool hf_mixed_changes(const hf_mixed *m, const hf_look *look, uint32_t ver);
/* All edges by which t reads from somebody through the look. */
typedef void (*hf_mixed_source)(void *user, hf_edge e);
void hf_mixed_sources(const hf_mixed *m, hf_txn_id t, const hf_look *look,
                      hf_mixed_source work, void *user);

/* poly_sight.c: the levels that are no order of events. */
void hf_mixed_check_visible(hf_mixed *m);

static inline const hf_level_info *hf_mixed_own(const hf_mixed *m, hf_txn_id t)
{
    return m->g->own[t];
}

#endif
