/* bulk.c: room for much, made before it comes.
 *
 * A fresh page costs the system more than filling it costs us, so that large
 * columns are asked for in large pages where the system has them.
 */
#include "history/bulk.h"

#include <sys/mman.h>

#define LARGE_PAGE ((uintptr_t)1 << 21)

static void advise(void *column, uint64_t bytes)
{
    uintptr_t from = ((uintptr_t)column + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    uintptr_t to = ((uintptr_t)column + bytes) & ~(LARGE_PAGE - 1);

    if (column && from < to)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

/* Columns that came into being with the first transaction. */
void hf_bulk_settle(hf_builder *b)
{
    hf_history *h = b->h;

    advise(h->op_first, b->cap_txns * sizeof(*h->op_first));
    advise(h->txn_session, b->cap_txns * sizeof(*h->txn_session));
    advise(h->txn_begin, b->cap_txns * sizeof(*h->txn_begin));
    advise(h->txn_end, b->cap_txns * sizeof(*h->txn_end));
    advise(h->cert.start_ts, b->cap_txns * sizeof(*h->cert.start_ts));
    advise(h->cert.commit_ts, b->cap_txns * sizeof(*h->cert.commit_ts));
}

/* Values that are never looked up need room in the columns only, none in the
 * index. */
static void expect_values(hf_builder *b, uint64_t values)
{
    hf_history *h = b->h;

    if (values <= b->cap_values || values >= HF_NONE ||
        hf_builder_grow_refused(b, values * 13))
        return;
    h->value_key = hf_realloc(h->value_key, values * sizeof(*h->value_key));
    h->value_type = hf_realloc(h->value_type, values);
    h->value_data = hf_realloc(h->value_data, values * sizeof(*h->value_data));
    b->cap_values = values;
}

void hf_bulk_expect(hf_builder *b, uint64_t ops, uint64_t txns, uint64_t values,
                    uint64_t writes)
{
    hf_history *h = b->h;

    hf_builder_expect(b, ops, txns, 0);
    expect_values(b, values);
    advise(h->op_kind, b->cap_ops);
    advise(h->op_key, b->cap_ops * sizeof(*h->op_key));
    advise(h->op_value, b->cap_ops * sizeof(*h->op_value));
    advise(h->value_key, b->cap_values * sizeof(*h->value_key));
    advise(h->value_type, b->cap_values);
    advise(h->value_data, b->cap_values * sizeof(*h->value_data));
    if (writes == 0 || b->status != HF_OK ||
        hf_builder_grow_refused(b, writes * sizeof(*b->order.at)))
        return;
    hf_vec_reserve(&b->order, writes);
    advise(b->order.at, b->order.cap * sizeof(*b->order.at));
}
