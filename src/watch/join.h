/* join.h: the inside of the join, for join.c and certify.c. */
#ifndef HF_WATCH_JOIN_H
#define HF_WATCH_JOIN_H

#include "base/sort.h"
#include "watch/inside.h"

typedef struct join_ref {
    const watch_finding *f;
    uint32_t shard; /* SHARDS: intake */
} join_ref;

/* certify.c: a dependency, in the list of the one that it waits for, or of
 * the one that it is from. */
typedef struct rw_edge {
    uint64_t from, to; /* serials */
    uint64_t from_txn, to_txn;
    span from_at, to_at; /* of the instants that it is about */
    uint32_t key;
    uint32_t next;
    uint8_t kind; /* hf_watch_dependency */
    bool is_void;
} rw_edge;

/* certify.c: a transaction, as far as it is known. */
typedef struct cert_txn {
    uint64_t txn;
    span snapshot, commit;
    bool has_ended, is_committed, wrote;
    bool is_told;     /* as a pivot: once is enough */
    uint32_t pending; /* dependencies that wait for its end */
    uint32_t out;     /* anti-dependencies from it */
    /* SSI: the neighbours that matter most */
    uint64_t out_hi;    /* out: whose commit ends first */
    uint64_t in_lo;     /* in, of those that wrote: commit begins last */
    uint64_t reader_lo; /* in, of the others: whose snapshot begins last */
    rw_edge out_edge, in, reader;
} cert_txn;

#define NO_SERIAL UINT64_MAX

struct watch_join {
    hf_watch *w;
    hf_watch_order instants, txns;
    uint64_t horizon;
    HF_VEC(join_ref) all;
    HF_VEC(hf_sortable) order;
    /* certify.c; edges linked by next, those not in use as well */
    cert_txn *ring; /* by serial, from begin to end */
    uint64_t begin, end, mask;
    HF_VEC(rw_edge) edges;
    uint32_t free_edge;
    uint64_t n_edges;
};

/* Are whole transactions nodes? */
static inline bool hf_watch_is_whole(const struct watch_join *j)
{
    return j->w->profile.certifier == HF_WATCH_SC_TO ||
           j->w->profile.certifier == HF_WATCH_SC_CYCLE;
}

/* join.c: a dependency between two that have committed. */
void hf_watch_join_whole(struct watch_join *j, const rw_edge *e, uint64_t time);

void hf_watch_certify_init(struct watch_join *j);
void hf_watch_certify_release(struct watch_join *j);
void hf_watch_certify_edge(struct watch_join *j, const watch_finding *f);
/* Anti-dependencies of a key that wait for the end of a transaction are none:
 * it may have overwritten what it read before the others did. */
void hf_watch_certify_own(struct watch_join *j, const watch_finding *f);
void hf_watch_certify_end(struct watch_join *j, const watch_finding *f);
void hf_watch_certify_forget(struct watch_join *j);
void hf_watch_certify_stats(const struct watch_join *j, hf_watch_stats *ret);

#endif
