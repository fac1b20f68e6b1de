/* cycle_shape.c: what a cycle of edges is, and which levels forbid it.
 *
 * Which cycles a level forbids follows from its definition.  For the levels
 * given by a commit order co: co contains wr, so and the version order, so no
 * cycle of those.  An anti-dependency t3 -> t2 on x means that t3 reads x
 * from a t1 older than t2; the level's condition wants t2 before t1 if t2 is
 * visible to t3, so the way back from t2 to t3 must not be one that makes t2
 * visible.  For prefix, visible means co?;(so + wr), and co is total, so a
 * step (so + wr);rw lies in co: no cycle in which each rw follows a wr or so.
 *
 * Simple cycles are enough: a closed walk of forbidden shape that visits a
 * transaction twice falls apart there into two, one of which is forbidden.
 *
 * Mixed levels: an edge is an order of events, of commits and, for snapshot
 * forms and prefix, starts; it is demanded by the level of the transaction it
 * enters, an anti-dependency by that of the one it leaves.
 *
 * Linear in the cycle.
 */
#include "verify/cycle.h"

/* ---- shapes -------------------------------------------------------------- */

hf_cycle_shape hf_cycle_shape_of(const hf_cycle *w)
{
    hf_cycle_shape s = {.one_key = true};
    hf_key_id key = HF_NONE;

    for (uint32_t i = 0; i < w->n; i++) {
        const hf_edge *e = &w->edges[i];
        const hf_edge *next = &w->edges[(i + 1) % w->n];

        s.n[e->kind]++;
        s.anti += hf_edge_is_anti(e->kind);
        s.adjacent |= hf_edge_is_anti(e->kind) && hf_edge_is_anti(next->kind);
        if (e->kind != HF_EDGE_WW)
            continue;
        s.one_key &= key == HF_NONE || key == e->key;
        key = e->key;
    }
    return s;
}

/* ---- levels -------------------------------------------------------------- */

/* Edge i of the cycle, counted from its first anti-dependency. */
static const hf_edge *edge_after(const hf_cycle *w, uint32_t first, uint32_t i)
{
    return &w->edges[(first + i) % w->n];
}

/* The way back from the only anti-dependency, `first`, to its reader, as
 * letters: r(eads from), s(ession order; runs of it made one), others '?'.
 * Way stations of the same key at the beginning are left out: each is an
 * overwriter as good as the first. */
static void way_back(const hf_cycle *w, uint32_t first, char *ret,
                     uint32_t size, bool *ret_causal)
{
    uint32_t n = 0, i = 1;

    while (i < w->n && edge_after(w, first, i)->kind == HF_EDGE_WW &&
           edge_after(w, first, i)->key == w->edges[first].key)
        i++;
    *ret_causal = i < w->n;
    for (; i < w->n; i++) {
        hf_edge_kind kind = edge_after(w, first, i)->kind;
        char letter = hf_edge_is_read(kind) ? 'r'
                      : kind == HF_EDGE_SO  ? 's'
                                            : '?';

        *ret_causal &= letter != '?';
        if (letter == 's' && n > 0 && n < size && ret[n - 1] == 's')
            continue;
        if (n < size)
            ret[n] = letter;
        n++;
    }
    ret[n < size ? n : 0] = '\0'; /* too long for any of the short ways */
}

/* Does the way back make the overwriter visible to the reader? */
static bool is_visible(const hf_cycle *w, unsigned axiom)
{
    static const struct {
        unsigned axiom;
        const char *way;
    } ways[] = {
        {HF_AXIOM_SO, "s"},     {HF_AXIOM_WR, "r"},
        {HF_AXIOM_WR_SO, "rs"}, {HF_AXIOM_SO_WR, "sr"},
        {HF_AXIOM_WR_WR, "rr"}, {HF_AXIOM_WR_SO_WR, "rsr"},
    };
    char way[8];
    uint32_t first = 0;
    bool causal;

    while (!hf_edge_is_anti(w->edges[first].kind))
        first++;
    way_back(w, first, way, sizeof(way), &causal);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if ((axiom & ways[i].axiom) && strcmp(way, ways[i].way) == 0)
            return true;
    if ((axiom & HF_AXIOM_EARLIER_READ) && strcmp(way, "r") == 0 &&
        edge_after(w, first, w->n - 1)->to_op < w->edges[first].from_op)
        return true;
    return (axiom & HF_AXIOM_CAUSAL) && causal;
}

