/* test_history.c: the builder, the native text and binary forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "history/bare_lists.h"
#include "history/binary.h"
#include "history/certificate.h"
#include "history/text.h"

/* Every kind of line and operation. */
static const char everything[] =
    "{\"holdfast\":1,\"name\":\"all\",\"time\":\"ns\",\"unique\":true}"
    "\n"
    "{\"initial\":[[\"x\",10],[\"y\",20]]}\n"
    "{\"id\":5,\"session\":\"a\",\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\","
    "2],[\"append\",\"l\",3],[\"r\",\"l\",[1,2,3]],[\"r\",\"l\",[]],[\""
    "insert\",[\"acct\",7],{\"owner\":\"bo\",\"sum\":100}],[\"delete\","
    "\"x\"],[\"inc\",\"x\",5],{\"op\":\"inc\",\"key\":\"x\",\"by\":5,\""
    "before\":10,\"after\":15,\"at\":[120,130]}],\"begin\":100,\"end\":"
    "250,\"level\":\"serializable\"}\n"
    "{\"id\":9,\"session\":7,\"ops\":[{\"op\":\"pr\",\"table\":\"t\",\""
    "where\":\"value < 5\",\"columns\":[\"value\"],\"versions\":[[\"x\""
    ",1,5],[\"y\",null,0]],\"rows\":[[\"x\",1]]},{\"op\":\"sum\",\"wher"
    "e\":\"true\",\"columns\":[\"value\"],\"versions\":[[\"x\",100],[\""
    "y\",110]],\"value\":210},{\"op\":\"pu\",\"where\":\"value = 1\",\""
    "rows\":[]},{\"op\":\"pd\",\"where\":\"value = 1\"},{\"op\":\"min\""
    ",\"where\":\"true\"},{\"op\":\"max\",\"where\":\"true\",\"value\":"
    "null},{\"op\":\"count\",\"where\":\"true\",\"value\":2},[\"begin\""
    "],{\"op\":\"sql\",\"text\":\"select v from t\",\"params\":[7,\"a"
    "\\nb\",1.5,null,true],\"columns\":[\"v\"],\"rows\":[[100]],\"affec"
    "ted\":1},{\"op\":\"r\",\"key\":\"x\",\"value\":5,\"lock\":\"update"
    "\"},{\"op\":\"w\",\"key\":\"x\",\"value\":6,\"failed\":true},[\"r"
    "\",\"x\"],[\"r\",-3,true],[\"w\",12345678901,2.5],{\"op\":\"commit"
    "\",\"at\":[240,250]}],\"outcome\":\"unknown\",\"begin\":50,\"start"
    "_ts\":3,\"commit_ts\":9}\n"
    "{\"id\":2,\"ops\":[[\"abort\"]],\"outcome\":\"aborted\"}\n"
    "{\"order\":[\"x\",[5,9]]}\n"
    "{\"serial\":[9,5]}\n";

static hf_history *parse(const char *text)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;
    hf_status st = hf_text_read(text, strlen(text), b, &err);

    if (st == HF_OK)
        st = hf_builder_finish(b, &h, &err);
    else
        hf_builder_free(b);
    if (st != HF_OK)
        fail_msg("%s", err.text);
    return h;
}

static hf_out as_text(const hf_history *h)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_text_write(h, &out);
    hf_out_char(&out, '\0');
    return out;
}

static hf_out as_binary(const hf_history *h)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_binary_write(h, &out);
    return out;
}

static void text_says_everything(void **state)
{
    hf_history *h = parse(everything);
    hf_out out = as_text(h);

    (void)state;
    assert_string_equal(out.at, everything);
    assert_int_equal(h->n_txns, 3);
    assert_int_equal(h->txn_line[1], 4);
    assert_int_equal(hf_txn_label(h, 1), 9);
    hf_out_release(&out);
    hf_history_free(h);
}

