/* test_unlimited.c: unknown only at a limit.
 *
 *     test_unlimited [HISTORIES [SEED [LEVEL]]]
 *
 * Random histories of 5 to 30 transactions, more than anybody enumerates, with
 * everything the generators know: lists with repeated and initial elements,
 * equal values, unknown outcomes, counters, conditions, mixed levels, at every
 * level.  Engine polygraph has no limit and has to decide each, with a witness
 * that verify accepts.  What it leaves open is a failure; the reasons it gives
 * are counted, the most frequent first, each with a seed.  Counted apart are a
 * question that takes longer than SECONDS_EACH, which was not left open but
 * stopped; and what the history does not say: version sets of aggregates that
 * were not recorded, or as a snapshot that leaves them open, which the reason
 * has to name.  Histories that are bad input are passed by.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/error.h"
#include "check/check.h"
#include "check/poly_core.h"
#include "history/promises.h"
#include "history/text.h"
#include "proved.h"
#include "random_history.h"
#include "states_store.h"

#define SECONDS_EACH 4
#define MOST_REASONS 60

typedef struct reason {
    char text[400];
    long n;
    uint64_t seed;
    const char *level;
} reason;

typedef struct run {
    const hf_engine *engine;
    long verdicts[HF_VERDICT_COUNT], stopped, unsaid, minimal;
    long refused;
    long proofs;
    reason reasons[MOST_REASONS];
    int n_reasons;
    uint64_t seed;
    double slowest;
    uint64_t slowest_seed;
    const char *slowest_level;
    long failed;
} run;

/* Numbers are one. */
static void plain(const char *text, char *ret, size_t size)
{
    size_t n = 0;

    for (; *text && n + 1 < size; text++) {
        if (isdigit((unsigned char)*text) && n > 0 && ret[n - 1] == 'N')
            continue;
        ret[n++] = isdigit((unsigned char)*text) ? 'N' : *text;
    }
    ret[n] = 0;
}

static void count_reason(run *r, const char *kind, const char *text,
                         const char *level)
{
    char whole[300], key[400];
    int i = 0;

    (void)snprintf(whole, sizeof(whole), "%s: %s", kind,
                   text ? text : "no reason");
    plain(whole, key, sizeof(key));
    while (i < r->n_reasons && strcmp(r->reasons[i].text, key) != 0)
        i++;
    if (i == MOST_REASONS)
        return;
    if (i == r->n_reasons) {
        r->n_reasons++;
        (void)snprintf(r->reasons[i].text, sizeof(key), "%s", key);
        r->reasons[i].seed = r->seed;
        r->reasons[i].level = level;
    }
    r->reasons[i].n++;
}

/* No search can know it: the reason names what should have been recorded. */
static bool is_not_recorded(const char *text)
{
    return text && strstr(text, ", which an aggregate needs");
}

static void ask(run *r, const hf_history *h, hf_level level, bool mixed)
{
    const char *name = mixed ? "mixed" : hf_level_get(level)->name;
    hf_budget budget = {.seconds = SECONDS_EACH};
    hf_check_options options = {.threads = 1, .mixed = mixed};
    hf_result *x = NULL;
    hf_error err = {{0}, 0, 0};

    hf_budget_start(&budget);
    if (hf_engine_ask(r->engine, h, level, &options, &budget, &x, &err) !=
        HF_OK) {
        r->failed++;
        count_reason(r, "failed", err.text, name);
        return;
    }
    if (x->verdict == HF_INVALID && x->witness.kind == HF_WITNESS_PROOF) {
        hf_poly_shrink(h, &options, &budget, x);
        r->proofs++;
        r->minimal += x->witness.minimal;
        if (!x->witness.minimal && !budget.spent)
            count_reason(r, "not minimal", x->witness.n_order ? "core" : "none",
                         name);
    }
    if (x->seconds > r->slowest) {
        r->slowest = x->seconds;
        r->slowest_seed = r->seed;
        r->slowest_level = name;
    }
    r->verdicts[x->verdict]++;
    if (x->verdict == HF_UNKNOWN) {
        bool open = is_not_recorded(x->reason);

        r->stopped += budget.spent != 0;
        r->unsaid += open && !budget.spent;
        r->failed += !open && !budget.spent;
        count_reason(r,
                     budget.spent ? "stopped"
                     : open       ? "not recorded"
                                  : "unknown",
                     x->reason, name);
    } else if (!is_proved(NULL, h, x, &x->witness, &err)) {
        r->failed++;
        count_reason(r, "not proved", err.text, name);
    }
    hf_result_free(x);
}

