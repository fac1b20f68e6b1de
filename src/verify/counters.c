/* counters.c: see counters.h.
 *
 * In a world the order of commits is that of the versions, so the operations
 * of all transactions are carried out one after the other on such keys, and
 * each version has its number.  A read returns the number of its source, which
 * the witness names, or, after an own write, what that makes of the version
 * before.  In a serial order everybody reads what is there.
 *
 * O(operations).
 */
#include "verify/counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "verify/world.h"

/* ---- what a transaction does to a key ------------------------------------ */

hf_held hf_held_of(const hf_history *h, hf_value_id v)
{
    hf_held held = {.is_number = true, .value = HF_NONE};
    hf_scalar s = {.type = HF_NIL};

    if (v != HF_NONE)
        s = hf_value_scalar(h, v);
    if (s.type == HF_NIL || hf_decimal_split(s, &held.number, &held.rest))
        return held;
    return (hf_held){.is_number = false, .value = v};
}

bool hf_held_is_same(hf_held a, hf_held b)
{
    return a.is_number == b.is_number &&
           (a.is_number ? a.number == b.number && a.rest == b.rest
                        : a.value == b.value);
}

static void add_to(hf_held *now, hf_wide amount)
{
    if (!now->is_number)
        *now = (hf_held){.is_number = true, .value = HF_NONE};
    now->number += amount;
}

static void carry_out(const hf_history *h, hf_op_id op, hf_counted *c)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_increment inc;

    c->writes = true;
    if (kind == HF_OP_INCREMENT) {
        inc = hf_op_increment(h, op);
        if (!inc.has_result && !c->sets) {
            c->added += inc.amount;
            return;
        }
        if (inc.has_result)
            c->held = hf_held_of(h, inc.after);
        else
            add_to(&c->held, inc.amount);
    } else {
        c->held =
            hf_held_of(h, kind == HF_OP_DELETE ? HF_NONE : h->op_value[op]);
    }
    c->sets = true;
}

hf_counted hf_count_of(const hf_history *h, hf_txn_id t, hf_key_id key,
                       hf_op_id end)
{
    hf_counted c = {.writes = false};

    for (hf_op_id op = h->op_first[t]; op < end && op < h->op_first[t + 1];
         op++)
        if (h->op_key[op] == key && hf_op_writes(h, op))
            carry_out(h, op, &c);
    return c;
}

hf_held hf_count_on(hf_held before, const hf_counted *c)
{
    if (c->sets)
        return c->held;
    if (c->writes)
        add_to(&before, c->added);
    return before;
}

bool hf_may_count_to(const hf_history *h, hf_txn_id t, hf_key_id key,
                     hf_value_id value)
{
    hf_counted c = hf_count_of(h, t, key, h->op_first[t + 1]);

    return c.writes && (c.sets ? hf_held_is_same(c.held, hf_held_of(h, value))
                               : hf_held_of(h, value).is_number);
}

/* ---- what it can ever hold ----------------------------------------------- */

#define MOST_SUMS 65536u

typedef HF_VEC(hf_wide) sums;

static int by_size(const void *a, const void *b)
{
    const hf_wide *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void sort_once(sums *s)
{
    size_t n = 0;

    if (s->n > 0)
        qsort(s->at, s->n, sizeof(*s->at), by_size);
    for (size_t i = 0; i < s->n; i++)
        if (n == 0 || s->at[n - 1] != s->at[i])
            s->at[n++] = s->at[i];
    s->n = n;
}

/* With or without the amount: two lists that ascend, merged. */
static void add_amount(sums *s, hf_wide amount)
{
    size_t n = s->n, i = 0, k = 0;
    sums all = {0};

    while (i < n || k < n) {
        bool without = k == n || (i < n && s->at[i] <= s->at[k] + amount);
        hf_wide next = without ? s->at[i] : s->at[k] + amount;

        hf_vec_push(&all, next);
        i += i < n && s->at[i] == next;
        k += k < n && s->at[k] + amount == next;
    }
    hf_vec_release(s);
    *s = all;
}

/* `amounts` are sorted: those that are equal are taken together, 1, 2, 4, ...
 * of them at a time.  False: there are too many sums. */
static bool add_amounts(sums *s, const sums *amounts)
{
    for (size_t i = 0, n; i < amounts->n; i += n) {
        size_t left;

        for (n = 1; i + n < amounts->n && amounts->at[i + n] == amounts->at[i];)
            n++;
        left = n;
        for (size_t k = 1; left > 0; k *= 2) {
            size_t part = k < left ? k : left;

            add_amount(s, amounts->at[i] * (hf_wide)part);
            left -= part;
            if (s->n > MOST_SUMS)
                return false;
        }
    }
    return true;
}

/* Whole numbers are added: only what is the same behind the point matters. */
static void push_base(sums *s, hf_held base, hf_held wanted)
{
    add_to(&base, 0);
    if (base.rest == wanted.rest)
        hf_vec_push(s, base.number);
}

bool hf_counter_reaches(hf_verifier *v, hf_key_id key, hf_value_id value)
{
    const hf_history *h = v->h;
    hf_held wanted = hf_held_of(h, value);
    hf_held first =
        hf_held_of(h, h->key_initial ? h->key_initial[key] : HF_NONE);
    sums s = {0}, amounts = {0};
    bool found = hf_held_is_same(first, wanted), all;

    push_base(&s, first, wanted);
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        hf_counted c = {.writes = false};

        if (h->op_key[op] != key || !hf_op_writes(h, op))
            continue;
        carry_out(h, op, &c);
        found |= c.sets && hf_held_is_same(c.held, wanted);
        if (c.sets)
            push_base(&s, c.held, wanted);
        else if (c.added != 0)
            hf_vec_push(&amounts, c.added);
    }
    sort_once(&s);
    if (amounts.n > 0)
        qsort(amounts.at, amounts.n, sizeof(*amounts.at), by_size);
    all = found || (wanted.is_number && !add_amounts(&s, &amounts));
    for (size_t i = 0; i < s.n && wanted.is_number && !all; i++)
        found |= s.at[i] == wanted.number;
    hf_vec_release(&s);
    hf_vec_release(&amounts);
    return all || found;
}

