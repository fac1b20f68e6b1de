/* poly_promises.c: does the world at hand keep what the user promised?
 *
 * In a world each version has its place and each read its source, so an
 * assumption (graph_assume.c) is a comparison of places.  Where one is broken
 * there are two touches, of which it puts the version of the first before that
 * of the second, and the world has them the other way round: not everything
 * that this rests on can be so, a clause.  It has the sources of the two, if
 * they are reads that may have several (a list's with the orders that tell it),
 * the order, and the outcomes.
 *
 *   linearizable   versions of a key by their places: one was touched by
 *                  somebody who ended before a toucher of an earlier one began
 *   sequential     along a session: an older version than the newest so far
 *   reads          a source behind the reader's own version
 *
 * O(n log n) for the operations of the world and the rows of its conditions.
 */
#include "check/poly_worlds.h"

#include <string.h>

#include "base/sort.h"

/* Who touches which version of a key. */
typedef struct touch {
    hf_txn_id t;
    hf_op_id op; /* HF_NONE: nobody */
    hf_key_id key;
    bool reads;
    uint32_t ver;
} touch;

typedef HF_VEC(touch) touches;

typedef struct keeper {
    hf_worlds *w;
    touches all;     /* by transaction */
    uint32_t *first; /* per transaction: in all; n_txns + 1 */
    hf_lit torn;     /* has to be chosen first; HF_LIT_NONE */
    bool broken;
} keeper;

/* Later versions have higher ranks; the initial one has the lowest. */
static uint32_t rank_of(const hf_worlds *w, uint32_t ver)
{
    hf_txn_id writer = w->g->ver_txn[ver];

    return writer == HF_NONE ? 0 : w->place[writer] + 1;
}

/* ---- touches ------------------------------------------------------------- */

static void add_touch_of(keeper *k, touch x)
{
    hf_txn_id writer;

    if (x.ver == HF_NONE)
        return;
    writer = k->w->g->ver_txn[x.ver];
    if (writer == HF_NONE || k->w->happened[writer])
        hf_vec_push(&k->all, x);
}

/* Of one whose reads do not count: what it certainly returned. */
static uint32_t certain_version(const hf_graph *g, hf_op_id op)
{
    const hf_history *h = g->h;
    hf_txn_id t = hf_op_txn(h, op);
    hf_key_id key = h->op_key[op];
    hf_value_id v = hf_worlds_value_read(h, op), e = v;
    hf_op_id own;
    uint32_t ver;

    if (v == HF_NONE || hf_pred_own_write(h, t, op, key, &own) ||
        (g->key_use[key] & HF_USE_BLIND))
        return HF_NONE;
    if ((g->key_use[key] & HF_USE_LIST) && h->value_type[v] == HF_LIST)
        e = hf_list_last(h, v);
    if (e == v && hf_value_is_initial(h, key, v))
        return g->value[v].ver == HF_VER_NOBODY ? g->ver_first[key] : HF_NONE;
    ver = g->value[e].ver;
    return ver < HF_VER_MOST && g->ver_txn[ver] != t ? ver : HF_NONE;
}

static uint32_t version_in_world(const keeper *k, hf_txn_id t, hf_op_id op)
{
    const hf_worlds *w = k->w;
    const hf_graph *g = w->g;
    uint32_t chosen = w->source[op];
    hf_key_id key = g->h->op_key[op];

    if (!hf_graph_reads_matter(g, t))
        return certain_version(g, op);
    if (chosen == HF_CHOSEN_ONLY)
        return hf_graph_is_loose(g, key) ? HF_NONE : hf_graph_source(g, op);
    return chosen == HF_CHOSEN_INITIAL
               ? g->ver_first[key]
               : hf_graph_version_of(g, chosen - 1, key);
}

static void add_op(keeper *k, hf_txn_id t, hf_op_id op)
{
    const hf_graph *g = k->w->g;
    hf_key_id key = g->h->op_key[op];
    uint32_t ver;

    if (key == HF_NONE)
        return;
    add_touch_of(k, (touch){t, op, key, true, version_in_world(k, t, op)});
    ver = hf_graph_version_of(g, t, key);
    if (ver != HF_NONE && g->ver_op[ver] == op)
        add_touch_of(k, (touch){t, op, key, false, ver});
}

