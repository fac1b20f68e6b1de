/* pred_parts.c: what conditions over several columns have in common.
 *
 * Conditions that are ranges of the columns a, b, ... together (boxes) are put
 * together from parts, sets of versions that many of them share.  The values of
 * a are the leaves of a tree, as in pred_chains.c; a range of a is O(log) of
 * its nodes.  The versions below such a node have a tree of their own over the
 * values of b that they have, from O(log) nodes of which the range of b is put
 * together, and so on; the nodes of the last column are the parts.  Nodes that
 * no condition needs are not made, and the tree of a node is as deep as the
 * node is large: so a version is in O(log^k V / k!) parts for k columns, and
 * a condition has not more than a few times as many for each of its ranges.
 *
 * The parts of one condition do not meet and are all that satisfies it, so all
 * that is said of ranges in pred_chains.c holds for them.
 *
 * The trees are gone through from the top: with the versions and the conditions
 * of a node, both lists, those of the nodes below it are made, and left again.
 * Lists of versions ascend, as they are filled by going through one that does.
 *
 * O((V + P) log^k V / k!) for P conditions, and log V for each cover of a tree
 * that is not the last.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

typedef HF_VEC(uint32_t) numbers;

typedef struct maker {
    hf_pred *p;
    const hf_pred_table *t;
    uint32_t n_axes;
    hf_pred_shares *shares;
} maker;

/* The versions and the conditions of a node. */
typedef struct crowd {
    const uint32_t *places; /* of versions in their table; ascending */
    uint32_t n;
    const uint32_t *conditions;
    size_t n_conditions;
} crowd;

/* A tree over the values that a crowd has in one column. */
typedef struct tree {
    uint32_t n_values, size;
    uint32_t *values;  /* numbers, ascending */
    uint32_t *leaf;    /* per version of the crowd; HF_NONE: null */
    hf_sortable *need; /* node, condition; by node */
    size_t n_needs;
    uint32_t *slot;  /* per node: its place among those needed; HF_NONE */
    numbers starts;  /* per slot: into need */
    uint32_t *first; /* per slot, and one more: into places */
    uint32_t *places;
} tree;

/* ---- parts --------------------------------------------------------------- */

static void add_part(maker *m, const crowd *c)
{
    hf_pred *p = m->p;
    hf_pred_part part = {p->part_vers.n, c->n};
    int64_t start = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t ver = m->t->ver[c->places[i]];

        start += p->g->ver_txn[ver] == HF_NONE;
        hf_vec_push(&p->part_vers, ver);
    }
    hf_vec_push(&p->parts, part);
    for (unsigned all = 0; all < 2; all++) {
        uint32_t chain = HF_NONE;

        for (size_t i = 0; i < c->n_conditions; i++) {
            if (p->conditions.at[c->conditions[i]].uses[all] == 0)
                continue;
            if (chain == HF_NONE) {
                chain = (uint32_t)p->chain.n;
                hf_vec_push(&p->chain,
                            ((hf_pred_chain){.condition = HF_NONE,
                                             .part = (uint32_t)p->parts.n - 1,
                                             .all = all,
                                             .start = start}));
            }
            hf_vec_push(&m->shares[all],
                        ((hf_pred_share){c->conditions[i], chain}));
        }
    }
}

/* ---- trees --------------------------------------------------------------- */

static void number_leaves(tree *t, const crowd *c, const uint32_t *number)
{
    hf_sortable *all = HF_NEW_ARRAY(hf_sortable, (size_t)c->n + 1);
    uint32_t n = 0;

    t->leaf = HF_NEW_ARRAY(uint32_t, (size_t)c->n + 1);
    t->values = HF_NEW_ARRAY(uint32_t, (size_t)c->n + 1);
    for (uint32_t i = 0; i < c->n; i++) {
        t->leaf[i] = HF_NONE;
        if (number[c->places[i]] != HF_NONE)
            all[n++] = (hf_sortable){number[c->places[i]], i};
    }
    hf_sort(all, n);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || all[i].key != all[i - 1].key)
            t->values[t->n_values++] = (uint32_t)all[i].key;
        t->leaf[all[i].value] = t->n_values - 1;
    }
    t->size = (uint32_t)1 << hf_pred_depth(t->n_values);
    hf_free(all);
}

