/* page.c: the HTML report of `holdfast check`. */
#include "cli/check.h"

#include "base/error.h"
#include "report/html.h"
#include "sql/oracle.h"

/* As one word of a shell. */
static void put_word(const char *text, hf_out *out)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        "-_./=+:,@";

    if (text[0] != '\0' && strspn(text, plain) == strlen(text)) {
        hf_out_text(out, text);
        return;
    }
    hf_out_char(out, '\'');
    for (const char *c = text; *c; c++)
        if (*c == '\'')
            hf_out_text(out, "'\\''");
        else
            hf_out_char(out, *c);
    hf_out_char(out, '\'');
}

static void put_option(const char *name, const char *value, hf_out *out)
{
    if (!value)
        return;
    hf_out_format(out, " %s ", name);
    put_word(value, out);
}

/* The name of a choice, NULL where none was made. */
static const char *chosen(const char *(*names)(unsigned), unsigned choice)
{
    return choice > 0 ? names(choice - 1) : NULL;
}

/* The command line that gives this verdict again. */
static void put_command(const hf_job *job, const hf_result *r, hf_out *out)
{
    const hf_check_settings *set = job->set;

    hf_out_text(out, "holdfast check");
    put_option("--level", hf_level_get(r->level)->name, out);
    put_option("--engine", chosen(hf_choose_engine, set->engine), out);
    for (unsigned i = 0; i < HF_REST_COUNT; i++)
        if (job->options.assume & 1u << i)
            put_option("--assume", hf_rest_name(1u << i), out);
    put_option("--order", chosen(hf_choose_order, set->order), out);
    put_option("--dialect", chosen(hf_choose_dialect, set->dialect), out);
    put_option("--oracle",
               job->options.oracle ? job->options.oracle->name : NULL, out);
    put_option("--from", set->from, out);
    hf_out_text(out, set->mixed ? " --mixed" : "");
    hf_out_text(out, set->ignore_certificate ? " --ignore-certificate" : "");
    hf_out_text(out, set->no_predicates ? " --no-predicates" : "");
    hf_out_char(out, ' ');
    put_word(job->path, out);
}

void hf_job_page(const hf_job *job, const hf_result *r, hf_out *out)
{
    hf_report_input in = {.h = job->h,
                          .r = r,
                          .most = hf_job_findings(job),
                          .history = job->path};
    hf_out command;

    hf_out_init_memory(&command);
    put_command(job, r, &command);
    hf_out_char(&command, '\0');
    in.check = command.at;
    hf_report_html(&in, out);
    hf_out_release(&command);
}
