/* value.c: numbers out of text, comparing values, printing them. */
#include "sql/value.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "base/map.h"

/* ---- numbers out of text ------------------------------------------------ */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t digits_at(hf_str s, size_t i)
{
    size_t n = 0;

    while (i + n < s.len && isdigit((unsigned char)s.ptr[i + n]))
        n++;
    return n;
}

size_t hf_sql_number_length(hf_str s, bool *ret_whole)
{
    size_t i = 0, whole, part = 0, power;

    *ret_whole = true;
    while (i < s.len && is_blank(s.ptr[i]))
        i++;
    if (i < s.len && (s.ptr[i] == '-' || s.ptr[i] == '+'))
        i++;
    whole = digits_at(s, i);
    i += whole;
    if (i < s.len && s.ptr[i] == '.') {
        part = digits_at(s, i + 1);
        if (whole + part > 0) {
            i += 1 + part;
            *ret_whole = false;
        }
    }
    if (whole + part == 0)
        return 0;
    if (i < s.len && (s.ptr[i] == 'e' || s.ptr[i] == 'E')) {
        power = i + 1;
        if (power < s.len && (s.ptr[power] == '-' || s.ptr[power] == '+'))
            power++;
        if (digits_at(s, power) > 0) {
            i = power + digits_at(s, power);
            *ret_whole = false;
        }
    }
    return i;
}

/* The coefficient and scale of a number without blanks; false: too long. */
static bool exact_number(hf_str s, hf_sql_value *ret)
{
    /* 10^38: what decimals hold */
    const hf_int128 limit =
        (hf_int128)10000000000000000000u * 10000000000000000000u;
    hf_int128 c = 0;
    int scale = 0, power = 0;
    bool after_point = false, negative = s.ptr[0] == '-';
    size_t i = negative || s.ptr[0] == '+';

    for (; i < s.len && s.ptr[i] != 'e' && s.ptr[i] != 'E'; i++) {
        if (s.ptr[i] == '.') {
            after_point = true;
            continue;
        }
        if (__builtin_mul_overflow(c, (hf_int128)10, &c) ||
            __builtin_add_overflow(c, (hf_int128)(s.ptr[i] - '0'), &c) ||
            c >= limit || scale > 1000)
            return false;
        scale += after_point;
    }
    if (i < s.len) {
        if (s.len - i > 5)
            return false;
        for (size_t k = i + 1; k < s.len; k++)
            if (isdigit((unsigned char)s.ptr[k]))
                power = power * 10 + (s.ptr[k] - '0');
        scale -= s.ptr[i + 1] == '-' ? -power : power;
    }
    for (; scale < 0; scale++)
        if (__builtin_mul_overflow(c, (hf_int128)10, &c) || c >= limit)
            return false;
    if (scale > (int)HF_SQL_MAX_SCALE)
        return false;
    *ret = hf_sql_of_decimal(negative ? -c : c, (unsigned)scale);
    return true;
}

static double real_of_text(hf_str s)
{
    char small[64];
    char *copy = s.len < sizeof(small) ? small : hf_alloc(s.len + 1);
    double r;

    memcpy(copy, s.ptr, s.len);
    copy[s.len] = '\0';
    r = strtod(copy, NULL);
    if (copy != small)
        hf_free(copy);
    return r;
}

