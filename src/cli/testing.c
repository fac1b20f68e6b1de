/* testing.c: what `holdfast test` leaves behind. */
#include "cli/testing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json_out.h"
#include "model/witness.h"
#include "report/html.h"
#include "report/report.h"

const char *hf_testing_path(const hf_testing *t, const char *name, char *buffer)
{
    (void)snprintf(buffer, HF_TESTING_PATH, "%s/%s", t->directory, name);
    return buffer;
}

/* ---- files --------------------------------------------------------------- */

typedef void (*content)(const hf_testing *t, hf_out *out);

static hf_status write_file(const hf_testing *t, const char *name, content put,
                            hf_error *err)
{
    char path[HF_TESTING_PATH];
    int fd = open(hf_testing_path(t, name, path),
                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    hf_status st;
    hf_out out;

    if (fd < 0)
        return hf_fail(err, HF_ERR_IO, "could not write \"%.200s\": %s", path,
                       strerror(errno));
    hf_out_init_fd(&out, fd);
    put(t, &out);
    st = hf_out_close(&out, err);
    if (close(fd) != 0 && st == HF_OK)
        st = hf_fail(err, HF_ERR_IO, "%s", strerror(errno));
    if (st != HF_OK)
        hf_error_context(err, "could not write \"%.200s\"", path);
    return st;
}

static void put_verdict(const hf_testing *t, hf_out *out)
{
    hf_json j;

    if (!t->h) { /* not even read */
        hf_job_write_unknown(&t->job, t->result->reason, out);
        return;
    }
    hf_json_init(&j, out);
    hf_result_write_first(t->h, t->result, UINT32_MAX, &j);
    hf_out_char(out, '\n');
}

static void put_witness(const hf_testing *t, hf_out *out)
{
    const hf_result *r = t->result;
    hf_json j;

    hf_json_init(&j, out);
    hf_witness_write(t->h, r->level, r->verdict, &r->witness, &j);
    hf_out_char(out, '\n');
}

static void put_dot(const hf_testing *t, hf_out *out)
{
    hf_result_dot(t->h, t->result, hf_job_findings(&t->job), out);
}

void hf_testing_promise(const hf_testing *t, hf_out *out)
{
    const hf_running *r = &t->running;

    hf_out_format(out, "%s at %s promises %s (%s)\n", r->about.product,
                  hf_db_level_name(r->level), hf_level_get(r->promised)->name,
                  r->where);
}

static void put_log(const hf_testing *t, hf_out *out)
{
    hf_out_format(out, "database: %s, %s\n", t->running.about.product,
                  t->running.about.where);
    hf_testing_promise(t, out);
    hf_running_print(&t->running, out);
    if (t->running.notes.n > 0) {
        hf_out_text(out, "\n");
        hf_out_str(out, hf_out_view(&t->running.notes));
    }
    if (t->result && !t->h)
        hf_out_format(out, "\nunknown: %s\n", t->result->reason);
    else if (t->result) {
        hf_out_text(out, "\n");
        hf_result_print(t->h, t->result, hf_job_findings(&t->job), false, out);
    }
}

/* Who judged, if that was asked for: others may leave it open. */
static void put_engine(const hf_testing *t, hf_out *out)
{
    if (t->set->engine)
        hf_out_format(out, " --engine %s",
                      hf_choose_engine(t->set->engine - 1));
}

/* What does the same again. */
static void put_command(const hf_testing *t, hf_out *out)
{
    hf_out_text(out, "holdfast test");
    hf_running_words(&t->running, out);
    if (t->set->level)
        hf_out_format(out, " --level %s", hf_level_get(t->level)->name);
    put_engine(t, out);
}

static void put_check(const hf_testing *t, hf_out *out)
{
    hf_out_format(out, "holdfast check --level %s",
                  hf_level_get(t->level)->name);
    put_engine(t, out);
    hf_out_text(out, " history.hf");
}

static void put_repeat(const hf_testing *t, hf_out *out)
{
    const char *level = hf_level_get(t->level)->name;

    hf_out_text(out, "The verdict again, from the history in this "
                     "directory:\n\n  ");
    put_check(t, out);
    hf_out_text(out, "\n\n");
    if (t->result && t->result->verdict != HF_UNKNOWN)
        hf_out_text(out, "Its proof, checked by other code:\n\n"
                         "  holdfast verify history.hf witness.json\n\n");
    if (t->explained) {
        unsigned keeps = t->running.driver->keeps;

        hf_out_format(out,
                      "The names of what it found rest on assumptions about "
                      "the versions of a row,\nwhich the proof does not "
                      "need:\n\n"
                      "  holdfast check --level %s --assume ",
                      level);
        for (unsigned bit = 1; bit <= keeps; bit <<= 1)
            if (keeps & bit)
                hf_out_format(out, "%s%s", keeps & (bit - 1) ? "," : "",
                              hf_rest_name(bit));
        hf_out_text(out, " history.hf\n\n");
    }
    hf_out_text(out, "Another run of the same kind. The seed decides what is "
                     "drawn; how the\nclients interleave is up to the "
                     "machine, so it takes its own course:\n\n"
                     "  ");
    put_command(t, out);
    hf_out_text(out, "\n\nTo look at the history as text:\n\n"
                     "  holdfast convert history.hf -o history.jsonl\n");
}

hf_status hf_testing_write_log(const hf_testing *t, hf_error *err)
{
    return write_file(t, "log.txt", put_log, err);
}

/* ---- the page ------------------------------------------------------------ */

#define MOST_ROWS 12u

static uint32_t breach_rows(const hf_running *r, hf_report_row *ret)
{
    uint32_t n = 0;

    while (n < MOST_ROWS &&
           hf_running_breach(r, n, &ret[n].name, &ret[n].value))
        n++;
    return n;
}

static void put_page(const hf_testing *t, hf_out *out)
{
    /* the last ones are not always there */
    static const hf_report_row files[] = {
        {"history.hf", "the history"},
        {"verdict.json", "the verdict, for programs"},
        {"log.txt", "what was run, and what was found"},
        {"repeat.txt", "how to do it again"},
        {"witness.json", "its proof, for holdfast verify"},
        {"cycle.dot", "the evidence as a graph, for Graphviz"}};
    const unsigned n_files = sizeof files / sizeof *files;
    const hf_verdict verdict = t->result->verdict;
    hf_report_row breaches[MOST_ROWS];
    char numbers[4][64], when[40];
    const hf_running *r = &t->running;
    const hf_run_progress *p = &r->report.end;
    time_t now = time(NULL);
    struct tm tm;
    hf_out command, check;

    hf_out_init_memory(&command);
    put_command(t, &command);
    hf_out_char(&command, '\0');
    hf_out_init_memory(&check);
    put_check(t, &check);
    hf_out_char(&check, '\0');
    (void)snprintf(numbers[0], sizeof numbers[0], "%u", hf_running_clients(r));
    (void)snprintf(numbers[1], sizeof numbers[1], "%llu",
                   (unsigned long long)r->seed);
    (void)snprintf(numbers[2], sizeof numbers[2], "%.1f s", p->seconds);
    (void)snprintf(numbers[3], sizeof numbers[3], "%.3f ms, 99 %% below %.3f",
                   p->median * 1e3, p->slow * 1e3);
    (void)gmtime_r(&now, &tm);
    (void)strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &tm);
    hf_report_html(
        &(hf_report_input){.h = t->h,
                           .r = t->result,
                           .most = hf_job_findings(&t->job),
                           .database = r->about.product,
                           .isolation = hf_running_isolation(r),
                           .workload = hf_running_workload(r),
                           .when = when,
                           .facts =
                               (const hf_report_row[]){{"Clients", numbers[0]},
                                                       {"Seed", numbers[1]},
                                                       {"Duration", numbers[2]},
                                                       {"Latency", numbers[3]}},
                           .n_facts = 4,
                           .checked_invariants = r->report.checked,
                           .breaches = breaches,
                           .n_breaches = breach_rows(r, breaches),
                           .all_breaches = hf_running_breaches(r),
                           .history = "history.hf",
                           .command = command.at,
                           .check = check.at,
                           .files = files,
                           .n_files = verdict == HF_INVALID   ? n_files
                                      : verdict == HF_UNKNOWN ? n_files - 2
                                                              : n_files - 1},
        out);
    hf_out_release(&command);
    hf_out_release(&check);
}

hf_status hf_testing_write(const hf_testing *t, hf_error *err)
{
    hf_status st = hf_testing_write_log(t, err);

    if (st == HF_OK)
        st = write_file(t, "repeat.txt", put_repeat, err);
    if (st == HF_OK && t->result)
        st = write_file(t, "verdict.json", put_verdict, err);
    if (st == HF_OK && t->result && t->h)
        st = write_file(t, "report.html", put_page, err);
    if (st == HF_OK && t->result && t->result->verdict != HF_UNKNOWN)
        st = write_file(t, "witness.json", put_witness, err);
    if (st == HF_OK && t->result && t->result->verdict == HF_INVALID)
        st = write_file(t, "cycle.dot", put_dot, err);
    return st;
}
