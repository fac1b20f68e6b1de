/* error.h: filling an hf_error, and stopping on broken invariants.
 *
 * A function that can fail returns hf_status and fills the error once, where
 * the cause is known:
 *
 *     return hf_fail(err, HF_ERR_INPUT, "unrecognized operation \"%.*s\"",
 *                    (int)name.len, name.ptr);
 *
 * Callers on the way up may add the place or put the file's name in front.
 */
#ifndef HF_ERROR_H
#define HF_ERROR_H

#include "holdfast.h"

/* Fills *err (which may be NULL) with no place and returns `status`. */
hf_status hf_fail(hf_error *err, hf_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, at a line counted from 1, or at a byte counted from 0. */
hf_status hf_fail_line(hf_error *err, uint64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
hf_status hf_fail_byte(hf_error *err, uint64_t byte, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "context: " in front of the text. */
void hf_error_context(hf_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Input text made safe to quote in a message: unprintable bytes become \xNN,
 * long text is cut with "...".  Returns `buffer`. */
const char *hf_quote(char *buffer, size_t size, const char *text,
                     size_t length);

void hf_broken(const char *file, int line, const char *text)
    __attribute__((noreturn));

#define HF_BUG(text) hf_broken(__FILE__, __LINE__, text)
#ifdef NDEBUG
#define HF_ASSERT(condition) ((void)0)
#else
#define HF_ASSERT(condition) ((condition) ? (void)0 : HF_BUG(#condition))
#endif

#endif
