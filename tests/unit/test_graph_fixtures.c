/* The catalog's fixtures, judged by the graph engine: the verdict of the
 * matrix at every level (unknown only where the fixture does not say in which
 * order versions were installed), the class, the well-known name and the
 * cycle of the table at each weakest level that forbids it, every proof
 * accepted by verify.
 *
 *     test_graph_fixtures [ENGINE]
 *
 * The engine polygraph needs no version order: unknown is allowed only where
 * the matrix has no verdict.  It is also asked about each fixture without its
 * certificate, and answers as the reference engine does.  It may not enumerate
 * worlds.
 */
#include "fixture_util.h"

#include "../prop/determined.h"

static const char *engine_name = "graph";
/* Reported one by one, counted here. */
static unsigned wrong, unknown, verified;

/* ---- what is expected ---------------------------------------------------- */

/* `cycle`: "T1 rw T2 wr" ends where it begins, and may be turned; several are
 * parted by a bar.  Without a cycle the transactions of the operations, each
 * once.  `alias` NULL: none. */
typedef struct expected {
    const char *file;
    hf_anomaly anomaly;
    const char *alias;
    const char *cycle;
} expected;

/* C8 without a version order is lost whichever came first, so that no cycle
 * is certain: the operations show it.  C14's chain by way of T2 is longer
 * than needed: T3 overwrites what T1 read, too. */
