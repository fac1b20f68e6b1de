/* validate.c: what an engine may rely on.
 *
 * Ids in range and values of the right key, always; that is a pass over the
 * columns.  Whether a certificate speaks about things that happened is a
 * question of its own, asked when a certificate is used.
 */
#include "base/error.h"
#include "history/builder_internal.h"
#include "model/level.h"

/* Largest entry of a column, HF_NONE aside (n entries).  Written so that the
 * compiler can use vector instructions. */
static uint32_t largest(const uint32_t *column, uint64_t n)
{
    uint32_t max = 0;

    for (uint64_t i = 0; i < n; i++) {
        uint32_t x = column[i] + 1; /* HF_NONE becomes 0 */

        max = x > max ? x : max;
    }
    return max; /* one more than the largest */
}

static hf_status bad(hf_error *err, const char *what, uint64_t index)
{
    return hf_fail(err, HF_ERR_INPUT, "%s %llu is out of range or malformed",
                   what, (unsigned long long)index);
}

static hf_status check_list(const hf_history *h, hf_value_id v, hf_error *err)
{
    hf_value_id up = hf_list_parent(h, v), last = hf_list_last(h, v);

    if ((up != HF_NONE && (up >= v || h->value_type[up] != HF_LIST ||
                           h->value_key[up] != h->value_key[v])) ||
        last >= h->n_values || h->value_type[last] == HF_LIST ||
        h->value_key[last] != h->value_key[v])
        return bad(err, "list value", v);
    return HF_OK;
}

/* Columns are checked in blocks: a pass without branches says whether
 * anything in the block needs a closer look. */
#define BLOCK 512u

static hf_status check_values(const hf_history *h, hf_value_id from,
                              hf_error *err)
{
    for (hf_value_id v = from; v < h->n_values;) {
        hf_value_id end = h->n_values - v < BLOCK ? h->n_values : v + BLOCK;
        unsigned types = 0, high = 0;
        hf_status st = HF_OK;

        for (hf_value_id i = v; i < end; i++) {
            types |= h->value_type[i] & ~(unsigned)HF_INT;
            high |= h->value_key[i] >= h->n_keys;
        }
        if (high)
            return hf_fail(err, HF_ERR_INPUT,
                           "a value near %u names a key out of range", v);
        for (; v < end && types && st == HF_OK; v++) {
            uint8_t type = h->value_type[v];

            if (type == HF_LIST)
                st = check_list(h, v, err);
            else if (type >= HF_SCALAR_TYPE_COUNT ||
                     (type != HF_INT && type != HF_NIL && type != HF_BOOL &&
                      (uint64_t)h->value_data[v] >= h->n_strings))
                st = bad(err, "value", v);
        }
        if (st != HF_OK)
            return st;
        v = end;
    }
    return HF_OK;
}

static hf_status check_keys(const hf_history *h, hf_key_id from,
                            hf_session_id from_session, hf_error *err)
{
    for (hf_key_id k = from; k < h->n_keys; k++) {
        if (h->key_type[k] != HF_INT &&
            (h->key_type[k] != HF_TEXT ||
             (uint64_t)h->key_data[k] >= h->n_strings))
            return bad(err, "key", k);
        if (h->key_table && h->key_table[k] != HF_NONE &&
            h->key_table[k] >= h->n_strings)
            return bad(err, "the table of key", k);
        if (h->key_initial && h->key_initial[k] != HF_NONE &&
            (h->key_initial[k] >= h->n_values ||
             h->value_key[h->key_initial[k]] != k))
            return bad(err, "the initial value of key", k);
    }
    for (uint32_t s = from_session; s < h->n_sessions; s++)
        if (h->session_name[s] != HF_NONE && h->session_name[s] >= h->n_strings)
            return bad(err, "the name of session", s);
    return HF_OK;
}

/* Lists are read by list reads only, a delete leaves nil. */
static bool value_fits(hf_op_kind kind, uint8_t type)
{
    if (kind == HF_OP_READ_LIST)
        return type == HF_LIST || type == HF_NIL;
    if (kind == HF_OP_DELETE)
        return type == HF_NIL;
    return type != HF_LIST && (kind != HF_OP_APPEND || type != HF_NIL);
}

