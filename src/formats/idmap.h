/* idmap.h: from the numbers of a file to dense ids, fast where they are small.
 *
 * Most files number their keys, transactions and sessions from 0 without big
 * gaps, so a number below `limit` indexes an array; the others go to a hash
 * map.  The caller picks the limit in proportion to its input, which bounds
 * the array.
 */
#ifndef HF_IDMAP_H
#define HF_IDMAP_H

#include "base/map.h"
#include "holdfast.h"

typedef struct hf_idmap {
    uint32_t *dense; /* HF_NONE where there is nothing */
    uint64_t n_dense, limit;
    hf_map sparse;
} hf_idmap;

void hf_idmap_init(hf_idmap *m, uint64_t limit);
void hf_idmap_release(hf_idmap *m);

/* The slow parts of the two below. */
uint32_t hf_idmap_get_far(const hf_idmap *m, uint64_t number);
void hf_idmap_set_far(hf_idmap *m, uint64_t number, uint32_t id);

/* HF_NONE if the number is new. */
static inline uint32_t hf_idmap_get(const hf_idmap *m, uint64_t number)
{
    return number < m->n_dense ? m->dense[number] : hf_idmap_get_far(m, number);
}

/* id must not be HF_NONE. */
static inline void hf_idmap_set(hf_idmap *m, uint64_t number, uint32_t id)
{
    if (number < m->n_dense)
        m->dense[number] = id;
    else
        hf_idmap_set_far(m, number, id);
}

#endif
