/* store.c: life of a store, its versions, and the writing of rows.
 *
 * A write makes a pending version, linked to its key and noted in the log of
 * its transaction; commit.c installs it.  Versions are recycled: no memory
 * is taken in a steady run.  Every operation here takes constant time but
 * for the walk over the transactions that are writing the same key.
 */
#include "store/store.h"

#include <string.h>

#include "store/index.h"
#include "store/plain.h"

/* ---- versions ------------------------------------------------------------ */

/* A version that was never used before. */
static uint32_t more_versions(hf_store *s)
{
    uint32_t v = (uint32_t)s->versions.n;

    HF_ASSERT(s->versions.n < HF_NONE);
    hf_vec_reserve(&s->versions, 1);
    s->versions.n++;
    for (uint32_t r = 0; r < s->n_replicas && s->n_replicas > 1; r++)
        hf_vec_push(&s->applied, INVISIBLE);
    return v;
}

static inline uint32_t new_version(hf_store *s)
{
    uint32_t v = s->free_version;

    if (v == HF_NONE)
        return more_versions(s);
    s->free_version = s->versions.at[v].prev;
    return v;
}

/* ---- life ---------------------------------------------------------------- */

hf_store *hf_store_new(const hf_store_options *o)
{
    hf_store *s = HF_NEW(hf_store);

    HF_ASSERT(o->sessions > 0);
    s->bug = o->bug;
    s->bug_percent = o->bug_percent;
    s->policy = hf_store_policy(o->level, o->bug);
    s->keep_versions = o->keep_versions || o->bug != HF_BUG_NONE;
    s->whole_orders = !o->only_rows;
    hf_rng_seed(&s->rng, o->seed);
    s->free_version = HF_NONE;
    s->n_sessions = o->sessions;
    s->txns = HF_NEW_ZEROED(store_txn, o->sessions);
    s->n_replicas = 1;
    if (s->policy.replicated)
        hf_store_replicas_init(s, o->replicas);
    s->forgets = !s->keep_versions && s->n_replicas == 1;
    s->plain = o->only_rows && s->forgets && !s->policy.uncommitted &&
               !s->policy.check_items;
    if (s->plain) {
        s->undo_mask = 255;
        s->undo = HF_NEW_ARRAY(undo_entry, 256);
    }
    if (o->span > 0 && s->forgets && !s->plain && !s->policy.uncommitted &&
        !s->policy.check_items)
        hf_index_init(s, o->span);
    if (o->keys > 0)
        (void)hf_store_add_keys(s, o->keys);
    return s;
}

void hf_store_free(hf_store *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->n_sessions; i++) {
        hf_vec_release(&s->txns[i].writes);
        hf_map_release(&s->txns[i].places);
        hf_vec_release(&s->txns[i].log);
        hf_vec_release(&s->txns[i].scans);
        hf_vec_release(&s->txns[i].rows);
        hf_vec_release(&s->txns[i].views);
    }
    hf_free(s->txns);
    hf_free(s->undo);
    hf_index_release(s);
    hf_store_replicas_release(s);
    hf_vec_release(&s->keys);
    hf_vec_release(&s->initial);
    hf_vec_release(&s->ghosts);
    hf_vec_release(&s->versions);
    hf_vec_release(&s->applied);
    hf_vec_release(&s->delayed);
    hf_vec_release(&s->last_reader);
    hf_free(s);
}

uint32_t hf_store_add_keys(hf_store *s, uint32_t n)
{
    uint32_t first = (uint32_t)s->keys.n;

    hf_vec_reserve(&s->keys, n);
    hf_vec_reserve(&s->initial, n);
    for (uint32_t i = 0; i < n; i++) {
        s->keys.at[s->keys.n++] = (store_key){HF_NONE, HF_NONE, 0, HF_NONE};
        s->initial.at[s->initial.n++] = HF_NONE;
        if (s->bug == HF_BUG_CERTIFIER_IGNORES_READONLY)
            hf_vec_push(&s->last_reader, 0);
        if (s->bug == HF_BUG_ABORTED_READ)
            hf_vec_push(&s->ghosts, HF_NONE);
    }
    return first;
}

void hf_store_load(hf_store *s, uint32_t key, hf_store_value value)
{
    uint32_t v = new_version(s);

    HF_ASSERT(s->keys.at[key].newest == HF_NONE && !s->plain);
    s->versions.at[v] = (hf_store_version){.stamp = 0,
                                           .prev = HF_NONE,
                                           .base = HF_NONE,
                                           .id = value.id,
                                           .number = value.number,
                                           .writer = HF_NONE};
    for (uint32_t r = 0; r < s->n_replicas && s->n_replicas > 1; r++)
        s->applied.at[(size_t)v * s->n_replicas + r] = 0;
    s->keys.at[key].newest = v;
    s->initial.at[key] = value.id;
    if (s->n_buckets > 0)
        hf_index_add(s, key, v);
}

void hf_store_command(hf_store *s, const hf_store_commander *c)
{
    HF_ASSERT(!s->plain && s->bug == HF_BUG_NONE && s->n_replicas == 1);
    s->commander = c;
}

