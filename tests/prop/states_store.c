/* states_store.c: see states_store.h. */
#include "states_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"

typedef enum kind { REGISTER, LIST, COUNTER } kind;

typedef struct version {
    unsigned at;    /* after so many commits */
    int64_t number; /* lists: their length */
} version;

typedef HF_VEC(int64_t) numbers;

typedef struct cell {
    kind kind;
    HF_VEC(version) versions;
    numbers elements;
} cell;

typedef struct op {
    hf_op_kind kind;
    unsigned key;
    int64_t number;
    bool has_result;
    int64_t before;
    numbers list;
} op;

typedef struct txn {
    unsigned session;
    hf_outcome outcome;
    uint64_t begin, end;
    HF_VEC(op) ops;
} txn;

typedef struct store {
    const states_taste *taste;
    hf_rng *r;
    cell *cells;
    numbers *initial;
    txn *txns;
    unsigned n_txns, n_commits;
} store;

#define NIL (-1)

static int64_t at(const store *s, unsigned key, unsigned when)
{
    const cell *c = &s->cells[key];
    size_t i = c->versions.n;

    while (c->versions.at[i - 1].at > when)
        i--;
    return c->versions.at[i - 1].number;
}

static bool changed_since(const store *s, unsigned key, unsigned when)
{
    const cell *c = &s->cells[key];

    return c->versions.at[c->versions.n - 1].at > when;
}

static void init_cell(store *s, unsigned key)
{
    const states_taste *t = s->taste;
    cell *c = &s->cells[key];
    unsigned pick = hf_rng_below(s->r, 100);
    int64_t number = NIL;

    c->kind = pick < t->lists                 ? LIST
              : pick < t->lists + t->counters ? COUNTER
                                              : REGISTER;
    if (c->kind == LIST)
        number = 0;
    if (hf_rng_chance(s->r, t->initial)) {
        if (c->kind == LIST) {
            number = 1 + hf_rng_below(s->r, 2);
            for (int64_t i = 0; i < number; i++)
                hf_vec_push(&c->elements, 100 + i);
        } else {
            number = hf_rng_below(s->r, t->values);
        }
    }
    hf_vec_push(&c->versions, (version){0, number});
}

/* What the transaction itself did to the key: its last value, or how much it
 * added; false: nothing. */
static bool own_effect(const txn *x, unsigned key, int64_t *value, bool *adds)
{
    bool any = false;

    *value = 0;
    *adds = false;
    for (size_t i = 0; i < x->ops.n; i++) {
        const op *o = &x->ops.at[i];

        if (o->key != key || !hf_op_installs(o->kind))
            continue;
        if (o->kind == HF_OP_INCREMENT && !o->has_result) {
            *adds |= !any;
            *value += o->number;
        } else if (o->kind == HF_OP_INCREMENT) {
            *adds = false;
            *value = (o->before == NIL ? 0 : o->before) + o->number;
        } else {
            *adds = false;
            *value = o->number;
        }
        any = true;
    }
    return any;
}

static void add_own_elements(const txn *x, unsigned key, numbers *list)
{
    for (size_t i = 0; i < x->ops.n; i++)
        if (x->ops.at[i].key == key && x->ops.at[i].kind == HF_OP_APPEND)
            hf_vec_push(list, x->ops.at[i].number);
}

static op read_key(const store *s, const txn *x, unsigned key, unsigned when)
{
    op o = {.kind = HF_OP_READ, .key = key, .number = at(s, key, when)};
    const cell *c = &s->cells[key];
    int64_t own;
    bool adds, any = own_effect(x, key, &own, &adds);

    if (c->kind == LIST) {
        o.kind = HF_OP_READ_LIST;
        for (int64_t i = 0; i < o.number; i++)
            hf_vec_push(&o.list, c->elements.at[i]);
        add_own_elements(x, key, &o.list);
    } else if (any && adds) {
        o.number = (o.number == NIL ? 0 : o.number) + own;
    } else if (any) {
        o.number = own;
    }
    return o;
}

static bool has(const numbers *list, int64_t number)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i] == number)
            return true;
    return false;
}

/* An element that is not in the list, if one is left. */
static int64_t new_element(store *s, const txn *x, unsigned key)
{
    numbers list = {0};
    int64_t e = 0;

    for (size_t i = 0; i < s->cells[key].elements.n; i++)
        hf_vec_push(&list, s->cells[key].elements.at[i]);
    add_own_elements(x, key, &list);
    for (unsigned tries = 0; tries < 50; tries++) {
        e = 1 + hf_rng_below(s->r, s->taste->values);
        if (!has(&list, e) || hf_rng_chance(s->r, s->taste->twice))
            break;
        e = 1000 + (int64_t)hf_rng_below(s->r, 1000000);
    }
    hf_vec_release(&list);
    return e;
}

