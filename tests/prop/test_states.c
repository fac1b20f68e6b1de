/* test_states.c: the search over states against enumeration.
 *
 *     test_states [RUNS [SEED [tiny | large [show]]]]
 *
 * Tiny histories (states_store.h) at every level: the search itself, whatever
 * the other engines make of the history, against two judges.
 *
 *   brute      what it decides, the search decides alike at the serializable
 *              forms, repeatable read and the forms of snapshot isolation, and
 *              at read committed without lists;
 *              elsewhere it may only say valid, and only if brute does
 *   an oracle  that executes the operations of all orders of transactions, one
 *              by one, for the serializable forms; it knows what counters hold
 *
 * One run in twenty is a history of 50 to 2,000 transactions, asked of engine
 * polygraph: what a serial store made is valid and said so in time, and so is
 * what a store with snapshots made, at snapshot isolation; with a reader that
 * is stale by real time it is never valid, and often enough invalid.  Witnesses
 * are accepted by verify where it knows the history.  Where lists had elements
 * to begin with, and where increments have no results, polygraph is asked about
 * tiny ones as well, at every level, and has to know.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/error.h"
#include "check/brute_engine.h"
#include "check/check.h"
#include "check/states.h"
#include "history/text.h"
#include "proved.h"
#include "states_store.h"

#define LARGE_EVERY 20
#define MAX_SHOWN 8
#define SECONDS_EACH 2

typedef struct run {
    uint64_t seed;
    bool show;
    long answers[HF_LEVEL_COUNT][HF_VERDICT_COUNT]; /* of the search */
    long decided[2], open; /* with counters, without; where it matters */
    long large, valid, stale, stale_found, limits;
    long snapshots, left_open;    /* of stores with snapshots */
    long late;                    /* of the others: not in time */
    long begun[HF_VERDICT_COUNT]; /* polygraph, see has_more() */
    long verified, unsupported;
    long passed, failed;
    int shown;
    double slowest;
    uint64_t slowest_seed;
} run;

static void complain(run *r, hf_level level, const char *what, const char *more)
{
    r->failed++;
    if (r->shown++ < MAX_SHOWN)
        printf("test_states 1 %" PRIu64 ": %s: %s%s%s\n", r->seed,
               hf_level_get(level)->name, what, more ? ": " : "",
               more ? more : "");
}

/* ---- the oracle ---------------------------------------------------------- */

#define MOST_ITEMS 64

typedef struct slot {
    hf_value_id value; /* HF_NONE: nil */
    int64_t number;    /* counters */
    uint32_t n;        /* lists */
    hf_value_id items[MOST_ITEMS];
} slot;

typedef struct oracle {
    const hf_history *h;
    const hf_level_info *level;
    bool *counter, *list; /* per key */
    uint8_t in, done;     /* transactions, as bits */
} oracle;

static bool same_list(const oracle *x, const slot *s, hf_value_id v)
{
    hf_value_id items[MOST_ITEMS] = {0};
    uint32_t n = 0;

    if (x->h->value_type[v] == HF_LIST)
        n = hf_list_items(x->h, v, items);
    else if (x->h->value_type[v] != HF_NIL)
        return false;
    return n == s->n && memcmp(items, s->items, n * sizeof(*items)) == 0;
}

static bool fits(const oracle *x, const slot *s, hf_key_id k, hf_value_id v)
{
    const hf_history *h = x->h;

    if (x->list[k])
        return same_list(x, s, v);
    if (x->counter[k])
        return (h->value_type[v] == HF_NIL ? 0 : h->value_data[v]) == s->number;
    return h->value_type[v] == HF_NIL ? s->value == HF_NONE : s->value == v;
}

static bool execute(const oracle *x, slot *state, hf_txn_id t)
{
    const hf_history *h = x->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        slot *s = &state[h->op_key[o]];
        hf_value_id v = h->op_value[o];

        switch (hf_op_kind_of(h, o)) {
        case HF_OP_READ:
        case HF_OP_READ_LIST:
            if (!fits(x, s, h->op_key[o], v))
                return false;
            break;
        case HF_OP_APPEND:
            s->items[s->n++] = v;
            break;
        case HF_OP_INCREMENT:
            s->number += hf_op_increment(h, o).amount;
            break;
        default:
            s->value = h->value_type[v] == HF_NIL ? HF_NONE : v;
            s->number = h->value_type[v] == HF_NIL ? 0 : h->value_data[v];
            break;
        }
    }
    return true;
}

