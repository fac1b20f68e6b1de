/* bits.c: see bits.h. */
#include "base/bits.h"

#include "base/error.h"
#include "base/mem.h"

void hf_bits_init(hf_bits *b, uint32_t n)
{
    uint64_t words = n;

    *b = (hf_bits){.n = n};
    do { /* a word more than it needs: see hf_bits_up() */
        words = words / 64 + 1;
        HF_ASSERT(b->depth < HF_BITS_DEPTH);
        b->level[b->depth++] = HF_NEW_ZEROED(uint64_t, words);
    } while (words > 1);
}

void hf_bits_release(hf_bits *b)
{
    for (unsigned d = 0; d < b->depth; d++)
        hf_free(b->level[d]);
    *b = (hf_bits){0};
}

/* From a node that is not empty down to its first member. */
static uint32_t first_below(const hf_bits *b, unsigned d, uint64_t at)
{
    while (d-- > 0)
        at = at * 64 + (unsigned)__builtin_ctzll(b->level[d][at]);
    return (uint32_t)at;
}

static uint32_t last_below(const hf_bits *b, unsigned d, uint64_t at)
{
    while (d-- > 0)
        at = at * 64 + 63 - (unsigned)__builtin_clzll(b->level[d][at]);
    return (uint32_t)at;
}

uint32_t hf_bits_up(const hf_bits *b, uint32_t from)
{
    uint64_t at = from;

    if (from >= b->n)
        return HF_BITS_NONE;
    for (unsigned d = 0; d < b->depth; d++) {
        uint64_t word = b->level[d][at / 64] & ~(uint64_t)0 << (at % 64);

        if (word != 0)
            return first_below(b, d,
                               at / 64 * 64 + (unsigned)__builtin_ctzll(word));
        at = at / 64 + 1;
    }
    return HF_BITS_NONE;
}

uint32_t hf_bits_down(const hf_bits *b, uint32_t from)
{
    uint64_t at = from < b->n ? from : b->n - 1;

    if (b->n == 0)
        return HF_BITS_NONE;
    for (unsigned d = 0; d < b->depth; d++) {
        uint64_t word = b->level[d][at / 64] & ~(uint64_t)0 >> (63 - at % 64);

        if (word != 0)
            return last_below(
                b, d, at / 64 * 64 + 63 - (unsigned)__builtin_clzll(word));
        if (at / 64 == 0)
            break;
        at = at / 64 - 1;
    }
    return HF_BITS_NONE;
}
