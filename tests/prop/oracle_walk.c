/* oracle_walk.c: levels that are defined by forbidden cycles.
 *
 * The writers of each key are put in every order, key after key; an order
 * that already makes a cycle of writes (and reads) is given up.  In a
 * complete choice the edges are listed one by one, and forbidden cycles are
 * looked for by walking: from a transaction along edges, with the number of
 * anti-dependencies so far as the walker's memory, back to where it began.
 */
#include "oracle_model.h"

#include <string.h>

#define MAX_EDGES 512

typedef enum edge_kind { WW, WR, RW, PRW, SO } edge_kind;

typedef struct edge {
    edge_kind kind;
    int from, to;
} edge;

typedef struct edges {
    int n;
    edge at[MAX_EDGES];
} edges;

/* How many anti-dependencies a forbidden walk has; ANY_RW is about items. */
typedef enum walk_rule { NO_RW, ONE_RW, ANY_RW } walk_rule;

static void add(edges *e, edge_kind kind, int from, int to)
{
    if (from != O_INITIAL && to != O_INITIAL && from != to)
        e->at[e->n++] = (edge){kind, from, to};
}

/* ---- walking ------------------------------------------------------------- */

typedef struct walker {
    const edges *e;
    walk_rule rule;
    bool sessions; /* so edges may be used */
    int start;
    bool seen[O_TXNS][2];
} walker;

static bool walk(walker *k, int at, int n_rw)
{
    for (int i = 0; i < k->e->n; i++) {
        const edge *e = &k->e->at[i];
        int count = n_rw;

        if (e->from != at || (e->kind == SO && !k->sessions))
            continue;
        if (e->kind == PRW && k->rule == ANY_RW)
            continue;
        if (e->kind == RW || e->kind == PRW) {
            if (k->rule == NO_RW || (k->rule == ONE_RW && n_rw == 1))
                continue;
            count = k->rule == ONE_RW ? 1 : 0;
        }
        if (e->to == k->start && (k->rule != ONE_RW || count == 1))
            return true;
        if (k->seen[e->to][count])
            continue;
        k->seen[e->to][count] = true;
        if (walk(k, e->to, count))
            return true;
    }
    return false;
}

static bool has_cycle(const edges *e, walk_rule rule, bool sessions)
{
    for (int t = 0; t < O_TXNS; t++) {
        walker k = {.e = e, .rule = rule, .sessions = sessions, .start = t};

        if (walk(&k, t, 0))
            return true;
    }
    return false;
}

/* ---- a complete choice --------------------------------------------------- */

/* Once a transaction was read from, none of its versions is missed. */
static bool vanishes(const o_world *w, const o_reads *reads, const o_orders *o)
{
    for (int i = 0; i < reads->n; i++)
        for (int j = 0; j < reads->n; j++) {
            const o_read *early = &reads->at[i], *late = &reads->at[j];

            if (early->txn != late->txn || early->step >= late->step)
                continue;
            for (int p = 0; p < o->n[early->key]; p++) {
                int t2 = o->at[early->key][p];

                if (t2 != late->txn && o_reads_from(w, o, early, p) &&
                    o_misses(w, o, late, o_place(o, late->key, t2)))
                    return true;
            }
        }
    return false;
}

static void list_edges(const o_world *w, const o_reads *reads,
                       const o_orders *o, edges *e)
{
    for (int k = 0; k < w->m->n_keys; k++)
        for (int i = 1; i < o->n[k]; i++)
            add(e, WW, o->at[k][i - 1], o->at[k][i]);
    for (int i = 0; i < reads->n; i++) {
        const o_read *r = &reads->at[i];
        int source = o_place(o, r->key, r->source);

        if (!r->view) {
            add(e, WR, r->source, r->txn);
            if (source + 1 < o->n[r->key])
                add(e, RW, r->txn, o->at[r->key][source + 1]);
        }
        for (int p = 0; p < o->n[r->key]; p++)
            if (!o_changes(w, o, r, p))
                continue;
            else if (p <= source)
                add(e, WR, o->at[r->key][p], r->txn);
            else
                add(e, PRW, r->txn, o->at[r->key][p]);
    }
    for (int a = 0; a < w->m->n_txns; a++)
        for (int b = a + 1; b < w->m->n_txns; b++)
            if (o_session_before(w, a, b))
                add(e, SO, a, b);
}

static o_levels judge(const o_world *w, const o_reads *registers,
                      const o_orders *o)
{
    o_reads reads = *registers;
    edges e = {0};
    o_levels found = 0;

    for (int k = 0; k < w->m->n_keys; k++)
        if (!o_lists_fit(w, k, o, false, &reads))
            return 0;
    if (!o_counts_fit(w, o, registers))
        return 0;
    list_edges(w, &reads, o, &e);
    if (has_cycle(&e, NO_RW, false))
        return 0;
    found |= O_LEVEL(HF_READ_COMMITTED);
    if (!vanishes(w, &reads, o))
        found |= O_LEVEL(HF_MONOTONIC_ATOMIC_VIEW);
    if (!has_cycle(&e, ANY_RW, false))
        found |= O_LEVEL(HF_REPEATABLE_READ);
    if (has_cycle(&e, ONE_RW, false))
        return found;
    found |= O_LEVEL(HF_CONSISTENT_VIEW);
    if (!o_repeatable(w, &reads))
        return found;
    found |= O_LEVEL(HF_PARALLEL_SNAPSHOT_ISOLATION);
    if (!has_cycle(&e, NO_RW, true) && !has_cycle(&e, ONE_RW, true))
        found |= O_LEVEL(HF_STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION);
    return found;
}

