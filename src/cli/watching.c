/* watching.c: a watch as the command line asks for it. */
#include "cli/watching.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/threads.h"
#include "cli/check.h"

#define SHOWN 10u
#define DEFAULT_STALL 5.0
#define FILE_AHEAD ((size_t)4 << 20) /* of events, to be read ahead */
#define PROFILE_BYTES ((size_t)1 << 20)

/* ---- profiles ------------------------------------------------------------ */

const char *hf_choose_profile(unsigned index)
{
    static _Thread_local char name[100];
    const hf_profile *p;

    if (index >= hf_profile_count())
        return NULL;
    p = hf_profile_at(index);
    (void)snprintf(name, sizeof name, "%s/%s", p->database, p->level);
    return name;
}

const char *hf_choose_initial(unsigned index)
{
    static const char *const names[] = {"absent", "unknown"};

    return index < 2 ? names[index] : NULL;
}

static hf_status read_text(const char *path, hf_out *ret, hf_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char bytes[4096], quoted[160];
    ssize_t n = fd < 0 ? -1 : 0;

    hf_out_init_memory(ret);
    while (fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0 &&
           ret->n < PROFILE_BYTES)
        hf_out_bytes(ret, bytes, (size_t)n);
    hf_quote(quoted, sizeof quoted, path, strlen(path));
    if (n < 0)
        (void)hf_fail(err, HF_ERR_IO, "could not read profiles \"%s\": %s",
                      quoted, strerror(errno));
    if (n > 0)
        (void)hf_fail(err, HF_ERR_INPUT, "profiles \"%s\": too long", quoted);
    if (fd >= 0)
        (void)close(fd);
    return n == 0 ? HF_OK : n < 0 ? HF_ERR_IO : HF_ERR_INPUT;
}

/* A promise is one of our levels. */
static hf_status check_promises(const hf_profiles *rows, hf_error *err)
{
    for (size_t i = 0; i < hf_profiles_count(rows); i++) {
        const hf_profile *p = hf_profiles_at(rows, i);
        char quoted[64];
        hf_level level;

        if (p->promise[0] &&
            !hf_level_find(hf_str_of(p->promise), &level, NULL))
            return hf_fail(err, HF_ERR_INPUT,
                           "%s/%s promises an unknown level \"%s\"",
                           p->database, p->level,
                           hf_quote(quoted, sizeof quoted, p->promise,
                                    strlen(p->promise)));
    }
    return HF_OK;
}

hf_status hf_watching_read_profiles(const char *path, hf_profiles **ret,
                                    hf_error *err)
{
    char quoted[160];
    hf_out text;
    hf_status st = read_text(path, &text, err);

    if (st == HF_OK) {
        st = hf_profiles_parse(hf_out_view(&text), ret, err);
        if (st == HF_OK && (st = check_promises(*ret, err)) != HF_OK) {
            hf_profiles_free(*ret);
            *ret = NULL;
        }
        if (st != HF_OK)
            hf_cli_place("could not read profiles",
                         hf_quote(quoted, sizeof quoted, path, strlen(path)),
                         err);
    }
    hf_out_release(&text);
    return st;
}

/* FILE, or FILE:DATABASE/LEVEL. */
static hf_status find_own(hf_watching *w, const char *name, hf_error *err)
{
    const char *colon = strrchr(name, ':');
    char path[1000], quoted[100];
    size_t n = strlen(name);
    hf_status st;

    if (colon && access(name, R_OK) != 0)
        n = (size_t)(colon - name);
    (void)snprintf(path, sizeof path, "%.*s", (int)n, name);
    st = hf_watching_read_profiles(path, &w->own, err);
    if (st != HF_OK)
        return st;
    if (name[n] == ':')
        w->profile = hf_profiles_find(w->own, hf_str_of(name + n + 1));
    else if (hf_profiles_count(w->own) == 1)
        w->profile = hf_profiles_at(w->own, 0);
    if (w->profile)
        return HF_OK;
    return hf_fail(err, HF_ERR_USAGE,
                   name[n] == ':' ? "profiles \"%s\" have no such row"
                                  : "profiles \"%s\" have several rows: name "
                                    "one as FILE:DATABASE/LEVEL",
                   hf_quote(quoted, sizeof quoted, path, strlen(path)));
}

/* What a name that is no row of ours may be. */
static bool is_file(const char *name)
{
    return access(name, R_OK) == 0 || strchr(name, '.') || strchr(name, ':');
}

