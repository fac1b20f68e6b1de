/* cmd_convert.c: holdfast convert. */
#include "cli/commands.h"

#include <stdio.h>

#include "base/error.h"
#include "cli/save.h"
#include "history/history.h"

typedef struct settings {
    const char *from, *to, *output;
    bool list;
    hf_limits limits;
} settings;

static int list_formats(hf_cli *cli)
{
    const hf_format *f;

    hf_out_format(&cli->out, "%-20s %-6s %-6s %-9s %s\n", "format", "read",
                  "write", "ending", "what it is");
    for (unsigned i = 0; (f = hf_format_at(i)) != NULL; i++)
        hf_out_format(&cli->out, "%-20s %-6s %-6s %-9s %s\n", f->name,
                      f->import || f->load ? "yes" : "no",
                      f->export_ || f->export_directory ? "yes" : "no",
                      f->extension && f->extension[0] ? f->extension : "-",
                      f->summary);
    return HF_EXIT_VALID;
}

static hf_status convert(hf_cli *cli, const settings *set, const char *path,
                         char *hint, size_t hint_size, hf_error *err)
{
    const char *output = set->output ? set->output : "-";
    const hf_format *from, *to;
    hf_history *h = NULL;
    hf_status st = hf_cli_format(set->from, false, &from, hint, hint_size, err);

    if (st == HF_OK)
        st = hf_cli_output_format(set->to, output, &to, hint, hint_size, err);
    if (st != HF_OK)
        return st;
    hf_cli_start(cli, &set->limits, NULL, NULL);
    st = hf_cli_load(cli, path, from, &h, err);
    if (st == HF_OK)
        st = hf_cli_save(cli, h, output, to, err);
    if (st == HF_OK && h->n_skipped > 0)
        hf_cli_note(cli, "%llu %s of the input no operations and left out",
                    (unsigned long long)h->n_skipped,
                    hf_plural(h->n_skipped, "record is", "records are"));
    hf_cli_stop(cli);
    hf_history_free(h);
    return st;
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const settings *set = user;
    char hint[240] = "";
    hf_error err;
    hf_status st;

    if (set->list)
        return list_formats(cli);
    if (operands->n == 0) {
        (void)hf_fail(&err, HF_ERR_USAGE, "convert needs FILE");
        return hf_cli_fail(cli, HF_ERR_USAGE, &err,
                           "usage: holdfast convert [options] FILE");
    }
    st = convert(cli, set, operands->at[0], hint, sizeof hint, &err);
    if (st != HF_OK)
        return hf_cli_fail(cli, st, &err, hint);
    return HF_EXIT_VALID;
}

static const hf_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "OUT",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(settings, output),
     .summary = "where to write (default: standard output)",
     .detail = "A name that ends in .gz or .zst is compressed. The file "
               "appears when it is complete.",
     .example = "-o run.hf",
     .completes_files = true},
    {.name = "to",
     .letter = 't',
     .argument = "FORMAT",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(settings, to),
     .choices = hf_choose_output_format,
     .summary = "the format to write (default: by the ending of OUT)",
     .detail = "Standard output is in the native text form, jsonl, unless "
               "told otherwise.",
     .example = "--to binary"},
    HF_ROW_FROM(settings),
    {.name = "list",
     .type = HF_OPTION_FLAG,
     .offset = offsetof(settings, list),
     .summary = "list the formats and stop",
     .example = "--list"},
    HF_ROW_TIME(settings),
    HF_ROW_MEMORY(settings),
    {0},
};

static const hf_example examples[] = {
    {"holdfast convert history.edn -o history.jsonl",
     "From Jepsen's form to the native text form"},
    {"holdfast convert run.jsonl -o run.hf",
     "To the native binary form, which loads many times faster"},
    {"holdfast convert history.txt | less", "Look at any format as JSON Lines"},
    {0},
};

const hf_command hf_command_convert = {
    .name = "convert",
    .operands = "FILE",
    .min_operands = 0,
    .max_operands = 1,
    .summary = "rewrite a history in another format",
    .description =
        "Reads a history in any known format, found by content, and writes "
        "it in another. What happened (operations, values, outcomes, who ran "
        "it) is never dropped silently: what the other format cannot say is "
        "an error that names it. What only adds evidence (times, the "
        "certificate, labels) is left out where the format has no place for "
        "it; the native forms, jsonl and binary, keep all of it.\n"
        "\n"
        "FILE may be - for standard input, and compressed with gzip or zstd.",
    .options = options,
    .examples = examples,
    .status = "0 done, 2 bad usage, bad input or a failed write, 3 a limit "
              "was reached",
    .settings_size = sizeof(settings),
    .run = run,
};
