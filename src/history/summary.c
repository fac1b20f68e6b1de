/* summary.c: one pass over the columns for each group of counts. */
#include "history/summary.h"

#include "base/mem.h"
#include "history/extra.h"

/* ---- values ------------------------------------------------------------- */

/* Writes of each value, counted up to 2, the initial version as one more in
 * bit 2. */
#define INITIAL 4u
#define WRITES 3u

static void count_write(uint8_t *writes, hf_value_id v)
{
    if (v != HF_NONE && (writes[v] & WRITES) < 2)
        writes[v]++;
}

static void count_writes(const hf_history *h, uint8_t *writes)
{
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);

        if (h->op_kind[op] & HF_OP_FAILED)
            continue;
        if (hf_op_installs(kind) && kind != HF_OP_INCREMENT)
            count_write(writes, h->op_value[op]);
        else if (kind == HF_OP_INCREMENT)
            count_write(writes, hf_op_increment(h, op).after);
    }
    for (hf_value_id v = 0; v < h->n_values; v++)
        if (hf_value_is_initial(h, h->value_key[v], v))
            writes[v] |= INITIAL;
}

/* Did transaction t itself write v to the key last before op? */
static bool own_write(const hf_history *h, hf_txn_id t, hf_op_id op,
                      hf_value_id v)
{
    hf_key_id key = h->op_key[op];

    while (op-- > h->op_first[t]) {
        hf_op_kind kind = hf_op_kind_of(h, op);

        if (h->op_key[op] == key && hf_op_installs(kind) &&
            kind != HF_OP_INCREMENT)
            return h->op_value[op] == v;
    }
    return false;
}

static void count_read(const hf_history *h, const uint8_t *writes, hf_txn_id t,
                       hf_op_id op, hf_summary *s)
{
    hf_value_id v = h->op_value[op];
    unsigned candidates;

    if (v == HF_NONE) {
        s->unrecorded_reads++;
        return;
    }
    if (h->value_type[v] == HF_LIST)
        v = hf_list_last(h, v); /* the append that made it */
    candidates = (writes[v] & WRITES) + ((writes[v] & INITIAL) != 0);
    if (candidates == 0)
        s->unexplained_reads++;
    else if (candidates > 1 && !own_write(h, t, op, v))
        s->ambiguous_reads++;
}

static void summarize_values(const hf_history *h, hf_summary *s)
{
    uint8_t *writes = HF_NEW_ZEROED(uint8_t, (size_t)h->n_values + 1);

    count_writes(h, writes);
    for (hf_value_id v = 0; v < h->n_values; v++)
        s->duplicate_values +=
            (writes[v] & WRITES) == 2 && h->value_type[v] != HF_NIL;
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            if (hf_op_reads_item(hf_op_kind_of(h, op)) &&
                !(h->op_kind[op] & HF_OP_FAILED))
                count_read(h, writes, t, op, s);
    hf_free(writes);
}

/* ---- operations and transactions ---------------------------------------- */

static void summarize_ops(const hf_history *h, hf_summary *s)
{
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_op_kind kind = hf_op_kind_of(h, op);
            unsigned flags = hf_op_flags_of(h, op);
            uint64_t start, end;

            s->by_kind[kind]++;
            s->for_update += (flags & HF_OP_FOR_UPDATE) != 0;
            s->for_share += (flags & HF_OP_FOR_SHARE) != 0;
            s->failed += (flags & HF_OP_FAILED) != 0;
            s->with_interval += hf_op_interval(h, t, op, &start, &end);
            if (hf_op_has_predicate(kind))
                s->version_sets += hf_op_predicate(h, op).has_version_set;
        }
    }
}

static void summarize_txns(const hf_history *h, hf_summary *s)
{
    s->first_time = s->last_time = HF_TIME_NONE;
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        uint64_t begin = hf_txn_begin_time(h, t);
        uint64_t end = hf_txn_end_time(h, t);

        s->by_outcome[h->txn_outcome[t]]++;
        s->by_level[h->txn_level ? h->txn_level[t] : HF_LEVEL_UNSET]++;
        if (begin != HF_TIME_NONE && begin < s->first_time)
            s->first_time = begin;
        if (end != HF_TIME_NONE &&
            (s->last_time == HF_TIME_NONE || end > s->last_time))
            s->last_time = end;
    }
}

/* The size that `rank` transactions stay below or at. */
static uint32_t quantile(const uint32_t *sizes, uint32_t max, uint64_t rank)
{
    uint64_t seen = 0;

    for (uint32_t size = 0; size <= max; size++) {
        seen += sizes[size];
        if (seen >= rank)
            return size;
    }
    return max;
}

static void summarize_sizes(const hf_history *h, hf_summary *s)
{
    uint32_t *sizes;

    if (h->n_txns == 0)
        return;
    s->ops_min = UINT32_MAX;
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        uint32_t n = h->op_first[t + 1] - h->op_first[t];

        if (n < s->ops_min)
            s->ops_min = n;
        if (n > s->ops_max)
            s->ops_max = n;
    }
    sizes = HF_NEW_ZEROED(uint32_t, (size_t)s->ops_max + 1);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        sizes[h->op_first[t + 1] - h->op_first[t]]++;
    s->ops_median = quantile(sizes, s->ops_max, ((uint64_t)h->n_txns + 1) / 2);
    s->ops_p90 =
        quantile(sizes, s->ops_max, ((uint64_t)h->n_txns * 9 + 9) / 10);
    hf_free(sizes);
}

static void summarize_certificate(const hf_history *h, hf_summary *s)
{
    const hf_certificate *c = &h->cert;

    for (hf_key_id k = 0; c->order_first && k < h->n_keys; k++) {
        uint64_t n = c->order_first[k + 1] - c->order_first[k];

        s->ordered_keys += n > 0;
        s->ordered_versions += n;
    }
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        s->with_timestamps += (c->start_ts && c->start_ts[t] != HF_TIME_NONE) ||
                              (c->commit_ts && c->commit_ts[t] != HF_TIME_NONE);
}

void hf_history_summary(const hf_history *h, hf_summary *ret)
{
    *ret = (hf_summary){0};
    summarize_ops(h, ret);
    summarize_txns(h, ret);
    summarize_sizes(h, ret);
    summarize_values(h, ret);
    summarize_certificate(h, ret);
}
