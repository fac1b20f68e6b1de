/* test_mariadb.c: the MariaDB driver on a private server.
 *
 * One server for most tests, in their order; the last one starts its own, in a
 * process that is killed, to see that nothing is left of it.
 */
#include "live_util.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "db/mariadb.h"

static hf_db *db;

static const hf_db_options short_calls = {.clients = 8, .call_seconds = 2};

static void directory_of(hf_db *d, char *ret, size_t size)
{
    hf_db_description is;
    const char *at;

    d->driver->describe(d, &is);
    at = strstr(is.where, "/tmp/");
    assert_non_null(at);
    (void)snprintf(ret, size, "%s", at);
}

static int start(void **state)
{
    hf_error err = {0};

    (void)state;
    live_ok(hf_db_open("mariadb", &short_calls, &db, &err), &err);
    return 0;
}

static int stop(void **state)
{
    char directory[200];

    (void)state;
    directory_of(db, directory, sizeof(directory));
    assert_true(live_processes(directory) > 0);
    hf_db_close(db);
    live_nothing_left(directory, 0);
    return 0;
}

/* kv with the keys 1 and 2, both 0, and two sessions. */
static void fresh(live_session *a, live_session *b)
{
    hf_error err = {0};

    live_ok(db->driver->reset(db, &err), &err);
    live_connect(a, db, 0);
    live_connect(b, db, 1);
    LIVE_OK(a, LIVE_DO(a, "CREATE TABLE kv (k BIGINT PRIMARY KEY, "
                          "v BIGINT NOT NULL)"));
    LIVE_OK(a, LIVE_DO(a, "INSERT INTO kv VALUES ($1, 0)", 1));
    LIVE_OK(a, LIVE_DO(a, "INSERT INTO kv VALUES ($1, 0)", 2));
    assert_int_equal(a->rows.affected, 1);
}

static void part(live_session *a, live_session *b)
{
    live_disconnect(a);
    live_disconnect(b);
}

#define READ "SELECT v FROM kv WHERE k = $1"
#define WRITE "UPDATE kv SET v = $2 WHERE k = $1"

static int64_t value_of(live_session *l, int64_t k)
{
    LIVE_OK(l, LIVE_DO(l, READ, k));
    return live_number(l);
}

/* ---- SQL ----------------------------------------------------------------- */

static void rewritten(const char *sql, const char *wanted, unsigned n,
                      const uint32_t *places)
{
    hf_my_sql s = {0};

    hf_my_rewrite(sql, &s);
    assert_string_equal(s.text, wanted);
    assert_int_equal(s.n_places, n);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(s.places[i], places[i]);
    hf_my_sql_release(&s);
}

static void sql_is_rewritten(void **state)
{
    (void)state;
    rewritten("UPDATE t SET v = $2, w = $2 WHERE k = $1",
              "UPDATE t SET v = ?, w = ? WHERE k = ?", 3,
              (uint32_t[]){1, 1, 0});
    rewritten("SELECT '$1 ON CONFLICT it''s', \"$2\" FROM t WHERE k = $12",
              "SELECT '$1 ON CONFLICT it''s', \"$2\" FROM t WHERE k = ?", 1,
              (uint32_t[]){11});
    rewritten("INSERT INTO t (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE "
              "SET v = EXCLUDED.v, w = t.w || $2",
              "INSERT INTO t (k, v) VALUES (?, ?) ON DUPLICATE KEY UPDATE v = "
              "VALUES(v), w = t.w || ?",
              3, (uint32_t[]){0, 1, 1});
    rewritten("INSERT INTO t VALUES (1) on conflict (k, l) do nothing",
              "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE k = k", 0,
              NULL);
    rewritten("CREATE TABLE text (k BIGINT PRIMARY KEY, text TEXT NOT NULL)",
              "CREATE TABLE text (k BIGINT PRIMARY KEY, text LONGTEXT NOT "
              "NULL)",
              0, NULL);
    rewritten(
        "SELECT CAST(v AS BIGINT) AS text, t.a FROM t JOIN u ON t.k = u.k",
        "SELECT CAST(v AS SIGNED) AS text, t.a FROM t JOIN u ON t.k = "
        "u.k",
        0, NULL);
}

