/* test_db.c: every driver that needs no server: open, transactions of two
 * sessions, conflicts, refusals, interrupts, and nothing left behind. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "db/common.h"
#include "db/db.h"
#include "sql/value.h"

static char parent[] = "/tmp/holdfast-test-db-XXXXXX";

/* ---- helpers ------------------------------------------------------------- */

typedef struct fixture {
    hf_db *db;
    hf_db_session *s[2];
    hf_sql_result rows;
    hf_db_answer answer;
} fixture;

enum { CREATE, INSERT, READ, WRITE, ADD, REMOVE, UPSERT, SCAN, RAISE, LOCK };
static const hf_db_statement statements[] = {
    {CREATE,
     "CREATE TABLE kv (k BIGINT PRIMARY KEY, v BIGINT NOT NULL, "
     "_tag BIGINT NOT NULL)",
     0, false},
    {INSERT, "INSERT INTO kv (k, v, _tag) VALUES ($1, $2, $3)", 3, false},
    {READ, "SELECT _tag, v FROM kv WHERE k = $1", 1, true},
    {WRITE, "UPDATE kv SET v = $2, _tag = $3 WHERE k = $1", 3, false},
    {ADD, "UPDATE kv SET v = v + $2, _tag = $3 WHERE k = $1", 3, false},
    {REMOVE, "DELETE FROM kv WHERE k = $1", 1, false},
    {UPSERT,
     "INSERT INTO kv (k, v, _tag) VALUES ($1, $2, $3) ON CONFLICT (k) DO "
     "UPDATE SET v = excluded.v, _tag = excluded._tag",
     3, false},
    {SCAN, "SELECT _tag, k, v FROM kv WHERE v >= $1 ORDER BY k", 1, true},
    {RAISE, "UPDATE kv SET v = v + 1 WHERE v >= $1", 1, false},
    {LOCK, "SELECT _tag, k, v FROM kv WHERE k >= $1 FOR UPDATE", 1, true},
};

static hf_db_status run(fixture *f, unsigned who, unsigned which, int64_t a,
                        int64_t b, int64_t c)
{
    const hf_sql_value params[] = {hf_sql_of_int(a), hf_sql_of_int(b),
                                   hf_sql_of_int(c)};

    f->db->driver->execute(f->s[who], &statements[which], params,
                           statements[which].n_params, &f->rows, &f->answer);
    return f->answer.status;
}

static hf_db_status begin(fixture *f, unsigned who, hf_db_level level,
                          bool read_only)
{
    f->db->driver->begin(f->s[who], level, read_only, &f->answer);
    return f->answer.status;
}

static hf_db_status commit(fixture *f, unsigned who)
{
    f->db->driver->commit(f->s[who], &f->answer);
    return f->answer.status;
}

static hf_db_status roll_back(fixture *f, unsigned who)
{
    f->db->driver->abort(f->s[who], &f->answer);
    return f->answer.status;
}

/* The value of the one row, or -1 without rows. */
static int64_t value(const fixture *f, unsigned column)
{
    return f->rows.n_rows == 1 ? f->rows.cells[column].integer : -1;
}

static void put(fixture *f, int64_t k, int64_t v)
{
    assert_int_equal(begin(f, 0, HF_DB_DEFAULT, false), HF_DB_OK);
    assert_int_equal(run(f, 0, INSERT, k, v, 0), HF_DB_OK);
    assert_int_equal(f->rows.affected, 1);
    assert_int_equal(commit(f, 0), HF_DB_OK);
}

static void start_with(fixture *f, const char *name, hf_db_options o)
{
    hf_error err = {0};

    *f = (fixture){0};
    o.directory = parent;
    if (hf_db_open(name, &o, &f->db, &err) != HF_OK)
        fail_msg("%s: %s", name, err.text);
    assert_int_equal(f->db->driver->reset(f->db, &err), HF_OK);
    for (unsigned i = 0; i < 2; i++)
        if (f->db->driver->connect(f->db, i, &f->s[i], &err) != HF_OK)
            fail_msg("%s: %s", name, err.text);
    hf_sql_result_init(&f->rows);
    if (run(f, 0, CREATE, 0, 0, 0) != HF_DB_OK)
        fail_msg("%s: %s", name, f->answer.text);
    put(f, 1, 10);
    put(f, 2, 20);
}

static void start(fixture *f, const char *name, const char *variant)
{
    start_with(f, name,
               (hf_db_options){.variant = variant,
                               .call_seconds = 0.3,
                               .clients = 2,
                               .level = HF_SERIALIZABLE});
}

