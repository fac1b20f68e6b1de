/* rng.h: a small, fast, seeded random generator (xoshiro256++).
 *
 * Same seed, same numbers, on every machine.
 */
#ifndef HF_RNG_H
#define HF_RNG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct hf_rng {
    uint64_t s[4];
} hf_rng;

void hf_rng_seed(hf_rng *r, uint64_t seed);

static inline uint64_t hf_rng_rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static inline uint64_t hf_rng_next(hf_rng *r)
{
    uint64_t *s = r->s;
    uint64_t result = hf_rng_rotl(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = hf_rng_rotl(s[3], 45);
    return result;
}

/* 0 .. n-1 for n > 0, by multiplication (bias below 2^-32). */
static inline uint32_t hf_rng_below(hf_rng *r, uint32_t n)
{
    return (uint32_t)(((hf_rng_next(r) >> 32) * n) >> 32);
}

/* 0 <= x < 1 */
static inline double hf_rng_unit(hf_rng *r)
{
    return (double)(hf_rng_next(r) >> 11) * 0x1.0p-53;
}

static inline bool hf_rng_chance(hf_rng *r, unsigned percent)
{
    return hf_rng_below(r, 100) < percent;
}

#endif
