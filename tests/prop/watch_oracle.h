/* watch_oracle.h: is there any way to explain a tiny trace?
 *
 * A second definition of what watch judges, that shares nothing with it: all
 * orders of the instants that the intervals allow are tried, and for each the
 * mechanisms of the profile are executed: snapshots read, locks are taken and
 * released, commits install.  Outcomes of unknown transactions are tried both
 * ways, and so are writes that nobody answered.  With an error of clocks, all
 * intervals are longer by it at both ends.
 */
#ifndef WATCH_ORACLE_H
#define WATCH_ORACLE_H

#include "watch/watch.h"

typedef enum oracle_answer {
    ORACLE_POSSIBLE,
    ORACLE_IMPOSSIBLE,
    ORACLE_TOO_LONG
} oracle_answer;

#define ORACLE_TXNS 4
#define ORACLE_KEYS 3

/* Events as they are fed; initial values by key (0: no row).  A SCAN covers
 * all keys; its `extra` is its condition. */
typedef struct oracle_question {
    const hf_profile *profile;
    const hf_event *events;
    size_t n;
    unsigned keys;
    const uint64_t *initial;
    uint64_t error;
} oracle_question;

#define ORACLE_EVENTS 64
#define ORACLE_CONDITIONS 4 /* 0: all rows */
/* Plus so many times an hf_watch_total_kind: a total of the values. */
#define ORACLE_SCANS (ORACLE_CONDITIONS * 5)

oracle_answer oracle_ask(const oracle_question *q);

/* Does a row satisfy the condition of a scan? */
bool oracle_matches(unsigned scan, uint64_t value);

/* The total of n values (0: no row); false: there is none. */
bool oracle_total(unsigned scan, const uint64_t *values, unsigned n,
                  int64_t *ret);

#endif