static random_taste taste_of(hf_rng *rng)
{
    static const random_taste *const tastes[] = {
        &random_any,     &random_items,      &random_choices,
        &random_choices, &random_predicates, &random_unlisted};
    random_taste t = *tastes[hf_rng_below(rng, 6)];

    t.fixtures = 0;
    t.most = 10 + hf_rng_below(rng, 20);
    t.odd = 0;
    if (hf_rng_chance(rng, 50))
        t.certificates = 0;
    return t;
}

static states_taste states_taste_of(hf_rng *r)
{
    return (states_taste){.txns = 10 + hf_rng_below(r, 30),
                          .keys = 1 + hf_rng_below(r, 6),
                          .sessions = 1 + hf_rng_below(r, 6),
                          .ops = 1 + hf_rng_below(r, 5),
                          .values = 2 + hf_rng_below(r, 10),
                          .lists = 50 * hf_rng_below(r, 3),
                          .counters = hf_rng_chance(r, 25) ? 30 : 0,
                          .initial = hf_rng_chance(r, 50) ? 50 : 0,
                          .twice = 10 * hf_rng_below(r, 4),
                          .unknown = hf_rng_chance(r, 50) ? 15 : 0,
                          .aborted = 5,
                          .lag = hf_rng_below(r, 4),
                          .conflicts = hf_rng_chance(r, 50),
                          .times = hf_rng_chance(r, 50),
                          .overlap = hf_rng_below(r, 8),
                          .change = 40};
}

static void try_history(run *r, const char *level)
{
    hf_error err;
    hf_rng rng;
    hf_history *h;
    bool mixed;

    hf_rng_seed(&rng, r->seed);
    mixed = hf_rng_chance(&rng, 25);
    if (hf_rng_chance(&rng, 30)) {
        states_taste taste = states_taste_of(&rng);

        h = states_history(&taste, &rng);
        mixed = false;
    } else {
        random_taste taste = taste_of(&rng);
        tiny_history t = random_history_of(&taste, &rng);

        if (mixed)
            random_levels(&t, &rng);
        h = tiny_build(&t, &err);
    }
    if (h && hf_promises_check(h, &err) != HF_OK) {
        r->refused++; /* bad input: nobody is asked */
        hf_history_free(h);
        return;
    }
    if (!h) {
        printf("seed %" PRIu64 ": not built: %s\n", r->seed, err.text);
        r->failed++;
        return;
    }
    if (level) {
        hf_out out;

        hf_out_init_memory(&out);
        hf_text_write(h, &out);
        fprintf(stderr, "%.*s", (int)out.n, out.at);
        hf_out_release(&out);
    }
    if (mixed)
        ask(r, h, (hf_level)hf_rng_below(&rng, HF_LEVEL_COUNT), true);
    for (int l = 0; l < HF_LEVEL_COUNT && !mixed; l++)
        if (!level || strcmp(level, hf_level_get((hf_level)l)->name) == 0)
            ask(r, h, (hf_level)l, false);
    hf_history_free(h);
}

static int by_number(const void *a, const void *b)
{
    const reason *x = a, *y = b;

    return (x->n < y->n) - (x->n > y->n);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 300;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    run r = {.engine = hf_engine_find(HF_STR("polygraph"))};

    for (long i = 0; i < n; i++) {
        r.seed = seed + (uint64_t)i;
        try_history(&r, argc > 3 ? argv[3] : NULL);
    }
    qsort(r.reasons, (size_t)r.n_reasons, sizeof(*r.reasons), by_number);
    for (int i = 0; i < r.n_reasons; i++)
        printf("%6ld  %s (seed %" PRIu64 ", %s)\n", r.reasons[i].n,
               r.reasons[i].text, r.reasons[i].seed, r.reasons[i].level);
    printf("valid %ld, invalid %ld, unknown %ld of which stopped after %d s "
           "%ld; %ld of %ld proofs minimal; slowest %.2f s (seed %" PRIu64
           ", %s)\n",
           r.verdicts[HF_VALID], r.verdicts[HF_INVALID], r.verdicts[HF_UNKNOWN],
           SECONDS_EACH, r.stopped, r.minimal, r.proofs, r.slowest,
           r.slowest_seed, r.slowest_level ? r.slowest_level : "");
    printf("%ld not recorded, %ld histories that are bad input\n", r.unsaid,
           r.refused);
    printf("%ld failed\n", r.failed);
    return r.failed ? 1 : 0;
}
