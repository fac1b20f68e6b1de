/* cycle_name.h: what a cycle of dependencies is called. */
#ifndef HF_CYCLE_NAME_H
#define HF_CYCLE_NAME_H

#include "history/history.h"
#include "model/witness.h"

/* The class by the table of the catalog: the first line that fits, with its
 * session or real-time form. */
hf_anomaly hf_cycle_name(const hf_edge *edges, uint32_t n);

/* Its well-known form, "write skew", or NULL.  Static. */
const char *hf_cycle_alias(const hf_history *h, const hf_edge *edges,
                           uint32_t n);

/* For two transactions: the read that is too old comes in a later operation
 * than the one that made the other visible. */
bool hf_cycle_is_otv(const hf_edge *edges, uint32_t n);
/* T2 rw T1 ww T2 on one key, or rw both ways. */
bool hf_cycle_is_lost_update(const hf_edge *edges, uint32_t n);

#endif
