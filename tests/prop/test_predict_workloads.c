/* test_predict_workloads.c: what is predicted from executions of the built-in
 * workloads happens when it is carried out.
 *
 *   test_predict_workloads [SEEDS [FIRST]]      default 2, from 1
 *
 * The paper's four workloads, small, at its two levels, by every strategy.
 * Every prediction must be confirmed: legal at the level and not serializable
 * when the application is run again under control.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli/validate.h"
#include "workload/workload.h"

static unsigned bad;

static void die(const hf_error *err)
{
    fprintf(stderr, "test_predict_workloads: %s\n", err->text);
    exit(2);
}

static void complain(const char *name, uint64_t seed, hf_predict_target target,
                     unsigned strategy, const char *what)
{
    printf("%s, seed %llu, %s, %s: %s\n", name, (unsigned long long)seed,
           hf_predict_target_get(target)->name,
           hf_predict_strategy_name((hf_predict_strategy)strategy), what);
    bad++;
}

static bool found[HF_PREDICT_STRATEGY_COUNT];

static void try_one(const char *name, uint64_t seed, const hf_application *a,
                    hf_predict_target target, unsigned strategy)
{
    hf_predict_options o = {.target = target,
                            .strategy = (hf_predict_strategy)strategy};
    hf_predict_result *r = NULL;
    hf_validated v;
    hf_error err;

    if (hf_predict(a->observed.history, &o, &r, &err) != HF_OK)
        die(&err);
    found[strategy] = r->answer == HF_PREDICT_FOUND;
    if (r->answer == HF_PREDICT_UNKNOWN)
        complain(name, seed, target, strategy, "no answer");
    for (uint32_t i = 0; i < r->n_predictions; i++) {
        if (hf_validate(a, target, &r->predictions[i], NULL, &v, &err) != HF_OK)
            die(&err);
        if (!v.confirmed)
            complain(name, seed, target, strategy, "not confirmed");
        hf_validated_release(&v);
    }
    hf_predict_result_free(r);
}

/* What a strategy of the paper finds, the complete one finds as well. */
static void compare(const char *name, uint64_t seed, hf_predict_target target)
{
    for (unsigned s = 0; s < HF_PREDICT_STRATEGY_COUNT; s++)
        if (found[s] && !found[HF_PREDICT_BEST])
            complain(name, seed, target, s, "found, but not by best");
    if (found[HF_PREDICT_APPROX_STRICT] && !found[HF_PREDICT_EXACT_STRICT])
        complain(name, seed, target, HF_PREDICT_APPROX_STRICT,
                 "found, but not by exact-strict");
}

static void try_seed(const hf_paper_workload *p, uint64_t seed)
{
    hf_application a = {0};
    hf_error err;

    a.options = (hf_control_options){
        .workload = hf_workload_named(hf_str_of(p->workload)),
        .sets = p->sets,
        .n_sets = p->n_sets,
        .mixes = p->mixes,
        .n_mixes = p->n_mixes,
        .clients = 3,
        .transactions = 4,
        .seed = seed,
        .sql = true};
    if (hf_control_run(&a.options, &a.observed, &err) != HF_OK)
        die(&err);
    for (unsigned t = 0; t < 2; t++) {
        hf_predict_target target =
            t == 0 ? HF_PREDICT_CAUSAL : HF_PREDICT_READ_COMMITTED;

        for (unsigned s = 0; s < HF_PREDICT_STRATEGY_COUNT; s++)
            try_one(p->name, seed, &a, target, s);
        compare(p->name, seed, target);
    }
    hf_control_report_release(&a.observed);
}

int main(int argc, char **argv)
{
    uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 2;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    for (unsigned i = 0; hf_paper_workload_at(i); i++)
        for (uint64_t s = first; s < first + seeds; s++)
            try_seed(hf_paper_workload_at(i), s);
    printf("%s\n", bad ? "FAILED" : "every prediction was confirmed");
    return bad > 0;
}
