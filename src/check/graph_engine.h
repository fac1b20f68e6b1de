/* graph_engine.h: the graph engine, as the table of engines sees it. */
#ifndef HF_GRAPH_ENGINE_H
#define HF_GRAPH_ENGINE_H

#include "check/check.h"

/* See hf_engine.check; budget may be NULL. */
HF_MUST_USE hf_status hf_graph_check(const hf_history *h, hf_level level,
                                     const hf_check_options *options,
                                     hf_budget *budget, hf_result **ret,
                                     hf_error *err);

/* The same with predicates. */
hf_status hf_certificate_engine(const hf_history *h, hf_level level,
                                const hf_check_options *options,
                                hf_budget *budget, hf_result **ret,
                                hf_error *err);

/* The same, and what is open is decided by a search (poly.h). */
hf_status hf_polygraph_check(const hf_history *h, hf_level level,
                             const hf_check_options *options, hf_budget *budget,
                             hf_result **ret, hf_error *err);

#endif
