/* operations.h: the operations of an anomaly without a cycle, between the
 * files that check them.  Private to verify/. */
#ifndef HF_OPERATIONS_H
#define HF_OPERATIONS_H

#include "verify/certain.h"

/* One operation of the witness. */
typedef struct hf_cited {
    hf_op_id op;
    hf_txn_id t;
    hf_key_id key; /* HF_NONE for a predicate operation */
    hf_op_kind kind;
} hf_cited;

/* "the operations do not show <anomaly>: why"; false. */
bool hf_refuse_steps(const hf_certain *c, const char *why);

/* operations.c: do these show it, of those that happened, and is it forbidden?
 * What it is not, v has as a reason to refuse. */
bool hf_operations_show(const hf_certain *c, hf_anomaly anomaly,
                        const hf_op_id *ops, uint32_t n);

/* versions.c */
bool hf_check_cyclic_versions(const hf_certain *c, const hf_cited *s,
                              uint32_t n);
/* stamps.c */
bool hf_check_outside_snapshot(const hf_certain *c, const hf_cited *s,
                               uint32_t n);
bool hf_check_concurrent_write(const hf_certain *c, const hf_cited *s,
                               uint32_t n);

#endif
