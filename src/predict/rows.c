/* rows.c: which versions of a row satisfy a condition.
 *
 * Conditions are parsed once for each text, and each question about a version
 * is answered once for each row and condition; answers are kept in a map.
 */
#include "predict/events.h"

#include "base/map.h"
#include "sql/sql.h"

typedef struct condition_row {
    hf_string_id text;
    const hf_sql_expr *expr; /* NULL: not understood */
} condition_row;

struct hf_event_rows {
    const hf_events *e;
    hf_sql_cache *cache;
    hf_arena arena;
    HF_VEC(condition_row) conditions;
    hf_map answers;        /* condition and value: 0, 1, or 2 for unknown */
    uint32_t *table_first; /* per table (a string id, the last: none) */
    hf_key_id *keys;
    HF_VEC(hf_sql_value) columns;
    uint32_t unjudged; /* answers that are 2 */
};

static uint32_t table_of(const hf_history *h, hf_key_id k)
{
    hf_string_id t = h->key_table ? h->key_table[k] : HF_NONE;

    return t == HF_NONE ? h->n_strings : t;
}

static void list_tables(hf_event_rows *rows)
{
    const hf_history *h = rows->e->h;
    uint32_t *next;

    rows->table_first = HF_NEW_ZEROED(uint32_t, (size_t)h->n_strings + 2);
    rows->keys = HF_NEW_ARRAY(hf_key_id, (size_t)h->n_keys + 1);
    for (hf_key_id k = 0; k < h->n_keys; k++)
        rows->table_first[table_of(h, k) + 1]++;
    for (uint32_t t = 0; t <= h->n_strings; t++)
        rows->table_first[t + 1] += rows->table_first[t];
    next = HF_NEW_ARRAY(uint32_t, (size_t)h->n_strings + 1);
    memcpy(next, rows->table_first, (h->n_strings + 1u) * sizeof(*next));
    for (hf_key_id k = 0; k < h->n_keys; k++)
        rows->keys[next[table_of(h, k)]++] = k;
    hf_free(next);
}

hf_event_rows *hf_event_rows_new(const hf_events *e)
{
    hf_event_rows *rows = HF_NEW(hf_event_rows);

    rows->e = e;
    rows->cache = hf_sql_cache_new(HF_SQL_ANY);
    hf_arena_init(&rows->arena);
    hf_map_init(&rows->answers);
    list_tables(rows);
    return rows;
}

void hf_event_rows_free(hf_event_rows *rows)
{
    if (!rows)
        return;
    hf_sql_cache_free(rows->cache);
    hf_arena_release(&rows->arena);
    hf_map_release(&rows->answers);
    hf_vec_release(&rows->conditions);
    hf_vec_release(&rows->columns);
    hf_free(rows->table_first);
    hf_free(rows->keys);
    hf_free(rows);
}

uint32_t hf_event_rows_keys(const hf_event_rows *rows, hf_string_id table,
                            const hf_key_id **ret)
{
    uint32_t t = table == HF_NONE ? rows->e->h->n_strings : table;

    *ret = rows->keys + rows->table_first[t];
    return rows->table_first[t + 1] - rows->table_first[t];
}

uint32_t hf_event_rows_condition(hf_event_rows *rows, hf_string_id text)
{
    condition_row row = {.text = text};
    hf_error err;

    if (text == HF_NONE)
        return HF_NONE;
    for (size_t i = 0; i < rows->conditions.n; i++)
        if (rows->conditions.at[i].text == text)
            return rows->conditions.at[i].expr ? (uint32_t)i : HF_NONE;
    row.expr = hf_sql_condition(rows->cache, hf_string(rows->e->h, text), &err);
    hf_vec_push(&rows->conditions, row);
    return row.expr ? (uint32_t)rows->conditions.n - 1 : HF_NONE;
}

static uint32_t test(hf_event_rows *rows, const hf_sql_expr *expr,
                     hf_value_id v)
{
    hf_scalar s = hf_value_scalar(rows->e->h, v);
    uint32_t n = hf_sql_n_columns(expr);
    hf_sql_truth truth;

    if (s.type == HF_NIL || s.type == HF_LIST)
        return 0;
    rows->columns.n = 0;
    hf_vec_reserve(&rows->columns, n);
    for (uint32_t i = 0; i < n; i++)
        if (!hf_sql_row_column(s, hf_sql_column_name(expr, i), &rows->arena,
                               &rows->columns.at[i]))
            return 2;
    truth = hf_sql_test(expr, rows->columns.at, NULL);
    return truth == HF_SQL_TRUE ? 1 : truth == HF_SQL_ERROR ? 2 : 0;
}

bool hf_event_rows_match(hf_event_rows *rows, uint32_t condition, hf_key_id key,
                         uint32_t writer, bool *ret_known)
{
    const hf_events *e = rows->e;
    const hf_event_write *w = writer ? hf_events_write(e, key, writer) : NULL;
    hf_value_id v = writer == 0
                        ? (e->h->key_initial ? e->h->key_initial[key] : HF_NONE)
                        : (w ? w->value : HF_NONE);
    uint64_t question = (uint64_t)condition << 32 | v;
    uint32_t answer;

    *ret_known = true;
    if (v == HF_NONE)
        return false; /* no row */
    answer = hf_map_get(&rows->answers, question);
    if (answer == UINT32_MAX) {
        answer = test(rows, rows->conditions.at[condition].expr, v);
        hf_map_set(&rows->answers, question, answer);
        rows->unjudged += answer == 2;
    }
    *ret_known = answer < 2;
    return answer == 1;
}

uint32_t hf_event_rows_unjudged(const hf_event_rows *rows)
{
    return rows->unjudged;
}
