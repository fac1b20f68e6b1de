/* graph_assume.c: what the user promises about the versions of each key.
 *
 *   per-key-linearizable   If a transaction that touched version a ended before
 *                          one that touched version b began, a comes before b.
 *   per-key-sequential     The same for transactions of one session.
 *   writes-follow-reads    What a transaction reads of a key comes before what
 *                          it writes there.
 *
 * To touch a version is to read it from others or to install it.  For the
 * first, only the earliest end E and the latest begin B among those that touch
 * a version matter: a comes before b exactly if E(a) < B(b).  Sweeping over
 * the begins, only pairs with nothing in between are kept.
 *
 * Pairs that contradict each other, the initial version (which is first), or
 * a known order are cyclic versions: the promise is broken.  All others are
 * edges like any known ones, and a verdict that uses them says so.
 *
 * O(operations + n log n) for n versions, plus the pairs kept.
 */
#include "check/graph.h"

#include <stdlib.h>
#include <string.h>

typedef struct life {
    uint64_t end, begin; /* E and B */
    hf_op_id end_op, begin_op;
} life;

typedef struct assumer {
    hf_graph *g;
    life *lives; /* per version; linearizable only */
    hf_version_pairs found;
    uint8_t *suspect; /* per key: its pairs have a circle */
} assumer;

static void pair_up(assumer *a, uint32_t first, uint32_t then,
                    hf_op_id first_op, hf_op_id then_op, unsigned bit)
{
    if (first == then)
        return;
    a->g->rests |= bit;
    hf_vec_push(&a->found, (hf_version_pair){first, then, first_op, then_op});
}

/* ---- touches ------------------------------------------------------------- */

/* The version that operation o touches, or HF_NONE.  An increment touches
 * two; `reading` asks for the one it reads. */
static uint32_t touched(const hf_graph *g, hf_op_id o, bool reading)
{
    if (reading)
        return g->op_source && g->op_source[o] != HF_NONE ? g->op_source[o] / 2
                                                          : HF_NONE;
    return g->op_role[o] != HF_NONE ? g->op_role[o] / 2 : HF_NONE;
}

static void live(assumer *a, hf_txn_id t, hf_op_id o, uint32_t ver)
{
    const hf_history *h = a->g->h;
    uint64_t end = hf_txn_end_time(h, t), begin = hf_txn_begin_time(h, t);
    life *l;

    if (ver == HF_NONE)
        return;
    l = &a->lives[ver];
    if (end != HF_TIME_NONE && h->txn_outcome[t] == HF_COMMITTED &&
        (l->end_op == HF_NONE || end < l->end)) {
        l->end = end;
        l->end_op = o;
    }
    if (begin != HF_TIME_NONE && (l->begin_op == HF_NONE || begin > l->begin)) {
        l->begin = begin;
        l->begin_op = o;
    }
}

static void find_lives(assumer *a)
{
    const hf_graph *g = a->g;
    const hf_history *h = g->h;

    a->lives = HF_NEW_ARRAY(life, (size_t)g->n_versions + 1);
    for (uint32_t v = 0; v < g->n_versions; v++)
        a->lives[v] = (life){0, 0, HF_NONE, HF_NONE};
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t];
             g->happened[t] && o < h->op_first[t + 1]; o++) {
            live(a, t, o, touched(g, o, false));
            live(a, t, o, touched(g, o, true));
        }
}

/* ---- linearizable -------------------------------------------------------- */

typedef struct moment {
    uint64_t at;
    uint32_t ver;
} moment;

static int by_time(const void *a, const void *b)
{
    const moment *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->ver > y->ver) - (x->ver < y->ver);
}

/* Of those that ended before, which began last?  Two of them, since a version
 * does not come between itself and another. */
typedef struct latest {
    uint64_t at[2];
    uint32_t ver[2];
} latest;

