/* watch_trace.c: see watch_trace.h. */
#include "watch_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum step { STEP_BEGIN, STEP_OPERATION, STEP_END } step;

typedef struct client {
    uint64_t before, instant; /* of its next call */
    uint64_t txn;
    unsigned left; /* operations */
    uint32_t statement;
    step step;
    bool done;
} client;

typedef struct world {
    trace *t;
    hf_store *s;
    hf_rng *r;
    client *clients;
    uint64_t next_txn, next_value;
    unsigned to_begin;
} world;

trace_taste trace_random_taste(hf_rng *r, hf_level level, hf_store_bug bug)
{
    const hf_store_bug_info *info = hf_store_bug_get(bug);
    trace_taste t = {.level = level,
                     .bug = bug,
                     .percent = info->percent,
                     .sessions = 2 + hf_rng_below(r, 5),
                     .keys = 1 + hf_rng_below(r, 6),
                     .txns = 4 + hf_rng_below(r, 40),
                     .ops = 1 + hf_rng_below(r, 6),
                     .reads = 20 + hf_rng_below(r, 70),
                     .length = 1 + hf_rng_below(r, 60),
                     .gap = 1 + hf_rng_below(r, 20),
                     .loaded = hf_rng_chance(r, 50)};
    bool predicates = (info->workloads & HF_BUG_IN_REGISTER) == 0;

    if (predicates || hf_rng_chance(r, 30))
        t.scans = 10 + hf_rng_below(r, 60);
    if (t.scans > 0 && !predicates && hf_rng_chance(r, 40))
        t.totals = 20 + hf_rng_below(r, 80);
    if (hf_rng_chance(r, 40))
        t.deletes = hf_rng_below(r, 30);
    if (info->abort_percent || hf_rng_chance(r, 30))
        t.aborts = 1 + hf_rng_below(r, 25);
    if (hf_rng_chance(r, 30))
        t.unknown = 1 + hf_rng_below(r, 20);
    if (info->needs_duplicates || hf_rng_chance(r, 20))
        t.duplicates = 2 + hf_rng_below(r, 4);
    return t;
}

static uint64_t value_of(uint32_t id)
{
    return id == HF_NONE ? HF_EVENT_NO_ROW : id;
}

static void next_call(world *w, client *c, uint64_t from)
{
    c->before = from + hf_rng_below(w->r, w->t->taste.gap + 1);
    c->instant = c->before + 1 + hf_rng_below(w->r, w->t->taste.length);
}

static hf_event *record(world *w, uint32_t i, hf_event_kind kind,
                        uint64_t after)
{
    const client *c = &w->clients[i];

    hf_vec_push(&w->t->events, (hf_event){.before = c->before,
                                          .after = after,
                                          .txn = c->txn,
                                          .client = i,
                                          .statement = c->statement,
                                          .kind = (uint8_t)kind});
    return &w->t->events.at[w->t->events.n - 1];
}

static void record_key(world *w, uint32_t i, hf_event_kind kind, uint64_t after,
                       uint32_t key, uint32_t id)
{
    hf_event *e = record(w, i, kind, after);

    e->key = e->row = key;
    e->value = value_of(id);
}

/* The scan at e returns one number for its rows. */
static void record_total(world *w, hf_event *e, const hf_store_row *rows,
                         size_t n)
{
    trace_scan *s = &w->t->scans.at[e->extra];
    int64_t count = 0, sum = 0, least = INT64_MAX, greatest = 0;
    hf_watch_total_kind what =
        (hf_watch_total_kind)(HF_TOTAL_COUNT + hf_rng_below(w->r, 4));

    for (size_t i = 0; i < n; i++) {
        int64_t x = (int64_t)rows[i].number;

        if (!rows[i].returned)
            continue;
        count++;
        sum += x;
        least = x < least ? x : least;
        greatest = x > greatest ? x : greatest;
    }
    if (count == 0)
        what = HF_TOTAL_COUNT;
    s->total = what;
    e->value = what == HF_TOTAL_COUNT ? (uint64_t)count
               : what == HF_TOTAL_SUM ? (uint64_t)sum
               : what == HF_TOTAL_MIN ? (uint64_t)least
                                      : (uint64_t)greatest;
    hf_event_set_number(e, (int64_t)e->value);
}

