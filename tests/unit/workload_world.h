/* workload_world.h: a client and a database for tests of workloads.
 *
 * The client is one of our own: it runs the steps on SQLite in memory, one
 * transaction after another.  Each step is looked at when it comes by for the
 * first time: does it prepare, does src/sql parse it, does it return the tag
 * first, are its keys the primary key?  While `compare` is set it runs on
 * src/sql's tables as well and must give the same rows.
 *
 * A world can be sick: then its database does what no database should do.
 */
#ifndef HF_TEST_WORKLOAD_WORLD_H
#define HF_TEST_WORKLOAD_WORLD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "sql/exec.h"
#include "workload/play.h"

#define WORLD_CLIENTS 3u

typedef enum world_sickness {
    WORLD_SOUND = 0,
    WORLD_STALE, /* reads see a state of some transactions ago */
    WORLD_MIXED, /* each read sees that state or the present one */
    WORLD_DIRTY  /* what is given up stays for the next transaction */
} world_sickness;

typedef struct column {
    char name[40];
    char type[20];
    int key; /* place in the primary key, from 1; 0: none */
    int by;  /* place in the key that is recorded, the same but for rows_by */
} column;

typedef struct table {
    char name[40];
    column columns[40];
    uint32_t n;
    uint32_t n_key, n_by;
    bool tagged;          /* has a column _tag */
    sqlite3_stmt *insert; /* of a whole row; NULL: none yet */
} table;

typedef struct prepared {
    const hf_step *step;
    sqlite3_stmt *statement;
    sqlite3_stmt *old; /* the same on the old state; NULL: no read */
    const hf_sql_statement *parsed;
} prepared;

/* The row a tag was handed out for: "table|key|key". */
typedef struct handed {
    char row[100];
} handed;

typedef struct world {
    const hf_workload *workload;
    hf_play *play;
    sqlite3 *db;
    table tables[40];
    uint32_t n_tables;
    HF_VEC(prepared) steps;
    HF_VEC(handed) tags; /* tag - 1 */
    hf_sql_cache *cache;
    hf_sql_database *memory; /* src/sql's copy of the tables */
    bool compare;            /* run on it as well */
    bool stale;              /* it has to be copied anew */
    world_sickness sickness;
    sqlite3 *old; /* a state of some transactions ago */
    int64_t fresh;
    uint64_t committed, given_up, refused, recorded;
} world;

struct hf_client {
    world *w;
    hf_rng rng;
    unsigned number;
    bool recorded;
    bool over; /* the transaction is */
    bool has_cover;
    int64_t cover_first, cover_last;
    hf_sql_result rows;
};

/* Its tables, loaded.  `set`: an option, or NULL. */
void world_begin(world *w, const hf_workload *workload, const char *set);
/* The same; false: the workload refuses this value, nothing is left. */
bool world_try(world *w, const hf_workload *workload, const char *set);
void world_end(world *w);
void world_client(hf_client *c, world *w, unsigned number, bool recorded);
/* Only this type of transaction; n_types: as the workload has them. */
void world_weigh(world *w, unsigned type);
void world_set(hf_play *p, const char *text);
/* One transaction; true: committed. */
bool world_transact(world *w, hf_client *c, const hf_drawn *d);
/* How many breaches the workload's check notes. */
uint64_t world_check(world *w);

void world_do(world *w, const char *sql);
sqlite3_stmt *world_prepare(sqlite3 *db, const world *w, const char *sql);
hf_sql_value world_cell(sqlite3_stmt *s, int i, hf_arena *arena);
hf_sql_column world_column(const world *w, const column *c);
void world_print(char *buffer, size_t size, const hf_sql_value *v);

#endif
