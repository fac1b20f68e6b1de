/* db.h: one small interface to every database that is tested.
 *
 * A driver is a table of functions, one file each; a new database is one new
 * file and one line in drivers.c.  Calls block the thread that makes them, and
 * give up when the session's deadline has passed or somebody calls interrupt:
 * underneath, the client library is used asynchronously where it can be.
 *
 *     hf_db *db;
 *     hf_db_open("postgres", &options, &db, &err);      // or postgres://...
 *     db->driver->connect(db, 0, &session, &err);
 *     driver->begin(session, HF_DB_SERIALIZABLE, &answer);
 *     driver->execute(session, &statement, values, 2, &rows, &answer);
 *     driver->commit(session, &answer);
 *
 * A session belongs to one thread at a time; sessions of one database may be
 * used by many threads at once.  `interrupt` may be called by any.
 */
#ifndef HF_DB_H
#define HF_DB_H

#include "base/error.h"
#include "model/level.h"
#include "sql/exec.h"

typedef struct hf_db hf_db;
typedef struct hf_db_session hf_db_session;
typedef struct hf_db_driver hf_db_driver;

/* ---- answers ------------------------------------------------------------- */

/* What became of a call. */
typedef enum hf_db_status {
    HF_DB_OK = 0,
    /* The transaction is over and nothing of it happened: serialization
     * failure, deadlock, conflict.  Worth another try as a new one. */
    HF_DB_ABORTED,
    /* The statement was refused (duplicate key, check): the transaction has
     * to be aborted by the client. */
    HF_DB_REFUSED,
    /* No answer came: connection lost, server gone, deadline, interrupted.  If
     * this was the commit nobody knows whether it happened.  The session has to
     * be connected anew. */
    HF_DB_LOST,
    /* Something is wrong with us or the set-up: bad SQL, no permission, level
     * unknown to the database.  The run stops. */
    HF_DB_FAILED
} hf_db_status;

typedef struct hf_db_answer {
    hf_db_status status;
    char code[16];  /* of the database: SQLSTATE, error number */
    char text[200]; /* of the database, one line; empty if all is well */
} hf_db_answer;

/* ---- levels -------------------------------------------------------------- */

/* As databases call them; what each promises is in the driver's table. */
typedef enum hf_db_level {
    HF_DB_DEFAULT = 0,
    HF_DB_READ_UNCOMMITTED,
    HF_DB_READ_COMMITTED,
    HF_DB_REPEATABLE_READ,
    HF_DB_SNAPSHOT,
    HF_DB_SERIALIZABLE,
    HF_DB_LEVEL_COUNT
} hf_db_level;

/* A level that the driver offers. */
typedef struct hf_db_promise {
    hf_db_level level;
    hf_level promised; /* what its documentation promises, in our words */
    const char *where; /* where that stands */
} hf_db_promise;

/* "read-committed", ... ; find also takes the names of our levels that a driver
 * offers under another name.  False: none. */
const char *hf_db_level_name(hf_db_level level);
bool hf_db_level_find(hf_str name, hf_db_level *ret);

/* ---- statements ---------------------------------------------------------- */

/* Written once, in the SQL that all of them share; $1, $2, ... are parameters.
 * The driver turns it into its dialect and prepares it on first use, per
 * session, by `number`. */
typedef struct hf_db_statement {
    uint32_t number; /* dense, from 0, of one workload */
    const char *sql;
    uint32_t n_params;
    bool returns_rows;
} hf_db_statement;

/* ---- databases ----------------------------------------------------------- */

typedef struct hf_db_options {
    const char *address; /* after "postgres:"; NULL: start a private one */
    const char *schema;  /* the only place that is touched; default holdfast */
    const char *directory; /* of private servers; NULL: a temporary one */
    bool keep;             /* leave the private server's files behind */
    unsigned clients;      /* about how many sessions there will be */
    double call_seconds;   /* deadline of a call; 0: 10 */
    uint64_t seed;
    /* of the embedded store and others that have variants */
    hf_level level;  /* of the store */
    const char *bug; /* of the store; NULL: none */
    unsigned bug_percent;
    const char *variant; /* sqlite: wal, rollback, shared-cache; rocksdb:
                            pessimistic, optimistic; NULL: the first.
                            postgres: the directory of its programs */
} hf_db_options;

typedef struct hf_db_description {
    char product[64]; /* "PostgreSQL 15.18" */
    char where[200];  /* "private, socket /tmp/..." without secrets */
    unsigned nodes;   /* 1, or of the cluster */
} hf_db_description;

/* Faults that can be injected; a driver says which it can, and why not. */
typedef enum hf_db_fault {
    HF_FAULT_KILL = 0,   /* kill -9 of a server, then started again */
    HF_FAULT_PAUSE,      /* stopped and continued */
    HF_FAULT_RESTART,    /* in good order */
    HF_FAULT_CUT_CLIENT, /* a connection is cut */
    HF_FAULT_PARTITION,  /* nodes do not hear each other for a while */
    HF_FAULT_COUNT
} hf_db_fault;

