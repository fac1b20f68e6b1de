/* pipeline_spill.c: blocks that do not fit in memory.
 *
 * A file without a name, in blocks; places are used again.  It is as long as
 * what one client holds back at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "watch/pipeline_impl.h"

#define PLACE_BYTES (HF_BLOCK_EVENTS * sizeof(hf_event))

static bool open_file(hf_pipeline *p)
{
    char path[4096];
    const char *directory = p->o.directory ? p->o.directory : "/tmp";

    if (p->spill_fd >= 0)
        return true;
    if ((size_t)snprintf(path, sizeof path, "%s/holdfast-watch-XXXXXX",
                         directory) >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    p->spill_fd = mkstemp(path);
    if (p->spill_fd < 0)
        return false;
    (void)unlink(path);
    (void)fcntl(p->spill_fd, F_SETFD, FD_CLOEXEC);
    return true;
}

/* All of it, at a place. */
static bool move(hf_pipeline *p, char *bytes, size_t n, uint64_t place,
                 bool out)
{
    off_t at = (off_t)(place * PLACE_BYTES);

    while (n > 0) {
        ssize_t moved = out ? pwrite(p->spill_fd, bytes, n, at)
                            : pread(p->spill_fd, bytes, n, at);

        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0) {
            if (moved == 0)
                errno = EIO;
            return false;
        }
        bytes += moved;
        at += moved;
        n -= (size_t)moved;
    }
    return true;
}

static bool fail(hf_pipeline *p)
{
    p->stats.spill_errno = errno ? errno : EIO;
    p->stopped = true;
    return false;
}

bool hf_spill_out(hf_pipeline *p, hf_event_run *run)
{
    hf_event_block *b = run->block;
    uint32_t n = b->n - b->at;
    uint64_t place;

    if (!open_file(p))
        return fail(p);
    place = p->spill_free.n > 0 ? p->spill_free.at[--p->spill_free.n]
                                : p->spill_end++;
    if (!move(p, (char *)(b->events + b->at), n * sizeof(hf_event), place,
              true))
        return fail(p);
    *run = (hf_event_run){.place = place, .n = n};
    p->stats.spilled += n;
    hf_block_put(p, b);
    return true;
}

bool hf_spill_in(hf_pipeline *p, hf_event_run *run)
{
    hf_event_block *b = hf_block_get(p, run->n <= HF_SMALL_EVENTS);

    if (!move(p, (char *)b->events, run->n * sizeof(hf_event), run->place,
              false)) {
        hf_block_put(p, b);
        return fail(p);
    }
    hf_vec_push(&p->spill_free, run->place);
    b->at = 0;
    b->n = run->n;
    run->block = b;
    return true;
}
