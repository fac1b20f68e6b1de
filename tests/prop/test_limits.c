/* test_limits.c: a check that is cut short says nothing wrong.
 *
 *     test_limits [RUNS [SEED]]
 *
 * Histories of the embedded store, clean and with bugs, some with conditions,
 * with and without their certificate, are judged by each engine at a level,
 * once to the end and then again and again, each time interrupted at another of
 * the points at which the engine asks whether it may go on.  What it says then
 * is unknown, or what it says without a limit, with a witness that verify
 * accepts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/mem.h"
#include "base/rng.h"
#include "check/check.h"
#include "proved.h"

#define DEFAULT_RUNS 1500
#define MAX_SHOWN 10
#define STOPS 8          /* of one check */
#define MOST_POLLS 20000 /* else it is not judged to the end */

typedef struct limit {
    hf_budget budget;
    uint64_t polls, stop;
} limit;

typedef struct run {
    uint64_t seed;
    long verdicts[HF_VERDICT_COUNT]; /* to the end */
    long stopped, known;             /* interrupted; and yet decided */
    long passed, failed;
} run;

static void complain(run *r, const hf_engine *engine, hf_level level,
                     uint64_t stop, const char *what)
{
    if (r->failed++ < MAX_SHOWN)
        printf("test_limits 1 %" PRIu64 ": %s at %s, stopped at %" PRIu64
               ": %s\n",
               r->seed, engine->name, hf_level_get(level)->name, stop, what);
}

/* Every question is asked, not one in some hundreds. */
static bool is_over(void *user)
{
    limit *l = user;

    l->budget.countdown = 0;
    return l->polls++ >= l->stop;
}

static hf_result *judge(const hf_engine *engine, const hf_history *h,
                        hf_level level, limit *l, uint64_t stop)
{
    hf_check_options options = {.no_enumeration = true, .threads = 1};
    hf_result *r = NULL;
    hf_error err;

    *l = (limit){.budget = {.interrupted = is_over, .user = l}, .stop = stop};
    hf_budget_start(&l->budget);
    if (engine->check(h, level, &options, &l->budget, &r, &err) != HF_OK) {
        printf("%s failed: %s\n", engine->name, err.text);
        exit(1);
    }
    return r;
}

static void interrupt(run *r, const hf_engine *engine, const hf_history *h,
                      const hf_result *whole, uint64_t stop)
{
    hf_level level = whole->level;
    hf_error err;
    limit l;
    hf_result *part = judge(engine, h, level, &l, stop);

    r->stopped += l.budget.spent;
    if (part->verdict != HF_UNKNOWN && whole->verdict != HF_UNKNOWN &&
        part->verdict != whole->verdict)
        complain(r, engine, level, stop, hf_verdict_name(part->verdict));
    else if (part->verdict != HF_UNKNOWN &&
             !is_proved(NULL, h, part, &part->witness, &err))
        complain(r, engine, level, stop, err.text);
    else if (part->verdict == HF_UNKNOWN && l.budget.spent &&
             strcmp(part->reason, hf_budget_reason(&l.budget)) == 0)
        complain(r, engine, level, stop, "it does not say how far it came");
    else
        r->passed++;
    r->known += l.budget.spent && part->verdict != HF_UNKNOWN;
    hf_result_free(part);
}

static void try_engine(run *r, const char *name, const hf_history *h,
                       hf_level level, hf_rng *rng)
{
    const hf_engine *engine = hf_engine_find(hf_str_of(name));
    limit l;
    hf_result *whole = judge(engine, h, level, &l, MOST_POLLS);
    uint64_t n = l.polls;

    r->verdicts[whole->verdict]++;
    /* the last ones are where an answer is made */
    for (unsigned i = 0; i < STOPS; i++) {
        uint64_t stop = i < STOPS / 2 ? n - 1 - i : hf_rng_below(rng, n + 1);

        if (n > STOPS)
            interrupt(r, engine, h, whole, stop);
    }
    hf_result_free(whole);
}

static void random_options(hf_generate_options *o, uint64_t seed, hf_rng *rng)
{
    static const struct {
        hf_workload workload;
        unsigned bugs;
    } made[] = {{HF_WORKLOAD_REGISTER, HF_BUG_IN_REGISTER},
                {HF_WORKLOAD_REGISTER, HF_BUG_IN_REGISTER},
                {HF_WORKLOAD_APPEND, HF_BUG_IN_APPEND},
                {HF_WORKLOAD_EMME_PREDICATE, HF_BUG_IN_EMME_PREDICATE}};
    unsigned at = hf_rng_below(rng, 4);
    hf_store_bug bug = (hf_store_bug)hf_rng_below(rng, HF_BUG_COUNT);

    if (!(hf_store_bug_get(bug)->workloads & made[at].bugs))
        bug = HF_BUG_NONE;
    hf_generate_defaults(o, made[at].workload, bug);
    o->seed = seed;
    o->transactions = 10 + hf_rng_below(rng, 60);
    o->keys = 2 + hf_rng_below(rng, 6);
    o->sessions = 2 + hf_rng_below(rng, 6);
    o->certificate = true;
    o->unknown_percent = hf_rng_chance(rng, 30) ? 10 : 0;
    if (made[at].workload == HF_WORKLOAD_EMME_PREDICATE)
        o->version_sets = HF_VERSION_SETS_EXPLICIT;
    if (bug != HF_BUG_NONE)
        o->bug_percent = o->bug_percent < 50 ? 50 : o->bug_percent;
    else
        o->level = (hf_level)hf_rng_below(rng, HF_LEVEL_COUNT);
    if (at < 2 && bug == HF_BUG_NONE && hf_rng_chance(rng, 30))
        o->unique_values = false;
}

static void try_history(run *r)
{
    hf_certificate none = {0}, orders = {0}, all;
    const char *first = "graph";
    hf_generate_options o;
    hf_level level;
    hf_history *h;
    hf_rng rng;

    hf_rng_seed(&rng, r->seed);
    random_options(&o, r->seed, &rng);
    level = hf_rng_chance(&rng, 30)
                ? HF_CAUSAL
                : (hf_level)hf_rng_below(&rng, HF_LEVEL_COUNT);
    h = store_history(&o);
    if (o.workload == HF_WORKLOAD_EMME_PREDICATE)
        first = "certificate";
    if (hf_rng_chance(&rng, 50)) /* those that did not happen are passed by */
        h->txn_outcome[0] = HF_UNKNOWN_OUTCOME;
    all = h->cert;
    orders.order_first = all.order_first;
    orders.order_txn = all.order_txn;
    h->cert = orders;
    try_engine(r, first, h, level, &rng);
    h->cert = none;
    try_engine(r, first, h, level, &rng);
    try_engine(r, "weak", h, level, &rng);
    try_engine(r, "polygraph", h, level, &rng);
    h->cert = all;
    hf_history_free(h);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_RUNS;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    run r = {0};

    for (long i = 0; i < n; i++) {
        r.seed = seed + (uint64_t)i;
        try_history(&r);
    }
    printf("to the end: valid %ld, invalid %ld, unknown %ld\n",
           r.verdicts[HF_VALID], r.verdicts[HF_INVALID],
           r.verdicts[HF_UNKNOWN]);
    printf("interrupted %ld times, %ld of them decided\n", r.stopped, r.known);
    if (n >= 500 && (r.verdicts[HF_VALID] == 0 || r.verdicts[HF_INVALID] == 0 ||
                     r.stopped == 0)) {
        printf("something was never seen\n");
        r.failed++;
    }
    printf("%ld passed, %ld failed\n", r.passed, r.failed);
    return r.failed ? 1 : 0;
}