static void upserts(void **state)
{
    live_session a, b;

    (void)state;
    fresh(&a, &b);
    for (int64_t i = 2; i < 5; i++) {
        LIVE_OK(&a, LIVE_DO(&a,
                            "INSERT INTO kv (k, v) VALUES ($1, $2) "
                            "ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v + "
                            "kv.v * 100",
                            3, i));
        assert_int_equal(a.rows.affected, 1);
    }
    assert_int_equal(value_of(&a, 3), 20304);
    LIVE_OK(&a, LIVE_DO(&a,
                        "INSERT INTO kv (k, v) VALUES ($1, 9) "
                        "ON CONFLICT (k) DO NOTHING",
                        3));
    assert_int_equal(value_of(&a, 3), 20304);
    /* rows that were met count, changed or not; sides are the old ones */
    LIVE_OK(&a, LIVE_DO(&a, "UPDATE kv SET v = 7, k = v WHERE k = 3"));
    assert_int_equal(a.rows.affected, 1);
    assert_int_equal(value_of(&a, 20304), 7);
    LIVE_OK(&a, LIVE_DO(&a, WRITE, 20304, 7));
    assert_int_equal(a.rows.affected, 1);
    LIVE_OK(&a, LIVE_DO(&a, WRITE, 99, 7));
    assert_int_equal(a.rows.affected, 0);
    part(&a, &b);
}

static void values_come_back(void **state)
{
    const hf_db_statement insert = {
        60,
        "INSERT INTO types VALUES ($1, $2, $3, $4, $5, $6, $4 || ',' || $1)", 6,
        false};
    const hf_db_statement look = {61, "SELECT * FROM types", 0, true};
    const hf_db_statement sum = {
        62, "SELECT SUM(i), COUNT(*), t = 'IT''S', t = 'it''s ' FROM types", 0,
        true};
    const hf_sql_value values[6] = {
        hf_sql_of_int(-7),          hf_sql_of_int(INT64_MIN),
        hf_sql_of_decimal(1230, 2), hf_sql_of_text(HF_STR("it's")),
        hf_sql_of_bool(true),       hf_sql_null()};
    live_session a, b;
    const hf_sql_value *v;

    (void)state;
    fresh(&a, &b);
    LIVE_OK(&a, LIVE_DO(&a, "CREATE TABLE types (i INT, b BIGINT, "
                            "d DECIMAL(10,2), t VARCHAR(20), f BOOLEAN, "
                            "n TEXT, j TEXT)"));
    db->driver->execute(a.s, &insert, values, 6, &a.rows, &a.answer);
    LIVE_OK(&a, 0);
    db->driver->execute(b.s, &look, NULL, 0, &b.rows, &b.answer);
    LIVE_OK(&b, 0);
    assert_int_equal(b.rows.n_rows, 1);
    assert_int_equal(b.rows.n_columns, 7);
    v = b.rows.cells;
    assert_true(v[0].type == HF_SQL_INT && v[0].integer == -7);
    assert_int_equal(v[0].note, HF_SQL_NOTE_INT4);
    assert_true(v[1].integer == INT64_MIN);
    assert_int_equal(v[2].type, HF_SQL_DECIMAL);
    assert_true(v[2].decimal == 1230 && v[2].scale == 2);
    assert_true(hf_str_eq(hf_sql_text_of(&v[3]), HF_STR("it's")));
    assert_true(v[4].type == HF_SQL_BOOL && v[4].integer == 1);
    assert_int_equal(v[5].type, HF_SQL_NULL);
    assert_true(hf_str_eq(hf_sql_text_of(&v[6]), HF_STR("it's,-7")));
    assert_true(hf_str_eq(b.rows.names[2], HF_STR("d")));
    db->driver->execute(b.s, &sum, NULL, 0, &b.rows, &b.answer);
    LIVE_OK(&b, 0);
    v = b.rows.cells;
    assert_true(v[0].type == HF_SQL_DECIMAL && v[0].decimal == -7);
    assert_true(v[1].type == HF_SQL_INT && v[1].integer == 1);
    assert_int_equal(v[2].integer, 0); /* texts are what they are */
    assert_int_equal(v[3].integer, 0);
    part(&a, &b);
}

