/* poly.h: the parts of the polygraph engine, inside check/ only.
 *
 * Where the graph engine has to leave open in which order some versions were
 * installed, or which of several writes a read returned, the answer is a
 * matter of choices: a polygraph.  What is known is the graph of a walk
 * (graph.h); what is chosen:
 *
 *   atoms      Versions of an open key that certainly follow each other
 *              directly: a list as far as it was read, and, where the level
 *              forbids lost updates, versions each written by who read the
 *              one before it.  An atom is named by its first version.
 *   pairs      Of two atoms one is before the other.  A pair becomes a
 *              variable when the search first meets an order that breaks it.
 *   sources    Which of several writes a read returned.
 *
 *   poly_build.c   atoms, known edges
 *   poly_look.c    what an order breaks: the client of solver/order.h
 *   poly_worlds.h  choices of sources and outcomes; levels of other shapes
 *   poly_prune.c   pairs that reachability decides
 *   poly_proof.c   what the solver found, as steps of a witness
 *   poly_walk.c    walking to a serial order (poly_walk.h)
 *   poly_engine.c  the stages of a check
 *   poly_core.c    what it refutes, shrunk to few transactions (poly_core.h)
 */
#ifndef HF_POLY_H
#define HF_POLY_H

#include "base/map.h"
#include "base/sort.h"
#include "check/graph.h"
#include "solver/order.h"

typedef enum hf_poly_kind {
    HF_POLY_PAIR,    /* atom a is before atom b */
    HF_POLY_FROM,    /* choice a has its candidate b */
    HF_POLY_HAPPENED /* transaction a, of unknown outcome, happened */
} hf_poly_kind;

/* What a variable means. */
typedef struct hf_poly_var {
    hf_poly_kind kind;
    uint32_t a, b;
} hf_poly_var;

/* A read that could have returned several versions; at levels that want
 * repeated reads to agree, all of one key by one transaction. */
typedef struct hf_poly_choice {
    hf_op_id op; /* the first */
    hf_txn_id reader;
    hf_key_id key;
    uint32_t first, n; /* in candidates */
    bool entry;        /* of a version set: has no edges of its own */
} hf_poly_choice;

typedef struct hf_poly_candidate {
    hf_txn_id writer; /* HF_NONE: the initial version */
    uint32_t var;
    uint32_t ver;
    uint32_t next; /* with the same version, taken before it; HF_NONE */
} hf_poly_candidate;

/* What the events of a transaction are, where each has its own level: its
 * commit and, if it is split, a start before it. */
#define HF_EVENT_SPLIT 1u    /* the start is a node of its own */
#define HF_EVENT_EXCLUDES 2u /* ww edges enter the start */
#define HF_EVENT_READS 4u    /* its wr edges count */
#define HF_EVENT_ANTI 8u     /* its rw edges count */
#define HF_EVENT_SESSION 16u /* it follows those before it in its session */
#define HF_EVENT_TIME 32u    /* ... and in real time */

/* An edge that two choices ask for: a pair, and the source of the reader. */
typedef struct hf_poly_both {
    hf_lit pair, from;
} hf_poly_both;
#define HF_POLY_BOTH 0x80000000u /* tag: + number in `both` */

/* A clause that the solver was given, for the proof. */
typedef struct hf_poly_clause {
    hf_step_kind kind;
    uint32_t first, n; /* cycle, list: in lemma_edges */
    hf_op_id op;
    hf_txn_id writer;
    uint32_t first_lit, n_lits; /* cycle: what it rests on, in lemma_lits */
    /* cycle: lists whose sources follow from orders, in lemma_lists */
    uint32_t first_list, n_lists;
    hf_key_id entry; /* sources, happened: of a version set; key + 1; 0: no */
} hf_poly_clause;

/* Atom a is before b: the other way round there would be a cycle of known
 * edges and those forced in earlier rounds. */
typedef struct hf_poly_forced {
    uint32_t a, b;
    uint32_t round;
} hf_poly_forced;

/* An atom is dirty from when it moved until it was compared with its
 * neighbours; it has to be sorted anew only once. */
#define HF_ATOM_DIRTY 1u
#define HF_ATOM_MOVED 2u

