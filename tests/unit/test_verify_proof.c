/* Proofs by cycles and resolution against a history, and what is wrong with
 * those that were tampered with. */
#include "verify_ask.h"

#include "base/rng.h"
#include "check/check.h"
#include "report/report.h"
#include "verify/view.h"

#define PROOF(steps) "\"kind\":\"proof\",\"steps\":[" steps "]"
#define CASE(edges) "{\"cycle\":[" edges "]}"
#define RESOLVE(numbers) "{\"resolve\":[" numbers "]}"
#define FROM(kind, from, to, key, from_op, to_op, source)                      \
    "{\"kind\":\"" kind "\",\"from\":" #from ",\"to\":" #to ",\"key\":\"" key  \
    "\",\"from_op\":" #from_op ",\"to_op\":" #to_op ",\"source\":" source "}"
#define AND ","

/* The levels at which the reference finds the history invalid accept, all
 * others refuse; the proof says nothing about those in `silent`. */
static void proves(const hf_history *h, const char *proof, const char *silent)
{
    const hf_engine *brute = hf_engine_find(HF_STR("brute"));
    unsigned accepted = 0;

    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        const char *name = hf_level_get((hf_level)l)->short_name;
        char padded[16];
        hf_result *r = NULL;
        hf_error err;
        answer a = ask_invalid(h, name, proof);

        snprintf(padded, sizeof(padded), " %s ", name);
        assert_int_equal(brute->check(h, (hf_level)l, NULL, NULL, &r, &err),
                         HF_OK);
        if (a == ACCEPTED && r->verdict != HF_INVALID)
            fail_msg("accepted at %s, where it is valid", name);
        if (a != ACCEPTED && r->verdict == HF_INVALID &&
            !strstr(silent, padded))
            fail_msg("refused at %s: %s", name, proof);
        accepted += a == ACCEPTED;
        hf_result_free(r);
    }
    assert_true(accepted > 0);
}

/* ---- forced edges -------------------------------------------------------- */

/* T3 sees T1 by y and not its x, so T1's x is before T2's; T4 the other way
 * around. */
static const char forced[] =
    "{\"session\":1,\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
    "{\"session\":2,\"ops\":[[\"w\",\"x\",2],[\"w\",\"y\",2]]}\n"
    "{\"session\":3,\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",2]]}\n"
    "{\"session\":4,\"ops\":[[\"r\",\"y\",2],[\"r\",\"x\",1]]}\n";

/* if T2 -> T1 on x then T3 read x too old */
#define T1_FIRST                                                               \
    CASE(EDGE("rw", 2, 0, "x", 5, 0) AND EDGE("wr", 0, 2, "y", 1, 4))
#define T2_FIRST                                                               \
    CASE(EDGE("rw", 3, 1, "x", 7, 2) AND EDGE("wr", 1, 3, "y", 3, 6))
#define WRITES CASE(EDGE("ww", 0, 1, "x", 0, 2) AND EDGE("ww", 1, 0, "x", 2, 0))
#define WRITES_X_Y                                                             \
    CASE(EDGE("ww", 0, 1, "x", 0, 2) AND EDGE("ww", 1, 0, "y", 3, 1))

static void forced_edges_contradict(void **state)
{
    hf_history *h = history(forced);

    (void)state;
    /* two units are enough: before(x, T1, T2) and before(x, T2, T1) */
    proves(h, PROOF(T1_FIRST AND T2_FIRST AND RESOLVE("0,1")), "");
    hf_history_free(h);
}

