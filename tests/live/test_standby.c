/* test_standby.c: PostgreSQL with a standby that serves reads.
 *
 * Even clients talk to the primary; odd ones read from the standby.
 */
#include "live_util.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/map.h"

#define READ "SELECT v FROM kv WHERE k = $1"
#define WRITE "UPDATE kv SET v = $2 WHERE k = $1"

static hf_db *db;
static char directory[200];
static bool no_namespaces; /* the system does not let us have any */

static int start(void **state)
{
    const hf_db_options o = {.clients = 4, .call_seconds = 5};
    hf_db_description d;
    hf_error err = {0};

    (void)state;
    live_ok(hf_db_open("postgres-standby", &o, &db, &err), &err);
    db->driver->describe(db, &d);
    assert_int_equal(d.nodes, 2);
    assert_non_null(strstr(d.where, "/tmp/"));
    if (no_namespaces)
        assert_non_null(strstr(d.where, "no network namespace"));
    (void)snprintf(directory, sizeof(directory), "%s",
                   strstr(d.where, "/tmp/"));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    hf_db_close(db);
    live_nothing_left(directory, 0);
    return 0;
}

/* Loaded through the primary, then two sessions. */
static void fresh(live_session *even, live_session *odd)
{
    hf_error err = {0};

    live_ok(db->driver->reset(db, &err), &err);
    live_connect(even, db, 0);
    live_connect(odd, db, 1);
    LIVE_OK(even, LIVE_DO(even, "CREATE TABLE kv (k BIGINT PRIMARY KEY, "
                                "v BIGINT NOT NULL)"));
    LIVE_OK(even, LIVE_DO(even, "INSERT INTO kv VALUES ($1, 0)", 1));
}

static void end(live_session *even, live_session *odd)
{
    live_disconnect(even);
    live_disconnect(odd);
}

/* What a read-only transaction sees. */
static int64_t look(live_session *l, hf_db_level level)
{
    int64_t v;

    LIVE_OK(l, live_begin(l, level, true));
    LIVE_OK(l, LIVE_DO(l, READ, 1));
    v = live_number(l);
    LIVE_OK(l, live_commit(l));
    return v;
}

static void put(live_session *l, int64_t v)
{
    LIVE_OK(l, live_begin(l, HF_DB_READ_COMMITTED, false));
    LIVE_OK(l, LIVE_DO(l, WRITE, 1, v));
    LIVE_OK(l, live_commit(l));
}

/* Until the standby has it, two seconds at most. */
static void arrives(live_session *odd, int64_t v)
{
    double until = live_seconds() + 5;

    while (look(odd, HF_DB_READ_COMMITTED) != v && live_seconds() < until)
        hf_db_sleep(5u * 1000 * 1000);
    assert_int_equal(look(odd, HF_DB_READ_COMMITTED), v);
}

static bool on_standby(live_session *l, bool read_only, hf_db_level level)
{
    bool there;

    LIVE_OK(l, live_begin(l, level, read_only));
    LIVE_OK(l, LIVE_DO(l, "SELECT pg_is_in_recovery()"));
    assert_int_equal(l->rows.n_rows, 1);
    there = l->rows.cells[0].integer != 0;
    LIVE_OK(l, live_commit(l));
    return there;
}

static void odd_readers_go_to_the_standby(void **state)
{
    live_session even, odd;

    (void)state;
    fresh(&even, &odd);
    for (unsigned i = 0; i < HF_DB_LEVEL_COUNT; i++) {
        assert_true(on_standby(&odd, true, (hf_db_level)i));
        assert_false(on_standby(&odd, false, (hf_db_level)i));
        assert_false(on_standby(&even, true, (hf_db_level)i));
    }
    put(&odd, 3);
    assert_int_equal(look(&even, HF_DB_SERIALIZABLE), 3);
    arrives(&odd, 3);
    end(&even, &odd);
}

/* The first read at the standby waits for what was loaded. */
static void what_was_loaded_is_there(void **state)
{
    live_session even, odd;

    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        fresh(&even, &odd);
        assert_int_equal(look(&odd, HF_DB_REPEATABLE_READ), 0);
        end(&even, &odd);
    }
}

