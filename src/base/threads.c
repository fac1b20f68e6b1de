/* threads.c: see threads.h.  Pieces are handed out by one atomic counter. */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/mem.h"

#define MOST_THREADS 64u

typedef struct crew {
    atomic_uint_least32_t next;
    uint32_t n;
    void (*work)(void *user, uint32_t i);
    void *user;
} crew;

unsigned hf_threads_available(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > (long)MOST_THREADS ? MOST_THREADS : (unsigned)n;
}

static void *take_pieces(void *p)
{
    crew *c = p;
    uint32_t i;

    while ((i = atomic_fetch_add(&c->next, 1)) < c->n)
        c->work(c->user, i);
    return NULL;
}

void hf_threads_run(unsigned threads, uint32_t n,
                    void (*work)(void *user, uint32_t i), void *user)
{
    crew c = {.n = n, .work = work, .user = user};
    pthread_t others[MOST_THREADS];
    unsigned started = 0;

    if (threads > n)
        threads = n;
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    while (started + 1 < threads &&
           pthread_create(&others[started], NULL, take_pieces, &c) == 0)
        started++;
    take_pieces(&c);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(others[i], NULL);
}
