/* decimal.c: exact decimals in 128 bits, with PostgreSQL's result scales.
 *
 * A decimal is coefficient / 10^scale.  Sums have the larger scale, products
 * the sum of both, quotients at least 16 significant digits as PostgreSQL
 * chooses them (it counts in groups of four digits, so do we there).  Every
 * operation is O(1) and says when 38 digits do not hold the result.
 */
#include "sql/value.h"

#include "base/error.h"

#define MAX_POWER 38u

static hf_int128 power_of_ten(unsigned n)
{
    hf_int128 p = 1;

    HF_ASSERT(n <= MAX_POWER);
    while (n-- > 0)
        p *= 10;
    return p;
}

/* No more than 38 digits: so a coefficient can always be negated. */
static bool fits(hf_int128 c)
{
    const hf_int128 limit = power_of_ten(MAX_POWER);

    return c > -limit && c < limit;
}

/* x * 10^n; false if that overflows. */
static bool shift(hf_int128 x, unsigned n, hf_int128 *ret)
{
    if (x == 0) {
        *ret = 0;
        return true;
    }
    return n <= MAX_POWER && !__builtin_mul_overflow(x, power_of_ten(n), ret) &&
           fits(*ret);
}

hf_sql_value hf_sql_to_decimal(hf_sql_value number)
{
    return number.type == HF_SQL_INT ? hf_sql_of_decimal(number.integer, 0)
                                     : number;
}

