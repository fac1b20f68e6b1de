/* brute_levels.c: the definitions of the levels, literally.
 *
 * Dependency levels (Adya) are conditions on cycles of the world's relations;
 * axiomatic levels (Biswas and Enea) are conditions on the commit order, which
 * is the order of the world.  Every function here reads like its row of the
 * table of levels.  With at most eight transactions a relation is eight bytes
 * and everything is enumerated.
 *
 * All conditions are monotone: more reads never make a world valid.  The
 * search relies on it when it asks before all reads have their source.
 */
#include "check/brute.h"

#include "base/error.h"

/* ---- relations ---------------------------------------------------------- */

hf_relation hf_relation_union(hf_relation a, hf_relation b)
{
    for (unsigned i = 0; i < HF_BRUTE_NODES; i++)
        a.to[i] |= b.to[i];
    return a;
}

hf_relation hf_relation_compose(hf_relation a, hf_relation b)
{
    hf_relation r = {0};

    for (unsigned i = 0; i < HF_BRUTE_NODES; i++)
        for (unsigned j = 0; j < HF_BRUTE_NODES; j++)
            if (hf_relation_has(&a, i, j))
                r.to[i] |= b.to[j];
    return r;
}

hf_relation hf_relation_closure(hf_relation a)
{
    for (unsigned via = 0; via < HF_BRUTE_NODES; via++)
        for (unsigned i = 0; i < HF_BRUTE_NODES; i++)
            if (hf_relation_has(&a, i, via))
                a.to[i] |= a.to[via];
    return a;
}

bool hf_relation_acyclic(hf_relation a)
{
    a = hf_relation_closure(a);
    for (unsigned i = 0; i < HF_BRUTE_NODES; i++)
        if (hf_relation_has(&a, i, i))
            return false;
    return true;
}

hf_relation hf_relation_within(hf_relation a, uint8_t nodes)
{
    for (unsigned i = 0; i < HF_BRUTE_NODES; i++)
        a.to[i] = (nodes >> i) & 1u ? a.to[i] & nodes : 0;
    return a;
}

bool hf_brute_in_order(const hf_brute_world *w, hf_relation r)
{
    for (unsigned i = 0; i < HF_BRUTE_NODES; i++)
        for (unsigned j = 0; j < HF_BRUTE_NODES; j++)
            if (hf_relation_has(&r, i, j) && w->place[i] >= w->place[j])
                return false;
    return true;
}

/* ---- dependency levels -------------------------------------------------- */

/* W: ww, wr, pwr, and so and rt where the level says so. */
static hf_relation all_w(const hf_brute_world *w, const hf_level_info *level)
{
    hf_relation r = hf_relation_union(w->ww, w->wr);

    r = hf_relation_union(r, w->pwr);
    if (level->session_order)
        r = hf_relation_union(r, w->so);
    if (level->real_time)
        r = hf_relation_union(r, w->rt);
    return r;
}

static hf_relation all_a(const hf_brute_world *w)
{
    return hf_relation_union(w->rw, w->prw);
}

/* No cycle with exactly one A: none goes back along W where A leads. */
static bool no_single(hf_relation w, hf_relation a)
{
    w = hf_relation_closure(w);
    for (unsigned i = 0; i < HF_BRUTE_NODES; i++)
        for (unsigned j = 0; j < HF_BRUTE_NODES; j++)
            if (hf_relation_has(&a, i, j) && hf_relation_has(&w, j, i))
                return false;
    return true;
}

/* acyclic(W ; A?) */
static bool no_snapshot_cycle(hf_relation w, hf_relation a)
{
    return hf_relation_acyclic(hf_relation_union(w, hf_relation_compose(w, a)));
}

/* ---- reads of a key against a transaction that is visible --------------- */

/* t2 is visible to the reader of r.  Is what r returned older than t2's
 * version of the key?  For a row that the condition did not return, only if a
 * version in between (or t2's) changes the matches. */
static bool is_outdated(const hf_brute_case *c, const hf_brute_world *w,
                        uint32_t i, unsigned t2)
{
    const hf_brute_read *r = &c->reads.at[i];
    uint8_t writers = c->keys[r->key].writers & w->committed;
    int seen = w->place[w->source[i]];

    if (!((writers >> t2) & 1u) || t2 == r->node || w->place[t2] <= seen)
        return false;
    if (r->item)
        return true;
    for (int at = seen + 1; at <= w->place[t2]; at++)
        if (((writers >> w->order[at]) & 1u) &&
            hf_brute_changes(c, w, r, w->order[at]))
            return true;
    return false;
}

