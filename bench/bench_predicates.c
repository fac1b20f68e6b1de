/* bench_predicates.c: what predicates cost, as ratios in one run.
 *
 *   bench_predicates [--large | --two | --levels [ROWS]]
 *
 *   wall       the predicate mix of Emme's evaluation (100 keys, 5 operations a
 *              transaction, half of them over conditions; 2,500 committed
 *              transactions): the engine "certificate" against the paper's
 *              own algorithm, which tests every predicate on every version
 *              (naive.c), on the same history; and against the
 *              same with each test done once
 *   doubling   the cost of twice the history; --large goes on to 160,000
 *   ranges     as many different conditions as rows, each for nearly all of
 *              them: 10,000 of both, and 20,000; counts at serializable and
 *              at snapshot isolation; snapshots by time, and by ids
 *   two columns  as many different conditions of the form a > X AND b > Y as
 *              rows, each for a quarter of them or more: counts, sums and
 *              greatest values; 4,000 of both, then 8,000 and 16,000: the
 *              engine at three levels, and the re-check of its order
 *              (--two: nothing else)
 *   levels     the same ranges at every level (--levels: nothing else), with
 *              transactions that write as well: one after the other; on
 *              snapshots of a little before; and broken in one place, by a
 *              wrong count, by one old snapshot, or by two snapshots in one
 *              transaction.  Verdict, seconds of the engine, and the most
 *              memory of a process that holds the history and asks once
 *   replay     the engine "replay" on a million transactions of the item mix
 *              against loading the same history from the binary form; and on
 *              100,000 transactions of the predicate mix against as many of
 *              the item mix
 *
 * One thread.  Against the naive loop the engine alone is measured (and the
 * whole check beside it).  A check is what the program does between loading a
 * history and printing the answer, re-checking the witness aside: the history's
 * promises, its certificate, the engine.  CPU time.  Rounds are interleaved; a
 * figure is made of the best times, the median is printed beside it; doubling
 * is the median of ratios of pairs.  A goal missed makes the exit status 1.
 *
 * The store aborts about half of the predicate mix: whoever reads the least of
 * all rows and writes something conflicts with every commit in between.  So
 * more transactions are generated than will be counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/mem.h"
#include "check/check.h"
#include "formats/format.h"
#include "history/certificate.h"
#include "history/promises.h"
#include "naive.h"
#include "times.h"
#include "verify/verify.h"
#include "workload/generate.h"

#define ROUNDS 5
#define PAIRS 7
#define LEVEL_ROWS 10000

static char directory[] = "/tmp/hf-bench-XXXXXX";
static int missed;

static void die(const char *what, const char *more)
{
    fprintf(stderr, "bench_predicates: %s: %s\n", what, more ? more : "failed");
    exit(2);
}

/* ---- times --------------------------------------------------------------- */

/* A ratio and its goal (0: none); up: the goal is the least, else the most. */
static void print_ratio(const char *what, const times *a, const times *b,
                        double goal, bool up)
{
    double ratio = best_time(a) / best_time(b);
    double excess = up ? goal / ratio : ratio / goal;
    const char *word = "reached";

    if (excess > 1) {
        word = "MISSED";
        missed += goal > 0;
    }
    printf("%-46s %8.3f", what, ratio);
    if (goal > 0)
        printf("  (goal at %s %g: %s)", up ? "least" : "most", goal, word);
    printf("\n");
    printf("%-46s %8s  (median %.3f; %.4f s to %.4f s)\n", "", "",
           median_time(a) / median_time(b), best_time(a), best_time(b));
    (void)fflush(stdout);
}

/* ---- histories ----------------------------------------------------------- */

static hf_history *generate(const hf_generate_options *o)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_generate(o, b, &err) != HF_OK ||
        hf_builder_finish(b, &h, &err) != HF_OK)
        die("generate", err.text);
    return h;
}

static uint32_t count_committed(const hf_history *h)
{
    uint32_t n = 0;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        n += h->txn_outcome[t] == HF_COMMITTED;
    return n;
}

static hf_generate_options mix(hf_workload workload, uint64_t transactions)
{
    hf_generate_options o;

    hf_generate_defaults(&o, workload, HF_BUG_NONE);
    o.transactions = transactions;
    o.level = HF_SERIALIZABLE;
    if (workload == HF_WORKLOAD_EMME_PREDICATE)
        o.sessions = 4;
    return o;
}

