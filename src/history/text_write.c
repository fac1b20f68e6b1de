/* text_write.c: writing the native text form.
 *
 * The short form where it says everything, the long form otherwise; what
 * hf_text_read() makes of it is the same history, number for number.
 */
#include "history/text.h"

#include "base/json_out.h"
#include "base/map.h"
#include "base/mem.h"
#include "history/extra.h"
#include "model/level.h"

static void put_scalar(hf_json *j, hf_scalar s)
{
    switch (s.type) {
    case HF_INT:
        hf_json_int(j, s.number);
        break;
    case HF_BOOL:
        hf_json_bool(j, s.number != 0);
        break;
    case HF_TEXT:
        hf_json_str(j, (hf_str){s.text, s.length});
        break;
    case HF_REAL:
    case HF_ROW:
        hf_json_raw(j, (hf_str){s.text, s.length});
        break;
    default:
        hf_json_null(j);
    }
}

static void put_key(const hf_history *h, hf_key_id key, hf_json *j)
{
    hf_string_id table = h->key_table ? h->key_table[key] : HF_NONE;

    if (table == HF_NONE) {
        put_scalar(j, hf_key_scalar(h, key));
        return;
    }
    hf_json_array(j);
    hf_json_str(j, hf_string(h, table));
    put_scalar(j, hf_key_scalar(h, key));
    hf_json_end(j);
}

static void put_list(const hf_history *h, hf_value_id v, hf_json *j)
{
    uint32_t n = hf_list_items(h, v, NULL);
    hf_value_id *items = HF_NEW_ARRAY(hf_value_id, n);

    (void)hf_list_items(h, v, items);
    hf_json_array(j);
    for (uint32_t i = 0; i < n; i++)
        put_scalar(j, hf_value_scalar(h, items[i]));
    hf_json_end(j);
    hf_free(items);
}

static void put_value(const hf_history *h, hf_value_id v, hf_json *j)
{
    if (h->value_type[v] == HF_LIST)
        put_list(h, v, j);
    else
        put_scalar(j, hf_value_scalar(h, v));
}

/* The value of a list read may be the empty list. */
static void put_op_value(const hf_history *h, hf_op_id op, hf_json *j)
{
    hf_value_id v = h->op_value[op];

    if (hf_op_kind_of(h, op) == HF_OP_READ_LIST && h->value_type[v] == HF_NIL)
        hf_json_raw(j, HF_STR("[]"));
    else
        put_value(h, v, j);
}

static const char *short_name(hf_op_kind kind)
{
    static const char *const names[HF_OP_KIND_COUNT] = {
        [HF_OP_READ] = "r",
        [HF_OP_WRITE] = "w",
        [HF_OP_APPEND] = "append",
        [HF_OP_READ_LIST] = "r",
        [HF_OP_INSERT] = "insert",
        [HF_OP_DELETE] = "delete",
        [HF_OP_INCREMENT] = "inc",
        [HF_OP_PREDICATE_READ] = "pr",
        [HF_OP_PREDICATE_UPDATE] = "pu",
        [HF_OP_PREDICATE_DELETE] = "pd",
        [HF_OP_MIN] = "min",
        [HF_OP_MAX] = "max",
        [HF_OP_SUM] = "sum",
        [HF_OP_COUNT_ROWS] = "count",
        [HF_OP_BEGIN] = "begin",
        [HF_OP_COMMIT] = "commit",
        [HF_OP_ABORT] = "abort",
        [HF_OP_SQL] = "sql",
        [HF_OP_AVG] = "avg",
    };

    return names[kind];
}

static void put_versions(const hf_history *h, const char *name,
                         const hf_version_ref *refs, uint32_t n, hf_json *j)
{
    hf_json_key(j, name);
    hf_json_array(j);
    for (uint32_t i = 0; i < n; i++) {
        hf_json_array(j);
        put_key(h, h->value_key[refs[i].value], j);
        put_value(h, refs[i].value, j);
        if (refs[i].writer == HF_WRITER_INITIAL)
            hf_json_int(j, 0);
        else if (refs[i].writer != HF_NONE)
            hf_json_int(j, hf_txn_label(h, refs[i].writer));
        hf_json_end(j);
    }
    hf_json_end(j);
}

