/* test_order.c: the search for an order against trying all choices.
 *
 * Random small instances: nodes, known edges, choices that bring edges, some
 * edges that need two choices, clauses.  An order that is found is checked
 * against the instance; "there is none" against enumeration, and its proof by
 * a checker that knows nothing but the instance.  The client adds edges at
 * once or when the order breaks them, makes its variables at once or when it
 * needs them, and chooses at random.  Searches are cut short, go on, begin
 * again with other hints; none of this changes an answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "solver/order.h"

#define MAX_NODES 16
#define MAX_EDGES 64
#define MAX_VARS 64
#define MAX_CLAUSES 256
#define MAX_LITS 8

/* Literals of an instance are 2 * choice, + 1 if negated, as the solver's;
 * its variables may have other numbers. */
typedef struct edge {
    uint32_t from, to;
    uint32_t n_why; /* 0: known */
    uint32_t why[2];
} edge;

typedef struct clause {
    uint32_t n, lits[MAX_LITS];
} clause;

typedef struct instance {
    uint32_t n_nodes, n_vars, n_edges, n_clauses;
    edge edges[MAX_EDGES];
    clause clauses[MAX_CLAUSES];
} instance;

/* The client, in one of its ways. */
typedef struct player {
    const instance *in;
    hf_rng *rng;
    bool eager; /* edges at once */
    hf_order *o;
    uint32_t var[MAX_VARS]; /* of a choice; UINT32_MAX: not made */
    uint32_t choice[MAX_VARS];
    uint32_t n_made;
    uint32_t given; /* clauses */
    uint32_t looks, taken, undone;
} player;

/* ---- enumeration --------------------------------------------------------- */

static bool holds(uint64_t model, uint32_t lit)
{
    return (model >> (lit / 2) & 1u) != (lit & 1u);
}

static bool is_there(const edge *e, uint64_t model)
{
    for (uint32_t i = 0; i < e->n_why; i++)
        if (!holds(model, e->why[i]))
            return false;
    return true;
}

static bool is_acyclic(const instance *in, uint64_t model)
{
    uint32_t reach[MAX_NODES] = {0};

    for (uint32_t i = 0; i < in->n_edges; i++)
        if (is_there(&in->edges[i], model))
            reach[in->edges[i].from] |= 1u << in->edges[i].to;
    for (uint32_t k = 0; k < in->n_nodes; k++)
        for (uint32_t i = 0; i < in->n_nodes; i++)
            if (reach[i] >> k & 1u)
                reach[i] |= reach[k];
    for (uint32_t i = 0; i < in->n_nodes; i++)
        if (reach[i] >> i & 1u)
            return false;
    return true;
}

static bool keeps_clauses(const instance *in, uint64_t model)
{
    for (uint32_t i = 0; i < in->n_clauses; i++) {
        const clause *c = &in->clauses[i];
        bool kept = false;

        for (uint32_t k = 0; k < c->n; k++)
            kept |= holds(model, c->lits[k]);
        if (!kept)
            return false;
    }
    return true;
}

static bool is_satisfiable(const instance *in)
{
    for (uint64_t model = 0; model < (uint64_t)1 << in->n_vars; model++)
        if (keeps_clauses(in, model) && is_acyclic(in, model))
            return true;
    return false;
}

/* ---- the client ---------------------------------------------------------- */

static hf_lit solver_lit(player *p, uint32_t lit)
{
    uint32_t choice = lit / 2;

    if (p->var[choice] == UINT32_MAX) {
        p->var[choice] = hf_order_new_var(p->o);
        assert_true(p->var[choice] < MAX_VARS);
        p->choice[p->var[choice]] = choice;
        p->n_made++;
        assert_int_equal(hf_order_n_vars(p->o), p->n_made);
    }
    return 2 * p->var[choice] + (lit & 1u);
}

static bool is_true(player *p, uint32_t lit)
{
    return p->var[lit / 2] != UINT32_MAX &&
           hf_order_value(p->o, solver_lit(p, lit)) == 1;
}

