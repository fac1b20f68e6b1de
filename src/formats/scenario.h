/* scenario.h: SQL scenarios as histories of statements.
 *
 * A scenario is a schedule: which session sends which statement in which
 * order.  It is kept to be replayed, so its history has SQL operations only,
 * begin and commit among them as the texts they are, and nothing about keys
 * and values.  What the file does not show is unknown:
 *
 *     commit        committed if the file shows what happened, else unknown
 *     rollback      aborted
 *     no end        unknown
 *
 * A statement outside begin and commit is a transaction by itself.  Times are
 * places in the schedule (HF_TIME_UNIT_EVENT).
 *
 * An importer adds steps in the order of the schedule; hf_scenario_finish()
 * cuts them into transactions and builds.
 */
#ifndef HF_SCENARIO_H
#define HF_SCENARIO_H

#include "base/vec.h"
#include "formats/format.h"

/* One statement or several, sent at once by one session. */
typedef struct hf_step {
    hf_session_id session;
    hf_str text;         /* borrowed until hf_scenario_finish() */
    uint64_t start, end; /* HF_TIME_NONE: not scheduled; end: never seen */
    uint64_t line;
    bool is_shown; /* the file shows what came of it */
    bool failed;
    bool has_rows; /* of the last statement; the parts are in the scenario */
    uint32_t first_name, n_columns;
    uint32_t first_cell, n_rows;
} hf_step;

/* How a session begins. */
#define HF_SESSION_OPEN (1u << 0)     /* inside a transaction */
#define HF_SESSION_IMPLICIT (1u << 1) /* every statement opens one */

typedef struct hf_scenario_session {
    unsigned flags;
    uint8_t level; /* of its transactions, HF_LEVEL_UNSET */
} hf_scenario_session;

typedef struct hf_scenario {
    hf_builder *b;
    hf_error *err;
    bool error_aborts; /* a failed statement ends its transaction */
    uint64_t clock;    /* for the importer */
    HF_VEC(hf_step) steps;
    HF_VEC(hf_scenario_session) sessions; /* by session id */
    HF_VEC(hf_scalar) names, cells;
    uint64_t bytes; /* of statements, to bound what a file can expand to */
} hf_scenario;

void hf_scenario_init(hf_scenario *s, hf_builder *b, hf_error *err);
void hf_scenario_release(hf_scenario *s);

/* The session called `name`, in run number `run` of several (0: there is
 * one run only). */
hf_session_id hf_scenario_session_of(hf_scenario *s, hf_str name, uint32_t run);
void hf_scenario_flags(hf_scenario *s, hf_session_id session, unsigned flags);
void hf_scenario_level(hf_scenario *s, hf_session_id session, uint8_t level);

/* Adds a step, refusing what grows beyond all measure. */
HF_MUST_USE hf_status hf_scenario_step(hf_scenario *s, const hf_step *step);
/* A step at the next place of the schedule, nothing known about it. */
HF_MUST_USE hf_status hf_scenario_next(hf_scenario *s, hf_session_id session,
                                       hf_str text, uint64_t line);
/* Builds the transactions. */
HF_MUST_USE hf_status hf_scenario_finish(hf_scenario *s);

/* ---- statements ---------------------------------------------------------- */

typedef enum hf_sql_class {
    HF_SQL_OTHER = 0,
    HF_SQL_BEGIN,
    HF_SQL_COMMIT,
    HF_SQL_ROLLBACK,
    HF_SQL_ROLLBACK_TO, /* a savepoint */
    HF_SQL_SET_LEVEL
} hf_sql_class;

/* Takes the next statement off *rest: up to a semicolon outside of quotes and
 * comments, without it and without white space around.  False at the end. */
bool hf_sql_next(hf_str *rest, hf_str *ret_statement);
hf_sql_class hf_sql_classify(hf_str statement);
/* The level named after ISOLATION LEVEL, or HF_LEVEL_UNSET. */
uint8_t hf_sql_level(hf_str statement);

#endif
