/* vec.c: growing an array. */
#include "base/vec.h"

void hf_vec_grow(void **at, size_t *cap, size_t wanted, size_t size)
{
    size_t next = *cap + *cap / 2;

    if (next < 16)
        next = 16;
    if (next < wanted)
        next = wanted;
    *at = hf_realloc(*at, hf_array_size(next, size));
    *cap = next;
}
