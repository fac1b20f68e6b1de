/* states_run.c: executing a transaction, and taking it back.
 *
 * Kept up to date with every step: which transactions find what they want
 * (bits), how many still want what a key holds or might hold, who can still
 * write it, and a hash of who was executed and of the state.  What nobody
 * wants any more is left out of the hash: two states that differ only there
 * are one.
 *
 * A step costs its demands and effects, and for every key that changes those
 * who want the old or the new value.
 */
#include "check/states.h"

#include <string.h>

#define NUMBERED(node, what) hf_mix64(((uint64_t)(node) + 1) * 4 + (what))

/* ---- parts --------------------------------------------------------------- */

static void refresh(hf_run *r, uint32_t node)
{
    uint64_t bit = 1ull << (node % 64);

    if (r->unmet[node] == 0 && r->waits[node] == 0 &&
        r->status[node] == HF_NODE_OUT)
        r->ready[node / 64] |= bit;
    else
        r->ready[node / 64] &= ~bit;
}

static uint64_t part_of(const hf_run *r, hf_key_id cell)
{
    hf_holding now = r->now[cell];
    uint64_t what = now;

    if (r->s->kind[cell] == HF_CELL_REGISTER) {
        if (r->need[now] == 0 || r->s->past)
            return 0;
    } else if (r->cell_need[cell] == 0) {
        return 0;
    }
    if (r->s->kind[cell] == HF_CELL_COUNTER)
        what = hf_mix64((uint64_t)r->number[cell]);
    return hf_mix64(what ^ NUMBERED(cell, 3));
}

static void touch(hf_run *r, hf_key_id cell)
{
    uint64_t part = part_of(r, cell);

    r->hash ^= part ^ r->part[cell];
    r->part[cell] = part;
}

static void set_cell(hf_run *r, hf_key_id cell, hf_holding to, int64_t number)
{
    const hf_states *s = r->s;
    hf_holding from = r->now[cell];

    r->number[cell] = number;
    r->now[cell] = to;
    if (from == to)
        return;
    for (uint32_t i = from == HF_OFF ? 0 : s->want_first[from];
         from != HF_OFF && i < s->want_first[from + 1]; i++) {
        r->unmet[s->want[i]]++;
        refresh(r, s->want[i]);
    }
    for (uint32_t i = to == HF_OFF ? 0 : s->want_first[to];
         to != HF_OFF && i < s->want_first[to + 1]; i++) {
        r->unmet[s->want[i]]--;
        refresh(r, s->want[i]);
    }
}

/* The cell holds it for one time more (there), or does not after all. */
static void note_past(hf_run *r, hf_holding at, bool there)
{
    const hf_states *s = r->s;

    if (!s->past || at == HF_OFF)
        return;
    r->been[at] += there ? 1 : UINT32_MAX;
    if (r->been[at] != there)
        return; /* it was there before */
    r->hash ^= NUMBERED(at, 2);
    for (uint32_t i = s->past_first[at]; i < s->past_first[at + 1]; i++) {
        r->unmet[s->past_want[i]] += there ? UINT32_MAX : 1;
        refresh(r, s->past_want[i]);
    }
}

/* The demands of a node count (by = 1), or do not any more (by = -1). */
static void count_demands(hf_run *r, uint32_t node, uint32_t by)
{
    const hf_states *s = r->s;

    for (uint32_t d = s->demand_first[node]; d < s->demand_first[node + 1];
         d++) {
        const hf_demand *x = &s->demands.at[d];

        r->need[x->wanted] += by;
        r->cell_need[x->cell] += by;
        if (!s->maybe[node]) {
            r->need_sure[x->wanted] += by;
            r->cell_need_sure[x->cell] += by;
        }
    }
}

static void count_writers(hf_run *r, uint32_t node, uint32_t by)
{
    const hf_states *s = r->s;

    for (uint32_t e = s->effect_first[node]; e < s->effect_first[node + 1];
         e++) {
        const hf_effect *x = &s->effects.at[e];
        hf_wide more = by == 1 ? x->number : -(hf_wide)x->number;

        if (x->kind == HF_EFFECT_SET)
            r->writers[x->set] += by;
        else if (x->kind == HF_EFFECT_ADD && x->number < 0)
            r->low[x->cell] += more;
        else if (x->kind == HF_EFFECT_ADD)
            r->high[x->cell] += more;
    }
}

