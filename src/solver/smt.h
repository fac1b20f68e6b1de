/* smt.h: an SMT solver: formulas over Booleans and integers.
 *
 * The only door to Z3, and as wide as the paper's encoding of predictions
 * needs it: uninterpreted functions over transactions would do nothing here
 * that named constants do not, so a term is a Boolean or integer constant, or
 * made of others.  Terms belong to their solver.
 */
#ifndef HF_SMT_H
#define HF_SMT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/budget.h"

typedef struct hf_smt hf_smt;
typedef struct hf_smt_term *hf_term;

typedef enum hf_smt_answer {
    HF_SMT_YES,
    HF_SMT_NO,
    HF_SMT_LIMIT,  /* the budget was spent */
    HF_SMT_UNKNOWN /* the solver gave up */
} hf_smt_answer;

bool hf_smt_available(void);

/* NULL if there is none.  budget is borrowed and may be NULL. */
hf_smt *hf_smt_new(hf_budget *budget);
void hf_smt_free(hf_smt *s); /* NULL: nothing */

hf_term hf_smt_bool(hf_smt *s); /* a new constant */
hf_term hf_smt_int(hf_smt *s);
hf_term hf_smt_number(hf_smt *s, int64_t n);
hf_term hf_smt_truth(hf_smt *s, bool b);
hf_term hf_smt_not(hf_smt *s, hf_term a);
hf_term hf_smt_and(hf_smt *s, const hf_term *a, uint32_t n); /* 0: true */
hf_term hf_smt_or(hf_smt *s, const hf_term *a, uint32_t n);  /* 0: false */
hf_term hf_smt_implies(hf_smt *s, hf_term a, hf_term b);
hf_term hf_smt_equal(hf_smt *s, hf_term a, hf_term b);
hf_term hf_smt_less(hf_smt *s, hf_term a, hf_term b);
hf_term hf_smt_distinct(hf_smt *s, const hf_term *a, uint32_t n);
/* For all values of these integer constants. */
hf_term hf_smt_for_all(hf_smt *s, const hf_term *bound, uint32_t n,
                       hf_term body);

void hf_smt_assert(hf_smt *s, hf_term a);
hf_smt_answer hf_smt_check(hf_smt *s);
/* After HF_SMT_YES. */
bool hf_smt_is_true(hf_smt *s, hf_term a);
int64_t hf_smt_value(hf_smt *s, hf_term a);

uint64_t hf_smt_n_terms(const hf_smt *s); /* made so far */

#endif
