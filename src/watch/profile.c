/* profile.c: the table of profiles, and finding a row of it.
 *
 * The rows are Leopard's Table I, corrected where the makers' pages say
 * otherwise: which of them were read is `is_verified`.
 */
#include "watch/profile.h"

#include <stdio.h>

#include "base/error.h"

#define PG "https://www.postgresql.org/docs/current/transaction-iso.html"
#define GAUSS "https://docs.opengauss.org: SET TRANSACTION"
#define YB                                                                     \
    "https://docs.yugabyte.com: architecture, transactions, isolation levels"
#define INNODB                                                                 \
    "https://dev.mysql.com/doc/refman/8.4/en/innodb-transaction-model.html"
#define MARIA "https://mariadb.com/kb/en/innodb-system-variables/"
#define MSSQL "https://learn.microsoft.com/sql: SET TRANSACTION ISOLATION LEVEL"
#define TIDB "https://docs.pingcap.com/tidb: transaction isolation levels"
#define ROCKS "https://github.com/facebook/rocksdb/wiki/Transactions"
#define SQLITE "https://sqlite.org/isolation.html"
#define FDB "https://apple.github.io/foundationdb/developer-guide.html"
#define ROACH                                                                  \
    "https://www.cockroachlabs.com/docs: transaction layer, read committed"
#define SPANNER "https://cloud.google.com/spanner/docs/isolation-levels"
#define ORACLE "https://docs.oracle.com: database concepts, data concurrency"
#define SINGLE "https://docs.singlestore.com: isolation level"
#define STORE "src/store/store.h"
#define NOT_READ "not checked against its makers' pages"

#define MS UINT64_C(1000000)
#define CR_S .read = HF_WATCH_READ_STATEMENT
#define CR_T .read = HF_WATCH_READ_TRANSACTION
#define CR_ROW .read = HF_WATCH_READ_ROW
#define ME .lock = HF_WATCH_LOCK_WRITES
#define ME_ROWS .lock = HF_WATCH_LOCK_ROWS
#define ME_RANGES .lock = HF_WATCH_LOCK_RANGES
#define FUW .first_updater_wins = true
/* any write of a key counts, whatever was there before */
#define FUW_ALL .first_updater_wins = true, .inserts_conflict = true
#define PERCOLATOR .certifier = HF_WATCH_SC_PERCOLATOR, .inserts_conflict = true
#define BYTES .texts_by_bytes = true
#define NEWEST .locked_reads_newest = true
#define DEFAULT .is_default = true
#define DOC(page) .is_verified = true, .where = (page)
#define SNAPSHOT "strict-snapshot-isolation"
#define SERIAL "serializable"
#define COMMITTED "read-committed"

