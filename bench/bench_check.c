/* bench_check.c: what checking costs, as ratios in one run.
 *
 *   bench_check [--large] [TRANSACTIONS]        default 1 million
 *
 * The engine under test is "graph", on one thread unless said otherwise.  A
 * check is what the program does between loading a history and printing the
 * answer, re-checking the witness aside: the history's promises, its
 * certificate, the engine.
 *
 *   levels    item operations with a certificate, in the mix of Emme's
 *             evaluation (40 % reads, 40 % writes, 20 % read-modify-writes,
 *             5 operations a transaction, 1,000 keys), against one pass that
 *             adds up the operation columns through an index by key; then
 *             with re-checking, and with bugs in the store
 *   lists     Jepsen files of list appends, loaded and checked, against the
 *             CPU time of `wc -lw` of the file
 *   100,000   transactions: absolute time
 *   doubling  the cost of twice the input, and memory; each size is made by
 *             one process and loaded and checked by another, so that making
 *             it counts for nothing.  --large goes to 10 million transactions
 *   threads   two against one, by the clock
 *
 * CPU time unless said otherwise.  Rounds are interleaved; a figure is made of
 * the best times, the median is printed beside it.  A goal missed makes the
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
#include "check/check.h"
#include "formats/format.h"
#include "history/certificate.h"
#include "history/promises.h"
#include "times.h"
#include "verify/verify.h"
#include "workload/generate.h"

#define ROUNDS 5
#define FEW_ROUNDS 3 /* where one takes seconds */

static char directory[] = "/tmp/hf-bench-XXXXXX";
static const hf_engine *engine;
static int missed;

static void die(const char *what, const hf_error *err)
{
    fprintf(stderr, "bench_check: %s: %s\n", what, err ? err->text : "failed");
    exit(2);
}

