/* test_sql.c: values, conditions, bounds.
 *
 * What random queries compare with real databases is in prop/; here are the
 * corners: what is refused and how it is called, hostile texts, bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/out.h"
#include "sql/value.h"

/* ---- helpers ------------------------------------------------------------ */

/* The truth of a condition on a JSON row, or "refused" with *err filled. */
static const char *truth(hf_sql_dialect dialect, const char *condition,
                         const char *json, hf_error *err)
{
    static const char *const words[] = {"false", "true", "unknown", "error"};
    hf_sql_cache *c = hf_sql_cache_new(dialect);
    const hf_sql_expr *e = hf_sql_condition(c, hf_str_of(condition), err);
    hf_scalar row = {.type = HF_ROW, .text = json, .length = strlen(json)};
    const char *word = "refused";
    hf_sql_value v[8];
    hf_arena arena;

    hf_arena_init(&arena);
    if (e) {
        assert_true(hf_sql_n_columns(e) <= 8);
        for (uint32_t i = 0; i < hf_sql_n_columns(e); i++)
            assert_true(hf_sql_row_column(row, hf_sql_column_name(e, i), &arena,
                                          &v[i]));
        word = words[hf_sql_test(e, v, err)];
    }
    hf_arena_release(&arena);
    hf_sql_cache_free(c);
    return word;
}

#define TRUTH(dialect, condition, json, expected)                              \
    assert_string_equal(truth(dialect, condition, json, NULL), expected)

/* Refused, or an error on the row, for a reason with these words in it. */
static void refused(hf_sql_dialect dialect, const char *condition,
                    const char *json, const char *reason)
{
    hf_error err = {0};
    const char *word = truth(dialect, condition, json, &err);

    if ((strcmp(word, "refused") != 0 && strcmp(word, "error") != 0) ||
        !strstr(err.text, reason))
        fail_msg("%s: %s, \"%s\" without \"%s\"", condition, word, err.text,
                 reason);
}

/* ---- values ------------------------------------------------------------- */

static hf_sql_value number(const char *text)
{
    hf_sql_value v;

    assert_true(hf_sql_number(hf_str_of(text), &v));
    return v;
}

static void numbers_are_exact(void **state)
{
    hf_sql_value v;

    (void)state;
    assert_int_equal(number("-42").type, HF_SQL_INT);
    assert_int_equal(number("9223372036854775807").type, HF_SQL_INT);
    assert_int_equal(number("9223372036854775808").type, HF_SQL_DECIMAL);
    assert_int_equal(number(" 1.50 ").type, HF_SQL_DECIMAL);
    assert_int_equal(number("1.50").scale, 2);
    assert_int_equal(number("1e400").type, HF_SQL_REAL);
    assert_false(hf_sql_number(HF_STR("1.2.3"), &v));
    assert_false(hf_sql_number(HF_STR(""), &v));
    assert_false(hf_sql_number(HF_STR("."), &v));
    assert_false(hf_sql_number(HF_STR("0x10"), &v));
}

static void check_print(const char *text, const hf_sql_value *v)
{
    hf_arena arena;
    hf_str s;

    hf_arena_init(&arena);
    s = hf_sql_print(v, HF_SQL_POSTGRES, &arena);
    assert_int_equal(s.len, strlen(text));
    assert_memory_equal(s.ptr, text, s.len);
    hf_arena_release(&arena);
}

/* Results and scales as PostgreSQL prints them. */
static void decimals_have_postgres_scales(void **state)
{
    static const struct {
        char op;
        const char *a, *b, *result;
    } rows[] = {
        {'+', "0.1", "0.2", "0.3"},
        {'+', "1.50", "1", "2.50"},
        {'-', "1", "1.00", "0.00"},
        {'*', "-1.5", "2.50", "-3.750"},
        {'/', "1", "3", "0.33333333333333333333"},
        {'/', "10", "4", "2.5000000000000000"},
        {'/', "2", "3", "0.66666666666666666667"},
        {'/', "100000", "7", "14285.714285714286"},
        {'/', "0", "5", "0.00000000000000000000"},
        {'%', "-7.5", "2", "-1.5"},
    };
    bool (*const operations[])(hf_sql_value, hf_sql_value, hf_sql_value *) = {
        hf_sql_decimal_add, hf_sql_decimal_sub, hf_sql_decimal_mul,
        hf_sql_decimal_div, hf_sql_decimal_mod};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t op = (size_t)(strchr("+-*/%", rows[i].op) - "+-*/%");
        hf_sql_value v;

        assert_true(operations[op](number(rows[i].a), number(rows[i].b), &v));
        check_print(rows[i].result, &v);
    }
}

