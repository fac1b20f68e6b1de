/* Conditions on one row, as the reference engine evaluates them. */
#include "check/brute.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define NO HF_BRUTE_MATCH_NO
#define YES HF_BRUTE_MATCH_YES
#define ERROR HF_BRUTE_MATCH_ERROR

typedef struct sample {
    const char *condition;
    hf_brute_match expected;
} sample;

static void expect(hf_scalar row, const sample *samples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hf_brute_match got =
            hf_brute_condition(hf_str_of(samples[i].condition), row);

        if (got != samples[i].expected)
            fail_msg("\"%s\": expected %d, got %d", samples[i].condition,
                     samples[i].expected, got);
    }
}

#define EXPECT(row, ...)                                                       \
    do {                                                                       \
        const sample samples[] = {__VA_ARGS__};                                \
        expect(row, samples, sizeof(samples) / sizeof(samples[0]));            \
    } while (0)

static hf_scalar integer(int64_t n)
{
    return (hf_scalar){.type = HF_INT, .number = n};
}

static hf_scalar text(hf_scalar_type type, const char *s)
{
    return (hf_scalar){.type = type, .text = s, .length = strlen(s)};
}

static void comparisons_and_arithmetic(void **state)
{
    (void)state;
    EXPECT(integer(30), {"value = 30", YES}, {"value <> 30", NO},
           {"value != 31", YES}, {"value < 30", NO}, {"value <= 30", YES},
           {"value > 29", YES}, {"value >= 31", NO}, {"value % 3 = 0", YES},
           {"value%7=2", YES}, {"-value = -30", YES}, {"value - -1 = 31", YES},
           {"2 + 3 * 4 = 14", YES}, {"(2 + 3) * 4 = 20", YES},
           {"value / 3 = 10", YES}, {"value / 7 = 4", ERROR},
           {"value % 0 = 0", ERROR}, {"value < 30.5", YES},
           {"value = 30.0", YES}, {"30 = value", YES});
    EXPECT(integer(INT64_MAX), {"value + 1 > 0", ERROR},
           {"value = 9223372036854775807", YES},
           {"value < 9223372036854775808", ERROR});
    EXPECT(integer(-7), {"value % 3 = -1", YES}, {"value < 0", YES});
}

static void logic_has_three_values(void **state)
{
    (void)state;
    EXPECT(integer(3), {"true", YES}, {"FALSE", NO}, {"not false", YES},
           {"value = 3 and value < 4", YES}, {"value = 4 or value = 3", YES},
           {"value = 4 OR value = 5", NO}, {"NOT value = 4", YES}, {"null", NO},
           {"null = null", NO}, {"not null = 1", NO}, {"null or true", YES},
           {"null and false or value = 3", YES}, {"not (null and false)", YES},
           {"value is null", NO}, {"value is not null", YES},
           {"value = 3 or value = 4 and false", YES},
           {"(value = 3 or value = 4) and false", NO}, {"value", ERROR},
           {"value and true", ERROR});
}

static void between_and_in(void **state)
{
    (void)state;
    EXPECT(integer(5), {"value between 1 and 5", YES},
           {"value BETWEEN 6 AND 9", NO}, {"value not between 6 and 9", YES},
           {"value between 1 and 5 and value = 5", YES},
           {"value in (1, 5)", YES}, {"value IN (1,2)", NO},
           {"value not in (1,2)", YES}, {"value in (1, null)", NO},
           {"value not in (1, null)", NO}, {"value in ()", ERROR},
           {"value in (1", ERROR});
}

static void texts_are_equal_or_not(void **state)
{
    (void)state;
    EXPECT(text(HF_TEXT, "pear"), {"value = 'pear'", YES},
           {"value <> 'pear'", NO}, {"value = 'apple'", NO},
           {"value in ('apple','pear')", YES}, {"value < 'z'", ERROR},
           {"value = 3", ERROR}, {"value = 'it''s'", ERROR},
           {"value = 'open", ERROR});
    EXPECT(text(HF_REAL, "2.5"), {"value > 2", YES}, {"value = 2.5", YES},
           {"value < 2", NO});
    EXPECT(((hf_scalar){.type = HF_BOOL, .number = 1}), {"value = true", YES},
           {"value", YES}, {"not value", NO});
}

static void rows_have_columns(void **state)
{
    hf_scalar row = text(HF_ROW, "{\"owner\":\"bo\",\"sum\":100,\"x\":null}");

    (void)state;
    EXPECT(row, {"sum = 100", YES}, {"owner = 'bo' and sum > 99", YES},
           {"sum % 3 = 1", YES}, {"x is null", YES}, {"x = 1", NO},
           {"other = 1", ERROR}, {"value = 1", ERROR});
    EXPECT(((hf_scalar){.type = HF_NIL}), {"true", NO}, {"nonsense(", NO});
}

static void what_is_not_understood_is_an_error(void **state)
{
    char deep[4096];

    (void)state;
    EXPECT(integer(1), {"", ERROR}, {"value =", ERROR}, {"= 1", ERROR},
           {"value = 1)", ERROR}, {"(value = 1", ERROR},
           {"soundex(value) = 1", ERROR}, {"value like 'x'", ERROR},
           {"value = 1 value = 1", ERROR}, {"value not 3", ERROR},
           {"3x = 3", ERROR}, {"value == 1", YES});
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    EXPECT(integer(1), {deep, ERROR});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons_and_arithmetic),
        cmocka_unit_test(logic_has_three_values),
        cmocka_unit_test(between_and_in),
        cmocka_unit_test(texts_are_equal_or_not),
        cmocka_unit_test(rows_have_columns),
        cmocka_unit_test(what_is_not_understood_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
