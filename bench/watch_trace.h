/* watch_trace.h: events of a database that is always right, made as they are
 * needed.
 *
 * A simulated SmallBank in rounds.  In a round each client runs one
 * transaction, on keys that no other has in this round, with calls at random
 * times: events of all clients interleave.  What one round wrote the next ones
 * read.  Clients are uneven: every fifth runs in one of ten rounds only.
 * Transactions come client by client, so the events are not in order.
 */
#ifndef WATCH_TRACE_H
#define WATCH_TRACE_H

#include <stddef.h>

#include "base/rng.h"
#include "watch/event.h"

#define TRACE_CLIENTS 16u
#define TRACE_KEYS 2048u
#define TRACE_INITIAL 1u
#define TRACE_TXN_EVENTS 8u /* at most */

typedef struct trace_maker {
    hf_rng rng;
    uint64_t round, next_txn, next_value;
    unsigned client;
    uint64_t *values; /* of keys, now */
} trace_maker;

void trace_maker_init(trace_maker *m, uint64_t seed);
void trace_maker_release(trace_maker *m);
/* One transaction; how many events. */
size_t trace_maker_next(trace_maker *m, hf_event *ret);

#endif
