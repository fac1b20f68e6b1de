/* ranks.c: see ranks.h. */
#include "verify/ranks.h"

void hf_ranks_open(hf_verifier *v, hf_ranks *b, uint32_t n)
{
    uint32_t words = n;

    do {
        words = words / 64 + 1;
        b->level[b->n_levels++] = hf_zeros(v, words, sizeof(uint64_t));
    } while (words > 1);
}

void hf_ranks_put(hf_ranks *b, uint32_t x)
{
    for (unsigned i = 0; i < b->n_levels; i++, x /= 64)
        b->level[i][x / 64] |= UINT64_C(1) << (x % 64);
}

void hf_ranks_take(hf_ranks *b, uint32_t x)
{
    for (unsigned i = 0; i < b->n_levels; i++, x /= 64) {
        b->level[i][x / 64] &= ~(UINT64_C(1) << (x % 64));
        if (b->level[i][x / 64])
            return;
    }
}

/* The least member from x on, below end; HF_NONE if there is none. */
uint32_t hf_ranks_next(const hf_ranks *b, uint32_t x, uint32_t end)
{
    unsigned i = 0;
    uint64_t word;

    if (x >= end)
        return HF_NONE;
    for (;;) {
        word = b->level[i][x / 64] >> (x % 64);
        if (word)
            break;
        if (++i == b->n_levels)
            return HF_NONE;
        x = x / 64 + 1; /* at most the number of words below */
    }
    x += (uint32_t)__builtin_ctzll(word);
    while (i-- > 0)
        x = x * 64 + (uint32_t)__builtin_ctzll(b->level[i][x]);
    return x < end ? x : HF_NONE;
}

/* The greatest member below end, from `first` on. */
uint32_t hf_ranks_last(const hf_ranks *b, uint32_t first, uint32_t end)
{
    unsigned i = 0;
    uint32_t x = end;
    uint64_t word;

    if (first >= end)
        return HF_NONE;
    for (;;) { /* those below x, of level i */
        word = x % 64 ? b->level[i][x / 64] << (64 - x % 64) : 0;
        if (word)
            break;
        if (++i == b->n_levels)
            return HF_NONE;
        x /= 64;
    }
    x -= 1 + (uint32_t)__builtin_clzll(word);
    while (i-- > 0)
        x = x * 64 + 63 - (uint32_t)__builtin_clzll(b->level[i][x]);
    return x >= first ? x : HF_NONE;
}
