/* poly_walk.c: the steps of a walk to a serial order (poly_walk.h).
 *
 * The cost of an order is the number of writers that stand between the writer
 * and the reader of a read, plus one for each read whose reader is before the
 * writer, plus one for each rule that is broken: so a step towards a better
 * place costs less even if the read stays broken.  What a move changes:
 *
 *   its own reads    writers between the two ends, there and here
 *   its versions     the same for each reader; and all other reads of the key
 *                    that the new place lies in: those that begin before it
 *                    less those that end before it
 *
 * A read that was not broken can only break by a move of one of its ends, or
 * by a writer that comes between; then its own writer is the one directly
 * before the newcomer.  So what breaks is found without looking at the whole
 * key.  What is no longer broken is noticed when it is taken for a step.
 */
#include "check/poly_walk.h"

#include <math.h>
#include <string.h>

#define POLL 64u
#define SLICE 200000u /* steps between two rankings */

/* ---- sorted positions ---------------------------------------------------- */

/* How many of them are below x. */
static uint32_t below(const double *a, uint32_t n, double x)
{
    const double *p = a;

    for (; n > 1; n -= n / 2)
        p = p[n / 2 - 1] < x ? p + n / 2 : p;
    return (uint32_t)(p - a) + (n == 1 && *p < x);
}

/* ... or at it. */
static uint32_t upto(const double *a, uint32_t n, double x)
{
    const double *p = a;

    for (; n > 1; n -= n / 2)
        p = p[n / 2 - 1] <= x ? p + n / 2 : p;
    return (uint32_t)(p - a) + (n == 1 && *p <= x);
}

/* One of them that was at `from` is now at `to`. */
static void shift(double *a, uint32_t n, double from, double to)
{
    uint32_t i = below(a, n, from), j = below(a, n, to);

    HF_ASSERT(i < n);
    if (j > i) {
        memmove(a + i, a + i + 1, (j - i - 1) * sizeof(*a));
        a[j - 1] = to;
    } else {
        memmove(a + j + 1, a + j, (i - j) * sizeof(*a));
        a[j] = to;
    }
}

/* The same for the writer of a version, whose number goes along. */
static void shift_writer(hf_poly_walk *w, uint32_t ver, double from, double to)
{
    hf_key_id k = w->ver_key[ver];
    uint32_t base = w->g->ver_first[k], n = w->n_writers[k];
    double *a = w->writer_at + base;
    uint32_t *v = w->writer_ver + base;
    uint32_t i = below(a, n, from), j = below(a, n, to);

    while (v[i] != ver)
        i++; /* two at one place: hardly ever */
    HF_ASSERT(i < n);
    if (j > i) {
        memmove(a + i, a + i + 1, (j - i - 1) * sizeof(*a));
        memmove(v + i, v + i + 1, (j - i - 1) * sizeof(*v));
        j--;
    } else {
        memmove(a + j + 1, a + j, (i - j) * sizeof(*a));
        memmove(v + j + 1, v + j, (i - j) * sizeof(*v));
    }
    a[j] = to;
    v[j] = ver;
}

static void shift_read(hf_poly_walk *w, hf_key_id k, double still, double from,
                       double to)
{
    uint32_t base = w->g->reader_first[w->g->ver_first[k]];

    shift(w->low + base, w->n_ends[k], fmin(still, from), fmin(still, to));
    shift(w->high + base, w->n_ends[k], fmax(still, from), fmax(still, to));
}

/* ---- what is broken ------------------------------------------------------ */

/* Writers of the key between two positions. */
static int between(const hf_poly_walk *w, hf_key_id k, double low, double high)
{
    const double *a = w->writer_at + w->g->ver_first[k];
    uint32_t n = w->n_writers[k];

    return low < high ? (int)below(a, n, high) - (int)upto(a, n, low) : 0;
}

static bool is_broken(const hf_poly_walk *w, uint32_t thing)
{
    uint32_t ver;
    double from, to;

    if (thing >= w->n_reads) {
        hf_walk_rule r = w->rules.at[thing - w->n_reads];

        return w->at[r.before] > w->at[r.after];
    }
    ver = w->read_ver[thing];
    from = hf_walk_ver_at(w, ver);
    to = w->at[w->g->reader_txn[thing]];
    return from > to || between(w, w->ver_key[ver], from, to) > 0;
}

