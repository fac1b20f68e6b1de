/* watching.h: what `watch`, `run --watch` and `test --watch` share: the
 * options, the profile, printing of violations, the end.
 */
#ifndef HF_CLI_WATCHING_H
#define HF_CLI_WATCHING_H

#include <pthread.h>
#include <stdatomic.h>

#include "cli/common.h"
#include "report/watch.h"
#include "watch/watcher.h"

typedef struct hf_watching_settings {
    const char *profile;
    double clock_error, stall;
    hf_number threads, max;
    bool stop;
    unsigned initial; /* 1 absent, 2 unknown */
} hf_watching_settings;

typedef struct hf_watching {
    hf_cli *cli;
    const hf_watching_settings *set;
    bool json, color, quiet;
    const hf_profile *profile;
    hf_profiles *own; /* of the user's file */
    uint8_t level;    /* that the history names, or HF_LEVEL_UNSET */
    hf_watcher *watcher;
    hf_out out;         /* standard output: of the thread that consumes */
    atomic_bool enough; /* --stop-on-violation: nobody needs more */
    char stopped[120];  /* why before the end; "": it was not */
    uint64_t shown, left_out;
    uint64_t started_ns, started_cpu_ns, bad_lines, last_events, last_tick_ns;
    double rate;  /* events a second, lately */
    bool alone;   /* the progress line is ours */
    bool live;    /* clients may stall */
    bool is_ours; /* the tables, and all that is done with them */
    uint64_t stalls;
    hf_first_complaint first;
    pthread_t thread;
    bool has_thread;
} hf_watching;

/* The profile that was asked for, else `otherwise`, which is there then. */
HF_MUST_USE hf_status hf_watching_find(hf_watching *w,
                                       const hf_profile *otherwise, char *hint,
                                       size_t size, hf_error *err);
/* Makes the watcher.  live: clients may stall. */
void hf_watching_open(hf_watching *w, bool live, bool sessions_return,
                      uint64_t slack_ns);
/* Consumes in this thread / in another one until hf_watching_join(). */
void hf_watching_consume(hf_watching *w);
HF_MUST_USE hf_status hf_watching_spawn(hf_watching *w, hf_error *err);
void hf_watching_join(hf_watching *w);
/* Prints the end; returns the exit status. */
int hf_watching_end(hf_watching *w);
void hf_watching_close(hf_watching *w);

const char *hf_choose_profile(unsigned index);
const char *hf_choose_initial(unsigned index);
/* A user's own file. */
HF_MUST_USE hf_status hf_watching_read_profiles(const char *path,
                                                hf_profiles **ret,
                                                hf_error *err);

/* The profile of a database of src/db at a level of its own; of one of our
 * levels, by its definition; of the store at one of them.  NULL: none. */
const hf_profile *hf_watching_profile_of(const char *driver,
                                         const char *variant,
                                         const char *isolation);
const hf_profile *hf_watching_profile_of_level(unsigned level);
const hf_profile *hf_watching_profile_of_store(unsigned level);
/* Of a history that `holdfast run` has recorded, by its name. */
const hf_profile *hf_watching_profile_of_name(const char *name);

#define HF_WATCHING_PROFILE_ROWS(SETTINGS)                                     \
    {.name = "profile",                                                        \
     .argument = "NAME",                                                       \
     .type = HF_OPTION_TEXT,                                                   \
     .offset = offsetof(SETTINGS, watching.profile),                           \
     .choices = hf_choose_profile,                                             \
     .summary = "the database and level whose mechanisms are mirrored",        \
     .detail = "DATABASE/LEVEL as \"holdfast profiles\" lists them, DATABASE " \
               "alone for its default level, or FILE or FILE:DATABASE/LEVEL "  \
               "for profiles of your own.",                                    \
     .example = "--profile postgresql/repeatable-read"},                       \
        {.name = "clock-error",                                                \
         .argument = "TIME",                                                   \
         .type = HF_OPTION_SECONDS,                                            \
         .offset = offsetof(SETTINGS, watching.clock_error),                   \
         .summary = "by how much clocks of two clients may differ",            \
         .detail = "Added to every interval. One machine has one clock, and "  \
                   "0 is right.",                                              \
         .example = "--clock-error 5ms"},                                      \
    {                                                                          \
        .name = "stop-on-violation", .type = HF_OPTION_FLAG,                   \
        .offset = offsetof(SETTINGS, watching.stop),                           \
        .summary = "stop at the first violation",                              \
        .example = "--stop-on-violation"                                       \
    }

#endif
