/* smt_none.c: smt.h in a build without an SMT solver.
 *
 * hf_smt_new() returns NULL, so nobody gets to call the others.
 */
#include "solver/smt.h"

#include <stddef.h>

#include "base/error.h"

bool hf_smt_available(void)
{
    return false;
}

hf_smt *hf_smt_new(hf_budget *budget)
{
    (void)budget;
    return NULL;
}

void hf_smt_free(hf_smt *s)
{
    HF_ASSERT(s == NULL);
    (void)s;
}

hf_term hf_smt_bool(hf_smt *s)
{
    (void)s;
    HF_BUG("there is no SMT solver");
}

hf_term hf_smt_int(hf_smt *s)
{
    (void)s;
    HF_BUG("there is no SMT solver");
}

hf_term hf_smt_number(hf_smt *s, int64_t n)
{
    (void)s;
    (void)n;
    HF_BUG("there is no SMT solver");
}

hf_term hf_smt_truth(hf_smt *s, bool b)
{
    (void)s;
    (void)b;
    HF_BUG("there is no SMT solver");
}

hf_term hf_smt_not(hf_smt *s, hf_term a)
{
    (void)s;
    (void)a;
    HF_BUG("there is no SMT solver");
}

hf_term hf_smt_and(hf_smt *s, const hf_term *a, uint32_t n)
{
    (void)s;
    (void)a;
    (void)n;
    HF_BUG("there is no SMT solver");
}

hf_term hf_smt_or(hf_smt *s, const hf_term *a, uint32_t n)
{
    (void)s;
    (void)a;
    (void)n;
    HF_BUG("there is no SMT solver");
}

hf_term hf_smt_implies(hf_smt *s, hf_term a, hf_term b)
{
    (void)s;
    (void)a;
    (void)b;
    HF_BUG("there is no SMT solver");
}

hf_term hf_smt_equal(hf_smt *s, hf_term a, hf_term b)
{
    (void)s;
    (void)a;
    (void)b;
    HF_BUG("there is no SMT solver");
}

hf_term hf_smt_less(hf_smt *s, hf_term a, hf_term b)
{
    (void)s;
    (void)a;
    (void)b;
    HF_BUG("there is no SMT solver");
}

hf_term hf_smt_distinct(hf_smt *s, const hf_term *a, uint32_t n)
{
    (void)s;
    (void)a;
    (void)n;
    HF_BUG("there is no SMT solver");
}

hf_term hf_smt_for_all(hf_smt *s, const hf_term *bound, uint32_t n,
                       hf_term body)
{
    (void)s;
    (void)bound;
    (void)n;
    (void)body;
    HF_BUG("there is no SMT solver");
}

void hf_smt_assert(hf_smt *s, hf_term a)
{
    (void)s;
    (void)a;
    HF_BUG("there is no SMT solver");
}

hf_smt_answer hf_smt_check(hf_smt *s)
{
    (void)s;
    HF_BUG("there is no SMT solver");
}

bool hf_smt_is_true(hf_smt *s, hf_term a)
{
    (void)s;
    (void)a;
    HF_BUG("there is no SMT solver");
}

int64_t hf_smt_value(hf_smt *s, hf_term a)
{
    (void)s;
    (void)a;
    HF_BUG("there is no SMT solver");
}

uint64_t hf_smt_n_terms(const hf_smt *s)
{
    (void)s;
    HF_BUG("there is no SMT solver");
}
