/* The reference engine in the corners that the fixtures leave out: outcomes
 * and sources that are not known, lists, partial certificates, operations it
 * does not judge, limits, and the shape of its witnesses. */
#include "check/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "history/text.h"

#define LINE(...) "{" __VA_ARGS__ "}\n"
#define T(ops) "{\"ops\":[" ops "]}\n"
#define ABORTED(ops) "{\"outcome\":\"aborted\",\"ops\":[" ops "]}\n"
#define UNKNOWN(ops) "{\"outcome\":\"unknown\",\"ops\":[" ops "]}\n"

static hf_history *parse(const char *text)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_text_read(text, strlen(text), b, &err) != HF_OK) {
        hf_builder_free(b);
        fail_msg("%s", err.text);
    }
    if (hf_builder_finish(b, &h, &err) != HF_OK)
        fail_msg("%s", err.text);
    return h;
}

static hf_result *judge(const hf_history *h, hf_level level, hf_budget *budget)
{
    hf_result *r = NULL;
    hf_error err;

    if (hf_engine_find(HF_STR("brute"))
            ->check(h, level, NULL, budget, &r, &err) != HF_OK)
        fail_msg("%s", err.text);
    assert_int_equal(hf_witness_proves(r->witness.kind), r->verdict);
    return r;
}

/* The verdict, and for an invalid one the name of the worst finding. */
static void expect_at(const char *text, hf_level level, hf_verdict verdict,
                      const char *finding)
{
    hf_history *h = parse(text);
    hf_result *r = judge(h, level, NULL);
    const char *name = "";

    if (r->n_findings > 0)
        name = hf_anomaly_get(r->findings[0].anomaly)->name;
    if (r->verdict != verdict || strcmp(name, finding) != 0)
        fail_msg("at %s: expected %s %s, got %s %s\n%s",
                 hf_level_get(level)->name, hf_verdict_name(verdict), finding,
                 hf_verdict_name(r->verdict), name, text);
    hf_result_free(r);
    hf_history_free(h);
}

static void valid(const char *text, hf_level level)
{
    expect_at(text, level, HF_VALID, "");
}

static void invalid(const char *text, hf_level level, const char *finding)
{
    expect_at(text, level, HF_INVALID, finding);
}

/* Verdict unknown, for a reason that contains these words. */
static void undecided(const char *text, hf_level level, const char *words)
{
    hf_history *h = parse(text);
    hf_result *r = judge(h, level, NULL);

    assert_int_equal(r->verdict, HF_UNKNOWN);
    assert_non_null(r->reason);
    if (!strstr(r->reason, words))
        fail_msg("\"%s\" does not say \"%s\"", r->reason, words);
    hf_result_free(r);
    hf_history_free(h);
}

/* ---- outcomes ----------------------------------------------------------- */

static void unknown_outcomes_are_tried_both_ways(void **state)
{
    (void)state;
    /* it may have happened, because somebody read it */
    valid(UNKNOWN("[\"w\",\"x\",1]") T("[\"r\",\"x\",1]"),
          HF_STRICT_SERIALIZABLE);
    /* it need not have happened */
    valid(UNKNOWN("[\"w\",\"x\",1]") T("[\"r\",\"x\",null]"),
          HF_STRICT_SERIALIZABLE);
    /* then what it read does not matter, not even garbage */
    valid(UNKNOWN("[\"r\",\"x\",77],[\"w\",\"x\",1]"), HF_SERIALIZABLE);
    /* it happened for one reader: half of it is not allowed */
    invalid(UNKNOWN("[\"w\",\"x\",1],[\"w\",\"y\",1]")
                T("[\"r\",\"x\",1],[\"r\",\"y\",null]"),
            HF_SERIALIZABLE, "G-single-item");
    /* read, so it happened, but it read garbage itself */
    invalid(UNKNOWN("[\"r\",\"y\",77],[\"w\",\"x\",1]") T("[\"r\",\"x\",1]"),
            HF_SERIALIZABLE, "garbage read");
    /* the dirty read is allowed below read-committed, so is "not happened" */
    valid(UNKNOWN("[\"r\",\"y\",77],[\"w\",\"x\",1]") T("[\"r\",\"x\",1]"),
          HF_READ_UNCOMMITTED);
}

static void an_unknown_outcome_precedes_nothing(void **state)
{
    (void)state;
    valid(LINE("\"outcome\":\"unknown\",\"begin\":1,\"end\":2,"
               "\"ops\":[[\"w\",\"x\",1]]")
              LINE("\"begin\":3,\"end\":4,\"ops\":[[\"r\",\"x\",null]]")
                  LINE("\"begin\":5,\"end\":6,\"ops\":[[\"r\",\"x\",1]]"),
          HF_STRICT_SERIALIZABLE);
    invalid(LINE("\"begin\":1,\"end\":2,\"ops\":[[\"w\",\"x\",1]]")
                LINE("\"begin\":3,\"end\":4,\"ops\":[[\"r\",\"x\",null]]"),
            HF_STRICT_SERIALIZABLE, "G-single-item-realtime");
}

