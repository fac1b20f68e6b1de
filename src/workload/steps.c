/* steps.c: what the relational workloads share, see steps.h.
 *
 * Checks read whole tables into numbers and look rows up by binary search:
 * O(rows * log rows), once, when all clients have ended.
 */
#include "workload/steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"

/* ---- cells --------------------------------------------------------------- */

static int64_t number_of_text(hf_str s)
{
    int64_t number;
    uint64_t hash = 1;

    if (hf_str_to_int(s, &number))
        return number;
    for (size_t i = 0; i < s.len; i++)
        hash = hf_mix64(hash + (unsigned char)s.ptr[i]);
    return (int64_t)(hash >> 1);
}

static int64_t number_of(const hf_sql_value *v)
{
    switch (v->type) {
    case HF_SQL_NULL:
        return HF_CELL_NULL;
    case HF_SQL_TEXT:
        return number_of_text(hf_sql_text_of(v));
    case HF_SQL_DECIMAL:
    case HF_SQL_REAL:
        return llround(hf_sql_to_real(v));
    default:
        return v->integer;
    }
}

int64_t hf_cell(const hf_sql_result *r, uint64_t row, uint32_t column)
{
    HF_ASSERT(row < r->n_rows && column < r->n_columns);
    return number_of(&r->cells[row * r->n_columns + column]);
}

void hf_cell_text(const hf_sql_result *r, uint64_t row, uint32_t column,
                  char *buffer, size_t size)
{
    const hf_sql_value *v = &r->cells[row * r->n_columns + column];
    size_t length = 0;

    HF_ASSERT(row < r->n_rows && column < r->n_columns && size > 0);
    if (v->type == HF_SQL_TEXT)
        length = v->length < size ? v->length : size - 1;
    if (length > 0)
        memcpy(buffer, v->text, length);
    buffer[length] = '\0';
}

/* ---- whole tables -------------------------------------------------------- */

bool hf_grid_read(hf_client *c, const hf_step *step, hf_grid *ret)
{
    const hf_sql_result *rows;
    size_t n;

    memset(ret, 0, sizeof(*ret));
    if (!hf_client_step(c, step, NULL, 0, &rows))
        return false;
    ret->n = rows->n_rows;
    ret->columns = rows->n_columns;
    n = hf_array_size(rows->n_rows, rows->n_columns);
    ret->cells = HF_NEW_ARRAY(int64_t, n + 1);
    for (size_t i = 0; i < n; i++)
        ret->cells[i] = number_of(&rows->cells[i]);
    return true;
}

void hf_grid_release(hf_grid *g)
{
    hf_free(g->cells);
    memset(g, 0, sizeof(*g));
}

static int compare_key(const int64_t *row, const int64_t *key, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++)
        if (row[1 + i] != key[i])
            return row[1 + i] < key[i] ? -1 : 1;
    return 0;
}

