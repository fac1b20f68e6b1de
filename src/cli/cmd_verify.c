/* cmd_verify.c: holdfast verify. */
#include "cli/commands.h"

#include <stdio.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "cli/common.h"
#include "history/items_only.h"
#include "history/history.h"
#include "model/level.h"
#include "verify/verify.h"

typedef struct settings {
    const char *from;
    bool json, quiet, no_predicates;
    unsigned dialect; /* 0: not known, else 1 + hf_sql_dialect */
    hf_limits limits;
} settings;

typedef enum answer { ACCEPTED, REFUSED, UNDECIDED, ANSWER_COUNT } answer;

static const char *const answer_names[ANSWER_COUNT] = {"accepted", "refused",
                                                       "undecided"};

static void write_json(answer a, const hf_claim *claim, const char *reason,
                       hf_out *out)
{
    hf_json j;

    hf_json_init(&j, out);
    hf_json_object(&j);
    hf_json_key(&j, "type");
    hf_json_text(&j, "verification");
    hf_json_key(&j, "schema");
    hf_json_int(&j, 1);
    hf_json_key(&j, "answer");
    hf_json_text(&j, answer_names[a]);
    if (claim) {
        hf_json_key(&j, "verdict");
        hf_json_text(&j, hf_verdict_name(claim->verdict));
        hf_json_key(&j, "level");
        hf_json_text(&j, hf_level_get(claim->level)->name);
        if (claim->witness.mixed) {
            hf_json_key(&j, "mixed");
            hf_json_bool(&j, true);
        }
        hf_json_key(&j, "kind");
        hf_json_text(&j, hf_witness_kind_name(claim->witness.kind));
    }
    if (a == ACCEPTED && claim->witness.kind == HF_WITNESS_PROOF) {
        hf_json_key(&j, "steps");
        hf_json_uint(&j, claim->witness.n_steps);
    }
    if (reason) {
        hf_json_key(&j, "reason");
        hf_json_text(&j, reason);
    }
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

/* What stands before the level of those that name none. */
static const char *own_levels(const hf_claim *claim)
{
    return claim->witness.mixed ? "the transactions' own levels, else " : "";
}

/* claim is NULL if it was not read; reason is NULL for accepted.  One of
 * `several` answers says what it is about. */
static void write_answer(const settings *set, answer a, const hf_claim *claim,
                         const char *reason, bool several, hf_out *out)
{
    if (set->quiet)
        return;
    if (set->json)
        write_json(a, claim, reason, out);
    else if (reason && claim && several)
        hf_out_format(out, "%s at %s%s: %s\n", answer_names[a],
                      own_levels(claim), hf_level_get(claim->level)->name,
                      reason);
    else if (reason)
        hf_out_format(out, "%s: %s\n", answer_names[a], reason);
    else if (claim->witness.kind == HF_WITNESS_PROOF)
        hf_out_format(out,
                      "accepted: the witness (proof, %u %s checked) proves %s "
                      "at %s%s\n",
                      (unsigned)claim->witness.n_steps,
                      hf_plural(claim->witness.n_steps, "step", "steps"),
                      hf_verdict_name(claim->verdict), own_levels(claim),
                      hf_level_get(claim->level)->name);
    else
        hf_out_format(out, "accepted: the witness (%s) proves %s at %s%s\n",
                      hf_witness_kind_name(claim->witness.kind),
                      hf_verdict_name(claim->verdict), own_levels(claim),
                      hf_level_get(claim->level)->name);
}

static void last_words(const void *user, const char *reason, hf_out *out)
{
    write_answer(user, UNDECIDED, NULL, reason, false, out);
}

static hf_status read_claims(hf_cli *cli, const char *path, const hf_history *h,
                             hf_arena *arena, hf_claim_list *ret, hf_error *err)
{
    hf_input in;
    char quoted[160];
    hf_status st = hf_input_open(&in, path, &cli->budget, err);

    if (st != HF_OK)
        in = (hf_input){0}; /* closing it does nothing */
    else if (in.is_directory)
        st = hf_fail(err, HF_ERR_INPUT, "expected a file, found a directory");
    else if (in.length == 0)
        st = hf_fail(err, HF_ERR_INPUT, "expected a witness, found nothing");
    else
        st = hf_claims_read(h, in.text, in.length, arena, ret, err);
    if (st != HF_OK && err->line != HF_NO_PLACE)
        hf_error_context(err, "line %llu", (unsigned long long)err->line);
    else if (st != HF_OK && err->byte != HF_NO_PLACE)
        hf_error_context(err, "byte %llu", (unsigned long long)err->byte);
    if (st != HF_OK)
        hf_error_context(err, "could not read witness \"%s\"",
                         hf_quote(quoted, sizeof quoted, path, strlen(path)));
    hf_input_close(&in);
    return st;
}

/* ---- judging ------------------------------------------------------------ */

typedef struct judgement {
    const hf_claim *claim;
    answer answer;
    hf_verification v;
    hf_error err; /* undecided: why */
} judgement;

static const char *reason_of(const judgement *x)
{
    if (x->answer == ACCEPTED)
        return NULL;
    return x->answer == REFUSED ? x->v.reason : x->err.text;
}

static const int exit_of[ANSWER_COUNT] = {HF_EXIT_VALID, HF_EXIT_INVALID,
                                          HF_EXIT_UNKNOWN};

/* Where nothing is claimed there is nothing to verify; but somebody who asks
 * about nothing else gets an answer. */
static size_t claims_worth_asking(const hf_claim_list *claims,
                                  judgement *ret_asked)
{
    size_t n = 0;

    for (size_t i = 0; i < claims->n; i++)
        if (claims->at[i].verdict != HF_UNKNOWN)
            ret_asked[n++].claim = &claims->at[i];
    if (n == 0)
        ret_asked[n++].claim = &claims->at[0];
    return n;
}

/* Answers so far; the last words have them all, the rest as undecided. */
typedef struct answers {
    const settings *set;
    judgement *asked;
    size_t n, done;
} answers;

static void write_answers(const answers *x, const char *reason, hf_out *out)
{
    for (size_t i = 0; i < x->n; i++)
        write_answer(x->set, i < x->done ? x->asked[i].answer : UNDECIDED,
                     x->asked[i].claim,
                     i < x->done ? reason_of(&x->asked[i]) : reason, x->n > 1,
                     out);
}

static void last_answers(const void *user, const char *reason, hf_out *out)
{
    write_answers(user, reason, out);
}

static int status_of(const answers *x)
{
    int status = x->done < x->n ? HF_EXIT_UNKNOWN : HF_EXIT_VALID;

    for (size_t i = 0; i < x->done; i++)
        status = hf_exit_worse(status, exit_of[x->asked[i].answer]);
    return status;
}

/* After each of a few answers; of many, from time to time. */
#define FEW_ANSWERS 64u
#define OFTEN_NS 200000000u

static void remember(hf_cli *cli, const answers *x, uint64_t *said)
{
    uint64_t now = hf_clock_ns();

    if (x->done == x->n || (x->n > FEW_ANSWERS && now - *said < OFTEN_NS))
        return;
    *said = now;
    hf_cli_say_last(cli, last_answers, x, status_of(x));
}

static hf_status judge_one(hf_cli *cli, hf_verify_session *session,
                           judgement *x)
{
    hf_status st =
        hf_verify_claim_in(session, x->claim, &cli->budget, &x->v, &x->err);

    x->answer = x->v.accepted ? ACCEPTED : REFUSED;
    if (st != HF_ERR_LIMIT && st != HF_ERR_UNSUPPORTED)
        return st;
    x->answer = UNDECIDED;
    return HF_OK;
}

static int judge(hf_cli *cli, const settings *set, const hf_history *h,
                 const hf_claim_list *claims)
{
    answers x = {.set = set, .asked = HF_NEW_ZEROED(judgement, claims->n)};
    hf_verify_session *session = hf_verify_open(h);
    hf_status st = HF_OK;
    int status = HF_EXIT_VALID;
    uint64_t said = 0;
    size_t skipped;

    x.n = claims_worth_asking(claims, x.asked);
    skipped = claims->n - x.n;
    if (set->dialect > 0)
        hf_verify_set_dialect(session, (hf_sql_dialect)(set->dialect - 1));
    hf_progress_begin(&cli->progress, "verifying");
    while (x.done < x.n && st == HF_OK) {
        remember(cli, &x, &said);
        st = judge_one(cli, session, &x.asked[x.done++]);
    }
    hf_cli_stop(cli); /* from here on there is an answer */
    if (st != HF_OK) {
        status = hf_cli_fail(cli, st, &x.asked[x.done - 1].err, NULL);
    } else {
        write_answers(&x, NULL, &cli->out);
        status = status_of(&x);
    }
    if (skipped > 0 && st == HF_OK && !set->quiet)
        hf_cli_note(cli, "left out %zu %s of verdict unknown", skipped,
                    hf_plural(skipped, "result", "results"));
    hf_verify_close(session);
    hf_free(x.asked);
    return status;
}

/* A limit while loading is an answer, everything else an error. */
static int not_loaded(hf_cli *cli, const settings *set, hf_status st,
                      const hf_error *err)
{
    if (st != HF_ERR_LIMIT)
        return hf_cli_fail(cli, st, err, NULL);
    write_answer(set, UNDECIDED, NULL, hf_budget_reason(&cli->budget), false,
                 &cli->out);
    return HF_EXIT_UNKNOWN;
}

static int run(hf_cli *cli, const void *user, const hf_operands *operands)
{
    const settings *set = user;
    const hf_format *format;
    hf_history *h = NULL, *items = NULL;
    hf_arena arena;
    hf_claim_list claims;
    hf_error err;
    char hint[160] = "";
    hf_status st =
        hf_cli_format(set->from, false, &format, hint, sizeof hint, &err);
    int status;

    if (st == HF_OK && strcmp(operands->at[0], "-") == 0 &&
        strcmp(operands->at[1], "-") == 0)
        st = hf_fail(&err, HF_ERR_USAGE,
                     "only one of HISTORY and WITNESS "
                     "can be standard input");
    if (st != HF_OK)
        return hf_cli_fail(cli, st, &err, hint);
    hf_arena_init(&arena);
    hf_cli_start(cli, &set->limits, last_words, set);
    st = hf_cli_load_to_judge(cli, operands->at[0], format, &h, &err);
    if (st == HF_OK)
        st = read_claims(cli, operands->at[1], h, &arena, &claims, &err);
    if (st == HF_OK && set->no_predicates)
        items = hf_items_only(h);
    status = st == HF_OK ? judge(cli, set, items ? items : h, &claims)
                         : not_loaded(cli, set, st, &err);
    hf_cli_stop(cli);
    hf_items_only_free(items);
    hf_history_free(h);
    hf_arena_release(&arena);
    return status;
}

static const hf_option options[] = {
    HF_ROW_FROM(settings),
    HF_ROW_JSON(settings),
    HF_ROW_TIME(settings),
    HF_ROW_MEMORY(settings),
    {.name = "no-predicates",
     .type = HF_OPTION_FLAG,
     .offset = offsetof(settings, no_predicates),
     .summary = "for a verdict of \"check --no-predicates\"",
     .example = "--no-predicates"},
    {.name = "dialect",
     .argument = "NAME",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(settings, dialect),
     .choices = hf_choose_dialect,
     .summary = "whose rules conditions follow, as for \"check\"",
     .example = "--dialect postgres"},
    {.name = "quiet",
     .letter = 'q',
     .type = HF_OPTION_FLAG,
     .offset = offsetof(settings, quiet),
     .summary = "print no answer, only exit with it",
     .example = "-q"},
    {0},
};

static const hf_example examples[] = {
    {"holdfast verify run.jsonl witness.json",
     "Is the proof that \"check --witness\" wrote a proof of what it claims?"},
    {"holdfast check --json run.jsonl | holdfast verify run.jsonl -",
     "The same for a whole result, from standard input"},
    {"holdfast check --level auto --json run.jsonl | holdfast verify run.jsonl "
     "-",
     "The same for the levels that hold and fail"},
    {0},
};

const hf_command hf_command_verify = {
    .name = "verify",
    .operands = "HISTORY WITNESS",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "check a witness again, independently of the engines",
    .description =
        "Reads a history and a witness (or a result that contains one, as "
        "\"holdfast check --json\" prints it) and says whether the one "
        "follows from the other. The edges of a cycle are derived again from "
        "the operations, an order is replayed against them, a core is "
        "enumerated, a proof is followed step by step; no code is shared with "
        "the engines.\n"
        "\n"
        "Prints \"accepted\", \"refused\" with what does not follow, or "
        "\"undecided\" with the limit that was reached; of several results "
        "one line for each, and the worst is the exit status. Results of "
        "verdict unknown are left out. Either argument, but not both, may "
        "be - for standard input.",
    .options = options,
    .examples = examples,
    .status =
        "0 accepted, 1 refused, 2 bad usage or bad input, 3 undecided; of "
        "several results the worst, in the order 2, 1, 3, 0",
    .settings_size = sizeof(settings),
    .run = run,
};
