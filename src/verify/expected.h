/* expected.h: claims about an expected order of transactions.  Private to
 * verify/.
 *
 * A witness of "expected state mismatch" rests on one order (HF_REST_BY_*)
 * and names operations.  State q is what the first q transactions of the
 * order left behind; T stands at place i.
 *
 *   serializable        an operation of T does not fit state i; then writes
 *                       that explain it may follow
 *   snapshot isolation  operations of T: no state q <= i fits all reads among
 *                       them such that no other transaction from q to i
 *                       writes the key of a write among them
 *   read-committed      an operation of T fits no state q <= i
 *   read-atomic         the same; or a read of T, a write of U of its key, and
 *                       a read of T from U (none if U is before T in its
 *                       session): the first reads a version older than U's
 *   where session order or real time count, an operation, another, and the
 *   first again: the transaction of the first is before that of the second by
 *   these, and after it in the order
 *
 * What "fits" means is in expected_fits.c.
 */
#ifndef HF_EXPECTED_H
#define HF_EXPECTED_H

#include "verify/predicate.h"
#include "verify/world.h"

/* The order; kept in the session. */
typedef struct hf_expectation {
    unsigned by;
    uint32_t n;
    hf_txn_id *at;
    uint32_t *place;      /* per transaction; HF_NONE: did not happen */
    const uint64_t *time; /* per transaction; NULL: the order has no times */
    bool has_ties;        /* two that write something have equal times */
    bool is_open;         /* one that writes may have happened or not */
} hf_expectation;

typedef enum hf_fit { HF_FITS, HF_DIFFERS, HF_FIT_UNKNOWN } hf_fit;

/* A state, as it is before T. */
typedef struct hf_scene {
    hf_verifier *v;
    const uint32_t *place; /* per transaction, HF_NONE: not in the order */
    hf_txn_id t;
    uint32_t q;
    uint32_t *now; /* per key: the slot of its version; HF_NONE: initial */
    const hf_world *world; /* instead of `now`: look there */
} hf_scene;

/* One operation of T. */
typedef struct hf_probe {
    hf_op_id op;
    hf_op_kind kind;
    hf_key_id key; /* HF_NONE: a predicate */
    /* lists: the read, without own elements, is the first `wanted` elements;
     * the places of the transactions of those */
    bool is_list, is_prefix;
    uint32_t wanted, n_elements;
    uint32_t *element_place;
} hf_probe;

bool hf_probe_open(hf_verifier *v, const hf_expectation *e, hf_txn_id t,
                   hf_op_id op, hf_probe *ret);
hf_fit hf_probe_fits(const hf_scene *s, const hf_probe *p);
/* The value that T sees of the key at op; HF_NONE: nil. */
hf_value_id hf_scene_value(const hf_scene *s, hf_op_id op, hf_key_id key);

/* What T sees of the key at op: the value and who wrote it (T itself,
 * HF_WRITER_INITIAL). */
hf_item_read hf_scene_sight(const hf_scene *s, hf_op_id op, hf_key_id key);
/* Does an entry of the version set of op fit? */
hf_fit hf_scene_entry_fits(const hf_scene *s, hf_op_id op,
                           const hf_item_read *e);

/* The order that a witness names by one of HF_REST_EXPECTED; NULL: there is
 * none, which is refused. */
const hf_expectation *hf_expectation_get(hf_verifier *v, unsigned by);
/* Marks the keys that the operation looks at. */
void hf_probe_watch(const hf_history *h, const hf_probe *p, bool *watched);

/* The whole claim. */
bool hf_verify_expected(hf_verifier *v);
/* See hf_verify_explain(); expected_view.c. */
void hf_expected_explain(hf_verifier *v, hf_arena *arena, hf_witness *w);

/* For valid claims: an operation without version set returned what the state
 * gives that its transaction sees in this world. */
bool hf_expected_open(hf_verifier *v, hf_world *w, hf_txn_id t, hf_op_id op);

/* All of these at once, by the states that w->now says; sweep.c.  Per
 * operation, HF_SET_FINE: it fits.  False if the budget is spent. */
bool hf_judge_states(hf_verifier *v, const hf_world *w, uint8_t *fault);

#endif
