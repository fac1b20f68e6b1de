/* log.h: the recorder's insides: logs of clients, and what is waiting to be
 * written.  log.c fills them, recorder.c writes them.
 */
#ifndef HF_RUN_LOG_H
#define HF_RUN_LOG_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/out.h"
#include "run/recorder.h"

/* How an operation's value is kept. */
typedef enum hf_log_type {
    HF_LOG_NONE = 0, /* begin, commit, abort */
    HF_LOG_NIL,
    HF_LOG_TAG,
    HF_LOG_LIST, /* value: place among numbers, n: how many */
    HF_LOG_SQL   /* value: place among statements */
} hf_log_type;

typedef struct hf_log_op {
    uint8_t kind; /* hf_op_kind and flags */
    uint8_t type; /* hf_log_type */
    bool text_key;
    uint32_t key_length, n;
    const char *table;
    int64_t key; /* a number, or the place among bytes */
    int64_t value;
    hf_span at;
} hf_log_op;

typedef struct hf_log_txn {
    uint32_t first_op, n_ops;
    uint32_t session; /* how many the client had before */
    uint32_t counter; /* the client's last tag when it ended */
    uint8_t outcome;
    bool has_absent, has_delete;
    hf_span at;
} hf_log_txn;

/* A scalar; texts are a place among bytes and a length. */
typedef struct hf_log_cell {
    uint8_t type; /* hf_scalar_type */
    uint32_t length;
    int64_t number;
} hf_log_cell;

typedef struct hf_log_statement {
    const char *sql;
    uint32_t n_params, n_columns, n_rows;
    bool has_rows;
    uint64_t affected;
    size_t cells; /* names of columns, parameters, rows */
} hf_log_statement;

/* What a client did between two hand-overs. */
typedef struct hf_chunk hf_chunk;
struct hf_chunk {
    hf_chunk *next;
    HF_VEC(hf_log_op) ops;
    HF_VEC(hf_log_txn) txns;
    HF_VEC(char) bytes;
    HF_VEC(int64_t) numbers;
    HF_VEC(hf_log_cell) cells;
    HF_VEC(hf_log_statement) statements;
    size_t taken; /* transactions that are written already */
};

void hf_chunk_free(hf_chunk *c);
/* Empty again, its memory kept. */
void hf_chunk_reset(hf_chunk *c);
size_t hf_chunk_bytes(const hf_chunk *c);

/* A delete whose transaction was not handed over yet. */
typedef struct hf_deleting {
    unsigned client;
    uint64_t key; /* hash */
    uint64_t at;
} hf_deleting;

struct hf_log {
    hf_recorder *recorder;
    unsigned client;
    uint32_t session;
    _Atomic(uint32_t) issued; /* the last tag that may be in the database */
    hf_chunk *open;
    hf_log_txn txn;  /* the open one */
    uint64_t handed; /* when its newest transaction ended, then */
    bool deleting;   /* has entries in recorder->deleting */
    /* under the recorder's mutex: handed over, first to last */
    hf_chunk *first, **last;
    /* of the writing thread: taken from there */
    hf_chunk *pending, **pending_last;
    uint32_t written; /* the last tag that is in the file */
};

struct hf_recorder {
    hf_log *logs; /* clients, then "faults", then "load" */
    unsigned n_logs, clients;
    hf_out out;
    int fd;
    bool text;
    uint8_t label;
    void (*piece)(void *user, const hf_history *h);
    void *user;
    char *path;
    hf_builder *initial; /* before the clients start */
    uint64_t n_initial;
    uint64_t n_txns, n_ops;
    _Atomic(uint64_t) n_bytes;
    _Atomic(int) write_errno;

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t file;  /* of out, n_txns, n_ops */
    pthread_mutex_t mutex; /* of what follows, but for `seen` */
    pthread_cond_t work, room;
    size_t queued;   /* bytes handed over and not written */
    size_t left;     /* of these, what the newest piece had to leave out */
    hf_chunk *spare; /* empty ones, newest first */
    unsigned n_spare;
    bool full; /* enough for a piece */
    bool closing;
    HF_VEC(hf_deleting) deleting;
    HF_VEC(hf_deleting) seen; /* copy, of the writing thread */
};

void hf_log_put_key(hf_chunk *c, const hf_log_key *key, hf_log_op *op);
/* The key of an operation as the closure of recorder.c compares it. */
uint64_t hf_log_key_hash(const hf_chunk *c, const hf_log_op *op);

/* piece.c: transactions that are chosen become a piece. */
typedef struct hf_chosen {
    const hf_log *log;
    const hf_chunk *chunk;
    const hf_log_txn *txn;
} hf_chosen;

/* The key of this operation has tag 0 at the beginning. */
void hf_piece_initial(hf_builder *b, const hf_chunk *c, const hf_log_op *op);
HF_MUST_USE hf_status hf_piece_make(const hf_recorder *r,
                                    const hf_chosen *chosen, size_t n,
                                    hf_history **ret, hf_error *err);

#endif