static unsigned entries(const char *path)
{
    DIR *d = opendir(path);
    const struct dirent *e;
    unsigned n = 0;

    assert_non_null(d);
    while ((e = readdir(d)))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void finish(fixture *f)
{
    hf_sql_result_release(&f->rows);
    for (unsigned i = 0; i < 2; i++)
        f->db->driver->disconnect(f->s[i]);
    f->db->driver->disconnect(NULL);
    hf_db_close(f->db);
    assert_int_equal(entries(parent), 0);
}

/* ---- what all of them do ------------------------------------------------- */

static void works(const char *name, const char *variant)
{
    hf_db_description d;
    fixture f;

    start(&f, name, variant);
    f.db->driver->describe(f.db, &d);
    assert_true(d.product[0] != '\0' && d.where[0] != '\0' && d.nodes == 1);

    /* own writes, commit, another session */
    assert_int_equal(begin(&f, 0, HF_DB_DEFAULT, false), HF_DB_OK);
    assert_int_equal(run(&f, 0, READ, 1, 0, 0), HF_DB_OK);
    assert_int_equal(f.rows.n_columns, 2);
    assert_int_equal(value(&f, 1), 10);
    assert_int_equal(run(&f, 0, WRITE, 1, 11, 7), HF_DB_OK);
    assert_int_equal(f.rows.affected, 1);
    assert_int_equal(run(&f, 0, READ, 1, 0, 0), HF_DB_OK);
    assert_int_equal(value(&f, 0), 7);
    assert_int_equal(commit(&f, 0), HF_DB_OK);
    assert_int_equal(begin(&f, 1, HF_DB_DEFAULT, true), HF_DB_OK);
    assert_int_equal(run(&f, 1, READ, 1, 0, 0), HF_DB_OK);
    assert_int_equal(value(&f, 1), 11);
    assert_int_equal(run(&f, 1, READ, 3, 0, 0), HF_DB_OK);
    assert_int_equal(f.rows.n_rows, 0);
    assert_int_equal(commit(&f, 1), HF_DB_OK);

    /* absent rows, removal, upsert, abort */
    assert_int_equal(begin(&f, 0, HF_DB_DEFAULT, false), HF_DB_OK);
    assert_int_equal(run(&f, 0, WRITE, 9, 1, 1), HF_DB_OK);
    assert_int_equal(f.rows.affected, 0);
    assert_int_equal(run(&f, 0, REMOVE, 2, 0, 0), HF_DB_OK);
    assert_int_equal(f.rows.affected, 1);
    assert_int_equal(run(&f, 0, READ, 2, 0, 0), HF_DB_OK);
    assert_int_equal(f.rows.n_rows, 0);
    assert_int_equal(run(&f, 0, UPSERT, 2, 21, 8), HF_DB_OK);
    assert_int_equal(run(&f, 0, UPSERT, 1, 12, 9), HF_DB_OK);
    assert_int_equal(run(&f, 0, READ, 2, 0, 0), HF_DB_OK);
    assert_int_equal(value(&f, 1), 21);
    assert_int_equal(roll_back(&f, 0), HF_DB_OK);
    assert_int_equal(begin(&f, 1, HF_DB_DEFAULT, true), HF_DB_OK);
    assert_int_equal(run(&f, 1, READ, 1, 0, 0), HF_DB_OK);
    assert_int_equal(value(&f, 1), 11);
    assert_int_equal(run(&f, 1, READ, 2, 0, 0), HF_DB_OK);
    assert_int_equal(value(&f, 1), 20);
    assert_int_equal(commit(&f, 1), HF_DB_OK);

    /* a duplicate key */
    assert_int_equal(begin(&f, 0, HF_DB_DEFAULT, false), HF_DB_OK);
    assert_int_equal(run(&f, 0, INSERT, 1, 5, 5), HF_DB_REFUSED);
    assert_true(f.answer.text[0] != '\0');
    assert_int_equal(roll_back(&f, 0), HF_DB_OK);

    /* a sum of more than 32 bits */
    assert_int_equal(begin(&f, 0, HF_DB_DEFAULT, false), HF_DB_OK);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(run(&f, 0, ADD, 1, 2000000000, 1), HF_DB_OK);
    assert_int_equal(run(&f, 0, READ, 1, 0, 0), HF_DB_OK);
    assert_int_equal(value(&f, 1), 6000000011);
    assert_int_equal(roll_back(&f, 0), HF_DB_OK);

    /* bad SQL, and a number whose text is another now */
    f.db->driver->execute(f.s[0],
                          &(hf_db_statement){READ, "SELEC nonsense", 0, true},
                          NULL, 0, &f.rows, &f.answer);
    assert_int_equal(f.answer.status, HF_DB_FAILED);
    assert_int_equal(begin(&f, 0, HF_DB_DEFAULT, true), HF_DB_OK);
    assert_int_equal(run(&f, 0, READ, 1, 0, 0), HF_DB_OK);
    assert_int_equal(value(&f, 1), 11);
    assert_int_equal(commit(&f, 0), HF_DB_OK);
    finish(&f);
}

/* Interrupted: LOST, and nothing of it stays; a new session works. */
static void interrupts(const char *name, const char *variant)
{
    hf_error err;
    fixture f;

    start(&f, name, variant);
    assert_int_equal(begin(&f, 0, HF_DB_DEFAULT, false), HF_DB_OK);
    assert_int_equal(run(&f, 0, WRITE, 1, 99, 7), HF_DB_OK);
    f.db->driver->interrupt(f.s[0]);
    assert_int_equal(run(&f, 0, READ, 1, 0, 0), HF_DB_LOST);
    f.db->driver->disconnect(f.s[0]);
    assert_int_equal(f.db->driver->connect(f.db, 0, &f.s[0], &err), HF_OK);
    assert_int_equal(begin(&f, 0, HF_DB_DEFAULT, false), HF_DB_OK);
    assert_int_equal(run(&f, 0, READ, 1, 0, 0), HF_DB_OK);
    assert_int_equal(value(&f, 1), 10);

    /* a fault cuts one of the two: LOST at its commit, sooner or later */
    assert_true(f.db->driver->can_fault(f.db, HF_FAULT_CUT_CLIENT, NULL, 0));
    assert_int_equal(
        f.db->driver->fault(f.db, HF_FAULT_CUT_CLIENT, 1, true, &err), HF_OK);
    assert_int_equal(
        f.db->driver->fault(f.db, HF_FAULT_CUT_CLIENT, 1, false, &err), HF_OK);
    assert_true((commit(&f, 0) == HF_DB_LOST) +
                    (begin(&f, 1, HF_DB_DEFAULT, true) == HF_DB_LOST) ==
                1);
    finish(&f);
}

typedef struct waiter {
    hf_db *db;
    hf_db_session *s;
} waiter;

static void *interrupt_soon(void *user)
{
    const waiter *w = user;

    usleep(20000);
    w->db->driver->interrupt(w->s);
    return NULL;
}

static const char *const rocksdb_variants[] = {"pessimistic", "optimistic"};

static bool has_rocksdb(void)
{
    hf_error err;
    hf_db *db;

    if (hf_db_open("rocksdb", &(hf_db_options){.directory = parent}, &db,
                   &err) == HF_ERR_UNSUPPORTED)
        return false;
    hf_db_close(db);
    return true;
}

/* ---- many at once -------------------------------------------------------- */

#define ROWS 6
#define THREADS 4

typedef struct mover {
    hf_db *db;
    unsigned number, done, aborted, lost;
    bool failed;
} mover;

/* One unit from row a to row b; what became of it. */
static hf_db_status move_one(fixture *f, int64_t a, int64_t b, int64_t tag)
{
    int64_t x, y;

    if (begin(f, 0, HF_DB_SERIALIZABLE, false) != HF_DB_OK ||
        run(f, 0, READ, a, 0, 0) != HF_DB_OK)
        return f->answer.status;
    x = value(f, 1);
    if (run(f, 0, READ, b, 0, 0) != HF_DB_OK)
        return f->answer.status;
    y = value(f, 1);
    if (run(f, 0, WRITE, a, x - 1, tag) != HF_DB_OK ||
        run(f, 0, WRITE, b, y + 1, tag) != HF_DB_OK)
        return f->answer.status;
    return commit(f, 0);
}

/* Until 100 moves are done, or too many were not. */
static void *move_many(void *user)
{
    mover *m = user;
    fixture f = {.db = m->db};
    hf_error err;

    hf_sql_result_init(&f.rows);
    m->failed = m->db->driver->connect(m->db, m->number, &f.s[0], &err);
    for (unsigned i = 0; m->done < 100 && i < 20000 && !m->failed; i++) {
        int64_t a = 1 + (i + m->number) % ROWS;

        switch (move_one(&f, a, 1 + (a + i / 7 % (ROWS - 1)) % ROWS, i)) {
        case HF_DB_OK:
            m->done++;
            break;
        case HF_DB_ABORTED:
            m->aborted++;
            break;
        case HF_DB_LOST:
            m->lost++;
            m->db->driver->disconnect(f.s[0]);
            f.s[0] = NULL;
            m->failed = m->db->driver->connect(m->db, m->number, &f.s[0], &err);
            break;
        default:
            m->failed = true;
        }
    }
    m->db->driver->disconnect(f.s[0]);
    hf_sql_result_release(&f.rows);
    return NULL;
}

/* Nothing is lost or found, though clients are cut off. */
static void many(const char *name, const char *variant)
{
    mover movers[THREADS];
    pthread_t threads[THREADS];
    int64_t sum = 0;
    hf_error err;
    fixture f;

    start_with(&f, name,
               (hf_db_options){.variant = variant,
                               .clients = THREADS,
                               .level = HF_SERIALIZABLE,
                               .seed = 7});
    for (int64_t k = 3; k <= ROWS; k++)
        put(&f, k, 10 * k);
    for (unsigned i = 0; i < THREADS; i++) {
        movers[i] = (mover){.db = f.db, .number = i + 2};
        pthread_create(&threads[i], NULL, move_many, &movers[i]);
    }
    for (unsigned i = 0; i < 10; i++) {
        usleep(2000);
        (void)f.db->driver->fault(f.db, HF_FAULT_CUT_CLIENT, i, true, &err);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(movers[i].failed);
        assert_int_equal(movers[i].done, 100);
    }
    /* the own session may be one of those that were cut */
    f.db->driver->disconnect(f.s[0]);
    assert_int_equal(f.db->driver->connect(f.db, 0, &f.s[0], &err), HF_OK);
    assert_int_equal(begin(&f, 0, HF_DB_SERIALIZABLE, true), HF_DB_OK);
    for (int64_t k = 1; k <= ROWS; k++) {
        assert_int_equal(run(&f, 0, READ, k, 0, 0), HF_DB_OK);
        sum += value(&f, 1);
    }
    assert_int_equal(commit(&f, 0), HF_DB_OK);
    assert_int_equal(sum, 10 * ROWS * (ROWS + 1) / 2);
    finish(&f);
}

static void many_at_once(void **state)
{
    (void)state;
    many("sqlite", "wal");
    many("sqlite", "wal-deferred");
    many("sqlite", "shared-cache");
    many("sqlite-processes", "wal");
    many("sqlite-processes", "rollback");
    many("store", NULL);
    if (has_rocksdb()) {
        many("rocksdb", "pessimistic");
        many("rocksdb", "optimistic");
    }
}

/* ---- SQLite -------------------------------------------------------------- */

static const char *const sqlite_variants[] = {
    "wal", "rollback", "shared-cache", "wal-deferred", "rollback-deferred"};

static void sqlite_works(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        works("sqlite", sqlite_variants[i]);
        interrupts("sqlite", sqlite_variants[i]);
    }
}