/* False: a conflict. */
static bool add_edge(player *p, uint32_t number)
{
    const edge *e = &p->in->edges[number];
    hf_lit why[2];

    for (uint32_t i = 0; i < e->n_why; i++)
        why[i] = solver_lit(p, e->why[i]);
    return hf_order_edge(p->o, e->from, e->to, number, why, e->n_why);
}

static bool all_true(player *p, const edge *e)
{
    for (uint32_t i = 0; i < e->n_why; i++)
        if (!is_true(p, e->why[i]))
            return false;
    return e->n_why > 0;
}

static void taken(void *user, hf_order *o, hf_lit lit)
{
    player *p = user;
    uint32_t mine = 2 * p->choice[HF_LIT_VAR(lit)] + (lit & 1u);

    p->taken++;
    assert_int_equal(hf_order_value(o, lit), 1);
    assert_int_equal(hf_order_value(o, HF_LIT_NOT(lit)), 0);
    for (uint32_t i = 0; p->eager && i < p->in->n_edges; i++) {
        const edge *e = &p->in->edges[i];

        if (e->n_why == 1 && e->why[0] == mine && !add_edge(p, i))
            return;
    }
}

static void undone(void *user, hf_order *o, hf_lit lit)
{
    player *p = user;

    p->undone++;
    assert_int_equal(hf_order_value(o, lit), 1);
}

static hf_order_next look(void *user, hf_order *o, hf_lit *ret_lit)
{
    player *p = user;
    const uint32_t *place = hf_order_place(o);
    uint32_t first;

    p->looks++;
    if (p->given < p->in->n_clauses) {
        const clause *c = &p->in->clauses[p->given];
        hf_lit lits[MAX_LITS];

        for (uint32_t i = 0; i < c->n; i++)
            lits[i] = solver_lit(p, c->lits[i]);
        (void)hf_order_clause(o, lits, c->n, p->given++);
        return HF_ORDER_AGAIN;
    }
    for (uint32_t i = 0; i < p->in->n_edges; i++) {
        const edge *e = &p->in->edges[i];

        if (all_true(p, e) && place[e->from] >= place[e->to]) {
            (void)add_edge(p, i);
            return HF_ORDER_AGAIN;
        }
    }
    first = p->in->n_vars ? hf_rng_below(p->rng, p->in->n_vars) : 0;
    for (uint32_t i = 0; i < p->in->n_vars; i++) {
        hf_lit lit = solver_lit(p, 2 * ((first + i) % p->in->n_vars));

        if (hf_order_value(o, lit) >= 0)
            continue;
        *ret_lit = hf_rng_chance(p->rng, 50) ? lit : HF_LIT_NOT(lit);
        return HF_ORDER_DECIDE;
    }
    return HF_ORDER_DONE;
}

static void start(player *p, const instance *in, hf_rng *rng)
{
    hf_order_client client = {p, look, taken, undone, NULL};

    *p = (player){.in = in, .rng = rng, .eager = hf_rng_chance(rng, 50)};
    memset(p->var, 0xff, sizeof(p->var));
    p->o = hf_order_new(in->n_nodes, &client);
    for (uint32_t i = 0; i < in->n_edges; i++)
        if (in->edges[i].n_why == 0)
            hf_order_known(p->o, in->edges[i].from, in->edges[i].to);
    if (hf_rng_chance(rng, 50))
        for (uint32_t i = 0; i < in->n_vars; i++)
            (void)solver_lit(p, 2 * i);
}

static void random_hint(hf_rng *rng, uint32_t n, uint32_t *hint)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = hf_rng_below(rng, i + 1);

        hint[i] = i;
        hint[i] = hint[at];
        hint[at] = i;
    }
}

/* ---- answers ------------------------------------------------------------- */

