/* bench_predict.c: IsoPredict's tables, ours beside the paper's.
 *
 *   bench_predict             tables 3, 4 and 5: SmallBank, Voter, TPC-C and
 *                             Wikipedia, small and large, 10 seeds, causal and
 *                             read committed, every strategy; each prediction
 *                             carried out; then an execution of 60
 *                             transactions at every level
 *   bench_predict long [NAME [LEVEL]]
 *                             executions of 60 and of 201 transactions at
 *                             every level
 *   bench_predict ratio [S [T]]
 *                             small workloads, S seeds (default 1), against
 *                             the paper's encoding solved by Z3, which is
 *                             stopped after T seconds of CPU time (whole ones,
 *                             default 300) each: the ratio is then at least so
 *                             much.  Ours is the median of some runs
 *
 * The executions are the paper's as far as they are known: what kind of
 * transaction each session runs (run/control.h, hf_paper_draw).
 *
 * Times are CPU time of encoding and solving together.  Goals: at least as
 * many predictions as the paper, none without an answer, 99 % confirmed, 3 s
 * for each, 15 s for 60 transactions, 600 s for 200, 500 times the paper's
 * encoding.  A missed goal makes the exit status 1.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/validate.h"
#include "predict_paper.h"
#include "workload/workload.h"

#define SEEDS 10u
#define OTHERS 10u
#define RUNS 5u /* of ours, against the paper's encoding */
#define GOAL_SECONDS 3.0
#define GOAL_60 15.0
#define GOAL_200 600.0
#define GOAL_RATIO 500.0
#define GOAL_CONFIRMED 0.99

static unsigned missed;

static void miss(const char *what)
{
    printf("  MISSED: %s\n", what);
    missed++;
}

static void die(const hf_error *err)
{
    fprintf(stderr, "bench_predict: %s\n", err->text);
    exit(2);
}

static void observe(const hf_paper_workload *p, unsigned transactions,
                    uint64_t seed, hf_application *ret)
{
    hf_error err;

    *ret = (hf_application){0};
    ret->options = (hf_control_options){
        .workload = hf_workload_named(hf_str_of(p->workload)),
        .sets = p->sets,
        .n_sets = p->n_sets,
        .mixes = p->mixes,
        .n_mixes = p->n_mixes,
        .clients = 3,
        .transactions = transactions,
        .seed = seed * HF_PAPER_SEED, /* its executions */
        .paper = p,
        .sql = true}; /* where a statement begins matters to databases */
    if (hf_control_run(&ret->options, &ret->observed, &err) != HF_OK)
        die(&err);
}

/* ---- table 3 ------------------------------------------------------------- */

static void table_3(void)
{
    printf("Table 3: events and committed transactions of an execution, "
           "average of %u; the paper's in brackets\n"
           "(ours counts rows, the paper's store single columns)\n\n",
           SEEDS);
    printf("%-10s %-6s %20s %20s %16s %16s\n", "program", "size", "reads",
           "writes", "committed", "read-only");
    for (unsigned large = 0; large < 2; large++)
        for (unsigned i = 0; hf_paper_workload_at(i); i++) {
            const hf_paper_workload *p = hf_paper_workload_at(i);
            const paper_size *s = paper_size_of(p->name, large);
            double reads = 0, writes = 0, committed = 0, read_only = 0;

            for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                hf_application a;

                observe(p, large ? 8 : 4, seed, &a);
                reads += (double)a.observed.reads / SEEDS;
                writes += (double)a.observed.writes / SEEDS;
                committed += (double)a.observed.committed / SEEDS;
                read_only += (double)a.observed.read_only / SEEDS;
                hf_control_report_release(&a.observed);
            }
            printf("%-10s %-6s %9.1f (%8.1f) %9.1f (%8.1f) %7.1f (%6.1f) "
                   "%7.1f (%6.1f)\n",
                   p->name, large ? "large" : "small", reads, s->reads, writes,
                   s->writes, committed, s->committed, read_only, s->read_only);
        }
    printf("\n");
}

/* ---- tables 4 and 5 ------------------------------------------------------ */

typedef struct cell {
    unsigned unknown, none, found, confirmed, diverged;
    unsigned later;     /* confirmed, but not the first prediction */
    unsigned otherwise; /* somebody has to do something else than seen */
    double total, most; /* seconds */
} cell;

static unsigned all_found, all_confirmed, all_later;

