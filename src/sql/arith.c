/* arith.c: + - * / % and the sign, as each dialect does them.
 *
 * PostgreSQL: integers have a width and overflow is an error; decimals are
 * exact; / of integers drops the rest.  SQLite: integers of 64 bits turn into
 * floating point when they overflow, there are no decimals, division by zero
 * is NULL.  Not known: only where both ways give the same number.
 */
#include "sql/eval.h"

#include <math.h>

#include "base/error.h"

/* ---- integers ----------------------------------------------------------- */

/* False: overflow (or, for / and %, a divisor of zero: not asked here). */
static bool integers(char op, int64_t a, int64_t b, int64_t *ret)
{
    switch (op) {
    case '+':
        return !__builtin_add_overflow(a, b, ret);
    case '-':
        return !__builtin_sub_overflow(a, b, ret);
    case '*':
        return !__builtin_mul_overflow(a, b, ret);
    case '/':
        if (b == -1)
            return !__builtin_sub_overflow((int64_t)0, a, ret);
        *ret = a / b;
        return true;
    default:
        *ret = b == -1 ? 0 : a % b;
        return true;
    }
}

static unsigned width_of(const hf_sql_value *v)
{
    unsigned note = v->note & (HF_SQL_NOTE_INT4 | HF_SQL_NOTE_INT8);

    /* a number that does not fit into 32 bits was not stored in them */
    if (note == 0 && v->integer != (int32_t)v->integer)
        return HF_SQL_NOTE_INT8;
    return note;
}

static bool postgres_width(hf_sql_eval *ev, unsigned width, hf_sql_value *v)
{
    if (v->integer != (int32_t)v->integer) {
        if (width == HF_SQL_NOTE_INT4)
            return hf_sql_raise(ev, "integer out of range");
        if (width == 0)
            return hf_sql_unsaid(ev, "a column's width decides about overflow");
    }
    v->note = (uint8_t)width;
    return true;
}

static bool int_arithmetic(hf_sql_eval *ev, char op, const hf_sql_value *a,
                           const hf_sql_value *b, hf_sql_value *ret)
{
    unsigned x, y, width;
    int64_t n = 0;

    if ((op == '/' || op == '%') && b->integer == 0)
        return hf_sql_refuse(ev, "division by zero");
    if (op == '/' && ev->dialect == HF_SQL_ANY && b->integer != -1 &&
        a->integer % b->integer != 0)
        return hf_sql_unsaid(ev, "databases differ about division with a rest");
    if (!integers(op, a->integer, b->integer, &n))
        return hf_sql_refuse(ev, "integer overflow");
    *ret = hf_sql_of_int(n);
    if (ev->dialect != HF_SQL_POSTGRES)
        return true;
    x = width_of(a);
    y = width_of(b);
    if (x == HF_SQL_NOTE_INT8 || y == HF_SQL_NOTE_INT8)
        width = HF_SQL_NOTE_INT8;
    else
        width = x == HF_SQL_NOTE_INT4 && y == HF_SQL_NOTE_INT4
                    ? HF_SQL_NOTE_INT4
                    : 0;
    return postgres_width(ev, width, ret);
}

/* ---- decimals and floating point ---------------------------------------- */

static bool reals(char op, double a, double b, double *ret)
{
    switch (op) {
    case '+':
        *ret = a + b;
        return true;
    case '-':
        *ret = a - b;
        return true;
    case '*':
        *ret = a * b;
        return true;
    case '/':
        *ret = a / b;
        return true;
    default:
        return false;
    }
}

static bool decimals(char op, hf_sql_value a, hf_sql_value b, hf_sql_value *ret)
{
    switch (op) {
    case '+':
        return hf_sql_decimal_add(a, b, ret);
    case '-':
        return hf_sql_decimal_sub(a, b, ret);
    case '*':
        return hf_sql_decimal_mul(a, b, ret);
    case '/':
        return hf_sql_decimal_div(a, b, ret);
    default:
        return hf_sql_decimal_mod(a, b, ret);
    }
}

