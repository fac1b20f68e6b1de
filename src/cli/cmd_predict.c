/* cmd_predict.c: holdfast predict. */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/predicting.h"
#include "workload/workload.h"

#define SMALL 4u
#define LARGE 8u
#define SESSIONS 3u
#define ALL 64u   /* predictions of --all, unless --max says otherwise */
#define AGAIN 10u /* tried if the first one is not confirmed */

uint32_t hf_predicting_confirmed(const hf_predicting *g)
{
    uint32_t n = 0;

    for (size_t i = 0; i < g->told.n; i++)
        n += g->told.at[i].validated && g->told.at[i].v.confirmed;
    return n;
}

bool hf_predicting_otherwise(const hf_predicting *g)
{
    for (size_t i = 0; i < g->told.n; i++)
        if (g->told.at[i].p->n_others == 0)
            return false;
    return g->told.n > 0;
}

/* ---- choices ------------------------------------------------------------- */

static const char *choose_target(unsigned index)
{
    return index < HF_PREDICT_TARGET_COUNT
               ? hf_predict_target_get((hf_predict_target)index)->name
               : NULL;
}

static const char *choose_strategy(unsigned index)
{
    return index < HF_PREDICT_STRATEGY_COUNT
               ? hf_predict_strategy_name((hf_predict_strategy)index)
               : NULL;
}

static const char *choose_encoding(unsigned index)
{
    static const char *const names[] = {"own", "paper"};

    return index < 2 ? names[index] : NULL;
}

static const char *choose_size(unsigned index)
{
    static const char *const names[] = {"small", "large"};

    return index < 2 ? names[index] : NULL;
}

static const char *choose_workload(unsigned index)
{
    const hf_paper_workload *p = hf_paper_workload_at(index);
    const hf_workload *w;
    unsigned papers = 0;

    if (p)
        return p->name;
    while (hf_paper_workload_at(papers))
        papers++;
    w = hf_workload_at(index - papers);
    return w ? w->name : NULL;
}

static hf_status find_target(const hf_predict_settings *set, hf_predicting *g,
                             char *hint, size_t size, hf_error *err)
{
    const char *near = NULL;
    char quoted[64];

    g->options.target = HF_PREDICT_CAUSAL;
    if (set->level && !hf_predict_target_find(hf_str_of(set->level),
                                              &g->options.target, &near)) {
        if (near)
            (void)snprintf(hint, size, "did you mean \"%s\"?", near);
        else
            (void)snprintf(hint, size, "\"holdfast help predict\" lists them");
        return hf_fail(
            err, HF_ERR_USAGE, "cannot predict for level \"%s\"",
            hf_quote(quoted, sizeof quoted, set->level, strlen(set->level)));
    }
    g->target = hf_predict_target_get(g->options.target);
    return HF_OK;
}

static hf_status settle(const hf_predict_settings *set, hf_predicting *g,
                        char *hint, size_t size, hf_error *err)
{
    const char *why = NULL;
    char quoted[64];
    hf_status st = find_target(set, g, hint, size, err);

    if (st != HF_OK)
        return st;
    if (set->strategy && !hf_predict_strategy_find(hf_str_of(set->strategy),
                                                   &g->options.strategy))
        return hf_fail(err, HF_ERR_USAGE,
                       "unknown strategy \"%s\": there are best, "
                       "exact-strict, approx-strict, approx-relaxed",
                       hf_quote(quoted, sizeof quoted, set->strategy,
                                strlen(set->strategy)));
    g->options.encoding =
        set->encoding == 2 ? HF_PREDICT_PAPER : HF_PREDICT_OWN;
    if (!hf_predict_available(g->options.encoding, &why))
        return hf_fail(err, HF_ERR_UNSUPPORTED, "cannot predict: %s", why);
    g->options.most = set->most.given ? (uint32_t)set->most.value
                      : set->all      ? ALL
                                      : 1;
    g->options.as_seen = set->as_seen;
    g->options.budget = &g->cli->budget;
    return HF_OK;
}

/* ---- the observed execution ---------------------------------------------- */

