/* execute.c: what the transactions of a core do to states.
 *
 * A core of more than HF_CORE_MOST transactions cannot be enumerated, but where
 * the level is an order of whole transactions (or of starts and commits) they
 * can be executed, one after the other, in every order that matters: two ways
 * to the same state with the same transactions left are one.  That is how check
 * finds such cores as well; this is code of its own, which compares states and
 * not hashes of them.
 *
 * Here the operations of each transaction become deeds: finding a state, or
 * changing it.  What a key holds is a number for each register value, sum or
 * list that somebody leads to.  What has to come before what: sessions, time,
 * and version orders that were recorded.
 *
 * O(operations of the core, and the square of its transactions).
 */
#include "verify/execute.h"

#include <string.h>

#include "history/part.h"
#include "verify/certain.h"
#include "verify/core.h"

#define FEW_STATES 5000u /* before clauses are made */

/* ---- states -------------------------------------------------------------- */

static uint64_t hash_of(const hf_held_state *s)
{
    uint64_t x = hf_mix64((uint64_t)s->key << 32 | s->value);

    x = hf_mix64(x ^ (uint64_t)s->held.number);
    x = hf_mix64(x ^ (uint64_t)(s->held.number >> 64) ^
                 (uint64_t)s->held.rest * 3);
    x = hf_mix64(x ^ ((uint64_t)s->before << 32 | s->last));
    return x;
}

static bool is_same(const hf_held_state *a, const hf_held_state *b)
{
    return a->key == b->key && a->value == b->value && a->before == b->before &&
           a->last == b->last && a->held.is_number == b->held.is_number &&
           a->held.number == b->held.number && a->held.rest == b->held.rest &&
           a->held.value == b->held.value;
}

static uint32_t number(hf_program *p, hf_held_state s)
{
    uint64_t hash = hash_of(&s);
    uint32_t head = hf_map_get(&p->by_hash, hash);

    for (uint32_t i = head; i != HF_NONE; i = p->states.at[i].next)
        if (is_same(&p->states.at[i], &s))
            return i;
    s.next = head;
    hf_map_set(&p->by_hash, hash, (uint32_t)p->states.n);
    hf_vec_push(&p->states, s);
    return (uint32_t)p->states.n - 1;
}

static hf_held_state nothing(hf_key_id key)
{
    return (hf_held_state){.key = key,
                           .value = HF_NONE,
                           .held = {.is_number = true, .value = HF_NONE},
                           .before = HF_NONE,
                           .last = HF_NONE};
}

/* The list as a state: each beginning of it is one. */
static uint32_t list_state(hf_program *p, hf_key_id key, hf_value_id list)
{
    uint32_t n = hf_list_items(p->h, list, NULL);
    hf_value_id *items = HF_NEW_ARRAY(hf_value_id, (size_t)n + 1);
    uint32_t at = number(p, nothing(key));

    hf_list_items(p->h, list, items);
    for (uint32_t i = 0; i < n; i++) {
        hf_held_state s = nothing(key);

        s.before = at;
        s.last = items[i];
        at = number(p, s);
    }
    hf_free(items);
    return at;
}

/* What a value is, in its key; HF_NONE: nil. */
static uint32_t state_of(hf_program *p, hf_key_id key, hf_value_id value)
{
    bool nil = value == HF_NONE || p->h->value_type[value] == HF_NIL;
    hf_held_state s = nothing(key);

    if (p->kind[key] == HF_KEY_IS_COUNTER)
        s.held = hf_held_of(p->h, nil ? HF_NONE : value);
    else if (p->kind[key] == HF_KEY_IS_LIST && !nil &&
             p->h->value_type[value] == HF_LIST)
        return list_state(p, key, value);
    else if (!nil)
        s.value = value;
    return number(p, s);
}

uint32_t hf_program_after(hf_program *p, uint32_t state, const hf_deed *d)
{
    hf_held_state s = nothing(d->key);

    if (d->kind == HF_DEED_SET)
        return d->state;
    if (d->kind == HF_DEED_APPEND) {
        s.before = state;
        s.last = d->element;
    } else {
        if (p->states.at[state].held.is_number)
            s.held = p->states.at[state].held;
        s.held.number += d->amount;
    }
    return number(p, s);
}

