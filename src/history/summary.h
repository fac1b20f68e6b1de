/* summary.h: counting what is in a history. */
#ifndef HF_SUMMARY_H
#define HF_SUMMARY_H

#include "history/history.h"

/* All counts over the whole history, transactions of any outcome. */
typedef struct hf_summary {
    uint64_t by_outcome[HF_OUTCOME_COUNT];
    uint64_t by_kind[HF_OP_KIND_COUNT];
    uint64_t by_level[256]; /* transactions that name the level; [UINT8_MAX]:
                               none */
    uint64_t for_update, for_share, failed; /* operations with the flag */
    uint64_t with_interval;                 /* operations */

    /* values */
    uint64_t duplicate_values;  /* written more than once to their key */
    uint64_t ambiguous_reads;   /* reads of one key whose value has several
                                   possible writers, the initial state
                                   included */
    uint64_t unrecorded_reads;  /* reads whose result is not known */
    uint64_t unexplained_reads; /* reads of a value that nobody wrote */

    /* operations of a transaction */
    uint32_t ops_min, ops_median, ops_p90, ops_max;

    /* first begin and last end; HF_TIME_NONE if there is none */
    uint64_t first_time, last_time;

    /* certificate */
    uint64_t ordered_keys, ordered_versions;
    uint64_t with_timestamps; /* transactions */
    uint64_t version_sets;    /* predicate operations that have one */
} hf_summary;

/* Linear in the history (a read with several candidates looks through its
 * own transaction); needs one byte for each value while it runs. */
void hf_history_summary(const hf_history *h, hf_summary *ret);

#endif
