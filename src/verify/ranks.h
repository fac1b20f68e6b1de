/* ranks.h: sets of small numbers, in order.  Private to verify/.
 *
 * Levels of bits, 64 of one below each of the next: the least member not below
 * a number is found in a few steps, and so is the greatest.
 */
#ifndef HF_RANKS_H
#define HF_RANKS_H

#include "verify/verifier.h"

#define HF_RANKS_LEVELS 6

typedef struct hf_ranks {
    uint64_t *level[HF_RANKS_LEVELS]; /* [0]: a bit for each number */
    unsigned n_levels;
} hf_ranks;

/* For numbers up to n, until the claim is answered; all must be 0 before. */
void hf_ranks_open(hf_verifier *v, hf_ranks *b, uint32_t n);
void hf_ranks_put(hf_ranks *b, uint32_t x);
void hf_ranks_take(hf_ranks *b, uint32_t x);

/* The least member from x on, below end; HF_NONE if there is none. */
uint32_t hf_ranks_next(const hf_ranks *b, uint32_t x, uint32_t end);
/* The greatest member below end, from `first` on. */
uint32_t hf_ranks_last(const hf_ranks *b, uint32_t first, uint32_t end);

#endif
