/* The embedded store, driven by hand: what each level lets a transaction see,
 * what commit refuses, and the table of bugs. */
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Two sessions and four keys, 0 .. 3; x and y are the first two. */
enum { A = 0, B = 1 };
enum { X = 0, Y = 1, Z = 2 };

static hf_store *store_of(hf_level level, bool only_rows)
{
    return hf_store_new(&(hf_store_options){.level = level,
                                            .sessions = 2,
                                            .keys = 4,
                                            .seed = 1,
                                            .only_rows = only_rows});
}

static hf_store *store(hf_level level)
{
    return store_of(level, false);
}

static hf_store_value value(int64_t number)
{
    return (hf_store_value){number, (uint32_t)number};
}

static void put(hf_store *s, uint32_t session, uint32_t key, int64_t number)
{
    assert_true(hf_store_write(s, session, key, value(number)));
}

/* The id read; -1: the initial version. */
static int get(hf_store *s, uint32_t session, uint32_t key)
{
    const hf_store_op *op = hf_store_read(s, session, key);

    return op->id == HF_NONE ? -1 : (int)op->id;
}

static hf_outcome commit(hf_store *s, uint32_t session)
{
    return hf_store_commit(s, session).outcome;
}

static void begin_both(hf_store *s)
{
    (void)hf_store_begin(s, A);
    (void)hf_store_begin(s, B);
}

/* One transaction that writes x = number. */
static void set_x(hf_store *s, uint32_t session, int64_t number)
{
    (void)hf_store_begin(s, session);
    put(s, session, X, number);
    assert_int_equal(commit(s, session), HF_COMMITTED);
}

/* ---- what is seen -------------------------------------------------------- */

static void own_writes_are_seen(void **state)
{
    (void)state;
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        hf_store *s = store((hf_level)l);

        (void)hf_store_begin(s, A);
        assert_int_equal(get(s, A, X), -1);
        put(s, A, X, 5);
        assert_int_equal(get(s, A, X), 5);
        put(s, A, X, 6);
        assert_int_equal(get(s, A, X), 6);
        assert_true(hf_store_delete(s, A, X));
        assert_int_equal(get(s, A, X), -1);
        put(s, A, X, 7);
        assert_int_equal(commit(s, A), HF_COMMITTED);
        (void)hf_store_begin(s, A);
        assert_int_equal(get(s, A, X), 7);
        assert_int_equal(commit(s, A), HF_COMMITTED);
        hf_store_free(s);
    }
}

static void snapshots_do_not_move(void **state)
{
    static const hf_level levels[] = {HF_SERIALIZABLE, HF_SNAPSHOT_ISOLATION,
                                      HF_PREFIX};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        hf_store *s = store(levels[i]);

        set_x(s, A, 1);
        begin_both(s);
        assert_int_equal(get(s, A, X), 1);
        put(s, B, X, 2);
        assert_int_equal(commit(s, B), HF_COMMITTED);
        assert_int_equal(get(s, A, X), 1);
        assert_int_equal(commit(s, A), HF_COMMITTED); /* only read */
        (void)hf_store_begin(s, A);
        assert_int_equal(get(s, A, X), 2);
        hf_store_free(s);
    }
}

static void read_committed_sees_the_newest_commit(void **state)
{
    hf_store *s = store(HF_READ_COMMITTED);

    (void)state;
    begin_both(s);
    assert_int_equal(get(s, A, X), -1);
    put(s, B, X, 2);
    assert_int_equal(get(s, A, X), -1);
    assert_int_equal(commit(s, B), HF_COMMITTED);
    assert_int_equal(get(s, A, X), 2);
    assert_int_equal(commit(s, A), HF_COMMITTED);
    hf_store_free(s);
}

static void read_uncommitted_sees_more_and_locks(void **state)
{
    hf_store *s = store(HF_READ_UNCOMMITTED);

    (void)state;
    begin_both(s);
    put(s, B, X, 2);
    assert_int_equal(get(s, A, X), 2);
    assert_false(hf_store_write(s, A, X, value(3)));
    assert_int_equal(hf_store_abort(s, A).outcome, HF_ABORTED);
    assert_int_equal(hf_store_abort(s, B).outcome, HF_ABORTED);
    (void)hf_store_begin(s, A);
    assert_int_equal(get(s, A, X), -1);
    hf_store_free(s);
}