static const char *path_of(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

/* ---- printing ------------------------------------------------------------ */

static void print_goal(const char *what, double value, double goal)
{
    const char *word = "reached";

    if (value > goal) {
        word = "MISSED";
        missed++;
    }
    printf("%-46s %8.3f  (goal at most %g: %s)\n", what, value, goal, word);
    (void)fflush(stdout);
}

static void print_figure(const char *what, double value, const char *unit)
{
    printf("%-46s %8.3f  %s\n", what, value, unit);
    (void)fflush(stdout);
}

/* A ratio of two measured things; goal 0: none. */
static void print_ratio(const char *what, const times *a, const times *b,
                        double goal)
{
    char aside[80];

    (void)snprintf(aside, sizeof(aside), "(median %.3f; %.3f s to %.3f s)",
                   median_time(a) / median_time(b), best_time(a), best_time(b));
    if (goal > 0)
        print_goal(what, best_time(a) / best_time(b), goal);
    else
        print_figure(what, best_time(a) / best_time(b), aside);
    if (goal > 0)
        printf("%-46s %8s  %s\n", "", "", aside);
}

/* ---- histories ----------------------------------------------------------- */

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

/* Emme's item mix. */
static hf_generate_options item_mix(uint64_t transactions, hf_store_bug bug)
{
    hf_generate_options o;

    hf_generate_defaults(&o, HF_WORKLOAD_REGISTER, bug);
    o.transactions = transactions;
    o.min_ops = o.max_ops = 5;
    o.keys = 1000;
    o.sessions = 20;
    o.distribution = HF_DISTRIBUTION_UNIFORM;
    o.read_percent = 40;
    o.write_percent = 40;
    o.rmw_percent = 20;
    if (bug == HF_BUG_NONE)
        o.level = HF_STRICT_SERIALIZABLE;
    return o;
}

static hf_generate_options lists(uint64_t transactions, uint32_t keys,
                                 uint32_t writes_per_key)
{
    hf_generate_options o;

    hf_generate_defaults(&o, HF_WORKLOAD_APPEND, HF_BUG_NONE);
    o.transactions = transactions;
    o.keys = keys;
    o.sessions = 20;
    o.writes_per_key = writes_per_key;
    o.level = HF_STRICT_SERIALIZABLE;
    o.certificate = false;
    return o;
}

/* ---- the two sides ------------------------------------------------------- */

/* Operations by key. */
typedef struct key_index {
    uint64_t *first; /* n_keys + 1 */
    hf_op_id *ops;
} key_index;

static key_index index_keys(const hf_history *h)
{
    key_index x = {HF_NEW_ZEROED(uint64_t, (size_t)h->n_keys + 2),
                   HF_NEW_ARRAY(hf_op_id, (size_t)h->n_ops + 1)};

    for (hf_op_id o = 0; o < h->n_ops; o++)
        if (h->op_key[o] != HF_NONE)
            x.first[h->op_key[o] + 2]++;
    for (hf_key_id k = 0; k < h->n_keys; k++)
        x.first[k + 2] += x.first[k + 1];
    for (hf_op_id o = 0; o < h->n_ops; o++)
        if (h->op_key[o] != HF_NONE)
            x.ops[x.first[h->op_key[o] + 1]++] = o;
    return x;
}

static void release_index(key_index *x)
{
    hf_free(x->first);
    hf_free(x->ops);
}

/* The naive pass: every operation of every key, added up. */
static double sum_by_key(const hf_history *h, const key_index *x)
{
    double begin = cpu_seconds();
    volatile uint64_t keep;
    uint64_t sum = 0;

    for (hf_key_id k = 0; k < h->n_keys; k++)
        for (uint64_t i = x->first[k]; i < x->first[k + 1]; i++) {
            hf_op_id o = x->ops[i];

            sum += (uint64_t)h->op_kind[o] + h->op_key[o] + h->op_value[o];
        }
    keep = sum;
    (void)keep;
    return cpu_seconds() - begin;
}

static hf_result *check(const hf_history *h, hf_level level, unsigned threads)
{
    hf_check_options options = {.threads = threads};
    hf_result *r = NULL;
    hf_error err;

    if (hf_promises_check(h, &err) != HF_OK ||
        hf_promises_check_sessions(h, &err) != HF_OK ||
        hf_certificate_check(h, &err) != HF_OK ||
        engine->check(h, level, &options, NULL, &r, &err) != HF_OK)
        die(hf_level_get(level)->name, &err);
    return r;
}

static void expect(const hf_result *r, hf_verdict wanted)
{
    if (r->verdict == wanted)
        return;
    fprintf(stderr, "bench_check: %s at %s, expected %s%s%s\n",
            hf_verdict_name(r->verdict), hf_level_get(r->level)->name,
            hf_verdict_name(wanted), r->reason ? ": " : "",
            r->reason ? r->reason : "");
    exit(2);
}

/* Seconds of a check that must give this verdict. */
static double time_check(const hf_history *h, hf_level level, hf_verdict wanted)
{
    double begin = cpu_seconds(), seconds;
    hf_result *r = check(h, level, 1);

    seconds = cpu_seconds() - begin;
    expect(r, wanted);
    hf_result_free(r);
    return seconds;
}

/* The same with the witness re-checked; of many findings, the first five. */
static double time_verified(const hf_history *h, hf_level level,
                            hf_verdict wanted)
{
    double begin = cpu_seconds(), seconds;
    hf_result *r = check(h, level, 1);
    hf_claim claim = {r->verdict, r->level, r->witness};
    hf_verify_session *session = hf_verify_open(h);
    hf_verification v;
    hf_error err;

    expect(r, wanted);
    for (uint32_t i = 0; i <= 5 && i <= r->n_findings; i++) {
        if (hf_verify_claim_in(session, &claim, NULL, &v, &err) != HF_OK)
            die("verify", &err);
        if (!v.accepted) {
            fprintf(stderr, "bench_check: witness refused: %s\n", v.reason);
            exit(2);
        }
        if (i < r->n_findings)
            claim.witness = r->findings[i].witness;
    }
    hf_verify_close(session);
    seconds = cpu_seconds() - begin;
    hf_result_free(r);
    return seconds;
}

/* ---- levels -------------------------------------------------------------- */

static const hf_level levels[] = {HF_SERIALIZABLE, HF_SNAPSHOT_ISOLATION,
                                  HF_STRICT_SERIALIZABLE, HF_READ_COMMITTED,
                                  HF_CAUSAL};
#define N_LEVELS (sizeof(levels) / sizeof(*levels))

static double time_promises(const hf_history *h)
{
    double begin = cpu_seconds();
    hf_error err;

    if (hf_promises_check(h, &err) != HF_OK ||
        hf_promises_check_sessions(h, &err) != HF_OK)
        die("promises", &err);
    return cpu_seconds() - begin;
}

static double time_certificate(const hf_history *h)
{
    double begin = cpu_seconds();
    hf_error err;

    if (hf_certificate_check(h, &err) != HF_OK)
        die("certificate", &err);
    return cpu_seconds() - begin;
}

/* The version orders are all that Emme's certificate has: without the serial
 * order and the timestamps that the generator records as well, an order of
 * the transactions has to be found. */
static hf_history versions_only(const hf_history *h)
{
    hf_history copy = *h;

    copy.cert.serial = NULL;
    copy.cert.n_serial = 0;
    copy.cert.start_ts = copy.cert.commit_ts = NULL;
    return copy;
}

static void bench_levels(uint64_t transactions)
{
    hf_generate_options o = item_mix(transactions, HF_BUG_NONE);
    hf_history *all = generate(&o), copy = versions_only(all), *h = &copy;
    key_index x = index_keys(h);
    times pass = {0}, at[N_LEVELS] = {{0}}, verified = {0}, promises = {0},
          certificate = {0}, recorded = {0};
    char what[80];

    printf("item mix: %u transactions, %u operations, %u keys\n", h->n_txns,
           h->n_ops, h->n_keys);
    for (int round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < N_LEVELS; i++)
            add_time(&at[i], time_check(h, levels[i], HF_VALID));
        add_time(&verified, time_verified(h, levels[0], HF_VALID));
        add_time(&recorded, time_check(all, levels[0], HF_VALID));
        add_time(&promises, time_promises(h));
        add_time(&certificate, time_certificate(h));
        add_time(&pass, sum_by_key(h, &x));
    }
    for (unsigned i = 0; i < N_LEVELS; i++) {
        (void)snprintf(what, sizeof(what), "%s / pass by key",
                       hf_level_get(levels[i])->name);
        print_ratio(what, &at[i], &pass, i == 0 ? 8 : 0);
    }
    print_ratio("serializable, verified / pass by key", &verified, &pass, 0);
    print_ratio("with a recorded serial order / pass by key", &recorded, &pass,
                0);
    print_ratio("certificate alone / pass by key", &certificate, &pass, 0);
    print_ratio("promises alone / pass by key", &promises, &pass, 0);
    release_index(&x);
    hf_history_free(all);
}