static op write_key(store *s, const txn *x, unsigned key, unsigned when)
{
    const cell *c = &s->cells[key];
    unsigned sets = s->taste->sets ? s->taste->sets : 20;
    op o = {.kind = HF_OP_WRITE, .key = key};

    if (c->kind == LIST) {
        o.kind = HF_OP_APPEND;
        o.number = new_element(s, x, key);
    } else if (c->kind == COUNTER && hf_rng_chance(s->r, 100 - sets)) {
        o.kind = HF_OP_INCREMENT;
        o.number = 1 + hf_rng_below(s->r, 2);
        o.before = read_key(s, x, key, when).number;
        o.has_result =
            s->taste->results && hf_rng_chance(s->r, s->taste->results);
    } else {
        o.number = hf_rng_below(s->r, s->taste->values);
    }
    return o;
}

static void install(store *s, const txn *x)
{
    s->n_commits++;
    for (unsigned k = 0; k < s->taste->keys; k++) {
        cell *c = &s->cells[k];
        int64_t own, now = c->versions.at[c->versions.n - 1].number;
        bool adds;

        if (!own_effect(x, k, &own, &adds))
            continue;
        if (c->kind == LIST) {
            add_own_elements(x, k, &c->elements);
            own = (int64_t)c->elements.n;
        } else if (adds) {
            own += now == NIL ? 0 : now;
        }
        hf_vec_push(&c->versions, (version){s->n_commits, own});
    }
}

static void run_txn(store *s, txn *x)
{
    const states_taste *t = s->taste;
    unsigned lag = t->lag ? hf_rng_below(s->r, t->lag + 1) : 0;
    unsigned when = lag > s->n_commits ? 0 : s->n_commits - lag;
    unsigned n = 1 + hf_rng_below(s->r, t->ops);
    bool stale = false, lost;

    x->session = hf_rng_below(s->r, t->sessions);
    for (unsigned i = 0; i < n; i++) {
        unsigned key = hf_rng_below(s->r, t->keys);
        op o = hf_rng_chance(s->r, 55) ? read_key(s, x, key, when)
                                       : write_key(s, x, key, when);

        stale |= hf_op_installs(o.kind) && changed_since(s, key, when);
        hf_vec_push(&x->ops, o);
    }
    lost = (stale && t->conflicts) || hf_rng_chance(s->r, t->aborted);
    x->outcome = lost ? HF_ABORTED : HF_COMMITTED;
    if (hf_rng_chance(s->r, t->unknown))
        x->outcome = HF_UNKNOWN_OUTCOME;
    if (x->outcome == HF_COMMITTED ||
        (x->outcome == HF_UNKNOWN_OUTCOME && !lost && hf_rng_chance(s->r, 50)))
        install(s, x);
}

/* One read returns something else. */
static void change_one(store *s)
{
    for (unsigned tries = 0; tries < 20; tries++) {
        txn *x = &s->txns[hf_rng_below(s->r, s->n_txns)];
        op *o;

        if (x->ops.n == 0)
            continue;
        o = &x->ops.at[hf_rng_below(s->r, (uint32_t)x->ops.n)];
        if (o->kind == HF_OP_READ && s->taste->shift &&
            s->cells[o->key].kind == COUNTER) {
            o->number += (hf_rng_chance(s->r, 50) ? 1 : -1) *
                         (int64_t)(1 + hf_rng_below(s->r, 2));
            return;
        }
        if (o->kind == HF_OP_READ && !s->taste->shift) {
            o->number = hf_rng_below(s->r, s->taste->values);
            return;
        }
        if (o->kind == HF_OP_READ_LIST && o->list.n > 0) {
            o->list.n--;
            return;
        }
    }
}

/* Everything was over when it began, and it reads what was there before. */
static void add_stale_reader(store *s, uint64_t now)
{
    txn *x = &s->txns[s->n_txns++];

    x->session = s->taste->sessions;
    x->outcome = HF_COMMITTED;
    x->begin = now;
    x->end = now + 1;
    for (unsigned k = 0; k < s->taste->keys; k++)
        if (s->cells[k].kind == LIST && s->cells[k].elements.n > 1) {
            op o = read_key(s, x, k, s->n_commits);

            o.list.n--;
            hf_vec_push(&x->ops, o);
            return;
        }
}

static hf_value_id list_value(hf_builder *b, hf_key_id key, const numbers *list)
{
    hf_value_id v = HF_NONE;

    for (size_t i = 0; i < list->n; i++)
        v = hf_builder_list_int(b, key, v, list->at[i]);
    return v == HF_NONE ? hf_builder_nil(b, key) : v;
}

static hf_value_id plain_value(hf_builder *b, hf_key_id key, int64_t number)
{
    return number == NIL ? hf_builder_nil(b, key)
                         : hf_builder_int(b, key, number);
}

