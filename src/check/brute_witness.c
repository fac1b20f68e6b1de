/* brute_witness.c: from a valid world to the order that proves it.
 *
 *   serial order    a topological order of W + A (repeatable-read: W + rw)
 *   snapshot order  a topological order of the start and the commit events:
 *                   start before commit; i W j: i's commit before j's start;
 *                   i A j: i's start before j's commit.  A cycle of these is
 *                   a cycle of W ; A?, and the world has none.  Mixed levels:
 *                   the world's own order, each start as early as it may be
 *   commit order    a topological order of W; where the level is defined by a
 *                   commit order, or is read-uncommitted, the world's own
 *
 * Each keeps the version orders of the world, because they contain ww.
 */
#include "check/brute.h"

#include "base/error.h"

#define EVENTS (2 * HF_BRUTE_NODES)

/* before[e]: the events that must come before e. */
typedef struct schedule {
    uint32_t n;
    uint16_t present;
    uint16_t before[EVENTS];
} schedule;

/* Writes a topological order; ties go to the lowest event. */
static void topological(const schedule *s, uint32_t *ret_events)
{
    uint16_t left = s->present;
    uint32_t n = 0;

    while (left) {
        unsigned e = 0;

        while (e < EVENTS && (!(left >> e & 1u) || (s->before[e] & left)))
            e++;
        if (e == EVENTS)
            HF_BUG("a valid world has a cycle");
        ret_events[n++] = e;
        left &= (uint16_t) ~(1u << e);
    }
    HF_ASSERT(n == s->n);
}

static hf_relation w_and_a(const hf_brute_world *w, const hf_level_info *level,
                           bool with_a, bool with_prw)
{
    hf_relation r = hf_relation_union(w->ww, w->wr);

    r = hf_relation_union(r, w->pwr);
    if (level->session_order)
        r = hf_relation_union(r, w->so);
    if (level->real_time)
        r = hf_relation_union(r, w->rt);
    if (with_a)
        r = hf_relation_union(r, w->rw);
    if (with_prw)
        r = hf_relation_union(r, w->prw);
    return r;
}

/* A topological order of r, which holds ww. */
static void order_by(const hf_brute_case *c, const hf_brute_world *w,
                     hf_relation r, uint32_t *ret_order)
{
    schedule s = {.n = w->n, .present = w->committed};

    for (unsigned i = 0; i < c->n_nodes; i++)
        for (unsigned j = 0; j < c->n_nodes; j++)
            if (hf_relation_has(&r, i, j))
                s.before[j] |= (uint16_t)(1u << i);
    topological(&s, ret_order);
    for (unsigned i = 0; i < w->n; i++)
        ret_order[i] = c->txn[ret_order[i]];
}

static void snapshot_order(const hf_brute_case *c, const hf_brute_world *w,
                           const hf_level_info *level, uint32_t *ret_order)
{
    hf_relation W = w_and_a(w, level, false, false);
    hf_relation A = hf_relation_union(w->rw, w->prw);
    schedule s = {.n = 2u * w->n};

    for (unsigned i = 0; i < c->n_nodes; i++) {
        if (!(w->committed >> i & 1u))
            continue;
        s.present |= (uint16_t)(3u << 2 * i);
        s.before[2 * i + 1] |= (uint16_t)(1u << 2 * i);
        for (unsigned j = 0; j < c->n_nodes; j++) {
            if (hf_relation_has(&W, i, j))
                s.before[2 * j] |= (uint16_t)(1u << (2 * i + 1));
            if (hf_relation_has(&A, i, j))
                s.before[2 * j + 1] |= (uint16_t)(1u << 2 * i);
        }
    }
    topological(&s, ret_order);
    for (unsigned i = 0; i < 2u * w->n; i++)
        ret_order[i] = 2 * c->txn[ret_order[i] / 2] + ret_order[i] % 2;
}

/* At read-uncommitted nothing was chosen: any write of the value will do, one
 * that happened rather than another. */
