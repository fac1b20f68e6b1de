/* anomaly_cycles.c: the rows of the classes of dependency cycles.
 *
 * A class is named by the edges of the cycle: how many anti-dependencies it
 * has, whether two of them are adjacent, whether one comes from a condition,
 * and whether session order or real time is needed to close it.  The example
 * of a class is one that only the levels break that forbid the whole class;
 * famous forms, which weaker levels may forbid too, are in special.c.
 */
#include "model/anomaly_rows.h"

/* In the order of hf_anomaly, from HF_G0. */
const hf_anomaly_info hf_anomaly_cycles[HF_ANOMALY_CYCLE_COUNT] = {
    {
        .anomaly = HF_G0,
        .name = "G0",
        .catalog = "C1",
        .aliases = HF_NAMES("write cycle", "dirty write", "P0", "ME violation"),
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_READ_UNCOMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "the writes of two transactions are interleaved: each overwrites "
            "the other somewhere",
        .meaning =
            "One transaction's write of x is the older one, but its write of "
            "y is the newer one. The final state mixes the two: neither of "
            "them alone, in either order, would have left it.",
        .example = "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
                   "{\"ops\":[[\"w\",\"x\",2],[\"w\",\"y\",2]]}\n"
                   "{\"order\":[\"x\",[1,2]]}\n"
                   "{\"order\":[\"y\",[2,1]]}\n",
        .remedy =
            "Every level forbids it. In the database write locks are missing "
            "or released before commit, or replicas order the writes of "
            "different keys differently. An application on a store without "
            "transactions needs one lock or one conditional write around the "
            "whole group of keys.",
    },
    {
        .anomaly = HF_G0_SESSION,
        .name = "G0-session",
        .catalog = "S6",
        .aliases = HF_NAMES("G0-process"),
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_READ_COMMITTED_AXIOMATIC,
                                  HF_READ_YOUR_WRITES, HF_MONOTONIC_READS,
                                  HF_MONOTONIC_WRITES, HF_WRITES_FOLLOW_READS),
        .partly_at = HF_NO_LEVELS,
        .summary = "a session's later write is older than its earlier one",
        .meaning =
            "The writes form a cycle together with the order in which one "
            "client issued them: it wrote x, then wrote x again, and its "
            "first value won.",
        .example = "{\"session\":\"a\",\"ops\":[[\"w\",\"x\",1]]}\n"
                   "{\"session\":\"a\",\"ops\":[[\"w\",\"x\",2]]}\n"
                   "{\"order\":[\"x\",[2,1]]}\n",
        .remedy =
            "Keep a session on one node, or pass it a token of its last write "
            "and make the next node wait for it. In the database look for "
            "last-writer-wins by wall clock: a node whose clock is behind "
            "loses against its own past.",
    },
    {
        .anomaly = HF_G0_REALTIME,
        .name = "G0-realtime",
        .catalog = "",
        .aliases = HF_NO_NAMES,
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_STRICT_SNAPSHOT_ISOLATION),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "a write that began after another had ended is nevertheless the "
            "older version",
        .meaning =
            "The second writer started when the first was already "
            "acknowledged, yet in the version order it comes first, so its "
            "update disappears under a value that was there before.",
        .example = "{\"holdfast\":1,\"time\":\"events\"}\n"
                   "{\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2}\n"
                   "{\"ops\":[[\"w\",\"x\",2]],\"begin\":3,\"end\":4}\n"
                   "{\"order\":[\"x\",[2,1]]}\n",
        .remedy =
            "Only the strict levels forbid it. If you need it, use a database "
            "that promises strict serializability or external consistency, or "
            "send all writes of a key through one node. In the database look "
            "for timestamps taken from clocks that differ by more than the "
            "allowed uncertainty. Check the clocks of the recording clients "
            "first.",
    },
    {
        .anomaly = HF_G1C,
        .name = "G1c",
        .catalog = "C2",
        .aliases = HF_NAMES("circular information flow", "write-read cycle"),
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_READ_COMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary = "two transactions each see the other's writes",
        .meaning =
            "Each of the transactions read something the other wrote, so each "
            "must come after the other. At least one of them read data that "
            "was not yet committed.",
        .example = "{\"ops\":[[\"w\",\"x\",1],[\"r\",\"y\",1]]}\n"
                   "{\"ops\":[[\"w\",\"y\",1],[\"r\",\"x\",1]]}\n",
        .remedy =
            "Use at least read committed. If the database claims it, reads "
            "return versions before their transaction has committed: look at "
            "early lock release, at visibility decided by a flag that is set "
            "before commit is decided, and at group commit.",
    },
    {
        .anomaly = HF_G1C_SESSION,
        .name = "G1c-session",
        .catalog = "S7",
        .aliases = HF_NAMES("G1c-process"),
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_READ_COMMITTED_AXIOMATIC,
                                  HF_READ_YOUR_WRITES, HF_MONOTONIC_READS,
                                  HF_MONOTONIC_WRITES, HF_WRITES_FOLLOW_READS),
        .partly_at = HF_NO_LEVELS,
        .summary = "a session reads what it is going to write only later",
        .meaning =
            "Information flows in a circle if the order of one session "
            "counts: its earlier transaction already reads the result of its "
            "later one (perhaps by way of others).",
        .example = "{\"session\":\"a\",\"ops\":[[\"r\",\"x\",1]]}\n"
                   "{\"session\":\"a\",\"ops\":[[\"w\",\"x\",1]]}\n",
        .remedy =
            "Nothing a real client can observe unless the recorder mixed "
            "something up: check that transactions of one session are "
            "recorded in the order they ran and that one session is really "
            "one client. With a right record, look for operations that were "
            "replayed after a reconnect.",
    },
    {
        .anomaly = HF_G1C_REALTIME,
        .name = "G1c-realtime",
        .catalog = "R4",
        .aliases = HF_NAMES("read from the future"),
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_STRICT_SNAPSHOT_ISOLATION),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "a transaction reads what was written only after it had ended",
        .meaning =
            "By the clock the reader was finished before the writer even "
            "began. No database can do that; in practice the clocks that "
            "produced the times disagree.",
        .example = "{\"holdfast\":1,\"time\":\"events\"}\n"
                   "{\"ops\":[[\"r\",\"x\",1]],\"begin\":1,\"end\":2}\n"
                   "{\"ops\":[[\"w\",\"x\",1]],\"begin\":3,\"end\":4}\n",
        .remedy =
            "Suspect the clocks of the recording clients: take times from one "
            "machine or from a monotonic clock that is compared between "
            "machines, and widen the intervals by the possible error. Then "
            "check again.",
    },
    {
        .anomaly = HF_G_SINGLE_ITEM,
        .name = "G-single-item",
        .catalog = "C9",
        .aliases =
            HF_NAMES("lost update over a blind write", "blind lost update"),
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_CONSISTENT_VIEW, HF_REPEATABLE_READ),
        .partly_at =
            HF_LEVELS(HF_MONOTONIC_ATOMIC_VIEW, HF_WRITES_FOLLOW_READS),
        .summary = "a cycle with exactly one read that was overwritten: a "
                   "transaction saw a state and then acted behind it",
        .meaning =
            "A transaction misses another's write and at the same time comes "
            "after it, because it also read one of its values or overwrote "
            "one. Read skew, fractured read, lost update and causality "
            "violation are forms of this. In the example T1 reads x before T2 "
            "writes it, and overwrites T2's value without having seen it.",
        .example = "{\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",2]]}\n"
                   "{\"ops\":[[\"w\",\"x\",1]]}\n"
                   "{\"order\":[\"x\",[2,1]]}\n",
        .remedy =
            "Run the transaction on one snapshot with write conflict "
            "detection: snapshot isolation or above. At read committed lock "
            "what you read and mean to rely on (SELECT ... FOR UPDATE), or "
            "read everything in one statement. If the database claims "
            "snapshot isolation, look for statements that use a newer "
            "snapshot than their transaction, and for a missing "
            "first-updater-wins check.",
    },
    {
        .anomaly = HF_G_SINGLE_ITEM_SESSION,
        .name = "G-single-item-session",
        .catalog = "",
        .aliases = HF_NAMES("G-single-item-process"),
        .cycle = true,
        .forbidden_at =
            HF_LEVELS(HF_STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION),
        .partly_at = HF_LEVELS(HF_READ_YOUR_WRITES, HF_MONOTONIC_READS,
                               HF_MONOTONIC_WRITES, HF_WRITES_FOLLOW_READS),
        .summary =
            "as G-single-item, if the order of transactions in a session "
            "counts",
        .meaning =
            "A transaction misses a write, and comes after a later "
            "transaction of the same session that made the write. Most forms "
            "break one of the session guarantees and are explained there "
            "(read your writes, monotonic reads, monotonic writes, writes "
            "follow reads). In the example T3 misses the first write of "
            "session a and overwrites its second.",
        .example = "{\"session\":\"a\",\"ops\":[[\"w\",\"x\",1]]}\n"
                   "{\"session\":\"a\",\"ops\":[[\"w\",\"y\",1]]}\n"
                   "{\"ops\":[[\"r\",\"x\",null],[\"w\",\"y\",2]]}\n"
                   "{\"order\":[\"y\",[2,3]]}\n",
        .remedy =
            "Send the requests of a session to one node or carry a causal "
            "token with them. Or ask for a strong-session level. In the "
            "database look for snapshots that lag behind the commits of the "
            "session that takes them: pooled connections and read replicas do "
            "this.",
    },
    {
        .anomaly = HF_G_SINGLE_ITEM_REALTIME,
        .name = "G-single-item-realtime",
        .catalog = "",
        .aliases = HF_NO_NAMES,
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_STRICT_SNAPSHOT_ISOLATION),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "as G-single-item, if real time counts: a read misses what was "
            "already committed",
        .meaning =
            "A transaction misses a write whose transaction had ended before "
            "something that it follows. The simplest form is the stale read; "
            "causal reverse is another.",
        .example = "{\"holdfast\":1,\"time\":\"events\"}\n"
                   "{\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2}\n"
                   "{\"ops\":[[\"r\",\"x\",null]],\"begin\":3,\"end\":4}\n",
        .remedy =
            "If old data is a problem, read from the primary, use "
            "linearizable or strict reads where they are offered, or wait for "
            "a replication position. In the database look for snapshots that "
            "are cached or taken from a lagging replica, and for clock skew "
            "between nodes.",
    },
    {
        .anomaly = HF_G_SINGLE,
        .name = "G-single",
        .catalog = "",
        .aliases = HF_NO_NAMES,
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_CONSISTENT_VIEW),
        .partly_at =
            HF_LEVELS(HF_MONOTONIC_ATOMIC_VIEW, HF_WRITES_FOLLOW_READS),
        .summary =
            "a cycle with exactly one anti-dependency, where a condition "
            "missed a row",
        .meaning =
            "As G-single-item, but what was missed is a row that the "
            "condition of a query should have found: T1's query does not see "
            "the task T2 inserts, and yet T1's write comes after T2's. "
            "Phantoms are the best known form.",
        .example =
            "{\"ops\":[{\"op\":\"pr\",\"table\":\"task\",\"where\":\"true\","
            "\"versions\":[[[\"task\",1],null]],\"rows\":[]},[\"w\",\"y\","
            "2]]}\n"
            "{\"ops\":[[\"insert\",[\"task\",1],1],[\"w\",\"y\",1]]}\n"
            "{\"order\":[\"y\",[2,1]]}\n",
        .remedy =
            "Snapshot isolation or above forbids it; locking repeatable read "
            "does not, because the row that matters did not exist when the "
            "others were locked. At lower levels lock one row that stands for "
            "the set, or move the condition into a constraint. In the "
            "database compare the snapshot used by scans with that of the "
            "rest of the transaction.",
    },
    {
        .anomaly = HF_G_SINGLE_SESSION,
        .name = "G-single-session",
        .catalog = "",
        .aliases = HF_NAMES("G-single-process"),
        .cycle = true,
        .forbidden_at =
            HF_LEVELS(HF_STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION),
        .partly_at = HF_LEVELS(HF_READ_YOUR_WRITES, HF_MONOTONIC_READS,
                               HF_MONOTONIC_WRITES, HF_WRITES_FOLLOW_READS),
        .summary =
            "as G-single with a condition, if the order of transactions in a "
            "session counts",
        .meaning =
            "A query misses a row that a session inserted, although its "
            "transaction comes after a later transaction of that session.",
        .example =
            "{\"session\":\"a\",\"ops\":[[\"insert\",[\"task\",1],1]]}\n"
            "{\"session\":\"a\",\"ops\":[[\"w\",\"y\",1]]}\n"
            "{\"ops\":[{\"op\":\"pr\",\"table\":\"task\",\"where\":\"true\","
            "\"versions\":[[[\"task\",1],null]],\"rows\":[]},[\"w\",\"y\","
            "2]]}\n"
            "{\"order\":[\"y\",[2,3]]}\n",
        .remedy =
            "As for G-single-item-session: keep the session on one node or "
            "carry a causal token. Search indexes that are updated after "
            "commit are the usual cause for queries: wait for the index, or "
            "read through it only where old results do no harm.",
    },
    {
        .anomaly = HF_G_SINGLE_REALTIME,
        .name = "G-single-realtime",
        .catalog = "R6",
        .aliases = HF_NAMES("stale predicate read"),
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_STRICT_SNAPSHOT_ISOLATION),
        .partly_at = HF_NO_LEVELS,
        .summary = "as G-single with a condition, if real time counts: a query "
                   "misses a row that was already committed",
        .meaning =
            "The row was inserted and acknowledged before the transaction "
            "with the query began, and still the query does not find it.",
        .example =
            "{\"holdfast\":1,\"time\":\"events\"}\n"
            "{\"ops\":[[\"insert\",[\"task\",1],1]],\"begin\":1,\"end\":2}\n"
            "{\"ops\":[{\"op\":\"pr\",\"table\":\"task\",\"where\":\"true\","
            "\"versions\":[[[\"task\",1],null]],\"rows\":[]}],\"begin\":3,"
            "\"end\":4}\n",
        .remedy =
            "As for a stale read: query the primary, use strict reads, or "
            "wait for the replica or the index to catch up. In the database "
            "look at secondary indexes and search engines that are filled "
            "asynchronously.",
    },
    {
        .anomaly = HF_G_NONADJACENT_ITEM,
        .name = "G-nonadjacent-item",
        .catalog = "",
        .aliases = HF_NO_NAMES,
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_REPEATABLE_READ, HF_SNAPSHOT_ISOLATION),
        .partly_at = HF_LEVELS(HF_PREFIX),
        .summary =
            "a cycle with two or more missed writes, none next to each other: "
            "snapshots that do not fit one commit order",
        .meaning =
            "Each transaction by itself reads a consistent snapshot, but the "
            "snapshots contradict each other about the order of commits. The "
            "long fork is the best known form. In the example T4 sees T2 and "
            "misses T1, while T3 comes after T1 and misses T2.",
        .example = "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"z\",1]]}\n"
                   "{\"ops\":[[\"w\",\"y\",1]]}\n"
                   "{\"ops\":[[\"r\",\"y\",null],[\"w\",\"z\",2]]}\n"
                   "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",1]]}\n"
                   "{\"order\":[\"z\",[1,3]]}\n",
        .remedy =
            "Parallel snapshot isolation allows it; snapshot isolation does "
            "not. An application that compares what two of its clients saw "
            "should read through one node or use snapshot isolation with one "
            "global commit order. In the database look for snapshots "
            "assembled from several shards or replicas without a common "
            "timestamp.",
    },
    {
        .anomaly = HF_G_NONADJACENT_ITEM_SESSION,
        .name = "G-nonadjacent-item-session",
        .catalog = "",
        .aliases = HF_NAMES("G-nonadjacent-item-process"),
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_STRONG_SESSION_SNAPSHOT_ISOLATION),
        .partly_at = HF_LEVELS(HF_PREFIX),
        .summary =
            "as G-nonadjacent-item, if the order of transactions in a session "
            "counts",
        .meaning =
            "Snapshots contradict each other once each session's transactions "
            "must be taken in order. The session long fork is the best known "
            "form. In the example session b writes y and then misses T1's x, "
            "while T2 comes after T1 and misses y.",
        .example = "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"z\",1]]}\n"
                   "{\"ops\":[[\"r\",\"y\",null],[\"w\",\"z\",2]]}\n"
                   "{\"session\":\"b\",\"ops\":[[\"w\",\"y\",1]]}\n"
                   "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",null]]}\n"
                   "{\"order\":[\"z\",[1,2]]}\n",
        .remedy =
            "Ask for strong-session snapshot isolation, or let each session "
            "wait until its own commit is in the snapshot it reads from. In "
            "the database look for commits that are acknowledged before they "
            "are in the snapshots handed out next.",
    },
    {
        .anomaly = HF_G_NONADJACENT_ITEM_REALTIME,
        .name = "G-nonadjacent-item-realtime",
        .catalog = "",
        .aliases = HF_NO_NAMES,
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_STRICT_SNAPSHOT_ISOLATION),
        .partly_at = HF_NO_LEVELS,
        .summary = "as G-nonadjacent-item, if real time counts",
        .meaning =
            "Snapshots contradict each other once transactions that began "
            "after others had ended must come after them. In the example T4 "
            "begins after T3 has ended, and misses T1; T2 has seen T1 and "
            "misses T3.",
        .example = "{\"holdfast\":1,\"time\":\"events\"}\n"
                   "{\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":8}\n"
                   "{\"ops\":[[\"r\",\"x\",1],[\"r\",\"y\",null]],\"begin\":1,"
                   "\"end\":8}\n"
                   "{\"ops\":[[\"w\",\"y\",1]],\"begin\":2,\"end\":3}\n"
                   "{\"ops\":[[\"r\",\"x\",null]],\"begin\":4,\"end\":5}\n",
        .remedy =
            "Only the strict levels forbid it. Take snapshots at or after the "
            "begin of the transaction on a clock that all nodes agree on; in "
            "an application route the clients that must agree through one "
            "node.",
    },
    {
        .anomaly = HF_G_NONADJACENT,
        .name = "G-nonadjacent",
        .catalog = "",
        .aliases = HF_NO_NAMES,
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_SNAPSHOT_ISOLATION),
        .partly_at = HF_LEVELS(HF_PREFIX),
        .summary =
            "as G-nonadjacent-item, where at least one of the missed writes "
            "was missed by a condition",
        .meaning =
            "The snapshots of several transactions do not fit one commit "
            "order, and at least one of them is the snapshot of a query that "
            "did not find a row. In the example T4 sees the task and misses "
            "T1's x, while T3 comes after T1 and its query does not find the "
            "task.",
        .example =
            "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"z\",1]]}\n"
            "{\"ops\":[[\"insert\",[\"task\",1],1]]}\n"
            "{\"ops\":[{\"op\":\"pr\",\"table\":\"task\",\"where\":\"true\","
            "\"versions\":[[[\"task\",1],null]],\"rows\":[]},[\"w\",\"z\","
            "2]]}\n"
            "{\"ops\":[[\"r\",\"x\",null],[\"r\",[\"task\",1],1]]}\n"
            "{\"order\":[\"z\",[1,3]]}\n",
        .remedy =
            "As for G-nonadjacent-item. Queries that run on a search index or "
            "a column store beside the main store are a frequent cause: their "
            "snapshot must be the transaction's.",
    },
    {
        .anomaly = HF_G_NONADJACENT_SESSION,
        .name = "G-nonadjacent-session",
        .catalog = "",
        .aliases = HF_NAMES("G-nonadjacent-process"),
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_STRONG_SESSION_SNAPSHOT_ISOLATION),
        .partly_at = HF_LEVELS(HF_PREFIX),
        .summary =
            "as G-nonadjacent with a condition, if the order of transactions "
            "in a session counts",
        .meaning =
            "As G-nonadjacent-item-session, but one of the things missed is a "
            "row that a query did not find.",
        .example =
            "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"z\",1]]}\n"
            "{\"ops\":[{\"op\":\"pr\",\"table\":\"task\",\"where\":\"true\","
            "\"versions\":[[[\"task\",1],null]],\"rows\":[]},[\"w\",\"z\","
            "2]]}\n"
            "{\"session\":\"b\",\"ops\":[[\"insert\",[\"task\",1],1]]}\n"
            "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",null]]}\n"
            "{\"order\":[\"z\",[1,2]]}\n",
        .remedy =
            "Ask for strong-session snapshot isolation, or let each session "
            "wait until its own commit is visible to queries as well as to "
            "reads by key.",
    },
    {
        .anomaly = HF_G_NONADJACENT_REALTIME,
        .name = "G-nonadjacent-realtime",
        .catalog = "",
        .aliases = HF_NO_NAMES,
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_STRICT_SNAPSHOT_ISOLATION),
        .partly_at = HF_NO_LEVELS,
        .summary = "as G-nonadjacent with a condition, if real time counts",
        .meaning =
            "As G-nonadjacent-item-realtime, but one of the things missed is "
            "a row that a query did not find.",
        .example =
            "{\"holdfast\":1,\"time\":\"events\"}\n"
            "{\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":8}\n"
            "{\"ops\":[[\"r\",\"x\",1],{\"op\":\"pr\",\"table\":\"task\","
            "\"where\":\"true\",\"versions\":[[[\"task\",1],null]],"
            "\"rows\":[]}],\"begin\":1,\"end\":8}\n"
            "{\"ops\":[[\"insert\",[\"task\",1],1]],\"begin\":2,\"end\":3}\n"
            "{\"ops\":[[\"r\",\"x\",null]],\"begin\":4,\"end\":5}\n",
        .remedy =
            "Only the strict levels forbid it. Scans and reads by key must "
            "use one snapshot, taken no earlier than the begin of the "
            "transaction.",
    },
    {
        .anomaly = HF_G2_ITEM,
        .name = "G2-item",
        .catalog = "",
        .aliases =
            HF_NAMES("anti-dependency cycle", "item anti-dependency cycle"),
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_REPEATABLE_READ),
        .partly_at = HF_NO_LEVELS,
        .summary = "a cycle with two or more overwritten reads in a row: each "
                   "transaction decided on a state the other was changing",
        .meaning =
            "Every transaction read a consistent snapshot and no update was "
            "lost, but no serial order explains what all of them saw and did. "
            "Write skew and the read-only anomaly are the usual forms: two "
            "doctors both go off duty because each saw the other still on.",
        .example =
            "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",null],[\"w\",\"x\","
            "1]]}\n"
            "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",null],[\"w\",\"y\","
            "1]]}\n",
        .remedy =
            "Snapshot isolation allows it. Use serializable and retry on "
            "failures; or turn the read that the decision rests on into a "
            "conflict: SELECT ... FOR UPDATE on the rows read, an update of a "
            "common row, or a constraint that states the rule. If the "
            "database claims serializable, its certifier misses conflicts: "
            "look at transactions it has already forgotten and at index paths "
            "that take no read lock.",
    },
    {
        .anomaly = HF_G2_ITEM_SESSION,
        .name = "G2-item-session",
        .catalog = "",
        .aliases = HF_NAMES("G2-item-process"),
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_STRONG_SESSION_SERIALIZABLE),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "as G2-item, if the order of transactions in a session counts",
        .meaning =
            "Some serial order explains everything, but none that keeps each "
            "session's transactions in the order they ran. In the example "
            "session a first writes d and then misses T3's e, although T3 had "
            "missed d.",
        .example = "{\"session\":\"a\",\"ops\":[[\"w\",\"d\",1]]}\n"
                   "{\"session\":\"a\",\"ops\":[[\"r\",\"e\",null]]}\n"
                   "{\"ops\":[[\"r\",\"d\",null],[\"w\",\"e\",1]]}\n",
        .remedy =
            "Plain serializability does not promise it; strong-session "
            "serializability does. On one node most databases give it; across "
            "nodes keep a session on one of them or carry a token of its last "
            "commit.",
    },
    {
        .anomaly = HF_G2_ITEM_REALTIME,
        .name = "G2-item-realtime",
        .catalog = "",
        .aliases = HF_NO_NAMES,
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_STRICT_SERIALIZABLE),
        .partly_at = HF_NO_LEVELS,
        .summary = "as G2-item, if real time counts",
        .meaning =
            "Some serial order explains everything, but none in which a "
            "transaction that began after another had ended also comes after "
            "it. Two-ids is the usual example; it is shown here.",
        .example = "{\"holdfast\":1,\"time\":\"events\"}\n"
                   "{\"ops\":[[\"w\",\"d\",1]],\"begin\":2,\"end\":3}\n"
                   "{\"ops\":[[\"r\",\"d\",null],[\"w\",\"e\",1]],\"begin\":1,"
                   "\"end\":8}\n"
                   "{\"ops\":[[\"r\",\"e\",null]],\"begin\":4,\"end\":5}\n",
        .remedy =
            "Neither serializability nor strict snapshot isolation promises "
            "it. If outside observers compare results, use a strictly "
            "serializable database; otherwise this is no error.",
    },
    {
        .anomaly = HF_G2,
        .name = "G2",
        .catalog = "",
        .aliases = HF_NAMES("predicate anti-dependency cycle"),
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_SERIALIZABLE),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "as G2-item, where at least one read is a condition that a new "
            "row would have satisfied",
        .meaning =
            "Each transaction asked whether something exists, found nothing, "
            "and then made it exist for the other: two bookings of one room, "
            "each entered after checking that the room is free. No row was "
            "there to conflict on. Predicate write skew is the usual form.",
        .example = "{\"ops\":[{\"op\":\"pr\",\"where\":\"value % 3 = 0\","
                   "\"versions\":[[\"a\",null],[\"b\",null]],\"rows\":[]},"
                   "[\"insert\",\"a\",30]]}\n"
                   "{\"ops\":[{\"op\":\"pr\",\"where\":\"value % 3 = 0\","
                   "\"versions\":[[\"a\",null],[\"b\",null]],\"rows\":[]},"
                   "[\"insert\",\"b\",42]]}\n",
        .remedy =
            "Use serializable and retry. Below that: a unique or exclusion "
            "constraint that states the rule, or a row that stands for the "
            "set (the room, the day) locked with SELECT ... FOR UPDATE before "
            "asking. If the database claims serializable, its read locks or "
            "its certifier cover rows but not conditions: look at gap locks, "
            "predicate locks and index ranges.",
    },
    {
        .anomaly = HF_G2_SESSION,
        .name = "G2-session",
        .catalog = "",
        .aliases = HF_NAMES("G2-process"),
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_STRONG_SESSION_SERIALIZABLE),
        .partly_at = HF_NO_LEVELS,
        .summary = "as G2, if the order of transactions in a session counts",
        .meaning =
            "As G2-item-session, but one of the reads is a query that did not "
            "find a row.",
        .example =
            "{\"session\":\"a\",\"ops\":[[\"w\",\"d\",1]]}\n"
            "{\"session\":\"a\",\"ops\":[{\"op\":\"pr\",\"table\":\"task\","
            "\"where\":\"true\",\"versions\":[[[\"task\",1],null]],"
            "\"rows\":[]}]}\n"
            "{\"ops\":[[\"r\",\"d\",null],[\"insert\",[\"task\",1],1]]}\n",
        .remedy =
            "Strong-session serializability forbids it. Keep a session on one "
            "node, or carry a token of its last commit that queries wait for "
            "as well.",
    },
    {
        .anomaly = HF_G2_REALTIME,
        .name = "G2-realtime",
        .catalog = "",
        .aliases = HF_NO_NAMES,
        .cycle = true,
        .forbidden_at = HF_LEVELS(HF_STRICT_SERIALIZABLE),
        .partly_at = HF_NO_LEVELS,
        .summary = "as G2, if real time counts",
        .meaning =
            "As G2-item-realtime, but one of the reads is a query that did "
            "not find a row.",
        .example =
            "{\"holdfast\":1,\"time\":\"events\"}\n"
            "{\"ops\":[[\"w\",\"d\",1]],\"begin\":2,\"end\":3}\n"
            "{\"ops\":[[\"r\",\"d\",null],[\"insert\",[\"task\",1],1]],"
            "\"begin\":1,\"end\":8}\n"
            "{\"ops\":[{\"op\":\"pr\",\"table\":\"task\",\"where\":\"true\","
            "\"versions\":[[[\"task\",1],null]],\"rows\":[]}],\"begin\":4,"
            "\"end\":5}\n",
        .remedy = "Only strict serializability forbids it. If nobody outside "
                  "compares the results this is no error.",
    },
    {
        .anomaly = HF_NO_ORDER,
        .name = "no order",
        .catalog = "S4",
        .aliases = HF_NAMES("unsatisfiable", "cycle exists"),
        .forbidden_at = HF_LEVELS(HF_READ_UNCOMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "no order of the transactions satisfies the level, and no single "
            "cycle shows why",
        .meaning =
            "The order of versions is not known, and every possible one leads "
            "to a contradiction, each to a different one. The proof is a "
            "small set of transactions that is impossible by itself at the "
            "level that was asked for. In the example, session b reads x = 2 "
            "and then x = 1: if 1 is the older version, b went back; if 2 is "
            "the older one, session a's writes are in the wrong order. The "
            "example breaks monotonic-reads and all levels above it.",
        .example = "{\"session\":\"a\",\"ops\":[[\"w\",\"x\",1]]}\n"
                   "{\"session\":\"a\",\"ops\":[[\"w\",\"x\",2]]}\n"
                   "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",2]]}\n"
                   "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",1]]}\n",
        .remedy =
            "Read the transactions of the core one possible order at a time. "
            "Recording the version order (a certificate, or lists instead of "
            "registers) turns such a finding into a plain cycle with a name.",
    },
};
