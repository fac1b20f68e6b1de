/* cmd_check.c: holdfast check. */
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json_out.h"
#include "cli/check.h"
#include "history/history.h"
#include "history/items_only.h"
#include "history/promises.h"
#include "report/report.h"
#include "sql/oracle.h"

/* Findings of one anomaly that an engine keeps if it is not told. */
#define ENGINE_KEEPS 100
#define MOST_THREADS 1024
#define ENGINE_AUTO 1 /* --engine auto was given */

/* ---- the level ---------------------------------------------------------- */

static hf_status find_level(const char *name, hf_job *job, char *hint,
                            size_t hint_size, hf_error *err)
{
    const char *near = NULL;
    char quoted[64];

    job->level = HF_LEVEL_COUNT;
    job->auto_level = false;
    if (!name)
        return HF_OK;
    if (hf_str_same_name(hf_str_of(name), HF_STR("auto"))) {
        job->auto_level = true;
        return HF_OK;
    }
    if (hf_level_find(hf_str_of(name), &job->level, &near))
        return HF_OK;
    job->level = HF_LEVEL_COUNT;
    if (near)
        (void)snprintf(hint, hint_size, "did you mean \"%s\"?", near);
    else
        (void)snprintf(hint, hint_size, "\"holdfast levels\" lists the levels");
    return hf_fail(err, HF_ERR_USAGE, "unknown level \"%s\"",
                   hf_quote(quoted, sizeof quoted, name, strlen(name)));
}

/* The one level that every transaction names, or HF_LEVEL_COUNT. */
static hf_level common_level(const hf_history *h)
{
    if (!h->txn_level || h->n_txns == 0)
        return HF_LEVEL_COUNT;
    for (uint32_t t = 0; t < h->n_txns; t++)
        if (h->txn_level[t] != h->txn_level[0])
            return HF_LEVEL_COUNT;
    return h->txn_level[0] < HF_LEVEL_COUNT ? (hf_level)h->txn_level[0]
                                            : HF_LEVEL_COUNT;
}

static void default_level(hf_job *job)
{
    hf_level common = common_level(job->h);

    job->level = common != HF_LEVEL_COUNT ? common : HF_SERIALIZABLE;
    if (job->set->quiet)
        return;
    if (common != HF_LEVEL_COUNT)
        hf_cli_note(job->cli,
                    "no --level: checking %s, the level that the "
                    "transactions name",
                    hf_level_get(common)->name);
    else if (job->set->mixed)
        hf_cli_note(job->cli, "no --level: transactions that name none are "
                              "judged at serializable");
    else
        hf_cli_note(job->cli, "no --level: checking serializable");
}

/* Says so if transactions that name another level are judged at this one. */
static void note_other_levels(hf_job *job)
{
    const hf_history *h = job->h;
    uint32_t others = 0;

    if (job->set->quiet || job->auto_level || job->set->mixed || !h->txn_level)
        return;
    for (uint32_t t = 0; t < h->n_txns; t++)
        others += h->txn_level[t] != HF_LEVEL_UNSET &&
                  h->txn_level[t] != (uint8_t)job->level;
    if (others > 0)
        hf_cli_note(job->cli,
                    "%u %s another level, all are judged at %s; --mixed "
                    "judges each at its own",
                    others,
                    hf_plural(others, "transaction names", "transactions name"),
                    hf_level_get(job->level)->name);
}

static bool uses_sessions(const hf_level_info *level)
{
    return level->session_order || level->real_time;
}

/* Is a transaction judged by a level that uses the order of sessions? */
static bool some_use_sessions(const hf_job *job)
{
    if (job->auto_level || uses_sessions(hf_level_get(job->level)))
        return true;
    for (hf_txn_id t = 0; job->set->mixed && t < job->h->n_txns; t++)
        if (uses_sessions(hf_level_get(
                (hf_level)hf_txn_own_level(job->h, t, job->level))))
            return true;
    return false;
}

/* A session whose transactions overlap has no order.  Levels that do not use
 * one can be judged all the same. */