static void rollback_leaves_nothing(void **state)
{
    (void)state;
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        hf_store *s = store((hf_level)l);
        hf_store_end end;

        set_x(s, A, 1);
        (void)hf_store_begin(s, A);
        put(s, A, X, 2);
        put(s, A, Y, 3);
        end = hf_store_abort(s, A);
        assert_int_equal(end.outcome, HF_ABORTED);
        assert_false(end.installed);
        assert_int_equal(hf_store_log(s, A).n_ops, 2);
        assert_int_equal(hf_store_log(s, A).n_writes, 0);
        (void)hf_store_begin(s, A);
        assert_int_equal(get(s, A, X), 1);
        assert_int_equal(get(s, A, Y), -1);
        hf_store_free(s);
    }
}

/* ---- what commit refuses ------------------------------------------------- */

/* A and B read x and both write it. */
static hf_outcome lost_update_in(hf_store *s)
{
    hf_outcome second;

    begin_both(s);
    (void)get(s, A, X);
    (void)get(s, B, X);
    put(s, A, X, 1);
    put(s, B, X, 2);
    assert_int_equal(commit(s, A), HF_COMMITTED);
    second = commit(s, B);
    hf_store_free(s);
    return second;
}

/* The same whether the store takes the short way or not. */
static hf_outcome lost_update(hf_level level)
{
    hf_outcome outcome = lost_update_in(store(level));

    assert_int_equal(lost_update_in(store_of(level, true)), outcome);
    return outcome;
}

/* A and B read x and y; A writes x and B writes y. */
static hf_outcome write_skew_in(hf_store *s)
{
    hf_outcome second;

    begin_both(s);
    (void)get(s, A, X);
    (void)get(s, A, Y);
    (void)get(s, B, X);
    (void)get(s, B, Y);
    put(s, A, X, 1);
    put(s, B, Y, 2);
    assert_int_equal(commit(s, A), HF_COMMITTED);
    second = commit(s, B);
    hf_store_free(s);
    return second;
}

static hf_outcome write_skew(hf_level level)
{
    hf_outcome outcome = write_skew_in(store(level));

    assert_int_equal(write_skew_in(store_of(level, true)), outcome);
    return outcome;
}

static void lost_updates_are_refused_from_consistent_view(void **state)
{
    (void)state;
    assert_int_equal(lost_update(HF_READ_COMMITTED), HF_COMMITTED);
    assert_int_equal(lost_update(HF_READ_ATOMIC), HF_COMMITTED);
    assert_int_equal(lost_update(HF_CAUSAL), HF_COMMITTED);
    assert_int_equal(lost_update(HF_PREFIX), HF_COMMITTED);
    assert_int_equal(lost_update(HF_CONSISTENT_VIEW), HF_ABORTED);
    assert_int_equal(lost_update(HF_REPEATABLE_READ), HF_ABORTED);
    assert_int_equal(lost_update(HF_PARALLEL_SNAPSHOT_ISOLATION), HF_ABORTED);
    assert_int_equal(lost_update(HF_SNAPSHOT_ISOLATION), HF_ABORTED);
    assert_int_equal(lost_update(HF_SERIALIZABLE), HF_ABORTED);
}

static void write_skew_is_refused_from_repeatable_read(void **state)
{
    (void)state;
    assert_int_equal(write_skew(HF_READ_COMMITTED), HF_COMMITTED);
    assert_int_equal(write_skew(HF_SNAPSHOT_ISOLATION), HF_COMMITTED);
    assert_int_equal(write_skew(HF_PARALLEL_SNAPSHOT_ISOLATION), HF_COMMITTED);
    assert_int_equal(write_skew(HF_REPEATABLE_READ), HF_ABORTED);
    assert_int_equal(write_skew(HF_SERIALIZABLE), HF_ABORTED);
    assert_int_equal(write_skew(HF_STRICT_SERIALIZABLE), HF_ABORTED);
}

static void a_row_is_inserted_once(void **state)
{
    hf_store *s = store(HF_READ_COMMITTED);

    (void)state;
    begin_both(s);
    assert_true(hf_store_insert(s, A, X, value(1)));
    assert_true(hf_store_insert(s, B, X, value(2)));
    assert_int_equal(commit(s, A), HF_COMMITTED);
    assert_int_equal(commit(s, B), HF_ABORTED);
    (void)hf_store_begin(s, A);
    assert_true(hf_store_delete(s, A, X));
    assert_int_equal(commit(s, A), HF_COMMITTED);
    (void)hf_store_begin(s, B);
    assert_true(hf_store_insert(s, B, X, value(2)));
    assert_int_equal(commit(s, B), HF_COMMITTED);
    hf_store_free(s);
}