/* By the recorded order of some key. */
static bool is_recorded(const hf_history *h, hf_txn_id a, hf_txn_id b)
{
    for (hf_key_id k = 0; h->cert.order_first && k < h->n_keys; k++) {
        bool seen = false;

        for (uint64_t i = h->cert.order_first[k];
             i < h->cert.order_first[k + 1]; i++) {
            if (seen && h->cert.order_txn[i] == b)
                return true;
            seen |= h->cert.order_txn[i] == a;
        }
    }
    return false;
}

static bool precedes(const oracle *x, hf_txn_id a, hf_txn_id b)
{
    const hf_history *h = x->h;

    return is_recorded(h, a, b) ||
           (x->level->session_order && a < b &&
            h->txn_session[a] == h->txn_session[b]) ||
           (x->level->real_time && h->txn_outcome[a] == HF_COMMITTED &&
            h->txn_end && h->txn_end[a] < h->txn_begin[b]);
}

static bool explains(oracle *x, const slot *state)
{
    const hf_history *h = x->h;

    if (x->done == x->in)
        return true;
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        slot *next;
        bool found = false, early = false;

        for (hf_txn_id u = 0; u < h->n_txns; u++)
            early |= ((x->in & ~x->done) >> u & 1u) && precedes(x, u, t);
        if (!((x->in & ~x->done) >> t & 1u) || early)
            continue;
        next = HF_NEW_ARRAY(slot, (size_t)h->n_keys + 1);
        memcpy(next, state, h->n_keys * sizeof(*next));
        x->done |= (uint8_t)(1u << t);
        found = execute(x, next, t) && explains(x, next);
        x->done &= (uint8_t) ~(1u << t);
        hf_free(next);
        if (found)
            return true;
    }
    return false;
}

static void look_at_keys(oracle *x, slot *state, bool *ret_counters)
{
    const hf_history *h = x->h;

    for (hf_op_id o = 0; o < h->n_ops; o++) {
        x->list[h->op_key[o]] |= hf_op_kind_of(h, o) == HF_OP_APPEND;
        x->counter[h->op_key[o]] |= hf_op_kind_of(h, o) == HF_OP_INCREMENT;
    }
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_value_id v = h->key_initial ? h->key_initial[k] : HF_NONE;

        *ret_counters |= x->counter[k];
        state[k].value =
            v != HF_NONE && h->value_type[v] == HF_NIL ? HF_NONE : v;
        if (v != HF_NONE && h->value_type[v] == HF_INT)
            state[k].number = h->value_data[v];
        if (v != HF_NONE && h->value_type[v] == HF_LIST) {
            x->list[k] = true;
            state[k].n = hf_list_items(h, v, state[k].items);
        }
    }
}

/* Is the history valid at a serializable form? */
static bool oracle_says(const hf_history *h, hf_level level, bool *ret_counters)
{
    oracle x = {.h = h, .level = hf_level_get(level)};
    slot *state = HF_NEW_ZEROED(slot, (size_t)h->n_keys + 1);
    uint8_t sure = 0, maybe = 0;
    bool found = false;

    x.list = HF_NEW_ZEROED(bool, (size_t)h->n_keys + 1);
    x.counter = HF_NEW_ZEROED(bool, (size_t)h->n_keys + 1);
    *ret_counters = false;
    look_at_keys(&x, state, ret_counters);
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        sure |= (uint8_t)((h->txn_outcome[t] == HF_COMMITTED) << t);
        maybe |= (uint8_t)((h->txn_outcome[t] == HF_UNKNOWN_OUTCOME) << t);
    }
    for (unsigned some = maybe;; some = (some - 1) & maybe) {
        x.in = (uint8_t)(sure | some);
        found = explains(&x, state);
        if (found || some == 0)
            break;
    }
    hf_free(x.list);
    hf_free(x.counter);
    hf_free(state);
    return found;
}

