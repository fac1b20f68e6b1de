/* Predicate operations whose version set is a snapshot, in witnesses: what
 * follows from them and what does not; and the two ways to judge results. */
#include "verify_ask.h"

#include <stdlib.h>

#include "base/rng.h"
#include "verify/predicate.h"

#define PR(where, snapshot, rows)                                              \
    "{\"op\":\"pr\",\"where\":\"" where "\",\"snapshot\":" snapshot            \
    ",\"rows\":[" rows "]}"
#define W(key, value) "[\"w\",\"" key "\"," value "]"
#define R(key, value) "[\"r\",\"" key "\"," value "]"
#define V(key, value) "[\"" key "\"," value "]"
#define T(id, time, ops)                                                       \
    "{\"id\":" id ",\"commit_ts\":" time ",\"ops\":[" ops "]}\n"
#define ORDER(key, ids) "{\"order\":[\"" key "\",[" ids "]]}\n"

#define SERIAL(order) "\"kind\":\"serial\",\"order\":[" order "]"
#define SKEWED " RA CC CV PSI PSIs PC SI SIs SIr SER SERs SERr "
#define SERIALS " SER SERs SERr "

/* T2's condition misses y, which T1 wrote, and reads x, which T1 wrote. */
static const char *const torn = T("1", "10", W("x", "1") "," W("y", "2"))
    T("2", "20", PR("value < 5", "5", "") "," R("x", "1"));

/* Both look before either writes. */
static const char *const skew =
    T("1", "10", PR("value % 3 = 0", "5", "") "," W("a", "30"))
        T("2", "20", PR("value % 3 = 0", "5", "") "," W("b", "42"));

static void cycles_through_snapshots(void **state)
{
    hf_history *h = history(torn);
    hf_history *s = history(skew);

    (void)state;
    invalid_at(h,
               CYCLE("G-single", EDGE("prw", 1, 0, "y", 2,
                                      1) "," EDGE("wr", 0, 1, "x", 0, 3)),
               SKEWED);
    invalid_at(s,
               CYCLE("G2", EDGE("prw", 0, 1, "b", 0, 3) "," EDGE("prw", 1, 0,
                                                                 "a", 2, 1)),
               SERIALS);
    /* the wrong key, the wrong way round, an item that is none */
    invalid_at(s,
               CYCLE("G2", EDGE("prw", 0, 1, "a", 0, 3) "," EDGE("prw", 1, 0,
                                                                 "a", 2, 1)),
               "");
    invalid_at(s,
               CYCLE("G-single", EDGE("prw", 0, 1, "b", 0,
                                      3) "," EDGE("pwr", 1, 0, "b", 3, 0)),
               "");
    invalid_at(s,
               CYCLE("G2-item", EDGE("rw", 0, 1, "b", 0,
                                     3) "," EDGE("rw", 1, 0, "a", 2, 1)),
               "");
    invalid_at(h, "\"kind\":\"core\",\"transactions\":[0,1]", SKEWED);
    invalid_at(s, "\"kind\":\"core\",\"transactions\":[0,1]", SERIALS);
    hf_history_free(h);
    hf_history_free(s);
}

static void an_edge_needs_a_change(void **state)
{
    /* 9 does not satisfy the condition, so nobody missed anything */
    hf_history *harmless = history(T("1", "10", W("y", "9") "," W("z", "8")) T(
        "2", "20", PR("value < 5", "5", "") "," R("z", "8")));
    /* the version before 1 satisfied it as well: no change by T2 */
    hf_history *same = history(
        T("1", "10", W("x", "1")) T("2", "20", W("x", "9"))
            T("3", "30", W("x", "8")) T("4", "40", PR("value < 5", "35", ""))
                ORDER("x", "1,2,3"));

    (void)state;
    invalid_at(harmless,
               CYCLE("G-single", EDGE("prw", 1, 0, "y", 2,
                                      0) "," EDGE("wr", 0, 1, "z", 1, 3)),
               "");
    assert_int_equal(ask_valid(harmless, "SER", SERIAL("0,1")), ACCEPTED);
    /* what T4 saw was changed by T2, and not by T3 */
    assert_int_equal(ask_valid(same, "SER", SERIAL("0,1,3,2")), ACCEPTED);
    assert_int_equal(ask_valid(same, "SER", SERIAL("0,3,1,2")), REFUSED);
    assert_int_equal(ask_valid(same, "SER", SERIAL("0,1,2,3")), ACCEPTED);
    hf_history_free(harmless);
    hf_history_free(same);
}

