/* rubis.c: RUBiS as CobraBench has it (WORKLOADS.md 11; also Troubadour's): an
 * auction site: users, items, comments, purchases.
 *
 * 100 users and 400 items by default (Troubadour: 1000 and 4000, Cobra: 20000
 * and 80000).  browse=20 is Troubadour's RandomBrowse.  Loaded comments have
 * negative numbers; what an item had at first follows from its number.  The
 * column text is body, since text is the name of a type.
 */
#include <stdio.h>

#include "base/map.h"
#include "workload/steps.h"

enum {
    REGISTER_USER = 0,
    REGISTER_ITEM,
    STORE_BUY_NOW,
    STORE_COMMENT,
    RANDOM_BROWSE
};

#define REGIONS 62
#define ITEMS 4    /* of each user, loaded */
#define COMMENTS 2 /* of each item, loaded */
#define CATEGORIES 20

typedef struct rubis_state {
    hf_count users, items, comments, purchases; /* rows, with loaded ones */
    hf_zipf rated;
    hf_memos notes; /* 0: did what it was to do */
} rubis_state;

static const char *const tables[] = {
    "CREATE TABLE region (id BIGINT PRIMARY KEY, name VARCHAR(20) NOT NULL, "
    "_tag BIGINT NOT NULL)",
    "CREATE TABLE region_by_name (name VARCHAR(20) PRIMARY KEY, region_id "
    "BIGINT NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE users (id BIGINT PRIMARY KEY, firstname VARCHAR(20) NOT "
    "NULL, lastname VARCHAR(20) NOT NULL, nickname VARCHAR(32) NOT NULL, "
    "password VARCHAR(20) NOT NULL, email VARCHAR(60) NOT NULL, balance BIGINT "
    "NOT NULL, creation_date BIGINT NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE user_by_nick (nickname VARCHAR(32) PRIMARY KEY, user_id "
    "BIGINT NOT NULL, password VARCHAR(20) NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE rating (user_id BIGINT PRIMARY KEY, rating INT NOT NULL, "
    "_tag BIGINT NOT NULL)",
    "CREATE TABLE item (id BIGINT PRIMARY KEY, name VARCHAR(20) NOT NULL, "
    "description VARCHAR(100) NOT NULL, initial_price BIGINT NOT NULL, "
    "quantity BIGINT NOT NULL, reserve_price BIGINT NOT NULL, buy_now BIGINT "
    "NOT NULL, nb_of_bids BIGINT NOT NULL, max_bid BIGINT NOT NULL, seller "
    "BIGINT NOT NULL, category BIGINT NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE INDEX item_category ON item (category)",
    "CREATE TABLE comment (id BIGINT PRIMARY KEY, from_id BIGINT NOT NULL, "
    "to_id BIGINT NOT NULL, item_id BIGINT NOT NULL, rating INT NOT NULL, "
    "body VARCHAR(100) NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE buy_now (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, "
    "item_id BIGINT NOT NULL, qty BIGINT NOT NULL, _tag BIGINT NOT NULL)",
    NULL};

static const hf_workload_option options[] = {
    {"users", 100, 3, 1e8, "users, with 4 items each (Troubadour: 1000)"},
    {"theta", 0.99, 0, 10, "Zipf of who is rated"},
    {"browse", 0, 0, 20, "20: RandomBrowse is one query of 20 items"},
};

static const hf_step read_region = {
    "SELECT _tag, region_id FROM region_by_name WHERE name = $1", HF_STEP_READ,
    .table = "region_by_name", .keys = {1}};
static const hf_step read_nick = {
    "SELECT _tag, user_id FROM user_by_nick WHERE nickname = $1", HF_STEP_READ,
    .table = "user_by_nick", .keys = {1}};
static const hf_step read_user = {
    "SELECT _tag, nickname, email, balance FROM users WHERE id = $1",
    HF_STEP_READ, .table = "users", .keys = {1}};
