/* test_executed.c: cores that verify executes, against enumeration.
 *
 *     test_executed [HISTORIES [SEED]]
 *
 * A tiny history (states_store.h) is judged by brute.  Then transactions that
 * have nothing to do with it are added, so many that no core of all is
 * enumerated, and verify is told that all are impossible by themselves, at
 * every level that is an order of transactions, or of starts and commits, at
 * read committed and, without lists, where visibility counts.  It accepts that
 * if the tiny history is invalid, and only then: by executing them, and by
 * clauses.  At other levels that imply read committed it accepts what read
 * committed forbids, and no more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "check/brute_engine.h"
#include "history/text.h"
#include "states_store.h"
#include "verify/verify.h"

#define MORE 9 /* one more than verify enumerates */

typedef struct run {
    uint64_t seed;
    long answers[2], failed;
} run;

static states_taste taste_of(hf_rng *r)
{
    return (states_taste){.txns = 2 + hf_rng_below(r, 6),
                          .keys = 1 + hf_rng_below(r, 3),
                          .sessions = 1 + hf_rng_below(r, 4),
                          .ops = 1 + hf_rng_below(r, 4),
                          .values = 2 + hf_rng_below(r, 3),
                          .lists =
                              hf_rng_chance(r, 60) ? hf_rng_below(r, 100) : 0,
                          .counters = hf_rng_chance(r, 60) ? 60 : 0,
                          .results = hf_rng_chance(r, 30) ? 30 : 0,
                          .sets = 1 + hf_rng_below(r, 40),
                          .initial = hf_rng_chance(r, 40) ? 50 : 0,
                          .twice = hf_rng_chance(r, 30) ? 20 : 0,
                          .unknown = hf_rng_chance(r, 50) ? 35 : 0,
                          .aborted = hf_rng_chance(r, 40) ? 20 : 0,
                          .lag = hf_rng_below(r, 4),
                          .conflicts = hf_rng_chance(r, 60),
                          .times = hf_rng_chance(r, 60),
                          .overlap = hf_rng_below(r, 4),
                          .change = hf_rng_chance(r, 50) ? 60 : 0,
                          .shift = hf_rng_chance(r, 50),
                          .orders = hf_rng_chance(r, 30) ? 70 : 0};
}

static void show(const hf_history *h)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_text_write(h, &out);
    printf("%.*s", (int)out.n, out.at);
    hf_out_release(&out);
}

static bool accepts(const hf_history *h, hf_level level, bool eager,
                    hf_error *why)
{
    hf_verify_session *session = hf_verify_open(h);
    hf_verification v = {0};
    hf_claim claim = {.verdict = HF_INVALID,
                      .level = level,
                      .witness = {.kind = HF_WITNESS_CORE,
                                  .anomaly = HF_NO_ORDER,
                                  .confirmed = true,
                                  .n_order = h->n_txns}};

    if (eager)
        hf_verify_set_eager(session);
    claim.witness.order = HF_NEW_ARRAY(hf_txn_id, h->n_txns);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        claim.witness.order[t] = t;
    if (hf_verify_claim_in(session, &claim, NULL, &v, why) != HF_OK)
        v.accepted = false;
    else
        (void)hf_fail(why, HF_ERR_INPUT, "%s", v.reason);
    hf_free(claim.witness.order);
    hf_verify_close(session);
    return v.accepted;
}

static void compare(run *r, const hf_history *tiny, const hf_history *all,
                    hf_level level, bool lists)
{
    hf_level_shape shape = hf_level_get(level)->shape;
    hf_error err = {{0}, 0, 0};
    hf_level rule = level;
    hf_result *x = NULL;
    bool invalid;

    if (shape != HF_SHAPE_SERIAL && shape != HF_SHAPE_ITEM &&
        shape != HF_SHAPE_SNAPSHOT && (shape != HF_SHAPE_SINGLE || lists))
        rule = HF_READ_COMMITTED;
    if (rule != level && (lists || !hf_level_implies(level, rule)))
        return;
    if (hf_brute_check(tiny, rule, NULL, NULL, &x, &err) != HF_OK ||
        x->verdict == HF_UNKNOWN) {
        printf("seed %" PRIu64 ": brute does not know\n", r->seed);
        r->failed++;
        hf_result_free(x);
        return;
    }
    invalid = x->verdict == HF_INVALID;
    r->answers[invalid]++;
    for (int eager = 0; eager < 2; eager++) {
        if (accepts(all, level, eager, &err) == invalid)
            continue;
        printf("seed %" PRIu64 ", %s: brute says %s, but%s: %s\n", r->seed,
               hf_level_get(level)->name, hf_verdict_name(x->verdict),
               eager ? " clauses" : "", err.text);
        if (r->failed++ < 3)
            show(tiny);
    }
    hf_result_free(x);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 4000;
    run r = {.seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};

    for (long i = 0; i < n; i++, r.seed++) {
        hf_history *tiny, *all;
        states_taste taste;
        hf_rng rng, again;

        hf_rng_seed(&rng, r.seed);
        taste = taste_of(&rng);
        again = rng;
        tiny = states_history(&taste, &rng);
        taste.more = MORE;
        all = states_history(&taste, &again);
        for (int l = 0; l < HF_LEVEL_COUNT; l++)
            compare(&r, tiny, all, (hf_level)l, taste.lists > 0);
        hf_history_free(tiny);
        hf_history_free(all);
    }
    printf("valid %ld, invalid %ld; %ld failed\n", r.answers[0], r.answers[1],
           r.failed);
    return r.failed > 0 || r.answers[0] == 0 || r.answers[1] == 0;
}
