/* cmd_stats.c: holdfast stats. */
#include "cli/commands.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/json_out.h"
#include "cli/common.h"
#include "history/summary.h"
#include "model/level.h"

typedef struct settings {
    const char *from;
    bool json;
    hf_limits limits;
} settings;

/* One history and what was measured while loading it. */
typedef struct page {
    const char *path;
    const hf_history *h;
    hf_summary s;
    double seconds;    /* of loading */
    uint64_t in_bytes; /* size of the file; 0: not known */
    hf_out *out;
} page;

/* ---- text --------------------------------------------------------------- */

static void title(const page *p, const char *name)
{
    hf_out_format(p->out, "%-18s", name);
}

/* "12,000 committed", with ", " in front but for the first. */
static void part(const page *p, unsigned *n_parts, uint64_t n, const char *what)
{
    char number[40];

    if (n == 0)
        return;
    hf_out_format(p->out, "%s%s %s", (*n_parts)++ > 0 ? ", " : "",
                  hf_grouped(n, number, sizeof number), what);
}

static void end_parts(const page *p, unsigned n_parts)
{
    hf_out_text(p->out, n_parts > 0 ? "\n" : "none\n");
}

static void line(const page *p, const char *name, uint64_t n)
{
    char number[40];

    title(p, name);
    hf_out_format(p->out, "%s\n", hf_grouped(n, number, sizeof number));
}

static void print_transactions(const page *p)
{
    const hf_summary *s = &p->s;
    char number[40];
    unsigned n = 0;

    title(p, "transactions");
    hf_out_text(p->out, hf_grouped(p->h->n_txns, number, sizeof number));
    if (p->h->n_txns > 0)
        hf_out_text(p->out, ": ");
    for (unsigned o = 0; o < HF_OUTCOME_COUNT; o++)
        part(p, &n, s->by_outcome[o], hf_outcome_name((hf_outcome)o));
    hf_out_char(p->out, '\n');
    if (s->by_level[HF_LEVEL_UNSET] < p->h->n_txns) {
        n = 0;
        title(p, "levels named");
        for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
            part(p, &n, s->by_level[l], hf_level_get((hf_level)l)->name);
        end_parts(p, n);
    }
    if (p->h->n_txns == 0)
        return;
    title(p, "operations each");
    hf_out_format(p->out, "%u to %u, median %u, 90%% at most %u\n", s->ops_min,
                  s->ops_max, s->ops_median, s->ops_p90);
}

static void print_operations(const page *p)
{
    const hf_summary *s = &p->s;
    char number[40];
    unsigned n = 0;

    title(p, "operations");
    hf_out_text(p->out, hf_grouped(p->h->n_ops, number, sizeof number));
    if (p->h->n_ops > 0)
        hf_out_text(p->out, ": ");
    for (unsigned k = 0; k < HF_OP_KIND_COUNT; k++)
        part(p, &n, s->by_kind[k], hf_op_kind_name((hf_op_kind)k));
    hf_out_char(p->out, '\n');
    if (s->for_update + s->for_share + s->failed == 0)
        return;
    n = 0;
    title(p, "of these");
    part(p, &n, s->for_update, "locked for update");
    part(p, &n, s->for_share, "locked for share");
    part(p, &n, s->failed, "failed");
    end_parts(p, n);
}

static void print_values(const page *p)
{
    const hf_summary *s = &p->s;
    unsigned n = 0;

    line(p, "keys", p->h->n_keys);
    line(p, "values", p->h->n_values);
    line(p, "duplicate values", s->duplicate_values);
    title(p, "reads in doubt");
    part(p, &n, s->ambiguous_reads, "ambiguous");
    part(p, &n, s->unexplained_reads, "of a value nobody wrote");
    part(p, &n, s->unrecorded_reads, "not recorded");
    end_parts(p, n);
}

static void print_times(const page *p)
{
    const hf_summary *s = &p->s;
    bool has = s->first_time != HF_TIME_NONE && s->last_time != HF_TIME_NONE &&
               s->last_time >= s->first_time;
    char number[40];

    title(p, "time span");
    if (!has)
        hf_out_text(p->out, "not recorded");
    else if (p->h->time_unit == HF_TIME_UNIT_NS)
        hf_out_format(p->out, "%g s",
                      (double)(s->last_time - s->first_time) / 1e9);
    else
        hf_out_format(
            p->out, "%s events",
            hf_grouped(s->last_time - s->first_time, number, sizeof number));
    if (s->with_interval > 0)
        hf_out_format(p->out, ", %s with an interval",
                      s->with_interval == p->h->n_ops ? "every operation"
                                                      : "some operations");
    hf_out_char(p->out, '\n');
}