static void tampered_proofs_are_refused(void **state)
{
    static const char *const wrong[] = {
        /* no contradiction */
        PROOF(T1_FIRST),
        PROOF(T1_FIRST AND T2_FIRST),
        PROOF(T1_FIRST AND T2_FIRST AND RESOLVE("0")),
        /* nothing to resolve on, or nothing at all */
        PROOF(T1_FIRST AND T2_FIRST AND RESOLVE("0,0")),
        PROOF(T1_FIRST AND T2_FIRST AND RESOLVE("")),
        PROOF(T1_FIRST AND T2_FIRST AND RESOLVE("0,1,0")),
        PROOF(""),
        /* a cycle that is open, of one edge, twice around */
        PROOF(CASE(EDGE("rw", 2, 0, "x", 5, 0))
                  AND T2_FIRST AND RESOLVE("0,1")),
        PROOF(CASE(EDGE("rw", 2, 0, "x", 5, 0) AND EDGE("wr", 1, 3, "y", 3, 6))
                  AND T2_FIRST AND RESOLVE("0,1")),
        PROOF(CASE(EDGE("rw", 2, 0, "x", 5, 0) AND EDGE("wr", 0, 2, "y", 1, 4)
                       AND EDGE("rw", 2, 0, "x", 5, 0)
                           AND EDGE("wr", 0, 2, "y", 1, 4))
                  AND T2_FIRST AND RESOLVE("0,1")),
        /* operations of others, of another key, of the wrong kind */
        PROOF(CASE(EDGE("rw", 2, 0, "x", 7, 0) AND EDGE("wr", 0, 2, "y", 1, 4))
                  AND T2_FIRST AND RESOLVE("0,1")),
        PROOF(CASE(EDGE("rw", 2, 0, "x", 4, 0) AND EDGE("wr", 0, 2, "y", 1, 4))
                  AND T2_FIRST AND RESOLVE("0,1")),
        PROOF(CASE(EDGE("rw", 2, 0, "x", 5, 0) AND EDGE("wr", 0, 2, "y", 4, 1))
                  AND T2_FIRST AND RESOLVE("0,1")),
        PROOF(CASE(EDGE("rw", 2, 0, "y", 5, 0) AND EDGE("wr", 0, 2, "y", 1, 4))
                  AND T2_FIRST AND RESOLVE("0,1")),
        /* an edge that is not there: T3 did not read from T2 by y */
        PROOF(CASE(EDGE("rw", 2, 1, "x", 5, 2) AND EDGE("wr", 1, 2, "y", 3, 4))
                  AND T2_FIRST AND RESOLVE("0,1")),
        /* the way back by session order, which they do not share */
        PROOF(CASE(EDGE("rw", 2, 0, "x", 5, 0) AND
                   "{\"kind\":\"so\",\"from\":0,\"to\":2}")
                  AND T2_FIRST AND RESOLVE("0,1")),
        /* a source that it is not */
        PROOF(CASE(FROM("rw", 2, 0, "x", 5, 0, "\"initial\"") AND EDGE(
            "wr", 0, 2, "y", 1, 4)) AND T2_FIRST AND RESOLVE("0,1")),
        PROOF(CASE(FROM("rw", 2, 0, "x", 5, 0, "0") AND EDGE(
            "wr", 0, 2, "y", 1, 4)) AND T2_FIRST AND RESOLVE("0,1")),
        /* two facts at once */
        PROOF(WRITES AND WRITES AND RESOLVE("0,1")),
        /* steps about what is not so */
        PROOF("{\"happened\":5,\"writer\":1}" AND T1_FIRST AND T2_FIRST AND
                  RESOLVE("1,2")),
        PROOF("{\"happened\":5,\"writer\":0}" AND T1_FIRST AND T2_FIRST AND
                  RESOLVE("1,2")),
        PROOF("{\"sources\":0}" AND T1_FIRST AND T2_FIRST AND RESOLVE("1,2")),
    };
    static const char *const bad[] = {
        PROOF(T1_FIRST AND T2_FIRST AND RESOLVE("0,2")), /* itself */
        PROOF(T1_FIRST AND T2_FIRST AND RESOLVE("0,7")),
        PROOF(T1_FIRST AND T2_FIRST AND RESOLVE("0,-1")),
        PROOF(T1_FIRST AND T2_FIRST AND RESOLVE("0,1.5")),
        PROOF("{\"sources\":8}"),
        PROOF("{\"happened\":0,\"writer\":4}"),
        PROOF("{}"),
        PROOF("{\"sources\":0,\"resolve\":[]}"),
        PROOF("7"),
        PROOF(CASE("{\"kind\":\"ww\"}")),
        PROOF(CASE(FROM("rw", 2, 0, "x", 5, 0, "4"))),
        PROOF(CASE(FROM("rw", 2, 0, "x", 5, 0, "\"final\""))),
        PROOF(T1_FIRST AND "{\"resolve\":[0,[1]]}"),
        "\"kind\":\"proof\"",
        "\"kind\":\"proof\",\"steps\":{}",
    };
    hf_history *h = history(forced);

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (ask_invalid(h, "SER", wrong[i]) != REFUSED)
            fail_msg("not refused: %s", wrong[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (ask_invalid(h, "SER", bad[i]) != BAD)
            fail_msg("not bad: %s", bad[i]);
    /* it proves nothing else */
    assert_int_equal(
        ask_valid(h, "SER", PROOF(T1_FIRST AND T2_FIRST AND RESOLVE("0,1"))),
        REFUSED);
    hf_history_free(h);
}

/* ---- cases --------------------------------------------------------------- */

/* Blind writes of x by T1, T2.  Whoever wrote last, T3 or T4 is in a circle
 * with it. */
static void one_pair_both_ways(void **state)
{
    hf_history *h =
        history("{\"ops\":[[\"r\",\"a\",null],[\"w\",\"x\",1],[\"w\",\"b\",1]]"
                "}\n"
                "{\"ops\":[[\"r\",\"b\",null],[\"w\",\"x\",2],[\"w\",\"a\",1]]"
                "}\n");
    /* T1 reads a before T2 writes it, and the reverse for b: either order of
     * x closes a circle with one of the two anti-dependencies */
    const char *proof = PROOF(
        CASE(EDGE("ww", 0, 1, "x", 1, 4) AND EDGE("rw", 1, 0, "b", 3, 2))
            AND CASE(EDGE("ww", 1, 0, "x", 4, 1)
                         AND EDGE("rw", 0, 1, "a", 0, 5)) AND RESOLVE("0,1"));

    (void)state;
    proves(h, proof, "");
    assert_int_equal(ask_invalid(h, "SER", proof), ACCEPTED);
    assert_int_equal(ask_invalid(h, "SI", proof), ACCEPTED);
    assert_int_equal(ask_invalid(h, "PSI", proof), ACCEPTED);
    assert_int_equal(ask_invalid(h, "CC", proof), REFUSED);
    hf_history_free(h);
}

/* Two pairs, four cases; a lemma of two facts is used twice. */
static void clauses_of_two_facts(void **state)
{
    hf_history *h = history(
        "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1],[\"r\",\"a\",null]]}\n"
        "{\"ops\":[[\"w\",\"x\",2],[\"w\",\"z\",2],[\"w\",\"a\",1]]}\n"
        "{\"ops\":[[\"w\",\"y\",3],[\"w\",\"z\",3],[\"r\",\"a\",1]]}\n");
    /* T1 -rw a-> T2 -wr a-> T3: so x: T1 first, z: T2 first, y: T1 first;
     * that is an order, so nothing of this is a contradiction */
    const char *none = PROOF(
        CASE(EDGE("ww", 1, 0, "x", 3, 0) AND EDGE("rw", 0, 1, "a", 2, 5))
            AND CASE(EDGE("ww", 2, 0, "y", 6, 1) AND EDGE("rw", 0, 1, "a", 2, 5)
                         AND EDGE("ww", 1, 2, "z", 4, 7)) AND RESOLVE("0,1"));

    (void)state;
    assert_int_equal(ask_invalid(h, "SER", none), REFUSED);
    hf_history_free(h);
}

/* ---- chains of updates --------------------------------------------------- */

/* T2 and T3 updated T1's x one after the other; T4 wrote x blindly, and must
 * be before T1 by what T5 saw and after T3 by what T6 saw. */
static const char chain[] =
    "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
    "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2]]}\n"
    "{\"ops\":[[\"r\",\"x\",2],[\"w\",\"x\",3],[\"w\",\"z\",3]]}\n"
    "{\"ops\":[[\"w\",\"x\",4],[\"r\",\"y\",null],[\"r\",\"z\",3]]}\n";

static void versions_of_a_chain_are_one(void **state)
{
    hf_history *h = history(chain);
    /* T4 before T1 (it missed y), so before the chain; and after T3 (it read
     * z), so after the chain: facts about different versions */
    const char *proof = PROOF(
        CASE(EDGE("ww", 0, 3, "x", 0, 7) AND EDGE("rw", 3, 0, "y", 8, 1))
            AND CASE(EDGE("ww", 3, 2, "x", 7, 5)
                         AND EDGE("wr", 2, 3, "z", 6, 9)) AND RESOLVE("0,1"));

    (void)state;
    proves(h, proof, " RA CC PC ");
    hf_history_free(h);
}

/* Inside a chain the order is known; where lost updates are allowed it is
 * only that of neighbours. */
static void order_inside_a_chain_is_known(void **state)
{
    hf_history *h =
        history("{\"ops\":[[\"w\",\"x\",1],[\"r\",\"q\",null]]}\n"
                "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2]]}\n"
                "{\"ops\":[[\"r\",\"x\",2],[\"w\",\"x\",3],[\"w\",\"q\",1]]}\n"
                "{\"ops\":[[\"r\",\"q\",1],[\"r\",\"x\",1]]}\n");
    const char *proof = PROOF(
        CASE(EDGE("rw", 3, 2, "x", 8, 5) AND EDGE("wr", 2, 3, "q", 6, 7)));

    (void)state;
    assert_int_equal(ask_invalid(h, "SER", proof), ACCEPTED);
    assert_int_equal(ask_invalid(h, "PSI", proof), ACCEPTED);
    assert_int_equal(ask_invalid(h, "CC", proof), REFUSED);
    hf_history_free(h);
}

/* T2 updated T1's x, whose list lacks T3's element: T1 is before T3, so T2
 * is, which nobody saw. */
static void known_by_another_of_the_chain(void **state)
{
    hf_history *h = history(
        "{\"ops\":[[\"append\",\"x\",1],[\"append\",\"y\",1]]}\n"
        "{\"ops\":[[\"append\",\"y\",2],[\"r\",\"x\",[1]],[\"append\",\"x\","
        "2]]}\n"
        "{\"ops\":[[\"r\",\"z\",[]],[\"append\",\"x\",3],[\"append\",\"y\","
        "3]]}\n"
        "{\"ops\":[[\"append\",\"z\",1]]}\n"
        "{\"ops\":[[\"r\",\"z\",[1]],[\"r\",\"y\",[1]]]}\n");
    const char *proof = PROOF(CASE(
        EDGE("ww", 1, 2, "x", 4, 6) AND EDGE("rw", 2, 3, "z", 5, 8)
            AND EDGE("wr", 3, 4, "z", 8, 9) AND EDGE("rw", 4, 1, "y", 10, 2)));

    (void)state;
    proves(h, proof, "");
    assert_int_equal(ask_invalid(h, "SI", proof), ACCEPTED);
    hf_history_free(h);
}

/* Two updated one version: nobody's place is settled by that. */
static void lost_updates_make_no_chain(void **state)
{
    hf_history *h = history("{\"ops\":[[\"w\",\"x\",1]]}\n"
                            "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2]]}\n"
                            "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",3]]}\n");

    (void)state;
    proves(
        h,
        PROOF(CASE(EDGE("rw", 1, 2, "x", 1, 4) AND EDGE("ww", 2, 1, "x", 4, 2))
                  AND CASE(EDGE("rw", 2, 1, "x", 3, 2) AND EDGE(
                      "ww", 1, 2, "x", 2, 4)) AND RESOLVE("0,1")),
        "");
    hf_history_free(h);
}