/* With at least this many committed transactions, and few more. */
static hf_history *committed_mix(hf_workload workload, uint64_t committed)
{
    hf_generate_options o = mix(workload, committed);

    for (;;) {
        hf_history *h = generate(&o);
        uint32_t n = count_committed(h);

        if (n >= committed)
            return h;
        hf_history_free(h);
        o.transactions = o.transactions * committed / (n > 0 ? n : 1) + 1;
    }
}

static hf_history *predicate_mix(uint64_t committed)
{
    return committed_mix(HF_WORKLOAD_EMME_PREDICATE, committed);
}

/* ---- checking ------------------------------------------------------------ */

static double time_check(const hf_engine *engine, const hf_history *h)
{
    double begin = cpu_seconds(), seconds;
    hf_check_options options = {.threads = 1};
    hf_result *r = NULL;
    hf_error err;

    if (hf_promises_check(h, &err) != HF_OK ||
        hf_certificate_check(h, &err) != HF_OK ||
        engine->check(h, HF_SERIALIZABLE, &options, NULL, &r, &err) != HF_OK)
        die(engine->name, err.text);
    seconds = cpu_seconds() - begin;
    if (r->verdict != HF_VALID)
        die(engine->name, r->reason ? r->reason : "not valid");
    hf_result_free(r);
    return seconds;
}

/* The engine alone: the naive loop looks at no promises either. */
static double time_level(const hf_engine *engine, const hf_history *h,
                         hf_level level)
{
    double begin = cpu_seconds(), seconds;
    hf_check_options options = {.threads = 1};
    hf_result *r = NULL;
    hf_error err;

    if (engine->check(h, level, &options, NULL, &r, &err) != HF_OK)
        die(engine->name, err.text);
    seconds = cpu_seconds() - begin;
    if (r->verdict != HF_VALID)
        die(engine->name, r->reason ? r->reason : "not valid");
    hf_result_free(r);
    return seconds;
}

static double time_engine(const hf_engine *engine, const hf_history *h)
{
    return time_level(engine, h, HF_SERIALIZABLE);
}

typedef double (*timer)(const hf_engine *engine, const hf_history *h);

/* The best of some runs, for what takes milliseconds. */
static double time_short(timer time, const hf_engine *engine,
                         const hf_history *h)
{
    double least = time(engine, h), sum = least;

    while (sum < 0.1) {
        double seconds = time(engine, h);

        sum += seconds;
        least = seconds < least ? seconds : least;
    }
    return least;
}

/* The best of as many runs for every size: of more runs the best is better. */
static double time_often(const hf_engine *engine, const hf_history *h)
{
    double least = time_check(engine, h);

    for (int i = 1; i < 5; i++) {
        double seconds = time_check(engine, h);

        least = seconds < least ? seconds : least;
    }
    return least;
}

static double time_naive(const hf_history *h, bool careful, naive_counts *ret)
{
    double begin = cpu_seconds();

    if (!naive_is_serializable(h, careful, ret))
        die("naive", "not serializable");
    return cpu_seconds() - begin;
}

/* ---- wall ---------------------------------------------------------------- */

static void print_counts(const char *what, const naive_counts *c)
{
    printf("%s: %llu predicates, %llu versions, %llu tests, %llu edges\n", what,
           (unsigned long long)c->predicates, (unsigned long long)c->versions,
           (unsigned long long)c->tests, (unsigned long long)c->edges);
}

static void bench_wall(const hf_engine *engine)
{
    hf_history *h = predicate_mix(2500);
    times naive = {0}, careful = {0}, ours = {0}, whole = {0};
    naive_counts counts[2] = {{0}};

    for (int round = 0; round < ROUNDS; round++) {
        add_time(&naive, time_naive(h, false, &counts[0]));
        add_time(&careful, time_naive(h, true, &counts[1]));
        add_time(&ours, time_short(time_engine, engine, h));
        add_time(&whole, time_short(time_check, engine, h));
    }
    printf("predicate mix: %u transactions, %u committed\n", h->n_txns,
           count_committed(h));
    print_counts("naive", &counts[0]);
    print_counts("careful", &counts[1]);
    print_ratio("naive, predicates x versions / certificate", &naive, &ours,
                100, true);
    print_ratio("the same / whole check, promises included", &naive, &whole, 0,
                true);
    print_ratio("with each test done once / certificate", &careful, &ours, 0,
                true);
    hf_history_free(h);
}

