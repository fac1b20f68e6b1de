/* encode.h: choices, boundaries and a level as clauses.
 *
 * Variables (all named so that the first guess of the solver is the observed
 * execution):
 *
 *   segment j of a session is included      each implies the one before
 *   read r takes source b                   exactly one, if r is included
 *   a comes before b in the commit order    one for each pair, transitive
 *   a is visible to view g                  a view: the reads of one
 *                                           transaction, statement or place
 *   segment j takes place                   it is included, or what is wished
 *                                           for says so
 *
 * The level is a set of implications that only ever force "visible" and
 * "before": the least visibility is always a model, so nothing is guessed.
 * That an execution is not serializable is no part of it.  search.c finds an
 * order of a candidate and adds the clause of hf_encoding_refute(): some read
 * is not served by that order.
 *
 * What is wished for but need not be (hf_wish) is a literal that is assumed.
 *
 * Below a limit all implications are there from the start; above it they are
 * added when a model breaks them (hf_encoding_repair()).
 *
 *   encode.c          segments, choices, the boundary rules
 *   encode_beyond.c   what is behind a boundary
 *   encode_level.c    order, visibility
 *   encode_rows.c     rows outside of a result
 *   encode_pivot.c    what is not serializable has, at some levels
 *   encode_cycle.c    a cycle to be wished for, at those levels
 *   encode_refute.c   clauses against an order, against a prediction
 */
#ifndef HF_PREDICT_ENCODE_H
#define HF_PREDICT_ENCODE_H

#include "predict/serial.h"
#include "solver/sat.h"

typedef enum hf_boundary {
    HF_BOUNDARY_STRICT,
    HF_BOUNDARY_RELAXED,
    HF_BOUNDARY_BEST /* both; HF_WISH_STRICT asks for the first */
} hf_boundary;

/* Wishes that make it likely that the application can carry it out. */
#define HF_WISH_STRICT (1u << 0) /* HF_BOUNDARY_BEST: the strict boundary */
/* A transaction that is cut short goes on and writes what it was observed to
 * write: the level must allow that as well, by its rule for conflicts too.  And
 * it sees whom it was observed to read from, if they are there. */
#define HF_WISH_FINISH (1u << 1)
#define HF_WISH_PRESENT (1u << 2) /* a row that was found is found, and not */
#define HF_WISH_UNSEEN (1u << 3)  /* no result that the application gets */
/* Where such a result changes, its transaction writes nothing afterwards: it
 * has little left to fail at. */
#define HF_WISH_QUIET (1u << 4)
/* A result by which its transaction names a row that it inserts does not
 * change, where databases refuse a row that is there already. */
#define HF_WISH_NAMES (1u << 5)
/* Of HF_WISH_PRESENT one half: a row that was not there is not found.  Who
 * finds one that others have deleted mostly fails at changing it. */
#define HF_WISH_GONE (1u << 6)
#define HF_WISHES 7u
#define HF_WISH_ALL ((1u << HF_WISHES) - 1)

/* A transaction that has to go on otherwise than it was observed to. */
typedef struct hf_other {
    uint32_t txn;
    uint32_t rival; /* who inserts the row that it must not insert; 0: it is
                       cut short and must write something else, or nothing */
} hf_other;
typedef HF_VEC(hf_other) hf_others;

typedef struct hf_encoding {
    const hf_events *e;
    const hf_target_rules *rules;
    hf_boundary boundary;
    hf_sat *sat;
    hf_budget *budget;
    int yes; /* a literal that is true */
    int wish[HF_WISHES];
    int commit;   /* as_seen: who is cut short can commit what it was observed
                     to write, and nobody inserts a row that another inserts */
    bool as_seen; /* that is assumed */
    HF_VEC(uint32_t) writers; /* assumed: these can commit it */
    int cycle;    /* the model has a cycle to show; 0: nobody asks */
    int *segment; /* per segment: it is included */
    int *happens; /* per segment: it takes place, behind a boundary too */
    int *begun;   /* per transaction: some of it is included */
    int *takes; /* per write: it takes place, or its transaction has to be able
                   to commit it */
    int *changed; /* per segment: a read in it or before it in its
                     transaction has changed */
    int *choice;  /* per source of each read */
    int *order;   /* n * n: a before b */
    /* views */
    uint32_t n_views;
    uint32_t *view_of;   /* per read */
    uint32_t *view_txn;  /* per view */
    uint32_t *view_next; /* of the same transaction; HF_NONE: none */
    uint32_t *view_statement;
    int *visible; /* n_views * n; 0: not made */
    /* lazily */
    bool lazy;      /* implications are added when broken */
    bool has_rows;  /* models have to be asked about rows, encode_rows.c */
    bool repairing; /* hf_encoding_repair() is under way */
    int8_t *model;  /* per variable, of the last model */
    uint64_t n_model, n_repaired;
    HF_VEC(int) clause;
} hf_encoding;

