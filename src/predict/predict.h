/* predict.h: the same run could have gone wrong.
 *
 * From one observed execution of an application to executions that it could
 * have had under a weaker level and that are not serializable (IsoPredict,
 * PLDI 2024).  Nothing is run here: a prediction is data, and validating it
 * by running the application again is somebody else's work.
 *
 * What may differ from the observed execution: which transaction each read
 * reads from, and where each session stops (its boundary).  What a
 * transaction does after a read that changed may be something else than what
 * was observed, so the boundary rules leave it out (strict) or mark the
 * prediction as one that may diverge (relaxed).  docs/predict.md has the
 * definitions, the rules and the encoding.
 *
 *   targets.c        the levels that can be asked about
 *   observe.c        who wrote, who read from whom; rows.c: conditions;
 *                    labels.c: rows that say it
 *   events.c         sessions of reads and writes with choices
 *   alike.c          versions that a statement would return the same for
 *   names.c          results by which rows are named that are inserted
 *   encode*.c        choices, boundaries and the level as clauses
 *   serial*.c        is a chosen execution serializable?  An order, or a cycle
 *   search.c         the loop: a legal execution, its order, a clause against
 *                    that order
 *   direct.c         one read that changes, tried without a solver
 *   search_size.c    a prediction is made smaller, and longer
 *   shape.c          which predictions are told apart
 *   describe.c       a chosen execution as the data below
 *   predicted.c      a prediction becomes a history
 *   paper.c          the paper's own constraints, for Z3
 *
 * "Serializable" is meant as in the paper, with session order kept
 * (strong-session-serializable); so are all levels.
 */
#ifndef HF_PREDICT_H
#define HF_PREDICT_H

#include "base/budget.h"
#include "history/history.h"
#include "model/level.h"

/* ---- what can be asked -------------------------------------------------- */

/* The levels an execution is predicted for. */
typedef enum hf_predict_target {
    HF_PREDICT_READ_COMMITTED = 0, /* axiomatic, as in the paper */
    HF_PREDICT_READ_ATOMIC,
    HF_PREDICT_CAUSAL,
    HF_PREDICT_PREFIX,
    HF_PREDICT_PARALLEL_SNAPSHOT,
    HF_PREDICT_SNAPSHOT,
    HF_PREDICT_POSTGRES_READ_COMMITTED,
    HF_PREDICT_POSTGRES_REPEATABLE_READ,
    HF_PREDICT_MARIADB_REPEATABLE_READ,
    HF_PREDICT_TARGET_COUNT
} hf_predict_target;

typedef struct hf_predict_target_info {
    const char *name;    /* "causal", "postgresql-read-committed" */
    const char *summary; /* one line */
    /* The level `check` knows that each prediction keeps. */
    hf_level level;
    bool is_exact; /* and that says all: the two are the same */
} hf_predict_target_info;

const hf_predict_target_info *hf_predict_target_get(hf_predict_target target);
/* By name, or by a name of the level; NULL or a near name in *ret_near (may be
 * NULL). */
bool hf_predict_target_find(hf_str name, hf_predict_target *ret_target,
                            const char **ret_near);

typedef enum hf_predict_strategy {
    HF_PREDICT_BEST = 0, /* complete: all that strict and relaxed allow */
    HF_PREDICT_EXACT_STRICT,
    HF_PREDICT_APPROX_STRICT,
    HF_PREDICT_APPROX_RELAXED,
    HF_PREDICT_STRATEGY_COUNT
} hf_predict_strategy;

const char *hf_predict_strategy_name(hf_predict_strategy strategy);
bool hf_predict_strategy_find(hf_str name, hf_predict_strategy *ret_strategy);

typedef enum hf_predict_encoding {
    HF_PREDICT_OWN = 0,
    HF_PREDICT_PAPER, /* its section 4, solved by Z3; causal and read
                         committed only, one prediction */
    HF_PREDICT_ENCODING_COUNT
} hf_predict_encoding;

