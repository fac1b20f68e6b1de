/* states_build.c: a history as demands and effects of its transactions.
 *
 * Of each transaction that may have happened: what it must find in which keys
 * (reads that have no own write before them), and what it leaves behind.  What
 * it reads of its own is settled here: if that is wrong no order helps.
 *
 * Lists are nodes of a tree, one for every beginning of a list that was read:
 * an append moves a key to a child, or off the tree, where nobody can read it
 * any more.  A history may be restricted to some transactions; lists then lose
 * the elements of the others, so the tree is one of its own and not that of
 * the history's values.  Numbers that only sums lead to are holdings, too; a
 * key whose sums might not fit into 64 bits is not for this search.
 *
 * O(operations + values + elements of lists with elements that several
 * appended), plus sorting by time.
 */
#include "check/states.h"

#include <string.h>

typedef struct builder {
    hf_states *s;
    const hf_history *h;
    uint32_t *n_writes;   /* per value: by anyone */
    uint32_t *n_removed;  /* ... by those that are not kept */
    uint8_t *shared;      /* per key: one who is not kept writes it */
    uint8_t *dropped;     /* per value: a list that is not looked at */
    hf_wide *set, *added; /* per key: the largest number, and what all add */
    /* of the transaction at hand, per key: */
    hf_txn_id *stamp;
    uint32_t *demand_of, *effect_of; /* or HF_NONE */
    bool broken;
} builder;

static hf_value_id written(const hf_history *h, hf_op_id o)
{
    return hf_op_kind_of(h, o) == HF_OP_INCREMENT ? hf_op_increment(h, o).after
                                                  : h->op_value[o];
}

/* ---- keys and writes ----------------------------------------------------- */

#define USE_LIST 1u
#define USE_PLAIN 2u
#define USE_BLIND 4u

static hf_wide size_of(int64_t number)
{
    return number < 0 ? -(hf_wide)number : number;
}

/* How far from 0 the write can lead, whoever happened. */
static void look_at_number(builder *b, hf_op_id o, hf_value_id v)
{
    hf_key_id key = b->h->op_key[o];
    hf_wide size;

    if (v == HF_NONE) {
        b->added[key] += size_of(hf_op_increment(b->h, o).amount);
    } else if (b->h->value_type[v] == HF_INT) {
        size = size_of(b->h->value_data[v]);
        if (size > b->set[key])
            b->set[key] = size;
    }
}

static void look_at_write(builder *b, hf_txn_id t, hf_op_id o, uint8_t *use)
{
    hf_value_id v = written(b->h, o);

    look_at_number(b, o, v);
    b->shared[b->h->op_key[o]] |= !hf_states_keeps(b->s, t);
    use[b->h->op_key[o]] |=
        hf_op_kind_of(b->h, o) == HF_OP_APPEND ? USE_LIST : USE_PLAIN;
    if (v == HF_NONE) {
        use[b->h->op_key[o]] |= USE_BLIND;
        return;
    }
    b->n_writes[v]++;
    b->n_removed[v] += !hf_states_keeps(b->s, t);
    if (b->h->unique_values && b->n_writes[v] > 1 &&
        b->h->value_type[v] != HF_NIL)
        b->s->unfit = "a value was written twice, against the promise of "
                      "unique values";
}

static void look_at_writes(builder *b)
{
    const hf_history *h = b->h;
    hf_states *s = b->s;
    uint8_t *use = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            hf_op_kind kind = hf_op_kind_of(h, o);

            if (hf_op_is_opaque(h, o) || hf_op_has_predicate(kind))
                s->unfit = "it has conditions or SQL statements";
            else if (hf_states_writes(h, o))
                look_at_write(b, t, o, use);
        }
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        if ((use[k] & USE_LIST) && (use[k] & USE_PLAIN))
            s->unfit = "a key has appends and other writes";
        s->kind[k] = use[k] & USE_LIST    ? HF_CELL_LIST
                     : use[k] & USE_BLIND ? HF_CELL_COUNTER
                                          : HF_CELL_REGISTER;
    }
    hf_free(use);
}

/* ---- lists and what was there at first
 * ------------------------------------------------------------ */

/* The list values of the history, shorter ones first, without the elements of
 * those that are not kept.  A list that could end in such a one, or has an
 * element that may be one, is dropped. */
