/* cmd_check_auto.c: holdfast check --level auto.
 *
 * Every level is decided: by asking an engine, or because a level that
 * implies it holds, or because one that it implies does not.  The next level
 * to ask about is the one whose answer, whichever it is, settles most others.
 * Reported are the strongest levels that hold and the weakest that do not;
 * all of those were asked about, so each has a witness of its own.
 */
#include "cli/check.h"

#include "base/json_out.h"
#include "cli/help.h"
#include "model/witness.h"
#include "report/report.h"

typedef enum state { OPEN, HOLDS, FAILS, UNKNOWN } state;

typedef struct table {
    state at[HF_LEVEL_COUNT];
    hf_result *result[HF_LEVEL_COUNT]; /* NULL: not asked */
} table;

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The open level with most open levels on both sides; HF_LEVEL_COUNT: all
 * are settled. */
static hf_level next_level(const table *t)
{
    hf_level best = HF_LEVEL_COUNT;
    unsigned best_score = 0;

    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        unsigned weaker = 0, stronger = 0, score;

        if (t->at[l] != OPEN)
            continue;
        for (unsigned m = 0; m < HF_LEVEL_COUNT; m++) {
            if (t->at[m] != OPEN)
                continue;
            weaker += hf_level_implies((hf_level)l, (hf_level)m);
            stronger += hf_level_implies((hf_level)m, (hf_level)l);
        }
        score = smaller(weaker, stronger);
        if (score > best_score) {
            best = (hf_level)l;
            best_score = score;
        }
    }
    return best;
}

static bool has_snapshots(hf_level l)
{
    return hf_level_get(l)->shape == HF_SHAPE_SNAPSHOT;
}

/* Snapshot isolation and its strong forms are held against recorded
 * timestamps, if there are any; no other level is.  Then a stronger level that
 * holds does not say that they do, nor they, if they fail, that it fails: a
 * database that takes no snapshots may be serializable.  What is said the
 * other way round stands. */
static bool speaks_of(const hf_history *h, hf_level l, hf_level m,
                      hf_verdict verdict)
{
    hf_level stronger = verdict == HF_VALID ? l : m;
    hf_level weaker = verdict == HF_VALID ? m : l;

    return !h->cert.start_ts || !h->cert.commit_ts || !has_snapshots(weaker) ||
           has_snapshots(stronger);
}

/* What the answer about level l says about others. */
static void settle(table *t, const hf_history *h, hf_level l,
                   hf_verdict verdict)
{
    t->at[l] = verdict == HF_VALID     ? HOLDS
               : verdict == HF_INVALID ? FAILS
                                       : UNKNOWN;
    for (unsigned m = 0; m < HF_LEVEL_COUNT; m++) {
        if ((t->at[m] != OPEN && t->at[m] != UNKNOWN) ||
            !speaks_of(h, l, (hf_level)m, verdict))
            continue;
        if (verdict == HF_VALID && hf_level_implies(l, (hf_level)m))
            t->at[m] = HOLDS;
        if (verdict == HF_INVALID && hf_level_implies((hf_level)m, l))
            t->at[m] = FAILS;
    }
}

/* A level that holds and that no other one that holds implies; or one that
 * fails and implies no other one that fails. */
static bool is_extreme(const table *t, hf_level l)
{
    for (unsigned m = 0; m < HF_LEVEL_COUNT; m++) {
        if (m == (unsigned)l || t->at[m] != t->at[l])
            continue;
        if (t->at[l] == HOLDS && hf_level_implies((hf_level)m, l))
            return false;
        if (t->at[l] == FAILS && hf_level_implies(l, (hf_level)m))
            return false;
    }
    return true;
}

/* ---- printing ----------------------------------------------------------- */

static unsigned count(const table *t, state wanted)
{
    unsigned n = 0;

    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
        n += t->at[l] == wanted;
    return n;
}

/* The title, then the names, later lines below the first name. */
static void print_list(const table *t, const char *title, state wanted,
                       hf_out *out)
{
    unsigned n = 0, indent = (unsigned)strlen(title);
    hf_out names;

    hf_out_init_memory(&names);
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
        if (t->at[l] == wanted && is_extreme(t, (hf_level)l))
            hf_out_format(&names, "%s%s", n++ > 0 ? ", " : "",
                          hf_level_get((hf_level)l)->name);
    if (n == HF_LEVEL_COUNT)
        names.n = 0;
    if (n == 0)
        hf_out_text(&names, count(t, UNKNOWN) > 0 ? "none known" : "none");
    if (n == HF_LEVEL_COUNT)
        hf_out_text(&names, "every level");
    hf_out_char(&names, '\0');
    hf_out_text(out, title);
    hf_wrap_after(names.at, indent, out);
    hf_out_release(&names);
}

/* What any of the answers rests on. */
static unsigned rests_of(const table *t)
{
    unsigned rests = 0;

    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
        if (t->result[l] && t->result[l]->verdict != HF_UNKNOWN)
            rests |= t->result[l]->witness.rests;
    return rests;
}

/* The lattice seems broken: a level fails, and one that implies it holds.  The
 * two are judged by different evidence, and that is said.  False: it is not. */
