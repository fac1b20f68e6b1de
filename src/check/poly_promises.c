/* poly_promises.c: does the world at hand keep what the user promised?
 *
 * In a world each version has its place and each read its source, so an
 * assumption (graph_assume.c) is a comparison of places.  Where one is broken
 * there are two touches, of which it puts the version of the first before that
 * of the second, and the world has them the other way round: not everything
 * that this rests on can be so, a clause.  It has the sources of the two, if
 * they are reads that may have several, the order, and the outcomes.
 *
 *   linearizable   versions of a key by their places: one was touched by
 *                  somebody who ended before a toucher of an earlier one began
 *   sequential     along a session: an older version than the newest so far
 *   reads          a source behind the reader's own version
 *
 * O(n log n) for the operations of the world.
 */
#include "check/poly_worlds.h"

#include <string.h>

#include "base/sort.h"

/* Who touches which version of a key. */
typedef struct touch {
    hf_txn_id t;
    hf_op_id op; /* HF_NONE: nobody */
    bool reads;
    hf_txn_id writer; /* HF_NONE: the initial version */
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
static uint32_t rank_of(const hf_worlds *w, hf_txn_id writer)
{
    return writer == HF_NONE ? 0 : w->place[writer] + 1;
}

static hf_key_id key_of(const keeper *k, const touch *x)
{
    return k->w->g->h->op_key[x->op];
}

/* ---- touches ------------------------------------------------------------- */

static void add_op(keeper *k, hf_txn_id t, hf_op_id op)
{
    const hf_worlds *w = k->w;
    const hf_graph *g = w->g;
    uint32_t ver = hf_graph_source(g, op), chosen = w->source[op];

    if (g->h->op_key[op] == HF_NONE)
        return;
    if (chosen != HF_CHOSEN_ONLY)
        hf_vec_push(&k->all, (touch){t, op, true,
                                     chosen == HF_CHOSEN_INITIAL ? HF_NONE
                                                                 : chosen - 1});
    else if (ver != HF_NONE)
        hf_vec_push(&k->all, (touch){t, op, true, g->ver_txn[ver]});
    ver = hf_graph_version_of(g, t, g->h->op_key[op]);
    if (ver != HF_NONE && g->ver_op[ver] == op)
        hf_vec_push(&k->all, (touch){t, op, false, t});
}

static void find_touches(keeper *k)
{
    const hf_worlds *w = k->w;
    const hf_history *h = w->g->h;

    k->first = HF_NEW_ARRAY(uint32_t, (size_t)h->n_txns + 1);
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        k->first[t] = (uint32_t)k->all.n;
        for (hf_op_id op = h->op_first[t];
             w->happened[t] && op < h->op_first[t + 1]; op++)
            add_op(k, t, op);
    }
    k->first[h->n_txns] = (uint32_t)k->all.n;
}

/* ---- what a promise rests on --------------------------------------------- */

static uint32_t version_of(const keeper *k, const touch *x)
{
    const hf_graph *g = k->w->g;

    return x->writer == HF_NONE
               ? g->ver_first[key_of(k, x)]
               : hf_graph_version_of(g, x->writer, key_of(k, x));
}

static void add_touch(keeper *k, const touch *x, hf_edge e, hf_lit_list *lits)
{
    hf_worlds *w = k->w;
    hf_poly *p = &w->p;
    uint32_t chosen = HF_CHOSEN_ONLY;

    hf_worlds_add_lit(lits, hf_poly_happened(p, x->t));
    if (x->reads && p->choice_of[x->op] != HF_NONE) {
        hf_worlds_add_lit(lits, 2 * hf_worlds_candidate(w, x->op).var);
        chosen = w->source[x->op];
    }
    e.kind = x->reads ? HF_EDGE_WR : HF_EDGE_WW;
    hf_vec_push(&p->lemma_edges, e);
    hf_vec_push(&p->lemma_chosen, chosen);
}

/* The version of a has to be before that of b, and is behind it. */
static void forbid(keeper *k, const touch *a, const touch *b)
{
    hf_worlds *w = k->w;
    hf_poly *p = &w->p;
    hf_edge e = {.from = a->t,
                 .to = b->t,
                 .key = key_of(k, a),
                 .from_op = a->op,
                 .to_op = b->op};
    hf_poly_clause c = {.kind = HF_STEP_PROMISE,
                        .op = HF_NONE,
                        .writer = HF_NONE,
                        .first = (uint32_t)p->lemma_edges.n,
                        .n = 2,
                        .first_list = (uint32_t)p->lemma_lists.n};
    hf_lit_list lits = {0};
    hf_lit torn;

    k->broken = true;
    add_touch(k, a, e, &lits);
    add_touch(k, b, e, &lits);
    hf_worlds_add_before(w, &lits, e.key, version_of(k, b), version_of(k, a));
    torn = hf_worlds_forbid(w, c, &lits);
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
        live(h, &k->all.at[i], &lives[version_of(k, &k->all.at[i])]);
    for (uint32_t v = 0; v < g->n_versions; v++)
        if (lives[v].ended || lives[v].began)
            s[n++] = (hf_sortable){rank_of(k->w, g->ver_txn[v]), v};
    hf_sort(s, n);
    for (uint32_t i = 0; i < n && k->torn == HF_LIT_NONE; i++) {
        const life *l = &lives[s[i].value];
        life *before = &passed[key_of(k, l->ended ? l->ended : l->began)];

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
            const touch *x = &k->all.at[j], *old = newest[key_of(k, x)];

            if (old && h->txn_session[old->t] == s &&
                rank_of(w, x->writer) < rank_of(w, old->writer))
                forbid(k, old, x);
        }
        for (uint32_t j = k->first[t]; j < k->first[t + 1]; j++) {
            const touch *x = &k->all.at[j], *old = newest[key_of(k, x)];

            if (!old || h->txn_session[old->t] != s ||
                rank_of(w, x->writer) > rank_of(w, old->writer))
                newest[key_of(k, x)] = x;
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
        uint32_t mine = hf_graph_version_of(g, x->t, key_of(k, x));

        if (x->reads && mine != HF_NONE &&
            rank_of(w, x->writer) > rank_of(w, x->t)) {
            touch own = {x->t, g->ver_op[mine], false, x->t};

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
