/* agreement.c: two results compared, every proof through JSON to verify. */
#include "agreement.h"

#include <string.h>

#include "base/error.h"
#include "determined.h"
#include "report/report.h"
#include "verify/verify.h"

const char *agreement_name(agreement a)
{
    static const char *const names[AGREEMENT_COUNT] = {
        [AGREE] = "agreed",
        [DISAGREE_ERROR] = "the engine failed",
        [DISAGREE_VERDICT] = "the verdicts differ",
        [DISAGREE_UNKNOWN] = "unknown, but it should be known",
        [DISAGREE_WITNESS] = "the witness is not accepted",
        [DISAGREE_FINDING] = "the witness of a finding is not accepted",
        [DISAGREE_STRAY] = "findings and verdict do not fit",
        [DISAGREE_LONGER] = "a shorter cycle of this name exists",
        [DISAGREE_THREADS] = "two threads give another result",
        [DISAGREE_LATTICE] = "the lattice of levels is broken",
        [DISAGREE_ORDER] = "findings are not shortest first",
        [DISAGREE_PROOF] = "a proof of the reference is not accepted",
        [DISAGREE_ORACLE] = "the reference and the oracle differ"};

    return names[a];
}

/* ---- proofs -------------------------------------------------------------- */

/* Reads a claim from JSON and has it verified.  *ret (may be NULL):
 * HF_ERR_UNSUPPORTED if verify says that it does not know. */
static bool accepts(const hf_history *h, const agreement_case *c, hf_str json,
                    const hf_result *r, hf_witness_kind kind, hf_status *ret,
                    hf_error *why)
{
    hf_verify_session *session = hf_verify_open(h);
    hf_verification v = {0};
    hf_status st = HF_OK;
    hf_arena arena;
    hf_claim claim;
    bool accepted = false;

    hf_verify_set_dialect(session, c->dialect);
    if (c->eager)
        hf_verify_set_eager(session);
    hf_arena_init(&arena);
    if (hf_claim_read(h, json.ptr, json.len, &arena, &claim, why) == HF_OK) {
        if (claim.verdict != r->verdict || claim.level != r->level ||
            claim.witness.kind != kind)
            (void)hf_fail(why, HF_ERR_INPUT, "verdict, level or kind changed");
        else if ((st = hf_verify_claim_in(session, &claim, NULL, &v, why)) ==
                 HF_OK) {
            accepted = v.accepted;
            if (!accepted)
                (void)hf_fail(why, HF_ERR_INPUT, "%s", v.reason);
        }
    }
    hf_arena_release(&arena);
    hf_verify_close(session);
    if (ret)
        *ret = st;
    return accepted;
}

static bool accepts_finding(const hf_history *h, const agreement_case *c,
                            const hf_result *r, const hf_finding *f,
                            hf_error *why)
{
    bool accepted;
    hf_out out;
    hf_json j;

    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    hf_witness_write(h, r->level, r->verdict, &f->witness, &j);
    accepted = accepts(h, c, hf_out_view(&out), r, f->witness.kind, NULL, why);
    if (accepted && f->witness.kind != HF_WITNESS_CORE &&
        f->witness.anomaly != f->anomaly)
        accepted = hf_fail(why, HF_ERR_INPUT,
                           "finding \"%s\" with proof of "
                           "\"%s\"",
                           hf_anomaly_get(f->anomaly)->name,
                           hf_anomaly_get(f->witness.anomaly)->name) == HF_OK;
    hf_out_release(&out);
    return accepted;
}

static agreement check_proofs(const hf_history *h, const agreement_case *c,
                              const hf_result *r, hf_str json, hf_error *why)
{
    hf_error reason;

    if (r->verdict != HF_INVALID && r->n_findings > 0) {
        (void)hf_fail(why, HF_ERR_INPUT, "%s with %u findings",
                      hf_verdict_name(r->verdict), r->n_findings);
        return DISAGREE_STRAY;
    }
    if (r->verdict == HF_INVALID && r->n_findings == 0) {
        (void)hf_fail(why, HF_ERR_INPUT, "invalid without a finding");
        return DISAGREE_STRAY;
    }
    if (r->verdict != HF_UNKNOWN &&
        !accepts(h, c, json, r, r->witness.kind, NULL, why))
        return DISAGREE_WITNESS;
    for (uint32_t i = 0; i < r->n_findings; i++) {
        if (accepts_finding(h, c, r, &r->findings[i], &reason))
            continue;
        (void)hf_fail(why, HF_ERR_INPUT, "finding %u, %s: %s", i,
                      hf_anomaly_get(r->findings[i].anomaly)->name,
                      reason.text);
        return DISAGREE_FINDING;
    }
    return AGREE;
}