static const hf_profile rows[] = {
    {"postgresql", "serializable", SERIAL, BYTES, CR_T, ME, FUW,
     .certifier = HF_WATCH_SC_SSI, DOC(PG), .note = ""},
    {"postgresql", "repeatable read", SNAPSHOT, BYTES, CR_T, ME, FUW, DOC(PG),
     .note = "the snapshot is of the first statement, not of BEGIN"},
    {"postgresql", "read committed", COMMITTED, BYTES, CR_S, ME, DEFAULT,
     DOC(PG), .note = "a blocked update goes on with the new row: no FUW"},
    {"opengauss", "serializable", SNAPSHOT, BYTES, CR_T, ME, FUW, DOC(GAUSS),
     .note = "the same as repeatable read"},
    {"opengauss", "repeatable read", SNAPSHOT, BYTES, CR_T, ME, FUW, DOC(GAUSS),
     .note = ""},
    {"opengauss", "read committed", COMMITTED, BYTES, CR_S, ME, DEFAULT,
     DOC(GAUSS), .note = ""},
    {"yugabytedb", "serializable", SERIAL, BYTES, CR_T, ME_ROWS, FUW,
     .snapshot = HF_WATCH_AT_ANY, .slack = 500 * MS, DOC(YB),
     .note = "read locks, not SSI"},
    {"yugabytedb", "repeatable read", "snapshot-isolation", BYTES, CR_T, ME,
     FUW, .snapshot = HF_WATCH_AT_ANY, .slack = 500 * MS, DEFAULT, DOC(YB),
     .note = ""},
    {"yugabytedb", "read committed", COMMITTED, BYTES, CR_S, ME,
     .slack = 500 * MS, DOC(YB),
     .note = "with yb_enable_read_committed_isolation; else it is repeatable "
             "read"},
    {"mysql", "serializable", SERIAL, CR_ROW, ME_RANGES, DOC(INNODB),
     .note = "plain SELECT locks if autocommit is off"},
    {"mysql", "repeatable read", COMMITTED, CR_T, ME, NEWEST,
     .snapshot = HF_WATCH_AT_READ, DEFAULT, DOC(INNODB),
     .note = "the snapshot is for plain SELECT only; no FUW"},
    {"mysql", "read committed", COMMITTED, CR_S, ME, DOC(INNODB), .note = ""},
    {"mysql", "read uncommitted", "read-uncommitted", ME, DOC(INNODB),
     .note = ""},
    {"mariadb", "serializable", SERIAL, CR_ROW, ME_RANGES, DOC(MARIA),
     .note = "plain SELECT locks if autocommit is off"},
    {"mariadb", "repeatable read", SNAPSHOT, CR_T, ME, FUW,
     .snapshot = HF_WATCH_AT_READ, DEFAULT, DOC(MARIA),
     .note = "innodb_snapshot_isolation=ON, the default from 11.6.2"},
    {"mariadb", "repeatable read, no snapshot isolation", COMMITTED, CR_T, ME,
     NEWEST, .snapshot = HF_WATCH_AT_READ, DOC(MARIA),
     .note = "innodb_snapshot_isolation=OFF, the default before 11.6.2"},
    {"mariadb", "read committed", COMMITTED, CR_S, ME, DOC(MARIA), .note = ""},
    {"mariadb", "read uncommitted", "read-uncommitted", ME, DOC(MARIA),
     .note = ""},
    {"sqlserver", "serializable", SERIAL, CR_ROW, ME_RANGES, DOC(MSSQL),
     .note = "locks, no snapshot"},
    {"sqlserver", "repeatable read", "repeatable-read", CR_ROW, ME_ROWS,
     DOC(MSSQL), .note = "locks, no snapshot"},
    {"sqlserver", "read committed", COMMITTED, CR_ROW, ME, DEFAULT, DOC(MSSQL),
     .note = "READ_COMMITTED_SNAPSHOT off"},
    {"sqlserver", "read committed snapshot", COMMITTED, CR_S, ME, DOC(MSSQL),
     .note = "READ_COMMITTED_SNAPSHOT on"},
    {"sqlserver", "snapshot", SNAPSHOT, CR_T, ME, FUW, DOC(MSSQL), .note = ""},
    {"aurora-mysql", "serializable", SERIAL, CR_ROW, ME_RANGES,
     .where = NOT_READ, .note = "as MySQL"},
    {"aurora-mysql", "repeatable read", COMMITTED, CR_T, ME, NEWEST,
     .snapshot = HF_WATCH_AT_READ, DEFAULT, .where = NOT_READ,
     .note = "as MySQL"},
    {"aurora-mysql", "read committed", COMMITTED, CR_S, ME, .where = NOT_READ,
     .note = "as MySQL"},
    {"aurora-postgresql", "serializable", SERIAL, BYTES, CR_T, ME, FUW,
     .certifier = HF_WATCH_SC_SSI, .where = NOT_READ, .note = "as PostgreSQL"},
    {"aurora-postgresql", "repeatable read", SNAPSHOT, BYTES, CR_T, ME, FUW,
     .where = NOT_READ, .note = "as PostgreSQL"},
    {"aurora-postgresql", "read committed", COMMITTED, BYTES, CR_S, ME, DEFAULT,
     .where = NOT_READ, .note = "as PostgreSQL"},
    {"polardb", "serializable", SERIAL, CR_ROW, ME_RANGES, .where = NOT_READ,
     .note = "as MySQL"},
    {"polardb", "repeatable read", COMMITTED, CR_T, ME, NEWEST,
     .snapshot = HF_WATCH_AT_READ, DEFAULT, .where = NOT_READ,
     .note = "as MySQL"},
    {"polardb", "read committed", COMMITTED, CR_S, ME, .where = NOT_READ,
     .note = "as MySQL"},
    {"tidb", "optimistic", SNAPSHOT, CR_T, .snapshot = HF_WATCH_BY_FIRST,
     PERCOLATOR, DOC(TIDB),
     .note = "shown as REPEATABLE READ; commit fails on a write conflict"},
    {"tidb", "repeatable read", COMMITTED, CR_T, ME, NEWEST,
     .snapshot = HF_WATCH_BY_FIRST, DEFAULT, DOC(TIDB),
     .note = "pessimistic, the default since 3.0.8; no FUW"},
    {"tidb", "read committed", COMMITTED, CR_S, ME, DOC(TIDB),
     .note = "pessimistic"},
    {"rocksdb", "pessimistic", SNAPSHOT, BYTES, CR_T, ME, FUW_ALL,
     .snapshot = HF_WATCH_AT_BEGIN, DEFAULT, DOC(ROCKS),
     .note = "TransactionDB with SetSnapshot at BEGIN"},
    {"rocksdb", "pessimistic, no snapshot", COMMITTED, BYTES, CR_ROW, ME,
     DOC(ROCKS), .note = "TransactionDB without SetSnapshot"},
    {"rocksdb", "optimistic", SNAPSHOT, BYTES, CR_T,
     .snapshot = HF_WATCH_AT_BEGIN, PERCOLATOR, DOC(ROCKS),
     .note = "OptimisticTransactionDB with SetSnapshot at BEGIN"},
    {"sqlite", "wal", "strict-serializable", BYTES, CR_T, ME, FUW_ALL,
     .one_writer = true, DOC(SQLITE),
     .note = "readers keep a snapshot, one writer"},
    {"sqlite", "serializable", "strict-serializable", BYTES, CR_T, ME, FUW_ALL,
     .one_writer = true, DEFAULT, DOC(SQLITE),
     .note = "rollback journal: no commit while others read"},
    {"foundationdb", "serializable", "strict-serializable", BYTES, CR_T,
     .snapshot = HF_WATCH_AT_READ, .certifier = HF_WATCH_SC_OCC, DEFAULT,
     DOC(FDB), .note = ""},
    {"singlestore", "read committed", COMMITTED, CR_S, ME, DEFAULT, DOC(SINGLE),
     .note = "the only level"},
    {"cockroachdb", "serializable", SERIAL, BYTES, CR_T,
     .snapshot = HF_WATCH_AT_ANY, .certifier = HF_WATCH_SC_TO,
     .slack = 500 * MS, DEFAULT, DOC(ROACH),
     .note = "clocks of nodes may differ by --max-offset"},
    {"cockroachdb", "repeatable read", "snapshot-isolation", BYTES, CR_T,
     FUW_ALL, .snapshot = HF_WATCH_AT_ANY, .slack = 500 * MS, DOC(ROACH),
     .note = "mechanisms inferred"},
    {"cockroachdb", "read committed", COMMITTED, BYTES, CR_S, .slack = 500 * MS,
     DOC(ROACH), .note = "mechanisms inferred"},
    {"spanner", "serializable", "strict-serializable", BYTES, CR_ROW, ME_RANGES,
     .locks_at_commit = true, DEFAULT, DOC(SPANNER),
     .note = "writes are buffered: a read-write transaction's locks are taken "
             "by its reads, and by its commit"},
    {"spanner", "repeatable read", "snapshot-isolation", BYTES, CR_T, FUW_ALL,
     DOC(SPANNER), .note = ""},
    {"oracle", "serializable", SNAPSHOT, BYTES, CR_T, ME, FUW, DOC(ORACLE),
     .note = "this is snapshot isolation: ORA-08177"},
    {"oracle", "read committed", COMMITTED, BYTES, CR_S, ME, DEFAULT,
     DOC(ORACLE), .note = "a blocked statement starts again: no FUW"},
    {"nuodb", "consistent read", SNAPSHOT, CR_T, ME, FUW, .where = NOT_READ,
     .note = "as Oracle"},
    {"nuodb", "read committed", COMMITTED, CR_S, ME, DEFAULT, .where = NOT_READ,
     .note = "as Oracle"},
    {"saphana", "repeatable read", SNAPSHOT, CR_T, ME, FUW, .where = NOT_READ,
     .note = "as Oracle"},
    {"saphana", "read committed", COMMITTED, CR_S, ME, DEFAULT,
     .where = NOT_READ, .note = "as Oracle"},
    {"oceanbase", "serializable", SNAPSHOT, CR_T, ME, FUW, .where = NOT_READ,
     .note = "as Oracle"},
    {"oceanbase", "read committed", COMMITTED, CR_S, ME, DEFAULT,
     .where = NOT_READ, .note = "as Oracle"},
    {"store", "serializable", "strict-serializable", BYTES, CR_T, FUW_ALL,
     .snapshot = HF_WATCH_AT_BEGIN, .certifier = HF_WATCH_SC_OCC, DEFAULT,
     DOC(STORE), .note = "this program's own store"},
    {"store", "snapshot isolation", SNAPSHOT, BYTES, CR_T, FUW_ALL,
     .snapshot = HF_WATCH_AT_BEGIN, DOC(STORE), .note = ""},
    {"store", "repeatable read", "repeatable-read", BYTES, CR_S,
     .certifier = HF_WATCH_SC_OCC_ITEMS, DOC(STORE), .note = ""},
    {"store", "prefix", "prefix", BYTES, CR_T, .snapshot = HF_WATCH_AT_BEGIN,
     DOC(STORE), .note = ""},
    {"store", "read committed", COMMITTED, BYTES, CR_S, DOC(STORE), .note = ""},
    {"store", "read uncommitted", "read-uncommitted", BYTES, ME, DOC(STORE),
     .note = ""},
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static const char *const aliases[][2] = {
    {"postgres", "postgresql"}, {"pg", "postgresql"},
    {"gaussdb", "opengauss"},   {"yugabyte", "yugabytedb"},
    {"innodb", "mysql"},        {"sql-server", "sqlserver"},
    {"mssql", "sqlserver"},     {"aurora", "aurora-mysql"},
    {"crdb", "cockroachdb"},    {"cockroach", "cockroachdb"},
    {"fdb", "foundationdb"},    {"hana", "saphana"},
    {"sap-hana", "saphana"},    {"ser", "serializable"},
    {"rr", "repeatable read"},  {"rc", "read committed"},
    {"ru", "read uncommitted"}, {"si", "snapshot isolation"},
};

size_t hf_profile_count(void)
{
    return N_ROWS;
}

const hf_profile *hf_profile_at(size_t i)
{
    HF_ASSERT(i < N_ROWS);
    return &rows[i];
}

static hf_str plain_name(hf_str name)
{
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (hf_str_same_name(name, hf_str_of(aliases[i][0])))
            return hf_str_of(aliases[i][1]);
    return name;
}

bool hf_profile_is_named(const hf_profile *p, hf_str database, hf_str level)
{
    if (!hf_str_same_name(plain_name(database), hf_str_of(p->database)))
        return false;
    if (level.len == 0)
        return p->is_default;
    return hf_str_same_name(level, hf_str_of(p->level)) ||
           hf_str_same_name(plain_name(level), hf_str_of(p->level));
}

const hf_profile *hf_profile_find_level(hf_str database, hf_str level)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (hf_profile_is_named(&rows[i], database, level))
            return &rows[i];
    return NULL;
}

