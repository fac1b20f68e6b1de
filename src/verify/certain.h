/* certain.h: what holds in every world of a history.  Private to verify/.
 *
 * An invalid verdict says that every world is invalid, so its witness may
 * use only what no world can settle otherwise, or what a world can settle
 * otherwise only by breaking the level in another way.  The latter is why
 * some answers depend on the level:
 *
 *   - from read-committed up, a transaction of unknown outcome that a
 *     committed one certainly read from happened (else: aborted read);
 *   - if T2 reads from T1, or follows it in session order or real time where
 *     the level has those, and both write x, then T1's version of x is the
 *     older one (else: a cycle of those edges, which the level forbids).
 *
 * The assumptions that the witness rests on (rests.h) leave fewer worlds:
 * what is certain is certain in those.
 *
 * The tables depend on the level only in whether reads matter, so one pair of
 * them serves all claims of a session; everything else about the level and
 * the witness is looked at when a question is asked.
 */
#ifndef HF_CERTAIN_H
#define HF_CERTAIN_H

#include "verify/predicate.h"

typedef struct hf_certain {
    hf_verifier *v;
    bool *happened;        /* per transaction */
    uint32_t *certificate; /* per slot: place in the key's order, or NONE;
                              NULL if the history has none */
    bool *key_placed;      /* per key: its slots have been filled */
    /* lists: the longest list of each key read by one that happened, and
     * for each element its index in it */
    hf_value_id *longest;
    uint32_t *index;
    bool *is_shown; /* per list value: read by one that happened */
    uint8_t *met;   /* per list value: what it shows; scratch */
    bool *agrees;   /* per key: the longest list shows all that the others do */
    /* from whom each transaction certainly reads, ascending: read_from[
     * read_first[t] .. read_first[t + 1] - 1]; NULL until it is asked for */
    uint32_t *read_first;
    hf_txn_id *read_from;
    struct hf_rests *rests; /* kept by rests.c */
} hf_certain;

/* For the claim in hand; made where no claim before it has asked for the same.
 * NULL: the budget is spent. */
const hf_certain *hf_certain_get(hf_verifier *v);

/* Is op one of t's? */
bool hf_op_is_of(const hf_history *h, hf_op_id op, hf_txn_id t);

/* t's operation op certainly looked at another transaction's last version of
 * key (or the initial one: *ret_source HF_NONE), in the given way: read it,
 * or did not return it. */
bool hf_certain_look(const hf_certain *c, hf_txn_id t, hf_op_id op,
                     hf_key_id key, hf_look_kind look, hf_txn_id *ret_source);
/* As an item. */
bool hf_certain_source(const hf_certain *c, hf_txn_id t, hf_op_id op,
                       hf_key_id key, hf_txn_id *ret_source);

/* The version of `first` (HF_NONE: the initial one) is before the version of
 * `second` in the version order of key.  Both write it. */
bool hf_certainly_before(const hf_certain *c, hf_txn_id first, hf_txn_id second,
                         hf_key_id key);
/* The same in those worlds in which both happened. */
bool hf_before_if_both(const hf_certain *c, hf_txn_id first, hf_txn_id second,
                       hf_key_id key);

/* Makes later questions about who reads from whom cost a search in what one
 * transaction reads, not all its operations.  O(operations), once; nothing
 * where operations have snapshots.  False: the budget is spent. */
bool hf_certain_index_reads(const hf_certain *c);

/* Where the certificate puts the version of a slot among those of its key;
 * HF_NONE: it does not say. */
uint32_t hf_certificate_place(const hf_certain *c, uint32_t slot);

/* certain_lists.c.
 *
 * Fills the tables about lists; false: the budget is spent. */
bool hf_certain_place_lists(hf_verifier *v, hf_certain *c);
/* As hf_before_if_both(), by the longest list of key, and by any. */
bool hf_before_by_longest(const hf_certain *c, hf_txn_id first,
                          hf_txn_id second, hf_key_id key);
bool hf_before_by_lists(const hf_certain *c, hf_txn_id first, hf_txn_id second,
                        hf_key_id key);
/* Some list of key, read by one that happened, has the element `first` before
 * the element `second`. */
bool hf_list_has_before(const hf_certain *c, hf_key_id key, hf_value_id first,
                        hf_value_id second);

/* changes.c.
 *
 * The version that t installed of key satisfies the condition and the version
 * just before it, whichever that is, does not; or the reverse. */
bool hf_certainly_changes(const hf_certain *c, hf_txn_id t, hf_key_id key,
                          const hf_condition *condition);
/* Does t's version (HF_NONE: the initial one) satisfy the condition? */
hf_match hf_version_match(const hf_certain *c, hf_txn_id t, hf_key_id key,
                          const hf_condition *condition);

bool hf_session_before(const hf_history *h, hf_txn_id first, hf_txn_id second);
bool hf_time_before(const hf_history *h, hf_txn_id first, hf_txn_id second);

#endif
