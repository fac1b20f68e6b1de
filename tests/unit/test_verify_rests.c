/* What a verdict may rest on: assumptions about version orders, recorded
 * orders and timestamps.  Each is accepted where it says so and refused where
 * it does not. */
#include "verify_ask.h"

#define RESTS(names, rest) "\"rests\":[" names "]," rest
#define LIN "\"per-key-linearizable\""
#define SEQ "\"per-key-sequential\""
#define READS "\"writes-follow-reads\""
#define ORDER "\"recorded-order\""
#define STAMPS "\"recorded-timestamps\""
#define OPS(name, list)                                                        \
    "\"kind\":\"operations\",\"anomaly\":\"" name "\",\"operations\":[" list "]"
#define CIRCLE(list) OPS("cyclic versions", list)
#define SNAPSHOTS " SI SIs SIr "

/* The witness proves the verdict at these levels, and nowhere without the
 * names it rests on. */
static void rests_at(const hf_history *h, const char *names, const char *rest,
                     const char *accepted)
{
    char text[1024];

    snprintf(text, sizeof(text), "\"rests\":[%s],%s", names, rest);
    invalid_at(h, text, accepted);
}

/* ---- the claim ----------------------------------------------------------- */

static void names_are_read(void **state)
{
    static const struct {
        const char *names;
        unsigned rests;
        hf_status status;
    } rows[] = {
        {"[]", 0, HF_OK},
        {"[" LIN "]", HF_REST_LINEARIZABLE, HF_OK},
        {"[" SEQ "," READS "]", HF_REST_SEQUENTIAL | HF_REST_READS, HF_OK},
        {"[" STAMPS "," ORDER "]", HF_REST_TIMESTAMPS | HF_REST_ORDER, HF_OK},
        {"[\"per-key-lucky\"]", 0, HF_ERR_INPUT},
        {"[" LIN ",\"\"]", 0, HF_ERR_INPUT},
        {"[1]", 0, HF_ERR_INPUT},
        {LIN, 0, HF_ERR_INPUT},
        {"[[" LIN "]]", 0, HF_ERR_INPUT},
    };
    hf_history *h = history("{\"ops\":[[\"w\",\"x\",1]]}\n");

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[512];
        hf_claim claim = {.verdict = HF_UNKNOWN};
        hf_error err = {.text = ""};
        hf_arena arena;

        snprintf(text, sizeof(text),
                 "{\"verdict\":\"valid\",\"level\":\"SER\",\"witness\":{"
                 "\"kind\":\"serial\",\"rests\":%s,\"order\":[0]}}",
                 rows[i].names);
        hf_arena_init(&arena);
        assert_int_equal(
            hf_claim_read(h, text, strlen(text), &arena, &claim, &err),
            rows[i].status);
        if (rows[i].status == HF_OK)
            assert_int_equal(claim.witness.rests, rows[i].rests);
        else
            assert_true(err.text[0] != '\0');
        hf_arena_release(&arena);
    }
    hf_history_free(h);
}

static void unknown_bits_are_refused(void **state)
{
    hf_history *h = history("{\"ops\":[[\"w\",\"x\",1]]}\n");
    uint32_t order[] = {0};
    hf_verification v;
    hf_error err;
    hf_claim claim = {HF_VALID,
                      HF_SERIALIZABLE,
                      {.kind = HF_WITNESS_SERIAL,
                       .rests = 1u << HF_REST_COUNT,
                       .order = order,
                       .n_order = 1}};

    (void)state;
    assert_int_equal(hf_verify_claim(h, &claim, NULL, &v, &err), HF_OK);
    assert_false(v.accepted);
    claim.witness.rests = HF_REST_ASSUMABLE | HF_REST_ORDER;
    assert_int_equal(hf_verify_claim(h, &claim, NULL, &v, &err), HF_OK);
    assert_true(v.accepted);
    hf_history_free(h);
}

/* ---- edges --------------------------------------------------------------- */

/* T1 and T2 write x and y; who touches what when decides the order. */
#define BOTH_WAYS                                                              \
    CYCLE("G0", EDGE("ww", 0, 1, "x", 0, 2) "," EDGE("ww", 1, 0, "y", 3, 1))

static void linearizable_orders_versions(void **state)
{
    /* x: T1 ended before T2 began.  y: T3 read T2's before T4 read T1's */
    const char *form =
        "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]],\"begin\":1,\"end\":4%s}\n"
        "{\"ops\":[[\"w\",\"x\",2],[\"w\",\"y\",2]],\"begin\":5,\"end\":30}\n"
        "{\"ops\":[[\"r\",\"y\",2]],\"begin\":10,\"end\":11%s}\n"
        "{\"ops\":[[\"r\",\"y\",1]],\"begin\":%d,\"end\":20}\n";
    char text[512];
    hf_history *h;

    (void)state;
    snprintf(text, sizeof(text), form, "", "", 12);
    h = history(text);
    rests_at(h, LIN, BOTH_WAYS, ALL);
    rests_at(h, SEQ "," READS "," ORDER "," STAMPS, BOTH_WAYS, "");
    invalid_at(h, BOTH_WAYS, "");
    hf_history_free(h);
    /* the readers overlap */
    snprintf(text, sizeof(text), form, "", "", 11);
    h = history(text);
    rests_at(h, LIN, BOTH_WAYS, "");
    hf_history_free(h);
    /* the earlier reader may not have happened, or later than it looks */
    snprintf(text, sizeof(text), form, "", ",\"outcome\":\"unknown\"", 12);
    h = history(text);
    rests_at(h, LIN, BOTH_WAYS, "");
    hf_history_free(h);
    /* T1 happened where T4 counts, but its effect may have come later; its
     * version was touched by nobody else before T2 */
    snprintf(text, sizeof(text), form, ",\"outcome\":\"unknown\"", "", 12);
    h = history(text);
    rests_at(h, LIN, BOTH_WAYS, "");
    hf_history_free(h);
}

