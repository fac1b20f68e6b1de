/* poly_mixed_looks.c: conditions in one world of mixed levels.
 *
 * Every order is known, so what a predicate operation looked at is a list of
 * versions, and who changes the matches is known (pred.h).  A version that was
 * returned is read as an item; of the others those that change the matches
 * count, up to the one looked at as sources, later ones as overwriters
 * (docs/semantics.md, "Predicates").
 *
 * The graph of events needs the nearest edges only: those behind are reached
 * along the versions of the key.  Whoever asks what is visible needs them all.
 *
 * The entries of all version sets; for each a search in the condition's
 * changes.
 */
#include "check/poly_mixed.h"

/* ---- what was looked at -------------------------------------------------- */

void hf_mixed_list_looks(hf_mixed *m)
{
    hf_pred *p = m->g->pred;
    uint32_t n = m->g->h->n_txns;
    size_t kept = 0;

    m->look_first = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    for (hf_txn_id t = 0; t < n; t++) {
        m->look_first[t] = (uint32_t)kept;
        for (uint32_t i = p->op_first[t];
             i < p->op_first[t + 1] && !hf_graph_spent(m->g); i++)
            hf_looks_add(p, &p->ops.at[i], &m->looks);
        for (size_t i = kept; i < m->looks.n; i++)
            if (m->looks.at[i].ver != HF_NONE)
                m->looks.at[kept++] = m->looks.at[i];
        m->looks.n = kept;
    }
    m->look_first[n] = (uint32_t)m->looks.n;
}

/* ---- who changes the matches --------------------------------------------- */

static const hf_pred_set *flips_of(const hf_mixed *m, const hf_look *look)
{
    return &hf_pred_sets(m->g->pred, look->condition)->flip;
}

bool hf_mixed_changes(const hf_mixed *m, const hf_look *look, uint32_t ver)
{
    return hf_pred_has(flips_of(m, look), ver);
}

uint32_t hf_mixed_later(const hf_mixed *m, hf_txn_id t, const hf_look *look)
{
    const hf_graph *g = m->g;
    uint32_t end = g->ver_end[look->key], v = look->ver + 1;
    const hf_pred_set *f;

    if (look->condition == HF_NONE) {
        while (v < end && g->ver_txn[v] == t)
            v++;
        return v < end ? v : HF_NONE;
    }
    f = flips_of(m, look);
    for (uint32_t i = hf_pred_below(f, v); i < f->n && f->at[i] < end; i++)
        if (g->ver_txn[f->at[i]] != t)
            return f->at[i];
    return HF_NONE;
}

static hf_edge source_edge(const hf_mixed *m, hf_txn_id t, const hf_look *look,
                           uint32_t ver)
{
    const hf_graph *g = m->g;

    return (hf_edge){look->condition == HF_NONE ? HF_EDGE_WR : HF_EDGE_PWR,
                     g->ver_txn[ver],
                     t,
                     look->key,
                     g->ver_op[ver],
                     look->op};
}

void hf_mixed_sources(const hf_mixed *m, hf_txn_id t, const hf_look *look,
                      hf_mixed_source work, void *user)
{
    const hf_graph *g = m->g;
    const hf_pred_set *f;

    if (look->condition == HF_NONE) {
        if (g->ver_txn[look->ver] != HF_NONE && g->ver_txn[look->ver] != t)
            work(user, source_edge(m, t, look, look->ver));
        return;
    }
    f = flips_of(m, look);
    for (uint32_t i = hf_pred_below(f, look->ver + 1);
         i-- > 0 && f->at[i] > g->ver_first[look->key];)
        if (g->ver_txn[f->at[i]] != t)
            work(user, source_edge(m, t, look, f->at[i]));
}

/* ---- edges --------------------------------------------------------------- */

static void add(hf_mixed *m, uint32_t from, uint32_t to, hf_edge e)
{
    hf_event_label label = {e.kind, HF_NONE, HF_NONE};

    hf_vec_push(&m->edges,
                (hf_mixed_edge){from, to, label, (uint32_t)m->named.n});
    hf_vec_push(&m->named, e);
}

typedef struct linking {
    hf_mixed *m;
    bool done;
} linking;

/* The first is the nearest. */
static void link_source(void *user, hf_edge e)
{
    linking *l = user;
    const hf_poly *p = &l->m->events;

    if (!l->done)
        add(l->m, hf_poly_commit(p, e.from), hf_poly_start(p, e.to), e);
    l->done = true;
}

static void link_look(hf_mixed *m, hf_txn_id t, const hf_look *look)
{
    const hf_graph *g = m->g;
    const hf_poly *p = &m->events;
    bool item = look->condition == HF_NONE;
    linking l = {m, false};
    uint32_t later;

    if (p->events[t] & HF_EVENT_READS)
        hf_mixed_sources(m, t, look, link_source, &l);
    if (!(p->events[t] & HF_EVENT_ANTI) ||
        (!item && hf_mixed_own(m, t)->shape == HF_SHAPE_ITEM))
        return;
    later = hf_mixed_later(m, t, look);
    if (later != HF_NONE)
        add(m, hf_poly_start(p, t), hf_poly_commit(p, g->ver_txn[later]),
            (hf_edge){item ? HF_EDGE_RW : HF_EDGE_PRW, t, g->ver_txn[later],
                      look->key, look->op, g->ver_op[later]});
}

void hf_mixed_link_looks(hf_mixed *m)
{
    for (hf_txn_id t = 0; t < m->g->h->n_txns; t++)
        for (uint32_t i = m->look_first[t]; i < m->look_first[t + 1]; i++)
            link_look(m, t, &m->looks.at[i]);
}
