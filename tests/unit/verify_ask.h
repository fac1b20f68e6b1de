/* verify_ask.h: asking the checker of witnesses, for its tests.
 *
 * Histories are in the native text form, witnesses in the JSON form.  Levels
 * are given by their short names, a set of them as " RU RC ".
 */
#ifndef VERIFY_ASK_H
#define VERIFY_ASK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "history/builder.h"
#include "history/text.h"
#include "verify/verify.h"

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

typedef enum answer { ACCEPTED, REFUSED, LIMIT, UNSUPPORTED, BAD } answer;

/* The answer to a witness of the given level; `rest` are its other fields. */
static inline answer ask(const hf_history *h, const char *level,
                         const char *verdict, const char *rest)
{
    char text[4096];
    hf_verification v = {.accepted = false};
    hf_arena arena;
    hf_claim claim;
    hf_error err;
    hf_status st;

    snprintf(text, sizeof(text),
             "{\"type\":\"witness\",\"schema\":1,\"verdict\":\"%s\","
             "\"level\":\"%s\",%s}",
             verdict, level, rest);
    hf_arena_init(&arena);
    st = hf_claim_read(h, text, strlen(text), &arena, &claim, &err);
    if (st != HF_OK) {
        hf_arena_release(&arena);
        return BAD;
    }
    st = hf_verify_claim(h, &claim, NULL, &v, &err);
    hf_arena_release(&arena);
    if (st == HF_ERR_LIMIT)
        return LIMIT;
    if (st == HF_ERR_UNSUPPORTED)
        return UNSUPPORTED;
    assert_int_equal(st, HF_OK);
    if (!v.accepted)
        assert_true(v.reason[0] != '\0');
    return v.accepted ? ACCEPTED : REFUSED;
}

static inline answer ask_valid(const hf_history *h, const char *level,
                               const char *rest)
{
    return ask(h, level, "valid", rest);
}

static inline answer ask_invalid(const hf_history *h, const char *level,
                                 const char *rest)
{
    return ask(h, level, "invalid", rest);
}

/* "kind":"commit","order":... for the levels below snapshot isolation. */
static const char *const commit_levels[] = {
    "RU",  "RC",   "RCa", "MAV", "RA",  "ryw",  "mr", "mw",
    "wfr", "pram", "CC",  "CV",  "PSI", "PSIs", "PC", NULL};

/* Asks every commit level; those listed in `refused` must refuse. */
static inline void commit_refused_at(const hf_history *h, const char *rest,
                                     const char *refused)
{
    for (size_t i = 0; commit_levels[i]; i++) {
        char padded[16];
        answer expected;

        snprintf(padded, sizeof(padded), " %s ", commit_levels[i]);
        expected = strstr(refused, padded) ? REFUSED : ACCEPTED;
        if (ask_valid(h, commit_levels[i], rest) != expected)
            fail_msg("%s at %s", rest, commit_levels[i]);
    }
}

static inline void invalid_at(const hf_history *h, const char *rest,
                              const char *accepted)
{
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        const char *name = hf_level_get((hf_level)l)->short_name;
        char padded[16];
        answer expected;

        snprintf(padded, sizeof(padded), " %s ", name);
        expected = strstr(accepted, padded) ? ACCEPTED : REFUSED;
        if (ask_invalid(h, name, rest) != expected)
            fail_msg("%s at %s", rest, name);
    }
}

#define ALL                                                                    \
    " RU RC RCa MAV RA ryw mr mw wfr pram CC CV RR PSI PSIs PC SI SIs SIr "    \
    "SER SERs SERr "
#define FROM_RC                                                                \
    " RC RCa MAV RA ryw mr mw wfr pram CC CV RR PSI PSIs PC SI SIs SIr SER "   \
    "SERs SERr "

#define EDGE(kind, from, to, key, from_op, to_op)                              \
    "{\"kind\":\"" kind "\",\"from\":" #from ",\"to\":" #to ",\"key\":\"" key  \
    "\",\"from_op\":" #from_op ",\"to_op\":" #to_op "}"
#define CYCLE(name, edges)                                                     \
    "\"kind\":\"cycle\",\"anomaly\":\"" name "\",\"edges\":[" edges "]"

#endif
