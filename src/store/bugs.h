/* bugs.h: the catalogue of bugs the embedded store can be told to have.
 *
 * Each bug is one mistake that a real database made or could make, and one
 * row of the table: what goes wrong, where it shows, which anomaly a checker
 * must then find.  A store has at most one bug at a time.
 */
#ifndef HF_STORE_BUGS_H
#define HF_STORE_BUGS_H

#include "base/str.h"
#include "model/anomaly.h"
#include "model/level.h"

typedef enum hf_store_bug {
    HF_BUG_NONE = 0,
    HF_BUG_LOST_UPDATE,
    HF_BUG_WRITE_SKEW,
    HF_BUG_DIRTY_WRITE,
    HF_BUG_DIRTY_READ,
    HF_BUG_ABORTED_READ,
    HF_BUG_INTERMEDIATE_READ,
    HF_BUG_OWN_WRITE_MISSED,
    HF_BUG_STALE_SNAPSHOT,
    HF_BUG_SNAPSHOT_PER_STATEMENT,
    HF_BUG_SNAPSHOT_PER_ROW,
    HF_BUG_FRACTURED_READ,
    HF_BUG_LONG_FORK,
    HF_BUG_REPLICA_LAG,
    HF_BUG_ALTERNATING_REPLICAS,
    HF_BUG_LOST_CAUSALITY,
    HF_BUG_PHANTOM,
    HF_BUG_LOCK_SKIPPED_WHEN_UNCHANGED,
    HF_BUG_TWO_ROW_VERSIONS,
    HF_BUG_KEEP_ABORTED_VERSIONS,
    HF_BUG_EARLY_CONFLICT_CHECK,
    HF_BUG_CERTIFIER_IGNORES_PREDICATES,
    HF_BUG_CERTIFIER_FORGETS,
    HF_BUG_CERTIFIER_IGNORES_READONLY,
    HF_BUG_INDEX_NOT_VERSIONED,
    HF_BUG_COMMIT_LOST,
    HF_BUG_COMMIT_REPORTED_FAILED,
    HF_BUG_COMMIT_ANSWER_LOST,
    HF_BUG_CLOCK_SKEW,
    HF_BUG_WRONG_RESULT_SET,
    HF_BUG_CERTIFIER_NEWEST_ONLY,
    HF_BUG_WRONG_ARITHMETIC,
    HF_BUG_COUNT
} hf_store_bug;

/* In which workloads a bug shows. */
#define HF_BUG_IN_REGISTER (1u << 0)
#define HF_BUG_IN_APPEND (1u << 1)
#define HF_BUG_IN_PREDICATE (1u << 2)
#define HF_BUG_IN_EMME_ITEM (1u << 3)
#define HF_BUG_IN_EMME_PREDICATE (1u << 4)

typedef struct hf_store_bug_info {
    hf_store_bug bug;
    const char *name;    /* "lost-update" */
    const char *summary; /* one line: what the store does wrong */
    unsigned workloads;  /* HF_BUG_IN_* */
    /* A level at which a store with this bug is really wrong: what `gen`
     * claims when no level is asked for. */
    hf_level shows_at;
    /* What a checker should call it, typically; HF_ANOMALY_COUNT: nothing,
     * the history stays valid. */
    hf_anomaly anomaly;
    hf_level forbidden_from; /* a weakest level that forbids the anomaly */
    unsigned percent;        /* default rate: how often it strikes */
    unsigned abort_percent;  /* share of rolled back transactions needed */
    bool needs_duplicates;   /* shows only if values are written twice */
    bool needs_times;        /* shows only with begin and end times */
} hf_store_bug_info;

/* The row of a bug, also for HF_BUG_NONE (named "none"). */
const hf_store_bug_info *hf_store_bug_get(hf_store_bug bug);

/* By name; hf_str_same_name() decides.  False if there is none;
 * *ret_suggestion (may be NULL) is then a near name or NULL. */
bool hf_store_bug_find(hf_str name, hf_store_bug *ret_bug,
                       const char **ret_suggestion);

#endif
