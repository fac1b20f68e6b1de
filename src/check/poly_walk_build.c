/* poly_walk_build.c: what a walk looks at, and where it begins.
 *
 * Without times the first positions are those that put every reader behind its
 * writer, as far as the writers of that key are from each other, as nearly as
 * possible, by least squares: a sparse linear system, solved by conjugate
 * gradients.  That has the global shape right (a
 * random order has not, and moves of single transactions never mend that) and
 * leaves about half of the reads broken.  Sessions, where they are named, pull
 * as well, whether the level asks for their order or not.
 *
 * O(operations), and for the start O(reads) an iteration, ITERATIONS at most.
 */
#include "check/poly_walk.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

#define ITERATIONS 400u
#define SEED 5u

static uint32_t *nones(size_t n)
{
    uint32_t *a = hf_alloc_large(hf_array_size(n + 1, sizeof(*a)));

    memset(a, 0xff, (n + 1) * sizeof(*a));
    return a;
}

/* Counts in first[i + 1] become first places. */
static void sum_up(uint32_t *first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        first[i + 1] += first[i];
}

/* ---- who reads and writes what ------------------------------------------- */

static bool is_written(const hf_graph *g, uint32_t v)
{
    return g->ver_txn[v] != HF_NONE && g->happened[g->ver_txn[v]];
}

static void find_versions(hf_poly_walk *w)
{
    const hf_graph *g = w->g;
    uint32_t n = g->h->n_txns, *at;

    w->ver_first = HF_NEW_ZEROED(uint32_t, (size_t)n + 2);
    w->ver_key = nones(g->n_versions);
    for (hf_key_id k = 0; k < g->h->n_keys; k++)
        for (uint32_t v = g->ver_first[k]; v < g->ver_end[k]; v++) {
            w->ver_key[v] = k;
            if (is_written(g, v))
                w->ver_first[g->ver_txn[v] + 1]++;
        }
    sum_up(w->ver_first, n);
    w->vers = HF_NEW_ARRAY(uint32_t, (size_t)w->ver_first[n] + 1);
    at = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    memcpy(at, w->ver_first, (size_t)n * sizeof(*at));
    for (hf_key_id k = 0; k < g->h->n_keys; k++)
        for (uint32_t v = g->ver_first[k]; v < g->ver_end[k]; v++)
            if (is_written(g, v))
                w->vers[at[g->ver_txn[v]]++] = v;
    hf_free(at);
}

/* Reads of others' versions, and of initial ones. */
static void find_reads(hf_poly_walk *w)
{
    const hf_graph *g = w->g;
    uint32_t n = g->h->n_txns, *at;

    w->n_reads = g->reader_first[g->n_versions];
    w->read_ver = nones(w->n_reads);
    w->read_first = HF_NEW_ZEROED(uint32_t, (size_t)n + 2);
    for (hf_key_id k = 0; k < g->h->n_keys; k++)
        for (uint32_t v = g->ver_first[k]; v < g->ver_end[k]; v++)
            for (uint32_t i = g->reader_first[v]; i < g->reader_first[v + 1];
                 i++) {
                hf_txn_id t = g->reader_txn[i];

                if (!g->happened[t] || t == g->ver_txn[v] ||
                    (g->ver_txn[v] != HF_NONE && !is_written(g, v)))
                    continue;
                w->read_ver[i] = v;
                w->read_first[t + 1]++;
            }
    sum_up(w->read_first, n);
    w->reads = HF_NEW_ARRAY(uint32_t, (size_t)w->read_first[n] + 1);
    at = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    memcpy(at, w->read_first, (size_t)n * sizeof(*at));
    for (uint32_t i = 0; i < w->n_reads; i++)
        if (w->read_ver[i] != HF_NONE)
            w->reads[at[g->reader_txn[i]]++] = i;
    hf_free(at);
}

