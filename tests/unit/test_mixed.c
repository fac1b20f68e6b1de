/* Mixed levels: small histories whose verdict is known, by the reference, and
 * what verify makes of witnesses about them. */
#include "verify_ask.h"

#include "check/check.h"
#include "report/report.h"

/* A history of at most four transactions: the rest of each line, without its
 * level. */
typedef struct sample {
    const char *lines[4];
} sample;

/* `levels` are short names, one for each line; "-" names none. */
static hf_history *with_levels(const sample *s, const char *levels)
{
    char text[2048] = "", names[128], *name;
    size_t n = 0;

    (void)snprintf(names, sizeof(names), "%s", levels);
    name = names;
    for (unsigned i = 0; i < 4 && s->lines[i]; i++) {
        char *end = name + strcspn(name, " ");
        bool last = *end == '\0';

        *end = '\0';
        n += (size_t)snprintf(text + n, sizeof(text) - n, "{%s%s%s%s}\n",
                              *name == '-' ? "" : "\"level\":\"",
                              *name == '-' ? "" : name,
                              *name == '-' ? "" : "\",", s->lines[i]);
        name = last ? end : end + 1;
    }
    return history(text);
}

/* The reference's verdict; its witness must be accepted. */
static hf_verdict verdict(const hf_history *h, const char *others)
{
    const hf_engine *brute = hf_engine_find(HF_STR("brute"));
    hf_check_options options = {.mixed = true};
    hf_verification said = {.accepted = false};
    hf_result *r = NULL;
    hf_verdict v;
    hf_claim claim;
    hf_level level;
    hf_error err;

    assert_true(hf_level_find(hf_str_of(others), &level, NULL));
    assert_int_equal(brute->check(h, level, &options, NULL, &r, &err), HF_OK);
    assert_true(r->mixed);
    assert_true(r->witness.mixed);
    claim = (hf_claim){r->verdict, r->level, r->witness};
    assert_int_equal(hf_verify_claim(h, &claim, NULL, &said, &err), HF_OK);
    if (!said.accepted)
        fail_msg("%s", said.reason);
    v = r->verdict;
    hf_result_free(r);
    return v;
}

typedef struct expectation {
    const char *levels;
    hf_verdict verdict;
} expectation;

static void expect(const sample *s, const expectation *e)
{
    for (; e->levels; e++) {
        hf_history *h = with_levels(s, e->levels);
        hf_verdict v = verdict(h, "SER");

        if (v != e->verdict)
            fail_msg("%s: %s", e->levels, hf_verdict_name(v));
        hf_history_free(h);
    }
}

#define EXPECT(s, ...) expect(s, (const expectation[]){__VA_ARGS__, {NULL, 0}})

/* ---- samples ------------------------------------------------------------- */

static const sample skew = {{"\"ops\":[[\"r\",\"x\",null],[\"w\",\"y\",1]]",
                             "\"ops\":[[\"r\",\"y\",null],[\"w\",\"x\",1]]"}};

static const sample lost = {{"\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",1]]",
                             "\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",2]]"}};

/* The second one's version is the first. */
static const sample lost_second = {
    {"\"ops\":[[\"r\",\"x\",[]],[\"append\",\"x\",1]]",
     "\"ops\":[[\"r\",\"x\",[]],[\"append\",\"x\",2]]",
     "\"ops\":[[\"r\",\"x\",[2,1]]]"}};

static const sample long_fork = {
    {"\"ops\":[[\"w\",\"x\",1]]", "\"ops\":[[\"w\",\"y\",1]]",
     "\"ops\":[[\"r\",\"x\",1],[\"r\",\"y\",null]]",
     "\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",1]]"}};

static const sample read_skew = {
    {"\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]",
     "\"ops\":[[\"r\",\"x\",1],[\"r\",\"y\",null]]"}};

/* ---- verdicts ------------------------------------------------------------ */

static void write_skew_needs_two(void **state)
{
    (void)state;
    EXPECT(&skew, {"SER SER", HF_INVALID}, {"SER RC", HF_VALID},
           {"SI SER", HF_VALID}, {"SI SI", HF_VALID}, {"RR SER", HF_INVALID},
           {"RR RR", HF_INVALID}, {"RR RC", HF_VALID}, {"SERr RU", HF_VALID},
           {"- SER", HF_INVALID}, {"- RC", HF_VALID}, {"CV SER", HF_VALID});
}

