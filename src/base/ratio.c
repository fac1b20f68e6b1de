/* ratio.c: see ratio.h. */
#include "base/ratio.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH_DIGITS 4 /* after the point: no database gives fewer */
#define NEARLY 1e-14    /* relative */

/* No double is printed with more than 17 digits. */
#define DOUBLE_DIGITS ((hf_wide)100000000000000000)

/* A number as its text says it: coefficient / 10^digits. */
typedef struct spelled {
    bool negative;
    bool short_enough; /* for a double */
    hf_wide coefficient;
    int digits;
} spelled;

static bool read_exponent(hf_str s, int *ret)
{
    int64_t n;

    if (s.len > 0 && s.ptr[0] == '+') {
        s.ptr++;
        s.len--;
    }
    if (!hf_str_to_int(s, &n) || n < -400 || n > 400)
        return false;
    *ret = (int)n;
    return true;
}

static bool read_number(hf_str s, spelled *ret)
{
    bool point = false, any = false;
    int exponent = 0;
    size_t i = 0;

    *ret = (spelled){.negative = s.len > 0 && s.ptr[0] == '-'};
    for (i = ret->negative; i < s.len && s.ptr[i] != 'e' && s.ptr[i] != 'E';
         i++) {
        if (s.ptr[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (s.ptr[i] < '0' || s.ptr[i] > '9' ||
            ret->coefficient / HF_DECIMAL_ONE >= HF_DECIMAL_ONE / 10)
            return false;
        ret->coefficient = ret->coefficient * 10 + (s.ptr[i] - '0');
        ret->digits += point;
        any = true;
    }
    if (i < s.len &&
        !read_exponent((hf_str){s.ptr + i + 1, s.len - i - 1}, &exponent))
        return false;
    ret->digits -= exponent;
    ret->short_enough = ret->coefficient < DOUBLE_DIGITS;
    return any;
}

/* Gives it `digits` digits after the point, if none is lost. */
static bool rescale(spelled *x, int digits)
{
    for (; x->digits > digits && x->coefficient % 10 == 0; x->digits--)
        x->coefficient /= 10;
    for (; x->digits < digits; x->digits++) {
        if (x->coefficient / HF_DECIMAL_ONE >= HF_DECIMAL_ONE / 10)
            return false;
        x->coefficient *= 10;
    }
    return x->digits == digits;
}

bool hf_decimal_of(hf_scalar s, hf_wide *ret)
{
    spelled x;

    *ret = s.type == HF_INT ? s.number * HF_DECIMAL_ONE : 0;
    if (s.type != HF_REAL)
        return s.type == HF_INT;
    if (!read_number((hf_str){s.text, s.length}, &x) ||
        !rescale(&x, (int)HF_DECIMAL_SCALE) ||
        x.coefficient / HF_DECIMAL_ONE > INT64_MAX)
        return false;
    *ret = x.negative ? -x.coefficient : x.coefficient;
    return true;
}

bool hf_decimal_split(hf_scalar s, hf_wide *ret_whole, hf_wide *ret_rest)
{
    hf_wide one = 1, part = HF_DECIMAL_ONE;
    spelled x;

    *ret_whole = s.type == HF_INT ? s.number : 0;
    *ret_rest = 0;
    if (s.type != HF_REAL)
        return s.type == HF_INT;
    if (!read_number((hf_str){s.text, s.length}, &x) ||
        (x.digits < 0 && !rescale(&x, 0)) ||
        (x.digits > (int)HF_DECIMAL_SCALE &&
         !rescale(&x, (int)HF_DECIMAL_SCALE)))
        return false;
    for (; x.digits > 0; x.digits--) {
        one *= 10;
        part /= 10;
    }
    *ret_whole = x.coefficient / one;
    *ret_rest = x.coefficient % one * part;
    if (x.negative) {
        *ret_whole = -*ret_whole - (*ret_rest != 0);
        *ret_rest = *ret_rest != 0 ? HF_DECIMAL_ONE - *ret_rest : 0;
    }
    return true;
}

/* ---- quotients ----------------------------------------------------------- */

/* whole / 10^digits and rest / (divisor * 10^digits), below zero or not. */
typedef struct quotient {
    bool negative;
    hf_wide whole, rest, divisor;
    int digits;
} quotient;

static bool one_more_digit(quotient *q)
{
    if (q->whole / HF_DECIMAL_ONE >= HF_DECIMAL_ONE / 10)
        return false;
    q->rest *= 10;
    q->whole = q->whole * 10 + q->rest / q->divisor;
    q->rest %= q->divisor;
    q->digits++;
    return true;
}

/* As many digits as there is room for decide about the nearest double; a last
 * one stands for the rest. */
static double nearest_double(quotient q)
{
    char text[96];

    while (q.digits < 300 && one_more_digit(&q))
        continue;
    (void)snprintf(text, sizeof(text), "%s%llu%018llu%se%d",
                   q.negative ? "-" : "",
                   (unsigned long long)(q.whole / HF_DECIMAL_ONE),
                   (unsigned long long)(q.whole % HF_DECIMAL_ONE),
                   q.rest ? "1" : "0", -q.digits - 1);
    return strtod(text, NULL);
}

static double double_of(hf_str s)
{
    char text[96];

    if (s.len >= sizeof(text))
        return NAN;
    memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    return strtod(text, NULL);
}

static hf_ratio_fit compare_doubles(const quotient *q, const spelled *x,
                                    hf_str text)
{
    double a = nearest_double(*q), b = double_of(text);

    if (a - b == 0 && x->short_enough)
        return HF_RATIO_YES;
    return fabs(a - b) <= NEARLY * fabs(a) ? HF_RATIO_PERHAPS : HF_RATIO_NO;
}

/* The quotient at the number's own digits. */
static hf_ratio_fit compare_digits(quotient q, const spelled *x)
{
    bool low, high;

    while (q.digits < x->digits)
        if (!one_more_digit(&q))
            return HF_RATIO_NO;
    if (x->coefficient == 0 && q.whole == 0)
        q.negative = x->negative; /* rounded to nothing */
    if (q.negative != x->negative)
        return HF_RATIO_NO;
    low = x->coefficient == q.whole;
    high = x->coefficient == q.whole + 1;
    if (low && q.rest == 0)
        return HF_RATIO_YES;
    if ((low && 2 * q.rest <= q.divisor) || (high && 2 * q.rest >= q.divisor))
        return x->digits >= ENOUGH_DIGITS ? HF_RATIO_YES : HF_RATIO_PERHAPS;
    return low && x->digits < ENOUGH_DIGITS ? HF_RATIO_PERHAPS : HF_RATIO_NO;
}

hf_ratio_fit hf_ratio_fits(hf_wide sum, uint64_t n, unsigned scale,
                           hf_scalar given)
{
    quotient q = {.negative = sum < 0, .divisor = n};
    hf_str text = {given.text, given.length};
    hf_ratio_fit fit, other;
    char number[32];
    spelled x;

    if (given.type != HF_INT && given.type != HF_REAL)
        return given.type == HF_NIL ? HF_RATIO_NO : HF_RATIO_PERHAPS;
    if (given.type == HF_INT) {
        (void)snprintf(number, sizeof(number), "%" PRId64, given.number);
        text = hf_str_of(number);
    }
    while (scale-- > 0)
        q.divisor *= 10;
    if (q.negative)
        sum = -sum;
    q.whole = sum / q.divisor;
    q.rest = sum % q.divisor;
    if (!read_number(text, &x) || (x.digits < 0 && !rescale(&x, 0)))
        return HF_RATIO_PERHAPS;
    fit = compare_digits(q, &x);
    if (fit == HF_RATIO_YES)
        return fit;
    other = compare_doubles(&q, &x, text);
    return other > fit ? other : fit;
}

/* ---- decimals ------------------------------------------------------------ */

/* The worst that is known: floats, added up as floats one by one, all shown
 * with six digits.  With M the largest and n of them, to first order:
 *
 *   n * M * 5e-6             each was shown with six digits
 *   n * (n + 1) / 2 * M * 2^-24  partial sum i is at most i * M and is rounded
 *                            to 24 bits
 *   n * M * 5e-6             the result was shown with six digits
 *
 * 1e-5 is below 2^-16; what the second order adds, less than 2^-10 of the whole
 * for n below 2^13, is in the difference of the two. */
#define SHOWN 0x1p-16L
#define ADDED 0x1p-24L

/* Is given * divisor farther from the sum than rounding can be? */
static bool is_far(hf_wide sum, hf_wide largest, uint64_t n, uint64_t divisor,
                   hf_scalar given)
{
    long double most = (long double)n * (long double)largest *
                       (SHOWN + (long double)n * ADDED);
    long double x =
        given.type == HF_INT
            ? (long double)given.number
            : (long double)double_of((hf_str){given.text, given.length});

    x *= (long double)HF_DECIMAL_ONE * (long double)divisor;
    return fabsl(x - (long double)sum) > most; /* false for no number */
}

hf_ratio_fit hf_sum_fits(hf_wide sum, hf_wide largest, uint64_t n,
                         hf_scalar given)
{
    hf_wide units;

    if (given.type == HF_NIL)
        return HF_RATIO_NO;
    if (!hf_decimal_of(given, &units))
        return HF_RATIO_PERHAPS;
    if (units == sum)
        return HF_RATIO_YES;
    return is_far(sum, largest, n, 1, given) ? HF_RATIO_NO : HF_RATIO_PERHAPS;
}

hf_ratio_fit hf_average_fits(hf_wide sum, hf_wide largest, uint64_t n,
                             hf_scalar given)
{
    hf_ratio_fit fit = hf_ratio_fits(sum, n, HF_DECIMAL_SCALE, given);

    if (fit != HF_RATIO_NO || given.type == HF_NIL)
        return fit;
    return is_far(sum, largest, n, n, given) ? HF_RATIO_NO : HF_RATIO_PERHAPS;
}

bool hf_increment_fits(hf_scalar before, int64_t amount, hf_scalar after)
{
    hf_wide from, by = amount * HF_DECIMAL_ONE, largest;

    if (before.type == HF_INT && after.type == HF_INT)
        return (hf_wide)before.number + amount == after.number;
    if (after.type != HF_INT && after.type != HF_REAL)
        return true;
    if (!hf_decimal_of(before, &from))
        return true;
    by = by < 0 ? -by : by;
    largest = from < 0 ? -from : from;
    return hf_sum_fits(from + amount * HF_DECIMAL_ONE,
                       by > largest ? by : largest, 2, after) != HF_RATIO_NO;
}
