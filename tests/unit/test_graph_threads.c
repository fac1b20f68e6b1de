/* test_graph_threads.c: the same answer for any number of threads.
 *
 * Histories large enough to be worked on in pieces, right and wrong ones, of
 * every kind of evidence: the result, written as JSON, must not depend on how
 * many threads there were.  A value written twice makes the pieces start
 * over, so one history has that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sort.h"
#include "base/threads.h"
#include "check/check.h"
#include "report/report.h"

static void write_result(const hf_history *h, hf_level level, unsigned threads,
                         hf_out *out)
{
    hf_check_options options = {.threads = threads};
    const hf_engine *graph = hf_engine_find(HF_STR("graph"));
    hf_result *r = NULL;
    hf_error err;
    hf_json j;

    assert_int_equal(graph->check(h, level, &options, NULL, &r, &err), HF_OK);
    r->seconds = 0;
    hf_json_init(&j, out);
    hf_result_write(h, r, &j);
    hf_result_free(r);
}

static void compare(const hf_history *h, hf_level level)
{
    hf_out one, many;

    hf_out_init_memory(&one);
    write_result(h, level, 1, &one);
    for (unsigned threads = 2; threads <= 3; threads++) {
        hf_out_init_memory(&many);
        write_result(h, level, threads, &many);
        assert_true(hf_str_eq(hf_out_view(&one), hf_out_view(&many)));
        hf_out_release(&many);
    }
    hf_out_release(&one);
}

static void answers_do_not_depend_on_threads(void **state)
{
    static const char *const runs[] = {
        "workload=register transactions=25000 min-ops=5 max-ops=6 "
        "level=serializable",
        "workload=register transactions=25000 min-ops=5 max-ops=6 "
        "inject=lost-update",
        "workload=register transactions=25000 min-ops=5 max-ops=6 "
        "inject=dirty-read",
        "workload=append transactions=25000 min-ops=5 max-ops=6 "
        "level=snapshot-isolation",
        "workload=append transactions=25000 min-ops=5 max-ops=6 "
        "inject=aborted-read",
    };
    static const hf_level levels[] = {HF_READ_COMMITTED, HF_CAUSAL,
                                      HF_STRICT_SERIALIZABLE};

    (void)state;
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        hf_history *h = NULL;
        hf_error err;

        if (hf_generated(runs[i], &h, &err) != HF_OK)
            fail_msg("%s: %s", runs[i], err.text);
        assert_true(h->n_ops >= 100000); /* or there is one piece only */
        for (size_t k = 0; k < sizeof(levels) / sizeof(levels[0]); k++)
            compare(h, levels[k]);
        hf_history_free(h);
    }
}

/* A long certified history in which two transactions far from each other
 * write the same value. */
static hf_history *with_a_value_twice(void)
{
    hf_builder *b = hf_builder_new();
    hf_key_id x = hf_builder_key_text(b, "x", 1);
    hf_history *h = NULL;
    hf_error err;

    for (int i = 0; i < 60000; i++) {
        hf_txn_id t = hf_builder_txn(b, hf_builder_session_number(b, i % 7));
        int written = i == 59000 ? 10 : i;

        hf_builder_op(b, t, HF_OP_READ, x,
                      i == 0 ? hf_builder_nil(b, x)
                             : hf_builder_int(b, x, i == 59001 ? 10 : i - 1));
        hf_builder_op(b, t, HF_OP_WRITE, x, hf_builder_int(b, x, written));
        hf_builder_order(b, x, t);
    }
    assert_int_equal(hf_builder_finish(b, &h, &err), HF_OK);
    return h;
}

static void a_value_written_twice_is_met_in_order(void **state)
{
    hf_history *h = with_a_value_twice();

    (void)state;
    compare(h, HF_SERIALIZABLE);
    compare(h, HF_READ_ATOMIC);
    hf_history_free(h);
}

/* ---- what it stands on --------------------------------------------------- */

static void mark(void *user, uint32_t i)
{
    ((uint8_t *)user)[i]++;
}

static void every_piece_is_done_once(void **state)
{
    uint8_t done[1000];

    (void)state;
    assert_true(hf_threads_available() >= 1);
    for (unsigned threads = 0; threads < 5; threads++) {
        memset(done, 0, sizeof(done));
        hf_threads_run(threads, sizeof(done), mark, done);
        for (size_t i = 0; i < sizeof(done); i++)
            assert_int_equal(done[i], 1);
    }
}

static void check_sorted(size_t n, uint64_t least, uint64_t range)
{
    hf_sortable *x = HF_NEW_ARRAY(hf_sortable, n + 1);
    uint64_t seed = 88172645463325252u;

    for (size_t i = 0; i < n; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        x[i] = (hf_sortable){least + seed % range, i};
    }
    hf_sort(x, n);
    for (size_t i = 1; i < n; i++)
        assert_true(x[i - 1].key < x[i].key ||
                    (x[i - 1].key == x[i].key && x[i - 1].value < x[i].value));
    hf_free(x);
}

static void sorting_is_stable(void **state)
{
    (void)state;
    check_sorted(0, 0, 1);
    check_sorted(1, 5, 1);
    check_sorted(60, 0, 7);
    check_sorted(5000, 1000, 50);
    check_sorted(5000, UINT64_MAX - 4096, 4096);
    check_sorted(100000, 0, UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_do_not_depend_on_threads),
        cmocka_unit_test(a_value_written_twice_is_met_in_order),
        cmocka_unit_test(every_piece_is_done_once),
        cmocka_unit_test(sorting_is_stable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
