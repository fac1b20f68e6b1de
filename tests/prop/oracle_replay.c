/* oracle_replay.c: levels that are defined by executing transactions.
 *
 * Serializable: some order of the transactions, executed one after the other
 * on an empty store, returns to every read what was recorded.  Snapshot
 * isolation: some sequence of starts and commits does; reads see the store as
 * it was at the start plus the own writes, and transactions that write one
 * key do not overlap.  The session and strict forms restrict the sequences.
 *
 * The search is by depth, cut where a read does not match.  Two starts in a
 * row may be swapped freely, as may two commits (whoever is open at the same
 * time shares no written key), so only ascending ones are tried.
 *
 * A row that a predicate operation looked at and left out need not be the
 * version the store holds: another one will do if no version between the two
 * changes the matches.  That is seen when all versions are there.
 */
#include "oracle_model.h"

#include <string.h>

#define NO_ORDER 0
#define WITH_SESSIONS 1
#define WITH_REAL_TIME 2

typedef struct store {
    uint32_t value[O_KEYS];
    o_amount amount[O_KEYS]; /* where increments have no results */
    int n_items[O_KEYS];
    uint32_t items[O_KEYS][O_ITEMS * O_TXNS];
    o_orders versions; /* who installed, oldest first */
} store;

static void apply(store *s, const o_model *m, const o_step *step)
{
    s->amount[step->key] = o_amount_after(m, s->amount[step->key], step);
    if (step->kind == O_WRITE)
        s->value[step->key] = step->value;
    else if (step->kind == O_APPEND)
        s->items[step->key][s->n_items[step->key]++] = step->value;
}

/* Rows returned, and own writes, are read like items. */
static bool predicate_matches(const store *s, const o_model *m, int txn,
                              int step)
{
    const o_step *p = &m->txns[txn].steps[step];
    uint32_t own;

    for (int i = 0; i < p->n_entries; i++) {
        const o_entry *e = &p->entries[i];

        bool mine = o_own_write(m, txn, e->key, step, &own);
        int n = s->versions.n[e->key];
        int writer = mine    ? txn
                     : n > 0 ? s->versions.at[e->key][n - 1]
                             : O_INITIAL;

        if (e->unlisted || (!e->matches && !mine))
            continue;
        if (s->value[e->key] != e->value ||
            (e->writer != O_ANY_WRITER && e->writer != writer))
            return false;
    }
    return true;
}

static bool matches(const store *s, const o_model *m, const o_step *step)
{
    if (step->kind == O_COUNT)
        return o_amount_eq(s->amount[step->key], o_amount_of(m, step->value));
    if (step->kind == O_READ)
        return s->value[step->key] == step->value;
    if (step->kind == O_LIST)
        return s->n_items[step->key] == step->n_items &&
               memcmp(s->items[step->key], step->items,
                      (size_t)step->n_items * sizeof(uint32_t)) == 0;
    return true;
}

/* Executes the transaction on the store; false if a read does not match. */
static bool execute(store *s, const o_model *m, int txn)
{
    const o_txn *x = &m->txns[txn];

    for (int i = 0; i < x->n_steps; i++) {
        if (x->steps[i].kind == O_PREDICATE ? !predicate_matches(s, m, txn, i)
                                            : !matches(s, m, &x->steps[i]))
            return false;
        apply(s, m, &x->steps[i]);
    }
    return true;
}

static void install(store *s, const o_model *m, int txn)
{
    for (int k = 0; k < m->n_keys; k++)
        if (o_writes(m, txn, k))
            s->versions.at[k][s->versions.n[k]++] = txn;
}

static void commit(store *s, const o_model *m, int txn)
{
    for (int i = 0; i < m->txns[txn].n_steps; i++)
        apply(s, m, &m->txns[txn].steps[i]);
    install(s, m, txn);
}

typedef struct search {
    const o_world *w;
    int order; /* NO_ORDER, WITH_SESSIONS, WITH_REAL_TIME (both) */
    bool started[O_TXNS], done[O_TXNS];
    int n_events;
    int seen[O_TXNS][O_KEYS]; /* place of the version at the start */
} search;

/* Is the version at `place` one the view may be of? */
static bool is_viewed(const o_world *w, const o_orders *o, const o_read *r,
                      int place)
{
    uint32_t value = w->m->initial[r->key];
    int t = place < 0 ? O_INITIAL : o->at[r->key][place];

    if (t != O_INITIAL)
        (void)o_own_write(w->m, t, r->key, w->m->txns[t].n_steps, &value);
    if (r->unlisted) /* with a writer: its own, which it should have seen */
        return r->writer == O_ANY_WRITER && t != r->txn &&
               !o_matches(w->m, &w->m->txns[r->txn].steps[r->step], value);
    return value == r->value && t != r->txn &&
           (r->writer == O_ANY_WRITER || r->writer == t);
}

/* All versions are there: no change by another transaction between what was
 * viewed and what was there. */
static bool views_hold(const search *s, const o_orders *o)
{
    o_reads reads = {0};

    (void)o_register_reads(s->w, &reads);
    /* With all sources alike this leaves the views to be compared. */
    if (!o_repeatable(s->w, &reads))
        return false;
    for (int i = 0; i < reads.n; i++) {
        const o_read *r = &reads.at[i];
        int there = s->seen[r->txn][r->key];
        bool ok = !r->view;

        for (int p = -1; p < o->n[r->key] && !ok; p++) {
            int low = p < there ? p : there, high = p < there ? there : p;

            ok = is_viewed(s->w, o, r, p);
            for (int c = low + 1; c <= high && ok; c++)
                ok = o->at[r->key][c] == r->txn || !o_changes(s->w, o, r, c);
        }
        if (!ok)
            return false;
    }
    return true;
}