static void aborted_transactions_are_not_judged(void **state)
{
    (void)state;
    valid(ABORTED("[\"r\",\"x\",77],[\"w\",\"x\",1],[\"r\",\"x\",9]"),
          HF_STRICT_SERIALIZABLE);
    invalid(ABORTED("[\"w\",\"x\",1]") T("[\"r\",\"x\",1]"), HF_READ_COMMITTED,
            "G1a");
    valid(ABORTED("[\"w\",\"x\",1]") T("[\"r\",\"x\",1]"), HF_READ_UNCOMMITTED);
    /* session order skips the aborted one */
    invalid("{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n"
            "{\"session\":1,\"outcome\":\"aborted\",\"ops\":[]}\n"
            "{\"session\":1,\"ops\":[[\"r\",\"x\",null]]}\n",
            HF_READ_YOUR_WRITES, "G-single-item-session");
}

/* ---- sources ------------------------------------------------------------ */

static void equal_values_are_tried_every_way(void **state)
{
    (void)state;
    /* 1 is aborted or committed: the committed one explains the read */
    valid(ABORTED("[\"w\",\"x\",1]") T("[\"w\",\"x\",1]") T("[\"r\",\"x\",1]"),
          HF_STRICT_SERIALIZABLE);
    /* a read of the initial value may be a read of a write of it */
    valid(T("[\"w\",\"x\",null]") T("[\"w\",\"x\",2]")
              T("[\"r\",\"x\",2],[\"w\",\"y\",1]")
                  T("[\"r\",\"y\",1],[\"r\",\"x\",null]"),
          HF_SERIALIZABLE);
    /* intermediate in one, final in the other */
    valid(T("[\"w\",\"x\",1],[\"w\",\"x\",2]") T("[\"w\",\"x\",1]")
              T("[\"r\",\"x\",1]"),
          HF_SERIALIZABLE);
    /* two reads of equal values are one version where reads repeat */
    valid(T("[\"w\",\"x\",1],[\"w\",\"y\",1]")
              T("[\"w\",\"x\",1],[\"w\",\"y\",2]")
                  T("[\"r\",\"x\",1],[\"r\",\"y\",2],[\"r\",\"x\",1]"),
          HF_SERIALIZABLE);
    /* none of the ways works: a core */
    invalid(T("[\"w\",\"x\",1],[\"w\",\"y\",1]")
                T("[\"w\",\"x\",1],[\"w\",\"y\",1]")
                    T("[\"r\",\"x\",1],[\"r\",\"y\",null]"),
            HF_SERIALIZABLE, "no order");
    /* promised to be unique, it is an error by itself */
    invalid("{\"holdfast\":1,\"unique\":true}\n" T("[\"w\",\"x\",1]")
                T("[\"w\",\"x\",1]"),
            HF_READ_UNCOMMITTED, "duplicate write");
    invalid("{\"holdfast\":1,\"unique\":true}\n" T("[\"w\",\"x\",1]")
                ABORTED("[\"w\",\"x\",1]"),
            HF_READ_UNCOMMITTED, "duplicate write");
    valid("{\"holdfast\":1,\"unique\":true}\n" T("[\"delete\",\"x\"]")
              T("[\"delete\",\"x\"],[\"w\",\"x\",1]"),
          HF_SERIALIZABLE);
}

static void sources_are_named_where_there_is_a_choice(void **state)
{
    hf_history *h = parse(T("[\"w\",\"x\",1],[\"w\",\"y\",1]")
                              T("[\"w\",\"x\",1],[\"w\",\"y\",2]")
                                  T("[\"r\",\"x\",1],[\"r\",\"y\",1]"));
    hf_result *r = judge(h, HF_SERIALIZABLE, NULL);

    (void)state;
    assert_int_equal(r->verdict, HF_VALID);
    assert_int_equal(r->witness.kind, HF_WITNESS_SERIAL);
    assert_int_equal(r->witness.n_sources, 1);
    assert_int_equal(r->witness.sources[0].op, 4);
    assert_int_equal(r->witness.sources[0].index, 0);
    assert_int_equal(r->witness.sources[0].writer, 0);
    hf_result_free(r);
    hf_history_free(h);
}

