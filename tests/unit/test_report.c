/* Results in words and in JSON, on fixed histories. */
#include "report/report.h"

#include "base/json_in.h"
#include "report_util.h"

static void op_is(const hf_history *h, hf_op_id op, const char *expected)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_op_print(h, op, &out);
    printed(&out, expected);
}

static void edge_is(const hf_history *h, hf_edge e, const char *expected)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_edge_print(h, &e, &out);
    printed(&out, expected);
}

static void operations_in_words(void **state)
{
    hf_history *h = history(
        "{\"ops\":[[\"r\",\"x\",1],[\"w\",17,\"a\\nb\"],[\"append\",\"y\",3],"
        "[\"r\",\"y\",[1,2,3]],[\"insert\",[\"acct\",4],true],"
        "[\"delete\",\"x\"],"
        "{\"op\":\"inc\",\"key\":\"n\",\"by\":5,\"before\":1,\"after\":6},"
        "{\"op\":\"pr\",\"where\":\"value < 5\",\"rows\":[]},"
        "{\"op\":\"sum\",\"column\":\"v\",\"table\":\"t\",\"where\":\"true\","
        "\"value\":210},[\"begin\"],"
        "{\"op\":\"r\",\"key\":\"x\",\"value\":null,\"lock\":\"update\"},"
        "[\"r\",\"z\"],{\"op\":\"w\",\"key\":\"z\",\"value\":1,"
        "\"failed\":true},[\"inc\",\"n\",-2]]}\n");
    static const char *const words[] = {
        "read x = 1",
        "write key 17 = \"a\\x0ab\"",
        "append 3 to y",
        "read y = [1 2 3]",
        "insert acct/4 = true",
        "delete x",
        "increment n by 5 from 1 to 6",
        "predicate read where value < 5: no rows",
        "sum(v) of t where true = 210",
        "begin",
        "read x = nil for update",
        "read z (result not recorded)",
        "write z = 1 (failed)",
        "increment n by -2",
    };

    (void)state;
    assert_int_equal(h->n_ops, sizeof(words) / sizeof(words[0]));
    for (hf_op_id op = 0; op < h->n_ops; op++)
        op_is(h, op, words[op]);
    hf_history_free(h);
}

static void long_values_are_cut(void **state)
{
    hf_history *h;
    hf_out text;

    (void)state;
    hf_out_init_memory(&text);
    hf_out_text(&text, "{\"ops\":[[\"r\",\"x\",[0");
    for (int i = 1; i < 100; i++)
        hf_out_format(&text, ",%d", i);
    hf_out_text(&text, "]],[\"w\",\"y\",\"");
    for (int i = 0; i < 100; i++)
        hf_out_text(&text, "ab");
    hf_out_text(&text, "\"]]}\n");
    hf_out_char(&text, '\0');
    h = history(text.at);
    hf_out_release(&text);
    op_is(h, 0, "read x = [0 1 2 3 4 5 ... 88 more ... 94 95 96 97 98 99]");
    op_is(h, 1,
          "write y = \"ababababababababababababababababababababababababa"
          "...\"");
    hf_history_free(h);
}

static void edges_in_words(void **state)
{
    hf_history *h = history(
        "{\"session\":\"a\",\"ops\":[[\"w\",\"x\",1],[\"append\",\"l\",1]],"
        "\"begin\":1,\"end\":2}\n"
        "{\"session\":\"a\",\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2],"
        "[\"r\",\"l\",[1]],[\"append\",\"l\",2]],\"begin\":3,\"end\":4}\n"
        "{\"ops\":[{\"op\":\"pr\",\"where\":\"value < 5\",\"versions\":"
        "[[\"x\",1],[\"y\",null]],\"rows\":[[\"x\",1]]},[\"insert\",\"y\",2],"
        "[\"delete\",\"x\"]]}\n");

    (void)state;
    edge_is(h, (hf_edge){HF_EDGE_WW, 0, 1, 0, 0, 3},
            "T1 writes x = 1, which T2 overwrites with x = 2");
    edge_is(h, (hf_edge){HF_EDGE_WR, 0, 1, 0, 0, 2},
            "T2 reads x = 1, which T1 wrote");
    edge_is(h, (hf_edge){HF_EDGE_RW, 1, 2, 0, 2, 8},
            "T2 reads x = 1, which T3 deletes");
    edge_is(h, (hf_edge){HF_EDGE_WR, 0, 1, 1, 1, 4},
            "T2 reads l = [1], whose last element T1 appended");
    edge_is(h, (hf_edge){HF_EDGE_RW, 1, 1, 1, 4, 5},
            "T2 reads l = [1], to which T2 appends 2");
    edge_is(h, (hf_edge){HF_EDGE_WR, 0, 2, 0, 0, 6},
            "T3's predicate read where value < 5 returns x = 1, which T1 "
            "wrote");
    edge_is(h, (hf_edge){HF_EDGE_PWR, 0, 2, 0, 0, 6},
            "T3's predicate read where value < 5 already sees T1's write "
            "x = 1, which changes what matches");
    edge_is(h, (hf_edge){HF_EDGE_PRW, 2, 2, 2, 6, 7},
            "T3's predicate read where value < 5 does not yet see T3's "
            "insert y = 2, which changes what matches");
    op_is(h, 6, "predicate read where value < 5: x = 1");
    edge_is(h, (hf_edge){HF_EDGE_SO, 0, 1, HF_NONE, HF_NONE, HF_NONE},
            "T1 comes before T2 in session a");
    edge_is(h, (hf_edge){HF_EDGE_RT, 0, 1, HF_NONE, HF_NONE, HF_NONE},
            "T1 ended at 2, before T2 began at 3");
    hf_history_free(h);
}

