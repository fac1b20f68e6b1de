/* poly_lemmas.c: cycles of a world that was judged, as clauses.
 *
 * Each cycle says that not everything it rests on can be so: the order of
 * versions, sources, outcomes.
 */
#include "check/poly_worlds.h"

#include "base/error.h"

/* ---- what a cycle rests on ----------------------------------------------- */

void hf_worlds_add_lit(hf_lit_list *list, hf_lit lit)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i] == lit)
            return;
    if (lit != HF_LIT_NONE)
        hf_vec_push(list, lit);
}

void hf_worlds_add_before(hf_worlds *w, hf_lit_list *list, hf_key_id key,
                          uint32_t a, uint32_t b)
{
    const hf_poly *p = &w->p;

    if (p->key_index[key] == HF_NONE || p->atom[a] == p->atom[b] ||
        p->atom[a] == w->g->ver_first[key])
        return;
    hf_worlds_add_lit(list, hf_poly_before(&w->p, p->atom[a], p->atom[b]));
}

/* The solver may have gone on. */
hf_poly_candidate hf_worlds_candidate(const hf_worlds *w, hf_op_id read)
{
    const hf_poly *p = &w->p;
    const hf_poly_choice *c = &p->choices.at[p->choice_of[read]];
    hf_txn_id writer =
        w->source[read] == HF_CHOSEN_INITIAL ? HF_NONE : w->source[read] - 1;

    for (uint32_t i = 0; i < c->n; i++)
        if (p->candidates.at[c->first + i].writer == writer)
            return p->candidates.at[c->first + i];
    HF_BUG("a read has a source that was not its choice");
}

uint32_t hf_worlds_version_read(hf_worlds *w, hf_key_id key, hf_op_id read,
                                hf_lit_list *list, uint32_t *ret_chosen)
{
    const hf_poly *p = &w->p;
    const hf_graph *g = w->g;
    hf_poly_candidate from;

    if (hf_op_has_predicate(hf_op_kind_of(g->h, read)))
        return hf_worlds_version_seen(w, read, key, list, ret_chosen);
    if (hf_graph_is_loose(g, key)) {
        hf_worlds_lits_of_list(w, read, list);
        if (w->source[read] == HF_CHOSEN_INITIAL || w->source[read] == 0)
            return g->ver_first[key];
        *ret_chosen = w->source[read];
        return hf_graph_version_of(g, w->source[read] - 1, key);
    }
    if (p->choice_of[read] == HF_NONE)
        return hf_graph_source(g, read);
    from = hf_worlds_candidate(w, read);
    hf_worlds_add_lit(list, 2 * from.var);
    *ret_chosen = w->source[read];
    return from.writer == HF_NONE ? g->ver_first[key]
                                  : hf_graph_version_of(g, from.writer, key);
}

/* Fills the literals that the edge needs; returns what its read is taken to
 * return.  *ret_told: false if a proof cannot say it. */
static uint32_t lits_of_edge(hf_worlds *w, const hf_edge *e, bool strict,
                             hf_lit_list *list, hf_worlds_edges *orders,
                             bool *ret_told)
{
    const hf_graph *g = w->g;
    hf_op_id read = e->kind == HF_EDGE_WR ? e->to_op : e->from_op;
    uint32_t a = HF_NONE, chosen = HF_CHOSEN_ONLY;

    hf_worlds_add_lit(list, hf_poly_happened(&w->p, e->from));
    hf_worlds_add_lit(list, hf_poly_happened(&w->p, e->to));
    if (e->kind == HF_EDGE_PWR || e->kind == HF_EDGE_PRW)
        *ret_told &=
            hf_worlds_lits_of_condition(w, e, strict, list, orders, &chosen);
    if (e->kind == HF_EDGE_WW)
        a = hf_graph_version_of(g, e->from, e->key);
    if (e->kind == HF_EDGE_WR || e->kind == HF_EDGE_RW)
        a = hf_worlds_version_read(w, e->key, read, list, &chosen);
    if ((e->kind == HF_EDGE_WW || e->kind == HF_EDGE_RW) && a != HF_NONE)
        hf_worlds_add_before(w, list, e->key, a,
                             hf_graph_version_of(g, e->to, e->key));
    return chosen;
}

/* Does the order have atom a before atom b? */
static bool stands_before(const hf_poly *p, uint32_t a, uint32_t b)
{
    const uint32_t *place = hf_order_place(p->order);
    hf_txn_id x = p->g->ver_txn[a], y = p->g->ver_txn[b];

    return x == HF_NONE || (y != HF_NONE && place[hf_poly_commit(p, x)] <
                                                place[hf_poly_commit(p, y)]);
}

/* Of the literal, as the world has it now. */
static bool holds_now(const hf_poly *p, hf_lit lit)
{
    const hf_poly_var *v = &p->vars.at[HF_LIT_VAR(lit)];
    int value = hf_order_value(p->order, lit);
    bool positive;

    if (value >= 0)
        return value == 1;
    positive = v->kind == HF_POLY_PAIR && stands_before(p, v->a, v->b);
    return positive == !(lit & 1u);
}

