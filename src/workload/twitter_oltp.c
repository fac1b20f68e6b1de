/* twitter_oltp.c: Twitter as OLTP-Bench has it (WORKLOADS.md 10.2; Clotho's).
 *
 * New tweets go to a table that nobody reads: almost free of conflicts, a
 * control.  2000 tweets by default (OLTP-Bench: 20000).  Where the text has
 * LIMIT without an order we add one, so that every database answers alike; its
 * column text is body, since text is the name of a type.
 */
#include <stdio.h>

#include "base/map.h"
#include "workload/steps.h"

enum {
    GET_TWEET = 0,
    GET_TWEETS_FROM_FOLLOWING,
    GET_FOLLOWERS,
    GET_USER_TWEETS,
    INSERT_TWEET
};

#define SHOWN 20 /* users that are looked at */

typedef struct twitter_state {
    hf_count added;
    hf_count pairs; /* loaded */
} twitter_state;

static const char *const tables[] = {
    "CREATE TABLE user_profiles (uid BIGINT PRIMARY KEY, name VARCHAR(255) NOT "
    "NULL, email VARCHAR(255) NOT NULL, partitionid INT NOT NULL, partitionid2 "
    "INT NOT NULL, followers INT NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE INDEX user_profiles_followers ON user_profiles (followers)",
    "CREATE INDEX user_profiles_partition ON user_profiles (partitionid)",
    "CREATE TABLE followers (f1 BIGINT NOT NULL, f2 BIGINT NOT NULL, _tag "
    "BIGINT NOT NULL, PRIMARY KEY (f1, f2))",
    "CREATE TABLE follows (f1 BIGINT NOT NULL, f2 BIGINT NOT NULL, _tag BIGINT "
    "NOT NULL, PRIMARY KEY (f1, f2))",
    "CREATE TABLE tweets (id BIGINT PRIMARY KEY, uid BIGINT NOT NULL, body "
    "VARCHAR(140) NOT NULL, createdate BIGINT NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE INDEX tweets_uid ON tweets (uid)",
    "CREATE TABLE added_tweets (id BIGINT PRIMARY KEY, uid BIGINT NOT NULL, "
    "body VARCHAR(140) NOT NULL, createdate BIGINT NOT NULL, _tag BIGINT NOT "
    "NULL)",
    "CREATE INDEX added_tweets_uid ON added_tweets (uid)",
    NULL};

static const hf_workload_option options[] = {
    {"users", 500, 2, 1e8, "users"},
    {"tweets", 2000, 1, 1e8, "tweets (OLTP-Bench: 20000)"},
    {"follows", 50, 1, 1000, "most that a user follows"},
    {"follows-theta", 1.75, 0, 10, "Zipf of how many a user follows"},
    {"author-theta", 0.99, 0, 10, "Zipf of who wrote the tweets"},
};

#define IN_SHOWN                                                               \
    " IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, "  \
    "$16, $17, $18, $19, $20)"

static const hf_step read_tweet = {
    "SELECT _tag, uid, body, createdate FROM tweets WHERE id = $1",
    HF_STEP_READ, .table = "tweets", .keys = {1}};
static const hf_step follows_of = {
    "SELECT _tag, f1, f2 FROM follows WHERE f1 = $1 ORDER BY f2 LIMIT 20",
    HF_STEP_SCAN, .table = "follows", .keys = {2}};
static const hf_step tweets_of_some = {
    "SELECT _tag, id, uid, body FROM tweets WHERE uid" IN_SHOWN, HF_STEP_SCAN,
    .table = "tweets", .keys = {1}};
static const hf_step followers_of = {
    "SELECT _tag, f1, f2 FROM followers WHERE f1 = $1 ORDER BY f2 LIMIT 20",
    HF_STEP_SCAN, .table = "followers", .keys = {2}};
static const hf_step names_of_some = {
    "SELECT _tag, uid, name FROM user_profiles WHERE uid" IN_SHOWN,
    HF_STEP_SCAN, .table = "user_profiles", .keys = {1}};
static const hf_step tweets_of = {
    "SELECT _tag, id, body FROM tweets WHERE uid = $1 ORDER BY id LIMIT 10",
    HF_STEP_SCAN, .table = "tweets", .keys = {1}};
