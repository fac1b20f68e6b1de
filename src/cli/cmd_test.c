/* cmd_test.c: holdfast test: run, check, and put all of it in one directory.
 */
#include "cli/commands.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/testing.h"
#include "history/promises.h"

#define DEFAULT_SECONDS 3.0
#define DEFAULT_TRANSACTIONS 20000u
#define DEFAULT_CHECK_SECONDS 60.0
#define SHOWN 2u
/* ---- the directory ------------------------------------------------------- */

static const char *database_of(const hf_test_settings *set)
{
    return set->running.db ? set->running.db : "sqlite";
}

/* holdfast-20260102-030405-sqlite-bank */
static void name_directory(hf_testing *t)
{
    const char *db = database_of(t->set);
    time_t now = time(NULL);
    char when[32];
    struct tm tm;

    if (t->set->output) {
        (void)snprintf(t->directory, sizeof t->directory, "%s", t->set->output);
        return;
    }
    (void)localtime_r(&now, &tm);
    (void)strftime(when, sizeof when, "%Y%m%d-%H%M%S", &tm);
    (void)snprintf(t->directory, sizeof t->directory, "holdfast-%s-%.*s-%.40s",
                   when, (int)strcspn(db, ":"), db,
                   hf_running_workload(&t->running));
}

static hf_status no_directory(const hf_testing *t, int code, hf_error *err)
{
    char quoted[160];

    hf_quote(quoted, sizeof quoted, t->directory, strlen(t->directory));
    if (code == EEXIST)
        return hf_fail(err, HF_ERR_IO, "output \"%s\" is there already",
                       quoted);
    return hf_fail(err, HF_ERR_IO, "could not make directory \"%s\": %s",
                   quoted, strerror(code));
}

static hf_status make_directory(hf_testing *t, hf_error *err)
{
    size_t n;

    name_directory(t);
    n = strlen(t->directory);
    /* two tests may start in one second */
    for (unsigned i = 2; mkdir(t->directory, 0777) != 0; i++) {
        if (errno != EEXIST || t->set->output || i > 99)
            return no_directory(t, errno, err);
        (void)snprintf(t->directory + n, sizeof t->directory - n, "-%u", i);
    }
    t->made = true;
    return HF_OK;
}

/* ---- checking ------------------------------------------------------------ */

static void no_words(const void *user, const char *reason, hf_out *out)
{
    hf_job_print_unknown(user, reason, out);
}

static hf_status check_history(hf_testing *t, const char *path, hf_error *err)
{
    hf_job *job = &t->job;
    hf_status st;

    t->check = (hf_check_settings){.json = t->set->json,
                                   .quiet = t->set->quiet,
                                   .engine = t->set->engine,
                                   .max = t->set->max};
    if (!t->set->max.given && !t->set->json)
        t->check.max = (hf_number){true, SHOWN};
    t->check.limits.seconds = t->set->check_seconds > 0 ? t->set->check_seconds
                                                        : DEFAULT_CHECK_SECONDS;
    t->check.limits.bytes = t->set->check_bytes;
    *job = (hf_job){.cli = t->running.cli,
                    .set = &t->check,
                    .path = path,
                    .color = hf_cli_color(t->set->color),
                    .level = t->level};
    job->options.cache = hf_sql_cache_new(job->options.dialect);
    hf_cli_start(job->cli, &t->check.limits, no_words, job);
    st = hf_cli_load_to_judge(job->cli, path, NULL, &t->h, err);
    if (st == HF_OK)
        st = hf_promises_check_sessions(t->h, err);
    job->h = t->h;
    if (st == HF_OK)
        st = hf_job_judge(job, t->level, &t->result, err);
    hf_cli_stop(job->cli);
    if (st == HF_OK)
        hf_testing_explain(t);
    hf_sql_cache_free(job->options.cache);
    job->options.cache = NULL;
    return st;
}

/* ---- the answer ---------------------------------------------------------- */

static const char *choose_expected(unsigned index)
{
    return index < HF_VERDICT_COUNT ? hf_verdict_name((hf_verdict)index) : NULL;
}

static bool invariants_count(const hf_testing *t)
{
    return hf_level_implies(t->level, HF_SERIALIZABLE) &&
           hf_running_breaches(&t->running) > 0;
}

/* Whether all of them hold is part of the answer there. */
static bool invariants_unknown(const hf_testing *t)
{
    return hf_level_implies(t->level, HF_SERIALIZABLE) &&
           hf_running_unchecked(&t->running) != NULL;
}

static int exit_of(const hf_testing *t)
{
    hf_verdict verdict = t->result->verdict;

    /* one after the other they would have kept them, decided or not */
    if (invariants_count(t) || t->watched == HF_EXIT_INVALID)
        verdict = HF_INVALID;
    if (verdict == HF_VALID && invariants_unknown(t))
        verdict = HF_UNKNOWN;
    if (t->set->expect == 0)
        return hf_exit_worse(hf_exit_of_verdict(verdict), t->watched);
    return verdict == (hf_verdict)(t->set->expect - 1) ? HF_EXIT_VALID
                                                       : HF_EXIT_INVALID;
}

