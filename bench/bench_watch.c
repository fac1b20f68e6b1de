/* bench_watch.c: what watch claims about speed and memory, in one run.
 *
 *     bench_watch                 pipeline against sort, growth, PostgreSQL
 *     bench_watch --large         100 million operations: time for each
 *                                 transaction, and memory over the run
 *     bench_watch --pipeline | --growth | --database    one of them
 *
 * Pipeline: events of 16 clients with uneven speeds, in the order in which a
 * recorder would write their transactions, through the pipeline, against an
 * external merge sort of the same events: runs of as much memory as the
 * pipeline may use, sorted, written, merged by a heap.  Both copy every event
 * once from the array it comes in and hand it to the same consumer.
 *
 * Growth and memory: transactions are made as they are needed, so that nothing
 * but watch itself can grow.  SmallBank: 16 clients, 1000 accounts, a snapshot
 * that is always right, so that all of the engine works and nothing is
 * reported.
 *
 * Database: SmallBank and TPC-C on a private PostgreSQL, recorded with 16
 * clients; its rate, and the rate at which watch judges the recorded history
 * afterwards: by the clock, the start of the program included, and for each
 * second of CPU time of all its threads, which other work on the machine does
 * not change.  With one warehouse most transactions of TPC-C abort early; with
 * 16 nearly all commit.  These are recorded six times as long: the rows that
 * were loaded before, which are announced all at once, would be most of the
 * keys of a short recording.  The best of three is told, by the clock.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/vec.h"
#include "watch/pipeline.h"
#include "watch/watch.h"

#include "watch_trace.h"

static double seconds_since(uint64_t from)
{
    return (double)(hf_clock_ns() - from) / 1e9;
}

static double cpu_since(uint64_t from)
{
    return (double)(hf_clock_cpu_ns() - from) / 1e9;
}

/* ---- the pipeline and the sort ------------------------------------------- */

#define PIPELINE_EVENTS 16000000u
#define PIPELINE_BYTES ((size_t)64 << 20)
#define TAKE 4096u
#define MOST_GROWTH 1.15   /* the machine is never quite quiet */
#define TPCC_RATE 200000.0 /* transactions a second, wanted */

/* What both hand events to: the order is checked, and all of it read. */
typedef struct taker {
    uint64_t last, n, sum;
    bool ordered;
} taker;

static void take(taker *t, const hf_event *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        t->ordered &= e[i].before >= t->last;
        t->last = e[i].before;
        t->sum += e[i].value ^ e[i].key;
    }
    t->n += n;
}

typedef struct trace {
    hf_event *events;
    size_t n;
    HF_VEC(size_t) txns; /* where each begins */
} trace;

static void make_trace(trace *t, size_t n)
{
    trace_maker m;

    t->events = hf_alloc_large(n * sizeof(hf_event));
    t->n = 0;
    trace_maker_init(&m, 7);
    while (t->n + TRACE_TXN_EVENTS <= n) {
        hf_vec_push(&t->txns, t->n);
        t->n += trace_maker_next(&m, t->events + t->n);
    }
    hf_vec_push(&t->txns, t->n);
    trace_maker_release(&m);
}

static taker run_pipeline(const trace *t)
{
    static hf_event out[TAKE];
    hf_pipeline *p = hf_pipeline_new(
        &(hf_pipeline_options){.bytes = PIPELINE_BYTES, .one_thread = true});
    taker to = {.ordered = true};
    size_t n;

    for (unsigned c = 0; c < TRACE_CLIENTS; c++)
        (void)hf_pipeline_join(p, 0);
    for (size_t i = 0; i + 1 < t->txns.n; i++) {
        const hf_event *e = &t->events[t->txns.at[i]];

        (void)hf_pipeline_push(p, e->client, e,
                               t->txns.at[i + 1] - t->txns.at[i]);
        if (i % 256 == 0)
            while ((n = hf_pipeline_take(p, out, TAKE, 0)) > 0)
                take(&to, out, n);
    }
    hf_pipeline_end(p);
    while ((n = hf_pipeline_take(p, out, TAKE, 0)) > 0)
        take(&to, out, n);
    hf_pipeline_free(p);
    return to;
}

/* ---- external merge sort ------------------------------------------------- */

static int by_before(const void *a, const void *b)
{
    const hf_event *x = a, *y = b;

    return x->before < y->before ? -1 : x->before > y->before;
}

/* Sorts by a radix on the bytes of `before` that differ: faster than any
 * sort by comparisons, so that the rival is a good one. */
