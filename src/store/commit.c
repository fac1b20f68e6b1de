/* commit.c: the end of a transaction.
 *
 * Commit checks what the level demands (certification, looking backwards:
 * has anything changed since?) and installs the pending versions together, or
 * rolls them back.  Costs the operations of the transaction, and for scans
 * the rows they looked at (with an index: the buckets of the range).
 */
#include "store/index.h"
#include "store/plain.h"

/* ---- certification ------------------------------------------------------- */

/* Has anyone committed to the key after the snapshot? */
static inline bool has_changed(const hf_store *s, const store_txn *t,
                               uint32_t key)
{
    const store_key *k = &s->keys.at[key];

    return k->newest != HF_NONE &&
           stamp_at(s, k->newest, t->replica) > t->snapshot;
}

static bool write_conflicts(hf_store *s, const store_txn *t,
                            const hf_store_write_ref *w)
{
    const hf_store_version *v = &s->versions.at[w->version];

    if ((v->flags & VERSION_INSERT) && is_row(s, s->keys.at[w->key].newest))
        return true; /* the row is there by now */
    if (!s->policy.check_writes || !has_changed(s, t, w->key))
        return false;
    if (s->bug == HF_BUG_EARLY_CONFLICT_CHECK)
        return false;
    if ((v->flags & VERSION_UNCHANGED) &&
        strikes(s, HF_BUG_LOCK_SKIPPED_WHEN_UNCHANGED))
        return false;
    return true;
}

/* Does anyone but t have a version of the key that is not committed? */
static bool is_being_written(const hf_store *s, const store_txn *t,
                             uint32_t key)
{
    uint32_t v = s->keys.at[key].pending;

    while (v != HF_NONE && s->versions.at[v].writer == t->number)
        v = s->versions.at[v].prev;
    return v != HF_NONE;
}

/* Does the certifier see that the key has changed?  certifier-forgets: a
 * commit is remembered until someone begins.  certifier-newest-only: what is
 * not committed hides it. */
static bool is_noticed(const hf_store *s, const store_txn *t, uint32_t key)
{
    if (s->bug == HF_BUG_CERTIFIER_FORGETS)
        return s->versions.at[s->keys.at[key].newest].stamp > s->forgotten;
    if (s->bug == HF_BUG_CERTIFIER_NEWEST_ONLY)
        return !is_being_written(s, t, key);
    return true;
}

static bool read_conflicts(const hf_store *s, const store_txn *t,
                           const hf_store_op *op)
{
    if (s->policy.check_items && op->version != s->keys.at[op->key].newest &&
        (op->version == HF_NONE ||
         s->versions.at[op->version].writer != t->number))
        return true;
    return s->policy.check_reads && has_changed(s, t, op->key) &&
           is_noticed(s, t, op->key);
}

/* Is one of the versions from the newest down to the row's in the range? */
static bool range_touched(const hf_store *s, const hf_store_row *row,
                          const hf_store_scanned *scan)
{
    uint32_t v = s->keys.at[row->key].newest;

    for (; v != HF_NONE && v != row->version; v = s->versions.at[v].prev)
        if (is_row(s, v) && scan->lo <= s->versions.at[v].number &&
            s->versions.at[v].number <= scan->hi)
            return true;
    return false;
}

static bool row_conflicts(const hf_store *s, const store_txn *t,
                          const hf_store_row *row, const hf_store_scanned *scan)
{
    if (row->writer == t->number)
        return false; /* the own write is checked as a write */
    if (s->policy.check_items)
        return row->returned && row->version != s->keys.at[row->key].newest;
    if (!s->policy.check_reads || !has_changed(s, t, row->key) ||
        !is_noticed(s, t, row->key))
        return false;
    return row->returned ||
           (s->policy.check_scans && range_touched(s, row, scan));
}

static bool scan_conflicts(const hf_store *s, const store_txn *t,
                           uint32_t index)
{
    const hf_store_scanned *scan = &t->scans.at[index];
    const hf_store_row *rows = t->rows.at + scan->first_row;

    if (!s->policy.check_reads && !s->policy.check_items)
        return false;
    if (s->n_buckets > 0)
        return hf_index_touched(s, scan, t->snapshot);
    for (size_t i = 0; i < scan->n_rows; i++)
        if (row_conflicts(s, t, &rows[i], scan))
            return true;
    /* rows of keys that were added since: they were absent */
    for (uint32_t key = scan->n_keys; key < s->keys.n; key++)
        if (row_conflicts(s, t,
                          &(hf_store_row){.key = key,
                                          .version = HF_NONE,
                                          .writer = HF_NONE},
                          scan))
            return true;
    return false;
}

/* certifier-ignores-readonly.  Old reads are accepted unless the transaction
 * stands between two others: someone read what it overwrites, and someone
 * overwrote what it read.  Complete, but that only writers are asked. */
