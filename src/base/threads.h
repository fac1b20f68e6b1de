/* threads.h: the same work on many pieces, by several threads.
 *
 * Pieces are numbered; which thread takes which is not determined, so a piece
 * writes only what is its own.  The result is then the same for any number
 * of threads.
 */
#ifndef HF_THREADS_H
#define HF_THREADS_H

#include <stdint.h>

unsigned hf_threads_available(void); /* at least 1 */

/* Calls work(user, i) for every i below n and returns when all are done.
 * With threads below 2, or if no thread can be started, the caller does it
 * all by itself. */
void hf_threads_run(unsigned threads, uint32_t n,
                    void (*work)(void *user, uint32_t i), void *user);

#endif
