/* execute.h: the transactions of a core, executed in every order.  Private to
 * verify/.
 *
 *   execute.c         what each transaction does to states, and what has to
 *                     come before what
 *   execute_search.c  who comes next
 *   execute_formula.c the same question as clauses, where there are counters
 *
 * For levels that are an order of whole transactions, or of starts and
 * commits, and for read committed; as clauses for consistent view and parallel
 * snapshot isolation too: docs/semantics.md, "Cores".
 */
#ifndef HF_EXECUTE_H
#define HF_EXECUTE_H

#include "base/map.h"
#include "base/vec.h"
#include "verify/counters.h"

/* Sets of nodes, as bits. */
typedef uint64_t hf_nodes;
#define HF_NODES_WORD 64u

static inline bool hf_nodes_has(const hf_nodes *b, uint32_t i)
{
    return b[i / HF_NODES_WORD] >> (i % HF_NODES_WORD) & 1u;
}

static inline void hf_nodes_set(hf_nodes *b, uint32_t i)
{
    b[i / HF_NODES_WORD] |= (hf_nodes)1 << (i % HF_NODES_WORD);
}

static inline void hf_nodes_clear(hf_nodes *b, uint32_t i)
{
    b[i / HF_NODES_WORD] &= ~((hf_nodes)1 << (i % HF_NODES_WORD));
}

/* What a key can hold.  Two that are equal have one number. */
typedef struct hf_held_state {
    hf_key_id key;
    hf_value_id value; /* registers; HF_NONE: nil */
    hf_held held;      /* counters */
    uint32_t before;   /* lists: the list without its last element ... */
    hf_value_id last;  /* ... and that; HF_NONE: the empty list */
    uint32_t next;     /* with the same hash; HF_NONE */
} hf_held_state;

typedef enum hf_deed_kind {
    HF_DEED_FIND, /* the key holds `state` */
    HF_DEED_SET,  /* ... from now on */
    HF_DEED_ADD,
    HF_DEED_APPEND
} hf_deed_kind;

typedef struct hf_deed {
    hf_deed_kind kind;
    hf_key_id key;
    uint32_t state;
    hf_wide amount;
    hf_value_id element;
} hf_deed;

typedef enum hf_key_kind {
    HF_KEY_IS_REGISTER = 0,
    HF_KEY_IS_COUNTER,
    HF_KEY_IS_LIST
} hf_key_kind;

typedef struct hf_program {
    hf_verifier *v; /* of the core alone */
    const hf_history *h;
    const hf_level_info *info; /* the level by whose rule they are executed */
    bool snapshots;            /* starts and commits */
    bool past;         /* reads find what was there at any time before */
    bool partial;      /* visibility counts: two may be unordered */
    uint32_t n, words; /* nodes; words of their bits */
    hf_txn_id *txn;    /* per node */
    hf_nodes *sure;    /* nodes that certainly happened */
    uint32_t *first;   /* per node: its deeds; n + 1 */
    HF_VEC(hf_deed) deeds;
    hf_nodes **before;  /* per node: those that must be done */
    hf_nodes **ends;    /* ... of unknown outcome: too late once it is there */
    uint32_t *twin;     /* ... one like it, which comes first; HF_NONE */
    uint8_t *kind;      /* per key: hf_key_kind */
    hf_nodes **readers; /* per key: whose reads depend on what is there */
    hf_nodes **writers; /* per key */
    /* states */
    HF_VEC(hf_held_state) states;
    hf_map by_hash;
    uint32_t *initial; /* per key */
    /* per state: who wants to find it, with no own write before; registers:
     * who leaves it.  NULL: of states that came later */
    hf_nodes **wants, **leaves;
    uint32_t n_known; /* so many states have these */
} hf_program;

/* The transactions of h, by the rule of a level; false: not for it, and v has
 * the answer. */
bool hf_program_make(hf_verifier *v, const hf_history *h,
                     const hf_level_info *info, hf_program *ret);
void hf_program_release(hf_program *p);
/* What a key holds after a deed that writes. */
uint32_t hf_program_after(hf_program *p, uint32_t state, const hf_deed *d);

/* execute_search.c: is there an order of all that certainly happened, and some
 * of the others?  False with v->status set: it came to a limit; with *ret_full:
 * there are more states than `most`. */
bool hf_program_has_order(hf_program *p, size_t most, bool *ret_full);
#define HF_PROGRAM_STATES ((size_t)1 << 22) /* at most */

/* execute_formula.c: the same as clauses.  True without *ret_sure: they do not
 * say everything. */
bool hf_program_is_possible(hf_program *p, bool *ret_sure);

/* Are the transactions of the core, more than HF_CORE_MOST, impossible by
 * themselves? */
bool hf_verify_executed(hf_verifier *v);

#endif
