/* test_predict.c: the paper's examples, budgets, what a prediction says.
 *
 * Executions in the shape of the paper's figures (the text of the paper has
 * their stories, not their drawings) with the outcome the paper gives for each
 * strategy and level, and IsoPredict's micro traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "history/builder.h"
#include "predict/predict.h"

#define FOUND HF_PREDICT_FOUND
#define NONE HF_PREDICT_NONE

typedef struct example {
    const char *file;
    /* causal, then read committed: best, exact-strict, approx-strict,
     * approx-relaxed */
    hf_predict_answer answers[2][HF_PREDICT_STRATEGY_COUNT];
} example;

static const example examples[] = {
    {"figure-1-deposits",
     {{FOUND, NONE, NONE, FOUND}, {FOUND, NONE, NONE, FOUND}}},
    {"figure-5-anti-dependencies",
     {{FOUND, FOUND, FOUND, FOUND}, {FOUND, FOUND, FOUND, FOUND}}},
    {"figure-6-self-justifying",
     {{NONE, NONE, NONE, NONE}, {NONE, NONE, NONE, NONE}}},
    {"figure-7a-wikipedia",
     {{FOUND, FOUND, FOUND, FOUND}, {FOUND, FOUND, FOUND, FOUND}}},
    {"figure-7c-wikipedia",
     {{NONE, NONE, NONE, NONE}, {FOUND, FOUND, FOUND, FOUND}}},
    {"figure-8-smallbank",
     {{FOUND, FOUND, FOUND, FOUND}, {FOUND, FOUND, FOUND, FOUND}}},
    {"figure-9-withdraw",
     {{FOUND, NONE, NONE, FOUND}, {FOUND, FOUND, FOUND, FOUND}}},
    /* IsoPredict calls this one serial: it leaves out whoever reads from a
     * transaction at a boundary, the paper only what follows its last read */
    {"micro-always-serial-2s4t",
     {{FOUND, FOUND, FOUND, NONE}, {FOUND, FOUND, FOUND, FOUND}}},
    {"micro-always-serial-3s3t",
     {{NONE, NONE, NONE, NONE}, {NONE, NONE, NONE, NONE}}},
    {"micro-always-serial-3s4t",
     {{NONE, NONE, NONE, NONE}, {NONE, NONE, NONE, NONE}}},
    {"micro-simple-serial-2s3t",
     {{FOUND, FOUND, FOUND, FOUND}, {FOUND, FOUND, FOUND, FOUND}}},
    {"micro-simple-serial-2s5t",
     {{FOUND, FOUND, FOUND, FOUND}, {FOUND, FOUND, FOUND, FOUND}}},
};

static const hf_predict_target targets[2] = {HF_PREDICT_CAUSAL,
                                             HF_PREDICT_READ_COMMITTED};

static hf_history *load(const char *name)
{
    char path[512];
    hf_history *h = NULL;
    hf_error err;

    (void)snprintf(path, sizeof path, "%s/tests/data/predict/%s.jsonl",
                   HF_TEST_ROOT, name);
    if (hf_load(path, NULL, NULL, &h, &err) != HF_OK)
        fail_msg("%s", err.text);
    return h;
}

static hf_history *parse(const char *text)
{
    hf_history *h = NULL;
    hf_error err;

    if (hf_load_memory(text, strlen(text), NULL, NULL, &h, &err) != HF_OK)
        fail_msg("%s", err.text);
    return h;
}

static hf_predict_result *predict(const hf_history *h, hf_predict_options o)
{
    hf_predict_result *r = NULL;
    hf_error err;

    if (hf_predict(h, &o, &r, &err) != HF_OK)
        fail_msg("%s", err.text);
    return r;
}

static hf_verdict verdict(const hf_history *h, hf_level level)
{
    hf_result *r = NULL;
    hf_error err;
    hf_verdict v;

    assert_int_equal(hf_engine_ask(NULL, h, level, NULL, NULL, &r, &err),
                     HF_OK);
    v = hf_result_verdict(r);
    hf_result_free(r);
    return v;
}

