/* labelled.h: a graph with edges of several kinds, and its shortest cycles.
 *
 * For the small part of a history that has cycles: what is wanted there is
 * the shortest cycle of each class, with the operations behind its edges.
 */
#ifndef HF_LABELLED_H
#define HF_LABELLED_H

#include "base/budget.h"
#include "base/vec.h"
#include "model/witness.h"

/* A step into or along a chain: of a session, of ends in real time, of the
 * versions of a key.  It costs nothing and is not part of a cycle's length.
 * The chain is left by an edge of a real kind, so that one edge can lead from
 * any transaction to any later one. */
#define HF_LABEL_FREE HF_EDGE_KIND_COUNT

typedef struct hf_labelled_edge {
    uint32_t from, to; /* nodes */
    unsigned kind;     /* hf_edge_kind or HF_LABEL_FREE */
    hf_key_id key;
    hf_op_id from_op, to_op;
} hf_labelled_edge;

typedef struct hf_labelled {
    uint32_t n_nodes;
    uint32_t n_real; /* the others, behind these, are parts of chains */
    HF_VEC(hf_labelled_edge) edges; /* sorted by `from` once finished */
    uint32_t *first;                /* per node; n_nodes + 1 entries */
} hf_labelled;

void hf_labelled_init(hf_labelled *g, uint32_t n_real, uint32_t n_nodes);
void hf_labelled_add(hf_labelled *g, hf_labelled_edge e);
/* After the last edge. */
void hf_labelled_finish(hf_labelled *g);
void hf_labelled_release(hf_labelled *g);

/* Classes of cycles by their anti-dependencies. */
typedef enum hf_cycle_class {
    HF_CLASS_G0,          /* ww */
    HF_CLASS_G1C,         /* ww and wr, at least one wr */
    HF_CLASS_SINGLE,      /* one rw */
    HF_CLASS_NONADJACENT, /* two rw or more, never next to each other */
    HF_CLASS_G2,          /* two rw next to each other */
    HF_CLASS_PREFIX,      /* each rw follows a wr or so; at least one rw */
    HF_CLASS_CAUSAL,      /* one rw; ww of its key; then wr and so only */
    HF_CLASS_COUNT
} hf_cycle_class;

/* Which orders besides dependencies: none; at least one so and no rt; at least
 * one rt. */
typedef enum hf_cycle_form {
    HF_FORM_PLAIN,
    HF_FORM_SESSION,
    HF_FORM_REALTIME,
    HF_FORM_ANY,
    HF_CYCLE_FORM_COUNT
} hf_cycle_form;

typedef struct hf_cycle_search {
    const hf_labelled *graph;
    hf_cycle_class class_; /* trailing: the word is taken in C++ */
    hf_cycle_form form;
    /* Steps it may take before it settles for a cycle that may not be the
     * shortest; 0: no limit. */
    uint64_t most_steps;
    hf_budget *budget; /* may be NULL */
    /* results */
    uint32_t *cycle; /* edges, in order; the caller frees it with hf_free() */
    uint32_t n;      /* 0: none */
    bool gave_up;    /* steps or budget ran out: there may be (shorter) ones */
} hf_cycle_search;

/* The shortest simple cycle of the class. */
void hf_cycle_search_run(hf_cycle_search *s);

#endif