static const expected table[] = {
    {"n01-garbage-read", HF_GARBAGE_READ, NULL, "T1"},
    {"n02-internal-own-write", HF_INTERNAL, NULL, "T1"},
    {"n03-internal-repeated-read", HF_NON_REPEATABLE_READ, NULL, "T1"},
    {"n04-duplicate-write", HF_DUPLICATE_WRITE, NULL, "T1 T2"},
    {"n04-duplicate-element", HF_DUPLICATE_WRITE, NULL, "T2|T1 T2"},
    {"n05-aborted-read", HF_G1A, NULL, "T1 T2"},
    {"n06-intermediate-read", HF_G1B, NULL, "T1 T2"},
    {"n07-dirty-update", HF_DIRTY_UPDATE, NULL, "T1 T2 T3"},
    {"n07-dirty-update", HF_G1A, NULL, "T1 T3"},
    {"n08-future-read", HF_FUTURE_READ, NULL, "T1"},
    {"n09-incompatible-order", HF_INCOMPATIBLE_ORDER, NULL, "T3 T4"},
    {"n10-cyclic-versions", HF_G1C, NULL, "T1 wr T2 wr"},
    {"n13-semantic-error", HF_SEMANTIC_ERROR, NULL, "T1"},
    {"n15-lost-update", HF_LOST_UPDATE, NULL, "T1 T2"},
    {"c01-write-cycle", HF_G0, NULL, "T1 ww T2 ww"},
    {"c02-circular-information-flow", HF_G1C, NULL, "T1 wr T2 wr"},
    {"c03-fuzzy-read", HF_NON_REPEATABLE_READ, NULL, "T1"},
    {"c03-fuzzy-read", HF_G_SINGLE_ITEM, "read skew", "T1 rw T2 wr"},
    {"c04-observed-transaction-vanishes", HF_G_SINGLE_ITEM, "OTV",
     "T3 rw T2 wr"},
    {"c05-fractured-read-new-then-old", HF_G_SINGLE_ITEM, "OTV", "T2 rw T1 wr"},
    {"c06-read-skew", HF_G_SINGLE_ITEM, "read skew", "T2 rw T1 wr"},
    {"c07-causality-violation", HF_G_SINGLE_ITEM, "causality violation",
     "T3 rw T1 wr T2 wr"},
    {"c08-lost-update", HF_LOST_UPDATE, NULL, "T1 T2"},
    {"c09-lost-update-blind-write", HF_G_SINGLE_ITEM, "lost update",
     "T1 rw T2 ww"},
    {"c10-long-fork", HF_G_NONADJACENT_ITEM, "long fork",
     "T3 rw T2 wr T4 rw T1 wr"},
    {"c11-write-skew", HF_G2_ITEM, "write skew", "T1 rw T2 rw"},
    {"c12-read-only-anomaly", HF_G2_ITEM, "read-only anomaly",
     "T3 rw T2 rw T1 wr"},
    {"c13-receipt-report", HF_G2_ITEM, "read-only anomaly",
     "T3 rw T1 rw T2 wr"},
    {"c14-four-transaction-chain", HF_G2_ITEM, NULL, "T1 rw T3 rw T4 rw"},
    {"s01-read-your-writes", HF_G_SINGLE_ITEM_SESSION,
     "read-your-writes violation", "T1 so T2 rw"},
    {"s02-monotonic-reads", HF_G_SINGLE_ITEM_SESSION,
     "monotonic-reads violation", "T3 rw T1 wr T2 so"},
    {"s03-monotonic-writes", HF_G_SINGLE_ITEM_SESSION,
     "monotonic-writes violation", "T3 rw T1 so T2 wr"},
    {"s04-monotonic-reads-one-key", HF_G_SINGLE_ITEM_SESSION,
     "monotonic-reads violation", "T4 rw T2 wr T3 so"},
    {"s04-g0-session", HF_G0_SESSION, NULL, "T1 so T2 ww"},
    {"s05-writes-follow-reads", HF_G_SINGLE_ITEM_SESSION,
     "writes-follow-reads violation", "T4 rw T1 wr T2 so T3 wr"},
    {"s06-g0-session", HF_G0_SESSION, NULL, "T1 so T2 ww"},
    {"s07-g1c-session", HF_G1C_SESSION, NULL, "T1 so T2 wr"},
    {"s08-session-long-fork", HF_G_NONADJACENT_ITEM_SESSION,
     "session long fork", "T2 rw T3 so T4 rw T1 so"},
    {"r01-stale-read", HF_G_SINGLE_ITEM_REALTIME, "stale read", "T2 rw T1 rt"},
    {"r02-causal-reverse", HF_G_SINGLE_ITEM_REALTIME, "causal reverse",
     "T3 rw T1 rt T2 wr"},
    {"r03-write-order-against-real-time", HF_G_SINGLE_ITEM_REALTIME,
     "stale read", "T3 rw T2 rt"},
    {"r03-g0-realtime", HF_G0_REALTIME, NULL, "T1 rt T2 ww"},
    {"r03-stale-read", HF_G_SINGLE_ITEM_REALTIME, "stale read", "T3 rw T2 rt"},
    {"r04-read-from-the-future", HF_G1C_REALTIME, NULL, "T1 rt T2 wr"},
    {"r05-two-ids", HF_G2_ITEM_REALTIME, "two-ids", "T3 rw T2 rw T1 rt"},
};

/* Rows that items alone do not show: they have conditions. */
static const char *const with_conditions[] = {
    "n05-aborted-read-predicate",
    "n11-result-set-mismatch",
    "n12-two-versions",
    "n14-predicate-read-miss",
    "n16-phantom",
    "r06-stale-predicate-read",
    "r06-stale-predicate-read-by-time",
};

/* ---- fixtures ------------------------------------------------------------ */

static bool needs_no_order(void)
{
    return strcmp(engine_name, "polygraph") == 0;
}

/* Snapshots that nobody can read without commit times are enumerated. */
static bool may_enumerate;

static hf_result *judge_by(const char *name, const hf_history *h,
                           hf_level level)
{
    const hf_engine *engine = hf_engine_find(hf_str_of(name));
    hf_check_options options = {.no_enumeration = !may_enumerate};
    hf_result *r = NULL;
    hf_error err;

    if (!engine)
        fail_msg("no engine \"%s\"", name);
    if (engine->check(h, level, &options, NULL, &r, &err) != HF_OK)
        fail_msg("%s", err.text);
    return r;
}

static hf_result *judge(const hf_history *h, hf_level level)
{
    return judge_by(engine_name, h, level);
}

/* ---- verdicts ------------------------------------------------------------ */