static void lost_update_is_the_last_ones(void **state)
{
    (void)state;
    EXPECT(&lost, {"RC RC", HF_VALID}, {"SI RC", HF_VALID},
           {"SER RC", HF_VALID}, {"SI SI", HF_INVALID}, {"SER SI", HF_INVALID},
           {"PC SI", HF_VALID}, {"CV SER", HF_INVALID}, {"RR PSI", HF_INVALID},
           {"RU SERr", HF_VALID}, {"CC SI", HF_VALID});
    EXPECT(&lost_second, {"SI RC RC", HF_INVALID}, {"RC SI RC", HF_VALID},
           {"PC SI RC", HF_VALID}, {"CV RC RC", HF_INVALID},
           {"SER RU RC", HF_INVALID}, {"RU SER RU", HF_VALID});
}

static void dirty_reads_are_the_readers(void **state)
{
    static const sample dirty = {
        {"\"outcome\":\"aborted\",\"ops\":[[\"w\",\"x\",1]]",
         "\"ops\":[[\"r\",\"x\",1]]"}};
    static const sample circle = {
        {"\"ops\":[[\"w\",\"x\",1],[\"r\",\"y\",1]]",
         "\"ops\":[[\"w\",\"y\",1],[\"r\",\"x\",1]]"}};
    static const sample twice = {
        {"\"ops\":[[\"r\",\"x\",null],[\"r\",\"x\",1]]",
         "\"ops\":[[\"w\",\"x\",1]]"}};

    (void)state;
    EXPECT(&dirty, {"SER RU", HF_VALID}, {"RU RC", HF_INVALID},
           {"RU SER", HF_INVALID});
    EXPECT(&circle, {"RC RC", HF_INVALID}, {"RC RU", HF_VALID},
           {"RU SER", HF_VALID}, {"RC SER", HF_INVALID});
    EXPECT(&twice, {"RC SER", HF_VALID}, {"SI RC", HF_INVALID},
           {"RR RU", HF_INVALID}, {"MAV RU", HF_VALID});
}

static void long_fork_is_the_readers(void **state)
{
    (void)state;
    EXPECT(&long_fork, {"RC RC SI SI", HF_INVALID},
           {"RU RU SER SI", HF_INVALID}, {"SER SER SI PSI", HF_VALID},
           {"RC RC PC SI", HF_INVALID}, {"RC RC CC SER", HF_VALID},
           {"SER SER RC SER", HF_VALID});
    EXPECT(&read_skew, {"RU SI", HF_INVALID}, {"SER RC", HF_VALID},
           {"RC PC", HF_INVALID}, {"RC CV", HF_INVALID}, {"RC RA", HF_INVALID},
           {"RC MAV", HF_INVALID}, {"RC ryw", HF_VALID});
}

static void sessions_are_the_followers(void **state)
{
    static const sample own = {{"\"session\":1,\"ops\":[[\"w\",\"x\",1]]",
                                "\"session\":1,\"ops\":[[\"r\",\"x\",null]]"}};
    static const sample through = {
        {"\"session\":1,\"ops\":[[\"w\",\"x\",1]]",
         "\"session\":1,\"ops\":[[\"w\",\"y\",1]]",
         "\"session\":2,\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",null]]"}};
    static const sample timed = {
        {"\"begin\":1,\"end\":2,\"ops\":[[\"w\",\"x\",1]]",
         "\"begin\":3,\"end\":4,\"ops\":[[\"r\",\"x\",null]]"}};

    (void)state;
    EXPECT(&own, {"SERr SER", HF_VALID}, {"RU SERs", HF_INVALID},
           {"RU SIs", HF_INVALID}, {"SERs SI", HF_VALID}, {"RC PC", HF_INVALID},
           {"RC ryw", HF_INVALID}, {"RC mr", HF_VALID});
    EXPECT(&through, {"RC SERs mw", HF_INVALID}, {"RC SER mw", HF_VALID},
           {"RC RC CC", HF_VALID}, {"RC ryw CC", HF_INVALID},
           {"RC RC SI", HF_VALID}, {"RC PC SI", HF_INVALID},
           {"RC SIs PSI", HF_INVALID}, {"RC SI PSI", HF_VALID});
    EXPECT(&timed, {"SERr SER", HF_VALID}, {"RU SERr", HF_INVALID},
           {"RU SIr", HF_INVALID}, {"SIr SERs", HF_VALID});
}

/* As PostgreSQL runs them: read committed, repeatable read (which is snapshot
 * isolation), serializable. */
