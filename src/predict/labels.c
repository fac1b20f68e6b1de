/* labels.c: rows that say who wrote them.
 *
 * A predicted history (predicted.c) has a second key beside a row whose
 * versions have equal values, in a table named after the row's with " (writer)"
 * behind it: who writes the row writes it next, who reads the row reads it
 * next.  For an observed execution these are no keys but labels: they tell the
 * source where the value leaves a doubt, and nothing else.
 *
 * O(keys + operations), and only the first if there are none.
 */
#include "predict/events.h"

#include <string.h>

#include "base/map.h"

struct hf_event_labels {
    const hf_history *h;
    hf_key_id *label;     /* per key: the second key; HF_NONE: none */
    uint8_t *is_label;    /* per key */
    hf_txn_id *writer_of; /* per value of a label */
};

static const char ending[] = " (writer)";

/* The name without the ending; empty: it has none. */
static hf_str labelled_table(const hf_history *h, hf_key_id key)
{
    size_t n = sizeof ending - 1;
    hf_str name;

    if (!h->key_table || h->key_table[key] == HF_NONE)
        return HF_STR("");
    name = hf_string(h, h->key_table[key]);
    if (name.len <= n || memcmp(name.ptr + name.len - n, ending, n) != 0)
        return HF_STR("");
    return (hf_str){name.ptr, name.len - n};
}

static uint64_t name_of(const hf_history *h, hf_str table, hf_key_id key)
{
    hf_scalar s = hf_key_scalar(h, key);
    uint64_t hash = hf_mix64((uint64_t)s.number ^ (uint64_t)s.type << 56);

    for (size_t i = 0; i < table.len; i++)
        hash = (hash ^ (uint8_t)table.ptr[i]) * 0x100000001b3u;
    for (size_t i = 0; s.text && i < s.length; i++)
        hash = (hash ^ (uint8_t)s.text[i]) * 0x100000001b3u;
    return hf_mix64(hash);
}

/* The rows of the table that have such a key beside them. */
static void find_rows(hf_event_labels *l)
{
    const hf_history *h = l->h;
    hf_map by_name;

    hf_map_init(&by_name);
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_str table = labelled_table(h, k);

        if (table.len > 0)
            hf_map_set(&by_name, name_of(h, table, k), k);
    }
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_str table = h->key_table[k] == HF_NONE
                           ? HF_STR("")
                           : hf_string(h, h->key_table[k]);
        uint32_t at = hf_map_get(&by_name, name_of(h, table, k));

        if (at == UINT32_MAX || !hf_str_eq(labelled_table(h, at), table))
            continue;
        l->label[k] = at;
        l->is_label[at] = 1;
    }
    hf_map_release(&by_name);
}

static void find_writers(hf_event_labels *l)
{
    const hf_history *h = l->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            if (hf_op_kind_of(h, op) == HF_OP_WRITE &&
                l->is_label[h->op_key[op]] && h->op_value[op] != HF_NONE)
                l->writer_of[h->op_value[op]] = t;
}

hf_event_labels *hf_event_labels_new(const hf_history *h)
{
    hf_event_labels *l = NULL;

    for (hf_key_id k = 0; !l && k < h->n_keys; k++)
        if (labelled_table(h, k).len > 0)
            l = HF_NEW(hf_event_labels);
    if (!l)
        return NULL;
    *l = (hf_event_labels){.h = h};
    l->label = HF_NEW_ARRAY(hf_key_id, (size_t)h->n_keys + 1);
    l->is_label = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    l->writer_of = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_values + 1);
    memset(l->label, 0xff, h->n_keys * sizeof(*l->label));
    memset(l->writer_of, 0xff, h->n_values * sizeof(*l->writer_of));
    find_rows(l);
    find_writers(l);
    return l;
}

void hf_event_labels_free(hf_event_labels *l)
{
    if (!l)
        return;
    hf_free(l->label);
    hf_free(l->is_label);
    hf_free(l->writer_of);
    hf_free(l);
}

bool hf_event_labels_has(const hf_event_labels *l, hf_key_id key)
{
    return l && key != HF_NONE && l->is_label[key];
}

bool hf_event_labels_source(const hf_event_labels *l, hf_txn_id t, hf_op_id op,
                            hf_txn_id *ret)
{
    hf_key_id label =
        l && l->h->op_key[op] != HF_NONE ? l->label[l->h->op_key[op]] : HF_NONE;

    if (label == HF_NONE || op + 1 >= l->h->op_first[t + 1] ||
        l->h->op_key[op + 1] != label ||
        !hf_op_reads_item(hf_op_kind_of(l->h, op + 1)) ||
        l->h->op_value[op + 1] == HF_NONE)
        return false;
    *ret = l->writer_of[l->h->op_value[op + 1]];
    return *ret != HF_NONE ||
           hf_value_is_initial(l->h, label, l->h->op_value[op + 1]);
}