static hf_status check_sessions(hf_job *job, hf_error *err)
{
    hf_status st = hf_promises_check_sessions(job->h, err);

    if (st == HF_OK)
        return HF_OK;
    if (some_use_sessions(job) || (job->options.assume & HF_REST_SEQUENTIAL)) {
        hf_cli_place("could not use history", job->path, err);
        return st;
    }
    hf_cli_place("history", job->path, err);
    if (!job->set->quiet)
        hf_cli_note(job->cli, "note: %s; %s does not use the order of sessions",
                    err->text, hf_level_get(job->level)->name);
    return HF_OK;
}

/* ---- assumptions -------------------------------------------------------- */

/* The index-th bit that a user may assume; 0 after the last. */
static unsigned assumable(unsigned index)
{
    for (unsigned i = 0; i < HF_REST_COUNT; i++)
        if ((HF_REST_ASSUMABLE & 1u << i) && index-- == 0)
            return 1u << i;
    return 0;
}

/* What --assume may name; NULL after the last. */
static const char *choose_assumption(unsigned index)
{
    return assumable(index) ? hf_rest_name(assumable(index)) : NULL;
}

/* HF_REST_* for the set of the option. */
static unsigned assumed(unsigned set)
{
    unsigned rests = 0;

    for (unsigned i = 0; assumable(i); i++)
        if (set & 1u << i)
            rests |= assumable(i);
    return rests;
}

/* ---- the expected order ------------------------------------------------- */

static const struct {
    const char *name;
    unsigned rest;
} orders[] = {{"serial", HF_REST_BY_SERIAL},
              {"commit", HF_REST_BY_COMMIT},
              {"start", HF_REST_BY_START},
              {"end", HF_REST_BY_END},
              {"file", HF_REST_BY_FILE}};

const char *hf_choose_order(unsigned index)
{
    return index < sizeof(orders) / sizeof(orders[0]) ? orders[index].name
                                                      : NULL;
}

/* In the order of hf_hint. */
static const char *choose_hint(unsigned index)
{
    static const char *const hints[] = {"serial", "commit", "times", "end",
                                        "begin",  "middle", "file"};

    return index < sizeof(hints) / sizeof(hints[0]) ? hints[index] : NULL;
}

/* ---- the witness and the graph ------------------------------------------ */

typedef void (*content)(const hf_job *job, const hf_result *r, hf_out *out);

static void put_witness(const hf_job *job, const hf_result *r, hf_out *out)
{
    hf_json j;

    hf_json_init(&j, out);
    hf_witness_write(job->h, r->level, r->verdict, &r->witness, &j);
    hf_out_char(out, '\n');
}

static void put_dot(const hf_job *job, const hf_result *r, hf_out *out)
{
    hf_result_dot(job->h, r, hf_job_findings(job), out);
}

/* `what` is "witness", "graph" or "page". */
static hf_status write_file(const hf_job *job, const hf_result *r,
                            const char *what, const char *path, content put,
                            hf_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    hf_status st = HF_OK;
    hf_out file;
    int fd;

    fd = standard ? STDOUT_FILENO
                  : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return hf_fail(err, HF_ERR_IO, "could not write %s \"%s\": %s", what,
                       path, strerror(errno));
    if (standard)
        hf_cli_flush(job->cli);
    hf_out_init_fd(&file, fd);
    put(job, r, &file);
    st = hf_out_close(&file, err);
    if (!standard && close(fd) != 0 && st == HF_OK)
        st = hf_fail(err, HF_ERR_IO, "%s", strerror(errno));
    if (st != HF_OK)
        hf_error_context(err, "%s \"%s\"", what, path);
    return st;
}

/* The files that were asked for. */
static hf_status write_files(const hf_job *job, const hf_result *r,
                             hf_error *err)
{
    hf_status st = HF_OK;

    if (job->set->witness && r->verdict == HF_UNKNOWN)
        hf_cli_note(job->cli, "no witness written: the verdict is unknown");
    else if (job->set->witness)
        st = write_file(job, r, "witness", job->set->witness, put_witness, err);
    if (job->set->dot && st == HF_OK)
        st = write_file(job, r, "graph", job->set->dot, put_dot, err);
    if (job->set->html && st == HF_OK)
        st = write_file(job, r, "page", job->set->html, hf_job_page, err);
    return st;
}

/* ---- one file ----------------------------------------------------------- */

static void last_words(const void *user, const char *reason, hf_out *out)
{
    hf_job_print_unknown(user, reason, out);
}