static bool is_spent(void *user)
{
    return hf_budget_look(user);
}

/* The names of the settings: the paper's, then the user's. */
static const char *const *joined(const char *const *a, unsigned n,
                                 const hf_texts *b, hf_arena *arena)
{
    const char **all = hf_arena_get(arena, (n + b->n + 1) * sizeof(*all));

    for (unsigned i = 0; i < n; i++)
        all[i] = a[i];
    for (unsigned i = 0; i < b->n; i++)
        all[n + i] = b->at[i];
    return all;
}

static hf_status describe(hf_predicting *g, hf_arena *arena, hf_error *err)
{
    const hf_predict_settings *set = g->set;
    const hf_paper_workload *p =
        hf_paper_workload_named(hf_str_of(set->workload));
    hf_control_options *o = &g->app->options;
    const char *name = p ? p->workload : set->workload;
    char quoted[64];

    o->workload = hf_workload_named(hf_str_of(name));
    if (!o->workload)
        return hf_fail(err, HF_ERR_USAGE, "unknown workload \"%s\"",
                       hf_quote(quoted, sizeof quoted, name, strlen(name)));
    if (set->paper && !p)
        return hf_fail(err, HF_ERR_USAGE,
                       "--paper knows smallbank, voter, tpcc and wikipedia");
    o->paper = set->paper ? p : NULL;
    g->name = set->workload;
    o->n_sets = (p ? p->n_sets : 0) + set->sets.n;
    o->sets = joined(p ? p->sets : NULL, p ? p->n_sets : 0, &set->sets, arena);
    o->n_mixes = (p ? p->n_mixes : 0) + set->mixes.n;
    o->mixes =
        joined(p ? p->mixes : NULL, p ? p->n_mixes : 0, &set->mixes, arena);
    o->clients = set->sessions.given ? (unsigned)set->sessions.value : SESSIONS;
    o->transactions = set->size == 2 ? LARGE : SMALL;
    if (set->transactions.given)
        o->transactions = (unsigned)set->transactions.value;
    o->seed = set->seed.given ? set->seed.value
              : set->paper    ? HF_PAPER_SEED
                              : 1;
    o->sql = true;
    o->stop = is_spent;
    o->user = &g->cli->budget;
    return HF_OK;
}

/* Only what is serializable can be said to go wrong. */
static hf_status check_observed(hf_predicting *g, hf_error *err)
{
    hf_result *r = NULL;
    hf_status st = hf_judged(g->h, HF_STRONG_SESSION_SERIALIZABLE,
                             &g->cli->budget, &r, err);

    if (st != HF_OK)
        return st;
    if (hf_result_verdict(r) == HF_INVALID)
        st = hf_fail(err, HF_ERR_INPUT,
                     "the observed execution is not serializable itself, so "
                     "there is nothing to predict; \"holdfast check --level "
                     "strong-session-serializable\" shows why");
    else if (hf_result_verdict(r) == HF_UNKNOWN && !g->set->quiet)
        hf_cli_note(g->cli,
                    "not known whether the observed execution is "
                    "serializable: %s",
                    hf_result_reason(r) ? hf_result_reason(r)
                                        : "no reason given");
    hf_result_free(r);
    return st;
}

/* ---- predictions --------------------------------------------------------- */

static void release_told(hf_told_prediction *t)
{
    hf_history_free(t->predicted);
    if (t->validated)
        hf_validated_release(&t->v);
    hf_vec_release(&t->fix.locks);
}

static void forget(hf_predicting *g)
{
    for (size_t i = 0; i < g->told.n; i++)
        release_told(&g->told.at[i]);
    hf_vec_release(&g->told);
    hf_predict_result_free(g->result);
    g->result = NULL;
}

/* A limit that comes now leaves the prediction as it is. */
static hf_status unless_stopped(hf_status st, hf_told_prediction *t)
{
    t->stopped = t->stopped || st == HF_ERR_LIMIT;
    return st == HF_ERR_LIMIT ? HF_OK : st;
}

