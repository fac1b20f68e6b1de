/* encode_level.c: a commit order, and what is visible, as implications.
 *
 *   order      so and reads-from are kept; transitive
 *   sources    a view sees who it reads from, and what earlier views of its
 *              transaction saw
 *   causal     what is visible to somebody visible
 *   prefix     what is before somebody visible
 *   conflict   who writes a key of the viewer's and is before it
 *   axiom      a read takes b, a writes the key and is visible: a before b
 *   locks      a locking read takes b, a writes the key: a before b, or the
 *              reader before a
 *
 * With n transactions and views of transactions: O(n^3) for the order and for
 * causal and prefix, and for the axiom O(sources * writers) of each read.
 */
#include "predict/encode.h"

#include <string.h>

#include "base/error.h"

/* ---- views --------------------------------------------------------------- */

/* Locking reads take the newest version and no part in a view. */
static bool is_outside(const hf_encoding *c, const hf_event_read *r)
{
    return r->locking && c->rules->locks && !c->rules->conflict;
}

static bool same_view(const hf_encoding *c, const hf_event_read *a,
                      const hf_event_read *b)
{
    if (a->txn != b->txn)
        return false;
    switch (c->rules->view) {
    case HF_VIEW_READS:
        return a->place == b->place;
    case HF_VIEW_STATEMENT:
        return a->statement == b->statement;
    default:
        return true;
    }
}

static int fresh_visible(hf_encoding *c, uint32_t a, uint32_t t)
{
    if (a == 0)
        return c->yes;
    if (a == t || hf_events_so(c->e, t, a))
        return -c->yes;
    if (c->rules->sessions && hf_events_so(c->e, a, t))
        return c->yes;
    return hf_sat_lit(c->sat, false);
}

static void make_order(hf_encoding *c)
{
    uint32_t n = c->e->n;

    c->order = HF_NEW_ZEROED(int, (size_t)n *n);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++) {
            int lit =
                hf_events_so(c->e, a, b) ? c->yes : hf_sat_lit(c->sat, true);

            c->order[(size_t)a * n + b] = lit;
            c->order[(size_t)b * n + a] = -lit;
        }
}

/* Views of transactions are numbered as those; the others as reads come, and
 * reads of one transaction stand together. */
static void number_views(hf_encoding *c)
{
    const hf_events *e = c->e;
    bool by_txn = c->rules->view == HF_VIEW_TXN;
    size_t most = by_txn ? e->n : e->reads.n + 1;

    c->view_of = HF_NEW_ARRAY(uint32_t, e->reads.n + 1);
    c->view_txn = HF_NEW_ARRAY(uint32_t, most);
    c->view_next = HF_NEW_ARRAY(uint32_t, most);
    c->view_statement = HF_NEW_ZEROED(uint32_t, most);
    memset(c->view_next, 0xff, most * sizeof(*c->view_next));
    if (by_txn) {
        c->n_views = e->n;
        for (uint32_t t = 0; t < e->n; t++)
            c->view_txn[t] = t;
    }
    for (uint32_t i = 0; i < e->reads.n; i++) {
        const hf_event_read *r = &e->reads.at[i];

        if (by_txn) {
            c->view_of[i] = r->txn;
            continue;
        }
        if (i == 0 || !same_view(c, r, r - 1)) {
            if (i > 0 && r->txn == r[-1].txn)
                c->view_next[c->n_views - 1] = c->n_views;
            c->view_txn[c->n_views] = r->txn;
            c->view_statement[c->n_views] = r->statement;
            c->n_views++;
        }
        c->view_of[i] = c->n_views - 1;
    }
}

void hf_encoding_views(hf_encoding *c)
{
    make_order(c);
    number_views(c);
    c->visible = HF_NEW_ZEROED(int, (size_t)c->n_views * c->e->n + 1);
    for (uint32_t g = 0; g < c->n_views; g++)
        for (uint32_t a = 0; a < c->e->n; a++)
            c->visible[(size_t)g * c->e->n + a] =
                fresh_visible(c, a, c->view_txn[g]);
}

static int visible(const hf_encoding *c, uint32_t a, uint32_t view)
{
    return c->visible[(size_t)view * c->e->n + a];
}

/* ---- order --------------------------------------------------------------- */

/* Asked n times for n^3 clauses. */
static bool is_spent(const hf_encoding *c)
{
    return c->budget && hf_budget_look(c->budget);
}

static void put_order(hf_encoding *c)
{
    uint32_t n = c->e->n;

    for (uint32_t x = 1; x < n && !is_spent(c); x++)
        for (uint32_t y = x + 1; y < n; y++)
            for (uint32_t z = y + 1; z < n; z++) {
                int xy = hf_encoding_before(c, x, y);
                int yz = hf_encoding_before(c, y, z);
                int xz = hf_encoding_before(c, x, z);

                HF_CLAUSE(c, -xy, -yz, xz);
                HF_CLAUSE(c, xy, yz, -xz);
            }
}

