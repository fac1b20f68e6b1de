/* test_run.c: the program runs workloads on databases of this process, and is
 * killed while it does.
 *
 *     test_run PROGRAM [KILLS [postgres]]
 *
 * Whatever happens to it, the history is readable and the verdict right: valid
 * where the database is sound, invalid where it is broken on purpose.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "history/pieces.h"

#define MOST_WORDS 40
#define TOO_LONG 90 /* seconds, for anything */

extern char **environ;

static const char *program;
static char scratch[] = "/tmp/hf-run-XXXXXX";
static char history[64];
static unsigned failures;

static void complain(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)fputs("FAILED: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    failures++;
}

/* ---- the program --------------------------------------------------------- */

/* Words parted by blanks; standard output and error go to the file "said". */
static pid_t start(const char *line)
{
    posix_spawn_file_actions_t files;
    char copy[500], said[80], *words[MOST_WORDS], *rest = copy;
    int n = 0;
    pid_t child = -1;

    (void)snprintf(copy, sizeof(copy), "holdfast %s", line);
    while (n + 1 < MOST_WORDS && (words[n] = strsep(&rest, " ")) != NULL)
        n += words[n][0] != '\0';
    words[n] = NULL;
    (void)snprintf(said, sizeof(said), "%s/said", scratch);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, said,
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (posix_spawn(&child, program, &files, NULL, words, environ) != 0) {
        (void)fprintf(stderr, "could not start \"%s\"\n", program);
        exit(2);
    }
    posix_spawn_file_actions_destroy(&files);
    return child;
}

static int status_of(pid_t child)
{
    int status = 0;

    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void show_said(void)
{
    char said[80], line[300];
    FILE *f;

    (void)snprintf(said, sizeof(said), "%s/said", scratch);
    f = fopen(said, "r");
    for (int i = 0; f && i < 12 && fgets(line, sizeof(line), f); i++)
        (void)fprintf(stderr, "  | %s", line);
    if (f)
        (void)fclose(f);
}

static bool said(const char *text)
{
    char name[80], all[8192];
    size_t n;
    FILE *f;

    (void)snprintf(name, sizeof(name), "%s/said", scratch);
    f = fopen(name, "r");
    n = f ? fread(all, 1, sizeof(all) - 1, f) : 0;
    all[n] = '\0';
    if (f)
        (void)fclose(f);
    return strstr(all, text) != NULL;
}

static void expect(int status, const char *line)
{
    int found = status_of(start(line));

    if (found == status)
        return;
    complain("holdfast %s: expected status %d, found %d", line, status, found);
    show_said();
}

static void expect_line(int status, const char *text, const char *line)
{
    expect(status, line);
    if (!said(text)) {
        complain("holdfast %s: expected to read \"%s\"", line, text);
        show_said();
    }
}

static void remove_history(void)
{
    (void)unlink(history);
}

/* ---- what it runs -------------------------------------------------------- */

typedef struct case_ {
    const char *line;
    int status;   /* of checking it */
    off_t enough; /* bytes: beyond what was loaded, and for the bug to show */
} case_;

static const case_ here[] = {
    {"--db sqlite -w smallbank", 0, 80000},
    {"--db sqlite -w list-append", 0, 80000},
    {"--db sqlite -w tatp", 0, 300000},                   /* deletes */
    {"--db sqlite -w tokens --set houses=50", 0, 200000}, /* moves */
    {"--db sqlite -w dirty-read", 0, 80000},
    {"--db sqlite --variant rollback -w king-cobra-rmw", 0, 80000},
    {"--db sqlite-processes -w bank --faults kill --fault-every 100ms", 0,
     60000},
    {"--db sqlite-processes --variant rollback -w smallbank --faults kill "
     "--fault-every 100ms",
     0, 60000},
    {"--db store -w item-mix", 0, 80000},
    {"--db store -w queues", 0, 80000},
    {"--db store -w rw-register --isolation snapshot-isolation", 0, 80000},
    {"--db store --inject lost-update -w lost-update", 1, 200000},
    {"--db store --inject dirty-read -w dirty-read", 1, 200000},
};
static const case_ on_postgres[] = {
    {"--db postgres -w smallbank", 0, 80000},
    {"--db postgres -w bank --faults kill --fault-every 1s", 0, 80000},
    {"--db postgres -i read-committed -w tatp", 0, 300000},
};
static const case_ *runs = here;
static size_t n_runs = sizeof(here) / sizeof(here[0]);

static void run_to_the_end(void)
{
    char line[400];

    for (size_t i = 0; i < n_runs; i++) {
        (void)snprintf(line, sizeof(line), "run %s -n 3000 -q --seed %zu -o %s",
                       runs[i].line, i, history);
        expect(0, line);
        (void)snprintf(line, sizeof(line), "check --time 60s %s", history);
        expect(runs[i].status, line);
        if (said("cut off"))
            complain("the history of \"%s\" is cut off", runs[i].line);
        remove_history();
    }
}

static off_t size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_size : 0;
}

