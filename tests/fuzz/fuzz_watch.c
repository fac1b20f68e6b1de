/* fuzz_watch.c: what watch is sent: lines of other programs, files in pieces,
 * profiles.
 *
 * Target "watch-lines": byte 0 chooses the profile and how the rest is cut; a
 * byte 0x1f in it goes on with another connection.  "watch-file": the bytes
 * are a file that grows.  "watch-profiles": a user's own profiles.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "history/pieces.h"
#include "watch/lines.h"

void hf_fuzz_watch(const char *target, const uint8_t *data, size_t size);

static hf_watcher *watcher_of(uint8_t choice)
{
    hf_watcher *w = hf_watcher_new(&(hf_watcher_options){
        .watch = {.profile = hf_profile_at(choice % hf_profile_count()),
                  .threads = 1},
        .pipeline = {.bytes = 1, .one_thread = true},
        .slack_ns = choice,
        .sessions_return = (choice & 1) != 0});

    hf_watcher_begin(w, HF_SESSIONS_LIVE);
    return w;
}

static void finish(hf_watcher *w)
{
    hf_watcher_stats stats;

    hf_watcher_end(w);
    hf_watcher_consume(w);
    hf_watcher_look(w, &stats);
    hf_watcher_free(w);
}

static void lines(const uint8_t *data, size_t size)
{
    hf_lines connections[2];
    hf_lines_hub hub = {0};
    unsigned now = 0;
    hf_watcher *w;

    if (size == 0)
        return;
    w = hub.watcher = watcher_of(data[0]);
    hf_lines_init(&connections[0], &hub);
    hf_lines_init(&connections[1], &hub);
    for (size_t i = 1; i < size; i++) {
        size_t n = 0;

        while (i + n < size && data[i + n] != 0x1f && n < 1u + data[0] * 4u)
            n++;
        (void)hf_lines_feed(&connections[now], (const char *)data + i, n);
        i += n;
        if (i < size && data[i] == 0x1f)
            now ^= 1;
        else
            i--;
    }
    hf_lines_release(&connections[0]);
    hf_lines_release(&connections[1]);
    finish(w);
    hf_lines_hub_release(&hub);
}

static void file(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", 0);
    hf_watcher *w = watcher_of(size > 0 ? data[size - 1] : 0);
    hf_pieces *p = hf_pieces_new(fd, true);
    bool fine = true;

    for (unsigned part = 0; part < 2 && fine; part++) {
        size_t from = part == 0 ? 0 : size / 2;
        size_t n = part == 0 ? size / 2 : size - size / 2;
        hf_history *h;

        if (pwrite(fd, data + from, n, (off_t)from) != (ssize_t)n)
            abort();
        do {
            h = NULL;
            fine = hf_pieces_next(p, &h, NULL) == HF_OK;
            if (h)
                (void)hf_watcher_piece(w, h);
            hf_history_free(h);
        } while (h && fine);
    }
    hf_pieces_free(p);
    finish(w);
    (void)close(fd);
}

void hf_fuzz_watch(const char *target, const uint8_t *data, size_t size)
{
    hf_profiles *rows = NULL;

    if (strcmp(target, "watch-lines") == 0) {
        lines(data, size);
    } else if (strcmp(target, "watch-file") == 0) {
        file(data, size);
    } else {
        if (hf_profiles_parse((hf_str){(const char *)data, size}, &rows,
                              NULL) == HF_OK)
            hf_profiles_free(rows);
    }
}