static void databases_mix_three(void **state)
{
    static const sample three = {
        {"\"ops\":[[\"r\",\"x\",null],[\"w\",\"y\",1]]",
         "\"ops\":[[\"r\",\"y\",null],[\"w\",\"x\",1]]",
         "\"ops\":[[\"r\",\"x\",1],[\"r\",\"y\",null]]"}};

    (void)state;
    EXPECT(&three, {"SER SI RC", HF_VALID}, {"SER SI SI", HF_INVALID},
           {"RC SI SI", HF_VALID}, {"SER RC SER", HF_INVALID},
           {"SI SI SER", HF_VALID}, {"SER SER RC", HF_INVALID});
}

/* ---- witnesses ----------------------------------------------------------- */

#define MIXED_CYCLE(name, edges)                                               \
    "\"mixed\":true,\"kind\":\"cycle\",\"anomaly\":\"" name                    \
    "\",\"edges\":[" edges "]"
#define EVENTS(list) "\"mixed\":true,\"kind\":\"snapshot\",\"order\":[" list "]"
#define START(t) "[" #t ",\"start\"]"
#define COMMIT(t) "[" #t ",\"commit\"]"

typedef struct claim_case {
    const char *levels;
    answer expected;
} claim_case;

static void claims(const sample *s, const char *verdict, const char *rest,
                   const claim_case *c)
{
    for (; c->levels; c++) {
        hf_history *h = with_levels(s, c->levels);
        answer a = ask(h, "SER", verdict, rest);

        if (a != c->expected)
            fail_msg("%s, %s: %d", c->levels, rest, (int)a);
        hf_history_free(h);
    }
}

#define CLAIMS(s, verdict, rest, ...)                                          \
    claims(s, verdict, rest, (const claim_case[]){__VA_ARGS__, {NULL, BAD}})

static void cycles_are_walked_by_events(void **state)
{
    (void)state;
    CLAIMS(&skew, "invalid",
           MIXED_CYCLE("G2-item", EDGE("rw", 0, 1, "x", 0,
                                       3) "," EDGE("rw", 1, 0, "y", 2, 1)),
           {"SER SER", ACCEPTED}, {"RR SER", ACCEPTED}, {"SI SER", REFUSED},
           {"SER PC", REFUSED}, {"RC SER", REFUSED}, {"SI SI", REFUSED},
           {"CV SER", REFUSED}, {"- SER", ACCEPTED});
    CLAIMS(&read_skew, "invalid",
           MIXED_CYCLE("G-single-item", EDGE("wr", 0, 1, "x", 0, 2) "," EDGE(
                                            "rw", 1, 0, "y", 3, 1)),
           {"RU SI", ACCEPTED}, {"RC PC", ACCEPTED}, {"RC SER", ACCEPTED},
           {"RC RR", ACCEPTED}, {"RC CV", ACCEPTED}, {"RC RA", ACCEPTED},
           {"RC MAV", ACCEPTED}, {"RC CC", ACCEPTED}, {"RC RC", REFUSED},
           {"SER ryw", REFUSED}, {"SER RU", REFUSED});
    /* the version order is shown by the third: rw from the first */
    CLAIMS(&lost_second, "invalid",
           MIXED_CYCLE("G-single-item", EDGE("ww", 1, 0, "x", 3, 1) "," EDGE(
                                            "rw", 0, 1, "x", 0, 3)),
           {"SI RC RC", ACCEPTED}, {"PC RC RC", REFUSED},
           {"CV RC RC", ACCEPTED}, {"RC SI RC", REFUSED},
           {"SER RU RC", ACCEPTED}, {"CC RC RC", REFUSED});
}

static void cycles_follow_sessions_of_followers(void **state)
{
    static const sample through = {
        {"\"session\":1,\"ops\":[[\"w\",\"x\",1]]",
         "\"session\":1,\"ops\":[[\"w\",\"y\",1]]",
         "\"session\":2,\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",null]]"}};
    static const char rest[] = MIXED_CYCLE(
        "G-single-item-process",
        "{\"kind\":\"so\",\"from\":0,\"to\":1,\"key\":null,\"from_op\":null,"
        "\"to_op\":null}," EDGE("wr", 1, 2, "y", 1, 2) "," EDGE("rw", 2, 0, "x",
                                                                3, 0));

    (void)state;
    CLAIMS(&through, "invalid", rest, {"RC SERs mw", ACCEPTED},
           {"RC SER mw", REFUSED}, {"RC SERs ryw", REFUSED},
           {"RC PC SI", ACCEPTED}, {"RC RC SI", REFUSED},
           {"RC ryw CC", ACCEPTED}, {"RC SIs PSI", ACCEPTED},
           {"RC SI PSI", REFUSED}, {"SERs SERs RC", REFUSED});
}

