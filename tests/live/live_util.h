/* live_util.h: short ways to say what a test does to a database.
 *
 * For test programs with cmocka.  A statement's number is its place in the
 * order of first use.
 */
#ifndef HF_LIVE_UTIL_H
#define HF_LIVE_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "db/common.h"
#include "sql/value.h"

#define LIVE_STATEMENTS 64

typedef struct live_session {
    hf_db_session *s;
    hf_sql_result rows;
    hf_db_answer answer;
} live_session;

static inline void live_ok(hf_status st, const hf_error *err)
{
    if (st != HF_OK)
        fail_msg("%s", err->text);
}

static inline void live_connect(live_session *l, hf_db *db, unsigned client)
{
    hf_error err = {0};

    memset(l, 0, sizeof(*l));
    hf_sql_result_init(&l->rows);
    live_ok(db->driver->connect(db, client, &l->s, &err), &err);
}

static inline void live_disconnect(live_session *l)
{
    l->s->db->driver->disconnect(l->s);
    hf_sql_result_release(&l->rows);
}

static inline hf_db_status live_begin(live_session *l, hf_db_level level,
                                      bool read_only)
{
    l->s->db->driver->begin(l->s, level, read_only, &l->answer);
    return l->answer.status;
}

static inline hf_db_status live_commit(live_session *l)
{
    l->s->db->driver->commit(l->s, &l->answer);
    return l->answer.status;
}

static inline hf_db_status live_abort(live_session *l)
{
    l->s->db->driver->abort(l->s, &l->answer);
    return l->answer.status;
}

/* With integers as parameters. */
static inline hf_db_status live_do(live_session *l, const char *sql, unsigned n,
                                   const int64_t *numbers)
{
    static const char *known[LIVE_STATEMENTS];
    hf_sql_value values[8];
    hf_db_statement statement = {0, sql, n, strncmp(sql, "SELECT", 6) == 0};

    while (known[statement.number] && strcmp(known[statement.number], sql) != 0)
        statement.number++;
    assert_true(statement.number + 1 < LIVE_STATEMENTS);
    known[statement.number] = sql;
    for (unsigned i = 0; i < n; i++)
        values[i] = hf_sql_of_int(numbers[i]);
    l->s->db->driver->execute(l->s, &statement, values, n, &l->rows,
                              &l->answer);
    return l->answer.status;
}

#define LIVE_DO(l, sql, ...)                                                   \
    live_do((l), (sql),                                                        \
            sizeof((int64_t[]){0, __VA_ARGS__}) / sizeof(int64_t) - 1,         \
            (int64_t[]){0, __VA_ARGS__} + 1)

static inline void live_said(const live_session *l, hf_db_status wanted,
                             const char *file, int line)
{
    if (l->answer.status == wanted)
        return;
    print_error("%s:%d: status %d instead of %d: %s %s\n", file, line,
                (int)l->answer.status, (int)wanted, l->answer.code,
                l->answer.text);
    fail();
}

/* The answer to the call before. */
#define LIVE_IS(l, call, wanted)                                               \
    ((void)(call), live_said((l), (wanted), __FILE__, __LINE__))
#define LIVE_OK(l, call) LIVE_IS(l, call, HF_DB_OK)

/* The only value of the only row. */
static inline int64_t live_number(const live_session *l)
{
    assert_int_equal(l->rows.n_rows, 1);
    assert_int_equal(l->rows.n_columns, 1);
    assert_int_equal(l->rows.cells[0].type, HF_SQL_INT);
    return l->rows.cells[0].integer;
}

static inline double live_seconds(void)
{
    return (double)hf_db_clock() / 1e9;
}

/* Where a private database lives. */
static inline void live_directory(hf_db *d, char *ret, size_t size)
{
    hf_db_description is;
    const char *at;

    d->driver->describe(d, &is);
    at = strstr(is.where, "/tmp/");
    assert_non_null(at);
    (void)snprintf(ret, size, "%s", at);
}

/* How many processes work in the directory or below it. */
static inline unsigned live_processes(const char *directory)
{
    DIR *d = opendir("/proc");
    const struct dirent *e;
    char path[64], link[300];
    unsigned n = 0;

    assert_non_null(d);
    while ((e = readdir(d))) {
        ssize_t size;

        if (e->d_name[0] < '1' || e->d_name[0] > '9')
            continue;
        (void)snprintf(path, sizeof(path), "/proc/%.20s/cwd", e->d_name);
        size = readlink(path, link, sizeof(link) - 1);
        if (size <= 0)
            continue;
        link[size] = '\0';
        n += strncmp(link, directory, strlen(directory)) == 0;
    }
    (void)closedir(d);
    return n;
}

/* Nothing is left, at the latest after so many seconds. */
static inline void live_nothing_left(const char *directory, double seconds)
{
    double until = live_seconds() + seconds;

    while (access(directory, F_OK) == 0 || live_processes(directory) > 0) {
        if (live_seconds() > until)
            fail_msg("\"%s\" %s, %u processes", directory,
                     access(directory, F_OK) == 0 ? "is still there"
                                                  : "is gone",
                     live_processes(directory));
        hf_db_sleep(20u * 1000 * 1000);
    }
}

#endif