static void check_proof(const char *name, const hf_history *h,
                        const hf_result *r, const hf_witness *w)
{
    if (is_accepted(name, h, r, w))
        verified++;
    else
        wrong++;
}

static void check_verdicts(const row *x)
{
    hf_history *h = load(x->file);
    bool determined =
        !has_predicates(h) && (needs_no_order() || is_determined(h, true));

    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        hf_result *r = judge(h, (hf_level)l);
        char got = r->verdict == HF_VALID     ? '.'
                   : r->verdict == HF_INVALID ? 'F'
                                              : '?';

        if (got == '?' && (!determined || x->verdicts[l] == '?')) {
            unknown++;
        } else if (got != x->verdicts[l] && x->verdicts[l] != '?') {
            print_message("%s at %s: expected %c, got %c %s\n", x->file,
                          hf_level_get((hf_level)l)->short_name, x->verdicts[l],
                          got, r->reason ? r->reason : "");
            wrong++;
        } else if (got != '?') {
            check_proof(x->file, h, r, &r->witness);
        }
        for (uint32_t i = 0; i < r->n_findings; i++)
            check_proof(x->file, h, r, &r->findings[i].witness);
        hf_result_free(r);
    }
    hf_history_free(h);
}

static void fixtures_get_the_verdicts_of_the_matrix(void **state)
{
    (void)state;
    wrong = unknown = verified = 0;
    assert_true(for_rows(check_verdicts) >= 60);
    print_message("%u proofs accepted, %u verdicts unknown\n", verified,
                  unknown);
    assert_int_equal(wrong, 0);
    assert_true(!needs_no_order() || unknown == 0);
    assert_true(verified > 900);
}

/* Without the certificate: as the reference, which knows less now, too. */
static void check_without_certificate(const row *x)
{
    hf_history *h = load(x->file);
    hf_certificate cert = h->cert;

    memset(&h->cert, 0, sizeof(h->cert));
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        hf_result *r = judge(h, (hf_level)l);
        hf_result *reference = judge_by("brute", h, (hf_level)l);

        if (r->verdict == HF_UNKNOWN && has_predicates(h)) {
            hf_result_free(r);
            may_enumerate = true;
            r = judge(h, (hf_level)l);
            may_enumerate = false;
        }
        if (r->verdict == HF_UNKNOWN && has_predicates(h)) {
            unknown += reference->verdict != HF_UNKNOWN;
        } else if (r->verdict != reference->verdict &&
                   reference->verdict != HF_UNKNOWN) {
            print_message("%s without its certificate at %s: expected %s, got "
                          "%s %s\n",
                          x->file, hf_level_get((hf_level)l)->short_name,
                          hf_verdict_name(reference->verdict),
                          hf_verdict_name(r->verdict),
                          r->reason ? r->reason : "");
            wrong++;
        } else if (r->verdict != HF_UNKNOWN) {
            check_proof(x->file, h, r, &r->witness);
        }
        hf_result_free(r);
        hf_result_free(reference);
    }
    h->cert = cert;
    hf_history_free(h);
}

static void fixtures_without_certificates_are_decided(void **state)
{
    (void)state;
    if (!needs_no_order())
        skip();
    wrong = unknown = verified = 0;
    assert_true(for_rows(check_without_certificate) >= 60);
    print_message("%u proofs accepted, %u verdicts unknown\n", verified,
                  unknown);
    assert_int_equal(wrong, 0);
    assert_int_equal(unknown, 0);
    assert_true(verified > 900);
}

/* ---- cycles -------------------------------------------------------------- */

/* "T1 rw T2 wr", from edge `first` on; operations: their transactions. */
static void describe(const hf_history *h, const hf_witness *w, uint32_t first,
                     char *text, size_t size)
{
    size_t n = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < w->n_edges; i++) {
        const hf_edge *e = &w->edges[(first + i) % w->n_edges];

        n += (size_t)snprintf(text + n, size - n, "%sT%u %s", i ? " " : "",
                              e->from + 1, hf_edge_kind_name(e->kind));
        assert_true(n < size);
    }
    for (hf_txn_id t = 0; w->n_edges == 0 && t < h->n_txns; t++) {
        bool there = false;

        for (uint32_t i = 0; i < w->n_ops; i++)
            there = there || hf_op_txn(h, w->ops[i]) == t;
        if (there)
            n += (size_t)snprintf(text + n, size - n, "%sT%u", n ? " " : "",
                                  t + 1);
        assert_true(n < size);
    }
}

