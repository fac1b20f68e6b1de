/* Results as graphs in the DOT language. */
#include "report/report.h"

#include "base/mem.h"
#include "report_util.h"

/* ---- DOT ----------------------------------------------------------------- */

/* A reader of the DOT that is written: braces and brackets are balanced
 * outside of strings, strings end, every statement does; and a record has no
 * bare special character in its text but those of its fields. */
static void dot_is_sound(const char *text)
{
    int braces = 0, brackets = 0;
    bool quoted = false;

    for (const char *c = text; *c; c++) {
        assert_true((unsigned char)*c < 127);
        if (quoted) {
            assert_int_not_equal(*c, '\n');
            if (*c == '\\')
                c++;
            else if (*c == '"')
                quoted = false;
            assert_int_not_equal(*c, '\0');
            continue;
        }
        quoted = *c == '"';
        braces += (*c == '{') - (*c == '}');
        brackets += (*c == '[') - (*c == ']');
        assert_in_range(braces, 0, 2);
        assert_in_range(brackets, 0, 1);
    }
    assert_false(quoted);
    assert_int_equal(braces, 0);
    assert_int_equal(brackets, 0);
}

static char *dot_of(const hf_history *h, const hf_result *r, uint32_t most)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_result_dot(h, r, most, &out);
    hf_out_char(&out, '\0');
    dot_is_sound(out.at);
    return out.at;
}

static void cycles_as_graphs(void **state)
{
    hf_history *h = history(skew);
    hf_result *r = skew_result();
    char *dot = dot_of(h, r, 5);

    (void)state;
    assert_non_null(strstr(dot, "subgraph cluster_0 {\n"
                                "    label=\"G2-item (write skew)\\l\";\n"));
    assert_non_null(strstr(dot, "f0_t0 [label=\"T1 (line 2)\\l|<o0> read x = "
                                "nil\\l|<o1> * read y = nil\\l|<o2> * write "
                                "x = 1\\l\"];\n"));
    assert_non_null(strstr(dot, "f0_t0:o1 -> f0_t1:o5 [label=\"rw y\", "));
    assert_non_null(strstr(dot, "f0_t1:o3 -> f0_t0:o2 [label=\"rw x\", "));
    hf_free(dot);
    r->findings[0].witness.edges[0] =
        (hf_edge){HF_EDGE_SO, 0, 1, HF_NONE, HF_NONE, HF_NONE};
    r->findings[0].witness.edges[1] =
        (hf_edge){HF_EDGE_RT, 1, 0, HF_NONE, HF_NONE, HF_NONE};
    dot = dot_of(h, r, 5);
    assert_non_null(strstr(dot, "f0_t0 -> f0_t1 [label=\"so\", "));
    assert_non_null(strstr(dot, "style=dashed"));
    assert_non_null(strstr(dot, "style=dotted"));
    hf_free(dot);
    dot = hf_result_dot_text(h, r); /* for users of the library */
    dot_is_sound(dot);
    assert_non_null(strstr(dot, "style=dotted"));
    hf_text_free(dot);
    dot = dot_of(h, r, 0);
    assert_null(strstr(dot, "cluster_"));
    hf_free(dot);
    hf_result_free(r);
    hf_history_free(h);
}

/* Everything from the input that means something in DOT is escaped. */
static void graphs_escape_the_input(void **state)
{
    hf_history *h = history(
        "{\"session\":\"}\\\"{\",\"ops\":[[\"w\",\"\\\"];{k}|<p>\\\\l&amp;\","
        "\"a\\\"b\\\\\\n\\u00e9{|}<>\"]],\"outcome\":\"aborted\"}\n"
        "{\"ops\":[[\"r\",\"\\\"];{k}|<p>\\\\l&amp;\","
        "\"a\\\"b\\\\\\n\\u00e9{|}<>\"]]}\n");
    hf_result *r = hf_result_new(HF_READ_COMMITTED, "brute");
    hf_op_id ops[] = {0, 1};
    hf_edge edges[] = {{HF_EDGE_WR, 0, 1, 0, 0, 1},
                       {HF_EDGE_RW, 1, 0, 0, 1, 0}};
    char *dot;

    (void)state;
    r->verdict = HF_INVALID;
    r->witness = (hf_witness){.kind = HF_WITNESS_OPERATIONS,
                              .anomaly = HF_G1A,
                              .n_ops = 2,
                              .ops = ops};
    dot = dot_of(h, r, 5);
    assert_non_null(strstr(dot, "T1 (line 1), aborted\\l|<o0> * write "
                                "\\\"];\\{k\\}\\|\\<p\\>\\\\l&amp;amp; = "
                                "\\\"a\\\"b\\\\\\\\x0a"));
    hf_free(dot);
    r->witness = (hf_witness){.kind = HF_WITNESS_CYCLE,
                              .anomaly = HF_G1C,
                              .n_edges = 2,
                              .edges = edges};
    dot = dot_of(h, r, 5);
    assert_non_null(strstr(dot, "[label=\"wr \\\"];{k}|<p>\\\\l&amp;amp;\", "));
    hf_free(dot);
    hf_result_free(r);
    hf_history_free(h);
}

static void other_verdicts_as_graphs(void **state)
{
    static char reason[] = "not known: \"x\" and a very long list of other "
                           "keys that would have to be known as well";
    hf_history *h = history(skew);
    hf_result *r = hf_result_new(HF_SERIALIZABLE, "brute");
    uint32_t events[] = {0, 2, 1, 3}, many[80];
    char *dot;

    (void)state;
    r->reason = reason;
    dot = dot_of(h, r, 5);
    assert_non_null(strstr(dot, "label=\"unknown at serializable\\lnot known: "
                                "\\\"x\\\" and a very long list of other keys "
                                "that would have to\\lbe known as well\\l\""));
    hf_free(dot);
    r->verdict = HF_VALID;
    r->witness = (hf_witness){
        .kind = HF_WITNESS_SNAPSHOT, .n_order = 4, .order = events};
    dot = dot_of(h, r, 5);
    assert_non_null(strstr(dot, "n1 [label=\"start T2 (line 3)\"];\n"
                                "  n0 -> n1;\n"));
    assert_non_null(strstr(dot, "n3 [label=\"commit T2 (line 3)\"];\n"));
    hf_free(dot);
    for (unsigned i = 0; i < 80; i++)
        many[i] = i % 2;
    r->witness =
        (hf_witness){.kind = HF_WITNESS_SERIAL, .n_order = 80, .order = many};
    dot = dot_of(h, r, 5);
    assert_non_null(strstr(dot, "n50 [label=\"... and 30 more\""));
    assert_non_null(strstr(dot, "n49 -> n50;\n"));
    assert_null(strstr(dot, "n51"));
    hf_free(dot);
    r->verdict = HF_INVALID;
    r->witness =
        (hf_witness){.kind = HF_WITNESS_CORE, .n_order = 2, .order = many};
    dot = dot_of(h, r, 5);
    assert_non_null(strstr(dot, "label=\"no order\\l\""));
    assert_non_null(strstr(dot, "f0_t1 [label="));
    hf_free(dot);
    hf_result_free(r);
    hf_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_as_graphs),
        cmocka_unit_test(graphs_escape_the_input),
        cmocka_unit_test(other_verdicts_as_graphs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
