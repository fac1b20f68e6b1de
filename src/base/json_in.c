/* json_in.c: reading JSON by pulling. */
#include "base/json_in.h"

#include <stdarg.h>
#include <stdio.h>

#define DEPTH_MAX 64 /* of values that are skipped */

void hf_json_in_init(hf_json_in *j, const char *text, size_t length)
{
    *j = (hf_json_in){
        .start = text, .at = text, .end = text + length, .first_line = 1};
    for (int i = 0; i < 4; i++)
        hf_out_init_memory(&j->scratch[i]);
}

void hf_json_in_release(hf_json_in *j)
{
    for (int i = 0; i < 4; i++)
        hf_out_release(&j->scratch[i]);
}

uint64_t hf_json_in_line(const hf_json_in *j)
{
    uint64_t line = j->first_line;

    for (const char *p = j->start; p < j->at; p++) {
        p = memchr(p, '\n', (size_t)(j->at - p));
        if (!p)
            break;
        line++;
    }
    return line;
}

bool hf_json_in_fail(hf_json_in *j, const char *format, ...)
{
    char text[sizeof(j->err.text)];
    va_list args;

    if (j->failed)
        return false;
    j->failed = true;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)hf_fail_line(&j->err, hf_json_in_line(j), "%s", text);
    j->at = j->end; /* nothing more will be read */
    return false;
}

/* Fails with what was expected and what is there. */
static bool expected(hf_json_in *j, const char *what)
{
    char quoted[48];
    size_t left = (size_t)(j->end - j->at), n = 0;

    if (left == 0)
        return hf_json_in_fail(j, "expected %s, found the end of the input",
                               what);
    while (n < left && n < 24 && j->at[n] != '\n')
        n++;
    if (n == 0)
        return hf_json_in_fail(j, "expected %s, found the end of the line",
                               what);
    return hf_json_in_fail(j, "expected %s, found \"%s\"", what,
                           hf_quote(quoted, sizeof(quoted), j->at, n));
}

static inline bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

char hf_json_in_peek_slow(hf_json_in *j)
{
    while (j->at < j->end && is_space(*j->at))
        j->at++;
    if (j->at == j->end)
        return 0;
    if (*j->at == 0) /* told from the end, which callers take a 0 for */
        (void)hf_json_in_fail(j, "expected JSON, found a zero byte");
    return j->at < j->end ? *j->at : 0;
}

bool hf_json_in_open(hf_json_in *j, char bracket)
{
    if (hf_json_in_peek(j) != bracket)
        return expected(j, bracket == '{' ? "an object" : "an array");
    j->at++;
    return true;
}

/* After an opening bracket or a value: is there another member?  Eats the
 * comma or the closing bracket. */
static bool another(hf_json_in *j, char closer)
{
    char c = hf_json_in_peek(j);
    const char *p = j->at;

    if (j->failed)
        return false;
    if (c == closer) {
        j->at++;
        return false;
    }
    /* A member right after '{' or '[' has no comma before it. */
    do
        p--;
    while (p >= j->start && is_space(*p));
    if (p >= j->start && (*p == '{' || *p == '['))
        return c != 0 || expected(j, closer == '}' ? "a field" : "a value");
    if (c != ',')
        return expected(j, closer == '}' ? "\",\" or \"}\"" : "\",\" or \"]\"");
    j->at++;
    c = hf_json_in_peek(j);
    return (c != closer && c != 0) ||
           expected(j, closer == '}' ? "a field" : "a value");
}

bool hf_json_in_next_key(hf_json_in *j, hf_str *ret_key)
{
    if (!another(j, '}') || !hf_json_in_string(j, ret_key))
        return false;
    if (hf_json_in_peek(j) != ':')
        return expected(j, "\":\"");
    j->at++;
    return true;
}

bool hf_json_in_next_item(hf_json_in *j)
{
    return another(j, ']');
}