static void add_lists(builder *b)
{
    const hf_history *h = b->h;
    hf_states *s = b->s;
    uint32_t *length = HF_NEW_ZEROED(uint32_t, (size_t)h->n_values + 1);

    for (hf_value_id v = 0; v < h->n_values; v++) {
        hf_key_id k = h->value_key[v];
        hf_value_id up, e,
            initial = h->key_initial ? h->key_initial[k] : HF_NONE;
        hf_holding above;
        uint32_t begun = 0; /* elements of the initial list */

        s->list_of[v] = HF_OFF;
        if (h->value_type[v] != HF_LIST)
            continue;
        up = hf_list_parent(h, v);
        e = hf_list_last(h, v);
        length[v] = up == HF_NONE ? 1 : length[up] + 1;
        if (initial != HF_NONE && h->value_type[initial] == HF_LIST)
            begun = hf_list_items(h, initial, NULL);
        above = up == HF_NONE ? hf_states_nil(s, k) : s->list_of[up];
        /* bit 0: drop it and those that go on; bit 1: it alone */
        b->dropped[v] = up != HF_NONE ? b->dropped[up] & 1u : 0;
        s->list_of[v] = above;
        if (length[v] > begun && b->n_removed[e] > 0) {
            b->dropped[v] |= b->n_writes[e] == 1 ? 2u : 1u;
            continue;
        }
        s->list_of[v] = hf_states_make_child(s, k, above, e);
    }
    hf_free(length);
}

static void add_initial(builder *b)
{
    const hf_history *h = b->h;
    hf_states *s = b->s;

    hf_states_add_numbers(s);
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_value_id v = h->key_initial ? h->key_initial[k] : HF_NONE;

        if (v != HF_NONE && h->value_type[v] == HF_LIST)
            s->initial[k] = s->list_of[v];
        else
            s->initial[k] = hf_states_plain(s, k, v);
        if (s->kind[k] != HF_CELL_COUNTER)
            continue;
        if (!hf_states_number_in(s, s->initial[k], &s->initial_number[k]))
            s->unfit = "something that is no number was incremented";
        else if (b->added[k] + b->set[k] > INT64_MAX ||
                 b->added[k] + size_of(s->initial_number[k]) > INT64_MAX)
            s->unfit = "numbers are too large to be added";
    }
}

/* ---- one transaction ----------------------------------------------------- */

static void begin_key(builder *b, hf_txn_id t, hf_key_id k)
{
    if (b->stamp[k] == t)
        return;
    b->stamp[k] = t;
    b->demand_of[k] = b->effect_of[k] = HF_NONE;
}

/* `own`: what own increments were added to. */
static void demand(builder *b, hf_key_id k, hf_holding wanted, bool own)
{
    hf_states *s = b->s;

    if (b->demand_of[k] == HF_NONE || s->past) {
        b->demand_of[k] = (uint32_t)s->demands.n;
        hf_vec_push(&s->demands, (hf_demand){k, wanted, s->past && !own});
    } else if (s->demands.at[b->demand_of[k]].wanted != wanted) {
        b->broken = true;
    }
}

static hf_effect *effect_on(builder *b, hf_key_id k, hf_effect_kind kind)
{
    hf_states *s = b->s;

    if (b->effect_of[k] == HF_NONE) {
        b->effect_of[k] = (uint32_t)s->effects.n;
        hf_vec_push(&s->effects, (hf_effect){.cell = k,
                                             .kind = kind,
                                             .first = (uint32_t)s->elements.n});
    }
    return &s->effects.at[b->effect_of[k]];
}

/* A list that ends with the own elements: what was there before them. */
static void read_own_list(builder *b, hf_key_id k, hf_holding list)
{
    const hf_states *s = b->s;
    const hf_effect *e = &s->effects.at[b->effect_of[k]];

    for (uint32_t i = e->n; i-- > 0;) {
        hf_holding up =
            list >= s->first_more ? s->parent.at[list - s->first_more] : HF_OFF;

        if (up == HF_OFF ||
            hf_states_child(s, up, s->elements.at[e->first + i]) != list) {
            b->broken = true;
            return;
        }
        list = up;
    }
    demand(b, k, list, true);
}

static void read_list(builder *b, hf_key_id k, hf_value_id v)
{
    hf_holding list = hf_states_nil(b->s, k);

    if (b->h->value_type[v] == HF_LIST) {
        if (b->dropped[v])
            return;
        list = b->s->list_of[v];
    } else if (b->h->value_type[v] != HF_NIL) {
        b->broken = true;
        return;
    }
    if (b->effect_of[k] == HF_NONE)
        demand(b, k, list, false);
    else
        read_own_list(b, k, list);
}

/* After own increments: the number that was there before them. */
static void read_own_sum(builder *b, hf_key_id k, hf_holding v, int64_t added)
{
    int64_t number;

    if (!hf_states_number_in(b->s, v, &number) ||
        __builtin_sub_overflow(number, added, &number))
        b->broken = true;
    else
        demand(b, k, hf_states_make_number(b->s, k, number), true);
}

