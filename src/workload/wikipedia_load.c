/* wikipedia_load.c: the tables of Wikipedia, their rows, and its invariants
 * (WORKLOADS.md 12).
 *
 * The table text is called page_text here, since text is the name of a type.
 * Columns that no transaction uses are left out.  Loaded revisions and texts
 * have negative numbers; 0 is no parent.
 */
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "workload/wikipedia.h"

const char *const hf_wikipedia_tables[] = {
    "CREATE TABLE useracct (user_id BIGINT PRIMARY KEY, user_name VARCHAR(40) "
    "NOT NULL UNIQUE, user_touched BIGINT NOT NULL, user_editcount BIGINT NOT "
    "NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE user_groups (ug_user BIGINT NOT NULL, ug_group VARCHAR(16) "
    "NOT NULL, _tag BIGINT NOT NULL, PRIMARY KEY (ug_user, ug_group))",
    "CREATE TABLE ipblocks (ipb_id BIGINT PRIMARY KEY, ipb_address VARCHAR(20) "
    "NOT NULL, ipb_user BIGINT NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE INDEX ipblocks_user ON ipblocks (ipb_user)",
    "CREATE INDEX ipblocks_address ON ipblocks (ipb_address)",
    "CREATE TABLE page (page_id BIGINT PRIMARY KEY, page_namespace INT NOT "
    "NULL, page_title VARCHAR(40) NOT NULL, page_latest BIGINT NOT NULL, "
    "page_touched BIGINT NOT NULL, page_len BIGINT NOT NULL, page_is_new INT "
    "NOT NULL, page_is_redirect INT NOT NULL, _tag BIGINT NOT NULL, UNIQUE "
    "(page_namespace, page_title))",
    "CREATE TABLE page_restrictions (pr_id BIGINT PRIMARY KEY, pr_page BIGINT "
    "NOT NULL, pr_type VARCHAR(20) NOT NULL, pr_level VARCHAR(20) NOT NULL, "
    "_tag BIGINT NOT NULL, UNIQUE (pr_page, pr_type))",
    "CREATE TABLE revision (rev_id BIGINT PRIMARY KEY, rev_page BIGINT NOT "
    "NULL, rev_text_id BIGINT NOT NULL, rev_comment VARCHAR(40) NOT NULL, "
    "rev_user BIGINT NOT NULL, rev_timestamp BIGINT NOT NULL, rev_minor_edit "
    "INT NOT NULL, rev_len BIGINT NOT NULL, rev_parent_id BIGINT NOT NULL, "
    "_tag BIGINT NOT NULL)",
    "CREATE TABLE page_text (old_id BIGINT PRIMARY KEY, old_text TEXT NOT "
    "NULL, old_page BIGINT NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE recentchanges (rc_id BIGINT PRIMARY KEY, rc_timestamp BIGINT "
    "NOT NULL, rc_user BIGINT NOT NULL, rc_namespace INT NOT NULL, rc_title "
    "VARCHAR(40) NOT NULL, rc_comment VARCHAR(40) NOT NULL, rc_cur_id BIGINT "
    "NOT NULL, rc_this_oldid BIGINT NOT NULL, rc_last_oldid BIGINT NOT NULL, "
    "rc_ip VARCHAR(20) NOT NULL, rc_old_len BIGINT NOT NULL, rc_new_len BIGINT "
    "NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE logging (log_id BIGINT PRIMARY KEY, log_type VARCHAR(20) NOT "
    "NULL, log_action VARCHAR(20) NOT NULL, log_timestamp BIGINT NOT NULL, "
    "log_user BIGINT NOT NULL, log_namespace INT NOT NULL, log_title "
    "VARCHAR(40) NOT NULL, log_page BIGINT NOT NULL, log_comment VARCHAR(40) "
    "NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE watchlist (wl_user BIGINT NOT NULL, wl_namespace INT NOT "
    "NULL, wl_title VARCHAR(40) NOT NULL, wl_notificationtimestamp BIGINT, "
    "_tag BIGINT NOT NULL, PRIMARY KEY (wl_user, wl_namespace, wl_title))",
    "CREATE INDEX watchlist_title ON watchlist (wl_namespace, wl_title)",
    NULL};

