/* bench_replay.c: engine replay with snapshots that are old.
 *
 *   bench_replay [TRANSACTIONS]          default 5,000
 *
 * Half of the transactions write, then the other half asks, on a snapshot
 * taken before all of them, about rows that never were: the worst case for a
 * checker that goes through everything between a snapshot and the place of its
 * operation.  Asked with conditions that are all different, with one, and with
 * one that no index helps.  The cost of doubling the history may be at most
 * 2.6: n log n and some noise.  A missed goal makes the exit status 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "history/builder.h"
#include "history/text.h"
#include "times.h"

#define ROUNDS 5
#define SIZES 4
#define GOAL 2.6
#define KEYS 100

typedef enum question { DIFFERENT, EQUAL, UNBOUND, QUESTIONS } question;

static void die(const char *what, const char *more)
{
    fprintf(stderr, "bench_replay: %s: %s\n", what, more);
    exit(2);
}

static void add_question(hf_out *o, question kind, unsigned i, unsigned n)
{
    hf_out_text(o, "{\"ops\":[{\"op\":\"pr\",\"table\":\"t\",\"where\":\"");
    if (kind == DIFFERENT)
        hf_out_format(o, "a >= %u and a < %u", n + i, n + n + i);
    else
        hf_out_text(o, kind == EQUAL ? "a < 0" : "a % 2 = 7");
    hf_out_format(o, "\",\"snapshot\":1,\"rows\":[]}],\"commit_ts\":%u}\n",
                  n + i + 2);
}

static hf_history *make(question kind, unsigned n)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;
    hf_out o;

    hf_out_init_memory(&o);
    for (unsigned i = 0; i < n; i++)
        hf_out_format(&o,
                      "{\"ops\":[[\"w\",[\"t\",%u],{\"a\":%u}]],"
                      "\"commit_ts\":%u}\n",
                      i % KEYS, i, i + 2);
    for (unsigned i = 0; i < n; i++)
        add_question(&o, kind, i, n);
    if (hf_text_read(o.at, o.n, b, &err) != HF_OK ||
        hf_builder_finish(b, &h, &err) != HF_OK)
        die("could not make a history", err.text);
    hf_out_release(&o);
    return h;
}

static double time_check(const hf_history *h)
{
    const hf_engine *engine = hf_engine_find(HF_STR("replay"));
    double begin = cpu_seconds(), seconds;
    hf_result *r = NULL;
    hf_error err;

    if (hf_engine_ask(engine, h, HF_SERIALIZABLE, NULL, NULL, &r, &err) !=
        HF_OK)
        die("could not check", err.text);
    seconds = cpu_seconds() - begin;
    if (r->verdict != HF_VALID)
        die("expected a valid history", hf_verdict_name(r->verdict));
    hf_result_free(r);
    return seconds;
}

static bool bench_growth(question kind, unsigned n)
{
    static const char *const names[] = {"different conditions", "one condition",
                                        "one without bounds"};
    times taken[SIZES] = {0};
    hf_history *h[SIZES];
    double growth = 0;

    for (unsigned i = 0; i < SIZES; i++)
        h[i] = make(kind, n / 2 << i);
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < SIZES; i++)
            add_time(&taken[i], time_check(h[i]));
    for (unsigned i = 0; i < SIZES; i++) {
        printf("%-24s %8u transactions %8.4f s", names[kind], n << i,
               best_time(&taken[i]));
        if (i > 0)
            printf("  x %.2f", best_time(&taken[i]) / best_time(&taken[i - 1]));
        printf("\n");
        hf_history_free(h[i]);
    }
    growth = best_time(&taken[SIZES - 1]) / best_time(&taken[SIZES - 2]);
    printf("%-46s %8.3f  (goal at most %g: %s)\n", "the last doubling", growth,
           GOAL, growth <= GOAL ? "reached" : "MISSED");
    return growth <= GOAL;
}

int main(int argc, char **argv)
{
    unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000;
    bool fine = true;

    for (question kind = 0; kind < QUESTIONS; kind++)
        fine &= bench_growth(kind, (unsigned)n);
    return fine ? 0 : 1;
}
