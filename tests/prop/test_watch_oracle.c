/* test_watch_oracle.c: watch against all explanations of tiny traces.
 *
 *     test_watch_oracle [TRACES [SEED [PROFILE [FIRST]]]]
 *
 * Two to four transactions of a toy database without any protection, that
 * reads the newest row or a snapshot, with random intervals; some reads are
 * changed afterwards.  Some traces have rows of several keys, conditions,
 * totals, clocks that differ, writes without an answer, refused ones, and
 * transactions at a weaker level.  For profiles with every mechanism: what
 * watch reports has no explanation (watch_oracle.h).  How much of what has none
 * is reported is counted, by profile; none may be zero.  PROFILE: what is
 * missed there is shown; FIRST: the trace to begin with.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "watch_oracle.h"
#include "watch_trace.h"

#define DEFAULT_TRACES 40000

typedef struct tiny {
    hf_event events[ORACLE_EVENTS];
    size_t n;
    unsigned keys, txns;
    bool columns;    /* all keys are of row 0; there are no scans */
    bool conditions; /* scans have them */
    bool totals;     /* some return a sum, a count, ... */
    unsigned lost;   /* percent of operations that had no answer, or failed */
    bool weaker;     /* some transactions are at a weaker level */
    uint64_t error;  /* of clocks */
    uint64_t initial[ORACLE_KEYS];
} tiny;

typedef struct runner {
    uint64_t free_at;
    unsigned left;
    uint64_t snapshot[ORACLE_KEYS];
    uint64_t own[ORACLE_KEYS];
    bool wrote[ORACLE_KEYS];
    bool begun, ended, snapshots, taken, weaker;
    uint64_t before, instant, offset;
    uint32_t statement;
} runner;

static int failures;

/* ---- traces -------------------------------------------------------------- */

static void next_call(hf_rng *r, runner *x, unsigned length)
{
    x->before = x->free_at + hf_rng_below(r, 4);
    x->instant = x->before + hf_rng_below(r, length);
}

static hf_event *record(tiny *t, const runner *x, unsigned i,
                        hf_event_kind kind, uint64_t after)
{
    t->events[t->n] =
        (hf_event){.before = x->before + x->offset,
                   .after = after == UINT64_MAX ? after : after + x->offset,
                   .txn = i + 1,
                   .client = i,
                   .statement = x->statement,
                   .extra = (uint32_t)t->n,
                   .kind = (uint8_t)kind};
    return &t->events[t->n++];
}

static void record_read(tiny *t, const runner *x, unsigned i, unsigned key,
                        uint64_t after, const uint64_t *state, uint8_t flags)
{
    hf_event *e = record(t, x, i, HF_EVENT_READ, after);

    e->key = e->row = key;
    e->flags = flags;
    e->value = x->wrote[key]                ? x->own[key]
               : x->snapshots && flags == 0 ? x->snapshot[key]
                                            : state[key];
}

/* The scan that was recorded last returns a total of what it would. */
static void total(tiny *t, hf_rng *r, runner *x, unsigned i, unsigned condition,
                  const uint64_t *state)
{
    hf_event *e = &t->events[t->n - 1];
    unsigned id = condition + ORACLE_CONDITIONS * (1 + hf_rng_below(r, 4));
    uint64_t values[ORACLE_KEYS];
    int64_t number;

    for (unsigned k = 0; k < t->keys; k++) {
        record_read(t, x, i, k, 0, state, 0);
        values[k] = t->events[--t->n].value;
    }
    if (!oracle_total(id, values, t->keys, &number)) {
        t->n--; /* nothing is returned */
        return;
    }
    if (hf_rng_chance(r, 25))
        number += hf_rng_chance(r, 50) ? 1 : -1;
    e->value = id;
    hf_event_set_number(e, number);
}

static void scan(tiny *t, hf_rng *r, runner *x, unsigned i, uint64_t after,
                 uint64_t *state)
{
    hf_event *e = record(t, x, i, HF_EVENT_SCAN, after);
    unsigned condition = t->conditions ? hf_rng_below(r, ORACLE_CONDITIONS) : 0;

    e->value = condition; /* extra is needed for sorting */
    if (t->totals && hf_rng_chance(r, 70)) {
        total(t, r, x, i, condition, state);
        return;
    }
    for (unsigned k = 0; k < t->keys; k++) {
        uint64_t value;

        record_read(t, x, i, k, after, state, 0);
        value = t->events[t->n - 1].value;
        if (value == HF_EVENT_NO_ROW || !oracle_matches(condition, value))
            t->n--;
    }
}