static void count_locks(hf_run *r, uint32_t node, uint32_t by)
{
    const hf_states *s = r->s;

    for (uint32_t e = s->effect_first[node]; e < s->effect_first[node + 1]; e++)
        r->locks[s->effects.at[e].cell] += by;
}

static void touch_demands(hf_run *r, uint32_t node)
{
    const hf_states *s = r->s;

    for (uint32_t d = s->demand_first[node]; d < s->demand_first[node + 1]; d++)
        touch(r, s->demands.at[d].cell);
}

/* ---- steps --------------------------------------------------------------- */

/* One of unknown outcome did not happen, or (back) may have. */
static void kill_one(hf_run *r, uint32_t node)
{
    bool started = r->status[node] == HF_NODE_STARTED;

    hf_vec_push(&r->killed, node * 2 + started);
    r->status[node] = HF_NODE_KILLED;
    count_writers(r, node, UINT32_MAX);
    if (started)
        count_locks(r, node, UINT32_MAX);
    else
        count_demands(r, node, UINT32_MAX);
    refresh(r, node);
    touch_demands(r, node);
}

static void revive(hf_run *r)
{
    uint32_t node = r->killed.at[--r->killed.n] / 2;
    bool started = r->killed.at[r->killed.n] & 1u;

    r->status[node] = started ? HF_NODE_STARTED : HF_NODE_OUT;
    count_writers(r, node, 1);
    if (started)
        count_locks(r, node, 1);
    else
        count_demands(r, node, 1);
    refresh(r, node);
    touch_demands(r, node);
}

static void apply(hf_run *r, const hf_effect *e)
{
    const hf_states *s = r->s;
    hf_holding to = e->set;
    int64_t number = e->number;

    hf_vec_push(&r->old,
                (hf_run_old){e->cell, r->now[e->cell], r->number[e->cell]});
    if (e->kind == HF_EFFECT_APPEND) {
        to = r->now[e->cell];
        for (uint32_t i = 0; i < e->n; i++)
            to = hf_states_child(s, to, s->elements.at[e->first + i]);
    } else if (e->kind == HF_EFFECT_ADD) {
        number = (int64_t)((uint64_t)r->number[e->cell] + (uint64_t)number);
        to = hf_states_number(s, e->cell, number);
    }
    set_cell(r, e->cell, to, number);
    note_past(r, to, true);
}

static void start(hf_run *r, uint32_t node)
{
    const hf_states *s = r->s;

    for (uint32_t i = s->kill_first[node]; i < s->kill_first[node + 1]; i++)
        if (r->status[s->kill[i]] <= HF_NODE_STARTED)
            kill_one(r, s->kill[i]);
    r->status[node] = HF_NODE_STARTED;
    count_demands(r, node, UINT32_MAX);
    count_locks(r, node, 1);
    refresh(r, node);
    touch_demands(r, node);
    r->hash ^= NUMBERED(node, 0);
}

static void take_back_start(hf_run *r, uint32_t node, uint32_t n_killed)
{
    r->hash ^= NUMBERED(node, 0);
    r->status[node] = HF_NODE_OUT;
    count_demands(r, node, 1);
    count_locks(r, node, UINT32_MAX);
    refresh(r, node);
    touch_demands(r, node);
    while (r->killed.n > n_killed)
        revive(r);
}

static void commit(hf_run *r, uint32_t node)
{
    const hf_states *s = r->s;

    r->status[node] = HF_NODE_DONE;
    count_writers(r, node, UINT32_MAX);
    count_locks(r, node, UINT32_MAX);
    for (uint32_t e = s->effect_first[node]; e < s->effect_first[node + 1];
         e++) {
        apply(r, &s->effects.at[e]);
        touch(r, s->effects.at[e].cell);
    }
    for (uint32_t i = s->out_first[node]; i < s->out_first[node + 1]; i++) {
        r->waits[s->out[i]]--;
        refresh(r, s->out[i]);
    }
    r->n_left -= !s->maybe[node];
    while (r->end_at < r->end_of &&
           r->status[s->by_end[r->end_at]] == HF_NODE_DONE)
        r->end_at++;
    r->hash ^= NUMBERED(node, 1);
}