/* ---- tiny ones ----------------------------------------------------------- */

static states_taste tiny_taste(hf_rng *r)
{
    return (states_taste){.txns = 2 + hf_rng_below(r, 6),
                          .keys = 1 + hf_rng_below(r, 3),
                          .sessions = 1 + hf_rng_below(r, 4),
                          .ops = 1 + hf_rng_below(r, 3),
                          .values = 2 + hf_rng_below(r, 3),
                          .lists = hf_rng_below(r, 100),
                          .counters = hf_rng_chance(r, 25) ? 40 : 0,
                          .initial = hf_rng_chance(r, 40) ? 50 : 0,
                          .twice = 1,
                          .unknown = hf_rng_chance(r, 50) ? 35 : 0,
                          .aborted = hf_rng_chance(r, 40) ? 20 : 0,
                          .lag = hf_rng_below(r, 4),
                          .conflicts = hf_rng_chance(r, 60),
                          .times = hf_rng_chance(r, 60),
                          .overlap = hf_rng_below(r, 4),
                          .change = hf_rng_chance(r, 50) ? 60 : 0,
                          .orders = hf_rng_chance(r, 25) ? 70 : 0};
}

static void prove(run *r, const hf_history *h, hf_level level,
                  const hf_result *x)
{
    hf_error why = {0};

    if (is_proved(NULL, h, x, &x->witness, &why))
        r->verified++;
    else if (strstr(why.text, "increments without"))
        r->unsupported++;
    else
        complain(r, level, "not proved", why.text);
}

static bool has_lists(const hf_history *h)
{
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_kind_of(h, op) == HF_OP_APPEND)
            return true;
    return false;
}

/* Levels at which the search says invalid, too. */
static bool is_exact(const hf_history *h, hf_level level)
{
    hf_level_shape shape = hf_level_get(level)->shape;

    return shape == HF_SHAPE_SERIAL || shape == HF_SHAPE_ITEM ||
           shape == HF_SHAPE_SNAPSHOT ||
           (level == HF_READ_COMMITTED && !has_lists(h));
}

/* Does a list have elements to begin with, or a counter no results? */
static bool has_more(const hf_history *h)
{
    for (hf_key_id k = 0; h->key_initial && k < h->n_keys; k++)
        if (h->key_initial[k] != HF_NONE &&
            h->value_type[h->key_initial[k]] == HF_LIST)
            return true;
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_kind_of(h, op) == HF_OP_INCREMENT)
            return true;
    return false;
}

/* What the engines make of such a key, at every level and without
 * enumeration. */
static void ask_engines(run *r, const hf_history *h, hf_level level,
                        hf_verdict expected)
{
    hf_check_options options = {.no_enumeration = true};
    hf_result *x = NULL;
    hf_error err;

    if (expected == HF_UNKNOWN || !has_more(h))
        return;
    if (hf_engine_ask(hf_engine_find(HF_STR("polygraph")), h, level, &options,
                      NULL, &x, &err) != HF_OK) {
        complain(r, level, "polygraph failed", err.text);
        return;
    }
    r->begun[x->verdict]++;
    if (x->verdict != expected)
        complain(r, level, "polygraph is wrong, brute says",
                 hf_verdict_name(expected));
    if (x->verdict != HF_UNKNOWN)
        prove(r, h, level, x);
    hf_result_free(x);
}

/* All that is known of other levels: read committed, which they imply, is
 * broken. */
static bool is_refuted_by_less(const hf_history *h, hf_level level)
{
    hf_result *y = NULL;
    hf_error err;
    bool refuted =
        hf_level_implies(level, HF_READ_COMMITTED) &&
        hf_brute_check(h, HF_READ_COMMITTED, NULL, NULL, &y, &err) == HF_OK &&
        y->verdict == HF_INVALID;

    hf_result_free(y);
    return refuted;
}