/* Many rows and long texts, more than a packet of the network. */
static void much_comes_back(void **state)
{
    enum { SIZE = 300000 };
    const hf_db_statement insert = {60, "INSERT INTO big VALUES ($1, $2)", 2,
                                    false};
    const hf_db_statement look = {61, "SELECT k, t FROM big ORDER BY k", 0,
                                  true};
    char *text = malloc(SIZE);
    live_session a, b;

    (void)state;
    assert_non_null(text);
    memset(text, 'x', SIZE);
    fresh(&a, &b);
    LIVE_OK(&a, LIVE_DO(&a, "CREATE TABLE big (k INT PRIMARY KEY, t TEXT)"));
    for (unsigned i = 0; i < 5; i++) {
        hf_sql_value values[2] = {
            hf_sql_of_int(i), hf_sql_of_text((hf_str){text, i % 2 ? SIZE : i})};

        db->driver->execute(a.s, &insert, values, 2, &a.rows, &a.answer);
        LIVE_OK(&a, 0);
    }
    db->driver->execute(b.s, &look, NULL, 0, &b.rows, &b.answer);
    LIVE_OK(&b, 0);
    assert_int_equal(b.rows.n_rows, 5);
    for (unsigned i = 0; i < 5; i++) {
        hf_str s = hf_sql_text_of(&b.rows.cells[2 * i + 1]);

        assert_int_equal(s.len, i % 2 ? SIZE : i);
        assert_memory_equal(s.ptr, text, s.len);
    }
    free(text);
    part(&a, &b);
}

/* ---- transactions -------------------------------------------------------- */

static void describes_itself(void **state)
{
    hf_db_description d;

    (void)state;
    db->driver->describe(db, &d);
    assert_memory_equal(d.product, "MariaDB 1", 9);
    assert_memory_equal(d.where, "private, ", 9);
    assert_int_equal(d.nodes, 1);
    assert_int_equal(hf_db_promise_of(db, HF_DB_SERIALIZABLE)->promised,
                     HF_STRICT_SERIALIZABLE);
    assert_int_equal(hf_db_promise_of(db, HF_DB_DEFAULT)->level,
                     HF_DB_REPEATABLE_READ);
}

/* Both read, both write what they read plus one: what comes of it? */
static int64_t lost_update(hf_db_level level, hf_db_status second)
{
    live_session a, b;
    int64_t v;

    fresh(&a, &b);
    LIVE_OK(&a, live_begin(&a, level, false));
    LIVE_OK(&b, live_begin(&b, level, false));
    assert_int_equal(value_of(&a, 1), 0);
    assert_int_equal(value_of(&b, 1), 0);
    LIVE_OK(&a, LIVE_DO(&a, WRITE, 1, 1));
    LIVE_OK(&a, live_commit(&a));
    LIVE_IS(&b, LIVE_DO(&b, WRITE, 1, 2), second);
    if (second == HF_DB_OK)
        LIVE_OK(&b, live_commit(&b));
    /* whatever happened, the session can go on */
    LIVE_OK(&b, live_begin(&b, level, true));
    v = value_of(&b, 1);
    LIVE_OK(&b, live_commit(&b));
    part(&a, &b);
    return v;
}

