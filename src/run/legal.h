/* legal.h: which reads a level allows, while an execution grows.
 *
 * Transactions run one after the other, and the order in which they commit is
 * the commit order of the axioms (Biswas and Enea; sections 2 and 5 of
 * IsoPredict).  So there is nothing to search for: a read of a key from a
 * writer is legal if no later writer of the key is among those that the level
 * makes the reader see.  What is accepted is legal at the level; what is
 * refused may be legal in another commit order, which is why the plan's order
 * has to be one that proves the level.  Session order always counts.
 *
 * One transaction at a time; writers are named by their place in the commit
 * order, 0, 1, 2, ...; HF_NONE is the initial state.
 *
 * A read costs the reader's reads so far if it makes the reader see more,
 * else the writers of its key.
 */
#ifndef HF_RUN_LEGAL_H
#define HF_RUN_LEGAL_H

#include "base/str.h"
#include "holdfast.h"

typedef enum hf_legal_rule {
    HF_LEGAL_READ_COMMITTED, /* whom an earlier read of it saw */
    HF_LEGAL_READ_ATOMIC,    /* whom it reads from, and its session */
    HF_LEGAL_CAUSAL,         /* and whom these see */
    HF_LEGAL_PARALLEL, /* causal; writers of a key see each other's writes */
    HF_LEGAL_PREFIX,   /* a prefix of the commit order */
    HF_LEGAL_SNAPSHOT, /* prefix; writers of a key see each other's writes */
    HF_LEGAL_SERIALIZABLE, /* everybody before it */
    /* A prefix for each statement, which never shrinks; what a statement
     * changes or locks is read as it is now (PostgreSQL read committed). */
    HF_LEGAL_STATEMENT,
    /* A prefix for reads; what is changed or locked is read as it is now
     * (MariaDB repeatable read). */
    HF_LEGAL_LOCKING,
    HF_LEGAL_COUNT
} hf_legal_rule;

/* Of a level by its canonical name, plain or strong-session; and of the two
 * that are databases' own.  False: there is none. */
bool hf_legal_find(hf_str level, hf_legal_rule *ret);
/* Does a database of this rule refuse a second row of the same primary key
 * whether or not the transaction sees the first?  A replicated store cannot;
 * an INSERT there looks at what it sees. */
bool hf_legal_unique(hf_legal_rule rule);

typedef struct hf_legal hf_legal;

hf_legal *hf_legal_new(hf_legal_rule rule);
void hf_legal_free(hf_legal *l); /* NULL: nothing */

void hf_legal_begin(hf_legal *l, uint32_t session);
/* A statement begins.  current: what it reads it changes or locks. */
void hf_legal_statement(hf_legal *l, bool current);
bool hf_legal_may_read(hf_legal *l, uint32_t key, uint32_t writer);
/* It has been read. */
void hf_legal_read(hf_legal *l, uint32_t key, uint32_t writer);
/* What the transaction in hand sees of a key without seeing anybody new:
 * always legal. */
uint32_t hf_legal_view(const hf_legal *l, uint32_t key);
bool hf_legal_may_commit(hf_legal *l, const uint32_t *keys, size_t n);
/* Its place in the commit order. */
uint32_t hf_legal_commit(hf_legal *l, const uint32_t *keys, size_t n);
void hf_legal_abort(hf_legal *l);
/* What a committed transaction saw of a key, as hf_legal_view() says. */
uint32_t hf_legal_seen(const hf_legal *l, uint32_t place, uint32_t key);

#endif
