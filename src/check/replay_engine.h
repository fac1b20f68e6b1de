/* replay_engine.h: the replay engine, as the table of engines sees it. */
#ifndef HF_REPLAY_ENGINE_H
#define HF_REPLAY_ENGINE_H

#include "check/check.h"

/* See hf_engine.check; budget may be NULL.  HF_ERR_INPUT if the expected
 * order contradicts the history. */
HF_MUST_USE hf_status hf_replay_check(const hf_history *h, hf_level level,
                                      const hf_check_options *options,
                                      hf_budget *budget, hf_result **ret,
                                      hf_error *err);

#endif
