/* graph_accept.c: a recorded order that is right is the whole answer.
 *
 * Where everything is known and nothing is wrong so far, one pass over the
 * operations shows whether the recorded serial order, that of the file or that
 * of commits is a serial one.
 */
#include "check/graph_judge.h"

#include <string.h>

#include "check/pred.h"

/* Nothing is wrong so far, and everything is known. */
static bool is_clean(const hf_graph *g)
{
    for (unsigned a = 0; a < HF_G0; a++)
        if (g->places[a].count > 0)
            return false;
    return g->n_open_keys == 0 && hf_graph_is_plain(g) &&
           !hf_graph_is_murky(g) && (!g->pred || g->pred->conflicts.n == 0) &&
           g->options.assume == 0;
}

/* Every transaction is after those that ended before it began. */
static bool keeps_time(const hf_history *h, const hf_txn_id *order, uint32_t n)
{
    uint64_t earliest = HF_TIME_NONE; /* end of those behind */

    for (uint32_t i = n; i-- > 0;) {
        uint64_t begin = hf_txn_begin_time(h, order[i]);
        uint64_t end = hf_txn_end_time(h, order[i]);

        if (begin != HF_TIME_NONE && earliest < begin)
            return false;
        if (h->txn_outcome[order[i]] == HF_COMMITTED && end < earliest)
            earliest = end;
    }
    return true;
}

/* Transactions of one session follow each other as in the file. */
static bool keeps_sessions(const hf_history *h, const hf_txn_id *order,
                           uint32_t n)
{
    hf_txn_id *last = HF_NEW_ZEROED(hf_txn_id, (size_t)h->n_sessions + 1);
    bool fine = true;

    for (uint32_t i = 0; i < n; i++) {
        hf_txn_id *before = &last[h->txn_session[order[i]]];

        fine &= order[i] >= *before;
        *before = order[i];
    }
    hf_free(last);
    return fine;
}

/* Takes the order as the witness if it is a serial one that keeps what the
 * level wants kept. */
static bool accept(hf_judge *e, const hf_txn_id *order, uint32_t n)
{
    const hf_graph *g = &e->g;
    hf_witness *w = &e->r->witness;

    if (n != g->n_happened || !hf_graph_is_serial(g, order, n) ||
        (g->level->session_order && !keeps_sessions(g->h, order, n)) ||
        (g->level->real_time && !keeps_time(g->h, order, n)) ||
        (g->pred && !hf_pred_fits(g->pred, order, n)))
        return false;
    e->r->verdict = HF_VALID;
    w->kind = HF_WITNESS_SERIAL;
    w->n_order = n;
    w->order = hf_arena_get(&e->r->arena, hf_array_size(n, sizeof(*order)));
    if (n > 0)
        memcpy(w->order, order, n * sizeof(*order));
    return true;
}

/* The recorded serial order, that of the file, that of commits: one of them is
 * often right.  To see whether it is takes one pass, and if it is not that
 * shows soon. */
bool hf_judge_accept_order(hf_judge *e)
{
    hf_graph *g = &e->g;
    const hf_history *h = g->h;
    hf_txn_id *order;
    uint32_t n = 0;
    bool fine;

    if (!g->reads_matter || !is_clean(g))
        return false;
    if (accept(e, h->cert.serial, h->cert.n_serial))
        return true;
    order = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (g->happened[t])
            order[n++] = t;
    fine = accept(e, order, n);
    hf_free(order);
    if (!fine && h->cert.commit_ts) {
        order = hf_graph_guess_order(g, &n);
        fine = accept(e, order, n);
        hf_free(order);
    }
    return fine;
}

/* The order of commits as a witness of a weak level. */
bool hf_judge_accept_times(hf_judge *e)
{
    const hf_graph *g = &e->g;
    uint32_t n = 0, *order;

    if ((g->level->shape != HF_SHAPE_AXIOM &&
         g->level->shape != HF_SHAPE_OTV) ||
        !is_clean(g) || (g->level->real_time))
        return false;
    order = hf_pred_order_by_time(g->pred, &n);
    if (order)
        hf_judge_order(e, order, n, HF_WITNESS_COMMIT, false);
    hf_free(order);
    return order != NULL;
}
