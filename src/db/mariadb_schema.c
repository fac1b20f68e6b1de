/* mariadb_schema.c: the one database that is ours.
 *
 * (What others call a schema is a database here.)  It holds a table of ours
 * that is a mark: without it a database of that name is somebody else's and is
 * refused, empty or not.  In ours, what lacks the column _tag was made by
 * somebody else meanwhile: it is never dropped, and a new run refuses to begin.
 * On a server that is not ours a named lock keeps a second holdfast away.
 */
#include "db/mariadb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK "_holdfast_mark"
#define MADE "made by holdfast: this database is thrown away"
/* Ours have a column of this name. */
#define IS_OURS                                                                \
    "EXISTS (SELECT 1 FROM information_schema.columns c WHERE "                \
    "c.table_schema = t.table_schema AND c.table_name = t.table_name AND "     \
    "c.column_name = '_tag')"

static hf_status failed(const hf_my_db *p, const hf_db_answer *a, hf_error *err)
{
    return hf_fail(err, HF_ERR_IO, "could not prepare the database \"%s\": %s",
                   p->schema, a->text);
}

static hf_status run(hf_my_db *p, const char *sql, hf_error *err)
{
    hf_db_answer a;

    hf_my_link_ask(&p->control, sql, hf_db_deadline(&p->base), NULL, &a);
    return a.status == HF_DB_OK ? HF_OK : failed(p, &a, err);
}

/* The first value of the first row, in `ret`; empty: NULL, or no row. */
static hf_status look(hf_my_db *p, const char *sql, char *ret, size_t size,
                      hf_error *err)
{
    MYSQL_RES *r = NULL;
    MYSQL_ROW row;
    hf_db_answer a;

    ret[0] = '\0';
    hf_my_link_ask(&p->control, sql, hf_db_deadline(&p->base), &r, &a);
    if (a.status != HF_DB_OK)
        return failed(p, &a, err);
    row = r ? mysql_fetch_row(r) : NULL;
    if (row && row[0])
        (void)snprintf(ret, size, "%s", row[0]);
    mysql_free_result(r);
    return HF_OK;
}

/* Nobody else uses the database while we do. */
static hf_status take_lock(hf_my_db *p, hf_error *err)
{
    char sql[200], got[8];
    hf_status st;

    (void)snprintf(sql, sizeof(sql), "SELECT GET_LOCK('hf.%.55s', 0)",
                   p->schema);
    st = look(p, sql, got, sizeof(got), err);
    if (st != HF_OK || strcmp(got, "1") == 0)
        return st;
    hf_my_link_close(&p->control);
    return hf_fail(err, HF_ERR_USAGE,
                   "the database \"%s\" is in use by another holdfast",
                   p->schema);
}

hf_status hf_my_control(hf_my_db *p, hf_error *err)
{
    hf_status st;

    if (p->control.c && !p->control.lost) {
        hf_db_answer a;

        hf_my_link_ask(&p->control, "DO 0", hf_db_deadline(&p->base), NULL, &a);
        if (a.status == HF_DB_OK)
            return HF_OK;
    }
    hf_my_link_close(&p->control);
    st = hf_my_join(p, &p->control, 0, -1, err);
    if (st == HF_OK && !p->server)
        st = take_lock(p, err);
    return st;
}