static void too_many_digits_are_said(void **state)
{
    hf_sql_value big = number("99999999999999999999999999999999999999");
    hf_sql_value v;

    (void)state;
    assert_int_equal(big.type, HF_SQL_DECIMAL);
    assert_false(hf_sql_decimal_add(big, big, &v));
    assert_false(hf_sql_decimal_mul(big, number("2.0"), &v));
    assert_true(hf_sql_decimal_sub(big, big, &v));
    check_print("0", &v);
}

static void order_is_by_class_then_value(void **state)
{
    hf_sql_value rising[] = {
        hf_sql_null(),
        hf_sql_of_bool(false),
        hf_sql_of_bool(true),
        hf_sql_of_int(INT64_MIN),
        hf_sql_of_real(-2.5),
        number("-2.4"),
        hf_sql_of_int(0),
        number("0.1"),
        hf_sql_of_int(INT64_MAX),
        number("9223372036854775807.5"),
        hf_sql_of_real(1e30),
        hf_sql_of_text(HF_STR("")),
        hf_sql_of_text(HF_STR("B")),
        hf_sql_of_text(HF_STR("a")),
        hf_sql_of_text(HF_STR("a\xff")),
        hf_sql_of_time(HF_SQL_DATE, -1),
        hf_sql_of_time(HF_SQL_DATE, 1),
        hf_sql_of_time(HF_SQL_TIMESTAMP, -9),
    };
    const int n = sizeof(rising) / sizeof(rising[0]);

    (void)state;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            assert_int_equal(hf_sql_order(&rising[i], &rising[k]),
                             i < k ? -1 : i > k);
}

static void equal_numbers_hash_alike(void **state)
{
    hf_sql_value same[] = {hf_sql_of_int(2), number("2.0"), number("2.000"),
                           hf_sql_of_real(2)};

    (void)state;
    for (int i = 1; i < 4; i++) {
        assert_int_equal(hf_sql_order(&same[0], &same[i]), 0);
        assert_true(hf_sql_hash(&same[0]) == hf_sql_hash(&same[i]));
    }
}

static void dates_are_read_and_printed(void **state)
{
    static const char *const good[] = {"2000-01-01", "2024-02-29",
                                       "1999-12-31", "0001-01-01",
                                       "1900-02-28", "5799-12-31"};
    static const char *const bad[] = {"2023-02-29", "2024-13-01", "2024-1-1",
                                      "1900-02-29", "2024-00-10", "x",
                                      "2024-01-01x"};
    int64_t n;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        hf_sql_value v;

        assert_true(hf_sql_date(hf_str_of(good[i]), &n));
        v = hf_sql_of_time(HF_SQL_DATE, n);
        check_print(good[i], &v);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(hf_sql_date(hf_str_of(bad[i]), &n));
    assert_true(hf_sql_timestamp(HF_STR("2000-01-01 00:00:01.5"), &n));
    assert_int_equal(n, 1500000);
    assert_false(hf_sql_timestamp(HF_STR("2000-01-01 25:00:00"), &n));
}

