/* facts.c: see facts.h.
 *
 * The keys a transaction writes are collected with one array indexed by key
 * (slot of the key in the current transaction), then sorted within the
 * transaction.  O(operations), plus the sorting of each transaction's keys.
 */
#include "verify/facts.h"

#include <stdlib.h>

#include "verify/entries.h"
#include "base/ratio.h"

bool hf_increment_adds_up(const hf_history *h, hf_op_id op)
{
    hf_increment inc = hf_op_increment(h, op);

    return !inc.has_result ||
           hf_increment_fits(hf_value_scalar(h, inc.before), inc.amount,
                             hf_value_scalar(h, inc.after));
}

uint32_t hf_extra_reads(const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (!hf_op_counts(h, op))
        return 0;
    if (kind == HF_OP_INCREMENT)
        return hf_op_increment(h, op).before != HF_NONE;
    if (hf_op_has_predicate(kind)) {
        hf_predicate p = hf_op_predicate(h, op);

        return p.n_versions + p.n_results;
    }
    return 0;
}

hf_item_read hf_extra_read_at(const hf_history *h, hf_op_id op, uint32_t i)
{
    hf_predicate p;
    hf_version_ref ref;

    if (hf_op_kind_of(h, op) == HF_OP_INCREMENT)
        return (hf_item_read){h->op_key[op], hf_op_increment(h, op).before,
                              HF_NONE, op};
    p = hf_op_predicate(h, op);
    ref = i < p.n_versions ? p.versions[i] : p.results[i - p.n_versions];
    return (hf_item_read){h->value_key[ref.value], ref.value, ref.writer, op};
}

