/* test_formats_b.c: Jepsen's histories and their relatives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "formats_util.h"

#include "describe_util.h"

#ifndef ROUNDS
#define ROUNDS 10000
#endif

/* ---- Elle's histories ---------------------------------------------------- */

static const char list_sample[] =
    "; a history of lists\n"
    "{:type :invoke, :f :txn, :value [[:append 1 1] [:r 2 nil]], "
    ":process 0, :time 10, :index 0}\n"
    "{:type :invoke, :f :txn, :value [[:r 1 nil] [:append 2 5]], "
    ":process 1, :time 20, :index 1}\n"
    "{:type :info, :f :start, :value [:n1 \"a\\n}\"], :process :nemesis, "
    ":time 21, :index 2}\n"
    "{:type :ok, :f :txn, :value [[:append 1 1] [:r 2 []]], :process 0, "
    ":time 30, :index 3}\n"
    "{:type :fail, :f :txn, :value [[:r 1 nil] [:append 2 5]], :process 1, "
    ":time 40, :index 4, :error [:abort {:a 1}]}\n"
    "{:type :invoke, :f :txn, :value [[:append 1 2] [:r 1 nil]], "
    ":process 2, :time 50, :index 5}\n"
    "{:type :invoke, :f :txn, :value [[:r 1 nil]], :process 0, :time 60, "
    ":index 6}\n"
    "{:type :ok, :f :txn, :value [[:r 1 [1 2]]], :process 0, :time 70, "
    ":index 7}\n"
    "{:type :info, :f :txn, :value [[:append 1 2] [:r 1 nil]], "
    ":process 2, :time 80, :index 8}\n"
    "{:type :invoke, :f :txn, :value [[:append 3 9]], :process 1, "
    ":time 90, :index 9}\n";

static void test_elle_lists(void **state)
{
    hf_history *h =
        assert_described("elle-edn", list_sample,
                         "0 committed [10 30]: append 1 1 | list read 2 nil\n"
                         "1 aborted [20 40]: read 1 ? | append 2 5\n"
                         "0 committed [60 70]: list read 1 [1 2]\n"
                         "2 unknown [50 -]: append 1 2 | read 1 ?\n"
                         "1 unknown [90 -]: append 3 9\n");
    static const int64_t labels[] = {3, 4, 7, 8, 9};
    static const uint32_t lines[] = {5, 6, 9, 10, 11};

    (void)state;
    assert_int_equal(h->time_unit, HF_TIME_UNIT_NS);
    assert_int_equal(h->n_skipped, 1);
    for (hf_txn_id t = 0; t < 5; t++) {
        assert_int_equal(hf_txn_label(h, t), labels[t]);
        assert_int_equal(h->txn_line[t], lines[t]);
    }
    hf_history_free(h);
}

static void test_elle_registers(void **state)
{
    /* times fall and an index is missing: places instead, and no labels */
    hf_history *h = assert_described(
        "elle-edn",
        "[{:index 0, :type :invoke, :process 3 :value [[ :w :x 1 ]]}\n"
        " {:index 1 :time 5 :type :ok :process 3 :value [[ :w :x 1 ]]},\n"
        " {:type :invoke :process 3 :f :txn :value [[:r :x nil] [:r :y]]}\n"
        " #jepsen.history.Op{:type :ok :process 3 :f :txn\n"
        "   :value [[:r :x 1] [:r :y nil] [:r :z]]}]\n",
        "3 committed [1 2]: write x 1\n"
        "3 committed [3 4]: read x 1 | read y nil | read z ?\n");

    (void)state;
    assert_int_equal(h->time_unit, HF_TIME_UNIT_EVENT);
    assert_null(h->txn_label);
    assert_int_equal(h->txn_line[1], 4);
    hf_history_free(h);
}

static void test_elle_values_of_all_kinds(void **state)
{
    (void)state;
    hf_history_free(assert_described(
        "elle-edn",
        "{:type :ok :process 1 :value [[:w \"k \\u00e9\" -7] [:w \"l\" :a] "
        "[:w \"l\" 2.5] [:r \"l\" true]]}",
        "1 committed [- -]: write k \xc3\xa9 -7 | write l \"a\" | "
        "write l \"2.5\" | read l \"\"\n"));
}

static void test_elle_without_process(void **state)
{
    (void)state;
    /* two overlapping operations: told apart by what they write */
    hf_history_free(
        assert_described("elle-edn",
                         "{:type :invoke :value [[:w 1 1] [:r 2 nil]]}\n"
                         "{:type :invoke :value [[:w 1 2]]}\n"
                         "{:type :ok :value [[:w 1 2]]}\n"
                         "{:type :ok :value [[:w 1 1] [:r 2 7]]}\n"
                         "{:type :invoke :value [[:w 1 3]]}\n",
                         "#0 committed [2 3]: write 1 2\n"
                         "#1 committed [1 4]: write 1 1 | read 2 7\n"
                         "#2 unknown [5 -]: write 1 3\n"));
    /* outcomes only */
    hf_history_free(assert_described("elle-edn",
                                     "{:type :fail :value [[:w 1 1]]}\n"
                                     "{:type :ok :value [[:r 1 1]]}\n"
                                     "{:type :info :value [[:w 1 4]]}\n",
                                     "#0 aborted [- -]: write 1 1\n"
                                     "#1 committed [- -]: read 1 1\n"
                                     "#2 unknown [- -]: write 1 4\n"));
}

