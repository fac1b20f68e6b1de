/* cmd_gen.c: holdfast gen. */
#include "cli/commands.h"

#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json_out.h"
#include "cli/save.h"
#include "history/builder.h"
#include "workload/generate.h"

typedef struct settings {
    const char *output, *to, *level, *inject, *ops, *mix;
    /* 0: not given, else 1 + its number */
    unsigned workload, distribution, sets;
    hf_number transactions, keys, sessions, seed, hot_keys, hot_operations;
    hf_number predicates, range, loaded, writes_per_key, rate, replicas;
    hf_number aborts, unknown;
    double theta;
    bool no_times, intervals, duplicates, no_certificate;
    bool list_bugs, json;
    hf_limits limits;
} settings;

typedef struct complaint {
    char hint[160];
    hf_error err;
} complaint;

static const char *choose_workload(unsigned index)
{
    return index < HF_WORKLOAD_COUNT ? hf_workload_name((hf_workload)index)
                                     : NULL;
}

static const char *choose_distribution(unsigned index)
{
    return index < HF_DISTRIBUTION_COUNT
               ? hf_distribution_name((hf_distribution)index)
               : NULL;
}

static const char *choose_sets(unsigned index)
{
    return index < HF_VERSION_SETS_COUNT
               ? hf_version_sets_name((hf_version_sets)index)
               : NULL;
}

/* Without "none". */
static const char *choose_bug(unsigned index)
{
    return index + 1 < HF_BUG_COUNT
               ? hf_store_bug_get((hf_store_bug)(index + 1))->name
               : NULL;
}

static const char *choose_plain_level(unsigned index)
{
    return index < HF_LEVEL_COUNT ? hf_choose_level(index) : NULL;
}

/* ---- settings to options ------------------------------------------------ */

static void take_number(hf_number from, uint32_t *to)
{
    if (from.given)
        *to = (uint32_t)from.value;
}

static hf_status find_bug(const char *name, hf_store_bug *ret, complaint *c)
{
    const char *near = NULL;
    char quoted[64];

    if (hf_store_bug_find(hf_str_of(name), ret, &near))
        return HF_OK;
    if (near)
        (void)snprintf(c->hint, sizeof c->hint, "did you mean \"%s\"?", near);
    else
        (void)snprintf(c->hint, sizeof c->hint,
                       "\"holdfast gen --list-bugs\" lists the bugs");
    return hf_fail(&c->err, HF_ERR_USAGE, "unknown bug \"%s\"",
                   hf_quote(quoted, sizeof quoted, name, strlen(name)));
}

static hf_status find_level(const char *name, hf_level *ret, complaint *c)
{
    const char *near = NULL;
    char quoted[64];

    if (hf_level_find(hf_str_of(name), ret, &near))
        return HF_OK;
    if (near)
        (void)snprintf(c->hint, sizeof c->hint, "did you mean \"%s\"?", near);
    return hf_fail(&c->err, HF_ERR_USAGE, "unknown level \"%s\"",
                   hf_quote(quoted, sizeof quoted, name, strlen(name)));
}

/* Numbers parted by `separator`, at most `most`; 0 if the text is no such
 * list. */
static unsigned split_numbers(const char *text, char separator, unsigned most,
                              uint64_t *ret)
{
    unsigned n = 0;

    for (;;) {
        size_t length = strcspn(text, (char[]){separator, '\0'});
        int64_t value;

        if (n == most || !hf_str_to_int((hf_str){text, length}, &value) ||
            value < 0 || value > UINT32_MAX)
            return 0;
        ret[n++] = (uint64_t)value;
        if (text[length] == '\0')
            return n;
        text += length + 1;
    }
}

static hf_status take_shapes(const settings *s, hf_generate_options *o,
                             complaint *c)
{
    uint64_t n[3];
    char quoted[64];

    if (s->ops) {
        unsigned parts = split_numbers(s->ops, '-', 2, n);

        if (parts == 0)
            return hf_fail(
                &c->err, HF_ERR_USAGE,
                "option \"--ops\" expects a number or a range "
                "such as 2-6, found \"%s\"",
                hf_quote(quoted, sizeof quoted, s->ops, strlen(s->ops)));
        o->min_ops = (uint32_t)n[0];
        o->max_ops = (uint32_t)n[parts - 1];
    }
    if (s->mix) {
        if (split_numbers(s->mix, ':', 3, n) != 3 || n[0] + n[1] + n[2] != 100)
            return hf_fail(
                &c->err, HF_ERR_USAGE,
                "option \"--mix\" expects three percentages that "
                "add up to 100, such as 50:30:20, found \"%s\"",
                hf_quote(quoted, sizeof quoted, s->mix, strlen(s->mix)));
        o->read_percent = (unsigned)n[0];
        o->write_percent = (unsigned)n[1];
        o->rmw_percent = (unsigned)n[2];
    }
    return HF_OK;
}

