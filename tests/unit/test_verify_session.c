/* Several claims: in one session each gets the answer it gets alone, and one
 * text may hold several.
 *
 * Random histories, the proofs of two engines at every level, each also with
 * one thing changed; asked one after the other in one session, in a random
 * order, some of them interrupted on the way, until a new session begins.
 */
#include "verify_ask.h"

#include "../prop/random_history.h"
#include "check/check.h"

#define HISTORIES 400
#define MOST_CLAIMS 512

typedef struct pool {
    hf_rng rng;
    hf_arena arena;
    hf_claim claims[MOST_CLAIMS];
    uint32_t n;
    hf_result *results[HF_LEVEL_COUNT * 2];
    uint32_t n_results;
    /* over all histories */
    uint32_t accepted, refused, cut_short;
    uint32_t kinds[HF_WITNESS_KIND_COUNT];
} pool;

static uint32_t below(pool *p, uint32_t n)
{
    return hf_rng_below(&p->rng, n);
}

static void *copy(pool *p, const void *from, size_t n, size_t size)
{
    void *to = hf_arena_get(&p->arena, (n + 1) * size);

    if (n > 0)
        memcpy(to, from, n * size);
    return to;
}

/* One thing is another.  Ids stay in range; other than that anything goes. */
static hf_claim changed(pool *p, const hf_history *h, hf_claim c)
{
    hf_witness *w = &c.witness;

    w->edges = copy(p, w->edges, w->n_edges, sizeof(*w->edges));
    w->ops = copy(p, w->ops, w->n_ops, sizeof(*w->ops));
    w->order = copy(p, w->order, w->n_order, sizeof(*w->order));
    switch (below(p, 7)) {
    case 0:
        c.level = (hf_level)below(p, HF_LEVEL_COUNT);
        break;
    case 1:
        w->rests = below(p, 1u << HF_REST_COUNT);
        break;
    case 2:
        w->anomaly = (hf_anomaly)below(p, HF_ANOMALY_COUNT);
        break;
    case 3:
        c.verdict = HF_INVALID;
        w->kind = HF_WITNESS_CORE;
        w->n_order = 1 + below(p, 3);
        w->order = copy(p, NULL, 0, 8 * sizeof(*w->order));
        for (uint32_t i = 0; i < w->n_order; i++)
            w->order[i] = below(p, h->n_txns);
        break;
    case 4:
        if (w->n_edges > 0)
            w->edges[below(p, w->n_edges)].from_op = below(p, h->n_ops);
        break;
    case 5:
        if (w->n_ops > 0)
            w->ops[below(p, w->n_ops)] = below(p, h->n_ops);
        break;
    default:
        if (w->n_order > 0)
            w->order[below(p, w->n_order)] = below(p, h->n_txns);
        break;
    }
    return c;
}

/* The same as a proof of one step; sometimes of one more. */
static hf_claim as_proof(pool *p, hf_claim c)
{
    hf_witness *w = &c.witness;

    w->kind = HF_WITNESS_PROOF;
    w->anomaly = HF_NO_ORDER;
    w->n_steps = 1 + below(p, 2);
    w->steps = copy(p, NULL, 0, 2 * sizeof(*w->steps));
    w->steps[0] = (hf_step){HF_STEP_CYCLE, 0, w->n_edges, HF_NONE, HF_NONE, 0};
    w->steps[1] = (hf_step){HF_STEP_RESOLVE, 0, 1, HF_NONE, HF_NONE, 0};
    w->n_used = w->n_steps - 1;
    w->used = copy(p, NULL, 0, sizeof(*w->used));
    return c;
}

static void add(pool *p, const hf_history *h, const hf_result *r,
                const hf_witness *w)
{
    hf_claim c = {r->verdict, r->level, *w};

    if (p->n + 4 > MOST_CLAIMS)
        return;
    p->claims[p->n++] = c;
    p->claims[p->n++] = changed(p, h, c);
    if (w->kind != HF_WITNESS_CYCLE)
        return;
    p->claims[p->n++] = as_proof(p, c);
    p->claims[p->n++] = changed(p, h, as_proof(p, c));
}

