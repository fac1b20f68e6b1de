/* poly_enumerate.c: refutations that the steps of a proof cannot say.
 *
 * These rest on an assumption that one of unknown outcome breaks by itself
 * (which promises mostly say), or on what one transaction saw of a list that
 * contradicts itself.  The transactions that such a refutation speaks of are
 * enumerated, if they are few.  Otherwise parts of the history are searched
 * (hf_poly_confirm() of poly_core.c).
 */
#include "check/brute.h"
#include "check/poly_worlds.h"

static void add_var(const hf_worlds *w, uint32_t var, uint8_t *in)
{
    const hf_poly *p = &w->p;
    hf_poly_var v = p->vars.at[var];

    if (v.kind == HF_POLY_HAPPENED) {
        in[v.a] = 1;
    } else if (v.kind == HF_POLY_FROM) {
        const hf_poly_choice *c = &p->choices.at[v.a];

        in[c->reader] = 1;
        for (uint32_t i = c->first; i < c->first + c->n; i++)
            if (p->candidates.at[i].writer != HF_NONE)
                in[p->candidates.at[i].writer] = 1;
    } else {
        for (uint32_t k = 0; k < 2; k++) {
            hf_txn_id t = w->g->ver_txn[k ? v.b : v.a];

            if (t != HF_NONE)
                in[t] = 1;
        }
    }
}

static void add_clause(const hf_worlds *w, const hf_poly_clause *c, uint8_t *in)
{
    const hf_poly *p = &w->p;

    for (uint32_t i = 0; i < c->n_lits; i++)
        add_var(w, HF_LIT_VAR(p->lemma_lits.at[c->first_lit + i]), in);
    for (uint32_t i = c->first; i < c->first + c->n; i++) {
        in[p->lemma_edges.at[i].from] = 1;
        in[p->lemma_edges.at[i].to] = 1;
    }
    if (c->op != HF_NONE && c->op < w->g->h->n_ops)
        in[hf_op_txn(w->g->h, c->op)] = 1;
    if (c->writer != HF_NONE && c->writer < w->g->h->n_txns)
        in[c->writer] = 1;
}

void hf_worlds_enumerate(hf_worlds *w, const hf_order_proof *proof)
{
    const hf_poly *p = &w->p;
    uint32_t n_txns = w->g->h->n_txns, n = 0;
    uint8_t *in = HF_NEW_ZEROED(uint8_t, (size_t)n_txns + 1);
    hf_txn_id *core = HF_NEW_ARRAY(hf_txn_id, (size_t)n_txns + 1);

    for (uint32_t i = 0; i < proof->n_steps; i++) {
        const hf_order_step *s = &proof->steps[i];

        if (s->kind == HF_ORDER_STEP_CLAUSE)
            add_clause(w, &p->clauses.at[s->source], in);
        for (uint32_t k = 0; s->kind == HF_ORDER_STEP_CYCLE && k < s->n; k++)
            for (uint32_t end = 0; end < 2; end++) {
                const hf_order_step_edge *e = &proof->edges[s->first + k];
                uint32_t node = end ? e->to : e->from;

                if (node < p->nodes.times)
                    in[hf_poly_txn(p, node)] = 1;
            }
    }
    for (hf_txn_id t = 0; t < n_txns; t++)
        if (in[t] || n_txns <= HF_BRUTE_NODES)
            core[n++] = t;
    w->report->g->options.assume = w->promised;
    if (n > 0)
        hf_report_core(w->report, core, n);
    w->report->g->options.assume = 0;
    hf_free(core);
    hf_free(in);
}