static void build_txn(const store *s, hf_builder *b, const txn *x)
{
    hf_txn_id t = hf_builder_txn(b, hf_builder_session_number(b, x->session));

    for (size_t i = 0; i < x->ops.n; i++) {
        const op *o = &x->ops.at[i];
        hf_key_id key = hf_builder_key_int(b, o->key);

        if (o->kind == HF_OP_INCREMENT && o->has_result)
            hf_builder_increment(
                b, t, key, o->number, plain_value(b, key, o->before),
                plain_value(b, key,
                            (o->before == NIL ? 0 : o->before) + o->number));
        else if (o->kind == HF_OP_INCREMENT)
            hf_builder_increment(b, t, key, o->number, HF_NONE, HF_NONE);
        else
            hf_builder_op(b, t, o->kind, key,
                          o->kind == HF_OP_READ_LIST
                              ? list_value(b, key, &o->list)
                              : plain_value(b, key, o->number));
    }
    hf_builder_outcome(b, t, x->outcome);
    if (s->taste->times)
        hf_builder_times(b, t, x->begin, x->end);
}

static bool writes(const txn *x, unsigned key)
{
    for (size_t i = 0; i < x->ops.n; i++)
        if (x->ops.at[i].key == key && hf_op_installs(x->ops.at[i].kind))
            return x->outcome != HF_ABORTED;
    return false;
}

/* Whoever may have written the key, but for some; two may change places. */
static void build_order(const store *s, hf_builder *b, unsigned key)
{
    HF_VEC(uint32_t) order = {0};

    for (uint32_t i = 0; i < s->n_txns; i++)
        if (writes(&s->txns[i], key) && hf_rng_chance(s->r, 85))
            hf_vec_push(&order, i);
    if (order.n > 1 && hf_rng_chance(s->r, 40)) {
        size_t i = hf_rng_below(s->r, (uint32_t)order.n - 1);
        uint32_t first = order.at[i];

        order.at[i] = order.at[i + 1];
        order.at[i + 1] = first;
    }
    for (size_t i = 0; i < order.n; i++)
        hf_builder_order(b, hf_builder_key_int(b, key), order.at[i]);
    hf_vec_release(&order);
}

static hf_history *build(const store *s)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    for (unsigned k = 0; k < s->taste->keys; k++) {
        hf_key_id key = hf_builder_key_int(b, k);
        const cell *c = &s->cells[k];
        numbers first = {c->elements.at, (size_t)c->versions.at[0].number, 0};

        if (c->kind == LIST ? first.n > 0 : c->versions.at[0].number != NIL)
            hf_builder_initial(
                b, key,
                c->kind == LIST
                    ? list_value(b, key, &first)
                    : plain_value(b, key, c->versions.at[0].number));
    }
    for (unsigned i = 0; i < s->n_txns; i++)
        build_txn(s, b, &s->txns[i]);
    for (unsigned k = 0; k < s->taste->keys && s->taste->orders; k++)
        if (s->cells[k].kind != LIST && hf_rng_chance(s->r, s->taste->orders))
            build_order(s, b, k);
    hf_builder_partial_orders(b, s->taste->orders > 0);
    hf_builder_time_unit(b, HF_TIME_UNIT_EVENT);
    if (hf_builder_finish(b, &h, &err) != HF_OK) {
        printf("not built: %s\n", err.text);
        exit(2);
    }
    return h;
}

/* They have nothing to do with the others. */
static void add_more(store *s)
{
    for (unsigned i = 0; i < s->taste->more; i++) {
        txn *x = &s->txns[s->n_txns++];

        x->session = s->taste->sessions + 1 + i;
        x->outcome = HF_COMMITTED;
        x->begin = 1;
        x->end = UINT32_MAX;
        hf_vec_push(&x->ops, ((op){.kind = HF_OP_WRITE,
                                   .key = s->taste->keys + i,
                                   .number = 1}));
    }
}

static void release(store *s)
{
    for (unsigned i = 0; i < s->n_txns; i++) {
        for (size_t j = 0; j < s->txns[i].ops.n; j++)
            hf_vec_release(&s->txns[i].ops.at[j].list);
        hf_vec_release(&s->txns[i].ops);
    }
    for (unsigned k = 0; k < s->taste->keys; k++) {
        hf_vec_release(&s->cells[k].versions);
        hf_vec_release(&s->cells[k].elements);
    }
    hf_free(s->txns);
    hf_free(s->cells);
}

hf_history *states_history(const states_taste *taste, hf_rng *r)
{
    store s = {.taste = taste, .r = r, .n_txns = taste->txns};
    hf_history *h;

    s.cells = HF_NEW_ZEROED(cell, taste->keys);
    s.txns = HF_NEW_ZEROED(txn, taste->txns + 1 + taste->more);
    for (unsigned k = 0; k < taste->keys; k++)
        init_cell(&s, k);
    for (unsigned i = 0; i < taste->txns; i++) {
        uint64_t now = 10 * ((uint64_t)i + 1 + taste->overlap);

        run_txn(&s, &s.txns[i]);
        s.txns[i].begin = now - hf_rng_below(r, 10 * taste->overlap + 5);
        s.txns[i].end = now + hf_rng_below(r, 10 * taste->overlap + 5);
    }
    if (hf_rng_chance(r, taste->change))
        change_one(&s);
    if (taste->stale_reader)
        add_stale_reader(
            &s, 10 * ((uint64_t)taste->txns + 3 * taste->overlap + 10));
    add_more(&s);
    h = build(&s);
    release(&s);
    return h;
}
