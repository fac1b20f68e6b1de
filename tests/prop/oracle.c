/* oracle.c: all worlds, and the answer.
 *
 * A history is valid at a level if it is in some world; the parts of the
 * oracle say in which worlds.  Exponential in everything; meant for six
 * transactions.
 */
#include "oracle.h"

#include <string.h>

#include "oracle_model.h"

#define ALL_LEVELS ((1u << HF_LEVEL_COUNT) - 1)

static int times_appended(const o_world *w, int key, uint32_t value)
{
    int n = 0;

    for (int t = 0; t < w->m->n_txns; t++)
        for (int i = 0; i < w->m->txns[t].n_steps; i++) {
            const o_step *s = &w->m->txns[t].steps[i];

            n += s->kind == O_APPEND && s->key == key && s->value == value;
        }
    return n;
}

/* An element more often in a list than anybody appended it is wrong in every
 * world in which the reader counts. */
static bool has_repeated_element(const o_world *w)
{
    for (int t = 0; t < w->m->n_txns; t++)
        for (int i = 0; w->in[t] && i < w->m->txns[t].n_steps; i++) {
            const o_step *s = &w->m->txns[t].steps[i];

            for (int a = 0; s->kind == O_LIST && a < s->n_items; a++) {
                int n = 0;

                for (int b = 0; b < s->n_items; b++)
                    n += s->items[a] == s->items[b];
                if (n > times_appended(w, s->key, s->items[a]))
                    return true;
            }
        }
    return false;
}

/* So is a result that the version set does not give. */
static bool has_wrong_rows(const o_world *w)
{
    for (int t = 0; t < w->m->n_txns; t++)
        for (int i = 0; w->in[t] && i < w->m->txns[t].n_steps; i++)
            if (w->m->txns[t].steps[i].wrong_rows)
                return true;
    return false;
}

static o_levels with_sources(const o_world *w, const o_reads *reads,
                             o_levels wanted)
{
    return o_walk_levels(w, reads, wanted) | o_axiom_levels(w, reads, wanted);
}

static o_levels world_levels(const o_world *w, o_levels wanted)
{
    o_levels found = 0;

    if (has_repeated_element(w) || has_wrong_rows(w))
        return 0;
    if ((wanted & O_LEVEL(HF_READ_UNCOMMITTED)) && o_uncommitted_level(w))
        found |= O_LEVEL(HF_READ_UNCOMMITTED);
    found |= o_replay_levels(w, wanted);
    found |= o_each_sources(w, wanted & ~found, with_sources);
    return found;
}

/* Settles outcomes from transaction t on. */
static o_levels settle(o_world *w, int t, o_levels wanted)
{
    o_levels found;

    if (!wanted)
        return 0;
    if (t == w->m->n_txns)
        return world_levels(w, wanted);
    w->in[t] = w->m->txns[t].outcome != HF_ABORTED;
    found = settle(w, t + 1, wanted);
    if (w->m->txns[t].outcome == HF_UNKNOWN_OUTCOME) {
        w->in[t] = false;
        found |= settle(w, t + 1, wanted & ~found);
    }
    return found;
}

/* How many operations write the value to the key, whatever came of them. */
static int count_writes(const o_model *m, int key, uint32_t value)
{
    int n = 0;

    for (int t = 0; t < m->n_txns; t++)
        for (int i = 0; i < m->txns[t].n_steps; i++) {
            const o_step *s = &m->txns[t].steps[i];

            n += (s->kind == O_WRITE || s->kind == O_APPEND) && s->key == key &&
                 s->value == value;
        }
    return n;
}

/* Values were promised to be unique and are not.  That a row is deleted twice
 * breaks no promise. */
static bool breaks_promise(const o_model *m)
{
    for (int t = 0; m->h->unique_values && t < m->n_txns; t++)
        for (int i = 0; i < m->txns[t].n_steps; i++) {
            const o_step *s = &m->txns[t].steps[i];

            if ((s->kind == O_WRITE || s->kind == O_APPEND) &&
                s->value != O_NIL && count_writes(m, s->key, s->value) > 1)
                return true;
        }
    return false;
}

/* Of the wanted levels: where the history is valid, and where that is only
 * as far as is known. */
