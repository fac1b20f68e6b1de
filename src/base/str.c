/* str.c: comparing and reading short texts. */
#include "base/str.h"

static char fold(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '_' || c == ' ' ? '-' : c;
}

bool hf_str_same_name(hf_str a, hf_str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (fold(a.ptr[i]) != fold(b.ptr[i]))
            return false;
    return true;
}

bool hf_str_to_int(hf_str s, int64_t *ret_value)
{
    bool negative = s.len > 0 && s.ptr[0] == '-';
    size_t i = negative ? 1 : 0;
    uint64_t n = 0, limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);

    if (i == s.len)
        return false;
    for (; i < s.len; i++) {
        unsigned digit = (unsigned)(unsigned char)s.ptr[i] - '0';

        if (digit > 9 || n > (limit - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *ret_value = (int64_t)(negative ? 0 - n : n);
    return true;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;

    return m < c ? m : c;
}

#define DISTANCE_MAX 63

unsigned hf_str_distance(hf_str a, hf_str b, unsigned limit)
{
    unsigned two_ago[DISTANCE_MAX + 1] = {0}, ago[DISTANCE_MAX + 1],
                                    now[DISTANCE_MAX + 1] = {0};

    if (a.len > DISTANCE_MAX || b.len > DISTANCE_MAX)
        return limit + 1;
    for (unsigned j = 0; j <= b.len; j++)
        ago[j] = j;
    for (unsigned i = 1; i <= a.len; i++) {
        now[0] = i;
        for (unsigned j = 1; j <= b.len; j++) {
            char ca = fold(a.ptr[i - 1]), cb = fold(b.ptr[j - 1]);

            now[j] = min3(ago[j] + 1, now[j - 1] + 1,
                          ago[j - 1] + (ca == cb ? 0 : 1));
            if (i > 1 && j > 1 && ca == fold(b.ptr[j - 2]) &&
                cb == fold(a.ptr[i - 2]) && two_ago[j - 2] + 1 < now[j])
                now[j] = two_ago[j - 2] + 1;
        }
        memcpy(two_ago, ago, sizeof(ago));
        memcpy(ago, now, sizeof(now));
    }
    return ago[b.len] > limit ? limit + 1 : ago[b.len];
}
