/* cmd_help.c: holdfast help. */
#include "cli/commands.h"

#include <stdio.h>

#include "base/error.h"
#include "cli/common.h"
#include "cli/help.h"

typedef struct settings {
    bool man;
    unsigned completion;
} settings;

static int no_command(hf_cli *cli, const char *name)
{
    const char *near = hf_nearest(name, hf_choose_command);
    char hint[100], quoted[64];
    hf_error err;

    if (near)
        (void)snprintf(hint, sizeof hint, "did you mean \"%s\"?", near);
    else
        (void)snprintf(hint, sizeof hint,
                       "\"holdfast help\" lists the commands");
    (void)hf_fail(&err, HF_ERR_USAGE, "unknown command \"%s\"",
                  hf_quote(quoted, sizeof quoted, name, strlen(name)));
    return hf_cli_fail(cli, HF_ERR_USAGE, &err, hint);
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const settings *set = user;
    const hf_command *command = NULL;

    if (operands->n > 0) {
        command = hf_command_find(operands->at[0]);
        if (!command)
            return no_command(cli, operands->at[0]);
    }
    if (set->man)
        hf_manual_write(cli->commands, &cli->out);
    else if (set->completion)
        hf_completion_write(cli->commands, set->completion - 1, &cli->out);
    else if (command)
        hf_help_long(command, &cli->out);
    else
        hf_help_overview(cli->commands, &cli->out);
    return HF_EXIT_VALID;
}

static const hf_option options[] = {
    {.name = "man",
     .type = HF_OPTION_FLAG,
     .offset = offsetof(settings, man),
     .summary = "print the man page holdfast(1), in roff",
     .example = "--man"},
    {.name = "completion",
     .argument = "SHELL",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(settings, completion),
     .choices = hf_completion_shell,
     .summary = "print a completion script: bash, zsh or fish",
     .example = "--completion bash"},
    {0},
};

static const hf_example examples[] = {
    {"holdfast help check", "All about one command"},
    {"holdfast help --man | man -l -", "Read the man page without installing"},
    {"source <(holdfast help --completion bash)", "Completion in this shell"},
    {0},
};

const hf_command hf_command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .min_operands = 0,
    .max_operands = 1,
    .operand_choices = hf_choose_command,
    .summary = "show help, the man page or shell completions",
    .description = "Without an argument lists the commands; with one prints "
                   "what \"holdfast COMMAND --help\" prints.",
    .options = options,
    .examples = examples,
    .status = "0 done, 2 bad usage",
    .settings_size = sizeof(settings),
    .run = run,
};