static o_levels valid_levels(const hf_history *h, o_levels wanted,
                             o_levels *ret_unknown)
{
    o_model m;
    o_world w = {.m = &m};
    o_levels valid;

    *ret_unknown = ALL_LEVELS;
    if (!o_model_fill(&m, h))
        return 0;
    valid = breaks_promise(&m) ? 0 : settle(&w, 0, wanted);
    *ret_unknown = m.blind ? valid : 0;
    if (m.blind_reads)
        *ret_unknown |= valid & ~O_LEVEL(HF_READ_UNCOMMITTED);
    return valid;
}

static hf_verdict verdict(o_levels valid, o_levels unknown, int level)
{
    if (unknown & O_LEVEL(level))
        return HF_UNKNOWN;
    return valid & O_LEVEL(level) ? HF_VALID : HF_INVALID;
}

bool oracle_knows(const hf_history *h)
{
    o_model m;

    return o_model_fill(&m, h);
}

hf_verdict oracle_check(const hf_history *h, hf_level level)
{
    o_levels unknown, valid = valid_levels(h, O_LEVEL(level), &unknown);

    return verdict(valid, unknown, (int)level);
}

void oracle_check_all(const hf_history *h, hf_verdict *verdicts)
{
    o_levels unknown, valid = valid_levels(h, ALL_LEVELS, &unknown);

    for (int i = 0; i < HF_LEVEL_COUNT; i++)
        verdicts[i] = verdict(valid, unknown, i);
}

/* ---- one given order ----------------------------------------------------- */

/* Puts one event in its place; false if it makes no sense there. */
static bool place(o_world *w, bool snapshot, uint32_t event, int at)
{
    uint32_t t = snapshot ? event / 2 : event;

    if (t >= (uint32_t)w->m->n_txns || w->m->txns[t].outcome == HF_ABORTED)
        return false;
    if (snapshot && event % 2 == 0) {
        if (w->start_at[t] >= 0)
            return false;
        w->start_at[t] = at;
        return true;
    }
    if (w->in[t] || (snapshot && w->start_at[t] < 0))
        return false;
    w->in[t] = true;
    w->commit_at[t] = at;
    return true;
}

/* The world that the order speaks of. */
static bool world_of(const hf_witness *witness, o_world *w)
{
    bool snapshot = witness->kind == HF_WITNESS_SNAPSHOT;

    w->fixed = true;
    for (int t = 0; t < O_TXNS; t++)
        w->start_at[t] = -1;
    for (uint32_t i = 0; i < witness->n_order; i++)
        if (!place(w, snapshot, witness->order[i], (int)i))
            return false;
    for (int t = 0; t < w->m->n_txns; t++)
        if ((w->m->txns[t].outcome == HF_COMMITTED && !w->in[t]) ||
            (snapshot && w->in[t] != (w->start_at[t] >= 0)))
            return false;
    return true;
}

/* The levels a kind of order is about. */
static o_levels levels_of(hf_witness_kind kind)
{
    o_levels serial = O_LEVEL(HF_SERIALIZABLE) |
                      O_LEVEL(HF_STRONG_SESSION_SERIALIZABLE) |
                      O_LEVEL(HF_STRICT_SERIALIZABLE);
    o_levels snapshot = O_LEVEL(HF_SNAPSHOT_ISOLATION) |
                        O_LEVEL(HF_STRONG_SESSION_SNAPSHOT_ISOLATION) |
                        O_LEVEL(HF_STRICT_SNAPSHOT_ISOLATION);

    if (kind == HF_WITNESS_SERIAL)
        return serial | O_LEVEL(HF_REPEATABLE_READ);
    if (kind == HF_WITNESS_SNAPSHOT)
        return snapshot;
    return kind == HF_WITNESS_COMMIT ? ALL_LEVELS & ~serial & ~snapshot : 0;
}

bool oracle_order_proves(const hf_history *h, hf_level level,
                         const hf_witness *witness)
{
    o_model m;
    o_world w = {.m = &m};
    o_levels found;

    if (!o_model_fill(&m, h) || m.blind ||
        (m.blind_reads && level != HF_READ_UNCOMMITTED) || breaks_promise(&m) ||
        !world_of(witness, &w))
        return false;
    found = world_levels(&w, levels_of(witness->kind));
    for (int i = 0; i < HF_LEVEL_COUNT; i++)
        if ((found & O_LEVEL(i)) && hf_level_implies((hf_level)i, level))
            return true;
    return false;
}