static const hf_step add_tweet = {
    "INSERT INTO added_tweets (id, uid, body, createdate, _tag) VALUES ($1, "
    "$2, $3, $4, $5)",
    HF_STEP_INSERT, .table = "added_tweets", .keys = {1}, .tag = 5};

static const hf_step all_added = {
    "SELECT _tag, id FROM added_tweets ORDER BY id", HF_STEP_SCAN,
    .table = "added_tweets", .keys = {1}};
static const hf_step all_follows = {
    "SELECT _tag, f1, f2 FROM follows ORDER BY f1, f2", HF_STEP_SCAN,
    .table = "follows", .keys = {2}};
static const hf_step all_followers = {
    "SELECT _tag, f1, f2 FROM followers ORDER BY f1, f2", HF_STEP_SCAN,
    .table = "followers", .keys = {2}};

/* ---- loading ------------------------------------------------------------- */

/* User u follows n others, in both tables. */
static hf_status load_follows(hf_play *p, hf_rng *r, int64_t u, int64_t n,
                              hf_error *err)
{
    twitter_state *state = hf_play_state(p);
    int64_t users = hf_option(p, "users"), step = hf_uniform(r, 1, users - 1);
    hf_status st = HF_OK;

    if (n > users - 1)
        n = users - 1;
    /* others in a row: distinct, and not himself */
    for (int64_t i = 0; i < n && st == HF_OK; i++) {
        int64_t other = 1 + (u - 1 + 1 + (step - 1 + i) % (users - 1)) % users;

        st = HF_LOAD(p, "follows", err, hf_i(u), hf_i(other), hf_tag());
        if (st == HF_OK)
            st = HF_LOAD(p, "followers", err, hf_i(other), hf_i(u), hf_tag());
        hf_count_add(&state->pairs, 1, true);
    }
    return st;
}

static hf_status load_user(hf_play *p, hf_rng *r, int64_t u, hf_error *err)
{
    char name[256], email[256];

    hf_letters(name, (size_t)hf_uniform(r, 3, 20), hf_rng_next(r));
    snprintf(email, sizeof(email), "%.20s@example.org", name);
    return HF_LOAD(p, "user_profiles", err, hf_i(u), hf_t(name), hf_t(email),
                   hf_i(u % 100), hf_i(u % 10), hf_i(0), hf_tag());
}

static hf_status load(hf_play *p, hf_error *err)
{
    int64_t users = hf_option(p, "users"), tweets = hf_option(p, "tweets");
    hf_zipf authors, follows;
    hf_status st = HF_OK;
    char text[141];
    hf_rng r;

    hf_rng_seed(&r, 10);
    hf_zipf_init(&authors, users, hf_play_option(p, "author-theta"));
    hf_zipf_init(&follows, hf_option(p, "follows"),
                 hf_play_option(p, "follows-theta"));
    for (int64_t u = 1; u <= users && st == HF_OK; u++) {
        st = load_user(p, &r, u, err);
        if (st == HF_OK)
            st = load_follows(p, &r, u, 1 + hf_zipf_draw(&follows, &r), err);
    }
    for (int64_t t = 1; t <= tweets && st == HF_OK; t++) {
        /* scrambled: the popular ones are spread */
        uint64_t author = hf_mix64((uint64_t)hf_zipf_draw(&authors, &r));

        st = HF_LOAD(p, "tweets", err, hf_i(t),
                     hf_i(1 + (int64_t)(author % (uint64_t)users)),
                     hf_t(hf_letters(text, 140, hf_rng_next(&r))), hf_i(0),
                     hf_tag());
    }
    return st;
}

/* ---- transactions -------------------------------------------------------- */

/* numbers: user or tweet; id of the new one */
static void draw(hf_play *p, hf_client *c, hf_drawn *ret)
{
    hf_rng *r = hf_client_rng(c);

    ret->numbers[0] = ret->type == GET_TWEET
                          ? hf_uniform(r, 1, hf_option(p, "tweets"))
                          : hf_uniform(r, 1, hf_option(p, "users") - 1);
    ret->n = 1;
    if (ret->type == INSERT_TWEET) {
        ret->numbers[1] = hf_client_fresh(c);
        ret->n = 2;
    }
}

