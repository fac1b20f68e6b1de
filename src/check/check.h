/* check.h: engines that judge a whole history.
 *
 * Each engine is one row of the table in check.c and one or a few files.
 */
#ifndef HF_CHECK_H
#define HF_CHECK_H

#include "base/budget.h"
#include "history/history.h"
#include "model/witness.h"
#include "sql/sql.h"

/* Orders that a search may begin with. */
typedef enum hf_hint {
    HF_HINT_AUTO = 0, /* each that the history has, in turn */
    HF_HINT_SERIAL,   /* the recorded serial order */
    HF_HINT_COMMIT,   /* by the begin of the commit call */
    HF_HINT_TIMES,    /* starts by begin, commits by end */
    HF_HINT_END,
    HF_HINT_BEGIN,
    HF_HINT_MIDDLE,
    HF_HINT_FILE,
    HF_HINT_COUNT
} hf_hint;

/* How to judge; all zero is the default. */
typedef struct hf_check_options {
    unsigned assume;  /* HF_REST_*: what the user promises about the data */
    unsigned threads; /* 0: as many as the machine has */
    uint32_t most;    /* findings kept of each anomaly; 0: a default */
    hf_sql_dialect dialect; /* of conditions */
    /* conditions parsed before, of that dialect; NULL: none are kept */
    hf_sql_cache *cache;
    /* who is asked about conditions that we cannot judge; NULL: nobody */
    const struct hf_sql_oracle_kind *oracle;
    unsigned order; /* replay: one of HF_REST_EXPECTED; 0: as recorded */
    /* A transaction that names a level is judged by it, the others by the one
     * that is asked about (docs/semantics.md, "Mixed levels"). */
    bool mixed;
    unsigned hint; /* polygraph: an order to begin with, hf_hint; never proof */
    bool eager;    /* polygraph, to compare: all pairs are chosen at once */
    /* polygraph: a proof takes no read-modify-write chain for granted; one that
     * is there among some transactions need not be among all */
    bool no_chains;
    /* polygraph, to compare: what it does not know stays unknown, however few
     * transactions there are */
    bool no_enumeration;
    /* polygraph, asked about a part (poly_core.c): the search and no more; that
     * it leaves no world is enough */
    bool is_part;
    /* certificate, to compare: a component with more transactions is a large
     * one; 0: a default */
    uint32_t large;
    /* certificate, to compare: conditions share trees, however few they are */
    bool share;
} hf_check_options;
#define HF_CHECK_HAS_EAGER 1

typedef struct hf_engine {
    const char *name;    /* "brute" */
    const char *summary; /* one line */
    /* Fills a fresh result (caller frees with hf_result_free).  Fails only
     * if the question makes no sense; limits give verdict unknown.
     * `options` may be NULL. */
    hf_status (*check)(const hf_history *h, hf_level level,
                       const hf_check_options *options, hf_budget *budget,
                       hf_result **ret, hf_error *err);
    /* Is it worth asking about this history, if the user leaves the choice
     * to us?  NULL: always. */
    bool (*suits)(const hf_history *h);
    bool mixed;     /* knows hf_check_options.mixed; the others say unknown */
    bool last_word; /* if it does not know, its reason counts */
} hf_engine;

/* NULL after the last. */
const hf_engine *hf_engine_at(unsigned index);
const hf_engine *hf_engine_find(hf_str name);

/* Asks the engine; NULL: each that suits in turn until one knows.  If none
 * does the first answer stays: the later ones are for smaller histories, and
 * say so. */
HF_MUST_USE hf_status hf_engine_ask(const hf_engine *engine,
                                    const hf_history *h, hf_level level,
                                    const hf_check_options *options,
                                    hf_budget *budget, hf_result **ret,
                                    hf_error *err);

#endif
