/* entries.h: version sets that are snapshots, entry by entry.  Private to
 * verify/.
 *
 * A predicate operation with a snapshot looked at one version of every key of
 * its table.  Nothing here lists them: the entry of a key is asked for when a
 * claim names the key.  history/snapshot.h settles which version it is; a key
 * of which that is not known, at some time, is a doubtful key.  An operation
 * with an entry that is not known is one without version set.
 *
 * A version is named by the slot of the write that installed it (facts.h), or
 * by the number of slots plus its key for the initial one.
 */
#ifndef HF_ENTRIES_H
#define HF_ENTRIES_H

#include "history/snapshot.h"
#include "verify/verifier.h"

/* Those that may have been visible, in the order in which they became so: by
 * commit time, or by id.  Aborted ones and those that write nothing are left
 * out. */
typedef struct hf_timeline {
    uint32_t n;
    hf_txn_id *txn;
    uint64_t *at;    /* ascending: the time, or the id + 2^63 */
    uint32_t *index; /* per transaction, or HF_NONE */
} hf_timeline;

/* Keys with an entry that is not known at some time, and those whose versions
 * have no certain order. */
typedef struct hf_doubt {
    bool *is_doubtful; /* per key */
    hf_key_index keys; /* of each table, see hf_table_place() */
} hf_doubt;

/* Kept as long as the session; NULL where no operation has a snapshot. */
typedef struct hf_entries {
    hf_snapshots *snapshots;
    hf_history *h;    /* the history, in which every key has a nil value */
    hf_value_id *nil; /* per key */
    /* for snapshots by time [0] and by ids [1]; NULL until asked for */
    hf_timeline *lines[2];
    hf_doubt *doubts[2];
    uint8_t *whole; /* per operation, see hf_is_whole() */
} hf_entries;

/* If some operation has a snapshot.  v->h is another history after that, with
 * more values; the others keep their ids.  O(operations). */
void hf_entries_open(hf_verifier *v);
void hf_entries_close(hf_verifier *v);

/* Does op have a snapshot for its version set? */
bool hf_has_snapshot(const hf_verifier *v, hf_op_id op);

static inline hf_string_id hf_table_of(const hf_history *h, hf_key_id key)
{
    return h->key_table ? h->key_table[key] : HF_NONE;
}

/* The place of a table in hf_doubt.keys. */
static inline uint32_t hf_table_place(const hf_history *h, hf_string_id table)
{
    return table == HF_NONE ? h->n_strings : table;
}

/* Is every entry known?  O(doubtful keys of the table), once. */
bool hf_is_whole(hf_verifier *v, hf_txn_id t, hf_op_id op);
/* The version of key that op, of t, looked at, with its writer.  False: the
 * key is not of its table, or it is not whole.  O(log versions). */
bool hf_entry_of(hf_verifier *v, hf_txn_id t, hf_op_id op, hf_key_id key,
                 hf_item_read *ret);

/* Facts must have been made.  O(writes), once for each kind. */
const hf_timeline *hf_timeline_of(hf_verifier *v, hf_snapshot_kind kind);
const hf_doubt *hf_doubt_of(hf_verifier *v, hf_snapshot_kind kind);

/* How many of the timeline the snapshot of op may hold: those before that
 * place, but for the active ids it lists. */
uint32_t hf_timeline_place(const hf_timeline *line, const hf_verifier *v,
                           hf_op_id op);
/* The next transaction that the snapshot (by ids) lists as active; *at is 0 at
 * first.  False: no more.  Ids of nobody are passed over. */
bool hf_next_active(const hf_timeline *line, const hf_verifier *v, hf_op_id op,
                    size_t *at, hf_txn_id *ret);

/* ---- versions ------------------------------------------------------------ */

static inline uint32_t hf_n_slots(const hf_verifier *v)
{
    return v->facts.write_first[v->h->n_txns];
}

static inline bool hf_is_initial_version(const hf_verifier *v, uint32_t version)
{
    return version >= hf_n_slots(v);
}

hf_value_id hf_version_value(const hf_verifier *v, uint32_t version);

static inline hf_key_id hf_version_key(const hf_verifier *v, uint32_t version)
{
    return hf_is_initial_version(v, version) ? version - hf_n_slots(v)
                                             : v->facts.write_key[version];
}

#endif