static void mark(hf_poly_walk *w, uint32_t thing, bool broken)
{
    uint32_t place = w->bad_place[thing], last;

    if (broken == (place != HF_NONE))
        return;
    if (broken) {
        w->bad_place[thing] = w->n_bad;
        w->bad[w->n_bad++] = thing;
        return;
    }
    last = w->bad[--w->n_bad];
    w->bad[place] = last;
    w->bad_place[last] = place;
    w->bad_place[thing] = HF_NONE;
}

static void mark_all(hf_poly_walk *w)
{
    uint32_t n = w->n_reads + (uint32_t)w->rules.n;

    for (uint32_t i = 0; i < n; i++)
        mark(w, i,
             (i >= w->n_reads || w->read_ver[i] != HF_NONE) && is_broken(w, i));
}

/* ---- what a place costs -------------------------------------------------- */

static int is_within(double a, double b, double x)
{
    return a < b ? a < x && x < b : b < x && x < a;
}

/* A read from `from` to `to`; `mover`: where a writer stands that does not
 * count. */
static int read_cost(const hf_poly_walk *w, hf_key_id k, double from, double to,
                     const double *mover)
{
    int cost = between(w, k, fmin(from, to), fmax(from, to)) + (from > to);

    return mover ? cost - is_within(from, to, *mover) : cost;
}

/* A version at p: for its own readers, and for other reads of the key. */
static int version_cost(const hf_poly_walk *w, uint32_t ver, double p)
{
    const hf_graph *g = w->g;
    hf_key_id k = w->ver_key[ver];
    uint32_t base = g->reader_first[g->ver_first[k]], n = w->n_ends[k];
    uint32_t own = w->own_read[ver];
    double old = hf_walk_ver_at(w, ver);
    int cost =
        (int)below(w->low + base, n, p) - (int)upto(w->high + base, n, p);

    if (own != HF_NONE)
        cost -= is_within(hf_walk_ver_at(w, w->read_ver[own]), old, p);
    for (uint32_t i = g->reader_first[ver]; i < g->reader_first[ver + 1]; i++) {
        double to;

        if (w->read_ver[i] == HF_NONE)
            continue;
        to = w->at[g->reader_txn[i]];
        cost += read_cost(w, k, p, to, &old) - is_within(old, to, p);
    }
    return cost;
}

static int cost_at(const hf_poly_walk *w, hf_txn_id t, double p)
{
    int cost = 0;

    for (uint32_t i = w->read_first[t]; i < w->read_first[t + 1]; i++) {
        uint32_t read = w->reads[i], ver = w->read_ver[read];

        cost += read_cost(w, w->ver_key[ver], hf_walk_ver_at(w, ver), p,
                          w->rewrites[read] ? &w->at[t] : NULL);
    }
    for (uint32_t i = w->ver_first[t]; i < w->ver_first[t + 1]; i++)
        cost += version_cost(w, w->vers[i], p);
    for (uint32_t i = w->rule_first[t]; i < w->rule_first[t + 1]; i++) {
        hf_walk_rule r = w->rules.at[w->rule_of[i]];

        cost += r.before == t ? p > w->at[r.after] : w->at[r.before] > p;
    }
    return cost;
}

/* ---- moves --------------------------------------------------------------- */

/* Readers of the version before a newcomer that it comes before. */
static void mark_around(hf_poly_walk *w, uint32_t ver, double p)
{
    const hf_graph *g = w->g;
    hf_key_id k = w->ver_key[ver];
    uint32_t base = g->ver_first[k];
    uint32_t i = below(w->writer_at + base, w->n_writers[k], p);
    uint32_t before = i > 0 ? w->writer_ver[base + i - 1] : base;

    for (uint32_t r = g->reader_first[before]; r < g->reader_first[before + 1];
         r++)
        if (w->read_ver[r] != HF_NONE && w->at[g->reader_txn[r]] > p)
            mark(w, r, true);
}

static void mark_of(hf_poly_walk *w, hf_txn_id t)
{
    const hf_graph *g = w->g;

    for (uint32_t i = w->read_first[t]; i < w->read_first[t + 1]; i++)
        mark(w, w->reads[i], is_broken(w, w->reads[i]));
    for (uint32_t i = w->ver_first[t]; i < w->ver_first[t + 1]; i++) {
        uint32_t v = w->vers[i];

        for (uint32_t r = g->reader_first[v]; r < g->reader_first[v + 1]; r++)
            if (w->read_ver[r] != HF_NONE)
                mark(w, r, is_broken(w, r));
        mark_around(w, v, w->at[t]);
    }
    for (uint32_t i = w->rule_first[t]; i < w->rule_first[t + 1]; i++)
        mark(w, w->n_reads + w->rule_of[i],
             is_broken(w, w->n_reads + w->rule_of[i]));
}

