/* weak_engine.h: the engine of the weak levels, as the table of engines sees
 * it. */
#ifndef HF_WEAK_ENGINE_H
#define HF_WEAK_ENGINE_H

#include "check/check.h"

/* See hf_engine.check; budget may be NULL. */
HF_MUST_USE hf_status hf_weak_check(const hf_history *h, hf_level level,
                                    const hf_check_options *options,
                                    hf_budget *budget, hf_result **ret,
                                    hf_error *err);

#endif
