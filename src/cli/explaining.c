/* explaining.c: the name of an anomaly for a history that has no order.
 *
 * Where writes are blind the order of versions is not in the history, and the
 * proof that no order fits is a set of transactions without any name.  But the
 * databases that we run keep more about the versions of one row than their
 * levels promise (db.h, keeps): those with one node real time, Galera the order
 * of each session.  With that as an assumption the graph engine knows nearly
 * all of the order, and finds the cycles by their names: write skew, lost
 * update, read skew.
 *
 * The verdict and its witness stay the ones without an assumption; what is
 * found with it comes before them among the findings, and each says what it
 * rests on.  Nothing is done for a store with a bug, or with a level below
 * snapshot isolation (it has replicas then), nor if the history contradicts the
 * assumption.
 *
 * Costs another check, of at most half of the time that the first may take.
 */
#include "cli/testing.h"

#include "base/error.h"

#define DEFAULT_SECONDS 30.0

static bool has_no_name(const hf_result *r)
{
    if (r->verdict != HF_INVALID || r->witness.rests != 0)
        return false;
    for (uint32_t i = 0; i < r->n_findings; i++)
        if (r->findings[i].anomaly != HF_NO_ORDER)
            return false;
    return true;
}

static bool names_some(const hf_result *r)
{
    if (r->verdict != HF_INVALID || r->n_findings == 0)
        return false;
    for (uint32_t i = 0; i < r->n_findings; i++)
        if (r->findings[i].anomaly == HF_NO_ORDER ||
            r->findings[i].anomaly == HF_CYCLIC_VERSIONS)
            return false;
    return true;
}

/* The findings of `more` come first; they stay where they are. */
static void put_first(hf_result *r, const hf_result *more)
{
    uint32_t findings = r->n_findings + more->n_findings;
    uint32_t groups = r->n_groups + more->n_groups;
    hf_finding *f = hf_arena_get(&r->arena, findings * sizeof *f);
    hf_group *g = hf_arena_get(&r->arena, (groups + 1) * sizeof *g);

    memcpy(f, more->findings, more->n_findings * sizeof *f);
    if (r->n_findings > 0)
        memcpy(f + more->n_findings, r->findings, r->n_findings * sizeof *f);
    if (more->n_groups > 0)
        memcpy(g, more->groups, more->n_groups * sizeof *g);
    if (r->n_groups > 0)
        memcpy(g + more->n_groups, r->groups, r->n_groups * sizeof *g);
    r->findings = f;
    r->n_findings = findings;
    r->groups = g;
    r->n_groups = groups;
}

static unsigned kept(const hf_running *r)
{
    if (r->set->inject ||
        (r->driver->heeds & HF_DB_HEEDS_BUGS &&
         !hf_level_implies(r->promised, HF_SNAPSHOT_ISOLATION)))
        return 0;
    return r->driver->keeps;
}

void hf_testing_explain(hf_testing *t)
{
    hf_job *job = &t->job;
    unsigned keeps = kept(&t->running);
    hf_limits limits = t->check.limits;
    hf_result *r = NULL;
    hf_error err;

    if (!has_no_name(t->result) || keeps == 0 || t->set->engine >= 2)
        return;
    limits.seconds = limits.seconds > 0 ? limits.seconds / 2 : DEFAULT_SECONDS;
    hf_cli_start(job->cli, &limits, NULL, NULL);
    job->options.assume = keeps;
    if (hf_job_judge(job, t->level, &r, &err) == HF_OK && names_some(r)) {
        put_first(t->result, r);
        t->explained = r;
        r = NULL;
    }
    job->options.assume = 0;
    hf_cli_stop(job->cli);
    hf_result_free(r);
}
