/* read.c: what a statement sees, of one row or of all that match.
 *
 * A statement first decides where it looks (a replica and a snapshot), then
 * finds in each row the transaction's own version or else the newest one
 * visible there.  Most bugs about reading are a wrong choice in one of these
 * two steps.  Reading a row costs the versions newer than the snapshot;
 * a scan looks at every key, unless there is an index (index.h).
 */
#include "store/index.h"
#include "store/plain.h"

/* ---- where and what ------------------------------------------------------ */

view hf_store_look(hf_store *s, const store_txn *t)
{
    view w = {t->replica, t->read_snapshot};

    if (s->bug == HF_BUG_NONE)
        return w;
    if (strikes(s, HF_BUG_SNAPSHOT_PER_STATEMENT)) {
        w.snapshot = SEE_NEWEST;
    } else if (s->n_replicas > 1 && strikes(s, HF_BUG_ALTERNATING_REPLICAS)) {
        w.site = hf_rng_below(&s->rng, s->n_replicas);
        w.snapshot = SEE_NEWEST;
    }
    return w;
}

static uint32_t ask(const hf_store *s, const store_txn *t, uint32_t key,
                    bool check)
{
    return s->commander->choose(s->commander->user, (uint32_t)(t - s->txns),
                                key, check);
}

static uint32_t find(const hf_store *s, const store_txn *t, view w,
                     uint32_t key, bool check)
{
    const store_key *k = &s->keys.at[key];

    if (k->pending != HF_NONE) {
        uint32_t own = own_version(s, t, key);

        if (own != HF_NONE)
            return own;
        if (w.snapshot == SEE_UNCOMMITTED)
            return k->pending;
    }
    if (s->commander)
        return ask(s, t, key, check);
    return first_visible(s, k->newest, w.site, w.snapshot);
}

/* What the writer of v had written there before, if anything. */
static uint32_t intermediate(const hf_store *s, uint32_t v)
{
    uint32_t base = v == HF_NONE ? HF_NONE : s->versions.at[v].base;

    if (base == HF_NONE ||
        s->versions.at[base].writer != s->versions.at[v].writer)
        return v;
    return base;
}

/* find() with the bugs that are about single rows. */
static uint32_t find_wrong(hf_store *s, const store_txn *t, view w,
                           uint32_t key)
{
    const store_key *k = &s->keys.at[key];
    uint32_t own = own_version(s, t, key);

    if (own != HF_NONE && !strikes(s, HF_BUG_OWN_WRITE_MISSED))
        return own;
    if (k->pending != HF_NONE && own == HF_NONE &&
        strikes(s, HF_BUG_DIRTY_READ))
        return k->pending;
    if (strikes(s, HF_BUG_ABORTED_READ) && s->ghosts.at[key] != HF_NONE)
        return s->ghosts.at[key];
    if (strikes(s, HF_BUG_SNAPSHOT_PER_ROW))
        w.snapshot = SEE_NEWEST;
    if (own == HF_NONE && w.snapshot == SEE_UNCOMMITTED &&
        k->pending != HF_NONE)
        return k->pending;
    own = first_visible(s, k->newest, w.site, w.snapshot);
    return strikes(s, HF_BUG_INTERMEDIATE_READ) ? intermediate(s, own) : own;
}

uint32_t hf_store_find(hf_store *s, const store_txn *t, view w, uint32_t key)
{
    return s->bug == HF_BUG_NONE ? find(s, t, w, key, false)
                                 : find_wrong(s, t, w, key);
}

/* ---- one row ------------------------------------------------------------- */

static hf_store_op *read_row(hf_store *s, store_txn *t, uint32_t key,
                             hf_op_kind kind)
{
    uint32_t v = hf_store_find(s, t, hf_store_look(s, t), key);
    uint32_t id = v == HF_NONE ? s->initial.at[key] : s->versions.at[v].id;

    hf_vec_push(&t->log, (hf_store_op){key, v, id, kind});
    return &t->log.at[t->log.n - 1];
}

const hf_store_op *hf_store_read(hf_store *s, uint32_t session, uint32_t key)
{
    HF_ASSERT(s->txns[session].running && key < s->keys.n);
    if (s->plain)
        return plain_read(s, &s->txns[session], key);
    return read_row(s, &s->txns[session], key, HF_OP_READ);
}

/* A list read with own elements at its end promises that nothing will come
 * in between; commit keeps the promise. */
hf_store_op *hf_store_read_list(hf_store *s, uint32_t session, uint32_t key)
{
    store_txn *t = &s->txns[session];
    hf_store_op *op = read_row(s, t, key, HF_OP_READ_LIST);
    uint32_t v = op->version;

    HF_ASSERT(t->running && key < s->keys.n && !s->plain);
    if (!s->policy.check_own_view || v == HF_NONE ||
        s->versions.at[v].writer != t->number)
        return op;
    while (v != HF_NONE && s->versions.at[v].writer == t->number)
        v = s->versions.at[v].base;
    hf_vec_push(&t->views, (own_view){key, v});
    return op;
}

bool hf_store_peek(hf_store *s, uint32_t session, uint32_t key,
                   int64_t *ret_number)
{
    const store_txn *t = &s->txns[session];
    uint32_t v = find(s, t, (view){t->replica, t->read_snapshot}, key, true);

    if (!is_row(s, v))
        return false;
    *ret_number = s->versions.at[v].number;
    return true;
}

