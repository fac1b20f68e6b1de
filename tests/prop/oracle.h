/* oracle.h: every level defined a second time, for the tests.
 *
 * The engines are compared with this.  It is written from the catalog of
 * levels and docs/semantics.md, on purpose in another way than an engine
 * would be: nothing here builds a relation and closes it.
 *
 *   serializable forms   transactions are executed one after the other, in
 *                        every order, on a key-value state; every read must
 *                        return what was recorded
 *   snapshot isolation   the same with every interleaving of starts and
 *                        commits, and first committer wins
 *   axiomatic levels     every commit order, then the axiom word by word
 *   dependency levels    every permutation of the writers of every key, then
 *                        a walk along edges that counts anti-dependencies
 *
 * Transactions of unknown outcome are tried both ways, equal values every
 * way.  Predicate operations are understood if their condition is one of
 * those in conditions.h; to all else the answer is unknown.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include "history/history.h"
#include "model/witness.h"

/* False: the history has something that the oracle does not understand, and
 * it will say unknown. */
bool oracle_knows(const hf_history *h);

hf_verdict oracle_check(const hf_history *h, hf_level level);

/* All levels in one go; `verdicts` has HF_LEVEL_COUNT entries. */
void oracle_check_all(const hf_history *h, hf_verdict *verdicts);

/* Does this order (a witness of kind serial, snapshot or commit) prove the
 * history valid at the level?  Sources in the witness are not looked at: some
 * choice of them has to do. */
bool oracle_order_proves(const hf_history *h, hf_level level,
                         const hf_witness *witness);

#endif
