/* serial_search.c: a commit order of a chosen execution, or none.
 *
 * What the forced order leaves open is decided by the search of
 * solver/order.h.  Its choices are made when an order breaks something:
 *
 *   a stands between b and c          a before b, or c before a
 *   a, which matches, is the last     c before a, or some version outside
 *   version before predicate read c   comes between a and c
 */
#include "predict/serial_impl.h"

#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "solver/order.h"

typedef struct choice {
    uint32_t a, b, c;
    bool is_row; /* true: a before b before c (b 0: c before a); else true: a
                    before b, false: c before a */
} choice;

typedef struct search {
    hf_serial *s;
    const hf_chosen *x;
    HF_VEC(choice) choices; /* by variable */
    hf_map of_pair;         /* pair and transaction: variable */
    hf_map of_row;          /* row and transaction: first variable */
    HF_VEC(hf_lit) lits;
} search;

static bool add(hf_order *o, uint32_t from, uint32_t to, hf_lit why)
{
    return hf_order_edge(o, from, to, 0, &why, 1);
}

static void taken(void *user, hf_order *o, hf_lit lit)
{
    const search *q = user;
    const choice *d = &q->choices.at[HF_LIT_VAR(lit)];
    bool positive = !(lit & 1);

    if (d->is_row) {
        if (!positive)
            return;
        if (d->b == HF_NONE) {
            (void)add(o, d->c, d->a, lit);
            return;
        }
        if (add(o, d->a, d->b, lit))
            (void)add(o, d->b, d->c, lit);
    } else if (positive) {
        (void)add(o, d->a, d->b, lit);
    } else {
        (void)add(o, d->c, d->a, lit);
    }
}

static void undone(void *user, hf_order *o, hf_lit lit)
{
    (void)user;
    (void)o;
    (void)lit;
}

static void moved(void *user, uint32_t node)
{
    (void)user;
    (void)node;
}

static uint32_t new_choice(search *q, hf_order *o, choice d)
{
    uint32_t var = hf_order_new_var(o);

    HF_ASSERT(var == q->choices.n);
    hf_vec_push(&q->choices, d);
    return var;
}

/* The first pair with somebody between; HF_LIT_NONE: none. */
static hf_lit broken_pair(search *q, hf_order *o)
{
    hf_serial *s = q->s;
    const uint32_t *place = hf_order_place(o);

    for (uint32_t i = 0; i < s->pairs.n; i++) {
        uint32_t b = s->pairs.at[i].b, c = s->pairs.at[i].c;

        for (uint32_t w = 0; w < s->words; w++)
            for (uint64_t set = s->sets.at[(size_t)i * s->words + w]; set;
                 set &= set - 1) {
                uint32_t a = w * 64 + (uint32_t)__builtin_ctzll(set);
                uint64_t name = (uint64_t)i << 32 | a;
                uint32_t var;

                if (place[a] < place[b] || place[a] > place[c])
                    continue;
                var = hf_map_get(&q->of_pair, name);
                if (var == UINT32_MAX) {
                    var = new_choice(q, o, (choice){a, b, c, false});
                    hf_map_set(&q->of_pair, name, var);
                }
                return place[a] - place[b] < place[c] - place[a] ? 2 * var
                                                                 : 2 * var + 1;
            }
    }
    return HF_LIT_NONE;
}

static bool is_there(const search *q, const hf_event_read *r, uint32_t txn)
{
    const hf_events *e = q->s->e;
    const hf_event_write *w;

    if (txn == 0)
        return true;
    w = hf_events_write(e, r->key, txn);
    return w && hf_chosen_has(e, q->x, txn, w->segment);
}

/* 1: matches, 0: does not, or nobody can say. */
static bool matches(const search *q, const hf_event_read *r, uint32_t txn)
{
    const hf_events *e = q->s->e;

    for (uint32_t i = 0; i < r->n_sources; i++)
        if (e->sources.at[r->source + i].txn == txn)
            return e->sources.at[r->source + i].matches;
    return false;
}

/* The last version before the read, in the order. */
static uint32_t last_version(const search *q, const hf_event_read *r,
                             const uint32_t *place)
{
    const hf_event_group *g = &q->s->e->groups.at[r->group];
    uint32_t last = 0;

    for (uint32_t i = 0; i < g->n_writes; i++) {
        uint32_t w = q->s->e->writes.at[g->write + i].txn;

        if (w != r->txn && place[w] < place[r->txn] && is_there(q, r, w) &&
            (last == 0 || place[w] > place[last]))
            last = w;
    }
    return last;
}

