/* cycle.h: cycles of edges, between the files that check them.  Private to
 * verify/. */
#ifndef HF_CYCLE_H
#define HF_CYCLE_H

#include "verify/certain.h"

/* A part of the witness's edges. */
typedef struct hf_cycle {
    const hf_edge *edges;
    uint32_t n;
} hf_cycle;

typedef struct hf_cycle_shape {
    uint32_t n[HF_EDGE_KIND_COUNT];
    uint32_t anti; /* rw and prw */
    bool adjacent; /* two anti-dependencies follow each other */
    bool one_key;  /* all ww edges are of one key */
} hf_cycle_shape;

static inline bool hf_edge_is_anti(hf_edge_kind kind)
{
    return kind == HF_EDGE_RW || kind == HF_EDGE_PRW;
}

static inline bool hf_edge_is_read(hf_edge_kind kind)
{
    return kind == HF_EDGE_WR || kind == HF_EDGE_PWR;
}

/* cycle_shape.c */
hf_cycle_shape hf_cycle_shape_of(const hf_cycle *w);
/* If its edges are there.  Linear in the cycle. */
bool hf_level_forbids_cycle(const hf_verifier *v, const hf_cycle *w,
                            const hf_cycle_shape *s);

/* cycle.c.  Those that return whether something holds of an edge or a cycle
 * and take the verifier refuse where it does not. */
bool hf_refuse_edge(hf_verifier *v, const hf_edge *e, const char *why);
/* Each edge ends where the next begins, and no transaction comes twice. */
bool hf_cycle_closes(hf_verifier *v, const hf_cycle *cycle);
/* The key exists, and so do the operations, in the edge's transactions. */
bool hf_edge_ops_are_theirs(hf_verifier *v, const hf_edge *e);
/* Session order or real time. */
bool hf_check_order_edge(hf_verifier *v, const hf_edge *e);
/* pwr or prw: it is there in every world where its ends happened. */
bool hf_check_predicate_edge(const hf_certain *c, const hf_cycle *cycle,
                             const hf_edge *e);
/* A strict reads-from edge is what makes a transaction visible under the
 * axiomatic levels; where only cycles count, a path of ww and pwr will do. */
bool hf_needs_strict_reads(const hf_verifier *v, const hf_cycle *cycle);
bool hf_writes_key(const hf_history *h, hf_op_id op, hf_key_id key);
/* The value that a read of key returned, or the last element of the list. */
hf_value_id hf_version_read(hf_verifier *v, hf_op_id op, hf_key_id key);
/* ww: a list has the element of the one before that of the other. */
bool hf_elements_show(const hf_certain *c, const hf_edge *e);
/* rw: none of t's elements is in the list that op read. */
bool hf_is_missing_in_list(hf_verifier *v, hf_op_id op, hf_key_id key,
                           hf_txn_id t);

#endif
