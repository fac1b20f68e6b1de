/* progress.h: one line on the terminal while something takes long.
 *
 * Shown on standard error, only if that is a terminal, only after the work
 * has run for a second, and gone without a trace when it ends.
 */
#ifndef HF_PROGRESS_H
#define HF_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct hf_progress {
    int fd;       /* where to; set by hf_progress_init() */
    bool wanted;  /* is it a terminal that can erase a line */
    bool visible; /* a line stands there now */
    uint64_t started_ns, shown_ns;
    char what[80];
    uint64_t done, total;
} hf_progress;

/* Remembers where to write; `wanted` decides for good. */
void hf_progress_init(hf_progress *p, int fd, bool wanted);
/* New work begins now. */
void hf_progress_begin(hf_progress *p, const char *what);
/* How far it is; total 0: not known.  What to show is remembered until the
 * next call; the line is drawn ten times a second at most. */
void hf_progress_update(hf_progress *p, const char *what, uint64_t done,
                        uint64_t total);
/* Draws the line again if it is time to: the clock in it goes on. */
void hf_progress_tick(hf_progress *p);
/* Erases the line; more updates may follow. */
void hf_progress_erase(hf_progress *p);

#endif