/* ---- deeds --------------------------------------------------------------- */

static void find(hf_program *p, hf_key_id key, hf_value_id value)
{
    hf_vec_push(&p->deeds, (hf_deed){.kind = HF_DEED_FIND,
                                     .key = key,
                                     .state = state_of(p, key, value)});
}

static void set(hf_program *p, hf_key_id key, hf_value_id value)
{
    hf_vec_push(&p->deeds, (hf_deed){.kind = HF_DEED_SET,
                                     .key = key,
                                     .state = state_of(p, key, value)});
}

static void take_op(hf_program *p, hf_op_id op)
{
    const hf_history *h = p->h;
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_key_id key = h->op_key[op];
    hf_increment inc;

    if (!hf_op_counts(h, op) || key == HF_NONE)
        return;
    if (hf_op_reads_item(kind)) {
        if (h->op_value[op] != HF_NONE)
            find(p, key, h->op_value[op]);
    } else if (kind == HF_OP_INCREMENT) {
        inc = hf_op_increment(h, op);
        if (inc.before != HF_NONE)
            find(p, key, inc.before);
        if (inc.has_result)
            set(p, key, inc.after);
        else
            hf_vec_push(&p->deeds, (hf_deed){.kind = HF_DEED_ADD,
                                             .key = key,
                                             .amount = inc.amount});
    } else if (kind == HF_OP_APPEND) {
        hf_vec_push(&p->deeds, (hf_deed){.kind = HF_DEED_APPEND,
                                         .key = key,
                                         .element = h->op_value[op]});
    } else if (hf_op_writes(h, op)) {
        set(p, key, kind == HF_OP_DELETE ? HF_NONE : h->op_value[op]);
    }
}

/* Does a deed of the node before `end` settle what the key holds? */
static bool is_set_before(const hf_program *p, uint32_t node, uint32_t end,
                          hf_key_id key)
{
    for (uint32_t i = p->first[node]; i < end; i++)
        if (p->deeds.at[i].key == key && p->deeds.at[i].kind == HF_DEED_SET)
            return true;
    return false;
}

static void note_uses(hf_program *p, uint32_t node)
{
    for (uint32_t i = p->first[node]; i < p->first[node + 1]; i++) {
        const hf_deed *d = &p->deeds.at[i];

        if (d->kind != HF_DEED_FIND)
            hf_nodes_set(p->writers[d->key], node);
        else if (!is_set_before(p, node, i, d->key))
            hf_nodes_set(p->readers[d->key], node);
    }
}

static bool is_written_before(const hf_program *p, uint32_t node, uint32_t end,
                              hf_key_id key)
{
    for (uint32_t i = p->first[node]; i < end; i++)
        if (p->deeds.at[i].key == key && p->deeds.at[i].kind != HF_DEED_FIND)
            return true;
    return false;
}

/* Who wants which state, and who leaves it. */
static void note_states(hf_program *p, uint32_t node)
{
    for (uint32_t i = p->first[node]; i < p->first[node + 1]; i++) {
        const hf_deed *d = &p->deeds.at[i];
        bool last = true;

        if (d->kind == HF_DEED_FIND && !is_written_before(p, node, i, d->key))
            hf_nodes_set(p->wants[d->state], node);
        if (p->kind[d->key] != HF_KEY_IS_REGISTER)
            continue;
        for (uint32_t k = i + 1; k < p->first[node + 1]; k++)
            last &= p->deeds.at[k].key != d->key ||
                    p->deeds.at[k].kind == HF_DEED_FIND;
        if (d->kind == HF_DEED_SET && last)
            hf_nodes_set(p->leaves[d->state], node);
    }
}

/* ---- what comes before what ---------------------------------------------- */

/* The order of two nodes: a must be done before b begins, or cannot come after
 * it. */
static void put_before(hf_program *p, uint32_t a, uint32_t b)
{
    if (hf_nodes_has(p->sure, a))
        hf_nodes_set(p->before[b], a);
    else
        hf_nodes_set(p->ends[b], a);
}

static bool precedes(const hf_program *p, hf_txn_id a, hf_txn_id b)
{
    const hf_level_info *info = p->info;

    return (info->session_order && hf_session_before(p->h, a, b)) ||
           (info->real_time && hf_time_before(p->h, a, b));
}

