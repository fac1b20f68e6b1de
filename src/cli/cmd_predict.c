/* cmd_predict.c: holdfast predict. */
#include "cli/commands.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/json_out.h"
#include "cli/common.h"
#include "cli/save.h"
#include "predict/predict.h"

typedef struct settings {
    const char *from, *output;
    unsigned level, strategy, encoding; /* 1 + the enum; 0: default */
    hf_number most;
    bool all, json;
    hf_limits limits;
} settings;

static const char *choose_target(unsigned i)
{
    return i < HF_PREDICT_TARGET_COUNT
               ? hf_predict_target_get((hf_predict_target)i)->name
               : NULL;
}

static const char *choose_strategy(unsigned i)
{
    return i < HF_PREDICT_STRATEGY_COUNT
               ? hf_predict_strategy_name((hf_predict_strategy)i)
               : NULL;
}

static const char *choose_encoding(unsigned i)
{
    static const char *const names[] = {"own", "paper", NULL};

    return names[i < 2 ? i : 2];
}

/* ---- words --------------------------------------------------------------- */

static void put_key(hf_out *out, const hf_history *h, hf_key_id k)
{
    hf_scalar s = hf_key_scalar(h, k);

    if (h->key_table && h->key_table[k] != HF_NONE) {
        hf_out_str(out, hf_string(h, h->key_table[k]));
        hf_out_char(out, '/');
    }
    if (s.type == HF_INT)
        hf_out_int(out, s.number);
    else
        hf_out_bytes(out, s.text, s.length);
}

static void put_txn(hf_out *out, const hf_history *h, hf_txn_id t)
{
    if (t == HF_NONE)
        hf_out_text(out, "the initial state");
    else
        hf_out_format(out, "T%lld", (long long)hf_txn_label(h, t));
}

static const char *const edge_names[] = {"so", "wr", "ww", "rw"};

static void put_cycle(hf_out *out, const hf_history *h, const hf_prediction *p)
{
    for (uint32_t i = 0; i < p->n_edges; i++) {
        const hf_predicted_edge *d = &p->edges[i];

        put_txn(out, h, d->from);
        hf_out_format(out, " -%s", edge_names[d->kind]);
        if (d->key != HF_NONE) {
            hf_out_char(out, ':');
            put_key(out, h, d->key);
        }
        hf_out_text(out, "-> ");
    }
    if (p->n_edges > 0)
        put_txn(out, h, p->edges[0].from);
    else
        hf_out_text(out, "no single cycle; no commit order at all");
}

static void put_prediction(hf_out *out, const hf_history *h,
                           const hf_prediction *p, uint32_t number)
{
    hf_out_format(
        out, "\nprediction %u: %s, %u %s\n", number,
        p->is_sure ? "feasible unless a transaction aborts" : "may diverge",
        p->n_changed, hf_plural(p->n_changed, "read changes", "reads change"));
    for (uint32_t i = 0; i < p->n_reads; i++) {
        const hf_predicted_read *r = &p->reads[i];

        if (!r->changed)
            continue;
        hf_out_text(out, "  ");
        put_txn(out, h, r->txn);
        hf_out_text(out, r->is_row ? " finds " : " reads ");
        put_key(out, h, r->key);
        hf_out_text(out, " from ");
        put_txn(out, h, r->source);
        hf_out_text(out, " instead of ");
        put_txn(out, h, r->observed);
        hf_out_char(out, '\n');
    }
    hf_out_text(out, "  cycle: ");
    put_cycle(out, h, p);
    hf_out_char(out, '\n');
    for (uint32_t s = 0; s < p->n_sessions; s++) {
        const hf_predicted_session *b = &p->sessions[s];

        if (b->ends)
            continue;
        hf_out_format(out, "  session %u stops ", b->session + 1);
        if (b->txn == HF_NONE) {
            hf_out_text(out, "before it begins\n");
            continue;
        }
        hf_out_text(out, b->cut ? "inside " : "after ");
        put_txn(out, h, b->txn);
        hf_out_char(out, '\n');
    }
}

static void put_text(hf_out *out, const hf_history *h,
                     const hf_predict_result *r)
{
    static const char *const answers[] = {"found", "none", "unknown"};
    const hf_predict_stats *s = &r->stats;

    hf_out_format(out, "%s: %s\n", answers[r->answer], r->statement);
    for (uint32_t i = 0; i < r->n_predictions; i++)
        put_prediction(out, h, &r->predictions[i], i + 1);
    hf_out_format(out,
                  "\n%u transactions, %u choices; %llu variables, %llu "
                  "clauses; %u rounds; %.3f s encoding, %.3f s solving\n",
                  s->transactions, s->choices, (unsigned long long)s->variables,
                  (unsigned long long)s->clauses, s->iterations,
                  s->encode_seconds, s->solve_seconds);
}

