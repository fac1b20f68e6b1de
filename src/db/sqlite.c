/* sqlite.c: SQLite in this process, as a database under test.
 *
 * Every session is a connection of its own to one file, so that sessions
 * exclude each other as separate programs do; other processes may open the
 * same file (address "sqlite:PATH") at the same time.  Without an address the
 * file stands in a private directory that goes away with the database.
 *
 * Variants: what keeps sessions apart.
 *   wal                 readers keep a snapshot, one writer
 *   rollback            readers exclude the writer's commit
 *   shared-cache        one page cache, locks on tables; here, and only here,
 *                       read uncommitted really reads what is not committed
 *   wal-deferred, rollback-deferred
 *                       the same, but a transaction asks for the write lock at
 *                       its first write (plain BEGIN) instead of at its
 *                       beginning: more of them meet, more are refused
 *
 * DECIMAL columns: SQLite keeps them as integers or floating point numbers.
 * They are handed out rounded to the digits they were declared with, which is
 * exact up to about 15 digits; what SQL computes inside is not exact.
 */
#include <stdio.h>

#include "base/map.h"
#include "base/out.h"
#include "base/vec.h"
#include "db/common.h"
#include "db/drivers.h"
#include "db/sqlite_file.h"
#include "db/sqlite_values.h"
#include "model/witness.h"

/* A table lock of the shared cache is waited for at most so long: waiting in
 * a circle is not noticed by SQLite. */
#define LOCKED_WAIT 200000000u

typedef struct database {
    hf_db base;
    hf_sqlite_file file;
    hf_db_roster roster;
} database;

typedef struct prepared {
    char *sql; /* what it was made from; NULL: nothing */
    sqlite3_stmt *at;
    hf_sqlite_column *columns;
    bool writes;
} prepared;

/* What every transaction says; see commands[]. */
typedef enum command {
    BEGIN,
    IMMEDIATE,
    COMMIT,
    CLEAN_READS,
    DIRTY_READS,
    N_COMMANDS
} command;

typedef struct session {
    hf_db_session base;
    hf_db_member member; /* cut: also by interrupt */
    sqlite3 *at;
    uint64_t deadline; /* of the running call */
    HF_VEC(prepared) statements;
    sqlite3_stmt *commands[N_COMMANDS];
    bool dirty_reads; /* PRAGMA read_uncommitted is on */
} session;

static session *session_of_member(hf_db_member *m)
{
    return (session *)(void *)((char *)m - offsetof(session, member));
}

/* ---- waiting ------------------------------------------------------------- */

static bool is_over(const session *s)
{
    return atomic_load(&s->member.cut) || hf_db_clock() > s->deadline;
}

/* Called when a lock is not free. */
static int busy(void *user, int times)
{
    const session *s = user;
    uint64_t pause = 20000u << (times < 6 ? times : 6);

    if (is_over(s))
        return 0;
    hf_db_sleep(pause);
    return 1;
}

/* Called now and then while a statement runs. */
static int progress(void *user)
{
    return is_over(user);
}

static void wake(hf_db_member *m)
{
    sqlite3_interrupt(session_of_member(m)->at);
}

/* ---- open, close --------------------------------------------------------- */

static void close_database(hf_db *db)
{
    database *d = (database *)(void *)db;

    hf_sqlite_file_close(&d->file);
    hf_db_roster_release(&d->roster);
    hf_free(d);
}

static hf_status open_database(const hf_db_options *o, hf_db **ret,
                               hf_error *err)
{
    database *d = HF_NEW(database);
    hf_status status;

    d->base.driver = &hf_db_sqlite;
    d->base.options = *o;
    hf_db_roster_init(&d->roster);
    status = hf_sqlite_file_open(&d->file, o, err);
    if (status != HF_OK) {
        close_database(&d->base);
        return status;
    }
    *ret = &d->base;
    return HF_OK;
}

static void describe(hf_db *db, hf_db_description *ret)
{
    const database *d = (const database *)(const void *)db;

    (void)snprintf(ret->product, sizeof(ret->product), "SQLite %s, %s",
                   sqlite3_libversion(), d->file.variant->name);
    (void)snprintf(ret->where, sizeof(ret->where), "%s%.180s",
                   d->file.directory.keeper ? "private, " : "", d->file.path);
    ret->nodes = 1;
}

