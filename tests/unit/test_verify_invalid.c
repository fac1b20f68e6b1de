/* Cycles, operations and cores as witnesses against a history. */
#include "verify_ask.h"

/* ---- cycles -------------------------------------------------------------- */

static void write_skew_is_a_cycle(void **state)
{
    hf_history *h = history(
        "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",null],[\"w\",\"x\",1]]}\n"
        "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",null],[\"w\",\"y\",1]]}\n");

    (void)state;
    invalid_at(h,
               CYCLE("G2-item", EDGE("rw", 0, 1, "y", 1,
                                     5) "," EDGE("rw", 1, 0, "x", 3, 2)),
               " RR SER SERs SERr ");
    /* the wrong name, kind, operation, key, direction, or an open end */
    invalid_at(h,
               CYCLE("G-single", EDGE("rw", 0, 1, "y", 1,
                                      5) "," EDGE("rw", 1, 0, "x", 3, 2)),
               "");
    invalid_at(h,
               CYCLE("G-single", EDGE("rw", 0, 1, "y", 1,
                                      5) "," EDGE("wr", 1, 0, "x", 3, 2)),
               "");
    invalid_at(h,
               CYCLE("G2-item", EDGE("rw", 0, 1, "y", 0,
                                     5) "," EDGE("rw", 1, 0, "x", 3, 2)),
               "");
    invalid_at(h,
               CYCLE("G2-item", EDGE("rw", 0, 1, "z", 1,
                                     5) "," EDGE("rw", 1, 0, "x", 3, 2)),
               "");
    invalid_at(h,
               CYCLE("G2-item", EDGE("rw", 1, 0, "y", 1,
                                     5) "," EDGE("rw", 0, 1, "x", 3, 2)),
               "");
    invalid_at(h, CYCLE("G2-item", EDGE("rw", 0, 1, "y", 1, 5)), "");
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[0,1]",
               " RR SER SERs SERr ");
    hf_history_free(h);
}

static void single_cycles_break_what_they_make_visible(void **state)
{
    /* C5 and C6 differ in the order of two reads */
    hf_history *later =
        history("{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
                "{\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",null]]}\n");
    hf_history *earlier =
        history("{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
                "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",1]]}\n");
    hf_history *causal =
        history("{\"ops\":[[\"w\",\"x\",1]]}\n"
                "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"y\",1]]}\n"
                "{\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",null]]}\n");

    (void)state;
    invalid_at(later,
               CYCLE("G-single-item", EDGE("rw", 1, 0, "x", 3,
                                           0) "," EDGE("wr", 0, 1, "y", 1, 2)),
               " RCa MAV RA CC CV RR PSI PSIs PC SI SIs SIr SER SERs SERr ");
    invalid_at(earlier,
               CYCLE("G-single-item", EDGE("rw", 1, 0, "x", 2,
                                           0) "," EDGE("wr", 0, 1, "y", 1, 3)),
               " RA CC CV RR PSI PSIs PC SI SIs SIr SER SERs SERr ");
    invalid_at(causal,
               CYCLE("G-single", EDGE("rw", 2, 0, "x", 4, 0) "," EDGE(
                                     "wr", 0, 1, "x", 0,
                                     1) "," EDGE("wr", 1, 2, "y", 2, 3)),
               " wfr CC CV RR PSI PSIs PC SI SIs SIr SER SERs SERr ");
    hf_history_free(later);
    hf_history_free(earlier);
    hf_history_free(causal);
}

static void version_orders_must_be_certain(void **state)
{
    const char *g0 = CYCLE(
        "G0", EDGE("ww", 0, 1, "x", 0, 2) "," EDGE("ww", 1, 0, "y", 3, 1));
    hf_history *open = history("{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
                               "{\"ops\":[[\"w\",\"x\",2],[\"w\",\"y\",2]]}\n");
    hf_history *known =
        history("{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
                "{\"ops\":[[\"w\",\"x\",2],[\"w\",\"y\",2]]}\n"
                "{\"order\":[\"x\",[1,2]]}\n{\"order\":[\"y\",[2,1]]}\n");
    hf_history *half =
        history("{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
                "{\"ops\":[[\"w\",\"x\",2],[\"w\",\"y\",2]]}\n"
                "{\"order\":[\"x\",[1,2]]}\n{\"order\":[\"y\",[1]]}\n");
    hf_history *by_lists =
        history("{\"ops\":[[\"append\",\"x\",1],[\"append\",\"y\",1]]}\n"
                "{\"ops\":[[\"append\",\"x\",2],[\"append\",\"y\",2]]}\n"
                "{\"ops\":[[\"r\",\"x\",[1,2]],[\"r\",\"y\",[2]]]}\n");

    (void)state;
    invalid_at(open, g0, "");
    invalid_at(known, g0, ALL);
    invalid_at(half, g0, "");
    invalid_at(by_lists, g0, ALL);
    hf_history_free(open);
    hf_history_free(known);
    hf_history_free(half);
    hf_history_free(by_lists);
}