static void results_are_those_of_the_snapshot(void **state)
{
#define TWO T("1", "10", W("x", "1")) T("2", "20", W("x", "2"))
#define OP(n)                                                                  \
    "\"kind\":\"operations\",\"anomaly\":\"result set mismatch\","             \
    "\"operations\":[" #n "]"
    hf_history *right =
        history(TWO T("3", "30", PR("value < 5", "15", V("x", "1"))));
    hf_history *newer =
        history(TWO T("3", "30", PR("value < 5", "15", V("x", "2"))));
    hf_history *missing = history(TWO T("3", "30", PR("value < 5", "15", "")));
    hf_history *empty = history(TWO T("3", "30", PR("value < 5", "5", "")));
    hf_history *sum = history(TWO T(
        "3", "30",
        "{\"op\":\"sum\",\"where\":\"true\",\"snapshot\":25,\"value\":3}"));
    hf_history *own =
        history(TWO T("3", "30", W("x", "7") "," PR("value < 5", "25", "")));

    (void)state;
    invalid_at(right, OP(2), "");
    invalid_at(newer, OP(2), ALL);
    invalid_at(missing, OP(2), ALL);
    invalid_at(empty, OP(2), "");
    invalid_at(sum, OP(2), ALL);
    invalid_at(own, OP(3), "");
    commit_refused_at(newer, "\"kind\":\"commit\",\"order\":[0,1,2]", ALL);
    assert_int_equal(ask_valid(right, "SER", SERIAL("0,2,1")), ACCEPTED);
    assert_int_equal(ask_valid(right, "SER", SERIAL("0,1,2")), REFUSED);
    assert_int_equal(ask_valid(empty, "SER", SERIAL("2,0,1")), ACCEPTED);
    assert_int_equal(ask_valid(own, "SER", SERIAL("0,1,2")), ACCEPTED);
    hf_history_free(right);
    hf_history_free(newer);
    hf_history_free(missing);
    hf_history_free(empty);
    hf_history_free(sum);
    hf_history_free(own);
#undef TWO
#undef OP
}

static void snapshots_by_ids(void **state)
{
    /* T1 was active: only T2's version is there */
    hf_history *h =
        history(T("1", "20", W("x", "1")) T("2", "10", W("y", "2"))
                    T("3", "30", PR("value < 5", "\"1:3:1\"", V("y", "2")))
                        ORDER("x", "1") ORDER("y", "2"));

    (void)state;
    assert_int_equal(ask_valid(h, "SER", SERIAL("1,2,0")), ACCEPTED);
    assert_int_equal(ask_valid(h, "SER", SERIAL("0,1,2")), REFUSED);
    assert_int_equal(ask_valid(h, "SER", SERIAL("2,1,0")), REFUSED);
    hf_history_free(h);
}

static void what_is_not_known_is_not_used(void **state)
{
    /* the commit of T1 has no time: it may have been there or not */
    hf_history *h = history("{\"id\":1,\"ops\":[" W("x", "1") "]}\n" T(
        "2", "20", PR("value < 5", "5", "") "," R("x", "1")));

    (void)state;
    invalid_at(h,
               CYCLE("G-single", EDGE("prw", 1, 0, "x", 1,
                                      0) "," EDGE("wr", 0, 1, "x", 0, 2)),
               "");
    /* then the result must be that of the state */
    assert_int_equal(ask_valid(h, "SER", SERIAL("0,1")), REFUSED);
    hf_history_free(h);
}