/* Who judged it, and why not the one that was asked first.  If it was that one
 * only who names "auto" is told. */
static void tell_engine(const hf_job *job, const hf_result *r)
{
    if (job->set->quiet || job->set->json || r->verdict == HF_UNKNOWN)
        return;
    if (r->open)
        hf_cli_note(job->cli, "engine %s judged it; engine %s left open: %.*s",
                    r->engine, r->open_to, (int)strcspn(r->open, ":;"),
                    r->open);
    else if (job->set->engine == ENGINE_AUTO && r->chosen)
        hf_cli_note(job->cli, "engine %s judged it: %s", r->engine, r->chosen);
}

static int check_level(hf_job *job)
{
    hf_result *r = NULL;
    hf_error err;
    hf_status st = hf_job_judge(job, job->level, &r, &err);
    int status;

    hf_cli_stop(job->cli); /* from here on there is an answer */
    if (st != HF_OK) {
        hf_error_context(&err, "could not check \"%s\"", job->path);
        return hf_cli_fail(job->cli, st, &err, NULL);
    }
    tell_engine(job, r);
    hf_job_print(job, r);
    status = hf_exit_of_verdict(r->verdict);
    st = write_files(job, r, &err);
    if (st != HF_OK)
        status = hf_cli_fail(job->cli, st, &err, NULL);
    hf_result_free(r);
    return status;
}

/* With --ignore-certificate even one that contradicts the history does no
 * harm. */
static hf_status load(hf_job *job, const hf_format *format, hf_history **ret,
                      hf_error *err)
{
    if (hf_cli_interrupted())
        return HF_ERR_LIMIT;
    if (job->set->ignore_certificate)
        return hf_cli_load(job->cli, job->path, format, ret, err);
    return hf_cli_load_to_judge(job->cli, job->path, format, ret, err);
}

/* The level is settled; h may be judged unless its sessions make no sense. */
static int judge(hf_job *job, const hf_history *h)
{
    hf_error err;
    hf_status st;

    job->h = h;
    if (job->level == HF_LEVEL_COUNT && !job->auto_level)
        default_level(job);
    note_other_levels(job);
    st = check_sessions(job, &err);
    if (st != HF_OK)
        return hf_cli_fail(job->cli, st, &err,
                           (job->options.assume & HF_REST_SEQUENTIAL)
                               ? "per-key-sequential needs the order of "
                                 "sessions"
                               : "a level that does not use the order of "
                                 "sessions, such as --level serializable, "
                                 "can be checked");
    return job->auto_level ? hf_job_auto(job) : check_level(job);
}

/* The history, or what a checker of items would see of it. */
static int judge_all_or_items(hf_job *job, const hf_history *h)
{
    hf_history *items;
    int status;

    if (!job->set->no_predicates)
        return judge(job, h);
    items = hf_items_only(h);
    status = judge(job, items);
    hf_items_only_free(items);
    return status;
}

static const char *choose_oracle(unsigned index)
{
    return index == 0 ? hf_sql_oracle_sqlite.name : NULL;
}

static int judge_without_certificate(hf_job *job, const hf_history *h)
{
    hf_history plain = *h; /* the columns are shared */
    hf_error err;
    hf_status st;

    plain.cert = (hf_certificate){0};
    st = hf_promises_check(&plain, &err);
    if (st == HF_OK)
        return judge_all_or_items(job, &plain);
    hf_cli_place("could not use history", job->path, &err);
    return hf_cli_fail(job->cli, st, &err, NULL);
}

static int check_file(hf_job *job, const hf_format *format)
{
    hf_level asked = job->level;
    hf_history *h = NULL;
    hf_error err;
    hf_status st;
    int status;

    job->h = NULL;
    hf_cli_start(job->cli, &job->set->limits, last_words, job);
    st = load(job, format, &h, &err);
    if (st == HF_ERR_LIMIT) {
        hf_job_print_unknown(job,
                             hf_cli_interrupted()
                                 ? "interrupted"
                                 : hf_budget_reason(&job->cli->budget),
                             &job->cli->out);
        status = HF_EXIT_UNKNOWN;
    } else if (st != HF_OK) {
        status = hf_cli_fail(job->cli, st, &err, NULL);
    } else {
        status = job->set->ignore_certificate
                     ? judge_without_certificate(job, h)
                     : judge_all_or_items(job, h);
    }
    hf_cli_stop(job->cli);
    hf_history_free(h);
    job->h = NULL;
    job->level = asked;
    return status;
}

