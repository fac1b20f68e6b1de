/* comparison.c: the engine's answer through JSON to verify and back. */
#include "comparison.h"

#include "report/report.h"
#include "verify/verify.h"

const char *comparison_name(comparison c)
{
    static const char *const names[COMPARISON_COUNT] = {
        [AGREED] = "agreed",
        [ENGINE_FAILED] = "the engine failed",
        [VERDICTS_DIFFER] = "engine and oracle differ",
        [NOT_READ_BACK] = "the result could not be read back",
        [CLAIM_DIFFERS] = "the claim read back is another",
        [NOT_VERIFIED] = "verify failed",
        [REFUSED] = "verify refuses the witness",
        [NOT_SUPPORTED] = "verify does not support the history"};

    return names[c];
}

static comparison verify_json(const hf_history *h, const hf_result *r,
                              hf_str json, hf_error *why)
{
    hf_arena arena;
    hf_claim claim;
    hf_verification v;
    comparison c = AGREED;
    hf_status st;

    hf_arena_init(&arena);
    if (hf_claim_read(h, json.ptr, json.len, &arena, &claim, why) != HF_OK) {
        c = NOT_READ_BACK;
    } else if (claim.verdict != r->verdict || claim.level != r->level ||
               claim.witness.kind != r->witness.kind) {
        (void)hf_fail(why, HF_ERR_INPUT, "verdict, level or kind changed");
        c = CLAIM_DIFFERS;
    } else if ((st = hf_verify_claim(h, &claim, NULL, &v, why)) != HF_OK) {
        c = st == HF_ERR_UNSUPPORTED ? NOT_SUPPORTED : NOT_VERIFIED;
    } else if (!v.accepted) {
        (void)hf_fail(why, HF_ERR_INPUT, "%s", v.reason);
        c = REFUSED;
    }
    hf_arena_release(&arena);
    return c;
}

comparison compare_level(const hf_history *h, const hf_engine *engine,
                         hf_level level, hf_verdict expected, hf_out *json,
                         hf_verdict *ret_verdict, hf_error *why)
{
    hf_result *r = NULL;
    comparison c = AGREED;
    hf_json j;

    json->n = 0;
    if (engine->check(h, level, NULL, NULL, &r, why) != HF_OK)
        return ENGINE_FAILED;
    *ret_verdict = r->verdict;
    hf_json_init(&j, json);
    hf_result_write(h, r, &j);
    if (r->verdict != expected) {
        (void)hf_fail(why, HF_ERR_INPUT, "%s says %s, the oracle %s",
                      engine->name, hf_verdict_name(r->verdict),
                      hf_verdict_name(expected));
        c = VERDICTS_DIFFER;
    } else if (r->verdict != HF_UNKNOWN) {
        c = verify_json(h, r, hf_out_view(json), why);
    }
    hf_result_free(r);
    return c;
}