/* ---- cycles -------------------------------------------------------------- */

static void shortest_of(const hf_result *r, uint32_t *shortest)
{
    memset(shortest, 0, HF_ANOMALY_COUNT * sizeof(*shortest));
    for (uint32_t i = 0; i < r->n_findings; i++) {
        const hf_finding *f = &r->findings[i];
        bool cycle = f->witness.kind == HF_WITNESS_CYCLE;
        uint32_t n = cycle ? f->witness.n_edges : 1;

        if (shortest[f->anomaly] == 0 || n < shortest[f->anomaly])
            shortest[f->anomaly] = n;
    }
}

/* Where versions have a known order, and nothing contradicts it, the shortest
 * cycle is wanted. */
static agreement check_cycles(const hf_history *h, const agreement_answers *a,
                              hf_error *why)
{
    if (!is_determined(h, true) || a->by_engine[HF_INCOMPATIBLE_ORDER] > 0 ||
        a->by_engine[HF_G0] > 0)
        return AGREE;
    for (unsigned i = HF_G0; i < HF_NO_ORDER; i++) {
        if (a->by_reference[i] == 0 || a->by_engine[i] <= a->by_reference[i])
            continue;
        (void)hf_fail(why, HF_ERR_INPUT, "%s of %u edges, %u are enough",
                      hf_anomaly_get((hf_anomaly)i)->name, a->by_engine[i],
                      a->by_reference[i]);
        return DISAGREE_LONGER;
    }
    return AGREE;
}

/* Findings of one anomaly: shortest first. */
static agreement check_order(const hf_result *r, hf_error *why)
{
    uint32_t last[HF_ANOMALY_COUNT] = {0};

    for (uint32_t i = 0; i < r->n_findings; i++) {
        const hf_finding *f = &r->findings[i];

        if (f->witness.n_edges < last[f->anomaly]) {
            (void)hf_fail(why, HF_ERR_INPUT,
                          "finding %u, %s, is shorter than "
                          "one before it",
                          i, hf_anomaly_get(f->anomaly)->name);
            return DISAGREE_ORDER;
        }
        last[f->anomaly] = f->witness.n_edges;
    }
    return AGREE;
}

/* ---- threads ------------------------------------------------------------- */

static bool write_with(const hf_history *h, const agreement_case *c,
                       unsigned threads, hf_out *out, hf_error *why)
{
    hf_check_options options = {.threads = threads,
                                .cache = c->cache,
                                .mixed = c->mixed,
                                .assume = c->assume,
                                .no_enumeration = c->searched,
                                .dialect = c->dialect,
                                .share = c->share};
    hf_result *r = NULL;
    hf_json j;

    if (c->engine->check(h, c->level, &options, NULL, &r, why) != HF_OK)
        return false;
    r->seconds = 0;
    hf_json_init(&j, out);
    hf_result_write(h, r, &j);
    hf_result_free(r);
    return true;
}

static agreement check_threads(const hf_history *h, const agreement_case *c,
                               hf_error *why)
{
    agreement a = AGREE;
    hf_out one, two;

    hf_out_init_memory(&one);
    hf_out_init_memory(&two);
    if (!write_with(h, c, 1, &one, why) || !write_with(h, c, 2, &two, why)) {
        a = DISAGREE_ERROR;
    } else if (!hf_str_eq(hf_out_view(&one), hf_out_view(&two))) {
        (void)hf_fail(why, HF_ERR_INPUT, "%.200s ...", two.at);
        a = DISAGREE_THREADS;
    }
    hf_out_release(&one);
    hf_out_release(&two);
    return a;
}

/* ---- both ---------------------------------------------------------------- */