/* Stores that break the level asked for. */
static void bench_broken(uint64_t transactions)
{
    static const struct {
        hf_store_bug bug;
        hf_level level;
    } cases[] = {{HF_BUG_WRITE_SKEW, HF_SERIALIZABLE},
                 {HF_BUG_LOST_UPDATE, HF_SNAPSHOT_ISOLATION},
                 {HF_BUG_DIRTY_READ, HF_READ_COMMITTED}};

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        hf_generate_options o = item_mix(transactions, cases[i].bug);
        hf_history *h = generate(&o);
        key_index x = index_keys(h);
        times pass = {0}, broken = {0}, verified = {0};
        const char *name = hf_store_bug_get(cases[i].bug)->name;
        char what[80];

        for (int round = 0; round < FEW_ROUNDS; round++) {
            add_time(&broken, time_check(h, cases[i].level, HF_INVALID));
            add_time(&verified, time_verified(h, cases[i].level, HF_INVALID));
            add_time(&pass, sum_by_key(h, &x));
        }
        (void)snprintf(what, sizeof(what), "with bug %s / pass by key", name);
        print_ratio(what, &broken, &pass, 0);
        (void)snprintf(what, sizeof(what), "the same, verified / pass by key");
        print_ratio(what, &verified, &pass, 0);
        release_index(&x);
        hf_history_free(h);
    }
}