/* As the command does: if the first is not confirmed, others are tried. */
static void try_others(const hf_application *a, const hf_predict_options *first,
                       cell *ret)
{
    hf_predict_options o = *first;
    hf_predict_result *r = NULL;
    bool confirmed = false;
    hf_error err;

    o.most = OTHERS;
    if (hf_predict(a->observed.history, &o, &r, &err) != HF_OK)
        die(&err);
    for (uint32_t i = 0; i < r->n_predictions && !confirmed; i++) {
        hf_validated v;

        if (hf_validate(a, o.target, &r->predictions[i], NULL, &v, &err) !=
            HF_OK)
            die(&err);
        confirmed = v.confirmed;
        hf_validated_release(&v);
    }
    ret->confirmed += confirmed;
    ret->later += confirmed;
    hf_predict_result_free(r);
}

static void predict_one(const hf_application *a, hf_predict_target target,
                        hf_predict_strategy strategy, cell *ret)
{
    hf_predict_options o = {.target = target, .strategy = strategy};
    hf_predict_result *r = NULL;
    hf_validated v;
    hf_error err;
    double seconds;

    if (hf_predict(a->observed.history, &o, &r, &err) != HF_OK)
        die(&err);
    seconds = r->stats.encode_seconds + r->stats.solve_seconds;
    ret->total += seconds;
    ret->most = seconds > ret->most ? seconds : ret->most;
    ret->unknown += r->answer == HF_PREDICT_UNKNOWN;
    ret->none += r->answer == HF_PREDICT_NONE;
    if (r->answer == HF_PREDICT_FOUND) {
        if (hf_validate(a, target, &r->predictions[0], NULL, &v, &err) != HF_OK)
            die(&err);
        ret->found++;
        ret->otherwise += r->predictions[0].n_others > 0;
        ret->diverged += v.run.divergences.n > 0;
        if (v.confirmed)
            ret->confirmed++;
        else
            try_others(a, &o, ret);
        hf_validated_release(&v);
    }
    hf_predict_result_free(r);
}

static void print_cell(const char *workload, bool large,
                       hf_predict_target target, hf_predict_strategy strategy,
                       const cell *cells)
{
    const paper_row *p = paper_row_of(workload, large, target, strategy);
    const cell *c = &cells[strategy];
    /* complete for its boundary: what it does not find does not exist */
    const cell *all = &cells[strategy == HF_PREDICT_EXACT_STRICT ||
                                     strategy == HF_PREDICT_APPROX_STRICT
                                 ? HF_PREDICT_EXACT_STRICT
                                 : HF_PREDICT_BEST];

    printf("%-10s %-15s %3u %4u %5u %6u %5u %8.3f %8.3f", workload,
           hf_predict_strategy_name(strategy), c->unknown, c->none, c->found,
           c->confirmed, c->diverged, c->total / SEEDS, c->most);
    if (p)
        printf("  | %3u %4u %5u %6u %5u %8.1f %9.1f %9.1f", p->unknown, p->none,
               p->found, p->validated, p->diverged, p->generate, p->solve_found,
               p->solve_none);
    printf("\n");
    if (c->later > 0)
        printf("  %u confirmed by another prediction than the first\n",
               c->later);
    if (c->otherwise > 0)
        printf("  %u only if a transaction does something else than seen\n",
               c->otherwise);
    if (p && c->found < p->found)
        miss(c->found == all->found
                 ? "fewer predictions than the paper: in our other executions "
                   "none exists (proved)"
                 : "fewer predictions than the paper");
    if (c->unknown > 0)
        miss("no answer");
    if (c->most > GOAL_SECONDS)
        miss("slower than 3 s");
    all_found += c->found;
    all_confirmed += c->confirmed;
    all_later += c->later;
}

static void table(hf_predict_target target, bool large)
{
    printf("%s, %s workload: of %u executions\n\n",
           hf_predict_target_get(target)->name, large ? "large" : "small",
           SEEDS);
    printf("%-10s %-15s %50s  | %s\n", "", "",
           "ours                     seconds (CPU)",
           "the paper's                            seconds");
    printf("%-10s %-15s %3s %4s %5s %6s %5s %8s %8s  | %3s %4s %5s %6s %5s "
           "%8s %9s %9s\n",
           "program", "strategy", "unk", "none", "found", "conf.", "div.",
           "average", "most", "unk", "none", "found", "valid.", "div.",
           "generate", "found", "none");
    for (unsigned i = 0; hf_paper_workload_at(i); i++) {
        const hf_paper_workload *p = hf_paper_workload_at(i);
        cell cells[HF_PREDICT_STRATEGY_COUNT] = {{0}};

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            hf_application a;

            observe(p, large ? 8 : 4, seed, &a);
            for (unsigned s = 0; s < HF_PREDICT_STRATEGY_COUNT; s++)
                predict_one(&a, target, (hf_predict_strategy)s, &cells[s]);
            hf_control_report_release(&a.observed);
        }
        for (unsigned s = 0; s < HF_PREDICT_STRATEGY_COUNT; s++)
            print_cell(p->name, large, target, (hf_predict_strategy)s, cells);
        fflush(stdout);
    }
    printf("\n");
}