static void take_back_commit(hf_run *r, uint32_t node, uint32_t n_old)
{
    const hf_states *s = r->s;

    r->hash ^= NUMBERED(node, 1);
    r->n_left += !s->maybe[node];
    for (uint32_t i = s->out_first[node]; i < s->out_first[node + 1]; i++) {
        r->waits[s->out[i]]++;
        refresh(r, s->out[i]);
    }
    count_writers(r, node, 1);
    count_locks(r, node, 1);
    while (r->old.n > n_old) {
        hf_run_old o = r->old.at[--r->old.n];

        note_past(r, r->now[o.cell], false);
        set_cell(r, o.cell, o.holding, o.number);
        touch(r, o.cell);
    }
    r->status[node] = HF_NODE_STARTED;
}

void hf_run_do(hf_run *r, uint32_t node, bool starts, bool commits)
{
    hf_run_step step = {.node = node,
                        .start = starts,
                        .commit = commits,
                        .end_at = r->end_at,
                        .n_old = (uint32_t)r->old.n,
                        .n_killed = (uint32_t)r->killed.n};

    hf_vec_push(&r->steps, step);
    if (starts)
        start(r, node);
    if (commits)
        commit(r, node);
}

void hf_run_undo(hf_run *r)
{
    hf_run_step step = r->steps.at[--r->steps.n];

    if (step.commit)
        take_back_commit(r, step.node, step.n_old);
    if (step.start)
        take_back_start(r, step.node, step.n_killed);
    r->end_at = step.end_at;
}

/* ---- questions ----------------------------------------------------------- */

/* Somebody that is not done ended before it began. */
static bool is_too_early(const hf_run *r, uint32_t node)
{
    const hf_states *s = r->s;
    uint32_t at = r->end_at;

    while (at < r->end_of &&
           (s->by_end[at] == node || r->status[s->by_end[at]] == HF_NODE_DONE))
        at++;
    return at < r->end_of && s->end[s->by_end[at]] < s->begin[node];
}

bool hf_run_may_start(const hf_run *r, uint32_t node)
{
    const hf_states *s = r->s;

    if (s->times && is_too_early(r, node))
        return false;
    for (uint32_t e = s->effect_first[node];
         s->snapshots && e < s->effect_first[node + 1]; e++)
        if (r->locks[s->effects.at[e].cell] > 0)
            return false;
    return true;
}

/* An append must lead to where all lists that are still to be read begin. */
static bool leads_on(const hf_run *r, const hf_effect *e, uint32_t own)
{
    const hf_states *s = r->s;
    hf_holding list = r->now[e->cell];

    if (r->cell_need_sure[e->cell] == own)
        return true;
    if (list == HF_OFF || r->need_sure[list] > own)
        return false;
    for (uint32_t i = 0; i < e->n; i++) {
        list = hf_states_child(s, list, s->elements.at[e->first + i]);
        if (list == HF_OFF || !s->on_path[list] ||
            (i + 1 < e->n && r->need_sure[list] > 0))
            return false;
    }
    return true;
}

bool hf_run_may_commit(const hf_run *r, uint32_t node, uint64_t *ret_harm)
{
    const hf_states *s = r->s;
    bool counts = r->status[node] == HF_NODE_OUT && !s->maybe[node];

    *ret_harm = 0;
    for (uint32_t i = s->effect_first[node]; i < s->effect_first[node + 1];
         i++) {
        const hf_effect *e = &s->effects.at[i];
        uint32_t own = counts && e->reads, others;
        hf_holding now = r->now[e->cell];

        if (e->kind == HF_EFFECT_APPEND) {
            if (!leads_on(r, e, own))
                return false;
            continue;
        }
        if (now == HF_OFF || (e->kind == HF_EFFECT_SET && e->set == now))
            continue;
        others = r->need_sure[now] - own;
        if (s->past && s->kind[e->cell] == HF_CELL_REGISTER)
            continue; /* what is there stays to be read */
        if (others > 0 && r->writers[now] == 0 &&
            s->kind[e->cell] == HF_CELL_REGISTER)
            return false;
        *ret_harm += others;
    }
    return true;
}

bool hf_run_is_free(const hf_run *r, uint32_t node)
{
    const hf_states *s = r->s;

    if (s->maybe[node])
        return false;
    for (uint32_t i = s->kill_first[node]; i < s->kill_first[node + 1]; i++)
        if (r->status[s->kill[i]] <= HF_NODE_STARTED)
            return false;
    for (uint32_t i = s->effect_first[node]; i < s->effect_first[node + 1];
         i++) {
        const hf_effect *e = &s->effects.at[i];
        hf_holding now = r->now[e->cell];

        if (r->cell_need[e->cell] == e->reads ||
            (s->past && s->kind[e->cell] == HF_CELL_REGISTER))
            continue;
        if (s->kind[e->cell] != HF_CELL_REGISTER || r->need[now] > e->reads ||
            r->need[e->set] > (e->reads && e->set == now))
            return false;
    }
    return true;
}

