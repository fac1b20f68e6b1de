/* Orders as witnesses of validity, and the form of claims: what follows is
 * accepted, what does not is refused, at every level. */
#include "verify_ask.h"

/* ---- serial -------------------------------------------------------------- */

static const char *const chain = "{\"ops\":[[\"w\",\"x\",1]]}\n"
                                 "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2]]}\n"
                                 "{\"ops\":[[\"r\",\"x\",2]]}\n";

static void serial_order_is_replayed(void **state)
{
    hf_history *h = history(chain);

    (void)state;
    assert_int_equal(
        ask_valid(h, "SER", "\"kind\":\"serial\",\"order\":[0,1,2]"), ACCEPTED);
    assert_int_equal(
        ask_valid(h, "RR", "\"kind\":\"serial\",\"order\":[0,1,2]"), ACCEPTED);
    assert_int_equal(
        ask_valid(h, "SER", "\"kind\":\"serial\",\"order\":[1,0,2]"), REFUSED);
    assert_int_equal(
        ask_valid(h, "SER", "\"kind\":\"serial\",\"order\":[0,2,1]"), REFUSED);
    assert_int_equal(ask_valid(h, "SER", "\"kind\":\"serial\",\"order\":[0,1]"),
                     REFUSED);
    assert_int_equal(
        ask_valid(h, "SER", "\"kind\":\"serial\",\"order\":[0,1,2,2]"),
        REFUSED);
    /* a serial order satisfies every weaker condition, but is not replayed at
     * read-uncommitted */
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
        assert_int_equal(ask_valid(h, hf_level_get((hf_level)l)->name,
                                   "\"kind\":\"serial\",\"order\":[0,1,2]"),
                         l == HF_READ_UNCOMMITTED ? REFUSED : ACCEPTED);
    hf_history_free(h);
}

static void kinds_prove_their_levels_only(void **state)
{
    hf_history *h = history(chain);
    const char *events = "\"kind\":\"snapshot\",\"order\":[[0,\"start\"],"
                         "[0,\"commit\"],[1,\"start\"],[1,\"commit\"],"
                         "[2,\"start\"],[2,\"commit\"]]";

    (void)state;
    assert_int_equal(ask_valid(h, "SI", events), ACCEPTED);
    assert_int_equal(ask_valid(h, "SER", events), REFUSED);
    assert_int_equal(ask_valid(h, "CC", events), REFUSED);
    assert_int_equal(
        ask_valid(h, "SER", "\"kind\":\"commit\",\"order\":[0,1,2]"), REFUSED);
    assert_int_equal(
        ask_valid(h, "SI", "\"kind\":\"commit\",\"order\":[0,1,2]"), REFUSED);
    assert_int_equal(
        ask_valid(h, "RR", "\"kind\":\"commit\",\"order\":[0,1,2]"), REFUSED);
    /* and the verdict must be the one the kind proves */
    assert_int_equal(
        ask_invalid(h, "SER", "\"kind\":\"serial\",\"order\":[0,1,2]"),
        REFUSED);
    assert_int_equal(
        ask_valid(h, "SER", "\"kind\":\"core\",\"transactions\":[0]"), REFUSED);
    assert_int_equal(
        ask(h, "SER", "unknown", "\"kind\":\"serial\",\"order\":[0,1,2]"),
        UNSUPPORTED);
    hf_history_free(h);
}

static void sessions_and_time_count_where_the_level_has_them(void **state)
{
    /* T1 and T2 in one session, T1 ended before T2 began */
    hf_history *h = history(
        "{\"session\":1,\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2}\n"
        "{\"session\":1,\"ops\":[[\"r\",\"x\",null]],\"begin\":3,\"end\":4}\n");
    hf_history *apart = history(
        "{\"session\":1,\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2}\n"
        "{\"session\":2,\"ops\":[[\"r\",\"x\",null]],\"begin\":3,\"end\":4}\n");
    hf_history *unsure = history(
        "{\"session\":1,\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2,"
        "\"outcome\":\"unknown\"}\n"
        "{\"session\":2,\"ops\":[[\"r\",\"x\",null]],\"begin\":3,\"end\":4}\n");
    const char *serial = "\"kind\":\"serial\",\"order\":[1,0]";
    const char *events = "\"kind\":\"snapshot\",\"order\":[[1,\"start\"],"
                         "[1,\"commit\"],[0,\"start\"],[0,\"commit\"]]";

    (void)state;
    assert_int_equal(ask_valid(h, "SER", serial), ACCEPTED);
    assert_int_equal(ask_valid(h, "SERs", serial), REFUSED);
    assert_int_equal(ask_valid(h, "SERr", serial), REFUSED);
    assert_int_equal(ask_valid(apart, "SERs", serial), ACCEPTED);
    assert_int_equal(ask_valid(apart, "SERr", serial), REFUSED);
    assert_int_equal(ask_valid(h, "SI", events), ACCEPTED);
    assert_int_equal(ask_valid(h, "SIs", events), REFUSED);
    assert_int_equal(ask_valid(apart, "SIs", events), ACCEPTED);
    assert_int_equal(ask_valid(apart, "SIr", events), REFUSED);
    /* an unknown outcome precedes nothing, and may be left out */
    assert_int_equal(ask_valid(unsure, "SERr", serial), ACCEPTED);
    assert_int_equal(ask_valid(unsure, "SIr", events), ACCEPTED);
    assert_int_equal(
        ask_valid(unsure, "SERr", "\"kind\":\"serial\",\"order\":[1]"),
        ACCEPTED);
    hf_history_free(h);
    hf_history_free(apart);
    hf_history_free(unsure);
}

