/* The fixtures of tests/data/fixtures and the examples of the tables, judged
 * by the reference engine at every level, and every proof re-checked. */
#include "check/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "history/text.h"
#include "model/special.h"
#include "report/report.h"
#include "verify/verify.h"

#ifndef HF_TEST_ROOT
#define HF_TEST_ROOT "."
#endif
#define FOLDER HF_TEST_ROOT "/tests/data/fixtures/"

/* Reported one by one, counted here. */
static unsigned wrong;
/* Proofs that verify accepted, and those it does not judge. */
static unsigned verified, unverified;

static hf_history *parse(const char *name, const char *text, size_t length)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_text_read(text, length, b, &err) != HF_OK) {
        hf_builder_free(b);
        fail_msg("%s: %s", name, err.text);
    }
    if (hf_builder_finish(b, &h, &err) != HF_OK)
        fail_msg("%s: %s", name, err.text);
    return h;
}

/* Writes the result as JSON, reads it back and has the proof re-checked. */
static void check_proof(const char *name, const hf_history *h,
                        const hf_result *r)
{
    hf_verification v = {0};
    hf_status st;
    hf_claim claim;
    hf_arena arena;
    hf_error err;
    hf_out out;
    hf_json j;

    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    hf_result_write(h, r, &j);
    hf_arena_init(&arena);
    st = hf_claim_read(h, out.at, out.n, &arena, &claim, &err);
    if (st == HF_OK)
        st = hf_verify_claim(h, &claim, NULL, &v, &err);
    if (st == HF_ERR_UNSUPPORTED) {
        unverified++;
    } else if (st != HF_OK || !v.accepted) {
        print_message("%s at %s: %s\n", name, hf_level_get(r->level)->name,
                      st != HF_OK ? err.text : v.reason);
        wrong++;
    } else {
        verified++;
    }
    hf_arena_release(&arena);
    hf_out_release(&out);
}

static void expect(const char *name, const hf_history *h, hf_level level,
                   char expected)
{
    const hf_engine *brute = hf_engine_find(HF_STR("brute"));
    hf_result *r = NULL;
    hf_error err;
    char got;

    assert_non_null(brute);
    if (expected == '?')
        return;
    if (brute->check(h, level, NULL, NULL, &r, &err) != HF_OK)
        fail_msg("%s: %s", name, err.text);
    got = r->verdict == HF_VALID ? '.' : r->verdict == HF_INVALID ? 'F' : '?';
    if (got != expected) {
        print_message("%s at %s: expected %c, got %c %s\n", name,
                      hf_level_get(level)->short_name, expected, got,
                      r->reason ? r->reason : "");
        wrong++;
    }
    if (r->verdict != HF_UNKNOWN)
        check_proof(name, h, r);
    hf_result_free(r);
}

/* ---- fixtures ------------------------------------------------------------ */

static char *read_file(const char *path, size_t *ret_length)
{
    FILE *f = fopen(path, "rb");
    char *text = malloc(1 << 16);

    if (!f)
        fail_msg("could not open %s", path);
    assert_non_null(text);
    *ret_length = fread(text, 1, (1 << 16) - 1, f);
    assert_true(*ret_length < (1 << 16) - 1);
    text[*ret_length] = '\0';
    (void)fclose(f);
    return text;
}

/* Cuts the next field off *at, at a tab or the end of the line. */
static char *next_field(char **at)
{
    char *field = *at;
    size_t n = strcspn(field, "\t\n");

    *at = field + n + (field[n] != '\0');
    field[n] = '\0';
    return field;
}

static void judge_fixture(const char *file, char *at, const hf_level *columns)
{
    char path[512];
    size_t length;
    char *text;
    hf_history *h;

    (void)snprintf(path, sizeof(path), FOLDER "%s", file);
    text = read_file(path, &length);
    h = parse(file, text, length);
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++) {
        const char *field = next_field(&at);

        assert_int_equal(strlen(field), 1);
        assert_non_null(strchr("F.?", field[0]));
        expect(file, h, columns[i], field[0]);
    }
    hf_history_free(h);
    free(text);
}

static void fixtures_get_the_expected_verdicts(void **state)
{
    hf_level columns[HF_LEVEL_COUNT];
    size_t length;
    char *text = read_file(FOLDER "EXPECT.tsv", &length), *at = text;
    unsigned judged = 0;

    (void)state;
    wrong = 0;
    while (*at == '#')
        at += strcspn(at, "\n") + 1;
    assert_string_equal(next_field(&at), "file");
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++)
        assert_true(
            hf_level_find(hf_str_of(next_field(&at)), &columns[i], NULL));
    while (*at) {
        const char *file;
        char *line = at;

        at += strcspn(at, "\n");
        at += *at != '\0';
        file = next_field(&line);
        judge_fixture(file, line, columns);
        judged++;
    }
    free(text);
    print_message("%u proofs verified, %u not judged by verify\n", verified,
                  unverified);
    assert_int_equal(wrong, 0);
    assert_true(judged >= 60);
    assert_true(verified > 900);
}