static void add_certificate(hf_program *p, const uint32_t *node_of)
{
    const hf_certificate *c = &p->h->cert;

    for (hf_key_id k = 0; c->order_first && k < p->h->n_keys; k++)
        for (uint64_t j = c->order_first[k]; j < c->order_first[k + 1]; j++)
            for (uint64_t i = c->order_first[k]; i < j; i++) {
                uint32_t a = node_of[c->order_txn[i]];
                uint32_t b = node_of[c->order_txn[j]];

                if (a != HF_NONE && b != HF_NONE && a != b &&
                    hf_nodes_has(p->writers[k], a) &&
                    hf_nodes_has(p->writers[k], b))
                    put_before(p, a, b);
            }
}

static void add_orders(hf_program *p)
{
    uint32_t *node_of = hf_nones(p->v, p->h->n_txns, sizeof(*node_of));

    for (uint32_t i = 0; i < p->n; i++)
        node_of[p->txn[i]] = i;
    for (uint32_t a = 0; a < p->n; a++)
        for (uint32_t b = 0; b < p->n; b++)
            if (a != b && precedes(p, p->txn[a], p->txn[b]))
                put_before(p, a, b);
    add_certificate(p, node_of);
}

/* ---- twins --------------------------------------------------------------- */

static bool do_the_same(const hf_program *p, uint32_t a, uint32_t b)
{
    uint32_t n = p->first[a + 1] - p->first[a];

    if (n != p->first[b + 1] - p->first[b] ||
        hf_nodes_has(p->sure, a) != hf_nodes_has(p->sure, b))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const hf_deed *x = &p->deeds.at[p->first[a] + i];
        const hf_deed *y = &p->deeds.at[p->first[b] + i];

        if (x->kind != y->kind || x->key != y->key || x->state != y->state ||
            x->amount != y->amount || x->element != y->element)
            return false;
    }
    return true;
}

/* Nothing tells them apart: exchanged, an order is one as before. */
static bool stand_alike(const hf_program *p, uint32_t a, uint32_t b)
{
    if (memcmp(p->before[a], p->before[b], p->words * sizeof(hf_nodes)) != 0 ||
        memcmp(p->ends[a], p->ends[b], p->words * sizeof(hf_nodes)) != 0)
        return false;
    for (uint32_t i = 0; i < p->n; i++)
        if (hf_nodes_has(p->before[i], a) != hf_nodes_has(p->before[i], b) ||
            hf_nodes_has(p->ends[i], a) != hf_nodes_has(p->ends[i], b))
            return false;
    return true;
}

static void find_twins(hf_program *p)
{
    for (uint32_t b = 0; b < p->n; b++) {
        p->twin[b] = HF_NONE;
        for (uint32_t a = b; a-- > 0 && p->twin[b] == HF_NONE;)
            if (do_the_same(p, a, b) && stand_alike(p, a, b))
                p->twin[b] = a;
    }
}

/* ---- all ----------------------------------------------------------------- */

static hf_nodes **tables(hf_verifier *v, uint32_t n, uint32_t words)
{
    hf_nodes **all = hf_zeros(v, (size_t)n + 1, sizeof(*all));
    hf_nodes *room = hf_zeros(v, (size_t)n * words + 1, sizeof(*room));

    for (uint32_t i = 0; i < n; i++)
        all[i] = room + (size_t)i * words;
    return all;
}

/* Is the level an order of transactions, or of starts and commits? */
static bool is_order(const hf_level_info *info)
{
    return info->shape == HF_SHAPE_SERIAL || info->shape == HF_SHAPE_ITEM ||
           info->shape == HF_SHAPE_SNAPSHOT;
}

/* What cannot be executed. */
static bool is_fit(hf_verifier *v, const hf_history *h,
                   const hf_level_info *info)
{
    if (v->w->mixed || (!is_order(info) && info->shape != HF_SHAPE_SINGLE &&
                        info->level != HF_READ_COMMITTED))
        return hf_give_up(v, HF_ERR_UNSUPPORTED,
                          "a core of more than %d transactions is executed "
                          "only at levels that are an order of them, or where "
                          "read-committed forbids it",
                          HF_CORE_MOST);
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_is_opaque(h, op) || hf_op_has_predicate(hf_op_kind_of(h, op)))
            return hf_give_up(v, HF_ERR_UNSUPPORTED,
                              "a core of more than %d transactions with "
                              "conditions or statements is not executed",
                              HF_CORE_MOST);
    return true;
}

