/* test_replay.c: the replay engine on small histories made for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check/check.h"
#include "check/row_index.h"
#include "history/text.h"
#include "verify/verify.h"

static hf_history *history(const char *text)
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

static hf_status ask(const hf_history *h, hf_level level, unsigned order,
                     hf_result **ret, hf_error *err)
{
    hf_check_options options = {.order = order};

    return hf_engine_ask(hf_engine_find(HF_STR("replay")), h, level, &options,
                         NULL, ret, err);
}

static void accept(const hf_history *h, const hf_result *r, const hf_witness *w)
{
    hf_claim claim = {r->verdict, r->level, *w};
    hf_verification v;
    hf_error err;

    if (hf_verify_claim(h, &claim, NULL, &v, &err) != HF_OK)
        fail_msg("%s", err.text);
    if (!v.accepted)
        fail_msg("refused: %s", v.reason);
}

/* The verdict, every witness accepted. */
static hf_result *judged(const hf_history *h, hf_level level, unsigned order,
                         hf_verdict verdict)
{
    hf_result *r = NULL;
    hf_error err;

    if (ask(h, level, order, &r, &err) != HF_OK)
        fail_msg("%s", err.text);
    if (r->verdict != verdict)
        fail_msg("%s at %s: %s", hf_verdict_name(r->verdict),
                 hf_level_get(level)->name, r->reason ? r->reason : "");
    if (r->verdict != HF_UNKNOWN)
        accept(h, r, &r->witness);
    for (uint32_t i = 0; i < r->n_findings; i++)
        accept(h, r, &r->findings[i].witness);
    return r;
}

static void is(const char *text, hf_level level, unsigned order,
               hf_verdict verdict)
{
    hf_history *h = history(text);

    hf_result_free(judged(h, level, order, verdict));
    hf_history_free(h);
}

/* Invalid, with one finding of these operations (ended by -1). */
static void shows(const char *text, hf_level level, hf_anomaly anomaly,
                  const int *ops)
{
    hf_history *h = history(text);
    hf_result *r = judged(h, level, 0, HF_INVALID);
    uint32_t n = 0;

    assert_int_equal(r->findings[0].anomaly, anomaly);
    while (ops[n] >= 0) {
        assert_true(n < r->witness.n_ops);
        assert_int_equal(r->witness.ops[n], ops[n]);
        n++;
    }
    assert_int_equal(r->witness.n_ops, n);
    hf_result_free(r);
    hf_history_free(h);
}

#define OPS(...) ((const int[]){__VA_ARGS__, -1})

static void refused(const char *text, unsigned order, const char *message)
{
    hf_history *h = history(text);
    hf_result *r = NULL;
    hf_error err;

    assert_int_equal(ask(h, HF_SERIALIZABLE, order, &r, &err), HF_ERR_INPUT);
    assert_non_null(strstr(err.text, message));
    hf_history_free(h);
}

static void says(const char *text, hf_level level, unsigned order,
                 const char *reason)
{
    hf_history *h = history(text);
    hf_result *r = judged(h, level, order, HF_UNKNOWN);

    if (!strstr(r->reason, reason))
        fail_msg("%s", r->reason);
    hf_result_free(r);
    hf_history_free(h);
}

/* ---- items --------------------------------------------------------------- */

#define W1 "{\"ops\":[[\"w\",\"x\",1]],\"commit_ts\":1}\n"
#define W2 "{\"ops\":[[\"w\",\"x\",2]],\"commit_ts\":2}\n"

static void reads_see_the_state_at_their_place(void **state)
{
    (void)state;
    is(W1 W2 "{\"ops\":[[\"r\",\"x\",2]],\"commit_ts\":3}\n", HF_SERIALIZABLE,
       0, HF_VALID);
    is("{\"ops\":[[\"r\",\"x\",2]],\"commit_ts\":3}\n" W2 W1, HF_SERIALIZABLE,
       0, HF_VALID);
    is("{\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",1],[\"r\",\"x\",1],"
       "[\"delete\",\"x\"],[\"r\",\"x\",null]],\"commit_ts\":1}\n",
       HF_SERIALIZABLE, 0, HF_VALID);
    /* operation, the version expected, the one seen */
    shows(W1 W2 "{\"ops\":[[\"r\",\"x\",1]],\"commit_ts\":3}\n",
          HF_SERIALIZABLE, HF_EXPECTED_STATE, OPS(2, 1, 0));
    shows(W1 "{\"ops\":[[\"r\",\"x\",null]],\"commit_ts\":3}\n",
          HF_SERIALIZABLE, HF_EXPECTED_STATE, OPS(1, 0));
    shows("{\"ops\":[[\"r\",\"x\",1]],\"commit_ts\":0}\n" W1, HF_SERIALIZABLE,
          HF_EXPECTED_STATE, OPS(0, 1));
}