static void starts_count_where_there_are_any(void **state)
{
    (void)state;
    CLAIMS(&skew, "valid",
           EVENTS(START(1) "," START(0) "," COMMIT(0) "," COMMIT(1)),
           {"SER SI", ACCEPTED}, {"SER PC", ACCEPTED}, {"SER RC", ACCEPTED},
           {"SER SER", REFUSED}, {"SI SI", ACCEPTED}, {"RC RR", REFUSED});
    CLAIMS(&skew, "valid",
           EVENTS(START(0) "," COMMIT(0) "," START(1) "," COMMIT(1)),
           {"SER SI", REFUSED}, {"SER PC", REFUSED}, {"SER RC", ACCEPTED},
           {"SER CC", ACCEPTED}, {"SI CV", ACCEPTED});
    CLAIMS(&lost, "valid",
           EVENTS(START(1) "," START(0) "," COMMIT(0) "," COMMIT(1)),
           {"SI RC", ACCEPTED}, {"RC SI", REFUSED}, {"RC PC", ACCEPTED},
           {"SER CV", REFUSED}, {"SER CC", ACCEPTED}, {"RU RU", ACCEPTED});
    CLAIMS(&skew, "valid", "\"mixed\":true,\"kind\":\"serial\",\"order\":[0,1]",
           {"SER RC", REFUSED}, {"RC RC", REFUSED});
    CLAIMS(&skew, "valid", EVENTS(START(0) "," COMMIT(0)), {"SER RC", REFUSED});
}

static void lost_updates_are_of_both(void **state)
{
    (void)state;
    CLAIMS(&lost, "invalid",
           "\"mixed\":true,\"kind\":\"operations\",\"anomaly\":"
           "\"lost update\",\"operations\":[0,1,2,3]",
           {"SI SI", ACCEPTED}, {"SER CV", ACCEPTED}, {"SI RC", REFUSED},
           {"RC SI", REFUSED}, {"PC SER", REFUSED});
    CLAIMS(&lost, "invalid",
           "\"mixed\":true,\"kind\":\"core\",\"transactions\":[0,1]",
           {"SI SI", ACCEPTED}, {"SI RC", REFUSED}, {"PC SI", REFUSED});
}

/* ---- recorded timestamps ------------------------------------------------- */

static const sample late_read = {
    {"\"start_ts\":1,\"commit_ts\":5,\"ops\":[[\"w\",\"x\",1]]",
     "\"start_ts\":6,\"commit_ts\":6,\"ops\":[[\"r\",\"x\",null]]"}};
static const sample early_read = {
    {"\"start_ts\":1,\"commit_ts\":5,\"ops\":[[\"w\",\"x\",1]]",
     "\"start_ts\":4,\"commit_ts\":6,\"ops\":[[\"r\",\"x\",1]]"}};
static const sample overlap = {
    {"\"start_ts\":1,\"commit_ts\":5,\"ops\":[[\"w\",\"x\",1]]",
     "\"start_ts\":3,\"commit_ts\":8,\"ops\":[[\"w\",\"x\",2]]"}};
static const sample together = {
    {"\"start_ts\":1,\"commit_ts\":5,\"ops\":[[\"w\",\"x\",1]]",
     "\"start_ts\":3,\"commit_ts\":5,\"ops\":[[\"w\",\"x\",2]]"}};

/* What a search says, which knows timestamps as the reference does not; its
 * witness must be accepted. */
static void expect_search(const sample *s, const expectation *e)
{
    hf_check_options options = {.mixed = true};

    for (; e->levels; e++) {
        hf_history *h = with_levels(s, e->levels);
        hf_verification said = {.accepted = false};
        hf_result *r = NULL;
        hf_claim claim;
        hf_error err;

        assert_int_equal(
            hf_engine_ask(NULL, h, HF_SERIALIZABLE, &options, NULL, &r, &err),
            HF_OK);
        if (r->verdict != e->verdict)
            fail_msg("%s: %s", e->levels, hf_verdict_name(r->verdict));
        claim = (hf_claim){r->verdict, r->level, r->witness};
        assert_int_equal(hf_verify_claim(h, &claim, NULL, &said, &err), HF_OK);
        if (!said.accepted)
            fail_msg("%s: %s", e->levels, said.reason);
        hf_result_free(r);
        hf_history_free(h);
    }
}

