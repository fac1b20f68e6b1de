/* crew.c: threads that work on the shards of a batch.
 *
 * While they do, the caller takes in the next batch; then it helps.  Which
 * thread takes which shard is not determined and does not matter.
 */
#include <pthread.h>

#include "watch/inside.h"

struct watch_crew {
    hf_watch *w;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    uint64_t batch;  /* counted; one more: there is work */
    uint32_t next;   /* shard nobody has taken */
    uint32_t active; /* shards that are not done */
    bool ends;
    unsigned n;
    pthread_t threads[];
};

/* Takes shards until there is none; the lock is held around it. */
static void work_off(struct watch_crew *c)
{
    while (c->next < SHARDS) {
        uint32_t i = c->next++;

        (void)pthread_mutex_unlock(&c->lock);
        hf_watch_shard_run(&c->w->shards[i]);
        (void)pthread_mutex_lock(&c->lock);
        if (--c->active == 0)
            (void)pthread_cond_broadcast(&c->done);
    }
}

static void *serve(void *user)
{
    struct watch_crew *c = user;
    uint64_t seen = 0;

    (void)pthread_mutex_lock(&c->lock);
    while (!c->ends) {
        if (c->batch == seen) {
            (void)pthread_cond_wait(&c->work, &c->lock);
            continue;
        }
        seen = c->batch;
        work_off(c);
    }
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

struct watch_crew *hf_watch_crew_new(hf_watch *w, unsigned threads)
{
    unsigned n = threads > 1 ? threads - 1 : 0;
    struct watch_crew *c = hf_alloc_zero(1, sizeof(*c) + n * sizeof(pthread_t));

    c->w = w;
    c->next = SHARDS;
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->work, NULL);
    (void)pthread_cond_init(&c->done, NULL);
    while (c->n < n && pthread_create(&c->threads[c->n], NULL, serve, c) == 0)
        c->n++;
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
        (void)pthread_join(c->threads[i], NULL);
    (void)pthread_mutex_destroy(&c->lock);
    (void)pthread_cond_destroy(&c->work);
    (void)pthread_cond_destroy(&c->done);
    hf_free(c);
}

void hf_watch_crew_start(struct watch_crew *c)
{
    (void)pthread_mutex_lock(&c->lock);
    HF_ASSERT(c->active == 0);
    c->next = 0;
    c->active = SHARDS;
    c->batch++;
    (void)pthread_cond_broadcast(&c->work);
    (void)pthread_mutex_unlock(&c->lock);
}

void hf_watch_crew_wait(struct watch_crew *c)
{
    (void)pthread_mutex_lock(&c->lock);
    work_off(c);
    while (c->active > 0)
        (void)pthread_cond_wait(&c->done, &c->lock);
    (void)pthread_mutex_unlock(&c->lock);
}