static const hf_step insert_user = {
    "INSERT INTO users (id, firstname, lastname, nickname, password, email, "
    "balance, creation_date, _tag) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    HF_STEP_INSERT, .table = "users", .keys = {1}, .tag = 9};
static const hf_step insert_nick = {
    "INSERT INTO user_by_nick (nickname, user_id, password, _tag) VALUES ($1, "
    "$2, $3, $4)",
    HF_STEP_INSERT, .table = "user_by_nick", .keys = {1}, .tag = 4};
static const hf_step insert_rating = {
    "INSERT INTO rating (user_id, rating, _tag) VALUES ($1, $2, $3)",
    HF_STEP_INSERT, .table = "rating", .keys = {1}, .tag = 3};
static const hf_step insert_item = {
    "INSERT INTO item (id, name, description, initial_price, quantity, "
    "reserve_price, buy_now, nb_of_bids, max_bid, seller, category, _tag) "
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    HF_STEP_INSERT, .table = "item", .keys = {1}, .tag = 12};
static const hf_step read_item = {
    "SELECT _tag, quantity, name, initial_price, buy_now, nb_of_bids, max_bid, "
    "seller, category FROM item WHERE id = $1",
    HF_STEP_READ, .table = "item", .keys = {1}};
static const hf_step set_quantity = {
    "UPDATE item SET quantity = $2, _tag = $3 WHERE id = $1", HF_STEP_UPDATE,
    .table = "item", .keys = {1}, .tag = 3};
static const hf_step insert_buy_now = {
    "INSERT INTO buy_now (id, user_id, item_id, qty, _tag) VALUES ($1, $2, $3, "
    "$4, $5)",
    HF_STEP_INSERT, .table = "buy_now", .keys = {1}, .tag = 5};
static const hf_step insert_comment = {
    "INSERT INTO comment (id, from_id, to_id, item_id, rating, body, _tag) "
    "VALUES ($1, $2, $3, $4, $5, $6, $7)",
    HF_STEP_INSERT, .table = "comment", .keys = {1}, .tag = 7};
static const hf_step set_rating = {
    "UPDATE rating SET rating = $2, _tag = $3 WHERE user_id = $1",
    HF_STEP_UPDATE,
    .table = "rating",
    .keys = {1},
    .tag = 3,
    .blind = true};
static const hf_step read_rating = {
    "SELECT _tag, rating FROM rating WHERE user_id = $1", HF_STEP_READ,
    .table = "rating", .keys = {1}};
static const hf_step items_of_category = {
    "SELECT _tag, id, name, description, initial_price, quantity, "
    "reserve_price, buy_now, nb_of_bids, max_bid, seller FROM item WHERE "
    "category = $1 ORDER BY id LIMIT 20",
    HF_STEP_SCAN, .table = "item", .keys = {1}};

static const hf_step all_users = {"SELECT _tag, id FROM users ORDER BY id",
                                  HF_STEP_SCAN, .table = "users", .keys = {1}};
static const hf_step all_nicks = {
    "SELECT _tag, user_id FROM user_by_nick ORDER BY user_id", HF_STEP_OTHER,
    .table = "user_by_nick"};
static const hf_step all_ratings = {
    "SELECT _tag, user_id, rating FROM rating ORDER BY user_id", HF_STEP_SCAN,
    .table = "rating", .keys = {1}};
static const hf_step all_items = {
    "SELECT _tag, id, quantity FROM item ORDER BY id", HF_STEP_SCAN,
    .table = "item", .keys = {1}};
static const hf_step all_purchases = {
    "SELECT _tag, item_id, qty FROM buy_now ORDER BY item_id", HF_STEP_OTHER,
    .table = "buy_now"};
static const hf_step all_comments = {
    "SELECT _tag, to_id, id, rating FROM comment ORDER BY to_id, id",
    HF_STEP_OTHER, .table = "comment"};

/* ---- rows ---------------------------------------------------------------- */

static int64_t first_quantity(int64_t item)
{
    return 10 + (int64_t)(hf_mix64((uint64_t)item + 11) % 90);
}

static void region_of(int64_t user, char name[20])
{
    snprintf(name, 20, "region%d", (int)(user % REGIONS));
}

static void nick_of(int64_t user, char name[32])
{
    snprintf(name, 32, "user%lld", (long long)user);
}

typedef struct user_row {
    hf_sql_value of[9];
    char first[11], last[11], nick[32], password[11], email[60];
} user_row;

static void make_user(int64_t id, int64_t now, user_row *ret)
{
    uint64_t seed = (uint64_t)id;

    nick_of(id, ret->nick);
    hf_letters(ret->first, 10, 4 * seed);
    hf_letters(ret->last, 10, 4 * seed + 1);
    hf_letters(ret->password, 10, 4 * seed + 2);
    snprintf(ret->email, sizeof(ret->email), "%s@example.org", ret->nick);
    ret->of[0] = hf_i(id);
    ret->of[1] = hf_t(ret->first);
    ret->of[2] = hf_t(ret->last);
    ret->of[3] = hf_t(ret->nick);
    ret->of[4] = hf_t(ret->password);
    ret->of[5] = hf_t(ret->email);
    ret->of[6] = hf_i(0);
    ret->of[7] = hf_i(now);
    ret->of[8] = hf_tag();
}

typedef struct item_row {
    hf_sql_value of[12];
    char name[11], description[51];
} item_row;

static void make_item(int64_t id, int64_t seller, item_row *ret)
{
    uint64_t seed = (uint64_t)id;
    int64_t price = 10 + (int64_t)(hf_mix64(seed + 12) % 10);

    ret->of[0] = hf_i(id);
    ret->of[1] = hf_t(hf_letters(ret->name, 10, 2 * seed));
    ret->of[2] = hf_t(hf_letters(ret->description, 50, 2 * seed + 1));
    ret->of[3] = hf_i(price);
    ret->of[4] = hf_i(first_quantity(id));
    ret->of[5] = hf_i(price + 5);
    ret->of[6] = hf_i(price + 10);
    ret->of[7] = hf_i(0);
    ret->of[8] = hf_i(0);
    ret->of[9] = hf_i(seller);
    ret->of[10] = hf_i((int64_t)(hf_mix64(seed + 13) % CATEGORIES));
    ret->of[11] = hf_tag();
}

/* ---- loading ------------------------------------------------------------- */

static hf_status load_item(hf_play *p, hf_rng *r, int64_t id, hf_error *err)
{
    int64_t users = hf_option(p, "users");
    item_row row;
    hf_status st;
    char text[51];

    make_item(id, id / ITEMS, &row);
    st = hf_play_row(p, "item", row.of, 12, err);
    for (int64_t i = 1; i <= COMMENTS && st == HF_OK; i++) {
        int64_t c = id * COMMENTS + i;

        st = HF_LOAD(p, "comment", err, hf_i(-c),
                     hf_i(hf_uniform(r, 0, users - 1)), hf_i(id / ITEMS),
                     hf_i(id), hf_i(c % 5),
                     hf_t(hf_letters(text, 50, hf_rng_next(r))), hf_tag());
    }
    return st;
}

static hf_status load_user(hf_play *p, int64_t id, hf_error *err)
{
    user_row row;
    hf_status st;

    make_user(id, 0, &row);
    st = hf_play_row(p, "users", row.of, 9, err);
    if (st == HF_OK)
        st = HF_LOAD(p, "user_by_nick", err, hf_t(row.nick), hf_i(id),
                     hf_t(row.password), hf_tag());
    if (st == HF_OK)
        st = HF_LOAD(p, "rating", err, hf_i(id), hf_i(id % 5), hf_tag());
    return st;
}

static hf_status load(hf_play *p, hf_error *err)
{
    rubis_state *state = hf_play_state(p);
    int64_t users = hf_option(p, "users");
    hf_status st = HF_OK;
    char name[20];
    hf_rng r;

    hf_rng_seed(&r, 11);
    hf_zipf_init(&state->rated, users, hf_play_option(p, "theta"));
    hf_count_add(&state->users, users, true);
    hf_count_add(&state->items, users * ITEMS, true);
    hf_count_add(&state->comments, users * ITEMS * COMMENTS, true);
    for (int64_t i = 0; i < REGIONS && st == HF_OK; i++) {
        region_of(i, name);
        st = HF_LOAD(p, "region", err, hf_i(i), hf_t(name), hf_tag());
        if (st == HF_OK)
            st = HF_LOAD(p, "region_by_name", err, hf_t(name), hf_i(i),
                         hf_tag());
    }
    for (int64_t i = 0; i < users && st == HF_OK; i++)
        st = load_user(p, i, err);
    for (int64_t i = 0; i < users * ITEMS && st == HF_OK; i++)
        st = load_item(p, &r, i, err);
    return st;
}

/* ---- parameters ---------------------------------------------------------- */

/* A number for a new row, above all that are loaded. */
static int64_t new_id(hf_play *p, hf_client *c)
{
    return hf_option(p, "users") * ITEMS + hf_client_fresh(c);
}

/* numbers: id, then user or item, and so on as the type says */
static void draw(hf_play *p, hf_client *c, hf_drawn *ret)
{
    rubis_state *state = hf_play_state(p);
    int64_t users = hf_option(p, "users"), *x = ret->numbers;
    hf_rng *r = hf_client_rng(c);

    x[0] = new_id(p, c);
    x[1] = hf_uniform(r, 0, users - 1);
    x[2] = hf_uniform(r, 0, users * ITEMS - 1);
    x[3] = hf_uniform(r, 1, 4);
    x[4] = hf_zipf_draw(&state->rated, r);
    ret->n = 5;
}

static bool is_among(const int64_t *x, unsigned n, int64_t value)
{
    for (unsigned i = 0; i < n; i++)
        if (x[i] == value)
            return true;
    return false;
}

/* numbers: 5 items, 3 users, all different; category */
static void draw_browse(hf_play *p, hf_client *c, hf_drawn *ret)
{
    rubis_state *state = hf_play_state(p);
    int64_t users = hf_option(p, "users"), *x = ret->numbers;
    hf_rng *r = hf_client_rng(c);

    for (unsigned i = 0; i < 5; i++)
        do
            x[i] = hf_uniform(r, 0, users * ITEMS - 1);
        while (is_among(x, i, x[i]));
    for (unsigned i = 0; i < 3; i++) {
        x[5 + i] = hf_zipf_draw(&state->rated, r);
        while (is_among(x + 5, i, x[5 + i]))
            x[5 + i] = (x[5 + i] + 1) % users;
    }
    x[8] = hf_uniform(r, 0, CATEGORIES - 1);
    ret->n = 9;
}

/* ---- transactions -------------------------------------------------------- */

static void register_user(hf_play *p, hf_client *c, const hf_drawn *d)
{
    rubis_state *state = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&state->notes, c), id = d->numbers[0];
    const hf_sql_result *rows;
    char region[20];
    user_row row;

    make_user(id, (int64_t)hf_client_clock(c), &row);
    region_of(id, region);
    if (!HF_STEP(c, read_region, &rows, hf_t(region)) || rows->n_rows == 0 ||
        !HF_STEP(c, read_nick, &rows, hf_t(row.nick)) || rows->n_rows > 0 ||
        !HF_STEP(c, read_user, &rows, hf_i(id)))
        return;
    if (rows->n_rows > 0) {
        hf_client_give_up(c, "user is there already");
        return;
    }
    if (hf_client_step(c, &insert_user, row.of, 9, NULL) &&
        HF_STEP(c, insert_nick, NULL, hf_t(row.nick), hf_i(id),
                hf_t(row.password), hf_tag()))
        notes[0] =
            HF_STEP(c, insert_rating, NULL, hf_i(id), hf_i(id % 5), hf_tag());
}

