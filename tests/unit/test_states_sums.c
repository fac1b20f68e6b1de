/* The search over states adds up in 64 bits.  Keys with sums that might not
 * fit are not for it: what it cannot add it must not refute.
 */
#include "check/states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "history/builder.h"
#include "history/text.h"
#include "verify/verify.h"

static hf_verdict ask(const char *text)
{
    hf_result *r = hf_result_new(HF_STRONG_SESSION_SERIALIZABLE, "states");
    hf_builder *b = hf_builder_new();
    char *reason = NULL;
    hf_verdict verdict;
    hf_history *h = NULL;
    hf_error err;

    if (hf_text_read(text, strlen(text), b, &err) != HF_OK ||
        hf_builder_finish(b, &h, &err) != HF_OK)
        fail_msg("%s", err.text);
    (void)hf_states_decide(h, NULL, r, &reason);
    verdict = r->verdict;
    hf_result_free(r);
    hf_history_free(h);
    return verdict;
}

static void sums_that_fit_are_decided(void **state)
{
    (void)state;
    assert_int_equal(
        ask("{\"initial\":[[\"x\",9223372036854775805]]}\n"
            "{\"ops\":[[\"inc\",\"x\",1],[\"r\",\"x\",9223372036854775806]]}\n"
            "{\"ops\":[[\"r\",\"x\",9223372036854775807],"
            "[\"inc\",\"x\",0]]}\n"
            "{\"ops\":[[\"inc\",\"x\",1]]}\n"),
        HF_VALID);
    assert_int_equal(ask("{\"initial\":[[\"x\",9223372036854775805]]}\n"
                         "{\"ops\":[[\"inc\",\"x\",1]]}\n"
                         "{\"ops\":[[\"r\",\"x\",9223372036854775808]]}\n"),
                     HF_INVALID);
}

/* A read of one's own sum, one of another's, and a way over the top and back,
 * the only one there is. */
static void sums_that_do_not_fit_are_left_open(void **state)
{
    (void)state;
    assert_int_not_equal(
        ask("{\"initial\":[[\"x\",9223372036854775807]]}\n"
            "{\"ops\":[[\"inc\",\"x\",1],[\"r\",\"x\",9223372036854775808]]}\n"
            "{\"ops\":[[\"inc\",\"x\",1]]}\n"),
        HF_INVALID);
    assert_int_not_equal(
        ask("{\"initial\":[[\"x\",-9223372036854775808]]}\n"
            "{\"ops\":[[\"inc\",\"x\",-1]]}\n"
            "{\"ops\":[[\"r\",\"x\",-9223372036854775809]]}\n"),
        HF_INVALID);
    assert_int_not_equal(
        ask("{\"session\":1,\"ops\":[[\"inc\",\"x\",9223372036854775807]]}\n"
            "{\"session\":1,\"ops\":[[\"inc\",\"x\",5]]}\n"
            "{\"session\":1,\"ops\":[[\"inc\",\"x\",-5]]}\n"
            "{\"session\":1,\"ops\":[[\"r\",\"x\",9223372036854775807]]}\n"),
        HF_INVALID);
}

/* Of unknown outcome: that it is wrong by itself must not be taken for
 * granted, nor that it can be left out. */
static void an_unknown_outcome_counts(void **state)
{
    (void)state;
    assert_int_not_equal(
        ask("{\"initial\":[[\"x\",9223372036854775807]]}\n"
            "{\"ops\":[[\"inc\",\"x\",1],[\"r\",\"x\",9223372036854775808],"
            "[\"w\",\"y\",1]],\"outcome\":\"unknown\"}\n"
            "{\"ops\":[[\"r\",\"y\",1]]}\n"),
        HF_INVALID);
}

/* 2^38 sums: who lists them all needs all memory there is. */
static hf_history *many_sums(void)
{
    char text[4000];
    long long amount = 1, sum = 0;
    int n = 0;
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    for (int i = 0; i < 38; i++, amount *= -3) {
        n += snprintf(text + n, sizeof(text) - (size_t)n,
                      "{\"ops\":[[\"inc\",\"x\",%lld]]}\n", amount);
        sum += i % 2 ? amount : 0;
    }
    n += snprintf(text + n, sizeof(text) - (size_t)n,
                  "{\"ops\":[[\"r\",\"x\",%lld]]}\n", sum / 2);
    if (hf_text_read(text, (size_t)n, b, &err) != HF_OK ||
        hf_builder_finish(b, &h, &err) != HF_OK)
        fail_msg("%s", err.text);
    return h;
}

static void many_sums_are_not_listed_by_check(void **state)
{
    hf_history *h = many_sums();
    uint32_t rank[2 * 39];
    hf_states_model model;
    hf_states s;

    (void)state;
    hf_states_build(&s, h, (hf_states_form){.partial = true}, NULL);
    assert_int_equal(s.n, 39);
    for (uint32_t i = 0; i < 2 * s.n; i++)
        rank[i] = i;
    hf_states_model_init(&model);
    assert_int_equal(hf_states_solve(&s, rank, NULL, &model), HF_STATES_OPEN);
    assert_false(model.cut_short); /* more time would not help */
    hf_states_model_release(&model);
    hf_states_release(&s);
    hf_history_free(h);
}

static void many_sums_are_not_listed_by_verify(void **state)
{
    hf_history *h = many_sums();
    hf_txn_id all[39];
    hf_claim claim = {.verdict = HF_INVALID,
                      .level = HF_PARALLEL_SNAPSHOT_ISOLATION,
                      .witness = {.kind = HF_WITNESS_CORE,
                                  .anomaly = HF_NO_ORDER,
                                  .order = all,
                                  .n_order = h->n_txns}};
    hf_verification v = {.accepted = false};
    hf_error err;

    (void)state;
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        all[t] = t;
    assert_int_equal(hf_verify_claim(h, &claim, NULL, &v, &err), HF_ERR_LIMIT);
    hf_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_that_fit_are_decided),
        cmocka_unit_test(sums_that_do_not_fit_are_left_open),
        cmocka_unit_test(an_unknown_outcome_counts),
        cmocka_unit_test(many_sums_are_not_listed_by_check),
        cmocka_unit_test(many_sums_are_not_listed_by_verify),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
