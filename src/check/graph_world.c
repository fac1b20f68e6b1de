/* graph_world.c: one world of a search, judged (poly_worlds.h). */
#include "check/graph_judge.h"

#include <string.h>

#include "check/poly.h"
#include "check/pred.h"

void hf_graph_find_known(hf_graph *g, hf_graph_report *report, hf_result *r)
{
    hf_judge *e = HF_NEW(hf_judge);

    e->g = *g;
    e->r = r;
    e->report = *report;
    e->report.g = &e->g;
    if (!g->own && hf_judge_cycles(e) && e->report.found.n > 0 &&
        hf_level_forbids(g->level->level, HF_LOST_UPDATE))
        hf_graph_lost_updates(&e->g);
    hf_report_places(&e->report);
    *g = e->g;
    e->report.g = report->g;
    *report = e->report;
    hf_walk_release(&e->walk);
    hf_free(e);
}

/* Of a world, in which every order is known. */
static bool link_conditions(hf_judge *e)
{
    hf_graph *g = &e->g;

    if (!g->predicates)
        return true;
    memset(g->open_key, 0, g->h->n_keys);
    if (!hf_pred_build(g))
        return false;
    if (g->open_reads > 0 && g->reads_matter)
        hf_graph_undecided(g, false,
                           "a condition looked at a version that only one of "
                           "unknown outcome may have written");
    hf_pred_link(g->pred);
    return true;
}

/* Nothing is wrong with the world, as far as it can be told. */
static bool is_right(hf_judge *e)
{
    hf_graph *g = &e->g;

    if (e->report.found.n > 0 || !e->walk.acyclic)
        return false;
    if (g->pred && g->pred->conflicts.n > 0) {
        hf_vec_push(&e->report.found,
                    hf_poly_conflict(g->pred, e->report.arena));
        return false;
    }
    if (g->pred && hf_graph_is_undecided(g))
        hf_judge_unknown(e, g->undecided);
    return !g->pred || !hf_graph_is_undecided(g);
}

bool hf_graph_judge_world(const hf_graph *like, const hf_graph_world *world,
                          const hf_txn_id *order, uint32_t n, hf_result *r,
                          hf_graph_findings *ret)
{
    hf_judge *e = HF_NEW(hf_judge);
    hf_graph *g = &e->g;
    bool valid;

    e->r = r;
    g->h = like->h;
    g->level = like->level;
    g->budget = like->budget;
    g->options = like->options;
    g->predicates = like->predicates;
    g->world = *world;
    e->report.g = g;
    e->report.arena = &r->arena;
    valid = hf_graph_build_facts(g);
    if (valid) {
        hf_graph_sessions_and_time(g);
        valid = hf_graph_build_edges(g);
    }
    if (valid) {
        if (!g->total)
            hf_graph_complete(g, order, n);
        valid = link_conditions(e) && hf_judge_cycles(e) && is_right(e);
    }
    if (valid)
        hf_judge_valid(e);
    else
        for (size_t i = 0; i < e->report.found.n; i++)
            hf_vec_push(ret, e->report.found.at[i]);
    hf_walk_release(&e->walk);
    hf_vec_release(&e->report.found);
    hf_pred_free(g->pred);
    hf_graph_release(g);
    hf_free(e);
    return valid;
}