static void began(latest *l, const life *x, uint32_t ver)
{
    /* one whose life overlaps itself stands between nothing: it may be on a
     * circle, and each of two could then leave out the other */
    if (x->begin_op == HF_NONE || x->begin > x->end)
        return;
    if (l->ver[0] == HF_NONE || x->begin > l->at[0]) {
        l->at[1] = l->at[0];
        l->ver[1] = l->ver[0];
        l->at[0] = x->begin;
        l->ver[0] = ver;
    } else if (l->ver[1] == HF_NONE || x->begin > l->at[1]) {
        l->at[1] = x->begin;
        l->ver[1] = ver;
    }
}

/* Is there one that began after a ended, and ended before b began? */
static bool has_between(const latest *l, const life *lives, uint32_t a,
                        uint32_t b)
{
    for (unsigned i = 0; i < 2; i++)
        if (l->ver[i] != HF_NONE && l->ver[i] != a && l->ver[i] != b &&
            l->at[i] > lives[a].end)
            return true;
    return false;
}

static void sweep_key(assumer *a, hf_key_id key, moment *ends, moment *begins,
                      uint32_t *waiting)
{
    const hf_graph *g = a->g;
    uint32_t n_ends = 0, n_begins = 0, passed = 0, n = 0;
    latest l = {{0, 0}, {HF_NONE, HF_NONE}};

    for (uint32_t v = g->ver_first[key]; v < g->ver_end[key]; v++) {
        if (a->lives[v].end_op != HF_NONE)
            ends[n_ends++] = (moment){a->lives[v].end, v};
        if (a->lives[v].begin_op != HF_NONE)
            begins[n_begins++] = (moment){a->lives[v].begin, v};
    }
    qsort(ends, n_ends, sizeof(*ends), by_time);
    qsort(begins, n_begins, sizeof(*begins), by_time);
    for (uint32_t i = 0; i < n_begins; i++) {
        uint32_t kept = 0, b = begins[i].ver;

        for (; passed < n_ends && ends[passed].at < begins[i].at; passed++) {
            waiting[n++] = ends[passed].ver;
            began(&l, &a->lives[ends[passed].ver], ends[passed].ver);
        }
        for (uint32_t j = 0; j < n; j++) {
            uint32_t v = waiting[j];

            if (!has_between(&l, a->lives, v, b))
                pair_up(a, v, b, a->lives[v].end_op, a->lives[b].begin_op,
                        HF_REST_LINEARIZABLE);
            if (!has_between(&l, a->lives, v, HF_NONE))
                waiting[kept++] = v;
        }
        n = kept;
    }
}

static void assume_linearizable(assumer *a)
{
    hf_graph *g = a->g;
    moment *ends, *begins;
    uint32_t *waiting;

    if (!g->h->txn_begin || !g->h->txn_end)
        return;
    find_lives(a);
    ends = HF_NEW_ARRAY(moment, (size_t)g->n_versions + 1);
    begins = HF_NEW_ARRAY(moment, (size_t)g->n_versions + 1);
    waiting = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
    for (hf_key_id k = 0; k < g->h->n_keys && !hf_graph_spent(g); k++)
        sweep_key(a, k, ends, begins, waiting);
    hf_free(ends);
    hf_free(begins);
    hf_free(waiting);
    hf_free(a->lives);
}

/* ---- sequential ---------------------------------------------------------- */

#define TOUCHES 4u /* of one key by one transaction, that are remembered */

typedef struct touches {
    hf_txn_id txn; /* HF_NONE: none */
    uint32_t n;
    uint32_t ver[TOUCHES];
    hf_op_id op[TOUCHES];
} touches;

typedef struct last {
    hf_session_id session;
    touches before, now; /* of the last transaction but one, and the last */
} last;

static void follow(assumer *a, last *l, hf_txn_id t, hf_op_id o, uint32_t ver)
{
    const hf_history *h = a->g->h;
    hf_session_id session = h->txn_session[t];
    uint32_t at;

    if (ver == HF_NONE)
        return;
    l += h->op_key[o];
    if (l->session != session)
        *l = (last){.session = session,
                    .before = {.txn = HF_NONE},
                    .now = {.txn = HF_NONE}};
    if (l->now.txn != t) {
        l->before = l->now;
        l->now = (touches){.txn = t};
    }
    for (uint32_t i = 0; i < l->before.n; i++)
        pair_up(a, l->before.ver[i], ver, l->before.op[i], o,
                HF_REST_SEQUENTIAL);
    at = l->now.n < TOUCHES ? l->now.n++ : TOUCHES - 1;
    l->now.ver[at] = ver;
    l->now.op[at] = o;
}

