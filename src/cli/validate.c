/* validate.c: a prediction carried out and judged, see validate.h. */
#include "cli/validate.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "check/check.h"
#include "verify/verify.h"

static const hf_legal_rule rules[HF_PREDICT_TARGET_COUNT] = {
    [HF_PREDICT_READ_COMMITTED] = HF_LEGAL_READ_COMMITTED,
    [HF_PREDICT_READ_ATOMIC] = HF_LEGAL_READ_ATOMIC,
    [HF_PREDICT_CAUSAL] = HF_LEGAL_CAUSAL,
    [HF_PREDICT_PREFIX] = HF_LEGAL_PREFIX,
    [HF_PREDICT_PARALLEL_SNAPSHOT] = HF_LEGAL_PARALLEL,
    [HF_PREDICT_SNAPSHOT] = HF_LEGAL_SNAPSHOT,
    [HF_PREDICT_POSTGRES_READ_COMMITTED] = HF_LEGAL_STATEMENT,
    [HF_PREDICT_POSTGRES_REPEATABLE_READ] = HF_LEGAL_SNAPSHOT,
    [HF_PREDICT_MARIADB_REPEATABLE_READ] = HF_LEGAL_LOCKING,
};

/* ---- the plan ------------------------------------------------------------ */

void hf_prediction_plan(const hf_history *observed, const hf_prediction *p,
                        hf_plan *ret)
{
    hf_txn_id *sources = HF_NEW_ARRAY(hf_txn_id, observed->n_ops + 1);
    hf_op_id *last = HF_NEW_ARRAY(hf_op_id, observed->n_sessions + 1);

    for (hf_op_id o = 0; o < observed->n_ops; o++)
        sources[o] = HF_PLAN_AS_IS;
    for (uint32_t i = 0; i < p->n_reads; i++)
        sources[p->reads[i].op] = p->reads[i].source;
    for (uint32_t s = 0; s < observed->n_sessions; s++)
        last[s] = HF_NONE;
    for (uint32_t s = 0; s < p->n_sessions; s++)
        if (p->sessions[s].cut)
            last[p->sessions[s].session] = p->sessions[s].last;
    hf_plan_make(ret, &(hf_plan_in){.observed = observed,
                                    .order = p->order,
                                    .n_order = p->n_order,
                                    .sources = sources,
                                    .last = last});
    hf_free(sources);
    hf_free(last);
}

/* ---- judging ------------------------------------------------------------- */

static void refuse(const hf_result *r, const char *reason)
{
    char text[700];

    (void)snprintf(text, sizeof text,
                   "engine \"%s\" says %s at %s, but its witness is refused: "
                   "%s",
                   r->engine, hf_verdict_name(r->verdict),
                   hf_level_get(r->level)->name, reason);
    HF_BUG(text);
}

hf_status hf_judged(const hf_history *h, hf_level level, hf_budget *budget,
                    hf_result **ret, hf_error *err)
{
    hf_verification v;
    hf_result *r = NULL;
    hf_error other;
    hf_claim claim;
    hf_status st =
        hf_engine_ask(NULL, h, level, &(hf_check_options){0}, budget, &r, err);

    if (st != HF_OK)
        return st;
    if (r->verdict != HF_UNKNOWN) {
        claim = (hf_claim){r->verdict, r->level, r->witness};
        st = hf_verify_claim(h, &claim, budget, &v, &other);
        if (st == HF_OK && !v.accepted)
            refuse(r, v.reason);
        if (st == HF_ERR_LIMIT)
            r->verdict = HF_UNKNOWN;
    }
    *ret = r;
    return HF_OK;
}

void hf_validated_release(hf_validated *v)
{
    hf_control_report_release(&v->run);
    hf_plan_release(&v->plan);
    hf_result_free(v->legal);
    hf_result_free(v->serial);
    *v = (hf_validated){0};
}

static hf_status carry_out(const hf_application *a, hf_predict_target target,
                           const hf_prediction *p, hf_control_beyond beyond,
                           hf_budget *budget, hf_validated *ret, hf_error *err)
{
    hf_control_options o = a->options;
    hf_status st;

    *ret = (hf_validated){0};
    hf_prediction_plan(a->observed.history, p, &ret->plan);
    o.plan = &ret->plan;
    o.tape = a->observed.tape;
    o.rule = rules[target];
    o.beyond = beyond;
    o.sql = true; /* where a statement begins matters */
    st = hf_control_run(&o, &ret->run, err);
    if (st == HF_OK)
        st = hf_judged(ret->run.history, hf_predict_target_get(target)->level,
                       budget, &ret->legal, err);
    if (st == HF_OK)
        st = hf_judged(ret->run.history, HF_STRONG_SESSION_SERIALIZABLE, budget,
                       &ret->serial, err);
    ret->keeps = HF_VALID;
    if (st == HF_OK && !hf_predict_target_get(target)->is_exact)
        st = hf_predict_keeps(ret->run.history, target, budget, &ret->keeps,
                              err);
    if (st != HF_OK) {
        hf_validated_release(ret);
        return st;
    }
    ret->confirmed = ret->legal->verdict == HF_VALID &&
                     ret->keeps == HF_VALID &&
                     ret->serial->verdict == HF_INVALID;
    return HF_OK;
}

static bool is_cut(const hf_prediction *p)
{
    for (uint32_t s = 0; s < p->n_sessions; s++)
        if (p->sessions[s].cut)
            return true;
    return false;
}

/* What is read behind a boundary is no part of the prediction, and a database
 * may serve it this way or that: from whom it was observed, with nobody new to
 * see, or the newest. */
hf_status hf_validate(const hf_application *a, hf_predict_target target,
                      const hf_prediction *p, hf_budget *budget,
                      hf_validated *ret, hf_error *err)
{
    hf_status st =
        carry_out(a, target, p, HF_BEYOND_OBSERVED, budget, ret, err);

    for (unsigned i = HF_BEYOND_OBSERVED + 1;
         st == HF_OK && !ret->confirmed && is_cut(p) && i < HF_BEYOND_COUNT;
         i++) {
        hf_validated other;

        st = carry_out(a, target, p, (hf_control_beyond)i, budget, &other, err);
        if (st != HF_OK || other.confirmed) {
            hf_validated_release(ret);
            if (st == HF_OK)
                *ret = other;
        } else {
            hf_validated_release(&other);
        }
    }
    return st;
}
