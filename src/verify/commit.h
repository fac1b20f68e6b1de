/* commit.h: commit orders, between the files that check them.  Private to
 * verify/.
 *
 * Every condition of the weak levels has the form "if t3 reads x from t1,
 * another t2 writes x, and t2 is visible to t3, then t2 is before t1".  What
 * is visible is before t3 in the order, so only reads matter that do not
 * return the version current at their place: the stale reads (of views:
 * those that missed a change before their place).  They are
 * collected first; a condition is then asked about them alone.
 */
#ifndef HF_COMMIT_H
#define HF_COMMIT_H

#include "verify/world.h"

typedef struct hf_commit {
    hf_verifier *v;
    const hf_world *w;
    /* stale reads of the transaction at place i, as indexes of w->reads */
    uint32_t *stale_first;
    uint32_t *stale;
    /* per slot: the writer of the version before, or HF_NONE */
    hf_txn_id *previous;
    /* per transaction: the one before it in its session, or HF_NONE */
    hf_txn_id *session_before;
} hf_commit;

/* "t3 reads x from ... although t2 ..., which overwrote it, is visible" */
bool hf_refuse_stale(hf_commit *c, hf_txn_id reader, const hf_world_read *r,
                     hf_txn_id t2, const char *how);

/* A visible writer of the read's key placed after this is a violation: the
 * place of the version read, or for a view that before the next change. */
static inline int64_t hf_read_age(const hf_world *w, const hf_world_read *r)
{
    return r->kind == HF_READ_VIEW ? (int64_t)w->place[r->change] - 1
                                   : hf_world_age(w, r->source);
}

/* commit_times.c: the short way where snapshots are by time.  settled (per
 * transaction, false at first): its reads are as the level asks.  True: all
 * are.  w's table of reads must have been made. */
bool hf_commit_by_times(hf_commit *c, bool *settled);
/* starts.c: the short way.  False: not known; w's table of reads is then to be
 * made again.  has (per transaction, false at first): for whom it is. */
bool hf_commit_has_starts(hf_commit *c, hf_world *w, bool *has);
/* session.c: what the own or a read session did. */
bool hf_commit_check_sessions(hf_commit *c);
/* causal.c: vector clocks, or a search where there are many sessions. */
bool hf_commit_check_causal(hf_commit *c);
/* window.c: no path from an overwriter to the reader along wr, so if
 * `sessions`, and ww if `versions`. */
bool hf_commit_check_paths(hf_commit *c, bool sessions, bool versions);

#endif