static void read_value(builder *b, hf_op_id o, hf_value_id v)
{
    hf_states *s = b->s;
    hf_key_id k = b->h->op_key[o];
    const hf_effect *e;

    if (v == HF_NONE)
        return;
    if (s->kind[k] == HF_CELL_LIST) {
        read_list(b, k, v);
        return;
    }
    if (s->kind[k] == HF_CELL_COUNTER ? b->shared[k] : b->n_removed[v] > 0)
        return;
    if (b->h->value_type[v] == HF_LIST && s->initial[k] != s->list_of[v]) {
        b->broken = true;
        return;
    }
    if (b->effect_of[k] == HF_NONE) {
        demand(b, k,
               b->h->value_type[v] == HF_LIST ? s->list_of[v]
                                              : hf_states_plain(s, k, v),
               false);
        return;
    }
    e = &s->effects.at[b->effect_of[k]];
    if (e->kind == HF_EFFECT_ADD)
        read_own_sum(b, k, hf_states_plain(s, k, v), e->number);
    else if (e->set != hf_states_plain(s, k, v))
        b->broken = true;
}

static void set_value(builder *b, hf_key_id k, hf_holding v)
{
    hf_states *s = b->s;
    hf_effect *e = effect_on(b, k, HF_EFFECT_SET);

    e->kind = HF_EFFECT_SET;
    e->set = v;
    if (s->kind[k] == HF_CELL_COUNTER && !hf_states_number_in(s, v, &e->number))
        s->unfit = "something that is no number was incremented";
}

static void add_to(builder *b, hf_key_id k, int64_t amount)
{
    hf_states *s = b->s;
    hf_effect *e = effect_on(b, k, HF_EFFECT_ADD);

    if (__builtin_add_overflow(e->number, amount, &e->number))
        s->unfit = "numbers are too large to be added";
    if (e->kind == HF_EFFECT_SET)
        e->set = hf_states_make_number(s, k, e->number);
}

static void increment(builder *b, hf_op_id o)
{
    const hf_history *h = b->h;
    hf_increment inc = hf_op_increment(h, o);
    int64_t sum;

    if (!inc.has_result) {
        add_to(b, h->op_key[o], inc.amount);
        return;
    }
    if (h->value_type[inc.before] == HF_INT &&
        h->value_type[inc.after] == HF_INT &&
        (__builtin_add_overflow(h->value_data[inc.before], inc.amount, &sum) ||
         sum != h->value_data[inc.after]))
        b->broken = true;
    read_value(b, o, inc.before);
    set_value(b, h->op_key[o], hf_states_plain(b->s, h->op_key[o], inc.after));
}

static void append_to(builder *b, hf_op_id o)
{
    hf_states *s = b->s;
    hf_key_id k = b->h->op_key[o];
    hf_effect *e = effect_on(b, k, HF_EFFECT_APPEND);
    uint32_t at = e->first + e->n;

    /* own elements of one key stand together */
    hf_vec_push(&s->elements, b->h->op_value[o]);
    memmove(s->elements.at + at + 1, s->elements.at + at,
            (s->elements.n - 1 - at) * sizeof(*s->elements.at));
    s->elements.at[at] = b->h->op_value[o];
    e->n++;
    for (hf_effect *f = e + 1; f < s->effects.at + s->effects.n; f++)
        f->first++;
}

static void take_op(builder *b, hf_txn_id t, hf_op_id o)
{
    const hf_history *h = b->h;
    hf_op_kind kind = hf_op_kind_of(h, o);

    if ((h->op_kind[o] & HF_OP_FAILED) || h->op_key[o] == HF_NONE)
        return;
    begin_key(b, t, h->op_key[o]);
    if (hf_op_reads_item(kind))
        read_value(b, o, h->op_value[o]);
    else if (kind == HF_OP_INCREMENT)
        increment(b, o);
    else if (kind == HF_OP_APPEND)
        append_to(b, o);
    else if (hf_op_installs(kind))
        set_value(b, h->op_key[o],
                  hf_states_plain(b->s, h->op_key[o], h->op_value[o]));
}

/* Leaves out what writes again what it found there. */
static void drop_still_effects(builder *b, uint32_t first)
{
    hf_states *s = b->s;
    size_t n = first;

    for (size_t i = first; i < s->effects.n; i++) {
        hf_effect e = s->effects.at[i];
        uint32_t d = b->demand_of[e.cell];

        e.reads = d != HF_NONE;
        if ((e.kind == HF_EFFECT_SET && e.reads &&
             s->demands.at[d].wanted == e.set && !s->snapshots && !s->past) ||
            (e.kind == HF_EFFECT_ADD && e.number == 0 && !s->snapshots))
            continue;
        s->effects.at[n++] = e;
    }
    s->effects.n = n;
}

