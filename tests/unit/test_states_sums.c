/* The search over states adds up in 64 bits.  Keys with sums that might not
 * fit are not for it: what it cannot add it must not refute.
 */
#include "check/states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "history/builder.h"
#include "history/text.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_that_fit_are_decided),
        cmocka_unit_test(sums_that_do_not_fit_are_left_open),
        cmocka_unit_test(an_unknown_outcome_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