static bool decimal_arithmetic(hf_sql_eval *ev, char op, hf_sql_value a,
                               hf_sql_value b, hf_sql_value *ret)
{
    double r = 0;

    b = hf_sql_to_decimal(b);
    if ((op == '/' || op == '%') && b.decimal == 0)
        return hf_sql_refuse(ev, "division by zero");
    if (!decimals(op, a, b, ret))
        return hf_sql_unsaid(ev, "a decimal has too many digits");
    if (ev->dialect != HF_SQL_ANY)
        return true;
    /* some have decimals, some only floating point */
    if (!reals(op, hf_sql_to_real(&a), hf_sql_to_real(&b), &r) ||
        r != hf_sql_to_real(ret) || op == '/')
        return hf_sql_unsaid(ev, "databases differ about decimals here");
    return true;
}

static bool real_arithmetic(hf_sql_eval *ev, char op, const hf_sql_value *a,
                            const hf_sql_value *b, hf_sql_value *ret)
{
    double x = hf_sql_to_real(a), y = hf_sql_to_real(b), r;

    if (op == '/' && y == 0)
        return hf_sql_refuse(ev, "division by zero");
    if (!reals(op, x, y, &r))
        return hf_sql_refuse(ev, "%% of floating point numbers");
    if (isinf(r) && !isinf(x) && !isinf(y))
        return hf_sql_refuse(ev, "floating point overflow");
    if (r == 0 && op != '+' && op != '-' && x != 0 && y != 0 && !isinf(y))
        return hf_sql_refuse(ev, "floating point underflow");
    *ret = hf_sql_of_real(r);
    return true;
}

/* ---- dates -------------------------------------------------------------- */

static bool date_arithmetic(hf_sql_eval *ev, char op, const hf_sql_value *a,
                            const hf_sql_value *b, hf_sql_value *ret)
{
    const int64_t limit = 2000000;
    int64_t n;

    if (ev->dialect == HF_SQL_ANY)
        return hf_sql_unsaid(ev, "databases differ about arithmetic of dates");
    if (a->type == HF_SQL_DATE && b->type == HF_SQL_DATE && op == '-') {
        *ret = hf_sql_of_int(a->integer - b->integer);
        ret->note = HF_SQL_NOTE_INT4;
        return true;
    }
    if (op == '+' && a->type == HF_SQL_INT && b->type == HF_SQL_DATE)
        n = b->integer;
    else if ((op == '+' || op == '-') && a->type == HF_SQL_DATE &&
             b->type == HF_SQL_INT)
        n = a->integer;
    else
        return hf_sql_raise(ev, "no operator %s %c %s",
                            hf_sql_type_name(a->type, a->note), op,
                            hf_sql_type_name(b->type, b->note));
    if ((a->type == HF_SQL_INT ? a : b)->note & HF_SQL_NOTE_INT8)
        return hf_sql_raise(ev, "no operator date %c bigint", op);
    if (a->type == HF_SQL_INT)
        n = a->integer > limit || a->integer < -limit ? limit * 2
                                                      : n + a->integer;
    else if (b->integer > limit || b->integer < -limit)
        n = limit * 2;
    else
        n = op == '+' ? n + b->integer : n - b->integer;
    /* years 1 to 5800, roughly: what we read and print as they do */
    if (n < -730000 || n > 1388000)
        return hf_sql_unsaid(ev, "a date too far away");
    *ret = hf_sql_of_time(HF_SQL_DATE, n);
    return true;
}

/* ---- SQLite ------------------------------------------------------------- */

static int64_t sqlite_int(const hf_sql_value *v)
{
    if (v->type == HF_SQL_INT)
        return v->integer;
    if (v->real >= 9223372036854775808.0)
        return INT64_MAX;
    return v->real < -9223372036854775808.0 ? INT64_MIN : (int64_t)v->real;
}

