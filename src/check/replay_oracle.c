/* replay_oracle.c: conditions that the interpreter does not know, answered by
 * a database.
 *
 * All values that the keys of the table ever have are put to it in batches,
 * as rows of the columns that any of them has; the answers are kept.
 * O(values of the table) for each such condition.
 */
#include "check/replay.h"

#include <string.h>

#include "base/json_in.h"
#include "sql/oracle.h"

#define BATCH 4096u

typedef HF_VEC(hf_str) names;

static void add_name(hf_replay_rows *rows, names *all, hf_str name)
{
    for (size_t i = 0; i < all->n; i++)
        if (hf_str_eq(all->at[i], name))
            return;
    name.ptr = hf_arena_text(&rows->arena, name.ptr, name.len);
    hf_vec_push(all, name);
}

/* The columns that any of the rows has. */
static void find_names(hf_replay_rows *rows, const hf_rows_table *t, names *ret)
{
    for (uint32_t i = 0; i < t->n_values; i++) {
        hf_scalar row = hf_value_scalar(rows->h, t->values[i]);
        hf_json_in j;
        hf_str key;

        if (row.type != HF_ROW) {
            add_name(rows, ret, HF_STR("value"));
            continue;
        }
        hf_json_in_init(&j, row.text, row.length);
        if (hf_json_in_open(&j, '{'))
            while (hf_json_in_next_key(&j, &key)) {
                add_name(rows, ret, key);
                hf_json_in_skip(&j, NULL);
            }
        hf_json_in_release(&j);
    }
}

typedef struct batch {
    hf_replay_rows *rows;
    const hf_rows_table *t;
    hf_sql_question q;
    hf_sql_value *cells;
    hf_sql_truth *answers;
} batch;

static hf_status ask_batch(batch *b, uint32_t from, uint8_t *ret, hf_error *err)
{
    hf_replay_rows *rows = b->rows;
    uint32_t left = b->t->n_values - from, n = left < BATCH ? left : BATCH;
    uint32_t width = b->q.n_columns;
    hf_status st;

    b->q.n_rows = n;
    memset(b->cells, 0, (size_t)n * width * sizeof(*b->cells));
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < width; k++)
            (void)hf_sql_row_column(
                hf_value_scalar(rows->h, b->t->values[from + i]), b->q.names[k],
                &rows->arena, &b->cells[(size_t)i * width + k]);
    st = rows->oracle_kind->ask(rows->oracle, &b->q, rows->budget, b->answers,
                                err);
    for (uint32_t i = 0; st == HF_OK && i < n; i++)
        ret[from + i] = (uint8_t)b->answers[i];
    return st;
}

bool hf_rows_ask_database(hf_replay_rows *rows, hf_rows_condition *c)
{
    const hf_rows_table *t = &rows->tables.at[c->table];
    batch b = {.rows = rows, .t = t};
    names all = {0};
    uint8_t *asked;
    hf_status st = HF_OK;
    hf_error err;

    if (!rows->oracle_kind || c->refused)
        return false;
    c->refused = true; /* until we know better */
    if (!rows->oracle && !(rows->oracle = rows->oracle_kind->open(&err)))
        return false;
    find_names(rows, t, &all);
    b.q = (hf_sql_question){.condition = hf_string(rows->h, c->text),
                            .n_columns = (uint32_t)all.n,
                            .names = all.at};
    b.cells = HF_NEW_ARRAY(hf_sql_value, (size_t)BATCH * (all.n + 1));
    b.q.cells = b.cells;
    b.answers = HF_NEW_ARRAY(hf_sql_truth, BATCH);
    asked = HF_NEW_ZEROED(uint8_t, (size_t)t->n_values + 1);
    for (uint32_t from = 0; from < t->n_values && st == HF_OK; from += BATCH)
        st = ask_batch(&b, from, asked, &err);
    hf_free(b.cells);
    hf_free(b.answers);
    hf_vec_release(&all);
    if (st != HF_OK) {
        hf_free(asked);
        return false;
    }
    c->asked = asked;
    return true;
}