/* Transactions that read a key and write it too. */
static void find_rewrites(hf_poly_walk *w)
{
    uint32_t *read_of = nones(w->g->h->n_keys); /* by the one at hand */

    w->own_read = nones(w->g->n_versions);
    w->rewrites = HF_NEW_ZEROED(uint8_t, (size_t)w->n_reads + 1);
    for (hf_txn_id t = 0; t < w->g->h->n_txns; t++) {
        for (uint32_t i = w->read_first[t]; i < w->read_first[t + 1]; i++)
            read_of[w->ver_key[w->read_ver[w->reads[i]]]] = w->reads[i];
        for (uint32_t i = w->ver_first[t]; i < w->ver_first[t + 1]; i++) {
            uint32_t v = w->vers[i], read = read_of[w->ver_key[v]];

            w->own_read[v] = read;
            if (read != HF_NONE)
                w->rewrites[read] = 1;
        }
        for (uint32_t i = w->read_first[t]; i < w->read_first[t + 1]; i++)
            read_of[w->ver_key[w->read_ver[w->reads[i]]]] = HF_NONE;
    }
    hf_free(read_of);
}

static void add_rule(hf_poly_walk *w, hf_txn_id before, hf_txn_id after)
{
    if (before != HF_NONE && after != HF_NONE && before != after &&
        w->g->happened[before] && w->g->happened[after])
        hf_vec_push(&w->rules, (hf_walk_rule){before, after});
}

static void find_rules(hf_poly_walk *w, unsigned mask)
{
    const hf_graph *g = w->g;
    uint32_t n = g->h->n_txns, *at;

    for (hf_key_id k = 0; k < g->h->n_keys; k++)
        for (uint32_t v = g->ver_first[k] + 2; v < g->chain_end[k]; v++)
            add_rule(w, g->ver_txn[v - 1], g->ver_txn[v]);
    for (uint32_t i = 0; g->pair_first && i < g->n_pairs; i++)
        add_rule(w, g->ver_txn[g->pairs[i].first],
                 g->ver_txn[g->pairs[i].then]);
    for (hf_txn_id t = 0; (mask & HF_WALK_SO) && g->session_prev && t < n; t++)
        add_rule(w, g->session_prev[t], t);
    w->rule_first = HF_NEW_ZEROED(uint32_t, (size_t)n + 2);
    for (size_t i = 0; i < w->rules.n; i++) {
        w->rule_first[w->rules.at[i].before + 1]++;
        w->rule_first[w->rules.at[i].after + 1]++;
    }
    sum_up(w->rule_first, n);
    w->rule_of = HF_NEW_ARRAY(uint32_t, 2 * w->rules.n + 1);
    at = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    memcpy(at, w->rule_first, (size_t)n * sizeof(*at));
    for (size_t i = 0; i < w->rules.n; i++) {
        w->rule_of[at[w->rules.at[i].before]++] = (uint32_t)i;
        w->rule_of[at[w->rules.at[i].after]++] = (uint32_t)i;
    }
    hf_free(at);
}

/* ---- the start ----------------------------------------------------------- */

/* One wants to be `rest` behind the other; the shorter, the firmer. */
typedef struct spring {
    hf_txn_id before, after;
    double rest, force;
} spring;
typedef HF_VEC(spring) springs;

/* There are n of them in all that follow each other like these two. */
static void add_spring(const hf_poly_walk *w, springs *ret, hf_txn_id before,
                       hf_txn_id after, uint32_t n)
{
    double rest = (double)w->g->h->n_txns / (n + 1.0);

    if (before == HF_NONE || after == HF_NONE)
        return;
    hf_vec_push(ret, (spring){before, after, rest, 1 / (rest * rest)});
}

static void find_springs(const hf_poly_walk *w, springs *ret)
{
    const hf_graph *g = w->g;
    const hf_history *h = g->h;

    for (uint32_t i = 0; i < w->n_reads; i++) {
        uint32_t v = w->read_ver[i];
        hf_key_id k = v == HF_NONE ? 0 : w->ver_key[v];

        if (v != HF_NONE && g->ver_txn[v] != HF_NONE)
            add_spring(w, ret, g->ver_txn[v], g->reader_txn[i],
                       g->ver_end[k] - g->ver_first[k]);
    }
    for (hf_key_id k = 0; k < h->n_keys; k++)
        for (uint32_t v = g->ver_first[k] + 2; v < g->chain_end[k]; v++)
            add_spring(w, ret, g->ver_txn[v - 1], g->ver_txn[v],
                       g->chain_end[k] - g->ver_first[k]);
    for (hf_session_id i = 0; i < h->n_sessions; i++)
        for (uint32_t k = h->session_first[i] + 1; k < h->session_first[i + 1];
             k++)
            add_spring(w, ret, h->session_txns[k - 1], h->session_txns[k],
                       h->session_first[i + 1] - h->session_first[i]);
}

