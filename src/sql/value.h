/* value.h: SQL values: making, comparing, decimals, dates, texts.
 *
 * Decimals are a 128-bit coefficient and a scale: exact up to 38 digits.
 * What does not fit is reported, never rounded in silence.
 */
#ifndef HF_SQL_VALUE_H
#define HF_SQL_VALUE_H

#include "sql/sql.h"

#define HF_SQL_MAX_SCALE 38u

static inline hf_sql_value hf_sql_null(void)
{
    hf_sql_value v;

    memset(&v, 0, sizeof(v));
    return v;
}

static inline hf_sql_value hf_sql_of_bool(bool b)
{
    hf_sql_value v;

    memset(&v, 0, sizeof(v));
    v.type = HF_SQL_BOOL;
    v.integer = b;
    return v;
}

static inline hf_sql_value hf_sql_of_real(double r)
{
    hf_sql_value v;

    memset(&v, 0, sizeof(v));
    v.type = HF_SQL_REAL;
    v.real = r;
    return v;
}

static inline hf_sql_value hf_sql_of_decimal(hf_int128 coefficient,
                                             unsigned scale)
{
    hf_sql_value v;

    memset(&v, 0, sizeof(v));
    v.type = HF_SQL_DECIMAL;
    v.scale = (uint8_t)scale;
    v.decimal = coefficient;
    return v;
}

static inline hf_sql_value hf_sql_of_time(hf_sql_type type, int64_t count)
{
    hf_sql_value v;

    memset(&v, 0, sizeof(v));
    v.type = (uint8_t)type;
    v.integer = count;
    return v;
}

static inline hf_str hf_sql_text_of(const hf_sql_value *v)
{
    hf_str s = {v->text, v->length};

    return s;
}

static inline bool hf_sql_is_number(const hf_sql_value *v)
{
    return v->type >= HF_SQL_INT && v->type <= HF_SQL_REAL;
}

/* ---- numbers ------------------------------------------------------------ */

/* The number that is the whole of s (blanks around it allowed): an INT if it
 * is whole and fits, a DECIMAL (with an exponent too) if its digits fit, else
 * a REAL.  False: no number. */
bool hf_sql_number(hf_str s, hf_sql_value *ret);
/* How many bytes at the start of s are a number, blanks before it included;
 * 0: none.  ret_whole: without point and exponent. */
size_t hf_sql_number_length(hf_str s, bool *ret_whole);

/* -1, 0, 1; both numbers.  A REAL against a DECIMAL is compared as REAL. */
int hf_sql_compare_numbers(const hf_sql_value *a, const hf_sql_value *b);
double hf_sql_to_real(const hf_sql_value *number);
/* An INT or DECIMAL as a DECIMAL; others are left alone. */
hf_sql_value hf_sql_to_decimal(hf_sql_value number);

/* Decimal arithmetic with PostgreSQL's scales; false: too many digits.  The
 * divisor must not be zero. */
bool hf_sql_decimal_add(hf_sql_value a, hf_sql_value b, hf_sql_value *ret);
bool hf_sql_decimal_sub(hf_sql_value a, hf_sql_value b, hf_sql_value *ret);
bool hf_sql_decimal_mul(hf_sql_value a, hf_sql_value b, hf_sql_value *ret);
bool hf_sql_decimal_div(hf_sql_value a, hf_sql_value b, hf_sql_value *ret);
bool hf_sql_decimal_mod(hf_sql_value a, hf_sql_value b, hf_sql_value *ret);
int hf_sql_decimal_compare(const hf_sql_value *a, const hf_sql_value *b);

typedef enum hf_sql_rounding {
    HF_SQL_ROUND_HALF_AWAY = 0,
    HF_SQL_ROUND_DOWN, /* towards zero */
    HF_SQL_ROUND_FLOOR,
    HF_SQL_ROUND_CEILING
} hf_sql_rounding;
/* To `scale` digits after the point (negative: before it); the result has
 * scale max(scale, 0). */
bool hf_sql_decimal_round(hf_sql_value a, int scale, hf_sql_rounding how,
                          hf_sql_value *ret);

/* ---- dates -------------------------------------------------------------- */

/* "2024-02-29", and with a time "2024-02-29 12:30:00.5" (or T between), the
 * whole of s.  A date alone is also a timestamp (midnight). */
bool hf_sql_date(hf_str s, int64_t *ret_days);
bool hf_sql_timestamp(hf_str s, int64_t *ret_microseconds);
void hf_sql_civil(int64_t days, int64_t *ret_year, unsigned *ret_month,
                  unsigned *ret_day);

/* ---- texts -------------------------------------------------------------- */

/* The value as the database would print it; no NULL.  In the arena unless it
 * is text already. */
hf_str hf_sql_print(const hf_sql_value *v, hf_sql_dialect dialect,
                    hf_arena *arena);

/* A hash that is equal for values that hf_sql_order() calls equal. */
uint64_t hf_sql_hash(const hf_sql_value *v);

#endif