static void sequential_orders_versions(void **state)
{
    /* session 7 reads x: T1's then T2's; session 8 reads y the other way */
    const char *form =
        "{\"session\":1,\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
        "{\"session\":2,\"ops\":[[\"w\",\"x\",2],[\"w\",\"y\",2]]}\n"
        "{\"session\":7,\"ops\":[[\"r\",\"x\",1]]}\n"
        "{\"session\":7,\"ops\":[[\"r\",\"x\",2]]}\n"
        "{\"session\":8,\"ops\":[[\"r\",\"y\",2]]%s}\n"
        "{\"session\":%d,\"ops\":[%s[\"r\",\"y\",1]]}\n";
    char text[512];
    hf_history *h;

    (void)state;
    snprintf(text, sizeof(text), form, "", 8, "");
    h = history(text);
    rests_at(h, SEQ, BOTH_WAYS, ALL);
    rests_at(h, LIN "," READS "," ORDER "," STAMPS, BOTH_WAYS, "");
    hf_history_free(h);
    snprintf(text, sizeof(text), form, "", 9, "");
    h = history(text);
    rests_at(h, SEQ, BOTH_WAYS, "");
    hf_history_free(h);
    snprintf(text, sizeof(text), form, ",\"outcome\":\"aborted\"", 8, "");
    h = history(text);
    rests_at(h, SEQ, BOTH_WAYS, "");
    hf_history_free(h);
    snprintf(text, sizeof(text), form, ",\"outcome\":\"unknown\"", 8, "");
    h = history(text);
    rests_at(h, SEQ, BOTH_WAYS, "");
    hf_history_free(h);
    /* a read of the own write touches nobody else's version */
    snprintf(text, sizeof(text), form, "", 8, "[\"w\",\"y\",3],");
    h = history(text);
    rests_at(h, SEQ, BOTH_WAYS, "");
    hf_history_free(h);
}

static void reads_order_versions_at_read_uncommitted(void **state)
{
    /* each reads the other's version and replaces it, of another key */
    hf_history *h = history("{\"ops\":[[\"r\",\"y\",2],[\"w\",\"x\",1],"
                            "[\"w\",\"y\",1]]}\n"
                            "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2],"
                            "[\"w\",\"y\",2]]}\n");
    /* the reads come after own writes */
    hf_history *own = history("{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1],"
                              "[\"r\",\"y\",2]]}\n"
                              "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2],"
                              "[\"w\",\"y\",2]]}\n");
    /* reads an intermediate version */
    hf_history *dirty = history("{\"ops\":[[\"r\",\"y\",2],[\"w\",\"x\",1],"
                                "[\"w\",\"y\",1],[\"w\",\"x\",3]]}\n"
                                "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2],"
                                "[\"w\",\"y\",2]]}\n");
    const char *cycle = CYCLE(
        "G0", EDGE("ww", 0, 1, "x", 1, 4) "," EDGE("ww", 1, 0, "y", 5, 2));

    (void)state;
    invalid_at(h, cycle, FROM_RC);
    rests_at(h, READS, cycle, ALL);
    rests_at(h, LIN "," SEQ "," ORDER, cycle, FROM_RC);
    assert_int_equal(
        ask_invalid(
            own, "RU",
            RESTS(READS, CYCLE("G0", EDGE("ww", 0, 1, "x", 0,
                                          4) "," EDGE("ww", 1, 0, "y", 5, 1)))),
        REFUSED);
    assert_int_equal(
        ask_invalid(
            dirty, "RU",
            RESTS(READS, CYCLE("G0", EDGE("ww", 0, 1, "x", 3,
                                          5) "," EDGE("ww", 1, 0, "y", 6, 2)))),
        REFUSED);
    hf_history_free(h);
    hf_history_free(own);
    hf_history_free(dirty);
}