static void outcomes_are_respected(void **state)
{
    hf_history *h =
        history("{\"ops\":[[\"w\",\"x\",1]],\"outcome\":\"unknown\"}\n"
                "{\"ops\":[[\"r\",\"x\",1]]}\n"
                "{\"ops\":[[\"w\",\"x\",9]],\"outcome\":\"aborted\"}\n");

    (void)state;
    assert_int_equal(ask_valid(h, "SER", "\"kind\":\"serial\",\"order\":[0,1]"),
                     ACCEPTED);
    /* then the read is an aborted read: fine at read uncommitted only */
    assert_int_equal(ask_valid(h, "SER", "\"kind\":\"serial\",\"order\":[1]"),
                     REFUSED);
    assert_int_equal(ask_valid(h, "RC", "\"kind\":\"commit\",\"order\":[1]"),
                     REFUSED);
    assert_int_equal(ask_valid(h, "RU", "\"kind\":\"commit\",\"order\":[1]"),
                     ACCEPTED);
    assert_int_equal(
        ask_valid(h, "SER", "\"kind\":\"serial\",\"order\":[0,1,2]"), REFUSED);
    hf_history_free(h);
}

static void certificates_are_kept(void **state)
{
    hf_history *h = history("{\"ops\":[[\"w\",\"x\",1]]}\n"
                            "{\"ops\":[[\"w\",\"x\",2]]}\n"
                            "{\"order\":[\"x\",[2,1]]}\n");

    (void)state;
    assert_int_equal(ask_valid(h, "SER", "\"kind\":\"serial\",\"order\":[1,0]"),
                     ACCEPTED);
    assert_int_equal(ask_valid(h, "SER", "\"kind\":\"serial\",\"order\":[0,1]"),
                     REFUSED);
    commit_refused_at(h, "\"kind\":\"commit\",\"order\":[0,1]", ALL);
    commit_refused_at(h, "\"kind\":\"commit\",\"order\":[1,0]", "");
    hf_history_free(h);
}

static void equal_values_need_a_source(void **state)
{
    hf_history *h = history("{\"ops\":[[\"w\",\"x\",1]]}\n"
                            "{\"ops\":[[\"w\",\"x\",1]]}\n"
                            "{\"ops\":[[\"r\",\"x\",1]]}\n");
    hf_history *stale = history("{\"ops\":[[\"w\",\"x\",1]]}\n"
                                "{\"ops\":[[\"w\",\"x\",1]]}\n"
                                "{\"ops\":[[\"w\",\"x\",2]]}\n"
                                "{\"ops\":[[\"r\",\"x\",1]]}\n");

    (void)state;
    /* what is current at its place needs none: the source follows */
    assert_int_equal(
        ask_valid(h, "SER", "\"kind\":\"serial\",\"order\":[0,1,2]"), ACCEPTED);
    assert_int_equal(
        ask_valid(stale, "RC", "\"kind\":\"commit\",\"order\":[0,1,2,3]"),
        REFUSED);
    assert_int_equal(ask_valid(stale, "RC",
                               "\"kind\":\"commit\",\"order\":[0,1,2,3],"
                               "\"sources\":[[3,0,0]]"),
                     ACCEPTED);
    hf_history_free(stale);
    assert_int_equal(ask_valid(h, "SER",
                               "\"kind\":\"serial\",\"order\":[0,1,2],"
                               "\"sources\":[[2,0,1]]"),
                     ACCEPTED);
    assert_int_equal(ask_valid(h, "SER",
                               "\"kind\":\"serial\",\"order\":[0,1,2],"
                               "\"sources\":[[2,0,0]]"),
                     REFUSED);
    assert_int_equal(ask_valid(h, "SER",
                               "\"kind\":\"serial\",\"order\":[0,1,2],"
                               "\"sources\":[[2,0,null]]"),
                     REFUSED);
    assert_int_equal(ask_valid(h, "SER",
                               "\"kind\":\"serial\",\"order\":[0,1,2],"
                               "\"sources\":[[2,0,1],[2,0,1]]"),
                     REFUSED);
    assert_int_equal(ask_valid(h, "SER",
                               "\"kind\":\"serial\",\"order\":[0,1,2],"
                               "\"sources\":[[0,0,1],[2,0,1]]"),
                     REFUSED);
    hf_history_free(h);
}