static void updates_order_versions_from_read_committed_up(void **state)
{
    /* each updates the other's version: a cycle of ww, and of wr */
    hf_history *h = history("{\"ops\":[[\"r\",\"x\",2],[\"w\",\"x\",1]]}\n"
                            "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2]]}\n");

    (void)state;
    invalid_at(h,
               CYCLE("G0", EDGE("ww", 0, 1, "x", 1, 3) "," EDGE("ww", 1, 0, "x",
                                                                3, 1)),
               FROM_RC);
    invalid_at(h,
               CYCLE("G1c", EDGE("wr", 0, 1, "x", 1, 2) "," EDGE("wr", 1, 0,
                                                                 "x", 3, 0)),
               FROM_RC);
    invalid_at(h,
               CYCLE("cyclic versions", EDGE("ww", 0, 1, "x", 1, 3) "," EDGE(
                                            "ww", 1, 0, "x", 3, 1)),
               FROM_RC);
    hf_history_free(h);
}

static void session_and_time_edges_count_where_they_exist(void **state)
{
    hf_history *h = history(
        "{\"session\":1,\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2}\n"
        "{\"session\":1,\"ops\":[[\"r\",\"x\",null]],\"begin\":3,\"end\":4}\n");
    hf_history *unsure = history(
        "{\"session\":1,\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2,"
        "\"outcome\":\"unknown\"}\n"
        "{\"session\":1,\"ops\":[[\"r\",\"x\",null]],\"begin\":3,\"end\":4}\n");
    const char *so =
        CYCLE("G-single-session",
              EDGE("rw", 1, 0, "x", 1, 0) ",{\"kind\":\"so\",\"from\":0,"
                                          "\"to\":1}");
    const char *rt =
        CYCLE("G-single-realtime",
              EDGE("rw", 1, 0, "x", 1, 0) ",{\"kind\":\"rt\",\"from\":0,"
                                          "\"to\":1}");

    (void)state;
    invalid_at(h, so, " RA ryw pram CC PSIs PC SIs SIr SERs SERr ");
    invalid_at(h, rt, " SIr SERr ");
    invalid_at(unsure, so, "");
    invalid_at(unsure, rt, "");
    hf_history_free(h);
    hf_history_free(unsure);
}

static void long_fork_and_its_neighbours(void **state)
{
    hf_history *h =
        history("{\"ops\":[[\"w\",\"x\",1]]}\n{\"ops\":[[\"w\",\"y\",1]]}\n"
                "{\"ops\":[[\"r\",\"x\",1],[\"r\",\"y\",null]]}\n"
                "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",1]]}\n");

    (void)state;
    invalid_at(h,
               CYCLE("G-nonadjacent-item",
                     EDGE("rw", 2, 1, "y", 3, 1) "," EDGE(
                         "wr", 1, 3, "y", 1,
                         5) "," EDGE("rw", 3, 0, "x", 4,
                                     0) "," EDGE("wr", 0, 2, "x", 0, 2)),
               " RR PC SI SIs SIr SER SERs SERr ");
    /* dropped and swapped edges no longer chain */
    invalid_at(
        h,
        CYCLE("G-nonadjacent-item",
              EDGE("rw", 2, 1, "y", 3, 1) "," EDGE(
                  "wr", 1, 3, "y", 1, 5) "," EDGE("wr", 0, 2, "x", 0, 2)),
        "");
    hf_history_free(h);
}

static void unknown_outcomes_that_were_read_happened(void **state)
{
    hf_history *h = history("{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]],"
                            "\"outcome\":\"unknown\"}\n"
                            "{\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",null]]}\n");
    hf_history *unread =
        history("{\"ops\":[[\"w\",\"x\",1],[\"r\",\"y\",1]],"
                "\"outcome\":\"unknown\"}\n"
                "{\"ops\":[[\"r\",\"x\",null],[\"w\",\"y\",1]]}\n");

    (void)state;
    invalid_at(h,
               CYCLE("G-single-item", EDGE("rw", 1, 0, "x", 3,
                                           0) "," EDGE("wr", 0, 1, "y", 1, 2)),
               " RCa MAV RA CC CV RR PSI PSIs PC SI SIs SIr SER SERs SERr ");
    invalid_at(unread,
               CYCLE("G-single-item", EDGE("rw", 1, 0, "x", 2,
                                           0) "," EDGE("wr", 1, 0, "y", 3, 1)),
               "");
    hf_history_free(h);
    hf_history_free(unread);
}

/* ---- operations ---------------------------------------------------------- */