bool hf_sql_number(hf_str s, hf_sql_value *ret)
{
    bool whole;
    size_t n;

    while (s.len > 0 && is_blank(s.ptr[s.len - 1]))
        s.len--;
    while (s.len > 0 && is_blank(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    n = hf_sql_number_length(s, &whole);
    if (n == 0 || n != s.len)
        return false;
    if (!exact_number(s, ret))
        *ret = hf_sql_of_real(real_of_text(s));
    else if (whole && ret->decimal >= INT64_MIN && ret->decimal <= INT64_MAX)
        *ret = hf_sql_of_int((int64_t)ret->decimal);
    return true;
}

/* ---- comparing ---------------------------------------------------------- */

double hf_sql_to_real(const hf_sql_value *v)
{
    static const double powers[] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const hf_int128 exact = (hf_int128)1 << 53;
    char text[80];
    hf_int128 c;
    int n = 0;

    if (v->type == HF_SQL_REAL)
        return v->real;
    if (v->type != HF_SQL_DECIMAL)
        return (double)v->integer;
    /* one correctly rounded division where both sides are exact */
    if (v->decimal > -exact && v->decimal < exact && v->scale <= 22)
        return (double)(int64_t)v->decimal / powers[v->scale];
    c = v->decimal < 0 ? -v->decimal : v->decimal;
    n = snprintf(
        text, sizeof(text), "%s%llu%019llue-%u", v->decimal < 0 ? "-" : "",
        (unsigned long long)(c / 10000000000000000000u),
        (unsigned long long)(c % 10000000000000000000u), (unsigned)v->scale);
    HF_ASSERT(n > 0 && (size_t)n < sizeof(text));
    return strtod(text, NULL);
}

static int compare_reals(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return a < b ? -1 : a > b;
}

/* Exact: the whole part first, then the rest. */
static int compare_int_real(int64_t i, double r)
{
    int64_t whole;

    if (isnan(r) || r >= 9223372036854775808.0)
        return -1;
    if (r < -9223372036854775808.0)
        return 1;
    whole = (int64_t)r;
    if (i != whole)
        return i < whole ? -1 : 1;
    return (double)whole < r ? -1 : (double)whole > r;
}

int hf_sql_compare_numbers(const hf_sql_value *a, const hf_sql_value *b)
{
    hf_sql_value x, y;

    if (a->type == HF_SQL_INT && b->type == HF_SQL_INT)
        return a->integer < b->integer ? -1 : a->integer > b->integer;
    if (a->type == HF_SQL_INT && b->type == HF_SQL_REAL)
        return compare_int_real(a->integer, b->real);
    if (a->type == HF_SQL_REAL && b->type == HF_SQL_INT)
        return -compare_int_real(b->integer, a->real);
    if (a->type == HF_SQL_REAL || b->type == HF_SQL_REAL)
        return compare_reals(hf_sql_to_real(a), hf_sql_to_real(b));
    x = hf_sql_to_decimal(*a);
    y = hf_sql_to_decimal(*b);
    return hf_sql_decimal_compare(&x, &y);
}

/* Where a type stands in the order of classes. */
static int class_rank(const hf_sql_value *v)
{
    static const int ranks[HF_SQL_TYPE_COUNT] = {
        [HF_SQL_NULL] = 0, [HF_SQL_BOOL] = 1,     [HF_SQL_INT] = 2,
        [HF_SQL_REAL] = 2, [HF_SQL_DECIMAL] = 2,  [HF_SQL_TEXT] = 3,
        [HF_SQL_DATE] = 4, [HF_SQL_TIMESTAMP] = 5};

    return ranks[v->type];
}

static int compare_texts(const hf_sql_value *a, const hf_sql_value *b)
{
    uint32_t n = a->length < b->length ? a->length : b->length;
    int order = n ? memcmp(a->text, b->text, n) : 0;

    if (order != 0)
        return order < 0 ? -1 : 1;
    return a->length < b->length ? -1 : a->length > b->length;
}

int hf_sql_order(const hf_sql_value *a, const hf_sql_value *b)
{
    int difference = class_rank(a) - class_rank(b);

    if (difference != 0)
        return difference < 0 ? -1 : 1;
    switch (a->type) {
    case HF_SQL_NULL:
        return 0;
    case HF_SQL_TEXT:
        return compare_texts(a, b);
    case HF_SQL_BOOL:
    case HF_SQL_DATE:
    case HF_SQL_TIMESTAMP:
        return a->integer < b->integer ? -1 : a->integer > b->integer;
    default:
        return hf_sql_compare_numbers(a, b);
    }
}

uint64_t hf_sql_hash(const hf_sql_value *v)
{
    double r;
    uint64_t bits;

    switch (v->type) {
    case HF_SQL_NULL:
        return 0;
    case HF_SQL_TEXT:
        return XXH3_64bits(v->text, v->length);
    case HF_SQL_BOOL:
    case HF_SQL_DATE:
    case HF_SQL_TIMESTAMP:
        return hf_mix64((uint64_t)v->integer ^ (uint64_t)v->type << 56);
    default:
        /* equal numbers of unlike types have the same nearest double */
        r = hf_sql_to_real(v);
        if (r == 0)
            r = 0; /* no minus zero */
        memcpy(&bits, &r, sizeof(bits));
        return hf_mix64(bits);
    }
}

/* ---- scalars of histories ----------------------------------------------- */

hf_sql_value hf_sql_of_scalar(hf_scalar s)
{
    hf_sql_value v;

    switch (s.type) {
    case HF_INT:
        return hf_sql_of_int(s.number);
    case HF_BOOL:
        return hf_sql_of_bool(s.number != 0);
    case HF_TEXT:
        return hf_sql_of_text((hf_str){s.text, s.length});
    case HF_REAL:
        if (!hf_sql_number((hf_str){s.text, s.length}, &v))
            return hf_sql_null();
        if (memchr(s.text, 'e', s.length) || memchr(s.text, 'E', s.length))
            return hf_sql_of_real(hf_sql_to_real(&v));
        return v;
    default:
        return hf_sql_null();
    }
}

bool hf_sql_scalar_equal(hf_scalar recorded, const hf_sql_value *v)
{
    hf_sql_value r = hf_sql_of_scalar(recorded);
    int64_t count;

    if (recorded.type == HF_ROW || recorded.type == HF_LIST)
        return false;
    /* dates are recorded as texts, booleans of some as 0 and 1 */
    if (r.type == HF_SQL_TEXT && v->type == HF_SQL_DATE)
        return hf_sql_date(hf_sql_text_of(&r), &count) && count == v->integer;
    if (r.type == HF_SQL_TEXT && v->type == HF_SQL_TIMESTAMP)
        return hf_sql_timestamp(hf_sql_text_of(&r), &count) &&
               count == v->integer;
    return hf_sql_order(&r, v) == 0;
}

/* ---- printing ----------------------------------------------------------- */

static int print_decimal(const hf_sql_value *v, char *text, size_t size)
{
    char digits[48];
    hf_int128 c = v->decimal;
    unsigned n = 0, out = 0;

    do {
        int digit = (int)(c % 10);

        digits[n++] = (char)('0' + (digit < 0 ? -digit : digit));
        c /= 10;
    } while (c != 0 || n <= v->scale);
    HF_ASSERT(n + 3 < size);
    if (v->decimal < 0)
        text[out++] = '-';
    while (n > 0) {
        text[out++] = digits[--n];
        if (n == v->scale && n > 0)
            text[out++] = '.';
    }
    text[out] = '\0';
    return (int)out;
}

/* Do the digits stand exactly between r and another double?  Such are given
 * back by rounding to even only, and PostgreSQL does not print them. */
static bool is_between(const char *digits, double r)
{
    long double middle = strtold(digits, NULL);
    size_t n = strcspn(digits, "e");
    char exact[96];

    if (middle == (long double)r)
        return false;
    if (middle - (long double)r !=
            (long double)nextafter(r, INFINITY) - middle &&
        (long double)r - middle !=
            middle - (long double)nextafter(r, -INFINITY))
        return false;
    (void)snprintf(exact, sizeof(exact), "%.60Le", middle);
    return strncmp(exact, digits, n) == 0 &&
           exact[n + strspn(exact + n, ".0")] == 'e';
}

static bool gives_back(const char *digits, double r)
{
    return strtod(digits, NULL) == r && !is_between(digits, r);
}

/* The fewest digits that give the number back; PostgreSQL's form. */
static int print_real_postgres(double r, char *text, size_t size)
{
    char digits[40];
    int precision = 1, exponent;

    if (isnan(r))
        return snprintf(text, size, "NaN");
    if (isinf(r))
        return snprintf(text, size, r < 0 ? "-Infinity" : "Infinity");
    do
        (void)snprintf(digits, sizeof(digits), "%.*e", precision - 1, r);
    while (!gives_back(digits, r) && precision++ < 17);
    exponent = (int)strtol(strchr(digits, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 15)
        return snprintf(text, size, "%.*e", precision - 1, r);
    if (precision - 1 < exponent)
        precision = exponent + 1;
    return snprintf(text, size, "%.*f", precision - 1 - exponent, r);
}

/* 15 significant digits and always a point. */
static int print_real_sqlite(double r, char *text, size_t size)
{
    int n;

    if (isinf(r))
        return snprintf(text, size, r < 0 ? "-Inf" : "Inf");
    n = snprintf(text, size, "%.15g", r == 0 ? 0.0 : r);
    if (strpbrk(text, ".")) {
        return n;
    } else if (strchr(text, 'e')) {
        char *e = strchr(text, 'e');

        memmove(e + 2, e, strlen(e) + 1);
        e[0] = '.';
        e[1] = '0';
        return n + 2;
    }
    text[n++] = '.';
    text[n++] = '0';
    text[n] = '\0';
    return n;
}

static int print_time(const hf_sql_value *v, char *text, size_t size)
{
    const int64_t day = 86400000000;
    int64_t days = v->integer, rest = 0, year;
    unsigned month, date;
    int n;

    if (v->type == HF_SQL_TIMESTAMP) {
        days = v->integer / day - (v->integer % day < 0);
        rest = v->integer - days * day;
    }
    hf_sql_civil(days, &year, &month, &date);
    n = snprintf(text, size, "%04lld-%02u-%02u", (long long)year, month, date);
    if (v->type == HF_SQL_DATE)
        return n;
    n += snprintf(text + n, size - (size_t)n, " %02d:%02d:%02d",
                  (int)(rest / 3600000000), (int)(rest / 60000000 % 60),
                  (int)(rest / 1000000 % 60));
    if (rest % 1000000 != 0) {
        n += snprintf(text + n, size - (size_t)n, ".%06d",
                      (int)(rest % 1000000));
        while (text[n - 1] == '0')
            n--;
    }
    return n;
}

hf_str hf_sql_print(const hf_sql_value *v, hf_sql_dialect dialect,
                    hf_arena *arena)
{
    char text[96];
    int n = 0;

    switch (v->type) {
    case HF_SQL_TEXT:
        return hf_sql_text_of(v);
    case HF_SQL_BOOL:
        return v->integer ? HF_STR("true") : HF_STR("false");
    case HF_SQL_INT:
        n = snprintf(text, sizeof(text), "%lld", (long long)v->integer);
        break;
    case HF_SQL_DECIMAL:
        n = print_decimal(v, text, sizeof(text));
        break;
    case HF_SQL_REAL:
        n = dialect == HF_SQL_SQLITE
                ? print_real_sqlite(v->real, text, sizeof(text) - 4)
                : print_real_postgres(v->real, text, sizeof(text));
        break;
    case HF_SQL_DATE:
    case HF_SQL_TIMESTAMP:
        n = print_time(v, text, sizeof(text));
        break;
    default:
        break;
    }
    return (hf_str){hf_arena_text(arena, text, (size_t)n), (size_t)n};
}