/* No engine came to an end. */
static hf_result *unknown(hf_level level, const char *reason)
{
    hf_result *r = hf_result_new(level, "none");

    r->verdict = HF_UNKNOWN;
    r->reason =
        (char *)(uintptr_t)hf_arena_text(&r->arena, reason, strlen(reason));
    return r;
}

/* Before the check, which may take its time. */
static void print_run(const hf_testing *t)
{
    const hf_running *r = &t->running;
    hf_out *out = &r->cli->out;
    char path[HF_TESTING_PATH];

    if (t->set->quiet)
        return;
    if (t->set->json) {
        hf_running_json(r, hf_testing_path(t, "history.hf", path), out);
    } else {
        hf_running_print(r, out);
        hf_testing_promise(t, out);
        hf_out_char(out, '\n');
    }
    hf_cli_flush(r->cli);
}

static void print_answer(const hf_testing *t)
{
    hf_out *out = &t->running.cli->out;

    if (t->set->quiet)
        return;
    if (t->h)
        hf_job_print(&t->job, t->result);
    else
        hf_job_print_unknown(&t->job, t->result->reason, out);
    if (t->set->json)
        return;
    if (t->result->verdict != HF_INVALID && invariants_count(t))
        hf_out_text(out, "\nbut an invariant does not hold, which one after "
                         "the other the transactions would have kept\n");
    else if (t->result->verdict == HF_VALID && invariants_unknown(t))
        hf_out_format(out,
                      "\nbut the invariants could not be looked at, so it is "
                      "open whether they hold: %s\n",
                      hf_running_unchecked(&t->running));
    if (t->set->expect)
        hf_out_format(out, "\nexpected %s\n",
                      choose_expected(t->set->expect - 1));
    hf_out_format(out, "\nall of it is in %s%s\n", t->directory,
                  t->h ? ", for a browser report.html" : "");
}

/* ---- the test ------------------------------------------------------------ */

static int fail(hf_testing *t, hf_status st, const hf_error *err)
{
    char path[HF_TESTING_PATH];
    hf_error other;

    if (t->made && t->running.report.recorded) {
        hf_cli_note(t->running.cli, "the history so far is in \"%.200s\"",
                    hf_testing_path(t, "history.hf", path));
        if (hf_testing_write_log(t, &other) != HF_OK)
            hf_cli_note(t->running.cli, "%s", other.text);
    } else if (t->made) {
        (void)rmdir(t->directory);
    }
    (void)hf_cli_fail(t->running.cli, st, err, NULL);
    return HF_EXIT_BAD;
}

static int interrupted(const hf_testing *t)
{
    hf_error err;
    char path[HF_TESTING_PATH];

    if (hf_testing_write(t, &err) != HF_OK)
        return hf_cli_fail(t->running.cli, HF_ERR_IO, &err, NULL);
    hf_cli_note(t->running.cli,
                "interrupted, not checked; the history so far is in "
                "\"%.200s\"",
                hf_testing_path(t, "history.hf", path));
    return HF_EXIT_UNKNOWN;
}

static int test(hf_testing *t)
{
    char path[HF_TESTING_PATH];
    hf_error err;
    hf_status st = make_directory(t, &err);

    if (st == HF_OK)
        st = hf_running_run(
            &t->running,
            &(hf_running_output){.path = hf_testing_path(t, "history.hf", path),
                                 .seconds = DEFAULT_SECONDS,
                                 .transactions = DEFAULT_TRANSACTIONS},
            &err);
    if (st != HF_OK)
        return fail(t, st, &err);
    if (hf_cli_interrupted())
        return interrupted(t);
    t->watched = hf_running_watched(&t->running);
    hf_db_close(t->running.db); /* the check wants the memory */
    t->running.db = NULL;
    st = hf_testing_write(t, &err); /* should the check not come back */
    print_run(t);
    if (st == HF_OK)
        st = check_history(t, path, &err);
    if (st == HF_ERR_LIMIT) {
        t->result = unknown(t->level, err.text);
        st = HF_OK;
    }
    if (st == HF_OK)
        st = hf_testing_write(t, &err);
    if (st != HF_OK)
        return fail(t, st, &err);
    print_answer(t);
    return exit_of(t);
}

