/* postgres.c: PostgreSQL, one server: a private one or one with an address.
 *
 * A session is a connection (with a standby: two).  BEGIN names the level; a
 * statement is prepared on first use; when the server ends a transaction
 * (serialization failure, deadlock) the driver rolls it back at once, so that
 * the session is ready for the next.
 */
#include "db/postgres.h"

#include <ctype.h>
#include <errno.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "db/drivers.h"
#include "model/witness.h"

/* As the manual has them; on one server the order of commits is that of real
 * time, so the strict forms hold (ANOMALIES.md 9.3). */
static const hf_db_promise promises[] = {
    {HF_DB_READ_COMMITTED, HF_MONOTONIC_ATOMIC_VIEW,
     "PostgreSQL manual 13.2.1: each statement sees a snapshot of its own"},
    {HF_DB_READ_UNCOMMITTED, HF_MONOTONIC_ATOMIC_VIEW,
     "PostgreSQL manual 13.2: behaves like read committed"},
    {HF_DB_REPEATABLE_READ, HF_STRICT_SNAPSHOT_ISOLATION,
     "PostgreSQL manual 13.2.2: snapshot isolation, the first updater wins"},
    {HF_DB_SNAPSHOT, HF_STRICT_SNAPSHOT_ISOLATION,
     "PostgreSQL manual 13.2.2: its name there is repeatable read"},
    {HF_DB_SERIALIZABLE, HF_STRICT_SERIALIZABLE,
     "PostgreSQL manual 13.2.3: serializable snapshot isolation"},
};

uint64_t hf_pg_in(double seconds)
{
    return hf_db_clock() + (uint64_t)(seconds * 1e9);
}

/* ---- opening ------------------------------------------------------------- */

hf_pg_db *hf_pg_new(const hf_db_driver *driver, const hf_db_options *o)
{
    hf_pg_db *p = HF_NEW(hf_pg_db);

    p->base.driver = driver;
    p->base.options = *o;
    p->nodes = 1;
    (void)snprintf(p->schema, sizeof(p->schema), "%s",
                   o->schema ? o->schema : "holdfast");
    (void)snprintf(p->quoted, sizeof(p->quoted), "\"%s\"", p->schema);
    (void)pthread_mutex_init(&p->mutex, NULL);
    hf_db_roster_init(&p->roster);
    return p;
}

/* The name goes into SQL as it is. */
hf_status hf_pg_check_schema(const hf_pg_db *p, hf_error *err)
{
    const char *name = p->base.options.schema;
    size_t n = 0;

    if (!name)
        return HF_OK;
    while (isalnum((unsigned char)name[n]) || name[n] == '_')
        n++;
    if (n > 0 && n < sizeof(p->schema) && name[n] == '\0')
        return HF_OK;
    return hf_fail(err, HF_ERR_USAGE,
                   "the schema's name may have letters, digits and _, up to "
                   "63 of them");
}

static char *copy_text(const char *text)
{
    size_t n = strlen(text) + 1;
    char *ret = hf_alloc(n);

    memcpy(ret, text, n);
    return ret;
}

/* postgres://..., what follows "postgres:", or libpq's words. */
static hf_status read_address(hf_pg_db *p, hf_error *err)
{
    const char *a = p->base.options.address;
    size_t size = strlen(a) + 20;
    PQconninfoOption *parts;
    char *message = NULL;

    p->info[0] = hf_alloc(size);
    (void)snprintf(p->info[0], size, "%s%s",
                   strncmp(a, "//", 2) == 0 ? "postgres:" : "", a);
    parts = PQconninfoParse(p->info[0], &message);
    PQfreemem(message); /* may quote the password: not shown */
    if (!parts)
        return hf_fail(err, HF_ERR_USAGE,
                       "the address is not understood; expected "
                       "postgres://user:password@host:port/database");
    for (const PQconninfoOption *o = parts; o->keyword; o++)
        if (o->val && strcmp(o->keyword, "password") == 0)
            p->password = copy_text(o->val);
    PQconninfoFree(parts);
    p->base.options.address = NULL; /* what is shown comes from `where` */
    return HF_OK;
}

static void say_where(hf_pg_db *p)
{
    PGconn *c = p->control.c;

    if (p->server && p->nodes > 1)
        (void)snprintf(p->where, sizeof(p->where), "private, %s, sockets in %s",
                       p->network ? "network namespace"
                                  : "no network namespace",
                       hf_server_directory(p->server));
    else if (p->server)
        (void)snprintf(p->where, sizeof(p->where), "private, socket in %s",
                       hf_server_directory(p->server));
    else
        (void)snprintf(p->where, sizeof(p->where),
                       "host %.50s, port %.10s, database %.30s, schema %s",
                       PQhost(c), PQport(c), PQdb(c), p->schema);
}

