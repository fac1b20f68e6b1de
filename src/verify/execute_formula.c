/* execute_formula.c: is there an order, asked as a formula.
 *
 * Where a core has counters there are many states: who adds and reads nothing
 * may come at any time, and only a sum that is read much later tells.  So the
 * question is put in clauses, and formula.c answers it.
 *
 * For two events (transactions; starts and commits) a variable says that the
 * first is before the second.  At levels that are one order, that is all of
 * them; at consistent view and parallel snapshot isolation it says that the
 * first is visible to the second, which leaves two open that write no key in
 * common.  Each clause says something that holds in every order that explains
 * what was read:
 *
 *   - the order is transitive; what must come before something does, if both
 *     happened;
 *   - of two that write one key one is before the other, as a whole;
 *   - what a key holds where it is read was left by somebody, or is what it
 *     held at first: by one who is before the reader, while all others who set
 *     the key and are before the reader come before that one;
 *   - of a counter, those who add, are behind that one and before the reader,
 *     count: a variable for each sum of the first few of them says that it is
 *     that, and in the end it is what was read.
 *
 * At read committed it is enough that somebody before the reader left it.
 * Of lists, and of counters that hold what is no number, nothing is said: then
 * "no" is an answer, and "yes" is none.
 *
 * O(events^3) clauses, and for each read of a counter its writers times their
 * sums.
 */
#include "verify/execute.h"

#include <stdlib.h>
#include <string.h>

#include "verify/formula.h"

#define MOST_GIVEN ((size_t)1 << 28) /* words of clauses */
#define MOST_SUMS ((size_t)1 << 22)  /* of one read, before any is left out */

typedef HF_VEC(hf_wide) numbers;

typedef struct encoder {
    hf_program *p;
    hf_formula f;
    uint32_t per;      /* events of a node */
    hf_literal *order; /* per two events */
    hf_literal *there; /* per node: it happened; HF_NONE: certainly */
    hf_literal *seen;  /* per two nodes; HF_NONE: not asked yet */
    hf_words clause;
    /* read committed: per key, what is read of it; per node and key that it
     * adds to: that it leaves these, one after the other */
    numbers *read;
    hf_literal **leaves;
    bool left_out; /* something that was read */
    bool too_large;
} encoder;

/* ---- clauses ------------------------------------------------------------- */

static void say(encoder *e, hf_literal lit)
{
    if (lit != HF_NONE)
        hf_vec_push(&e->clause, lit);
}

static hf_literal not(hf_literal lit)
{
    return lit == HF_NONE ? HF_NONE : HF_LITERAL_NOT(lit);
}

static void end_clause(encoder *e)
{
    hf_formula_add(&e->f, e->clause.at, (uint32_t)e->clause.n);
    e->clause.n = 0;
    e->too_large |= e->f.given.n > MOST_GIVEN;
}

/* One of them; HF_NONE: none. */
static void one_of(encoder *e, hf_literal a, hf_literal b, hf_literal c)
{
    say(e, a);
    say(e, b);
    say(e, c);
    end_clause(e);
}

/* ---- order --------------------------------------------------------------- */

static uint32_t start_of(const encoder *e, uint32_t node)
{
    return node * e->per;
}

static uint32_t commit_of(const encoder *e, uint32_t node)
{
    return node * e->per + e->per - 1;
}

/* Event a is before event b. */
static hf_literal order(const encoder *e, uint32_t a, uint32_t b)
{
    size_t n = (size_t)e->p->n * e->per;

    if (e->p->partial || a < b)
        return e->order[a * n + b];
    return HF_LITERAL_NOT(e->order[b * n + a]);
}

/* It takes no more: of clauses, or of the user's limits. */
static bool is_full(const encoder *e)
{
    hf_verifier *v = e->p->v;

    if (v->budget)
        (void)hf_budget_look(v->budget); /* a step of this is a long one */
    return e->too_large || hf_out_of_budget(v);
}

static void make_transitive(encoder *e)
{
    uint32_t n = e->p->n * e->per;

    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n && !is_full(e); b++)
            for (uint32_t c = 0; a != b && c < n; c++)
                /* a circle of three begins with its smallest */
                if (c != a && c != b && (e->p->partial || (a < b && a < c)))
                    one_of(e, not(order(e, a, b)), not(order(e, b, c)),
                           order(e, a, c));
}

