/* naive.h: the checker of the Emme paper, written down as it stands there. */
#ifndef NAIVE_H
#define NAIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "history/history.h"

typedef struct naive_counts {
    uint64_t predicates, versions, tests, edges;
} naive_counts;

/* Is the history serializable by its certificate?  It must be one of the emme
 * workloads with version orders and snapshots, every write of which has its
 * place in an order.  False also for a wrong result set.  careful: a version
 * is tested once for each predicate; else as often as the paper's text asks
 * for it. */
bool naive_is_serializable(const hf_history *h, bool careful,
                           naive_counts *ret_counts);

#endif
