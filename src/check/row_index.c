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
    uint64_t n = n_ranks;

    *x = (hf_row_index){.n_ranks = n_ranks};
    x->head = nones(n_ranks);
    x->next = nones(n_rows);
    x->prev = nones(n_rows);
    do {
        n = n / 64 + 1;
        HF_ASSERT(x->depth < HF_ROW_INDEX_DEPTH);
        x->bits[x->depth++] = HF_NEW_ZEROED(uint64_t, n);
    } while (n > 1);
}

void hf_row_index_release(hf_row_index *x)
{
    hf_free(x->head);
    hf_free(x->next);
    hf_free(x->prev);
    for (unsigned d = 0; d < x->depth; d++)
        hf_free(x->bits[d]);
    *x = (hf_row_index){0};
}

void hf_row_index_add(hf_row_index *x, uint32_t rank, uint32_t row)
{
    uint32_t first = x->head[rank];

    x->next[row] = first;
    x->prev[row] = HF_NONE;
    x->head[rank] = row;
    if (first != HF_NONE) {
        x->prev[first] = row;
        return;
    }
    for (unsigned d = 0; d < x->depth; d++, rank /= 64) {
        uint64_t *word = &x->bits[d][rank / 64];
        uint64_t old = *word;

        *word |= (uint64_t)1 << (rank % 64);
        if (old != 0)
            return;
    }
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
    if (next != HF_NONE)
        return;
    for (unsigned d = 0; d < x->depth; d++, rank /= 64) {
        uint64_t *word = &x->bits[d][rank / 64];

        *word &= ~((uint64_t)1 << (rank % 64));
        if (*word != 0)
            return;
    }
}

/* From a node that is not empty down to its first rank. */
static uint32_t first_below(const hf_row_index *x, unsigned d, uint64_t at)
{
    for (;;) {
        at = at * 64 + (unsigned)__builtin_ctzll(x->bits[d][at]);
        if (d-- == 0)
            return (uint32_t)at;
    }
}

static uint32_t last_below(const hf_row_index *x, unsigned d, uint64_t at)
{
    for (;;) {
        at = at * 64 + 63 - (unsigned)__builtin_clzll(x->bits[d][at]);
        if (d-- == 0)
            return (uint32_t)at;
    }
}

uint32_t hf_row_index_up(const hf_row_index *x, uint32_t from)
{
    uint64_t at = from;

    if (from >= x->n_ranks)
        return HF_NONE;
    for (unsigned d = 0; d < x->depth; d++) {
        uint64_t word = x->bits[d][at / 64] & ~(uint64_t)0 << (at % 64);

        if (word != 0) {
            at = at / 64 * 64 + (unsigned)__builtin_ctzll(word);
            return d == 0 ? (uint32_t)at : first_below(x, d - 1, at);
        }
        at = at / 64 + 1; /* each level has a node more than it needs */
    }
    return HF_NONE;
}

uint32_t hf_row_index_down(const hf_row_index *x, uint32_t from)
{
    uint64_t at = from < x->n_ranks ? from : x->n_ranks - 1;

    if (x->n_ranks == 0)
        return HF_NONE;
    for (unsigned d = 0; d < x->depth; d++) {
        uint64_t word = x->bits[d][at / 64] & ~(uint64_t)0 >> (63 - at % 64);

        if (word != 0) {
            at = at / 64 * 64 + 63 - (unsigned)__builtin_clzll(word);
            return d == 0 ? (uint32_t)at : last_below(x, d - 1, at);
        }
        if (at / 64 == 0)
            break;
        at = at / 64 - 1;
    }
    return HF_NONE;
}
