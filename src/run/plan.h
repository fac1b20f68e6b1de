/* plan.h: an execution to be carried out: who runs when, and what each read
 * must see.
 *
 * Made from an observed execution and a prediction, carried out by control.h
 * on the embedded store; as a file (JSON) it is what replaying on a real
 * database starts from.  Transactions are named by their session and their
 * place in it, aborted ones counted; rows by table and primary key.
 */
#ifndef HF_RUN_PLAN_H
#define HF_RUN_PLAN_H

#include "base/json_out.h"
#include "base/mem.h"
#include "base/vec.h"
#include "history/history.h"

typedef enum hf_plan_wish {
    HF_PLAN_KEPT,    /* as observed */
    HF_PLAN_CHANGED, /* another source than observed */
    HF_PLAN_BEYOND   /* after the boundary: the observed source if it can be
                        had, no divergence if not */
} hf_plan_wish;

#define HF_PLAN_ANY (HF_NONE - 1)

typedef struct hf_plan_read {
    uint32_t key;    /* of the plan's keys */
    uint32_t source; /* place in the plan, HF_NONE: the initial version,
                        HF_PLAN_ANY: somebody who does not run */
    hf_plan_wish wish;
} hf_plan_read;

typedef struct hf_plan_txn {
    uint32_t session; /* from 0 */
    uint32_t index;   /* in its session, from 0 */
    hf_txn_id txn;    /* of the observed history */
    uint32_t first_read, n_reads;
    bool aborts; /* it did when observed, and is expected to again */
    bool cut;    /* only its beginning counts */
} hf_plan_txn;

typedef struct hf_plan {
    hf_arena arena;
    HF_VEC(hf_plan_txn) txns; /* in the order they run */
    HF_VEC(hf_plan_read) reads;
    HF_VEC(hf_str) keys; /* "table/key" */
} hf_plan;

/* What the plan is made from; see predict.h. */
typedef struct hf_plan_in {
    const hf_history *observed;
    const hf_txn_id *order; /* committed transactions, first to last */
    uint32_t n_order;
    /* by operation of the observed history: HF_NONE initial; HF_PLAN_AS_IS
     * for what was observed */
    const hf_txn_id *sources;
    /* by session: the last operation that counts; HF_NONE: all count */
    const hf_op_id *last;
} hf_plan_in;
#define HF_PLAN_AS_IS (HF_NONE - 1)

/* Aborted transactions are put before the next one of their session that
 * commits; those after the last one are left out. */
void hf_plan_make(hf_plan *ret, const hf_plan_in *in);
void hf_plan_release(hf_plan *p);

/* The members of the JSON object, without its braces. */
void hf_plan_write(const hf_plan *p, const hf_history *observed, hf_json *j);

/* "table/key", or the key alone; in the arena. */
hf_str hf_plan_key_name(const hf_history *h, hf_key_id key, hf_arena *arena);

#endif