/* The claims of an engine. */
static void ask_engine(pool *p, const hf_history *h, const char *name)
{
    const hf_engine *engine = hf_engine_find(hf_str_of(name));

    assert_non_null(engine);
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        hf_check_options options = {.assume = below(p, HF_REST_ASSUMABLE + 1)};
        hf_result *r = NULL;
        hf_error err;

        if (engine->check(h, (hf_level)l, &options, NULL, &r, &err) != HF_OK)
            continue;
        p->results[p->n_results++] = r;
        add(p, h, r, &r->witness);
        for (uint32_t i = 0; i < r->n_findings && i < 3; i++)
            add(p, h, r, &r->findings[i].witness);
    }
}

static bool interrupt(void *user)
{
    (void)user;
    return true;
}

/* The session is asked to stop soon. */
static void ask_briefly(pool *p, hf_verify_session *session, const hf_claim *c)
{
    hf_budget budget = {.interrupted = interrupt};
    hf_verification v;
    hf_error err;

    hf_budget_start(&budget);
    budget.countdown = below(p, 8);
    p->cut_short +=
        hf_verify_claim_in(session, c, &budget, &v, &err) == HF_ERR_LIMIT;
}

static void compare(pool *p, const hf_history *h, hf_verify_session *session,
                    const hf_claim *c)
{
    hf_verification alone = {0}, together = {0};
    hf_error err_alone = {0}, err_together = {0};
    hf_status expected = hf_verify_claim(h, c, NULL, &alone, &err_alone);
    hf_status st =
        hf_verify_claim_in(session, c, NULL, &together, &err_together);

    assert_int_equal(st, expected);
    assert_string_equal(err_together.text, err_alone.text);
    assert_int_equal(together.accepted, alone.accepted);
    assert_string_equal(together.reason, alone.reason);
    if (st == HF_OK && alone.accepted && c->witness.kind == HF_WITNESS_CYCLE) {
        hf_claim proof = as_proof(p, *c); /* it is one, too */

        assert_int_equal(
            hf_verify_claim_in(session, &proof, NULL, &together, &err_alone),
            HF_OK);
        if (!together.accepted)
            fail_msg("%s", together.reason);
    }
    p->kinds[c->witness.kind] += alone.accepted;
    p->accepted += st == HF_OK && alone.accepted;
    p->refused += st == HF_OK && !alone.accepted;
}

static void one_history(pool *p, const hf_history *h)
{
    hf_verify_session *session = hf_verify_open(h);

    hf_arena_init(&p->arena);
    p->n = p->n_results = 0;
    ask_engine(p, h, "brute");
    ask_engine(p, h, "graph");
    for (uint32_t i = 0; i < 2 * p->n; i++) {
        if (below(p, 4) == 0) { /* a new one: tables are begun again */
            hf_verify_close(session);
            session = hf_verify_open(h);
        }
        if (below(p, 2) == 0)
            ask_briefly(p, session, &p->claims[below(p, p->n)]);
        compare(p, h, session, &p->claims[below(p, p->n)]);
    }
    hf_verify_close(session);
    for (uint32_t i = 0; i < p->n_results; i++)
        hf_result_free(p->results[i]);
    hf_arena_release(&p->arena);
}

static void a_session_answers_as_alone(void **state)
{
    static pool p;

    (void)state;
    hf_rng_seed(&p.rng, 1);
    for (int i = 0; i < HISTORIES; i++) {
        tiny_history t = random_history(&p.rng);
        hf_error err;
        hf_history *h = tiny_build(&t, &err);

        if (h && h->n_txns > 0 && h->n_ops > 0)
            one_history(&p, h);
        tiny_free(h);
    }
    /* all of it happened */
    assert_true(p.accepted > 1000 && p.refused > 1000 && p.cut_short > 1000);
    for (unsigned k = HF_WITNESS_SERIAL; k < HF_WITNESS_KIND_COUNT; k++)
        assert_true(p.kinds[k] > 0);
}

