/* Predicate operations in witnesses: the rows of the catalog with conditions,
 * each as a core at every level, and some as cycles, operations and orders. */
#include "verify_ask.h"

#include "base/mem.h"
#include "verify/condition.h"

#define PR(where, versions, rows)                                              \
    "{\"op\":\"pr\",\"where\":\"" where "\",\"versions\":[" versions           \
    "],\"rows\":[" rows "]}"
#define I(key, value) "[\"insert\",\"" key "\"," value "]"
#define W(key, value) "[\"w\",\"" key "\"," value "]"
#define R(key, value) "[\"r\",\"" key "\"," value "]"
#define V(key, value) "[\"" key "\"," value "]"
#define T(ops) "{\"ops\":[" ops "]}\n"

#define SKEWED " RA CC CV PSI PSIs PC SI SIs SIr SER SERs SERr "
#define SERIALS " SER SERs SERr "

static void core_at(const char *text, const char *transactions,
                    const char *levels)
{
    hf_history *h = history(text);
    char rest[96];

    snprintf(rest, sizeof(rest), "\"kind\":\"core\",\"transactions\":%s",
             transactions);
    invalid_at(h, rest, levels);
    hf_history_free(h);
}

static const char *const phantom = T(I("x", "1")) T(I("y", "2"))
    T(PR("value < 5", V("x", "1") "," V("y", "null"), V("x", "1")) "," PR(
        "value < 5", V("x", "1") "," V("y", "2"), V("x", "1") "," V("y", "2")));

static void skewed_statements_as_cores(void **state)
{
    (void)state;
    core_at(phantom, "[0,1,2]", SKEWED); /* Q1 */
    core_at(phantom, "[1,2]", SKEWED);
    core_at(phantom, "[0,2]", "");
    /* Q3: two conditions */
    core_at(T(PR("value = 30", V("x", "null"), "") "," PR(
                "value % 3 = 0", V("x", "30"), V("x", "30"))) T(I("x", "30")),
            "[0,1]", SKEWED);
    /* Q5: a condition, then an item */
    core_at(T(PR("value < 5", V("x", "null"), "") "," R("y", "1"))
                T(I("x", "1") "," I("y", "1")),
            "[0,1]", SKEWED);
    /* Q9: one statement */
    core_at(T(I("x", "1") "," I("y", "1"))
                T(PR("true", V("x", "null") "," V("y", "1"), V("y", "1"))),
            "[0,1]", SKEWED);
    /* Q8: a condition, then an older item */
    core_at(T(W("x", "4")) T(W("x", "6"))
                T(PR("value < 5", V("x", "6"),
                     "") "," R("x", "4")) "{\"order\":[\"x\",[1,2]]}\n",
            "[0,1,2]",
            " RCa MAV RA CC CV RR PSI PSIs PC SI SIs SIr SER SERs SERr ");
}

static void aggregates_as_cores(void **state)
{
    (void)state;
    /* Q4: a maximum that changes */
    core_at(
        "{\"initial\":[[\"x\",1]]}\n" T(
            "{\"op\":\"max\",\"where\":\"true\",\"versions\":[" V(
                "x", "1") "," V("y",
                                "null") "],\"value\":1},"
                                        "{\"op\":\"max\",\"where\":\"true\","
                                        "\"versions\":[" V("x", "1") "," V(
                                            "y", "2") "],\"value\":2}")
            T(I("y", "2")),
        "[0,1]", SKEWED);
    /* Q10: a sum over two states */
    core_at("{\"initial\":[[\"x\",100],[\"y\",100]]}\n" T(
                W("x", "90") "," W("y", "110"))
                T("{\"op\":\"sum\",\"where\":\"true\",\"versions\":[" V(
                    "x", "100") "," V("y", "110") "],\"value\":210}"),
            "[0,1]", " RA CC CV RR PSI PSIs PC SI SIs SIr SER SERs SERr ");
    /* wrong by itself */
    core_at("{\"initial\":[[\"x\",100]]}\n" T(
                "{\"op\":\"sum\",\"where\":\"true\",\"versions\":[" V(
                    "x", "100") "],\"value\":99}"),
            "[0]", ALL);
}