static void check_found(player *p)
{
    const uint32_t *place = hf_order_place(p->o);
    uint64_t model = 0;
    uint32_t seen = 0;

    for (uint32_t i = 0; i < p->in->n_vars; i++) {
        assert_int_not_equal(hf_order_value(p->o, solver_lit(p, 2 * i)), -1);
        model |= (uint64_t)is_true(p, 2 * i) << i;
    }
    for (uint32_t i = 0; i < p->in->n_nodes; i++) {
        assert_true(place[i] < p->in->n_nodes);
        seen |= 1u << place[i];
    }
    assert_int_equal(seen, (1u << p->in->n_nodes) - 1);
    assert_true(keeps_clauses(p->in, model));
    for (uint32_t i = 0; i < p->in->n_edges; i++)
        if (is_there(&p->in->edges[i], model))
            assert_true(place[p->in->edges[i].from] <
                        place[p->in->edges[i].to]);
}

/* A clause of the proof, in the choices of the instance. */
typedef struct derived {
    uint64_t plain, negated;
} derived;

static void add_literal(derived *d, uint32_t lit)
{
    uint64_t bit = (uint64_t)1 << (lit / 2);

    if (lit & 1u)
        d->negated |= bit;
    else
        d->plain |= bit;
}

static bool is_known_edge(const instance *in, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < in->n_edges; i++)
        if (in->edges[i].n_why == 0 && in->edges[i].from == from &&
            in->edges[i].to == to)
            return true;
    return false;
}

static derived check_cycle(const instance *in, const hf_order_step_edge *edges,
                           uint32_t n)
{
    derived d = {0, 0};

    assert_true(n > 0);
    for (uint32_t i = 0; i < n; i++) {
        const hf_order_step_edge *e = &edges[i];
        const edge *mine;

        assert_int_equal(e->to, edges[(i + 1) % n].from);
        if (e->tag == HF_NO_TAG) {
            assert_true(is_known_edge(in, e->from, e->to));
            continue;
        }
        assert_true(e->tag < in->n_edges);
        mine = &in->edges[e->tag];
        assert_int_equal(e->from, mine->from);
        assert_int_equal(e->to, mine->to);
        for (uint32_t k = 0; k < mine->n_why; k++)
            add_literal(&d, mine->why[k] ^ 1u);
    }
    return d;
}

static derived check_chain(const derived *all, uint32_t before,
                           const uint32_t *used, uint32_t n)
{
    derived d;

    assert_true(n > 0);
    for (uint32_t i = 0; i < n; i++)
        assert_true(used[i] < before);
    d = all[used[0]];
    for (uint32_t i = 1; i < n; i++) {
        derived next = all[used[i]];
        uint64_t clash = (d.plain & next.negated) | (d.negated & next.plain);

        /* in one variable */
        assert_true(clash != 0 && (clash & (clash - 1)) == 0);
        d.plain = (d.plain | next.plain) & ~clash;
        d.negated = (d.negated | next.negated) & ~clash;
    }
    return d;
}

/* Returns the number of steps. */
static uint32_t check_proof(const instance *in, const hf_order *o)
{
    hf_order_proof proof;
    derived *all, d = {1, 0};
    uint32_t n;

    hf_order_proof_make(o, &proof);
    n = proof.n_steps;
    assert_true(n > 0);
    all = HF_NEW_ZEROED(derived, n);
    for (uint32_t i = 0; i < n; i++) {
        const hf_order_step *s = &proof.steps[i];

        d = (derived){0, 0};
        if (s->kind == HF_ORDER_STEP_CYCLE) {
            d = check_cycle(in, proof.edges + s->first, s->n);
        } else if (s->kind == HF_ORDER_STEP_CLAUSE) {
            assert_true(s->source < in->n_clauses);
            for (uint32_t k = 0; k < in->clauses[s->source].n; k++)
                add_literal(&d, in->clauses[s->source].lits[k]);
        } else {
            d = check_chain(all, i, proof.used + s->first, s->n);
        }
        all[i] = d;
    }
    assert_true(d.plain == 0 && d.negated == 0);
    hf_free(all);
    hf_order_proof_release(&proof);
    return n;
}

