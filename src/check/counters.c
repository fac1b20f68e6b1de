/* counters.c: see counters.h.
 *
 * What a key can ever hold is a sum: of what it held to begin with, or was set
 * to, and of some increments, by transactions of any outcome.  Equal amounts
 * are taken together, 1, 2, 4, ... of them at a time, so the sums of n
 * increments by 1 are found in log n steps.  Where there are more than
 * MOST_SUMS nothing is said.
 *
 * O(operations log operations), and the sums for each such step.
 */
#include "check/counters.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SUMS 65536u

hf_amount hf_amount_of(const hf_history *h, hf_value_id v)
{
    hf_amount a = {.is_number = true, .value = HF_NONE};
    hf_scalar s = {.type = HF_NIL};

    if (v != HF_NONE)
        s = hf_value_scalar(h, v);
    if (s.type != HF_NIL && !hf_decimal_split(s, &a.number, &a.rest))
        return (hf_amount){.is_number = false, .value = v};
    return a;
}

hf_amount hf_amount_first(const hf_history *h, hf_key_id key)
{
    return hf_amount_of(h, h->key_initial ? h->key_initial[key] : HF_NONE);
}

bool hf_amount_eq(hf_amount a, hf_amount b)
{
    if (a.is_number != b.is_number)
        return false;
    return a.is_number ? a.number == b.number && a.rest == b.rest
                       : a.value == b.value;
}

hf_amount hf_amount_plus(hf_amount a, hf_wide added)
{
    if (!a.is_number)
        a = (hf_amount){.is_number = true, .value = HF_NONE};
    a.number += added;
    return a;
}

static bool writes(const hf_history *h, hf_op_id op)
{
    return !(h->op_kind[op] & HF_OP_FAILED) &&
           hf_op_installs(hf_op_kind_of(h, op));
}

static void count(const hf_history *h, hf_op_id op, hf_counting *c)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_value_id v = h->op_value[op];

    c->writes = true;
    if (kind == HF_OP_INCREMENT) {
        hf_increment inc = hf_op_increment(h, op);

        v = inc.after;
        if (!inc.has_result) {
            if (c->sets)
                c->left = hf_amount_plus(c->left, inc.amount);
            else
                c->added += inc.amount;
            return;
        }
    }
    c->sets = true;
    c->left = hf_amount_of(h, kind == HF_OP_DELETE ? HF_NONE : v);
}

hf_counting hf_counting_of(const hf_history *h, hf_txn_id t, hf_key_id key,
                           hf_op_id end)
{
    hf_counting c = {.writes = false};

    for (hf_op_id op = h->op_first[t]; op < end && op < h->op_first[t + 1];
         op++)
        if (h->op_key[op] == key && writes(h, op))
            count(h, op, &c);
    return c;
}

hf_amount hf_counting_on(hf_amount before, const hf_counting *c)
{
    if (c->sets)
        return c->left;
    if (!c->writes)
        return before;
    return hf_amount_plus(before, c->added);
}

bool hf_counting_leaves(const hf_history *h, hf_txn_id t, hf_key_id key,
                        hf_value_id v)
{
    hf_counting c = hf_counting_of(h, t, key, h->op_first[t + 1]);
    hf_amount wanted = hf_amount_of(h, v);

    return c.writes &&
           (c.sets ? hf_amount_eq(c.left, wanted) : wanted.is_number);
}

/* ---- what a key can ever hold -------------------------------------------- */

typedef HF_VEC(hf_amount) sum_list;

typedef struct hf_reach {
    bool is_counter, too_many;
    sum_list sums; /* numbers, sorted */
    HF_VEC(hf_wide) amounts;
    HF_VEC(hf_value_id) others; /* that are no numbers */
} reach;

struct hf_counters {
    const hf_history *h;
    reach *keys;
};

