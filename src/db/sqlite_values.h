/* sqlite_values.h: our values and SQLite's; for sqlite.c. */
#ifndef HF_DB_SQLITE_VALUES_H
#define HF_DB_SQLITE_VALUES_H

#include <sqlite3.h>

#include "base/out.h"
#include "sql/sql.h"

/* How a column of a result was declared, where that says more than SQLite's
 * own type of the value. */
typedef struct hf_sqlite_column {
    bool is_bool, is_decimal;
    uint8_t scale;
} hf_sqlite_column;

/* The statement with $1 as ?1: SQLite numbers the former as they come. */
void hf_sqlite_rewrite(const char *sql, hf_out *out);
/* type: as declared; NULL: not known. */
void hf_sqlite_declare(const char *type, hf_sqlite_column *ret);
int hf_sqlite_bind(sqlite3_stmt *at, int i, const hf_sql_value *v);
/* Column i of the row the statement stands at; texts are copied. */
hf_sql_value hf_sqlite_cell(sqlite3_stmt *at, int i, const hf_sqlite_column *c,
                            hf_arena *arena);

#endif
