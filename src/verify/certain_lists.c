/* certain_lists.c: what lists say about the order of versions.
 *
 * All elements of a transaction stand next to each other, so any two of two
 * transactions will do.  The longest list of a key is looked at first; the
 * others only where they may show more.  Building is O(operations + values); a
 * question costs the operations of two transactions, and where lists
 * contradict each other the lists of the key.
 */
#include "verify/certain.h"

/* The longest list that t read of each key. */
static void offer_lists(hf_certain *c, hf_txn_id t, const uint32_t *length)
{
    const hf_history *h = c->v->h;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_key_id key = h->op_key[op];
        hf_value_id value = h->op_value[op];

        if (!hf_op_reads_item(hf_op_kind_of(h, op)) || !hf_op_counts(h, op) ||
            value == HF_NONE || h->value_type[value] != HF_LIST)
            continue;
        c->is_shown[value] = true;
        if (c->longest[key] == HF_NONE ||
            length[value] > length[c->longest[key]])
            c->longest[key] = value;
    }
}

/* Where all lists are beginnings of the longest, no element stands twice in
 * it, and each has one writer, it says all there is to say. */
static void compare_lists(hf_verifier *v, hf_certain *c, const uint32_t *length)
{
    const hf_history *h = v->h;
    bool *is_part = hf_zeros(v, h->n_values, sizeof(bool));

    c->agrees = hf_kept_zeros(v, h->n_keys, sizeof(*c->agrees));
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        c->agrees[k] = true;
        for (hf_value_id x = c->longest[k]; x != HF_NONE;
             x = hf_list_parent(h, x)) {
            hf_value_id element = hf_list_last(h, x);

            is_part[x] = true;
            c->agrees[k] &= c->index[element] == length[x] - 1 &&
                            v->facts.writer[element] != HF_SEVERAL;
        }
    }
    for (hf_value_id x = 0; x < h->n_values; x++)
        if (c->is_shown[x] && !is_part[x])
            c->agrees[h->value_key[x]] = false;
}

bool hf_certain_place_lists(hf_verifier *v, hf_certain *c)
{
    const hf_history *h = v->h;
    uint32_t *length;

    if (!v->facts.has_lists)
        return true;
    length = hf_zeros(v, h->n_values, sizeof(*length));
    c->longest = hf_kept_nones(v, h->n_keys, sizeof(*c->longest));
    c->index = hf_kept_nones(v, h->n_values, sizeof(*c->index));
    c->is_shown = hf_kept_zeros(v, h->n_values, sizeof(*c->is_shown));
    c->met = hf_kept_zeros(v, h->n_values, sizeof(*c->met));
    for (hf_value_id x = 0; x < h->n_values; x++)
        if (h->value_type[x] == HF_LIST)
            length[x] = 1 + (hf_list_parent(h, x) == HF_NONE
                                 ? 0
                                 : length[hf_list_parent(h, x)]);
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        if (c->happened[t])
            offer_lists(c, t, length);
        if ((t & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    for (hf_key_id k = 0; k < h->n_keys; k++)
        for (hf_value_id x = c->longest[k]; x != HF_NONE;
             x = hf_list_parent(h, x))
            c->index[hf_list_last(h, x)] = length[x] - 1;
    compare_lists(v, c, length);
    return true;
}

/* t's first element in the longest list of key; *ret_sure is false if it may
 * have one more there than is certain. */
static uint32_t list_place(const hf_certain *c, hf_txn_id t, hf_key_id key,
                           bool *ret_sure)
{
    const hf_history *h = c->v->h;
    uint32_t first = HF_NONE;

    *ret_sure = true;
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_value_id value;

        if (h->op_key[op] != key || !hf_op_writes(h, op))
            continue;
        value = hf_op_written(h, op);
        if (c->index[value] == HF_NONE)
            continue;
        if (c->v->facts.writer[value] != t)
            *ret_sure = false;
        else if (c->index[value] < first)
            first = c->index[value];
    }
    return first;
}

bool hf_before_by_longest(const hf_certain *c, hf_txn_id first,
                          hf_txn_id second, hf_key_id key)
{
    bool sure;
    uint32_t a, b;

    if (!(c->v->facts.key_use[key] & HF_KEY_LIST))
        return false;
    a = list_place(c, first, key, &sure);
    if (a == HF_NONE)
        return false;
    b = list_place(c, second, key, &sure);
    return sure && (b == HF_NONE || a < b);
}

/* What a list shows, from its first element to its last. */
#define MET_FIRST 1u  /* one of the two was met */
#define MET_SECOND 2u /* the other was */
#define MET_SHOWN 4u
#define MET_DOUBT 8u /* it shows nothing */

/* Does a list of key that shows it, without doubt, belong to somebody who
 * happened?  Fills c->met of the key's lists with `next`, shorter ones first.
 */
typedef unsigned (*met_next)(const hf_certain *c, unsigned met,
                             hf_value_id element, uint32_t first,
                             uint32_t second);

static bool some_list_shows(const hf_certain *c, hf_key_id key, met_next next,
                            uint32_t first, uint32_t second)
{
    const hf_history *h = c->v->h;
    const hf_key_index *lists = hf_lists_of_keys(c->v);

    if (!lists)
        return false;
    for (uint32_t i = lists->first[key]; i < lists->first[key + 1]; i++) {
        hf_value_id x = lists->at[i], up = hf_list_parent(h, x);

        c->met[x] = (uint8_t)next(c, up == HF_NONE ? 0 : c->met[up],
                                  hf_list_last(h, x), first, second);
        if (c->is_shown[x] &&
            (c->met[x] & (MET_SHOWN | MET_DOUBT)) == MET_SHOWN)
            return true;
    }
    return false;
}

/* An element of `first` and none of `second` before it. */
static unsigned met_writer(const hf_certain *c, unsigned met,
                           hf_value_id element, uint32_t first, uint32_t second)
{
    hf_txn_id writer = c->v->facts.writer[element];

    if (writer == HF_SEVERAL)
        return MET_DOUBT;
    if (writer == second)
        return met | MET_SECOND;
    if (writer == first)
        return met | (met & MET_SECOND ? MET_DOUBT : MET_SHOWN);
    return met;
}

static unsigned met_element(const hf_certain *c, unsigned met,
                            hf_value_id element, uint32_t first,
                            uint32_t second)
{
    (void)c;
    if (element == second && (met & MET_FIRST))
        return met | MET_SHOWN;
    return element == first ? met | MET_FIRST : met;
}

/* Any list read will do.  Asked only if the longest does not show it, which
 * happens where lists contradict each other. */
bool hf_before_by_lists(const hf_certain *c, hf_txn_id first, hf_txn_id second,
                        hf_key_id key)
{
    return (c->v->facts.key_use[key] & HF_KEY_LIST) && !c->agrees[key] &&
           some_list_shows(c, key, met_writer, first, second);
}

bool hf_list_has_before(const hf_certain *c, hf_key_id key, hf_value_id first,
                        hf_value_id second)
{
    if (!(c->v->facts.key_use[key] & HF_KEY_LIST) || first == second)
        return false;
    if (c->index[first] != HF_NONE && c->index[second] != HF_NONE &&
        c->index[first] < c->index[second])
        return true;
    return !c->agrees[key] &&
           some_list_shows(c, key, met_element, first, second);
}
