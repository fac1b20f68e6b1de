/* binary_write.c: writing the native binary form.
 *
 * Cuts the history into batches of whole transactions.  A batch carries the
 * strings, keys and values up to the highest one that its operations name,
 * so that it can be read without those after it.
 */
#include "history/binary.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "history/binary_layout.h"
#include "history/extra.h"

/* A batch ends when it has this many operations or transactions: few enough
 * that a reader finds it in the cache when it comes back to it. */
#define BATCH_OPS ((uint32_t)1 << 14)
#define BATCH_TXNS ((uint32_t)1 << 13)
#define CERTIFICATE_ENTRIES ((uint32_t)1 << 18)

/* How far the columns are written. */
typedef struct progress {
    uint32_t strings, sessions, keys, values, txns, ops, extra, wide;
} progress;

void hf_frame_put(hf_out *out, hf_frame_type type, hf_str payload)
{
    static const char zeros[8] = {0};
    size_t pad = hf_padded(payload.len) - payload.len;
    hf_frame f = {.magic = HF_FRAME_MAGIC,
                  .type = (uint32_t)type,
                  .length = payload.len + pad};
    XXH3_state_t *state = XXH3_createState();

    XXH3_64bits_reset(state);
    XXH3_64bits_update(state, payload.ptr, payload.len);
    XXH3_64bits_update(state, zeros, pad);
    f.checksum = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    f.head_checksum = XXH3_64bits(&f, 24);
    hf_out_bytes(out, &f, sizeof(f));
    hf_out_str(out, payload);
    hf_out_bytes(out, zeros, pad);
}

static void reach(uint32_t *high, uint32_t id)
{
    if (id != HF_NONE && id >= *high)
        *high = id + 1;
}

static void reach_scalar(const uint32_t *w, progress *p)
{
    if (w[0] == HF_TEXT || w[0] == HF_REAL || w[0] == HF_ROW)
        reach(&p->strings, w[1]);
}

/* Strings and values that the extra words of an operation name. */
static void reach_extra(const hf_history *h, hf_op_id op, progress *p)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (kind == HF_OP_INCREMENT) {
        hf_increment inc = hf_op_increment(h, op);

        reach(&p->values, inc.before);
        reach(&p->values, inc.after);
    } else if (kind == HF_OP_SQL) {
        hf_sql s = hf_op_sql(h, op);
        uint64_t n = s.n_params + (uint64_t)s.n_rows * s.n_columns;

        reach(&p->strings, s.text);
        for (uint32_t i = 0; i < s.n_columns; i++)
            reach(&p->strings, s.names[i]);
        for (uint64_t i = 0; i < n; i++)
            reach_scalar(s.params + 3 * i, p);
    } else {
        hf_predicate q = hf_op_predicate(h, op);

        reach(&p->strings, q.table);
        reach(&p->strings, q.condition);
        reach(&p->strings, q.snapshot_ids);
        reach_scalar(h->extra + h->op_value[op] + 6, p);
        for (uint32_t i = 0; i < q.n_columns; i++)
            reach(&p->strings, q.columns[i]);
        for (uint32_t i = 0; i < q.n_versions + q.n_results; i++)
            reach(&p->values, q.versions[i].value);
    }
}

static void reach_ops(const hf_history *h, hf_op_id from, hf_op_id to,
                      progress *p)
{
    for (hf_op_id op = from; op < to; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);

        reach(&p->keys, h->op_key[op]);
        if (hf_op_has_extra(kind))
            reach_extra(h, op, p);
        else if (kind <= HF_OP_DELETE)
            reach(&p->values, h->op_value[op]);
        if (h->op_start && h->op_start[op] == UINT32_MAX)
            reach(&p->wide, h->op_length[op]);
    }
}

/* The extra words of an operation end where those of the next begin. */
static uint32_t extra_end(const hf_history *h, hf_op_id from)
{
    uint32_t end = h->n_extra;

    for (hf_op_id op = from; op < h->n_ops; op++)
        if (hf_op_has_extra(hf_op_kind_of(h, op)) && h->op_value[op] < end) {
            end = h->op_value[op];
            break;
        }
    return end;
}

/* Closes the sets: values name keys and strings, keys name strings and
 * initial values. */
static void reach_closure(const hf_history *h, const progress *from,
                          progress *to)
{
    uint32_t values = from->values, keys = from->keys;

    while (values < to->values || keys < to->keys) {
        for (; values < to->values; values++) {
            reach(&to->keys, h->value_key[values]);
            if (h->value_type[values] == HF_LIST)
                reach(&to->values, hf_list_last(h, values));
            else if (h->value_type[values] == HF_TEXT ||
                     h->value_type[values] == HF_REAL ||
                     h->value_type[values] == HF_ROW)
                reach(&to->strings, (uint32_t)h->value_data[values]);
        }
        for (; keys < to->keys; keys++) {
            if (h->key_type[keys] == HF_TEXT)
                reach(&to->strings, (uint32_t)h->key_data[keys]);
            if (h->key_table)
                reach(&to->strings, h->key_table[keys]);
            if (h->key_initial)
                reach(&to->values, h->key_initial[keys]);
        }
    }
    for (uint32_t s = from->sessions; s < to->sessions; s++)
        reach(&to->strings, h->session_name[s]);
}