uint64_t hf_grid_lower(const hf_grid *g, const int64_t *key, uint32_t k)
{
    uint64_t low = 0, high = g->n;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (compare_key(hf_grid_row(g, middle), key, k) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const int64_t *hf_grid_find(const hf_grid *g, const int64_t *key, uint32_t k)
{
    uint64_t i = hf_grid_lower(g, key, k);

    if (i == g->n || compare_key(hf_grid_row(g, i), key, k) != 0)
        return NULL;
    return hf_grid_row(g, i);
}

uint64_t hf_grid_count(const hf_grid *g, const int64_t *key, uint32_t k)
{
    uint64_t first = hf_grid_lower(g, key, k), i = first;

    while (i < g->n && compare_key(hf_grid_row(g, i), key, k) == 0)
        i++;
    return i - first;
}

/* ---- counting ------------------------------------------------------------ */

void hf_count_add(hf_count *n, int64_t value, bool known)
{
    if (known || value < 0)
        atomic_fetch_add_explicit(&n->low, value, memory_order_relaxed);
    if (known || value > 0)
        atomic_fetch_add_explicit(&n->high, value, memory_order_relaxed);
}

void hf_count_expect(hf_play *p, const char *name, const hf_count *n,
                     int64_t base, int64_t found, const char *what, ...)
{
    int64_t low = base + atomic_load(&n->low);
    int64_t high = base + atomic_load(&n->high);
    char text[100];
    va_list list;

    if (found >= low && found <= high)
        return;
    va_start(list, what);
    vsnprintf(text, sizeof(text), what, list);
    va_end(list);
    if (low == high)
        hf_play_breach(p, name, "%s: expected %" PRId64 ", found %" PRId64,
                       text, low, found);
    else
        hf_play_breach(
            p, name, "%s: expected %" PRId64 " to %" PRId64 ", found %" PRId64,
            text, low, high, found);
}

int64_t *hf_memo_begin(hf_memos *n, const hf_client *c)
{
    int64_t *notes = hf_memo_of(n, c);

    memset(notes, 0, sizeof(n->of[0]));
    return notes;
}

void hf_ledger_expect(hf_play *p, const char *name, const hf_ledger *l,
                      const hf_ledger_sums *found, const char *what)
{
    unsigned breaches = 0;

    for (uint32_t i = 0; i < HF_LEDGER && breaches < 5; i++) {
        int64_t low = atomic_load(&l->of[i].low);
        int64_t high = atomic_load(&l->of[i].high);

        if (found->of[i] >= low && found->of[i] <= high)
            continue;
        hf_count_expect(p, name, &l->of[i], 0, found->of[i], "%s %u", what, i);
        breaches++;
    }
}

static uint64_t seen_hash(int64_t a, int64_t b)
{
    return hf_mix64(hf_mix64((uint64_t)a + 1) ^ ((uint64_t)b << 1));
}

void hf_seen_add(hf_seen *s, int64_t a, int64_t b)
{
    uint64_t hash = seen_hash(a, b);

    for (unsigned i = 0; i < 3; i++, hash >>= 20)
        atomic_fetch_or_explicit(&s->words[hash >> 6 & (HF_SEEN_WORDS - 1)],
                                 (uint64_t)1 << (hash & 63),
                                 memory_order_relaxed);
}

bool hf_seen_has(const hf_seen *s, int64_t a, int64_t b)
{
    uint64_t hash = seen_hash(a, b);

    for (unsigned i = 0; i < 3; i++, hash >>= 20)
        if (!(atomic_load(&s->words[hash >> 6 & (HF_SEEN_WORDS - 1)]) >>
                  (hash & 63) &
              1))
            return false;
    return true;
}

/* ---- chance -------------------------------------------------------------- */

int64_t hf_uniform(hf_rng *r, int64_t low, int64_t high)
{
    uint64_t n;

    if (high <= low)
        return low;
    n = (uint64_t)(high - low) + 1;
    if (n <= UINT32_MAX)
        return low + hf_rng_below(r, (uint32_t)n);
    return low + (int64_t)(hf_rng_next(r) % n);
}

int64_t hf_nurand(hf_rng *r, int64_t a, int64_t low, int64_t high, int64_t c)
{
    int64_t mask = hf_uniform(r, 0, a), x = hf_uniform(r, low, high);

    return ((mask | x) + c) % (high - low + 1) + low;
}

/* The integral of x^-theta from 1 to x, and its inverse. */
static double zipf_h(double theta, double x)
{
    double l = log(x), t = (1.0 - theta) * l;

    return fabs(t) < 1e-8 ? l * (1.0 + t / 2.0) : expm1(t) / (1.0 - theta);
}

static double zipf_h_inverse(double theta, double y)
{
    double t = y * (1.0 - theta);

    if (t < -1.0)
        t = -1.0;
    return exp(fabs(t) < 1e-8 ? y * (1.0 - t / 2.0) : log1p(t) / (1.0 - theta));
}

void hf_zipf_init(hf_zipf *z, int64_t n, double theta)
{
    memset(z, 0, sizeof(*z));
    z->n = n < 1 ? 1 : n;
    z->theta = theta;
    if (theta >= 1.0) {
        z->h_first = zipf_h(theta, 1.5) - 1.0;
        z->h_last = zipf_h(theta, (double)z->n + 0.5);
        z->s =
            2.0 - zipf_h_inverse(theta, zipf_h(theta, 2.5) - pow(2.0, -theta));
    } else if (theta > 0.0) {
        for (int64_t i = 1; i <= z->n; i++)
            z->zeta += pow((double)i, -theta);
        z->eta = (1.0 - pow(2.0 / (double)z->n, 1.0 - theta)) /
                 (1.0 - (1.0 + pow(2.0, -theta)) / z->zeta);
    }
}

static int64_t zipf_steep(const hf_zipf *z, hf_rng *r)
{
    for (;;) {
        double u = z->h_last + hf_rng_unit(r) * (z->h_first - z->h_last);
        double x = zipf_h_inverse(z->theta, u);
        int64_t k = llround(x);

        if (k < 1)
            k = 1;
        if (k > z->n)
            k = z->n;
        if ((double)k - x <= z->s ||
            u >= zipf_h(z->theta, (double)k + 0.5) - pow((double)k, -z->theta))
            return k - 1;
    }
}

int64_t hf_zipf_draw(const hf_zipf *z, hf_rng *r)
{
    double u, scaled;
    int64_t k;

    if (z->n <= 1)
        return 0;
    if (z->theta >= 1.0)
        return zipf_steep(z, r);
    if (z->theta <= 0.0)
        return hf_uniform(r, 0, z->n - 1);
    u = hf_rng_unit(r);
    scaled = u * z->zeta;
    if (scaled < 1.0)
        return 0;
    if (scaled < 1.0 + pow(2.0, -z->theta) || z->n == 2)
        return 1;
    k = (int64_t)((double)z->n *
                  pow(z->eta * u - z->eta + 1.0, 1.0 / (1.0 - z->theta)));
    return k < z->n ? k : z->n - 1;
}

char *hf_letters(char *buffer, size_t length, uint64_t seed)
{
    static const char set[] = "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    uint64_t bits = 0;

    for (size_t i = 0; i < length; i++) {
        if (i % 8 == 0)
            bits = hf_mix64(seed + (i + 1) * 0x9e3779b97f4a7c15u);
        buffer[i] = set[(bits & 0xff) % (sizeof(set) - 1)];
        bits >>= 8;
    }
    buffer[length] = '\0';
    return buffer;
}
