/* counters.h: keys with increments whose results were not recorded, inside
 * check/ only.
 *
 * What such a key holds follows from the order of its versions: each is what
 * the operations of its transaction make of the one before.  Nil, and what is
 * no number, counts as 0 where something is added to it; sums are exact
 * (docs/semantics.md, "Increments").
 */
#ifndef HF_CHECK_COUNTERS_H
#define HF_CHECK_COUNTERS_H

#include "base/ratio.h"
#include "base/vec.h"
#include "history/extra.h"

/* A number, or a value that is none.  Whole numbers are added to it: what is
 * behind the point stays as it was set. */
typedef struct hf_amount {
    bool is_number;
    hf_wide number; /* the whole part, rounded down */
    hf_wide rest;   /* behind the point, of HF_DECIMAL_ONE */
    hf_value_id value;
} hf_amount;

hf_amount hf_amount_of(const hf_history *h, hf_value_id v);
hf_amount hf_amount_first(const hf_history *h, hf_key_id key);
bool hf_amount_eq(hf_amount a, hf_amount b);
/* What is no number counts as 0. */
hf_amount hf_amount_plus(hf_amount a, hf_wide added);

/* What the operations of t before `end` do to a key. */
typedef struct hf_counting {
    bool writes, sets; /* sets: whatever was there before */
    hf_amount left;    /* sets: what is there then */
    hf_wide added;     /* else: so much is added */
} hf_counting;

hf_counting hf_counting_of(const hf_history *h, hf_txn_id t, hf_key_id key,
                           hf_op_id end);
hf_amount hf_counting_on(hf_amount before, const hf_counting *c);
/* May all that t does to the key have left the value, in some order? */
bool hf_counting_leaves(const hf_history *h, hf_txn_id t, hf_key_id key,
                        hf_value_id v);

/* What these keys can ever hold, whoever added to them. */
typedef struct hf_counters hf_counters;
hf_counters *hf_counters_new(const hf_history *h); /* caller frees */
void hf_counters_free(hf_counters *c);
bool hf_counters_reach(const hf_counters *c, hf_key_id key, hf_value_id v);

#endif
