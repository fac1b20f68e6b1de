/* sat.h: a SAT solver: clauses in, an assignment or "there is none" out.
 *
 * The only door to CaDiCaL.  Clauses may be added after an answer, and an
 * answer may be asked for under assumptions.  A literal is an int, its
 * negation is -literal, 0 is none; hf_sat_lit() makes the literals.
 *
 * The solver begins with a guess for each variable.  CaDiCaL's C interface
 * knows one guess only, "true": so hf_sat_lit() hands out the literal that is
 * false (or true) by that guess, and a caller who guesses well is answered
 * with something near its guess.  Options that throw guesses away are off.
 *
 * One object for one thread.
 */
#ifndef HF_SAT_H
#define HF_SAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/budget.h"

typedef struct hf_sat hf_sat;

typedef enum hf_sat_answer {
    HF_SAT_YES,
    HF_SAT_NO,
    HF_SAT_LIMIT /* the budget was spent, or the effort */
} hf_sat_answer;

/* Was the program built with a SAT solver? */
bool hf_sat_available(void);
const char *hf_sat_name(void); /* "cadical-1.5.3"; without one: "none" */

/* NULL if there is none.  budget is borrowed and may be NULL. */
hf_sat *hf_sat_new(hf_budget *budget);
void hf_sat_free(hf_sat *s); /* NULL: nothing */

/* A new variable as a literal that is `likely` at first. */
int hf_sat_lit(hf_sat *s, bool likely);
/* One of them is true; n 0: never. */
void hf_sat_clause(hf_sat *s, const int *lits, uint32_t n);
/* For the next hf_sat_solve() only. */
void hf_sat_assume(hf_sat *s, int lit);
/* For the next hf_sat_solve() only: HF_SAT_LIMIT after so many conflicts. */
void hf_sat_effort(hf_sat *s, int conflicts);
hf_sat_answer hf_sat_solve(hf_sat *s);
/* After HF_SAT_YES: is it true? */
bool hf_sat_true(hf_sat *s, int lit);
/* After HF_SAT_NO: was this assumption needed? */
bool hf_sat_failed(hf_sat *s, int lit);

uint64_t hf_sat_n_vars(const hf_sat *s);
uint64_t hf_sat_n_clauses(const hf_sat *s);
uint64_t hf_sat_n_literals(const hf_sat *s);

#endif
