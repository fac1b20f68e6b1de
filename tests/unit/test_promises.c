/* test_promises.c: contradictions inside a history. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "history/builder.h"
#include "history/promises.h"

/* One history in the native text form, and what is wrong with it. */
typedef struct promise_case {
    const char *text;
    const char *says; /* NULL: nothing */
    uint64_t line;
} promise_case;

typedef hf_status (*promise_check)(const hf_history *h, hf_error *err);

static void run_cases(const promise_case *cases, size_t n, promise_check check)
{
    for (size_t i = 0; i < n; i++) {
        hf_error err = {.line = 77};
        hf_history *h = NULL;

        if (hf_load_memory(cases[i].text, strlen(cases[i].text), "jsonl", NULL,
                           &h, &err) != HF_OK)
            fail_msg("%s: %s", cases[i].text, err.text);
        if (!cases[i].says) {
            if (check(h, &err) != HF_OK)
                fail_msg("%s: %s", cases[i].text, err.text);
        } else {
            assert_int_equal(check(h, &err), HF_ERR_INPUT);
            assert_string_equal(err.text, cases[i].says);
            assert_int_equal(err.line, cases[i].line);
            assert_int_equal(check(h, NULL), HF_ERR_INPUT);
        }
        hf_history_free(h);
    }
}

#define RUN(cases, check)                                                      \
    run_cases(cases, sizeof(cases) / sizeof(*cases), check)

static void a_key_is_a_list_or_a_plain_value(void **state)
{
    static const promise_case cases[] = {
        {"{\"ops\":[[\"append\",1,1],[\"append\",1,2]]}\n"
         "{\"ops\":[[\"r\",1,[1,2]],[\"w\",2,1],[\"r\",2,1]]}\n",
         NULL, 0},
        {"{\"ops\":[[\"w\",1,1]]}\n\n{\"ops\":[[\"append\",1,2]]}\n",
         "key \"1\" is a list to T2, which appends to it, but a plain value "
         "to T1 (line 1), which writes it",
         3},
        {"{\"ops\":[[\"append\",1,1]]}\n{\"ops\":[[\"insert\",1,2]]}\n",
         "key \"1\" is a plain value to T2, which inserts it, but a list to "
         "T1 (line 1), which appends to it",
         2},
        {"{\"ops\":[[\"r\",2,[4]],[\"r\",2,4]]}\n",
         "key \"2\" is a plain value to T1, which reads a plain value, but a "
         "list to the same transaction, which reads a list",
         1},
        /* failed operations had no effect and returned nothing */
        {"{\"ops\":[[\"w\",1,1],"
         "{\"op\":\"append\",\"key\":1,\"value\":2,\"failed\":true}]}\n",
         NULL, 0},
        /* nil, and a read without a result, fit both */
        {"{\"ops\":[[\"r\",1,null],[\"r\",1],[\"append\",1,2]]}\n"
         "{\"ops\":[[\"r\",2,[]],[\"w\",2,2]]}\n",
         NULL, 0},
        {"{\"initial\":[[1,[5]]]}\n{\"ops\":[[\"r\",1,[5]]]}\n", NULL, 0},
        {"{\"initial\":[[1,[5]]]}\n{\"ops\":[[\"w\",1,6]]}\n",
         "key \"1\" is a plain value to T1, which writes it, but a list at "
         "the start",
         2},
        {"{\"initial\":[[1,5]]}\n{\"ops\":[[\"append\",1,6]]}\n",
         "key \"1\" is a list to T1, which appends to it, but a plain value "
         "at the start",
         2},
        {"{\"ops\":[[\"append\",\"y\",1],[\"append\",\"x\",1]]}\n"
         "{\"ops\":[{\"op\":\"pr\",\"where\":\"true\",\"versions\":"
         "[[\"y\",[1]],[\"x\",1]]}]}\n",
         "key \"x\" is a plain value to T2, which looks at such a version, "
         "but a list to T1 (line 1), which appends to it",
         2},
    };

    (void)state;
    RUN(cases, hf_promises_check);
}