static void take_numbers(const settings *s, hf_generate_options *o)
{
    if (s->transactions.given)
        o->transactions = s->transactions.value;
    if (s->seed.given)
        o->seed = s->seed.value;
    if (s->distribution)
        o->distribution = (hf_distribution)(s->distribution - 1);
    if (s->sets)
        o->version_sets = (hf_version_sets)(s->sets - 1);
    if (s->theta > 0)
        o->theta = s->theta;
    take_number(s->keys, &o->keys);
    take_number(s->sessions, &o->sessions);
    take_number(s->hot_keys, &o->hot_keys);
    take_number(s->hot_operations, &o->hot_operations);
    take_number(s->predicates, &o->predicate_percent);
    take_number(s->range, &o->range_percent);
    take_number(s->loaded, &o->loaded_percent);
    take_number(s->writes_per_key, &o->writes_per_key);
    take_number(s->rate, &o->bug_percent);
    take_number(s->replicas, &o->replicas);
    take_number(s->aborts, &o->abort_percent);
    take_number(s->unknown, &o->unknown_percent);
    if (s->no_times)
        o->times = false;
    if (s->intervals)
        o->intervals = true;
    if (s->duplicates)
        o->unique_values = false;
    if (s->no_certificate)
        o->certificate = false;
}

static hf_status make_options(const settings *s, hf_generate_options *o,
                              complaint *c)
{
    hf_store_bug bug = HF_BUG_NONE;
    hf_status st = s->inject ? find_bug(s->inject, &bug, c) : HF_OK;

    if (st != HF_OK)
        return st;
    hf_generate_defaults(o,
                         s->workload ? (hf_workload)(s->workload - 1)
                                     : hf_store_bug_workload(bug),
                         bug);
    take_numbers(s, o);
    st = take_shapes(s, o, c);
    if (st == HF_OK && s->level)
        st = find_level(s->level, &o->level, c);
    if (st == HF_OK)
        st = hf_generate_check(o, &c->err);
    return st;
}

/* ---- running ------------------------------------------------------------ */

static hf_status generate(hf_cli *cli, hf_generate_options *o, hf_history **ret,
                          hf_error *err)
{
    hf_builder *b = hf_builder_new();
    hf_status st;

    hf_progress_begin(&cli->progress, "generating");
    o->budget = &cli->budget;
    hf_builder_set_budget(b, &cli->budget);
    st = hf_generate(o, b, err);
    if (st == HF_OK)
        st = hf_builder_finish(b, ret, err);
    else
        hf_builder_free(b);
    hf_progress_erase(&cli->progress);
    return st;
}

static void list_bugs_json(hf_out *out)
{
    hf_json j;

    for (unsigned i = 1; i < HF_BUG_COUNT; i++) {
        const hf_store_bug_info *b = hf_store_bug_get((hf_store_bug)i);

        hf_json_init(&j, out);
        hf_json_object(&j);
        hf_json_key(&j, "type");
        hf_json_text(&j, "bug");
        hf_json_key(&j, "schema");
        hf_json_int(&j, 1);
        hf_json_key(&j, "name");
        hf_json_text(&j, b->name);
        hf_json_key(&j, "summary");
        hf_json_text(&j, b->summary);
        hf_json_key(&j, "workloads");
        hf_json_array(&j);
        for (unsigned w = 0; w < HF_WORKLOAD_COUNT; w++)
            if (b->workloads & (1u << w))
                hf_json_text(&j, hf_workload_name((hf_workload)w));
        hf_json_end(&j);
        hf_json_key(&j, "level");
        hf_json_text(&j, hf_level_get(b->shows_at)->name);
        hf_json_key(&j, "anomaly");
        hf_json_text(&j, b->anomaly < HF_ANOMALY_COUNT
                             ? hf_anomaly_get(b->anomaly)->name
                             : NULL);
        hf_json_end(&j);
        hf_out_char(out, '\n');
    }
}

