/* test_galera.c: the driver of a Galera cluster of three private nodes.
 *
 * Takes a minute or two: for `make live`, not for `make test`.
 */
#include "live_util.h"

#include "base/map.h"

static hf_db *db;
static char where[200], directory[200];

static const hf_db_options options = {.clients = 8, .call_seconds = 5};

static int start(void **state)
{
    hf_db_description d;
    hf_error err = {0};

    (void)state;
    live_ok(hf_db_open("galera", &options, &db, &err), &err);
    db->driver->describe(db, &d);
    assert_int_equal(d.nodes, 3);
    assert_non_null(strstr(d.product, "Galera"));
    assert_non_null(strstr(d.where, "/tmp/"));
    (void)snprintf(where, sizeof(where), "%s", d.where);
    (void)snprintf(directory, sizeof(directory), "%s",
                   strstr(d.where, "/tmp/"));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    assert_true(live_processes(directory) > 2);
    hf_db_close(db);
    live_nothing_left(directory, 0);
    return 0;
}

#define READ "SELECT v FROM kv WHERE k = $1"
#define WRITE "UPDATE kv SET v = $2 WHERE k = $1"

/* kv with the keys 1 to 3, all 0, and a session on each node. */
static void fresh(live_session *on)
{
    hf_error err = {0};

    live_ok(db->driver->reset(db, &err), &err);
    live_connect(&on[0], db, 0);
    LIVE_OK(&on[0], LIVE_DO(&on[0], "CREATE TABLE kv (k BIGINT PRIMARY KEY, "
                                    "v BIGINT NOT NULL)"));
    for (int64_t k = 1; k <= 3; k++)
        LIVE_OK(&on[0], LIVE_DO(&on[0], "INSERT INTO kv VALUES ($1, 0)", k));
    live_connect(&on[1], db, 1);
    live_connect(&on[2], db, 2);
}

static void part(live_session *on)
{
    for (unsigned i = 0; i < 3; i++)
        live_disconnect(&on[i]);
}

static int64_t value_of(live_session *l, int64_t k)
{
    LIVE_OK(l, LIVE_DO(l, READ, k));
    return live_number(l);
}

/* Other nodes apply it in a moment; one that was away, a little later. */
static void comes_to(live_session *l, int64_t k, int64_t v)
{
    double until = live_seconds() + 30;

    while ((LIVE_DO(l, READ, k) != HF_DB_OK || live_number(l) != v) &&
           live_seconds() < until)
        hf_db_sleep(5u * 1000 * 1000);
    assert_int_equal(value_of(l, k), v);
}

/* A seed that chooses this node. */
static uint64_t seed_of(unsigned node)
{
    uint64_t seed = 0;

    /* and, of partitions, the one that isolates a node */
    while (hf_mix64(seed) % 3 != node || hf_mix64(seed + 1) % 4 == 0)
        seed++;
    return seed;
}

static uint64_t seed_of_all(void)
{
    uint64_t seed = 0;

    while (hf_mix64(seed + 1) % 4 != 0)
        seed++;
    return seed;
}

static void inject(hf_db_fault f, uint64_t seed, bool begin)
{
    hf_error err = {0};
    char why[100];

    assert_true(db->driver->can_fault(db, f, why, sizeof(why)));
    live_ok(db->driver->fault(db, f, seed, begin, &err), &err);
}

static void what_is_loaded_is_on_all_nodes(void **state)
{
    live_session on[3];

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        fresh(on);
        assert_int_equal(value_of(&on[1], 3), 0);
        assert_int_equal(value_of(&on[2], 3), 0);
        part(on);
    }
}

/* On two nodes at a time: each reads both and writes one. */
static void write_skew_commits_at_serializable(void **state)
{
    live_session on[3];
    unsigned both = 0;

    (void)state;
    for (unsigned i = 0; i < 200 && both == 0; i++) {
        unsigned done = 0;

        fresh(on);
        for (unsigned k = 0; k < 2; k++) {
            LIVE_OK(&on[k], live_begin(&on[k], HF_DB_SERIALIZABLE, false));
            (void)value_of(&on[k], 2 - k);
        }
        for (unsigned k = 0; k < 2; k++)
            LIVE_OK(&on[k], LIVE_DO(&on[k], WRITE, k + 1, 10));
        for (unsigned k = 0; k < 2; k++)
            done += live_commit(&on[k]) == HF_DB_OK;
        both += done == 2;
        part(on);
    }
    /* the second commit is in time or not; mostly it is, unless the machine
     * is busy */
    assert_true(both > 0);
}

