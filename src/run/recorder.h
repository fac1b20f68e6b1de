/* recorder.h: what clients did, into a file, while they do it.
 *
 * Each client fills a log of its own and hands it over from time to time; one
 * thread turns logs into pieces of the history (history/binary_stream.h).
 * After kill -9 of this process the file is a history that is right as far as
 * it goes: a transaction is written only when everything it saw is written
 * too, at the latest in the same piece.  See recorder.c for how that is known.
 */
#ifndef HF_RECORDER_H
#define HF_RECORDER_H

#include "base/vec.h"
#include "history/builder.h"
#include "sql/exec.h"

typedef struct hf_recorder hf_recorder;

typedef struct hf_recorder_options {
    const char *path;
    bool text, replace;
    const char *name;
    unsigned clients;
    uint8_t label; /* level of all transactions */
    /* Each piece as it is written, by the thread that writes; may be NULL.
     * While it takes its time, clients wait for room sooner or later. */
    void (*piece)(void *user, const hf_history *h);
    void *user;
} hf_recorder_options;

/* Creates the file and the thread. */
HF_MUST_USE hf_status hf_recorder_open(const hf_recorder_options *o,
                                       hf_recorder **ret, hf_error *err);
typedef struct hf_recorder_totals {
    uint64_t transactions, operations, bytes;
} hf_recorder_totals;

/* Writes the rest and the end.  `remove`: takes the file away instead.  NULL:
 * nothing. */
HF_MUST_USE hf_status hf_recorder_close(hf_recorder *r, bool remove,
                                        hf_recorder_totals *ret, hf_error *err);
/* A write failed: nothing more will be recorded. */
bool hf_recorder_failed(const hf_recorder *r);
uint64_t hf_recorder_bytes(const hf_recorder *r);

/* Before the clients start: this row was there, with tag 0. */
void hf_recorder_initial(hf_recorder *r, const char *table,
                         const hf_sql_value *key, uint32_t n);
/* Writes out what there is of these. */
void hf_recorder_loaded(hf_recorder *r);

/* ---- of one client's thread ---------------------------------------------- */

typedef struct hf_log hf_log; /* the log of one client */

hf_log *hf_recorder_log(hf_recorder *r, unsigned client);
/* The largest tag of this client that may be in the database: to be told
 * before the write is sent. */
void hf_log_issued(hf_log *l, uint32_t counter);

void hf_log_begin(hf_log *l, uint64_t at);
/* An operation of the open transaction.  tables: names that stay.  value of
 * writes and reads: the tag. */
typedef struct hf_log_key {
    const char *table;
    const hf_sql_value *parts;
    uint32_t n;
} hf_log_key;

typedef struct hf_span {
    uint64_t start, end; /* end HF_TIME_NONE: no answer */
} hf_span;

void hf_log_value(hf_log *l, unsigned kind, const hf_log_key *key, int64_t tag,
                  hf_span at);
/* kind: a read, with the flags of a lock. */
void hf_log_absent(hf_log *l, unsigned kind, const hf_log_key *key, hf_span at);
void hf_log_delete(hf_log *l, const hf_log_key *key, hf_span at);
/* Before a delete is sent. */
void hf_log_deleting(hf_log *l, const hf_log_key *key, uint64_t at);
/* A list as its text "1,2,3". */
void hf_log_list(hf_log *l, const hf_log_key *key, hf_str text, hf_span at);
/* Begin, commit, abort. */
void hf_log_mark(hf_log *l, hf_op_kind kind, hf_span at);
/* A statement; rows NULL: no answer. */
void hf_log_sql(hf_log *l, const char *sql, const hf_sql_value *params,
                uint32_t n, const hf_sql_result *rows, bool failed, hf_span at);
/* The end: HF_TIME_NONE if it is not known. */
void hf_log_end(hf_log *l, hf_outcome outcome, uint64_t at);
/* What follows is another session of this client. */
void hf_log_new_session(hf_log *l);
/* Hands over what there is: before waiting, and at the end. */
void hf_log_flush(hf_log *l);

/* Something that happened to the database, as an aborted transaction of
 * session "faults" with one statement that is a comment. */
void hf_recorder_note(hf_recorder *r, const char *text, uint64_t begin,
                      uint64_t end);

#endif
