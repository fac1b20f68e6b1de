/* formula.h: clauses, and whether they can all be true.  Private to verify/.
 *
 * A small solver with learning (CDCL): two watched literals, the first unique
 * implication point, activities, restarts.  What it says is the answer of a
 * check, so it is code of this folder alone, and as plain as that can be.
 */
#ifndef HF_FORMULA_H
#define HF_FORMULA_H

#include "base/vec.h"
#include "verify/verifier.h"

/* 2 * variable, + 1 if negated. */
typedef uint32_t hf_literal;
#define HF_LITERAL_NOT(lit) ((lit) ^ 1u)

typedef struct hf_watch {
    uint32_t clause;
    hf_literal other; /* of the clause: if it is true there is nothing to do */
} hf_watch;
typedef HF_VEC(hf_watch) hf_watches;
typedef HF_VEC(uint32_t) hf_words;

typedef struct hf_formula {
    hf_verifier *v; /* its budget */
    uint32_t n;     /* variables */
    /* clauses: how many literals, how many levels (0: was given), literals */
    hf_words words;
    hf_watches *watches; /* per literal */
    int8_t *value;       /* per literal: 1, 0; -1: open */
    uint8_t *phase;      /* per variable: it was true last */
    uint8_t *seen;
    uint32_t *level;  /* per variable */
    uint32_t *reason; /* per variable: a clause, or HF_NONE */
    double *activity;
    double step;
    uint32_t *heap, *heap_at; /* open variables, the most active first */
    uint32_t n_heap;
    hf_words trail, trail_levels; /* where each level begins */
    uint32_t n_spread;            /* of the trail */
    hf_words clause;              /* the one at hand */
    hf_words given;               /* words of clauses, before the search */
    uint64_t n_learned, most_learned, n_conflicts;
    bool refuted;
} hf_formula;

void hf_formula_init(hf_formula *f, hf_verifier *v);
void hf_formula_release(hf_formula *f);
hf_literal hf_formula_new(hf_formula *f);
/* One of them is true.  Before the search only. */
void hf_formula_add(hf_formula *f, const hf_literal *lits, uint32_t n);
/* Can all be true?  False with v->status set: it came to a limit. */
bool hf_formula_is_possible(hf_formula *f);

#endif
