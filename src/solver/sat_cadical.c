/* sat_cadical.c: sat.h by CaDiCaL. */
#include "solver/sat.h"

#include <ccadical.h>

#include "base/error.h"
#include "base/mem.h"

struct hf_sat {
    CCaDiCaL *solver;
    hf_budget *budget;
    int n_vars;
    uint64_t n_clauses, n_literals;
};

bool hf_sat_available(void)
{
    return true;
}

const char *hf_sat_name(void)
{
    return ccadical_signature();
}

static int stop(void *user)
{
    return hf_budget_spent(user);
}

hf_sat *hf_sat_new(hf_budget *budget)
{
    hf_sat *s = HF_NEW(hf_sat);

    s->solver = ccadical_init();
    s->budget = budget;
    ccadical_set_option(s->solver, "quiet", 1);
    /* What these do is forget the guesses. */
    ccadical_set_option(s->solver, "lucky", 0);
    ccadical_set_option(s->solver, "rephase", 0);
    ccadical_set_option(s->solver, "walk", 0);
    if (budget)
        ccadical_set_terminate(s->solver, budget, stop);
    return s;
}

void hf_sat_free(hf_sat *s)
{
    if (!s)
        return;
    ccadical_release(s->solver);
    hf_free(s);
}

int hf_sat_lit(hf_sat *s, bool likely)
{
    s->n_vars++;
    return likely ? s->n_vars : -s->n_vars;
}

void hf_sat_clause(hf_sat *s, const int *lits, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        HF_ASSERT(lits[i] != 0 && lits[i] <= s->n_vars &&
                  lits[i] >= -s->n_vars);
        ccadical_add(s->solver, lits[i]);
    }
    ccadical_add(s->solver, 0);
    s->n_clauses++;
    s->n_literals += n;
}

void hf_sat_assume(hf_sat *s, int lit)
{
    ccadical_assume(s->solver, lit);
}

void hf_sat_effort(hf_sat *s, int conflicts)
{
    ccadical_limit(s->solver, "conflicts", conflicts);
}

hf_sat_answer hf_sat_solve(hf_sat *s)
{
    if (s->budget && hf_budget_look(s->budget))
        return HF_SAT_LIMIT;
    switch (ccadical_solve(s->solver)) {
    case 10:
        return HF_SAT_YES;
    case 20:
        return HF_SAT_NO;
    default:
        return HF_SAT_LIMIT;
    }
}

bool hf_sat_true(hf_sat *s, int lit)
{
    return lit > 0 ? ccadical_val(s->solver, lit) > 0
                   : ccadical_val(s->solver, -lit) < 0;
}

bool hf_sat_failed(hf_sat *s, int lit)
{
    return ccadical_failed(s->solver, lit) != 0;
}

uint64_t hf_sat_n_vars(const hf_sat *s)
{
    return (uint64_t)s->n_vars;
}

uint64_t hf_sat_n_clauses(const hf_sat *s)
{
    return s->n_clauses;
}

uint64_t hf_sat_n_literals(const hf_sat *s)
{
    return s->n_literals;
}
