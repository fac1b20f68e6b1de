/* pipeline_impl.h: blocks and queues, for pipeline.c, pipeline_merge.c and
 * pipeline_spill.c. */
#ifndef HF_WATCH_PIPELINE_IMPL_H
#define HF_WATCH_PIPELINE_IMPL_H

#include <stdalign.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/vec.h"
#include "watch/pipeline.h"

#define HF_BLOCK_EVENTS 127u /* a block is 8 KiB */
/* Where there are very many clients most say little: the first block of each is
 * a small one. */
#define HF_SMALL_EVENTS 8u
#define HF_SMALL_IN_BLOCK 15u /* that fit in the bytes of a block */

#define HF_CACHE_LINE 64u

typedef struct hf_event_block hf_event_block;
struct hf_event_block {
    hf_event_block *next;
    uint32_t at, n; /* events at .. n - 1 are still to go */
    uint32_t room;  /* HF_BLOCK_EVENTS or HF_SMALL_EVENTS */
    alignas(HF_CACHE_LINE) hf_event events[];
};

/* One entry of a client's queue: a block in memory, or a place in the file. */
typedef struct hf_event_run {
    hf_event_block *block; /* NULL: in the file */
    uint64_t place;        /* there, counted in blocks */
    uint32_t n;
} hf_event_run;

typedef struct hf_event_queue {
    HF_VEC(hf_event_run) runs;
    size_t first; /* of runs: those before are gone */
} hf_event_queue;

typedef struct hf_pipeline_client {
    uint32_t number;
    /* its producer's */
    hf_event_block *draft; /* not in the queue yet */
    bool is_drafting;      /* in `drafting` */
    /* under the mutex */
    hf_event_queue local;
    uint64_t promise;  /* nothing earlier will be pushed; UINT64_MAX: others
                          vouch for it */
    uint64_t last;     /* `before` of the last event */
    uint64_t answered; /* the last `after` */
    uint64_t heard_ns;
    uint64_t bad_txn;  /* did not ascend, and its rest; UINT64_MAX: none */
    uint64_t late_txn; /* was late, and its rest */
    bool left, stands_in;
    bool is_new; /* nothing was pushed yet */
    /* the consumer's */
    hf_event_block *head;  /* NULL: dry */
    uint32_t leaf;         /* if there is one */
    hf_event_block *ready; /* after it, by `next`: taken from the queue */
    bool passed;
} hf_pipeline_client;

/* The first event of a leaf, or of the leaves below. */
typedef struct hf_merge_node {
    uint64_t before; /* HF_NOTHING: there is none */
    uint32_t leaf;
} hf_merge_node;

#define HF_NOTHING UINT64_MAX /* no event has this time: see write_event() */

/* A client with a head: what is left of that block. */
typedef struct hf_merge_leaf {
    const hf_event *at, *end;
    hf_pipeline_client *client;
} hf_merge_leaf;

/* These are the leaves of a tournament: nodes[1] is the first of all, below i
 * stand 2 i and 2 i + 1, the leaves are the last `room`. */
typedef struct hf_merge_tree {
    hf_merge_node *nodes; /* 2 * room */
    hf_merge_leaf *leaves;
    uint32_t room; /* a power of two */
    uint32_t n;    /* leaves that are taken */
    HF_VEC(uint32_t) spare;
} hf_merge_tree;

struct hf_pipeline {
    hf_pipeline_options o;
    pthread_mutex_t mutex;
    pthread_cond_t work, room;
    /* under the mutex */
    HF_VEC(hf_pipeline_client *) clients;
    hf_event_block *free_blocks, *free_small;
    size_t n_blocks, n_small, most_blocks; /* in use; bound, of both */
    size_t ahead_blocks;                   /* above this a producer waits */
    size_t low_blocks;                     /* ... until there are so few */
    bool held;                             /* one does */
    uint64_t nudges;                       /* so often there was work for it */
    size_t n_free, n_free_small;
    HF_VEC(hf_event) late;
    HF_VEC(uint32_t) gone; /* clients that left and have nothing more */
    uint64_t newest;
    uint64_t fresh; /* events that came since the consumer sleeps */
    hf_pipeline_stats stats;
    bool ended, stopped;
    bool starved; /* the consumer waits for a client */
    bool waits;   /* the consumer sleeps */
    /* the consumer has nothing to go on with, and asks for drafts */
    atomic_bool asks;
    HF_VEC(hf_pipeline_client *) drafting; /* the producer's: may have one */
    int spill_fd;
    uint64_t spill_end;
    HF_VEC(uint64_t) spill_free;
    /* the consumer's */
    hf_merge_tree tree;
    HF_VEC(hf_pipeline_client *) dry; /* no head, and have not left */
    uint64_t watermark;               /* least promise of these */
    uint64_t done;                    /* `before` of the last that went */
    uint64_t n_taken, n_batches;
    hf_event_block *used; /* blocks that are done, by `next`, not given back */
    bool is_done;
};

/* Under the mutex. */
hf_event_block *hf_block_get(hf_pipeline *p, bool small);
void hf_block_put(hf_pipeline *p, hf_event_block *b);
/* Those that the consumer is done with. */
void hf_blocks_put_used(hf_pipeline *p);

/* pipeline_spill.c, under the mutex.  The first makes the block free. */
bool hf_spill_out(hf_pipeline *p, hf_event_run *run);
bool hf_spill_in(hf_pipeline *p, hf_event_run *run);

/* The first event of all heads; HF_NOTHING: there is none. */
static inline uint64_t hf_pipeline_first(const hf_pipeline *p)
{
    return p->tree.n > 0 ? p->tree.nodes[1].before : HF_NOTHING;
}

/* pipeline_merge.c */
/* What may go now, up to `most`. */
size_t hf_pipeline_merge(hf_pipeline *p, hf_event *to, size_t most);
/* Under the mutex: heads for dry clients; the watermark.  True: some came. */
bool hf_pipeline_fetch(hf_pipeline *p);
void hf_merge_tree_release(hf_merge_tree *t);

#endif
