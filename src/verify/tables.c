/* tables.c: see tables.h.  Each index is O(operations + values) to make. */
#include "verify/tables.h"

#include "base/error.h"
#include "verify/verifier.h"

/* ---- writers of values --------------------------------------------------- */

/* What to do with each value that t writes. */
typedef void (*visitor)(hf_verifier *v, void *table, hf_txn_id t,
                        hf_value_id value);

static bool visit_writes(hf_verifier *v, visitor visit, void *table)
{
    const hf_history *h = v->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            if (hf_op_writes(h, op) && hf_op_written(h, op) != HF_NONE)
                visit(v, table, t, hf_op_written(h, op));
        if ((t & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

static void add_outcome(hf_verifier *v, void *table, hf_txn_id t,
                        hf_value_id value)
{
    ((uint8_t *)table)[value] |= (uint8_t)(1u << v->h->txn_outcome[t]);
}

const uint8_t *hf_writer_outcomes(hf_verifier *v)
{
    uint8_t *table = v->tables.outcomes;

    if (table || v->status != HF_OK)
        return table;
    table = hf_kept_zeros(v, v->h->n_values, sizeof(*table));
    if (!visit_writes(v, add_outcome, table))
        return NULL;
    v->tables.outcomes = table;
    return table;
}

typedef struct counter {
    uint8_t *count;
    hf_txn_id *last; /* per value: the last counted */
} counter;

static void count_writer(hf_verifier *v, void *table, hf_txn_id t,
                         hf_value_id value)
{
    counter *c = table;

    (void)v;
    if (c->last[value] != t && c->count[value] < UINT8_MAX)
        c->count[value]++;
    c->last[value] = t;
}

const uint8_t *hf_writer_counts(hf_verifier *v)
{
    counter c;

    if (v->tables.n_writers || v->status != HF_OK)
        return v->tables.n_writers;
    c.count = hf_kept_zeros(v, v->h->n_values, sizeof(*c.count));
    c.last = hf_nones(v, v->h->n_values, sizeof(*c.last));
    if (!visit_writes(v, count_writer, &c))
        return NULL;
    v->tables.n_writers = c.count;
    return c.count;
}

/* ---- by key -------------------------------------------------------------- */

/* Counts are in first[key + 1]; they become places, and ret_next where the
 * next entry of each key goes. */
static hf_key_index *open_index(hf_verifier *v, uint32_t *first,
                                uint32_t **ret_next)
{
    hf_key_index *index = hf_kept_zeros(v, 1, sizeof(*index));
    uint32_t n_keys = v->h->n_keys;

    *ret_next = hf_zeros(v, n_keys, sizeof(uint32_t));
    for (hf_key_id k = 0; k < n_keys; k++) {
        (*ret_next)[k] = first[k];
        first[k + 1] += first[k];
    }
    index->first = first;
    index->at = hf_kept_nones(v, first[n_keys], sizeof(*index->at));
    return index;
}

const hf_key_index *hf_writers_of_keys(hf_verifier *v)
{
    const hf_history *h = v->h;
    const hf_facts *f = &v->facts;
    uint32_t n_slots = f->write_first[h->n_txns], *first, *next;
    hf_key_index *index = v->tables.writers;

    if (index || hf_out_of_budget(v))
        return index;
    first = hf_kept_zeros(v, (size_t)h->n_keys + 1, sizeof(*first));
    for (uint32_t s = 0; s < n_slots; s++)
        first[f->write_key[s] + 1]++;
    index = open_index(v, first, &next);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++)
            index->at[next[f->write_key[s]]++] = t;
    v->tables.writers = index;
    return index;
}

const hf_key_index *hf_lists_of_keys(hf_verifier *v)
{
    const hf_history *h = v->h;
    uint32_t *first, *next;
    hf_key_index *index = v->tables.lists;

    if (index || hf_out_of_budget(v))
        return index;
    first = hf_kept_zeros(v, (size_t)h->n_keys + 1, sizeof(*first));
    for (hf_value_id x = 0; x < h->n_values; x++)
        if (h->value_type[x] == HF_LIST)
            first[h->value_key[x] + 1]++;
    index = open_index(v, first, &next);
    for (hf_value_id x = 0; x < h->n_values; x++)
        if (h->value_type[x] == HF_LIST)
            index->at[next[h->value_key[x]]++] = x;
    v->tables.lists = index;
    return index;
}

/* ---- notes --------------------------------------------------------------- */

static uint32_t length_of(const hf_history *h, hf_notes_kind kind)
{
    switch (kind) {
    case HF_NOTES_TXNS:
        return h->n_txns;
    case HF_NOTES_KEYS:
        return h->n_keys;
    case HF_NOTES_VALUES:
    case HF_NOTES_ELEMENTS:
        return h->n_values;
    case HF_NOTES_KIND_COUNT:
        break;
    }
    HF_BUG("notes of no kind");
}

hf_notes *hf_notes_begin(hf_verifier *v, hf_notes_kind kind)
{
    hf_notes *notes = &v->tables.notes[kind];

    if (!notes->at) {
        notes->n = length_of(v->h, kind);
        notes->at = hf_kept_zeros(v, notes->n, sizeof(*notes->at));
    }
    if (++notes->turn == 0) { /* once around */
        memset(notes->at, 0, notes->n * sizeof(*notes->at));
        notes->turn = 1;
    }
    return notes;
}
