/* long_fork.c: Jepsen's long fork (WORKLOADS.md 14).
 *
 * A writer inserts one new key; keys come in groups of a few.  A reader reads a
 * whole group in any order: its own client's last, or that of another one.  All
 * reads of a group must be comparable by inclusion: of two keys one came first
 * for everybody.
 *
 * What was seen of a group is a set of subsets, kept as bits for the newest
 * groups; so a group has at most 6 keys.
 */
#include <inttypes.h>

#include "workload/kv.h"
#include "workload/workloads.h"

#define MAX_GROUP 6
#define KEPT 65536 /* groups */
#define MAX_BREACHES 20u

typedef struct seen {
    int64_t group; /* + 1; 0: none */
    uint64_t sets; /* bit s: the subset s was read */
} seen;

typedef struct state {
    int64_t size;
    hf_count written;
    hf_memos notes; /* [0]: the subset read, [1]: was all of it read */
    /* under the play's lock */
    int64_t next;                  /* key */
    int64_t last[HF_MEMO_CLIENTS]; /* key of the client, + 1 */
    bool unread[HF_MEMO_CLIENTS];
    seen groups[KEPT];
} state;

enum { WRITE, READ };

static const hf_workload_option options[] = {
    {"group", 2, 2, MAX_GROUP, "keys of a group"},
};

static hf_status load(hf_play *p, hf_error *err)
{
    state *s = hf_play_state(p);

    (void)err;
    s->size = hf_option(p, "group");
    return HF_OK;
}

static void draw_write(hf_play *p, hf_client *c, hf_drawn *d)
{
    state *s = hf_play_state(p);
    unsigned me = hf_client_number(c) % HF_MEMO_CLIENTS;

    hf_play_lock(p);
    d->numbers[0] = s->next++;
    s->last[me] = d->numbers[0] + 1;
    s->unread[me] = true;
    hf_play_unlock(p);
    d->n = 1;
}

static void run_write(hf_play *p, hf_client *c, const hf_drawn *d)
{
    (void)p;
    (void)hf_kv_insert(c, d->numbers[0], d->numbers[0]);
}

/* The group of the own key if it has not been read since, else of anybody's. */
static int64_t some_group(state *s, hf_client *c)
{
    unsigned me = hf_client_number(c) % HF_MEMO_CLIENTS, n, other;

    if (s->unread[me]) {
        s->unread[me] = false;
        return (s->last[me] - 1) / s->size;
    }
    n = hf_client_count(c) < HF_MEMO_CLIENTS ? hf_client_count(c)
                                             : HF_MEMO_CLIENTS;
    other = hf_rng_below(hf_client_rng(c), n);
    if (s->last[other] > 0)
        return (s->last[other] - 1) / s->size;
    return s->next > 0 ? (s->next - 1) / s->size : 0;
}

/* The group, then its keys in any order. */
static void draw_read(hf_play *p, hf_client *c, hf_drawn *d)
{
    state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);

    hf_play_lock(p);
    d->numbers[d->n++] = some_group(s, c);
    hf_play_unlock(p);
    for (int64_t i = 0; i < s->size; i++) {
        int64_t j = hf_uniform(r, 0, i);

        d->numbers[1 + i] = d->numbers[1 + j];
        d->numbers[1 + j] = i;
        d->n++;
    }
}

static void run_read(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c), v;
    bool found;

    for (unsigned i = 1; i < d->n; i++) {
        if (!hf_kv_get(c, d->numbers[0] * s->size + d->numbers[i], &v, &found))
            return;
        if (found)
            notes[0] |= (int64_t)1 << d->numbers[i];
    }
    notes[1] = 1;
}

/* Adds a subset; returns one seen before that cannot be compared with it, or
 * UINT64_MAX. */
static uint64_t add_subset(state *s, int64_t group, uint64_t subset)
{
    seen *g = &s->groups[group % KEPT];
    uint64_t other = UINT64_MAX;

    if (g->group > group + 1)
        return other; /* too old: forgotten */
    if (g->group != group + 1)
        *g = (seen){group + 1, 0};
    for (uint64_t x = 0; x < (uint64_t)1 << s->size; x++)
        if ((g->sets >> x & 1) && (x & subset) != x && (x & subset) != subset)
            other = x;
    g->sets |= (uint64_t)1 << subset;
    return other;
}

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    state *s = hf_play_state(p);
    const int64_t *notes = hf_memo_of(&s->notes, c);
    uint64_t other;

    if (d->type == WRITE) {
        hf_count_add(&s->written, 1, known);
        return;
    }
    if (!known || !notes[1])
        return;
    hf_play_lock(p);
    other = add_subset(s, d->numbers[0], (uint64_t)notes[0]);
    hf_play_unlock(p);
    if (other != UINT64_MAX)
        hf_play_breach(p, "LF1",
                       "keys from %" PRId64 ": expected reads that can be "
                       "ordered, found subsets %" PRIx64 " and %" PRIx64,
                       d->numbers[0] * s->size, (uint64_t)notes[0], other);
}

/* Every key whose insert was committed is there, with its own value. */
static void check(hf_play *p, hf_client *c)
{
    state *s = hf_play_state(p);
    int64_t n, v, rows = 0;
    unsigned breaches = 0;
    bool found;

    hf_play_lock(p);
    n = s->next;
    hf_play_unlock(p);
    for (int64_t k = 0; k < n; k++) {
        if (!hf_kv_get(c, k, &v, &found))
            return;
        rows += found;
        if (found && v != k && breaches++ < MAX_BREACHES)
            hf_play_breach(p, "LF3",
                           "key %" PRId64 ": expected its own number, found "
                           "%" PRId64,
                           k, v);
    }
    hf_count_expect(p, "LF2", &s->written, 0, rows, "number of keys");
}

static const hf_workload_type types[] = {
    {"write", 50, false, draw_write, run_write},
    {"read", 50, true, draw_read, run_read},
};

const hf_workload hf_workload_long_fork = {
    .name = "long-fork",
    .summary = "inserts of keys and reads of whole groups of them (Jepsen)",
    .plain = true,
    .options = options,
    .n_options = HF_COUNT(options),
    .types = types,
    .n_types = HF_COUNT(types),
    .tables = hf_kv_tables,
    .load = load,
    .check = check,
    .done = done,
    .state_size = sizeof(state)};