/* Each client is a process; one that is killed leaves nothing half done. */
static void sqlite_processes_work(void **state)
{
    static const char *const where[] = {"wal", "rollback", "wal-deferred"};
    hf_error err = {0};
    hf_db *db;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        works("sqlite-processes", where[i]);
        interrupts("sqlite-processes", where[i]);
    }
    assert_int_equal(hf_db_open("sqlite-processes",
                                &(hf_db_options){.variant = "shared-cache"},
                                &db, &err),
                     HF_ERR_USAGE);
    assert_non_null(strstr(err.text, "one process"));
}

static void sqlite_conflicts(void **state)
{
    pthread_t thread;
    waiter w;
    fixture f;

    (void)state;
    /* two writers: the second waits until its deadline */
    start(&f, "sqlite", "wal");
    assert_int_equal(begin(&f, 0, HF_DB_SERIALIZABLE, false), HF_DB_OK);
    assert_int_equal(begin(&f, 1, HF_DB_SERIALIZABLE, false), HF_DB_ABORTED);
    assert_string_equal(f.answer.code, "5");
    /* or until somebody interrupts it */
    w = (waiter){f.db, f.s[1]};
    pthread_create(&thread, NULL, interrupt_soon, &w);
    assert_int_equal(begin(&f, 1, HF_DB_SERIALIZABLE, false), HF_DB_LOST);
    pthread_join(thread, NULL);
    assert_int_equal(commit(&f, 0), HF_DB_OK);
    assert_int_equal(begin(&f, 0, HF_DB_SNAPSHOT, false), HF_DB_FAILED);
    finish(&f);

    /* a stale reader may not write */
    start(&f, "sqlite", "wal-deferred");
    assert_int_equal(begin(&f, 0, HF_DB_SERIALIZABLE, false), HF_DB_OK);
    assert_int_equal(run(&f, 0, READ, 1, 0, 0), HF_DB_OK);
    assert_int_equal(begin(&f, 1, HF_DB_SERIALIZABLE, false), HF_DB_OK);
    assert_int_equal(run(&f, 1, WRITE, 2, 5, 5), HF_DB_OK);
    assert_int_equal(commit(&f, 1), HF_DB_OK);
    assert_int_equal(run(&f, 0, WRITE, 1, 5, 5), HF_DB_ABORTED);
    assert_string_equal(f.answer.code, "517");
    assert_int_equal(begin(&f, 0, HF_DB_SERIALIZABLE, false), HF_DB_OK);
    assert_int_equal(commit(&f, 0), HF_DB_OK);
    finish(&f);
}

static void sqlite_dirty_reads(void **state)
{
    fixture f;

    (void)state;
    start(&f, "sqlite", "shared-cache");
    assert_int_equal(begin(&f, 0, HF_DB_SERIALIZABLE, false), HF_DB_OK);
    assert_int_equal(run(&f, 0, WRITE, 1, 66, 6), HF_DB_OK);
    assert_int_equal(begin(&f, 1, HF_DB_READ_UNCOMMITTED, true), HF_DB_OK);
    assert_int_equal(run(&f, 1, READ, 1, 0, 0), HF_DB_OK);
    assert_int_equal(value(&f, 1), 66);
    assert_int_equal(commit(&f, 1), HF_DB_OK);
    assert_int_equal(begin(&f, 1, HF_DB_SERIALIZABLE, true), HF_DB_OK);
    assert_int_equal(run(&f, 1, READ, 1, 0, 0), HF_DB_ABORTED);
    assert_int_equal(roll_back(&f, 0), HF_DB_OK);
    finish(&f);
}

