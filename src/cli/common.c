/* common.c: output, errors, files and names for all commands. */
#include "cli/common.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check/check.h"
#include "cli/limits.h"
#include "history/certificate.h"
#include "history/promises.h"
#include "model/level.h"

static bool dumb_terminal(void)
{
    const char *term = getenv("TERM");

    return !term || term[0] == '\0' || strcmp(term, "dumb") == 0;
}

/* ---- output ------------------------------------------------------------- */

void hf_cli_begin(hf_cli *cli, const hf_command *const *commands)
{
    *cli = (hf_cli){.commands = commands};
    hf_out_init_fd(&cli->out, STDOUT_FILENO);
    hf_progress_init(&cli->progress, STDERR_FILENO,
                     isatty(STDERR_FILENO) && !dumb_terminal());
    /* a reader that goes away shows as EPIPE */
    (void)signal(SIGPIPE, SIG_IGN);
    /* and a file that may not grow as EFBIG */
    (void)signal(SIGXFSZ, SIG_IGN);
    hf_limits_init();
}

void hf_cli_flush(hf_cli *cli)
{
    hf_error ignored; /* sticky: hf_cli_end() reports it */

    hf_progress_erase(&cli->progress);
    (void)!hf_out_flush(&cli->out, &ignored);
}

int hf_cli_end(hf_cli *cli, int status)
{
    hf_error err;
    int code;

    hf_cli_flush(cli);
    code = cli->out.write_errno;
    if (hf_out_close(&cli->out, &err) == HF_OK || code == EPIPE)
        return status;
    (void)fprintf(stderr, "holdfast: could not write standard output: %s\n",
                  strerror(code));
    return HF_EXIT_BAD;
}

int hf_exit_worse(int a, int b)
{
    static const int badness[] = {0, 2, 3, 1}; /* of 0, 1, 2, 3 */

    return badness[a] >= badness[b] ? a : b;
}

int hf_exit_of_status(hf_status status)
{
    if (status == HF_OK)
        return HF_EXIT_VALID;
    return status == HF_ERR_LIMIT ? HF_EXIT_UNKNOWN : HF_EXIT_BAD;
}

int hf_cli_fail(hf_cli *cli, hf_status status, const hf_error *err,
                const char *hint)
{
    hf_cli_flush(cli);
    (void)fprintf(stderr, "holdfast: %s\n", err->text);
    if (hint && hint[0])
        (void)fprintf(stderr, "hint: %s\n", hint);
    return hf_exit_of_status(status);
}

void hf_cli_note(hf_cli *cli, const char *format, ...)
{
    va_list args;

    hf_cli_flush(cli);
    (void)fputs("holdfast: ", stderr);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
}

/* ---- files -------------------------------------------------------------- */

hf_status hf_cli_format(const char *name, bool writing, const hf_format **ret,
                        char *hint, size_t hint_size, hf_error *err)
{
    const hf_format *format;
    const char *near;
    char quoted[64];

    *ret = NULL;
    if (!name)
        return HF_OK;
    format = hf_format_find(hf_str_of(name));
    if (!format) {
        near = hf_nearest(name, writing ? hf_choose_output_format
                                        : hf_choose_input_format);
        if (near)
            (void)snprintf(hint, hint_size, "did you mean \"%s\"?", near);
        else
            (void)snprintf(hint, hint_size,
                           "\"holdfast convert --list\" lists the formats");
        return hf_fail(err, HF_ERR_USAGE, "unknown format \"%s\"",
                       hf_quote(quoted, sizeof quoted, name, strlen(name)));
    }
    if (writing && !format->export_ && !format->export_directory)
        return hf_fail(err, HF_ERR_USAGE,
                       "format \"%s\" can be read but not written",
                       format->name);
    if (!writing && !format->import && !format->load)
        return hf_fail(err, HF_ERR_USAGE,
                       "format \"%s\" can be written but not read",
                       format->name);
    *ret = format;
    return HF_OK;
}

hf_status hf_cli_load(hf_cli *cli, const char *path, const hf_format *format,
                      hf_history **ret, hf_error *err)
{
    char what[80];
    hf_status st;

    (void)snprintf(what, sizeof what, "reading %.60s", path);
    hf_progress_begin(&cli->progress, what);
    st = hf_load_history(path, format, &cli->budget, ret, err);
    hf_progress_erase(&cli->progress);
    if (st == HF_OK && (*ret)->cut_off)
        hf_cli_note(cli,
                    "\"%s\" was cut off while it was written: only the "
                    "first %u %s were read",
                    hf_quote(what, sizeof what, path, strlen(path)),
                    (*ret)->n_txns,
                    hf_plural((*ret)->n_txns, "transaction", "transactions"));
    return st;
}

