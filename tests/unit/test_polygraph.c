/* test_polygraph.c: a polygraph and the history made of it say the same.
 *
 * Both directions on random tiny instances: satisfiability is tried over all
 * choices, serializability over all orders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "formats_util.h"

#define MAX_NODES 16

typedef struct edge {
    unsigned from, to;
} edge;

typedef struct poly {
    unsigned n, n_edges, n_choices;
    edge edges[256];
    edge choices[256][2];
} poly;

/* ---- satisfiable? -------------------------------------------------------- */

static bool is_acyclic(const uint32_t *before, unsigned n)
{
    uint32_t reach[MAX_NODES];

    memcpy(reach, before, n * sizeof(*reach));
    for (unsigned k = 0; k < n; k++)
        for (unsigned i = 0; i < n; i++)
            if (reach[i] >> k & 1)
                reach[i] |= reach[k];
    for (unsigned i = 0; i < n; i++)
        if (reach[i] >> i & 1)
            return false;
    return true;
}

static bool try_choices(const poly *p, unsigned next, uint32_t *reach)
{
    if (!is_acyclic(reach, p->n))
        return false;
    if (next == p->n_choices)
        return true;
    for (int i = 0; i < 2; i++) {
        uint32_t copy[MAX_NODES];

        memcpy(copy, reach, sizeof(copy));
        copy[p->choices[next][i].from] |= 1u << p->choices[next][i].to;
        if (try_choices(p, next + 1, copy))
            return true;
    }
    return false;
}

static bool is_satisfiable(const poly *p)
{
    uint32_t reach[MAX_NODES] = {0};

    for (unsigned i = 0; i < p->n_edges; i++)
        reach[p->edges[i].from] |= 1u << p->edges[i].to;
    return try_choices(p, 0, reach);
}

/* ---- serializable? ------------------------------------------------------- */

typedef struct search {
    const hf_history *h;
    bool sessions; /* with session order */
    uint64_t steps;
} search;

/* Runs t on the state; false if a read does not see what it returned. */
static bool run_txn(const hf_history *h, hf_txn_id t, hf_value_id *state)
{
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_key_id key = h->op_key[op];
        hf_value_id v = h->op_value[op];

        if (hf_op_kind_of(h, op) == HF_OP_WRITE)
            state[key] = v;
        else if (state[key] == HF_NONE ? !hf_value_is_initial(h, key, v)
                                       : state[key] != v)
            return false;
    }
    return true;
}

static bool may_run(const search *s, hf_txn_id t, uint64_t done)
{
    const hf_history *h = s->h;

    for (hf_txn_id u = 0; s->sessions && u < t; u++)
        if (h->txn_session[u] == h->txn_session[t] &&
            h->txn_outcome[u] == HF_COMMITTED && !(done >> u & 1))
            return false;
    return h->txn_outcome[t] == HF_COMMITTED && !(done >> t & 1);
}

static bool try_orders(search *s, uint64_t done, const hf_value_id *state)
{
    const hf_history *h = s->h;
    hf_value_id *next = HF_NEW_ARRAY(hf_value_id, h->n_keys);
    bool found = true;

    assert_true(s->steps++ < 5000000);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (h->txn_outcome[t] == HF_COMMITTED && !(done >> t & 1))
            found = false;
    for (hf_txn_id t = 0; t < h->n_txns && !found; t++) {
        memcpy(next, state, h->n_keys * sizeof(*next));
        if (may_run(s, t, done) && run_txn(h, t, next))
            found = try_orders(s, done | (uint64_t)1 << t, next);
    }
    hf_free(next);
    return found;
}

static bool is_serializable(const hf_history *h, bool sessions)
{
    search s = {h, sessions, 0};
    hf_value_id *state = HF_NEW_ARRAY(hf_value_id, h->n_keys);
    bool found;

    assert_true(h->n_txns <= 64);
    memset(state, 0xff, h->n_keys * sizeof(*state));
    found = try_orders(&s, 0, state);
    hf_free(state);
    return found;
}

/* ---- from polygraphs to histories ---------------------------------------- */

static edge random_edge(hf_rng *rng, unsigned n)
{
    return (edge){hf_rng_below(rng, n), hf_rng_below(rng, n)};
}

/* Mostly Cobra's shapes, sometimes anything, sometimes nonsense. */
static void random_choice(hf_rng *rng, poly *p, edge *choice)
{
    choice[0] = random_edge(rng, p->n);
    choice[1] = random_edge(rng, p->n);
    if (p->n_edges > 0 && hf_rng_chance(rng, 40)) {
        edge known = p->edges[hf_rng_below(rng, p->n_edges)];
        unsigned other = hf_rng_below(rng, p->n);

        choice[0] = (edge){known.to, other};
        choice[1] = (edge){other, known.from};
        if (hf_rng_chance(rng, 30)) {
            edge second = p->edges[hf_rng_below(rng, p->n_edges)];

            choice[0] = (edge){known.to, second.from};
            choice[1] = (edge){second.to, known.from};
        }
    } else if (hf_rng_chance(rng, 20)) {
        choice[1] = (edge){choice[0].to, choice[0].from};
    }
}

static poly random_poly(hf_rng *rng)
{
    poly p = {.n = 2 + hf_rng_below(rng, 3)};

    p.n_edges = hf_rng_below(rng, 5);
    for (unsigned i = 0; i < p.n_edges; i++) {
        p.edges[i] = random_edge(rng, p.n);
        /* few from a node to itself or back: most should be satisfiable */
        if (p.edges[i].from >= p.edges[i].to && hf_rng_chance(rng, 85))
            p.edges[i] = (edge){0, 1 + hf_rng_below(rng, p.n - 1)};
    }
    p.n_choices = hf_rng_below(rng, 3);
    for (unsigned i = 0; i < p.n_choices; i++)
        random_choice(rng, &p, p.choices[i]);
    return p;
}