/* ---- dialects ------------------------------------------------------------ */

static answer ask_in(const char *text, hf_sql_dialect dialect)
{
    hf_history *h = history(text);
    hf_verify_session *session = hf_verify_open(h);
    uint32_t order[] = {0, 1};
    hf_claim claim = {
        .verdict = HF_VALID,
        .level = HF_SERIALIZABLE,
        .witness = {.kind = HF_WITNESS_SERIAL, .order = order, .n_order = 2}};
    hf_verification v = {.accepted = false};
    hf_error err;
    hf_status st;

    hf_verify_set_dialect(session, dialect);
    st = hf_verify_claim_in(session, &claim, NULL, &v, &err);
    hf_verify_close(session);
    hf_history_free(h);
    if (st == HF_ERR_UNSUPPORTED)
        return UNSUPPORTED;
    assert_int_equal(st, HF_OK);
    return v.accepted ? ACCEPTED : REFUSED;
}

static void sql_knows_more_conditions(void **state)
{
#define SEEN(value, where)                                                     \
    T("1", "10", W("x", value)) T("2", "20", PR(where, "15", V("x", value)))
#define LEFT_OUT(value, where)                                                 \
    T("1", "10", W("x", value)) T("2", "20", PR(where, "15", ""))
    (void)state;
    assert_int_equal(ask_in(SEEN("2.25", "value < 2.5"), HF_SQL_ANY), ACCEPTED);
    assert_int_equal(ask_in(SEEN("2.75", "value < 2.5"), HF_SQL_ANY), REFUSED);
    assert_int_equal(ask_in(LEFT_OUT("2.25", "value < 3"), HF_SQL_ANY),
                     REFUSED);
    assert_int_equal(ask_in(LEFT_OUT("3.25", "value < 3"), HF_SQL_ANY),
                     ACCEPTED);
    assert_int_equal(ask_in(SEEN("\"b\"", "value > 'a'"), HF_SQL_ANY),
                     UNSUPPORTED);
    assert_int_equal(ask_in(SEEN("\"b\"", "value > 'a'"), HF_SQL_POSTGRES),
                     ACCEPTED);
    assert_int_equal(ask_in(SEEN("\"b\"", "value > 'c'"), HF_SQL_POSTGRES),
                     REFUSED);
    assert_int_equal(
        ask_in(SEEN("4", "value = 4 AND abs(value) = 4"), HF_SQL_ANY),
        ACCEPTED);
    assert_int_equal(ask_in(SEEN("4", "soundex(value) = 4"), HF_SQL_ANY),
                     UNSUPPORTED);
#undef SEEN
#undef LEFT_OUT
}

/* ---- the two ways -------------------------------------------------------- */

#define TXNS 400
#define KEYS 30

/* Rows of two tables with columns of all types, conditions of all kinds,
 * results that are right only by chance. */
