/* cmd_watch.c: holdfast watch. */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "cli/limits.h"
#include "cli/watch_source.h"

/* A session nobody has heard of may be so far behind the newest event. */
#define SLACK_NS 1000000000u
#define HEAP_BYTES ((size_t)64 << 20) /* on huge pages */

typedef struct settings {
    hf_watching_settings watching;
    const char *from, *listen;
    bool json, follow, once, quiet;
    hf_limits limits;
    unsigned color;
} settings;

static hf_status check_usage(const settings *set, const hf_operands *operands,
                             hf_error *err)
{
    if (set->listen && operands->n > 0)
        return hf_fail(err, HF_ERR_USAGE,
                       "--listen takes the events from a socket: name no file");
    if (set->listen && set->follow)
        return hf_fail(err, HF_ERR_USAGE,
                       "--listen and --follow exclude each other");
    if (!set->listen && operands->n == 0)
        return hf_fail(err, HF_ERR_USAGE,
                       "name a file, or a socket with --listen");
    if (set->once && !set->listen)
        return hf_fail(err, HF_ERR_USAGE, "--once is for --listen");
    return HF_OK;
}

/* Nobody has said which database it is, and nothing follows without. */
static hf_status no_profile(const hf_source_about *about, char *hint,
                            size_t size, hf_error *err)
{
    (void)snprintf(hint, size, "\"holdfast profiles\" lists them");
    if (!about->is_known)
        return hf_fail(err, HF_ERR_USAGE,
                       "which database is it, at which level? what is still to "
                       "come does not say: name a profile with "
                       "--profile");
    if (about->level >= HF_LEVEL_COUNT)
        return hf_fail(err, HF_ERR_USAGE,
                       "which database is it, at which level? the history "
                       "names neither: name a profile with --profile");
    return hf_fail(err, HF_ERR_USAGE,
                   "which database is it? from %s alone no rule follows (from "
                   "strict-serializable and strict-snapshot-isolation one "
                   "does): name a profile with --profile",
                   hf_level_get((hf_level)about->level)->name);
}

/* The profile that was named, else the one of the database that `holdfast run`
 * has recorded, else what follows from the level itself. */
static hf_status find_profile(hf_watching *w, const hf_source_about *about,
                              char *hint, size_t size, hf_error *err)
{
    const hf_profile *p = hf_watching_profile_of_name(about->name);
    char quoted[HF_PIECES_NAME];

    w->level = about->level;
    if (!w->set->profile && p && !w->quiet)
        hf_cli_note(
            w->cli, "recorded as \"%s\": judged by --profile \"%s/%s\"",
            hf_quote(quoted, sizeof quoted, about->name, strlen(about->name)),
            p->database, p->level);
    if (!p)
        p = hf_watching_profile_of_level(about->level);
    if (!w->set->profile && !p)
        return no_profile(about, hint, size, err);
    return hf_watching_find(w, p, hint, size, err);
}

/* The file or socket, then the profile, then the watcher. */
static hf_status open_all(hf_watch_source *s, const settings *set, char *hint,
                          size_t size, hf_error *err)
{
    hf_watching *w = s->watching;
    hf_source_about about = {.level = HF_LEVEL_UNSET};
    hf_status st = HF_OK;

    st = hf_cli_format(set->from, false, &s->format, hint, size, err);
    if (st == HF_OK && !set->listen)
        st = hf_source_open(s, &about, err);
    if (st == HF_OK)
        st = find_profile(w, &about, hint, size, err);
    if (st == HF_OK && set->listen)
        st = hf_source_listen(s, err);
    if (st != HF_OK)
        return st;
    hf_heap_prepare(HEAP_BYTES);
    hf_watching_open(w, set->listen || s->follow, s->follow, SLACK_NS);
    if (!set->listen)
        return hf_source_prepare(s, err);
    hf_watcher_begin(w->watcher, HF_SESSIONS_LIVE);
    return HF_OK;
}

/* What a source that lives as long as it likes is ended by is no limit. */
static void forgive_interrupt(hf_watching *w, bool live)
{
    if (live && hf_cli_interrupted())
        w->stopped[0] = '\0';
}

static int finish(hf_watch_source *s, bool live)
{
    hf_watching *w = s->watching;
    hf_error err;
    hf_status st = hf_source_end(s, &err);

    forgive_interrupt(w, live);
    w->bad_lines = s->hub.bad_lines;
    if (w->bad_lines > 0)
        hf_cli_note(w->cli, "a line could not be read: %s",
                    s->hub.first_bad.text);
    if (st != HF_OK) {
        if (!w->stopped[0]) /* what was read is not all there is */
            (void)snprintf(w->stopped, sizeof w->stopped,
                           "the rest could not be read");
        (void)hf_watching_end(w);
        return hf_cli_fail(w->cli, st, &err, NULL);
    }
    return hf_watching_end(w);
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const settings *set = user;
    hf_watching w = {.cli = cli,
                     .set = &set->watching,
                     .json = set->json,
                     .quiet = set->quiet,
                     .color = hf_cli_color(set->color),
                     .alone = true};
    hf_watch_source s = {.watching = &w,
                         .fd = -1,
                         .listener = -1,
                         .follow = set->follow,
                         .once = set->once,
                         .path = set->listen       ? set->listen
                                 : operands->n > 0 ? operands->at[0]
                                                   : NULL};
    char hint[160] = "";
    hf_error err;
    hf_status st = check_usage(set, operands, &err);
    int status;

    if (st == HF_OK) {
        hf_limits_catch_end();
        hf_cli_start(cli, &set->limits, NULL, NULL);
        st = open_all(&s, set, hint, sizeof hint, &err);
    }
    if (st == HF_OK)
        st = hf_source_start(&s, &err);
    if (st == HF_OK) {
        hf_progress_begin(&cli->progress, "watching");
        hf_watching_consume(&w);
        status = finish(&s, set->listen || s.follow);
    } else {
        status = hf_cli_fail(cli, st, &err, hint);
    }
    hf_cli_stop(cli);
    hf_source_close(&s);
    hf_watching_close(&w);
    return status;
}

