/* counters.h: keys with increments whose results were not recorded.  Private
 * to verify/.
 *
 * What such a key holds follows from the order of its versions: each is what
 * the operations of its transaction make of the one before.  Nil, and what is
 * no number, counts as 0 where something is added to it; sums are exact.
 */
#ifndef HF_VERIFY_COUNTERS_H
#define HF_VERIFY_COUNTERS_H

#include "base/ratio.h"
#include "verify/verifier.h"

/* What a key holds: a number (its whole part, rounded down, and what is behind
 * the point, of HF_DECIMAL_ONE), or a value that is none. */
typedef struct hf_held {
    bool is_number;
    hf_wide number, rest;
    hf_value_id value;
} hf_held;

hf_held hf_held_of(const hf_history *h, hf_value_id v);
bool hf_held_is_same(hf_held a, hf_held b);

/* What the operations of t before `end` do to a key. */
typedef struct hf_counted {
    bool writes, sets; /* sets: whatever was there before */
    hf_held held;      /* sets: what is there then */
    hf_wide added;     /* else: so much is added */
} hf_counted;

hf_counted hf_count_of(const hf_history *h, hf_txn_id t, hf_key_id key,
                       hf_op_id end);
/* ... to what was there. */
hf_held hf_count_on(hf_held before, const hf_counted *c);

/* May a read of the value have come from all that t did to the key?  It does
 * not depend on the order of versions, unless t only adds. */
bool hf_may_count_to(const hf_history *h, hf_txn_id t, hf_key_id key,
                     hf_value_id value);

static inline bool hf_is_counter(const hf_facts *f, hf_key_id key)
{
    return (f->key_use[key] & (HF_KEY_BLIND | HF_KEY_LIST)) == HF_KEY_BLIND;
}

/* Is it a sum of increments of the key by anybody, of any outcome, each taken
 * once or not, and of what it held to begin with or was set to?  Where there
 * are more than 65,536 such sums it is not asked, and the answer is yes. */
bool hf_counter_reaches(hf_verifier *v, hf_key_id key, hf_value_id value);

#endif
