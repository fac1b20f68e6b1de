/* condition.h: conditions of predicate operations.  Private to verify/.
 *
 * A condition is compiled once into a small program for a stack machine and
 * then run on one row at a time.  What it cannot express, or what databases
 * do not agree about, is "not known", never a guess.
 */
#ifndef HF_CONDITION_H
#define HF_CONDITION_H

#include "base/mem.h"
#include "base/ratio.h"
#include "base/str.h"
#include "history/history.h"

typedef enum hf_match { HF_MATCH_NO, HF_MATCH_YES, HF_MATCH_UNKNOWN } hf_match;

typedef struct hf_condition hf_condition;

/* Never NULL: a text that is not understood gives a condition that answers
 * HF_MATCH_UNKNOWN.  Lives in the arena; borrows the text. */
hf_condition *hf_condition_compile(hf_arena *arena, hf_str text);

/* nil satisfies nothing. */
hf_match hf_condition_holds(const hf_condition *c, hf_scalar row);

/* Integers, and decimals of so few digits that every database compares them as
 * written (doubles tell them apart), in units of HF_DECIMAL_ONE.  False: of
 * others nothing is said here. */
bool hf_condition_number(hf_scalar x, hf_wide *ret);

/* Beyond all of them. */
#define HF_LEAST_NUMBER (INT64_MIN * HF_DECIMAL_ONE)
#define HF_MOST_NUMBER (INT64_MAX * HF_DECIMAL_ONE)

/* Numbers from low to high, or texts by their bytes. */
typedef struct hf_range {
    hf_wide low, high; /* units: the one before `high` is the next lower */
    hf_str from, to;
    bool from_open, to_open; /* `from`, `to` itself is outside */
    bool endless;            /* there is no `to` */
} hf_range;

/* What a row that can satisfy a condition has in a column: something in one of
 * the ranges, which are ascending and apart; there may be none.  Null is never
 * enough; of rows whose column has another type, or is not there, nothing is
 * said. */
typedef struct hf_bound {
    hf_str column;
    bool is_text;
    uint32_t n;
    hf_range *at;
} hf_bound;

/* All of them hold, each for another column. */
typedef struct hf_bounds {
    uint32_t n;
    hf_bound *at;
    bool exact; /* all rows inside all of them do satisfy the condition */
} hf_bounds;

/* None if the condition bounds no column.  They live in the arena and borrow
 * the condition.  O(steps), and the square of the longest list. */
hf_bounds hf_condition_bounds(const hf_condition *c, hf_arena *arena);

/* A column of a row; "value" names a value that has no columns.  False if
 * there is no such column. */
bool hf_condition_column(hf_scalar row, hf_str name, hf_scalar *ret);

#endif
