/* states.h: a search over states, inside check/ only.
 *
 * Some histories are no polygraph: elements that several appended to a list,
 * lists that had elements to begin with, counters whose increments have no
 * recorded result.  What a read returned then says nothing about single
 * versions, but it can always be compared with a state.  So the transactions
 * are executed, one after the other, and who comes next is searched for, depth
 * first: the way linearizability is checked (Wing and Gong; Lowe).  Two ways
 * that have executed the same transactions and come to the same state are one;
 * those that led nowhere are remembered.
 *
 *   states_build.c   the history as demands and effects of transactions
 *   states_values.c  what a key can hold
 *   states_orders.c  what an order has to keep, what can be ordered apart
 *   states_run.c     executing a transaction, and taking it back
 *   states_sums.c    what makes the search shorter: counters, twins
 *   states_search.c  who comes next
 *   states_solve.c   the same asked of a SAT solver, where there are counters
 *   states_core.c    few transactions that are impossible by themselves
 *   states.c         what is searched for; the witness; what to say
 *
 * Serializable forms are orders of whole transactions; forms of snapshot
 * isolation are orders of starts (its reads) and commits (its writes), with no
 * two that write one key open at a time.  Read committed is an order of whole
 * transactions in which a read finds what was there at any time before, but for
 * what one's own increments were added to.
 */
#ifndef HF_STATES_H
#define HF_STATES_H

#include "base/budget.h"
#include "base/map.h"
#include "base/ratio.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/vec.h"
#include "history/extra.h"
#include "model/level.h"
#include "model/witness.h"

/* What a key is. */
typedef enum hf_cell_kind {
    HF_CELL_REGISTER = 0,
    HF_CELL_LIST,
    HF_CELL_COUNTER /* has increments whose result was not recorded */
} hf_cell_kind;

/* What a cell holds: a value of the history, nil of key k (n_values + k), a
 * list, or a number that is no value of the history.  OFF: something that
 * nobody read. */
typedef uint32_t hf_holding;
#define HF_OFF 0xfffffffeu

/* A transaction wants to find this in a cell. */
typedef struct hf_demand {
    hf_key_id cell;
    hf_holding wanted;
    bool before; /* or that it held it at some time before */
} hf_demand;

typedef enum hf_effect_kind {
    HF_EFFECT_SET,
    HF_EFFECT_ADD,   /* `number` is added */
    HF_EFFECT_APPEND /* elements[first .. first + n] */
} hf_effect_kind;

typedef struct hf_effect {
    hf_key_id cell;
    hf_effect_kind kind;
    hf_holding set;
    int64_t number; /* set, of a counter: the number */
    uint32_t first, n;
    bool reads; /* the transaction has a demand on the cell */
} hf_effect;

/* A number of a counter that somebody wants, or sets it to. */
typedef struct hf_states_sum {
    hf_key_id cell;
    hf_holding holding;
    bool sets;
    int64_t number;
    uint32_t part; /* of all who have to do with the cell */
} hf_states_sum;

/* What is to be explained. */
typedef struct hf_states {
    const hf_history *h;
    const uint8_t *kept;  /* per transaction, borrowed; NULL: all */
    bool sessions, times; /* the order keeps them */
    bool snapshots;       /* starts and commits, not whole transactions */
    bool past;            /* reads find what was there before, too */
    bool partial;         /* visibility counts: two may be unordered */
    const char *unfit;    /* what cannot be executed; NULL: nothing; static */

    /* nodes: transactions that may have happened, by part, then by begin.
     * Parts share no keys, and can be put in order one by one. */
    uint32_t n, n_sure;
    uint32_t n_parts;
    uint32_t *part_first;      /* nodes of a part; n_parts + 1 */
    uint32_t *part_sure_first; /* in by_end; n_parts + 1 */
    hf_txn_id *txn;
    uint8_t *maybe;         /* of unknown outcome */
    uint8_t *broken;        /* no order helps; of those that did happen */
    uint32_t *demand_first; /* n + 1 */
    HF_VEC(hf_demand) demands;
    uint32_t *effect_first; /* n + 1 */
    HF_VEC(hf_effect) effects;
    HF_VEC(hf_value_id) elements;
    uint64_t *begin, *end; /* 0 and UINT64_MAX where not known */

    /* cells are keys */
    uint8_t *kind;
    hf_holding *initial;
    int64_t *initial_number; /* counters */

    /* holdings beyond values and nils */
    uint32_t n_holdings;
    hf_map children;           /* list << 32 | element -> list */
    hf_map numbers;            /* mixed from cell and number -> holding */
    HF_VEC(hf_holding) parent; /* lists, from first_more on; else HF_OFF */
    HF_VEC(int64_t) number;    /* numbers, from first_more on */
    HF_VEC(hf_key_id) owner;   /* ... of which cell */
    uint32_t first_more;
    hf_holding *list_of; /* per value: the list it is here; HF_OFF: no read */
    uint8_t *on_path;    /* per holding: a list that leads to the longest */

    /* per holding: the nodes that want it */
    uint32_t *want_first, *want;
    uint32_t *past_first, *past_want; /* ... now or before */
    /* per node: those that wait for it; those of unknown outcome that cannot
     * come after it any more */
    uint32_t *out_first, *out;
    uint32_t *kill_first, *kill;
    uint32_t *waits;  /* per node: how many it waits for */
    uint32_t *by_end; /* nodes that certainly happened, by part and end */
    uint32_t *twin;   /* per node: one like it, that comes first; HF_NONE */
    HF_VEC(hf_states_sum) sums; /* by cell, wanted ones first */
} hf_states;