static void own_writes_come_first(void **state)
{
    (void)state;
    shows("{\"ops\":[[\"w\",\"x\",5],[\"r\",\"x\",1]],\"commit_ts\":2}\n" W1,
          HF_SERIALIZABLE, HF_INTERNAL, OPS(0, 1));
    shows("{\"ops\":[[\"r\",\"x\",5],[\"w\",\"x\",5]],\"commit_ts\":2}\n" W1,
          HF_SERIALIZABLE, HF_EXPECTED_STATE, OPS(0, 2, 1));
}

static void mismatches_are_counted_with_the_true_state(void **state)
{
    hf_history *h =
        history(W1 W2 "{\"ops\":[[\"r\",\"x\",1]],\"commit_ts\":3}\n"
                      "{\"ops\":[[\"r\",\"x\",2]],\"commit_ts\":4}\n"
                      "{\"ops\":[[\"r\",\"x\",1]],\"commit_ts\":5}\n");
    hf_result *r = judged(h, HF_SERIALIZABLE, 0, HF_INVALID);

    (void)state;
    assert_int_equal(r->n_findings, 2);
    assert_int_equal(r->groups[0].count, 2);
    assert_int_equal(r->witness.rests, HF_REST_BY_COMMIT);
    hf_result_free(r);
    hf_history_free(h);
}

static void lists_are_what_was_appended(void **state)
{
    (void)state;
    is("{\"ops\":[[\"append\",\"x\",1]]}\n"
       "{\"ops\":[[\"append\",\"x\",2],[\"r\",\"x\",[1,2]]]}\n"
       "{\"ops\":[[\"r\",\"x\",[1,2]],[\"append\",\"x\",3],"
       "[\"r\",\"x\",[1,2,3]]]}\n",
       HF_SERIALIZABLE, HF_REST_BY_FILE, HF_VALID);
    shows("{\"ops\":[[\"append\",\"x\",1]],\"commit_ts\":1}\n"
          "{\"ops\":[[\"append\",\"x\",2]],\"commit_ts\":2}\n"
          "{\"ops\":[[\"r\",\"x\",[1]]],\"commit_ts\":3}\n",
          HF_SERIALIZABLE, HF_EXPECTED_STATE, OPS(2, 1, 0));
    is("{\"ops\":[[\"append\",\"x\",1]]}\n"
       "{\"ops\":[[\"append\",\"x\",2]]}\n"
       "{\"ops\":[[\"r\",\"x\",[2,1]]]}\n",
       HF_READ_COMMITTED, HF_REST_BY_FILE, HF_INVALID);
    is("{\"ops\":[[\"append\",\"x\",1]]}\n"
       "{\"ops\":[[\"append\",\"x\",2]]}\n"
       "{\"ops\":[[\"r\",\"x\",[1]],[\"append\",\"y\",3]]}\n",
       HF_SNAPSHOT_ISOLATION, HF_REST_BY_FILE, HF_VALID);
    is("{\"ops\":[[\"append\",\"x\",1]]}\n"
       "{\"ops\":[[\"append\",\"x\",2]]}\n"
       "{\"ops\":[[\"r\",\"x\",[1]],[\"append\",\"x\",3]]}\n",
       HF_SNAPSHOT_ISOLATION, HF_REST_BY_FILE, HF_INVALID);
}

static void increments_read_and_write(void **state)
{
    const char *inc = "{\"ops\":[{\"op\":\"inc\",\"key\":\"x\",\"by\":5,"
                      "\"before\":1,\"after\":6}],\"commit_ts\":2}\n";
    char text[600];

    (void)state;
    (void)snprintf(text, sizeof text, "%s%s", W1, inc);
    is(text, HF_SERIALIZABLE, 0, HF_VALID);
    (void)snprintf(text, sizeof text, "%s%s%s", W1, inc,
                   "{\"ops\":[[\"r\",\"x\",1]],\"commit_ts\":3}\n");
    shows(text, HF_SERIALIZABLE, HF_EXPECTED_STATE, OPS(2, 1, 0));
    shows("{\"initial\":[[\"x\",1]]}\n{\"ops\":[{\"op\":\"inc\",\"key\":\"x\","
          "\"by\":5,\"before\":1,\"after\":7}],\"commit_ts\":2}\n",
          HF_SERIALIZABLE, HF_SEMANTIC_ERROR, OPS(0));
    says(W1 "{\"ops\":[[\"inc\",\"x\",5]],\"commit_ts\":2}\n"
            "{\"ops\":[[\"r\",\"x\",6]],\"commit_ts\":3}\n",
         HF_SERIALIZABLE, 0, "incremented");
}