static bool explain_break(const table *t, hf_out *out)
{
    for (unsigned weak = 0; weak < HF_LEVEL_COUNT; weak++) {
        const hf_result *r = t->result[weak];

        if (t->at[weak] != FAILS || !is_extreme(t, (hf_level)weak) || !r ||
            !(r->witness.rests & HF_REST_TIMESTAMPS))
            continue;
        for (unsigned strong = 0; strong < HF_LEVEL_COUNT; strong++) {
            if (t->at[strong] != HOLDS || !is_extreme(t, (hf_level)strong) ||
                !hf_level_implies((hf_level)strong, (hf_level)weak))
                continue;
            hf_out_format(
                out,
                "%s fails although %s, which implies it, holds: only "
                "snapshot levels are held against the recorded timestamps, so "
                "some order explains the history, but not snapshots taken at "
                "the recorded starts",
                hf_level_get((hf_level)weak)->name,
                hf_level_get((hf_level)strong)->name);
            return true;
        }
    }
    return false;
}

static void print_break(const table *t, hf_out *out)
{
    hf_out text;

    hf_out_init_memory(&text);
    if (explain_break(t, &text)) {
        hf_out_char(&text, '\0');
        hf_wrap_after(text.at, 0, out);
    }
    hf_out_release(&text);
}

static void print_text(const hf_job *job, const table *t)
{
    hf_out *out = &job->cli->out;

    if (job->several)
        hf_out_format(out, "%s:\n", job->path);
    print_list(t, "strongest levels that hold: ", HOLDS, out);
    print_list(t, "weakest levels that fail:   ", FAILS, out);
    if (count(t, UNKNOWN) > 0)
        print_list(t, "unknown:                    ", UNKNOWN, out);
    if (rests_of(t)) {
        hf_out_text(out, "rests on ");
        hf_rests_print(rests_of(t), out);
        hf_out_char(out, '\n');
    }
    print_break(t, out);
}

static void json_list(const table *t, const char *key, state wanted, hf_json *j)
{
    hf_json_key(j, key);
    hf_json_array(j);
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
        if (t->at[l] == wanted && is_extreme(t, (hf_level)l))
            hf_json_text(j, hf_level_get((hf_level)l)->name);
    hf_json_end(j);
}

static void json_break(const table *t, hf_json *j)
{
    hf_out text;

    hf_out_init_memory(&text);
    if (explain_break(t, &text)) {
        hf_out_char(&text, '\0');
        hf_json_key(j, "remark");
        hf_json_text(j, text.at);
    }
    hf_out_release(&text);
}

static void print_json(const hf_job *job, const table *t)
{
    hf_json j;

    hf_json_init(&j, &job->cli->out);
    hf_json_object(&j);
    hf_json_key(&j, "type");
    hf_json_text(&j, "levels");
    hf_json_key(&j, "schema");
    hf_json_int(&j, 1);
    json_list(t, "strongest", HOLDS, &j);
    json_list(t, "weakest_broken", FAILS, &j);
    json_list(t, "unknown", UNKNOWN, &j);
    json_break(t, &j);
    hf_json_key(&j, "file");
    hf_json_text(&j, job->path);
    hf_json_end(&j);
    hf_out_char(&job->cli->out, '\n');
}

/* In JSON the results of the levels named; for people the evidence of the
 * levels that fail, and why the first unknown one is unknown. */
static void print_results(hf_job *job, const table *t)
{
    bool said_unknown = false;

    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        hf_result *r = t->result[l];

        if (!r || !is_extreme(t, (hf_level)l))
            continue;
        if (!job->set->json) {
            if (t->at[l] == HOLDS || (t->at[l] == UNKNOWN && said_unknown))
                continue;
            said_unknown |= t->at[l] == UNKNOWN;
            hf_out_char(&job->cli->out, '\n');
        }
        hf_job_print(job, r);
    }
}

static void print(hf_job *job, const table *t)
{
    if (job->set->quiet)
        return;
    if (job->set->json)
        print_json(job, t);
    else
        print_text(job, t);
    print_results(job, t);
}

int hf_job_auto(hf_job *job)
{
    table t = {0};
    hf_error err;
    hf_status st = HF_OK;
    int status = HF_EXIT_VALID;
    hf_level l;

    while (st == HF_OK && (l = next_level(&t)) != HF_LEVEL_COUNT) {
        st = hf_job_judge(job, l, &t.result[l], &err);
        if (st == HF_OK)
            settle(&t, job->h, l, t.result[l]->verdict);
    }
    hf_cli_stop(job->cli); /* from here on there is an answer */
    if (st == HF_OK) {
        print(job, &t);
        status = count(&t, FAILS) > 0     ? HF_EXIT_INVALID
                 : count(&t, UNKNOWN) > 0 ? HF_EXIT_UNKNOWN
                                          : HF_EXIT_VALID;
    } else {
        hf_error_context(&err, "could not check \"%s\"", job->path);
        status = hf_cli_fail(job->cli, st, &err, NULL);
    }
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++)
        hf_result_free(t.result[i]);
    return status;
}