static void list_bugs(hf_out *out)
{
    for (unsigned i = 1; i < HF_BUG_COUNT; i++) {
        const hf_store_bug_info *b = hf_store_bug_get((hf_store_bug)i);

        hf_out_format(
            out, "%s\n    %s\n    shows at %s as %s; workloads:", b->name,
            b->summary, hf_level_get(b->shows_at)->name,
            b->anomaly < HF_ANOMALY_COUNT ? hf_anomaly_get(b->anomaly)->name
                                          : "nothing, the history stays valid");
        for (unsigned w = 0; w < HF_WORKLOAD_COUNT; w++)
            if (b->workloads & (1u << w))
                hf_out_format(out, " %s", hf_workload_name((hf_workload)w));
        hf_out_char(out, '\n');
    }
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const settings *set = user;
    const char *output = set->output ? set->output : "-";
    const hf_format *format;
    hf_generate_options o;
    hf_history *h = NULL;
    complaint c = {{0}, {{0}, 0, 0}};
    hf_status st;

    (void)operands;
    if (set->list_bugs) {
        (set->json ? list_bugs_json : list_bugs)(&cli->out);
        return HF_EXIT_VALID;
    }
    st = make_options(set, &o, &c);
    if (st == HF_OK)
        st = hf_cli_output_format(set->to, output, &format, c.hint,
                                  sizeof c.hint, &c.err);
    if (st == HF_OK) {
        hf_cli_start(cli, &set->limits, NULL, NULL);
        st = generate(cli, &o, &h, &c.err);
        if (st == HF_OK)
            st = hf_cli_save(cli, h, output, format, &c.err);
        hf_cli_stop(cli);
        hf_history_free(h);
    }
    return st == HF_OK ? HF_EXIT_VALID : hf_cli_fail(cli, st, &c.err, c.hint);
}

/* ---- table -------------------------------------------------------------- */

#define PERCENT(NAME, FIELD, SUMMARY, EXAMPLE)                                 \
    {                                                                          \
        .name = NAME, .argument = "PERCENT", .type = HF_OPTION_NUMBER,         \
        .offset = offsetof(settings, FIELD), .max = 100, .summary = SUMMARY,   \
        .example = EXAMPLE                                                     \
    }
#define COUNT(NAME, LETTER, FIELD, MIN, MAX, SUMMARY, EXAMPLE)                 \
    {                                                                          \
        .name = NAME, .letter = LETTER, .argument = "N",                       \
        .type = HF_OPTION_NUMBER, .offset = offsetof(settings, FIELD),         \
        .min = MIN, .max = MAX, .summary = SUMMARY, .example = EXAMPLE         \
    }
#define FLAG(NAME, FIELD, SUMMARY)                                             \
    {                                                                          \
        .name = NAME, .type = HF_OPTION_FLAG,                                  \
        .offset = offsetof(settings, FIELD), .summary = SUMMARY,               \
        .example = "--" NAME                                                   \
    }

