/* test_base.c: strings, maps, output, JSON in and out, budgets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/budget.h"
#include "base/json_in.h"
#include "base/json_out.h"
#include "base/map.h"
#include "base/ratio.h"
#include "base/rng.h"
#include "base/vec.h"

static void names_are_compared_kindly(void **state)
{
    (void)state;
    assert_true(
        hf_str_same_name(HF_STR("Read_Committed"), HF_STR("read-committed")));
    assert_false(hf_str_same_name(HF_STR("read"), HF_STR("reads")));
    assert_int_equal(
        hf_str_distance(HF_STR("serialisable"), HF_STR("serializable"), 3), 1);
    assert_int_equal(hf_str_distance(HF_STR("ab"), HF_STR("ba"), 3), 1);
    assert_int_equal(hf_str_distance(HF_STR("abcdef"), HF_STR("uvwxyz"), 2), 3);
}

static void integers_are_read_to_the_last_bit(void **state)
{
    int64_t n = 0;

    (void)state;
    assert_true(hf_str_to_int(HF_STR("9223372036854775807"), &n));
    assert_true(n == INT64_MAX);
    assert_true(hf_str_to_int(HF_STR("-9223372036854775808"), &n));
    assert_true(n == INT64_MIN);
    assert_false(hf_str_to_int(HF_STR("9223372036854775808"), &n));
    assert_false(hf_str_to_int(HF_STR("-"), &n));
    assert_false(hf_str_to_int(HF_STR(""), &n));
    assert_false(hf_str_to_int(HF_STR("12a"), &n));
}

static void map_keeps_what_it_is_given(void **state)
{
    hf_map m;

    (void)state;
    hf_map_init(&m);
    assert_int_equal(hf_map_get(&m, 5), UINT32_MAX);
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(hf_map_add(&m, (uint64_t)i * 4096, i), i);
    assert_int_equal(hf_map_add(&m, 4096, 77), 1);
    hf_map_set(&m, 4096, 77);
    assert_int_equal(hf_map_get(&m, 4096), 77);
    for (uint32_t i = 2; i < 10000; i++)
        assert_int_equal(hf_map_get(&m, (uint64_t)i * 4096), i);
    assert_int_equal(hf_map_get(&m, 1), UINT32_MAX);
    hf_map_release(&m);
}

static void arena_gives_zeroed_aligned_memory(void **state)
{
    hf_arena a;

    (void)state;
    hf_arena_init(&a);
    for (size_t n = 1; n < 70000; n = n * 3 + 1) {
        unsigned char *p = hf_arena_get(&a, n);

        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xaa, n);
    }
    hf_arena_reset(&a);
    assert_int_equal(*(char *)hf_arena_get(&a, 100), 0);
    assert_string_equal(hf_arena_text(&a, "abc", 3), "abc");
    hf_arena_release(&a);
}

static void json_survives_the_round_trip(void **state)
{
    static const char awkward[] = "a\"\\\n\t\x01/\xc3\xa9";
    hf_out out;
    hf_json j;
    hf_json_in in;
    hf_str key, text;
    int64_t n = 0;
    bool truth = false;

    (void)state;
    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    hf_json_object(&j);
    hf_json_key(&j, "s");
    hf_json_str(&j, hf_str_of(awkward));
    hf_json_key(&j, "list");
    hf_json_array(&j);
    hf_json_int(&j, INT64_MIN);
    hf_json_bool(&j, true);
    hf_json_null(&j);
    hf_json_array(&j);
    hf_json_end(&j);
    hf_json_end(&j);
    hf_json_end(&j);
    hf_json_in_init(&in, out.at, out.n);
    assert_true(hf_json_in_open(&in, '{'));
    assert_true(hf_json_in_next_key(&in, &key));
    assert_true(hf_json_in_string(&in, &text));
    assert_int_equal(text.len, strlen(awkward));
    assert_memory_equal(text.ptr, awkward, text.len);
    assert_true(hf_json_in_next_key(&in, &key));
    assert_true(hf_json_in_open(&in, '['));
    assert_true(hf_json_in_next_item(&in));
    assert_true(hf_json_in_int(&in, &n));
    assert_true(n == INT64_MIN);
    assert_true(hf_json_in_next_item(&in));
    assert_true(hf_json_in_bool(&in, &truth) && truth);
    assert_true(hf_json_in_next_item(&in));
    assert_true(hf_json_in_null(&in));
    assert_true(hf_json_in_next_item(&in));
    assert_true(hf_json_in_skip(&in, NULL));
    assert_false(hf_json_in_next_item(&in));
    assert_false(hf_json_in_next_key(&in, &key));
    assert_false(in.failed);
    assert_int_equal(hf_json_in_peek(&in), 0);
    hf_json_in_release(&in);
    hf_out_release(&out);
}

/* A zero byte is not the end: what stands behind it would go unread. */
static void a_zero_byte_is_no_end_of_json(void **state)
{
    static const char text[] = "1\n \0\n2";
    hf_json_in in;

    (void)state;
    hf_json_in_init(&in, text, sizeof(text) - 1);
    assert_true(hf_json_in_skip(&in, NULL));
    assert_int_equal(hf_json_in_peek(&in), 0);
    assert_true(in.failed);
    assert_int_equal(in.err.line, 2);
    hf_json_in_release(&in);
}