/* Searches in pieces, with restarts and other hints in between. */
static hf_order_answer search_in_pieces(player *p)
{
    uint32_t hint[MAX_NODES];
    hf_order_answer a = HF_ORDER_LIMIT;

    random_hint(p->rng, p->in->n_nodes, hint);
    (void)hf_order_begin(p->o, hf_rng_chance(p->rng, 50) ? hint : NULL);
    for (uint32_t i = 0; a == HF_ORDER_LIMIT; i++) {
        assert_true(i < 100000);
        a = hf_order_search(p->o, 1 + hf_rng_below(p->rng, 3),
                            1 + hf_rng_below(p->rng, 4), NULL);
        if (a != HF_ORDER_LIMIT)
            break;
        if (hf_rng_chance(p->rng, 20))
            hf_order_restart(p->o);
        random_hint(p->rng, p->in->n_nodes, hint);
        if (hf_rng_chance(p->rng, 20))
            (void)hf_order_begin(p->o, hint);
    }
    return a;
}

static hf_order_answer solve(player *p, bool pieces)
{
    hf_order_answer a;

    if (pieces) {
        a = search_in_pieces(p);
    } else {
        (void)hf_order_begin(p->o, NULL);
        a = hf_order_search(p->o, UINT64_MAX / 2, 100, NULL);
    }
    assert_int_not_equal(a, HF_ORDER_LIMIT);
    assert_true(p->undone <= p->taken);
    if (a == HF_ORDER_FOUND)
        check_found(p);
    return a;
}

/* ---- instances ----------------------------------------------------------- */

static void random_edge(instance *in, hf_rng *rng, uint32_t n_why)
{
    edge *e = &in->edges[in->n_edges++];

    *e = (edge){hf_rng_below(rng, in->n_nodes), 0, n_why, {0, 0}};
    e->to = (e->from + 1 + hf_rng_below(rng, in->n_nodes - 1)) % in->n_nodes;
    for (uint32_t i = 0; i < n_why; i++)
        e->why[i] = hf_rng_below(rng, 2 * in->n_vars);
    if (n_why == 2 && e->why[0] / 2 == e->why[1] / 2)
        e->n_why = 1;
    /* known edges mostly go up: otherwise nearly all have a cycle */
    if (n_why == 0 && e->from > e->to && hf_rng_chance(rng, 95)) {
        uint32_t swap = e->from;

        e->from = e->to;
        e->to = swap;
    }
}

static void random_clause(instance *in, hf_rng *rng, uint32_t n)
{
    clause *c = &in->clauses[in->n_clauses++];

    for (c->n = 0; c->n < n;) {
        uint32_t lit = hf_rng_below(rng, 2 * in->n_vars);
        bool there = false;

        for (uint32_t i = 0; i < c->n; i++)
            there |= c->lits[i] / 2 == lit / 2;
        if (!there)
            c->lits[c->n++] = lit;
        else if (in->n_vars <= c->n)
            break;
    }
}

static void random_instance(instance *in, hf_rng *rng)
{
    uint32_t known, chosen, pairs, clauses;

    *in = (instance){.n_nodes = 2 + hf_rng_below(rng, 6),
                     .n_vars = 1 + hf_rng_below(rng, 8)};
    known = hf_rng_below(rng, 5);
    chosen = 1 + hf_rng_below(rng, 3 * in->n_vars);
    pairs = hf_rng_chance(rng, 40) ? hf_rng_below(rng, 6) : 0;
    clauses = hf_rng_chance(rng, 50) ? hf_rng_below(rng, 8) : 0;
    for (uint32_t i = 0; i < known; i++)
        random_edge(in, rng, 0);
    for (uint32_t i = 0; i < chosen; i++)
        random_edge(in, rng, 1);
    for (uint32_t i = 0; i < pairs; i++)
        random_edge(in, rng, 2);
    for (uint32_t i = 0; i < clauses; i++)
        random_clause(in, rng, 1 + hf_rng_below(rng, 3));
}

