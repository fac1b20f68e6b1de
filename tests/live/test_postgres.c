/* test_postgres.c: the PostgreSQL driver on a private server.
 *
 * One server for all tests, in their order.
 */
#include "live_util.h"

#include <pthread.h>

static hf_db *db;

static const hf_db_options short_calls = {.clients = 8, .call_seconds = 1};

static int start(void **state)
{
    hf_error err = {0};

    (void)state;
    live_ok(hf_db_open("postgres", &short_calls, &db, &err), &err);
    return 0;
}

static int stop(void **state)
{
    char directory[200];

    (void)state;
    live_directory(db, directory, sizeof(directory));
    assert_true(live_processes(directory) > 3);
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

#define READ "SELECT v FROM kv WHERE k = $1"
#define WRITE "UPDATE kv SET v = $2 WHERE k = $1"
#define INSERT "INSERT INTO kv VALUES ($1, $2)"

/* ---- transactions -------------------------------------------------------- */

static void describes_itself(void **state)
{
    hf_db_description d;

    (void)state;
    db->driver->describe(db, &d);
    assert_memory_equal(d.product, "PostgreSQL ", 11);
    assert_true(d.product[11] >= '1' && d.product[11] <= '9');
    assert_memory_equal(d.where, "private, ", 9);
    assert_int_equal(d.nodes, 1);
    assert_int_equal(hf_db_promise_of(db, HF_DB_SERIALIZABLE)->promised,
                     HF_STRICT_SERIALIZABLE);
    assert_int_equal(hf_db_promise_of(db, HF_DB_DEFAULT)->level,
                     HF_DB_READ_COMMITTED);
}

static void values_come_back(void **state)
{
    const hf_db_statement insert = {
        60, "INSERT INTO types VALUES ($1, $2, $3, $4, $5, $6)", 6, false};
    const hf_db_statement look = {61, "SELECT * FROM types", 0, true};
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
                            "n TEXT)"));
    db->driver->execute(a.s, &insert, values, 6, &a.rows, &a.answer);
    LIVE_OK(&a, 0);
    db->driver->execute(b.s, &look, NULL, 0, &b.rows, &b.answer);
    LIVE_OK(&b, 0);
    assert_int_equal(b.rows.n_rows, 1);
    assert_int_equal(b.rows.n_columns, 6);
    v = b.rows.cells;
    assert_int_equal(v[0].integer, -7);
    assert_int_equal(v[0].note, HF_SQL_NOTE_INT4);
    assert_true(v[1].integer == INT64_MIN);
    assert_int_equal(v[2].type, HF_SQL_DECIMAL);
    assert_true(v[2].decimal == 1230 && v[2].scale == 2);
    assert_true(hf_str_eq(hf_sql_text_of(&v[3]), HF_STR("it's")));
    assert_true(v[4].type == HF_SQL_BOOL && v[4].integer == 1);
    assert_int_equal(v[5].type, HF_SQL_NULL);
    assert_true(hf_str_eq(b.rows.names[2], HF_STR("d")));
    live_disconnect(&a);
    live_disconnect(&b);
}

/* Each reads both and writes one; how many commit? */
static unsigned write_skew(hf_db_level level)
{
    live_session a, b;
    unsigned done = 0;

    fresh(&a, &b);
    LIVE_OK(&a, live_begin(&a, level, false));
    LIVE_OK(&b, live_begin(&b, level, false));
    LIVE_OK(&a, LIVE_DO(&a, READ, 2));
    LIVE_OK(&b, LIVE_DO(&b, READ, 1));
    LIVE_OK(&a, LIVE_DO(&a, WRITE, 1, 10));
    if (LIVE_DO(&b, WRITE, 2, 20) == HF_DB_OK) {
        done += live_commit(&a) == HF_DB_OK;
        done += live_commit(&b) == HF_DB_OK;
    } else {
        done += live_commit(&a) == HF_DB_OK;
    }
    if (done < 2) {
        live_said(&b, HF_DB_ABORTED, __FILE__, __LINE__);
        assert_string_equal(b.answer.code, "40001");
    }
    /* whatever happened, the session can go on */
    LIVE_OK(&b, live_begin(&b, level, true));
    LIVE_OK(&b, LIVE_DO(&b, READ, 1));
    assert_int_equal(live_number(&b), 10);
    LIVE_OK(&b, live_commit(&b));
    live_disconnect(&a);
    live_disconnect(&b);
    return done;
}

static void write_skew_passes_below_serializable(void **state)
{
    (void)state;
    assert_int_equal(write_skew(HF_DB_REPEATABLE_READ), 2);
    assert_int_equal(write_skew(HF_DB_SNAPSHOT), 2);
    assert_int_equal(write_skew(HF_DB_SERIALIZABLE), 1);
}