static hf_status find_level(hf_testing *t, char *hint, size_t size,
                            hf_error *err)
{
    const char *name = t->set->level, *near = NULL;
    char quoted[64];

    if (!name || hf_level_find(hf_str_of(name), &t->level, &near))
        return HF_OK;
    if (near)
        (void)snprintf(hint, size, "did you mean \"%s\"?", near);
    else
        (void)snprintf(hint, size, "\"holdfast levels\" lists the levels");
    return hf_fail(err, HF_ERR_USAGE, "unknown level \"%s\"",
                   hf_quote(quoted, sizeof quoted, name, strlen(name)));
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const hf_test_settings *set = user;
    hf_testing t = {.set = set};
    char hint[160] = "";
    hf_error err;
    hf_status st;
    int status;

    (void)operands;
    if (set->running.list)
        return hf_running_list(cli, &set->running);
    t.running = (hf_running){.cli = cli,
                             .set = &set->running,
                             .quiet = set->quiet,
                             .json = set->json,
                             .color = hf_cli_color(set->color)};
    st = find_level(&t, hint, sizeof hint, &err); /* before a server starts */
    if (st == HF_OK)
        st = hf_running_open(&t.running, hint, sizeof hint, &err);
    if (st != HF_OK)
        return hf_cli_fail(cli, st, &err, hint);
    if (!set->level)
        t.level = t.running.promised;
    status = test(&t);
    hf_result_free(t.result);
    hf_result_free(t.explained);
    hf_history_free(t.h);
    hf_running_close(&t.running);
    return status;
}

static const hf_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "DIR",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(hf_test_settings, output),
     .summary = "a new directory for all of it (default: by date)",
     .detail = "report.html, history.hf, verdict.json, witness.json, cycle.dot "
               "if there is "
               "one, log.txt, and repeat.txt: how to do it again.",
     .example = "-o nightly",
     .completes_files = true},
    HF_RUNNING_ROWS,
    {.name = "level",
     .letter = 'l',
     .argument = "NAME",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(hf_test_settings, level),
     .choices = hf_choose_level,
     .summary = "the level to check (default: what the database promises)",
     .detail = "\"holdfast run --list\" says what each database promises at "
               "which level of its own.",
     .example = "--level serializable"},
    {.name = "expect",
     .argument = "VERDICT",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(hf_test_settings, expect),
     .choices = choose_expected,
     .summary = "exit with 0 if this is the verdict, else with 1",
     .example = "--expect invalid"},
    {.name = "engine",
     .letter = 'e',
     .argument = "NAME",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(hf_test_settings, engine),
     .choices = hf_choose_engine,
     .summary = "who judges: auto, or one engine",
     .detail = "As for \"holdfast check\".",
     .example = "--engine polygraph"},
    {.name = "max",
     .letter = 'm',
     .argument = "N",
     .type = HF_OPTION_NUMBER,
     .offset = offsetof(hf_test_settings, max),
     .min = 1,
     .max = UINT32_MAX,
     .summary = "show at most N anomalies (default: 2; with --json, all)",
     .example = "--max 20"},
    {.name = "check-time",
     .argument = "TIME",
     .type = HF_OPTION_SECONDS,
     .offset = offsetof(hf_test_settings, check_seconds),
     .summary = "stop checking after this time (default: 1m)",
     .detail = "What is not decided by then is unknown.",
     .example = "--check-time 10m"},
    {.name = "check-memory",
     .argument = "SIZE",
     .type = HF_OPTION_BYTES,
     .offset = offsetof(hf_test_settings, check_bytes),
     .summary = "stop checking at this much memory: 512M, 2G",
     .example = "--check-memory 2G"},
    HF_ROW_JSON(hf_test_settings),
    HF_ROW_COLOR(hf_test_settings),
    {.name = "quiet",
     .letter = 'q',
     .type = HF_OPTION_FLAG,
     .offset = offsetof(hf_test_settings, quiet),
     .summary = "print no verdict, only exit with it",
     .example = "-q"},
    {0},
};

static const hf_example examples[] = {
    {"holdfast test", "SmallBank on SQLite for some seconds: does it keep what "
                      "it promises?"},
    {"holdfast test --db postgres --isolation repeatable-read -w write-skew "
     "--level serializable",
     "Is PostgreSQL's repeatable read serializable?"},
    {"holdfast test --db store --inject lost-update -w lost-update --expect "
     "invalid",
     "A store that is broken on purpose, for a script"},
    {0},
};

const hf_command hf_command_test = {
    .name = "test",
    .operands = "",
    .min_operands = 0,
    .max_operands = 0,
    .summary = "run a workload on a database and judge what it did",
    .description =
        "\"holdfast run\" and \"holdfast check\" in one: runs a workload, by "
        "default for three seconds or 20,000 transactions, and judges the "
        "history by the level that the database promises for the isolation "
        "level that was asked for. All of it is left in one directory.\n"
        "\n"
        "The invariants of the workload are looked at as well. At "
        "serializable and above one that does not hold makes the exit status "
        "1, whatever the verdict: one after the other the transactions would "
        "have kept it. If they could not be looked at, because the database "
        "did not let us read at the end, a valid history makes it 3 there.",
    .options = options,
    .examples = examples,
    .status = "0 valid, 1 invalid, 2 bad usage, or the database or the output "
              "failed, 3 unknown, or the invariants could not be looked at; "
              "with --expect 0 as expected, 1 not",
    .settings_size = sizeof(hf_test_settings),
    .run = run,
};