uint32_t hf_facts_slot(const hf_facts *f, hf_txn_id t, hf_key_id key)
{
    uint32_t low = f->write_first[t], high = f->write_first[t + 1];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (f->write_key[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->write_first[t + 1] && f->write_key[low] == key ? low
                                                                   : HF_NONE;
}

bool hf_facts_writes(const hf_facts *f, hf_txn_id t, hf_key_id key)
{
    return hf_facts_slot(f, t, key) != HF_NONE;
}

bool hf_facts_is_last(const hf_history *h, const hf_facts *f, hf_txn_id t,
                      hf_value_id value)
{
    uint32_t slot;

    if (f->writer[value] == t)
        return f->is_last[value];
    slot = hf_facts_slot(f, t, h->value_key[value]);
    return slot != HF_NONE && hf_op_written(h, f->write_op[slot]) == value;
}

bool hf_facts_installs(const hf_history *h, hf_txn_id t, hf_value_id value)
{
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
        if (hf_op_writes(h, op) && hf_op_written(h, op) == value)
            return true;
    return false;
}

hf_op_id hf_own_write_before(const hf_history *h, const hf_facts *f,
                             hf_txn_id t, hf_op_id op, hf_key_id key)
{
    uint32_t slot = hf_facts_slot(f, t, key);

    if (slot == HF_NONE)
        return HF_NONE;
    if (f->write_op[slot] < op)
        return f->write_op[slot];
    for (hf_op_id o = op; o-- > h->op_first[t];)
        if (h->op_key[o] == key && hf_op_writes(h, o))
            return o;
    return HF_NONE;
}

/* Does t install the value with another operation than op? */
static bool installs_again(const hf_history *h, hf_txn_id t, hf_value_id value,
                           hf_op_id op)
{
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        if (o != op && hf_op_writes(h, o) && hf_op_written(h, o) == value)
            return true;
    return false;
}

/* An increment that changes nothing: it cannot have read its own result, so
 * the other writes of the value count.  O(operations of its transaction). */
static hf_origin origin_of_increment(const hf_history *h, const hf_facts *f,
                                     const hf_item_read *read,
                                     hf_txn_id *ret_writer)
{
    bool initial = hf_value_is_initial(h, read->key, read->value);
    hf_txn_id self = hf_op_txn(h, read->op);
    hf_txn_id first = f->first_writer[read->value];
    hf_txn_id second = f->second_writer[read->value];
    bool again = f->is_repeated[read->value] &&
                 installs_again(h, self, read->value, read->op);
    hf_txn_id found = again ? self : HF_NONE;

    if (second != HF_NONE) { /* others write it, too */
        if (again || second == HF_SEVERAL)
            return HF_FROM_SEVERAL;
        found = first == self ? second : first;
    }
    if (found == HF_NONE)
        return initial ? HF_FROM_INITIAL : HF_FROM_NOBODY;
    if (initial)
        return HF_FROM_SEVERAL;
    *ret_writer = found;
    return HF_FROM_TXN;
}

hf_origin hf_facts_origin(const hf_history *h, const hf_facts *f,
                          const hf_item_read *read, hf_txn_id *ret_writer)
{
    hf_value_id value = read->value;
    bool initial = hf_value_is_initial(h, read->key, value);

    *ret_writer = HF_NONE;
    if (f->key_use[read->key] & HF_KEY_BLIND)
        return HF_FROM_SEVERAL;
    if (hf_op_writes(h, read->op) && hf_op_written(h, read->op) == value)
        return origin_of_increment(h, f, read, ret_writer);
    if (read->writer == HF_WRITER_INITIAL)
        return initial ? HF_FROM_INITIAL : HF_FROM_NOBODY;
    if (f->key_use[read->key] & HF_KEY_LIST) {
        if (h->value_type[value] != HF_LIST)
            return initial ? HF_FROM_INITIAL : HF_FROM_NOBODY;
        value = hf_list_last(h, value);
        initial = false;
    }
    if (read->writer != HF_NONE) {
        *ret_writer = read->writer;
        return hf_facts_installs(h, read->writer, value) ? HF_FROM_TXN
                                                         : HF_FROM_NOBODY;
    }
    if (f->writer[value] == HF_NONE)
        return initial ? HF_FROM_INITIAL : HF_FROM_NOBODY;
    if (initial || f->writer[value] == HF_SEVERAL)
        return HF_FROM_SEVERAL;
    *ret_writer = f->writer[value];
    return HF_FROM_TXN;
}

/* ---- building ------------------------------------------------------------ */

/* Which kinds of operations there are; counts those that write. */
static uint32_t look_at_kinds(const hf_history *h, uint64_t *ret_writes)
{
    uint32_t kinds = 0;
    uint64_t n = 0;

    for (hf_op_id op = 0; op < h->n_ops; op++) {
        kinds |= 1u << hf_op_kind_of(h, op);
        n += hf_op_writes(h, op);
    }
    *ret_writes = n;
    return kinds;
}

/* How each key is used.  Where there are only whole values that were
 * recorded, nobody asks. */
static bool look_at_keys(hf_verifier *v)
{
    const hf_history *h = v->h;
    hf_facts *f = &v->facts;

    for (hf_op_id op = 0; op < h->n_ops; op++) {
        if (!hf_op_writes(h, op))
            continue;
        if (hf_op_kind_of(h, op) == HF_OP_APPEND)
            f->key_use[h->op_key[op]] |= HF_KEY_LIST;
        else
            f->key_use[h->op_key[op]] |= HF_KEY_WRITTEN;
        if (hf_op_written(h, op) == HF_NONE)
            f->key_use[h->op_key[op]] |= HF_KEY_BLIND;
        if ((op & 0xfff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

/* Why there are no facts; false. */
static bool refuse_key(hf_verifier *v, hf_key_id key)
{
    if (v->facts.key_use[key] & HF_KEY_WRITTEN)
        return hf_give_up(v, HF_ERR_INPUT,
                          "key %s is both appended to and written",
                          hf_label_key(v->h, key).text);
    return hf_give_up(v, HF_ERR_UNSUPPORTED,
                      "key %s is a list with an initial value",
                      hf_label_key(v->h, key).text);
}

static bool refuse_mixed_keys(hf_verifier *v)
{
    const hf_history *h = v->h;
    hf_facts *f = &v->facts;

    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_value_id initial = h->key_initial ? h->key_initial[k] : HF_NONE;

        if (!(f->key_use[k] & HF_KEY_LIST))
            continue;
        f->has_lists = true;
        if (!(f->key_use[k] & HF_KEY_WRITTEN) &&
            (initial == HF_NONE || h->value_type[initial] == HF_NIL))
            continue;
        f->is_hopeless = true;
        f->bad_key = k;
        return refuse_key(v, k);
    }
    return true;
}

static void note_writer(hf_verifier *v, hf_txn_id t, hf_value_id value)
{
    hf_facts *f = &v->facts;

    if (value == HF_NONE)
        return;
    if (f->writer[value] != HF_NONE) {
        f->is_repeated[value] = true;
        if (v->h->value_type[value] != HF_NIL)
            f->repeated = value;
    }
    if (f->writer[value] == HF_NONE)
        f->writer[value] = t;
    else if (f->writer[value] != t)
        f->writer[value] = HF_SEVERAL;
}

/* Adds the last writes of t at `at`; slot_of is HF_NONE everywhere before
 * and after.  Returns the new end. */
static uint32_t add_writes(hf_verifier *v, hf_txn_id t, uint32_t at,
                           uint32_t *slot_of)
{
    const hf_history *h = v->h;
    hf_facts *f = &v->facts;
    uint32_t first = at;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_key_id key = h->op_key[op];

        if (!hf_op_writes(h, op))
            continue;
        note_writer(v, t, hf_op_written(h, op));
        if (slot_of[key] == HF_NONE) {
            slot_of[key] = at;
            f->write_txn[at] = t;
            f->write_key[at++] = key;
        }
        f->write_op[slot_of[key]] = op;
    }
    for (uint32_t i = first; i < at; i++) {
        hf_value_id value = hf_op_written(h, f->write_op[i]);

        slot_of[f->write_key[i]] = HF_NONE;
        if (value != HF_NONE)
            f->is_last[value] = true;
    }
    return at;
}

typedef struct pair {
    hf_key_id key;
    hf_op_id op;
} pair;

static int by_key(const void *a, const void *b)
{
    hf_key_id x = ((const pair *)a)->key, y = ((const pair *)b)->key;

    return (x > y) - (x < y);
}

/* Most transactions write a few keys: those are put in one by one. */
#define FEW 16

static void sort_few(hf_facts *f, uint32_t first, uint32_t end)
{
    for (uint32_t i = first + 1; i < end; i++) {
        pair moved = {f->write_key[i], f->write_op[i]};
        uint32_t at = i;

        for (; at > first && f->write_key[at - 1] > moved.key; at--) {
            f->write_key[at] = f->write_key[at - 1];
            f->write_op[at] = f->write_op[at - 1];
        }
        f->write_key[at] = moved.key;
        f->write_op[at] = moved.op;
    }
}

/* Sorts slots first .. end-1; `pairs` has room for them. */
static void sort_writes(hf_facts *f, uint32_t first, uint32_t end, pair *pairs)
{
    if (end - first <= FEW) {
        sort_few(f, first, end);
        return;
    }
    for (uint32_t i = first; i < end; i++)
        pairs[i - first] = (pair){f->write_key[i], f->write_op[i]};
    qsort(pairs, end - first, sizeof(*pairs), by_key);
    for (uint32_t i = first; i < end; i++) {
        f->write_key[i] = pairs[i - first].key;
        f->write_op[i] = pairs[i - first].op;
    }
}

/* Does some increment leave the value as it was? */
static bool has_still_increment(const hf_history *h)
{
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_kind_of(h, op) == HF_OP_INCREMENT && hf_op_counts(h, op)) {
            hf_increment inc = hf_op_increment(h, op);

            if (inc.after != HF_NONE && inc.before == inc.after)
                return true;
        }
    return false;
}

static bool find_two_writers(hf_verifier *v)
{
    const hf_history *h = v->h;
    hf_facts *f = &v->facts;

    f->first_writer = hf_kept_nones(v, h->n_values, sizeof(hf_txn_id));
    f->second_writer = hf_kept_nones(v, h->n_values, sizeof(hf_txn_id));
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_value_id x =
                hf_op_writes(h, op) ? hf_op_written(h, op) : HF_NONE;

            if (x == HF_NONE || f->first_writer[x] == t ||
                f->second_writer[x] == t)
                continue;
            if (f->first_writer[x] == HF_NONE)
                f->first_writer[x] = t;
            else
                f->second_writer[x] =
                    f->second_writer[x] == HF_NONE ? t : HF_SEVERAL;
        }
        if ((t & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

/* The writers of values, and the keys that each transaction writes. */
static bool find_writes(hf_verifier *v, uint64_t writes)
{
    const hf_history *h = v->h;
    hf_facts *f = &v->facts;
    uint32_t *slot_of = hf_nones(v, h->n_keys, sizeof(*slot_of));
    uint32_t at = 0, longest = 0;
    pair *pairs;

    f->writer = hf_kept_nones(v, h->n_values, sizeof(*f->writer));
    f->repeated = HF_NONE;
    f->is_repeated = hf_kept_zeros(v, h->n_values, sizeof(*f->is_repeated));
    f->is_last = hf_kept_zeros(v, h->n_values, sizeof(*f->is_last));
    f->write_first = hf_kept_zeros(v, (size_t)h->n_txns + 1, sizeof(uint32_t));
    f->write_key = hf_kept_zeros(v, writes, sizeof(*f->write_key));
    f->write_op = hf_kept_zeros(v, writes, sizeof(*f->write_op));
    f->write_txn = hf_kept_zeros(v, writes, sizeof(*f->write_txn));
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        f->write_first[t] = at;
        at = add_writes(v, t, at, slot_of);
        if (at - f->write_first[t] > longest)
            longest = at - f->write_first[t];
        if ((t & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    f->write_first[h->n_txns] = at;
    pairs = hf_zeros(v, longest, sizeof(*pairs));
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        sort_writes(f, f->write_first[t], f->write_first[t + 1], pairs);
    return true;
}

static bool build(hf_verifier *v)
{
    const hf_history *h = v->h;
    hf_facts *f = &v->facts;
    uint64_t writes = 0;
    uint32_t kinds = look_at_kinds(h, &writes);

    f->key_use = hf_kept_zeros(v, h->n_keys, sizeof(*f->key_use));
    for (unsigned kind = 0; kind < HF_OP_KIND_COUNT; kind++)
        f->has_predicates |=
            (kinds >> kind & 1) && hf_op_has_predicate((hf_op_kind)kind);
    if (f->has_predicates)
        hf_entries_open(v); /* values may be added: not asked before this */
    if ((kinds & (1u << HF_OP_APPEND | 1u << HF_OP_INCREMENT)) &&
        (!look_at_keys(v) || !refuse_mixed_keys(v)))
        return false;
    return find_writes(v, writes) &&
           (!(kinds & 1u << HF_OP_INCREMENT) || !has_still_increment(h) ||
            find_two_writers(v));
}

bool hf_facts_build(hf_verifier *v)
{
    hf_facts *f = &v->facts;

    if (f->is_hopeless)
        return refuse_key(v, f->bad_key);
    if (f->is_built)
        return true;
    *f = (hf_facts){0};
    f->is_built = build(v);
    return f->is_built;
}
