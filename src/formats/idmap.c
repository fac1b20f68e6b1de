/* idmap.c: the parts of idmap.h that are rare. */
#include "formats/idmap.h"

#include <string.h>

#include "base/mem.h"

void hf_idmap_init(hf_idmap *m, uint64_t limit)
{
    *m = (hf_idmap){.limit = limit < UINT32_MAX ? limit : UINT32_MAX};
    hf_map_init(&m->sparse);
}

void hf_idmap_release(hf_idmap *m)
{
    hf_free(m->dense);
    hf_map_release(&m->sparse);
    m->dense = NULL;
    m->n_dense = 0;
}

uint32_t hf_idmap_get_far(const hf_idmap *m, uint64_t number)
{
    return number < m->limit ? HF_NONE : hf_map_get(&m->sparse, number);
}

void hf_idmap_set_far(hf_idmap *m, uint64_t number, uint32_t id)
{
    uint64_t wanted = number + number / 2 + 64;

    if (number >= m->limit) {
        hf_map_set(&m->sparse, number, id);
        return;
    }
    if (wanted > m->limit)
        wanted = m->limit;
    m->dense = hf_realloc(m->dense, hf_array_size(wanted, sizeof(*m->dense)));
    memset(m->dense + m->n_dense, 0xff,
           (wanted - m->n_dense) * sizeof(*m->dense));
    m->n_dense = wanted;
    m->dense[number] = id;
}