static void take_node(builder *b, hf_txn_id t)
{
    const hf_history *h = b->h;
    hf_states *s = b->s;
    size_t demands = s->demands.n, effects = s->effects.n;
    bool maybe = h->txn_outcome[t] == HF_UNKNOWN_OUTCOME;

    b->broken = false;
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        take_op(b, t, o);
    drop_still_effects(b, (uint32_t)effects);
    /* of unknown outcome: it may as well not have happened */
    if (maybe && (b->broken || s->effects.n == effects)) {
        s->demands.n = demands;
        s->effects.n = effects;
        return;
    }
    s->broken[s->n] = b->broken;
    s->maybe[s->n] = maybe;
    s->n_sure += !maybe;
    s->txn[s->n++] = t;
    s->demand_first[s->n] = (uint32_t)s->demands.n;
    s->effect_first[s->n] = (uint32_t)s->effects.n;
}

/* ---- all ----------------------------------------------------------------- */

static void get_nodes(hf_states *s, size_t n)
{
    s->txn = HF_NEW_ARRAY(hf_txn_id, n + 1);
    s->maybe = HF_NEW_ZEROED(uint8_t, n + 1);
    s->broken = HF_NEW_ZEROED(uint8_t, n + 1);
    s->demand_first = HF_NEW_ZEROED(uint32_t, n + 1);
    s->effect_first = HF_NEW_ZEROED(uint32_t, n + 1);
    s->part_first = HF_NEW_ZEROED(uint32_t, n + 2);
    s->part_sure_first = HF_NEW_ZEROED(uint32_t, n + 2);
}

static void take_nodes(builder *b)
{
    hf_states *s = b->s;
    uint32_t n;
    hf_sortable *all = hf_states_in_parts(s, &n);

    get_nodes(s, n);
    for (uint32_t i = 0; i < n && !s->unfit; i++) {
        if (i == 0 || all[i].key != all[i - 1].key)
            s->n_parts++;
        take_node(b, (hf_txn_id)all[i].value);
        s->part_first[s->n_parts] = s->n;
        s->part_sure_first[s->n_parts] = s->n_sure;
    }
    hf_free(all);
    s->begin = HF_NEW_ZEROED(uint64_t, (size_t)s->n + 1);
    s->end = HF_NEW_ZEROED(uint64_t, (size_t)s->n + 1);
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t begin = hf_txn_begin_time(s->h, s->txn[i]);
        uint64_t end = hf_txn_end_time(s->h, s->txn[i]);

        s->begin[i] = begin == HF_TIME_NONE ? 0 : begin;
        s->end[i] = end == HF_TIME_NONE || s->maybe[i] ? UINT64_MAX : end;
    }
}

/* Those who want to find it now, or have found it before. */
static void link_wants(hf_states *s, bool before, uint32_t **ret_first,
                       uint32_t **ret)
{
    uint32_t *first = HF_NEW_ZEROED(uint32_t, (size_t)s->n_holdings + 3);

    *ret = HF_NEW_ARRAY(uint32_t, s->demands.n + 1);
    for (size_t i = 0; i < s->demands.n; i++)
        first[s->demands.at[i].wanted + 2] += s->demands.at[i].before == before;
    for (uint32_t i = 0; i <= s->n_holdings; i++)
        first[i + 1] += first[i];
    for (uint32_t t = 0; t < s->n; t++)
        for (uint32_t d = s->demand_first[t]; d < s->demand_first[t + 1]; d++)
            if (s->demands.at[d].before == before)
                (*ret)[first[s->demands.at[d].wanted + 1]++] = t;
    *ret_first = first;
}

/* All lists of a key that those who certainly happened read lead to the
 * longest of them. */