static void promised_values_are_written_once(void **state)
{
    (void)state;
    shows("{\"holdfast\":1,\"unique\":true}\n" W1
          "{\"ops\":[[\"w\",\"x\",1]],\"commit_ts\":2}\n",
          HF_SERIALIZABLE, HF_DUPLICATE_WRITE, OPS(0, 1));
}

/* ---- orders -------------------------------------------------------------- */

static void any_order_may_be_chosen(void **state)
{
    /* valid by start and file only */
    const char *text =
        "{\"ops\":[[\"w\",\"x\",1]],\"start_ts\":1,\"commit_ts\":9,"
        "\"begin\":1,\"end\":9}\n"
        "{\"ops\":[[\"r\",\"x\",1]],\"start_ts\":2,\"commit_ts\":3,"
        "\"begin\":2,\"end\":3}\n"
        "{\"serial\":[2,1]}\n";

    (void)state;
    is(text, HF_SERIALIZABLE, 0, HF_INVALID);
    is(text, HF_SERIALIZABLE, HF_REST_BY_SERIAL, HF_INVALID);
    is(text, HF_SERIALIZABLE, HF_REST_BY_COMMIT, HF_INVALID);
    is(text, HF_SERIALIZABLE, HF_REST_BY_END, HF_INVALID);
    is(text, HF_SERIALIZABLE, HF_REST_BY_START, HF_VALID);
    is(text, HF_SERIALIZABLE, HF_REST_BY_FILE, HF_VALID);
}

static void no_order_no_verdict(void **state)
{
    (void)state;
    says("{\"ops\":[[\"r\",\"x\",null]]}\n", HF_SERIALIZABLE, 0,
         "no expected order was recorded");
    says("{\"ops\":[[\"r\",\"x\",null]]}\n", HF_SERIALIZABLE, HF_REST_BY_START,
         "not recorded");
    is("{\"ops\":[[\"r\",\"x\",null]]}\n", HF_SERIALIZABLE, HF_REST_BY_FILE,
       HF_VALID);
}

static void wrong_orders_are_bad_input(void **state)
{
    (void)state;
    refused("{\"ops\":[[\"w\",\"x\",1]]}\n{\"ops\":[[\"w\",\"x\",2]]}\n"
            "{\"serial\":[2]}\n",
            0, "leaves out transaction 1");
    refused("{\"ops\":[[\"w\",\"x\",1]],\"commit_ts\":4}\n"
            "{\"ops\":[[\"w\",\"x\",2]]}\n",
            0, "leaves out transaction 2");
    refused("{\"ops\":[[\"w\",\"x\",1]]}\n{\"serial\":[1,1]}\n", 0,
            "it lists already");
    refused("{\"ops\":[[\"w\",\"x\",1]],\"outcome\":\"aborted\"}\n"
            "{\"serial\":[1]}\n",
            0, "aborted");
    refused("{\"ops\":[[\"w\",\"x\",1]]}\n{\"ops\":[[\"w\",\"x\",2]]}\n"
            "{\"order\":[\"x\",[1,2]]}\n{\"serial\":[2,1]}\n",
            0, "the version order of key");
}

static void equal_times_matter_if_they_conflict(void **state)
{
    (void)state;
    says(W1 "{\"ops\":[[\"r\",\"x\",1]],\"commit_ts\":1}\n", HF_SERIALIZABLE, 0,
         "T1 and T2 have equal times and conflict");
    says("{\"ops\":[[\"w\",\"x\",1]],\"commit_ts\":1}\n"
         "{\"ops\":[{\"op\":\"count\",\"where\":\"true\",\"value\":1}],"
         "\"commit_ts\":1}\n",
         HF_SERIALIZABLE, 0, "conflict");
    is(W1 "{\"ops\":[[\"w\",\"y\",1]],\"commit_ts\":1}\n"
          "{\"ops\":[[\"r\",\"x\",1],[\"r\",\"y\",1]],\"commit_ts\":2}\n",
       HF_SERIALIZABLE, 0, HF_VALID);
    is(W1 "{\"ops\":[[\"w\",\"y\",1]],\"commit_ts\":1}\n"
          "{\"ops\":[[\"r\",\"x\",1],[\"r\",\"y\",null]],\"commit_ts\":2}\n",
       HF_SERIALIZABLE, 0, HF_INVALID);
    /* the other of the two may have been first */
    says(W1 "{\"ops\":[[\"w\",\"y\",1]],\"commit_ts\":1}\n"
            "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",1]],\"commit_ts\":2}\n",
         HF_SNAPSHOT_ISOLATION, 0, "equal times");
}

