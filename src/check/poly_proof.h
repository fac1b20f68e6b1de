/* poly_proof.h: a proof in the making, inside check/ only. */
#ifndef HF_POLY_PROOF_H
#define HF_POLY_PROOF_H

#include "check/poly.h"

/* An edge on its way into the proof. */
typedef struct hf_told_edge {
    hf_edge e;
    uint32_t chosen;
    uint32_t forced; /* the forced pair it comes from; HF_NONE */
} hf_told_edge;
typedef HF_VEC(hf_told_edge) hf_told_edges;

/* A cycle on its way into the proof. */
typedef struct hf_poly_cycle {
    uint32_t first, n; /* in prover.all */
} hf_poly_cycle;

typedef struct hf_prover {
    hf_poly *p;
    hf_in_edges in;
    hf_told_edges cycle; /* the one at hand */
    hf_told_edges all;   /* of all cycles */
    /* forced pairs that are used: their cycles, then their steps */
    uint32_t *forced_cycle; /* per forced pair: in cycles; HF_NONE */
    uint32_t *forced_step;
    HF_VEC(uint32_t) waiting;
    HF_VEC(hf_poly_cycle) cycles;
    /* known and forced edges by node, for the cycles of forced pairs */
    uint32_t *first, *to;
    uint32_t *from, *queue, *met; /* per node */
    uint32_t n_met;
    /* known edges of events (poly_events.c) */
    hf_map event_of; /* from << 32 | to -> number in events */
    HF_VEC(hf_event_label) events;
    /* the proof */
    hf_told_edges edges;
    HF_VEC(hf_step) steps;
    HF_VEC(uint32_t) used;
} hf_prover;

/* poly_labels.c */
/* Nodes that only carry edges on disappear, so does a step from the start of a
 * transaction to its commit: fills v->cycle. */
void hf_prover_label_way(hf_prover *v, const hf_order_step_edge *e, uint32_t n);
void hf_prover_label_cycle(hf_prover *v, const hf_order_step_edge *e,
                           uint32_t n);
/* Of "atom a is before b": from the last writer of the one, or a reader. */
hf_edge hf_poly_pair_edge(const hf_poly *p, hf_txn_id from, uint32_t a,
                          uint32_t b);
/* Known edges of events, by their nodes. */
void hf_prover_note_event(void *user, uint32_t from, uint32_t to,
                          hf_event_label label);
/* From one transaction to another, by its label. */
hf_edge hf_poly_event_edge(const hf_graph *g, hf_event_label l, hf_txn_id from,
                           hf_txn_id to);
/* Where an edge enters its transaction, and where it leaves one. */
uint32_t hf_poly_enters_at(const hf_poly *p, const hf_edge *e);
uint32_t hf_poly_leaves_from(const hf_poly *p, const hf_edge *e);

#endif
