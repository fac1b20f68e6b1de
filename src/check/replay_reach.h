/* replay_reach.h: what a recorded snapshot holds of an expected order.
 *
 * Two trees over the places of the order, of the greatest and of the least
 * time (or id) below a node, find the next transaction that a snapshot holds,
 * or misses, in O(log transactions); ids that it lists as active are looked up
 * one by one.  So transactions that are in the snapshot and not in the state,
 * or the other way, are found at the cost of how many there are, however old
 * the snapshot is.  Transactions that write nothing are in no snapshot, and
 * out of none.
 */
#ifndef HF_REPLAY_REACH_H
#define HF_REPLAY_REACH_H

#include "check/replay.h"

typedef struct hf_reach {
    const struct hf_replay_span *s;
    uint64_t min, max;    /* it holds all below min, nothing from max on */
    const uint64_t *ids;  /* between them, and not held; ascending */
    const uint32_t *gone; /* their places, ascending */
    uint32_t n_ids, n_gone;
} hf_reach;

/* Of a snapshot that is there.  Good until the next one is asked for. */
hf_reach hf_reach_of(hf_replay *p, const hf_predicate *q);
/* The first place from `from` on, before `end`, that is held, or that is not;
 * `end` if there is none. */
uint32_t hf_reach_next_held(const hf_reach *r, uint32_t from, uint32_t end);
uint32_t hf_reach_next_missed(const hf_reach *r, uint32_t from, uint32_t end);
/* Nothing is held from this place on. */
uint32_t hf_reach_end(const hf_reach *r);
void hf_replay_span_free(struct hf_replay_span *s);

#endif