/* ---- lists --------------------------------------------------------------- */

static double wc_file(const char *path)
{
    double seconds = wc_seconds(path);

    if (seconds < 0)
        die("wc", NULL);
    return seconds;
}

static hf_history *load(const char *path)
{
    hf_history *h = NULL;
    hf_error err;

    if (hf_load_history(path, NULL, NULL, &h, &err) != HF_OK)
        die("load", &err);
    return h;
}

static void save(const hf_history *h, const char *name, const char *format)
{
    hf_error err;

    if (hf_save_history(h, path_of(name), hf_format_find(hf_str_of(format)),
                        &err) != HF_OK)
        die(name, &err);
}

/* Lists without a certificate: the order of what nobody read is open, so
 * what is expected is only that it is not invalid. */
static void expect_not_invalid(const hf_result *r)
{
    if (r->verdict == HF_INVALID)
        expect(r, HF_VALID);
}

static void bench_lists(const char *label, const hf_generate_options *o)
{
    times wc = {0}, whole = {0}, only = {0};
    hf_verdict verdict = HF_UNKNOWN;
    hf_history *h = generate(o);
    struct stat st;
    char what[80];

    save(h, "lists.edn", "elle-edn");
    hf_history_free(h);
    if (stat(path_of("lists.edn"), &st) != 0)
        die("lists.edn", NULL);
    for (int round = 0; round < ROUNDS; round++) {
        double begin = cpu_seconds(), loaded;
        hf_result *r;

        h = load(path_of("lists.edn"));
        loaded = cpu_seconds();
        r = check(h, HF_SERIALIZABLE, 1);
        add_time(&only, cpu_seconds() - loaded);
        add_time(&whole, cpu_seconds() - begin);
        expect_not_invalid(r);
        verdict = r->verdict;
        hf_result_free(r);
        hf_history_free(h);
        add_time(&wc, wc_file(path_of("lists.edn")));
    }
    printf("lists, %s: %llu transactions, %.1f MB of EDN, %s\n", label,
           (unsigned long long)o->transactions, (double)st.st_size / 1e6,
           hf_verdict_name(verdict));
    (void)snprintf(what, sizeof(what), "%s, load and check / wc -lw", label);
    print_ratio(what, &whole, &wc, 2.5);
    (void)snprintf(what, sizeof(what), "%s, check alone / wc -lw", label);
    print_ratio(what, &only, &wc, 0);
    (void)unlink(path_of("lists.edn"));
}

static void bench_hundred_thousand(void)
{
    hf_generate_options o = item_mix(100000, HF_BUG_NONE);
    hf_generate_options l = lists(100000, 100, 64);
    hf_history *items = generate(&o), *appends = generate(&l);
    times t = {0}, a = {0};

    for (int round = 0; round < ROUNDS; round++) {
        double begin;
        hf_result *r;

        add_time(&t, time_check(items, HF_SERIALIZABLE, HF_VALID));
        begin = cpu_seconds();
        r = check(appends, HF_SERIALIZABLE, 1);
        add_time(&a, cpu_seconds() - begin);
        expect_not_invalid(r);
        hf_result_free(r);
    }
    print_goal("100,000 transactions, item mix, seconds", best_time(&t), 0.1);
    print_goal("100,000 transactions, lists, seconds", best_time(&a), 0.1);
    hf_history_free(items);
    hf_history_free(appends);
}

/* ---- doubling ------------------------------------------------------------ */

/* What the process that checks has to tell. */
typedef struct grown {
    double seconds, gibibytes;
    uint32_t operations;
} grown;

static void make_big(uint64_t transactions)
{
    hf_generate_options o = item_mix(transactions, HF_BUG_NONE);

    save(generate(&o), "big.hf", "binary");
}

