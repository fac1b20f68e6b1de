/* proved.c: see proved.h. */
#include "proved.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/out.h"
#include "report/report.h"

hf_history *store_history(const hf_generate_options *o)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_generate(o, b, &err) != HF_OK ||
        hf_builder_finish(b, &h, &err) != HF_OK) {
        printf("could not generate: %s\n", err.text);
        exit(2);
    }
    return h;
}

static hf_status verify(hf_verify_session *session, const hf_history *h,
                        const hf_claim *claim, hf_verification *ret,
                        hf_error *why)
{
    return session ? hf_verify_claim_in(session, claim, NULL, ret, why)
                   : hf_verify_claim(h, claim, NULL, ret, why);
}

bool is_proved(hf_verify_session *session, const hf_history *h,
               const hf_result *result, const hf_witness *w, hf_error *why)
{
    hf_verification v = {0};
    hf_claim claim;
    hf_arena arena;
    hf_out out;
    hf_json j;

    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    hf_witness_write(h, result->level, result->verdict, w, &j);
    hf_arena_init(&arena);
    if (hf_claim_read(h, out.at, out.n, &arena, &claim, why) == HF_OK &&
        verify(session, h, &claim, &v, why) == HF_OK && !v.accepted)
        (void)hf_fail(why, HF_ERR_INPUT, "%s", v.reason);
    hf_arena_release(&arena);
    hf_out_release(&out);
    return v.accepted;
}
