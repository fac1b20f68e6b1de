/* smt_z3.c: smt.h by Z3. */
#include "solver/smt.h"

#include <stdio.h>
#include <z3.h>

#include "base/error.h"
#include "base/vec.h"

struct hf_smt {
    Z3_context z;
    Z3_solver solver;
    Z3_model model; /* of the last answer; NULL: none */
    hf_budget *budget;
    Z3_sort bool_sort, int_sort;
    uint64_t n_terms;
    unsigned n_names;
    HF_VEC(Z3_ast) room;
};

bool hf_smt_available(void)
{
    return true;
}

static void on_error(Z3_context z, Z3_error_code code)
{
    (void)z;
    (void)code; /* asked for after each answer */
}

hf_smt *hf_smt_new(hf_budget *budget)
{
    hf_smt *s = HF_NEW(hf_smt);
    Z3_config config = Z3_mk_config();

    s->z = Z3_mk_context(config);
    Z3_del_config(config);
    Z3_set_error_handler(s->z, on_error);
    s->solver = Z3_mk_solver(s->z);
    Z3_solver_inc_ref(s->z, s->solver);
    s->budget = budget;
    s->bool_sort = Z3_mk_bool_sort(s->z);
    s->int_sort = Z3_mk_int_sort(s->z);
    return s;
}

void hf_smt_free(hf_smt *s)
{
    if (!s)
        return;
    if (s->model)
        Z3_model_dec_ref(s->z, s->model);
    Z3_solver_dec_ref(s->z, s->solver);
    Z3_del_context(s->z);
    hf_vec_release(&s->room);
    hf_free(s);
}

static hf_term made(hf_smt *s, Z3_ast a)
{
    s->n_terms++;
    return (hf_term)a;
}

static hf_term constant(hf_smt *s, Z3_sort sort)
{
    Z3_symbol name = Z3_mk_int_symbol(s->z, (int)s->n_names++);

    return made(s, Z3_mk_const(s->z, name, sort));
}

hf_term hf_smt_bool(hf_smt *s)
{
    return constant(s, s->bool_sort);
}

hf_term hf_smt_int(hf_smt *s)
{
    return constant(s, s->int_sort);
}

hf_term hf_smt_number(hf_smt *s, int64_t n)
{
    return made(s, Z3_mk_int64(s->z, n, s->int_sort));
}

hf_term hf_smt_truth(hf_smt *s, bool b)
{
    return made(s, b ? Z3_mk_true(s->z) : Z3_mk_false(s->z));
}

hf_term hf_smt_not(hf_smt *s, hf_term a)
{
    return made(s, Z3_mk_not(s->z, (Z3_ast)a));
}

static const Z3_ast *several(hf_smt *s, const hf_term *a, uint32_t n)
{
    s->room.n = 0;
    for (uint32_t i = 0; i < n; i++)
        hf_vec_push(&s->room, (Z3_ast)a[i]);
    return s->room.at;
}

hf_term hf_smt_and(hf_smt *s, const hf_term *a, uint32_t n)
{
    if (n == 0)
        return hf_smt_truth(s, true);
    return n == 1 ? a[0] : made(s, Z3_mk_and(s->z, n, several(s, a, n)));
}

hf_term hf_smt_or(hf_smt *s, const hf_term *a, uint32_t n)
{
    if (n == 0)
        return hf_smt_truth(s, false);
    return n == 1 ? a[0] : made(s, Z3_mk_or(s->z, n, several(s, a, n)));
}

hf_term hf_smt_implies(hf_smt *s, hf_term a, hf_term b)
{
    return made(s, Z3_mk_implies(s->z, (Z3_ast)a, (Z3_ast)b));
}

hf_term hf_smt_equal(hf_smt *s, hf_term a, hf_term b)
{
    return made(s, Z3_mk_eq(s->z, (Z3_ast)a, (Z3_ast)b));
}

hf_term hf_smt_less(hf_smt *s, hf_term a, hf_term b)
{
    return made(s, Z3_mk_lt(s->z, (Z3_ast)a, (Z3_ast)b));
}

hf_term hf_smt_distinct(hf_smt *s, const hf_term *a, uint32_t n)
{
    return made(s, Z3_mk_distinct(s->z, n, several(s, a, n)));
}

hf_term hf_smt_for_all(hf_smt *s, const hf_term *bound, uint32_t n,
                       hf_term body)
{
    Z3_app *apps = HF_NEW_ARRAY(Z3_app, n);
    Z3_ast all;

    for (uint32_t i = 0; i < n; i++)
        apps[i] = Z3_to_app(s->z, (Z3_ast)bound[i]);
    all = Z3_mk_forall_const(s->z, 0, n, apps, 0, NULL, (Z3_ast)body);
    hf_free(apps);
    return made(s, all);
}

void hf_smt_assert(hf_smt *s, hf_term a)
{
    Z3_solver_assert(s->z, s->solver, (Z3_ast)a);
}

/* Z3 counts wall-clock milliseconds. */
static void set_limit(hf_smt *s)
{
    Z3_params p = Z3_mk_params(s->z);
    double left = 4e6;

    Z3_params_inc_ref(s->z, p);
    if (s->budget && s->budget->seconds > 0)
        left = s->budget->seconds -
               (double)(hf_clock_ns() - s->budget->started_ns) / 1e9;
    Z3_params_set_uint(s->z, p, Z3_mk_string_symbol(s->z, "timeout"),
                       left < 0.001 ? 1 : (unsigned)(left * 1000));
    Z3_solver_set_params(s->z, s->solver, p);
    Z3_params_dec_ref(s->z, p);
}

hf_smt_answer hf_smt_check(hf_smt *s)
{
    Z3_lbool answer;

    if (s->budget && hf_budget_look(s->budget))
        return HF_SMT_LIMIT;
    set_limit(s);
    answer = Z3_solver_check(s->z, s->solver);
    if (s->model)
        Z3_model_dec_ref(s->z, s->model);
    s->model = NULL;
    if (answer == Z3_L_FALSE)
        return HF_SMT_NO;
    if (answer == Z3_L_UNDEF)
        return s->budget && hf_budget_look(s->budget) ? HF_SMT_LIMIT
                                                      : HF_SMT_UNKNOWN;
    s->model = Z3_solver_get_model(s->z, s->solver);
    Z3_model_inc_ref(s->z, s->model);
    return HF_SMT_YES;
}

static Z3_ast evaluate(hf_smt *s, hf_term a)
{
    Z3_ast value = NULL;

    HF_ASSERT(s->model);
    if (!Z3_model_eval(s->z, s->model, (Z3_ast)a, true, &value))
        HF_BUG("a model without a value");
    return value;
}

bool hf_smt_is_true(hf_smt *s, hf_term a)
{
    return Z3_get_bool_value(s->z, evaluate(s, a)) == Z3_L_TRUE;
}

int64_t hf_smt_value(hf_smt *s, hf_term a)
{
    int64_t n = 0;

    if (!Z3_get_numeral_int64(s->z, evaluate(s, a), &n))
        HF_BUG("a value that is no number");
    return n;
}

uint64_t hf_smt_n_terms(const hf_smt *s)
{
    return s->n_terms;
}
