/* graph_open.c: sessions, real time, and versions without a total order.
 *
 * Real time is an interval order with up to n^2 pairs.  Here it is a chain:
 * one node for each end of a committed transaction, in the order of time; a
 * transaction that ends leads to its node, and each node leads to the next and
 * to the transactions that begin after it and before the next.  3n edges.
 *
 * Where the order of a key's versions is not known as a whole, part of it is.
 * Every version but the initial one has a version known to come before it:
 *   in the chain         the one before it in the chain
 *   a list's open ones   the end of the chain
 *   a register's         what its transaction read of the key before it
 *                        wrote it (the other way round would be a cycle of
 *                        ww and wr); else the initial version
 * so the known orders form a tree.  Readers of a version come before all its
 * children.  If there are several children, all those rw edges go through one
 * node, a group.  A reader that is itself one of the children must not come
 * before itself: if it is alone in that, its edges are listed one by one; if
 * there are two, each does come before the other, and the cycle is real.
 *
 * More pairs of versions are known from session order and real time where the
 * level has them, and from assumptions (graph_assume.c).
 */
#include "check/graph.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* ---- sessions and time --------------------------------------------------- */

static void link_sessions(hf_graph *g)
{
    const hf_history *h = g->h;

    g->session_prev =
        hf_alloc_large(hf_array_size((size_t)h->n_txns + 1, sizeof(hf_txn_id)));
    memset(g->session_prev, 0xff,
           ((size_t)h->n_txns + 1) * sizeof(*g->session_prev));
    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        hf_txn_id last = HF_NONE;

        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            if (!g->happened[t])
                continue;
            g->session_prev[t] = last;
            last = t;
        }
    }
}

static void link_times(hf_graph *g)
{
    const hf_history *h = g->h;
    size_t room = hf_array_size((size_t)h->n_txns + 1, sizeof(hf_sortable));
    hf_sortable *ends = hf_alloc_large(room), *begins = hf_alloc_large(room);
    uint32_t n_ends = 0, n_begins = 0, passed = 0;

    g->time_before = HF_NEW_ZEROED(uint32_t, (size_t)h->n_txns + 1);
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        uint64_t end = hf_txn_end_time(h, t), begin = hf_txn_begin_time(h, t);

        if (!g->happened[t])
            continue;
        if (end != HF_TIME_NONE && h->txn_outcome[t] == HF_COMMITTED)
            ends[n_ends++] = (hf_sortable){end, t};
        if (begin != HF_TIME_NONE)
            begins[n_begins++] = (hf_sortable){begin, t};
    }
    hf_sort(ends, n_ends);
    hf_sort(begins, n_begins);
    g->time_txn = HF_NEW_ARRAY(hf_txn_id, (size_t)n_ends + 1);
    g->n_times = n_ends;
    for (uint32_t i = 0; i < n_ends; i++)
        g->time_txn[i] = (hf_txn_id)ends[i].value;
    for (uint32_t i = 0; i < n_begins; i++) {
        while (passed < n_ends && ends[passed].key < begins[i].key)
            passed++;
        g->time_before[begins[i].value] = passed;
    }
    hf_free(ends);
    hf_free(begins);
}

void hf_graph_sessions_and_time(hf_graph *g)
{
    if (g->level->session_order)
        link_sessions(g);
    if (g->level->real_time && g->h->txn_begin && g->h->txn_end)
        link_times(g);
}

/* ---- pairs from sessions and time ---------------------------------------- */

static void add_pair(hf_version_pairs *pairs, uint32_t first, uint32_t then)
{
    hf_vec_push(pairs, (hf_version_pair){first, then, HF_NONE, HF_NONE});
}

