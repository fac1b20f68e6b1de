/* promises_counters.c: numbers that nothing can be added to.
 *
 * Sums of increments whose results were not recorded are exact, for numbers of
 * up to 36 digits, 18 of them behind the point.  A longer one in such a key is
 * refused: a verdict that takes it for no number would be wrong.
 *
 * A pass over the kinds of operations; where there are such keys, over values.
 */
#include "base/error.h"
#include "base/mem.h"
#include "base/ratio.h"
#include "history/extra.h"
#include "history/promises.h"

/* Per key: has increments without results; NULL: none has. */
static uint8_t *find_counters(const hf_history *h)
{
    uint8_t *is_counter = NULL;

    for (hf_op_id op = 0; op < h->n_ops; op++) {
        if (hf_op_kind_of(h, op) != HF_OP_INCREMENT ||
            (h->op_kind[op] & HF_OP_FAILED) ||
            hf_op_increment(h, op).has_result)
            continue;
        if (!is_counter)
            is_counter = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
        is_counter[h->op_key[op]] = 1;
    }
    return is_counter;
}

hf_status hf_promises_check_counters(const hf_history *h, hf_error *err)
{
    uint8_t *is_counter = find_counters(h);
    hf_status st = HF_OK;
    hf_wide whole, rest;

    for (hf_value_id v = 0; is_counter && v < h->n_values && st == HF_OK; v++)
        if (is_counter[h->value_key[v]] && h->value_type[v] == HF_REAL &&
            !hf_decimal_split(hf_value_scalar(h, v), &whole, &rest)) {
            hf_scalar s = hf_value_scalar(h, v);

            st = hf_fail(err, HF_ERR_INPUT,
                         "%.*s is a value of a key with increments without "
                         "results, and sums have at most 36 digits, 18 of "
                         "them behind the point",
                         (int)(s.length < 80 ? s.length : 80), s.text);
        }
    hf_free(is_counter);
    return st;
}
