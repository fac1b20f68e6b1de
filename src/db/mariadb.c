/* mariadb.c: MariaDB, one server: a private one or one with an address.
 *
 * A session is a connection.  A statement that is refused leaves MariaDB's
 * transaction open; as elsewhere, only its abort is accepted then.  A lock that
 * was waited for too long undoes only the statement: the driver rolls back the
 * transaction and says that it was aborted.
 *
 * Repeatable read is the default.  Its plain SELECTs see a snapshot, but what
 * writes or locks sees the newest rows, so that one transaction may see two
 * states: of our levels only read committed remains.  The level `snapshot` (or
 * the variant of that name, for repeatable read) sets
 * innodb_snapshot_isolation, which refuses to write over what the snapshot does
 * not show.
 */
#include "db/mariadb.h"

#include <ctype.h>
#include <errno.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "db/drivers.h"
#include "model/witness.h"

static const hf_db_promise promises[] = {
    {HF_DB_REPEATABLE_READ, HF_READ_COMMITTED,
     "MariaDB, SET TRANSACTION: a snapshot for plain SELECT only; locking "
     "reads and writes see the newest rows"},
    {HF_DB_READ_COMMITTED, HF_MONOTONIC_ATOMIC_VIEW,
     "MariaDB, SET TRANSACTION: each consistent read has a fresh snapshot"},
    {HF_DB_READ_UNCOMMITTED, HF_READ_UNCOMMITTED,
     "MariaDB, SET TRANSACTION: dirty reads"},
    {HF_DB_SNAPSHOT, HF_STRICT_SNAPSHOT_ISOLATION,
     "MariaDB, innodb_snapshot_isolation: error 1020 where a row has changed "
     "since the snapshot"},
    {HF_DB_SERIALIZABLE, HF_STRICT_SERIALIZABLE,
     "MariaDB, SET TRANSACTION: every SELECT locks what it reads"},
};

/* With the variant `snapshot`. */
static const hf_db_promise repeatable_snapshot = {
    HF_DB_REPEATABLE_READ, HF_STRICT_SNAPSHOT_ISOLATION,
    "MariaDB, innodb_snapshot_isolation: error 1020 where a row has changed "
    "since the snapshot"};

#define N_PROMISES (sizeof(promises) / sizeof(promises[0]))

static const hf_db_promise *promise_of(const hf_db *db, hf_db_level level)
{
    const hf_my_db *p = (const hf_my_db *)db;

    if (level == HF_DB_DEFAULT)
        level = HF_DB_REPEATABLE_READ;
    if (level == HF_DB_SNAPSHOT && !p->snapshot_option)
        return NULL;
    if (level == HF_DB_REPEATABLE_READ && p->snapshot_always)
        return &repeatable_snapshot;
    for (size_t i = 0; i < N_PROMISES; i++)
        if (promises[i].level == level)
            return &promises[i];
    return NULL;
}

uint64_t hf_my_in(double seconds)
{
    return hf_db_clock() + (uint64_t)(seconds * 1e9);
}

/* ---- opening ------------------------------------------------------------- */

hf_my_db *hf_my_new(const hf_db_driver *driver, const hf_db_options *o)
{
    hf_my_db *p = HF_NEW(hf_my_db);

    p->base.driver = driver;
    p->base.options = *o;
    p->nodes = 1;
    p->control.wake = -1;
    (void)snprintf(p->schema, sizeof(p->schema), "%s",
                   o->schema ? o->schema : "holdfast");
    (void)pthread_mutex_init(&p->mutex, NULL);
    hf_db_roster_init(&p->roster);
    return p;
}

/* The name goes into SQL as it is. */
static bool good_name(const char *name)
{
    size_t n = 0;

    while (isalnum((unsigned char)name[n]) || name[n] == '_')
        n++;
    return n > 0 && n < 64 && name[n] == '\0';
}

hf_status hf_my_check_names(hf_my_db *p, hf_error *err)
{
    const char *v = p->base.options.variant;

    if (p->base.options.schema ? !good_name(p->base.options.schema)
                               : !good_name(p->schema))
        return hf_fail(err, HF_ERR_USAGE,
                       "the schema's name may have letters, digits and _, up "
                       "to 63 of them");
    p->snapshot_always = v && strcmp(v, "snapshot") == 0;
    if (v && !p->snapshot_always)
        return hf_fail(err, HF_ERR_USAGE,
                       "unknown variant \"%s\" of %s: it may be \"snapshot\"",
                       v, p->base.driver->name);
    return HF_OK;
}

