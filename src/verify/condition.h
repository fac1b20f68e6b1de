/* condition.h: conditions of predicate operations.  Private to verify/.
 *
 * A condition is compiled once into a small program for a stack machine and
 * then run on one row at a time.  What it cannot express, or what databases
 * do not agree about, is "not known", never a guess.
 */
#ifndef HF_CONDITION_H
#define HF_CONDITION_H

#include "base/mem.h"
#include "base/str.h"
#include "history/history.h"

typedef enum hf_match { HF_MATCH_NO, HF_MATCH_YES, HF_MATCH_UNKNOWN } hf_match;

typedef struct hf_condition hf_condition;

/* Never NULL: a text that is not understood gives a condition that answers
 * HF_MATCH_UNKNOWN.  Lives in the arena; borrows the text. */
hf_condition *hf_condition_compile(hf_arena *arena, hf_str text);

/* nil satisfies nothing. */
hf_match hf_condition_holds(const hf_condition *c, hf_scalar row);

/* What a row that can satisfy it has in a column: an integer from low to high
 * or, if is_text, this text.  Null is never enough; of rows whose column has
 * another type, or is not there, nothing is said. */
typedef struct hf_bound {
    hf_str column;
    bool is_text;
    hf_str text;
    int64_t low, high; /* low > high: none */
    bool exact;        /* integers: each of these does satisfy it */
} hf_bound;

/* False if the condition bounds no column.  O(steps). */
bool hf_condition_bound(const hf_condition *c, hf_bound *ret);

/* A column of a row; "value" names a value that has no columns.  False if
 * there is no such column. */
bool hf_condition_column(hf_scalar row, hf_str name, hf_scalar *ret);

#endif
