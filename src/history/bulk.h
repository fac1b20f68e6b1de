/* bulk.h: the builder's short way, for producers that make millions of
 * operations a second (the generator).
 *
 * Each function does what its namesake of the builder does.  Where nothing
 * has to grow and no unusual column is in use it is a few inline stores;
 * otherwise it calls the builder.  Both may be mixed freely.
 */
#ifndef HF_BULK_H
#define HF_BULK_H

#include "history/builder_internal.h"

/* Where operations are to be stored. */
typedef struct hf_bulk_columns {
    uint8_t *kind;
    hf_key_id *key;
    hf_value_id *value;
} hf_bulk_columns;

/* hf_builder_expect(), and `writes` entries of version orders; asks for large
 * pages, which make filling the columns much cheaper. */
void hf_bulk_expect(hf_builder *b, uint64_t ops, uint64_t txns, uint64_t values,
                    uint64_t writes);

/* To be called once, after the first transaction: the same for columns that
 * it brought. */
void hf_bulk_settle(hf_builder *b);

/* hf_builder_int_fresh() */
static inline hf_value_id hf_bulk_int_fresh(hf_builder *b, hf_key_id key,
                                            int64_t value)
{
    hf_history *h = b->h;
    hf_value_id v = h->n_values;

    if (v >= b->cap_values || b->status != HF_OK)
        return hf_builder_int_fresh(b, key, value);
    h->value_key[v] = key;
    h->value_type[v] = HF_INT;
    h->value_data[v] = value;
    h->n_values = v + 1;
    return v;
}

/* hf_builder_txn(), _outcome(), _times(); begin HF_TIME_NONE: no times. */
static inline hf_txn_id hf_bulk_txn(hf_builder *b, hf_session_id session,
                                    hf_outcome outcome, uint64_t begin,
                                    uint64_t end)
{
    hf_history *h = b->h;
    hf_txn_id t = h->n_txns;

    if (t >= b->cap_txns || b->status != HF_OK || h->txn_level ||
        h->txn_label || h->txn_line || (t & 4095) == 0 ||
        !h->txn_begin != (begin == HF_TIME_NONE)) {
        t = hf_builder_txn(b, session);
        hf_builder_outcome(b, t, outcome);
        if (begin != HF_TIME_NONE)
            hf_builder_times(b, t, begin, end);
        return t;
    }
    h->op_first[t] = h->n_ops;
    h->txn_session[t] = session;
    h->txn_outcome[t] = (uint8_t)outcome;
    if (h->txn_begin) {
        h->txn_begin[t] = begin;
        h->txn_end[t] = end;
    }
    if (h->cert.start_ts)
        h->cert.start_ts[t] = h->cert.commit_ts[t] = HF_TIME_NONE;
    h->n_txns = t + 1;
    return t;
}

/* Adds n operations to the transaction made last, to be stored by the caller
 * before it does anything else with operations.  False: there is no short
 * way now, use hf_builder_op(). */
static inline bool hf_bulk_ops(hf_builder *b, size_t n, hf_bulk_columns *ret)
{
    hf_history *h = b->h;

    if (b->status != HF_OK || b->interleaved || b->op_times || h->n_txns == 0 ||
        n > b->cap_ops - h->n_ops)
        return false;
    ret->kind = h->op_kind + h->n_ops;
    ret->key = h->op_key + h->n_ops;
    ret->value = h->op_value + h->n_ops;
    h->n_ops += (uint32_t)n;
    return true;
}

/* hf_builder_timestamps() of the transaction made last */
static inline void hf_bulk_timestamps(hf_builder *b, hf_txn_id t,
                                      uint64_t start, uint64_t commit)
{
    hf_certificate *c = &b->h->cert;

    if (!c->start_ts || b->status != HF_OK) {
        hf_builder_timestamps(b, t, start, commit);
        return;
    }
    c->start_ts[t] = start;
    c->commit_ts[t] = commit;
}

/* Adds n entries to version orders, to be stored by the caller. */
static inline hf_order_entry *hf_bulk_orders(hf_builder *b, size_t n)
{
    hf_order_entry *to;

    hf_vec_reserve(&b->order, n);
    to = b->order.at + b->order.n;
    b->order.n += n;
    return to;
}

#endif
