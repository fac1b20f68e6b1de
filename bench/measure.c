/* measure.c: making, loading and checking a mix, each in its own process.
 *
 * The limit is one of CPU time, since the machine may be shared: the check is
 * asked to stop through its budget, and stopped by force a while later.
 */
#include "measure.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/budget.h"
#include "check/check.h"
#include "formats/format.h"
#include "history/certificate.h"
#include "history/promises.h"
#include "verify/verify.h"

#define MOST_MEMORY ((size_t)6 << 30)
#define GRACE 10         /* a shared machine may be that much slower */
#define ENOUGH_SECONDS 1 /* after so long there is no other round */

static char directory[] = "/tmp/hf-mixes-XXXXXX";

static void die(const char *what, const hf_error *err)
{
    fprintf(stderr, "measure: %s: %s\n", what, err ? err->text : "failed");
    exit(2);
}

static double cpu_seconds(void)
{
    return (double)hf_clock_cpu_ns() / 1e9;
}

bool hf_measure_has_eager(void)
{
#ifdef HF_CHECK_HAS_EAGER
    return true;
#else
    return false;
#endif
}

const char *hf_measure_word(const hf_measure *m)
{
    return !m->finished ? "stopped"
           : m->refused ? "REFUSED"
                        : hf_verdict_name(m->verdict);
}

/* ---- the check ----------------------------------------------------------- */

static bool is_over(void *user)
{
    return cpu_seconds() > *(const double *)user;
}

static hf_result *check(const hf_history *h, const hf_measure_ask *ask)
{
    hf_check_options options = {.threads = 1};
    double end = cpu_seconds() + ask->limit;
    hf_budget budget = {
        .bytes = MOST_MEMORY, .interrupted = is_over, .user = &end};
    const hf_engine *engine = hf_engine_find(HF_STR("polygraph"));
    hf_result *r = NULL;
    hf_error err;

#ifdef HF_CHECK_HAS_EAGER
    options.eager = ask->eager;
#endif
    if (!engine)
        die("this build has no engine \"polygraph\"", NULL);
    hf_budget_start(&budget);
    if (hf_promises_check(h, &err) != HF_OK ||
        hf_certificate_check(h, &err) != HF_OK ||
        engine->check(h, ask->level, &options, &budget, &r, &err) != HF_OK)
        die(hf_level_get(ask->level)->name, &err);
    return r;
}

static void keep_text(hf_measure *m, const char *text)
{
    (void)snprintf(m->reason, sizeof(m->reason), "%s", text ? text : "");
}

static void verify(const hf_history *h, const hf_result *r, hf_measure *m)
{
    hf_claim claim = {r->verdict, r->level, r->witness};
    hf_verification v;
    hf_error err;

    if (r->verdict == HF_UNKNOWN)
        return;
    if (r->verdict == HF_INVALID && r->witness.kind == HF_WITNESS_NONE &&
        r->n_findings > 0)
        claim.witness = r->findings[0].witness;
    if (hf_verify_claim(h, &claim, NULL, &v, &err) != HF_OK) {
        m->refused = true;
        keep_text(m, err.text);
    } else if (!v.accepted) {
        m->refused = true;
        keep_text(m, v.reason);
    }
}

static hf_measure check_file(const char *path, const hf_measure_ask *ask)
{
    hf_measure m = {.finished = true, .seconds = 1e30};
    double begin = cpu_seconds(), sum = 0;
    hf_history *h = NULL;
    struct rusage used;
    hf_error err;

    if (hf_load_history(path, NULL, NULL, &h, &err) != HF_OK)
        die("load", &err);
    m.load = cpu_seconds() - begin;
    m.transactions = h->n_txns;
    m.operations = h->n_ops;
    for (unsigned i = 0; i < ask->rounds && sum < ENOUGH_SECONDS; i++) {
        hf_result *r;
        double seconds;

        begin = cpu_seconds();
        r = check(h, ask);
        seconds = cpu_seconds() - begin;
        if (seconds < m.seconds)
            m.seconds = seconds;
        if (i == 0) {
            m.verdict = r->verdict;
            keep_text(&m, r->reason);
            verify(h, r, &m);
        }
        hf_result_free(r);
        sum += seconds;
    }
    (void)getrusage(RUSAGE_SELF, &used);
    m.mebibytes = (double)used.ru_maxrss / 1024;
    return m;
}

static void make_file(const char *path, const hf_mix_options *mix)
{
    hf_history *h = NULL;
    hf_error err;

    if (hf_mix_make(mix, &h, &err) != HF_OK ||
        hf_save_history(h, path, hf_format_find(HF_STR("binary")), &err) !=
            HF_OK)
        die("make", &err);
}

/* ---- processes ----------------------------------------------------------- */

/* By the clock on the wall: a limit of CPU time makes the clock of CPU time
 * a coarse one. */
static void set_alarm(const hf_measure_ask *ask)
{
    (void)alarm((unsigned)(ask->limit + ENOUGH_SECONDS) * GRACE + GRACE);
}

/* Makes the file, or loads and checks it. */
static hf_measure in_child(const char *path, const hf_measure_ask *ask,
                           bool make)
{
    hf_measure m = {0};
    int ends[2], status;
    pid_t child;

    (void)fflush(NULL);
    if (pipe(ends) != 0 || (child = fork()) < 0)
        die("fork", NULL);
    if (child == 0) {
        if (make) {
            make_file(path, &ask->mix);
        } else {
            set_alarm(ask);
            m = check_file(path, ask);
        }
        _exit(write(ends[1], &m, sizeof(m)) == (ssize_t)sizeof(m) ? 0 : 2);
    }
    (void)close(ends[1]);
    if (read(ends[0], &m, sizeof(m)) != (ssize_t)sizeof(m))
        memset(&m, 0, sizeof(m));
    (void)close(ends[0]);
    if (waitpid(child, &status, 0) < 0)
        die("wait", NULL);
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        exit(2); /* it has said why */
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM)
        die("a check crashed", NULL);
    return m;
}

hf_measure hf_measure_mix(const hf_measure_ask *ask)
{
    char path[64];
    hf_measure m;

    memcpy(directory + sizeof(directory) - 7, "XXXXXX", 6);
    if (!mkdtemp(directory))
        die("mkdtemp", NULL);
    (void)snprintf(path, sizeof(path), "%s/mix.hf", directory);
    (void)in_child(path, ask, true);
    m = in_child(path, ask, false);
    (void)unlink(path);
    (void)rmdir(directory);
    return m;
}