#define EXPECT_SEARCH(s, ...)                                                  \
    expect_search(s, (const expectation[]){__VA_ARGS__, {NULL, 0}})

static void timestamps_are_of_snapshots(void **state)
{
    (void)state;
    EXPECT_SEARCH(&late_read, {"SI SI", HF_INVALID}, {"RU SI", HF_INVALID},
                  {"SER SIs", HF_INVALID}, {"RC SIr", HF_INVALID},
                  {"SI SER", HF_VALID}, {"SI RC", HF_VALID},
                  {"SI SERr", HF_VALID}, {"SI PC", HF_VALID},
                  {"SI PSI", HF_VALID}, {"SI -", HF_VALID});
    EXPECT_SEARCH(&early_read, {"RC SI", HF_INVALID}, {"SI SER", HF_VALID});
    EXPECT_SEARCH(&overlap, {"RC SI", HF_INVALID}, {"SI SI", HF_INVALID},
                  {"SI RC", HF_VALID}, {"SI SER", HF_VALID});
    EXPECT_SEARCH(&together, {"RC SI", HF_INVALID}, {"SI RC", HF_INVALID},
                  {"SI SIr", HF_INVALID}, {"RC SER", HF_VALID});
}

#define STAMPED(name, ops)                                                     \
    "\"mixed\":true,\"rests\":[\"recorded-timestamps\"],\"kind\":"             \
    "\"operations\",\"anomaly\":\"" name "\",\"operations\":[" ops "]"

static void timestamps_are_the_readers_or_the_last_ones(void **state)
{
    (void)state;
    CLAIMS(&late_read, "invalid", STAMPED("read outside snapshot", "1,0"),
           {"RC SI", ACCEPTED}, {"SI RC", REFUSED}, {"SER SER", REFUSED},
           {"SI PC", REFUSED});
    CLAIMS(&late_read, "invalid",
           "\"mixed\":true,\"kind\":\"operations\",\"anomaly\":"
           "\"read outside snapshot\",\"operations\":[1,0]",
           {"RC SI", REFUSED});
    CLAIMS(&early_read, "invalid", STAMPED("read outside snapshot", "1,0"),
           {"RC SI", ACCEPTED}, {"SI SER", REFUSED});
    CLAIMS(&overlap, "invalid", STAMPED("concurrent write", "0,1"),
           {"RC SI", ACCEPTED}, {"SI SI", ACCEPTED}, {"SI RC", REFUSED});
    CLAIMS(&overlap, "invalid", STAMPED("concurrent write", "1,0"),
           {"SI RC", REFUSED}, {"RC SI", REFUSED});
    CLAIMS(&together, "invalid", STAMPED("concurrent write", "1,0"),
           {"SI RC", ACCEPTED}, {"RC SI", REFUSED});
}

/* A result and the witness in it must speak of the same. */
static void result_and_witness_agree(void **state)
{
    hf_history *h = with_levels(&skew, "SER RC");

    (void)state;
    assert_int_equal(
        ask(h, "SER", "valid",
            "\"mixed\":true,\"witness\":{\"mixed\":true,\"kind\":\"snapshot\","
            "\"order\":[" START(0) "," COMMIT(0) "," START(1) "," COMMIT(
                1) "]}"),
        ACCEPTED);
    assert_int_equal(ask(h, "SER", "valid",
                         "\"witness\":{\"mixed\":true,\"kind\":\"snapshot\","
                         "\"order\":[" START(0) "," COMMIT(0) "," START(
                             1) "," COMMIT(1) "]}"),
                     BAD);
    hf_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_skew_needs_two),
        cmocka_unit_test(lost_update_is_the_last_ones),
        cmocka_unit_test(dirty_reads_are_the_readers),
        cmocka_unit_test(long_fork_is_the_readers),
        cmocka_unit_test(sessions_are_the_followers),
        cmocka_unit_test(databases_mix_three),
        cmocka_unit_test(cycles_are_walked_by_events),
        cmocka_unit_test(cycles_follow_sessions_of_followers),
        cmocka_unit_test(starts_count_where_there_are_any),
        cmocka_unit_test(lost_updates_are_of_both),
        cmocka_unit_test(timestamps_are_of_snapshots),
        cmocka_unit_test(timestamps_are_the_readers_or_the_last_ones),
        cmocka_unit_test(result_and_witness_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
