/* test_edn.c: the EDN reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "formats/edn.h"

/* A reader over a copy of exactly the text's size. */
typedef struct fixture {
    hf_edn e;
    char *copy;
} fixture;

static void open_text(fixture *f, const char *text, size_t length)
{
    f->copy = malloc(length ? length : 1);
    assert_non_null(f->copy);
    memcpy(f->copy, text, length);
    hf_edn_init(&f->e, f->copy, length);
}

static void close_text(fixture *f)
{
    hf_edn_release(&f->e);
    free(f->copy);
}

static void assert_int(const char *text, int64_t wanted)
{
    fixture f;
    int64_t value = 0;

    open_text(&f, text, strlen(text));
    assert_int_equal(hf_edn_peek(&f.e), HF_EDN_INT);
    assert_true(hf_edn_int(&f.e, &value));
    assert_int_equal(value, wanted);
    assert_int_equal(hf_edn_peek(&f.e), HF_EDN_END);
    assert_false(f.e.failed);
    close_text(&f);
}

/* The text of the only value, whatever kind of scalar it is. */
static void assert_scalar(const char *text, hf_scalar_type type,
                          const char *wanted)
{
    fixture f;
    hf_scalar s;

    open_text(&f, text, strlen(text));
    if (!hf_edn_scalar(&f.e, &s))
        fail_msg("%s: %s", text, f.e.err.text);
    assert_int_equal(s.type, type);
    if (wanted) {
        assert_int_equal(s.length, strlen(wanted));
        assert_memory_equal(s.text, wanted, s.length);
    }
    assert_int_equal(hf_edn_peek(&f.e), HF_EDN_END);
    close_text(&f);
}

static void assert_refused(const char *text, const char *message)
{
    fixture f;

    open_text(&f, text, strlen(text));
    while (!f.e.failed && hf_edn_peek(&f.e) != HF_EDN_END)
        (void)hf_edn_skip(&f.e, NULL);
    assert_true(f.e.failed);
    if (!strstr(f.e.err.text, message))
        fail_msg("%s: %s, wanted %s", text, f.e.err.text, message);
    close_text(&f);
}

static void test_numbers(void **state)
{
    (void)state;
    assert_int("0", 0);
    assert_int(" ,, -17 ", -17);
    assert_int("+5", 5);
    assert_int("7N", 7);
    assert_int("9223372036854775807", INT64_MAX);
    assert_int("-9223372036854775808", INT64_MIN);
    assert_scalar("9223372036854775808", HF_REAL, "9223372036854775808");
    assert_scalar("1.5e-3", HF_REAL, "1.5e-3");
    assert_scalar("22/7", HF_REAL, "22/7");
    assert_scalar("2.50M", HF_REAL, "2.50M");
    assert_scalar("##Inf", HF_REAL, "Inf");
    assert_refused("12x", "expected a number");
    assert_refused("1e", "expected a number");
    assert_refused("##Foo", "expected Inf or NaN");
}

static void test_text(void **state)
{
    (void)state;
    assert_scalar("\"a b\"", HF_TEXT, "a b");
    assert_scalar("\"\"", HF_TEXT, "");
    assert_scalar("\"q\\\"\\\\\\n\\t\"", HF_TEXT, "q\"\\\n\t");
    assert_scalar("\"\\u00e9\\u20ac\\101\"", HF_TEXT,
                  "\xc3\xa9\xe2\x82\xac"
                  "A");
    assert_scalar("\"\\ud83d\\ude00\"", HF_TEXT, "\xf0\x9f\x98\x80");
    assert_scalar("\"\xc3\xa9\"", HF_TEXT, "\xc3\xa9");
    assert_scalar(":key", HF_TEXT, "key");
    assert_scalar(":a.b/c-d?", HF_TEXT, "a.b/c-d?");
    assert_scalar("sym", HF_TEXT, "sym");
    assert_scalar("-", HF_TEXT, "-");
    assert_scalar("\\a", HF_TEXT, "a");
    assert_scalar("\\newline", HF_TEXT, "\n");
    assert_scalar("\\u0041", HF_TEXT, "A");
    assert_scalar("\\[", HF_TEXT, "[");
    assert_scalar("nil", HF_NIL, NULL);
    assert_scalar("true", HF_BOOL, NULL);
    assert_refused("\"abc", "expected the end of a string");
    assert_refused("\"a\\", "expected an escape");
    assert_refused("\"\\q\"", "expected an escape");
    assert_refused("\"\\u12\"", "expected digits of a character code");
    assert_refused("\"\\ud83d x\"", "half of a surrogate pair");
    assert_refused("\"\\ude00\"", "half of a surrogate pair");
    assert_refused(": a", "expected a value");
    assert_refused("\\", "expected a character");
}

static void test_ignored(void **state)
{
    (void)state;
    assert_int("; a comment\n ; another\n 3", 3);
    assert_int("#_ 1 #_ [a #_ b {c d}] 4", 4);
    assert_int("#_ #_ 1 2 5", 5);
    assert_int("#inst 6", 6);
    assert_int("#a.b/c #d 7 #_ 8", 7);
    assert_refused("#_", "expected a value");
    assert_refused("[1 #_]", "expected a value");
    assert_refused("#1", "expected a value");
    assert_refused("^{:a 1} b", "expected a value");
    assert_refused("'a", "expected a value");
}

