/* manual.c: the man page holdfast(1), in roff, from the tables. */
#include "cli/help.h"

#include "holdfast.h"

/* Text with what roff would take for itself escaped.  A newline becomes a
 * blank, so that no line of text can begin with a control character. */
static void roff(const char *text, hf_out *out)
{
    for (; *text; text++) {
        switch (*text) {
        case '\\':
            hf_out_text(out, "\\e");
            break;
        case '-':
            hf_out_text(out, "\\-");
            break;
        case '\'':
            hf_out_text(out, "\\(aq");
            break;
        case '`':
            hf_out_text(out, "\\(ga");
            break;
        case '^':
            hf_out_text(out, "\\(ha");
            break;
        case '~':
            hf_out_text(out, "\\(ti");
            break;
        case '\n':
            hf_out_char(out, ' ');
            break;
        default:
            hf_out_char(out, *text);
        }
    }
}

/* A line of text; \& keeps a leading full stop from being a request. */
static void roff_line(const char *text, hf_out *out)
{
    hf_out_text(out, "\\&");
    roff(text, out);
    hf_out_char(out, '\n');
}

static void roff_copy(const char *text, size_t n, hf_out *out)
{
    hf_out line;

    hf_out_init_memory(&line);
    hf_out_bytes(&line, text, n);
    hf_out_char(&line, '\0');
    roff_line(line.at, out);
    hf_out_release(&line);
}

/* Paragraphs; lines that begin with a blank stand as they are. */
static void roff_paragraphs(const char *text, hf_out *out)
{
    bool filled = true;

    while (*text) {
        size_t n = strcspn(text, "\n");

        if (n == 0) {
            hf_out_text(out, filled ? ".PP\n" : ".EE\n.PP\n");
            filled = true;
        } else {
            bool want = text[0] != ' ';

            if (want != filled)
                hf_out_text(out, want ? ".EE\n.PP\n" : ".PP\n.EX\n");
            filled = want;
            roff_copy(text, n, out);
        }
        text += n;
        if (*text == '\n')
            text++;
    }
    if (!filled)
        hf_out_text(out, ".EE\n");
}

static void roff_option(const hf_option *o, hf_out *out)
{
    hf_out_text(out, ".TP\n");
    if (o->letter)
        hf_out_format(out, "\\fB\\-%c\\fR, ", o->letter);
    hf_out_text(out, "\\fB\\-\\-");
    roff(o->name, out);
    hf_out_text(out, "\\fR");
    if (o->argument) {
        hf_out_text(out, " \\fI");
        roff(o->argument, out);
        hf_out_text(out, "\\fR");
    }
    hf_out_char(out, '\n');
    hf_out_text(out, "\\&");
    roff(o->summary, out);
    hf_out_text(out, ".\n");
    if (o->detail)
        roff_line(o->detail, out);
    if (o->type == HF_OPTION_CHOICE) {
        hf_out_text(out, "One of");
        for (unsigned i = 0; o->choices(i); i++) {
            hf_out_text(out, i > 0 ? ", " : " ");
            roff(o->choices(i), out);
        }
        hf_out_text(out, ".\n");
    }
    if (o->example) {
        hf_out_text(out, "Example: \\fB");
        roff(o->example, out);
        hf_out_text(out, "\\fR\n");
    }
}

static void roff_command(const hf_command *c, hf_out *out)
{
    hf_out_format(out, ".SS holdfast %s\n\\fBholdfast %s\\fR [options]",
                  c->name, c->name);
    if (c->operands[0]) {
        hf_out_text(out, " \\fI");
        roff(c->operands, out);
        hf_out_text(out, "\\fR");
    }
    hf_out_text(out, "\n.PP\n");
    roff_paragraphs(c->description, out);
    for (const hf_option *o = c->options; o->name; o++)
        roff_option(o, out);
    hf_out_text(out, ".PP\nExit status: ");
    roff(c->status, out);
    hf_out_char(out, '\n');
}

static void roff_examples(const hf_command *const *commands, hf_out *out)
{
    hf_out_text(out, ".SH EXAMPLES\n");
    for (; *commands; commands++) {
        for (const hf_example *e = (*commands)->examples; e->line; e++) {
            hf_out_text(out, ".TP\n\\fB");
            roff(e->line, out);
            hf_out_text(out, "\\fR\n");
            roff_line(e->says, out);
        }
    }
}

void hf_manual_write(const hf_command *const *commands, hf_out *out)
{
    hf_out_format(out,
                  ".TH HOLDFAST 1 \"\" \"holdfast %s\" "
                  "\"User Commands\"\n",
                  HF_VERSION_STRING);
    hf_out_text(out, ".SH NAME\nholdfast \\- check database histories against "
                     "isolation levels\n.SH SYNOPSIS\n");
    for (const hf_command *const *c = commands; *c; c++) {
        hf_out_format(out, "%s\\fBholdfast %s\\fR [options]",
                      c == commands ? "" : ".br\n", (*c)->name);
        if ((*c)->operands[0]) {
            hf_out_text(out, " \\fI");
            roff((*c)->operands, out);
            hf_out_text(out, "\\fR");
        }
        hf_out_char(out, '\n');
    }
    hf_out_text(out, ".br\n\\fBholdfast \\-\\-version\\fR\n"
                     ".SH DESCRIPTION\n");
    roff_line("holdfast reads the history of a database (which client did "
              "what, and what it was told) and answers whether it could have "
              "happened at an isolation level: valid, invalid or unknown. "
              "Every answer but unknown comes with a witness, a proof that "
              "\"holdfast verify\" checks again with code that shares "
              "nothing with the engines.",
              out);
    hf_out_text(out, ".PP\n");
    roff_line("Each command has --help (long) and -h (short). --opt=value and "
              "--opt value mean the same, short options may be combined, -- "
              "ends options, and - is standard input or output.",
              out);
    hf_out_text(out, ".SH COMMANDS\n");
    for (const hf_command *const *c = commands; *c; c++)
        roff_command(*c, out);
    hf_out_text(out, ".SH EXIT STATUS\n0 valid (or done), 1 invalid, 2 bad "
                     "usage, bad input or a failed write, 3 unknown: a limit "
                     "was reached or the input cannot decide it. With several "
                     "files the worst wins, in the order 2, 1, 3, 0.\n"
                     ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nIf it is set "
                     "and not empty, output has no colours unless "
                     "\\fB\\-\\-color always\\fR asks for them.\n"
                     ".TP\n\\fBTERM\\fR\nOn a \\(lqdumb\\(rq terminal there "
                     "is neither colour nor progress.\n");
    roff_examples(commands, out);
}
