/* The reference engine against direct replay.
 *
 * On random tiny histories: serializability (three forms) must be what one
 * gets by running the transactions one after the other in every order, and
 * snapshot isolation (three forms) by running every interleaving of starts
 * and commits, on an actual store of values.  Graphs, versions and sources do
 * not occur here.  Every verdict must keep the lattice of levels.
 */
#include "check/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "history/builder.h"
#include "history/text.h"

#define TXNS 4u
#define OPS 4u
#define KEYS 3u
#define MAX_LIST 16u

typedef struct op {
    bool read;
    unsigned key;
    unsigned n; /* 1 for a register (0: nil), length of the list */
    int64_t values[MAX_LIST];
} op;

typedef struct txn {
    unsigned n_ops, session;
    hf_outcome outcome;
    uint64_t begin, end;
    op ops[OPS];
} txn;

typedef struct tiny {
    bool lists;
    unsigned n;
    txn txns[TXNS];
    unsigned n_listed; /* certificate of key 0 */
    unsigned listed[TXNS];
} tiny;

/* A register holds at most one value, a list many. */
typedef struct cell {
    unsigned n;
    int64_t values[MAX_LIST];
} cell;

typedef struct store {
    cell cells[KEYS];
} store;

/* ---- replay ------------------------------------------------------------- */

static void put(const tiny *t, cell *c, int64_t value)
{
    if (!t->lists)
        c->n = 0;
    c->values[c->n++] = value;
}

static bool same(const cell *c, const op *o)
{
    return c->n == o->n &&
           memcmp(c->values, o->values, c->n * sizeof(int64_t)) == 0;
}

/* Runs a transaction on its private copy; false if a read differs. */
static bool run(const tiny *t, const txn *x, store *s)
{
    for (unsigned i = 0; i < x->n_ops; i++) {
        const op *o = &x->ops[i];

        if (!o->read)
            put(t, &s->cells[o->key], o->values[0]);
        else if (!same(&s->cells[o->key], o))
            return false;
    }
    return true;
}

static bool writes(const txn *x, unsigned key)
{
    for (unsigned i = 0; i < x->n_ops; i++)
        if (!x->ops[i].read && x->ops[i].key == key)
            return true;
    return false;
}

/* b must not commit (be) before a because of the certificate. */
static bool listed_before(const tiny *t, unsigned a, unsigned b)
{
    unsigned at = TXNS, bt = TXNS;

    for (unsigned i = 0; i < t->n_listed; i++) {
        at = t->listed[i] == a ? i : at;
        bt = t->listed[i] == b ? i : bt;
    }
    return at < TXNS && bt < TXNS && at < bt;
}

typedef enum order { PLAIN, SESSION, STRICT } order;

/* a must be over before b starts. */
static bool must_precede(const tiny *t, unsigned a, unsigned b, order o)
{
    const txn *x = &t->txns[a], *y = &t->txns[b];

    return (o >= SESSION && x->session == y->session && a < b) ||
           (o >= STRICT && x->outcome == HF_COMMITTED && x->end < y->begin);
}

static bool serial_from(const tiny *t, order o, unsigned left, store s)
{
    if (left == 0)
        return true;
    for (unsigned i = 0; i < t->n; i++) {
        store copy = s;
        bool first = left >> i & 1u;

        for (unsigned j = 0; j < t->n; j++)
            if ((left >> j & 1u) && j != i &&
                (must_precede(t, j, i, o) || listed_before(t, j, i)))
                first = false;
        if (first && run(t, &t->txns[i], &copy) &&
            serial_from(t, o, left & ~(1u << i), copy))
            return true;
    }
    return false;
}

typedef struct snapshots {
    store committed;
    store view[TXNS];
    unsigned waiting, open, done;
} snapshots;

/* Two that write one key must not overlap: who commits while x is open must
 * not write what x writes. */
static bool conflicts(const tiny *t, unsigned i, unsigned open)
{
    for (unsigned j = 0; j < t->n; j++)
        for (unsigned k = 0; (open >> j & 1u) && j != i && k < KEYS; k++)
            if (writes(&t->txns[i], k) && writes(&t->txns[j], k))
                return true;
    return false;
}

static void install(const tiny *t, const txn *x, store *s)
{
    for (unsigned i = 0; i < x->n_ops; i++)
        if (!x->ops[i].read)
            put(t, &s->cells[x->ops[i].key], x->ops[i].values[0]);
}

static bool snapshot_from(const tiny *t, order o, snapshots s)
{
    if (s.waiting == 0 && s.open == 0)
        return true;
    for (unsigned i = 0; i < t->n; i++) {
        snapshots next = s;
        bool may = true;

        if (s.waiting >> i & 1u) {
            for (unsigned j = 0; j < t->n; j++)
                if (((s.waiting | s.open) >> j & 1u) && j != i &&
                    must_precede(t, j, i, o))
                    may = false;
            next.waiting &= ~(1u << i);
            next.open |= 1u << i;
            next.view[i] = s.committed;
            may = may && run(t, &t->txns[i], &next.view[i]);
        } else if (s.open >> i & 1u) {
            for (unsigned j = 0; j < t->n; j++)
                if (((s.waiting | s.open) >> j & 1u) && listed_before(t, j, i))
                    may = false;
            may = may && !conflicts(t, i, s.open);
            next.open &= ~(1u << i);
            install(t, &t->txns[i], &next.committed);
        } else {
            may = false;
        }
        if (may && snapshot_from(t, o, next))
            return true;
    }
    return false;
}