/* The rows that conditions returned, and what aggregates read. */
static void add_rows(keeper *k, hf_txn_id t)
{
    hf_pred *p = k->w->pred;
    hf_looks looks = {0};

    for (uint32_t i = p->op_first[t]; i < p->op_first[t + 1]; i++)
        hf_looks_add(p, &p->ops.at[i], &looks);
    for (size_t i = 0; i < looks.n; i++)
        if (looks.at[i].condition == HF_NONE)
            add_touch_of(k, (touch){t, looks.at[i].op, looks.at[i].key, true,
                                    looks.at[i].ver});
    hf_vec_release(&looks);
}

static void find_touches(keeper *k)
{
    const hf_worlds *w = k->w;
    const hf_history *h = w->g->h;

    k->first = HF_NEW_ARRAY(uint32_t, (size_t)h->n_txns + 1);
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        k->first[t] = (uint32_t)k->all.n;
        if (!w->happened[t])
            continue;
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            add_op(k, t, op);
        if (w->pred)
            add_rows(k, t);
    }
    k->first[h->n_txns] = (uint32_t)k->all.n;
}

/* ---- what a promise rests on --------------------------------------------- */

/* Returns what the touch is taken to be, if there is a choice. */
static uint32_t add_lits(keeper *k, const touch *x, hf_lit_list *lits)
{
    hf_worlds *w = k->w;
    hf_txn_id writer = w->g->ver_txn[x->ver];
    uint32_t chosen = HF_CHOSEN_ONLY;

    hf_worlds_add_lit(lits, hf_poly_happened(&w->p, x->t));
    if (x->reads && hf_graph_reads_matter(w->g, x->t))
        (void)hf_worlds_version_read(w, x->key, x->op, lits, &chosen);
    else if (x->reads && writer != HF_NONE)
        hf_worlds_add_lit(lits, hf_poly_happened(&w->p, writer));
    return chosen;
}

/* The version of a has to be before that of b, and is behind it. */
static void forbid(keeper *k, const touch *a, const touch *b)
{
    hf_worlds *w = k->w;
    hf_poly *p = &w->p;
    hf_edge e = {.from = a->t,
                 .to = b->t,
                 .key = a->key,
                 .from_op = a->op,
                 .to_op = b->op};
    hf_poly_clause c = {.kind = HF_STEP_PROMISE,
                        .op = HF_NONE,
                        .writer = HF_NONE,
                        .n = 2,
                        .first_list = (uint32_t)p->lemma_lists.n};
    size_t before = p->lemma_edges.n;
    uint32_t chosen[2];
    hf_lit_list lits = {0};
    hf_lit torn;

    k->broken = true;
    w->first_list = c.first_list;
    chosen[0] = add_lits(k, a, &lits);
    chosen[1] = add_lits(k, b, &lits);
    hf_worlds_add_before(w, &lits, e.key, b->ver, a->ver);
    c.n_lists = (uint32_t)p->lemma_lists.n - c.first_list;
    c.first = (uint32_t)p->lemma_edges.n;
    for (unsigned i = 0; i < 2; i++) {
        e.kind = (i ? b : a)->reads ? HF_EDGE_WR : HF_EDGE_WW;
        hf_vec_push(&p->lemma_edges, e);
        hf_vec_push(&p->lemma_chosen, chosen[i]);
    }
    torn = hf_worlds_forbid(w, c, &lits);
    if (torn != HF_LIT_NONE) /* those of lists besides */
        p->lemma_edges.n = p->lemma_chosen.n = before;
    if (torn != HF_LIT_NONE && hf_order_value(p->order, torn) < 0)
        k->torn = torn;
    hf_vec_release(&lits);
}

/* ---- linearizable -------------------------------------------------------- */

/* Per version, then per key: who touched it and ended first, began last. */
typedef struct life {
    uint64_t end, begin;
    const touch *ended, *began;
} life;