static void columns_come_out_of_rows(void **state)
{
    static const char json[] =
        "{\"a\": -5, \"b\":\"x\\\"y\", \"n\":1.50,\"z\":null, "
        "\"o\":{\"a\":7,\"l\":[1,{}]}, \"T\":true, \"q\\u0041\":3}";
    hf_scalar row = {.type = HF_ROW, .text = json, .length = sizeof(json) - 1};
    hf_scalar plain = {.type = HF_INT, .number = 9};
    hf_sql_value v;
    hf_arena arena;

    (void)state;
    hf_arena_init(&arena);
    assert_true(hf_sql_row_column(row, HF_STR("a"), NULL, &v));
    assert_int_equal(v.integer, -5);
    assert_false(hf_sql_row_column(row, HF_STR("b"), NULL, &v));
    assert_true(hf_sql_row_column(row, HF_STR("b"), &arena, &v));
    assert_memory_equal(v.text, "x\"y", 3);
    assert_true(hf_sql_row_column(row, HF_STR("n"), NULL, &v));
    assert_int_equal(v.type, HF_SQL_DECIMAL);
    assert_true(hf_sql_row_column(row, HF_STR("z"), NULL, &v));
    assert_int_equal(v.type, HF_SQL_NULL);
    assert_true(hf_sql_row_column(row, HF_STR("t"), NULL, &v)); /* T */
    assert_int_equal(v.type, HF_SQL_BOOL);
    assert_true(hf_sql_row_column(row, HF_STR("qA"), NULL, &v));
    assert_int_equal(v.integer, 3);
    assert_false(hf_sql_row_column(row, HF_STR("o"), &arena, &v));
    assert_false(hf_sql_row_column(row, HF_STR("l"), &arena, &v));
    assert_true(hf_sql_row_column(plain, HF_STR("value"), NULL, &v));
    assert_int_equal(v.integer, 9);
    assert_false(hf_sql_row_column(plain, HF_STR("a"), NULL, &v));
    hf_arena_release(&arena);
}

static void recorded_results_compare_by_value(void **state)
{
    hf_sql_value v = number("2.50");

    (void)state;
    assert_true(hf_sql_scalar_equal(
        (hf_scalar){.type = HF_REAL, .text = "2.5", .length = 3}, &v));
    v = number("3.0");
    assert_true(
        hf_sql_scalar_equal((hf_scalar){.type = HF_INT, .number = 3}, &v));
    assert_false(hf_sql_scalar_equal((hf_scalar){.type = HF_NIL}, &v));
    v = hf_sql_null();
    assert_true(hf_sql_scalar_equal((hf_scalar){.type = HF_NIL}, &v));
    assert_false(
        hf_sql_scalar_equal((hf_scalar){.type = HF_ROW, .text = "{}"}, &v));
}

/* ---- conditions --------------------------------------------------------- */

static void three_valued_logic(void **state)
{
    static const char *const words[] = {"false", "true", "unknown"};
    static const char *const texts[] = {"(a = 2)", "(a = 1)", "(z = 1)"};
    char condition[100];

    (void)state;
    for (int x = 0; x < 3; x++)
        for (int y = 0; y < 3; y++) {
            int both = x == 0 || y == 0 ? 0 : x == 2 || y == 2 ? 2 : 1;
            int either = x == 1 || y == 1 ? 1 : x == 2 || y == 2 ? 2 : 0;

            (void)snprintf(condition, sizeof(condition), "%s AND %s", texts[x],
                           texts[y]);
            TRUTH(HF_SQL_ANY, condition, "{\"a\":1,\"z\":null}", words[both]);
            (void)snprintf(condition, sizeof(condition), "%s OR %s", texts[x],
                           texts[y]);
            TRUTH(HF_SQL_ANY, condition, "{\"a\":1,\"z\":null}", words[either]);
        }
    TRUTH(HF_SQL_ANY, "NOT z = 1", "{\"z\":null}", "unknown");
    TRUTH(HF_SQL_ANY, "z IN (1, NULL)", "{\"z\":1}", "true");
    TRUTH(HF_SQL_ANY, "z IN (2, NULL)", "{\"z\":1}", "unknown");
    TRUTH(HF_SQL_ANY, "z NOT IN (2, NULL)", "{\"z\":1}", "unknown");
    TRUTH(HF_SQL_ANY, "z IS NOT DISTINCT FROM NULL", "{\"z\":null}", "true");
    TRUTH(HF_SQL_ANY, "(z = 1) IS UNKNOWN", "{\"z\":null}", "true");
}

