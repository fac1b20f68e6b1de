/* poly_stages.h: the stages of a check by choices, inside check/ only. */
#ifndef HF_POLY_STAGES_H
#define HF_POLY_STAGES_H

#include "check/poly.h"
#include "check/poly_walk.h"

typedef struct hf_stages {
    hf_graph_report *report;
    hf_graph *g;
    hf_result *r;
    uint64_t conflicts; /* of all searches */
    uint32_t searches, forced, pairs;
    bool guessed_sessions, pruned;
    hf_poly_walk *walk; /* NULL: not begun */
} hf_stages;

/* poly_hints.c: transactions by the middle of their times. */
hf_txn_id *hf_poly_by_middle(const hf_history *h);

/* poly_engine.c: in each `p` is built anew, and its order is the answer. */
/* From where a walk ends; session order as a guess. */
hf_order_answer hf_stage_walks(hf_stages *s, hf_poly *p, hf_walk_form form,
                               bool walks);
/* Pairs that reachability decides, then searches in turn. */
hf_order_answer hf_stage_pruned(hf_stages *s, hf_poly *p, hf_walk_form form);
/* Searches in turn only. */
hf_order_answer hf_stage_plain(hf_stages *s, hf_poly *p, hf_walk_form form);
/* Searches with p as it is, from different orders, until there is an answer. */
hf_order_answer hf_stage_in_turn(hf_stages *s, hf_poly *p, uint32_t *balance);

/* poly_race.c: walks, and reachability with searches, at the same time.  The
 * first answer counts. */
hf_order_answer hf_stages_race(hf_stages *s, hf_poly *p, hf_walk_form form,
                               bool walks);

#endif