static void sqlite_types(void **state)
{
    static const hf_db_statement create = {
        10,
        "CREATE TABLE t (a INT PRIMARY KEY, d DECIMAL(12,2), b BOOLEAN, "
        "s VARCHAR(20))",
        0, false};
    static const hf_db_statement insert = {
        11, "INSERT INTO t (a, d, b, s) VALUES ($1, $2, $3, $4)", 4, false};
    static const hf_db_statement select = {
        12, "SELECT d, b, s, '$1' FROM t WHERE s = $2 AND a = $1", 2, true};
    const hf_sql_value row[] = {hf_sql_of_int(1), hf_sql_of_decimal(1230, 2),
                                hf_sql_of_bool(true),
                                hf_sql_of_text(HF_STR("it's"))};
    const hf_sql_value key[] = {hf_sql_of_int(1),
                                hf_sql_of_text(HF_STR("it's"))};
    fixture f;

    (void)state;
    start(&f, "sqlite", NULL);
    f.db->driver->execute(f.s[0], &create, NULL, 0, &f.rows, &f.answer);
    assert_int_equal(f.answer.status, HF_DB_OK);
    f.db->driver->execute(f.s[0], &insert, row, 4, &f.rows, &f.answer);
    assert_int_equal(f.answer.status, HF_DB_OK);
    f.db->driver->execute(f.s[0], &select, key, 2, &f.rows, &f.answer);
    assert_int_equal(f.answer.status, HF_DB_OK);
    assert_int_equal(f.rows.n_rows, 1);
    assert_int_equal(f.rows.cells[0].type, HF_SQL_DECIMAL);
    assert_int_equal(f.rows.cells[0].scale, 2);
    assert_true(f.rows.cells[0].decimal == 1230);
    assert_int_equal(f.rows.cells[1].type, HF_SQL_BOOL);
    assert_true(hf_str_eq(hf_sql_text_of(&f.rows.cells[2]), HF_STR("it's")));
    assert_true(hf_str_eq(hf_sql_text_of(&f.rows.cells[3]), HF_STR("$1")));
    finish(&f);
}

/* A file that is not ours stays as it is; one that we made goes. */
static void sqlite_addresses(void **state)
{
    char path[100], name[120];
    hf_error err = {0};
    hf_db *db, *other;
    FILE *file;

    (void)state;
    snprintf(path, sizeof(path), "%s/foreign.db", parent);
    snprintf(name, sizeof(name), "sqlite:%s", path);
    file = fopen(path, "w");
    fputs("this is not a database at all, and it must stay as it is", file);
    fclose(file);
    assert_int_not_equal(hf_db_open(name, &(hf_db_options){0}, &db, &err),
                         HF_OK);
    assert_int_equal(access(path, F_OK), 0);
    unlink(path);

    assert_int_equal(hf_db_open(name, &(hf_db_options){0}, &db, &err), HF_OK);
    assert_int_equal(hf_db_open(name, &(hf_db_options){0}, &other, &err),
                     HF_OK);
    hf_db_close(other);
    assert_int_equal(access(path, F_OK), 0);
    hf_db_close(db);
    assert_int_equal(entries(parent), 0);
    assert_int_not_equal(
        hf_db_open("sqlite:/nowhere/at/all", &(hf_db_options){0}, &db, &err),
        HF_OK);
    assert_int_not_equal(
        hf_db_open("sqlite", &(hf_db_options){.variant = "odd"}, &db, &err),
        HF_OK);
}

/* ---- the store ----------------------------------------------------------- */

static void store_works(void **state)
{
    (void)state;
    works("store", NULL);
    works("store", "eager");
    interrupts("store", NULL);
}

static void start_store(fixture *f, hf_level level, const char *bug)
{
    start_with(f, "store",
               (hf_db_options){.level = level, .bug = bug, .clients = 2});
}

/* Both read what the other writes; does the second commit? */
static hf_db_status write_skew(hf_level level)
{
    hf_db_status status;
    fixture f;

    start_store(&f, level, NULL);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(begin(&f, i, HF_DB_DEFAULT, false), HF_DB_OK);
        assert_int_equal(run(&f, i, READ, 2 - i, 0, 0), HF_DB_OK);
        assert_int_equal(run(&f, i, WRITE, 1 + i, 5, 5), HF_DB_OK);
    }
    assert_int_equal(commit(&f, 0), HF_DB_OK);
    status = commit(&f, 1);
    finish(&f);
    return status;
}

/* Both add to one row; does the second commit? */
static hf_db_status lost_update(hf_level level, const char *bug)
{
    hf_db_status status;
    fixture f;

    start_store(&f, level, bug);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(begin(&f, i, HF_DB_DEFAULT, false), HF_DB_OK);
        assert_int_equal(run(&f, i, ADD, 1, 1, i), HF_DB_OK);
    }
    assert_int_equal(commit(&f, 0), HF_DB_OK);
    status = commit(&f, 1);
    finish(&f);
    return status;
}

/* One counts rows from 15 up and inserts one, the other does the same; at
 * serializable only one may.  `moves`: the second moves a row into the range
 * instead.  `last`: who commits last. */
static hf_db_status predicate_skew_of(hf_level level, const char *bug,
                                      bool moves, unsigned last)
{
    hf_db_status status;
    fixture f;

    start_store(&f, level, bug);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(begin(&f, i, HF_DB_DEFAULT, false), HF_DB_OK);
        assert_int_equal(run(&f, i, SCAN, 15, 0, 0), HF_DB_OK);
        assert_int_equal(f.rows.n_rows, 1);
        assert_int_equal(f.rows.cells[1].integer, 2);
        assert_int_equal(i == 1 && moves ? run(&f, i, WRITE, 1, 30, i)
                                         : run(&f, i, INSERT, 7 + i, 40, i),
                         HF_DB_OK);
    }
    assert_int_equal(commit(&f, 1 - last), HF_DB_OK);
    status = commit(&f, last);
    finish(&f);
    return status;
}

static hf_db_status predicate_skew(hf_level level, const char *bug, bool moves)
{
    hf_db_status status = predicate_skew_of(level, bug, moves, 0);

    assert_int_equal(predicate_skew_of(level, bug, moves, 1), status);
    return status;
}

