/* twitter.c: Twitter as CobraBench has it (WORKLOADS.md 10.1; also
 * Troubadour's): tweets, and who follows whom, kept in three places.
 *
 * 200 users by default (the papers: 1000; low contention 16000).  The bit map
 * of whom a user follows is a text of hexadecimal digits, four users each, as
 * long as it has to be.  joins=1 has Timeline as one join (not recorded) and
 * ShowTweets as one query.
 */
#include "workload/steps.h"

enum { NEW_TWEET = 0, FOLLOW, TIMELINE, SHOW_FOLLOW, SHOW_TWEETS };

#define MOST_USERS 16000
#define MAP_SIZE (MOST_USERS / 4 + 1)
#define TWEETS 10 /* of each user, loaded */

typedef struct twitter_state {
    hf_count tweets;
    hf_zipf actors, targets;
} twitter_state;

static const char *const tables[] = {
    "CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR(10) NOT NULL, "
    "info VARCHAR(200) NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE tweet (id BIGINT PRIMARY KEY, author BIGINT NOT NULL, data "
    "VARCHAR(140) NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE INDEX tweet_author ON tweet (author)",
    "CREATE TABLE ltweet (user_id BIGINT PRIMARY KEY, tweet_id BIGINT NOT "
    "NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE following (src BIGINT NOT NULL, dst BIGINT NOT NULL, since "
    "BIGINT NOT NULL, follow INT NOT NULL, _tag BIGINT NOT NULL, PRIMARY KEY "
    "(src, dst))",
    "CREATE TABLE followers (dst BIGINT NOT NULL, src BIGINT NOT NULL, since "
    "BIGINT NOT NULL, follow INT NOT NULL, _tag BIGINT NOT NULL, PRIMARY KEY "
    "(dst, src))",
    "CREATE TABLE followlist (src BIGINT PRIMARY KEY, bitmap TEXT NOT NULL, "
    "_tag BIGINT NOT NULL)",
    NULL};

static const hf_workload_option options[] = {
    {"users", 200, 1, MOST_USERS, "users (the papers: 1000)"},
    {"theta", 0.5, 0, 10, "Zipf of who acts"},
    {"target-theta", 0.99, 0, 10, "Zipf of who is followed"},
    {"joins", 0, 0, 1, "Timeline as one join (not recorded)"},
};

static const hf_step insert_tweet = {
    "INSERT INTO tweet (id, author, data, _tag) VALUES ($1, $2, $3, $4)",
    HF_STEP_INSERT, .table = "tweet", .keys = {1}, .tag = 4};
static const hf_step set_last = {
    "UPDATE ltweet SET tweet_id = $2, _tag = $3 WHERE user_id = $1",
    HF_STEP_UPDATE,
    .table = "ltweet",
    .keys = {1},
    .tag = 3,
    .blind = true};
static const hf_step put_follower = {
    "INSERT INTO followers (dst, src, since, follow, _tag) VALUES ($1, $2, $3, "
    "$4, $5) ON CONFLICT (dst, src) DO UPDATE SET since = $3, follow = $4, "
    "_tag = $5",
    HF_STEP_UPSERT, .table = "followers", .keys = {1, 2}, .tag = 5};
static const hf_step put_following = {
    "INSERT INTO following (src, dst, since, follow, _tag) VALUES ($1, $2, $3, "
    "$4, $5) ON CONFLICT (src, dst) DO UPDATE SET since = $3, follow = $4, "
    "_tag = $5",
    HF_STEP_UPSERT, .table = "following", .keys = {1, 2}, .tag = 5};
static const hf_step read_list = {
    "SELECT _tag, bitmap FROM followlist WHERE src = $1", HF_STEP_READ,
    .table = "followlist", .keys = {1}};
static const hf_step set_list = {
    "UPDATE followlist SET bitmap = $2, _tag = $3 WHERE src = $1",
    HF_STEP_UPDATE,
    .table = "followlist",
    .keys = {1},
    .tag = 3,
    .blind = true};
static const hf_step read_last = {
    "SELECT _tag, tweet_id FROM ltweet WHERE user_id = $1", HF_STEP_READ,
    .table = "ltweet", .keys = {1}};
static const hf_step read_tweet = {
    "SELECT _tag, author, data FROM tweet WHERE id = $1", HF_STEP_READ,
    .table = "tweet", .keys = {1}};