static void make_order(encoder *e)
{
    uint32_t n = e->p->n * e->per;

    e->order = HF_NEW_ARRAY(hf_literal, (size_t)n * n + 1);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            if (a < b || (a != b && e->p->partial))
                e->order[(size_t)a * n + b] = hf_formula_new(&e->f);
    for (uint32_t a = 0; a < n && e->p->partial; a++)
        for (uint32_t b = 0; b < a; b++)
            one_of(e, not(order(e, a, b)), not(order(e, b, a)), HF_NONE);
    make_transitive(e);
}

static void make_outcomes(encoder *e)
{
    uint32_t n = e->p->n;

    e->there = HF_NEW_ARRAY(hf_literal, (size_t)n + 1);
    e->seen = HF_NEW_ARRAY(hf_literal, (size_t)n * n + 1);
    memset(e->seen, 0xff, ((size_t)n * n + 1) * sizeof(*e->seen));
    for (uint32_t i = 0; i < n; i++)
        e->there[i] =
            hf_nodes_has(e->p->sure, i) ? HF_NONE : hf_formula_new(&e->f);
}

static bool write_together(const hf_program *p, uint32_t a, uint32_t b)
{
    for (hf_key_id k = 0; k < p->h->n_keys; k++)
        if (hf_nodes_has(p->writers[k], a) && hf_nodes_has(p->writers[k], b))
            return true;
    return false;
}

static void keep_orders(encoder *e)
{
    const hf_program *p = e->p;

    for (uint32_t b = 0; b < p->n; b++) {
        if (e->per == 2)
            one_of(e, order(e, start_of(e, b), commit_of(e, b)), HF_NONE,
                   HF_NONE);
        for (uint32_t a = 0; a < p->n; a++) {
            /* those that did not happen may go in a circle */
            if (hf_nodes_has(p->before[b], a) || hf_nodes_has(p->ends[b], a))
                one_of(e, order(e, commit_of(e, a), start_of(e, b)),
                       not(e->there[a]), not(e->there[b]));
            if (a < b && (e->per == 2 || p->partial) &&
                write_together(p, a, b)) {
                say(e, not(e->there[a]));
                say(e, not(e->there[b]));
                one_of(e, order(e, commit_of(e, a), start_of(e, b)),
                       order(e, commit_of(e, b), start_of(e, a)), HF_NONE);
            }
        }
    }
}

/* `a` happened, and was done before b began. */
static hf_literal sees(encoder *e, uint32_t b, uint32_t a)
{
    hf_literal *lit = &e->seen[(size_t)b * e->p->n + a];
    hf_literal before = order(e, commit_of(e, a), start_of(e, b));

    if (*lit != HF_NONE)
        return *lit;
    if (e->there[a] == HF_NONE)
        return *lit = before;
    *lit = hf_formula_new(&e->f);
    one_of(e, not(*lit), before, HF_NONE);
    one_of(e, not(*lit), e->there[a], HF_NONE);
    one_of(e, *lit, not(before), not(e->there[a]));
    return *lit;
}

/* ---- who left it --------------------------------------------------------- */

/* What a key holds where a node begins. */
typedef struct point {
    hf_key_id key;
    uint32_t node;
    hf_literal *last;   /* per node, then initially; HF_NONE: not */
    hf_literal *counts; /* per node: it is among those who add */
} point;

static hf_counted count_of(const encoder *e, uint32_t node, hf_key_id key)
{
    hf_txn_id t = e->p->txn[node];

    return hf_count_of(e->p->h, t, key, e->p->h->op_first[t + 1]);
}

/* Does it leave the key with something that does not depend on what was
 * there? */
static bool sets(const encoder *e, uint32_t node, hf_key_id key)
{
    if (!hf_nodes_has(e->p->writers[key], node))
        return false;
    return e->p->kind[key] == HF_KEY_IS_REGISTER || count_of(e, node, key).sets;
}

/* The one whose version it is, of those marked in `may`, per node and then
 * initially; nothing is said unless `sure`, of the reader. */
static void choose_last(encoder *e, point *x, const uint8_t *may)
{
    uint32_t n = e->p->n;

    for (uint32_t i = 0; i <= n; i++)
        x->last[i] = may[i] ? hf_formula_new(&e->f) : HF_NONE;
    for (uint32_t i = 0; i <= n; i++) {
        if (x->last[i] == HF_NONE)
            continue;
        if (i < n)
            one_of(e, not(x->last[i]), sees(e, x->node, i), HF_NONE);
        for (uint32_t k = 0; k < n; k++)
            if (k != i && k != x->node && sets(e, k, x->key))
                one_of(e, not(x->last[i]), not(sees(e, x->node, k)),
                       i < n ? order(e, commit_of(e, k), commit_of(e, i))
                             : HF_NONE);
    }
    for (uint32_t i = 0; i <= n; i++)
        say(e, x->last[i]);
    one_of(e, not(e->there[x->node]), HF_NONE, HF_NONE);
}

