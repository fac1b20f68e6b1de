/* anomaly_plain.c: the rows of the anomalies that are no cycles.
 *
 * Facts about a few operations.  Every example is a complete history in the
 * native text form, as small as can be, and is judged by the tests at every
 * level.
 */
#include "model/anomaly_rows.h"

/* In the order of hf_anomaly, from HF_GARBAGE_READ. */
const hf_anomaly_info hf_anomaly_plain[HF_ANOMALY_PLAIN_COUNT] = {
    {
        .anomaly = HF_GARBAGE_READ,
        .name = "garbage read",
        .catalog = "N1",
        .aliases =
            HF_NAMES("unwritten read", "thin-air read", "out-of-thin-air read"),
        .forbidden_at = HF_LEVELS(HF_READ_UNCOMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary = "a read returns a value that nobody ever wrote",
        .meaning =
            "The value is neither the initial one nor written by any "
            "transaction of the history, not even by an aborted one. Either "
            "the database returned corrupt data, or the recorder lost a "
            "write.",
        .example = "{\"ops\":[[\"r\",\"x\",77]]}\n",
        .remedy =
            "First rule out the recorder: a client that writes outside the "
            "recorded transactions (migrations, another test run on the same "
            "tables, a commit whose record was lost in a crash) gives the "
            "same picture. Record such a write with outcome \"unknown\" or "
            "list the state found at the start as initial values. If the "
            "recording is complete, look in the database for torn or "
            "corrupted rows, wrong type conversion and stale caches.",
    },
    {
        .anomaly = HF_INTERNAL,
        .name = "internal",
        .catalog = "N2",
        .aliases = HF_NAMES("internal consistency violation",
                            "own write not seen", "internal anomaly"),
        .forbidden_at = HF_LEVELS(HF_READ_UNCOMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "a transaction writes a key and then does not read back its own "
            "write",
        .meaning =
            "Inside one transaction a read after a write of the same key must "
            "return what the transaction itself wrote last. Here it returns "
            "something else, as if the write had not happened or had already "
            "been replaced by somebody else's.",
        .example = "{\"ops\":[[\"w\",\"x\",1],[\"r\",\"x\",null]]}\n",
        .remedy =
            "An application can do little except not rely on the second read: "
            "use the value it wrote (or RETURNING). On the database side look "
            "at reads that go to another replica or a cache than the open "
            "transaction's writes, at statements rerouted by a proxy in the "
            "middle of a transaction, and at autocommit left on by accident.",
    },
    {
        .anomaly = HF_NON_REPEATABLE_READ,
        .name = "non-repeatable read",
        .catalog = "N3",
        .aliases = HF_NAMES("fuzzy read", "unrepeatable read", "P2", "A2", "C3",
                            "internal inconsistency"),
        .forbidden_at =
            HF_LEVELS(HF_READ_ATOMIC, HF_CONSISTENT_VIEW, HF_REPEATABLE_READ),
        .partly_at = HF_LEVELS(HF_MONOTONIC_ATOMIC_VIEW),
        .summary = "a transaction reads one key twice and gets two different "
                   "versions",
        .meaning =
            "Between the two reads another transaction committed, and the "
            "second read already shows its value although the first did not. "
            "Whatever the program computed from the first read is out of date "
            "by the time it uses the second.",
        .example = "{\"ops\":[[\"r\",\"x\",null],[\"r\",\"x\",1]]}\n"
                   "{\"ops\":[[\"w\",\"x\",1]]}\n",
        .remedy =
            "Read committed allows this by design. In the application: read "
            "once and keep the value, lock the row when reading it (SELECT "
            "... FOR SHARE or FOR UPDATE), or run the transaction at snapshot "
            "isolation (REPEATABLE READ in PostgreSQL) or above. If the "
            "database promised a snapshot, look for a snapshot taken per "
            "statement instead of per transaction.",
    },
    {
        .anomaly = HF_DUPLICATE_WRITE,
        .name = "duplicate write",
        .catalog = "N4",
        .aliases = HF_NAMES("duplicate elements", "duplicate value"),
        .forbidden_at = HF_LEVELS(HF_READ_UNCOMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary = "a value that can be there only once was installed twice",
        .meaning =
            "The workload promises that no value is written twice to one key, "
            "yet two writes install the same one; or a list contains an "
            "element "
            "more often than it was appended. Typically a request was retried "
            "by a driver, a "
            "proxy or the database although the first try had succeeded.",
        .example = "{\"holdfast\":1,\"unique\":true}\n"
                   "{\"ops\":[[\"w\",\"x\",5]]}\n"
                   "{\"ops\":[[\"w\",\"x\",5]]}\n",
        .remedy =
            "Look for automatic retries that are not idempotent: drivers that "
            "resend after a timeout, proxies that replay a transaction, "
            "statements applied again after a failover. A unique constraint "
            "or a request id stored with the data turns the second try into "
            "an error. If the workload never meant to promise uniqueness, "
            "drop \"unique\" from the header.",
    },
    {
        .anomaly = HF_G1A,
        .name = "G1a",
        .catalog = "N5",
        .aliases = HF_NAMES("aborted read", "dirty read", "A1", "P1"),
        .forbidden_at = HF_LEVELS(HF_READ_COMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "a committed transaction reads a value written by a transaction "
            "that aborted",
        .meaning =
            "The value that was read never officially existed: its writer was "
            "rolled back. Decisions based on it, for example a payment on an "
            "order that was cancelled, are left without a reason in the data.",
        .example = "{\"ops\":[[\"w\",\"x\",1]],\"outcome\":\"aborted\"}\n"
                   "{\"ops\":[[\"r\",\"x\",1]]}\n",
        .remedy =
            "Use at least read committed; in SQL Server remove NOLOCK hints "
            "and READ UNCOMMITTED. If the database claims read committed, "
            "look at rollback (are all versions of the aborted transaction "
            "removed, also in indexes and on replicas?) and check that the "
            "client did not record a commit of unknown outcome as aborted: a "
            "lost answer to COMMIT must be recorded as \"unknown\".",
    },
    {
        .anomaly = HF_G1B,
        .name = "G1b",
        .catalog = "N6",
        .aliases = HF_NAMES("intermediate read"),
        .forbidden_at = HF_LEVELS(HF_READ_COMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "a transaction reads a value that its writer overwrote before "
            "committing",
        .meaning =
            "The writer changed the key more than once and somebody saw a "
            "value from the middle. That value was never part of a committed "
            "state, just as with an aborted read.",
        .example = "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"x\",2]]}\n"
                   "{\"ops\":[[\"r\",\"x\",1]]}\n",
        .remedy =
            "Use at least read committed. In an application that cannot, "
            "write each row once per transaction, with its final value. In "
            "the database look for reads that take the newest version in "
            "memory instead of the newest committed one, and for a commit "
            "that publishes statement by statement.",
    },
    {
        .anomaly = HF_DIRTY_UPDATE,
        .name = "dirty update",
        .catalog = "N7",
        .aliases = HF_NAMES("update of an aborted version"),
        .forbidden_at = HF_LEVELS(HF_READ_COMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary = "a committed version was built on top of a version that was "
                   "rolled back",
        .meaning =
            "A list, counter or row that is committed contains the effect of "
            "an aborted transaction: rolling back removed the transaction but "
            "not what others had already built on it. The aborted data is now "
            "permanent.",
        .example = "{\"ops\":[[\"append\",\"x\",1]],\"outcome\":\"aborted\"}\n"
                   "{\"ops\":[[\"append\",\"x\",2]]}\n"
                   "{\"ops\":[[\"r\",\"x\",[1,2]]]}\n",
        .remedy =
            "Use at least read committed. In the database, look at writers "
            "that may start from an uncommitted version (missing write lock, "
            "early lock release) and at rollback that restores a before-image "
            "over somebody else's later write. Check also that an aborted "
            "outcome is certain and not a lost answer.",
    },
    {
        .anomaly = HF_FUTURE_READ,
        .name = "future read",
        .catalog = "N8",
        .aliases = HF_NAMES("read of own future write"),
        .forbidden_at = HF_LEVELS(HF_READ_COMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "a transaction reads a value that only it itself writes, later",
        .meaning =
            "The read comes before the write in the program, yet returns what "
            "the write is going to install. No execution of the statements in "
            "this order can do that, so operations were executed or recorded "
            "out of order.",
        .example = "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",1]]}\n",
        .remedy =
            "Check the recorder: operations must be written down in program "
            "order, and a transaction that was retried must be recorded as "
            "two transactions. If the record is right, look for statements of "
            "one transaction that are sent in parallel or reordered by a "
            "driver or a batch.",
    },
    {
        .anomaly = HF_INCOMPATIBLE_ORDER,
        .name = "incompatible order",
        .catalog = "N9",
        .aliases = HF_NAMES("incompatible version order", "inconsistent order"),
        .forbidden_at = HF_LEVELS(HF_READ_UNCOMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary = "two reads of one list show its elements in opposite orders",
        .meaning =
            "Appends only ever add at the end, so of two lists read from one "
            "key the shorter must be the beginning of the longer. Here "
            "neither is: two readers saw histories of the same key that "
            "contradict each other, as replicas do that applied writes in "
            "different orders.",
        .example = "{\"ops\":[[\"append\",\"x\",1]]}\n"
                   "{\"ops\":[[\"append\",\"x\",2]]}\n"
                   "{\"ops\":[[\"r\",\"x\",[1,2]]]}\n"
                   "{\"ops\":[[\"r\",\"x\",[2,1]]]}\n",
        .remedy =
            "No level allows it, and an application cannot repair it. Look "
            "for two primaries (split brain), for replicas that apply writes "
            "in their order of arrival, and for writes lost in a failover "
            "while a reader had already seen them.",
    },
    {
        .anomaly = HF_CYCLIC_VERSIONS,
        .name = "cyclic versions",
        .catalog = "N10",
        .aliases = HF_NAMES("cyclic version order"),
        .forbidden_at = HF_LEVELS(HF_READ_COMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "the order of one key's versions, as its readers and writers saw "
            "it, is a circle",
        .meaning =
            "Each transaction read the version of the other and then replaced "
            "it, so each of the two versions must be the older one. From read "
            "committed up this cannot be explained: a transaction that reads "
            "a version and overwrites it installs a later one.",
        .example = "{\"ops\":[[\"r\",\"x\",2],[\"w\",\"x\",1]]}\n"
                   "{\"ops\":[[\"r\",\"x\",1],[\"w\",\"x\",2]]}\n",
        .remedy =
            "Look for reads of uncommitted data and for values that are not "
            "as unique as the workload believes: a counter that goes up and "
            "down again produces the same value twice and looks like this. "
            "Make the written values unique (add the transaction's number) "
            "and record again before suspecting the database.",
    },
    {
        .anomaly = HF_RESULT_SET_MISMATCH,
        .name = "result set mismatch",
        .catalog = "N11",
        .aliases = HF_NAMES("wrong result set", "predicate evaluation error"),
        .forbidden_at = HF_LEVELS(HF_READ_UNCOMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "a query's condition, applied to the versions it looked at, gives "
            "other rows than it returned",
        .meaning =
            "The statement saw a version that satisfies its condition and did "
            "not return it, or returned one that does not. That is no "
            "question of isolation: the query engine answered wrongly on its "
            "own snapshot.",
        .example = "{\"ops\":[[\"w\",\"x\",4]]}\n"
                   "{\"ops\":[{\"op\":\"pr\",\"where\":\"value < 5\","
                   "\"versions\":[[\"x\",4]],\"rows\":[]}]}\n",
        .remedy =
            "Run the same query with a full scan (indexes off) on the same "
            "data. If the answers differ, an index disagrees with its table: "
            "rebuild it and look for the write that did not reach it. If they "
            "agree, check how the version set was recovered and how the "
            "condition treats nil, collation and rounding.",
    },
    {
        .anomaly = HF_TWO_VERSIONS,
        .name = "two versions",
        .catalog = "N12",
        .aliases = HF_NAMES("two versions of one row", "duplicate row"),
        .forbidden_at = HF_LEVELS(HF_READ_UNCOMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary = "one statement returns the same row twice, in two versions",
        .meaning =
            "A query that should see each row once returned an old version of "
            "it together with a new one. Sums, counts and joins over the "
            "result count that row twice.",
        .example = "{\"initial\":[[\"x\",1]]}\n"
                   "{\"ops\":[[\"delete\",\"x\"]]}\n"
                   "{\"ops\":[[\"insert\",\"x\",3],{\"op\":\"pr\","
                   "\"where\":\"true\",\"rows\":[[\"x\",1],[\"x\",3]]}]}\n",
        .remedy =
            "Look at how the transaction's own uncommitted writes are merged "
            "with its snapshot (a row deleted by others and inserted by "
            "itself is the classic case), and at scans over an index whose "
            "entry moves while the scan runs. In an application, DISTINCT on "
            "the primary key hides the row but not the error.",
    },
    {
        .anomaly = HF_SEMANTIC_ERROR,
        .name = "semantic error",
        .catalog = "N13",
        .aliases = HF_NAMES("wrong result", "arithmetic error"),
        .forbidden_at = HF_LEVELS(HF_READ_UNCOMMITTED),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "a statement's result cannot come from any state the level allows",
        .meaning =
            "The values involved are all legal, but the database computed "
            "something else from them than the statement says: here 310 + 100 "
            "became 420.",
        .example = "{\"initial\":[[\"x\",310]]}\n"
                   "{\"ops\":[{\"op\":\"inc\",\"key\":\"x\",\"by\":100,"
                   "\"before\":310,\"after\":420}]}\n",
        .remedy =
            "Repeat the statement alone on the same row. If the result is "
            "still wrong it is a fault of the query engine (type conversion, "
            "rounding, a wrong plan). If it is right, another transaction's "
            "change was mixed in: an update that re-read the row after "
            "waiting for a lock, without using the value it reports.",
    },
    {
        .anomaly = HF_PREDICATE_READ_MISS,
        .name = "predicate read miss",
        .catalog = "N14",
        .aliases = HF_NAMES("predicate miss"),
        .forbidden_at = HF_LEVELS(HF_MONOTONIC_ATOMIC_VIEW),
        .partly_at = HF_NO_LEVELS,
        .summary =
            "a query misses a row that its transaction already knew and that "
            "always satisfied the condition",
        .meaning =
            "The transaction has read the row, every version of it ever "
            "written satisfies the query's condition, and still the query "
            "does not return it. The query looked at a state from before the "
            "row was inserted, that is, further back than the transaction had "
            "already been.",
        .example = "{\"ops\":[[\"insert\",\"x\",4]]}\n"
                   "{\"ops\":[[\"r\",\"x\",4],{\"op\":\"pr\","
                   "\"where\":\"value < 5\",\"versions\":[[\"x\",null]],"
                   "\"rows\":[]}]}\n",
        .remedy =
            "Run the transaction on one snapshot (snapshot isolation or "
            "above). In the database compare the access paths: reads by "
            "primary key and scans of a secondary index must use the same "
            "snapshot, and index entries must become visible together with "
            "their rows.",
    },
    {
        .anomaly = HF_LOST_UPDATE,
        .name = "lost update",
        .catalog = "N15",
        .aliases = HF_NAMES("P4", "C8", "G-cursor", "P4C", "FUW violation"),
        .forbidden_at = HF_LEVELS(HF_CONSISTENT_VIEW, HF_REPEATABLE_READ),
        .partly_at = HF_NO_LEVELS,
        .summary = "two transactions read the same version of a key and both "
                   "overwrite it",
        .meaning =
            "Both started from the same value, and the one that wrote last "
            "did so without knowing of the other: two increments of a "
            "counter, and it has grown by one. The first update is lost "
            "although its client was told that it committed.",
        .example = "{\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",1]]}\n"
                   "{\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",2]]}\n",
        .remedy =
            "In the application: let the database compute (UPDATE ... SET n = "
            "n + 1), lock when reading (SELECT ... FOR UPDATE), or compare a "
            "version column in the WHERE of the update and retry if no row "
            "matched. Or use snapshot isolation or above and retry on "
            "serialization failures; note that REPEATABLE READ in MySQL and "
            "TiDB does not prevent it. If the database claims snapshot "
            "isolation, the first-updater-wins check is missing or uses the "
            "wrong snapshot.",
    },
    {
        .anomaly = HF_PHANTOM,
        .name = "phantom",
        .catalog = "N16",
        .aliases = HF_NAMES("phantom read", "P3", "A3", "Q1"),
        .forbidden_at = HF_LEVELS(HF_READ_ATOMIC, HF_CONSISTENT_VIEW),
        .partly_at = HF_LEVELS(HF_MONOTONIC_ATOMIC_VIEW, HF_REPEATABLE_READ),
        .summary = "the same condition, read twice in one transaction, returns "
                   "different sets of rows",
        .meaning =
            "Between the two queries another transaction committed a row that "
            "satisfies the condition (or stopped satisfying it). Locking the "
            "rows that were returned does not help: the new row was not there "
            "to be locked.",
        .example =
            "{\"ops\":[[\"insert\",\"x\",1]]}\n"
            "{\"ops\":[[\"insert\",\"y\",2]]}\n"
            "{\"ops\":[{\"op\":\"pr\",\"where\":\"value < 5\","
            "\"versions\":[[\"x\",1],[\"y\",null]],\"rows\":[[\"x\",1]]},"
            "{\"op\":\"pr\",\"where\":\"value < 5\",\"versions\":[[\"x\",1],"
            "[\"y\",2]],\"rows\":[[\"x\",1],[\"y\",2]]}]}\n",
        .remedy =
            "Use snapshot isolation or above, so that both queries read one "
            "snapshot; locking repeatable read is not enough. Where a "
            "decision depends on rows being absent, snapshot isolation is not "
            "enough either (see predicate write skew): use serializable, a "
            "unique or exclusion constraint, or lock one row that stands for "
            "the whole set.",
    },
    {
        .anomaly = HF_UNEXPLAINED_ABORT,
        .name = "unexplained abort",
        .catalog = "N17",
        .aliases = HF_NAMES("unexplained error", "over-locking"),
        .forbidden_at = HF_NO_LEVELS,
        .partly_at = HF_NO_LEVELS,
        .summary =
            "a statement fails or blocks although nothing it conflicts with "
            "is there",
        .meaning =
            "No isolation level promises that transactions succeed, so this "
            "is never an isolation error. It is a finding about the "
            "mechanism: the database locks more than it should or reports a "
            "conflict that does not exist.",
        .example = "{\"ops\":[{\"op\":\"w\",\"key\":\"x\",\"value\":1,"
                   "\"failed\":true}],\"outcome\":\"aborted\"}\n",
        .remedy =
            "Retry as with any serialization failure. If it happens without "
            "contention, look for locks on rows that do not exist, lock "
            "escalation, gap locks, or schema changes elsewhere that "
            "invalidate running transactions.",
    },
    {
        .anomaly = HF_OUTSIDE_SNAPSHOT,
        .name = "read outside snapshot",
        .catalog = "N18",
        .aliases = HF_NAMES("snapshot read violation", "EXT violation"),
        .forbidden_at = HF_NO_LEVELS,
        .partly_at = HF_LEVELS(HF_SNAPSHOT_ISOLATION),
        .summary = "a read does not return the newest version committed "
                   "before its transaction's recorded start",
        .meaning =
            "The database recorded when each transaction took its snapshot "
            "and when it committed. By those times the transaction should "
            "have seen another version: a newer one that was committed before "
            "its start, or an older one because what it saw was committed "
            "later. The verdict rests on the recorded timestamps.",
        .example =
            "{\"ops\":[[\"w\",\"x\",1]],\"start_ts\":1,\"commit_ts\":2}\n"
            "{\"ops\":[[\"w\",\"x\",2]],\"start_ts\":3,\"commit_ts\":4}\n"
            "{\"ops\":[[\"r\",\"x\",1]],\"start_ts\":5,\"commit_ts\":6}\n",
        .remedy =
            "First make sure that the timestamps are those the database used "
            "for visibility (snapshot and commit, of one clock), not those of "
            "a client. If they are, look at how a transaction chooses its "
            "snapshot: commits that become visible before or after their "
            "timestamp, replicas that lag, clocks that are not monotonic.",
    },
    {
        .anomaly = HF_CONCURRENT_WRITE,
        .name = "concurrent write",
        .catalog = "N19",
        .aliases = HF_NAMES("write conflict", "NOCONFLICT violation"),
        .forbidden_at = HF_NO_LEVELS,
        .partly_at = HF_LEVELS(HF_SNAPSHOT_ISOLATION),
        .summary = "two transactions write one key and overlap by their "
                   "recorded start and commit",
        .meaning =
            "The later of the two to commit started before the other had "
            "committed, so its snapshot did not hold the version it "
            "replaced: first-committer-wins should have aborted one of them. "
            "The verdict rests on the recorded timestamps.",
        .example =
            "{\"ops\":[[\"w\",\"x\",1]],\"start_ts\":1,\"commit_ts\":3}\n"
            "{\"ops\":[[\"w\",\"x\",2]],\"start_ts\":2,\"commit_ts\":4}\n",
        .remedy =
            "If the timestamps are the database's own, its conflict check "
            "between writers is missing or looks at the wrong snapshot. An "
            "application can protect itself with SELECT ... FOR UPDATE or a "
            "version column checked in the UPDATE.",
    },
    {
        .anomaly = HF_EXPECTED_STATE,
        .name = "expected state mismatch",
        .catalog = "N20",
        .aliases = HF_NAMES("expected order violation",
                            "serialization order mismatch"),
        .forbidden_at = HF_NO_LEVELS,
        .partly_at = HF_LEVELS(HF_READ_COMMITTED),
        .summary = "executed in the expected order of transactions, an "
                   "operation gives another result",
        .meaning =
            "The database is expected to behave as if its transactions ran in "
            "a known order: that of commits, of timestamps, of validation. "
            "Executed in that order, a read, a query or an aggregate returns "
            "something else than was recorded. Below serializable no earlier "
            "state explains it: none for the statement (read-committed), none "
            "for the whole transaction (snapshot-isolation). The verdict "
            "speaks of this order only; another might explain the history.",
        .example = "{\"ops\":[[\"w\",\"x\",1]],\"commit_ts\":1}\n"
                   "{\"ops\":[[\"w\",\"x\",2]],\"commit_ts\":2}\n"
                   "{\"ops\":[[\"r\",\"x\",1]],\"commit_ts\":3}\n",
        .remedy =
            "First make sure that the order is the one the protocol promises: "
            "commits for strict two-phase locking, timestamps for timestamp "
            "ordering, validation for optimistic protocols; snapshot-based "
            "ones have none. If it is, look at the transaction that stands "
            "between the version seen and the one expected: a lock released "
            "early or never taken, a timestamp not checked, a validation that "
            "missed a key or a range.",
    },
};
