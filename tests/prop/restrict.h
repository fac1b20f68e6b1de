/* restrict.h: a history cut down to some of its transactions.
 *
 * As docs/semantics.md says for cores: what is left of a read that may come
 * from somebody who is gone is nothing.
 */
#ifndef RESTRICT_H
#define RESTRICT_H

#include "tiny.h"

/* keep: bit i for transaction i.  False if the history has what this does not
 * cut: predicate operations, or list elements that were appended twice. */
bool restrict_history(const tiny_history *t, unsigned keep, tiny_history *ret);

#endif
