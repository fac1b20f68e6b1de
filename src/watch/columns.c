/* columns.c: rows whose columns are read and written one by one. */
#include "watch/columns.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"

void hf_columns_release(hf_columns *c)
{
    hf_free(c->tables);
    *c = (hf_columns){0};
}

void hf_column_walk_begin(hf_column_walk *w, hf_scalar row)
{
    hf_json_in_init(&w->in, row.text, row.length);
    (void)hf_json_in_open(&w->in, '{');
}

bool hf_column_walk_next(hf_column_walk *w)
{
    hf_str text;

    if (w->in.failed || !hf_json_in_next_key(&w->in, &w->name))
        return false;
    if (hf_json_in_peek(&w->in) != '[')
        return hf_json_in_scalar(&w->in, &w->value);
    if (!hf_json_in_skip(&w->in, &text)) /* a list, as it is spelled */
        return false;
    w->value =
        (hf_scalar){.type = HF_ROW, .text = text.ptr, .length = text.len};
    return true;
}

void hf_column_walk_end(hf_column_walk *w)
{
    hf_json_in_release(&w->in);
}

static uint64_t hash_names(hf_scalar row)
{
    hf_column_walk w;
    uint64_t hash = 1;

    hf_column_walk_begin(&w, row);
    while (hf_column_walk_next(&w))
        hash = XXH3_64bits_withSeed(w.name.ptr, w.name.len, hash);
    hf_column_walk_end(&w);
    return hash;
}

hf_table_mode hf_columns_meet(hf_columns *c, uint32_t table, hf_scalar row)
{
    if (table >= c->n_tables) {
        uint32_t n = c->n_tables ? c->n_tables : 8;

        while (n <= table)
            n *= 2;
        c->tables = hf_realloc(c->tables, n * sizeof(*c->tables));
        for (uint32_t i = c->n_tables; i < n; i++) {
            c->tables[i].names = 0;
            c->tables[i].mode = HF_TABLE_NEW;
        }
        c->n_tables = n;
    }
    if (c->is_survey && c->tables[table].mode != HF_TABLE_COLUMNS) {
        uint64_t names = hash_names(row);

        if (c->tables[table].mode == HF_TABLE_NEW) {
            c->tables[table].names = names;
            c->tables[table].mode = HF_TABLE_WHOLE;
        } else if (c->tables[table].names != names) {
            c->tables[table].mode = HF_TABLE_COLUMNS;
        }
    }
    if (c->tables[table].mode == HF_TABLE_NEW)
        c->tables[table].mode = HF_TABLE_COLUMNS;
    return (hf_table_mode)c->tables[table].mode;
}
