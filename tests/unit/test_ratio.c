/* Sums and averages of decimals: exact, and how far off is too far. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/ratio.h"
#include "base/rng.h"

#define MOST 300

static hf_scalar real(const char *text)
{
    return (hf_scalar){HF_REAL, 0, text, strlen(text)};
}

static hf_wide units(const char *text)
{
    hf_wide x = 0;

    assert_true(hf_decimal_of(real(text), &x));
    return x;
}

static void exact_sums_are_right(void **state)
{
    hf_wide sum = units("0.1") + units("0.2");

    (void)state;
    assert_int_equal(hf_sum_fits(sum, units("0.2"), 2, real("0.3")),
                     HF_RATIO_YES);
    assert_int_equal(hf_sum_fits(sum, units("0.2"), 2, real("0.300")),
                     HF_RATIO_YES);
    assert_int_equal(
        hf_sum_fits(sum, units("0.2"), 2, real("0.30000000000000004")),
        HF_RATIO_PERHAPS);
    assert_int_equal(hf_sum_fits(sum, units("0.2"), 2, real("0.31")),
                     HF_RATIO_NO);
    assert_int_equal(hf_average_fits(sum, units("0.2"), 2, real("0.15")),
                     HF_RATIO_YES);
    assert_int_equal(hf_average_fits(sum, units("0.2"), 2, real("0.16")),
                     HF_RATIO_NO);
}

/* A cent is never taken for rounding in an account of a million. */
static void a_cent_counts(void **state)
{
    hf_wide sum = 100 * units("100.01");

    (void)state;
    assert_int_equal(hf_sum_fits(sum, units("100.01"), 100, real("10001.00")),
                     HF_RATIO_YES);
    assert_int_equal(hf_sum_fits(sum, units("100.01"), 100, real("10002.00")),
                     HF_RATIO_NO);
}

/* What a database with a column of floats may say is never called wrong. */
static void floats_may_round(void **state)
{
    hf_rng r;
    char shown[48];

    (void)state;
    hf_rng_seed(&r, 7);
    for (int round = 0; round < 2000; round++) {
        uint32_t n = 1 + hf_rng_below(&r, MOST);
        bool as_double = hf_rng_chance(&r, 50);
        hf_wide exact = 0, largest = 0;
        float sum = 0;
        double precise = 0;

        for (uint32_t i = 0; i < n; i++) {
            float x = (float)hf_rng_below(&r, 1u << 30) / (1 << 22);
            hf_wide seen;

            (void)snprintf(shown, sizeof(shown), "%.6g", (double)x);
            seen = units(shown);
            exact += seen;
            largest = seen > largest ? seen : largest;
            sum += x;
            precise += (double)x;
        }
        (void)snprintf(shown, sizeof(shown), as_double ? "%.17g" : "%.6g",
                       as_double ? precise : (double)sum);
        assert_int_not_equal(hf_sum_fits(exact, largest, n, real(shown)),
                             HF_RATIO_NO);
        (void)snprintf(shown, sizeof(shown), "%.6g",
                       (as_double ? precise : (double)sum) / n);
        assert_int_not_equal(hf_average_fits(exact, largest, n, real(shown)),
                             HF_RATIO_NO);
        /* and twice the limit is */
        (void)snprintf(shown, sizeof(shown), "%.9f",
                       (double)exact / 1e18 + 2.0 * n *
                                                  ((double)largest / 1e18) *
                                                  (0x1p-16 + n * 0x1p-24));
        assert_int_equal(hf_sum_fits(exact, largest, n, real(shown)),
                         HF_RATIO_NO);
    }
}

static void splits_to(const char *text, int64_t whole, int64_t rest)
{
    hf_wide w, r;

    assert_true(hf_decimal_split(real(text), &w, &r));
    assert_true(w == whole && r == rest);
}

static void whole_and_rest(void **state)
{
    hf_wide w, r;

    (void)state;
    splits_to("2.5", 2, 500000000000000000);
    splits_to("-0.5", -1, 500000000000000000);
    splits_to("-2.000", -2, 0);
    splits_to("0.000000000000000001", 0, 1);
    splits_to("-0.000000000000000001", -1, 999999999999999999);
    splits_to("12.5e1", 125, 0);
    splits_to("3e2", 300, 0);
    assert_true(hf_decimal_split(real("9223372036854775808"), &w, &r));
    assert_true(w == (hf_wide)INT64_MAX + 1 && r == 0);
    assert_true(
        hf_decimal_split((hf_scalar){.type = HF_INT, .number = -7}, &w, &r));
    assert_true(w == -7 && r == 0);
    assert_false(hf_decimal_split(real("0.0000000000000000001"), &w, &r));
    assert_false(hf_decimal_split(real("1e40"), &w, &r));
    assert_false(hf_decimal_split(real("nan"), &w, &r));
    assert_false(hf_decimal_split((hf_scalar){.type = HF_NIL}, &w, &r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_sums_are_right),
        cmocka_unit_test(a_cent_counts),
        cmocka_unit_test(floats_may_round),
        cmocka_unit_test(whole_and_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
