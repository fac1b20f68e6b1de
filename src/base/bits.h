/* bits.h: a set of small numbers that knows its order.
 *
 * A tree of bits with 64 children to a node: adding, removing, and finding the
 * next member above or below a number take O(log64 n).  Flat memory; nothing
 * is allocated after the start.
 */
#ifndef HF_BITS_H
#define HF_BITS_H

#include <stdint.h>

#define HF_BITS_DEPTH 6 /* 64^6 > 2^32 */
#define HF_BITS_NONE UINT32_MAX

typedef struct hf_bits {
    uint32_t n; /* members are below it */
    unsigned depth;
    uint64_t *level[HF_BITS_DEPTH]; /* [0]: one bit for each number */
} hf_bits;

void hf_bits_init(hf_bits *b, uint32_t n);
void hf_bits_release(hf_bits *b);

/* The first member >= from, or the last <= from; or HF_BITS_NONE. */
uint32_t hf_bits_up(const hf_bits *b, uint32_t from);
uint32_t hf_bits_down(const hf_bits *b, uint32_t from);

static inline void hf_bits_add(hf_bits *b, uint32_t x)
{
    for (unsigned d = 0; d < b->depth; d++, x /= 64) {
        uint64_t *word = &b->level[d][x / 64];
        uint64_t old = *word;

        *word |= (uint64_t)1 << (x % 64);
        if (old != 0)
            return;
    }
}

static inline void hf_bits_remove(hf_bits *b, uint32_t x)
{
    for (unsigned d = 0; d < b->depth; d++, x /= 64) {
        uint64_t *word = &b->level[d][x / 64];

        *word &= ~((uint64_t)1 << (x % 64));
        if (*word != 0)
            return;
    }
}

#endif
