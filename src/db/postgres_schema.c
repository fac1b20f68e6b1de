/* postgres_schema.c: the one schema that is ours.
 *
 * It carries a comment of ours: without it a schema of that name is somebody
 * else's and is refused, empty or not.  In ours, what lacks the column _tag was
 * made by somebody else meanwhile: it is never dropped, and a new run refuses
 * to begin.  Tables are dropped by name and without CASCADE.  On a server that
 * is not ours a lock of the session keeps a second holdfast away.
 */
#include "db/postgres.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#define MARK "made by holdfast: what is in it is thrown away"

static hf_status failed(hf_pg_db *p, const hf_db_answer *a, hf_error *err)
{
    hf_db_answer ignored;

    hf_pg_link_ask(&p->control, "ROLLBACK", hf_db_deadline(&p->base), NULL,
                   &ignored);
    return hf_fail(err, HF_ERR_IO, "could not prepare the schema \"%s\": %s",
                   p->schema, a->text);
}

static hf_status run(hf_pg_db *p, const char *sql, hf_error *err)
{
    hf_db_answer a;

    hf_pg_link_ask(&p->control, sql, hf_db_deadline(&p->base), NULL, &a);
    return a.status == HF_DB_OK ? HF_OK : failed(p, &a, err);
}

/* One row of one or more columns; *ret is to be cleared.  No row: NULL. */
static hf_status look(hf_pg_db *p, const char *sql, PGresult **ret,
                      hf_error *err)
{
    hf_db_answer a;

    *ret = NULL;
    hf_pg_link_ask(&p->control, sql, hf_db_deadline(&p->base), ret, &a);
    if (a.status != HF_DB_OK)
        return failed(p, &a, err);
    if (*ret && PQntuples(*ret) < 1) {
        PQclear(*ret);
        *ret = NULL;
    }
    return HF_OK;
}

/* Ours have a column of this name. */
#define IS_OURS                                                                \
    "EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND "         \
    "a.attname = '_tag' AND NOT a.attisdropped)"

static bool is_true(const PGresult *r, int column)
{
    return PQgetvalue(r, 0, column)[0] == 't';
}

/* Nobody else uses the schema while we do. */
static hf_status take_lock(hf_pg_db *p, hf_error *err)
{
    PGresult *r;
    char sql[200];
    bool got;
    hf_status st;

    (void)snprintf(sql, sizeof(sql),
                   "SELECT pg_try_advisory_lock(1752132966, hashtext('%s'))",
                   p->schema);
    st = look(p, sql, &r, err);
    if (st != HF_OK)
        return st;
    got = r && is_true(r, 0);
    PQclear(r);
    if (got)
        return HF_OK;
    hf_pg_link_close(&p->control);
    return hf_fail(err, HF_ERR_USAGE,
                   "the schema \"%s\" is in use by another holdfast",
                   p->schema);
}

hf_status hf_pg_control(hf_pg_db *p, hf_error *err)
{
    hf_status st;

    if (p->control.c && !p->control.lost)
        return HF_OK;
    hf_pg_link_close(&p->control);
    st = hf_pg_join(p, &p->control, 0, -1, err);
    if (st == HF_OK && !p->server)
        st = take_lock(p, err);
    return st;
}

