/* cmd_levels.c: holdfast levels. */
#include "cli/commands.h"

#include "base/json_out.h"
#include "cli/common.h"
#include "cli/tables.h"
#include "model/level.h"
#include "model/pages.h"

void hf_json_levels(hf_json *j, const char *key, const hf_level *levels)
{
    hf_json_key(j, key);
    hf_json_array(j);
    for (; *levels != HF_LEVEL_COUNT; levels++)
        hf_json_text(j, hf_level_get(*levels)->name);
    hf_json_end(j);
}

void hf_json_names(hf_json *j, const char *key, const char *const *names)
{
    hf_json_key(j, key);
    hf_json_array(j);
    for (; *names; names++)
        hf_json_text(j, *names);
    hf_json_end(j);
}

void hf_json_begin(hf_json *j, const char *type, hf_out *out)
{
    hf_json_init(j, out);
    hf_json_object(j);
    hf_json_key(j, "type");
    hf_json_text(j, type);
    hf_json_key(j, "schema");
    hf_json_int(j, 1);
}

void hf_level_write(const hf_level_info *l, hf_out *out)
{
    hf_json j;

    hf_json_begin(&j, "level", out);
    hf_json_key(&j, "name");
    hf_json_text(&j, l->name);
    hf_json_key(&j, "short");
    hf_json_text(&j, l->short_name);
    hf_json_names(&j, "aliases", l->aliases);
    hf_json_levels(&j, "implies", l->implies);
    hf_json_key(&j, "session_order");
    hf_json_bool(&j, l->session_order);
    hf_json_key(&j, "real_time");
    hf_json_bool(&j, l->real_time);
    hf_json_key(&j, "summary");
    hf_json_text(&j, l->summary);
    hf_json_key(&j, "definition");
    hf_json_text(&j, l->definition);
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const hf_table_settings *set = user;
    hf_out *out = &cli->out;

    (void)operands;
    if (set->markdown) {
        hf_levels_page(out);
        return HF_EXIT_VALID;
    }
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++) {
        const hf_level_info *l = hf_level_get((hf_level)i);

        if (set->json)
            hf_level_write(l, out);
        else
            hf_entry_print(l->name, l->short_name, l->summary, out);
    }
    if (!set->json) {
        hf_out_text(out, "\nfrom weak to strong:\n\n");
        hf_out_text(out, hf_levels_diagram());
        hf_out_text(out, "\nmore about one: holdfast explain NAME\n");
    }
    return HF_EXIT_VALID;
}

static const hf_example examples[] = {
    {"holdfast levels", "The levels, from weak to strong"},
    {"holdfast levels --json | jq -r .name", "Their names, for a script"},
    {0},
};

const hf_command hf_command_levels = {
    .name = "levels",
    .operands = "",
    .summary = "list the isolation levels",
    .description =
        "Prints every isolation level with its short name and what it "
        "promises, and how the levels imply each other. \"holdfast explain\" "
        "tells more about one of them.",
    .options = hf_table_options,
    .examples = examples,
    .status = "0 done, 2 bad usage",
    .settings_size = sizeof(hf_table_settings),
    .run = run,
};
