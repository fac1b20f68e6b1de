/* pred_stamps.c: predicate operations against the database's own timestamps.
 *
 * graph_stamps.c holds items against the start of their transaction.  Here the
 * same is done for conditions, at snapshot isolation: a row that was returned
 * is a read of that item; and of a key that was looked at and not returned,
 * the newest version at the start must not satisfy the condition, else its
 * row is missed.  What an own write hides, what is of unknown outcome, and keys
 * of which a commit time is missing or there twice are not judged.
 *
 * Operations with a snapshot on the clock stand in chains (pred_chains.c): if
 * all events before their place were committed by the start and all behind
 * it later, what they looked at is what the start had, and only the rows are
 * gone through.  The others are listed key by key.
 *
 * O(events + rows log V), and O(keys log V) for each operation whose snapshot
 * is not that of its start.
 */
#include "check/pred.h"

#include <string.h>

enum { NOT_SEEN = 0, ASCENDING, NOT_KNOWN };

typedef struct stamps {
    hf_pred *p;
    const uint64_t *start, *commit;
    uint8_t *kind; /* per key */
    /* per event of the chains: the latest commit up to it, and the earliest
     * from it on */
    uint64_t *latest, *earliest;
} stamps;

/* ---- versions ------------------------------------------------------------ */

static uint64_t commit_of(const stamps *s, uint32_t ver)
{
    hf_txn_id t = s->p->g->ver_txn[ver];

    return t == HF_NONE ? 0 : s->commit[t];
}

/* Are the versions of the key in the order of known commits? */
static bool ascends(stamps *s, hf_key_id key)
{
    const hf_graph *g = s->p->g;

    if (s->kind[key] == NOT_SEEN) {
        s->kind[key] =
            s->p->uncertain[key] || g->open_key[key] ? NOT_KNOWN : ASCENDING;
        for (uint32_t v = g->ver_first[key] + 1; v < g->ver_end[key]; v++)
            if (commit_of(s, v) == HF_TIME_NONE ||
                (v > g->ver_first[key] + 1 &&
                 commit_of(s, v) <= commit_of(s, v - 1)))
                s->kind[key] = NOT_KNOWN;
    }
    return s->kind[key] == ASCENDING;
}

/* The newest version of the key at the start of t, of others; HF_NONE: not
 * known. */
static uint32_t newest_at_start(stamps *s, hf_key_id key, hf_txn_id t)
{
    const hf_graph *g = s->p->g;
    uint32_t low = g->ver_first[key], high = g->ver_end[key];

    if (!ascends(s, key))
        return HF_NONE;
    while (high - low > 1) { /* low is in it */
        uint32_t middle = low + (high - low) / 2;

        if (commit_of(s, middle) <= s->start[t])
            low = middle;
        else
            high = middle;
    }
    return low - (low > g->ver_first[key] && g->ver_txn[low] == t);
}

static void note(const stamps *s, const hf_pred_op *o, uint32_t ver)
{
    const hf_graph *g = s->p->g;

    hf_graph_note(s->p->g, HF_OUTSIDE_SNAPSHOT, o->op, g->ver_op[ver], HF_NONE,
                  HF_NONE);
}

/* ---- one operation ------------------------------------------------------- */

/* Another's version of the key, returned. */
static void look_at_item(stamps *s, const hf_pred_op *o, hf_key_id key,
                         uint32_t ver)
{
    uint32_t newest;

    if (ver == HF_NONE || s->p->g->ver_txn[ver] == o->txn ||
        commit_of(s, ver) == HF_TIME_NONE)
        return;
    if (commit_of(s, ver) > s->start[o->txn]) {
        note(s, o, ver);
        return;
    }
    newest = newest_at_start(s, key, o->txn);
    if (newest != HF_NONE && newest > ver)
        note(s, o, newest);
}

/* The version of the key that was looked at does not satisfy the condition. */
static void look_at_absent(stamps *s, const hf_pred_op *o, hf_key_id key,
                           uint32_t ver)
{
    hf_pred *p = s->p;
    uint32_t newest;

    if (ver == HF_NONE || commit_of(s, ver) == HF_TIME_NONE)
        return;
    newest = newest_at_start(s, key, o->txn);
    if (newest == HF_NONE || newest == ver ||
        !hf_pred_holds(p, &p->conditions.at[o->condition], newest))
        return;
    if (p->g->ver_txn[newest] != HF_NONE)
        note(s, o, newest);
    else if (p->g->ver_txn[ver] != o->txn)
        note(s, o, ver); /* from after the start */
}

/* Rows of keys that `all` (NULL: the snapshot on the clock) has are the
 * versions looked at; if they are not, the result is wrong, and that is said
 * elsewhere.
 */