/* What the order has to be. */
typedef struct hf_states_form {
    bool sessions, times, snapshots, past, partial;
} hf_states_form;

/* states_build.c: `kept` restricts the history as docs/semantics.md says under
 * "Cores". */
void hf_states_build(hf_states *s, const hf_history *h, hf_states_form form,
                     const uint8_t *kept);
void hf_states_release(hf_states *s);
/* states_orders.c: nodes are made in this order; keys are parts. */
hf_sortable *hf_states_in_parts(hf_states *s, uint32_t *ret_n);
void hf_states_add_orders(hf_states *s);

/* states_sums.c: fills twin and sums. */
void hf_states_shorten(hf_states *s);

/* states_values.c */
/* The list with one more element; HF_OFF: nobody read it. */
hf_holding hf_states_child(const hf_states *s, hf_holding list,
                           hf_value_id element);
hf_holding hf_states_make_child(hf_states *s, hf_key_id cell, hf_holding list,
                                hf_value_id element);
hf_holding hf_states_number(const hf_states *s, hf_key_id cell, int64_t number);
hf_holding hf_states_make_number(hf_states *s, hf_key_id cell, int64_t number);
/* Numbers that are values of the history. */
void hf_states_add_numbers(hf_states *s);
/* A value that is no list.  In a counter, nil is zero. */
hf_holding hf_states_plain(hf_states *s, hf_key_id cell, hf_value_id v);
/* The number in a counter; false: it is none. */
bool hf_states_number_in(const hf_states *s, hf_holding holding, int64_t *ret);

static inline hf_holding hf_states_nil(const hf_states *s, hf_key_id cell)
{
    return s->h->n_values + cell;
}

static inline bool hf_states_keeps(const hf_states *s, hf_txn_id t)
{
    return !s->kept || s->kept[t];
}

/* Does it install a version? */
static inline bool hf_states_writes(const hf_history *h, hf_op_id o)
{
    return !(h->op_kind[o] & HF_OP_FAILED) &&
           hf_op_installs(hf_op_kind_of(h, o));
}

/* ---- executing ----------------------------------------------------------- */

typedef enum hf_node_status {
    HF_NODE_OUT = 0,
    HF_NODE_STARTED,
    HF_NODE_DONE,
    HF_NODE_KILLED /* one that has to come after it is done */
} hf_node_status;

/* What was done, to take it back. */
typedef struct hf_run_step {
    uint32_t node;
    bool start, commit;
    uint32_t end_at;          /* before it */
    uint32_t n_old, n_killed; /* lengths of the two lists before it */
} hf_run_step;

typedef struct hf_run_old {
    hf_key_id cell;
    hf_holding holding;
    int64_t number;
} hf_run_old;

typedef struct hf_run {
    const hf_states *s;
    hf_holding *now; /* per cell */
    int64_t *number; /* per cell, counters */
    uint8_t *status; /* per node: hf_node_status */
    uint32_t *unmet; /* per node: demands that the state does not meet */
    uint32_t *waits;
    uint64_t *ready;     /* bits: nothing unmet, waits for nobody, still out */
    uint32_t *need;      /* per holding: demands of nodes that are out */
    uint32_t *need_sure; /* ... of those that certainly happened */
    uint32_t *cell_need; /* per cell */
    uint32_t *cell_need_sure; /* per cell */
    uint32_t *writers;        /* per holding: nodes out that leave it */
    uint32_t *been;           /* per holding, `past`: how often it was there */
    uint32_t *locks;          /* per cell: started nodes that write it */
    hf_wide *low, *high; /* per cell: what those not done take away, and add */
    uint64_t *part;      /* per cell: its share of the hash */
    uint64_t hash;
    uint32_t at_part;        /* the part at hand */
    uint32_t end_at, end_of; /* in by_end: its first that is not done; all */
    uint32_t n_left; /* of it: that certainly happened and are not done */
    HF_VEC(hf_run_step) steps;
    HF_VEC(hf_run_old) old;
    HF_VEC(uint32_t) killed;
} hf_run;