static void pause_us(unsigned us)
{
    struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};

    (void)nanosleep(&t, NULL);
}

/* Transactions in whole pieces, if there is nothing behind them: a piece may be
 * large, and half of the first one is no history. */
static size_t whole_transactions(void)
{
    int fd = open(history, O_RDONLY | O_CLOEXEC);
    hf_pieces *pieces = hf_pieces_new(fd, true);
    hf_history *piece = NULL;
    size_t n = 0;

    while (hf_pieces_next(pieces, &piece, NULL) == HF_OK && piece) {
        n += piece->n_txns;
        hf_history_free(piece);
        piece = NULL;
    }
    if (hf_pieces_cut_off(pieces))
        n = 0;
    hf_pieces_free(pieces);
    (void)close(fd);
    return n;
}

/* A broken database shows it only after a while. */
static bool wait_for_history(pid_t child, off_t bytes)
{
    for (int i = 0; i < TOO_LONG * 500; i++) {
        if (size_of(history) > bytes && whole_transactions() > 0)
            return true;
        if (waitpid(child, NULL, WNOHANG) != 0)
            return false;
        pause_us(2000);
    }
    return true;
}

static void kill_once(unsigned i, int with, hf_rng *rng)
{
    size_t which = i % n_runs;
    char line[400];
    pid_t child;

    (void)snprintf(line, sizeof(line), "run %s -t 60s -q -c 6 --seed %u -o %s",
                   runs[which].line, i, history);
    child = start(line);
    if (!wait_for_history(child, runs[which].enough)) {
        complain("holdfast %s ended by itself", line);
        show_said();
        return;
    }
    pause_us(hf_rng_below(rng, 100000));
    (void)kill(child, with);
    (void)status_of(child);
    (void)snprintf(line, sizeof(line), "check --time 60s %s", history);
    expect(runs[which].status, line);
    if (said("cut off") != (with == SIGKILL))
        complain("kill %d of run %u (%s): %s", with, i, runs[which].line,
                 with == SIGKILL ? "the history is whole"
                                 : "the history is cut off");
    remove_history();
}

/* ---- bad luck ------------------------------------------------------------ */

static void expect_nothing_left(void)
{
    if (size_of(history) > 0)
        complain("a history was left behind");
}

static void meet_bad_luck(void)
{
    char line[300];

#define BAD(TEXT, WORDS)                                                       \
    ((void)snprintf(line, sizeof(line), "run -o %s %s", history, WORDS),       \
     expect_line(2, TEXT, line), expect_nothing_left())
    BAD("unknown database \"orakel\"", "--db orakel");
    BAD("unknown workload \"bnk\"", "-w bnk");
    BAD("did you mean \"bank\"?", "-w bnk");
    BAD("sqlite has no isolation level", "--isolation read-committed");
    BAD("unknown level \"nonsense\"", "--db store --isolation nonsense");
    BAD("unknown bug", "--db store --inject nonsense");
    BAD("has no option", "--set nonsense=1");
    BAD("has no transaction", "--mix nonsense=1");
    BAD("fault \"kill\" is not possible", "--faults kill");
#undef BAD
    expect_line(2, "No such file or directory", "run -o /nonexistent/x.hf");
    expect_line(2, "ends neither in .hf", "run -o /tmp/x.txt");
    (void)snprintf(line, sizeof(line), "run -n 10 -q -o %s", history);
    expect(0, line);
    expect_line(2, "is there already", line);
    (void)snprintf(line, sizeof(line), "run -n 10 -q --force -o %s", history);
    expect(0, line);
    remove_history();
}

