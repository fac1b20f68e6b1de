/* claim.h: reading a claim, between the files that do.  Private to verify/. */
#ifndef HF_CLAIM_H
#define HF_CLAIM_H

#include "base/json_in.h"
#include "verify/verify.h"

/* A value passed over, to be read later. */
typedef struct hf_claim_part {
    hf_str text;
    uint64_t line;
    bool present;
} hf_claim_part;

bool hf_claim_pass(hf_json_in *j, hf_claim_part *ret);
/* The key that is written so; HF_NONE: none is.  O(keys). */
hf_key_id hf_claim_key(const hf_history *h, const hf_claim_part *name);

/* An id below `limit`. */
bool hf_claim_id(hf_json_in *j, uint32_t limit, const char *what,
                 uint32_t *ret);
bool hf_claim_id_or_null(hf_json_in *j, uint32_t limit, const char *what,
                         uint32_t *ret);

/* With what its read is taken to return, if that is asked for. */
bool hf_claim_edge(const hf_history *h, hf_json_in *j, hf_edge *ret,
                   uint32_t *ret_chosen);
/* The array of a proof's steps. */
void hf_claim_steps(const hf_history *h, hf_json_in *j, hf_arena *arena,
                    hf_witness *ret);

void *hf_claim_copy(hf_arena *arena, const void *from, size_t count,
                    size_t size);

#endif