/* ---- all version orders -------------------------------------------------- */

typedef struct chooser {
    const o_world *w;
    const o_reads *reads; /* NULL: read-uncommitted */
    o_orders orders;
    o_levels wanted, found;
} chooser;

static void choose_key(chooser *c, int key);

/* Writes of the keys so far, and reads of registers, make no cycle. */
static bool still_possible(const chooser *c, int n_keys)
{
    edges e = {0};

    for (int k = 0; k < n_keys; k++)
        for (int i = 1; i < c->orders.n[k]; i++)
            add(&e, WW, c->orders.at[k][i - 1], c->orders.at[k][i]);
    for (int i = 0; c->reads && i < c->reads->n; i++)
        if (!c->reads->at[i].view)
            add(&e, WR, c->reads->at[i].source, c->reads->at[i].txn);
    return !has_cycle(&e, NO_RW, false);
}

/* The certificate of this key allows t after those already placed, as does
 * the order that is fixed. */
static bool may_follow(const chooser *c, int key, int t)
{
    const int *rank = c->w->m->rank[key];

    for (int i = 0; i < c->orders.n[key]; i++) {
        int before = c->orders.at[key][i];

        if (rank[t] >= 0 && rank[before] > rank[t])
            return false;
        if (c->w->fixed && c->w->commit_at[before] > c->w->commit_at[t])
            return false;
    }
    return true;
}

static void choose_writer(chooser *c, int key, int n_writers)
{
    o_orders *o = &c->orders;

    if (o->n[key] == n_writers) {
        if (o_lists_fit(c->w, key, o, !c->reads, NULL) &&
            still_possible(c, key + 1))
            choose_key(c, key + 1);
        return;
    }
    for (int t = 0; t < c->w->m->n_txns && c->found != c->wanted; t++) {
        if (!c->w->in[t] || !o_writes(c->w->m, t, key) ||
            o_place(o, key, t) >= 0 || !may_follow(c, key, t))
            continue;
        o->at[key][o->n[key]++] = t;
        choose_writer(c, key, n_writers);
        o->n[key]--;
    }
}

static void choose_key(chooser *c, int key)
{
    int n_writers = 0;

    if (key == c->w->m->n_keys) {
        c->found |= c->reads ? judge(c->w, c->reads, &c->orders) & c->wanted
                             : c->wanted;
        return;
    }
    for (int t = 0; t < c->w->m->n_txns; t++)
        n_writers += c->w->in[t] && o_writes(c->w->m, t, key);
    choose_writer(c, key, n_writers);
}

o_levels o_walk_levels(const o_world *w, const o_reads *reads, o_levels wanted)
{
    chooser c = {.w = w, .reads = reads};

    c.wanted = wanted &
               (O_LEVEL(HF_READ_COMMITTED) | O_LEVEL(HF_MONOTONIC_ATOMIC_VIEW) |
                O_LEVEL(HF_CONSISTENT_VIEW) | O_LEVEL(HF_REPEATABLE_READ) |
                O_LEVEL(HF_PARALLEL_SNAPSHOT_ISOLATION) |
                O_LEVEL(HF_STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION));
    if (c.wanted && still_possible(&c, 0))
        choose_key(&c, 0);
    return c.found;
}

/* ---- read-uncommitted ---------------------------------------------------- */

/* Somebody, whatever became of it, wrote the value that was read, or it was
 * there.  An increment does not read what it writes itself. */
static bool is_known_value(const o_model *m, const o_read *r)
{
    const o_step *read = &m->txns[r->txn].steps[r->step];

    if (r->unlisted)
        return true;
    if (m->initial[r->key] == r->value &&
        (r->writer == O_ANY_WRITER || r->writer == O_INITIAL))
        return true;
    for (int t = 0; t < m->n_txns; t++)
        for (int i = 0; i < m->txns[t].n_steps; i++) {
            const o_step *s = &m->txns[t].steps[i];

            if (r->writer != O_ANY_WRITER && r->writer != t)
                continue;
            if (read->increments && s == read + 1)
                continue;
            if (s->kind == O_WRITE && s->key == r->key && s->value == r->value)
                return true;
        }
    return false;
}

bool o_uncommitted_level(const o_world *w)
{
    chooser c = {.w = w, .wanted = O_LEVEL(HF_READ_UNCOMMITTED)};

    o_reads reads = {0};

    if (!o_register_reads(w, &reads) || !o_counts_known(w))
        return false;
    for (int i = 0; i < reads.n; i++)
        if (w->m->txns[reads.at[i].txn].steps[reads.at[i].step].kind !=
                O_COUNT &&
            !is_known_value(w->m, &reads.at[i]))
            return false;
    choose_key(&c, 0);
    return c.found != 0;
}