/* ---- sources ------------------------------------------------------------- */

/* Value 7 of x was written twice; from either writer T3's read of x is too
 * old, or its read of y. */
static const char twice[] =
    "{\"ops\":[[\"w\",\"x\",7],[\"w\",\"y\",1]]}\n"
    "{\"ops\":[[\"w\",\"x\",7],[\"w\",\"z\",1]]}\n"
    "{\"ops\":[[\"r\",\"x\",7],[\"r\",\"y\",null],[\"r\",\"z\",null]]}\n";

#define FROM_T1                                                                \
    CASE(FROM("wr", 0, 2, "x", 0, 4, "0") AND EDGE("rw", 2, 0, "y", 5, 1))
#define FROM_T2                                                                \
    CASE(FROM("wr", 1, 2, "x", 2, 4, "1") AND EDGE("rw", 2, 1, "z", 6, 3))

static void a_read_has_one_of_its_sources(void **state)
{
    hf_history *h = history(twice);

    (void)state;
    proves(
        h,
        PROOF("{\"sources\":4}" AND FROM_T1 AND FROM_T2 AND RESOLVE("0,1,2")),
        "");
    /* without the one or the other it is not */
    assert_int_equal(
        ask_invalid(h, "SER",
                    PROOF("{\"sources\":4}" AND FROM_T1 AND RESOLVE("0,1"))),
        REFUSED);
    assert_int_equal(ask_invalid(h, "SER", PROOF(FROM_T1)), REFUSED);
    /* an anti-dependency must say from where */
    assert_int_equal(
        ask_invalid(h, "SER",
                    PROOF(CASE(EDGE("rw", 2, 0, "x", 4, 0)
                                   AND EDGE("ww", 0, 2, "x", 0, 4)))),
        REFUSED);
    hf_history_free(h);
}

