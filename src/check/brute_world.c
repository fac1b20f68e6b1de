/* brute_world.c: tries every world of a case.
 *
 * Three nested choices, as in docs/semantics.md:
 *
 *   outcome   which transactions of unknown outcome happened
 *   order     a total order of those that happened; the version order of every
 *             key is the order of its writers.  Nothing is lost by that: every
 *             level forbids cycles of ww (and all but read-uncommitted of
 *             ww + wr), so the version orders of a valid world fit together
 *             in one total order.  For axiomatic levels it is the commit order.
 *   sources   for every read that could come from several versions, one
 *
 * Orders are built front to back and cut where a transaction would come before
 * one that must precede it (certificate, certain wr, and session order and
 * real time where the level has them).  Sources are chosen read by read and
 * cut as soon as the level is broken, which more reads cannot mend.
 *
 * 8! orders for 8 transactions, about 110 000 if all outcomes are unknown,
 * each at the cost of a pass over the reads.
 */
#include "check/brute.h"

#include <string.h>

void hf_brute_search_init(hf_brute_search *s, const hf_brute_case *c,
                          const hf_brute_levels *levels, unsigned promised,
                          hf_budget *budget)
{
    *s = (hf_brute_search){
        .c = c, .levels = levels, .promised = promised, .budget = budget};
    s->world.source = HF_NEW_ARRAY(uint8_t, c->reads.n + 1);
    s->world.from = HF_NEW_ZEROED(uint8_t, c->reads.n + 1);
    s->open = HF_NEW_ARRAY(uint32_t, c->reads.n + 1);
    s->fixed = HF_NEW_ARRAY(uint8_t, c->reads.n + 1);
}

void hf_brute_search_release(hf_brute_search *s)
{
    hf_free(s->world.source);
    hf_free(s->world.from);
    hf_free(s->open);
    hf_free(s->fixed);
}

/* At read-uncommitted only ww edges matter. */
static bool matters(const hf_brute_search *s, const hf_brute_read *r)
{
    return s->levels->readers >> r->node & 1u;
}

static bool holds(const hf_brute_search *s)
{
    return s->levels->mixed ? hf_brute_mixed_holds(s->c, &s->world, s->levels)
                            : hf_brute_holds(s->c, &s->world, s->levels->all);
}

/* ---- sources ------------------------------------------------------------ */

/* All reads before open[next] have a source, and the level holds so far. */
static bool choose_sources(hf_brute_search *s, uint32_t next)
{
    hf_brute_world *w = &s->world;
    hf_relation wr = w->wr, rw = w->rw, pwr = w->pwr, prw = w->prw;
    uint32_t r;

    if (next == s->n_open)
        return hf_brute_keeps_promises(s);
    if (hf_budget_spent(s->budget)) {
        s->spent = true;
        return false;
    }
    r = s->open[next];
    for (uint8_t x = 0; x <= HF_BRUTE_INITIAL; x++) {
        uint16_t present = (uint16_t)(w->committed | 1u << HF_BRUTE_INITIAL);

        if (!((s->c->reads.at[r].sources & present) >> x & 1u) ||
            (s->c->reads.at[r].counted &&
             !hf_brute_counted_fits(s->c, w, &s->c->reads.at[r], x)))
            continue;
        w->source[r] = x;
        hf_brute_world_read(s->c, w, r);
        if (holds(s) && choose_sources(s, next + 1))
            return true;
        w->wr = wr;
        w->rw = rw;
        w->pwr = pwr;
        w->prw = prw;
        if (s->spent)
            return false;
    }
    w->source[r] = HF_BRUTE_UNSET;
    return false;
}

/* Of increments without results: after an own write there is no source to
 * choose, but it must add up. */
static bool counts_own(const hf_brute_search *s, const hf_brute_read *r)
{
    return !r->counted || r->own_before == 0 || !matters(s, r) ||
           !((s->world.committed >> r->node) & 1u) ||
           hf_brute_counted_fits(s->c, &s->world, r, r->node);
}