/* ---- whole results ------------------------------------------------------- */

static void invalid_in_words(void **state)
{
    hf_history *h = history(skew);
    hf_result *r = skew_result();

    (void)state;
    text_is(h, r,
            "invalid at serializable\n"
            "\n"
            "G2-item (write skew): two transactions read the same rows, and "
            "each changes a different one\n"
            "\n"
            "  1. T1 reads y = nil, which T2 overwrites with y = 1\n"
            "     rw on y: operation 2 of T1 (line 2), operation 3 of T2 "
            "(line 3)\n"
            "  2. T2 reads x = nil, which T1 overwrites with x = 1\n"
            "     rw on x: operation 1 of T2 (line 3), operation 3 of T1 "
            "(line 2)\n"
            "  so T1 before T2 before T1: a circle\n"
            "\n"
            "  T1 (line 2, session a): read x = nil; read y = nil; write x = "
            "1\n"
            "  T2 (line 3, session b): read x = nil; read y = nil; write y = "
            "1\n"
            "\n"
            "  more: holdfast explain \"write skew\"\n");
    hf_result_free(r);
    hf_history_free(h);
}

static void colours_are_asked_for(void **state)
{
    hf_history *h = history(skew);
    hf_result *r = hf_result_new(HF_CAUSAL, "brute");
    hf_out out;

    (void)state;
    hf_out_init_memory(&out);
    hf_result_print(h, r, UINT32_MAX, true, &out);
    printed(&out, "\033[1;33munknown\033[0m at causal: no reason given\n");
    hf_result_free(r);
    hf_history_free(h);
}

static void operations_and_core_in_words(void **state)
{
    hf_history *h = history("{\"ops\":[[\"r\",\"x\",77]]}\n");
    hf_result *r = hf_result_new(HF_READ_UNCOMMITTED, "brute");
    uint32_t zero = 0;

    (void)state;
    r->verdict = HF_INVALID;
    r->witness = (hf_witness){.kind = HF_WITNESS_OPERATIONS,
                              .anomaly = HF_GARBAGE_READ,
                              .n_ops = 1,
                              .ops = &zero};
    text_is(h, r,
            "invalid at read-uncommitted\n"
            "\n"
            "  T1 (line 1) reads x = 77, which nobody ever wrote\n"
            "  seen in operation 1 of T1 (line 1)\n"
            "\n"
            "  T1 (line 1): read x = 77\n");
    r->witness =
        (hf_witness){.kind = HF_WITNESS_CORE, .n_order = 1, .order = &zero};
    text_is(h, r,
            "invalid at read-uncommitted\n"
            "\n"
            "  this transaction alone is impossible:\n"
            "\n"
            "  T1 (line 1): read x = 77\n");
    hf_result_free(r);
    hf_history_free(h);
}