static void unknown_outcomes_follow_the_order(void **state)
{
    const char *text = "{\"ops\":[[\"w\",\"x\",1]],\"outcome\":\"unknown\"%s}\n"
                       "{\"ops\":[[\"r\",\"x\",%s]],\"commit_ts\":5}\n";
    char line[300];

    (void)state;
    (void)snprintf(line, sizeof line, text, ",\"commit_ts\":1", "1");
    is(line, HF_SERIALIZABLE, 0, HF_VALID);
    (void)snprintf(line, sizeof line, text, ",\"commit_ts\":1", "null");
    is(line, HF_SERIALIZABLE, 0, HF_INVALID);
    (void)snprintf(line, sizeof line, text, "", "null");
    is(line, HF_SERIALIZABLE, 0, HF_VALID);
    (void)snprintf(line, sizeof line, text, "", "1");
    is(line, HF_SERIALIZABLE, 0, HF_INVALID);
    says(line, HF_SERIALIZABLE, HF_REST_BY_FILE, "the outcome of T1");
}

static void the_order_keeps_sessions_and_time(void **state)
{
    const char *text =
        "{\"session\":\"a\",\"ops\":[[\"w\",\"x\",1]],\"commit_ts\":2}\n"
        "{\"session\":\"a\",\"ops\":[[\"w\",\"y\",1]],\"commit_ts\":1}\n";
    const char *timed =
        "{\"session\":\"a\",\"ops\":[[\"w\",\"x\",1]],\"commit_ts\":2,"
        "\"begin\":1,\"end\":3}\n"
        "{\"session\":\"b\",\"ops\":[[\"w\",\"y\",1]],\"commit_ts\":1,"
        "\"begin\":4,\"end\":5}\n";

    (void)state;
    is(text, HF_SERIALIZABLE, 0, HF_VALID);
    shows(text, HF_STRONG_SESSION_SERIALIZABLE, HF_EXPECTED_STATE,
          OPS(0, 1, 0));
    is(timed, HF_STRONG_SESSION_SERIALIZABLE, 0, HF_VALID);
    shows(timed, HF_STRICT_SERIALIZABLE, HF_EXPECTED_STATE, OPS(0, 1, 0));
}

/* ---- predicates ---------------------------------------------------------- */

#define ROWS                                                                   \
    "{\"ops\":[[\"insert\",[\"t\",1],{\"a\":1,\"b\":\"u\"}],"                  \
    "[\"insert\",[\"t\",2],{\"a\":5,\"b\":\"v\"}],"                            \
    "[\"insert\",[\"t\",3],{\"a\":9,\"b\":null}]],\"commit_ts\":1}\n"          \
    "{\"ops\":[[\"w\",[\"t\",2],{\"a\":7,\"b\":\"v\"}]],\"commit_ts\":2}\n"

static void query(const char *op, hf_verdict verdict)
{
    char text[1200];

    (void)snprintf(text, sizeof text, ROWS "{\"ops\":[%s],\"commit_ts\":3}\n",
                   op);
    is(text, HF_SERIALIZABLE, 0, verdict);
}

#define PR "{\"op\":\"pr\",\"table\":\"t\",\"where\":"
#define ROW1 "[[\"t\",1],{\"a\":1,\"b\":\"u\"}]"
#define ROW2 "[[\"t\",2],{\"a\":7,\"b\":\"v\"}]"
#define ROW3 "[[\"t\",3],{\"a\":9,\"b\":null}]"
#define OLD2 "[[\"t\",2],{\"a\":5,\"b\":\"v\"}]"

