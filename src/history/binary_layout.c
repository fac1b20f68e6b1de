/* binary_layout.c: the list of columns. */
#include "history/binary_layout.h"

#include <stddef.h>

_Static_assert(sizeof(hf_frame) == 32, "frame head");
_Static_assert(sizeof(hf_about) == 24, "about");
_Static_assert(sizeof(hf_batch) == 48, "batch");
_Static_assert(sizeof(hf_order) == 8, "order");

#define COLUMN(needs_, unit_, fill_, count_, place_)                           \
    {                                                                          \
        .needs = (needs_), .unit = (unit_), .fill = (fill_),                   \
        .count = offsetof(hf_batch, count_),                                   \
        .place = offsetof(hf_history, place_)                                  \
    }

const hf_column hf_columns[HF_COLUMN_COUNT] = {
    COLUMN(0, 4, 0, n_strings, string_first),
    {.unit = 1,
     .count = offsetof(hf_batch, string_bytes),
     .place = offsetof(hf_history, string_bytes),
     .wide_count = true},
    COLUMN(0, 4, 0, n_sessions, session_name),
    COLUMN(0, 8, 0, n_keys, key_data),
    COLUMN(HF_HAS_TABLE, 4, 0xff, n_keys, key_table),
    COLUMN(HF_HAS_INITIAL, 4, 0xff, n_keys, key_initial),
    COLUMN(0, 1, 0, n_keys, key_type),
    COLUMN(0, 8, 0, n_values, value_data),
    COLUMN(0, 4, 0, n_values, value_key),
    COLUMN(0, 4, 0, n_txns, op_first),
    COLUMN(0, 1, 0, n_values, value_type),
    COLUMN(0, 4, 0, n_txns, txn_session),
    COLUMN(0, 1, 0, n_txns, txn_outcome),
    COLUMN(HF_HAS_LEVEL, 1, 0xff, n_txns, txn_level),
    COLUMN(HF_HAS_TIMES, 8, 0xff, n_txns, txn_begin),
    COLUMN(HF_HAS_TIMES, 8, 0xff, n_txns, txn_end),
    COLUMN(HF_HAS_LABEL, 8, 0, n_txns, txn_label),
    COLUMN(HF_HAS_LINE, 4, 0, n_txns, txn_line),
    COLUMN(HF_HAS_TIMESTAMPS, 8, 0xff, n_txns, cert.start_ts),
    COLUMN(HF_HAS_TIMESTAMPS, 8, 0xff, n_txns, cert.commit_ts),
    COLUMN(0, 4, 0, n_ops, op_key),
    COLUMN(0, 4, 0, n_ops, op_value),
    COLUMN(0, 1, 0, n_ops, op_kind),
    COLUMN(HF_HAS_INTERVALS, 4, 0xff, n_ops, op_start),
    COLUMN(HF_HAS_INTERVALS, 4, 0xff, n_ops, op_length),
};

uint64_t hf_batch_bytes(const hf_batch *b)
{
    uint64_t bytes = sizeof(*b) + hf_padded((uint64_t)b->n_extra * 4) +
                     (uint64_t)b->n_wide * 16;

    for (int i = 0; i < HF_COLUMN_COUNT; i++) {
        const hf_column *c = &hf_columns[i];
        uint64_t n = hf_batch_count(b, c);

        if (n > (uint64_t)1 << 48)
            return UINT64_MAX;
        if (hf_batch_has(b, c))
            bytes += hf_padded(n * c->unit);
    }
    return bytes;
}
