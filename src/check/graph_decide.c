/* graph_decide.c: what is open is decided, or said.
 *
 * Engine polygraph searches: for an order of versions and sources (poly.h),
 * or, where these are not what is open, over states (states.h).  The others
 * try the orders at hand (graph_complete.c).
 */
#include "check/graph_judge.h"

#include <string.h>

#include "check/poly.h"
#include "check/pred.h"
#include "check/states.h"

/* ---- states -------------------------------------------------------------- */

/* Lists with elements that several appended, or with some to begin with;
 * counters: what was read says nothing about single versions. */
static bool is_beyond_items(const hf_graph *g)
{
    return !g->pred && !g->options.assume &&
           (hf_graph_is_murky(g) || g->odd.n > 0 || hf_graph_is_undecided(g));
}

/* A search that is soon over, before one that may not be. */
static bool find_soon(hf_judge *e)
{
    const hf_graph *g = &e->g;
    uint64_t n = g->h->n_txns;

    return hf_states_find(g->h, 20000 + 50 * n, 0.3 + (double)n * 1e-4,
                          g->budget, e->r, &e->impossible);
}

/* What the lists that are not understood say is left out: is the rest
 * impossible? */
static bool refute_rest(hf_judge *e)
{
    hf_graph *g = &e->g;
    size_t n = 0;

    for (size_t i = 0; i < g->open.n; i++)
        if (!(g->key_use[g->h->op_key[g->open.at[i]]] & HF_USE_MURKY))
            g->open.at[n++] = g->open.at[i];
    g->open.n = n;
    g->open_reads = n;
    if (g->odd.n > 0 || !e->walk.acyclic || !hf_poly_is_order(g) || g->stopped)
        return false;
    hf_poly_decide(&e->report, e->r);
    if (e->r->verdict == HF_INVALID)
        return true;
    e->r->verdict = HF_UNKNOWN;
    e->r->witness = (hf_witness){.kind = HF_WITNESS_NONE};
    return false;
}

/* The search by choices, for a while. */
static void choose_for_a_while(hf_judge *e, double seconds)
{
    hf_graph *g = &e->g;
    hf_budget *all = g->budget;
    hf_budget share = hf_states_share(all, seconds);

    g->budget = &share;
    hf_poly_decide_world(&e->report, e->r);
    g->budget = all;
    g->stopped = false;
}

static void decide_by_states(hf_judge *e)
{
    hf_graph *g = &e->g;
    char *reason = NULL, *again = NULL;
    hf_states_form form;
    bool first = !g->own && hf_states_decides(g->level, &form);

    if (find_soon(e) || refute_rest(e))
        return;
    first |= e->impossible; /* it is a matter of saying why */
    if (first)
        choose_for_a_while(e, 1);
    if (e->r->verdict != HF_UNKNOWN)
        return;
    if (first && hf_states_decide(g->h, g->budget, e->r, &reason))
        return;
    hf_poly_decide_world(&e->report, e->r);
    if (e->r->verdict != HF_UNKNOWN || g->stopped)
        return;
    if (!hf_budget_spent(g->budget) &&
        hf_states_decide(g->h, g->budget, e->r, &again))
        return;
    if (again) /* else what it said the first time */
        reason = again;
    if (!reason && e->r->reason)
        return; /* what the search by choices says */
    if (!reason)
        reason =
            g->undecided[0] ? g->undecided : hf_graph_missing(g, &e->r->arena);
    hf_judge_unknown(e, reason);
}

/* Orders of versions, and sources.  Where values repeat, executing the
 * transactions may be quicker. */