static void tables(void)
{
    table_3();
    for (unsigned t = 0; t < 2; t++)
        for (unsigned large = 0; large < 2; large++)
            table(t == 0 ? HF_PREDICT_CAUSAL : HF_PREDICT_READ_COMMITTED,
                  large);
    printf("confirmed: %u of %u executions (goal: %.0f %%), %u of them not by "
           "the first prediction\n",
           all_confirmed, all_found, 100 * GOAL_CONFIRMED, all_later);
    if (all_confirmed - all_later < GOAL_CONFIRMED * all_found)
        miss("too few are confirmed");
}

/* ---- long executions ----------------------------------------------------- */

static void long_one(const char *name, unsigned transactions,
                     hf_predict_target target, double goal)
{
    const hf_paper_workload *p = hf_paper_workload_named(hf_str_of(name));
    /* of wall-clock time; a busy machine spends it elsewhere */
    hf_budget budget = {.seconds = 10 * goal};
    hf_predict_options o = {.target = target, .budget = &budget};
    hf_predict_result *r = NULL;
    hf_application a;
    hf_validated v;
    hf_error err;
    double seconds;

    observe(p, transactions, 1, &a);
    hf_budget_start(&budget);
    if (hf_predict(a.observed.history, &o, &r, &err) != HF_OK)
        die(&err);
    seconds = r->stats.encode_seconds + r->stats.solve_seconds;
    printf("%-10s %4u transactions, %-24s %8.2f s (goal %.0f s): ", name,
           3 * transactions, hf_predict_target_get(target)->name, seconds,
           goal);
    if (r->answer == HF_PREDICT_FOUND) {
        if (hf_validate(&a, target, &r->predictions[0], NULL, &v, &err) !=
            HF_OK)
            die(&err);
        printf("%s%s\n",
               r->predictions[0].n_others > 0
                   ? "none if transactions go on as seen; else one, "
                   : "",
               v.confirmed ? "confirmed" : "not confirmed");
        hf_validated_release(&v);
    } else {
        printf("%s\n",
               r->answer == HF_PREDICT_NONE ? "none exists" : "no answer");
    }
    if (r->answer == HF_PREDICT_UNKNOWN || seconds > goal)
        miss("too slow");
    fflush(stdout);
    hf_predict_result_free(r);
    hf_control_report_release(&a.observed);
}

static bool is_asked(const char *only, const char *name)
{
    return !only || strcmp(only, name) == 0;
}

static void long_executions(bool all, const char *only, const char *level)
{
    for (unsigned i = 0; hf_paper_workload_at(i); i++)
        for (unsigned t = 0; t < HF_PREDICT_TARGET_COUNT; t++) {
            const char *name = hf_paper_workload_at(i)->name;
            hf_predict_target target = (hf_predict_target)t;

            if (!is_asked(only, name) ||
                !is_asked(level, hf_predict_target_get(target)->name))
                continue;
            long_one(name, 20, target, GOAL_60);
            if (all)
                long_one(name, 67, target, GOAL_200);
        }
    printf("\n");
}

/* ---- against the paper's encoding ---------------------------------------- */

typedef struct timed {
    hf_predict_answer answer;
    double seconds; /* of CPU time */
} timed;

static timed time_one(const hf_application *a, hf_predict_target target,
                      hf_predict_encoding encoding)
{
    hf_predict_options o = {.target = target,
                            .strategy = HF_PREDICT_APPROX_RELAXED,
                            .encoding = encoding};
    hf_predict_result *r = NULL;
    hf_error err;
    timed t;

    if (hf_predict(a->observed.history, &o, &r, &err) != HF_OK)
        die(&err);
    t.seconds = r->stats.encode_seconds + r->stats.solve_seconds;
    t.answer = r->answer;
    hf_predict_result_free(r);
    return t;
}

