/* plain.h: the short way, for single rows on one site without a bug.
 *
 * Nobody will ask for conditions, lists, or versions by number, so that rows
 * need not be kept as chains of versions.  A key holds the newest committed
 * value itself; a commit that overwrites it copies the old one to a ring of
 * undo entries, where older snapshots find it.  The ring is written in the
 * order of commits and reused from its old end as snapshots go away: it
 * stays small and in the cache, and nothing is ever searched or freed.
 *
 * Pending writes stay with their transaction.  A word of 64 bits tells
 * whether it may have written a key; only then its writes are searched.
 *
 * The generator's register workload calls these functions directly, without
 * a call in between; everyone else goes through store.h.
 *
 * In this mode store_key.newest is the number of the key's newest undo
 * entry, and hf_store_write_ref.version is the id of the value written.
 */
#ifndef HF_STORE_PLAIN_H
#define HF_STORE_PLAIN_H

#include "store/store_impl.h"

/* Up to this many writes are searched one by one. */
#define PLAIN_SCAN 32

/* plain.c */
hf_store_write_ref *hf_plain_search(store_txn *t, uint32_t key);
void hf_plain_map(store_txn *t);
void hf_plain_make_room(hf_store *s);
/* Room for one more in log and writes.  writes.cap <= log.cap and there are
 * not more writes than log entries, so that log.n < writes.cap is enough. */
void hf_plain_grow(store_txn *t);
/* plain_touch() of a key that t has perhaps written. */
void hf_plain_touch_again(hf_store *s, store_txn *t, uint32_t key, bool write,
                          uint32_t id);

/* The transaction's own write of a key, or NULL. */
static inline hf_store_write_ref *plain_own(store_txn *t, uint32_t key)
{
    if (!(t->filter >> (key & 63) & 1))
        return NULL;
    return hf_plain_search(t, key);
}

static inline hf_store_op *plain_log(store_txn *t, uint32_t key, uint32_t id,
                                     hf_op_kind kind)
{
    if (t->log.n >= t->writes.cap)
        hf_plain_grow(t);
    t->log.at[t->log.n++] = (hf_store_op){key, HF_NONE, id, kind};
    return &t->log.at[t->log.n - 1];
}

static inline hf_store_op *plain_read(hf_store *s, store_txn *t, uint32_t key)
{
    const store_key *k = &s->keys.at[key];
    const hf_store_write_ref *own = plain_own(t, key);
    uint32_t stamp = k->stamp, id = k->id, at = k->newest;

    if (own)
        return plain_log(t, key, own->version, HF_OP_READ);
    while (stamp > t->read_snapshot) {
        const undo_entry *u = &s->undo[at & s->undo_mask];

        HF_ASSERT(s->undo_end - at <= s->undo_mask + 1);
        stamp = u->stamp;
        id = u->id;
        at = u->older;
    }
    return plain_log(t, key, id, HF_OP_READ);
}

static inline bool plain_write(store_txn *t, uint32_t key, uint32_t id)
{
    hf_store_write_ref *own;

    (void)plain_log(t, key, id, HF_OP_WRITE); /* makes room in writes, too */
    own = plain_own(t, key);
    if (own) {
        own->version = id;
        return true;
    }
    t->filter |= (uint64_t)1 << (key & 63);
    t->writes.at[t->writes.n++] = (hf_store_write_ref){key, id};
    if (t->writes.n > PLAIN_SCAN)
        hf_plain_map(t);
    return true;
}

/* plain_write() if `write`, else plain_read(), without a jump that depends on
 * it: whoever decides at random would often be mispredicted. */
static inline void plain_touch(hf_store *s, store_txn *t, uint32_t key,
                               uint32_t write, uint32_t id)
{
    const store_key *k = &s->keys.at[key];
    uint32_t stamp = k->stamp, seen = k->id, at = k->newest;
    uint32_t snapshot = t->read_snapshot | -write;

    if (t->filter >> (key & 63) & 1) {
        hf_plain_touch_again(s, t, key, write, id);
        return;
    }
    while (stamp > snapshot) {
        const undo_entry *u = &s->undo[at & s->undo_mask];

        stamp = u->stamp;
        seen = u->id;
        at = u->older;
    }
    (void)plain_log(t, key, seen ^ ((seen ^ id) & -write),
                    write ? HF_OP_WRITE : HF_OP_READ);
    t->writes.at[t->writes.n] = (hf_store_write_ref){key, id};
    t->writes.n += write;
    t->filter |= (uint64_t)write << (key & 63);
    if (t->writes.n > PLAIN_SCAN)
        hf_plain_map(t);
}

static inline bool plain_certify(const hf_store *s, const store_txn *t)
{
    uint32_t newest = 0;

    if (t->writes.n == 0)
        return true;
    /* the newest of all stamps: fewer jumps than asking each time */
    if (s->policy.check_reads) {
        for (size_t i = 0; i < t->log.n; i++) {
            uint32_t stamp = s->keys.at[t->log.at[i].key].stamp;

            newest = stamp > newest ? stamp : newest;
        }
    } else if (s->policy.check_writes) {
        for (size_t i = 0; i < t->writes.n; i++) {
            uint32_t stamp = s->keys.at[t->writes.at[i].key].stamp;

            newest = stamp > newest ? stamp : newest;
        }
    }
    return newest <= t->snapshot;
}

static inline void plain_install(hf_store *s, const store_txn *t)
{
    s->clock++;
    for (size_t i = 0; i < t->writes.n; i++) {
        store_key *k = &s->keys.at[t->writes.at[i].key];

        if (s->undo_end - s->undo_begin > s->undo_mask)
            hf_plain_make_room(s);
        s->undo[s->undo_end & s->undo_mask] =
            (undo_entry){k->stamp, k->id, k->newest, s->clock};
        k->newest = s->undo_end++;
        k->stamp = s->clock;
        k->id = t->writes.at[i].version;
    }
}

static inline uint32_t plain_begin(hf_store *s, store_txn *t)
{
    t->running = true;
    t->filter = 0;
    if (t->places.n > 0)
        hf_map_release(&t->places);
    t->writes.n = t->log.n = 0;
    t->snapshot = s->clock;
    t->read_snapshot = s->policy.snapshot ? t->snapshot : SEE_NEWEST;
    return t->number = s->n_begun++;
}

/* There is nothing to undo. */
static inline hf_store_end plain_end(store_txn *t, hf_outcome outcome)
{
    t->running = false;
    if (outcome == HF_ABORTED)
        t->writes.n = 0;
    return (hf_store_end){outcome, false, t->snapshot, 0};
}

static inline hf_store_end plain_commit(hf_store *s, store_txn *t)
{
    hf_store_end end;

    if (!plain_certify(s, t))
        return plain_end(t, HF_ABORTED);
    end = plain_end(t, HF_COMMITTED);
    if (t->writes.n > 0) {
        plain_install(s, t);
        end.installed = true;
        end.stamp = s->clock;
    }
    return end;
}

#endif