/* Is `text` one of the wanted, which are parted by bars? */
static bool is_one_of(const char *text, const char *wanted)
{
    size_t length = strlen(text);

    for (;;) {
        size_t n = strcspn(wanted, "|");

        if (n == length && memcmp(text, wanted, n) == 0)
            return true;
        if (wanted[n] == '\0')
            return false;
        wanted += n + 1;
    }
}

static bool is_expected(const hf_history *h, const hf_finding *f,
                        const expected *x)
{
    char text[256];
    uint32_t turns = f->witness.n_edges ? f->witness.n_edges : 1;

    if (f->anomaly != x->anomaly ||
        (x->alias && (!f->alias || strcmp(f->alias, x->alias) != 0)))
        return false;
    for (uint32_t i = 0; i < turns; i++) {
        describe(h, &f->witness, i, text, sizeof(text));
        if (is_one_of(text, x->cycle))
            return true;
    }
    return false;
}

/* Prints what was found instead. */
static void complain(const hf_history *h, const hf_result *r, const expected *x)
{
    char text[256];

    print_message("%s at %s: expected %s (%s) %s, got %s\n", x->file,
                  hf_level_get(r->level)->name,
                  hf_anomaly_get(x->anomaly)->name, x->alias ? x->alias : "-",
                  x->cycle, hf_verdict_name(r->verdict));
    for (uint32_t i = 0; i < r->n_findings; i++) {
        const hf_finding *f = &r->findings[i];

        describe(h, &f->witness, 0, text, sizeof(text));
        print_message("    %s (%s) %s\n", hf_anomaly_get(f->anomaly)->name,
                      f->alias ? f->alias : "-", text);
    }
    wrong++;
}

/* Forbidden here and at no level that is weaker. */
static bool is_weakest(const row *x, hf_level level)
{
    if (x->verdicts[level] != 'F')
        return false;
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
        if (l != (unsigned)level && x->verdicts[l] == 'F' &&
            hf_level_implies(level, (hf_level)l))
            return false;
    return true;
}

static void look_for(const row *x, const expected *e)
{
    hf_history *h = load(x->file);

    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        hf_result *r;
        bool found = false;

        if (!is_weakest(x, (hf_level)l))
            continue;
        r = judge(h, (hf_level)l);
        for (uint32_t i = 0; i < r->n_findings && !found; i++)
            found = is_expected(h, &r->findings[i], e);
        if (!found)
            complain(h, r, e);
        hf_result_free(r);
    }
    hf_history_free(h);
}

static bool is_file(const row *x, const char *name)
{
    size_t n = strlen(name);

    return strncmp(x->file, name, n) == 0 && strcmp(x->file + n, ".jsonl") == 0;
}

static void check_findings(const row *x)
{
    bool known = strchr("fqv", x->file[0]) ||
                 !memchr(x->verdicts, 'F', sizeof(x->verdicts));

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (is_file(x, table[i].file)) {
            look_for(x, &table[i]);
            known = true;
        }
    }
    for (size_t i = 0; i < sizeof(with_conditions) / sizeof(char *); i++)
        known = known || is_file(x, with_conditions[i]);
    if (!known) {
        print_message("%s is in no table\n", x->file);
        wrong++;
    }
}

static void fixtures_show_the_cycle_of_the_table(void **state)
{
    (void)state;
    wrong = 0;
    (void)for_rows(check_findings);
    assert_int_equal(wrong, 0);
}

