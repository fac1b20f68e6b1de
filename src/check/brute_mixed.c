/* brute_mixed.c: each transaction judged by its own level, literally.
 *
 * docs/semantics.md, "Mixed levels": a world is valid if there is one total
 * order of events, the commits in the order of the world and a start before
 * each, in which every transaction finds what its own level demands.  An edge
 * is demanded by the transaction it enters, an anti-dependency by the one it
 * leaves.
 *
 * Only snapshot forms and prefix have a start that is not directly before the
 * commit.  What they demand of it is about the commits of others, so each has
 * its own interval of places, and the starts do not depend on each other.
 *
 * All conditions are monotone, as in brute_levels.c.
 */
#include "check/brute.h"

#include "base/error.h"

hf_brute_levels hf_brute_levels_of(const hf_brute_case *c, hf_level level,
                                   bool mixed)
{
    hf_brute_levels l = {.all = hf_level_get(level), .mixed = mixed};

    for (unsigned i = 0; i < HF_BRUTE_NODES; i++) {
        l.own[i] = l.all;
        if (mixed && i < c->n_nodes)
            l.own[i] = hf_level_get(
                (hf_level)hf_txn_own_level(c->h, c->txn[i], level));
        if (l.own[i]->shape != HF_SHAPE_WW)
            l.readers |= (uint8_t)(1u << i);
    }
    return l;
}

/* ---- edges -------------------------------------------------------------- */

/* Only the pairs that enter one of the nodes. */
static hf_relation entering(hf_relation r, uint8_t nodes)
{
    for (unsigned i = 0; i < HF_BRUTE_NODES; i++)
        r.to[i] &= nodes;
    return r;
}

/* Only the pairs that leave t. */
static hf_relation leaving(hf_relation r, unsigned t)
{
    hf_relation only = {0};

    only.to[t] = r.to[t];
    return only;
}

/* What the levels of the transactions they enter demand. */
typedef struct demanded {
    hf_relation so, rt, wr; /* wr: with pwr */
    hf_relation w;          /* these and ww */
} demanded;

static demanded demanded_edges(const hf_brute_world *w,
                               const hf_brute_levels *levels)
{
    uint8_t sessions = 0, times = 0;
    demanded d;

    for (unsigned i = 0; i < HF_BRUTE_NODES; i++) {
        if (levels->own[i]->session_order)
            sessions |= (uint8_t)(1u << i);
        if (levels->own[i]->real_time)
            times |= (uint8_t)(1u << i);
    }
    d.so = entering(w->so, sessions);
    d.rt = entering(w->rt, times);
    d.wr = entering(hf_relation_union(w->wr, w->pwr), levels->readers);
    d.w = hf_relation_union(hf_relation_union(d.so, d.rt), d.wr);
    d.w = hf_relation_union(d.w, w->ww);
    return d;
}

/* ---- starts ------------------------------------------------------------- */

static bool is_prefix(const hf_level_info *level)
{
    return level->shape == HF_SHAPE_AXIOM && (level->axiom & HF_AXIOM_PREFIX);
}

/* The place behind the last commit that must be before t's start. */
static int earliest_start(const hf_brute_world *w, hf_relation before,
                          unsigned t)
{
    int at = 0;

    for (unsigned i = 0; i < HF_BRUTE_NODES; i++)
        if (hf_relation_has(&before, i, t) && w->place[i] >= at)
            at = w->place[i] + 1;
    return at;
}

/* What must be committed when t starts: what its level has it see and, but
 * under prefix, who wrote before it what it writes. */
static hf_relation before_start(const hf_brute_world *w,
                                const hf_brute_levels *levels, unsigned t)
{
    demanded d = demanded_edges(w, levels);

    if (is_prefix(levels->own[t]))
        return hf_relation_union(d.so, d.wr);
    return d.w;
}

int hf_brute_mixed_start(const hf_brute_world *w, const hf_brute_levels *levels,
                         unsigned t)
{
    const hf_level_info *level = levels->own[t];

    if (level->shape != HF_SHAPE_SNAPSHOT && !is_prefix(level))
        return w->place[t];
    return earliest_start(w, before_start(w, levels, t), t);
}

/* Nobody who overwrites what t read commits before t's start. */
static bool start_holds(const hf_brute_world *w, const hf_brute_levels *levels,
                        unsigned t)
{
    hf_relation a = hf_relation_union(w->rw, w->prw);
    int start = hf_brute_mixed_start(w, levels, t);

    for (unsigned i = 0; i < HF_BRUTE_NODES; i++)
        if (hf_relation_has(&a, t, i) && w->place[i] < start)
            return false;
    return true;
}

/* ---- one transaction ---------------------------------------------------- */

/* Nobody who overwrites what t read comes before t by a way of w edges. */
static bool single_holds(const hf_brute_world *w, hf_relation back, unsigned t)
{
    hf_relation a = hf_relation_union(w->rw, w->prw);

    back = hf_relation_closure(back);
    for (unsigned i = 0; i < HF_BRUTE_NODES; i++)
        if (hf_relation_has(&a, t, i) && hf_relation_has(&back, i, t))
            return false;
    return true;
}

static bool one_holds(const hf_brute_case *c, const hf_brute_world *w,
                      const hf_brute_levels *levels, unsigned t)
{
    const hf_level_info *level = levels->own[t];
    demanded d = demanded_edges(w, levels);
    uint8_t only = (uint8_t)(1u << t);

    if (level->internal && !hf_brute_internal_holds(c, w, only))
        return false;
    if (is_prefix(level))
        return start_holds(w, levels, t);
    switch (level->shape) {
    case HF_SHAPE_WW:
    case HF_SHAPE_W:
        return true;
    case HF_SHAPE_AXIOM:
        return hf_brute_axiom_holds(
            c, w, level->axiom, hf_brute_visible(w, level->axiom, d.so, d.wr),
            only);
    case HF_SHAPE_OTV:
        return hf_brute_axiom_holds(c, w, HF_AXIOM_EARLIER_READ,
                                    (hf_relation){0}, only);
    case HF_SHAPE_SINGLE:
        return single_holds(w, d.w, t);
    case HF_SHAPE_ITEM:
        return hf_brute_in_order(w, leaving(w->rw, t));
    case HF_SHAPE_SNAPSHOT:
        return start_holds(w, levels, t);
    case HF_SHAPE_SERIAL:
        return hf_brute_in_order(w,
                                 leaving(hf_relation_union(w->rw, w->prw), t));
    default:
        HF_BUG("a level of a shape unknown to the reference engine");
    }
}

bool hf_brute_mixed_holds(const hf_brute_case *c, const hf_brute_world *w,
                          const hf_brute_levels *levels)
{
    if (!hf_brute_in_order(w, demanded_edges(w, levels).w))
        return false;
    for (unsigned t = 0; t < c->n_nodes; t++)
        if ((w->committed >> t & 1u) && !one_holds(c, w, levels, t))
            return false;
    return true;
}
