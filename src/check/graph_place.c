/* graph_place.c: a place for every version.
 *
 * Each write that its transaction does not overwrite installs a version: where
 * a certificate lists it, else after those, in the order of transactions.  A
 * certificate names transactions; to find the place of one without searching,
 * each key remembers where it found the last, since files and certificates
 * are in nearly the same order.  What is not near is left for a second look.
 *
 * Where no version order was recorded for a key, but an order of transactions
 * was, the versions follow that one.
 *
 * O(operations + values + certificate).
 */
#include "check/graph.h"

#include <stdlib.h>
#include <string.h>

#define NEAR 48u /* how far from the last place of a key to look */

typedef struct pending {
    hf_key_id key;
    hf_txn_id t;
    hf_op_id op;
} pending;

typedef struct placer {
    hf_graph *g;
    const uint64_t *listed_first; /* NULL: no certificate */
    const hf_txn_id *listed;
    uint32_t *near;  /* per key: where the certificate was last found */
    uint32_t *open;  /* per key: the next place after the listed ones */
    uint32_t *later; /* per key: last transaction seen writing it */
    HF_VEC(pending) pending;
    bool shared;    /* other pieces are placed at the same time */
    bool met_twice; /* a value was written twice */
} placer;

static uint32_t listed_count(const placer *p, hf_key_id key)
{
    return p->listed_first
               ? (uint32_t)(p->listed_first[key + 1] - p->listed_first[key])
               : 0;
}