static void store_levels(void **state)
{
    fixture f;

    (void)state;
    assert_int_equal(write_skew(HF_SERIALIZABLE), HF_DB_ABORTED);
    assert_int_equal(write_skew(HF_STRICT_SERIALIZABLE), HF_DB_ABORTED);
    assert_int_equal(write_skew(HF_SNAPSHOT_ISOLATION), HF_DB_OK);
    assert_int_equal(lost_update(HF_SNAPSHOT_ISOLATION, NULL), HF_DB_ABORTED);
    assert_int_equal(lost_update(HF_SNAPSHOT_ISOLATION, "lost-update"),
                     HF_DB_OK);
    assert_int_equal(lost_update(HF_REPEATABLE_READ, NULL), HF_DB_ABORTED);
    assert_int_equal(lost_update(HF_READ_COMMITTED, NULL), HF_DB_OK);
    for (int moves = 0; moves < 2; moves++) {
        assert_int_equal(predicate_skew(HF_SERIALIZABLE, NULL, moves),
                         HF_DB_ABORTED);
        assert_int_equal(predicate_skew(HF_SERIALIZABLE,
                                        "certifier-ignores-predicates", moves),
                         HF_DB_OK);
        assert_int_equal(predicate_skew(HF_SNAPSHOT_ISOLATION, NULL, moves),
                         HF_DB_OK);
    }

    start_store(&f, HF_SNAPSHOT_ISOLATION, NULL);
    assert_int_equal(hf_db_promise_of(f.db, HF_DB_DEFAULT)->promised,
                     HF_SNAPSHOT_ISOLATION);
    assert_null(hf_db_promise_of(f.db, HF_DB_SERIALIZABLE));
    assert_int_equal(hf_db_promise_of(f.db, HF_DB_READ_COMMITTED)->promised,
                     HF_READ_COMMITTED);
    assert_int_equal(begin(&f, 0, HF_DB_SERIALIZABLE, false), HF_DB_FAILED);
    assert_int_equal(begin(&f, 0, HF_DB_SNAPSHOT, false), HF_DB_OK);
    finish(&f);
}

/* Loaded rows are there at every replica. */
static void store_replicas(void **state)
{
    fixture f;

    (void)state;
    start_store(&f, HF_CAUSAL, NULL);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(begin(&f, i, HF_DB_DEFAULT, true), HF_DB_OK);
        assert_int_equal(run(&f, i, READ, 1, 0, 0), HF_DB_OK);
        assert_int_equal(value(&f, 1), 10);
        assert_int_equal(commit(&f, i), HF_DB_OK);
    }
    finish(&f);
}

static hf_db_status run_text(fixture *f, unsigned number, const char *sql)
{
    hf_db_statement s = {number, sql, 0, true};

    f->db->driver->execute(f->s[0], &s, NULL, 0, &f->rows, &f->answer);
    return f->answer.status;
}

/* The same statements on SQLite and on the store: the same answers. */
static void store_sql(void **state)
{
    static const char *const texts[] = {
        "CREATE TABLE l (a BIGINT NOT NULL, b INT NOT NULL, n VARCHAR(20), "
        "m INT, _tag BIGINT NOT NULL, PRIMARY KEY (a, b))",
        "CREATE INDEX l_n ON l (n)",
        "CREATE TABLE o (id BIGINT PRIMARY KEY, name VARCHAR(10) NOT NULL "
        "UNIQUE, _tag BIGINT NOT NULL)",
        "INSERT INTO l (a, b, n, m, _tag) VALUES (1, 1, 'x', 5, 0), (1, 2, "
        "'y', NULL, 0), (2, 1, 'it''s', 7, 0)",
        "INSERT INTO o (id, name, _tag) VALUES (1, 'one', 0), (2, 'two', 0)",
        "SELECT _tag, b, n, m FROM l WHERE a = 1 ORDER BY b",
        "SELECT _tag, m FROM l WHERE a = 2 AND b = 1 FOR UPDATE",
        "SELECT count(*), sum(m), max(b) FROM l",
        "SELECT id FROM o WHERE name = 'two'",
        "SELECT id, name FROM o WHERE id IN (2, 1, 2, 9) ORDER BY id",
        "SELECT l.b, o.name FROM l JOIN o ON o.id = l.a WHERE l.a = 1 AND "
        "o.id = 1 ORDER BY l.b",
        "SELECT o.id, l.n FROM o LEFT JOIN l ON l.a = o.id AND l.b = 2 ORDER "
        "BY o.id",
        "SELECT name FROM o WHERE id = (SELECT max(a) FROM l)",
        "UPDATE l SET m = m + 1, _tag = 3 WHERE a = 1",
        "SELECT b, m, _tag FROM l WHERE a = 1 ORDER BY b",
        "UPDATE l SET n = n || '!' WHERE m >= 6",
        "SELECT a, b, n FROM l WHERE n IS NOT NULL ORDER BY a, b",
        "DELETE FROM l WHERE a = 1 AND b = 1",
        "DELETE FROM l WHERE n = 'y'",
        "SELECT a, b FROM l ORDER BY a, b",
        "INSERT INTO l (a, b, n, m, _tag) VALUES (1, 1, 'new', 1, 9)",
        "INSERT INTO l (a, b, n, m, _tag) VALUES (1, 1, 'z', 4, 9) ON "
        "CONFLICT (a, b) DO UPDATE SET m = l.m + excluded.m",
        "INSERT INTO o (id, name, _tag) VALUES (2, 'deux', 4) ON CONFLICT "
        "(id) DO NOTHING",
        "INSERT INTO o (id, name, _tag) VALUES (3, 'three', 4) ON CONFLICT "
        "(id) DO UPDATE SET name = excluded.name, _tag = excluded._tag",
        "INSERT INTO o (id, name, _tag) VALUES (3, 'trois', 5) ON CONFLICT "
        "(id) DO UPDATE SET name = excluded.name, _tag = excluded._tag",
        "UPDATE o SET id = id + 10 WHERE id = 1",
        "SELECT id, name, _tag FROM o ORDER BY id",
        "SELECT a, b, n, m, _tag FROM l ORDER BY a, b",
        "INSERT INTO o (id, name, _tag) VALUES (2, 'again', 0)",
        "INSERT INTO l (a, b, n, m, _tag) VALUES (3, NULL, 'z', 4, 9)",
        "SELECT nothing FROM o",
        "SELECT 1 FROM nowhere",
        "DROP TABLE o",
        "SELECT id FROM o",
    };
    fixture f[2];

    (void)state;
    start(&f[0], "sqlite", NULL);
    start_store(&f[1], HF_SERIALIZABLE, NULL);
    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        hf_db_status a = run_text(&f[0], i, texts[i]);
        hf_db_status b = run_text(&f[1], i, texts[i]);
        const hf_sql_result *r = &f[0].rows, *s = &f[1].rows;

        if (a != b)
            fail_msg("%s: %s / %s", texts[i], f[0].answer.text,
                     f[1].answer.text);
        if (a != HF_DB_OK)
            continue;
        if (r->n_rows != s->n_rows || r->n_columns != s->n_columns ||
            r->affected != s->affected)
            fail_msg("%s: %u and %u rows, %u and %u affected", texts[i],
                     (unsigned)r->n_rows, (unsigned)s->n_rows,
                     (unsigned)r->affected, (unsigned)s->affected);
        for (uint64_t k = 0; k < r->n_rows * r->n_columns; k++)
            if (hf_sql_order(&r->cells[k], &s->cells[k]) != 0)
                fail_msg("%s: cell %u differs", texts[i], (unsigned)k);
    }
    hf_sql_result_release(&f[0].rows);
    f[0].db->driver->disconnect(f[0].s[0]);
    f[0].db->driver->disconnect(f[0].s[1]);
    hf_db_close(f[0].db);
    finish(&f[1]);
}

