/* certificate.h: does a certificate speak about what happened? */
#ifndef HF_CERTIFICATE_H
#define HF_CERTIFICATE_H

#include "history/history.h"

/* A version order may only list transactions that wrote the key and did not
 * abort, each once; the expected serial order lists every committed
 * transaction once and no aborted one, and agrees with the version orders.
 * HF_ERR_INPUT and the first contradiction otherwise.  No certificate: HF_OK.
 * Linear in the certificate and the operations of the transactions it names. */
HF_MUST_USE hf_status hf_certificate_check(const hf_history *h, hf_error *err);

#endif
