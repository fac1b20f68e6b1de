/* help.c: -h, --help and the list of commands. */
#include "cli/help.h"

#include <stdio.h>

/* Options wider than this have their summary on the next line. */
#define OPTION_COLUMN 26

/* ---- words and lines ---------------------------------------------------- */

static void blanks(hf_out *out, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        hf_out_char(out, ' ');
}

/* One paragraph: no newline in it means anything.  Returns its end. */
static const char *wrap_paragraph(const char *text, unsigned indent,
                                  hf_out *out)
{
    unsigned at = indent;

    while (*text && !(text[0] == '\n' && (text[1] == '\n' || text[1] == ' '))) {
        size_t word = strcspn(text, " \n");

        if (at > indent && at + 1 + word > HF_HELP_WIDTH) {
            hf_out_char(out, '\n');
            blanks(out, indent);
            at = indent;
        } else if (at > indent) {
            hf_out_char(out, ' ');
            at++;
        }
        hf_out_bytes(out, text, word);
        at += (unsigned)word;
        text += word;
        if (*text == ' ')
            text++;
        else if (*text == '\n' && text[1] != '\n' && text[1] != ' ')
            text++;
    }
    hf_out_char(out, '\n');
    return text;
}

void hf_wrap(const char *text, unsigned indent, hf_out *out)
{
    while (*text) {
        if (*text == '\n') {
            text++;
            if (*text == '\n') {
                hf_out_char(out, '\n');
                text++;
            }
        } else if (*text == ' ') { /* kept as it is */
            size_t n = strcspn(text, "\n");

            blanks(out, indent);
            hf_out_bytes(out, text, n);
            hf_out_char(out, '\n');
            text += n;
        } else {
            blanks(out, indent);
            text = wrap_paragraph(text, indent, out);
        }
    }
}

void hf_wrap_after(const char *text, unsigned indent, hf_out *out)
{
    (void)wrap_paragraph(text, indent, out);
}

/* ---- parts -------------------------------------------------------------- */

const char *hf_option_shown(const hf_option *o, char *buffer, size_t size)
{
    char letter[6] = "    ";

    if (o->letter)
        (void)snprintf(letter, sizeof letter, "-%c, ", o->letter);
    (void)snprintf(buffer, size, "%s--%s%s%s", letter, o->name,
                   o->argument ? " " : "", o->argument ? o->argument : "");
    return buffer;
}

static void option_line(const hf_option *o, hf_out *out)
{
    char shown[64];
    size_t n = strlen(hf_option_shown(o, shown, sizeof shown));

    blanks(out, 2);
    hf_out_text(out, shown);
    if (n + 4 > OPTION_COLUMN) {
        hf_out_char(out, '\n');
        blanks(out, OPTION_COLUMN);
    } else {
        blanks(out, OPTION_COLUMN - 2 - (unsigned)n);
    }
    hf_wrap_after(o->summary, OPTION_COLUMN, out);
}

static void usage_line(const hf_command *c, hf_out *out)
{
    hf_out_format(out, "usage: holdfast %s [options]%s%s\n", c->name,
                  c->operands[0] ? " " : "", c->operands);
}

static void choice_list(const hf_option *o, hf_out *text)
{
    if (o->type != HF_OPTION_CHOICE)
        return;
    for (unsigned i = 0; o->choices(i); i++)
        hf_out_format(text, "%s%s", i > 0 ? ", " : "one of: ", o->choices(i));
    hf_out_char(text, '\n');
}

/* Detail, choices and example of an option, as text to wrap. */
static void option_more(const hf_option *o, hf_out *out)
{
    if (o->detail)
        hf_wrap(o->detail, 8, out);
    if (o->type == HF_OPTION_CHOICE) {
        hf_out text;

        hf_out_init_memory(&text);
        choice_list(o, &text);
        hf_out_char(&text, '\0');
        hf_wrap(text.at, 8, out);
        hf_out_release(&text);
    }
    if (o->example)
        hf_out_format(out, "        example: %s\n", o->example);
}

/* ---- the texts ---------------------------------------------------------- */

void hf_help_short(const hf_command *command, hf_out *out)
{
    usage_line(command, out);
    hf_out_format(out, "%s\n\n", command->summary);
    HF_EACH_OPTION(command, table, o)
    option_line(o, out);
    if (command->examples[0].line)
        hf_out_format(out, "\nexample: %s\n", command->examples[0].line);
    hf_out_format(out, "more:    holdfast %s --help\n", command->name);
}

void hf_help_long(const hf_command *command, hf_out *out)
{
    hf_out_format(out, "holdfast %s: %s\n\n", command->name, command->summary);
    usage_line(command, out);
    hf_out_char(out, '\n');
    hf_wrap(command->description, 0, out);
    hf_out_text(out, "\noptions:\n");
    HF_EACH_OPTION(command, table, o)
    {
        option_line(o, out);
        option_more(o, out);
    }
    if (command->examples[0].line)
        hf_out_text(out, "\nexamples:\n");
    for (const hf_example *e = command->examples; e->line; e++) {
        hf_out_format(out, "  %s\n", e->line);
        hf_wrap(e->says, 6, out);
    }
    hf_out_text(out, "\nexit status:\n");
    hf_wrap(command->status, 2, out);
}

void hf_help_overview(const hf_command *const *commands, hf_out *out)
{
    hf_out_text(out,
                "holdfast checks recorded database histories against isolation "
                "levels, and\nproves what it says.\n\n"
                "usage: holdfast COMMAND [options] [arguments]\n\n"
                "commands:\n");
    for (; *commands; commands++)
        hf_out_format(out, "  %-12s%s\n", (*commands)->name,
                      (*commands)->summary);
    hf_out_text(
        out,
        "\n"
        "start here:\n"
        "  holdfast gen -n 8 -o run.jsonl       make a small history\n"
        "  holdfast check run.jsonl             is it serializable?\n"
        "  holdfast explain write-skew          what does a finding mean?\n"
        "  holdfast help check                  all about one command\n"
        "\n"
        "Results go to standard output, everything else to standard error.\n"
        "exit status: 0 valid, 1 invalid, 2 bad usage or bad input, 3 "
        "unknown\n");
}