/* Is there one, and is it ours? */
static hf_status judge(hf_my_db *p, bool *ret_there, hf_error *err)
{
    char sql[700], text[100];
    hf_status st;

    (void)snprintf(sql, sizeof(sql),
                   "SELECT 1 FROM information_schema.schemata "
                   "WHERE schema_name = '%s'",
                   p->schema);
    st = look(p, sql, text, sizeof(text), err);
    *ret_there = text[0] == '1';
    if (st != HF_OK || !*ret_there)
        return st;
    (void)snprintf(sql, sizeof(sql),
                   "SELECT table_comment FROM information_schema.tables WHERE "
                   "table_schema = '%s' AND table_name = '" MARK "'",
                   p->schema);
    st = look(p, sql, text, sizeof(text), err);
    if (st != HF_OK)
        return st;
    if (strcmp(text, MADE) != 0)
        return hf_fail(err, HF_ERR_USAGE,
                       "the database \"%s\" exists and was not made by "
                       "holdfast: choose another one or drop it",
                       p->schema);
    (void)snprintf(sql, sizeof(sql),
                   "SELECT count(*) FROM information_schema.tables t WHERE "
                   "t.table_schema = '%s' AND t.table_name <> '" MARK
                   "' AND NOT " IS_OURS,
                   p->schema);
    st = look(p, sql, text, sizeof(text), err);
    if (st != HF_OK || strcmp(text, "0") == 0 || p->server)
        return st;
    return hf_fail(err, HF_ERR_USAGE,
                   "the database \"%s\" is ours, but holds what we did not "
                   "make: move that away, or choose another one (--schema)",
                   p->schema);
}

/* All tables of ours but the mark, one by one. */
static hf_status drop_tables(hf_my_db *p, hf_error *err)
{
    char sql[800], name[300];
    hf_status st = HF_OK;

    for (;;) {
        (void)snprintf(sql, sizeof(sql),
                       "SELECT replace(t.table_name, '\"', '\"\"') FROM "
                       "information_schema.tables t WHERE t.table_schema = "
                       "'%s' AND t.table_type = 'BASE TABLE' AND t.table_name "
                       "<> '" MARK "' AND (%s OR " IS_OURS ") LIMIT 1",
                       p->schema, p->server ? "TRUE" : "FALSE");
        st = look(p, sql, name, sizeof(name), err);
        if (st != HF_OK || name[0] == '\0')
            return st;
        (void)snprintf(sql, sizeof(sql), "DROP TABLE \"%s\".\"%.140s\"",
                       p->schema, name);
        st = run(p, sql, err);
        if (st != HF_OK)
            return st;
    }
}

static hf_status make(hf_my_db *p, bool there, hf_error *err)
{
    char sql[400];
    hf_status st = HF_OK;

    /* texts compare as they are, byte for byte */
    (void)snprintf(sql, sizeof(sql),
                   "CREATE DATABASE \"%s\" CHARACTER SET utf8mb4 "
                   "COLLATE utf8mb4_nopad_bin",
                   p->schema);
    if (!there)
        st = run(p, sql, err);
    (void)snprintf(sql, sizeof(sql),
                   "CREATE TABLE IF NOT EXISTS \"%s\".\"" MARK
                   "\" (k INT PRIMARY KEY) COMMENT '%s'",
                   p->schema, MADE);
    return st == HF_OK ? run(p, sql, err) : st;
}

hf_status hf_my_reset(hf_db *db, hf_error *err)
{
    hf_my_db *p = (hf_my_db *)db;
    bool there = false;
    hf_status st;

    (void)pthread_mutex_lock(&p->mutex);
    st = hf_my_control(p, err);
    if (st == HF_OK)
        st = judge(p, &there, err);
    if (st == HF_OK && there)
        st = drop_tables(p, err);
    if (st == HF_OK)
        st = make(p, there, err);
    if (st == HF_OK)
        p->made = true;
    (void)pthread_mutex_unlock(&p->mutex);
    return st;
}

void hf_my_leave_schema(hf_my_db *p)
{
    char sql[400], left[24];

    if (!p->made || hf_my_control(p, NULL) != HF_OK ||
        drop_tables(p, NULL) != HF_OK)
        return;
    /* the mark stays where somebody else has put something */
    (void)snprintf(sql, sizeof(sql),
                   "SELECT count(*) FROM information_schema.tables WHERE "
                   "table_schema = '%s'",
                   p->schema);
    if (look(p, sql, left, sizeof(left), NULL) != HF_OK ||
        strcmp(left, "1") != 0)
        return;
    (void)snprintf(sql, sizeof(sql), "DROP DATABASE \"%s\"", p->schema);
    (void)run(p, sql, NULL);
}
