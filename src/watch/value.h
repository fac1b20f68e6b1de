/* value.h: values of any type as the 64 bits of an event.
 *
 * Whole numbers are exact: odd.  Everything else is a hash of type and bytes:
 * even, and not 0, which is the absence of the row.  Two different texts of
 * one key that share a hash would pass for equal values, and equal values are
 * a choice to the engine: it may overlook something then, never make it up.
 * So nothing has to be kept of a value.  A few small even numbers have a
 * meaning of their own: columns.h.
 */
#ifndef HF_WATCH_VALUE_H
#define HF_WATCH_VALUE_H

#include <stdbool.h>

#include "history/history.h"

/* Whole numbers from -2^62 to 2^62 - 1. */
static inline bool hf_watch_value_is_int(uint64_t value)
{
    return (value & 1) != 0;
}

static inline int64_t hf_watch_value_int(uint64_t value)
{
    uint64_t zigzag = value >> 1;

    return (int64_t)(zigzag >> 1) ^ -(int64_t)(zigzag & 1);
}

#define HF_WATCH_INT_BOUND ((int64_t)1 << 62)

static inline bool hf_watch_int_fits(int64_t number)
{
    return number >= -HF_WATCH_INT_BOUND && number < HF_WATCH_INT_BOUND;
}

/* A whole number that fits. */
static inline uint64_t hf_watch_value_of_int(int64_t number)
{
    return ((uint64_t)number << 1 ^ -(uint64_t)(number < 0)) << 1 | 1;
}

uint64_t hf_watch_value_of(hf_scalar s);
/* Of a value that is no such number; a list is its last element. */
uint64_t hf_watch_value_other(const hf_history *h, hf_value_id v);

static inline uint64_t hf_watch_value_in(const hf_history *h, hf_value_id v)
{
    return h->value_type[v] == HF_INT && hf_watch_int_fits(h->value_data[v])
               ? hf_watch_value_of_int(h->value_data[v])
               : hf_watch_value_other(h, v);
}

#endif