static void queries_see_the_state_at_their_place(void **state)
{
    (void)state;
    query(PR "\"a between 5 and 8\",\"rows\":[" ROW2 "]}", HF_VALID);
    query(PR "\"a between 5 and 8\",\"rows\":[" OLD2 "]}", HF_INVALID);
    query(PR "\"a between 5 and 8\",\"rows\":[]}", HF_INVALID);
    query(PR "\"a in (1, 5, 9)\",\"rows\":[" ROW1 "," ROW3 "]}", HF_VALID);
    query(PR "\"a in (1, 5, 9)\",\"rows\":[" ROW1 "]}", HF_INVALID);
    query(PR "\"b = 'v' and a > 0\",\"rows\":[" ROW2 "]}", HF_VALID);
    query(PR "\"b is null\",\"rows\":[" ROW3 "]}", HF_VALID);
    query(PR "\"a % 2 = 1 and b is not null\",\"rows\":[" ROW2 "," ROW1 "]}",
          HF_VALID);
    query(PR "\"true\",\"rows\":[" ROW1 "," ROW2 "," ROW3 "]}", HF_VALID);
    query(PR "\"true\",\"rows\":[" ROW1 "," ROW2 "]}", HF_INVALID);
    query(PR "\"a > 7\",\"rows\":[" ROW2 "]}", HF_INVALID);
    query(PR "\"a > 100\",\"rows\":[]}", HF_VALID);
    query(PR "\"a < 100\",\"rows\":[" ROW1 "," ROW1 "," ROW2 "," ROW3 "]}",
          HF_VALID);
    query(PR "\"a > 7\"}", HF_VALID); /* nothing was recorded */
    query("[\"delete\",[\"t\",1]]," PR "\"a < 5\",\"rows\":[]}", HF_VALID);
    query("{\"op\":\"pr\",\"table\":\"none\",\"where\":\"a = 1\","
          "\"rows\":[]}",
          HF_VALID);
}

static void aggregates_are_computed(void **state)
{
    static const struct {
        const char *op, *column, *where, *value;
        hf_verdict verdict;
    } cases[] = {
        {"sum", "a", "true", "17", HF_VALID},
        {"sum", "a", "true", "15", HF_INVALID},
        {"min", "a", "true", "1", HF_VALID},
        {"max", "a", "true", "9", HF_VALID},
        {"max", "a", "a < 9", "7", HF_VALID},
        {"max", "a", "a < 9", "5", HF_INVALID},
        {"min", "a", "b = 'v'", "7", HF_VALID},
        {"min", "a", "a > 50", "null", HF_VALID},
        {"min", "a", "a > 50", "3", HF_INVALID},
        {"sum", "a", "a % 2 = 1", "17", HF_VALID},
        {"sum", "a", "a in (7, 9)", "16", HF_VALID},
        {"count", "b", "true", "2", HF_VALID},
        {"count", "b", "true", "3", HF_INVALID},
        {"avg", "a", "true", "5.6667", HF_VALID},
        {"avg", "a", "true", "5.666666666666667", HF_VALID},
        {"avg", "a", "true", "5.66666666666666666667", HF_VALID},
        {"avg", "a", "true", "5.6666", HF_INVALID},
        {"avg", "a", "true", "5", HF_UNKNOWN},
        {"avg", "a", "true", "5.7", HF_UNKNOWN},
        {"avg", "a", "true", "8.0000", HF_INVALID},
        {"avg", "a", "true", "null", HF_INVALID},
        {"avg", "a", "a in (7, 9)", "8", HF_VALID},
        {"avg", "a", "a in (7, 9)", "8.5", HF_INVALID},
        {"avg", "a", "a > 50", "null", HF_VALID},
        {"avg", "a", "a > 50", "0", HF_INVALID},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char op[300];

        (void)snprintf(op, sizeof op,
                       "{\"op\":\"%s\",\"table\":\"t\",\"column\":\"%s\","
                       "\"where\":\"%s\",\"value\":%s}",
                       cases[i].op, cases[i].column, cases[i].where,
                       cases[i].value);
        query(op, cases[i].verdict);
    }
    query("{\"op\":\"count\",\"table\":\"t\",\"where\":\"true\",\"value\":3}",
          HF_VALID);
}

/* A condition that was asked before is kept up by what changed. */
static void conditions_follow_changes(void **state)
{
    char text[6000];
    size_t n = 0;
    int sum = 0;

    (void)state;
    for (int i = 1; i <= 20; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "{\"ops\":[[\"w\",\"k%d\",%d],{\"op\":\"sum\","
                              "\"column\":\"value\",\"where\":\"value %% 2 = "
                              "0\",\"value\":%d}]}\n",
                              i % 7, i, 0);
        n -= strlen("0}]}\n");
        sum = 0;
        for (int k = 0; k < 7; k++) {
            int v = i - (i % 7 - k + 7) % 7;

            if (v > 0 && v % 2 == 0)
                sum += v;
        }
        n += (size_t)snprintf(text + n, sizeof text - n, "%d}]}\n", sum);
    }
    is(text, HF_SERIALIZABLE, HF_REST_BY_FILE, HF_VALID);
    n -= strlen("0}]}\n");
    (void)snprintf(text + n, sizeof text - n, "1}]}\n");
    is(text, HF_SERIALIZABLE, HF_REST_BY_FILE, HF_INVALID);
}