/* The order is complete. */
static bool try_order(hf_brute_search *s)
{
    hf_brute_world *w = &s->world;

    s->worlds++;
    hf_brute_world_begin(s->c, w);
    if (!hf_brute_world_lists(s->c, w, s->levels->readers))
        return false;
    for (uint32_t r = 0; r < s->c->reads.n; r++) {
        if (!counts_own(s, &s->c->reads.at[r]))
            return false;
        if (!s->c->reads.at[r].list)
            w->source[r] = s->fixed[r];
        if (w->source[r] != HF_BRUTE_UNSET)
            hf_brute_world_read(s->c, w, r);
    }
    return holds(s) && choose_sources(s, 0);
}

/* ---- orders ------------------------------------------------------------- */

static bool extend_order(hf_brute_search *s, uint8_t placed)
{
    hf_brute_world *w = &s->world;
    uint8_t at = 0;

    if (placed == w->committed)
        return try_order(s);
    if (hf_budget_spent(s->budget)) {
        s->spent = true;
        return false;
    }
    for (unsigned i = 0; i < s->c->n_nodes; i++)
        at += (placed >> i) & 1u;
    for (uint8_t t = 0; t < s->c->n_nodes; t++) {
        if (!((w->committed & ~placed) >> t & 1u) ||
            (s->before[t] & w->committed & ~placed))
            continue;
        w->order[at] = t;
        w->place[t] = (int8_t)at;
        if (extend_order(s, (uint8_t)(placed | 1u << t)))
            return true;
        if (s->spent)
            return false;
    }
    return false;
}

/* ---- outcomes ----------------------------------------------------------- */

static void must_precede(hf_brute_search *s)
{
    const hf_brute_case *c = s->c;

    for (unsigned i = 0; i < c->n_nodes; i++) {
        for (unsigned j = 0; j < c->n_nodes; j++) {
            const hf_level_info *level = s->levels->own[j];

            if (hf_relation_has(&c->listed, i, j) ||
                (level->session_order && hf_relation_has(&c->so, i, j)) ||
                (level->real_time && hf_relation_has(&c->rt, i, j)))
                s->before[j] |= (uint8_t)(1u << i);
        }
    }
}

/* Splits the reads into those with one source and those with several; false
 * if one has none.  Only the reads of transactions that happened count. */
static bool settle_reads(hf_brute_search *s)
{
    const hf_brute_case *c = s->c;
    uint8_t committed = s->world.committed;

    s->n_open = 0;
    for (uint32_t i = 0; i < c->reads.n; i++) {
        const hf_brute_read *r = &c->reads.at[i];
        unsigned sources = r->sources & (committed | 1u << HF_BRUTE_INITIAL);

        s->fixed[i] = HF_BRUTE_UNSET;
        if (r->list || !((committed >> r->node) & 1u) || !matters(s, r) ||
            (r->counted && r->own_before > 0))
            continue;
        if (sources == 0)
            return false;
        if ((sources & (sources - 1)) || r->counted) {
            s->open[s->n_open++] = i;
            continue;
        }
        s->fixed[i] = 0;
        while (!(sources >> s->fixed[i] & 1u))
            s->fixed[i]++;
        if (s->fixed[i] != HF_BRUTE_INITIAL && r->item)
            s->before[r->node] |= (uint8_t)(1u << s->fixed[i]);
    }
    return true;
}

static bool try_outcome(hf_brute_search *s, uint8_t committed)
{
    hf_brute_world *w = &s->world;

    if (s->c->refused || (committed & s->c->broken))
        return false;
    w->committed = committed;
    w->n = 0;
    for (unsigned i = 0; i < s->c->n_nodes; i++)
        w->n += (committed >> i) & 1u;
    memset(w->place, 0, sizeof(w->place));
    w->place[HF_BRUTE_INITIAL] = -1;
    memset(s->before, 0, sizeof(s->before));
    must_precede(s);
    if (!settle_reads(s))
        return false;
    return extend_order(s, 0);
}

bool hf_brute_search_run(hf_brute_search *s)
{
    uint8_t all = (uint8_t)((1u << s->c->n_nodes) - 1);
    uint8_t sure = (uint8_t)(all & ~s->c->maybe);

    /* every subset of the transactions of unknown outcome, all of them first */
    for (unsigned maybe = s->c->maybe;; maybe = (maybe - 1) & s->c->maybe) {
        if (try_outcome(s, (uint8_t)(sure | maybe)))
            return true;
        if (s->spent || maybe == 0)
            return false;
    }
}
