/* bench_polygraph.c: what checking costs when nobody tells the order.
 *
 *   bench_polygraph [--quick] [--limit SECONDS]
 *
 * The engine under test is "polygraph", on one thread, on the mixes of
 * mixes.h: registers, 8 operations a transaction, 20 clients, 1,000 keys,
 * no version order.  Two stores make them: "snapshot" and "latest", after what
 * reads return.
 *
 *   times      10,000 transactions, recorded times are a hint, no sessions
 *   sessions   no times; sessions are named, the level does not ask for them
 *   nothing    neither: the file is a shuffled heap of transactions
 *   large      100,000 transactions with times, and memory; 1 million
 *              read-modify-writes
 *   snapshot   snapshot isolation, also of histories of the store that does
 *              not read snapshots
 *   broken     a store with write skew; one stale read; noise in the clocks
 *   growth     in transactions, sessions, keys and skew of the keys; fewer
 *              and fewer values, so that reads have several sources
 *   eager      the same engine with all pairs made at once and plain pruning
 *
 * CPU time, best of a few rounds, of promises, certificate and engine; the
 * witness is re-checked aside.  A check that takes longer than the limit is
 * undecided.  A goal missed, a case without a goal that is not decided, or a
 * proof that is refused, makes the exit status 1.  --quick is a tenth of the
 * size and has no goals.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

#define ROUNDS 5

static double limit = 3;
static bool quick;
static int missed;

static const char *const stores[HF_MIX_STORE_COUNT] = {"snapshot", "latest",
                                                       "skewed"};

/* ---- printing ------------------------------------------------------------ */

static uint32_t sized(uint32_t transactions)
{
    return quick ? transactions / 10 : transactions;
}

static const char *goal_word(double value, double goal)
{
    if (value <= goal)
        return "reached";
    missed++;
    return "MISSED";
}

/* goal 0: none; memory in MiB likewise. */
static void print_line(const char *what, const hf_measure *m, double goal,
                       double memory)
{
    bool decided = m->finished && m->verdict != HF_UNKNOWN;

    printf("  %-34s %-8s", what, hf_measure_word(m));
    if (decided)
        printf(" %9.4f s %6.0f MiB", m->seconds, m->mebibytes);
    else
        printf(" %9.4f s %10s", m->seconds, "");
    if (goal > 0 && !quick)
        printf("  (goal at most %g s: %s)", goal,
               goal_word(decided ? m->seconds : 1e9, goal));
    if (memory > 0 && !quick && decided)
        printf(" (%g MiB: %s)", memory, goal_word(m->mebibytes, memory));
    printf("%s\n", goal == 0 && !decided ? "  MISSED: not decided" : "");
    missed += goal == 0 && !decided;
    if (m->refused) {
        printf("    %s\n", m->reason);
        missed++;
    }
    (void)fflush(stdout);
}

static hf_measure_ask ask_for(hf_mix mix, hf_mix_store store,
                              uint32_t transactions, hf_level level)
{
    return (hf_measure_ask){.mix = hf_mix_defaults(mix, store, transactions),
                            .level = level,
                            .limit = limit,
                            .rounds = quick ? 1 : ROUNDS};
}

static hf_measure ask_and_print(const char *more, const hf_measure_ask *ask,
                                double goal, double memory)
{
    hf_measure m = hf_measure_mix(ask);
    char what[80];

    (void)snprintf(what, sizeof(what), "%s, %s%s%s", hf_mix_name(ask->mix.mix),
                   stores[ask->mix.store], *more ? ", " : "", more);
    print_line(what, &m, goal, memory);
    return m;
}

/* ---- sections ------------------------------------------------------------ */

typedef struct section {
    const char *title;
    hf_level level;
    uint32_t transactions;
    bool times, sessions;
    double goal, memory;
} section;

/* The three mixes of the two stores that are serializable. */
static void bench_section(const section *s)
{
    printf("%s\n", s->title);
    for (unsigned mix = 0; mix < HF_MIX_COUNT; mix++)
        for (unsigned store = 0; store <= HF_MIX_STORE_LATEST; store++) {
            hf_measure_ask ask = ask_for((hf_mix)mix, (hf_mix_store)store,
                                         sized(s->transactions), s->level);

            if (s->goal * 1.25 > ask.limit)
                ask.limit = s->goal * 1.25;
            ask.mix.no_times = !s->times;
            ask.mix.no_sessions = !s->sessions;
            (void)ask_and_print("", &ask, s->goal, s->memory);
        }
}