/* 41 percent are 0. */
int64_t hf_wikipedia_namespace(int64_t page)
{
    uint64_t x = hf_mix64((uint64_t)page + 12);

    return x % 100 < 41 ? 0 : 1 + (int64_t)(x / 100 % 15);
}

void hf_wikipedia_title(int64_t page, char title[WIKIPEDIA_TITLE])
{
    char word[11];

    hf_letters(word, 10, (uint64_t)page);
    snprintf(title, WIKIPEDIA_TITLE, "%s [%lld]", word, (long long)page);
}

/* ---- loading ------------------------------------------------------------- */

typedef struct loading {
    hf_play *p;
    wikipedia_state *state;
    int64_t users, pages;
    int64_t *edits; /* per user */
    int64_t revisions, restrictions;
    hf_zipf lengths; /* of page histories */
    hf_rng rng;
    hf_error *err;
} loading;

/* One revision; returns through st.  The texts have the same numbers. */
static hf_status load_revision(loading *l, int64_t page, int64_t parent,
                               int64_t *ret_length)
{
    int64_t id = -++l->revisions;
    int64_t user = hf_coin(&l->rng, hf_play_option(l->p, "anonymous"))
                       ? 0
                       : hf_uniform(&l->rng, 1, l->users);
    char text[WIKIPEDIA_TEXT + 1];
    hf_status st;

    *ret_length = hf_uniform(&l->rng, 20, WIKIPEDIA_TEXT);
    l->edits[user]++;
    hf_letters(text, (size_t)*ret_length, hf_rng_next(&l->rng));
    st = HF_LOAD(l->p, "page_text", l->err, hf_i(id), hf_t(text), hf_i(page),
                 hf_tag());
    if (st != HF_OK)
        return st;
    return HF_LOAD(l->p, "revision", l->err, hf_i(id), hf_i(page), hf_i(id),
                   hf_t("loaded"), hf_i(user), hf_i(0), hf_i(0),
                   hf_i(*ret_length), hf_i(parent), hf_tag());
}

static hf_status load_page(loading *l, int64_t page)
{
    int64_t n = 1 + hf_zipf_draw(&l->lengths, &l->rng);
    int64_t parent = 0, length = 0;
    char title[WIKIPEDIA_TITLE];
    hf_status st = HF_OK;

    hf_wikipedia_title(page, title);
    for (int64_t i = 0; i < n && st == HF_OK; i++) {
        st = load_revision(l, page, parent, &length);
        parent = -l->revisions;
    }
    if (st == HF_OK)
        st = HF_LOAD(l->p, "page", l->err, hf_i(page),
                     hf_i(hf_wikipedia_namespace(page)), hf_t(title),
                     hf_i(parent), hf_i(0), hf_i(length), hf_i(n == 1), hf_i(0),
                     hf_tag());
    if (st == HF_OK && hf_coin(&l->rng, 10))
        st = HF_LOAD(l->p, "page_restrictions", l->err, hf_i(++l->restrictions),
                     hf_i(page), hf_t("edit"), hf_t("sysop"), hf_tag());
    return st;
}

static hf_status load_watch(loading *l, int64_t user, int64_t page)
{
    int64_t space = hf_wikipedia_namespace(page);
    char title[WIKIPEDIA_TITLE];
    hf_status st;

    hf_wikipedia_title(page, title);
    st = HF_LOAD(l->p, "watchlist", l->err, hf_i(user), hf_i(space),
                 hf_t(title), hf_sql_null(), hf_tag());
    if (st == HF_OK && space == 0)
        st = HF_LOAD(l->p, "watchlist", l->err, hf_i(user), hf_i(1),
                     hf_t(title), hf_sql_null(), hf_tag());
    return st;
}

/* How many pages he watches, and which: popular ones, each once:
 * the next if it has that one. */
