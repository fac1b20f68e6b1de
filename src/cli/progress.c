/* progress.c: drawing and erasing the progress line. */
#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"

#define FIRST_AFTER_NS 1000000000u
#define AGAIN_AFTER_NS 100000000u
static const char erase_line[] = "\r\033[K";

void hf_progress_init(hf_progress *p, int fd, bool wanted)
{
    *p = (hf_progress){.fd = fd, .wanted = wanted};
    p->started_ns = hf_clock_ns();
}

void hf_progress_begin(hf_progress *p, const char *what)
{
    p->started_ns = hf_clock_ns();
    p->done = p->total = 0;
    (void)snprintf(p->what, sizeof p->what, "%s", what);
}

/* A terminal that takes no bytes is no reason to stop: failures and short
 * writes are let go. */
static void put(const hf_progress *p, const char *text, size_t n)
{
    ssize_t ignored = write(p->fd, text, n);

    (void)ignored;
}

static void draw(hf_progress *p, uint64_t now)
{
    char line[200];
    unsigned seconds = (unsigned)((now - p->started_ns) / 1000000000u);
    int n;

    if (p->total > 0)
        n = snprintf(line, sizeof line, "%s%s: %.0f%% (%u s)", erase_line,
                     p->what, 100.0 * (double)p->done / (double)p->total,
                     seconds);
    else if (p->done > 0)
        n = snprintf(line, sizeof line, "%s%s: %llu (%u s)", erase_line,
                     p->what, (unsigned long long)p->done, seconds);
    else
        n = snprintf(line, sizeof line, "%s%s (%u s)", erase_line, p->what,
                     seconds);
    if (n > 0)
        put(p, line, strlen(line));
    p->visible = true;
    p->shown_ns = now;
}

void hf_progress_tick(hf_progress *p)
{
    uint64_t now;

    if (!p->wanted)
        return;
    now = hf_clock_ns();
    if (now - p->started_ns >= FIRST_AFTER_NS &&
        now - p->shown_ns >= AGAIN_AFTER_NS)
        draw(p, now);
}

void hf_progress_update(hf_progress *p, const char *what, uint64_t done,
                        uint64_t total)
{
    if (!p->wanted)
        return;
    (void)snprintf(p->what, sizeof p->what, "%s", what);
    p->done = done;
    p->total = total;
    hf_progress_tick(p);
}

void hf_progress_erase(hf_progress *p)
{
    if (p->visible)
        put(p, erase_line, sizeof erase_line - 1);
    p->visible = false;
}
