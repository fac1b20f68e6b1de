/* Proofs in words and as a graph. */
#include "report_util.h"

#include <stdio.h>

#include "verify/verify.h"

/* Edges and steps of a proof in the making. */
typedef struct draft {
    uint32_t n_edges, n_steps, n_used;
    hf_edge edges[200];
    hf_step steps[100];
    uint32_t used[200], chosen[200];
} draft;

static void edge(draft *d, hf_edge e, uint32_t chosen)
{
    hf_step *last = &d->steps[d->n_steps - 1];

    d->chosen[d->n_edges] = chosen;
    d->edges[d->n_edges++] = e;
    last->n++;
}

static void step(draft *d, hf_step_kind kind, hf_op_id op, hf_txn_id writer)
{
    d->steps[d->n_steps++] =
        (hf_step){.kind = kind,
                  .first = kind == HF_STEP_CYCLE ? d->n_edges : d->n_used,
                  .op = op,
                  .writer = writer};
}

static void uses(draft *d, uint32_t number)
{
    d->used[d->n_used++] = number;
    d->steps[d->n_steps - 1].n++;
}

static hf_result *result_of(draft *d)
{
    hf_result *r = hf_result_new(HF_SERIALIZABLE, "test");

    r->verdict = HF_INVALID;
    r->witness = (hf_witness){.kind = HF_WITNESS_PROOF,
                              .anomaly = HF_NO_ORDER,
                              .n_edges = d->n_edges,
                              .edges = d->edges,
                              .n_steps = d->n_steps,
                              .steps = d->steps,
                              .n_used = d->n_used,
                              .used = d->used,
                              .chosen = d->chosen};
    return r;
}

static const char forced[] = "{\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",1]]}\n"
                             "{\"ops\":[[\"w\",\"x\",2],[\"w\",\"y\",2]]}\n"
                             "{\"ops\":[[\"r\",\"y\",1],[\"r\",\"x\",2]]}\n"
                             "{\"ops\":[[\"r\",\"y\",2],[\"r\",\"x\",1]]}\n";

static void draft_forced(draft *d)
{
    *d = (draft){0};
    step(d, HF_STEP_CYCLE, HF_NONE, HF_NONE);
    edge(d, (hf_edge){HF_EDGE_RW, 2, 0, 0, 5, 0}, HF_CHOSEN_ONLY);
    edge(d, (hf_edge){HF_EDGE_WR, 0, 2, 1, 1, 4}, HF_CHOSEN_ONLY);
    step(d, HF_STEP_CYCLE, HF_NONE, HF_NONE);
    edge(d, (hf_edge){HF_EDGE_RW, 3, 1, 0, 7, 2}, HF_CHOSEN_ONLY);
    edge(d, (hf_edge){HF_EDGE_WR, 1, 3, 1, 3, 6}, HF_CHOSEN_ONLY);
    step(d, HF_STEP_RESOLVE, HF_NONE, HF_NONE);
    uses(d, 0);
    uses(d, 1);
}

static void facts_are_told_with_their_reasons(void **state)
{
    hf_history *h = history(forced);
    draft d;
    hf_result *r;

    (void)state;
    draft_forced(&d);
    r = result_of(&d);
    text_is(h, r,
            "invalid at serializable\n"
            "\n"
            "  no order of the versions explains this history: 4 "
            "transactions, 3 steps\n"
            "  1. T1 before T2 on x: otherwise T3 -rw x-> T1 -wr y-> T3\n"
            "  so T4 -rw x-> T2 -wr y-> T4: a circle (by 1)\n"
            "     T4 reads x = 1, which T2 overwrites with x = 2\n"
            "     T4 reads y = 2, which T2 wrote\n"
            "\n"
            "  T3 (line 3): read y = 1; read x = 2\n"
            "  T1 (line 1): write x = 1; write y = 1\n"
            "  T4 (line 4): read y = 2; read x = 1\n"
            "  T2 (line 2): write x = 2; write y = 2\n");
    hf_result_free(r);
    hf_history_free(h);
}