static void unknown_conditions_do_not_block(void **state)
{
    const char *odd = ROWS "{\"ops\":[" PR
                           "\"nobody_knows(a)\",\"rows\":[]}],\"commit_ts\":3}"
                           "\n";
    char text[1200];

    (void)state;
    says(odd, HF_SERIALIZABLE, 0, "nobody_knows");
    (void)snprintf(text, sizeof text, "%s%s", odd,
                   "{\"ops\":[[\"r\",[\"t\",1],null]],\"commit_ts\":4}\n");
    is(text, HF_SERIALIZABLE, 0, HF_INVALID);
}

static void version_sets_are_compared(void **state)
{
    (void)state;
    /* an old version that nothing changed since is as good */
    query(PR "\"a > 8\",\"versions\":[" ROW1 "," OLD2 "," ROW3
             "],\"rows\":[" ROW3 "]}",
          HF_VALID);
    query(PR "\"a > 6\",\"versions\":[" ROW1 "," OLD2 "," ROW3
             "],\"rows\":[" ROW3 "]}",
          HF_INVALID);
    query(PR "\"a > 6\",\"snapshot\":1,\"rows\":[" ROW3 "]}", HF_INVALID);
    query(PR "\"a > 8\",\"snapshot\":1,\"rows\":[" ROW3 "]}", HF_VALID);
    query(PR "\"a > 6\",\"snapshot\":1,\"rows\":[" ROW3 "," ROW2 "]}",
          HF_INVALID);
    query(PR "\"a > 6\",\"snapshot\":2,\"rows\":[" ROW3 "," ROW2 "]}",
          HF_VALID);
    query(PR "\"a > 6\",\"versions\":[" ROW1 "," ROW2 "],\"rows\":[" ROW2 "]}",
          HF_VALID); /* the third was not looked at */
}

/* A query on a snapshot from before a hundred others, and one of these. */
static void old_query(const char *other, const char *where, const char *rest,
                      hf_verdict verdict)
{
    static char text[16000];
    size_t n = 0;

    for (int i = 0; i < 100; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "{\"ops\":[[\"w\",[\"t\",%d],{\"a\":%d}]%s%s],"
                              "\"commit_ts\":%d}\n",
                              i % 7, i, i == 60 ? "," : "",
                              i == 60 ? other : "", i + 5);
    (void)snprintf(text + n, sizeof text - n,
                   "{\"ops\":[{\"op\":\"pr\",\"table\":\"t\",\"where\":"
                   "\"%s\",%s}],\"commit_ts\":900}\n",
                   where, rest);
    is(text, HF_SERIALIZABLE, 0, verdict);
}

static void old_snapshots_miss_nothing_that_matters(void **state)
{
#define ADD(value) "[\"w\",[\"t\",8],{\"a\":" value "}]"
#define OLD "\"snapshot\":4,\"rows\":[]"
    static const char *const wheres[] = {"a >= 500", "a in (500, 600)",
                                         "a >= 500 and a % 2 = 0",
                                         "a % 700 >= 500"};

    (void)state;
    for (size_t i = 0; i < sizeof(wheres) / sizeof(wheres[0]); i++) {
        old_query(ADD("3"), wheres[i], OLD, HF_VALID);
        old_query(ADD("600"), wheres[i], OLD, HF_INVALID);
        /* it came and went in between */
        old_query(ADD("600") ",[\"delete\",[\"t\",8]]", wheres[i], OLD,
                  HF_VALID);
        /* who can say whether a text is there? */
        old_query(ADD("\"x\"") ",[\"w\",[\"t\",9],{\"a\":1}]", wheres[i], OLD,
                  HF_UNKNOWN);
        /* a snapshot by ids that misses 50 of them */
        old_query(ADD("3"), wheres[i], "\"snapshot\":\"51:51:\",\"rows\":[]",
                  HF_VALID);
        old_query(ADD("600"), wheres[i], "\"snapshot\":\"51:51:\",\"rows\":[]",
                  HF_INVALID);
        /* one that only misses another */
        old_query(ADD("600"), wheres[i],
                  "\"snapshot\":\"51:101:51\",\"rows\":"
                  "[[[\"t\",8],{\"a\":600}]]",
                  HF_VALID);
    }
#undef ADD
#undef OLD
}

