/* ratio.h: is a number that was written down the quotient of two others?
 *
 * Databases do not print an average exactly: PostgreSQL rounds it to 16 or
 * more digits, MariaDB to four more than its column has, SQLite to the nearest
 * double.  A text says by its own digits how far it was rounded.
 *
 *   YES      the quotient itself; or, with four or more digits after the
 *            point, one of the two nearest numbers with so many; or the same
 *            double as the quotient's nearest
 *   PERHAPS  rounded or cut off to fewer digits, or off by so little that
 *            adding up doubles may do that: nobody can say
 *   NO       else
 *
 * O(digits).
 */
#ifndef HF_RATIO_H
#define HF_RATIO_H

#include "base/str.h"
#include "holdfast.h"

__extension__ typedef __int128 hf_wide;

typedef enum hf_ratio_fit {
    HF_RATIO_NO,
    HF_RATIO_PERHAPS,
    HF_RATIO_YES
} hf_ratio_fit;

/* A number, or its text (nil: NO, others: PERHAPS), against sum / (n *
 * 10^scale), for 0 < n < 2^32, scale <= 18 and sums below 10^37.  What cannot
 * be computed is PERHAPS. */
hf_ratio_fit hf_ratio_fits(hf_wide sum, uint64_t n, unsigned scale,
                           hf_scalar given);

/* Decimals are compared and added up exactly in these units. */
#define HF_DECIMAL_SCALE 18u
#define HF_DECIMAL_ONE ((hf_wide)1000000000000000000)

/* The number times 10^HF_DECIMAL_SCALE; false if it is none, or has more
 * digits after the point, or is not below 2^63. */
bool hf_decimal_of(hf_scalar x, hf_wide *ret);

/* The greatest whole number that is not above it, and how much of
 * HF_DECIMAL_ONE it is above that; false if it is no number, or has more digits
 * than that after the point, or more than 36 in all. */
bool hf_decimal_split(hf_scalar x, hf_wide *ret_whole, hf_wide *ret_rest);

/* Sums and averages of n numbers that are not all integers, in units of
 * HF_DECIMAL_ONE; `largest`: the greatest of their absolute values.  A
 * database may keep them as doubles, or even as floats that it shows with six
 * digits: a result that is off by no more than adding up such numbers may do
 * (n * largest * (2^-16 + n * 2^-24): ratio.c) is PERHAPS.  So is one that
 * hf_decimal_of() cannot read; nil is NO. */
hf_ratio_fit hf_sum_fits(hf_wide sum, hf_wide largest, uint64_t n,
                         hf_scalar given);
hf_ratio_fit hf_average_fits(hf_wide sum, hf_wide largest, uint64_t n,
                             hf_scalar given);

/* May an increment by the amount have made the one of the other?  Integers are
 * added exactly, decimals as for hf_sum_fits(): false only if it cannot be. */
bool hf_increment_fits(hf_scalar before, int64_t amount, hf_scalar after);

#endif
