/* budget.c: looking at the clock and the memory now and then. */
#include "base/budget.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Polls between two looks; a look costs about a microsecond. */
#define LOOK_EVERY 1024

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t hf_clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t hf_clock_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

size_t hf_memory_held(void)
{
    char text[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    char *resident;

    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    resident = strchr(text, ' ');
    return resident ? (size_t)strtoull(resident, NULL, 10) *
                          (size_t)sysconf(_SC_PAGESIZE)
                    : 0;
}

void hf_budget_start(hf_budget *b)
{
    b->countdown = 0;
    b->started_ns = b->last_progress_ns = hf_clock_ns();
    b->spent = false;
    b->reason[0] = '\0';
}

static void say_memory(hf_budget *b)
{
    b->spent = true;
    if (b->bytes >= (size_t)1 << 20)
        (void)snprintf(b->reason, sizeof(b->reason),
                       "memory limit of %zu MiB reached", b->bytes >> 20);
    else
        (void)snprintf(b->reason, sizeof(b->reason),
                       "memory limit of %zu bytes reached", b->bytes);
}

bool hf_budget_look(hf_budget *b)
{
    b->countdown = LOOK_EVERY;
    if (b->spent)
        return true;
    if (b->interrupted && b->interrupted(b->user)) {
        b->spent = true;
        (void)snprintf(b->reason, sizeof(b->reason), "interrupted");
    } else if (b->seconds > 0 &&
               (double)(hf_clock_ns() - b->started_ns) >= b->seconds * 1e9) {
        b->spent = true;
        (void)snprintf(b->reason, sizeof(b->reason),
                       "time limit of %g s reached", b->seconds);
    } else if (b->bytes > 0 && hf_memory_held() > b->bytes) {
        say_memory(b);
    }
    return b->spent;
}

bool hf_budget_refuses(hf_budget *b, size_t bytes)
{
    if (!b || b->bytes == 0)
        return false;
    if (!b->spent && hf_memory_held() + bytes > b->bytes)
        say_memory(b);
    return b->spent;
}

const char *hf_budget_reason(const hf_budget *b)
{
    return b && b->spent ? b->reason : "no limit was reached";
}

void hf_budget_progress(hf_budget *b, const char *what, uint64_t done,
                        uint64_t total)
{
    uint64_t now;

    if (!b || !b->progress)
        return;
    now = hf_clock_ns();
    if (now - b->last_progress_ns < 100000000u)
        return;
    b->last_progress_ns = now;
    b->progress(b->user, what, done, total);
}