static void look_at_rows(stamps *s, const hf_pred_op *o,
                         const hf_pred_entries *all)
{
    hf_pred *p = s->p;
    const hf_history *h = p->g->h;

    for (uint32_t i = 0; i < o->q.n_results; i++) {
        hf_version_ref row = o->q.results[i];
        hf_key_id key = h->value_key[row.value];
        hf_op_id own;

        if (hf_pred_own_write(h, o->txn, o->op, key, &own))
            continue;
        if (all ? hf_pred_entry_of(all, key) != NULL
                : p->table_of_key[key] == p->conditions.at[o->condition].table)
            look_at_item(s, o, key,
                         all ? hf_pred_entry_of(all, key)->ver
                             : hf_pred_version_at(p, o, key));
        else
            look_at_item(s, o, key, hf_pred_version(p, o, row, true));
    }
}

/* Key by key. */
static void look_at_all(stamps *s, const hf_pred_op *o)
{
    hf_pred *p = s->p;
    const hf_pred_entries *all = &p->entries;
    bool judged = p->conditions.at[o->condition].judged;
    uint32_t table = p->conditions.at[o->condition].table;

    (void)hf_pred_entries_of(p, o, true, &p->entries);
    for (size_t i = 0; i < all->n; i++) {
        const hf_pred_entry *e = &all->at[i];

        if (e->own || p->table_of_key[e->key] != table)
            continue;
        if (!e->returned && judged)
            look_at_absent(s, o, e->key, e->ver);
        else if (e->returned && o->aggregate)
            look_at_item(s, o, e->key, e->ver);
    }
    if (!o->aggregate)
        look_at_rows(s, o, all);
}

/* Is what the chains have at the place of the operation what its start had? */
static bool is_of_start(const stamps *s, const hf_pred_op *o)
{
    const hf_pred *p = s->p;
    const hf_pred_condition *c = &p->conditions.at[o->condition];
    uint64_t start = s->start[o->txn];

    if (!o->timed)
        return false;
    for (uint32_t i = 0; i < c->n_covers[o->all]; i++) {
        const hf_pred_chain *chain =
            &p->chain.at[p->covers.at[c->cover_first[o->all] + i]];
        uint32_t until = hf_pred_events_before(p, chain, o->ticks);

        if ((until > 0 && s->latest[chain->first + until - 1] > start) ||
            (until < chain->n && s->earliest[chain->first + until] <= start))
            return false;
    }
    return true;
}

/* ---- all ----------------------------------------------------------------- */

static void gather_events(stamps *s)
{
    const hf_pred *p = s->p;
    size_t n = 0;

    for (size_t i = 0; i < p->chain.n; i++)
        if (n < (size_t)p->chain.at[i].first + p->chain.at[i].n)
            n = (size_t)p->chain.at[i].first + p->chain.at[i].n;
    s->latest = hf_alloc_large(hf_array_size(n + 1, sizeof(uint64_t)));
    s->earliest = hf_alloc_large(hf_array_size(n + 1, sizeof(uint64_t)));
    for (size_t i = 0; i < p->chain.n; i++) {
        uint32_t first = p->chain.at[i].first, end = first + p->chain.at[i].n;
        uint64_t latest = 0, earliest = HF_TIME_NONE;

        for (uint32_t e = first; e < end; e++) {
            uint64_t c = commit_of(s, hf_pred_event_ver(p, e));

            latest = c != HF_TIME_NONE && c > latest ? c : latest;
            s->latest[e] = latest;
        }
        for (uint32_t e = end; e-- > first;) {
            uint64_t c = commit_of(s, hf_pred_event_ver(p, e));

            earliest = c < earliest ? c : earliest;
            s->earliest[e] = earliest;
        }
    }
}

static bool has_start(const hf_graph *g, hf_txn_id t)
{
    return g->happened[t] && g->h->cert.start_ts[t] != HF_TIME_NONE &&
           hf_graph_takes_snapshot(g, t);
}

void hf_pred_stamps(hf_pred *p)
{
    hf_graph *g = p->g;
    const hf_history *h = g->h;
    stamps s = {.p = p, .start = h->cert.start_ts, .commit = h->cert.commit_ts};

    if (!s.start || !s.commit)
        return;
    s.kind = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    gather_events(&s);
    for (hf_txn_id t = 0; t < h->n_txns && !hf_graph_spent(g); t++)
        for (uint32_t i = p->op_first[t];
             i < p->op_first[t + 1] && has_start(g, t); i++) {
            const hf_pred_op *o = &p->ops.at[i];

            if (!is_of_start(&s, o))
                look_at_all(&s, o);
            else if (!o->aggregate)
                look_at_rows(&s, o, NULL);
        }
    hf_free(s.kind);
    hf_free(s.latest);
    hf_free(s.earliest);
}
