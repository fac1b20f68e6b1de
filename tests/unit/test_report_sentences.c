/* Anomalies in sentences, findings in groups, what a verdict rests on. */
#include "report/words.h"

#include "report_util.h"

/* ---- anomalies without a cycle ------------------------------------------- */

/* Sentence i of an anomaly shown by some operations. */
static void sentence_is(const hf_history *h, const hf_witness *w, uint32_t i,
                        const char *expected)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_sentence_print(h, w, i, &out);
    printed(&out, expected);
}

static void says(const hf_history *h, hf_anomaly anomaly, uint32_t n,
                 const hf_op_id *ops, const char *expected)
{
    hf_op_id copy[8];
    hf_witness w = {.kind = HF_WITNESS_OPERATIONS,
                    .anomaly = anomaly,
                    .n_ops = n,
                    .ops = copy};

    memcpy(copy, ops, n * sizeof(*ops));
    assert_int_equal(hf_sentence_count(&w), 1);
    sentence_is(h, &w, 0, expected);
}

#define OPS(...)                                                               \
    (uint32_t)(sizeof((hf_op_id[]){__VA_ARGS__}) / sizeof(hf_op_id)),          \
        (hf_op_id[])                                                           \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

static void registers_in_sentences(void **state)
{
    hf_history *h = history(
        "{\"holdfast\":1,\"unique\":true}\n"
        "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"x\",2],[\"r\",\"x\",7]],"
        "\"outcome\":\"aborted\"}\n"
        "{\"ops\":[[\"r\",\"x\",1],[\"r\",\"x\",2],[\"w\",\"x\",3],"
        "[\"delete\",\"x\"]]}\n"
        "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",4],[\"r\",\"x\",null],"
        "[\"w\",\"x\",3],"
        "{\"op\":\"inc\",\"key\":\"n\",\"by\":5,\"before\":1,\"after\":7}]}"
        "\n");

    (void)state;
    says(h, HF_GARBAGE_READ, OPS(2),
         "T1 (line 2) reads x = 7, which nobody ever wrote");
    says(h, HF_INTERNAL, OPS(0, 2),
         "T1 (line 2) writes x = 1 and then reads x = 7, not its own write");
    says(h, HF_NON_REPEATABLE_READ, OPS(3, 4),
         "T2 (line 3) reads x = 1 and later x = 2 without writing it in "
         "between");
    says(h, HF_DUPLICATE_WRITE, OPS(5, 10),
         "the workload promised unique values, but T2 (line 3) writes x = 3 "
         "and so does T3 (line 4): a broken promise, not an isolation "
         "anomaly");
    says(h, HF_DUPLICATE_WRITE, OPS(5, 5),
         "the workload promised unique values, but T2 (line 3) writes x = 3 "
         "twice: a broken promise, not an isolation anomaly");
    says(h, HF_G1A, OPS(0, 3),
         "T2 (line 3) reads x = 1, which T1 (line 2) wrote and then aborted");
    says(h, HF_G1A, OPS(6, 9),
         "T3 (line 4) reads x = nil, because T2 (line 3) deleted it and then "
         "aborted");
    says(h, HF_G1B, OPS(0, 1, 3),
         "T2 (line 3) reads x = 1, which T1 (line 2) wrote before its own "
         "later version (write x = 2)");
    says(h, HF_FUTURE_READ, OPS(4, 5),
         "T2 (line 3) reads x = 2 before it writes x = 3 itself");
    says(h, HF_LOST_UPDATE, OPS(3, 5, 7, 8),
         "T2 (line 3) and T3 (line 4) both read x = 1; then T2 writes x = 3 "
         "and T3 writes x = 4, neither knowing of the other");
    says(h, HF_SEMANTIC_ERROR, OPS(11),
         "T3 (line 4) increments n by 5 from 1 to 7, which does not add up");
    /* not what it should be: told as it is */
    says(h, HF_G1A, OPS(0), "T1 (line 2): write x = 1");
    says(h, HF_UNEXPLAINED_ABORT, OPS(0, 3),
         "T1 (line 2): write x = 1; T2 (line 3): read x = 1");
    hf_history_free(h);
}