static void own_writes_are_seen_and_make_no_edge(void **state)
{
    (void)state;
    valid(T("[\"w\",\"x\",1],[\"r\",\"x\",1],[\"w\",\"x\",2],[\"r\",\"x\",2]"),
          HF_STRICT_SERIALIZABLE);
    invalid(T("[\"w\",\"x\",1]") T("[\"w\",\"x\",2],[\"r\",\"x\",1]"),
            HF_READ_UNCOMMITTED, "internal");
    invalid(T("[\"r\",\"x\",1],[\"w\",\"x\",1]"), HF_READ_COMMITTED,
            "future read");
    valid(T("[\"r\",\"x\",1],[\"w\",\"x\",1]"), HF_READ_UNCOMMITTED);
    valid(T("[\"r\",\"x\",1],[\"w\",\"x\",1]") T("[\"w\",\"x\",1]"),
          HF_SERIALIZABLE);
    /* a delete is a write of nil, a failed statement is nothing */
    invalid(T("[\"w\",\"x\",1],[\"delete\",\"x\"],[\"r\",\"x\",1]"),
            HF_READ_UNCOMMITTED, "internal");
    valid(T("[\"w\",\"x\",1],[\"delete\",\"x\"],[\"r\",\"x\",null]"),
          HF_SERIALIZABLE);
    valid(T("[\"w\",\"x\",1],{\"op\":\"w\",\"key\":\"x\",\"value\":2,"
            "\"failed\":true},[\"r\",\"x\",1]"),
          HF_SERIALIZABLE);
    valid(T("[\"r\",\"x\"]"), HF_STRICT_SERIALIZABLE);
}

/* ---- certificates ------------------------------------------------------- */

static void a_certificate_is_kept_as_far_as_it_goes(void **state)
{
#define THREE                                                                  \
    T("[\"w\",\"x\",1]")                                                       \
    T("[\"r\",\"x\",null],[\"w\",\"x\",2]")                                    \
    T("[\"w\",\"x\",3]")

    (void)state;
    valid(THREE, HF_SERIALIZABLE);
    /* T3 may stand anywhere, but T1 is before T2, which did not see it */
    invalid(THREE "{\"order\":[\"x\",[1,2]]}\n", HF_SERIALIZABLE,
            "G-single-item");
    valid(THREE "{\"order\":[\"x\",[2,1]]}\n", HF_SERIALIZABLE);
    valid(THREE "{\"order\":[\"x\",[2]]}\n", HF_SERIALIZABLE);
    valid(THREE "{\"order\":[\"x\",[1,2]]}\n", HF_PREFIX);
    /* the order of two keys cannot be had together */
    invalid(
        T("[\"w\",\"x\",1],[\"w\",\"y\",1]")
            T("[\"w\",\"x\",2],[\"w\",\"y\",2]") "{\"order\":[\"x\",[1,2]]}\n{"
                                                 "\"order\":[\"y\",[2,1]]}\n",
        HF_READ_UNCOMMITTED, "G0");
#undef THREE
}

/* ---- lists -------------------------------------------------------------- */

static void lists_show_the_version_order(void **state)
{
#define TWO T("[\"append\",\"x\",1]") T("[\"append\",\"x\",2]")

    (void)state;
    valid(TWO T("[\"r\",\"x\",[2,1]]") T("[\"r\",\"x\",[2]]")
              T("[\"r\",\"x\",[]]"),
          HF_SERIALIZABLE);
    invalid(TWO T("[\"r\",\"x\",[2,1]]") T("[\"r\",\"x\",[1]]"),
            HF_READ_UNCOMMITTED, "incompatible order");
    invalid(TWO T("[\"r\",\"x\",[1,2,1]]"), HF_READ_UNCOMMITTED,
            "duplicate write");
    invalid(TWO T("[\"r\",\"x\",[1,7]]"), HF_READ_UNCOMMITTED, "garbage read");
    /* what is not there comes later: T2 has not been seen */
    invalid("{\"session\":1,\"ops\":[[\"append\",\"x\",1]]}\n"
            "{\"session\":1,\"ops\":[[\"append\",\"x\",2]]}\n"
            "{\"session\":1,\"ops\":[[\"r\",\"x\",[1]]]}\n",
            HF_STRONG_SESSION_SERIALIZABLE, "G-single-item-session");
    /* the list and the certificate disagree */
    invalid(TWO T("[\"r\",\"x\",[2,1]]") "{\"order\":[\"x\",[1,2]]}\n",
            HF_READ_UNCOMMITTED, "G0");
    /* write skew on lists */
    invalid(T("[\"r\",\"x\",[]],[\"append\",\"y\",1]")
                T("[\"r\",\"y\",[]],[\"append\",\"x\",1]"),
            HF_SERIALIZABLE, "G2-item");
#undef TWO
}

static void elements_of_one_transaction_stay_together(void **state)
{
#define PAIR T("[\"append\",\"x\",1],[\"append\",\"x\",2]")

    (void)state;
    invalid(PAIR T("[\"r\",\"x\",[1]]"), HF_READ_COMMITTED, "G1b");
    valid(PAIR T("[\"r\",\"x\",[1]]"), HF_READ_UNCOMMITTED);
    invalid(PAIR T("[\"append\",\"x\",3]") T("[\"r\",\"x\",[1,3,2]]"),
            HF_READ_UNCOMMITTED, "no order");
    invalid(PAIR T("[\"r\",\"x\",[2,1]]"), HF_READ_UNCOMMITTED, "no order");
    valid(PAIR T("[\"append\",\"x\",3]") T("[\"r\",\"x\",[3,1,2]]"),
          HF_SERIALIZABLE);
#undef PAIR
}