static void put_strings(const hf_history *h, const char *name,
                        const uint32_t *ids, uint32_t n, hf_json *j)
{
    hf_json_key(j, name);
    hf_json_array(j);
    for (uint32_t i = 0; i < n; i++)
        hf_json_str(j, hf_string(h, ids[i]));
    hf_json_end(j);
}

static void put_predicate(const hf_history *h, hf_op_id op, hf_json *j)
{
    hf_predicate p = hf_op_predicate(h, op);
    bool aggregate = hf_op_is_aggregate(hf_op_kind_of(h, op));

    if (p.table != HF_NONE) {
        hf_json_key(j, "table");
        hf_json_str(j, hf_string(h, p.table));
    }
    hf_json_key(j, "where");
    hf_json_str(j, hf_string(h, p.condition));
    if (p.n_columns > 0)
        put_strings(h, "columns", p.columns, p.n_columns, j);
    if (p.has_version_set)
        put_versions(h, "versions", p.versions, p.n_versions, j);
    if (p.snapshot != HF_SNAPSHOT_NONE)
        hf_json_key(j, "snapshot");
    if (p.snapshot == HF_SNAPSHOT_TIME)
        hf_json_uint(j, p.snapshot_time);
    else if (p.snapshot == HF_SNAPSHOT_IDS)
        hf_json_str(j, hf_string(h, p.snapshot_ids));
    if (aggregate ? p.n_results > 0 : p.has_result_set)
        put_versions(h, "rows", p.results, p.n_results, j);
    if (aggregate && p.has_result_set) {
        hf_json_key(j, "value");
        put_scalar(j, p.result);
    }
}

static void put_sql(const hf_history *h, hf_op_id op, hf_json *j)
{
    hf_sql s = hf_op_sql(h, op);

    hf_json_key(j, "text");
    hf_json_str(j, hf_string(h, s.text));
    if (s.n_params > 0) {
        hf_json_key(j, "params");
        hf_json_array(j);
        for (uint32_t i = 0; i < s.n_params; i++)
            put_scalar(j, hf_extra_scalar(h, s.params + 3 * (size_t)i));
        hf_json_end(j);
    }
    if (s.n_columns > 0)
        put_strings(h, "columns", s.names, s.n_columns, j);
    if (s.has_rows) {
        const uint32_t *cell = s.cells;

        hf_json_key(j, "rows");
        hf_json_array(j);
        for (uint32_t row = 0; row < s.n_rows; row++) {
            hf_json_array(j);
            for (uint32_t i = 0; i < s.n_columns; i++, cell += 3)
                put_scalar(j, hf_extra_scalar(h, cell));
            hf_json_end(j);
        }
        hf_json_end(j);
    }
    if (s.affected != UINT64_MAX) {
        hf_json_key(j, "affected");
        hf_json_uint(j, s.affected);
    }
}

static void put_increment(const hf_history *h, hf_op_id op, hf_json *j)
{
    hf_increment inc = hf_op_increment(h, op);

    hf_json_key(j, "by");
    hf_json_int(j, inc.amount);
    if (inc.has_result) {
        hf_json_key(j, "before");
        put_value(h, inc.before, j);
        hf_json_key(j, "after");
        put_value(h, inc.after, j);
    }
}

