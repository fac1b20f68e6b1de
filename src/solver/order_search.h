/* order_search.h: the state of a search, inside solver/ only. */
#ifndef HF_ORDER_SEARCH_H
#define HF_ORDER_SEARCH_H

#include "solver/order_graph.h"

#define HF_NO_CLAUSE UINT32_MAX

/* What is known of one step of a proof before it is asked for. */
typedef struct hf_order_fact {
    uint32_t kind; /* hf_order_step_kind */
    uint32_t first, n;
} hf_order_fact;

typedef struct hf_order_var {
    int8_t value;    /* 1, 0, -1: open */
    int8_t last;     /* its value before; -1: none */
    bool seen;       /* while a clause is learned */
    uint32_t level;  /* of the choice under which it was set */
    uint32_t reason; /* clause, or HF_NO_CLAUSE: a choice */
    uint32_t fact;   /* level 0: the step that says so */
} hf_order_var;

/* A clause lies in `words`: size, fact, activity, then its literals. */
enum { HF_CLAUSE_SIZE, HF_CLAUSE_FACT, HF_CLAUSE_ACTIVITY, HF_CLAUSE_HEAD };

typedef HF_VEC(uint32_t) hf_order_numbers;

struct hf_order {
    hf_order_client client;
    hf_order_graph graph;
    uint32_t *hint; /* or NULL */
    HF_VEC(hf_order_var) vars;
    hf_order_numbers *watches; /* per literal: clauses */
    size_t watches_cap;
    HF_VEC(uint32_t) words;   /* of clauses */
    HF_VEC(uint32_t) learned; /* where they begin */
    HF_VEC(hf_lit) trail;
    size_t n_spread; /* of the trail: propagated and told to the client */
    HF_VEC(uint32_t) level_trail; /* per level: where its trail begins */
    HF_VEC(uint32_t) level_links; /* ... and its links */

    /* a conflict, not yet learned from: literals, all false */
    bool in_conflict;
    HF_VEC(hf_lit) conflict;
    uint32_t conflict_fact;

    bool refuted; /* empty_fact is the empty clause */
    uint32_t empty_fact;
    uint64_t n_conflicts, at_restart;
    uint32_t n_restarts;
    size_t most_learned;
    float step; /* of activities */

    HF_VEC(hf_order_fact) facts;
    HF_VEC(hf_order_step_edge) fact_edges;
    HF_VEC(uint32_t) fact_used;
    hf_order_way way;
    HF_VEC(hf_lit) learning;
    HF_VEC(uint32_t) chain; /* facts that the clause being learned uses */
};

/* order_proof.c: facts, numbered in the order in which they are made. */
uint32_t hf_order_fact_cycle(hf_order *o, const hf_order_way *way,
                             uint32_t from, uint32_t to, uint32_t tag);
uint32_t hf_order_fact_way(hf_order *o, const hf_order_way *way); /* closed */
uint32_t hf_order_fact_clause(hf_order *o, uint32_t source);
/* Of o->chain; one alone is itself. */
uint32_t hf_order_fact_chain(hf_order *o);

#endif
