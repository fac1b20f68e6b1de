/* zeros.h: formats in which reading 0 may be reading the initial version.
 *
 * It is, unless the file writes 0 to that key.  Which of the two holds is
 * known only at the end of the file, so the importer uses the value 0 for both
 * and hf_zeros_finish() declares the zeros nobody wrote to be initial.
 */
#ifndef HF_ZEROS_H
#define HF_ZEROS_H

#include "base/vec.h"
#include "history/builder.h"

typedef struct hf_zero {
    hf_value_id value; /* HF_NONE: not mentioned yet */
    bool written;
} hf_zero;

typedef struct hf_zeros {
    HF_VEC(hf_zero) keys; /* by key id, as far as needed */
} hf_zeros;

/* The value 0 of key, for a read or a write. */
hf_value_id hf_zeros_value(hf_zeros *z, hf_builder *b, hf_key_id key,
                           bool writes);

/* Any value: 0 is remembered. */
static inline hf_value_id hf_zeros_int(hf_zeros *z, hf_builder *b,
                                       hf_key_id key, int64_t value,
                                       bool writes)
{
    return value == 0 ? hf_zeros_value(z, b, key, writes)
                      : hf_builder_int(b, key, value);
}

/* Declares the initial versions and frees what z holds. */
void hf_zeros_finish(hf_zeros *z, hf_builder *b);
void hf_zeros_release(hf_zeros *z);

#endif