/* ---- JSON ---------------------------------------------------------------- */

static void field(hf_json *j, const char *name, uint64_t n)
{
    hf_json_key(j, name);
    hf_json_uint(j, n);
}

static void json_txn(hf_json *j, const char *name, const hf_history *h,
                     hf_txn_id t)
{
    hf_json_key(j, name);
    if (t == HF_NONE)
        hf_json_null(j);
    else
        hf_json_int(j, hf_txn_label(h, t));
}

static void json_key(hf_json *j, const hf_history *h, hf_key_id k)
{
    hf_out text;

    hf_json_key(j, "key");
    if (k == HF_NONE) {
        hf_json_null(j);
        return;
    }
    hf_out_init_memory(&text);
    put_key(&text, h, k);
    hf_json_str(j, hf_out_view(&text));
    hf_out_release(&text);
}

static void json_prediction(hf_json *j, const hf_history *h,
                            const hf_prediction *p)
{
    hf_json_object(j);
    hf_json_key(j, "sure");
    hf_json_bool(j, p->is_sure);
    hf_json_key(j, "changed");
    hf_json_array(j);
    for (uint32_t i = 0; i < p->n_reads; i++) {
        if (!p->reads[i].changed)
            continue;
        hf_json_object(j);
        json_txn(j, "transaction", h, p->reads[i].txn);
        json_key(j, h, p->reads[i].key);
        json_txn(j, "source", h, p->reads[i].source);
        json_txn(j, "observed", h, p->reads[i].observed);
        hf_json_end(j);
    }
    hf_json_end(j);
    hf_json_key(j, "cycle");
    hf_json_array(j);
    for (uint32_t i = 0; i < p->n_edges; i++) {
        hf_json_object(j);
        json_txn(j, "from", h, p->edges[i].from);
        json_txn(j, "to", h, p->edges[i].to);
        hf_json_key(j, "kind");
        hf_json_text(j, edge_names[p->edges[i].kind]);
        json_key(j, h, p->edges[i].key);
        hf_json_end(j);
    }
    hf_json_end(j);
    hf_json_end(j);
}