static void choose_counts(encoder *e, point *x)
{
    uint32_t n = e->p->n;

    for (uint32_t i = 0; i < n; i++) {
        hf_literal seen, counts;

        x->counts[i] = HF_NONE;
        if (i == x->node || !hf_nodes_has(e->p->writers[x->key], i) ||
            sets(e, i, x->key))
            continue;
        seen = sees(e, x->node, i);
        counts = x->counts[i] = hf_formula_new(&e->f);
        one_of(e, not(counts), seen, HF_NONE);
        if (x->last[n] != HF_NONE)
            one_of(e, not(x->last[n]), not(seen), counts);
        for (uint32_t k = 0; k < n; k++) {
            hf_literal behind;

            if (x->last[k] == HF_NONE)
                continue;
            behind = order(e, commit_of(e, k), commit_of(e, i));
            one_of(e, not(x->last[k]), behind, not(counts));
            say(e, not(x->last[k]));
            one_of(e, not(behind), not(seen), counts);
        }
    }
}

/* ---- sums ---------------------------------------------------------------- */

/* What the first few of those who add may come to. */
typedef struct layer {
    numbers at; /* ascending */
    hf_words lits;
    hf_wide amount; /* of the next one */
    hf_literal counts;
} layer;

static int by_number(const void *a, const void *b)
{
    hf_wide x = *(const hf_wide *)a, y = *(const hf_wide *)b;

    return (x > y) - (x < y);
}

static void tidy(numbers *x)
{
    size_t n = 0;

    if (x->n > 1)
        qsort(x->at, x->n, sizeof(*x->at), by_number);
    for (size_t i = 0; i < x->n; i++)
        if (n == 0 || x->at[n - 1] != x->at[i])
            x->at[n++] = x->at[i];
    x->n = n;
}

static hf_literal sum_of(const layer *l, hf_wide number)
{
    const hf_wide *found = l->at.n > 0 ? bsearch(&number, l->at.at, l->at.n,
                                                 sizeof(number), by_number)
                                       : NULL;

    return found ? l->lits.at[found - l->at.at] : HF_NONE;
}

static bool has(const numbers *x, hf_wide number)
{
    return x->n > 0 &&
           bsearch(&number, x->at, x->n, sizeof(number), by_number) != NULL;
}

static hf_wide base_of(const encoder *e, const point *x, uint32_t node)
{
    const hf_program *p = e->p;

    return node == p->n ? p->states.at[p->initial[x->key]].held.number
                        : count_of(e, node, x->key).held.number;
}

/* All that lies on a way from what was left to what is wanted. */
static void list_sums(encoder *e, const point *x, layer *layers, uint32_t n,
                      const numbers *wanted)
{
    hf_wide low = wanted->at[0], high = wanted->at[wanted->n - 1];
    size_t all = 0;

    for (uint32_t i = 0; i < n; i++) {
        low -= layers[i].amount > 0 ? layers[i].amount : 0;
        high -= layers[i].amount < 0 ? layers[i].amount : 0;
    }
    for (uint32_t i = 0; i <= e->p->n; i++)
        if (x->last[i] != HF_NONE)
            hf_vec_push(&layers[0].at, base_of(e, x, i));
    for (uint32_t i = 0; i < n; i++) {
        hf_wide by = layers[i].amount;

        tidy(&layers[i].at);
        all += 2 * layers[i].at.n;
        e->too_large |= all > MOST_SUMS;
        if (is_full(e))
            return;
        low += by > 0 ? by : 0;
        high += by < 0 ? by : 0;
        for (size_t k = 0; k < layers[i].at.n; k++)
            for (int with = 0; with < 2; with++) {
                hf_wide number = layers[i].at.at[k] + (with ? by : 0);

                if (low <= number && number <= high)
                    hf_vec_push(&layers[i + 1].at, number);
            }
    }
    tidy(&layers[n].at);
    for (uint32_t i = n + 1; i-- > 0;) {
        numbers *at = &layers[i].at;
        size_t kept = 0;

        for (size_t k = 0; k < at->n; k++)
            if (i == n
                    ? has(wanted, at->at[k])
                    : has(&layers[i + 1].at, at->at[k]) ||
                          has(&layers[i + 1].at, at->at[k] + layers[i].amount))
                at->at[kept++] = at->at[k];
        at->n = kept;
    }
}

