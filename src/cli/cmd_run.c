/* cmd_run.c: holdfast run. */
#include "cli/commands.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"
#include "cli/running.h"

#define DEFAULT_SECONDS 10.0

typedef struct settings {
    hf_running_settings running; /* first */
    const char *output;
    bool json, force, quiet;
} settings;

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n > m && strcmp(name + n - m, end) == 0;
}

/* Before a server is started. */
static hf_status check_output(const settings *set, hf_error *err)
{
    const char *path = set->output;
    char quoted[120];
    struct stat st;

    if (!path)
        return hf_fail(err, HF_ERR_USAGE,
                       "no output: name a file with -o FILE");
    if (!ends_in(path, ".hf") && !ends_in(path, ".jsonl"))
        return hf_fail(err, HF_ERR_USAGE,
                       "the output \"%s\" ends neither in .hf (binary) nor in "
                       ".jsonl (text)",
                       hf_quote(quoted, sizeof quoted, path, strlen(path)));
    if (!set->force && stat(path, &st) == 0)
        return hf_fail(err, HF_ERR_IO, "history \"%s\" is there already",
                       hf_quote(quoted, sizeof quoted, path, strlen(path)));
    return HF_OK;
}

static int end(hf_running *r, const settings *set, hf_status st, hf_error *err)
{
    hf_out *out = &r->cli->out;
    bool some = st == HF_OK || r->report.recorded;

    if (some && set->json)
        hf_running_json(r, set->output, out);
    else if (some && !set->quiet)
        hf_running_print(r, out);
    if (st == HF_OK && hf_running_unchecked(r) && !hf_cli_interrupted())
        hf_cli_note(r->cli, "the invariants could not be looked at: %s",
                    hf_running_unchecked(r));
    if (st == HF_OK)
        return hf_running_watched(r);
    if (r->report.recorded)
        hf_error_context(err, "the history so far is in \"%.100s\"",
                         set->output);
    (void)hf_cli_fail(r->cli, st, err, NULL);
    return HF_EXIT_BAD;
}

static int list(hf_cli *cli, const settings *set)
{
    const char *other = set->output  ? "output"
                        : set->json  ? "json"
                        : set->force ? "force"
                        : set->quiet ? "quiet"
                                     : NULL;
    hf_error err;

    if (!other)
        return hf_running_list(cli, &set->running);
    (void)hf_fail(&err, HF_ERR_USAGE,
                  "option \"--%s\" has no effect with \"--list\"", other);
    return hf_cli_fail(cli, HF_ERR_USAGE, &err, NULL);
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const settings *set = user;
    hf_running r = {.cli = cli,
                    .set = &set->running,
                    .quiet = set->quiet,
                    .json = set->json,
                    .color = hf_cli_color(0)};
    char hint[160] = "";
    hf_error err;
    hf_status st;
    int status;

    (void)operands;
    if (set->running.list)
        return list(cli, set);
    st = check_output(set, &err);
    if (st == HF_OK)
        st = hf_running_open(&r, hint, sizeof hint, &err);
    if (st != HF_OK)
        return hf_cli_fail(cli, st, &err, hint);
    st = hf_running_run(
        &r,
        &(hf_running_output){.path = set->output,
                             .text = ends_in(set->output, ".jsonl"),
                             .replace = set->force,
                             .seconds = DEFAULT_SECONDS},
        &err);
    status = end(&r, set, st, &err);
    hf_running_close(&r);
    return status;
}

static const hf_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(settings, output),
     .summary = "where to write the history",
     .detail = "NAME.hf is the binary form, written as it goes on: what was "
               "recorded is readable whatever happens to this program. "
               "NAME.jsonl is the text form.",
     .example = "-o run.hf",
     .completes_files = true},
    HF_RUNNING_ROWS,
    {.name = "force",
     .type = HF_OPTION_FLAG,
     .offset = offsetof(settings, force),
     .summary = "replace the output if it is there",
     .example = "--force"},
    HF_ROW_JSON(settings),
    {.name = "quiet",
     .letter = 'q',
     .type = HF_OPTION_FLAG,
     .offset = offsetof(settings, quiet),
     .summary = "print nothing unless it fails",
     .example = "-q"},
    {0},
};

static const hf_example examples[] = {
    {"holdfast run --workload smallbank -o run.hf && holdfast check run.hf",
     "Ten seconds of SmallBank on SQLite, and the verdict"},
    {"holdfast run --db postgres --isolation repeatable-read -w write-skew -n "
     "5000 -o skew.hf",
     "On a private PostgreSQL that is gone afterwards"},
    {"holdfast run --list --workload tpcc",
     "The transactions and options of a workload"},
    {0},
};

const hf_command hf_command_run = {
    .name = "run",
    .operands = "",
    .min_operands = 0,
    .max_operands = 0,
    .summary = "run a workload on a database and record the history",
    .description =
        "Starts or connects to a database, makes the tables of a workload in "
        "a schema of its own, loads them, runs clients, and writes what they "
        "did and saw: every transaction with its outcome, unknown if no "
        "answer to the commit came; every read traced to its write by a tag "
        "in the row; times before and after every call. A transaction that "
        "the database aborted is tried again as a new one.\n"
        "\n"
        "Ctrl-C ends the run in good order. If the database fails, the "
        "history so far is kept.",
    .options = options,
    .examples = examples,
    .status = "0 done, 2 bad usage, or the database or the output failed; with "
              "--watch also 1 violations, 3 not all could be judged",
    .settings_size = sizeof(settings),
    .run = run,
};
