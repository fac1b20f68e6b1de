/* test_poly_walk.c: a walk to a serial order.
 *
 * Random histories that somebody executed one after the other, mostly blind
 * writes, told in another order.  What a walk calls an order has every
 * transaction once and replays; most are found; the same walk twice ends
 * at the same place; and where there is no order none is claimed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check/poly_walk.h"
#include "history/builder.h"

#define MOST_TXNS 80
#define MOST_KEYS 12
#define SESSIONS 4

/* ---- histories ----------------------------------------------------------- */

typedef struct op {
    bool write;
    uint32_t key;
    int64_t value; /* 0: the initial one */
} op;

typedef struct script {
    uint32_t n_txns, n_keys;
    bool sessions;
    struct {
        uint32_t n_ops;
        op ops[5];
    } txns[MOST_TXNS];
    uint32_t place[MOST_TXNS]; /* in the serial order: of each in the file */
} script;

static void execute(script *s, hf_rng *rng, unsigned writes)
{
    int64_t state[MOST_KEYS] = {0}, next = 1;

    for (uint32_t t = 0; t < s->n_txns; t++) {
        uint32_t key = hf_rng_below(rng, s->n_keys);
        uint32_t n = 1 + hf_rng_below(rng, s->n_keys < 5 ? s->n_keys : 5);

        s->txns[t].n_ops = n;
        for (uint32_t i = 0; i < n; i++) {
            op *o = &s->txns[t].ops[i];

            o->key = (key + i) % s->n_keys;
            o->write = hf_rng_chance(rng, writes);
            o->value = o->write ? next++ : state[o->key];
            if (o->write)
                state[o->key] = o->value;
        }
    }
}

/* Those of one session stay in order among each other. */
static void shuffle(script *s, hf_rng *rng)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < s->n_txns; i++)
        s->place[i] = i;
    if (s->sessions) {
        for (uint32_t k = 0; k < SESSIONS; k++)
            for (uint32_t i = k; i < s->n_txns; i += SESSIONS)
                s->place[at++] = i;
        return;
    }
    for (uint32_t i = s->n_txns; i > 1; i--) {
        uint32_t j = hf_rng_below(rng, i), x = s->place[i - 1];

        s->place[i - 1] = s->place[j];
        s->place[j] = x;
    }
}

static hf_history *tell(const script *s)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    for (uint32_t i = 0; i < s->n_txns; i++) {
        uint32_t from = s->place[i];
        hf_session_id session =
            s->sessions ? hf_builder_session_number(b, from % SESSIONS)
                        : hf_builder_session_fresh(b);
        hf_txn_id t = hf_builder_txn(b, session);

        for (uint32_t k = 0; k < s->txns[from].n_ops; k++) {
            op o = s->txns[from].ops[k];
            hf_key_id key = hf_builder_key_int(b, o.key);

            (void)hf_builder_op(b, t, o.write ? HF_OP_WRITE : HF_OP_READ, key,
                                o.value ? hf_builder_int(b, key, o.value)
                                        : hf_builder_nil(b, key));
        }
    }
    assert_int_equal(hf_builder_finish(b, &h, &err), HF_OK);
    return h;
}

static hf_history *random_history(hf_rng *rng, script *s, bool sessions)
{
    memset(s, 0, sizeof(*s));
    s->sessions = sessions;
    s->n_txns = 2 + hf_rng_below(rng, MOST_TXNS - 2);
    s->n_keys = 2 + hf_rng_below(rng, MOST_KEYS - 2);
    execute(s, rng, 30 + hf_rng_below(rng, 60));
    shuffle(s, rng);
    return tell(s);
}

/* ---- graphs -------------------------------------------------------------- */

static hf_graph *graph_of(const hf_history *h, hf_level level)
{
    hf_graph *g = HF_NEW(hf_graph);

    g->h = h;
    g->level = hf_level_get(level);
    assert_true(hf_graph_build_facts(g));
    hf_graph_sessions_and_time(g);
    assert_true(hf_graph_build_edges(g));
    return g;
}

static void free_graph(hf_graph *g)
{
    hf_graph_release(g);
    hf_free(g);
}

static void assert_serial(const hf_graph *g, const hf_poly_walk *w)
{
    uint8_t seen[MOST_TXNS] = {0};
    hf_source_list sources = {0};

    assert_int_equal(w->n, g->h->n_txns);
    for (uint32_t i = 0; i < w->n; i++) {
        assert_int_equal(seen[w->rank[i]], 0);
        seen[w->rank[i]] = 1;
    }
    assert_true(hf_graph_replay(g, w->rank, w->n, &sources));
    hf_vec_release(&sources);
}

/* ---- tests --------------------------------------------------------------- */