static void print_certificate(const page *p)
{
    const hf_summary *s = &p->s;
    unsigned n = 0;

    title(p, "certificate");
    part(p, &n, s->ordered_keys,
         hf_plural(s->ordered_keys, "key with version order",
                   "keys with version order"));
    part(p, &n, s->with_timestamps, "with timestamps");
    part(p, &n, p->h->cert.n_serial, "in serial order");
    part(p, &n, s->version_sets,
         hf_plural(s->version_sets, "version set", "version sets"));
    end_parts(p, n);
}

static void print_cost(const page *p)
{
    char number[40];
    double ops = (double)p->h->n_ops;

    title(p, "memory held");
    hf_out_format(p->out, "%s bytes",
                  hf_grouped(p->h->bytes, number, sizeof number));
    if (p->h->n_ops > 0)
        hf_out_format(p->out, ", %.1f an operation", (double)p->h->bytes / ops);
    hf_out_char(p->out, '\n');
    title(p, "loaded in");
    hf_out_format(p->out, "%.3f s", p->seconds);
    if (p->seconds > 0 && p->h->n_ops > 0)
        hf_out_format(p->out, ", %.2f million operations a second",
                      ops / p->seconds / 1e6);
    if (p->seconds > 0 && p->in_bytes > 0)
        hf_out_format(p->out, ", %.1f MB/s",
                      (double)p->in_bytes / p->seconds / 1e6);
    hf_out_char(p->out, '\n');
}

static void print_text(const page *p)
{
    title(p, "file");
    hf_out_format(p->out, "%s\n", p->path);
    title(p, "format");
    hf_out_format(p->out, "%s\n", p->h->format ? p->h->format : "unknown");
    if (p->h->name != HF_NONE) {
        title(p, "name");
        hf_out_str(p->out, hf_string(p->h, p->h->name));
        hf_out_char(p->out, '\n');
    }
    line(p, "sessions", p->h->n_sessions);
    print_transactions(p);
    print_operations(p);
    print_values(p);
    print_times(p);
    print_certificate(p);
    if (p->h->n_skipped > 0)
        line(p, "records left out", p->h->n_skipped);
    if (p->h->cut_off) {
        title(p, "complete");
        hf_out_text(p->out, "no, cut off while it was written\n");
    }
    print_cost(p);
}

/* ---- JSON --------------------------------------------------------------- */

static void field(hf_json *j, const char *name, uint64_t n)
{
    hf_json_key(j, name);
    hf_json_uint(j, n);
}

static void json_counts(hf_json *j, const page *p)
{
    const hf_summary *s = &p->s;

    hf_json_key(j, "outcomes");
    hf_json_object(j);
    for (unsigned o = 0; o < HF_OUTCOME_COUNT; o++)
        field(j, hf_outcome_name((hf_outcome)o), s->by_outcome[o]);
    hf_json_end(j);
    hf_json_key(j, "kinds");
    hf_json_object(j);
    for (unsigned k = 0; k < HF_OP_KIND_COUNT; k++)
        if (s->by_kind[k] > 0)
            field(j, hf_op_kind_name((hf_op_kind)k), s->by_kind[k]);
    hf_json_end(j);
    hf_json_key(j, "levels");
    hf_json_object(j);
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
        if (s->by_level[l] > 0)
            field(j, hf_level_get((hf_level)l)->name, s->by_level[l]);
    hf_json_end(j);
    hf_json_key(j, "operations_each");
    hf_json_object(j);
    field(j, "min", s->ops_min);
    field(j, "median", s->ops_median);
    field(j, "p90", s->ops_p90);
    field(j, "max", s->ops_max);
    hf_json_end(j);
}

