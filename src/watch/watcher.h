/* watcher.h: from pieces of histories to violations, while they come.
 *
 *     source thread: hf_watcher_piece() ... hf_watcher_end()
 *     this thread:   hf_watcher_consume()
 *
 * Pieces become events (translate.h), events get into order (pipeline.h), the
 * engine judges them (watch.h).
 *
 * Holes.  What was never seen (lines that could not be read, transactions
 * without times, statements recorded as text only) may have written anything.
 * Then a read is no longer judged: violations of consistent read are counted
 * as doubted and not told.  The other mechanisms are about what was seen, and
 * go on.
 *
 * Complaints.  Events that came late, or are of a clock that went back, are
 * there, only not where they belong.  The engine takes what such a transaction
 * wrote as something that may be seen from then on, or not (intake.c), so a
 * read that comes later is judged by all there is.  What may be wrong is what
 * was concluded before: versions and snapshots of times that were judged
 * without the event, or by the clock as it was.  So doubted is what rests on
 * anything from before the newest complaint, or from before a client that was
 * passed by was heard again: any bar of the violation that begins there.  A
 * version is a bar as long as it is a candidate; when it is not, one that is
 * newer is, and shows that the older one is gone whatever its time was.
 *
 * What holds the order back, and what does not: the source says how much is
 * known about sessions.
 *
 *   HF_SESSIONS_COUNTED   all of them were announced with the number of their
 *                         transactions: a finished file.  Nothing is late.
 *   HF_SESSIONS_SORTED    transactions come in the order of their begin.
 *   HF_SESSIONS_LIVE      sessions come and go.  One that was not heard of
 *                         before may be `slack_ns` behind the newest event;
 *                         one that was may be as long as it does not stall.
 */
#ifndef HF_WATCH_WATCHER_H
#define HF_WATCH_WATCHER_H

#include "base/budget.h"
#include "history/history.h"
#include "watch/key_names.h"
#include "watch/pipeline.h"
#include "watch/conditions.h"
#include "watch/watch.h"

typedef struct hf_watcher hf_watcher;

typedef enum hf_watcher_sessions {
    HF_SESSIONS_COUNTED = 0,
    HF_SESSIONS_SORTED,
    HF_SESSIONS_LIVE
} hf_watcher_sessions;

typedef struct hf_watcher_options {
    hf_watch_options watch; /* its user and matches are the watcher's own */
    hf_pipeline_options pipeline;
    /* Nothing was there before the first event but what is announced.  Else
     * that is so once anything is announced; until then nobody knows. */
    bool starts_empty;
    bool is_unknown;   /* not even then */
    bool one_level;    /* what levels transactions name does not matter */
    bool source_helps; /* who produces judges, too, instead of waiting */
    uint64_t slack_ns;
    /* session 3.1 is what session 3 became after its connection broke */
    bool sessions_return;
    /* From hf_watcher_consume().  False: stop. */
    bool (*violation)(void *user, hf_watcher *w, const hf_violation *v);
    void (*complaint)(void *user, hf_watcher *w, hf_watch_complaint c,
                      const hf_event *e);
    /* Now and then, from there too, about ten times a second. */
    bool (*tick)(void *user, hf_watcher *w);
    void *user;
} hf_watcher_options;

hf_watcher *hf_watcher_new(const hf_watcher_options *o);
void hf_watcher_free(hf_watcher *w);

/* ---- the source, one thread at a time ------------------------------------ */

/* Before all else, for COUNTED: each piece of the whole once, to be counted;
 * initial values are taken from there too, wherever they stand.  Returns the
 * number of transactions that have no session's name. */
uint64_t hf_watcher_count(hf_watcher *w, const hf_history *h);
/* A session of the LIVE kind that is waited for from the beginning. */
void hf_watcher_expect(hf_watcher *w, hf_str session);
/* Before the first piece. */
void hf_watcher_begin(hf_watcher *w, hf_watcher_sessions how);
/* False: nobody wants more. */
bool hf_watcher_piece(hf_watcher *w, const hf_history *h);
/* The same for lines that say only a part of their transactions: bit t of
 * `more` is set if more of transaction t comes with a later piece. */
bool hf_watcher_parts(hf_watcher *w, const hf_history *h, const uint8_t *more);
/* Sessions of the last piece, by its ids: who speaks through a connection. */
uint32_t hf_watcher_session(hf_watcher *w, hf_str name);
/* It will not be heard again.  A transaction it has open may have committed
 * or not. */
void hf_watcher_gone(hf_watcher *w, uint32_t session);
/* Something was said that could not be read: from now on nothing that a read
 * returned is taken as impossible.  Any thread. */
void hf_watcher_hole(hf_watcher *w);
/* It is there, and nothing of it is earlier than this. */
void hf_watcher_alive(hf_watcher *w, uint32_t session, uint64_t now);
void hf_watcher_end(hf_watcher *w);

/* ---- the consumer -------------------------------------------------------- */

/* Until the end, or someone says stop. */
void hf_watcher_consume(hf_watcher *w);
/* Lets the source go; consume returns soon.  Any thread. */
void hf_watcher_stop(hf_watcher *w);

typedef struct hf_watcher_stats {
    hf_watch_stats watch;
    hf_pipeline_stats pipeline;
    uint64_t transactions; /* translated */
    uint64_t no_times, opaque, aggregates, amounts, strange_conditions;
    uint64_t doubted; /* reads that what was not seen may explain */
    uint64_t lost;    /* transactions whose client was gone */
    uint64_t keys;
    size_t name_bytes;  /* of names and conditions */
    uint64_t last_time; /* of the last event that was judged */
    bool stopped;       /* before the end */
} hf_watcher_stats;

/* The consumer's thread, or after it. */
void hf_watcher_look(hf_watcher *w, hf_watcher_stats *ret);
hf_watch_names *hf_watcher_names(hf_watcher *w);
hf_watch_scans *hf_watcher_scans(hf_watcher *w);

#endif