static void test_leaves_a_directory(void)
{
    static const char *const files[] = {"history.hf",   "verdict.json",
                                        "witness.json", "log.txt",
                                        "repeat.txt",   "report.html"};
    char line[300], path[160];

    (void)snprintf(line, sizeof(line), "test -n 1000 -o %s/t", scratch);
    expect_line(0, "valid at strict-serializable", line);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/t/%s", scratch, files[i]);
        if (size_of(path) == 0)
            complain("%s is missing", path);
    }
    expect_line(2, "is there already", line);
    (void)snprintf(line, sizeof(line),
                   "verify %s/t/history.hf %s/t/witness.json", scratch,
                   scratch);
    expect_line(0, "accepted", line);
    (void)snprintf(
        line, sizeof(line),
        "test --db store --inject lost-update -w lost-update -n 1000 "
        "--expect invalid -o %s/u",
        scratch);
    expect_line(0, "lost update", line);
    (void)snprintf(line, sizeof(line),
                   "test -n 500 -q --expect invalid -o %s/v", scratch);
    expect(1, line);
}

static void cut_clients(void)
{
    char line[300];

    (void)snprintf(line, sizeof(line),
                   "run -w bank -t 2s -q --faults cut-client --fault-every "
                   "200ms -o %s",
                   history);
    expect(0, line);
    (void)snprintf(line, sizeof(line), "check %s", history);
    expect(0, line);
    (void)snprintf(line, sizeof(line), "stats %s", history);
    expect(0, line);
    (void)snprintf(line, sizeof(line), "convert %s -o %s/c.jsonl", history,
                   scratch);
    expect(0, line);
    (void)snprintf(line, sizeof(line), "%s/c.jsonl", scratch);
    if (size_of(line) == 0)
        complain("nothing was converted");
    remove_history();
}

static void record_text_and_sql(void)
{
    char line[300], path[80];

    (void)snprintf(path, sizeof(path), "%s/h.jsonl", scratch);
    (void)snprintf(line, sizeof(line), "run -w smallbank -n 300 -q --sql -o %s",
                   path);
    expect(0, line);
    (void)snprintf(line, sizeof(line), "check %s", path);
    expect_line(0, "valid at strict-serializable", line);
    (void)snprintf(line, sizeof(line), "stats %s", path);
    expect_line(0, "sql", line);
}

/* A row that is recorded by columns that change, and a tag that the database
 * adds up: what is wrong with either is in the verdict. */
static void record_moves_and_sums(void)
{
    char line[300], path[80], all[65536];
    size_t n;
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/m.jsonl", scratch);
    (void)snprintf(line, sizeof(line),
                   "run -w tokens --set houses=5 -n 300 -q -o %s", path);
    expect(0, line);
    f = fopen(path, "r");
    n = f ? fread(all, 1, sizeof(all) - 1, f) : 0;
    all[n] = '\0';
    if (f)
        (void)fclose(f);
    if (!strstr(all, "[[\"things\",\"0:0\"],0]") ||
        !strstr(all, "\"op\":\"delete\",\"key\":[\"things\",\"") ||
        !strstr(all, "\"value\":null"))
        complain("no moves in the history of tokens");
    (void)snprintf(line, sizeof(line), "check %s", path);
    expect_line(0, "valid at strict-serializable", line);
    (void)snprintf(line, sizeof(line),
                   "test -w lost-update --set adds=1 -n 2000 -q -o %s/a1",
                   scratch);
    expect(0, line);
    (void)snprintf(line, sizeof(line),
                   "test --db store --inject wrong-arithmetic -w lost-update "
                   "--set adds=1 -n 2000 -o %s/a2",
                   scratch);
    expect_line(1, "garbage read", line);
}

int main(int argc, char **argv)
{
    unsigned kills = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 18;
    char line[80];
    hf_rng rng;

    if (argc < 2)
        return 2;
    program = argv[1];
    if (!mkdtemp(scratch))
        return 2;
    (void)snprintf(history, sizeof(history), "%s/h.hf", scratch);
    hf_rng_seed(&rng, 7);
    if (argc > 3 && strcmp(argv[3], "postgres") == 0) {
        runs = on_postgres;
        n_runs = sizeof(on_postgres) / sizeof(on_postgres[0]);
    } else {
        meet_bad_luck();
        test_leaves_a_directory();
        cut_clients();
        record_text_and_sql();
        record_moves_and_sums();
    }
    run_to_the_end();
    for (unsigned i = 0; i < kills; i++)
        kill_once(i, SIGKILL, &rng);
    kill_once(0, SIGINT, &rng);
    for (unsigned i = 1; i < 3 && runs == here; i++)
        kill_once(i, SIGINT, &rng);
    kill_once(1, SIGTERM, &rng);
    (void)snprintf(line, sizeof(line), "rm -rf %s", scratch);
    if (system(line) != 0)
        return 2;
    (void)printf("%u kills, %u failures\n", kills, failures);
    return failures ? 1 : 0;
}