/* A sum comes from one of two before it; and, if it has to lead to what is
 * wanted, to one of two. */
static void link_layers(encoder *e, const layer *l, bool must)
{
    const layer *next = l + 1;

    for (size_t k = 0; k < next->at.n; k++) {
        hf_literal lit = next->lits.at[k];
        hf_literal with = sum_of(l, next->at.at[k] - l->amount);
        hf_literal without = sum_of(l, next->at.at[k]);

        one_of(e, not(lit), not(l->counts), with);
        one_of(e, not(lit), l->counts, without);
        say(e, not(lit));
        one_of(e, with, without == with ? HF_NONE : without, HF_NONE);
    }
    for (size_t k = 0; must && k < l->at.n; k++) {
        hf_literal lit = l->lits.at[k];
        hf_literal with = sum_of(next, l->at.at[k] + l->amount);
        hf_literal without = sum_of(next, l->at.at[k]);

        one_of(e, not(lit), not(l->counts), with);
        one_of(e, not(lit), l->counts, without);
        say(e, not(lit));
        one_of(e, with, without == with ? HF_NONE : without, HF_NONE);
    }
}

static void link_bases(encoder *e, const point *x, const layer *l, bool must)
{
    for (size_t k = 0; k < l->at.n; k++) {
        say(e, not(l->lits.at[k]));
        for (uint32_t i = 0; i <= e->p->n; i++)
            if (x->last[i] != HF_NONE && base_of(e, x, i) == l->at.at[k])
                say(e, x->last[i]);
        end_clause(e);
    }
    for (uint32_t i = 0; must && i <= e->p->n; i++)
        if (x->last[i] != HF_NONE)
            one_of(e, not(x->last[i]), sum_of(l, base_of(e, x, i)), HF_NONE);
}

/* `ret` gets, for each number that is wanted, that the key holds it; HF_NONE:
 * never.  `must`: it holds one of them, if the reader happened. */
static void add_up(encoder *e, const point *x, const numbers *wanted, bool must,
                   hf_literal *ret)
{
    layer *layers = HF_NEW_ZEROED(layer, (size_t)e->p->n + 1);
    uint32_t n = 0;
    bool full;

    for (uint32_t i = 0; i < e->p->n; i++)
        if (x->counts[i] != HF_NONE) {
            layers[n].amount = count_of(e, i, x->key).added;
            layers[n++].counts = x->counts[i];
        }
    list_sums(e, x, layers, n, wanted);
    full = is_full(e); /* then nothing is decided */
    for (uint32_t i = 0; i <= n && !full; i++)
        for (size_t k = 0; k < layers[i].at.n; k++)
            hf_vec_push(&layers[i].lits, hf_formula_new(&e->f));
    if (!full)
        link_bases(e, x, &layers[0], must);
    for (uint32_t i = 0; i < n && !full && !e->too_large; i++)
        link_layers(e, &layers[i], must);
    for (size_t i = 0; i < wanted->n; i++)
        ret[i] = full ? HF_NONE : sum_of(&layers[n], wanted->at[i]);
    for (uint32_t i = 0; i <= n; i++) {
        hf_vec_release(&layers[i].at);
        hf_vec_release(&layers[i].lits);
    }
    hf_free(layers);
}

/* ---- reads --------------------------------------------------------------- */

static void open_point(encoder *e, point *x, uint32_t node, hf_key_id key)
{
    size_t n = (size_t)e->p->n + 1;

    *x = (point){.key = key,
                 .node = node,
                 .last = HF_NEW_ARRAY(hf_literal, n),
                 .counts = HF_NEW_ARRAY(hf_literal, n)};
}

static void close_point(point *x)
{
    hf_free(x->last);
    hf_free(x->counts);
}

/* A register holds the state where the node begins. */
static void find_register(encoder *e, uint32_t node, const hf_deed *d)
{
    const hf_program *p = e->p;
    uint8_t *may = HF_NEW_ZEROED(uint8_t, (size_t)p->n + 1);
    point x;

    for (uint32_t i = 0; i < p->n; i++)
        may[i] = i != node && hf_nodes_has(p->leaves[d->state], i);
    may[p->n] = p->initial[d->key] == d->state;
    open_point(e, &x, node, d->key);
    choose_last(e, &x, may);
    close_point(&x);
    hf_free(may);
}