bool hf_run_is_useful(const hf_run *r, uint32_t node)
{
    const hf_states *s = r->s;
    uint32_t out = r->status[node] == HF_NODE_OUT;

    for (uint32_t i = s->effect_first[node]; i < s->effect_first[node + 1];
         i++) {
        const hf_effect *e = &s->effects.at[i];
        uint32_t own = out && e->reads;

        if (s->kind[e->cell] == HF_CELL_REGISTER
                ? r->need[e->set] > (own && e->set == r->now[e->cell])
                : r->cell_need[e->cell] > own)
            return true;
    }
    return false;
}

void hf_run_enter(hf_run *r, uint32_t part)
{
    r->at_part = part;
    r->end_at = r->s->part_sure_first[part];
    r->end_of = r->s->part_sure_first[part + 1];
    r->n_left = r->end_of - r->end_at;
}

/* ---- memory -------------------------------------------------------------- */

static void count_all(hf_run *r)
{
    const hf_states *s = r->s;

    for (uint32_t t = 0; t < s->n; t++) {
        count_demands(r, t, 1);
        count_writers(r, t, 1);
        r->waits[t] = s->waits[t];
        for (uint32_t d = s->demand_first[t]; d < s->demand_first[t + 1]; d++)
            r->unmet[t] +=
                s->demands.at[d].wanted != s->initial[s->demands.at[d].cell];
        refresh(r, t);
    }
}

void hf_run_init(hf_run *r, const hf_states *s)
{
    size_t keys = (size_t)s->h->n_keys + 1, nodes = (size_t)s->n + 1;
    size_t holdings = (size_t)s->n_holdings + 1;

    *r = (hf_run){.s = s};
    r->now = HF_NEW_ARRAY(hf_holding, keys);
    r->number = HF_NEW_ARRAY(int64_t, keys);
    memcpy(r->now, s->initial, (keys - 1) * sizeof(*r->now));
    memcpy(r->number, s->initial_number, (keys - 1) * sizeof(*r->number));
    r->status = HF_NEW_ZEROED(uint8_t, nodes);
    r->unmet = HF_NEW_ZEROED(uint32_t, nodes);
    r->waits = HF_NEW_ZEROED(uint32_t, nodes);
    r->ready = HF_NEW_ZEROED(uint64_t, nodes / 64 + 1);
    r->need = HF_NEW_ZEROED(uint32_t, holdings);
    r->need_sure = HF_NEW_ZEROED(uint32_t, holdings);
    r->writers = HF_NEW_ZEROED(uint32_t, holdings);
    r->cell_need = HF_NEW_ZEROED(uint32_t, keys);
    r->cell_need_sure = HF_NEW_ZEROED(uint32_t, keys);
    r->locks = HF_NEW_ZEROED(uint32_t, keys);
    r->been = HF_NEW_ZEROED(uint32_t, holdings);
    r->low = HF_NEW_ZEROED(hf_wide, keys);
    r->high = HF_NEW_ZEROED(hf_wide, keys);
    r->part = HF_NEW_ZEROED(uint64_t, keys);
    count_all(r);
    for (hf_key_id k = 0; k < s->h->n_keys; k++) {
        touch(r, k);
        if (s->initial[k] != HF_OFF)
            r->been[s->initial[k]] = 1;
    }
}

void hf_run_release(hf_run *r)
{
    hf_free(r->now);
    hf_free(r->number);
    hf_free(r->status);
    hf_free(r->unmet);
    hf_free(r->waits);
    hf_free(r->ready);
    hf_free(r->need);
    hf_free(r->need_sure);
    hf_free(r->writers);
    hf_free(r->cell_need);
    hf_free(r->cell_need_sure);
    hf_free(r->locks);
    hf_free(r->been);
    hf_free(r->low);
    hf_free(r->high);
    hf_free(r->part);
    hf_vec_release(&r->steps);
    hf_vec_release(&r->old);
    hf_vec_release(&r->killed);
}
