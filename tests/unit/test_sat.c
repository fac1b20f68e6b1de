/* test_sat.c: the SAT and SMT solvers behind our headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "solver/sat.h"
#include "solver/smt.h"

#define CLAUSE(s, ...)                                                         \
    hf_sat_clause((s), (const int[]){__VA_ARGS__},                             \
                  sizeof((int[]){__VA_ARGS__}) / sizeof(int))

static void guesses_are_kept(void **state)
{
    hf_sat *s = hf_sat_new(NULL);
    int yes[20], no[20];

    (void)state;
    if (!s)
        skip();
    for (int i = 0; i < 20; i++) {
        yes[i] = hf_sat_lit(s, true);
        no[i] = hf_sat_lit(s, false);
        CLAUSE(s, yes[i], no[i]);
    }
    assert_int_equal(hf_sat_solve(s), HF_SAT_YES);
    for (int i = 0; i < 20; i++) {
        assert_true(hf_sat_true(s, yes[i]));
        assert_false(hf_sat_true(s, no[i]));
        assert_true(hf_sat_true(s, -no[i]));
    }
    assert_int_equal(hf_sat_n_clauses(s), 20);
    assert_int_equal(hf_sat_n_literals(s), 40);
    assert_int_equal(hf_sat_n_vars(s), 40);
    hf_sat_free(s);
}

static void assumptions_last_for_one_answer(void **state)
{
    hf_sat *s = hf_sat_new(NULL);
    int a, b, c;

    (void)state;
    if (!s)
        skip();
    a = hf_sat_lit(s, true);
    b = hf_sat_lit(s, true);
    c = hf_sat_lit(s, true);
    CLAUSE(s, -a, -b);
    hf_sat_assume(s, a);
    hf_sat_assume(s, b);
    hf_sat_assume(s, c);
    assert_int_equal(hf_sat_solve(s), HF_SAT_NO);
    assert_true(hf_sat_failed(s, a) || hf_sat_failed(s, b));
    assert_false(hf_sat_failed(s, c));
    assert_int_equal(hf_sat_solve(s), HF_SAT_YES);
    CLAUSE(s, a);
    CLAUSE(s, b);
    assert_int_equal(hf_sat_solve(s), HF_SAT_NO);
    hf_sat_free(s);
}

/* Random clauses against all assignments. */
static void answers_are_those_of_enumeration(void **state)
{
    unsigned yes = 0, no = 0;
    hf_rng r;

    (void)state;
    if (!hf_sat_available())
        skip();
    hf_rng_seed(&r, 7);
    for (int round = 0; round < 300; round++) {
        hf_sat *s = hf_sat_new(NULL);
        int lits[6], clauses[40][3], n = 10 + (int)hf_rng_below(&r, 30);
        bool some = false;

        for (int i = 0; i < 6; i++)
            lits[i] = hf_sat_lit(s, hf_rng_chance(&r, 50));
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < 3; j++)
                clauses[i][j] = (int)hf_rng_below(&r, 12);
            CLAUSE(s,
                   clauses[i][0] & 1 ? -lits[clauses[i][0] / 2]
                                     : lits[clauses[i][0] / 2],
                   clauses[i][1] & 1 ? -lits[clauses[i][1] / 2]
                                     : lits[clauses[i][1] / 2],
                   clauses[i][2] & 1 ? -lits[clauses[i][2] / 2]
                                     : lits[clauses[i][2] / 2]);
        }
        for (unsigned m = 0; m < 64; m++) {
            bool all = true;

            for (int i = 0; i < n; i++) {
                bool one = false;

                for (int j = 0; j < 3; j++)
                    one = one ||
                          (m >> clauses[i][j] / 2 & 1) != (clauses[i][j] & 1u);
                all = all && one;
            }
            some = some || all;
        }
        assert_int_equal(hf_sat_solve(s), some ? HF_SAT_YES : HF_SAT_NO);
        yes += some;
        no += !some;
        hf_sat_free(s);
    }
    assert_true(yes > 20 && no > 20);
}

static bool at_once(void *user)
{
    (void)user;
    return true;
}

/* More pigeons than holes: hours, if nobody stops it. */
static void limits_are_kept(void **state)
{
    hf_budget budget = {.seconds = 0.2};
    hf_sat *s;
    int in[13][12];

    (void)state;
    if (!hf_sat_available())
        skip();
    hf_budget_start(&budget);
    s = hf_sat_new(&budget);
    for (int p = 0; p < 13; p++) {
        for (int h = 0; h < 12; h++)
            in[p][h] = hf_sat_lit(s, false);
        hf_sat_clause(s, in[p], 12);
    }
    for (int h = 0; h < 12; h++)
        for (int p = 0; p < 13; p++)
            for (int q = p + 1; q < 13; q++)
                CLAUSE(s, -in[p][h], -in[q][h]);
    assert_int_equal(hf_sat_solve(s), HF_SAT_LIMIT);
    hf_sat_free(s);
    budget = (hf_budget){.interrupted = at_once};
    hf_budget_start(&budget);
    s = hf_sat_new(&budget);
    assert_int_equal(hf_sat_solve(s), HF_SAT_LIMIT);
    hf_sat_free(s);
}

static void formulas_have_models(void **state)
{
    hf_smt *s = hf_smt_new(NULL);
    hf_term x, y, b;

    (void)state;
    if (!s)
        skip();
    x = hf_smt_int(s);
    y = hf_smt_int(s);
    b = hf_smt_bool(s);
    hf_smt_assert(s, hf_smt_less(s, x, y));
    hf_smt_assert(s, hf_smt_less(s, y, hf_smt_number(s, 2)));
    hf_smt_assert(s, hf_smt_less(s, hf_smt_number(s, -1), x));
    hf_smt_assert(s, hf_smt_equal(s, b, hf_smt_equal(s, x, y)));
    assert_int_equal(hf_smt_check(s), HF_SMT_YES);
    assert_int_equal(hf_smt_value(s, x), 0);
    assert_int_equal(hf_smt_value(s, y), 1);
    assert_false(hf_smt_is_true(s, b));
    hf_smt_assert(s, b);
    assert_int_equal(hf_smt_check(s), HF_SMT_NO);
    hf_smt_free(s);
}

static void for_all_is_for_all(void **state)
{
    hf_smt *s = hf_smt_new(NULL);
    hf_term x, y;

    (void)state;
    if (!s)
        skip();
    x = hf_smt_int(s);
    y = hf_smt_int(s);
    hf_smt_assert(s, hf_smt_for_all(s, &x, 1, hf_smt_less(s, x, y)));
    assert_int_equal(hf_smt_check(s), HF_SMT_NO);
    hf_smt_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guesses_are_kept),
        cmocka_unit_test(assumptions_last_for_one_answer),
        cmocka_unit_test(answers_are_those_of_enumeration),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(formulas_have_models),
        cmocka_unit_test(for_all_is_for_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
