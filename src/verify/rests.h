/* rests.h: what a verdict may rest on besides the history.  Private to
 * verify/.
 *
 * A witness names assumptions (HF_REST_*) about the version orders; each
 * leaves only the worlds that keep it.  A transaction touches a version of a
 * key if it installs it, or reads it as an item with no own write of the key
 * before.
 *
 *   linearizable   one that touches a ended, committed, before one that
 *                  touches b began: a is before b
 *   sequential     one that touches a is before one that touches b in their
 *                  session: a is before b
 *   reads          a transaction reads a and installs b: a is before b
 *   order          a's writer is before b's in the recorded serial order, or,
 *                  if there is none, by recorded commit times: a is before b;
 *                  for keys without a version order in the certificate
 *                  that are no lists
 *   timestamps     the recorded starts and commits are those of the snapshots
 *
 * rests.c asks what follows in every world, keeps.c whether one world keeps
 * the assumptions, stamps.c about the timestamps.
 */
#ifndef HF_RESTS_H
#define HF_RESTS_H

#include "verify/certain.h"
#include "verify/world.h"

/* Assumptions that look at who read what. */
#define HF_REST_TOUCHES                                                        \
    (HF_REST_LINEARIZABLE | HF_REST_SEQUENTIAL | HF_REST_READS)

/* Per transaction its place in the recorded order, HF_TIME_NONE if it has
 * none; NULL if no order was recorded.  O(transactions), once. */
const uint64_t *hf_recorded_ranks(hf_verifier *v);
/* Is the key's version order left to the recorded order?  Not where the
 * certificate or lists give one. */
bool hf_is_unordered(const hf_verifier *v, hf_key_id key);

/* The read is one of others, with no own write of the key before: does it
 * certainly return an installed version, by one who did not abort or the
 * initial one (HF_NONE)?  Where reads do not count it touches nothing else. */
bool hf_certainly_touches(const hf_verifier *v, hf_txn_id t,
                          const hf_item_read *read, hf_txn_id *ret_writer);

/* Made when a certain is; empty until something is asked. */
struct hf_rests *hf_rests_new(hf_verifier *v);

/* From linearizable, sequential or order: the version of `first` is before
 * that of `second`.  Both happened and write key.  The tables are made when
 * they are first needed, O(operations); then the transactions that touch the
 * two versions are gone through. */
bool hf_rests_before(const hf_certain *c, hf_txn_id first, hf_txn_id second,
                     hf_key_id key);
/* From order alone. */
bool hf_recorded_before(const hf_certain *c, hf_txn_id first, hf_txn_id second,
                        hf_key_id key);

/* The version orders of the world keep what the witness rests on.  Linear in
 * the history. */
bool hf_world_keeps_rests(hf_verifier *v, const hf_world *w);

/* The events of a snapshot order stand in the order of the timestamps. */
bool hf_events_keep_stamps(hf_verifier *v);

#endif