static void say_where(hf_my_db *p)
{
    if (p->server && p->nodes > 1)
        (void)snprintf(p->where, sizeof(p->where), "private, %s, sockets in %s",
                       hf_server_has_network(p->server)
                           ? "network namespace"
                           : "no network namespace",
                       hf_server_directory(p->server));
    else if (p->server)
        (void)snprintf(p->where, sizeof(p->where), "private, socket in %s",
                       hf_server_directory(p->server));
    else if (p->target[0].socket)
        (void)snprintf(p->where, sizeof(p->where), "socket %.100s, database %s",
                       p->target[0].socket, p->schema);
    else
        (void)snprintf(p->where, sizeof(p->where),
                       "host %.80s, port %u, database %s", p->target[0].host,
                       p->target[0].port, p->schema);
}

hf_status hf_my_look(hf_my_db *p, hf_error *err)
{
    MYSQL_RES *r = NULL;
    const char *version;
    hf_db_answer a;
    hf_status st = hf_my_control(p, err);

    if (st != HF_OK)
        return st;
    version = mysql_get_server_info(p->control.c);
    (void)snprintf(p->product, sizeof(p->product), "MariaDB %.*s%s",
                   (int)strcspn(version, "-"), version,
                   p->nodes > 1 ? " with Galera" : "");
    hf_my_link_ask(&p->control,
                   "SHOW VARIABLES LIKE 'innodb_snapshot_isolation'",
                   hf_db_deadline(&p->base), &r, &a);
    p->snapshot_option = r && mysql_num_rows(r) > 0;
    mysql_free_result(r);
    if (p->snapshot_always && !p->snapshot_option)
        return hf_fail(err, HF_ERR_UNSUPPORTED,
                       "%s does not have innodb_snapshot_isolation",
                       p->product);
    say_where(p);
    return HF_OK;
}

static hf_status open_one(const hf_db_options *o, hf_db **ret, hf_error *err)
{
    hf_my_db *p = hf_my_new(&hf_db_mariadb, o);
    hf_status st = o->address ? hf_my_read_address(p, err) : HF_OK;

    if (st == HF_OK)
        st = hf_my_check_names(p, err);
    if (st == HF_OK && !o->address) {
        st = hf_my_make(p, false, err);
        if (st == HF_OK)
            st = hf_my_start(p, 0, NULL, NULL, 60, err);
    }
    if (st == HF_OK)
        st = hf_my_look(p, err);
    if (st != HF_OK) {
        hf_my_close(&p->base);
        return st;
    }
    *ret = &p->base;
    return HF_OK;
}

void hf_my_close(hf_db *db)
{
    hf_my_db *p = (hf_my_db *)db;

    if (!p->server && !p->base.options.keep)
        hf_my_leave_schema(p);
    hf_my_link_close(&p->control);
    hf_server_free(p->server);
    for (unsigned i = 0; i < HF_MY_NODES; i++)
        hf_my_target_release(&p->target[i]);
    hf_db_roster_release(&p->roster);
    (void)pthread_mutex_destroy(&p->mutex);
    hf_free(p);
}

void hf_my_describe(hf_db *db, hf_db_description *ret)
{
    const hf_my_db *p = (const hf_my_db *)db;

    (void)snprintf(ret->product, sizeof(ret->product), "%s", p->product);
    (void)snprintf(ret->where, sizeof(ret->where), "%s", p->where);
    ret->nodes = p->nodes;
}

/* ---- sessions ------------------------------------------------------------ */

/* Settings of every session.  A lock is waited for half as long as a call may
 * take, so that the server's answer comes before we give up. */
static hf_status set_up(hf_my_db *p, hf_my_link *l, hf_error *err)
{
    double call = p->base.options.call_seconds;
    unsigned wait = (unsigned)((call > 0 ? call : 10) / 2);
    hf_db_answer a;
    char sql[500];

    if (!strstr(mysql_get_server_info(l->c), "MariaDB"))
        return hf_fail(err, HF_ERR_UNSUPPORTED, "the server is not MariaDB");
    (void)snprintf(
        sql, sizeof(sql),
        "SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin, SESSION sql_mode = "
        "'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES,"
        "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,"
        "SIMULTANEOUS_ASSIGNMENT', autocommit = 1, foreign_key_checks = 1, "
        "default_storage_engine = InnoDB, innodb_lock_wait_timeout = %u, "
        "lock_wait_timeout = %u",
        wait > 0 ? wait : 1, wait > 0 ? wait : 1);
    hf_my_link_ask(l, sql, hf_db_deadline(&p->base), NULL, &a);
    if (a.status == HF_DB_OK)
        return HF_OK;
    return hf_fail(err, HF_ERR_IO, "could not set up a session: %s", a.text);
}

