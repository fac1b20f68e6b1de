/* help.h: what the tables say, in words.
 *
 * All of these write into an hf_out and cannot fail.  A table of commands is
 * an array of pointers ended by NULL.
 */
#ifndef HF_HELP_H
#define HF_HELP_H

#include "cli/options.h"

/* Writes text, paragraphs parted by an empty line, in lines of at most
 * HF_HELP_WIDTH columns, each after `indent` blanks.  Lines that begin with a
 * blank are kept as they are. */
#define HF_HELP_WIDTH 79
void hf_wrap(const char *text, unsigned indent, hf_out *out);
/* One paragraph of which the first line has begun: `indent` columns of it are
 * written. */
void hf_wrap_after(const char *text, unsigned indent, hf_out *out);

/* -h: usage and one line for each option. */
void hf_help_short(const hf_command *command, hf_out *out);
/* --help: everything. */
void hf_help_long(const hf_command *command, hf_out *out);
/* "holdfast help": the list of commands. */
void hf_help_overview(const hf_command *const *commands, hf_out *out);

/* holdfast(1), in roff. */
void hf_manual_write(const hf_command *const *commands, hf_out *out);

/* "bash", "zsh", "fish"; NULL after the last. */
const char *hf_completion_shell(unsigned index);
void hf_completion_write(const hf_command *const *commands, unsigned shell,
                         hf_out *out);

/* "-o, --output FILE": how an option is shown.  Returns `buffer`. */
const char *hf_option_shown(const hf_option *o, char *buffer, size_t size);
/* Rows that every command has come last. */
#define HF_EACH_OPTION(command, table, o)                                      \
    for (unsigned table = 0; table < 2; table++)                               \
        for (const hf_option *o = table == 0 ? (command)->options              \
                                             : hf_help_options();              \
             o->name; o++)

#endif
