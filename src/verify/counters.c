/* counters.c: keys with increments whose results were not recorded.
 *
 * What such an increment read and wrote follows from where it stands.  In a
 * serial order that is known: the operations of all transactions are carried
 * out one after the other on those keys, and each read must return what is
 * there.  A key that holds no number cannot be incremented; nil is 0 here.
 *
 * O(operations).
 */
#include "base/error.h"
#include "verify/world.h"

/* What a key holds: a number, or a value that is none. */
typedef struct holding {
    bool is_number;
    int64_t number;
    hf_value_id value;
} holding;

static holding holding_of(const hf_history *h, hf_value_id v)
{
    hf_scalar s = {.type = HF_NIL};

    if (v != HF_NONE)
        s = hf_value_scalar(h, v);
    if (s.type == HF_INT || s.type == HF_NIL)
        return (holding){true, s.type == HF_INT ? s.number : 0, HF_NONE};
    return (holding){false, 0, v};
}

static bool is_same(holding a, holding b)
{
    return a.is_number == b.is_number &&
           (a.is_number ? a.number == b.number : a.value == b.value);
}

static bool refuse_operation(hf_verifier *v, hf_txn_id t, hf_op_id op,
                             const char *why)
{
    return hf_refuse(v, "operation %u of %s %s key %s",
                     (unsigned)(op - v->h->op_first[t] + 1),
                     hf_label_txn(v->h, t).text, why,
                     hf_label_key(v->h, v->h->op_key[op]).text);
}

static bool increment(hf_verifier *v, hf_txn_id t, hf_op_id op, holding *now)
{
    hf_increment inc = hf_op_increment(v->h, op);

    if (inc.has_result) {
        if (!is_same(holding_of(v->h, inc.before), *now))
            return refuse_operation(v, t, op, "finds something else in");
        *now = holding_of(v->h, inc.after);
        return true;
    }
    return (now->is_number &&
            !__builtin_add_overflow(now->number, inc.amount, &now->number)) ||
           refuse_operation(v, t, op, "finds no number in");
}

static bool carry_out(hf_verifier *v, hf_txn_id t, hf_op_id op, holding *now)
{
    const hf_history *h = v->h;
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (kind == HF_OP_INCREMENT)
        return increment(v, t, op, now);
    if (hf_op_reads_item(kind))
        return h->op_value[op] == HF_NONE ||
               is_same(holding_of(h, h->op_value[op]), *now) ||
               refuse_operation(v, t, op,
                                "returns what the order does not give, of");
    if (hf_op_writes(h, op))
        *now = holding_of(h, kind == HF_OP_DELETE ? HF_NONE : h->op_value[op]);
    return true;
}

bool hf_world_count(hf_verifier *v, hf_world *w)
{
    const hf_history *h = v->h;
    const uint8_t *use = v->facts.key_use;
    holding *now;

    if (v->w->kind != HF_WITNESS_SERIAL || v->w->mixed || v->w->rests ||
        v->facts.has_predicates)
        return true; /* a read of such a key will be refused */
    now = hf_zeros(v, h->n_keys, sizeof(*now));
    for (hf_key_id k = 0; k < h->n_keys; k++)
        now[k] = holding_of(h, h->key_initial ? h->key_initial[k] : HF_NONE);
    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];

        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            if (h->op_key[op] != HF_NONE && hf_op_counts(h, op) &&
                (use[h->op_key[op]] & (HF_KEY_BLIND | HF_KEY_LIST)) ==
                    HF_KEY_BLIND &&
                !carry_out(v, t, op, &now[h->op_key[op]]))
                return false;
        if ((i & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    w->counted = true;
    return true;
}
