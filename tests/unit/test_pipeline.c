/* test_pipeline.c: events come out in order, all of them, whatever the clients
 * do, and memory stays bounded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/budget.h"
#include "base/mem.h"
#include "base/rng.h"
#include "watch/pipeline.h"

#include <pthread.h>

#define MOST_CLIENTS 40u

/* value is the event's place among its client's. */
static hf_event event_at(uint64_t before, uint64_t txn, uint64_t place)
{
    return (hf_event){
        .before = before, .after = before + 5, .txn = txn, .value = place};
}

/* ---- what came out ------------------------------------------------------- */

typedef struct taker {
    hf_pipeline *p;
    uint64_t last, n, of[MOST_CLIENTS];
    size_t most_bytes;
    bool ordered;
} taker;

static void look_at(taker *t, const hf_event *events, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const hf_event *e = &events[i];

        if (e->before < t->last || e->value != t->of[e->client])
            t->ordered = false;
        t->last = e->before;
        t->of[e->client]++;
        t->n++;
    }
}

static void take_all(taker *t, uint64_t wait_ns)
{
    hf_event events[300];
    size_t n;

    do {
        hf_pipeline_stats s;

        n = hf_pipeline_take(t->p, events, 300, wait_ns);
        look_at(t, events, n);
        hf_pipeline_look(t->p, &s);
        if (s.bytes > t->most_bytes)
            t->most_bytes = s.bytes;
    } while (n > 0 || (wait_ns > 0 && !hf_pipeline_is_done(t->p)));
}

/* ---- one thread ---------------------------------------------------------- */

static void test_any_order_of_pushes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        hf_pipeline *p;
        taker t = {.ordered = true};
        uint64_t now[MOST_CLIENTS] = {0}, sent[MOST_CLIENTS] = {0}, all = 0;
        uint32_t clients;
        hf_rng rng;

        hf_rng_seed(&rng, seed);
        clients = 1 + (uint32_t)hf_rng_below(&rng, MOST_CLIENTS);
        p = t.p = hf_pipeline_new(&(hf_pipeline_options){
            .bytes = hf_rng_below(&rng, 2) ? 1 : 0, .one_thread = true});
        for (uint32_t c = 0; c < clients; c++)
            assert_int_equal(hf_pipeline_join(p, 0), c);
        for (unsigned round = 0; round < 400; round++) {
            uint32_t c = (uint32_t)hf_rng_below(&rng, clients);
            uint32_t n = (uint32_t)hf_rng_below(&rng, 40);
            hf_event some[40];

            /* some clients are far ahead of the others */
            for (uint32_t i = 0; i < n; i++) {
                now[c] += hf_rng_below(&rng, c % 3 == 0 ? 3 : 300);
                some[i] = event_at(now[c], round, sent[c]++);
            }
            all += n;
            assert_true(seed % 2 == 0 && hf_rng_below(&rng, 8) > 0
                            ? hf_pipeline_put(p, c, some, n)
                            : hf_pipeline_push(p, c, some, n));
            if (hf_rng_below(&rng, 4) == 0)
                take_all(&t, 0);
        }
        hf_pipeline_end(p);
        take_all(&t, 0);
        assert_true(t.ordered);
        assert_true(hf_pipeline_is_done(p));
        assert_int_equal(t.n, all);
        hf_pipeline_free(p);
    }
}

/* Client 0 says nothing until the end; the others fill a small memory. */
static void test_memory_is_bounded(void **state)
{
    const size_t bytes = (size_t)1 << 20;
    taker t = {.ordered = true};
    hf_pipeline_stats s;
    uint64_t sent = 0;

    (void)state;
    t.p = hf_pipeline_new(
        &(hf_pipeline_options){.bytes = bytes, .one_thread = true});
    (void)hf_pipeline_join(t.p, 0);
    (void)hf_pipeline_join(t.p, 0);
    for (uint64_t i = 0; i < 200000; i++) {
        hf_event e = event_at(10 + i, i, sent++);

        assert_true(hf_pipeline_push(t.p, 1, &e, 1));
        if (i % 1000 == 0)
            take_all(&t, 0);
    }
    assert_int_equal(t.n, 0); /* client 0 may still have been earlier */
    hf_pipeline_look(t.p, &s);
    assert_true(s.spilled > 100000);
    hf_pipeline_push(t.p, 0, &(hf_event){.before = 3, .after = 4}, 1);
    take_all(&t, 0);
    assert_int_equal(t.n, 1);
    hf_pipeline_leave(t.p, 0);
    take_all(&t, 0);
    hf_pipeline_end(t.p);
    take_all(&t, 0);
    assert_int_equal(t.n, 200001);
    assert_true(t.ordered);
    assert_true(t.most_bytes <= bytes + bytes / 4);
    hf_pipeline_free(t.p);
}