static hf_sql_value sqlite_real(double r)
{
    return isnan(r) ? hf_sql_null() : hf_sql_of_real(r);
}

static void sqlite_arithmetic(char op, const hf_sql_value *left,
                              const hf_sql_value *right, hf_sql_value *ret)
{
    hf_sql_value a = hf_sqlite_number(left), b = hf_sqlite_number(right);
    bool whole = a.type == HF_SQL_INT && b.type == HF_SQL_INT;
    int64_t n;
    double r = 0;

    *ret = hf_sql_null();
    if (op == '%') {
        if (sqlite_int(&b) == 0)
            return;
        (void)integers(op, sqlite_int(&a), sqlite_int(&b), &n);
        *ret = whole ? hf_sql_of_int(n) : hf_sql_of_real((double)n);
        return;
    }
    if (op == '/' && (whole ? b.integer == 0 : hf_sql_to_real(&b) == 0))
        return;
    if (whole && integers(op, a.integer, b.integer, &n)) {
        *ret = hf_sql_of_int(n);
        return;
    }
    (void)reals(op, hf_sql_to_real(&a), hf_sql_to_real(&b), &r);
    *ret = sqlite_real(r);
}

/* ---- the entry ---------------------------------------------------------- */

bool hf_sql_arithmetic(hf_sql_eval *ev, char op, hf_sql_value a, hf_sql_value b,
                       hf_sql_value *ret)
{
    if (a.type == HF_SQL_NULL || b.type == HF_SQL_NULL) {
        *ret = hf_sql_null();
        return true;
    }
    if (ev->dialect == HF_SQL_SQLITE) {
        sqlite_arithmetic(op, &a, &b, ret);
        return true;
    }
    if (a.type == HF_SQL_INT && b.type == HF_SQL_INT)
        return int_arithmetic(ev, op, &a, &b, ret);
    if (ev->dialect == HF_SQL_POSTGRES &&
        ((a.note & HF_SQL_NOTE_LITERAL && !hf_sql_literal_as(ev, &b, &a)) ||
         (b.note & HF_SQL_NOTE_LITERAL && !hf_sql_literal_as(ev, &a, &b))))
        return false;
    if (hf_sql_is_number(&a) && hf_sql_is_number(&b)) {
        if (a.type == HF_SQL_REAL || b.type == HF_SQL_REAL)
            return real_arithmetic(ev, op, &a, &b, ret);
        if (a.type == HF_SQL_INT && b.type == HF_SQL_INT)
            return int_arithmetic(ev, op, &a, &b, ret);
        return decimal_arithmetic(ev, op, a, b, ret);
    }
    if (a.type == HF_SQL_DATE || b.type == HF_SQL_DATE)
        return date_arithmetic(ev, op, &a, &b, ret);
    return hf_sql_refuse(ev, "%s %c %s", hf_sql_type_name(a.type, a.note), op,
                         hf_sql_type_name(b.type, b.note));
}

bool hf_sql_negate(hf_sql_eval *ev, hf_sql_value a, hf_sql_value *ret)
{
    hf_sql_value zero = hf_sql_of_int(0);

    if (ev->dialect == HF_SQL_SQLITE && a.type != HF_SQL_NULL)
        a = hf_sqlite_number(&a);
    switch (a.type) {
    case HF_SQL_REAL: /* SQLite subtracts from zero: no minus zero */
        *ret =
            hf_sql_of_real(ev->dialect == HF_SQL_SQLITE ? 0 - a.real : -a.real);
        return true;
    case HF_SQL_DECIMAL:
        *ret = hf_sql_of_decimal(-a.decimal, a.scale);
        return true;
    case HF_SQL_DATE:
    case HF_SQL_TIMESTAMP:
        return hf_sql_refuse(ev, "the negative of a date");
    default:
        zero.note = a.type == HF_SQL_INT ? a.note : 0;
        return hf_sql_arithmetic(ev, '-', zero, a, ret);
    }
}
