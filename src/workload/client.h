/* client.h: what a workload does to a database, while it is written down.
 *
 * A client is one session of a run, on a thread of its own.  A workload says
 * what it reads and writes in terms of rows (table, primary key); the client
 * sends the SQL, takes the times before and after, and records operations.
 *
 * Every table of a workload has a column _tag (BIGINT NOT NULL): each write
 * carries a number of its own, each read returns it, so that a read is traced
 * to its write (WORKLOADS.md 0.2).  Rows that were loaded have tag 0.  The SQL
 * of a step names the columns it wants; where the tag stands it says so:
 *
 *     static const hf_step read_checking = {
 *         "SELECT _tag, bal FROM checking WHERE custid = $1",
 *         HF_STEP_READ, .table = "checking", .keys = {1}};
 *     static const hf_step add_checking = {
 *         "UPDATE checking SET bal = bal + $2, _tag = $3 WHERE custid = $1",
 *         HF_STEP_UPDATE, .table = "checking", .keys = {1}, .tag = 3};
 *
 * A step that returns false ends the transaction: the workload returns at once
 * and the runner looks at how it ended (aborted, unknown, retry).
 */
#ifndef HF_CLIENT_H
#define HF_CLIENT_H

#include "base/rng.h"
#include "db/db.h"

typedef struct hf_client hf_client;

typedef enum hf_step_kind {
    HF_STEP_READ,   /* one row by its key; column 0 is _tag */
    HF_STEP_SCAN,   /* rows by a condition; column 0 is _tag, then the key */
    HF_STEP_INSERT, /* of a row; refused if it is there */
    HF_STEP_UPSERT, /* of a row, whether it is there or not */
    HF_STEP_UPDATE, /* of one row by its key; none affected: it is absent */
    HF_STEP_DELETE, /* the same */
    HF_STEP_MOVE,   /* an UPDATE of columns that are its key in the history
                       (hf_workload.rows_by): it is gone from `keys`, and
                       there is one at `to` */
    HF_STEP_APPEND, /* to a list; tag: the element */
    HF_STEP_LIST,   /* the list of one row: column 0 is its text "1,2,3" */
    HF_STEP_OTHER   /* not recorded as operations (only with --sql) */
} hf_step_kind;

#define HF_STEP_KEYS 6u

/* SCAN: the rows it looks at, where these are a range of keys: then it is
 * recorded as well which of them were not there. */
typedef struct hf_step_range {
    uint8_t prefix[HF_STEP_KEYS - 1]; /* which parameters are the first columns
                                         of the key; 0: no more */
    uint8_t first, last;     /* which parameters bound the next column; 0: */
    int16_t lowest, highest; /* the numbers that do; both 0: no range */
    bool open;               /* the bounds themselves are not in it */
} hf_step_range;

/* Constant data of a workload: a statement and what it means. */
typedef struct hf_step {
    const char *sql;
    hf_step_kind kind;
    const char *table;
    uint8_t keys[HF_STEP_KEYS]; /* which parameters are the primary key, from
                                   1; 0: no more.  SCAN: how many columns after
                                   _tag are the key, in keys[0] */
    uint8_t to[HF_STEP_KEYS]; /* MOVE: which parameters are the key after it */
    uint8_t tag;   /* which parameter is the tag of a write: the client fills
                      it */
    uint8_t guard; /* UPDATE: which parameter is the tag that the row must
                      have.  What is filled in is then what must be added to
                      that, and the database adds it; none affected: nothing
                      is recorded */
    bool blind;    /* UPDATE: what it writes does not depend on the row */
    hf_step_range range;
} hf_step;

/* Runs the step.  Parameters are in order; the one at step->tag is filled in.
 * *ret_rows (may be NULL) stays valid until the next step of this client.
 * False: the transaction is over, see hf_client_status(). */
bool hf_client_step(hf_client *c, const hf_step *step,
                    const hf_sql_value *params, uint32_t n,
                    const hf_sql_result **ret_rows);
/* The next step, a SCAN, looks at these numbers in the last column of the
 * key. */
void hf_client_covers(hf_client *c, int64_t first, int64_t last);
/* The application gives up: recorded as aborted, not tried again. */
void hf_client_give_up(hf_client *c, const char *reason);

hf_rng *hf_client_rng(hf_client *c);
unsigned hf_client_number(const hf_client *c); /* from 0 */
unsigned hf_client_count(const hf_client *c);  /* how many there are */
/* A number nobody else of this run gets: ids of new rows. */
int64_t hf_client_fresh(hf_client *c);
uint64_t hf_client_clock(const hf_client *c); /* ns since the run began */

#endif
