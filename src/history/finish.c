/* finish.c: from a builder to a history.
 *
 * Sorts operations that came interleaved (counting sort, stable, linear),
 * turns the version order into one array per key, trims the columns, derives
 * the session lists.  All linear.
 */
#include <string.h>

#include "base/error.h"
#include "history/builder_internal.h"

#define MOVE_SORTED(column, place, n)                                          \
    do {                                                                       \
        void *sorted = hf_alloc((n) * sizeof(*(column)));                      \
        for (uint32_t i_ = 0; i_ < (n); i_++)                                  \
            memcpy((char *)sorted + (size_t)(place)[i_] * sizeof(*(column)),   \
                   (column) + i_, sizeof(*(column)));                          \
        hf_free(column);                                                       \
        (column) = sorted;                                                     \
    } while (0)

static void sort_operations(hf_builder *b)
{
    hf_history *h = b->h;
    uint32_t *place = b->op_txn; /* becomes the new place of each */

    memset(h->op_first, 0, ((size_t)h->n_txns + 1) * sizeof(*h->op_first));
    for (hf_op_id op = 0; op < h->n_ops; op++)
        h->op_first[b->op_txn[op] + 1]++;
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        h->op_first[t + 1] += h->op_first[t];
    for (hf_op_id op = 0; op < h->n_ops; op++)
        place[op] = h->op_first[b->op_txn[op]]++;
    memmove(h->op_first + 1, h->op_first, h->n_txns * sizeof(*h->op_first));
    h->op_first[0] = 0;
    MOVE_SORTED(h->op_kind, place, h->n_ops);
    MOVE_SORTED(h->op_key, place, h->n_ops);
    MOVE_SORTED(h->op_value, place, h->n_ops);
    if (b->op_times) {
        MOVE_SORTED(h->op_start, place, h->n_ops);
        MOVE_SORTED(h->op_length, place, h->n_ops);
    }
}

/* A transaction without times but with intervals: take them from there. */
static void complete_times(hf_history *h)
{
    if (!h->op_start)
        return;
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        uint64_t start, end;

        if (h->txn_end[t] != HF_TIME_NONE ||
            h->txn_outcome[t] == HF_UNKNOWN_OUTCOME)
            continue;
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            if (hf_op_interval(h, t, op, &start, &end) &&
                (h->txn_end[t] == HF_TIME_NONE || h->txn_end[t] < end))
                h->txn_end[t] = end;
    }
}

static void place_order(hf_builder *b)
{
    hf_certificate *c = &b->h->cert;
    uint32_t n_keys = b->h->n_keys;

    if (b->order.n == 0)
        return;
    c->order_first = HF_NEW_ZEROED(uint64_t, (size_t)n_keys + 1);
    c->order_txn = HF_NEW_ARRAY(hf_txn_id, b->order.n);
    for (size_t i = 0; i < b->order.n; i++)
        c->order_first[b->order.at[i].key + 1]++;
    for (uint32_t k = 0; k < n_keys; k++)
        c->order_first[k + 1] += c->order_first[k];
    for (size_t i = 0; i < b->order.n; i++)
        c->order_txn[c->order_first[b->order.at[i].key]++] = b->order.at[i].txn;
    memmove(c->order_first + 1, c->order_first, n_keys * sizeof(uint64_t));
    c->order_first[0] = 0;
}

#define TRIM(column, n)                                                        \
    ((column) ? (void)((column) = hf_realloc((column), ((size_t)(n) + 1) *     \
                                                           sizeof(*(column)))) \
              : (void)0)

static void trim(hf_builder *b)
{
    hf_history *h = b->h;

    TRIM(h->op_kind, h->n_ops);
    TRIM(h->op_key, h->n_ops);
    TRIM(h->op_value, h->n_ops);
    TRIM(h->op_start, h->n_ops);
    TRIM(h->op_length, h->n_ops);
    TRIM(h->op_first, h->n_txns + 1);
    TRIM(h->txn_session, h->n_txns);
    TRIM(h->txn_outcome, h->n_txns);
    TRIM(h->txn_level, h->n_txns);
    TRIM(h->txn_begin, h->n_txns);
    TRIM(h->txn_end, h->n_txns);
    TRIM(h->txn_label, h->n_txns);
    TRIM(h->txn_line, h->n_txns);
    TRIM(h->cert.start_ts, h->n_txns);
    TRIM(h->cert.commit_ts, h->n_txns);
    TRIM(h->key_type, h->n_keys);
    TRIM(h->key_data, h->n_keys);
    TRIM(h->key_table, h->n_keys);
    TRIM(h->key_initial, h->n_keys);
    TRIM(h->value_key, h->n_values);
    TRIM(h->value_type, h->n_values);
    TRIM(h->value_data, h->n_values);
}