static void run_scan(world *w, uint32_t i, uint64_t after)
{
    const hf_store_scanned *scan;
    const hf_store_row *rows;
    trace_scan s = {0, INT64_MAX, HF_TOTAL_NONE};
    hf_event *e;

    if (hf_rng_chance(w->r, 50)) {
        s.lo = (int64_t)hf_rng_below(w->r, (uint32_t)w->next_value + 1);
        s.hi = s.lo + (int64_t)hf_rng_below(w->r, 20);
    }
    scan = hf_store_scan(w->s, i, HF_OP_PREDICATE_READ, s.lo, s.hi);
    e = record(w, i, HF_EVENT_SCAN, after);
    e->extra = (uint32_t)w->t->scans.n;
    hf_vec_push(&w->t->scans, s);
    rows = hf_store_rows(w->s, i) + scan->first_row;
    if (w->t->taste.totals > 0 && hf_rng_chance(w->r, w->t->taste.totals)) {
        record_total(w, e, rows, scan->n_rows);
        return;
    }
    for (size_t k = 0; k < scan->n_rows; k++)
        if (rows[k].returned)
            record_key(w, i, HF_EVENT_READ, after, rows[k].key,
                       (uint32_t)rows[k].number);
}

static uint32_t new_value(world *w)
{
    if (w->t->taste.duplicates)
        return 1 + hf_rng_below(w->r, w->t->taste.duplicates);
    return (uint32_t)++w->next_value;
}

/* False: the store refused. */
static bool run_operation(world *w, uint32_t i, uint64_t after)
{
    const trace_taste *taste = &w->t->taste;
    uint32_t key = hf_rng_below(w->r, taste->keys);
    uint32_t id;

    if (hf_rng_chance(w->r, taste->reads)) {
        if (hf_rng_chance(w->r, taste->scans)) {
            run_scan(w, i, after);
            return true;
        }
        id = hf_store_read(w->s, i, key)->id;
        record_key(w, i, HF_EVENT_READ, after, key, id);
        return true;
    }
    if (hf_rng_chance(w->r, taste->deletes)) {
        if (!hf_store_delete(w->s, i, key))
            return false;
        record_key(w, i, HF_EVENT_WRITE, after, key, HF_NONE);
        return true;
    }
    id = new_value(w);
    if (!hf_store_write(w->s, i, key, (hf_store_value){id, id}))
        return false;
    record_key(w, i, HF_EVENT_WRITE, after, key, id);
    return true;
}

static void finish(world *w, client *c)
{
    c->step = STEP_BEGIN;
    c->statement = 0;
    if (w->to_begin == 0)
        c->done = true;
}

static void run_end(world *w, uint32_t i, uint64_t after, bool refused)
{
    bool aborts = refused || hf_rng_chance(w->r, w->t->taste.aborts);
    bool known = !hf_rng_chance(w->r, w->t->taste.unknown);
    hf_store_end end;

    if (aborts) {
        (void)hf_store_abort(w->s, i);
        (void)record(w, i, HF_EVENT_ABORT, after);
        return;
    }
    end = hf_store_commit(w->s, i);
    if (!known || end.outcome == HF_UNKNOWN_OUTCOME)
        (void)record(w, i, HF_EVENT_COMMIT, UINT64_MAX);
    else
        (void)record(w, i,
                     end.outcome == HF_COMMITTED ? HF_EVENT_COMMIT
                                                 : HF_EVENT_ABORT,
                     after);
}

