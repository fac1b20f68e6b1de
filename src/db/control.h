/* control.h: the embedded store as a query engine that is told what to see.
 *
 * IsoPredict's validation (section 5 of the paper) runs an application again
 * and decides for every read which transaction's write it returns.  The store
 * opened with variant "controlled" asks: single rows as they are read, rows of
 * a scan one by one, in the order of their primary keys.  Which rows a scan
 * asks about is decided by what its condition says about single columns: a
 * row no version of which could be returned is never asked about.
 *
 * One session at a time may have a transaction.
 */
#ifndef HF_DB_CONTROL_H
#define HF_DB_CONTROL_H

#include "db/db.h"
#include "store/store.h"

/* A condition on one column: column, hf_sql_comparison, value. */
typedef struct hf_db_term {
    uint32_t column;
    uint32_t comparison;
    hf_sql_value value;
} hf_db_term;

/* What a scan asks for: rows of a table that satisfy all terms, or fewer. */
typedef struct hf_db_asked {
    uint32_t table;
    uint32_t n_terms;
    const hf_db_term *terms;
} hf_db_asked;

typedef struct hf_db_control {
    void *user;
    /* See hf_store_commander; keys are those of the store. */
    uint32_t (*choose)(void *user, uint32_t key, bool check);
    void (*wrote)(void *user, uint32_t key, hf_op_kind kind);
    /* A scan begins (what it asks for, borrowed), and ends (NULL). */
    void (*scan)(void *user, const hf_db_asked *asked);
} hf_db_control;

/* NULL ends it: reads see the newest versions.  Only the store, opened as
 * said above. */
HF_MUST_USE hf_status hf_db_control_set(hf_db *db, const hf_db_control *c,
                                        hf_error *err);

/* Looking in, for a database under control. */
hf_store *hf_db_control_store(hf_db *db);
uint32_t hf_db_control_keys(const hf_db *db); /* how many there are */
uint32_t hf_db_control_table(const hf_db *db, uint32_t key);
hf_str hf_db_control_table_name(const hf_db *db, uint32_t table);
/* The primary key of a row. */
const hf_sql_value *hf_db_control_key(const hf_db *db, uint32_t key,
                                      uint32_t *ret_n);
/* Could some committed version of the key be returned by the scan? */
bool hf_db_control_matches(const hf_db *db, const hf_db_asked *asked,
                           uint32_t key);
/* By primary keys; keys of one table. */
int hf_db_control_compare(const hf_db *db, uint32_t a, uint32_t b);

#endif