static void compare(run *r, const hf_history *h, hf_level level)
{
    hf_result *x = hf_result_new(level, "states"), *y = NULL;
    bool counters = false, serial, valid;
    char *reason;
    hf_error err;

    serial = hf_level_get(level)->shape == HF_SHAPE_SERIAL;
    valid = serial && oracle_says(h, level, &counters);
    (void)hf_states_decide(h, NULL, x, &reason);
    r->answers[level][x->verdict]++;
    if (hf_brute_check(h, level, NULL, NULL, &y, &err) != HF_OK) {
        complain(r, level, "brute failed", err.text);
        hf_result_free(x);
        return;
    }
    if (y->verdict != HF_UNKNOWN && x->verdict != HF_UNKNOWN &&
        x->verdict != y->verdict)
        complain(r, level, "brute says otherwise", hf_verdict_name(y->verdict));
    else if (x->verdict == HF_UNKNOWN && y->verdict != HF_UNKNOWN &&
             is_exact(h, level))
        complain(r, level, "left open", hf_verdict_name(y->verdict));
    else if (!is_exact(h, level) && x->verdict == HF_INVALID &&
             hf_level_get(level)->shape != HF_SHAPE_SINGLE &&
             !is_refuted_by_less(h, level))
        complain(r, level, "invalid where it cannot know", NULL);
    else if (serial && valid != (x->verdict == HF_VALID))
        complain(r, level, "the oracle says otherwise",
                 valid ? "valid" : "invalid");
    else
        r->passed++;
    r->decided[counters] += serial && x->verdict != HF_UNKNOWN;
    r->open += serial && x->verdict == HF_UNKNOWN;
    if (x->verdict != HF_UNKNOWN)
        prove(r, h, level, x);
    ask_engines(r, h, level, y->verdict);
    hf_result_free(x);
    hf_result_free(y);
}

static void show(const hf_history *h)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_text_write(h, &out);
    printf("%.*s", (int)out.n, out.at);
    hf_out_release(&out);
}

static void try_tiny(run *r)
{
    hf_rng rng;
    states_taste taste;
    hf_history *h;
    int failed = (int)r->failed;

    hf_rng_seed(&rng, r->seed);
    taste = tiny_taste(&rng);
    h = states_history(&taste, &rng);
    if (r->show)
        show(h);
    (void)fflush(stdout);
    for (int l = 0; l < HF_LEVEL_COUNT; l++)
        compare(r, h, (hf_level)l);
    if (!r->show && (r->failed > failed && r->shown <= 3))
        show(h);
    hf_history_free(h);
}

/* ---- larger ones --------------------------------------------------------- */

static states_taste large_taste(hf_rng *r)
{
    static const unsigned sizes[] = {50, 100, 200, 500, 1000, 2000};
    unsigned n = sizes[hf_rng_below(r, 6)];

    return (states_taste){.txns = n,
                          .keys = 2 + n / (5 + hf_rng_below(r, 20)),
                          .sessions = 2 + hf_rng_below(r, 15),
                          .ops = 2 + hf_rng_below(r, 5),
                          .values = 5 + hf_rng_below(r, 40),
                          .lists = hf_rng_chance(r, 50) ? 100 : 50,
                          .initial = hf_rng_chance(r, 30) ? 30 : 0,
                          .unknown = hf_rng_chance(r, 40) ? 5 : 0,
                          .aborted = 5,
                          .times = true,
                          .overlap = hf_rng_below(r, 8),
                          .stale_reader = hf_rng_chance(r, 50)};
}

