/* row_index.h: the rows that are there now, in the order of one column.
 *
 * All values that a column ever has are known before the replay begins, so a
 * row is put at the dense rank of its value.  A rank holds a linked list of
 * rows; which ranks are not empty is a set in order (base/bits.h).  Adding and
 * removing a row, and finding the next rank that is not empty, take
 * O(log64 ranks); a range costs that and its rows.  Flat memory, nothing is
 * allocated after the start.
 */
#ifndef HF_ROW_INDEX_H
#define HF_ROW_INDEX_H

#include "base/bits.h"
#include "history/history.h"

typedef struct hf_row_index {
    uint32_t *head; /* per rank: its first row, or HF_NONE */
    uint32_t *next; /* per row */
    uint32_t *prev; /* per row; HF_NONE: it is the first of its rank */
    hf_bits used;   /* ranks that have rows */
} hf_row_index;

void hf_row_index_init(hf_row_index *x, uint32_t n_ranks, uint32_t n_rows);
void hf_row_index_release(hf_row_index *x);
void hf_row_index_add(hf_row_index *x, uint32_t rank, uint32_t row);
void hf_row_index_remove(hf_row_index *x, uint32_t rank, uint32_t row);
/* The first rank >= from, or the last <= from, that has rows; HF_NONE. */
static inline uint32_t hf_row_index_up(const hf_row_index *x, uint32_t from)
{
    return hf_bits_up(&x->used, from);
}

static inline uint32_t hf_row_index_down(const hf_row_index *x, uint32_t from)
{
    return hf_bits_down(&x->used, from);
}

#endif
