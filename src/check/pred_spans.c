/* pred_spans.c: conditions that are ranges of one column.
 *
 * Where every version of a table has the column, with values of one class, a
 * condition such as `c >= 5 AND c < 9` is an interval of the numbered values
 * of the column, and whether a version satisfies it is a comparison of
 * numbers.  For operations with a snapshot by time nothing else is asked for
 * (pred_chains.c).  For the others, and for showing a cycle, the sets are
 * written out when they are first needed.
 *
 * O(M log M) for the sets of a condition with M matches.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

static void list_matches(hf_pred *p, hf_pred_condition *c)
{
    const hf_pred_table *t = &p->tables.at[c->table];
    const hf_pred_column *column = &t->columns.at[c->span_column];
    hf_sortable *all =
        hf_alloc_large(hf_array_size((size_t)c->n_within + 1, sizeof(*all)));
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n_spans; i++)
        for (uint32_t k = column->number_first[c->spans[i].low];
             k < column->number_first[c->spans[i].end]; k++)
            all[n++] = (hf_sortable){t->ver[column->sorted[k]], 0};
    HF_ASSERT(n == c->n_within);
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
