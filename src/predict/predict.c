/* predict.c: the front of this folder. */
#include "predict/predict.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "predict/search.h"
#include "solver/smt.h"

bool hf_predict_available(hf_predict_encoding encoding, const char **ret_why)
{
    bool has =
        encoding == HF_PREDICT_PAPER ? hf_smt_available() : hf_sat_available();

    if (ret_why)
        *ret_why = has ? NULL
                   : encoding == HF_PREDICT_PAPER
                       ? "this program was built without Z3, which solves the "
                         "paper's encoding"
                       : "this program was built without CaDiCaL, the SAT "
                         "solver that predictions need";
    return has;
}

/* Tables of pairs of transactions are made; this many take some gigabytes. */
#define MOST_TXNS 3000u

static hf_status too_many(const hf_events *e, hf_budget *budget, hf_error *err)
{
    size_t pairs = (size_t)e->n * e->n;

    if (e->n > MOST_TXNS)
        return hf_fail(err, HF_ERR_UNSUPPORTED,
                       "%u transactions are too many to predict from; the "
                       "limit is %u",
                       e->n - 1, MOST_TXNS - 1);
    if (budget && hf_budget_refuses(budget, pairs * 64))
        return hf_fail(err, HF_ERR_LIMIT, "%s", hf_budget_reason(budget));
    return HF_OK;
}

/* Those that are feasible for sure first, then those whose transactions can go
 * on as observed, then those with few changes; last those in which somebody has
 * to go on otherwise. */
static void rank(hf_predict_result *r)
{
    uint32_t n = r->n_predictions;
    hf_sortable *keys = HF_NEW_ARRAY(hf_sortable, n + 1u);
    hf_prediction *sorted = HF_NEW_ARRAY(hf_prediction, n + 1u);

    for (uint32_t i = 0; i < n; i++) {
        const hf_prediction *p = &r->predictions[i];

        keys[i] = (hf_sortable){
            (uint64_t)(p->n_others > 0) << 63 | (uint64_t)!p->is_sure << 62 |
                (uint64_t)!p->finishes << 61 | (uint64_t)p->n_changed << 24 |
                (p->n_edges & 0xffffffu),
            i};
    }
    hf_sort(keys, n);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = r->predictions[keys[i].value];
    hf_free(r->predictions);
    r->predictions = sorted;
    hf_free(keys);
}

static const char *kind_of_none(hf_predict_strategy strategy)
{
    switch (strategy) {
    case HF_PREDICT_EXACT_STRICT:
        return "within the strict boundary";
    case HF_PREDICT_APPROX_STRICT:
        return "within the strict boundary with a cycle of forced order";
    case HF_PREDICT_APPROX_RELAXED:
        return "within the relaxed boundary with a cycle of forced order";
    default:
        return "within any boundary";
    }
}

/* Is there none in which transactions go on as observed? */
static bool is_otherwise(const hf_predict_result *r)
{
    return r->n_predictions > 0 && r->predictions[0].n_others > 0;
}

/* What the answer does not speak of; empty if there is nothing of the kind. */
static void describe_unknown(const hf_predict_stats *s, char *text, size_t size)
{
    char ignored[64] = "", unjudged[64] = "";

    if (s->ignored > 0)
        snprintf(ignored, sizeof ignored,
                 "; left alone: %u operation%s whose "
                 "rows are not known",
                 s->ignored, s->ignored == 1 ? "" : "s");
    if (s->unjudged > 0)
        snprintf(unjudged, sizeof unjudged,
                 "; left alone: %u row%s that a "
                 "condition cannot judge",
                 s->unjudged, s->unjudged == 1 ? "" : "s");
    snprintf(text, size, "%s%s", ignored, unjudged);
}

static void state(hf_predict_result *r, hf_search_end end)
{
    const hf_predict_options *o = &r->options;
    const char *level = hf_predict_target_get(o->target)->name;
    const char *what = kind_of_none(o->strategy);
    bool is_known = r->stats.ignored == 0 && r->stats.unjudged == 0;
    char unknown[160];
    const char *rests =
        r->stats.rests_on_writes && o->as_seen
            ? ", if transactions write behind a boundary what they were seen to"
            : "";
    const char *cut =
        is_otherwise(r)
            ? "; in none do all transactions write what they were seen to"
        : r->stats.none_finishes
            ? "; in all there are, a transaction that is cut short goes on "
              "otherwise than observed, or aborts"
            : "";

    r->is_complete = end == HF_SEARCH_ALL && is_known;
    r->answer = r->n_predictions > 0 ? HF_PREDICT_FOUND
                : r->is_complete     ? HF_PREDICT_NONE
                                     : HF_PREDICT_UNKNOWN;
    describe_unknown(&r->stats, unknown, sizeof unknown);
    if (end == HF_SEARCH_LIMIT)
        snprintf(r->statement, sizeof r->statement,
                 "the search was stopped by a limit%s",
                 r->n_predictions > 0 ? "; there may be more" : "");
    else if (r->n_predictions == 0)
        snprintf(r->statement, sizeof r->statement,
                 "no execution %s is %s and not serializable%s%s", what, level,
                 rests, unknown);
    else if (end == HF_SEARCH_ALL)
        snprintf(r->statement, sizeof r->statement,
                 "every execution %s that is %s and not serializable changes "
                 "the same reads as one of these, or reads in the same places "
                 "of the application%s%s%s",
                 what, level, rests, cut, unknown);
    else
        snprintf(r->statement, sizeof r->statement,
                 "as many as were asked for; there may be more%s", cut);
}

