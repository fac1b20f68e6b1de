/* graph_edges.c: the edges into one transaction, with their operations.
 *
 * What graph_walk.c goes along without a name, here as a list: for components
 * that have to be explained.  Linear in the edges.
 */
#include "check/graph.h"

static void add_edge(hf_in_edges *list, unsigned mask, hf_in_edge e)
{
    if ((mask >> e.kind & 1u) && e.from != HF_NONE)
        hf_vec_push(list, e);
}

static void add_readers(const hf_graph *g, hf_in_edges *list, uint32_t p,
                        hf_txn_id t, hf_key_id key, hf_op_id op)
{
    for (uint32_t i = g->reader_first[p]; i < g->reader_first[p + 1]; i++) {
        hf_txn_id r = g->reader_txn[i];

        if (r != t && (i == g->reader_first[p] || g->reader_txn[i - 1] != r))
            hf_vec_push(list, (hf_in_edge){HF_EDGE_RW, r, key,
                                           hf_graph_read_of(g, r, p), op});
    }
}

static void add_before(const hf_graph *g, hf_in_edges *list, unsigned mask,
                       uint32_t p, hf_txn_id t, hf_key_id key, hf_op_id op)
{
    if (g->ver_txn[p] != t)
        add_edge(
            list, mask,
            (hf_in_edge){HF_EDGE_WW, g->ver_txn[p], key, g->ver_op[p], op});
    if (mask & HF_WALK_RW)
        add_readers(g, list, p, t, key, op);
}

static void add_write(const hf_graph *g, hf_in_edges *list, unsigned mask,
                      uint32_t v, hf_txn_id t, hf_key_id key, hf_op_id op)
{
    add_before(g, list, mask, g->total ? v - 1 : g->prev[v], t, key, op);
    if (!g->pair_first)
        return;
    for (uint32_t i = g->pair_first[v]; i < g->pair_first[v + 1]; i++)
        add_before(g, list, mask, g->pairs[i].first, t, key, op);
}

static void add_read(const hf_graph *g, hf_in_edges *list, unsigned mask,
                     uint32_t v, hf_key_id key, hf_op_id op)
{
    add_edge(list, mask,
             (hf_in_edge){HF_EDGE_WR, g->ver_txn[v], key, g->ver_op[v], op});
}

void hf_graph_edges_into(const hf_graph *g, hf_txn_id t, unsigned mask,
                         hf_in_edges *ret)
{
    const hf_history *h = g->h;

    ret->n = 0;
    if (g->session_prev)
        add_edge(ret, mask,
                 (hf_in_edge){HF_EDGE_SO, g->session_prev[t], HF_NONE, HF_NONE,
                              HF_NONE});
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t role = g->op_role[o];
        hf_key_id key = h->op_key[o];

        if (role != HF_NONE && (role & 1u))
            add_write(g, ret, mask, role / 2, t, key, o);
        else if (role != HF_NONE)
            add_read(g, ret, mask, role / 2, key, o);
        if (g->op_source && g->op_source[o] != HF_NONE)
            add_read(g, ret, mask, g->op_source[o] / 2, key, o);
    }
}
