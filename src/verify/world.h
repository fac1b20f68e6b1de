/* world.h: the world that an order witness describes.  Private to verify/.
 *
 * An order says which transactions of unknown outcome happened and in which
 * order the versions of every key were installed; `sources` says the rest.
 * hf_world_build() settles every read of every transaction in it and checks
 * what all levels (and the claimed one) ask of single reads: no garbage, own
 * writes seen, lists that are prefixes, the certificate kept; from read
 * committed up no aborted and no intermediate reads; INT where asked.  What
 * is left for the levels is the table of reads of others.
 */
#ifndef HF_WORLD_H
#define HF_WORLD_H

#include "verify/verifier.h"

/* A row that a condition did not return is a view (see looks.c). */
typedef enum hf_read_kind {
    HF_READ_ITEM, /* the version of `source` was read */
    HF_READ_FROM, /* a condition saw the change that `source` made */
    HF_READ_VIEW  /* it did not see the one that `change` made */
} hf_read_kind;

typedef struct hf_world_read {
    hf_key_id key;
    hf_txn_id source; /* HF_NONE: the initial version */
    hf_op_id op;
    hf_txn_id change; /* of a view; HF_NONE: there is none */
    hf_read_kind kind;
} hf_world_read;

typedef struct hf_world {
    uint32_t n;      /* transactions in it */
    hf_txn_id *at;   /* in order (of their commits) */
    uint32_t *place; /* per transaction: index in `at`, or HF_NONE */
    uint32_t *now;   /* per transaction: how many of `at` its reads see */
    /* reads of others, per transaction (empty at read-uncommitted) */
    uint32_t *read_first;
    hf_world_read *reads;
    size_t n_reads, cap_reads;
    bool reads_grow; /* they are on the heap: hf_world_release() */
    /* Of views only those that do not see what is current at `now` are in
     * the table, as far as they differ; but where is_full, or for those that
     * are wanted, all (wanted NULL: all transactions). */
    bool is_full;
    const bool *wanted;
    /* keys that a snapshot may see otherwise than they are at `now`, by
     * operation (views.c) */
    struct hf_sortable *suspects; /* operation, key */
    size_t n_suspects;
    /* what hf_judge_states() said of the operations, and for which `now`;
     * kept by expected_fits.c */
    uint8_t *open_fault;
    const uint32_t *open_now;
    /* the writers of each key, in order; see hf_world_collect_writers() */
    uint32_t *writer_first;
    hf_txn_id *writers;
    /* keys with increments without results, per slot: what was there before
     * (counters.c); NULL: there are none */
    struct hf_held *held_before;
    /* lists: the elements of key k are seq_first[k] .. seq_first[k+1]-1 */
    uint32_t *seq_first;
    hf_txn_id *seq_owner;
    hf_value_id *seq_value; /* the elements */
    bool *is_aborted;       /* per value: appended by one not in it */
    uint32_t *times;        /* per value: appended so often, by whomever */
    uint32_t *run_start;    /* per slot: index of the first own element */
    uint32_t *list_match;   /* per list value: elements matched, or NONE */
    uint32_t *list_dirty;   /* the nearest list, itself or shorter, that
                               ends in an aborted element, or HF_NONE */
} hf_world;

/* at, place, now and n must be filled. */
bool hf_world_build(hf_verifier *v, hf_world *w);
void hf_world_release(hf_world *w);
/* counters.c: the versions of keys with increments without results. */
bool hf_world_count(hf_verifier *v, hf_world *w);
/* t reads such a key, after an own write; before one, from whom. */
bool hf_world_read_own(hf_verifier *v, const hf_world *w, hf_txn_id t,
                       const hf_item_read *read);
bool hf_world_read_counter(hf_verifier *v, hf_world *w, hf_txn_id t,
                           const hf_item_read *read, const hf_source *entry,
                           hf_txn_id *ret_source);
/* Makes the table of reads again, for other places at which they are current;
 * or with all views of the wanted. */
bool hf_world_read_again(hf_verifier *v, hf_world *w, uint32_t *now);
bool hf_world_read_fully(hf_verifier *v, hf_world *w, const bool *wanted);
/* Fills suspects. */
bool hf_world_find_suspects(hf_verifier *v, hf_world *w);

/* Fills writer_first and writers, if that has not been done. */
void hf_world_collect_writers(hf_verifier *v, hf_world *w);
/* The first writer of key placed at or after `place`: an index into writers
 * (writer_first[key + 1] if there is none). */
uint32_t hf_world_writer_from(const hf_world *w, hf_key_id key, int64_t place);

/* The order of the world contains session order, or real time. */
bool hf_world_keeps_sessions(hf_verifier *v, const hf_world *w);
bool hf_world_keeps_time(hf_verifier *v, const hf_world *w);

/* Places of versions: the initial one is before all. */
static inline int64_t hf_world_age(const hf_world *w, hf_txn_id source)
{
    return source == HF_NONE ? -1 : (int64_t)w->place[source];
}

/* Whom a read makes its transaction depend on; HF_NONE: nobody. */
static inline hf_txn_id hf_read_from(const hf_world_read *r)
{
    return r->kind == HF_READ_VIEW ? HF_NONE : r->source;
}

/* Lists (lists.c): all of a world's sequences, and what they make of every
 * list that was read. */
bool hf_world_build_lists(hf_verifier *v, hf_world *w);
/* t reads `value` of a list key after `own` own appends to it.  *ret_source
 * is HF_SEVERAL where the read makes no edge. */
bool hf_world_read_list(hf_verifier *v, const hf_world *w, hf_txn_id t,
                        const hf_item_read *read, uint32_t own,
                        hf_txn_id *ret_source);

/* The check of commit orders, in commit.c; that they keep session order and
 * real time is known. */
bool hf_verify_commit(hf_verifier *v, hf_world *w);

/* The short way (values.c).  True: every read returns the value current at its
 * place, or at the start of its transaction with nobody else writing its keys
 * since; the certificate and the promise of unique values are kept.  False:
 * not known.  at, place and n must be filled, facts need not be there. */
bool hf_values_run_serial(hf_verifier *v, const hf_world *w);
bool hf_values_run_events(hf_verifier *v, const hf_world *w,
                          const uint32_t *start);

#endif
