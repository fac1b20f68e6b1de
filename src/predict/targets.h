/* targets.h: what a target level asks, as switches for the encoding. */
#ifndef HF_PREDICT_TARGETS_H
#define HF_PREDICT_TARGETS_H

#include "predict/predict.h"

/* What one view of a transaction is: the reads that see one state. */
typedef enum hf_view_kind {
    HF_VIEW_READS,     /* each read after what earlier reads saw */
    HF_VIEW_STATEMENT, /* one for each statement, never older than before */
    HF_VIEW_TXN        /* one for the transaction */
} hf_view_kind;

/* Rules about "transaction a is visible to this view of c". */
typedef struct hf_target_rules {
    hf_view_kind view;
    bool sessions; /* a is earlier in the session */
    bool causal;   /* visible to somebody visible */
    bool prefix;   /* before somebody visible in the commit order */
    bool conflict; /* before c in the commit order and both write a key */
    bool locks;    /* locking reads take the newest version and keep it, and
                      so does a write: no other order of c and a writer of the
                      key is seen by what c reads later */
    bool internal; /* a key read twice is read from the same transaction */
} hf_target_rules;

const hf_target_rules *hf_target_rules_of(hf_predict_target target);

/* Is a second row of a primary key refused, seen or not?  Not in replicas that
 * each go on by themselves. */
static inline bool hf_target_is_unique(const hf_target_rules *rules)
{
    return rules->locks || (rules->conflict && rules->prefix);
}

#endif
