/* bench_watch_engine.c: how fast the engine of watch judges events.
 *
 *   bench_watch_engine [TRANSACTIONS [WORKLOAD [THREADS]]]   default 200,000
 *
 * Events are made in memory, piece by piece, by 24 clients of the embedded
 * store with locks of rows in front of it, so that they keep what the profile
 * "postgresql/serializable" asks for; only judging them is measured.
 *
 *   smallbank  2 to 4 rows of 24,000 accounts
 *   tpcc       about 30 operations: new orders and payments, 24 warehouses
 *   blindw-rw  8 reads or 8 blind writes, 2,000 rows
 *
 * Printed for each: transactions/s and events/s of CPU time and of wall-clock
 * time; the factor per event of 10 times as many; bytes held by the engine at
 * the half and at the end; the share of dependencies that stayed uncertain.  A
 * naive pass that only adds up the same events is the unit of the ratio.
 * A violation, or bytes that in the longer run grow by more than a tenth after
 * the half, make the exit status 1: in the shorter one rooms still find their
 * size.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/threads.h"
#include "base/vec.h"
#include "store/store.h"
#include "watch/watch.h"

#define CLIENTS 24u
#define SLOT 1000u /* ns between two instants */
#define SPREAD 7u  /* slots from an instant to the ends of its interval */
#define PIECE 262144u

typedef enum workload { SMALLBANK, TPCC, BLINDW_RW, WORKLOADS } workload;
static const char *const names[WORKLOADS] = {"smallbank", "tpcc", "blindw-rw"};
static const uint32_t n_keys[WORKLOADS] = {24000, 4000000, 2000};

typedef struct planned {
    uint32_t key;
    bool writes;
} planned;

typedef struct client {
    uint64_t txn;
    planned plan[128];
    unsigned n, at;
    uint32_t statement;
    bool running, has_snapshot;
    uint32_t locked[128];
    unsigned n_locked;
} client;

typedef struct world {
    workload kind;
    hf_store *s;
    hf_rng r;
    uint64_t now, next_txn;
    uint32_t next_value, next_order;
    client clients[CLIENTS];
    uint8_t *owner; /* of a row, 0: nobody */
    HF_VEC(hf_event) events;
    uint64_t ended;
} world;

static int failures;

/* ---- plans --------------------------------------------------------------- */

static void plan(client *c, uint32_t key, bool writes)
{
    if (c->n < 128)
        c->plan[c->n++] = (planned){key, writes};
}

static void plan_update(client *c, uint32_t key)
{
    plan(c, key, false);
    plan(c, key, true);
}

/* warehouses at 0, districts, customers, items, stock, then a ring of rows
 * that orders insert */
static void plan_tpcc(world *w, client *c, uint32_t home)
{
    uint32_t district = 24 + home * 10 + hf_rng_below(&w->r, 10);
    uint32_t customer = 1000 + home * 3000 + hf_rng_below(&w->r, 3000);

    if (hf_rng_chance(&w->r, 50)) {
        unsigned lines = 5 + hf_rng_below(&w->r, 11);

        plan(c, home, false);
        plan_update(c, district);
        plan(c, customer, false);
        for (unsigned i = 0; i < lines; i++) {
            uint32_t item = hf_rng_below(&w->r, 20000);

            plan(c, 100000 + item, false);
            plan_update(c, 200000 + home * 20000 + item);
        }
        for (unsigned i = 0; i < lines + 2; i++)
            plan(c, 1000000 + w->next_order++ % 2900000, true);
    } else {
        plan_update(c, 500 + home * 10 + hf_rng_below(&w->r, 10));
        plan_update(c, district);
        plan_update(c, customer);
    }
}

static void plan_any(world *w, client *c, uint32_t i)
{
    c->n = 0;
    switch (w->kind) {
    case SMALLBANK:
        for (unsigned k = 1 + hf_rng_below(&w->r, 3); k > 0; k--)
            if (hf_rng_chance(&w->r, 30))
                plan(c, hf_rng_below(&w->r, n_keys[SMALLBANK]), false);
            else
                plan_update(c, hf_rng_below(&w->r, n_keys[SMALLBANK]));
        break;
    case TPCC:
        plan_tpcc(w, c, i % 24);
        break;
    default: {
        bool writes = hf_rng_chance(&w->r, 50);

        for (unsigned k = 0; k < 8; k++)
            plan(c, hf_rng_below(&w->r, n_keys[BLINDW_RW]), writes);
    }
    }
}

