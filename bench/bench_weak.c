/* bench_weak.c: what the weak levels cost without version orders.
 *
 *   bench_weak [TRANSACTIONS]        default 100,000
 *
 * Engine "weak", one thread, registers with unique values, no certificate, no
 * times.  The store keeps causal consistency with replicas, so that many reads
 * return old versions; half of the operations are writes.
 *
 *   files     5 operations a transaction, 20 and 50 sessions, 1,000 and 10,000
 *             keys: the check against loading the same history from text.  The
 *             goals are for the text form; the others are printed beside it.
 *             Once more with all sessions one after the other in the file
 *             (dbcop's form), where the order of the file is no help.
 *   levels    all levels of the engine
 *   growth    n, sessions, keys, skewed keys; for n the factor of each doubling
 *   broken    histories that are refuted
 *
 * CPU time, the best of several interleaved rounds.  A goal missed makes
 * the exit status 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/mem.h"
#include "check/check.h"
#include "formats/format.h"
#include "model/level.h"
#include "workload/generate.h"

#define ROUNDS 5

static char directory[] = "/tmp/hf-bench-XXXXXX";
static const hf_engine *engine;
static int missed;

static void die(const char *what, const hf_error *err)
{
    fprintf(stderr, "bench_weak: %s: %s\n", what, err ? err->text : "failed");
    exit(2);
}

static const char *path_of(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static double cpu_seconds(void)
{
    return (double)hf_clock_cpu_ns() / 1e9;
}

/* ---- histories ----------------------------------------------------------- */

static hf_generate_options registers(uint64_t transactions, uint32_t sessions,
                                     uint32_t keys)
{
    hf_generate_options o;

    hf_generate_defaults(&o, HF_WORKLOAD_REGISTER, HF_BUG_NONE);
    o.transactions = transactions;
    o.min_ops = o.max_ops = 5;
    o.sessions = sessions;
    o.keys = keys;
    o.distribution = HF_DISTRIBUTION_UNIFORM;
    o.read_percent = o.write_percent = 50;
    o.rmw_percent = 0;
    o.level = HF_CAUSAL;
    o.seed = 5;
    o.times = o.certificate = false;
    return o;
}

static hf_history *generate(const hf_generate_options *o)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_generate(o, b, &err) != HF_OK ||
        hf_builder_finish(b, &h, &err) != HF_OK)
        die("generate", &err);
    return h;
}

static void save(const hf_history *h, const char *name, const char *format)
{
    hf_error err;

    if (hf_save_history(h, path_of(name), hf_format_find(hf_str_of(format)),
                        &err) != HF_OK)
        die(name, &err);
}

static hf_history *load(const char *name, double *best)
{
    double begin = cpu_seconds(), took;
    hf_history *h = NULL;
    hf_error err;

    if (hf_load_history(path_of(name), NULL, NULL, &h, &err) != HF_OK)
        die("load", &err);
    took = cpu_seconds() - begin;
    if (*best == 0 || took < *best)
        *best = took;
    return h;
}

/* ---- checking ------------------------------------------------------------ */

/* Keeps the better time in *best. */
static void check(const hf_history *h, hf_level level, hf_verdict expected,
                  double *best)
{
    hf_check_options options = {.threads = 1};
    double begin = cpu_seconds(), took;
    hf_result *r = NULL;
    hf_error err;

    if (engine->check(h, level, &options, NULL, &r, &err) != HF_OK)
        die("check", &err);
    took = cpu_seconds() - begin;
    if (r->verdict != expected) {
        fprintf(stderr, "bench_weak: %s is %s%s%s\n", hf_level_get(level)->name,
                hf_verdict_name(r->verdict), r->reason ? ": " : "",
                r->reason ? r->reason : "");
        exit(2);
    }
    if (*best == 0 || took < *best)
        *best = took;
    hf_result_free(r);
}

static void print_goal(const char *what, double value, double goal,
                       const char *aside)
{
    const char *word = "reached";

    if (value > goal) {
        word = "MISSED";
        missed++;
    }
    printf("%-44s %8.3f  (goal at most %g: %s)%s\n", what, value, goal, word,
           aside);
    (void)fflush(stdout);
}

/* ---- files --------------------------------------------------------------- */

typedef struct goal {
    hf_level level;
    double most; /* times the loading of the text form */
} goal;

