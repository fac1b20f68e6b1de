/* bench_run.c: what recording costs.
 *
 *     bench_run [SECONDS [DATABASE [WORKLOAD]]]
 *
 * The same clients on the same database, with and without a recorder, in short
 * rounds that alternate (without, with, with, without, ...), so that what else
 * the machine does falls on both.  Of each pair of rounds the ratio is taken,
 * of the ratios the median: of transactions done in the same time, and of CPU
 * time a transaction, both while the clients run (opening and loading are left
 * out).  Then a run of ten rounds' length, for the memory of the recorder: it
 * must not grow with the history.  The exit status is 1 if recording costs more
 * than a tenth of the throughput, or memory grows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/error.h"
#include "history/history.h"
#include "run/run.h"
#include "workload/play.h"

#define CLIENTS 4u
#define PAIRS 16u
#define GOAL 0.9
#define GROWTH (8u << 20) /* of memory, allowed: what waits to be written */

typedef struct round {
    double per_second, cpu; /* cpu: seconds a transaction */
    uint64_t transactions, bytes, operations;
    size_t held;
} round_result;

/* From the first look at the clients to the last. */
typedef struct span {
    uint64_t cpu[2], done[2];
    bool begun;
    size_t most_held;
} span;

static void give_up(const hf_error *err)
{
    (void)fprintf(stderr, "bench_run: %s\n", err->text);
    exit(2);
}

static void look(void *user, const hf_run_progress *p)
{
    span *s = user;
    size_t held = hf_memory_held();
    unsigned at = s->begun;

    s->most_held = held > s->most_held ? held : s->most_held;
    s->cpu[at] = hf_clock_cpu_ns();
    s->done[at] = p->committed + p->aborted;
    s->begun = true;
}

static round_result run_round(const char *database, const char *workload,
                              double seconds, const char *output, uint64_t seed)
{
    const hf_workload *w = hf_workload_named(hf_str_of(workload));
    hf_db_options options = {.clients = CLIENTS, .level = HF_SERIALIZABLE};
    hf_run_report report;
    span seen = {0};
    uint64_t done;
    hf_db *db = NULL;
    hf_play *play;
    hf_error err;

    if (!w) {
        (void)fprintf(stderr, "bench_run: no workload \"%s\"\n", workload);
        exit(2);
    }
    if (hf_db_open(database, &options, &db, &err) != HF_OK)
        give_up(&err);
    play = hf_play_new(w, CLIENTS, seed);
    if (hf_run(&(hf_run_options){.db = db,
                                 .play = play,
                                 .level = HF_DB_DEFAULT,
                                 .label = HF_LEVEL_UNSET,
                                 .clients = CLIENTS,
                                 .seconds = seconds,
                                 .retries = 3,
                                 .seed = seed,
                                 .output = output,
                                 .replace = true,
                                 .progress = look,
                                 .user = &seen},
               &report, &err) != HF_OK)
        give_up(&err);
    done = report.end.committed + report.end.aborted;
    hf_play_free(play);
    hf_db_close(db);
    return (round_result){.transactions = done,
                          .per_second = (double)done / report.end.seconds,
                          .cpu = (double)(seen.cpu[1] - seen.cpu[0]) / 1e9 /
                                 (double)(seen.done[1] - seen.done[0] + 1),
                          .bytes = report.end.bytes,
                          .operations = report.operations,
                          .held = seen.most_held};
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *ratios)
{
    qsort(ratios, PAIRS, sizeof(*ratios), by_size);
    return (ratios[PAIRS / 2 - 1] + ratios[PAIRS / 2]) / 2;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.5;
    const char *database = argc > 2 ? argv[2] : "sqlite";
    const char *workload = argc > 3 ? argv[3] : "smallbank";
    char path[] = "/tmp/hf-bench-run-XXXXXX";
    double speed[PAIRS], cpu[PAIRS], sums[4] = {0};
    round_result r[2] = {0}, longer;
    int fd = mkstemp(path);
    double ratio;
    bool flat;

    if (fd < 0 || seconds < 0.3) {
        (void)fprintf(stderr, "bench_run: rounds of at least 0.3 s, and a "
                              "place for a file in /tmp\n");
        return 2;
    }
    (void)close(fd);
    for (unsigned i = 0; i < PAIRS; i++) {
        for (unsigned k = 0; k < 2; k++) {
            unsigned with = (i + k) % 2;

            r[with] =
                run_round(database, workload, seconds, with ? path : NULL, i);
            sums[with] += r[with].per_second / PAIRS;
            sums[2 + with] += r[with].cpu / PAIRS;
        }
        speed[i] = r[1].per_second / r[0].per_second;
        cpu[i] = r[1].cpu / r[0].cpu;
    }
    ratio = median(speed);
    (void)printf("%s, %s, %u clients, %u pairs of rounds of %.1f s\n", database,
                 workload, CLIENTS, PAIRS, seconds);
    (void)printf("without recording  %10.0f transactions/s\n", sums[0]);
    (void)printf("with recording     %10.0f transactions/s, %.1f bytes an "
                 "operation\n",
                 sums[1], (double)r[1].bytes / (double)r[1].operations);
    (void)printf("ratio              %10.3f (median; quarter of pairs below "
                 "%.3f; goal: at least %.3f)\n",
                 ratio, speed[PAIRS / 4], GOAL);
    (void)printf("CPU a transaction  %10.1f us without, %.1f us with, ratio "
                 "%.3f (median)\n",
                 sums[2] * 1e6, sums[3] * 1e6, median(cpu));
    longer = run_round(database, workload, 10 * seconds, path, 0);
    flat = longer.held < r[1].held + GROWTH;
    (void)printf("memory at most     %10.1f MiB, for %.1f times the "
                 "transactions %.1f MiB: %s\n",
                 (double)r[1].held / 1048576,
                 (double)longer.transactions / (double)r[1].transactions,
                 (double)longer.held / 1048576, flat ? "flat" : "it grows");
    (void)unlink(path);
    return ratio < GOAL || !flat;
}