static void binary_says_everything(void **state)
{
    hf_history *h = parse(everything), *again = NULL;
    hf_out bytes = as_binary(h), out;
    hf_error err;

    (void)state;
    assert_int_equal(hf_binary_read(bytes.at, bytes.n, NULL, &again, &err),
                     HF_OK);
    assert_false(again->cut_off);
    out = as_text(again);
    assert_string_equal(out.at, everything);
    hf_out_release(&out);
    hf_out_release(&bytes);
    hf_history_free(h);
    hf_history_free(again);
}

/* Killed after any byte, a writer leaves a prefix or a clear refusal. */
static void every_prefix_is_read_or_refused(void **state)
{
    hf_history *h = parse(everything);
    hf_out bytes = as_binary(h);
    unsigned readable = 0;

    (void)state;
    for (size_t n = 0; n < bytes.n; n++) {
        char *copy = hf_alloc(n + 1); /* so that sanitizers see the end */
        hf_history *prefix = NULL;
        hf_error err;

        memcpy(copy, bytes.at, n);
        if (hf_binary_read(copy, n, NULL, &prefix, &err) == HF_OK) {
            assert_true(prefix->cut_off);
            assert_true(prefix->n_txns == 0 || prefix->n_txns == 3);
            readable++;
        } else {
            assert_true(n < 16);
        }
        hf_history_free(prefix);
        hf_free(copy);
    }
    assert_true(readable > 100);
    hf_out_release(&bytes);
    hf_history_free(h);
}

/* A bit that flips is noticed, or makes no difference that matters. */
static void every_flipped_byte_is_noticed(void **state)
{
    hf_history *h = parse(everything);
    hf_out bytes = as_binary(h);

    (void)state;
    for (size_t i = 0; i < bytes.n; i++) {
        hf_history *again = NULL;
        hf_error err;

        bytes.at[i] ^= 0x10;
        if (hf_binary_read(bytes.at, bytes.n, NULL, &again, &err) == HF_OK) {
            /* only the unused word of the file head is not covered */
            assert_true(i >= 12 && i < 16);
        }
        hf_history_free(again);
        bytes.at[i] ^= 0x10;
    }
    hf_out_release(&bytes);
    hf_history_free(h);
}

/* Many batches: more than a batch of operations, and of transactions. */
static hf_history *large(uint32_t n_txns)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;
    hf_rng rng;

    hf_rng_seed(&rng, 1);
    for (uint32_t i = 0; i < n_txns; i++) {
        hf_txn_id t = hf_builder_txn(b, hf_builder_session_number(b, i % 7));

        for (int o = 0; o < 3; o++) {
            hf_key_id k = hf_builder_key_int(b, hf_rng_below(&rng, 5000));

            hf_builder_op(b, t, o ? HF_OP_WRITE : HF_OP_READ, k,
                          o ? hf_builder_int(b, k, (int64_t)i * 3 + o)
                            : hf_builder_nil(b, k));
            if (o == 2)
                hf_builder_order(b, k, t);
        }
        hf_builder_serial(b, t);
    }
    assert_int_equal(hf_builder_finish(b, &h, &err), HF_OK);
    return h;
}

static void many_batches_are_one_history(void **state)
{
    hf_history *h = large(100000), *again = NULL;
    hf_out bytes = as_binary(h), a, b;
    hf_error err;

    (void)state;
    assert_int_equal(hf_binary_read(bytes.at, bytes.n, NULL, &again, &err),
                     HF_OK);
    a = as_text(h);
    b = as_text(again);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.at, b.at, a.n);
    hf_history_free(again);
    again = NULL;
    assert_int_equal(hf_binary_read(bytes.at, bytes.n / 2, NULL, &again, &err),
                     HF_OK);
    assert_true(again->cut_off);
    assert_in_range(again->n_txns, 30000, 99999);
    hf_out_release(&a);
    hf_out_release(&b);
    hf_out_release(&bytes);
    hf_history_free(again);
    hf_history_free(h);
}