static void find_paths(hf_states *s)
{
    hf_holding *longest = HF_NEW_ARRAY(hf_holding, (size_t)s->h->n_keys + 1);
    uint32_t *depth =
        HF_NEW_ZEROED(uint32_t, (size_t)s->n_holdings - s->first_more + 1);

    s->on_path = HF_NEW_ZEROED(uint8_t, (size_t)s->n_holdings + 1);
    memset(longest, 0xff, ((size_t)s->h->n_keys + 1) * sizeof(*longest));
    for (uint32_t i = s->first_more; i < s->n_holdings; i++) {
        hf_holding up = s->parent.at[i - s->first_more];

        depth[i - s->first_more] = up >= s->first_more && up != HF_OFF
                                       ? depth[up - s->first_more] + 1
                                       : 1;
    }
    for (uint32_t t = 0; t < s->n; t++)
        for (uint32_t d = s->demand_first[t];
             !s->maybe[t] && d < s->demand_first[t + 1]; d++) {
            hf_holding w = s->demands.at[d].wanted;
            hf_holding *best = &longest[s->demands.at[d].cell];

            if (s->kind[s->demands.at[d].cell] == HF_CELL_LIST &&
                w >= s->first_more &&
                (*best == HF_NONE ||
                 depth[w - s->first_more] > depth[*best - s->first_more]))
                *best = w;
        }
    for (hf_key_id k = 0; k < s->h->n_keys; k++) {
        hf_holding w = longest[k];

        while (w != HF_NONE && w >= s->first_more && w != HF_OFF) {
            s->on_path[w] = 1;
            w = s->parent.at[w - s->first_more];
        }
        s->on_path[hf_states_nil(s, k)] = 1;
    }
    hf_free(longest);
    hf_free(depth);
}

void hf_states_build(hf_states *s, const hf_history *h, hf_states_form form,
                     const uint8_t *kept)
{
    size_t values = (size_t)h->n_values + 1, keys = (size_t)h->n_keys + 1;
    builder b = {.s = s, .h = h};

    *s = (hf_states){.h = h,
                     .kept = kept,
                     .sessions = form.sessions,
                     .times = form.times,
                     .snapshots = form.snapshots,
                     .past = form.past,
                     .partial = form.partial};
    s->first_more = s->n_holdings = h->n_values + h->n_keys;
    hf_map_init(&s->children);
    hf_map_init(&s->numbers);
    s->kind = HF_NEW_ZEROED(uint8_t, keys);
    s->initial = HF_NEW_ARRAY(hf_holding, keys);
    s->initial_number = HF_NEW_ZEROED(int64_t, keys);
    s->list_of = HF_NEW_ARRAY(hf_holding, values);
    b.n_writes = HF_NEW_ZEROED(uint32_t, values);
    b.n_removed = HF_NEW_ZEROED(uint32_t, values);
    b.shared = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    b.dropped = HF_NEW_ZEROED(uint8_t, values);
    b.set = HF_NEW_ZEROED(hf_wide, keys);
    b.added = HF_NEW_ZEROED(hf_wide, keys);
    b.stamp = HF_NEW_ARRAY(hf_txn_id, keys);
    memset(b.stamp, 0xff, keys * sizeof(*b.stamp));
    b.demand_of = HF_NEW_ARRAY(uint32_t, keys);
    b.effect_of = HF_NEW_ARRAY(uint32_t, keys);
    look_at_writes(&b);
    add_lists(&b);
    add_initial(&b);
    take_nodes(&b);
    link_wants(s, false, &s->want_first, &s->want);
    if (s->past)
        link_wants(s, true, &s->past_first, &s->past_want);
    find_paths(s);
    hf_states_add_orders(s);
    hf_states_shorten(s);
    hf_free(b.n_writes);
    hf_free(b.n_removed);
    hf_free(b.shared);
    hf_free(b.dropped);
    hf_free(b.set);
    hf_free(b.added);
    hf_free(b.stamp);
    hf_free(b.demand_of);
    hf_free(b.effect_of);
}

void hf_states_release(hf_states *s)
{
    hf_free(s->txn);
    hf_free(s->maybe);
    hf_free(s->broken);
    hf_free(s->part_first);
    hf_free(s->part_sure_first);
    hf_free(s->demand_first);
    hf_free(s->effect_first);
    hf_vec_release(&s->demands);
    hf_vec_release(&s->effects);
    hf_vec_release(&s->elements);
    hf_free(s->begin);
    hf_free(s->end);
    hf_free(s->kind);
    hf_free(s->initial);
    hf_free(s->initial_number);
    hf_map_release(&s->children);
    hf_map_release(&s->numbers);
    hf_vec_release(&s->parent);
    hf_vec_release(&s->number);
    hf_vec_release(&s->owner);
    hf_free(s->list_of);
    hf_free(s->on_path);
    hf_free(s->want_first);
    hf_free(s->want);
    hf_free(s->past_first);
    hf_free(s->past_want);
    hf_free(s->out_first);
    hf_free(s->out);
    hf_free(s->kill_first);
    hf_free(s->kill);
    hf_free(s->waits);
    hf_free(s->by_end);
    hf_free(s->twin);
    hf_vec_release(&s->sums);
}
