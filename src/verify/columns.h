/* columns.h: the versions of a table, sorted by a column.  Private to verify/.
 *
 * A condition that bounds a column (hf_predicate_bounds()) can be true only for
 * the versions in a few intervals of this order: integers, then texts by
 * their bytes, then the rest.  Rows that are nil, or have null in the column,
 * are left out: no bound lets them in.
 *
 * Made once in a session for each table and column, O(versions log versions).
 */
#ifndef HF_COLUMNS_H
#define HF_COLUMNS_H

#include "verify/predicate.h"

typedef struct hf_column {
    hf_string_id table;
    hf_str name;       /* empty: none, all rows are in the rest */
    uint32_t n;        /* versions, see entries.h */
    uint32_t *version; /* sorted */
    uint32_t *rank;    /* per version: its place, or HF_NONE */
    uint32_t n_ints, n_texts;
    int64_t *number; /* of the first n_ints */
    hf_str *text;    /* of the n_texts after them */
    struct hf_column *next;
} hf_column;

/* Of the columns that the condition bounds that which leaves the fewest
 * versions, or the one without a name if it bounds none, or too many columns
 * are used already.  Never NULL. */
const hf_column *hf_column_for(hf_verifier *v, hf_string_id table,
                               const hf_condition *condition);

/* The column of this name; if there are too many already that without. */
const hf_column *hf_column_named(hf_verifier *v, hf_string_id table,
                                 hf_str name);

typedef struct hf_interval {
    uint32_t from, to;
} hf_interval;

/* Where the versions stand that can satisfy the condition. */
#define HF_MOST_INTERVALS 18
typedef struct hf_search {
    uint32_t n;
    uint32_t n_exact; /* in the first of them all rows do satisfy it */
    hf_interval at[HF_MOST_INTERVALS];
} hf_search;

void hf_column_search(hf_verifier *v, const hf_column *c,
                      const hf_condition *condition, hf_search *ret);

#endif
