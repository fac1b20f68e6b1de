/* common.h: what the commands share.
 *
 * One hf_cli lives in main() and is handed to the command.  It holds standard
 * output, buffered; the budget of the work under way; and the progress line.
 */
#ifndef HF_CLI_COMMON_H
#define HF_CLI_COMMON_H

#include "base/budget.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "formats/format.h"

/* Exit statuses.  With several answers the worst wins: hf_exit_worse(). */
#define HF_EXIT_VALID 0
#define HF_EXIT_INVALID 1
#define HF_EXIT_BAD 2
#define HF_EXIT_UNKNOWN 3

struct hf_cli {
    hf_out out; /* standard output */
    hf_budget budget;
    hf_progress progress;
    const hf_command *const *commands; /* ended by NULL */
};

/* Sets up output, signals and progress / flushes and gives back.  The end
 * returns the exit status: `status`, or HF_EXIT_BAD if standard output could
 * not be written.  A reader that went away is no failure. */
void hf_cli_begin(hf_cli *cli, const hf_command *const *commands);
int hf_cli_end(hf_cli *cli, int status);

int hf_exit_worse(int a, int b);
/* 0, 2, or 3 for a limit. */
int hf_exit_of_status(hf_status status);

/* Prints "holdfast: TEXT", then "hint: HINT" unless it is NULL or empty, on
 * standard error; returns hf_exit_of_status(). */
int hf_cli_fail(hf_cli *cli, hf_status status, const hf_error *err,
                const char *hint);
/* Prints "holdfast: TEXT" on standard error: something worth knowing. */
void hf_cli_note(hf_cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes standard output out, so that it comes before what follows. */
void hf_cli_flush(hf_cli *cli);

/* ---- secrets ------------------------------------------------------------- */

/* The next password at or after `from` in a text that may be an address:
 * "postgres://me:secret@host", "...?password=secret", or libpq's
 * "password=secret".  Returns its length, 0: there is none. */
size_t hf_find_secret(const char *text, size_t from, size_t *ret);

/* ---- limits ------------------------------------------------------------- */

/* Starts the budget of one piece of work, within the seconds and bytes of
 * `limits`.  If the work does not notice in time that its budget is spent,
 * `words` are written to standard output and the program ends with
 * HF_EXIT_UNKNOWN: they are asked for now, for each reason there may be.
 * NULL: the limits are only polled. */
typedef void (*hf_last_words)(const void *user, const char *reason,
                              hf_out *out);
void hf_cli_start(hf_cli *cli, const hf_limits *limits, hf_last_words words,
                  const void *user);
/* Something is known by now: other last words, and the status that goes with
 * them. */
void hf_cli_say_last(const hf_cli *cli, hf_last_words words, const void *user,
                     int status);
/* The work is done: no last words. */
void hf_cli_stop(hf_cli *cli);
/* Was interrupted by the user. */
bool hf_cli_interrupted(void);

/* ---- files -------------------------------------------------------------- */

/* The format called `name` (NULL: *ret is NULL, to be found by content), for
 * reading or for writing. */
HF_MUST_USE hf_status hf_cli_format(const char *name, bool writing,
                                    const hf_format **ret, char *hint,
                                    size_t hint_size, hf_error *err);
/* Loads under the budget of hf_cli_start(), with progress. */
HF_MUST_USE hf_status hf_cli_load(hf_cli *cli, const char *path,
                                  const hf_format *format, hf_history **ret,
                                  hf_error *err);
/* The same, and neither it nor its certificate may contradict itself
 * (history/promises.h, history/certificate.h). */
HF_MUST_USE hf_status hf_cli_load_to_judge(hf_cli *cli, const char *path,
                                           const hf_format *format,
                                           hf_history **ret, hf_error *err);
/* Puts `what`, the file and, if there is one, the line in front of an error
 * about what a history says. */
void hf_cli_place(const char *what, const char *path, hf_error *err);

/* ---- words and choices -------------------------------------------------- */

/* 1 auto, 2 always, 3 never; 0 is auto. */
const char *hf_choose_color(unsigned index);
bool hf_cli_color(unsigned choice);
const char *hf_choose_level(unsigned index);   /* every level, then "auto" */
const char *hf_choose_engine(unsigned index);  /* "auto", then every engine */
const char *hf_choose_dialect(unsigned index); /* in the order of the enum */
const char *hf_choose_input_format(unsigned index);
const char *hf_choose_output_format(unsigned index);

/* "1,234,567" */
const char *hf_grouped(uint64_t n, char *buffer, size_t size);
/* 1 transaction, 2 transactions: the number is not printed. */
const char *hf_plural(uint64_t n, const char *one, const char *many);

/* ---- rows that several tables have -------------------------------------- */

#define HF_ROW_JSON(settings)                                                  \
    {                                                                          \
        .name = "json", .type = HF_OPTION_FLAG,                                \
        .offset = offsetof(settings, json),                                    \
        .summary = "print JSON, one object a line",                            \
        .detail = "Every object has the fields type and schema; docs/json.md " \
                  "describes them.",                                           \
        .example = "--json"                                                    \
    }
#define HF_ROW_FROM(settings)                                                  \
    {                                                                          \
        .name = "from", .letter = 'f', .argument = "FORMAT",                   \
        .type = HF_OPTION_TEXT, .offset = offsetof(settings, from),            \
        .choices = hf_choose_input_format,                                     \
        .summary = "the format of the input (default: found by content)",      \
        .detail = "\"holdfast convert --list\" lists the formats.",            \
        .example = "--from jepsen-edn"                                         \
    }
#define HF_ROW_TIME(settings)                                                  \
    {                                                                          \
        .name = "time", .argument = "TIME", .type = HF_OPTION_SECONDS,         \
        .offset = offsetof(settings, limits.seconds),                          \
        .summary = "stop after this time: 500ms, 10s, 2m, 1h",                 \
        .detail = "Loading counts. What is not decided by then is unknown.",   \
        .example = "--time 30s"                                                \
    }
#define HF_ROW_MEMORY(settings)                                                \
    {                                                                          \
        .name = "memory", .argument = "SIZE", .type = HF_OPTION_BYTES,         \
        .offset = offsetof(settings, limits.bytes),                            \
        .summary = "stop at this much memory: 512M, 2G",                       \
        .detail = "Counts what the whole program holds, the input included. "  \
                  "What is not decided by then is unknown.",                   \
        .example = "--memory 2G"                                               \
    }
#define HF_ROW_COLOR(settings)                                                 \
    {                                                                          \
        .name = "color", .argument = "WHEN", .type = HF_OPTION_CHOICE,         \
        .offset = offsetof(settings, color), .choices = hf_choose_color,       \
        .summary = "colours: auto (on a terminal), always or never",           \
        .detail = "The environment variable NO_COLOR turns auto into never.",  \
        .example = "--color never"                                             \
    }

#endif
