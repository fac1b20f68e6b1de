/* map.h: a hash map from 64-bit keys to 32-bit values, open addressing.
 *
 * For look-ups by number that are not in the hottest loops.  The value
 * UINT32_MAX means "not there" and cannot be stored.
 */
#ifndef HF_MAP_H
#define HF_MAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct hf_map_slot hf_map_slot;
typedef struct hf_map {
    hf_map_slot *slots;
    size_t n, cap; /* cap is a power of two, or 0 */
} hf_map;

void hf_map_init(hf_map *m);
void hf_map_release(hf_map *m);
uint32_t hf_map_get(const hf_map *m, uint64_t key); /* or UINT32_MAX */
/* Stores value unless the key is there; returns what is stored now. */
uint32_t hf_map_add(hf_map *m, uint64_t key, uint32_t value);
void hf_map_set(hf_map *m, uint64_t key, uint32_t value);

static inline uint64_t hf_mix64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

#endif