/* As a history it keeps the level and is not serializable. */
static void check_history(const hf_history *h, const hf_prediction *p,
                          hf_predict_target target)
{
    hf_history *predicted = NULL;
    hf_error err;

    assert_int_equal(hf_prediction_history(h, p, &predicted, &err), HF_OK);
    assert_int_equal(verdict(predicted, hf_predict_target_get(target)->level),
                     HF_VALID);
    assert_int_equal(verdict(predicted, HF_STRONG_SESSION_SERIALIZABLE),
                     HF_INVALID);
    hf_history_free(predicted);
}

static void examples_of_encoding(hf_predict_encoding encoding)
{
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        hf_history *h = load(examples[i].file);

        for (unsigned l = 0; l < 2; l++)
            for (unsigned s = encoding == HF_PREDICT_PAPER;
                 s < HF_PREDICT_STRATEGY_COUNT; s++) {
                hf_predict_result *r = predict(
                    h, (hf_predict_options){.target = targets[l],
                                            .strategy = (hf_predict_strategy)s,
                                            .encoding = encoding});

                if (r->answer != examples[i].answers[l][s])
                    fail_msg("%s, %s, %s: %s", examples[i].file,
                             hf_predict_target_get(targets[l])->name,
                             hf_predict_strategy_name((hf_predict_strategy)s),
                             r->statement);
                if (r->n_predictions > 0)
                    check_history(h, &r->predictions[0], targets[l]);
                hf_predict_result_free(r);
            }
        hf_history_free(h);
    }
}

static void papers_examples(void **state)
{
    (void)state;
    if (!hf_predict_available(HF_PREDICT_OWN, NULL))
        skip();
    examples_of_encoding(HF_PREDICT_OWN);
}

static void papers_examples_in_its_own_encoding(void **state)
{
    (void)state;
    if (!hf_predict_available(HF_PREDICT_PAPER, NULL))
        skip();
    examples_of_encoding(HF_PREDICT_PAPER);
}

/* Figures 1b and 3: the second deposit reads the initial balance too. */
static void deposits_are_lost(void **state)
{
    hf_history *h = load("figure-1-deposits");
    hf_predict_result *r =
        predict(h, (hf_predict_options){.target = HF_PREDICT_CAUSAL});
    const hf_prediction *p = &r->predictions[0];

    (void)state;
    assert_int_equal(r->n_predictions, 1);
    assert_false(p->is_sure); /* the second write may come out differently */
    assert_int_equal(p->n_changed, 1);
    assert_int_equal(p->n_reads, 2);
    assert_int_equal(p->reads[1].txn, 1);
    assert_int_equal(p->reads[1].source, HF_NONE);
    assert_int_equal(p->reads[1].observed, 0);
    assert_int_equal(p->n_edges, 2);
    assert_int_equal(p->edges[0].kind, HF_PREDICTED_RW);
    assert_int_equal(p->edges[1].kind, HF_PREDICTED_RW);
    hf_predict_result_free(r);
    /* snapshot isolation forbids it: first committer wins */
    r = predict(h, (hf_predict_options){.target = HF_PREDICT_SNAPSHOT});
    assert_int_equal(r->answer, HF_PREDICT_NONE);
    assert_true(r->is_complete);
    assert_non_null(strstr(r->statement, "no execution within any boundary"));
    hf_predict_result_free(r);
    hf_history_free(h);
}

/* Figure 8b: both reads from the initial state, a cycle of four. */
static void smallbank_has_a_cycle_of_four(void **state)
{
    hf_history *h = load("figure-8-smallbank");
    hf_predict_result *r =
        predict(h, (hf_predict_options){.target = HF_PREDICT_CAUSAL});
    const hf_prediction *p = &r->predictions[0];
    unsigned kinds[HF_PREDICTED_EDGE_KIND_COUNT] = {0};

    (void)state;
    assert_true(p->is_sure);
    assert_int_equal(p->n_changed, 2);
    for (uint32_t i = 0; i < p->n_reads; i++)
        assert_int_equal(p->reads[i].source, HF_NONE);
    assert_int_equal(p->n_edges, 4);
    for (uint32_t i = 0; i < p->n_edges; i++)
        kinds[p->edges[i].kind]++;
    assert_int_equal(kinds[HF_PREDICTED_SO], 2);
    assert_int_equal(kinds[HF_PREDICTED_RW], 2);
    hf_predict_result_free(r);
    hf_history_free(h);
}

