/* random_store.h: the store that runs random programs, for its own files.
 *
 *   random_history.c    the store, item operations, what is recorded
 *   random_predicate.c  predicate operations and their version sets
 *   random_change.c     what goes wrong in what was recorded
 */
#ifndef RANDOM_STORE_H
#define RANDOM_STORE_H

#include "random_history.h"

/* What a transaction (or one statement) sees. */
typedef enum view {
    VIEW_ALL,    /* all that is committed */
    VIEW_PREFIX, /* the first few commits */
    VIEW_CAUSAL, /* some commits, with all they depend on */
    VIEW_ANY,    /* some commits */
    VIEW_DIRTY,  /* whatever was written last, by anybody */
    VIEW_COUNT
} view;

typedef struct mode {
    view view;
    bool atomic;             /* one transaction at a time */
    bool per_read;           /* a new view for each read */
    bool check_writes;       /* first committer wins */
    bool check_reads;        /* what was read must be current at commit */
    bool sessions;           /* a view contains the session's own past */
    bool duplicates;         /* values repeat */
    bool predicates;         /* half of the reads have a condition */
    bool rich;               /* of every kind, with rows and aggregates */
    bool rmw;                /* what is written was read before */
    unsigned abort, unknown; /* percent */
} mode;

typedef struct store {
    const random_taste *taste;
    hf_rng *r;
    tiny_history *t;
    mode mode;
    int clock;
    int next_value[TINY_KEYS];
    int next_op[TINY_TXNS];    /* -1: not begun */
    int planned[TINY_TXNS];    /* number of operations to come */
    unsigned reads[TINY_TXNS]; /* how many of its operations, percent */
    bool ended[TINY_TXNS];
    unsigned seen[TINY_TXNS];    /* commits in its view */
    unsigned depends[TINY_TXNS]; /* commits it depends on, closed */
    int n_commits;
    int commits[TINY_TXNS];     /* in the order of commit */
    int last_writer[TINY_KEYS]; /* committed or not; -1: nobody */
} store;

/* Fills op with what the transaction now reads of the key.  Returns who wrote
 * it, -1 for the initial version. */
int store_read(store *s, int txn, int key, tiny_op *op);
int store_new_value(store *s, int key);
unsigned store_view(store *s, int txn);
bool store_writes(const tiny_txn *x, int key);

/* A predicate operation of any kind, with the writes that belong to it. */
void store_run_predicate(store *s, int txn);
/* Decides what of the version sets is recorded, and how. */
void store_record_sets(store *s);

#endif
