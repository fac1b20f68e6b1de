/* wikipedia.c: Wikipedia (WORKLOADS.md 12): pages, revisions, watch lists.
 *
 * 100 users and 50 pages by default (OLTP-Bench: 2000 and 1000 per scale
 * factor); MonkeyDB's is --set users=2 --set pages=2 --set revisions=1.
 * UpdatePage is one transaction, as in BenchBase.  Instead of the join of page
 * and revision the page is read, then its latest revision: both are recorded.
 * split-updates=1 turns user_editcount + 1 into a read and a write.
 */
#include "workload/wikipedia.h"

#include <stdio.h>

enum {
    ADD_WATCH_LIST = 0,
    REMOVE_WATCH_LIST,
    GET_PAGE_ANONYMOUS,
    GET_PAGE_AUTHENTICATED,
    UPDATE_PAGE
};

static const hf_workload_option options[] = {
    {"users", 100, 1, 1e8, "users (OLTP-Bench: 2000)"},
    {"pages", 50, 1, 1e8, "pages (OLTP-Bench: 1000)"},
    {"revisions", 50, 1, 1e6, "most revisions of a page at first"},
    {"theta", 1.0001, 0, 10, "Zipf of pages"},
    {"anonymous", 26, 0, 100, "percent of updates by nobody we know"},
    {"split-updates", 0, 0, 1, "additions as a read and a write"},
};

#define WATCH_KEY " WHERE wl_user = $1 AND wl_namespace = $2 AND wl_title = $3"

static const hf_step insert_watch = {
    "INSERT INTO watchlist (wl_user, wl_namespace, wl_title, "
    "wl_notificationtimestamp, _tag) VALUES ($1, $2, $3, NULL, $4)",
    HF_STEP_INSERT, .table = "watchlist", .keys = {1, 2, 3}, .tag = 4};
static const hf_step delete_watch = {"DELETE FROM watchlist" WATCH_KEY,
                                     HF_STEP_DELETE, .table = "watchlist",
                                     .keys = {1, 2, 3}};
static const hf_step touch_user = {
    "UPDATE useracct SET user_touched = $2, _tag = $3 WHERE user_id = $1",
    HF_STEP_UPDATE, .table = "useracct", .keys = {1}, .tag = 3};
static const hf_step page_by_title = {
    "SELECT _tag, page_id, page_latest, page_touched, page_len FROM page WHERE "
    "page_namespace = $1 AND page_title = $2",
    HF_STEP_SCAN, .table = "page", .keys = {1}};
static const hf_step restrictions_of = {
    "SELECT _tag, pr_id, pr_type, pr_level FROM page_restrictions WHERE "
    "pr_page = $1",
    HF_STEP_SCAN, .table = "page_restrictions", .keys = {1}};
static const hf_step blocks_by_address = {
    "SELECT _tag, ipb_id FROM ipblocks WHERE ipb_address = $1", HF_STEP_SCAN,
    .table = "ipblocks", .keys = {1}};
static const hf_step blocks_by_user = {
    "SELECT _tag, ipb_id FROM ipblocks WHERE ipb_user = $1", HF_STEP_SCAN,
    .table = "ipblocks", .keys = {1}};
static const hf_step read_latest = {
    "SELECT _tag, page_latest FROM page WHERE page_id = $1", HF_STEP_READ,
    .table = "page", .keys = {1}};
static const hf_step read_revision = {
    "SELECT _tag, rev_text_id, rev_page, rev_len FROM revision WHERE rev_id = "
    "$1",
    HF_STEP_READ, .table = "revision", .keys = {1}};
static const hf_step read_text = {
    "SELECT _tag, old_text FROM page_text WHERE old_id = $1", HF_STEP_READ,
    .table = "page_text", .keys = {1}};
static const hf_step read_user = {
    "SELECT _tag, user_name, user_touched, user_editcount FROM useracct WHERE "
    "user_id = $1",
    HF_STEP_READ, .table = "useracct", .keys = {1}};
static const hf_step groups_of = {
    "SELECT _tag, ug_user, ug_group FROM user_groups WHERE ug_user = $1",
    HF_STEP_SCAN, .table = "user_groups", .keys = {2}};