/* Where t would be if the certificate were in the order of the file. */
static uint32_t first_guess(const hf_txn_id *at, uint32_t n, hf_txn_id t)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (at[middle] < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The place of t in the certificate of key, if it is near the last one;
 * HF_NONE: not near. */
static inline uint32_t near_place(placer *p, hf_key_id key, hf_txn_id t)
{
    const hf_txn_id *at = p->listed + p->listed_first[key];
    uint32_t n = listed_count(p, key), hint = p->near[key];

    if (hint == HF_NONE)
        hint = first_guess(at, n, t);

    if (hint < n && at[hint] == t) {
        p->near[key] = hint + 1;
        return hint;
    }
    for (uint32_t i = 1; i < NEAR; i++) {
        if (hint + i < n && at[hint + i] == t) {
            p->near[key] = hint + i + 1;
            return hint + i;
        }
        if (i <= hint && hint - i < n && at[hint - i] == t)
            return hint - i;
    }
    return HF_NONE;
}

/* Installs the version in the slot and returns it. */
static uint32_t install(hf_graph *g, uint32_t slot, hf_txn_id t, hf_op_id op)
{
    g->ver_txn[slot] = t;
    g->ver_op[slot] = op;
    g->op_role[op] = HF_ROLE_WRITE(slot);
    return slot;
}

static inline uint32_t place_version(placer *p, hf_key_id key, hf_txn_id t,
                                     hf_op_id op)
{
    hf_graph *g = p->g;
    uint32_t at;

    if (listed_count(p, key) == 0 && !p->shared)
        return install(g, p->open[key]++, t, op);
    at = listed_count(p, key) ? near_place(p, key, t) : HF_NONE;
    if (at != HF_NONE)
        return install(g, g->ver_first[key] + 1 + at, t, op);
    hf_vec_push(&p->pending, (pending){key, t, op});
    return HF_VER_PENDING;
}

static void note_second_write(hf_graph *g, hf_txn_id t, hf_value_id v,
                              hf_op_id op)
{
    const hf_history *h = g->h;
    hf_value_fact *f = &g->value[v];

    if (h->unique_values && h->value_type[v] != HF_NIL)
        hf_graph_note(g, HF_DUPLICATE_WRITE, f->op, op, HF_NONE, HF_NONE);
    if (hf_op_kind_of(h, op) != HF_OP_APPEND && f->op >= h->op_first[t] &&
        f->op < h->op_first[t + 1])
        return; /* its own later write, which counts */
    f->ver = HF_VER_SEVERAL;
}

/* While other pieces may write the same value.  If two do at once, one of
 * them is not there afterwards: look_again() sees it. */
static inline void share_value(placer *p, hf_value_id v, hf_value_fact fact)
{
    hf_value_fact old;

    __atomic_load(&p->g->value[v], &old, __ATOMIC_RELAXED);
    if (old.ver != HF_VER_NOBODY)
        p->met_twice = true;
    __atomic_store(&p->g->value[v], &fact, __ATOMIC_RELAXED);
}

/* Is there a later write of the key in the transaction?  Operations are
 * visited from the last to the first; `later` helps in long ones. */
static inline bool is_overwritten(placer *p, hf_txn_id t, hf_op_id op,
                                  hf_op_id end)
{
    const hf_history *h = p->g->h;
    hf_key_id key = h->op_key[op];

    if (end - h->op_first[t] > 12) {
        if (p->later[key] == t)
            return true;
        p->later[key] = t;
        return false;
    }
    for (hf_op_id o = op + 1; o < end; o++)
        if (h->op_key[o] == key && hf_graph_writes(h, o))
            return true;
    return false;
}

static inline void place_write(placer *p, hf_txn_id t, hf_op_id op,
                               hf_op_id end)
{
    hf_graph *g = p->g;
    hf_value_id v = hf_graph_written(g->h, op);
    uint32_t ver;

    if (!g->happened[t])
        ver =
            g->h->txn_outcome[t] == HF_ABORTED ? HF_VER_ABORTED : HF_VER_ABSENT;
    else if (is_overwritten(p, t, op, end))
        ver = HF_VER_INNER;
    else
        ver = place_version(p, g->h->op_key[op], t, op);
    if (v == HF_NONE)
        return;
    if (p->shared)
        share_value(p, v, (hf_value_fact){ver, op});
    else if (g->value[v].ver == HF_VER_NOBODY)
        g->value[v] = (hf_value_fact){ver, op};
    else
        note_second_write(g, t, v, op);
}

static int by_key(const void *a, const void *b)
{
    const pending *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

/* The place of those that were not near.  One pass over the certificate of
 * each key concerned. */
static void place_pending(placer *p)
{
    hf_graph *g = p->g;
    uint32_t *place;
    size_t i = 0;

    if (p->pending.n == 0)
        return;
    place = HF_NEW_ARRAY(uint32_t, (size_t)g->h->n_txns + 1);
    qsort(p->pending.at, p->pending.n, sizeof(pending), by_key);
    while (i < p->pending.n) {
        hf_key_id key = p->pending.at[i].key;
        size_t first = i;

        for (; i < p->pending.n && p->pending.at[i].key == key; i++)
            place[p->pending.at[i].t] = HF_NONE;
        for (uint64_t j = p->listed_first[key]; j < p->listed_first[key + 1];
             j++)
            place[p->listed[j]] = (uint32_t)(j - p->listed_first[key]);
        for (size_t j = first; j < i; j++) {
            pending w = p->pending.at[j];
            hf_value_id v = hf_graph_written(g->h, w.op);
            uint32_t ver = place[w.t] == HF_NONE
                               ? p->open[key]++
                               : g->ver_first[key] + 1 + place[w.t];

            install(g, ver, w.t, w.op);
            if (v != HF_NONE && g->value[v].ver == HF_VER_PENDING &&
                g->value[v].op == w.op)
                g->value[v].ver = ver;
        }
    }
    hf_free(place);
}

void hf_graph_permute(hf_graph *g, hf_key_id key, const uint32_t *order,
                      uint32_t n)
{
    uint32_t base = g->ver_first[key] + 1;
    hf_txn_id *txns = HF_NEW_ARRAY(hf_txn_id, (size_t)n + 1);
    hf_op_id *ops = HF_NEW_ARRAY(hf_op_id, (size_t)n + 1);

    for (uint32_t i = 0; i < n; i++) {
        txns[i] = g->ver_txn[order[i]];
        ops[i] = g->ver_op[order[i]];
    }
    for (uint32_t i = 0; i < n; i++) {
        hf_value_id v = hf_graph_written(g->h, ops[i]);

        (void)install(g, base + i, txns[i], ops[i]);
        if (v != HF_NONE && g->value[v].op == ops[i] &&
            g->value[v].ver < HF_VER_MOST)
            g->value[v].ver = base + i;
    }
    g->ver_end[key] = base + n;
    hf_free(txns);
    hf_free(ops);
}

void hf_graph_remap(hf_graph *g, const uint32_t *map)
{
    for (hf_op_id o = 0; o < g->h->n_ops; o++) {
        uint32_t role = g->op_role[o];

        if (!(role & 1u))
            g->op_role[o] = HF_ROLE_READ(map[role / 2]);
        if (g->op_source && g->op_source[o] != HF_NONE)
            g->op_source[o] = HF_ROLE_READ(map[g->op_source[o] / 2]);
    }
}

/* Listed transactions that did not happen leave gaps. */
static void close_gaps(placer *p)
{
    hf_graph *g = p->g;
    uint32_t *order = NULL;
    size_t cap = 0;

    for (hf_key_id k = 0; k < g->h->n_keys; k++) {
        uint32_t base = g->ver_first[k] + 1, listed = listed_count(p, k);
        uint32_t used = p->open[k] - base, n = 0;

        g->ver_end[k] = p->open[k];
        g->chain_end[k] = base + listed;
        for (uint32_t i = 0; i < listed; i++)
            n += g->ver_op[base + i] != HF_NONE;
        if (n == listed)
            continue;
        n = 0;
        g->chain_end[k] = base;
        for (uint32_t i = 0; i < used; i++) {
            if (g->ver_op[base + i] == HF_NONE)
                continue;
            if (n == cap)
                hf_vec_grow((void **)&order, &cap, n + 1u, sizeof(*order));
            order[n++] = base + i;
            if (i < listed)
                g->chain_end[k] = base + n;
        }
        hf_graph_permute(g, k, order, n);
    }
    hf_free(order);
}

/* A value that is also the initial one may have been read from either. */
static void settle_initial(hf_graph *g)
{
    const hf_history *h = g->h;

    for (hf_value_id v = 0; v < h->n_values; v++)
        if (h->value_type[v] == HF_NIL && g->value[v].ver != HF_VER_NOBODY &&
            hf_value_is_initial(h, h->value_key[v], v))
            g->value[v].ver = HF_VER_SEVERAL;
    for (hf_key_id k = 0; h->key_initial && k < h->n_keys; k++)
        if (h->key_initial[k] != HF_NONE &&
            g->value[h->key_initial[k]].ver != HF_VER_NOBODY)
            g->value[h->key_initial[k]].ver = HF_VER_SEVERAL;
}

/* ---- all writes ---------------------------------------------------------- */

static void init_placer(placer *p, hf_graph *g)
{
    const hf_history *h = g->h;
    size_t keys = (size_t)h->n_keys + 1;

    *p = (placer){.g = g,
                  .listed_first = h->cert.order_first,
                  .listed = h->cert.order_txn};
    p->near = HF_NEW_ARRAY(uint32_t, keys);
    p->open = HF_NEW_ARRAY(uint32_t, keys);
    p->later = HF_NEW_ARRAY(uint32_t, keys);
    memset(p->near, 0xff, keys * sizeof(*p->near));
    memset(p->later, 0xff, keys * sizeof(*p->later));
    for (hf_key_id k = 0; k < h->n_keys; k++)
        p->open[k] = g->ver_first[k] + 1 + listed_count(p, k);
}

static void release_placer(placer *p)
{
    hf_free(p->near);
    hf_free(p->open);
    hf_free(p->later);
    hf_vec_release(&p->pending);
}

static void place_range(placer *p, hf_txn_id first, hf_txn_id end)
{
    const hf_history *h = p->g->h;

    for (hf_txn_id t = first; t < end; t++) {
        hf_op_id last = h->op_first[t + 1];

        for (hf_op_id o = last; o-- > h->op_first[t];)
            if (hf_graph_writes(h, o))
                place_write(p, t, o, last);
        if ((t & 0xff) == 0 && hf_graph_spent(p->g))
            break;
    }
}

/* One piece.  Two pieces may meet at a value that is written twice. */
static void place_piece(hf_graph *g, void *user, uint32_t piece, uint32_t first,
                        uint32_t end)
{
    placer *p = (placer *)user + piece;

    init_placer(p, g);
    p->shared = true;
    place_range(p, first, end);
    p->g = NULL; /* it is a copy, soon gone */
}

/* Did every write find its value free? */
static void look_again(hf_graph *g, void *user, uint32_t piece, uint32_t first,
                       uint32_t end)
{
    placer *p = (placer *)user + piece;
    const hf_history *h = g->h;

    for (hf_op_id o = h->op_first[first]; o < h->op_first[end]; o++)
        if (hf_graph_writes(h, o) && hf_graph_written(h, o) != HF_NONE &&
            g->value[hf_graph_written(h, o)].op != o)
            p->met_twice = true;
}

/* With a certificate each write has a place of its own, and pieces can be
 * placed at once.  False if a value was written twice: then the order in
 * which writes are met matters, and all is as before. */
static bool place_in_pieces(hf_graph *g, placer *all)
{
    uint32_t n = hf_graph_n_pieces(g);
    placer *p = HF_NEW_ZEROED(placer, n);
    bool fine = true;

    hf_graph_in_pieces(g, g->h->n_txns, place_piece, p);
    hf_graph_in_pieces(g, g->h->n_txns, look_again, p);
    for (uint32_t i = 0; i < n; i++) {
        fine &= !p[i].met_twice;
        for (size_t k = 0; k < p[i].pending.n; k++)
            hf_vec_push(&all->pending, p[i].pending.at[k]);
        release_placer(&p[i]);
    }
    hf_free(p);
    if (fine)
        return true;
    all->pending.n = 0;
    memset(g->value, 0xff, ((size_t)g->h->n_values + 1) * sizeof(*g->value));
    memset(g->op_role, 0xff, ((size_t)g->h->n_ops + 1) * sizeof(uint32_t));
    memset(g->ver_txn, 0xff, ((size_t)g->n_versions + 1) * sizeof(uint32_t));
    memset(g->ver_op, 0xff, ((size_t)g->n_versions + 1) * sizeof(uint32_t));
    return false;
}

bool hf_graph_place_writes(hf_graph *g)
{
    placer p;

    init_placer(&p, g);
    if (!p.listed_first || hf_graph_n_pieces(g) == 1 || !place_in_pieces(g, &p))
        place_range(&p, 0, g->h->n_txns);
    if (!g->stopped) {
        place_pending(&p);
        close_gaps(&p);
        settle_initial(g);
    }
    release_placer(&p);
    return !g->stopped;
}

/* ---- recorded order of transactions -------------------------------------- */

typedef struct ranked {
    uint64_t rank;
    uint32_t ver;
} ranked;

static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->ver > y->ver) - (x->ver < y->ver);
}