static const section sections[] = {
    {"serializable, 10,000 transactions, times as a hint, no sessions",
     HF_SERIALIZABLE, 10000, true, false, 0.5, 0},
    {"serializable, no times, sessions known but not asked for",
     HF_SERIALIZABLE, 10000, false, true, 2, 0},
    {"serializable, no times, no sessions", HF_SERIALIZABLE, 10000, false,
     false, 2, 0},
    {"strong-session-serializable, no times", HF_STRONG_SESSION_SERIALIZABLE,
     10000, false, true, 2, 0},
    {"serializable, 100,000 transactions, times as a hint, no sessions",
     HF_SERIALIZABLE, 100000, true, false, 8, 1536},
    {"snapshot-isolation, 10,000 transactions, times as a hint, no sessions",
     HF_SNAPSHOT_ISOLATION, 10000, true, false, 0.5, 0},
    {"snapshot-isolation, no times, sessions known but not asked for",
     HF_SNAPSHOT_ISOLATION, 10000, false, true, 0, 0},
    {"snapshot-isolation, no times, no sessions", HF_SNAPSHOT_ISOLATION, 10000,
     false, false, 0, 0},
};

static void bench_million(void)
{
    hf_measure_ask ask =
        ask_for(HF_MIX_RMW, HF_MIX_STORE_SNAPSHOT, 1000000, HF_SERIALIZABLE);

    ask.limit = 100;
    ask.mix.no_sessions = true;
    printf("serializable, 1 million transactions, times as a hint\n");
    (void)ask_and_print("", &ask, 60, 0);
}

/* ---- broken stores ------------------------------------------------------- */

/* How many of three seeds are invalid, and what the slowest took.  Blind
 * writes explain a lot: no count is the right one for all mixes. */
static void bench_seeds(const char *what, hf_measure_ask ask)
{
    unsigned count[HF_VERDICT_COUNT] = {0};
    double slowest = 0;

    for (ask.mix.seed = 1; ask.mix.seed <= 3; ask.mix.seed++) {
        hf_measure m = hf_measure_mix(&ask);

        count[m.finished ? m.verdict : HF_UNKNOWN]++;
        if (m.finished && m.seconds > slowest)
            slowest = m.seconds;
        if (m.refused) {
            printf("  REFUSED: %s\n", m.reason);
            missed++;
        }
    }
    printf("  %-34s %u invalid, %u valid, %u undecided; slowest %.4f s\n", what,
           count[HF_INVALID], count[HF_VALID], count[HF_UNKNOWN], slowest);
    (void)fflush(stdout);
}

static void bench_broken(void)
{
    char what[80];

    printf("serializable of what may not be, 10,000 transactions, times, "
           "3 seeds\n");
    for (unsigned mix = 0; mix < HF_MIX_COUNT; mix++) {
        hf_measure_ask ask = ask_for((hf_mix)mix, HF_MIX_STORE_SKEWED,
                                     sized(10000), HF_SERIALIZABLE);

        ask.mix.no_sessions = true;
        ask.rounds = 1;
        (void)snprintf(what, sizeof(what), "%s, write skew",
                       hf_mix_name((hf_mix)mix));
        bench_seeds(what, ask);
        ask.mix.store = HF_MIX_STORE_SNAPSHOT;
        for (ask.mix.stale = 1; ask.mix.stale <= 3; ask.mix.stale += 2) {
            (void)snprintf(what, sizeof(what), "%s, one read %u back",
                           hf_mix_name((hf_mix)mix), ask.mix.stale);
            bench_seeds(what, ask);
        }
    }
}

/* Clocks that are off by this many operation times; a transaction has 9. */
static void bench_noise(void)
{
    static const double sigmas[] = {0, 6, 29, 115};
    char what[80];

    printf("serializable, noise in the times, no sessions\n");
    for (unsigned mix = HF_MIX_READ_WRITE; mix < HF_MIX_COUNT; mix++)
        for (unsigned i = 0; i < sizeof(sigmas) / sizeof(*sigmas); i++) {
            hf_measure_ask ask = ask_for((hf_mix)mix, HF_MIX_STORE_LATEST,
                                         sized(10000), HF_SERIALIZABLE);

            ask.mix.no_sessions = true;
            ask.mix.noise = sigmas[i];
            (void)snprintf(what, sizeof(what), "sigma %g", sigmas[i]);
            (void)ask_and_print(what, &ask, 0, 0);
        }
}

/* ---- growth -------------------------------------------------------------- */

/* One line for a size: the three mixes beside each other, and how much more
 * than for the size before. */
static void print_row(const char *what, const hf_measure_ask *asks,
                      double before[HF_MIX_COUNT])
{
    printf("  %-22s", what);
    for (unsigned mix = 0; mix < HF_MIX_COUNT; mix++) {
        hf_measure m = hf_measure_mix(&asks[mix]);
        bool decided = m.finished && m.verdict == HF_VALID && !m.refused;

        if (decided)
            printf(" %9.4f s", m.seconds);
        else
            printf(" %11s", hf_measure_word(&m));
        if (decided && before[mix] > 0)
            printf(" (x%5.1f)", m.seconds / before[mix]);
        else
            printf(" %8s", "");
        before[mix] = decided ? m.seconds : 0;
        missed += m.refused;
    }
    printf("\n");
    (void)fflush(stdout);
}

