/* states_sums.c: what makes a search over states shorter.
 *
 * Counters.  What is there, or is set by somebody left, and all that those who
 * are left can add or take away: a number outside of that will not be there any
 * more.  If somebody who certainly happened wants it, the state leads nowhere.
 *
 * Twins.  Of two transactions that nothing tells apart the first comes first:
 * exchanged, an order is one as before.
 *
 * A state costs, for each counter, the numbers that were read times those it is
 * set to.
 */
#include "check/states.h"

#include <stdlib.h>
#include <string.h>

/* ---- counters ------------------------------------------------------------ */

static int by_cell(const void *a, const void *b)
{
    const hf_states_sum *x = a, *y = b;

    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    if (x->sets != y->sets)
        return x->sets < y->sets ? -1 : 1;
    return (x->holding > y->holding) - (x->holding < y->holding);
}

static void add_sum(hf_states *s, uint32_t part, hf_key_id cell,
                    hf_holding holding, bool sets)
{
    hf_states_sum x = {
        .cell = cell, .holding = holding, .sets = sets, .part = part};

    if (s->kind[cell] == HF_CELL_COUNTER &&
        hf_states_number_in(s, holding, &x.number))
        hf_vec_push(&s->sums, x);
}

static void add_node(hf_states *s, uint32_t part, uint32_t node)
{
    for (uint32_t i = s->demand_first[node]; i < s->demand_first[node + 1]; i++)
        add_sum(s, part, s->demands.at[i].cell, s->demands.at[i].wanted, false);
    for (uint32_t i = s->effect_first[node]; i < s->effect_first[node + 1]; i++)
        if (s->effects.at[i].kind == HF_EFFECT_SET)
            add_sum(s, part, s->effects.at[i].cell, s->effects.at[i].set, true);
}

static void list_sums(hf_states *s)
{
    size_t n = 0;

    for (uint32_t p = 0; p < s->n_parts; p++)
        for (uint32_t t = s->part_first[p]; t < s->part_first[p + 1]; t++)
            add_node(s, p, t);
    if (s->sums.n > 1)
        qsort(s->sums.at, s->sums.n, sizeof(*s->sums.at), by_cell);
    for (size_t i = 0; i < s->sums.n; i++)
        if (n == 0 || by_cell(&s->sums.at[n - 1], &s->sums.at[i]) != 0)
            s->sums.at[n++] = s->sums.at[i];
    s->sums.n = n;
}

/* Those of one cell, from `first` on: wanted ones, then what it is set to. */
static bool is_lost(const hf_run *r, size_t first, size_t sets, size_t end)
{
    const hf_states *s = r->s;
    hf_key_id cell = s->sums.at[first].cell;
    hf_wide low = r->low[cell], high = r->high[cell];

    for (size_t i = first; i < sets; i++) {
        const hf_states_sum *x = &s->sums.at[i];
        hf_wide gap = (hf_wide)x->number - r->number[cell];
        bool fine = r->need_sure[x->holding] == 0 ||
                    (s->past && r->been[x->holding] > 0) ||
                    (low <= gap && gap <= high);

        for (size_t k = sets; k < end && !fine; k++) {
            gap = (hf_wide)x->number - s->sums.at[k].number;
            fine = r->writers[s->sums.at[k].holding] > 0 && low <= gap &&
                   gap <= high;
        }
        if (!fine)
            return true;
    }
    return false;
}

bool hf_run_is_lost(const hf_run *r)
{
    const hf_states *s = r->s;

    for (size_t first = 0, sets, end; first < s->sums.n; first = end) {
        hf_key_id cell = s->sums.at[first].cell;

        sets = end = first;
        while (end < s->sums.n && s->sums.at[end].cell == cell) {
            sets += !s->sums.at[end].sets;
            end++;
        }
        if (r->cell_need_sure[cell] > 0 &&
            s->sums.at[first].part == r->at_part &&
            is_lost(r, first, sets, end))
            return true;
    }
    return false;
}

/* ---- twins --------------------------------------------------------------- */

/* Nobody waits for it, and it for nobody. */
static void mark_tied(const hf_states *s, uint8_t *tied)
{
    for (uint32_t i = 0; i < s->n; i++) {
        tied[i] |= s->waits[i] > 0 || s->out_first[i] < s->out_first[i + 1] ||
                   s->kill_first[i] < s->kill_first[i + 1];
        for (uint32_t k = s->kill_first[i]; k < s->kill_first[i + 1]; k++)
            tied[s->kill[k]] = 1;
    }
}

static bool are_alike(const hf_states *s, uint32_t a, uint32_t b)
{
    uint32_t demands = s->demand_first[a + 1] - s->demand_first[a];
    uint32_t effects = s->effect_first[a + 1] - s->effect_first[a];

    if (s->maybe[a] != s->maybe[b] || s->broken[a] != s->broken[b] ||
        demands != s->demand_first[b + 1] - s->demand_first[b] ||
        effects != s->effect_first[b + 1] - s->effect_first[b])
        return false;
    for (uint32_t i = 0; i < demands; i++) {
        const hf_demand *x = &s->demands.at[s->demand_first[a] + i];
        const hf_demand *y = &s->demands.at[s->demand_first[b] + i];

        if (x->cell != y->cell || x->wanted != y->wanted ||
            x->before != y->before)
            return false;
    }
    for (uint32_t i = 0; i < effects; i++) {
        const hf_effect *x = &s->effects.at[s->effect_first[a] + i];
        const hf_effect *y = &s->effects.at[s->effect_first[b] + i];

        if (x->cell != y->cell || x->kind != y->kind || x->set != y->set ||
            x->number != y->number || x->n != y->n ||
            (x->n > 0 &&
             memcmp(s->elements.at + x->first, s->elements.at + y->first,
                    x->n * sizeof(*s->elements.at)) != 0))
            return false;
    }
    return true;
}

static uint64_t hash_node(const hf_states *s, uint32_t node)
{
    uint64_t x = s->maybe[node];

    for (uint32_t i = s->demand_first[node]; i < s->demand_first[node + 1]; i++)
        x = hf_mix64(x ^ ((uint64_t)s->demands.at[i].cell << 32 |
                          s->demands.at[i].wanted));
    for (uint32_t i = s->effect_first[node]; i < s->effect_first[node + 1]; i++)
        x = hf_mix64(x ^ s->effects.at[i].cell) ^
            (uint64_t)s->effects.at[i].number;
    return x;
}

static void find_twins(hf_states *s)
{
    uint8_t *tied = HF_NEW_ZEROED(uint8_t, (size_t)s->n + 1);
    hf_map last;

    s->twin = HF_NEW_ARRAY(uint32_t, (size_t)s->n + 1);
    hf_map_init(&last);
    mark_tied(s, tied);
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t hash = hash_node(s, i);
        uint32_t other;

        s->twin[i] = HF_NONE;
        if (tied[i] || s->times)
            continue;
        other = hf_map_get(&last, hash);
        if (other != UINT32_MAX && are_alike(s, other, i))
            s->twin[i] = other;
        hf_map_set(&last, hash, i);
    }
    hf_map_release(&last);
    hf_free(tied);
}

void hf_states_shorten(hf_states *s)
{
    list_sums(s);
    find_twins(s);
}