static hf_status reset(hf_db *db, hf_error *err)
{
    return hf_sqlite_file_reset(&((database *)(void *)db)->file, err);
}

/* ---- sessions ------------------------------------------------------------ */

static void forget(prepared *p)
{
    sqlite3_finalize(p->at);
    hf_free(p->sql);
    hf_free(p->columns);
    *p = (prepared){0};
}

static void disconnect(hf_db_session *base)
{
    session *s = (session *)(void *)base;

    if (!s)
        return;
    hf_db_roster_leave(&((database *)(void *)s->base.db)->roster, &s->member);
    for (size_t i = 0; i < s->statements.n; i++)
        forget(&s->statements.at[i]);
    hf_vec_release(&s->statements);
    for (unsigned i = 0; i < N_COMMANDS; i++)
        sqlite3_finalize(s->commands[i]);
    sqlite3_close(s->at); /* rolls back */
    hf_free(s);
}

static hf_status connect_session(hf_db *db, unsigned client,
                                 hf_db_session **ret, hf_error *err)
{
    database *d = (database *)(void *)db;
    session *s = HF_NEW(session);
    hf_status status = hf_sqlite_file_connect(&d->file, &s->at, err);

    if (status != HF_OK) {
        hf_free(s);
        return status;
    }
    s->base.db = db;
    s->base.client = client;
    s->member.client = client;
    s->member.wake = wake;
    sqlite3_busy_handler(s->at, busy, s);
    sqlite3_progress_handler(s->at, 20000, progress, s);
    hf_db_roster_join(&d->roster, &s->member);
    *ret = &s->base;
    return HF_OK;
}

static void interrupt(hf_db_session *base)
{
    session *s = (session *)(void *)base;

    atomic_store(&s->member.cut, true);
    sqlite3_interrupt(s->at);
}

/* ---- answers ------------------------------------------------------------- */

/* Nothing of the transaction stays. */
static void roll_back(session *s)
{
    s->deadline = UINT64_MAX;
    if (!sqlite3_get_autocommit(s->at))
        (void)sqlite3_exec(s->at, "ROLLBACK", NULL, NULL, NULL);
}

static hf_db_status status_of(const session *s, int code)
{
    if (atomic_load(&s->member.cut))
        return HF_DB_LOST;
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return HF_DB_ABORTED;
    case SQLITE_CONSTRAINT:
        return HF_DB_REFUSED;
    case SQLITE_INTERRUPT: /* the deadline */
        return HF_DB_LOST;
    default:
        return HF_DB_FAILED;
    }
}

/* Tells what went wrong; the transaction is over unless it was refused. */
static void explain(session *s, int code, hf_db_answer *ret)
{
    hf_db_status status = status_of(s, code);
    char number[16];

    (void)snprintf(number, sizeof(number), "%d", code);
    if (status == HF_DB_LOST)
        hf_db_answer_set(ret, status, number,
                         atomic_load(&s->member.cut)
                             ? "interrupted"
                             : "the call took too long");
    else
        hf_db_answer_set(ret, status, number, "%s", sqlite3_errmsg(s->at));
    if (status != HF_DB_REFUSED)
        roll_back(s);
    if (status == HF_DB_LOST)
        atomic_store(&s->member.cut, true);
}

/* A call begins; false: the session is of no use any more. */
static bool start_call(session *s, hf_db_answer *ret)
{
    hf_db_answer_ok(ret);
    if (atomic_load(&s->member.cut)) {
        explain(s, SQLITE_INTERRUPT, ret);
        return false;
    }
    s->deadline = hf_db_deadline(s->base.db);
    return true;
}

/* A step; locks of the shared cache are waited for here, as SQLite does not. */
static int step(session *s, sqlite3_stmt *at, bool first)
{
    uint64_t limit = 0, pause = 20000;
    int code = sqlite3_step(at);

    while (first && (code & 0xff) == SQLITE_LOCKED) {
        uint64_t now = hf_db_clock();

        limit = limit ? limit : now + LOCKED_WAIT;
        if (now > limit || is_over(s))
            break;
        sqlite3_reset(at);
        hf_db_sleep(pause);
        pause = pause < 1000000 ? pause * 2 : pause;
        code = sqlite3_step(at);
    }
    return code;
}

/* ---- statements ---------------------------------------------------------- */

