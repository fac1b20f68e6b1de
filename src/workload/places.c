/* places.c: hunters of what conditions miss: tokens and rooms.
 *
 * Things stand at places, and are looked for by the place.  A history of rows
 * does not show what a condition should have returned and did not; so the rules
 * are such that counting is enough.
 *
 * tokens: two things of two places change places, in one transaction; so
 * every place holds the same number of them in every snapshot.  Who finds
 * another number was shown an index of another time than the rows, a row
 * twice, or rows of different snapshots.
 *
 * rooms: a thing goes to a place if there is room: if fewer than so many are
 * found there.  Two that look at once and both go are a write skew through a
 * condition: neither has read or written a row of the other.  Who looks at
 * all places finds all things, each once.
 */
#include <inttypes.h>
#include <time.h>

#include "workload/steps.h"
#include "workload/workloads.h"

#define MAX_FOUND 64u

typedef struct state {
    int64_t places, each; /* each: things of a place; in a room at most */
    double sleep;
    hf_memos notes; /* 0: a look that is a breach, 1: where, 2: found */
} state;

#define OPTIONS(each_, each_words)                                             \
    {                                                                          \
        {"places", 6, 2, 1e6, "places"},                                       \
            {"each", each_, 1, MAX_FOUND / 2, each_words},                     \
        {                                                                      \
            "sleep", 1, 0, 10000, "wait, in milliseconds, at most"             \
        }                                                                      \
    }
static const hf_workload_option token_options[] =
    OPTIONS(2, "tokens of each place");
static const hf_workload_option room_options[] =
    OPTIONS(3, "most that a place has room for");

static const char *const tables[] = {
    "CREATE TABLE things (id BIGINT PRIMARY KEY, place BIGINT NOT NULL, _tag "
    "BIGINT NOT NULL)",
    "CREATE INDEX things_place ON things (place)", NULL};

static const hf_step look = {
    "SELECT _tag, id, place FROM things WHERE place = $1", HF_STEP_SCAN,
    .table = "things", .keys = {1}};
static const hf_step go = {
    "UPDATE things SET place = $2, _tag = $3 WHERE id = $1", HF_STEP_UPDATE,
    .table = "things", .keys = {1}, .tag = 3};
static const hf_step all = {"SELECT _tag, id, place FROM things ORDER BY id",
                            HF_STEP_SCAN, .table = "things", .keys = {1}};

static void rest(const state *s, hf_client *c)
{
    struct timespec t = {0, (long)(hf_rng_unit(hf_client_rng(c)) * 1e6)};
    double ns = (double)t.tv_nsec * s->sleep;

    t.tv_sec = (time_t)(ns / 1e9);
    t.tv_nsec = (long)(ns - (double)t.tv_sec * 1e9);
    if (s->sleep > 0)
        (void)nanosleep(&t, NULL);
}

/* Two different places, and which of those found to take. */
static void draw(hf_play *p, hf_client *c, hf_drawn *d)
{
    const state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);

    d->numbers[0] = hf_uniform(r, 0, s->places - 1);
    d->numbers[1] = hf_uniform(r, 0, s->places - 2);
    d->numbers[1] += d->numbers[1] >= d->numbers[0];
    d->numbers[2] = hf_uniform(r, 0, 1 << 20);
    d->n = 3;
}

/* What stands at a place: how many, and one of them (-1: none).  False: the
 * transaction is over. */
static bool look_at(hf_client *c, int64_t place, int64_t which,
                    int64_t *ret_count, int64_t *ret_one)
{
    const hf_sql_result *rows;

    if (!HF_STEP(c, look, &rows, hf_i(place)))
        return false;
    *ret_count = (int64_t)rows->n_rows;
    *ret_one = rows->n_rows == 0
                   ? -1
                   : hf_cell(rows, (uint64_t)which % rows->n_rows, 1);
    return true;
}

static void note(int64_t *notes, bool breach, int64_t place, int64_t found)
{
    if (!breach || notes[0])
        return;
    notes[0] = 1;
    notes[1] = place;
    notes[2] = found;
}

static bool tell(hf_play *p, hf_client *c, bool known, int64_t ret[3])
{
    state *s = hf_play_state(p);
    const int64_t *notes = hf_memo_of(&s->notes, c);

    for (unsigned i = 0; i < 3; i++)
        ret[i] = notes[i];
    return known && notes[0] && hf_memo_exact(c);
}

/* How many stand at each place, at the end; NULL: it could not be read. */
static int64_t *count_all(hf_play *p, hf_client *c, uint64_t *ret_things)
{
    const state *s = hf_play_state(p);
    int64_t *at = HF_NEW_ZEROED(int64_t, (size_t)s->places);
    hf_grid g;

    if (!hf_grid_read(c, &all, &g)) {
        hf_free(at);
        return NULL;
    }
    for (uint64_t i = 0; i < g.n; i++) {
        int64_t place = hf_grid_row(&g, i)[2];

        if (place >= 0 && place < s->places)
            at[place]++;
        else
            hf_play_breach(p, "PL1",
                           "thing %" PRId64 ": expected at one of %" PRId64
                           " places, found at %" PRId64,
                           hf_grid_row(&g, i)[1], s->places, place);
    }
    *ret_things = g.n;
    hf_grid_release(&g);
    return at;
}

static hf_status load(hf_play *p, int64_t each, hf_error *err)
{
    state *s = hf_play_state(p);
    hf_status st = HF_OK;

    s->places = hf_option(p, "places");
    s->each = hf_option(p, "each");
    s->sleep = hf_play_option(p, "sleep");
    for (int64_t i = 0; i < each * s->places && st == HF_OK; i++)
        st = HF_LOAD(p, "things", err, hf_i(i), hf_i(i % s->places), hf_tag());
    return st;
}