/* The names in the settings, and what does not go together. */
static hf_status settle(const hf_check_settings *set, hf_job *job,
                        const hf_format **ret_format, char *hint,
                        size_t hint_size, hf_error *err)
{
    hf_status st =
        hf_cli_format(set->from, false, ret_format, hint, hint_size, err);

    if (st == HF_OK)
        st = find_level(set->level, job, hint, hint_size, err);
    if (st == HF_OK && (set->witness || set->dot || set->html) &&
        (job->several || job->auto_level))
        st = hf_fail(err, HF_ERR_USAGE,
                     "option \"%s\" needs one file and one level",
                     set->witness ? "--witness"
                     : set->dot   ? "--dot"
                                  : "--html");
    if (st == HF_OK && set->mixed && job->auto_level)
        st = hf_fail(err, HF_ERR_USAGE,
                     "option \"--mixed\" needs one level, for transactions "
                     "that name none");
    if (st == HF_OK && set->order > 0 &&
        (set->engine < 2 ||
         strcmp(hf_engine_at(set->engine - 2)->name, "replay") != 0))
        st = hf_fail(err, HF_ERR_USAGE,
                     "option \"--order\" is for \"--engine replay\" only");
    job->options.assume = assumed(set->assume);
    job->options.mixed = set->mixed;
    if (set->dialect > 0)
        job->options.dialect = (hf_sql_dialect)(set->dialect - 1);
    if (set->oracle > 0)
        job->options.oracle = &hf_sql_oracle_sqlite;
    if (set->order > 0)
        job->options.order = orders[set->order - 1].rest;
    job->options.hint = set->hint;
    if (set->threads.given)
        job->options.threads = (unsigned)set->threads.value;
    if (set->max.given && set->max.value > ENGINE_KEEPS)
        job->options.most = (uint32_t)set->max.value;
    return st;
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const hf_check_settings *set = user;
    hf_job job = {.cli = cli, .set = set, .several = operands->n > 1};
    const hf_format *format;
    char hint[160] = "";
    hf_error err;
    hf_status st = settle(set, &job, &format, hint, sizeof hint, &err);
    int status = HF_EXIT_VALID;

    if (st != HF_OK)
        return hf_cli_fail(cli, st, &err, hint);
    job.color = hf_cli_color(set->color);
    job.options.cache = hf_sql_cache_new(job.options.dialect);
    if (job.options.oracle && !set->quiet)
        hf_cli_note(cli,
                    "conditions that are not understood are answered by "
                    "%s",
                    job.options.oracle->name);
    for (unsigned i = 0; i < operands->n; i++) {
        job.path = operands->at[i];
        if (i > 0 && !set->json && !set->quiet)
            hf_out_char(&cli->out, '\n');
        status = hf_exit_worse(status, check_file(&job, format));
    }
    hf_sql_cache_free(job.options.cache);
    return status;
}

/* ---- table -------------------------------------------------------------- */

