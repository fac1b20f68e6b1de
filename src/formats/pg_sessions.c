/* pg_sessions.c: which steps of an isolation test belong to one session.
 *
 * The expected output names steps, not sessions, only how many there are.
 * What it shows:
 *
 *   - a step that runs while another waits is of another session;
 *   - if the permutations are all interleavings of the sessions (the number
 *     of them tells), steps never seen in both orders are of one session;
 *   - else names: s1a, s1b or a1, b1.  Taken if the beginning or the digits
 *     make exactly as many groups as there are sessions, and no step runs
 *     while another of its group waits.
 *
 * If neither works the sessions stay unknown.  Quadratic in the length of a
 * permutation, with a bound.
 */
#include <stdlib.h>

#include "formats/pg_out.h"

#define MAX_NAMES 512
#define MAX_PAIRS ((uint64_t)1 << 27)

/* ---- names --------------------------------------------------------------- */

static int compare(hf_str x, hf_str y)
{
    size_t n = x.len < y.len ? x.len : y.len;
    int order = n > 0 ? memcmp(x.ptr, y.ptr, n) : 0;

    return order != 0 ? order : x.len < y.len ? -1 : x.len > y.len;
}

static int by_name(const void *a, const void *b)
{
    return compare(*(const hf_str *)a, *(const hf_str *)b);
}

static void number_names(hf_pg_out *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->runs.n; i++)
        hf_vec_push(&p->steps, p->runs.at[i].name);
    if (p->steps.n > 0)
        qsort(p->steps.at, p->steps.n, sizeof(hf_str), by_name);
    for (size_t i = 0; i < p->steps.n; i++)
        if (n == 0 || compare(p->steps.at[n - 1], p->steps.at[i]) != 0)
            p->steps.at[n++] = p->steps.at[i];
    p->steps.n = n;
    for (size_t i = 0; i < p->runs.n; i++) {
        const hf_str *found = bsearch(&p->runs.at[i].name, p->steps.at, n,
                                      sizeof(hf_str), by_name);

        p->runs.at[i].step = found ? (uint32_t)(found - p->steps.at) : 0;
    }
}

/* ---- what the orders show ------------------------------------------------ */

typedef struct seen {
    size_t n;
    uint8_t *before;  /* n * n: a was seen before b */
    uint8_t *overlap; /* n * n: one ran while the other waited */
    bool is_full;     /* every permutation has every step once */
} seen;

static void note_pair(seen *s, const hf_pg_run *a, const hf_pg_run *b)
{
    size_t ab = a->step * s->n + b->step, ba = b->step * s->n + a->step;

    s->before[ab] = 1;
    /* b began before a ended */
    if (a->what.end == HF_TIME_NONE || b->what.start < a->what.end)
        s->overlap[ab] = s->overlap[ba] = 1;
}

static bool note_orders(const hf_pg_out *p, seen *s)
{
    uint64_t pairs = 0;
    size_t first = 0;

    s->is_full = true;
    for (size_t k = 0; k < p->ends.n; k++) {
        size_t end = p->ends.at[k];

        pairs += (uint64_t)(end - first) * (end - first);
        if (pairs > MAX_PAIRS)
            return false;
        for (size_t i = first; i < end; i++)
            for (size_t j = i + 1; j < end; j++)
                note_pair(s, &p->runs.at[i], &p->runs.at[j]);
        s->is_full = s->is_full && end - first == s->n;
        first = end;
    }
    for (size_t a = 0; a < s->n; a++)
        if (s->before[a * s->n + a])
            s->is_full = false; /* the same step twice */
    return true;
}

static bool apart(const seen *s, size_t a, size_t b)
{
    return s->before[a * s->n + b] && s->before[b * s->n + a];
}

/* The number of interleavings of sessions with these many steps; any number
 * above the limit if it is larger. */
static uint64_t interleavings(const uint32_t *sizes, uint32_t n, uint64_t limit)
{
    uint64_t ways = 1, total = 0;

    for (uint32_t i = 0; i < n; i++)
        for (uint64_t k = 1; k <= sizes[i]; k++) {
            total++; /* binomials stay whole after each division */
            ways = ways * total / k;
            if (ways > limit)
                return ways;
        }
    return ways;
}

/* Sessions are the classes of "not apart", if all interleavings are there. */
static bool group_by_order(hf_pg_out *p, const seen *s)
{
    uint32_t sizes[MAX_NAMES] = {0}, groups = 0;

    if (!s->is_full || p->ends.n > UINT32_MAX)
        return false;
    for (size_t a = 0; a < s->n; a++) {
        size_t b = 0;

        while (b < a && apart(s, a, b))
            b++;
        p->groups.at[a] = b < a ? p->groups.at[b] : groups++;
        sizes[p->groups.at[a]]++;
    }
    for (size_t a = 0; a < s->n; a++)
        for (size_t b = 0; b < a; b++)
            if ((p->groups.at[a] == p->groups.at[b]) == apart(s, a, b))
                return false;
    return groups == p->n_sessions &&
           interleavings(sizes, groups, p->ends.n) == p->ends.n;
}

/* ---- what the names show ------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* s1 of s1begin; empty if there is no digit */
static hf_str front(hf_str name)
{
    size_t n = 0;

    while (n < name.len && !is_digit(name.ptr[n]))
        n++;
    if (n == name.len)
        return (hf_str){name.ptr, 0};
    while (n < name.len && is_digit(name.ptr[n]))
        n++;
    return (hf_str){name.ptr, n};
}

/* 1 of c1 and of rxwy1 */
static hf_str back(hf_str name)
{
    size_t n = name.len;

    while (n > 0 && is_digit(name.ptr[n - 1]))
        n--;
    return (hf_str){name.ptr + n, name.len - n};
}

/* 1 of s1begin2 */
static hf_str digits(hf_str name)
{
    hf_str head = front(name);

    return back(head);
}

static bool group_by_name(hf_pg_out *p, const seen *s, hf_str (*part)(hf_str))
{
    uint32_t groups = 0, alone = 0;

    for (size_t a = 0; a < s->n; a++) {
        hf_str mine = part(p->steps.at[a]);
        size_t b = 0;

        if (mine.len == 0 && ++alone > 1)
            return false; /* one step may stand for a session of its own */
        while (b < a && compare(part(p->steps.at[b]), mine) != 0)
            b++;
        p->groups.at[a] = b < a ? p->groups.at[b] : groups++;
        for (b = 0; b < a; b++)
            if (p->groups.at[a] == p->groups.at[b] && s->overlap[a * s->n + b])
                return false;
    }
    return groups == p->n_sessions;
}

void hf_pg_sessions(hf_pg_out *p)
{
    seen s = {0};

    number_names(p);
    for (size_t i = 0; i < p->steps.n; i++)
        hf_vec_push(&p->groups, (uint32_t)i);
    if (p->n_sessions == 0 || p->steps.n > MAX_NAMES || p->steps.n == 0)
        return;
    s.n = p->steps.n;
    s.before = HF_NEW_ZEROED(uint8_t, s.n * s.n);
    s.overlap = HF_NEW_ZEROED(uint8_t, s.n * s.n);
    if (note_orders(p, &s))
        p->is_known = group_by_order(p, &s) || group_by_name(p, &s, front) ||
                      group_by_name(p, &s, back) ||
                      group_by_name(p, &s, digits);
    if (!p->is_known)
        for (size_t i = 0; i < s.n; i++)
            p->groups.at[i] = (uint32_t)i;
    hf_free(s.before);
    hf_free(s.overlap);
}