/* Each text is wrong somewhere; skipping one value must say so. */
static void broken_json_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "[1,]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "\"abc",
        "\"\\x\"",
        "\"\\u12\"",
        "tru",
        "1.",
        "1e",
        "-",
        "[1}",
        "\"\\ud800\"",
        "\"a\nb\"",
        "{1:2}",
        "nul",
        "+1",
        "\"\\udc00\"",
        "[,1]",
        "{,}",
        "1.5.5",
    };
    char deep[400];

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        hf_json_in in;

        hf_json_in_init(&in, texts[i], strlen(texts[i]));
        if (hf_json_in_skip(&in, NULL))
            fail_msg("accepted: %s", texts[i]);
        assert_true(in.failed);
        assert_true(strlen(in.err.text) > 0);
        assert_int_equal(in.err.line, 1);
        hf_json_in_release(&in);
    }
    memset(deep, '[', sizeof(deep));
    hf_json_in in;
    hf_json_in_init(&in, deep, sizeof(deep));
    assert_false(hf_json_in_skip(&in, NULL));
    assert_non_null(strstr(in.err.text, "nested"));
    hf_json_in_release(&in);
}

static void errors_name_the_line(void **state)
{
    static const char text[] = "[1,\n2,\n\n@]";
    hf_json_in in;

    (void)state;
    hf_json_in_init(&in, text, sizeof(text) - 1);
    assert_false(hf_json_in_skip(&in, NULL));
    assert_int_equal(in.err.line, 4);
    assert_string_equal(in.err.text, "expected a value, found \"@]\"");
    hf_json_in_release(&in);
}

static void bytes_that_are_no_utf8_become_marks(void **state)
{
    hf_out out;
    hf_json j;

    (void)state;
    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    hf_json_str(&j, HF_STR("a\xff\xc0\xaf\xed\xa0\x80z"));
    hf_out_char(&out, '\0');
    assert_string_equal(out.at,
                        "\"a\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffdz\"");
    hf_out_release(&out);
}

