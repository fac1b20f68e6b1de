/* totals.h: count, sum, least and greatest over any interval of a column's
 * order.  Private to verify/.
 *
 * Of the versions of a column (columns.h) some are there now; what all of
 * those between two ranks have in another column, or the same, is added up
 * from parts that are ready.
 */
#ifndef HF_TOTALS_H
#define HF_TOTALS_H

#include "verify/columns.h"

typedef struct hf_total {
    uint32_t rows;       /* that are there */
    uint32_t n;          /* of these, not null in the column added up */
    uint32_t missing;    /* without that column */
    uint32_t decimals;   /* that are in `parts` */
    uint32_t others;     /* not null, and no numbers, or long ones: in no sum */
    uint32_t unknown;    /* not rows at all: no condition can be evaluated */
    hf_wide least, most; /* of the numbers, if there are any; in units */
    hf_wide sum;         /* of the integers */
    hf_wide parts;       /* of the decimals, in units of HF_DECIMAL_ONE */
} hf_total;

typedef struct hf_totals hf_totals;

/* `there` has a bit for each rank of c, which may change at any time.  adds:
 * the name of the column to add up; empty: rows are counted only.  Kept until
 * the claim is answered.  O(versions of c). */
hf_totals *hf_totals_new(hf_verifier *v, const hf_column *c, hf_str adds,
                         const uint64_t *there);
hf_str hf_totals_column(const hf_totals *t);

/* The bit of this rank has changed.  O(log versions). */
void hf_totals_update(hf_totals *t, uint32_t rank);

/* Adds up those of different ranks. */
void hf_total_add(hf_total *a, const hf_total *b);

/* Of the ranks from .. to-1.  O(log versions). */
hf_total hf_totals_between(const hf_totals *t, uint32_t from, uint32_t to);

#endif