/* What is_determined() must say; text in the native form. */
static void determined_is_what_it_says(void **state)
{
    static const struct {
        const char *text;
        bool determined, without_unread;
    } rows[] = {
        {"{\"ops\":[[\"w\",\"x\",1]]}\n{\"ops\":[[\"r\",\"x\",null]]}\n", true,
         true},
        {"{\"ops\":[[\"w\",\"x\",1]]}\n{\"ops\":[[\"w\",\"x\",2]]}\n", false,
         false},
        {"{\"ops\":[[\"w\",\"x\",1]]}\n{\"ops\":[[\"w\",\"x\",2]]}\n"
         "{\"order\":[\"x\",[2,1]]}\n",
         true, true},
        {"{\"ops\":[[\"w\",\"x\",1]]}\n{\"ops\":[[\"w\",\"x\",2]]}\n"
         "{\"order\":[\"x\",[2]]}\n",
         false, false},
        /* nobody reads the second: it need not have happened */
        {"{\"ops\":[[\"w\",\"x\",1]]}\n"
         "{\"ops\":[[\"w\",\"x\",2]],\"outcome\":\"unknown\"}\n",
         false, true},
        {"{\"ops\":[[\"w\",\"x\",1]]}\n"
         "{\"ops\":[[\"w\",\"x\",2]],\"outcome\":\"unknown\"}\n"
         "{\"ops\":[[\"r\",\"x\",2]]}\n",
         false, false},
        {"{\"ops\":[[\"w\",\"x\",1]]}\n"
         "{\"ops\":[[\"w\",\"x\",2]],\"outcome\":\"aborted\"}\n",
         true, true},
        /* two sources */
        {"{\"ops\":[[\"w\",\"x\",1]]}\n"
         "{\"ops\":[[\"w\",\"x\",1]],\"outcome\":\"aborted\"}\n"
         "{\"ops\":[[\"r\",\"x\",1]]}\n",
         false, false},
        {"{\"ops\":[[\"delete\",\"x\"]]}\n{\"ops\":[[\"r\",\"x\",null]]}\n",
         false, false},
        /* lists: all but one are shown */
        {"{\"ops\":[[\"append\",\"x\",1]]}\n{\"ops\":[[\"append\",\"x\",2]]}\n"
         "{\"ops\":[[\"append\",\"x\",3]]}\n{\"ops\":[[\"r\",\"x\",[2,1]]]}\n",
         true, true},
        {"{\"ops\":[[\"append\",\"x\",1]]}\n{\"ops\":[[\"append\",\"x\",2]]}\n"
         "{\"ops\":[[\"append\",\"x\",3]]}\n{\"ops\":[[\"r\",\"x\",[2]]]}\n",
         false, false},
        {"{\"ops\":[{\"op\":\"inc\",\"key\":\"x\",\"by\":1}]}\n", false, false},
        {"{\"initial\":[[\"x\",0]]}\n{\"ops\":[{\"op\":\"inc\",\"key\":\"x\","
         "\"by\":1,\"before\":0,\"after\":1}]}\n",
         true, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        hf_history *h = parse(rows[i].text, rows[i].text, strlen(rows[i].text));

        if (is_determined(h, true) != rows[i].determined ||
            is_determined(h, false) != rows[i].without_unread)
            fail_msg("not so:\n%s", rows[i].text);
        hf_history_free(h);
    }
}

/* V2: the order is open, one of the two is fine. */
static void an_open_order_is_no_violation(void **state)
{
    hf_history *h = load("v02-blind-write-unknown-order.jsonl");

    (void)state;
    assert_false(is_determined(h, true));
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        hf_result *r = judge(h, (hf_level)l);

        assert_int_not_equal(r->verdict, HF_INVALID);
        hf_result_free(r);
    }
    hf_history_free(h);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixtures_get_the_verdicts_of_the_matrix),
        cmocka_unit_test(fixtures_without_certificates_are_decided),
        cmocka_unit_test(fixtures_show_the_cycle_of_the_table),
        cmocka_unit_test(determined_is_what_it_says),
        cmocka_unit_test(an_open_order_is_no_violation),
    };

    if (argc > 1)
        engine_name = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
