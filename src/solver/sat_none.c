/* sat_none.c: sat.h in a build without a SAT solver.
 *
 * hf_sat_new() returns NULL, so nobody gets to call the others.
 */
#include "solver/sat.h"

#include <stddef.h>

#include "base/error.h"

bool hf_sat_available(void)
{
    return false;
}

const char *hf_sat_name(void)
{
    return "none";
}

hf_sat *hf_sat_new(hf_budget *budget)
{
    (void)budget;
    return NULL;
}

void hf_sat_free(hf_sat *s)
{
    HF_ASSERT(s == NULL);
    (void)s;
}

int hf_sat_lit(hf_sat *s, bool likely)
{
    (void)s;
    (void)likely;
    HF_BUG("there is no SAT solver");
}

void hf_sat_clause(hf_sat *s, const int *lits, uint32_t n)
{
    (void)s;
    (void)lits;
    (void)n;
    HF_BUG("there is no SAT solver");
}

void hf_sat_assume(hf_sat *s, int lit)
{
    (void)s;
    (void)lit;
    HF_BUG("there is no SAT solver");
}

void hf_sat_effort(hf_sat *s, int conflicts)
{
    (void)s;
    (void)conflicts;
    HF_BUG("there is no SAT solver");
}

hf_sat_answer hf_sat_solve(hf_sat *s)
{
    (void)s;
    HF_BUG("there is no SAT solver");
}

bool hf_sat_true(hf_sat *s, int lit)
{
    (void)s;
    (void)lit;
    HF_BUG("there is no SAT solver");
}

bool hf_sat_failed(hf_sat *s, int lit)
{
    (void)s;
    (void)lit;
    HF_BUG("there is no SAT solver");
}

uint64_t hf_sat_n_vars(const hf_sat *s)
{
    (void)s;
    return 0;
}

uint64_t hf_sat_n_clauses(const hf_sat *s)
{
    (void)s;
    return 0;
}

uint64_t hf_sat_n_literals(const hf_sat *s)
{
    (void)s;
    return 0;
}