/* Figure 9f: the deposit after the withdrawal is behind the boundary. */
static void withdrawal_stops_what_depends_on_it(void **state)
{
    hf_history *h = load("figure-9-withdraw");
    hf_predict_result *r =
        predict(h, (hf_predict_options){.target = HF_PREDICT_CAUSAL,
                                        .strategy = HF_PREDICT_APPROX_RELAXED});
    const hf_prediction *p = &r->predictions[0];

    (void)state;
    assert_int_equal(p->n_order, 2);
    assert_int_equal(p->sessions[0].txn, 0);
    assert_false(p->sessions[0].ends);
    assert_int_equal(p->sessions[1].txn, 1);
    hf_predict_result_free(r);
    hf_history_free(h);
}

/* ---- rows, lists, counters ------------------------------------------------
 */

static void phantoms_count(void **state)
{
    hf_history *h = parse(
        "{\"holdfast\":1}\n"
        "{\"session\":1,\"ops\":[{\"op\":\"pr\",\"table\":\"t\",\"where\":"
        "\"value % 3 = 0\",\"rows\":[]},[\"w\",[\"t\",1],30]]}\n"
        "{\"session\":2,\"ops\":[{\"op\":\"pr\",\"table\":\"t\",\"where\":"
        "\"value % 3 = 1\",\"rows\":[]},{\"op\":\"pr\",\"table\":\"t\","
        "\"where\":\"value % 3 = 0\",\"rows\":[[[\"t\",1],30]]},"
        "[\"w\",[\"t\",2],42]]}\n");
    hf_predict_result *r =
        predict(h, (hf_predict_options){.target = HF_PREDICT_SNAPSHOT});

    (void)state;
    /* predicate write skew: T2 does not find T1's row */
    assert_int_equal(r->answer, HF_PREDICT_FOUND);
    assert_int_equal(r->predictions[0].n_changed, 1);
    assert_true(r->predictions[0].n_edges > 0);
    check_history(h, &r->predictions[0], HF_PREDICT_SNAPSHOT);
    hf_predict_result_free(r);
    hf_history_free(h);
}

/* T3 may read y of T2 and x before T1, though T2 saw T1: read atomic is not
 * causal.  Not if T3 looked for rows as well: T1 put row 1 into the result and
 * T2 took it out, so who looks at T2's version depends on both. */
static void who_changed_the_matches_is_seen(void **state)
{
    static const char *const looks[] = {
        "", "{\"op\":\"pr\",\"table\":\"t\",\"where\":\"value < 1000\","
            "\"rows\":[]},"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[600];
        hf_history *h;
        hf_predict_result *r;

        (void)snprintf(
            text, sizeof text,
            "{\"holdfast\":1}\n"
            "{\"session\":1,\"ops\":[[\"w\",[\"t\",1],10],[\"w\",\"x\",1],"
            "[\"w\",\"z\",1]]}\n"
            "{\"session\":2,\"ops\":[[\"r\",\"z\",1],"
            "[\"w\",[\"t\",1],2000],[\"w\",\"y\",1]]}\n"
            "{\"session\":3,\"ops\":[%s[\"r\",\"y\",1],"
            "[\"r\",\"x\",1]]}\n",
            looks[i]);
        h = parse(text);
        r = predict(h,
                    (hf_predict_options){.target = HF_PREDICT_READ_ATOMIC,
                                         .strategy = HF_PREDICT_EXACT_STRICT});
        assert_int_equal(r->answer, i == 0 ? HF_PREDICT_FOUND : NONE);
        hf_predict_result_free(r);
        hf_history_free(h);
    }
}

