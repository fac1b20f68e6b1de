/* proof.h: proofs that no world satisfies a level, between the files that
 * check them.  Private to verify/.
 *
 * A proof is a list of clauses (model/witness.h).  Facts are numbered as they
 * are met; a literal is twice the number of a fact, plus one for its negation.
 *
 * What a fact means in a world: before(x, a, b) is said of the versions if
 * both happened; if one did not, it is true or false as we please, as long as
 * we say the same everywhere.  So where a clause speaks of it, it must also
 * have an excuse for those that need not have happened.
 *
 * Some facts are known: they hold in every good world (one in which the level
 * holds), if those happened that they speak of.  A clause need not mention
 * them, and may.
 */
#ifndef HF_PROOF_H
#define HF_PROOF_H

#include "base/map.h"
#include "base/vec.h"
#include "verify/cycle.h"
#include "verify/sources.h"
#include "verify/view.h"

typedef HF_VEC(uint32_t) hf_literals;

typedef struct hf_proof {
    hf_verifier *v;
    const hf_certain *c;
    const hf_sources *sources;
    const hf_chains *chains; /* NULL: the level allows lost updates */
    bool *told;              /* per key: a list of it is told; NULL: none */
    hf_map before, from, happened, asked;
    hf_map entries; /* of version sets, op << 32 | key -> number */
    uint32_t n_entries;
    HF_VEC(hf_fact) facts;
    HF_VEC(uint8_t) known; /* per fact: an hf_known */
    uint32_t at;           /* the step in hand */
    const hf_edge *orders; /* of versions, that it names besides */
    uint32_t n_orders;
    /* the clauses that rest on nothing but the history, all literals of them:
     * step i has literals.at[first[i] .. first[i + 1] - 1], none for a
     * resolution */
    size_t *first;
    hf_literals literals;
    bool *is_short; /* per step: says more than it had to */
    /* literals that it need not have, and its maker may think it has */
    size_t *first_spare;
    hf_literals spare;
    /* per fact that is an order: its slots, the heads of chains */
    HF_VEC(uint64_t) slots;
    /* per edge of the witness: what it takes for granted, or HF_NONE */
    uint32_t *edge_before, *edge_from;
} hf_proof;

/* proof_facts.c.  Each gives the literal of a fact that is taken for granted.
 * Keys and operations have been checked.
 *
 * The version of a is before that of b (slots of one key). */
uint32_t hf_fact_before(hf_proof *p, uint32_t a, uint32_t b);
/* The same, and we know it; HF_NONE inside a chain, where we did before. */
uint32_t hf_fact_before_known(hf_proof *p, uint32_t a, uint32_t b);
/* t's read op comes from writer, one of the choices. */
uint32_t hf_fact_from(hf_proof *p, hf_txn_id t, hf_op_id op,
                      const hf_choice *choice, hf_txn_id writer);
/* t's operation op looked at the version of writer, of a version set. */
uint32_t hf_fact_from_entry(hf_proof *p, hf_txn_id t, hf_op_id op,
                            hf_key_id key, const hf_choice *choice,
                            hf_txn_id writer);
/* Is the negation of an order known by other versions of the same chains? */
bool hf_fact_is_refuted(const hf_proof *p, uint32_t literal);
/* HF_NONE for a committed one. */
uint32_t hf_fact_happened(hf_proof *p, hf_txn_id t);

/* proof_steps.c: the clause of every step that is no resolution. */
bool hf_proof_read_steps(hf_proof *p);
/* `literal` is taken for granted: the clause says that it is not so.  HF_NONE:
 * nothing. */
void hf_proof_assume(hf_proof *p, uint32_t literal);
/* The version of e's key that t's operation op is taken to return as an item:
 * HF_CHOSEN_ONLY where there is no choice.  *ret_from: what that takes for
 * granted, or HF_NONE. */
bool hf_proof_check_read(hf_proof *p, const hf_edge *e, hf_txn_id t,
                         hf_op_id op, uint32_t chosen, hf_txn_id *ret_source,
                         uint32_t *ret_from);
/* An order of versions that the step names is taken for granted. */
bool hf_proof_order(hf_proof *p, const hf_edge *e);
/* Does the step in hand name this one? */
bool hf_proof_has_order(const hf_proof *p, hf_txn_id a, hf_txn_id b,
                        hf_key_id key);

/* proof_lists.c: the clause of a list. */
bool hf_proof_read_list(hf_proof *p, const hf_step *step);
/* proof_promises.c: ... and of what the witness assumes of two versions. */
bool hf_proof_read_promise(hf_proof *p, const hf_step *step);
/* proof_faults.c: ... and of an operation that is wrong by itself. */
bool hf_proof_read_fault(hf_proof *p, const hf_step *step);
/* proof_counters.c: ... and of a sum. */
bool hf_proof_read_sum(hf_proof *p, const hf_step *step);

/* See hf_verify_view(). */
typedef struct hf_view_wanted {
    hf_arena *arena;
    hf_proof_view *ret;
    bool is_kept;
} hf_view_wanted;

/* proof.c: puts the step before the reason; false. */
bool hf_refuse_in_step(hf_verifier *v, uint32_t step);

#endif