static void promised_unique_values_are_unique(void **state)
{
    hf_history *h = history("{\"holdfast\":1,\"unique\":true}\n"
                            "{\"ops\":[[\"w\",\"x\",1]]}\n"
                            "{\"ops\":[[\"w\",\"x\",1]],"
                            "\"outcome\":\"aborted\"}\n");

    (void)state;
    assert_int_equal(ask_valid(h, "RU", "\"kind\":\"commit\",\"order\":[0]"),
                     REFUSED);
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"duplicate write\","
               "\"operations\":[0,1]",
               ALL);
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[0,1]", ALL);
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[0]", "");
    hf_history_free(h);
}

static void own_writes_are_seen_everywhere(void **state)
{
    hf_history *h = history("{\"ops\":[[\"w\",\"x\",1],[\"r\",\"x\",null]]}\n");
    hf_history *fine = history("{\"ops\":[[\"w\",\"x\",1],[\"r\",\"x\",1]]}\n"
                               "{\"ops\":[[\"w\",\"x\",1]]}\n");

    (void)state;
    commit_refused_at(h, "\"kind\":\"commit\",\"order\":[0]", ALL);
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"internal\","
               "\"operations\":[0,1]",
               ALL);
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[0]", ALL);
    /* the own latest write needs no entry */
    commit_refused_at(fine, "\"kind\":\"commit\",\"order\":[0,1]", "");
    invalid_at(fine,
               "\"kind\":\"operations\",\"anomaly\":\"internal\","
               "\"operations\":[0,1]",
               "");
    hf_history_free(h);
    hf_history_free(fine);
}

/* ---- snapshot ------------------------------------------------------------ */

static void snapshots_are_replayed(void **state)
{
    /* write skew: both start before either commits */
    hf_history *skew = history(
        "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",null],[\"w\",\"x\",1]]}\n"
        "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",null],[\"w\",\"y\",1]]}\n");
    hf_history *lost =
        history("{\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",1]]}\n"
                "{\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",2]]}\n");
    const char *both = "\"kind\":\"snapshot\",\"order\":[[0,\"start\"],"
                       "[1,\"start\"],[0,\"commit\"],[1,\"commit\"]]";

    (void)state;
    assert_int_equal(ask_valid(skew, "SI", both), ACCEPTED);
    assert_int_equal(ask_valid(skew, "SI",
                               "\"kind\":\"snapshot\",\"order\":["
                               "[0,\"start\"],[0,\"commit\"],[1,\"start\"],"
                               "[1,\"commit\"]]"),
                     REFUSED);
    assert_int_equal(ask_valid(lost, "SI", both), REFUSED);
    assert_int_equal(ask_valid(skew, "SI",
                               "\"kind\":\"snapshot\",\"order\":["
                               "[0,\"commit\"],[0,\"start\"],[1,\"start\"],"
                               "[1,\"commit\"]]"),
                     REFUSED);
    assert_int_equal(ask_valid(skew, "SI",
                               "\"kind\":\"snapshot\",\"order\":["
                               "[0,\"start\"],[1,\"start\"],"
                               "[1,\"commit\"]]"),
                     REFUSED);
    assert_int_equal(ask_valid(skew, "SI",
                               "\"kind\":\"snapshot\",\"order\":["
                               "[0,\"start\"],[0,\"start\"],[0,\"commit\"],"
                               "[1,\"start\"],[1,\"commit\"]]"),
                     REFUSED);
    hf_history_free(skew);
    hf_history_free(lost);
}

/* ---- commit orders: the rows of the catalog ------------------------------ */

static void row(const char *text, const char *order, const char *refused)
{
    hf_history *h = history(text);
    char rest[128];

    snprintf(rest, sizeof(rest), "\"kind\":\"commit\",\"order\":%s", order);
    commit_refused_at(h, rest, refused);
    hf_history_free(h);
}