static void operate(tiny *t, hf_rng *r, runner *x, unsigned i, uint64_t after,
                    uint64_t *state, uint64_t *next_value)
{
    unsigned key = hf_rng_below(r, t->keys);

    if (hf_rng_chance(r, 50)) {
        hf_event *e = record(t, x, i, HF_EVENT_WRITE, after);
        uint64_t v = hf_rng_chance(r, 15) ? 2 : ++*next_value;

        if (state[key] == HF_EVENT_NO_ROW && !x->wrote[key] &&
            hf_rng_chance(r, 60))
            e->flags |= HF_EVENT_INSERT;
        else if (hf_rng_chance(r, 20)) {
            v = HF_EVENT_NO_ROW;
            e->flags |= HF_EVENT_DELETE;
        }
        e->key = e->row = key;
        e->value = v;
        if (hf_rng_chance(r, t->lost)) {
            if (hf_rng_chance(r, 30)) {
                e->flags |= HF_EVENT_FAILED;
                return;
            }
            e->after = UINT64_MAX;
            if (hf_rng_chance(r, 50))
                return;
        }
        x->own[key] = v;
        x->wrote[key] = true;
    } else if (!t->columns &&
               hf_rng_chance(r, t->conditions || t->totals ? 50 : 20)) {
        scan(t, r, x, i, after, state);
    } else {
        record_read(t, x, i, key, after, state,
                    hf_rng_chance(r, 25)   ? HF_EVENT_FOR_UPDATE
                    : hf_rng_chance(r, 15) ? HF_EVENT_FOR_SHARE
                                           : 0);
    }
}

