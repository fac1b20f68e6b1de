/* order.h: an order of nodes that keeps what is known and what is chosen.
 *
 * The question of the polygraph engine, without its words: nodes, edges that
 * are known, and edges that come with choices.  A choice is a Boolean; the
 * client says which edges a true choice asks for, and finds the next choice
 * by looking at an order.  The answer is an order of all nodes that keeps all
 * edges, or a proof that no choices work.
 *
 * A search with learning (CDCL) whose theory is "no cycle".  The order is kept
 * up as edges come (Pearce and Kelly 2006): an edge that the order keeps
 * already costs nothing, so with a good first order nearly everything does.
 * Choices come into being when the client first sees that the order breaks
 * one: the work grows with what the first order gets wrong and not with the
 * number of possible choices.
 *
 *   order_graph.c   the edges, the order, shortest cycles
 *   order_search.c  propagation, learning, restarts
 *   order_proof.c   what follows from what, and leaving out what is not needed
 *
 * An edge that goes with the order: O(1).  One against it: the edges of the
 * nodes in between that are reachable.  A conflict: the literals in it, and a
 * search for the cycle with the fewest choices in the same region.
 */
#ifndef HF_ORDER_H
#define HF_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/budget.h"
#include "base/vec.h"

typedef uint32_t hf_lit; /* 2 * variable, + 1 if negated */
#define HF_LIT_NOT(lit) ((lit) ^ 1u)
#define HF_LIT_VAR(lit) ((lit) >> 1)
#define HF_LIT_NONE UINT32_MAX

#define HF_NO_TAG UINT32_MAX /* of an edge that is known */

typedef struct hf_order hf_order;

/* What the client wants after a look. */
typedef enum hf_order_next {
    HF_ORDER_DONE,  /* the order keeps everything */
    HF_ORDER_AGAIN, /* edges or clauses were added: look again */
    HF_ORDER_DECIDE /* take *ret_lit for true */
} hf_order_next;

typedef struct hf_order_client {
    void *user;
    /* Looks at the order (hf_order_place) for something that it breaks: adds
     * edges or clauses, or wants a choice.  After hf_order_edge() or
     * hf_order_clause() returned false it must return HF_ORDER_AGAIN. */
    hf_order_next (*look)(void *user, hf_order *o, hf_lit *ret_lit);
    /* The choice was taken, or forced: may add edges that follow from it.
     * Called in the order of the trail; undone in the reverse order. */
    void (*taken)(void *user, hf_order *o, hf_lit lit);
    void (*undone)(void *user, hf_order *o, hf_lit lit);
    /* The place of a node changed; HF_NO_TAG: of all nodes. */
    void (*moved)(void *user, uint32_t node);
} hf_order_client;

typedef enum hf_order_answer {
    HF_ORDER_FOUND,
    HF_ORDER_NONE, /* there is none: hf_order_proof() */
    HF_ORDER_LIMIT /* conflicts, or the budget */
} hf_order_answer;

hf_order *hf_order_new(uint32_t n_nodes, const hf_order_client *client);
void hf_order_free(hf_order *o); /* NULL: nothing */

/* Known edges; before hf_order_begin() only. */
void hf_order_known(hf_order *o, uint32_t from, uint32_t to);
/* Puts the nodes in an order that keeps the known edges and otherwise follows
 * `hint` (all nodes, each once; NULL: by number).  May be called again, with
 * another hint: what was learned stays.  False if they have a
 * cycle: then the search ends at once with that as proof. */
bool hf_order_begin(hf_order *o, const uint32_t *hint);

uint32_t hf_order_n_vars(const hf_order *o);
uint32_t hf_order_new_var(hf_order *o);
/* 1: true, 0: false, -1: open */
int hf_order_value(const hf_order *o, hf_lit lit);
/* What it was last: the literal that was true; HF_LIT_NONE: never had one. */
hf_lit hf_order_last(const hf_order *o, uint32_t var);

/* Where each node is; the order itself. */
const uint32_t *hf_order_place(const hf_order *o);

/* While every `why` is true there is an edge.  False: it closes a cycle with
 * others, which is a conflict now. */
bool hf_order_edge(hf_order *o, uint32_t from, uint32_t to, uint32_t tag,
                   const hf_lit *why, uint32_t n_why);
/* One of them is true.  `source` names the clause in the proof.  False: it is
 * a conflict now. */
bool hf_order_clause(hf_order *o, const hf_lit *lits, uint32_t n,
                     uint32_t source);

/* At most so many conflicts; may be called again and goes on.  `unit`: of
 * Luby's restarts. */
hf_order_answer hf_order_search(hf_order *o, uint64_t conflicts, uint32_t unit,
                                hf_budget *budget);
/* Back to no choice but those forced for good. */
void hf_order_restart(hf_order *o);
uint64_t hf_order_conflicts(const hf_order *o);

/* ---- proofs -------------------------------------------------------------- */

/* A known edge may have a tag too, if the client forced it: then `why` is
 * empty and it is the client who says what it rests on. */
typedef struct hf_order_step_edge {
    uint32_t from, to, tag;
} hf_order_step_edge;

typedef enum hf_order_step_kind {
    HF_ORDER_STEP_CYCLE,  /* edges[first ..]: not all reasons can be true */
    HF_ORDER_STEP_CLAUSE, /* the client's clause `source` */
    HF_ORDER_STEP_RESOLVE /* used[first ..], in turn */
} hf_order_step_kind;

typedef struct hf_order_step {
    hf_order_step_kind kind;
    uint32_t first, n;
    uint32_t source;
} hf_order_step;

typedef struct hf_order_proof {
    uint32_t n_steps;
    hf_order_step *steps; /* the last one is empty */
    hf_order_step_edge *edges;
    uint32_t *used;
} hf_order_proof;

/* After HF_ORDER_NONE: the steps that are needed. */
void hf_order_proof_make(const hf_order *o, hf_order_proof *ret);
void hf_order_proof_release(hf_order_proof *p);
#endif