/* ---- clients ------------------------------------------------------------- */

static hf_event *record(world *w, uint32_t i, hf_event_kind kind)
{
    client *c = &w->clients[i];

    hf_vec_push(&w->events,
                (hf_event){.before = w->now + hf_rng_below(&w->r, SLOT),
                           .after = w->now + SPREAD * SLOT + SLOT +
                                    hf_rng_below(&w->r, SPREAD * SLOT),
                           .txn = c->txn,
                           .client = i,
                           .statement = c->statement++,
                           .kind = (uint8_t)kind});
    return &w->events.at[w->events.n - 1];
}

static void end(world *w, uint32_t i, bool aborts)
{
    client *c = &w->clients[i];
    bool committed =
        !aborts &&
        (!c->has_snapshot || hf_store_commit(w->s, i).outcome == HF_COMMITTED);

    if (aborts && c->has_snapshot)
        (void)hf_store_abort(w->s, i);
    for (unsigned k = 0; k < c->n_locked; k++)
        w->owner[c->locked[k]] = 0;
    (void)record(w, i, committed ? HF_EVENT_COMMIT : HF_EVENT_ABORT);
    c->running = false;
    w->ended++;
}

static void operate(world *w, uint32_t i, planned p)
{
    client *c = &w->clients[i];
    uint32_t id;
    hf_event *e;

    if (!c->has_snapshot)
        (void)hf_store_begin(w->s, i);
    c->has_snapshot = true;
    if (!p.writes) {
        id = hf_store_read(w->s, i, p.key)->id;
        e = record(w, i, HF_EVENT_READ);
        e->value = id == HF_NONE ? HF_EVENT_NO_ROW : id;
        e->key = e->row = p.key;
        return;
    }
    if (w->owner[p.key] != 0 && w->owner[p.key] != i + 1) {
        end(w, i, true);
        return;
    }
    if (w->owner[p.key] == 0)
        c->locked[c->n_locked++] = p.key;
    w->owner[p.key] = (uint8_t)(i + 1);
    id = 1 + w->next_value++ % 4000000000u;
    (void)hf_store_write(w->s, i, p.key, (hf_store_value){id, id});
    e = record(w, i, HF_EVENT_WRITE);
    e->value = id;
    e->key = e->row = p.key;
}

static void step(world *w)
{
    uint32_t i = (uint32_t)(w->now / SLOT % CLIENTS);
    client *c = &w->clients[i];

    if (!c->running) {
        c->txn = ++w->next_txn;
        c->statement = 0;
        c->at = c->n_locked = 0;
        c->has_snapshot = false;
        c->running = true;
        plan_any(w, c, i);
        (void)record(w, i, HF_EVENT_BEGIN);
    } else if (c->at == c->n) {
        end(w, i, false);
    } else {
        operate(w, i, c->plan[c->at++]);
    }
    w->now += SLOT;
}

static void make_piece(world *w, uint64_t transactions)
{
    w->events.n = 0;
    while (w->events.n < PIECE && w->ended < transactions)
        step(w);
}

/* ---- measuring ----------------------------------------------------------- */

typedef struct result {
    double cpu, wall, naive;
    uint64_t events, transactions;
    size_t half, last;
    hf_watch_stats stats;
} result;

static bool complain(void *user, const hf_violation *v)
{
    (void)user;
    fprintf(stderr, "violation: %s %s T%" PRIu64 " key %" PRIu32 "\n",
            hf_watch_mechanism_name(v->mechanism), hf_watch_rule_name(v->rule),
            v->txn, v->key);
    failures++;
    return failures < 5;
}

static uint64_t add_up(const world *w)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < w->events.n; i++)
        sum += w->events.at[i].before ^ w->events.at[i].value ^
               w->events.at[i].key;
    return sum;
}

static world *world_new(workload kind)
{
    world *w = HF_NEW(world);

    w->kind = kind;
    w->now = 1000 * SLOT;
    hf_rng_seed(&w->r, 7);
    w->s = hf_store_new(&(hf_store_options){.level = HF_SERIALIZABLE,
                                            .sessions = CLIENTS,
                                            .keys = n_keys[kind],
                                            .only_rows = true});
    w->owner = HF_NEW_ZEROED(uint8_t, n_keys[kind]);
    return w;
}