static const hf_step tweets_of = {
    "SELECT _tag, id, data FROM tweet WHERE author = $1 ORDER BY id DESC LIMIT "
    "10",
    HF_STEP_SCAN, .table = "tweet", .keys = {1}};
static const hf_step join_timeline = {
    "SELECT f.dst, t.id, t.data FROM following f JOIN ltweet l ON l.user_id = "
    "f.dst JOIN tweet t ON t.id = l.tweet_id WHERE f.src = $1 AND f.follow = 1 "
    "ORDER BY f.dst LIMIT 20",
    HF_STEP_OTHER, .table = "following"};

static const hf_step all_tweets = {
    "SELECT _tag, id, author FROM tweet ORDER BY id", HF_STEP_SCAN,
    .table = "tweet", .keys = {1}};
static const hf_step all_last = {
    "SELECT _tag, user_id, tweet_id FROM ltweet ORDER BY user_id", HF_STEP_SCAN,
    .table = "ltweet", .keys = {1}};
static const hf_step all_following = {
    "SELECT _tag, src, dst, follow FROM following ORDER BY src, dst",
    HF_STEP_SCAN, .table = "following", .keys = {2}};
/* In the order of the other one, which is not that of its key. */
static const hf_step all_followers = {
    "SELECT _tag, src, dst, follow FROM followers ORDER BY src, dst",
    HF_STEP_OTHER, .table = "followers"};
static const hf_step all_lists = {
    "SELECT _tag, src, bitmap FROM followlist ORDER BY src", HF_STEP_SCAN,
    .table = "followlist", .keys = {1}};

/* ---- bit maps ------------------------------------------------------------ */

static unsigned digit_of(char c)
{
    return c >= 'a' ? (unsigned)(c - 'a') + 10 : (unsigned)(c - '0');
}

static bool map_has(const char *map, int64_t user)
{
    return digit_of(map[user / 4]) >> (user % 4) & 1;
}

static void map_set(char *map, int64_t user, bool set)
{
    unsigned bit = 1u << (user % 4), digit = digit_of(map[user / 4]);

    map[user / 4] = "0123456789abcdef"[set ? digit | bit : digit & ~bit];
}

static void map_clear(char *map, int64_t users)
{
    size_t n = (size_t)(users + 3) / 4;

    memset(map, '0', n);
    map[n] = '\0';
}

/* ---- loading ------------------------------------------------------------- */

static hf_status load_user(hf_play *p, int64_t u, int64_t users, hf_error *err)
{
    char map[MAP_SIZE + 1], text[201], name[11];
    hf_sql_value id = hf_i(u), zero = hf_i(0);
    hf_status st;

    st = HF_LOAD(p, "users", err, id, hf_t(hf_letters(name, 10, (uint64_t)u)),
                 hf_t(hf_letters(text, 200, (uint64_t)u)), hf_tag());
    for (int64_t i = 0; i < TWEETS && st == HF_OK; i++)
        st = HF_LOAD(p, "tweet", err, hf_i(u * TWEETS + i), id,
                     hf_t(hf_letters(text, 100, (uint64_t)(u * TWEETS + i))),
                     hf_tag());
    if (st == HF_OK)
        st = HF_LOAD(p, "ltweet", err, id, hf_i(u * TWEETS + TWEETS - 1),
                     hf_tag());
    if (st == HF_OK)
        st = HF_LOAD(p, "following", err, id, id, zero, hf_i(1), hf_tag());
    if (st == HF_OK)
        st = HF_LOAD(p, "followers", err, id, id, zero, hf_i(1), hf_tag());
    map_clear(map, users);
    map_set(map, u, true);
    if (st == HF_OK)
        st = HF_LOAD(p, "followlist", err, id, hf_t(map), hf_tag());
    return st;
}

static hf_status load(hf_play *p, hf_error *err)
{
    twitter_state *state = hf_play_state(p);
    int64_t users = hf_option(p, "users");
    hf_status st = HF_OK;

    hf_zipf_init(&state->actors, users, hf_play_option(p, "theta"));
    hf_zipf_init(&state->targets, users, hf_play_option(p, "target-theta"));
    hf_count_add(&state->tweets, users * TWEETS, true);
    for (int64_t u = 0; u < users && st == HF_OK; u++)
        st = load_user(p, u, users, err);
    return st;
}