/* ---- doubling ------------------------------------------------------------ */

/* Pairs of rounds, one right after the other, as the machine may be slower a
 * while later; of their ratios the median. */
static void bench_doubling(const hf_engine *engine, unsigned n_sizes)
{
    hf_history *h[2] = {predicate_mix(2500), NULL};

    for (unsigned i = 1; i < n_sizes; i++, h[0] = h[1]) {
        times t[2] = {{0}}, ratio = {0};
        double middle;

        h[1] = predicate_mix((uint64_t)2500 << i);
        for (int round = 0; round < PAIRS; round++) {
            double once = time_often(engine, h[0]);
            double twice = time_often(engine, h[1]);

            add_time(&t[0], once);
            add_time(&t[1], twice);
            add_time(&ratio, twice / once);
        }
        middle = median_time(&ratio);
        missed += middle > 2.4;
        printf("doubling to %u committed, %u operations    %13.3f  (goal at "
               "most 2.4: %s)\n",
               count_committed(h[1]), h[1]->n_ops, middle,
               middle > 2.4 ? "MISSED" : "reached");
        printf("%-46s %8s  (%.3f to %.3f; best %.4f s to %.4f s, %.0f and "
               "%.0f ns an operation)\n",
               "", "", ratio.at[0], ratio.at[PAIRS - 1], best_time(&t[1]),
               best_time(&t[0]), best_time(&t[1]) * 1e9 / h[1]->n_ops,
               best_time(&t[0]) * 1e9 / h[0]->n_ops);
        (void)fflush(stdout);
        hf_history_free(h[0]);
    }
    hf_history_free(h[0]);
}

/* ---- ranges -------------------------------------------------------------- */

static void count_range(hf_builder *b, uint32_t n, uint32_t i, bool by_ids)
{
    hf_txn_id t = hf_builder_txn(b, hf_builder_session_number(b, 0));
    char text[40], ids[40];
    hf_scalar column = {HF_TEXT, 0, "c1", 2};
    int length = snprintf(text, sizeof(text), "c1 >= %u", i % (n / 10));
    hf_predicate_in p = {.table = {HF_TEXT, 0, "t", 1},
                         .columns = &column,
                         .n_columns = 1,
                         .has_result_set = true};

    if (i >= n / 10) /* to the last value and beyond */
        length = snprintf(text, sizeof(text), "c1 BETWEEN %u AND %u",
                          i % (n / 10), n + i);
    p.condition = (hf_scalar){HF_TEXT, 0, text, (size_t)length};
    p.result = (hf_scalar){.type = HF_INT, .number = n - i % (n / 10)};
    p.snapshot = (hf_scalar){.type = HF_INT, .number = n + i};
    if (by_ids) { /* transactions are numbered from 1 */
        length = snprintf(ids, sizeof(ids), "%u:%u:", n + i + 1, n + i + 1);
        p.snapshot = (hf_scalar){HF_TEXT, 0, ids, (size_t)length};
    }
    (void)hf_builder_predicate(b, t, HF_OP_COUNT_ROWS, &p);
    hf_builder_timestamps(b, t, n + i, n + i + 1);
}

/* n rows, inserted one by one; then n transactions that each count what has
 * at least some value, no two of them with the same condition; snapshots by
 * time, or by ids. */
static hf_history *wide_ranges(uint32_t n, bool by_ids)
{
    hf_builder *b = hf_builder_new();
    hf_string_id table = hf_builder_string(b, "t", 1);
    hf_history *h = NULL;
    hf_error err;

    for (uint32_t i = 0; i < n; i++) {
        hf_txn_id t = hf_builder_txn(b, hf_builder_session_number(b, 0));
        hf_key_id key = hf_builder_key_row(
            b, table, (hf_scalar){.type = HF_INT, .number = i});
        char text[32];
        int length = snprintf(text, sizeof(text), "{\"c1\":%u}", i);
        hf_scalar row = {HF_ROW, 0, text, (size_t)length};

        (void)hf_builder_op(b, t, HF_OP_INSERT, key,
                            hf_builder_value(b, key, row));
        hf_builder_order(b, key, t);
        hf_builder_timestamps(b, t, i, i + 1);
    }
    for (uint32_t i = 0; i < n; i++)
        count_range(b, n, i, by_ids);
    if (hf_builder_finish(b, &h, &err) != HF_OK)
        die("build", err.text);
    return h;
}

