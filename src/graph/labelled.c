/* labelled.c: building a labelled graph.  O(nodes + edges). */
#include "graph/labelled.h"

#include <string.h>

void hf_labelled_init(hf_labelled *g, uint32_t n_real, uint32_t n_nodes)
{
    memset(g, 0, sizeof(*g));
    g->n_nodes = n_nodes;
    g->n_real = n_real;
}

void hf_labelled_add(hf_labelled *g, hf_labelled_edge e)
{
    hf_vec_push(&g->edges, e);
}

void hf_labelled_finish(hf_labelled *g)
{
    size_t n = g->edges.n;
    hf_labelled_edge *sorted = HF_NEW_ARRAY(hf_labelled_edge, n + 1);
    uint32_t *at = HF_NEW_ZEROED(uint32_t, (size_t)g->n_nodes + 2);

    for (size_t i = 0; i < n; i++)
        at[g->edges.at[i].from + 2]++;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        at[v + 2] += at[v + 1];
    for (size_t i = 0; i < n; i++)
        sorted[at[g->edges.at[i].from + 1]++] = g->edges.at[i];
    hf_free(g->edges.at);
    g->edges.at = sorted;
    g->edges.n = n;
    g->edges.cap = n + 1;
    g->first = at;
}

void hf_labelled_release(hf_labelled *g)
{
    hf_vec_release(&g->edges);
    hf_free(g->first);
    g->first = NULL;
}
