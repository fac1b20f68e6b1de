/* poly_worlds.h: the parts of the search over worlds, inside check/ only.
 *
 * A world (docs/semantics.md) settles what the history leaves open: the order
 * of open versions, the source of each read that may have several, and who of
 * those of unknown outcome happened.
 *
 *   poly_sources.c  who may have happened; reads with one source after all
 *   poly_guess.c    a world as an order suggests it, tried first
 *   poly_choices.c  variables for sources and outcomes, and their clauses;
 *                   poly_entries.c: those of version sets
 *   poly_events.c   the nodes of the search, and what is known of them
 *   poly_readers.c  edges of readers whose source was chosen
 *   poly_lazy.c     readers whose source the order tells
 *   poly_lemmas.c   cycles of a world that was judged, as clauses;
 *                   poly_conditions.c: what edges of conditions rest on
 *   poly_lists.c    lists of which an order of appends tells the source
 *   poly_counters.c sums that were read, of increments without results
 *   poly_promises.c what the user assumes, in the world at hand
 *   poly_worlds.c   what is settled first, and who decides the rest
 *   poly_search.c   the search
 *   poly_try.c      the order at hand as a world, tried
 *   poly_answer.c   what it came to
 *   poly_enumerate.c  refutations that no proof can say, of few
 *   poly_mixed.c    one world, each transaction judged by its own level;
 *                   poly_mixed_looks.c: its conditions; poly_sight.c: what
 *                   is visible to it
 */
#ifndef HF_POLY_WORLDS_H
#define HF_POLY_WORLDS_H

#include "check/poly.h"
#include "check/pred.h"

typedef HF_VEC(hf_lit) hf_lit_list;

/* An edge that is there if its ends happened, one of which need not have. */
typedef struct hf_guarded {
    uint32_t from, to;
} hf_guarded;

typedef struct hf_worlds {
    hf_poly p;
    hf_graph_report *report;
    hf_graph *g;      /* of everybody who may have happened */
    hf_graph again;   /* room for it, if it is not `base` */
    hf_graph *base;   /* of those that certainly happened */
    hf_graph settled; /* room for it, if it is not the report's */
    uint8_t *sure;    /* per transaction: certainly happened */
    uint32_t *fixed;  /* per operation: the only source there can be */
    hf_result *r;
    uint8_t *all;       /* per transaction: may have happened */
    uint8_t *uncertain; /* ... and need not have */
    uint32_t n_uncertain;
    uint8_t *loose;         /* per key: see hf_graph_world; NULL: none */
    HF_VEC(hf_op_id) lists; /* reads of those, by all who may have happened */
    size_t first_list;      /* of the cycle at hand, in lemma_lists */
    HF_VEC(hf_op_id)
    counts; /* reads of keys with increments without results,
               by all who may have happened */
    /* writes by value, where there are several */
    uint32_t *write_first;
    hf_op_id *writes;
    /* edges of those that need not have happened, by transaction */
    HF_VEC(hf_guarded) guarded;
    uint32_t *guard_first; /* n_txns + 1 */
    uint32_t *guards;      /* in guarded */
    hf_txn_id *guess;      /* an order without the open reads; or NULL */
    /* the world at hand */
    uint8_t *happened;
    uint32_t *source; /* per operation */
    hf_txn_id *order;
    uint32_t *place;   /* per transaction: in order; HF_NONE: did not happen */
    hf_map entries;    /* of version sets: see hf_graph_world */
    hf_pred *pred;     /* conditions on the versions of g; NULL: none */
    unsigned promised; /* HF_REST_*: what the user assumes */
    bool found, stuck;
    uint64_t n_judged;
    uint64_t conflicts; /* of guesses */
} hf_worlds;

/* poly_sources.c */
void hf_worlds_list_writes(hf_worlds *w);
/* Fills base, fixed and sure: a source that is certain makes its writer
 * certain, whose reads may then have one source: until nothing changes.
 * False: stopped. */