/* to += the sum over springs of their force at x; `bare`: as if they had no
 * length of their own. */
static void pull(const springs *s, const double *x, bool bare, double *to)
{
    for (size_t i = 0; i < s->n; i++) {
        spring r = s->at[i];
        double f = r.force * ((bare ? 0 : r.rest) - (x[r.after] - x[r.before]));

        to[r.after] += f;
        to[r.before] -= f;
    }
}

static double dot(const double *a, const double *b, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Conjugate gradients; x begins as zeros. */
static void relax(hf_graph *g, const springs *s, double *x, uint32_t n)
{
    double *rest = HF_NEW_ZEROED(double, (size_t)n + 1);
    double *way = HF_NEW_ZEROED(double, (size_t)n + 1);
    double *pulled = HF_NEW_ZEROED(double, (size_t)n + 1);
    double left, first;

    pull(s, x, false, rest);
    memcpy(way, rest, (size_t)n * sizeof(*way));
    left = first = dot(rest, rest, n);
    for (unsigned k = 0; k < ITERATIONS && left > 1e-10 * first; k++) {
        double bend, step, next;

        memset(pulled, 0, (size_t)n * sizeof(*pulled));
        pull(s, way, true, pulled);
        bend = -dot(way, pulled, n);
        if (bend <= 0 || hf_graph_spent(g))
            break;
        step = left / bend;
        for (uint32_t i = 0; i < n; i++) {
            x[i] += step * way[i];
            rest[i] += step * pulled[i];
        }
        next = dot(rest, rest, n);
        for (uint32_t i = 0; i < n; i++)
            way[i] = rest[i] + next / left * way[i];
        left = next;
    }
    hf_free(rest);
    hf_free(way);
    hf_free(pulled);
}

static void find_start(hf_poly_walk *w, const hf_txn_id *start)
{
    uint32_t n = w->g->h->n_txns;
    springs s = {0};

    if (start) {
        for (uint32_t i = 0; i < n; i++)
            w->at[start[i]] = i;
        return;
    }
    find_springs(w, &s);
    relax(w->g, &s, w->at, n);
    hf_vec_release(&s);
}

/* ---- ranks --------------------------------------------------------------- */

/* Numbers in the order of doubles. */
static uint64_t by_size(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static void sort_positions(hf_poly_walk *w)
{
    uint32_t n = w->g->h->n_txns;
    hf_sortable *s = HF_NEW_ARRAY(hf_sortable, (size_t)n + 1);

    w->n = 0;
    for (hf_txn_id t = 0; t < n; t++)
        if (w->g->happened[t])
            s[w->n++] = (hf_sortable){by_size(w->at[t]), t};
    hf_sort(s, w->n);
    for (uint32_t i = 0; i < w->n; i++) {
        w->rank[i] = (hf_txn_id)s[i].value;
        w->at[w->rank[i]] = i + 1.0;
    }
    hf_free(s);
}

/* The end of a read that t is. */
static void add_end(hf_poly_walk *w, uint32_t read, hf_txn_id t,
                    uint32_t *highs)
{
    const hf_graph *g = w->g;
    uint32_t v = w->read_ver[read];
    hf_key_id k = w->ver_key[v];
    uint32_t base = g->reader_first[g->ver_first[k]];
    hf_txn_id other =
        g->reader_txn[read] == t ? g->ver_txn[v] : g->reader_txn[read];

    if (other == HF_NONE || w->at[other] < w->at[t])
        w->high[base + highs[k]++] = w->at[t];
    else
        w->low[base + w->n_ends[k]++] = w->at[t];
}

static void add_initial_ends(hf_poly_walk *w)
{
    const hf_graph *g = w->g;

    for (hf_key_id k = 0; k < g->h->n_keys; k++) {
        uint32_t v = g->ver_first[k], base = g->reader_first[v];

        for (uint32_t i = base; i < g->reader_first[v + 1]; i++)
            if (w->read_ver[i] != HF_NONE)
                w->low[base + w->n_ends[k]++] = hf_walk_ver_at(w, v);
    }
}

void hf_poly_walk_rank(hf_poly_walk *w)
{
    const hf_graph *g = w->g;
    uint32_t *highs = HF_NEW_ZEROED(uint32_t, (size_t)g->h->n_keys + 1);

    sort_positions(w);
    memset(w->n_writers, 0, (size_t)g->h->n_keys * sizeof(uint32_t));
    memset(w->n_ends, 0, (size_t)g->h->n_keys * sizeof(uint32_t));
    add_initial_ends(w);
    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->rank[i];

        for (uint32_t j = w->read_first[t]; j < w->read_first[t + 1]; j++)
            add_end(w, w->reads[j], t, highs);
        for (uint32_t j = w->ver_first[t]; j < w->ver_first[t + 1]; j++) {
            uint32_t v = w->vers[j];
            hf_key_id k = w->ver_key[v];
            uint32_t slot = g->ver_first[k] + w->n_writers[k]++;

            w->writer_at[slot] = w->at[t];
            w->writer_ver[slot] = v;
            for (uint32_t r = g->reader_first[v]; r < g->reader_first[v + 1];
                 r++)
                if (w->read_ver[r] != HF_NONE)
                    add_end(w, r, t, highs);
        }
    }
    hf_free(highs);
}

/* ---- all together -------------------------------------------------------- */

hf_poly_walk *hf_poly_walk_new(hf_graph *g, unsigned mask,
                               const hf_txn_id *start)
{
    hf_poly_walk *w;
    size_t n;

    if (!g->reader_first)
        return NULL;
    w = HF_NEW(hf_poly_walk);
    w->g = g;
    w->heat = 1.2;
    w->reach = log(fmin(150, 2 + g->n_happened / 8.0));
    hf_rng_seed(&w->rng, SEED);
    find_versions(w);
    find_reads(w);
    find_rewrites(w);
    find_rules(w, mask);
    n = (size_t)g->h->n_txns + 1;
    w->at = HF_NEW_ZEROED(double, n);
    w->rank = HF_NEW_ARRAY(hf_txn_id, n);
    n = (size_t)g->h->n_keys + 1;
    w->n_writers = HF_NEW_ARRAY(uint32_t, n);
    w->n_ends = HF_NEW_ARRAY(uint32_t, n);
    n = (size_t)g->n_versions + 1;
    w->writer_at = HF_NEW_ARRAY(double, n);
    w->writer_ver = HF_NEW_ARRAY(uint32_t, n);
    n = (size_t)w->n_reads + 1;
    w->low = HF_NEW_ARRAY(double, n);
    w->high = HF_NEW_ARRAY(double, n);
    w->bad = HF_NEW_ARRAY(uint32_t, n + w->rules.n);
    w->bad_place = nones(n + w->rules.n);
    find_start(w, start);
    hf_poly_walk_rank(w);
    return w;
}

void hf_poly_walk_free(hf_poly_walk *w)
{
    if (!w)
        return;
    hf_free(w->at);
    hf_free(w->rank);
    hf_free(w->read_ver);
    hf_free(w->read_first);
    hf_free(w->reads);
    hf_free(w->ver_first);
    hf_free(w->vers);
    hf_free(w->ver_key);
    hf_free(w->own_read);
    hf_free(w->rewrites);
    hf_free(w->n_writers);
    hf_free(w->n_ends);
    hf_free(w->writer_at);
    hf_free(w->writer_ver);
    hf_free(w->low);
    hf_free(w->high);
    hf_vec_release(&w->rules);
    hf_free(w->rule_first);
    hf_free(w->rule_of);
    hf_free(w->bad);
    hf_free(w->bad_place);
    hf_free(w);
}