static void one_row_is_certified(void **state)
{
    live_session on[3];
    hf_db_status second;

    (void)state;
    fresh(on);
    for (unsigned k = 0; k < 2; k++) {
        LIVE_OK(&on[k], live_begin(&on[k], HF_DB_REPEATABLE_READ, false));
        LIVE_OK(&on[k], LIVE_DO(&on[k], WRITE, 1, k + 1));
    }
    LIVE_OK(&on[0], live_commit(&on[0]));
    second = live_commit(&on[1]);
    live_said(&on[1], HF_DB_ABORTED, __FILE__, __LINE__);
    assert_int_equal(second, HF_DB_ABORTED);
    assert_string_equal(on[1].answer.code, "1213");
    for (unsigned k = 0; k < 3; k++)
        comes_to(&on[k], 1, 1);
    part(on);
}

static void a_node_goes_and_comes_back(hf_db_fault f)
{
    live_session on[3];
    double until = live_seconds() + 20;

    fresh(on);
    inject(f, seed_of(2), true);
    LIVE_IS(&on[2], LIVE_DO(&on[2], READ, 1), HF_DB_LOST);
    live_disconnect(&on[2]);
    /* the others go on, once they have noticed */
    while (LIVE_DO(&on[0], WRITE, 1, 5) != HF_DB_OK && live_seconds() < until) {
        live_disconnect(&on[0]);
        live_connect(&on[0], db, 0);
    }
    LIVE_OK(&on[0], 0);
    comes_to(&on[1], 1, 5);
    inject(f, seed_of(2), false);
    live_connect(&on[2], db, 2);
    comes_to(&on[2], 1, 5);
    part(on);
}

static void node_is_killed(void **state)
{
    (void)state;
    a_node_goes_and_comes_back(HF_FAULT_KILL);
}

static void node_is_restarted(void **state)
{
    (void)state;
    a_node_goes_and_comes_back(HF_FAULT_RESTART);
}

static void node_is_paused(void **state)
{
    (void)state;
    a_node_goes_and_comes_back(HF_FAULT_PAUSE);
}

/* Until the node answers so. */
static void comes_to_say(live_session *l, hf_db_status wanted)
{
    double until = live_seconds() + 40;

    while (LIVE_DO(l, WRITE, 2, 9) != wanted && live_seconds() < until) {
        if (l->answer.status == HF_DB_LOST) {
            hf_db *d = l->s->db;
            unsigned client = l->s->client;

            live_disconnect(l);
            live_connect(l, d, client);
        }
        hf_db_sleep(20u * 1000 * 1000);
    }
    live_said(l, wanted, __FILE__, __LINE__);
}

/* The nodes of these clients are alone, all others are not. */
static void parts(uint64_t seed, bool alone_0, bool alone_1)
{
    live_session on[3];
    const bool alone[2] = {alone_0, alone_1};

    fresh(on);
    for (unsigned i = 0; i < 3; i++)
        (void)value_of(&on[i], 1);
    inject(HF_FAULT_PARTITION, seed, true);
    for (unsigned i = 0; i < 2; i++)
        comes_to_say(&on[i], alone[i] ? HF_DB_ABORTED : HF_DB_OK);
    inject(HF_FAULT_PARTITION, seed, false);
    for (unsigned i = 0; i < 2; i++)
        comes_to_say(&on[i], HF_DB_OK);
    part(on);
}

static void node_is_parted(void **state)
{
    (void)state;
    parts(seed_of(1), false, true);
}

static void all_nodes_are_parted(void **state)
{
    (void)state;
    if (strstr(where, "network namespace") &&
        !strstr(where, "no network namespace"))
        parts(seed_of_all(), true, true);
}

static void little_is_promised(void **state)
{
    (void)state;
    for (unsigned i = 0; i < HF_DB_LEVEL_COUNT; i++) {
        const hf_db_promise *p = hf_db_promise_of(db, (hf_db_level)i);

        assert_non_null(p);
        assert_false(
            hf_level_implies(p->promised, HF_STRICT_SNAPSHOT_ISOLATION));
        assert_false(hf_level_implies(p->promised, HF_SERIALIZABLE));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_loaded_is_on_all_nodes),
        cmocka_unit_test(write_skew_commits_at_serializable),
        cmocka_unit_test(one_row_is_certified),
        cmocka_unit_test(little_is_promised),
        cmocka_unit_test(node_is_parted),
        cmocka_unit_test(all_nodes_are_parted),
        cmocka_unit_test(node_is_killed),
        cmocka_unit_test(node_is_restarted),
        cmocka_unit_test(node_is_paused),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
