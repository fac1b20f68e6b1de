/* plain.c: the rare parts of the short way; see plain.h. */
#include "store/plain.h"

bool hf_store_is_plain(const hf_store *s)
{
    return s->plain;
}

hf_store_write_ref *hf_plain_search(store_txn *t, uint32_t key)
{
    if (t->writes.n > PLAIN_SCAN) {
        uint32_t i = hf_map_get(&t->places, key);

        return i == UINT32_MAX ? NULL : &t->writes.at[i];
    }
    for (size_t i = 0; i < t->writes.n; i++)
        if (t->writes.at[i].key == key)
            return &t->writes.at[i];
    return NULL;
}

/* Notes the places of writes that have none yet, once they are many. */
void hf_plain_map(store_txn *t)
{
    for (size_t i = t->places.n; i < t->writes.n; i++)
        hf_map_set(&t->places, t->writes.at[i].key, (uint32_t)i);
}

void hf_plain_grow(store_txn *t)
{
    hf_vec_reserve(&t->log, t->log.n + 16);
    hf_vec_reserve(&t->writes, t->log.cap - t->writes.n);
    hf_vec_reserve(&t->log, t->writes.cap - t->log.n);
    HF_ASSERT(t->log.n < t->writes.cap && t->writes.cap <= t->log.cap);
}

void hf_plain_touch_again(hf_store *s, store_txn *t, uint32_t key, bool write,
                          uint32_t id)
{
    if (write)
        (void)plain_write(t, key, id);
    else
        (void)plain_read(s, t, key);
}

/* Reuses entries that no running snapshot needs; if these are too few, the
 * ring is made larger. */
void hf_plain_make_room(hf_store *s)
{
    uint32_t size = s->undo_mask + 1, horizon = oldest_snapshot(s);
    undo_entry *larger;

    while (s->undo_begin != s->undo_end &&
           s->undo[s->undo_begin & s->undo_mask].until <= horizon)
        s->undo_begin++;
    if (s->undo_end - s->undo_begin <= size / 2)
        return;
    HF_ASSERT(size < (uint32_t)1 << 31);
    larger = HF_NEW_ARRAY(undo_entry, 2 * (size_t)size);
    for (uint32_t i = s->undo_begin; i != s->undo_end; i++)
        larger[i & (2 * size - 1)] = s->undo[i & s->undo_mask];
    hf_free(s->undo);
    s->undo = larger;
    s->undo_mask = 2 * size - 1;
}
