/* certificate.h: does a certificate speak about what happened? */
#ifndef HF_CERTIFICATE_H
#define HF_CERTIFICATE_H

#include "history/history.h"

/* A version order lists every committed writer of its key (unless orders may
 * be partial, or the file is cut off) and nobody who did not write it or
 * aborted, each once; the expected serial order lists every committed
 * transaction once and no aborted one.  Version orders, serial order and
 * commit times do not have two writers of one key in opposite orders; times
 * are not compared with version orders that go in a circle, which is an
 * anomaly, unless snapshots are given by time.  No snapshot by time is later
 * than the commit of its transaction (a reader that starts and commits at one
 * time excepted: that one is then not when it ended).  Equal and missing times
 * contradict nothing.
 *
 * HF_ERR_INPUT and the first contradiction otherwise.  No certificate: HF_OK.
 * Linear in the certificate and the operations of the history. */
HF_MUST_USE hf_status hf_certificate_check(const hf_history *h, hf_error *err);

#endif
