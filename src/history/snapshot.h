/* snapshot.h: version sets that were recorded as a snapshot.
 *
 * A predicate operation may say what it looked at in few bytes: a time of the
 * database's clock, or the transactions that were visible, in PostgreSQL's
 * form "xmin:xmax:xid,xid".  Nothing stores the version set that follows; it
 * is asked for key by key.
 *
 *   time s       holds the transactions with a recorded commit time <= s; of
 *                each key the version with the greatest such time
 *   ids          hold a transaction that did not abort, with an id (label)
 *                below xmin, or below xmax and not listed; of each key the
 *                newest held version, by the certificate's order of the key,
 *                else by commit times
 *
 * A transaction of unknown outcome is held if the certificate says that it
 * committed: it has a commit time (time), or stands in the key's version order
 * (ids).  A transaction always sees its own last write before the operation,
 * and is never in its own snapshot otherwise.
 *
 * The resolver takes O(writes log writes) to make.  A question costs
 * O(log versions of the key), times the listed ids for snapshots by id.
 */
#ifndef HF_SNAPSHOT_H
#define HF_SNAPSHOT_H

#include "history/extra.h"

/* Is this the text of a snapshot by ids?  As PostgreSQL reads one: those
 * listed are not below xmin, and below xmax. */
bool hf_snapshot_text_ok(hf_str text);

typedef struct hf_snapshots hf_snapshots;

/* NULL if no operation of h has a snapshot.  h must outlive it. */
hf_snapshots *hf_snapshots_new(const hf_history *h);
void hf_snapshots_free(hf_snapshots *s);

/* The installing write (its transaction's last of the key) that the snapshot
 * of predicate operation `op` of transaction t holds of `key`; own writes of t
 * before op come first (then it is that write).  HF_WRITER_INITIAL: the
 * initial version.  HF_NONE: the certificate does not say. */
hf_op_id hf_snapshot_version(const hf_snapshots *s, hf_txn_id t, hf_op_id op,
                             hf_key_id key);
/* The same without own writes; t is never in its own snapshot. */
hf_op_id hf_snapshot_others(const hf_snapshots *s, hf_txn_id t, hf_op_id op,
                            hf_key_id key);

/* The same for a snapshot by time, of an operation of t. */
hf_op_id hf_snapshot_at(const hf_snapshots *s, hf_txn_id t, uint64_t time,
                        hf_key_id key);

/* What is missing where hf_snapshot_version() does not know: `first` wrote the
 * key and has no commit time (second is HF_NONE); or both did, at one `time`;
 * or (HF_TIME_NONE) a snapshot by ids holds both, and neither the key's
 * version order nor commit times say whose version is newer. */
typedef struct hf_snapshot_lack {
    hf_txn_id first, second;
    uint64_t time;
} hf_snapshot_lack;

/* False if nothing is missing. */
bool hf_snapshot_lacks(const hf_snapshots *s, hf_txn_id t, hf_op_id op,
                       hf_key_id key, hf_snapshot_lack *ret);

/* A snapshot by ids, taken apart; `active` ascends. */
typedef struct hf_snapshot_ids {
    int64_t min, max;
    uint32_t n;
    int64_t *active;
} hf_snapshot_ids;

/* Of a text that some operation has.  Kept by s. */
hf_snapshot_ids hf_snapshot_ids_of(const hf_snapshots *s, hf_string_id text);
bool hf_snapshot_ids_hold(const hf_snapshot_ids *set, int64_t id);

/* The keys of a table (HF_NONE: those without one), ascending. */
uint32_t hf_snapshot_keys(const hf_snapshots *s, hf_string_id table,
                          const hf_key_id **ret_keys);

/* A copy of h in which every snapshot, of those that are kept (per transaction;
 * NULL: all), is written out as a version set: for few transactions, as it
 * takes operations times keys.  Operation and
 * transaction ids stay; value ids too, some nil values are added.  A key of
 * which the certificate does not say enough makes the operation one without
 * version set.  Shares the other columns with h, which must outlive it; given
 * back with hf_snapshots_collapse(). */
hf_history *hf_snapshots_expand(const hf_history *h, const uint8_t *kept);
void hf_snapshots_collapse(hf_history *expanded);

#endif