/* What is the same for all reads of a transaction. */
hf_relation hf_brute_visible(const hf_brute_world *w, unsigned axiom,
                             hf_relation so, hf_relation wr)
{
    hf_relation wr_so = hf_relation_compose(wr, so), v = {0}, co = {0};
    hf_relation both = hf_relation_union(so, wr);

    for (unsigned i = 0; i < w->n; i++) /* co? */
        for (unsigned j = i; j < w->n; j++)
            hf_relation_add(&co, w->order[i], w->order[j]);
    if (axiom & HF_AXIOM_SO)
        v = hf_relation_union(v, so);
    if (axiom & HF_AXIOM_WR)
        v = hf_relation_union(v, wr);
    if (axiom & HF_AXIOM_WR_SO)
        v = hf_relation_union(v, wr_so);
    if (axiom & HF_AXIOM_SO_WR)
        v = hf_relation_union(v, hf_relation_compose(so, wr));
    if (axiom & HF_AXIOM_WR_WR)
        v = hf_relation_union(v, hf_relation_compose(wr, wr));
    if (axiom & HF_AXIOM_WR_SO_WR)
        v = hf_relation_union(v, hf_relation_compose(wr_so, wr));
    if (axiom & HF_AXIOM_CAUSAL)
        v = hf_relation_union(v, hf_relation_closure(both));
    if (axiom & HF_AXIOM_PREFIX)
        v = hf_relation_union(v, hf_relation_compose(co, both));
    return v;
}

/* The transactions that a transaction has read from, as its reads are gone
 * through in program order. */
typedef struct observed {
    unsigned node;
    hf_op_id op;
    uint8_t earlier; /* by operations before op */
    uint8_t now;     /* by op and those before */
} observed;

static void observe(observed *o, const hf_brute_read *r, uint8_t from)
{
    if (r->node != o->node)
        *o = (observed){.node = r->node, .op = r->op};
    if (r->op != o->op)
        o->earlier = o->now;
    o->op = r->op;
    o->now |= from;
}

bool hf_brute_axiom_holds(const hf_brute_case *c, const hf_brute_world *w,
                          unsigned axiom, hf_relation visible, uint8_t nodes)
{
    observed o = {.node = HF_BRUTE_UNSET};

    for (uint32_t i = 0; i < c->reads.n; i++) {
        unsigned t3 = c->reads.at[i].node;
        uint8_t earlier;

        if (w->source[i] == HF_BRUTE_UNSET || !(nodes >> t3 & 1u))
            continue;
        observe(&o, &c->reads.at[i], w->from[i]);
        earlier = axiom & HF_AXIOM_EARLIER_READ ? o.earlier : 0;
        for (unsigned t2 = 0; t2 < c->n_nodes; t2++)
            if ((((earlier >> t2) & 1u) || hf_relation_has(&visible, t2, t3)) &&
                is_outdated(c, w, i, t2))
                return false;
    }
    return true;
}

/* ---- INT ---------------------------------------------------------------- */

/* Two looks at one key by one transaction, with no own write before either.
 * Two items must be one version.  An entry that was not returned says that the
 * version there did not satisfy its condition, so neither may the item. */
static bool agree(const hf_brute_case *c, const hf_brute_world *w, uint32_t i,
                  uint32_t j)
{
    const hf_brute_read *a = &c->reads.at[i], *b = &c->reads.at[j];

    if (a->item && b->item)
        return w->source[i] == w->source[j];
    if (a->item)
        return !(b->matches >> w->source[i] & 1u);
    if (b->item)
        return !(a->matches >> w->source[j] & 1u);
    return true;
}

bool hf_brute_internal_holds(const hf_brute_case *c, const hf_brute_world *w,
                             uint8_t nodes)
{
    for (uint32_t i = 0; i < c->reads.n; i++) {
        if (w->source[i] == HF_BRUTE_UNSET ||
            !(nodes >> c->reads.at[i].node & 1u))
            continue;
        for (uint32_t j = c->reads.at[i].previous; j != HF_NONE;
             j = c->reads.at[j].previous) {
            if (w->source[j] == HF_BRUTE_UNSET)
                continue;
            if (!agree(c, w, i, j))
                return false;
            if (c->reads.at[i].item && c->reads.at[j].item)
                break; /* j was compared with those before it */
        }
    }
    return true;
}

/* ---- the definitions ---------------------------------------------------- */

static bool axiom_holds(const hf_brute_case *c, const hf_brute_world *w,
                        unsigned axiom)
{
    hf_relation wr = hf_relation_union(w->wr, w->pwr);

    return hf_brute_axiom_holds(
        c, w, axiom, hf_brute_visible(w, axiom, w->so, wr), UINT8_MAX);
}

bool hf_brute_holds(const hf_brute_case *c, const hf_brute_world *w,
                    const hf_level_info *level)
{
    hf_relation W = all_w(w, level), A = all_a(w);

    if (level->internal && !hf_brute_internal_holds(c, w, UINT8_MAX))
        return false;
    switch (level->shape) {
    case HF_SHAPE_WW:
        return hf_relation_acyclic(w->ww);
    case HF_SHAPE_W:
        return hf_relation_acyclic(W);
    case HF_SHAPE_AXIOM:
        return hf_brute_in_order(w, W) && axiom_holds(c, w, level->axiom);
    case HF_SHAPE_OTV:
        return hf_relation_acyclic(W) &&
               axiom_holds(c, w, HF_AXIOM_EARLIER_READ);
    case HF_SHAPE_SINGLE:
        return hf_relation_acyclic(W) && no_single(W, A);
    case HF_SHAPE_ITEM:
        return hf_relation_acyclic(hf_relation_union(W, w->rw));
    case HF_SHAPE_SNAPSHOT:
        return no_snapshot_cycle(W, A);
    case HF_SHAPE_SERIAL:
        return hf_relation_acyclic(hf_relation_union(W, A));
    default:
        HF_BUG("a level of a shape unknown to the reference engine");
    }
}
