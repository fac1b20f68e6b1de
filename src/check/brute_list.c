/* brute_list.c: the list reads of a case.
 *
 * A list that was read becomes a run of elements, each with the append that
 * made it if there is only one.  In a restricted case the elements of
 * transactions that are not kept are left out, and the read with them if it no
 * longer ends where it ended.  How a list fits the version order is a question
 * for each world (brute_edges.c); here only what is wrong in all of them is
 * found.  O(length of the list), times the appends of an equal element.
 */
#include "check/brute.h"

#include <string.h>

typedef enum keep { KEEP, LOSE, DROP_READ, GARBAGE } keep;

/* What becomes of one element of a list that was read. */
static keep look_up_element(const hf_brute_case *c, hf_brute_element *e)
{
    unsigned n = 0, gone = 0;
    hf_txn_id writer = HF_NONE;
    bool several = false;

    e->write = HF_NONE;
    for (uint32_t i = c->first_equal[e->value]; i != HF_NONE;
         i = c->writes.at[i].next_equal) {
        const hf_brute_write *w = &c->writes.at[i];

        n++;
        gone += !w->kept;
        several |= writer != HF_NONE && writer != hf_op_txn(c->h, w->op);
        writer = hf_op_txn(c->h, w->op);
        e->write = i;
    }
    if (n > 1)
        e->write = HF_NONE;
    if (n == 0)
        return GARBAGE;
    return gone == 0 ? KEEP : several ? DROP_READ : LOSE;
}

/* The elements after those of the initial list; NULL if that is not how the
 * list begins.  The array is from the arena. */
static hf_value_id *elements_of(hf_brute_case *c, const hf_brute_read *r,
                                uint32_t *ret_n)
{
    const hf_history *h = c->h;
    hf_value_id initial = h->key_initial ? h->key_initial[r->key] : HF_NONE;
    bool some = h->value_type[r->value] == HF_LIST;
    uint32_t n = some ? hf_list_items(h, r->value, NULL) : 0, n_initial = 0;
    hf_value_id *items, *first;

    items = hf_arena_get(&c->arena, hf_array_size(n + 1u, sizeof(*items)));
    if (some)
        hf_list_items(h, r->value, items);
    if (initial != HF_NONE && h->value_type[initial] == HF_LIST) {
        n_initial = hf_list_items(h, initial, NULL);
        first =
            hf_arena_get(&c->arena, hf_array_size(n_initial, sizeof(*first)));
        hf_list_items(h, initial, first);
        if (n < n_initial ||
            memcmp(items, first, n_initial * sizeof(*first)) != 0)
            return NULL;
    }
    *ret_n = n - n_initial;
    return items + n_initial;
}

/* How often an element was appended, and how often it is in the list. */
static bool is_too_often(const hf_brute_case *c, const hf_brute_read *r,
                         hf_value_id value)
{
    const hf_brute_element *e = hf_brute_elements(c, r);
    uint32_t appended = 0, there = 0;

    for (uint32_t i = c->first_equal[value]; i != HF_NONE;
         i = c->writes.at[i].next_equal)
        appended++;
    for (uint32_t i = 0; i < r->n_elements; i++)
        there += e[i].value == value;
    return there > appended;
}

/* Is an element there more often than it was appended? */
static bool has_repeated(const hf_brute_case *c, const hf_brute_read *r)
{
    const hf_brute_element *e = hf_brute_elements(c, r);

    for (uint32_t i = 0; i < r->n_elements; i++)
        if (is_too_often(c, r, e[i].value))
            return true;
    return false;
}

/* Puts the elements that are kept into the case; false: drop the read. */
static bool add_elements(hf_brute_case *c, hf_brute_read *r,
                         const hf_value_id *items, uint32_t n, bool *garbage)
{
    keep last = KEEP;

    r->first_element = (uint32_t)c->elements.n;
    for (uint32_t i = 0; i < n; i++) {
        hf_brute_element e = {.value = items[i]};

        last = look_up_element(c, &e);
        if (last == KEEP)
            hf_vec_push(&c->elements, e);
        else if (last == GARBAGE)
            *garbage = true;
        else if (last == DROP_READ)
            return false;
    }
    r->n_elements = (uint32_t)c->elements.n - r->first_element;
    return last != LOSE;
}

static void list_candidates(const hf_brute_case *c, hf_brute_read *r)
{
    const hf_brute_element *e;

    r->n_candidates = 1;
    r->only_write = HF_NONE;
    r->sources = 1u << HF_BRUTE_INITIAL;
    if (r->n_elements == 0)
        return;
    e = &c->elements.at[r->first_element + r->n_elements - 1];
    r->sources = 0;
    r->only_write = e->write;
    r->n_candidates = 0;
    for (uint32_t i = c->first_equal[e->value]; i != HF_NONE;
         i = c->writes.at[i].next_equal)
        r->n_candidates++;
}

void hf_brute_add_list_read(hf_brute_case *c, hf_brute_read r,
                            const hf_brute_own *own)
{
    uint32_t n = 0, mine = own->write[r.key];
    hf_value_id *items;
    bool garbage = false;

    r.list = true;
    r.own_before = own->count[r.key];
    items = elements_of(c, &r, &n);
    if (items && !add_elements(c, &r, items, n, &garbage))
        return;
    if (!items || garbage) {
        hf_brute_fault_add(c, HF_GARBAGE_READ, r.node, 1, &r.op);
        return;
    }
    if (has_repeated(c, &r)) {
        hf_brute_fault_add(c, HF_DUPLICATE_WRITE, r.node, 1, &r.op);
        return;
    }
    list_candidates(c, &r);
    if (mine == HF_NONE) {
        hf_brute_push_read(c, r, own);
        return;
    }
    if (n == 0 || items[n - 1] != c->writes.at[mine].value) {
        hf_op_id ops[2] = {c->writes.at[mine].op, r.op};

        hf_brute_fault_add(c, HF_INTERNAL, r.node, 2, ops);
        return;
    }
    r.previous = HF_NONE; /* not a repeated read: it has own appends */
    hf_vec_push(&c->reads, r);
}