/* ---- transactions -------------------------------------------------------- */

/* Which replica a transaction talks to. */
static uint32_t choose_site(hf_store *s, uint32_t session)
{
    if (s->n_replicas == 1)
        return 0;
    if (strikes(s, HF_BUG_REPLICA_LAG))
        return hf_rng_below(&s->rng, s->n_replicas);
    return session % s->n_replicas;
}

static uint32_t now_at(const hf_store *s, uint32_t site)
{
    return s->n_replicas == 1 ? s->clock : s->replicas[site].applied;
}

/* Bugs that strike at the beginning. */
static void begin_wrong(hf_store *s, store_txn *t)
{
    if (strikes(s, HF_BUG_CERTIFIER_FORGETS))
        s->forgotten = s->clock;
    if (strikes(s, HF_BUG_STALE_SNAPSHOT)) {
        uint32_t lag = 1 + hf_rng_below(&s->rng, 4);

        t->snapshot -= lag < t->snapshot ? lag : t->snapshot;
    }
}

uint32_t hf_store_begin(hf_store *s, uint32_t session)
{
    store_txn *t = &s->txns[session];

    HF_ASSERT(session < s->n_sessions && !t->running);
    if (s->plain)
        return plain_begin(s, t);
    t->running = true;
    t->refused = t->inserts = false;
    t->number = s->n_begun++;
    t->writes.n = t->log.n = t->scans.n = t->rows.n = t->views.n = 0;
    t->replica = choose_site(s, session);
    t->snapshot = now_at(s, t->replica);
    if (s->bug != HF_BUG_NONE)
        begin_wrong(s, t);
    t->read_snapshot = s->policy.snapshot      ? t->snapshot
                       : s->policy.uncommitted ? SEE_UNCOMMITTED
                                               : SEE_NEWEST;
    return t->number;
}

/* ---- writing ------------------------------------------------------------- */

/* May t write the key now?  `own`: it has done so already. */
static bool may_write(hf_store *s, const store_txn *t, uint32_t key,
                      uint32_t own)
{
    const store_key *k = &s->keys.at[key];

    if (s->policy.uncommitted && own == HF_NONE && k->pending != HF_NONE)
        return false; /* locked by its writer; nobody waits here */
    if (s->bug == HF_BUG_EARLY_CONFLICT_CHECK && s->policy.check_writes &&
        k->newest != HF_NONE &&
        stamp_at(s, k->newest, t->replica) > t->snapshot)
        return false;
    return true;
}

/* Does the write leave the row as the transaction found it? */
static bool is_unchanged(hf_store *s, const store_txn *t, uint32_t key,
                         int64_t number)
{
    uint32_t v =
        first_visible(s, s->keys.at[key].newest, t->replica, t->read_snapshot);

    return is_row(s, v) && s->versions.at[v].number == number;
}

/* A new pending version of a key this transaction has not written yet. */
static inline uint32_t add_pending(hf_store *s, store_txn *t, uint32_t key,
                                   hf_store_value value, uint32_t base,
                                   uint32_t flags)
{
    uint32_t v = new_version(s);
    store_key *k = &s->keys.at[key];

    s->versions.at[v] = (hf_store_version){(uint32_t)t->writes.n,
                                           k->pending,
                                           base,
                                           value.id,
                                           value.number,
                                           t->number,
                                           flags | VERSION_PENDING};
    k->pending = v;
    hf_vec_push(&t->writes, (hf_store_write_ref){key, v});
    return v;
}

/* Another write of a key this transaction has written.  Where nobody can ask
 * for the earlier one it is replaced in place. */
static uint32_t write_again(hf_store *s, store_txn *t, uint32_t key,
                            uint32_t own, hf_store_value value, uint32_t flags)
{
    uint32_t place = s->versions.at[own].stamp, v;

    flags |= s->versions.at[own].flags & VERSION_INSERT;
    if (s->bug == HF_BUG_NONE && !(flags & VERSION_LIST)) {
        s->versions.at[own].id = value.id;
        s->versions.at[own].number = value.number;
        s->versions.at[own].flags = flags | VERSION_PENDING;
        return own;
    }
    v = new_version(s);
    unlink_pending(s, key, own);
    s->versions.at[own].flags |= VERSION_SUPERSEDED;
    s->versions.at[v] = (hf_store_version){
        place,     s->keys.at[key].pending, own, value.id, value.number,
        t->number, flags | VERSION_PENDING};
    s->keys.at[key].pending = v;
    t->writes.at[place].version = v;
    return v;
}

