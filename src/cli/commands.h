/* commands.h: the table rows of all commands; main.c lists them. */
#ifndef HF_COMMANDS_H
#define HF_COMMANDS_H

#include "cli/options.h"

extern const hf_command hf_command_test;
extern const hf_command hf_command_run;
extern const hf_command hf_command_check;
extern const hf_command hf_command_watch;
extern const hf_command hf_command_profiles;
extern const hf_command hf_command_verify;
extern const hf_command hf_command_predict;
extern const hf_command hf_command_convert;
extern const hf_command hf_command_stats;
extern const hf_command hf_command_gen;
extern const hf_command hf_command_levels;
extern const hf_command hf_command_anomalies;
extern const hf_command hf_command_explain;
extern const hf_command hf_command_help;

/* All of them, in the order of help, ended by NULL. */
extern const hf_command *const hf_commands[];
const hf_command *hf_command_find(const char *name);
const char *hf_choose_command(unsigned index);

#endif
