/* predicate.h: predicate operations, taken by themselves.  Private to
 * verify/.
 *
 * A predicate operation (or an aggregate) looked at one version of each key
 * of its version set, and returned some.  The versions returned are read as
 * items.  Those looked at and not returned say only that they do not satisfy
 * the condition: we call such a look a view.
 */
#ifndef HF_PREDICATE_H
#define HF_PREDICATE_H

#include "verify/condition.h"
#include "verify/verifier.h"

typedef enum hf_set_fault {
    HF_SET_FINE,
    HF_SET_TWO_VERSIONS, /* one key twice */
    HF_SET_MISMATCH,     /* the condition gives another result */
    HF_SET_UNKNOWN,      /* whether it does cannot be evaluated */
    HF_SET_OPEN          /* no more is known: no version set, or a condition
                            that cannot be evaluated and no result */
} hf_set_fault;

/* The condition of a predicate operation. */
const hf_condition *hf_predicate_condition(hf_verifier *v, hf_op_id op);
hf_match hf_predicate_match(hf_verifier *v, const hf_condition *c,
                            hf_value_id value);

/* What is wrong with the sets of a predicate operation, whatever the other
 * transactions did.  O(entries). */
hf_set_fault hf_predicate_judge(hf_verifier *v, hf_op_id op);

/* How the operation looked at what hf_item_read_at(op, i) says.  The version
 * set comes first, then the rows; what says the same again is skipped. */
typedef enum hf_look_kind {
    HF_LOOK_SKIP,
    HF_LOOK_ITEM,
    HF_LOOK_VIEW
} hf_look_kind;
hf_look_kind hf_look_at(hf_verifier *v, hf_op_id op, uint32_t i);
/* The same for the first look at key. */
hf_look_kind hf_look_at_key(hf_verifier *v, hf_op_id op, hf_key_id key);

#endif