static void own_appends_are_seen(void **state)
{
    (void)state;
    valid(T("[\"append\",\"x\",1],[\"r\",\"x\",[1]],[\"append\",\"x\",2],"
            "[\"r\",\"x\",[1,2]]"),
          HF_STRICT_SERIALIZABLE);
    invalid(T("[\"append\",\"x\",1],[\"r\",\"x\",[]]"), HF_READ_UNCOMMITTED,
            "internal");
    invalid(T("[\"append\",\"x\",1],[\"r\",\"x\",[1,2]],[\"append\",\"x\",2]"),
            HF_READ_UNCOMMITTED, "internal");
    invalid(T("[\"append\",\"x\",1]") T("[\"append\",\"x\",2],"
                                        "[\"r\",\"x\",[2,1]]"),
            HF_READ_UNCOMMITTED, "internal");
    /* its own first element is missing */
    invalid(T("[\"append\",\"x\",1],[\"append\",\"x\",2],[\"r\",\"x\",[2]]"),
            HF_READ_UNCOMMITTED, "no order");
    invalid(T("[\"r\",\"x\",[1]],[\"append\",\"x\",1]"), HF_READ_COMMITTED,
            "future read");
    /* T2 saw T1's element below its own and not in its earlier read */
    invalid(T("[\"append\",\"x\",1]") T("[\"r\",\"x\",[]],[\"append\",\"x\",2],"
                                        "[\"r\",\"x\",[1,2]]"),
            HF_SNAPSHOT_ISOLATION, "G-single-item");
}

static void aborted_elements_are_left_out(void **state)
{
#define MIX                                                                    \
    ABORTED("[\"append\",\"x\",1]")                                            \
    T("[\"append\",\"x\",2]") T("[\"append\",\"x\",3]")

    (void)state;
    valid(MIX T("[\"r\",\"x\",[1,2,3]]") T("[\"r\",\"x\",[2]]"),
          HF_READ_UNCOMMITTED);
    invalid(MIX T("[\"r\",\"x\",[1,2,3]]"), HF_READ_COMMITTED, "G1a");
    invalid(MIX T("[\"r\",\"x\",[2,1,3]]") T("[\"r\",\"x\",[3]]"),
            HF_READ_UNCOMMITTED, "incompatible order");
    valid(UNKNOWN("[\"append\",\"x\",1]") T("[\"append\",\"x\",2]")
              T("[\"r\",\"x\",[1,2]]"),
          HF_SERIALIZABLE);
    valid(UNKNOWN("[\"append\",\"x\",1]") T("[\"append\",\"x\",2]")
              T("[\"r\",\"x\",[1,2]]") T("[\"r\",\"x\",[2]]"),
          HF_READ_UNCOMMITTED);
    invalid(UNKNOWN("[\"append\",\"x\",1]") T("[\"append\",\"x\",2]")
                T("[\"r\",\"x\",[1,2]]") T("[\"r\",\"x\",[2]]"),
            HF_READ_COMMITTED, "no order");
#undef MIX
}

static void mixing_lists_and_registers_is_bad_input(void **state)
{
    hf_history *h = parse(T("[\"append\",\"x\",1],[\"w\",\"x\",2]"));
    hf_result *r = NULL;
    hf_error err;

    (void)state;
    assert_int_equal(hf_engine_find(HF_STR("brute"))
                         ->check(h, HF_SERIALIZABLE, NULL, NULL, &r, &err),
                     HF_ERR_INPUT);
    assert_null(r);
    assert_non_null(strstr(err.text, "mixes appends"));
    hf_history_free(h);
}

/* ---- other operations --------------------------------------------------- */