static void negative_numbers_stay_negative(void **state)
{
    (void)state;
    TRUTH(HF_SQL_ANY, "a = -5", "{\"a\":-5}", "true");
    TRUTH(HF_SQL_ANY, "a = -5", "{\"a\":0}", "false");
    TRUTH(HF_SQL_ANY, "a = 0", "{\"a\":0}", "true");
    TRUTH(HF_SQL_ANY, "a > -2.5", "{\"a\":-2}", "true");
    TRUTH(HF_SQL_ANY, "a = -9223372036854775808",
          "{\"a\":-9223372036854775808}", "true");
}

static void what_databases_disagree_about(void **state)
{
    const hf_sql_dialect any = HF_SQL_ANY;

    (void)state;
    refused(any, "a < 'b'", "{\"a\":\"a\"}", "order of texts");
    refused(any, "a LIKE 'A%'", "{\"a\":\"ab\"}", "case of letters");
    refused(any, "a / 2 = 2", "{\"a\":5}", "rest");
    refused(any, "a / 0 = 2", "{\"a\":5}", "zero");
    refused(any, "a + 1 > 0", "{\"a\":9223372036854775807}", "overflow");
    refused(any, "a = '5'", "{\"a\":5}", "integer with text");
    refused(any, "a / 0.5 = 2", "{\"a\":1.5}", "decimals");
    refused(any, "a + 0.2 = 0.3", "{\"a\":0.1}", "decimals");
    TRUTH(any, "a = 'b'", "{\"a\":\"a\"}", "false");
    TRUTH(any, "a LIKE '5%'", "{\"a\":\"5b\"}", "true");
    TRUTH(any, "a / 2 = 2", "{\"a\":4}", "true");
    TRUTH(any, "a + 0.25 = 0.75", "{\"a\":0.5}", "true");
    /* decided without the part that cannot be said, on either side */
    TRUTH(any, "a < 'b' AND b = 2", "{\"a\":\"a\",\"b\":1}", "false");
    TRUTH(any, "b = 1 OR a < 'b'", "{\"a\":\"a\",\"b\":1}", "true");
}

static void dialects_differ(void **state)
{
    (void)state;
    TRUTH(HF_SQL_POSTGRES, "a < 'b'", "{\"a\":\"B\"}", "true");
    TRUTH(HF_SQL_POSTGRES, "a LIKE 'A%'", "{\"a\":\"ab\"}", "false");
    TRUTH(HF_SQL_SQLITE, "a LIKE 'A%'", "{\"a\":\"ab\"}", "true");
    TRUTH(HF_SQL_POSTGRES, "a / 2 = 2", "{\"a\":5}", "true");
    TRUTH(HF_SQL_POSTGRES, "a = '5'", "{\"a\":5}", "true");
    TRUTH(HF_SQL_POSTGRES, "a + 0.2 = 0.3", "{\"a\":0.1}", "true");
    TRUTH(HF_SQL_SQLITE, "a + 0.2 = 0.3", "{\"a\":0.1}", "false");
    TRUTH(HF_SQL_SQLITE, "a / 0 IS NULL", "{\"a\":5}", "true");
    TRUTH(HF_SQL_SQLITE, "a", "{\"a\":5}", "true");
    refused(HF_SQL_POSTGRES, "a / 0 IS NULL", "{\"a\":5}", "zero");
    refused(HF_SQL_POSTGRES, "a + 2147483647 > 0", "{\"a\":5}", "width");
    refused(HF_SQL_POSTGRES, "CAST(a AS int) > 0", "{\"a\":2147483648}",
            "range");
    TRUTH(HF_SQL_POSTGRES, "CAST(a AS int) = 3", "{\"a\":2.5}", "true");
    refused(HF_SQL_POSTGRES, "2147483647 + 1 > a", "{\"a\":5}", "range");
    TRUTH(HF_SQL_POSTGRES, "d >= DATE '2024-02-29'", "{\"d\":\"2024-03-01\"}",
          "true");
}

