/* crew.c: threads that work on the shards of a batch.
 *
 * While they do, the caller takes in the next batch; then it helps, as others
 * may who have nothing better to do (hf_watch_help()).  Which
 * thread takes which shard does not matter to what is found; each begins at a
 * place of its own, so that the keys of a shard mostly stay in one cache.
 *
 * A shard is taken by writing the batch's number to it: who comes late, with
 * the number of a batch that is over, finds an equal or a greater one.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "watch/inside.h"

/* What is left when the caller has nothing more to do is soon done. */
#define SPINS 400u

typedef struct crew_thread {
    struct watch_crew *crew;
    pthread_t thread;
    uint32_t first; /* shard it begins with */
} crew_thread;

struct watch_crew {
    hf_watch *w;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    _Atomic(uint64_t) batch;         /* counted; one more: there is work */
    _Atomic(uint64_t) taken[SHARDS]; /* the last batch of each */
    _Atomic(uint32_t) active;        /* shards that are not done */
    bool ends;                       /* under the lock */
    unsigned n;
    crew_thread threads[];
};

/* Takes shards until there is none.  True: it had some. */
static bool work_off(struct watch_crew *c, uint32_t first)
{
    uint64_t batch = atomic_load(&c->batch);
    bool some = false;

    for (uint32_t k = 0; k < SHARDS; k++) {
        uint32_t i = (first + k) % SHARDS;
        uint64_t last = atomic_load(&c->taken[i]);

        if (last >= batch ||
            !atomic_compare_exchange_strong(&c->taken[i], &last, batch))
            continue;
        some = true;
        hf_watch_shard_run(&c->w->shards[i]);
        if (atomic_fetch_sub(&c->active, 1) == 1) {
            (void)pthread_mutex_lock(&c->lock);
            (void)pthread_cond_broadcast(&c->done);
            (void)pthread_mutex_unlock(&c->lock);
        }
    }
    return some;
}

static void *serve(void *user)
{
    const crew_thread *t = user;
    struct watch_crew *c = t->crew;
    uint64_t seen = 0;

    (void)pthread_mutex_lock(&c->lock);
    while (!c->ends) {
        if (atomic_load(&c->batch) == seen) {
            (void)pthread_cond_wait(&c->work, &c->lock);
            continue;
        }
        seen = atomic_load(&c->batch);
        (void)pthread_mutex_unlock(&c->lock);
        (void)work_off(c, t->first);
        (void)pthread_mutex_lock(&c->lock);
    }
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

struct watch_crew *hf_watch_crew_new(hf_watch *w, unsigned threads)
{
    unsigned n = threads > 1 ? threads - 1 : 0;
    struct watch_crew *c =
        hf_alloc_zero(1, sizeof(*c) + n * sizeof(crew_thread));

    c->w = w;
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->work, NULL);
    (void)pthread_cond_init(&c->done, NULL);
    for (; c->n < n; c->n++) {
        crew_thread *t = &c->threads[c->n];

        t->crew = c;
        t->first = (c->n + 1) * SHARDS / threads; /* the caller's is 0 */
        if (pthread_create(&t->thread, NULL, serve, t) != 0)
            break;
    }
    return c;
}

void hf_watch_crew_free(struct watch_crew *c)
{
    if (!c)
        return;
    (void)pthread_mutex_lock(&c->lock);
    c->ends = true;
    (void)pthread_cond_broadcast(&c->work);
    (void)pthread_mutex_unlock(&c->lock);
    for (unsigned i = 0; i < c->n; i++)
        (void)pthread_join(c->threads[i].thread, NULL);
    (void)pthread_mutex_destroy(&c->lock);
    (void)pthread_cond_destroy(&c->work);
    (void)pthread_cond_destroy(&c->done);
    hf_free(c);
}

void hf_watch_crew_start(struct watch_crew *c)
{
    HF_ASSERT(atomic_load(&c->active) == 0);
    atomic_store(&c->active, SHARDS);
    (void)pthread_mutex_lock(&c->lock);
    atomic_fetch_add(&c->batch, 1);
    (void)pthread_cond_broadcast(&c->work);
    (void)pthread_mutex_unlock(&c->lock);
    if (c->w->options.helpers)
        c->w->options.helpers(c->w->options.user);
}

bool hf_watch_crew_help(struct watch_crew *c)
{
    return work_off(c, SHARDS / 2);
}

void hf_watch_crew_wait(struct watch_crew *c)
{
    (void)work_off(c, 0);
    for (unsigned i = 0; i < SPINS && atomic_load(&c->active) > 0; i++)
        atomic_thread_fence(memory_order_acquire);
    if (atomic_load(&c->active) == 0)
        return;
    (void)pthread_mutex_lock(&c->lock);
    while (atomic_load(&c->active) > 0)
        (void)pthread_cond_wait(&c->done, &c->lock);
    (void)pthread_mutex_unlock(&c->lock);
}