static void operations_lie_inside_their_transaction(void **state)
{
    static const promise_case cases[] = {
        {"{\"begin\":5,\"end\":9,\"ops\":["
         "{\"op\":\"r\",\"key\":1,\"value\":null,\"at\":[5,9]}]}\n",
         NULL, 0},
        {"{\"begin\":5,\"end\":9,\"ops\":[[\"w\",1,1],"
         "{\"op\":\"r\",\"key\":1,\"value\":1,\"at\":[4,6]}]}\n",
         "T1 begins at 5, but its read of key \"1\" starts at 4", 1},
        {"{\"ops\":[]}\n{\"begin\":5,\"end\":9,\"ops\":["
         "{\"op\":\"w\",\"key\":[\"t\",\"k\"],\"value\":1,\"at\":[6,10]}]}\n",
         "T2 ends at 9, but its write of key \"t[k]\" ends at 10", 2},
        {"{\"begin\":5,\"end\":9,\"ops\":["
         "{\"op\":\"commit\",\"at\":[9,90000000000]}]}\n",
         "T1 ends at 9, but its commit ends at 90000000000", 1},
        /* longer than 32 bits can say */
        {"{\"begin\":5,\"end\":90000000000,\"ops\":["
         "{\"op\":\"w\",\"key\":1,\"value\":1,\"at\":[6,90000000000]}]}\n",
         NULL, 0},
        /* the answer never came; the end is not known */
        {"{\"begin\":5,\"end\":9,\"ops\":["
         "{\"op\":\"w\",\"key\":1,\"value\":1,\"at\":[6,null]}]}\n",
         NULL, 0},
        {"{\"begin\":5,\"outcome\":\"unknown\",\"ops\":["
         "{\"op\":\"w\",\"key\":1,\"value\":1,\"at\":[6,100]}]}\n",
         NULL, 0},
        {"{\"ops\":[],\"start_ts\":4,\"commit_ts\":4}\n"
         "{\"ops\":[],\"start_ts\":4}\n{\"ops\":[],\"commit_ts\":1}\n",
         NULL, 0},
        {"{\"id\":7,\"ops\":[],\"start_ts\":4,\"commit_ts\":4}\n"
         "{\"id\":9,\"ops\":[],\"start_ts\":4,\"commit_ts\":3}\n",
         "T9 commits at timestamp 3, before its start at timestamp 4", 2},
    };

    (void)state;
    RUN(cases, hf_promises_check);
}

#define TXN(session, begin, end)                                               \
    "{\"session\":" session ",\"begin\":" begin ",\"end\":" end ",\"ops\":[]}" \
    "\n"

static void a_session_does_one_thing_at_a_time(void **state)
{
    static const promise_case cases[] = {
        {TXN("1", "1", "5") TXN("2", "2", "9") TXN("1", "5", "7"), NULL, 0},
        {TXN("1", "1", "5") TXN("2", "2", "9") TXN("1", "4", "7"),
         "T3 begins at 4, before T1 (line 1), which is before it in session "
         "\"1\", ends at 5",
         3},
        /* the longest counts, not the last */
        {TXN("1", "1", "9") "{\"session\":1,\"ops\":[]}\n" TXN("1", "8", "9"),
         "T3 begins at 8, before T1 (line 1), which is before it in session "
         "\"1\", ends at 9",
         3},
        /* in the order of the file */
        {TXN("\"a\"", "6", "9") TXN("\"a\"", "1", "5"),
         "T2 begins at 1, before T1 (line 1), which is before it in session "
         "\"a\", ends at 9",
         2},
        /* aborted transactions took their time as well */
        {"{\"session\":1,\"begin\":1,\"end\":5,\"ops\":[[\"abort\"]]}\n" TXN(
             "1", "4", "6"),
         "T2 begins at 4, before T1 (line 1), which is before it in session "
         "\"1\", ends at 5",
         2},
        /* nobody waited for these */
        {"{\"session\":1,\"begin\":1,\"end\":5,\"outcome\":\"unknown\","
         "\"ops\":[]}\n" TXN("1", "4", "6"),
         NULL, 0},
        {"{\"session\":1,\"begin\":1,\"ops\":[]}\n" TXN("1", "4", "6"), NULL,
         0},
        {"{\"session\":1,\"ops\":[]}\n{\"session\":1,\"ops\":[]}\n", NULL, 0},
        {"{\"begin\":1,\"end\":5,\"ops\":[]}\n"
         "{\"begin\":1,\"end\":5,\"ops\":[]}\n",
         NULL, 0},
    };

    (void)state;
    RUN(cases, hf_promises_check_sessions);
}

