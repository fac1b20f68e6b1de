/* workload.h: workloads that run on any database, as steps of SQL.
 *
 * One file each; workloads.c has the list.  A workload makes its tables, loads
 * them, draws transactions and runs them through a client (client.h), and
 * says at the end whether its invariants hold.
 *
 * The SQL is written once for all databases: what all of SQLite, PostgreSQL,
 * MariaDB and src/sql understand.  $1 is a parameter.  Types: INT, BIGINT,
 * DECIMAL(p,s), VARCHAR(n), TEXT, BOOLEAN.  ON CONFLICT (k) DO UPDATE SET is
 * rewritten by the MariaDB driver; avoid RETURNING, sequences, dates.
 */
#ifndef HF_WORKLOAD_H
#define HF_WORKLOAD_H

#include "workload/client.h"

typedef struct hf_workload hf_workload;
typedef struct hf_play hf_play; /* a workload with its options, of one run */

/* An option of a workload: --set NAME=VALUE. */
typedef struct hf_workload_option {
    const char *name;
    double value; /* by default */
    double least, most;
    const char *summary;
} hf_workload_option;

/* One transaction: what was drawn before it began; a retry has the same. */
typedef struct hf_drawn {
    unsigned type;       /* of the workload's types */
    int64_t numbers[64]; /* parameters, as the type wants them */
    unsigned n;
} hf_drawn;

/* One kind of transaction. */
typedef struct hf_workload_type {
    const char *name;
    double weight; /* in the mix, by default; --mix NAME=WEIGHT */
    bool read_only;
    void (*draw)(hf_play *p, hf_client *c, hf_drawn *ret);
    /* Steps until the end or until one returns false; the runner commits. */
    void (*run)(hf_play *p, hf_client *c, const hf_drawn *d);
} hf_workload_type;

/* Something that must hold at the end, or was seen to fail while running. */
typedef struct hf_breach {
    const char *name; /* "SB1" */
    char text[200];   /* what was expected and found */
} hf_breach;

struct hf_workload {
    const char *name, *summary;
    bool plain; /* only reads and writes of single rows of one table kv(k,v):
                   runs on key-value stores as well */
    const hf_workload_option *options;
    unsigned n_options;
    const hf_workload_type *types;
    unsigned n_types;
    /* "CREATE TABLE ..." and so on, each one statement; ends with NULL. */
    const char *const *tables;
    /* "t (a, b)": rows of t are told apart in the history by these columns,
     * which MOVE steps change; NULL: all by their primary keys. */
    const char *rows_by;
    /* Rows go and come back, and looks say what was not there: below snapshot
     * isolation too much of that could have been at any time for a verdict,
     * and is not recorded. */
    bool come_and_go;
    /* Rows before the run: calls hf_play_row() for each. */
    hf_status (*load)(hf_play *p, hf_error *err);
    /* Looks at the database when all clients have ended, with one client that
     * is not recorded; notes what does not hold.  NULL: no invariants. */
    void (*check)(hf_play *p, hf_client *c);
    /* A transaction whose run() got to its end was committed (known), or no
     * answer to its commit came.  Called by the client's own thread before it
     * draws the next; not for what was aborted.  NULL: nothing to count. */
    void (*done)(hf_play *p, hf_client *c, const hf_drawn *d, bool known);
    /* Room for the workload's own counters, shared by all clients: zeroed. */
    size_t state_size;
};

/* ---- for workloads ------------------------------------------------------- */

double hf_play_option(const hf_play *p, const char *name);
void *hf_play_state(hf_play *p); /* use atomics, or this lock: */
void hf_play_lock(hf_play *p);   /* for a moment; no breaches, no steps */
void hf_play_unlock(hf_play *p);
unsigned hf_play_clients(const hf_play *p);
uint64_t hf_play_seed(const hf_play *p);
/* One row of a table, in the order of its columns, _tag included (0). */
hf_status hf_play_row(hf_play *p, const char *table, const hf_sql_value *row,
                      uint32_t n, hf_error *err);
void hf_play_breach(hf_play *p, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The word that stands for this value of the option ("zipf"); NULL: none. */
const char *hf_option_word(const hf_workload_option *o, unsigned value);

/* ---- the list ------------------------------------------------------------ */

const hf_workload *hf_workload_named(hf_str name); /* NULL: none */
const hf_workload *hf_workload_at(unsigned i);     /* NULL: no more */

#endif