static const hf_step insert_text = {
    "INSERT INTO page_text (old_id, old_text, old_page, _tag) VALUES ($1, $2, "
    "$3, $4)",
    HF_STEP_INSERT, .table = "page_text", .keys = {1}, .tag = 4};
static const hf_step insert_revision = {
    "INSERT INTO revision (rev_id, rev_page, rev_text_id, rev_comment, "
    "rev_user, rev_timestamp, rev_minor_edit, rev_len, rev_parent_id, _tag) "
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    HF_STEP_INSERT, .table = "revision", .keys = {1}, .tag = 10};
static const hf_step set_page = {
    "UPDATE page SET page_latest = $2, page_touched = $3, page_is_new = 0, "
    "page_is_redirect = 0, page_len = $4, _tag = $5 WHERE page_id = $1",
    HF_STEP_UPDATE, .table = "page", .keys = {1}, .tag = 5};
static const hf_step insert_change = {
    "INSERT INTO recentchanges (rc_id, rc_timestamp, rc_user, rc_namespace, "
    "rc_title, rc_comment, rc_cur_id, rc_this_oldid, rc_last_oldid, rc_ip, "
    "rc_old_len, rc_new_len, _tag) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, "
    "$10, $11, $12, $13)",
    HF_STEP_INSERT, .table = "recentchanges", .keys = {1}, .tag = 13};
static const hf_step watchers_of = {
    "SELECT _tag, wl_user, wl_namespace, wl_title FROM watchlist WHERE "
    "wl_namespace = $1 AND wl_title = $2 AND wl_user <> $3 AND "
    "wl_notificationtimestamp IS NULL",
    HF_STEP_SCAN, .table = "watchlist", .keys = {3}};
static const hf_step notify = {
    "UPDATE watchlist SET wl_notificationtimestamp = $4, _tag = $5" WATCH_KEY,
    HF_STEP_UPDATE,
    .table = "watchlist",
    .keys = {1, 2, 3},
    .tag = 5,
    .blind = true};
static const hf_step insert_log = {
    "INSERT INTO logging (log_id, log_type, log_action, log_timestamp, "
    "log_user, log_namespace, log_title, log_page, log_comment, _tag) VALUES "
    "($1, 'patrol', 'patrol', $2, $3, $4, $5, $6, $7, $8)",
    HF_STEP_INSERT, .table = "logging", .keys = {1}, .tag = 8};
static const hf_step add_edit = {
    "UPDATE useracct SET user_editcount = user_editcount + 1, _tag = $2 WHERE "
    "user_id = $1",
    HF_STEP_UPDATE, .table = "useracct", .keys = {1}, .tag = 2};
static const hf_step set_edits = {
    "UPDATE useracct SET user_editcount = $2, _tag = $3 WHERE user_id = $1",
    HF_STEP_UPDATE, .table = "useracct", .keys = {1}, .tag = 3};

/* ---- parameters ---------------------------------------------------------- */

/* numbers: user, page, a random number, minor?, new ids */
enum { USER = 0, PAGE, RANDOM, MINOR, NEW_ID };

static void draw(hf_play *p, hf_client *c, hf_drawn *ret)
{
    wikipedia_state *state = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);
    int64_t *x = ret->numbers;

    x[USER] = hf_uniform(r, 1, hf_option(p, "users"));
    if (ret->type == UPDATE_PAGE && hf_coin(r, hf_play_option(p, "anonymous")))
        x[USER] = 0;
    x[PAGE] = 1 + hf_zipf_draw(&state->pages, r);
    x[RANDOM] = (int64_t)(hf_rng_next(r) >> 2);
    x[MINOR] = hf_coin(r, 50);
    ret->n = 4;
    for (unsigned i = 0; ret->type == UPDATE_PAGE && i < 4; i++)
        x[ret->n++] = hf_client_fresh(c);
}

/* What the transactions know of the page they look at. */
typedef struct view {
    hf_sql_value space, title;
    char words[WIKIPEDIA_TITLE], address[20];
    int64_t page, revision, text, length;
    char old[WIKIPEDIA_TEXT + 1];
} view;

