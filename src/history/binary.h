/* binary.h: the native binary form (docs/format-binary.md).
 *
 * A header, then frames.  Each frame carries its length and a checksum and
 * refers only to what came before it, so every prefix of whole frames is a
 * history: a writer that is killed loses at most the frame it was writing.
 */
#ifndef HF_BINARY_H
#define HF_BINARY_H

#include "base/out.h"
#include "history/builder.h"

#define HF_BINARY_MAGIC "\x89HFAST\r\n"
#define HF_BINARY_MAGIC_LENGTH 8

void hf_binary_write(const hf_history *h, hf_out *out);

/* A file that ends early gives the history of its whole frames, with cut_off
 * set; a frame that is whole but wrong is an error. */
HF_MUST_USE hf_status hf_binary_read(const char *bytes, size_t length,
                                     hf_budget *budget, hf_history **ret_h,
                                     hf_error *err);
/* The same for a piece (binary_stream.h), all of which was checked already. */
HF_MUST_USE hf_status hf_binary_read_piece(const char *bytes, size_t length,
                                           hf_history **ret_h, hf_error *err);

#endif
