/* poly_lazy.c: reads whose source the order tells need no choice.
 *
 * If the last version of the key before a reader, in the order at hand, has the
 * value that was read, the read is explained: its source is chosen only when
 * the order breaks it, as pairs of atoms are.  Where values are few, nearly
 * everything is explained by a good order, and choosing early would only be
 * wrong in new ways.
 *
 * A read is looked at again when its reader moved or an atom of the key did:
 * O(log atoms), and the versions of one atom.
 */
#include "check/poly_worlds.h"

#include <string.h>

uint32_t hf_poly_taken(const hf_poly *p, uint32_t choice)
{
    const hf_poly_choice *c = &p->choices.at[choice];

    for (uint32_t i = 0; i < c->n; i++)
        if (hf_order_value(p->order, 2 * p->candidates.at[c->first + i].var) ==
            1)
            return i;
    return HF_NONE;
}

/* ---- what the order tells ------------------------------------------------ */

static uint32_t commit_place(const hf_poly *p, uint32_t ver)
{
    hf_txn_id t = p->g->ver_txn[ver];

    return t == HF_NONE ? 0
                        : hf_order_place(p->order)[hf_poly_commit(p, t)] + 1;
}

static bool is_there(const hf_poly *p, uint32_t ver, hf_txn_id reader)
{
    hf_txn_id t = p->g->ver_txn[ver];

    return t == HF_NONE || (t != reader && hf_poly_happens(p, t));
}

/* The last version of an open key that is committed before the place. */
static uint32_t last_before(const hf_poly *p, uint32_t key, uint32_t place,
                            hf_txn_id reader)
{
    const uint32_t *atoms = p->atoms + p->atom_first[key];
    uint32_t low = 0, high = p->atom_first[key + 1] - p->atom_first[key], v;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (commit_place(p, atoms[middle]) <= place)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 1 && !is_there(p, atoms[low - 1], reader))
        low--;
    v = atoms[low - 1]; /* the initial atom is always the first */
    while (p->next[v] != HF_NONE && commit_place(p, p->next[v]) <= place &&
           is_there(p, p->next[v], reader))
        v = p->next[v];
    return v;
}

/* Of an entry: the newest that was committed before the reader, else any. */
static uint32_t told_entry(const hf_poly *p, const hf_poly_choice *c)
{
    uint32_t at = hf_order_place(p->order)[hf_poly_start(p, c->reader)];
    uint32_t best = HF_NONE, best_place = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        const hf_poly_candidate *x = &p->candidates.at[c->first + i];
        uint32_t its = commit_place(p, x->ver);

        if (hf_order_value(p->order, 2 * x->var) == 0 ||
            !is_there(p, x->ver, c->reader))
            continue;
        if (best == HF_NONE || (its <= at && its >= best_place)) {
            best = i;
            best_place = its <= at ? its : 0;
        }
    }
    return best;
}

uint32_t hf_poly_told(const hf_poly *p, uint32_t choice)
{
    const hf_poly_choice *c = &p->choices.at[choice];
    uint32_t key = p->key_index[c->key], place, v;

    if (c->entry)
        return told_entry(p, c);
    if (key == HF_NONE || !(p->events[c->reader] & HF_EVENT_ANTI))
        return HF_NONE;
    place = hf_order_place(p->order)[hf_poly_start(p, c->reader)];
    v = last_before(p, key, place, c->reader);
    for (uint32_t i = 0; i < c->n; i++) {
        const hf_poly_candidate *x = &p->candidates.at[c->first + i];

        if (x->ver == v)
            return hf_order_value(p->order, 2 * x->var) == 0 ? HF_NONE : i;
    }
    return HF_NONE;
}

/* ---- what may have changed ----------------------------------------------- */

void hf_poly_list_lazy(hf_poly *p)
{
    uint32_t *first = HF_NEW_ZEROED(uint32_t, (size_t)p->n_keys + 3);
    uint32_t n = (uint32_t)p->choices.n;

    p->key_choices = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t key = p->key_index[p->choices.at[i].key];

            if (key == HF_NONE)
                continue;
            if (pass == 0)
                first[key + 2]++;
            else
                p->key_choices[first[key + 1]++] = i;
        }
        for (uint32_t k = 0; pass == 0 && k <= p->n_keys; k++)
            first[k + 1] += first[k];
    }
    p->key_choice_first = first;
    p->stale_key = HF_NEW_ZEROED(uint8_t, (size_t)p->n_keys + 1);
    p->stale = HF_NEW_ZEROED(uint8_t, (size_t)n + 1);
    for (uint32_t i = n; i-- > 0;)
        hf_poly_mark_stale(p, i);
}

void hf_poly_mark_stale(hf_poly *p, uint32_t choice)
{
    if (p->stale[choice])
        return;
    p->stale[choice] = 1;
    hf_vec_push(&p->stale_choices, choice);
}

void hf_poly_mark_key_stale(hf_poly *p, uint32_t key)
{
    if (p->stale_key[key])
        return;
    p->stale_key[key] = 1;
    hf_vec_push(&p->stale_keys, key);
}

static bool is_broken(const hf_poly *p, uint32_t choice)
{
    return hf_poly_happens(p, p->choices.at[choice].reader) &&
           hf_poly_taken(p, choice) == HF_NONE &&
           hf_poly_told(p, choice) == HF_NONE;
}

static void spread_keys(hf_poly *p)
{
    while (p->stale_keys.n > 0) {
        uint32_t key = p->stale_keys.at[--p->stale_keys.n];

        p->stale_key[key] = 0;
        for (uint32_t i = p->key_choice_first[key];
             i < p->key_choice_first[key + 1]; i++)
            hf_poly_mark_stale(p, p->key_choices[i]);
    }
}

uint32_t hf_poly_next_broken(hf_poly *p, bool all)
{
    spread_keys(p);
    for (uint32_t i = 0; all && i < p->choices.n; i++)
        if (is_broken(p, i))
            return i;
    while (p->stale_choices.n > 0) {
        uint32_t choice = p->stale_choices.at[p->stale_choices.n - 1];

        if (is_broken(p, choice))
            return choice;
        p->stale[choice] = 0;
        p->stale_choices.n--;
    }
    return HF_NONE;
}