static int by_seconds(const void *x, const void *y)
{
    const timed *a = x, *b = y;

    return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

/* A few milliseconds: what else the machine does shows. */
static timed time_ours(const hf_application *a, hf_predict_target target)
{
    timed runs[RUNS];

    for (unsigned i = 0; i < RUNS; i++)
        runs[i] = time_one(a, target, HF_PREDICT_OWN);
    qsort(runs, RUNS, sizeof(*runs), by_seconds);
    return runs[RUNS / 2];
}

static void be_child(const hf_application *a, hf_predict_target target,
                     rlim_t limit, int out)
{
    struct rlimit cpu = {limit, limit + 1};
    timed t;

    if (setrlimit(RLIMIT_CPU, &cpu) != 0)
        _exit(2);
    t = time_one(a, target, HF_PREDICT_PAPER);
    _exit(write(out, &t, sizeof(t)) == (ssize_t)sizeof(t) ? 0 : 2);
}

/* In a process of its own that is killed when its CPU time is spent: Z3 knows
 * limits of wall-clock time only, which a busy machine spends elsewhere. */
static timed time_paper(const hf_application *a, hf_predict_target target,
                        rlim_t limit)
{
    timed t = {.answer = HF_PREDICT_UNKNOWN};
    struct rusage used;
    int ends[2], status;
    pid_t child;

    fflush(stdout);
    if (pipe(ends) != 0 || (child = fork()) < 0) {
        perror("bench_predict");
        exit(2);
    }
    if (child == 0)
        be_child(a, target, limit, ends[1]);
    close(ends[1]);
    if (read(ends[0], &t, sizeof(t)) != (ssize_t)sizeof(t))
        t.answer = HF_PREDICT_UNKNOWN;
    close(ends[0]);
    if (wait4(child, &status, 0, &used) != child ||
        (WIFEXITED(status) && WEXITSTATUS(status) != 0) ||
        (WIFSIGNALED(status) && WTERMSIG(status) != SIGXCPU)) {
        fprintf(stderr, "bench_predict: the paper's encoding failed\n");
        exit(2);
    }
    if (WIFSIGNALED(status))
        t.seconds =
            (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
            (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    return t;
}

static void ratio(unsigned seeds, rlim_t limit)
{
    double ours = 0, paper = 0;
    const char *why = NULL;

    if (!hf_predict_available(HF_PREDICT_PAPER, &why)) {
        printf("the paper's encoding is not compared: %s\n", why);
        return;
    }
    printf("small workloads, the paper's encoding in Z3 against ours\n\n");
    for (unsigned i = 0; hf_paper_workload_at(i); i++)
        for (unsigned t = 0; t < 2; t++)
            for (uint64_t seed = 1; seed <= seeds; seed++) {
                hf_predict_target target =
                    t == 0 ? HF_PREDICT_CAUSAL : HF_PREDICT_READ_COMMITTED;
                hf_application app;
                timed x, y;

                observe(hf_paper_workload_at(i), 4, seed, &app);
                x = time_ours(&app, target);
                y = time_paper(&app, target, limit);
                printf(
                    "%-10s seed %u, %-24s ours %8.6f s, paper's %8.2f s: "
                    "%.0f times%s\n",
                    hf_paper_workload_at(i)->name, (unsigned)seed,
                    hf_predict_target_get(target)->name, x.seconds, y.seconds,
                    y.seconds / (x.seconds > 1e-6 ? x.seconds : 1e-6),
                    y.answer == HF_PREDICT_UNKNOWN ? " at least, it was stopped"
                    : x.answer == y.answer         ? ""
                                                   : " (answers differ)");
                fflush(stdout);
                if (x.answer != y.answer && y.answer != HF_PREDICT_UNKNOWN)
                    miss("the two encodings disagree");
                if (y.seconds < GOAL_RATIO * x.seconds)
                    miss("the ratio of this one");
                ours += x.seconds;
                paper += y.seconds;
                hf_control_report_release(&app.observed);
            }
    printf("together %.0f times faster (goal %.0f)\n", paper / ours,
           GOAL_RATIO);
    if (paper < GOAL_RATIO * ours)
        miss("the ratio");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "long") == 0) {
        long_executions(true, argc > 2 ? argv[2] : NULL,
                        argc > 3 ? argv[3] : NULL);
    } else if (strcmp(what, "ratio") == 0) {
        ratio(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1,
              argc > 3 ? (rlim_t)strtoul(argv[3], NULL, 10) : 300);
    } else {
        tables();
        long_executions(false, NULL, NULL);
    }
    return missed > 0;
}