static const hf_option options[] = {
    HF_WATCHING_PROFILE_ROWS(settings),
    {.name = "threads",
     .argument = "N",
     .type = HF_OPTION_NUMBER,
     .offset = offsetof(settings, watching.threads),
     .min = 1,
     .max = 64,
     .summary = "threads that judge, beside the one that reads",
     .detail =
         "The violations are the same, in the same order. Without it, one, "
         "and two for a finished file if there are three cores or more. The "
         "one that reads a finished file judges, too, when it is ahead, "
         "unless this is 1.",
     .example = "--threads 2"},
    {.name = "max",
     .letter = 'm',
     .argument = "N",
     .type = HF_OPTION_NUMBER,
     .offset = offsetof(settings, watching.max),
     .min = 1,
     .max = UINT32_MAX,
     .summary = "print at most N violations (default: 10; with --json, all)",
     .detail = "All are counted.",
     .example = "--max 100"},
    {.name = "initial",
     .argument = "WHAT",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(settings, watching.initial),
     .choices = hf_choose_initial,
     .summary = "rows that nobody announced were absent, or are unknown",
     .detail = "Without it they are unknown until a first value is announced, "
               "and absent from then on. Of a row that is unknown the first "
               "read shows what it was.",
     .example = "--initial absent"},
    {.name = "listen",
     .argument = "SOCKET",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(settings, listen),
     .summary = "take events from other programs, at a local socket",
     .detail = "One line of JSON for each transaction or part of one, any "
               "number of connections; docs/watch.md has the protocol. The "
               "socket is made with permissions 0600. Ends with Ctrl-C.",
     .example = "--listen /run/user/1000/holdfast",
     .completes_files = true},
    {.name = "once",
     .type = HF_OPTION_FLAG,
     .offset = offsetof(settings, once),
     .summary = "with --listen: end when the last connection is closed",
     .example = "--once"},
    {.name = "follow",
     .letter = 'F',
     .type = HF_OPTION_FLAG,
     .offset = offsetof(settings, follow),
     .summary = "the file still grows: wait for more",
     .detail = "Until its writer ends it (the binary form has an end mark) or "
               "Ctrl-C.",
     .example = "--follow"},
    {.name = "stall",
     .argument = "TIME",
     .type = HF_OPTION_SECONDS,
     .offset = offsetof(settings, watching.stall),
     .summary = "pass by a client after so much silence (default: 5s)",
     .detail = "With --listen and --follow. Others are then judged without it; "
               "events that it sends later, of times that were judged, are "
               "counted and not judged.",
     .example = "--stall 30s"},
    HF_ROW_FROM(settings),
    HF_ROW_JSON(settings),
    HF_ROW_TIME(settings),
    HF_ROW_COLOR(settings),
    {.name = "quiet",
     .letter = 'q',
     .type = HF_OPTION_FLAG,
     .offset = offsetof(settings, quiet),
     .summary = "print nothing, only exit with the verdict",
     .example = "-q"},
    {0},
};

static const hf_example examples[] = {
    {"holdfast watch --profile postgresql/serializable run.hf",
     "A recorded run, judged by what the database's mechanisms allow"},
    {"holdfast run --db postgres -o run.hf & holdfast watch --follow --profile "
     "postgresql run.hf",
     "While it is recorded; \"holdfast run --watch\" does both in one"},
    {"holdfast watch --listen /tmp/events --profile mysql/repeatable-read",
     "Events of your own program"},
    {0},
};

const hf_command hf_command_watch = {
    .name = "watch",
    .operands = "[FILE]",
    .min_operands = 0,
    .max_operands = 1,
    .summary = "judge while the database runs, by its mechanisms",
    .description =
        "Mirrors the mechanisms by which a database keeps a level (consistent "
        "read, mutual exclusion, first updater wins, a serialization "
        "certifier; \"holdfast profiles\" lists which of them it uses) on what "
        "clients saw, with the times before and after each call. A violation "
        "is printed at once, and only if no choice of instants inside the "
        "intervals explains what was seen. Memory does not grow with the "
        "length of the run.\n"
        "\n"
        "FILE is any history with times; \"-\" is standard input. Without "
        "--profile a file that \"holdfast run\" recorded is judged by the "
        "profile of its database and level, and one whose transactions name "
        "strict-serializable or strict-snapshot-isolation by what follows "
        "from that level itself.",
    .options = options,
    .examples = examples,
    .status = "0 no violation, 1 violations, 2 bad usage or bad input, 3 no "
              "violation, but not all of it could be judged",
    .settings_size = sizeof(settings),
    .run = run,
};
