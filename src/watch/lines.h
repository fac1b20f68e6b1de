/* lines.h: events that other programs send, line by line (docs/watch.md).
 *
 * A line is a transaction of the native text form, or a part of one
 * ("more":true: the rest of it comes later), or says that a session is alive
 * ("now") or leaves ("bye").  What cannot be read is counted and left out; it
 * never stops the others.
 *
 * One hf_lines for each connection; all of them in one thread.
 */
#ifndef HF_WATCH_LINES_H
#define HF_WATCH_LINES_H

#include "base/vec.h"
#include "watch/watcher.h"

/* Longer lines are not read. */
#define HF_LINE_BYTES ((size_t)8 << 20)

/* What all connections share. */
typedef struct hf_lines_hub {
    hf_watcher *watcher;
    HF_VEC(uint32_t)
    owners; /* of sessions: number of the connection, 0: none */
    uint32_t n_connections;
    uint64_t bad_lines;
    hf_error first_bad; /* what was wrong with the first one */
    bool is_file;       /* there is one connection: lines are told by it */
} hf_lines_hub;

void hf_lines_hub_release(hf_lines_hub *hub);

typedef struct hf_lines {
    hf_lines_hub *hub;
    uint32_t number;
    uint64_t line;
    hf_time_unit unit; /* a first line may say it */
    HF_VEC(char) buffer;
    HF_VEC(uint32_t) sessions;
    bool too_long; /* the rest of this line is not kept */
} hf_lines;

void hf_lines_init(hf_lines *l, hf_lines_hub *hub);
/* Some bytes of the connection.  False: nobody wants more. */
bool hf_lines_feed(hf_lines *l, const char *bytes, size_t n);
/* It was closed: what is there of a last line is all of it; then its sessions
 * are gone. */
void hf_lines_close(hf_lines *l);
void hf_lines_release(hf_lines *l);
/* A connection that was never heard. */
void hf_lines_refused(hf_lines_hub *hub);

#endif