/* A clause about the row for `a`, made when it is first needed. */
static uint32_t row_clause(search *q, hf_order *o, uint32_t row, uint32_t a,
                           bool *ret_new)
{
    const hf_event_read *r = &q->s->e->reads.at[q->s->rows.at[row]];
    const hf_event_group *g = &q->s->e->groups.at[r->group];
    uint64_t name = (uint64_t)row << 32 | a;
    uint32_t first = hf_map_get(&q->of_row, name);

    *ret_new = first == UINT32_MAX;
    if (!*ret_new)
        return first;
    q->lits.n = 0;
    first = (uint32_t)q->choices.n;
    hf_map_set(&q->of_row, name, first);
    /* the last of them, so that the range of variables can be walked */
    for (uint32_t i = 0; i < g->n_writes; i++) {
        uint32_t w = q->s->e->writes.at[g->write + i].txn;

        if (w != r->txn && w != a && is_there(q, r, w) && !matches(q, r, w))
            hf_vec_push(&q->lits,
                        2 * new_choice(q, o, (choice){a, w, r->txn, true}));
    }
    if (a != 0)
        hf_vec_push(&q->lits,
                    2 * new_choice(q, o, (choice){a, HF_NONE, r->txn, true}));
    (void)hf_order_clause(o, q->lits.at, (uint32_t)q->lits.n, 0);
    return first;
}

/* A row whose last version matches: a literal to decide, or HF_LIT_NONE. */
static hf_lit broken_row(search *q, hf_order *o, bool *ret_again)
{
    const uint32_t *place = hf_order_place(o);

    *ret_again = false;
    for (uint32_t i = 0; i < q->s->rows.n; i++) {
        const hf_event_read *r = &q->s->e->reads.at[q->s->rows.at[i]];
        uint32_t a = last_version(q, r, place), var;

        if (!matches(q, r, a))
            continue;
        var = row_clause(q, o, i, a, ret_again);
        if (*ret_again)
            return HF_LIT_NONE;
        for (; var < q->choices.n && q->choices.at[var].is_row &&
               q->choices.at[var].a == a && q->choices.at[var].c == r->txn;
             var++)
            if (hf_order_value(o, 2 * var) < 0)
                return 2 * var;
        HF_BUG("a row is broken that a clause takes care of");
    }
    return HF_LIT_NONE;
}

static hf_order_next look(void *user, hf_order *o, hf_lit *ret_lit)
{
    search *q = user;
    bool again;

    *ret_lit = broken_pair(q, o);
    if (*ret_lit != HF_LIT_NONE)
        return HF_ORDER_DECIDE;
    *ret_lit = broken_row(q, o, &again);
    if (again)
        return HF_ORDER_AGAIN;
    return *ret_lit == HF_LIT_NONE ? HF_ORDER_DONE : HF_ORDER_DECIDE;
}

static void known(const hf_serial *s, hf_order *o)
{
    for (uint32_t i = 0; i < s->edges.n; i++)
        hf_order_known(o, s->edges.at[i].from, s->edges.at[i].to);
    for (uint32_t t = 1; t < s->n; t++)
        hf_order_known(o, 0, t);
}

hf_serial_answer hf_serial_search(hf_serial *s, const hf_chosen *x,
                                  hf_budget *budget, uint32_t *ret_place)
{
    search q = {.s = s, .x = x};
    hf_order_client client = {&q, look, taken, undone, moved};
    hf_order *o = hf_order_new(s->n, &client);
    hf_serial_answer answer = HF_SERIAL_LIMIT;
    hf_order_answer found;

    hf_map_init(&q.of_pair);
    hf_map_init(&q.of_row);
    known(s, o);
    (void)hf_order_begin(o, NULL);
    found = hf_order_search(o, UINT64_MAX, 64, budget);
    if (found == HF_ORDER_FOUND) {
        answer = HF_SERIAL_ORDER;
        if (ret_place)
            memcpy(ret_place, hf_order_place(o), s->n * sizeof(*ret_place));
    } else if (found == HF_ORDER_NONE) {
        answer = HF_SERIAL_NO_ORDER;
    }
    hf_order_free(o);
    hf_map_release(&q.of_pair);
    hf_map_release(&q.of_row);
    hf_vec_release(&q.choices);
    hf_vec_release(&q.lits);
    return answer;
}
