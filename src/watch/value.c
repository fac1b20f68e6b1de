/* value.c: values as the 64 bits of an event. */
#include "watch/value.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "watch/event.h"

uint64_t hf_watch_value_of(hf_scalar s)
{
    const int64_t bound = (int64_t)1 << 62;
    uint64_t hash;

    if (s.type == HF_NIL)
        return HF_EVENT_NO_ROW;
    if (s.type == HF_INT && s.number >= -bound && s.number < bound)
        return ((uint64_t)s.number << 1 ^ -(uint64_t)(s.number < 0)) << 1 | 1;
    if (s.type == HF_INT || s.type == HF_BOOL)
        hash = XXH3_64bits_withSeed(&s.number, 8, s.type);
    else
        hash = XXH3_64bits_withSeed(s.text, s.length, s.type);
    hash &= ~(uint64_t)1;
    return hash == 0 ? 2 : hash;
}

uint64_t hf_watch_value_in(const hf_history *h, hf_value_id v)
{
    if (h->value_type[v] == HF_INT)
        return hf_watch_value_of(
            (hf_scalar){.type = HF_INT, .number = h->value_data[v]});
    if (h->value_type[v] == HF_LIST)
        v = hf_list_last(h, v);
    return hf_watch_value_of(hf_value_scalar(h, v));
}
