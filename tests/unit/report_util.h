/* report_util.h: histories and results that tests of reports share. */
#ifndef HF_TEST_REPORT_UTIL_H
#define HF_TEST_REPORT_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "history/text.h"
#include "report/report.h"

static inline hf_history *history(const char *text)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_text_read(text, strlen(text), b, &err) != HF_OK) {
        hf_builder_free(b);
        fail_msg("%s", err.text);
    }
    if (hf_builder_finish(b, &h, &err) != HF_OK)
        fail_msg("%s", err.text);
    return h;
}

/* Compares what was printed and gives the buffer back. */
static inline void printed(hf_out *out, const char *expected)
{
    hf_out_char(out, '\0');
    assert_string_equal(out->at, expected);
    hf_out_release(out);
}

static const char skew[] =
    "{\"holdfast\":1}\n"
    "{\"session\":\"a\",\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",null],"
    "[\"w\",\"x\",1]]}\n"
    "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",null],[\"r\",\"y\",null],"
    "[\"w\",\"y\",1]]}\n";

static inline hf_result *skew_result(void)
{
    hf_result *r = hf_result_new(HF_SERIALIZABLE, "brute");
    hf_edge *edges = hf_arena_get(&r->arena, 2 * sizeof(*edges));

    edges[0] = (hf_edge){HF_EDGE_RW, 0, 1, 1, 1, 5};
    edges[1] = (hf_edge){HF_EDGE_RW, 1, 0, 0, 3, 2};
    r->verdict = HF_INVALID;
    r->witness = (hf_witness){.kind = HF_WITNESS_CYCLE,
                              .anomaly = HF_G2_ITEM,
                              .n_edges = 2,
                              .edges = edges};
    r->findings = hf_arena_get(&r->arena, sizeof(*r->findings));
    r->findings[0] = (hf_finding){
        .anomaly = HF_G2_ITEM, .alias = "write skew", .witness = r->witness};
    r->n_findings = 1;
    r->worlds = 4;
    return r;
}

static inline void text_is(const hf_history *h, const hf_result *r,
                           const char *expected)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_result_print(h, r, UINT32_MAX, false, &out);
    printed(&out, expected);
}

#endif