static void a_row_that_never_matches_does_not(void **state)
{
    hf_history *h = parse(
        "{\"holdfast\":1}\n"
        "{\"session\":1,\"ops\":[{\"op\":\"pr\",\"table\":\"t\",\"where\":"
        "\"value % 3 = 0\",\"rows\":[]},[\"w\",[\"t\",1],31]]}\n"
        "{\"session\":2,\"ops\":[{\"op\":\"pr\",\"table\":\"t\",\"where\":"
        "\"value % 3 = 0\",\"rows\":[]},[\"w\",[\"t\",2],43]]}\n");
    hf_predict_result *r =
        predict(h, (hf_predict_options){.target = HF_PREDICT_READ_COMMITTED});

    (void)state;
    assert_int_equal(r->answer, HF_PREDICT_NONE);
    hf_predict_result_free(r);
    hf_history_free(h);
}

/* An append is a read and a write of the list. */
static void appends_are_lost_below_snapshots(void **state)
{
    hf_history *h = parse("{\"holdfast\":1}\n"
                          "{\"session\":1,\"ops\":[[\"append\",\"x\",1]]}\n"
                          "{\"session\":2,\"ops\":[[\"append\",\"x\",2]]}\n"
                          "{\"session\":3,\"ops\":[[\"r\",\"x\",[1,2]]]}\n");
    hf_predict_result *r =
        predict(h, (hf_predict_options){.target = HF_PREDICT_CAUSAL});

    (void)state;
    assert_int_equal(r->answer, HF_PREDICT_FOUND);
    check_history(h, &r->predictions[0], HF_PREDICT_CAUSAL);
    hf_predict_result_free(r);
    r = predict(
        h, (hf_predict_options){.target = HF_PREDICT_POSTGRES_READ_COMMITTED});
    assert_int_equal(r->answer, HF_PREDICT_NONE); /* row locks */
    hf_predict_result_free(r);
    hf_history_free(h);
}

/* What one statement reads is of one snapshot; two statements may see what
 * was committed between them. */
