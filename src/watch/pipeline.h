/* pipeline.h: events of many clients, in the order of their `before`.
 *
 * Two levels, as in Leopard (section IV-C and its appendix II).  Each client
 * has a local buffer: a queue of blocks, ascending as the client is.  The
 * global level is a tournament of the clients' first blocks, by the first
 * `before` in each.  What wins may go if no client whose buffer is empty can
 * still come with something earlier: the watermark is the least `before` that
 * such a client has promised.
 *
 *   batches   blocks change hands, never single events;
 *   fetching  only from the client that holds things up, and no faster than
 *             events go out.
 *
 * Memory is bounded however uneven the clients are.  If it is full because
 * the consumer is slow, producers wait; if it is full because one client
 * holds back the others, blocks of the others go to a file and come back in
 * their turn.
 *
 * A client that stalls.  If nothing was heard of a client for `stall_ns` while
 * events of others wait for it, it is passed by: the watermark follows the
 * others until it speaks again.  What it then says of times that are gone is
 * late: late transactions are handed out apart (hf_pipeline_take_late()), and
 * counted.  So are those whose events do not ascend.
 *
 * Any thread may produce; one thread takes.
 */
#ifndef HF_WATCH_PIPELINE_H
#define HF_WATCH_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "watch/event.h"

typedef struct hf_pipeline hf_pipeline;

typedef struct hf_pipeline_options {
    size_t bytes;          /* of events in memory; 0: 64 MiB */
    size_t ahead;          /* a producer waits when so much is there that the
                              consumer can go on with; 0: as bytes.  Little
                              stays in the cache */
    uint64_t stall_ns;     /* 0: clients are waited for */
    const char *directory; /* for the file of what does not fit; stays */
    bool one_thread;       /* producer and consumer are one: never wait */
    /* A producer that would wait may do something else: false, if there is
     * nothing to do until hf_pipeline_nudge().  NULL: it waits. */
    bool (*help)(void *user);
    void *user;
} hf_pipeline_options;

hf_pipeline *hf_pipeline_new(const hf_pipeline_options *o);
void hf_pipeline_free(hf_pipeline *p);

/* ---- producers ----------------------------------------------------------- */

/* A new client, of which nothing earlier than `from` will come; clients are
 * numbered from 0, numbers of those that left are used again.  UINT64_MAX: it
 * holds nothing up; the promises of others are for it as well. */
uint32_t hf_pipeline_join(hf_pipeline *p, uint64_t from);
/* It stands for clients that have not come yet: it is none itself, and if it is
 * passed by that does not count. */
void hf_pipeline_stand_in(hf_pipeline *p, uint32_t client);
/* Events of one client, ascending, whole transactions or parts of them;
 * `client` of each is filled in.  May wait.  False: the consumer has stopped,
 * or the file for what does not fit could not be written. */
bool hf_pipeline_push(hf_pipeline *p, uint32_t client, const hf_event *events,
                      size_t n);
/* The same for events that nobody waits for: they may stay with the producer
 * until a block is full, the consumer has nothing else, or their client leaves.
 * By one thread, which is also the only one that joins clients; where clients
 * are waited for, however long they stall. */
bool hf_pipeline_put(hf_pipeline *p, uint32_t client, const hf_event *events,
                     size_t n);
/* Nothing earlier than `from` will come of this client. */
void hf_pipeline_promise(hf_pipeline *p, uint32_t client, uint64_t from);
/* Nothing at all. */
void hf_pipeline_leave(hf_pipeline *p, uint32_t client);
/* All have left.  Where there is options.help, returns when all is taken. */
void hf_pipeline_end(hf_pipeline *p);

/* ---- the consumer -------------------------------------------------------- */

/* Up to `most` events in order.  0: none within the time (wait_ns 0: at once),
 * or hf_pipeline_is_done(). */
size_t hf_pipeline_take(hf_pipeline *p, hf_event *to, size_t most,
                        uint64_t wait_ns);
bool hf_pipeline_is_done(const hf_pipeline *p);
/* Nothing earlier than this will be taken. */
uint64_t hf_pipeline_reached(const hf_pipeline *p);
/* Events that came too late or did not ascend, in the order they came.  Unless
 * it is a SCAN, `extra` is by how many microseconds its client's clock went
 * back, if it did. */
size_t hf_pipeline_take_late(hf_pipeline *p, hf_event *to, size_t most);
/* There is something to help with. */
void hf_pipeline_nudge(hf_pipeline *p);
/* Producers are let go; their events are lost. */
void hf_pipeline_stop(hf_pipeline *p);

typedef struct hf_pipeline_stats {
    uint64_t events;     /* taken */
    uint64_t late;       /* events of times that were gone */
    uint64_t disordered; /* events whose client did not ascend */
    uint64_t late_txns;  /* transactions of both */
    uint64_t stalls;     /* a client was passed by */
    uint64_t batches;    /* runs of events of one client */
    uint64_t spilled;    /* events that were in the file */
    uint64_t waiting;    /* events that are in, now */
    uint64_t lag_ns;     /* newest that came in, less the last that went out */
    size_t bytes;        /* memory for events */
    uint32_t clients, passed, stalled_client; /* now; the last one */
    int spill_errno;
} hf_pipeline_stats;

/* Any thread. */
void hf_pipeline_look(hf_pipeline *p, hf_pipeline_stats *ret);

#endif