static void lists_and_conditions_in_sentences(void **state)
{
    hf_history *h =
        history("{\"ops\":[[\"append\",\"l\",1],[\"append\",\"l\",2]]}\n"
                "{\"ops\":[[\"append\",\"l\",3]]}\n"
                "{\"ops\":[[\"r\",\"l\",[1]],[\"r\",\"l\",[1,3]],"
                "[\"r\",\"l\",[3,3]],"
                "{\"op\":\"pr\",\"where\":\"value < 5\",\"rows\":[[\"x\",1]]},"
                "{\"op\":\"pr\",\"where\":\"value < 5\",\"rows\":[]}]}\n"
                "{\"ops\":[[\"w\",\"x\",1]]}\n");

    (void)state;
    says(h, HF_GARBAGE_READ, OPS(3),
         "T3 (line 3) reads l = [1], in which an element was never appended "
         "by anybody");
    says(h, HF_DUPLICATE_WRITE, OPS(5),
         "T3 (line 3) reads l = [3 3], which has an element more often "
         "than it was appended");
    says(h, HF_G1A, OPS(0, 4),
         "T3 (line 3) reads l = [1 3], with the element 1 that T1 (line 1) "
         "appended and then aborted");
    says(h, HF_G1A, OPS(8, 6),
         "T3 (line 3) reads x = 1 by its predicate read where value < 5, "
         "which T4 (line 4) wrote and then aborted");
    says(h, HF_G1B, OPS(0, 1, 3),
         "T3 (line 3) reads l = [1], whose last element T1 (line 1) appended "
         "before it appended 2 as well");
    says(h, HF_DIRTY_UPDATE, OPS(0, 2, 4),
         "T2 (line 2) appends 3 to l on top of 1, which T1 (line 1) appended "
         "and then aborted: T3 (line 3) reads l = [1 3]");
    says(h, HF_INCOMPATIBLE_ORDER, OPS(4, 5),
         "T3 (line 3) reads l = [1 3] and T3 (line 3) reads l = [3 3], and "
         "neither list continues the other");
    says(h, HF_PHANTOM, OPS(6, 7),
         "T3 (line 3): predicate read where value < 5: x = 1; and later, "
         "without a write in between, predicate read where value < 5: no "
         "rows");
    says(h, HF_RESULT_SET_MISMATCH, OPS(7),
         "T3 (line 3): predicate read where value < 5: no rows, but the "
         "condition, on the versions it looked at, gives something else");
    hf_history_free(h);
}

static void timestamps_in_sentences(void **state)
{
    hf_history *h = history(
        "{\"ops\":[[\"w\",\"x\",1]],\"start_ts\":1,\"commit_ts\":9}\n"
        "{\"ops\":[[\"w\",\"x\",2]],\"start_ts\":3,\"commit_ts\":4}\n"
        "{\"ops\":[[\"r\",\"x\",null]],\"start_ts\":5,\"commit_ts\":6}\n"
        "{\"ops\":[[\"r\",\"x\",1]],\"start_ts\":5,\"commit_ts\":7}\n");

    (void)state;
    says(h, HF_OUTSIDE_SNAPSHOT, OPS(2, 1),
         "T3 (line 3) reads x = nil at its snapshot of 5, but T2 (line 2) had "
         "already committed x = 2 at 4");
    says(h, HF_OUTSIDE_SNAPSHOT, OPS(3, 0),
         "T4 (line 4) reads x = 1 at its snapshot of 5, but T1 (line 1) "
         "committed that version only at 9");
    says(h, HF_CONCURRENT_WRITE, OPS(0, 1),
         "T2 (line 2) and T1 (line 1) both wrote x; T1 started at 1, before "
         "T2 committed at 4");
    hf_history_free(h);
}

static void circles_of_versions_in_sentences(void **state)
{
    hf_history *h = history(
        "{\"session\":\"a\",\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":5}\n"
        "{\"session\":\"a\",\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",2]],"
        "\"begin\":7,\"end\":8}\n");
    hf_op_id ops[] = {0, 1, 1, 2, 1, 0};
    hf_witness w = {.kind = HF_WITNESS_OPERATIONS,
                    .anomaly = HF_CYCLIC_VERSIONS,
                    .rests = HF_REST_LINEARIZABLE,
                    .n_ops = 4,
                    .ops = ops};

    (void)state;
    assert_int_equal(hf_sentence_count(&w), 3);
    sentence_is(h, &w, 0,
                "T1 (line 1) wrote x = 1 and ended at 5, before T2 (line 2) "
                "began at 7 and read x = nil: so x = 1 comes before x = nil");
    sentence_is(h, &w, 1,
                "T2 (line 2) read x = nil and then wrote x = 2: so x = nil "
                "comes before x = 2");
    sentence_is(h, &w, 2, "so the versions of x would have to be in a circle");
    w.rests = HF_REST_SEQUENTIAL;
    sentence_is(h, &w, 0,
                "T1 (line 1) wrote x = 1, before T2 (line 2), later in the "
                "same session, read x = nil: so x = 1 comes before x = nil");
    w.rests = HF_REST_ORDER;
    sentence_is(h, &w, 0,
                "T1 (line 1) wrote x = 1, before T2 (line 2), later in the "
                "recorded order, read x = nil: so x = 1 comes before x = nil");
    hf_history_free(h);
}

