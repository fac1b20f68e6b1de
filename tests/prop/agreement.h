/* agreement.h: one history, one level: an engine, the reference and verify.
 *
 * The reference tries every world and so decides nearly everything; the
 * engine may answer unknown where the history does not say in which order
 * versions were installed.
 */
#ifndef AGREEMENT_H
#define AGREEMENT_H

#include "base/out.h"
#include "check/check.h"

typedef enum agreement {
    AGREE = 0,
    DISAGREE_ERROR,   /* the engine returned an error */
    DISAGREE_VERDICT, /* valid against invalid */
    DISAGREE_UNKNOWN, /* unknown, and the history determines the order */
    DISAGREE_WITNESS, /* verify does not accept the verdict's witness */
    DISAGREE_FINDING, /* verify does not accept a finding's witness */
    DISAGREE_STRAY,   /* findings though not invalid, or none though so */
    DISAGREE_LONGER,  /* a cycle longer than the reference's of that name */
    DISAGREE_THREADS, /* one thread and two give different results */
    DISAGREE_LATTICE, /* valid at a level, invalid at a weaker one */
    DISAGREE_ORDER,   /* findings not in the promised order */
    DISAGREE_PROOF,   /* verify does not accept a proof of the reference */
    DISAGREE_ORACLE,  /* the reference and the oracle differ */
    AGREEMENT_COUNT
} agreement;

/* What was compared. */
typedef struct agreement_case {
    const hf_engine *engine, *reference;
    hf_level level;
    bool mixed;          /* each transaction by the level it names */
    unsigned assume;     /* HF_REST_*: only worlds that keep it count */
    bool threads;        /* compare one thread with two, too */
    bool proofs;         /* verify the reference's proofs, too */
    bool searched;       /* the engine does not enumerate few transactions */
    bool decides;        /* the engine knows whatever the reference does */
    bool lengths;        /* no cycle may be longer than the reference's */
    hf_sql_cache *cache; /* of conditions; may be NULL */
    hf_sql_dialect dialect;
    bool share; /* certificate: conditions share trees, however few */
    bool eager; /* verify does what pays only in large histories */
    /* The history with the recorded order of versions in its certificate: it
     * is what the reference is asked about where the engine's answer rests on
     * that order.  NULL: such an answer is only refuted by "invalid". */
    const hf_history *ordered;
} agreement_case;

/* What both said. */
typedef struct agreement_answers {
    hf_verdict engine, reference;
    /* of each anomaly: the edges of its shortest cycle (without a cycle: 1);
     * 0 if it was not reported */
    uint32_t by_engine[HF_ANOMALY_COUNT], by_reference[HF_ANOMALY_COUNT];
} agreement_answers;

/* Judges h twice and compares.  The engine's result is written to `json`
 * (cleared first); `why` gets one line where they do not agree. */
agreement agree_level(const hf_history *h, const agreement_case *c,
                      hf_out *json, agreement_answers *ret, hf_error *why);

const char *agreement_name(agreement a);

#endif