/* ---- visibility ---------------------------------------------------------- */

uint32_t hf_encoding_learns(const hf_encoding *c, uint32_t i)
{
    const hf_event_read *r = &c->e->reads.at[i];
    uint32_t view = c->view_of[i];

    if (c->rules->view == HF_VIEW_READS)
        return c->view_next[view];
    if (!is_outside(c, r))
        return view;
    if (c->rules->view == HF_VIEW_STATEMENT)
        return c->view_next[view];
    /* the snapshot is taken by the first plain read */
    return c->e->plain_at[r->txn] != HF_NONE &&
                   c->e->plain_at[r->txn] > r->statement
               ? view
               : HF_NONE;
}

/* Statements: everything before a source is visible too; views of
 * transactions have a rule of their own for that. */
static void put_prefix_of(hf_encoding *c, int why, uint32_t d, uint32_t view)
{
    for (uint32_t a = 1; a < c->e->n; a++)
        if (a != d)
            HF_CLAUSE(c, -why, -hf_encoding_before(c, a, d),
                      visible(c, a, view));
}

/* Behind the boundary the read and the version are there. */
static void put_if_later(hf_encoding *c, const hf_event_read *r,
                         const hf_event_write *w, int then, int or_else)
{
    HF_CLAUSE(c, c->segment[r->segment], -c->happens[r->segment],
              -c->happens[w->segment], then, or_else);
}

/* Behind the boundary it reads as observed. */
static void put_later(hf_encoding *c, const hf_event_read *r)
{
    const hf_event_group *g = &c->e->groups.at[r->group];
    uint32_t b = c->e->sources.at[r->source + r->observed].txn;
    const hf_event_write *w = b ? hf_events_write(c->e, r->key, b) : NULL;

    if (w) {
        put_if_later(c, r, w, hf_encoding_before(c, b, r->txn), -c->yes);
        if (c->rules->view == HF_VIEW_TXN && !is_outside(c, r))
            put_if_later(c, r, w, visible(c, b, r->txn), -c->yes);
    }
    if (!r->locking || !c->rules->locks || c->rules->conflict)
        return;
    for (uint32_t i = 0; i < g->n_writes; i++) {
        const hf_event_write *a = &c->e->writes.at[g->write + i];

        if (a->txn != b && a->txn != r->txn)
            put_if_later(c, r, a, hf_encoding_before(c, a->txn, b),
                         hf_encoding_before(c, r->txn, a->txn));
    }
}

static void put_sources(hf_encoding *c)
{
    const hf_events *e = c->e;
    bool statements = c->rules->view == HF_VIEW_STATEMENT && c->rules->prefix;

    for (uint32_t i = 0; i < e->reads.n; i++) {
        const hf_event_read *r = &e->reads.at[i];
        uint32_t view = hf_encoding_learns(c, i);

        put_later(c, r);
        for (uint32_t j = 0; j < r->n_sources; j++) {
            uint32_t b = e->sources.at[r->source + j].txn;
            int lit = c->choice[r->source + j];

            HF_CLAUSE(c, -lit, hf_encoding_before(c, b, r->txn));
            if (view == HF_NONE || b == 0)
                continue;
            HF_CLAUSE(c, -lit, visible(c, b, view));
            if (statements)
                put_prefix_of(c, lit, b, view);
        }
    }
}

static void put_chains(hf_encoding *c)
{
    const hf_events *e = c->e;

    for (uint32_t g = 0; g < c->n_views; g++) {
        uint32_t next = c->view_next[g], t = c->view_txn[g];

        for (uint32_t a = 1; next != HF_NONE && a < e->n; a++)
            HF_CLAUSE(c, -visible(c, a, g), visible(c, a, next));
        if (c->rules->view == HF_VIEW_STATEMENT && c->rules->sessions &&
            e->before[t] != 0 && (g == 0 || c->view_txn[g - 1] != t))
            put_prefix_of(c, c->yes, e->before[t], g);
    }
}

/* Views of transactions. */
static void put_closure(hf_encoding *c)
{
    uint32_t n = c->e->n;

    if (c->rules->view != HF_VIEW_TXN ||
        !(c->rules->causal || c->rules->prefix))
        return;
    for (uint32_t t = 1; t < n && !is_spent(c); t++)
        for (uint32_t d = 1; d < n; d++) {
            int seen = visible(c, d, t);

            if (seen == -c->yes)
                continue;
            for (uint32_t a = 1; a < n; a++)
                if (a != d)
                    HF_CLAUSE(c, -seen,
                              c->rules->prefix ? -hf_encoding_before(c, a, d)
                                               : -visible(c, a, d),
                              visible(c, a, t));
        }
}