/* Without lines and names the message says what it can. */
static void a_history_from_memory_has_no_lines(void **state)
{
    hf_builder *b = hf_builder_new();
    hf_session_id s = hf_builder_session_fresh(b);
    hf_key_id x = hf_builder_key_text(b, "x\n", 2);
    hf_history *h = NULL;
    hf_error err;
    hf_txn_id t = hf_builder_txn(b, s);

    (void)state;
    hf_builder_times(b, t, 1, 9);
    (void)hf_builder_op(b, t, HF_OP_APPEND, x, hf_builder_int(b, x, 1));
    t = hf_builder_txn(b, s);
    hf_builder_times(b, t, 2, 3);
    (void)hf_builder_op(b, t, HF_OP_WRITE, x, hf_builder_int(b, x, 1));
    (void)hf_builder_session_fresh(b); /* nobody's */
    assert_int_equal(hf_builder_finish(b, &h, &err), HF_OK);
    assert_int_equal(hf_promises_check(h, &err), HF_ERR_INPUT);
    assert_string_equal(err.text,
                        "key \"x\\x0a\" is a plain value to T2, which writes "
                        "it, but a list to T1, which appends to it");
    assert_true(err.line == HF_NO_PLACE);
    assert_int_equal(hf_promises_check_sessions(h, &err), HF_ERR_INPUT);
    assert_string_equal(err.text, "T2 begins at 2, before T1, which is before "
                                  "it in its session, ends at 9");
    hf_history_free(h);
}

/* hf_check() asks as well: what breaks a promise is no verdict. */
static void the_library_refuses(void **state)
{
    static const char overlap[] = TXN("1", "1", "5") TXN("1", "4", "7");
    static const char mixed[] =
        "{\"ops\":[[\"w\",1,1]]}\n{\"ops\":[[\"r\",1,[1]]]}\n";
    hf_history *h = NULL;
    hf_result *r = NULL;
    hf_error err;

    (void)state;
    assert_int_equal(
        hf_load_memory(mixed, sizeof(mixed) - 1, "jsonl", NULL, &h, &err),
        HF_OK);
    assert_int_equal(hf_check(h, "read-uncommitted", NULL, NULL, &r, &err),
                     HF_ERR_INPUT);
    hf_history_free(h);
    assert_int_equal(
        hf_load_memory(overlap, sizeof(overlap) - 1, "jsonl", NULL, &h, &err),
        HF_OK);
    assert_int_equal(hf_check(h, "causal", NULL, NULL, &r, &err), HF_ERR_INPUT);
    assert_int_equal(hf_check(h, "serializable", NULL, NULL, &r, &err), HF_OK);
    assert_int_equal(hf_result_verdict(r), HF_VALID);
    hf_result_free(r);
    hf_history_free(h);
}

/* ---- version sets -------------------------------------------------------- */

#define PR(versions)                                                           \
    "{\"ops\":[{\"op\":\"pr\",\"where\":\"true\",\"versions\":" versions       \
    ",\"rows\":[]}]}\n"
#define BAD "the certificate contradicts the history: a version set of "