static void sort_run(hf_event *events, hf_event *other, size_t n)
{
    uint64_t all = 0, same = UINT64_MAX;

    for (size_t i = 0; i < n; i++) {
        all |= events[i].before;
        same &= events[i].before;
    }
    for (unsigned shift = 0; shift < 64; shift += 11) {
        size_t at[2049] = {0};

        if (((all ^ same) >> shift & 2047) == 0)
            continue;
        for (size_t i = 0; i < n; i++)
            at[(events[i].before >> shift & 2047) + 1]++;
        for (unsigned d = 0; d < 2048; d++)
            at[d + 1] += at[d];
        for (size_t i = 0; i < n; i++)
            other[at[events[i].before >> shift & 2047]++] = events[i];
        memcpy(events, other, n * sizeof(*events));
    }
}

typedef struct run_file {
    off_t at, end;
    hf_event *buffer;
    size_t i, n;
} run_file;

static void read_run(int fd, run_file *r, size_t most)
{
    size_t bytes = (size_t)(r->end - r->at);

    if (bytes > most * sizeof(hf_event))
        bytes = most * sizeof(hf_event);
    r->i = 0;
    r->n = 0;
    if (bytes == 0)
        return;
    if (pread(fd, r->buffer, bytes, r->at) != (ssize_t)bytes)
        abort();
    r->at += (off_t)bytes;
    r->n = bytes / sizeof(hf_event);
}

static taker merge_runs(int fd, run_file *runs, size_t n_runs)
{
    size_t most = PIPELINE_BYTES / sizeof(hf_event) / (n_runs + 1);
    taker to = {.ordered = true};
    static hf_event out[TAKE];
    size_t n_out = 0, *heap = HF_NEW_ARRAY(size_t, n_runs), n = 0;

#define FIRST(k) (runs[heap[k]].buffer[runs[heap[k]].i].before)
    for (size_t r = 0; r < n_runs; r++) {
        size_t i = n;

        runs[r].buffer = HF_NEW_ARRAY(hf_event, most);
        read_run(fd, &runs[r], most);
        heap[n++] = r;
        for (; i > 0 && FIRST((i - 1) / 2) > FIRST(i); i = (i - 1) / 2) {
            size_t x = heap[i];

            heap[i] = heap[(i - 1) / 2];
            heap[(i - 1) / 2] = x;
        }
    }
    while (n > 0) {
        run_file *r = &runs[heap[0]];
        size_t i = 0;

        out[n_out++] = r->buffer[r->i++];
        if (n_out == TAKE) {
            take(&to, out, n_out);
            n_out = 0;
        }
        if (r->i == r->n)
            read_run(fd, r, most);
        if (r->n == 0)
            heap[0] = heap[--n];
        for (;;) {
            size_t child = 2 * i + 1, x;

            if (child >= n)
                break;
            if (child + 1 < n && FIRST(child + 1) < FIRST(child))
                child++;
            if (FIRST(child) >= FIRST(i))
                break;
            x = heap[i];
            heap[i] = heap[child];
            heap[child] = x;
            i = child;
        }
    }
#undef FIRST
    take(&to, out, n_out);
    for (size_t r = 0; r < n_runs; r++)
        hf_free(runs[r].buffer);
    hf_free(heap);
    return to;
}

static taker run_sort(const trace *t)
{
    char path[] = "/tmp/bench_watch_XXXXXX";
    size_t most = PIPELINE_BYTES / sizeof(hf_event) / 2; /* two arrays */
    hf_event *events = HF_NEW_ARRAY(hf_event, most);
    hf_event *other = HF_NEW_ARRAY(hf_event, most);
    int fd = mkstemp(path);
    HF_VEC(run_file) runs = {0};
    off_t at = 0;
    taker to;

    (void)unlink(path);
    for (size_t i = 0; i < t->n;) {
        size_t n = t->n - i < most ? t->n - i : most;

        memcpy(events, t->events + i, n * sizeof(*events));
        sort_run(events, other, n);
        if (pwrite(fd, events, n * sizeof(*events), at) !=
            (ssize_t)(n * sizeof(*events)))
            abort();
        hf_vec_push(
            &runs,
            (run_file){.at = at, .end = at + (off_t)(n * sizeof(*events))});
        at += (off_t)(n * sizeof(*events));
        i += n;
    }
    hf_free(events);
    hf_free(other);
    to = merge_runs(fd, runs.at, runs.n);
    hf_vec_release(&runs);
    (void)close(fd);
    return to;
}

/* The same with qsort(), as a program without a radix sort would. */
static double qsort_seconds(const trace *t)
{
    size_t most = PIPELINE_BYTES / sizeof(hf_event);
    hf_event *events = HF_NEW_ARRAY(hf_event, most);
    uint64_t from = hf_clock_cpu_ns();

    for (size_t i = 0; i < t->n;) {
        size_t n = t->n - i < most ? t->n - i : most;

        memcpy(events, t->events + i, n * sizeof(*events));
        qsort(events, n, sizeof(*events), by_before);
        i += n;
    }
    hf_free(events);
    return cpu_since(from);
}