static void find_kinds(hf_program *p)
{
    const hf_history *h = p->h;

    p->kind = hf_zeros(p->v, h->n_keys, sizeof(*p->kind));
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_op_kind kind = hf_op_kind_of(h, op);

            if (!hf_op_writes(h, op))
                continue;
            if (kind == HF_OP_APPEND)
                p->kind[h->op_key[op]] = HF_KEY_IS_LIST;
            else if (kind == HF_OP_INCREMENT &&
                     !hf_op_increment(h, op).has_result &&
                     p->kind[h->op_key[op]] == HF_KEY_IS_REGISTER)
                p->kind[h->op_key[op]] = HF_KEY_IS_COUNTER;
        }
    for (hf_key_id k = 0; h->key_initial && k < h->n_keys; k++)
        if (h->key_initial[k] != HF_NONE &&
            h->value_type[h->key_initial[k]] == HF_LIST)
            p->kind[k] = HF_KEY_IS_LIST;
}

/* Lists are only appended to. */
static bool are_lists_plain(hf_program *p)
{
    for (size_t i = 0; i < p->deeds.n; i++) {
        const hf_deed *d = &p->deeds.at[i];

        if (p->kind[d->key] == HF_KEY_IS_LIST
                ? d->kind == HF_DEED_SET || d->kind == HF_DEED_ADD
                : d->kind == HF_DEED_APPEND)
            return hf_give_up(p->v, HF_ERR_UNSUPPORTED,
                              "a core of more than %d transactions with a key "
                              "that has appends and other writes is not "
                              "executed",
                              HF_CORE_MOST);
    }
    return true;
}

static void take_transactions(hf_program *p)
{
    const hf_history *h = p->h;

    p->txn = hf_zeros(p->v, h->n_txns, sizeof(*p->txn));
    p->first = hf_zeros(p->v, (size_t)h->n_txns + 1, sizeof(*p->first));
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        if (h->txn_outcome[t] == HF_ABORTED)
            continue;
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            take_op(p, op);
        p->txn[p->n++] = t;
        p->first[p->n] = (uint32_t)p->deeds.n;
    }
    p->words = p->n / HF_NODES_WORD + 1;
    p->sure = hf_zeros(p->v, p->words, sizeof(*p->sure));
    for (uint32_t i = 0; i < p->n; i++)
        if (h->txn_outcome[p->txn[i]] == HF_COMMITTED)
            hf_nodes_set(p->sure, i);
}

bool hf_program_make(hf_verifier *v, const hf_history *h,
                     const hf_level_info *info, hf_program *ret)
{
    hf_program *p = ret;

    *p = (hf_program){.v = v,
                      .h = h,
                      .info = info,
                      .snapshots = info->shape == HF_SHAPE_SNAPSHOT,
                      .past = info->level == HF_READ_COMMITTED,
                      .partial = info->shape == HF_SHAPE_SINGLE};
    hf_map_init(&p->by_hash);
    if (!is_fit(v, h, info))
        return false;
    find_kinds(p);
    p->initial = hf_zeros(v, h->n_keys, sizeof(*p->initial));
    for (hf_key_id k = 0; k < h->n_keys; k++)
        p->initial[k] =
            state_of(p, k, h->key_initial ? h->key_initial[k] : HF_NONE);
    take_transactions(p);
    if (!are_lists_plain(p))
        return false;
    p->readers = tables(v, h->n_keys, p->words);
    p->writers = tables(v, h->n_keys, p->words);
    p->before = tables(v, p->n, p->words);
    p->ends = tables(v, p->n, p->words);
    p->twin = hf_nones(v, p->n, sizeof(*p->twin));
    p->n_known = (uint32_t)p->states.n;
    p->wants = tables(v, p->n_known, p->words);
    p->leaves = tables(v, p->n_known, p->words);
    for (uint32_t i = 0; i < p->n; i++) {
        note_uses(p, i);
        note_states(p, i);
    }
    add_orders(p);
    find_twins(p);
    return !hf_out_of_budget(v);
}

