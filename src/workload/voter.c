/* voter.c: Voter (WORKLOADS.md 9): a telephone vote with a limit per phone.
 *
 * The limit is kept by counting the phone's votes before inserting one: a
 * predicate write skew.  voter has many phones and a limit of 1000, so it
 * rarely matters; voter-tiny is MonkeyDB's and IsoPredict's: one phone, one
 * contestant, one vote.
 *
 * votes has a primary key here (a fresh number), so that rows can be told
 * apart; the count is done by reading the rows.
 */
#include <stdio.h>

#include "workload/steps.h"

#define AREAS 305
#define LINE 10000000 /* numbers in an area */
#define NOBODY 999    /* a contestant that is not */

typedef struct voter_state {
    hf_count votes;
    hf_memos notes; /* 0: voted */
} voter_state;

static const char *const tables[] = {
    "CREATE TABLE contestants (contestant_number BIGINT PRIMARY KEY, "
    "contestant_name VARCHAR(50) NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE area_code_state (area_code BIGINT PRIMARY KEY, state "
    "VARCHAR(2) NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE votes (vote_id BIGINT PRIMARY KEY, phone_number BIGINT NOT "
    "NULL, state VARCHAR(2) NOT NULL, contestant_number BIGINT NOT NULL, "
    "created BIGINT NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE INDEX votes_phone ON votes (phone_number)", NULL};

#define OPTIONS(contestants, areas, phones, max, invalid)                      \
    {                                                                          \
        {"contestants", contestants, 1, 900, "contestants"},                   \
            {"areas", areas, 1, AREAS, "area codes"},                          \
            {"phones", phones, 1, LINE, "numbers per area code"},              \
            {"max", max, 1, 1e9, "votes allowed per phone"},                   \
            {"invalid", invalid, 0, 100, "percent for nobody"},                \
    }

static const hf_workload_option usual[] = OPTIONS(6, AREAS, LINE, 1000, 1);
static const hf_workload_option tiny[] = OPTIONS(1, 1, 1, 1, 0);

static const hf_step read_contestant = {
    "SELECT _tag, contestant_name FROM contestants WHERE contestant_number = "
    "$1",
    HF_STEP_READ, .table = "contestants", .keys = {1}};
static const hf_step votes_of = {
    "SELECT _tag, vote_id FROM votes WHERE phone_number = $1", HF_STEP_SCAN,
    .table = "votes", .keys = {1}};
static const hf_step read_state = {
    "SELECT _tag, state FROM area_code_state WHERE area_code = $1",
    HF_STEP_READ, .table = "area_code_state", .keys = {1}};
static const hf_step insert_vote = {
    "INSERT INTO votes (vote_id, phone_number, state, contestant_number, "
    "created, _tag) VALUES ($1, $2, $3, $4, $5, $6)",
    HF_STEP_INSERT, .table = "votes", .keys = {1}, .tag = 6};
static const hf_step all_votes = {
    "SELECT _tag, vote_id, phone_number FROM votes ORDER BY phone_number",
    HF_STEP_SCAN, .table = "votes", .keys = {1}};

/* Any fixed table will do: 305 codes from 201 on, in turn to the states. */
static const char states[] =
    "ALAKAZARCACOCTDEFLGAHIIDILINIAKSKYLAMEMDMAMIMNMSMO"
    "MTNENVNHNJNMNYNCNDOHOKORPARISCSDTNTXUTVTVAWAWVWIWY";

static hf_status load(hf_play *p, hf_error *err)
{
    int64_t contestants = hf_option(p, "contestants");
    int64_t areas = hf_option(p, "areas");
    hf_status st = HF_OK;
    char text[40];

    for (int64_t i = 1; i <= contestants && st == HF_OK; i++) {
        snprintf(text, sizeof(text), "contestant %lld", (long long)i);
        st = HF_LOAD(p, "contestants", err, hf_i(i), hf_t(text), hf_tag());
    }
    for (int64_t i = 0; i < areas && st == HF_OK; i++) {
        snprintf(text, sizeof(text), "%.2s", states + 2 * (i % 50));
        st = HF_LOAD(p, "area_code_state", err, hf_i(201 + i), hf_t(text),
                     hf_tag());
    }
    return st;
}

