/* poly_core.h: refutations, shrunk to few transactions. */
#ifndef HF_POLY_CORE_H
#define HF_POLY_CORE_H

#include "check/check.h"

/* r is unknown, but excluded by a search.  Transactions are left out as long as
 * the rest is, until few enough to enumerate are left, or those that are have a
 * proof: then r is invalid.  As long as the budget lasts. */
void hf_poly_confirm(const hf_history *h, const hf_check_options *options,
                     hf_budget *budget, hf_result *r);

/* If r is invalid by a proof, looks for as few transactions as it can that are
 * impossible by themselves, and replaces the proof by one about those.  It
 * takes at most a minute, or ten times as long as the check took if that is
 * more, and at most half of what the budget has left; whatever it finds, the
 * verdict stays. */
void hf_poly_shrink(const hf_history *h, const hf_check_options *options,
                    hf_budget *budget, hf_result *r);

#endif
