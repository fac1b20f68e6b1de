/* determined.h: does a history say in which order versions were installed?
 *
 * Where it does, an engine that follows dependencies has no excuse for the
 * verdict unknown.
 */
#ifndef DETERMINED_H
#define DETERMINED_H

#include <stdbool.h>

#include "history/history.h"

/* Every read of a transaction that may have happened has one candidate
 * source (or none), every increment its results, every predicate operation
 * its version set (or a snapshot from which it follows), with no key that one
 * of unknown outcome may have written; and of every key the order of its
 * writers is known: there is one at most, or
 * the certificate lists all, or a list read by a committed transaction shows
 * elements of all but one at most.
 *
 * unread_happened: writers are all that are not aborted.  Otherwise those of
 * unknown outcome that no committed transaction reads from, directly or by
 * way of others of unknown outcome, are left out: a history that is valid
 * with them is valid without. */
bool is_determined(const hf_history *h, bool unread_happened);

/* Of some predicate operation no version set is known, so that which versions
 * it saw is part of the world: that is enumerated, and not searched for. */
bool lacks_version_sets(const hf_history *h);

#endif
