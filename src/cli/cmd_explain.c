/* cmd_explain.c: holdfast explain. */
#include "cli/commands.h"

#include <limits.h>
#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "cli/common.h"
#include "cli/help.h"
#include "cli/tables.h"

typedef struct settings {
    bool json;
} settings;

/* Levels, anomalies, forms: for completion and for "did you mean". */
static const char *choose_name(unsigned index)
{
    const hf_special_form *form;

    if (index < HF_LEVEL_COUNT)
        return hf_level_get((hf_level)index)->name;
    index -= HF_LEVEL_COUNT;
    if (index < HF_ANOMALY_COUNT)
        return hf_anomaly_get((hf_anomaly)index)->name;
    form = hf_special_at(index - HF_ANOMALY_COUNT);
    return form ? form->name : NULL;
}

/* For completion: names of one word. */
static const char *choose_word(unsigned index)
{
    for (unsigned i = 0; choose_name(i); i++)
        if (!strchr(choose_name(i), ' ') && index-- == 0)
            return choose_name(i);
    return NULL;
}

/* ---- printing ----------------------------------------------------------- */

static void heading(const char *text, hf_out *out)
{
    hf_out_format(out, "\n%s:\n", text);
}

static void print_names(const char *const *names, hf_out *out)
{
    hf_out text;

    if (!names[0])
        return;
    hf_out_init_memory(&text);
    hf_out_text(&text, "also called: ");
    for (unsigned i = 0; names[i]; i++)
        hf_out_format(&text, "%s%s", i > 0 ? ", " : "", names[i]);
    hf_out_char(&text, '\0');
    hf_wrap(text.at, 0, out);
    hf_out_release(&text);
}

/* Levels, one list in one paragraph; `wanted` chooses them. */
static void print_levels(bool (*wanted)(hf_level, const void *),
                         const void *user, hf_out *out)
{
    hf_out text;
    unsigned n = 0;

    hf_out_init_memory(&text);
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
        if (wanted((hf_level)l, user))
            hf_out_format(&text, "%s%s", n++ > 0 ? ", " : "",
                          hf_level_get((hf_level)l)->name);
    hf_out_text(&text, n > 0 ? "" : "none");
    hf_out_char(&text, '\0');
    hf_wrap(text.at, 2, out);
    hf_out_release(&text);
}

static void print_example(const char *example, hf_out *out)
{
    hf_out_text(out, "\nsmallest example (native text form):\n");
    while (*example) {
        size_t n = strcspn(example, "\n");

        hf_out_text(out, "  ");
        hf_out_bytes(out, example, n);
        hf_out_char(out, '\n');
        example += n + (example[n] == '\n');
    }
}

static bool is_implied(hf_level level, const void *user)
{
    hf_level of = *(const hf_level *)user;

    return level != of && hf_level_implies(of, level);
}

static bool implies(hf_level level, const void *user)
{
    hf_level of = *(const hf_level *)user;

    return level != of && hf_level_implies(level, of);
}

/* Classes of which some cycles are errors, and the well-known forms that
 * are. */
static void print_forbidden_forms(hf_level level, hf_out *out)
{
    const hf_special_form *f;
    hf_out text;
    unsigned n = 0;

    hf_out_init_memory(&text);
    for (unsigned a = 0; a < HF_ANOMALY_COUNT; a++)
        if (hf_level_forbids_partly(level, (hf_anomaly)a) &&
            !hf_level_forbids(level, (hf_anomaly)a))
            hf_out_format(&text, "%s%s", n++ > 0 ? ", " : "",
                          hf_anomaly_get((hf_anomaly)a)->name);
    if (n > 0) {
        heading("forbids some forms of", out);
        hf_out_char(&text, '\0');
        hf_wrap(text.at, 2, out);
    }
    text.n = 0;
    n = 0;
    for (unsigned i = 0; (f = hf_special_at(i)) != NULL; i++)
        if (hf_level_forbids_form(level, f))
            hf_out_format(&text, "%s%s", n++ > 0 ? ", " : "", f->name);
    if (n > 0) {
        heading("so it rules out, among the well-known", out);
        hf_out_char(&text, '\0');
        hf_wrap(text.at, 2, out);
    }
    hf_out_release(&text);
}

static void print_level(const hf_level_info *l, hf_out *out)
{
    hf_out text;
    unsigned n = 0;

    hf_out_format(out, "%s (%s), an isolation level\n", l->name, l->short_name);
    print_names(l->aliases, out);
    hf_out_char(out, '\n');
    hf_wrap(l->summary, 0, out);
    heading("definition", out);
    hf_wrap(l->definition, 2, out);
    heading("holds whenever one of these holds", out);
    print_levels(implies, &l->level, out);
    heading("implies", out);
    print_levels(is_implied, &l->level, out);
    heading("forbids", out);
    hf_out_init_memory(&text);
    for (unsigned a = 0; a < HF_ANOMALY_COUNT; a++)
        if (hf_level_forbids(l->level, (hf_anomaly)a))
            hf_out_format(&text, "%s%s", n++ > 0 ? ", " : "",
                          hf_anomaly_get((hf_anomaly)a)->name);
    hf_out_char(&text, '\0');
    hf_wrap(text.at, 2, out);
    hf_out_release(&text);
    print_forbidden_forms(l->level, out);
    hf_out_format(out, "\ncheck a history: holdfast check --level %s FILE\n",
                  l->name);
}

static bool forbids_anomaly(hf_level level, const void *user)
{
    return hf_level_forbids(level, *(const hf_anomaly *)user);
}