/* Every choice is between two edges that go opposite ways: a polygraph. */
static void random_polygraph(instance *in, hf_rng *rng)
{
    *in = (instance){.n_nodes = 4 + hf_rng_below(rng, 6),
                     .n_vars = 4 + hf_rng_below(rng, 7)};
    for (uint32_t i = 0; i < in->n_nodes / 2; i++)
        random_edge(in, rng, 0);
    for (uint32_t i = 0; i < in->n_vars; i++)
        for (uint32_t sign = 0; sign < 2; sign++)
            for (uint32_t k = 0; k < 2; k++) {
                random_edge(in, rng, 1);
                in->edges[in->n_edges - 1].why[0] = 2 * i + sign;
            }
}

/* ---- tests --------------------------------------------------------------- */

static void answers_are_those_of_enumeration(void **state)
{
    uint32_t found = 0, none = 0, steps = 0, most = 0;
    instance *in = HF_NEW(instance);
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 1);
    for (uint32_t round = 0; round < 20000; round++) {
        bool wanted;
        player p;

        if (round % 3 == 0)
            random_polygraph(in, &rng);
        else
            random_instance(in, &rng);
        wanted = is_satisfiable(in);
        start(&p, in, &rng);
        if ((solve(&p, round % 2) == HF_ORDER_FOUND) != wanted)
            fail_msg("round %u: not so", round);
        if (!wanted) {
            uint32_t n = check_proof(in, p.o);

            most = n > most ? n : most;
            steps += n;
        }
        found += wanted;
        none += !wanted;
        hf_order_free(p.o);
    }
    print_message("%u found, %u refuted, %u steps of proof, at most %u\n",
                  found, none, steps, most);
    assert_true(found > 3000 && none > 3000);
    assert_true(steps > 3 * none && most > 15);
    hf_free(in);
}

static void known_cycles_are_the_whole_proof(void **state)
{
    instance *in = HF_NEW(instance);
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 2);
    for (uint32_t round = 0; round < 200; round++) {
        player p;

        *in = (instance){.n_nodes = 2 + hf_rng_below(&rng, 8), .n_vars = 2};
        for (uint32_t i = 0; i < in->n_nodes; i++)
            in->edges[in->n_edges++] =
                (edge){i, (i + 1) % in->n_nodes, 0, {0, 0}};
        random_edge(in, &rng, 0);
        random_edge(in, &rng, 1);
        start(&p, in, &rng);
        assert_false(hf_order_begin(p.o, NULL));
        assert_int_equal(hf_order_search(p.o, 100, 10, NULL), HF_ORDER_NONE);
        assert_int_equal(check_proof(in, p.o), 1);
        assert_int_equal(hf_order_conflicts(p.o), 0);
        hf_order_free(p.o);
    }
    hf_free(in);
}

/* So many pigeons in one hole less; hole 0 is bad for the last, by edges. */
static void pigeons(instance *in, uint32_t n, bool one_less)
{
    uint32_t holes = n - 1;

    *in = (instance){.n_nodes = 3, .n_vars = n * holes};
    for (uint32_t i = 0; i < n - one_less; i++) {
        clause *c = &in->clauses[in->n_clauses++];

        for (uint32_t k = 0; k < holes; k++)
            c->lits[c->n++] = 2 * (i * holes + k);
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            for (uint32_t hole = 0; hole < holes; hole++)
                in->clauses[in->n_clauses++] = (clause){
                    2,
                    {2 * (i * holes + hole) + 1, 2 * (k * holes + hole) + 1}};
    in->edges[in->n_edges++] = (edge){0, 1, 0, {0, 0}};
    in->edges[in->n_edges++] = (edge){1, 2, 1, {2 * (n - 1) * holes, 0}};
    in->edges[in->n_edges++] = (edge){2, 0, 1, {2 * (n - 1) * holes, 0}};
}

/* Many more conflicts than what is kept of them. */
static void long_searches_restart_and_forget(void **state)
{
    instance *in = HF_NEW(instance);
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 3);
    for (uint32_t n = 4; n <= 8; n++)
        for (int one_less = 0; one_less < 2; one_less++) {
            player p;
            uint32_t steps = 0;

            pigeons(in, n, one_less);
            start(&p, in, &rng);
            assert_int_equal(solve(&p, false),
                             one_less ? HF_ORDER_FOUND : HF_ORDER_NONE);
            if (!one_less)
                steps = check_proof(in, p.o);
            print_message("%u pigeons: %llu conflicts, %u steps\n",
                          n - (unsigned)one_less,
                          (unsigned long long)hf_order_conflicts(p.o), steps);
            if (n == 8 && !one_less)
                assert_true(hf_order_conflicts(p.o) > 2500 && steps > 1000);
            hf_order_free(p.o);
        }
    hf_free(in);
}