/* One operation of any kind. */
static hf_status check_unusual(const hf_history *h, hf_op_id op,
                               bool with_extra, hf_error *err)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_key_id key = h->op_key[op];
    hf_value_id value = h->op_value[op];

    if (kind >= HF_OP_KIND_COUNT)
        return bad(err, "the kind of operation", op);
    if (key != HF_NONE && key >= h->n_keys)
        return bad(err, "the key of operation", op);
    if (kind == HF_OP_BEGIN || kind == HF_OP_COMMIT || kind == HF_OP_ABORT)
        return key == HF_NONE && value == HF_NONE ? HF_OK
                                                  : bad(err, "operation", op);
    if (key != HF_NONE && (hf_op_has_predicate(kind) || kind == HF_OP_SQL))
        return bad(err, "the key of operation", op);
    if (kind == HF_OP_INCREMENT && key == HF_NONE)
        return bad(err, "the key of operation", op);
    if (hf_op_has_extra(kind))
        return !with_extra || hf_extra_is_valid(h, op)
                   ? HF_OK
                   : bad(err, "operation", op);
    if (key == HF_NONE ||
        (value == HF_NONE && kind != HF_OP_READ && kind != HF_OP_READ_LIST))
        return bad(err, "operation", op);
    if (value != HF_NONE &&
        (value >= h->n_values || h->value_key[value] != key))
        return bad(err, "the value of operation", op);
    return value == HF_NONE || value_fits(kind, h->value_type[value])
               ? HF_OK
               : bad(err, "the type of the value of operation", op);
}

/* Types that a value of each plain kind may have, as bits; value_fits(). */
static const uint8_t plain_types[HF_OP_DELETE + 1] = {
    [HF_OP_READ] = (uint8_t) ~(1u << HF_LIST),
    [HF_OP_WRITE] = (uint8_t) ~(1u << HF_LIST),
    [HF_OP_APPEND] = (uint8_t) ~(1u << HF_LIST | 1u << HF_NIL),
    [HF_OP_READ_LIST] = 1u << HF_LIST | 1u << HF_NIL,
    [HF_OP_INSERT] = (uint8_t) ~(1u << HF_LIST),
    [HF_OP_DELETE] = 1u << HF_NIL,
};
_Static_assert(HF_SCALAR_TYPE_COUNT <= 8 && HF_LIST < 8, "types are bits");

/* True if the operations are all reads and writes of values of their key, or
 * begins and ends.  Types of values were checked before. */
static bool all_plain(const hf_history *h, hf_op_id from, hf_op_id to)
{
    const hf_value_id *value = h->op_value;
    uint32_t unusual = 0, n_values = h->n_values;

    for (hf_op_id op = from; op < to; op++) {
        unsigned kind = h->op_kind[op] & HF_OP_KIND_MASK;
        uint32_t v = value[op];

        if (kind <= HF_OP_DELETE && v < n_values)
            unusual |= (h->value_key[v] ^ h->op_key[op]) |
                       (~plain_types[kind] >> h->value_type[v] & 1u);
        else if (kind >= HF_OP_BEGIN && kind <= HF_OP_ABORT)
            unusual |= ~(v & h->op_key[op]); /* both are HF_NONE */
        else
            return false;
    }
    return unusual == 0;
}

static hf_status check_operations(const hf_history *h, hf_op_id from,
                                  bool with_extra, hf_error *err)
{
    for (hf_op_id op = from; op < h->n_ops;) {
        hf_op_id end = h->n_ops - op < BLOCK ? h->n_ops : op + BLOCK;

        if (all_plain(h, op, end))
            op = end;
        for (; op < end; op++) {
            hf_status st = check_unusual(h, op, with_extra, err);

            if (st != HF_OK)
                return st;
        }
    }
    if (h->op_start)
        for (hf_op_id op = from; op < h->n_ops; op++)
            if (h->op_start[op] == UINT32_MAX &&
                h->op_length[op] != UINT32_MAX && h->op_length[op] >= h->n_wide)
                return bad(err, "the interval of operation", op);
    return HF_OK;
}