static hf_status load_watches(loading *l, int64_t user, const hf_zipf *numbers)
{
    int64_t n = hf_zipf_draw(numbers, &l->rng);
    bool *seen = HF_NEW_ZEROED(bool, (size_t)l->pages + 1);
    hf_status st = HF_OK;

    if (n > l->pages / 2)
        n = l->pages / 2;
    while (n > 0 && st == HF_OK) {
        int64_t page = 1 + hf_zipf_draw(&l->state->pages, &l->rng);

        while (seen[page])
            page = page % l->pages + 1;
        seen[page] = true;
        st = load_watch(l, user, page);
        n--;
    }
    hf_free(seen);
    return st;
}

static hf_status load_user(loading *l, int64_t user, const hf_zipf *numbers)
{
    char name[40], address[20];
    hf_status st;

    snprintf(name, sizeof(name), "user%lld", (long long)user);
    st = HF_LOAD(l->p, "useracct", l->err, hf_i(user), hf_t(name), hf_i(0),
                 hf_i(l->edits[user]), hf_tag());
    if (st == HF_OK && user > 0 && hf_coin(&l->rng, 20))
        st = HF_LOAD(l->p, "user_groups", l->err, hf_i(user), hf_t("sysop"),
                     hf_tag());
    if (st == HF_OK && user > 0 && hf_coin(&l->rng, 5)) {
        snprintf(address, sizeof(address), "10.0.0.%d", (int)(user % 256));
        st = HF_LOAD(l->p, "ipblocks", l->err, hf_i(user), hf_t(address),
                     hf_i(user), hf_tag());
    }
    return st == HF_OK && user > 0 ? load_watches(l, user, numbers) : st;
}

hf_status hf_wikipedia_load(hf_play *p, hf_error *err)
{
    loading l = {.p = p,
                 .state = hf_play_state(p),
                 .users = hf_option(p, "users"),
                 .pages = hf_option(p, "pages"),
                 .err = err};
    hf_status st = HF_OK;
    hf_zipf numbers;

    hf_rng_seed(&l.rng, 12);
    hf_zipf_init(&l.state->pages, l.pages, hf_play_option(p, "theta"));
    /* 39 percent have one revision */
    hf_zipf_init(&l.lengths, hf_option(p, "revisions"), 1.4);
    hf_zipf_init(&numbers, 1001, 1.75);
    l.edits = HF_NEW_ZEROED(int64_t, (size_t)l.users + 1);
    for (int64_t i = 1; i <= l.pages && st == HF_OK; i++)
        st = load_page(&l, i);
    for (int64_t i = 0; i <= l.users && st == HF_OK; i++)
        st = load_user(&l, i, &numbers);
    hf_free(l.edits);
    return st;
}

/* ---- invariants ---------------------------------------------------------- */

static const hf_step all_users = {
    "SELECT _tag, user_id, user_editcount FROM useracct ORDER BY user_id",
    HF_STEP_SCAN, .table = "useracct", .keys = {1}};
/* Sorted by what is counted, not by their keys. */
static const hf_step loaded_by = {
    "SELECT _tag, rev_user FROM revision WHERE rev_id < 0 ORDER BY rev_user",
    HF_STEP_OTHER, .table = "revision"};
static const hf_step changes_by = {
    "SELECT _tag, rc_user FROM recentchanges ORDER BY rc_user", HF_STEP_OTHER,
    .table = "recentchanges"};
static const hf_step logged_by = {
    "SELECT _tag, log_user FROM logging ORDER BY log_user", HF_STEP_OTHER,
    .table = "logging"};
static const hf_step all_revisions = {
    "SELECT _tag, rev_page, rev_parent_id, rev_id, rev_text_id FROM revision "
    "ORDER BY rev_page, rev_parent_id, rev_id",
    HF_STEP_OTHER, .table = "revision"};
static const hf_step all_pages = {
    "SELECT _tag, page_id, page_latest FROM page ORDER BY page_id",
    HF_STEP_SCAN, .table = "page", .keys = {1}};
static const hf_step all_texts = {
    "SELECT _tag, old_id FROM page_text ORDER BY old_id", HF_STEP_SCAN,
    .table = "page_text", .keys = {1}};

