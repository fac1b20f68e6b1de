/* append.c: adding one history to another, by names.
 *
 * Ids of strings, keys, values and sessions are translated through tables as
 * long as the added history's; transactions follow those that are there.
 * O(its size), one probe of the builder's index for each value.
 */
#include "history/binary_stream.h"

#include "base/mem.h"
#include "history/extra.h"

typedef struct translation {
    hf_builder *b;
    const hf_history *h;
    hf_session_id *sessions;
    hf_key_id *keys;
    hf_value_id *values;
    hf_txn_id first_txn;
    bool has_txn;
} translation;

static hf_scalar text_scalar(const hf_history *h, hf_string_id id)
{
    hf_str s = id == HF_NONE ? HF_STR("") : hf_string(h, id);

    return (hf_scalar){.type = id == HF_NONE ? HF_NIL : HF_TEXT,
                       .text = s.ptr,
                       .length = s.len};
}

static void add_sessions(translation *x)
{
    for (uint32_t i = 0; i < x->h->n_sessions; i++) {
        hf_string_id name = x->h->session_name[i];

        if (name == HF_NONE) {
            x->sessions[i] = hf_builder_session_fresh(x->b);
        } else {
            hf_str s = hf_string(x->h, name);

            x->sessions[i] = hf_builder_session_text(x->b, s.ptr, s.len);
        }
    }
}

static void add_keys(translation *x)
{
    const hf_history *h = x->h;

    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_string_id table = h->key_table ? h->key_table[k] : HF_NONE;

        if (table != HF_NONE) {
            hf_str s = hf_string(h, table);

            table = hf_builder_string(x->b, s.ptr, s.len);
        }
        x->keys[k] = hf_builder_key_row(x->b, table, hf_key_scalar(h, k));
    }
}

static hf_value_id plain_value(const translation *x, hf_value_id v)
{
    hf_key_id key = x->keys[x->h->value_key[v]];

    return x->h->value_type[v] == HF_INT
               ? hf_builder_int(x->b, key, x->h->value_data[v])
               : hf_builder_value(x->b, key, hf_value_scalar(x->h, v));
}

static void add_values(translation *x)
{
    const hf_history *h = x->h;

    for (hf_value_id v = 0; v < h->n_values; v++) {
        hf_value_id up;

        if (h->value_type[v] != HF_LIST) {
            x->values[v] = plain_value(x, v);
            continue;
        }
        up = hf_list_parent(h, v); /* comes before it; its last need not */
        x->values[v] = hf_builder_list(x->b, x->keys[h->value_key[v]],
                                       up == HF_NONE ? up : x->values[up],
                                       plain_value(x, hf_list_last(h, v)));
    }
    for (hf_key_id k = 0; h->key_initial && k < h->n_keys; k++)
        if (h->key_initial[k] != HF_NONE)
            hf_builder_initial(x->b, x->keys[k], x->values[h->key_initial[k]]);
}

static hf_value_id value_of(const translation *x, hf_value_id v)
{
    return v == HF_NONE ? v : x->values[v];
}

/* ---- operations with more than a key and a value ------------------------- */

static hf_version_ref *add_refs(const translation *x,
                                const hf_version_ref *refs, uint32_t n)
{
    hf_version_ref *to = HF_NEW_ARRAY(hf_version_ref, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        to[i].value = value_of(x, refs[i].value);
        to[i].writer = refs[i].writer < HF_WRITER_INITIAL
                           ? refs[i].writer + x->first_txn
                           : refs[i].writer;
    }
    return to;
}

static hf_scalar *text_scalars(const hf_history *h, const uint32_t *ids,
                               uint32_t n)
{
    hf_scalar *to = HF_NEW_ARRAY(hf_scalar, (size_t)n + 1);

    for (uint32_t i = 0; i < n; i++)
        to[i] = text_scalar(h, ids[i]);
    return to;
}

static void add_predicate(translation *x, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = x->h;
    hf_predicate p = hf_op_predicate(h, op);
    hf_scalar *columns = text_scalars(h, p.columns, p.n_columns);
    hf_version_ref *versions = add_refs(x, p.versions, p.n_versions);
    hf_version_ref *results = add_refs(x, p.results, p.n_results);
    hf_predicate_in in = {.table = text_scalar(h, p.table),
                          .condition = text_scalar(h, p.condition),
                          .columns = columns,
                          .n_columns = p.n_columns,
                          .has_version_set = p.has_version_set,
                          .has_result_set = p.has_result_set,
                          .versions = versions,
                          .n_versions = p.n_versions,
                          .results = results,
                          .n_results = p.n_results,
                          .result = p.result};

    if (p.snapshot == HF_SNAPSHOT_TIME)
        in.snapshot =
            (hf_scalar){.type = HF_INT, .number = (int64_t)p.snapshot_time};
    else if (p.snapshot == HF_SNAPSHOT_IDS)
        in.snapshot = text_scalar(h, p.snapshot_ids);
    (void)hf_builder_predicate(x->b, t, h->op_kind[op], &in);
    hf_free(columns);
    hf_free(versions);
    hf_free(results);
}