static void recorded_order_orders_versions(void **state)
{
    static const char *const ops =
        "{\"id\":1,\"ops\":[[\"w\",\"x\",1],[\"r\",\"y\",null]]%s}\n"
        "{\"id\":2,\"ops\":[[\"w\",\"x\",2],[\"w\",\"y\",2]]%s}\n"
        "{\"id\":3,\"ops\":[[\"w\",\"y\",3]]}\n%s";
    /* T1 missed T2's y, and T2's x is older */
    const char *cycle =
        CYCLE("G-single-item",
              EDGE("rw", 0, 1, "y", 1, 3) "," EDGE("ww", 1, 0, "x", 2, 0));
    const char *levels = " CV RR PSI PSIs SI SIs SIr SER SERs SERr ";
    static const struct {
        const char *first, *second, *more;
        bool accepted;
    } rows[] = {
        {"", "", "{\"serial\":[2,3,1]}\n", true},
        {"", "", "{\"serial\":[1,3,2]}\n", false},
        {"", "", "{\"serial\":[2,3]}\n", false},
        {"", "", "", false},
        /* an order of other keys does not matter, of this one it does */
        {"", "", "{\"serial\":[2,1]}\n{\"order\":[\"y\",[2,3]]}\n", true},
        {"", "", "{\"serial\":[2,1]}\n{\"order\":[\"x\",[1]]}\n", false},
        {",\"start_ts\":1,\"commit_ts\":6", ",\"start_ts\":1,\"commit_ts\":5",
         "", true},
        {",\"start_ts\":1,\"commit_ts\":5", ",\"start_ts\":1,\"commit_ts\":5",
         "", false},
        {",\"start_ts\":1,\"commit_ts\":5", ",\"start_ts\":1,\"commit_ts\":6",
         "", false},
        {",\"start_ts\":1,\"commit_ts\":6", "", "", false},
        /* the serial order is asked first */
        {",\"start_ts\":1,\"commit_ts\":6", ",\"start_ts\":1,\"commit_ts\":5",
         "{\"serial\":[1,2]}\n", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[512];
        hf_history *h;

        snprintf(text, sizeof(text), ops, rows[i].first, rows[i].second,
                 rows[i].more);
        h = history(text);
        rests_at(h, ORDER, cycle, rows[i].accepted ? levels : "");
        rests_at(h, LIN "," SEQ "," READS "," STAMPS, cycle, "");
        hf_history_free(h);
    }
}

/* ---- cyclic versions ----------------------------------------------------- */

static void stale_initial_reads_are_cyclic(void **state)
{
    /* T2 began after T1 ended, in its session, and reads the initial x */
    hf_history *h = history(
        "{\"session\":1,\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2}\n"
        "{\"session\":1,\"ops\":[[\"r\",\"x\",null]],\"begin\":3,\"end\":4}\n"
        "{\"session\":2,\"ops\":[[\"r\",\"x\",null]],\"begin\":2,\"end\":4}\n"
        "{\"session\":2,\"ops\":[[\"r\",\"x\",1]],\"begin\":5,\"end\":6}\n");

    (void)state;
    rests_at(h, LIN, CIRCLE("0,1"), ALL);
    rests_at(h, SEQ, CIRCLE("0,1"), ALL);
    rests_at(h, READS "," ORDER "," STAMPS, CIRCLE("0,1"), "");
    invalid_at(h, CIRCLE("0,1"), "");
    rests_at(h, LIN "," SEQ, CIRCLE("1,0"), "");
    rests_at(h, LIN "," SEQ, CIRCLE("0,2"), ""); /* overlap */
    rests_at(h, LIN "," SEQ, CIRCLE("2,3"), ""); /* no circle */
    rests_at(h, LIN "," SEQ, CIRCLE("0,3"), ""); /* one version */
    rests_at(h, LIN "," SEQ, CIRCLE("0,1,0"), "");
    rests_at(h, LIN "," SEQ, CIRCLE("0"), "");
    rests_at(h, LIN "," SEQ, CIRCLE(""), "");
    hf_history_free(h);
}

static void circles_go_through_several_versions(void **state)
{
    hf_history *h = history(
        "{\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":30}\n"
        "{\"ops\":[[\"w\",\"x\",2]],\"begin\":1,\"end\":30}\n"
        "{\"session\":7,\"ops\":[[\"r\",\"x\",1]],\"begin\":21,\"end\":22}\n"
        "{\"session\":7,\"ops\":[[\"r\",\"x\",2]],\"begin\":21,\"end\":22}\n"
        "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"z\",5]],\"begin\":23,\"end\":24}\n"
        "{\"ops\":[[\"w\",\"x\",3]],\"begin\":1,\"end\":30}\n");

    (void)state;
    /* session 7 saw 1, 2; then, later, 1 was read again */
    rests_at(h, LIN "," SEQ, CIRCLE("2,3,3,4"), ALL);
    rests_at(h, LIN "," SEQ, CIRCLE("3,4,2,3"), ALL);
    rests_at(h, SEQ, CIRCLE("2,3,3,4"), "");
    rests_at(h, LIN, CIRCLE("2,3,3,4"), "");
    /* the versions must meet: T2's write is of the same one as the read */
    rests_at(h, LIN "," SEQ, CIRCLE("2,3,1,4"), ALL);
    rests_at(h, LIN "," SEQ, CIRCLE("2,3,6,4"), "");
    rests_at(h, LIN "," SEQ, CIRCLE("2,3"), "");
    rests_at(h, LIN "," SEQ, CIRCLE("2,3,3,5"), ""); /* another key */
    hf_history_free(h);
}

