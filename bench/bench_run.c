/* bench_run.c: what recording costs.
 *
 *     bench_run [SECONDS [DATABASE [WORKLOAD]]]
 *
 * The same clients on the same database, with and without a recorder, in turn
 * and for the same time; the ratio is that of the transactions they got done,
 * summed over the rounds.  Then twice as long, for the memory of the recorder:
 * it must not grow with the history.
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
#define ROUNDS 5u

typedef struct round {
    double per_second, cpu; /* cpu: seconds a transaction */
    uint64_t transactions, bytes, operations;
    size_t held;
} round_result;

static void give_up(const hf_error *err)
{
    (void)fprintf(stderr, "bench_run: %s\n", err->text);
    exit(2);
}

static size_t most_held;

static void look_at_memory(void *user, const hf_run_progress *p)
{
    size_t held = hf_memory_held();

    (void)user;
    (void)p;
    if (held > most_held)
        most_held = held;
}

static round_result run_round(const char *database, const char *workload,
                              double seconds, const char *output, uint64_t seed)
{
    const hf_workload *w = hf_workload_named(hf_str_of(workload));
    hf_db_options options = {.clients = CLIENTS, .level = HF_SERIALIZABLE};
    uint64_t cpu = hf_clock_cpu_ns(), done;
    hf_run_report report;
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
    most_held = 0;
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
                                 .progress = look_at_memory},
               &report, &err) != HF_OK)
        give_up(&err);
    cpu = hf_clock_cpu_ns() - cpu;
    done = report.end.committed + report.end.aborted;
    hf_play_free(play);
    hf_db_close(db);
    return (round_result){.transactions = done,
                          .per_second = (double)done / report.end.seconds,
                          .cpu = (double)cpu / 1e9 / (double)(done ? done : 1),
                          .bytes = report.end.bytes,
                          .operations = report.operations,
                          .held = most_held};
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1.0;
    const char *database = argc > 2 ? argv[2] : "sqlite";
    const char *workload = argc > 3 ? argv[3] : "smallbank";
    char path[] = "/tmp/hf-bench-run-XXXXXX";
    double with = 0, without = 0, cpu_with = 0, cpu_without = 0;
    round_result r = {0}, longer;
    int fd = mkstemp(path);

    if (fd < 0 || seconds <= 0)
        return 2;
    (void)close(fd);
    for (unsigned i = 0; i < ROUNDS; i++) {
        r = run_round(database, workload, seconds, NULL, i);
        without += r.per_second;
        cpu_without += r.cpu;
        r = run_round(database, workload, seconds, path, i);
        with += r.per_second;
        cpu_with += r.cpu;
    }
    (void)printf("%s, %s, %u clients, %u rounds of %.1f s each way\n", database,
                 workload, CLIENTS, ROUNDS, seconds);
    (void)printf("without recording  %10.0f transactions/s\n",
                 without / ROUNDS);
    (void)printf("with recording     %10.0f transactions/s, %.1f bytes an "
                 "operation\n",
                 with / ROUNDS, (double)r.bytes / (double)r.operations);
    (void)printf("ratio              %10.3f (goal: at least 0.900)\n",
                 with / without);
    (void)printf("CPU a transaction  %10.1f us without, %.1f us with, ratio "
                 "%.3f\n",
                 cpu_without / ROUNDS * 1e6, cpu_with / ROUNDS * 1e6,
                 cpu_with / cpu_without);
    longer = run_round(database, workload, 2 * seconds, path, 0);
    (void)printf("memory at most     %10.1f MiB, for %.1f times the "
                 "transactions %.1f MiB\n",
                 (double)r.held / 1048576,
                 (double)longer.transactions / (double)r.transactions,
                 (double)longer.held / 1048576);
    (void)unlink(path);
    return 0;
}
