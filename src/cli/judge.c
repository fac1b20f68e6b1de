/* judge.c: asking an engine, re-checking its answer, printing it. */
#include "cli/check.h"

#include <stdio.h>

#include "base/error.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "report/report.h"
#include "sql/oracle.h"
#include "verify/verify.h"

#define DEFAULT_FINDINGS 5

int hf_exit_of_verdict(hf_verdict verdict)
{
    if (verdict == HF_VALID)
        return HF_EXIT_VALID;
    return verdict == HF_INVALID ? HF_EXIT_INVALID : HF_EXIT_UNKNOWN;
}

uint32_t hf_job_findings(const hf_job *job)
{
    if (job->set->max.given)
        return (uint32_t)job->set->max.value;
    return job->set->json ? UINT32_MAX : DEFAULT_FINDINGS;
}

/* ---- re-checking -------------------------------------------------------- */

/* The answer becomes unknown. */
static void withdraw(hf_result *r, const char *reason)
{
    r->verdict = HF_UNKNOWN;
    r->reason = hf_arena_text(&r->arena, reason, strlen(reason));
    r->witness = (hf_witness){.kind = HF_WITNESS_NONE};
    r->n_findings = 0;
    r->n_groups = 0;
    r->chosen = NULL;
}

/* One witness.  False if the limits did not allow it. */
static bool confirm(hf_job *job, hf_verify_session *session, const hf_result *r,
                    const hf_witness *w)
{
    hf_claim claim = {r->verdict, r->level, *w};
    hf_verification v;
    hf_error err;
    char text[700];
    hf_status st =
        hf_verify_claim_in(session, &claim, &job->cli->budget, &v, &err);

    if (st == HF_ERR_LIMIT)
        return false;
    if (st == HF_ERR_UNSUPPORTED) {
        hf_cli_note(job->cli, "the witness was not re-checked: %s", err.text);
        return true;
    }
    if (st == HF_OK && v.accepted)
        return true;
    if (job->options.oracle) { /* whose answers verify cannot repeat */
        hf_cli_note(job->cli,
                    "the witness was not re-checked: it may rest on answers "
                    "of %s",
                    job->options.oracle->name);
        return true;
    }
    (void)snprintf(text, sizeof text,
                   "engine \"%s\" says %s at %s, but its witness is refused: "
                   "%s",
                   r->engine, hf_verdict_name(r->verdict),
                   hf_level_get(r->level)->name,
                   st == HF_OK ? v.reason : err.text);
    hf_cli_flush(job->cli);
    HF_BUG(text);
}

/* Is it the witness that was confirmed already? */
static bool is_same(const hf_witness *a, const hf_witness *b)
{
    return a->kind == b->kind && a->anomaly == b->anomaly &&
           a->rests == b->rests && a->edges == b->edges && a->ops == b->ops &&
           a->order == b->order && a->n_edges == b->n_edges &&
           a->n_ops == b->n_ops && a->n_order == b->n_order;
}

/* What was expected, where a finding is about that. */
static void explain_all(hf_job *job, hf_verify_session *session, hf_result *r)
{
    uint32_t most = hf_job_findings(job);

    for (uint32_t i = 0; i < r->n_findings && i < most; i++)
        hf_verify_explain(session, r->level, &job->cli->budget, &r->arena,
                          &r->findings[i].witness);
}

/* The verdict's witness and the findings that will be shown. */
static void confirm_all(hf_job *job, hf_verify_session *session, hf_result *r)
{
    uint32_t most = hf_job_findings(job);

    if (!confirm(job, session, r, &r->witness)) {
        withdraw(r, hf_budget_reason(&job->cli->budget));
        return;
    }
    for (uint32_t i = 0; i < r->n_findings && i < most; i++) {
        if (r->findings[i].witness.kind != HF_WITNESS_NONE &&
            !is_same(&r->findings[i].witness, &r->witness) &&
            !confirm(job, session, r, &r->findings[i].witness)) {
            r->n_findings = i; /* those before it are confirmed */
            return;
        }
    }
}

static void recheck(hf_job *job, hf_result *r)
{
    hf_verify_session *session;

    if (r->verdict == HF_UNKNOWN)
        return;
    hf_progress_begin(&job->cli->progress, "re-checking the witness");
    session = hf_verify_open(job->h);
    hf_verify_set_dialect(session, job->options.dialect);
    confirm_all(job, session, r);
    explain_all(job, session, r);
    hf_verify_close(session);
}

/* ---- asking ------------------------------------------------------------- */

/* NULL: the best there is. */
static const hf_engine *chosen_engine(const hf_job *job)
{
    return job->set->engine >= 2 ? hf_engine_at(job->set->engine - 2) : NULL;
}

static hf_status ask(hf_job *job, const hf_engine *engine, hf_level level,
                     hf_result **ret, hf_error *err)
{
    char what[80];

    (void)snprintf(what, sizeof what, "checking %s", hf_level_get(level)->name);
    hf_progress_begin(&job->cli->progress, what);
    return hf_engine_ask(engine, job->h, level, &job->options,
                         &job->cli->budget, ret, err);
}