static void statements_see_one_snapshot(void **state)
{
    static const struct {
        const char *reads;
        hf_predict_answer answer;
    } cases[] = {
        {"[\"r\",\"x\",1],[\"r\",\"y\",1]", FOUND},
        {"{\"op\":\"sql\",\"text\":\"select * from t\",\"items\":true},"
         "[\"r\",\"x\",1],[\"r\",\"y\",1]",
         NONE},
        {"{\"op\":\"sql\",\"text\":\"select x\",\"items\":true},"
         "[\"r\",\"x\",1],"
         "{\"op\":\"sql\",\"text\":\"select y\",\"items\":true},"
         "[\"r\",\"y\",1]",
         FOUND},
        /* a comment has no items */
        {"{\"op\":\"sql\",\"text\":\"/* get both */\",\"items\":true},"
         "[\"r\",\"x\",1],[\"r\",\"y\",1]",
         FOUND},
        {"{\"op\":\"r\",\"key\":\"x\",\"value\":1,\"at\":[5,6]},"
         "{\"op\":\"r\",\"key\":\"y\",\"value\":1,\"at\":[5,6]}",
         NONE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[700];
        hf_history *h;
        hf_predict_result *r;

        (void)snprintf(text, sizeof text,
                       "{\"holdfast\":1}\n"
                       "{\"session\":1,\"ops\":[[\"w\",\"x\",1],"
                       "[\"w\",\"y\",1]]}\n"
                       "{\"session\":2,\"ops\":[%s]}\n",
                       cases[i].reads);
        h = parse(text);
        r = predict(h, (hf_predict_options){
                           .target = HF_PREDICT_POSTGRES_READ_COMMITTED});
        if (r->answer != cases[i].answer)
            fail_msg("case %zu: %s", i, r->statement);
        hf_predict_result_free(r);
        hf_history_free(h);
    }
}

/* A long fork.  If its last transaction, cut short behind its read, goes on
 * and writes b, which it does not see the newest version of, it cannot commit:
 * there is none as seen, and that rests on this write; there is one if it
 * writes something else, and it says so. */
static void writes_behind_the_boundary_conflict(void **state)
{
    static const char *const after[] = {
        "", ",[\"w\",\"b\",2]",
        ",{\"op\":\"sql\",\"text\":\"UPDATE b\",\"items\":true},"
        "[\"w\",\"b\",2]"};

    (void)state;
    for (int i = 0; i < 6; i++) {
        bool as_seen = i >= 3, writes = i % 3 > 0;
        char text[400];
        hf_history *h;
        hf_predict_result *r;

        (void)snprintf(text, sizeof text,
                       "{\"holdfast\":1}\n"
                       "{\"session\":1,\"ops\":[[\"w\",\"a\",1]]}\n"
                       "{\"session\":2,\"ops\":[[\"w\",\"b\",1]]}\n"
                       "{\"session\":2,\"ops\":[[\"r\",\"a\",1]]}\n"
                       "{\"session\":1,\"ops\":[[\"r\",\"b\",1]%s]}\n",
                       after[i % 3]);
        h = parse(text);
        r = predict(h,
                    (hf_predict_options){.target = HF_PREDICT_PARALLEL_SNAPSHOT,
                                         .as_seen = as_seen});
        assert_int_equal(r->answer,
                         writes && as_seen ? NONE : HF_PREDICT_FOUND);
        assert_int_equal(r->stats.rests_on_writes, writes);
        if (!writes) {
            assert_true(r->predictions[0].is_strict);
            assert_true(r->predictions[0].finishes);
            assert_true(r->predictions[0].is_sure);
            assert_int_equal(r->predictions[0].n_others, 0);
        } else if (as_seen) {
            assert_non_null(strstr(r->statement, "what they were seen to"));
        } else {
            assert_false(r->predictions[0].finishes);
            assert_false(r->predictions[0].is_sure);
            assert_int_equal(r->predictions[0].n_others, 1);
            assert_int_equal(r->predictions[0].others[0].txn, 3);
            assert_int_equal(r->predictions[0].others[0].rival, HF_NONE);
        }
        hf_predict_result_free(r);
        hf_history_free(h);
    }
}

/* A lost update by UPDATEs alone is preferred to one that the application
 * would see in a SELECT, though it is no strict one. */
static void unseen_reads_change_first(void **state)
{
    hf_history *h =
        parse("{\"holdfast\":1}\n"
              "{\"session\":1,\"ops\":[[\"w\",\"z\",1],"
              "{\"op\":\"sql\",\"text\":\"update x\",\"items\":true},"
              "{\"op\":\"r\",\"key\":\"x\",\"value\":null,\"lock\":"
              "\"update\"},[\"w\",\"x\",1],"
              "{\"op\":\"sql\",\"text\":\"select u\",\"items\":true},"
              "[\"r\",\"u\",null]]}\n"
              "{\"session\":2,\"ops\":[[\"w\",\"u\",1],"
              "{\"op\":\"sql\",\"text\":\"UPDATE x\",\"items\":true},"
              "{\"op\":\"r\",\"key\":\"x\",\"value\":1,\"lock\":"
              "\"update\"},[\"w\",\"x\",2]]}\n"
              "{\"session\":2,\"ops\":["
              "{\"op\":\"sql\",\"text\":\"select z\",\"items\":true},"
              "[\"r\",\"z\",1]]}\n");
    hf_predict_result *r =
        predict(h, (hf_predict_options){.target = HF_PREDICT_CAUSAL});

    (void)state;
    assert_int_equal(r->answer, HF_PREDICT_FOUND);
    assert_true(r->predictions[0].is_unseen);
    assert_true(r->predictions[0].is_sure);
    assert_false(r->predictions[0].is_strict);
    assert_int_equal(r->predictions[0].n_changed, 1);
    hf_predict_result_free(r);
    hf_history_free(h);
}

/* T3 may read x of T1 or of T2: the second is seen to return what T3 got. */
static void equal_results_change_first(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[1200];
        hf_history *h;
        hf_predict_result *r;

#define SELECT(rows, value)                                                    \
    "{\"op\":\"sql\",\"text\":\"select a\",\"columns\":[\"a\",\"_tag\"],"      \
    "\"rows\":" rows ",\"items\":true},[\"r\",\"x\"," value "]"
        (void)snprintf(
            text, sizeof text,
            "{\"holdfast\":1}\n"
            "{\"session\":1,\"ops\":[[\"w\",\"x\",1],"
            "[\"w\",\"y\",1]]}\n"
            "{\"session\":3,\"ops\":[" SELECT(
                "[[%d,1]]", "1") "]}\n"
                                 "{\"session\":1,\"ops\":[[\"w\",\"x\",2],"
                                 "[\"w\",\"y\",2]]}\n"
                                 "{\"session\":2,\"ops\":[" SELECT(
                                     "[[7,2]]",
                                     "2") ",{\"op\":\"sql\",\"text\":\"select "
                                          "y\",\"items\":true},"
                                          "[\"r\",\"y\",2]]}\n",
            i == 0 ? 7 : 8);
#undef SELECT
        h = parse(text);
        r = predict(h,
                    (hf_predict_options){.target = HF_PREDICT_READ_COMMITTED});
        assert_int_equal(r->answer, HF_PREDICT_FOUND);
        assert_int_equal(r->predictions[0].is_unseen, i == 0);
        hf_predict_result_free(r);
        hf_history_free(h);
    }
}