static void begin(const hf_drawn *d, view *ret)
{
    hf_wikipedia_title(d->numbers[PAGE], ret->words);
    ret->title = hf_t(ret->words);
    ret->space = hf_i(hf_wikipedia_namespace(d->numbers[PAGE]));
    snprintf(ret->address, sizeof(ret->address), "10.0.0.%d",
             (int)(d->numbers[RANDOM] % 256));
}

static hf_sql_value now(const hf_client *c)
{
    return hf_i((int64_t)hf_client_clock(c));
}

/* ---- watching ------------------------------------------------------------ */

static void change_watch(hf_client *c, const hf_drawn *d, bool add)
{
    hf_sql_value user = hf_i(d->numbers[USER]);
    view v;

    begin(d, &v);
    for (int64_t space = v.space.integer;; space = 1) {
        bool went =
            add ? HF_STEP(c, insert_watch, NULL, user, hf_i(space), v.title,
                          hf_tag())
                : HF_STEP(c, delete_watch, NULL, user, hf_i(space), v.title);

        if (!went)
            return;
        if (space != 0)
            break;
    }
    (void)HF_STEP(c, touch_user, NULL, user, now(c), hf_tag());
}

static void add_watch_list(hf_play *p, hf_client *c, const hf_drawn *d)
{
    (void)p;
    change_watch(c, d, true);
}

static void remove_watch_list(hf_play *p, hf_client *c, const hf_drawn *d)
{
    (void)p;
    change_watch(c, d, false);
}

/* ---- reading ------------------------------------------------------------- */

/* The latest text of the page; false: over. */
static bool get_page(hf_client *c, const hf_drawn *d, bool known, view *v)
{
    const hf_sql_result *rows;
    bool went;

    begin(d, v);
    if (!hf_found(c, HF_STEP(c, page_by_title, &rows, v->space, v->title),
                  &rows))
        return false;
    v->page = hf_cell(rows, 0, 1);
    if (!HF_STEP(c, restrictions_of, NULL, hf_i(v->page)))
        return false;
    went = known ? HF_STEP(c, blocks_by_user, NULL, hf_i(d->numbers[USER]))
                 : HF_STEP(c, blocks_by_address, NULL, hf_t(v->address));
    if (!went ||
        !hf_found(c, HF_STEP(c, read_latest, &rows, hf_i(v->page)), &rows))
        return false;
    v->revision = hf_cell(rows, 0, 1);
    if (!hf_found(c, HF_STEP(c, read_revision, &rows, hf_i(v->revision)),
                  &rows))
        return false;
    v->text = hf_cell(rows, 0, 1);
    v->length = hf_cell(rows, 0, 3);
    if (!hf_found(c, HF_STEP(c, read_text, &rows, hf_i(v->text)), &rows))
        return false;
    hf_cell_text(rows, 0, 1, v->old, sizeof(v->old));
    return true;
}

static void get_page_anonymous(hf_play *p, hf_client *c, const hf_drawn *d)
{
    view v;

    (void)p;
    (void)get_page(c, d, false, &v);
}

static void get_page_authenticated(hf_play *p, hf_client *c, const hf_drawn *d)
{
    hf_sql_value user = hf_i(d->numbers[USER]);
    const hf_sql_result *rows;
    view v;

    (void)p;
    if (hf_found(c, HF_STEP(c, read_user, &rows, user), &rows) &&
        HF_STEP(c, groups_of, NULL, user))
        (void)get_page(c, d, true, &v);
}

/* ---- writing ------------------------------------------------------------- */

/* Some letters changed, and a few more or less at the end. */
static void edit(const view *v, uint64_t seed, char text[WIKIPEDIA_TEXT + 1])
{
    size_t n = strlen(v->old), length = n;

    memcpy(text, v->old, n);
    length += seed % 21;
    length = length > 10 + 10 ? length - 10 : length;
    if (length > WIKIPEDIA_TEXT)
        length = WIKIPEDIA_TEXT;
    for (size_t i = n; i < length; i++)
        text[i] = '.';
    for (size_t i = seed % 7; i < length; i += 7 + seed % 5)
        text[i] = (char)('a' + (seed >> (i % 32)) % 26);
    text[length] = '\0';
}

