/* oracle.h: asking a real database whether rows satisfy a condition.
 *
 * For conditions that the interpreter does not know.  An oracle is a table of
 * functions, so another database is another file; SQLite in memory is the
 * first.  The text of a condition is untrusted: an implementation must see to
 * it that it can be no more than an expression over the row.
 */
#ifndef HF_SQL_ORACLE_H
#define HF_SQL_ORACLE_H

#include "base/budget.h"
#include "sql/sql.h"

/* n_rows rows of n_columns values, row by row.  A plain value is a row of the
 * one column "value". */
typedef struct hf_sql_question {
    hf_str condition;
    uint32_t n_columns;
    const hf_str *names;
    uint32_t n_rows;
    const hf_sql_value *cells;
} hf_sql_question;

typedef struct hf_sql_oracle hf_sql_oracle;
typedef struct hf_sql_oracle_kind {
    const char *name;
    hf_sql_dialect dialect;
    /* NULL: err says why */
    hf_sql_oracle *(*open)(hf_error *err);
    /* Fills ret[0 .. n_rows-1]: FALSE, TRUE or UNKNOWN; ERROR for a row alone
     * is not told apart: one error fails the question.  budget may be NULL. */
    hf_status (*ask)(hf_sql_oracle *o, const hf_sql_question *q,
                     hf_budget *budget, hf_sql_truth *ret, hf_error *err);
    void (*close)(hf_sql_oracle *o); /* NULL allowed */
} hf_sql_oracle_kind;

extern const hf_sql_oracle_kind hf_sql_oracle_sqlite;

#endif