static hf_status tell(hf_predicting *g, const hf_prediction *p, hf_error *err)
{
    hf_told_prediction t = {.p = p};
    hf_status st = hf_prediction_history(g->h, p, &t.predicted, err);

    if (st == HF_OK && g->app && !g->set->no_validate) {
        hf_progress_begin(&g->cli->progress, "carrying it out");
        st = hf_validate(g->app, g->options.target, p, &g->cli->budget, &t.v,
                         err);
        t.validated = st == HF_OK;
        st = unless_stopped(st, &t);
    }
    if (st == HF_OK)
        st = unless_stopped(hf_fix_find(g->h, &t, &g->cli->budget, &t.fix, err),
                            &t);
    if (st == HF_OK)
        hf_vec_push(&g->told, t);
    else
        release_told(&t);
    return st;
}

static hf_status predict(hf_predicting *g, hf_error *err)
{
    hf_status st;

    hf_progress_begin(&g->cli->progress, "predicting");
    st = hf_predict(g->h, &g->options, &g->result, err);
    for (uint32_t i = 0; st == HF_OK && i < g->result->n_predictions; i++)
        st = tell(g, &g->result->predictions[i], err);
    hf_progress_erase(&g->cli->progress);
    return st;
}

/* Did a limit come before one was confirmed? */
static bool was_stopped(const hf_predicting *g)
{
    if (g->told.n == 0)
        return true;
    return hf_predicting_confirmed(g) == 0 && g->told.at[g->told.n - 1].stopped;
}

/* The first prediction was not confirmed: perhaps another one is.  Those
 * before it are not shown.  If a limit comes first, what there was stays. */
static hf_status predict_again(hf_predicting *g, hf_error *err)
{
    hf_predicting first = *g;
    size_t keep = 0;
    hf_status st;

    g->result = NULL;
    memset(&g->told, 0, sizeof g->told);
    g->options.most = AGAIN;
    st = predict(g, err);
    if (st == HF_ERR_LIMIT || (st == HF_OK && was_stopped(g))) {
        forget(g);
        *g = first;
        return HF_OK;
    }
    g->options.most = first.options.most;
    forget(&first);
    if (st != HF_OK || hf_predicting_confirmed(g) == 0)
        return st;
    while (!g->told.at[keep].v.confirmed)
        keep++;
    for (size_t i = 0; i < g->told.n; i++)
        if (i != keep)
            release_told(&g->told.at[i]);
    g->told.at[0] = g->told.at[keep];
    g->told.n = 1;
    return HF_OK;
}

static bool wants_another(const hf_predicting *g)
{
    return g->app && !g->set->no_validate && g->options.most == 1 &&
           g->options.encoding == HF_PREDICT_OWN && g->told.n == 1 &&
           !g->told.at[0].v.confirmed && !g->told.at[0].stopped;
}

/* What rests on something that nobody was seen to do, and was not confirmed,
 * is no answer. */
static int exit_of(const hf_predicting *g)
{
    bool confirmed = hf_predicting_confirmed(g) > 0;

    if (g->result->answer == HF_PREDICT_NONE)
        return HF_EXIT_VALID;
    if (g->result->answer == HF_PREDICT_UNKNOWN)
        return HF_EXIT_UNKNOWN;
    if (g->app && !g->set->no_validate)
        return confirmed ? HF_EXIT_INVALID : HF_EXIT_UNKNOWN;
    return hf_predicting_otherwise(g) ? HF_EXIT_UNKNOWN : HF_EXIT_INVALID;
}

/* ---- one execution ------------------------------------------------------- */

static hf_status do_all(hf_predicting *g, const hf_format *format,
                        hf_arena *arena, hf_error *err)
{
    hf_status st;

    if (g->app) {
        st = describe(g, arena, err);
        if (st == HF_OK)
            st = hf_control_run(&g->app->options, &g->app->observed, err);
        g->h = g->app->observed.history;
    } else {
        st = hf_cli_load_to_judge(g->cli, g->path, format, &g->loaded, err);
        g->h = g->loaded;
    }
    if (st == HF_OK)
        st = check_observed(g, err);
    if (st == HF_OK)
        st = predict(g, err);
    if (st == HF_OK && wants_another(g))
        st = predict_again(g, err);
    if (st != HF_OK && st != HF_ERR_LIMIT && g->path &&
        !strstr(err->text, g->path))
        hf_error_context(err, "%.200s", g->path);
    return st;
}

