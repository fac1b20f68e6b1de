/* pred_oracle.c: conditions that the interpreter does not know, answered by a
 * database.
 *
 * All versions of the table are put to it in batches, as rows of the columns
 * that any of them has.  O(versions) for each such condition.
 */
#include "check/pred.h"

#include <string.h>

#include "base/json_in.h"

#define BATCH 4096u

typedef HF_VEC(hf_str) names;

static void add_name(hf_pred *p, names *all, hf_str name)
{
    for (size_t i = 0; i < all->n; i++)
        if (hf_str_eq(all->at[i], name))
            return;
    name.ptr = hf_arena_text(&p->arena, name.ptr, name.len);
    hf_vec_push(all, name);
}

/* The columns that any of the rows has. */
static void find_names(hf_pred *p, const hf_value_id *values, uint32_t n,
                       names *ret)
{
    for (uint32_t i = 0; i < n; i++) {
        hf_scalar row = hf_value_scalar(p->g->h, values[i]);
        hf_json_in j;
        hf_str key;

        if (row.type != HF_ROW) {
            add_name(p, ret, HF_STR("value"));
            continue;
        }
        hf_json_in_init(&j, row.text, row.length);
        if (hf_json_in_open(&j, '{'))
            while (hf_json_in_next_key(&j, &key)) {
                add_name(p, ret, key);
                hf_json_in_skip(&j, NULL);
            }
        hf_json_in_release(&j);
    }
}

bool hf_pred_ask(hf_pred *p, hf_str condition, const hf_value_id *values,
                 uint32_t n, hf_sql_truth *ret, hf_error *err)
{
    const hf_sql_oracle_kind *kind = p->g->options.oracle;
    names all = {0};
    hf_sql_value *cells;
    hf_status st = HF_OK;

    if (!kind || (!p->oracle && !(p->oracle = kind->open(err))))
        return false;
    find_names(p, values, n, &all);
    cells = HF_NEW_ARRAY(hf_sql_value, (size_t)BATCH * (all.n + 1));
    for (uint32_t from = 0; from < n && st == HF_OK; from += BATCH) {
        uint32_t count = n - from < BATCH ? n - from : BATCH;
        hf_sql_question q = {.condition = condition,
                             .n_columns = (uint32_t)all.n,
                             .names = all.at,
                             .n_rows = count,
                             .cells = cells};

        memset(cells, 0, (size_t)count * all.n * sizeof(*cells));
        for (uint32_t i = 0; i < count; i++)
            for (size_t k = 0; k < all.n; k++)
                (void)hf_sql_row_column(
                    hf_value_scalar(p->g->h, values[from + i]), all.at[k],
                    &p->arena, &cells[i * all.n + k]);
        st = kind->ask(p->oracle, &q, p->g->budget, ret + from, err);
    }
    hf_free(cells);
    hf_vec_release(&all);
    return st == HF_OK;
}
