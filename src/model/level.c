/* level.c: the table of isolation levels and the questions asked of it.
 *
 * Definitions follow Adya for the levels that are conditions on dependency
 * cycles and Biswas and Enea for the levels that are conditions on a commit
 * order.  The arrows are direct ones; hf_level_implies() follows them.  Every
 * cost here is bounded by the size of the table.
 */
#include "model/level.h"

#include "base/error.h"
#include "model/name.h"
#include "model/rows.h"

/* In the order of hf_level. */
static const hf_level_info levels[HF_LEVEL_COUNT] = {
    {
        .level = HF_READ_UNCOMMITTED,
        .name = "read-uncommitted",
        .short_name = "RU",
        .aliases =
            HF_NAMES("PL-1", "degree-1", "browse", "uncommitted-read",
                     "mysql-read-uncommitted", "sql-server-read-uncommitted"),
        .shape = HF_SHAPE_WW,
        .implies = HF_NO_LEVELS,
        .summary = "writes of two transactions are not interleaved; reads "
                   "may return anything that was ever written",
        .definition = "sane values, and acyclic(ww)",
    },
    {
        .level = HF_READ_COMMITTED,
        .name = "read-committed",
        .short_name = "RC",
        .aliases = HF_NAMES("PL-2", "degree-2", "committed-read",
                            "adya-read-committed", "adya-rc"),
        .shape = HF_SHAPE_W,
        .implies = HF_LEVELS(HF_READ_UNCOMMITTED),
        .summary = "reads return final values of committed transactions, and "
                   "information does not flow in a circle",
        .definition = "read-uncommitted, no G1a, no G1b, own writes are "
                      "seen, and acyclic(W)",
    },
    {
        .level = HF_READ_COMMITTED_AXIOMATIC,
        .name = "read-committed-axiomatic",
        .short_name = "RCa",
        .aliases =
            HF_NAMES("axiomatic-read-committed", "biswas-enea-rc", "awdit-rc",
                     "plume-rc", "dbcop-rc", "isopredict-rc",
                     "postgresql-read-committed", "oracle-read-committed",
                     "mysql-read-committed", "tidb-read-committed",
                     "mysql-repeatable-read", "tidb-repeatable-read"),
        .shape = HF_SHAPE_AXIOM,
        .axiom = HF_AXIOM_EARLIER_READ,
        .session_order = true,
        .implies = HF_LEVELS(HF_MONOTONIC_ATOMIC_VIEW),
        .summary = "read committed as a commit order: within a transaction, "
                   "later reads do not go back behind a transaction that an "
                   "earlier read has seen",
        .definition = "no G1a, no G1b, and a commit order co containing so "
                      "and wr: if t3 reads x from t1, t2 also writes x, and "
                      "an earlier operation of t3 read from t2, then t2 co t1",
    },
    {
        .level = HF_MONOTONIC_ATOMIC_VIEW,
        .name = "monotonic-atomic-view",
        .short_name = "MAV",
        .aliases = HF_NAMES("atomic-view"),
        .shape = HF_SHAPE_OTV,
        .implies = HF_LEVELS(HF_READ_COMMITTED),
        .summary = "once a transaction has seen one effect of another, its "
                   "later reads see all of that transaction's effects",
        .definition = "read-committed, and once t3 has read from t2, no "
                      "later read of t3 returns a version older than t2's",
    },
    {
        .level = HF_READ_ATOMIC,
        .name = "read-atomic",
        .short_name = "RA",
        .aliases = HF_NAMES("atomic-read", "atomic-visibility", "ramp",
                            "awdit-ra", "plume-ra", "dbcop-ra"),
        .shape = HF_SHAPE_AXIOM,
        .axiom = HF_AXIOM_SO | HF_AXIOM_WR,
        .session_order = true,
        .internal = true,
        .implies = HF_LEVELS(HF_READ_COMMITTED_AXIOMATIC, HF_READ_YOUR_WRITES),
        .summary = "a transaction sees all or nothing of every other "
                   "transaction, and what its own session did just before",
        .definition = "INT, no G1a, no G1b, and a commit order with the "
                      "condition t2 (so + wr) t3",
    },
    {
        .level = HF_READ_YOUR_WRITES,
        .name = "read-your-writes",
        .short_name = "ryw",
        .aliases = HF_NAMES("read-my-writes"),
        .shape = HF_SHAPE_AXIOM,
        .axiom = HF_AXIOM_SO,
        .session_order = true,
        .implies = HF_LEVELS(HF_READ_COMMITTED),
        .summary = "a session sees what it wrote itself in earlier "
                   "transactions",
        .definition = "read-committed, and a commit order with the "
                      "condition t2 so t3",
    },
    {
        .level = HF_MONOTONIC_READS,
        .name = "monotonic-reads",
        .short_name = "mr",
        .aliases = HF_NAMES("monotonic-read"),
        .shape = HF_SHAPE_AXIOM,
        .axiom = HF_AXIOM_WR_SO,
        .session_order = true,
        .implies = HF_LEVELS(HF_READ_COMMITTED),
        .summary = "a session never reads something older than what it has "
                   "already read",
        .definition = "read-committed, and a commit order with the "
                      "condition t2 wr;so t3",
    },
    {
        .level = HF_MONOTONIC_WRITES,
        .name = "monotonic-writes",
        .short_name = "mw",
        .aliases = HF_NAMES("monotonic-write"),
        .shape = HF_SHAPE_AXIOM,
        .axiom = HF_AXIOM_SO_WR,
        .session_order = true,
        .implies = HF_LEVELS(HF_READ_COMMITTED),
        .summary = "whoever sees a session's later write also sees its "
                   "earlier ones",
        .definition = "read-committed, and a commit order with the "
                      "condition t2 so;wr t3",
    },
    {
        .level = HF_WRITES_FOLLOW_READS,
        .name = "writes-follow-reads",
        .short_name = "wfr",
        .aliases = HF_NAMES("session-causality", "write-follows-read"),
        .shape = HF_SHAPE_AXIOM,
        .axiom = HF_AXIOM_WR_WR | HF_AXIOM_WR_SO_WR,
        .session_order = true,
        .implies = HF_LEVELS(HF_READ_COMMITTED),
        .summary = "whoever sees an answer also sees what it answers: a "
                   "write is seen together with what its session had read",
        .definition = "read-committed, and a commit order with the "
                      "condition t2 (wr;wr + wr;so;wr) t3",
    },
    {
        .level = HF_PRAM,
        .name = "pram",
        .short_name = "pram",
        .aliases = HF_NAMES("pipelined-ram", "fifo-consistency", "fifo"),
        .shape = HF_SHAPE_AXIOM,
        .axiom = HF_AXIOM_SO | HF_AXIOM_WR_SO | HF_AXIOM_SO_WR,
        .session_order = true,
        .implies = HF_LEVELS(HF_READ_YOUR_WRITES, HF_MONOTONIC_READS,
                             HF_MONOTONIC_WRITES),
        .summary = "read your writes, monotonic reads and monotonic writes "
                   "together: each session's writes are seen in order",
        .definition = "read-committed, and one commit order with the "
                      "condition t2 (so + wr;so + so;wr) t3",
    },
    {
        .level = HF_CAUSAL,
        .name = "causal",
        .short_name = "CC",
        .aliases =
            HF_NAMES("causal-consistency", "causal-cerone",
                     "transactional-causal-consistency", "tcc", "awdit-cc",
                     "plume-cc", "dbcop-causal", "isopredict-causal"),
        .shape = HF_SHAPE_AXIOM,
        .axiom = HF_AXIOM_CAUSAL,
        .session_order = true,
        .internal = true,
        .implies = HF_LEVELS(HF_READ_ATOMIC, HF_PRAM, HF_WRITES_FOLLOW_READS),
        .summary = "no effect is seen without its causes; concurrent writes "
                   "may be seen in different orders or lost",
        .definition = "INT, no G1a, no G1b, and a commit order with the "
                      "condition t2 (so + wr)+ t3",
    },
    {
        .level = HF_CONSISTENT_VIEW,
        .name = "consistent-view",
        .short_name = "CV",
        .aliases = HF_NAMES("PL-2+", "basic-consistency"),
        .shape = HF_SHAPE_SINGLE,
        .implies = HF_LEVELS(HF_MONOTONIC_ATOMIC_VIEW),
        .summary = "a transaction's reads fit one consistent state: no read "
                   "skew and no lost update",
        .definition =
            "read-committed, and no cycle of W + A with exactly one A",
    },
    {
        .level = HF_REPEATABLE_READ,
        .name = "repeatable-read",
        .short_name = "RR",
        .aliases = HF_NAMES("PL-2.99", "adya-repeatable-read",
                            "sql-server-repeatable-read"),
        .shape = HF_SHAPE_ITEM,
        .implies = HF_LEVELS(HF_READ_COMMITTED),
        .summary = "serializable as far as single rows go; rows that newly "
                   "match a condition (phantoms) are not protected",
        .definition = "read-committed, and acyclic(W + rw); predicate "
                      "anti-dependencies are ignored",
    },
    {
        .level = HF_PARALLEL_SNAPSHOT_ISOLATION,
        .name = "parallel-snapshot-isolation",
        .short_name = "PSI",
        .aliases = HF_NAMES("parallel-si"),
        .shape = HF_SHAPE_SINGLE,
        .internal = true,
        .implies = HF_LEVELS(HF_CONSISTENT_VIEW),
        .summary = "each transaction reads a consistent snapshot and no "
                   "update is lost, but two sites may see unrelated commits "
                   "in different orders",
        .definition = "INT, no G1, and no cycle of W + A with exactly one A",
    },
    {
        .level = HF_STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION,
        .name = "strong-session-parallel-snapshot-isolation",
        .short_name = "PSIs",
        .aliases = HF_NAMES("session-psi", "strong-session-psi", "cerone-psi",
                            "session-parallel-snapshot-isolation"),
        .shape = HF_SHAPE_SINGLE,
        .session_order = true,
        .internal = true,
        .implies = HF_LEVELS(HF_PARALLEL_SNAPSHOT_ISOLATION, HF_CAUSAL),
        .summary = "parallel snapshot isolation in which every snapshot "
                   "includes what its session did and saw before",
        .definition =
            "INT, no G1, and no cycle of W + so + A with exactly one A",
    },
    {
        .level = HF_PREFIX,
        .name = "prefix",
        .short_name = "PC",
        .aliases = HF_NAMES("prefix-consistency", "dbcop-prefix"),
        .shape = HF_SHAPE_AXIOM,
        .axiom = HF_AXIOM_PREFIX,
        .session_order = true,
        .internal = true,
        .implies = HF_LEVELS(HF_CAUSAL),
        .summary = "every transaction reads the state after some first part "
                   "of one global commit order; updates may be lost",
        .definition = "INT, no G1a, no G1b, and a commit order with the "
                      "condition t2 co?;(so + wr) t3",
    },
    {
        .level = HF_SNAPSHOT_ISOLATION,
        .name = "snapshot-isolation",
        .short_name = "SI",
        .aliases =
            HF_NAMES("PL-SI", "snapshot", "generalized-snapshot-isolation",
                     "GSI", "adya-si", "postgresql-repeatable-read",
                     "cockroachdb-repeatable-read",
                     "yugabytedb-repeatable-read", "spanner-repeatable-read",
                     "oracle-serializable", "opengauss-serializable",
                     "sql-server-snapshot", "tidb-snapshot-isolation"),
        .shape = HF_SHAPE_SNAPSHOT,
        .internal = true,
        .implies = HF_LEVELS(HF_PARALLEL_SNAPSHOT_ISOLATION),
        .summary = "each transaction reads one snapshot of a single commit "
                   "order, and of two overlapping writers of a row only one "
                   "commits",
        .definition = "INT, no G1, and acyclic(W;A?): every cycle has two "
                      "adjacent A edges",
    },
    {
        .level = HF_STRONG_SESSION_SNAPSHOT_ISOLATION,
        .name = "strong-session-snapshot-isolation",
        .short_name = "SIs",
        .aliases = HF_NAMES("session-snapshot-isolation", "strong-session-si",
                            "session-si", "biswas-enea-si", "dbcop-si",
                            "dbcop-snapshot-isolation", "polysi-si"),
        .shape = HF_SHAPE_SNAPSHOT,
        .session_order = true,
        .internal = true,
        .implies = HF_LEVELS(HF_SNAPSHOT_ISOLATION, HF_PREFIX,
                             HF_STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION),
        .summary = "snapshot isolation in which every snapshot includes what "
                   "its session committed before",
        .definition = "INT, no G1, and acyclic((W + so);A?)",
    },
    {
        .level = HF_STRICT_SNAPSHOT_ISOLATION,
        .name = "strict-snapshot-isolation",
        .short_name = "SIr",
        .aliases =
            HF_NAMES("strong-snapshot-isolation", "strict-si", "strong-si"),
        .shape = HF_SHAPE_SNAPSHOT,
        .session_order = true,
        .real_time = true,
        .internal = true,
        .implies = HF_LEVELS(HF_STRONG_SESSION_SNAPSHOT_ISOLATION),
        .summary = "snapshot isolation in which every snapshot includes all "
                   "that had ended when the transaction began",
        .definition = "INT, no G1, and acyclic((W + so + rt);A?)",
    },
    {
        .level = HF_SERIALIZABLE,
        .name = "serializable",
        .short_name = "SER",
        .aliases =
            HF_NAMES("PL-3", "serializability", "degree-3", "1SR",
                     "postgresql-serializable", "mysql-serializable",
                     "sql-server-serializable", "sqlite-serializable",
                     "cockroachdb-serializable", "yugabytedb-serializable"),
        .shape = HF_SHAPE_SERIAL,
        .internal = true,
        .implies = HF_LEVELS(HF_SNAPSHOT_ISOLATION, HF_REPEATABLE_READ),
        .summary = "as if the transactions had run one after the other, in "
                   "some order",
        .definition = "INT, no G1, and acyclic(W + A)",
    },
    {
        .level = HF_STRONG_SESSION_SERIALIZABLE,
        .name = "strong-session-serializable",
        .short_name = "SERs",
        .aliases =
            HF_NAMES("session-serializable", "strong-session-serializability",
                     "biswas-enea-ser", "dbcop-ser", "dbcop-serializable"),
        .shape = HF_SHAPE_SERIAL,
        .session_order = true,
        .internal = true,
        .implies =
            HF_LEVELS(HF_SERIALIZABLE, HF_STRONG_SESSION_SNAPSHOT_ISOLATION),
        .summary = "as if run one after the other, each session's "
                   "transactions in the order it ran them",
        .definition = "INT, no G1, and acyclic(W + A + so)",
    },
    {
        .level = HF_STRICT_SERIALIZABLE,
        .name = "strict-serializable",
        .short_name = "SERr",
        .aliases = HF_NAMES(
            "PL-SS", "strict-serializability", "strong-serializable",
            "strong-1SR", "strict-1SR", "external-consistency", "linearizable",
            "foundationdb-serializable", "spanner-serializable"),
        .shape = HF_SHAPE_SERIAL,
        .session_order = true,
        .real_time = true,
        .internal = true,
        .implies = HF_LEVELS(HF_STRONG_SESSION_SERIALIZABLE,
                             HF_STRICT_SNAPSHOT_ISOLATION),
        .summary = "as if run one after the other, and whoever begins after "
                   "another has ended comes after it",
        .definition = "INT, no G1, and acyclic(W + A + so + rt)",
    },
};

const hf_level_info *hf_level_get(hf_level level)
{
    HF_ASSERT((unsigned)level < HF_LEVEL_COUNT);
    HF_ASSERT(levels[level].level == level);
    return &levels[level];
}

/* The table's rows, as what name.h searches. */
static bool level_names(unsigned index, hf_name_row *ret_row)
{
    if (index >= HF_LEVEL_COUNT)
        return false;
    ret_row->name = levels[index].name;
    ret_row->second = levels[index].short_name;
    ret_row->aliases = levels[index].aliases;
    return true;
}

bool hf_level_find(hf_str name, hf_level *ret_level,
                   const char **ret_suggestion)
{
    unsigned index;

    if (!hf_name_find(level_names, name, &index)) {
        if (ret_suggestion)
            *ret_suggestion = hf_name_suggest(level_names, name, NULL);
        return false;
    }
    *ret_level = (hf_level)index;
    return true;
}

bool hf_level_implies(hf_level stronger, hf_level weaker)
{
    if (stronger == weaker)
        return true;
    for (const hf_level *l = hf_level_get(stronger)->implies;
         *l != HF_LEVEL_COUNT; l++) {
        if (hf_level_implies(*l, weaker))
            return true;
    }
    return false;
}
