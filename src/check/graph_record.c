/* graph_record.c: sources that the recorded times tell, tried.
 *
 * Where conditions are judged without a search, which of several equal values
 * a read returned is taken from the recorded order or timestamps; if the
 * history is valid so, it is valid.
 */
#include "check/graph_judge.h"

#include <string.h>

#include "check/poly.h"
#include "check/pred.h"

/* When transactions started and committed: by the recorded timestamps, or by
 * their place in the recorded order.  False: neither is there. */
static bool recorded_times(const hf_history *h, bool stamps, uint64_t *start,
                           uint64_t *commit)
{
    if (stamps) {
        for (hf_txn_id t = 0; h->cert.commit_ts && t < h->n_txns; t++) {
            commit[t] = h->cert.commit_ts[t];
            start[t] =
                h->cert.start_ts ? h->cert.start_ts[t] : h->cert.commit_ts[t];
        }
        return h->cert.commit_ts != NULL;
    }
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        start[t] = commit[t] = h->cert.n_serial;
    for (uint32_t i = 0; i < h->cert.n_serial; i++)
        start[h->cert.serial[i]] = commit[h->cert.serial[i]] = i;
    return h->cert.n_serial > 0;
}

static void store_sources(const hf_graph *g, const uint32_t *source,
                          hf_result *r)
{
    hf_witness *w = &r->witness;

    w->sources = hf_arena_get(
        &r->arena, hf_array_size(g->open.n + 1, sizeof(*w->sources)));
    for (size_t i = 0; i < g->open.n; i++) {
        hf_op_id op = g->open.at[i];

        if (source[op] != HF_CHOSEN_ONLY)
            w->sources[w->n_sources++] = (hf_source){
                op, 0,
                source[op] == HF_CHOSEN_INITIAL ? HF_NONE : source[op] - 1};
    }
}

/* Judges the world in which the open reads return what the times suggest: if
 * it is right, that is the answer.  *ret: the result, or as it was. */
static bool try_recorded_sources(const hf_judge *e, const uint32_t *source,
                                 hf_result **ret)
{
    hf_judge *again = HF_NEW(hf_judge);
    bool valid;

    again->r = hf_result_new(e->r->level, e->r->engine);
    again->g = (hf_graph){.h = e->g.h,
                          .level = e->g.level,
                          .budget = e->g.budget,
                          .options = e->g.options,
                          .predicates = true,
                          .world = {e->g.happened, source, false}};
    again->report.g = &again->g;
    again->report.arena = &again->r->arena;
    hf_judge_run(again);
    valid = again->r->verdict == HF_VALID && again->r->witness.n_sources == 0 &&
            !again->g.stopped;
    if (valid) {
        store_sources(&e->g, source, again->r);
        hf_result_free(*ret);
        *ret = again->r;
    } else {
        hf_result_free(again->r);
    }
    hf_walk_release(&again->walk);
    hf_vec_release(&again->report.found);
    hf_pred_free(again->g.pred);
    hf_graph_release(&again->g);
    hf_free(again);
    return valid;
}

/* With predicates no search decides which of several equal values a read
 * returned (absent rows are all equal); what was recorded mostly tells. */
void hf_judge_by_record(hf_judge *e)
{
    hf_graph *g = &e->g;
    size_t n = (size_t)g->h->n_txns + 1;
    uint64_t *start, *commit;
    uint32_t *source;
    bool done = false;

    if (e->r->verdict != HF_UNKNOWN || !g->pred || g->open_reads == 0 ||
        g->options.assume || g->stopped)
        return;
    start = HF_NEW_ARRAY(uint64_t, n);
    commit = HF_NEW_ARRAY(uint64_t, n);
    source = HF_NEW_ZEROED(uint32_t, (size_t)g->h->n_ops + 1);
    for (unsigned stamps = 0; stamps < 2 && !done; stamps++)
        if (recorded_times(g->h, stamps == 1, start, commit)) {
            hf_poly_guess_sources(g, start, commit, source);
            done = try_recorded_sources(e, source, &e->r);
        }
    hf_free(start);
    hf_free(commit);
    hf_free(source);
}
