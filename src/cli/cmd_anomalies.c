/* cmd_anomalies.c: holdfast anomalies. */
#include "cli/commands.h"

#include <stddef.h>

#include "cli/common.h"
#include "cli/help.h"
#include "cli/tables.h"
#include "model/pages.h"

const hf_option hf_table_options[] = {
    {.name = "markdown",
     .type = HF_OPTION_FLAG,
     .offset = offsetof(hf_table_settings, markdown),
     .summary = "print the page of docs/, in Markdown",
     .example = "--markdown"},
    HF_ROW_JSON(hf_table_settings),
    {0},
};

void hf_entry_print(const char *name, const char *second, const char *summary,
                    hf_out *out)
{
    hf_out_text(out, name);
    if (second && second[0])
        hf_out_format(out, " (%s)", second);
    hf_out_char(out, '\n');
    hf_wrap(summary, 4, out);
}

/* What an anomaly and a special form have in common. */
typedef struct row {
    const char *name, *catalog, *summary, *meaning, *example, *remedy;
    const char *const *aliases;
    const hf_level *forbidden_at;
} row;

static void write_row(hf_json *j, const row *r)
{
    hf_json_key(j, "name");
    hf_json_text(j, r->name);
    hf_json_key(j, "catalog");
    hf_json_text(j, r->catalog);
    hf_json_names(j, "aliases", r->aliases);
    hf_json_levels(j, "forbidden_at", r->forbidden_at);
    hf_json_key(j, "summary");
    hf_json_text(j, r->summary);
    hf_json_key(j, "meaning");
    hf_json_text(j, r->meaning);
    hf_json_key(j, "example");
    hf_json_text(j, r->example);
    hf_json_key(j, "remedy");
    hf_json_text(j, r->remedy);
}

void hf_anomaly_write(const hf_anomaly_info *a, hf_out *out)
{
    hf_json j;

    hf_json_begin(&j, "anomaly", out);
    hf_json_key(&j, "cycle");
    hf_json_bool(&j, a->cycle);
    write_row(&j, &(row){a->name, a->catalog, a->summary, a->meaning,
                         a->example, a->remedy, a->aliases, a->forbidden_at});
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

void hf_special_write(const hf_special_form *f, hf_out *out)
{
    hf_json j;

    hf_json_begin(&j, "form", out);
    hf_json_key(&j, "of");
    hf_json_text(&j, hf_anomaly_get(f->anomaly)->name);
    write_row(&j, &(row){f->name, f->catalog, f->summary, f->meaning,
                         f->example, f->remedy, f->aliases, f->forbidden_at});
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

static void print_text(hf_out *out)
{
    const hf_special_form *f;

    hf_out_text(out, "anomalies of a few operations:\n\n");
    for (unsigned i = 0; i < HF_ANOMALY_COUNT; i++) {
        const hf_anomaly_info *a = hf_anomaly_get((hf_anomaly)i);

        if (i > 0 && a->cycle && !hf_anomaly_get((hf_anomaly)(i - 1))->cycle)
            hf_out_text(out, "\nclasses of cycles:\n\n");
        if (i == HF_NO_ORDER)
            hf_out_text(out, "\nwhen neither says it all:\n\n");
        hf_entry_print(a->name, a->catalog, a->summary, out);
    }
    hf_out_text(out, "\nwell-known forms of these:\n\n");
    for (unsigned i = 0; (f = hf_special_at(i)) != NULL; i++)
        hf_entry_print(f->name, hf_anomaly_get(f->anomaly)->name, f->summary,
                       out);
    hf_out_text(out, "\nmore about one: holdfast explain NAME\n");
}

static void print_json(hf_out *out)
{
    const hf_special_form *f;

    for (unsigned i = 0; i < HF_ANOMALY_COUNT; i++)
        hf_anomaly_write(hf_anomaly_get((hf_anomaly)i), out);
    for (unsigned i = 0; (f = hf_special_at(i)) != NULL; i++)
        hf_special_write(f, out);
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const hf_table_settings *set = user;

    (void)operands;
    if (set->markdown)
        hf_anomalies_page(&cli->out);
    else if (set->json)
        print_json(&cli->out);
    else
        print_text(&cli->out);
    return HF_EXIT_VALID;
}

static const hf_example examples[] = {
    {"holdfast anomalies", "Everything that check may find"},
    {"holdfast anomalies --json", "The same with examples, for a script"},
    {0},
};

const hf_command hf_command_anomalies = {
    .name = "anomalies",
    .operands = "",
    .summary = "list the anomalies",
    .description =
        "Prints every anomaly that \"holdfast check\" may report, and the "
        "well-known forms of them (write skew, long fork, ...), each in one "
        "line. \"holdfast explain\" tells more about one of them: the "
        "smallest example, which levels forbid it, what to do about it.",
    .options = hf_table_options,
    .examples = examples,
    .status = "0 done, 2 bad usage",
    .settings_size = sizeof(hf_table_settings),
    .run = run,
};