static void register_item(hf_play *p, hf_client *c, const hf_drawn *d)
{
    rubis_state *state = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&state->notes, c);
    const hf_sql_result *rows;
    item_row row;

    make_item(d->numbers[0], d->numbers[1], &row);
    if (HF_STEP(c, read_user, &rows, hf_i(d->numbers[1])) && rows->n_rows > 0)
        notes[0] = hf_client_step(c, &insert_item, row.of, 12, NULL);
}

static void store_buy_now(hf_play *p, hf_client *c, const hf_drawn *d)
{
    rubis_state *state = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&state->notes, c);
    const int64_t *x = d->numbers;
    const hf_sql_result *rows;

    if (!HF_STEP(c, read_item, &rows, hf_i(x[2])) || rows->n_rows == 0)
        return;
    if (HF_STEP(c, set_quantity, NULL, hf_i(x[2]),
                hf_i(hf_cell(rows, 0, 1) - x[3]), hf_tag()))
        notes[0] = HF_STEP(c, insert_buy_now, NULL, hf_i(x[0]), hf_i(x[1]),
                           hf_i(x[2]), hf_i(x[3]), hf_tag());
}

static void store_comment(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const int64_t *x = d->numbers;
    const hf_sql_result *rows;
    char text[51];

    (void)p;
    if (!HF_STEP(c, insert_comment, NULL, hf_i(x[0]), hf_i(x[1]), hf_i(x[4]),
                 hf_i(x[2]), hf_i(x[0] % 5),
                 hf_t(hf_letters(text, 50, (uint64_t)x[0])), hf_tag()) ||
        !HF_STEP(c, read_user, &rows, hf_i(x[4])) || rows->n_rows == 0)
        return;
    (void)HF_STEP(c, set_rating, NULL, hf_i(x[4]), hf_i(x[0] % 5), hf_tag());
}