/* ---- RocksDB ------------------------------------------------------------- */

static void rocksdb_works(void **state)
{
    (void)state;
    if (!has_rocksdb())
        skip();
    works("rocksdb", "pessimistic");
    works("rocksdb", "optimistic");
    interrupts("rocksdb", NULL);
}

static void end_both(fixture *f)
{
    (void)roll_back(f, 0);
    (void)roll_back(f, 1);
}

static void put_back(fixture *f)
{
    assert_int_equal(run(f, 0, UPSERT, 1, 10, 0), HF_DB_OK);
    assert_int_equal(run(f, 0, UPSERT, 2, 20, 0), HF_DB_OK);
}

/* Each reads what the other writes; do they both commit? */
static bool rocksdb_skew(fixture *f, hf_db_level level)
{
    bool both = true;

    put_back(f);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(begin(f, i, level, false), HF_DB_OK);
        assert_int_equal(run(f, i, READ, 2 - i, 0, 0), HF_DB_OK);
        assert_int_equal(value(f, 1), i ? 10 : 20);
    }
    for (unsigned i = 0; i < 2 && both; i++) {
        both = run(f, i, WRITE, 1 + i, 5, 5) == HF_DB_OK;
        both = both && commit(f, i) == HF_DB_OK;
        if (!both)
            assert_int_equal(f->answer.status, HF_DB_ABORTED);
    }
    end_both(f);
    return both;
}

/* Both read a row and write it; do they both commit? */
static bool rocksdb_lost(fixture *f, hf_db_level level)
{
    bool both = true;

    put_back(f);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(begin(f, i, level, false), HF_DB_OK);
        assert_int_equal(run(f, i, READ, 1, 0, 0), HF_DB_OK);
    }
    for (unsigned i = 0; i < 2 && both; i++) {
        both = run(f, i, WRITE, 1, 11, 1) == HF_DB_OK;
        both = both && commit(f, i) == HF_DB_OK;
        if (!both)
            assert_int_equal(f->answer.status, HF_DB_ABORTED);
    }
    end_both(f);
    return both;
}

/* A reader of two rows: does it see one of them before and one after? */
static bool rocksdb_fractured(fixture *f, hf_db_level level)
{
    int64_t first;
    bool seen;

    put_back(f);
    assert_int_equal(begin(f, 0, level, true), HF_DB_OK);
    assert_int_equal(run(f, 0, READ, 1, 0, 0), HF_DB_OK);
    first = value(f, 1);
    assert_int_equal(begin(f, 1, HF_DB_SNAPSHOT, false), HF_DB_OK);
    seen = run(f, 1, WRITE, 1, 77, 1) == HF_DB_OK &&
           run(f, 1, WRITE, 2, 77, 1) == HF_DB_OK && commit(f, 1) == HF_DB_OK;
    assert_int_equal(run(f, 0, READ, 2, 0, 0), HF_DB_OK);
    seen = seen && first == 10 && value(f, 1) == 77;
    seen = commit(f, 0) == HF_DB_OK && seen;
    end_both(f);
    return seen;
}

static void rocksdb_levels(void **state)
{
    fixture f;

    (void)state;
    if (!has_rocksdb())
        skip();
    for (unsigned i = 0; i < 2; i++) {
        start(&f, "rocksdb", rocksdb_variants[i]);
        assert_true(rocksdb_skew(&f, HF_DB_SNAPSHOT));
        assert_false(rocksdb_skew(&f, HF_DB_SERIALIZABLE));
        assert_false(rocksdb_lost(&f, HF_DB_SNAPSHOT));
        assert_false(rocksdb_lost(&f, HF_DB_SERIALIZABLE));
        assert_true(rocksdb_lost(&f, HF_DB_READ_COMMITTED));
        assert_true(rocksdb_fractured(&f, HF_DB_READ_COMMITTED));
        assert_false(rocksdb_fractured(&f, HF_DB_SNAPSHOT));
        assert_false(rocksdb_fractured(&f, HF_DB_SERIALIZABLE));
        assert_int_equal(begin(&f, 0, HF_DB_SERIALIZABLE, false), HF_DB_OK);
        assert_int_equal(run(&f, 0, SCAN, 1, 0, 0), HF_DB_FAILED);
        assert_non_null(strstr(f.answer.text, "by their keys"));
        assert_int_equal(begin(&f, 0, HF_DB_REPEATABLE_READ, false),
                         HF_DB_FAILED);
        finish(&f);
    }
}

/* What the scan returned, as "k v, k v". */
static const char *scanned(const fixture *f)
{
    static char text[200];
    size_t n = 0;

    text[0] = '\0';
    for (uint64_t i = 0; i < f->rows.n_rows && n < sizeof(text); i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%lld %lld",
                              i ? ", " : "",
                              (long long)f->rows.cells[i * 3 + 1].integer,
                              (long long)f->rows.cells[i * 3 + 2].integer);
    return text;
}

/* A scan sees the snapshot and the transaction's own writes; without one what
 * is committed by then. */