/* ---- conditions ---------------------------------------------------------- */

/* "x y": the keys a scan returned. */
static const char *returned(const hf_store *s, uint32_t session,
                            const hf_store_scanned *scan, char *text)
{
    const hf_store_row *rows = hf_store_rows(s, session) + scan->first_row;
    size_t n = 0;

    for (size_t i = 0; i < scan->n_rows; i++)
        if (rows[i].returned)
            text[n++] = (char)('x' + (char)rows[i].key);
    text[n] = '\0';
    return text;
}

static void scans_return_what_matches(void **state)
{
    hf_store *s = store(HF_SNAPSHOT_ISOLATION);
    const hf_store_scanned *scan;
    const hf_store_row *rows;
    char text[8];

    (void)state;
    hf_store_load(s, Y, value(20));
    set_x(s, A, 10);
    begin_both(s);
    scan = hf_store_scan(s, A, HF_OP_PREDICATE_READ, 5, 15);
    assert_string_equal(returned(s, A, scan, text), "x");
    assert_int_equal(scan->n_rows, 4); /* the version set has every key */
    rows = hf_store_rows(s, A) + scan->first_row;
    assert_true(rows[Y].present && rows[Y].in_set && !rows[Y].returned);
    assert_int_equal(rows[Y].writer, HF_NONE);
    assert_int_equal(rows[X].writer, 0);
    assert_false(rows[Z].present);
    /* others' commits are not seen, own writes are */
    put(s, B, Z, 12);
    assert_int_equal(commit(s, B), HF_COMMITTED);
    put(s, A, Y, 11);
    assert_true(hf_store_delete(s, A, X));
    scan = hf_store_scan(s, A, HF_OP_PREDICATE_READ, 5, 15);
    assert_string_equal(returned(s, A, scan, text), "y");
    hf_store_free(s);
}

/* A and B look for rows from 0 to 9 and insert one each, with `number`. */
static hf_outcome predicate_skew(hf_level level, int64_t number)
{
    hf_store *s = store(level);
    hf_outcome second;

    begin_both(s);
    (void)hf_store_scan(s, A, HF_OP_PREDICATE_READ, 0, 9);
    (void)hf_store_scan(s, B, HF_OP_PREDICATE_READ, 0, 9);
    assert_true(hf_store_insert(s, A, X, value(number)));
    assert_true(hf_store_insert(s, B, Y, value(number)));
    assert_int_equal(commit(s, A), HF_COMMITTED);
    second = commit(s, B);
    hf_store_free(s);
    return second;
}

static void only_serializable_protects_conditions(void **state)
{
    (void)state;
    assert_int_equal(predicate_skew(HF_SERIALIZABLE, 5), HF_ABORTED);
    assert_int_equal(predicate_skew(HF_SERIALIZABLE, 10), HF_COMMITTED);
    assert_int_equal(predicate_skew(HF_SNAPSHOT_ISOLATION, 5), HF_COMMITTED);
    assert_int_equal(predicate_skew(HF_REPEATABLE_READ, 5), HF_COMMITTED);
}

/* ---- lists --------------------------------------------------------------- */

/* The elements of a list, as a string of digits. */
static const char *list(const hf_store *s, uint32_t v, char *text)
{
    char reversed[16];
    size_t n = 0;

    for (; v != HF_NONE; v = hf_store_version_at(s, v)->base)
        reversed[n++] = (char)('0' + hf_store_version_at(s, v)->number);
    for (size_t i = 0; i < n; i++)
        text[i] = reversed[n - 1 - i];
    text[n] = '\0';
    return text;
}

static void appends_go_on_top_of_what_is_there(void **state)
{
    hf_store *s = hf_store_new(&(hf_store_options){.level = HF_READ_COMMITTED,
                                                   .sessions = 2,
                                                   .keys = 1,
                                                   .keep_versions = true});
    char text[16];

    (void)state;
    begin_both(s);
    assert_true(hf_store_append(s, A, X, value(1)));
    assert_true(hf_store_append(s, B, X, value(2)));
    assert_true(hf_store_append(s, B, X, value(3)));
    assert_int_equal(commit(s, B), HF_COMMITTED);
    assert_int_equal(commit(s, A), HF_COMMITTED);
    assert_string_equal(list(s, hf_store_newest(s, X), text), "231");
    /* A shows its own element at the end of 231; B must not squeeze in */
    begin_both(s);
    assert_true(hf_store_append(s, A, X, value(4)));
    assert_string_equal(list(s, hf_store_read_list(s, A, X)->version, text),
                        "2314");
    assert_true(hf_store_append(s, B, X, value(5)));
    assert_int_equal(commit(s, B), HF_COMMITTED);
    assert_int_equal(commit(s, A), HF_ABORTED);
    assert_string_equal(list(s, hf_store_newest(s, X), text), "2315");
    hf_store_free(s);
}

