/* proved.h: histories of the embedded store, and proofs that are accepted. */
#ifndef HF_TEST_PROVED_H
#define HF_TEST_PROVED_H

#include "model/witness.h"
#include "verify/verify.h"
#include "workload/generate.h"

/* Stops the program if that cannot be made. */
hf_history *store_history(const hf_generate_options *o);

/* The witness, written as JSON and read back, is accepted; else why not is in
 * the error.  session may be NULL. */
bool is_proved(hf_verify_session *session, const hf_history *h,
               const hf_result *result, const hf_witness *w, hf_error *why);

#endif
