/* space.c: several columns at once, see columns.h.
 *
 * Every version has a rank in each of the axes; versions that have none in
 * some, being nil or null there, satisfy no range of it.  They are put in the
 * order of a k-d tree: the half with the lower ranks in the first axis first,
 * each half divided by the second axis in the same way, and so on in turn.  A
 * node is an interval of that order, divided in its middle; all that is stored
 * of it, at that place, is the least rank behind it (`split`).  What it can
 * hold of each axis follows from the divisions above it.
 *
 * A search goes down where the ranks that a node can hold are neither all
 * wanted nor all unwanted; the intervals it gives ascend, and those that touch
 * are one.  A plane across one of k axes meets O(n^(1 - 1/k)) nodes of the
 * tree, so there are as many intervals, times the ends of all ranges; each node
 * costs the logarithm of the ranges.  O(n log^2 n) to make, 12 bytes a version.
 */
#include "base/sort.h"
#include "verify/columns.h"

/* So few are looked at one by one. */
#define LEAF 4

/* ---- making -------------------------------------------------------------- */

typedef struct maker {
    hf_column *space;
    hf_sortable *room;
} maker;

/* Puts from .. to-1 in the order of a tree whose root divides this axis. */
static void divide(maker *m, uint32_t from, uint32_t to, uint32_t axis)
{
    hf_column *s = m->space;
    uint32_t middle = from + (to - from) / 2;

    if (to - from <= LEAF)
        return;
    for (uint32_t i = from; i < to; i++)
        m->room[i] =
            (hf_sortable){s->axis[axis]->rank[s->version[i]], s->version[i]};
    hf_sort(m->room + from, to - from);
    for (uint32_t i = from; i < to; i++)
        s->version[i] = (uint32_t)m->room[i].value;
    s->split[middle] = (uint32_t)m->room[middle].key;
    axis = (axis + 1) % s->n_axes;
    divide(m, from, middle, axis);
    divide(m, middle, to, axis);
}

static bool has_all(const hf_column *space, uint32_t version)
{
    for (uint32_t i = 0; i < space->n_axes; i++)
        if (space->axis[i]->rank[version] == HF_NONE)
            return false;
    return true;
}

hf_column *hf_space_new(hf_verifier *v, const hf_column *const *axes,
                        uint32_t n)
{
    hf_column *s = hf_kept_zeros(v, 1, sizeof(*s));
    maker m = {.space = s};

    s->table = axes[0]->table;
    s->n_axes = n;
    for (uint32_t i = 0; i < n; i++)
        s->axis[i] = axes[i];
    s->rank = hf_kept_nones(v, (size_t)hf_n_slots(v) + v->h->n_keys,
                            sizeof(*s->rank));
    s->version = hf_kept_zeros(v, axes[0]->n, sizeof(*s->version));
    s->split = hf_kept_zeros(v, axes[0]->n, sizeof(*s->split));
    for (uint32_t i = 0; i < axes[0]->n; i++)
        if (has_all(s, axes[0]->version[i]))
            s->version[s->n++] = axes[0]->version[i];
    m.room = HF_NEW_ARRAY(hf_sortable, (size_t)s->n + 1);
    divide(&m, 0, s->n, 0);
    hf_free(m.room);
    for (uint32_t i = 0; i < s->n; i++)
        s->rank[s->version[i]] = i;
    return s;
}

/* ---- searching ----------------------------------------------------------- */

typedef struct wanted {
    const hf_interval *at; /* ascending, apart */
    size_t n;
} wanted;

typedef struct seeker {
    const hf_column *space;
    wanted axis[HF_MOST_AXES];
    hf_interval hold[HF_MOST_AXES]; /* what the node in hand can */
    size_t first;                   /* of this search, in the list */
    hf_search *ret;
} seeker;

typedef enum meeting { APART, PARTLY, WITHIN } meeting;

static meeting meet(wanted w, hf_interval hold)
{
    size_t low = 0, high = w.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (w.at[middle].to <= hold.from)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == w.n || w.at[low].from >= hold.to)
        return APART;
    return w.at[low].from <= hold.from && hold.to <= w.at[low].to ? WITHIN
                                                                  : PARTLY;
}

static void give(seeker *k, uint32_t from, uint32_t to)
{
    hf_search *r = k->ret;

    if (r->list.n > k->first && r->list.at[r->list.n - 1].to == from)
        r->list.at[r->list.n - 1].to = to;
    else
        hf_vec_push(&r->list, ((hf_interval){from, to}));
}

static bool is_wanted(const seeker *k, uint32_t version)
{
    for (uint32_t i = 0; i < k->space->n_axes; i++) {
        uint32_t rank = k->space->axis[i]->rank[version];

        if (meet(k->axis[i], (hf_interval){rank, rank + 1}) == APART)
            return false;
    }
    return true;
}

static void seek(seeker *k, uint32_t from, uint32_t to, uint32_t axis)
{
    const hf_column *s = k->space;
    uint32_t middle = from + (to - from) / 2, n_within = 0;
    hf_interval whole = k->hold[axis];

    for (uint32_t i = 0; i < s->n_axes; i++) {
        meeting m = meet(k->axis[i], k->hold[i]);

        if (m == APART)
            return;
        n_within += m == WITHIN;
    }
    if (n_within == s->n_axes) {
        give(k, from, to);
        return;
    }
    if (to - from <= LEAF) {
        for (uint32_t i = from; i < to; i++)
            if (is_wanted(k, s->version[i]))
                give(k, i, i + 1);
        return;
    }
    k->hold[axis].to = s->split[middle];
    seek(k, from, middle, (axis + 1) % s->n_axes);
    k->hold[axis] = (hf_interval){s->split[middle], whole.to};
    seek(k, middle, to, (axis + 1) % s->n_axes);
    k->hold[axis] = whole;
}

static void seek_all(seeker *k)
{
    k->first = k->ret->list.n;
    for (uint32_t i = 0; i < k->space->n_axes; i++)
        k->hold[i] = (hf_interval){0, k->space->axis[i]->n};
    if (k->space->n > 0)
        seek(k, 0, k->space->n, 0);
}

void hf_space_search(const hf_column *space, const hf_side *sides,
                     hf_search *ret)
{
    seeker k = {.space = space, .ret = ret};
    wanted aside, inside;

    ret->list.n = 0;
    for (uint32_t i = 0; i < space->n_axes; i++)
        k.axis[i] = (wanted){sides[i].inside.list.at, sides[i].inside.list.n};
    seek_all(&k);
    ret->n_exact = (uint32_t)ret->list.n;
    /* by which of the axes are aside, one at least */
    for (uint32_t which = 1; which < 1u << space->n_axes; which++) {
        for (uint32_t i = 0; i < space->n_axes; i++) {
            inside = (wanted){sides[i].inside.list.at, sides[i].inside.list.n};
            aside = (wanted){sides[i].aside, sides[i].n_aside};
            k.axis[i] = which >> i & 1u ? aside : inside;
        }
        seek_all(&k);
    }
}