/* Every version that a transaction touched is before every other one that the
 * next of its session touched. */
static void assume_sequential(assumer *a)
{
    const hf_graph *g = a->g;
    const hf_history *h = g->h;
    last *l = HF_NEW_ARRAY(last, (size_t)h->n_keys + 1);

    for (hf_key_id k = 0; k < h->n_keys; k++)
        l[k].session = HF_NONE;
    for (hf_session_id s = 0; s < h->n_sessions; s++)
        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            for (hf_op_id o = h->op_first[t];
                 g->happened[t] && o < h->op_first[t + 1]; o++) {
                follow(a, l, t, o, touched(g, o, true));
                follow(a, l, t, o, touched(g, o, false));
            }
        }
    hf_free(l);
}

/* ---- writes follow reads ------------------------------------------------- */

static void assume_reads(assumer *a)
{
    const hf_graph *g = a->g;
    const hf_history *h = g->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            uint32_t read = hf_graph_source(g, o), mine;

            if (read == HF_NONE)
                continue;
            mine = hf_graph_version_of(g, t, h->op_key[o]);
            if (mine != HF_NONE)
                pair_up(a, read, mine, o, g->ver_op[mine], HF_REST_READS);
        }
}

/* ---- contradictions ------------------------------------------------------ */

static hf_key_id key_of(const hf_graph *g, const hf_version_pair *p)
{
    return g->h->op_key[p->first_op];
}

/* Against the initial version or a known order? */
static bool contradicts_order(hf_graph *g, const hf_version_pair *p)
{
    hf_key_id key = key_of(g, p);

    if (p->then == g->ver_first[key]) {
        hf_graph_note(g, HF_CYCLIC_VERSIONS, p->first_op, p->then_op, HF_NONE,
                      HF_NONE);
        return true;
    }
    if (p->first < g->chain_end[key] && p->then < p->first &&
        !(g->key_use[key] & HF_USE_PATH)) {
        hf_graph_note(g, HF_CYCLIC_VERSIONS, p->first_op, p->then_op,
                      g->ver_op[p->then], g->ver_op[p->first]);
        return true;
    }
    return false;
}

static int by_first(const void *a, const void *b)
{
    const hf_version_pair *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->then > y->then) - (x->then < y->then);
}

/* The shortest circle of pairs through pair i, breadth first; its pairs are
 * in `way` from the last to the first.  Returns their number, 0: none. */
static uint32_t circle_through(const hf_version_pairs *p, uint32_t i,
                               const uint32_t *first, uint32_t *by,
                               uint32_t *queue, uint32_t *way)
{
    uint32_t head = 0, tail = 0, n = 0, goal = p->at[i].first;

    by[p->at[i].then] = i;
    queue[tail++] = p->at[i].then;
    while (head < tail && by[goal] == HF_NONE) {
        uint32_t v = queue[head++];

        for (uint32_t k = first[v]; k < first[v + 1]; k++)
            if (by[p->at[k].then] == HF_NONE) {
                by[p->at[k].then] = k;
                queue[tail++] = p->at[k].then;
            }
    }
    if (by[goal] != HF_NONE) {
        uint32_t v = goal;

        do {
            way[n++] = by[v];
            v = p->at[by[v]].first;
        } while (v != goal);
    }
    for (uint32_t k = 0; k < tail; k++)
        by[queue[k]] = HF_NONE;
    return n;
}

/* Takes away versions that no pair leads to until none is left: those that
 * remain are on circles or behind them. */