static const goal goals[] = {
    {HF_READ_COMMITTED, 1.5}, {HF_READ_ATOMIC, 2}, {HF_CAUSAL, 4}};
#define N_GOALS (sizeof(goals) / sizeof(goals[0]))

/* Forms that keep the order of transactions. */
static const char *const forms[] = {"jsonl", "plume-text", "binary"};
#define N_FORMS (sizeof(forms) / sizeof(forms[0]))

static void bench_files(const hf_generate_options *o)
{
    double loaded[N_FORMS] = {0}, checked[N_GOALS] = {0};
    hf_history *h = generate(o);

    printf("files: %u transactions, %u operations, %u sessions, %u keys\n",
           h->n_txns, h->n_ops, h->n_sessions, h->n_keys);
    for (unsigned f = 0; f < N_FORMS; f++)
        save(h, forms[f], forms[f]);
    hf_history_free(h);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned f = 1; f < N_FORMS; f++)
            hf_history_free(load(forms[f], &loaded[f]));
        h = load(forms[0], &loaded[0]);
        for (unsigned i = 0; i < N_GOALS; i++)
            check(h, goals[i].level, HF_VALID, &checked[i]);
        hf_history_free(h);
    }
    for (unsigned i = 0; i < N_GOALS; i++) {
        char what[80], aside[128];

        (void)snprintf(what, sizeof(what), "%s / load text",
                       hf_level_get(goals[i].level)->name);
        (void)snprintf(aside, sizeof(aside),
                       " %.1f ms; plume %.2f, binary %.2f", checked[i] * 1e3,
                       checked[i] / loaded[1], checked[i] / loaded[2]);
        print_goal(what, checked[i] / loaded[0], goals[i].most, aside);
    }
    for (unsigned f = 0; f < N_FORMS; f++)
        (void)unlink(path_of(forms[f]));
}

/* Sessions one after the other. */
static void bench_by_session(const hf_generate_options *o)
{
    double loaded = 0, checked[N_GOALS] = {0};
    hf_history *h = generate(o);

    save(h, "sessions.hist", "dbcop-hist");
    hf_history_free(h);
    for (unsigned round = 0; round < ROUNDS; round++) {
        h = load("sessions.hist", &loaded);
        for (unsigned i = 0; i < N_GOALS; i++)
            check(h, goals[i].level, HF_VALID, &checked[i]);
        hf_history_free(h);
    }
    for (unsigned i = 0; i < N_GOALS; i++) {
        char what[80], aside[64];

        (void)snprintf(what, sizeof(what), "by session: %s / load text",
                       hf_level_get(goals[i].level)->name);
        (void)snprintf(aside, sizeof(aside), " %.1f ms", checked[i] * 1e3);
        print_goal(what, checked[i] / loaded, goals[i].most, aside);
    }
    (void)unlink(path_of("sessions.hist"));
}

/* ---- levels -------------------------------------------------------------- */

static void bench_levels(uint64_t transactions)
{
    static const hf_level all[] = {HF_READ_UNCOMMITTED,
                                   HF_READ_COMMITTED,
                                   HF_MONOTONIC_ATOMIC_VIEW,
                                   HF_READ_COMMITTED_AXIOMATIC,
                                   HF_READ_ATOMIC,
                                   HF_READ_YOUR_WRITES,
                                   HF_MONOTONIC_READS,
                                   HF_MONOTONIC_WRITES,
                                   HF_WRITES_FOLLOW_READS,
                                   HF_PRAM,
                                   HF_CAUSAL};
    hf_generate_options o = registers(transactions, 20, 1000);
    double best[sizeof(all) / sizeof(all[0])] = {0};
    hf_history *h = generate(&o);

    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
            check(h, all[i], HF_VALID, &best[i]);
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        printf("level %-38s %8.3f  of read-uncommitted (%.1f ms)\n",
               hf_level_get(all[i])->name, best[i] / best[0], best[i] * 1e3);
    hf_history_free(h);
}

/* ---- growth -------------------------------------------------------------- */

/* Times of the three levels. */
static void measure(const hf_generate_options *o, unsigned rounds, double *ret)
{
    hf_history *h = generate(o);

    for (unsigned i = 0; i < N_GOALS; i++)
        ret[i] = 0;
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < N_GOALS; i++)
            check(h, goals[i].level, HF_VALID, &ret[i]);
    hf_history_free(h);
}

