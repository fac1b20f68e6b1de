/* test_legal.c: what run/legal.c lets happen is legal at its level.
 *
 *   test_legal [EXECUTIONS [SEED]]      default 3,000
 *
 * Random transactions of some sessions commit one after the other; each read
 * is from a writer drawn among those that are legal.  The history must be
 * valid at the level.  At the levels that allow it some of them must not be
 * serializable, else nothing was tested; and what a transaction sees without
 * seeing anybody new must always be legal.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "history/builder.h"
#include "run/legal.h"

#define KEYS 4u
#define MOST_TXNS 9u

typedef struct row {
    hf_legal_rule rule;
    const char *level;
    bool weak; /* allows what is not serializable */
} row;

static const row rows[] = {
    {HF_LEGAL_READ_COMMITTED, "read-committed-axiomatic", true},
    {HF_LEGAL_READ_ATOMIC, "read-atomic", true},
    {HF_LEGAL_CAUSAL, "causal", true},
    {HF_LEGAL_PARALLEL, "strong-session-parallel-snapshot-isolation", true},
    {HF_LEGAL_PREFIX, "prefix", true},
    {HF_LEGAL_SNAPSHOT, "strong-session-snapshot-isolation", true},
    {HF_LEGAL_STATEMENT, "read-committed-axiomatic", true},
    {HF_LEGAL_LOCKING, "read-committed", true},
    {HF_LEGAL_SERIALIZABLE, "strong-session-serializable", false},
};

typedef struct world {
    hf_legal *l;
    hf_builder *b;
    hf_rng rng;
    uint32_t writers[KEYS][MOST_TXNS]; /* places */
    unsigned n_writers[KEYS];
    uint32_t n;
} world;

static void stop(const char *what, const row *r, uint64_t seed)
{
    printf("test_legal: %s: %s, seed %llu\n", r->level, what,
           (unsigned long long)seed);
    exit(1);
}

static hf_value_id value_of(world *w, hf_key_id key, uint32_t writer)
{
    return writer == HF_NONE ? hf_builder_nil(w->b, key)
                             : hf_builder_int(w->b, key, writer + 1);
}

/* One of the legal writers, or what is seen anyway. */
static uint32_t choose(world *w, uint32_t key, const row *r, uint64_t seed)
{
    uint32_t candidates[MOST_TXNS + 1], n = 0;
    uint32_t view = hf_legal_view(w->l, key);

    if (!hf_legal_may_read(w->l, key, view))
        stop("the view is not legal", r, seed);
    if (hf_legal_may_read(w->l, key, HF_NONE))
        candidates[n++] = HF_NONE;
    for (unsigned i = 0; i < w->n_writers[key]; i++)
        if (hf_legal_may_read(w->l, key, w->writers[key][i]))
            candidates[n++] = w->writers[key][i];
    return candidates[hf_rng_below(&w->rng, n)];
}

static void run_txn(world *w, const row *r, uint64_t seed)
{
    uint32_t session = hf_rng_below(&w->rng, 3);
    hf_txn_id t =
        hf_builder_txn(w->b, hf_builder_session_number(w->b, session));
    uint32_t written[KEYS], n_written = 0, mask = 0;

    hf_legal_begin(w->l, session);
    for (unsigned i = 1 + hf_rng_below(&w->rng, 4); i > 0; i--) {
        uint32_t key = hf_rng_below(&w->rng, KEYS), from;
        hf_key_id id = hf_builder_key_int(w->b, key);

        if (mask >> key & 1)
            continue; /* its own write is not asked about */
        hf_legal_statement(w->l, hf_rng_chance(&w->rng, 30));
        from = choose(w, key, r, seed);
        hf_legal_read(w->l, key, from);
        (void)hf_builder_op(w->b, t, HF_OP_READ, id, value_of(w, id, from));
        if (hf_rng_chance(&w->rng, 50)) {
            written[n_written++] = key;
            mask |= 1u << key;
        }
    }
    if (!hf_legal_may_commit(w->l, written, n_written)) {
        hf_builder_outcome(w->b, t, HF_ABORTED);
        hf_legal_abort(w->l);
        return;
    }
    for (uint32_t i = 0; i < n_written; i++) {
        hf_key_id id = hf_builder_key_int(w->b, written[i]);

        (void)hf_builder_op(w->b, t, HF_OP_WRITE, id, value_of(w, id, w->n));
        w->writers[written[i]][w->n_writers[written[i]]++] = w->n;
    }
    if (hf_legal_commit(w->l, written, n_written) != w->n++)
        stop("places are not counted", r, seed);
}

static hf_verdict verdict(const hf_history *h, const char *level)
{
    hf_result *r = NULL;
    hf_error err;
    hf_verdict v;

    if (hf_check(h, level, NULL, NULL, &r, &err) != HF_OK) {
        fprintf(stderr, "test_legal: %s\n", err.text);
        exit(2);
    }
    v = hf_result_verdict(r);
    hf_result_free(r);
    return v;
}

/* True: it is not serializable. */
static bool try_one(const row *r, uint64_t seed)
{
    world w = {.l = hf_legal_new(r->rule), .b = hf_builder_new()};
    hf_history *h = NULL;
    hf_error err;
    bool weak;

    hf_rng_seed(&w.rng, seed);
    for (unsigned i = 2 + hf_rng_below(&w.rng, MOST_TXNS - 2); i > 0; i--)
        run_txn(&w, r, seed);
    if (hf_builder_finish(w.b, &h, &err) != HF_OK)
        stop(err.text, r, seed);
    if (verdict(h, r->level) != HF_VALID)
        stop("the history is not legal", r, seed);
    weak = verdict(h, "strong-session-serializable") == HF_INVALID;
    hf_history_free(h);
    hf_legal_free(w.l);
    return weak;
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t weak = 0;

        for (uint64_t k = 0; k < n; k++)
            weak += try_one(&rows[i], seed + k);
        printf("%-44s %llu of %llu are not serializable\n", rows[i].level,
               (unsigned long long)weak, (unsigned long long)n);
        if ((weak > 0) != rows[i].weak)
            stop("too many or too few are serializable", &rows[i], 0);
    }
    return 0;
}
