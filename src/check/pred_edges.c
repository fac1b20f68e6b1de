/* pred_edges.c: the edges that predicates add to the walk.
 *
 * Edges to the nearest flips of a key are enough: those behind them are
 * reached along the versions of the key.  Chains (pred_timed.c) have nodes of
 * their own.  In the end all edges are listed by the node they lead to, as
 * the walk goes.
 */
#include "check/pred.h"

#include <string.h>

void hf_pred_add_edge(hf_pred *p, uint32_t from, uint32_t to, hf_edge_kind kind)
{
    hf_vec_push(&p->edges, (hf_more_edge){from, to, kind});
}

/* The order of the key is not known, but some versions come after others. */
static void open_item(hf_pred *p, const hf_pred_op *o, hf_key_id key,
                      uint32_t ver)
{
    const hf_graph *g = p->g;

    for (uint32_t v = g->ver_first[key]; v < g->ver_end[key]; v++)
        if (g->prev && g->prev[v] == ver && g->ver_txn[v] != o->txn)
            hf_pred_add_edge(p, o->txn, g->ver_txn[v], HF_EDGE_RW);
    hf_pred_unclear(p, o, false,
                    "the order of versions of a key it returned is not known");
}

/* Reads version ver of the key, as an item: from its writer; before that of
 * the next version. */
void hf_pred_item(hf_pred *p, const hf_pred_op *o, hf_key_id key, uint32_t ver)
{
    const hf_graph *g = p->g;

    if (ver == HF_NONE)
        return;
    if (hf_graph_is_internal(g, o->txn))
        hf_vec_push(&p->seen, (hf_pred_seen){key, ver, HF_NONE, o->op});
    if (g->ver_txn[ver] != HF_NONE)
        hf_pred_add_edge(p, g->ver_txn[ver], o->txn, HF_EDGE_WR);
    if (hf_graph_version_of(g, o->txn, key) != HF_NONE)
        hf_vec_push(&p->renewed, (hf_pred_seen){key, ver, HF_NONE, o->op});
    if (g->open_key[key]) {
        open_item(p, o, key, ver);
        return;
    }
    for (uint32_t v = ver + 1; v < g->ver_end[key]; v++)
        if (g->ver_txn[v] != o->txn) {
            hf_pred_add_edge(p, o->txn, g->ver_txn[v], HF_EDGE_RW);
            return;
        }
}

/* Looked at version ver of the key and did not return it. */
void hf_pred_flip_edges(hf_pred *p, const hf_pred_op *o, hf_key_id key,
                        uint32_t ver)
{
    const hf_graph *g = p->g;
    const hf_pred_set *f = &hf_pred_sets(p, o->condition)->flip;
    uint32_t at = hf_pred_below(f, ver + 1);

    for (uint32_t i = at; i-- > 0 && f->at[i] > g->ver_first[key];)
        if (g->ver_txn[f->at[i]] != o->txn) {
            hf_pred_add_edge(p, g->ver_txn[f->at[i]], o->txn, HF_EDGE_PWR);
            break;
        }
    for (uint32_t i = at; i < f->n && f->at[i] < g->ver_end[key]; i++)
        if (g->ver_txn[f->at[i]] != o->txn) {
            hf_pred_add_edge(p, o->txn, g->ver_txn[f->at[i]], HF_EDGE_PRW);
            break;
        }
}

/* Joints by chain, then in the order of one of their places. */
static hf_sortable *sort_joints(const hf_pred *p, bool behind, size_t *ret_n)
{
    hf_sortable *all =
        hf_alloc_large(hf_array_size(p->joints.n + 1, sizeof(*all)));
    size_t n = 0;

    for (size_t i = 0; i < p->joints.n; i++) {
        const hf_pred_joint *j = &p->joints.at[i];

        if (behind || !j->apart)
            all[n++] = (hf_sortable){(uint64_t)j->chain << 32 |
                                         (behind ? j->behind : j->until),
                                     j->txn};
    }
    hf_sort(all, n);
    *ret_n = n;
    return all;
}

static hf_txn_id event_txn(const hf_pred *p, uint32_t place)
{
    return p->g->ver_txn[hf_pred_event_ver(p, place)];
}

/* A node for each place that operations have in a chain gathers the events
 * before it: those since the last such node, and that. */