/* ---- replicas ------------------------------------------------------------ */

static void replicas_lag_and_catch_up(void **state)
{
    static const hf_level levels[] = {HF_READ_ATOMIC, HF_PRAM, HF_CAUSAL,
                                      HF_PARALLEL_SNAPSHOT_ISOLATION};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        hf_store *s = store(levels[i]);

        assert_true(hf_store_is_replicated(s));
        set_x(s, A, 1);
        begin_both(s);
        assert_int_equal(get(s, A, X), 1);
        assert_int_equal(get(s, B, X), -1);
        for (int k = 0; k < 1000; k++)
            hf_store_deliver(s);
        assert_int_equal(get(s, B, X), -1); /* a snapshot is a snapshot */
        assert_int_equal(commit(s, B), HF_COMMITTED);
        (void)hf_store_begin(s, B);
        assert_int_equal(get(s, B, X), 1);
        hf_store_free(s);
    }
}

static void the_last_writer_wins_everywhere(void **state)
{
    hf_store *s = store(HF_CAUSAL);

    (void)state;
    begin_both(s);
    put(s, A, X, 1);
    put(s, B, X, 2);
    assert_int_equal(commit(s, B), HF_COMMITTED);
    assert_int_equal(commit(s, A), HF_COMMITTED);
    for (int k = 0; k < 1000; k++)
        hf_store_deliver(s);
    begin_both(s);
    assert_int_equal(get(s, A, X), 1);
    assert_int_equal(get(s, B, X), 1);
    hf_store_free(s);
}

/* ---- versions ------------------------------------------------------------ */

static void version_order_is_kept_if_asked(void **state)
{
    hf_store *s =
        hf_store_new(&(hf_store_options){.level = HF_SNAPSHOT_ISOLATION,
                                         .sessions = 1,
                                         .keys = 1,
                                         .keep_versions = true});
    uint32_t v;

    (void)state;
    for (int64_t i = 1; i <= 1000; i++)
        set_x(s, A, i);
    v = hf_store_newest(s, X);
    for (int64_t i = 1000; i >= 1; i--) {
        assert_int_equal(hf_store_version_at(s, v)->number, i);
        assert_int_equal(hf_store_version_at(s, v)->writer, i - 1);
        v = hf_store_version_at(s, v)->prev;
    }
    assert_int_equal(v, HF_NONE);
    hf_store_free(s);
}

static void old_versions_are_recycled(void **state)
{
    hf_store *s = store(HF_SNAPSHOT_ISOLATION);
    uint32_t largest = 0;

    (void)state;
    /* B's snapshot keeps what it can see, and only as long as it runs */
    set_x(s, A, 1);
    (void)hf_store_begin(s, B);
    for (int64_t i = 2; i <= 500; i++)
        set_x(s, A, i);
    assert_int_equal(get(s, B, X), 1);
    assert_int_equal(commit(s, B), HF_COMMITTED);
    for (int64_t i = 1; i <= 20000; i++) {
        set_x(s, A, i);
        if (hf_store_newest(s, X) > largest)
            largest = hf_store_newest(s, X);
    }
    assert_in_range(largest, 1, 1000);
    hf_store_free(s);
}

/* The short way: one transaction reads what it read first, while others write
 * so much that the undo ring must grow, and sees hundreds of own writes. */
static void the_short_way_keeps_snapshots(void **state)
{
    enum { KEYS = 500 };
    hf_store *s =
        hf_store_new(&(hf_store_options){.level = HF_SNAPSHOT_ISOLATION,
                                         .sessions = 2,
                                         .keys = KEYS,
                                         .only_rows = true});

    (void)state;
    assert_true(hf_store_is_plain(s));
    (void)hf_store_begin(s, A);
    for (uint32_t k = 0; k < KEYS; k++)
        put(s, A, k, k);
    for (uint32_t k = 0; k < KEYS; k++)
        assert_int_equal(get(s, A, k), k);
    assert_int_equal(commit(s, A), HF_COMMITTED);
    (void)hf_store_begin(s, B);
    for (uint32_t round = 1; round <= 20; round++) {
        (void)hf_store_begin(s, A);
        for (uint32_t k = 0; k < KEYS; k += round)
            put(s, A, k, 1000 * round + k);
        assert_int_equal(commit(s, A), HF_COMMITTED);
        for (uint32_t k = 0; k < KEYS; k++)
            assert_int_equal(get(s, B, k), k);
    }
    for (uint32_t k = 0; k < KEYS; k += 2)
        put(s, B, k, 100000 + k);
    for (uint32_t k = 0; k < KEYS; k++)
        assert_int_equal(get(s, B, k), k % 2 ? k : 100000 + k);
    assert_int_equal(commit(s, B), HF_ABORTED);
    (void)hf_store_begin(s, B);
    assert_int_equal(get(s, B, 20), 20020);
    assert_int_equal(get(s, B, 1), 1001);
    hf_store_free(s);
}