static void look(search *s, int txn, const store *now)
{
    for (int k = 0; k < s->w->m->n_keys; k++)
        s->seen[txn][k] = now->versions.n[k] - 1;
}

/* Everything that the level wants before t is done. */
static bool may_start(const search *s, int t)
{
    for (int a = 0; a < s->w->m->n_txns; a++) {
        if (s->done[a])
            continue;
        if (s->order >= WITH_SESSIONS && o_session_before(s->w, a, t))
            return false;
        if (s->order >= WITH_REAL_TIME && o_real_time_before(s->w, a, t))
            return false;
    }
    return true;
}

static bool may_commit(const search *s, int t)
{
    for (int a = 0; a < s->w->m->n_txns; a++)
        if (!s->done[a] && o_certified_before(s->w, a, t))
            return false;
    return true;
}

/* In a fixed order every event has its place. */
static bool is_turn(const search *s, int place)
{
    return !s->w->fixed || place == s->n_events;
}

static bool serial(search *s, const store *before)
{
    bool all = true;

    for (int t = 0; t < s->w->m->n_txns; t++) {
        store now;

        if (!s->w->in[t] || s->done[t])
            continue;
        all = false;
        if (!may_start(s, t) || !may_commit(s, t) ||
            !is_turn(s, s->w->commit_at[t]))
            continue;
        now = *before;
        if (!execute(&now, s->w->m, t))
            continue;
        install(&now, s->w->m, t);
        look(s, t, before);
        s->done[t] = true;
        s->n_events++;
        if (serial(s, &now))
            return true;
        s->done[t] = false;
        s->n_events--;
    }
    return all && views_hold(s, &before->versions);
}

/* Somebody who is open writes a key that t writes. */
static bool conflicts(const search *s, int t)
{
    for (int a = 0; a < s->w->m->n_txns; a++)
        for (int k = 0; k < s->w->m->n_keys; k++)
            if (s->started[a] && !s->done[a] && o_writes(s->w->m, a, k) &&
                o_writes(s->w->m, t, k))
                return true;
    return false;
}

static bool snapshot(search *s, const store *now, int last_start,
                     int last_commit);

static bool snapshot_start(search *s, const store *now, int t)
{
    store local = *now;

    if (!may_start(s, t) || conflicts(s, t) || !is_turn(s, s->w->start_at[t]) ||
        !execute(&local, s->w->m, t))
        return false;
    look(s, t, now);
    s->started[t] = true;
    s->n_events++;
    if (snapshot(s, now, s->w->fixed ? -1 : t, -1))
        return true;
    s->started[t] = false;
    s->n_events--;
    return false;
}

static bool snapshot_commit(search *s, const store *now, int t)
{
    store after = *now;

    if (!may_commit(s, t) || !is_turn(s, s->w->commit_at[t]))
        return false;
    commit(&after, s->w->m, t);
    s->done[t] = true;
    s->n_events++;
    if (snapshot(s, &after, -1, s->w->fixed ? -1 : t))
        return true;
    s->done[t] = false;
    s->n_events--;
    return false;
}

/* last_start: the event before was the start of this one, else -1. */
static bool snapshot(search *s, const store *now, int last_start,
                     int last_commit)
{
    bool all = true;

    for (int t = 0; t < s->w->m->n_txns; t++) {
        if (!s->w->in[t] || s->done[t])
            continue;
        all = false;
        if (!s->started[t]) {
            if (t > last_start && snapshot_start(s, now, t))
                return true;
        } else if (t > last_commit && snapshot_commit(s, now, t)) {
            return true;
        }
    }
    return all && views_hold(s, &now->versions);
}

static bool holds(const o_world *w, bool is_serial, int order)
{
    search s = {.w = w, .order = order};
    store empty = {.n_items = {0}};

    for (int k = 0; k < w->m->n_keys; k++) {
        empty.value[k] = w->m->initial[k];
        empty.amount[k] = o_amount_of(w->m, w->m->initial[k]);
    }
    return is_serial ? serial(&s, &empty) : snapshot(&s, &empty, -1, -1);
}

o_levels o_replay_levels(const o_world *w, o_levels wanted)
{
    static const struct {
        hf_level level;
        bool is_serial;
        int order;
    } rows[] = {
        {HF_SNAPSHOT_ISOLATION, false, NO_ORDER},
        {HF_STRONG_SESSION_SNAPSHOT_ISOLATION, false, WITH_SESSIONS},
        {HF_STRICT_SNAPSHOT_ISOLATION, false, WITH_REAL_TIME},
        {HF_SERIALIZABLE, true, NO_ORDER},
        {HF_STRONG_SESSION_SERIALIZABLE, true, WITH_SESSIONS},
        {HF_STRICT_SERIALIZABLE, true, WITH_REAL_TIME},
    };
    o_levels found = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if ((wanted & O_LEVEL(rows[i].level)) &&
            holds(w, rows[i].is_serial, rows[i].order))
            found |= O_LEVEL(rows[i].level);
    return found;
}
