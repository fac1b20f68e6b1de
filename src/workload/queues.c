/* queues.c: messages in queues that hold so many.
 *
 * A message belongs to one queue for good, and is looked for by the queue, a
 * column with an index.  Who puts one in looks first whether there is room;
 * two that look at once and both put are a write skew through a condition,
 * since neither has read or written a row of the other.  Who takes one out
 * takes the one that was put first.
 *
 * A queue can only have messages of numbers of its own, so the recorder is told
 * that those which a look did not return were not there (as in g2): what a
 * condition missed, or an index of another time left out, is in the history.
 * Queues are used for a while and then left for new ones, and each transaction
 * has a number of its own, so that a message that is not there was not put yet
 * or is taken, and there is no third way.  (PostgreSQL at repeatable read lets
 * one insert what another has inserted and a third deleted since its snapshot:
 * docs/run.md.)
 */
#include <inttypes.h>
#include <time.h>

#include "workload/steps.h"
#include "workload/workloads.h"

typedef struct state {
    int64_t queues, life, room;
    int64_t size; /* numbers of a queue, each for one message */
    double sleep;
    _Atomic int64_t next; /* transaction */
    hf_count messages;
    hf_memos notes; /* 0: put less taken, 1: a look that is a breach, 2: where,
                       3: found */
} state;

static const hf_workload_option options[] = {
    {"queues", 2, 1, 1e6, "queues in use at a time"},
    {"life", 12, 1, 1e6, "a new queue after so many transactions"},
    {"room", 3, 1, 1e6, "messages of a queue, at most"},
    {"sleep", 1, 0, 10000, "wait, in milliseconds, at most"},
};

static const char *const tables[] = {
    "CREATE TABLE messages (id BIGINT PRIMARY KEY, queue BIGINT NOT NULL, turn "
    "BIGINT NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE INDEX messages_queue ON messages (queue)", NULL};

static const hf_step look = {
    "SELECT _tag, id, turn FROM messages WHERE queue = $1", HF_STEP_SCAN,
    .table = "messages", .keys = {1}};
static const hf_step put = {
    "INSERT INTO messages (id, queue, turn, _tag) VALUES ($1, $2, $3, $4)",
    HF_STEP_INSERT, .table = "messages", .keys = {1}, .tag = 4};
static const hf_step take = {"DELETE FROM messages WHERE id = $1",
                             HF_STEP_DELETE, .table = "messages", .keys = {1}};
static const hf_step all = {"SELECT _tag, id, queue FROM messages ORDER BY id",
                            HF_STEP_SCAN, .table = "messages", .keys = {1}};

enum { PUT, TAKE, LOOK };

static hf_status load(hf_play *p, hf_error *err)
{
    state *s = hf_play_state(p);

    s->queues = hf_option(p, "queues");
    s->room = hf_option(p, "room");
    s->life = hf_option(p, "life");
    s->sleep = hf_play_option(p, "sleep");
    s->size = s->queues * s->life;
    (void)err;
    return HF_OK;
}

static void rest(const state *s, hf_client *c)
{
    double ns = hf_rng_unit(hf_client_rng(c)) * s->sleep * 1e6;
    struct timespec t = {(time_t)(ns / 1e9), 0};

    t.tv_nsec = (long)(ns - (double)t.tv_sec * 1e9);
    if (s->sleep > 0)
        (void)nanosleep(&t, NULL);
}

/* Two of the queues in use, different if there are so many, and the number of
 * a message in the first: transaction i uses the queues from i / life on, so
 * queue q is used by those from (q - queues + 1) * life on. */
static void draw(hf_play *p, hf_client *c, hf_drawn *d)
{
    state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);
    int64_t number = atomic_fetch_add(&s->next, 1), first = number / s->life;
    int64_t i = hf_uniform(r, 0, s->queues - 1);

    d->numbers[0] = first + i;
    d->numbers[1] = first + (i + 1) % s->queues;
    d->numbers[2] = number - (d->numbers[0] - s->queues + 1) * s->life;
    d->n = 3;
}

/* What a look at a queue found. */
typedef struct found {
    int64_t count, first; /* first: the message of the lowest turn, or -1 */
    int64_t turn;         /* above all that are there */
} found;