static void repeated_reads_are_one_where_they_must(void **state)
{
    hf_history *h = history(
        "{\"ops\":[[\"w\",\"x\",7],[\"w\",\"y\",1]]}\n"
        "{\"ops\":[[\"w\",\"x\",7],[\"w\",\"z\",1]]}\n"
        "{\"ops\":[[\"r\",\"x\",7],[\"r\",\"x\",7],[\"r\",\"y\",null],[\"r\","
        "\"z\",null]]}\n");
    /* the one is taken from T1, the other from T2 */
    const char *proof = PROOF("{\"sources\":4}" AND CASE(
        FROM("wr", 0, 2, "x", 0, 5, "0") AND EDGE("rw", 2, 0, "y", 6, 1))
                                  AND CASE(FROM("wr", 1, 2, "x", 2, 4, "1")
                                               AND EDGE("rw", 2, 1, "z", 7, 3))
                                      AND RESOLVE("0,1,2"));

    (void)state;
    assert_int_equal(ask_invalid(h, "SER", proof), ACCEPTED);
    assert_int_equal(ask_invalid(h, "PSI", proof), ACCEPTED);
    /* no INT: two reads */
    assert_int_equal(ask_invalid(h, "CV", proof), REFUSED);
    assert_int_equal(ask_invalid(h, "RR", proof), REFUSED);
    hf_history_free(h);
}

/* ---- outcomes ------------------------------------------------------------ */

/* It is not known whether T1 and T2 happened, but T4 read from one of them;
 * both are read by T3 in part. */
static const char maybe[] =
    "{\"ops\":[[\"w\",\"x\",7],[\"w\",\"y\",1]],\"outcome\":\"unknown\"}\n"
    "{\"ops\":[[\"w\",\"x\",7],[\"w\",\"y\",2]],\"outcome\":\"unknown\"}\n"
    "{\"ops\":[[\"r\",\"x\",7],[\"r\",\"y\",null]]}\n";

static void whoever_was_read_from_happened(void **state)
{
    hf_history *h = history(maybe);
    /* the writer is an end of the circle: it need not have happened, unless
     * it was read from */
    const char *steps =
        "{\"sources\":4},{\"happened\":4,\"writer\":0},{\"happened\":4,"
        "\"writer\":1}," CASE(FROM("wr", 0, 2, "x", 0, 4, "0") AND EDGE(
            "rw", 2, 0, "y", 5, 1)) "," CASE(FROM("wr", 1, 2, "x", 2, 4, "1")
                                                 AND EDGE("rw", 2, 1, "y", 5,
                                                          3)) ",";
    char proof[2048];

    (void)state;
    snprintf(proof, sizeof(proof),
             "\"kind\":\"proof\",\"steps\":[%s{\"resolve\":[3,1]},{\"resolve\":"
             "[4,2]},{\"resolve\":[0,5,6]}]",
             steps);
    proves(h, proof, "");
    /* left out: they need not have happened */
    snprintf(proof, sizeof(proof),
             "\"kind\":\"proof\",\"steps\":[%s{\"resolve\":[0,3,4]}]", steps);
    assert_int_equal(ask_invalid(h, "SER", proof), REFUSED);
    hf_history_free(h);
}

/* It need not have been read from, so it need not have happened. */
static void not_read_from_need_not_have_happened(void **state)
{
    hf_history *h = history(
        "{\"session\":1,\"ops\":[[\"w\",\"x\",7],[\"w\",\"y\",1]],"
        "\"outcome\":\"unknown\"}\n"
        "{\"session\":2,\"ops\":[[\"w\",\"x\",7]]}\n"
        "{\"session\":1,\"ops\":[[\"r\",\"x\",7],[\"r\",\"y\",null]]}\n");
    const char *steps = "{\"happened\":3,\"writer\":0}," CASE(EDGE(
        "rw", 2, 0, "y", 4, 1) AND "{\"kind\":\"so\",\"from\":0,\"to\":2}");
    char proof[1024];

    (void)state;
    snprintf(proof, sizeof(proof),
             "\"kind\":\"proof\",\"steps\":[%s,{\"resolve\":[0,1]}]", steps);
    assert_int_equal(ask_invalid(h, "SERs", proof), REFUSED);
    hf_history_free(h);
}

static void what_did_not_happen_makes_no_edge(void **state)
{
    /* T1 need not have happened; aborted T2 did not */
    hf_history *h = history(
        "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]],\"outcome\":\"unknown\"}\n"
        "{\"ops\":[[\"w\",\"x\",2],[\"w\",\"y\",2]],\"outcome\":\"aborted\"}\n"
        "{\"ops\":[[\"w\",\"x\",3],[\"r\",\"y\",null]]}\n");

    (void)state;
    assert_int_equal(
        ask_invalid(h, "SER",
                    PROOF(CASE(EDGE("ww", 0, 2, "x", 0, 4)
                                   AND EDGE("rw", 2, 0, "y", 5, 1))
                              AND CASE(EDGE("ww", 2, 0, "x", 4, 0) AND EDGE(
                                  "ww", 0, 2, "x", 0, 4)) AND RESOLVE("0,1"))),
        REFUSED);
    assert_int_equal(
        ask_invalid(h, "SER",
                    PROOF(CASE(EDGE("ww", 1, 2, "x", 2, 4)
                                   AND EDGE("rw", 2, 1, "y", 5, 3)))),
        REFUSED);
    hf_history_free(h);
}

/* ---- what is known ------------------------------------------------------- */

static void known_facts_may_be_mentioned(void **state)
{
    hf_history *h =
        history("{\"session\":1,\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
                "{\"session\":2,\"ops\":[[\"w\",\"x\",2],[\"w\",\"y\",2]]}\n"
                "{\"order\":[\"x\",[1,2]]}\n{\"order\":[\"y\",[2,1]]}\n");

    (void)state;
    /* both edges are certain: the clause is empty at once */
    assert_int_equal(ask_invalid(h, "SER", PROOF(WRITES_X_Y)), ACCEPTED);
    /* one who does not know the order of x splits it into cases */
    assert_int_equal(
        ask_invalid(
            h, "SER",
            PROOF(WRITES_X_Y AND CASE(EDGE("ww", 1, 0, "x", 2, 0) AND EDGE(
                "ww", 0, 1, "x", 0, 2)) AND RESOLVE("0,1"))),
        ACCEPTED);
    hf_history_free(h);
}