static void run_call(world *w, uint32_t i)
{
    client *c = &w->clients[i];
    uint64_t after = c->instant + 1 + hf_rng_below(w->r, w->t->taste.length);

    hf_store_deliver(w->s);
    c->statement++;
    switch (c->step) {
    case STEP_BEGIN:
        w->to_begin--;
        c->txn = w->next_txn++;
        c->left = 1 + hf_rng_below(w->r, w->t->taste.ops);
        (void)hf_store_begin(w->s, i);
        (void)record(w, i, HF_EVENT_BEGIN, after);
        c->step = STEP_OPERATION;
        break;
    case STEP_OPERATION:
        if (!run_operation(w, i, after)) {
            run_end(w, i, after, true);
            finish(w, c);
        } else if (--c->left == 0) {
            c->step = STEP_END;
        }
        break;
    case STEP_END:
        run_end(w, i, after, false);
        finish(w, c);
        break;
    }
    if (w->to_begin == 0 && c->step == STEP_BEGIN)
        c->done = true;
    next_call(w, c, after);
}

/* The clocks of some clients are wrong. */
static void skew_clocks(world *w)
{
    uint64_t skew[64] = {0};

    for (uint32_t i = 0; i < w->t->taste.sessions && i < 64; i++)
        if (hf_rng_chance(w->r, w->t->taste.percent))
            skew[i] = 300;
    for (size_t i = 0; i < w->t->events.n; i++) {
        hf_event *e = &w->t->events.at[i];

        e->before += skew[e->client];
        if (e->after != UINT64_MAX)
            e->after += skew[e->client];
    }
}

static int by_before(const void *a, const void *b)
{
    const hf_event *x = a, *y = b;

    if (x->before != y->before)
        return x->before < y->before ? -1 : 1;
    if (x->client != y->client)
        return x->client < y->client ? -1 : 1;
    return (x->extra > y->extra) - (x->extra < y->extra);
}

/* The rows of a scan keep their place behind it: qsort is not stable. */
static void sort_events(trace *t)
{
    for (size_t i = 0; i < t->events.n; i++)
        if (t->events.at[i].kind != HF_EVENT_SCAN)
            t->events.at[i].extra = (uint32_t)(i + 1) << 8;
    for (size_t i = 0; i < t->events.n; i++)
        if (t->events.at[i].kind == HF_EVENT_SCAN)
            t->events.at[i].extra = (uint32_t)(i + 1) << 8;
    qsort(t->events.at, t->events.n, sizeof(hf_event), by_before);
}

void trace_make(trace *t, const trace_taste *taste, hf_rng *r)
{
    world w = {.t = t, .r = r, .to_begin = taste->txns, .next_txn = 1};
    HF_VEC(uint32_t) scan_at = {0};
    uint32_t next_scan = 0;

    *t = (trace){.taste = *taste};
    w.s = hf_store_new(&(hf_store_options){.level = taste->level,
                                           .bug = taste->bug,
                                           .bug_percent = taste->percent,
                                           .sessions = taste->sessions,
                                           .keys = taste->keys,
                                           .seed = hf_rng_next(r)});
    for (uint32_t k = 0; taste->loaded && k < taste->keys; k++) {
        uint32_t id = taste->duplicates ? 1 : (uint32_t)++w.next_value;

        hf_store_load(w.s, k, (hf_store_value){id, id});
    }
    w.clients = HF_NEW_ZEROED(client, taste->sessions);
    for (uint32_t i = 0; i < taste->sessions; i++)
        next_call(&w, &w.clients[i], 1000);
    for (;;) {
        client *least = NULL;

        for (uint32_t i = 0; i < taste->sessions; i++)
            if (!w.clients[i].done &&
                (w.to_begin > 0 || w.clients[i].step != STEP_BEGIN) &&
                (!least || w.clients[i].instant < least->instant))
                least = &w.clients[i];
        if (!least)
            break;
        run_call(&w, (uint32_t)(least - w.clients));
    }
    if (taste->bug == HF_BUG_CLOCK_SKEW)
        skew_clocks(&w);
    /* which scan an event is of, by the place where it was recorded */
    for (size_t i = 0; i < t->events.n; i++)
        hf_vec_push(&scan_at, t->events.at[i].kind == HF_EVENT_SCAN
                                  ? next_scan++
                                  : HF_NONE);
    sort_events(t);
    for (size_t i = 0; i < t->events.n; i++)
        t->events.at[i].extra = scan_at.at[(t->events.at[i].extra >> 8) - 1];
    hf_vec_release(&scan_at);
    hf_free(w.clients);
    hf_store_free(w.s);
}