void hf_profile_split(hf_str name, hf_str *ret_database, hf_str *ret_level)
{
    size_t i = 0;

    while (i < name.len && name.ptr[i] != '/')
        i++;
    *ret_database = (hf_str){name.ptr, i};
    *ret_level = i < name.len ? (hf_str){name.ptr + i + 1, name.len - i - 1}
                              : (hf_str){name.ptr + i, 0};
}

const hf_profile *hf_profile_find(hf_str name, const char **ret_hint)
{
    hf_str database, level;
    const hf_profile *p;
    unsigned best = 4;

    hf_profile_split(name, &database, &level);
    p = hf_profile_find_level(database, level);
    if (p || !ret_hint)
        return p;
    *ret_hint = NULL;
    database = plain_name(database);
    for (size_t i = 0; i < N_ROWS; i++) {
        unsigned d = hf_str_distance(database, hf_str_of(rows[i].database), 3);

        if (d > 0 && d < best) {
            best = d;
            *ret_hint = rows[i].database;
        } else if (d == 0 &&
                   hf_str_distance(level, hf_str_of(rows[i].level), 3) <= 3) {
            best = 0;
            *ret_hint = rows[i].level;
        }
    }
    return NULL;
}

bool hf_profile_covers(const hf_profile *p, hf_level level)
{
    static const char *const times[] = {"strict-", "strong-session-"};
    hf_str promise = hf_str_of(p->promise);
    hf_level promised;

    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(times[i]);

        if (promise.len > n && memcmp(promise.ptr, times[i], n) == 0)
            promise = (hf_str){promise.ptr + n, promise.len - n};
    }
    return !hf_level_find(promise, &promised, NULL) ||
           hf_level_implies(level, promised);
}