/* T2 changes a column that T3 does not ask for, or one that it does. */
static void other_columns_change_first(void **state)
{
    static const char *const columns[] = {"b", "a"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[1200];
        hf_history *h;
        hf_predict_result *r;

        (void)snprintf(
            text, sizeof text,
            "{\"holdfast\":1}\n"
            "{\"session\":1,\"ops\":[{\"op\":\"sql\",\"text\":\"UPDATE t SET "
            "a = 1\",\"items\":true},[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
            "{\"session\":1,\"ops\":[{\"op\":\"sql\",\"text\":\"UPDATE t SET "
            "c = 1, %s = a WHERE k = 1\",\"items\":true},[\"w\",\"x\",2],"
            "[\"w\",\"y\",2]]}\n"
            "{\"session\":2,\"ops\":[{\"op\":\"sql\",\"text\":\"SELECT _tag, a "
            "FROM t WHERE k = 1\",\"columns\":[\"_tag\",\"a\"],"
            "\"rows\":[[2,7]],\"items\":true},[\"r\",\"x\",2],"
            "{\"op\":\"sql\",\"text\":\"SELECT y\",\"items\":true},"
            "[\"r\",\"y\",2]]}\n",
            columns[i]);
        h = parse(text);
        r = predict(h,
                    (hf_predict_options){.target = HF_PREDICT_READ_COMMITTED});
        assert_int_equal(r->answer, HF_PREDICT_FOUND);
        assert_int_equal(r->predictions[0].is_unseen, i == 0);
        hf_predict_result_free(r);
        hf_history_free(h);
    }
}

/* T2 may read the counter before T1 changed it.  But T1, who did, inserted the
 * order of that number: a database refuses it the second time, unless T2
 * inserts another row. */
static void who_gets_the_same_number_inserts_the_same_row(void **state)
{
    static const char *const texts[] = {"UPDATE o", "INSERT INTO o"};

    (void)state;
    for (int i = 0; i < 4; i++) {
        bool inserts = i % 2 == 1, as_seen = i >= 2;
        char text[1600];
        hf_history *h;
        hf_predict_result *r;

#define TAKE(session, from, number)                                            \
    "{\"session\":" session                                                    \
    ",\"ops\":[{\"op\":\"sql\",\"text\":\"SELECT n FROM c\",\"columns\":["     \
    "\"n\"],\"rows\":[[" number "]],\"items\":true},[\"r\",[\"c\",7]," from    \
    "],{\"op\":\"sql\",\"text\":\"UPDATE c\",\"items\":true},{\"op\":\"r\","   \
    "\"key\":[\"c\",7],\"value\":" from                                        \
    ",\"lock\":\"update\"},[\"w\",[\"c\",7]," number                           \
    "],{\"op\":\"sql\",\"text\":\"%s\",\"items\":true},{\"op\":\"r\",\"key\":" \
    "[\"o\"," number                                                           \
    "],\"value\":null,\"lock\":\"update\"},[\"w\",[\"o\"," number "]," number  \
    "]]}\n"
        (void)snprintf(text, sizeof text,
                       "{\"holdfast\":1}\n" TAKE("1", "null", "1")
                           TAKE("2", "1", "2"),
                       texts[inserts], texts[inserts]);
#undef TAKE
        h = parse(text);
        r = predict(h, (hf_predict_options){
                           .target = HF_PREDICT_MARIADB_REPEATABLE_READ,
                           .as_seen = as_seen});
        assert_int_equal(r->answer,
                         inserts && as_seen ? NONE : HF_PREDICT_FOUND);
        assert_int_equal(r->stats.rests_on_writes, inserts);
        if (r->answer == HF_PREDICT_FOUND) {
            assert_int_equal(r->predictions[0].n_others, inserts);
            assert_true(!inserts || (r->predictions[0].others[0].txn == 1 &&
                                     r->predictions[0].others[0].rival == 0));
        }
        hf_predict_result_free(r);
        hf_history_free(h);
    }
}