/* Over every choice of outcomes. */
static bool replays(const tiny *t, bool snapshot, order o)
{
    unsigned sure = 0, maybe = 0, subset;
    store empty;

    memset(&empty, 0, sizeof(empty));
    for (unsigned i = 0; i < t->n; i++) {
        sure |= (unsigned)(t->txns[i].outcome == HF_COMMITTED) << i;
        maybe |= (unsigned)(t->txns[i].outcome == HF_UNKNOWN_OUTCOME) << i;
    }
    for (subset = maybe;; subset = (subset - 1) & maybe) {
        snapshots s;

        memset(&s, 0, sizeof(s));
        s.waiting = sure | subset;
        if (snapshot ? snapshot_from(t, o, s)
                     : serial_from(t, o, sure | subset, empty))
            return true;
        if (subset == 0)
            return false;
    }
}

/* ---- random histories --------------------------------------------------- */

static int64_t pick_value(hf_rng *r, unsigned key, bool few)
{
    return (int64_t)(few ? 1 + hf_rng_below(r, 3)
                         : 100 * key + 1 + hf_rng_below(r, 8));
}

/* Runs the transactions in some order with some old views, so that many
 * reads make sense; spoils a few. */
static void random_ops(hf_rng *r, tiny *t, txn *x, store *s, bool few,
                       int64_t *next)
{
    store view = s[hf_rng_below(r, 2)];

    x->n_ops = 1 + hf_rng_below(r, OPS);
    for (unsigned i = 0; i < x->n_ops; i++) {
        op *o = &x->ops[i];

        o->key = hf_rng_below(r, KEYS);
        o->read = hf_rng_chance(r, 55);
        if (o->read) {
            const cell *from = &view.cells[o->key];

            if (hf_rng_chance(r, 25))
                from = &s[hf_rng_below(r, 2)].cells[o->key];
            o->n = from->n;
            memcpy(o->values, from->values, sizeof(o->values));
            if (hf_rng_chance(r, 8) && o->n > 0)
                o->n--;
        } else {
            o->n = 1;
            o->values[0] =
                t->lists || !few ? (*next)++ : pick_value(r, o->key, few);
            put(t, &view.cells[o->key], o->values[0]);
        }
    }
    s[0] = s[1];
    if (x->outcome != HF_ABORTED || hf_rng_chance(r, 10))
        install(t, x, &s[1]);
}

static void random_tiny(hf_rng *r, tiny *t)
{
    store s[2];
    bool few = hf_rng_chance(r, 30);
    int64_t next = 1;

    memset(t, 0, sizeof(*t));
    memset(s, 0, sizeof(s));
    t->n = 2 + hf_rng_below(r, TXNS - 1);
    t->lists = hf_rng_chance(r, 35);
    for (unsigned i = 0; i < t->n; i++) {
        txn *x = &t->txns[i];

        x->session = hf_rng_below(r, 3);
        x->outcome = hf_rng_chance(r, 12)   ? HF_UNKNOWN_OUTCOME
                     : hf_rng_chance(r, 12) ? HF_ABORTED
                                            : HF_COMMITTED;
        x->begin = hf_rng_below(r, 20);
        x->end = x->begin + hf_rng_below(r, 10);
        random_ops(r, t, x, s, few, &next);
    }
    if (hf_rng_chance(r, 25)) {
        unsigned first = hf_rng_below(r, t->n);

        for (unsigned i = 0; i < t->n; i++) {
            unsigned node = (first + i) % t->n;

            if (writes(&t->txns[node], 0) &&
                t->txns[node].outcome != HF_ABORTED && hf_rng_chance(r, 80))
                t->listed[t->n_listed++] = node;
        }
    }
}

static hf_value_id value_of(const tiny *t, hf_builder *b, hf_key_id key,
                            const op *o)
{
    hf_value_id v = hf_builder_nil(b, key);

    if (!t->lists || !o->read)
        return o->n == 0 ? v : hf_builder_int(b, key, o->values[0]);
    for (unsigned i = 0; i < o->n; i++)
        v = hf_builder_list(b, key, v, hf_builder_int(b, key, o->values[i]));
    return v;
}

