/* pred_boxes.c: conditions that are ranges of several columns together.
 *
 * A condition such as `a > 5 AND b BETWEEN 2 AND 9` is a box: where the columns
 * are numbered as for ranges of one (pred_spans.c), a few comparisons of
 * numbers say whether a version satisfies it.  What it costs to have the sets
 * of many wide ones is the sum of what their best bounds leave; what it costs
 * to have parts that they share instead (pred_parts.c) depends on how many
 * conditions there are over the same columns, and how large the table is.  So
 * they are chosen together, for each set of columns.
 *
 * O(log V) for a condition.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

/* More events are not counted. */
#define MOST_EVENTS ((uint64_t)1 << 30)

typedef struct box {
    uint32_t condition, table;
    uint32_t n_axes;
    hf_pred_axis axes[HF_PRED_AXES]; /* by column */
} box;

static int by_column(const void *a, const void *b)
{
    const hf_pred_axis *x = a, *y = b;

    return (x->column > y->column) - (x->column < y->column);
}

static int by_columns(const void *a, const void *b)
{
    const box *x = a, *y = b;

    if (x->table != y->table)
        return x->table < y->table ? -1 : 1;
    if (x->n_axes != y->n_axes)
        return x->n_axes < y->n_axes ? -1 : 1;
    for (uint32_t i = 0; i < x->n_axes; i++)
        if (x->axes[i].column != y->axes[i].column)
            return x->axes[i].column < y->axes[i].column ? -1 : 1;
    return 0;
}

static bool make_box(hf_pred *p, uint32_t condition, box *ret)
{
    const hf_pred_condition *c = &p->conditions.at[condition];
    const hf_sql_bound *bounds = NULL;
    uint32_t n;

    if (!c->expr || c->is_spans || c->n_timed == 0 || !p->commit ||
        !p->tables.at[c->table].regular || !hf_sql_bounds_say_all(c->expr))
        return false;
    n = hf_sql_bounds(c->expr, &bounds);
    if (n < 2 || n > HF_PRED_AXES)
        return false;
    *ret = (box){.condition = condition, .table = c->table, .n_axes = n};
    for (uint32_t i = 0; i < n; i++)
        if (!hf_pred_make_axis(p, c->table, c->column[bounds[i].column],
                               &bounds[i], &ret->axes[i]))
            return false;
    qsort(ret->axes, n, sizeof(ret->axes[0]), by_column);
    return true;
}

/* So many parts of a tree of trees over n versions can have one version: with
 * ranges of 1, 2, 4, ... values in the first column, of the values inside each
 * of them in the second, and so on, log^k n / k! of them. */
static uint64_t depth_of(uint32_t n, uint32_t n_axes)
{
    uint64_t depth = 1;

    for (uint32_t i = 0; i < n_axes; i++)
        depth = depth * (hf_pred_depth(n) + i) / (i + 1);
    return depth;
}

/* Boxes that the condition is made of. */
static uint64_t count_boxes(const box *b)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < b->n_axes; i++)
        n *= b->axes[i].n_spans;
    return n;
}

/* Is sharing less work for n conditions over the same columns? */
static bool pays(const hf_pred *p, const box *b, size_t n, const uint64_t *left)
{
    uint64_t versions = p->tables.at[b->table].n;
    uint64_t depth = depth_of((uint32_t)versions, b->n_axes);
    uint64_t alone = 0, uses = 0;

    if (2 * (versions + n) * depth > MOST_EVENTS)
        return false;
    for (size_t i = 0; i < n; i++) {
        alone += left[b[i].condition];
        uses += p->conditions.at[b[i].condition].n_timed * count_boxes(&b[i]);
    }
    return alone > (2 * versions + uses) * depth || p->g->options.share;
}

static void take(hf_pred *p, const box *b)
{
    hf_pred_condition *c = &p->conditions.at[b->condition];

    c->axes = hf_arena_get(&p->arena, b->n_axes * sizeof(hf_pred_axis));
    memcpy(c->axes, b->axes, b->n_axes * sizeof(hf_pred_axis));
    c->n_axes = b->n_axes;
    c->n_within = b->axes[0].n_within;
    for (uint32_t i = 1; i < b->n_axes; i++)
        if (b->axes[i].n_within < c->n_within)
            c->n_within = b->axes[i].n_within;
    c->is_spans = true;
}

void hf_pred_choose_boxes(hf_pred *p, const uint64_t *left)
{
    HF_VEC(box) all = {0};
    box made;
    size_t end;

    for (uint32_t i = 0; i < p->conditions.n; i++)
        if (make_box(p, i, &made))
            hf_vec_push(&all, made);
    if (all.n > 1)
        qsort(all.at, all.n, sizeof(box), by_columns);
    for (size_t i = 0; i < all.n; i = end) {
        for (end = i + 1;
             end < all.n && by_columns(&all.at[i], &all.at[end]) == 0;)
            end++;
        if (pays(p, &all.at[i], end - i, left))
            for (size_t k = i; k < end; k++)
                take(p, &all.at[k]);
    }
    hf_vec_release(&all);
}