static void put_utf8(hf_out *out, uint32_t c)
{
    if (c < 0x80) {
        hf_out_char(out, (char)c);
    } else if (c < 0x800) {
        hf_out_char(out, (char)(0xc0 | c >> 6));
        hf_out_char(out, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        hf_out_char(out, (char)(0xe0 | c >> 12));
        hf_out_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        hf_out_char(out, (char)(0x80 | (c & 0x3f)));
    } else {
        hf_out_char(out, (char)(0xf0 | c >> 18));
        hf_out_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
        hf_out_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        hf_out_char(out, (char)(0x80 | (c & 0x3f)));
    }
}

static bool hex4(hf_json_in *j, uint32_t *ret)
{
    uint32_t n = 0;

    for (int i = 0; i < 4; i++) {
        char c = j->at < j->end ? *j->at : 0;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                                : 16;

        if (digit == 16)
            return expected(j, "four hexadecimal digits");
        n = n * 16 + digit;
        j->at++;
    }
    *ret = n;
    return true;
}

static bool unicode_escape(hf_json_in *j, hf_out *out)
{
    uint32_t c = 0, low = 0;

    if (!hex4(j, &c))
        return false;
    if (c >= 0xd800 && c < 0xdc00) {
        if (j->end - j->at < 2 || j->at[0] != '\\' || j->at[1] != 'u')
            return expected(j, "the second half of a surrogate pair");
        j->at += 2;
        if (!hex4(j, &low))
            return false;
        if (low < 0xdc00 || low > 0xdfff)
            return hf_json_in_fail(j, "a surrogate pair has no second half");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c >= 0xdc00 && c < 0xe000) {
        return hf_json_in_fail(j, "a surrogate pair has no first half");
    }
    put_utf8(out, c);
    return true;
}

/* j->at is after a backslash. */
static bool escape(hf_json_in *j, hf_out *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = j->at < j->end ? *j->at : 0;
    const char *which = c ? strchr(from, c) : NULL;

    if (c == 'u') {
        j->at++;
        return unicode_escape(j, out);
    }
    if (!which)
        return expected(j, "an escape such as \\n or \\u0041");
    j->at++;
    hf_out_char(out, to[which - from]);
    return true;
}

/* The string from its first escape on; `begin` is after the quote. */
static bool escaped_string(hf_json_in *j, const char *begin, hf_str *ret_text)
{
    hf_out *out = &j->scratch[j->next_scratch++ % 4];

    out->n = 0;
    hf_out_bytes(out, begin, (size_t)(j->at - begin));
    while (j->at < j->end && *j->at != '"') {
        if ((unsigned char)*j->at < 0x20)
            return expected(j, "the end of a string");
        if (*j->at != '\\') {
            hf_out_char(out, *j->at++);
            continue;
        }
        j->at++;
        if (!escape(j, out))
            return false;
    }
    if (j->at == j->end)
        return expected(j, "the end of a string");
    j->at++;
    *ret_text = hf_out_view(out);
    if (!ret_text->ptr)
        ret_text->ptr = "";
    return true;
}

bool hf_json_in_string(hf_json_in *j, hf_str *ret_text)
{
    const char *begin;

    if (hf_json_in_peek(j) != '"')
        return expected(j, "a string");
    begin = ++j->at;
    while (j->at < j->end && *j->at != '"' && *j->at != '\\' &&
           (unsigned char)*j->at >= 0x20)
        j->at++;
    if (j->at < j->end && *j->at == '"') {
        *ret_text = (hf_str){begin, (size_t)(j->at - begin)};
        j->at++;
        return true;
    }
    return escaped_string(j, begin, ret_text);
}

/* The characters of a number: JSON's grammar is checked by the caller. */
static hf_str number_text(hf_json_in *j, bool *ret_whole)
{
    const char *begin = j->at;

    *ret_whole = true;
    while (j->at < j->end) {
        char c = *j->at;

        if (c == '.' || c == 'e' || c == 'E' || c == '+')
            *ret_whole = false;
        else if ((c < '0' || c > '9') && c != '-')
            break;
        j->at++;
    }
    return (hf_str){begin, (size_t)(j->at - begin)};
}

bool hf_json_in_int(hf_json_in *j, int64_t *ret_value)
{
    char c = hf_json_in_peek(j);
    const char *p = j->at;
    uint64_t n = 0;
    bool negative = c == '-', whole;

    /* fast: at most 18 digits and something else after them */
    p += negative;
    for (int i = 0; i < 18 && p < j->end; i++, p++) {
        unsigned digit = (unsigned)(unsigned char)*p - '0';

        if (digit > 9)
            break;
        n = n * 10 + digit;
    }
    if (p < j->end && p > j->at + negative && *p != '.' && (*p | 32) != 'e' &&
        ((unsigned)(unsigned char)*p - '0') > 9) {
        *ret_value = negative ? -(int64_t)n : (int64_t)n;
        j->at = p;
        return true;
    }
    p = j->at;
    if (!hf_str_to_int(number_text(j, &whole), ret_value)) {
        j->at = p;
        return expected(j, "an integer of 64 bits");
    }
    return true;
}

bool hf_json_in_uint(hf_json_in *j, uint64_t *ret_value)
{
    const char *begin;
    int64_t value;

    (void)hf_json_in_peek(j);
    begin = j->at;
    if (!hf_json_in_int(j, &value))
        return false;
    if (value < 0) {
        j->at = begin;
        return expected(j, "a number that is not negative");
    }
    *ret_value = (uint64_t)value;
    return true;
}

static bool word(hf_json_in *j, hf_str text)
{
    if ((size_t)(j->end - j->at) < text.len ||
        memcmp(j->at, text.ptr, text.len) != 0)
        return false;
    j->at += text.len;
    return true;
}

bool hf_json_in_bool(hf_json_in *j, bool *ret_value)
{
    (void)hf_json_in_peek(j);
    if (word(j, HF_STR("true"))) {
        *ret_value = true;
        return true;
    }
    if (word(j, HF_STR("false"))) {
        *ret_value = false;
        return true;
    }
    return expected(j, "true or false");
}

bool hf_json_in_null(hf_json_in *j)
{
    (void)hf_json_in_peek(j);
    return word(j, HF_STR("null"));
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool is_number(hf_str s)
{
    size_t i = 0, digits = 0;

    i += i < s.len && s.ptr[i] == '-';
    for (; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9'; i++)
        digits++;
    if (digits == 0)
        return false;
    if (i < s.len && s.ptr[i] == '.')
        for (i++, digits = 0; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9';
             i++)
            digits++;
    if (digits == 0)
        return false;
    if (i < s.len && (s.ptr[i] | 32) == 'e') {
        i++;
        i += i < s.len && (s.ptr[i] == '+' || s.ptr[i] == '-');
        for (digits = 0; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9'; i++)
            digits++;
    }
    return digits > 0 && i == s.len;
}

static bool number(hf_json_in *j, hf_scalar *ret_value)
{
    const char *begin = j->at;
    bool whole;
    hf_str text = number_text(j, &whole);

    *ret_value = (hf_scalar){.type = HF_INT};
    if (whole && hf_str_to_int(text, &ret_value->number))
        return true;
    if (!is_number(text)) {
        j->at = begin;
        return expected(j, "a value");
    }
    *ret_value =
        (hf_scalar){.type = HF_REAL, .text = text.ptr, .length = text.len};
    return true;
}

bool hf_json_in_scalar(hf_json_in *j, hf_scalar *ret_value)
{
    char c = hf_json_in_peek(j);
    hf_str text;
    bool truth;

    *ret_value = (hf_scalar){.type = HF_NIL};
    if (c == '"') {
        if (!hf_json_in_string(j, &text))
            return false;
        *ret_value =
            (hf_scalar){.type = HF_TEXT, .text = text.ptr, .length = text.len};
        return true;
    }
    if (c == '{') {
        if (!hf_json_in_skip(j, &text))
            return false;
        *ret_value =
            (hf_scalar){.type = HF_ROW, .text = text.ptr, .length = text.len};
        return true;
    }
    if (c == 'n' && hf_json_in_null(j))
        return true;
    if (c == 't' || c == 'f') {
        if (!hf_json_in_bool(j, &truth))
            return false;
        *ret_value = (hf_scalar){.type = HF_BOOL, .number = truth};
        return true;
    }
    if (c == '-' || (c >= '0' && c <= '9'))
        return number(j, ret_value);
    return expected(j, "a value");
}

static bool skip_at(hf_json_in *j, unsigned depth)
{
    hf_scalar scalar;
    hf_str key;
    char c = hf_json_in_peek(j);

    if (c != '{' && c != '[')
        return hf_json_in_scalar(j, &scalar);
    if (depth >= DEPTH_MAX)
        return hf_json_in_fail(j, "values are nested more than %d deep",
                               DEPTH_MAX);
    j->at++;
    if (c == '{')
        while (hf_json_in_next_key(j, &key))
            (void)skip_at(j, depth + 1);
    else
        while (hf_json_in_next_item(j))
            (void)skip_at(j, depth + 1);
    return !j->failed;
}

bool hf_json_in_skip(hf_json_in *j, hf_str *ret_text)
{
    const char *begin;

    (void)hf_json_in_peek(j);
    begin = j->at;
    if (!skip_at(j, 0))
        return false;
    if (ret_text)
        *ret_text = (hf_str){begin, (size_t)(j->at - begin)};
    return true;
}
