/* binary_stream.h: the binary form, written while the history goes on.
 *
 * A recorder does not know what will come, and must not remember all that
 * was: an ordinary batch refers to keys and values of earlier batches, so its
 * writer keeps a table of them all.  A stream is made of pieces instead.  A
 * piece is one frame whose payload is a whole binary file of its own, with
 * its own ids; the reader puts them together by names.  Memory of the writer:
 * one piece.  Of the reader: as for a history that is imported.
 *
 * Sessions of the same name are one; a session without a name is one of its
 * piece only.  Certificates other than timestamps are not in pieces.
 */
#ifndef HF_BINARY_STREAM_H
#define HF_BINARY_STREAM_H

#include "base/out.h"
#include "history/builder.h"

typedef struct hf_stream_about {
    hf_time_unit time_unit;
    bool unique_values;
    hf_str name; /* ptr NULL: none */
} hf_stream_about;

/* The head and the description.  Nothing is flushed: the caller does, after
 * each of these, so that one write() has whole frames. */
void hf_stream_begin(hf_out *out, const hf_stream_about *about);
void hf_stream_piece(hf_out *out, const hf_history *piece);
/* The last frame; counts are of all pieces together. */
void hf_stream_end(hf_out *out, uint64_t n_txns, uint64_t n_ops);

/* Called by hf_binary_read(), which has looked at the file's head. */
bool hf_binary_is_stream(const char *bytes, size_t length);
HF_MUST_USE hf_status hf_binary_read_stream(const char *bytes, size_t length,
                                            hf_budget *budget,
                                            hf_history **ret_h, hf_error *err);

/* One piece, out of its frame's payload; and what the description says. */
HF_MUST_USE hf_status hf_stream_read_piece(const char *bytes, size_t length,
                                           hf_history **ret, hf_error *err);
HF_MUST_USE hf_status hf_stream_read_about(const char *bytes, size_t length,
                                           hf_stream_about *ret,
                                           uint64_t *ret_skipped,
                                           hf_error *err);

/* Adds all of h, but for its version and serial orders, to the builder. */
void hf_builder_append(hf_builder *b, const hf_history *h);

#endif