hf_status hf_my_join(hf_my_db *p, hf_my_link *l, unsigned node, int wake,
                     hf_error *err)
{
    hf_status st = hf_my_link_open(l, &p->target[node], wake,
                                   hf_db_deadline(&p->base), err);

    if (st == HF_OK) {
        st = set_up(p, l, err);
        if (st != HF_OK)
            hf_my_link_close(l);
    }
    if (st != HF_OK)
        hf_db_hide(err ? err->text : NULL, p->target[node].password);
    return st;
}

static void wake(hf_db_member *m)
{
    hf_my_session *s =
        (hf_my_session *)((char *)m - offsetof(hf_my_session, member));
    uint64_t one = 1;

    while (write(s->wake, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

hf_status hf_my_connect(hf_db *db, unsigned client, hf_db_session **ret,
                        hf_error *err)
{
    hf_my_db *p = (hf_my_db *)db;
    hf_my_session *s = HF_NEW(hf_my_session);
    hf_status st;

    s->base.db = db;
    s->base.client = client;
    s->member.client = client;
    s->member.wake = wake;
    s->node = client % p->nodes;
    hf_arena_init(&s->scratch);
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wake < 0)
        st = hf_fail(err, HF_ERR_IO, "could not make a descriptor: %s",
                     strerror(errno));
    else
        st = hf_my_join(p, &s->link, s->node, s->wake, err);
    hf_db_roster_join(&p->roster, &s->member);
    if (st != HF_OK) {
        hf_my_disconnect(&s->base);
        return st;
    }
    *ret = &s->base;
    return HF_OK;
}

void hf_my_disconnect(hf_db_session *base)
{
    hf_my_session *s = (hf_my_session *)base;

    if (!s)
        return;
    hf_db_roster_leave(&((hf_my_db *)base->db)->roster, &s->member);
    hf_my_link_close(&s->link);
    if (s->wake >= 0)
        (void)close(s->wake);
    hf_arena_release(&s->scratch);
    hf_free(s);
}

void hf_my_interrupt(hf_db_session *s)
{
    wake(&((hf_my_session *)s)->member);
}

/* ---- transactions -------------------------------------------------------- */

static void ask(hf_my_session *s, const char *sql, hf_db_answer *ret)
{
    hf_my_link_ask(&s->link, sql, hf_db_deadline(s->base.db), NULL, ret);
}

/* What we left the server at would hold its locks until it is done. */
static void end_elsewhere(hf_my_session *s)
{
    hf_my_db *p = (hf_my_db *)s->base.db;
    uint64_t deadline = hf_my_in(0.3);
    hf_my_link l = {.wake = -1};
    hf_db_answer ignored;
    char sql[60];

    s->link.left = false;
    if (hf_my_link_open(&l, &p->target[s->node], -1, deadline, NULL) != HF_OK)
        return;
    (void)snprintf(sql, sizeof(sql), "KILL CONNECTION %lu",
                   mysql_thread_id(s->link.c));
    hf_my_link_ask(&l, sql, deadline, NULL, &ignored);
    hf_my_link_close(&l);
}

/* After every call: the server's transaction is in the state that the answer
 * says. */
static void after(hf_my_session *s, const hf_db_answer *a)
{
    hf_db_answer ignored;

    if (a->status == HF_DB_ABORTED && !s->link.lost)
        ask(s, "ROLLBACK", &ignored);
    if (a->status == HF_DB_ABORTED || s->link.lost)
        s->open = false;
    /* a node without a majority says so at once: no need to ask too often */
    if (strtol(a->code, NULL, 10) == ER_UNKNOWN_COM_ERROR ||
        (a->status == HF_DB_ABORTED && !s->synced))
        hf_db_sleep(20u * 1000 * 1000);
    if (s->link.left)
        end_elsewhere(s);
}

/* Once: into our database; on a cluster, when this node has all of what was
 * loaded elsewhere. */
static bool enter(hf_my_session *s, hf_db_answer *ret)
{
    hf_my_db *p = (hf_my_db *)s->base.db;
    char sql[100];

    hf_db_answer_ok(ret);
    if (s->synced)
        return true;
    if (p->nodes > 1) {
        ask(s, "SET SESSION wsrep_sync_wait = 1", ret);
        if (ret->status == HF_DB_OK)
            ask(s, "SELECT 1 FROM information_schema.schemata LIMIT 1", ret);
        if (ret->status == HF_DB_OK)
            ask(s, "SET SESSION wsrep_sync_wait = 0", ret);
    }
    (void)snprintf(sql, sizeof(sql), "USE \"%s\"", p->schema);
    if (ret->status == HF_DB_OK)
        ask(s, sql, ret);
    s->synced = ret->status == HF_DB_OK;
    return s->synced;
}

static void set_level(hf_my_session *s, hf_db_level level, hf_db_answer *ret)
{
    static const char *const words[HF_DB_LEVEL_COUNT] = {"",
                                                         "READ-UNCOMMITTED",
                                                         "READ-COMMITTED",
                                                         "REPEATABLE-READ",
                                                         "REPEATABLE-READ",
                                                         "SERIALIZABLE"};
    const hf_my_db *p = (const hf_my_db *)s->base.db;
    bool snapshot = level == HF_DB_SNAPSHOT ||
                    (level == HF_DB_REPEATABLE_READ && p->snapshot_always);
    char sql[150];

    if (level == HF_DB_SNAPSHOT && !p->snapshot_option) {
        hf_db_answer_set(ret, HF_DB_FAILED, "",
                         "%s does not have innodb_snapshot_isolation",
                         p->product);
        return;
    }
    (void)snprintf(sql, sizeof(sql), "SET SESSION tx_isolation = '%s'%s%s",
                   words[level],
                   p->snapshot_option ? ", innodb_snapshot_isolation = " : "",
                   !p->snapshot_option ? ""
                   : snapshot          ? "ON"
                                       : "OFF");
    ask(s, sql, ret);
    s->level = ret->status == HF_DB_OK ? level : HF_DB_DEFAULT;
}

void hf_my_begin(hf_db_session *base, hf_db_level level, bool read_only,
                 hf_db_answer *ret)
{
    hf_my_session *s = (hf_my_session *)base;

    HF_ASSERT(level < HF_DB_LEVEL_COUNT);
    if (level == HF_DB_DEFAULT)
        level = HF_DB_REPEATABLE_READ;
    s->failed = s->open = false;
    (void)enter(s, ret);
    if (ret->status == HF_DB_OK && s->level != level)
        set_level(s, level, ret);
    if (ret->status == HF_DB_OK)
        ask(s,
            read_only ? "START TRANSACTION READ ONLY"
                      : "START TRANSACTION READ WRITE",
            ret);
    s->open = ret->status == HF_DB_OK;
    after(s, ret);
}

void hf_my_execute(hf_db_session *base, const hf_db_statement *statement,
                   const hf_sql_value *params, uint32_t n_params,
                   hf_sql_result *rows, hf_db_answer *ret)
{
    hf_my_session *s = (hf_my_session *)base;

    hf_arena_reset(&s->scratch);
    hf_db_rows_start(rows, 0);
    if (s->failed) {
        hf_db_answer_set(ret, HF_DB_REFUSED, "",
                         "the transaction has failed: only its end is left");
        return;
    }
    if (enter(s, ret))
        hf_my_link_execute(&s->link, statement, params, n_params, &s->scratch,
                           hf_db_deadline(base->db), rows, ret);
    after(s, ret);
    s->failed = s->open && ret->status == HF_DB_REFUSED;
}

void hf_my_commit(hf_db_session *base, hf_db_answer *ret)
{
    hf_my_session *s = (hf_my_session *)base;
    bool failed = s->failed;

    s->failed = s->open = false;
    ask(s, failed ? "ROLLBACK" : "COMMIT", ret);
    if (failed && ret->status == HF_DB_OK)
        hf_db_answer_set(ret, HF_DB_ABORTED, "",
                         "the transaction had failed before its commit");
    /* the cluster lost its majority: others may have it all the same */
    if (!failed && (ret->status == HF_DB_FAILED ||
                    strtol(ret->code, NULL, 10) == ER_UNKNOWN_COM_ERROR)) {
        ret->status = HF_DB_LOST;
        s->link.lost = true;
    }
    after(s, ret);
}

void hf_my_abort(hf_db_session *base, hf_db_answer *ret)
{
    hf_my_session *s = (hf_my_session *)base;

    s->failed = s->open = false;
    ask(s, "ROLLBACK", ret);
    after(s, ret);
}

static const char *const variant_names[] = {"snapshot", NULL};

const hf_db_driver hf_db_mariadb = {
    .name = "mariadb",
    .summary = "MariaDB: a private server, or mariadb://...",
    .package = "mariadb-server",
    .heeds = HF_DB_HEEDS_SERVER | HF_DB_HEEDS_ADDRESS,
    .variants = variant_names,
    .keeps = HF_REST_LINEARIZABLE,
    .promises = promises,
    .n_promises = N_PROMISES,
    .promise = promise_of,
    .open = open_one,
    .close = hf_my_close,
    .describe = hf_my_describe,
    .reset = hf_my_reset,
    .connect = hf_my_connect,
    .disconnect = hf_my_disconnect,
    .interrupt = hf_my_interrupt,
    .begin = hf_my_begin,
    .execute = hf_my_execute,
    .commit = hf_my_commit,
    .abort = hf_my_abort,
    .can_fault = hf_my_can_fault,
    .fault = hf_my_fault,
};
