/* comparison.h: one history, one level: engine, oracle and verify together. */
#ifndef COMPARISON_H
#define COMPARISON_H

#include "base/out.h"
#include "check/check.h"
#include "tiny.h"

typedef enum comparison {
    AGREED = 0,
    ENGINE_FAILED,   /* the engine returned an error */
    VERDICTS_DIFFER, /* engine and oracle */
    NOT_READ_BACK,   /* the written result could not be read */
    CLAIM_DIFFERS,   /* what was read back is not what was written */
    NOT_VERIFIED,    /* verify returned an error */
    REFUSED,         /* verify does not accept the witness */
    NOT_SUPPORTED,   /* verify says that it cannot judge this history */
    COMPARISON_COUNT
} comparison;

/* Runs the engine, compares with `expected`, writes the result as JSON into
 * `json` (cleared first), reads it back and has it verified.  `why` gets one
 * line on failure. */
comparison compare_level(const hf_history *h, const hf_engine *engine,
                         hf_level level, hf_verdict expected, hf_out *json,
                         hf_verdict *ret_verdict, hf_error *why);

const char *comparison_name(comparison c);

#endif
