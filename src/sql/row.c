/* row.c: the columns of a recorded row, out of the text of its JSON object.
 *
 * One pass over the text up to the column, nothing allocated unless a text
 * has escapes.  O(length of the row).
 */
#include "sql/value.h"

#include <string.h>

#include <ctype.h>
#include <strings.h>

#include "base/json_in.h"

typedef struct reader {
    const char *at, *end;
    bool escaped; /* the last string had a backslash */
} reader;

static void skip_blanks(reader *r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at))
        r->at++;
}

static bool take(reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* A string as it stands between its quotes. */
static bool take_string(reader *r, hf_str *ret)
{
    const char *start;

    if (!take(r, '"'))
        return false;
    start = r->at;
    r->escaped = false;
    while (r->at < r->end && *r->at != '"') {
        if (*r->at == '\\') {
            r->escaped = true;
            r->at++;
        }
        if (r->at < r->end)
            r->at++;
    }
    if (r->at >= r->end)
        return false;
    *ret = (hf_str){start, (size_t)(r->at - start)};
    r->at++;
    return true;
}

/* Passes over one value; nested ones by counting brackets. */
static bool skip_value(reader *r)
{
    unsigned depth = 0;
    hf_str ignored;

    skip_blanks(r);
    do {
        if (r->at >= r->end)
            return false;
        switch (*r->at) {
        case '"':
            if (!take_string(r, &ignored))
                return false;
            break;
        case '{':
        case '[':
            depth++;
            r->at++;
            break;
        case '}':
        case ']':
            if (depth == 0)
                return false;
            depth--;
            r->at++;
            break;
        default:
            r->at++;
        }
        /* a number or a word ends where its bracket or comma is */
    } while (depth > 0 || (r->at < r->end && *r->at != ',' && *r->at != '}'));
    return true;
}

/* A string with escapes, written out by the JSON reader. */
static bool unescape(hf_str raw, hf_arena *arena, hf_str *ret)
{
    hf_json_in j;
    hf_str text;
    bool ok;

    if (!arena)
        return false;
    hf_json_in_init(&j, raw.ptr - 1, raw.len + 2); /* with its quotes */
    ok = hf_json_in_string(&j, &text);
    if (ok)
        *ret = (hf_str){hf_arena_text(arena, text.ptr, text.len), text.len};
    hf_json_in_release(&j);
    return ok;
}

/* fold: unquoted SQL names are the same in any case. */
static bool same_name(hf_str a, hf_str b, bool fold)
{
    return fold ? a.len == b.len && strncasecmp(a.ptr, b.ptr, a.len) == 0
                : hf_str_eq(a, b);
}

static bool key_is(const reader *r, hf_str key, hf_str name, bool fold)
{
    hf_arena scratch;
    hf_str plain;
    bool same;

    if (!r->escaped)
        return same_name(key, name, fold);
    hf_arena_init(&scratch);
    same = unescape(key, &scratch, &plain) && same_name(plain, name, fold);
    hf_arena_release(&scratch);
    return same;
}

static bool take_plain_value(reader *r, hf_arena *arena, hf_sql_value *ret)
{
    const char *start;
    hf_str s;

    skip_blanks(r);
    start = r->at;
    if (start == r->end || *start == '{' || *start == '[')
        return false;
    if (*start == '"') {
        if (!take_string(r, &s) || (r->escaped && !unescape(s, arena, &s)))
            return false;
        *ret = hf_sql_of_text(s);
        return true;
    }
    if (!skip_value(r))
        return false;
    s = (hf_str){start, (size_t)(r->at - start)};
    while (s.len > 0 && isspace((unsigned char)s.ptr[s.len - 1]))
        s.len--;
    if (hf_str_eq(s, HF_STR("null")))
        *ret = hf_sql_null();
    else if (hf_str_eq(s, HF_STR("true")) || hf_str_eq(s, HF_STR("false")))
        *ret = hf_sql_of_bool(s.len == 4);
    else
        return hf_sql_number(s, ret);
    return true;
}

/* Goes to the value of the column. */
static bool find_key(reader *r, hf_str name, bool fold)
{
    hf_str key;

    if (!take(r, '{'))
        return false;
    do {
        if (!take_string(r, &key))
            return false;
        if (key_is(r, key, name, fold))
            return take(r, ':');
        if (!take(r, ':') || !skip_value(r))
            return false;
    } while (take(r, ','));
    return false;
}

/* A whole number of at most 18 digits behind `"name":`, in a row that holds no
 * other object.  Inside a text a quote has a backslash before it, so what is
 * found behind { or a comma is a key.  False: take the long way. */
static bool quick_number(hf_scalar row, hf_str name, hf_sql_value *ret)
{
    const char *p = row.text, *end = p + row.length, *digits;
    int64_t n = 0;
    bool minus;

    if (row.length < 5 || *p != '{' || memchr(p + 1, '{', row.length - 1))
        return false;
    for (; end - p > (ptrdiff_t)name.len + 4; p++) {
        p = memchr(p, '"', (size_t)(end - p));
        if (!p || end - p <= (ptrdiff_t)name.len + 3)
            return false;
        if ((p[-1] == '{' || p[-1] == ',') &&
            memcmp(p + 1, name.ptr, name.len) == 0 && p[name.len + 1] == '"' &&
            p[name.len + 2] == ':')
            break;
    }
    if (end - p <= (ptrdiff_t)name.len + 4)
        return false;
    p += name.len + 3;
    minus = *p == '-';
    p += minus;
    for (digits = p; p < end && *p >= '0' && *p <= '9'; p++)
        n = p - digits < 18 ? 10 * n + (*p - '0') : n;
    if (p == digits || p - digits > 18 || p == end || (*p != ',' && *p != '}'))
        return false;
    *ret = hf_sql_of_int(minus ? -n : n);
    return true;
}

bool hf_sql_row_column(hf_scalar row, hf_str name, hf_arena *arena,
                       hf_sql_value *ret)
{
    reader r;

    if (row.type != HF_ROW) {
        if (row.type == HF_LIST || !hf_str_eq(name, HF_STR("value")))
            return false;
        *ret = hf_sql_of_scalar(row);
        return true;
    }
    if (quick_number(row, name, ret))
        return true;
    r = (reader){row.text, row.text + row.length, false};
    if (!find_key(&r, name, false)) {
        r = (reader){row.text, row.text + row.length, false};
        if (!find_key(&r, name, true))
            return false;
    }
    return take_plain_value(&r, arena, ret);
}
