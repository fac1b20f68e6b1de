/* conditions.c: forms of conditions, and SQL's three truth values. */
#include "conditions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct form {
    char name;
    const char *text; /* for printf, and for scanf */
    int numbers;
    bool rows; /* about the columns of a row, not a plain value */
    bool odd;  /* not to be decided */
} form;

static const form forms[] = {
    {'t', "true", 0, false, false},
    {'<', "value < %d", 1, false, false},
    {'>', "value > %d", 1, false, false},
    {'=', "value = %d", 1, false, false},
    {'g', "value >= %d", 1, false, false},
    {'n', "value <> %d", 1, false, false},
    {'b', "value BETWEEN %d AND %d", 2, false, false},
    {'i', "value IN (%d, %d)", 2, false, false},
    {'3', "value %% 3 = %d", 1, false, false},
    {'!', "NOT value < %d", 1, false, false},
    {'o', "value < %d OR value > %d", 2, false, false},
    {'a', "value > %d AND value < %d", 2, false, false},
    {'0', "value IS NULL", 0, false, false},
    {'x', "NOT (value BETWEEN %d AND %d)", 2, false, false},
    {'?', "value / 2 = %d", 1, false, true},
    {'T', "TRUE", 0, true, false},
    {'A', "a < %d", 1, true, false},
    {'B', "b = %d", 1, true, false},
    {'C', "a = %d AND b >= %d", 2, true, false},
    {'D', "a IS NULL", 0, true, false},
    {'E', "a IS NOT NULL AND b < %d", 1, true, false},
    {'F', "NOT a = %d", 1, true, false},
    {'G', "a < %d OR b = %d", 2, true, false},
    {'H', "c = 'odd'", 0, true, false},
    {'I', "c IN ('odd', 'none') AND b < %d", 1, true, false},
    {'J', "b BETWEEN %d AND %d", 2, true, false},
    {'K', "NOT (a > %d AND b > %d)", 2, true, false},
    {'L', "a + b = %d", 1, true, false},
    {'M', "a NOT IN (%d, %d)", 2, true, false},
    {'Q', "a >= %d AND b <= %d", 2, true, false},
    {'R', "a < %d AND b > %d AND c = 'odd'", 2, true, false},
    {'S', "a <> %d AND (b < %d OR b > 3)", 2, true, false},
    {'P', "c > 'm'", 0, true, true},
};

#define N_FORMS (sizeof(forms) / sizeof(forms[0]))

static const form *form_of(char name)
{
    for (size_t i = 0; i < N_FORMS; i++)
        if (forms[i].name == name)
            return &forms[i];
    fprintf(stderr, "no condition \"%c\"\n", name);
    exit(2);
}

bool condition_is_odd(char name)
{
    return form_of(name)->odd;
}

void condition_text(condition c, char *text, size_t size)
{
    const form *f = form_of(c.form);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(text, size, f->text, c.p, c.q);
#pragma GCC diagnostic pop
}

bool condition_parse(hf_str text, condition *ret)
{
    char given[80], again[80];

    if (text.len >= sizeof(given))
        return false;
    memcpy(given, text.ptr, text.len);
    given[text.len] = '\0';
    for (size_t i = 0; i < N_FORMS; i++) {
        condition c = {forms[i].name, 0, 0};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)sscanf(given, forms[i].text, &c.p, &c.q);
#pragma GCC diagnostic pop
        condition_text(c, again, sizeof(again));
        if (strcmp(given, again) == 0) {
            *ret = c;
            return true;
        }
    }
    return false;
}

static condition draw(hf_rng *r, bool rows, bool odd)
{
    for (;;) {
        const form *f = &forms[hf_rng_below(r, N_FORMS)];
        condition c = {f->name, 0, 0};

        if (f->rows != rows || f->odd != odd)
            continue;
        c.p = f->numbers > 0 ? (int)hf_rng_below(r, rows ? 3 : 5) : 0;
        if (f->name == '3')
            c.p %= 3;
        if (f->numbers > 1)
            c.q = c.p + (int)hf_rng_below(r, 4);
        return c;
    }
}

condition condition_random(hf_rng *r, bool rows)
{
    return draw(r, rows, false);
}

condition condition_random_odd(hf_rng *r, bool rows)
{
    return draw(r, rows, true);
}

/* ---- rows ---------------------------------------------------------------- */