static void lost_update_commits_at_repeatable_read(void **state)
{
    (void)state;
    assert_int_equal(lost_update(HF_DB_REPEATABLE_READ, HF_DB_OK), 2);
    assert_int_equal(lost_update(HF_DB_SNAPSHOT, HF_DB_ABORTED), 1);
    /* the option is taken back */
    assert_int_equal(lost_update(HF_DB_DEFAULT, HF_DB_OK), 2);
}

static void dirty_read(void **state)
{
    live_session a, b;

    (void)state;
    fresh(&a, &b);
    LIVE_OK(&a, live_begin(&a, HF_DB_REPEATABLE_READ, false));
    LIVE_OK(&a, LIVE_DO(&a, WRITE, 1, 5));
    LIVE_OK(&b, live_begin(&b, HF_DB_READ_UNCOMMITTED, true));
    assert_int_equal(value_of(&b, 1), 5);
    LIVE_OK(&b, live_commit(&b));
    LIVE_OK(&b, live_begin(&b, HF_DB_READ_COMMITTED, true));
    assert_int_equal(value_of(&b, 1), 0);
    LIVE_OK(&a, live_commit(&a));
    assert_int_equal(value_of(&b, 1), 5);
    LIVE_OK(&b, live_commit(&b));
    part(&a, &b);
}

typedef struct writing {
    live_session *l;
    int64_t k, v;
} writing;

static void *write_row(void *user)
{
    writing *w = user;

    (void)LIVE_DO(w->l, WRITE, w->k, w->v);
    return NULL;
}

/* Write skew at serializable: each waits for what the other has read. */
static void deadlock_aborts_one(void **state)
{
    live_session a, b;
    writing w = {&b, 2, 20};
    pthread_t thread;
    hf_db_status first;

    (void)state;
    fresh(&a, &b);
    LIVE_OK(&a, live_begin(&a, HF_DB_SERIALIZABLE, false));
    LIVE_OK(&b, live_begin(&b, HF_DB_SERIALIZABLE, false));
    assert_int_equal(value_of(&a, 2), 0);
    assert_int_equal(value_of(&b, 1), 0);
    (void)LIVE_DO(&b, READ, 1); /* known from here on: see live_do() */
    (void)LIVE_DO(&a, WRITE, 99, 0);
    (void)pthread_create(&thread, NULL, write_row, &w);
    first = LIVE_DO(&a, WRITE, 1, 10);
    (void)pthread_join(thread, NULL);
    assert_true((first == HF_DB_OK && b.answer.status == HF_DB_ABORTED) ||
                (first == HF_DB_ABORTED && b.answer.status == HF_DB_OK));
    assert_string_equal(first == HF_DB_OK ? b.answer.code : a.answer.code,
                        "1213");
    if (first == HF_DB_OK)
        LIVE_OK(&a, live_commit(&a));
    else
        LIVE_OK(&b, live_commit(&b));
    assert_int_equal(value_of(&a, 1) + value_of(&a, 2),
                     first == HF_DB_OK ? 10 : 20);
    part(&a, &b);
}

/* Only the statement is undone by the server; we undo all of it. */
static void waiting_too_long_aborts(void **state)
{
    live_session a, b;

    (void)state;
    fresh(&a, &b);
    LIVE_OK(&a, live_begin(&a, HF_DB_READ_COMMITTED, false));
    LIVE_OK(&a, LIVE_DO(&a, WRITE, 1, 1));
    LIVE_OK(&b, live_begin(&b, HF_DB_READ_COMMITTED, false));
    LIVE_OK(&b, LIVE_DO(&b, WRITE, 2, 7));
    LIVE_IS(&b, LIVE_DO(&b, WRITE, 1, 2), HF_DB_ABORTED);
    assert_string_equal(b.answer.code, "1205");
    LIVE_OK(&a, live_commit(&a));
    assert_int_equal(value_of(&b, 2), 0);
    assert_int_equal(value_of(&b, 1), 1);
    part(&a, &b);
}

