/* index.h: committed rows by their number, for stores that scan often.
 *
 * One bucket for each number below a span (the first and the last also take
 * what lies outside), holding every committed version that some snapshot may
 * still see.  A version knows which commit overwrote it, so whether a snapshot
 * sees it is two comparisons.  A bucket remembers the last commit that
 * changed it: that is all certification has to ask about a condition.
 *
 * A scan costs the buckets of its range and the versions in them: about the
 * rows it returns times the versions that old snapshots hold back, whatever
 * the number of keys.  The least or greatest of all costs the buckets up to
 * the first that has a visible row.
 *
 * Only for one site without a bug, where nothing is read uncommitted and
 * commit does not ask for the rows of a scan one by one.
 */
#ifndef HF_STORE_INDEX_H
#define HF_STORE_INDEX_H

#include "store/store_impl.h"

void hf_index_init(hf_store *s, uint32_t span);
void hf_index_release(hf_store *s);

/* A version that was loaded; one that was just installed, which overwrites
 * the one before it; one that will be forgotten. */
void hf_index_add(hf_store *s, uint32_t key, uint32_t v);
void hf_index_install(hf_store *s, uint32_t key, uint32_t v);
void hf_index_remove(hf_store *s, uint32_t v);

/* Adds the rows of a scan to those of t: all that match, or for HF_OP_MIN and
 * HF_OP_MAX one that has the least or greatest number; in order of keys. */
void hf_index_scan(hf_store *s, store_txn *t, hf_op_kind kind,
                   uint32_t snapshot, const hf_store_scanned *scan);
/* Has a commit after the snapshot changed what the scan finds? */
bool hf_index_touched(const hf_store *s, const hf_store_scanned *scan,
                      uint32_t snapshot);

#endif