/* Returns the version made, or HF_NONE if the store refuses. */
static uint32_t write_carefully(hf_store *s, store_txn *t, uint32_t key,
                                hf_store_value value, hf_op_kind kind)
{
    uint32_t own = own_version(s, t, key), base = HF_NONE, flags = 0;

    if (!may_write(s, t, key, own)) {
        t->refused = true;
        return HF_NONE;
    }
    if (kind == HF_OP_DELETE) {
        flags = VERSION_DEAD;
    } else if (kind == HF_OP_INSERT && own == HF_NONE) {
        flags = VERSION_INSERT;
        t->inserts = true;
    } else if (kind == HF_OP_APPEND) {
        flags = VERSION_LIST;
        base = first_visible(s, s->keys.at[key].newest, t->replica,
                             t->read_snapshot);
    }
    if (s->bug == HF_BUG_LOCK_SKIPPED_WHEN_UNCHANGED &&
        is_unchanged(s, t, key, value.number))
        flags |= VERSION_UNCHANGED;
    return own != HF_NONE ? write_again(s, t, key, own, value, flags)
                          : add_pending(s, t, key, value, base, flags);
}

/* `kind` is what is logged, `as` how it is done. */
static bool write_as(hf_store *s, uint32_t session, uint32_t key,
                     hf_store_value value, hf_op_kind kind, hf_op_kind as)
{
    store_txn *t = &s->txns[session];
    uint32_t v = write_carefully(s, t, key, value, as);

    HF_ASSERT(t->running && key < s->keys.n && !s->plain);
    if (v == HF_NONE)
        return false;
    hf_vec_push(&t->log, (hf_store_op){key, v, value.id, kind});
    if (s->commander)
        s->commander->wrote(s->commander->user, session, key, kind);
    return true;
}

static bool write_row(hf_store *s, uint32_t session, uint32_t key,
                      hf_store_value value, hf_op_kind kind)
{
    return write_as(s, session, key, value, kind, kind);
}

bool hf_store_write(hf_store *s, uint32_t session, uint32_t key,
                    hf_store_value value)
{
    HF_ASSERT(s->txns[session].running && key < s->keys.n);
    if (s->plain)
        return plain_write(&s->txns[session], key, value.id);
    return write_row(s, session, key, value, HF_OP_WRITE);
}

bool hf_store_append(hf_store *s, uint32_t session, uint32_t key,
                     hf_store_value element)
{
    return write_row(s, session, key, element, HF_OP_APPEND);
}

int64_t hf_store_sum(hf_store *s, uint32_t session, int64_t amount)
{
    const store_txn *t = &s->txns[session];
    uint32_t v = t->log.at[t->log.n - 1].version;

    HF_ASSERT(v != HF_NONE && !s->plain);
    return s->versions.at[v].number + amount +
           strikes(s, HF_BUG_WRONG_ARITHMETIC);
}

bool hf_store_increment(hf_store *s, uint32_t session, uint32_t key,
                        hf_store_value sum)
{
    return write_as(s, session, key, sum, HF_OP_INCREMENT, HF_OP_WRITE);
}

bool hf_store_insert(hf_store *s, uint32_t session, uint32_t key,
                     hf_store_value value)
{
    return write_row(s, session, key, value, HF_OP_INSERT);
}

bool hf_store_upsert(hf_store *s, uint32_t session, uint32_t key,
                     hf_store_value value)
{
    return write_as(s, session, key, value, HF_OP_INSERT, HF_OP_WRITE);
}

bool hf_store_delete(hf_store *s, uint32_t session, uint32_t key)
{
    return write_row(s, session, key, (hf_store_value){0, HF_NONE},
                     HF_OP_DELETE);
}

/* ---- looking in ---------------------------------------------------------- */

bool hf_store_has_snapshots(const hf_store *s)
{
    return s->policy.snapshot;
}

bool hf_store_is_replicated(const hf_store *s)
{
    return s->n_replicas > 1;
}

uint32_t hf_store_clock(const hf_store *s)
{
    return s->clock;
}

hf_store_record hf_store_log(const hf_store *s, uint32_t session)
{
    const store_txn *t = &s->txns[session];

    return (hf_store_record){.ops = t->log.at,
                             .n_ops = t->log.n,
                             .writes = t->writes.at,
                             .n_writes = t->writes.n,
                             .n_scans = t->scans.n};
}

const hf_store_scanned *hf_store_scan_at(const hf_store *s, uint32_t session,
                                         uint32_t index)
{
    HF_ASSERT(index < s->txns[session].scans.n);
    return &s->txns[session].scans.at[index];
}

const hf_store_row *hf_store_rows(const hf_store *s, uint32_t session)
{
    return s->txns[session].rows.at;
}

const hf_store_version *hf_store_version_at(const hf_store *s, uint32_t v)
{
    HF_ASSERT(v < s->versions.n);
    return &s->versions.at[v];
}

bool hf_store_is_deletion(const hf_store *s, uint32_t v)
{
    HF_ASSERT(v < s->versions.n);
    return (s->versions.at[v].flags & VERSION_DEAD) != 0;
}

bool hf_store_has_written(const hf_store *s, uint32_t session, uint32_t key)
{
    HF_ASSERT(session < s->n_sessions && key < s->keys.n);
    return own_version(s, &s->txns[session], key) != HF_NONE;
}

uint32_t hf_store_newest(const hf_store *s, uint32_t key)
{
    HF_ASSERT(key < s->keys.n);
    return s->keys.at[key].newest;
}
