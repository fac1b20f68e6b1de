/* verifier.h: what the files of this folder share.  Private to verify/.
 *
 * One hf_verifier is one hf_verify_session.  It has two stores: what belongs
 * to the claim in hand, given back with its answer, and the tables about the
 * history alone, which the next claim finds again.  Those are made when they
 * are first asked for, and only whole: one that a limit cut short is made
 * again.
 *
 * The steps return true to go on; false means that the answer is settled: a
 * refusal with its reason, or a failure of the tool (a limit, something
 * unsupported) in `status`.
 */
#ifndef HF_VERIFIER_H
#define HF_VERIFIER_H

#include "verify/facts.h"
#include "verify/tables.h"
#include "verify/verify.h"

/* Memory that is given back together. */
typedef struct hf_store {
    hf_arena arena;
    struct hf_pages *pages; /* large arrays; kept by verify.c */
} hf_store;

typedef struct hf_verifier {
    const hf_history *h;
    hf_history *bare; /* what h is, if lists had elements to begin with */

    /* the claim in hand */
    const hf_witness *w;
    hf_level level;
    const hf_level_info *info;
    hf_budget *budget; /* may be NULL */
    hf_store claim;
    hf_status status; /* HF_OK: accepted or refused */
    hf_verification *ret;
    hf_error *err;
    struct hf_view_wanted *view; /* a proof is to be kept there, or NULL */

    /* of the history */
    hf_store kept;
    hf_facts facts;
    struct hf_entries *entries; /* NULL: no operation has a snapshot */
    hf_sql_dialect dialect;     /* of conditions */
    bool eager;                 /* see hf_verify_set_eager() */
    hf_sql_cache *sql;          /* NULL until asked; kept by match.c */
    hf_tables tables;
    struct hf_expectation *expectation; /* kept by expected.c */
    /* what is certain; [1]: where reads matter; [2 + level]: mixed levels.
     * See hf_certain_get() */
    struct hf_certain *certain[2 + HF_LEVEL_COUNT];
    struct hf_sources *sources; /* NULL until asked; sources.c */
    /* the same; [1 + level]: mixed levels; chains.c */
    struct hf_chains *chains[1 + HF_LEVEL_COUNT];
} hf_verifier;

/* The claim does not follow, because ...; false. */
bool hf_refuse(hf_verifier *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* It cannot be said; false. */
bool hf_give_up(hf_verifier *v, hf_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Polls the budget; true (and the status is set) if it is spent. */
bool hf_out_of_budget(hf_verifier *v);

/* Arrays of zeros, or with every byte 0xff (HF_NONE): until the claim is
 * answered, or until the session ends. */
void *hf_zeros(hf_verifier *v, size_t count, size_t size);
void *hf_nones(hf_verifier *v, size_t count, size_t size);
void *hf_kept_zeros(hf_verifier *v, size_t count, size_t size);
void *hf_kept_nones(hf_verifier *v, size_t count, size_t size);

/* Short names for messages: T7, and the key as a person would write it. */
typedef struct hf_label {
    char text[48];
} hf_label;
hf_label hf_label_txn(const hf_history *h, hf_txn_id t);
hf_label hf_label_key(const hf_history *h, hf_key_id key);

/* The level that t is judged by. */
static inline const hf_level_info *hf_level_of(const hf_verifier *v,
                                               hf_txn_id t)
{
    if (!v->w->mixed)
        return v->info;
    return hf_level_get((hf_level)hf_txn_own_level(v->h, t, v->level));
}

/* From read-committed up: reads have sources, and dirty ones are errors.
 * Those of t; those of anybody. */
static inline bool hf_reads_matter_to(const hf_verifier *v, hf_txn_id t)
{
    return hf_level_of(v, t)->shape != HF_SHAPE_WW;
}

static inline bool hf_reads_matter(const hf_verifier *v)
{
    return v->w->mixed || v->info->shape != HF_SHAPE_WW;
}

/* Levels whose transactions have a start that is not directly before the
 * commit.  Under prefix writers do not exclude each other. */
static inline bool hf_level_is_prefix(const hf_level_info *info)
{
    return info->shape == HF_SHAPE_AXIOM && (info->axiom & HF_AXIOM_PREFIX);
}

static inline bool hf_level_has_start(const hf_level_info *info)
{
    return info->shape == HF_SHAPE_SNAPSHOT || hf_level_is_prefix(info);
}

/* Each checks one family of witnesses. */
bool hf_verify_order(hf_verifier *v);
bool hf_verify_cycle(hf_verifier *v);
bool hf_verify_operations(hf_verifier *v);
bool hf_verify_core(hf_verifier *v);
bool hf_verify_proof(hf_verifier *v);
bool hf_verify_part_proof(hf_verifier *v); /* that lists a core */
/* What a core says about itself besides, if it is small: part.c. */
bool hf_verify_small(hf_verifier *v);

#endif