/* Each anti-dependency follows an edge that makes what was before visible. */
static bool prefix_forbids(const hf_cycle *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        hf_edge_kind kind = w->edges[i].kind;

        if (hf_edge_is_anti(w->edges[(i + 1) % w->n].kind) &&
            !hf_edge_is_read(kind) && kind != HF_EDGE_SO)
            return false;
    }
    return true;
}

/* ---- mixed levels -------------------------------------------------------- */

/* Is this an edge that the transaction it enters, or an anti-dependency that
 * the transaction it leaves, cannot have the other way round? */
static bool is_demanded(const hf_verifier *v, const hf_edge *e)
{
    const hf_level_info *to = hf_level_of(v, e->to);
    const hf_level_info *from = hf_level_of(v, e->from);

    switch (e->kind) {
    case HF_EDGE_WW:
        return true;
    case HF_EDGE_WR:
    case HF_EDGE_PWR:
        return to->shape != HF_SHAPE_WW;
    case HF_EDGE_SO:
        return to->session_order;
    case HF_EDGE_RT:
        return to->real_time;
    case HF_EDGE_RW:
        return from->shape == HF_SHAPE_SERIAL || from->shape == HF_SHAPE_ITEM ||
               hf_level_has_start(from);
    case HF_EDGE_PRW:
        return from->shape == HF_SHAPE_SERIAL || hf_level_has_start(from);
    default:
        return false;
    }
}

/* Of a transaction that has a start: the edge leads there, not only to its
 * commit. */
static bool enters_start(const hf_verifier *v, const hf_edge *e)
{
    if (hf_edge_is_anti(e->kind))
        return false;
    return e->kind != HF_EDGE_WW || !hf_level_is_prefix(hf_level_of(v, e->to));
}

/* Each edge is an order of two events.  Together they are a circle unless one
 * leads to a commit and the next leaves from the start. */
static bool events_forbid(const hf_verifier *v, const hf_cycle *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        const hf_edge *e = &w->edges[i], *next = &w->edges[(i + 1) % w->n];

        if (!is_demanded(v, e) ||
            (hf_level_has_start(hf_level_of(v, e->to)) &&
             hf_edge_is_anti(next->kind) && !enters_start(v, e)))
            return false;
    }
    return true;
}

/* One anti-dependency, of a transaction whose level asks what is visible to
 * it, and a way back that makes the overwriter so. */
static bool reader_forbids(const hf_verifier *v, const hf_cycle *w)
{
    const hf_level_info *reader = NULL;

    for (uint32_t i = 0; i < w->n; i++) {
        if (hf_edge_is_anti(w->edges[i].kind) && reader)
            return false;
        if (hf_edge_is_anti(w->edges[i].kind))
            reader = hf_level_of(v, w->edges[i].from);
        else if (!is_demanded(v, &w->edges[i]))
            return false;
    }
    if (!reader)
        return false;
    return reader->shape == HF_SHAPE_SINGLE ||
           (reader->shape == HF_SHAPE_OTV &&
            is_visible(w, HF_AXIOM_EARLIER_READ)) ||
           (reader->shape == HF_SHAPE_AXIOM && is_visible(w, reader->axiom));
}

bool hf_level_forbids_cycle(const hf_verifier *v, const hf_cycle *w,
                            const hf_cycle_shape *s)
{
    uint32_t reads = s->n[HF_EDGE_WR] + s->n[HF_EDGE_PWR];

    if (v->w->mixed)
        return events_forbid(v, w) || reader_forbids(v, w);
    if ((s->n[HF_EDGE_SO] && !v->info->session_order) ||
        (s->n[HF_EDGE_RT] && !v->info->real_time))
        return false;
    switch (v->info->shape) {
    case HF_SHAPE_WW:
        return s->anti == 0 && reads == 0;
    case HF_SHAPE_W:
        return s->anti == 0;
    case HF_SHAPE_OTV:
        return s->anti == 0 ||
               (s->anti == 1 && is_visible(w, HF_AXIOM_EARLIER_READ));
    case HF_SHAPE_AXIOM:
        return s->anti == 0 ||
               (s->anti == 1 && is_visible(w, v->info->axiom)) ||
               ((v->info->axiom & HF_AXIOM_PREFIX) && prefix_forbids(w));
    case HF_SHAPE_SINGLE:
        return s->anti <= 1;
    case HF_SHAPE_ITEM:
        return s->n[HF_EDGE_PRW] == 0;
    case HF_SHAPE_SNAPSHOT:
        return !s->adjacent;
    case HF_SHAPE_SERIAL:
        return true;
    default:
        return false;
    }
}
