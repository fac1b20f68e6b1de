/* facts.h: tables derived from the raw history.  Private to verify/.
 *
 * Built in two passes over the operations; every later question about "who
 * wrote this" is an array access or a binary search in the keys that one
 * transaction writes.  Nothing here depends on a level or a witness.
 */
#ifndef HF_FACTS_H
#define HF_FACTS_H

#include "history/extra.h"

struct hf_verifier;

/* In hf_facts.writer: written by two or more transactions. */
#define HF_SEVERAL (HF_NONE - 1)

/* How a key is used, by transactions of any outcome. */
#define HF_KEY_LIST (1u << 0)    /* elements are appended */
#define HF_KEY_WRITTEN (1u << 1) /* otherwise; set where some are not */
#define HF_KEY_BLIND (1u << 2)   /* incremented with no result recorded */

typedef struct hf_facts {
    bool is_built;
    bool is_hopeless; /* they cannot be made, because of this key */
    hf_key_id bad_key;
    /* per value: the one transaction that writes it, HF_NONE, HF_SEVERAL */
    hf_txn_id *writer;
    bool *is_last;     /* per value: the last write of somebody's */
    bool *is_repeated; /* per value: by more than one operation */
    uint8_t *key_use;
    /* the keys a transaction writes, ascending, each with its last write:
     * write_first[t] .. write_first[t+1]-1 */
    uint32_t *write_first;
    hf_key_id *write_key;
    hf_op_id *write_op;
    hf_txn_id *write_txn; /* whose slot it is */
    bool has_lists;
    bool has_predicates;
    struct hf_sets *sets; /* kept by predicate.c */
    hf_value_id repeated; /* a value (not nil) written twice, or HF_NONE */
    /* per value: the first two that write it, and HF_SEVERAL in place of the
     * second if there are more; NULL unless some increment changes nothing */
    hf_txn_id *first_writer, *second_writer;
} hf_facts;

/* Makes them if they have not been made.  False: budget spent, or a key both
 * appended to and written. */
bool hf_facts_build(struct hf_verifier *v);

/* Did the operation take effect? */
static inline bool hf_op_counts(const hf_history *h, hf_op_id op)
{
    return !(hf_op_flags_of(h, op) & HF_OP_FAILED);
}

/* An operation that took effect and installs a version of its key. */
static inline bool hf_op_writes(const hf_history *h, hf_op_id op)
{
    return hf_op_installs(hf_op_kind_of(h, op)) && hf_op_counts(h, op);
}

/* The value it installs; HF_NONE for an increment without result. */
static inline hf_value_id hf_op_written(const hf_history *h, hf_op_id op)
{
    return hf_op_kind_of(h, op) == HF_OP_INCREMENT
               ? hf_op_increment(h, op).after
               : h->op_value[op];
}

/* False if an increment has results that are not its amount apart. */
bool hf_increment_adds_up(const hf_history *h, hf_op_id op);

/* What an operation read of one key. */
typedef struct hf_item_read {
    hf_key_id key;
    hf_value_id value;
    hf_txn_id writer; /* as recorded: HF_NONE, HF_WRITER_INITIAL */
    hf_op_id op;
} hf_item_read;

/* For the kinds that have extra; use the two below. */
uint32_t hf_extra_reads(const hf_history *h, hf_op_id op);
hf_item_read hf_extra_read_at(const hf_history *h, hf_op_id op, uint32_t i);

/* What an operation read: one item for reads (none if the result was not
 * recorded) and for increments with a result; for a predicate operation the
 * entries of its version set, then its rows (hf_look_at() tells them apart).
 */
static inline uint32_t hf_item_reads(const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (hf_op_reads_item(kind))
        return hf_op_counts(h, op) && h->op_value[op] != HF_NONE;
    return hf_op_has_extra(kind) ? hf_extra_reads(h, op) : 0;
}

static inline hf_item_read hf_item_read_at(const hf_history *h, hf_op_id op,
                                           uint32_t i)
{
    if (hf_op_has_extra(hf_op_kind_of(h, op)))
        return hf_extra_read_at(h, op, i);
    return (hf_item_read){h->op_key[op], h->op_value[op], HF_NONE, op};
}

/* Index into write_key / write_op, or HF_NONE if t does not write key. */
uint32_t hf_facts_slot(const hf_facts *f, hf_txn_id t, hf_key_id key);
bool hf_facts_writes(const hf_facts *f, hf_txn_id t, hf_key_id key);

/* Is `value` what t's last write of its key installs? */
bool hf_facts_is_last(const hf_history *h, const hf_facts *f, hf_txn_id t,
                      hf_value_id value);
/* Does any write of t install it?  O(operations of t). */
bool hf_facts_installs(const hf_history *h, hf_txn_id t, hf_value_id value);

/* The last write of key in t before op, or HF_NONE.  A binary search, unless t
 * writes the key after op: then O(operations of t). */
hf_op_id hf_own_write_before(const hf_history *h, const hf_facts *f,
                             hf_txn_id t, hf_op_id op, hf_key_id key);

/* Where a read of another's version may have come from. */
typedef enum hf_origin {
    HF_FROM_NOBODY,
    HF_FROM_INITIAL,
    HF_FROM_TXN,    /* exactly one transaction, and not the initial version */
    HF_FROM_SEVERAL /* or not known */
} hf_origin;

/* For a key with lists `value` is the list read, and the answer is about its
 * last element. */
hf_origin hf_facts_origin(const hf_history *h, const hf_facts *f,
                          const hf_item_read *read, hf_txn_id *ret_writer);

#endif