/* ---- tokens -------------------------------------------------------------- */

static hf_status load_tokens(hf_play *p, hf_error *err)
{
    return load(p, hf_option(p, "each"), err);
}

static void run_swap(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c), one[2], count[2];

    for (unsigned i = 0; i < 2; i++) {
        if (!look_at(c, d->numbers[i], d->numbers[2], &count[i], &one[i]))
            return;
        note(notes, count[i] != s->each, d->numbers[i], count[i]);
    }
    rest(s, c);
    if (one[0] < 0 || one[1] < 0 || one[0] == one[1])
        return;
    if (HF_STEP(c, go, NULL, hf_i(one[0]), hf_i(d->numbers[1]), hf_tag()))
        (void)HF_STEP(c, go, NULL, hf_i(one[1]), hf_i(d->numbers[0]), hf_tag());
}

static void run_look(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c), one, count;

    for (unsigned i = 0; i < 2; i++) {
        if (!look_at(c, d->numbers[i], 0, &count, &one))
            return;
        note(notes, count != s->each, d->numbers[i], count);
        rest(s, c);
    }
}

static void breach_of_tokens(hf_play *p, const char *who, int64_t place,
                             int64_t found)
{
    const state *s = hf_play_state(p);

    hf_play_breach(p, "TK1",
                   "%s: expected %" PRId64 " tokens at place %" PRId64
                   ", found %" PRId64,
                   who, s->each, place, found);
}

static void done_tokens(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    int64_t n[3];

    (void)d;
    if (tell(p, c, known, n))
        breach_of_tokens(p, "a read", n[1], n[2]);
}

static void check_tokens(hf_play *p, hf_client *c)
{
    const state *s = hf_play_state(p);
    uint64_t things;
    int64_t *at = count_all(p, c, &things);

    for (int64_t i = 0; at && i < s->places; i++)
        if (at[i] != s->each)
            breach_of_tokens(p, "at the end", i, at[i]);
    hf_free(at);
}

static const hf_workload_type token_types[] = {
    {"swap", 60, false, draw, run_swap},
    {"look", 40, true, draw, run_look},
};

const hf_workload hf_workload_tokens = {
    .name = "tokens",
    .summary = "tokens change places; each place keeps as many as it had",
    .options = token_options,
    .n_options = HF_COUNT(token_options),
    .types = token_types,
    .n_types = HF_COUNT(token_types),
    .tables = tables,
    .load = load_tokens,
    .check = check_tokens,
    .done = done_tokens,
    .state_size = sizeof(state)};

/* ---- rooms --------------------------------------------------------------- */

enum { GO, COUNT };

/* One less than there is room for, at each place. */
static int64_t things_each(const hf_play *p)
{
    int64_t each = hf_option(p, "each");

    return each > 1 ? each - 1 : 1;
}

static hf_status load_rooms(hf_play *p, hf_error *err)
{
    return load(p, things_each(p), err);
}

static void run_count(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c), one, count, sum = 0;

    for (int64_t i = 0; i < s->places; i++) {
        if (!look_at(c, (d->numbers[0] + i) % s->places, 0, &count, &one))
            return;
        sum += count;
    }
    note(notes, sum != things_each(p) * s->places, 0, sum);
}

static void breach_of_count(hf_play *p, const char *who, int64_t found)
{
    const state *s = hf_play_state(p);

    hf_play_breach(p, "RM2", "%s: expected %" PRId64 " things, found %" PRId64,
                   who, things_each(p) * s->places, found);
}

static void run_go(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c), one, other, here, there;

    if (!look_at(c, d->numbers[0], d->numbers[2], &here, &one) ||
        !look_at(c, d->numbers[1], 0, &there, &other))
        return;
    note(notes, here > s->each, d->numbers[0], here);
    note(notes, there > s->each, d->numbers[1], there);
    rest(s, c);
    if (one >= 0 && there < s->each)
        (void)HF_STEP(c, go, NULL, hf_i(one), hf_i(d->numbers[1]), hf_tag());
}

static void breach_of_rooms(hf_play *p, const char *who, int64_t place,
                            int64_t found)
{
    const state *s = hf_play_state(p);

    hf_play_breach(p, "RM1",
                   "%s: expected at most %" PRId64 " things at place %" PRId64
                   ", found %" PRId64,
                   who, s->each, place, found);
}

static void done_rooms(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    int64_t n[3];

    if (!tell(p, c, known, n))
        return;
    if (d->type == GO)
        breach_of_rooms(p, "a read", n[1], n[2]);
    else
        breach_of_count(p, "a read", n[2]);
}

static void check_rooms(hf_play *p, hf_client *c)
{
    const state *s = hf_play_state(p);
    uint64_t things;
    int64_t *at = count_all(p, c, &things);

    for (int64_t i = 0; at && i < s->places; i++)
        if (at[i] > s->each)
            breach_of_rooms(p, "at the end", i, at[i]);
    if (at && things != (uint64_t)(things_each(p) * s->places))
        breach_of_count(p, "at the end", (int64_t)things);
    hf_free(at);
}

static const hf_workload_type room_types[] = {
    [GO] = {"go", 70, false, draw, run_go},
    [COUNT] = {"count", 30, true, draw, run_count},
};

const hf_workload hf_workload_rooms = {
    .name = "rooms",
    .summary = "things go to places that have room; who looks may be wrong",
    .options = room_options,
    .n_options = HF_COUNT(room_options),
    .types = room_types,
    .n_types = HF_COUNT(room_types),
    .tables = tables,
    .load = load_rooms,
    .check = check_rooms,
    .done = done_rooms,
    .state_size = sizeof(state)};