typedef struct hf_poly {
    hf_graph *g;
    hf_walk walk; /* mask and form: what is known */
    hf_walk_nodes nodes;
    bool chains; /* read-modify-write chains are atoms */

    /* versions of open keys */
    uint32_t *next; /* per version: directly behind it; HF_NONE */
    uint32_t *atom; /* per version: the first of its atom */
    uint32_t *tail; /* per atom: its last version */

    uint32_t n_keys; /* open ones */
    hf_key_id *keys;
    uint32_t *key_index;  /* per key; HF_NONE: not open */
    uint32_t *atom_first; /* per open key: in atoms; n_keys + 1 */
    uint32_t *atoms;      /* sorted as the order has them */

    uint8_t *dirty;    /* per version: HF_ATOM_* */
    uint32_t *n_dirty; /* per open key: its dirty atoms; 0: not in the queue */
    uint32_t *dirty_head; /* per open key: the first of its dirty atoms */
    uint32_t *dirty_next; /* per version: the next one */
    uint32_t *moved_head, *moved_next; /* the same of those that moved */
    uint32_t *sorted_at; /* per version: the place by which it was sorted */
    HF_VEC(hf_sortable) moving; /* atoms of a key that moved, by their places */
    HF_VEC(uint32_t) queue;     /* of open keys */
    uint32_t *touch_first; /* per transaction: atoms that it begins, ends, */
    uint32_t *touched;     /* or whose last version it reads */

    hf_order *order;
    hf_map pair_of; /* first << 32 | then, first < then -> variable */
    HF_VEC(hf_poly_var) vars;

    /* nodes behind those of the walk: readers of the last version of an
     * initial atom -> all other atoms of its key */
    uint32_t n_gates;
    uint32_t *gate_atom; /* per gate */
    bool random;         /* keys are taken at random */
    bool eager;          /* every pair is chosen */
    uint32_t eager_key, eager_i;
    uint64_t seed;

    HF_VEC(hf_poly_forced) forced; /* by reachability, see poly_prune.c */
    hf_map forced_edge;            /* from << 32 | to -> number in forced */

    /* worlds: see poly_worlds.h; empty where nothing but orders is open */
    const uint8_t *uncertain; /* per transaction; NULL: none */
    uint8_t *events;          /* per transaction; NULL: as walk.form says */
    uint32_t session_base, time_base, gate_base; /* nodes of events */
    uint32_t *open_of;      /* per version: its open key; events only */
    uint32_t *chosen_head;  /* per version: candidates that are taken */
    uint32_t *choice_first; /* per transaction: its choices; n_txns + 1 */
    /* choices that the order may break: see poly_lazy.c */
    uint32_t *key_choice_first, *key_choices; /* per open key; n_keys + 1 */
    uint8_t *stale_key, *stale;               /* per open key, per choice */
    HF_VEC(uint32_t) stale_keys;
    HF_VEC(uint32_t) stale_choices;
    HF_VEC(hf_poly_both) both;
    hf_map both_of;         /* pair << 32 | from -> number in both */
    HF_VEC(uint32_t) there; /* atoms of one key that happened */
    HF_VEC(hf_poly_choice) choices;
    HF_VEC(hf_poly_candidate) candidates;
    uint32_t *choice_of;   /* per operation; HF_NONE; or NULL */
    hf_map entry_of;       /* op << 32 | key -> choice */
    uint32_t *happened_of; /* per transaction: variable; HF_NONE; or NULL */
    HF_VEC(hf_poly_clause) clauses;
    HF_VEC(hf_lit) lemma_lits;
    HF_VEC(hf_edge) lemma_edges;
    HF_VEC(hf_poly_clause) lemma_lists;
    HF_VEC(uint32_t) lemma_chosen; /* per edge of lemma_edges */
} hf_poly;

static inline uint32_t hf_poly_start(const hf_poly *p, hf_txn_id t)
{
    if (p->events)
        return p->events[t] & HF_EVENT_SPLIT ? 2 * t : 2 * t + 1;
    return p->walk.form == HF_WALK_PLAIN ? t : 2 * t;
}

/* Whose node it is, of those below nodes.times. */
static inline hf_txn_id hf_poly_txn(const hf_poly *p, uint32_t node)
{
    return p->walk.form == HF_WALK_PLAIN && !p->events ? node : node / 2;
}

static inline uint32_t hf_poly_commit(const hf_poly *p, hf_txn_id t)
{
    return p->walk.form == HF_WALK_PLAIN && !p->events ? t : 2 * t + 1;
}