/* False: the transaction is over. */
static bool look_at(state *s, hf_client *c, int64_t queue, found *ret)
{
    int64_t *notes = hf_memo_of(&s->notes, c), lowest = INT64_MAX;
    const hf_sql_result *rows;

    *ret = (found){.first = -1};
    hf_client_covers(c, queue * s->size, queue * s->size + s->size - 1);
    if (!HF_STEP(c, look, &rows, hf_i(queue)))
        return false;
    ret->count = (int64_t)rows->n_rows;
    for (uint64_t i = 0; i < rows->n_rows; i++) {
        int64_t id = hf_cell(rows, i, 1), turn = hf_cell(rows, i, 2);

        if (turn < lowest)
            ret->first = id;
        lowest = turn < lowest ? turn : lowest;
        ret->turn = turn >= ret->turn ? turn + 1 : ret->turn;
    }
    if (ret->count > s->room && !notes[1]) {
        notes[1] = 1;
        notes[2] = queue;
        notes[3] = ret->count;
    }
    return true;
}

static void run_put(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c), queue = d->numbers[0];
    found f;

    if (!look_at(s, c, queue, &f))
        return;
    rest(s, c);
    if (f.count >= s->room)
        return;
    if (HF_STEP(c, put, NULL, hf_i(queue * s->size + d->numbers[2]),
                hf_i(queue), hf_i(f.turn), hf_tag()))
        notes[0] = 1;
}

static void run_take(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c);
    const hf_sql_result *rows;
    found f;

    if (!look_at(s, c, d->numbers[0], &f))
        return;
    rest(s, c);
    if (f.first >= 0 && HF_STEP(c, take, &rows, hf_i(f.first)))
        notes[0] = -(int64_t)rows->affected;
}

static void run_look(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    found f;

    (void)hf_memo_begin(&s->notes, c);
    for (unsigned i = 0; i < 2; i++) {
        if (!look_at(s, c, d->numbers[i], &f))
            return;
        rest(s, c);
    }
}

static void breach(hf_play *p, const char *who, int64_t queue, int64_t count)
{
    const state *s = hf_play_state(p);

    hf_play_breach(p, "QU1",
                   "%s: expected at most %" PRId64 " messages in queue %" PRId64
                   ", found %" PRId64,
                   who, s->room, queue, count);
}

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    state *s = hf_play_state(p);
    const int64_t *notes = hf_memo_of(&s->notes, c);

    (void)d;
    hf_count_add(&s->messages, notes[0], known);
    if (known && notes[1] && hf_memo_exact(c))
        breach(p, "a read", notes[2], notes[3]);
}

static void check(hf_play *p, hf_client *c)
{
    const state *s = hf_play_state(p);
    int64_t queue = -1, count = 0;
    hf_grid g;

    if (!hf_grid_read(c, &all, &g))
        return;
    for (uint64_t i = 0; i <= g.n; i++) { /* in order of queues */
        int64_t next = i < g.n ? hf_grid_row(&g, i)[2] : -1;

        if (next != queue && count > s->room)
            breach(p, "at the end", queue, count);
        count = next == queue ? count + 1 : 1;
        queue = next;
        if (i < g.n && next != hf_grid_row(&g, i)[1] / s->size)
            hf_play_breach(p, "QU3",
                           "message %" PRId64 ": expected in queue %" PRId64
                           ", found in %" PRId64,
                           hf_grid_row(&g, i)[1],
                           hf_grid_row(&g, i)[1] / s->size, next);
    }
    if (hf_memo_exact(c))
        hf_count_expect(p, "QU2", &s->messages, 0, (int64_t)g.n,
                        "number of messages");
    hf_grid_release(&g);
}

static const hf_workload_type types[] = {
    [PUT] = {"put", 45, false, draw, run_put},
    [TAKE] = {"take", 35, false, draw, run_take},
    [LOOK] = {"look", 20, true, draw, run_look},
};

const hf_workload hf_workload_queues = {
    .name = "queues",
    .summary = "messages are put into queues that have room, and taken out",
    .options = options,
    .n_options = HF_COUNT(options),
    .types = types,
    .n_types = HF_COUNT(types),
    .tables = tables,
    .come_and_go = true,
    .load = load,
    .check = check,
    .done = done,
    .state_size = sizeof(state)};