static void find_suspects(assumer *a, const uint32_t *first)
{
    const hf_graph *g = a->g;
    const hf_version_pairs *p = &a->found;
    uint32_t *into = HF_NEW_ZEROED(uint32_t, (size_t)g->n_versions + 1);
    uint32_t *ready = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
    uint32_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        into[p->at[i].then]++;
    for (uint32_t v = 0; v < g->n_versions; v++)
        if (into[v] == 0)
            ready[n++] = v;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = first[ready[i]]; k < first[ready[i] + 1]; k++)
            if (--into[p->at[k].then] == 0)
                ready[n++] = p->at[k].then;
    for (size_t i = 0; i < p->n; i++)
        if (into[p->at[i].then] > 0)
            a->suspect[key_of(g, &p->at[i])] = 1;
    hf_free(into);
    hf_free(ready);
}

/* The operations of a circle of pairs, which are given from last to first. */
static void note_circle(hf_graph *g, const hf_version_pairs *p,
                        const uint32_t *way, uint32_t n)
{
    hf_vec_push(&g->circles, n * 2);
    for (uint32_t i = n; i-- > 0;) {
        hf_vec_push(&g->circles, p->at[way[i]].first_op);
        hf_vec_push(&g->circles, p->at[way[i]].then_op);
    }
}

/* Notes circles among the pairs, and drops the pairs of their keys. */
static void find_circles(assumer *a)
{
    hf_graph *g = a->g;
    hf_version_pairs *p = &a->found;
    uint32_t *first = HF_NEW_ZEROED(uint32_t, (size_t)g->n_versions + 2);
    uint32_t *by = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
    uint32_t *queue = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
    uint32_t *way = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
    uint8_t *bad = HF_NEW_ZEROED(uint8_t, (size_t)g->h->n_keys + 1);
    size_t kept = 0;

    if (p->n > 0)
        qsort(p->at, p->n, sizeof(*p->at), by_first);
    memset(by, 0xff, ((size_t)g->n_versions + 1) * sizeof(*by));
    for (size_t i = 0; i < p->n; i++)
        first[p->at[i].first + 1]++;
    for (uint32_t v = 0; v < g->n_versions; v++)
        first[v + 1] += first[v];
    find_suspects(a, first);
    for (uint32_t i = 0; i < p->n && !hf_graph_spent(g); i++) {
        hf_key_id key = key_of(g, &p->at[i]);
        uint32_t n = 0;

        if (!bad[key] && a->suspect[key])
            n = circle_through(p, i, first, by, queue, way);
        if (n == 0)
            continue;
        bad[key] = 1;
        note_circle(g, p, way, n);
    }
    for (size_t i = 0; i < p->n; i++)
        if (!bad[key_of(g, &p->at[i])])
            p->at[kept++] = p->at[i];
    p->n = kept;
    hf_free(first);
    hf_free(by);
    hf_free(queue);
    hf_free(way);
    hf_free(bad);
}

/* ---- all ----------------------------------------------------------------- */

/* Pairs that say something new about keys whose order is open. */
static void hand_over(assumer *a, hf_version_pairs *ret)
{
    for (size_t i = 0; i < a->found.n; i++) {
        const hf_version_pair *p = &a->found.at[i];

        if (a->g->open_key[key_of(a->g, p)])
            hf_vec_push(ret, *p);
    }
}

void hf_graph_assume(hf_graph *g, hf_version_pairs *pairs)
{
    assumer a = {.g = g};
    size_t kept = 0;

    a.suspect = HF_NEW_ZEROED(uint8_t, (size_t)g->h->n_keys + 1);
    if (g->options.assume & HF_REST_LINEARIZABLE)
        assume_linearizable(&a);
    if (g->options.assume & HF_REST_SEQUENTIAL)
        assume_sequential(&a);
    if (g->options.assume & HF_REST_READS)
        assume_reads(&a);
    for (size_t i = 0; i < a.found.n; i++)
        if (!contradicts_order(g, &a.found.at[i]))
            a.found.at[kept++] = a.found.at[i];
    a.found.n = kept;
    find_circles(&a);
    hand_over(&a, pairs);
    hf_vec_release(&a.found);
    hf_free(a.suspect);
}
