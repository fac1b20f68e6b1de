/* poly_shrink.h: a refutation that is being shrunk, for poly_core.c and
 * poly_grow.c only. */
#ifndef HF_POLY_SHRINK_H
#define HF_POLY_SHRINK_H

#include "base/map.h"
#include "base/vec.h"
#include "check/check.h"
#include "history/extra.h"
#include "history/part.h"

typedef HF_VEC(hf_txn_id) hf_shrink_set;

typedef struct hf_shrinker {
    const hf_history *h;
    hf_level level;
    hf_check_options options;
    hf_budget budget; /* its own */
    hf_parts parts;
    uint8_t *in;        /* per transaction: is in `set` */
    hf_shrink_set set;  /* ascending, once sort_set() was called */
    hf_op_id *longest;  /* per key: read of the longest list; HF_NONE */
    hf_txn_id *read_by; /* per value: one that surely happened and read it */
    hf_map met;         /* (transaction, key) of chains: gone through */
    hf_arena arena;     /* of the proof at hand */
    hf_witness proof;   /* in ids of the whole */
    bool unproved;      /* ... is not wanted: a search that leaves nothing will
                         * do */
    hf_shrink_set core; /* that it is about: invalid by itself; ascending */
    uint8_t *in_core;   /* per transaction */
    uint8_t *needed;    /* per transaction: the rest of the core is valid */
} hf_shrinker;

/* poly_grow.c */
/* Who read what; `longest` and `read_by`. */
void hf_shrink_index(hf_shrinker *s);
void hf_shrink_clear(hf_shrinker *s);
/* Once there is a core nobody else is added. */
void hf_shrink_add(hf_shrinker *s, hf_txn_id t);
/* The transactions of the proof, and the sources of the reads in it. */
void hf_shrink_gather(hf_shrinker *s, const hf_witness *w);
/* Adds those on whom something may rest that the proof does not mention:
 *   1  who read a list that orders two appends; who is between two versions
 *      of a chain; who read from one of unknown outcome
 *   2  all sources of all reads, and chains to their beginning; again and
 *      again, and if that adds nobody, everybody
 */
void hf_shrink_grow(hf_shrinker *s, const hf_witness *w, unsigned round);
/* Those whose versions t looked at, or all who wrote such a key. */
void hf_shrink_add_read_sources(hf_shrinker *s, hf_txn_id t, bool all);

#endif
