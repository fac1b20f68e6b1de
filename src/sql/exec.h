/* exec.h: running parsed statements on tables in memory.
 *
 * A statement changes its table completely or not at all.  What the dialect's
 * database would refuse comes back as HF_ERR_INPUT, what is not supported or
 * not the same in all databases as HF_ERR_UNSUPPORTED.
 */
#ifndef HF_SQL_EXEC_H
#define HF_SQL_EXEC_H

#include "sql/table.h"

typedef struct hf_sql_result {
    uint32_t n_columns;
    hf_str *names;
    uint64_t n_rows;
    hf_sql_value *cells; /* n_rows * n_columns */
    uint64_t affected;   /* rows inserted, updated or deleted */
    hf_arena arena;      /* holds all of it */
} hf_sql_result;

void hf_sql_result_init(hf_sql_result *r);
void hf_sql_result_release(hf_sql_result *r);

/* Fills *ret (initialised; what it held before is gone).  Parameters are
 * values; a text takes the type of its place as a quoted literal does. */
HF_MUST_USE hf_status hf_sql_execute(hf_sql_database *db,
                                     const hf_sql_statement *s,
                                     const hf_sql_value *params,
                                     uint32_t n_params, hf_sql_result *ret,
                                     hf_error *err);

#endif
