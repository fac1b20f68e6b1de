/* crossings.c: see crossings.h.
 *
 * The elements are sorted by when they came.  As the questions move on, they
 * are put into a tree over the row that knows the greatest number below each
 * node: where + 1 in the first pass, and in the second, where the least is
 * wanted, the complement.  An element counts if its number is greater than
 * the limit of the question; 0 is nobody.
 *
 * O(log n) for each element, each question and each answer.
 */
#include "verify/crossings.h"

#include "base/sort.h"

struct hf_crossings {
    bool late, sorted;
    uint32_t n_added, next; /* of `added` */
    hf_sortable *added;     /* when; element */
    uint32_t *where;        /* per element */
    uint32_t *most;         /* the children of node i are 2i and 2i + 1 */
    uint32_t leaves;        /* the leaves begin there */
};

hf_crossings *hf_crossings_new(uint32_t n)
{
    hf_crossings *c = HF_NEW(hf_crossings);

    for (c->leaves = 1; c->leaves < n;)
        c->leaves *= 2;
    c->added = HF_NEW_ARRAY(hf_sortable, (size_t)n + 1);
    c->where = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    c->most = HF_NEW_ARRAY(uint32_t, (size_t)2 * c->leaves);
    return c;
}

void hf_crossings_free(hf_crossings *c)
{
    if (!c)
        return;
    hf_free(c->added);
    hf_free(c->where);
    hf_free(c->most);
    hf_free(c);
}

void hf_crossings_add(hf_crossings *c, uint32_t i, uint32_t when,
                      uint32_t where)
{
    c->added[c->n_added++] = (hf_sortable){when, i};
    c->where[i] = where;
}

void hf_crossings_begin(hf_crossings *c, bool late)
{
    if (!c->sorted)
        hf_sort(c->added, c->n_added);
    c->sorted = true;
    c->late = late;
    c->next = late ? 0 : c->n_added;
    memset(c->most, 0, (size_t)2 * c->leaves * sizeof(*c->most));
}

static void put(hf_crossings *c, uint32_t i)
{
    uint32_t node = c->leaves + i, number = ~c->where[i];

    if (c->late)
        number = c->where[i] == UINT32_MAX ? UINT32_MAX : c->where[i] + 1;
    for (; node > 0 && c->most[node] < number; node /= 2)
        c->most[node] = number;
}

void hf_crossings_move(hf_crossings *c, uint32_t when)
{
    if (c->late)
        for (; c->next < c->n_added && c->added[c->next].key < when; c->next++)
            put(c, (uint32_t)c->added[c->next].value);
    else
        for (; c->next > 0 && c->added[c->next - 1].key >= when; c->next--)
            put(c, (uint32_t)c->added[c->next - 1].value);
}

uint32_t hf_crossings_next(const hf_crossings *c, uint32_t from, uint32_t to,
                           uint32_t where)
{
    uint32_t limit = c->late ? where : ~where;
    uint32_t node = c->leaves + from;

    if (from >= to)
        return HF_NONE;
    /* to the first node, from here to the right, that has one */
    while (c->most[node] <= limit) {
        while (node % 2 == 1)
            node /= 2;
        if (node == 0)
            return HF_NONE;
        node++;
    }
    while (node < c->leaves)
        node = c->most[2 * node] > limit ? 2 * node : 2 * node + 1;
    return node - c->leaves < to ? node - c->leaves : HF_NONE;
}