static void reads_make_circles(void **state)
{
    hf_history *h = history("{\"ops\":[[\"r\",\"x\",2],[\"w\",\"x\",1]]}\n"
                            "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2]]}\n");
    hf_history *inc =
        history("{\"ops\":[{\"op\":\"inc\",\"key\":\"x\",\"by\":1,"
                "\"before\":1,\"after\":2}]}\n"
                "{\"ops\":[{\"op\":\"inc\",\"key\":\"x\",\"by\":-1,"
                "\"before\":2,\"after\":1}]}\n");
    hf_history *unsure = history("{\"ops\":[[\"r\",\"x\",2],[\"w\",\"x\",1]]}\n"
                                 "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2]],"
                                 "\"outcome\":\"unknown\"}\n");
    hf_history *later =
        history("{\"ops\":[[\"r\",\"x\",2],[\"w\",\"x\",1],"
                "[\"w\",\"x\",3]]}\n"
                "{\"ops\":[[\"r\",\"x\",3],[\"w\",\"x\",2]]}\n");

    (void)state;
    rests_at(h, READS, CIRCLE("0,1,2,3"), ALL);
    rests_at(h, READS, CIRCLE("1,0,3,2"), "");
    rests_at(h, READS, CIRCLE("0,1,0,1"), "");
    rests_at(h, LIN "," SEQ "," ORDER, CIRCLE("0,1,2,3"), "");
    rests_at(inc, READS, CIRCLE("0,0,1,1"), ALL);
    rests_at(inc, READS, CIRCLE("0,1,1,0"), "");
    /* where dirty reads are allowed T2 need not have happened */
    rests_at(unsure, READS, CIRCLE("0,1,2,3"), FROM_RC);
    /* its last write counts */
    rests_at(later, READS, CIRCLE("0,2,3,4"), ALL);
    rests_at(later, READS, CIRCLE("0,1,3,4"), "");
    hf_history_free(h);
    hf_history_free(inc);
    hf_history_free(unsure);
    hf_history_free(later);
}

static void assumptions_against_what_is_certain(void **state)
{
    /* the certificate, a list, the recorded order say the reverse */
    hf_history *cert =
        history("{\"id\":1,\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2}\n"
                "{\"id\":2,\"ops\":[[\"w\",\"x\",2]],\"begin\":3,\"end\":4}\n"
                "{\"order\":[\"x\",[2,1]]}\n");
    hf_history *list =
        history("{\"ops\":[[\"append\",\"x\",1]],\"begin\":1,\"end\":2}\n"
                "{\"ops\":[[\"append\",\"x\",2]],\"begin\":3,\"end\":4}\n"
                "{\"ops\":[[\"r\",\"x\",[2,1]]],\"begin\":1,\"end\":9}\n");
    hf_history *serial =
        history("{\"id\":1,\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2}\n"
                "{\"id\":2,\"ops\":[[\"w\",\"x\",2]],\"begin\":3,\"end\":4}\n"
                "{\"serial\":[2,1]}\n");
    hf_history *recorded = history(
        "{\"id\":1,\"ops\":[[\"append\",\"x\",1]],\"begin\":1,\"end\":2}\n"
        "{\"id\":2,\"ops\":[[\"append\",\"x\",2]],\"begin\":3,\"end\":4}\n"
        "{\"serial\":[2,1]}\n");

    (void)state;
    rests_at(cert, LIN, CIRCLE("0,1,1,0"), ALL);
    rests_at(cert, SEQ, CIRCLE("0,1,1,0"), "");
    rests_at(list, LIN, CIRCLE("0,1,1,0"), ALL);
    rests_at(list, LIN, CIRCLE("1,0,0,1"), ALL);
    rests_at(serial, LIN "," ORDER, CIRCLE("0,1,1,0"), ALL);
    rests_at(serial, LIN, CIRCLE("0,1,1,0"), "");
    rests_at(serial, ORDER, CIRCLE("0,1,1,0"), " SIr SERr ");
    /* lists have their own order */
    rests_at(recorded, LIN "," ORDER, CIRCLE("0,1,1,0"), "");
    hf_history_free(cert);
    hf_history_free(list);
    hf_history_free(serial);
    hf_history_free(recorded);
}

static void returned_rows_are_touched(void **state)
{
    /* session 7 looks at x = 1 through a condition, then reads no x */
    const char *form =
        "{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n"
        "{\"session\":7,\"ops\":[{\"op\":\"pr\",\"where\":\"%s\","
        "\"versions\":[[\"x\",1]],\"rows\":[%s]}]}\n"
        "{\"session\":7,\"ops\":[[\"r\",\"x\",null]]}\n";
    const char *order = "\"kind\":\"commit\",\"order\":[0,1,2]";
    char text[512], with[128];
    hf_history *returned, *looked;

    (void)state;
    snprintf(text, sizeof(text), form, "value < 5", "[\"x\",1]");
    returned = history(text);
    snprintf(text, sizeof(text), form, "value > 5", "");
    looked = history(text);
    snprintf(with, sizeof(with), "\"rests\":[" SEQ "],%s", order);
    rests_at(returned, SEQ, CIRCLE("1,2"), ALL);
    rests_at(looked, SEQ, CIRCLE("1,2"), "");
    assert_int_equal(ask_valid(returned, "RC", order), ACCEPTED);
    assert_int_equal(ask_valid(returned, "RC", with), REFUSED);
    assert_int_equal(ask_valid(looked, "RC", with), ACCEPTED);
    assert_int_equal(ask_valid(looked, "RU", with), ACCEPTED);
    assert_int_equal(ask_valid(returned, "RU", with), REFUSED);
    hf_history_free(returned);
    hf_history_free(looked);
}