/* Made on first use; by number, unless its text has become another. */
static int prepare(session *s, const hf_db_statement *statement, prepared **ret)
{
    prepared *p;
    hf_out text;
    int code, n;

    while (s->statements.n <= statement->number)
        hf_vec_push(&s->statements, (prepared){0});
    p = *ret = &s->statements.at[statement->number];
    if (p->sql && strcmp(p->sql, statement->sql) == 0)
        return SQLITE_OK;
    forget(p);
    hf_out_init_memory(&text);
    hf_sqlite_rewrite(statement->sql, &text);
    for (;;) {
        code = sqlite3_prepare_v3(s->at, text.at, (int)text.n,
                                  SQLITE_PREPARE_PERSISTENT, &p->at, NULL);
        if ((code & 0xff) != SQLITE_LOCKED || is_over(s))
            break;
        hf_db_sleep(100000); /* somebody changes the schema */
    }
    hf_out_release(&text);
    if (code != SQLITE_OK)
        return code;
    n = sqlite3_column_count(p->at);
    p->columns = HF_NEW_ZEROED(hf_sqlite_column, (size_t)n + 1);
    for (int i = 0; i < n; i++)
        hf_sqlite_declare(sqlite3_column_decltype(p->at, i), &p->columns[i]);
    p->writes = !sqlite3_stmt_readonly(p->at);
    p->sql = hf_alloc(strlen(statement->sql) + 1);
    memcpy(p->sql, statement->sql, strlen(statement->sql) + 1);
    return SQLITE_OK;
}

/* All rows; the last code. */
static int fetch(session *s, const prepared *p, hf_sql_result *rows)
{
    int n = sqlite3_column_count(p->at), code;
    uint64_t room = 0;
    bool first = true;

    hf_db_rows_start(rows, (uint32_t)n);
    for (int i = 0; i < n; i++) {
        const char *name = sqlite3_column_name(p->at, i);

        name = name ? name : "";
        rows->names[i] = (hf_str){
            hf_arena_text(&rows->arena, name, strlen(name)), strlen(name)};
    }
    while ((code = step(s, p->at, first)) == SQLITE_ROW) {
        hf_sql_value *row = hf_db_rows_add(rows, &room);

        first = false;
        for (int i = 0; i < n; i++)
            row[i] = hf_sqlite_cell(p->at, i, &p->columns[i], &rows->arena);
    }
    return code;
}

static void execute(hf_db_session *base, const hf_db_statement *statement,
                    const hf_sql_value *params, uint32_t n_params,
                    hf_sql_result *rows, hf_db_answer *ret)
{
    session *s = (session *)(void *)base;
    sqlite3_int64 before;
    prepared *p;
    int code;

    hf_db_rows_start(rows, 0);
    if (!start_call(s, ret))
        return;
    code = prepare(s, statement, &p);
    if (code == SQLITE_OK &&
        sqlite3_bind_parameter_count(p->at) > (int)n_params) {
        hf_db_answer_set(ret, HF_DB_FAILED, "", "too few parameters: %s",
                         statement->sql);
        return;
    }
    for (int i = 1;
         code == SQLITE_OK && i <= sqlite3_bind_parameter_count(p->at); i++)
        code = hf_sqlite_bind(p->at, i, &params[i - 1]);
    if (code == SQLITE_OK) {
        before = sqlite3_total_changes64(s->at);
        code = fetch(s, p, rows);
        if (code == SQLITE_DONE && p->writes)
            rows->affected =
                (uint64_t)(sqlite3_total_changes64(s->at) - before);
        if (code != SQLITE_DONE)
            explain(s, code, ret);
        sqlite3_reset(p->at);
    } else {
        explain(s, code, ret);
    }
    if (ret->status != HF_DB_OK)
        rows->n_rows = 0;
}

/* ---- transactions -------------------------------------------------------- */

static const char *const commands[] = {
    "BEGIN",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "PRAGMA read_uncommitted = 0",
    "PRAGMA read_uncommitted = 1",
};

/* Without parameters and rows. */
static int run_command(session *s, command which)
{
    sqlite3_stmt **at = &s->commands[which];
    int code = SQLITE_OK;

    if (!*at)
        code = sqlite3_prepare_v3(s->at, commands[which], -1,
                                  SQLITE_PREPARE_PERSISTENT, at, NULL);
    if (code == SQLITE_OK) {
        code = step(s, *at, true);
        sqlite3_reset(*at);
    }
    return code;
}