static void valid_in_words(void **state)
{
    hf_history *h = history(skew);
    hf_result *r = hf_result_new(HF_SNAPSHOT_ISOLATION, "brute");
    uint32_t events[] = {0, 2, 1, 3}, many[250];

    (void)state;
    r->verdict = HF_VALID;
    r->witness = (hf_witness){
        .kind = HF_WITNESS_SNAPSHOT, .n_order = 4, .order = events};
    text_is(h, r,
            "valid at snapshot-isolation\n"
            "with snapshots and commits in this order:\n"
            "  start T1, start T2, commit T1, commit T2\n");
    for (unsigned i = 0; i < 250; i++)
        many[i] = i % 2;
    r->witness =
        (hf_witness){.kind = HF_WITNESS_SERIAL, .n_order = 250, .order = many};
    {
        hf_out out;

        hf_out_init_memory(&out);
        hf_result_print(h, r, UINT32_MAX, false, &out);
        hf_out_char(&out, '\0');
        assert_non_null(strstr(out.at, "\n  ... and 150 more transactions\n"));
        for (const char *at = out.at; *at;) {
            size_t n = strcspn(at, "\n");

            assert_in_range(n, 1, 78);
            at += n + 1;
        }
        hf_out_release(&out);
    }
    hf_result_free(r);
    hf_history_free(h);
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_is(const hf_history *h, const hf_result *r,
                    const char *expected)
{
    hf_out out;
    hf_json j;

    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    hf_result_write(h, r, &j);
    printed(&out, expected);
}

static void invalid_in_json(void **state)
{
    hf_history *h = history(skew);
    hf_result *r = skew_result();

    (void)state;
    json_is(h, r,
            "{\"type\":\"result\",\"schema\":1,\"verdict\":\"invalid\","
            "\"level\":\"serializable\",\"engine\":\"brute\",\"groups\":["
            "{\"name\":\"G2-item\",\"count\":1,\"at_least\":false}],"
            "\"anomalies\":["
            "{\"name\":\"G2-item\",\"alias\":\"write skew\",\"transactions\":["
            "{\"id\":0,\"label\":1,\"session\":\"a\",\"line\":2},"
            "{\"id\":1,\"label\":2,\"session\":\"b\",\"line\":3}],\"edges\":["
            "{\"kind\":\"rw\",\"from\":0,\"to\":1,\"key\":\"y\",\"from_op\":1,"
            "\"to_op\":5,\"because\":\"T1 reads y = nil, which T2 overwrites "
            "with y = 1\",\"from_line\":2,\"to_line\":3},"
            "{\"kind\":\"rw\",\"from\":1,\"to\":0,\"key\":\"x\",\"from_op\":3,"
            "\"to_op\":2,\"because\":\"T2 reads x = nil, which T1 overwrites "
            "with x = 1\",\"from_line\":3,\"to_line\":2}],"
            "\"operations\":[]}],"
            "\"witness\":{\"type\":\"witness\",\"schema\":1,"
            "\"verdict\":\"invalid\",\"level\":\"serializable\","
            "\"kind\":\"cycle\",\"anomaly\":\"G2-item\",\"edges\":["
            "{\"kind\":\"rw\",\"from\":0,\"to\":1,\"key\":\"y\",\"from_op\":1,"
            "\"to_op\":5},"
            "{\"kind\":\"rw\",\"from\":1,\"to\":0,\"key\":\"x\",\"from_op\":3,"
            "\"to_op\":2}]},"
            "\"stats\":{\"transactions\":2,\"operations\":6,\"worlds\":4,"
            "\"seconds\":0}}");
    hf_result_free(r);
    hf_history_free(h);
}

/* Reads the whole back with the other half of the JSON code: every value is
 * well formed, and the witness holds what was put in. */
static void json_reads_back(void **state)
{
    hf_history *h = history("{\"session\":\"\\u0007\\\"s\",\"ops\":[[\"r\","
                            "[\"t\\n\",7],\"\\u0001\\\\\"]]}\n");
    hf_result *r = hf_result_new(HF_CAUSAL, "brute");
    uint32_t order[] = {0};
    hf_source source = {.op = 0, .index = 0, .writer = HF_NONE};
    uint64_t n;
    hf_out out;
    hf_json j;
    hf_json_in in;
    hf_str key, text;
    bool seen = false;

    (void)state;
    r->verdict = HF_VALID;
    r->witness = (hf_witness){.kind = HF_WITNESS_COMMIT,
                              .n_order = 1,
                              .order = order,
                              .n_sources = 1,
                              .sources = &source};
    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    hf_result_write(h, r, &j);
    hf_json_in_init(&in, out.at, out.n);
    assert_true(hf_json_in_open(&in, '{'));
    while (hf_json_in_next_key(&in, &key)) {
        if (!hf_str_eq(key, HF_STR("witness"))) {
            assert_true(hf_json_in_skip(&in, NULL));
            continue;
        }
        assert_true(hf_json_in_open(&in, '{'));
        while (hf_json_in_next_key(&in, &key)) {
            if (hf_str_eq(key, HF_STR("kind"))) {
                assert_true(hf_json_in_string(&in, &text));
                assert_true(hf_str_eq(text, HF_STR("commit")));
            } else if (hf_str_eq(key, HF_STR("order"))) {
                assert_true(hf_json_in_open(&in, '['));
                assert_true(hf_json_in_next_item(&in));
                assert_true(hf_json_in_uint(&in, &n));
                assert_int_equal(n, 0);
                assert_false(hf_json_in_next_item(&in));
            } else {
                assert_true(hf_json_in_skip(&in, &text));
                if (hf_str_eq(key, HF_STR("sources")))
                    seen = hf_str_eq(text, HF_STR("[[0,0,null]]"));
            }
        }
    }
    assert_false(in.failed);
    assert_int_equal(hf_json_in_peek(&in), 0);
    assert_true(seen);
    hf_json_in_release(&in);
    hf_out_release(&out);
    hf_result_free(r);
    hf_history_free(h);
}

static void other_witnesses_in_json(void **state)
{
    hf_history *h =
        history("{\"session\":\"s\\\"\",\"ops\":[[\"r\",[\"t\",7],77]]}\n"
                "{\"ops\":[[\"w\",[\"t\",7],1]]}\n");
    hf_result *r = hf_result_new(HF_READ_COMMITTED, "brute");
    uint32_t zero = 0, events[] = {0, 1};
    hf_out out;
    hf_json j;

    (void)state;
    r->verdict = HF_INVALID;
    r->findings = hf_arena_get(&r->arena, sizeof(*r->findings));
    r->findings[0] = (hf_finding){
        .anomaly = HF_GARBAGE_READ,
        .witness = {.kind = HF_WITNESS_OPERATIONS,
                    .anomaly = HF_GARBAGE_READ,
                    .n_ops = 1,
                    .ops = &zero},
    };
    r->n_findings = 1;
    r->witness = r->findings[0].witness;
    json_is(h, r,
            "{\"type\":\"result\",\"schema\":1,\"verdict\":\"invalid\","
            "\"level\":\"read-committed\",\"engine\":\"brute\","
            "\"groups\":[{\"name\":\"garbage read\",\"count\":1,"
            "\"at_least\":false}],"
            "\"anomalies\":[{\"name\":\"garbage read\",\"transactions\":["
            "{\"id\":0,\"label\":1,\"session\":\"s\\\"\",\"line\":1}],"
            "\"edges\":[],\"operations\":[{\"id\":0,\"transaction\":0,"
            "\"text\":\"read t/7 = 77\",\"line\":1}],\"explanation\":"
            "\"T1 (line 1) reads t/7 = 77, which nobody ever wrote\"}],"
            "\"witness\":{\"type\":\"witness\",\"schema\":1,"
            "\"verdict\":\"invalid\",\"level\":\"read-committed\","
            "\"kind\":\"operations\",\"anomaly\":\"garbage read\","
            "\"operations\":[0]},"
            "\"stats\":{\"transactions\":2,\"operations\":2,\"worlds\":0,"
            "\"seconds\":0}}");
    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    hf_json_array(&j);
    r->witness =
        (hf_witness){.kind = HF_WITNESS_CORE, .n_order = 1, .order = &zero};
    hf_witness_write(h, r->level, HF_INVALID, &r->witness, &j);
    r->witness = (hf_witness){
        .kind = HF_WITNESS_SNAPSHOT, .n_order = 2, .order = events};
    hf_witness_write(h, r->level, HF_VALID, &r->witness, &j);
    hf_witness_write(h, r->level, HF_UNKNOWN, &(hf_witness){0}, &j);
    hf_json_end(&j);
    printed(&out,
            "[{\"type\":\"witness\",\"schema\":1,\"verdict\":\"invalid\","
            "\"level\":\"read-committed\",\"kind\":\"core\","
            "\"transactions\":[0],\"minimal\":false,"
            "\"confirmed\":null},"
            "{\"type\":\"witness\",\"schema\":1,\"verdict\":\"valid\","
            "\"level\":\"read-committed\",\"kind\":\"snapshot\",\"order\":"
            "[[0,\"start\"],[0,\"commit\"]],\"sources\":[]},null]");
    hf_result_free(r);
    hf_history_free(h);
}

static void names_of_parts(void **state)
{
    (void)state;
    assert_string_equal(hf_edge_kind_name(HF_EDGE_PRW), "prw");
    assert_string_equal(hf_witness_kind_name(HF_WITNESS_CORE), "core");
    assert_string_equal(hf_verdict_name(HF_UNKNOWN), "unknown");
    assert_int_equal(hf_witness_proves(HF_WITNESS_COMMIT), HF_VALID);
    assert_int_equal(hf_witness_proves(HF_WITNESS_CORE), HF_INVALID);
    assert_int_equal(hf_witness_proves(HF_WITNESS_NONE), HF_UNKNOWN);
    hf_result_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_in_words),
        cmocka_unit_test(long_values_are_cut),
        cmocka_unit_test(edges_in_words),
        cmocka_unit_test(invalid_in_words),
        cmocka_unit_test(colours_are_asked_for),
        cmocka_unit_test(operations_and_core_in_words),
        cmocka_unit_test(valid_in_words),
        cmocka_unit_test(invalid_in_json),
        cmocka_unit_test(json_reads_back),
        cmocka_unit_test(other_witnesses_in_json),
        cmocka_unit_test(names_of_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