static void equal_values_have_one_id(void **state)
{
    static const char *const same[][2] = {
        {"1.50", "1.5"},
        {"1.0", "1"},
        {"-0.0", "0"},
        {"1e2", "100"},
        {"12e-1", "1.2"},
        {"0.010", "1e-2"},
        {"{\"a\":1,\"b\":2.0}", "{ \"b\":2, \"a\":1.0 }"},
    };
    static const char *const different[][2] = {
        {"1.5", "15"},  {"0.01", "0.1"}, {"-1.5", "1.5"},
        {"\"1\"", "1"}, {"1", "true"},   {"{\"a\":1}", "{\"a\":2}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]) +
                               sizeof(different) / sizeof(different[0]);
         i++) {
        size_t n = sizeof(same) / sizeof(same[0]);
        const char *const *pair = i < n ? same[i] : different[i - n];
        char text[200];
        hf_history *h;

        (void)snprintf(text, sizeof(text),
                       "{\"ops\":[[\"w\",1,%s],[\"r\",1,%s]]}", pair[0],
                       pair[1]);
        h = parse(text);
        if ((h->op_value[0] == h->op_value[1]) != (i < n))
            fail_msg("%s and %s", pair[0], pair[1]);
        hf_history_free(h);
    }
}

static void an_abort_in_the_operations_counts(void **state)
{
    hf_history *h = parse("{\"ops\":[[\"w\",1,2],[\"abort\"]]}\n"
                          "{\"ops\":[[\"w\",1,3],[\"commit\"]]}");

    (void)state;
    assert_int_equal(h->txn_outcome[0], HF_ABORTED);
    assert_int_equal(h->txn_outcome[1], HF_COMMITTED);
    hf_history_free(h);
}

/* Ids that the builder never gave out are an error, not a crash. */
static void wrong_ids_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        hf_builder *b = hf_builder_new();
        hf_key_id x = hf_builder_key_int(b, 1), y = hf_builder_key_int(b, 2);
        hf_value_id v = hf_builder_int(b, x, 5);
        hf_txn_id t =
            hf_builder_txn(b, i == 0 ? 100000 : hf_builder_session_fresh(b));
        hf_history *h = NULL;
        hf_error err;

        hf_builder_op(b, i == 1 ? 77 : t, HF_OP_WRITE, i == 2 ? 9999 : x,
                      i == 3 ? 9999 : v);
        if (i == 4)
            hf_builder_op(b, t, HF_OP_WRITE, y, v);
        if (i == 5)
            hf_builder_times(b, t, 10, 5);
        assert_int_not_equal(hf_builder_finish(b, &h, &err), HF_OK);
        assert_null(h);
    }
}

/* Kinds, values and keys that do not fit each other, among operations that do.
 */
static void wrong_types_are_refused(void **state)
{
    static const struct {
        hf_op_id op;
        hf_op_kind kind;
        bool fine;
    } cases[] = {{1, HF_OP_WRITE, true},      {1, HF_OP_READ, true},
                 {1, HF_OP_INSERT, true},     {1, HF_OP_APPEND, true},
                 {1, HF_OP_READ_LIST, false}, {1, HF_OP_DELETE, false},
                 {1, HF_OP_BEGIN, false},     {0, HF_OP_COMMIT, true},
                 {0, HF_OP_WRITE, false},     {2, HF_OP_APPEND, false},
                 {2, HF_OP_READ_LIST, true},  {3, HF_OP_READ, false},
                 {3, HF_OP_WRITE, false},     {1, HF_OP_PREDICATE_READ, false}};
    hf_history *h =
        parse("{\"session\":1,\"ops\":[[\"begin\"],[\"w\",\"x\",1],[\"delete\","
              "\"x\"],[\"r\",\"l\",[1,2]],[\"commit\"]]}\n");
    hf_error err;

    (void)state;
    assert_int_equal(hf_history_validate(h, &err), HF_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t was = h->op_kind[cases[i].op];

        h->op_kind[cases[i].op] = (uint8_t)cases[i].kind;
        assert_int_equal(hf_history_validate(h, &err) == HF_OK, cases[i].fine);
        h->op_kind[cases[i].op] = was;
    }
    h->op_key[0] = 0;
    assert_int_not_equal(hf_history_validate(h, &err), HF_OK);
    hf_history_free(h);
}

