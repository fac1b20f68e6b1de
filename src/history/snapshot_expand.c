/* snapshot_expand.c: snapshots written out as version sets.
 *
 * For the reference engine and for tests, which then need to know nothing of
 * snapshots.  O(operations with a snapshot * keys of their table).
 */
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "history/snapshot.h"

typedef HF_VEC(uint32_t) words;

typedef struct expansion {
    const hf_history *h;
    hf_snapshots *s;
    hf_history *out;
    hf_value_id *nil; /* per key: its nil value in `out`; HF_NONE: not yet */
    words extra;
} expansion;

static void copy_column(void *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
}

/* Own columns of values, with room for one nil of every key. */
static void copy_values(expansion *x)
{
    const hf_history *h = x->h;
    size_t n = (size_t)h->n_values + h->n_keys + 1;

    x->out->value_key = HF_NEW_ARRAY(hf_key_id, n);
    x->out->value_type = HF_NEW_ARRAY(uint8_t, n);
    x->out->value_data = HF_NEW_ARRAY(int64_t, n);
    copy_column(x->out->value_key, h->value_key,
                h->n_values * sizeof(*h->value_key));
    copy_column(x->out->value_type, h->value_type, h->n_values);
    copy_column(x->out->value_data, h->value_data,
                h->n_values * sizeof(*h->value_data));
    x->nil = HF_NEW_ARRAY(hf_value_id, (size_t)h->n_keys + 1);
    memset(x->nil, 0xff, h->n_keys * sizeof(*x->nil));
    for (hf_value_id v = 0; v < h->n_values; v++)
        if (h->value_type[v] == HF_NIL)
            x->nil[h->value_key[v]] = v;
}

static hf_value_id nil_of(expansion *x, hf_key_id key)
{
    hf_history *out = x->out;

    if (x->nil[key] == HF_NONE) {
        x->nil[key] = out->n_values++;
        out->value_key[x->nil[key]] = key;
        out->value_type[x->nil[key]] = HF_NIL;
        out->value_data[x->nil[key]] = 0;
    }
    return x->nil[key];
}

static hf_value_id written(const hf_history *h, hf_op_id op)
{
    return hf_op_kind_of(h, op) == HF_OP_INCREMENT
               ? hf_op_increment(h, op).after
               : h->op_value[op];
}

/* One entry; false if it is not known. */
static bool add_entry(expansion *x, hf_txn_id t, hf_op_id op, hf_key_id key)
{
    const hf_history *h = x->h;
    hf_op_id from = hf_snapshot_version(x->s, t, op, key);
    hf_value_id value;

    if (from == HF_NONE)
        return false;
    if (from == HF_WRITER_INITIAL) {
        value = h->key_initial && h->key_initial[key] != HF_NONE
                    ? h->key_initial[key]
                    : nil_of(x, key);
        hf_vec_push(&x->extra, value);
        hf_vec_push(&x->extra, HF_WRITER_INITIAL);
        return true;
    }
    value = written(h, from);
    if (value == HF_NONE)
        return false;
    hf_vec_push(&x->extra, value);
    hf_vec_push(&x->extra, hf_op_txn(h, from));
    return true;
}

static void push_words(expansion *x, const uint32_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hf_vec_push(&x->extra, from[i]);
}

static void expand_op(expansion *x, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = x->h;
    hf_predicate p = hf_op_predicate(h, op);
    const hf_key_id *keys = NULL;
    const uint32_t *old = h->extra + h->op_value[op];
    uint32_t n = hf_snapshot_keys(x->s, p.table, &keys);
    size_t at = x->extra.n, entries;
    bool known = true;

    x->out->op_value[op] = (uint32_t)at;
    push_words(x, old, (size_t)(p.columns - old) + p.n_columns);
    entries = x->extra.n;
    for (uint32_t i = 0; i < n && known; i++)
        known = add_entry(x, t, op, keys[i]);
    if (!known)
        x->extra.n = entries;
    hf_extra_set_versions(x->extra.at + at, known,
                          (uint32_t)(x->extra.n - entries) / 2);
    push_words(x, (const uint32_t *)(const void *)p.results,
               2 * (size_t)p.n_results);
}

static void expand_all(expansion *x, const uint8_t *kept)
{
    const hf_history *h = x->h;

    push_words(x, h->extra, h->n_extra);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t];
             (!kept || kept[t]) && o < h->op_first[t + 1]; o++)
            if (hf_op_has_predicate(hf_op_kind_of(h, o)) &&
                hf_op_predicate(h, o).snapshot != HF_SNAPSHOT_NONE)
                expand_op(x, t, o);
}

hf_history *hf_snapshots_expand(const hf_history *h, const uint8_t *kept)
{
    expansion x = {.h = h, .s = hf_snapshots_new(h)};

    x.out = HF_NEW(hf_history);
    *x.out = *h;
    x.out->block = NULL;
    x.out->op_value = HF_NEW_ARRAY(hf_value_id, (size_t)h->n_ops + 1);
    copy_column(x.out->op_value, h->op_value, h->n_ops * sizeof(*h->op_value));
    copy_values(&x);
    if (x.s)
        expand_all(&x, kept);
    else
        push_words(&x, h->extra, h->n_extra);
    x.out->extra = x.extra.at;
    x.out->n_extra = (uint32_t)x.extra.n;
    hf_free(x.nil);
    hf_snapshots_free(x.s);
    return x.out;
}

void hf_snapshots_collapse(hf_history *x)
{
    if (!x)
        return;
    hf_free(x->op_value);
    hf_free(x->value_key);
    hf_free(x->value_type);
    hf_free(x->value_data);
    hf_free(x->extra);
    hf_free(x);
}