/* ---- groups -------------------------------------------------------------- */

/* Three G1a and a G2-item, as an engine that counts reports them. */
static hf_result *many_result(hf_op_id *ops)
{
    hf_result *r = skew_result();
    hf_finding cycle = r->findings[0];

    r->findings = hf_arena_get(&r->arena, 4 * sizeof(*r->findings));
    for (unsigned i = 0; i < 3; i++)
        r->findings[i] = (hf_finding){.anomaly = HF_G1A,
                                      .witness = {.kind = HF_WITNESS_OPERATIONS,
                                                  .anomaly = HF_G1A,
                                                  .n_ops = 2,
                                                  .ops = ops}};
    r->findings[3] = cycle;
    r->n_findings = 4;
    r->groups = hf_arena_get(&r->arena, 2 * sizeof(*r->groups));
    r->groups[0] = (hf_group){HF_G1A, 1204, false};
    r->groups[1] = (hf_group){HF_G2_ITEM, 17, true};
    r->n_groups = 2;
    r->witness = r->findings[0].witness;
    return r;
}

static void first_of_each_group_comes_first(void **state)
{
    static hf_op_id ops[] = {2, 3};
    hf_result *r = many_result(ops);

    (void)state;
    hf_result_arrange(r, 2);
    assert_int_equal(r->findings[0].anomaly, HF_G1A);
    assert_int_equal(r->findings[1].anomaly, HF_G2_ITEM);
    assert_int_equal(r->findings[2].anomaly, HF_G1A);
    assert_int_equal(r->findings[3].anomaly, HF_G1A);
    hf_result_free(r);
    r = many_result(ops);
    hf_result_arrange(r, 3);
    assert_int_equal(r->findings[1].anomaly, HF_G1A);
    assert_int_equal(r->findings[2].anomaly, HF_G2_ITEM);
    hf_result_free(r);
    r = many_result(ops);
    hf_result_arrange(r, 1);
    assert_int_equal(r->findings[0].anomaly, HF_G1A);
    hf_result_arrange(r, 4);
    assert_int_equal(r->n_findings, 4);
    hf_result_free(r);
}

static void text_has(const hf_history *h, const hf_result *r, uint32_t most,
                     const char *expected)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_result_print(h, r, most, false, &out);
    hf_out_char(&out, '\0');
    if (!strstr(out.at, expected))
        fail_msg("not in the text: %s\n%s", expected, out.at);
    hf_out_release(&out);
}

static void groups_in_words(void **state)
{
    static hf_op_id ops[] = {2, 3};
    hf_history *h = history(skew);
    hf_result *r = many_result(ops);
    hf_group_list groups;

    (void)state;
    hf_result_arrange(r, 2);
    text_has(h, r, 2,
             "invalid at serializable\n"
             "\n"
             "found, worst first:\n"
             "  G1a: 1,204 reads, 1 shown\n"
             "  G2-item: at least 17 components, shortest shown\n"
             "\n"
             "G1a: ");
    text_has(h, r, 1, "  G2-item: at least 17 components, none shown\n");
    r->n_groups = 0;
    groups = hf_result_groups(r);
    assert_int_equal(groups.n, 2);
    assert_int_equal(groups.at[0].count, 3);
    assert_false(groups.at[0].at_least);
    assert_int_equal(groups.at[1].count, 1);
    assert_false(groups.at[1].at_least);
    hf_vec_release(&groups);
    hf_result_free(r);
    hf_history_free(h);
}

