/* sql_live.h: real databases to compare with.
 *
 * A result is a list of lines, one for each row, cells printed in a form that
 * is the same for the database and for us.
 */
#ifndef SQL_LIVE_H
#define SQL_LIVE_H

#include "base/out.h"
#include "sql/exec.h"

typedef struct sql_answer {
    bool failed;
    char message[300];
    uint64_t affected;
    hf_out text; /* cells end in '|', rows in '\n' */
} sql_answer;

typedef struct sql_live sql_live;
struct sql_live {
    hf_sql_dialect dialect;
    void (*ask)(sql_live *db, const char *text, sql_answer *ret);
    void (*close)(sql_live *db);
};

/* NULL: could not be started; says why on stderr. */
sql_live *sql_live_sqlite(void);
/* Starts a private server on a socket in a new directory, as an unprivileged
 * user; close stops it and removes the directory. */
sql_live *sql_live_postgres(void);

/* Our result, printed as the database's is. */
void sql_print_result(const hf_sql_result *r, hf_sql_dialect dialect,
                      sql_answer *ret);
void sql_answer_init(sql_answer *a);
void sql_answer_release(sql_answer *a);

#endif