/* The parser knows PostgreSQL's precedence; others have another one. */
static void precedence_is_not_guessed(void **state)
{
    static const char *const loose[] = {
        "1 + 2 || '3' = '33'",      "'3' || 1 * 2 = '32'",   "a = b IN (1, 2)",
        "a < b IN (1, 2)",          "a BETWEEN 1 AND 2 < b", "a = b LIKE 'x'",
        "a IS DISTINCT FROM b = c", "a == b >= 1",           "a IS NULL + b",
    };
    static const char *const tight[] = {
        "(1 + 2) || '3' = '33'",
        "'3' || (1 * 2) = '32'",
        "a = (b IN (1, 2))",
        "(a < b) = (b < a)",
        "(a BETWEEN 1 AND 2) = (b = 1)",
        "abs(1 + 2) || '3' = '33'",
        "a + 1 = b + 1 AND NOT a = b",
    };
    hf_sql_cache *any = hf_sql_cache_new(HF_SQL_ANY);
    hf_sql_cache *lite = hf_sql_cache_new(HF_SQL_SQLITE);

    (void)state;
    for (size_t i = 0; i < sizeof(loose) / sizeof(loose[0]); i++)
        if (hf_sql_condition(any, hf_str_of(loose[i]), NULL) ||
            hf_sql_condition(lite, hf_str_of(loose[i]), NULL))
            fail_msg("taken: %s", loose[i]);
    for (size_t i = 0; i < sizeof(tight) / sizeof(tight[0]); i++)
        if (!hf_sql_condition(any, hf_str_of(tight[i]), NULL) ||
            !hf_sql_condition(lite, hf_str_of(tight[i]), NULL))
            fail_msg("refused: %s", tight[i]);
    TRUTH(HF_SQL_POSTGRES, "1 + 2 || '3' = '33'", "{}", "true");
    hf_sql_cache_free(any);
    hf_sql_cache_free(lite);
}

static void what_is_not_understood_is_named(void **state)
{
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {"", "syntax error"},
        {"a = ", "syntax error"},
        {"a = 1; DELETE FROM t", "more than one statement"},
        {"a = 1 ORDER BY b", "more than a condition"},
        {"a = 1 LIMIT 1", "more than a condition"},
        {"a = 1 UNION SELECT 1", "more than a condition"},
        {"a = 1 FOR UPDATE", "more than a condition"},
        {"foo(a)", "function foo()"},
        {"a ~ 'x'", "operator ~"},
        {"a @> b", "operator @>"},
        {"a SIMILAR TO 'x'", "SIMILAR TO"},
        {"a = ANY (ARRAY[1])", "ANY"},
        {"row_number() OVER () = 1", "window"},
        {"count(*) > 1", "aggregate"},
        {"a IN (SELECT 1)", "subquery"},
        {"a::money = 1", "money"},
        {"a COLLATE \"C\" = 'x'", "COLLATE"},
        {"a = current_date", "current time"},
        {"(a, b) = (1, 2)", "row"},
        {"a = ?", "parameter"},
        {"a = 'x", "quote"},
        {"a = 1 /* x", "comment"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        refused(HF_SQL_ANY, rows[i].text, "{\"a\":1,\"b\":1}", rows[i].reason);
}

static void repeat(hf_out *out, const char *text, unsigned n)
{
    while (n-- > 0)
        hf_out_text(out, text);
}

/* Long and deep texts end in an error or an answer, not in a crash. */
static void hostile_texts(void **state)
{
    static const struct {
        const char *before, *each, *middle, *after;
        unsigned n;
    } rows[] = {
        {"", "(", "1", ")", 100000},
        {"", "NOT ", "true", "", 200000},
        {"a = 1", "+1", "", "", 200000},
        {"a = 1", " AND a = 1", "", "", 3000},
        {"a = ", "- ", "1", "", 100000},
        {"a = ", "abs(", "1", ")", 100000},
        {"a = ", "f(1, ", "1", ")", 5000},
        {"a IN (1", ", 1", ")", "", 100000},
        {"a = ", "CASE WHEN true THEN ", "1", " END", 3000},
        {"", "a BETWEEN 1 AND ", "1", "", 2000},
        {"", "[", "", "]", 50000},
        {"a = '", "''", "'", "", 100000},
        {"", "/*", "", "*/", 50000},
        {"a", "::int", " = 1", "", 100000},
        {"", "\xff\xfe", "", "", 100},
        {"$", "$", "", "", 1000},
        {"(", "SELECT (", "1", ")", 2000},
    };
    hf_sql_cache *c = hf_sql_cache_new(HF_SQL_ANY);
    hf_sql_value v[4] = {{0}};
    unsigned understood = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const hf_sql_expr *e;
        hf_out text;

        hf_out_init_memory(&text);
        hf_out_text(&text, rows[i].before);
        repeat(&text, rows[i].each, rows[i].n);
        hf_out_text(&text, rows[i].middle);
        repeat(&text, rows[i].after, rows[i].n);
        e = hf_sql_condition(c, hf_out_view(&text), NULL);
        if (e && hf_sql_n_columns(e) <= 4) {
            understood++;
            (void)hf_sql_test(e, v, NULL);
        }
        hf_out_release(&text);
    }
    assert_null(hf_sql_condition(c, (hf_str){"a = 1\0", 6}, NULL));
    /* the AND, the list, the long literal, the odd name */
    assert_int_equal(understood, 4);
    hf_sql_cache_free(c);
}

