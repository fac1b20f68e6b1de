/* mixed.h: orders of transactions with different levels.  Private to verify/.
 */
#ifndef HF_MIXED_H
#define HF_MIXED_H

#include "verify/world.h"

/* A snapshot order.  at, place and n of the world are filled; per transaction
 * its events, HF_NONE if it is not in the order. */
bool hf_verify_mixed(hf_verifier *v, hf_world *w, const uint32_t *start,
                     const uint32_t *commit);

#endif