bool hf_worlds_settle(hf_worlds *w);
/* Fills all, uncertain, and g.  False: stopped. */
bool hf_worlds_gather(hf_worlds *w);
/* What an operation read; HF_NONE: nothing, or it failed. */
hf_value_id hf_worlds_value_read(const hf_history *h, hf_op_id op);
/* Nobody overwrites it in its own transaction. */
bool hf_worlds_is_last_write(const hf_history *h, hf_txn_id t, hf_op_id op);
/* The graph of a world, as far as it is settled.  False: stopped. */
bool hf_worlds_rebuild(hf_worlds *w, hf_graph *g, const uint8_t *happened,
                       bool spread);

/* poly_lists.c */
bool hf_worlds_reads_list(const hf_history *h, hf_txn_id t);
/* Fills loose and lists, once it is known who may have happened. */
void hf_worlds_find_loose(hf_worlds *w);
/* The sources of lists, as the world at hand has their keys.  False: a list
 * does not fit, and the search knows now, or has *ret_lit to choose first. */
bool hf_worlds_take_lists(hf_worlds *w, hf_lit *ret_lit);
/* What the source of a list read rests on. */
void hf_worlds_lits_of_list(hf_worlds *w, hf_op_id op, hf_lit_list *list);

/* poly_counters.c */
/* Fills counts. */
void hf_worlds_find_counts(hf_worlds *w);
/* How many sources they may have, all together. */
uint64_t hf_worlds_n_counted(const hf_worlds *w);
/* Does t write such a key? */
bool hf_worlds_counts(const hf_worlds *w, hf_txn_id t);
/* Is the operation on such a key? */
bool hf_worlds_is_counted(const hf_worlds *w, hf_op_id op);
/* Are the sums as they were read, in the world at hand?  False: not, and the
 * search knows now, or has *ret_lit to choose first. */
bool hf_worlds_take_counts(hf_worlds *w, hf_lit *ret_lit);

/* poly_promises.c: does the world at hand keep what the user assumes?  False:
 * not, and the search knows now, or has *ret_lit to choose first. */
bool hf_worlds_keeps_promises(hf_worlds *w, hf_lit *ret_lit);

/* poly_enumerate.c: adds a core to what was found, if those that the refutation
 * speaks of are few. */
void hf_worlds_enumerate(hf_worlds *w, const hf_order_proof *proof);

/* poly_guess.c: true if that decided it. */
bool hf_worlds_decide_by_guess(hf_worlds *w);

/* poly_choices.c */
void hf_worlds_make_choices(hf_worlds *w);
uint32_t hf_worlds_add_clause(hf_poly *p, hf_poly_clause c);
/* If t happened, so did c.writer: what a step of a proof says of it, if it can
 * (HF_STEP_KIND_COUNT: it cannot). */
void hf_worlds_add_outcome(hf_worlds *w, hf_txn_id t, hf_poly_clause c);
/* Of the last choice: everybody who may have written v; or what does not
 * satisfy the condition. */
void hf_worlds_add_candidates(hf_worlds *w, hf_value_id v);
void hf_worlds_add_unlisted(hf_worlds *w, uint32_t condition);

/* poly_entries.c */
/* What a predicate operation looked at, but for own writes. */
typedef struct hf_look {
    hf_op_id op;
    hf_key_id key;
    uint32_t ver;       /* HF_NONE: none that counts */
    uint32_t condition; /* HF_NONE: an item, it returned it */
    hf_version_ref ref;
    /* of no version set: some version that does not satisfy the condition; of
     * a key that it wrote before, and should have returned: none */
    bool unlisted, own;
} hf_look;
typedef HF_VEC(hf_look) hf_looks;
void hf_looks_add(hf_pred *p, const hf_pred_op *o, hf_looks *ret);
/* How many versions rows without version sets may have looked at, at most. */
uint64_t hf_worlds_n_unlisted(const hf_worlds *w);
/* Entries of t that several may have written become choices. */
void hf_worlds_choose_entries(hf_worlds *w, hf_txn_id t);
/* Of t, which need not have happened: whom its entries were written by. */
void hf_worlds_bind_entries(hf_worlds *w, hf_txn_id t);
/* The entries of the world at hand. */
void hf_worlds_set_entries(hf_worlds *w);

