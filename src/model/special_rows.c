/* special_rows.c: the table of special forms.
 *
 * Examples are complete histories in the native text form and are judged by
 * the tests at every level.
 */
#include "model/special_rows.h"

#include "model/rows.h"

const hf_special_form hf_special_rows[HF_SPECIAL_COUNT] = {
    {
        .name = "write skew",
        .anomaly = HF_G2_ITEM,
        .catalog = "C11",
        .aliases = HF_NAMES("A5B", "simple write skew", "SC violation"),
        .forbidden_at = HF_LEVELS(HF_REPEATABLE_READ),
        .summary = "two transactions read the same rows, and each changes a "
                   "different one",
        .meaning =
            "Each checks a rule over both rows, sees that its own change "
            "keeps it, and changes its row. Each is right alone; together "
            "they break the rule: both doctors go off duty, both accounts are "
            "overdrawn. No row is written twice, so snapshot isolation sees "
            "no conflict.",
        .example =
            "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",null],[\"w\",\"x\","
            "1]]}\n"
            "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",null],[\"w\",\"y\","
            "1]]}\n",
        .remedy =
            "Use serializable and retry on failures. At snapshot isolation "
            "make the conflict visible: SELECT ... FOR UPDATE on every row "
            "the rule depends on, or let both transactions update one common "
            "row (the shift, the customer). Where the rule fits in a "
            "constraint, state it there. Read committed and repeatable read "
            "as most products sell it do not help.",
    },
    {
        .name = "read-only anomaly",
        .anomaly = HF_G2_ITEM,
        .catalog = "C12",
        .aliases = HF_NAMES("read-only transaction anomaly", "Fekete anomaly",
                            "batch anomaly"),
        .forbidden_at = HF_LEVELS(HF_REPEATABLE_READ),
        .summary = "a transaction that only reads sees a state that never was",
        .meaning =
            "Without the reader the two writers are serializable. The reader "
            "sees the first one's result and not the second one's, which "
            "fixes an order that the second one contradicts: both accounts "
            "are empty; T1 deposits 20 into savings y; T2 withdraws 10 from "
            "checking x and, having seen nothing in savings, adds a fee of 1; "
            "T3 prints x = 0 and y = 20. If the deposit came first, no fee "
            "was due.",
        .example =
            "{\"initial\":[[\"x\",0],[\"y\",0]]}\n"
            "{\"ops\":[[\"r\",\"y\",0],[\"w\",\"y\",20]]}\n"
            "{\"ops\":[[\"r\",\"x\",0],[\"r\",\"y\",0],[\"w\",\"x\",-11]]}\n"
            "{\"ops\":[[\"r\",\"x\",0],[\"r\",\"y\",20]]}\n",
        .remedy =
            "Run the reader too at serializable: a report at snapshot "
            "isolation beside serializable writers is enough to see this. "
            "PostgreSQL offers SERIALIZABLE READ ONLY DEFERRABLE, which waits "
            "for a safe snapshot and then never fails. In the database: a "
            "certifier must not leave out transactions that write nothing.",
    },
    {
        .name = "receipt report",
        .anomaly = HF_G2_ITEM,
        .catalog = "C13",
        .aliases = HF_NAMES("batch report", "batch processing anomaly"),
        .forbidden_at = HF_LEVELS(HF_REPEATABLE_READ),
        .summary =
            "a report on a closed period misses an entry that is added to it "
            "afterwards",
        .meaning =
            "T1 reads the current period and files a receipt under it; T2 "
            "closes the period; T3 sees it closed and reports its receipts, "
            "without the one from T1, which commits later. The report was "
            "final and is wrong.",
        .example = "{\"ops\":[[\"r\",\"c\",null],[\"w\",\"r\",1]]}\n"
                   "{\"ops\":[[\"r\",\"c\",null],[\"w\",\"c\",1]]}\n"
                   "{\"ops\":[[\"r\",\"c\",1],[\"r\",\"r\",null]]}\n",
        .remedy =
            "Use serializable for all three, the report included. At snapshot "
            "isolation let every entry lock the period's row (SELECT ... FOR "
            "SHARE), so that closing it waits for entries under way.",
    },
    {
        .name = "long fork",
        .anomaly = HF_G_NONADJACENT_ITEM,
        .catalog = "C10",
        .aliases = HF_NAMES("fork"),
        .forbidden_at =
            HF_LEVELS(HF_REPEATABLE_READ, HF_PREFIX, HF_SNAPSHOT_ISOLATION),
        .summary = "two readers see two independent writes in opposite orders",
        .meaning =
            "T3 sees the write of x but not that of y; T4 sees y but not x. "
            "Each state is consistent by itself, but there is no one order of "
            "commits that passes through both: two users look at a page and "
            "each sees the comment the other does not.",
        .example = "{\"ops\":[[\"w\",\"x\",1]]}\n"
                   "{\"ops\":[[\"w\",\"y\",1]]}\n"
                   "{\"ops\":[[\"r\",\"x\",1],[\"r\",\"y\",null]]}\n"
                   "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",1]]}\n",
        .remedy =
            "Parallel snapshot isolation and causal consistency allow it. "
            "Where clients compare what they see, read through one node or "
            "use snapshot isolation, prefix consistency or above. In the "
            "database look for snapshots composed from replicas that apply "
            "commits in different orders.",
    },
    {
        .name = "read skew",
        .anomaly = HF_G_SINGLE_ITEM,
        .catalog = "C6",
        .aliases =
            HF_NAMES("A5A", "inconsistent read", "inconsistent analysis"),
        .forbidden_at =
            HF_LEVELS(HF_READ_ATOMIC, HF_CONSISTENT_VIEW, HF_REPEATABLE_READ),
        .summary = "a transaction reads one row before and another row after "
                   "somebody changed both",
        .meaning =
            "T1 moves 10 from x to y. T2 reads x before the transfer and y "
            "after it, and finds 110 where there were always 100. At read "
            "committed every statement may see a newer state than the one "
            "before.",
        .example = "{\"initial\":[[\"x\",50],[\"y\",50]]}\n"
                   "{\"ops\":[[\"w\",\"x\",40],[\"w\",\"y\",60]]}\n"
                   "{\"ops\":[[\"r\",\"x\",50],[\"r\",\"y\",60]]}\n",
        .remedy =
            "Read both rows in one statement, or run the transaction on one "
            "snapshot (snapshot isolation; REPEATABLE READ in PostgreSQL; a "
            "plain SELECT at REPEATABLE READ in MySQL). Long reports and "
            "backups need it most. If the database claims a snapshot, look "
            "for snapshots taken per statement.",
    },
    {
        .name = "fractured read",
        .anomaly = HF_G_SINGLE_ITEM,
        .catalog = "C5",
        .aliases = HF_NAMES("fractured reads"),
        .forbidden_at =
            HF_LEVELS(HF_READ_ATOMIC, HF_CONSISTENT_VIEW, HF_REPEATABLE_READ),
        .summary = "a transaction sees only some of the writes of another "
                   "transaction",
        .meaning =
            "Writes that were committed together are seen apart: the first "
            "half of a friendship is there, the other is not. Read skew is "
            "the same thing seen from the reader's rule. Where the new value "
            "is read first and the old one after it, monotonic atomic view "
            "already forbids it (see OTV); in the order shown here only read "
            "atomic and above do.",
        .example = "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
                   "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",1]]}\n",
        .remedy =
            "Use read atomic, causal or snapshot isolation, or read all that "
            "belongs together in one statement or one row. In the database "
            "look at commits that become visible shard by shard.",
    },
    {
        .name = "OTV",
        .anomaly = HF_G_SINGLE_ITEM,
        .catalog = "C4",
        .aliases = HF_NAMES("observed transaction vanishes", "G-monotonic"),
        .forbidden_at = HF_LEVELS(HF_MONOTONIC_ATOMIC_VIEW, HF_REPEATABLE_READ),
        .summary =
            "a transaction sees another's write and then, later, a state from "
            "before it",
        .meaning =
            "T3 reads x from T2, and its next read returns a y from before "
            "T2, although T2 wrote y as well: T2 had happened, and then it "
            "had not.",
        .example = "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
                   "{\"ops\":[[\"w\",\"x\",2],[\"w\",\"y\",2]]}\n"
                   "{\"ops\":[[\"r\",\"x\",2],[\"r\",\"y\",1]]}\n"
                   "{\"order\":[\"x\",[1,2]]}\n"
                   "{\"order\":[\"y\",[1,2]]}\n",
        .remedy =
            "Every surveyed product prevents it at read committed, so it "
            "points to a fault: locks released row by row at commit, or a "
            "read served by a replica that is behind the one used before. "
            "Above read committed one snapshot per transaction removes it.",
    },
    {
        .name = "causality violation",
        .anomaly = HF_G_SINGLE_ITEM,
        .catalog = "C7",
        .aliases = HF_NAMES("causal violation", "non-causal read"),
        .forbidden_at = HF_LEVELS(HF_WRITES_FOLLOW_READS, HF_CONSISTENT_VIEW,
                                  HF_REPEATABLE_READ),
        .summary = "a transaction sees an effect but not its cause",
        .meaning =
            "T2 read x and answered with y. T3 sees the answer y and not the "
            "x it answers: a reply without the question, a photo by somebody "
            "who is no longer allowed to see the album.",
        .example = "{\"ops\":[[\"w\",\"x\",1]]}\n"
                   "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"y\",1]]}\n"
                   "{\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",null]]}\n",
        .remedy =
            "Ask for causal consistency or any snapshot level. In an "
            "application on a weaker store, put the cause (its id or its "
            "text) into the effect, or pass a causal token along with the "
            "message. In the database look for replication that orders writes "
            "per key or per shard only.",
    },
    {
        .name = "stale read",
        .anomaly = HF_G_SINGLE_ITEM_REALTIME,
        .catalog = "R1",
        .aliases = HF_NAMES("non-linearizable read", "stale snapshot"),
        .forbidden_at = HF_LEVELS(HF_STRICT_SNAPSHOT_ISOLATION),
        .summary =
            "a read misses a write that was acknowledged before the reader "
            "began",
        .meaning =
            "T1 had ended when T2 began, but T2 still sees the old value. "
            "Serializability and snapshot isolation allow it: the reader is "
            "simply placed in the past.",
        .example = "{\"holdfast\":1,\"time\":\"events\"}\n"
                   "{\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2}\n"
                   "{\"ops\":[[\"r\",\"x\",null]],\"begin\":3,\"end\":4}\n",
        .remedy =
            "Read from the primary, use the strict or linearizable read mode, "
            "or wait until the replica has reached a known position. In the "
            "database: a snapshot that is not refreshed, a lease held by an "
            "old leader, a commit that is acknowledged before it is visible.",
    },
    {
        .name = "causal reverse",
        .anomaly = HF_G_SINGLE_ITEM_REALTIME,
        .catalog = "R2",
        .aliases = HF_NAMES("reverse causality"),
        .forbidden_at = HF_LEVELS(HF_STRICT_SNAPSHOT_ISOLATION),
        .summary =
            "a reader sees the later of two writes and not the earlier one",
        .meaning =
            "T1 had ended before T2 began, perhaps because one user told the "
            "other, yet T3 sees T2's write without T1's. The database has "
            "ordered two transactions that share no data against real time.",
        .example = "{\"holdfast\":1,\"time\":\"events\"}\n"
                   "{\"ops\":[[\"w\",\"x\",1]],\"begin\":1,\"end\":2}\n"
                   "{\"ops\":[[\"w\",\"y\",1]],\"begin\":3,\"end\":4}\n"
                   "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",1]],\"begin\":1,"
                   "\"end\":6}\n",
        .remedy =
            "Databases that are serializable but not strict allow it between "
            "transactions on different keys. Let the second transaction read "
            "or touch something the first one wrote, so that they depend on "
            "each other, or use a strictly serializable database.",
    },
    {
        .name = "read-your-writes violation",
        .anomaly = HF_G_SINGLE_ITEM_SESSION,
        .catalog = "S1",
        .aliases = HF_NAMES("lost own write", "session stale read"),
        .forbidden_at = HF_LEVELS(HF_READ_YOUR_WRITES),
        .summary = "a session does not see what it wrote itself a moment ago",
        .meaning =
            "The client changed x in one transaction and reads the old value "
            "in its next: the comment just posted is not on the page.",
        .example = "{\"session\":\"a\",\"ops\":[[\"w\",\"x\",1]]}\n"
                   "{\"session\":\"a\",\"ops\":[[\"r\",\"x\",null]]}\n",
        .remedy =
            "Send a session's reads to the node that took its writes, or wait "
            "for the replica to reach the position of the last commit. Keep "
            "in mind that a connection pool may change the node between two "
            "requests of one user.",
    },
    {
        .name = "monotonic-reads violation",
        .anomaly = HF_G_SINGLE_ITEM_SESSION,
        .catalog = "S2",
        .aliases = HF_NAMES("non-monotonic read", "time travel"),
        .forbidden_at = HF_LEVELS(HF_MONOTONIC_READS),
        .summary = "a session reads a new value and then an old one",
        .meaning =
            "The client has seen x = 1 and in its next transaction sees the "
            "state before it: a reload makes the message disappear.",
        .example = "{\"ops\":[[\"w\",\"x\",1]]}\n"
                   "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",1]]}\n"
                   "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",null]]}\n",
        .remedy =
            "Pin a session to one replica, or carry the newest position seen "
            "and wait for it. Round-robin over replicas with different lag "
            "produces this at once.",
    },
    {
        .name = "monotonic-writes violation",
        .anomaly = HF_G_SINGLE_ITEM_SESSION,
        .catalog = "S3",
        .aliases = HF_NAMES("non-monotonic write"),
        .forbidden_at = HF_LEVELS(HF_MONOTONIC_WRITES),
        .summary = "somebody sees a session's second write but not its first",
        .meaning =
            "The session wrote x and then y; T3 has y but not yet x: the "
            "order was sent, its items are missing.",
        .example = "{\"session\":\"a\",\"ops\":[[\"w\",\"x\",1]]}\n"
                   "{\"session\":\"a\",\"ops\":[[\"w\",\"y\",1]]}\n"
                   "{\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",null]]}\n",
        .remedy =
            "Put writes that belong together into one transaction. Otherwise "
            "ask for PRAM, causal or a snapshot level with sessions. In the "
            "database look for replication that does not keep the order of "
            "one client's commits.",
    },
    {
        .name = "writes-follow-reads violation",
        .anomaly = HF_G_SINGLE_ITEM_SESSION,
        .catalog = "S5",
        .aliases = HF_NAMES("session causality violation"),
        .forbidden_at = HF_LEVELS(HF_WRITES_FOLLOW_READS),
        .summary =
            "somebody sees a session's write but not what the session had "
            "read before writing",
        .meaning =
            "Session b read x, and in its next transaction wrote y in answer. "
            "T4 sees y and not x. It is the causality violation with two "
            "transactions in the middle.",
        .example = "{\"ops\":[[\"w\",\"x\",1]]}\n"
                   "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",1]]}\n"
                   "{\"session\":\"b\",\"ops\":[[\"w\",\"y\",1]]}\n"
                   "{\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",null]]}\n",
        .remedy =
            "Ask for causal consistency with sessions, or carry a causal "
            "token from the read to the write. In the database, dependencies "
            "must be tracked per session and not per transaction only.",
    },
    {
        .name = "session long fork",
        .anomaly = HF_G_NONADJACENT_ITEM_SESSION,
        .catalog = "S8",
        .aliases = HF_NAMES("Dekker", "store buffering"),
        .forbidden_at = HF_LEVELS(HF_PREFIX),
        .summary = "two sessions each write and then miss the other's write",
        .meaning =
            "Session a writes x and then does not see y; session b writes y "
            "and then does not see x. Whoever wrote second should have seen "
            "the first. Programs that announce themselves and then look for "
            "others rely on exactly this.",
        .example = "{\"session\":\"a\",\"ops\":[[\"w\",\"x\",1]]}\n"
                   "{\"session\":\"a\",\"ops\":[[\"r\",\"y\",null]]}\n"
                   "{\"session\":\"b\",\"ops\":[[\"w\",\"y\",1]]}\n"
                   "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",null]]}\n",
        .remedy =
            "Do announcement and check in one transaction at serializable, or "
            "take a lock; prefix consistency and strong-session snapshot "
            "isolation forbid the form shown here. In the database look for "
            "commits that are acknowledged before the next snapshot contains "
            "them.",
    },
    {
        .name = "two-ids",
        .anomaly = HF_G2_ITEM_REALTIME,
        .catalog = "R5",
        .aliases = HF_NO_NAMES,
        .forbidden_at = HF_LEVELS(HF_STRICT_SERIALIZABLE),
        .summary =
            "serializable, and even strict snapshot isolation, but not in the "
            "order the clock shows",
        .meaning =
            "T1 takes the next number of one counter; T2, running all the "
            "while, sets a second counter from the old value of the first; T3 "
            "begins after T1 has ended and does not see T2. The only serial "
            "order is T3, T2, T1, against the clock.",
        .example = "{\"holdfast\":1,\"time\":\"events\"}\n"
                   "{\"ops\":[[\"w\",\"d\",1]],\"begin\":2,\"end\":3}\n"
                   "{\"ops\":[[\"r\",\"d\",null],[\"w\",\"e\",1]],\"begin\":1,"
                   "\"end\":8}\n"
                   "{\"ops\":[[\"r\",\"e\",null]],\"begin\":4,\"end\":5}\n",
        .remedy =
            "No error unless strict serializability was promised. Engines "
            "that certify with the pivot rule often abort one of the three by "
            "caution; that is allowed too.",
    },
    {
        .name = "predicate write skew",
        .anomaly = HF_G2,
        .catalog = "Q12",
        .aliases = HF_NAMES("phantom write skew", "double booking"),
        .forbidden_at = HF_LEVELS(HF_SERIALIZABLE),
        .summary =
            "two transactions check that nothing matches a condition, and "
            "each inserts a row that does",
        .meaning =
            "Both look for a booking of the room, both find none, both book. "
            "Write skew, but there is no common row that could have been "
            "locked or could conflict.",
        .example = "{\"ops\":[{\"op\":\"pr\",\"where\":\"value % 3 = 0\","
                   "\"versions\":[[\"a\",null],[\"b\",null]],\"rows\":[]},"
                   "[\"insert\",\"a\",30]]}\n"
                   "{\"ops\":[{\"op\":\"pr\",\"where\":\"value % 3 = 0\","
                   "\"versions\":[[\"a\",null],[\"b\",null]],\"rows\":[]},"
                   "[\"insert\",\"b\",42]]}\n",
        .remedy =
            "State the rule as a unique or exclusion constraint; or lock a "
            "row that stands for the set (the room, the day) before looking; "
            "or use serializable and retry. Snapshot isolation and locking "
            "repeatable read are not enough.",
    },
    {
        .name = "PMP",
        .anomaly = HF_G_SINGLE,
        .catalog = "Q3",
        .aliases = HF_NAMES("predicate many preceders"),
        .forbidden_at = HF_LEVELS(HF_READ_ATOMIC, HF_CONSISTENT_VIEW),
        .summary = "two queries of one transaction, with different conditions, "
                   "disagree about a row",
        .meaning = "The first query should have made clear that the row is not "
                   "there, the second returns it. It was inserted in between.",
        .example = "{\"ops\":[{\"op\":\"pr\",\"where\":\"value = 30\","
                   "\"versions\":[[\"x\",null]],\"rows\":[]},{\"op\":\"pr\","
                   "\"where\":\"value % 3 = 0\",\"versions\":[[\"x\",30]],"
                   "\"rows\":[[\"x\",30]]}]}\n"
                   "{\"ops\":[[\"insert\",\"x\",30]]}\n",
        .remedy =
            "As for the phantom: one snapshot for the whole transaction, or "
            "one statement for both questions.",
    },
    {
        .name = "skewed statement",
        .anomaly = HF_G_SINGLE,
        .catalog = "Q9",
        .aliases = HF_NAMES("statement skew", "torn scan"),
        .forbidden_at = HF_LEVELS(HF_READ_ATOMIC, HF_CONSISTENT_VIEW),
        .summary = "one single statement sees only part of another transaction",
        .meaning =
            "T1 inserts two rows together; one scan of T2 returns one of them "
            "and not the other. The definition of read committed by "
            "dependencies allows it, but every multi-version product promises "
            "one snapshot per statement.",
        .example =
            "{\"ops\":[[\"insert\",\"x\",1],[\"insert\",\"y\",1]]}\n"
            "{\"ops\":[{\"op\":\"pr\",\"where\":\"true\","
            "\"versions\":[[\"x\",null],[\"y\",1]],\"rows\":[[\"y\",1]]}]}\n",
        .remedy =
            "If the product promises statement-level consistency this is a "
            "fault of its scans: rows checked against the newest state one by "
            "one, index entries that are not versioned, or a scan over "
            "several shards without a common snapshot. In locking read "
            "committed (without row versions) it is normal: switch row "
            "versioning on.",
    },
    {
        .name = "predicate long fork",
        .anomaly = HF_G_NONADJACENT,
        .catalog = "Q11",
        .aliases = HF_NAMES("long fork with conditions"),
        .forbidden_at = HF_LEVELS(HF_PREFIX, HF_SNAPSHOT_ISOLATION),
        .summary = "two queries see two independent inserts in opposite orders",
        .meaning =
            "T3's query returns x and not y, T4's returns y and not x. It is "
            "the long fork, seen by queries; locking repeatable read does not "
            "forbid it.",
        .example =
            "{\"ops\":[[\"insert\",\"x\",1]]}\n"
            "{\"ops\":[[\"insert\",\"y\",1]]}\n"
            "{\"ops\":[{\"op\":\"pr\",\"where\":\"true\","
            "\"versions\":[[\"x\",1],[\"y\",null]],\"rows\":[[\"x\",1]]}]}\n"
            "{\"ops\":[{\"op\":\"pr\",\"where\":\"true\","
            "\"versions\":[[\"x\",null],[\"y\",1]],\"rows\":[[\"y\",1]]}]}\n",
        .remedy =
            "As for the long fork: read through one node, or use snapshot "
            "isolation with one commit order.",
    },
};
