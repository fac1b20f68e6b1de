/* bare_lists.c: see bare_lists.h.
 *
 * All lists read of a key form a tree, so those that begin with the initial
 * list are the tree above it: its children become lists of one element, and
 * every value keeps its id.  Three values of a key are new: nil, which is what
 * a read of the initial list returns now, an element that nobody appended,
 * and the list of it.
 */
#include "history/bare_lists.h"

#include <string.h>

#include "base/mem.h"
#include "history/extra.h"

#define NEW_VALUES 3u /* of a key: nil, the element, its list */

typedef struct stripper {
    const hf_history *h;
    hf_history *out;
    uint8_t *is_bare;     /* per key: its initial list goes */
    hf_value_id *nil;     /* per such key; the element and the list follow */
    uint8_t *begins_well; /* per value: a list that begins as it has to */
} stripper;

static bool has_initial_list(const hf_history *h, hf_key_id key)
{
    return h->key_initial[key] != HF_NONE &&
           h->value_type[h->key_initial[key]] == HF_LIST;
}

/* Keys that are appended to and have a list to begin with; how many. */
static uint32_t find_keys(stripper *s)
{
    const hf_history *h = s->h;
    uint32_t n = 0;

    for (hf_op_id op = 0; op < h->n_ops; op++) {
        hf_key_id key = h->op_key[op];

        if (hf_op_kind_of(h, op) != HF_OP_APPEND ||
            (hf_op_flags_of(h, op) & HF_OP_FAILED) || s->is_bare[key] ||
            !has_initial_list(h, key))
            continue;
        s->is_bare[key] = 1;
        n++;
    }
    return n;
}

static bool names_bare(const stripper *s, const hf_version_ref *refs,
                       uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (s->is_bare[s->h->value_key[refs[i].value]])
            return true;
    return false;
}

/* Is one of those keys in the table?  HF_NONE: a plain key. */
static bool is_in_table(const stripper *s, hf_string_id table)
{
    const hf_history *h = s->h;

    for (hf_key_id k = 0; k < h->n_keys; k++)
        if (s->is_bare[k] &&
            (h->key_table ? h->key_table[k] : HF_NONE) == table)
            return true;
    return false;
}

/* Does a condition look at one of those keys? */
static bool is_looked_at(const stripper *s)
{
    const hf_history *h = s->h;
    hf_string_id table = HF_NONE;
    bool any = false; /* that table was found to have none */

    for (hf_op_id op = 0; op < h->n_ops; op++) {
        hf_predicate p;

        if (!hf_op_has_predicate(hf_op_kind_of(h, op)))
            continue;
        p = hf_op_predicate(h, op);
        if ((!any || p.table != table) && is_in_table(s, p.table))
            return true;
        any = true;
        table = p.table;
        if (names_bare(s, p.versions, p.n_versions) ||
            names_bare(s, p.results, p.n_results))
            return true;
    }
    return false;
}

static hf_value_id add_value(hf_history *out, hf_key_id key,
                             hf_scalar_type type, int64_t data)
{
    hf_value_id v = out->n_values++;

    out->value_key[v] = key;
    out->value_type[v] = (uint8_t)type;
    out->value_data[v] = data;
    return v;
}

static int64_t list_data(hf_value_id parent, hf_value_id last)
{
    return (int64_t)((uint64_t)parent << 32 | last);
}

/* Numbers that are no values of their keys: beyond the largest, or before the
 * smallest if there is none beyond. */
static void find_numbers(const stripper *s, int64_t *number)
{
    const hf_history *h = s->h;
    int64_t *most = HF_NEW_ZEROED(int64_t, (size_t)h->n_keys + 1);
    int64_t *least = HF_NEW_ZEROED(int64_t, (size_t)h->n_keys + 1);

    for (hf_value_id v = 0; v < h->n_values; v++) {
        hf_key_id key = h->value_key[v];

        if (h->value_type[v] != HF_INT)
            continue;
        if (h->value_data[v] > most[key])
            most[key] = h->value_data[v];
        if (h->value_data[v] < least[key])
            least[key] = h->value_data[v];
    }
    for (hf_key_id k = 0; k < h->n_keys; k++)
        number[k] = most[k] < INT64_MAX ? most[k] + 1 : least[k] - 1;
    hf_free(most);
    hf_free(least);
}