/* ---- transactions -------------------------------------------------------- */

/* numbers: user, then tweet, or whom to follow and whether */
static void draw(hf_play *p, hf_client *c, hf_drawn *ret)
{
    twitter_state *state = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);
    int64_t *x = ret->numbers;

    x[0] = hf_zipf_draw(&state->actors, r);
    ret->n = 1;
    if (ret->type == NEW_TWEET) {
        x[1] = hf_option(p, "users") * TWEETS + hf_client_fresh(c);
        ret->n = 2;
    } else if (ret->type == FOLLOW) {
        x[1] = hf_zipf_draw(&state->targets, r);
        x[2] = hf_coin(r, 50);
        ret->n = 3;
    }
}

static void new_tweet(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const int64_t *x = d->numbers;
    char text[121];

    (void)p;
    if (HF_STEP(c, insert_tweet, NULL, hf_i(x[1]), hf_i(x[0]),
                hf_t(hf_letters(text, 120, (uint64_t)x[1])), hf_tag()))
        (void)HF_STEP(c, set_last, NULL, hf_i(x[0]), hf_i(x[1]), hf_tag());
}

/* The bit map of a user; false: over. */
static bool list_of(hf_play *p, hf_client *c, int64_t user, char *map)
{
    size_t n = (size_t)(hf_option(p, "users") + 3) / 4;
    const hf_sql_result *rows;

    if (!hf_found(c, HF_STEP(c, read_list, &rows, hf_i(user)), &rows))
        return false;
    hf_cell_text(rows, 0, 1, map, MAP_SIZE);
    if (strlen(map) != n) {
        hf_play_breach(p, "TW1",
                       "bit map of user %lld: expected %zu digits, "
                       "found %zu",
                       (long long)user, n, strlen(map));
        map_clear(map, hf_option(p, "users"));
    }
    return true;
}

static void follow(hf_play *p, hf_client *c, const hf_drawn *d)
{
    hf_sql_value u = hf_i(d->numbers[0]), v = hf_i(d->numbers[1]);
    hf_sql_value now = hf_i((int64_t)hf_client_clock(c));
    hf_sql_value flag = hf_i(d->numbers[2]);
    char map[MAP_SIZE];

    if (!HF_STEP(c, put_follower, NULL, v, u, now, flag, hf_tag()) ||
        !HF_STEP(c, put_following, NULL, u, v, now, flag, hf_tag()) ||
        !list_of(p, c, d->numbers[0], map))
        return;
    map_set(map, d->numbers[1], d->numbers[2]);
    (void)HF_STEP(c, set_list, NULL, u, hf_t(map), hf_tag());
}

static void timeline(hf_play *p, hf_client *c, const hf_drawn *d)
{
    int64_t users = hf_option(p, "users");
    const hf_sql_result *rows;
    char map[MAP_SIZE];
    unsigned n = 0;

    if (hf_play_option(p, "joins") != 0) {
        (void)HF_STEP(c, join_timeline, NULL, hf_i(d->numbers[0]));
        return;
    }
    if (!list_of(p, c, d->numbers[0], map))
        return;
    for (int64_t v = 0; v < users && n < 20; v++) {
        if (!map_has(map, v))
            continue;
        n++;
        if (!hf_found(c, HF_STEP(c, read_last, &rows, hf_i(v)), &rows) ||
            !HF_STEP(c, read_tweet, NULL, hf_i(hf_cell(rows, 0, 1))))
            return;
    }
}

static void show_follow(hf_play *p, hf_client *c, const hf_drawn *d)
{
    char map[MAP_SIZE];

    (void)list_of(p, c, d->numbers[0], map);
}

static void show_tweets(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const hf_sql_result *rows;
    int64_t last;

    if (hf_play_option(p, "joins") != 0) {
        (void)HF_STEP(c, tweets_of, NULL, hf_i(d->numbers[0]));
        return;
    }
    if (!hf_found(c, HF_STEP(c, read_last, &rows, hf_i(d->numbers[0])), &rows))
        return;
    last = hf_cell(rows, 0, 1);
    for (int64_t t = last - 10; t <= last; t++)
        if (!HF_STEP(c, read_tweet, NULL, hf_i(t)))
            return;
}