static void what_is_found_replays(void **state)
{
    uint32_t found = 0, n = 400;
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 1);
    for (uint32_t i = 0; i < n; i++) {
        script s;
        hf_history *h = random_history(&rng, &s, false);
        hf_graph *g = graph_of(h, HF_SERIALIZABLE);
        hf_poly_walk *w = hf_poly_walk_new(g, 0, NULL);

        if (hf_poly_walk_run(w, 20000)) {
            assert_serial(g, w);
            found++;
        }
        hf_poly_walk_free(w);
        free_graph(g);
        hf_history_free(h);
    }
    assert_true(found >= n * 3 / 4);
}

/* ... and the order of sessions is kept where it counts. */
static void sessions_are_kept(void **state)
{
    uint32_t found = 0, n = 200;
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 2);
    for (uint32_t i = 0; i < n; i++) {
        script s;
        hf_history *h = random_history(&rng, &s, true);
        hf_graph *g = graph_of(h, HF_STRONG_SESSION_SERIALIZABLE);
        hf_poly_walk *w = hf_poly_walk_new(g, HF_WALK_SO, NULL);
        hf_txn_id last[SESSIONS] = {0};

        if (hf_poly_walk_run(w, 20000)) {
            assert_serial(g, w);
            for (uint32_t k = 0; k < w->n; k++) {
                hf_txn_id *before = &last[h->txn_session[w->rank[k]]];

                assert_true(w->rank[k] >= *before);
                *before = w->rank[k];
            }
            found++;
        }
        hf_poly_walk_free(w);
        free_graph(g);
        hf_history_free(h);
    }
    assert_true(found >= n * 3 / 4);
}

static void the_same_walk_ends_at_the_same_place(void **state)
{
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 3);
    for (uint32_t i = 0; i < 50; i++) {
        script s;
        hf_history *h = random_history(&rng, &s, false);
        hf_graph *g = graph_of(h, HF_SERIALIZABLE);
        hf_poly_walk *a = hf_poly_walk_new(g, 0, NULL);
        hf_poly_walk *b = hf_poly_walk_new(g, 0, NULL);
        bool done = hf_poly_walk_run(a, 300);

        assert_int_equal(hf_poly_walk_run(b, 300), done);
        assert_int_equal(a->n_bad, b->n_bad);
        assert_memory_equal(a->rank, b->rank, a->n * sizeof(*a->rank));
        hf_poly_walk_free(a);
        hf_poly_walk_free(b);
        free_graph(g);
        hf_history_free(h);
    }
}

/* The right order to begin with is noticed without a step; another one is
 * not taken for right. */
static void a_start_is_used(void **state)
{
    uint32_t wrong = 0;
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 4);
    for (uint32_t i = 0; i < 50; i++) {
        script s;
        hf_history *h = random_history(&rng, &s, false);
        hf_graph *g = graph_of(h, HF_SERIALIZABLE);
        hf_txn_id start[MOST_TXNS], file[MOST_TXNS];
        hf_source_list sources = {0};
        hf_poly_walk *w;

        for (uint32_t k = 0; k < s.n_txns; k++) {
            start[s.place[k]] = k;
            file[k] = k;
        }
        w = hf_poly_walk_new(g, 0, start);
        assert_true(hf_poly_walk_run(w, 1000));
        assert_int_equal(w->steps, 0);
        assert_memory_equal(w->rank, start, s.n_txns * sizeof(*start));
        hf_poly_walk_free(w);
        w = hf_poly_walk_new(g, 0, file);
        assert_int_equal(hf_poly_walk_run(w, 0),
                         hf_graph_replay(g, file, s.n_txns, &sources));
        wrong += w->n_bad > 0;
        hf_poly_walk_free(w);
        hf_vec_release(&sources);
        free_graph(g);
        hf_history_free(h);
    }
    assert_true(wrong > 10);
}

/* Write skew: each reads what the other overwrites. */
static void where_there_is_none_none_is_claimed(void **state)
{
    script s = {.n_txns = 2, .n_keys = 2, .place = {0, 1}};
    hf_history *h;
    hf_graph *g;
    hf_poly_walk *w;

    (void)state;
    for (uint32_t t = 0; t < 2; t++) {
        s.txns[t].n_ops = 2;
        s.txns[t].ops[0] = (op){false, t, 0};
        s.txns[t].ops[1] = (op){true, 1 - t, t + 1};
    }
    h = tell(&s);
    g = graph_of(h, HF_SERIALIZABLE);
    w = hf_poly_walk_new(g, 0, NULL);
    assert_false(hf_poly_walk_run(w, 5000));
    assert_int_equal(w->n_bad, 1);
    assert_int_equal(w->steps, 5000);
    hf_poly_walk_free(w);
    free_graph(g);
    hf_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_replays),
        cmocka_unit_test(sessions_are_kept),
        cmocka_unit_test(the_same_walk_ends_at_the_same_place),
        cmocka_unit_test(a_start_is_used),
        cmocka_unit_test(where_there_is_none_none_is_claimed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
