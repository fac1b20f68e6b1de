/* common.h: what the drivers have in common; for src/db only. */
#ifndef HF_DB_COMMON_H
#define HF_DB_COMMON_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/vec.h"
#include "db/db.h"
#include "db/server.h"

/* ---- answers ------------------------------------------------------------- */

void hf_db_answer_ok(hf_db_answer *a);
/* The text becomes one line. */
void hf_db_answer_set(hf_db_answer *a, hf_db_status status, const char *code,
                      const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Blots the password out of a text that may quote it: where it stands as
 * ":PASSWORD@", after "password=", or is all that stands between quotes.  Other
 * words that are spelled like it, or have it in them, stay: a message must
 * remain one.  Either NULL: nothing. */
void hf_db_hide(char *text, const char *password);

/* ---- results ------------------------------------------------------------- */

/* Empties the result: no rows of n columns, whose names the caller fills. */
void hf_db_rows_start(hf_sql_result *rows, uint32_t n_columns);
/* Room for one more row, of NULLs.  `room` is the caller's, 0 at the start. */
hf_sql_value *hf_db_rows_add(hf_sql_result *rows, uint64_t *room);

/* ---- time ---------------------------------------------------------------- */

uint64_t hf_db_clock(void); /* nanoseconds, monotonic */
void hf_db_sleep(uint64_t nanoseconds);
/* When a call that begins now has to give up. */
uint64_t hf_db_deadline(const hf_db *db);

/* ---- private directories ------------------------------------------------- */

/* A new directory that only we may enter, below `parent` (NULL: /tmp).  It goes
 * when it is closed or we have ended, even by kill -9 (server.h), unless it is
 * to be kept.  All zero: there is none. */
typedef struct hf_db_directory {
    hf_server *keeper;
} hf_db_directory;

HF_MUST_USE hf_status hf_db_directory_make(hf_db_directory *d,
                                           const char *product,
                                           const char *parent, bool keep,
                                           hf_error *err);
const char *hf_db_directory_path(const hf_db_directory *d); /* NULL: none */
void hf_db_directory_close(hf_db_directory *d);
/* A directory and all below it; links are not followed. */
void hf_db_remove_tree(const char *path);

/* ---- sessions that can be cut -------------------------------------------- */

/* For drivers that live in this process: their sessions, so that a fault can
 * cut one.  A session that was cut says LOST and is of no use any more. */
typedef struct hf_db_member {
    unsigned client;
    atomic_bool cut;
    void (*wake)(struct hf_db_member *m); /* ends its call; NULL: it looks */
} hf_db_member;

typedef struct hf_db_roster {
    pthread_mutex_t mutex;
    HF_VEC(hf_db_member *) members;
} hf_db_roster;

void hf_db_roster_init(hf_db_roster *r);
void hf_db_roster_release(hf_db_roster *r);
void hf_db_roster_join(hf_db_roster *r, hf_db_member *m);
void hf_db_roster_leave(hf_db_roster *r, hf_db_member *m);
/* One that the seed chooses, if there is one; db->struck says who. */
void hf_db_roster_cut(hf_db_roster *r, hf_db *db, uint64_t seed);
/* can_fault() of these drivers: only a client can be cut. */
bool hf_db_only_cuts(hf_db_fault f, const char *product, char *why,
                     size_t size);

#endif