typedef enum dimension {
    BY_SIZE,
    BY_SESSIONS,
    BY_KEYS,
    BY_SKEW,
    BY_VALUES
} dimension;

static void set_dimension(hf_mix_options *o, dimension d, uint32_t value)
{
    switch (d) {
    case BY_SIZE:
        o->transactions = value;
        break;
    case BY_SESSIONS:
        o->clients = value;
        break;
    case BY_KEYS:
        o->keys = value;
        break;
    case BY_SKEW:
        o->theta = value / 100.0;
        break;
    case BY_VALUES:
        o->values = value;
        break;
    }
}

static void bench_growth(const char *title, dimension d, const uint32_t *values,
                         unsigned n, bool sessions)
{
    double before[HF_MIX_COUNT] = {0};

    printf("%s\n  %-22s %19s %19s %19s\n", title, "", "rmw", "read-write",
           "heavy-write");
    for (unsigned i = 0; i < n; i++) {
        hf_measure_ask asks[HF_MIX_COUNT];
        char what[40];

        for (unsigned mix = 0; mix < HF_MIX_COUNT; mix++) {
            asks[mix] = ask_for((hf_mix)mix, HF_MIX_STORE_LATEST, sized(10000),
                                sessions ? HF_STRONG_SESSION_SERIALIZABLE
                                         : HF_SERIALIZABLE);
            asks[mix].mix.no_sessions = !sessions;
            asks[mix].mix.no_times = sessions;
            set_dimension(&asks[mix].mix, d, values[i]);
        }
        if (d == BY_SKEW)
            (void)snprintf(what, sizeof(what), "%.2f", values[i] / 100.0);
        else
            (void)snprintf(what, sizeof(what), "%u", values[i]);
        print_row(what, asks, before);
    }
}

static void bench_all_growth(void)
{
    static const uint32_t sizes[] = {1000,  2000,  5000,  10000,
                                     20000, 50000, 100000};
    static const uint32_t clients[] = {1, 10, 100, 1000};
    static const uint32_t keys[] = {10, 100, 1000, 10000, 100000};
    static const uint32_t skews[] = {0, 50, 99, 120};
    static const uint32_t values[] = {0, 1000, 100, 10, 3};

    bench_growth("growth: transactions (times, no sessions)", BY_SIZE, sizes,
                 quick ? 3 : 7, false);
    bench_growth("growth: sessions (times, not told)", BY_SESSIONS, clients, 4,
                 false);
    bench_growth("growth: sessions (strong-session-serializable, no times)",
                 BY_SESSIONS, clients, 4, true);
    bench_growth("growth: keys (times, no sessions)", BY_KEYS, keys, 5, false);
    bench_growth("growth: skew of the keys, Zipf's theta", BY_SKEW, skews, 4,
                 false);
    bench_growth("growth: values of a key, 0: each written once (times)",
                 BY_VALUES, values, 5, false);
    bench_growth("growth: values of a key (strong-session-serializable, no "
                 "times)",
                 BY_VALUES, values, 5, true);
}

/* ---- the same engine, done the plain way --------------------------------- */

static void bench_eager(void)
{
    printf("eager pairs and plain pruning / this engine\n");
    if (!hf_measure_has_eager()) {
        printf("  not built\n");
        return;
    }
    for (unsigned mix = 0; mix < HF_MIX_COUNT; mix++) {
        hf_measure_ask ask = ask_for((hf_mix)mix, HF_MIX_STORE_LATEST,
                                     sized(10000), HF_SERIALIZABLE);
        hf_measure lazy, eager;
        double ratio;

        ask.mix.no_sessions = true;
        lazy = hf_measure_mix(&ask);
        ask.eager = true;
        ask.rounds = 1;
        eager = hf_measure_mix(&ask);
        ratio = eager.seconds / lazy.seconds;
        printf("  %-34s %9.1f  (goal at least 20%s; %s %.3f s to %s %.4f s)\n",
               hf_mix_name((hf_mix)mix), ratio,
               quick         ? ""
               : ratio >= 20 ? ": reached"
                             : ": MISSED",
               hf_measure_word(&eager), eager.seconds, hf_measure_word(&lazy),
               lazy.seconds);
        missed += !quick && ratio < 20;
    }
}

static bool parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--limit") == 0 && i + 1 < argc)
            limit = strtod(argv[++i], NULL);
        else
            return false;
    }
    return limit > 0;
}

int main(int argc, char **argv)
{
    if (!parse(argc, argv)) {
        fprintf(stderr, "usage: bench_polygraph [--quick] [--limit SECONDS]\n");
        return 2;
    }
    if (quick)
        printf("quick: a tenth of the transactions named below\n");
    for (unsigned i = 0; i < sizeof(sections) / sizeof(*sections); i++)
        bench_section(&sections[i]);
    if (!quick)
        bench_million();
    bench_noise();
    bench_broken();
    bench_all_growth();
    bench_eager();
    return missed > 0;
}
