/* edn.h: reading EDN by pulling, without a tree.
 *
 * The same manner as base/json_in.h: the caller says what it expects and gets
 * it or an error with the line; nothing is allocated for what is skipped.
 *
 *     hf_edn e;
 *     hf_edn_init(&e, text, length);
 *     hf_edn_open(&e, HF_EDN_MAP);
 *     while (hf_edn_next(&e)) {
 *         hf_edn_name(&e, &key);
 *         if (hf_str_eq(key, HF_STR("time"))) hf_edn_int(&e, &time);
 *         else hf_edn_skip(&e, NULL);
 *     }
 *     if (e.failed) ...                  (sticky; e.err says what and where)
 *
 * White space, commas, comments and discarded forms (#_) are passed over.  A
 * tag (#inst, #jepsen.history.Op) is passed over as well: the value counts.
 * Brackets must match, a map must have a value for each key, and nothing is
 * nested deeper than HF_EDN_DEPTH.
 */
#ifndef HF_EDN_H
#define HF_EDN_H

#include "base/error.h"
#include "base/out.h"
#include "base/str.h"

#define HF_EDN_DEPTH 128

typedef enum hf_edn_kind {
    HF_EDN_END = 0, /* the end of the input, or failed */
    HF_EDN_CLOSE,   /* a closing bracket */
    HF_EDN_NIL,
    HF_EDN_BOOL,
    HF_EDN_INT,  /* fits 64 bits */
    HF_EDN_REAL, /* any other number: 1.5, 1/3, 7M, ##Inf */
    HF_EDN_CHAR,
    HF_EDN_STRING,
    HF_EDN_KEYWORD,
    HF_EDN_SYMBOL,
    HF_EDN_LIST,   /* ( */
    HF_EDN_VECTOR, /* [ */
    HF_EDN_MAP,    /* { */
    HF_EDN_SET,    /* #{ */
    HF_EDN_KIND_COUNT
} hf_edn_kind;

typedef struct hf_edn {
    const char *start, *at, *end;
    bool failed;
    hf_error err;
    /* what hf_edn_peek() found at `seen`; a token ends at seen_end */
    const char *seen, *seen_end;
    hf_edn_kind seen_kind;
    unsigned depth;
    char closers[HF_EDN_DEPTH]; /* what closes each open collection */
    hf_out scratch[4];          /* unescaped strings, used in turn */
    unsigned next_scratch;
} hf_edn;

void hf_edn_init(hf_edn *e, const char *text, size_t length);
void hf_edn_release(hf_edn *e);

/* Passes over what does not count and says what is next, without consuming
 * it. */
hf_edn_kind hf_edn_peek(hf_edn *e);
/* Expects a collection of this kind; HF_EDN_VECTOR takes a list as well. */
bool hf_edn_open(hf_edn *e, hf_edn_kind kind);
/* True if the innermost open collection has another element; false at its
 * end, which is consumed, or on failure. */
bool hf_edn_next(hf_edn *e);
bool hf_edn_int(hf_edn *e, int64_t *ret_value);
/* A keyword without its colon, a symbol, or a string. */
bool hf_edn_name(hf_edn *e, hf_str *ret_name);
/* Consumes nil if it is next. */
bool hf_edn_nil(hf_edn *e);
/* Anything but a collection; keywords, symbols, strings and characters come
 * as HF_TEXT.  Text is a view into the input, or into a scratch buffer valid
 * until four more strings with escapes were read. */
bool hf_edn_scalar(hf_edn *e, hf_scalar *ret_value);
/* Passes over one value of any kind; ret_text (may be NULL) gets its text. */
bool hf_edn_skip(hf_edn *e, hf_str *ret_text);
/* Sets the sticky error at the current place; returns false. */
bool hf_edn_fail(hf_edn *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Fails with "expected WHAT, found ...". */
bool hf_edn_expected(hf_edn *e, const char *what);

/* The line of `at` in a text, counted from 1. */
uint64_t hf_line_of(const char *start, const char *at);

#endif