/* ---- valid orders -------------------------------------------------------- */

#define COMMIT(order) "\"kind\":\"commit\",\"order\":[" order "]"

/* Asks every commit level, with and without the assumption. */
static void order_needs(const hf_history *h, const char *names,
                        const char *order, bool kept)
{
    char text[512];

    snprintf(text, sizeof(text), "\"rests\":[%s],\"kind\":\"commit\",%s", names,
             order);
    commit_refused_at(h, text, kept ? "" : ALL);
}

static void valid_orders_keep_time(void **state)
{
    hf_history *h = history(
        "{\"session\":1,\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2}\n"
        "{\"session\":2,\"ops\":[[\"w\",\"x\",2]],\"begin\":3,\"end\":4}\n"
        "{\"session\":3,\"ops\":[[\"w\",\"z\",1]],\"begin\":5,\"end\":6}\n");
    hf_history *stale = history(
        "{\"session\":1,\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2}\n"
        "{\"session\":2,\"ops\":[[\"r\",\"x\",null]],\"begin\":3,\"end\":4}\n");
    hf_history *unsure = history(
        "{\"session\":1,\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2,"
        "\"outcome\":\"unknown\"}\n"
        "{\"session\":2,\"ops\":[[\"w\",\"x\",2]],\"begin\":3,\"end\":4}\n");
    /* touched late: 2 was read before 1 was read */
    hf_history *read = history(
        "{\"session\":1,\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":9}\n"
        "{\"session\":2,\"ops\":[[\"w\",\"x\",2]],\"begin\":1,\"end\":9}\n"
        "{\"session\":3,\"ops\":[[\"r\",\"x\",2]],\"begin\":1,\"end\":2}\n"
        "{\"session\":4,\"ops\":[[\"r\",\"x\",1]],\"begin\":3,\"end\":4}\n");

    (void)state;
    order_needs(h, LIN, "\"order\":[0,1,2]", true);
    order_needs(h, LIN, "\"order\":[2,0,1]", true); /* other keys are free */
    order_needs(h, LIN, "\"order\":[1,0,2]", false);
    order_needs(h, SEQ "," READS, "\"order\":[1,0,2]", true);
    order_needs(stale, LIN, "\"order\":[1,0]", false);
    order_needs(stale, "", "\"order\":[1,0]", true);
    order_needs(unsure, LIN, "\"order\":[1,0]", true);
    order_needs(read, LIN, "\"order\":[1,2,0,3]", true);
    order_needs(read, LIN, "\"order\":[0,3,1,2]", false);
    assert_int_equal(
        ask_valid(stale, "SER",
                  RESTS(LIN, "\"kind\":\"serial\",\"order\":[1,0]")),
        REFUSED);
    assert_int_equal(
        ask_valid(stale, "SI",
                  RESTS(LIN, "\"kind\":\"snapshot\",\"order\":[[1,\"start\"],"
                             "[1,\"commit\"],[0,\"start\"],[0,\"commit\"]]")),
        REFUSED);
    hf_history_free(h);
    hf_history_free(stale);
    hf_history_free(unsure);
    hf_history_free(read);
}

static void valid_orders_keep_sessions(void **state)
{
    /* levels without session order: RU RC MAV CV PSI */
    hf_history *h = history("{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n"
                            "{\"session\":1,\"ops\":[[\"w\",\"x\",2]]}\n");
    hf_history *back =
        history("{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n"
                "{\"session\":2,\"ops\":[[\"r\",\"x\",1]]}\n"
                "{\"session\":2,\"ops\":[[\"r\",\"x\",null]]}\n");
    hf_history *list =
        history("{\"session\":1,\"ops\":[[\"append\",\"x\",1]]}\n"
                "{\"session\":2,\"ops\":[[\"r\",\"x\",[1]]]}\n"
                "{\"session\":2,\"ops\":[[\"r\",\"x\",[]]]}\n");
    static const char *const free_levels[] = {"RU", "RC", "MAV", "CV", "PSI"};

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        const char *level = free_levels[i];

        assert_int_equal(ask_valid(h, level, COMMIT("1,0")), ACCEPTED);
        assert_int_equal(ask_valid(h, level, RESTS(SEQ, COMMIT("1,0"))),
                         REFUSED);
        assert_int_equal(ask_valid(h, level, RESTS(SEQ, COMMIT("0,1"))),
                         ACCEPTED);
        assert_int_equal(
            ask_valid(h, level, RESTS(LIN "," READS, COMMIT("1,0"))), ACCEPTED);
        assert_int_equal(ask_valid(back, level, COMMIT("0,1,2")), ACCEPTED);
        assert_int_equal(ask_valid(back, level, RESTS(SEQ, COMMIT("0,1,2"))),
                         REFUSED);
        assert_int_equal(ask_valid(list, level, COMMIT("0,1,2")), ACCEPTED);
        assert_int_equal(ask_valid(list, level, RESTS(SEQ, COMMIT("0,1,2"))),
                         REFUSED);
    }
    hf_history_free(h);
    hf_history_free(back);
    hf_history_free(list);
}