static void try_large(run *r)
{
    static const hf_level levels[] = {
        HF_SERIALIZABLE, HF_STRONG_SESSION_SERIALIZABLE, HF_STRICT_SERIALIZABLE,
        HF_SNAPSHOT_ISOLATION, HF_CAUSAL};
    hf_budget budget = {.seconds = SECONDS_EACH};
    hf_rng rng;
    states_taste taste;
    hf_history *h;
    hf_level level;
    hf_result *x = NULL;
    hf_error err;

    hf_rng_seed(&rng, r->seed);
    taste = large_taste(&rng);
    level = levels[hf_rng_below(&rng, 5)];
    if (taste.stale_reader) {
        level = HF_STRICT_SERIALIZABLE;
        taste.unknown = 0; /* what it does not see might come later */
        taste.lists = 100;
    } else if (hf_rng_chance(&rng, 25)) {
        level = HF_SNAPSHOT_ISOLATION;
        taste.txns = 20 + hf_rng_below(&rng, 100);
        taste.keys = 2 + taste.txns / 10;
        taste.lag = 1 + hf_rng_below(&rng, 4);
        taste.conflicts = true;
    }
    h = states_history(&taste, &rng);
    if (r->show)
        show(h);
    hf_budget_start(&budget);
    if (hf_engine_ask(hf_engine_find(HF_STR("polygraph")), h, level, NULL,
                      &budget, &x, &err) != HF_OK) {
        complain(r, level, "failed", err.text);
        hf_history_free(h);
        return;
    }
    r->large++;
    r->limits += budget.spent;
    if (x->seconds > r->slowest) {
        r->slowest = x->seconds;
        r->slowest_seed = r->seed;
    }
    if (taste.stale_reader) {
        r->stale++;
        r->stale_found += x->verdict == HF_INVALID;
        if (x->verdict == HF_VALID)
            complain(r, level, "a stale reader was not noticed", NULL);
    } else if (x->verdict == HF_VALID) {
        r->valid++;
    } else if (x->verdict == HF_UNKNOWN && taste.lag > 0) {
        r->left_open++; /* such orders are harder to find */
    } else if (x->verdict == HF_UNKNOWN && budget.spent) {
        r->late++;
    } else {
        complain(r, level, hf_verdict_name(x->verdict), x->reason);
    }
    r->snapshots += taste.lag > 0;
    if (r->show)
        printf("%s %s %.3f s: %s\n", hf_level_get(level)->name,
               hf_verdict_name(x->verdict), x->seconds,
               x->reason ? x->reason : "");
    if (x->verdict != HF_UNKNOWN)
        prove(r, h, level, x);
    hf_result_free(x);
    hf_history_free(h);
}

/* ---- all ----------------------------------------------------------------- */

static void summarize(run *r, long n)
{
    for (int l = 0; l < HF_LEVEL_COUNT; l++)
        printf("%-46s valid %6ld  invalid %6ld  open %6ld\n",
               hf_level_get((hf_level)l)->name, r->answers[l][HF_VALID],
               r->answers[l][HF_INVALID], r->answers[l][HF_UNKNOWN]);
    printf("serializable forms: %ld decided, %ld more with counters, %ld open "
           "with counters\n",
           r->decided[0], r->decided[1], r->open);
    printf("large: %ld, valid %ld, stale readers %ld of which found %ld, "
           "limits %ld; slowest %.2f s (seed %" PRIu64 ")\n",
           r->large, r->valid, r->stale, r->stale_found, r->limits, r->slowest,
           r->slowest_seed);
    printf("of stores with snapshots %ld, left open %ld; of others %ld\n",
           r->snapshots, r->left_open, r->late);
    printf("polygraph where lists had elements to begin with, or counters: "
           "valid %ld, "
           "invalid %ld, open %ld\n",
           r->begun[HF_VALID], r->begun[HF_INVALID], r->begun[HF_UNKNOWN]);
    printf("%ld witnesses verified, %ld that verify does not know\n",
           r->verified, r->unsupported);
    if (n >= 1000 &&
        (r->valid == 0 || r->stale_found == 0 || r->decided[1] == 0 ||
         r->begun[HF_VALID] == 0 || r->begun[HF_INVALID] == 0 ||
         r->answers[HF_SNAPSHOT_ISOLATION][HF_INVALID] == 0)) {
        printf("something was never seen\n");
        r->failed++;
    }
    printf("%ld passed, %ld failed\n", r->passed, r->failed);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 4000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    bool tiny = argc > 3 && strcmp(argv[3], "tiny") == 0;
    bool large = argc > 3 && strcmp(argv[3], "large") == 0;
    run r = {.show = argc > 4};

    for (long i = 0; i < n; i++) {
        r.seed = seed + (uint64_t)i;
        if (!tiny && (large || r.seed % LARGE_EVERY == 0))
            try_large(&r);
        else
            try_tiny(&r);
    }
    summarize(&r, tiny || large ? 0 : n);
    return r.failed ? 1 : 0;
}