typedef struct book {
    hf_grid users, loaded, changes, logged, revisions, pages, texts;
} book;

static void expect(hf_play *p, const char *name, int64_t user, const char *what,
                   int64_t expected, int64_t found)
{
    if (expected != found)
        hf_play_breach(p, name, "%s of user %lld: expected %lld, found %lld",
                       what, (long long)user, (long long)expected,
                       (long long)found);
}

static void check_users(hf_play *p, const book *b)
{
    for (uint64_t i = 0; i < b->users.n; i++) {
        const int64_t *u = hf_grid_row(&b->users, i);
        int64_t loaded = (int64_t)hf_grid_count(&b->loaded, u + 1, 1);
        int64_t changes = (int64_t)hf_grid_count(&b->changes, u + 1, 1);
        int64_t logged = (int64_t)hf_grid_count(&b->logged, u + 1, 1);

        expect(p, "WP1", u[1], "user_editcount against rows of recentchanges",
               loaded + changes, u[2]);
        expect(p, "WP2", u[1], "user_editcount against rows of logging",
               loaded + logged, u[2]);
        expect(p, "WP3", u[1], "rows of logging against rows of recentchanges",
               changes, logged);
    }
}

/* A revision's parent is nobody else's, and its text is there. */
static void check_revisions(hf_play *p, const book *b)
{
    for (uint64_t i = 0; i < b->revisions.n; i++) {
        const int64_t *r = hf_grid_row(&b->revisions, i);
        const int64_t *next =
            i + 1 < b->revisions.n ? hf_grid_row(&b->revisions, i + 1) : NULL;

        if (next && next[1] == r[1] && next[2] == r[2])
            hf_play_breach(p, "WP4",
                           "revisions of page %lld with parent %lld: expected "
                           "1, found %lld and %lld",
                           (long long)r[1], (long long)r[2], (long long)r[3],
                           (long long)next[3]);
        if (!hf_grid_find(&b->texts, r + 4, 1))
            hf_play_breach(p, "WP5",
                           "text %lld of revision %lld: expected 1, found 0",
                           (long long)r[4], (long long)r[3]);
    }
}

static void check_pages(hf_play *p, const book *b)
{
    for (uint64_t i = 0; i < b->pages.n; i++) {
        const int64_t *page = hf_grid_row(&b->pages, i);
        int64_t key[2] = {page[1], page[2]};
        uint64_t k = hf_grid_lower(&b->revisions, page + 1, 1);
        bool there = false;

        for (; k < b->revisions.n; k++) {
            const int64_t *r = hf_grid_row(&b->revisions, k);

            if (r[1] != page[1])
                break;
            there |= r[3] == page[2];
        }
        if (!there || hf_grid_find(&b->revisions, key, 2))
            hf_play_breach(p, "WP4",
                           "page_latest of page %lld: expected the revision "
                           "that is nobody's parent, found %lld",
                           (long long)page[1], (long long)page[2]);
    }
}

void hf_wikipedia_check(hf_play *p, hf_client *c)
{
    wikipedia_state *state = hf_play_state(p);
    book b = {0};

    if (hf_grid_read(c, &all_users, &b.users) &&
        hf_grid_read(c, &loaded_by, &b.loaded) &&
        hf_grid_read(c, &changes_by, &b.changes) &&
        hf_grid_read(c, &logged_by, &b.logged) &&
        hf_grid_read(c, &all_revisions, &b.revisions) &&
        hf_grid_read(c, &all_pages, &b.pages) &&
        hf_grid_read(c, &all_texts, &b.texts)) {
        check_users(p, &b);
        check_revisions(p, &b);
        check_pages(p, &b);
        hf_count_expect(p, "WP6", &state->updates, (int64_t)b.loaded.n,
                        (int64_t)b.revisions.n, "rows of revision");
    }
    hf_grid_release(&b.users);
    hf_grid_release(&b.loaded);
    hf_grid_release(&b.changes);
    hf_grid_release(&b.logged);
    hf_grid_release(&b.revisions);
    hf_grid_release(&b.pages);
    hf_grid_release(&b.texts);
}
