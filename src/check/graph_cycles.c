/* graph_cycles.c: the walks that a level asks for, and the verdict valid.
 *
 * A level given by a condition on single reads (the weak levels) or on paths
 * (consistent view, parallel snapshot isolation) needs more than a walk, but
 * a history that is even serializable does not: that is tried first.
 *
 * Costs what its walks cost: O(transactions + edges) each, and the search for
 * short cycles where there are some.
 */
#include "check/graph_judge.h"

#include <string.h>

#include "check/pred.h"

/* ---- verdicts ------------------------------------------------------------ */

void hf_judge_unknown(hf_judge *e, const char *reason)
{
    e->r->verdict = HF_UNKNOWN;
    e->r->reason = hf_arena_text(&e->r->arena, reason, strlen(reason));
}

/* The order as a witness: of a split walk, events; for levels that want
 * commits, the commits among them. */
void hf_judge_order(hf_judge *e, const uint32_t *order, uint32_t n,
                    hf_witness_kind kind, bool commits_only)
{
    hf_witness *w = &e->r->witness;

    e->r->verdict = HF_VALID;
    w->kind = kind;
    /* it proves itself, but for what the user wants kept */
    w->rests = e->g.options.assume & HF_REST_ASSUMABLE;
    w->order = hf_arena_get(&e->r->arena, hf_array_size(n, sizeof(uint32_t)));
    for (uint32_t i = 0; i < n; i++) {
        if (!commits_only)
            w->order[w->n_order++] = order[i];
        else if (order[i] & 1u)
            w->order[w->n_order++] = order[i] / 2;
    }
}

void hf_judge_valid(hf_judge *e)
{
    const hf_walk *w = &e->walk;
    hf_witness_kind kind = HF_WITNESS_COMMIT;

    if (w->form == HF_WALK_SNAPSHOT)
        kind = HF_WITNESS_SNAPSHOT;
    else if (e->is_serial)
        kind = HF_WITNESS_SERIAL;
    hf_judge_order(e, w->order, w->n_order, kind, w->form == HF_WALK_PREFIX);
}

/* ---- cycles -------------------------------------------------------------- */

unsigned hf_judge_orders_mask(const hf_level_info *level)
{
    return (level->session_order ? HF_WALK_SO : 0) |
           (level->real_time ? HF_WALK_RT : 0);
}

/* A walk; its components, if it has any, are reported.  False if the budget
 * ran out. */
static bool walk(hf_judge *e, unsigned mask, hf_walk_form form, bool report)
{
    hf_walk_release(&e->walk);
    e->walk = (hf_walk){.g = &e->g, .mask = mask, .form = form};
    e->is_serial = form == HF_WALK_PLAIN && (mask & HF_WALK_RW) != 0;
    if (!hf_walk_run(&e->walk, NULL, 0))
        return false;
    if (!e->walk.acyclic && report)
        hf_report_components(&e->report, &e->walk);
    return !e->g.stopped;
}

/* The conditions that a walk over W alone does not show. */
static bool look_beyond(hf_judge *e, unsigned mask)
{
    const hf_level_info *level = e->g.level;
    unsigned all = mask | HF_WALK_A;

    if (level->shape == HF_SHAPE_SINGLE)
        return walk(e, all, HF_WALK_SNAPSHOT, true);
    if (level->axiom & HF_AXIOM_PREFIX)
        return walk(e, all, HF_WALK_PREFIX, true);
    if (!walk(e, all, HF_WALK_PLAIN, (level->axiom & HF_AXIOM_CAUSAL) != 0))
        return false;
    if (!e->walk.acyclic && !(level->axiom & HF_AXIOM_CAUSAL)) {
        hf_report_weak(&e->report, &e->walk);
        if (e->g.pred && e->report.found.n == 0)
            hf_pred_report_weak(&e->report, &e->walk);
    }
    return !e->g.stopped;
}

/* Levels between read-committed and snapshot isolation. */
static bool judge_middle(hf_judge *e, unsigned mask)
{
    if (!walk(e, mask | HF_WALK_A, HF_WALK_PLAIN, false))
        return false;
    if (e->walk.acyclic)
        return true;
    if (!walk(e, mask, HF_WALK_PLAIN, true))
        return false;
    if (!e->walk.acyclic)
        return true;
    if (!look_beyond(e, mask))
        return false;
    if (e->report.found.n > 0 || e->walk.form == HF_WALK_PREFIX)
        return true;
    return walk(e, mask, HF_WALK_PLAIN, false); /* for its order */
}

/* Fills the report; false if the budget ran out. */
bool hf_judge_cycles(hf_judge *e)
{
    const hf_level_info *level = e->g.level;
    unsigned mask = HF_WALK_W | hf_judge_orders_mask(level);

    switch (level->shape) {
    case HF_SHAPE_WW:
        return walk(e, HF_WALK_WW, HF_WALK_PLAIN, true);
    case HF_SHAPE_W:
        return walk(e, mask, HF_WALK_PLAIN, true);
    case HF_SHAPE_ITEM:
        return walk(e, mask | HF_WALK_RW, HF_WALK_PLAIN, true);
    case HF_SHAPE_SERIAL:
        return walk(e, mask | HF_WALK_A, HF_WALK_PLAIN, true);
    case HF_SHAPE_SNAPSHOT:
        return walk(e, mask | HF_WALK_A, HF_WALK_SNAPSHOT, true);
    default:
        return judge_middle(e, mask);
    }
}