static void decide_by_choices(hf_judge *e)
{
    hf_graph *g = &e->g;
    char *reason = NULL;

    if (hf_poly_is_order(g)) {
        hf_poly_decide(&e->report, e->r);
        return;
    }
    if (g->reads_matter && find_soon(e))
        return;
    if (e->impossible) { /* it is a matter of saying why */
        choose_for_a_while(e, 1);
        if (e->r->verdict != HF_UNKNOWN ||
            hf_states_decide(g->h, g->budget, e->r, &reason))
            return;
    }
    hf_poly_decide_world(&e->report, e->r);
    if (e->r->verdict != HF_UNKNOWN || !g->reads_matter)
        return;
    if (e->impossible && reason)
        hf_judge_unknown(e, reason);
    else if (!hf_graph_spent(g) && !(g->budget && g->budget->spent))
        (void)hf_states_decide(g->h, g->budget, e->r, &reason);
}

/* Orders, sources or outcomes are open, and conditions depend on them. */
static bool is_open_with_predicates(const hf_judge *e)
{
    const hf_graph *g = &e->g;

    return g->pred && !g->stopped && e->walk.acyclic &&
           (!g->total || g->open_reads > 0 || hf_graph_is_murky(g) ||
            g->odd.n > 0 || g->pred->undecided_before[0] ||
            g->pred->has_unlisted ||
            (g->pred->any_uncertain && hf_graph_is_undecided(g)));
}

/* Under an assumption.  Where every order and source is known, and no rows were
 * returned, graph_assume.c has compared it with all there is; else each world
 * is asked whether it keeps it, and if there is but one that is no search.
 * False: it is not for this to say. */
static bool decide_with_promises(hf_judge *e, char *missing)
{
    hf_graph *g = &e->g;
    bool known = g->total && (g->open_reads == 0 || !g->reads_matter) &&
                 !hf_graph_is_murky(g) && g->odd.n == 0 &&
                 !hf_graph_is_undecided(g);

    if (!g->options.assume || g->stopped || !e->walk.acyclic ||
        (known ? !g->pred : !e->choose))
        return false;
    hf_poly_decide_world(&e->report, e->r);
    if (e->r->verdict == HF_UNKNOWN && !e->r->reason)
        hf_judge_unknown(e, missing);
    return true;
}

/* ---- all ----------------------------------------------------------------- */

void hf_judge_settle(hf_judge *e)
{
    hf_graph *g = &e->g;
    char *missing;

    hf_report_odd_lists(&e->report);
    if (g->pred && e->report.found.n == 0)
        hf_pred_report_conflicts(&e->report);
    if (e->report.found.n > 0) {
        hf_report_deliver(&e->report, e->r);
        return;
    }
    if (e->choose && is_beyond_items(g)) {
        decide_by_states(e);
        return;
    }
    missing = hf_graph_missing(g, &e->r->arena);
    if (decide_with_promises(e, missing))
        return;
    if (e->choose && is_open_with_predicates(e)) {
        hf_poly_decide_world(&e->report, e->r);
        return;
    }
    if (g->odd.n > 0) {
        hf_judge_unknown(
            e, "the elements of one transaction do not stand together "
               "in a list that was read, and those involved are too "
               "many to prove it");
        return;
    }
    if (hf_graph_is_undecided(g)) {
        char reason[sizeof(g->undecided)];

        memcpy(reason, g->undecided, sizeof(reason));
        if (!g->pred || !hf_judge_complete_with_predicates(e))
            hf_judge_unknown(e, reason);
        return;
    }
    if (g->options.assume && g->open_reads > 0 && g->reads_matter) {
        hf_judge_unknown(e, missing);
        return;
    }
    if (!e->walk.acyclic) {
        hf_judge_unknown(e,
                         "there is a cycle, but the search for one to show was "
                         "cut short");
        return;
    }
    if (g->total && !hf_graph_is_murky(g) &&
        (g->open_reads == 0 || !g->reads_matter)) {
        hf_judge_valid(e);
        return;
    }
    if (e->choose && !g->pred && !hf_graph_is_murky(g) && !g->options.assume) {
        decide_by_choices(e);
        return;
    }
    if (!(g->pred ? hf_judge_complete_with_predicates(e)
                  : hf_judge_complete(e)) &&
        !g->stopped)
        hf_judge_unknown(e, missing);
}