static bool stop_at_once(void *user)
{
    (void)user;
    return true;
}

static void limits_end_a_search_that_can_go_on(void **state)
{
    hf_budget spent = {.interrupted = stop_at_once};
    instance *in = HF_NEW(instance);
    hf_rng rng;
    uint32_t rounds = 0;

    (void)state;
    hf_rng_seed(&rng, 4);
    while (rounds < 200) {
        uint64_t before;
        player p;

        random_polygraph(in, &rng);
        if (!is_acyclic(in, 0) && in->n_vars == 0)
            continue;
        start(&p, in, &rng);
        if (!hf_order_begin(p.o, NULL)) {
            hf_order_free(p.o);
            continue;
        }
        rounds++;
        hf_budget_start(&spent);
        assert_int_equal(hf_order_search(p.o, 1000, 10, &spent),
                         HF_ORDER_LIMIT);
        assert_true(spent.spent);
        before = hf_order_conflicts(p.o);
        (void)hf_order_search(p.o, 1, 10, NULL);
        /* what follows from a conflict at once is looked at first */
        assert_true(hf_order_conflicts(p.o) <= before + 1 + in->n_vars);
        assert_int_equal(hf_order_search(p.o, 1u << 20, 10, NULL) ==
                             HF_ORDER_FOUND,
                         is_satisfiable(in));
        hf_order_free(p.o);
    }
    hf_free(in);
}

static void last_values_and_no_choices(void **state)
{
    instance *in = HF_NEW(instance);
    hf_rng rng;
    player p;

    (void)state;
    hf_rng_seed(&rng, 5);
    *in = (instance){.n_nodes = 3, .n_vars = 0};
    in->edges[in->n_edges++] = (edge){2, 0, 0, {0, 0}};
    start(&p, in, &rng);
    assert_int_equal(solve(&p, false), HF_ORDER_FOUND);
    assert_int_equal(p.looks, 1);
    hf_order_free(p.o);

    /* the empty clause of the client */
    in->n_clauses = 1;
    start(&p, in, &rng);
    assert_int_equal(solve(&p, false), HF_ORDER_NONE);
    assert_int_equal(check_proof(in, p.o), 1);
    hf_order_free(p.o);

    /* what a choice was before a restart */
    *in = (instance){.n_nodes = 2, .n_vars = 1};
    start(&p, in, &rng);
    (void)solver_lit(&p, 0);
    assert_int_equal(hf_order_last(p.o, 0), HF_LIT_NONE);
    assert_int_equal(solve(&p, false), HF_ORDER_FOUND);
    {
        hf_lit lit = hf_order_value(p.o, 0) == 1 ? 0 : 1;

        hf_order_restart(p.o);
        assert_int_equal(hf_order_value(p.o, 0), -1);
        assert_int_equal(hf_order_last(p.o, 0), lit);
    }
    hf_order_free(p.o);
    hf_free(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_enumeration),
        cmocka_unit_test(known_cycles_are_the_whole_proof),
        cmocka_unit_test(long_searches_restart_and_forget),
        cmocka_unit_test(limits_end_a_search_that_can_go_on),
        cmocka_unit_test(last_values_and_no_choices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