/* A proof that does not hold is not explained. */
static void what_does_not_follow_is_not_told(void **state)
{
    hf_history *h = history(forced);
    draft d;
    hf_result *r;

    (void)state;
    draft_forced(&d);
    d.edges[0].from_op = 4;
    r = result_of(&d);
    text_is(h, r,
            "invalid at serializable\n"
            "\n"
            "  no order of the versions explains this history: 4 "
            "transactions, 3 steps\n"
            "\n"
            "  T3 (line 3): read y = 1; read x = 2\n"
            "  T1 (line 1): write x = 1; write y = 1\n"
            "  T4 (line 4): read y = 2; read x = 1\n"
            "  T2 (line 2): write x = 2; write y = 2\n");
    hf_result_free(r);
    hf_history_free(h);
}

static void cases_are_told_apart(void **state)
{
    hf_history *h = history(
        "{\"ops\":[[\"w\",\"x\",7],[\"w\",\"y\",1]],\"outcome\":\"unknown\"}\n"
        "{\"ops\":[[\"w\",\"x\",7],[\"w\",\"y\",2]],\"outcome\":\"unknown\"}\n"
        "{\"ops\":[[\"r\",\"x\",7],[\"r\",\"y\",null]]}\n");
    draft d = {0};
    hf_result *r;

    (void)state;
    step(&d, HF_STEP_SOURCES, 4, HF_NONE);
    step(&d, HF_STEP_HAPPENED, 4, 0);
    step(&d, HF_STEP_HAPPENED, 4, 1);
    step(&d, HF_STEP_CYCLE, HF_NONE, HF_NONE);
    edge(&d, (hf_edge){HF_EDGE_WR, 0, 2, 0, 0, 4}, HF_CHOSEN(0));
    edge(&d, (hf_edge){HF_EDGE_RW, 2, 0, 1, 5, 1}, HF_CHOSEN_ONLY);
    step(&d, HF_STEP_CYCLE, HF_NONE, HF_NONE);
    edge(&d, (hf_edge){HF_EDGE_WR, 1, 2, 0, 2, 4}, HF_CHOSEN(1));
    edge(&d, (hf_edge){HF_EDGE_RW, 2, 1, 1, 5, 3}, HF_CHOSEN_ONLY);
    step(&d, HF_STEP_RESOLVE, HF_NONE, HF_NONE);
    uses(&d, 3);
    uses(&d, 1);
    step(&d, HF_STEP_RESOLVE, HF_NONE, HF_NONE);
    uses(&d, 4);
    uses(&d, 2);
    step(&d, HF_STEP_RESOLVE, HF_NONE, HF_NONE);
    uses(&d, 0);
    uses(&d, 5);
    uses(&d, 6);
    r = result_of(&d);
    text_is(h, r,
            "invalid at serializable\n"
            "\n"
            "  no order of the versions explains this history: 3 "
            "transactions, 8 steps\n"
            "  either T3 reads x = 7 from T1:\n"
            "  1. T1 happened: T3 reads from T1\n"
            "  so T1 -wr x-> T3 -rw y-> T1: a circle (by 1)\n"
            "     T3 reads x = 7, which T1 wrote\n"
            "     T3 reads y = nil, which T1 overwrites with y = 1\n"
            "  or T3 does not read x = 7 from T1:\n"
            "  1. T3 reads x = 7 from T2: nothing else is left\n"
            "  2. T2 happened: T3 reads from T2 (by 1)\n"
            "  so T2 -wr x-> T3 -rw y-> T2: a circle (by 2, 1)\n"
            "     T3 reads x = 7, which T2 wrote\n"
            "     T3 reads y = nil, which T2 overwrites with y = 2\n"
            "\n"
            "  T1 (line 1, outcome unknown): write x = 7; write y = 1\n"
            "  T3 (line 3): read x = 7; read y = nil\n"
            "  T2 (line 2, outcome unknown): write x = 7; write y = 2\n");
    hf_result_free(r);
    hf_history_free(h);
}

/* Writers 0 to n - 1 of x stand in a row since a reader saw each by its own
 * key and its x as older than the next one's; a last reader saw them turned
 * around. */
