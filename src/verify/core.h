/* core.h: a few transactions taken out of a history.  Private to verify/. */
#ifndef HF_CORE_H
#define HF_CORE_H

#include "verify/predicate.h"

#define HF_CORE_MOST 8

typedef struct hf_core_read {
    uint32_t key; /* local number */
    hf_value_id value;
    hf_txn_id writer; /* as recorded, HF_NONE if not */
    hf_op_id op;
    bool initial; /* the value is the key's initial one */
    bool is_list;
    bool is_sum;      /* of a key with increments without results */
    hf_key_id whole;  /* sums: its key in the history */
    uint32_t n_items; /* of the list, removed elements left out */
    hf_value_id *items;
    uint32_t own; /* own appends to the key (sums: writes) before the read */
    /* where reads do not count: it certainly returned the version of
     * `touched` (HF_NONE: the initial one) */
    bool touches;
    hf_txn_id touched;
    /* a row that a condition did not return: which versions satisfy it */
    const hf_condition *view; /* NULL: an item */
    bool unlisted; /* of a view: any version that does not satisfy it */
    /* ... nobody can say which versions satisfy it: somebody who happened wrote
     * the one looked at, and nothing more */
    bool blank;
    unsigned matches;
    bool initial_matches;
} hf_core_read;

typedef struct hf_core_append {
    uint32_t key;
    hf_value_id value;
} hf_core_append;

typedef struct hf_core_txn {
    hf_txn_id id;
    bool broken; /* wrong by itself, in every world it is in */
    uint32_t n_reads, n_appends;
    hf_core_read *reads; /* of others, and all reads of lists */
    hf_core_append *appends;
    hf_value_id *last; /* per local key: the last value written, or NONE */
    unsigned before;   /* those that must come before it, if they happened */
    /* those before it in its session, where its level has session order */
    unsigned session;
    unsigned follows; /* those whose commit must come before its start */
} hf_core_txn;

/* Masks are of local transaction numbers. */
typedef struct hf_core {
    hf_verifier *v;
    uint32_t n, n_keys;
    hf_core_txn txns[HF_CORE_MOST];
    unsigned *writers; /* per local key */
    unsigned committed, unknown;
    bool has_views;
    bool broken;            /* unique values were promised and are not */
    bool dropped_predicate; /* left something out that might have mattered */
} hf_core;

/* All are placed, and their sources chosen: masks, 0 for the initial version,
 * per transaction and read. */
typedef struct hf_core_order {
    unsigned in;
    const uint32_t *order;
    unsigned *const *chosen;
} hf_core_order;

/* core_promises.c: the order keeps what the witness assumes. */
bool hf_core_keeps_promises(const hf_core *c, const hf_core_order *o);

/* Restricts the history to the transactions of the witness. */
bool hf_core_build(hf_verifier *v, hf_core *ret);
/* Is there a world in which it is valid?  False with v->status set if the
 * budget ran out. */
bool hf_core_has_order(hf_core *c);

/* part.c: the transactions of the witness's core, ascending; NULL: refused. */
hf_txn_id *hf_core_sorted(hf_verifier *v);

#endif
