/* bench_load.c: what loading and generating cost, as ratios in one run.
 *
 *   bench_load [OPERATIONS]          default 10 million
 *
 * Every figure is the best of several interleaved rounds of CPU time, so that
 * a busy machine disturbs both sides of a ratio alike.  The goals are those
 * of docs/performance.md; a missed goal is printed as such and makes the
 * exit status 1.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/mem.h"
#include "formats/format.h"
#include "times.h"
#include "workload/generate.h"

#define ROUNDS 7
#define SUM_BUFFER ((size_t)1 << 18)

static char directory[] = "/tmp/hf-bench-XXXXXX";
static int missed;

static void die(const char *what, const hf_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err ? err->text : "failed");
    exit(2);
}

static const char *path_of(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

/* The naive pass: read the file's bytes and add them up. */
static double sum_file(const char *path)
{
    unsigned char *buffer = hf_alloc(SUM_BUFFER);
    uint64_t begin = hf_clock_cpu_ns(), sum = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    volatile uint64_t keep;
    ssize_t n;

    while ((n = read(fd, buffer, SUM_BUFFER)) > 0)
        for (ssize_t i = 0; i < n; i++)
            sum += buffer[i];
    keep = sum;
    (void)keep;
    close(fd);
    hf_free(buffer);
    return (double)(hf_clock_cpu_ns() - begin) / 1e9;
}

static double wc_file(const char *path)
{
    double seconds = wc_seconds(path);

    if (seconds < 0)
        die("wc", NULL);
    return seconds;
}

static double load_file(const char *path, uint32_t *ret_ops, size_t *ret_bytes)
{
    uint64_t begin = hf_clock_cpu_ns(), end;
    hf_history *h = NULL;
    hf_error err;

    if (hf_load_history(path, NULL, NULL, &h, &err) != HF_OK)
        die("load", &err);
    end = hf_clock_cpu_ns();
    *ret_ops = h->n_ops;
    *ret_bytes = h->bytes;
    hf_history_free(h);
    return (double)(end - begin) / 1e9;
}

static hf_history *generate(const hf_generate_options *o, double *ret_seconds)
{
    uint64_t begin = hf_clock_cpu_ns();
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_generate(o, b, &err) != HF_OK ||
        hf_builder_finish(b, &h, &err) != HF_OK)
        die("generate", &err);
    *ret_seconds = (double)(hf_clock_cpu_ns() - begin) / 1e9;
    return h;
}

static void save(const hf_history *h, const char *name, const char *format)
{
    hf_error err;

    if (hf_save_history(h, path_of(name), hf_format_find(hf_str_of(format)),
                        &err) != HF_OK)
        die(name, &err);
}

static void best(double *least, double now)
{
    if (*least == 0 || now < *least)
        *least = now;
}

static void verdict(const char *what, double ratio, const char *relation,
                    double goal, bool reached)
{
    printf("%-44s %6.2f   goal %s %.2f   %s\n", what, ratio, relation, goal,
           reached ? "reached" : "MISSED");
    missed += !reached;
}

/* Text formats against wc -lw of the same file. */
static void bench_text(const char *label, const char *file)
{
    double wc = 0, load = 0;
    struct stat st;
    uint32_t ops = 0;
    size_t bytes = 0;

    for (int i = 0; i < ROUNDS; i++) {
        best(&wc, wc_file(path_of(file)));
        best(&load, load_file(path_of(file), &ops, &bytes));
    }
    if (stat(path_of(file), &st) != 0)
        die(file, NULL);
    printf("%s: %.1f MB, %u operations, wc -lw %.3f s, load %.3f s "
           "(%.0f MB/s)\n",
           label, (double)st.st_size / 1e6, ops, wc, load,
           (double)st.st_size / 1e6 / load);
    verdict(label, load / wc, "<=", 1.5, load / wc <= 1.5);
    (void)unlink(path_of(file));
}

static void bench_binary(uint64_t operations)
{
    double sum = 0, load = 0, gen = 0, now;
    hf_generate_options o;
    uint32_t ops = 0;
    size_t bytes = 0;
    hf_history *h;
    struct stat st;

    hf_generate_defaults(&o, HF_WORKLOAD_REGISTER, HF_BUG_NONE);
    o.min_ops = o.max_ops = 5;
    o.keys = 1000;
    o.sessions = 20;
    o.transactions = operations / 5;
    o.level = HF_SNAPSHOT_ISOLATION;
    h = generate(&o, &gen);
    save(h, "big.hf", "binary");
    hf_history_free(h);
    for (int i = 0; i < ROUNDS; i++) {
        best(&sum, sum_file(path_of("big.hf")));
        best(&load, load_file(path_of("big.hf"), &ops, &bytes));
        if (i < 3) {
            h = generate(&o, &now);
            best(&gen, now);
            hf_history_free(h);
        }
    }
    if (stat(path_of("big.hf"), &st) != 0)
        die("big.hf", NULL);
    printf("binary: %.1f MB, %u operations, read and sum %.3f s (%.2f GB/s), "
           "load %.3f s (%.1f ns/op), gen %.3f s (%.1f ns/op)\n",
           (double)st.st_size / 1e6, ops, sum, (double)st.st_size / 1e9 / sum,
           load, load * 1e9 / ops, gen, gen * 1e9 / ops);
    verdict("memory, bytes an operation", (double)bytes / ops, "<=", 32,
            (double)bytes / ops <= 32);
    verdict("binary load, speed against read and sum", sum / load, ">=", 0.5,
            sum / load >= 0.5);
    verdict("gen, speed against binary load", load / gen, ">=", 0.25,
            load / gen >= 0.25);
    (void)unlink(path_of("big.hf"));
}

static void make_text_files(uint64_t operations)
{
    hf_generate_options o;
    double seconds;
    hf_history *h;

    hf_generate_defaults(&o, HF_WORKLOAD_REGISTER, HF_BUG_NONE);
    o.min_ops = o.max_ops = 5;
    o.keys = 1000;
    o.sessions = 20;
    o.transactions = operations / 5;
    o.level = HF_SNAPSHOT_ISOLATION;
    o.certificate = false;
    h = generate(&o, &seconds);
    save(h, "register.jsonl", "jsonl");
    save(h, "register.edn", "elle-edn");
    save(h, "register.txt", "plume-text");
    hf_history_free(h);
    hf_generate_defaults(&o, HF_WORKLOAD_APPEND, HF_BUG_NONE);
    o.transactions = operations / 10;
    o.sessions = 20;
    o.certificate = false;
    h = generate(&o, &seconds);
    save(h, "append.jsonl", "jsonl");
    save(h, "append.edn", "elle-edn");
    hf_history_free(h);
}

int main(int argc, char **argv)
{
    uint64_t operations =
        argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)10000000;

    if (!mkdtemp(directory))
        die("mkdtemp", NULL);
    bench_binary(operations);
    make_text_files(operations / 4);
    bench_text("JSON Lines, registers", "register.jsonl");
    bench_text("JSON Lines, lists", "append.jsonl");
    bench_text("Jepsen EDN, registers", "register.edn");
    bench_text("Jepsen EDN, lists", "append.edn");
    bench_text("Plume text", "register.txt");
    (void)rmdir(directory);
    return missed > 0;
}