static hf_history *build(const tiny *t)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;
    hf_key_id keys[KEYS];

    for (unsigned k = 0; k < KEYS; k++)
        keys[k] = hf_builder_key_int(b, k);
    hf_builder_time_unit(b, HF_TIME_UNIT_EVENT);
    for (unsigned i = 0; i < t->n; i++) {
        const txn *x = &t->txns[i];
        hf_txn_id id =
            hf_builder_txn(b, hf_builder_session_number(b, x->session));

        hf_builder_times(b, id, x->begin, x->end);
        for (unsigned j = 0; j < x->n_ops; j++) {
            const op *o = &x->ops[j];
            unsigned kind = o->read ? HF_OP_READ : HF_OP_WRITE;

            if (t->lists)
                kind = o->read ? HF_OP_READ_LIST : HF_OP_APPEND;
            hf_builder_op(b, id, kind, keys[o->key],
                          value_of(t, b, keys[o->key], o));
        }
        hf_builder_outcome(b, id, x->outcome);
    }
    for (unsigned i = 0; i < t->n_listed; i++)
        hf_builder_order(b, keys[0], t->listed[i]);
    if (hf_builder_finish(b, &h, &err) != HF_OK)
        fail_msg("%s", err.text);
    return h;
}

/* ---- comparison --------------------------------------------------------- */

static void print_history(const hf_history *h)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_text_write(h, &out);
    print_message("%.*s", (int)out.n, out.at);
    hf_out_release(&out);
}

static bool is_valid_at(const hf_history *h, hf_level level)
{
    hf_result *r = NULL;
    hf_error err;
    bool valid;

    if (hf_engine_find(HF_STR("brute"))
            ->check(h, level, NULL, NULL, &r, &err) != HF_OK)
        fail_msg("%s", err.text);
    assert_true(r->verdict == HF_VALID || r->verdict == HF_INVALID);
    assert_int_equal(hf_witness_proves(r->witness.kind), r->verdict);
    valid = r->verdict == HF_VALID;
    hf_result_free(r);
    return valid;
}

static unsigned compare(const tiny *t, const hf_history *h, unsigned *n_valid)
{
    static const struct {
        hf_level level;
        bool snapshot;
        order order;
    } replayed[] = {
        {HF_SERIALIZABLE, false, PLAIN},
        {HF_STRONG_SESSION_SERIALIZABLE, false, SESSION},
        {HF_STRICT_SERIALIZABLE, false, STRICT},
        {HF_SNAPSHOT_ISOLATION, true, PLAIN},
        {HF_STRONG_SESSION_SNAPSHOT_ISOLATION, true, SESSION},
        {HF_STRICT_SNAPSHOT_ISOLATION, true, STRICT},
    };
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof(replayed) / sizeof(replayed[0]); i++) {
        hf_level level = replayed[i].level;
        bool expected = replays(t, replayed[i].snapshot, replayed[i].order);

        n_valid[level] += expected;
        if (is_valid_at(h, level) != expected) {
            print_message("%s: replay says %s\n", hf_level_get(level)->name,
                          expected ? "valid" : "invalid");
            print_history(h);
            wrong++;
        }
    }
    return wrong;
}

static void replay_agrees(void **state)
{
    unsigned n = 4000, wrong = 0, n_valid[HF_LEVEL_COUNT] = {0};
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 20);
    for (unsigned i = 0; i < n && wrong < 5; i++) {
        tiny t;
        hf_history *h;

        random_tiny(&rng, &t);
        h = build(&t);
        wrong += compare(&t, h, n_valid);
        hf_history_free(h);
    }
    assert_int_equal(wrong, 0);
    /* both answers must be frequent, or nothing was compared */
    assert_in_range(n_valid[HF_STRICT_SERIALIZABLE], n / 20, n * 3 / 4);
    assert_in_range(n_valid[HF_SNAPSHOT_ISOLATION], n / 10, n * 9 / 10);
}

static void verdicts_keep_the_lattice(void **state)
{
    unsigned wrong = 0, differ = 0;
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 7);
    for (unsigned i = 0; i < 3000 && wrong < 5; i++) {
        bool valid[HF_LEVEL_COUNT];
        hf_history *h;
        tiny t;

        random_tiny(&rng, &t);
        h = build(&t);
        for (int l = 0; l < HF_LEVEL_COUNT; l++)
            valid[l] = is_valid_at(h, (hf_level)l);
        for (int a = 0; a < HF_LEVEL_COUNT; a++)
            for (int b = 0; b < HF_LEVEL_COUNT; b++)
                if (hf_level_implies((hf_level)a, (hf_level)b) && valid[a] &&
                    !valid[b]) {
                    print_message("%s holds, %s does not\n",
                                  hf_level_get((hf_level)a)->name,
                                  hf_level_get((hf_level)b)->name);
                    print_history(h);
                    wrong++;
                }
        /* without predicates the two are one */
        assert_int_equal(valid[HF_REPEATABLE_READ], valid[HF_SERIALIZABLE]);
        differ += valid[HF_CAUSAL] != valid[HF_SERIALIZABLE];
        hf_history_free(h);
    }
    assert_int_equal(wrong, 0);
    assert_true(differ > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replay_agrees),
        cmocka_unit_test(verdicts_keep_the_lattice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