/* A counter: where the node begins; `may` set it last. */
static void open_counter(encoder *e, point *x, uint32_t node, hf_key_id key,
                         hf_wide rest)
{
    const hf_program *p = e->p;
    uint8_t *may = HF_NEW_ZEROED(uint8_t, (size_t)p->n + 1);

    for (uint32_t i = 0; i < p->n; i++)
        may[i] = i != node && sets(e, i, key) &&
                 count_of(e, i, key).held.rest == rest;
    may[p->n] = p->states.at[p->initial[key]].held.rest == rest;
    open_point(e, x, node, key);
    choose_last(e, x, may);
    choose_counts(e, x);
    hf_free(may);
}

/* A counter holds the number of the state, less what the node added. */
static void find_number(encoder *e, uint32_t node, const hf_deed *d,
                        hf_wide own)
{
    hf_held held = e->p->states.at[d->state].held;
    hf_wide number = held.number - own;
    numbers wanted = {&number, 1, 1};
    hf_literal lit;
    point x;

    open_counter(e, &x, node, d->key, held.rest);
    add_up(e, &x, &wanted, true, &lit);
    one_of(e, lit, not(e->there[node]), HF_NONE);
    close_point(&x);
}

/* ---- read committed ------------------------------------------------------ */

/* Per node that adds to the key: that it leaves each number that was read. */
static void list_leavings(encoder *e, hf_key_id key)
{
    const hf_program *p = e->p;
    const numbers *read = &e->read[key];

    if (e->leaves[key] || read->n == 0)
        return;
    e->leaves[key] = HF_NEW_ARRAY(hf_literal, (size_t)p->n * read->n + 1);
    for (uint32_t i = 0; i < p->n && !is_full(e); i++) {
        numbers wanted = {0};
        hf_counted c;
        point x;

        if (!hf_nodes_has(p->writers[key], i) || sets(e, i, key))
            continue;
        c = count_of(e, i, key);
        for (size_t k = 0; k < read->n; k++)
            hf_vec_push(&wanted, read->at[k] - c.added);
        open_counter(e, &x, i, key, 0);
        add_up(e, &x, &wanted, false, e->leaves[key] + i * read->n);
        close_point(&x);
        hf_vec_release(&wanted);
    }
}

/* Node i leaves what is wanted; HF_NONE with *ret_never: it does not. */
static hf_literal leaves(encoder *e, uint32_t i, const hf_deed *d,
                         bool *ret_never)
{
    const hf_program *p = e->p;
    hf_held held = p->states.at[d->state].held;
    const numbers *read = &e->read[d->key];
    size_t at = 0;

    if (p->kind[d->key] == HF_KEY_IS_REGISTER) {
        *ret_never = !hf_nodes_has(p->leaves[d->state], i);
        return HF_NONE;
    }
    *ret_never = !hf_nodes_has(p->writers[d->key], i);
    if (*ret_never)
        return HF_NONE;
    if (sets(e, i, d->key)) {
        *ret_never = !hf_held_is_same(count_of(e, i, d->key).held, held);
        return HF_NONE;
    }
    while (read->at[at] != held.number)
        at++;
    *ret_never = e->leaves[d->key][i * read->n + at] == HF_NONE;
    return e->leaves[d->key][i * read->n + at];
}

/* Somebody before the node left it, or it was there at first. */
static void find_past(encoder *e, uint32_t node, const hf_deed *d)
{
    const hf_program *p = e->p;
    hf_words from = {0};

    if (p->initial[d->key] == d->state)
        return;
    if (p->kind[d->key] == HF_KEY_IS_COUNTER)
        list_leavings(e, d->key);
    for (uint32_t i = 0; i < p->n && !e->too_large; i++) {
        bool never;
        hf_literal left, lit;

        if (i == node)
            continue;
        left = leaves(e, i, d, &never);
        if (never)
            continue;
        lit = hf_formula_new(&e->f);
        hf_vec_push(&from, lit);
        one_of(e, not(lit), sees(e, node, i), HF_NONE);
        if (left != HF_NONE)
            one_of(e, not(lit), left, HF_NONE);
    }
    for (size_t i = 0; i < from.n; i++)
        say(e, from.at[i]);
    one_of(e, not(e->there[node]), HF_NONE, HF_NONE);
    hf_vec_release(&from);
}