static void duplicate_key_is_refused(void **state)
{
    live_session a, b;

    (void)state;
    fresh(&a, &b);
    LIVE_OK(&a, live_begin(&a, HF_DB_READ_COMMITTED, false));
    LIVE_OK(&a, LIVE_DO(&a, WRITE, 2, 5));
    LIVE_IS(&a, LIVE_DO(&a, "INSERT INTO kv VALUES ($1, 0)", 1), HF_DB_REFUSED);
    assert_string_equal(a.answer.code, "1062");
    LIVE_IS(&a, LIVE_DO(&a, READ, 1), HF_DB_REFUSED);
    /* a commit of it is none */
    LIVE_IS(&a, live_commit(&a), HF_DB_ABORTED);
    assert_int_equal(value_of(&a, 2), 0);
    LIVE_IS(&a, LIVE_DO(&a, "SELECT nonsense FROM kv"), HF_DB_FAILED);
    LIVE_OK(&a, live_begin(&a, HF_DB_READ_COMMITTED, true));
    LIVE_IS(&a, LIVE_DO(&a, WRITE, 2, 5), HF_DB_FAILED);
    LIVE_OK(&a, live_abort(&a));
    part(&a, &b);
}

/* ---- no answer ----------------------------------------------------------- */

/* Holds row 2 and gives up in mid-statement. */
#define SLEEP "SELECT SLEEP($1)"

static void is_undone(live_session *a)
{
    LIVE_OK(a, live_begin(a, HF_DB_READ_COMMITTED, false));
    assert_int_equal(value_of(a, 2), 0);
    LIVE_OK(a, LIVE_DO(a, WRITE, 2, 8)); /* waits a second at most */
    LIVE_OK(a, live_commit(a));
}

static void deadline_passes(void **state)
{
    live_session a, b;
    double from, took;

    (void)state;
    fresh(&a, &b);
    LIVE_OK(&b, live_begin(&b, HF_DB_READ_COMMITTED, false));
    LIVE_OK(&b, LIVE_DO(&b, WRITE, 2, 7));
    from = live_seconds();
    LIVE_IS(&b, LIVE_DO(&b, SLEEP, 30), HF_DB_LOST);
    took = live_seconds() - from;
    assert_true(took > 1.9 && took < 4);
    LIVE_IS(&b, live_commit(&b), HF_DB_LOST);
    is_undone(&a);
    part(&a, &b);
}

static void *interrupt_soon(void *session)
{
    hf_db_sleep(200u * 1000 * 1000);
    db->driver->interrupt(session);
    return NULL;
}

static void *cut_soon(void *unused)
{
    (void)unused;
    hf_db_sleep(200u * 1000 * 1000);
    (void)db->driver->fault(db, HF_FAULT_CUT_CLIENT, 0, true, NULL);
    return NULL;
}

static void interrupt_ends_a_call(void **state)
{
    live_session a, b;
    pthread_t thread;
    double from;

    (void)state;
    fresh(&a, &b);
    LIVE_OK(&b, live_begin(&b, HF_DB_READ_COMMITTED, false));
    LIVE_OK(&b, LIVE_DO(&b, WRITE, 2, 7));
    from = live_seconds();
    (void)pthread_create(&thread, NULL, interrupt_soon, b.s);
    LIVE_IS(&b, LIVE_DO(&b, SLEEP, 30), HF_DB_LOST);
    assert_true(live_seconds() - from < 1.5);
    (void)pthread_join(thread, NULL);
    is_undone(&a);
    part(&a, &b);
}

