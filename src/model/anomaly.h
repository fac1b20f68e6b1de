/* anomaly.h: the named anomalies, as one table.
 *
 * Names are those of Adya and Elle; the aliases are everybody else's.  Rows
 * 'without cycle' are facts about a few operations, rows 'cycle' are classes
 * of dependency cycles.  docs/anomalies.md is generated from the table.
 */
#ifndef HF_ANOMALY_H
#define HF_ANOMALY_H

#include "model/level.h"

typedef enum hf_anomaly {
    /* without a cycle */
    HF_GARBAGE_READ = 0,    /* N1 */
    HF_INTERNAL,            /* N2: own write not seen */
    HF_NON_REPEATABLE_READ, /* N3: internal, repeated read */
    HF_DUPLICATE_WRITE,     /* N4 */
    HF_G1A,                 /* N5 */
    HF_G1B,                 /* N6 */
    HF_DIRTY_UPDATE,        /* N7 */
    HF_FUTURE_READ,         /* N8 */
    HF_INCOMPATIBLE_ORDER,  /* N9 */
    HF_CYCLIC_VERSIONS,     /* N10 */
    HF_RESULT_SET_MISMATCH, /* N11 */
    HF_TWO_VERSIONS,        /* N12 */
    HF_SEMANTIC_ERROR,      /* N13 */
    HF_PREDICATE_READ_MISS, /* N14 */
    HF_LOST_UPDATE,         /* N15 */
    HF_PHANTOM,             /* N16 */
    HF_UNEXPLAINED_ABORT,   /* N17 */
    HF_OUTSIDE_SNAPSHOT,    /* N18: a read against recorded timestamps */
    HF_CONCURRENT_WRITE,    /* N19: a write against recorded timestamps */
    HF_EXPECTED_STATE,      /* N20: a result against the expected order */
    /* cycles; -session and -realtime forms follow each other */
    HF_G0,
    HF_G0_SESSION,
    HF_G0_REALTIME,
    HF_G1C,
    HF_G1C_SESSION,
    HF_G1C_REALTIME,
    HF_G_SINGLE_ITEM,
    HF_G_SINGLE_ITEM_SESSION,
    HF_G_SINGLE_ITEM_REALTIME,
    HF_G_SINGLE,
    HF_G_SINGLE_SESSION,
    HF_G_SINGLE_REALTIME,
    HF_G_NONADJACENT_ITEM,
    HF_G_NONADJACENT_ITEM_SESSION,
    HF_G_NONADJACENT_ITEM_REALTIME,
    HF_G_NONADJACENT,
    HF_G_NONADJACENT_SESSION,
    HF_G_NONADJACENT_REALTIME,
    HF_G2_ITEM,
    HF_G2_ITEM_SESSION,
    HF_G2_ITEM_REALTIME,
    HF_G2,
    HF_G2_SESSION,
    HF_G2_REALTIME,
    /* no order of the transactions satisfies the level */
    HF_NO_ORDER,
    HF_ANOMALY_COUNT
} hf_anomaly;

typedef struct hf_anomaly_info {
    hf_anomaly anomaly;
    const char *name;    /* "G1a", "lost update", "G-single-session" */
    const char *catalog; /* "N5", "C8": its row in the catalog, or "" */
    const char *const *aliases;
    bool cycle;
    const hf_level *forbidden_at; /* weakest levels, ended by LEVEL_COUNT */
    const hf_level *partly_at;    /* weakest that forbid some forms of it */
    const char *summary;          /* one line */
    const char *meaning;          /* a paragraph: what a user would see */
    const char *example;          /* smallest history, native JSON Lines */
    const char *remedy;           /* a paragraph: what to do about it */
} hf_anomaly_info;

const hf_anomaly_info *hf_anomaly_get(hf_anomaly anomaly);

/* By name, row of the catalog or alias; the name of a special form
 * (special.h) gives the class it belongs to.  False if there is none;
 * *ret_suggestion (may be NULL) is then a near name or NULL. */
bool hf_anomaly_find(hf_str name, hf_anomaly *ret_anomaly,
                     const char **ret_suggestion);

/* Is the anomaly, in whatever form, an error at this level?  HF_NO_ORDER is
 * one at the level it was reported for, so at every level. */
bool hf_level_forbids(hf_level level, hf_anomaly anomaly);

/* Are some forms of it errors at this level, but not all?  Then it depends
 * on the cycle: causal forbids a G-single-item whose other edges are wr and
 * so, but not a lost update. */
bool hf_level_forbids_partly(hf_level level, hf_anomaly anomaly);

#endif