/* Very many clients that say little do not have a block of 8 KiB each. */
static void test_many_clients_with_few_events(void **state)
{
    const uint32_t clients = 20000;
    hf_pipeline *p = hf_pipeline_new(
        &(hf_pipeline_options){.bytes = 1 << 20, .one_thread = true});
    hf_event events[300], mine[30];
    uint64_t taken = 0, last = 0;
    hf_pipeline_stats s;
    size_t n;

    (void)state;
    (void)hf_pipeline_join(p, 0); /* holds all others back */
    for (uint32_t c = 1; c < clients; c++) {
        uint32_t k = hf_pipeline_join(p, 0);
        uint32_t few = c % 100 == 0 ? 30 : 3;

        for (uint32_t i = 0; i < few; i++)
            mine[i] = event_at(10 * c + i, c, i);
        assert_true(hf_pipeline_push(p, k, mine, few));
    }
    hf_pipeline_look(p, &s);
    assert_in_range(s.bytes, 1, clients * 700);
    hf_pipeline_end(p);
    while ((n = hf_pipeline_take(p, events, 300, 0)) > 0)
        for (size_t i = 0; i < n; i++) {
            assert_true(events[i].before >= last);
            last = events[i].before;
            taken++;
        }
    assert_int_equal(taken, 19800 * 3 + 199 * 30);
    hf_pipeline_free(p);
}

static void test_watermark_waits_for_the_slowest(void **state)
{
    taker t = {.ordered = true};

    (void)state;
    t.p = hf_pipeline_new(&(hf_pipeline_options){.one_thread = true});
    (void)hf_pipeline_join(t.p, 0);
    (void)hf_pipeline_join(t.p, 0);
    hf_pipeline_push(t.p, 0, (hf_event[]){event_at(5, 1, 0), event_at(9, 1, 1)},
                     2);
    take_all(&t, 0);
    assert_int_equal(t.n, 0);
    hf_pipeline_promise(t.p, 1, 7);
    take_all(&t, 0);
    assert_int_equal(t.n, 1);
    hf_pipeline_push(t.p, 1, (hf_event[]){event_at(8, 2, 0)}, 1);
    take_all(&t, 0);
    assert_int_equal(t.n, 2); /* 5, 8: of client 1 another 8 may come */
    hf_pipeline_leave(t.p, 1);
    take_all(&t, 0);
    assert_int_equal(t.n, 3);
    assert_true(t.ordered);
    hf_pipeline_free(t.p);
}

/* ---- bad clients --------------------------------------------------------- */

static void send_disordered(bool put)
{
    bool (*send)(hf_pipeline *, uint32_t, const hf_event *, size_t) =
        put ? hf_pipeline_put : hf_pipeline_push;
    taker t = {.ordered = true};
    hf_event late[4];
    hf_pipeline_stats s;

    t.p = hf_pipeline_new(&(hf_pipeline_options){.one_thread = true});
    (void)hf_pipeline_join(t.p, 0);
    /* the rest of transaction 1 goes with its event that went back */
    send(t.p, 0,
         (hf_event[]){event_at(5, 1, 0), event_at(4, 1, 9), event_at(6, 1, 9),
                      event_at(7, 2, 1)},
         4);
    hf_pipeline_end(t.p);
    take_all(&t, 0);
    assert_int_equal(t.n, 2);
    assert_true(t.ordered);
    assert_int_equal(hf_pipeline_take_late(t.p, late, 4), 2);
    assert_int_equal(late[0].before, 4);
    assert_int_equal(late[1].before, 6);
    hf_pipeline_look(t.p, &s);
    assert_int_equal(s.disordered, 2);
    assert_int_equal(s.late_txns, 1);
    assert_int_equal(s.waiting, 0);
    hf_pipeline_free(t.p);
}

static void test_events_that_do_not_ascend(void **state)
{
    (void)state;
    send_disordered(false);
    send_disordered(true);
}

static void test_a_client_that_stalls_is_passed_by(void **state)
{
    taker t = {.ordered = true};
    hf_event events[8];
    hf_pipeline_stats s;
    uint64_t started = hf_clock_ns();

    (void)state;
    t.p = hf_pipeline_new(
        &(hf_pipeline_options){.one_thread = true, .stall_ns = 20000000});
    (void)hf_pipeline_join(t.p, 0);
    (void)hf_pipeline_join(t.p, 0);
    hf_pipeline_push(t.p, 0,
                     (hf_event[]){event_at(50, 1, 0), event_at(60, 1, 1)}, 2);
    assert_int_equal(hf_pipeline_take(t.p, events, 8, 1), 0);
    assert_int_equal(hf_pipeline_take(t.p, events, 8, 2000000000), 2);
    assert_true(hf_clock_ns() - started >= 20000000);
    hf_pipeline_look(t.p, &s);
    assert_int_equal(s.stalls, 1);
    assert_int_equal(s.stalled_client, 1);
    assert_int_equal(s.passed, 1);
    /* it comes back: what is of before is late, the whole transaction */
    hf_pipeline_push(t.p, 1,
                     (hf_event[]){event_at(55, 2, 0), event_at(65, 2, 1),
                                  event_at(66, 3, 2)},
                     3);
    hf_pipeline_promise(t.p, 0, 100);
    assert_int_equal(hf_pipeline_take(t.p, events, 8, 1000000), 1);
    assert_int_equal(events[0].before, 66);
    assert_int_equal(hf_pipeline_take_late(t.p, events, 8), 2);
    assert_int_equal(events[0].client, 1);
    hf_pipeline_look(t.p, &s);
    assert_int_equal(s.late, 2);
    assert_int_equal(s.late_txns, 1);
    hf_pipeline_free(t.p);
}