static void world_free(world *w)
{
    hf_store_free(w->s);
    hf_free(w->owner);
    hf_vec_release(&w->events);
    hf_free(w);
}

static result run(workload kind, uint64_t transactions, unsigned threads)
{
    world *w = world_new(kind);
    hf_watch *watch = hf_watch_new(&(hf_watch_options){
        .profile = hf_profile_find(HF_STR("postgresql/serializable"), NULL),
        .threads = threads,
        .violation = complain});
    result x = {0};
    volatile uint64_t sink = 0;

    for (uint32_t k = 0; k < n_keys[kind]; k++)
        hf_watch_key(watch, k, HF_WATCH_INITIAL_ABSENT, 0);
    while (w->ended < transactions) {
        uint64_t wall, cpu, after;

        make_piece(w, transactions);
        cpu = hf_clock_cpu_ns();
        sink += add_up(w);
        after = hf_clock_cpu_ns();
        x.naive += (double)(after - cpu);
        wall = hf_clock_ns();
        cpu = after;
        (void)hf_watch_feed(watch, w->events.at, w->events.n);
        if (w->ended >= transactions)
            (void)hf_watch_finish(watch);
        x.cpu += (double)(hf_clock_cpu_ns() - cpu);
        x.wall += (double)(hf_clock_ns() - wall);
        x.events += w->events.n;
        if (x.half == 0 && w->ended >= transactions / 2) {
            hf_watch_stats_get(watch, &x.stats);
            x.half = x.stats.bytes;
        }
    }
    hf_watch_stats_get(watch, &x.stats);
    x.last = x.stats.bytes;
    x.transactions = w->ended;
    hf_watch_free(watch);
    world_free(w);
    return x;
}

static void print(workload kind, unsigned threads, const result *x,
                  double per_event_before)
{
    uint64_t all = 0, uncertain = 0;
    double per_event = x->cpu / (double)x->events;

    for (int k = 0; k < HF_WATCH_DEPENDENCY_COUNT; k++) {
        uncertain += x->stats.uncertain[k];
        all +=
            x->stats.certain[k] + x->stats.deduced[k] + x->stats.uncertain[k];
    }
    printf("%-10s %u thr %9" PRIu64 " txns %10" PRIu64 " events  %6.0f ns/txn "
           "%5.1f ns/event (%.1f x a sum)  %7.0f txn/s CPU %7.0f txn/s wall",
           names[kind], threads, x->transactions, x->events,
           x->cpu / (double)x->transactions, per_event, x->cpu / x->naive,
           1e9 * (double)x->transactions / x->cpu,
           1e9 * (double)x->transactions / x->wall);
    if (per_event_before > 0)
        printf("  growth %.2f", per_event / per_event_before);
    printf("  %zu -> %zu KiB  beta %.5f\n", x->half >> 10, x->last >> 10,
           all ? (double)uncertain / (double)all : 0);
    printf("    kept: %" PRIu64 " versions, %" PRIu64 " locks, %" PRIu64
           " readers, %" PRIu64 " transactions, %" PRIu64 " edges\n",
           x->stats.versions_kept, x->stats.locks_kept, x->stats.readers_kept,
           x->stats.transactions_kept, x->stats.edges_kept);
    if (per_event_before > 0 && (double)x->last > 1.1 * (double)x->half) {
        printf("MISSED: memory grows\n");
        failures++;
    }
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
    unsigned most = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10)
                             : hf_threads_available();

    for (int kind = 0; kind < WORKLOADS; kind++) {
        double before = 0;

        if (argc > 2 && strcmp(argv[2], names[kind]) != 0)
            continue;
        for (unsigned threads = 1; threads <= most && threads <= 2; threads++) {
            result small = run((workload)kind, n, threads), large;

            print((workload)kind, threads, &small, 0);
            if (threads > 1)
                continue;
            before = small.cpu / (double)small.events;
            large = run((workload)kind, 10 * n, threads);
            print((workload)kind, threads, &large, before);
        }
    }
    return failures > 0;
}
