/* scan.h: reading lines and numbers of text formats.
 *
 * The number scanners stop at the first byte that is no digit and do not know
 * where the text ends: the caller makes sure that a byte that is no digit
 * stands there (a line's newline, for one).
 */
#ifndef HF_SCAN_H
#define HF_SCAN_H

#include "holdfast.h"

#include "base/str.h"

/* 19 digits or more, p at the first: false if it does not fit 63 bits. */
bool hf_scan_long(const char **at, uint64_t *ret_value);

/* One decimal number without sign, at most INT64_MAX.  False, and *at as it
 * was, if there is none or it is too large. */
static inline bool hf_scan_uint(const char **at, uint64_t *ret_value)
{
    const char *p = *at;
    uint64_t n = (uint64_t)(unsigned char)*p - '0', digit;

    if (n > 9)
        return false;
    while ((digit = (uint64_t)(unsigned char)*++p - '0') <= 9)
        n = n * 10 + digit;
    if (p - *at > 18)
        return hf_scan_long(at, ret_value);
    *at = p;
    *ret_value = n;
    return true;
}

/* The same, with the end of the text in `end`. */
bool hf_scan_uint_until(const char **at, const char *end, uint64_t *ret_value);

/* Lines one after the other, without their newline and carriage return. */
typedef struct hf_lines {
    const char *at, *end;
    uint64_t number; /* of the line returned last, from 1 */
} hf_lines;

hf_lines hf_lines_of(const char *text, size_t length);
bool hf_lines_next(hf_lines *l, hf_str *ret_line);

/* s without spaces and tabs at both ends. */
hf_str hf_str_trim(hf_str s);

/* A line consisting of at least `least` bytes c and nothing else. */
bool hf_is_rule(hf_str line, char c, size_t least);

/* Is `needle` in the first 64 KiB?  For detectors. */
#define HF_DETECT_BYTES ((size_t)65536)
bool hf_has_text(const char *text, size_t length, const char *needle);

#endif