static const hf_option options[] = {
    {.name = "level",
     .letter = 'l',
     .argument = "NAME",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(hf_check_settings, level),
     .choices = hf_choose_level,
     .summary = "the isolation level, or auto for all of them",
     .detail = "Names, short names and other tools' names are accepted: "
               "\"holdfast levels\" lists them. auto reports the strongest "
               "levels that hold and the weakest that fail. Without this "
               "option it is the level that all transactions name, else "
               "serializable.",
     .example = "--level snapshot-isolation"},
    {.name = "engine",
     .letter = 'e',
     .argument = "NAME",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(hf_check_settings, engine),
     .choices = hf_choose_engine,
     .summary = "who judges: auto, or one engine",
     .detail = "graph is dependency graphs: any size, whenever the order of "
               "versions is known or can be completed. certificate is the "
               "same with predicate operations and aggregates. replay holds "
               "every result against the order in which the database says it "
               "worked (--order). weak is causal and the levels below it "
               "without an order of versions. polygraph decides what is open "
               "(orders, sources of equal values, outcomes) by a search, with "
               "a proof either way; one that the history is invalid is then "
               "shrunk until every transaction of it is needed, for at most "
               "a minute or half of what --time leaves. brute is the textbook "
               "definition of every "
               "level by enumeration, for up to 8 transactions. auto asks "
               "graph or certificate, as the history wants, then weak, "
               "polygraph and brute. It says who judged and why: in JSON "
               "always, else in a note if the first left something open, or "
               "if auto was named.",
     .example = "--engine brute"},
    {.name = "assume",
     .argument = "NAMES",
     .type = HF_OPTION_SET,
     .offset = offsetof(hf_check_settings, assume),
     .choices = choose_assumption,
     .summary = "what the database promises about each key",
     .detail = "Helps where the order of versions was not recorded; several "
               "names are parted by commas, or the option is repeated. "
               "per-key-linearizable: versions "
               "of a key keep real time; per-key-sequential: they keep the "
               "order of each session; writes-follow-reads: a transaction's "
               "version of a key comes after the one it read. A verdict "
               "that rests on one of them says so, and an assumption that "
               "the history contradicts is reported as cyclic versions.",
     .example = "--assume per-key-linearizable"},
    {.name = "order",
     .argument = "NAME",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(hf_check_settings, order),
     .choices = hf_choose_order,
     .summary = "the expected order of transactions, for engine replay",
     .detail = "serial: the order in the certificate, whatever the database "
               "derived it from; commit: recorded commit times, for strict "
               "two-phase locking; start: recorded start times, for "
               "timestamp ordering; end: the ends of transactions by the "
               "clients' clock; file: as they stand in the file. Without "
               "this option it is serial if that was recorded, else commit.",
     .example = "--engine replay --order commit"},
    {.name = "hint",
     .argument = "NAME",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(hf_check_settings, hint),
     .choices = choose_hint,
     .summary = "the order in which engine polygraph begins to search",
     .detail = "Only to find an answer sooner: it is never part of a proof. "
               "serial: the order in the certificate; commit: when the commit "
               "was called; times: starts by begin, commits by end; end, "
               "begin, middle: one of these times; file: "
               "as they stand in the file. Without this option all that the "
               "history has are tried in turn.",
     .example = "--engine polygraph --hint middle"},
    {.name = "mixed",
     .type = HF_OPTION_FLAG,
     .offset = offsetof(hf_check_settings, mixed),
     .summary = "judge each transaction by the level it names itself",
     .detail = "Transactions that name none are judged by --level. What one "
               "reads, and what must not be overwritten behind its back, is "
               "a matter of its own level; the order of versions is one for "
               "all.",
     .example = "--mixed --level serializable"},
    {.name = "ignore-certificate",
     .type = HF_OPTION_FLAG,
     .offset = offsetof(hf_check_settings, ignore_certificate),
     .summary = "judge as if no certificate had been recorded",
     .detail = "Version orders, timestamps and the expected order of the "
               "database are left aside: only what clients saw counts.",
     .example = "--ignore-certificate"},
    {.name = "no-predicates",
     .type = HF_OPTION_FLAG,
     .offset = offsetof(hf_check_settings, no_predicates),
     .summary = "judge items only, as if predicates had not been recorded",
     .detail = "A predicate operation is then a read of the rows it "
               "returned.  Shows what a checker of items would miss.  To "
               "re-check such a verdict give \"holdfast verify\" the same "
               "option.",
     .example = "--no-predicates"},
    {.name = "dialect",
     .argument = "NAME",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(hf_check_settings, dialect),
     .choices = hf_choose_dialect,
     .summary = "whose rules conditions follow: any, postgres or sqlite",
     .detail = "any: what databases disagree about (the order of texts, the "
               "case of letters in LIKE, division) is not guessed, and "
               "makes the verdict unknown where it matters.",
     .example = "--dialect postgres"},
    {.name = "oracle",
     .argument = "NAME",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(hf_check_settings, oracle),
     .choices = choose_oracle,
     .summary = "who is asked about conditions that are not understood",
     .detail = "sqlite: SQLite in memory evaluates them on the versions of "
               "the rows. Its answers need not be those of the database that "
               "the history comes from, and \"verify\" cannot re-check what "
               "rests on them.",
     .example = "--oracle sqlite"},
    HF_ROW_FROM(hf_check_settings),
    HF_ROW_JSON(hf_check_settings),
    {.name = "witness",
     .letter = 'w',
     .argument = "FILE",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(hf_check_settings, witness),
     .summary = "write the proof of the verdict to this file",
     .detail = "For \"holdfast verify\". - is standard output.",
     .example = "--witness witness.json",
     .completes_files = true},
    {.name = "dot",
     .argument = "FILE",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(hf_check_settings, dot),
     .summary = "write the evidence as a graph for Graphviz",
     .detail = "In the DOT language: \"dot -Tsvg FILE\" draws it. - is "
               "standard output. For one file and one level.",
     .example = "--dot cycle.dot",
     .completes_files = true},
    {.name = "html",
     .argument = "FILE",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(hf_check_settings, html),
     .summary = "write the answer as one page for a browser",
     .detail = "The verdict in a sentence, the evidence as a graph to click, a "
               "timeline with a lane for each client, statistics: in one file "
               "that works without a network. - is standard output. For one "
               "file and one level.",
     .example = "--html report.html",
     .completes_files = true},
    {.name = "max",
     .letter = 'm',
     .argument = "N",
     .type = HF_OPTION_NUMBER,
     .offset = offsetof(hf_check_settings, max),
     .min = 1,
     .max = UINT32_MAX,
     .summary = "show at most N anomalies (default: 5; with --json, all)",
     .detail = "All are counted, by kind; those shown are the worst kinds and "
               "of each kind the shortest, the first of each kind before the "
               "second of another. Of one kind 100 are kept unless N is "
               "larger.",
     .example = "--max 20"},
    {.name = "threads",
     .argument = "N",
     .type = HF_OPTION_NUMBER,
     .offset = offsetof(hf_check_settings, threads),
     .min = 1,
     .max = MOST_THREADS,
     .summary = "use N threads (default: as many as there are cores)",
     .detail = "The answer is the same whatever their number.",
     .example = "--threads 1"},
    HF_ROW_TIME(hf_check_settings),
    HF_ROW_MEMORY(hf_check_settings),
    HF_ROW_COLOR(hf_check_settings),
    {.name = "quiet",
     .letter = 'q',
     .type = HF_OPTION_FLAG,
     .offset = offsetof(hf_check_settings, quiet),
     .summary = "print no verdict, only exit with it",
     .example = "-q"},
    {0},
};