/* Consecutive versions of a key by one session. */
static void pairs_of_sessions(hf_graph *g, const uint8_t *is_open,
                              hf_version_pairs *pairs)
{
    const hf_history *h = g->h;
    uint32_t *last = HF_NEW_ARRAY(uint32_t, (size_t)h->n_keys + 1);
    hf_session_id *of = HF_NEW_ARRAY(hf_session_id, (size_t)h->n_keys + 1);

    memset(of, 0xff, ((size_t)h->n_keys + 1) * sizeof(*of));
    for (hf_session_id s = 0; s < h->n_sessions; s++)
        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
                hf_key_id key = h->op_key[o];

                if (g->op_role[o] == HF_NONE || !(g->op_role[o] & 1u) ||
                    !is_open[key])
                    continue;
                if (of[key] == s)
                    add_pair(pairs, last[key], g->op_role[o] / 2);
                of[key] = s;
                last[key] = g->op_role[o] / 2;
            }
        }
    hf_free(last);
    hf_free(of);
}

typedef struct span {
    uint64_t begin, end; /* HF_TIME_NONE: never, or unknown */
    uint32_t ver;
} span;

static int by_begin(const void *a, const void *b)
{
    const span *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->ver > y->ver) - (x->ver < y->ver);
}

/* Of the versions of one key, sorted by begin: for each, those that ended
 * before it began and after which no other one fits in between. */
static void pairs_of_spans(const span *s, uint32_t n, uint32_t *live,
                           hf_version_pairs *pairs)
{
    uint32_t n_live = 0;

    for (uint32_t i = 0; i < n && s[i].begin != HF_TIME_NONE; i++) {
        uint64_t newest = 0; /* latest begin among those that ended before */
        uint32_t kept = 0;

        for (uint32_t j = 0; j < n_live; j++)
            if (s[live[j]].end < s[i].begin && s[live[j]].begin > newest)
                newest = s[live[j]].begin;
        for (uint32_t j = 0; j < n_live; j++) {
            if (s[live[j]].end < s[i].begin && s[live[j]].end < newest)
                continue; /* someone ended before i and began after it */
            if (s[live[j]].end < s[i].begin)
                add_pair(pairs, s[live[j]].ver, s[i].ver);
            live[kept++] = live[j];
        }
        n_live = kept;
        live[n_live++] = i;
    }
}

static void pairs_of_times(hf_graph *g, const uint8_t *is_open,
                           hf_version_pairs *pairs)
{
    const hf_history *h = g->h;
    span *s = HF_NEW_ARRAY(span, (size_t)g->n_versions + 1);
    uint32_t *live = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);

    for (hf_key_id k = 0; k < h->n_keys; k++) {
        uint32_t n = 0;

        for (uint32_t v = g->ver_first[k] + 1; is_open[k] && v < g->ver_end[k];
             v++) {
            hf_txn_id t = g->ver_txn[v];

            s[n++] =
                (span){hf_txn_begin_time(h, t),
                       h->txn_outcome[t] == HF_COMMITTED ? hf_txn_end_time(h, t)
                                                         : HF_TIME_NONE,
                       v};
        }
        qsort(s, n, sizeof(*s), by_begin);
        pairs_of_spans(s, n, live, pairs);
        if (hf_graph_spent(g))
            break;
    }
    hf_free(s);
    hf_free(live);
}

static int by_then(const void *a, const void *b)
{
    const hf_version_pair *x = a, *y = b;

    if (x->then != y->then)
        return x->then < y->then ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static void store_pairs(hf_graph *g, hf_version_pairs *pairs)
{
    if (pairs->n > 0) {
        qsort(pairs->at, pairs->n, sizeof(*pairs->at), by_then);
        g->pair_first = HF_NEW_ZEROED(uint32_t, (size_t)g->n_versions + 2);
        for (size_t i = 0; i < pairs->n; i++)
            g->pair_first[pairs->at[i].then + 1]++;
        for (uint32_t v = 0; v < g->n_versions; v++)
            g->pair_first[v + 1] += g->pair_first[v];
        g->pairs = pairs->at;
        g->n_pairs = (uint32_t)pairs->n;
        *pairs = (hf_version_pairs){0};
    }
    hf_vec_release(pairs);
}

/* ---- the tree ------------------------------------------------------------ */

/* What the transaction of version v read of the key before it wrote it, if it
 * is a version; else the initial version. */
static uint32_t version_read_before(const hf_graph *g, hf_key_id key,
                                    uint32_t v)
{
    const hf_history *h = g->h;
    hf_txn_id t = g->ver_txn[v];

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        if (h->op_key[o] != key)
            continue;
        if (g->op_source && g->op_source[o] != HF_NONE)
            return g->op_source[o] / 2;
        if (g->op_role[o] != HF_NONE && !(g->op_role[o] & 1u))
            return g->op_role[o] / 2;
        if (hf_graph_writes(h, o))
            break;
    }
    return g->ver_first[key];
}

