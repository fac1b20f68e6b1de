/* graph_complete.c: orders that are at hand, tried where some are open.
 *
 * If nothing is wrong and something is not known, the order of a walk over the
 * known edges, that of the recorded times and that of the file are taken for
 * the order of all versions.  If one of them explains everything the history
 * is valid; if none does, nothing is said.
 *
 * One walk and one replay for each order.
 */
#include "check/graph_judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "check/pred.h"

/* ---- completing ---------------------------------------------------------- */

bool hf_graph_is_murky(const hf_graph *g)
{
    for (hf_key_id k = 0; g->has_lists && k < g->h->n_keys; k++)
        if ((g->key_use[k] & HF_USE_MURKY) && g->longest_op[k] != HF_NONE)
            return true;
    return false;
}

/* A serial order is a proof for every level but read-uncommitted. */
static bool try_serial(hf_judge *e, const hf_txn_id *order, uint32_t n)
{
    hf_source_list sources = {0};
    bool fine = hf_graph_replay(&e->g, order, n, &sources);
    hf_witness *w = &e->r->witness;

    if (fine) {
        hf_judge_order(e, order, n, HF_WITNESS_SERIAL, false);
        w->n_sources = (uint32_t)sources.n;
        w->sources = hf_arena_get(&e->r->arena,
                                  hf_array_size(sources.n, sizeof(hf_source)));
        if (sources.n > 0)
            memcpy(w->sources, sources.at, sources.n * sizeof(hf_source));
    }
    hf_vec_release(&sources);
    return fine;
}

/* Transactions that happened: by recorded commit or the time at which it was
 * asked for, where that is known; else in the order of the file. */
hf_txn_id *hf_graph_guess_order(const hf_graph *g, uint32_t *ret_n)
{
    const hf_history *h = g->h;
    hf_sortable *all =
        hf_alloc_large(hf_array_size((size_t)h->n_txns + 1, sizeof(*all)));
    hf_txn_id *order = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);
    uint32_t n = 0;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (g->happened[t])
            all[n++] = (hf_sortable){h->cert.commit_ts ? h->cert.commit_ts[t]
                                                       : hf_txn_last_call(h, t),
                                     t};
    hf_sort(all, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = (hf_txn_id)all[i].value;
    *ret_n = n;
    hf_free(all);
    return order;
}

/* An order that keeps the edges in the mask and otherwise follows the hint;
 * NULL if there is none. */
static uint32_t *order_with(hf_judge *e, unsigned mask, const hf_txn_id *hint,
                            uint32_t n_hint, uint32_t *ret_n)
{
    hf_walk w = {.g = &e->g, .mask = mask, .form = HF_WALK_PLAIN};
    uint32_t *order = NULL;

    if (hf_walk_run(&w, hint, n_hint) && w.acyclic) {
        order = w.order;
        *ret_n = w.n_order;
        w.order = NULL;
    }
    hf_walk_release(&w);
    return order;
}

void hf_judge_clear(hf_judge *e)
{
    e->report.found.n = 0;
    memset(e->report.count, 0, sizeof(e->report.count));
    memset(e->report.at_least, 0, sizeof(e->report.at_least));
}

/* Every order is known now, or taken for known: valid? */
static bool try_judged(hf_judge *e)
{
    if (!hf_judge_cycles(e) || e->report.found.n > 0 || !e->walk.acyclic) {
        hf_judge_clear(e);
        return false;
    }
    hf_judge_valid(e);
    return true;
}

/* Takes the order for that of all versions and asks again. */
static bool try_completed(hf_judge *e, const hf_txn_id *order, uint32_t n)
{
    hf_graph_complete(&e->g, order, n);
    return try_judged(e);
}

/* A serial order that keeps every known edge. */
static bool complete_serially(hf_judge *e, unsigned mask, const hf_txn_id *hint,
                              uint32_t n_hint)
{
    uint32_t n = 0;
    uint32_t *order = order_with(e, mask | HF_WALK_RW, hint, n_hint, &n);
    bool done = order && try_serial(e, order, n);

    hf_free(order);
    return done;
}

/* True if one of a few orders proves the history valid: by recorded order or
 * time, and by place in the file. */
bool hf_judge_complete(hf_judge *e)
{
    hf_graph *g = &e->g;
    unsigned mask = HF_WALK_W | hf_judge_orders_mask(g->level);
    uint32_t n_hint = 0, n[2] = {0, 0};
    hf_txn_id *hint;
    uint32_t *order[2];
    bool done = false;

    if (hf_graph_is_murky(g))
        return false;
    hint = hf_graph_guess_order(g, &n_hint);
    if (g->reads_matter)
        done = complete_serially(e, mask, hint, n_hint) ||
               complete_serially(e, mask, NULL, 0);
    else
        mask = HF_WALK_WW;
    if (!done && !g->total && (g->open_reads == 0 || !g->reads_matter)) {
        order[0] = order_with(e, mask, hint, n_hint, &n[0]);
        order[1] = order_with(e, mask, NULL, 0, &n[1]);
        for (unsigned i = 0; i < 2; i++) {
            done = done || (order[i] && try_completed(e, order[i], n[i]));
            hf_free(order[i]);
        }
    }
    hf_free(hint);
    return done;
}

/* The same with predicates, which have to be asked again: another order has
 * other versions that change the matches. */
bool hf_judge_complete_with_predicates(hf_judge *e)
{
    hf_graph *g = &e->g;
    uint32_t n_hint = 0, n[2] = {0, 0};
    hf_txn_id *hint;
    uint32_t *order[2];
    unsigned mask = HF_WALK_W | hf_judge_orders_mask(g->level);
    bool done = false;

    if (g->total || hf_graph_is_murky(g) || g->pred->undecided_before[0] ||
        g->open_reads > 0 || g->options.assume || !e->walk.acyclic)
        return false;
    hint = hf_graph_guess_order(g, &n_hint);
    if (!g->reads_matter)
        mask = HF_WALK_WW;
    order[0] = order_with(e, mask, hint, n_hint, &n[0]);
    order[1] = order_with(e, mask, NULL, 0, &n[1]);
    for (unsigned i = 0; i < 2; i++) {
        if (!done && !g->stopped && order[i]) {
            hf_graph_complete(g, order[i], n[i]);
            memset(g->open_key, 0, g->h->n_keys);
            hf_pred_rebuild(g, false);
            done = !g->stopped && !g->undecided[0] &&
                   g->pred->conflicts.n == 0 && try_judged(e);
        }
        hf_free(order[i]);
    }
    hf_free(hint);
    return done;
}

bool hf_graph_is_undecided(const hf_graph *g)
{
    return g->undecided[0] && (g->undecided_everywhere || g->reads_matter);
}