static void assumptions_order_versions(void **state)
{
    hf_history *h = history(forced);

    (void)state;
    /* nothing is assumed that helps */
    assert_int_equal(
        ask_invalid(h, "SER",
                    "\"rests\":[\"per-key-sequential\"]," PROOF(T1_FIRST)),
        REFUSED);
    hf_history_free(h);
}

/* ---- as JSON ------------------------------------------------------------- */

static void proofs_survive_being_written(void **state)
{
    static const char text[] =
        "{\"type\":\"witness\",\"schema\":1,\"verdict\":\"invalid\","
        "\"level\":\"serializable\"," PROOF(
            "{\"sources\":4}" AND FROM_T1 AND FROM_T2 AND
            "{\"happened\":4,\"writer\":0}" AND RESOLVE("0,1,2")) "}";
    hf_history *h = history(twice);
    hf_arena arena;
    hf_claim claim;
    hf_error err;
    hf_json j;
    hf_out out;

    (void)state;
    hf_arena_init(&arena);
    assert_int_equal(hf_claim_read(h, text, strlen(text), &arena, &claim, &err),
                     HF_OK);
    assert_int_equal(claim.witness.n_steps, 5);
    assert_int_equal(claim.witness.n_edges, 4);
    assert_int_equal(claim.witness.chosen[0], HF_CHOSEN(0));
    assert_int_equal(claim.witness.chosen[1], HF_CHOSEN_ONLY);
    assert_int_equal(claim.witness.steps[3].writer, 0);
    assert_int_equal(claim.witness.used[2], 2);
    assert_int_equal(claim.witness.anomaly, HF_NO_ORDER);
    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    hf_witness_write(h, claim.level, claim.verdict, &claim.witness, &j);
    hf_out_char(&out, '\0');
    assert_string_equal(out.at, text);
    hf_out_release(&out);
    hf_arena_release(&arena);
    hf_history_free(h);
}

/* Claims that were not read from JSON may have any numbers. */
static void numbers_must_be_in_range(void **state)
{
    hf_history *h = history(forced);
    hf_edge edges[4] = {{HF_EDGE_RW, 2, 0, 0, 5, 0},
                        {HF_EDGE_WR, 0, 2, 1, 1, 4},
                        {HF_EDGE_RW, 3, 1, 0, 7, 2},
                        {HF_EDGE_WR, 1, 3, 1, 3, 6}};
    hf_step steps[3] = {{HF_STEP_CYCLE, 0, 2, HF_NONE, HF_NONE, 0},
                        {HF_STEP_CYCLE, 2, 2, HF_NONE, HF_NONE, 0},
                        {HF_STEP_RESOLVE, 0, 2, HF_NONE, HF_NONE, 0}};
    uint32_t used[2] = {0, 1}, chosen[4] = {0};
    hf_claim right = {HF_INVALID,
                      HF_SERIALIZABLE,
                      {.kind = HF_WITNESS_PROOF,
                       .anomaly = HF_NO_ORDER,
                       .n_edges = 4,
                       .edges = edges,
                       .n_steps = 3,
                       .steps = steps,
                       .n_used = 2,
                       .used = used,
                       .chosen = chosen}};
    struct {
        uint32_t *at, value;
    } changes[] = {
        {&steps[0].first, 1},       {&steps[1].first, 0},
        {&steps[1].n, 3},           {&steps[1].n, UINT32_MAX},
        {&steps[1].n, 1},           {&steps[2].n, 3},
        {&steps[2].first, 1},       {&used[1], 2},
        {&used[1], UINT32_MAX},     {&chosen[0], 5},
        {&edges[1].to_op, HF_NONE}, {&edges[1].key, HF_NONE},
        {&edges[0].from, 4},        {&steps[2].n, 0},
    };
    hf_verify_session *session = hf_verify_open(h);
    hf_verification v;
    hf_claim named = right;
    hf_error err;

    (void)state;
    assert_int_equal(hf_verify_claim_in(session, &right, NULL, &v, &err),
                     HF_OK);
    assert_true(v.accepted);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        uint32_t before = *changes[i].at;

        *changes[i].at = changes[i].value;
        assert_int_equal(hf_verify_claim_in(session, &right, NULL, &v, &err),
                         HF_OK);
        if (v.accepted)
            fail_msg("change %zu accepted", i);
        *changes[i].at = before;
    }
    named.witness.anomaly = HF_G0;
    assert_int_equal(hf_verify_claim_in(session, &named, NULL, &v, &err),
                     HF_OK);
    assert_false(v.accepted);
    hf_verify_close(session);
    hf_history_free(h);
}

/* Whatever the text, the answer is one; and it is never that this history is
 * invalid at a level where it is not. */
static void hostile_texts_do_no_harm(void **state)
{
    static const char text[] =
        "{\"verdict\":\"invalid\",\"level\":\"RC\"," PROOF(
            "{\"sources\":4}" AND FROM_T1 AND FROM_T2 AND
            "{\"happened\":4,\"writer\":0}" AND RESOLVE("0,1,2")) "}";
    static const char bytes[] = "0123456789,:[]{}\"-nrwsxyz";
    hf_history *h = history(twice);
    unsigned read = 0;
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 7);
    for (int i = 0; i < 20000; i++) {
        char copy[sizeof(text)];
        hf_verification v = {.accepted = false};
        uint32_t changes = 1 + hf_rng_below(&rng, 3);
        hf_arena arena;
        hf_claim claim;
        hf_error err;

        memcpy(copy, text, sizeof(text));
        while (changes-- > 0)
            copy[hf_rng_below(&rng, sizeof(text) - 1)] =
                bytes[hf_rng_below(&rng, sizeof(bytes) - 1)];
        hf_arena_init(&arena);
        if (hf_claim_read(h, copy, sizeof(text) - 1, &arena, &claim, &err) ==
                HF_OK &&
            claim.level == HF_READ_COMMITTED &&
            hf_verify_claim(h, &claim, NULL, &v, &err) == HF_OK)
            read++;
        assert_false(v.accepted);
        hf_arena_release(&arena);
    }
    assert_true(read > 1000);
    hf_history_free(h);
}

