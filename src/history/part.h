/* part.h: some transactions of a history, by themselves.
 *
 * All others are gone, as docs/semantics.md says under "Cores": a read that
 * might have come from one of them says nothing any more and is left out, a
 * list loses their elements and is left out if it then ends in another one,
 * and version orders are those of the rest.  An entry of a version set, with
 * the row if there is one, is left out like a read; one that was not returned,
 * as soon as somebody is gone who wrote its key; an aggregate, with any of its
 * entries.  A snapshot is cut like the version set it stands for.  That only
 * takes demands away: what is invalid in a part is invalid in the whole.
 *
 * What the certificate says besides version orders is left out as well.
 */
#ifndef HF_PART_H
#define HF_PART_H

#include "history/snapshot.h"
#include "model/witness.h"

/* Who writes what in the whole history; made once. */
typedef struct hf_parts {
    const hf_history *whole;
    uint32_t *write_first; /* per value: in writers; n_values + 1 */
    hf_txn_id *writers;    /* of any outcome, in the order of the file */
    uint8_t *blind;        /* per key: has increments without results */
    bool has_blind;        /* some key has */
    uint8_t *lists;        /* per key: is appended to */
    uint8_t *kept;         /* per transaction; between calls all 0 */
    /* per key: who writes it, of any outcome; NULL: no conditions */
    uint32_t *key_first;
    hf_txn_id *key_writers;
    hf_snapshots *snapshots; /* NULL: there are none */
    uint8_t *known;          /* per operation with one: part.c */
} hf_parts;

/* A history of its own; ids ascend with those of the whole. */
typedef struct hf_part {
    hf_history *h;
    hf_txn_id *txns; /* per transaction of the part: its id in the whole */
    hf_op_id *ops;
    hf_key_id *keys;
} hf_part;

/* False if there are statements without their items, which are not cut; then
 * nothing is to be released.  h must outlive it.  O(operations), with snapshots
 * O(writes log writes). */
HF_MUST_USE bool hf_parts_init(hf_parts *p, const hf_history *h);
/* The same of any history; it tells who writes what, and cannot be cut. */
void hf_parts_list(hf_parts *p, const hf_history *h);
void hf_parts_release(hf_parts *p);

/* The part of these transactions, ascending and each once.  O(their
 * operations, the lists they read, the versions of what they read, and for each
 * snapshot the keys of its table). */
void hf_part_cut(const hf_parts *p, const hf_txn_id *txns, uint32_t n,
                 hf_part *ret);
void hf_part_release(hf_part *p);

/* A proof about the part becomes one about the whole, or the other way round;
 * arrays are taken from the arena.  False if it speaks of what is not in the
 * part. */
bool hf_part_to_whole(const hf_part *p, const hf_witness *w, hf_arena *arena,
                      hf_witness *ret);
bool hf_part_from_whole(const hf_part *p, const hf_witness *w, hf_arena *arena,
                        hf_witness *ret);

/* An operation that took effect and installs a version of its key, and the
 * value; HF_NONE for an increment without result. */
bool hf_part_writes(const hf_history *h, hf_op_id op, hf_value_id *ret);
/* The value that an item read or increment returned; HF_NONE: none. */
hf_value_id hf_part_read(const hf_history *h, hf_op_id op);

#endif