static double time_snapshots(const hf_engine *engine, const hf_history *h)
{
    return time_level(engine, h, HF_SNAPSHOT_ISOLATION);
}

static void bench_ranges(const hf_engine *engine, bool by_ids)
{
    hf_history *h[2] = {wide_ranges(10000, by_ids), wide_ranges(20000, by_ids)};
    times serial[2] = {{0}}, snapshot[2] = {{0}};

    for (int round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < 2; i++) {
            add_time(&serial[i], time_engine(engine, h[i]));
            add_time(&snapshot[i], time_snapshots(engine, h[i]));
        }
    for (unsigned i = 0; i < 2; i++)
        printf("ranges: %u different wide ranges, as many rows, snapshots by "
               "%s: %.3f s at serializable, %.3f s at snapshot isolation\n",
               10000u << i, by_ids ? "ids" : "time", best_time(&serial[i]),
               best_time(&snapshot[i]));
    print_ratio("twice as many ranges and rows", &serial[1], &serial[0], 0,
                true);
    print_ratio("the same at snapshot isolation", &snapshot[1], &snapshot[0], 0,
                true);
    hf_history_free(h[0]);
    hf_history_free(h[1]);
}

/* ---- two columns --------------------------------------------------------- */

#define TWO_SIZES 3
#define TWO_ROWS 4000u

/* Rows as points: column a is a permutation of 0 .. n - 1, and so is b. */
typedef struct point {
    uint32_t a, b;
} point;

static point point_of(uint32_t n, uint32_t i)
{
    /* by primes that do not divide n */
    return (point){(uint32_t)((uint64_t)i * 7919 % n),
                   (uint32_t)((uint64_t)i * 6997 % n)};
}

static void insert_point(hf_builder *b, hf_string_id table, uint32_t n,
                         uint32_t i)
{
    hf_txn_id t = hf_builder_txn(b, hf_builder_session_number(b, 0));
    hf_key_id key =
        hf_builder_key_row(b, table, (hf_scalar){.type = HF_INT, .number = i});
    point p = point_of(n, i);
    char text[64];
    int length = snprintf(text, sizeof(text), "{\"a\":%u,\"b\":%u,\"c\":%u}",
                          p.a, p.b, i % 1000);
    hf_scalar row = {HF_ROW, 0, text, (size_t)length};

    (void)hf_builder_op(b, t, HF_OP_INSERT, key, hf_builder_value(b, key, row));
    hf_builder_order(b, key, t);
    hf_builder_timestamps(b, t, i, i + 1);
}

static void ask_quarter(hf_builder *b, uint32_t n, uint32_t i)
{
    static const hf_op_kind kinds[] = {HF_OP_COUNT_ROWS, HF_OP_SUM, HF_OP_MAX};
    hf_txn_id t = hf_builder_txn(b, hf_builder_session_number(b, 0));
    uint32_t x = i % (n / 2), y = (uint32_t)((uint64_t)i * 5737 % (n / 2));
    int64_t is[3] = {0, 0, 0};
    char text[64];
    int length = snprintf(text, sizeof(text), "a > %u AND b > %u", x, y);
    hf_scalar column = {HF_TEXT, 0, "c", 1};
    hf_predicate_in p = {.table = {HF_TEXT, 0, "t", 1},
                         .condition = {HF_TEXT, 0, text, (size_t)length},
                         .columns = &column,
                         .n_columns = 1,
                         .has_result_set = true,
                         .snapshot = {.type = HF_INT, .number = n + i}};

    for (uint32_t k = 0; k < n; k++) {
        point at = point_of(n, k);

        if (at.a <= x || at.b <= y)
            continue;
        is[0]++;
        is[1] += k % 1000;
        is[2] = k % 1000 > is[2] ? k % 1000 : is[2];
    }
    p.result = (hf_scalar){.type = HF_INT, .number = is[i % 3]};
    (void)hf_builder_predicate(b, t, kinds[i % 3], &p);
    hf_builder_timestamps(b, t, n + i, n + i + 1);
}

