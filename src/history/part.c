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
#include "base/vec.h"
#include "history/builder.h"

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
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);

        if (kind == HF_OP_SQL ||
            (hf_op_has_predicate(kind) &&
             hf_op_predicate(h, op).snapshot != HF_SNAPSHOT_NONE))
            return false;
    }
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
}

/* ---- a part -------------------------------------------------------------- */

typedef struct cut {
    const hf_parts *p;
    const hf_history *h; /* the whole */
    hf_part *ret;
    hf_builder *b;
    uint32_t n_keys, n_txns;
    HF_VEC(hf_op_id) ops;
} cut;

static uint32_t find(const uint32_t *at, uint32_t n, uint32_t wanted)
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

/* Does somebody write it who is gone? */
static bool is_outside(const cut *c, hf_value_id v)
{
    for (uint32_t i = c->p->write_first[v]; i < c->p->write_first[v + 1]; i++)
        if (!c->p->kept[c->p->writers[i]])
            return true;
    return false;
}

/* Does somebody write the key who is gone? */
static bool is_shared(const cut *c, hf_key_id key)
{
    for (uint32_t i = c->p->key_first[key]; i < c->p->key_first[key + 1]; i++)
        if (!c->p->kept[c->p->key_writers[i]])
            return true;
    return false;
}

static uint32_t n_writers(const cut *c, hf_value_id v)
{
    return c->p->write_first[v + 1] - c->p->write_first[v];
}

static int by_id(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static hf_key_id add_key(cut *c, hf_key_id key)
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

/* Own key, value of the whole. */
static hf_value_id add_value(cut *c, hf_key_id key, hf_value_id v)
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

/* In the order of the whole, so that ids ascend. */
static void add_keys(cut *c, const hf_txn_id *txns, uint32_t n)
{
    const hf_history *h = c->h;
    HF_VEC(hf_key_id) keys = {0};
    hf_predicate q;

    for (uint32_t i = 0; i < n; i++)
        for (hf_op_id op = h->op_first[txns[i]]; op < h->op_first[txns[i] + 1];
             op++) {
            if (h->op_key[op] != HF_NONE)
                hf_vec_push(&keys, h->op_key[op]);
            if (!hf_op_has_predicate(hf_op_kind_of(h, op)))
                continue;
            q = hf_op_predicate(h, op);
            for (uint32_t k = 0; k < q.n_versions; k++)
                hf_vec_push(&keys, h->value_key[q.versions[k].value]);
            for (uint32_t k = 0; k < q.n_results; k++)
                hf_vec_push(&keys, h->value_key[q.results[k].value]);
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
                               add_value(c, own, h->key_initial[key]));
    }
    c->ret->keys = keys.at; /* given away */
}

/* What is left of a list; HF_NONE: nothing. */
static hf_value_id cut_list(cut *c, hf_key_id key, hf_value_id v)
{
    uint32_t n = hf_list_items(c->h, v, NULL);
    hf_value_id *items = HF_NEW_ARRAY(hf_value_id, (size_t)n + 1);
    hf_value_id list = HF_NONE;
    bool whole = true; /* as far as it says anything */

    (void)hf_list_items(c->h, v, items);
    for (uint32_t i = 0; i < n && whole; i++) {
        if (!is_outside(c, items[i]))
            list =
                hf_builder_list(c->b, key, list, add_value(c, key, items[i]));
        else if (i + 1 == n || n_writers(c, items[i]) > 1)
            whole = false;
    }
    hf_free(items);
    return whole ? list : HF_NONE;
}

/* What is left of what was read; HF_NONE: nothing. */
static hf_value_id cut_value(cut *c, hf_key_id own, hf_key_id key,
                             hf_value_id v)
{
    bool list = c->h->value_type[v] == HF_LIST;

    if (c->p->blind[key])
        return c->p->lists[key] || is_shared(c, key) ? HF_NONE
                                                     : add_value(c, own, v);
    if ((c->p->lists[key] && !list && c->h->value_type[v] != HF_NIL))
        return HF_NONE;
    if (is_outside(c, v))
        return HF_NONE;
    return list ? cut_list(c, own, v) : add_value(c, own, v);
}

static bool adds_up(const hf_history *h, const hf_increment *inc)
{
    int64_t sum;

    return h->value_type[inc->before] != HF_INT ||
           h->value_type[inc->after] != HF_INT ||
           (!__builtin_add_overflow(h->value_data[inc->before], inc->amount,
                                    &sum) &&
            sum == h->value_data[inc->after]);
}

/* An increment whose result might come from others is a write; one that is
 * wrong by itself stays so. */
