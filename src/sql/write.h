/* write.h: one INSERT, UPDATE or DELETE on its way; for src/sql only. */
#ifndef HF_SQL_WRITE_H
#define HF_SQL_WRITE_H

#include "base/vec.h"
#include "sql/plan.h"

typedef struct hf_sql_change {
    uint32_t place;    /* UINT32_MAX: a new row */
    hf_sql_value *row; /* NULL: deleted */
} hf_sql_change;

typedef struct hf_sql_writer {
    hf_sql_run *run;
    const hf_sql_statement *s;
    hf_sql_table *table;
    hf_sql_eval ev;
    hf_sql_source sources[2]; /* the table, and excluded */
    hf_sql_scope scope;
    bool uses_outer;
    HF_VEC(hf_sql_change) changes;
    hf_sql_node **out; /* RETURNING */
    uint32_t n_out;
} hf_sql_writer;

/* write_values.c; false: the reason is in w->run. */
bool hf_sql_write_bind_failed(hf_sql_writer *w, const hf_sql_binder *b);
bool hf_sql_write_column(hf_sql_writer *w, hf_str name, uint32_t *ret);
/* May an expression of this type go into the column? */
bool hf_sql_write_check(hf_sql_writer *w, const hf_sql_node *n,
                        uint32_t column);
/* The value as the column stores it. */
bool hf_sql_write_store(hf_sql_writer *w, uint32_t column, hf_sql_value v,
                        hf_sql_value *ret);
bool hf_sql_write_in_key(const hf_sql_table *t, uint32_t column);
bool hf_sql_write_nulls(hf_sql_writer *w, const hf_sql_value *row);
hf_sql_value *hf_sql_write_key(hf_sql_writer *w, const hf_sql_value *row);
bool hf_sql_write_duplicate(hf_sql_writer *w);
/* SET column = expression, ...: bound, and then done to a row. */
bool hf_sql_write_bind_sets(hf_sql_writer *w, hf_sql_binder *b,
                            uint32_t **ret_columns, hf_sql_node ***ret_nodes);
bool hf_sql_write_sets(hf_sql_writer *w, hf_sql_value *row,
                       const uint32_t *columns, hf_sql_node *const *nodes);

/* insert.c: fills w->changes. */
bool hf_sql_insert(hf_sql_writer *w);

#endif
