/* skim.h: the sessions of a piece, without its operations.
 *
 * Who waits for whom in a long file is a question about sessions and begins,
 * some bytes in a hundred of it.  This reads these alone, from their places.
 */
#ifndef HF_SKIM_H
#define HF_SKIM_H

#include "history/binary_layout.h"

/* The piece whose frame is at `at` of the file, as a history that has strings,
 * sessions, and the sessions and begins of transactions, but no operations,
 * keys and values.  NULL: more is to be known of it (initial values, rows with
 * columns, a begin that only its operations tell), or it is not as it should
 * be: read all of it.  Checksums are not asked: what is read by this is read
 * again.  *ret_bytes: of the frame; *ret_ops: its operations. */
hf_history *hf_skim_piece(int fd, uint64_t at, uint64_t size,
                          uint64_t *ret_bytes, uint64_t *ret_ops);

#endif