hf_status hf_watching_find(hf_watching *w, const hf_profile *otherwise,
                           char *hint, size_t size, hf_error *err)
{
    const char *name = w->set->profile, *near = NULL;
    char quoted[100];

    w->profile = otherwise;
    if (!name)
        return HF_OK;
    w->profile = hf_profile_find(hf_str_of(name), &near);
    if (w->profile)
        return HF_OK;
    if (is_file(name))
        return find_own(w, name, err);
    if (near)
        (void)snprintf(hint, size, "did you mean \"%s\"?", near);
    else
        (void)snprintf(hint, size, "\"holdfast profiles\" lists them");
    return hf_fail(err, HF_ERR_USAGE, "unknown profile \"%s\"",
                   hf_quote(quoted, sizeof quoted, name, strlen(name)));
}

/* ---- life ---------------------------------------------------------------- */

static uint64_t nanoseconds(double seconds)
{
    return seconds <= 0 ? 0 : (uint64_t)(seconds * 1e9);
}

/* The line may be another thread's: then only what it drew is erased. */
static void erase_progress(hf_watching *w)
{
    static const char erase[] = "\r\033[K";
    ssize_t ignored = 0;

    if (w->alone)
        hf_progress_erase(&w->cli->progress);
    else if (w->cli->progress.wanted)
        ignored = write(STDERR_FILENO, erase, sizeof erase - 1);
    (void)ignored;
}

static bool print(void *user, hf_watcher *watcher, const hf_violation *v)
{
    hf_watching *w = user;
    hf_watch_words words = {hf_watcher_names(watcher),
                            hf_watcher_scans(watcher), w->color};
    uint64_t most = w->set->max.given ? w->set->max.value
                    : w->json         ? UINT64_MAX
                                      : SHOWN;
    hf_error ignored;

    if (w->shown >= most || w->quiet) {
        w->left_out++;
    } else {
        erase_progress(w);
        if (w->json)
            hf_watch_violation_write(v, &words, &w->out);
        else
            hf_watch_violation_print(v, &words, &w->out);
        /* at once */
        if (hf_out_flush(&w->out, &ignored) != HF_OK)
            return false;
        w->shown++;
    }
    if (!w->set->stop)
        return true;
    (void)snprintf(w->stopped, sizeof w->stopped, "at the first violation");
    atomic_store(&w->enough, true);
    return false;
}

static void keep_first(void *user, hf_watcher *watcher, hf_watch_complaint c,
                       const hf_event *e)
{
    hf_watching *w = user;

    (void)watcher;
    /* late by its own client's clock (pipeline.h), not by others' */
    if (c == HF_COMPLAINT_LATE && e->kind != HF_EVENT_SCAN && e->extra > 0)
        c = HF_COMPLAINT_OUT_OF_ORDER;
    if (!w->first.is_there)
        w->first = (hf_first_complaint){true, c, e->txn, e->before, e->after};
}

static void show(hf_watching *w, const hf_watcher_stats *s)
{
    uint64_t now = hf_clock_ns();
    double seconds = (double)(now - w->last_tick_ns) / 1e9;
    char line[200], held[32];

    if (seconds > 0.05)
        w->rate = (double)(s->watch.events - w->last_events) / seconds;
    w->last_events = s->watch.events;
    w->last_tick_ns = now;
    (void)snprintf(held, sizeof held, "%.0f MiB",
                   (double)hf_memory_held() / 1048576);
    (void)snprintf(line, sizeof line,
                   "%.0f events/s, %llu transactions, %.1f s behind, %llu "
                   "violations, %s",
                   w->rate, (unsigned long long)s->watch.transactions,
                   (double)s->pipeline.lag_ns / 1e9,
                   (unsigned long long)s->watch.violations, held);
    hf_progress_update(&w->cli->progress, line, 0, 0);
}

static void note_stalls(hf_watching *w, const hf_watcher_stats *s)
{
    if (s->pipeline.stalls == w->stalls)
        return;
    w->stalls = s->pipeline.stalls;
    erase_progress(w);
    hf_cli_note(w->cli,
                "a client is silent: the others are judged without it (%u of "
                "%u now)",
                s->pipeline.passed, s->pipeline.clients);
}