/* poly_lemmas.c */
/* Each once; HF_LIT_NONE is none. */
void hf_worlds_add_lit(hf_lit_list *list, hf_lit lit);
/* Version a of an open key is before b. */
void hf_worlds_add_before(hf_worlds *w, hf_lit_list *list, hf_key_id key,
                          uint32_t a, uint32_t b);

/* The version of the key that the read returned, in the world at hand.  Adds
 * what that rests on (of a list the steps that say so, too: see first_list);
 * *ret_chosen: what it is taken to be, if there is a choice. */
uint32_t hf_worlds_version_read(hf_worlds *w, hf_key_id key, hf_op_id read,
                                hf_lit_list *list, uint32_t *ret_chosen);

/* poly_conditions.c: the version of the key that a predicate operation looked
 * at in the world at hand; HF_NONE: none that is known.  Adds what that rests
 * on, and says what it is taken to be if there is a choice. */
uint32_t hf_worlds_version_seen(hf_worlds *w, hf_op_id op, hf_key_id key,
                                hf_lit_list *list, uint32_t *ret_chosen);
/* The edges of a cycle as a proof tells them: an anti-dependency of a condition
 * leads to a version that satisfies it. */
typedef HF_VEC(hf_edge) hf_worlds_edges;
void hf_worlds_tell_edges(hf_worlds *w, const hf_witness *cycle,
                          hf_worlds_edges *ret);
/* What an edge of a condition needs, but for the happening of its ends; and the
 * orders of versions that the proof has to name for it.  False: its steps
 * cannot say it. */
bool hf_worlds_lits_of_condition(hf_worlds *w, const hf_edge *e, bool strict,
                                 hf_lit_list *list, hf_worlds_edges *orders,
                                 uint32_t *ret_chosen);
/* Of a cycle: has it to be said exactly who changes the matches? */
bool hf_worlds_is_strict(const hf_worlds *w, const hf_edge *edges, uint32_t n);
/* Can the conditions be part of a world that is searched for? */
bool hf_worlds_take_conditions(hf_worlds *w);
/* Adds the sources of entries of the operation that the order told. */
typedef HF_VEC(hf_source) hf_worlds_sources;
void hf_worlds_add_entries(const hf_worlds *w, hf_op_id op,
                           hf_worlds_sources *ret);

/* The source that the world at hand has for a read with several. */
hf_poly_candidate hf_worlds_candidate(const hf_worlds *w, hf_op_id read);
/* Not all of these, by the clause.  They are turned. */
void hf_worlds_add_lemma(hf_poly *p, hf_poly_clause c, hf_lit_list *lits);
/* The same if all of them are said; its edges and lists are the last there are.
 * Returns a literal to choose first, if there is one: the clause is dropped. */
hf_lit hf_worlds_forbid(hf_worlds *w, hf_poly_clause c, hf_lit_list *lits);
/* Not everything that the cycle rests on.  Returns a pair to choose first, if
 * there is one. */
hf_lit hf_worlds_forbid_cycle(hf_worlds *w, const hf_witness *cycle);
/* A literal that only the order tells, to be chosen before anything can be
 * said of all; HF_LIT_NONE: there is none. */
hf_lit hf_worlds_unsaid(const hf_poly *p, const hf_lit_list *list);
/* A clause of a cycle that the world breaks, and of whose pairs one can still
 * be turned: the one turned; HF_LIT_NONE: there is none. */
hf_lit hf_worlds_turn_broken(const hf_poly *p);

/* poly_try.c: what the solver asks, of w. */
hf_order_client hf_worlds_client(hf_worlds *w);

/* poly_search.c: fills the result.  The nodes stay until the end. */
void hf_worlds_search(hf_worlds *w);
void hf_worlds_end(hf_worlds *w);

/* poly_answer.c */
/* The sources that were chosen are part of the witness. */
void hf_worlds_store_sources(hf_worlds *w, const uint32_t *source);
void hf_worlds_set_unknown(hf_worlds *w, const char *reason);
void hf_worlds_tell_early_limit(hf_worlds *w);
/* Of a search that ended so: the world, the proof, or how far it came. */
void hf_worlds_deliver(hf_worlds *w, hf_order_answer answer);

#endif
