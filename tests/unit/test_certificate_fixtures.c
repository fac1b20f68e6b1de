/* The catalog's fixtures, judged by the engine that knows predicates: the
 * verdict of the matrix at every level, unknown only where a fixture does not
 * say in which order versions were installed, and every proof accepted by
 * verify.  The same with predicates left aside: what is then no longer seen
 * is what a checker of items misses.
 */
#include "fixture_util.h"

#include "../prop/determined.h"
#include "history/certificate.h"
#include "history/items_only.h"
#include "history/promises.h"

/* Reported one by one, counted here. */
static unsigned wrong, unknown, verified, with_predicates;

/* Fixtures with conditions that stay invalid without them, at the levels at
 * which they were before: two versions among the rows, a row of an aborted
 * transaction, an update of a row that was returned.  All others become valid
 * at every level. */
static const char *const seen_by_items[] = {
    "n05-aborted-read-predicate.jsonl",
    "n12-two-versions.jsonl",
    "q15-predicate-lost-update.jsonl",
    "q17-own-later-write-returned.jsonl",
};

/* ---- fixtures ------------------------------------------------------------ */

static hf_history *load_checked(const char *file)
{
    hf_history *h = load(file);
    hf_error err;

    if (hf_promises_check(h, &err) != HF_OK ||
        hf_certificate_check(h, &err) != HF_OK)
        fail_msg("%s: %s", file, err.text);
    return h;
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

/* expected: F, a dot, or ? for anything. */
static void check_level(const char *file, const hf_history *h, hf_level level,
                        char expected, bool may_be_unknown)
{
    const hf_engine *engine = hf_engine_find(HF_STR("certificate"));
    hf_result *r = NULL;
    hf_error err;
    char got;

    assert_non_null(engine);
    if (engine->check(h, level, NULL, NULL, &r, &err) != HF_OK)
        fail_msg("%s: %s", file, err.text);
    got = r->verdict == HF_VALID ? '.' : r->verdict == HF_INVALID ? 'F' : '?';
    if (got == '?' && may_be_unknown) {
        unknown++;
    } else if (got != expected && expected != '?') {
        print_message("%s at %s: expected %c, got %c %s\n", file,
                      hf_level_get(level)->short_name, expected, got,
                      r->reason ? r->reason : "");
        wrong++;
    } else if (got != '?') {
        check_proof(file, h, r, &r->witness);
    }
    for (uint32_t i = 0; i < r->n_findings; i++)
        check_proof(file, h, r, &r->findings[i].witness);
    hf_result_free(r);
}

static void check_row(const row *x)
{
    hf_history *h = load_checked(x->file);
    /* conditions, too, are certain where the order is */
    bool may_be_unknown = !is_determined(h, true);

    with_predicates += has_predicates(h);
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
        check_level(x->file, h, (hf_level)l, x->verdicts[l], may_be_unknown);
    hf_history_free(h);
}

static void fixtures_get_the_verdicts_of_the_matrix(void **state)
{
    (void)state;
    wrong = unknown = verified = with_predicates = 0;
    assert_true(for_rows(check_row) >= 75);
    print_message("%u proofs accepted, %u verdicts unknown, %u with "
                  "conditions\n",
                  verified, unknown, with_predicates);
    assert_int_equal(wrong, 0);
    assert_true(with_predicates >= 35);
    assert_true(verified > 1500);
}

/* Those with conditions that must be decided at every level: all that the
 * catalog has but for the lost update, whose order is open (either way it is
 * lost), and those that speak of rows alone. */
static void conditions_are_decided(void **state)
{
    static const char *const files[] = {
        "n11-result-set-mismatch.jsonl",
        "q01-phantom.jsonl",
        "q02-phantom-update.jsonl",
        "q02-phantom-delete.jsonl",
        "q03-predicate-many-preceders.jsonl",
        "q04-aggregate-phantom.jsonl",
        "q05-predicate-read-skew.jsonl",
        "q06-write-predicate-many-preceders.jsonl",
        "q07-write-predicate-read-skew.jsonl",
        "q08-predicate-read-then-older-item.jsonl",
        "q09-skewed-statement-insert.jsonl",
        "q10-skewed-statement-sum.jsonl",
        "q11-predicate-long-fork.jsonl",
        "q12-predicate-write-skew.jsonl",
        "q13-project-manager.jsonl",
        "q14-swap-by-two-updates.jsonl",
        "q16-receipt-report-with-condition.jsonl",
        "r06-stale-predicate-read.jsonl",
        "f01-phantom-read-by-time.jsonl",
        "f02-timestamp-order-by-time.jsonl",
        "f03-expected-version-set-by-time.jsonl",
        "f04-predicate-read-then-older-item-by-time.jsonl",
        "f07-result-set-mismatch-by-time.jsonl",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        hf_history *h = load_checked(files[i]);

        if (!is_determined(h, true))
            fail_msg("%s is not determined", files[i]);
        hf_history_free(h);
    }
}

/* ---- items alone --------------------------------------------------------- */

static bool is_seen_by_items(const char *file)
{
    for (size_t i = 0; i < sizeof(seen_by_items) / sizeof(char *); i++)
        if (strcmp(file, seen_by_items[i]) == 0)
            return true;
    return false;
}

static void check_items(const row *x)
{
    hf_history *h = load_checked(x->file), *items;
    bool seen = is_seen_by_items(x->file);

    if (has_predicates(h)) {
        with_predicates++;
        items = hf_items_only(h);
        for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
            check_level(x->file, items, (hf_level)l,
                        seen ? x->verdicts[l] : '.',
                        strncmp(x->file, "q15", 3) == 0);
        hf_items_only_free(items);
    }
    hf_history_free(h);
}

static void items_alone_miss_most_of_it(void **state)
{
    (void)state;
    wrong = unknown = verified = with_predicates = 0;
    (void)for_rows(check_items);
    assert_int_equal(wrong, 0);
    assert_true(with_predicates >= 35);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixtures_get_the_verdicts_of_the_matrix),
        cmocka_unit_test(conditions_are_decided),
        cmocka_unit_test(items_alone_miss_most_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