static void add_sql(translation *x, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = x->h;
    hf_sql s = hf_op_sql(h, op);
    size_t n_cells = (size_t)s.n_rows * s.n_columns;
    hf_scalar *names = text_scalars(h, s.names, s.n_columns);
    hf_scalar *all = HF_NEW_ARRAY(hf_scalar, n_cells + s.n_params + 1);

    for (size_t i = 0; i < s.n_params; i++)
        all[i] = hf_extra_scalar(h, s.params + 3 * i);
    for (size_t i = 0; i < n_cells; i++)
        all[s.n_params + i] = hf_extra_scalar(h, s.cells + 3 * i);
    (void)hf_builder_sql(x->b, t,
                         &(hf_sql_in){.text = text_scalar(h, s.text),
                                      .params = all,
                                      .n_params = s.n_params,
                                      .has_rows = s.has_rows,
                                      .names = names,
                                      .n_columns = s.n_columns,
                                      .cells = all + s.n_params,
                                      .n_rows = s.n_rows,
                                      .affected = s.affected});
    hf_builder_op_flags(x->b, hf_op_flags_of(h, op));
    hf_free(names);
    hf_free(all);
}

static void add_op(translation *x, hf_txn_id t, hf_txn_id from, hf_op_id op)
{
    const hf_history *h = x->h;
    hf_op_kind kind = hf_op_kind_of(h, op);
    uint64_t start, end;

    if (kind == HF_OP_INCREMENT) {
        hf_increment i = hf_op_increment(h, op);

        (void)hf_builder_increment(x->b, t, x->keys[h->op_key[op]], i.amount,
                                   value_of(x, i.before), value_of(x, i.after));
        hf_builder_op_flags(x->b, hf_op_flags_of(h, op));
    } else if (kind == HF_OP_SQL) {
        add_sql(x, t, op);
    } else if (hf_op_has_predicate(kind)) {
        add_predicate(x, t, op);
    } else {
        hf_key_id key = h->op_key[op];

        (void)hf_builder_op(x->b, t, h->op_kind[op],
                            key == HF_NONE ? key : x->keys[key],
                            value_of(x, h->op_value[op]));
    }
    if (hf_op_interval(h, from, op, &start, &end))
        hf_builder_interval(x->b, start, end);
}

static void add_txn(translation *x, hf_txn_id from)
{
    const hf_history *h = x->h;
    hf_txn_id t = hf_builder_txn(x->b, x->sessions[h->txn_session[from]]);

    if (!x->has_txn) {
        x->first_txn = t;
        x->has_txn = true;
    }
    hf_builder_outcome(x->b, t, (hf_outcome)h->txn_outcome[from]);
    if (h->txn_begin)
        hf_builder_times(x->b, t, h->txn_begin[from], h->txn_end[from]);
    if (h->txn_level && h->txn_level[from] != HF_LEVEL_UNSET)
        hf_builder_level(x->b, t, h->txn_level[from]);
    if (h->txn_label)
        hf_builder_label(x->b, t, h->txn_label[from]);
    if (h->cert.start_ts)
        hf_builder_timestamps(x->b, t, h->cert.start_ts[from],
                              h->cert.commit_ts[from]);
    for (hf_op_id op = h->op_first[from]; op < h->op_first[from + 1]; op++)
        add_op(x, t, from, op);
}

void hf_builder_append(hf_builder *b, const hf_history *h)
{
    translation x = {.b = b, .h = h};

    x.sessions = HF_NEW_ARRAY(hf_session_id, (size_t)h->n_sessions + 1);
    x.keys = HF_NEW_ARRAY(hf_key_id, (size_t)h->n_keys + 1);
    x.values = HF_NEW_ARRAY(hf_value_id, (size_t)h->n_values + 1);
    add_sessions(&x);
    add_keys(&x);
    add_values(&x);
    for (hf_txn_id t = 0; t < h->n_txns && !hf_builder_failed(b); t++)
        add_txn(&x, t);
    hf_free(x.sessions);
    hf_free(x.keys);
    hf_free(x.values);
}
