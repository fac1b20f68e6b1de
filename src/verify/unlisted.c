/* unlisted.c: rows of which no version set was recorded.
 *
 * The operation looked at some version of every other key of its table, of
 * another transaction that happened or the initial one, and that version does
 * not satisfy its condition; of a key that it wrote itself before, at its own
 * write (docs/semantics.md, "Predicates").  So the possible sources of such a
 * look are all versions that do not satisfy the condition, and of an own write
 * that does there is none.
 *
 * Where some version of a key cannot be judged nothing is said of it but of own
 * writes, nor of a list or a key with increments without results.
 *
 * O(rows) for a key, and its writers for the sources.
 */
#include "verify/predicate.h"
#include "verify/sources.h"

bool hf_has_open_table(hf_verifier *v, hf_txn_id t, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(v->h, op);
    hf_predicate q;

    if (!hf_op_has_predicate(kind) || !hf_op_counts(v->h, op) ||
        hf_op_is_aggregate(kind))
        return false;
    q = hf_op_predicate(v->h, op);
    if (q.has_version_set || !q.has_result_set)
        return false;
    return q.snapshot == HF_SNAPSHOT_NONE ||
           (hf_has_snapshot(v, op) && !hf_is_whole(v, t, op));
}

bool hf_is_unlisted(hf_verifier *v, hf_txn_id t, hf_op_id op, hf_key_id key)
{
    const hf_history *h = v->h;
    hf_predicate q;

    if (!hf_has_open_table(v, t, op))
        return false;
    q = hf_op_predicate(h, op);
    if (q.table != hf_table_of(h, key))
        return false;
    for (uint32_t i = 0; i < q.n_results; i++)
        if (h->value_key[q.results[i].value] == key)
            return false;
    return true;
}

hf_match hf_unlisted_match(hf_verifier *v, hf_op_id op, hf_key_id key,
                           hf_txn_id writer)
{
    const hf_history *h = v->h;
    const hf_condition *c = hf_predicate_condition(v, op);
    hf_value_id value;

    if (v->facts.key_use[key] & (HF_KEY_LIST | HF_KEY_BLIND))
        return HF_MATCH_UNKNOWN;
    if (writer == HF_NONE) {
        value = h->key_initial ? h->key_initial[key] : HF_NONE;
        return value == HF_NONE ? HF_MATCH_NO : hf_predicate_match(v, c, value);
    }
    value = hf_op_written(
        h, v->facts.write_op[hf_facts_slot(&v->facts, writer, key)]);
    return hf_predicate_match(v, c, value);
}

hf_match hf_unlisted_any(hf_verifier *v, hf_op_id op, hf_key_id key)
{
    const hf_key_index *all = hf_writers_of_keys(v);
    hf_match any = hf_unlisted_match(v, op, key, HF_NONE);

    for (uint32_t i = all ? all->first[key] : 0;
         all && any == HF_MATCH_NO && i < all->first[key + 1]; i++)
        if (v->h->txn_outcome[all->at[i]] != HF_ABORTED)
            any = hf_unlisted_match(v, op, key, all->at[i]);
    return all ? any : HF_MATCH_UNKNOWN;
}

bool hf_unlisted_choice(hf_verifier *v, hf_txn_id t, hf_op_id op, hf_key_id key,
                        hf_choice *ret)
{
    const hf_history *h = v->h;
    const hf_key_index *all = hf_writers_of_keys(v);
    hf_op_id own = hf_own_write_before(h, &v->facts, t, op, key);
    hf_match initial = hf_unlisted_match(v, op, key, HF_NONE);
    hf_txn_id *at;

    *ret = (hf_choice){.value = HF_NONE};
    if (own != HF_NONE) /* it should have been returned, whatever others are */
        return hf_predicate_match(v, hf_predicate_condition(v, op),
                                  hf_op_written(h, own)) == HF_MATCH_YES;
    if (!all || initial == HF_MATCH_UNKNOWN)
        return false;
    at = hf_zeros(v, all->first[key + 1] - all->first[key] + 1u, sizeof(*at));
    for (uint32_t i = all->first[key]; i < all->first[key + 1]; i++) {
        hf_txn_id u = all->at[i];
        hf_match m;

        if (u == t || h->txn_outcome[u] == HF_ABORTED ||
            (i > all->first[key] && u == all->at[i - 1]))
            continue;
        m = hf_unlisted_match(v, op, key, u);
        if (m == HF_MATCH_UNKNOWN)
            return false;
        if (m == HF_MATCH_NO)
            at[ret->n_at++] = u;
    }
    ret->initial = initial == HF_MATCH_NO;
    ret->at = at;
    ret->n = ret->initial + ret->n_at;
    return true;
}