static int answer(hf_predicting *g, hf_error *err)
{
    hf_status st = HF_OK;

    if (g->set->json)
        hf_predicting_json(g, &g->cli->out);
    else if (!g->set->quiet)
        hf_predicting_print(g, hf_cli_color(g->set->color), &g->cli->out);
    if (g->set->output)
        st = hf_predicting_save(g, err);
    if (st != HF_OK)
        return hf_cli_fail(g->cli, st, err, NULL);
    if (g->set->output && !g->set->json && !g->set->quiet)
        hf_out_format(&g->cli->out, "\nfiles in %s\n", g->set->output);
    return exit_of(g);
}

/* Before anything was predicted. */
static int stop_early(hf_predicting *g)
{
    const char *reason = hf_cli_interrupted()
                             ? "interrupted"
                             : hf_budget_reason(&g->cli->budget);

    if (g->set->json)
        hf_predicting_json_unknown(g, reason, &g->cli->out);
    else if (!g->set->quiet)
        hf_out_format(&g->cli->out,
                      "unknown whether a prediction exists at %s\n  %s\n",
                      g->target->name, reason);
    return HF_EXIT_UNKNOWN;
}

static int run_one(hf_predicting *g, const hf_format *format)
{
    hf_error err;
    hf_arena arena;
    hf_status st;
    int status;

    hf_arena_init(&arena);
    hf_cli_start(g->cli, &g->set->limits, NULL, NULL);
    st = do_all(g, format, &arena, &err);
    status = st == HF_OK          ? answer(g, &err)
             : st == HF_ERR_LIMIT ? stop_early(g)
                                  : hf_cli_fail(g->cli, st, &err, NULL);
    hf_cli_stop(g->cli);
    forget(g);
    hf_history_free(g->loaded);
    if (g->app)
        hf_control_report_release(&g->app->observed);
    hf_arena_release(&arena);
    return status;
}

/* Options that say nothing about a file. */
static bool is_for_workload(const hf_predict_settings *set)
{
    return set->size || set->sessions.given || set->transactions.given ||
           set->seed.given || set->paper || set->sets.n > 0 ||
           set->mixes.n > 0 || set->no_validate;
}

static hf_status check_operands(const hf_predict_settings *set,
                                const hf_operands *operands, hf_error *err)
{
    if (set->workload && operands->n > 0)
        return hf_fail(err, HF_ERR_USAGE,
                       "--workload and a file: one execution is either "
                       "observed now or was recorded");
    if (!set->workload && operands->n == 0)
        return hf_fail(err, HF_ERR_USAGE,
                       "nothing to predict from: name a file, or a workload "
                       "with --workload");
    if (set->output && operands->n > 1)
        return hf_fail(err, HF_ERR_USAGE, "-o takes one execution");
    if (set->paper && set->mixes.n > 0)
        return hf_fail(err, HF_ERR_USAGE,
                       "--paper and --mix: the kinds of transactions are "
                       "drawn one way or the other");
    if (!set->workload && is_for_workload(set))
        return hf_fail(err, HF_ERR_USAGE,
                       "--size, --sessions, --transactions, --seed, --paper, "
                       "--set, --mix and --no-validate are for --workload");
    return HF_OK;
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const hf_predict_settings *set = user;
    hf_predicting g = {.cli = cli, .set = set};
    const hf_format *format = NULL;
    hf_application app = {0};
    char hint[160] = "";
    hf_error err;
    hf_status st = check_operands(set, operands, &err);
    int status = HF_EXIT_VALID;

    if (st == HF_OK)
        st = settle(set, &g, hint, sizeof hint, &err);
    if (st == HF_OK)
        st = hf_cli_format(set->from, false, &format, hint, sizeof hint, &err);
    if (st != HF_OK)
        return hf_cli_fail(cli, st, &err, hint);
    if (set->workload) {
        g.app = &app;
        return run_one(&g, NULL);
    }
    for (unsigned i = 0; i < operands->n; i++) {
        hf_predicting one = g;

        one.path = operands->at[i];
        if (i > 0 && !set->json && !set->quiet)
            hf_out_char(&cli->out, '\n');
        status = hf_exit_worse(status, run_one(&one, format));
    }
    return status;
}

