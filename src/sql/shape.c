/* shape.c: one parse for many conditions.
 *
 * A workload asks the same condition with other numbers again and again:
 * `c1 >= 388 AND c1 <= 397`.  The parser takes tens of microseconds for each;
 * so whole numbers are replaced by parameters, the result is parsed once, and
 * bound for each condition with its numbers as their values.  A number behind
 * a sign stays, since the parser joins the two, unless the sign cannot but be
 * a part of it (`c1 >= -5 AND`); so does everything in quotes.  O(length).
 */
#include "sql/shape.h"

#include <string.h>

enum { NAME = 1, PLAIN = 2, BLANK = 4, SIGNABLE = 8 };

/* PLAIN: symbols that need no thought; the rest is for the parser alone.
 * SIGNABLE: a minus behind it is no operator. */
static const uint8_t kinds[256] = {['a' ... 'z'] = NAME,
                                   ['A' ... 'Z'] = NAME,
                                   ['0' ... '9'] = NAME,
                                   ['_'] = NAME,
                                   [0x80 ... 0xff] = NAME,
                                   [' '] = PLAIN | BLANK,
                                   ['\t'] = PLAIN | BLANK,
                                   ['\n'] = PLAIN | BLANK,
                                   ['<'] = PLAIN | SIGNABLE,
                                   ['>'] = PLAIN | SIGNABLE,
                                   ['='] = PLAIN | SIGNABLE,
                                   ['('] = PLAIN | SIGNABLE,
                                   [','] = PLAIN | SIGNABLE,
                                   ['!'] = PLAIN,
                                   [')'] = PLAIN,
                                   ['+'] = PLAIN,
                                   ['-'] = PLAIN,
                                   ['*'] = PLAIN,
                                   ['%'] = PLAIN,
                                   ['.'] = PLAIN,
                                   ['\''] = PLAIN};

static inline bool is(char c, unsigned kind)
{
    return kinds[(unsigned char)c] & kind;
}

static inline bool is_digit(char c)
{
    return (unsigned)(unsigned char)c - '0' <= 9;
}

static inline bool is_name(char c)
{
    return is(c, NAME);
}

/* The end of the quoted text that begins here; NULL: not closed. */
static const char *quoted(const char *p, const char *end)
{
    for (p++; p < end; p++) {
        if (*p == '\\')
            return NULL;
        if (*p != '\'')
            continue;
        if (p + 1 == end || p[1] != '\'')
            return p + 1;
        p++;
    }
    return NULL;
}

/* Digits that are a number of their own, of at most nine. */
static const char *number_end(const char *p, const char *end, char before)
{
    const char *at = p;

    while (at < end && is_digit(*at))
        at++;
    if (at == p || at - p > 9 || before == '-' || before == '+' ||
        before == '.' || (at < end && (*at == '.' || is_name(*at))))
        return NULL;
    return at;
}

static bool put(hf_sql_shape *s, const char *from, size_t n)
{
    if (s->length + n >= HF_SHAPE_LENGTH)
        return false;
    memcpy(s->text + s->length, from, n);
    s->length += n;
    return true;
}

static bool take_number(hf_sql_shape *s, const char *from, const char *to)
{
    char name[4] = "$";
    size_t n = 1;

    if (s->n == HF_SHAPE_NUMBERS ||
        !hf_str_to_int((hf_str){from, (size_t)(to - from)}, &s->numbers[s->n]))
        return false;
    s->n++;
    if (s->n >= 10)
        name[n++] = (char)('0' + s->n / 10);
    name[n++] = (char)('0' + s->n % 10);
    return put(s, name, n);
}

/* A minus that is a part of the number behind it, and that number no operand
 * of anything but a comparison: the end of both, else NULL. */
static const char *signed_end(const char *p, const char *end, char before)
{
    const char *to, *next;

    if (!(p[-1] == ' ' || p[-1] == '(' || p[-1] == ',') ||
        !is(before, SIGNABLE))
        return NULL;
    to = number_end(p + 1, end, ' ');
    for (next = to; next && next < end && *next == ' ';)
        next++;
    return next && (next == end || strchr("),", *next) || is_name(*next))
               ? to
               : NULL;
}

bool hf_sql_shape_of(hf_str text, hf_sql_shape *ret)
{
    const char *p = text.ptr, *end = p + text.len, *to;
    char before = ' '; /* the last character that is no space */

    ret->length = ret->n = 0;
    while (p < end) {
        to = *p == '-' && p > text.ptr ? signed_end(p, end, before) : NULL;
        if (to || is_digit(*p)) {
            if (!to)
                to = number_end(p, end, before);
            if (!to || !take_number(ret, p, to))
                return false;
        } else {
            if (!is(*p, NAME | PLAIN))
                return false;
            if (p + 1 < end && *p == '-' && p[1] == '-')
                return false;
            to = p + 1;
            if (*p == '\'')
                to = quoted(p, end);
            else if (is_name(*p))
                while (to < end && is_name(*to))
                    to++;
            if (!to || !put(ret, p, (size_t)(to - p)))
                return false;
        }
        if (!is(to[-1], BLANK))
            before = to[-1];
        p = to;
    }
    return ret->n > 0;
}
