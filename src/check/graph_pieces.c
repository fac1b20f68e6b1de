/* graph_pieces.c: the same work on pieces of a history, by several threads.
 *
 * Each piece works on a copy of the graph's head: it shares the arrays, in
 * which pieces never write the same place, and has lists of findings of its
 * own, which are put together in the order of the pieces.  There are as many
 * pieces for one thread as for many, so the result is the same.
 *
 * The budget is not asked within a piece: it belongs to one thread.
 */
#include "check/graph.h"

#include <string.h>

#include "base/threads.h"

#define PIECES 16u
#define WORTH_WHILE 100000u /* operations */

typedef struct crew {
    hf_graph *pieces;
    uint32_t n_pieces, n_items;
    hf_piece_work work;
    void *user;
} crew;

uint32_t hf_graph_n_pieces(const hf_graph *g)
{
    return g->h->n_ops >= WORTH_WHILE ? PIECES : 1;
}

static uint32_t share(const crew *c, uint32_t i)
{
    return (uint32_t)((uint64_t)c->n_items * i / c->n_pieces);
}

static void work_on(void *user, uint32_t i)
{
    crew *c = user;

    c->work(&c->pieces[i], c->user, i, share(c, i), share(c, i + 1));
}

static void forget_findings(hf_graph *g)
{
    memset(g->places, 0, sizeof(g->places));
    memset(&g->odd, 0, sizeof(g->odd));
    memset(&g->clashes, 0, sizeof(g->clashes));
    memset(&g->listed, 0, sizeof(g->listed));
    memset(&g->circles, 0, sizeof(g->circles));
    memset(&g->open, 0, sizeof(g->open));
    g->open_reads = 0;
    g->open_read = HF_NONE;
    g->undecided[0] = '\0';
    g->undecided_everywhere = false;
    g->budget = NULL;
}

static void join_places(hf_graph *g, const hf_graph *piece)
{
    for (unsigned a = 0; a < HF_G0; a++) {
        const hf_places *p = &piece->places[a];

        for (size_t i = 0; i < p->kept.n; i++) {
            const hf_op_id *o = p->kept.at[i].ops;

            hf_graph_note(g, (hf_anomaly)a, o[0], o[1], o[2], o[3]);
        }
        g->places[a].count += p->count - p->kept.n;
    }
}

static void join(hf_graph *g, hf_graph *piece)
{
    join_places(g, piece);
    for (size_t i = 0; i < piece->odd.n; i++)
        hf_vec_push(&g->odd, piece->odd.at[i]);
    for (size_t i = 0; i < piece->clashes.n; i++)
        hf_vec_push(&g->clashes, piece->clashes.at[i]);
    for (size_t i = 0; i < piece->listed.n; i++)
        hf_vec_push(&g->listed, piece->listed.at[i]);
    if (g->open_reads == 0)
        g->open_read = piece->open_read;
    g->open_reads += piece->open_reads;
    for (size_t i = 0; i < piece->open.n; i++)
        hf_vec_push(&g->open, piece->open.at[i]);
    if (piece->undecided[0])
        hf_graph_undecided(g, piece->undecided_everywhere, "%s",
                           piece->undecided);
    hf_graph_release_findings(piece);
}

void hf_graph_in_pieces(hf_graph *g, uint32_t n_items, hf_piece_work work,
                        void *user)
{
    crew c = {.n_pieces = hf_graph_n_pieces(g),
              .n_items = n_items,
              .work = work,
              .user = user};
    unsigned threads =
        g->options.threads ? g->options.threads : hf_threads_available();

    c.pieces = HF_NEW_ARRAY(hf_graph, c.n_pieces);
    for (uint32_t i = 0; i < c.n_pieces; i++) {
        c.pieces[i] = *g;
        forget_findings(&c.pieces[i]);
    }
    hf_threads_run(threads, c.n_pieces, work_on, &c);
    for (uint32_t i = 0; i < c.n_pieces; i++)
        join(g, &c.pieces[i]);
    hf_free(c.pieces);
    (void)hf_graph_spent(g);
}