static void valid_orders_keep_reads(void **state)
{
    hf_history *h = history("{\"ops\":[[\"w\",\"x\",1]]}\n"
                            "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2]]}\n");
    hf_history *two = history("{\"ops\":[[\"w\",\"x\",1]]}\n"
                              "{\"ops\":[[\"w\",\"x\",1]]}\n"
                              "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2]]}\n");
    hf_history *twice =
        history("{\"ops\":[[\"w\",\"x\",1],[\"w\",\"x\",1]]}\n"
                "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2]]}\n");

    (void)state;
    assert_int_equal(ask_valid(h, "RU", COMMIT("1,0")), ACCEPTED);
    assert_int_equal(ask_valid(h, "RU", RESTS(READS, COMMIT("1,0"))), REFUSED);
    assert_int_equal(ask_valid(h, "RU", RESTS(READS, COMMIT("0,1"))), ACCEPTED);
    /* which of two it read nobody knows there: it touches neither */
    assert_int_equal(ask_valid(two, "RU", COMMIT("0,2,1")), ACCEPTED);
    assert_int_equal(ask_valid(two, "RU", RESTS(READS, COMMIT("0,2,1"))),
                     ACCEPTED);
    assert_int_equal(
        ask_valid(two, "RU",
                  RESTS(READS, COMMIT("0,2,1") ",\"sources\":[[2,0,1]]")),
        ACCEPTED);
    /* one who wrote it twice, and last, is one */
    assert_int_equal(ask_valid(twice, "RU", RESTS(READS, COMMIT("1,0"))),
                     REFUSED);
    assert_int_equal(ask_valid(twice, "RU", RESTS(READS, COMMIT("0,1"))),
                     ACCEPTED);
    hf_history_free(twice);
    hf_history_free(h);
    hf_history_free(two);
}

static void valid_orders_keep_the_recorded_order(void **state)
{
    hf_history *serial = history("{\"id\":1,\"ops\":[[\"w\",\"x\",1]]}\n"
                                 "{\"id\":2,\"ops\":[[\"w\",\"x\",2]]}\n"
                                 "{\"id\":3,\"ops\":[[\"w\",\"x\",3]]}\n"
                                 "{\"serial\":[2,1]}\n");
    hf_history *stamps = history(
        "{\"id\":1,\"ops\":[[\"w\",\"x\",1]],\"start_ts\":1,\"commit_ts\":9}\n"
        "{\"id\":2,\"ops\":[[\"w\",\"x\",2]],\"start_ts\":1,\"commit_ts\":8}\n"
        "{\"id\":3,\"ops\":[[\"w\",\"x\",3]],\"start_ts\":1,"
        "\"commit_ts\":9}\n");
    hf_history *cert = history("{\"id\":1,\"ops\":[[\"w\",\"x\",1]]}\n"
                               "{\"id\":2,\"ops\":[[\"w\",\"x\",2]]}\n"
                               "{\"id\":3,\"ops\":[[\"w\",\"x\",3]]}\n"
                               "{\"serial\":[2,1]}\n"
                               "{\"order\":[\"x\",[1,2]]}\n");

    (void)state;
    order_needs(serial, ORDER, "\"order\":[1,0,2]", true);
    order_needs(serial, ORDER, "\"order\":[2,1,0]", true);
    order_needs(serial, ORDER, "\"order\":[0,2,1]", false);
    order_needs(serial, LIN "," SEQ "," READS, "\"order\":[0,2,1]", true);
    order_needs(stamps, ORDER, "\"order\":[1,0,2]", true);
    order_needs(stamps, ORDER, "\"order\":[1,2,0]", true);
    order_needs(stamps, ORDER, "\"order\":[0,2,1]", false);
    order_needs(cert, ORDER, "\"order\":[0,2,1]", true);
    hf_history_free(serial);
    hf_history_free(stamps);
    hf_history_free(cert);
}

/* ---- timestamps ---------------------------------------------------------- */

#define EVENTS(list) "\"kind\":\"snapshot\",\"order\":[" list "]"
#define S(t) "[" #t ",\"start\"]"
#define C(t) "[" #t ",\"commit\"]"