static int by_size(const void *a, const void *b)
{
    const hf_wide *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int by_number(const void *a, const void *b)
{
    const hf_amount *x = a, *y = b;
    int whole = by_size(&x->number, &y->number);

    return whole != 0 ? whole : by_size(&x->rest, &y->rest);
}

static void sort_once(sum_list *l)
{
    size_t n = 0;

    if (l->n > 1)
        qsort(l->at, l->n, sizeof(*l->at), by_number);
    for (size_t i = 0; i < l->n; i++)
        if (n == 0 || !hf_amount_eq(l->at[n - 1], l->at[i]))
            l->at[n++] = l->at[i];
    l->n = n;
}

/* Both ascend, the sums as they are and with the amount: they are merged. */
static void add_one(reach *r, hf_wide amount)
{
    sum_list both = {0};
    size_t n = r->sums.n, i = 0, k = 0;

    while (k < n) {
        hf_amount with = hf_amount_plus(r->sums.at[k], amount);
        int order = i < n ? by_number(&r->sums.at[i], &with) : 1;

        hf_vec_push(&both, order <= 0 ? r->sums.at[i] : with);
        i += order <= 0;
        k += order >= 0;
    }
    for (; i < n; i++)
        hf_vec_push(&both, r->sums.at[i]);
    hf_vec_release(&r->sums);
    r->sums = both;
    r->too_many = r->sums.n > MOST_SUMS;
}

static void add_equal(reach *r, hf_wide amount, size_t times)
{
    for (size_t k = 1; times > 0 && !r->too_many; k *= 2) {
        size_t part = k < times ? k : times;

        add_one(r, amount * (hf_wide)part);
        times -= part;
    }
}

static void add_up(reach *r)
{
    if (r->amounts.n > 1)
        qsort(r->amounts.at, r->amounts.n, sizeof(hf_wide), by_size);
    sort_once(&r->sums);
    for (size_t i = 0, n; i < r->amounts.n && !r->too_many; i += n) {
        n = 1;
        while (i + n < r->amounts.n && r->amounts.at[i + n] == r->amounts.at[i])
            n++;
        add_equal(r, r->amounts.at[i], n);
    }
}

static void begin_with(reach *r, hf_amount a)
{
    hf_vec_push(&r->sums, hf_amount_plus(a, 0));
    if (!a.is_number)
        hf_vec_push(&r->others, a.value);
}

static void take_write(hf_counters *c, hf_op_id op)
{
    reach *r = &c->keys[c->h->op_key[op]];
    hf_counting one = {.writes = false};

    count(c->h, op, &one);
    if (one.sets) {
        begin_with(r, one.left);
        return;
    }
    if (one.added != 0)
        hf_vec_push(&r->amounts, one.added);
}

hf_counters *hf_counters_new(const hf_history *h)
{
    hf_counters *c = HF_NEW(hf_counters);

    c->h = h;
    c->keys = HF_NEW_ZEROED(reach, (size_t)h->n_keys + 1);
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_kind_of(h, op) == HF_OP_INCREMENT && writes(h, op) &&
            !hf_op_increment(h, op).has_result)
            c->keys[h->op_key[op]].is_counter = true;
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (writes(h, op) && c->keys[h->op_key[op]].is_counter)
            take_write(c, op);
    for (hf_key_id k = 0; k < h->n_keys; k++)
        if (c->keys[k].is_counter) {
            begin_with(&c->keys[k], hf_amount_first(h, k));
            add_up(&c->keys[k]);
        }
    return c;
}

void hf_counters_free(hf_counters *c)
{
    for (hf_key_id k = 0; c && k < c->h->n_keys; k++) {
        hf_vec_release(&c->keys[k].sums);
        hf_vec_release(&c->keys[k].amounts);
        hf_vec_release(&c->keys[k].others);
    }
    if (c)
        hf_free(c->keys);
    hf_free(c);
}

bool hf_counters_reach(const hf_counters *c, hf_key_id key, hf_value_id v)
{
    const reach *r = &c->keys[key];
    hf_amount wanted = hf_amount_of(c->h, v);

    if (wanted.is_number)
        return r->too_many || bsearch(&wanted, r->sums.at, r->sums.n,
                                      sizeof(wanted), by_number);
    for (size_t i = 0; i < r->others.n; i++)
        if (r->others.at[i] == wanted.value)
            return true;
    return false;
}
