/* check.h: engines that judge a whole history.
 *
 * Each engine is one row of the table in check.c and one or a few files.
 */
#ifndef HF_CHECK_H
#define HF_CHECK_H

#include "base/budget.h"
#include "history/history.h"
#include "model/witness.h"

/* How to judge; all zero is the default. */
typedef struct hf_check_options {
    unsigned assume;  /* HF_REST_*: what the user promises about the data */
    unsigned threads; /* 0: as many as the machine has */
    uint32_t most;    /* findings kept of each anomaly; 0: a default */
} hf_check_options;

typedef struct hf_engine {
    const char *name;    /* "brute" */
    const char *summary; /* one line */
    /* Fills a fresh result (caller frees with hf_result_free).  Fails only
     * if the question makes no sense; limits give verdict unknown.
     * `options` may be NULL. */
    hf_status (*check)(const hf_history *h, hf_level level,
                       const hf_check_options *options, hf_budget *budget,
                       hf_result **ret, hf_error *err);
} hf_engine;

/* NULL after the last. */
const hf_engine *hf_engine_at(unsigned index);
const hf_engine *hf_engine_find(hf_str name);

/* Asks the engine; NULL: each of the table in turn until one knows.  If none
 * does the first answer stays: the later ones are for smaller histories, and
 * say so. */
HF_MUST_USE hf_status hf_engine_ask(const hf_engine *engine,
                                    const hf_history *h, hf_level level,
                                    const hf_check_options *options,
                                    hf_budget *budget, hf_result **ret,
                                    hf_error *err);

#endif
