/* run.h: clients on a database, and the history of what they did.
 *
 *     hf_run_options o = {.db = db, .play = play, .clients = 10, ...};
 *     hf_run_report r;
 *     st = hf_run(&o, &r, &err);
 *
 * runner.c has the threads, client.c what a workload sees of them, recorder.c
 * the file, faults.c what is done to the server meanwhile.
 */
#ifndef HF_RUN_H
#define HF_RUN_H

#include "db/db.h"

#include "holdfast.h"

typedef struct hf_play hf_play; /* workload/play.h */

/* Asked for and told by the thread that called hf_run(), some times a second;
 * may be NULL.  notes come from any thread, one at a time. */
typedef struct hf_run_progress {
    double seconds; /* since the clients started; 0: not yet */
    uint64_t committed, aborted, unknown;
    double median, slow; /* of a transaction, seconds: 50 %, 99 % */
    uint64_t bytes;      /* of the history so far */
} hf_run_progress;

typedef struct hf_run_options {
    hf_db *db;
    hf_play *play;
    hf_db_level level;     /* asked of the database */
    uint8_t label;         /* hf_level of each transaction, or
                              HF_LEVEL_UNSET */
    unsigned clients;      /* at least 1 */
    uint64_t transactions; /* of any outcome; 0: no limit */
    double seconds;        /* 0: no limit */
    unsigned retries;      /* after an abort of the database's */
    uint64_t seed;
    const char *output; /* NULL: nothing is recorded */
    bool text;          /* JSON Lines, else binary */
    bool replace;       /* the output may be there already */
    bool sql;           /* statements with their results as well */
    const char *name;   /* of the history */
    unsigned faults;    /* 1u << hf_db_fault */
    double fault_every; /* seconds */

    /* Each piece of the history as it is written, from one thread at a time;
     * may be NULL. */
    void (*piece)(void *user, const hf_history *h);
    void *piece_user;

    bool (*stop)(void *user);
    void (*progress)(void *user, const hf_run_progress *p);
    void (*note)(void *user, const char *text);
    void *user;
} hf_run_options;

typedef struct hf_run_report {
    hf_run_progress end;
    uint64_t given_up;   /* of the aborted: by the application */
    uint64_t retries;    /* of all: another try */
    uint64_t operations; /* recorded */
    uint64_t scans;      /* recorded as reads of the rows they returned */
    uint64_t reconnects, faults;
    bool recorded;       /* the output is there, whole or its beginning */
    bool stopped;        /* by stop() */
    bool checked;        /* the invariants were looked at */
    char unchecked[240]; /* else why not */
} hf_run_report;

/* Makes the tables, loads, runs, looks at the invariants (the play has the
 * breaches).  Not HF_OK: it could not start, or ended early; *ret is filled
 * in any case, and if ret->recorded is set the history so far was kept.  The
 * database stays open. */
HF_MUST_USE hf_status hf_run(const hf_run_options *o, hf_run_report *ret,
                             hf_error *err);

/* "kill", "pause", "restart", "cut-client", "partition"; NULL: no more. */
const char *hf_fault_name(unsigned f);

#endif