/* Lists that continue, repeat, shorten and contradict what was read. */
static void test_elle_list_texts(void **state)
{
    (void)state;
    hf_history_free(assert_described(
        "elle-edn",
        "{:type :ok :process 0 :value [[:r 1 [1 2 3]]]}\n"
        "{:type :ok :process 0 :value [[:r 1 [1 2 3]]]}\n"
        "{:type :ok :process 0 :value [[:r 1 [1 2]]]}\n"
        "{:type :ok :process 0 :value [[:r 1 [1 2 34]]]}\n"
        "{:type :ok :process 0 :value [[:r 1 [1 2 3 4 -5]]]}\n"
        "{:type :ok :process 0 :value [[:r 1 [1 2 34 4 5 6]]]}\n"
        "{:type :ok :process 0 :value [[:r 1 [1  2,34 ]]]}\n"
        "{:type :ok :process 0 :value [[:r 1 [1 2 3 4 -5]]]}\n"
        "{:type :ok :process 0 :value [[:r 1 [12]] [:r 1 []] [:r 1 nil]]}\n"
        "{:type :ok :process 0 :value [[:r 2 [1]] [:r 1 [1]]]}\n",
        "0 committed [- -]: list read 1 [1 2 3]\n"
        "0 committed [- -]: list read 1 [1 2 3]\n"
        "0 committed [- -]: list read 1 [1 2]\n"
        "0 committed [- -]: list read 1 [1 2 34]\n"
        "0 committed [- -]: list read 1 [1 2 3 4 -5]\n"
        "0 committed [- -]: list read 1 [1 2 34 4 5 6]\n"
        "0 committed [- -]: list read 1 [1 2 34]\n"
        "0 committed [- -]: list read 1 [1 2 3 4 -5]\n"
        "0 committed [- -]: list read 1 [12] | list read 1 nil | "
        "list read 1 nil\n"
        "0 committed [- -]: list read 2 [1] | list read 1 [1]\n"));
}

static void test_elle_json(void **state)
{
    static const char wanted[] =
        "0 committed [1 2]: list read x [3 4] | append y 1\n"
        "1 aborted [3 4]: append z 4 | read z ?\n";

    (void)state;
    hf_history_free(assert_described(
        "elle-json",
        "[{\"index\":0,\"type\":\"invoke\",\"process\":0,\"f\":\"txn\","
        "\"value\":[[\"r\",\"x\",null],[\"append\",\"y\",1]]},\n"
        "{\"index\":1,\"type\":\"ok\",\"process\":0,\"f\":\"txn\","
        "\"value\":[[\"r\",\"x\",[3,4]],[\"append\",\"y\",1]]},\n"
        "{\"index\":2,\"type\":\"invoke\",\"process\":1,\"f\":\"txn\","
        "\"value\":[[\"append\",\"z\",4],[\"r\",\"z\",null]]},\n"
        "{\"index\":3,\"type\":\"fail\",\"process\":1,\"f\":\"txn\","
        "\"value\":[[\"append\",\"z\",4],[\"r\",\"z\",null]]}]\n",
        wanted));
    hf_history_free(assert_described(
        "elle-json",
        "{\"type\":\"invoke\",\"process\":0,\"value\":[[\"w\",1,2]]}\n"
        "{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",1,2]],"
        "\"x\":{\"a\":[1,{}]}}\n",
        "0 committed [1 2]: write 1 2\n"));
}

