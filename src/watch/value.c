/* value.c: values as the 64 bits of an event. */
#include "watch/value.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "watch/event.h"

uint64_t hf_watch_value_of(hf_scalar s)
{
    uint64_t hash;

    if (s.type == HF_NIL)
        return HF_EVENT_NO_ROW;
    if (s.type == HF_INT && hf_watch_int_fits(s.number))
        return hf_watch_value_of_int(s.number);
    if (s.type == HF_INT || s.type == HF_BOOL)
        hash = XXH3_64bits_withSeed(&s.number, 8, s.type);
    else
        hash = XXH3_64bits_withSeed(s.text, s.length, s.type);
    hash &= ~(uint64_t)1;
    return hash == 0 ? 2 : hash;
}

uint64_t hf_watch_value_other(const hf_history *h, hf_value_id v)
{
    if (h->value_type[v] == HF_LIST)
        v = hf_list_last(h, v);
    return hf_watch_value_of(hf_value_scalar(h, v));
}