static void live(const hf_history *h, const touch *x, life *l)
{
    uint64_t end = hf_txn_end_time(h, x->t), begin = hf_txn_begin_time(h, x->t);

    if (end != HF_TIME_NONE && h->txn_outcome[x->t] == HF_COMMITTED &&
        (!l->ended || end < l->end)) {
        l->end = end;
        l->ended = x;
    }
    if (begin != HF_TIME_NONE && (!l->began || begin > l->begin)) {
        l->begin = begin;
        l->began = x;
    }
}

static void keep_time(keeper *k)
{
    const hf_graph *g = k->w->g;
    const hf_history *h = g->h;
    life *lives = HF_NEW_ZEROED(life, (size_t)g->n_versions + 1);
    life *passed = HF_NEW_ZEROED(life, (size_t)h->n_keys + 1);
    hf_sortable *s = HF_NEW_ARRAY(hf_sortable, (size_t)g->n_versions + 1);
    uint32_t n = 0;

    for (size_t i = 0; i < k->all.n; i++)
        live(h, &k->all.at[i], &lives[k->all.at[i].ver]);
    for (uint32_t v = 0; v < g->n_versions; v++)
        if (lives[v].ended || lives[v].began)
            s[n++] = (hf_sortable){rank_of(k->w, v), v};
    hf_sort(s, n);
    for (uint32_t i = 0; i < n && k->torn == HF_LIT_NONE; i++) {
        const life *l = &lives[s[i].value];
        life *before = &passed[(l->ended ? l->ended : l->began)->key];

        if (l->ended && before->began && l->end < before->begin)
            forbid(k, l->ended, before->began);
        if (l->began && (!before->began || l->begin > before->begin))
            *before = *l;
    }
    hf_free(lives);
    hf_free(passed);
    hf_free(s);
}

/* ---- sequential ---------------------------------------------------------- */

static void keep_session(keeper *k, hf_session_id s, const touch **newest)
{
    const hf_worlds *w = k->w;
    const hf_history *h = w->g->h;

    for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1]; i++) {
        hf_txn_id t = h->session_txns[i];

        for (uint32_t j = k->first[t];
             j < k->first[t + 1] && k->torn == HF_LIT_NONE; j++) {
            const touch *x = &k->all.at[j], *old = newest[x->key];

            if (old && h->txn_session[old->t] == s &&
                rank_of(w, x->ver) < rank_of(w, old->ver))
                forbid(k, old, x);
        }
        for (uint32_t j = k->first[t]; j < k->first[t + 1]; j++) {
            const touch *x = &k->all.at[j], *old = newest[x->key];

            if (!old || h->txn_session[old->t] != s ||
                rank_of(w, x->ver) > rank_of(w, old->ver))
                newest[x->key] = x;
        }
    }
}

static void keep_sessions(keeper *k)
{
    const hf_history *h = k->w->g->h;
    const touch **newest = HF_NEW_ZEROED(const touch *, (size_t)h->n_keys + 1);

    for (hf_session_id s = 0; s < h->n_sessions && k->torn == HF_LIT_NONE; s++)
        keep_session(k, s, newest);
    hf_free(newest);
}

/* ---- writes follow reads ------------------------------------------------- */

static void keep_reads(keeper *k)
{
    const hf_worlds *w = k->w;
    const hf_graph *g = w->g;

    for (size_t i = 0; i < k->all.n && k->torn == HF_LIT_NONE; i++) {
        const touch *x = &k->all.at[i];
        uint32_t mine = hf_graph_version_of(g, x->t, x->key);

        if (x->reads && mine != HF_NONE &&
            rank_of(w, x->ver) > rank_of(w, mine)) {
            touch own = {x->t, g->ver_op[mine], x->key, false, mine};

            forbid(k, x, &own);
        }
    }
}

/* ---- all ----------------------------------------------------------------- */

bool hf_worlds_keeps_promises(hf_worlds *w, hf_lit *ret_lit)
{
    keeper k = {.w = w, .torn = HF_LIT_NONE};

    find_touches(&k);
    if (w->promised & HF_REST_LINEARIZABLE)
        keep_time(&k);
    if (w->promised & HF_REST_SEQUENTIAL)
        keep_sessions(&k);
    if (w->promised & HF_REST_READS)
        keep_reads(&k);
    *ret_lit = k.torn;
    hf_vec_release(&k.all);
    hf_free(k.first);
    return !k.broken;
}