static void many_facts_are_cut(void **state)
{
    enum { N = 30 };
    char text[8192];
    int at = 0;
    draft d = {0};
    hf_history *h;
    hf_result *r;
    hf_out out;

    (void)state;
    for (int i = 0; i < N; i++) /* operations 2i, 2i + 1 */
        at += snprintf(text + at, sizeof(text) - (size_t)at,
                       "{\"ops\":[[\"w\",\"x\",%d],[\"w\",\"k%d\",1]]}\n",
                       i + 1, i);
    for (int i = 0; i + 1 < N; i++) /* sees i's key, and x of i + 1 */
        at += snprintf(text + at, sizeof(text) - (size_t)at,
                       "{\"ops\":[[\"r\",\"k%d\",1],[\"r\",\"x\",%d]]}\n", i,
                       i + 2);
    (void)snprintf(text + at, sizeof(text) - (size_t)at,
                   "{\"ops\":[[\"r\",\"k%d\",1],[\"r\",\"x\",1]]}\n", N - 1);
    h = history(text);
    for (uint32_t i = 0; i + 1 < N; i++) {
        hf_txn_id reader = N + i;
        hf_op_id op = 2 * reader;

        step(&d, HF_STEP_CYCLE, HF_NONE, HF_NONE);
        edge(&d, (hf_edge){HF_EDGE_RW, reader, i, h->op_key[0], op + 1, 2 * i},
             HF_CHOSEN_ONLY);
        edge(&d,
             (hf_edge){HF_EDGE_WR, i, reader, h->op_key[2 * i + 1], 2 * i + 1,
                       op},
             HF_CHOSEN_ONLY);
    }
    /* all of them in a row, and back by the last reader */
    step(&d, HF_STEP_CYCLE, HF_NONE, HF_NONE);
    for (uint32_t i = 1; i + 1 < N; i++)
        edge(&d,
             (hf_edge){HF_EDGE_WW, i, i + 1, h->op_key[0], 2 * i, 2 * i + 2},
             HF_CHOSEN_ONLY);
    edge(&d,
         (hf_edge){HF_EDGE_WR, N - 1, 2 * N - 1, h->op_key[2 * N - 1],
                   2 * N - 1, 2 * (2 * N - 1)},
         HF_CHOSEN_ONLY);
    edge(&d,
         (hf_edge){HF_EDGE_RW, 2 * N - 1, 1, h->op_key[0], 2 * (2 * N - 1) + 1,
                   2},
         HF_CHOSEN_ONLY);
    step(&d, HF_STEP_RESOLVE, HF_NONE, HF_NONE);
    uses(&d, N - 1);
    for (uint32_t i = 0; i + 1 < N; i++)
        uses(&d, i);
    r = result_of(&d);
    hf_out_init_memory(&out);
    hf_result_print(h, r, 10, false, &out);
    hf_out_char(&out, '\0');
    assert_non_null(strstr(out.at, "60 transactions, 31 steps"));
    assert_non_null(strstr(out.at, "  ... 5 facts come first\n"));
    assert_null(strstr(out.at, "  5. "));
    assert_non_null(strstr(out.at, "  6. "));
    assert_non_null(strstr(out.at, "  29. "));
    assert_non_null(strstr(out.at, "... 20 more -> T2: a circle (by 1, 2"));
    hf_out_release(&out);
    hf_result_free(r);
    hf_history_free(h);
}

static void assumed_edges_are_dashed(void **state)
{
    hf_history *h = history(forced);
    draft d;
    hf_result *r;
    hf_out out;

    (void)state;
    draft_forced(&d);
    r = result_of(&d);
    hf_out_init_memory(&out);
    hf_result_dot(h, r, 10, &out);
    hf_out_char(&out, '\0');
    assert_non_null(strstr(out.at, "label=\"no order\\ldashed: "));
    assert_non_null(strstr(out.at, "f0_t2:o5 -> f0_t0:o0 [label=\"rw x\", "
                                   "color=\"#b00020\", style=solid, "
                                   "arrowhead=empty, style=\"dashed\"];"));
    assert_non_null(strstr(out.at, "f0_t0:o1 -> f0_t2:o4 [label=\"wr y\", "
                                   "color=\"#1f4fa3\", style=solid];"));
    hf_out_release(&out);
    hf_result_free(r);
    hf_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_told_with_their_reasons),
        cmocka_unit_test(what_does_not_follow_is_not_told),
        cmocka_unit_test(cases_are_told_apart),
        cmocka_unit_test(many_facts_are_cut),
        cmocka_unit_test(assumed_edges_are_dashed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