/* The first leaf whose value is not below. */
static uint32_t leaf_from(const tree *t, uint32_t number)
{
    uint32_t low = 0, high = t->n_values;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (t->values[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The nodes that the ranges of the conditions are put together from. */
static void find_needs(maker *m, tree *t, const crowd *c, uint32_t axis)
{
    HF_VEC(hf_sortable) all = {0};

    for (size_t i = 0; i < c->n_conditions; i++) {
        const hf_pred_axis *a =
            &m->p->conditions.at[c->conditions[i]].axes[axis];

        for (uint32_t k = 0; k < a->n_spans; k++) {
            uint32_t low = leaf_from(t, a->spans[k].low) + t->size;
            uint32_t end = leaf_from(t, a->spans[k].end) + t->size;

            for (; low < end; low /= 2, end /= 2) {
                if (low & 1u)
                    hf_vec_push(&all, ((hf_sortable){low++, c->conditions[i]}));
                if (end & 1u)
                    hf_vec_push(&all, ((hf_sortable){--end, c->conditions[i]}));
            }
        }
    }
    hf_sort(all.at, all.n);
    t->need = all.at;
    t->n_needs = all.n;
    t->slot = HF_NEW_ARRAY(uint32_t, 2 * (size_t)t->size);
    memset(t->slot, 0xff, 2 * (size_t)t->size * sizeof(uint32_t));
    for (size_t i = 0; i < all.n; i++)
        if (i == 0 || all.at[i].key != all.at[i - 1].key) {
            t->slot[all.at[i].key] = (uint32_t)t->starts.n;
            hf_vec_push(&t->starts, (uint32_t)i);
        }
    hf_vec_push(&t->starts, (uint32_t)all.n);
}

/* The versions of each node that is needed: counts them, or puts them there. */
static void hand_out(tree *t, const crowd *c, bool put)
{
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t at = t->leaf[i] == HF_NONE ? 0 : t->leaf[i] + t->size;
             at > 0; at /= 2) {
            uint32_t slot = t->slot[at];

            if (slot == HF_NONE)
                continue;
            if (put)
                t->places[t->first[slot + 1]++] = c->places[i];
            else
                t->first[slot + 2]++;
        }
}

static void divide(tree *t, const crowd *c)
{
    size_t n = t->starts.n - 1;

    t->first = HF_NEW_ZEROED(uint32_t, n + 3);
    hand_out(t, c, false);
    for (size_t i = 0; i < n; i++)
        t->first[i + 2] += t->first[i + 1];
    t->places = HF_NEW_ARRAY(uint32_t, (size_t)t->first[n + 1] + 1);
    hand_out(t, c, true);
}

static void release(tree *t)
{
    hf_free(t->values);
    hf_free(t->leaf);
    hf_free(t->need);
    hf_free(t->slot);
    hf_free(t->first);
    hf_free(t->places);
    hf_vec_release(&t->starts);
}

/* The parts of a crowd, from this axis on. */
static void split(maker *m, const crowd *c, uint32_t axis)
{
    const hf_pred_condition *any = &m->p->conditions.at[c->conditions[0]];
    numbers conditions = {0};
    tree t = {0};

    if (c->n == 0)
        return;
    if (axis == m->n_axes) {
        add_part(m, c);
        return;
    }
    number_leaves(&t, c, any->axes[axis].number);
    find_needs(m, &t, c, axis);
    divide(&t, c);
    for (size_t i = 0; i + 1 < t.starts.n && !hf_graph_spent(m->p->g); i++) {
        conditions.n = 0;
        for (uint32_t k = t.starts.at[i]; k < t.starts.at[i + 1]; k++)
            hf_vec_push(&conditions, (uint32_t)t.need[k].value);
        split(m,
              &(crowd){t.places + t.first[i], t.first[i + 1] - t.first[i],
                       conditions.at, conditions.n},
              axis + 1);
    }
    hf_vec_release(&conditions);
    release(&t);
}

/* ---- all ----------------------------------------------------------------- */

static bool is_used_box(const hf_pred_condition *c)
{
    return c->n_axes > 1 && c->uses[0] + c->uses[1] > 0;
}

static bool share_columns(const hf_pred_condition *a,
                          const hf_pred_condition *b)
{
    if (a->table != b->table || a->n_axes != b->n_axes)
        return false;
    for (uint32_t i = 0; i < a->n_axes; i++)
        if (a->axes[i].column != b->axes[i].column)
            return false;
    return true;
}

/* All conditions over the columns of this one; they are marked. */
static void make_group(maker *m, uint32_t condition, uint8_t *done)
{
    hf_pred *p = m->p;
    const hf_pred_condition *c = &p->conditions.at[condition];
    numbers members = {0};
    uint32_t *places;

    m->t = &p->tables.at[c->table];
    m->n_axes = c->n_axes;
    for (uint32_t i = condition; i < p->conditions.n; i++)
        if (!done[i] && is_used_box(&p->conditions.at[i]) &&
            share_columns(c, &p->conditions.at[i])) {
            done[i] = 1;
            hf_vec_push(&members, i);
        }
    places = HF_NEW_ARRAY(uint32_t, (size_t)m->t->n + 1);
    for (uint32_t i = 0; i < m->t->n; i++)
        places[i] = i;
    split(m, &(crowd){places, m->t->n, members.at, members.n}, 0);
    hf_free(places);
    hf_vec_release(&members);
}

static void sort_shares(hf_pred_shares *all)
{
    hf_sortable *s = HF_NEW_ARRAY(hf_sortable, all->n + 1);

    for (size_t i = 0; i < all->n; i++)
        s[i] = (hf_sortable){all->at[i].condition, all->at[i].chain};
    hf_sort(s, all->n);
    for (size_t i = 0; i < all->n; i++)
        all->at[i] = (hf_pred_share){(uint32_t)s[i].key, (uint32_t)s[i].value};
    hf_free(s);
}

void hf_pred_make_parts(hf_pred *p, hf_pred_shares ret[2])
{
    maker m = {.p = p, .shares = ret};
    uint8_t *done = HF_NEW_ZEROED(uint8_t, p->conditions.n + 1);

    for (uint32_t i = 0; i < p->conditions.n; i++)
        if (!done[i] && is_used_box(&p->conditions.at[i]))
            make_group(&m, i, done);
    hf_free(done);
    sort_shares(&ret[0]);
    sort_shares(&ret[1]);
}