/* ---- words --------------------------------------------------------------- */

const char *hf_watch_read_name(hf_watch_read read)
{
    static const char *const names[HF_WATCH_READ_COUNT] = {
        "none", "row", "statement", "transaction"};

    HF_ASSERT((unsigned)read < HF_WATCH_READ_COUNT);
    return names[read];
}

const char *hf_watch_snapshot_name(hf_watch_snapshot snapshot)
{
    static const char *const names[HF_WATCH_SNAPSHOT_COUNT] = {
        [HF_WATCH_AT_FIRST] = "first",
        [HF_WATCH_BY_FIRST] = "by-first",
        [HF_WATCH_AT_BEGIN] = "begin",
        [HF_WATCH_AT_READ] = "read",
        [HF_WATCH_AT_ANY] = "any"};

    HF_ASSERT((unsigned)snapshot < HF_WATCH_SNAPSHOT_COUNT);
    return names[snapshot];
}

const char *hf_watch_lock_name(hf_watch_lock lock)
{
    static const char *const names[HF_WATCH_LOCK_COUNT] = {"none", "writes",
                                                           "rows", "ranges"};

    HF_ASSERT((unsigned)lock < HF_WATCH_LOCK_COUNT);
    return names[lock];
}

const char *hf_watch_certifier_name(hf_watch_certifier certifier)
{
    static const char *const names[HF_WATCH_SC_COUNT] = {
        "none", "ssi", "to", "occ", "occ-items", "percolator", "cycle"};

    HF_ASSERT((unsigned)certifier < HF_WATCH_SC_COUNT);
    return names[certifier];
}

const char *hf_profile_mechanisms(const hf_profile *p, char *buffer,
                                  size_t size)
{
    static const char *const read[HF_WATCH_READ_COUNT] = {"", " CR-row",
                                                          " CR-s", " CR-t"};
    static const char *const lock[HF_WATCH_LOCK_COUNT] = {
        "", " ME", " ME(rows)", " ME(ranges)"};
    static const char *const sc[HF_WATCH_SC_COUNT] = {
        "",          " SC(SSI)",       " SC(TO)",
        " SC(OCC)",  " SC(OCC-items)", " SC(Percolator)",
        " SC(cycle)"};
    int n = snprintf(buffer, size, "%s%s%s%s", lock[p->lock], read[p->read],
                     p->first_updater_wins ? " FUW" : "", sc[p->certifier]);

    return n > 0 && size > 0 && buffer[0] == ' ' ? buffer + 1 : buffer;
}
