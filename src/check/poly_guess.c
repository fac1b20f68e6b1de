/* poly_guess.c: a world as an order suggests it, tried before the search.
 *
 * The order is one that keeps everything but the open reads; each of these
 * takes the newest source before it there.  A database that made the history in
 * an order like that is accepted here, at the cost of two checks.
 */
#include "check/poly_worlds.h"

#include <string.h>

/* The newest candidate that committed before the reader began; else the
 * oldest. */
static uint32_t guess_source(const hf_worlds *w, hf_op_id op,
                             const uint64_t *start, const uint64_t *commit)
{
    const hf_history *h = w->base->h;
    hf_txn_id t = hf_op_txn(h, op);
    hf_value_id v = hf_worlds_value_read(h, op);
    uint32_t best = HF_CHOSEN_ONLY;
    uint64_t best_at = 0;
    bool best_before = false;

    if (v == HF_NONE)
        return HF_CHOSEN_ONLY; /* an entry of a version set */
    if (hf_value_is_initial(h, h->op_key[op], v)) {
        best = HF_CHOSEN_INITIAL;
        best_before = true;
    }
    for (uint32_t i = w->write_first[v]; i < w->write_first[v + 1]; i++) {
        hf_txn_id from = hf_op_txn(h, w->writes[i]);
        bool before = commit[from] <= start[t];

        if (from == t || !w->sure[from] ||
            !hf_worlds_is_last_write(h, from, w->writes[i]))
            continue;
        if (best == HF_CHOSEN_ONLY ||
            (before && (!best_before || commit[from] >= best_at)) ||
            (!before && !best_before && commit[from] < best_at)) {
            best = HF_CHOSEN(from);
            best_at = commit[from];
            best_before = before;
        }
    }
    return best;
}

void hf_poly_guess_sources(hf_graph *g, const uint64_t *start,
                           const uint64_t *commit, uint32_t *ret)
{
    hf_graph_report report = {.g = g};
    hf_worlds w = {.report = &report, .base = g, .sure = g->happened};

    hf_worlds_list_writes(&w);
    for (size_t i = 0; i < g->open.n; i++)
        ret[g->open.at[i]] = guess_source(&w, g->open.at[i], start, commit);
    hf_free(w.write_first);
    hf_free(w.writes);
}

/* All open reads take the source that the order suggests. */
static bool try_sources(hf_worlds *w, const hf_txn_id *order)
{
    const hf_history *h = w->base->h;
    uint64_t *place = HF_NEW_ZEROED(uint64_t, (size_t)h->n_txns + 1);
    uint32_t *kept = w->fixed;
    hf_graph_report report = *w->report;
    hf_graph guess;
    bool valid = false;

    for (uint32_t i = 0; i < w->base->n_happened; i++)
        place[order[i]] = i;
    w->fixed = HF_NEW_ARRAY(uint32_t, (size_t)h->n_ops + 1);
    memcpy(w->fixed, kept, h->n_ops * sizeof(*kept));
    for (size_t i = 0; i < w->base->open.n; i++)
        w->fixed[w->base->open.at[i]] =
            guess_source(w, w->base->open.at[i], place, place);
    if (hf_worlds_rebuild(w, &guess, w->sure, false) && guess.open_reads == 0) {
        report.g = &guess;
        valid = hf_poly_attempt(&report, w->r, true, NULL) == HF_ORDER_FOUND;
        if (valid)
            hf_worlds_store_sources(w, w->fixed);
    }
    hf_graph_release(&guess);
    hf_free(w->fixed);
    hf_free(place);
    w->fixed = kept;
    return valid;
}

/* Without the open reads first: if there is no order even so, that is the
 * answer; else it says where they may come from.  True: decided. */
bool hf_worlds_decide_by_guess(hf_worlds *w)
{
    hf_graph_report report = *w->report;
    hf_txn_id *order = NULL;
    hf_order_answer answer;
    bool done;

    report.g = w->base;
    answer = hf_poly_attempt(&report, w->r, false, &order);
    *w->report = report; /* with what was found */
    done = answer == HF_ORDER_NONE || (order && try_sources(w, order));
    w->guess = order;
    return done;
}