hf_status hf_pg_look(hf_pg_db *p, hf_error *err)
{
    hf_status st = hf_pg_control(p, err);
    const char *version;

    if (st != HF_OK)
        return st;
    p->version = PQserverVersion(p->control.c);
    version = PQparameterStatus(p->control.c, "server_version");
    (void)snprintf(p->product, sizeof(p->product), "PostgreSQL %.*s%s",
                   (int)strcspn(version ? version : "", " "),
                   version ? version : "",
                   p->nodes > 1 ? " with a standby" : "");
    say_where(p);
    return HF_OK;
}

static hf_status open_one(const hf_db_options *o, hf_db **ret, hf_error *err)
{
    hf_pg_db *p = hf_pg_new(&hf_db_postgres, o);
    hf_status st = hf_pg_check_schema(p, err);

    if (st == HF_OK)
        st = o->address ? read_address(p, err) : hf_pg_make(p, err);
    if (st == HF_OK)
        st = hf_pg_look(p, err);
    if (st != HF_OK) {
        hf_pg_close(&p->base);
        return st;
    }
    *ret = &p->base;
    return HF_OK;
}

void hf_pg_close(hf_db *db)
{
    hf_pg_db *p = (hf_pg_db *)db;

    if (!p->server && !p->base.options.keep)
        hf_pg_leave_schema(p);
    hf_pg_link_close(&p->control);
    hf_server_free(p->server);
    for (unsigned i = 0; i < HF_PG_NODES; i++)
        hf_free(p->info[i]);
    hf_free(p->password);
    hf_db_roster_release(&p->roster);
    (void)pthread_mutex_destroy(&p->mutex);
    hf_free(p);
}

void hf_pg_describe(hf_db *db, hf_db_description *ret)
{
    const hf_pg_db *p = (const hf_pg_db *)db;

    (void)snprintf(ret->product, sizeof(ret->product), "%s", p->product);
    (void)snprintf(ret->where, sizeof(ret->where), "%s", p->where);
    ret->nodes = p->nodes;
}

/* ---- sessions ------------------------------------------------------------ */

hf_status hf_pg_join(hf_pg_db *p, hf_pg_link *l, unsigned node, int wake,
                     hf_error *err)
{
    uint64_t deadline = hf_db_deadline(&p->base);
    hf_status st = hf_pg_link_open(l, p->info[node], wake, deadline, err);
    hf_db_answer a;
    char sql[250];

    if (st != HF_OK) {
        hf_db_hide(err ? err->text : NULL, p->password);
        return st;
    }
    l->cancel = PQserverVersion(l->c) < 140000;
    (void)snprintf(sql, sizeof(sql),
                   "SET search_path TO %s; SET client_encoding TO 'UTF8'",
                   p->quoted);
    hf_pg_link_ask(l, sql, deadline, NULL, &a);
    /* so that a backend which waits for a lock sees that we have gone */
    if (a.status == HF_DB_OK && !l->cancel) {
        hf_db_answer ignored;

        hf_pg_link_ask(l, "SET client_connection_check_interval TO 100",
                       deadline, NULL, &ignored);
    }
    if (a.status == HF_DB_OK && !l->lost)
        return HF_OK;
    hf_pg_link_close(l);
    return hf_fail(err, HF_ERR_IO, "could not set up a session: %s", a.text);
}

