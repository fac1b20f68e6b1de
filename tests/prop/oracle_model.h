/* oracle_model.h: what the parts of the oracle share.
 *
 * A model is the history as plain steps: increments are taken apart, failed
 * and unrecorded operations are gone, values are numbers.  A world is a model
 * in which the unknown outcomes are settled.
 */
#ifndef ORACLE_MODEL_H
#define ORACLE_MODEL_H

#include "conditions.h"
#include "history/history.h"
#include "model/level.h"

#define O_TXNS 8
#define O_KEYS 8
#define O_STEPS 24
#define O_ITEMS 24
#define O_ENTRIES (2 * O_KEYS)
#define O_READS (O_TXNS * O_STEPS * 2)
#define O_NIL (HF_NONE - 1)
#define O_INITIAL (-1) /* as a source: the initial version */

/* A set of levels: bit `level`. */
typedef uint32_t o_levels;
#define O_LEVEL(level) (1u << (level))

typedef enum o_step_kind {
    O_READ,
    O_WRITE,
    O_APPEND,
    O_LIST,
    O_ADD, /* an increment without results; COUNT: a read of such a key */
    O_COUNT,
    O_PREDICATE
} o_step_kind;

#define O_ANY_WRITER (-2)

/* What a predicate operation saw of one key. */
typedef struct o_entry {
    int key;
    uint32_t value;
    int writer; /* O_ANY_WRITER if not recorded */
    bool matches;
    bool unlisted; /* no version set was recorded: any that does not match */
} o_entry;

typedef struct o_step {
    o_step_kind kind;
    int key;
    uint32_t value;  /* O_READ, O_WRITE, O_APPEND, O_COUNT */
    int64_t amount;  /* O_ADD */
    bool increments; /* O_READ: the next step is of the same operation */
    int n_items;     /* O_LIST */
    uint32_t items[O_ITEMS];
    hf_op_id op; /* O_PREDICATE */
    condition where;
    int n_entries;
    o_entry entries[O_ENTRIES]; /* the version set, then other rows */
    bool wrong_rows; /* the result is not what the version set gives, or
                      * has two versions of a key */
} o_step;

typedef struct o_txn {
    hf_outcome outcome;
    uint32_t session;
    uint64_t begin, end;
    int n_steps;
    o_step steps[O_STEPS];
} o_txn;

typedef struct o_model {
    const hf_history *h;
    int n_txns, n_keys;
    o_txn txns[O_TXNS];
    uint32_t initial[O_KEYS];
    int rank[O_KEYS][O_TXNS]; /* place in the certificate, -1: not listed */
    bool blind;               /* ... as a list */
    bool blind_reads;         /* a version set is not known */
} o_model;

typedef struct o_world {
    const o_model *m;
    bool in[O_TXNS]; /* committed in this world */
    /* If set, only this order is tried: the place of each commit (for
     * snapshot levels among starts and commits, else among transactions). */
    bool fixed;
    int commit_at[O_TXNS], start_at[O_TXNS];
} o_world;

/* The version order of every key: transactions, oldest first. */
typedef struct o_orders {
    int n[O_KEYS];
    int at[O_KEYS][O_TXNS];
} o_orders;

/* A read of another transaction's last write, or of the initial version.  A
 * view is what a predicate operation saw of a row that does not match. */
typedef struct o_read {
    int txn, step, key;
    int source;
    uint32_t value;
    int writer; /* recorded source, O_ANY_WRITER if none */
    bool view;
    bool unlisted; /* a view of any version that does not match */
} o_read;

typedef struct o_reads {
    int n;
    o_read at[O_READS];
} o_reads;

/* False if the history has something the oracle does not know. */
bool o_model_fill(o_model *m, const hf_history *h);

/* The rest of a predicate operation, when all writes are there; false as
 * above. */
bool o_fill_predicate(o_model *m, int txn, int step);

bool o_writes(const o_model *m, int txn, int key);
/* The value of the last write of key in steps before `step`; false: none. */
bool o_own_write(const o_model *m, int txn, int key, int step,
                 uint32_t *ret_value);
/* Does a version of that value satisfy the step's condition? */
bool o_matches(const o_model *m, const o_step *step, uint32_t value);
/* Is version number `place` in the order of r's key one that changes the
 * matches of the predicate operation r belongs to? */
bool o_changes(const o_world *w, const o_orders *o, const o_read *r, int place);
/* The place of a transaction's version of the key, -1: the initial one. */
int o_place(const o_orders *o, int key, int txn);
/* Did r read from the version at `place`: its source, or, for a view, any
 * version up to it that changes the matches? */
bool o_reads_from(const o_world *w, const o_orders *o, const o_read *r,
                  int place);
/* Does r miss the version at `place`: an older one, and, for a view, with a
 * change of the matches between? */
bool o_misses(const o_world *w, const o_orders *o, const o_read *r, int place);
bool o_session_before(const o_world *w, int a, int b);
bool o_real_time_before(const o_world *w, int a, int b);
/* The certificate puts a's version of some key before b's. */
bool o_certified_before(const o_world *w, int a, int b);

/* Do the lists read of `key` fit the order of its writers?  With
 * `uncommitted` the rules of read-uncommitted apply; otherwise the reads of
 * others are added to `reads` (may be NULL). */
bool o_lists_fit(const o_world *w, int key, const o_orders *o, bool uncommitted,
                 o_reads *reads);

/* The reads of registers that are not of own writes, without sources; false
 * if an own write is not seen. */
bool o_register_reads(const o_world *w, o_reads *reads);

/* Every way to give the register reads sources that are committed and final.
 * `body` returns which of the wanted levels the choice satisfies; the union
 * comes back. */
typedef o_levels (*o_sources_body)(const o_world *w, const o_reads *reads,
                                   o_levels wanted);
o_levels o_each_sources(const o_world *w, o_levels wanted, o_sources_body body);

/* What a key with increments without results holds. */
typedef struct o_amount {
    bool is_number;
    int64_t number;
    uint32_t value; /* O_NIL if it is a number */
} o_amount;

o_amount o_amount_of(const o_model *m, uint32_t value);
bool o_amount_eq(o_amount a, o_amount b);
/* ... after a step on the key. */
o_amount o_amount_after(const o_model *m, o_amount before, const o_step *step);
/* In this order of versions, do reads of such keys return what their sources
 * hold, or what own writes made of the version before? */
bool o_counts_fit(const o_world *w, const o_orders *o, const o_reads *reads);
/* Are they sums at all, and what own writes say? */
bool o_counts_known(const o_world *w);

/* Repeated reads of one key agree. */
bool o_repeatable(const o_world *w, const o_reads *reads);

/* The parts: which of the wanted levels hold in the world. */
o_levels o_replay_levels(const o_world *w, o_levels wanted);
o_levels o_axiom_levels(const o_world *w, const o_reads *reads,
                        o_levels wanted);
o_levels o_walk_levels(const o_world *w, const o_reads *reads, o_levels wanted);
bool o_uncommitted_level(const o_world *w);

#endif
