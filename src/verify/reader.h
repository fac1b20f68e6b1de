/* reader.h: settling the reads of a world, between world.c and looks.c.
 * Private to verify/. */
#ifndef HF_READER_H
#define HF_READER_H

#include "base/vec.h"
#include "verify/predicate.h"
#include "verify/world.h"

/* One look of the current transaction at a key, with no own write before. */
typedef struct hf_seen {
    hf_key_id key;
    hf_value_id value;
    hf_txn_id source;
    const hf_condition *condition; /* of a view; NULL for an item */
    uint32_t previous;             /* look at the same key, or HF_NONE */
} hf_seen;

typedef struct hf_reader {
    hf_verifier *v;
    hf_world *w;
    /* per key: the transaction that wrote it, its last write, its appends */
    hf_txn_id *own_stamp;
    hf_op_id *own_op;
    uint32_t *own_count;
    /* per key: the transaction that looked at it, its last look */
    hf_txn_id *seen_stamp;
    uint32_t *seen_last;
    HF_VEC(hf_seen) seen; /* of the current transaction */
    size_t suspect;       /* the next of the world's */
} hf_reader;

/* INT: may t, having looked at the key before, also have seen this? */
bool hf_reader_see(hf_reader *r, hf_txn_id t, const hf_item_read *read,
                   hf_txn_id source, const hf_condition *condition);

/* INT between the items of t and the entries of its snapshots that nobody
 * asked for by name. */
bool hf_reader_compare(hf_reader *r, hf_txn_id t);

/* t looked at the version of `source` and it was not returned: adds what
 * that means for the order to the world's reads. */
bool hf_reader_view(hf_reader *r, hf_txn_id t, const hf_item_read *read,
                    hf_txn_id source);

void hf_world_add_read(hf_world *w, hf_world_read read);

#endif
