/* random_history.h: random tiny histories that are nearly right.
 *
 * Uniform noise is invalid at every level and tests little.  Here a store of
 * a random kind runs a random program: it may be serial, keep snapshots
 * (fresh or stale), replicate causally, show any committed version, or show
 * uncommitted ones; it may check for write or read conflicts or not.  Then,
 * sometimes, one thing of what was recorded is changed.
 */
#ifndef RANDOM_HISTORY_H
#define RANDOM_HISTORY_H

#include "base/rng.h"
#include "tiny.h"

/* What the histories are like, in percent. */
typedef struct random_taste {
    unsigned fixtures;     /* disturbed fixtures instead of runs */
    unsigned few;          /* runs of 2 or 3 transactions, not 4 to 6 */
    unsigned weak;         /* runs with stale snapshots, unchecked reads */
    unsigned dirty;        /* runs that show what is not committed, or more */
    unsigned predicates;   /* runs in which reads have conditions */
    unsigned rich;         /* runs with predicate operations of every kind */
    unsigned odd;          /* of those: conditions that nobody can judge */
    unsigned unlisted;     /* of those: rows without a version set; 0: some */
    unsigned lists;        /* keys that are lists */
    unsigned certificates; /* runs with a recorded version order, ... */
    unsigned complete;     /* ... which lists everything */
    unsigned rmw;          /* runs in which what is written was read before */
    unsigned last_read;    /* runs that end with a read of all lists */
    unsigned unique;       /* runs that promise unique values */
    unsigned duplicates;   /* runs whose values repeat; 0: some */
    unsigned unknown;      /* runs with unknown outcomes; 0: some */
    unsigned most;         /* transactions, from half of it on; 0: tiny */
} random_taste;

extern const random_taste random_any;   /* of everything something */
extern const random_taste random_items; /* no conditions, known orders */
/* Values that repeat, unknown outcomes, orders that nobody recorded. */
extern const random_taste random_choices;
/* Rows, aggregates, predicate updates, snapshots, writers, known orders. */
extern const random_taste random_predicates;
/* The same, and most rows have no version set. */
extern const random_taste random_unlisted;

/* 2 to 7 transactions, 1 to 3 keys; seldom more than 64 ways to settle
 * outcomes and sources. */
tiny_history random_history_of(const random_taste *taste, hf_rng *r);
tiny_history random_history(hf_rng *r); /* random_any */

/* Levels for its transactions: a few different ones, and for some none. */
void random_levels(tiny_history *t, hf_rng *r);

/* Changes one thing: what a read returned, an outcome, the certificate, ... */
void random_corrupt(tiny_history *t, hf_rng *r);

/* The same for a predicate operation, or the clock. */
void random_corrupt_predicate(tiny_history *t, hf_rng *r);

/* A fixture of the catalog, a little disturbed. */
tiny_history random_fixture(hf_rng *r);

#endif