static void few_operations_show_an_anomaly(void **state)
{
    hf_history *h = history(
        /* 0 */ "{\"ops\":[[\"w\",\"x\",1]],\"outcome\":\"aborted\"}\n"
                /* 1 */ "{\"ops\":[[\"r\",\"x\",1]]}\n"
                /* 2, 3 */ "{\"ops\":[[\"w\",\"y\",1],[\"w\",\"y\",2]]}\n"
                /* 4 */ "{\"ops\":[[\"r\",\"y\",1]]}\n"
                /* 5, 6 */ "{\"ops\":[[\"r\",\"z\",5],[\"w\",\"z\",5]]}\n"
                /* 7 */ "{\"ops\":[[\"r\",\"z\",77]]}\n"
                /* 8, 9 */ "{\"ops\":[[\"r\",\"u\",null],[\"r\",\"u\",1]]}\n"
                /* 10 */ "{\"ops\":[[\"w\",\"u\",1]]}\n"
                /* 11, 12 */ "{\"ops\":[[\"r\",\"v\",null],[\"w\",\"v\",1]]}\n"
                /* 13, 14 */ "{\"ops\":[[\"r\",\"v\",null],[\"w\",\"v\",2]]}"
                "\n");

    (void)state;
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"G1a\","
               "\"operations\":[0,1]",
               FROM_RC);
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"G1a\","
               "\"operations\":[2,4]",
               "");
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"G1b\","
               "\"operations\":[2,3,4]",
               FROM_RC);
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"G1b\","
               "\"operations\":[3,2,4]",
               "");
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"future read\","
               "\"operations\":[5,6]",
               FROM_RC);
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"garbage read\","
               "\"operations\":[7]",
               ALL);
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"garbage read\","
               "\"operations\":[9]",
               "");
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"non-repeatable read\","
               "\"operations\":[8,9]",
               " RA CC CV RR PSI PSIs PC SI SIs SIr SER SERs SERr ");
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"lost update\","
               "\"operations\":[11,12,13,14]",
               " CV RR PSI PSIs SI SIs SIr SER SERs SERr ");
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"lost update\","
               "\"operations\":[11,12,11,12]",
               "");
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"lost update\","
               "\"operations\":[11,12,13]",
               "");
    hf_history_free(h);
}

static void doubtful_sources_show_nothing(void **state)
{
    /* the value may come from the committed write */
    hf_history *h =
        history("{\"ops\":[[\"w\",\"x\",1]],\"outcome\":\"aborted\"}\n"
                "{\"ops\":[[\"w\",\"x\",1]]}\n"
                "{\"ops\":[[\"r\",\"x\",1]]}\n");

    (void)state;
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"G1a\","
               "\"operations\":[0,2]",
               "");
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[0,2]", "");
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[0,1,2]", "");
    hf_history_free(h);
}

/* ---- cores --------------------------------------------------------------- */

static void cores_are_enumerated(void **state)
{
    hf_history *h = history("{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
                            "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",1]]}\n"
                            "{\"ops\":[[\"w\",\"z\",1]]}\n");

    (void)state;
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[0,1]",
               " RA CC CV RR PSI PSIs PC SI SIs SIr SER SERs SERr ");
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[0,2]", "");
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[]", "");
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[0,1,1]", "");
    /* what was read from one that is gone is not held against it */
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[1]", "");
    hf_history_free(h);
}

static void cores_of_eight_are_decided(void **state)
{
    char text[4096] = "";
    size_t n = 0;
    hf_history *h;

    (void)state;
    /* a ring of eight write skews: every proper part is serializable */
    for (int i = 0; i < 8; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              "{\"ops\":[[\"r\",%d,null],[\"w\",%d,1]]}\n", i,
                              (i + 1) % 8);
    h = history(text);
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[0,1,2,3,4,5,6,7]",
               " RR SER SERs SERr ");
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[0,1,2,3,4,5,6]", "");
    hf_history_free(h);
}

static void large_cores_are_not_guessed(void **state)
{
    char text[2048] = "";
    size_t n = 0;
    hf_history *h;

    (void)state;
    for (int i = 0; i < 9; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              "{\"ops\":[[\"w\",\"x\",%d]]}\n", i);
    h = history(text);
    /* executed, where the level is an order */
    assert_int_equal(ask_invalid(h, "SER",
                                 "\"kind\":\"core\",\"transactions\":"
                                 "[0,1,2,3,4,5,6,7,8]"),
                     REFUSED);
    assert_int_equal(ask_invalid(h, "causal",
                                 "\"kind\":\"core\",\"transactions\":"
                                 "[0,1,2,3,4,5,6,7,8]"),
                     UNSUPPORTED);
    hf_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_skew_is_a_cycle),
        cmocka_unit_test(single_cycles_break_what_they_make_visible),
        cmocka_unit_test(version_orders_must_be_certain),
        cmocka_unit_test(updates_order_versions_from_read_committed_up),
        cmocka_unit_test(session_and_time_edges_count_where_they_exist),
        cmocka_unit_test(long_fork_and_its_neighbours),
        cmocka_unit_test(unknown_outcomes_that_were_read_happened),
        cmocka_unit_test(few_operations_show_an_anomaly),
        cmocka_unit_test(doubtful_sources_show_nothing),
        cmocka_unit_test(cores_are_enumerated),
        cmocka_unit_test(cores_of_eight_are_decided),
        cmocka_unit_test(large_cores_are_not_guessed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
