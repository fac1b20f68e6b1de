/* sort.h: sorting numbers with something attached, in linear time. */
#ifndef HF_SORT_H
#define HF_SORT_H

#include <stddef.h>
#include <stdint.h>

typedef struct hf_sortable {
    uint64_t key;
    uint64_t value;
} hf_sortable;

/* By key; equal keys keep their order.  Looks first whether there is anything
 * to do, then goes by digits of the range that the keys really have. */
void hf_sort(hf_sortable *items, size_t n);

#endif
