/* row_index.c: see row_index.h. */
#include "check/row_index.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"

static uint32_t *nones(size_t n)
{
    uint32_t *a = HF_NEW_ARRAY(uint32_t, n + 1);

    memset(a, 0xff, (n + 1) * sizeof(*a));
    return a;
}

void hf_row_index_init(hf_row_index *x, uint32_t n_ranks, uint32_t n_rows)
{
    *x = (hf_row_index){0};
    x->head = nones(n_ranks);
    x->next = nones(n_rows);
    x->prev = nones(n_rows);
    hf_bits_init(&x->used, n_ranks);
}

void hf_row_index_release(hf_row_index *x)
{
    hf_free(x->head);
    hf_free(x->next);
    hf_free(x->prev);
    hf_bits_release(&x->used);
    *x = (hf_row_index){0};
}

void hf_row_index_add(hf_row_index *x, uint32_t rank, uint32_t row)
{
    uint32_t first = x->head[rank];

    x->next[row] = first;
    x->prev[row] = HF_NONE;
    x->head[rank] = row;
    if (first != HF_NONE)
        x->prev[first] = row;
    else
        hf_bits_add(&x->used, rank);
}

void hf_row_index_remove(hf_row_index *x, uint32_t rank, uint32_t row)
{
    uint32_t next = x->next[row], prev = x->prev[row];

    if (next != HF_NONE)
        x->prev[next] = prev;
    if (prev != HF_NONE) {
        x->next[prev] = next;
        return;
    }
    HF_ASSERT(x->head[rank] == row);
    x->head[rank] = next;
    if (next == HF_NONE)
        hf_bits_remove(&x->used, rank);
}