static void link_before(hf_pred *p)
{
    size_t n;
    hf_sortable *all = sort_joints(p, false, &n);
    uint32_t node = HF_NONE, done = 0;

    for (size_t i = 0; i < n; i++) {
        const hf_pred_chain *c = &p->chain.at[all[i].key >> 32];
        uint32_t until = (uint32_t)all[i].key;

        if (i == 0 || all[i].key >> 32 != all[i - 1].key >> 32) {
            node = HF_NONE;
            done = c->first;
        }
        if (until == c->first)
            continue; /* nothing before it */
        if (node == HF_NONE || done != until) {
            uint32_t made = p->g->h->n_txns + p->n_nodes++;

            if (node != HF_NONE)
                hf_pred_add_edge(p, node, made, HF_EDGE_PWR);
            for (; done < until; done++)
                hf_pred_add_edge(p, event_txn(p, done), made, HF_EDGE_PWR);
            node = made;
        }
        hf_pred_add_edge(p, node, (uint32_t)all[i].value, HF_EDGE_PWR);
    }
    hf_free(all);
}

/* The same for the events behind it, from the last operation to the first. */
static void link_behind(hf_pred *p)
{
    size_t n;
    hf_sortable *all = sort_joints(p, true, &n);
    uint32_t node = HF_NONE, done = 0;

    for (size_t i = n; i-- > 0;) {
        const hf_pred_chain *c = &p->chain.at[all[i].key >> 32];
        uint32_t behind = (uint32_t)all[i].key;

        if (i + 1 == n || all[i].key >> 32 != all[i + 1].key >> 32) {
            node = HF_NONE;
            done = c->first + c->n;
        }
        if (behind == c->first + c->n)
            continue;
        if (node == HF_NONE || done != behind) {
            uint32_t made = p->g->h->n_txns + p->n_nodes++;

            if (node != HF_NONE)
                hf_pred_add_edge(p, made, node, HF_EDGE_PRW);
            while (done > behind)
                hf_pred_add_edge(p, made, event_txn(p, --done), HF_EDGE_PRW);
            node = made;
        }
        hf_pred_add_edge(p, (uint32_t)all[i].value, node, HF_EDGE_PRW);
    }
    hf_free(all);
}

/* The node of the events from index << level on, 1 << level of them; an event
 * is its writer. */
static uint32_t block(hf_pred *p, hf_map *blocks, unsigned level,
                      uint32_t index)
{
    uint64_t key = (uint64_t)level << 32 | index;
    uint32_t made = p->g->h->n_txns + p->n_nodes, known;

    if (level == 0)
        return event_txn(p, index);
    known = hf_map_add(blocks, key, made);
    if (known != made)
        return known;
    p->n_nodes++;
    for (uint32_t i = 0; i < 2; i++)
        hf_pred_add_edge(p, block(p, blocks, level - 1, 2 * index + i), made,
                         HF_EDGE_PWR);
    return made;
}

static void link_events(hf_pred *p, hf_map *blocks, hf_txn_id t, uint32_t from,
                        uint32_t until)
{
    for (unsigned level = 0; from < until; level++) {
        if (from & 1u)
            hf_pred_add_edge(p, block(p, blocks, level, from++), t,
                             HF_EDGE_PWR);
        if (until & 1u)
            hf_pred_add_edge(p, block(p, blocks, level, --until), t,
                             HF_EDGE_PWR);
        from >>= 1;
        until >>= 1;
    }
}

/* The events before an operation, but for some. */
static void link_aparts(hf_pred *p)
{
    hf_map blocks;

    hf_map_init(&blocks);
    for (size_t i = 0; i < p->aparts.n; i++) {
        const hf_pred_apart *a = &p->aparts.at[i];
        uint32_t from = a->begin;

        for (uint32_t k = 0; k < a->n; k++) {
            link_events(p, &blocks, a->txn, from, p->outs.at[a->first + k]);
            from = p->outs.at[a->first + k] + 1;
        }
        link_events(p, &blocks, a->txn, from, a->until);
    }
    hf_map_release(&blocks);
}

/* ---- a given order ------------------------------------------------------- */

/* Of each chain: the last place of the events up to one, the first of those
 * from one on. */
