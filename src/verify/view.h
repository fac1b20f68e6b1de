/* view.h: what the steps of a proof say, for those who explain it.
 *
 * A proof that was checked, as facts: which of them its cycles take for
 * granted, and which of those are known anyway.
 */
#ifndef HF_VIEW_H
#define HF_VIEW_H

#include "verify/verify.h"

typedef enum hf_fact_kind {
    HF_FACT_BEFORE,  /* the version of a of key is before that of b */
    HF_FACT_FROM,    /* read op returns the version of a (HF_NONE: initial) */
    HF_FACT_HAPPENED /* a happened */
} hf_fact_kind;

/* Of versions and reads that are one, a, b and op are the first of them. */
typedef struct hf_fact {
    hf_fact_kind kind;
    hf_key_id key;
    hf_txn_id a, b;
    hf_op_id op;
} hf_fact;

/* Both: what is known contradicts itself, there is no good world. */
typedef enum hf_known {
    HF_OPEN = 0,
    HF_KNOWN_TRUE,
    HF_KNOWN_FALSE,
    HF_KNOWN_BOTH
} hf_known;

/* A literal is 2 * fact, or 2 * fact + 1 for its negation. */
typedef struct hf_proof_view {
    uint32_t n_facts;
    hf_fact *facts;
    uint8_t *known; /* hf_known */
    /* step i, if it is no resolution: at least one of the literals
     * literals[first[i] .. first[i + 1] - 1] */
    size_t *first;
    uint32_t *literals;
    /* per edge: the literals it takes for granted, or HF_NONE */
    uint32_t *edge_before, *edge_from;
} hf_proof_view;

/* Checks a proof as hf_verify_claim_in() does and keeps what its steps say, in
 * the arena.  False if one that rests on the history is refused, or the budget
 * ran out; ret_accepted (may be NULL) says whether the whole is accepted. */
bool hf_verify_view(hf_verify_session *session, const hf_claim *claim,
                    hf_budget *budget, hf_arena *arena, hf_proof_view *ret,
                    bool *ret_accepted);

#endif
