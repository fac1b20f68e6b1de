/* conditions.h: the conditions that random predicate operations have.
 *
 * A condition is one of a fixed set of forms with one or two numbers in it.
 * Each is written as text for the engines and evaluated here by hand, so that
 * the oracle needs no parser of expressions and shares none with them.
 */
#ifndef CONDITIONS_H
#define CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rng.h"
#include "history/history.h"

typedef struct condition {
    char form; /* '<', '=', 't' for true, ...: see conditions.c */
    int p, q;
} condition;

/* What databases disagree about: no engine may say whether it holds. */
bool condition_is_odd(char form);
void condition_text(condition c, char *text, size_t size);
/* False if it is none of ours. */
bool condition_parse(hf_str text, condition *ret);

condition condition_random(hf_rng *r, bool on_rows);
/* An odd one. */
condition condition_random_odd(hf_rng *r, bool on_rows);

/* A row of the random histories: `number` 1, 2, ... stands for the plain
 * value, or for a row with the columns a (or null), b and c.  Writes it as
 * JSON. */
void row_text(int number, char *text, size_t size);
/* The columns of a value, plain or row: 0 "value", 1 a, 2 b.  False: null. */
bool row_column(hf_scalar value, char column, int64_t *ret);

/* Does a row with this value satisfy it?  Not for odd conditions. */
bool condition_holds(condition c, hf_scalar value);

#endif