hf_status hf_job_judge(hf_job *job, hf_level level, hf_result **ret,
                       hf_error *err)
{
    hf_result *r = NULL;
    hf_status st = ask(job, chosen_engine(job), level, &r, err);

    if (st == HF_OK)
        hf_result_arrange(r, hf_job_findings(job));
    if (st == HF_OK)
        recheck(job, r);
    hf_progress_erase(&job->cli->progress);
    if (st == HF_OK)
        *ret = r;
    return st;
}

/* ---- printing ----------------------------------------------------------- */

void hf_job_print_name(const hf_job *job, hf_out *out)
{
    if (job->several)
        hf_out_format(out, "%s: ", job->path);
}

/* The object of hf_result_write() with the file's name in it. */
static void print_json(const hf_job *job, const hf_result *r, hf_out *out)
{
    hf_out text;
    hf_json j;

    hf_out_init_memory(&text);
    hf_json_init(&j, &text);
    hf_result_write_first(job->h, r, hf_job_findings(job), &j);
    HF_ASSERT(text.n > 0 && text.at[text.n - 1] == '}');
    hf_out_bytes(out, text.at, text.n - 1);
    text.n = 0;
    hf_json_init(&j, &text);
    hf_json_text(&j, job->path);
    hf_out_text(out, ",\"file\":");
    hf_out_str(out, hf_out_view(&text));
    if (job->h->cut_off)
        hf_out_text(out, ",\"cut_off\":true");
    hf_out_text(out, "}\n");
    hf_out_release(&text);
}

/* "... and 2 more anomalies; --max 7 shows all" */
static void print_more(const hf_job *job, const hf_result *r, hf_out *out)
{
    hf_group_list groups = hf_result_groups(r);
    uint32_t most = hf_job_findings(job);
    uint32_t shown = r->n_findings < most ? r->n_findings : most;
    uint64_t found = 0;
    bool at_least = false;
    char number[32];

    for (size_t i = 0; i < groups.n; i++) {
        found += groups.at[i].count;
        at_least |= groups.at[i].at_least;
    }
    hf_vec_release(&groups);
    if (found <= shown)
        return;
    hf_out_format(out, "\n... and %s%s more %s", at_least ? "at least " : "",
                  hf_grouped(found - shown, number, sizeof number),
                  hf_plural(found - shown, "anomaly", "anomalies"));
    if (most < found) /* else they were not kept */
        hf_out_format(out, "; --max %llu shows %s", (unsigned long long)found,
                      at_least ? "more" : "all");
    hf_out_char(out, '\n');
}

void hf_job_print(const hf_job *job, const hf_result *r)
{
    hf_out *out = &job->cli->out;

    if (job->set->quiet)
        return;
    if (job->set->json) {
        print_json(job, r, out);
        return;
    }
    hf_job_print_name(job, out);
    hf_result_print(job->h, r, hf_job_findings(job), job->color, out);
    if (r->verdict == HF_INVALID)
        print_more(job, r, out);
}

void hf_job_write_unknown(const hf_job *job, const char *reason, hf_out *out)
{
    const hf_engine *engine = chosen_engine(job);
    hf_json j;

    hf_json_init(&j, out);
    hf_json_object(&j);
    hf_json_key(&j, "type");
    hf_json_text(&j, "result");
    hf_json_key(&j, "schema");
    hf_json_int(&j, 1);
    hf_json_key(&j, "verdict");
    hf_json_text(&j, hf_verdict_name(HF_UNKNOWN));
    hf_json_key(&j, "reason");
    hf_json_text(&j, reason);
    hf_json_key(&j, "level");
    hf_json_text(&j, job->level < HF_LEVEL_COUNT
                         ? hf_level_get(job->level)->name
                         : NULL);
    if (job->set->mixed) {
        hf_json_key(&j, "mixed");
        hf_json_bool(&j, true);
    }
    hf_json_key(&j, "engine");
    hf_json_text(&j, engine ? engine->name : NULL);
    hf_json_key(&j, "groups");
    hf_json_array(&j);
    hf_json_end(&j);
    hf_json_key(&j, "anomalies");
    hf_json_array(&j);
    hf_json_end(&j);
    hf_json_key(&j, "witness");
    hf_json_null(&j);
    hf_json_key(&j, "stats");
    hf_json_object(&j);
    hf_json_end(&j);
    hf_json_key(&j, "file");
    hf_json_text(&j, job->path);
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

void hf_job_print_unknown(const hf_job *job, const char *reason, hf_out *out)
{
    if (job->set->quiet)
        return;
    if (job->set->json) {
        hf_job_write_unknown(job, reason, out);
        return;
    }
    hf_job_print_name(job, out);
    hf_out_text(out, hf_verdict_name(HF_UNKNOWN));
    if (job->set->mixed)
        hf_out_text(out, ", each transaction at its own level");
    else if (job->level < HF_LEVEL_COUNT)
        hf_out_format(out, " at %s", hf_level_get(job->level)->name);
    hf_out_format(out, ": %s\n", reason);
}