static void random_browse(hf_play *p, hf_client *c, const hf_drawn *d)
{
    if (hf_play_option(p, "browse") >= 20) {
        (void)HF_STEP(c, items_of_category, NULL, hf_i(d->numbers[8]));
        return;
    }
    for (unsigned i = 0; i < 5; i++)
        if (!HF_STEP(c, read_item, NULL, hf_i(d->numbers[i])))
            return;
    for (unsigned i = 5; i < 8; i++)
        if (!HF_STEP(c, read_rating, NULL, hf_i(d->numbers[i])))
            return;
}

/* ---- invariants ---------------------------------------------------------- */

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    rubis_state *state = hf_play_state(p);
    int64_t did = hf_memo_of(&state->notes, c)[0];

    if (d->type == REGISTER_USER)
        hf_count_add(&state->users, did, known);
    else if (d->type == REGISTER_ITEM)
        hf_count_add(&state->items, did, known);
    else if (d->type == STORE_BUY_NOW)
        hf_count_add(&state->purchases, did, known);
    else if (d->type == STORE_COMMENT)
        hf_count_add(&state->comments, 1, known);
}

typedef struct book {
    hf_grid users, nicks, ratings, items, purchases, comments;
} book;

static void check_items(hf_play *p, const book *b)
{
    for (uint64_t i = 0; i < b->items.n; i++) {
        const int64_t *item = hf_grid_row(&b->items, i);
        uint64_t k = hf_grid_lower(&b->purchases, item + 1, 1);
        int64_t expected = first_quantity(item[1]);

        for (; k < b->purchases.n; k++) {
            const int64_t *buy = hf_grid_row(&b->purchases, k);

            if (buy[1] != item[1])
                break;
            expected -= buy[2];
        }
        if (expected != item[2])
            hf_play_breach(
                p, "RB1", "quantity of item %lld: expected %lld, found %lld",
                (long long)item[1], (long long)expected, (long long)item[2]);
    }
}

