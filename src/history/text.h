/* text.h: the native text form, JSON Lines (docs/format-text.md). */
#ifndef HF_TEXT_H
#define HF_TEXT_H

#include "base/out.h"
#include "history/builder.h"

/* Adds everything in the text to the builder. */
HF_MUST_USE hf_status hf_text_read(const char *text, size_t length,
                                   hf_builder *b, hf_error *err);
/* The same for some lines out of many, the first of which is number `line`:
 * certificates are left out, and so are the writers in version sets; a
 * transaction may have the field "more" (docs/watch.md).  Intervals may be
 * negative: whoever asks for lines looks at times himself. */
HF_MUST_USE hf_status hf_text_read_lines(const char *text, size_t length,
                                         uint64_t line, hf_builder *b,
                                         hf_error *err);
/* Write errors are out's.  Labels that are not unique are left out. */
void hf_text_write(const hf_history *original, hf_out *out);
/* For one that is written in pieces, as it goes on: the first line; then the
 * initial values and transactions of each piece. */
void hf_text_write_head(const hf_history *h, hf_out *out);
void hf_text_write_piece(const hf_history *h, hf_out *out);

#endif