/* ---- cores --------------------------------------------------------------- */

/* T4 reads x after T3 did, and T6 after T5, the other way around; T7 and T8
 * are not needed. */
static const char surrounded[] = "{\"ops\":[[\"w\",\"x\",1]]}\n"
                                 "{\"ops\":[[\"w\",\"x\",2]]}\n"
                                 "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"y\",1]]}\n"
                                 "{\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",2]]}\n"
                                 "{\"ops\":[[\"r\",\"x\",2],[\"w\",\"z\",1]]}\n"
                                 "{\"ops\":[[\"r\",\"z\",1],[\"r\",\"x\",1]]}\n"
                                 "{\"ops\":[[\"r\",\"x\",2],[\"w\",\"k\",1]]}\n"
                                 "{\"ops\":[[\"w\",\"x\",3]]}\n";

#define BOTH_WAYS                                                              \
    PROOF(CASE(EDGE("rw", 3, 0, "x", 5, 0) AND EDGE("wr", 0, 2, "x", 0, 2)     \
                   AND EDGE("wr", 2, 3, "y", 3, 4))                            \
              AND CASE(EDGE("rw", 5, 1, "x", 9, 1) AND EDGE(                   \
                  "wr", 1, 4, "x", 1, 6) AND EDGE("wr", 4, 5, "z", 7, 8))      \
                  AND RESOLVE("0,1"))
#define CORE(txns, more) "\"core\":[" txns "]," more BOTH_WAYS
#define MINIMAL "\"minimal\":true,"
#define CONFIRMED "\"confirmed\":\"enumeration\","

static void proofs_may_be_about_a_core(void **state)
{
    static const char *const right[] = {
        CORE("0,1,2,3,4,5", ""),
        CORE("0,1,2,3,4,5", MINIMAL CONFIRMED),
        CORE("3,5,1,0,2,4", MINIMAL "\"confirmed\":null,"),
        CORE("0,1,2,3,4,5,6", CONFIRMED),
        CORE("7,6,5,4,3,2,1,0", ""),
        CORE("", ""), /* none */
    };
    static const char *const wrong[] = {
        CORE("0,1,2,3,4", ""),
        CORE("1,2,3,4,5,6,7", ""),
        CORE("0,1,2,3,4,5,5", ""),
        CORE("0,1,2,3,4,5,6", MINIMAL),
        CORE("0,1,2,3,4,5,7", MINIMAL CONFIRMED),
        MINIMAL BOTH_WAYS,
        CONFIRMED BOTH_WAYS,
    };
    hf_history *h = history(surrounded);

    (void)state;
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
        if (ask_invalid(h, "SER", right[i]) != ACCEPTED)
            fail_msg("refused: %s", right[i]);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (ask_invalid(h, "SER", wrong[i]) != REFUSED)
            fail_msg("not refused: %s", wrong[i]);
    assert_int_equal(ask_invalid(h, "SER", CORE("0,1,2,8", "")), BAD);
    assert_int_equal(
        ask_invalid(h, "SER", CORE("0,1,2,3,4,5", "\"confirmed\":\"so\",")),
        BAD);
    hf_history_free(h);
}

/* What the proof leaves unsaid is known by the whole only: T4 read the list
 * that says in which order T1 and T2 appended. */
static void a_core_has_all_it_rests_on(void **state)
{
#define LIST_PROOF                                                             \
    PROOF(CASE(EDGE("ww", 0, 1, "x", 0, 2) AND EDGE("wr", 1, 2, "y", 3, 4)     \
                   AND EDGE("rw", 2, 0, "z", 5, 1)))
    static const char lists[] =
        "{\"ops\":[[\"append\",\"x\",1],[\"w\",\"z\",1]]}\n"
        "{\"ops\":[[\"append\",\"x\",2],[\"w\",\"y\",2]]}\n"
        "{\"ops\":[[\"r\",\"y\",2],[\"r\",\"z\",null]]}\n"
        "{\"ops\":[[\"r\",\"x\",[1,2]]]}\n";
    hf_history *h = history(lists);

    (void)state;
    assert_int_equal(ask_invalid(h, "SER", LIST_PROOF), ACCEPTED);
    assert_int_equal(
        ask_invalid(h, "SER", "\"core\":[0,1,2,3]," MINIMAL LIST_PROOF),
        ACCEPTED);
    assert_int_equal(ask_invalid(h, "SER", "\"core\":[0,1,2]," LIST_PROOF),
                     REFUSED);
    hf_history_free(h);
}

/* ---- rows without a version set ------------------------------------------ */

/* T3 does not get x, which T1's version would have given, but reads y from T1:
 * what it looked at is the initial version or T2's. */
static const char unlisted[] =
    "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",7]]}\n"
    "{\"ops\":[[\"w\",\"x\",5]]}\n"
    "{\"ops\":[[\"r\",\"y\",7],{\"op\":\"pr\",\"where\":\"value = 1\","
    "\"rows\":[]}]}\n";

static void rows_looked_at_what_does_not_match(void **state)
{
#define LOOKED(index, from)                                                    \
    "\"kind\":\"serial\",\"order\":[0,1,2],\"sources\":[[4," index "," from "]]"
#define ON_X "{\"key\":\"x\"}"
    hf_history *h = history(unlisted);

    (void)state;
    assert_int_equal(ask_valid(h, "SER", LOOKED(ON_X, "1")), ACCEPTED);
    assert_int_equal(ask_valid(h, "SER", LOOKED(ON_X, "null")), REFUSED);
    assert_int_equal(ask_valid(h, "SER", LOOKED(ON_X, "0")), REFUSED);
    assert_int_equal(ask_valid(h, "SER", LOOKED("{\"key\":\"y\"}", "1")),
                     REFUSED);
    assert_int_equal(ask_valid(h, "SER", LOOKED("{\"key\":\"z\"}", "1")), BAD);
    /* one of them, and T2's version need not be before T1's */
    assert_int_equal(
        ask_invalid(h, "SER", PROOF("{\"sources\":4,\"key\":\"x\"}")), REFUSED);
    assert_int_equal(ask_invalid(h, "SER",
                                 PROOF("{\"sources\":4,\"key\":\"x\"}" AND CASE(
                                     FROM("prw", 2, 0, "x", 4, 0, "\"initial\"")
                                         AND EDGE("wr", 0, 2, "y", 1, 3))
                                           AND RESOLVE("0,1"))),
                     REFUSED);
    hf_history_free(h);
}

