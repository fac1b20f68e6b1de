/* keys.h: choosing keys by a distribution.
 *
 * Uniform choice is one multiplication; every other distribution is a table
 * (Walker's alias method): two random numbers and one look-up, whatever the
 * shape.  Key 0 is the most popular.
 */
#ifndef HF_WORKLOAD_KEYS_H
#define HF_WORKLOAD_KEYS_H

#include "base/rng.h"
#include "workload/generate.h"

typedef struct hf_key_column {
    uint32_t threshold; /* below: this key, else the other */
    uint32_t other;
} hf_key_column;

typedef struct hf_keys {
    uint32_t n;
    hf_key_column *table; /* owned; NULL: uniform */
} hf_keys;

/* The options must have passed hf_generate_check(). */
void hf_keys_init(hf_keys *k, const hf_generate_options *o);
void hf_keys_release(hf_keys *k);

/* `bits` are 32 random bits. */
static inline uint32_t hf_keys_pick(const hf_keys *k, uint32_t bits,
                                    hf_rng *rng)
{
    uint32_t i = (uint32_t)((uint64_t)bits * k->n >> 32);

    if (!k->table)
        return i;
    return (uint32_t)(hf_rng_next(rng) >> 32) < k->table[i].threshold
               ? i
               : k->table[i].other;
}

#endif
