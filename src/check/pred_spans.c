/* pred_spans.c: conditions that are ranges of columns.
 *
 * Where every version of a table has the column, with values of one class, a
 * condition such as `c >= 5 AND c < 9` is an interval of the numbered values
 * of the column, and whether a version satisfies it is a comparison of
 * numbers.  For operations with a snapshot by time nothing else is asked for
 * (pred_chains.c).  For the others, and for showing a cycle, the sets are
 * written out when they are first needed.
 *
 * O(log V) for a range; O(M log M) for the sets of a condition with M matches,
 * M versions inside the narrowest of its columns if it has several.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

/* ---- places of an index -------------------------------------------------- */

/* The first place of the index whose value is not below v; with `after`, the
 * first above it. */
static uint32_t search(const hf_pred_column *c, const hf_sql_value *v,
                       bool after)
{
    uint32_t low = 0, high = c->n_sorted;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = hf_pred_order(&c->value[c->sorted[middle]], v);

        if (order < 0 || (order == 0 && after))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

hf_pred_places hf_pred_class_places(const hf_pred_column *c, unsigned class_)
{
    return (hf_pred_places){c->class_first[class_], c->class_first[class_ + 1]};
}

unsigned hf_pred_bound_class(const hf_sql_bound *b)
{
    const hf_sql_range *r = b->n_ranges > 0 ? &b->ranges[0] : NULL;

    if (!r || (!r->has_low && !r->has_high))
        return 0;
    return hf_pred_class(r->has_low ? &r->low : &r->high);
}

hf_pred_places hf_pred_range_places(const hf_pred_column *c,
                                    const hf_sql_bound *b,
                                    const hf_sql_range *r)
{
    hf_pred_places s = hf_pred_class_places(c, hf_pred_bound_class(b));

    if (r->has_low)
        s.first = search(c, &r->low, r->low_open);
    if (r->has_high)
        s.end = search(c, &r->high, !r->high_open);
    if (s.end < s.first)
        s.end = s.first;
    return s;
}

bool hf_pred_is_uniform(const hf_pred_column *c, const hf_sql_bound *b)
{
    hf_pred_places of_class = hf_pred_class_places(c, hf_pred_bound_class(b));
    hf_pred_places null = hf_pred_class_places(c, 0);

    return of_class.end - of_class.first + (null.end - null.first) ==
           c->n_sorted;
}

/* ---- ranges of numbers --------------------------------------------------- */

bool hf_pred_make_axis(hf_pred *p, uint32_t table, uint32_t column,
                       const hf_sql_bound *b, hf_pred_axis *ret)
{
    const hf_pred_column *c;
    hf_pred_axis made = {.column = column};

    if (b->n_ranges > HF_PRED_SPANS || hf_pred_bound_class(b) == 0)
        return false;
    hf_pred_sort_column(p, table, column);
    hf_pred_number_column(p, table, column);
    c = &p->tables.at[table].columns.at[column];
    if (!c->complete || !hf_pred_is_uniform(c, b))
        return false;
    made.spans = hf_arena_get(&p->arena, b->n_ranges * sizeof(hf_pred_span));
    for (uint32_t i = 0; i < b->n_ranges; i++) {
        hf_pred_places s = hf_pred_range_places(c, b, &b->ranges[i]);

        made.n_within += s.end - s.first;
        if (s.first < s.end)
            made.spans[made.n_spans++] =
                (hf_pred_span){c->number[c->sorted[s.first]],
                               c->number[c->sorted[s.end - 1]] + 1};
    }
    made.number = c->number;
    *ret = made;
    return true;
}

bool hf_pred_make_spans(hf_pred *p, hf_pred_condition *c)
{
    const hf_sql_bound *b = NULL;
    hf_pred_axis axis;

    if (!p->tables.at[c->table].regular || !p->commit ||
        hf_sql_bounds(c->expr, &b) != 1 || !b->exact ||
        !hf_pred_make_axis(p, c->table, c->column[b->column], b, &axis))
        return false;
    c->axes = hf_arena_get(&p->arena, sizeof(axis));
    c->axes[0] = axis;
    c->n_axes = 1;
    c->n_within = axis.n_within;
    c->is_spans = true;
    return true;
}

/* ---- sets ---------------------------------------------------------------- */

/* The axis with the fewest versions inside. */
static const hf_pred_axis *narrowest(const hf_pred_condition *c)
{
    const hf_pred_axis *best = &c->axes[0];

    for (uint32_t i = 1; i < c->n_axes; i++)
        if (c->axes[i].n_within < best->n_within)
            best = &c->axes[i];
    return best;
}

static void list_matches(hf_pred *p, hf_pred_condition *c)
{
    const hf_pred_table *t = &p->tables.at[c->table];
    const hf_pred_axis *axis = narrowest(c);
    const hf_pred_column *column = &t->columns.at[axis->column];
    hf_sortable *all =
        hf_alloc_large(hf_array_size((size_t)axis->n_within + 1, sizeof(*all)));
    uint32_t n = 0;

    for (uint32_t i = 0; i < axis->n_spans; i++)
        for (uint32_t k = column->number_first[axis->spans[i].low];
             k < column->number_first[axis->spans[i].end]; k++)
            if (c->n_axes == 1 ||
                hf_pred_holds(p, c, t->ver[column->sorted[k]]))
                all[n++] = (hf_sortable){t->ver[column->sorted[k]], 0};
    HF_ASSERT(n <= c->n_within);
    hf_sort(all, n);
    c->match.at = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++)
        c->match.at[i] = (uint32_t)all[i].key;
    c->match.n = n;
    hf_free(all);
}

const hf_pred_condition *hf_pred_sets(hf_pred *p, uint32_t condition)
{
    hf_pred_condition *c = &p->conditions.at[condition];

    if (!c->has_sets && c->is_spans) {
        list_matches(p, c);
        hf_pred_find_flips(p, c);
        c->has_sets = true;
    }
    return c;
}