static int set_dirty_reads(session *s, bool on)
{
    if (s->dirty_reads == on)
        return SQLITE_DONE;
    s->dirty_reads = on;
    return run_command(s, on ? DIRTY_READS : CLEAN_READS);
}

static void begin(hf_db_session *base, hf_db_level level, bool read_only,
                  hf_db_answer *ret)
{
    session *s = (session *)(void *)base;
    const database *d = (const database *)(const void *)s->base.db;
    int code;

    if (!start_call(s, ret))
        return;
    if (level != HF_DB_DEFAULT && level != HF_DB_SERIALIZABLE &&
        level != HF_DB_READ_UNCOMMITTED) {
        hf_db_answer_set(ret, HF_DB_FAILED, "", "SQLite has no level \"%s\"",
                         hf_db_level_name(level));
        return;
    }
    code = set_dirty_reads(s, level == HF_DB_READ_UNCOMMITTED);
    if (code == SQLITE_DONE)
        code = run_command(
            s, read_only || d->file.variant->deferred ? BEGIN : IMMEDIATE);
    if (code != SQLITE_DONE)
        explain(s, code, ret);
}

/* Cut off before the commit or after it: the client cannot tell. */
static void commit_unheard(session *s, hf_db_answer *ret)
{
    if (hf_mix64(hf_db_clock()) & 1 && !sqlite3_get_autocommit(s->at)) {
        s->deadline = UINT64_MAX;
        (void)sqlite3_exec(s->at, "COMMIT", NULL, NULL, NULL);
    }
    explain(s, SQLITE_INTERRUPT, ret);
}

static void commit(hf_db_session *base, hf_db_answer *ret)
{
    session *s = (session *)(void *)base;
    int code;

    if (atomic_load(&s->member.cut)) {
        commit_unheard(s, ret);
        return;
    }
    if (!start_call(s, ret))
        return;
    code = run_command(s, COMMIT);
    if (code != SQLITE_DONE)
        explain(s, code, ret);
}

static void abort_transaction(hf_db_session *base, hf_db_answer *ret)
{
    session *s = (session *)(void *)base;

    roll_back(s);
    (void)start_call(s, ret);
}

/* ---- faults -------------------------------------------------------------- */

static bool can_fault(hf_db *db, hf_db_fault f, char *why, size_t size)
{
    (void)db;
    return hf_db_only_cuts(f, "SQLite", why, size);
}

static hf_status fault(hf_db *db, hf_db_fault f, uint64_t seed, bool start,
                       hf_error *err)
{
    if (f != HF_FAULT_CUT_CLIENT)
        return hf_fail(err, HF_ERR_UNSUPPORTED, "SQLite has no server");
    if (start)
        hf_db_roster_cut(&((database *)(void *)db)->roster, db, seed);
    return HF_OK;
}

/* ---- the driver ---------------------------------------------------------- */

static const hf_db_promise promises[] = {
    {HF_DB_SERIALIZABLE, HF_STRICT_SERIALIZABLE,
     "sqlite.org/isolation.html: transactions are serializable, and see all "
     "that was committed before"},
    {HF_DB_READ_UNCOMMITTED, HF_READ_UNCOMMITTED,
     "sqlite.org/sharedcache.html, 2.2.1"},
};

static const char *const variant_names[] = {
    "wal",          "rollback",          "shared-cache",
    "wal-deferred", "rollback-deferred", NULL};

const hf_db_driver hf_db_sqlite = {
    .name = "sqlite",
    .summary = "SQLite, in this process: wal, rollback, shared-cache, "
               "wal-deferred, rollback-deferred",
    .package = "libsqlite3-0",
    .heeds = HF_DB_HEEDS_ADDRESS | HF_DB_HEEDS_DEADLINE | HF_DB_HEEDS_KEEP,
    .variants = variant_names,
    .keeps = HF_REST_LINEARIZABLE,
    .promises = promises,
    .n_promises = sizeof(promises) / sizeof(promises[0]),
    .open = open_database,
    .close = close_database,
    .describe = describe,
    .reset = reset,
    .connect = connect_session,
    .disconnect = disconnect,
    .interrupt = interrupt,
    .begin = begin,
    .execute = execute,
    .commit = commit,
    .abort = abort_transaction,
    .can_fault = can_fault,
    .fault = fault,
};
