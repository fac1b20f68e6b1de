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

/* 2 to 6 transactions, 1 to 3 keys; seldom more than 64 ways to settle
 * outcomes and sources. */
tiny_history random_history(hf_rng *r);

/* Changes one thing: what a read returned, an outcome, the certificate, ... */
void random_corrupt(tiny_history *t, hf_rng *r);

/* A fixture of the catalog, a little disturbed. */
tiny_history random_fixture(hf_rng *r);

#endif
