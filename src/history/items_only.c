/* items_only.c: see items_only.h.
 *
 * A predicate operation with the condition true, whose version set is the
 * rows it returned, says no more than reads of these rows.
 */
#include "history/items_only.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "history/extra.h"

/* Own columns of strings, with "true" as the last. */
static void add_true(const hf_history *h, hf_history *out)
{
    uint64_t bytes = h->n_strings > 0 ? h->string_first[h->n_strings] : 0;

    out->string_first = HF_NEW_ARRAY(uint64_t, (size_t)h->n_strings + 2);
    out->string_bytes = HF_NEW_ARRAY(char, bytes + 4);
    if (h->n_strings > 0) {
        memcpy(out->string_first, h->string_first,
               h->n_strings * sizeof(uint64_t));
        memcpy(out->string_bytes, h->string_bytes, bytes);
    }
    memcpy(out->string_bytes + bytes, "true", 4);
    out->string_first[h->n_strings] = bytes;
    out->string_first[h->n_strings + 1] = bytes + 4;
    out->n_strings = h->n_strings + 1;
}

/* Words of one operation: at most these many. */
static uint64_t words_of(const hf_history *h, hf_op_id op)
{
    return HF_EXTRA_PREDICATE_HEAD +
           4 * (uint64_t)hf_op_predicate(h, op).n_results;
}

hf_history *hf_items_only(const hf_history *h)
{
    hf_history *out = HF_NEW(hf_history);
    uint64_t words = h->n_extra;

    *out = *h;
    out->block = NULL;
    add_true(h, out);
    out->op_value = HF_NEW_ARRAY(hf_value_id, (size_t)h->n_ops + 1);
    if (h->n_ops > 0)
        memcpy(out->op_value, h->op_value, h->n_ops * sizeof(*h->op_value));
    for (hf_op_id o = 0; o < h->n_ops; o++)
        if (hf_op_has_predicate(hf_op_kind_of(h, o)))
            words += words_of(h, o);
    out->extra = HF_NEW_ARRAY(uint32_t, words + 1);
    if (h->n_extra > 0)
        memcpy(out->extra, h->extra, h->n_extra * sizeof(*h->extra));
    for (hf_op_id o = 0; o < h->n_ops; o++) {
        if (!hf_op_has_predicate(hf_op_kind_of(h, o)))
            continue;
        out->op_value[o] = out->n_extra;
        out->n_extra +=
            hf_extra_put_items(h, o, h->n_strings, out->extra + out->n_extra);
    }
    return out;
}

void hf_items_only_free(hf_history *items)
{
    if (!items)
        return;
    hf_free(items->string_first);
    hf_free(items->string_bytes);
    hf_free(items->op_value);
    hf_free(items->extra);
    hf_free(items);
}