/* All zero: one prediction for read committed by the best strategy. */
typedef struct hf_predict_options {
    hf_predict_target target;
    hf_predict_strategy strategy;
    hf_predict_encoding encoding;
    uint32_t most; /* predictions with different shapes; 0: one */
    /* Not those in which somebody goes on otherwise than observed
     * (hf_predicted_other): an answer "none" may then rest on that. */
    bool as_seen;
    hf_budget *budget; /* borrowed; NULL: no limits */
} hf_predict_options;

/* False, and why, if this build lacks the solver that `encoding` needs. */
bool hf_predict_available(hf_predict_encoding encoding, const char **ret_why);

/* ---- what comes back ---------------------------------------------------- */

/* One read of the observed execution that is part of the prediction.  For a
 * predicate operation there is one for each row it looked at. */
typedef struct hf_predicted_read {
    hf_op_id op;
    hf_txn_id txn;
    hf_key_id key;
    hf_txn_id source;   /* who it reads from now; HF_NONE: initial version */
    hf_txn_id observed; /* who it did read from; HF_NONE: initial version */
    bool changed;       /* for a row outside of a result: it was in, or is */
    bool is_row;        /* of a predicate operation */
    bool matches;       /* the version taken now is in its result; an item
                           read: always */
} hf_predicted_read;

/* Where a session stops.  The operations of `txn` before `end` take place;
 * all transactions of the session before it are as observed. */
typedef struct hf_predicted_session {
    hf_session_id session;
    hf_txn_id txn;    /* the last one included; HF_NONE: none is */
    hf_op_id last;    /* the last operation included; HF_NONE: none */
    bool cut;         /* txn has operations after `last` */
    bool ends;        /* everything of the session is included */
    uint32_t changed; /* reads of txn that changed */
} hf_predicted_session;

/* One edge of a cycle that every commit order would have to keep. */
typedef enum hf_predicted_edge_kind {
    HF_PREDICTED_SO, /* same session, in this order */
    HF_PREDICTED_WR, /* `to` reads `key` from `from` */
    HF_PREDICTED_WW, /* both write `key`; somebody after `from` reads `to` */
    HF_PREDICTED_RW, /* `from` reads a version of `key` before that of `to` */
    HF_PREDICTED_EDGE_KIND_COUNT
} hf_predicted_edge_kind;

typedef struct hf_predicted_edge {
    hf_txn_id from, to; /* HF_NONE: the initial state */
    hf_predicted_edge_kind kind;
    hf_key_id key; /* HF_NONE for HF_PREDICTED_SO */
} hf_predicted_edge;

/* What a transaction must not do after its boundary (or after a read that
 * changed), though it was seen to: else the database aborts it. */
typedef struct hf_predicted_other {
    hf_txn_id txn;
    hf_txn_id rival; /* who inserts the row that it would insert; HF_NONE: it is
                        cut short, and what it was observed to write then
                        conflicts */
} hf_predicted_other;

typedef struct hf_prediction {
    hf_predict_target target;
    hf_predicted_session *sessions; /* n_sessions of the history */
    uint32_t n_sessions;
    hf_predicted_read *reads; /* by operation, then key */
    uint32_t n_reads, n_changed;
    /* The cycle; edges[i].to is edges[i + 1].from.  0: no single cycle shows
     * it, but a search through all commit orders found none. */
    hf_predicted_edge *edges;
    uint32_t n_edges;
    /* Transactions (ids of the observed history) in an order that the target
     * level allows, first to last: run them so, each read of an included
     * transaction finds its source before it. */
    hf_txn_id *order;
    uint32_t n_order;
    /* In each session at most one read changes and nothing after it counts:
     * only an abort can make it diverge.  Else what follows a changed read
     * is taken to happen as observed. */
    bool is_strict;
    /* Only what UPDATEs and the like read changes, or rows of which a SELECT
     * is known to return the same: no result that the application gets, so
     * what follows is as observed. */
    bool is_unseen;
    /* The level allows transactions that are cut short to go on and write
     * what they were observed to write.  Else, if they do, one aborts (by the
     * rule of conflicts) or somebody's read is not legal. */
    bool finishes;
    /* It takes place only if all of these go on otherwise.  0, if there is any
     * prediction at all with 0. */
    hf_predicted_other *others;
    uint32_t n_others;
    bool is_sure;   /* finishes, one of the two before, and no others */
    uint64_t shape; /* equal for predictions that are not told apart */
} hf_prediction;