static void wake(hf_db_member *m)
{
    hf_pg_session *s =
        (hf_pg_session *)((char *)m - offsetof(hf_pg_session, member));
    uint64_t one = 1;

    while (write(s->wake, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

hf_status hf_pg_connect(hf_db *db, unsigned client, hf_db_session **ret,
                        hf_error *err)
{
    hf_pg_db *p = (hf_pg_db *)db;
    hf_pg_session *s = HF_NEW(hf_pg_session);
    hf_status st;

    s->base.db = db;
    s->base.client = client;
    s->member.client = client;
    s->member.wake = wake;
    s->now = &s->link[0];
    hf_arena_init(&s->scratch);
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wake < 0)
        st = hf_fail(err, HF_ERR_IO, "could not make a descriptor: %s",
                     strerror(errno));
    else
        st = hf_pg_join(p, &s->link[0], 0, s->wake, err);
    hf_db_roster_join(&p->roster, &s->member);
    if (st != HF_OK) {
        hf_pg_disconnect(&s->base);
        return st;
    }
    *ret = &s->base;
    return HF_OK;
}

void hf_pg_disconnect(hf_db_session *base)
{
    hf_pg_session *s = (hf_pg_session *)base;

    if (!s)
        return;
    hf_db_roster_leave(&((hf_pg_db *)base->db)->roster, &s->member);
    for (unsigned i = 0; i < HF_PG_NODES; i++)
        hf_pg_link_close(&s->link[i]);
    if (s->wake >= 0)
        (void)close(s->wake);
    hf_arena_release(&s->scratch);
    hf_free(s);
}

void hf_pg_interrupt(hf_db_session *s)
{
    wake(&((hf_pg_session *)s)->member);
}

/* ---- transactions -------------------------------------------------------- */

static uint64_t deadline_of(const hf_pg_session *s)
{
    return hf_db_deadline(s->base.db);
}

/* The server has ended the transaction; so do we. */
static void after(hf_pg_session *s, const hf_db_answer *a)
{
    hf_db_answer ignored;

    if (a->status == HF_DB_ABORTED && !s->now->lost)
        hf_pg_link_ask(s->now, "ROLLBACK", deadline_of(s), NULL, &ignored);
}

/* Which of the connections a transaction is for. */
static hf_pg_link *choose(hf_pg_session *s, bool read_only, hf_db_answer *ret)
{
    hf_pg_db *p = (hf_pg_db *)s->base.db;
    hf_error err = {0};

    hf_db_answer_ok(ret);
    if (p->nodes < 2 || !read_only || s->base.client % 2 == 0)
        return &s->link[0];
    if (!s->link[1].c &&
        hf_pg_join(p, &s->link[1], 1, s->wake, &err) != HF_OK) {
        hf_db_answer_set(ret, HF_DB_LOST, "08001", "%s", err.text);
        return &s->link[1];
    }
    hf_pg_catch_up(s, ret);
    return &s->link[1];
}

void hf_pg_begin(hf_db_session *base, hf_db_level level, bool read_only,
                 hf_db_answer *ret)
{
    static const char *const words[HF_DB_LEVEL_COUNT] = {
        "READ COMMITTED",  "READ UNCOMMITTED", "READ COMMITTED",
        "REPEATABLE READ", "REPEATABLE READ",  "SERIALIZABLE"};
    hf_pg_session *s = (hf_pg_session *)base;
    char sql[80];

    HF_ASSERT(level < HF_DB_LEVEL_COUNT);
    s->now = choose(s, read_only, ret);
    if (ret->status != HF_DB_OK)
        return;
    if (s->now != &s->link[0] && level == HF_DB_SERIALIZABLE)
        level = HF_DB_REPEATABLE_READ; /* the most that a standby has */
    (void)snprintf(sql, sizeof(sql), "BEGIN ISOLATION LEVEL %s READ %s",
                   words[level], read_only ? "ONLY" : "WRITE");
    hf_pg_link_ask(s->now, sql, deadline_of(s), NULL, ret);
    after(s, ret);
}

void hf_pg_execute(hf_db_session *base, const hf_db_statement *statement,
                   const hf_sql_value *params, uint32_t n_params,
                   hf_sql_result *rows, hf_db_answer *ret)
{
    hf_pg_session *s = (hf_pg_session *)base;
    const char **texts;
    PGresult *r = NULL;

    hf_arena_reset(&s->scratch);
    hf_db_rows_start(rows, 0);
    texts = hf_arena_get(&s->scratch, ((size_t)n_params + 1) * sizeof(*texts));
    if (!hf_pg_params(params, n_params, texts, &s->scratch, ret))
        return;
    hf_pg_link_execute(s->now, statement, texts, n_params, deadline_of(s), &r,
                       ret);
    if (r)
        hf_pg_rows(r, rows);
    PQclear(r);
    after(s, ret);
}

void hf_pg_commit(hf_db_session *base, hf_db_answer *ret)
{
    hf_pg_session *s = (hf_pg_session *)base;
    PGresult *r = NULL;

    hf_pg_link_ask(s->now, "COMMIT", deadline_of(s), &r, ret);
    /* the server's answer to COMMIT after an error in the transaction */
    if (r && strcmp(PQcmdStatus(r), "ROLLBACK") == 0)
        hf_db_answer_set(ret, HF_DB_ABORTED, "25P02",
                         "the transaction had failed before its commit");
    PQclear(r);
    s->now = &s->link[0];
}

void hf_pg_abort(hf_db_session *base, hf_db_answer *ret)
{
    hf_pg_session *s = (hf_pg_session *)base;

    hf_pg_link_ask(s->now, "ROLLBACK", deadline_of(s), NULL, ret);
    s->now = &s->link[0];
}

const hf_db_driver hf_db_postgres = {
    .name = "postgres",
    .summary = "PostgreSQL: a private server, or postgres://...",
    .package = "postgresql",
    .heeds = HF_DB_HEEDS_SERVER | HF_DB_HEEDS_ADDRESS | HF_DB_HEEDS_PROGRAMS,
    .keeps = HF_REST_LINEARIZABLE,
    .promises = promises,
    .n_promises = sizeof(promises) / sizeof(promises[0]),
    .open = open_one,
    .close = hf_pg_close,
    .describe = hf_pg_describe,
    .reset = hf_pg_reset,
    .connect = hf_pg_connect,
    .disconnect = hf_pg_disconnect,
    .interrupt = hf_pg_interrupt,
    .begin = hf_pg_begin,
    .execute = hf_pg_execute,
    .commit = hf_pg_commit,
    .abort = hf_pg_abort,
    .can_fault = hf_pg_can_fault,
    .fault = hf_pg_fault,
};
