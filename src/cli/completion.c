/* completion.c: completion for bash, zsh and fish, from the tables.
 *
 * The scripts are plain lists: all names are known when they are written, so
 * completing never runs the program.
 */
#include "cli/help.h"

const char *hf_completion_shell(unsigned index)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};

    return index < 3 ? shells[index] : NULL;
}

static void words(hf_choices choices, hf_out *out)
{
    for (unsigned i = 0; choices(i); i++)
        hf_out_format(out, "%s%s", i > 0 ? " " : "", choices(i));
}

static void command_words(const hf_command *const *commands, hf_out *out)
{
    for (const hf_command *const *c = commands; *c; c++)
        hf_out_format(out, "%s%s", c == commands ? "" : " ", (*c)->name);
}

/* ---- bash --------------------------------------------------------------- */

static void bash_flag(const hf_option *o, hf_out *out)
{
    hf_out_format(out, "--%s", o->name);
    if (o->letter)
        hf_out_format(out, "|-%c", o->letter);
}

static void bash_command(const hf_command *c, hf_out *out)
{
    hf_out_format(out, "    %s)\n        case $prev in\n", c->name);
    for (const hf_option *o = c->options; o->name; o++) {
        if (o->type == HF_OPTION_FLAG)
            continue;
        hf_out_text(out, "        ");
        bash_flag(o, out);
        hf_out_text(out, ") ");
        if (o->choices) {
            hf_out_text(out, "words='");
            words(o->choices, out);
            hf_out_text(out, "' ;;\n");
        } else {
            hf_out_text(out,
                        o->completes_files ? "files=1 ;;\n" : "return ;;\n");
        }
    }
    hf_out_text(out, "        *)\n            if [[ $cur == -* ]]; then\n"
                     "                words='");
    HF_EACH_OPTION(c, table, o)
    hf_out_format(out, "%s--%s", o == c->options ? "" : " ", o->name);
    hf_out_text(out, "'\n            else\n                ");
    if (c->operand_choices) {
        hf_out_text(out, "words='");
        words(c->operand_choices, out);
        hf_out_text(out, "'\n");
    } else {
        hf_out_text(out, c->max_operands ? "files=1\n" : "return\n");
    }
    hf_out_text(out, "            fi ;;\n        esac ;;\n");
}

static void write_bash(const hf_command *const *commands, hf_out *out)
{
    hf_out_text(out,
                "# bash completion for holdfast: holdfast help --completion "
                "bash\n"
                "_holdfast() {\n"
                "    local cur=${COMP_WORDS[COMP_CWORD]}\n"
                "    local prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                "    local words='' files=''\n"
                "    COMPREPLY=()\n"
                "    # readline splits --opt=value into three words\n"
                "    if [[ $cur == '=' ]]; then\n"
                "        cur=''\n"
                "    elif [[ $prev == '=' ]]; then\n"
                "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
                "    fi\n"
                "    if ((COMP_CWORD == 1)); then\n"
                "        COMPREPLY=($(compgen -W '");
    command_words(commands, out);
    hf_out_text(out, " --help --version' -- \"$cur\"))\n        return\n"
                     "    fi\n    case ${COMP_WORDS[1]} in\n");
    for (; *commands; commands++)
        bash_command(*commands, out);
    hf_out_text(out,
                "    esac\n"
                "    if [[ -n $files ]]; then\n"
                "        compopt -o filenames 2>/dev/null\n"
                "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                "    elif [[ -n $words ]]; then\n"
                "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                "    fi\n"
                "}\n"
                "complete -F _holdfast holdfast\n");
}

/* ---- zsh ---------------------------------------------------------------- */

/* Text inside '...[...]': quotes, brackets and colons escaped. */
static void zsh_text(const char *text, hf_out *out)
{
    for (; *text; text++) {
        if (*text == '\'') {
            hf_out_text(out, "'\\''");
            continue;
        }
        if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
            hf_out_char(out, '\\');
        hf_out_char(out, *text);
    }
}

static void zsh_argument(const hf_option *o, hf_out *out)
{
    if (!o->argument)
        return;
    hf_out_char(out, ':');
    zsh_text(o->argument, out);
    hf_out_char(out, ':');
    if (o->choices) {
        hf_out_char(out, '(');
        words(o->choices, out);
        hf_out_char(out, ')');
    } else if (o->completes_files) {
        hf_out_text(out, "_files");
    }
}