static void second_updater_is_aborted(void **state)
{
    live_session a, b;

    (void)state;
    fresh(&a, &b);
    LIVE_OK(&a, live_begin(&a, HF_DB_REPEATABLE_READ, false));
    LIVE_OK(&b, live_begin(&b, HF_DB_REPEATABLE_READ, false));
    LIVE_OK(&a, LIVE_DO(&a, READ, 1));
    LIVE_OK(&b, LIVE_DO(&b, READ, 1));
    LIVE_OK(&a, LIVE_DO(&a, WRITE, 1, 1));
    LIVE_OK(&a, live_commit(&a));
    LIVE_IS(&b, LIVE_DO(&b, WRITE, 1, 2), HF_DB_ABORTED);
    assert_string_equal(b.answer.code, "40001");
    /* at read committed it goes through */
    LIVE_OK(&b, live_begin(&b, HF_DB_READ_COMMITTED, false));
    LIVE_OK(&b, LIVE_DO(&b, WRITE, 1, 3));
    LIVE_OK(&b, live_abort(&b));
    LIVE_OK(&a, LIVE_DO(&a, READ, 1));
    assert_int_equal(live_number(&a), 1);
    live_disconnect(&a);
    live_disconnect(&b);
}

/* b inserts a row that was inserted and deleted since its snapshot: nothing is
   in its way, and nobody aborts it, though it does not come first. */
static void insert_passes_by_what_is_gone(void **state)
{
    live_session a, b;

    (void)state;
    fresh(&a, &b);
    LIVE_OK(&b, live_begin(&b, HF_DB_REPEATABLE_READ, false));
    LIVE_OK(&b, LIVE_DO(&b, READ, 1));
    LIVE_OK(&a, LIVE_DO(&a, WRITE, 1, 1));
    LIVE_OK(&a, LIVE_DO(&a, INSERT, 5, 10));
    LIVE_OK(&a, LIVE_DO(&a, "DELETE FROM kv WHERE k = $1", 5));
    LIVE_OK(&b, LIVE_DO(&b, INSERT, 5, 30));
    LIVE_OK(&b, LIVE_DO(&b, READ, 1));
    assert_int_equal(live_number(&b), 0); /* its snapshot is the old one */
    LIVE_OK(&b, live_commit(&b));
    LIVE_OK(&a, LIVE_DO(&a, READ, 5));
    assert_int_equal(live_number(&a), 30);
    live_disconnect(&a);
    live_disconnect(&b);
}

static void duplicate_key_is_refused(void **state)
{
    live_session a, b;

    (void)state;
    fresh(&a, &b);
    LIVE_OK(&a, live_begin(&a, HF_DB_READ_COMMITTED, false));
    LIVE_OK(&a, LIVE_DO(&a, WRITE, 2, 5));
    LIVE_IS(&a, LIVE_DO(&a, "INSERT INTO kv VALUES ($1, 0)", 1), HF_DB_REFUSED);
    assert_string_equal(a.answer.code, "23505");
    LIVE_IS(&a, LIVE_DO(&a, READ, 1), HF_DB_REFUSED);
    /* a commit of it is none */
    LIVE_IS(&a, live_commit(&a), HF_DB_ABORTED);
    LIVE_OK(&a, LIVE_DO(&a, READ, 2));
    assert_int_equal(live_number(&a), 0);
    LIVE_IS(&a, LIVE_DO(&a, "SELECT nonsense FROM kv"), HF_DB_FAILED);
    live_disconnect(&a);
    live_disconnect(&b);
}

/* ---- no answer ----------------------------------------------------------- */

/* a holds the row, b waits for it. */
static void hold(live_session *a, live_session *b)
{
    fresh(a, b);
    LIVE_OK(a, live_begin(a, HF_DB_READ_COMMITTED, false));
    LIVE_OK(a, LIVE_DO(a, WRITE, 1, 1));
    LIVE_OK(b, live_begin(b, HF_DB_READ_COMMITTED, false));
    LIVE_OK(b, LIVE_DO(b, WRITE, 2, 7)); /* which nobody may see later */
}

/* The server notices that b has gone, and undoes what it did. */
static void is_undone(live_session *a)
{
    double until = live_seconds() + 5;

    do {
        LIVE_OK(a, LIVE_DO(a, "SELECT count(*) FROM pg_locks "
                              "WHERE NOT granted"));
        hf_db_sleep(10u * 1000 * 1000);
    } while (live_number(a) > 0 && live_seconds() < until);
    assert_int_equal(live_number(a), 0);
    LIVE_OK(a, LIVE_DO(a, WRITE, 2, 8));
    LIVE_OK(a, live_commit(a));
    LIVE_OK(a, LIVE_DO(a, READ, 2));
    assert_int_equal(live_number(a), 8);
}

static void deadline_passes(void **state)
{
    live_session a, b;
    double from, took;

    (void)state;
    hold(&a, &b);
    from = live_seconds();
    LIVE_IS(&b, LIVE_DO(&b, WRITE, 1, 2), HF_DB_LOST);
    took = live_seconds() - from;
    assert_true(took > 0.9 && took < 3);
    LIVE_IS(&b, live_commit(&b), HF_DB_LOST);
    is_undone(&a);
    live_disconnect(&a);
    live_disconnect(&b);
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
    hold(&a, &b);
    from = live_seconds();
    (void)pthread_create(&thread, NULL, interrupt_soon, b.s);
    LIVE_IS(&b, LIVE_DO(&b, WRITE, 1, 2), HF_DB_LOST);
    assert_true(live_seconds() - from < 0.9);
    (void)pthread_join(thread, NULL);
    is_undone(&a);
    live_disconnect(&a);
    live_disconnect(&b);
}