/* Steps 6 to 9 */
static bool store(hf_client *c, const hf_drawn *d, const view *v,
                  hf_sql_value comment)
{
    const int64_t *x = d->numbers;
    hf_sql_value page = hf_i(v->page), user = hf_i(x[USER]);
    hf_sql_value text_id = hf_i(x[NEW_ID]), revision = hf_i(x[NEW_ID + 1]);
    char text[WIKIPEDIA_TEXT + 1];
    hf_sql_value length;

    edit(v, (uint64_t)x[RANDOM], text);
    length = hf_i((int64_t)strlen(text));
    return HF_STEP(c, insert_text, NULL, text_id, hf_t(text), page, hf_tag()) &&
           HF_STEP(c, insert_revision, NULL, revision, page, text_id, comment,
                   user, now(c), hf_i(x[MINOR]), length, hf_i(v->revision),
                   hf_tag()) &&
           HF_STEP(c, set_page, NULL, page, revision, now(c), length,
                   hf_tag()) &&
           HF_STEP(c, insert_change, NULL, hf_i(x[NEW_ID + 2]), now(c), user,
                   v->space, v->title, comment, page, text_id, hf_i(v->text),
                   hf_t(v->address), hf_i(v->length), length, hf_tag());
}

#define MOST_WATCHERS 256u

/* Steps 10 and 11 */
static bool notify_watchers(hf_client *c, const hf_drawn *d, const view *v)
{
    const hf_sql_result *rows;
    int64_t watchers[MOST_WATCHERS];
    uint64_t n;

    if (!HF_STEP(c, watchers_of, &rows, v->space, v->title,
                 hf_i(d->numbers[USER])))
        return false;
    n = rows->n_rows < MOST_WATCHERS ? rows->n_rows : MOST_WATCHERS;
    for (uint64_t i = 0; i < n; i++)
        watchers[i] = hf_cell(rows, i, 1);
    for (uint64_t i = 0; i < n; i++)
        if (!HF_STEP(c, notify, NULL, hf_i(watchers[i]), v->space, v->title,
                     now(c), hf_tag()))
            return false;
    for (uint64_t i = 0; i < n; i++)
        if (!HF_STEP(c, read_user, NULL, hf_i(watchers[i])))
            return false;
    return true;
}

static bool count_edit(hf_play *p, hf_client *c, hf_sql_value user)
{
    const hf_sql_result *rows;

    if (hf_play_option(p, "split-updates") == 0)
        return HF_STEP(c, add_edit, NULL, user, hf_tag());
    return hf_found(c, HF_STEP(c, read_user, &rows, user), &rows) &&
           HF_STEP(c, set_edits, NULL, user, hf_i(hf_cell(rows, 0, 3) + 1),
                   hf_tag());
}

static void update_page(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const int64_t *x = d->numbers;
    hf_sql_value user = hf_i(x[USER]), comment;
    char words[21];
    view v;

    comment = hf_t(hf_letters(words, 20, (uint64_t)x[RANDOM]));
    if (get_page(c, d, false, &v) && store(c, d, &v, comment) &&
        notify_watchers(c, d, &v) &&
        HF_STEP(c, insert_log, NULL, hf_i(x[NEW_ID + 3]), now(c), user, v.space,
                v.title, hf_i(v.page), comment, hf_tag()) &&
        count_edit(p, c, user))
        (void)HF_STEP(c, touch_user, NULL, user, now(c), hf_tag());
}

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    wikipedia_state *state = hf_play_state(p);

    (void)c;
    if (d->type == UPDATE_PAGE)
        hf_count_add(&state->updates, 1, known);
}

static const hf_workload_type types[] = {
    {"add-watch-list", 1, false, draw, add_watch_list},
    {"remove-watch-list", 1, false, draw, remove_watch_list},
    {"get-page-anonymous", 90, true, draw, get_page_anonymous},
    {"get-page-authenticated", 1, true, draw, get_page_authenticated},
    {"update-page", 7, false, draw, update_page},
};

const hf_workload hf_workload_wikipedia = {
    .name = "wikipedia",
    .summary = "Wikipedia: pages, revisions and watch lists",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .types = types,
    .n_types = sizeof(types) / sizeof(types[0]),
    .tables = hf_wikipedia_tables,
    .load = hf_wikipedia_load,
    .check = hf_wikipedia_check,
    .done = done,
    .state_size = sizeof(wikipedia_state),
};
