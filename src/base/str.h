/* str.h: text as a view {pointer, length}; never owned, never terminated. */
#ifndef HF_STR_H
#define HF_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct hf_str {
    const char *ptr;
    size_t len;
} hf_str;

#define HF_STR(literal) ((hf_str){(literal), sizeof(literal) - 1})

static inline hf_str hf_str_of(const char *c_string)
{
    return (hf_str){c_string, strlen(c_string)};
}

static inline bool hf_str_eq(hf_str a, hf_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool hf_str_starts(hf_str s, hf_str prefix)
{
    return s.len >= prefix.len &&
           (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

/* Equal but for the case of ASCII letters, and with '_' and ' ' taken as
 * '-': how names typed by people are compared. */
bool hf_str_same_name(hf_str a, hf_str b);

/* A decimal number that is the whole of s and fits; else false. */
bool hf_str_to_int(hf_str s, int64_t *ret_value);

/* The few differences (insert, delete, replace, swap) between two names, for
 * "did you mean"; at most `limit` + 1. */
unsigned hf_str_distance(hf_str a, hf_str b, unsigned limit);

#endif