/* A source that only the order tells, or a pair that the cycle has one way and
 * the first writers of its atoms the other (the versions of an atom are torn
 * apart): it has to be chosen before anything can be said of it. */
hf_lit hf_worlds_unsaid(const hf_poly *p, const hf_lit_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        hf_poly_kind kind = p->vars.at[HF_LIT_VAR(list->at[i])].kind;

        if (hf_order_value(p->order, list->at[i]) < 0 &&
            (kind == HF_POLY_FROM ||
             (kind == HF_POLY_PAIR && !holds_now(p, list->at[i]))))
            return list->at[i];
    }
    return HF_LIT_NONE;
}

void hf_worlds_add_lemma(hf_poly *p, hf_poly_clause c, hf_lit_list *lits)
{
    c.first_lit = (uint32_t)p->lemma_lits.n;
    c.n_lits = (uint32_t)lits->n;
    for (size_t i = 0; i < lits->n; i++) {
        hf_vec_push(&p->lemma_lits, lits->at[i]);
        lits->at[i] = HF_LIT_NOT(lits->at[i]);
    }
    (void)hf_order_clause(p->order, lits->at, (uint32_t)lits->n,
                          hf_worlds_add_clause(p, c));
}

hf_lit hf_worlds_forbid(hf_worlds *w, hf_poly_clause c, hf_lit_list *lits)
{
    hf_poly *p = &w->p;
    hf_lit torn = hf_worlds_unsaid(p, lits);

    if (torn != HF_LIT_NONE) {
        p->lemma_edges.n = p->lemma_chosen.n = c.first;
        p->lemma_lists.n = c.first_list;
        return torn;
    }
    hf_worlds_add_lemma(p, c, lits);
    return HF_LIT_NONE;
}

/* Not everything that the cycle rests on.  Returns a pair to choose first, if
 * there is one. */
hf_lit hf_worlds_forbid_cycle(hf_worlds *w, const hf_witness *cycle)
{
    hf_poly *p = &w->p;
    hf_poly_clause c = {.kind = HF_STEP_CYCLE,
                        .op = HF_NONE,
                        .writer = HF_NONE,
                        .first_list = (uint32_t)p->lemma_lists.n};
    hf_worlds_edges edges = {0}, orders = {0};
    size_t before = p->lemma_edges.n;
    hf_lit_list lits = {0};
    HF_VEC(uint32_t) chosen = {0};
    bool told = true, strict;
    hf_lit torn;

    if (cycle->kind == HF_WITNESS_OPERATIONS) {
        told = cycle->n_ops == 2;
        c.op = cycle->ops[told];
        c.kind = HF_STEP_FAULT;
        hf_worlds_add_lit(
            &lits, hf_poly_happened(p, hf_op_txn(w->g->h, cycle->ops[0])));
    }
    w->first_list = c.first_list;
    hf_worlds_tell_edges(w, cycle, &edges);
    strict = hf_worlds_is_strict(w, edges.at, (uint32_t)edges.n);
    for (size_t i = 0; i < edges.n; i++)
        hf_vec_push(&chosen, lits_of_edge(w, &edges.at[i], strict, &lits,
                                          &orders, &told));
    c.n_lists = (uint32_t)p->lemma_lists.n - c.first_list;
    c.first = (uint32_t)p->lemma_edges.n;
    for (size_t i = 0; i < edges.n; i++) {
        hf_vec_push(&p->lemma_edges, edges.at[i]);
        hf_vec_push(&p->lemma_chosen, chosen.at[i]);
    }
    for (size_t i = 0; i < orders.n; i++) {
        hf_vec_push(&p->lemma_edges, orders.at[i]);
        hf_vec_push(&p->lemma_chosen, HF_CHOSEN_ONLY);
    }
    c.n = (uint32_t)(edges.n + orders.n);
    if (!told)
        c.kind = HF_STEP_KIND_COUNT;
    torn = hf_worlds_forbid(w, c, &lits);
    if (torn != HF_LIT_NONE) /* those of lists besides */
        p->lemma_edges.n = p->lemma_chosen.n = before;
    hf_vec_release(&chosen);
    hf_vec_release(&edges);
    hf_vec_release(&orders);
    hf_vec_release(&lits);
    return torn;
}

/* A clause of a cycle that the world breaks, and of whose pairs one can still
 * be turned: the one turned; HF_LIT_NONE: there is none. */
hf_lit hf_worlds_turn_broken(const hf_poly *p)
{
    for (size_t i = p->clauses.n; i-- > 0;) {
        const hf_poly_clause *c = &p->clauses.at[i];
        hf_lit open = HF_LIT_NONE;
        bool broken = c->n_lits > 0;

        for (uint32_t k = 0; k < c->n_lits && broken; k++) {
            hf_lit lit = p->lemma_lits.at[c->first_lit + k];

            broken = holds_now(p, lit);
            if (hf_order_value(p->order, lit) < 0)
                open = lit;
        }
        if (broken && open != HF_LIT_NONE)
            return HF_LIT_NOT(open);
    }
    return HF_LIT_NONE;
}