static hf_status check_transactions(const hf_history *h, hf_txn_id from,
                                    hf_error *err)
{
    uint32_t bad_one = 0;

    if (h->op_first[0] != 0 || h->op_first[h->n_txns] != h->n_ops)
        return hf_fail(err, HF_ERR_INPUT,
                       "the transactions do not cover the operations");
    for (hf_txn_id t = from; t < h->n_txns; t++)
        bad_one |= (h->op_first[t] > h->op_first[t + 1]) |
                   (h->txn_session[t] >= h->n_sessions) |
                   (h->txn_outcome[t] >= HF_OUTCOME_COUNT);
    if (bad_one)
        return bad(err, "a transaction after", from);
    for (hf_txn_id t = from; h->txn_level && t < h->n_txns; t++)
        if (h->txn_level[t] != HF_LEVEL_UNSET &&
            h->txn_level[t] >= HF_LEVEL_COUNT)
            return bad(err, "the level of transaction", t);
    return HF_OK;
}

static hf_status check_certificate(const hf_history *h, hf_error *err)
{
    const hf_certificate *c = &h->cert;

    if (c->order_first &&
        largest(c->order_txn, c->order_first[h->n_keys]) > h->n_txns)
        return hf_fail(err, HF_ERR_INPUT,
                       "a version order names a transaction out of range");
    for (uint64_t i = 0; c->order_first && i < c->order_first[h->n_keys]; i++)
        if (c->order_txn[i] == HF_NONE)
            return bad(err, "version order entry", i);
    for (uint32_t i = 0; i < c->n_serial; i++)
        if (c->serial[i] >= h->n_txns)
            return bad(err, "serial order entry", i);
    return HF_OK;
}

hf_status hf_history_validate_from(const hf_history *h, const hf_mark *from,
                                   bool with_extra, hf_error *err)
{
    hf_status st = check_transactions(h, from->txns, err);

    if (st == HF_OK)
        st = check_keys(h, from->keys, from->sessions, err);
    if (st == HF_OK)
        st = check_values(h, from->values, err);
    if (st == HF_OK)
        st = check_operations(h, from->ops, with_extra, err);
    return st;
}

hf_status hf_history_validate_times(const hf_history *h, bool in_order,
                                    hf_error *err)
{
    for (hf_txn_id t = 0; h->txn_begin && t < h->n_txns; t++) {
        uint64_t begin = h->txn_begin[t], end = h->txn_end[t];

        if ((begin != HF_TIME_NONE && begin > (uint64_t)INT64_MAX) ||
            (end != HF_TIME_NONE && end > (uint64_t)INT64_MAX))
            return bad(err, "the time of transaction", t);
        if (in_order && begin != HF_TIME_NONE && end != HF_TIME_NONE &&
            begin > end)
            return hf_fail(err, HF_ERR_INPUT,
                           "transaction %lld ends before it begins",
                           (long long)hf_txn_label(h, t));
    }
    for (uint32_t i = 0; i < h->n_wide; i++)
        if (h->wide[i].start > (uint64_t)INT64_MAX ||
            (in_order && h->wide[i].start > h->wide[i].end) ||
            (h->wide[i].end != HF_TIME_NONE &&
             h->wide[i].end > (uint64_t)INT64_MAX))
            return bad(err, "interval", i);
    return HF_OK;
}

hf_status hf_history_validate_rest(const hf_history *h, hf_error *err)
{
    if (h->name != HF_NONE && h->name >= h->n_strings)
        return hf_fail(err, HF_ERR_INPUT, "the name is out of range");
    return check_certificate(h, err);
}

hf_status hf_history_validate(const hf_history *h, hf_error *err)
{
    const hf_mark start = {0};
    hf_status st = hf_history_validate_from(h, &start, true, err);

    return st == HF_OK ? hf_history_validate_rest(h, err) : st;
}