static void rocksdb_scans(void **state)
{
    fixture f;

    (void)state;
    if (!has_rocksdb())
        skip();
    for (unsigned i = 0; i < 2; i++) {
        start(&f, "rocksdb", rocksdb_variants[i]);
        assert_int_equal(begin(&f, 0, HF_DB_SNAPSHOT, false), HF_DB_OK);
        assert_int_equal(run(&f, 1, UPSERT, 5, 50, 0), HF_DB_OK);
        assert_int_equal(run(&f, 1, REMOVE, 2, 0, 0), HF_DB_OK);
        assert_int_equal(run(&f, 0, SCAN, 1, 0, 0), HF_DB_OK);
        assert_string_equal(scanned(&f), "1 10, 2 20");
        assert_int_equal(run(&f, 0, UPSERT, -3, 30, 0), HF_DB_OK);
        assert_int_equal(run(&f, 0, REMOVE, 1, 0, 0), HF_DB_OK);
        assert_int_equal(run(&f, 0, SCAN, 1, 0, 0), HF_DB_OK);
        assert_string_equal(scanned(&f), "-3 30, 2 20");
        assert_int_equal(commit(&f, 0), HF_DB_OK);
        assert_int_equal(begin(&f, 0, HF_DB_READ_COMMITTED, false), HF_DB_OK);
        assert_int_equal(run(&f, 0, SCAN, 31, 0, 0), HF_DB_OK);
        assert_string_equal(scanned(&f), "5 50");
        assert_int_equal(run(&f, 1, UPSERT, 6, 60, 0), HF_DB_OK);
        assert_int_equal(run(&f, 0, SCAN, 31, 0, 0), HF_DB_OK);
        assert_string_equal(scanned(&f), "5 50, 6 60");
        assert_int_equal(commit(&f, 0), HF_DB_OK);

        /* of two that write what both have found one is aborted */
        for (unsigned k = 0; k < 2; k++)
            assert_int_equal(begin(&f, k, HF_DB_SNAPSHOT, false), HF_DB_OK);
        assert_int_equal(run(&f, 0, RAISE, 31, 0, 0), HF_DB_OK);
        assert_int_equal(f.rows.affected, 2);
        assert_true(
            run(&f, 1, RAISE, 55, 0, 0) == HF_DB_ABORTED ||
            (commit(&f, 0) == HF_DB_OK && commit(&f, 1) == HF_DB_ABORTED));
        end_both(&f);

        /* a locking read stands in the way of a write */
        for (unsigned k = 0; k < 2; k++)
            assert_int_equal(begin(&f, k, HF_DB_SNAPSHOT, false), HF_DB_OK);
        assert_int_equal(run(&f, 0, LOCK, 5, 0, 0), HF_DB_OK);
        assert_true(
            run(&f, 1, UPSERT, 5, 7, 7) == HF_DB_ABORTED ||
            (commit(&f, 1) == HF_DB_OK && commit(&f, 0) == HF_DB_ABORTED));
        end_both(&f);
        finish(&f);
    }
}

/* ---- any statement, as SQLite answers it --------------------------------- */

/* Parameters are drawn from a few small numbers. */
static const char *const any[] = {
    "CREATE TABLE two (a BIGINT NOT NULL, b BIGINT NOT NULL, c TEXT NOT NULL, "
    "v BIGINT NOT NULL, PRIMARY KEY (a, b, c))",
    "INSERT INTO two (a, b, c, v) VALUES ($1, $2, 'x', $3)",
    "INSERT INTO two (a, b, c, v) VALUES ($1, $2, 'x', $3), ($2, $1, 'yy', $4)",
    "INSERT INTO two (a, b, c, v) VALUES ($1, $2, 'x', $3), ($2, $1, 'yy', $4) "
    "ON CONFLICT (a, b, c) DO UPDATE SET v = two.v + excluded.v",
    "INSERT INTO two (a, b, c, v) VALUES ($1, $2, 'yy', $3) ON CONFLICT "
    "(a, b, c) DO NOTHING",
    "SELECT a, b, c, v FROM two ORDER BY a, b, c",
    "SELECT a, b, c, v FROM two WHERE a = $1 ORDER BY b, c",
    "SELECT b, v FROM two WHERE a = $1 AND b BETWEEN $2 AND $3 ORDER BY b, c",
    "SELECT a, v FROM two WHERE a > $1 AND $2 >= a ORDER BY a, b, c",
    "SELECT a, v FROM two WHERE a = $1 AND b = $2 AND c >= 'x' ORDER BY c",
    "SELECT a, v FROM two WHERE a = $1 AND b = $2 AND c = 'yy'",
    "SELECT a, v FROM two WHERE a >= $1 AND v < $2 ORDER BY a, b, c",
    "SELECT count(*), max(v) FROM two WHERE a <> $1 AND b < $2",
    "SELECT x.a, y.b FROM two x, two y WHERE x.a = $1 AND y.b = x.a AND "
    "y.v > $2 ORDER BY x.a, x.b, x.c, y.a, y.b, y.c",
    "UPDATE two SET v = v + $1 WHERE a = $2 AND b = $3 AND c = 'x'",
    "UPDATE two SET v = v + $1 WHERE a = $2",
    "UPDATE two SET v = $1 WHERE b BETWEEN $2 AND $3",
    "UPDATE two SET b = b + 10 WHERE a = $1 AND b < $2",
    "UPDATE two SET b = $1 WHERE a = $2 AND b = $3",
    "DELETE FROM two WHERE a = $1 AND b = $2 AND c = 'x'",
    "DELETE FROM two WHERE a = $1 AND b >= $2",
    "DELETE FROM two WHERE v = $1",
};

static uint32_t params_of(const char *sql)
{
    uint32_t n = 0;

    while ((sql = strchr(sql, '$')) != NULL) {
        uint32_t number = (uint32_t)(*++sql - '0');

        n = number > n ? number : n;
    }
    return n;
}

static hf_db_status run_any(fixture *f, uint32_t which,
                            const hf_sql_value *params)
{
    hf_db_statement s = {100 + which, any[which], params_of(any[which]),
                         strncmp(any[which], "SELECT", 6) == 0};

    f->db->driver->execute(f->s[0], &s, params, s.n_params, &f->rows,
                           &f->answer);
    return f->answer.status;
}

static bool is_same(const hf_sql_value *a, const hf_sql_value *b)
{
    if (a->type == HF_SQL_TEXT || b->type == HF_SQL_TEXT)
        return a->type == b->type && a->length == b->length &&
               memcmp(a->text, b->text, a->length) == 0;
    return a->type == HF_SQL_NULL || b->type == HF_SQL_NULL
               ? a->type == b->type
               : a->integer == b->integer;
}

