/* order_proof.c: what a search has shown, and how.
 *
 * Every clause has a fact: a cycle, a clause of the client, or facts it was
 * resolved from.  When the empty clause is reached, those it rests on are
 * gathered from the end and numbered again.  Linear in what is kept.
 */
#include "solver/order_search.h"

#include <string.h>

static uint32_t add(hf_order *o, hf_order_fact f)
{
    hf_vec_push(&o->facts, f);
    return (uint32_t)o->facts.n - 1;
}

/* The links of a way, added to the edges. */
static void add_way(hf_order *o, const hf_order_way *way)
{
    for (size_t i = 0; i < way->n; i++) {
        const hf_order_hop *p = &way->at[i];
        uint32_t tag =
            p->link == HF_NO_TAG ? HF_NO_TAG : o->graph.links.at[p->link].tag;

        hf_vec_push(&o->fact_edges, (hf_order_step_edge){p->from, p->to, tag});
    }
}

uint32_t hf_order_fact_way(hf_order *o, const hf_order_way *way)
{
    hf_order_fact f = {HF_ORDER_STEP_CYCLE, (uint32_t)o->fact_edges.n,
                       (uint32_t)way->n};

    add_way(o, way);
    return add(o, f);
}

uint32_t hf_order_fact_cycle(hf_order *o, const hf_order_way *way,
                             uint32_t from, uint32_t to, uint32_t tag)
{
    hf_order_fact f = {HF_ORDER_STEP_CYCLE, (uint32_t)o->fact_edges.n,
                       (uint32_t)way->n + 1};

    hf_vec_push(&o->fact_edges, (hf_order_step_edge){from, to, tag});
    add_way(o, way);
    return add(o, f);
}

uint32_t hf_order_fact_clause(hf_order *o, uint32_t source)
{
    return add(o, (hf_order_fact){HF_ORDER_STEP_CLAUSE, source, 0});
}

uint32_t hf_order_fact_chain(hf_order *o)
{
    hf_order_fact f = {HF_ORDER_STEP_RESOLVE, (uint32_t)o->fact_used.n,
                       (uint32_t)o->chain.n};

    if (o->chain.n == 1)
        return o->chain.at[0];
    for (size_t i = 0; i < o->chain.n; i++)
        hf_vec_push(&o->fact_used, o->chain.at[i]);
    return add(o, f);
}

/* number[f]: its step, + 1; 0: not needed. */
static uint32_t *number_needed(const hf_order *o, uint32_t *ret_n)
{
    uint32_t *number = HF_NEW_ZEROED(uint32_t, o->facts.n + 1);
    uint32_t n = 0;

    number[o->empty_fact] = 1;
    for (size_t f = o->facts.n; f-- > 0;) {
        const hf_order_fact *fact = &o->facts.at[f];

        if (!number[f] || fact->kind != HF_ORDER_STEP_RESOLVE)
            continue;
        for (uint32_t i = 0; i < fact->n; i++)
            number[o->fact_used.at[fact->first + i]] = 1;
    }
    for (size_t f = 0; f < o->facts.n; f++)
        if (number[f])
            number[f] = ++n;
    *ret_n = n;
    return number;
}

void hf_order_proof_make(const hf_order *o, hf_order_proof *ret)
{
    uint32_t n = 0, *number = number_needed(o, &n);
    HF_VEC(hf_order_step_edge) edges = {0};
    hf_order_numbers used = {0};

    *ret = (hf_order_proof){0};
    ret->steps = HF_NEW_ZEROED(hf_order_step, (size_t)n + 1);
    for (size_t f = 0; f < o->facts.n; f++) {
        const hf_order_fact *fact = &o->facts.at[f];
        hf_order_step *s = &ret->steps[ret->n_steps];

        if (!number[f])
            continue;
        ret->n_steps++;
        s->kind = (hf_order_step_kind)fact->kind;
        s->n = fact->n;
        if (s->kind == HF_ORDER_STEP_CLAUSE)
            s->source = fact->first;
        s->first =
            (uint32_t)(s->kind == HF_ORDER_STEP_CYCLE ? edges.n : used.n);
        for (uint32_t i = 0; i < fact->n; i++) {
            if (s->kind == HF_ORDER_STEP_CYCLE)
                hf_vec_push(&edges, o->fact_edges.at[fact->first + i]);
            else
                hf_vec_push(&used,
                            number[o->fact_used.at[fact->first + i]] - 1);
        }
    }
    ret->edges = edges.at;
    ret->used = used.at;
    hf_free(number);
}

void hf_order_proof_release(hf_order_proof *p)
{
    hf_free(p->steps);
    hf_free(p->edges);
    hf_free(p->used);
    *p = (hf_order_proof){0};
}