/* Moves a vector's memory into a column, trimmed. */
#define TAKE(column, vec)                                                      \
    do {                                                                       \
        (column) = hf_realloc((vec)->at, ((vec)->n + 1) * sizeof(*(vec)->at)); \
        (vec)->at = NULL;                                                      \
    } while (0)

static void take_vectors(hf_builder *b)
{
    hf_history *h = b->h;

    h->n_extra = (uint32_t)b->extra.n;
    TAKE(h->extra, &b->extra);
    h->n_wide = (uint32_t)b->wide.n;
    TAKE(h->wide, &b->wide);
    h->n_strings = (uint32_t)(b->string_first.n - 1);
    TAKE(h->string_first, &b->string_first);
    TAKE(h->string_bytes, &b->string_bytes);
    h->n_sessions = (uint32_t)b->session_name.n;
    TAKE(h->session_name, &b->session_name);
    h->cert.n_empty = (uint32_t)b->empty_order.n;
    TAKE(h->cert.empty_order, &b->empty_order);
    h->cert.empty_serial = b->empty_serial && b->serial.n == 0;
    if (b->serial.n > 0) {
        h->cert.n_serial = (uint32_t)b->serial.n;
        TAKE(h->cert.serial, &b->serial);
    }
}

static size_t held(const void *column, uint64_t n, size_t width)
{
    return column ? (size_t)n * width : 0;
}

void hf_history_derive(hf_history *h)
{
    const hf_certificate *c = &h->cert;
    uint64_t t = h->n_txns, o = h->n_ops, k = h->n_keys, v = h->n_values;

    h->session_first = HF_NEW_ZEROED(uint32_t, (size_t)h->n_sessions + 2);
    h->session_txns = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);
    for (hf_txn_id i = 0; i < h->n_txns; i++)
        h->session_first[h->txn_session[i] + 2]++;
    for (uint32_t s = 0; s < h->n_sessions; s++)
        h->session_first[s + 2] += h->session_first[s + 1];
    for (hf_txn_id i = 0; i < h->n_txns; i++)
        h->session_txns[h->session_first[h->txn_session[i] + 1]++] = i;
    h->bytes = sizeof(*h) + held(h->op_kind, o, 9) + held(h->op_start, o, 8) +
               held(h->wide, h->n_wide, sizeof(*h->wide)) + held(h, t + 1, 4) +
               held(h, t, 4 + 1 + 4) + held(h->txn_level, t, 1) +
               held(h->txn_begin, t, 16) + held(h->txn_label, t, 8) +
               held(h->txn_line, t, 4) + held(h, h->n_sessions, 8) +
               held(h, k, 9) + held(h->key_table, k, 4) +
               held(h->key_initial, k, 4) + held(h, v, 13) +
               held(h, h->n_strings, 8) +
               held(h, h->n_strings ? h->string_first[h->n_strings] : 0, 1) +
               held(h, h->n_extra, 4) + held(c->order_first, k + 1, 8) +
               held(c->order_txn, c->order_first ? c->order_first[k] : 0, 4) +
               held(c->start_ts, t, 16) + held(c->serial, c->n_serial, 4);
}

hf_status hf_builder_finish(hf_builder *b, hf_history **ret_h, hf_error *err)
{
    hf_history *h = b->h;
    hf_status st = b->status;

    if (st != HF_OK) {
        if (err)
            *err = b->error;
        hf_builder_free(b);
        return st;
    }
    /* empty columns are still arrays */
    h->op_first[h->n_txns] = h->n_ops;
    if (b->interleaved)
        sort_operations(b);
    place_order(b);
    trim(b);
    take_vectors(b);
    b->h = NULL;
    st = hf_history_validate(h, err); /* the ids came from outside */
    if (st == HF_OK) {
        complete_times(h);
        st = hf_history_validate_times(h, !b->any_times, err);
    }
    hf_builder_free(b);
    if (st != HF_OK) {
        hf_history_free(h);
        return st;
    }
    hf_history_derive(h);
    *ret_h = h;
    return HF_OK;
}
