/* poly_core.h: refutations, shrunk to few transactions. */
#ifndef HF_POLY_CORE_H
#define HF_POLY_CORE_H

#include "check/check.h"

/* If r is invalid by a proof, and h has neither predicate operations nor
 * statements, looks for as few transactions as it can that are impossible by
 * themselves, and replaces the proof by one about those.  It takes at most a
 * second, or as long as the check took if that is more, and at most half of
 * what the budget has left; whatever it finds, the verdict stays. */
void hf_poly_shrink(const hf_history *h, const hf_check_options *options,
                    hf_budget *budget, hf_result *r);

#endif
