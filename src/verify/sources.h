/* sources.h: where reads may come from, and versions that follow each other.
 * Private to verify/.
 *
 * A read of another's version that a level from read-committed up accepts
 * comes from the last write of a transaction that did not abort, or from the
 * initial version.  These are its possible sources; in a good world, one in
 * which the level holds, it has one of them.
 *
 * Both tables are made when they are first asked for, in O(operations +
 * values), and kept as long as the session.
 */
#ifndef HF_SOURCES_H
#define HF_SOURCES_H

#include "verify/certain.h"
#include "verify/condition.h"

typedef struct hf_sources {
    /* Per operation that reads its key as an item, with no own write of it
     * before: the first such of its transaction; else HF_NONE. */
    hf_op_id *first_read;
    /* Per value: those whose last write of the key it is, aborted ones left
     * out: writer[first[x] .. first[x + 1] - 1], ascending. */
    uint32_t *first;
    hf_txn_id *writer;
    /* Per operation that reads a key with increments without results: who may
     * have written what it read, the reader left out; NULL: not asked yet. */
    hf_txn_id **counted;
    uint32_t *n_counted;
} hf_sources;

/* NULL: the budget is spent. */
const hf_sources *hf_sources_get(hf_verifier *v);

/* What one read may return: some of the writers of a value, all but the
 * reader, and the initial version. */
typedef struct hf_choice {
    uint32_t n; /* how many there are, the initial version included */
    bool initial;
    hf_value_id value; /* the version read: of a list the last element */
    const hf_txn_id *at;
    uint32_t n_at; /* may contain the reader */
} hf_choice;

/* Of t's operation op.  False: it is no read of another's version of its key,
 * or what may have been read is not known.  O(log keys that t writes). */
bool hf_choice_of(hf_verifier *v, const hf_sources *s, hf_txn_id t, hf_op_id op,
                  hf_choice *ret);
/* May it come from `writer` (HF_NONE: the initial version)?  O(log keys that
 * the writer writes). */
bool hf_choice_has(const hf_verifier *v, hf_txn_id t, hf_op_id op,
                   const hf_choice *choice, hf_txn_id writer);
/* The same of a version set's entry for the key, or of a key that rows without
 * one speak of. */
bool hf_choice_of_entry(hf_verifier *v, const hf_sources *s, hf_txn_id t,
                        hf_op_id op, hf_key_id key, hf_choice *ret);
bool hf_choice_has_entry(hf_txn_id t, const hf_choice *choice,
                         hf_txn_id writer);
/* If there is one possible source: which. */
bool hf_choice_only(hf_txn_id t, const hf_choice *choice, hf_txn_id *ret);

/* unlisted.c: rows of which no version set was recorded.  Is op, of t, such an
 * operation; does it speak of the key?  O(rows). */
bool hf_has_open_table(hf_verifier *v, hf_txn_id t, hf_op_id op);
bool hf_is_unlisted(hf_verifier *v, hf_txn_id t, hf_op_id op, hf_key_id key);
/* Does the version of writer (HF_NONE: the initial one) satisfy op's condition;
 * does any that did not abort?  Not known of lists, nor of keys with increments
 * without results. */
hf_match hf_unlisted_match(hf_verifier *v, hf_op_id op, hf_key_id key,
                           hf_txn_id writer);
hf_match hf_unlisted_any(hf_verifier *v, hf_op_id op, hf_key_id key);
/* Which version it looked at.  False: that cannot be said, or it was its own
 * write. */
bool hf_unlisted_choice(hf_verifier *v, hf_txn_id t, hf_op_id op, hf_key_id key,
                        hf_choice *ret);

/* chains.c: versions each of which was read and replaced by the writer of the
 * next. */
typedef struct hf_chains {
    uint32_t *head;   /* per slot: that of the first version of its chain */
    uint32_t *place;  /* per slot: how many are before it */
    bool *leads;      /* per slot: its chain is the first of the key */
    uint32_t *next;   /* per slot: the one after it, or HF_NONE */
    uint32_t *length; /* per slot that is a head */
} hf_chains;

/* NULL: the budget is spent.  For levels that forbid lost updates. */
const hf_chains *hf_chains_get(const hf_certain *c, const hf_sources *s);
/* chain_order.c: is it certain of two of their versions that the first chain is
 * before the second, if those happened?  Heads of different chains of one key.
 * Linear in the chains and what they read; hf_certain_index_reads() first. */
bool hf_chain_before(const hf_certain *c, const hf_chains *chains, uint32_t a,
                     uint32_t b);

#endif