static void grow_tree(hf_graph *g, hf_key_id key, uint32_t *children)
{
    uint32_t first = g->ver_first[key];
    bool list = g->key_use[key] & HF_USE_LIST;

    for (uint32_t v = first + 1; v < g->ver_end[key]; v++) {
        uint32_t p = v - 1;

        if (v >= g->chain_end[key])
            p = list              ? g->chain_end[key] - 1
                : g->reads_matter ? version_read_before(g, key, v)
                                  : first;
        g->prev[v] = p;
        children[p]++;
    }
}

/* A version in the chain whose transaction read one that is not: that one is
 * before it, too. */
static void pairs_of_reads(const hf_graph *g, hf_version_pairs *pairs)
{
    for (hf_key_id k = 0; k < g->h->n_keys; k++)
        for (uint32_t v = g->ver_first[k] + 1;
             g->open_key[k] && v < g->chain_end[k]; v++) {
            uint32_t p = version_read_before(g, k, v);

            if (p >= g->chain_end[k])
                add_pair(pairs, p, v);
        }
}

/* The transactions that read version p and wrote one of its children: none,
 * one, or MANY. */
#define MANY (HF_NONE - 1)
static void mark_alone(hf_graph *g, uint32_t v)
{
    uint32_t p = g->prev[v];
    uint32_t group = g->group_of[p];
    hf_txn_id t = g->ver_txn[v];

    if (group == HF_NONE || hf_graph_read_of(g, t, p) == HF_NONE)
        return;
    g->group_alone[group] = g->group_alone[group] == HF_NONE ? t : MANY;
}

static void make_groups(hf_graph *g, const uint32_t *children)
{
    for (uint32_t v = 0; v < g->n_versions; v++)
        g->group_of[v] = children[v] > 1 ? g->n_groups++ : HF_NONE;
    g->group_ver = HF_NEW_ARRAY(uint32_t, (size_t)g->n_groups + 1);
    g->group_alone = HF_NEW_ARRAY(hf_txn_id, (size_t)g->n_groups + 1);
    memset(g->group_alone, 0xff, ((size_t)g->n_groups + 1) * sizeof(hf_txn_id));
    for (uint32_t v = 0; v < g->n_versions; v++)
        if (g->group_of[v] != HF_NONE)
            g->group_ver[g->group_of[v]] = v;
    for (hf_key_id k = 0; k < g->h->n_keys && g->reads_matter; k++)
        for (uint32_t v = g->ver_first[k] + 1; v < g->ver_end[k]; v++)
            mark_alone(g, v);
    for (uint32_t i = 0; i < g->n_groups; i++)
        if (g->group_alone[i] == MANY)
            g->group_alone[i] = HF_NONE;
}

/* A key with one open version whose place is clear is one chain. */
static bool is_total(hf_graph *g, hf_key_id key)
{
    uint32_t open = g->ver_end[key] - g->chain_end[key];
    bool list = g->key_use[key] & HF_USE_LIST;

    if (open == 1 && ((list && !(g->key_use[key] & HF_USE_MURKY)) ||
                      g->chain_end[key] == g->ver_first[key] + 1)) {
        g->chain_end[key] = g->ver_end[key];
        open = 0;
    }
    return open == 0;
}

/* The versions of an open register key, each after the one it read, if that
 * makes one path; 0 otherwise. */
