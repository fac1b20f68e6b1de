/* changes.c: which versions certainly change what a condition matches.
 *
 * The version before one is known where the versions of the key have one order
 * in all worlds; else every version that may stand there is tried.  Linear in
 * the versions of the key, or at worst their square.
 */
#include "verify/rests.h"

hf_match hf_version_match(const hf_certain *c, hf_txn_id t, hf_key_id key,
                          const hf_condition *condition)
{
    const hf_history *h = c->v->h;
    const hf_facts *f = &c->v->facts;

    if (t == HF_NONE) {
        hf_value_id initial = h->key_initial ? h->key_initial[key] : HF_NONE;

        return initial == HF_NONE
                   ? HF_MATCH_NO
                   : hf_predicate_match(c->v, condition, initial);
    }
    return hf_predicate_match(
        c->v, condition,
        hf_op_written(h, f->write_op[hf_facts_slot(f, t, key)]));
}

/* Is one of the writers certainly between `first` and `second`? */
static bool someone_between(const hf_certain *c, const hf_txn_id *writers,
                            uint32_t n, hf_txn_id first, hf_txn_id second,
                            hf_key_id key)
{
    for (uint32_t i = 0; i < n; i++)
        if (writers[i] != first && c->happened[writers[i]] &&
            hf_certainly_before(c, first, writers[i], key) &&
            hf_certainly_before(c, writers[i], second, key))
            return true;
    return false;
}

/* Do the versions of the key have one order that all worlds share?  Then the
 * place of each writer in it, by the certificate or the recorded order;
 * HF_TIME_NONE: no place. */
static uint64_t place_in_order(const hf_certain *c, hf_txn_id t, hf_key_id key)
{
    uint32_t slot = hf_facts_slot(&c->v->facts, t, key), place;

    if (hf_is_unordered(c->v, key)) {
        const uint64_t *ranks =
            (c->v->w->rests & HF_REST_ORDER) ? hf_recorded_ranks(c->v) : NULL;

        return ranks && c->happened[t] ? ranks[t] : HF_TIME_NONE;
    }
    place = slot == HF_NONE ? HF_NONE : hf_certificate_place(c, slot);
    return place == HF_NONE ? HF_TIME_NONE : place;
}

/* The short way: where all versions have a place, the one before t's is the
 * last of those that certainly happened, or one placed between.  *ret_known is
 * false if some have none. */
static bool changes_in_order(const hf_certain *c, hf_txn_id t, hf_key_id key,
                             const hf_condition *condition, bool *ret_known)
{
    const hf_history *h = c->v->h;
    const hf_key_index *all = hf_writers_of_keys(c->v);
    uint64_t mine = place_in_order(c, t, key), before = 0;
    hf_match here = hf_version_match(c, t, key, condition), other;
    hf_txn_id last = HF_NONE;

    *ret_known = all && mine != HF_TIME_NONE && c->happened[t];
    for (uint32_t i = *ret_known ? all->first[key] : 0;
         *ret_known && i < all->first[key + 1]; i++) {
        hf_txn_id w = all->at[i];
        uint64_t place;

        if (w == t || h->txn_outcome[w] == HF_ABORTED)
            continue;
        place = place_in_order(c, w, key);
        *ret_known = place != HF_TIME_NONE && place != mine;
        if (!c->happened[w] || place > mine ||
            (last != HF_NONE && place < before))
            continue;
        *ret_known &= last == HF_NONE || place != before;
        last = w;
        before = place;
    }
    if (!*ret_known)
        return false;
    other = hf_version_match(c, last, key, condition);
    if (here == HF_MATCH_UNKNOWN || other == HF_MATCH_UNKNOWN || other == here)
        return false;
    for (uint32_t i = all->first[key]; i < all->first[key + 1]; i++) {
        hf_txn_id w = all->at[i];
        uint64_t place;

        if (c->happened[w] || h->txn_outcome[w] == HF_ABORTED)
            continue;
        place = place_in_order(c, w, key);
        other = hf_version_match(c, w, key, condition);
        if (place < mine && (last == HF_NONE || place > before) &&
            (other == here || other == HF_MATCH_UNKNOWN))
            return false;
    }
    return true;
}

bool hf_certainly_changes(const hf_certain *c, hf_txn_id t, hf_key_id key,
                          const hf_condition *condition)
{
    const hf_history *h = c->v->h;
    const hf_key_index *all = hf_writers_of_keys(c->v);
    hf_match mine = hf_version_match(c, t, key, condition);
    hf_txn_id *writers;
    uint32_t n = 0;
    bool known, changes;

    if (!all)
        return false;
    changes = changes_in_order(c, t, key, condition, &known);
    if (known)
        return changes;
    writers =
        hf_nones(c->v, all->first[key + 1] - all->first[key], sizeof(*writers));
    for (uint32_t i = all->first[key]; i < all->first[key + 1]; i++)
        if (all->at[i] != t && h->txn_outcome[all->at[i]] != HF_ABORTED)
            writers[n++] = all->at[i];
    /* writers[n] is HF_NONE: the initial version */
    for (uint32_t i = 0; i <= n; i++) {
        hf_match other = hf_version_match(c, writers[i], key, condition);

        if (mine == HF_MATCH_UNKNOWN || other == HF_MATCH_UNKNOWN)
            return false;
        if (other == mine &&
            (writers[i] == HF_NONE ||
             !hf_certainly_before(c, t, writers[i], key)) &&
            !someone_between(c, writers, n, writers[i], t, key))
            return false;
        if (hf_out_of_budget(c->v))
            return false;
    }
    return true;
}