static void print_random(hf_rng *rng, bool by_ids, FILE *f)
{
    static const char *const wheres[] = {
        "a < 20",    "a >= 30 AND a <= 50", "b = 'x'",   "true",
        "a % 7 = 1", "a > 90 OR a < 3",     "c IS NULL", "a = 5 AND b = 'y'",
        "c = 1",     "a IN (1, 4, 70)",     "a < 5.5"};
    static const char *const rows[] = {
        "{\"a\":%u,\"b\":\"x\"}", "{\"a\":%u,\"b\":\"y\",\"c\":null}",
        "{\"a\":null,\"b\":\"x\",\"c\":%u}", "{\"a\":%u.5,\"b\":\"z\"}",
        "{\"a\":\"t%u\",\"b\":\"x\"}"};
    static const char *const kinds[] = {"pr",  "pr",  "count",
                                        "min", "max", "sum"};

    for (unsigned t = 1; t <= TXNS; t++) {
        unsigned n = 1 + hf_rng_below(rng, 3);

        fprintf(f, "{\"id\":%u,%s\"commit_ts\":%u,\"ops\":[", t,
                hf_rng_chance(rng, 95) ? "" : "\"outcome\":\"unknown\",",
                hf_rng_chance(rng, 99) ? 10 * t : 10 * t - 10);
        for (unsigned i = 0; i < n; i++) {
            const char *kind = kinds[hf_rng_below(rng, 6)];
            unsigned at = hf_rng_below(rng, t + 1);

            fprintf(f, "%s", i ? "," : "");
            if (hf_rng_chance(rng, 50)) {
                fprintf(f, "[\"w\",[\"%c\",%u],",
                        't' + (int)hf_rng_below(rng, 2),
                        hf_rng_below(rng, KEYS));
                fprintf(
                    f,
                    rows[hf_rng_below(rng, 100) < 90 ? hf_rng_below(rng, 2)
                                                     : hf_rng_below(rng, 5)],
                    hf_rng_below(rng, 100));
                fprintf(f, "]");
                continue;
            }
            fprintf(f, "{\"op\":\"%s\",\"table\":\"%c\",\"where\":\"%s\",",
                    kind, 't' + (int)hf_rng_below(rng, 2),
                    wheres[hf_rng_below(rng, 11)]);
            if (kind[0] != 'p')
                fprintf(f, "\"column\":\"a\",\"value\":%u,",
                        hf_rng_below(rng, 10));
            else if (hf_rng_chance(rng, 90))
                fprintf(f, "\"rows\":[],");
            if (by_ids && at == 0)
                fprintf(f, "\"snapshot\":\"1:1:\"}");
            else if (by_ids)
                fprintf(f, "\"snapshot\":\"1:%u:%u\"}", at + 1,
                        1 + hf_rng_below(rng, at));
            else
                fprintf(f, "\"snapshot\":%u}", 10 * at + 5);
        }
        fprintf(f, "]}\n");
    }
}

/* The sweep over all snapshots, and each by itself. */
static void compare_ways(uint64_t seed, bool by_ids, unsigned *counts)
{
    hf_verification verification;
    hf_verify_session *v;
    const uint8_t *judged;
    hf_set_fault alone;
    hf_op_kind kind;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    hf_history *h;
    hf_rng rng;

    hf_rng_seed(&rng, seed);
    print_random(&rng, by_ids, f);
    fclose(f);
    h = history(text);
    v = hf_verify_open(h);
    v->ret = &verification;
    assert_true(hf_facts_build(v));
    judged = hf_judge_snapshots(v);
    assert_non_null(judged);
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        if (!hf_has_snapshot(v, op))
            continue;
        alone = hf_predicate_judge(v, op);
        kind = hf_op_kind_of(h, op);
        /* what is not the least need not be evaluated */
        if (judged[op] != (uint8_t)alone &&
            !(alone == HF_SET_UNKNOWN &&
              (kind == HF_OP_MIN || kind == HF_OP_MAX)))
            fail_msg("seed %u: operation %u is %u and %u", (unsigned)seed,
                     (unsigned)op, (unsigned)judged[op], (unsigned)alone);
        counts[judged[op]]++;
    }
    hf_verify_close(v);
    hf_history_free(h);
    free(text);
}

static void both_ways_judge_alike(void **state)
{
    unsigned counts[HF_SET_OPEN + 1] = {0};

    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++)
        compare_ways(seed, seed % 2, counts);
    assert_true(counts[HF_SET_FINE] > 100);
    assert_true(counts[HF_SET_MISMATCH] > 100);
    assert_true(counts[HF_SET_UNKNOWN] > 10);
    assert_true(counts[HF_SET_OPEN] > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_through_snapshots),
        cmocka_unit_test(an_edge_needs_a_change),
        cmocka_unit_test(results_are_those_of_the_snapshot),
        cmocka_unit_test(snapshots_by_ids),
        cmocka_unit_test(what_is_not_known_is_not_used),
        cmocka_unit_test(sql_knows_more_conditions),
        cmocka_unit_test(both_ways_judge_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