static hf_status ask(const hf_events *e, hf_predict_result *r,
                     const hf_predict_options *o, hf_error *err)
{
    hf_predictions found = {0};
    hf_search_end end = HF_SEARCH_LIMIT;
    hf_status st = o->encoding == HF_PREDICT_PAPER
                       ? hf_paper_search(e, o, &found, &r->stats, &end, err)
                       : hf_search(e, o, &found, &r->stats, &end, err);

    r->predictions = found.at;
    r->n_predictions = (uint32_t)found.n;
    if (st == HF_OK) {
        rank(r);
        state(r, end);
    }
    return st;
}

hf_status hf_predict(const hf_history *h, const hf_predict_options *options,
                     hf_predict_result **ret_result, hf_error *err)
{
    hf_predict_result *r = HF_NEW(hf_predict_result);
    uint64_t start = hf_clock_cpu_ns();
    hf_target_rules rules = *hf_target_rules_of(options->target);
    hf_events e;
    const char *why;
    hf_status st;

    r->options = *options;
    r->options.budget = NULL;
    if (!hf_predict_available(options->encoding, &why)) {
        hf_free(r);
        return hf_fail(err, HF_ERR_UNSUPPORTED, "%s", why);
    }
    if (options->encoding == HF_PREDICT_PAPER)
        rules.internal = false; /* each read is a choice of its own */
    st = hf_events_init(&e, h, &rules, err);
    r->stats.transactions = e.n > 0 ? e.n - 1 : 0;
    r->stats.sessions = (uint32_t)e.sessions.n;
    r->stats.reads = e.n_reads;
    r->stats.writes = e.n_writes;
    r->stats.ignored = e.ignored;
    r->stats.unjudged = e.unjudged;
    r->stats.encode_seconds = (double)(hf_clock_cpu_ns() - start) / 1e9;
    if (st == HF_OK)
        st = too_many(&e, options->budget, err);
    if (st == HF_OK)
        st = ask(&e, r, options, err);
    hf_events_release(&e);
    if (st != HF_OK) {
        hf_predict_result_free(r);
        return st;
    }
    *ret_result = r;
    return HF_OK;
}

void hf_predict_result_free(hf_predict_result *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->n_predictions; i++)
        hf_prediction_release(&r->predictions[i]);
    hf_free(r->predictions);
    hf_free(r);
}

static hf_status ask_keeps(const hf_events *e, hf_budget *budget,
                           hf_verdict *ret_verdict, hf_error *err)
{
    hf_encoding c;
    hf_chosen x;
    hf_status st = hf_encoding_init(&c, e, HF_BOUNDARY_BEST, budget, err);

    if (st != HF_OK)
        return st;
    c.as_seen = false; /* what there is is all there is */
    hf_chosen_init(&x, e);
    for (size_t s = 0; s < e->sessions.n; s++)
        x.cut[s] = e->sessions.at[s].n_segments;
    for (size_t i = 0; i < e->reads.n; i++)
        x.source[i] = e->reads.at[i].observed;
    switch (hf_encoding_allows(&c, &x, 0)) {
    case HF_SAT_YES:
        *ret_verdict = HF_VALID;
        break;
    case HF_SAT_NO:
        *ret_verdict = HF_INVALID;
        break;
    default:
        *ret_verdict = HF_UNKNOWN;
    }
    hf_chosen_release(&x);
    hf_encoding_release(&c);
    return HF_OK;
}

hf_status hf_predict_keeps(const hf_history *h, hf_predict_target target,
                           hf_budget *budget, hf_verdict *ret_verdict,
                           hf_error *err)
{
    hf_target_rules rules = *hf_target_rules_of(target);
    hf_events e;
    hf_status st;

    rules.internal = false; /* what was observed need not agree */
    st = hf_events_init(&e, h, &rules, err);
    if (st == HF_OK)
        st = too_many(&e, budget, err);
    if (st == HF_OK)
        st = ask_keeps(&e, budget, ret_verdict, err);
    hf_events_release(&e);
    return st;
}