/* Where the batch after `from` ends. */
static progress next_batch(const hf_history *h, const progress *from)
{
    progress to = *from;

    while (to.txns < h->n_txns && to.txns - from->txns < BATCH_TXNS &&
           h->op_first[to.txns] - from->ops < BATCH_OPS) {
        reach(&to.sessions, h->txn_session[to.txns]);
        to.txns++;
    }
    to.ops = h->op_first[to.txns];
    reach_ops(h, from->ops, to.ops, &to);
    if (h->n_extra > 0)
        to.extra = extra_end(h, to.ops);
    if (to.txns == h->n_txns) /* the rest, used or not */
        to = (progress){h->n_strings, h->n_sessions, h->n_keys,  h->n_values,
                        h->n_txns,    h->n_ops,      h->n_extra, h->n_wide};
    reach_closure(h, from, &to);
    return to;
}

static unsigned optional_columns(const hf_history *h)
{
    return (h->key_table ? HF_HAS_TABLE : 0) |
           (h->key_initial ? HF_HAS_INITIAL : 0) |
           (h->txn_level ? HF_HAS_LEVEL : 0) |
           (h->txn_begin ? HF_HAS_TIMES : 0) |
           (h->txn_label ? HF_HAS_LABEL : 0) | (h->txn_line ? HF_HAS_LINE : 0) |
           (h->cert.start_ts ? HF_HAS_TIMESTAMPS : 0) |
           (h->op_start ? HF_HAS_INTERVALS : 0);
}

static void put_padded(hf_out *out, const void *bytes, size_t n)
{
    static const char zeros[8] = {0};

    hf_out_bytes(out, bytes, n);
    hf_out_bytes(out, zeros, (size_t)(hf_padded(n) - n));
}

static void put_lengths(hf_out *out, const uint64_t *first, uint32_t from,
                        uint32_t to)
{
    static const uint32_t zero = 0;

    for (uint32_t i = from; i < to; i++) {
        uint32_t length = (uint32_t)(first[i + 1] - first[i]);

        hf_out_bytes(out, &length, 4);
    }
    if ((to - from) % 2 == 1)
        hf_out_bytes(out, &zero, 4);
}

static void put_op_counts(hf_out *out, const hf_op_id *first, uint32_t from,
                          uint32_t to)
{
    static const uint32_t zero = 0;

    for (uint32_t i = from; i < to; i++) {
        uint32_t n = first[i + 1] - first[i];

        hf_out_bytes(out, &n, 4);
    }
    if ((to - from) % 2 == 1)
        hf_out_bytes(out, &zero, 4);
}

/* Where the batch's part of a column begins, counted in entries. */
static uint64_t column_start(const hf_history *h, const hf_column *c,
                             const progress *from)
{
    switch (c->count) {
    case offsetof(hf_batch, string_bytes):
        return h->string_first[from->strings];
    case offsetof(hf_batch, n_sessions):
        return from->sessions;
    case offsetof(hf_batch, n_keys):
        return from->keys;
    case offsetof(hf_batch, n_values):
        return from->values;
    case offsetof(hf_batch, n_txns):
        return from->txns;
    default:
        return from->ops;
    }
}

static void put_batch(const hf_history *h, const progress *from,
                      const progress *to, hf_out *scratch)
{
    hf_batch b = {
        .n_strings = to->strings - from->strings,
        .n_sessions = to->sessions - from->sessions,
        .n_keys = to->keys - from->keys,
        .n_values = to->values - from->values,
        .n_txns = to->txns - from->txns,
        .n_ops = to->ops - from->ops,
        .n_extra = to->extra - from->extra,
        .n_wide = to->wide - from->wide,
        .string_bytes =
            h->string_first[to->strings] - h->string_first[from->strings],
        .columns = optional_columns(h),
    };

    scratch->n = 0;
    hf_out_bytes(scratch, &b, sizeof(b));
    for (int i = 0; i < HF_COLUMN_COUNT; i++) {
        const hf_column *c = &hf_columns[i];
        const char *column =
            *(char *const *)(const void *)((const char *)h + c->place);

        if (!hf_batch_has(&b, c))
            continue;
        if (i == HF_COLUMN_STRING_LENGTH)
            put_lengths(scratch, h->string_first, from->strings, to->strings);
        else if (i == HF_COLUMN_OP_COUNT)
            put_op_counts(scratch, h->op_first, from->txns, to->txns);
        else if (hf_batch_count(&b, c) > 0)
            put_padded(scratch, column + column_start(h, c, from) * c->unit,
                       (size_t)hf_batch_count(&b, c) * c->unit);
    }
    if (b.n_extra > 0)
        put_padded(scratch, h->extra + from->extra, (size_t)b.n_extra * 4);
    if (b.n_wide > 0)
        put_padded(scratch, h->wide + from->wide, (size_t)b.n_wide * 16);
}

