/* bugs.c: the table of bugs the embedded store can have.
 *
 * What each bug does is in the files that do it (policy.c, read.c, scan.c,
 * commit.c); this is what people and tests need to know about it.
 */
#include "store/bugs.h"

#include "base/error.h"
#include "model/name.h"

#define REGISTER HF_BUG_IN_REGISTER
#define APPEND HF_BUG_IN_APPEND
#define PREDICATE (HF_BUG_IN_PREDICATE | HF_BUG_IN_EMME_PREDICATE)
#define ITEMS (REGISTER | APPEND | HF_BUG_IN_EMME_ITEM)
#define ALL (ITEMS | PREDICATE)

/* In the order of hf_store_bug. */
static const hf_store_bug_info bugs[HF_BUG_COUNT] = {
    {
        .bug = HF_BUG_NONE,
        .name = "none",
        .summary = "the store keeps its level",
        .workloads = ALL,
        .shows_at = HF_SERIALIZABLE,
        .anomaly = HF_ANOMALY_COUNT,
        .forbidden_from = HF_SERIALIZABLE,
    },
    {
        .bug = HF_BUG_LOST_UPDATE,
        .name = "lost-update",
        .summary = "commit does not look whether someone else has written "
                   "the same rows since the snapshot",
        .workloads = ALL,
        .shows_at = HF_SNAPSHOT_ISOLATION,
        .anomaly = HF_LOST_UPDATE,
        .forbidden_from = HF_CONSISTENT_VIEW,
        .percent = 100,
    },
    {
        .bug = HF_BUG_WRITE_SKEW,
        .name = "write-skew",
        .summary = "commit checks what was written, not what was read",
        .workloads = ALL,
        .shows_at = HF_SERIALIZABLE,
        .anomaly = HF_G2_ITEM,
        .forbidden_from = HF_REPEATABLE_READ,
        .percent = 100,
    },
    {
        .bug = HF_BUG_DIRTY_WRITE,
        .name = "dirty-write",
        .summary = "rows are overwritten in place before commit, without "
                   "locks: versions stand in the order they were written",
        .workloads = REGISTER,
        .shows_at = HF_READ_COMMITTED,
        .anomaly = HF_G0,
        .forbidden_from = HF_READ_UNCOMMITTED,
        .percent = 100,
    },
    {
        .bug = HF_BUG_DIRTY_READ,
        .name = "dirty-read",
        .summary = "reads return rows of transactions that are still running",
        .workloads = ALL,
        .shows_at = HF_READ_COMMITTED,
        .anomaly = HF_G1C,
        .forbidden_from = HF_READ_COMMITTED,
        .percent = 50,
        .abort_percent = 10,
    },
    {
        .bug = HF_BUG_ABORTED_READ,
        .name = "aborted-read",
        .summary = "a row that was rolled back is still found by readers "
                   "until someone writes it again",
        .workloads = ALL,
        .shows_at = HF_READ_COMMITTED,
        .anomaly = HF_G1A,
        .forbidden_from = HF_READ_COMMITTED,
        .percent = 50,
        .abort_percent = 25,
    },
    {
        .bug = HF_BUG_INTERMEDIATE_READ,
        .name = "intermediate-read",
        .summary = "a row that a transaction wrote several times is read as "
                   "it was in between",
        .workloads = ALL,
        .shows_at = HF_READ_COMMITTED,
        .anomaly = HF_G1B,
        .forbidden_from = HF_READ_COMMITTED,
        .percent = 100,
    },
    {
        .bug = HF_BUG_OWN_WRITE_MISSED,
        .name = "own-write-missed",
        .summary = "a transaction does not see what it wrote itself",
        .workloads = ALL,
        .shows_at = HF_READ_COMMITTED,
        .anomaly = HF_INTERNAL,
        .forbidden_from = HF_READ_UNCOMMITTED,
        .percent = 100,
    },
    {
        .bug = HF_BUG_STALE_SNAPSHOT,
        .name = "stale-snapshot",
        .summary = "a snapshot misses the last few commits, even those of "
                   "its own session",
        .workloads = ALL,
        .shows_at = HF_STRONG_SESSION_SNAPSHOT_ISOLATION,
        .anomaly = HF_G_SINGLE_SESSION,
        .forbidden_from = HF_STRONG_SESSION_SNAPSHOT_ISOLATION,
        .percent = 50,
    },
    {
        .bug = HF_BUG_SNAPSHOT_PER_STATEMENT,
        .name = "snapshot-per-statement",
        .summary = "every statement takes a snapshot of its own",
        .workloads = ALL,
        .shows_at = HF_SNAPSHOT_ISOLATION,
        .anomaly = HF_NON_REPEATABLE_READ,
        .forbidden_from = HF_CONSISTENT_VIEW,
        .percent = 100,
    },
    {
        .bug = HF_BUG_SNAPSHOT_PER_ROW,
        .name = "snapshot-per-row",
        .summary = "some rows are read as of now, others as of the snapshot, "
                   "within one statement",
        .workloads = ALL,
        .shows_at = HF_SNAPSHOT_ISOLATION,
        .anomaly = HF_G_SINGLE,
        .forbidden_from = HF_CONSISTENT_VIEW,
        .percent = 50,
    },
    {
        .bug = HF_BUG_FRACTURED_READ,
        .name = "fractured-read",
        .summary = "the rows of one commit become visible one after the "
                   "other",
        .workloads = ALL,
        .shows_at = HF_READ_ATOMIC,
        .anomaly = HF_G_SINGLE_ITEM,
        .forbidden_from = HF_READ_ATOMIC,
        .percent = 100,
    },
    {
        .bug = HF_BUG_LONG_FORK,
        .name = "long-fork",
        .summary = "sessions read from replicas that apply unrelated commits "
                   "in different orders",
        .workloads = ALL,
        .shows_at = HF_SNAPSHOT_ISOLATION,
        .anomaly = HF_G_NONADJACENT_ITEM,
        .forbidden_from = HF_SNAPSHOT_ISOLATION,
        .percent = 100,
    },
    {
        .bug = HF_BUG_REPLICA_LAG,
        .name = "replica-lag",
        .summary = "a session's transactions go to any replica, which may "
                   "not have heard of the session's earlier ones",
        .workloads = ALL,
        .shows_at = HF_CAUSAL,
        .anomaly = HF_G_SINGLE_ITEM_SESSION,
        .forbidden_from = HF_READ_YOUR_WRITES,
        .percent = 100,
    },
    {
        .bug = HF_BUG_ALTERNATING_REPLICAS,
        .name = "alternating-replicas",
        .summary = "the statements of one transaction go to different "
                   "replicas",
        .workloads = ALL,
        .shows_at = HF_SNAPSHOT_ISOLATION,
        .anomaly = HF_G_SINGLE_ITEM,
        .forbidden_from = HF_CONSISTENT_VIEW,
        .percent = 100,
    },
    {
        .bug = HF_BUG_LOST_CAUSALITY,
        .name = "lost-causality",
        .summary = "replicas apply commits in any order, effects before "
                   "their causes",
        .workloads = ALL,
        .shows_at = HF_CAUSAL,
        .anomaly = HF_G_SINGLE_ITEM_SESSION,
        .forbidden_from = HF_CAUSAL,
        .percent = 100,
    },
    {
        .bug = HF_BUG_PHANTOM,
        .name = "phantom",
        .summary = "a condition also finds rows that came to match after the "
                   "snapshot",
        .workloads = PREDICATE,
        .shows_at = HF_SNAPSHOT_ISOLATION,
        .anomaly = HF_PHANTOM,
        .forbidden_from = HF_CONSISTENT_VIEW,
        .percent = 50,
    },
    {
        .bug = HF_BUG_LOCK_SKIPPED_WHEN_UNCHANGED,
        .name = "lock-skipped-when-unchanged",
        .summary = "an update that writes the value already there does not "
                   "lock the row, and so undoes another's update",
        .workloads = REGISTER,
        .shows_at = HF_SNAPSHOT_ISOLATION,
        .anomaly = HF_LOST_UPDATE,
        .forbidden_from = HF_CONSISTENT_VIEW,
        .percent = 100,
        .needs_duplicates = true,
    },
    {
        .bug = HF_BUG_TWO_ROW_VERSIONS,
        .name = "two-row-versions",
        .summary = "a condition returns a row twice, in its old and in its "
                   "new version",
        .workloads = PREDICATE,
        .shows_at = HF_SNAPSHOT_ISOLATION,
        .anomaly = HF_TWO_VERSIONS,
        .forbidden_from = HF_READ_UNCOMMITTED,
        .percent = 100,
    },
    {
        .bug = HF_BUG_KEEP_ABORTED_VERSIONS,
        .name = "keep-aborted-versions",
        .summary = "rollback forgets one row, which stays as if committed",
        .workloads = ALL,
        .shows_at = HF_READ_COMMITTED,
        .anomaly = HF_G1A,
        .forbidden_from = HF_READ_COMMITTED,
        .percent = 100,
        .abort_percent = 25,
    },
    {
        .bug = HF_BUG_EARLY_CONFLICT_CHECK,
        .name = "early-conflict-check",
        .summary = "conflicting writes are looked for when a row is written, "
                   "not when it is committed",
        .workloads = ALL,
        .shows_at = HF_SNAPSHOT_ISOLATION,
        .anomaly = HF_LOST_UPDATE,
        .forbidden_from = HF_CONSISTENT_VIEW,
        .percent = 100,
    },
    {
        .bug = HF_BUG_CERTIFIER_IGNORES_PREDICATES,
        .name = "certifier-ignores-predicates",
        .summary = "commit checks the rows that were read, not the "
                   "conditions",
        .workloads = PREDICATE,
        .shows_at = HF_SERIALIZABLE,
        .anomaly = HF_G2,
        .forbidden_from = HF_SERIALIZABLE,
        .percent = 100,
    },
    {
        .bug = HF_BUG_CERTIFIER_FORGETS,
        .name = "certifier-forgets",
        .summary = "what was committed is no longer compared with what others "
                   "have read once another transaction begins",
        .workloads = ALL,
        .shows_at = HF_SERIALIZABLE,
        .anomaly = HF_G2_ITEM,
        .forbidden_from = HF_REPEATABLE_READ,
        .percent = 100,
    },
    {
        .bug = HF_BUG_CERTIFIER_IGNORES_READONLY,
        .name = "certifier-ignores-readonly",
        .summary = "commit looks for dangerous patterns of dependencies, but "
                   "not at transactions that only read",
        .workloads = ITEMS,
        .shows_at = HF_SERIALIZABLE,
        .anomaly = HF_G2_ITEM,
        .forbidden_from = HF_REPEATABLE_READ,
        .percent = 100,
    },
    {
        .bug = HF_BUG_INDEX_NOT_VERSIONED,
        .name = "index-not-versioned",
        .summary = "a condition finds rows by their newest value and returns "
                   "them as of the snapshot",
        .workloads = PREDICATE,
        .shows_at = HF_SNAPSHOT_ISOLATION,
        .anomaly = HF_RESULT_SET_MISMATCH,
        .forbidden_from = HF_READ_UNCOMMITTED,
        .percent = 100,
    },
    {
        .bug = HF_BUG_COMMIT_LOST,
        .name = "commit-lost",
        .summary = "a commit is acknowledged and then lost",
        .workloads = ALL,
        .shows_at = HF_STRONG_SESSION_SNAPSHOT_ISOLATION,
        .anomaly = HF_G_SINGLE_SESSION,
        .forbidden_from = HF_READ_YOUR_WRITES,
        .percent = 25,
    },
    {
        .bug = HF_BUG_COMMIT_REPORTED_FAILED,
        .name = "commit-reported-failed",
        .summary = "a commit takes effect but the client is told that it "
                   "failed",
        .workloads = ALL,
        .shows_at = HF_READ_COMMITTED,
        .anomaly = HF_G1A,
        .forbidden_from = HF_READ_COMMITTED,
        .percent = 25,
    },
    {
        .bug = HF_BUG_COMMIT_ANSWER_LOST,
        .name = "commit-answer-lost",
        .summary = "a commit takes effect and the client hears nothing: no "
                   "violation, if recorded as unknown",
        .workloads = ALL,
        .shows_at = HF_SERIALIZABLE,
        .anomaly = HF_ANOMALY_COUNT,
        .forbidden_from = HF_SERIALIZABLE,
        .percent = 25,
    },
    {
        .bug = HF_BUG_CLOCK_SKEW,
        .name = "clock-skew",
        .summary = "the clients' clocks differ, so that recorded times "
                   "contradict what happened",
        .workloads = ALL,
        .shows_at = HF_STRICT_SERIALIZABLE,
        .anomaly = HF_G1C_REALTIME,
        .forbidden_from = HF_STRICT_SNAPSHOT_ISOLATION,
        .percent = 50,
        .needs_times = true,
    },
    {
        .bug = HF_BUG_WRONG_RESULT_SET,
        .name = "wrong-result-set",
        .summary = "a condition leaves out a row that matches or returns one "
                   "that does not",
        .workloads = PREDICATE,
        .shows_at = HF_SERIALIZABLE,
        .anomaly = HF_RESULT_SET_MISMATCH,
        .forbidden_from = HF_READ_UNCOMMITTED,
        .percent = 20,
    },
    {
        .bug = HF_BUG_CERTIFIER_NEWEST_ONLY,
        .name = "certifier-newest-only",
        .summary = "commit looks at the newest version of what was read even "
                   "if its writer has not committed, and misses the committed "
                   "one below it",
        .workloads = ALL,
        .shows_at = HF_SERIALIZABLE,
        .anomaly = HF_G2_ITEM,
        .forbidden_from = HF_REPEATABLE_READ,
        .percent = 100,
    },
    {
        .bug = HF_BUG_WRONG_ARITHMETIC,
        .name = "wrong-arithmetic",
        .summary = "an update that adds to a number adds one too many now and "
                   "then",
        .workloads = REGISTER,
        .shows_at = HF_SERIALIZABLE,
        .anomaly = HF_SEMANTIC_ERROR,
        .forbidden_from = HF_READ_UNCOMMITTED,
        .percent = 10,
    },
};

const hf_store_bug_info *hf_store_bug_get(hf_store_bug bug)
{
    HF_ASSERT((unsigned)bug < HF_BUG_COUNT);
    HF_ASSERT(bugs[bug].bug == bug);
    return &bugs[bug];
}

static bool bug_names(unsigned index, hf_name_row *ret_row)
{
    static const char *const no_aliases[] = {NULL};

    if (index >= HF_BUG_COUNT)
        return false;
    *ret_row = (hf_name_row){bugs[index].name, NULL, no_aliases};
    return true;
}

bool hf_store_bug_find(hf_str name, hf_store_bug *ret_bug,
                       const char **ret_suggestion)
{
    unsigned index;

    if (!hf_name_find(bug_names, name, &index)) {
        if (ret_suggestion)
            *ret_suggestion = hf_name_suggest(bug_names, name, NULL);
        return false;
    }
    *ret_bug = (hf_store_bug)index;
    return true;
}