static bool tick(void *user, hf_watcher *watcher)
{
    hf_watching *w = user;
    hf_watcher_stats s;

    if (!w->alone)
        return true;
    if (w->cli->progress.wanted || w->live) {
        hf_watcher_look(watcher, &s);
        note_stalls(w, &s);
        show(w, &s);
    }
    if (!hf_budget_look(&w->cli->budget))
        return true;
    (void)snprintf(w->stopped, sizeof w->stopped, "%s",
                   hf_budget_reason(&w->cli->budget));
    return false;
}

/* A finished file comes as fast as it is read: who reads judges, too, when he
 * is ahead (unless it is to be one thread), and where there is a core for it
 * beside these two so does a third.  Else one keeps up with any database. */
static unsigned threads_of(const hf_watching *w, bool live)
{
    if (w->set->threads.given)
        return (unsigned)w->set->threads.value;
    return w->alone && !live && hf_threads_available() > 2 ? 2 : 1;
}

void hf_watching_open(hf_watching *w, bool live, bool sessions_return,
                      uint64_t slack_ns)
{
    double stall = w->set->stall > 0 ? w->set->stall : DEFAULT_STALL;
    hf_watcher_options o = {
        .watch = {.profile = w->profile,
                  .threads = threads_of(w, live),
                  .clock_error = nanoseconds(w->set->clock_error)},
        .pipeline = {.stall_ns = live ? nanoseconds(stall) : 0,
                     .ahead = w->alone && !live ? FILE_AHEAD : 0,
                     .directory = getenv("TMPDIR")},
        .starts_empty = w->is_ours || w->set->initial == 1,
        .is_unknown = w->set->initial == 2,
        .one_level = w->is_ours,
        .source_helps = w->alone && !live &&
                        (w->set->threads.given ? w->set->threads.value > 1
                                               : hf_threads_available() > 1),
        .slack_ns = slack_ns,
        .sessions_return = sessions_return,
        .violation = print,
        .complaint = keep_first,
        .tick = tick,
        .user = w};

    w->live = live;
    hf_cli_flush(w->cli);
    hf_out_init_fd(&w->out, STDOUT_FILENO);
    w->watcher = hf_watcher_new(&o);
    w->started_ns = w->last_tick_ns = hf_clock_ns();
    w->started_cpu_ns = hf_clock_cpu_ns();
}

void hf_watching_consume(hf_watching *w)
{
    hf_watcher_consume(w->watcher);
    hf_progress_erase(&w->cli->progress);
}

static void *consume(void *user)
{
    hf_watching *w = user;

    hf_watcher_consume(w->watcher);
    return NULL;
}

hf_status hf_watching_spawn(hf_watching *w, hf_error *err)
{
    if (pthread_create(&w->thread, NULL, consume, w) != 0)
        return hf_fail(err, HF_ERR_IO, "could not start a thread");
    w->has_thread = true;
    return HF_OK;
}

void hf_watching_join(hf_watching *w)
{
    if (w->has_thread)
        pthread_join(w->thread, NULL);
    w->has_thread = false;
}

int hf_watching_end(hf_watching *w)
{
    hf_watcher_stats s;
    hf_watch_ending e = {.profile = w->profile,
                         .stats = &s,
                         .stopped = w->stopped[0] ? w->stopped : NULL,
                         .bad_lines = w->bad_lines,
                         .level = w->level,
                         .first = w->first};
    hf_error err;

    hf_watcher_look(w->watcher, &s);
    e.seconds = (double)(hf_clock_ns() - w->started_ns) / 1e9;
    e.cpu_seconds = (double)(hf_clock_cpu_ns() - w->started_cpu_ns) / 1e9;
    if (!w->quiet && w->left_out > 0 && !w->json)
        hf_out_format(&w->out, "%llu more violations are not shown (--max)\n\n",
                      (unsigned long long)w->left_out);
    if (w->json)
        hf_watch_ending_write(&e, &w->out);
    else if (!w->quiet)
        hf_watch_ending_print(&e, w->color, &w->out);
    if (hf_out_flush(&w->out, &err) != HF_OK)
        return HF_EXIT_BAD;
    return hf_exit_of_verdict(hf_watch_ending_verdict(&e));
}

void hf_watching_close(hf_watching *w)
{
    if (w->watcher)
        hf_out_release(&w->out);
    hf_watcher_free(w->watcher);
    hf_profiles_free(w->own);
    w->watcher = NULL;
    w->own = NULL;
}