static void increments_with_results_are_read_and_write(void **state)
{
#define INC(before, after)                                                     \
    "{\"op\":\"inc\",\"key\":\"x\",\"by\":1,\"before\":" before                \
    ",\"after\":" after "}"
#define ZERO "{\"initial\":[[\"x\",0]]}\n"

    (void)state;
    valid(ZERO T(INC("0", "1")) T(INC("1", "2")), HF_SERIALIZABLE);
    valid(ZERO T(INC("0", "1")) T(INC("0", "1")), HF_PREFIX);
    invalid(ZERO T(INC("0", "1")) T(INC("0", "1")), HF_SNAPSHOT_ISOLATION,
            "lost update");
    invalid(ZERO T(INC("0", "2")), HF_READ_UNCOMMITTED, "semantic error");
    /* by nothing: it wrote the value, too, so this is no plain G1a */
    invalid(T("{\"op\":\"inc\",\"key\":\"x\",\"by\":0,\"before\":3,"
              "\"after\":3}") ABORTED("[\"w\",\"x\",3]"),
            HF_READ_COMMITTED, "no order");
    /* blind increments: what the key holds follows from the order */
    valid(ZERO T("[\"inc\",\"x\",1]") T("[\"inc\",\"x\",1]"), HF_SERIALIZABLE);
    valid(ZERO T("[\"inc\",\"x\",1]") T("[\"r\",\"x\",1]"), HF_SERIALIZABLE);
    valid(ZERO T("[\"inc\",\"x\",1]") T("[\"w\",\"x\",\"a\"]")
              T("[\"r\",\"x\",1]"),
          HF_SERIALIZABLE);
    invalid(ZERO T("[\"inc\",\"x\",2]") T("[\"inc\",\"x\",2]")
                T("[\"r\",\"x\",3]"),
            HF_READ_UNCOMMITTED, "garbage read");
    /* each order misses one of the two */
    valid(ZERO T("[\"inc\",\"x\",1]") T("[\"inc\",\"x\",2]")
              T("[\"r\",\"x\",1]") T("[\"r\",\"x\",2]"),
          HF_READ_UNCOMMITTED);
    invalid(ZERO T("[\"inc\",\"x\",1]") T("[\"inc\",\"x\",2]")
                T("[\"r\",\"x\",1]") T("[\"r\",\"x\",2]"),
            HF_READ_COMMITTED, "no order");
    invalid(ZERO T("[\"w\",\"x\",5],[\"inc\",\"x\",1],[\"r\",\"x\",5]"),
            HF_READ_UNCOMMITTED, "internal");
    invalid(ZERO T("[\"inc\",\"x\",1]") T("[\"r\",\"x\",1],[\"r\",\"y\",7]"),
            HF_SERIALIZABLE, "garbage read");
#undef INC
#undef ZERO
}

static void statements_are_not_judged(void **state)
{
#define SQL "{\"op\":\"sql\",\"text\":\"select 1\"}"

    (void)state;
    undecided(T(SQL), HF_READ_UNCOMMITTED, "SQL");
    invalid(T(SQL) T("[\"r\",\"x\",1]"), HF_SERIALIZABLE, "garbage read");
    valid(ABORTED(SQL), HF_SERIALIZABLE);
#undef SQL
}

static void conditions_it_cannot_judge_leave_it_undecided(void **state)
{
#define QUERY(rest) "{\"op\":\"pr\",\"where\":\"" rest "}"
#define ODD                                                                    \
    QUERY("soundex(value) = 3\",\"versions\":[[\"x\",1]],"                     \
          "\"rows\":[[\"x\",1]]")
#define BARE QUERY("value = 1\",\"rows\":[[\"x\",1]]")

    (void)state;
    undecided(T("[\"w\",\"x\",1]") T(ODD), HF_SERIALIZABLE, "soundex");
    /* without a version set what it saw is part of the world */
    valid(T("[\"w\",\"x\",1]") T(BARE), HF_SERIALIZABLE);
    /* are the rows what the condition gives?  that matters everywhere */
    undecided(T("[\"w\",\"x\",1]") T(ODD), HF_READ_UNCOMMITTED, "soundex");
    undecided(T("[\"w\",\"x\",1]") T(QUERY("f(value)\",\"rows\":[[\"x\",1]]")),
              HF_READ_UNCOMMITTED, "f(value)");
    /* rows that fit, or none recorded: nothing can be wrong there */
    valid(T("[\"w\",\"x\",1]") T(BARE), HF_READ_UNCOMMITTED);
    valid(T("[\"w\",\"x\",1]") T(QUERY("f(value)\"")), HF_READ_UNCOMMITTED);
    valid(T("[\"w\",\"x\",1]") T(QUERY("f(value)\",\"versions\":[[\"x\",1]]")),
          HF_READ_UNCOMMITTED);
    /* but the versions looked at must exist */
    invalid(T("[\"w\",\"x\",1]")
                T(QUERY("f(value)\",\"versions\":[[\"x\",7]]")),
            HF_READ_UNCOMMITTED, "garbage read");
    /* the row was returned, whatever the condition: that is a read */
    invalid(T("[\"w\",\"x\",1],[\"w\",\"y\",1]") T(ODD ",[\"r\",\"y\",null]"),
            HF_SERIALIZABLE, "G-single-item");
    invalid(ABORTED("[\"w\",\"x\",1]") T(BARE), HF_READ_COMMITTED, "G1a");
#undef QUERY
#undef ODD
#undef BARE
}