static void version_sets_name_what_was_written(void **state)
{
    static const promise_case cases[] = {
        {"{\"ops\":[[\"w\",\"x\",1]]}\n" PR("[[\"x\",1],[\"y\",null]]"), NULL,
         0},
        {"{\"ops\":[[\"w\",\"x\",1]]}\n" PR("[[\"x\",2]]"),
         BAD "T2 has a version of key \"x\" that nobody wrote", 2},
        /* of whatever outcome, and intermediate ones */
        {"{\"ops\":[[\"w\",\"x\",1],[\"w\",\"x\",2]],\"outcome\":\"aborted\"}"
         "\n" PR("[[\"x\",1]]"),
         NULL, 0},
        /* what failed did not happen */
        {"{\"ops\":[{\"op\":\"w\",\"key\":\"x\",\"value\":1,\"failed\":true}]}"
         "\n" PR("[[\"x\",1]]"),
         BAD "T2 has a version of key \"x\" that nobody wrote", 2},
        /* initial versions */
        {"{\"initial\":[[\"x\",1]]}\n" PR("[[\"x\",1]]"), NULL, 0},
        {"{\"initial\":[[\"x\",1]]}\n" PR("[[\"x\",1,0]]"), NULL, 0},
        {"{\"initial\":[[\"x\",1]]}\n" PR("[[\"x\",null]]"),
         BAD "T1 has a version of key \"x\" that nobody wrote", 2},
        {"{\"initial\":[[\"x\",1]]}\n{\"ops\":[[\"delete\",\"x\"]]}\n" PR(
             "[[\"x\",null]]"),
         NULL, 0},
        {"{\"ops\":[[\"w\",\"x\",1]]}\n" PR("[[\"x\",1,0]]"),
         BAD "T2 has a version of key \"x\" that its writer did not write", 2},
        /* the writer that is named */
        {"{\"ops\":[[\"w\",\"x\",1]]}\n{\"ops\":[[\"w\",\"x\",1]]}\n" PR(
             "[[\"x\",1,1]]"),
         NULL, 0},
        {"{\"ops\":[[\"w\",\"x\",1]]}\n{\"ops\":[[\"w\",\"x\",2]]}\n" PR(
             "[[\"x\",1,2]]"),
         BAD "T3 has a version of key \"x\" that its writer did not write", 3},
        /* increments: with results, and without, when nothing is known */
        {"{\"ops\":[{\"op\":\"inc\",\"key\":\"x\",\"by\":1,\"before\":1,"
         "\"after\":2}]}\n" PR("[[\"x\",2]]"),
         NULL, 0},
        {"{\"ops\":[[\"inc\",\"x\",1]]}\n" PR("[[\"x\",7]]"), NULL, 0},
    };

    (void)state;
    RUN(cases, hf_promises_check);
}

static void version_sets_have_one_version_of_a_key(void **state)
{
    static const promise_case cases[] = {
        {"{\"ops\":[[\"w\",\"x\",1]]}\n{\"ops\":[[\"w\",\"x\",2]]}\n" PR(
             "[[\"x\",1],[\"x\",2]]"),
         BAD "T3 has two versions of key \"x\"", 3},
        {"{\"ops\":[[\"w\",\"x\",1]]}\n{\"ops\":[[\"w\",\"x\",1]]}\n" PR(
             "[[\"x\",1,1],[\"x\",1,2]]"),
         BAD "T3 has two versions of key \"x\"", 3},
        {"{\"ops\":[[\"w\",\"x\",1]]}\n" PR("[[\"x\",1],[\"x\",1]]"),
         BAD "T2 has one version of key \"x\" twice", 2},
        {"{\"ops\":[[\"w\",\"x\",1]]}\n" PR("[[\"x\",1]]") PR("[[\"x\",null]]"),
         NULL, 0},
        /* among the rows it is for the engines to say */
        {"{\"ops\":[[\"w\",\"x\",1]]}\n"
         "{\"ops\":[{\"op\":\"pr\",\"where\":\"true\",\"rows\":[[\"x\",1],"
         "[\"x\",2]]}]}\n",
         NULL, 0},
    };

    (void)state;
    RUN(cases, hf_promises_check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_a_list_or_a_plain_value),
        cmocka_unit_test(operations_lie_inside_their_transaction),
        cmocka_unit_test(a_session_does_one_thing_at_a_time),
        cmocka_unit_test(a_history_from_memory_has_no_lines),
        cmocka_unit_test(the_library_refuses),
        cmocka_unit_test(version_sets_name_what_was_written),
        cmocka_unit_test(version_sets_have_one_version_of_a_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