static void events_keep_the_timestamps(void **state)
{
    hf_history *h =
        history("{\"ops\":[[\"w\",\"x\",1]],\"start_ts\":1,\"commit_ts\":5}\n"
                "{\"ops\":[[\"r\",\"x\",1]],\"start_ts\":5,\"commit_ts\":5}\n"
                "{\"ops\":[[\"w\",\"y\",1]],\"start_ts\":2,\"commit_ts\":3}\n");
    hf_history *early = history(
        "{\"ops\":[[\"w\",\"x\",1]],\"start_ts\":1,\"commit_ts\":5}\n"
        "{\"ops\":[[\"r\",\"x\",null]],\"start_ts\":5,\"commit_ts\":5}\n");
    hf_history *none = history("{\"ops\":[[\"w\",\"x\",1]],\"start_ts\":1}\n");
    hf_history *same =
        history("{\"ops\":[[\"w\",\"x\",1]],\"start_ts\":4,\"commit_ts\":4}\n");
    hf_history *reverse = history(
        "{\"ops\":[[\"r\",\"x\",null]],\"start_ts\":4,\"commit_ts\":3}\n");
    const char *good =
        EVENTS(S(0) "," S(2) "," C(2) "," C(0) "," S(1) "," C(1));
    const char *bad = EVENTS(S(0) "," C(0) "," S(1) "," C(1) "," S(2) "," C(2));
    const char *misses = EVENTS(S(0) "," S(1) "," C(1) "," C(0));
    char text[512];

    (void)state;
    snprintf(text, sizeof(text), "\"rests\":[" STAMPS "],%s", good);
    assert_int_equal(ask_valid(h, "SI", text), ACCEPTED);
    assert_int_equal(ask_valid(h, "SIr", text), ACCEPTED);
    assert_int_equal(ask_valid(h, "SER", text), REFUSED);
    snprintf(text, sizeof(text), "\"rests\":[" STAMPS "],%s", bad);
    assert_int_equal(ask_valid(h, "SI", bad), ACCEPTED);
    assert_int_equal(ask_valid(h, "SI", text), REFUSED);
    /* a commit at the time of a start is in its snapshot */
    snprintf(text, sizeof(text), "\"rests\":[" STAMPS "],%s", misses);
    assert_int_equal(ask_valid(early, "SI", misses), ACCEPTED);
    assert_int_equal(ask_valid(early, "SI", text), REFUSED);
    assert_int_equal(
        ask_valid(none, "SI", RESTS(STAMPS, EVENTS(S(0) "," C(0)))), REFUSED);
    assert_int_equal(
        ask_valid(same, "SI", RESTS(STAMPS, EVENTS(S(0) "," C(0)))), REFUSED);
    assert_int_equal(
        ask_valid(reverse, "SI", RESTS(STAMPS, EVENTS(S(0) "," C(0)))),
        REFUSED);
    /* only events can be compared */
    assert_int_equal(
        ask_valid(h, "SI", "\"kind\":\"serial\",\"order\":[2,0,1]"), ACCEPTED);
    assert_int_equal(
        ask_valid(h, "SI",
                  RESTS(STAMPS, "\"kind\":\"serial\",\"order\":[2,0,1]")),
        REFUSED);
    hf_history_free(h);
    hf_history_free(early);
    hf_history_free(none);
    hf_history_free(same);
    hf_history_free(reverse);
}

static void reads_outside_the_snapshot(void **state)
{
    hf_history *h = history(
        "{\"ops\":[[\"w\",\"x\",1]],\"start_ts\":1,\"commit_ts\":2}\n"
        "{\"ops\":[[\"w\",\"x\",2]],\"start_ts\":3,\"commit_ts\":4}\n"
        "{\"ops\":[[\"r\",\"x\",1]],\"start_ts\":5,\"commit_ts\":6}\n"
        "{\"ops\":[[\"r\",\"x\",2]],\"start_ts\":3,\"commit_ts\":6}\n"
        "{\"ops\":[[\"r\",\"x\",2]],\"start_ts\":4,\"commit_ts\":6}\n"
        "{\"ops\":[[\"r\",\"x\",null]],\"start_ts\":2,\"commit_ts\":2}\n"
        "{\"ops\":[[\"r\",\"x\",1],[\"r\",\"z\",null]],\"start_ts\":3,"
        "\"commit_ts\":6}\n"
        "{\"ops\":[[\"w\",\"x\",7],[\"w\",\"z\",7]],\"start_ts\":1,"
        "\"commit_ts\":2,\"outcome\":\"unknown\"}\n"
        "{\"ops\":[[\"r\",\"x\",1]],\"commit_ts\":6}\n"
        "{\"ops\":[[\"w\",\"x\",5],[\"r\",\"x\",1]],\"start_ts\":9,"
        "\"commit_ts\":11}\n");

    (void)state;
    rests_at(h, STAMPS, OPS("read outside snapshot", "2,1"), SNAPSHOTS);
    rests_at(h, STAMPS, OPS("read outside snapshot", "3,1"), SNAPSHOTS);
    rests_at(h, STAMPS, OPS("read outside snapshot", "5,0"), SNAPSHOTS);
    rests_at(h, LIN "," SEQ "," READS "," ORDER,
             OPS("read outside snapshot", "2,1"), "");
    /* in its snapshot: seen at 4; 1 is older than 2; 2 commits later */
    rests_at(h, STAMPS, OPS("read outside snapshot", "4,1"), "");
    rests_at(h, STAMPS, OPS("read outside snapshot", "4,0"), "");
    rests_at(h, STAMPS, OPS("read outside snapshot", "6,1"), "");
    rests_at(h, STAMPS, OPS("read outside snapshot", "2,0"), "");
    /* not two operations of one key, in this order */
    rests_at(h, STAMPS, OPS("read outside snapshot", "1,2"), "");
    rests_at(h, STAMPS, OPS("read outside snapshot", "2"), "");
    rests_at(h, STAMPS, OPS("read outside snapshot", "7,1"), "");
    /* one that may not have happened; an unknown start; an own write */
    rests_at(h, STAMPS, OPS("read outside snapshot", "7,9"), "");
    rests_at(h, STAMPS, OPS("read outside snapshot", "10,1"), "");
    rests_at(h, STAMPS, OPS("read outside snapshot", "12,1"), "");
    hf_history_free(h);
}

