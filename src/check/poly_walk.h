/* poly_walk.h: a local search for a serial order, inside check/ only.
 *
 * Where nothing tells the order (blind writes, no sessions, no times), a
 * search by choices drowns: nearly every choice is open and none is forced.
 * But most of such histories have very many serial orders, and walking to one
 * is easy.  Every transaction has a position on a line; a read is broken if
 * the writer is behind the reader, or another writer of the key is between
 * them.  A step takes a broken read at random and moves one transaction to
 * where that read is not broken; it counts what else that breaks, and is
 * taken if it is less, or with a chance that falls with how much more it is.
 *
 * What comes out is never evidence, only an order to begin a search with: if
 * nothing is broken, the search confirms it in one look.  The walk cannot say
 * that there is none.
 *
 *   poly_walk_build.c   who reads and writes what; where to begin
 *   poly_walk.c         steps
 *
 * The writers of a key, and both ends of its reads, are kept sorted by
 * position: what a move breaks is found by binary search, so a step costs
 * O(operations of the transaction and readers of its versions * log), plus the
 * entries that it passes.
 */
#ifndef HF_POLY_WALK_H
#define HF_POLY_WALK_H

#include "base/rng.h"
#include "check/graph.h"

/* A transaction comes before another one: sessions, versions in known order. */
typedef struct hf_walk_rule {
    hf_txn_id before, after;
} hf_walk_rule;

typedef struct hf_poly_walk {
    hf_graph *g;
    hf_rng rng;
    double heat;    /* how readily a step that breaks more is taken */
    double reach;   /* logarithm of how far a move goes */
    uint64_t steps; /* taken or not */

    double *at;      /* per transaction; ranks, as long as nothing moved */
    hf_txn_id *rank; /* transactions that happened, as they were ranked */
    uint32_t n;

    /* A read is an index in g->reader_txn; HF_NONE in read_ver: it is not
     * looked at. */
    uint32_t n_reads;
    uint32_t *read_ver;
    uint32_t *read_first, *reads; /* per transaction: its reads */
    uint32_t *ver_first, *vers;   /* per transaction: versions it wrote */
    hf_key_id *ver_key;           /* per version */
    uint32_t *own_read; /* per version: its writer's read of the key, or none */
    uint8_t *rewrites;  /* per read: its reader writes the key as well */

    /* per key, sorted; first places are those of its versions and reads */
    uint32_t *n_writers, *n_ends;
    double *writer_at;
    uint32_t *writer_ver;
    double *low, *high; /* the two ends of reads */

    HF_VEC(hf_walk_rule) rules;
    uint32_t *rule_first, *rule_of; /* per transaction */

    /* reads, then rules, that may be broken: all that are, and some that were
     */
    uint32_t n_bad;
    uint32_t *bad, *bad_place;
} hf_poly_walk;

/* `start`: transactions in the order to begin with (those that did not happen
 * are skipped); NULL: one is made from who read from whom.  `mask`: HF_WALK_*
 * that count.  NULL if reads do not matter.  hf_poly_walk_free(). */
hf_poly_walk *hf_poly_walk_new(hf_graph *g, unsigned mask,
                               const hf_txn_id *start);
void hf_poly_walk_free(hf_poly_walk *w); /* NULL: nothing */

/* So many steps more, fewer if nothing is broken or the budget is spent.
 * True: nothing is broken by w->rank. */
bool hf_poly_walk_run(hf_poly_walk *w, uint64_t steps);

/* poly_walk_build.c: transactions by their position become w->rank, positions
 * whole numbers, and all that is sorted is sorted anew. */
void hf_poly_walk_rank(hf_poly_walk *w);

static inline double hf_walk_ver_at(const hf_poly_walk *w, uint32_t ver)
{
    hf_txn_id t = w->g->ver_txn[ver];

    return t == HF_NONE ? -1.0 : w->at[t]; /* all others are above 0 */
}

#endif