static void a_client_is_cut(void **state)
{
    live_session a, b;
    pthread_t thread;

    (void)state;
    fresh(&a, &b);
    live_disconnect(&a);
    (void)pthread_create(&thread, NULL, cut_soon, NULL);
    LIVE_IS(&b, LIVE_DO(&b, SLEEP, 30), HF_DB_LOST);
    (void)pthread_join(thread, NULL);
    live_disconnect(&b);
    live_connect(&b, db, 1);
    assert_int_equal(value_of(&b, 1), 0);
    live_disconnect(&b);
}

/* ---- faults -------------------------------------------------------------- */

static void inject(hf_db_fault f, bool begin)
{
    hf_error err = {0};
    char why[100];

    assert_true(db->driver->can_fault(db, f, why, sizeof(why)));
    live_ok(db->driver->fault(db, f, 1, begin, &err), &err);
}

/* The server goes away in mid-transaction and comes back. */
static void comes_back(hf_db_fault f)
{
    hf_error err = {0};
    hf_db_session *none = NULL;
    live_session a, b;

    fresh(&a, &b);
    LIVE_OK(&a, live_begin(&a, HF_DB_SERIALIZABLE, false));
    LIVE_OK(&a, LIVE_DO(&a, WRITE, 1, 1));
    LIVE_OK(&b, LIVE_DO(&b, WRITE, 2, 2));
    inject(f, true);
    LIVE_IS(&a, LIVE_DO(&a, READ, 1), HF_DB_LOST);
    LIVE_IS(&a, live_commit(&a), HF_DB_LOST);
    LIVE_IS(&b, live_begin(&b, HF_DB_DEFAULT, false), HF_DB_LOST);
    assert_int_not_equal(db->driver->connect(db, 0, &none, &err), HF_OK);
    assert_true(strlen(err.text) > 10);
    part(&a, &b);
    inject(f, false);
    live_connect(&a, db, 0);
    assert_int_equal(value_of(&a, 1), 0); /* it was not committed */
    assert_int_equal(value_of(&a, 2), 2); /* it was */
    live_disconnect(&a);
}

static void server_is_killed(void **state)
{
    (void)state;
    comes_back(HF_FAULT_KILL);
}

static void server_is_restarted(void **state)
{
    (void)state;
    comes_back(HF_FAULT_RESTART);
}

static void server_is_paused(void **state)
{
    live_session a, b;

    (void)state;
    fresh(&a, &b);
    inject(HF_FAULT_PAUSE, true);
    LIVE_IS(&a, LIVE_DO(&a, WRITE, 1, 1), HF_DB_LOST);
    inject(HF_FAULT_PAUSE, false);
    assert_int_equal(value_of(&b, 2), 0);
    part(&a, &b);
}

static void some_faults_cannot_be(void **state)
{
    char why[100] = "";

    (void)state;
    assert_false(
        db->driver->can_fault(db, HF_FAULT_PARTITION, why, sizeof(why)));
    assert_true(strlen(why) > 10);
}

/* ---- with an address ----------------------------------------------------- */

static void make_address(char *ret, size_t size, const char *database)
{
    char directory[200];

    directory_of(db, directory, sizeof(directory));
    (void)snprintf(ret, size, "mariadb://root@localhost/%s?socket=%s/s0",
                   database, directory);
}

