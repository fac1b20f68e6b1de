/* poly_answer.c: what a search over worlds came to, told.
 *
 * A world that is right with its sources; a proof that there is none, or the
 * few transactions that show it (poly_enumerate.c); or how far it came before
 * the limit.
 */
#include "check/poly_worlds.h"

#include <stdio.h>
#include <string.h>

/* The sources that were chosen are part of the witness. */
void hf_worlds_store_sources(hf_worlds *w, const uint32_t *source)
{
    const hf_history *h = w->g->h;
    hf_witness *out = &w->r->witness;
    hf_worlds_sources all = {0};

    for (hf_op_id op = 0; op < h->n_ops && w->g->reads_matter; op++) {
        if (source[op] != HF_CHOSEN_ONLY)
            hf_vec_push(&all, (hf_source){op, 0,
                                          source[op] == HF_CHOSEN_INITIAL
                                              ? HF_NONE
                                              : source[op] - 1});
        if (w->pred && hf_op_has_predicate(hf_op_kind_of(h, op)))
            hf_worlds_add_entries(w, op, &all);
    }
    out->rests |= w->promised;
    out->n_sources = (uint32_t)all.n;
    out->sources =
        hf_arena_get(&w->r->arena, hf_array_size(all.n + 1, sizeof(hf_source)));
    if (all.n > 0)
        memcpy(out->sources, all.at, all.n * sizeof(hf_source));
    hf_vec_release(&all);
}

void hf_worlds_set_unknown(hf_worlds *w, const char *reason)
{
    w->r->verdict = HF_UNKNOWN;
    w->r->reason = hf_arena_text(&w->r->arena, reason, strlen(reason));
}

static void set_excluded(hf_worlds *w)
{
    hf_worlds_set_unknown(
        w, "no world is left, but there are too many transactions "
           "to prove it");
    w->r->is_excluded = true;
}

void hf_worlds_tell_early_limit(hf_worlds *w)
{
    char text[200];

    (void)snprintf(text, sizeof(text),
                   "what is open was listed, no world was tried; %s",
                   hf_budget_reason(w->report->g->budget));
    hf_worlds_set_unknown(w, text);
}

/* How far it came. */
static void tell_limit(hf_worlds *w)
{
    char text[300];

    (void)snprintf(
        text, sizeof(text),
        "no world was found and none excluded: %llu tried, %zu "
        "reads with several possible sources, %lu transactions that "
        "need not have happened, %llu conflicts; %s",
        (unsigned long long)w->n_judged, w->p.choices.n,
        (unsigned long)w->n_uncertain,
        (unsigned long long)(w->conflicts + hf_order_conflicts(w->p.order)),
        hf_budget_reason(w->g->budget));
    hf_worlds_set_unknown(w, text);
}

/* A proof that uses what the user assumes rests on it. */
static void add_rests(const hf_worlds *w, hf_witness *proof)
{
    for (uint32_t i = 0; i < proof->n_steps; i++)
        if (proof->steps[i].kind == HF_STEP_PROMISE)
            proof->rests |= w->promised;
}

void hf_worlds_deliver(hf_worlds *w, hf_order_answer answer)
{
    hf_order_proof proof;

    if (answer == HF_ORDER_FOUND && w->found) {
        hf_worlds_store_sources(w, w->source);
        return;
    }
    if (answer == HF_ORDER_LIMIT || hf_graph_spent(w->g)) {
        tell_limit(w);
        return;
    }
    if (answer == HF_ORDER_FOUND && w->r->reason) {
        w->r->verdict = HF_UNKNOWN; /* of the conditions, in every world */
        return;
    }
    if (answer == HF_ORDER_FOUND) {
        hf_worlds_set_unknown(w,
                              "there is a cycle in a world that was tried, but "
                              "the search for one to show was cut short");
        return;
    }
    hf_order_proof_make(w->p.order, &proof);
    if (hf_poly_prove(&w->p, &proof, w->report))
        add_rests(w, &w->report->found.at[w->report->found.n - 1].witness);
    else
        hf_worlds_enumerate(w, &proof);
    hf_order_proof_release(&proof);
    if (w->report->found.n > 0)
        hf_report_deliver(w->report, w->r);
    else
        set_excluded(w);
}
