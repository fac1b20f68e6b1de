/* part.c: see part.h.
 *
 * A part is built like any other history, so what reads it needs no word
 * about what was left out, and costs what the part costs, however large the
 * whole is.
 */
#include "history/part.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "history/part_cut.h"
#include "base/ratio.h"

bool hf_part_writes(const hf_history *h, hf_op_id op, hf_value_id *ret)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (!hf_op_installs(kind) || (hf_op_flags_of(h, op) & HF_OP_FAILED))
        return false;
    *ret = kind == HF_OP_INCREMENT ? hf_op_increment(h, op).after
                                   : h->op_value[op];
    return true;
}

hf_value_id hf_part_read(const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (hf_op_flags_of(h, op) & HF_OP_FAILED)
        return HF_NONE;
    if (kind == HF_OP_INCREMENT)
        return hf_op_increment(h, op).before;
    return hf_op_reads_item(kind) ? h->op_value[op] : HF_NONE;
}

/* ---- the whole ----------------------------------------------------------- */

static bool can_be_cut(const hf_history *h)
{
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_is_opaque(h, op))
            return false;
    return true;
}

/* Who writes each key, of any outcome; perhaps more than once. */
static void list_keys(hf_parts *p)
{
    const hf_history *h = p->whole;
    hf_value_id v;

    p->key_first = HF_NEW_ZEROED(uint32_t, (size_t)h->n_keys + 3);
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_part_writes(h, op, &v))
            p->key_first[h->op_key[op] + 2]++;
    for (hf_key_id k = 0; k <= h->n_keys; k++)
        p->key_first[k + 1] += p->key_first[k];
    p->key_writers =
        HF_NEW_ARRAY(hf_txn_id, (size_t)p->key_first[h->n_keys + 1] + 1);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            if (hf_part_writes(h, op, &v))
                p->key_writers[p->key_first[h->op_key[op] + 1]++] = t;
}

static void list_writers(hf_parts *p)
{
    const hf_history *h = p->whole;
    hf_value_id v = HF_NONE;

    for (hf_op_id op = 0; op < h->n_ops; op++) {
        if (!hf_part_writes(h, op, &v))
            continue;
        if (v == HF_NONE)
            p->blind[h->op_key[op]] = p->has_blind = 1;
        else
            p->write_first[v + 2]++;
        if (hf_op_kind_of(h, op) == HF_OP_APPEND)
            p->lists[h->op_key[op]] = 1;
    }
    for (hf_value_id i = 0; i <= h->n_values; i++)
        p->write_first[i + 1] += p->write_first[i];
    p->writers =
        HF_NEW_ARRAY(hf_txn_id, (size_t)p->write_first[h->n_values + 1] + 1);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            if (hf_part_writes(h, op, &v) && v != HF_NONE)
                p->writers[p->write_first[v + 1]++] = t;
}

bool hf_parts_init(hf_parts *p, const hf_history *h)
{
    *p = (hf_parts){.whole = h};
    if (!can_be_cut(h))
        return false;
    hf_parts_list(p, h);
    return true;
}

void hf_parts_list(hf_parts *p, const hf_history *h)
{
    *p = (hf_parts){.whole = h};
    p->write_first = HF_NEW_ZEROED(uint32_t, (size_t)h->n_values + 3);
    p->blind = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    p->lists = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    p->kept = HF_NEW_ZEROED(uint8_t, (size_t)h->n_txns + 1);
    list_writers(p);
    if (hf_has_predicates(h) || p->has_blind)
        list_keys(p);
    if (hf_has_predicates(h)) {
        p->snapshots = hf_snapshots_new(h);
        p->known = HF_NEW_ZEROED(uint8_t, (size_t)h->n_ops + 1);
    }
}

void hf_parts_release(hf_parts *p)
{
    hf_free(p->write_first);
    hf_free(p->writers);
    hf_free(p->blind);
    hf_free(p->lists);
    hf_free(p->kept);
    hf_free(p->key_first);
    hf_free(p->key_writers);
    hf_snapshots_free(p->snapshots);
    hf_free(p->known);
}

/* ---- a part -------------------------------------------------------------- */