static void commit_orders_follow_the_matrix(void **state)
{
    (void)state;
    /* C3: fuzzy read */
    row("{\"ops\":[[\"w\",\"x\",1]]}\n"
        "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"x\",1]]}\n",
        "[0,1]", " RA CC CV PSI PSIs PC ");
    /* C5: fractured read, new then old */
    row("{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
        "{\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",null]]}\n",
        "[0,1]", " RCa MAV RA CC CV PSI PSIs PC ");
    /* C6: old then new */
    row("{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
        "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",1]]}\n",
        "[0,1]", " RA CC CV PSI PSIs PC ");
    /* C7: causality violation */
    row("{\"ops\":[[\"w\",\"x\",1]]}\n"
        "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"y\",1]]}\n"
        "{\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",null]]}\n",
        "[0,1,2]", " wfr CC CV PSI PSIs PC ");
    /* C8: lost update */
    row("{\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",1]]}\n"
        "{\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",2]]}\n",
        "[0,1]", " CV PSI PSIs ");
    /* C10: long fork */
    row("{\"ops\":[[\"w\",\"x\",1]]}\n{\"ops\":[[\"w\",\"y\",1]]}\n"
        "{\"ops\":[[\"r\",\"x\",1],[\"r\",\"y\",null]]}\n"
        "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",1]]}\n",
        "[0,1,2,3]", " PC ");
    /* S1: read your writes */
    row("{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n"
        "{\"session\":1,\"ops\":[[\"r\",\"x\",null]]}\n",
        "[0,1]", " RA ryw pram CC PSIs PC ");
    /* S2: monotonic reads */
    row("{\"ops\":[[\"w\",\"x\",1]]}\n"
        "{\"session\":1,\"ops\":[[\"r\",\"x\",1]]}\n"
        "{\"session\":1,\"ops\":[[\"r\",\"x\",null]]}\n",
        "[0,1,2]", " mr pram CC PSIs PC ");
    /* S3: monotonic writes */
    row("{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n"
        "{\"session\":1,\"ops\":[[\"w\",\"y\",1]]}\n"
        "{\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",null]]}\n",
        "[0,1,2]", " mw pram CC PSIs PC ");
    /* S5: writes follow reads */
    row("{\"ops\":[[\"w\",\"x\",1]]}\n"
        "{\"session\":1,\"ops\":[[\"r\",\"x\",1]]}\n"
        "{\"session\":1,\"ops\":[[\"w\",\"y\",1]]}\n"
        "{\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",null]]}\n",
        "[0,1,2,3]", " wfr CC PSIs PC ");
    /* S8: session long fork */
    row("{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n"
        "{\"session\":1,\"ops\":[[\"r\",\"y\",null]]}\n"
        "{\"session\":2,\"ops\":[[\"w\",\"y\",1]]}\n"
        "{\"session\":2,\"ops\":[[\"r\",\"x\",null]]}\n",
        "[0,1,2,3]", " PC ");
    /* a session in the wrong order */
    row("{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n"
        "{\"session\":1,\"ops\":[[\"w\",\"y\",1]]}\n",
        "[1,0]", " RCa RA ryw mr mw wfr pram CC PSIs PC ");
    /* C2: each reads from the other */
    row("{\"ops\":[[\"w\",\"x\",1],[\"r\",\"y\",1]]}\n"
        "{\"ops\":[[\"w\",\"y\",1],[\"r\",\"x\",1]]}\n",
        "[0,1]", FROM_RC);
    /* G1b */
    row("{\"ops\":[[\"w\",\"x\",1],[\"w\",\"x\",2]]}\n"
        "{\"ops\":[[\"r\",\"x\",1]]}\n",
        "[0,1]", FROM_RC);
    /* garbage */
    row("{\"ops\":[[\"r\",\"x\",77]]}\n", "[0]", ALL);
}

/* ---- lists --------------------------------------------------------------- */

static const char *const lists =
    "{\"ops\":[[\"append\",\"x\",1],[\"append\",\"x\",2]]}\n"
    "{\"ops\":[[\"append\",\"x\",3],[\"r\",\"x\",[1,2,3]]]}\n"
    "{\"ops\":[[\"r\",\"x\",[1,2]]]}\n";

