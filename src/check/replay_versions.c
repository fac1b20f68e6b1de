/* replay_versions.c: all versions of the keys, in the expected order.
 *
 * Made once, when something must be known of a state that is not the current
 * one: for each key its versions with the first state that has them.  One
 * pass over the operations; which version a state has is a binary search.
 */
#include "check/replay.h"

#include <string.h>

struct hf_replay_versions {
    uint32_t *first; /* per key; n_keys + 1 */
    hf_replay_version *all;
    /* made by hf_replay_link_values() */
    uint32_t *last_of; /* per value: its last version */
    uint32_t *before;  /* per version: the one before it of equal value */
};

/* Is it the last write of its key in the transaction? */
static bool is_last(const hf_history *h, hf_txn_id t, hf_op_id op)
{
    for (hf_op_id o = op + 1; o < h->op_first[t + 1]; o++)
        if (h->op_key[o] == h->op_key[op] && hf_replay_writes(h, o))
            return false;
    return true;
}

static void add(const hf_replay *p, struct hf_replay_versions *v,
                uint32_t *next, uint32_t i)
{
    const hf_history *h = p->h;
    hf_txn_id t = p->order.at[i];

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        hf_key_id key = h->op_key[o];

        if (!hf_replay_writes(h, o) || !is_last(h, t, o))
            continue;
        if (next)
            v->all[next[key]++] =
                (hf_replay_version){i + 1, hf_replay_written(h, o)};
        else
            v->first[key + 1]++;
    }
}

struct hf_replay_versions *hf_replay_versions_get(hf_replay *p)
{
    const hf_history *h = p->h;
    struct hf_replay_versions *v = p->versions;
    uint32_t *next;

    if (v)
        return v;
    p->versions = v = HF_NEW(struct hf_replay_versions);
    v->first = HF_NEW_ZEROED(uint32_t, (size_t)h->n_keys + 2);
    for (uint32_t i = 0; i < p->order.n; i++)
        add(p, v, NULL, i);
    for (hf_key_id k = 0; k < h->n_keys; k++)
        v->first[k + 1] += v->first[k] + 1; /* and the initial one */
    v->all = hf_alloc_large(
        hf_array_size((size_t)v->first[h->n_keys] + 1, sizeof(*v->all)));
    next = HF_NEW_ARRAY(uint32_t, (size_t)h->n_keys + 1);
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        v->all[v->first[k]] = (hf_replay_version){
            0, h->key_initial ? h->key_initial[k] : HF_NONE};
        next[k] = v->first[k] + 1;
    }
    for (uint32_t i = 0; i < p->order.n; i++)
        add(p, v, next, i);
    hf_free(next);
    return v;
}

void hf_replay_versions_free(struct hf_replay_versions *v)
{
    if (!v)
        return;
    hf_free(v->first);
    hf_free(v->all);
    hf_free(v->last_of);
    hf_free(v->before);
    hf_free(v);
}

void hf_replay_link_values(hf_replay *p)
{
    const hf_history *h = p->h;
    struct hf_replay_versions *v = hf_replay_versions_get(p);
    uint32_t n = v->first[h->n_keys];

    if (v->last_of)
        return;
    v->last_of = HF_NEW_ARRAY(uint32_t, (size_t)h->n_values + 1);
    v->before = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    memset(v->last_of, 0xff, ((size_t)h->n_values + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < n; i++) {
        hf_value_id value = v->all[i].value;

        v->before[i] = HF_NONE;
        if (value >= HF_REPLAY_OPEN)
            continue;
        v->before[i] = v->last_of[value];
        v->last_of[value] = i;
    }
}

uint32_t hf_replay_candidate(hf_replay *p, hf_key_id key, hf_value_id value,
                             uint32_t after)
{
    const struct hf_replay_versions *v = p->versions;
    uint32_t first = v->first[key], i;
    bool nil = hf_replay_is_nil(p->h, value);

    if (after == 0)
        return HF_NONE;
    if (after == HF_NONE)
        i = value == HF_NONE ? HF_NONE : v->last_of[value];
    else
        i = v->before[first + after];
    if (i != HF_NONE)
        return i - first;
    return nil && v->all[first].value == HF_NONE ? 0 : HF_NONE;
}

uint32_t hf_replay_versions_of(hf_replay *p, hf_key_id key,
                               const hf_replay_version **ret)
{
    const struct hf_replay_versions *v = hf_replay_versions_get(p);

    *ret = v->all + v->first[key];
    return v->first[key + 1] - v->first[key];
}

uint32_t hf_replay_version_at(const hf_replay_version *at, uint32_t n,
                              uint32_t q)
{
    uint32_t low = 1, high = n; /* the initial one is there always */

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (at[middle].birth <= q)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}