static void bench_doubling(uint64_t most)
{
    double before[N_GOALS] = {0}, now[N_GOALS];

    printf("%-24s %24s %24s %24s\n", "growth: n (20 sessions)",
           "read-committed", "read-atomic", "causal");
    for (uint64_t n = 1000; n <= most; n *= 2) {
        hf_generate_options o = registers(n, 20, 1000);

        measure(&o, n > 300000 ? 2 : ROUNDS, now);
        printf("%-24llu", (unsigned long long)n);
        for (unsigned i = 0; i < N_GOALS; i++) {
            printf(" %11.2f ms  x %6.2f", now[i] * 1e3,
                   before[i] > 0 ? now[i] / before[i] : 1.0);
            before[i] = now[i];
        }
        printf("\n");
        (void)fflush(stdout);
    }
}

static void print_growth(const char *what, uint32_t n,
                         const hf_generate_options *o, unsigned rounds)
{
    double now[N_GOALS];

    measure(o, rounds, now);
    printf("%-16s %7u", what, n);
    for (unsigned i = 0; i < N_GOALS; i++)
        printf(" %21.2f ms", now[i] * 1e3);
    printf("\n");
    (void)fflush(stdout);
}

static void bench_shapes(uint64_t transactions)
{
    static const uint32_t sessions[] = {1, 10, 100, 1000};
    static const uint32_t keys[] = {10, 100, 1000, 10000, 100000};

    for (unsigned i = 0; i < 4; i++) {
        hf_generate_options o = registers(transactions, sessions[i], 1000);

        print_growth("sessions", sessions[i], &o, 3);
    }
    for (unsigned i = 0; i < 5; i++) {
        hf_generate_options o = registers(transactions, 20, keys[i]);

        print_growth("keys", keys[i], &o, 3);
    }
    for (unsigned i = 1; i < 5; i++) {
        hf_generate_options o = registers(transactions, 20, keys[i]);

        o.distribution = HF_DISTRIBUTION_ZIPF;
        o.theta = 0.99;
        print_growth("keys, zipf", keys[i], &o, 3);
    }
}

/* ---- broken -------------------------------------------------------------- */

static void bench_broken(uint64_t transactions)
{
    static const struct {
        hf_level kept, asked;
    } cases[] = {{HF_READ_UNCOMMITTED, HF_READ_COMMITTED},
                 {HF_READ_COMMITTED, HF_READ_ATOMIC},
                 {HF_READ_ATOMIC, HF_CAUSAL},
                 {HF_READ_COMMITTED, HF_CAUSAL}};

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hf_generate_options o = registers(transactions, 20, 1000);
        double valid = 0, invalid = 0;
        hf_result *r = NULL;
        hf_history *h;
        hf_error err;

        o.level = cases[i].kept;
        h = generate(&o);
        if (engine->check(h, cases[i].asked, NULL, NULL, &r, &err) != HF_OK)
            die("check", &err);
        for (unsigned round = 0; round < 3; round++) {
            check(h, cases[i].kept, HF_VALID, &valid);
            check(h, cases[i].asked, r->verdict, &invalid);
        }
        printf("kept %s, asked %s: %s, %.3f times that (%.1f ms)\n",
               hf_level_get(cases[i].kept)->name,
               hf_level_get(cases[i].asked)->name, hf_verdict_name(r->verdict),
               invalid / valid, invalid * 1e3);
        hf_result_free(r);
        hf_history_free(h);
    }
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    static const uint32_t sessions[] = {20, 50}, keys[] = {1000, 10000};

    if (n < 1000 || n > 10000000 || argc > 2) {
        fprintf(stderr, "usage: bench_weak [TRANSACTIONS]\n");
        return 2;
    }
    engine = hf_engine_find(HF_STR("weak"));
    if (!engine || !mkdtemp(directory))
        die("begin", NULL);
    for (unsigned i = 0; i < 4; i++) {
        hf_generate_options o = registers(n, sessions[i / 2], keys[i % 2]);

        bench_files(&o);
        bench_by_session(&o);
    }
    bench_levels(n);
    bench_broken(n);
    bench_doubling(10 * n + n / 2);
    bench_shapes(n);
    (void)rmdir(directory);
    return missed > 0;
}
