/* limits.c: the timer, the memory limit and the interrupt.
 *
 * Signal handlers and the out-of-memory handler get no argument, so what they
 * need is kept here: the only state of the program that is not in main().
 */
#include "cli/limits.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/common.h"

/* How long after its end the work may still be on its way out. */
#define GRACE_SECONDS 0.25
#define GRACE_PART 0.05
/* Memory for saying goodbye, above the limit. */
#define GRACE_BYTES ((size_t)16 << 20)

/* A signal that comes again so soon is the same one: timeout(1) sends it to
   its child and to its group, and a terminal's is passed on by others. */
#define SAME_SIGNAL_NS 300000000

static struct {
    volatile sig_atomic_t interrupted;
    _Atomic int64_t first_at[NSIG]; /* of each signal, 0: none yet */
    char *time_words;
    char *memory_words;
    volatile sig_atomic_t status; /* to end with */
} state;

/* Async-signal-safe. */
static void say_and_end(const char *words)
{
    static const char erase[] = "\r\033[K";
    size_t n = strlen(words);

    if (isatty(STDERR_FILENO)) {
        ssize_t ignored = write(STDERR_FILENO, erase, sizeof erase - 1);

        (void)ignored;
    }
    while (n > 0) {
        ssize_t wrote = write(STDOUT_FILENO, words, n);

        if (wrote <= 0)
            _exit(HF_EXIT_BAD);
        words += wrote;
        n -= (size_t)wrote;
    }
    _exit(state.status);
}

static void on_out_of_memory(size_t wanted)
{
    if (state.memory_words)
        say_and_end(state.memory_words);
    (void)fprintf(stderr, "holdfast: out of memory (%zu bytes wanted)\n",
                  wanted);
    _exit(HF_EXIT_BAD);
}

/* ---- interrupt ---------------------------------------------------------- */

static void on_interrupt(int signal_number)
{
    struct timespec t = {0};
    int64_t now, first = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + 1;
    state.interrupted = 1;
    if (atomic_compare_exchange_strong(&state.first_at[signal_number], &first,
                                       now) ||
        now - first < SAME_SIGNAL_NS)
        return;
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
}

static void ask_for_end_at(int signal_number)
{
    struct sigaction action = {0};

    action.sa_handler = on_interrupt;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(signal_number, &action, NULL);
}

void hf_limits_init(void)
{
    hf_set_out_of_memory(on_out_of_memory);
    ask_for_end_at(SIGINT);
}

void hf_limits_catch_end(void)
{
    ask_for_end_at(SIGTERM);
    ask_for_end_at(SIGHUP);
}

bool hf_cli_interrupted(void)
{
    return state.interrupted != 0;
}

/* ---- time --------------------------------------------------------------- */

static void on_alarm(int signal_number)
{
    (void)signal_number;
    if (state.time_words)
        say_and_end(state.time_words);
}