static void *copy_column(const void *from, size_t n, size_t more, size_t size)
{
    char *to = hf_alloc(hf_array_size(n + more + 1, size));

    if (n > 0)
        memcpy(to, from, n * size);
    return to;
}

static void copy_columns(stripper *s, uint32_t n_bare)
{
    const hf_history *h = s->h;
    hf_history *out = HF_NEW(hf_history);
    size_t more = (size_t)NEW_VALUES * n_bare;

    *out = *h;
    out->block = NULL;
    out->value_key =
        copy_column(h->value_key, h->n_values, more, sizeof(*h->value_key));
    out->value_type =
        copy_column(h->value_type, h->n_values, more, sizeof(*h->value_type));
    out->value_data =
        copy_column(h->value_data, h->n_values, more, sizeof(*h->value_data));
    out->key_initial =
        copy_column(h->key_initial, h->n_keys, 0, sizeof(*h->key_initial));
    out->op_value = copy_column(h->op_value, h->n_ops, 0, sizeof(*h->op_value));
    s->out = out;
}

static void add_values(stripper *s)
{
    const hf_history *h = s->h;
    int64_t *number = HF_NEW_ZEROED(int64_t, (size_t)h->n_keys + 1);

    find_numbers(s, number);
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_value_id nobodys;

        if (!s->is_bare[k])
            continue;
        s->nil[k] = add_value(s->out, k, HF_NIL, 0);
        nobodys = add_value(s->out, k, HF_INT, number[k]);
        (void)add_value(s->out, k, HF_LIST, list_data(HF_NONE, nobodys));
        s->out->key_initial[k] = HF_NONE;
    }
    hf_free(number);
}

/* A longer list comes after the shorter one it goes on from. */
static void cut_lists(stripper *s)
{
    const hf_history *h = s->h;

    for (hf_value_id v = 0; v < h->n_values; v++) {
        hf_key_id key = h->value_key[v];
        hf_value_id up;

        if (h->value_type[v] != HF_LIST || !s->is_bare[key])
            continue;
        up = hf_list_parent(h, v);
        s->begins_well[v] =
            v == h->key_initial[key] || (up != HF_NONE && s->begins_well[up]);
        if (up == h->key_initial[key])
            s->out->value_data[v] = list_data(HF_NONE, hf_list_last(h, v));
    }
}

static void cut_reads(stripper *s)
{
    const hf_history *h = s->h;

    for (hf_op_id op = 0; op < h->n_ops; op++) {
        hf_key_id key = h->op_key[op];
        hf_value_id v = h->op_value[op];

        if (!hf_op_reads_item(hf_op_kind_of(h, op)) || key == HF_NONE ||
            v == HF_NONE || !s->is_bare[key])
            continue;
        if (v == h->key_initial[key])
            s->out->op_value[op] = s->nil[key];
        else if (h->value_type[v] == HF_NIL ||
                 (h->value_type[v] == HF_LIST && !s->begins_well[v]))
            s->out->op_value[op] = s->nil[key] + 2;
    }
}

hf_history *hf_bare_lists(const hf_history *h)
{
    stripper s = {.h = h};
    bool some = false;
    uint32_t n;

    for (hf_key_id k = 0; h->key_initial && k < h->n_keys && !some; k++)
        some = has_initial_list(h, k);
    if (!some)
        return NULL;
    s.is_bare = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    n = find_keys(&s);
    if (n > 0 && !is_looked_at(&s)) {
        s.nil = HF_NEW_ZEROED(hf_value_id, (size_t)h->n_keys + 1);
        s.begins_well = HF_NEW_ZEROED(uint8_t, (size_t)h->n_values + 1);
        copy_columns(&s, n);
        add_values(&s);
        cut_lists(&s);
        cut_reads(&s);
        hf_free(s.nil);
        hf_free(s.begins_well);
    }
    hf_free(s.is_bare);
    return s.out;
}

void hf_bare_lists_free(hf_history *bare)
{
    if (!bare)
        return;
    hf_free(bare->value_key);
    hf_free(bare->value_type);
    hf_free(bare->value_data);
    hf_free(bare->key_initial);
    hf_free(bare->op_value);
    hf_free(bare);
}