static void test_collections(void **state)
{
    static const char text[] =
        "{:a [1 (2 3) #{4}], :skip {:x {}, :y \"}\"}\n, :b #tag{:c 5}}";
    fixture f;
    hf_str key, skipped;
    int64_t value;

    (void)state;
    open_text(&f, text, sizeof(text) - 1);
    assert_true(hf_edn_open(&f.e, HF_EDN_MAP));
    assert_true(hf_edn_next(&f.e));
    assert_true(hf_edn_name(&f.e, &key));
    assert_true(hf_str_eq(key, HF_STR("a")));
    assert_true(hf_edn_open(&f.e, HF_EDN_VECTOR));
    assert_true(hf_edn_next(&f.e));
    assert_true(hf_edn_int(&f.e, &value));
    assert_true(hf_edn_next(&f.e));
    assert_int_equal(hf_edn_peek(&f.e), HF_EDN_LIST);
    assert_true(hf_edn_skip(&f.e, &skipped));
    assert_true(hf_str_eq(skipped, HF_STR("(2 3)")));
    assert_true(hf_edn_next(&f.e));
    assert_true(hf_edn_open(&f.e, HF_EDN_SET));
    assert_true(hf_edn_next(&f.e));
    assert_true(hf_edn_int(&f.e, &value));
    assert_int_equal(value, 4);
    assert_false(hf_edn_next(&f.e));
    assert_false(hf_edn_next(&f.e));
    assert_true(hf_edn_next(&f.e));
    assert_true(hf_edn_name(&f.e, &key));
    assert_true(hf_edn_skip(&f.e, &skipped));
    assert_true(hf_str_eq(skipped, HF_STR("{:x {}, :y \"}\"}")));
    assert_true(hf_edn_next(&f.e));
    assert_true(hf_edn_name(&f.e, &key));
    assert_true(hf_edn_open(&f.e, HF_EDN_MAP));
    assert_true(hf_edn_next(&f.e));
    assert_true(hf_edn_skip(&f.e, NULL));
    assert_true(hf_edn_int(&f.e, &value));
    assert_int_equal(value, 5);
    assert_false(hf_edn_next(&f.e));
    assert_false(hf_edn_next(&f.e));
    assert_int_equal(hf_edn_peek(&f.e), HF_EDN_END);
    assert_false(f.e.failed);
    assert_int_equal(f.e.depth, 0);
    close_text(&f);
}

static void test_unbalanced(void **state)
{
    (void)state;
    assert_refused("[1 2", "expected a value, found the end of the input");
    assert_refused("[1 2)", "expected \"]\"");
    assert_refused("{:a [1}", "expected \"]\"");
    assert_refused("]", "expected a value");
    assert_refused("{:a}", "expected the value of a key");
    assert_refused("{:a 1 :b}", "expected the value of a key");
    assert_refused("#{1 2", "expected a value");
}

static void test_line_of_error(void **state)
{
    fixture f;

    (void)state;
    open_text(&f, "[1\n2\n ^]", 8);
    assert_false(hf_edn_skip(&f.e, NULL));
    assert_int_equal(f.e.err.line, 3);
    close_text(&f);
}

static void test_depth(void **state)
{
    static const char *const openers[] = {"[", "(", "{", "#{", "#_"};
    char text[4 * HF_EDN_DEPTH];

    (void)state;
    for (size_t i = 0; i < sizeof(openers) / sizeof(openers[0]); i++) {
        size_t n = strlen(openers[i]), length = 0;

        while (length + n <= 2 * n * HF_EDN_DEPTH &&
               length + n <= sizeof(text)) {
            memcpy(text + length, openers[i], n);
            length += n;
        }
        {
            fixture f;

            open_text(&f, text, length);
            assert_false(hf_edn_skip(&f.e, NULL));
            assert_non_null(strstr(f.e.err.text, "nested more than"));
            close_text(&f);
        }
    }
}

/* Every prefix of a value either is refused or ends: never a read beyond. */
static void test_truncation(void **state)
{
    static const char text[] = "#x.Y{:a \"b\\u0041\\n\", c/d [1 -2.5e3 nil #_ "
                               "(e \\newline \\u0042) #{true}], :f ##NaN}";
    size_t refused = 0;

    (void)state;
    for (size_t n = 0; n < sizeof(text) - 1; n++) {
        fixture f;

        open_text(&f, text, n);
        refused += !hf_edn_skip(&f.e, NULL);
        close_text(&f);
    }
    assert_int_equal(refused, sizeof(text) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),    cmocka_unit_test(test_text),
        cmocka_unit_test(test_ignored),    cmocka_unit_test(test_collections),
        cmocka_unit_test(test_unbalanced), cmocka_unit_test(test_line_of_error),
        cmocka_unit_test(test_depth),      cmocka_unit_test(test_truncation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