static void same_ids(hf_play *p, const hf_grid *users, const hf_grid *other,
                     const char *what)
{
    for (uint64_t i = 0; i < users->n; i++) {
        const int64_t *user = hf_grid_row(users, i);
        uint64_t n = hf_grid_count(other, user + 1, 1);

        if (n != 1)
            hf_play_breach(p, "RB2",
                           "rows of user %lld in %s: expected 1, found %llu",
                           (long long)user[1], what, (unsigned long long)n);
    }
    if (other->n != users->n)
        hf_play_breach(p, "RB2",
                       "rows of %s: expected %llu as in users, "
                       "found %llu",
                       what, (unsigned long long)users->n,
                       (unsigned long long)other->n);
}

/* His rating is that of a comment of this run, or the first if there is none
 * (loaded comments did not change it). */
static void check_ratings(hf_play *p, const book *b)
{
    for (uint64_t i = 0; i < b->ratings.n; i++) {
        const int64_t *r = hf_grid_row(&b->ratings, i);
        int64_t key[2] = {r[1], 0};
        uint64_t k = hf_grid_lower(&b->comments, key, 2);
        bool any = false, is = false;

        for (; k < b->comments.n; k++) {
            const int64_t *comment = hf_grid_row(&b->comments, k);

            if (comment[1] != r[1])
                break;
            any = true;
            is |= comment[3] == r[2];
        }
        if (!any && r[2] != r[1] % 5)
            hf_play_breach(
                p, "RB3", "rating of user %lld: expected %lld, found %lld",
                (long long)r[1], (long long)(r[1] % 5), (long long)r[2]);
        else if (any && !is)
            hf_play_breach(p, "RB3",
                           "rating of user %lld: expected that of one of his "
                           "comments, found %lld",
                           (long long)r[1], (long long)r[2]);
    }
}