/* Fills rank (HF_TIME_NONE: none); false if nothing was recorded. */
static bool recorded_ranks(const hf_history *h, uint64_t *rank)
{
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        rank[t] = HF_TIME_NONE;
    for (uint32_t i = 0; i < h->cert.n_serial; i++)
        rank[h->cert.serial[i]] = i;
    if (h->cert.n_serial > 0)
        return true;
    for (hf_txn_id t = 0; h->cert.commit_ts && t < h->n_txns; t++)
        rank[t] = h->cert.commit_ts[t];
    return h->cert.commit_ts != NULL;
}

/* The versions of a key by rank, if all have different ones. */
static bool order_by_rank(hf_graph *g, hf_key_id k, const uint64_t *rank,
                          ranked *room, uint32_t *order)
{
    uint32_t base = g->ver_first[k] + 1, n = g->ver_end[k] - base;

    for (uint32_t i = 0; i < n; i++) {
        room[i] = (ranked){rank[g->ver_txn[base + i]], base + i};
        if (room[i].rank == HF_TIME_NONE)
            return false;
    }
    qsort(room, n, sizeof(*room), by_rank);
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && room[i].rank == room[i - 1].rank)
            return false;
        order[i] = room[i].ver;
    }
    hf_graph_permute(g, k, order, n);
    g->chain_end[k] = g->ver_end[k];
    return true;
}

/* Where no version order was recorded, the database's own order of
 * transactions stands in for it. */
void hf_graph_use_recorded_order(hf_graph *g)
{
    const hf_history *h = g->h;
    uint64_t *rank;
    ranked *room;
    uint32_t *order;

    if (h->cert.n_serial == 0 && !h->cert.commit_ts)
        return;
    rank = HF_NEW_ARRAY(uint64_t, (size_t)h->n_txns + 1);
    room = HF_NEW_ARRAY(ranked, (size_t)g->n_versions + 1);
    order = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
    if (recorded_ranks(h, rank))
        for (hf_key_id k = 0; k < h->n_keys; k++)
            if (!(g->key_use[k] & HF_USE_LIST) &&
                (!g->world.key_use || (g->world.key_use[k] & HF_USE_RANKED)) &&
                g->ver_end[k] > g->ver_first[k] + 2 &&
                (!h->cert.order_first ||
                 h->cert.order_first[k] == h->cert.order_first[k + 1]) &&
                order_by_rank(g, k, rank, room, order)) {
                g->rests |= HF_REST_ORDER;
                g->key_use[k] |= HF_USE_RANKED;
            }
    hf_free(rank);
    hf_free(room);
    hf_free(order);
}