/* ---- invariants ---------------------------------------------------------- */

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    twitter_state *state = hf_play_state(p);

    (void)c;
    if (d->type == NEW_TWEET)
        hf_count_add(&state->tweets, 1, known);
}

static void check_last(hf_play *p, const hf_grid *tweets, const hf_grid *last)
{
    for (uint64_t i = 0; i < last->n; i++) {
        const int64_t *l = hf_grid_row(last, i);
        const int64_t *tweet = hf_grid_find(tweets, l + 2, 1);

        if (!tweet || tweet[2] != l[1])
            hf_play_breach(p, "TW2",
                           "author of tweet %lld, the last of user %lld: "
                           "expected %lld, found %lld",
                           (long long)l[2], (long long)l[1], (long long)l[1],
                           tweet ? (long long)tweet[2] : -1);
    }
}

static void differ(hf_play *p, const int64_t *pair, const char *where,
                   long long expected, long long found)
{
    if (expected != found)
        hf_play_breach(p, "TW1",
                       "%lld follows %lld in %s: expected %lld as in "
                       "following, found %lld",
                       (long long)pair[0], (long long)pair[1], where, expected,
                       found);
}

/* The rows are those of the last step: nothing is run meanwhile. */
static void check_list(hf_play *p, const hf_sql_result *rows, uint64_t i,
                       const hf_grid *following)
{
    int64_t users = hf_option(p, "users"), user = hf_cell(rows, i, 1);
    uint64_t at = hf_grid_lower(following, &user, 1);
    char map[MAP_SIZE];

    hf_cell_text(rows, i, 2, map, sizeof(map));
    if ((int64_t)strlen(map) != (users + 3) / 4) {
        hf_play_breach(
            p, "TW1", "bit map of user %lld: expected %lld digits, found %zu",
            (long long)user, (long long)(users + 3) / 4, strlen(map));
        return;
    }
    for (int64_t v = 0; v < users; v++) {
        const int64_t pair[2] = {user, v};
        const int64_t *row =
            at < following->n ? hf_grid_row(following, at) : NULL;
        bool is = false;

        if (row && row[1] == user && row[2] == v) {
            is = row[3] != 0;
            at++;
        }
        differ(p, pair, "followlist", is, map_has(map, v));
    }
}

static void check_pairs(hf_play *p, hf_client *c, const hf_grid *following,
                        const hf_grid *followers)
{
    const hf_sql_result *rows;

    for (uint64_t i = 0; i < following->n; i++) {
        const int64_t *f = hf_grid_row(following, i);
        const int64_t *other = hf_grid_find(followers, f + 1, 2);

        differ(p, f + 1, "followers", f[3], other ? other[3] : -1);
    }
    if (following->n != followers->n)
        hf_play_breach(p, "TW1", "rows of followers: expected %llu, found %llu",
                       (unsigned long long)following->n,
                       (unsigned long long)followers->n);
    if (!hf_client_step(c, &all_lists, NULL, 0, &rows))
        return;
    for (uint64_t i = 0; i < rows->n_rows; i++)
        check_list(p, rows, i, following);
}

static void check(hf_play *p, hf_client *c)
{
    twitter_state *state = hf_play_state(p);
    hf_grid tweets = {0}, last = {0}, following = {0}, followers = {0};

    if (hf_grid_read(c, &all_tweets, &tweets) &&
        hf_grid_read(c, &all_last, &last) &&
        hf_grid_read(c, &all_following, &following) &&
        hf_grid_read(c, &all_followers, &followers)) {
        hf_count_expect(p, "TW3", &state->tweets, 0, (int64_t)tweets.n,
                        "tweets");
        check_last(p, &tweets, &last);
        check_pairs(p, c, &following, &followers);
    }
    hf_grid_release(&tweets);
    hf_grid_release(&last);
    hf_grid_release(&following);
    hf_grid_release(&followers);
}

static const hf_workload_type types[] = {
    {"new-tweet", 20, false, draw, new_tweet},
    {"follow", 40, false, draw, follow},
    {"timeline", 10, true, draw, timeline},
    {"show-follow", 10, true, draw, show_follow},
    {"show-tweets", 20, true, draw, show_tweets},
};

const hf_workload hf_workload_twitter = {
    .name = "twitter",
    .summary = "Twitter (Cobra): tweets, and followers kept in three places",
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