/* ---- the table ----------------------------------------------------------- */

#define NUMBER(called, field, low, high, words, how)                           \
    {                                                                          \
        .name = (called), .argument = "N", .type = HF_OPTION_NUMBER,           \
        .offset = offsetof(hf_predict_settings, field), .min = (low),          \
        .max = (high), .summary = (words), .example = (how)                    \
    }

static const hf_option options[] = {
    {.name = "workload",
     .letter = 'w',
     .argument = "NAME",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(hf_predict_settings, workload),
     .choices = choose_workload,
     .summary = "observe an execution of this workload on the embedded store",
     .detail = "smallbank, voter, tpcc and wikipedia are set up as in the "
               "paper; any other workload of \"holdfast run --list\" as it "
               "is. Predictions are then validated by running it again.",
     .example = "--workload smallbank"},
    {.name = "size",
     .argument = "SIZE",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(hf_predict_settings, size),
     .choices = choose_size,
     .summary = "small (3 sessions of 4 transactions) or large (of 8)",
     .example = "--size large"},
    NUMBER("sessions", sessions, 1, 64, "how many sessions (default: 3)",
           "--sessions 4"),
    NUMBER("transactions", transactions, 1, 10000,
           "transactions of each session (default: by --size)",
           "--transactions 20"),
    NUMBER("seed", seed, 0, 0, "decides what is drawn, and the turns",
           "--seed 7"),
    {.name = "paper",
     .type = HF_OPTION_FLAG,
     .offset = offsetof(hf_predict_settings, paper),
     .summary = "observe as the paper did: seeds 10000 to 100000",
     .detail = "What kind of transaction a session runs is drawn as the "
               "paper's harness draws it, and sessions take turns. Seeds "
               "10000, 20000, ... 100000 are the executions of its tables, as "
               "bench_predict prints them.",
     .example = "--workload wikipedia --paper --seed 20000"},
    {.name = "set",
     .argument = "NAME=VALUE",
     .type = HF_OPTION_LIST,
     .offset = offsetof(hf_predict_settings, sets),
     .summary = "an option of the workload; may be repeated",
     .example = "--set accounts=10"},
    {.name = "mix",
     .argument = "TYPE=WEIGHT",
     .type = HF_OPTION_LIST,
     .offset = offsetof(hf_predict_settings, mixes),
     .summary = "how often this kind of transaction; may be repeated",
     .example = "--mix balance=50"},
    {.name = "level",
     .letter = 'l',
     .argument = "LEVEL",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(hf_predict_settings, level),
     .choices = choose_target,
     .summary = "the level it could have run at (default: causal)",
     .detail = "read-committed-axiomatic and causal are the paper's; then "
               "read-atomic, prefix, parallel-snapshot-isolation, "
               "snapshot-isolation, and what databases give: "
               "postgresql-read-committed, postgresql-repeatable-read, "
               "mariadb-repeatable-read. docs/predict.md says what each "
               "means.",
     .example = "--level snapshot-isolation"},
    {.name = "strategy",
     .argument = "NAME",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(hf_predict_settings, strategy),
     .choices = choose_strategy,
     .summary = "best (default), or one of the paper's three",
     .detail = "best is complete: it says that no prediction exists only if "
               "none does. exact-strict, approx-strict and approx-relaxed are "
               "the paper's.",
     .example = "--strategy approx-relaxed"},
    {.name = "encoding",
     .argument = "NAME",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(hf_predict_settings, encoding),
     .choices = choose_encoding,
     .summary = "own (default), or the paper's, solved by Z3",
     .detail = "The paper's has the paper's two levels and three strategies "
               "only, so --strategy has to name one; it knows no predicate "
               "reads, and does not say who would have to do something else "
               "than it was seen to.",
     .example = "--encoding paper --strategy approx-strict"},
    {.name = "all",
     .type = HF_OPTION_FLAG,
     .offset = offsetof(hf_predict_settings, all),
     .summary = "all predictions that differ in their cycle, at most 64",
     .example = "--all"},
    NUMBER("max", most, 1, 100000, "at most so many predictions", "--max 5"),
    {.name = "as-seen",
     .type = HF_OPTION_FLAG,
     .offset = offsetof(hf_predict_settings, as_seen),
     .summary = "only if transactions go on as they were seen to",
     .detail = "A transaction that is cut short has to be able to write what "
               "it was seen to write; where a second row of a primary key is "
               "refused (snapshot isolation and what databases give), nobody "
               "gets a result by which it would insert a row that another "
               "inserts. Such predictions come first; if there are none, or "
               "no more, those follow that need a transaction to do something "
               "else, and say so. With this option they do not, and an answer "
               "that rests on it says that.",
     .example = "--as-seen"},
    {.name = "no-validate",
     .type = HF_OPTION_FLAG,
     .offset = offsetof(hf_predict_settings, no_validate),
     .summary = "do not run the application again",
     .example = "--no-validate"},
    {.name = "output",
     .letter = 'o',
     .argument = "DIR",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(hf_predict_settings, output),
     .summary = "where to leave histories, plans and reports",
     .detail = "observed.jsonl, report.txt and report.jsonl, and for each "
               "prediction predicted-N.jsonl and plan-N.json, and if it was "
               "validated validated-N.jsonl and report-N.html.",
     .example = "-o predicted",
     .completes_files = true},
    HF_ROW_FROM(hf_predict_settings),
    HF_ROW_JSON(hf_predict_settings),
    {.name = "quiet",
     .letter = 'q',
     .type = HF_OPTION_FLAG,
     .offset = offsetof(hf_predict_settings, quiet),
     .summary = "print nothing: the exit status is the answer",
     .example = "-q"},
    HF_ROW_TIME(hf_predict_settings),
    HF_ROW_MEMORY(hf_predict_settings),
    HF_ROW_COLOR(hf_predict_settings),
    {0},
};