static void check_counts(hf_play *p, const book *b)
{
    rubis_state *state = hf_play_state(p);

    hf_count_expect(p, "RB4", &state->users, 0, (int64_t)b->users.n,
                    "rows of users");
    hf_count_expect(p, "RB4", &state->items, 0, (int64_t)b->items.n,
                    "rows of item");
    hf_count_expect(p, "RB4", &state->comments, 0, (int64_t)b->comments.n,
                    "rows of comment");
    hf_count_expect(p, "RB4", &state->purchases, 0, (int64_t)b->purchases.n,
                    "rows of buy_now");
}

static void check(hf_play *p, hf_client *c)
{
    book b = {0};

    if (hf_grid_read(c, &all_users, &b.users) &&
        hf_grid_read(c, &all_nicks, &b.nicks) &&
        hf_grid_read(c, &all_ratings, &b.ratings) &&
        hf_grid_read(c, &all_items, &b.items) &&
        hf_grid_read(c, &all_purchases, &b.purchases) &&
        hf_grid_read(c, &all_comments, &b.comments)) {
        check_items(p, &b);
        same_ids(p, &b.users, &b.nicks, "user_by_nick");
        same_ids(p, &b.users, &b.ratings, "rating");
        check_ratings(p, &b);
        if (hf_memo_exact(c))
            check_counts(p, &b);
    }
    hf_grid_release(&b.users);
    hf_grid_release(&b.nicks);
    hf_grid_release(&b.ratings);
    hf_grid_release(&b.items);
    hf_grid_release(&b.purchases);
    hf_grid_release(&b.comments);
}

static const hf_workload_type types[] = {
    {"register-user", 10, false, draw, register_user},
    {"register-item", 15, false, draw, register_item},
    {"store-buy-now", 15, false, draw, store_buy_now},
    {"store-comment", 20, false, draw, store_comment},
    {"random-browse", 40, true, draw_browse, random_browse},
};

const hf_workload hf_workload_rubis = {
    .name = "rubis",
    .summary = "RUBiS (Cobra): an auction site, purchases lose updates",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .types = types,
    .n_types = sizeof(types) / sizeof(types[0]),
    .tables = tables,
    .load = load,
    .check = check,
    .done = done,
    .state_size = sizeof(rubis_state),
};
