/* test_summary.c: counts of a history built by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "history/builder.h"
#include "history/summary.h"

/* T1 (session 1): w x 1, r x 1 (its own)
 * T2 (session 2, aborted): w x 1
 * T3 (session 1): r x 1 (ambiguous), r x 7 (nobody's), r x (not recorded),
 *                 r x nil (initial), delete y
 * T4 (session 2, unknown): empty */
static hf_history *example(void)
{
    hf_builder *b = hf_builder_new();
    hf_session_id a = hf_builder_session_number(b, 1);
    hf_session_id c = hf_builder_session_number(b, 2);
    hf_key_id x = hf_builder_key_text(b, "x", 1);
    hf_key_id y = hf_builder_key_text(b, "y", 1);
    hf_value_id one = hf_builder_int(b, x, 1);
    hf_history *h = NULL;
    hf_error err;
    hf_txn_id t;

    t = hf_builder_txn(b, a);
    hf_builder_times(b, t, 100, 200);
    (void)hf_builder_op(b, t, HF_OP_WRITE, x, one);
    (void)hf_builder_op(b, t, HF_OP_READ, x, one);
    hf_builder_order(b, x, t);
    t = hf_builder_txn(b, c);
    hf_builder_outcome(b, t, HF_ABORTED);
    (void)hf_builder_op(b, t, HF_OP_WRITE, x, one);
    t = hf_builder_txn(b, a);
    hf_builder_times(b, t, 250, 900);
    hf_builder_level(b, t, 5);
    (void)hf_builder_op(b, t, HF_OP_READ | HF_OP_FOR_UPDATE, x, one);
    (void)hf_builder_op(b, t, HF_OP_READ, x, hf_builder_int(b, x, 7));
    (void)hf_builder_op(b, t, HF_OP_READ, x, HF_NONE);
    (void)hf_builder_op(b, t, HF_OP_READ, x, hf_builder_nil(b, x));
    (void)hf_builder_op(b, t, HF_OP_DELETE, y, hf_builder_nil(b, y));
    t = hf_builder_txn(b, c);
    hf_builder_outcome(b, t, HF_UNKNOWN_OUTCOME);
    assert_int_equal(hf_builder_finish(b, &h, &err), HF_OK);
    return h;
}

static void counts(void **state)
{
    hf_history *h = example();
    hf_summary s;

    (void)state;
    hf_history_summary(h, &s);
    assert_int_equal(s.by_outcome[HF_COMMITTED], 2);
    assert_int_equal(s.by_outcome[HF_ABORTED], 1);
    assert_int_equal(s.by_outcome[HF_UNKNOWN_OUTCOME], 1);
    assert_int_equal(s.by_kind[HF_OP_READ], 5);
    assert_int_equal(s.by_kind[HF_OP_WRITE], 2);
    assert_int_equal(s.by_kind[HF_OP_DELETE], 1);
    assert_int_equal(s.by_level[5], 1);
    assert_int_equal(s.by_level[HF_LEVEL_UNSET], 3);
    assert_int_equal(s.for_update, 1);
    assert_int_equal(s.duplicate_values, 1);
    assert_int_equal(s.ambiguous_reads, 1);
    assert_int_equal(s.unexplained_reads, 1);
    assert_int_equal(s.unrecorded_reads, 1);
    assert_int_equal(s.ops_min, 0);
    assert_int_equal(s.ops_median, 1);
    assert_int_equal(s.ops_max, 5);
    assert_int_equal(s.first_time, 100);
    assert_int_equal(s.last_time, 900);
    assert_int_equal(s.ordered_keys, 1);
    assert_int_equal(s.ordered_versions, 1);
    hf_history_free(h);
}

static void empty(void **state)
{
    hf_history *h = NULL;
    hf_error err;
    hf_summary s;

    (void)state;
    assert_int_equal(hf_builder_finish(hf_builder_new(), &h, &err), HF_OK);
    hf_history_summary(h, &s);
    assert_int_equal(s.by_outcome[HF_COMMITTED], 0);
    assert_int_equal(s.ops_max, 0);
    assert_true(s.first_time == HF_TIME_NONE);
    hf_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
