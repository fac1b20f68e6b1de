/* vec.h: growable arrays of any element type.
 *
 *     HF_VEC(uint32_t) ids = {0};
 *     hf_vec_push(&ids, 7);
 *     for (size_t i = 0; i < ids.n; i++) use(ids.at[i]);
 *     hf_vec_release(&ids);
 */
#ifndef HF_VEC_H
#define HF_VEC_H

#include "base/mem.h"

#define HF_VEC(type)                                                           \
    struct {                                                                   \
        type *at;                                                              \
        size_t n, cap;                                                         \
    }

/* Room for `extra` more elements. */
#define hf_vec_reserve(v, extra)                                               \
    ((v)->n + (extra) <= (v)->cap                                              \
         ? (void)0                                                             \
         : hf_vec_grow((void **)&(v)->at, &(v)->cap, (v)->n + (extra),         \
                       sizeof(*(v)->at)))

#define hf_vec_push(v, ...)                                                    \
    (hf_vec_reserve((v), 1), (void)((v)->at[(v)->n++] = __VA_ARGS__))

#define hf_vec_release(v)                                                      \
    (hf_free((v)->at), (void)((v)->at = NULL, (v)->n = (v)->cap = 0))

/* Grows to at least `wanted` elements, by half at least. */
void hf_vec_grow(void **at, size_t *cap, size_t wanted, size_t size);

#endif
