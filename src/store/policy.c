/* policy.c: which mechanisms a level consists of.
 *
 * A level gets the weakest mechanism that keeps it, so that histories of weak
 * levels do show what these allow.  Some bugs are nothing but the wrong
 * mechanism; they are applied here.
 */
#include "store/store_impl.h"

/* In words: see store.h. */
static const hf_policy serializable = {.snapshot = true,
                                       .check_writes = true,
                                       .check_reads = true,
                                       .check_scans = true};
static const hf_policy snapshot_isolation = {.snapshot = true,
                                             .check_writes = true};
static const hf_policy repeatable_read = {.check_items = true,
                                          .check_own_view = true};
static const hf_policy prefix = {.snapshot = true, .check_own_view = true};
static const hf_policy read_committed = {.check_own_view = true};
static const hf_policy read_uncommitted = {.uncommitted = true};
static const hf_policy parallel_snapshot = {.snapshot = true,
                                            .check_writes = true,
                                            .replicated = true,
                                            .order = DELIVER_CAUSAL};
static const hf_policy causal = {.snapshot = true,
                                 .check_own_view = true,
                                 .replicated = true,
                                 .order = DELIVER_CAUSAL};
static const hf_policy pram = {.snapshot = true,
                               .check_own_view = true,
                               .replicated = true,
                               .order = DELIVER_ORIGIN_ORDER};
static const hf_policy read_atomic = {.snapshot = true,
                                      .check_own_view = true,
                                      .replicated = true,
                                      .order = DELIVER_ANY_ORDER};

static const hf_policy *const by_level[HF_LEVEL_COUNT] = {
    [HF_READ_UNCOMMITTED] = &read_uncommitted,
    [HF_READ_COMMITTED] = &read_committed,
    [HF_READ_COMMITTED_AXIOMATIC] = &read_committed,
    [HF_MONOTONIC_ATOMIC_VIEW] = &read_committed,
    [HF_READ_ATOMIC] = &read_atomic,
    [HF_READ_YOUR_WRITES] = &read_atomic,
    [HF_MONOTONIC_READS] = &pram,
    [HF_MONOTONIC_WRITES] = &pram,
    [HF_WRITES_FOLLOW_READS] = &causal,
    [HF_PRAM] = &pram,
    [HF_CAUSAL] = &causal,
    [HF_CONSISTENT_VIEW] = &parallel_snapshot,
    [HF_REPEATABLE_READ] = &repeatable_read,
    [HF_PARALLEL_SNAPSHOT_ISOLATION] = &parallel_snapshot,
    [HF_STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION] = &parallel_snapshot,
    [HF_PREFIX] = &prefix,
    [HF_SNAPSHOT_ISOLATION] = &snapshot_isolation,
    [HF_STRONG_SESSION_SNAPSHOT_ISOLATION] = &snapshot_isolation,
    [HF_STRICT_SNAPSHOT_ISOLATION] = &snapshot_isolation,
    [HF_SERIALIZABLE] = &serializable,
    [HF_STRONG_SESSION_SERIALIZABLE] = &serializable,
    [HF_STRICT_SERIALIZABLE] = &serializable,
};

hf_policy hf_store_policy(hf_level level, hf_store_bug bug)
{
    hf_policy p;

    HF_ASSERT((unsigned)level < HF_LEVEL_COUNT && by_level[level]);
    p = *by_level[level];
    switch (bug) {
    case HF_BUG_LONG_FORK:
    case HF_BUG_REPLICA_LAG:
    case HF_BUG_ALTERNATING_REPLICAS:
        if (!p.replicated)
            p.order = DELIVER_CAUSAL;
        p.replicated = true;
        break;
    case HF_BUG_LOST_CAUSALITY:
        p.replicated = true;
        p.order = DELIVER_ANY_ORDER;
        break;
    case HF_BUG_CERTIFIER_IGNORES_PREDICATES:
        p.check_scans = false;
        break;
    default:
        break;
    }
    return p;
}
