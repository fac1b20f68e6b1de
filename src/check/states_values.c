/* states_values.c: what a key can hold.
 *
 * Values of the history, and what is none: nil of each key, lists as nodes of
 * a tree (an element leads from one to the next), and numbers that only sums
 * lead to.  All are numbered, so that who wants what is an array.
 */
#include "check/states.h"

static hf_holding more(hf_states *s, hf_key_id cell, hf_holding parent,
                       int64_t number)
{
    hf_vec_push(&s->parent, parent);
    hf_vec_push(&s->number, number);
    hf_vec_push(&s->owner, cell);
    return s->n_holdings++;
}

hf_holding hf_states_child(const hf_states *s, hf_holding list,
                           hf_value_id element)
{
    uint32_t child;

    if (list == HF_OFF)
        return HF_OFF;
    child = hf_map_get(&s->children, (uint64_t)list << 32 | element);
    return child == UINT32_MAX ? HF_OFF : child;
}

hf_holding hf_states_make_child(hf_states *s, hf_key_id cell, hf_holding list,
                                hf_value_id element)
{
    hf_holding child = hf_states_child(s, list, element);

    if (child != HF_OFF)
        return child;
    child = more(s, cell, list, 0);
    hf_map_set(&s->children, (uint64_t)list << 32 | element, child);
    return child;
}

/* Where a number is, or would be: different ones may mix alike. */
static uint64_t find_number(const hf_states *s, hf_key_id cell, int64_t number,
                            hf_holding *ret)
{
    uint64_t at = hf_mix64((uint64_t)number + hf_mix64(cell + 1u));

    for (;; at++) {
        uint32_t found = hf_map_get(&s->numbers, at);

        *ret = HF_OFF;
        if (found == UINT32_MAX)
            return at;
        *ret = found;
        if (found < s->first_more
                ? s->h->value_key[found] == cell &&
                      s->h->value_data[found] == number
                : s->owner.at[found - s->first_more] == cell &&
                      s->number.at[found - s->first_more] == number)
            return at;
    }
}

hf_holding hf_states_number(const hf_states *s, hf_key_id cell, int64_t number)
{
    hf_holding found;

    (void)find_number(s, cell, number, &found);
    return found;
}

hf_holding hf_states_make_number(hf_states *s, hf_key_id cell, int64_t number)
{
    hf_holding found;
    uint64_t at = find_number(s, cell, number, &found);

    if (found != HF_OFF)
        return found;
    found = more(s, cell, HF_OFF, number);
    hf_map_set(&s->numbers, at, found);
    return found;
}

hf_holding hf_states_plain(hf_states *s, hf_key_id cell, hf_value_id v)
{
    if (v != HF_NONE && s->h->value_type[v] != HF_NIL)
        return v;
    return s->kind[cell] == HF_CELL_COUNTER ? hf_states_make_number(s, cell, 0)
                                            : hf_states_nil(s, cell);
}

bool hf_states_number_in(const hf_states *s, hf_holding holding, int64_t *ret)
{
    if (holding >= s->first_more) {
        *ret = s->number.at[holding - s->first_more];
        return true;
    }
    *ret = s->h->value_data[holding];
    return s->h->value_type[holding] == HF_INT;
}

void hf_states_add_numbers(hf_states *s)
{
    const hf_history *h = s->h;

    for (hf_value_id v = 0; v < h->n_values; v++)
        if (s->kind[h->value_key[v]] == HF_CELL_COUNTER &&
            h->value_type[v] == HF_INT) {
            hf_holding found;
            uint64_t at =
                find_number(s, h->value_key[v], h->value_data[v], &found);

            hf_map_set(&s->numbers, at, v);
        }
}