static void aborted_reads_are_refused(void **state)
{
    hf_history *h = parse(
        "{\"holdfast\":1}\n"
        "{\"session\":1,\"outcome\":\"aborted\",\"ops\":[[\"w\",\"x\",1]]}\n"
        "{\"session\":2,\"ops\":[[\"r\",\"x\",1]]}\n");
    hf_predict_options o = {.target = HF_PREDICT_CAUSAL};
    hf_predict_result *r = NULL;
    hf_error err;

    (void)state;
    assert_int_equal(hf_predict(h, &o, &r, &err), HF_ERR_INPUT);
    assert_null(r);
    assert_non_null(strstr(err.text, "T2 reads a value"));
    hf_history_free(h);
}

/* ---- many, and limits -----------------------------------------------------
 */

/* Pairs of deposits: one shape, whatever the account. */
static void predictions_differ_in_shape(void **state)
{
    hf_history *h =
        parse("{\"holdfast\":1}\n"
              "{\"session\":1,\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",1]]}\n"
              "{\"session\":2,\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2]]}\n"
              "{\"session\":3,\"ops\":[[\"r\",\"y\",null],[\"w\",\"y\",1]]}\n"
              "{\"session\":4,\"ops\":[[\"r\",\"y\",1],[\"w\",\"y\",2]]}\n"
              "{\"session\":5,\"ops\":[[\"w\",\"z\",1],[\"r\",\"u\",null]]}\n"
              "{\"session\":6,\"ops\":[[\"w\",\"u\",1],[\"r\",\"z\",1]]}\n");
    hf_predict_result *r = predict(
        h, (hf_predict_options){.target = HF_PREDICT_CAUSAL, .most = 100});

    (void)state;
    assert_true(r->is_complete);
    assert_int_equal(r->n_predictions, 2);
    assert_true(r->predictions[0].is_sure); /* z and u */
    assert_false(r->predictions[1].is_sure);
    assert_true(r->predictions[0].shape != r->predictions[1].shape);
    hf_predict_result_free(r);
    hf_history_free(h);
}

static bool at_once(void *user)
{
    (void)user;
    return true;
}

static void interruption_is_no_proof(void **state)
{
    hf_history *h = load("figure-6-self-justifying");

    (void)state;
    for (unsigned encoding = 0; encoding < HF_PREDICT_ENCODING_COUNT;
         encoding++) {
        hf_budget budget = {.interrupted = at_once};
        hf_predict_options o = {.target = HF_PREDICT_CAUSAL,
                                .strategy = HF_PREDICT_EXACT_STRICT,
                                .encoding = (hf_predict_encoding)encoding,
                                .budget = &budget};
        hf_predict_result *r;

        if (!hf_predict_available(o.encoding, NULL))
            continue;
        hf_budget_start(&budget);
        r = predict(h, o);
        assert_int_equal(r->answer, HF_PREDICT_UNKNOWN);
        assert_false(r->is_complete);
        assert_non_null(strstr(r->statement, "limit"));
        hf_predict_result_free(r);
    }
    hf_history_free(h);
}

static bool count_down(void *user)
{
    unsigned *left = user;

    return *left == 0 || --*left == 0;
}