static void put_long(const hf_history *h, hf_txn_id t, hf_op_id op, hf_json *j)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    unsigned flags = hf_op_flags_of(h, op);
    uint64_t start, end;

    hf_json_object(j);
    hf_json_key(j, "op");
    hf_json_text(j, short_name(kind));
    if (h->op_key[op] != HF_NONE) {
        hf_json_key(j, "key");
        put_key(h, h->op_key[op], j);
    }
    if (hf_op_has_predicate(kind)) {
        put_predicate(h, op, j);
    } else if (kind == HF_OP_SQL) {
        put_sql(h, op, j);
    } else if (kind == HF_OP_INCREMENT) {
        put_increment(h, op, j);
    } else if (h->op_value[op] != HF_NONE && kind != HF_OP_DELETE) {
        hf_json_key(j, "value");
        put_op_value(h, op, j);
    }
    if (kind == HF_OP_SQL && (flags & HF_OP_WITH_ITEMS) == HF_OP_WITH_ITEMS) {
        hf_json_key(j, "items");
        hf_json_bool(j, true);
    } else if (flags & (HF_OP_FOR_UPDATE | HF_OP_FOR_SHARE)) {
        hf_json_key(j, "lock");
        hf_json_text(j, flags & HF_OP_FOR_UPDATE ? "update" : "share");
    }
    if (flags & HF_OP_FAILED) {
        hf_json_key(j, "failed");
        hf_json_bool(j, true);
    }
    if (hf_op_interval(h, t, op, &start, &end)) {
        hf_json_key(j, "at");
        hf_json_array(j);
        hf_json_uint(j, start);
        if (end == HF_TIME_NONE)
            hf_json_null(j);
        else
            hf_json_uint(j, end);
        hf_json_end(j);
    }
    hf_json_end(j);
}

static bool needs_long_form(const hf_history *h, hf_txn_id t, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    uint64_t start, end;

    return hf_op_flags_of(h, op) || hf_op_has_predicate(kind) ||
           kind == HF_OP_SQL ||
           (kind == HF_OP_INCREMENT && hf_op_increment(h, op).has_result) ||
           hf_op_interval(h, t, op, &start, &end);
}

static void put_op(const hf_history *h, hf_txn_id t, hf_op_id op, hf_json *j)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (needs_long_form(h, t, op)) {
        put_long(h, t, op, j);
        return;
    }
    hf_json_array(j);
    hf_json_text(j, short_name(kind));
    if (h->op_key[op] != HF_NONE)
        put_key(h, h->op_key[op], j);
    if (kind == HF_OP_INCREMENT)
        hf_json_int(j, hf_op_increment(h, op).amount);
    else if (h->op_value[op] != HF_NONE && kind != HF_OP_DELETE)
        put_op_value(h, op, j);
    hf_json_end(j);
}

static void put_time(hf_json *j, const char *name, const uint64_t *column,
                     hf_txn_id t)
{
    if (!column || column[t] == HF_TIME_NONE)
        return;
    hf_json_key(j, name);
    hf_json_uint(j, column[t]);
}

static void put_txn(const hf_history *h, hf_txn_id t, hf_json *j)
{
    hf_string_id session = h->session_name[h->txn_session[t]];
    int64_t number;

    hf_json_object(j);
    if (h->txn_label) {
        hf_json_key(j, "id");
        hf_json_int(j, h->txn_label[t]);
    }
    if (session != HF_NONE) {
        hf_json_key(j, "session");
        if (hf_str_to_int(hf_string(h, session), &number))
            hf_json_int(j, number);
        else
            hf_json_str(j, hf_string(h, session));
    }
    hf_json_key(j, "ops");
    hf_json_array(j);
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
        put_op(h, t, op, j);
    hf_json_end(j);
    if (h->txn_outcome[t] != HF_COMMITTED) {
        hf_json_key(j, "outcome");
        hf_json_text(j, hf_outcome_name((hf_outcome)h->txn_outcome[t]));
    }
    put_time(j, "begin", h->txn_begin, t);
    put_time(j, "end", h->txn_end, t);
    if (h->txn_level && h->txn_level[t] != HF_LEVEL_UNSET) {
        hf_json_key(j, "level");
        hf_json_text(j, hf_level_get((hf_level)h->txn_level[t])->name);
    }
    put_time(j, "start_ts", h->cert.start_ts, t);
    put_time(j, "commit_ts", h->cert.commit_ts, t);
    hf_json_end(j);
}

static void put_header(const hf_history *h, hf_json *j)
{
    hf_json_object(j);
    hf_json_key(j, "holdfast");
    hf_json_int(j, 1);
    if (h->name != HF_NONE) {
        hf_json_key(j, "name");
        hf_json_str(j, hf_string(h, h->name));
    }
    if (h->time_unit != HF_TIME_UNIT_NONE) {
        hf_json_key(j, "time");
        hf_json_text(j, h->time_unit == HF_TIME_UNIT_NS ? "ns" : "events");
    }
    if (h->unique_values) {
        hf_json_key(j, "unique");
        hf_json_bool(j, true);
    }
    if (h->partial_orders) {
        hf_json_key(j, "orders");
        hf_json_text(j, "partial");
    }
    hf_json_end(j);
}