/* A history that nothing can be said about stays one. */
static void a_mixed_key_is_refused_every_time(void **state)
{
    hf_history *h = history("{\"ops\":[[\"append\",\"x\",1]]}\n"
                            "{\"ops\":[[\"append\",\"x\",2]]}\n");
    hf_verify_session *session;
    hf_claim claim = {HF_INVALID, HF_SERIALIZABLE, {.kind = HF_WITNESS_CORE}};
    hf_verification v;
    hf_error err;
    uint32_t order[] = {0, 1};

    (void)state;
    h->op_kind[1] = HF_OP_WRITE; /* no builder would let it pass */
    claim.witness.order = order;
    claim.witness.n_order = 2;
    session = hf_verify_open(h);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hf_verify_claim_in(session, &claim, NULL, &v, &err),
                         HF_ERR_INPUT);
        assert_string_equal(err.text, "key x is both appended to and written");
    }
    hf_verify_close(session);
    hf_history_free(h);
}

/* ---- several claims in one text ------------------------------------------ */

#define SERIAL                                                                 \
    "{\"verdict\":\"valid\",\"level\":\"SER\",\"kind\":\"serial\",\n"          \
    "\"order\":[0,1]}"
#define OPEN                                                                   \
    "{\"type\":\"result\",\"verdict\":\"unknown\",\"level\":\"RC\","           \
    "\"witness\":null}"
#define LEVELS "{\"type\":\"levels\",\"schema\":1,\"unknown\":[]}"

static void claims_may_follow_each_other(void **state)
{
    static const struct {
        const char *text;
        size_t n;
        hf_level first, last;
    } cases[] = {
        {SERIAL, 1, HF_SERIALIZABLE, HF_SERIALIZABLE},
        {LEVELS "\n" OPEN "\n" SERIAL "\n", 2, HF_READ_COMMITTED,
         HF_SERIALIZABLE},
        {SERIAL OPEN LEVELS, 2, HF_SERIALIZABLE, HF_READ_COMMITTED},
        {"\n " SERIAL "\n" SERIAL "\t" OPEN, 3, HF_SERIALIZABLE,
         HF_READ_COMMITTED},
    };
    hf_history *h = history("{\"ops\":[]}\n{\"ops\":[]}\n");

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hf_claim_list list;
        hf_arena arena;
        hf_error err;

        hf_arena_init(&arena);
        assert_int_equal(hf_claims_read(h, cases[i].text, strlen(cases[i].text),
                                        &arena, &list, &err),
                         HF_OK);
        assert_int_equal(list.n, cases[i].n);
        assert_int_equal(list.at[0].level, cases[i].first);
        assert_int_equal(list.at[list.n - 1].level, cases[i].last);
        if (list.at[0].verdict == HF_VALID)
            assert_int_equal(list.at[0].witness.n_order, 2);
        hf_arena_release(&arena);
    }
    hf_history_free(h);
}

static void what_is_no_claim_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text;
        uint64_t line; /* 0: of the whole */
    } cases[] = {
        {"", 1},
        {LEVELS, 1},
        {"[]", 1},
        {SERIAL "\nx", 3},
        {SERIAL "\n\n{\"verdict\":7}", 4},
        {LEVELS "\n" SERIAL "\n{\"verdict\":", 4},
        {SERIAL "\n{}", 0},
        {OPEN
         "\n{\"verdict\":\"valid\",\"level\":\"SER\",\n\"kind\":\"serial\","
         "\n\"order\":[2]}",
         4},
    };
    hf_history *h = history("{\"ops\":[]}\n{\"ops\":[]}\n");

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hf_claim_list list;
        hf_arena arena;
        hf_error err;

        hf_arena_init(&arena);
        assert_int_equal(hf_claims_read(h, cases[i].text, strlen(cases[i].text),
                                        &arena, &list, &err),
                         HF_ERR_INPUT);
        if (cases[i].line != 0)
            assert_int_equal(err.line, cases[i].line);
        hf_arena_release(&arena);
    }
    hf_history_free(h);
}

static void nothing_is_closed(void **state)
{
    (void)state;
    hf_verify_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_answers_as_alone),
        cmocka_unit_test(a_mixed_key_is_refused_every_time),
        cmocka_unit_test(claims_may_follow_each_other),
        cmocka_unit_test(what_is_no_claim_is_refused_with_its_line),
        cmocka_unit_test(nothing_is_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