static void lists_are_prefixes_of_the_order(void **state)
{
    hf_history *h = history(lists);
    hf_history *middle =
        history("{\"ops\":[[\"append\",\"x\",1],[\"append\",\"x\",2]]}\n"
                "{\"ops\":[[\"r\",\"x\",[1]]]}\n");
    hf_history *twice = history("{\"ops\":[[\"append\",\"x\",1]]}\n"
                                "{\"ops\":[[\"append\",\"x\",1]]}\n"
                                "{\"ops\":[[\"r\",\"x\",[1,1]]]}\n");
    hf_history *often = history("{\"ops\":[[\"append\",\"x\",1]]}\n"
                                "{\"ops\":[[\"r\",\"x\",[1,1]]]}\n");
    hf_history *gone =
        history("{\"ops\":[[\"append\",\"x\",1]],\"outcome\":\"aborted\"}\n"
                "{\"ops\":[[\"r\",\"x\",[1,1]]]}\n");
    hf_history *dirty =
        history("{\"ops\":[[\"append\",\"x\",1]],\"outcome\":\"aborted\"}\n"
                "{\"ops\":[[\"append\",\"x\",2]]}\n"
                "{\"ops\":[[\"r\",\"x\",[1,2]]]}\n");

    (void)state;
    assert_int_equal(
        ask_valid(h, "SER", "\"kind\":\"serial\",\"order\":[0,2,1]"), ACCEPTED);
    assert_int_equal(
        ask_valid(h, "SER", "\"kind\":\"serial\",\"order\":[0,1,2]"), REFUSED);
    assert_int_equal(
        ask_valid(h, "RU", "\"kind\":\"commit\",\"order\":[1,0,2]"), REFUSED);
    assert_int_equal(
        ask_valid(h, "RU", "\"kind\":\"commit\",\"order\":[0,1,2]"), ACCEPTED);
    commit_refused_at(middle, "\"kind\":\"commit\",\"order\":[0,1]", FROM_RC);
    assert_int_equal(
        ask_valid(twice, "SER", "\"kind\":\"serial\",\"order\":[0,1,2]"),
        ACCEPTED);
    assert_int_equal(
        ask_valid(twice, "SER", "\"kind\":\"serial\",\"order\":[0,2,1]"),
        REFUSED);
    commit_refused_at(often, "\"kind\":\"commit\",\"order\":[0,1]", ALL);
    commit_refused_at(gone, "\"kind\":\"commit\",\"order\":[1]", ALL);
    commit_refused_at(dirty, "\"kind\":\"commit\",\"order\":[1,2]", FROM_RC);
    invalid_at(often,
               "\"kind\":\"operations\",\"anomaly\":\"duplicate write\","
               "\"operations\":[1]",
               ALL);
    invalid_at(dirty,
               "\"kind\":\"operations\",\"anomaly\":\"dirty update\","
               "\"operations\":[0,1,2]",
               FROM_RC);
    invalid_at(dirty,
               "\"kind\":\"operations\",\"anomaly\":\"G1a\","
               "\"operations\":[0,2]",
               FROM_RC);
    invalid_at(middle,
               "\"kind\":\"operations\",\"anomaly\":\"G1b\","
               "\"operations\":[0,1,2]",
               FROM_RC);
    hf_history_free(h);
    hf_history_free(middle);
    hf_history_free(twice);
    hf_history_free(dirty);
}

static void incompatible_lists_are_invalid(void **state)
{
    hf_history *h = history("{\"ops\":[[\"append\",\"x\",1]]}\n"
                            "{\"ops\":[[\"append\",\"x\",2]]}\n"
                            "{\"ops\":[[\"r\",\"x\",[1,2]]]}\n"
                            "{\"ops\":[[\"r\",\"x\",[2,1]]]}\n");
    hf_history *fine = history("{\"ops\":[[\"append\",\"x\",1]]}\n"
                               "{\"ops\":[[\"append\",\"x\",2]]}\n"
                               "{\"ops\":[[\"r\",\"x\",[1,2]]]}\n"
                               "{\"ops\":[[\"r\",\"x\",[1]]]}\n");
    const char *claim = "\"kind\":\"operations\",\"anomaly\":\"incompatible "
                        "order\",\"operations\":[2,3]";

    (void)state;
    invalid_at(h, claim, ALL);
    invalid_at(fine, claim, "");
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[0,1,2,3]", ALL);
    hf_history_free(h);
    hf_history_free(fine);
}

/* ---- the form ------------------------------------------------------------ */

static hf_status read_text(const hf_history *h, const char *text, hf_claim *ret,
                           hf_error *err)
{
    hf_arena arena;
    hf_status st;

    hf_arena_init(&arena);
    st = hf_claim_read(h, text, strlen(text), &arena, ret, err);
    hf_arena_release(&arena);
    return st;
}

