/* commit_times.h: commit orders judged by commit times, between the files that
 * do it.  Private to verify/.
 *
 * All that is here is about the timeline of snapshots by time (entries.h): a
 * snapshot holds those before a place in it.  "Before k" below means: at one of
 * the first k places.
 */
#ifndef HF_COMMIT_TIMES_H
#define HF_COMMIT_TIMES_H

#include "verify/commit.h"
#include "verify/predicate.h"

/* An operation with a snapshot. */
typedef struct hf_timed_look {
    hf_op_id op;
    uint32_t place; /* its snapshot holds those before this */
    uint32_t bound; /* what the level makes visible to it is before this */
} hf_timed_look;

typedef struct hf_times {
    hf_commit *c;
    const hf_timeline *line;
    unsigned axiom; /* HF_AXIOM_*: what is visible */
    uint64_t work;  /* of the tests one by one, so far */
    /* the looks of transaction t: look_first[t] .. look_first[t+1]-1 */
    uint32_t *look_first;
    hf_timed_look *looks;
    /* per transaction: those it reads from are before this; those before it in
     * its session are; those that these read from are */
    uint32_t *reads, *session, *session_reads;
    uint32_t *bound; /* what is visible to all its operations is */
    /* per number k of places: what those before k read from, or those before
     * them in their sessions did, is before this; NULL unless it is needed */
    uint32_t *read_by;
    hf_txn_id *session_after; /* per transaction, or HF_NONE */
} hf_times;

/* For a transaction that writes nothing 0; else the place after its own. */
static inline uint32_t hf_times_after(const hf_times *x, hf_txn_id t)
{
    return x->line->index[t] == HF_NONE ? 0 : x->line->index[t] + 1;
}

/* More has been tested than is worth it. */
bool hf_times_is_tired(const hf_times *x);

/* May t2, which is before t in the order, be visible to operation op of t?
 * False is certain. */
bool hf_times_may_see(hf_times *x, hf_txn_id t, hf_op_id op, hf_txn_id t2);

/* What a look at key of t, by its condition, has to do with later versions:
 * false if one may be visible that it should not have missed. */
bool hf_times_look_is_fine(hf_times *x, hf_txn_id t, const hf_timed_look *look,
                           hf_key_id key);
/* The same for an item. */
bool hf_times_item_is_fine(hf_times *x, hf_txn_id t, const hf_world_read *r,
                           uint32_t bound);

#endif
