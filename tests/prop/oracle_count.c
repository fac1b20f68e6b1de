/* oracle_count.c: keys with increments whose results were not recorded.
 *
 * A version of such a key is what the steps of its transaction make of the
 * version before it, so that what a read should have returned is known once
 * the order of versions is.  Nil is 0, and what is no number counts as 0 where
 * something is added to it (docs/semantics.md, "Increments").
 */
#include "oracle_model.h"

o_amount o_amount_of(const o_model *m, uint32_t value)
{
    if (value == O_NIL)
        return (o_amount){.is_number = true};
    if (m->h->value_type[value] == HF_INT)
        return (o_amount){true, m->h->value_data[value], O_NIL};
    return (o_amount){false, 0, value};
}

bool o_amount_eq(o_amount a, o_amount b)
{
    return a.is_number == b.is_number && a.number == b.number &&
           a.value == b.value;
}

o_amount o_amount_after(const o_model *m, o_amount before, const o_step *step)
{
    if (step->kind == O_WRITE)
        return o_amount_of(m, step->value);
    if (step->kind == O_ADD)
        return (o_amount){true, before.number + step->amount, O_NIL};
    return before;
}

/* What the steps of t before `end` make of it. */
static o_amount carry_out(const o_model *m, int t, int key, int end,
                          o_amount before)
{
    for (int i = 0; i < end; i++)
        if (m->txns[t].steps[i].key == key)
            before = o_amount_after(m, before, &m->txns[t].steps[i]);
    return before;
}

/* What the key holds at a place of its order; -1: at first. */
static o_amount amount_at(const o_world *w, const o_orders *o, int key,
                          int place)
{
    o_amount now = o_amount_of(w->m, w->m->initial[key]);

    for (int i = 0; i <= place; i++) {
        int t = o->at[key][i];

        now = carry_out(w->m, t, key, w->m->txns[t].n_steps, now);
    }
    return now;
}

static bool own_counts_fit(const o_world *w, const o_orders *o, int t)
{
    const o_txn *x = &w->m->txns[t];
    uint32_t ignored;

    for (int i = 0; i < x->n_steps; i++) {
        int key = x->steps[i].key;
        o_amount now;

        if (x->steps[i].kind != O_COUNT ||
            !o_own_write(w->m, t, key, i, &ignored))
            continue;
        now = amount_at(w, o, key, o_place(o, key, t) - 1);
        now = carry_out(w->m, t, key, i, now);
        if (!o_amount_eq(now, o_amount_of(w->m, x->steps[i].value)))
            return false;
    }
    return true;
}

bool o_counts_fit(const o_world *w, const o_orders *o, const o_reads *reads)
{
    for (int i = 0; i < reads->n; i++) {
        const o_read *r = &reads->at[i];

        if (w->m->txns[r->txn].steps[r->step].kind == O_COUNT &&
            !o_amount_eq(amount_at(w, o, r->key, o_place(o, r->key, r->source)),
                         o_amount_of(w->m, r->value)))
            return false;
    }
    for (int t = 0; t < w->m->n_txns; t++)
        if (w->in[t] && !own_counts_fit(w, o, t))
            return false;
    return true;
}

/* ---- read-uncommitted ---------------------------------------------------- */

/* Can some of the increments, from this place on, make `from` the value? */
static bool adds_up(const o_model *m, int key, int t, int i, o_amount from,
                    o_amount wanted)
{
    const o_step *s;

    if (o_amount_eq(from, wanted))
        return true;
    while (t < m->n_txns && i == m->txns[t].n_steps) {
        t++;
        i = 0;
    }
    if (t == m->n_txns)
        return false;
    s = &m->txns[t].steps[i];
    return adds_up(m, key, t, i + 1, from, wanted) ||
           (s->kind == O_ADD && s->key == key &&
            adds_up(m, key, t, i + 1, o_amount_after(m, from, s), wanted));
}

/* One of what the key held at first or was set to, and some increments. */
static bool is_some_sum(const o_model *m, int key, o_amount wanted)
{
    if (adds_up(m, key, 0, 0, o_amount_of(m, m->initial[key]), wanted))
        return true;
    for (int t = 0; t < m->n_txns; t++)
        for (int i = 0; i < m->txns[t].n_steps; i++) {
            const o_step *s = &m->txns[t].steps[i];

            if (s->kind == O_WRITE && s->key == key &&
                adds_up(m, key, 0, 0, o_amount_of(m, s->value), wanted))
                return true;
        }
    return false;
}

/* It set the key before: then the value follows from its own steps. */
static bool sets_before(const o_model *m, int t, int step)
{
    for (int i = 0; i < step; i++)
        if (m->txns[t].steps[i].kind == O_WRITE &&
            m->txns[t].steps[i].key == m->txns[t].steps[step].key)
            return true;
    return false;
}

bool o_counts_known(const o_world *w)
{
    for (int t = 0; t < w->m->n_txns; t++)
        for (int i = 0; w->in[t] && i < w->m->txns[t].n_steps; i++) {
            const o_step *s = &w->m->txns[t].steps[i];
            o_amount wanted, zero = {.is_number = true};

            if (s->kind != O_COUNT)
                continue;
            wanted = o_amount_of(w->m, s->value);
            if (sets_before(w->m, t, i)
                    ? !o_amount_eq(carry_out(w->m, t, s->key, i, zero), wanted)
                    : !is_some_sum(w->m, s->key, wanted))
                return false;
        }
    return true;
}
