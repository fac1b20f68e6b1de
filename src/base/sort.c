/* sort.c: see sort.h.  Least significant digit first, eleven bits a digit; a
 * short array by insertion, one for which 2,048 buckets are too many by
 * merging. */
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

#define DIGIT 11u
#define BUCKETS (1u << DIGIT)
#define SHORT 64u
#define MIDDLE 1024u
#define BLOCK 16u

static bool is_sorted(const hf_sortable *x, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (x[i].key < x[i - 1].key)
            return false;
    return true;
}

static void insert_each(hf_sortable *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        hf_sortable moving = x[i];
        size_t at = i;

        for (; at > 0 && x[at - 1].key > moving.key; at--)
            x[at] = x[at - 1];
        x[at] = moving;
    }
}

/* x[0 .. a] and x[a .. n] become `to`. */
static void merge(const hf_sortable *x, size_t a, size_t n, hf_sortable *to)
{
    size_t i = 0, j = a, k = 0;

    while (i < a && j < n) {
        bool second = x[j].key < x[i].key;

        to[k++] = x[second ? j : i];
        i += !second;
        j += second;
    }
    memcpy(to + k, x + i, (a - i) * sizeof(*to));
    memcpy(to + k + (a - i), x + j, (n - j) * sizeof(*to));
}

static void merge_each(hf_sortable *items, size_t n)
{
    hf_sortable other[MIDDLE], *a = items, *b = other;

    for (size_t i = 0; i < n; i += BLOCK)
        insert_each(items + i, n - i < BLOCK ? n - i : BLOCK);
    for (size_t width = BLOCK; width < n; width *= 2) {
        hf_sortable *swap = a;

        for (size_t i = 0; i < n; i += 2 * width)
            merge(a + i, n - i < width ? n - i : width,
                  n - i < 2 * width ? n - i : 2 * width, b + i);
        a = b;
        b = swap;
    }
    if (a != items)
        memcpy(items, a, n * sizeof(*items));
}

/* One digit, from `from` to `to`. */
static void pass(const hf_sortable *from, hf_sortable *to, size_t n,
                 uint64_t least, unsigned shift)
{
    size_t *at = HF_NEW_ZEROED(size_t, BUCKETS + 1);

    for (size_t i = 0; i < n; i++)
        at[((from[i].key - least) >> shift & (BUCKETS - 1)) + 1]++;
    for (size_t i = 0; i < BUCKETS; i++)
        at[i + 1] += at[i];
    for (size_t i = 0; i < n; i++)
        to[at[(from[i].key - least) >> shift & (BUCKETS - 1)]++] = from[i];
    hf_free(at);
}

void hf_sort(hf_sortable *items, size_t n)
{
    uint64_t least = UINT64_MAX, most = 0;
    hf_sortable *other, *a = items, *b;

    if (is_sorted(items, n))
        return;
    if (n <= SHORT) {
        insert_each(items, n);
        return;
    }
    if (n <= MIDDLE) {
        merge_each(items, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        least = items[i].key < least ? items[i].key : least;
        most = items[i].key > most ? items[i].key : most;
    }
    b = other = hf_alloc_large(hf_array_size(n, sizeof(*other)));
    for (unsigned shift = 0; shift < 64 && (most - least) >> shift > 0;
         shift += DIGIT) {
        hf_sortable *swap = a;

        pass(a, b, n, least, shift);
        a = b;
        b = swap;
    }
    if (a != items)
        memcpy(items, a, n * sizeof(*items));
    hf_free(other);
}