static void forks_and_skews_as_cores(void **state)
{
    (void)state;
    /* Q11: predicate long fork */
    core_at(T(I("x", "1")) T(I("y", "1"))
                T(PR("true", V("x", "1") "," V("y", "null"), V("x", "1")))
                    T(PR("true", V("x", "null") "," V("y", "1"), V("y", "1"))),
            "[0,1,2,3]", " PC SI SIs SIr SER SERs SERr ");
    /* Q12: predicate write skew */
    core_at(T(PR("value % 3 = 0", V("a", "null") "," V("b", "null"),
                 "") "," I("a", "30"))
                T(PR("value % 3 = 0", V("a", "null") "," V("b", "null"),
                     "") "," I("b", "42")),
            "[0,1]", SERIALS);
    /* Q14: swap by two updates */
    core_at(
        "{\"initial\":[[\"x\",\"apple\"],[\"y\",\"pear\"]]}\n" T(
            PR("value = 'pear'", V("x", "\"apple\"") "," V("y", "\"pear\""),
               V("y", "\"pear\"")) "," W("y", "\"apple\""))
            T(PR("value = 'apple'", V("x", "\"apple\"") "," V("y", "\"pear\""),
                 V("x", "\"apple\"")) "," W("x", "\"pear\"")),
        "[0,1]", SERIALS);
}

static void predicate_edges_make_cycles(void **state)
{
    hf_history *h = history(phantom);
    hf_history *harmless = history(
        T(I("y", "9")) T(PR("value < 5", V("y", "null"), "") "," R("z", "1"))
            T(R("y", "9") "," W("z", "1")));
    hf_history *older = history(
        T(W("x", "4")) T(W("x", "6")) T(PR("value < 5", V("x", "6"), "") "," R(
            "x", "4")) "{\"order\":[\"x\",[1,2]]}\n");

    (void)state;
    invalid_at(h,
               CYCLE("G-single", EDGE("prw", 2, 1, "y", 2,
                                      1) "," EDGE("wr", 1, 2, "y", 1, 3)),
               SKEWED);
    /* not an item form, and not an item edge */
    invalid_at(h,
               CYCLE("G-single-item", EDGE("prw", 2, 1, "y", 2,
                                           1) "," EDGE("wr", 1, 2, "y", 1, 3)),
               "");
    invalid_at(h,
               CYCLE("G-single", EDGE("rw", 2, 1, "y", 2,
                                      1) "," EDGE("wr", 1, 2, "y", 1, 3)),
               "");
    /* a version that the condition does not notice makes no edge */
    invalid_at(harmless,
               CYCLE("G-single", EDGE("prw", 1, 0, "y", 1, 0) "," EDGE(
                                     "wr", 0, 2, "y", 0,
                                     3) "," EDGE("wr", 2, 1, "z", 4, 2)),
               "");
    invalid_at(harmless, "\"kind\":\"core\",\"transactions\":[0,1,2]", "");
    invalid_at(older,
               CYCLE("G-single-item", EDGE("rw", 2, 1, "x", 3,
                                           1) "," EDGE("pwr", 1, 2, "x", 1, 2)),
               " RCa MAV RA CC CV RR PSI PSIs PC SI SIs SIr SER SERs SERr ");
    hf_history_free(h);
    hf_history_free(harmless);
    hf_history_free(older);
}

