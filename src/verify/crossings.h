/* crossings.h: which versions two orders put on different sides.  Private to
 * verify/.
 *
 * Elements stand in a row and have two places each, one by when and one by
 * where.  A question is about an interval of the row and has two places too:
 * it asks for the elements that came before its `when` and do not stand before
 * its `where`, or stand before it and came later.
 */
#ifndef HF_CROSSINGS_H
#define HF_CROSSINGS_H

#include "verify/columns.h"

typedef struct hf_crossings hf_crossings;

/* For n elements, none of which is there yet.  hf_crossings_free() ends it. */
hf_crossings *hf_crossings_new(uint32_t n);
void hf_crossings_free(hf_crossings *c);

/* Element i, not yet added, came at `when` and stands at `where`; UINT32_MAX:
 * after all. */
void hf_crossings_add(hf_crossings *c, uint32_t i, uint32_t when,
                      uint32_t where);

/* Two passes over the questions: in the one (late), by ascending `when`, the
 * elements before it that do not stand before `where`; in the other, by
 * descending `when`, those at or after it that stand before `where`. */
void hf_crossings_begin(hf_crossings *c, bool late);
/* Takes in the elements that count for this `when`. */
void hf_crossings_move(hf_crossings *c, uint32_t when);
/* The first from `from` on, before `to`; HF_NONE: none.  O(log n). */
uint32_t hf_crossings_next(const hf_crossings *c, uint32_t from, uint32_t to,
                           uint32_t where);

#endif