static const hf_example examples[] = {
    {"holdfast predict --workload smallbank --level causal",
     "Could the bank have gone wrong on a causally consistent store?"},
    {"holdfast predict run.hf --level postgresql-read-committed --all",
     "Everything that a recorded run could have become"},
    {"holdfast predict -w tpcc --size large --seed 3 -l "
     "read-committed-axiomatic -o predicted",
     "With histories, plans and reports in a directory"},
    {0},
};

const hf_command hf_command_predict = {
    .name = "predict",
    .operands = "[FILE...]",
    .min_operands = 0,
    .max_operands = UINT32_MAX,
    .summary = "show how an execution could have gone wrong at a weaker level",
    .description =
        "Takes one serializable execution, recorded or observed now, and "
        "looks for another one that the application could have had at a "
        "weaker level and that is not serializable: other transactions to "
        "read from, sessions that stop earlier. Of a workload, what is "
        "predicted is validated: the application is run again on the embedded "
        "store, each read from the transaction that the prediction names, as "
        "far as the level allows it; only if what then happens is legal at "
        "the level and not serializable is the prediction called confirmed.",
    .options = options,
    .examples = examples,
    .status = "1 it could have gone wrong (confirmed, where that was asked "
              "for), 0 no prediction exists, 2 bad usage or input, an "
              "execution that is not serializable among it, 3 a limit was "
              "reached, or nothing was found but not all operations and rows "
              "are known, or nothing was confirmed, or (of a file, or with "
              "--no-validate) all there is needs a transaction to do "
              "something else than it was seen to",
    .settings_size = sizeof(hf_predict_settings),
    .run = run,
};