static void claims_are_read_in_any_order_of_fields(void **state)
{
    hf_history *h = history(chain);
    const char *text =
        "{\"stats\":{\"a\":[1,{}]},\"witness\":{\"sources\":[],\"order\":[0,1,"
        "2],\"x\":null,\"kind\":\"serial\"},\"level\":\"SER\",\n"
        "\"verdict\":\"valid\",\"type\":\"result\",\"schema\":1}\n";
    hf_verification v;
    hf_arena arena;
    hf_claim claim;
    hf_error err;

    (void)state;
    hf_arena_init(&arena);
    assert_int_equal(hf_claim_read(h, text, strlen(text), &arena, &claim, &err),
                     HF_OK);
    assert_int_equal(claim.level, HF_SERIALIZABLE);
    assert_int_equal(claim.witness.n_order, 3);
    assert_int_equal(hf_verify_claim(h, &claim, NULL, &v, &err), HF_OK);
    assert_true(v.accepted);
    hf_arena_release(&arena);
    hf_history_free(h);
}

static void bad_claims_are_bad_input(void **state)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"verdict\":\"valid\"}",
        "{\"verdict\":\"perhaps\",\"level\":\"SER\"}",
        "{\"verdict\":\"valid\",\"level\":\"best\"}",
        "{\"verdict\":\"valid\",\"level\":\"SER\"}",
        "{\"verdict\":\"valid\",\"level\":\"SER\",\"witness\":null}",
        "{\"verdict\":\"valid\",\"level\":\"SER\",\"kind\":\"serial\"}",
        "{\"verdict\":\"valid\",\"level\":\"SER\",\"kind\":\"song\"}",
        "{\"verdict\":\"valid\",\"level\":\"SER\",\"kind\":\"serial\","
        "\"order\":[0,3]}",
        "{\"verdict\":\"valid\",\"level\":\"SER\",\"kind\":\"serial\","
        "\"order\":[-1]}",
        "{\"verdict\":\"valid\",\"level\":\"SER\",\"kind\":\"serial\","
        "\"order\":[99999999999999999999]}",
        "{\"verdict\":\"valid\",\"level\":\"SER\",\"kind\":\"serial\","
        "\"order\":[0,1,2",
        "{\"verdict\":\"valid\",\"level\":\"SER\",\"kind\":\"serial\","
        "\"order\":[0,1,2]} x",
        "{\"verdict\":\"valid\",\"level\":\"SER\",\"kind\":\"serial\","
        "\"order\":[0,1,2],\"sources\":[[9,0,0]]}",
        "{\"verdict\":\"valid\",\"level\":\"SI\",\"kind\":\"snapshot\","
        "\"order\":[[0,\"begin\"]]}",
        "{\"verdict\":\"valid\",\"level\":\"SI\",\"kind\":\"snapshot\","
        "\"order\":[0]}",
        "{\"verdict\":\"invalid\",\"level\":\"SER\",\"kind\":\"cycle\","
        "\"edges\":[]}",
        "{\"verdict\":\"invalid\",\"level\":\"SER\",\"kind\":\"cycle\","
        "\"anomaly\":\"G9\",\"edges\":[]}",
        "{\"verdict\":\"invalid\",\"level\":\"SER\",\"kind\":\"cycle\","
        "\"anomaly\":\"G0\",\"edges\":[{\"kind\":\"ww\",\"from\":0}]}",
        "{\"verdict\":\"invalid\",\"level\":\"SER\",\"kind\":\"cycle\","
        "\"anomaly\":\"G0\",\"edges\":[{\"kind\":\"xx\",\"from\":0,\"to\":1}]}",
        "{\"verdict\":\"invalid\",\"level\":\"SER\",\"kind\":\"operations\","
        "\"anomaly\":\"G1a\",\"operations\":[4]}",
        "{\"verdict\":\"valid\",\"level\":\"SER\",\"schema\":2,"
        "\"kind\":\"serial\",\"order\":[0,1,2]}",
        "{\"verdict\":\"valid\",\"level\":\"SER\",\"witness\":{\"verdict\":"
        "\"invalid\",\"kind\":\"serial\",\"order\":[0,1,2]}}",
    };
    hf_history *h = history(chain);

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        hf_claim claim;
        hf_error err = {.text = ""};

        if (read_text(h, texts[i], &claim, &err) != HF_ERR_INPUT)
            fail_msg("%s", texts[i]);
        assert_true(err.text[0] != '\0');
    }
    hf_history_free(h);
}

