/* part_cut.h: the pieces that cut a history, inside history/ only. */
#ifndef HF_PART_CUT_H
#define HF_PART_CUT_H

#include "base/vec.h"
#include "history/builder.h"
#include "history/part.h"

typedef HF_VEC(hf_key_id) hf_cut_keys;

/* A part that is being made. */
typedef struct hf_cut {
    const hf_parts *p;
    const hf_history *h; /* the whole */
    hf_part *ret;
    hf_builder *b;
    uint32_t n_keys, n_txns;
    HF_VEC(hf_op_id) ops;
} hf_cut;

/* part.c */
/* Where it is among ascending ones; HF_NONE: nowhere. */
uint32_t hf_cut_find(const uint32_t *at, uint32_t n, uint32_t wanted);
/* Does somebody write the value who is gone? */
bool hf_cut_is_outside(const hf_cut *c, hf_value_id v);
/* Does somebody write the key who is gone? */
bool hf_cut_is_shared(const hf_cut *c, hf_key_id key);
/* Own key, value of the whole. */
hf_value_id hf_cut_add_value(hf_cut *c, hf_key_id key, hf_value_id v);

/* part_conditions.c */
/* Adds the keys of the whole that what is left of a predicate operation speaks
 * of, some perhaps twice. */
void hf_cut_condition_keys(const hf_cut *c, hf_op_id op, hf_cut_keys *ret);
/* What is left of it is an operation of t, of the part; false: nothing is. */
bool hf_cut_add_condition(hf_cut *c, hf_txn_id t, hf_op_id op);

#endif