/* Where the reference gives up (increments without results), the proof alone
 * decides: the engine may leave out what need not have happened. */
static agreement check_verdicts(const hf_history *h, const agreement_case *c,
                                const hf_result *e, const hf_result *r,
                                hf_error *why)
{
    if (e->verdict == r->verdict || r->verdict == HF_UNKNOWN ||
        (e->verdict == HF_INVALID && (e->witness.rests & ~c->assume) != 0 &&
         !c->ordered))
        return AGREE;
    (void)hf_fail(why, HF_ERR_INPUT, "%s says %s, %s says %s%s%s", e->engine,
                  hf_verdict_name(e->verdict), r->engine,
                  hf_verdict_name(r->verdict), e->reason ? ": " : "",
                  e->reason ? e->reason : "");
    if (e->verdict != HF_UNKNOWN)
        return DISAGREE_VERDICT;
    return c->decides || (is_determined(h, true) && !c->mixed)
               ? DISAGREE_UNKNOWN
               : AGREE;
}

/* The same for the reference, whose cores may hold conditions that nobody can
 * judge. */
static agreement check_reference(const hf_history *h, const agreement_case *c,
                                 const hf_result *r, hf_error *why)
{
    hf_status st = HF_OK;
    agreement a;
    hf_out out;
    hf_json j;

    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    hf_result_write(h, r, &j);
    if (r->verdict != HF_UNKNOWN)
        (void)accepts(h, c, hf_out_view(&out), r, r->witness.kind, &st, why);
    a = st == HF_ERR_UNSUPPORTED
            ? AGREE
            : check_proofs(h, c, r, hf_out_view(&out), why);
    hf_out_release(&out);
    return a == AGREE ? AGREE : DISAGREE_PROOF;
}

/* ret gets the reference's verdict on h itself. */
static bool ask_both(const hf_history *h, const agreement_case *c,
                     hf_result **ret_e, hf_result **ret_r,
                     agreement_answers *ret, hf_error *why)
{
    hf_check_options special = {.mixed = c->mixed,
                                .assume = c->assume,
                                .no_enumeration = c->searched,
                                .dialect = c->dialect,
                                .share = c->share};
    const hf_check_options *options =
        c->mixed || c->assume || c->searched || c->dialect || c->share
            ? &special
            : NULL;
    hf_result *e = NULL, *r = NULL;

    if (c->engine->check(h, c->level, options, NULL, &e, why) != HF_OK)
        return false;
    if (c->reference->check(h, c->level, options, NULL, &r, why) != HF_OK) {
        hf_result_free(e);
        return false;
    }
    ret->reference = r->verdict;
    if (e->witness.rests != 0 && c->ordered) {
        hf_result_free(r);
        if (c->reference->check(c->ordered, c->level, options, NULL, &r, why) !=
            HF_OK) {
            hf_result_free(e);
            return false;
        }
    }
    *ret_e = e;
    *ret_r = r;
    return true;
}

agreement agree_level(const hf_history *h, const agreement_case *c,
                      hf_out *json, agreement_answers *ret, hf_error *why)
{
    hf_result *e = NULL, *r = NULL;
    agreement a = AGREE;
    hf_json j;

    json->n = 0;
    *ret = (agreement_answers){HF_UNKNOWN, HF_UNKNOWN, {0}, {0}};
    if (!ask_both(h, c, &e, &r, ret, why))
        return DISAGREE_ERROR;
    ret->engine = e->verdict;
    shortest_of(e, ret->by_engine);
    shortest_of(r, ret->by_reference);
    hf_json_init(&j, json);
    hf_result_write(h, e, &j);
    a = check_verdicts(h, c, e, r, why);
    if (a == AGREE)
        a = check_proofs(h, c, e, hf_out_view(json), why);
    if (a == AGREE && c->lengths)
        a = check_cycles(h, ret, why);
    if (a == AGREE)
        a = check_order(e, why);
    if (a == AGREE && c->proofs && (e->witness.rests & ~c->assume) == 0)
        a = check_reference(h, c, r, why);
    if (a == AGREE && c->threads)
        a = check_threads(h, c, why);
    hf_result_free(e);
    hf_result_free(r);
    return a;
}
