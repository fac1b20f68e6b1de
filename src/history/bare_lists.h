/* bare_lists.h: lists without the elements they had to begin with. */
#ifndef HF_BARE_LISTS_H
#define HF_BARE_LISTS_H

#include "history/history.h"

/* A copy of h in which no list that is appended to has elements to begin
 * with: each list read of such a key has lost them, and one that does not
 * begin with them has become a list of one element that nobody appended.  It
 * is valid at exactly the levels h is (docs/semantics.md, "Lists").  Ids of
 * transactions, operations and keys stay.  Shares columns with h, which must
 * outlive it; given back with hf_bare_lists_free().
 *
 * NULL: h has no such list, or one that a predicate operation looks at.
 * O(keys) where nothing is to be done, else O(operations + values). */
hf_history *hf_bare_lists(const hf_history *h);
void hf_bare_lists_free(hf_history *bare);

#endif
