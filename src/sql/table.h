/* table.h: tables in memory, for the executor.
 *
 * A row is one block: its values, then the bytes of its texts.  Rows stand in
 * the order they were inserted; a hash index leads from the primary key to
 * the row.  Finding, inserting, changing and deleting one row is O(columns).
 */
#ifndef HF_SQL_TABLE_H
#define HF_SQL_TABLE_H

#include "sql/sql.h"

typedef struct hf_sql_column {
    hf_str name;
    hf_sql_type type;
    uint8_t note;     /* HF_SQL_NOTE_INT4 or _INT8 for INT; 0: not known */
    int32_t modifier; /* varchar(n), numeric(p,s) as in tree.h; -1: none */
    bool not_null;
} hf_sql_column;

typedef struct hf_sql_table {
    hf_str name;
    uint32_t n_columns, n_key;
    hf_sql_column *columns;
    uint32_t *key;       /* columns of the primary key */
    hf_sql_value **rows; /* NULL: deleted */
    uint32_t n_places, cap_places;
    uint32_t n_rows;  /* that are there */
    uint32_t *slots;  /* hash index: place, or UINT32_MAX */
    uint32_t n_slots; /* a power of two */
} hf_sql_table;

typedef struct hf_sql_database hf_sql_database;
hf_sql_database *hf_sql_database_new(hf_sql_dialect dialect);
void hf_sql_database_free(hf_sql_database *db);
hf_sql_dialect hf_sql_database_dialect(const hf_sql_database *db);

/* A new, empty table; names are copied.  `key` lists columns by number (none:
 * no primary key).  The database owns it. */
hf_sql_table *hf_sql_table_add(hf_sql_database *db, hf_str name,
                               const hf_sql_column *columns, uint32_t n_columns,
                               const uint32_t *key, uint32_t n_key);
hf_sql_table *hf_sql_table_find(const hf_sql_database *db, hf_str name);

/* The place of the row with this key, or UINT32_MAX. */
uint32_t hf_sql_table_place(const hf_sql_table *t, const hf_sql_value *key);
/* The values are of the columns' types; texts are copied.  Uniqueness is the
 * caller's to check. */
void hf_sql_table_insert(hf_sql_table *t, const hf_sql_value *row);
void hf_sql_table_replace(hf_sql_table *t, uint32_t place,
                          const hf_sql_value *row);
void hf_sql_table_delete(hf_sql_table *t, uint32_t place);
/* Closes the gaps that deleted rows left, if they are many; places change. */
void hf_sql_table_tidy(hf_sql_table *t);
void hf_sql_table_clear(hf_sql_table *t);

#endif