static void add_increment(cut *c, hf_txn_id t, hf_op_id op, hf_key_id own)
{
    hf_increment inc = hf_op_increment(c->h, op);
    hf_value_id before, after;

    if (!inc.has_result) {
        hf_builder_increment(c->b, t, own, inc.amount, HF_NONE, HF_NONE);
        return;
    }
    after = add_value(c, own, inc.after);
    before = cut_value(c, own, c->h->op_key[op], inc.before);
    if (!adds_up(c->h, &inc))
        before = add_value(c, own, inc.before);
    if (before != HF_NONE)
        hf_builder_increment(c->b, t, own, inc.amount, before, after);
    else
        hf_builder_op(c->b, t, HF_OP_WRITE, own, after);
}

/* ---- conditions ---------------------------------------------------------- */

typedef HF_VEC(hf_version_ref) ref_list;

/* Of a version that was looked at, or a row: is it one of the part? */
static bool is_left(const cut *c, hf_version_ref ref)
{
    hf_key_id key = c->h->value_key[ref.value];

    if (c->p->blind[key] || c->p->lists[key])
        return false;
    if (ref.writer == HF_NONE)
        return !is_outside(c, ref.value);
    return ref.writer == HF_WRITER_INITIAL || c->p->kept[ref.writer];
}

static bool is_returned(const cut *c, const hf_predicate *q, hf_key_id key)
{
    for (uint32_t i = 0; i < q->n_results; i++)
        if (c->h->value_key[q->results[i].value] == key)
            return true;
    return false;
}

static void add_ref(cut *c, hf_version_ref ref, ref_list *ret)
{
    hf_key_id own = find(c->ret->keys, c->n_keys, c->h->value_key[ref.value]);

    if (ref.writer < HF_WRITER_INITIAL)
        ref.writer = find(c->ret->txns, c->n_txns, ref.writer);
    ref.value = add_value(c, own, ref.value);
    hf_vec_push(ret, ref);
}

/* What is left of the version set, and of the rows.  A row and its entry stay
 * or go together.  False: it says nothing any more: the entries of an aggregate
 * are all there, or none. */
static bool cut_refs(cut *c, const hf_predicate *q, bool aggregate,
                     ref_list *versions, ref_list *rows)
{
    for (uint32_t i = 0; i < q->n_versions; i++) {
        hf_key_id key = c->h->value_key[q->versions[i].value];

        if (is_left(c, q->versions[i]) &&
            ((!aggregate && is_returned(c, q, key)) || !is_shared(c, key)))
            add_ref(c, q->versions[i], versions);
        else if (aggregate)
            return false;
    }
    for (uint32_t i = 0; i < q->n_results; i++)
        if (is_left(c, q->results[i]))
            add_ref(c, q->results[i], rows);
        else if (aggregate)
            return false;
    return versions->n > 0 || rows->n > 0 || !q->has_version_set;
}

static hf_scalar text_of(const hf_history *h, hf_string_id id)
{
    hf_str s;

    if (id == HF_NONE)
        return (hf_scalar){.type = HF_NIL};
    s = hf_string(h, id);
    return (hf_scalar){.type = HF_TEXT, .text = s.ptr, .length = s.len};
}

static bool add_predicate(cut *c, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = c->h;
    hf_predicate q = hf_op_predicate(h, op);
    ref_list versions = {0}, rows = {0};
    bool left = cut_refs(c, &q, hf_op_is_aggregate(hf_op_kind_of(h, op)),
                         &versions, &rows);
    hf_scalar *columns = HF_NEW_ARRAY(hf_scalar, (size_t)q.n_columns + 1);

    for (uint32_t i = 0; i < q.n_columns; i++)
        columns[i] = text_of(h, q.columns[i]);
    if (left)
        (void)hf_builder_predicate(
            c->b, t, h->op_kind[op],
            &(hf_predicate_in){.table = text_of(h, q.table),
                               .condition = text_of(h, q.condition),
                               .columns = columns,
                               .n_columns = q.n_columns,
                               .has_version_set = q.has_version_set,
                               .has_result_set = q.has_result_set,
                               .versions = versions.at,
                               .n_versions = (uint32_t)versions.n,
                               .results = rows.at,
                               .n_results = (uint32_t)rows.n,
                               .result = q.result});
    hf_free(columns);
    hf_vec_release(&versions);
    hf_vec_release(&rows);
    return left;
}

/* ---- transactions -------------------------------------------------------- */

/* False: nothing of it is left. */
static bool add_op(cut *c, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = c->h;
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_value_id v;
    hf_key_id own;

    if (hf_op_flags_of(h, op) & HF_OP_FAILED)
        return false;
    if (hf_op_has_predicate(kind))
        return add_predicate(c, t, op);
    if (!(hf_op_installs(kind) || hf_op_reads_item(kind)))
        return false;
    own = find(c->ret->keys, c->n_keys, h->op_key[op]);
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
        v = add_value(c, own, v);
    }
    hf_builder_op(c->b, t, (unsigned)kind, own, v);
    return true;
}

static void add_txn(cut *c, hf_txn_id whole, hf_session_id session)
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
static void add_txns(cut *c, const hf_txn_id *txns, uint32_t n)
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
        add_txn(c, txns[i],
                own[find(whole, n_sessions, c->h->txn_session[txns[i]])]);
    hf_free(whole);
    hf_free(own);
}

