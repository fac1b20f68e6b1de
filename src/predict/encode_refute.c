/* encode_refute.c: what a model says, and clauses against what it says.
 *
 * An order of all transactions serves a read that takes b if b comes before
 * the reader and nobody who writes the key, and is included, comes between.
 * For the clause "some read is not served" each pair of a read and a source
 * is one literal: the choice itself if it can never be served, a new one that
 * implies the choice and "one of those between is included" if that depends.
 * Sessions are included from their beginning, so only the first between of
 * each session has to be named.
 *
 * If the level is encoded lazily there are many choices: then the literal is
 * the choice itself, which leaves more executions for the next round.
 */
#include "predict/encode.h"

#include <string.h>

#include "base/error.h"

/* ---- models -------------------------------------------------------------- */

void hf_encoding_chosen(hf_encoding *c, hf_chosen *ret)
{
    const hf_events *e = c->e;

    for (size_t s = 0; s < e->sessions.n; s++) {
        const hf_event_session *row = &e->sessions.at[s];

        ret->cut[s] = 0;
        while (ret->cut[s] < row->n_segments &&
               hf_sat_true(c->sat, c->segment[row->segment + ret->cut[s]]))
            ret->cut[s]++;
    }
    for (size_t i = 0; i < e->reads.n; i++) {
        const hf_event_read *r = &e->reads.at[i];

        ret->source[i] = HF_NONE;
        for (uint32_t j = 0; j < r->n_sources; j++)
            if (hf_sat_true(c->sat, c->choice[r->source + j]))
                ret->source[i] = j;
        HF_ASSERT((ret->source[i] != HF_NONE) ==
                  hf_chosen_has(e, ret, r->txn, r->segment));
    }
}

void hf_encoding_places(hf_encoding *c, uint32_t *ret)
{
    for (uint32_t a = 0; a < c->e->n; a++) {
        ret[a] = 0;
        for (uint32_t b = 0; b < c->e->n; b++)
            ret[a] +=
                b != a && hf_sat_true(c->sat, hf_encoding_before(c, b, a));
    }
}

/* ---- refuting an order --------------------------------------------------- */

typedef struct refuter {
    hf_encoding *c;
    const uint32_t *place;
    const hf_chosen *x;
    uint32_t *first;           /* per session: its first segment between */
    HF_VEC(uint32_t) sessions; /* with one */
    HF_VEC(int) clause;        /* the one to add */
    HF_VEC(int) some;
} refuter;

static void note_between(refuter *f, const hf_event_write *w)
{
    uint32_t s = f->c->e->session_of[w->txn];

    if (f->first[s] == HF_NONE)
        hf_vec_push(&f->sessions, s);
    if (f->first[s] == HF_NONE || w->segment < f->first[s])
        f->first[s] = w->segment;
}

/* Those between b and the reader, by session. */
static void find_between(refuter *f, const hf_event_read *r, uint32_t b)
{
    const hf_events *e = f->c->e;
    const hf_event_group *g = &e->groups.at[r->group];

    for (size_t i = 0; i < f->sessions.n; i++)
        f->first[f->sessions.at[i]] = HF_NONE;
    f->sessions.n = 0;
    for (uint32_t i = 0; i < g->n_writes; i++) {
        const hf_event_write *w = &e->writes.at[g->write + i];

        if (w->txn != b && w->txn != r->txn && f->place[w->txn] > f->place[b] &&
            f->place[w->txn] < f->place[r->txn])
            note_between(f, w);
    }
}

/* Is the first one between included whenever the choice is made? */
static bool is_certain(const refuter *f, const hf_event_read *r, uint32_t b,
                       uint32_t session)
{
    const hf_events *e = f->c->e;
    uint32_t segment = f->first[session];
    const hf_event_write *w;

    if (e->session_of[r->txn] == session && segment <= r->segment)
        return true;
    if (b == 0 || e->session_of[b] != session)
        return false;
    w = hf_events_write(e, r->key, b);
    return w && segment <= w->segment;
}

static void put_choice(refuter *f, const hf_event_read *r, uint32_t j,
                       bool taken)
{
    hf_encoding *c = f->c;
    uint32_t b = c->e->sources.at[r->source + j].txn;
    int lit = c->choice[r->source + j], aux;

    if (f->place[b] > f->place[r->txn]) {
        hf_vec_push(&f->clause, lit);
        return;
    }
    find_between(f, r, b);
    if (f->sessions.n == 0)
        return;
    for (size_t i = 0; i < f->sessions.n; i++)
        if (is_certain(f, r, b, f->sessions.at[i])) {
            hf_vec_push(&f->clause, lit);
            return;
        }
    if (c->lazy && !taken) {
        hf_vec_push(&f->clause, lit);
        return;
    }
    if (c->lazy) {
        for (size_t i = 0; i < f->sessions.n; i++)
            hf_vec_push(&f->clause, c->segment[f->first[f->sessions.at[i]]]);
        return;
    }
    aux = hf_sat_lit(c->sat, false);
    f->some.n = 0;
    hf_vec_push(&f->some, -aux);
    for (size_t i = 0; i < f->sessions.n; i++)
        hf_vec_push(&f->some, c->segment[f->first[f->sessions.at[i]]]);
    HF_CLAUSE(c, -aux, lit);
    hf_encoding_add(c, f->some.at, (uint32_t)f->some.n);
    hf_vec_push(&f->clause, aux);
}