/* ---- all that match ------------------------------------------------------ */

static hf_store_row row_of(const hf_store *s, uint32_t key, uint32_t v,
                           const hf_store_scanned *scan)
{
    hf_store_row row = {.key = key,
                        .version = v,
                        .id = s->initial.at[key],
                        .writer = HF_NONE,
                        .present = is_row(s, v),
                        .in_set = true};

    if (v != HF_NONE) {
        row.id = s->versions.at[v].id;
        row.writer = s->versions.at[v].writer;
        row.number = s->versions.at[v].number;
    }
    row.returned =
        row.present && scan->lo <= row.number && row.number <= scan->hi;
    return row;
}

/* index-not-versioned: asks the newest version whether the row matches. */
static bool newest_matches(const hf_store *s, uint32_t key,
                           const hf_store_scanned *scan)
{
    return row_of(s, key, s->keys.at[key].newest, scan).returned;
}

/* two-row-versions: the older version of a returned row, if it matches. */
static void return_older(hf_store *s, store_txn *t,
                         const hf_store_scanned *scan, hf_store_row row)
{
    uint32_t v = row.version;

    if (!row.returned || (s->versions.at[v].flags & VERSION_PENDING))
        return;
    row = row_of(s, row.key, s->versions.at[v].prev, scan);
    row.in_set = false;
    if (row.returned)
        hf_vec_push(&t->rows, row);
}

/* phantom: a row that does not match in the snapshot is looked for again as
 * of now. */
static hf_store_row find_phantom(hf_store *s, const store_txn *t,
                                 const hf_store_scanned *scan, hf_store_row row)
{
    hf_store_row now;

    if (row.returned || own_version(s, t, row.key) != HF_NONE)
        return row;
    now = row_of(s, row.key, s->keys.at[row.key].newest, scan);
    return now.returned ? now : row;
}

/* wrong-result-set: one row that matches is left out, or else one that does
 * not match is returned. */
static void spoil_result(hf_store *s, store_txn *t, size_t first)
{
    size_t chosen = t->rows.n;
    uint32_t seen = 0;

    for (int match = 1; match >= 0 && seen == 0; match--)
        for (size_t i = first; i < t->rows.n; i++)
            if (t->rows.at[i].present && t->rows.at[i].returned == match &&
                hf_rng_below(&s->rng, ++seen) == 0)
                chosen = i;
    if (seen > 0)
        t->rows.at[chosen].returned = !t->rows.at[chosen].returned;
}

/* Rows seen with an own version: nobody may come in between, if the level
 * reads from a snapshot but does not check writes anyway. */
static void remember_own_view(hf_store *s, store_txn *t, view w, uint32_t key)
{
    uint32_t v = first_visible(s, s->keys.at[key].newest, w.site, w.snapshot);

    hf_vec_push(&t->views, (own_view){key, v});
}

static void remember_own_views(hf_store *s, store_txn *t, view w)
{
    if (s->policy.check_own_view && s->policy.snapshot)
        for (size_t i = 0; i < t->writes.n; i++)
            remember_own_view(s, t, w, t->writes.at[i].key);
}

static void scan_all(hf_store *s, store_txn *t, view w,
                     const hf_store_scanned *scan)
{
    bool phantoms = strikes(s, HF_BUG_PHANTOM);
    bool bad_index = strikes(s, HF_BUG_INDEX_NOT_VERSIONED);
    bool both = strikes(s, HF_BUG_TWO_ROW_VERSIONS);

    for (uint32_t key = 0; key < s->keys.n; key++) {
        hf_store_row row = row_of(s, key, hf_store_find(s, t, w, key), scan);

        if (phantoms)
            row = find_phantom(s, t, scan, row);
        if (bad_index && row.writer != t->number)
            row.returned = row.present && newest_matches(s, key, scan);
        hf_vec_push(&t->rows, row);
        if (both)
            return_older(s, t, scan, row);
    }
    if (strikes(s, HF_BUG_WRONG_RESULT_SET))
        spoil_result(s, t, scan->first_row);
}

const hf_store_scanned *hf_store_scan(hf_store *s, uint32_t session,
                                      hf_op_kind kind, int64_t lo, int64_t hi)
{
    store_txn *t = &s->txns[session];
    view w = hf_store_look(s, t);
    hf_store_scanned scan = {.lo = lo,
                             .hi = hi,
                             .first_row = t->rows.n,
                             .n_keys = (uint32_t)s->keys.n,
                             .snapshot = w.snapshot,
                             .begun = t->number};

    HF_ASSERT(t->running && !s->plain);
    if (w.snapshot >= SEE_NEWEST) {
        scan.snapshot = s->clock;
        scan.begun = s->n_begun;
    }
    remember_own_views(s, t, w);
    if (s->n_buckets > 0)
        hf_index_scan(s, t, kind, w.snapshot, &scan);
    else
        scan_all(s, t, w, &scan);
    scan.n_rows = t->rows.n - scan.first_row;
    hf_vec_push(&t->scans, scan);
    hf_vec_push(&t->log, (hf_store_op){HF_NONE, (uint32_t)(t->scans.n - 1),
                                       HF_NONE, kind});
    return &t->scans.at[t->scans.n - 1];
}