static bool bench_pipeline(void)
{
    double best = 1e9, sorted = 1e9;
    taker a = {0}, b = {0};
    trace t = {0};

    make_trace(&t, PIPELINE_EVENTS);
    for (int i = 0; i < 3; i++) {
        uint64_t from = hf_clock_cpu_ns();
        double s;

        a = run_pipeline(&t);
        s = cpu_since(from);
        best = s < best ? s : best;
        from = hf_clock_cpu_ns();
        b = run_sort(&t);
        s = cpu_since(from);
        sorted = s < sorted ? s : sorted;
    }
    printf("pipeline: %zu events of %u clients: %.0f ns each; external merge "
           "sort %.0f ns (its qsort() alone would be %.0f ns)\n",
           t.n, TRACE_CLIENTS, best * 1e9 / (double)t.n,
           sorted * 1e9 / (double)t.n, qsort_seconds(&t) * 1e9 / (double)t.n);
    printf("pipeline: %.1f times faster than an external merge sort (wanted: "
           "4)\n",
           sorted / best);
    if (!a.ordered || !b.ordered || a.n != t.n || b.n != t.n || a.sum != b.sum)
        printf("pipeline: WRONG: %d %d %llu %llu\n", a.ordered, b.ordered,
               (unsigned long long)a.n, (unsigned long long)b.n);
    hf_vec_release(&t.txns);
    hf_free(t.events);
    return a.ordered && b.ordered && a.n == b.n && a.sum == b.sum &&
           sorted / best >= 4;
}

/* ---- growth and memory --------------------------------------------------- */

typedef struct feed {
    hf_pipeline *pipeline;
    uint64_t transactions, operations;
} feed;

static void *produce(void *user)
{
    static hf_event events[TRACE_TXN_EVENTS];
    feed *f = user;
    trace_maker m;

    trace_maker_init(&m, 11);
    for (uint64_t done = 0; done < f->operations; f->transactions++) {
        size_t n = trace_maker_next(&m, events);

        if (!hf_pipeline_push(f->pipeline, events[0].client, events, n))
            break;
        done += n;
    }
    trace_maker_release(&m);
    hf_pipeline_end(f->pipeline);
    return NULL;
}

static bool found_one(void *user, const hf_violation *v)
{
    (void)v;
    (*(uint64_t *)user)++;
    return true;
}

/* Judges so many operations; memory at each eighth. */
static double judge(uint64_t operations, size_t *memory, uint64_t *ret_found,
                    uint64_t *ret_txns)
{
    static hf_event events[TAKE];
    feed f = {.operations = operations};
    uint64_t found = 0, taken = 0, from = hf_clock_cpu_ns();
    hf_watch *w = hf_watch_new(&(hf_watch_options){
        .profile = hf_profile_find(HF_STR("postgresql/serializable"), NULL),
        .violation = found_one,
        .user = &found});
    unsigned eighth = 0;
    pthread_t thread;
    double s;

    f.pipeline = hf_pipeline_new(&(hf_pipeline_options){0});
    for (uint32_t k = 0; k < TRACE_KEYS; k++)
        hf_watch_key(w, k, HF_WATCH_INITIAL_VALUE, TRACE_INITIAL);
    for (unsigned c = 0; c < TRACE_CLIENTS; c++)
        (void)hf_pipeline_join(f.pipeline, 0);
    pthread_create(&thread, NULL, produce, &f);
    while (!hf_pipeline_is_done(f.pipeline)) {
        size_t n = hf_pipeline_take(f.pipeline, events, TAKE, 1000000000);

        (void)hf_watch_feed(w, events, n);
        taken += n;
        if (memory && eighth < 8 && taken * 8 >= operations * (eighth + 1))
            memory[eighth++] = hf_memory_held();
    }
    (void)hf_watch_finish(w);
    pthread_join(thread, NULL);
    hf_pipeline_free(f.pipeline);
    hf_watch_free(w);
    s = cpu_since(from);
    *ret_found = found;
    *ret_txns = f.transactions;
    return s;
}

