/* places.c: hunters of what conditions miss: tokens and rooms.
 *
 * Things stand at places, and are looked for by the place.  In the history a
 * row is told by its place and its number, so that one that goes elsewhere is
 * gone from the one place and new at the other, and a look at a place is a
 * read of everything that could stand there: what it did not return was not
 * there.  The checker sees by that what a condition missed, though conditions
 * as such are not recorded.  And the rules are such that counting shows it,
 * too.  There are many houses with places, used one after the other: the more
 * often a thing has left a place, the harder it is to tell when a look that did
 * not find it was.
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

#define ROWS_BY "things (place, id)"

typedef struct state {
    int64_t places, each; /* each: things of a place; in a room at most */
    int64_t things;       /* of a house */
    int64_t houses, life;
    _Atomic int64_t next; /* transaction */
    double sleep;
    hf_memos notes; /* 0: a look that is a breach, 1: where, 2: found */
} state;

#define OPTIONS(each_, each_words)                                             \
    {                                                                          \
        {"places", 6, 2, 1e6, "places of a house"},                            \
            {"houses", 500, 1, 1e6, "with places; used one after the other"},  \
            {"life", 100, 1, 1e9,                                              \
             "the next house after so many transactions"},                     \
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
    "SELECT _tag, place, id FROM things WHERE place = $1", HF_STEP_SCAN,
    .table = "things", .keys = {2}, .range = {.prefix = {1}}};
static const hf_step go = {
    "UPDATE things SET place = $2, _tag = $3 WHERE id = $1 AND place = $4",
    HF_STEP_MOVE,
    .table = "things",
    .keys = {4, 1},
    .to = {2, 1},
    .tag = 3};
static const hf_step all = {"SELECT _tag, place, id FROM things ORDER BY id",
                            HF_STEP_SCAN, .table = "things", .keys = {2}};

static void rest(const state *s, hf_client *c)
{
    struct timespec t = {0, (long)(hf_rng_unit(hf_client_rng(c)) * 1e6)};
    double ns = (double)t.tv_nsec * s->sleep;

    t.tv_sec = (time_t)(ns / 1e9);
    t.tv_nsec = (long)(ns - (double)t.tv_sec * 1e9);
    if (s->sleep > 0)
        (void)nanosleep(&t, NULL);
}

/* Two different places of a house, which of those found to take, and the
 * first place of the house. */
static void draw(hf_play *p, hf_client *c, hf_drawn *d)
{
    state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);
    int64_t house = atomic_fetch_add(&s->next, 1) / s->life % s->houses;

    d->numbers[0] = hf_uniform(r, 0, s->places - 1);
    d->numbers[1] = hf_uniform(r, 0, s->places - 2);
    d->numbers[1] += d->numbers[1] >= d->numbers[0];
    d->numbers[2] = hf_uniform(r, 0, 1 << 20);
    d->numbers[3] = house * s->places;
    d->numbers[0] += d->numbers[3];
    d->numbers[1] += d->numbers[3];
    d->n = 4;
}

/* What stands at a place: how many, and one of them (-1: none). */
typedef struct found {
    int64_t place, count, one;
} found;

/* `which` of them to take.  False: the transaction is over. */
static bool look_at(const state *s, hf_client *c, int64_t place, int64_t which,
                    found *ret)
{
    int64_t first = place / s->places * s->things;
    const hf_sql_result *rows;

    hf_client_covers(c, first, first + s->things - 1);
    if (!HF_STEP(c, look, &rows, hf_i(place)))
        return false;
    *ret = (found){place, (int64_t)rows->n_rows, -1};
    if (rows->n_rows > 0)
        ret->one = hf_cell(rows, (uint64_t)which % rows->n_rows, 2);
    return true;
}

/* If it is gone meanwhile all of it is given up. */
static bool move(hf_client *c, const found *from, int64_t place)
{
    const hf_sql_result *done;

    if (!HF_STEP(c, go, &done, hf_i(from->one), hf_i(place), hf_tag(),
                 hf_i(from->place)))
        return false;
    if (done->affected == 0)
        hf_client_give_up(c, "a thing has gone elsewhere");
    return done->affected > 0;
}