static void set_timer(double seconds)
{
    struct itimerval timer = {0};

    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec =
        (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- memory ------------------------------------------------------------- */

/* Bytes of writable memory mapped now: what RLIMIT_DATA counts. */
static size_t data_mapped(void)
{
    char text[256];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    unsigned long long pages;

    if (fd >= 0)
        (void)close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    /* size resident shared text lib data: the sixth */
    if (sscanf(text, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
        return 0;
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void limit_data(size_t bytes)
{
    struct rlimit limit;
    size_t mapped = data_mapped();

    if (mapped == 0 || getrlimit(RLIMIT_DATA, &limit) != 0)
        return;
    limit.rlim_cur =
        bytes == 0 ? limit.rlim_max : (rlim_t)(mapped + bytes + GRACE_BYTES);
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_DATA, &limit);
}

/* ---- both --------------------------------------------------------------- */

void hf_limits_arm(double seconds, char *time_words, size_t bytes,
                   char *memory_words)
{
    struct sigaction action = {0};

    hf_limits_disarm();
    state.time_words = time_words;
    state.memory_words = memory_words;
    state.status = HF_EXIT_UNKNOWN;
    if (seconds > 0 && time_words) {
        action.sa_handler = on_alarm;
        (void)sigemptyset(&action.sa_mask);
        (void)sigaction(SIGALRM, &action, NULL);
        set_timer(seconds + GRACE_SECONDS + seconds * GRACE_PART);
    }
    if (bytes > 0 && memory_words)
        limit_data(bytes);
}

void hf_limits_disarm(void)
{
    set_timer(0);
    if (state.memory_words)
        limit_data(0);
    hf_free(state.time_words);
    hf_free(state.memory_words);
    state.time_words = state.memory_words = NULL;
}

void hf_limits_say(char *time_words, char *memory_words, int status)
{
    sigset_t alarm, before;

    (void)sigemptyset(&alarm);
    (void)sigaddset(&alarm, SIGALRM);
    (void)pthread_sigmask(SIG_BLOCK, &alarm, &before);
    if (time_words && state.time_words) {
        hf_free(state.time_words);
        state.time_words = time_words;
    }
    if (memory_words && state.memory_words) {
        hf_free(state.memory_words);
        state.memory_words = memory_words;
    }
    state.status = status;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- the budget of one piece of work ------------------------------------ */

static bool poll_interrupt(void *user)
{
    hf_cli *cli = user;

    hf_progress_tick(&cli->progress);
    return hf_cli_interrupted();
}

static void show_progress(void *user, const char *what, uint64_t done,
                          uint64_t total)
{
    hf_cli *cli = user;

    hf_progress_update(&cli->progress, what, done, total);
}

/* The last words for the limit that `spent` has reached, as text the caller
 * owns. */
static char *prepare(hf_last_words words, const void *user,
                     const hf_budget *spent)
{
    hf_out text;

    hf_out_init_memory(&text);
    words(user, hf_budget_reason(spent), &text);
    hf_out_char(&text, '\0');
    return text.at;
}

/* What to say if time is over, and if memory is; NULL: there is no limit. */
static void prepare_both(const hf_budget *b, hf_last_words words,
                         const void *user, char **ret_time, char **ret_memory)
{
    *ret_time = *ret_memory = NULL;
    /* a spent budget says best how it would say it */
    if (words && b->seconds > 0) {
        hf_budget late = {.seconds = b->seconds};

        late.started_ns = hf_clock_ns() - (uint64_t)(b->seconds * 1e9 + 1e6);
        (void)hf_budget_look(&late);
        *ret_time = prepare(words, user, &late);
    }
    if (words && b->bytes > 0) {
        hf_budget full = {.bytes = b->bytes};

        (void)hf_budget_refuses(&full, SIZE_MAX / 2);
        *ret_memory = prepare(words, user, &full);
    }
}

void hf_cli_start(hf_cli *cli, const hf_limits *limits, hf_last_words words,
                  const void *user)
{
    char *time_words, *memory_words;
    hf_budget *b = &cli->budget;

    hf_cli_flush(cli);
    *b = (hf_budget){.seconds = limits->seconds,
                     .bytes = limits->bytes,
                     .interrupted = poll_interrupt,
                     .progress = show_progress,
                     .user = cli};
    hf_budget_start(b);
    prepare_both(b, words, user, &time_words, &memory_words);
    hf_limits_arm(b->seconds, time_words, b->bytes, memory_words);
}

void hf_cli_say_last(const hf_cli *cli, hf_last_words words, const void *user,
                     int status)
{
    char *time_words, *memory_words;

    prepare_both(&cli->budget, words, user, &time_words, &memory_words);
    hf_limits_say(time_words, memory_words, status);
}

void hf_cli_stop(hf_cli *cli)
{
    hf_limits_disarm();
    hf_progress_erase(&cli->progress);
}