static void rows_must_satisfy_the_condition_at_every_level(void **state)
{
#define ONE "{\"initial\":[[\"x\",1],[\"y\",\"text\"]]}\n"
#define ROWS(rest) "{\"op\":\"pr\",\"where\":\"value > 5\"," rest "}"

    (void)state;
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        hf_level level = (hf_level)l;

        invalid(ONE T(ROWS("\"rows\":[[\"x\",1]]")), level,
                "result set mismatch");
        /* one that contradicts is enough, whatever the others are */
        invalid(ONE T(ROWS("\"rows\":[[\"y\",\"text\"],[\"x\",1]]")), level,
                "result set mismatch");
        invalid(ONE T(ROWS("\"versions\":[[\"y\",\"text\"],[\"x\",1]],"
                           "\"rows\":[[\"x\",1]]")),
                level, "result set mismatch");
        undecided(ONE T(ROWS("\"rows\":[[\"y\",\"text\"]]")), level,
                  "value > 5");
        undecided(ONE T(ROWS("\"versions\":[[\"y\",\"text\"]],\"rows\":[]")),
                  level, "value > 5");
    }
#undef ONE
#undef ROWS
}

static void aggregates_it_cannot_compute_leave_it_undecided(void **state)
{
#define START(x, y) "{\"initial\":[[\"x\"," x "],[\"y\"," y "]]}\n"
#define AGG(op, x, y, rest)                                                    \
    START(x, y)                                                                \
    T("{\"op\":\"" op "\",\"where\":\"true\",\"versions\":[[\"x\"," x          \
      "],[\"y\"," y "]]," rest "}")
#define MOST "9223372036854775807"
    static const struct {
        const char *text, *words;
    } rows[] = {
        {AGG("sum", "0.1", "0.2", "\"value\":0.30000000000000004"), "rounded"},
        {AGG("sum", "1", "0.2", "\"value\":1.2000001"), "rounded"},
        {AGG("sum", "1", "\"a\"", "\"value\":777"), "numbers"},
        {AGG("avg", "1", "2", "\"value\":2"), "rounded"},
        {AGG("avg", "1.5", "2", "\"value\":1.7"), "rounded"},
        {AGG("avg", MOST, "1", "\"value\":777"), "overflow"},
        {AGG("sum", MOST, "1", "\"value\":777"), "overflow"},
        {AGG("min", "\"a\"", "\"b\"", "\"value\":777"), "min"},
        {AGG("max", "1", "2", "\"value\":\"two\""), "result"},
        {AGG("sum", "{\"a\":1}", "{\"b\":1}", "\"column\":\"a\",\"value\":1"),
         "column"},
        {AGG("count", "{\"a\":1}", "{\"b\":1}", "\"column\":\"a\",\"value\":1"),
         "count"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        undecided(rows[i].text, HF_SERIALIZABLE, rows[i].words);
        undecided(rows[i].text, HF_READ_UNCOMMITTED, rows[i].words);
    }
    /* what else is wrong still is */
    invalid(AGG("sum", "1", "\"a\"", "\"value\":777") T("[\"r\",\"z\",1]"),
            HF_READ_UNCOMMITTED, "garbage read");
    /* no rounding explains that */
    invalid(AGG("sum", "0.1", "0.2", "\"value\":777"), HF_READ_UNCOMMITTED,
            "result set mismatch");
    /* no result, nothing to compute */
    valid(START("0.1", "0.2") T("{\"op\":\"sum\",\"where\":\"true\","
                                "\"versions\":[[\"x\",0.1]]}"),
          HF_SERIALIZABLE);
    /* an extreme does not overflow; a count takes everything */
    valid(AGG("max", MOST, "1", "\"value\":" MOST), HF_SERIALIZABLE);
    invalid(AGG("max", MOST, "1", "\"value\":1"), HF_SERIALIZABLE,
            "result set mismatch");
    valid(AGG("count", "0.1", "\"a\"", "\"value\":2"), HF_SERIALIZABLE);
    invalid(AGG("count", "0.1", "\"a\"", "\"value\":1"), HF_SERIALIZABLE,
            "result set mismatch");
    valid(AGG("count", "{\"a\":1}", "{\"b\":1}", "\"value\":2"),
          HF_SERIALIZABLE);
    valid(AGG("sum", "4", "-9", "\"value\":-5"), HF_SERIALIZABLE);
    /* decimals are exact */
    valid(AGG("sum", "0.1", "0.2", "\"value\":0.30"), HF_SERIALIZABLE);
    valid(AGG("max", "0.5", "2", "\"value\":2.0"), HF_SERIALIZABLE);
    invalid(AGG("max", "0.5", "2", "\"value\":777"), HF_SERIALIZABLE,
            "result set mismatch");
    invalid(AGG("min", "0.5", "2", "\"value\":0.51"), HF_SERIALIZABLE,
            "result set mismatch");
    valid(AGG("avg", "1", "2", "\"value\":1.5000"), HF_SERIALIZABLE);
    valid(AGG("avg", "0.1", "0.2", "\"value\":0.15"), HF_SERIALIZABLE);
    invalid(AGG("avg", "1", "2", "\"value\":1.6000"), HF_SERIALIZABLE,
            "result set mismatch");
    /* an entry that is there twice counts once */
    valid(START("4", "5") T("{\"op\":\"sum\",\"where\":\"true\","
                            "\"versions\":[[\"x\",4],[\"x\",4]],"
                            "\"value\":4}"),
          HF_SERIALIZABLE);
#undef START
#undef AGG
#undef MOST
}

static void predicates_look_at_matches_only(void **state)
{
#define LOOK(version, rows)                                                    \
    "{\"op\":\"pr\",\"where\":\"value < 5\",\"versions\":[[\"x\"," version     \
    "]],\"rows\":[" rows "]}"
#define NINE "{\"initial\":[[\"x\",9]]}\n"

    (void)state;
    /* 9 and 8 both fail the condition: the old version does no harm */
    valid(NINE T("[\"w\",\"x\",8],[\"w\",\"y\",1]")
              T(LOOK("9", "") ",[\"r\",\"y\",1]"),
          HF_STRICT_SERIALIZABLE);
    invalid(NINE T("[\"w\",\"x\",3],[\"w\",\"y\",1]")
                T(LOOK("9", "") ",[\"r\",\"y\",1]"),
            HF_SERIALIZABLE, "G-single");
    /* repeatable-read does not see phantoms */
    valid(NINE T("[\"w\",\"x\",3],[\"w\",\"y\",1]")
              T(LOOK("9", "") ",[\"r\",\"y\",1]"),
          HF_REPEATABLE_READ);
    /* the condition looks at own writes */
    valid(NINE T("[\"w\",\"x\",3]," LOOK("3", "[\"x\",3]")), HF_SERIALIZABLE);
    invalid(NINE T("[\"w\",\"x\",3]," LOOK("9", "")), HF_READ_UNCOMMITTED,
            "internal");
    invalid(NINE T(LOOK("9", "[\"x\",9]")), HF_READ_UNCOMMITTED,
            "result set mismatch");
    invalid(NINE T("{\"op\":\"count\",\"where\":\"value > 5\","
                   "\"versions\":[[\"x\",9]],\"value\":2}"),
            HF_READ_UNCOMMITTED, "result set mismatch");
    /* seen to match, then not, before an own write: no cycle, but INT */
    invalid("{\"initial\":[[\"x\",1]]}\n" T("[\"w\",\"x\",9]")
                T(LOOK("1", "[\"x\",1]") "," LOOK(
                    "9", "") ",[\"w\",\"x\",8]") "{\"order\":[\"x\",[2,1]]}\n",
            HF_PARALLEL_SNAPSHOT_ISOLATION, "no order");
    valid("{\"initial\":[[\"x\",1]]}\n" T("[\"w\",\"x\",9]")
              T(LOOK("1", "[\"x\",1]") "," LOOK(
                  "9", "") ",[\"w\",\"x\",8]") "{\"order\":[\"x\",[2,1]]}\n",
          HF_CONSISTENT_VIEW);
#undef LOOK
#undef NINE
}

/* ---- limits ------------------------------------------------------------- */

static void nine_transactions_are_too_many(void **state)
{
    hf_out out;

    (void)state;
    hf_out_init_memory(&out);
    for (int i = 0; i < 9; i++)
        hf_out_format(&out, T("[\"w\",\"x\",%d]"), i);
    hf_out_char(&out, '\0');
    undecided(out.at, HF_SERIALIZABLE,
              "engine brute judges at most 8 transactions, this history has "
              "9");
    hf_out_release(&out);

    hf_out_init_memory(&out);
    for (int i = 0; i < 40; i++)
        hf_out_format(&out, ABORTED("[\"w\",\"x\",%d]"), i);
    for (int i = 0; i < 8; i++)
        hf_out_format(&out, T("[\"w\",\"x\",%d]"), 100 + i);
    hf_out_char(&out, '\0');
    valid(out.at, HF_STRICT_SERIALIZABLE);
    hf_out_release(&out);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void a_spent_budget_is_verdict_unknown(void **state)
{
    hf_history *h = parse(T("[\"w\",\"x\",1]") T("[\"r\",\"x\",1]"));
    hf_budget budget = {.interrupted = always};
    hf_result *r;

    (void)state;
    hf_budget_start(&budget);
    assert_true(hf_budget_look(&budget));
    r = judge(h, HF_SERIALIZABLE, &budget);
    assert_int_equal(r->verdict, HF_UNKNOWN);
    assert_string_equal(r->reason, hf_budget_reason(&budget));
    hf_result_free(r);
    hf_history_free(h);
}

static void the_empty_history_is_valid(void **state)
{
    (void)state;
    for (int level = 0; level < HF_LEVEL_COUNT; level++) {
        valid("", (hf_level)level);
        valid(T(""), (hf_level)level);
    }
}

/* ---- witnesses ---------------------------------------------------------- */

static void a_core_is_as_small_as_can_be(void **state)
{
    /* T1..T3 are the case of equal values above, T4 and T5 have no part */
    hf_history *h = parse(T("[\"w\",\"x\",1],[\"w\",\"y\",1]")
                              T("[\"w\",\"x\",1],[\"w\",\"y\",1]")
                                  T("[\"r\",\"x\",1],[\"r\",\"y\",null]")
                                      T("[\"w\",\"z\",1]") T("[\"r\",\"z\",1]")
                                          ABORTED("[\"w\",\"z\",2]"));
    hf_result *r = judge(h, HF_SERIALIZABLE, NULL);

    (void)state;
    assert_int_equal(r->witness.kind, HF_WITNESS_CORE);
    assert_int_equal(r->witness.n_order, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(r->witness.order[i], i);
    assert_int_equal(r->n_findings, 1);
    hf_result_free(r);
    hf_history_free(h);
}

static void a_snapshot_order_has_starts_and_commits(void **state)
{
    hf_history *h =
        parse(T("[\"r\",\"x\",null],[\"r\",\"y\",null],"
                "[\"w\",\"x\",1]") T("[\"r\",\"x\",null],[\"r\",\"y\",null],"
                                     "[\"w\",\"y\",1]"));
    hf_result *r = judge(h, HF_SNAPSHOT_ISOLATION, NULL);
    uint32_t place[4];

    (void)state;
    assert_int_equal(r->verdict, HF_VALID);
    assert_int_equal(r->witness.kind, HF_WITNESS_SNAPSHOT);
    assert_int_equal(r->witness.n_order, 4);
    for (uint32_t i = 0; i < 4; i++)
        place[r->witness.order[i]] = i;
    /* both start before either commits */
    assert_true(place[0] < place[1] && place[0] < place[3]);
    assert_true(place[2] < place[1] && place[2] < place[3]);
    hf_result_free(r);
    hf_history_free(h);
}

static void findings_are_all_there_worst_first(void **state)
{
    hf_history *h =
        parse(ABORTED("[\"w\",\"z\",1]") T("[\"r\",\"x\",null],[\"w\",\"x\",1]")
                  T("[\"r\",\"x\",null],[\"w\",\"x\",2]") T("[\"r\",\"z\",1]")
                      T("[\"r\",\"q\",5]"));
    hf_result *r = judge(h, HF_SERIALIZABLE, NULL);

    (void)state;
    assert_int_equal(r->n_findings, 3);
    assert_int_equal(r->findings[0].anomaly, HF_GARBAGE_READ);
    assert_int_equal(r->findings[1].anomaly, HF_G1A);
    assert_int_equal(r->findings[2].anomaly, HF_LOST_UPDATE);
    assert_int_equal(r->witness.kind, HF_WITNESS_OPERATIONS);
    assert_int_equal(r->witness.n_ops, 1);
    assert_int_equal(r->witness.ops[0], 6);
    assert_int_equal(r->findings[2].witness.n_ops, 4);
    hf_result_free(r);
    hf_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_outcomes_are_tried_both_ways),
        cmocka_unit_test(an_unknown_outcome_precedes_nothing),
        cmocka_unit_test(aborted_transactions_are_not_judged),
        cmocka_unit_test(equal_values_are_tried_every_way),
        cmocka_unit_test(sources_are_named_where_there_is_a_choice),
        cmocka_unit_test(own_writes_are_seen_and_make_no_edge),
        cmocka_unit_test(a_certificate_is_kept_as_far_as_it_goes),
        cmocka_unit_test(lists_show_the_version_order),
        cmocka_unit_test(elements_of_one_transaction_stay_together),
        cmocka_unit_test(own_appends_are_seen),
        cmocka_unit_test(aborted_elements_are_left_out),
        cmocka_unit_test(mixing_lists_and_registers_is_bad_input),
        cmocka_unit_test(increments_with_results_are_read_and_write),
        cmocka_unit_test(statements_are_not_judged),
        cmocka_unit_test(conditions_it_cannot_judge_leave_it_undecided),
        cmocka_unit_test(rows_must_satisfy_the_condition_at_every_level),
        cmocka_unit_test(aggregates_it_cannot_compute_leave_it_undecided),
        cmocka_unit_test(predicates_look_at_matches_only),
        cmocka_unit_test(nine_transactions_are_too_many),
        cmocka_unit_test(a_spent_budget_is_verdict_unknown),
        cmocka_unit_test(the_empty_history_is_valid),
        cmocka_unit_test(a_core_is_as_small_as_can_be),
        cmocka_unit_test(a_snapshot_order_has_starts_and_commits),
        cmocka_unit_test(findings_are_all_there_worst_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
