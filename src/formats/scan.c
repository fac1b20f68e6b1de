/* scan.c: the parts of scan.h that are not hot. */
#include "formats/scan.h"

bool hf_scan_long(const char **at, uint64_t *ret_value)
{
    const char *p = *at;
    uint64_t n = 0;

    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n) ||
            n > INT64_MAX)
            return false;
    *at = p;
    *ret_value = n;
    return true;
}

bool hf_scan_uint_until(const char **at, const char *end, uint64_t *ret_value)
{
    const char *p = *at;
    uint64_t n = 0;

    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n) ||
            n > INT64_MAX)
            return false;
    if (p == *at)
        return false;
    *at = p;
    *ret_value = n;
    return true;
}

hf_lines hf_lines_of(const char *text, size_t length)
{
    return (hf_lines){.at = text, .end = text + length};
}

bool hf_lines_next(hf_lines *l, hf_str *ret_line)
{
    const char *newline;
    size_t n;

    if (l->at == l->end)
        return false;
    newline = memchr(l->at, '\n', (size_t)(l->end - l->at));
    n = (size_t)((newline ? newline : l->end) - l->at);
    *ret_line = (hf_str){l->at, n};
    if (n > 0 && l->at[n - 1] == '\r')
        ret_line->len--;
    l->at = newline ? newline + 1 : l->end;
    l->number++;
    return true;
}

hf_str hf_str_trim(hf_str s)
{
    while (s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\t')) {
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

bool hf_is_rule(hf_str line, char c, size_t least)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != c)
            return false;
    return line.len >= least;
}

bool hf_has_text(const char *text, size_t length, const char *needle)
{
    size_t n = strlen(needle);
    const char *p = text, *end;

    if (length > HF_DETECT_BYTES)
        length = HF_DETECT_BYTES;
    end = text + length;
    while ((size_t)(end - p) >= n &&
           (p = memchr(p, needle[0], (size_t)(end - p) - n + 1))) {
        if (memcmp(p, needle, n) == 0)
            return true;
        p++;
    }
    return false;
}
