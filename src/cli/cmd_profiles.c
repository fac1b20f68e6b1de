/* cmd_profiles.c: holdfast profiles. */
#include "cli/commands.h"

#include "base/json_out.h"
#include "cli/common.h"
#include "cli/tables.h"
#include "cli/watching.h"

typedef struct settings {
    const char *file;
    bool json;
} settings;

static void field(hf_json *j, const char *name, const char *text)
{
    hf_json_key(j, name);
    hf_json_text(j, text && text[0] ? text : NULL);
}

static void write_row(const hf_profile *p, hf_out *out)
{
    char mechanisms[100];
    hf_json j;

    hf_json_begin(&j, "profile", out);
    field(&j, "database", p->database);
    field(&j, "level", p->level);
    hf_json_key(&j, "default");
    hf_json_bool(&j, p->is_default);
    field(&j, "mechanisms", hf_profile_mechanisms(p, mechanisms, 100));
    field(&j, "read", hf_watch_read_name(p->read));
    field(&j, "snapshot", hf_watch_snapshot_name(p->snapshot));
    field(&j, "locked_reads", p->locked_reads_newest ? "newest" : "snapshot");
    field(&j, "locks", hf_watch_lock_name(p->lock));
    field(&j, "writers", p->one_writer ? "one" : "many");
    hf_json_key(&j, "first_updater_wins");
    hf_json_bool(&j, p->first_updater_wins);
    hf_json_key(&j, "inserts_conflict");
    hf_json_bool(&j, p->inserts_conflict);
    hf_json_key(&j, "texts_by_bytes");
    hf_json_bool(&j, p->texts_by_bytes);
    field(&j, "certifier", hf_watch_certifier_name(p->certifier));
    hf_json_key(&j, "slack_ns");
    hf_json_uint(&j, p->slack);
    field(&j, "promise", p->promise);
    hf_json_key(&j, "checked");
    hf_json_bool(&j, p->is_verified);
    field(&j, "where", p->where);
    field(&j, "note", p->note);
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

static void print_row(const hf_profile *p, bool first, hf_out *out)
{
    char mechanisms[100];

    if (first)
        hf_out_format(out, "%s\n", p->database);
    hf_out_format(out, "  %-24s %-34s %s%s\n", p->level,
                  hf_profile_mechanisms(p, mechanisms, 100),
                  p->promise[0] ? p->promise : "-",
                  p->is_default ? " (default)" : "");
    if (p->where[0])
        hf_out_format(out, "      %s%s\n", p->where,
                      p->is_verified ? "" : " (not checked)");
    if (p->note[0])
        hf_out_format(out, "      %s\n", p->note);
}

static void put(const settings *set, const hf_profile *p,
                const hf_profile *before, hf_out *out)
{
    if (set->json)
        write_row(p, out);
    else
        print_row(p, !before || strcmp(before->database, p->database) != 0,
                  out);
}

static int list_own(hf_cli *cli, const settings *set)
{
    hf_profiles *own = NULL;
    hf_error err;
    hf_status st = hf_watching_read_profiles(set->file, &own, &err);

    if (st != HF_OK)
        return hf_cli_fail(cli, st, &err, NULL);
    for (size_t i = 0; i < hf_profiles_count(own); i++)
        put(set, hf_profiles_at(own, i),
            i > 0 ? hf_profiles_at(own, i - 1) : NULL, &cli->out);
    hf_profiles_free(own);
    return HF_EXIT_VALID;
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const settings *set = user;

    (void)operands;
    if (set->file)
        return list_own(cli, set);
    for (size_t i = 0; i < hf_profile_count(); i++)
        put(set, hf_profile_at(i), i > 0 ? hf_profile_at(i - 1) : NULL,
            &cli->out);
    if (!set->json)
        hf_out_text(
            &cli->out,
            "\nCR-s, CR-t: consistent read per statement, per transaction; ME: "
            "mutual\nexclusion; FUW: first updater wins; SC: serialization "
            "certifier.  Profiles of\nyour own: docs/watch.md.\n");
    return HF_EXIT_VALID;
}

static const hf_option options[] = {
    {.name = "file",
     .argument = "FILE",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(settings, file),
     .summary = "list the profiles of your own file, after checking it",
     .example = "--file mine.profile",
     .completes_files = true},
    HF_ROW_JSON(settings),
    {0},
};

static const hf_example examples[] = {
    {"holdfast profiles", "Databases, levels, and the mechanisms of each"},
    {"holdfast profiles --file mine.profile", "Is my own file right?"},
    {0},
};

const hf_command hf_command_profiles = {
    .name = "profiles",
    .operands = "",
    .summary = "list which mechanisms databases use for a level",
    .description =
        "A profile says by which mechanisms a database keeps a level: what "
        "\"holdfast watch\" mirrors. Listed with the level of \"holdfast "
        "levels\" it amounts to and where its makers write so.",
    .options = options,
    .examples = examples,
    .status = "0 done, 2 bad usage or a bad file",
    .settings_size = sizeof(settings),
    .run = run,
};