/* Where a ww edge enters: writers exclude each other but under prefix. */
static inline uint32_t hf_poly_entry(const hf_poly *p, hf_txn_id t)
{
    bool late = p->events ? !(p->events[t] & HF_EVENT_EXCLUDES)
                          : p->walk.form == HF_WALK_PREFIX;

    return late ? hf_poly_commit(p, t) : hf_poly_start(p, t);
}

/* poly_build.c */
void hf_poly_build(hf_poly *p, hf_graph *g, unsigned mask, hf_walk_form form,
                   const uint8_t *uncertain);
void hf_poly_release(hf_poly *p);
void hf_poly_known(hf_poly *p, hf_walk_edge edge, void *user);
void hf_poly_forced_edges(const hf_poly *p, hf_walk_edge edge, void *user);
uint32_t hf_poly_n_nodes(const hf_poly *p);

/* poly_look.c */
hf_order_client hf_poly_client(hf_poly *p);
void hf_poly_all_dirty(hf_poly *p);
/* The literal "atom a is before atom b"; made if it is not there. */
hf_lit hf_poly_before(hf_poly *p, uint32_t a, uint32_t b);

static inline bool hf_poly_is_uncertain(const hf_poly *p, hf_txn_id t)
{
    return p->uncertain && p->uncertain[t];
}

/* Do known reads of t come before the next version, for certain? */
static inline bool hf_poly_comes_before(const hf_poly *p, hf_txn_id t)
{
    return !p->events ||
           ((p->events[t] & HF_EVENT_ANTI) && !hf_poly_is_uncertain(p, t));
}

/* A new variable. */
uint32_t hf_poly_new_var(hf_poly *p, hf_poly_kind kind, uint32_t a, uint32_t b);

/* poly_prune.c: fills p->forced, and counts for a hint.  False: it would take
 * too much memory, or the budget is spent.  *ret_hint (may be NULL): nodes by
 * how much is known to be before and behind them. */
bool hf_poly_prune(hf_poly *p, size_t most_bytes, uint32_t **ret_hint);
/* The edges that a pair "a before b" asks for: n of them. */
typedef struct hf_poly_ends {
    uint32_t from, to;
} hf_poly_ends;
typedef HF_VEC(hf_poly_ends) hf_poly_edges;
void hf_poly_edges_of(const hf_poly *p, uint32_t a, uint32_t b,
                      hf_poly_edges *ret);

/* poly_worlds.c: choices of sources, of outcomes, and levels that are no
 * order of nodes. */
void hf_poly_decide_world(hf_graph_report *report, hf_result *r);

/* poly_look.c: DONE: all keys are in order. */
hf_order_next hf_poly_look_at_keys(hf_poly *p, hf_lit *ret_lit);
void hf_poly_mark_dirty(hf_poly *p, uint32_t atom);
void hf_poly_moved(void *user, uint32_t node);
void hf_poly_take_pair(void *user, hf_order *o, hf_lit lit);

/* poly_choices.c: "it happened"; HF_LIT_NONE: it certainly did. */
hf_lit hf_poly_happened(hf_poly *p, hf_txn_id t);

/* poly_events.c: nodes and known edges where each transaction has its own
 * kind; an edge says what it is by the versions it has to do with. */
typedef struct hf_event_label {
    hf_edge_kind kind; /* HF_EDGE_KIND_COUNT: carries others on */
    uint32_t a;        /* version written, or read, by the first */
    uint32_t b;        /* version written by the second; wr: its read */
} hf_event_label;
typedef void (*hf_event_edge)(void *user, uint32_t from, uint32_t to,
                              hf_event_label label);
#define HF_GUESS_SESSIONS 1u /* everybody keeps the order of its session */
#define HF_GUESS_SERIAL 2u   /* ... and is serializable */
#define HF_GUESS_SNAPSHOT 4u /* ... and has one snapshot, if it is weaker */
void hf_poly_make_events(hf_poly *p, unsigned guess);
void hf_poly_event_edges(const hf_poly *p, hf_event_edge edge, void *user);
/* Those whose ends certainly happened. */
void hf_poly_certain_edges(const hf_poly *p, hf_walk_edge edge, void *user);

/* poly_readers.c: the same as displacement and edges of a pair (poly_look.c),
 * in a world. */
uint32_t hf_poly_far(const hf_poly *p, uint32_t a, uint32_t b);
bool hf_poly_link(hf_poly *p, hf_lit lit, bool all);
bool hf_poly_happens(const hf_poly *p, hf_txn_id t);
/* An edge of choices that are true, if its ends happened.  There is room in
 * `why` for two more.  False: a conflict. */