void trace_release(trace *t)
{
    hf_vec_release(&t->events);
    hf_vec_release(&t->scans);
}

const hf_profile *trace_profile(hf_level level)
{
    static const struct {
        hf_level level;
        const char *name;
    } names[] = {
        {HF_SERIALIZABLE, "store/serializable"},
        {HF_STRICT_SERIALIZABLE, "store/serializable"},
        {HF_SNAPSHOT_ISOLATION, "store/snapshot isolation"},
        {HF_STRONG_SESSION_SNAPSHOT_ISOLATION, "store/snapshot isolation"},
        {HF_REPEATABLE_READ, "store/repeatable read"},
        {HF_PREFIX, "store/prefix"},
        {HF_READ_COMMITTED, "store/read committed"},
        {HF_READ_UNCOMMITTED, "store/read uncommitted"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].level == level)
            return hf_profile_find(hf_str_of(names[i].name), NULL);
    return NULL;
}

/* ---- watching ------------------------------------------------------------ */

typedef struct watching {
    const trace *t;
    trace_verdict *v;
} watching;

static void mix(uint64_t *hash, uint64_t x)
{
    *hash = (*hash ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    *hash ^= *hash >> 29;
}

static bool keep(void *user, const hf_violation *v)
{
    watching *x = user;

    if (x->v->violations++ == 0)
        x->v->first = *v;
    x->v->by[v->mechanism]++;
    x->v->by_rule[v->rule]++;
    mix(&x->v->hash, v->time);
    mix(&x->v->hash, v->rule);
    mix(&x->v->hash, v->txn);
    mix(&x->v->hash, v->other);
    mix(&x->v->hash, v->key);
    mix(&x->v->hash, v->value);
    for (unsigned i = 0; i < v->n_parts; i++) {
        mix(&x->v->hash, v->parts[i].txn);
        mix(&x->v->hash, v->parts[i].before);
        mix(&x->v->hash, v->parts[i].after);
        mix(&x->v->hash, v->parts[i].part);
    }
    return true;
}

static hf_watch_match matches(void *user, uint32_t scan, uint32_t key,
                              uint64_t value)
{
    const watching *x = user;
    const trace_scan *s = &x->t->scans.at[scan];

    (void)key;
    return s->lo <= (int64_t)value && (int64_t)value <= s->hi ? HF_MATCH_YES
                                                              : HF_MATCH_NO;
}

static hf_watch_match counts(void *user, uint32_t scan, uint32_t key,
                             uint64_t value, int64_t *ret)
{
    *ret = (int64_t)value;
    return matches(user, scan, key, value);
}

static void announce(const trace *t, hf_watch *w, uint32_t key)
{
    hf_watch_key(w, key,
                 t->taste.loaded ? HF_WATCH_INITIAL_VALUE
                                 : HF_WATCH_INITIAL_ABSENT,
                 t->taste.duplicates ? 1 : key + 1);
    hf_watch_place(w, key, key, 0, key);
}

trace_verdict trace_watch(const trace *t, const hf_profile *profile,
                          unsigned threads, size_t batch)
{
    trace_verdict v = {0};
    watching x = {t, &v};
    /* rows that come into being are announced when they do */
    bool is_late = !t->taste.loaded && t->taste.gap % 2 == 1;
    uint64_t announced = 0;
    hf_watch *w = hf_watch_new(&(hf_watch_options){.profile = profile,
                                                   .threads = threads,
                                                   .violation = keep,
                                                   .matches = matches,
                                                   .counts = counts,
                                                   .user = &x,
                                                   .batch = batch});

    for (uint32_t k = 0; k < t->taste.keys && !is_late; k++)
        announce(t, w, k);
    for (uint32_t i = 0; i < t->scans.n; i++)
        hf_watch_total(w, i, 0, 0, UINT64_MAX, t->scans.at[i].total);
    for (size_t i = 0; i < t->events.n; i++) {
        const hf_event *e = &t->events.at[i];

        if (is_late &&
            (e->kind == HF_EVENT_READ || e->kind == HF_EVENT_WRITE) &&
            !(announced >> e->key & 1)) {
            announced |= (uint64_t)1 << e->key;
            announce(t, w, e->key);
        }
        (void)hf_watch_feed(w, e, 1);
    }
    (void)hf_watch_finish(w);
    hf_watch_stats_get(w, &v.stats);
    hf_watch_free(w);
    return v;
}

/* ---- for those who look -------------------------------------------------- */

void trace_print(const trace *t)
{
    static const char *const kinds[] = {"begin", "read",   "write",
                                        "scan",  "commit", "abort"};

    for (size_t i = 0; i < t->events.n; i++) {
        const hf_event *e = &t->events.at[i];

        fprintf(stderr, "%5" PRIu64 " %5" PRId64 "  c%u T%-3" PRIu64 " s%u %s",
                e->before, (int64_t)e->after, e->client, e->txn, e->statement,
                kinds[e->kind]);
        if (e->kind == HF_EVENT_READ || e->kind == HF_EVENT_WRITE)
            fprintf(stderr, " k%u = %" PRIu64 "%s", e->key, e->value,
                    e->flags & HF_EVENT_FOR_UPDATE  ? " for update"
                    : e->flags & HF_EVENT_FOR_SHARE ? " for share"
                                                    : "");
        if (e->flags & HF_EVENT_FAILED)
            fprintf(stderr, " refused");
        if (e->kind == HF_EVENT_BEGIN && (e->flags & HF_EVENT_WEAKER))
            fprintf(stderr, " at a weaker level");
        if (e->kind == HF_EVENT_SCAN)
            fprintf(stderr, " %" PRId64 " .. %" PRId64 " total %d = %" PRId64,
                    t->scans.at[e->extra].lo, t->scans.at[e->extra].hi,
                    (int)t->scans.at[e->extra].total, hf_event_number(e));
        fputc('\n', stderr);
    }
}

void trace_print_violation(const hf_violation *v)
{
    static const char *const kinds[] = {"ww", "wr", "rw"};
    static const char *const parts[] = {"read",      "snapshot", "write",
                                        "lock-read", "commit",   "abort",
                                        "candidate"};

    fprintf(stderr,
            "%s %s T%" PRId64 " T%" PRId64 " key %d value %" PRIu64
            " at %" PRIu64 "\n",
            hf_watch_mechanism_name(v->mechanism), hf_watch_rule_name(v->rule),
            (int64_t)v->txn, (int64_t)v->other, (int)v->key, v->value, v->time);
    for (unsigned i = 0; i < v->n_parts; i++)
        fprintf(stderr,
                "    %-9s T%" PRId64 " k%d %" PRIu64 " [%" PRIu64 ", %" PRId64
                "]\n",
                parts[v->parts[i].part], (int64_t)v->parts[i].txn,
                (int)v->parts[i].key, v->parts[i].value, v->parts[i].before,
                (int64_t)v->parts[i].after);
    for (unsigned i = 0; i < v->n_edges; i++)
        fprintf(stderr, "    T%" PRIu64 " -%s-> T%" PRIu64 " k%u\n",
                v->edges[i].from, kinds[v->edges[i].kind], v->edges[i].to,
                v->edges[i].key);
}
