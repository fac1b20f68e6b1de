/* verify.h: the independent checker of witnesses.
 *
 * Reads a claim (verdict, level, witness) and the raw history and says
 * whether the one follows from the other.  Nothing here is shared with the
 * engines: the edges of a cycle are derived again from the operations, an
 * order is replayed against them, a core is enumerated with code of its own.
 * A bug in an engine therefore shows as a refused witness.
 */
#ifndef HF_VERIFY_H
#define HF_VERIFY_H

#include "base/budget.h"
#include "history/history.h"
#include "model/witness.h"

/* What a witness file says. */
typedef struct hf_claim {
    hf_verdict verdict;
    hf_level level;
    hf_witness witness; /* arrays live in the arena given to the reader */
} hf_claim;

/* Reads a witness object or a result object that contains one, in the form of
 * docs/json.md.  Checks the form, and that ids exist in h, not the truth. */
HF_MUST_USE hf_status hf_claim_read(const hf_history *h, const char *text,
                                    size_t length, hf_arena *arena,
                                    hf_claim *ret_claim, hf_error *err);

typedef struct hf_verification {
    bool accepted;
    char reason[320]; /* if refused: what does not follow, in one line */
} hf_verification;

/* HF_ERR_LIMIT if the budget (may be NULL) ran out before an answer;
 * HF_ERR_UNSUPPORTED for a claim of verdict unknown (nothing to prove) or an
 * anomaly that needs what this build does not have. */
HF_MUST_USE hf_status hf_verify_claim(const hf_history *h,
                                      const hf_claim *claim, hf_budget *budget,
                                      hf_verification *ret, hf_error *err);

#endif