static hf_history *two_columns(uint32_t n)
{
    hf_builder *b = hf_builder_new();
    hf_string_id table = hf_builder_string(b, "t", 1);
    hf_history *h = NULL;
    hf_error err;

    for (uint32_t i = 0; i < n; i++)
        insert_point(b, table, n, i);
    for (uint32_t i = 0; i < n; i++)
        ask_quarter(b, n, i);
    if (hf_builder_finish(b, &h, &err) != HF_OK)
        die("build", err.text);
    return h;
}

/* The re-check of the engine's answer, and nothing else. */
static double time_verify(const hf_engine *engine, const hf_history *h)
{
    hf_check_options options = {.threads = 1};
    hf_verification v = {0};
    hf_result *r = NULL;
    hf_claim claim;
    hf_error err;
    double begin, seconds;

    if (engine->check(h, HF_SERIALIZABLE, &options, NULL, &r, &err) != HF_OK)
        die(engine->name, err.text);
    claim = (hf_claim){
        .verdict = r->verdict, .level = r->level, .witness = r->witness};
    begin = cpu_seconds();
    if (hf_verify_claim(h, &claim, NULL, &v, &err) != HF_OK || !v.accepted)
        die("verify", v.reason);
    seconds = cpu_seconds() - begin;
    hf_result_free(r);
    return seconds;
}

static void bench_two_columns(const hf_engine *engine)
{
    static const struct {
        const char *name;
        hf_level level;
    } rows[] = {{"serializable", HF_SERIALIZABLE},
                {"snapshot isolation", HF_SNAPSHOT_ISOLATION},
                {"repeatable read", HF_REPEATABLE_READ},
                {"re-check", HF_LEVEL_COUNT}};
    double seconds[4][TWO_SIZES];

    for (unsigned k = 0; k < TWO_SIZES; k++) {
        hf_history *h = two_columns(TWO_ROWS << k);

        for (unsigned i = 0; i < 4; i++) {
            times t = {0};

            for (int round = 0; round < 3; round++)
                add_time(&t, rows[i].level == HF_LEVEL_COUNT
                                 ? time_verify(engine, h)
                                 : time_level(engine, h, rows[i].level));
            seconds[i][k] = best_time(&t);
        }
        hf_history_free(h);
    }
    for (unsigned i = 0; i < 4; i++) {
        printf("two columns, %-18s", rows[i].name);
        for (unsigned k = 0; k < TWO_SIZES; k++)
            printf("  %u: %.3f s", TWO_ROWS << k, seconds[i][k]);
        printf("  doubling %.2f, %.2f\n", seconds[i][1] / seconds[i][0],
               seconds[i][2] / seconds[i][1]);
    }
    (void)fflush(stdout);
}

/* ---- levels -------------------------------------------------------------- */

typedef enum place { ONE_BY_ONE, NEARLY, WRONG_COUNT, OLD, TWO, PLACES } place;

static const char *const place_names[PLACES] = {
    "one by one", "nearly", "wrong count", "old snapshot", "two snapshots"};

/* Rows 0 .. n - 1 with c1 = 0 .. n - 1, then n transactions: each counts a
 * range, every second one moves a row to an end beyond all ranges. */
typedef struct row_table {
    hf_builder *b;
    uint32_t n;
    hf_key_id *key;
    uint32_t *moved; /* per row: when; 0: never */
} row_table;

static void write_row(row_table *w, hf_txn_id t, uint32_t row, uint32_t value)
{
    char text[32];
    int length = snprintf(text, sizeof(text), "{\"c1\":%u}", value);
    hf_scalar scalar = {HF_ROW, 0, text, (size_t)length};

    (void)hf_builder_op(w->b, t, HF_OP_WRITE, w->key[row],
                        hf_builder_value(w->b, w->key[row], scalar));
    hf_builder_order(w->b, w->key[row], t);
}

