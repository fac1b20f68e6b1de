/* items_only.h: a history as a checker sees it that knows items alone. */
#ifndef HF_ITEMS_ONLY_H
#define HF_ITEMS_ONLY_H

#include "history/history.h"

/* A copy of h in which a predicate operation is a read of the rows that it
 * returned, and nothing else: no condition, no version set beyond these rows,
 * no result of an aggregate.  Ids stay.  Shares columns with h, which must
 * outlive it; given back with hf_items_only_free().  O(operations). */
hf_history *hf_items_only(const hf_history *h);
void hf_items_only_free(hf_history *items);

#endif
