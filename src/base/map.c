/* map.c: linear probing, at most 5/8 full. */
#include "base/map.h"

#include <string.h>

#include "base/mem.h"

struct hf_map_slot {
    uint64_t key;
    uint32_t value; /* UINT32_MAX: free */
};

void hf_map_init(hf_map *m)
{
    *m = (hf_map){0};
}

void hf_map_release(hf_map *m)
{
    hf_free(m->slots);
    *m = (hf_map){0};
}

static hf_map_slot *slot_of(const hf_map *m, uint64_t key)
{
    size_t mask = m->cap - 1, i = (size_t)hf_mix64(key) & mask;

    while (m->slots[i].value != UINT32_MAX && m->slots[i].key != key)
        i = (i + 1) & mask;
    return &m->slots[i];
}

static void grow(hf_map *m)
{
    hf_map old = *m;

    m->cap = old.cap ? old.cap * 2 : 16;
    m->slots = HF_NEW_ARRAY(hf_map_slot, m->cap);
    memset(m->slots, 0xff, m->cap * sizeof(*m->slots));
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].value != UINT32_MAX)
            *slot_of(m, old.slots[i].key) = old.slots[i];
    hf_free(old.slots);
}

uint32_t hf_map_get(const hf_map *m, uint64_t key)
{
    return m->cap ? slot_of(m, key)->value : UINT32_MAX;
}

uint32_t hf_map_add(hf_map *m, uint64_t key, uint32_t value)
{
    hf_map_slot *slot;

    if (m->n + 1 > m->cap / 8 * 5)
        grow(m);
    slot = slot_of(m, key);
    if (slot->value == UINT32_MAX) {
        *slot = (hf_map_slot){key, value};
        m->n++;
    }
    return slot->value;
}

void hf_map_set(hf_map *m, uint64_t key, uint32_t value)
{
    (void)hf_map_add(m, key, value);
    slot_of(m, key)->value = value;
}