static void interleaved_operations_are_sorted(void **state)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;
    hf_key_id x = hf_builder_key_text(b, "x", 1);
    hf_txn_id t[3];
    uint64_t start, end;

    (void)state;
    for (int i = 0; i < 3; i++)
        t[i] = hf_builder_txn(b, hf_builder_session_fresh(b));
    for (int i = 0; i < 30; i++) {
        hf_builder_op(b, t[i % 3], HF_OP_WRITE, x, hf_builder_int(b, x, i));
        hf_builder_interval(b, (uint64_t)i * 10,
                            i == 17 ? (uint64_t)1 << 60 : (uint64_t)i * 10 + 5);
    }
    assert_int_equal(hf_builder_finish(b, &h, &err), HF_OK);
    for (hf_txn_id i = 0; i < 3; i++)
        for (uint32_t o = 0; o < 10; o++) {
            hf_op_id op = h->op_first[i] + o;

            assert_int_equal(h->value_data[h->op_value[op]], o * 3 + i);
            assert_int_equal(hf_op_txn(h, op), i);
            assert_true(hf_op_interval(h, i, op, &start, &end));
            assert_int_equal(start, (o * 3 + i) * 10);
        }
    assert_true(hf_op_interval(h, 2, h->op_first[2] + 5, &start, &end));
    assert_true(end == (uint64_t)1 << 60);
    assert_int_equal(h->txn_begin[1], 10);
    hf_history_free(h);
}

static void lists_share_their_prefixes(void **state)
{
    hf_history *h = parse(
        "{\"ops\":[[\"r\",\"x\",[1,2,3]],[\"r\",\"x\",[1,2]],"
        "[\"r\",\"x\",[1,2,4]],[\"r\",\"x\",[1,2,3]],[\"append\",\"x\",3]]}");
    hf_value_id items[3];

    (void)state;
    assert_int_equal(h->op_value[0], h->op_value[3]);
    assert_int_equal(hf_list_parent(h, h->op_value[0]), h->op_value[1]);
    assert_int_equal(hf_list_parent(h, h->op_value[2]), h->op_value[1]);
    assert_int_equal(hf_list_items(h, h->op_value[0], items), 3);
    assert_int_equal(items[2], h->op_value[4]);
    hf_history_free(h);
}

