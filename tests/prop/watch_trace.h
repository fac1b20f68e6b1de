/* watch_trace.h: traces of the embedded store with intervals, for watch.
 *
 * Clients run at the same time in a simulated time of their own: each call
 * takes effect in the store at one instant, and what is recorded is an
 * interval around it, of random size, never overlapping the client's others.
 */
#ifndef WATCH_TRACE_H
#define WATCH_TRACE_H

#include "base/rng.h"
#include "base/vec.h"
#include "store/store.h"
#include "watch/watch.h"

typedef struct trace_taste {
    hf_level level;
    hf_store_bug bug;
    unsigned percent; /* how often the bug strikes */
    unsigned sessions, keys, txns, ops;
    unsigned reads, scans, deletes; /* percent of operations */
    unsigned totals;                /* percent of scans */
    unsigned aborts, unknown;       /* percent of transactions */
    unsigned duplicates;            /* above 0: values below this */
    unsigned length, gap;           /* of a call, between calls; at most */
    bool loaded;                    /* all rows are there to begin with */
} trace_taste;

typedef struct trace_scan {
    int64_t lo, hi;
    hf_watch_total_kind total;
} trace_scan;

typedef struct trace {
    trace_taste taste;
    HF_VEC(hf_event) events; /* in the order of before */
    HF_VEC(trace_scan) scans;
    uint64_t instants; /* one after the last */
} trace;

/* A taste at random; the level and the bug are the caller's. */
trace_taste trace_random_taste(hf_rng *r, hf_level level, hf_store_bug bug);
void trace_make(trace *t, const trace_taste *taste, hf_rng *r);
void trace_release(trace *t);

/* The profile of a level of the store; NULL: there is none. */
const hf_profile *trace_profile(hf_level level);

/* Feeds the trace.  Returns the number of violations, and those by
 * mechanism; `each` may be NULL. */
typedef struct trace_verdict {
    uint64_t violations, by[HF_WATCH_MECHANISM_COUNT];
    uint64_t by_rule[HF_RULE_COUNT];
    uint64_t hash; /* of all violations, in order */
    hf_violation first;
    hf_watch_stats stats;
} trace_verdict;

trace_verdict trace_watch(const trace *t, const hf_profile *profile,
                          unsigned threads, size_t batch);

/* One line for each event. */
void trace_print(const trace *t);
void trace_print_violation(const hf_violation *v);

/* The same by way of the text form of histories: written, read, translated. */
trace_verdict trace_watch_file(const trace *t, const hf_profile *profile);

#endif