static void same_seed_same_numbers(void **state)
{
    hf_rng a, b;
    unsigned counts[10] = {0};

    (void)state;
    hf_rng_seed(&a, 42);
    hf_rng_seed(&b, 42);
    for (int i = 0; i < 100000; i++) {
        assert_true(hf_rng_next(&a) == hf_rng_next(&b));
        counts[hf_rng_below(&a, 10)]++;
        (void)hf_rng_below(&b, 10);
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(counts[i], 9500, 10500);
}

static bool yes(void *user)
{
    (void)user;
    return true;
}

static void budgets_are_kept(void **state)
{
    hf_budget b = {.seconds = 0.01};

    (void)state;
    hf_budget_start(&b);
    while (!hf_budget_spent(&b))
        ;
    assert_string_equal(hf_budget_reason(&b), "time limit of 0.01 s reached");
    b = (hf_budget){.bytes = 1};
    hf_budget_start(&b);
    assert_true(hf_budget_spent(&b));
    assert_string_equal(hf_budget_reason(&b),
                        "memory limit of 1 bytes reached");
    b = (hf_budget){.bytes = (size_t)1 << 40};
    hf_budget_start(&b);
    assert_false(hf_budget_spent(&b));
    assert_true(hf_budget_refuses(&b, (size_t)1 << 41));
    b = (hf_budget){.interrupted = yes};
    hf_budget_start(&b);
    assert_true(hf_budget_spent(&b));
    assert_string_equal(hf_budget_reason(&b), "interrupted");
    assert_false(hf_budget_spent(NULL));
}

static void quoting_is_safe(void **state)
{
    char small[16];

    (void)state;
    assert_string_equal(hf_quote(small, sizeof(small), "ab\n", 3), "ab\\x0a");
    (void)hf_quote(small, sizeof(small), "abcdefghijklmnopqrstuvwxyz", 26);
    assert_true(strlen(small) < sizeof(small));
    assert_non_null(strstr(small, "..."));
}

static hf_scalar decimal(const char *text)
{
    return (hf_scalar){HF_REAL, 0, text, strlen(text)};
}

static void quotients_are_known_by_their_digits(void **state)
{
    static const struct {
        int64_t sum;
        uint64_t n;
        unsigned scale;
        const char *text;
        hf_ratio_fit fit;
    } cases[] = {
        {7, 3, 0, "2.3333", HF_RATIO_YES},                /* MariaDB */
        {7, 3, 0, "2.3333333333333333", HF_RATIO_YES},    /* PostgreSQL */
        {7, 3, 0, "2.3333333333333335", HF_RATIO_YES},    /* a double */
        {7, 3, 0, "2.333333333333334", HF_RATIO_PERHAPS}, /* nearly one */
        {7, 3, 0, "2.3334", HF_RATIO_NO},
        {7, 3, 0, "2.333", HF_RATIO_PERHAPS},
        {7, 3, 0, "2.3", HF_RATIO_PERHAPS},
        {7, 3, 0, "2.4", HF_RATIO_NO},
        {8, 3, 0, "2.6", HF_RATIO_PERHAPS}, /* cut off */
        {8, 3, 0, "2.7", HF_RATIO_PERHAPS}, /* rounded */
        {8, 3, 0, "2.5", HF_RATIO_NO},
        {8, 3, 0, "2.6666", HF_RATIO_NO},
        {-7, 3, 0, "-2.3333", HF_RATIO_YES},
        {-7, 3, 0, "2.3333", HF_RATIO_NO},
        {5, 2, 0, "2.5", HF_RATIO_YES},
        {5, 2, 0, "25e-1", HF_RATIO_YES},
        {5, 2, 0, "2.50000000000000000000000000", HF_RATIO_YES},
        {25, 2, 1, "1.25", HF_RATIO_YES},
        {25, 2, 1, "12.5", HF_RATIO_NO},
        {1, 8, 4, "0.00001", HF_RATIO_YES}, /* a tie goes either way */
        {1, 20000, 0, "0.0000", HF_RATIO_YES},
        {1, 20000, 0, "0.0001", HF_RATIO_YES},
        {1, 20000, 0, "0.0002", HF_RATIO_NO},
        {-1, 1000000, 0, "0.0000", HF_RATIO_YES},
        {0, 3, 0, "-0.0", HF_RATIO_YES},
        {INT64_MAX, 1, 0, "9.223372036854776e18", HF_RATIO_YES},
        {INT64_MAX, 3, 0, "3074457345618258602.3333", HF_RATIO_YES},
        {INT64_MAX, 3, 0, "3074457345618258603.3333", HF_RATIO_PERHAPS},
        {INT64_MAX, 3, 0, "3074457345698258603.3333", HF_RATIO_NO},
        {7, 3, 0, "1e400000", HF_RATIO_PERHAPS},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (hf_ratio_fits(cases[i].sum, cases[i].n, cases[i].scale,
                          decimal(cases[i].text)) != cases[i].fit)
            fail_msg("%s", cases[i].text);
    assert_int_equal(
        hf_ratio_fits(6, 3, 0, (hf_scalar){.type = HF_INT, .number = 2}),
        HF_RATIO_YES);
    assert_int_equal(
        hf_ratio_fits(7, 3, 0, (hf_scalar){.type = HF_INT, .number = 2}),
        HF_RATIO_PERHAPS);
    assert_int_equal(hf_ratio_fits(7, 3, 0, (hf_scalar){.type = HF_NIL}),
                     HF_RATIO_NO);
}

static void decimals_are_exact(void **state)
{
    hf_wide a, b;

    (void)state;
    assert_true(hf_decimal_of(decimal("0.1"), &a));
    assert_true(a * 10 == HF_DECIMAL_ONE);
    assert_true(hf_decimal_of(decimal("-1.50e1"), &a));
    assert_true(hf_decimal_of((hf_scalar){.type = HF_INT, .number = -15}, &b));
    assert_true(a == b);
    assert_true(hf_decimal_of(decimal("0.1000000000000000000000"), &a));
    assert_false(hf_decimal_of(decimal("0.0000000000000000001"), &a));
    assert_false(hf_decimal_of(decimal("9223372036854775808"), &a));
    assert_false(hf_decimal_of(decimal("1e300"), &a));
    assert_false(hf_decimal_of((hf_scalar){.type = HF_NIL}, &a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_compared_kindly),
        cmocka_unit_test(integers_are_read_to_the_last_bit),
        cmocka_unit_test(map_keeps_what_it_is_given),
        cmocka_unit_test(arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(json_survives_the_round_trip),
        cmocka_unit_test(a_zero_byte_is_no_end_of_json),
        cmocka_unit_test(broken_json_is_refused),
        cmocka_unit_test(errors_name_the_line),
        cmocka_unit_test(bytes_that_are_no_utf8_become_marks),
        cmocka_unit_test(same_seed_same_numbers),
        cmocka_unit_test(quotients_are_known_by_their_digits),
        cmocka_unit_test(decimals_are_exact),
        cmocka_unit_test(budgets_are_kept),
        cmocka_unit_test(quoting_is_safe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
