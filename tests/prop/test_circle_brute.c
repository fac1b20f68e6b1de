/* test_circle_brute.c: versions that follow each other in a circle.
 *
 *     test_circle_brute [HISTORIES [SEED]]
 *
 * Transactions of unknown outcome may have read from each other in a circle:
 * none of them happened, but the graph of all who may have happened has a
 * version before itself, and whoever goes back from version to version must
 * come to an end.  Random histories of that kind, with a chain behind the
 * circle and others around it, at every level, with and without an assumption:
 * engines polygraph, graph and weak against the reference, which enumerates,
 * and every proof through verify.  A walk without an end is noticed by the
 * limit of time of the test.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "history/promises.h"
#include "random_history.h"

#define MAX_SHOWN 3
#define KEYS 3

typedef struct run {
    const hf_engine *engines[3], *reference;
    agreement_case about;
    hf_out json;
    hf_error why;
    agreement kind;
    long counts[HF_VERDICT_COUNT];
    long passed, failed;
    int next; /* value */
} run;

static tiny_txn *add_txn(tiny_history *t, hf_outcome outcome)
{
    tiny_txn *x = &t->txns[t->n_txns++];

    *x = (tiny_txn){.session = -1, .outcome = outcome, .begin = -1, .end = -1};
    return x;
}

static void add_op(tiny_txn *x, hf_op_kind kind, int key, int value)
{
    if (x->n_ops < TINY_OPS)
        x->ops[x->n_ops++] =
            (tiny_op){.kind = kind, .key = key, .value = value};
}

/* Each reads what the one before it wrote; then some who go on from there. */
static void add_circle(run *r, tiny_history *t, int key, hf_rng *rng)
{
    int n = 2 + (int)hf_rng_below(rng, 2), first = r->next;

    r->next += n;
    for (int i = 0; i < n; i++) {
        tiny_txn *x = add_txn(t, HF_UNKNOWN_OUTCOME);

        add_op(x, HF_OP_READ, key, first + (i + n - 1) % n);
        add_op(x, HF_OP_WRITE, key, first + i);
        if (hf_rng_chance(rng, 40))
            add_op(x, HF_OP_WRITE, KEYS - 1, r->next++);
    }
    for (int i = (int)hf_rng_below(rng, 3), read = first; i > 0; i--) {
        tiny_txn *x = add_txn(t, hf_rng_chance(rng, 80) ? HF_UNKNOWN_OUTCOME
                                                        : HF_COMMITTED);

        add_op(x, HF_OP_READ, key, read);
        add_op(x, HF_OP_WRITE, key, r->next);
        if (hf_rng_chance(rng, 50))
            add_op(x, HF_OP_READ, KEYS - 1, TINY_NIL);
        read = r->next++;
    }
}

/* A value of the key that somebody writes, or nil. */
static int some_value(const tiny_history *t, int key, hf_rng *rng)
{
    int found = TINY_NIL, n = 1;

    for (int i = 0; i < t->n_txns; i++)
        for (int j = 0; j < t->txns[i].n_ops; j++) {
            const tiny_op *op = &t->txns[i].ops[j];

            if (op->kind == HF_OP_WRITE && op->key == key &&
                hf_rng_below(rng, (uint32_t)++n) == 0)
                found = op->value;
        }
    return found;
}

static void add_others(run *r, tiny_history *t, hf_rng *rng)
{
    while (t->n_txns < TINY_TXNS - 1) {
        tiny_txn *x = add_txn(t, hf_rng_chance(rng, 70) ? HF_COMMITTED
                                                        : HF_UNKNOWN_OUTCOME);
        unsigned written = 0;

        for (int i = 1 + (int)hf_rng_below(rng, 4); i > 0; i--) {
            int key = (int)hf_rng_below(rng, KEYS);

            if (hf_rng_chance(rng, 50)) {
                add_op(x, HF_OP_WRITE, key, r->next++);
                written |= 1u << key;
            } else if (!(written >> key & 1u)) {
                add_op(x, HF_OP_READ, key, some_value(t, key, rng));
            }
        }
    }
    for (int i = 0; i < t->n_txns; i++)
        if (hf_rng_chance(rng, 40))
            t->txns[i].session = (int)hf_rng_below(rng, 2);
}

static tiny_history random_circle(run *r, hf_rng *rng)
{
    tiny_history t = tiny_empty();

    t.n_keys = KEYS;
    r->next = 1;
    add_circle(r, &t, 0, rng);
    if (hf_rng_chance(rng, 30) && t.n_txns <= TINY_TXNS - 5)
        add_circle(r, &t, 1, rng);
    add_others(r, &t, rng);
    return t;
}

static bool fails_alike(const tiny_history *t, void *user)
{
    run *r = user;
    agreement_answers answers;
    hf_error err;
    hf_history *h = t->n_txns > 0 ? tiny_build(t, &err) : NULL;
    bool alike =
        h && agree_level(h, &r->about, &r->json, &answers, &r->why) == r->kind;

    tiny_free(h);
    return alike;
}

static void show(run *r, tiny_history t, uint64_t seed)
{
    if (r->failed++ >= MAX_SHOWN)
        return;
    tiny_shrink(&t, fails_alike, r);
    (void)fails_alike(&t, r);
    printf("seed %" PRIu64 ", %s, engine %s: %s: %s\n", seed,
           hf_level_get(r->about.level)->name, r->about.engine->name,
           agreement_name(r->kind), r->why.text);
    tiny_print(&t, stdout);
    printf("%.*s\n\n", (int)r->json.n, r->json.at);
    (void)fflush(stdout);
}

static void try_history(run *r, uint64_t seed)
{
    hf_rng rng;
    tiny_history t;
    hf_history *h;

    hf_rng_seed(&rng, seed);
    t = random_circle(r, &rng);
    h = tiny_build(&t, &r->why);
    for (int i = 0; i < 3 * HF_LEVEL_COUNT && h; i++) {
        agreement_answers answers;
        bool searches = i / HF_LEVEL_COUNT == 0;

        r->about = (agreement_case){.engine = r->engines[i / HF_LEVEL_COUNT],
                                    .reference = r->reference,
                                    .level = (hf_level)(i % HF_LEVEL_COUNT),
                                    .searched = true,
                                    .decides = searches};
        if (seed % 4 == 0)
            r->about.assume = HF_REST_SEQUENTIAL | HF_REST_READS;
        r->kind = agree_level(h, &r->about, &r->json, &answers, &r->why);
        if (r->kind == DISAGREE_UNKNOWN && !searches)
            r->kind = AGREE;
        r->counts[answers.reference]++;
        if (r->kind == AGREE)
            r->passed++;
        else
            show(r, t, seed);
    }
    tiny_free(h);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 600;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    run r = {.engines = {hf_engine_find(HF_STR("polygraph")),
                         hf_engine_find(HF_STR("graph")),
                         hf_engine_find(HF_STR("weak"))},
             .reference = hf_engine_find(HF_STR("brute"))};

    hf_out_init_memory(&r.json);
    for (long i = 0; i < n; i++)
        try_history(&r, seed + (uint64_t)i);
    printf("valid %ld, invalid %ld; %ld passed, %ld failed\n",
           r.counts[HF_VALID], r.counts[HF_INVALID], r.passed, r.failed);
    hf_out_release(&r.json);
    return r.failed || r.counts[HF_VALID] == 0 || r.counts[HF_INVALID] == 0;
}
