/* client_impl.h: the insides of a client, for src/run. */
#ifndef HF_RUN_CLIENT_IMPL_H
#define HF_RUN_CLIENT_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "base/vec.h"
#include "run/recorder.h"
#include "workload/client.h"

/* Statements by number, shared by all clients of a run. */
typedef struct hf_statements {
    pthread_mutex_t mutex;
    hf_map numbers; /* by the address of the text */
} hf_statements;

void hf_statements_init(hf_statements *s);
void hf_statements_release(hf_statements *s);
/* sql must stay where it is. */
hf_db_statement hf_statement_of(hf_statements *s, const char *sql,
                                bool returns_rows);

/* How the transaction in hand stands. */
typedef enum hf_client_state {
    HF_CLIENT_LIVE = 0,
    HF_CLIENT_ABORTED, /* by the database: worth another try */
    HF_CLIENT_REFUSED, /* a statement was; the client has to abort */
    HF_CLIENT_GAVE_UP, /* the application; the same */
    HF_CLIENT_LOST,    /* no answer */
    HF_CLIENT_FAILED   /* the run has to stop */
} hf_client_state;

/* What is known of a statement's text. */
typedef struct hf_known_statement {
    uint32_t number;
    bool returns_rows;
    unsigned read_kind; /* a read, and how it locks */
} hf_known_statement;

/* Told before and after each step; see control.c. */
typedef struct hf_client_hooks {
    void (*before)(void *user, const hf_step *step);
    void (*after)(void *user, hf_client *c, const hf_step *step);
} hf_client_hooks;

struct hf_client {
    hf_db *db;
    hf_db_session *session; /* NULL: not connected; see lock */
    pthread_mutex_t lock;   /* of session, against interrupts */
    unsigned number, count;
    uint64_t epoch;  /* the run's time 0, by hf_clock_ns() */
    uint64_t frozen; /* the time it is told instead, if not 0 */
    hf_rng rng;
    hf_statements *statements;
    hf_map known; /* places in `statement`, by address */
    HF_VEC(hf_known_statement) statement;
    HF_VEC(hf_sql_value) params;
    hf_sql_result rows;
    hf_log *log; /* NULL: not recorded */
    bool sql;
    unsigned read_kind; /* of the step in hand */
    uint32_t counter;   /* of tags */
    uint64_t scans;     /* without a range */
    bool has_cover;     /* hf_client_covers() */
    bool no_cover;      /* what it says is not recorded */
    int64_t cover_first, cover_last;
    uint32_t fresh;
    bool looks;    /* the transaction ends before its first write */
    bool looked;   /* it came that far: nothing more is sent */
    uint32_t seen; /* its statements so far */
    hf_client_state state;
    hf_db_answer answer;          /* of the last call */
    const hf_client_hooks *hooks; /* NULL: none */
    void *hooks_user;
};

void hf_client_init(hf_client *c, hf_db *db, unsigned number, unsigned count,
                    uint64_t seed);
void hf_client_release(hf_client *c); /* disconnects */

HF_MUST_USE hf_status hf_client_connect(hf_client *c, hf_error *err);
void hf_client_disconnect(hf_client *c);
/* Any thread: its call, if it is in one, ends LOST. */
bool hf_client_interrupt(hf_client *c);

/* One transaction around steps: begin; steps; end, which commits if it is
 * live and aborts if need be. */
bool hf_client_begin(hf_client *c, hf_db_level level, bool read_only);
/* The same, of a transaction that would write: only what it reads before is
 * sent, so that it can be served by who serves readers. */
bool hf_client_begin_look(hf_client *c, hf_db_level level);
hf_outcome hf_client_end(hf_client *c);
uint64_t hf_client_now(const hf_client *c);

#endif
