/* postgres.h: inside the PostgreSQL drivers; only src/db.
 *
 *   postgres.c         the driver: sessions, transactions, faults
 *   postgres_link.c    one connection: calls with a deadline
 *   postgres_values.c  parameters and results
 *   postgres_schema.c  the schema that is ours
 *   postgres_server.c  private servers
 *   standby.c          the driver of a primary with a standby
 */
#ifndef HF_DB_POSTGRES_H
#define HF_DB_POSTGRES_H

#include "db/common.h"
#include "db/server.h"

#define HF_PG_NODES 2u

/* libpq's PGconn and PGresult: its header is for those who use them. */
struct pg_conn;
struct pg_result;

/* ---- one connection ------------------------------------------------------ */

typedef struct hf_pg_prepared {
    char *sql; /* NULL: not yet */
    uint32_t version;
} hf_pg_prepared;

typedef struct hf_pg_link {
    struct pg_conn *c; /* NULL: not connected */
    bool lost;         /* of no use any more */
    bool cancel;       /* the server has to be told when we give up */
    int wake;          /* eventfd, of the session: readable: give up */
    HF_VEC(hf_pg_prepared) prepared; /* by number */
} hf_pg_link;

/* Connects; `info` is libpq's text.  deadline: see hf_db_clock(). */
HF_MUST_USE hf_status hf_pg_link_open(hf_pg_link *l, const char *info, int wake,
                                      uint64_t deadline, hf_error *err);
void hf_pg_link_close(hf_pg_link *l);
/* Text of one or more statements.  *ret_result (may be NULL) is the last one's
 * result if all is well, to be cleared by the caller. */
void hf_pg_link_ask(hf_pg_link *l, const char *sql, uint64_t deadline,
                    struct pg_result **ret_result, hf_db_answer *ret);
/* A statement with parameters, prepared on first use. */
void hf_pg_link_execute(hf_pg_link *l, const hf_db_statement *s,
                        const char *const *params, uint32_t n,
                        uint64_t deadline, struct pg_result **ret_result,
                        hf_db_answer *ret);
/* Nobody listens any more: the server ends what it was doing. */
void hf_pg_link_drop(hf_pg_link *l);

/* ---- values -------------------------------------------------------------- */

/* Parameters as texts in the arena; false: one cannot be sent, see answer. */
bool hf_pg_params(const hf_sql_value *values, uint32_t n, const char **ret,
                  hf_arena *arena, hf_db_answer *answer);
void hf_pg_rows(const struct pg_result *r, hf_sql_result *ret);

/* ---- databases ----------------------------------------------------------- */

typedef struct hf_pg_db {
    hf_db base;
    hf_server *server; /* NULL: somebody else's */
    char bin[HF_SERVER_PATH * 2];
    char *info[HF_PG_NODES]; /* how to connect; a password may be in it */
    char *password;          /* never to be shown; NULL: none */
    unsigned nodes;
    bool network; /* the nodes have one of their own, which can be cut */
    char schema[64];
    char quoted[140]; /* the schema's name as SQL has it */
    int version;      /* 150004 */
    char product[64];
    char where[200];

    pthread_mutex_t mutex; /* of control and fault */
    hf_pg_link control;    /* to node 0: schema, lock */
    bool made;             /* our schema is there and is ours */
    bool caught_up;        /* atomic: the standby has seen what was loaded */
    unsigned fault_node[HF_FAULT_COUNT];
    pid_t stopped; /* the receiver of the log; 0: none */
    hf_db_roster roster;
} hf_pg_db;

typedef struct hf_pg_session {
    hf_db_session base;
    hf_db_member member;
    hf_pg_link link[HF_PG_NODES];
    hf_pg_link *now; /* of the open transaction, or node 0 */
    int wake;
    hf_arena scratch;
} hf_pg_session;

/* postgres.c: what the two drivers share. */
hf_pg_db *hf_pg_new(const hf_db_driver *driver, const hf_db_options *o);
HF_MUST_USE hf_status hf_pg_check_schema(const hf_pg_db *p, hf_error *err);
void hf_pg_close(hf_db *db);
void hf_pg_describe(hf_db *db, hf_db_description *ret);
hf_status hf_pg_connect(hf_db *db, unsigned client, hf_db_session **ret,
                        hf_error *err);
void hf_pg_disconnect(hf_db_session *s);
void hf_pg_interrupt(hf_db_session *s);
void hf_pg_begin(hf_db_session *s, hf_db_level level, bool read_only,
                 hf_db_answer *ret);
void hf_pg_execute(hf_db_session *s, const hf_db_statement *statement,
                   const hf_sql_value *params, uint32_t n_params,
                   hf_sql_result *rows, hf_db_answer *ret);
void hf_pg_commit(hf_db_session *s, hf_db_answer *ret);
void hf_pg_abort(hf_db_session *s, hf_db_answer *ret);
/* Connects the link of one node, with our search path. */
HF_MUST_USE hf_status hf_pg_join(hf_pg_db *p, hf_pg_link *l, unsigned node,
                                 int wake, hf_error *err);
/* Connects and looks what is there: version, where. */
HF_MUST_USE hf_status hf_pg_look(hf_pg_db *p, hf_error *err);
/* A deadline in the future. */
uint64_t hf_pg_in(double seconds);

/* postgres_schema.c: under the mutex. */
HF_MUST_USE hf_status hf_pg_control(hf_pg_db *p, hf_error *err);
hf_status hf_pg_reset(hf_db *db, hf_error *err);
void hf_pg_leave_schema(hf_pg_db *p);

/* postgres_server.c */
HF_MUST_USE hf_status hf_pg_make(hf_pg_db *p, hf_error *err);
HF_MUST_USE hf_status hf_pg_start(hf_pg_db *p, unsigned node, hf_error *err);
HF_MUST_USE hf_status hf_pg_make_standby(hf_pg_db *p, hf_error *err);
bool hf_pg_can_fault(hf_db *db, hf_db_fault f, char *why, size_t size);
hf_status hf_pg_fault(hf_db *db, hf_db_fault f, uint64_t seed, bool begin,
                      hf_error *err);

/* standby.c: waits, once, until the standby has what the primary has. */
void hf_pg_catch_up(hf_pg_session *s, hf_db_answer *ret);

#endif
