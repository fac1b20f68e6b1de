/* graph_engine.c: the graph engine.
 *
 *   1. Facts: versions, their order as far as it is known, what reads mean
 *      (graph_facts.c and those it calls).
 *   2. Anomalies without a cycle were noted on the way.
 *   3. A walk over the edges the level cares about: a topological order, or
 *      components with cycles, in which the shortest of each class are found
 *      (graph_cycles.c).
 *   4. No anomaly, and the order of every key is known: valid, with the order
 *      of the walk as witness.
 *   5. No anomaly, but something is not known: a few orders are tried as a
 *      completion (graph_complete.c).  If none fits the answer is unknown,
 *      with what would have decided it.
 *   6. Engine polygraph searches instead (graph_decide.c).
 */
#include "check/graph_engine.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "check/brute_engine.h"
#include "check/graph_judge.h"
#include "check/poly.h"
#include "check/poly_core.h"
#include "check/pred.h"
#include "check/weak_engine.h"

/* A transaction of unknown outcome may change what a predicate depends on: if
 * there are cycles, only those count that are there with or without it. */
static bool judge_with_doubt(hf_judge *e)
{
    hf_graph *g = &e->g;

    if (!hf_judge_cycles(e))
        return false;
    if (!g->pred || !g->pred->any_uncertain || e->report.found.n == 0)
        return true;
    hf_judge_clear(e);
    hf_pred_rebuild(g, true);
    if (g->stopped || !hf_judge_cycles(e))
        return false;
    if (e->report.found.n == 0)
        hf_graph_undecided(g, false,
                           "there is a cycle, but it rests on a transaction of "
                           "unknown outcome, or on an order of versions that "
                           "only reads suggest");
    return true;
}

void hf_judge_run(hf_judge *e)
{
    hf_graph *g = &e->g;

    g->predicates = g->predicates && hf_has_predicates(g->h);
    if (!hf_graph_build_facts(g))
        return;
    if (g->level->shape != HF_SHAPE_SNAPSHOT && !g->predicates &&
        hf_judge_accept_order(e))
        return;
    hf_graph_sessions_and_time(g);
    if (g->level->shape == HF_SHAPE_SNAPSHOT && hf_graph_stamps(g, e->r))
        return;
    if (g->stopped || !hf_graph_build_edges(g))
        return;
    if (g->predicates) {
        if (!hf_pred_build(g))
            return;
        if (g->level->shape == HF_SHAPE_SNAPSHOT)
            hf_pred_stamps(g->pred);
        if (g->stopped ||
            (g->level->shape != HF_SHAPE_SNAPSHOT &&
             hf_judge_accept_order(e)) ||
            hf_judge_accept_times(e))
            return;
        hf_pred_link(g->pred);
    }
    for (size_t i = 0; i < g->clashes.n; i += 2)
        hf_report_cycle(&e->report, HF_G0, g->clashes.at + i, 2);
    if (!judge_with_doubt(e) && e->report.found.n == 0)
        return;
    if (g->reads_matter && (!g->total || e->report.found.n > 0) &&
        hf_level_forbids(g->level->level, HF_LOST_UPDATE)) {
        hf_graph_lost_updates(g);
        if (g->pred)
            hf_pred_lost_updates(g->pred);
    }
    hf_report_places(&e->report);
    hf_report_circles(&e->report);
    hf_judge_settle(e);
}

/* ---- mixed levels -------------------------------------------------------- */

static void judge_mixed(hf_judge *e)
{
    hf_graph *g = &e->g;

    g->predicates = g->predicates && hf_has_predicates(g->h);
    if (!hf_graph_build_facts(g))
        return;
    (void)hf_graph_stamps(g, e->r); /* only notes what contradicts them */
    if (g->stopped || !hf_graph_build_edges(g) ||
        (g->predicates && !hf_pred_build(g)))
        return;
    if (g->pred)
        hf_pred_stamps(g->pred);
    hf_report_places(&e->report);
    for (size_t i = 0; i < g->clashes.n; i += 2)
        hf_report_cycle(&e->report, HF_G0, g->clashes.at + i, 2);
    if (g->pred && e->report.found.n == 0)
        hf_pred_report_conflicts(&e->report);
    if (e->report.found.n > 0)
        hf_report_deliver(&e->report, e->r);
    else
        hf_poly_decide_world(&e->report, e->r);
}

/* Facts are gathered as for read-committed: sessions, times and what a level
 * makes of reads are looked at one by one. */
static const hf_level_info **use_own_levels(hf_judge *e, hf_level level)
{
    hf_graph *g = &e->g;
    const hf_level_info **own =
        HF_NEW_ARRAY(const hf_level_info *, (size_t)g->h->n_txns + 1);

    for (hf_txn_id t = 0; t < g->h->n_txns; t++)
        own[t] = hf_level_get((hf_level)hf_txn_own_level(g->h, t, level));
    g->own = own;
    g->others = level;
    g->level = hf_level_get(HF_READ_COMMITTED);
    g->options.most = UINT32_MAX;
    e->r->mixed = true;
    return own;
}

