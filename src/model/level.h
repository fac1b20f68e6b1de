/* level.h: the isolation levels, as one table.
 *
 * A level is data: its names, the levels it implies, how it is defined.
 * Adding a level is adding a row in level.c (and, if its definition is of a
 * new kind, teaching the engines that kind).  docs/levels.md is generated
 * from the table.  Definitions and the lattice: DESIGN of each row follows
 * Adya for the dependency levels and Biswas-Enea for the axiomatic ones.
 */
#ifndef HF_LEVEL_H
#define HF_LEVEL_H

#include "holdfast.h"

#include "base/out.h"
#include "base/str.h"

typedef enum hf_level {
    HF_READ_UNCOMMITTED = 0,
    HF_READ_COMMITTED,
    HF_READ_COMMITTED_AXIOMATIC,
    HF_MONOTONIC_ATOMIC_VIEW,
    HF_READ_ATOMIC,
    HF_READ_YOUR_WRITES,
    HF_MONOTONIC_READS,
    HF_MONOTONIC_WRITES,
    HF_WRITES_FOLLOW_READS,
    HF_PRAM,
    HF_CAUSAL,
    HF_CONSISTENT_VIEW,
    HF_REPEATABLE_READ,
    HF_PARALLEL_SNAPSHOT_ISOLATION,
    HF_STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION,
    HF_PREFIX,
    HF_SNAPSHOT_ISOLATION,
    HF_STRONG_SESSION_SNAPSHOT_ISOLATION,
    HF_STRICT_SNAPSHOT_ISOLATION,
    HF_SERIALIZABLE,
    HF_STRONG_SESSION_SERIALIZABLE,
    HF_STRICT_SERIALIZABLE,
    HF_LEVEL_COUNT
} hf_level;

/* What kind of condition defines a level (see docs/levels.md).  W is
 * ww + wr + predicate wr, A is rw + predicate rw. */
typedef enum hf_level_shape {
    HF_SHAPE_WW,       /* acyclic(ww) */
    HF_SHAPE_W,        /* no G1; acyclic(W) */
    HF_SHAPE_AXIOM,    /* a commit order with a visibility condition */
    HF_SHAPE_OTV,      /* W, and no observed transaction vanishes */
    HF_SHAPE_SINGLE,   /* W, and no cycle with exactly one A */
    HF_SHAPE_ITEM,     /* acyclic(W + item rw) */
    HF_SHAPE_SNAPSHOT, /* acyclic(W ; A?) */
    HF_SHAPE_SERIAL,   /* acyclic(W + A) */
    HF_LEVEL_SHAPE_COUNT
} hf_level_shape;

/* Visibility conditions of HF_SHAPE_AXIOM: "if t3 reads x from t1, another
 * t2 writes x, and t2 <condition> t3, then t2 comes before t1". */
#define HF_AXIOM_EARLIER_READ (1u << 0) /* an earlier read of t3 is from t2 */
#define HF_AXIOM_SO (1u << 1)           /* t2 so t3 */
#define HF_AXIOM_WR (1u << 2)           /* t2 wr t3 */
#define HF_AXIOM_WR_SO (1u << 3)        /* t2 wr ; so t3 */
#define HF_AXIOM_SO_WR (1u << 4)        /* t2 so ; wr t3 */
#define HF_AXIOM_WR_WR (1u << 5)        /* t2 wr ; wr t3 */
#define HF_AXIOM_WR_SO_WR (1u << 6)     /* t2 wr ; so ; wr t3 */
#define HF_AXIOM_CAUSAL (1u << 7)       /* t2 (so + wr)+ t3 */
#define HF_AXIOM_PREFIX (1u << 8)       /* t2 co? ; (so + wr) t3 */

typedef struct hf_level_info {
    hf_level level;
    const char *name;           /* "snapshot-isolation" */
    const char *short_name;     /* "SI", as in the catalog */
    const char *const *aliases; /* NULL-terminated: other tools' names */
    hf_level_shape shape;
    unsigned axiom;          /* HF_AXIOM_* for HF_SHAPE_AXIOM, else 0 */
    bool session_order;      /* so is part of W (or of the commit order) */
    bool real_time;          /* rt is, too */
    bool internal;           /* INT: repeated reads agree (N3 forbidden) */
    const hf_level *implies; /* direct arrows, ended by HF_LEVEL_COUNT */
    const char *summary;     /* one line */
    const char *definition;  /* one line, the formal condition */
} hf_level_info;

const hf_level_info *hf_level_get(hf_level level);

/* By name, short name or alias; hf_str_same_name() decides.  False if there
 * is none; *ret_suggestion (may be NULL) is then a near name or NULL. */
bool hf_level_find(hf_str name, hf_level *ret_level,
                   const char **ret_suggestion);

/* Every history valid at `stronger` is valid at `weaker` (reflexive,
 * transitive). */
bool hf_level_implies(hf_level stronger, hf_level weaker);

#endif