/* Each BETWEEN stands in the next: nothing may double. */
static void nested_between_is_linear(void **state)
{
    hf_sql_cache *c = hf_sql_cache_new(HF_SQL_SQLITE);
    hf_sql_value v = hf_sql_of_int(1);
    const hf_sql_expr *e;
    hf_out text;

    (void)state;
    hf_out_init_memory(&text);
    repeat(&text, "(", 200);
    hf_out_text(&text, "a");
    repeat(&text, " BETWEEN 1 AND 2)", 200);
    e = hf_sql_condition(c, hf_out_view(&text), NULL);
    assert_non_null(e);
    assert_int_equal(hf_sql_test(e, &v, NULL), HF_SQL_TRUE);
    hf_out_release(&text);
    hf_sql_cache_free(c);
}

static void conditions_are_kept_by_text(void **state)
{
    hf_sql_cache *c = hf_sql_cache_new(HF_SQL_ANY);
    const hf_sql_expr *e = hf_sql_condition(c, HF_STR("a > 1"), NULL);
    hf_error first = {0}, second = {0};

    (void)state;
    assert_ptr_equal(e, hf_sql_condition(c, HF_STR("a > 1"), NULL));
    assert_ptr_not_equal(e, hf_sql_condition(c, HF_STR("a > 2"), NULL));
    assert_null(hf_sql_condition(c, HF_STR("f(a)"), &first));
    assert_null(hf_sql_condition(c, HF_STR("f(a)"), &second));
    assert_string_equal(first.text, second.text);
    assert_true(first.text[0] != '\0');
    hf_sql_cache_free(c);
}

/* ---- bounds ------------------------------------------------------------- */

static void put_end(hf_out *out, bool has, const hf_sql_value *v,
                    hf_arena *arena)
{
    if (has)
        hf_out_str(out, hf_sql_print(v, HF_SQL_POSTGRES, arena));
}