/* ---- weaker levels ------------------------------------------------------- */

#define XY1 "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]],\"commit_ts\":1}\n"
#define XY2 "{\"ops\":[[\"w\",\"x\",2],[\"w\",\"y\",2]],\"commit_ts\":2}\n"

static void levels(const char *text, hf_verdict committed, hf_verdict atomic,
                   hf_verdict snapshot, hf_verdict serial)
{
    is(text, HF_READ_COMMITTED, 0, committed);
    is(text, HF_READ_ATOMIC, 0, atomic);
    is(text, HF_SNAPSHOT_ISOLATION, 0, snapshot);
    is(text, HF_SERIALIZABLE, 0, serial);
}

static void weaker_levels_by_states(void **state)
{
    (void)state;
    /* read skew: all or nothing is broken */
    levels(XY1 XY2 "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",1],[\"r\",\"y\","
                   "2]],\"commit_ts\":3}\n",
           HF_VALID, HF_INVALID, HF_INVALID, HF_INVALID);
    /* an old snapshot */
    levels(XY1 XY2 "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",1],[\"r\",\"y\","
                   "1]],\"commit_ts\":3}\n",
           HF_VALID, HF_VALID, HF_VALID, HF_INVALID);
    /* write skew */
    levels("{\"session\":\"a\",\"ops\":[[\"r\",\"x\",null],[\"w\",\"y\",1]],"
           "\"commit_ts\":1}\n"
           "{\"session\":\"b\",\"ops\":[[\"r\",\"y\",null],[\"w\",\"x\",1]],"
           "\"commit_ts\":2}\n",
           HF_VALID, HF_VALID, HF_VALID, HF_INVALID);
    /* lost update */
    levels("{\"session\":\"a\",\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",1]],"
           "\"commit_ts\":1}\n"
           "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",2]],"
           "\"commit_ts\":2}\n",
           HF_VALID, HF_VALID, HF_INVALID, HF_INVALID);
    /* what comes later in the order, what aborted, what was overwritten */
    levels(
        "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",1]],\"commit_ts\":0}\n" XY1,
        HF_INVALID, HF_INVALID, HF_INVALID, HF_INVALID);
    levels("{\"ops\":[[\"w\",\"x\",1]],\"outcome\":\"aborted\"}\n"
           "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",1]],\"commit_ts\":1}\n",
           HF_INVALID, HF_INVALID, HF_INVALID, HF_INVALID);
    levels("{\"ops\":[[\"w\",\"x\",1],[\"w\",\"x\",2]],\"commit_ts\":1}\n"
           "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",1]],\"commit_ts\":2}\n",
           HF_INVALID, HF_INVALID, HF_INVALID, HF_INVALID);
    says(XY1 XY2 "{\"ops\":[[\"r\",\"x\",1]],\"commit_ts\":3}\n", HF_CAUSAL, 0,
         "no other test");
}

static void statements_need_one_state(void **state)
{
    /* rows of two states: none has both */
    const char *torn =
        XY1 XY2 "{\"session\":\"b\",\"ops\":[{\"op\":\"pr\",\"where\":\"value "
                "> 0\",\"rows\":[[\"x\",1],[\"y\",2]]}],\"commit_ts\":3}\n";
    const char *old =
        XY1 XY2 "{\"session\":\"b\",\"ops\":[{\"op\":\"pr\",\"where\":\"value "
                "> 0\",\"rows\":[[\"x\",1],[\"y\",1]]},{\"op\":\"sum\","
                "\"column\":\"value\",\"where\":\"true\",\"value\":2}],"
                "\"commit_ts\":3}\n";
    const char *two =
        XY1 XY2 "{\"session\":\"b\",\"ops\":[{\"op\":\"sum\",\"column\":"
                "\"value\",\"where\":\"true\",\"value\":2},{\"op\":\"max\","
                "\"column\":\"value\",\"where\":\"true\",\"value\":2}],"
                "\"commit_ts\":3}\n";

    (void)state;
    is(torn, HF_READ_COMMITTED, 0, HF_INVALID);
    is(torn, HF_SNAPSHOT_ISOLATION, 0, HF_INVALID);
    is(old, HF_READ_COMMITTED, 0, HF_VALID);
    is(old, HF_SNAPSHOT_ISOLATION, 0, HF_VALID);
    is(old, HF_SERIALIZABLE, 0, HF_INVALID);
    is(two, HF_READ_COMMITTED, 0, HF_VALID);
    is(two, HF_SNAPSHOT_ISOLATION, 0, HF_INVALID);
}