static void a_claim_cut_anywhere_is_bad_input(void **state)
{
    const char *text =
        "{\"type\":\"witness\",\"schema\":1,\"verdict\":\"invalid\",\"level\":"
        "\"SER\",\"kind\":\"cycle\",\"anomaly\":\"G2-item\",\"edges\":["
        "{\"kind\":\"rw\",\"from\":0,\"to\":1,\"key\":\"x\",\"from_op\":1,"
        "\"to_op\":2},{\"kind\":\"so\",\"from\":1,\"to\":0,\"key\":null}]}";
    hf_history *h = history(chain);

    (void)state;
    for (size_t n = 0; n <= strlen(text); n++) {
        hf_arena arena;
        hf_claim claim;
        hf_error err;

        hf_arena_init(&arena);
        assert_int_equal(hf_claim_read(h, text, n, &arena, &claim, &err),
                         n == strlen(text) ? HF_OK : HF_ERR_INPUT);
        hf_arena_release(&arena);
    }
    hf_history_free(h);
}

static void claims_in_memory_are_not_trusted(void **state)
{
    hf_history *h = history(chain);
    uint32_t order[] = {0, 1, 99};
    hf_edge edge = {HF_EDGE_WW, 0, 99, 0, 0, 0};
    hf_op_id op = 99;
    hf_source source = {99, 0, 0};
    hf_verification v;
    hf_error err;
    hf_claim claim = {
        HF_VALID,
        HF_SERIALIZABLE,
        {.kind = HF_WITNESS_SERIAL, .order = order, .n_order = 3}};

    (void)state;
    assert_int_equal(hf_verify_claim(h, &claim, NULL, &v, &err), HF_OK);
    assert_false(v.accepted);
    order[2] = 2;
    claim.witness.sources = &source;
    claim.witness.n_sources = 1;
    assert_int_equal(hf_verify_claim(h, &claim, NULL, &v, &err), HF_OK);
    assert_false(v.accepted);
    claim = (hf_claim){HF_INVALID,
                       HF_SERIALIZABLE,
                       {.kind = HF_WITNESS_CYCLE,
                        .anomaly = HF_G0,
                        .edges = &edge,
                        .n_edges = 1}};
    assert_int_equal(hf_verify_claim(h, &claim, NULL, &v, &err), HF_OK);
    assert_false(v.accepted);
    claim.witness.kind = HF_WITNESS_OPERATIONS;
    claim.witness.n_edges = 0;
    claim.witness.ops = &op;
    claim.witness.n_ops = 1;
    assert_int_equal(hf_verify_claim(h, &claim, NULL, &v, &err), HF_OK);
    assert_false(v.accepted);
    hf_history_free(h);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void a_spent_budget_is_a_limit(void **state)
{
    hf_history *h = history(chain);
    hf_budget budget = {.interrupted = always};
    uint32_t order[] = {0, 1, 2};
    hf_verification v;
    hf_error err;
    hf_claim claim = {
        HF_VALID,
        HF_SERIALIZABLE,
        {.kind = HF_WITNESS_SERIAL, .order = order, .n_order = 3}};

    (void)state;
    hf_budget_start(&budget);
    while (!hf_budget_spent(&budget))
        ;
    assert_int_equal(hf_verify_claim(h, &claim, &budget, &v, &err),
                     HF_ERR_LIMIT);
    hf_history_free(h);
}

/* ---- increments ---------------------------------------------------------- */

static void increments_read_and_write(void **state)
{
    hf_history *h = history(
        "{\"initial\":[[\"x\",10]]}\n"
        "{\"ops\":[{\"op\":\"inc\",\"key\":\"x\",\"by\":5,\"before\":10,"
        "\"after\":15}]}\n"
        "{\"ops\":[{\"op\":\"inc\",\"key\":\"x\",\"by\":7,\"before\":10,"
        "\"after\":17}]}\n");
    hf_history *blind = history("{\"ops\":[[\"inc\",\"x\",5]]}\n"
                                "{\"ops\":[[\"r\",\"x\",5]]}\n");

    (void)state;
    invalid_at(h,
               "\"kind\":\"operations\",\"anomaly\":\"lost update\","
               "\"operations\":[0,0,1,1]",
               " CV RR PSI PSIs SI SIs SIr SER SERs SERr ");
    assert_int_equal(ask_valid(h, "PC", "\"kind\":\"commit\",\"order\":[0,1]"),
                     ACCEPTED);
    assert_int_equal(ask_valid(h, "SER", "\"kind\":\"serial\",\"order\":[0,1]"),
                     REFUSED);
    assert_int_equal(
        ask_valid(blind, "SER", "\"kind\":\"serial\",\"order\":[0,1]"),
        ACCEPTED);
    assert_int_equal(
        ask_valid(blind, "SER", "\"kind\":\"serial\",\"order\":[1,0]"),
        REFUSED);
    assert_int_equal(ask_invalid(blind, "SER",
                                 "\"kind\":\"operations\",\"anomaly\":"
                                 "\"garbage read\",\"operations\":[1]"),
                     REFUSED);
    hf_history_free(h);
    hf_history_free(blind);
}

/* The checker reads levels from the table; this is what it relies on. */
static void the_table_says_what_the_checks_assume(void **state)
{
    static const struct {
        const char *name;
        hf_level_shape shape;
        unsigned axiom;
        bool session, time, internal;
    } rows[] = {
        {"RU", HF_SHAPE_WW, 0, false, false, false},
        {"RC", HF_SHAPE_W, 0, false, false, false},
        {"RCa", HF_SHAPE_AXIOM, HF_AXIOM_EARLIER_READ, true, false, false},
        {"MAV", HF_SHAPE_OTV, 0, false, false, false},
        {"RA", HF_SHAPE_AXIOM, HF_AXIOM_SO | HF_AXIOM_WR, true, false, true},
        {"ryw", HF_SHAPE_AXIOM, HF_AXIOM_SO, true, false, false},
        {"mr", HF_SHAPE_AXIOM, HF_AXIOM_WR_SO, true, false, false},
        {"mw", HF_SHAPE_AXIOM, HF_AXIOM_SO_WR, true, false, false},
        {"wfr", HF_SHAPE_AXIOM, HF_AXIOM_WR_WR | HF_AXIOM_WR_SO_WR, true, false,
         false},
        {"pram", HF_SHAPE_AXIOM, HF_AXIOM_SO | HF_AXIOM_WR_SO | HF_AXIOM_SO_WR,
         true, false, false},
        {"CC", HF_SHAPE_AXIOM, HF_AXIOM_CAUSAL, true, false, true},
        {"CV", HF_SHAPE_SINGLE, 0, false, false, false},
        {"RR", HF_SHAPE_ITEM, 0, false, false, false},
        {"PSI", HF_SHAPE_SINGLE, 0, false, false, true},
        {"PSIs", HF_SHAPE_SINGLE, 0, true, false, true},
        {"PC", HF_SHAPE_AXIOM, HF_AXIOM_PREFIX, true, false, true},
        {"SI", HF_SHAPE_SNAPSHOT, 0, false, false, true},
        {"SIs", HF_SHAPE_SNAPSHOT, 0, true, false, true},
        {"SIr", HF_SHAPE_SNAPSHOT, 0, true, true, true},
        {"SER", HF_SHAPE_SERIAL, 0, false, false, true},
        {"SERs", HF_SHAPE_SERIAL, 0, true, false, true},
        {"SERr", HF_SHAPE_SERIAL, 0, true, true, true},
    };

    (void)state;
    assert_int_equal(sizeof(rows) / sizeof(rows[0]), HF_LEVEL_COUNT);
    for (size_t i = 0; i < HF_LEVEL_COUNT; i++) {
        const hf_level_info *info = hf_level_get((hf_level)i);

        assert_string_equal(info->short_name, rows[i].name);
        assert_int_equal(info->shape, rows[i].shape);
        assert_int_equal(info->axiom, rows[i].axiom);
        assert_int_equal(info->session_order, rows[i].session);
        assert_int_equal(info->real_time, rows[i].time);
        assert_int_equal(info->internal, rows[i].internal);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serial_order_is_replayed),
        cmocka_unit_test(kinds_prove_their_levels_only),
        cmocka_unit_test(sessions_and_time_count_where_the_level_has_them),
        cmocka_unit_test(outcomes_are_respected),
        cmocka_unit_test(certificates_are_kept),
        cmocka_unit_test(equal_values_need_a_source),
        cmocka_unit_test(promised_unique_values_are_unique),
        cmocka_unit_test(own_writes_are_seen_everywhere),
        cmocka_unit_test(snapshots_are_replayed),
        cmocka_unit_test(commit_orders_follow_the_matrix),
        cmocka_unit_test(lists_are_prefixes_of_the_order),
        cmocka_unit_test(incompatible_lists_are_invalid),
        cmocka_unit_test(claims_are_read_in_any_order_of_fields),
        cmocka_unit_test(bad_claims_are_bad_input),
        cmocka_unit_test(a_claim_cut_anywhere_is_bad_input),
        cmocka_unit_test(claims_in_memory_are_not_trusted),
        cmocka_unit_test(a_spent_budget_is_a_limit),
        cmocka_unit_test(increments_read_and_write),
        cmocka_unit_test(the_table_says_what_the_checks_assume),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
