/* schema.h: what the CREATE TABLE statements of a workload say, as far as the
 * recorder needs it: columns by name, and which are the primary key.
 */
#ifndef HF_RUN_SCHEMA_H
#define HF_RUN_SCHEMA_H

#include "base/error.h"
#include "base/str.h"

#define HF_SCHEMA_COLUMNS 64u
#define HF_SCHEMA_KEYS 6u

typedef struct hf_schema_table {
    hf_str name;
    hf_str columns[HF_SCHEMA_COLUMNS];
    uint32_t n_columns;
    uint32_t keys[HF_SCHEMA_KEYS]; /* by the place of the column */
    uint32_t n_keys;
    uint32_t tag; /* the place of _tag, n_columns if there is none */
} hf_schema_table;

typedef struct hf_schema {
    hf_schema_table *tables; /* owned */
    uint32_t n_tables;
} hf_schema;

/* Statements that end with NULL; the names are views into them.  Others than
 * CREATE TABLE are passed over. */
HF_MUST_USE hf_status hf_schema_read(hf_schema *ret,
                                     const char *const *statements,
                                     hf_error *err);
/* "t (a, b)": these columns are the key of t from now on. */
HF_MUST_USE hf_status hf_schema_rekey(hf_schema *s, const char *text,
                                      hf_error *err);
void hf_schema_release(hf_schema *s);
const hf_schema_table *hf_schema_find(const hf_schema *s, hf_str name);

#endif