static void mark_mixed(hf_result *r)
{
    r->witness.mixed = r->witness.kind != HF_WITNESS_NONE;
    for (uint32_t i = 0; i < r->n_findings; i++)
        r->findings[i].witness.mixed = true;
}

/* A search that came to an answer, or said how far it came. */
static bool is_told(const hf_result *r)
{
    return r->verdict != HF_UNKNOWN || r->reason;
}

/* The limit came before any search. */
static void tell_stop(hf_judge *e)
{
    char text[200];

    (void)snprintf(text, sizeof(text),
                   "neither an order nor a contradiction was found in what is "
                   "known%s; %s",
                   e->choose ? ", and no search for an order had begun" : "",
                   hf_budget_reason(e->g.budget));
    hf_judge_unknown(e, text);
}

static void check(const hf_history *h, hf_level level,
                  const hf_check_options *options, hf_budget *budget,
                  const char *name, hf_result **ret)
{
    uint64_t start = hf_clock_ns();
    const hf_level_info **own = NULL;
    hf_judge *e = HF_NEW(hf_judge);

    e->r = hf_result_new(level, name);
    e->choose = strcmp(name, "polygraph") == 0;
    e->g.predicates = strcmp(name, "graph") != 0;
    e->g.h = h;
    e->g.level = hf_level_get(level);
    e->g.budget = budget;
    if (options)
        e->g.options = *options;
    e->report.g = &e->g;
    e->report.arena = &e->r->arena;
    if (e->g.options.mixed) {
        own = use_own_levels(e, level);
        judge_mixed(e);
    } else {
        hf_judge_run(e);
        hf_judge_by_record(e);
    }
    if (e->g.stopped && e->report.found.n > 0)
        hf_report_deliver(&e->report, e->r); /* what was found stands */
    else if (e->g.stopped && !(e->choose && is_told(e->r)))
        tell_stop(e);
    else if (e->g.too_large)
        hf_judge_unknown(e,
                         "the history has more versions than engine graph can "
                         "number (about 2,000 million)");
    if (e->g.options.mixed)
        mark_mixed(e->r);
    e->r->seconds = (double)(hf_clock_ns() - start) / 1e9;
    *ret = e->r;
    hf_free(own);
    hf_walk_release(&e->walk);
    hf_vec_release(&e->report.found);
    hf_pred_free(e->g.pred);
    hf_graph_release(&e->g);
    hf_free(e);
}

hf_status hf_graph_check(const hf_history *h, hf_level level,
                         const hf_check_options *options, hf_budget *budget,
                         hf_result **ret, hf_error *err)
{
    (void)err;
    check(h, level, options, budget, "graph", ret);
    return HF_OK;
}

hf_status hf_certificate_engine(const hf_history *h, hf_level level,
                                const hf_check_options *options,
                                hf_budget *budget, hf_result **ret,
                                hf_error *err)
{
    (void)err;
    check(h, level, options, budget, "certificate", ret);
    return HF_OK;
}

/* Levels that engine weak knows. */
static bool is_weak(hf_level level)
{
    const hf_level_info *info = hf_level_get(level);

    return info->shape == HF_SHAPE_WW || info->shape == HF_SHAPE_W ||
           info->shape == HF_SHAPE_OTV ||
           (info->shape == HF_SHAPE_AXIOM && !(info->axiom & HF_AXIOM_PREFIX));
}

/* What a search does not know, of a few transactions. */
static hf_status enumerate(const hf_history *h, hf_level level,
                           const hf_check_options *options, hf_budget *budget,
                           hf_result **ret, hf_error *err)
{
    hf_result *r = NULL;
    hf_status st = hf_brute_check(h, level, options, budget, &r, err);

    if (st != HF_OK || r->verdict == HF_UNKNOWN) {
        hf_result_free(r);
        return HF_OK;
    }
    hf_result_free(*ret);
    *ret = r;
    return HF_OK;
}

hf_status hf_polygraph_check(const hf_history *h, hf_level level,
                             const hf_check_options *options, hf_budget *budget,
                             hf_result **ret, hf_error *err)
{
    if (is_weak(level) && !(options && options->mixed) &&
        !hf_has_predicates(h)) {
        /* decided without a search, but for duplicates */
        hf_status st = hf_weak_check(h, level, options, budget, ret, err);

        if (st != HF_OK || (*ret)->verdict != HF_UNKNOWN ||
            (budget && budget->spent))
            return st;
        hf_result_free(*ret);
    }
    check(h, level, options, budget, "polygraph", ret);
    if ((*ret)->is_excluded && !(options && options->is_part))
        hf_poly_confirm(h, options, budget, *ret);
    if ((*ret)->verdict == HF_UNKNOWN && !(budget && budget->spent) &&
        !(options && options->no_enumeration))
        return enumerate(h, level, options, budget, ret, err);
    return HF_OK;
}