/* ---- bugs ---------------------------------------------------------------- */

static void bugs_are_found_by_name(void **state)
{
    hf_store_bug bug = HF_BUG_COUNT;
    const char *near = NULL;

    (void)state;
    for (unsigned i = 0; i < HF_BUG_COUNT; i++) {
        const hf_store_bug_info *info = hf_store_bug_get((hf_store_bug)i);

        assert_int_equal(info->bug, i);
        assert_true(strlen(info->summary) > 20);
        assert_true(info->workloads != 0);
        assert_true(info->percent <= 100);
        assert_true(hf_store_bug_find(hf_str_of(info->name), &bug, NULL));
        assert_int_equal(bug, i);
        /* the level it is shown at forbids what it shows */
        if (info->anomaly != HF_ANOMALY_COUNT) {
            assert_true(hf_level_forbids(info->shows_at, info->anomaly) ||
                        hf_level_forbids_partly(info->shows_at, info->anomaly));
            assert_true(hf_level_implies(info->shows_at, info->forbidden_from));
        }
    }
    assert_true(hf_store_bug_find(HF_STR("Lost_Update"), &bug, NULL));
    assert_int_equal(bug, HF_BUG_LOST_UPDATE);
    assert_false(hf_store_bug_find(HF_STR("lost-updte"), &bug, &near));
    assert_string_equal(near, "lost-update");
}

static void a_dirty_read_is_one(void **state)
{
    hf_store *s = hf_store_new(&(hf_store_options){.level = HF_SERIALIZABLE,
                                                   .bug = HF_BUG_DIRTY_READ,
                                                   .bug_percent = 100,
                                                   .sessions = 2,
                                                   .keys = 1});

    (void)state;
    begin_both(s);
    put(s, A, X, 1);
    assert_int_equal(get(s, B, X), 1);
    hf_store_free(s);
}

static void a_lost_commit_is_acknowledged(void **state)
{
    hf_store *s = hf_store_new(&(hf_store_options){.level = HF_SERIALIZABLE,
                                                   .bug = HF_BUG_COMMIT_LOST,
                                                   .bug_percent = 100,
                                                   .sessions = 1,
                                                   .keys = 1});
    hf_store_end end;

    (void)state;
    (void)hf_store_begin(s, A);
    put(s, A, X, 1);
    end = hf_store_commit(s, A);
    assert_int_equal(end.outcome, HF_COMMITTED);
    assert_false(end.installed);
    (void)hf_store_begin(s, A);
    assert_int_equal(get(s, A, X), -1);
    hf_store_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_writes_are_seen),
        cmocka_unit_test(snapshots_do_not_move),
        cmocka_unit_test(read_committed_sees_the_newest_commit),
        cmocka_unit_test(read_uncommitted_sees_more_and_locks),
        cmocka_unit_test(rollback_leaves_nothing),
        cmocka_unit_test(lost_updates_are_refused_from_consistent_view),
        cmocka_unit_test(write_skew_is_refused_from_repeatable_read),
        cmocka_unit_test(a_row_is_inserted_once),
        cmocka_unit_test(scans_return_what_matches),
        cmocka_unit_test(only_serializable_protects_conditions),
        cmocka_unit_test(appends_go_on_top_of_what_is_there),
        cmocka_unit_test(replicas_lag_and_catch_up),
        cmocka_unit_test(the_last_writer_wins_everywhere),
        cmocka_unit_test(version_order_is_kept_if_asked),
        cmocka_unit_test(old_versions_are_recycled),
        cmocka_unit_test(the_short_way_keeps_snapshots),
        cmocka_unit_test(bugs_are_found_by_name),
        cmocka_unit_test(a_dirty_read_is_one),
        cmocka_unit_test(a_lost_commit_is_acknowledged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
