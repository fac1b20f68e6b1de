/* mariadb.h: inside the MariaDB drivers; only src/db.
 *
 *   mariadb.c         the driver: sessions and transactions
 *   mariadb_link.c    one connection: calls with a deadline
 *   mariadb_values.c  parameters and results
 *   mariadb_sql.c     from the SQL that all share to MariaDB's
 *   mariadb_schema.c  the database that is ours
 *   mariadb_server.c  addresses and private servers
 *   galera.c          the driver of a cluster of three
 */
#ifndef HF_DB_MARIADB_H
#define HF_DB_MARIADB_H

#include <mysql.h>

#include "db/common.h"
#include "db/server.h"

#define HF_MY_NODES 3u

/* ---- SQL ----------------------------------------------------------------- */

/* A statement in MariaDB's words. */
typedef struct hf_my_sql {
    char *text;
    uint32_t *places; /* of each ?, the parameter's number from 0 */
    uint32_t n_places;
    bool upsert; /* of one row: it counts as one, inserted or updated */
} hf_my_sql;

void hf_my_rewrite(const char *sql, hf_my_sql *ret);
void hf_my_sql_release(hf_my_sql *s);

/* ---- one connection ------------------------------------------------------ */

/* How to connect. */
typedef struct hf_my_target {
    char *host, *user, *password, *socket; /* NULL: none */
    unsigned port;
} hf_my_target;

typedef struct hf_my_prepared {
    char *source; /* NULL: not yet */
    hf_my_sql sql;
    MYSQL_STMT *statement;
} hf_my_prepared;

typedef struct hf_my_link {
    MYSQL *c;  /* NULL: not connected */
    bool lost; /* of no use any more */
    bool left; /* we gave up while the server was at work */
    int wake;  /* eventfd, of the session: readable: give up; -1: none */
    HF_VEC(hf_my_prepared) prepared; /* by number */
} hf_my_link;

HF_MUST_USE hf_status hf_my_link_open(hf_my_link *l, const hf_my_target *t,
                                      int wake, uint64_t deadline,
                                      hf_error *err);
void hf_my_link_close(hf_my_link *l);
/* One statement as text.  *ret_result (may be NULL): its rows, to be freed;
 * NULL if it has none. */
void hf_my_link_ask(hf_my_link *l, const char *sql, uint64_t deadline,
                    MYSQL_RES **ret_result, hf_db_answer *ret);
/* A statement with parameters, prepared on first use. */
void hf_my_link_execute(hf_my_link *l, const hf_db_statement *s,
                        const hf_sql_value *params, uint32_t n_params,
                        hf_arena *scratch, uint64_t deadline,
                        hf_sql_result *rows, hf_db_answer *ret);

/* ---- values -------------------------------------------------------------- */

/* Binds the parameters; what does not fit into MYSQL_BIND is in the arena. */
void hf_my_params(const hf_my_sql *sql, const hf_sql_value *values,
                  MYSQL_BIND *ret, hf_arena *arena);
/* The stored result of the statement; false: see answer. */
bool hf_my_rows(MYSQL_STMT *s, hf_arena *scratch, hf_sql_result *ret,
                hf_db_answer *answer);

/* ---- databases ----------------------------------------------------------- */

typedef struct hf_my_db {
    hf_db base;
    hf_server *server; /* NULL: somebody else's */
    char program[HF_SERVER_PATH * 2];
    char provider[HF_SERVER_PATH * 2]; /* the library of Galera */
    hf_my_target target[HF_MY_NODES];
    unsigned group_port[HF_MY_NODES]; /* of Galera: this one and two more */
    unsigned nodes;
    bool snapshot_option; /* the server has innodb_snapshot_isolation */
    bool snapshot_always; /* variant "snapshot": repeatable read has it on */
    char schema[65];
    char product[64];
    char where[200];

    pthread_mutex_t mutex; /* of control and fault */
    hf_my_link control;    /* to node 0: schema, lock */
    bool made;             /* our database is there and is ours */
    bool all_cut;          /* the partition that is on cuts all nodes */
    unsigned fault_node[HF_FAULT_COUNT];
    hf_db_roster roster;
} hf_my_db;

typedef struct hf_my_session {
    hf_db_session base;
    hf_db_member member;
    hf_my_link link;
    unsigned node;
    int wake;
    hf_db_level level; /* of the next transaction, as the server knows it */
    bool open;         /* a transaction is */
    bool failed;       /* a statement was refused: only abort is left */
    bool synced;       /* Galera: has waited for what was loaded */
    hf_arena scratch;
} hf_my_session;

/* mariadb.c: what the two drivers share. */
hf_my_db *hf_my_new(const hf_db_driver *driver, const hf_db_options *o);
/* The names that were asked for: schema, variant. */
HF_MUST_USE hf_status hf_my_check_names(hf_my_db *p, hf_error *err);
/* Connects and looks what is there: version, where. */
HF_MUST_USE hf_status hf_my_look(hf_my_db *p, hf_error *err);
void hf_my_close(hf_db *db);
void hf_my_describe(hf_db *db, hf_db_description *ret);
hf_status hf_my_connect(hf_db *db, unsigned client, hf_db_session **ret,
                        hf_error *err);
void hf_my_disconnect(hf_db_session *s);
void hf_my_interrupt(hf_db_session *s);
void hf_my_begin(hf_db_session *s, hf_db_level level, bool read_only,
                 hf_db_answer *ret);
void hf_my_execute(hf_db_session *s, const hf_db_statement *statement,
                   const hf_sql_value *params, uint32_t n_params,
                   hf_sql_result *rows, hf_db_answer *ret);
void hf_my_commit(hf_db_session *s, hf_db_answer *ret);
void hf_my_abort(hf_db_session *s, hf_db_answer *ret);
/* A link with our settings, not yet in our database. */
HF_MUST_USE hf_status hf_my_join(hf_my_db *p, hf_my_link *l, unsigned node,
                                 int wake, hf_error *err);
uint64_t hf_my_in(double seconds); /* a deadline in the future */

/* mariadb_schema.c: under the mutex, but for reset. */
HF_MUST_USE hf_status hf_my_control(hf_my_db *p, hf_error *err);
hf_status hf_my_reset(hf_db *db, hf_error *err);
void hf_my_leave_schema(hf_my_db *p);

/* mariadb_server.c */
HF_MUST_USE hf_status hf_my_read_address(hf_my_db *p, hf_error *err);
void hf_my_target_release(hf_my_target *t);
HF_MUST_USE hf_status hf_my_find_programs(hf_my_db *p, hf_error *err);
/* The server's directory, and the data of node 0. */
HF_MUST_USE hf_status hf_my_make(hf_my_db *p, bool network, hf_error *err);
/* Starts a node; `more`: arguments besides, up to a NULL. */
HF_MUST_USE hf_status hf_my_start(hf_my_db *p, unsigned node,
                                  const char *const *more,
                                  bool (*ready)(hf_my_link *l), double seconds,
                                  hf_error *err);
bool hf_my_can_fault(hf_db *db, hf_db_fault f, char *why, size_t size);
hf_status hf_my_fault(hf_db *db, hf_db_fault f, uint64_t seed, bool begin,
                      hf_error *err);

/* galera.c */
HF_MUST_USE hf_status hf_galera_start(hf_my_db *p, unsigned node, bool first,
                                      hf_error *err);
HF_MUST_USE hf_status hf_galera_part(hf_my_db *p, unsigned node, uint64_t seed,
                                     bool begin, hf_error *err);

#endif