typedef enum hf_predict_answer {
    HF_PREDICT_FOUND,
    HF_PREDICT_NONE,   /* proved: none (see `statement`) */
    HF_PREDICT_UNKNOWN /* a limit was reached before one was found, or none was
                          found but not all is known (`ignored`, `unjudged`) */
} hf_predict_answer;

typedef struct hf_predict_stats {
    uint32_t transactions, sessions; /* that take part */
    uint32_t reads, writes;          /* with any choice at all, and others */
    uint32_t choices; /* pairs of a read and a possible source, shared ones
                         once */
    uint64_t variables, clauses, literals;
    uint32_t iterations; /* candidates that turned out serializable, etc. */
    uint32_t ignored;    /* operations that say nothing about rows or keys */
    uint32_t unjudged;   /* versions of rows of which nobody can say whether
                            they satisfy a condition */
    /* Proved: there is none that finishes. */
    bool none_finishes;
    /* Proved: there is none in which transactions go on as observed, that is,
     * write behind a boundary what they were observed to write (levels with a
     * rule of conflicts), and insert the same rows as who got the same result
     * (levels of databases, snapshot isolation).  The answer is about all
     * others as well, unless `as_seen` was asked for. */
    bool rests_on_writes;
    double encode_seconds, solve_seconds; /* of CPU time */
} hf_predict_stats;

typedef struct hf_predict_result {
    hf_predict_answer answer;
    hf_predict_options options; /* as asked; without the budget */
    hf_prediction *predictions; /* best first */
    uint32_t n_predictions;
    /* No further prediction (of another shape) exists; false: the limit of
     * predictions, time or memory came first, or not all is known. */
    bool is_complete;
    /* One sentence: what was proved, or what stopped the search. */
    char statement[600];
    hf_predict_stats stats;
} hf_predict_result;

/* Predicts.  Fails if the history cannot be an observed execution (a read of
 * a value that nobody committed), or if this build lacks the solver.  The
 * caller frees *ret_result. */
HF_MUST_USE hf_status hf_predict(const hf_history *h,
                                 const hf_predict_options *options,
                                 hf_predict_result **ret_result, hf_error *err);
void hf_predict_result_free(hf_predict_result *r); /* NULL: nothing */

/* Is the execution, as it was observed, one that the target allows?  Asked of
 * the rules that predictions are made by, in every commit order.  What it says
 * of aborted or unexplained reads is the error of hf_predict().  HF_UNKNOWN: a
 * limit. */
HF_MUST_USE hf_status hf_predict_keeps(const hf_history *h,
                                       hf_predict_target target,
                                       hf_budget *budget,
                                       hf_verdict *ret_verdict, hf_error *err);

/* The predicted execution as a history: sessions up to their boundaries, each
 * read with the value of its source.  Transactions keep their labels (or get
 * the number they had).  Where a key has equal values, each gets its writer's
 * label added, so that sources can be told apart; an append and an increment
 * are a read and a write.  Writes after a changed read keep their observed
 * values, which the application might not write.  The caller frees *ret. */
HF_MUST_USE hf_status hf_prediction_history(const hf_history *observed,
                                            const hf_prediction *p,
                                            hf_history **ret, hf_error *err);
/* The same, but transactions that are cut short write after the boundary what
 * they were observed to write; they read nothing there. */
HF_MUST_USE hf_status hf_prediction_whole(const hf_history *observed,
                                          const hf_prediction *p,
                                          hf_history **ret, hf_error *err);

#endif