void hf_run_init(hf_run *r, const hf_states *s);
void hf_run_release(hf_run *r);
void hf_run_enter(hf_run *r, uint32_t part); /* the others stay as they are */
/* Starts it, commits it, or both at once; it may be. */
void hf_run_do(hf_run *r, uint32_t node, bool start, bool commit);
void hf_run_undo(hf_run *r); /* the last one */
/* Can it be next, by time, by locks, and without leaving somebody behind?
 * *ret_harm: how many want what it would overwrite. */
bool hf_run_may_start(const hf_run *r, uint32_t node);
bool hf_run_may_commit(const hf_run *r, uint32_t node, uint64_t *ret_harm);
/* It can be executed now and nothing is lost by that. */
bool hf_run_is_free(const hf_run *r, uint32_t node);
/* states_sums.c: somebody wants what no counter can hold any more. */
bool hf_run_is_lost(const hf_run *r);
/* Somebody may read what it wrote. */
bool hf_run_is_useful(const hf_run *r, uint32_t node);

/* ---- searching ----------------------------------------------------------- */

typedef enum hf_states_answer {
    HF_STATES_OPEN, /* cut short */
    HF_STATES_FOUND,
    HF_STATES_NONE
} hf_states_answer;

typedef struct hf_states_limit {
    uint64_t steps; /* executed transactions, all attempts together */
    hf_budget *budget;
    uint64_t n_steps;  /* so many were taken */
    uint64_t n_states; /* and so many states led nowhere */
    uint32_t part;     /* NONE: of this part */
} hf_states_limit;

/* FOUND: `ret` gets the events, 2 * node for a start and 2 * node + 1 for a
 * commit, part by part.  `rank`, per event, is an order to prefer. */
typedef HF_VEC(uint32_t) hf_states_order;
hf_states_answer hf_states_search(const hf_states *s, const uint32_t *rank,
                                  hf_states_limit *limit, hf_states_order *ret);

/* A demand: what a transaction wants to find in a cell. */
typedef struct hf_states_use {
    hf_txn_id txn;
    hf_key_id cell;
} hf_states_use;
typedef HF_VEC(hf_states_use) hf_states_uses;

/* states_solve.c: what a SAT solver says. */
typedef struct hf_states_model {
    hf_states_order order; /* FOUND */
    /* ... of a partial order: transaction << 32 | cell -> who wrote what it
     * reads there; not there: the initial version */
    hf_map sources;
    uint32_t part;       /* NONE: of this part */
    bool cut_short;      /* OPEN: by the budget; else it is not for it */
    bool wants_uses;     /* set by the caller */
    hf_states_uses uses; /* NONE: ... by these demands */
} hf_states_model;

void hf_states_model_init(hf_states_model *m);
void hf_states_model_release(hf_states_model *m);
/* OPEN: cut short, or not for it. */
hf_states_answer hf_states_solve(const hf_states *s, const uint32_t *rank,
                                 hf_budget *budget, hf_states_model *ret);

/* states_core.c: `txns`, of any outcome, are impossible together, as a search
 * of this form and so many steps found.  True: r is invalid, with as few of
 * them as could be found in so many seconds, and a proof if there is one; that
 * may take as many again. */
bool hf_states_refute(const hf_history *h, const hf_txn_id *txns, uint32_t n,
                      hf_states_form form, uint64_t steps, double seconds,
                      hf_budget *budget, hf_result *r);

/* Does the level decide by the search, if there are no lists?  That is what
 * the order has to be. */
bool hf_states_decides(const hf_level_info *level, hf_states_form *ret);

/* A part of what is left of a budget (may be NULL), for what may be given
 * up. */
hf_budget hf_states_share(const hf_budget *b, double seconds);

/* ---- verdicts ------------------------------------------------------------ */

/* Looks for an order, for so many steps and seconds.  True: r is valid, with
 * the witness.  *ret_none: there certainly is none. */
bool hf_states_find(const hf_history *h, uint64_t steps, double seconds,
                    hf_budget *budget, hf_result *r, bool *ret_none);

/* Decides the history at the level of r.  True: r has the verdict.  False:
 * *ret_reason is why not, in r's arena; NULL: it is not for it. */
bool hf_states_decide(const hf_history *h, hf_budget *budget, hf_result *r,
                      char **ret_reason);

#endif