bool hf_poly_add_edge(hf_poly *p, uint32_t from, uint32_t to, uint32_t tag,
                      hf_lit *why, uint32_t n);
void hf_poly_take_source(hf_poly *p, hf_lit lit);
void hf_poly_drop_source(hf_poly *p, hf_lit lit);
/* The edges of sources that were chosen from t, or for it, now that it
 * happened.  False: a conflict. */
bool hf_poly_link_happened(hf_poly *p, hf_txn_id t);
/* Readers of the initial atom against the others, sorted by place; true if
 * an edge was added. */
bool hf_poly_link_first(hf_poly *p, const uint32_t *atoms, uint32_t n);
/* Atoms that t has to do with through sources that were chosen. */
void hf_poly_mark_chosen(hf_poly *p, hf_txn_id t);

/* poly_lazy.c: reads whose source the order tells need no choice. */
void hf_poly_list_lazy(hf_poly *p); /* once there are choices */
void hf_poly_mark_stale(hf_poly *p, uint32_t choice);
void hf_poly_mark_key_stale(hf_poly *p, uint32_t key);
/* The candidate of a choice that the order tells; HF_NONE: it breaks it. */
uint32_t hf_poly_told(const hf_poly *p, uint32_t choice);
/* A choice that the order breaks; HF_NONE: there is none.  `all`: looks at all
 * of them, not only at those that may have changed. */
uint32_t hf_poly_next_broken(hf_poly *p, bool all);
/* The candidate of a choice that is taken; HF_NONE: none yet. */
uint32_t hf_poly_taken(const hf_poly *p, uint32_t choice);

/* poly_proof.c */
/* Adds the finding; false: it rests on a clause that steps cannot say. */
bool hf_poly_prove(hf_poly *p, const hf_order_proof *proof,
                   hf_graph_report *report);

/* graph_world.c: what is wrong with the known edges and single operations of
 * a graph, added to what was found. */
void hf_graph_find_known(hf_graph *g, hf_graph_report *report, hf_result *r);

/* graph_world.c: judges one world of the history of `like`: the order of all
 * that happened in it gives the order of open versions.  True: the level holds,
 * and r has the verdict and the witness.  Otherwise `ret` gets cycles; none if
 * the search for them was cut short. */
bool hf_graph_judge_world(const hf_graph *like, const hf_graph_world *world,
                          const hf_txn_id *order, uint32_t n, hf_result *r,
                          hf_graph_findings *ret);

/* poly_conditions.c: what a transaction saw contradicts itself, whatever else
 * is so: an operation of it, and if a proof can say it the condition that did
 * not return what that one saw. */
hf_finding hf_poly_conflict(const hf_pred *p, hf_arena *arena);

/* poly_mixed.c: the same, each transaction by its own level. */
bool hf_poly_judge_mixed(const hf_poly *p, const hf_graph_world *world,
                         const hf_txn_id *order, uint32_t n, hf_result *r,
                         hf_graph_findings *ret);

/* poly_guess.c: for each open read the source that times suggest: per
 * operation, HF_CHOSEN_...; the others are left alone. */
void hf_poly_guess_sources(hf_graph *g, const uint64_t *start,
                           const uint64_t *commit, uint32_t *ret);

/* poly_engine.c: decides what the known edges leave open, or says how far it
 * came.  The known edges have no cycle that the level forbids. */
void hf_poly_decide(hf_graph_report *report, hf_result *r);
/* Only orders are open, and the level's definition is an order of nodes. */
bool hf_poly_is_order(const hf_graph *g);
bool hf_poly_has_form(const hf_graph *g); /* the second of these */
/* A search that is cut short, over the edges of the graph, whatever reads are
 * left open.  NONE: the proof is delivered, unless sources were guessed; FOUND:
 * the commits in their order, and the verdict if they were. */
hf_order_answer hf_poly_attempt(hf_graph_report *report, hf_result *r,
                                bool guessed, hf_txn_id **ret_order);

/* All nodes in an order to begin with. */
uint32_t *hf_poly_hint(const hf_poly *p, hf_hint kind);
bool hf_poly_has_times(const hf_history *h);
bool hf_poly_has_commits(const hf_history *h); /* when commits were called */
/* For levels weaker than snapshot isolation: the commits in an order that
 * proves that, if it is found soon; else NULL.  Only orders are open. */
hf_txn_id *hf_poly_stronger_order(hf_graph_report *report, hf_result *r);

#endif