/* ---- several threads ----------------------------------------------------- */

typedef struct maker {
    hf_pipeline *p;
    uint32_t client;
    uint64_t seed, n;
} maker;

static void *make(void *user)
{
    maker *m = user;
    uint64_t now = 0;
    hf_rng rng;

    hf_rng_seed(&rng, m->seed);
    for (uint64_t i = 0; i < m->n;) {
        hf_event some[20];
        size_t n = 0;

        for (; n < 20 && i < m->n; n++, i++) {
            now += hf_rng_below(&rng, 10 * (m->client + 1));
            some[n] = event_at(now, i / 7, i);
        }
        if (!hf_pipeline_push(m->p, m->client, some, n))
            break;
    }
    hf_pipeline_leave(m->p, m->client);
    return NULL;
}

static void *take(void *user)
{
    take_all(user, 50000000);
    return NULL;
}

static void run_threads(size_t bytes, uint64_t n)
{
    taker t = {.ordered = true};
    pthread_t makers[8], consumer;
    maker m[8];

    t.p = hf_pipeline_new(&(hf_pipeline_options){.bytes = bytes});
    for (uint32_t c = 0; c < 8; c++) {
        m[c] = (maker){t.p, c, c + 1, n};
        (void)hf_pipeline_join(t.p, 0);
    }
    pthread_create(&consumer, NULL, take, &t);
    for (uint32_t c = 0; c < 8; c++)
        pthread_create(&makers[c], NULL, make, &m[c]);
    for (uint32_t c = 0; c < 8; c++)
        pthread_join(makers[c], NULL);
    hf_pipeline_end(t.p);
    pthread_join(consumer, NULL);
    assert_true(t.ordered);
    assert_int_equal(t.n, 8 * n);
    if (bytes > 0)
        assert_true(t.most_bytes <= 2 * bytes);
    hf_pipeline_free(t.p);
}

static void test_threads(void **state)
{
    (void)state;
    run_threads(0, 50000);
    run_threads((size_t)1 << 20, 50000);
}

/* One thread puts the events of all clients, in turns of uneven length, as a
 * file has them: few, so that all of it is in drafts, or many, so that it
 * waits, with little memory or much. */
static void put_threads(size_t bytes, size_t ahead, uint64_t n)
{
    taker t = {.ordered = true};
    uint64_t now[8] = {0}, sent[8] = {0};
    pthread_t consumer;
    hf_rng rng;

    hf_rng_seed(&rng, n);
    t.p =
        hf_pipeline_new(&(hf_pipeline_options){.bytes = bytes, .ahead = ahead});
    for (uint32_t c = 0; c < 8; c++)
        (void)hf_pipeline_join(t.p, 0);
    pthread_create(&consumer, NULL, take, &t);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t c = (uint32_t)hf_rng_below(&rng, 8);
        hf_event some[60];
        size_t k = 1 + (size_t)hf_rng_below(&rng, 60);

        for (size_t j = 0; j < k; j++) {
            now[c] += hf_rng_below(&rng, 5);
            some[j] = event_at(now[c], i, sent[c]++);
        }
        assert_true(hf_pipeline_put(t.p, c, some, k));
    }
    hf_pipeline_leave(t.p, 3);
    hf_pipeline_end(t.p);
    pthread_join(consumer, NULL);
    assert_true(t.ordered);
    for (uint32_t c = 0; c < 8; c++)
        assert_int_equal(t.of[c], sent[c]);
    if (bytes > 0)
        assert_true(t.most_bytes <= 2 * bytes);
    hf_pipeline_free(t.p);
}

static void test_put_by_blocks(void **state)
{
    (void)state;
    put_threads(0, 0, 10);
    put_threads(0, (size_t)1 << 18, 20000);
    put_threads((size_t)1 << 20, 0, 20000);
}

/* A consumer that stops lets producers go. */
static void test_stop(void **state)
{
    hf_pipeline *p =
        hf_pipeline_new(&(hf_pipeline_options){.bytes = (size_t)1 << 18});
    maker m = {p, hf_pipeline_join(p, 0), 1, 10000000};
    hf_event events[10];
    pthread_t thread;

    (void)state;
    pthread_create(&thread, NULL, make, &m);
    (void)hf_pipeline_take(p, events, 10, 1000000000);
    hf_pipeline_stop(p);
    pthread_join(thread, NULL);
    hf_pipeline_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order_of_pushes),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_many_clients_with_few_events),
        cmocka_unit_test(test_watermark_waits_for_the_slowest),
        cmocka_unit_test(test_events_that_do_not_ascend),
        cmocka_unit_test(test_a_client_that_stalls_is_passed_by),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_put_by_blocks),
        cmocka_unit_test(test_stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