static void put_about(const hf_history *h, hf_out *out, hf_out *scratch)
{
    hf_str name = hf_string(h, h->name);
    hf_about a = {.time_unit = (uint32_t)h->time_unit,
                  .flags = (h->unique_values ? HF_ABOUT_UNIQUE : 0) |
                           (h->partial_orders ? HF_ABOUT_PARTIAL_ORDERS : 0),
                  .n_skipped = h->n_skipped,
                  .name_length =
                      h->name == HF_NONE ? UINT64_MAX : (uint64_t)name.len};

    scratch->n = 0;
    hf_out_bytes(scratch, &a, sizeof(a));
    hf_out_str(scratch, name);
    hf_frame_put(out, HF_FRAME_ABOUT, hf_out_view(scratch));
}

/* One frame of the version order: runs of (key, how many), then the
 * transactions; returns the next key. */
static hf_key_id put_order(const hf_history *h, hf_key_id key, hf_out *out,
                           hf_out *scratch)
{
    const uint64_t *first = h->cert.order_first;
    hf_key_id end = key;
    hf_order o = {0};

    while (end < h->n_keys &&
           (end == key || first[end + 1] - first[key] <= CERTIFICATE_ENTRIES))
        end++;
    for (hf_key_id k = key; k < end; k++)
        o.n_runs += first[k + 1] > first[k];
    o.n_entries = (uint32_t)(first[end] - first[key]);
    scratch->n = 0;
    hf_out_bytes(scratch, &o, sizeof(o));
    for (hf_key_id k = key; k < end; k++)
        if (first[k + 1] > first[k])
            hf_out_bytes(scratch, &k, 4);
    for (hf_key_id k = key; k < end; k++) {
        uint32_t n = (uint32_t)(first[k + 1] - first[k]);

        if (n > 0)
            hf_out_bytes(scratch, &n, 4);
    }
    hf_out_bytes(scratch, h->cert.order_txn + first[key],
                 (size_t)o.n_entries * 4);
    if (o.n_runs > 0)
        hf_frame_put(out, HF_FRAME_ORDER, hf_out_view(scratch));
    return end;
}

/* Orders that were given and are empty: runs of length 0. */
static void put_empty(const hf_certificate *c, hf_out *out, hf_out *scratch)
{
    const uint32_t zero = 0;
    hf_order o = {.n_runs = c->n_empty};

    if (c->n_empty > 0) {
        scratch->n = 0;
        hf_out_bytes(scratch, &o, sizeof(o));
        hf_out_bytes(scratch, c->empty_order, (size_t)c->n_empty * 4);
        for (uint32_t i = 0; i < c->n_empty; i++)
            hf_out_bytes(scratch, &zero, 4);
        hf_frame_put(out, HF_FRAME_ORDER, hf_out_view(scratch));
    }
    if (c->empty_serial) {
        scratch->n = 0;
        hf_out_bytes(scratch, &zero, 4);
        hf_frame_put(out, HF_FRAME_SERIAL, hf_out_view(scratch));
    }
}

static void put_certificate(const hf_history *h, hf_out *out, hf_out *scratch)
{
    const hf_certificate *c = &h->cert;

    for (hf_key_id k = 0; c->order_first && k < h->n_keys;)
        k = put_order(h, k, out, scratch);
    for (uint32_t i = 0; i < c->n_serial; i += CERTIFICATE_ENTRIES) {
        uint32_t n = c->n_serial - i;

        if (n > CERTIFICATE_ENTRIES)
            n = CERTIFICATE_ENTRIES;
        scratch->n = 0;
        hf_out_bytes(scratch, &n, 4);
        hf_out_bytes(scratch, c->serial + i, (size_t)n * 4);
        hf_frame_put(out, HF_FRAME_SERIAL, hf_out_view(scratch));
    }
    put_empty(c, out, scratch);
}

void hf_binary_write(const hf_history *h, hf_out *out)
{
    const uint32_t version = HF_BINARY_VERSION, zero = 0;
    hf_end end = {h->n_txns, h->n_ops};
    progress from = {0}, to;
    hf_out scratch;

    hf_out_init_memory(&scratch);
    hf_out_bytes(out, HF_BINARY_MAGIC, HF_BINARY_MAGIC_LENGTH);
    hf_out_bytes(out, &version, 4);
    hf_out_bytes(out, &zero, 4);
    put_about(h, out, &scratch);
    do {
        to = next_batch(h, &from);
        put_batch(h, &from, &to, &scratch);
        hf_frame_put(out, HF_FRAME_BATCH, hf_out_view(&scratch));
        from = to;
    } while (from.txns < h->n_txns);
    put_certificate(h, out, &scratch);
    hf_frame_put(out, HF_FRAME_END, (hf_str){(const char *)&end, sizeof(end)});
    hf_out_release(&scratch);
}