static void get_tweet(hf_play *p, hf_client *c, const hf_drawn *d)
{
    (void)p;
    (void)HF_STEP(c, read_tweet, NULL, hf_i(d->numbers[0]));
}

/* Those that `whom` finds for the user, then what `what` says of them. */
static void look_at(hf_client *c, int64_t user, const hf_step *whom,
                    const hf_step *what)
{
    const hf_sql_result *rows;
    hf_sql_value some[SHOWN];

    if (!HF_STEP(c, *whom, &rows, hf_i(user)) || rows->n_rows == 0)
        return;
    /* the last one again and again if there are fewer */
    for (uint64_t i = 0; i < SHOWN; i++)
        some[i] =
            hf_i(hf_cell(rows, i < rows->n_rows ? i : rows->n_rows - 1, 2));
    (void)hf_client_step(c, what, some, SHOWN, NULL);
}

static void get_tweets_from_following(hf_play *p, hf_client *c,
                                      const hf_drawn *d)
{
    (void)p;
    look_at(c, d->numbers[0], &follows_of, &tweets_of_some);
}

static void get_followers(hf_play *p, hf_client *c, const hf_drawn *d)
{
    (void)p;
    look_at(c, d->numbers[0], &followers_of, &names_of_some);
}

static void get_user_tweets(hf_play *p, hf_client *c, const hf_drawn *d)
{
    (void)p;
    (void)HF_STEP(c, tweets_of, NULL, hf_i(d->numbers[0]));
}

static void insert_tweet(hf_play *p, hf_client *c, const hf_drawn *d)
{
    char text[141];

    (void)p;
    (void)HF_STEP(c, add_tweet, NULL, hf_i(d->numbers[1]), hf_i(d->numbers[0]),
                  hf_t(hf_letters(text, 140, (uint64_t)d->numbers[1])),
                  hf_i((int64_t)hf_client_clock(c)), hf_tag());
}

/* ---- invariants of our own ------------------------------------------------
 */

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    twitter_state *state = hf_play_state(p);

    (void)c;
    if (d->type == INSERT_TWEET)
        hf_count_add(&state->added, 1, known);
}

static void check(hf_play *p, hf_client *c)
{
    twitter_state *state = hf_play_state(p);
    hf_grid added = {0}, follows = {0}, followers = {0};

    if (hf_grid_read(c, &all_added, &added) &&
        hf_grid_read(c, &all_follows, &follows) &&
        hf_grid_read(c, &all_followers, &followers)) {
        hf_count_expect(p, "TO1", &state->added, 0, (int64_t)added.n,
                        "rows of added_tweets");
        hf_count_expect(p, "TO2", &state->pairs, 0, (int64_t)followers.n,
                        "rows of followers");
        for (uint64_t i = 0; i < follows.n; i++) {
            const int64_t *f = hf_grid_row(&follows, i);
            int64_t mirrored[2] = {f[2], f[1]};

            if (!hf_grid_find(&followers, mirrored, 2))
                hf_play_breach(p, "TO2",
                               "%lld follows %lld: expected 1 row of "
                               "followers, found 0",
                               (long long)f[1], (long long)f[2]);
        }
        hf_count_expect(p, "TO2", &state->pairs, 0, (int64_t)follows.n,
                        "rows of follows");
    }
    hf_grid_release(&added);
    hf_grid_release(&follows);
    hf_grid_release(&followers);
}

static const hf_workload_type types[] = {
    {"get-tweet", 1, true, draw, get_tweet},
    {"get-tweets-from-following", 1, true, draw, get_tweets_from_following},
    {"get-followers", 7, true, draw, get_followers},
    {"get-user-tweets", 90, true, draw, get_user_tweets},
    {"insert-tweet", 1, false, draw, insert_tweet},
};

const hf_workload hf_workload_twitter_oltp = {
    .name = "twitter-oltp",
    .summary = "Twitter (OLTP-Bench): mostly reads, almost no conflicts",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .types = types,
    .n_types = sizeof(types) / sizeof(types[0]),
    .tables = tables,
    .load = load,
    .check = check,
    .done = done,
    .state_size = sizeof(twitter_state),
};