/* Without T2 there is nothing else; and its own write it would have seen. */
static void rows_that_nothing_explains(void **state)
{
#define NOT_SEEN                                                               \
    PROOF("{\"sources\":3,\"key\":\"x\"}" AND CASE(                            \
        FROM("prw", 1, 0, "x", 3, 0, "\"initial\"")                            \
            AND EDGE("wr", 0, 1, "y", 1, 2)) AND RESOLVE("0,1"))
    hf_history *h = history(
        "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",7]]}\n"
        "{\"ops\":[[\"r\",\"y\",7],{\"op\":\"pr\",\"where\":\"value = 1\","
        "\"rows\":[]}]}\n");
    hf_history *own = history("{\"ops\":[[\"w\",\"x\",1],{\"op\":\"pr\","
                              "\"where\":\"value = 1\",\"rows\":[]},{"
                              "\"op\":\"pr\",\"where\":\"value = 2\","
                              "\"rows\":[]}]}\n");

    (void)state;
    assert_int_equal(ask_invalid(h, "SER", NOT_SEEN), ACCEPTED);
    assert_int_equal(ask_invalid(h, "RC", NOT_SEEN), REFUSED);
    assert_int_equal(
        ask_invalid(own, "RC", PROOF("{\"sources\":1,\"key\":\"x\"}")),
        ACCEPTED);
    assert_int_equal(
        ask_invalid(own, "RU", PROOF("{\"sources\":1,\"key\":\"x\"}")),
        REFUSED);
    assert_int_equal(
        ask_invalid(own, "RC", PROOF("{\"sources\":2,\"key\":\"x\"}")),
        REFUSED);
    hf_history_free(own);
    hf_history_free(h);
}

/* ---- faults -------------------------------------------------------------- */

#define FAULT(op) "{\"fault\":" op "}"
#define FAULT_WITH(op, txn) "{\"fault\":" op ",\"writer\":" txn "}"

/* T2 and T3, of unknown outcome, were both read from. */
#define BOTH_HAPPENED "{\"ops\":[[\"r\",\"a\",7],[\"r\",\"b\",7]]}\n"

static void updates_of_one_version(void **state)
{
#define UPDATES                                                                \
    "{\"ops\":[[\"w\",\"x\",1]]}\n"                                            \
    "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2],[\"w\",\"a\",7]],"              \
    "\"outcome\":\"unknown\"}\n"                                               \
    "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",3],[\"w\",\"b\",7]],"              \
    "\"outcome\":\"unknown\"}\n"
    hf_history *h = history(UPDATES BOTH_HAPPENED);
    hf_history *open = history(UPDATES);

    (void)state;
    proves(h, PROOF(FAULT_WITH("4", "1")), "");
    proves(h, PROOF(FAULT_WITH("1", "2")), "");
    /* by itself, with another, with itself, or of another operation */
    assert_int_equal(ask_invalid(h, "SER", PROOF(FAULT("4"))), REFUSED);
    assert_int_equal(ask_invalid(h, "SER", PROOF(FAULT_WITH("4", "0"))),
                     REFUSED);
    assert_int_equal(ask_invalid(h, "SER", PROOF(FAULT_WITH("4", "2"))),
                     REFUSED);
    assert_int_equal(ask_invalid(h, "SER", PROOF(FAULT_WITH("4", "3"))),
                     REFUSED);
    assert_int_equal(ask_invalid(h, "SER", PROOF(FAULT_WITH("5", "1"))),
                     REFUSED);
    assert_int_equal(ask_invalid(h, "SER", PROOF(FAULT_WITH("4", "9"))), BAD);
    /* one of them did not happen: that contradicts nothing */
    assert_int_equal(ask_invalid(open, "SER", PROOF(FAULT_WITH("4", "1"))),
                     REFUSED);
    hf_history_free(open);
    hf_history_free(h);
}

static void lists_in_two_orders(void **state)
{
#define LISTS(second)                                                          \
    "{\"ops\":[[\"append\",\"x\",1]]}\n{\"ops\":[[\"append\",\"x\",2]]}\n"     \
    "{\"ops\":[[\"r\",\"x\",[1,2]],[\"w\",\"a\",7]],\"outcome\":\"unknown\"}"  \
    "\n{\"ops\":[[\"r\",\"x\"," second "],[\"w\",\"b\",7]],"                   \
    "\"outcome\":\"unknown\"}\n"
    hf_history *h = history(LISTS("[2,1]") BOTH_HAPPENED);
    hf_history *same = history(LISTS("[1]") BOTH_HAPPENED);
    hf_history *open = history(LISTS("[2,1]"));

    (void)state;
    proves(h, PROOF(FAULT_WITH("4", "2")), "");
    proves(h, PROOF(FAULT_WITH("2", "3")), "");
    assert_int_equal(ask_invalid(h, "RC", PROOF(FAULT("4"))), REFUSED);
    assert_int_equal(ask_invalid(h, "RC", PROOF(FAULT_WITH("4", "1"))),
                     REFUSED);
    assert_int_equal(ask_invalid(same, "RC", PROOF(FAULT_WITH("4", "2"))),
                     REFUSED);
    assert_int_equal(ask_invalid(open, "RC", PROOF(FAULT_WITH("4", "2"))),
                     REFUSED);
    hf_history_free(open);
    hf_history_free(same);
    hf_history_free(h);
}