static void test_elle_refusals(void **state)
{
    static const struct {
        const char *text;
        uint64_t line;
        const char *message;
    } cases[] = {
        {"", 0, "none of a client"},
        {"[]", 0, "none of a client"},
        {"{:type :ok :process 1 :value [[:w 1 1]]}\n{:type :ok", 2,
         "found the end of the input"},
        {"{:type :ok :process 1 :value [[:w 1 1]}\n", 1, "expected \"]\""},
        {"[{:type :ok :process 1 :value [[:w 1 1]]}", 1, "expected \"]\""},
        {"[{:type :ok :process 1 :value [[:w 1 1]]})", 1, "expected \"]\""},
        {"{:type :ok :process 1 :value [[:w 1 1]]}]", 1, "expected"},
        {"[{:type :ok :process 1 :value [[:w 1 1]]}] 7]", 1,
         "expected the end of the input"},
        {"7\n{:type :ok}", 1, "expected the map of an event"},
        {"{:process 1 :value [[:w 1 1]]}", 1, "expected a type"},
        {"{:type :okay :process 1 :value []}", 1, "invoke, ok, fail or info"},
        {"{:type :invoke :process 1 :value [[:w 1 1]]}\n"
         "{:type :invoke :process 1 :value [[:w 1 2]]}",
         2, "process 1 invokes again before its operation of line 1"},
        {"{:type :invoke :process 1 :value [[:w 1 1]]}\n\n"
         "{:type :ok :process 2 :value [[:w 1 2]]}",
         3, "without an invocation"},
        {"{:type :ok :process 2 :value [[:w 1 2]]}\n"
         "{:type :invoke :process 1 :value [[:w 1 1]]}",
         2, "began with completions"},
        {"{:type :ok :process 1 :value [[:w 1 1] [:append 1 2]]}", 1,
         "no append in a history of registers"},
        {"{:type :ok :process 1 :value [[:append 1 1] [:w 1 2]]}", 1,
         "no write in a history of lists"},
        {"{:type :ok :process 1 :value [[:append 1 1] [:r 1 2]]}", 1,
         "expected a list"},
        {"{:type :ok :process 1 :value [[:w 1 1] [:r 1 [2]]]}", 1,
         "a register, no list"},
        {"{:type :ok :process 1 :value [[:w 1]]}", 1, "a value written"},
        {"{:type :ok :process 1 :value [[:w 1 2 3]]}", 1,
         "the end of a micro-operation"},
        {"{:type :ok :process 1 :value [[:r 1 2 3]]}", 1,
         "the end of a micro-operation"},
        {"{:type :ok :process 1 :value [[:w [1] 2]]}", 1, "expected a key"},
        {"{:type :ok :process 1 :value [[:w :x 2] [:w \"x\" 3]]}", 1,
         "a key of the same kind"},
        {"{:type :ok :process 1 :value [[:cas 1 2]]}", 1, "r, w or append"},
        {"{:type :ok :process 1 :value [[]]}", 1, "a micro-operation"},
        {"{:type :ok :process 1 :value [1]}", 1, "expected a vector"},
        {"{:type :ok :process 1 :value 1}", 1, "expected a vector"},
        {"{:type :ok :process 1}", 1, "without a value"},
        {"{:type :ok :process 1 :f :read :value [[:r 1 1]]}", 1,
         "whose f is txn"},
        {"{:type :invoke :process 1 :value [[:w 1 1]}\n", 1, "expected \"]\""},
        {"{:type :ok :process 1 :value [[:append 1 1] [:r 1 [1 nil]]]}", 1,
         "an element that is not nil"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_refused_at("elle-edn", cases[i].text, cases[i].line,
                          cases[i].message);
    assert_refused_at("elle-json",
                      "{\"type\":\"ok\",\"value\":[[\"append\",1,1]]}\n"
                      "{\"type\":\"ok\",\"value\":[[\"w\",1,2]]}",
                      2, "expected no write in a history of lists, found one");
    assert_refused_at("elle-edn",
                      "{:type :ok :value [[:w 1 1]\n [:append 1\n 2]]}", 2,
                      "expected no append in a history of registers, found "
                      "one");
    assert_refused_at("elle-json", "[{\"type\":\"ok\",\"value\":[[\"w\" 1]]}]",
                      1, "expected");
    assert_refused_at("elle-json", "[{\"type\":\"ok\",\"value\":[]}", 1,
                      "expected");
}

/* ---- fast and general readers agree -------------------------------------- */

/* A comment at the end keeps the fast reader away. */
static hf_status import_general(const char *text, size_t length,
                                hf_history **ret_h, hf_error *err)
{
    static const char tail[] = "\n;.";
    char *copy = malloc(length + sizeof(tail));
    hf_status st;

    assert_non_null(copy);
    memcpy(copy, text, length);
    memcpy(copy + length, tail, sizeof(tail) - 1);
    st = import_bytes("elle-edn", copy, length + sizeof(tail) - 1, ret_h, err);
    free(copy);
    return st;
}

static void assert_agree(const char *text, size_t length)
{
    hf_history *fast = NULL, *general = NULL;
    hf_error fast_err, general_err;
    hf_status st = import_bytes("elle-edn", text, length, &fast, &fast_err);
    hf_status st2 = import_general(text, length, &general, &general_err);

    if (st != st2)
        fail_msg("fast: %s, general: %s, on:\n%.*s",
                 st == HF_OK ? "accepted" : fast_err.text,
                 st2 == HF_OK ? "accepted" : general_err.text, (int)length,
                 text);
    if (st == HF_OK) {
        char *a = describe(fast), *b = describe(general);

        assert_string_equal(a, b);
        assert_int_equal(fast->n_skipped, general->n_skipped);
        free(a);
        free(b);
    }
    hf_history_free(fast);
    hf_history_free(general);
}

/* Keys beyond the builder's table of small numbers, which takes longer to
 * clear than all the rest. */
static const char damaged_sample[] =
    "{:type :invoke, :f :txn, :value [[:append :x 1] [:r 7000000 nil]], "
    ":process 0, :time 10, :index 0}\n"
    "{:type :invoke, :f :txn, :value [[:r :x nil] [:append 7000000 5]], "
    ":process 1, :time 20, :index 1}\n"
    "{:type :info, :f :start, :value [:n1 \"a\\n}\"], :process :nemesis, "
    ":time 21}\n"
    "{:index 3 :value [[:append :x 1] [:r 7000000 []]], :type :ok, :process 0, "
    ":time 30}\n"
    "{:type :fail, :f :txn, :value [[:r :x nil] [:append 7000000 5]], "
    ":process 1, :time 40, :index 4, :error [:abort {:a 1}]}\n"
    "{:type :invoke, :value [[:append :x -2] [:r :x]], :process 2, :time 50}\n"
    "{:type :invoke, :f :txn, :value [[:r :x nil]], :process 0, :time 60}\n"
    "{:type :ok, :f :txn, :value [[:r :x [1 -2]] [:r :x [1]]], :process 0, "
    ":time 70, :index 7}\n"
    "{:type :info, :value [[:append :x -2] [:r :x nil]], :process 2}\n";

/* Damages the sample in every way a byte can be damaged. */
static void test_readers_agree(void **state)
{
    static const char spice[] = "[]{}()#_\";:\\, \n0-9nilrwa";
    char text[sizeof(damaged_sample) + 8];
    size_t length = sizeof(damaged_sample) - 1;
    hf_rng rng;

    (void)state;
    assert_agree(list_sample, sizeof(list_sample) - 1);
    for (size_t n = 0; n <= length; n++)
        assert_agree(damaged_sample, n);
    hf_rng_seed(&rng, 7);
    for (int round = 0; round < ROUNDS; round++) {
        size_t at = hf_rng_below(&rng, (uint32_t)length);
        size_t changed = length;

        memcpy(text, damaged_sample, length);
        switch (hf_rng_below(&rng, 3)) {
        case 0:
            text[at] = spice[hf_rng_below(&rng, sizeof(spice) - 1)];
            break;
        case 1:
            memmove(text + at, text + at + 1, length - at - 1);
            changed = length - 1;
            break;
        default:
            memmove(text + at + 1, text + at, length - at);
            text[at] = spice[hf_rng_below(&rng, sizeof(spice) - 1)];
            changed = length + 1;
            break;
        }
        assert_agree(text, changed);
    }
}

/* ---- export -------------------------------------------------------------- */

static void assert_round_trip(const char *format, const char *sample)
{
    hf_history *h = import_text("elle-edn", sample);
    hf_history *again = round_trip(format, h);
    char *a = describe(h), *b = describe(again);

    assert_string_equal(a, b);
    free(a);
    free(b);
    hf_history_free(h);
    hf_history_free(again);
}

static void test_elle_round_trips(void **state)
{
    /* in the order of completions and with all times, as the importer has
     * them */
    static const char registers[] =
        "{:type :invoke :process 4 :time 1 :value [[:w :a-b 1] [:r :c nil]]}\n"
        "{:type :invoke :process 5 :time 2 :value [[:w :a-b 2]]}\n"
        "{:type :ok :process 4 :time 3 :value [[:w :a-b 1] [:r :c]]}\n"
        "{:type :invoke :process 4 :time 4 :value [[:r :a-b nil]]}\n"
        "{:type :fail :process 5 :time 6 :value [[:w :a-b 2]]}\n"
        "{:type :ok :process 4 :time 7 :value [[:r :a-b \"q\\\"\\n\"]]}\n"
        "{:type :invoke :process 4 :time 8 :value [[:w :a-b 3] [:r :c nil]]}\n";

    (void)state;
    assert_round_trip("elle-edn", registers);
    assert_round_trip("elle-json", registers);
    assert_round_trip("elle-edn", list_sample);
    assert_round_trip("elle-json", list_sample);
}

/* T1 ends when T2 begins: neither precedes the other, also when read back. */
static void test_elle_export_ties(void **state)
{
    hf_builder *b = hf_builder_new();
    hf_key_id x = hf_builder_key_text(b, "x y", 3);
    hf_history *h, *again;
    hf_txn_id t;
    hf_error err;

    (void)state;
    t = hf_builder_txn(b, hf_builder_session_text(b, "one", 3));
    hf_builder_times(b, t, 5, 9);
    (void)hf_builder_op(b, t, HF_OP_WRITE, x, hf_builder_int(b, x, 1));
    t = hf_builder_txn(b, hf_builder_session_text(b, "two", 3));
    hf_builder_times(b, t, 9, 12);
    (void)hf_builder_op(b, t, HF_OP_READ, x, hf_builder_int(b, x, 1));
    assert_int_equal(hf_builder_finish(b, &h, &err), HF_OK);
    again = round_trip("elle-edn", h);
    assert_int_equal(again->n_txns, 2);
    assert_true(again->txn_begin[1] < again->txn_end[0]);
    assert_int_equal(hf_key_scalar(again, 0).length, 3);
    hf_history_free(h);
    hf_history_free(again);
}

/* No times: no order between sessions may appear. */
static void test_elle_export_without_times(void **state)
{
    static const char *const formats[] = {"elle-edn", "elle-json"};
    static const char text[] =
        "{\"session\":1,\"ops\":[[\"w\",1,1]]}\n"
        "{\"session\":2,\"ops\":[[\"r\",1,null]]}\n"
        "{\"session\":1,\"ops\":[[\"w\",1,2]],\"outcome\":\"aborted\"}\n"
        "{\"session\":2,\"ops\":[]}\n"
        "{\"session\":1,\"ops\":[[\"w\",1,3]],\"outcome\":\"unknown\"}\n"
        "{\"session\":1,\"ops\":[[\"r\",1,3]]}\n";
    hf_history *h = import_text("jsonl", text);

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        hf_history *again;
        hf_error err;
        hf_out out;

        assert_int_equal(export_memory(formats[i], h, &out, &err), HF_OK);
        hf_out_char(&out, '\0');
        assert_null(strstr(out.at, "invoke"));
        assert_null(strstr(out.at, "time"));
        again = import_good(NULL, out.at, out.n - 1);
        assert_string_equal(again->format, formats[i]);
        assert_null(again->txn_begin);
        assert_int_equal(again->time_unit, HF_TIME_UNIT_NONE);
        assert_history(again, "s0 committed: write 1 1\n"
                              "s1 committed: read 1 nil*\n"
                              "s0 aborted: write 1 2\n"
                              "s1 committed:\n"
                              "s0 unknown: write 1 3\n"
                              "s0 committed: read 1 3\n");
        hf_history_free(again);
        hf_out_release(&out);
    }
    hf_history_free(h);
    /* times that only some have claim nothing either */
    h = import_text("jsonl", "{\"session\":1,\"ops\":[[\"w\",1,1]],"
                             "\"begin\":1,\"end\":2}\n"
                             "{\"session\":2,\"ops\":[[\"r\",1,null]]}\n");
    {
        hf_history *again = round_trip("elle-edn", h);

        assert_non_null(h->txn_begin);
        assert_null(again->txn_begin);
        assert_int_equal(again->n_txns, 2);
        hf_history_free(again);
    }
    hf_history_free(h);
}

static void assert_not_written(const char *format, const char *text,
                               const char *message)
{
    hf_history *h = import_text("jsonl", text);
    hf_error err;
    hf_out out;

    assert_int_equal(export_memory(format, h, &out, &err), HF_ERR_UNSUPPORTED);
    assert_string_equal(err.text, message);
    assert_int_equal(out.n, 0);
    hf_out_release(&out);
    hf_history_free(h);
}

/* Whoever reads the file takes unique values as promised. */
static void test_elle_export_unique(void **state)
{
    static const char twice[] = "{\"ops\":[[\"w\",\"x\",5]]}\n"
                                "{\"ops\":[[\"w\",\"y\",5]]}\n"
                                "{\"ops\":[[\"w\",\"x\",5]]}\n";
    hf_history *h, *again;

    (void)state;
    assert_not_written("elle-edn", twice,
                       "the value 5 is written twice to key \"x\", by T1 and "
                       "T3, which elle-edn cannot express");
    assert_not_written("elle-json",
                       "{\"ops\":[[\"append\",1,\"a\"],[\"append\",1,\"a\"]],"
                       "\"outcome\":\"aborted\"}\n",
                       "the value \"a\" is written twice to key 1, by T1 and "
                       "T1, which elle-json cannot express");
    /* it is promised already, and broken */
    h = import_text("elle-edn", "{:type :ok :process 1 :value [[:w 1 5]]}\n"
                                "{:type :ok :process 2 :value [[:w 1 5]]}\n");
    again = round_trip("elle-json", h);
    assert_true(again->unique_values);
    assert_same_history(h, again);
    hf_history_free(again);
    hf_history_free(h);
}

static void test_elle_export_initial(void **state)
{
    hf_history *h, *again;

    (void)state;
    assert_not_written("elle-edn",
                       "{\"initial\":[[1,7]]}\n{\"ops\":[[\"r\",1,7]]}\n",
                       "key 1 has the initial value 7, which elle-edn cannot "
                       "express");
    assert_not_written("elle-json",
                       "{\"initial\":[[\"k\",\"a\"]]}\n"
                       "{\"ops\":[[\"w\",\"k\",1]]}\n",
                       "key \"k\" has the initial value \"a\", which elle-json "
                       "cannot express");
    h = import_text("jsonl", "{\"initial\":[[1,0]]}\n"
                             "{\"ops\":[[\"r\",1,0],[\"w\",1,2]]}\n");
    again = round_trip("elle-edn", h);
    assert_same_history(h, again);
    hf_history_free(again);
    hf_history_free(h);
}

typedef void (*add_ops)(hf_builder *b, hf_txn_id t, hf_key_id x);

static void add_insert(hf_builder *b, hf_txn_id t, hf_key_id x)
{
    (void)hf_builder_op(b, t, HF_OP_INSERT, x, hf_builder_int(b, x, 1));
}

static void add_mixed(hf_builder *b, hf_txn_id t, hf_key_id x)
{
    hf_key_id y = hf_builder_key_int(b, 2);

    (void)hf_builder_op(b, t, HF_OP_APPEND, x, hf_builder_int(b, x, 1));
    (void)hf_builder_op(b, t, HF_OP_WRITE, y, hf_builder_int(b, y, 1));
}

static void add_nil(hf_builder *b, hf_txn_id t, hf_key_id x)
{
    (void)hf_builder_op(b, t, HF_OP_WRITE, x, hf_builder_nil(b, x));
}

static void add_locking(hf_builder *b, hf_txn_id t, hf_key_id x)
{
    (void)hf_builder_op(b, t, HF_OP_READ | HF_OP_FOR_UPDATE, x,
                        hf_builder_nil(b, x));
}

static void add_level(hf_builder *b, hf_txn_id t, hf_key_id x)
{
    (void)x;
    hf_builder_level(b, t, HF_SERIALIZABLE);
}

static void add_row(hf_builder *b, hf_txn_id t, hf_key_id x)
{
    hf_key_id row = hf_builder_key_row(b, hf_builder_string(b, "t", 1),
                                       (hf_scalar){.type = HF_INT});

    (void)x;
    (void)hf_builder_op(b, t, HF_OP_WRITE, row, hf_builder_int(b, row, 1));
}

static void add_second(hf_builder *b, hf_txn_id t, hf_key_id x)
{
    hf_txn_id u = hf_builder_txn(b, hf_builder_session_number(b, 1));

    hf_builder_times(b, t, 5, 9);
    hf_builder_times(b, u, 8, 10);
    (void)hf_builder_op(b, u, HF_OP_WRITE, x, hf_builder_int(b, x, 1));
}

static void test_elle_export_refusals(void **state)
{
    static const struct {
        add_ops add;
        const char *message;
    } cases[] = {
        {add_insert, "the operation insert"},
        {add_mixed, "beside lists"},
        {add_nil, "a write of nil"},
        {add_locking, "a locking read"},
        {add_level, "a level of its own"},
        {add_row, "a key with a table"},
        {add_second, "overlaps another transaction of its session"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hf_builder *b = hf_builder_new();
        hf_txn_id t = hf_builder_txn(b, hf_builder_session_number(b, 1));
        hf_history *h;
        hf_error err;
        hf_out out;

        cases[i].add(b, t, hf_builder_key_int(b, 1));
        assert_int_equal(hf_builder_finish(b, &h, &err), HF_OK);
        assert_int_equal(export_memory("elle-edn", h, &out, &err),
                         HF_ERR_UNSUPPORTED);
        if (!strstr(err.text, cases[i].message))
            fail_msg("%s; wanted: %s", err.text, cases[i].message);
        hf_out_release(&out);
        hf_history_free(h);
    }
}

/* ---- Jepsen's other models ----------------------------------------------- */

static void test_bank(void **state)
{
    (void)state;
    hf_history_free(assert_described(
        "jepsen-edn",
        "{:type :invoke, :f :read, :process 0}\n"
        "{:type :invoke, :f :transfer, :value {:from 3, :to 0, :amount 2}, "
        ":process 1}\n"
        "{:type :ok, :f :read, :process 0, :value {0 10, 3 -1}}\n"
        "{:type :ok, :f :transfer, :value {:from 3, :to 0, :amount 2}, "
        ":process 1}\n"
        "{:type :invoke, :f :transfer, :value {:from 0, :to 3, :amount 1}, "
        ":process 1}\n"
        "{:type :fail, :f :transfer, :value [:negative 0 -1], :process 1}\n",
        "0 committed [1 3]: read 0 10 | read 3 -1\n"
        "1 committed [2 4]: increment 3 -2 | increment 0 2\n"
        "1 aborted [5 6]: increment 0 -1 | increment 3 1\n"));
    hf_history_free(assert_described(
        "jepsen-json",
        "[{\"type\":\"invoke\",\"f\":\"read\",\"process\":0,\"time\":1},\n"
        "{\"type\":\"ok\",\"f\":\"read\",\"process\":0,\"time\":2,"
        "\"value\":{\"0\":100,\"7\":0}}]",
        "0 committed [1 2]: read 0 100 | read 7 0\n"));
    assert_refused_at("jepsen-edn",
                      "{:type :ok :f :transfer :value {:from 1 :to 2}}", 1,
                      "from, to and amount");
    assert_refused_at("jepsen-edn",
                      "{:type :ok :f :transfer :value {:from 1 :to 2 "
                      ":amount 1}}\n{:type :ok :f :write :value 1}",
                      2, "does not belong to the model");
}

/* What a key begins as: a number, or -1 for nil. */
static int64_t opening(const hf_history *h, int64_t account)
{
    for (hf_key_id k = 0; k < h->n_keys; k++)
        if (h->key_type[k] == HF_INT && h->key_data[k] == account)
            return h->key_initial && h->key_initial[k] != HF_NONE
                       ? h->value_data[h->key_initial[k]]
                       : -1;
    fail_msg("no account %lld", (long long)account);
    return 0;
}

/* Accounts that no transfer names begin as first read; of others, nothing is
 * assumed, whatever became of the transfer and whenever it came. */
static void test_bank_openings(void **state)
{
    hf_history *h = import_text(
        "jepsen-edn",
        "{:type :invoke, :f :read, :process 0}\n"
        "{:type :ok, :f :read, :process 0, "
        ":value {0 10, 1 11, 2 12, 3 13, 4 14, 5 nil}}\n"
        "{:type :invoke, :f :transfer, :value {:from 0, :to 1, :amount 2}, "
        ":process 1}\n"
        "{:type :ok, :f :transfer, :value {:from 0, :to 1, :amount 2}, "
        ":process 1}\n"
        "{:type :invoke, :f :transfer, :value {:from 2, :to 1, :amount 1}, "
        ":process 1}\n"
        "{:type :fail, :f :transfer, :process 1}\n"
        "{:type :invoke, :f :transfer, :value {:from 1, :to 3, :amount 1}, "
        ":process 1}\n"
        "{:type :invoke, :f :read, :process 0}\n"
        "{:type :ok, :f :read, :process 0, :value {4 99, 5 1, 6 7}}\n");
    static const int64_t wanted[] = {-1, -1, -1, -1, 14, -1, 7};

    (void)state;
    for (int64_t account = 0; account < 7; account++)
        assert_int_equal(opening(h, account), wanted[account]);
    hf_history_free(h);
}

/* "1" in a transfer and "1" as a name in a map are one account. */
static void test_bank_names(void **state)
{
    hf_history *h = import_text(
        "jepsen-json", "[{\"type\":\"ok\",\"f\":\"transfer\",\"value\":"
                       "{\"from\":\"1\",\"to\":0,\"amount\":2}},\n"
                       "{\"type\":\"ok\",\"f\":\"read\",\"value\":"
                       "{\"0\":12,\"1\":8,\"2\":5,\"a\":1}}]");

    (void)state;
    assert_int_equal(h->n_keys, 4);
    assert_int_equal(opening(h, 0), -1);
    assert_int_equal(opening(h, 1), -1);
    assert_int_equal(opening(h, 2), 5);
    hf_history_free(h);
    assert_refused_at("jepsen-edn",
                      "{:type :invoke :f :read :process 1}\n"
                      "{:type :invoke :f :transfer :process 0}\n"
                      "{:type :ok :f :read :process 1 :value {0 1}}\n"
                      "{:type :info :f :transfer :process 0}",
                      2, "transfer that may have happened");
}

static void test_counter_and_set(void **state)
{
    hf_history *h =
        assert_described("jepsen-edn",
                         "{:type :ok :f :add :value 1 :process 0}\n"
                         "{:type :ok :f :add :value 1 :process 0}\n"
                         "{:type :ok :f :read :value 2 :process 0}\n",
                         "0 committed [- -]: increment counter 1\n"
                         "0 committed [- -]: increment counter 1\n"
                         "0 committed [- -]: read counter 2\n");

    (void)state;
    assert_int_equal(h->value_data[h->key_initial[0]], 0);
    hf_history_free(h);
    hf_history_free(
        assert_described("jepsen-edn",
                         "{:type :ok :f :add :value 5 :process 0}\n"
                         "{:type :info :f :add :value 6 :process 0}\n"
                         "{:type :ok :f :read :value #{6 5} :process 0}\n"
                         "{:type :fail :f :read :value nil :process 0}\n",
                         "0 committed [- -]: insert 5 5\n"
                         "0 unknown [- -]: insert 6 6\n"
                         "0 committed [- -]: predicate read (true) 6=6 5=5\n"
                         "0 aborted [- -]: predicate read (true) ?\n"));
    /* set-full: the key is the table; a read may leave it out */
    hf_history_free(assert_described(
        "jepsen-edn",
        "{:type :invoke :f :add :value [7 1] :process 0}\n"
        "{:type :ok :f :add :value [7 1] :process 0}\n"
        "{:type :invoke :f :read :value [7 nil] :process 0}\n"
        "{:type :ok :f :read :value [7 [1 2]] :process 0}\n"
        "{:type :invoke :f :read :value [7 nil] :process 0}\n"
        "{:type :ok :f :read :value [1 2 3] :process 0}\n",
        "0 committed [1 2]: insert 7.1 1\n"
        "0 committed [3 4]: predicate read 7 (true) 1=1 2=2\n"
        "0 committed [5 6]: predicate read 7 (true) 1=1 2=2 3=3\n"));
    /* comments */
    hf_history_free(
        assert_described("jepsen-edn",
                         "{:type :invoke :f :read :value nil}\n"
                         "{:type :invoke :f :write :value 4}\n"
                         "{:type :ok :f :write :value 4}\n"
                         "{:type :ok :f :read :value #{4}}\n",
                         "#0 committed [2 3]: insert 4 4\n"
                         "#1 committed [1 4]: predicate read (true) 4=4\n"));
}

static void test_register_and_mutex(void **state)
{
    hf_history *h;

    (void)state;
    hf_history_free(assert_described(
        "jepsen-edn",
        "({:process 0 :type :invoke :f :write :value 3}\n"
        " {:process 1 :type :invoke :f :cas :value [3 4]}\n"
        " {:process 0 :type :ok :f :write :value 3}\n"
        " {:process 1 :type :ok :f :cas :value [3 4]}\n"
        " {:process 1 :type :invoke :f :cas :value [3 5]}\n"
        " {:process 1 :type :fail :f :cas :value [3 5]}\n"
        " {:process 2 :type :invoke :f :read :value nil}\n"
        " {:process 3 :type :invoke :f :read :value nil}\n"
        " {:process 2 :type :ok :f :read :value nil}\n"
        " {:process 1 :type :invoke :f :cas :value [4 6]}\n"
        " {:process 1 :type :info :f :cas :value [4 6]})\n",
        "0 committed [1 3]: write register 3\n"
        "1 committed [2 4]: read register 3 | write register 4\n"
        "1 aborted [5 6]: read register ? | write register 5\n"
        "2 committed [7 9]: read register nil\n"
        "1 unknown [10 -]: read register 4 | write register 6\n"
        "3 unknown [8 -]: read register ?\n"));
    hf_history_free(assert_described(
        "jepsen-json",
        "{\"process\":0,\"type\":\"ok\",\"f\":\"write\",\"value\":[\"k\",3]}\n"
        "{\"process\":0,\"type\":\"ok\",\"f\":\"cas\","
        "\"value\":[\"k\",[3,4]]}\n"
        "{\"process\":0,\"type\":\"ok\",\"f\":\"read\",\"value\":[\"k\",4]}\n",
        "0 committed [- -]: write k 3\n"
        "0 committed [- -]: read k 3 | write k 4\n"
        "0 committed [- -]: read k 4\n"));
    h = assert_described("jepsen-edn",
                         "{:type :ok :f :acquire :process 0}\n"
                         "{:type :fail :f :acquire :process 1}\n"
                         "{:type :ok :f :release :process 0}\n",
                         "0 committed [- -]: read mutex 0 | write mutex 1\n"
                         "1 aborted [- -]: read mutex ? | write mutex 1\n"
                         "0 committed [- -]: read mutex 1 | write mutex 0\n");
    assert_int_equal(h->value_data[h->key_initial[0]], 0);
    assert_false(h->unique_values);
    hf_history_free(h);
}

static void test_queue_and_transactions(void **state)
{
    hf_history *h;

    (void)state;
    hf_history_free(
        assert_described("jepsen-edn",
                         "{:type :ok :f :enqueue :value 8 :process 0}\n"
                         "{:type :ok :f :dequeue :value 8 :process 1}\n"
                         "{:type :info :f :dequeue :process 1}\n"
                         "{:type :ok :f :drain :value [9 10] :process 0}\n",
                         "0 committed [- -]: insert 8 8\n"
                         "1 committed [- -]: read 8 8 | delete 8 nil\n"
                         "1 unknown [- -]: predicate delete (true) ?\n"
                         "0 committed [- -]: read 9 9 | delete 9 nil | "
                         "read 10 10 | delete 10 nil\n"));
    hf_history_free(assert_described(
        "jepsen-edn",
        "[{:type :ok, :f :write, :value [[:w 0 1]]},\n"
        " {:type :ok, :f :read, :value [[:r 0 1] [:r 1 nil]]}]",
        "#0 committed [- -]: write 0 1\n"
        "#1 committed [- -]: read 0 1 | read 1 nil\n"));
    h = assert_described(
        "jepsen-edn",
        "{:process 0 :type :ok :f :txn :value [[:read :x 0] [:write :y 2]]}",
        "0 committed [- -]: read x 0 | write y 2\n");
    assert_true(hf_value_is_initial(h, 0, h->op_value[0]));
    hf_history_free(h);
}

/* ---- the others ---------------------------------------------------------- */

static void test_causal_register(void **state)
{
    hf_history *h = assert_described(
        "causal-register-edn",
        "{:type :invoke, :f :write, :value [x 1], :process 0, :time 0}\n"
        "{:type :ok, :f :write, :value [x 1], :process 0, :time 0, "
        ":position 0, :link nil, :index 0}\n"
        "{:type :info, :f :write, :value [x 2], :process 2}\n"
        "{:type :ok, :f :read, :value [x 1], :process 1, :position 1}\n"
        "{:type :ok, :f :read, :value [y nil], :process 1, :position 2}\n"
        "{:type :ok, :f :read, :value [y 0], :process 1, :position 3}\n",
        "0 committed [- -]: write x 1\n"
        "1 committed [- -]: read x 1\n"
        "1 committed [- -]: read y nil\n"
        "1 committed [- -]: read y nil\n");
    hf_history *again = round_trip("causal-register-edn", h);
    hf_history *two;
    hf_error err;
    hf_out out;

    (void)state;
    assert_same_history(h, again);
    assert_int_equal(h->n_skipped, 2);
    hf_history_free(h);
    hf_history_free(again);
    /* where 0 is written it is a value */
    hf_history_free(assert_described(
        "causal-register-edn",
        "{:type :ok, :f :read, :value [1 0], :process 1, :position 2}\n"
        "{:type :ok, :f :write, :value [1 0], :process 1, :position 2}\n",
        "1 committed [- -]: read 1 0\n1 committed [- -]: write 1 0\n"));
    assert_refused_at("causal-register-edn",
                      "{:type :ok, :f :read, :value 7, :position 2}", 1,
                      "expected a vector");
    two = import_text("elle-edn",
                      "{:type :ok :process 1 :value [[:w 1 1] [:r 1 1]]}");
    assert_int_equal(export_memory("causal-register-edn", two, &out, &err),
                     HF_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "2 operations"));
    hf_out_release(&out);
    hf_history_free(two);
}

static void test_viper(void **state)
{
    static const char wanted[] =
        "0 committed [- -]: write 1 \"a\" | read 2 nil | insert 3 \"b\" | "
        "delete 4 nil | predicate read (id >= 1 and id <= 9) 1=a\n"
        "0 committed [- -]: write FAILED 1 \"c\" | read 1 nil\n";

    (void)state;
    hf_history_free(assert_described(
        "viper",
        "{:type :ok :f :txn :value [[:w 1 a true] [:r 2 nil false] "
        "[:i 3 b nil false true] [:d 4 t1 nil] "
        "[:range 1 9 [{:id 1, :sk 1, :val a}] [{:id 5 :val x}] false]]}\n"
        "{:type :ok :f :txn :value [[:w 1 c false] [:r 1 t2 true]]}\n",
        wanted));
    hf_history_free(assert_described(
        "viper",
        "[{\"value\":[[\"w\",1,\"a\",true],[\"r\",2,null,false],"
        "[\"i\",3,\"b\",null,false,true],[\"d\",4,\"t1\",null],"
        "[\"range\",1,9,[{\"id\":1,\"val\":\"a\"}],[]]]},\n"
        "{\"value\":[[\"w\",1,\"c\",false],[\"r\",1,\"t2\",true]]}]",
        wanted));
    assert_refused_at("viper", "{:type :ok :value [[:range 1]]}", 1,
                      "expected a key");
}

static void test_results(void **state)
{
    static const char text[] = "{:perf {:valid? true},\n :workload "
                               "{:valid? false, :anomaly-types (:G2)}}";
    hf_input in = {.path = "r", .text = text, .length = sizeof(text) - 1};

    (void)state;
    assert_string_equal(hf_format_detect(&in)->name, "jepsen-results-edn");
    assert_refused_at("jepsen-results-edn", text, 0, "not a history");
}

static void test_prefixes(void **state)
{
    (void)state;
    /* whole lines only are histories; the last line may lack its newline */
    assert_int_equal(import_all_prefixes("elle-edn", list_sample), 20);
    (void)import_all_prefixes(
        "elle-json", "[{\"type\":\"ok\",\"process\":1,\"f\":\"txn\",\"value\":"
                     "[[\"r\",\"x\",[1,2]],[\"append\",\"\\u00e9\",3]]}]");
    (void)import_all_prefixes(
        "jepsen-edn", "[{:type :ok :f :transfer :value {:from 1 :to 2 :amount "
                      "3}} {:type :ok :f :read :value {1 2 \"a\" 4}}]");
    (void)import_all_prefixes(
        "jepsen-json", "[{\"type\":\"ok\",\"f\":\"add\",\"value\":[1,2]},"
                       "{\"type\":\"ok\",\"f\":\"read\",\"value\":[1,[2,3]]}]");
    (void)import_all_prefixes("causal-register-edn",
                              "{:type :ok :f :read :value [x 1] :link nil}");
    (void)import_all_prefixes("viper",
                              "{:type :ok :value [[:range 1 9 [{:id 1 :val "
                              "\"a\"}] []] [:i 1 2 nil true]]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elle_lists),
        cmocka_unit_test(test_elle_registers),
        cmocka_unit_test(test_elle_values_of_all_kinds),
        cmocka_unit_test(test_elle_without_process),
        cmocka_unit_test(test_elle_list_texts),
        cmocka_unit_test(test_elle_json),
        cmocka_unit_test(test_elle_refusals),
        cmocka_unit_test(test_readers_agree),
        cmocka_unit_test(test_elle_round_trips),
        cmocka_unit_test(test_elle_export_ties),
        cmocka_unit_test(test_elle_export_without_times),
        cmocka_unit_test(test_elle_export_unique),
        cmocka_unit_test(test_elle_export_initial),
        cmocka_unit_test(test_elle_export_refusals),
        cmocka_unit_test(test_bank),
        cmocka_unit_test(test_bank_openings),
        cmocka_unit_test(test_bank_names),
        cmocka_unit_test(test_counter_and_set),
        cmocka_unit_test(test_register_and_mutex),
        cmocka_unit_test(test_queue_and_transactions),
        cmocka_unit_test(test_causal_register),
        cmocka_unit_test(test_viper),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_prefixes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