/* Ranges of at least half of the rows, nearly no two of them the same. */
static void count_rows(row_table *w, hf_txn_id t, uint32_t i, uint32_t snapshot,
                       bool wrong)
{
    uint32_t low = (uint32_t)((uint64_t)i * 7919 % (w->n / 4));
    uint32_t high = w->n - 1 - (uint32_t)((uint64_t)i * 104729 % (w->n / 4));
    hf_scalar column = {HF_TEXT, 0, "c1", 2};
    char text[48];
    int length =
        snprintf(text, sizeof(text), "c1 BETWEEN %u AND %u", low, high);
    hf_predicate_in p = {.table = {HF_TEXT, 0, "t", 1},
                         .condition = {HF_TEXT, 0, text, (size_t)length},
                         .columns = &column,
                         .n_columns = 1,
                         .has_result_set = true};
    int64_t count = wrong;

    for (uint32_t row = low; row <= high; row++)
        count += w->moved[row] == 0 || w->moved[row] > snapshot;
    p.result = (hf_scalar){.type = HF_INT, .number = count};
    p.snapshot = (hf_scalar){.type = HF_INT, .number = snapshot};
    (void)hf_builder_predicate(w->b, t, HF_OP_COUNT_ROWS, &p);
}

static void add_reader(row_table *w, uint32_t i, place where)
{
    hf_txn_id t = hf_builder_txn(w->b, hf_builder_session_number(w->b, i % 8));
    uint32_t row = (uint32_t)((uint64_t)i * 6151 % w->n);
    uint32_t now = w->n + i, snapshot = now;
    bool here = i == w->n / 2 + 1;

    if (where == NEARLY && i > 8)
        snapshot -= i % 3;
    if (where == OLD && here)
        snapshot = w->n;
    count_rows(w, t, i, snapshot, where == WRONG_COUNT && here);
    if (where == TWO && here)
        count_rows(w, t, i + 1, w->n + 5, false);
    hf_builder_timestamps(w->b, t, snapshot, now + 1);
    if (i % 2 && w->moved[row] == 0) {
        write_row(w, t, row, w->n + i);
        w->moved[row] = now + 1;
    }
}

static hf_history *all_levels_history(uint32_t n, place where)
{
    row_table w = {.b = hf_builder_new(), .n = n};
    hf_string_id table = hf_builder_string(w.b, "t", 1);
    hf_history *h = NULL;
    hf_error err;

    w.key = HF_NEW_ARRAY(hf_key_id, n);
    w.moved = HF_NEW_ZEROED(uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        hf_txn_id t =
            hf_builder_txn(w.b, hf_builder_session_number(w.b, i % 8));

        w.key[i] = hf_builder_key_row(w.b, table,
                                      (hf_scalar){.type = HF_INT, .number = i});
        write_row(&w, t, i, i);
        hf_builder_timestamps(w.b, t, i, i + 1);
    }
    for (uint32_t i = 0; i < n; i++)
        add_reader(&w, i, where);
    if (hf_builder_finish(w.b, &h, &err) != HF_OK)
        die("build", err.text);
    hf_free(w.key);
    hf_free(w.moved);
    return h;
}

/* In a process of its own, for its memory. */
static void ask_level(const hf_engine *engine, const hf_history *h,
                      hf_level level)
{
    hf_check_options options = {.threads = 1};
    double begin = cpu_seconds();
    struct rusage usage;
    hf_result *r = NULL;
    hf_error err;

    if (engine->check(h, level, &options, NULL, &r, &err) != HF_OK)
        die(engine->name, err.text);
    begin = cpu_seconds() - begin;
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("levels: %-44s %-8s %8.3f s %6ld MB\n", hf_level_get(level)->name,
           hf_verdict_name(r->verdict), begin, usage.ru_maxrss / 1024);
    (void)fflush(stdout);
    hf_result_free(r);
}

static void bench_levels(const hf_engine *engine, uint32_t n)
{
    for (unsigned where = 0; where < PLACES; where++) {
        hf_history *h = all_levels_history(n, (place)where);

        printf("levels: %u ranges, %u rows, %s\n", n, n, place_names[where]);
        for (int level = 0; level < HF_LEVEL_COUNT; level++) {
            pid_t child;

            (void)fflush(stdout);
            child = fork();
            if (child < 0)
                die("fork", NULL);
            if (child == 0) {
                ask_level(engine, h, (hf_level)level);
                _exit(0);
            }
            (void)waitpid(child, NULL, 0);
        }
        hf_history_free(h);
    }
}

