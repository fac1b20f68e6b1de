/* zeros.c: see zeros.h. */
#include "formats/zeros.h"

hf_value_id hf_zeros_value(hf_zeros *z, hf_builder *b, hf_key_id key,
                           bool writes)
{
    hf_zero *zero;

    while (z->keys.n <= key)
        hf_vec_push(&z->keys, (hf_zero){HF_NONE, false});
    zero = &z->keys.at[key];
    if (zero->value == HF_NONE)
        zero->value = hf_builder_int(b, key, 0);
    zero->written = zero->written || writes;
    return zero->value;
}

void hf_zeros_finish(hf_zeros *z, hf_builder *b)
{
    for (size_t k = 0; k < z->keys.n; k++)
        if (z->keys.at[k].value != HF_NONE && !z->keys.at[k].written)
            hf_builder_initial(b, (hf_key_id)k, z->keys.at[k].value);
    hf_zeros_release(z);
}

void hf_zeros_release(hf_zeros *z)
{
    hf_vec_release(&z->keys);
}