/* "a [1,2] (5,) exact; b ..." */
static void bounds(hf_sql_dialect dialect, const char *condition,
                   const char *expected)
{
    hf_sql_cache *c = hf_sql_cache_new(dialect);
    const hf_sql_expr *e = hf_sql_condition(c, hf_str_of(condition), NULL);
    const hf_sql_bound *b;
    hf_arena arena;
    hf_out out;

    assert_non_null(e);
    hf_arena_init(&arena);
    hf_out_init_memory(&out);
    for (uint32_t i = 0, n = hf_sql_bounds(e, &b); i < n; i++) {
        hf_out_text(&out, i ? "; " : "");
        hf_out_str(&out, hf_sql_column_name(e, b[i].column));
        for (uint32_t k = 0; k < b[i].n_ranges; k++) {
            const hf_sql_range *r = &b[i].ranges[k];

            hf_out_text(&out, r->has_low && !r->low_open ? " [" : " (");
            put_end(&out, r->has_low, &r->low, &arena);
            hf_out_char(&out, ',');
            put_end(&out, r->has_high, &r->high, &arena);
            hf_out_char(&out, r->has_high && !r->high_open ? ']' : ')');
        }
        hf_out_text(&out, b[i].exact ? " exact" : "");
    }
    hf_out_char(&out, '\0');
    assert_string_equal(out.at, expected);
    hf_out_release(&out);
    hf_arena_release(&arena);
    hf_sql_cache_free(c);
}

static void bounds_of_conditions(void **state)
{
    const hf_sql_dialect any = HF_SQL_ANY, pg = HF_SQL_POSTGRES;

    (void)state;
    bounds(any, "a >= 10 AND a <= 20", "a [10,20] exact");
    bounds(any, "a BETWEEN 10 AND 20 AND b = 1", "b [1,1]; a [10,20]");
    bounds(any, "10 < a", "a (10,) exact");
    bounds(any, "a IN (3, 1, 2, 1.0)", "a [1,1] [2,2] [3,3] exact");
    bounds(any, "a <> 5", "a (,5) (5,) exact");
    bounds(any, "a = 1 OR a > 7 OR a BETWEEN 0 AND 1", "a [0,1] (7,) exact");
    bounds(any, "a = 1 OR b = 1", "");
    bounds(any, "a = 1 AND b = 2 OR a = 3 AND b > 1", "a [1,1] [3,3]; b (1,)");
    bounds(any, "NOT (a < 5 OR a > 9)", "a [5,9] exact");
    bounds(any, "NOT a NOT BETWEEN 2 AND 3", "a [2,3] exact");
    bounds(any, "a > 5 AND a < 5", "a exact");
    bounds(any, "a NOT IN (1, NULL)", "a exact");
    bounds(any, "a > 1 AND a + 1 > 5", "a (1,)");
    bounds(any, "a + 1 > 5", "");
    bounds(any, "a IS NULL", "");
    bounds(any, "(a > 1) IS NOT FALSE", "");
    bounds(any, "s = 'x'", "s [x,x] exact");
    bounds(any, "s > 'x'", "");
    bounds(pg, "s > 'x'", "s (x,) exact");
    bounds(pg, "s LIKE 'ab%'", "s [ab,ac) exact");
    bounds(pg, "s LIKE 'ab%c'", "s [ab,ac)");
    bounds(pg, "s LIKE 'ab'", "s [ab,ab] exact");
    bounds(pg, "s LIKE '%b'", "");
    bounds(any, "s LIKE '12ab%'", "s [12,13)");
    bounds(HF_SQL_SQLITE, "s LIKE 'ab%'", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(decimals_have_postgres_scales),
        cmocka_unit_test(too_many_digits_are_said),
        cmocka_unit_test(order_is_by_class_then_value),
        cmocka_unit_test(equal_numbers_hash_alike),
        cmocka_unit_test(dates_are_read_and_printed),
        cmocka_unit_test(columns_come_out_of_rows),
        cmocka_unit_test(recorded_results_compare_by_value),
        cmocka_unit_test(three_valued_logic),
        cmocka_unit_test(negative_numbers_stay_negative),
        cmocka_unit_test(what_databases_disagree_about),
        cmocka_unit_test(dialects_differ),
        cmocka_unit_test(precedence_is_not_guessed),
        cmocka_unit_test(what_is_not_understood_is_named),
        cmocka_unit_test(hostile_texts),
        cmocka_unit_test(nested_between_is_linear),
        cmocka_unit_test(conditions_are_kept_by_text),
        cmocka_unit_test(bounds_of_conditions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
