/* watch_source.h: where `holdfast watch` has its events from.
 *
 * A source has a thread of its own: it reads, translates and pushes; the
 * thread that asked judges and prints.
 */
#ifndef HF_CLI_WATCH_SOURCE_H
#define HF_CLI_WATCH_SOURCE_H

#include <stdatomic.h>

#include "cli/watching.h"
#include "history/pieces.h"
#include "watch/lines.h"

typedef struct hf_watch_source {
    hf_watching *watching;
    const char *path;
    const hf_format *format;
    pthread_t thread;
    bool has_thread;
    atomic_bool stop;
    /* a file */
    int fd;
    bool follow;
    hf_pieces *pieces;
    hf_history *whole; /* what is not in pieces */
    /* a socket */
    int listener;
    bool once;
    hf_lines_hub hub;
    /* how it ended; of the thread until it is joined */
    hf_status status;
    hf_error err;
} hf_watch_source;

/* What a history says of itself; of a pipe nothing is known yet. */
typedef struct hf_source_about {
    bool is_known; /* there was something to look at */
    uint8_t level; /* that its first transaction names, or HF_LEVEL_UNSET */
    char name[HF_PIECES_NAME]; /* "": none */
} hf_source_about;

/* Opens the file and finds out what it is.  The path may be "-". */
HF_MUST_USE hf_status hf_source_open(hf_watch_source *s, hf_source_about *ret,
                                     hf_error *err);
/* The watcher is there: counts what has to be counted. */
HF_MUST_USE hf_status hf_source_prepare(hf_watch_source *s, hf_error *err);
/* Listens at the path, for its owner only. */
HF_MUST_USE hf_status hf_source_listen(hf_watch_source *s, hf_error *err);
HF_MUST_USE hf_status hf_source_start(hf_watch_source *s, hf_error *err);
/* Stops and joins; returns how it ended. */
hf_status hf_source_end(hf_watch_source *s, hf_error *err);
void hf_source_close(hf_watch_source *s);

/* watch_listen.c: the thread of a socket. */
void *hf_source_serve(void *source);

#endif