static const hf_example examples[] = {
    {"holdfast check --level serializable run.jsonl",
     "Could this run have happened one transaction at a time?"},
    {"holdfast check --level auto run.jsonl",
     "Which levels hold, which do not"},
    {"holdfast check --json --time 10s *.edn",
     "Several Jepsen histories, ten seconds each, as JSON Lines"},
    {"holdfast check --witness proof.json run.jsonl && "
     "holdfast verify run.jsonl proof.json",
     "Keep the proof and have it checked independently"},
    {"holdfast check --dot - -q run.jsonl | dot -Tsvg >cycle.svg",
     "Draw the evidence"},
    {"holdfast check --html report.html run.jsonl",
     "A page to look at, and to send to somebody"},
    {0},
};

const hf_command hf_command_check = {
    .name = "check",
    .operands = "FILE...",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .summary = "judge histories against an isolation level",
    .description =
        "Reads each history and answers whether it could have happened at "
        "the level: valid, invalid (with the anomaly, shortest evidence "
        "first) or unknown (with the reason: a limit was reached, or the "
        "history does not say enough). An answer is never a guess: each "
        "valid or invalid comes with a witness that is checked again, "
        "before it is printed, by code that shares nothing with the "
        "engine; a note says so where that code cannot judge.\n"
        "\n"
        "The format of a file is found by its content; gzip and zstd are "
        "read as they are; - is standard input. Limits count for each file, "
        "its loading included. Ctrl-C ends the work in hand and prints what "
        "is known; a second one ends the program.\n"
        "\n"
        "With --level auto the status is 1 if any level fails.",
    .options = options,
    .examples = examples,
    .status = "0 valid, 1 invalid, 2 bad usage or bad input, 3 unknown; of "
              "several files the worst, in the order 2, 1, 3, 0",
    .settings_size = sizeof(hf_check_settings),
    .run = run,
};