static void note(int64_t *notes, bool breach, int64_t place, int64_t count)
{
    if (!breach || notes[0])
        return;
    notes[0] = 1;
    notes[1] = place;
    notes[2] = count;
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
    int64_t places = s->houses * s->places;
    int64_t *at = HF_NEW_ZEROED(int64_t, (size_t)places);
    hf_grid g;

    if (!hf_grid_read(c, &all, &g)) {
        hf_free(at);
        return NULL;
    }
    for (uint64_t i = 0; i < g.n; i++) {
        int64_t place = hf_grid_row(&g, i)[1];

        if (place >= 0 && place < places)
            at[place]++;
        else
            hf_play_breach(p, "PL1",
                           "thing %" PRId64 ": expected at one of %" PRId64
                           " places, found at %" PRId64,
                           hf_grid_row(&g, i)[2], places, place);
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
    s->houses = hf_option(p, "houses");
    s->life = hf_option(p, "life");
    s->things = each * s->places;
    for (int64_t i = 0; i < s->houses * s->things && st == HF_OK; i++)
        st = HF_LOAD(p, "things", err, hf_i(i), hf_i(i / each), hf_tag());
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
    int64_t *notes = hf_memo_begin(&s->notes, c);
    found at[2];

    for (unsigned i = 0; i < 2; i++) {
        if (!look_at(s, c, d->numbers[i], d->numbers[2], &at[i]))
            return;
        note(notes, at[i].count != s->each, d->numbers[i], at[i].count);
    }
    rest(s, c);
    if (at[0].one < 0 || at[1].one < 0 || at[0].one == at[1].one)
        return;
    if (move(c, &at[0], d->numbers[1]))
        (void)move(c, &at[1], d->numbers[0]);
}

static void run_look(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c);
    found at;

    for (unsigned i = 0; i < 2; i++) {
        if (!look_at(s, c, d->numbers[i], 0, &at))
            return;
        note(notes, at.count != s->each, d->numbers[i], at.count);
        rest(s, c);
    }
}

static void breach_of_tokens(hf_play *p, const char *who, int64_t place,
                             int64_t count)
{
    const state *s = hf_play_state(p);

    hf_play_breach(p, "TK1",
                   "%s: expected %" PRId64 " tokens at place %" PRId64
                   ", found %" PRId64,
                   who, s->each, place, count);
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

    for (int64_t i = 0; at && i < s->houses * s->places; i++)
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
    .rows_by = ROWS_BY,
    .come_and_go = true,
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
    int64_t *notes = hf_memo_begin(&s->notes, c), sum = 0;
    found at;

    for (int64_t i = 0; i < s->places; i++) {
        if (!look_at(s, c, d->numbers[3] + (d->numbers[0] + i) % s->places, 0,
                     &at))
            return;
        sum += at.count;
    }
    note(notes, sum != s->things, 0, sum);
}

static void breach_of_count(hf_play *p, const char *who, int64_t expected,
                            int64_t count)
{
    hf_play_breach(p, "RM2", "%s: expected %" PRId64 " things, found %" PRId64,
                   who, expected, count);
}

static void run_go(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c);
    found here, there;

    if (!look_at(s, c, d->numbers[0], d->numbers[2], &here) ||
        !look_at(s, c, d->numbers[1], 0, &there))
        return;
    note(notes, here.count > s->each, d->numbers[0], here.count);
    note(notes, there.count > s->each, d->numbers[1], there.count);
    rest(s, c);
    if (here.one >= 0 && there.count < s->each)
        (void)move(c, &here, d->numbers[1]);
}

static void breach_of_rooms(hf_play *p, const char *who, int64_t place,
                            int64_t count)
{
    const state *s = hf_play_state(p);

    hf_play_breach(p, "RM1",
                   "%s: expected at most %" PRId64 " things at place %" PRId64
                   ", found %" PRId64,
                   who, s->each, place, count);
}

static void done_rooms(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    const state *s = hf_play_state(p);
    int64_t n[3];

    if (!tell(p, c, known, n))
        return;
    if (d->type == GO)
        breach_of_rooms(p, "a read", n[1], n[2]);
    else
        breach_of_count(p, "a read", s->things, n[2]);
}

static void check_rooms(hf_play *p, hf_client *c)
{
    const state *s = hf_play_state(p);
    uint64_t things;
    int64_t *at = count_all(p, c, &things);

    for (int64_t i = 0; at && i < s->houses * s->places; i++)
        if (at[i] > s->each)
            breach_of_rooms(p, "at the end", i, at[i]);
    if (at && things != (uint64_t)(s->houses * s->things))
        breach_of_count(p, "at the end", s->houses * s->things,
                        (int64_t)things);
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
    .rows_by = ROWS_BY,
    .come_and_go = true,
    .load = load_rooms,
    .check = check_rooms,
    .done = done_rooms,
    .state_size = sizeof(state)};
