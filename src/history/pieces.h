/* pieces.h: a native history, read one piece after the other.
 *
 * For what is too long to be in memory, or has not ended: a stream of the
 * binary form gives its pieces (binary_stream.h), the text form some lines at
 * a time.  Each piece is a history of its own, with its own ids.  Certificates
 * are left out.  Memory: one piece, and what of the next one is there.
 *
 * The input is a file descriptor: a file, a pipe, or a file that still grows.
 */
#ifndef HF_PIECES_H
#define HF_PIECES_H

#include "history/builder.h"

typedef struct hf_pieces hf_pieces;

typedef enum hf_pieces_kind {
    HF_PIECES_EMPTY = 0, /* nothing to tell it by yet */
    HF_PIECES_STREAM,    /* binary, in pieces */
    HF_PIECES_LINES,     /* text */
    HF_PIECES_OTHER      /* a binary history that is not in pieces, or
                            something else: to be loaded as a whole */
} hf_pieces_kind;

/* fd is borrowed and read from where it stands.  grows: the end of the file is
 * not the end. */
hf_pieces *hf_pieces_new(int fd, bool grows);
void hf_pieces_free(hf_pieces *p);

/* The next piece; *ret NULL: there is none now, and hf_pieces_ended() tells
 * whether there will be. */
HF_MUST_USE hf_status hf_pieces_next(hf_pieces *p, hf_history **ret,
                                     hf_error *err);
/* The same, of a file that stood at its beginning; of a piece of which nothing
 * else matters, sessions and begins only (skim.h).  Damage is not always seen.
 */
HF_MUST_USE hf_status hf_pieces_skim(hf_pieces *p, hf_history **ret,
                                     hf_error *err);
/* Of text, instead: bytes that are there, not cut at lines, until the next
 * call; none: as above. */
HF_MUST_USE hf_status hf_pieces_next_bytes(hf_pieces *p, hf_str *ret,
                                           hf_error *err);
/* The end mark was read, or the end of something that does not grow. */
bool hf_pieces_ended(const hf_pieces *p);
/* What it is, as far as the first bytes tell; reads them. */
HF_MUST_USE hf_status hf_pieces_look(hf_pieces *p, hf_pieces_kind *ret,
                                     hf_error *err);
uint64_t hf_pieces_bytes(const hf_pieces *p); /* read so far */
/* Something was there after the last whole piece. */
bool hf_pieces_cut_off(const hf_pieces *p);
bool hf_pieces_unique(const hf_pieces *p); /* no value twice, it promises */
/* What its producer called it, as far as that fits; "": nothing yet. */
#define HF_PIECES_NAME 200u
const char *hf_pieces_name(const hf_pieces *p);

#endif