static void end(tiny *t, hf_rng *r, runner *x, unsigned i, uint64_t after,
                uint64_t *state)
{
    bool commits = !hf_rng_chance(r, 10);
    bool known = !hf_rng_chance(r, 10);

    x->ended = true;
    if (!commits && known) {
        (void)record(t, x, i, HF_EVENT_ABORT, after);
        return;
    }
    (void)record(t, x, i, HF_EVENT_COMMIT, known ? after : UINT64_MAX);
    for (unsigned k = 0; commits && k < t->keys; k++)
        if (x->wrote[k])
            state[k] = x->own[k];
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

static void change_read(tiny *t, hf_rng *r)
{
    for (int tries = 0; tries < 20; tries++) {
        hf_event *e = &t->events[hf_rng_below(r, (uint32_t)t->n)];
        const hf_event *w = &t->events[hf_rng_below(r, (uint32_t)t->n)];

        if (e->kind != HF_EVENT_READ || w->kind != HF_EVENT_WRITE ||
            w->key != e->key)
            continue;
        e->value = hf_rng_chance(r, 30) ? t->initial[e->key] : w->value;
        return;
    }
}

static void make(tiny *t, hf_rng *r)
{
    runner runners[ORACLE_TXNS] = {0};
    uint64_t state[ORACLE_KEYS], next_value = 10;
    unsigned length = 1 + hf_rng_below(r, 14);

    *t = (tiny){.keys = 1 + hf_rng_below(r, 2), .txns = 2 + hf_rng_below(r, 3)};
    t->columns = hf_rng_chance(r, 15);
    t->conditions = hf_rng_chance(r, 25);
    t->totals = hf_rng_chance(r, 30);
    t->lost = hf_rng_chance(r, 20) ? 15 : 0;
    t->weaker = hf_rng_chance(r, 10);
    t->error = hf_rng_chance(r, 20) ? 1 + hf_rng_below(r, 5) : 0;
    for (unsigned k = 0; k < t->keys; k++)
        state[k] = t->initial[k] = hf_rng_chance(r, 70) ? 1 : HF_EVENT_NO_ROW;
    for (unsigned i = 0; i < t->txns; i++) {
        runner *x = &runners[i];

        x->left = 1 + hf_rng_below(r, t->txns == 4 ? 2 : 3);
        x->snapshots = hf_rng_chance(r, 70);
        x->weaker = t->weaker && hf_rng_chance(r, 50);
        x->offset = hf_rng_below(r, (uint32_t)t->error + 1);
        x->free_at = 1 + hf_rng_below(r, 12);
        next_call(r, x, length);
    }
    for (;;) {
        runner *x = NULL;
        unsigned i = 0;
        uint64_t after;

        for (unsigned k = 0; k < t->txns; k++)
            if (!runners[k].ended && (!x || runners[k].instant < x->instant)) {
                x = &runners[k];
                i = k;
            }
        if (!x)
            break;
        after = x->instant + hf_rng_below(r, length);
        x->statement++;
        if (!x->begun) {
            hf_event *e = record(t, x, i, HF_EVENT_BEGIN, after);

            e->flags = x->weaker ? HF_EVENT_WEAKER : 0;
            x->begun = true;
        } else if (x->left == 0) {
            end(t, r, x, i, after, state);
        } else {
            if (!x->taken)
                memcpy(x->snapshot, state, sizeof(state));
            x->taken = true;
            x->left--;
            operate(t, r, x, i, after, state, &next_value);
        }
        x->free_at = after;
        next_call(r, x, length);
    }
    if (hf_rng_chance(r, 40))
        change_read(t, r);
    qsort(t->events, t->n, sizeof(hf_event), by_before);
    for (size_t i = 0; i < t->n; i++) {
        t->events[i].extra = t->events[i].kind == HF_EVENT_SCAN
                                 ? (uint32_t)t->events[i].value
                                 : 0;
        if (t->columns)
            t->events[i].row = 0;
    }
}

/* ---- the question, asked twice ------------------------------------------- */

static bool keep_first(void *user, const hf_violation *v)
{
    hf_violation *first = user;

    if (first->number == 0)
        *first = *v;
    return true;
}

static hf_watch_match matches(void *user, uint32_t scan, uint32_t key,
                              uint64_t value)
{
    (void)user;
    (void)key;
    return oracle_matches(scan, value) ? HF_MATCH_YES : HF_MATCH_NO;
}

static hf_watch_match counts(void *user, uint32_t scan, uint32_t key,
                             uint64_t value, int64_t *ret)
{
    *ret = (int64_t)value;
    return matches(user, scan, key, value);
}

static bool ask_watch(const tiny *t, const hf_profile *p, hf_violation *first)
{
    hf_watch *w = hf_watch_new(&(hf_watch_options){.profile = p,
                                                   .violation = keep_first,
                                                   .matches = matches,
                                                   .counts = counts,
                                                   .clock_error = t->error,
                                                   .user = first});

    first->number = 0;
    for (unsigned k = 0; k < t->keys; k++) {
        hf_watch_key(w, k,
                     t->initial[k] ? HF_WATCH_INITIAL_VALUE
                                   : HF_WATCH_INITIAL_ABSENT,
                     t->initial[k]);
        if (!t->columns)
            hf_watch_place(w, k, k, 0, k);
    }
    for (uint32_t c = 0; c < ORACLE_SCANS; c++)
        if (c < ORACLE_CONDITIONS)
            hf_watch_scan(w, c, 0, 0, UINT64_MAX, c > 0);
        else
            hf_watch_total(w, c, 0, 0, UINT64_MAX,
                           (hf_watch_total_kind)(c / ORACLE_CONDITIONS));
    (void)hf_watch_feed(w, t->events, t->n);
    (void)hf_watch_finish(w);
    hf_watch_free(w);
    return first->number > 0;
}

static void show(const tiny *t, const hf_profile *p, const hf_violation *v,
                 uint64_t seed)
{
    trace x = {0};
    char words[64];

    if (failures > 3)
        return;
    fprintf(stderr, "seed %" PRIu64 " %s/%s %s: reported, but possible\n", seed,
            p->database, p->level,
            hf_profile_mechanisms(p, words, sizeof(words)));
    for (int64_t c = 0; c < ORACLE_SCANS; c++)
        hf_vec_push(&x.scans, (trace_scan){c, c, HF_TOTAL_NONE});
    fprintf(stderr, "clock error %" PRIu64 "%s\n", t->error,
            t->columns ? ", all keys of one row" : "");
    for (size_t i = 0; i < t->n; i++)
        hf_vec_push(&x.events, t->events[i]);
    for (unsigned k = 0; k < t->keys; k++)
        fprintf(stderr, "initial k%u = %" PRIu64 "\n", k, t->initial[k]);
    trace_print(&x);
    trace_print_violation(v);
    trace_release(&x);
}

static const char *const names[] = {"postgresql/serializable",
                                    "postgresql/repeatable read",
                                    "postgresql/read committed",
                                    "mysql/serializable",
                                    "mysql/repeatable read",
                                    "mysql/read uncommitted",
                                    "mariadb/repeatable read",
                                    "sqlserver/repeatable read",
                                    "tidb/optimistic",
                                    "sqlite/wal",
                                    "rocksdb",
                                    "spanner",
                                    "spanner/repeatable read",
                                    "foundationdb",
                                    "cockroachdb",
                                    "cockroachdb/repeatable read",
                                    "store/serializable",
                                    "store/repeatable read",
                                    "store/read committed",
                                    "store/prefix",
                                    "free inserts, no locks",
                                    "cycle"};
#define N_NAMES (sizeof(names) / sizeof(names[0]))

static hf_profile profile_of(size_t i)
{
    const hf_profile *p = hf_profile_find(hf_str_of(names[i]), NULL);
    hf_profile x = p ? *p : *hf_profile_find(HF_STR("store/prefix"), NULL);

    if (!p && names[i][0] == 'f') {
        x = *hf_profile_find(HF_STR("spanner/repeatable read"), NULL);
        x.level = names[i];
        x.inserts_conflict = false;
    } else if (!p) {
        x.database = x.level = "cycle";
        x.certifier = HF_WATCH_SC_CYCLE;
    }
    x.slack = 0;
    return x;
}

typedef struct tally {
    uint64_t asked, possible, impossible, found, by[4];
} tally;

int main(int argc, char **argv)
{
    uint64_t traces = argc > 1 ? strtoull(argv[1], NULL, 10) : DEFAULT_TRACES;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t first = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
    tally tallies[N_NAMES] = {0};

    for (uint64_t i = first; i < first + traces; i++) {
        size_t at = i % N_NAMES;
        hf_profile p = profile_of(at);
        hf_violation v;
        oracle_answer answer;
        bool reported;
        hf_rng r;
        tiny t;

        hf_rng_seed(&r, seed * 1000003 + i);
        make(&t, &r);
        answer = oracle_ask(&(oracle_question){.profile = &p,
                                               .events = t.events,
                                               .n = t.n,
                                               .keys = t.keys,
                                               .initial = t.initial,
                                               .error = t.error});
        if (answer == ORACLE_TOO_LONG)
            continue;
        reported = ask_watch(&t, &p, &v);
        tallies[at].asked++;
        if (answer == ORACLE_POSSIBLE) {
            tallies[at].possible++;
            if (reported) {
                show(&t, &p, &v, seed * 1000003 + i);
                failures++;
            }
            continue;
        }
        tallies[at].impossible++;
        tallies[at].found += reported;
        if (reported)
            tallies[at].by[v.mechanism]++;
        else if (argc > 3 && strcmp(argv[3], names[at]) == 0)
            show(&t, &p, &(hf_violation){0}, i);
    }
    printf("%-32s %8s %10s %8s %6s  %6s %6s %6s %6s\n", "profile", "possible",
           "impossible", "found", "%", "CR", "ME", "FUW", "SC");
    for (size_t i = 0; i < N_NAMES; i++) {
        const tally *x = &tallies[i];

        printf("%-32s %8" PRIu64 " %10" PRIu64 " %8" PRIu64 " %6.1f  %6" PRIu64
               " %6" PRIu64 " %6" PRIu64 " %6" PRIu64 "\n",
               names[i], x->possible, x->impossible, x->found,
               x->impossible ? 100.0 * (double)x->found / (double)x->impossible
                             : 0.0,
               x->by[0], x->by[1], x->by[2], x->by[3]);
        if (x->asked > 500 && (x->found == 0 || x->possible == 0))
            failures++;
    }
    if (failures > 0)
        printf("%d failures\n", failures);
    return failures > 0;
}