void hf_cli_place(const char *what, const char *path, hf_error *err)
{
    char quoted[80];

    if (err->line != HF_NO_PLACE)
        hf_error_context(err, "line %llu", (unsigned long long)err->line);
    hf_error_context(err, "%s \"%s\"", what,
                     hf_quote(quoted, sizeof quoted, path, strlen(path)));
}

hf_status hf_cli_load_to_judge(hf_cli *cli, const char *path,
                               const hf_format *format, hf_history **ret,
                               hf_error *err)
{
    hf_history *h = NULL;
    hf_status st = hf_cli_load(cli, path, format, &h, err);

    if (st != HF_OK)
        return st;
    st = hf_promises_check(h, err);
    if (st == HF_OK)
        st = hf_certificate_check(h, err);
    if (st != HF_OK) {
        hf_cli_place("could not use history", path, err);
        hf_history_free(h);
        return st;
    }
    *ret = h;
    return HF_OK;
}

/* ---- words -------------------------------------------------------------- */

const char *hf_choose_color(unsigned index)
{
    static const char *const names[] = {"auto", "always", "never"};

    return index < 3 ? names[index] : NULL;
}

bool hf_cli_color(unsigned choice)
{
    const char *no_color = getenv("NO_COLOR");

    if (choice >= 2)
        return choice == 2;
    return !(no_color && no_color[0]) && isatty(STDOUT_FILENO) &&
           !dumb_terminal();
}

const char *hf_choose_level(unsigned index)
{
    if (index < HF_LEVEL_COUNT)
        return hf_level_get((hf_level)index)->name;
    return index == HF_LEVEL_COUNT ? "auto" : NULL;
}

const char *hf_choose_dialect(unsigned index)
{
    static const char *const names[] = {"any", "postgres", "sqlite"};

    return index < sizeof(names) / sizeof(names[0]) ? names[index] : NULL;
}

const char *hf_choose_engine(unsigned index)
{
    const hf_engine *engine;

    if (index == 0)
        return "auto";
    engine = hf_engine_at(index - 1);
    return engine ? engine->name : NULL;
}

static const char *choose_format(unsigned index, bool writing)
{
    const hf_format *f;

    for (unsigned i = 0; (f = hf_format_at(i)) != NULL; i++) {
        bool can =
            writing ? f->export_ || f->export_directory : f->import || f->load;

        if (can && index-- == 0)
            return f->name;
    }
    return NULL;
}

const char *hf_choose_input_format(unsigned index)
{
    return choose_format(index, false);
}

const char *hf_choose_output_format(unsigned index)
{
    return choose_format(index, true);
}

const char *hf_grouped(uint64_t n, char *buffer, size_t size)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    size_t out = 0;

    for (int i = 0; i < length && out + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            buffer[out++] = ',';
        buffer[out++] = digits[i];
    }
    buffer[out] = '\0';
    return buffer;
}

const char *hf_plural(uint64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

/* ---- secrets ------------------------------------------------------------- */

/* Between the first colon after "://" and the last @. */
static size_t secret_of_user(const char *text, size_t *ret)
{
    const char *start = strstr(text, "://");
    const char *at = start ? strrchr(start, '@') : NULL;
    const char *colon = at && at >= start + 3
                            ? memchr(start + 3, ':', (size_t)(at - start) - 3)
                            : NULL;

    if (!colon)
        return 0;
    *ret = (size_t)(colon - text) + 1;
    return (size_t)(at - colon) - 1;
}

/* What follows "password=", in quotes or up to the next word. */
static size_t secret_of_word(const char *text, size_t from, size_t *ret)
{
    static const char word[] = "password=";
    const char *at = strstr(text + from, word);
    size_t n;

    if (!at)
        return 0;
    at += sizeof word - 1;
    if (*at == '\'')
        for (n = 1; at[n] && at[n] != '\''; n++)
            n += at[n] == '\\' && at[n + 1];
    else
        n = strcspn(at, " \t\n&");
    *ret = (size_t)(at - text);
    return n;
}

size_t hf_find_secret(const char *text, size_t from, size_t *ret)
{
    size_t n = secret_of_user(text, ret);

    if (n > 0 && *ret >= from)
        return n;
    return secret_of_word(text, from, ret);
}