/* What is wrong in each, and on which line. */
static void bad_text_is_refused(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *says;
    } cases[] = {
        {"{\"ops\":[[\"r\",\"x\",1]]}\n{\"ops\":[[\"apend\",\"x\",1]]}", 2,
         "unrecognized operation \"apend\""},
        {"{\"opps\":[]}", 1, "unknown field \"opps\" in a line"},
        {"\n\n{\"ops\":[[\"w\",\"x\"]]}", 3, "expected a value"},
        {"{\"ops\":[[\"r\"]]}", 1, "expected a key"},
        {"{\"ops\":[[\"r\",true]]}", 1, "expected a key"},
        {"{\"ops\":[[\"w\",\"x\",[1]]]}", 1, "a list can only be read"},
        {"{\"ops\":[[\"r\",\"x\",1,2]]}", 1, "expected \"]\""},
        {"{\"session\":1}", 1, "expected \"ops\""},
        {"{\"ops\":[],\"ops\":[]}", 1, "twice"},
        {"{\"ops\":[],\"outcome\":\"done\"}", 1, "expected \"committed\""},
        {"{\"ops\":[],\"level\":\"serialisable\"}", 1,
         "did you mean \"serializable\""},
        {"{\"ops\":[],\"begin\":5,\"end\":4}", 1, "ends before it begins"},
        {"{\"ops\":[],\"begin\":-5}", 1, "not negative"},
        {"{\"order\":[\"x\",[1]]}", 1, "no transaction with id 1"},
        {"{\"id\":3,\"ops\":[]}\n{\"id\":3,\"ops\":[]}\n", 2,
         "the id 3 is there twice"},
        {"{\"id\":3,\"ops\":[]}\n{\"ops\":[]}\n", 2, "has no \"id\""},
        {"{\"holdfast\":2}", 1, "version 2"},
        {"{\"ops\":[{\"op\":\"pr\"}]}", 1, "expected \"where\""},
        {"{\"ops\":[{\"op\":\"sql\",\"text\":\"x\",\"columns\":[\"a\"],"
         "\"rows\":[[1,2]]}]}",
         1, "a row has 2 values"},
        {"{\"ops\":[{\"op\":\"r\",\"key\":1,\"at\":[5,4]}]}", 1,
         "ends before it starts"},
        {"{\"ops\":[[\"r\",\"x\",1]", 1, "found the end of the input"},
        {"{\"ops\":[[\"append\",\"x\",null]]}", 1, "cannot append null"},
        {"{\"ops\":[[\"commit\"],[\"w\",1,1]]}", 1,
         "an operation comes after commit"},
        {"{\"ops\":[[\"abort\"]],\"outcome\":\"committed\"}", 1,
         "its outcome is committed"},
        {"hello", 1, "expected an object"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hf_builder *b = hf_builder_new();
        hf_error err = {{0}, 0, 0};

        if (hf_text_read(cases[i].text, strlen(cases[i].text), b, &err) !=
            HF_ERR_INPUT)
            fail_msg("accepted: %s", cases[i].text);
        if (!strstr(err.text, cases[i].says) || err.line != cases[i].line)
            fail_msg("%s: line %u: %s", cases[i].text, (unsigned)err.line,
                     err.text);
        hf_builder_free(b);
    }
}