static void rows_that_were_not_repeated(void **state)
{
#define ROWS(versions, rows)                                                   \
    "{\"op\":\"pr\",\"where\":\"value > 3\",\"versions\":" versions            \
    ",\"rows\":" rows "}"
#define TWICE(between)                                                         \
    "{\"ops\":[[\"w\",\"x\",5]]}\n"                                            \
    "{\"ops\":[" ROWS("[[\"x\",5]]", "[[\"x\",5]]") between ROWS(              \
        "[[\"x\",null]]", "[]") ",[\"w\",\"a\",7]],\"outcome\":\"unknown\"}\n"
#define READ "{\"ops\":[[\"r\",\"a\",7]]}\n"
    hf_history *h = history(TWICE(",") READ);
    hf_history *open = history(TWICE(","));
    hf_history *own = history(TWICE(",[\"delete\",\"x\"],") READ);

    (void)state;
    assert_int_equal(ask_invalid(h, "SER", PROOF(FAULT("2"))), ACCEPTED);
    assert_int_equal(ask_invalid(h, "SI", PROOF(FAULT("2"))), ACCEPTED);
    assert_int_equal(ask_invalid(h, "RC", PROOF(FAULT("2"))), REFUSED);
    assert_int_equal(ask_invalid(h, "SER", PROOF(FAULT("1"))), REFUSED);
    assert_int_equal(ask_invalid(open, "SER", PROOF(FAULT("2"))), REFUSED);
    /* it deleted the row itself */
    assert_int_equal(ask_invalid(own, "RA", PROOF(FAULT("3"))), REFUSED);
    hf_history_free(own);
    hf_history_free(open);
    hf_history_free(h);
}

/* T2 saw a row of x that satisfies the condition, and did not get it from
 * that: T3's version, which it looked at, does not. */
static void rows_that_were_seen_elsewhere(void **state)
{
#define SEEN(read, between, condition)                                         \
    "{\"ops\":[[\"w\",\"x\",5]]}\n"                                            \
    "{\"ops\":[[\"r\",\"x\"," read "]," between "{\"op\":\"pr\",\"where\":\""  \
    "value " condition "\",\"versions\":[[\"x\",1]],\"rows\":[]},"             \
    "[\"w\",\"x\",2]]}\n{\"ops\":[[\"r\",\"x\",2],[\"w\",\"x\",1]]}\n"
#define UNLISTED_SEEN(rows)                                                    \
    "{\"ops\":[[\"w\",\"x\",5]]}\n"                                            \
    "{\"ops\":[[\"r\",\"x\",5],{\"op\":\"pr\",\"where\":\"value > 3\","        \
    "\"rows\":" rows "}]}\n"
    hf_history *h = history(SEEN("5", "", "> 3"));
    hf_history *fits = history(SEEN("5", "", "> 7"));
    hf_history *odd = history(SEEN("5", "", "> f(3)"));
    hf_history *own = history(SEEN("5", "[\"w\",\"x\",4],", "> 3"));
    hf_history *rows = history(UNLISTED_SEEN("[]"));
    hf_history *all = history(UNLISTED_SEEN("[[\"x\",5]]"));

    (void)state;
    proves(h, PROOF(FAULT("2")), "");
    assert_int_equal(ask_invalid(h, "SER", PROOF(FAULT("1"))), REFUSED);
    assert_int_equal(ask_invalid(h, "SER", PROOF(FAULT("4"))), REFUSED);
    assert_int_equal(ask_invalid(h, "RC", PROOF(FAULT("2"))), REFUSED);
    assert_int_equal(ask_invalid(fits, "SER", PROOF(FAULT("2"))), REFUSED);
    assert_int_not_equal(ask_invalid(odd, "SER", PROOF(FAULT("2"))), ACCEPTED);
    /* of its own write the condition says something else */
    assert_int_equal(ask_invalid(own, "RC", PROOF(FAULT("1"))), REFUSED);
    assert_int_equal(ask_invalid(rows, "SER", PROOF(FAULT("2"))), ACCEPTED);
    assert_int_equal(ask_invalid(rows, "RC", PROOF(FAULT("2"))), REFUSED);
    assert_int_equal(ask_invalid(all, "SER", PROOF(FAULT("2"))), REFUSED);
    hf_history_free(all);
    hf_history_free(rows);
    hf_history_free(own);
    hf_history_free(odd);
    hf_history_free(fits);
    hf_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forced_edges_contradict),
        cmocka_unit_test(tampered_proofs_are_refused),
        cmocka_unit_test(one_pair_both_ways),
        cmocka_unit_test(clauses_of_two_facts),
        cmocka_unit_test(versions_of_a_chain_are_one),
        cmocka_unit_test(order_inside_a_chain_is_known),
        cmocka_unit_test(known_by_another_of_the_chain),
        cmocka_unit_test(lost_updates_make_no_chain),
        cmocka_unit_test(a_read_has_one_of_its_sources),
        cmocka_unit_test(repeated_reads_are_one_where_they_must),
        cmocka_unit_test(whoever_was_read_from_happened),
        cmocka_unit_test(not_read_from_need_not_have_happened),
        cmocka_unit_test(what_did_not_happen_makes_no_edge),
        cmocka_unit_test(known_facts_may_be_mentioned),
        cmocka_unit_test(assumptions_order_versions),
        cmocka_unit_test(proofs_survive_being_written),
        cmocka_unit_test(numbers_must_be_in_range),
        cmocka_unit_test(hostile_texts_do_no_harm),
        cmocka_unit_test(proofs_may_be_about_a_core),
        cmocka_unit_test(a_core_has_all_it_rests_on),
        cmocka_unit_test(rows_looked_at_what_does_not_match),
        cmocka_unit_test(rows_that_nothing_explains),
        cmocka_unit_test(updates_of_one_version),
        cmocka_unit_test(lists_in_two_orders),
        cmocka_unit_test(rows_that_were_not_repeated),
        cmocka_unit_test(rows_that_were_seen_elsewhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