static void writes_that_overlap(void **state)
{
    hf_history *h =
        history("{\"ops\":[[\"w\",\"x\",1]],\"start_ts\":1,\"commit_ts\":3}\n"
                "{\"ops\":[[\"w\",\"x\",2],[\"w\",\"x\",3]],\"start_ts\":2,"
                "\"commit_ts\":4}\n"
                "{\"ops\":[[\"w\",\"x\",4]],\"start_ts\":4,\"commit_ts\":5}\n"
                "{\"ops\":[[\"w\",\"x\",5]],\"start_ts\":2,\"commit_ts\":5,"
                "\"outcome\":\"unknown\"}\n"
                "{\"ops\":[[\"w\",\"x\",6],[\"w\",\"y\",6]],\"start_ts\":2}\n"
                "{\"ops\":[[\"w\",\"y\",7]],\"start_ts\":1,\"commit_ts\":9}\n");

    (void)state;
    rests_at(h, STAMPS, OPS("concurrent write", "0,2"), SNAPSHOTS);
    rests_at(h, STAMPS, OPS("concurrent write", "2,0"), SNAPSHOTS);
    rests_at(h, ORDER "," LIN, OPS("concurrent write", "0,2"), "");
    rests_at(h, STAMPS, OPS("concurrent write", "0,1"), ""); /* overwritten */
    rests_at(h, STAMPS, OPS("concurrent write", "2,3"), ""); /* after it */
    rests_at(h, STAMPS, OPS("concurrent write", "0,3"), "");
    rests_at(h, STAMPS, OPS("concurrent write", "0,4"), ""); /* unknown */
    rests_at(h, STAMPS, OPS("concurrent write", "0,5"), ""); /* no commit */
    rests_at(h, STAMPS, OPS("concurrent write", "0,7"), ""); /* other key */
    rests_at(h, STAMPS, OPS("concurrent write", "0,0"), "");
    hf_history_free(h);
}

/* ---- lists --------------------------------------------------------------- */

static void split_lists_are_cycles(void **state)
{
    const char *both = CYCLE(
        "G0", EDGE("ww", 0, 1, "x", 0, 2) "," EDGE("ww", 1, 0, "x", 2, 1));
    const char *form =
        "{\"ops\":[[\"append\",\"x\",1],[\"append\",\"x\",3]]}\n"
        "{\"ops\":[[\"append\",\"x\",2]]%s}\n"
        "{\"ops\":[[\"r\",\"x\",[1,2,3]]]%s}\n"
        "{\"ops\":[[\"r\",\"x\",[1,3,4,5]]]}\n" /* longer, shows nothing */
        "{\"ops\":[[\"append\",\"x\",4],[\"append\",\"x\",5]]}\n%s";
    static const struct {
        const char *writer, *reader, *more, *accepted;
    } rows[] = {
        {"", "", "", ALL},
        {",\"outcome\":\"unknown\"", "", "", FROM_RC},
        {",\"outcome\":\"aborted\"", "", "", ""},
        {"", ",\"outcome\":\"unknown\"", "", ""},
        {"", ",\"outcome\":\"aborted\"", "", ""},
        /* an element that two appended */
        {"", "", "{\"ops\":[[\"append\",\"x\",2]]}\n", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[640];
        hf_history *h;

        snprintf(text, sizeof(text), form, rows[i].writer, rows[i].reader,
                 rows[i].more);
        h = history(text);
        invalid_at(h, both, rows[i].accepted);
        /* 1 is not after 2 */
        invalid_at(h,
                   CYCLE("G0", EDGE("ww", 0, 1, "x", 0, 2) "," EDGE("ww", 1, 0,
                                                                    "x", 2, 0)),
                   "");
        hf_history_free(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read),
        cmocka_unit_test(unknown_bits_are_refused),
        cmocka_unit_test(linearizable_orders_versions),
        cmocka_unit_test(sequential_orders_versions),
        cmocka_unit_test(reads_order_versions_at_read_uncommitted),
        cmocka_unit_test(recorded_order_orders_versions),
        cmocka_unit_test(stale_initial_reads_are_cyclic),
        cmocka_unit_test(circles_go_through_several_versions),
        cmocka_unit_test(reads_make_circles),
        cmocka_unit_test(assumptions_against_what_is_certain),
        cmocka_unit_test(returned_rows_are_touched),
        cmocka_unit_test(valid_orders_keep_time),
        cmocka_unit_test(valid_orders_keep_sessions),
        cmocka_unit_test(valid_orders_keep_reads),
        cmocka_unit_test(valid_orders_keep_the_recorded_order),
        cmocka_unit_test(events_keep_the_timestamps),
        cmocka_unit_test(reads_outside_the_snapshot),
        cmocka_unit_test(writes_that_overlap),
        cmocka_unit_test(split_lists_are_cycles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