static void other_databases_are_left_alone(void **state)
{
    hf_db_options o = short_calls;
    char address[300];
    hf_error err = {0};
    hf_db *other, *third;
    live_session a, b;

    (void)state;
    fresh(&a, &b);
    LIVE_OK(&a, LIVE_DO(&a, "CREATE DATABASE theirs"));
    LIVE_OK(&a, LIVE_DO(&a, "CREATE TABLE theirs.t (x INT)"));
    make_address(address, sizeof(address), "theirs");
    o.schema = "theirs";
    live_ok(hf_db_open(address, &o, &other, &err), &err);
    assert_int_equal(other->driver->reset(other, &err), HF_ERR_USAGE);
    assert_non_null(strstr(err.text, "was not made by holdfast"));
    hf_db_close(other);
    LIVE_OK(&a, LIVE_DO(&a, "SELECT count(*) FROM theirs.t"));
    o.schema = "bad\"name";
    assert_int_equal(hf_db_open(address, &o, &other, &err), HF_ERR_USAGE);

    o.schema = "ours";
    live_ok(hf_db_open(address, &o, &other, &err), &err);
    live_ok(other->driver->reset(other, &err), &err);
    assert_int_equal(hf_db_open(address, &o, &third, &err), HF_ERR_USAGE);
    assert_non_null(strstr(err.text, "another holdfast"));
    live_disconnect(&b);
    live_connect(&b, other, 0);
    LIVE_OK(&b, LIVE_DO(&b, "CREATE TABLE mine (x INT, _tag BIGINT)"));
    LIVE_OK(&a, LIVE_DO(&a, "SELECT count(*) FROM ours.mine"));
    live_disconnect(&b);
    live_ok(other->driver->reset(other, &err), &err);
    LIVE_IS(&a, LIVE_DO(&a, "SELECT count(x) FROM ours.mine"), HF_DB_FAILED);
    hf_db_close(other);
    LIVE_OK(&a, LIVE_DO(&a, "SELECT count(*) FROM information_schema.schemata "
                            "WHERE schema_name = 'ours'"));
    assert_int_equal(live_number(&a), 0);
    live_disconnect(&a);
}

/* One that is there is not used, empty or not; what others put into ours is
 * never dropped. */
static void what_is_there_is_left_alone(void **state)
{
    hf_db_options o = short_calls;
    char address[300];
    hf_error err = {0};
    hf_db *other;
    live_session a, b;

    (void)state;
    fresh(&a, &b);
    LIVE_OK(&a, LIVE_DO(&a, "CREATE DATABASE lent"));
    make_address(address, sizeof(address), "lent");
    o.schema = "lent";
    live_ok(hf_db_open(address, &o, &other, &err), &err);
    assert_int_equal(other->driver->reset(other, &err), HF_ERR_USAGE);
    hf_db_close(other);

    o.schema = "shared";
    live_ok(hf_db_open(address, &o, &other, &err), &err);
    live_ok(other->driver->reset(other, &err), &err);
    LIVE_OK(&a, LIVE_DO(&a, "CREATE TABLE shared.theirs (x INT)"));
    assert_int_equal(other->driver->reset(other, &err), HF_ERR_USAGE);
    assert_non_null(strstr(err.text, "we did not make"));
    hf_db_close(other);
    LIVE_OK(&a, LIVE_DO(&a, "SELECT count(*) FROM shared.theirs"));
    LIVE_OK(&a, LIVE_DO(&a, "DROP DATABASE shared"));
    LIVE_OK(&a, LIVE_DO(&a, "DROP DATABASE lent"));
    live_disconnect(&a);
    live_disconnect(&b);
}

static void secrets_are_kept(void **state)
{
    static const char *const bad[] = {
        "mariadb://me:Sesame99@127.0.0.1:1/db",
        "mariadb://me:Sesame99%zz@127.0.0.1/db",
        "mariadb://me:Sesame99@127.0.0.1:Sesame99/db",
        "mariadb://me:Sesame99@127.0.0.1/db?password=Sesame99",
        "mariadb://Sesame99:Sesame99@127.0.0.1:1/Sesame99",
    };
    char address[400], directory[200];
    hf_error err = {0};
    live_session a, b;
    hf_db *other;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_not_equal(hf_db_open(bad[i], &short_calls, &other, &err),
                             HF_OK);
        assert_true(strlen(err.text) > 10);
        assert_null(strstr(err.text, "Sesame"));
        assert_null(strchr(err.text, '\n'));
    }
    fresh(&a, &b);
    LIVE_OK(&a, LIVE_DO(&a, "CREATE USER Sesame99@localhost IDENTIFIED BY "
                            "'other'"));
    directory_of(db, directory, sizeof(directory));
    (void)snprintf(address, sizeof(address),
                   "mariadb://Sesame99:Sesame99@localhost/x?socket=%s/s0",
                   directory);
    assert_int_not_equal(hf_db_open(address, &short_calls, &other, &err),
                         HF_OK);
    assert_non_null(strstr(err.text, "Access denied"));
    assert_null(strstr(err.text, "Sesame"));
    part(&a, &b);
}