static hf_txn_id some_writer(const hf_brute_case *c, const hf_brute_world *w,
                             const hf_brute_read *r)
{
    hf_value_id value = r->value;
    hf_txn_id found = HF_NONE;

    if (r->list) {
        if (r->n_elements == 0)
            return HF_NONE;
        value = c->elements.at[r->first_element + r->n_elements - 1].value;
    } else if (r->sources >> HF_BRUTE_INITIAL & 1u) {
        return HF_NONE;
    }
    for (uint32_t i = c->first_equal[value]; i != HF_NONE;
         i = c->writes.at[i].next_equal) {
        const hf_brute_write *x = &c->writes.at[i];

        if (x->append != r->list ||
            (r->writer != HF_NONE && r->writer != x->txn))
            continue;
        found = x->txn;
        if (x->node != HF_BRUTE_UNSET && (w->committed >> x->node & 1u))
            break;
    }
    return found;
}

static void add_sources(const hf_brute_case *c, const hf_brute_world *w,
                        hf_result *result)
{
    hf_witness *witness = &result->witness;

    witness->sources = hf_arena_get(
        &result->arena, hf_array_size(c->reads.n, sizeof(hf_source)));
    for (uint32_t i = 0; i < c->reads.n; i++) {
        const hf_brute_read *r = &c->reads.at[i];
        hf_source source = {.op = r->op, .index = r->index};

        if (r->n_candidates < 2 || r->unlisted || r->own_before > 0 ||
            r->writer != HF_NONE || !(w->committed >> r->node & 1u) ||
            (r->counted && w->source[i] == HF_BRUTE_UNSET))
            continue; /* the history says it, or there is no need to */
        if (w->source[i] == HF_BRUTE_INITIAL)
            source.writer = HF_NONE;
        else if (w->source[i] == HF_BRUTE_UNSET)
            source.writer = some_writer(c, w, r);
        else
            source.writer = c->txn[w->source[i]];
        witness->sources[witness->n_sources++] = source;
    }
}

static void mixed_order(const hf_brute_case *c, const hf_brute_world *w,
                        const hf_brute_levels *levels, hf_witness *witness)
{
    witness->kind = HF_WITNESS_SNAPSHOT;
    witness->n_order = 0;
    for (unsigned at = 0; at < w->n; at++) {
        for (unsigned i = at; i < w->n; i++)
            if (hf_brute_mixed_start(w, levels, w->order[i]) == (int)at)
                witness->order[witness->n_order++] = 2 * c->txn[w->order[i]];
        witness->order[witness->n_order++] = 2 * c->txn[w->order[at]] + 1;
    }
    HF_ASSERT(witness->n_order == 2u * w->n);
}

void hf_brute_witness_valid(const hf_brute_case *c, const hf_brute_world *w,
                            const hf_brute_levels *levels, hf_result *result)
{
    const hf_level_info *level = levels->all;
    hf_witness *witness = &result->witness;

    witness->order =
        hf_arena_get(&result->arena, EVENTS * sizeof(*witness->order));
    witness->n_order = w->n;
    if (levels->mixed) {
        witness->mixed = true;
        mixed_order(c, w, levels, witness);
        add_sources(c, w, result);
        return;
    }
    switch (level->shape) {
    case HF_SHAPE_SERIAL:
    case HF_SHAPE_ITEM:
        witness->kind = HF_WITNESS_SERIAL;
        order_by(c, w, w_and_a(w, level, true, level->shape == HF_SHAPE_SERIAL),
                 witness->order);
        break;
    case HF_SHAPE_SNAPSHOT:
        witness->kind = HF_WITNESS_SNAPSHOT;
        witness->n_order = 2u * w->n;
        snapshot_order(c, w, level, witness->order);
        break;
    case HF_SHAPE_W:
    case HF_SHAPE_OTV:
    case HF_SHAPE_SINGLE:
        witness->kind = HF_WITNESS_COMMIT;
        order_by(c, w, w_and_a(w, level, false, false), witness->order);
        break;
    default:
        witness->kind = HF_WITNESS_COMMIT;
        for (unsigned i = 0; i < w->n; i++)
            witness->order[i] = c->txn[w->order[i]];
    }
    add_sources(c, w, result);
}