static bool bench_growth(bool large)
{
    static const uint64_t sizes[] = {1000000, 10000000, 100000000};
    size_t memory[8] = {0};
    double each[3] = {0};
    unsigned n = large ? 3 : 2;
    bool fine = true;

    for (unsigned i = 0; i < n; i++) {
        uint64_t found, txns, from = hf_clock_ns();
        double s = judge(sizes[i], memory, &found, &txns);

        each[i] = s / (double)txns;
        printf("growth: %llu operations, %llu transactions: %.0f ns of CPU "
               "each (making them included), %.0f/s by the clock, %llu "
               "violations, %.1f MiB\n",
               (unsigned long long)sizes[i], (unsigned long long)txns,
               each[i] * 1e9, (double)txns / seconds_since(from),
               (unsigned long long)found, (double)memory[7] / 1048576);
        fine &= found == 0;
    }
    printf("growth: a transaction of the longest run takes %.2f times one of "
           "the shortest (wanted: 1; missed above %.2f)\n",
           each[n - 1] / each[0], MOST_GROWTH);
    fine &= each[n - 1] <= MOST_GROWTH * each[0];
    printf("memory: %.1f MiB in the last quarter, %.1f in the second: %.3f "
           "times (wanted: at most 1.1)\n",
           (double)memory[7] / 1048576, (double)memory[3] / 1048576,
           (double)memory[7] / (double)memory[3]);
    return fine && (double)memory[7] <= 1.1 * (double)memory[3];
}

/* ---- against PostgreSQL -------------------------------------------------- */

/* A field of one line of JSON of the program. */
static double field_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? strtod(at + strlen(name), NULL) : 0;
}

static bool ask(const char *command, char *text, size_t size)
{
    FILE *f = popen(command, "r");
    size_t n = f ? fread(text, 1, size - 1, f) : 0;

    text[n] = '\0';
    return f && pclose(f) == 0;
}

/* Judges what was recorded; the seconds it took, 0: it failed. */
static double watch_once(const char *program, char *text, size_t size)
{
    char command[600];
    uint64_t from;

    snprintf(command, sizeof command,
             "%s watch --profile postgresql/serializable --json "
             "bench_watch.hf",
             program);
    from = hf_clock_ns();
    return ask(command, text, size) ? seconds_since(from) : 0;
}

static bool bench_database(const char *program, const char *workload,
                           const char *options, unsigned seconds)
{
    char command[600], text[20000];
    double rate, judged, committed, clock_s = 1e9, cpu_s, wanted;
    bool fine;

    snprintf(command, sizeof command,
             "%s run --db postgres -w %s %s -c 16 -t %us -o bench_watch.hf "
             "--force --json",
             program, workload, options, seconds);
    if (!ask(command, text, sizeof text)) {
        printf("database: %s: no PostgreSQL, skipped\n", workload);
        return true;
    }
    committed = field_of(text, "\"committed\":");
    rate = (committed + field_of(text, "\"aborted\":") +
            field_of(text, "\"unknown\":")) /
           seconds;
    for (int i = 0; i < 3; i++) {
        double s = watch_once(program, text, sizeof text);

        if (s == 0) {
            printf("database: %s: watch failed: %.200s\n", workload, text);
            return false;
        }
        clock_s = s < clock_s ? s : clock_s;
    }
    cpu_s = field_of(text, "\"cpu_seconds\":");
    judged = field_of(text, "\"transactions\":");
    wanted = strcmp(workload, "tpcc") == 0 ? TPCC_RATE : 0;
    fine = judged / clock_s >= 15 * rate && judged / clock_s >= wanted;
    printf("database: %s %s: PostgreSQL %.0f transactions/s while recorded "
           "(%.0f %% of them committed, %.1f operations each); watch %.0f/s by "
           "the clock: %.1f times (wanted: 15%s); %.0f for each second of CPU: "
           "%s\n",
           workload, options, rate, 100 * committed / (rate * seconds),
           field_of(text, "\"events\":") / judged, judged / clock_s,
           judged / clock_s / rate, wanted > 0 ? ", and 200000/s" : "",
           judged / cpu_s, fine ? "reached" : "MISSED");
    (void)unlink("bench_watch.hf");
    return fine;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    char program[1000];
    char *slash;
    bool all = argc < 2, fine = true;

    (void)snprintf(program, sizeof program, "%s", argv[0]);
    slash = strrchr(program, '/');
    (void)snprintf(slash ? slash + 1 : program,
                   sizeof program - (size_t)(slash ? slash + 1 - program : 0),
                   "../holdfast");
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (all || strcmp(what, "--pipeline") == 0)
        fine &= bench_pipeline();
    if (all || strcmp(what, "--growth") == 0)
        fine &= bench_growth(false);
    if (strcmp(what, "--large") == 0)
        fine &= bench_growth(true);
    if (all || strcmp(what, "--database") == 0) {
        unsigned seconds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 10;

        fine &= bench_database(program, "smallbank", "", seconds);
        fine &= bench_database(program, "tpcc", "", seconds);
        fine &=
            bench_database(program, "tpcc", "--set warehouses=16", 6 * seconds);
    }
    return fine ? 0 : 1;
}
