/* builder_internal.h: the builder's insides, for the files of this folder. */
#ifndef HF_BUILDER_INTERNAL_H
#define HF_BUILDER_INTERNAL_H

#include "base/map.h"
#include "base/out.h"
#include "base/vec.h"
#include "history/builder.h"

/* An index over a table of records that live elsewhere: open addressing,
 * each slot holds 32 bits of the hash and the record's number. */
typedef struct hf_index_slot {
    uint32_t hash;
    uint32_t id; /* HF_NONE: free */
} hf_index_slot;

typedef struct hf_index {
    hf_index_slot *slots;
    uint32_t bits; /* 2^bits slots; 0: none yet */
    uint64_t n;
} hf_index;

/* A key and a transaction: one entry of a version order. */
typedef struct hf_order_entry {
    hf_key_id key;
    hf_txn_id txn;
} hf_order_entry;

struct hf_builder {
    hf_history *h; /* its columns are grown here */
    /* allocated sizes of the columns that share a count */
    uint64_t cap_ops, cap_txns, cap_keys, cap_values;

    HF_VEC(uint32_t) extra;
    HF_VEC(hf_wide_interval) wide;
    HF_VEC(char) string_bytes;
    HF_VEC(uint64_t) string_first;
    HF_VEC(hf_string_id) session_name;
    HF_VEC(hf_order_entry) order;
    HF_VEC(hf_txn_id) serial;
    HF_VEC(hf_key_id) empty_order; /* keys whose order was given as empty */
    bool empty_serial;             /* a serial order was */

    hf_index strings, keys, values;
    hf_key_id *small_keys; /* plain integer keys below n_small_keys */
    uint32_t n_small_keys;
    hf_map session_numbers, session_texts;
    hf_out spelling; /* scratch of hf_builder_value() */

    hf_txn_id *op_txn; /* only once operations came interleaved */
    bool interleaved;
    bool op_times;  /* op_start, op_length are in use */
    bool any_times; /* an end may be before its begin */

    /* the list that was last made from list v by one more element, and the
     * first list of one element of key k: a guess at what comes next */
    HF_VEC(hf_value_id) list_next;
    HF_VEC(hf_value_id) list_first;

    uint8_t *written; /* by value, for hf_builder_is_written() */
    uint64_t written_ops, written_values;

    hf_budget *budget;
    hf_status status; /* sticky */
    hf_error error;
};

void hf_builder_fail(hf_builder *b, hf_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Asks the budget before something large grows; true: do not. */
bool hf_builder_grow_refused(hf_builder *b, uint64_t bytes);

/* How far a history is validated already. */
typedef struct hf_mark {
    uint32_t sessions, keys, values, txns, ops;
} hf_mark;

/* hf_history_validate() in two parts: everything from the mark to the present
 * counts, the words of extra or not; then the certificate. */
HF_MUST_USE hf_status hf_history_validate_from(const hf_history *h,
                                               const hf_mark *from,
                                               bool with_extra, hf_error *err);
/* Times below 2^63; in order: no end before its begin. */
HF_MUST_USE hf_status hf_history_validate_times(const hf_history *h,
                                                bool in_order, hf_error *err);
HF_MUST_USE hf_status hf_history_validate_rest(const hf_history *h,
                                               hf_error *err);

/* For hf_history.block; freed with the history. */
void *hf_history_block(size_t size);

/* Computes what follows from the other columns: session_first and
 * session_txns, and `bytes`. */
void hf_history_derive(hf_history *h);

#endif