static void inject(hf_db_fault f, uint64_t seed, bool begin)
{
    hf_error err = {0};

    live_ok(db->driver->fault(db, f, seed, begin, &err), &err);
}

static void parted_standby_is_stale(void **state)
{
    live_session even, odd;

    (void)state;
    fresh(&even, &odd);
    put(&even, 1);
    arrives(&odd, 1);
    inject(HF_FAULT_PARTITION, 0, true);
    put(&odd, 2); /* its own, at the primary */
    hf_db_sleep(300u * 1000 * 1000);
    assert_int_equal(look(&even, HF_DB_REPEATABLE_READ), 2);
    assert_int_equal(look(&odd, HF_DB_REPEATABLE_READ), 1);
    inject(HF_FAULT_PARTITION, 0, false);
    arrives(&odd, 2);
    end(&even, &odd);
}

/* The first seed that means this node. */
static uint64_t seed_of(unsigned node)
{
    uint64_t seed = 0;

    while (hf_mix64(seed) % 2 != node)
        seed++;
    return seed;
}

static void standby_is_killed(void **state)
{
    live_session even, odd;

    (void)state;
    fresh(&even, &odd);
    assert_int_equal(look(&odd, HF_DB_READ_COMMITTED), 0);
    inject(HF_FAULT_KILL, seed_of(1), true);
    LIVE_IS(&odd, live_begin(&odd, HF_DB_READ_COMMITTED, true), HF_DB_LOST);
    put(&even, 4); /* the primary goes on */
    inject(HF_FAULT_KILL, seed_of(1), false);
    end(&even, &odd);
    live_connect(&even, db, 0);
    live_connect(&odd, db, 1);
    arrives(&odd, 4);
    end(&even, &odd);
}

static void primary_is_killed(void **state)
{
    live_session even, odd;

    (void)state;
    fresh(&even, &odd);
    put(&even, 5);
    arrives(&odd, 5);
    inject(HF_FAULT_KILL, seed_of(0), true);
    LIVE_IS(&even, live_begin(&even, HF_DB_READ_COMMITTED, false), HF_DB_LOST);
    assert_int_equal(look(&odd, HF_DB_READ_COMMITTED), 5);
    inject(HF_FAULT_KILL, seed_of(0), false);
    end(&even, &odd);
    live_connect(&even, db, 0);
    live_connect(&odd, db, 1);
    put(&even, 6);
    arrives(&odd, 6);
    end(&even, &odd);
}

static void little_is_promised(void **state)
{
    (void)state;
    for (unsigned i = 0; i < HF_DB_LEVEL_COUNT; i++) {
        const hf_db_promise *p = hf_db_promise_of(db, (hf_db_level)i);

        assert_non_null(p);
        assert_false(hf_level_implies(p->promised,
                                      HF_STRONG_SESSION_SNAPSHOT_ISOLATION));
    }
}

/* While a node is stopped, closing has to end it as well. */
static void left_parted(void **state)
{
    (void)state;
    inject(HF_FAULT_PARTITION, 0, true);
    inject(HF_FAULT_PAUSE, seed_of(0), true);
}

/* From here on this process and all it starts get no namespace. */
static void forbid_namespaces(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    no_namespaces = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_readers_go_to_the_standby),
        cmocka_unit_test(what_was_loaded_is_there),
        cmocka_unit_test(parted_standby_is_stale),
        cmocka_unit_test(standby_is_killed),
        cmocka_unit_test(primary_is_killed),
        cmocka_unit_test(little_is_promised),
        cmocka_unit_test(left_parted),
    };
    const struct CMUnitTest without[] = {
        cmocka_unit_test(parted_standby_is_stale),
        cmocka_unit_test(left_parted),
    };
    int failed = cmocka_run_group_tests(tests, start, stop);

    forbid_namespaces();
    if (no_namespaces)
        failed += cmocka_run_group_tests(without, start, stop);
    return failed;
}
