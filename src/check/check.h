/* check.h: engines that judge a whole history.
 *
 * Each engine is one row of the table in check.c and one or a few files.
 */
#ifndef HF_CHECK_H
#define HF_CHECK_H

#include "base/budget.h"
#include "history/history.h"
#include "model/witness.h"

typedef struct hf_engine {
    const char *name;    /* "brute" */
    const char *summary; /* one line */
    /* Fills a fresh result (caller frees with hf_result_free).  Fails only
     * if the question makes no sense; limits give verdict unknown. */
    hf_status (*check)(const hf_history *h, hf_level level, hf_budget *budget,
                       hf_result **ret, hf_error *err);
} hf_engine;

/* NULL after the last. */
const hf_engine *hf_engine_at(unsigned index);
const hf_engine *hf_engine_find(hf_str name);

#endif
