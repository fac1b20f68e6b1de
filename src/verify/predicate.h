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

#include "base/ratio.h"
#include "verify/condition.h"
#include "verify/entries.h"

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
/* Compiled once in a session; HF_NONE, a value that is not known, gives
 * HF_MATCH_UNKNOWN.  match.c. */
const hf_condition *hf_match_compile(hf_verifier *v, hf_str text);
hf_match hf_predicate_match(hf_verifier *v, const hf_condition *c,
                            hf_value_id value);
/* As hf_condition_bounds(); kept. */
const hf_bounds *hf_predicate_bounds(hf_verifier *v, const hf_condition *c);
/* Is it no condition at all, but TRUE? */
bool hf_predicate_is_true(const hf_condition *c);

/* What is wrong with the sets of a predicate operation, whatever the other
 * transactions did.  O(entries), for a snapshot O(keys of its table). */
hf_set_fault hf_predicate_judge(hf_verifier *v, hf_op_id op);

/* The same in parts, for one that knows which entries of a snapshot matter:
 * those that satisfy the condition, or may, one by one; or `gap`: they are
 * not known. */
typedef struct hf_tally {
    bool gap, unknown, mismatch;
    uint32_t n_returned;      /* entries that are among the rows */
    int64_t all, n;           /* matches; those whose column is not nil */
    hf_wide sum, least, most; /* in units of HF_DECIMAL_ONE */
    hf_str first, last;       /* the same of texts */
    int64_t n_texts;
    bool incomplete; /* a row without the column */
    bool mixed;      /* not all numbers */
    bool decimal;    /* not all integers */
    bool overflow;   /* of the sum */
} hf_tally;

void hf_tally_begin(hf_verifier *v, hf_op_id op, hf_tally *ret);
void hf_tally_add(hf_verifier *v, const hf_item_read *entry, hf_tally *t);
hf_set_fault hf_tally_end(hf_verifier *v, hf_tally *t);
/* What an aggregate is; averages to six digits.  False if it cannot be said.
 * Texts are in the arena or borrowed from the history; tally_total.c. */
bool hf_tally_total(hf_verifier *v, hf_op_id op, const hf_tally *t,
                    hf_arena *arena, hf_scalar *ret);

/* All snapshots of the history at once; sweep.c.  Per operation, NULL if the
 * budget is spent. */
const uint8_t *hf_judge_snapshots(hf_verifier *v);

/* As hf_item_read_at(), but a row of an operation with a snapshot is the
 * version looked at. */
hf_item_read hf_read_at(hf_verifier *v, hf_op_id op, uint32_t i);

/* How the operation looked at what hf_read_at(op, i) says.  The version
 * set comes first, then the rows; what says the same again is skipped.  Of a
 * snapshot only the rows are listed: ask for the other entries by key. */
typedef enum hf_look_kind {
    HF_LOOK_SKIP,
    HF_LOOK_ITEM,
    HF_LOOK_VIEW
} hf_look_kind;
hf_look_kind hf_look_at(hf_verifier *v, hf_op_id op, uint32_t i);
/* The same for the first look at key. */
hf_look_kind hf_look_at_key(hf_verifier *v, hf_op_id op, hf_key_id key);
/* What op read of key first; false if it did not. */
bool hf_read_of_key(hf_verifier *v, hf_op_id op, hf_key_id key,
                    hf_item_read *ret);

#endif
