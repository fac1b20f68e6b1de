/* test_control_random.c: whatever a plan says, what is carried out is legal.
 *
 *   test_control_random [SEEDS [FIRST]]      default 3, from 1
 *
 * Executions of the paper's workloads; plans with a random order of the
 * transactions (sessions keep theirs) and random sources of some reads, most
 * of which cannot be had.  Carried out at every level, the history must be
 * valid there, and at some levels some must not be serializable.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "run/control.h"
#include "workload/workload.h"

#define PLANS 3u /* for each execution and level */

typedef struct row {
    hf_legal_rule rule;
    const char *level;
    unsigned weak; /* executions that are not serializable */
} row;

static row rows[] = {
    {HF_LEGAL_READ_COMMITTED, "read-committed-axiomatic", 0},
    {HF_LEGAL_READ_ATOMIC, "read-atomic", 0},
    {HF_LEGAL_CAUSAL, "causal", 0},
    {HF_LEGAL_PARALLEL, "strong-session-parallel-snapshot-isolation", 0},
    {HF_LEGAL_PREFIX, "prefix", 0},
    {HF_LEGAL_SNAPSHOT, "strong-session-snapshot-isolation", 0},
    {HF_LEGAL_STATEMENT, "read-committed-axiomatic", 0},
    {HF_LEGAL_LOCKING, "read-committed", 0},
    {HF_LEGAL_SERIALIZABLE, "strong-session-serializable", 0},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void die(const char *what)
{
    fprintf(stderr, "test_control_random: %s\n", what);
    exit(2);
}

static hf_verdict verdict(const hf_history *h, const char *level)
{
    hf_result *r = NULL;
    hf_error err;
    hf_verdict v;

    if (hf_check(h, level, NULL, NULL, &r, &err) != HF_OK)
        die(err.text);
    v = hf_result_verdict(r);
    hf_result_free(r);
    return v;
}

/* Sessions in any interleaving, some of them cut short. */
static uint32_t random_order(const hf_history *h, hf_rng *rng, hf_txn_id *ret)
{
    uint32_t *next = HF_NEW_ARRAY(uint32_t, h->n_sessions + 1), n = 0;
    uint32_t steps = h->n_txns / 2 + hf_rng_below(rng, h->n_txns / 2 + 1);

    for (uint32_t s = 0; s < h->n_sessions; s++)
        next[s] = h->session_first[s];
    while (steps-- > 0) {
        uint32_t s = hf_rng_below(rng, h->n_sessions);

        if (next[s] == h->session_first[s + 1])
            continue;
        if (h->txn_outcome[h->session_txns[next[s]]] == HF_COMMITTED)
            ret[n++] = h->session_txns[next[s]];
        next[s]++;
    }
    hf_free(next);
    return n;
}

static void carry_out(const hf_control_options *observed,
                      const hf_control_report *report, row *r, hf_rng *rng)
{
    const hf_history *h = report->history;
    hf_control_options o = *observed;
    hf_control_report result;
    hf_txn_id *order = HF_NEW_ARRAY(hf_txn_id, h->n_txns + 1);
    hf_txn_id *sources = HF_NEW_ARRAY(hf_txn_id, h->n_ops + 1);
    hf_op_id *last = HF_NEW_ARRAY(hf_op_id, h->n_sessions + 1);
    uint32_t n = random_order(h, rng, order), often = hf_rng_below(rng, 60);
    hf_plan plan;
    hf_error err;

    for (hf_op_id op = 0; op < h->n_ops; op++)
        sources[op] = !hf_rng_chance(rng, often) ? HF_PLAN_AS_IS
                      : hf_rng_chance(rng, 40)   ? HF_NONE
                                                 : hf_rng_below(rng, h->n_txns);
    for (uint32_t s = 0; s < h->n_sessions; s++)
        last[s] = HF_NONE;
    hf_plan_make(&plan, &(hf_plan_in){h, order, n, sources, last});
    o.plan = &plan;
    o.tape = report->tape;
    o.rule = r->rule;
    if (hf_control_run(&o, &result, &err) != HF_OK)
        die(err.text);
    if (verdict(result.history, r->level) != HF_VALID) {
        printf("%s, seed %llu: carried out at %s, and not legal there\n",
               o.workload->name, (unsigned long long)o.seed, r->level);
        exit(1);
    }
    r->weak +=
        verdict(result.history, "strong-session-serializable") == HF_INVALID;
    hf_control_report_release(&result);
    hf_plan_release(&plan);
    hf_free(order);
    hf_free(sources);
    hf_free(last);
}

static void try_seed(const hf_paper_workload *p, uint64_t seed)
{
    hf_control_options o = {.workload =
                                hf_workload_named(hf_str_of(p->workload)),
                            .sets = p->sets,
                            .n_sets = p->n_sets,
                            .mixes = p->mixes,
                            .n_mixes = p->n_mixes,
                            .clients = 3,
                            .transactions = 4,
                            .seed = seed};
    hf_control_report report;
    hf_error err;
    hf_rng rng;

    hf_rng_seed(&rng, seed);
    if (hf_control_run(&o, &report, &err) != HF_OK)
        die(err.text);
    for (size_t i = 0; i < ROWS; i++)
        for (unsigned k = 0; k < PLANS; k++)
            carry_out(&o, &report, &rows[i], &rng);
    hf_control_report_release(&report);
}

int main(int argc, char **argv)
{
    uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 3;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    for (unsigned i = 0; hf_paper_workload_at(i); i++)
        for (uint64_t s = first; s < first + seeds; s++)
            try_seed(hf_paper_workload_at(i), s);
    for (size_t i = 0; i < ROWS; i++) {
        bool may = rows[i].rule != HF_LEGAL_SERIALIZABLE;

        printf("%-44s %u are not serializable\n", rows[i].level, rows[i].weak);
        if (!may && rows[i].weak > 0)
            return 1;
    }
    if (rows[0].weak == 0 || rows[2].weak == 0)
        return 1;
    return 0;
}