/* Is there one, and is it ours? */
static hf_status judge(hf_pg_db *p, bool *ret_there, hf_error *err)
{
    char sql[1200];
    PGresult *r;
    bool marked, foreign;
    hf_status st;

    (void)snprintf(
        sql, sizeof(sql),
        "SELECT coalesce(obj_description(n.oid, 'pg_namespace'), '') = '" MARK
        "', EXISTS (SELECT FROM pg_class c WHERE relnamespace = n.oid AND "
        "relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND NOT " IS_OURS ") "
        "FROM pg_namespace n WHERE n.nspname = '%s'",
        p->schema);
    st = look(p, sql, &r, err);
    *ret_there = r != NULL;
    if (st != HF_OK || !r)
        return st;
    marked = is_true(r, 0);
    foreign = is_true(r, 1);
    PQclear(r);
    if (marked && (!foreign || p->server))
        return HF_OK;
    (void)run(p, "ROLLBACK", NULL);
    if (marked)
        return hf_fail(err, HF_ERR_USAGE,
                       "the schema \"%s\" is ours, but holds what we did not "
                       "make: move that away, or choose another schema",
                       p->schema);
    return hf_fail(err, HF_ERR_USAGE,
                   "the schema \"%s\" exists and was not made by holdfast: "
                   "choose another one or drop it",
                   p->schema);
}

static hf_status drop_tables(hf_pg_db *p, hf_error *err)
{
    char sql[700], *drop;
    PGresult *r;
    size_t size;
    hf_status st;

    (void)snprintf(sql, sizeof(sql),
                   "SELECT string_agg(format('%%I.%%I', n.nspname, c.relname), "
                   "', ') FROM pg_class c JOIN pg_namespace n "
                   "ON n.oid = c.relnamespace WHERE n.nspname = '%s' "
                   "AND c.relkind IN ('r', 'p') AND (%s OR " IS_OURS
                   ") HAVING count(*) > 0",
                   p->schema, p->server ? "true" : "false");
    st = look(p, sql, &r, err);
    if (st != HF_OK || !r)
        return st;
    size = strlen(PQgetvalue(r, 0, 0)) + 20;
    drop = hf_alloc(size);
    (void)snprintf(drop, size, "DROP TABLE %s", PQgetvalue(r, 0, 0));
    PQclear(r);
    st = run(p, drop, err);
    hf_free(drop);
    return st;
}

static hf_status make(hf_pg_db *p, bool there, hf_error *err)
{
    char sql[400];
    hf_status st = HF_OK;

    if (!there) {
        (void)snprintf(sql, sizeof(sql), "CREATE SCHEMA %s", p->quoted);
        st = run(p, sql, err);
    }
    (void)snprintf(sql, sizeof(sql), "COMMENT ON SCHEMA %s IS '" MARK "'",
                   p->quoted);
    if (st == HF_OK)
        st = run(p, sql, err);
    return st;
}

/* Begins a transaction; a connection that was lost meanwhile is made anew. */
static hf_status begin(hf_pg_db *p, hf_error *err)
{
    hf_status st = hf_pg_control(p, err);

    if (st == HF_OK)
        st = run(p, "BEGIN", err);
    if (st == HF_OK || !p->control.lost)
        return st;
    st = hf_pg_control(p, err);
    return st == HF_OK ? run(p, "BEGIN", err) : st;
}

hf_status hf_pg_reset(hf_db *db, hf_error *err)
{
    hf_pg_db *p = (hf_pg_db *)db;
    bool there = false;
    hf_status st;

    (void)pthread_mutex_lock(&p->mutex);
    st = begin(p, err);
    if (st == HF_OK)
        st = judge(p, &there, err);
    if (st == HF_OK && there)
        st = drop_tables(p, err);
    if (st == HF_OK)
        st = make(p, there, err);
    if (st == HF_OK)
        st = run(p, "COMMIT", err);
    if (st == HF_OK)
        p->made = true;
    __atomic_store_n(&p->caught_up, false, __ATOMIC_SEQ_CST);
    (void)pthread_mutex_unlock(&p->mutex);
    return st;
}

void hf_pg_leave_schema(hf_pg_db *p)
{
    char sql[200];

    if (!p->made || begin(p, NULL) != HF_OK)
        return;
    if (drop_tables(p, NULL) != HF_OK || run(p, "COMMIT", NULL) != HF_OK)
        return;
    /* fails if somebody else has put something there */
    (void)snprintf(sql, sizeof(sql), "DROP SCHEMA %s", p->quoted);
    (void)run(p, sql, NULL);
}