static void certificates_are_checked(void **state)
{
    static const struct {
        const char *line;
        const char *says;
    } cases[] = {
        {"{\"order\":[\"x\",[1,1]]}", "already"},
        {"{\"order\":[\"x\",[2]]}", "aborted"},
        {"{\"order\":[\"x\",[3]]}", "does not write the key"},
        {"{\"serial\":[1,3,1]}", "already"},
        {"{\"serial\":[2]}", "aborted"},
        {"{\"order\":[\"x\",[1,4]]}", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[400];
        hf_error err;
        hf_history *h;

        (void)snprintf(text, sizeof(text),
                       "{\"ops\":[[\"w\",\"x\",1]]}\n"
                       "{\"ops\":[[\"w\",\"x\",2]],\"outcome\":\"aborted\"}\n"
                       "{\"ops\":[[\"r\",\"x\",1]]}\n"
                       "{\"ops\":[[\"w\",\"x\",3]],\"outcome\":\"unknown\"}\n"
                       "%s\n",
                       cases[i].line);
        h = parse(text);
        if (!cases[i].says) {
            assert_int_equal(hf_certificate_check(h, &err), HF_OK);
        } else {
            assert_int_equal(hf_certificate_check(h, &err), HF_ERR_INPUT);
            assert_non_null(strstr(err.text, cases[i].says));
        }
        hf_history_free(h);
    }
}

/* Reads of one transaction: all three elements, exactly the initial ones, one
 * too few, none, and others. */
#define BEGUN                                                                  \
    "{\"initial\":[[\"x\",[1,2]],[\"y\",[1]]]}\n"                              \
    "{\"ops\":[[\"append\",\"x\",1],[\"r\",\"x\",[1,2,1]],[\"r\",\"x\",[1,2]]" \
    ","                                                                        \
    "[\"r\",\"x\",[1]],[\"r\",\"x\",[]],[\"r\",\"x\",[2,1]],[\"r\",\"y\",[1]]" \
    "]}\n"

static void initial_elements_are_taken_off(void **state)
{
    hf_history *h = parse(BEGUN), *bare = hf_bare_lists(h), *again;
    hf_value_id three = h->op_value[1];

    (void)state;
    assert_non_null(bare);
    assert_int_equal(bare->key_initial[h->op_key[0]], HF_NONE);
    assert_int_equal(bare->op_value[1], three);
    assert_int_equal(hf_list_items(bare, three, NULL), 1);
    assert_int_equal(hf_list_last(bare, three), h->op_value[0]);
    assert_int_equal(bare->value_type[bare->op_value[2]], HF_NIL);
    for (hf_op_id op = 3; op <= 5; op++) {
        assert_int_equal(bare->value_type[bare->op_value[op]], HF_LIST);
        assert_true(hf_list_last(bare, bare->op_value[op]) >= h->n_values);
    }
    /* nobody appends to y */
    assert_int_equal(bare->op_value[6], h->op_value[6]);
    assert_int_equal(bare->key_initial[h->op_key[6]], h->op_value[6]);
    /* what it was made from is as it was */
    assert_int_equal(hf_list_items(h, three, NULL), 3);
    again = hf_bare_lists(bare);
    assert_null(again);
    hf_bare_lists_free(bare);
    hf_history_free(h);
    h = parse(BEGUN "{\"ops\":[{\"op\":\"pr\",\"where\":\"true\"}]}\n");
    assert_null(hf_bare_lists(h)); /* a condition may look at it */
    hf_history_free(h);
    h = parse(everything);
    assert_null(hf_bare_lists(h));
    hf_history_free(h);
}

static void a_memory_limit_stops_building(void **state)
{
    hf_budget budget = {.bytes = hf_memory_held() + ((size_t)4 << 20)};
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;
    hf_key_id x = hf_builder_key_int(b, 1);
    hf_txn_id t = hf_builder_txn(b, hf_builder_session_fresh(b));

    (void)state;
    hf_budget_start(&budget);
    hf_builder_set_budget(b, &budget);
    for (int64_t i = 0; i < 10000000 && !hf_builder_failed(b); i++)
        hf_builder_op(b, t, HF_OP_WRITE, x, hf_builder_int(b, x, i));
    assert_true(hf_builder_failed(b));
    assert_int_equal(hf_builder_finish(b, &h, &err), HF_ERR_LIMIT);
    assert_non_null(strstr(err.text, "memory limit of"));
}

static void a_register_operation_fits_32_bytes(void **state)
{
    hf_history *h = large(50000);

    (void)state;
    assert_true(h->bytes <= 32 * (size_t)h->n_ops);
    hf_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_says_everything),
        cmocka_unit_test(binary_says_everything),
        cmocka_unit_test(every_prefix_is_read_or_refused),
        cmocka_unit_test(every_flipped_byte_is_noticed),
        cmocka_unit_test(many_batches_are_one_history),
        cmocka_unit_test(equal_values_have_one_id),
        cmocka_unit_test(an_abort_in_the_operations_counts),
        cmocka_unit_test(wrong_ids_are_refused),
        cmocka_unit_test(wrong_types_are_refused),
        cmocka_unit_test(interleaved_operations_are_sorted),
        cmocka_unit_test(lists_share_their_prefixes),
        cmocka_unit_test(bad_text_is_refused),
        cmocka_unit_test(certificates_are_checked),
        cmocka_unit_test(initial_elements_are_taken_off),
        cmocka_unit_test(a_memory_limit_stops_building),
        cmocka_unit_test(a_register_operation_fits_32_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