/* Options that a driver heeds; the others have no effect on it. */
enum {
    HF_DB_HEEDS_ADDRESS = 1u << 0,
    HF_DB_HEEDS_SCHEMA = 1u << 1,
    HF_DB_HEEDS_DEADLINE = 1u << 2, /* call_seconds */
    HF_DB_HEEDS_KEEP = 1u << 3,     /* and directory: it has files */
    HF_DB_HEEDS_BUGS = 1u << 4,
    /* the variant is where the programs of a private server are */
    HF_DB_HEEDS_PROGRAMS = 1u << 5,
    HF_DB_HEEDS_SERVER =
        HF_DB_HEEDS_SCHEMA | HF_DB_HEEDS_DEADLINE | HF_DB_HEEDS_KEEP
};

struct hf_db_driver {
    const char *name; /* "postgres" */
    const char *summary;
    const char *package; /* Debian's, for the message if it is missing */
    unsigned heeds;      /* HF_DB_HEEDS_... */
    const char *const *variants; /* names, up to NULL; NULL: none with a name */
    unsigned by_key;    /* 1 << level: there rows can only be asked for by their
                           keys, as what is not there cannot be locked */
    unsigned keeps;     /* HF_REST_* (model/witness.h): about the versions of
                           one row, at any of its levels */
    bool readers_apart; /* some nodes serve only transactions that read */
    const hf_db_promise *promises; /* the first is what it does by default */
    unsigned n_promises;
    /* Instead of the table, where the promise is chosen when the database is
     * opened (the store); NULL: the table. */
    const hf_db_promise *(*promise)(const hf_db *db, hf_db_level level);

    /* Starts or finds the database.  One clear line in err otherwise. */
    hf_status (*open)(const hf_db_options *o, hf_db **ret, hf_error *err);
    /* Stops what was started, removes what was made.  Never fails. */
    void (*close)(hf_db *db);
    void (*describe)(hf_db *db, hf_db_description *ret);
    /* Our schema, empty. */
    hf_status (*reset)(hf_db *db, hf_error *err);

    /* client: its number, for clusters: node client % nodes, unless they have
     * one to write to. */
    hf_status (*connect)(hf_db *db, unsigned client, hf_db_session **ret,
                         hf_error *err);
    void (*disconnect)(hf_db_session *s); /* NULL: nothing */
    void (*interrupt)(hf_db_session *s);  /* any thread: its call ends LOST */

    void (*begin)(hf_db_session *s, hf_db_level level, bool read_only,
                  hf_db_answer *ret);
    /* rows: initialised; empty if it returns none.  rows->affected. */
    void (*execute)(hf_db_session *s, const hf_db_statement *statement,
                    const hf_sql_value *params, uint32_t n_params,
                    hf_sql_result *rows, hf_db_answer *ret);
    void (*commit)(hf_db_session *s, hf_db_answer *ret);
    void (*abort)(hf_db_session *s, hf_db_answer *ret);

    /* How far the clock of this client's machine is ahead of ours, in
     * nanoseconds; NULL: not at all.  A bug of the store's. */
    uint64_t (*clock_skew)(const hf_db *db, unsigned client);

    /* Faults; NULL: none.  `why`: if it cannot, in one line. */
    bool (*can_fault)(hf_db *db, hf_db_fault f, char *why, size_t size);
    /* begin, which says in db->struck whom it hits, later end */
    hf_status (*fault)(hf_db *db, hf_db_fault f, uint64_t seed, bool begin,
                       hf_error *err);
};

/* The head of every driver's own hf_db and session. */
struct hf_db {
    const hf_db_driver *driver;
    hf_db_options options;
    char struck[48]; /* by the newest fault: "node 1", "client 3" */
};
struct hf_db_session {
    hf_db *db;
    unsigned client;
};

/* drivers.c: "postgres" or "postgres://host/..."; the address goes into the
 * options.  Unknown names and missing libraries: one clear line. */
HF_MUST_USE hf_status hf_db_open(const char *name, const hf_db_options *o,
                                 hf_db **ret, hf_error *err);
void hf_db_close(hf_db *db); /* NULL: nothing */
/* Why no private server can stand below this directory, in words that follow
 * its name; NULL: one can.  Whether it is there at all opening says. */
const char *hf_db_directory_unfit(const char *parent);
const hf_db_driver *hf_db_driver_find(hf_str name);
const hf_db_driver *hf_db_driver_at(unsigned i); /* NULL: no more */
/* What the database promises at this level; NULL: it does not have it. */
const hf_db_promise *hf_db_promise_of(const hf_db *db, hf_db_level level);

#endif
