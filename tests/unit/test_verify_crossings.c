/* Elements that two orders put on different sides: the tree against a loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "verify/crossings.h"

#define MOST 70
#define QUESTIONS 40
#define PLACES 30

typedef struct question {
    uint32_t from, to, when, where;
} question;

typedef struct row {
    uint32_t n;
    bool added[MOST];
    uint32_t when[MOST], where[MOST];
} row;

static bool counts(const row *r, const question *q, uint32_t i, bool late)
{
    if (!r->added[i])
        return false;
    return late ? r->when[i] < q->when && r->where[i] >= q->where
                : r->when[i] >= q->when && r->where[i] < q->where;
}

static hf_crossings *random_row(hf_rng *rng, row *r)
{
    hf_crossings *c;

    r->n = hf_rng_below(rng, MOST);
    c = hf_crossings_new(r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        r->added[i] = hf_rng_chance(rng, 80);
        r->when[i] = hf_rng_below(rng, PLACES);
        r->where[i] =
            hf_rng_chance(rng, 5) ? UINT32_MAX : hf_rng_below(rng, PLACES);
        if (r->added[i])
            hf_crossings_add(c, i, r->when[i], r->where[i]);
    }
    return c;
}

static void ask(const hf_crossings *c, const row *r, const question *q,
                bool late, unsigned long *found)
{
    uint32_t at = hf_crossings_next(c, q->from, q->to, q->where);

    for (uint32_t i = q->from; i < q->to; i++) {
        if (!counts(r, q, i, late))
            continue;
        assert_int_equal(at, i);
        at = hf_crossings_next(c, at + 1, q->to, q->where);
        ++*found;
    }
    assert_int_equal(at, HF_NONE);
}

static int by_when(const void *a, const void *b)
{
    const question *x = a, *y = b;

    return (x->when > y->when) - (x->when < y->when);
}

static void answers_are_those_of_a_loop(void **state)
{
    unsigned long found = 0;
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 1);
    for (int round = 0; round < 2000; round++) {
        question q[QUESTIONS];
        row r;
        hf_crossings *c = random_row(&rng, &r);

        for (int i = 0; i < QUESTIONS; i++) {
            q[i].from = hf_rng_below(&rng, r.n + 1);
            q[i].to = q[i].from + hf_rng_below(&rng, r.n - q[i].from + 1);
            q[i].when = hf_rng_below(&rng, PLACES + 1);
            q[i].where = hf_rng_below(&rng, PLACES + 1);
        }
        qsort(q, QUESTIONS, sizeof(*q), by_when);
        for (int late = 1; late >= 0; late--) {
            hf_crossings_begin(c, late);
            for (int i = 0; i < QUESTIONS; i++) {
                const question *now = &q[late ? i : QUESTIONS - 1 - i];

                hf_crossings_move(c, now->when);
                ask(c, &r, now, late, &found);
            }
        }
        hf_crossings_free(c);
    }
    assert_true(found > 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_a_loop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
