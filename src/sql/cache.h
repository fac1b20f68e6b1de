/* cache.h: what a cached condition is made of; for src/sql only. */
#ifndef HF_SQL_CACHE_H
#define HF_SQL_CACHE_H

#include "sql/eval.h"

struct hf_sql_expr {
    hf_sql_dialect dialect;
    const hf_sql_node *root;
    uint32_t n_columns, n_bounds;
    hf_str *columns;
    hf_sql_bound *bounds;
    bool bounds_say_all;
};

/* bounds.c: fills e->bounds. */
void hf_sql_find_bounds(hf_sql_expr *e, hf_arena *arena);

hf_sql_dialect hf_sql_cache_dialect(const hf_sql_cache *c);
#endif
