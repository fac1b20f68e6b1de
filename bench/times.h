/* times.h: measured times, for the programs of this folder.
 *
 * Everything is CPU time of this process unless it says otherwise, taken in
 * interleaved rounds; ratios are of the best.
 */
#ifndef HF_BENCH_TIMES_H
#define HF_BENCH_TIMES_H

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/error.h"

#define MOST_ROUNDS 8

/* The times of the rounds of one thing, in seconds. */
typedef struct times {
    unsigned n;
    double at[MOST_ROUNDS]; /* ascending */
} times;

static inline void add_time(times *t, double seconds)
{
    unsigned i = t->n++;

    HF_ASSERT(i < MOST_ROUNDS);
    for (; i > 0 && t->at[i - 1] > seconds; i--)
        t->at[i] = t->at[i - 1];
    t->at[i] = seconds;
}

static inline double best_time(const times *t)
{
    return t->at[0];
}

static inline double median_time(const times *t)
{
    return t->at[t->n / 2];
}

static inline double cpu_seconds(void)
{
    return (double)hf_clock_cpu_ns() / 1e9;
}

static inline double wall_seconds(void)
{
    return (double)hf_clock_ns() / 1e9;
}

/* Of a child that has ended. */
static inline double cpu_of(const struct rusage *used)
{
    return (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
           (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1e6;
}

/* CPU seconds of `wc -lw FILE`; below 0 if it failed. */
static inline double wc_seconds(const char *path)
{
    struct rusage used;
    int status;
    pid_t child = fork();

    if (child == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        (void)dup2(null, 1);
        execlp("wc", "wc", "-lw", path, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) < 0 || status != 0)
        return -1;
    return cpu_of(&used);
}

#endif
