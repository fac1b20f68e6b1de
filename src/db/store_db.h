/* store_db.h: SQL on the embedded store; for store*.c in src/db only.
 *
 * The store knows keys 0 .. n-1 and versions that are a number and an id.
 * Here a key is a row of a table (by its primary key), an id is the content of
 * a row, and the number says where a scan finds it: the table in the upper
 * bits, below them the bucket (hf_store_table).
 */
#ifndef HF_DB_STORE_DB_H
#define HF_DB_STORE_DB_H

#include "base/vec.h"
#include "db/control.h"
#include "sql/exec.h"
#include "sql/tree.h"
#include "store/store.h"

#define HF_STORE_BUCKET_BITS 44
#define HF_STORE_KEY_COLUMNS 16u /* of a primary key, at most */
#define HF_STORE_BUCKETS ((int64_t)1 << HF_STORE_BUCKET_BITS)

/* ---- tables -------------------------------------------------------------- */

/* How rows are spread over the buckets of their table: a scan that says
 * enough about these columns looks at few of them, and only what happens there
 * can be a conflict. */
typedef enum hf_store_spread {
    HF_SPREAD_NONE,  /* one bucket */
    HF_SPREAD_ORDER, /* by an integer: ranges of it are ranges of buckets */
    HF_SPREAD_HASH   /* by equal values */
} hf_store_spread;

typedef struct hf_store_table {
    hf_str name; /* empty: dropped */
    uint32_t number;
    uint32_t n_columns, n_key;
    hf_sql_column *columns;
    uint32_t *key;
    hf_store_spread spread;
    uint32_t spread_columns[2], n_spread;
    /* from primary keys to keys of the store, open addressing */
    uint32_t *slots, n_slots, n_used;
} hf_store_table;

/* All tables, keys and rows. */
typedef struct hf_store_space {
    hf_store *store;
    hf_arena arena; /* tables and names */
    HF_VEC(hf_store_table *) tables;
    HF_VEC(hf_sql_value *) key_values; /* by key: the primary key */
    HF_VEC(uint32_t) key_table;        /* by key */
    HF_VEC(uint32_t) key_loader; /* by key: session + 1 that is loading it */
    HF_VEC(hf_sql_value *) rows; /* by id; NULL: free */
    HF_VEC(uint32_t) spare;      /* free ids */
    size_t n_rows, clean_at;     /* rows there are; when to look for garbage */
    uint32_t generation;         /* changes with the tables */
    bool keeps;      /* the store has a bug: old rows may be read again */
    bool adds_wrong; /* which is that of additions */
    /* store_control.c; control NULL: nobody is asked */
    bool can_be_controlled;
    hf_db *db;
    const hf_db_control *control;
    hf_store_commander commander;
} hf_store_space;

hf_store_space *hf_store_space_of(hf_db *db); /* a store's */
void hf_store_end_loading(hf_db *db);

/* The keys that a scan under control reads, in the order of primary keys. */
typedef HF_VEC(uint32_t) hf_store_keys;
void hf_store_control_rows(hf_store_space *p, uint32_t session,
                           const hf_db_asked *asked, hf_store_keys *ret);

void hf_store_space_init(hf_store_space *p);
void hf_store_space_release(hf_store_space *p);

hf_store_table *hf_store_table_find(const hf_store_space *p, hf_str name);
/* The key of the row with this primary key; made if there was none. */
uint32_t hf_store_key(hf_store_space *p, hf_store_table *t,
                      const hf_sql_value *key);
/* The bucket of a row; and of single values of its spread columns. */
int64_t hf_store_bucket(const hf_store_table *t, const hf_sql_value *row);
int64_t hf_store_bucket_of(const hf_store_table *t, const hf_sql_value *values);
/* The value to write: a copy of the row under a new id. */
hf_store_value hf_store_new_row(hf_store_space *p, const hf_store_table *t,
                                const hf_sql_value *row);
/* Rows that nobody can read any more are freed, now and then. */
void hf_store_clean(hf_store_space *p, uint32_t n_sessions);

/* ---- statements about tables --------------------------------------------- */

/* CREATE TABLE, CREATE INDEX (does nothing), DROP TABLE, DROP INDEX; is this
 * one of them?  Then it is done; HF_OK or what is wrong with it. */
bool hf_store_is_definition(const char *sql);
HF_MUST_USE hf_status hf_store_define(hf_store_space *p, const char *sql,
                                      hf_error *err);

/* ---- plans --------------------------------------------------------------- */

typedef enum hf_store_how {
    HF_STORE_ALL,    /* the whole table, or a range of buckets */
    HF_STORE_KEYS,   /* rows by their primary keys */
    HF_STORE_NOTHING /* only written to */
} hf_store_how;

/* Where a row of a temporary table came from. */
typedef struct hf_store_origin {
    uint32_t key;
    const hf_sql_value *row; /* in the temporary table, before the statement */
    bool adds;               /* wrong-arithmetic strikes */
} hf_store_origin;

/* column, hf_sql_comparison, constant or parameter */
typedef struct hf_store_term {
    uint32_t column;
    uint32_t comparison;
    const hf_sql_node *given;
} hf_store_term;

/* A table of a statement. */
typedef struct hf_store_use {
    hf_store_table *table;
    hf_sql_table *temporary;
    hf_store_how how;
    /* HF_STORE_KEYS: n_keys times n_key nodes, constants or parameters */
    const hf_sql_node **keys;
    uint32_t n_keys;
    /* HF_STORE_ALL: equal to these, or between them; NULL: not said */
    const hf_sql_node *equal[2];
    const hf_sql_node *low, *high;
    /* the same: all that is said of single columns; for reads under control */
    const hf_store_term *terms;
    uint32_t n_terms;
    HF_VEC(hf_store_origin) origins;
} hf_store_use;

typedef struct hf_store_plan {
    hf_arena arena;
    const hf_sql_statement *s;
    hf_sql_database *db; /* temporary tables, empty between statements */
    hf_store_use *uses;
    uint32_t n_uses;
    hf_store_use *target; /* of a write */
    bool blind;           /* ON CONFLICT DO UPDATE that writes all it inserts */
    uint32_t generation;
} hf_store_plan;

/* Is the i-th row that was read still in the temporary table?  Asked for all
 * i in turn, with *place 0 at first: rows stay in their order, but gaps that
 * others left may have been closed. */
bool hf_store_use_kept(const hf_store_use *u, size_t i, uint32_t *place);

/* NULL: err says why. */
hf_store_plan *hf_store_plan_new(hf_store_space *p, const hf_sql_statement *s,
                                 hf_error *err);
void hf_store_plan_free(hf_store_plan *p); /* NULL: nothing */

/* ---- running ------------------------------------------------------------- */

typedef enum hf_store_ran {
    HF_STORE_DONE,
    HF_STORE_CONFLICT, /* the store says no: the transaction is over */
    HF_STORE_REFUSED,  /* err: what the database would refuse */
    HF_STORE_FAILED    /* err: a mistake of ours */
} hf_store_ran;

/* Runs a plan in the session's transaction.  load: rows of an INSERT are not
 * written but noted there. */
typedef struct hf_store_load_entry {
    uint32_t key;
    hf_store_value value;
} hf_store_load_entry;
typedef HF_VEC(hf_store_load_entry) hf_store_loads;

hf_store_ran hf_store_run(hf_store_space *p, hf_store_plan *plan,
                          uint32_t session, const hf_sql_value *params,
                          uint32_t n_params, hf_store_loads *load,
                          hf_sql_result *rows, hf_error *err);

#endif