static void zsh_option(const hf_option *o, hf_out *out)
{
    hf_out_text(out, "            ");
    if (o->letter)
        hf_out_format(out, "{-%c%s,--%s%s}", o->letter, o->argument ? "+" : "",
                      o->name, o->argument ? "=" : "");
    else
        hf_out_format(out, "'--%s%s'", o->name, o->argument ? "=" : "");
    hf_out_text(out, "'[");
    zsh_text(o->summary, out);
    hf_out_char(out, ']');
    zsh_argument(o, out);
    hf_out_text(out, "' \\\n");
}

static void write_zsh(const hf_command *const *commands, hf_out *out)
{
    hf_out_text(out, "#compdef holdfast\n"
                     "# zsh completion for holdfast: holdfast help "
                     "--completion zsh\n"
                     "_holdfast() {\n"
                     "    if ((CURRENT == 2)); then\n"
                     "        local -a commands=(\n");
    for (const hf_command *const *c = commands; *c; c++) {
        hf_out_format(out, "            '%s:", (*c)->name);
        zsh_text((*c)->summary, out);
        hf_out_text(out, "'\n");
    }
    hf_out_text(out, "        )\n"
                     "        _describe command commands\n"
                     "        return\n"
                     "    fi\n"
                     "    local command=$words[2]\n"
                     "    words[1,2]=(\"holdfast-$command\")\n"
                     "    ((CURRENT--))\n"
                     "    case $command in\n");
    for (; *commands; commands++) {
        const hf_command *c = *commands;

        hf_out_format(out, "    %s)\n        _arguments -s \\\n", c->name);
        HF_EACH_OPTION(c, table, o)
        zsh_option(o, out);
        hf_out_text(out, "            '*:argument:");
        if (c->operand_choices) {
            hf_out_char(out, '(');
            words(c->operand_choices, out);
            hf_out_char(out, ')');
        } else if (c->max_operands) {
            hf_out_text(out, "_files");
        }
        hf_out_text(out, "' ;;\n");
    }
    hf_out_text(out, "    esac\n}\n_holdfast \"$@\"\n");
}

/* ---- fish --------------------------------------------------------------- */

static void fish_text(const char *text, hf_out *out)
{
    hf_out_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            hf_out_char(out, '\\');
        hf_out_char(out, *text);
    }
    hf_out_char(out, '\'');
}

static void fish_option(const hf_command *c, const hf_option *o, hf_out *out)
{
    hf_out_format(out,
                  "complete -c holdfast -n '__fish_seen_subcommand_from %s'",
                  c->name);
    if (o->letter)
        hf_out_format(out, " -s %c", o->letter);
    hf_out_format(out, " -l %s", o->name);
    if (o->argument)
        hf_out_text(out, o->completes_files ? " -r -F" : " -x");
    if (o->choices) {
        hf_out_text(out, " -a '");
        words(o->choices, out);
        hf_out_char(out, '\'');
    }
    hf_out_text(out, " -d ");
    fish_text(o->summary, out);
    hf_out_char(out, '\n');
}

static void write_fish(const hf_command *const *commands, hf_out *out)
{
    hf_out_text(out, "# fish completion for holdfast: holdfast help "
                     "--completion fish\n");
    for (const hf_command *const *c = commands; *c; c++) {
        hf_out_format(out,
                      "complete -c holdfast -f -n __fish_use_subcommand -a %s "
                      "-d ",
                      (*c)->name);
        fish_text((*c)->summary, out);
        hf_out_char(out, '\n');
    }
    for (; *commands; commands++) {
        const hf_command *c = *commands;

        HF_EACH_OPTION(c, table, o)
        fish_option(c, o, out);
        if (!c->operand_choices)
            continue;
        hf_out_format(out,
                      "complete -c holdfast -f -n "
                      "'__fish_seen_subcommand_from %s' -a '",
                      c->name);
        words(c->operand_choices, out);
        hf_out_text(out, "'\n");
    }
}

void hf_completion_write(const hf_command *const *commands, unsigned shell,
                         hf_out *out)
{
    switch (shell) {
    case 0:
        write_bash(commands, out);
        break;
    case 1:
        write_zsh(commands, out);
        break;
    default:
        write_fish(commands, out);
    }
}