static uint32_t path_of_key(const hf_graph *g, hf_key_id key, uint32_t *child,
                            uint32_t *order)
{
    uint32_t first = g->ver_first[key], n = 0;

    for (uint32_t v = first; v < g->ver_end[key]; v++)
        child[v] = HF_NONE;
    for (uint32_t v = first + 1; v < g->ver_end[key]; v++) {
        uint32_t p = version_read_before(g, key, v);

        if (child[p] != HF_NONE)
            return 0;
        child[p] = v;
    }
    for (uint32_t v = child[first]; v != HF_NONE; v = child[v])
        order[n++] = v;
    return n == g->ver_end[key] - first - 1 ? n : 0;
}

/* An open register with two versions or more. */
static bool is_candidate(const hf_graph *g, hf_key_id k)
{
    return !(g->key_use[k] & HF_USE_LIST) &&
           g->chain_end[k] == g->ver_first[k] + 1 &&
           g->ver_end[k] - g->ver_first[k] >= 3;
}

static bool has_candidates(const hf_graph *g)
{
    for (hf_key_id k = 0; k < g->h->n_keys; k++)
        if (is_candidate(g, k))
            return true;
    return false;
}

void hf_graph_find_paths(hf_graph *g)
{
    const hf_history *h = g->h;
    uint32_t *map, *child, *order;
    bool found = false;

    /* under an assumption the pairs may contradict it: leave it open */
    if (!g->reads_matter || g->options.assume || !has_candidates(g))
        return;
    map = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
    child = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
    order = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
    for (uint32_t v = 0; v < g->n_versions; v++)
        map[v] = v;
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        uint32_t n;

        if (!is_candidate(g, k))
            continue;
        n = path_of_key(g, k, child, order);
        if (n == 0)
            continue;
        for (uint32_t i = 0; i < n; i++)
            map[order[i]] = g->ver_first[k] + 1 + i;
        hf_graph_permute(g, k, order, n);
        g->chain_end[k] = g->ver_end[k];
        g->key_use[k] |= HF_USE_PATH;
        found = true;
    }
    if (found)
        hf_graph_remap(g, map);
    hf_free(map);
    hf_free(child);
    hf_free(order);
}

void hf_graph_find_open(hf_graph *g)
{
    g->open_key = HF_NEW_ZEROED(uint8_t, (size_t)g->h->n_keys + 1);
    for (hf_key_id k = 0; k < g->h->n_keys; k++) {
        g->open_key[k] = !is_total(g, k);
        g->n_open_keys += g->open_key[k];
    }
}

void hf_graph_open_orders(hf_graph *g)
{
    const hf_history *h = g->h;
    const uint8_t *is_open = g->open_key;
    hf_version_pairs pairs = {0};
    uint32_t *children;

    for (size_t i = 0; i < g->listed.n; i++)
        if (is_open[h->op_key[g->ver_op[g->listed.at[i].then]]])
            hf_vec_push(&pairs, g->listed.at[i]);
    if (g->options.assume & HF_REST_ASSUMABLE)
        hf_graph_assume(g, &pairs);
    g->total = g->n_open_keys == 0 && pairs.n == 0;
    if (!g->total) {
        children = HF_NEW_ZEROED(uint32_t, (size_t)g->n_versions + 1);
        g->prev = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
        g->group_of = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
        memset(g->prev, 0xff, ((size_t)g->n_versions + 1) * sizeof(uint32_t));
        for (hf_key_id k = 0; k < h->n_keys; k++)
            grow_tree(g, k, children);
        make_groups(g, children);
        hf_free(children);
        if (g->reads_matter)
            pairs_of_reads(g, &pairs);
        if (g->level->session_order && g->n_open_keys > 0)
            pairs_of_sessions(g, is_open, &pairs);
        if (g->time_txn && g->n_open_keys > 0)
            pairs_of_times(g, is_open, &pairs);
    }
    store_pairs(g, &pairs);
}