static bool is_pivot(hf_store *s, const store_txn *t)
{
    bool out = false, in = false;

    for (size_t i = 0; i < t->log.n; i++) {
        const hf_store_op *op = &t->log.at[i];

        if (!is_item_read(op->kind) || !has_changed(s, t, op->key))
            continue;
        if (s->versions.at[s->keys.at[op->key].newest].flags &
            VERSION_BACKDATED)
            return true;
        out = true;
    }
    for (size_t i = 0; i < t->writes.n; i++)
        if (s->last_reader.at[t->writes.at[i].key] > t->snapshot)
            in = true;
    for (size_t i = 0; i < t->writes.n && out && !in; i++)
        s->versions.at[t->writes.at[i].version].flags |= VERSION_BACKDATED;
    return out && in;
}

static void note_reads(hf_store *s, const store_txn *t)
{
    for (size_t i = 0; i < t->log.n; i++)
        if (is_item_read(t->log.at[i].kind))
            s->last_reader.at[t->log.at[i].key] = s->clock;
}

static bool views_hold(const hf_store *s, const store_txn *t)
{
    for (size_t i = 0; i < t->views.n; i++)
        if (s->keys.at[t->views.at[i].key].newest != t->views.at[i].newest)
            return false;
    return true;
}

/* Any write that conflicts? */
static bool writes_conflict(hf_store *s, const store_txn *t)
{
    for (size_t i = 0; i < t->writes.n; i++)
        if (write_conflicts(s, t, &t->writes.at[i]))
            return true;
    return false;
}

/* Any read?  With `written_too` false, keys that t writes do not count. */
static bool reads_conflict(const hf_store *s, const store_txn *t,
                           bool written_too)
{
    for (size_t i = 0; i < t->log.n; i++) {
        const hf_store_op *op = &t->log.at[i];

        if (op->key == HF_NONE) {
            if (written_too && scan_conflicts(s, t, op->version))
                return true;
        } else if (is_item_read(op->kind) && read_conflicts(s, t, op) &&
                   (written_too || own_version(s, t, op->key) == HF_NONE)) {
            return true;
        }
    }
    return false;
}

/* May t commit?  Transactions that only read a snapshot always may. */
static bool certify(hf_store *s, const store_txn *t)
{
    bool writes = !strikes(s, HF_BUG_LOST_UPDATE);
    bool reads = !strikes(s, HF_BUG_WRITE_SKEW);

    if (t->writes.n == 0 && !s->policy.check_items)
        return true;
    if (s->bug == HF_BUG_CERTIFIER_IGNORES_READONLY && s->policy.check_reads) {
        reads = false;
        if (is_pivot(s, t))
            return false;
    }
    if (writes && (writes_conflict(s, t) || !views_hold(s, t)))
        return false;
    return !reads || !reads_conflict(s, t, writes);
}

/* ---- installing ---------------------------------------------------------- */

/* Forgets the versions older than v, which nobody can see any more. */
static void forget_older(hf_store *s, uint32_t v)
{
    uint32_t old = s->versions.at[v].prev;

    s->versions.at[v].prev = HF_NONE;
    while (old != HF_NONE) {
        uint32_t next = s->versions.at[old].prev;

        if (s->n_buckets > 0)
            hf_index_remove(s, old);
        free_version(s, old);
        old = next;
    }
}

/* v was the newest version until now.  If everyone can see it, what is older
 * goes; for keys that are written all the time the chain is searched for such
 * a version, but not every time. */
static void prune(hf_store *s, uint32_t v)
{
    if (s->versions.at[v].stamp > s->horizon) {
        if (s->clock % 16 != 0)
            return;
        v = first_visible(s, v, 0, s->horizon);
        if (v == HF_NONE)
            return;
    }
    forget_older(s, v);
}

/* dirty-write: versions stand in the order they were written, which is that
 * of their numbers, as none is recycled when there is a bug. */
static uint32_t *place_of(hf_store *s, store_key *k, uint32_t v)
{
    uint32_t *link = &k->newest;

    if (s->bug == HF_BUG_DIRTY_WRITE)
        while (*link != HF_NONE && *link > v)
            link = &s->versions.at[*link].prev;
    return link;
}

static void install(hf_store *s, uint32_t key, uint32_t v)
{
    store_key *k = &s->keys.at[key];
    hf_store_version *version = &s->versions.at[v];
    uint32_t *link;

    unlink_pending(s, key, v);
    link = place_of(s, k, v);
    version->stamp = s->clock;
    version->flags &= ~VERSION_PENDING;
    version->prev = *link;
    *link = v;
    if (s->bug == HF_BUG_ABORTED_READ)
        s->ghosts.at[key] = HF_NONE;
    if (s->n_buckets > 0)
        hf_index_install(s, key, v);
    if (version->prev != HF_NONE && s->forgets)
        prune(s, version->prev);
}

/* The first of the appends of one transaction to a key goes on top of what
 * is there at commit. */