uint32_t hf_cut_find(const uint32_t *at, uint32_t n, uint32_t wanted)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (at[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && at[low] == wanted ? low : HF_NONE;
}

bool hf_cut_is_outside(const hf_cut *c, hf_value_id v)
{
    for (uint32_t i = c->p->write_first[v]; i < c->p->write_first[v + 1]; i++)
        if (!c->p->kept[c->p->writers[i]])
            return true;
    return false;
}

bool hf_cut_is_shared(const hf_cut *c, hf_key_id key)
{
    for (uint32_t i = c->p->key_first[key]; i < c->p->key_first[key + 1]; i++)
        if (!c->p->kept[c->p->key_writers[i]])
            return true;
    return false;
}

/* Do several transactions write it? */
static bool is_of_several(const hf_cut *c, hf_value_id v)
{
    uint32_t first = c->p->write_first[v];

    for (uint32_t i = first + 1; i < c->p->write_first[v + 1]; i++)
        if (c->p->writers[i] != c->p->writers[first])
            return true;
    return false;
}

static int by_id(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static hf_key_id add_key(hf_cut *c, hf_key_id key)
{
    const hf_history *h = c->h;
    hf_scalar s = hf_key_scalar(h, key);
    hf_str table;

    if (h->key_table && h->key_table[key] != HF_NONE) {
        table = hf_string(h, h->key_table[key]);
        return hf_builder_key_row(
            c->b, hf_builder_string(c->b, table.ptr, table.len), s);
    }
    return s.type == HF_INT ? hf_builder_key_int(c->b, s.number)
                            : hf_builder_key_text(c->b, s.text, s.length);
}

hf_value_id hf_cut_add_value(hf_cut *c, hf_key_id key, hf_value_id v)
{
    hf_value_id list = HF_NONE, *items;
    uint32_t n;

    if (v == HF_NONE)
        return HF_NONE;
    if (c->h->value_type[v] != HF_LIST)
        return hf_builder_value(c->b, key, hf_value_scalar(c->h, v));
    n = hf_list_items(c->h, v, NULL);
    items = HF_NEW_ARRAY(hf_value_id, (size_t)n + 1);
    (void)hf_list_items(c->h, v, items);
    for (uint32_t i = 0; i < n; i++)
        list = hf_builder_list(
            c->b, key, list,
            hf_builder_value(c->b, key, hf_value_scalar(c->h, items[i])));
    hf_free(items);
    return list;
}

/* What is left of a list; HF_NONE: nothing. */
static hf_value_id cut_list(hf_cut *c, hf_key_id key, hf_value_id v)
{
    uint32_t n = hf_list_items(c->h, v, NULL);
    hf_value_id *items = HF_NEW_ARRAY(hf_value_id, (size_t)n + 1);
    hf_value_id list = HF_NONE;
    bool whole = true; /* as far as it says anything */

    (void)hf_list_items(c->h, v, items);
    for (uint32_t i = 0; i < n && whole; i++) {
        if (!hf_cut_is_outside(c, items[i]))
            list = hf_builder_list(c->b, key, list,
                                   hf_cut_add_value(c, key, items[i]));
        else if (i + 1 == n || is_of_several(c, items[i]))
            whole = false;
    }
    hf_free(items);
    return whole ? list : HF_NONE;
}

/* What is left of what was read; HF_NONE: nothing. */
static hf_value_id cut_value(hf_cut *c, hf_key_id own, hf_key_id key,
                             hf_value_id v)
{
    bool list = c->h->value_type[v] == HF_LIST;

    if (c->p->blind[key])
        return c->p->lists[key] || hf_cut_is_shared(c, key)
                   ? HF_NONE
                   : hf_cut_add_value(c, own, v);
    if (c->p->lists[key] && !list && c->h->value_type[v] != HF_NIL)
        return HF_NONE;
    if (hf_cut_is_outside(c, v))
        return HF_NONE;
    return list ? cut_list(c, own, v) : hf_cut_add_value(c, own, v);
}

/* An increment whose result might come from others is a write; one that is
 * wrong by itself stays so. */
static void add_increment(hf_cut *c, hf_txn_id t, hf_op_id op, hf_key_id own)
{
    hf_increment inc = hf_op_increment(c->h, op);
    hf_value_id before, after;

    if (!inc.has_result) {
        hf_builder_increment(c->b, t, own, inc.amount, HF_NONE, HF_NONE);
        return;
    }
    after = hf_cut_add_value(c, own, inc.after);
    before = cut_value(c, own, c->h->op_key[op], inc.before);
    if (!hf_increment_fits(hf_value_scalar(c->h, inc.before), inc.amount,
                           hf_value_scalar(c->h, inc.after)))
        before = hf_cut_add_value(c, own, inc.before);
    if (before != HF_NONE)
        hf_builder_increment(c->b, t, own, inc.amount, before, after);
    else
        hf_builder_op(c->b, t, HF_OP_WRITE, own, after);
}

/* ---- keys ---------------------------------------------------------------- */

/* In the order of the whole, so that ids ascend. */
static void add_keys(hf_cut *c, const hf_txn_id *txns, uint32_t n)
{
    const hf_history *h = c->h;
    hf_cut_keys keys = {0};

    for (uint32_t i = 0; i < n; i++)
        for (hf_op_id op = h->op_first[txns[i]]; op < h->op_first[txns[i] + 1];
             op++) {
            if (h->op_key[op] != HF_NONE)
                hf_vec_push(&keys, h->op_key[op]);
            if (hf_op_has_predicate(hf_op_kind_of(h, op)))
                hf_cut_condition_keys(c, op, &keys);
        }
    if (keys.n > 0)
        qsort(keys.at, keys.n, sizeof(*keys.at), by_id);
    for (size_t i = 0; i < keys.n; i++) {
        hf_key_id key = keys.at[i], own;

        if (c->n_keys > 0 && keys.at[c->n_keys - 1] == key)
            continue;
        own = add_key(c, key);
        HF_ASSERT(own == c->n_keys);
        keys.at[c->n_keys++] = key;
        if (h->key_initial && h->key_initial[key] != HF_NONE)
            hf_builder_initial(c->b, own,
                               hf_cut_add_value(c, own, h->key_initial[key]));
    }
    c->ret->keys = keys.at; /* given away */
}

/* ---- transactions -------------------------------------------------------- */

/* False: nothing of it is left. */
static bool add_op(hf_cut *c, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = c->h;
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_value_id v;
    hf_key_id own;

    if (hf_op_flags_of(h, op) & HF_OP_FAILED)
        return false;
    if (hf_op_has_predicate(kind))
        return hf_cut_add_condition(c, t, op);
    if (!(hf_op_installs(kind) || hf_op_reads_item(kind)))
        return false;
    own = hf_cut_find(c->ret->keys, c->n_keys, h->op_key[op]);
    if (kind == HF_OP_INCREMENT) {
        add_increment(c, t, op, own);
        return true;
    }
    v = h->op_value[op];
    if (hf_op_reads_item(kind)) {
        if (v == HF_NONE)
            return false;
        v = cut_value(c, own, h->op_key[op], v);
        if (v == HF_NONE)
            return false;
    } else {
        v = hf_cut_add_value(c, own, v);
    }
    hf_builder_op(c->b, t, (unsigned)kind, own, v);
    return true;
}

static void add_txn(hf_cut *c, hf_txn_id whole, hf_session_id session)
{
    const hf_history *h = c->h;
    hf_txn_id t = hf_builder_txn(c->b, session);

    hf_builder_outcome(c->b, t, (hf_outcome)h->txn_outcome[whole]);
    hf_builder_label(c->b, t, hf_txn_label(h, whole));
    if (h->txn_level && h->txn_level[whole] != HF_LEVEL_UNSET)
        hf_builder_level(c->b, t, h->txn_level[whole]);
    if (h->txn_begin || h->txn_end)
        hf_builder_times(c->b, t, hf_txn_begin_time(h, whole),
                         hf_txn_end_time(h, whole));
    for (hf_op_id op = h->op_first[whole]; op < h->op_first[whole + 1]; op++)
        if (add_op(c, t, op))
            hf_vec_push(&c->ops, op);
}

/* Sessions have no names here: whose they are is enough. */
static void add_txns(hf_cut *c, const hf_txn_id *txns, uint32_t n)
{
    hf_session_id *whole = HF_NEW_ARRAY(hf_session_id, (size_t)n + 1);
    hf_session_id *own = HF_NEW_ARRAY(hf_session_id, (size_t)n + 1);
    uint32_t n_sessions = 0;

    for (uint32_t i = 0; i < n; i++)
        whole[i] = c->h->txn_session[txns[i]];
    if (n > 0)
        qsort(whole, n, sizeof(*whole), by_id);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || whole[n_sessions - 1] != whole[i]) {
            whole[n_sessions] = whole[i];
            own[n_sessions++] = hf_builder_session_fresh(c->b);
        }
    for (uint32_t i = 0; i < n; i++)
        add_txn(
            c, txns[i],
            own[hf_cut_find(whole, n_sessions, c->h->txn_session[txns[i]])]);
    hf_free(whole);
    hf_free(own);
}

static void add_orders(hf_cut *c, const hf_txn_id *txns, uint32_t n)
{
    const hf_certificate *cert = &c->h->cert;

    for (uint32_t i = 0; cert->order_first && i < c->n_keys; i++) {
        hf_key_id key = c->ret->keys[i];

        for (uint64_t k = cert->order_first[key];
             k < cert->order_first[key + 1]; k++)
            if (c->p->kept[cert->order_txn[k]])
                hf_builder_order(c->b, i,
                                 hf_cut_find(txns, n, cert->order_txn[k]));
    }
}

void hf_part_cut(const hf_parts *p, const hf_txn_id *txns, uint32_t n,
                 hf_part *ret)
{
    hf_cut c = {.p = p, .h = p->whole, .ret = ret, .b = hf_builder_new()};
    hf_error err;

    *ret = (hf_part){.txns = HF_NEW_ARRAY(hf_txn_id, (size_t)n + 1)};
    for (uint32_t i = 0; i < n; i++) {
        ret->txns[i] = txns[i];
        p->kept[txns[i]] = 1;
    }
    c.n_txns = n;
    hf_builder_unique_values(c.b, p->whole->unique_values);
    hf_builder_partial_orders(c.b, p->whole->partial_orders);
    if (p->whole->time_unit != HF_TIME_UNIT_NONE)
        hf_builder_time_unit(c.b, p->whole->time_unit);
    add_keys(&c, txns, n);
    add_txns(&c, txns, n);
    add_orders(&c, txns, n);
    for (uint32_t i = 0; i < n; i++)
        p->kept[txns[i]] = 0;
    ret->ops = c.ops.at;
    if (hf_builder_finish(c.b, &ret->h, &err) != HF_OK)
        HF_BUG("a part of a history is none");
    HF_ASSERT(ret->h->n_ops == c.ops.n);
}

void hf_part_release(hf_part *p)
{
    hf_history_free(p->h);
    hf_free(p->txns);
    hf_free(p->ops);
    hf_free(p->keys);
}