static char *poly_text(const poly *p)
{
    hf_out out;
    char *text;

    hf_out_init_memory(&out);
    hf_out_format(&out, "n:%u\n", p->n);
    for (unsigned i = 0; i < p->n_edges; i++)
        hf_out_format(&out, "e:%u,%u\n", p->edges[i].from, p->edges[i].to);
    for (unsigned i = 0; i < p->n_choices; i++)
        hf_out_format(&out, "c:%u,%u|%u,%u\n", p->choices[i][0].from,
                      p->choices[i][0].to, p->choices[i][1].from,
                      p->choices[i][1].to);
    hf_out_char(&out, '\0');
    text = strdup(out.at);
    hf_out_release(&out);
    assert_non_null(text);
    return text;
}

static void history_of_a_polygraph_is_serializable_iff_satisfiable(void **state)
{
    unsigned satisfiable = 0, extra = 0;
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 1);
    for (unsigned round = 0; round < 700; round++) {
        poly p = random_poly(&rng);
        char *text = poly_text(&p);
        hf_history *h = import_text("cobra-polygraph", text);
        bool wanted = is_satisfiable(&p);

        if (is_serializable(h, true) != wanted)
            fail_msg("%s: %s", wanted ? "satisfiable" : "not satisfiable",
                     text);
        satisfiable += wanted;
        extra += h->n_txns > p.n;
        hf_history_free(h);
        free(text);
    }
    /* the instances were worth it */
    assert_in_range(satisfiable, 140, 560);
    assert_in_range(extra, 140, 560);
}

static void cobra_choices_need_no_extra_transactions(void **state)
{
    hf_history *h =
        import_text("cobra-polygraph",
                    "n:4\ne:0,1\ne:0,2\ne:0,3\ne:1,2\nc:2,3|3,1\nc:1,2|2,1\n");

    (void)state;
    assert_int_equal(h->n_txns, 4);
    assert_int_equal(h->n_sessions, 4);
    hf_history_free(h);
}

/* ---- from histories to polygraphs ---------------------------------------- */

static poly parse_poly(const hf_out *out)
{
    poly p = {0};
    char *text = malloc(out->n + 1), *at;

    assert_non_null(text);
    memcpy(text, out->at, out->n);
    text[out->n] = '\0';
    for (at = text; *at; at = strchr(at, '\n') + 1) {
        edge *c = p.choices[p.n_choices];

        if (sscanf(at, "n:%u", &p.n) == 1)
            continue;
        if (sscanf(at, "e:%u,%u", &p.edges[p.n_edges].from,
                   &p.edges[p.n_edges].to) == 2)
            p.n_edges++;
        else if (sscanf(at, "c:%u,%u|%u,%u", &c[0].from, &c[0].to, &c[1].from,
                        &c[1].to) == 4)
            p.n_choices++;
        else
            fail_msg("unexpected line: %s", at);
        assert_true(p.n_edges < 256 && p.n_choices < 256);
    }
    free(text);
    return p;
}

/* Two sessions, some aborted; reads return something that was written, or the
 * initial version, or (rarely) nothing that ever was. */
static char *random_history(hf_rng *rng)
{
    unsigned n_txns = 2 + hf_rng_below(rng, 4), value = 0;
    hf_out out;
    char *text;

    hf_out_init_memory(&out);
    for (unsigned t = 0; t < n_txns; t++) {
        unsigned session = hf_rng_below(rng, 3);
        bool aborted = hf_rng_chance(rng, 10);

        for (unsigned n = 1 + hf_rng_below(rng, 3); n > 0; n--) {
            bool write = hf_rng_chance(rng, 45);
            unsigned v = write ? ++value : hf_rng_below(rng, value + 3);

            /* the value says its key, so that reads match */
            hf_out_format(&out, "%c(%u,%u,%u,%d)\n", write ? 'w' : 'r',
                          v == 0 ? hf_rng_below(rng, 2) : v % 2, v, session,
                          aborted ? -1 : (int)t);
        }
    }
    hf_out_char(&out, '\0');
    text = strdup(out.at);
    hf_out_release(&out);
    assert_non_null(text);
    return text;
}

/* A serial order must also not show aborted or overwritten values, which the
 * search above sees to by running whole transactions. */
static void polygraph_of_a_history_is_satisfiable_iff_serializable(void **state)
{
    unsigned serializable = 0;
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 2);
    for (unsigned round = 0; round < 700; round++) {
        char *text = random_history(&rng);
        hf_history *h = import_text("plume-text", text);
        bool wanted = is_serializable(h, true);
        hf_error err;
        hf_out out;
        poly p;

        if (export_memory("cobra-polygraph", h, &out, &err) != HF_OK)
            fail_msg("%s", err.text);
        p = parse_poly(&out);
        if (p.n > MAX_NODES || is_satisfiable(&p) != wanted)
            fail_msg("%s:\n%s", wanted ? "serializable" : "not serializable",
                     text);
        serializable += wanted;
        hf_out_release(&out);
        hf_history_free(h);
        free(text);
    }
    assert_in_range(serializable, 70, 630);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            history_of_a_polygraph_is_serializable_iff_satisfiable),
        cmocka_unit_test(cobra_choices_need_no_extra_transactions),
        cmocka_unit_test(
            polygraph_of_a_history_is_satisfiable_iff_serializable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