static void add_orders(cut *c, const hf_txn_id *txns, uint32_t n)
{
    const hf_certificate *cert = &c->h->cert;

    for (uint32_t i = 0; cert->order_first && i < c->n_keys; i++) {
        hf_key_id key = c->ret->keys[i];

        for (uint64_t k = cert->order_first[key];
             k < cert->order_first[key + 1]; k++)
            if (c->p->kept[cert->order_txn[k]])
                hf_builder_order(c->b, i, find(txns, n, cert->order_txn[k]));
    }
}

void hf_part_cut(const hf_parts *p, const hf_txn_id *txns, uint32_t n,
                 hf_part *ret)
{
    cut c = {.p = p, .h = p->whole, .ret = ret, .b = hf_builder_new()};
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

/* ---- witnesses ----------------------------------------------------------- */

/* The ids of one kind: table[i] is that of the whole. */
typedef struct ids {
    const uint32_t *table;
    uint32_t n;
} ids;

typedef struct translator {
    ids txns, ops, keys;
    bool to_whole;
    bool fine;
} translator;

static uint32_t turn(translator *x, const ids *table, uint32_t id)
{
    uint32_t other;

    if (id == HF_NONE)
        return HF_NONE;
    if (x->to_whole)
        other = id < table->n ? table->table[id] : HF_NONE;
    else
        other = find(table->table, table->n, id);
    x->fine &= other != HF_NONE;
    return other;
}

static uint32_t turn_chosen(translator *x, uint32_t chosen)
{
    if (chosen == HF_CHOSEN_ONLY || chosen == HF_CHOSEN_INITIAL)
        return chosen;
    return HF_CHOSEN(turn(x, &x->txns, chosen - 1));
}

static void turn_edges(translator *x, const hf_witness *w, hf_arena *arena,
                       hf_witness *ret)
{
    ret->edges = hf_arena_get(
        arena, hf_array_size((size_t)w->n_edges + 1, sizeof(*w->edges)));
    for (uint32_t i = 0; i < w->n_edges; i++) {
        const hf_edge *e = &w->edges[i];

        ret->edges[i] = (hf_edge){e->kind,
                                  turn(x, &x->txns, e->from),
                                  turn(x, &x->txns, e->to),
                                  turn(x, &x->keys, e->key),
                                  turn(x, &x->ops, e->from_op),
                                  turn(x, &x->ops, e->to_op)};
    }
    if (!w->chosen)
        return;
    ret->chosen = hf_arena_get(
        arena, hf_array_size((size_t)w->n_edges + 1, sizeof(*w->chosen)));
    for (uint32_t i = 0; i < w->n_edges; i++)
        ret->chosen[i] = turn_chosen(x, w->chosen[i]);
}

static void turn_steps(translator *x, const hf_witness *w, hf_arena *arena,
                       hf_witness *ret)
{
    ret->steps = hf_arena_get(
        arena, hf_array_size((size_t)w->n_steps + 1, sizeof(*w->steps)));
    ret->used = hf_arena_get(
        arena, hf_array_size((size_t)w->n_used + 1, sizeof(*w->used)));
    if (w->n_used > 0)
        memcpy(ret->used, w->used, w->n_used * sizeof(*w->used));
    for (uint32_t i = 0; i < w->n_steps; i++) {
        ret->steps[i] = w->steps[i];
        ret->steps[i].op = turn(x, &x->ops, w->steps[i].op);
        ret->steps[i].writer = turn(x, &x->txns, w->steps[i].writer);
        ret->steps[i].entry = turn(x, &x->keys, w->steps[i].entry - 1) + 1;
    }
}

static bool translate(const hf_part *p, bool to_whole, const hf_witness *w,
                      hf_arena *arena, hf_witness *ret)
{
    translator x = {.txns = {p->txns, p->h->n_txns},
                    .ops = {p->ops, p->h->n_ops},
                    .keys = {p->keys, p->h->n_keys},
                    .to_whole = to_whole,
                    .fine = true};

    *ret = *w;
    turn_edges(&x, w, arena, ret);
    turn_steps(&x, w, arena, ret);
    ret->order = hf_arena_get(
        arena, hf_array_size((size_t)w->n_order + 1, sizeof(*w->order)));
    for (uint32_t i = 0; i < w->n_order; i++)
        ret->order[i] = turn(&x, &x.txns, w->order[i]);
    return x.fine;
}

bool hf_part_to_whole(const hf_part *p, const hf_witness *w, hf_arena *arena,
                      hf_witness *ret)
{
    return translate(p, true, w, arena, ret);
}

bool hf_part_from_whole(const hf_part *p, const hf_witness *w, hf_arena *arena,
                        hf_witness *ret)
{
    return translate(p, false, w, arena, ret);
}