static grown check_big(void)
{
    hf_history *h = load(path_of("big.hf"));
    grown g = {.operations = h->n_ops};
    struct rusage used;
    times t = {0};

    for (int round = 0; round < FEW_ROUNDS; round++)
        add_time(&t, time_check(h, HF_SERIALIZABLE, HF_VALID));
    g.seconds = best_time(&t);
    (void)getrusage(RUSAGE_SELF, &used);
    g.gibibytes = (double)used.ru_maxrss / (1024 * 1024);
    return g;
}

/* In a process of its own: makes the file (transactions > 0) or checks it. */
static grown in_child(uint64_t transactions)
{
    grown g = {0};
    int ends[2], status;
    pid_t child;
    bool told;

    (void)fflush(NULL);
    if (pipe(ends) != 0)
        die("pipe", NULL);
    child = fork();
    if (child < 0)
        die("fork", NULL);
    if (child == 0) {
        if (transactions > 0)
            make_big(transactions);
        else
            g = check_big();
        _exit(write(ends[1], &g, sizeof(g)) == (ssize_t)sizeof(g) ? 0 : 2);
    }
    (void)close(ends[1]);
    told = read(ends[0], &g, sizeof(g)) == (ssize_t)sizeof(g);
    (void)close(ends[0]);
    if (waitpid(child, &status, 0) < 0 || status != 0 || !told)
        die("doubling", NULL);
    return g;
}

static void bench_doubling(uint64_t first)
{
    grown before = {0};

    for (uint64_t n = first; n <= 8 * first; n *= 2) {
        char what[80];
        grown now;

        (void)in_child(n);
        now = in_child(0);
        printf("doubling: %llu transactions, %u operations: %.3f s "
               "(%.1f ns an operation), %.2f GiB\n",
               (unsigned long long)n, now.operations, now.seconds,
               now.seconds * 1e9 / now.operations, now.gibibytes);
        (void)snprintf(what, sizeof(what), "doubling to %llu transactions",
                       (unsigned long long)n);
        if (n > first)
            print_goal(what, now.seconds / before.seconds, 2.3);
        if (n == 8 * first)
            print_goal("GiB for 10 million transactions, load and check",
                       now.gibibytes * 1e7 / (double)n, 8);
        before = now;
    }
    (void)unlink(path_of("big.hf"));
}

/* ---- threads ------------------------------------------------------------- */

static void bench_threads(uint64_t transactions)
{
    hf_generate_options o = item_mix(transactions, HF_BUG_NONE);
    hf_history *h = generate(&o);
    times t[2] = {{0}};

    for (int round = 0; round < ROUNDS; round++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            double begin = wall_seconds();
            hf_result *r = check(h, HF_SERIALIZABLE, threads);

            add_time(&t[threads - 1], wall_seconds() - begin);
            expect(r, HF_VALID);
            hf_result_free(r);
        }
    print_ratio("one thread / two, by the clock", &t[0], &t[1], 0);
    hf_history_free(h);
}

int main(int argc, char **argv)
{
    bool large = argc > 1 && strcmp(argv[1], "--large") == 0;
    const char *size = argc > 1 + large ? argv[1 + large] : "1000000";
    uint64_t n = strtoull(size, NULL, 10);
    hf_generate_options few, many;

    if (n < 1000 || n > 100000000 || argc > 2 + large) {
        fprintf(stderr, "usage: bench_check [--large] [TRANSACTIONS]\n");
        return 2;
    }
    engine = hf_engine_find(HF_STR("graph"));
    if (!engine) {
        fprintf(stderr, "bench_check: this build has no engine \"graph\"\n");
        return 2;
    }
    if (!mkdtemp(directory))
        die("mkdtemp", NULL);
    bench_levels(n);
    bench_broken(n);
    few = lists(n / 4, 100, 32);
    many = lists(n / 10, 20, 256);
    bench_lists("short lists", &few);
    bench_lists("long lists", &many);
    bench_hundred_thousand();
    bench_threads(n);
    bench_doubling(large ? 1250000 : n / 4);
    (void)rmdir(directory);
    return missed > 0;
}