int hf_sql_decimal_compare(const hf_sql_value *a, const hf_sql_value *b)
{
    hf_int128 x = a->decimal, y = b->decimal;

    /* what overflows when scaled up is the larger one by far */
    if (a->scale < b->scale) {
        if (!shift(x, b->scale - (unsigned)a->scale, &x))
            return a->decimal > 0 ? 1 : -1;
    } else if (b->scale < a->scale) {
        if (!shift(y, a->scale - (unsigned)b->scale, &y))
            return b->decimal > 0 ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

/* Both with the larger scale, which is returned; false: too many digits. */
static bool align(hf_sql_value *a, hf_sql_value *b)
{
    if (a->scale < b->scale) {
        if (!shift(a->decimal, b->scale - (unsigned)a->scale, &a->decimal))
            return false;
        a->scale = b->scale;
    } else if (b->scale < a->scale) {
        if (!shift(b->decimal, a->scale - (unsigned)b->scale, &b->decimal))
            return false;
        b->scale = a->scale;
    }
    return true;
}

bool hf_sql_decimal_add(hf_sql_value a, hf_sql_value b, hf_sql_value *ret)
{
    hf_int128 sum;

    a = hf_sql_to_decimal(a);
    b = hf_sql_to_decimal(b);
    if (!align(&a, &b) || __builtin_add_overflow(a.decimal, b.decimal, &sum) ||
        !fits(sum))
        return false;
    *ret = hf_sql_of_decimal(sum, a.scale);
    return true;
}

bool hf_sql_decimal_sub(hf_sql_value a, hf_sql_value b, hf_sql_value *ret)
{
    hf_int128 difference;

    a = hf_sql_to_decimal(a);
    b = hf_sql_to_decimal(b);
    if (!align(&a, &b) ||
        __builtin_sub_overflow(a.decimal, b.decimal, &difference) ||
        !fits(difference))
        return false;
    *ret = hf_sql_of_decimal(difference, a.scale);
    return true;
}

bool hf_sql_decimal_mul(hf_sql_value a, hf_sql_value b, hf_sql_value *ret)
{
    hf_int128 product;
    unsigned scale;

    a = hf_sql_to_decimal(a);
    b = hf_sql_to_decimal(b);
    scale = (unsigned)a.scale + b.scale;
    if (scale > HF_SQL_MAX_SCALE ||
        __builtin_mul_overflow(a.decimal, b.decimal, &product) ||
        !fits(product))
        return false;
    *ret = hf_sql_of_decimal(product, scale);
    return true;
}

/* The first group of four digits that is not zero, and its weight (the power
 * of 10000 it stands for), as PostgreSQL stores numbers. */
static void first_group(hf_sql_value v, int *ret_weight, int *ret_digit)
{
    hf_int128 c = v.decimal < 0 ? -v.decimal : v.decimal;
    unsigned fill = (4 - v.scale % 4u) % 4;
    int weight = -(int)((v.scale + fill) / 4);
    hf_int128 first = c; /* in groups counted from the point */

    if (c == 0) {
        *ret_weight = 0;
        *ret_digit = 0;
        return;
    }
    /* the lowest group has only 4 - fill digits of ours */
    if (c < power_of_ten(4 - fill)) {
        *ret_weight = weight;
        *ret_digit = (int)(c * power_of_ten(fill));
        return;
    }
    first = c / power_of_ten(4 - fill);
    weight++;
    while (first >= 10000) {
        first /= 10000;
        weight++;
    }
    *ret_weight = weight;
    *ret_digit = (int)first;
}

static unsigned division_scale(hf_sql_value a, hf_sql_value b)
{
    int weight_a, weight_b, digit_a, digit_b, scale;

    first_group(a, &weight_a, &digit_a);
    first_group(b, &weight_b, &digit_b);
    weight_a -= weight_b;
    if (digit_a <= digit_b)
        weight_a--;
    scale = 16 - weight_a * 4;
    if (scale < a.scale)
        scale = a.scale;
    if (scale < b.scale)
        scale = b.scale;
    return scale < 0 ? 0 : (unsigned)scale;
}

/* n / d rounded half away from zero. */
static hf_int128 divide_rounded(hf_int128 n, hf_int128 d)
{
    hf_int128 q = n / d, r = n % d;
    bool negative = (n < 0) != (d < 0);

    if (r < 0)
        r = -r;
    if (d < 0)
        d = -d;
    if (r >= d - r)
        q += negative ? -1 : 1;
    return q;
}

bool hf_sql_decimal_div(hf_sql_value a, hf_sql_value b, hf_sql_value *ret)
{
    unsigned scale;
    int move;

    a = hf_sql_to_decimal(a);
    b = hf_sql_to_decimal(b);
    HF_ASSERT(b.decimal != 0);
    scale = division_scale(a, b);
    if (scale > HF_SQL_MAX_SCALE)
        return false;
    /* result * 10^scale = a.decimal * 10^(scale - a.scale + b.scale) / b */
    move = (int)scale - a.scale + b.scale;
    if (move >= 0 ? !shift(a.decimal, (unsigned)move, &a.decimal)
                  : !shift(b.decimal, (unsigned)-move, &b.decimal))
        return false;
    *ret = hf_sql_of_decimal(divide_rounded(a.decimal, b.decimal), scale);
    return true;
}

bool hf_sql_decimal_mod(hf_sql_value a, hf_sql_value b, hf_sql_value *ret)
{
    a = hf_sql_to_decimal(a);
    b = hf_sql_to_decimal(b);
    HF_ASSERT(b.decimal != 0);
    if (!align(&a, &b))
        return false;
    *ret = hf_sql_of_decimal(a.decimal % b.decimal, a.scale);
    return true;
}

static hf_int128 divide_by_rule(hf_int128 n, hf_int128 d, hf_sql_rounding how)
{
    hf_int128 q = n / d, r = n % d;

    switch (how) {
    case HF_SQL_ROUND_HALF_AWAY:
        return divide_rounded(n, d);
    case HF_SQL_ROUND_FLOOR:
        return r < 0 ? q - 1 : q;
    case HF_SQL_ROUND_CEILING:
        return r > 0 ? q + 1 : q;
    default:
        return q;
    }
}

bool hf_sql_decimal_round(hf_sql_value a, int scale, hf_sql_rounding how,
                          hf_sql_value *ret)
{
    hf_int128 c;
    int drop;

    a = hf_sql_to_decimal(a);
    drop = (int)a.scale - scale;
    if (scale > (int)HF_SQL_MAX_SCALE)
        return false;
    if (drop <= 0) {
        if (!shift(a.decimal, (unsigned)-drop, &c))
            return false;
        *ret = hf_sql_of_decimal(c, (unsigned)scale);
        return true;
    }
    /* dropping more digits than there are leaves nothing but the sign */
    if (drop > (int)MAX_POWER) {
        if (how == HF_SQL_ROUND_FLOOR || how == HF_SQL_ROUND_CEILING)
            return false;
        c = 0;
    } else {
        c = divide_by_rule(a.decimal, power_of_ten((unsigned)drop), how);
    }
    if (scale < 0 && !shift(c, (unsigned)-scale, &c))
        return false;
    *ret = hf_sql_of_decimal(c, scale < 0 ? 0 : (unsigned)scale);
    return true;
}