static void list_read(encoder *e)
{
    const hf_program *p = e->p;

    e->read = HF_NEW_ZEROED(numbers, (size_t)p->h->n_keys + 1);
    e->leaves = HF_NEW_ZEROED(hf_literal *, (size_t)p->h->n_keys + 1);
    for (size_t i = 0; i < p->deeds.n; i++) {
        const hf_deed *d = &p->deeds.at[i];

        if (d->kind == HF_DEED_FIND)
            hf_vec_push(&e->read[d->key], p->states.at[d->state].held.number);
    }
    for (hf_key_id k = 0; k < p->h->n_keys; k++)
        tidy(&e->read[k]);
}

/* ---- all ----------------------------------------------------------------- */

/* What is said here is about registers, and counters that hold numbers: whole
 * ones, at read committed. */
static bool is_fit(const encoder *e, hf_key_id key)
{
    const hf_program *p = e->p;
    hf_held first = p->states.at[p->initial[key]].held;

    if (p->kind[key] != HF_KEY_IS_COUNTER)
        return p->kind[key] == HF_KEY_IS_REGISTER;
    if (!first.is_number || (p->past && first.rest != 0))
        return false;
    for (uint32_t i = 0; i < p->n; i++)
        if (sets(e, i, key) &&
            (!count_of(e, i, key).held.is_number ||
             (p->past && count_of(e, i, key).held.rest != 0)))
            return false;
    return true;
}

/* Is the read about what this can say? */
static bool is_said(encoder *e, const hf_deed *d)
{
    hf_held held = e->p->states.at[d->state].held;

    if (is_fit(e, d->key) &&
        (e->p->kind[d->key] == HF_KEY_IS_REGISTER ||
         (held.is_number && !(e->p->past && held.rest != 0))))
        return true;
    e->left_out = true;
    return false;
}

/* What a node does, one deed after the other. */
static void take_node(encoder *e, uint32_t node)
{
    hf_program *p = e->p;

    for (uint32_t i = p->first[node]; i < p->first[node + 1]; i++) {
        hf_deed d = p->deeds.at[i];
        uint32_t set = HF_NONE; /* the state, if it set it itself */
        hf_wide own = 0;
        bool adds = false;

        if (d.kind != HF_DEED_FIND || !is_said(e, &d))
            continue;
        for (uint32_t k = p->first[node]; k < i; k++) {
            hf_deed o = p->deeds.at[k];

            if (o.key != d.key || o.kind == HF_DEED_FIND)
                continue;
            if (o.kind == HF_DEED_SET)
                set = o.state;
            else if (set != HF_NONE)
                set = hf_program_after(p, set, &o);
            own += o.kind == HF_DEED_ADD ? o.amount : 0;
            adds |= o.kind == HF_DEED_ADD;
        }
        if (set != HF_NONE) {
            if (set != d.state)
                one_of(e, not(e->there[node]), HF_NONE, HF_NONE);
        } else if (p->past && !adds) {
            find_past(e, node, &d);
        } else if (p->kind[d.key] == HF_KEY_IS_REGISTER) {
            find_register(e, node, &d);
        } else {
            find_number(e, node, &d, own);
        }
    }
}

static void release(encoder *e)
{
    for (hf_key_id k = 0; e->read && k < e->p->h->n_keys; k++) {
        hf_vec_release(&e->read[k]);
        hf_free(e->leaves[k]);
    }
    hf_free(e->read);
    hf_free(e->leaves);
    hf_free(e->order);
    hf_free(e->there);
    hf_free(e->seen);
    hf_vec_release(&e->clause);
    hf_formula_release(&e->f);
}

bool hf_program_is_possible(hf_program *p, bool *ret_sure)
{
    encoder e = {.p = p, .per = p->snapshots ? 2 : 1};
    bool possible = false;

    hf_formula_init(&e.f, p->v);
    make_order(&e);
    make_outcomes(&e);
    keep_orders(&e);
    list_read(&e);
    for (uint32_t i = 0; i < p->n && !is_full(&e); i++)
        take_node(&e, i);
    if (hf_out_of_budget(p->v))
        possible = false;
    else if (e.too_large)
        (void)hf_give_up(p->v, HF_ERR_LIMIT,
                         "the core is too large to be decided again");
    else
        possible = hf_formula_is_possible(&e.f);
    *ret_sure = !e.left_out;
    release(&e);
    return possible;
}