/* Initial values, at most a hundred a line. */
static void put_initial(const hf_history *h, hf_out *out)
{
    hf_json j;
    unsigned n = 0;

    for (hf_key_id k = 0; h->key_initial && k < h->n_keys; k++) {
        if (h->key_initial[k] == HF_NONE)
            continue;
        if (n++ % 100 == 0) {
            if (n > 1) {
                hf_json_end(&j);
                hf_json_end(&j);
                hf_out_char(out, '\n');
            }
            hf_json_init(&j, out);
            hf_json_object(&j);
            hf_json_key(&j, "initial");
            hf_json_array(&j);
        }
        hf_json_array(&j);
        put_key(h, k, &j);
        put_value(h, h->key_initial[k], &j);
        hf_json_end(&j);
    }
    if (n > 0) {
        hf_json_end(&j);
        hf_json_end(&j);
        hf_out_char(out, '\n');
    }
}

static void put_numbers(const hf_history *h, const hf_txn_id *txns, uint64_t n,
                        hf_json *j)
{
    hf_json_array(j);
    for (uint64_t i = 0; i < n; i++)
        hf_json_int(j, hf_txn_label(h, txns[i]));
    hf_json_end(j);
}

static void put_order(const hf_history *h, hf_key_id key, const hf_txn_id *txns,
                      uint64_t n, hf_out *out)
{
    hf_json j;

    hf_json_init(&j, out);
    hf_json_object(&j);
    hf_json_key(&j, "order");
    hf_json_array(&j);
    put_key(h, key, &j);
    put_numbers(h, txns, n, &j);
    hf_json_end(&j);
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

static void put_serial(const hf_history *h, const hf_txn_id *txns, uint64_t n,
                       hf_out *out)
{
    hf_json j;

    hf_json_init(&j, out);
    hf_json_object(&j);
    hf_json_key(&j, "serial");
    put_numbers(h, txns, n, &j);
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

static void put_certificate(const hf_history *h, hf_out *out)
{
    const hf_certificate *c = &h->cert;

    for (hf_key_id k = 0; c->order_first && k < h->n_keys; k++)
        if (c->order_first[k] < c->order_first[k + 1])
            put_order(h, k, c->order_txn + c->order_first[k],
                      c->order_first[k + 1] - c->order_first[k], out);
    for (uint32_t i = 0; i < c->n_empty; i++)
        put_order(h, c->empty_order[i], NULL, 0, out);
    for (uint32_t i = 0; i < c->n_serial; i += 1000)
        put_serial(h, c->serial + i,
                   c->n_serial - i < 1000 ? c->n_serial - i : 1000, out);
    if (c->empty_serial)
        put_serial(h, NULL, 0, out);
}

static bool labels_are_unique(const hf_history *h)
{
    hf_map seen;
    bool unique = true;

    hf_map_init(&seen);
    for (hf_txn_id t = 0; h->txn_label && unique && t < h->n_txns; t++)
        unique = hf_map_add(&seen, (uint64_t)h->txn_label[t], t) == t;
    hf_map_release(&seen);
    return unique;
}

static void put_transactions(const hf_history *h, hf_out *out)
{
    hf_json j;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        hf_json_init(&j, out);
        put_txn(h, t, &j);
        hf_out_char(out, '\n');
    }
}

void hf_text_write(const hf_history *original, hf_out *out)
{
    hf_history shown = *original;
    const hf_history *h = &shown;

    /* some formats number transactions loosely; ids must be unique here */
    if (!labels_are_unique(original))
        shown.txn_label = NULL;

    hf_text_write_head(h, out);
    hf_text_write_piece(h, out);
    put_certificate(h, out);
}

void hf_text_write_head(const hf_history *h, hf_out *out)
{
    hf_json j;

    hf_json_init(&j, out);
    put_header(h, &j);
    hf_out_char(out, '\n');
}

void hf_text_write_piece(const hf_history *h, hf_out *out)
{
    put_initial(h, out);
    put_transactions(h, out);
}