HF_MUST_USE hf_status hf_encoding_init(hf_encoding *c, const hf_events *e,
                                       hf_boundary boundary, hf_budget *budget,
                                       hf_error *err);
void hf_encoding_release(hf_encoding *c);

/* Of the model that is being repaired. */
static inline bool hf_encoding_true(const hf_encoding *c, int lit)
{
    uint64_t var = (uint64_t)(lit < 0 ? -lit : lit);

    return var <= c->n_model && (c->model[var] > 0) == (lit > 0);
}

/* ---- encode.c ------------------------------------------------------------ */

/* A clause without literals that are known false; none at all if one is known
 * true. */
void hf_encoding_add(hf_encoding *c, const int *lits, uint32_t n);
#define HF_CLAUSE(c, ...)                                                      \
    hf_encoding_add((c), (const int[]){__VA_ARGS__},                           \
                    sizeof((int[]){__VA_ARGS__}) / sizeof(int))
/* Assumes these wishes for the next answer. */
void hf_encoding_assume(hf_encoding *c, unsigned wishes);
/* After HF_SAT_NO: those of them that stood in the way; 0: none did. */
unsigned hf_encoding_failed(hf_encoding *c, unsigned wishes);
/* After HF_SAT_NO: does it rest on what is written behind boundaries? */
bool hf_encoding_rests(hf_encoding *c);

/* ---- encode_beyond.c ------------------------------------------------------
 */

/* Makes c->begun and c->takes. */
void hf_encoding_beyond(hf_encoding *c);
void hf_encoding_assume_writers(hf_encoding *c);
/* The last model is of x, not as_seen: who has to go on otherwise for it?  The
 * others are c->writers afterwards. */
void hf_encoding_others(hf_encoding *c, const hf_chosen *x, hf_others *ret);

/* ---- encode_level.c ------------------------------------------------------ */

static inline int hf_encoding_before(const hf_encoding *c, uint32_t a,
                                     uint32_t b)
{
    return c->order[(size_t)a * c->e->n + b];
}
void hf_encoding_views(hf_encoding *c);
/* All implications of the level. */
void hf_encoding_level(hf_encoding *c);
/* The view that learns what read i took; HF_NONE: none. */
uint32_t hf_encoding_learns(const hf_encoding *c, uint32_t i);
/* After a model: adds what it breaks of the level; how many. */
uint64_t hf_encoding_repair(hf_encoding *c);

/* ---- encode_rows.c ------------------------------------------------------- */

/* Are there rows whose older versions count? */
bool hf_encoding_has_rows(const hf_encoding *c);
/* While repairing: adds what the model breaks. */
void hf_encoding_rows(hf_encoding *c);

/* ---- encode_pivot.c ------------------------------------------------------ */

/* What every execution that is not serializable has at some levels. */
void hf_encoding_pivots(hf_encoding *c);

/* ---- encode_cycle.c ------------------------------------------------------ */

/* Makes c->cycle, where there is a rule of conflicts. */
void hf_encoding_cycles(hf_encoding *c);

/* ---- encode_refute.c ----------------------------------------------------- */

/* The execution of the last model. */
void hf_encoding_chosen(hf_encoding *c, hf_chosen *ret);
/* Some read is not what it would be if all ran one after the other so.  x: the
 * execution that is served by that order; NULL: none. */
void hf_encoding_refute(hf_encoding *c, const uint32_t *place,
                        const hf_chosen *x);
/* Not this execution. */
void hf_encoding_block(hf_encoding *c, const hf_chosen *x);
/* Is the execution legal at the level, and the wishes fulfilled?  Asks the
 * solver, with it assumed. */
hf_sat_answer hf_encoding_allows(hf_encoding *c, const hf_chosen *x,
                                 unsigned wishes);
/* The places of all transactions in the commit order of the last model. */
void hf_encoding_places(hf_encoding *c, uint32_t *ret);

#endif
