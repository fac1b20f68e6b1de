/* brute_counters.c: reads of keys with increments without results.
 *
 * They may come from everybody who wrote the key; in an order of all, each
 * version holds what its transaction made of the one before (counters.h).  In
 * a restricted case a read says something only if all who wrote the key are
 * kept.
 */
#include "check/brute.h"

void hf_brute_add_counted_read(hf_brute_case *c, hf_brute_read r,
                               const hf_brute_own *own)
{
    const hf_history *h = c->h;
    const hf_brute_key *k = &c->keys[r.key];
    hf_counting mine = hf_counting_of(h, c->txn[r.node], r.key, r.op);

    if (k->removed_writer)
        return;
    if (mine.sets && !hf_amount_eq(mine.left, hf_amount_of(h, r.value))) {
        hf_op_id ops[2] = {c->writes.at[own->write[r.key]].op, r.op};

        hf_brute_fault_add(c, HF_INTERNAL, r.node, 2, ops);
        return;
    }
    if (!mine.sets && !hf_counters_reach(c->counters, r.key, r.value)) {
        hf_brute_fault_add(c, HF_GARBAGE_READ, r.node, 1, &r.op);
        return;
    }
    r.counted = true;
    r.n_candidates = 2; /* or more: it is never certain */
    r.only_write = HF_NONE;
    r.own_before = own->count[r.key];
    for (uint8_t i = 0; i < c->n_nodes; i++)
        if (i != r.node && hf_counting_leaves(h, c->txn[i], r.key, r.value))
            r.sources |= (uint16_t)(1u << i);
    if (hf_amount_eq(hf_amount_first(h, r.key), hf_amount_of(h, r.value)))
        r.sources |= (uint16_t)(1u << HF_BRUTE_INITIAL);
    if (mine.writes) {
        r.previous = HF_NONE;
        hf_vec_push(&c->reads, r);
    } else {
        hf_brute_push_read(c, r, own);
    }
}

bool hf_brute_counted_fits(const hf_brute_case *c, const hf_brute_world *w,
                           const hf_brute_read *r, uint8_t source)
{
    const hf_history *h = c->h;
    hf_amount now = hf_amount_first(h, r->key);

    for (unsigned at = 0; at < w->n && source != HF_BRUTE_INITIAL; at++) {
        unsigned t = w->order[at];
        hf_counting does = hf_counting_of(
            h, c->txn[t], r->key,
            t == r->node && t == source ? r->op : h->op_first[c->txn[t] + 1]);

        if ((c->keys[r->key].writers >> t) & 1u)
            now = hf_counting_on(now, &does);
        if (t == source)
            break;
    }
    return hf_amount_eq(now, hf_amount_of(h, r->value));
}
