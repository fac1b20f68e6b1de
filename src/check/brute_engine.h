/* brute_engine.h: the reference engine, as the table of engines sees it. */
#ifndef HF_BRUTE_ENGINE_H
#define HF_BRUTE_ENGINE_H

#include "check/check.h"

/* See hf_engine.check; budget may be NULL. */
HF_MUST_USE hf_status hf_brute_check(const hf_history *h, hf_level level,
                                     const hf_check_options *options,
                                     hf_budget *budget, hf_result **ret,
                                     hf_error *err);

#endif