/* What was found before a limit is kept, however early the limit comes. */
static void limits_keep_what_was_found(void **state)
{
    hf_history *h = load("figure-8-smallbank");
    bool found = false, stopped = false, whole = false;

    (void)state;
    for (unsigned polls = 1; polls < 2000 && !whole; polls++) {
        unsigned left = polls;
        hf_budget budget = {.interrupted = count_down, .user = &left};
        hf_predict_options o = {
            .target = HF_PREDICT_CAUSAL, .most = 50, .budget = &budget};
        hf_predict_result *r;

        hf_budget_start(&budget);
        r = predict(h, o);
        if (found)
            assert_int_equal(r->answer, HF_PREDICT_FOUND);
        found = r->answer == HF_PREDICT_FOUND;
        whole = r->is_complete;
        stopped = stopped || (found && !whole);
        assert_int_equal(found, r->n_predictions > 0);
        if (found)
            check_history(h, &r->predictions[0], HF_PREDICT_CAUSAL);
        hf_predict_result_free(r);
    }
    assert_true(whole);
    assert_true(stopped);
    hf_history_free(h);
}

/* One line, not all the memory there is. */
static void long_runs_are_refused(void **state)
{
    hf_builder *b = hf_builder_new();
    hf_predict_options o = {.target = HF_PREDICT_CAUSAL};
    hf_predict_result *r = NULL;
    hf_history *h = NULL;
    hf_error err;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        hf_txn_id t = hf_builder_txn(b, hf_builder_session_number(b, i % 7));
        hf_key_id k = hf_builder_key_int(b, i % 3);

        (void)hf_builder_op(b, t, HF_OP_WRITE, k, hf_builder_int(b, k, i));
    }
    assert_int_equal(hf_builder_finish(b, &h, &err), HF_OK);
    assert_int_equal(hf_predict(h, &o, &r, &err), HF_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "5000 transactions are too many"));
    hf_history_free(h);
}

static void names_are_found(void **state)
{
    hf_predict_target t;
    hf_predict_strategy s;
    const char *near = NULL;

    (void)state;
    assert_true(hf_predict_target_find(HF_STR("Causal"), &t, NULL));
    assert_int_equal(t, HF_PREDICT_CAUSAL);
    assert_true(hf_predict_target_find(HF_STR("SI"), &t, NULL));
    assert_int_equal(t, HF_PREDICT_SNAPSHOT);
    assert_false(hf_predict_target_find(HF_STR("casual"), &t, &near));
    assert_string_equal(near, "causal");
    assert_false(hf_predict_target_find(HF_STR("serializable"), &t, NULL));
    assert_true(hf_predict_strategy_find(HF_STR("approx_strict"), &s));
    assert_int_equal(s, HF_PREDICT_APPROX_STRICT);
}

int main(void)
{
    const struct CMUnitTest with_solver[] = {
        cmocka_unit_test(papers_examples),
        cmocka_unit_test(papers_examples_in_its_own_encoding),
        cmocka_unit_test(deposits_are_lost),
        cmocka_unit_test(smallbank_has_a_cycle_of_four),
        cmocka_unit_test(withdrawal_stops_what_depends_on_it),
        cmocka_unit_test(phantoms_count),
        cmocka_unit_test(who_changed_the_matches_is_seen),
        cmocka_unit_test(a_row_that_never_matches_does_not),
        cmocka_unit_test(appends_are_lost_below_snapshots),
        cmocka_unit_test(statements_see_one_snapshot),
        cmocka_unit_test(writes_behind_the_boundary_conflict),
        cmocka_unit_test(unseen_reads_change_first),
        cmocka_unit_test(equal_results_change_first),
        cmocka_unit_test(other_columns_change_first),
        cmocka_unit_test(who_gets_the_same_number_inserts_the_same_row),
        cmocka_unit_test(aborted_reads_are_refused),
        cmocka_unit_test(predictions_differ_in_shape),
        cmocka_unit_test(interruption_is_no_proof),
        cmocka_unit_test(limits_keep_what_was_found),
        cmocka_unit_test(long_runs_are_refused),
        cmocka_unit_test(names_are_found),
    };

    if (!hf_predict_available(HF_PREDICT_OWN, NULL))
        return 77; /* skipped */
    return cmocka_run_group_tests(with_solver, NULL, NULL);
}