/* One transaction of both, and what stays. */
static void same_transaction(fixture *f, hf_rng *rng, hf_db_level level)
{
    bool refused = false;

    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(begin(&f[i], 0, i ? level : HF_DB_DEFAULT, false),
                         HF_DB_OK);
    for (unsigned n = 0; n < 8 && !refused; n++) {
        uint32_t which =
            1 + (uint32_t)hf_rng_below(rng, sizeof(any) / sizeof(any[0]) - 1);
        hf_sql_value params[4];

        for (unsigned i = 0; i < 4; i++)
            params[i] = hf_sql_of_int((int64_t)hf_rng_below(rng, 6) - 2);
        for (unsigned i = 0; i < 2; i++)
            (void)run_any(&f[i], which, params);
        if (f[0].answer.status != f[1].answer.status)
            fail_msg("%s: %d and %d: %s%s", any[which], f[0].answer.status,
                     f[1].answer.status, f[0].answer.text, f[1].answer.text);
        refused = f[0].answer.status == HF_DB_REFUSED;
        assert_true(refused || f[0].answer.status == HF_DB_OK);
        if (refused)
            continue;
        assert_int_equal(f[0].rows.affected, f[1].rows.affected);
        assert_int_equal(f[0].rows.n_rows, f[1].rows.n_rows);
        for (uint64_t i = 0; i < f[0].rows.n_rows * f[0].rows.n_columns; i++)
            if (!is_same(&f[0].rows.cells[i], &f[1].rows.cells[i]))
                fail_msg("%s: cell %u differs", any[which], (unsigned)i);
    }
    refused |= hf_rng_below(rng, 4) == 0;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(refused ? roll_back(&f[i], 0) : commit(&f[i], 0),
                         HF_DB_OK);
}

static void rocksdb_answers_like_sqlite(void **state)
{
    fixture f[2];
    hf_rng rng;

    (void)state;
    if (!has_rocksdb())
        skip();
    hf_rng_seed(&rng, 7);
    for (unsigned v = 0; v < 2; v++) {
        start(&f[0], "sqlite", NULL);
        start(&f[1], "rocksdb", rocksdb_variants[v]);
        for (unsigned i = 0; i < 2; i++)
            assert_int_equal(run_any(&f[i], 0, NULL), HF_DB_OK);
        for (unsigned n = 0; n < 500; n++)
            same_transaction(f, &rng,
                             n % 2 ? HF_DB_SNAPSHOT : HF_DB_READ_COMMITTED);
        hf_sql_result_release(&f[0].rows);
        for (unsigned i = 0; i < 2; i++)
            f[0].db->driver->disconnect(f[0].s[i]);
        hf_db_close(f[0].db);
        finish(&f[1]);
    }
}

/* ---- names --------------------------------------------------------------- */

static void names(void **state)
{
    hf_db_level level;
    hf_error err = {0};
    hf_db *db;

    (void)state;
    assert_true(hf_db_level_find(HF_STR("Read Committed"), &level));
    assert_int_equal(level, HF_DB_READ_COMMITTED);
    assert_true(hf_db_level_find(HF_STR("snapshot-isolation"), &level));
    assert_int_equal(level, HF_DB_SNAPSHOT);
    assert_false(hf_db_level_find(HF_STR("causal"), &level));
    assert_string_equal(hf_db_level_name(HF_DB_SERIALIZABLE), "serializable");
    assert_null(hf_db_driver_find(HF_STR("oracle")));
    assert_non_null(hf_db_driver_find(HF_STR("SQLite")));
    assert_int_equal(hf_db_open("sqlit:secret", &(hf_db_options){0}, &db, &err),
                     HF_ERR_USAGE);
    assert_non_null(strstr(err.text, "did you mean \"sqlite\""));
    assert_null(strstr(err.text, "secret"));
    for (unsigned i = 0; hf_db_driver_at(i); i++) {
        assert_non_null(hf_db_driver_at(i)->summary);
        assert_non_null(hf_db_driver_at(i)->package);
    }
}

/* A run that was killed leaves nothing, or not for long. */
static void swept(void **state)
{
    hf_error err;
    hf_db *db;
    pid_t child = fork();
    unsigned waits = 0;
    int status;

    (void)state;
    if (child == 0) {
        if (hf_db_open("sqlite", &(hf_db_options){.directory = parent}, &db,
                       &err) != HF_OK)
            _exit(1);
        kill(getpid(), entries(parent) == 1 ? SIGKILL : SIGTERM);
    }
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    while (entries(parent) > 0 && waits++ < 500)
        usleep(10000);
    assert_int_equal(entries(parent), 0);
}

static const char *hidden(const char *text, const char *password)
{
    static char copy[120];

    (void)snprintf(copy, sizeof(copy), "%s", text);
    hf_db_hide(copy, password);
    return copy;
}

/* Only where it stands for the password: a short one is part of many words. */
static void passwords_are_hidden(void **state)
{
    (void)state;
    assert_string_equal(hidden("at postgres://me:a@host: a bad day", "a"),
                        "at postgres://me:*@host: a bad day");
    assert_string_equal(hidden("password=user is wrong for user", "user"),
                        "password=**** is wrong for user");
    assert_string_equal(hidden("password='a b' failed for a b", "a b"),
                        "password='***' failed for a b");
    assert_string_equal(
        hidden("FATAL: password authentication failed for user \"password\"",
               "password"),
        "FATAL: password authentication failed for user \"********\"");
    assert_string_equal(hidden("denied for user 'a'@'a host' (1)", "a"),
                        "denied for user '*'@'a host' (1)");
    assert_string_equal(hidden("x:aaa@h", "aa"), "x:aaa@h");
    assert_string_equal(hidden("nothing", NULL), "nothing");
    assert_string_equal(hidden("nothing", ""), "nothing");
    hf_db_hide(NULL, "a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(sqlite_works),
        cmocka_unit_test(sqlite_processes_work),
        cmocka_unit_test(sqlite_conflicts),
        cmocka_unit_test(sqlite_dirty_reads),
        cmocka_unit_test(sqlite_types),
        cmocka_unit_test(sqlite_addresses),
        cmocka_unit_test(store_works),
        cmocka_unit_test(store_levels),
        cmocka_unit_test(store_replicas),
        cmocka_unit_test(store_sql),
        cmocka_unit_test(rocksdb_works),
        cmocka_unit_test(rocksdb_levels),
        cmocka_unit_test(rocksdb_scans),
        cmocka_unit_test(rocksdb_answers_like_sqlite),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(swept),
        cmocka_unit_test(passwords_are_hidden),
    };
    int failed;

    if (!mkdtemp(parent))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(parent);
    return failed;
}