static void sets_that_are_wrong_by_themselves(void **state)
{
    hf_history *missing =
        history(T(W("x", "4")) T(PR("value < 5", V("x", "4"), "")));
    hf_history *twice = history(T(W("x", "4")) T(W("x", "5")) T(
        PR("true", V("x", "4"), V("x", "4") "," V("x", "5"))));
    hf_history *fine =
        history(T(W("x", "4")) T(PR("value < 5", V("x", "4"), V("x", "4"))));
    const char *mismatch = "\"kind\":\"operations\",\"anomaly\":\"result set "
                           "mismatch\",\"operations\":[1]";
    const char *phantom_claim =
        "\"kind\":\"operations\",\"anomaly\":\"phantom\",\"operations\":[2,3]";
    hf_history *h = history(phantom);

    (void)state;
    invalid_at(missing, mismatch, ALL);
    invalid_at(fine, mismatch, "");
    invalid_at(twice,
               "\"kind\":\"operations\",\"anomaly\":\"two versions\","
               "\"operations\":[2]",
               ALL);
    invalid_at(h, phantom_claim, SKEWED);
    commit_refused_at(missing, "\"kind\":\"commit\",\"order\":[0,1]", ALL);
    commit_refused_at(fine, "\"kind\":\"commit\",\"order\":[0,1]", "");
    hf_history_free(missing);
    hf_history_free(twice);
    hf_history_free(fine);
    hf_history_free(h);
}

static void orders_are_judged_by_conditions(void **state)
{
    /* Q12 is fine at repeatable read and at snapshot isolation */
    hf_history *skew = history(
        T(PR("value % 3 = 0", V("a", "null") "," V("b", "null"), "") "," I(
            "a", "30")) T(PR("value % 3 = 0", V("a", "null") "," V("b", "null"),
                             "") "," I("b", "42")));
    /* a version that is looked at early, and does not matter */
    hf_history *early =
        history(T(W("x", "9")) T(PR("value < 5", V("x", "9"), "")));
    hf_history *h = history(phantom);
    const char *both = "\"kind\":\"snapshot\",\"order\":[[0,\"start\"],"
                       "[1,\"start\"],[0,\"commit\"],[1,\"commit\"]]";

    (void)state;
    assert_int_equal(ask_valid(skew, "SI", both), ACCEPTED);
    assert_int_equal(
        ask_valid(skew, "RR", "\"kind\":\"serial\",\"order\":[0,1]"), ACCEPTED);
    assert_int_equal(
        ask_valid(skew, "SER", "\"kind\":\"serial\",\"order\":[0,1]"), REFUSED);
    assert_int_equal(
        ask_valid(early, "SER", "\"kind\":\"serial\",\"order\":[1,0]"),
        ACCEPTED);
    assert_int_equal(
        ask_valid(early, "SER", "\"kind\":\"serial\",\"order\":[0,1]"),
        ACCEPTED);
    commit_refused_at(h, "\"kind\":\"commit\",\"order\":[0,1,2]", SKEWED);
    hf_history_free(skew);
    hf_history_free(early);
    hf_history_free(h);
}

static void what_cannot_be_evaluated_is_not_guessed(void **state)
{
    hf_history *strange =
        history(T(W("x", "4")) T(PR("soundex(value) = 3", V("x", "4"), "")));
    hf_history *unrecorded = history(T(W("x", "4")) T(
        "{\"op\":\"pr\",\"where\":\"value < 5\",\"rows\":[]}"));

    (void)state;
    assert_int_equal(
        ask_valid(strange, "SER", "\"kind\":\"serial\",\"order\":[0,1]"),
        UNSUPPORTED);
    /* without a version set it is compared with the state at its place, and
     * where there is no such state so few are enumerated */
    assert_int_equal(
        ask_valid(unrecorded, "SER", "\"kind\":\"serial\",\"order\":[0,1]"),
        REFUSED);
    assert_int_equal(
        ask_valid(unrecorded, "SER", "\"kind\":\"serial\",\"order\":[1,0]"),
        ACCEPTED);
    assert_int_equal(
        ask_valid(unrecorded, "RA", "\"kind\":\"commit\",\"order\":[1,0]"),
        ACCEPTED);
    assert_int_equal(
        ask_invalid(strange, "SER", "\"kind\":\"core\",\"transactions\":[0,1]"),
        UNSUPPORTED);
    hf_history_free(strange);
    hf_history_free(unrecorded);
}