static void find_extremes(const hf_pred *p, const uint32_t *place,
                          uint32_t *last, uint32_t *first)
{
    for (size_t i = 0; i < p->chain.n; i++) {
        uint32_t from = p->chain.at[i].first, to = from + p->chain.at[i].n;
        uint32_t most = 0, least = UINT32_MAX;

        for (uint32_t k = from; k < to; k++) {
            uint32_t at = place[event_txn(p, k)];

            first[k] = at;
            most = at > most ? at : most;
            last[k] = most;
        }
        for (uint32_t k = to; k-- > from;) {
            least = first[k] < least ? first[k] : least;
            first[k] = least;
        }
    }
}

/* Do versions follow each other as in the order?  Then the events of a chain
 * ascend, and the nearest ones are the extremes. */
static bool is_by_time(const hf_pred *p, const uint32_t *place)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < p->n_ticks; i++) {
        uint32_t at = place[p->g->ver_txn[p->tick_ver[i]]];

        if (at < last)
            return false;
        last = at;
    }
    return true;
}

/* With the last place of the events up to one, and the first of those from
 * one on; NULL: those of the events themselves. */
static bool joints_fit_with(const hf_pred *p, const uint32_t *place,
                            const uint32_t *last, const uint32_t *first)
{
    for (size_t i = 0; i < p->joints.n; i++) {
        const hf_pred_joint *j = &p->joints.at[i];
        const hf_pred_chain *c = &p->chain.at[j->chain];
        uint32_t at = place[j->txn];

        if (j->until > c->first &&
            (last ? last[j->until - 1] : place[event_txn(p, j->until - 1)]) >=
                at)
            return false;
        if (j->behind < c->first + c->n &&
            (first ? first[j->behind] : place[event_txn(p, j->behind)]) <= at)
            return false;
    }
    return true;
}

static bool joints_fit(const hf_pred *p, const uint32_t *place)
{
    const hf_pred_chain *c;
    uint32_t *last, *first;
    size_t room;
    bool fine;

    if (p->chain.n == 0 || is_by_time(p, place))
        return joints_fit_with(p, place, NULL, NULL);
    c = &p->chain.at[p->chain.n - 1];
    room = (size_t)c->first + c->n + 1;
    last = hf_alloc_large(hf_array_size(room, sizeof(*last)));
    first = hf_alloc_large(hf_array_size(room, sizeof(*first)));
    find_extremes(p, place, last, first);
    fine = joints_fit_with(p, place, last, first);
    hf_free(last);
    hf_free(first);
    return fine;
}

bool hf_pred_fits(hf_pred *p, const hf_txn_id *order, uint32_t n)
{
    uint32_t *place = HF_NEW_ZEROED(uint32_t, (size_t)p->g->h->n_txns + 1);
    bool fine = true;

    for (uint32_t i = 0; i < n; i++)
        place[order[i]] = i + 1;
    for (size_t i = 0; i < p->edges.n && fine; i++)
        fine = place[p->edges.at[i].from] < place[p->edges.at[i].to];
    fine = fine && joints_fit(p, place);
    hf_free(place);
    return fine;
}

/* ---- for the walk -------------------------------------------------------- */

void hf_pred_link(hf_pred *p)
{
    uint32_t nodes, *at;

    link_before(p);
    link_aparts(p);
    if (p->g->level->shape == HF_SHAPE_ITEM)
        hf_pred_link_reads(p);
    else
        link_behind(p);
    nodes = p->g->h->n_txns + p->n_nodes;
    p->first = hf_alloc_large(hf_array_size((size_t)nodes + 2, 4));
    memset(p->first, 0, ((size_t)nodes + 2) * 4);
    p->from = hf_alloc_large(hf_array_size(p->edges.n + 1, 4));
    p->kind = hf_alloc_large(hf_array_size(p->edges.n + 1, 1));
    at = p->first + 1;
    for (size_t i = 0; i < p->edges.n; i++)
        p->first[p->edges.at[i].to + 1]++;
    for (uint32_t v = 0; v < nodes; v++)
        p->first[v + 1] += p->first[v];
    /* filled from the back, so that the ends become the beginnings */
    for (size_t i = p->edges.n; i-- > 0;) {
        const hf_more_edge *e = &p->edges.at[i];
        uint32_t place = --at[e->to];

        p->from[place] = e->from;
        p->kind[place] = (uint8_t)e->kind;
    }
    memmove(p->first, p->first + 1, (size_t)nodes * 4);
    p->first[nodes] = (uint32_t)p->edges.n;
    hf_vec_release(&p->edges);
    p->edges.at = NULL;
    p->edges.n = 0;
}