static bool forbids_partly(hf_level level, const void *user)
{
    hf_anomaly a = *(const hf_anomaly *)user;

    return hf_level_forbids_partly(level, a) && !hf_level_forbids(level, a);
}

static void print_forms(hf_anomaly anomaly, hf_out *out)
{
    const hf_special_form *f;
    bool first = true;

    for (unsigned i = 0; (f = hf_special_at(i)) != NULL; i++) {
        if (f->anomaly != anomaly)
            continue;
        if (first)
            heading("well-known forms", out);
        first = false;
        hf_out_format(out, "  %s\n", f->name);
    }
}

static void print_anomaly(const hf_anomaly_info *a, hf_out *out)
{
    hf_out_format(out, "%s%s%s%s, %s\n", a->name, a->catalog[0] ? " (" : "",
                  a->catalog, a->catalog[0] ? ")" : "",
                  a->cycle ? "a class of cycles" : "an anomaly");
    print_names(a->aliases, out);
    hf_out_char(out, '\n');
    hf_wrap(a->summary, 0, out);
    heading("what it means", out);
    hf_wrap(a->meaning, 2, out);
    print_example(a->example, out);
    heading("forbidden at", out);
    print_levels(forbids_anomaly, &a->anomaly, out);
    if (a->partly_at[0] != HF_LEVEL_COUNT) {
        heading("some forms of it also at", out);
        print_levels(forbids_partly, &a->anomaly, out);
    }
    print_forms(a->anomaly, out);
    heading("what to do about it", out);
    hf_wrap(a->remedy, 2, out);
}

static bool forbids_form(hf_level level, const void *user)
{
    return hf_level_forbids_form(level, user);
}

static void print_form(const hf_special_form *f, hf_out *out)
{
    hf_out_format(out, "%s (%s), a form of %s\n", f->name, f->catalog,
                  hf_anomaly_get(f->anomaly)->name);
    print_names(f->aliases, out);
    hf_out_char(out, '\n');
    hf_wrap(f->summary, 0, out);
    heading("what it means", out);
    hf_wrap(f->meaning, 2, out);
    print_example(f->example, out);
    heading("forbidden at", out);
    print_levels(forbids_form, f, out);
    heading("what to do about it", out);
    hf_wrap(f->remedy, 2, out);
}

/* ---- finding ------------------------------------------------------------ */

/* The nearest name of the three tables; the tables' own suggestions know the
 * aliases as well. */
static const char *suggestion(const char *name)
{
    const char *near = hf_nearest(name, choose_name);
    hf_level level;
    hf_anomaly anomaly;

    if (!near && hf_level_find(hf_str_of(name), &level, &near))
        near = NULL;
    if (!near && hf_anomaly_find(hf_str_of(name), &anomaly, &near))
        near = NULL;
    return near;
}

static int not_found(hf_cli *cli, const char *name)
{
    const char *near = suggestion(name);
    char hint[160], quoted[64];
    hf_error err;

    if (near)
        (void)snprintf(hint, sizeof hint, "did you mean \"%s\"?", near);
    else
        (void)snprintf(hint, sizeof hint,
                       "\"holdfast levels\" and \"holdfast anomalies\" list "
                       "the names");
    (void)hf_fail(&err, HF_ERR_USAGE, "no level or anomaly is called \"%s\"",
                  hf_quote(quoted, sizeof quoted, name, strlen(name)));
    return hf_cli_fail(cli, HF_ERR_USAGE, &err, hint);
}

/* A name of several words needs no quotes: the operands are joined. */
static char *join(const hf_operands *operands)
{
    hf_out text;

    hf_out_init_memory(&text);
    for (unsigned i = 0; i < operands->n; i++)
        hf_out_format(&text, "%s%s", i > 0 ? " " : "", operands->at[i]);
    hf_out_char(&text, '\0');
    return text.at;
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const settings *set = user;
    char *name = join(operands);
    hf_str s = hf_str_of(name);
    const hf_special_form *form = hf_special_find(s);
    hf_out *out = &cli->out;
    hf_level level;
    hf_anomaly anomaly;
    int status = HF_EXIT_VALID;

    if (hf_level_find(s, &level, NULL))
        (set->json ? hf_level_write : print_level)(hf_level_get(level), out);
    else if (form)
        (set->json ? hf_special_write : print_form)(form, out);
    else if (hf_anomaly_find(s, &anomaly, NULL))
        (set->json ? hf_anomaly_write : print_anomaly)(hf_anomaly_get(anomaly),
                                                       out);
    else
        status = not_found(cli, name);
    hf_free(name);
    return status;
}

static const hf_option options[] = {
    HF_ROW_JSON(settings),
    {0},
};

static const hf_example examples[] = {
    {"holdfast explain write skew", "An anomaly by the name you know"},
    {"holdfast explain snapshot-isolation", "A level"},
    {"holdfast explain G1a", "A name from the literature"},
    {0},
};

const hf_command hf_command_explain = {
    .name = "explain",
    .operands = "NAME",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .operand_choices = choose_word,
    .summary = "explain a level or an anomaly",
    .description =
        "Tells what a level promises and what it implies; or what an anomaly "
        "is, with the smallest history that shows it, the levels that forbid "
        "it and what to do about it. Names of the literature and of other "
        "tools are accepted; blanks, - and _ are the same, and so are "
        "capital and small letters.",
    .options = options,
    .examples = examples,
    .status = "0 done, 2 no such name",
    .settings_size = sizeof(settings),
    .run = run,
};
