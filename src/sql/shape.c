/* shape.c: one parse for many conditions.
 *
 * A workload asks the same condition with other numbers again and again:
 * `c1 >= 388 AND c1 <= 397`.  The parser takes tens of microseconds for each;
 * so whole numbers are replaced by parameters, the result is parsed once, and
 * each condition is a copy of that tree with its numbers filled in.  A number
 * behind a sign stays, since the parser joins the two, unless the sign cannot
 * but be a part of it (`c1 >= -5 AND`); so does everything in quotes.
 * O(length) and O(nodes).
 */
#include "sql/shape.h"

#include <string.h>

static inline bool is_digit(char c)
{
    return (unsigned)(unsigned char)c - '0' <= 9;
}

static inline bool is_name(char c)
{
    return ((unsigned)(unsigned char)c | 0x20u) - 'a' < 26 || is_digit(c) ||
           c == '_' || (unsigned char)c >= 0x80;
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

    if (*p != '-' || !(p[-1] == ' ' || p[-1] == '(' || p[-1] == ',') ||
        !strchr("<>=(,", before))
        return NULL;
    to = number_end(p + 1, end, ' ');
    for (next = to; next && next < end && *next == ' ';)
        next++;
    return next && (next == end || strchr("),", *next) || is_name(*next))
               ? to
               : NULL;
}

/* Symbols that need no thought; the rest is for the parser alone. */
static bool is_plain(char c)
{
    return c != 0 && strchr(" \t\n<>=!()+-*%,.'", c) != NULL;
}

bool hf_sql_shape_of(hf_str text, hf_sql_shape *ret)
{
    const char *p = text.ptr, *end = p + text.len, *to;
    char before = ' '; /* the last character that is no space */

    ret->length = ret->n = 0;
    while (p < end) {
        to = p > text.ptr ? signed_end(p, end, before) : NULL;
        if (to || is_digit(*p)) {
            if (!to)
                to = number_end(p, end, before);
            if (!to || !take_number(ret, p, to))
                return false;
        } else {
            if (!is_name(*p) && !is_plain(*p))
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
        if (!(to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\n'))
            before = to[-1];
        p = to;
    }
    return ret->n > 0;
}

hf_sql_node *hf_sql_shape_fill(hf_arena *arena, const hf_sql_node *node,
                               const hf_sql_shape *shape)
{
    hf_sql_node *made = hf_arena_get(arena, sizeof(*made));

    *made = *node;
    if (node->select || node->plan)
        return NULL;
    if (node->kind == HF_N_PARAM) {
        if (node->slot >= shape->n)
            return NULL;
        *made = (hf_sql_node){.kind = HF_N_CONST, .modifier = node->modifier};
        made->value = hf_sql_of_int(shape->numbers[node->slot]);
        made->value.note = HF_SQL_NOTE_INT4;
        return made;
    }
    if (node->n > 0)
        made->args = hf_arena_get(arena, node->n * sizeof(*made->args));
    for (uint32_t i = 0; i < node->n; i++) {
        if (!node->args[i])
            continue;
        made->args[i] = hf_sql_shape_fill(arena, node->args[i], shape);
        if (!made->args[i])
            return NULL;
    }
    return made;
}
