/* states_store.h: histories that are no polygraph, of any size.
 *
 * Registers with few values, lists whose elements repeat or that have some to
 * begin with, counters whose increments have no recorded result.  A store of a
 * random kind runs a random program: serially, on snapshots, or on snapshots
 * without a look at conflicts.  Then, sometimes, one read is changed.
 */
#ifndef STATES_STORE_H
#define STATES_STORE_H

#include "base/rng.h"
#include "history/builder.h"

typedef struct states_taste {
    unsigned txns, keys, sessions, ops; /* at most so many operations */
    unsigned values;                    /* so many different ones of a key */
    unsigned lists, counters;           /* percent of keys */
    unsigned results, sets;    /* percent: increments whose result is known;
                                  writes of a counter that set it, 0: of five
                                  one */
    unsigned initial;          /* percent of keys that have one */
    unsigned twice;            /* percent of appends of what is there */
    unsigned unknown, aborted; /* percent of transactions */
    unsigned lag;              /* snapshots are so many commits old at most */
    bool conflicts;            /* writers of one key exclude each other */
    bool times;                /* recorded; the commit is within the interval */
    unsigned overlap;          /* how far intervals reach */
    unsigned change;           /* percent: one read is changed */
    bool shift;                /* ... of a counter, by 1 or 2 */
    bool stale_reader;         /* a last transaction reads old lists, by time */
    unsigned orders; /* percent of keys, not of lists: some of their versions
                        have a recorded order, by and large the store's */
    unsigned more;   /* transactions, each alone with its key, at the end */
} states_taste;

/* The caller frees it. */
hf_history *states_history(const states_taste *taste, hf_rng *r);

#endif