static void rebase_list(hf_store *s, uint32_t key, uint32_t v)
{
    uint32_t writer = s->versions.at[v].writer;

    while (s->versions.at[v].base != HF_NONE &&
           s->versions.at[s->versions.at[v].base].writer == writer)
        v = s->versions.at[v].base;
    s->versions.at[v].base = s->keys.at[key].newest;
}

/* fractured-read: all but the first row of a commit have to wait. */
static void delay_rows(hf_store *s, const store_txn *t)
{
    for (size_t i = 1; i < t->writes.n; i++) {
        uint32_t v = t->writes.at[i].version;

        hf_vec_push(&s->delayed, (hf_store_write_ref){t->replica, v});
        if (s->n_replicas == 1)
            s->versions.at[v].stamp = INVISIBLE;
        else
            s->applied.at[(size_t)v * s->n_replicas + t->replica] = INVISIBLE;
    }
}

static void release_delayed(hf_store *s)
{
    for (size_t i = 0; i < s->delayed.n; i++) {
        uint32_t site = s->delayed.at[i].key, v = s->delayed.at[i].version;

        if (s->n_replicas == 1)
            s->versions.at[v].stamp = ++s->clock;
        else
            s->applied.at[(size_t)v * s->n_replicas + site] =
                ++s->replicas[site].applied;
    }
    s->delayed.n = 0;
}

static void install_all(hf_store *s, store_txn *t)
{
    s->clock++;
    if (s->n_replicas > 1)
        hf_store_replica_prepare(s, t);
    for (size_t i = 0; i < t->writes.n; i++) {
        const hf_store_write_ref *w = &t->writes.at[i];

        if (s->versions.at[w->version].flags & VERSION_LIST)
            rebase_list(s, w->key, w->version);
        install(s, w->key, w->version);
    }
    if (s->n_replicas > 1)
        hf_store_replica_commit(s, t);
    if (++s->horizon_age > 64 + s->n_sessions) {
        s->horizon = oldest_snapshot(s);
        s->horizon_age = 0;
    }
}

/* ---- ending -------------------------------------------------------------- */

/* Undoes the writes from the first-th on. */
static void undo(hf_store *s, store_txn *t, size_t first)
{
    for (size_t i = first; i < t->writes.n; i++) {
        const hf_store_write_ref *w = &t->writes.at[i];

        unlink_pending(s, w->key, w->version);
        if (s->bug == HF_BUG_ABORTED_READ)
            s->ghosts.at[w->key] = w->version;
        if (!s->keep_versions)
            free_version(s, w->version);
    }
    t->writes.n = first;
}

/* keep-aborted-versions: rollback forgets the first row written. */
static hf_store_end roll_back(hf_store *s, store_txn *t)
{
    bool kept = t->writes.n > 0 && strikes(s, HF_BUG_KEEP_ABORTED_VERSIONS);

    t->running = false;
    undo(s, t, kept);
    if (kept)
        install_all(s, t);
    return (hf_store_end){
        .outcome = HF_ABORTED, .installed = kept, .snapshot = t->snapshot};
}

hf_store_end hf_store_abort(hf_store *s, uint32_t session)
{
    store_txn *t = &s->txns[session];

    HF_ASSERT(t->running);
    if (s->plain)
        return plain_end(t, HF_ABORTED);
    return roll_back(s, t);
}

/* What the client is told about a commit that went well. */
static hf_outcome answer(hf_store *s)
{
    if (strikes(s, HF_BUG_COMMIT_REPORTED_FAILED))
        return HF_ABORTED;
    if (strikes(s, HF_BUG_COMMIT_ANSWER_LOST))
        return HF_UNKNOWN_OUTCOME;
    return HF_COMMITTED;
}

static hf_store_end commit_carefully(hf_store *s, store_txn *t)
{
    hf_store_end end = {.outcome = HF_COMMITTED, .snapshot = t->snapshot};

    if (s->delayed.n > 0)
        release_delayed(s);
    if (t->refused || !certify(s, t))
        return roll_back(s, t);
    if (t->writes.n == 0) {
        t->running = false;
        return end;
    }
    if (strikes(s, HF_BUG_COMMIT_LOST)) {
        end = roll_back(s, t);
        end.outcome = HF_COMMITTED;
        return end;
    }
    t->running = false;
    install_all(s, t);
    end.installed = true;
    end.stamp = s->clock;
    if (s->bug != HF_BUG_NONE) {
        end.outcome = answer(s);
        if (s->bug == HF_BUG_CERTIFIER_IGNORES_READONLY)
            note_reads(s, t);
        if (strikes(s, HF_BUG_FRACTURED_READ))
            delay_rows(s, t);
    }
    return end;
}

hf_store_end hf_store_commit(hf_store *s, uint32_t session)
{
    store_txn *t = &s->txns[session];

    HF_ASSERT(t->running);
    return s->plain ? plain_commit(s, t) : commit_carefully(s, t);
}
