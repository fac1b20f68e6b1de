/* columns.h: the versions of a table, sorted by a column.  Private to verify/.
 *
 * A condition that bounds a column (hf_predicate_bounds()) can be true only for
 * the versions in a few intervals of this order: numbers, as far as
 * hf_condition_number() reads them, then texts by their bytes, then the rest.
 * Rows that are nil, or have null in the column, are left out: no bound lets
 * them in.
 *
 * Made once in a session for each table and column, O(versions log versions).
 *
 * A condition that is ranges of several columns, each of them wide, is better
 * looked for in all of these at once: a space (space.c) is an order of the
 * versions, too, in which such a box is O(versions^(1 - 1/columns)) intervals.
 */
#ifndef HF_COLUMNS_H
#define HF_COLUMNS_H

#include "base/vec.h"
#include "verify/predicate.h"

#define HF_MOST_AXES 4

typedef struct hf_column {
    hf_string_id table;
    hf_str name;       /* empty: none, all rows are in the rest; or a space */
    uint32_t n;        /* versions, see entries.h */
    uint32_t *version; /* sorted */
    uint32_t *rank;    /* per version: its place, or HF_NONE */
    uint32_t n_numbers, n_texts;
    hf_wide *number; /* of the first n_numbers */
    hf_str *text;    /* of the n_texts after them */
    /* a space: its columns, in which all of its versions have a rank */
    uint32_t n_axes;
    const struct hf_column *axis[HF_MOST_AXES];
    uint32_t *split; /* see space.c */
    uint32_t age;    /* in the order they were made */
    struct hf_column *next;
} hf_column;

/* Of the columns that the condition bounds that which leaves the fewest
 * versions; the space of all of them if that is still many, and has been so
 * often enough; or the one without a name if it bounds none, or too many
 * columns are used already.  Never NULL. */
const hf_column *hf_column_for(hf_verifier *v, hf_string_id table,
                               const hf_condition *condition);

/* The column of this name; if there are too many already that without. */
const hf_column *hf_column_named(hf_verifier *v, hf_string_id table,
                                 hf_str name);

typedef struct hf_interval {
    uint32_t from, to;
} hf_interval;

/* Where the versions stand that can satisfy the condition: intervals that do
 * not meet, of which the first n_exact ascend. */
typedef struct hf_search {
    uint32_t n_exact; /* in the first of them all rows do satisfy it */
    HF_VEC(hf_interval) list;
} hf_search;

/* ret is filled anew; begin with zeros, hf_search_release() ends it. */
void hf_column_search(hf_verifier *v, const hf_column *c,
                      const hf_condition *condition, hf_search *ret);
void hf_search_release(hf_search *s);
/* Is the rank (or HF_NONE) in one of the first n_exact? */
bool hf_search_has(const hf_search *s, uint32_t rank);
/* Versions in all of them. */
uint64_t hf_search_size(const hf_search *s);

/* ---- space.c: only for columns.c ----------------------------------------- */

/* The versions that all the axes have; of one table, kept in the session. */
hf_column *hf_space_new(hf_verifier *v, const hf_column *const *axes,
                        uint32_t n);

/* What is wanted of one axis: ranks inside, all others but those aside; those
 * aside are of other types, or not known. */
typedef struct hf_side {
    hf_search inside;
    hf_interval aside[2];
    uint32_t n_aside;
} hf_side;

/* Where all axes are inside; then where some are, and the rest aside. */
void hf_space_search(const hf_column *space, const hf_side *sides,
                     hf_search *ret);

#endif