static void json_rest(hf_json *j, const page *p)
{
    const hf_summary *s = &p->s;

    field(j, "keys", p->h->n_keys);
    field(j, "values", p->h->n_values);
    field(j, "duplicate_values", s->duplicate_values);
    field(j, "ambiguous_reads", s->ambiguous_reads);
    field(j, "unexplained_reads", s->unexplained_reads);
    field(j, "unrecorded_reads", s->unrecorded_reads);
    field(j, "locked_for_update", s->for_update);
    field(j, "locked_for_share", s->for_share);
    field(j, "failed", s->failed);
    if (s->first_time != HF_TIME_NONE)
        field(j, "first_time", s->first_time);
    if (s->last_time != HF_TIME_NONE)
        field(j, "last_time", s->last_time);
    field(j, "operations_with_interval", s->with_interval);
    hf_json_key(j, "certificate");
    hf_json_object(j);
    field(j, "ordered_keys", s->ordered_keys);
    field(j, "ordered_versions", s->ordered_versions);
    field(j, "timestamps", s->with_timestamps);
    field(j, "serial", p->h->cert.n_serial);
    field(j, "version_sets", s->version_sets);
    hf_json_end(j);
    field(j, "records_left_out", p->h->n_skipped);
    hf_json_key(j, "cut_off");
    hf_json_bool(j, p->h->cut_off);
    field(j, "bytes", p->h->bytes);
    if (p->h->n_ops > 0) {
        hf_json_key(j, "bytes_per_operation");
        hf_json_real(j, (double)p->h->bytes / (double)p->h->n_ops);
    }
    hf_json_key(j, "load_seconds");
    hf_json_real(j, p->seconds);
}

static void print_json(const page *p)
{
    hf_json j;

    hf_json_init(&j, p->out);
    hf_json_object(&j);
    hf_json_key(&j, "type");
    hf_json_text(&j, "stats");
    hf_json_key(&j, "schema");
    hf_json_int(&j, 1);
    hf_json_key(&j, "file");
    hf_json_text(&j, p->path);
    hf_json_key(&j, "format");
    hf_json_text(&j, p->h->format);
    field(&j, "sessions", p->h->n_sessions);
    field(&j, "transactions", p->h->n_txns);
    field(&j, "operations", p->h->n_ops);
    json_counts(&j, p);
    json_rest(&j, p);
    hf_json_end(&j);
    hf_out_char(p->out, '\n');
}

/* ---- the command -------------------------------------------------------- */

static uint64_t file_size(const char *path)
{
    struct stat st;

    if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    return (uint64_t)st.st_size;
}

static int one_file(hf_cli *cli, const settings *set, const char *path,
                    const hf_format *format)
{
    page p = {.path = path, .out = &cli->out};
    hf_history *h = NULL;
    hf_error err;
    hf_status st;
    uint64_t start;

    hf_cli_start(cli, &set->limits, NULL, NULL);
    start = hf_clock_ns();
    st = hf_cli_load(cli, path, format, &h, &err);
    p.seconds = (double)(hf_clock_ns() - start) / 1e9;
    if (st == HF_OK) {
        p.h = h;
        p.in_bytes = file_size(path);
        hf_history_summary(h, &p.s);
    }
    hf_cli_stop(cli);
    if (st != HF_OK)
        return hf_cli_fail(cli, st, &err, NULL);
    if (set->json)
        print_json(&p);
    else
        print_text(&p);
    hf_history_free(h);
    return HF_EXIT_VALID;
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const settings *set = user;
    const hf_format *format;
    char hint[160] = "";
    hf_error err;
    hf_status st =
        hf_cli_format(set->from, false, &format, hint, sizeof hint, &err);
    int status = HF_EXIT_VALID;

    if (st != HF_OK)
        return hf_cli_fail(cli, st, &err, hint);
    for (unsigned i = 0; i < operands->n; i++) {
        if (i > 0 && !set->json)
            hf_out_char(&cli->out, '\n');
        status =
            hf_exit_worse(status, one_file(cli, set, operands->at[i], format));
    }
    return status;
}

static const hf_option options[] = {
    HF_ROW_FROM(settings),
    HF_ROW_JSON(settings),
    HF_ROW_TIME(settings),
    HF_ROW_MEMORY(settings),
    {0},
};

static const hf_example examples[] = {
    {"holdfast stats run.jsonl", "What is in this file?"},
    {"holdfast stats --json *.hf", "The same about many, for a script"},
    {0},
};

const hf_command hf_command_stats = {
    .name = "stats",
    .operands = "FILE...",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .summary = "count what is in a history",
    .description =
        "Prints how many sessions, transactions (by outcome and level), "
        "operations (by kind), keys and values a history has, which parts of "
        "a certificate, and what it costs: memory held, bytes for each "
        "operation, speed of loading.\n"
        "\n"
        "A value is a duplicate if it is written to its key more than once. "
        "A read is ambiguous if its value has several possible writers (the "
        "initial state is one): an engine must then try each.",
    .options = options,
    .examples = examples,
    .status = "0 done, 2 bad usage or bad input, 3 a limit was reached",
    .settings_size = sizeof(settings),
    .run = run,
};