static void variants(void **state)
{
    hf_db_options o = short_calls;
    char address[300];
    hf_error err = {0};
    hf_db *other;

    (void)state;
    make_address(address, sizeof(address), "variant");
    o.variant = "snapshop";
    assert_int_equal(hf_db_open(address, &o, &other, &err), HF_ERR_USAGE);
    o.variant = "snapshot";
    live_ok(hf_db_open(address, &o, &other, &err), &err);
    assert_int_equal(hf_db_promise_of(other, HF_DB_DEFAULT)->promised,
                     HF_STRICT_SNAPSHOT_ISOLATION);
    assert_false(other->driver->can_fault(other, HF_FAULT_KILL, address,
                                          sizeof(address)));
    hf_db_close(other);
}

/* ---- starting and ending ------------------------------------------------- */

static void bad_directories_are_named(void **state)
{
    hf_db_options o = short_calls;
    hf_error err = {0};
    hf_db *other;

    (void)state;
    o.directory = "/nonexistent";
    assert_int_equal(hf_db_open("mariadb", &o, &other, &err), HF_ERR_IO);
    assert_non_null(strstr(err.text, "\"/nonexistent\""));
}

static void nothing_is_left_when_we_are_killed(void **state)
{
    char directory[200] = "";
    int tell[2];
    pid_t child;
    ssize_t n;

    (void)state;
    assert_int_equal(pipe(tell), 0);
    child = fork();
    if (child == 0) {
        hf_error err = {0};
        hf_db *mine;
        char where[200];

        (void)close(tell[0]);
        if (hf_db_open("mariadb", &short_calls, &mine, &err) != HF_OK)
            _exit(1);
        directory_of(mine, where, sizeof(where));
        if (write(tell[1], where, strlen(where) + 1) < 0)
            _exit(1);
        for (;;)
            (void)pause();
    }
    (void)close(tell[1]);
    n = read(tell[0], directory, sizeof(directory));
    (void)close(tell[0]);
    assert_true(n > 5);
    assert_true(live_processes(directory) > 0);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    live_nothing_left(directory, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sql_is_rewritten),
        cmocka_unit_test(describes_itself),
        cmocka_unit_test(upserts),
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(much_comes_back),
        cmocka_unit_test(lost_update_commits_at_repeatable_read),
        cmocka_unit_test(dirty_read),
        cmocka_unit_test(deadlock_aborts_one),
        cmocka_unit_test(waiting_too_long_aborts),
        cmocka_unit_test(duplicate_key_is_refused),
        cmocka_unit_test(deadline_passes),
        cmocka_unit_test(interrupt_ends_a_call),
        cmocka_unit_test(a_client_is_cut),
        cmocka_unit_test(server_is_killed),
        cmocka_unit_test(server_is_restarted),
        cmocka_unit_test(server_is_paused),
        cmocka_unit_test(some_faults_cannot_be),
        cmocka_unit_test(other_databases_are_left_alone),
        cmocka_unit_test(what_is_there_is_left_alone),
        cmocka_unit_test(secrets_are_kept),
        cmocka_unit_test(variants),
    };
    const struct CMUnitTest alone[] = {
        cmocka_unit_test(bad_directories_are_named),
        cmocka_unit_test(nothing_is_left_when_we_are_killed),
    };
    int failed = cmocka_run_group_tests(tests, start, stop);

    return failed + cmocka_run_group_tests(alone, NULL, NULL);
}
