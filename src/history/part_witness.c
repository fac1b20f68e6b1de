/* part_witness.c: proofs about a part, and about the whole.
 *
 * Ids of a part ascend with those of the whole, so one way is a table and the
 * other a search in it.  O(the proof log the part).
 */
#include <string.h>

#include "history/part_cut.h"

/* The ids of one kind: table[i] is that of the whole. */
typedef struct ids {
    const uint32_t *table;
    uint32_t n;
} ids;

typedef struct translator {
    ids txns, ops, keys;
    bool to_whole;
    bool fine;
} translator;

static uint32_t turn(translator *x, const ids *table, uint32_t id)
{
    uint32_t other;

    if (id == HF_NONE)
        return HF_NONE;
    if (x->to_whole)
        other = id < table->n ? table->table[id] : HF_NONE;
    else
        other = hf_cut_find(table->table, table->n, id);
    x->fine &= other != HF_NONE;
    return other;
}

static uint32_t turn_chosen(translator *x, uint32_t chosen)
{
    if (chosen == HF_CHOSEN_ONLY || chosen == HF_CHOSEN_INITIAL)
        return chosen;
    return HF_CHOSEN(turn(x, &x->txns, chosen - 1));
}

static void turn_edges(translator *x, const hf_witness *w, hf_arena *arena,
                       hf_witness *ret)
{
    ret->edges = hf_arena_get(
        arena, hf_array_size((size_t)w->n_edges + 1, sizeof(*w->edges)));
    for (uint32_t i = 0; i < w->n_edges; i++) {
        const hf_edge *e = &w->edges[i];

        ret->edges[i] = (hf_edge){e->kind,
                                  turn(x, &x->txns, e->from),
                                  turn(x, &x->txns, e->to),
                                  turn(x, &x->keys, e->key),
                                  turn(x, &x->ops, e->from_op),
                                  turn(x, &x->ops, e->to_op)};
    }
    if (!w->chosen)
        return;
    ret->chosen = hf_arena_get(
        arena, hf_array_size((size_t)w->n_edges + 1, sizeof(*w->chosen)));
    for (uint32_t i = 0; i < w->n_edges; i++)
        ret->chosen[i] = turn_chosen(x, w->chosen[i]);
}

static void turn_steps(translator *x, const hf_witness *w, hf_arena *arena,
                       hf_witness *ret)
{
    ret->steps = hf_arena_get(
        arena, hf_array_size((size_t)w->n_steps + 1, sizeof(*w->steps)));
    ret->used = hf_arena_get(
        arena, hf_array_size((size_t)w->n_used + 1, sizeof(*w->used)));
    if (w->n_used > 0)
        memcpy(ret->used, w->used, w->n_used * sizeof(*w->used));
    for (uint32_t i = 0; i < w->n_steps; i++) {
        ret->steps[i] = w->steps[i];
        ret->steps[i].op = turn(x, &x->ops, w->steps[i].op);
        ret->steps[i].writer = turn(x, &x->txns, w->steps[i].writer);
        ret->steps[i].entry = turn(x, &x->keys, w->steps[i].entry - 1) + 1;
    }
}

static bool translate(const hf_part *p, bool to_whole, const hf_witness *w,
                      hf_arena *arena, hf_witness *ret)
{
    translator x = {.txns = {p->txns, p->h->n_txns},
                    .ops = {p->ops, p->h->n_ops},
                    .keys = {p->keys, p->h->n_keys},
                    .to_whole = to_whole,
                    .fine = true};

    *ret = *w;
    turn_edges(&x, w, arena, ret);
    turn_steps(&x, w, arena, ret);
    ret->order = hf_arena_get(
        arena, hf_array_size((size_t)w->n_order + 1, sizeof(*w->order)));
    for (uint32_t i = 0; i < w->n_order; i++)
        ret->order[i] = turn(&x, &x.txns, w->order[i]);
    return x.fine;
}

bool hf_part_to_whole(const hf_part *p, const hf_witness *w, hf_arena *arena,
                      hf_witness *ret)
{
    return translate(p, true, w, arena, ret);
}

bool hf_part_from_whole(const hf_part *p, const hf_witness *w, hf_arena *arena,
                        hf_witness *ret)
{
    return translate(p, false, w, arena, ret);
}
