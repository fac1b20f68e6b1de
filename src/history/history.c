/* history.c: reading the columns. */
#include "history/history.h"

#include "base/error.h"
#include "base/mem.h"
#include "history/builder_internal.h"

uint32_t hf_list_items(const hf_history *h, hf_value_id v,
                       hf_value_id *ret_items)
{
    uint32_t n = 0;

    if (v == HF_NONE || h->value_type[v] != HF_LIST)
        return 0;
    for (hf_value_id at = v; at != HF_NONE; at = hf_list_parent(h, at))
        n++;
    if (ret_items) {
        uint32_t i = n;

        for (hf_value_id at = v; at != HF_NONE; at = hf_list_parent(h, at))
            ret_items[--i] = hf_list_last(h, at);
    }
    return n;
}

hf_txn_id hf_op_txn(const hf_history *h, hf_op_id op)
{
    uint32_t low = 0, high = h->n_txns; /* op_first[low] <= op */

    HF_ASSERT(op < h->n_ops);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (h->op_first[middle] <= op)
            low = middle;
        else
            high = middle;
    }
    return low;
}

bool hf_op_interval(const hf_history *h, hf_txn_id t, hf_op_id op,
                    uint64_t *ret_start, uint64_t *ret_end)
{
    uint32_t offset, length;

    if (!h->op_start)
        return false;
    offset = h->op_start[op];
    length = h->op_length[op];
    if (offset != UINT32_MAX) {
        *ret_start = h->txn_begin[t] + offset;
        *ret_end = *ret_start + length;
        return true;
    }
    if (length == UINT32_MAX)
        return false;
    *ret_start = h->wide[length].start;
    *ret_end = h->wide[length].end;
    return true;
}

uint64_t hf_txn_last_call(const hf_history *h, hf_txn_id t)
{
    uint64_t start, end;

    if (h->op_first[t] < h->op_first[t + 1] &&
        hf_op_interval(h, t, h->op_first[t + 1] - 1, &start, &end))
        return start;
    return hf_txn_end_time(h, t);
}

bool hf_has_predicates(const hf_history *h)
{
    for (hf_op_id o = 0; h->n_extra > 0 && o < h->n_ops; o++)
        if (hf_op_has_predicate(hf_op_kind_of(h, o)))
            return true;
    return false;
}

hf_str hf_string(const hf_history *h, hf_string_id id)
{
    if (id == HF_NONE)
        return HF_STR("");
    return (hf_str){h->string_bytes + h->string_first[id],
                    (size_t)(h->string_first[id + 1] - h->string_first[id])};
}

static hf_scalar scalar(const hf_history *h, uint8_t type, int64_t data)
{
    hf_scalar s = {.type = (hf_scalar_type)type};

    if (type == HF_INT || type == HF_BOOL) {
        s.number = data;
    } else if (type == HF_TEXT || type == HF_REAL || type == HF_ROW) {
        hf_str text = hf_string(h, (hf_string_id)data);

        s.text = text.ptr;
        s.length = text.len;
    }
    return s;
}

hf_scalar hf_value_scalar(const hf_history *h, hf_value_id v)
{
    return scalar(h, h->value_type[v], h->value_data[v]);
}

hf_scalar hf_key_scalar(const hf_history *h, hf_key_id key)
{
    return scalar(h, h->key_type[key], h->key_data[key]);
}

static bool in_block(const hf_history *h, const void *column)
{
    uintptr_t at = (uintptr_t)column, block = (uintptr_t)h->block;

    return h->block && at >= block && at - block < h->block_size;
}

/* Pieces come one after the other, and the next takes the place of the one
 * before; what is large gets huge pages. */
#define LARGE ((size_t)4 << 20)

void *hf_history_block(size_t size)
{
    return size < LARGE ? hf_alloc(size) : hf_pages_get(size);
}

static void free_block(hf_history *h)
{
    if (h->block_size < LARGE)
        hf_free(h->block);
    else
        hf_pages_release(h->block, h->block_size);
}

void hf_history_free(hf_history *h)
{
    if (!h)
        return;
    void *columns[] = {
        h->op_kind,          h->op_key,         h->op_value,
        h->op_start,         h->op_length,      h->wide,
        h->op_first,         h->txn_session,    h->txn_outcome,
        h->txn_level,        h->txn_begin,      h->txn_end,
        h->txn_label,        h->txn_line,       h->session_name,
        h->session_first,    h->session_txns,   h->key_type,
        h->key_data,         h->key_table,      h->key_initial,
        h->value_key,        h->value_type,     h->value_data,
        h->string_first,     h->string_bytes,   h->extra,
        h->cert.order_first, h->cert.order_txn, h->cert.start_ts,
        h->cert.commit_ts,   h->cert.serial,    h->cert.empty_order,
    };

    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        if (!in_block(h, columns[i]))
            hf_free(columns[i]);
    free_block(h);
    hf_free(h);
}

const char *hf_op_kind_name(hf_op_kind kind)
{
    static const char *const names[HF_OP_KIND_COUNT] = {
        [HF_OP_READ] = "read",
        [HF_OP_WRITE] = "write",
        [HF_OP_APPEND] = "append",
        [HF_OP_READ_LIST] = "list read",
        [HF_OP_INSERT] = "insert",
        [HF_OP_DELETE] = "delete",
        [HF_OP_INCREMENT] = "increment",
        [HF_OP_PREDICATE_READ] = "predicate read",
        [HF_OP_PREDICATE_UPDATE] = "predicate update",
        [HF_OP_PREDICATE_DELETE] = "predicate delete",
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

    return kind < HF_OP_KIND_COUNT ? names[kind] : "?";
}

const char *hf_outcome_name(hf_outcome outcome)
{
    static const char *const names[HF_OUTCOME_COUNT] = {"committed", "aborted",
                                                        "unknown"};

    return outcome < HF_OUTCOME_COUNT ? names[outcome] : "?";
}
