/* weak_report.c: cycles that are certain, told as such.
 *
 * A stale read whose version is certainly older than that of a visible
 * transaction is a cycle by itself: t3 rw t2, and the way by which t2 became
 * visible.  Known edges alone that have a cycle are explained by the graph
 * engine's own report.  What remains rests on forced edges: weak_proof.c.
 */
#include "check/weak.h"

#include "check/cycle_name.h"

#define MOST_LOOKED_AT 1000u /* readers, if many are kept */

/* ---- certain orders ------------------------------------------------------ */

static bool certificate_has(const hf_history *h, hf_key_id key, hf_txn_id first,
                            hf_txn_id then)
{
    const hf_certificate *c = &h->cert;
    bool met = false;

    if (!c->order_first)
        return false;
    for (uint64_t i = c->order_first[key]; i < c->order_first[key + 1]; i++) {
        if (c->order_txn[i] == then)
            return met;
        met |= c->order_txn[i] == first;
    }
    return false;
}

/* Does `then` read anything from `first`? */
static bool reads_from(const hf_graph *g, hf_txn_id first, hf_txn_id then)
{
    const hf_history *h = g->h;

    for (hf_op_id o = h->op_first[then]; o < h->op_first[then + 1]; o++) {
        uint32_t v = hf_graph_source(g, o);

        if (v != HF_NONE && g->ver_txn[v] == first)
            return true;
    }
    return false;
}

bool hf_weak_is_certain(const hf_weak *w, uint32_t first, uint32_t then)
{
    const hf_graph *g = w->g;
    const hf_history *h = w->h;
    hf_key_id key = h->op_key[g->ver_op[then]];
    hf_txn_id a = g->ver_txn[first], b = g->ver_txn[then];

    if (a == HF_NONE)
        return true;
    if (first < then && first < g->chain_end[key] &&
        !(g->key_use[key] & HF_USE_PATH) &&
        (then < g->chain_end[key] || (g->key_use[key] & HF_USE_LIST)))
        return true;
    if (g->session_prev && a < b && h->txn_session[a] == h->txn_session[b])
        return true;
    if (g->reads_matter && reads_from(g, a, b))
        return true;
    /* of registers it is the chain */
    return (g->key_use[key] & HF_USE_LIST) && certificate_has(h, key, a, b);
}

/* ---- stale reads --------------------------------------------------------- */

typedef struct teller {
    hf_weak *w;
    hf_graph_report *r;
    uint8_t *told; /* per transaction: its read was told */
    hf_weak_edges way;
    uint32_t n;
} teller;

/* True if another one may be told. */
static bool tell(teller *x, hf_txn_id t2, hf_op_id read)
{
    hf_weak *w = x->w;
    const hf_graph *g = w->g;
    hf_key_id key = w->h->op_key[read];
    hf_txn_id t3 = hf_op_txn(w->h, read);
    uint32_t ver = hf_weak_version_of(w, t2, key);
    hf_anomaly anomaly;

    if (x->told[t3])
        return true;
    x->told[t3] = 1;
    hf_weak_way(w, t2, read, &x->way);
    hf_vec_push(&x->way,
                (hf_edge){HF_EDGE_RW, t3, t2, key, read, g->ver_op[ver]});
    anomaly = hf_cycle_name(x->way.at, (uint32_t)x->way.n);
    hf_report_cycle(x->r, anomaly, x->way.at, (uint32_t)x->way.n);
    if (++x->n < MOST_LOOKED_AT)
        return true;
    x->r->at_least[anomaly] = true;
    return false;
}

/* The version read is certainly older than that of t2. */
static bool is_plain(hf_weak *w, hf_txn_id t2, hf_op_id read)
{
    uint32_t ver = hf_weak_version_of(w, t2, w->h->op_key[read]);

    return hf_weak_is_certain(w, hf_graph_source(w->g, read), ver);
}

static void tell_stale(hf_weak *w, hf_graph_report *r)
{
    teller x = {.w = w, .r = r};
    bool more = true;

    x.told = HF_NEW_ZEROED(uint8_t, (size_t)w->h->n_txns + 1);
    for (size_t i = 0; i < w->missed.n && more; i++)
        more = tell(&x, w->missed.at[i].t2, w->missed.at[i].read) &&
               !hf_graph_spent(w->g);
    for (size_t i = 0; i < w->edges.n && more; i++) {
        hf_weak_edge e = w->edges.at[i];

        if (e.read != HF_NONE && e.from < w->h->n_txns &&
            is_plain(w, e.from, e.read))
            more = tell(&x, e.from, e.read);
        if ((i & 0xff) == 0)
            more &= !hf_graph_spent(w->g);
    }
    hf_free(x.told);
    hf_vec_release(&x.way);
}

/* ---- all ----------------------------------------------------------------- */

/* Known edges alone, as the graph engine sees and tells them. */
static void tell_known(hf_weak *w, hf_graph_report *r)
{
    hf_graph *g = w->g;
    hf_walk walk = {.g = g, .mask = HF_WALK_W, .form = HF_WALK_PLAIN};

    if (!g->reads_matter)
        walk.mask = HF_WALK_WW;
    if (g->level->session_order)
        walk.mask |= HF_WALK_SO;
    g->circles.n = 0; /* they are looked for again */
    g->places[HF_CYCLIC_VERSIONS].count = 0;
    g->places[HF_CYCLIC_VERSIONS].kept.n = 0;
    if (hf_graph_build_edges(g) && hf_walk_run(&walk, NULL, 0) && !walk.acyclic)
        hf_report_components(r, &walk);
    hf_walk_release(&walk);
}

void hf_weak_report(hf_weak *w, hf_graph_report *r)
{
    if (!w->state) { /* nothing was expanded */
        tell_known(w, r);
        return;
    }
    tell_stale(w, r);
    if (r->found.n == 0 && !w->g->stopped)
        hf_weak_prove(w, r);
}