static void the_fewest_operations_are_shown(void **state)
{
    (void)state;
    shows(XY1 XY2 "{\"session\":\"b\",\"ops\":[[\"r\",\"z\",null],[\"r\","
                  "\"x\",1],[\"w\",\"u\",1],[\"r\",\"y\",2]],\"commit_ts\":3}"
                  "\n",
          HF_SNAPSHOT_ISOLATION, HF_EXPECTED_STATE, OPS(5, 7));
    shows("{\"session\":\"a\",\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",1]],"
          "\"commit_ts\":1}\n"
          "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",null],[\"r\",\"z\",null],"
          "[\"w\",\"x\",2]],\"commit_ts\":2}\n",
          HF_SNAPSHOT_ISOLATION, HF_EXPECTED_STATE, OPS(2, 4));
}

/* ---- limits -------------------------------------------------------------- */

static bool stop(void *user)
{
    (void)user;
    return true;
}

static void interruption_is_unknown(void **state)
{
    hf_history *h = history(W1 W2);
    hf_budget budget = {.interrupted = stop};
    hf_result *r = NULL;
    hf_error err;

    (void)state;
    hf_budget_start(&budget);
    assert_int_equal(hf_engine_ask(hf_engine_find(HF_STR("replay")), h,
                                   HF_SERIALIZABLE, NULL, &budget, &r, &err),
                     HF_OK);
    assert_int_equal(r->verdict, HF_UNKNOWN);
    hf_result_free(r);
    hf_history_free(h);
}

/* ---- the index ----------------------------------------------------------- */

static void index_finds_what_is_in_it(void **state)
{
    static const uint32_t sizes[] = {1, 63, 64, 65, 4096, 4097, 300000};
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 7);
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        uint32_t n = sizes[s], rows = 50;
        uint32_t *rank = HF_NEW_ARRAY(uint32_t, rows);
        hf_row_index x;

        hf_row_index_init(&x, n, rows);
        memset(rank, 0xff, rows * sizeof(*rank));
        for (int step = 0; step < 3000; step++) {
            uint32_t row = hf_rng_below(&rng, rows);
            uint32_t from = hf_rng_below(&rng, n), up = HF_NONE, down = HF_NONE;

            if (rank[row] != HF_NONE) {
                hf_row_index_remove(&x, rank[row], row);
                rank[row] = HF_NONE;
            } else {
                rank[row] = hf_rng_below(&rng, n);
                hf_row_index_add(&x, rank[row], row);
            }
            for (uint32_t i = 0; i < rows; i++) {
                if (rank[i] == HF_NONE)
                    continue;
                if (rank[i] >= from && (up == HF_NONE || rank[i] < up))
                    up = rank[i];
                if (rank[i] <= from && (down == HF_NONE || rank[i] > down))
                    down = rank[i];
            }
            assert_int_equal(hf_row_index_up(&x, from), up);
            assert_int_equal(hf_row_index_down(&x, from), down);
        }
        hf_row_index_release(&x);
        hf_free(rank);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_see_the_state_at_their_place),
        cmocka_unit_test(own_writes_come_first),
        cmocka_unit_test(mismatches_are_counted_with_the_true_state),
        cmocka_unit_test(lists_are_what_was_appended),
        cmocka_unit_test(increments_read_and_write),
        cmocka_unit_test(promised_values_are_written_once),
        cmocka_unit_test(any_order_may_be_chosen),
        cmocka_unit_test(no_order_no_verdict),
        cmocka_unit_test(wrong_orders_are_bad_input),
        cmocka_unit_test(equal_times_matter_if_they_conflict),
        cmocka_unit_test(unknown_outcomes_follow_the_order),
        cmocka_unit_test(the_order_keeps_sessions_and_time),
        cmocka_unit_test(queries_see_the_state_at_their_place),
        cmocka_unit_test(aggregates_are_computed),
        cmocka_unit_test(conditions_follow_changes),
        cmocka_unit_test(unknown_conditions_do_not_block),
        cmocka_unit_test(version_sets_are_compared),
        cmocka_unit_test(old_snapshots_miss_nothing_that_matters),
        cmocka_unit_test(weaker_levels_by_states),
        cmocka_unit_test(statements_need_one_state),
        cmocka_unit_test(the_fewest_operations_are_shown),
        cmocka_unit_test(interruption_is_unknown),
        cmocka_unit_test(index_finds_what_is_in_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