/* ---- rows outside of a result -------------------------------------------- */

static bool known_match(const hf_encoding *c, const hf_event_read *r,
                        uint32_t txn)
{
    for (uint32_t i = 0; i < r->n_sources; i++)
        if (c->e->sources.at[r->source + i].txn == txn)
            return c->e->sources.at[r->source + i].matches;
    return false;
}

/* A literal that implies: a, which matches, is the last version before the
 * reader. */
static int last_before(refuter *f, const hf_event_read *r, uint32_t a)
{
    hf_encoding *c = f->c;
    const hf_event_group *g = &c->e->groups.at[r->group];
    int lit = hf_sat_lit(c->sat, false);

    if (a != 0)
        HF_CLAUSE(c, -lit,
                  c->segment[hf_events_write(c->e, r->key, a)->segment]);
    for (uint32_t i = 0; i < g->n_writes; i++) {
        const hf_event_write *w = &c->e->writes.at[g->write + i];

        if (w->txn != a && w->txn != r->txn && f->place[w->txn] > f->place[a] &&
            f->place[w->txn] < f->place[r->txn] && !known_match(c, r, w->txn))
            HF_CLAUSE(c, -lit, -c->segment[w->segment]);
    }
    return lit;
}

static void put_row(refuter *f, const hf_event_read *r)
{
    hf_encoding *c = f->c;
    int aux = 0;

    for (uint32_t i = 0; i < r->n_sources; i++) {
        uint32_t a = c->e->sources.at[r->source + i].txn;

        if (!c->e->sources.at[r->source + i].matches ||
            f->place[a] > f->place[r->txn])
            continue;
        if (aux == 0) {
            aux = hf_sat_lit(c->sat, false);
            f->some.n = 0;
            hf_vec_push(&f->some, -aux);
        }
        hf_vec_push(&f->some, last_before(f, r, a));
    }
    if (aux == 0)
        return;
    hf_encoding_add(c, f->some.at, (uint32_t)f->some.n);
    f->some.n = 0;
    hf_vec_push(&f->some, -aux);
    for (uint32_t i = 0; i < r->n_sources; i++)
        if (!c->e->sources.at[r->source + i].matches)
            hf_vec_push(&f->some, c->choice[r->source + i]);
    hf_encoding_add(c, f->some.at, (uint32_t)f->some.n);
    hf_vec_push(&f->clause, aux);
}

void hf_encoding_refute(hf_encoding *c, const uint32_t *place,
                        const hf_chosen *x)
{
    const hf_events *e = c->e;
    refuter f = {.c = c, .place = place, .x = x};

    f.first = HF_NEW_ARRAY(uint32_t, e->sessions.n + 1);
    memset(f.first, 0xff, (e->sessions.n + 1) * sizeof(*f.first));
    for (size_t i = 0; i < e->reads.n; i++) {
        const hf_event_read *r = &e->reads.at[i];
        bool outside = false;

        for (uint32_t j = 0; j < r->n_sources; j++) {
            if (e->sources.at[r->source + j].matches)
                put_choice(&f, r, j, x && x->source[i] == j);
            else
                outside = true;
        }
        if (outside)
            put_row(&f, r);
    }
    hf_encoding_add(c, f.clause.at, (uint32_t)f.clause.n);
    hf_free(f.first);
    hf_vec_release(&f.sessions);
    hf_vec_release(&f.clause);
    hf_vec_release(&f.some);
}

/* ---- one execution ------------------------------------------------------- */

/* The literals that say "this execution". */
static void describe(hf_encoding *c, const hf_chosen *x,
                     void (*put)(void *user, int lit), void *user)
{
    const hf_events *e = c->e;

    for (size_t s = 0; s < e->sessions.n; s++) {
        const hf_event_session *row = &e->sessions.at[s];

        if (x->cut[s] > 0)
            put(user, c->segment[row->segment + x->cut[s] - 1]);
        if (x->cut[s] < row->n_segments)
            put(user, -c->segment[row->segment + x->cut[s]]);
    }
    for (size_t i = 0; i < e->reads.n; i++)
        if (x->source[i] != HF_NONE)
            put(user, c->choice[e->reads.at[i].source + x->source[i]]);
}

typedef HF_VEC(int) literals;

static void put_negated(void *user, int lit)
{
    literals *lits = user;

    hf_vec_push(lits, -lit);
}

void hf_encoding_block(hf_encoding *c, const hf_chosen *x)
{
    literals lits = {0};

    describe(c, x, put_negated, &lits);
    hf_encoding_add(c, lits.at, (uint32_t)lits.n);
    hf_vec_release(&lits);
}

static void put_assumed(void *user, int lit)
{
    hf_sat_assume(user, lit);
}

hf_sat_answer hf_encoding_allows(hf_encoding *c, const hf_chosen *x,
                                 unsigned wishes)
{
    for (;;) {
        hf_sat_answer answer;

        hf_encoding_assume(c, wishes);
        describe(c, x, put_assumed, c->sat);
        answer = hf_sat_solve(c->sat);
        if (answer != HF_SAT_YES || hf_encoding_repair(c) == 0)
            return answer;
    }
}