/* ---- replay -------------------------------------------------------------- */

static double time_load(const char *path)
{
    double begin = cpu_seconds(), seconds;
    hf_history *h = NULL;
    hf_error err;

    if (hf_load_history(path, NULL, NULL, &h, &err) != HF_OK)
        die("load", err.text);
    seconds = cpu_seconds() - begin;
    hf_history_free(h);
    return seconds;
}

static hf_history *save_and_load(hf_history *h, const char *path)
{
    hf_history *loaded = NULL;
    hf_error err;

    if (hf_save_history(h, path, hf_format_find(HF_STR("binary")), &err) !=
            HF_OK ||
        hf_load_history(path, NULL, NULL, &loaded, &err) != HF_OK)
        die("save", err.text);
    hf_history_free(h);
    return loaded;
}

static void bench_replay_load(const hf_engine *engine)
{
    hf_generate_options o = mix(HF_WORKLOAD_EMME_ITEM, 1000000);
    times load = {0}, replay = {0};
    char path[64];
    hf_history *h;

    (void)snprintf(path, sizeof(path), "%s/items.hf", directory);
    h = save_and_load(generate(&o), path);
    for (int round = 0; round < ROUNDS; round++) {
        add_time(&load, time_load(path));
        add_time(&replay, time_check(engine, h));
    }
    printf("item mix: %u transactions, %u committed, %u operations\n",
           h->n_txns, count_committed(h), h->n_ops);
    print_ratio("replay, item mix / load of the binary form", &replay, &load, 2,
                false);
    hf_history_free(h);
    (void)unlink(path);
}

static void bench_replay_mixes(const hf_engine *engine)
{
    hf_history *items = committed_mix(HF_WORKLOAD_EMME_ITEM, 100000);
    hf_history *rows = predicate_mix(100000);
    times of_items = {0}, of_rows = {0};

    for (int round = 0; round < ROUNDS; round++) {
        add_time(&of_items, time_check(engine, items));
        add_time(&of_rows, time_check(engine, rows));
    }
    printf("replay: %u committed of the item mix, %u of the predicate mix\n",
           count_committed(items), count_committed(rows));
    print_ratio("replay, predicate mix / item mix", &of_rows, &of_items, 20,
                false);
    hf_history_free(items);
    hf_history_free(rows);
}

static const hf_engine *find(const char *name)
{
    const hf_engine *engine = hf_engine_find(hf_str_of(name));

    if (!engine)
        printf("this build has no engine \"%s\"\n", name);
    missed += !engine;
    return engine;
}

int main(int argc, char **argv)
{
    bool large = argc == 2 && strcmp(argv[1], "--large") == 0;
    bool levels = argc >= 2 && strcmp(argv[1], "--levels") == 0;
    bool two = argc == 2 && strcmp(argv[1], "--two") == 0;
    unsigned long n = argc == 3 ? strtoul(argv[2], NULL, 10) : LEVEL_ROWS;
    const hf_engine *certificate = find("certificate"),
                    *replay = find("replay");

    if (argc > 1 && !large && !two &&
        (!levels || argc > 3 || n < 100 || n > 1000000)) {
        fprintf(
            stderr,
            "usage: bench_predicates [--large | --two | --levels [ROWS]]\n");
        return 2;
    }
    if (two && certificate) {
        bench_two_columns(certificate);
        return 0;
    }
    if (levels) {
        if (certificate)
            bench_levels(certificate, (uint32_t)n);
        return missed > 0;
    }
    if (!mkdtemp(directory))
        die("mkdtemp", NULL);
    if (certificate) {
        bench_wall(certificate);
        bench_doubling(certificate, large ? 7 : 4);
        bench_ranges(certificate, false);
        bench_ranges(certificate, true);
        bench_two_columns(certificate);
        bench_levels(certificate, LEVEL_ROWS);
    }
    if (replay) {
        bench_replay_load(replay);
        bench_replay_mixes(replay);
    }
    (void)rmdir(directory);
    return missed > 0;
}