void hf_program_release(hf_program *p)
{
    hf_vec_release(&p->deeds);
    hf_vec_release(&p->states);
    hf_map_release(&p->by_hash);
}

static bool has_counters(const hf_program *p)
{
    for (hf_key_id k = 0; k < p->h->n_keys; k++)
        if (p->kind[k] == HF_KEY_IS_COUNTER)
            return true;
    return false;
}

/* Few states are soon looked at; if there are more, and counters, clauses say
 * it sooner; else all of them are looked at. */
static bool has_order(hf_program *p)
{
    bool counters = has_counters(p), full = p->partial, found = false;
    bool sure = false;

    size_t most = !counters ? HF_PROGRAM_STATES : p->v->eager ? 0 : FEW_STATES;

    if (!full)
        found = hf_program_has_order(p, most, &full);
    if (!full || p->v->status != HF_OK)
        return found;
    if (counters || p->partial) {
        found = hf_program_is_possible(p, &sure);
        if (!found || sure || p->v->status != HF_OK)
            return found;
    }
    if (p->partial)
        return hf_give_up(p->v, HF_ERR_UNSUPPORTED,
                          "a core of more than %d transactions with lists, or "
                          "with counters that hold what is no number, is not "
                          "decided again at this level",
                          HF_CORE_MOST);
    found = counters && hf_program_has_order(p, HF_PROGRAM_STATES, &full);
    if (full)
        return hf_give_up(p->v, HF_ERR_LIMIT,
                          "the core has more than %zu states",
                          HF_PROGRAM_STATES);
    return found;
}

static bool has_no_order(hf_verifier *v, const hf_history *h,
                         const hf_level_info *info)
{
    hf_program p = {0};
    bool none =
        hf_program_make(v, h, info, &p) && !has_order(&p) && v->status == HF_OK;

    hf_program_release(&p);
    return none;
}

/* Keys that hold more than values: 1 << hf_key_kind. */
static unsigned kinds_of(const hf_history *h)
{
    unsigned kinds = 0;

    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_kind_of(h, op) == HF_OP_APPEND)
            kinds |= 1u << HF_KEY_IS_LIST;
        else if (hf_op_kind_of(h, op) == HF_OP_INCREMENT &&
                 !hf_op_increment(h, op).has_result)
            kinds |= 1u << HF_KEY_IS_COUNTER;
    for (hf_key_id k = 0; h->key_initial && k < h->n_keys; k++)
        if (h->key_initial[k] != HF_NONE &&
            h->value_type[h->key_initial[k]] == HF_LIST)
            kinds |= 1u << HF_KEY_IS_LIST;
    return kinds;
}

/* What read-committed forbids, no level that implies it allows.  For registers
 * that is little work; where the level is no order it is all there is. */
static bool is_forbidden(hf_verifier *v, const hf_history *h)
{
    unsigned not_for = v->info->shape == HF_SHAPE_SINGLE
                           ? 1u << HF_KEY_IS_LIST | 1u << HF_KEY_IS_COUNTER
                           : 1u << HF_KEY_IS_LIST;
    bool by_less = v->level != HF_READ_COMMITTED && !is_order(v->info) &&
                   !v->w->mixed && !(kinds_of(h) & not_for) &&
                   hf_level_implies(v->level, HF_READ_COMMITTED);

    if (by_less && has_no_order(v, h, hf_level_get(HF_READ_COMMITTED)))
        return true;
    return v->status == HF_OK && has_no_order(v, h, v->info);
}

bool hf_verify_executed(hf_verifier *v)
{
    hf_txn_id *txns = hf_core_sorted(v);
    hf_parts parts;
    hf_part part;
    bool none;

    if (!txns)
        return false;
    if (!hf_parts_init(&parts, v->h))
        return hf_give_up(v, HF_ERR_UNSUPPORTED,
                          "a core of more than %d transactions is not cut "
                          "out of a history with statements",
                          HF_CORE_MOST);
    hf_part_cut(&parts, txns, v->w->n_order, &part);
    none = is_forbidden(v, part.h);
    hf_part_release(&part);
    hf_parts_release(&parts);
    if (none || v->status != HF_OK)
        return none;
    return hf_refuse(v, "these transactions alone are valid at %s",
                     v->info->name);
}