static void move(hf_poly_walk *w, hf_txn_id t, double p)
{
    const hf_graph *g = w->g;
    double old = w->at[t];

    for (uint32_t i = w->read_first[t]; i < w->read_first[t + 1]; i++) {
        uint32_t ver = w->read_ver[w->reads[i]];

        shift_read(w, w->ver_key[ver], hf_walk_ver_at(w, ver), old, p);
    }
    for (uint32_t i = w->ver_first[t]; i < w->ver_first[t + 1]; i++) {
        uint32_t v = w->vers[i];

        shift_writer(w, v, old, p);
        for (uint32_t r = g->reader_first[v]; r < g->reader_first[v + 1]; r++)
            if (w->read_ver[r] != HF_NONE)
                shift_read(w, w->ver_key[v], w->at[g->reader_txn[r]], old, p);
    }
    w->at[t] = p;
    mark_of(w, t);
}

/* ---- steps --------------------------------------------------------------- */

/* Mostly a little, sometimes much. */
static double distance(hf_poly_walk *w)
{
    return -log(1 - hf_rng_unit(&w->rng)) *
           exp(w->reach * hf_rng_unit(&w->rng));
}

/* Which transaction to move, and where, so that a broken read gets better. */
static hf_txn_id aim_at_read(hf_poly_walk *w, uint32_t read, double *ret_to)
{
    const hf_graph *g = w->g;
    uint32_t ver = w->read_ver[read], i, n;
    hf_key_id k = w->ver_key[ver];
    const double *a = w->writer_at + g->ver_first[k];
    hf_txn_id reader = g->reader_txn[read], writer = g->ver_txn[ver], other;
    double from = hf_walk_ver_at(w, ver), to = w->at[reader], d = distance(w);

    if (from > to) {
        bool forth = hf_rng_below(&w->rng, 2) != 0;

        *ret_to = forth ? from + d : to - d;
        return forth ? reader : writer;
    }
    i = upto(a, w->n_writers[k], from);
    n = below(a, w->n_writers[k], to) - i;
    i += hf_rng_below(&w->rng, n);
    other = g->ver_txn[w->writer_ver[g->ver_first[k] + i]];
    switch (hf_rng_below(&w->rng, writer == HF_NONE ? 2 : 4)) {
    case 0:
        *ret_to = to + d;
        return other;
    case 1:
        *ret_to = a[i] - d;
        return reader;
    case 2:
        *ret_to = from - d;
        return other;
    default:
        *ret_to = a[i] + d;
        return writer;
    }
}

static hf_txn_id aim_at_rule(hf_poly_walk *w, hf_walk_rule r, double *ret_to)
{
    double d = distance(w);

    if (hf_rng_below(&w->rng, 2)) {
        *ret_to = w->at[r.before] + d;
        return r.after;
    }
    *ret_to = w->at[r.after] - d;
    return r.before;
}

static void take_step(hf_poly_walk *w)
{
    uint32_t thing = w->bad[hf_rng_below(&w->rng, w->n_bad)];
    hf_txn_id t;
    double to;
    int more;

    if (!is_broken(w, thing)) {
        mark(w, thing, false);
        return;
    }
    t = thing < w->n_reads
            ? aim_at_read(w, thing, &to)
            : aim_at_rule(w, w->rules.at[thing - w->n_reads], &to);
    if (to <= 0)
        to = hf_rng_unit(&w->rng) + 0x1p-60;
    else if (to > w->n)
        to = w->n + hf_rng_unit(&w->rng);
    more = cost_at(w, t, to) - cost_at(w, t, w->at[t]);
    if (more <= 0 || hf_rng_unit(&w->rng) < exp(-more / w->heat))
        move(w, t, to);
}

bool hf_poly_walk_run(hf_poly_walk *w, uint64_t steps)
{
    mark_all(w);
    while (w->n_bad > 0 && steps > 0 && !w->g->stopped) {
        uint64_t end = steps < SLICE ? steps : SLICE, i = 0;

        for (; i < end && w->n_bad > 0; i++) {
            take_step(w);
            if (i % POLL == 0 && hf_graph_spent(w->g))
                break;
        }
        steps -= i;
        w->steps += i;
        hf_budget_progress(w->g->budget, "steps", w->steps, 0);
        hf_poly_walk_rank(w);
        mark_all(w);
    }
    return w->n_bad == 0;
}