/* ---- a world ------------------------------------------------------------- */

static bool refuse_operation(hf_verifier *v, hf_txn_id t, hf_op_id op,
                             const char *why)
{
    return hf_refuse(v, "operation %u of %s %s key %s",
                     (unsigned)(op - v->h->op_first[t] + 1),
                     hf_label_txn(v->h, t).text, why,
                     hf_label_key(v->h, v->h->op_key[op]).text);
}

/* Each version's number, and the one before it. */
static bool count_versions(hf_verifier *v, hf_world *w)
{
    const hf_history *h = v->h;
    const hf_facts *f = &v->facts;
    hf_held *now = hf_zeros(v, h->n_keys, sizeof(*now));

    for (hf_key_id k = 0; k < h->n_keys; k++)
        now[k] = hf_held_of(h, h->key_initial ? h->key_initial[k] : HF_NONE);
    w->held_before =
        hf_zeros(v, f->write_first[h->n_txns], sizeof(*w->held_before));
    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];

        for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++) {
            hf_key_id key = f->write_key[s];
            hf_counted c;

            if (!hf_is_counter(f, key))
                continue;
            c = hf_count_of(h, t, key, h->op_first[t + 1]);
            w->held_before[s] = now[key];
            now[key] = hf_count_on(now[key], &c);
        }
        if ((i & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

bool hf_world_count(hf_verifier *v, hf_world *w)
{
    for (hf_key_id k = 0; k < v->h->n_keys; k++)
        if (hf_is_counter(&v->facts, k))
            return count_versions(v, w);
    return true;
}

/* What the version of `source` (HF_NONE: the initial one) holds. */
static hf_held held_by(hf_verifier *v, const hf_world *w, hf_txn_id source,
                       hf_key_id key)
{
    const hf_history *h = v->h;
    hf_counted c;

    if (source == HF_NONE)
        return hf_held_of(h, h->key_initial ? h->key_initial[key] : HF_NONE);
    c = hf_count_of(h, source, key, h->op_first[source + 1]);
    return hf_count_on(w->held_before[hf_facts_slot(&v->facts, source, key)],
                       &c);
}

bool hf_world_read_own(hf_verifier *v, const hf_world *w, hf_txn_id t,
                       const hf_item_read *read)
{
    hf_counted c = hf_count_of(v->h, t, read->key, read->op);
    hf_held held =
        hf_count_on(w->held_before[hf_facts_slot(&v->facts, t, read->key)], &c);

    if (!hf_reads_matter_to(v, t) && !c.sets)
        return hf_counter_reaches(v, read->key, read->value) ||
               refuse_operation(v, t, read->op, "returns no sum, of");
    return hf_held_is_same(held, hf_held_of(v->h, read->value)) ||
           refuse_operation(v, t, read->op,
                            "returns what the order does not give, of");
}

/* Who wrote what is there when t reads, of a serial order. */
static hf_txn_id current(hf_verifier *v, hf_world *w, hf_txn_id t,
                         hf_key_id key)
{
    uint32_t i;

    hf_world_collect_writers(v, w);
    i = hf_world_writer_from(w, key, w->place[t]);
    return i == w->writer_first[key] ? HF_NONE : w->writers[i - 1];
}

bool hf_world_read_counter(hf_verifier *v, hf_world *w, hf_txn_id t,
                           const hf_item_read *read, const hf_source *entry,
                           hf_txn_id *ret_source)
{
    if (!hf_reads_matter_to(v, t)) {
        *ret_source = HF_SEVERAL;
        return hf_counter_reaches(v, read->key, read->value) ||
               refuse_operation(v, t, read->op, "returns no sum, of");
    }
    if (entry)
        *ret_source = entry->writer;
    else if (v->w->kind == HF_WITNESS_SERIAL && !v->w->mixed)
        *ret_source = current(v, w, t, read->key);
    else
        return refuse_operation(v, t, read->op,
                                "has no source in the witness, and reads");
    if (*ret_source != HF_NONE &&
        (*ret_source == t || w->place[*ret_source] == HF_NONE))
        return refuse_operation(v, t, read->op,
                                "has a source that is not in the order, of");
    return hf_held_is_same(held_by(v, w, *ret_source, read->key),
                           hf_held_of(v->h, read->value)) ||
           refuse_operation(v, t, read->op,
                            "returns what the order does not give, of");
}
