/* main.c: the program holdfast: which command is meant, and its exit status.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/help.h"
#include "cli/version.h"

const hf_command *const hf_commands[] = {
    &hf_command_test,    &hf_command_run,       &hf_command_check,
    &hf_command_watch,   &hf_command_predict,   &hf_command_verify,
    &hf_command_convert, &hf_command_stats,     &hf_command_gen,
    &hf_command_levels,  &hf_command_anomalies, &hf_command_profiles,
    &hf_command_explain, &hf_command_help,      NULL,
};

const hf_command *hf_command_find(const char *name)
{
    for (const hf_command *const *c = hf_commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

const char *hf_choose_command(unsigned index)
{
    const unsigned n = sizeof hf_commands / sizeof *hf_commands;

    return index + 1 < n ? hf_commands[index]->name : NULL;
}

static int run_command(hf_cli *cli, const hf_command *command, int argc,
                       char **argv)
{
    hf_parsed parsed = {0};
    hf_error err = {0};
    hf_status st = hf_options_parse(command, argc, argv, &parsed, &err);
    int status = HF_EXIT_VALID;

    if (st != HF_OK)
        status = hf_cli_fail(cli, st, &err, parsed.hint);
    else if (parsed.help == HF_HELP_SHORT)
        hf_help_short(command, &cli->out);
    else if (parsed.help == HF_HELP_LONG)
        hf_help_long(command, &cli->out);
    else
        status = command->run(cli, parsed.settings, &parsed.operands);
    hf_parsed_release(&parsed);
    return status;
}

static int no_such_command(hf_cli *cli, const char *name)
{
    const char *near = hf_nearest(name, hf_choose_command);
    const char *what = name[0] == '-' ? "option" : "command";
    char quoted[64], hint[200];
    struct stat st;
    hf_error err;

    if (near)
        (void)snprintf(hint, sizeof hint, "did you mean \"holdfast %s\"?",
                       near);
    else if (stat(name, &st) == 0)
        (void)snprintf(hint, sizeof hint, "to check it: holdfast check %s",
                       hf_quote(quoted, sizeof quoted, name, strlen(name)));
    else
        (void)snprintf(hint, sizeof hint,
                       "\"holdfast help\" lists the commands");
    (void)hf_fail(&err, HF_ERR_USAGE, "unknown %s \"%s\"", what,
                  hf_quote(quoted, sizeof quoted, name, strlen(name)));
    return hf_cli_fail(cli, HF_ERR_USAGE, &err, hint);
}

static int dispatch(hf_cli *cli, int argc, char **argv)
{
    const hf_command *command;
    hf_error err;

    if (argc < 2) {
        (void)hf_fail(&err, HF_ERR_USAGE, "no command given");
        return hf_cli_fail(cli, HF_ERR_USAGE, &err,
                           "\"holdfast help\" lists the commands");
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        hf_version_print(&cli->out);
        return HF_EXIT_VALID;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        hf_help_overview(hf_commands, &cli->out);
        return HF_EXIT_VALID;
    }
    command = hf_command_find(argv[1]);
    if (!command)
        return no_such_command(cli, argv[1]);
    return run_command(cli, command, argc - 2, argv + 2);
}

/* A password in an address is not for everybody who lists processes: the words
 * are copied, and it is blotted out where the system shows it. */
static char **hide_secrets(int argc, char **argv)
{
    char **copy = HF_NEW_ARRAY(char *, (size_t)argc + 1);

    for (int i = 0; i < argc; i++) {
        size_t at, n = hf_find_secret(argv[i], 0, &at);

        copy[i] = argv[i];
        if (n == 0)
            continue;
        copy[i] = hf_alloc(strlen(argv[i]) + 1);
        memcpy(copy[i], argv[i], strlen(argv[i]) + 1);
        for (; n > 0; n = hf_find_secret(argv[i], at + n, &at))
            memset(argv[i] + at, '*', n);
    }
    copy[argc] = NULL;
    return copy;
}

int main(int argc, char **argv)
{
    char **words = hide_secrets(argc, argv);
    hf_cli cli;
    int status;

    hf_cli_begin(&cli, hf_commands);
    status = hf_cli_end(&cli, dispatch(&cli, argc, words));
    for (int i = 0; i < argc; i++)
        if (words[i] != argv[i])
            hf_free(words[i]);
    hf_free(words);
    return status;
}