/* The answer to one serial transaction after these initial values. */
static answer ask_one(const char *initial, const char *op, const char *level)
{
    char text[512];
    hf_history *h;
    answer a;

    snprintf(text, sizeof(text), "{\"initial\":[%s]}\n{\"ops\":[%s]}\n",
             initial, op);
    h = history(text);
    a = ask_valid(h, level,
                  strcmp(level, "RU") == 0
                      ? "\"kind\":\"commit\",\"order\":[0]"
                      : "\"kind\":\"serial\",\"order\":[0]");
    hf_history_free(h);
    return a;
}

static void aggregates_are_not_guessed(void **state)
{
#define AGG(op, versions, rest)                                                \
    versions, "{\"op\":\"" op "\",\"where\":\"true\",\"versions\":[" versions  \
              "]," rest "}"
#define MOST "9223372036854775807"
    static const struct {
        const char *initial, *op;
        answer expected;
    } rows[] = {
        {AGG("sum", V("x", "0.1") "," V("y", "0.2"), "\"value\":777"), REFUSED},
        {AGG("sum", V("x", "0.1") "," V("y", "0.2"),
             "\"value\":0.30000000000000004"),
         UNSUPPORTED},
        {AGG("sum", V("x", MOST) "," V("y", "1"), "\"value\":777"),
         UNSUPPORTED},
        {AGG("min", V("x", "\"a\"") "," V("y", "\"b\""), "\"value\":777"),
         UNSUPPORTED},
        {AGG("max", V("x", "0.5") "," V("y", "2"), "\"value\":2"), ACCEPTED},
        {AGG("max", V("x", "0.5") "," V("y", "2"), "\"value\":0.5"), REFUSED},
        {AGG("sum", V("x", "0.1") "," V("y", "0.2"), "\"value\":0.3"),
         ACCEPTED},
        {AGG("avg", V("x", "1") "," V("y", "2"), "\"value\":1.5"), ACCEPTED},
        {AGG("avg", V("x", "1") "," V("y", "2"), "\"value\":1.6"), REFUSED},
        {AGG("avg", V("x", "1") "," V("y", "2"), "\"value\":1"), UNSUPPORTED},
        {AGG("avg", V("x", "1"), "\"value\":null"), REFUSED},
        {AGG("avg", V("x", "\"a\""), "\"value\":1"), UNSUPPORTED},
        {AGG("sum", V("x", "{\"b\":1}"), "\"column\":\"a\",\"value\":1"),
         UNSUPPORTED},
        {AGG("count", V("x", "{\"b\":1}"), "\"column\":\"a\",\"value\":1"),
         UNSUPPORTED},
        {AGG("max", V("x", "1"), "\"value\":\"one\""), UNSUPPORTED},
        {AGG("max", V("x", MOST) "," V("y", "1"), "\"value\":" MOST), ACCEPTED},
        {AGG("min", V("x", MOST) "," V("y", "1"), "\"value\":2"), REFUSED},
        {AGG("count", V("x", "0.1") "," V("y", "\"b\""), "\"value\":2"),
         ACCEPTED},
        {AGG("count", V("x", "0.1") "," V("y", "\"b\""), "\"value\":1"),
         REFUSED},
        {AGG("count", V("x", "{\"b\":1}"), "\"value\":1"), ACCEPTED},
        {AGG("sum", V("x", "-4") "," V("y", "3"), "\"value\":-1"), ACCEPTED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (ask_one(rows[i].initial, rows[i].op, "SER") != rows[i].expected ||
            ask_one(rows[i].initial, rows[i].op, "RU") != rows[i].expected)
            fail_msg("%s", rows[i].op);
#undef AGG
#undef MOST
}

static void rows_without_a_version_set(void **state)
{
#define ROWS(where, rest) "{\"op\":\"pr\",\"where\":\"" where "\"" rest "}"
    const char *op = ROWS("value > 5", ",\"rows\":[[\"x\",1]]");
    const char *mismatch = "\"kind\":\"operations\",\"anomaly\":\"result set "
                           "mismatch\",\"operations\":[0]";
    const char *start = V("x", "1");
    hf_history *h = history("{\"initial\":[[\"x\",1]]}\n" T(
        ROWS("value > 5", ",\"rows\":[[\"x\",1]]")));
    hf_history *fine = history("{\"initial\":[[\"x\",1]]}\n" T(
        ROWS("value < 5", ",\"rows\":[[\"x\",1]]")));
    hf_history *dirty = history(T(W("x", "1") "," W("y", "1")) T(
        ROWS("f(value)", ",\"rows\":[[\"x\",1]]") "," R("y", "null")));

    (void)state;
    /* a row that the condition does not give is wrong everywhere */
    invalid_at(h, mismatch, ALL);
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[0]", ALL);
    invalid_at(fine, mismatch, "");
    assert_int_equal(ask_one(start, op, "RU"), REFUSED);
    assert_int_equal(ask_one(start, op, "SER"), REFUSED);
    /* one that fits the state */
    op = ROWS("value < 5", ",\"rows\":[[\"x\",1]]");
    assert_int_equal(ask_one(start, op, "RU"), ACCEPTED);
    assert_int_equal(ask_one(start, op, "SER"), ACCEPTED);
    op = ROWS("value < 5", ",\"rows\":[]");
    assert_int_equal(ask_one(start, op, "SER"), REFUSED);
    /* one that cannot be judged */
    op = ROWS("f(value)", ",\"rows\":[[\"x\",1]]");
    assert_int_equal(ask_one(start, op, "RU"), UNSUPPORTED);
    assert_int_equal(ask_one(start, op, "SER"), UNSUPPORTED);
    op = ROWS("f(value)", ",\"versions\":[[\"x\",1]]");
    assert_int_equal(ask_one(start, op, "RU"), ACCEPTED);
    assert_int_equal(ask_one(start, op, "SER"), UNSUPPORTED);
    op = ROWS("f(value)", ",\"versions\":[[\"x\",7]]");
    assert_int_equal(ask_one(start, op, "RU"), REFUSED);
    /* the row was read, whatever the condition */
    assert_int_equal(
        ask_invalid(dirty, "SER", "\"kind\":\"core\",\"transactions\":[0,1]"),
        ACCEPTED);
    hf_history_free(h);
    hf_history_free(fine);
    hf_history_free(dirty);
#undef ROWS
}

static void conditions_are_sql(void **state)
{
    static const struct {
        const char *text;
        hf_match for_4, for_nothing; /* value 4; a row without columns */
    } rows[] = {
        {"true", HF_MATCH_YES, HF_MATCH_YES},
        {"value < 5", HF_MATCH_YES, HF_MATCH_UNKNOWN},
        {"value<=4 AND NOT value = 3", HF_MATCH_YES, HF_MATCH_UNKNOWN},
        {"value between 4 and 9", HF_MATCH_YES, HF_MATCH_UNKNOWN},
        {"value not between 4 and 9", HF_MATCH_NO, HF_MATCH_UNKNOWN},
        {"value in (1, 2, 3)", HF_MATCH_NO, HF_MATCH_UNKNOWN},
        {"value not in (1, null)", HF_MATCH_NO, HF_MATCH_UNKNOWN},
        {"value is not null", HF_MATCH_YES, HF_MATCH_UNKNOWN},
        {"value % 3 = 1 or false", HF_MATCH_YES, HF_MATCH_UNKNOWN},
        {"2 + 2 * 3 - 4 = value", HF_MATCH_YES, HF_MATCH_UNKNOWN},
        {"-value = -(4)", HF_MATCH_YES, HF_MATCH_UNKNOWN},
        {"value between 3.75 and 4.0", HF_MATCH_YES, HF_MATCH_UNKNOWN},
        {"value in (-4.0, 4.5)", HF_MATCH_NO, HF_MATCH_UNKNOWN},
        {"value > -4.5 and -0.5 < 0", HF_MATCH_YES, HF_MATCH_UNKNOWN},
        {"-4.25 < -4.125", HF_MATCH_YES, HF_MATCH_YES},
        {"3.00000000000001 < 3.00000000000002", HF_MATCH_YES, HF_MATCH_YES},
        {"value < 4.000000000000001", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"value < 4.5e1", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"value < 4.", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"value < 4.5.5", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"value + 0.5 = 4.5", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"value > - 4.5", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"null = null", HF_MATCH_NO, HF_MATCH_NO},
        {"not (null = 1)", HF_MATCH_NO, HF_MATCH_NO},
        {"true or null", HF_MATCH_YES, HF_MATCH_YES},
        {"false and null", HF_MATCH_NO, HF_MATCH_NO},
        {"value / 0 = 1", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"value / 3 = 1", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"9223372036854775807 + 1 > 0", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"value = 'four'", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"value < 5 < 6", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"value", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"(value = 4", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"value = 4)", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
        {"f(value)", HF_MATCH_UNKNOWN, HF_MATCH_UNKNOWN},
    };
    hf_scalar four = {.type = HF_INT, .number = 4};
    hf_scalar row = {.type = HF_ROW, .text = "{\"a\":4}", .length = 7};
    hf_scalar part = {.type = HF_REAL, .text = "4.25", .length = 4};
    hf_scalar nil = {.type = HF_NIL};
    hf_arena arena;

    (void)state;
    hf_arena_init(&arena);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const hf_condition *c =
            hf_condition_compile(&arena, hf_str_of(rows[i].text));

        if (hf_condition_holds(c, four) != rows[i].for_4 ||
            hf_condition_holds(c, row) != rows[i].for_nothing ||
            hf_condition_holds(c, nil) != HF_MATCH_NO)
            fail_msg("%s", rows[i].text);
    }
    assert_int_equal(
        hf_condition_holds(hf_condition_compile(&arena, HF_STR("a = 4")), row),
        HF_MATCH_YES);
    assert_int_equal(
        hf_condition_holds(
            hf_condition_compile(&arena, HF_STR("value > 4 and value < 4.5")),
            part),
        HF_MATCH_YES);
    hf_arena_release(&arena);
}

static void deep_conditions_do_not_overflow(void **state)
{
    char text[4001];
    hf_scalar four = {.type = HF_INT, .number = 4};
    const hf_condition *c;
    hf_arena arena;

    (void)state;
    hf_arena_init(&arena);
    memset(text, '(', sizeof(text));
    c = hf_condition_compile(&arena, (hf_str){text, sizeof(text)});
    assert_int_equal(hf_condition_holds(c, four), HF_MATCH_UNKNOWN);
    memset(text, '-', sizeof(text));
    text[sizeof(text) - 1] = '1';
    c = hf_condition_compile(&arena, (hf_str){text, sizeof(text)});
    assert_int_equal(hf_condition_holds(c, four), HF_MATCH_UNKNOWN);
    for (size_t i = 0; i + 1 < sizeof(text); i += 2)
        memcpy(text + i, "1+", 2);
    text[sizeof(text) - 1] = '1';
    c = hf_condition_compile(&arena, (hf_str){text, sizeof(text)});
    assert_int_equal(hf_condition_holds(c, four), HF_MATCH_UNKNOWN);
    hf_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skewed_statements_as_cores),
        cmocka_unit_test(aggregates_as_cores),
        cmocka_unit_test(forks_and_skews_as_cores),
        cmocka_unit_test(predicate_edges_make_cycles),
        cmocka_unit_test(sets_that_are_wrong_by_themselves),
        cmocka_unit_test(orders_are_judged_by_conditions),
        cmocka_unit_test(what_cannot_be_evaluated_is_not_guessed),
        cmocka_unit_test(aggregates_are_not_guessed),
        cmocka_unit_test(rows_without_a_version_set),
        cmocka_unit_test(conditions_are_sql),
        cmocka_unit_test(deep_conditions_do_not_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