void row_text(int number, char *text, size_t size)
{
    const char *c = number % 2 ? "odd" : "even";

    if (number % 4 == 3)
        (void)snprintf(text, size, "{\"a\":null,\"b\":%d,\"c\":\"%s\"}",
                       number / 3, c);
    else
        (void)snprintf(text, size, "{\"a\":%d,\"b\":%d,\"c\":\"%s\"}",
                       number % 4, number / 3, c);
}

bool row_column(hf_scalar value, char column, int64_t *ret)
{
    char row[120], name[8];
    const char *at;

    if (value.type == HF_INT && column == 'v') {
        *ret = value.number;
        return true;
    }
    if (value.type != HF_ROW || value.length >= sizeof(row))
        return false;
    memcpy(row, value.text, value.length);
    row[value.length] = '\0';
    (void)snprintf(name, sizeof(name), "\"%c\":", column);
    at = strstr(row, name);
    if (!at)
        return false;
    at += strlen(name);
    if (*at == '"') {
        *ret = at[1] == 'o';
        return true;
    }
    *ret = strtol(at, NULL, 10);
    return *at != 'n';
}

/* ---- truth --------------------------------------------------------------- */

typedef enum truth { NO, YES, MAYBE } truth;

static truth of(bool b)
{
    return b ? YES : NO;
}

static truth both(truth a, truth b)
{
    if (a == NO || b == NO)
        return NO;
    return a == YES && b == YES ? YES : MAYBE;
}

static truth not(truth a)
{
    return a == MAYBE ? MAYBE : of(a == NO);
}

static truth either(truth a, truth b)
{
    return not(both(not(a), not(b)));
}

typedef struct column {
    bool known;
    int64_t n;
} column;

static truth below(column x, int64_t n)
{
    return x.known ? of(x.n < n) : MAYBE;
}

static truth equals(column x, int64_t n)
{
    return x.known ? of(x.n == n) : MAYBE;
}

static truth above(column x, int64_t n)
{
    return x.known ? of(x.n > n) : MAYBE;
}

static truth plain_holds(condition c, column v)
{
    switch (c.form) {
    case 't':
        return YES;
    case '<':
        return below(v, c.p);
    case '>':
        return above(v, c.p);
    case '=':
        return equals(v, c.p);
    case 'g':
    case '!':
        return not(below(v, c.p));
    case 'n':
        return not(equals(v, c.p));
    case 'b':
        return not(either(below(v, c.p), above(v, c.q)));
    case 'i':
        return either(equals(v, c.p), equals(v, c.q));
    case '3':
        v.n %= 3;
        return equals(v, c.p);
    case 'o':
        return either(below(v, c.p), above(v, c.q));
    case 'a':
        return both(above(v, c.p), below(v, c.q));
    case 'x':
        return either(below(v, c.p), above(v, c.q));
    default: /* '0': there is a value */
        return NO;
    }
}

static truth row_holds(condition c, column a, column b, column odd)
{
    column sum = {a.known && b.known, a.n + b.n};

    switch (c.form) {
    case 'T':
        return YES;
    case 'A':
        return below(a, c.p);
    case 'B':
        return equals(b, c.p);
    case 'C':
        return both(equals(a, c.p), not(below(b, c.q)));
    case 'D':
        return of(!a.known);
    case 'E':
        return both(of(a.known), below(b, c.p));
    case 'F':
        return not(equals(a, c.p));
    case 'G':
        return either(below(a, c.p), equals(b, c.q));
    case 'H':
        return equals(odd, 1);
    case 'I':
        return both(equals(odd, 1), below(b, c.p));
    case 'J':
        return not(either(below(b, c.p), above(b, c.q)));
    case 'K':
        return not(both(above(a, c.p), above(b, c.q)));
    case 'L':
        return equals(sum, c.p);
    case 'Q':
        return both(not(below(a, c.p)), not(above(b, c.q)));
    case 'R':
        return both(both(below(a, c.p), above(b, c.q)), equals(odd, 1));
    case 'S':
        return both(not(equals(a, c.p)), either(below(b, c.q), above(b, 3)));
    default: /* 'M' */
        return not(either(equals(a, c.p), equals(a, c.q)));
    }
}

bool condition_holds(condition c, hf_scalar value)
{
    column v = {0}, a = {0}, b = {0}, odd = {0};

    if (value.type == HF_NIL)
        return false;
    if (!form_of(c.form)->rows) {
        v.known = row_column(value, 'v', &v.n);
        return plain_holds(c, v) == YES;
    }
    a.known = row_column(value, 'a', &a.n);
    b.known = row_column(value, 'b', &b.n);
    odd.known = row_column(value, 'c', &odd.n);
    return row_holds(c, a, b, odd) == YES;
}