static const hf_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "OUT",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(settings, output),
     .summary = "where to write (default: standard output)",
     .detail = "A name that ends in .gz or .zst is compressed.",
     .example = "-o run.jsonl",
     .completes_files = true},
    {.name = "to",
     .letter = 't',
     .argument = "FORMAT",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(settings, to),
     .choices = hf_choose_output_format,
     .summary = "the format to write (default: by the ending of OUT)",
     .example = "--to binary"},
    {.name = "workload",
     .letter = 'w',
     .argument = "NAME",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(settings, workload),
     .choices = choose_workload,
     .summary = "what the transactions do",
     .detail = "register: reads and writes of single keys. append: list "
               "appends and list reads. predicate: rows; range reads, "
               "updates, deletes and sums. emme-item, emme-predicate: the "
               "mixes of the evaluation of Emme and Enne, rows of two columns "
               "in a table.",
     .example = "--workload append"},
    {.name = "level",
     .letter = 'l',
     .argument = "NAME",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(settings, level),
     .choices = choose_plain_level,
     .summary = "the isolation level that the store keeps",
     .detail = "With --inject the level it claims to keep.",
     .example = "--level snapshot-isolation"},
    {.name = "inject",
     .letter = 'i',
     .argument = "BUG",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(settings, inject),
     .choices = choose_bug,
     .summary = "give the store a bug: --list-bugs names them",
     .detail = "Level, mix and rates are then such that the bug shows "
               "in a run of a few hundred transactions, unless they are "
               "given; in a run of eight it takes several seeds.",
     .example = "--inject lost-update"},
    PERCENT("rate", rate, "how often the bug strikes when it could",
            "--rate 10"),
    COUNT("transactions", 'n', transactions, 1, 2147483648u,
          "how many transactions, of any outcome", "-n 1000"),
    {.name = "ops",
     .argument = "N|MIN-MAX",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(settings, ops),
     .summary = "operations of a transaction",
     .example = "--ops 2-6"},
    COUNT("keys", 'k', keys, 1, UINT32_MAX, "how many keys", "-k 100"),
    COUNT("sessions", 's', sessions, 1, UINT32_MAX,
          "how many clients run at a time", "-s 8"),
    COUNT("seed", 0, seed, 0, 0,
          "decides everything random: same seed, same bytes", "--seed 7"),
    {.name = "mix",
     .argument = "R:W:M",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(settings, mix),
     .summary = "percent of reads, writes and read-modify-writes",
     .example = "--mix 50:30:20"},
    {.name = "distribution",
     .letter = 'd',
     .argument = "NAME",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(settings, distribution),
     .choices = choose_distribution,
     .summary = "how keys are chosen",
     .example = "--distribution zipf"},
    {.name = "theta",
     .argument = "X",
     .type = HF_OPTION_REAL,
     .offset = offsetof(settings, theta),
     .summary = "zipf: the skew, larger is more",
     .example = "--theta 0.99"},
    PERCENT("hot-keys", hot_keys, "hotspot: percent of the keys that are hot",
            "--hot-keys 5"),
    PERCENT("hot-operations", hot_operations,
            "hotspot: percent of the operations that go there",
            "--hot-operations 90"),
    PERCENT("predicates", predicates,
            "predicate, emme-predicate: percent of operations that are over a "
            "condition",
            "--predicates 40"),
    PERCENT("range", range,
            "predicate, emme-predicate: width of a range in percent",
            "--range 20"),
    PERCENT("loaded", loaded,
            "predicate, emme: percent of the keys that exist at the start",
            "--loaded 50"),
    {.name = "version-sets",
     .argument = "HOW",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(settings, sets),
     .choices = choose_sets,
     .summary = "how it is recorded what a condition looked at",
     .detail = "explicit: a version of every key. time: the time of a "
               "snapshot. ids: the transactions in a snapshot, as PostgreSQL "
               "tells them. default: time in the emme workloads where the "
               "level has such snapshots, else explicit.",
     .example = "--version-sets ids"},
    COUNT("writes-per-key", 0, writes_per_key, 0, UINT32_MAX,
          "append: a fresh key after so many appends, 0: never",
          "--writes-per-key 128"),
    PERCENT("aborts", aborts, "percent of transactions rolled back",
            "--aborts 5"),
    PERCENT("unknown", unknown, "percent of commits whose answer is lost",
            "--unknown 1"),
    COUNT("replicas", 0, replicas, 1, 1024,
          "replicas, at levels that have them", "--replicas 3"),
    FLAG("duplicates", duplicates, "write few values, many of them equal"),
    FLAG("intervals", intervals, "record start and end of each operation"),
    FLAG("no-times", no_times, "leave out begin and end of transactions"),
    FLAG("no-certificate", no_certificate,
         "leave out version order, timestamps and serial order"),
    FLAG("list-bugs", list_bugs, "list the bugs and stop (also with --json)"),
    HF_ROW_JSON(settings),
    HF_ROW_TIME(settings),
    HF_ROW_MEMORY(settings),
    {0},
};

static const hf_example examples[] = {
    {"holdfast gen -n 1000 --seed 7 -o run.jsonl",
     "A thousand serializable transactions, the same bytes every time"},
    {"holdfast gen --inject write-skew -n 6 -k 2 | holdfast check -",
     "A store that lets write skew through, and what check says about it"},
    {"holdfast gen -w append -l causal -d zipf -n 1M -o big.hf.zst",
     "A million transactions on lists with causal consistency, in the binary "
     "form, compressed"},
    {"holdfast gen -w emme-predicate -n 2500 -s 4 -o emme.jsonl",
     "Rows of a table, half of the operations over a condition"},
    {0},
};

const hf_command hf_command_gen = {
    .name = "gen",
    .operands = "",
    .min_operands = 0,
    .max_operands = 0,
    .summary = "make a history with the embedded store",
    .description =
        "Runs clients against an embedded multi-version store that keeps an "
        "isolation level, or, with --inject, has a known bug, and writes the "
        "history together with its certificate: the true version order, "
        "timestamps and serial order. Everything random comes from --seed, "
        "so a run repeats exactly.",
    .options = options,
    .examples = examples,
    .status = "0 done, 2 bad usage or a failed write, 3 a limit was reached",
    .settings_size = sizeof(settings),
    .run = run,
};