/* Every number of the catalog of anomalies has a fixture of its own: n without
 * a cycle, c cycles between items, v valid ones, s sessions, r real time, q
 * conditions. */
static void every_number_of_the_catalog_is_there(void **state)
{
    static const struct {
        char kind;
        unsigned last;
    } numbers[] = {{'n', 17}, {'c', 14}, {'v', 2},
                   {'s', 8},  {'r', 6},  {'q', 16}};
    size_t length;
    char *text = read_file(FOLDER "EXPECT.tsv", &length);

    (void)state;
    wrong = 0;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        for (unsigned n = 1; n <= numbers[i].last; n++) {
            char begins[16];

            (void)snprintf(begins, sizeof(begins), "\n%c%02u-", numbers[i].kind,
                           n);
            if (!strstr(text, begins)) {
                print_message("no fixture %s\n", begins + 1);
                wrong++;
            }
        }
    free(text);
    assert_int_equal(wrong, 0);
}

/* ---- examples ------------------------------------------------------------ */

/* The example of an anomaly is invalid exactly where the table says so. */
static void examples_break_what_the_tables_say(void **state)
{
    const hf_special_form *form;

    (void)state;
    wrong = 0;
    for (unsigned a = 0; a < HF_NO_ORDER; a++) {
        const hf_anomaly_info *info = hf_anomaly_get((hf_anomaly)a);
        hf_history *h = parse(info->name, info->example, strlen(info->example));

        for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
            expect(info->name, h, (hf_level)l,
                   hf_level_forbids((hf_level)l, info->anomaly) ? 'F' : '.');
        hf_history_free(h);
    }
    for (unsigned i = 0; (form = hf_special_at(i)); i++) {
        hf_history *h = parse(form->name, form->example, strlen(form->example));

        for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
            expect(form->name, h, (hf_level)l,
                   hf_level_forbids_form((hf_level)l, form) ? 'F' : '.');
        hf_history_free(h);
    }
    assert_int_equal(wrong, 0);
}

static bool finds(const hf_result *r, hf_anomaly anomaly)
{
    for (uint32_t i = 0; i < r->n_findings; i++) {
        if (r->findings[i].anomaly == anomaly)
            return true;
    }
    return false;
}

static void check_class(const char *name, const char *example, hf_level level,
                        hf_anomaly class)
{
    const hf_engine *brute = hf_engine_find(HF_STR("brute"));
    hf_history *h = parse(name, example, strlen(example));
    hf_result *r = NULL;
    hf_error err;

    assert_int_equal(brute->check(h, level, NULL, NULL, &r, &err), HF_OK);
    if (!finds(r, class)) {
        print_message("%s is not found as %s\n", name,
                      hf_anomaly_get(class)->name);
        wrong++;
    }
    hf_result_free(r);
    hf_history_free(h);
}

/* Judged at a weakest level that forbids it, the example of a class of
 * cycles is found to be of that class, and that of a form too. */
static void examples_are_called_by_their_class(void **state)
{
    const hf_special_form *form;

    (void)state;
    wrong = 0;
    for (unsigned a = HF_G0; a < HF_NO_ORDER; a++) {
        const hf_anomaly_info *info = hf_anomaly_get((hf_anomaly)a);

        check_class(info->name, info->example, info->forbidden_at[0],
                    info->anomaly);
    }
    for (unsigned i = 0; (form = hf_special_at(i)); i++)
        check_class(form->name, form->example, form->forbidden_at[0],
                    form->anomaly);
    assert_int_equal(wrong, 0);
}

/* HF_NO_ORDER: whatever the version order, monotonic reads are broken. */
static void no_order_example_breaks_monotonic_reads(void **state)
{
    const hf_anomaly_info *info = hf_anomaly_get(HF_NO_ORDER);
    hf_history *h = parse(info->name, info->example, strlen(info->example));

    (void)state;
    wrong = 0;
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
        expect(info->name, h, (hf_level)l,
               hf_level_implies((hf_level)l, HF_MONOTONIC_READS) ? 'F' : '.');
    hf_history_free(h);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixtures_get_the_expected_verdicts),
        cmocka_unit_test(every_number_of_the_catalog_is_there),
        cmocka_unit_test(examples_break_what_the_tables_say),
        cmocka_unit_test(examples_are_called_by_their_class),
        cmocka_unit_test(no_order_example_breaks_monotonic_reads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