static void a_client_is_cut(void **state)
{
    live_session a, b;
    pthread_t thread;

    (void)state;
    fresh(&a, &b);
    live_disconnect(&a);
    (void)pthread_create(&thread, NULL, cut_soon, NULL);
    LIVE_IS(&b, LIVE_DO(&b, "SELECT pg_sleep(5)"), HF_DB_LOST);
    (void)pthread_join(thread, NULL);
    live_disconnect(&b);
    live_connect(&b, db, 1);
    LIVE_OK(&b, LIVE_DO(&b, READ, 1));
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
    live_session a, b;

    hf_error err = {0};
    hf_db_session *none = NULL;

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
    live_disconnect(&a);
    live_disconnect(&b);
    inject(f, false);
    live_connect(&a, db, 0);
    LIVE_OK(&a, LIVE_DO(&a, READ, 1));
    assert_int_equal(live_number(&a), 0); /* it was not committed */
    LIVE_OK(&a, LIVE_DO(&a, READ, 2));
    assert_int_equal(live_number(&a), 2); /* it was */
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
    LIVE_OK(&b, LIVE_DO(&b, READ, 2));
    live_disconnect(&a);
    live_disconnect(&b);
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

    live_directory(db, directory, sizeof(directory));
    (void)snprintf(ret, size, "postgres://holdfast:Sesame99@/%s?host=%s",
                   database, directory);
}

static void other_schemas_are_left_alone(void **state)
{
    hf_db_options o = short_calls;
    char address[300];
    hf_error err = {0};
    hf_db *other, *third;
    live_session a, b;

    (void)state;
    fresh(&a, &b);
    make_address(address, sizeof(address), "postgres");
    LIVE_OK(&a, LIVE_DO(&a, "CREATE SCHEMA IF NOT EXISTS theirs"));
    LIVE_OK(&a, LIVE_DO(&a, "CREATE TABLE theirs.t (x INT)"));
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
    LIVE_OK(&a, LIVE_DO(&a, "SELECT count(*) FROM pg_namespace "
                            "WHERE nspname = 'ours'"));
    assert_int_equal(live_number(&a), 0);
    live_disconnect(&a);
}

/* A schema that is there is not used, empty or not; what others put into ours
 * is never dropped. */
static void what_is_there_is_left_alone(void **state)
{
    hf_db_options o = short_calls;
    char address[300];
    hf_error err = {0};
    hf_db *other;
    live_session a, b;

    (void)state;
    fresh(&a, &b);
    make_address(address, sizeof(address), "postgres");
    o.schema = "public";
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
    LIVE_OK(&a, LIVE_DO(&a, "DROP SCHEMA shared CASCADE"));
    live_disconnect(&a);
    live_disconnect(&b);
}

static void secrets_are_kept(void **state)
{
    static const char *const bad[] = {
        "postgres://me:Sesame99@127.0.0.1:1/db",
        "postgres://me:Sesame99%zz@127.0.0.1/db",
        "postgres://me:Sesame99@127.0.0.1/db?password=Sesame99&x=Sesame99",
        "postgres://Sesame99:Sesame99@127.0.0.1:1/Sesame99",
    };
    hf_db_description d;
    char address[300];
    hf_error err = {0};
    hf_db *other;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_not_equal(hf_db_open(bad[i], &short_calls, &other, &err),
                             HF_OK);
        assert_true(strlen(err.text) > 10);
        assert_null(strstr(err.text, "Sesame"));
        assert_null(strchr(err.text, '\n'));
    }
    make_address(address, sizeof(address), "nowhere");
    assert_int_not_equal(hf_db_open(address, &short_calls, &other, &err),
                         HF_OK);
    assert_non_null(strstr(err.text, "\"nowhere\" does not exist"));
    make_address(address, sizeof(address), "postgres");
    live_ok(hf_db_open(address, &short_calls, &other, &err), &err);
    other->driver->describe(other, &d);
    assert_null(strstr(d.where, "Sesame"));
    assert_false(other->driver->can_fault(other, HF_FAULT_KILL, address,
                                          sizeof(address)));
    hf_db_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_itself),
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(write_skew_passes_below_serializable),
        cmocka_unit_test(second_updater_is_aborted),
        cmocka_unit_test(insert_passes_by_what_is_gone),
        cmocka_unit_test(duplicate_key_is_refused),
        cmocka_unit_test(deadline_passes),
        cmocka_unit_test(interrupt_ends_a_call),
        cmocka_unit_test(a_client_is_cut),
        cmocka_unit_test(server_is_killed),
        cmocka_unit_test(server_is_restarted),
        cmocka_unit_test(server_is_paused),
        cmocka_unit_test(some_faults_cannot_be),
        cmocka_unit_test(other_schemas_are_left_alone),
        cmocka_unit_test(what_is_there_is_left_alone),
        cmocka_unit_test(secrets_are_kept),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
