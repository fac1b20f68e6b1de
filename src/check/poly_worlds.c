/* poly_worlds.c: which worlds there are, and who decides among them.
 *
 * What is settled is settled first: sources that can only be one, and with them
 * who happened (poly_sources.c).  If that leaves orders only, the search over
 * orders decides; if it leaves something that nobody can judge, at least the
 * rest is refuted or not; else the worlds are searched (poly_search.c).
 */
#include "check/poly_worlds.h"

#define MOST_COUNTED 16000000u /* sources of sums: about 1.6 GB */

/* What items cannot judge, lists that are not understood apart. */
static const char *undecided(const hf_worlds *w)
{
    return w->g->pred ? w->g->pred->undecided_before : w->g->undecided;
}

/* What cannot be judged is left out: is the rest impossible? */
static void refute_rest(hf_worlds *w)
{
    hf_worlds_search(w);
    if (w->r->verdict != HF_VALID)
        return;
    w->r->witness = (hf_witness){.kind = HF_WITNESS_NONE};
    hf_worlds_set_unknown(w, undecided(w));
}

/* Every source is settled, and the level is an order of nodes. */
static void decide_order(hf_worlds *w)
{
    hf_graph_report report = *w->report;

    report.g = w->base;
    hf_poly_decide(&report, w->r);
    *w->report = report; /* with what was found */
    if (w->r->verdict == HF_VALID)
        hf_worlds_store_sources(w, w->fixed);
}

/* Where sources that are certain have settled who happened: what these did
 * wrong besides, as conditions tell.  True: something. */
static bool report_places(hf_worlds *w)
{
    hf_graph *g = w->report->g;

    if (!w->g->predicates || w->n_uncertain > 0 || w->g == g)
        return false;
    w->report->g = w->g;
    hf_report_places(w->report);
    w->report->g = g;
    if (w->report->found.n == 0)
        return false;
    hf_report_deliver(w->report, w->r);
    return true;
}

static void decide(hf_worlds *w)
{
    if (!hf_worlds_settle(w)) {
        hf_worlds_tell_early_limit(w);
        return;
    }
    if (w->base == &w->settled) {
        hf_graph_find_known(w->base, w->report, w->r);
        if (w->report->found.n > 0) {
            hf_report_deliver(w->report, w->r);
            return;
        }
    }
    if (!hf_worlds_gather(w))
        hf_worlds_tell_early_limit(w);
    else if (hf_worlds_n_counted(w) > MOST_COUNTED)
        hf_worlds_set_unknown(
            w, "reads of keys that have increments without results, "
               "and writes of these, are too many for a search; recorded "
               "results would leave less open");
    else if (w->g->predicates && !hf_worlds_take_conditions(w))
        hf_worlds_tell_early_limit(w);
    else if (w->g->predicates && hf_worlds_n_unlisted(w) > MOST_COUNTED)
        hf_worlds_set_unknown(
            w, "rows whose version sets were not recorded, and versions that "
               "they may have looked at, are too many for a search; recorded "
               "version sets would leave less open");
    else if (report_places(w))
        return;
    else if (undecided(w)[0])
        refute_rest(w);
    else if (w->g->predicates || w->lists.n > 0 || w->counts.n > 0 ||
             w->promised)
        hf_worlds_search(w);
    else if (w->base == &w->settled && hf_poly_is_order(w->base))
        decide_order(w);
    else if (w->n_uncertain > 0 || !hf_poly_has_form(w->base) ||
             w->g->stopped || !hf_worlds_decide_by_guess(w))
        hf_worlds_search(w);
}

void hf_poly_decide_world(hf_graph_report *report, hf_result *r)
{
    hf_graph *g = report->g;
    unsigned assume = g->options.assume;
    hf_worlds w = {
        .report = report, .r = r, .promised = assume & HF_REST_ASSUMABLE};

    hf_map_init(&w.entries);
    g->options.assume = 0; /* each world is asked whether it keeps it */
    hf_worlds_list_writes(&w);
    decide(&w);
    report->g = g;
    g->options.assume = assume;
    hf_worlds_end(&w);
    if (w.pred && w.pred != g->pred)
        hf_pred_free(w.pred);
    if (w.g && w.g == &w.again)
        hf_graph_release(&w.again);
    if (w.base == &w.settled)
        hf_graph_release(&w.settled);
    hf_free(w.sure);
    hf_free(w.fixed);
    hf_free(w.all);
    hf_free(w.uncertain);
    hf_free(w.loose);
    hf_vec_release(&w.lists);
    hf_vec_release(&w.counts);
    hf_free(w.write_first);
    hf_free(w.writes);
    hf_free(w.happened);
    hf_free(w.source);
    hf_free(w.order);
    g->world.entries = NULL;
    hf_map_release(&w.entries);
    hf_free(w.place);
    hf_free(w.guess);
}
