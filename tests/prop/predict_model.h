/* predict_model.h: what a prediction is, by enumeration.
 *
 * A second definition of everything src/predict does, for tiny executions:
 * sessions of transactions of operations, all boundaries, all sources of all
 * reads; levels and serializability by trying all orders of the transactions.
 * Shares no code with it.
 */
#ifndef PREDICT_MODEL_H
#define PREDICT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "predict/predict.h"

#define PM_TXNS 5
#define PM_OPS 4
#define PM_KEYS 3
#define PM_SESSIONS 3
#define PM_READS (PM_TXNS * PM_OPS * PM_KEYS)
#define PM_INITIAL (-1)

typedef enum pm_kind { PM_READ, PM_LOCK, PM_ROWS, PM_WRITE, PM_DELETE } pm_kind;

typedef struct pm_op {
    pm_kind kind;
    int key;           /* but for PM_ROWS, which looks at all */
    int64_t value;     /* PM_WRITE */
    bool joined;       /* a write of what the lock before it read: the two are
                          one statement */
    bool names;        /* a read of key 0, by whose result its transaction
                          names a row that it inserts in the end */
    bool unseen;       /* a read by an UPDATE, which returns nothing */
    int from[PM_KEYS]; /* observed source by key: transaction, PM_INITIAL */
} pm_op;

typedef struct pm_txn {
    int session, n_ops;
    pm_op ops[PM_OPS];
} pm_txn;

/* Values below PM_MATCH satisfy the condition of PM_ROWS. */
#define PM_MATCH 1000
typedef struct pm_history {
    int n_txns, n_keys;
    bool rows;                /* keys are rows of a table */
    bool statements;          /* which operations are one statement is told */
    bool sql;                 /* by statements in words, with results */
    int64_t initial[PM_KEYS]; /* 0: nil */
    pm_txn txns[PM_TXNS];
} pm_history;

typedef enum pm_boundary {
    PM_STRICT,
    PM_RELAXED,
    PM_BEST,
    PM_BOUNDARIES
} pm_boundary;

/* One execution: how many operations of each transaction take place, and whom
 * each read reads from. */
typedef struct pm_execution {
    unsigned commits; /* a bit for each: if it has begun, it writes all that it
                         was observed to write */
    int n_ops[PM_TXNS];
    int from[PM_TXNS][PM_OPS][PM_KEYS];
} pm_execution;

bool pm_is_write(const pm_op *op);
/* The last write of the key before operation `end` of t; -1: none. */
int pm_write_before(const pm_history *h, int t, int end, int key);
/* What a transaction left of the key, or what there was; 0: nil. */
int64_t pm_version(const pm_history *h, int writer, int key);
/* Is the read of `key` by this operation one of somebody else's version? */
bool pm_reads(const pm_history *h, int txn, int op, int key);

bool pm_allowed(const pm_history *h, const pm_execution *x, pm_boundary b);
/* Is a second row of a key refused? */
bool pm_is_unique(hf_predict_target target);
/* Would somebody insert a row that another inserts? */
bool pm_has_rivals(const pm_history *h, const pm_execution *x);
#define PM_NOBODY 0u
#define PM_EVERYBODY ((1u << PM_TXNS) - 1)
/* With these to write what they were observed to. */
bool pm_legal(const pm_history *h, const pm_execution *x,
              hf_predict_target target, unsigned commits);
/* Everybody, and nobody has rivals. */
bool pm_legal_as_seen(const pm_history *h, const pm_execution *x,
                      hf_predict_target target);
bool pm_serializable(const pm_history *h, const pm_execution *x);
/* The paper's forced order has a cycle. */
bool pm_forced(const pm_history *h, const pm_execution *x);

typedef struct pm_answers {
    /* is there one: any, and as seen; by boundary and target; exact, and by
     * forced cycles */
    bool exact[2][PM_BOUNDARIES][HF_PREDICT_TARGET_COUNT];
    bool forced[2][PM_BOUNDARIES][HF_PREDICT_TARGET_COUNT];
    long executions;
} pm_answers;

void pm_enumerate(const pm_history *h, pm_answers *ret);

/* ---- predict_random.c ---------------------------------------------------- */

/* Random, executed one after the other. */
pm_history pm_random(hf_rng *r);
hf_history *pm_build(const pm_history *h, hf_error *err);
void pm_print(const pm_history *h);

#endif