static void put_json(hf_out *out, const hf_history *h, const char *path,
                     const hf_predict_result *r)
{
    static const char *const answers[] = {"found", "none", "unknown"};
    hf_json j;

    hf_json_init(&j, out);
    hf_json_object(&j);
    hf_json_key(&j, "type");
    hf_json_text(&j, "predict");
    field(&j, "schema", 1);
    hf_json_key(&j, "file");
    hf_json_text(&j, path);
    hf_json_key(&j, "level");
    hf_json_text(&j, hf_predict_target_get(r->options.target)->name);
    hf_json_key(&j, "strategy");
    hf_json_text(&j, hf_predict_strategy_name(r->options.strategy));
    hf_json_key(&j, "answer");
    hf_json_text(&j, answers[r->answer]);
    hf_json_key(&j, "complete");
    hf_json_bool(&j, r->is_complete);
    hf_json_key(&j, "statement");
    hf_json_text(&j, r->statement);
    hf_json_key(&j, "predictions");
    hf_json_array(&j);
    for (uint32_t i = 0; i < r->n_predictions; i++)
        json_prediction(&j, h, &r->predictions[i]);
    hf_json_end(&j);
    hf_json_key(&j, "stats");
    hf_json_object(&j);
    field(&j, "transactions", r->stats.transactions);
    field(&j, "choices", r->stats.choices);
    field(&j, "variables", r->stats.variables);
    field(&j, "clauses", r->stats.clauses);
    field(&j, "literals", r->stats.literals);
    field(&j, "iterations", r->stats.iterations);
    hf_json_key(&j, "encode_seconds");
    hf_json_real(&j, r->stats.encode_seconds);
    hf_json_key(&j, "solve_seconds");
    hf_json_real(&j, r->stats.solve_seconds);
    hf_json_end(&j);
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

/* ---- the command --------------------------------------------------------- */

/* DIR/prediction-1.jsonl, ... */
static hf_status save(hf_cli *cli, const hf_history *h,
                      const hf_predict_result *r, const char *directory,
                      hf_error *err)
{
    const hf_format *format = hf_format_find(HF_STR("jsonl"));
    hf_status st = HF_OK;

    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return hf_fail(err, HF_ERR_IO, "could not make directory \"%s\": %s",
                       directory, strerror(errno));
    for (uint32_t i = 0; st == HF_OK && i < r->n_predictions; i++) {
        hf_history *predicted = NULL;
        char path[4096];

        if (snprintf(path, sizeof path, "%s/prediction-%u.jsonl", directory,
                     i + 1) >= (int)sizeof path)
            return hf_fail(err, HF_ERR_USAGE,
                           "the name of the directory is too long");
        st = hf_prediction_history(h, &r->predictions[i], &predicted, err);
        if (st == HF_OK)
            st = hf_cli_save(cli, predicted, path, format, err);
        hf_history_free(predicted);
    }
    return st;
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const settings *set = user;
    hf_predict_options o = {
        .target = set->level ? (hf_predict_target)(set->level - 1)
                             : HF_PREDICT_CAUSAL,
        .strategy = set->strategy ? (hf_predict_strategy)(set->strategy - 1)
                                  : HF_PREDICT_BEST,
        .encoding = set->encoding ? (hf_predict_encoding)(set->encoding - 1)
                                  : HF_PREDICT_OWN,
        .most = set->most.given ? (uint32_t)set->most.value
                : set->all      ? UINT32_MAX
                                : 1,
        .budget = &cli->budget};
    static const int statuses[] = {HF_EXIT_INVALID, HF_EXIT_VALID,
                                   HF_EXIT_UNKNOWN};
    hf_predict_result *r = NULL;
    hf_history *h = NULL;
    const hf_format *format;
    char hint[160] = "";
    hf_error err;
    hf_status st =
        hf_cli_format(set->from, false, &format, hint, sizeof hint, &err);
    int status;

    if (st != HF_OK)
        return hf_cli_fail(cli, st, &err, hint);
    hf_cli_start(cli, &set->limits, NULL, NULL);
    st = hf_cli_load_to_judge(cli, operands->at[0], format, &h, &err);
    if (st == HF_OK) {
        st = hf_predict(h, &o, &r, &err);
        if (st != HF_OK)
            hf_cli_place("could not predict from", operands->at[0], &err);
    }
    hf_cli_stop(cli);
    if (st == HF_OK && set->output)
        st = save(cli, h, r, set->output, &err);
    if (st != HF_OK) {
        status = hf_cli_fail(cli, st, &err, NULL);
    } else {
        if (set->json)
            put_json(&cli->out, h, operands->at[0], r);
        else
            put_text(&cli->out, h, r);
        status = statuses[r->answer];
    }
    hf_predict_result_free(r);
    hf_history_free(h);
    return status;
}

static const hf_option options[] = {
    {.name = "level",
     .letter = 'l',
     .argument = "LEVEL",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(settings, level),
     .choices = choose_target,
     .summary = "the level the application runs under (default: causal)",
     .detail = "A prediction is an execution that this level allows.",
     .example = "--level snapshot-isolation"},
    {.name = "strategy",
     .letter = 's',
     .argument = "NAME",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(settings, strategy),
     .choices = choose_strategy,
     .summary = "what may change, and how unserializability is decided",
     .detail = "best (the default) is complete: it says that there is none "
               "only if there is none. The others are those of the IsoPredict "
               "paper.",
     .example = "--strategy exact-strict"},
    {.name = "all",
     .letter = 'a',
     .type = HF_OPTION_FLAG,
     .offset = offsetof(settings, all),
     .summary = "all predictions that differ in shape, not one",
     .example = "--all"},
    {.name = "limit",
     .letter = 'n',
     .argument = "N",
     .type = HF_OPTION_NUMBER,
     .offset = offsetof(settings, most),
     .min = 1,
     .max = UINT32_MAX,
     .summary = "at most so many predictions",
     .example = "--limit 10"},
    {.name = "encoding",
     .argument = "NAME",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(settings, encoding),
     .choices = choose_encoding,
     .summary = "own, or that of the paper solved by Z3, to compare",
     .example = "--encoding paper"},
    {.name = "output",
     .letter = 'o',
     .argument = "DIR",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(settings, output),
     .summary = "save the predicted histories in this directory",
     .example = "--output predicted",
     .completes_files = true},
    HF_ROW_FROM(settings),
    HF_ROW_JSON(settings),
    HF_ROW_TIME(settings),
    HF_ROW_MEMORY(settings),
    {0},
};

static const hf_example examples[] = {
    {"holdfast predict run.jsonl --level causal",
     "Could this run have gone wrong under causal consistency?"},
    {"holdfast predict run.jsonl --level postgresql-read-committed --all -o "
     "out",
     "Every way it could have under PostgreSQL's default, saved as histories"},
    {0},
};

const hf_command hf_command_predict = {
    .name = "predict",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "find executions that the same run could have had, gone wrong",
    .description =
        "From one observed execution of an application: executions that it "
        "could have had under a weaker level and that are not serializable. "
        "Reads may take other versions than they did; what a transaction does "
        "after such a read may be something else than what was observed, so "
        "the prediction stops there, or says that it may diverge.\n"
        "\n"
        "docs/predict.md has the definitions.",
    .options = options,
    .examples = examples,
    .status = "0 none exists, 1 there is one, 2 bad usage or bad input, 3 a "
              "limit was reached first",
    .settings_size = sizeof(settings),
    .run = run,
};