/* numbers: id, phone, contestant */
static void draw(hf_play *p, hf_client *c, hf_drawn *ret)
{
    int64_t contestants = hf_option(p, "contestants");
    hf_rng *r = hf_client_rng(c);
    int64_t area = hf_uniform(r, 0, hf_option(p, "areas") - 1);
    int64_t *x = ret->numbers;

    x[0] = hf_client_fresh(c);
    x[1] = (201 + area) * LINE + hf_uniform(r, 0, hf_option(p, "phones") - 1);
    x[2] = hf_coin(r, 50) ? 1 + area * 7 % contestants
                          : hf_uniform(r, 1, contestants);
    if (hf_coin(r, hf_play_option(p, "invalid")))
        x[2] = NOBODY;
    ret->n = 3;
}

static void vote(hf_play *p, hf_client *c, const hf_drawn *d)
{
    voter_state *state = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&state->notes, c);
    const int64_t *x = d->numbers;
    const hf_sql_result *rows;
    char where[3] = "XX";

    if (!HF_STEP(c, read_contestant, &rows, hf_i(x[2])) || rows->n_rows == 0)
        return;
    if (!HF_STEP(c, votes_of, &rows, hf_i(x[1])) ||
        (int64_t)rows->n_rows >= hf_option(p, "max"))
        return;
    if (!HF_STEP(c, read_state, &rows, hf_i(x[1] / LINE)))
        return;
    if (rows->n_rows > 0)
        hf_cell_text(rows, 0, 1, where, sizeof(where));
    notes[0] =
        HF_STEP(c, insert_vote, NULL, hf_i(x[0]), hf_i(x[1]), hf_t(where),
                hf_i(x[2]), hf_i((int64_t)hf_client_clock(c)), hf_tag());
}

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    voter_state *state = hf_play_state(p);

    (void)d;
    hf_count_add(&state->votes, hf_memo_of(&state->notes, c)[0], known);
}

static void check(hf_play *p, hf_client *c)
{
    voter_state *state = hf_play_state(p);
    int64_t max = hf_option(p, "max");
    uint64_t first = 0;
    hf_grid votes;

    if (!hf_grid_read(c, &all_votes, &votes))
        return;
    for (uint64_t i = 1; i <= votes.n; i++) {
        int64_t phone = hf_grid_row(&votes, first)[2];

        if (i < votes.n && hf_grid_row(&votes, i)[2] == phone)
            continue;
        if ((int64_t)(i - first) > max)
            hf_play_breach(p, "V1",
                           "votes of phone %lld: expected at most %lld, "
                           "found %llu",
                           (long long)phone, (long long)max,
                           (unsigned long long)(i - first));
        first = i;
    }
    if (hf_memo_exact(c))
        hf_count_expect(p, "V2", &state->votes, 0, (int64_t)votes.n, "votes");
    hf_grid_release(&votes);
}

static const hf_workload_type types[] = {{"vote", 100, false, draw, vote}};

#define VOTER(called, words, with)                                             \
    {                                                                          \
        .name = (called), .summary = (words), .options = (with),               \
        .n_options = sizeof(with) / sizeof((with)[0]), .types = types,         \
        .n_types = 1, .tables = tables, .load = load, .check = check,          \
        .done = done, .state_size = sizeof(voter_state)                        \
    }

const hf_workload hf_workload_voter =
    VOTER("voter", "Voter: at most so many votes per phone", usual);
const hf_workload hf_workload_voter_tiny =
    VOTER("voter-tiny", "Voter with one phone and one vote", tiny);