/* Two writers of a key: the later one sees the earlier one. */
static void put_conflict(hf_encoding *c, uint32_t w, uint32_t v)
{
    uint32_t a = c->e->writes.at[w].txn, t = c->e->writes.at[v].txn;

    HF_CLAUSE(c, -c->takes[w], -c->takes[v], -hf_encoding_before(c, a, t),
              visible(c, a, t));
}

/* Who holds the lock of a key sees, in what it reads afterwards, all who
 * wrote it before. */
static void put_lock(hf_encoding *c, uint32_t w, const hf_event_write *v)
{
    const hf_events *e = c->e;
    uint32_t a = e->writes.at[w].txn, t = v->txn;
    int why[3] = {-c->takes[w], -hf_encoding_before(c, a, t)};

    if (c->rules->view == HF_VIEW_TXN) {
        if (e->plain_at[t] != HF_NONE && e->plain_at[t] > v->locked_at) {
            why[2] = visible(c, a, t);
            hf_encoding_add(c, why, 3);
        }
        return;
    }
    for (uint32_t g = 0; g < c->n_views; g++) {
        if (c->view_txn[g] != t || c->view_statement[g] <= v->locked_at)
            continue;
        why[2] = visible(c, a, g);
        hf_encoding_add(c, why, 3);
        for (uint32_t q = 1; q < e->n; q++)
            if (q != a)
                HF_CLAUSE(c, why[0], why[1], -hf_encoding_before(c, q, a),
                          visible(c, q, g));
        return; /* later views see what this one does */
    }
}

static void put_writers(hf_encoding *c)
{
    const hf_events *e = c->e;

    if (!c->rules->conflict && !c->rules->locks)
        return;
    for (size_t i = 0; i < e->groups.n; i++) {
        const hf_event_group *g = &e->groups.at[i];

        for (uint32_t j = 0; j < g->n_writes; j++)
            for (uint32_t k = 0; k < g->n_writes; k++) {
                if (j == k)
                    continue;
                if (c->rules->conflict)
                    put_conflict(c, g->write + j, g->write + k);
                else
                    put_lock(c, g->write + j, &e->writes.at[g->write + k]);
            }
    }
}

/* ---- the axiom ----------------------------------------------------------- */

static void put_axiom(hf_encoding *c, uint32_t i)
{
    const hf_events *e = c->e;
    const hf_event_read *r = &e->reads.at[i];
    const hf_event_group *g = &e->groups.at[r->group];

    for (uint32_t k = 0; k < g->n_writes; k++) {
        const hf_event_write *w = &e->writes.at[g->write + k];
        int there = -c->takes[g->write + k], seen;

        if (w->txn == r->txn)
            continue;
        seen = visible(c, w->txn, c->view_of[i]);
        for (uint32_t j = 0; j < r->n_sources; j++) {
            uint32_t b = e->sources.at[r->source + j].txn;
            int lit = c->choice[r->source + j];

            if (b == w->txn)
                continue;
            if (!is_outside(c, r) && seen != -c->yes)
                HF_CLAUSE(c, -lit, there, -seen,
                          hf_encoding_before(c, w->txn, b));
            if (r->locking && c->rules->locks)
                HF_CLAUSE(c, -lit, there, hf_encoding_before(c, w->txn, b),
                          hf_encoding_before(c, r->txn, w->txn));
        }
    }
}

/* If the budget is spent on the way it is not complete, and nobody will get an
 * answer from the solver either. */
void hf_encoding_level(hf_encoding *c)
{
    put_order(c);
    put_sources(c);
    put_chains(c);
    put_closure(c);
    put_writers(c);
    for (uint32_t i = 0; i < c->e->reads.n && !hf_budget_spent(c->budget); i++)
        put_axiom(c, i);
}

/* ---- lazily -------------------------------------------------------------- */

static void take_model(hf_encoding *c)
{
    uint64_t n = hf_sat_n_vars(c->sat);

    c->model = hf_realloc(c->model, n + 1);
    c->n_model = n;
    for (uint64_t v = 1; v <= n; v++)
        c->model[v] = hf_sat_true(c->sat, (int)v) ? 1 : -1;
}

uint64_t hf_encoding_repair(hf_encoding *c)
{
    if (!c->lazy && !c->has_rows)
        return 0;
    take_model(c);
    c->n_repaired = 0;
    c->repairing = true;
    if (c->lazy)
        hf_encoding_level(c);
    if (c->n_repaired == 0 && c->has_rows)
        hf_encoding_rows(c);
    c->repairing = false;
    return c->n_repaired;
}