static void what_it_rests_on(void **state)
{
    hf_history *h = history(skew);
    hf_result *r = skew_result();
    hf_out out;
    hf_json j;

    (void)state;
    r->witness.rests = HF_REST_LINEARIZABLE;
    r->findings[0].witness.rests = HF_REST_LINEARIZABLE;
    text_has(h, r, 5,
             "invalid at serializable\n"
             "rests on the assumption per-key-linearizable\n"
             "\n"
             "G2-item (write skew): ");
    r->witness.rests = HF_REST_SEQUENTIAL | HF_REST_READS | HF_REST_TIMESTAMPS;
    text_has(h, r, 5,
             "rests on the assumption per-key-sequential, the assumption "
             "writes-follow-reads and the recorded timestamps\n");
    text_has(h, r, 5,
             "  this one rests on the assumption per-key-linearizable\n");
    r->findings[0].witness.rests = 0;
    text_has(h, r, 5, "  this one rests on nothing but the history\n");
    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    r->witness.rests = HF_REST_ORDER | HF_REST_LINEARIZABLE;
    hf_result_write_first(h, r, 0, &j);
    hf_out_char(&out, '\0');
    assert_non_null(strstr(out.at, "\"engine\":\"brute\",\"rests\":["
                                   "\"per-key-linearizable\","
                                   "\"recorded-order\"],\"groups\":["));
    assert_non_null(strstr(out.at, "\"anomalies\":[],"));
    assert_non_null(strstr(out.at, "\"kind\":\"cycle\",\"rests\":["
                                   "\"per-key-linearizable\","
                                   "\"recorded-order\"],\"anomaly\""));
    hf_out_release(&out);
    hf_result_free(r);
    hf_history_free(h);
}

static void long_reasons_are_wrapped(void **state)
{
    static char reason[] =
        "the order of the versions of 3 keys is not known: x, y, z; a read of "
        "both versions\nby one transaction\twould decide it";
    hf_history *h = history(skew);
    hf_result *r = hf_result_new(HF_SERIALIZABLE, "graph");

    (void)state;
    r->reason = reason;
    text_is(h, r,
            "unknown at serializable: the order of the versions of 3 keys is "
            "not known: x,\n"
            "  y, z; a read of both versions\n"
            "  by one transaction?would decide it\n");
    hf_result_free(r);
    hf_history_free(h);
}

static void clocks_may_disagree(void **state)
{
    hf_history *h =
        history("{\"ops\":[[\"r\",\"x\",1]],\"begin\":1,\"end\":2}\n"
                "{\"ops\":[[\"w\",\"x\",1]],\"begin\":3,\"end\":4}\n");
    hf_result *r = hf_result_new(HF_STRICT_SERIALIZABLE, "brute");
    hf_edge edges[] = {{HF_EDGE_RT, 0, 1, HF_NONE, HF_NONE, HF_NONE},
                       {HF_EDGE_WR, 1, 0, 0, 1, 0}};

    (void)state;
    r->verdict = HF_INVALID;
    r->witness = (hf_witness){.kind = HF_WITNESS_CYCLE,
                              .anomaly = HF_G1C_REALTIME,
                              .n_edges = 2,
                              .edges = edges};
    text_has(h, r, 5, "clocks of the clients");
    edges[0].kind = HF_EDGE_SO;
    {
        hf_out out;

        hf_out_init_memory(&out);
        hf_result_print(h, r, 5, false, &out);
        hf_out_char(&out, '\0');
        assert_null(strstr(out.at, "clocks"));
        hf_out_release(&out);
    }
    hf_result_free(r);
    hf_history_free(h);
}

/* Of a long transaction the beginning is shown, and what matters. */
static void long_transactions_show_what_matters(void **state)
{
    hf_result *r = skew_result();
    hf_history *h;
    hf_op_id op = 40;
    hf_out text;

    (void)state;
    hf_out_init_memory(&text);
    hf_out_text(&text, "{\"ops\":[[\"w\",\"x\",0]");
    for (int i = 1; i < 50; i++)
        hf_out_format(&text, ",[\"r\",\"x\",%d]", i);
    hf_out_text(&text, "]}\n");
    hf_out_char(&text, '\0');
    h = history(text.at);
    hf_out_release(&text);
    r->n_findings = 0;
    r->witness = (hf_witness){.kind = HF_WITNESS_OPERATIONS,
                              .anomaly = HF_GARBAGE_READ,
                              .n_ops = 1,
                              .ops = &op};
    text_has(h, r, 5,
             "read x = 6; read x = 7; ... 32 more; read x = 40; ... 9 more\n");
    hf_result_free(r);
    hf_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_in_sentences),
        cmocka_unit_test(lists_and_conditions_in_sentences),
        cmocka_unit_test(timestamps_in_sentences),
        cmocka_unit_test(circles_of_versions_in_sentences),
        cmocka_unit_test(first_of_each_group_comes_first),
        cmocka_unit_test(groups_in_words),
        cmocka_unit_test(what_it_rests_on),
        cmocka_unit_test(long_reasons_are_wrapped),
        cmocka_unit_test(clocks_may_disagree),
        cmocka_unit_test(long_transactions_show_what_matters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
