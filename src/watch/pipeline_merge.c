/* pipeline_merge.c: the global level: a heap of blocks.
 *
 * Invariant: a client that has not left either has a head, and its first
 * event is in the heap, or is in `dry`; the watermark is the least promise of
 * the dry ones (but for those that are passed by).  So whatever is at the top
 * and not above the watermark is the least of all that will ever come.
 *
 * O(log clients) for each batch.
 */
#include <string.h>

#include "watch/pipeline_impl.h"

#define AHEAD 6u /* events; beyond the block it does no harm */

/* ---- the heap ------------------------------------------------------------ */

static void sift_down(hf_heap_entry *heap, size_t n, size_t i)
{
    hf_heap_entry e = heap[i];

    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= n)
            break;
        child += child + 1 < n && heap[child + 1].before < heap[child].before;
        if (heap[child].before >= e.before)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = e;
}

static void heap_add(hf_pipeline *p, uint64_t before,
                     hf_pipeline_client *client)
{
    size_t i = p->heap.n;

    hf_vec_push(&p->heap, (hf_heap_entry){before, client});
    while (i > 0 && p->heap.at[(i - 1) / 2].before > before) {
        p->heap.at[i] = p->heap.at[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    p->heap.at[i] = (hf_heap_entry){before, client};
}

static void heap_drop_top(hf_pipeline *p)
{
    hf_heap_entry last = p->heap.at[--p->heap.n];

    if (p->heap.n == 0)
        return;
    p->heap.at[0] = last;
    sift_down(p->heap.at, p->heap.n, 0);
}

/* ---- fetching, under the mutex ------------------------------------------- */

/* Events of times that are gone; and the rest of their transaction. */
static void set_late_aside(hf_pipeline *p, hf_pipeline_client *c,
                           hf_event_block *b)
{
    uint32_t kept = b->at;

    if (b->at == b->n ||
        (b->events[b->at].before >= p->done && c->late_txn == UINT64_MAX))
        return;
    for (uint32_t i = b->at; i < b->n; i++) {
        const hf_event *e = &b->events[i];

        if (e->before < p->done || e->txn == c->late_txn) {
            p->stats.late++;
            p->stats.late_txns += e->txn != c->late_txn;
            c->late_txn = e->txn;
            hf_vec_push(&p->late, *e);
        } else {
            b->events[kept++] = *e;
        }
    }
    b->n = kept;
}

/* The next block that has an event to go, under the mutex; NULL: dry.  Those
 * after it that are in memory come along: they are later than this one, which
 * will be in the heap, so none of them can become late. */
static hf_event_block *next_block(hf_pipeline *p, hf_pipeline_client *c)
{
    hf_event_queue *q = &c->local;
    hf_event_block *first = NULL, **last = &first;

    while (q->first < q->runs.n) {
        hf_event_run *run = &q->runs.at[q->first];
        hf_event_block *b;

        if (!run->block && (first || !hf_spill_in(p, run)))
            break;
        b = run->block;
        if (++q->first == q->runs.n)
            q->first = q->runs.n = 0;
        set_late_aside(p, c, b);
        if (b->at < b->n) {
            *last = b;
            last = &b->next;
        } else {
            hf_block_put(p, b);
        }
    }
    if (!first)
        return NULL;
    *last = NULL;
    c->ready = first->next;
    first->next = NULL;
    return first;
}

static void set_watermark(hf_pipeline *p)
{
    p->watermark = UINT64_MAX;
    for (size_t i = 0; i < p->dry.n; i++) {
        const hf_pipeline_client *c = p->dry.at[i];

        if (!c->passed && c->promise < p->watermark)
            p->watermark = c->promise;
    }
}

bool hf_pipeline_fetch(hf_pipeline *p)
{
    size_t kept = 0;
    bool some = false;

    for (size_t i = 0; i < p->dry.n; i++) {
        hf_pipeline_client *c = p->dry.at[i];

        c->head = next_block(p, c);
        if (c->head) {
            heap_add(p, c->head->events[c->head->at].before, c);
            c->passed = false;
            some = true;
        } else if (!c->left) {
            p->dry.at[kept++] = c;
        } else {
            hf_vec_push(&p->gone, c->number);
        }
    }
    p->dry.n = kept;
    set_watermark(p);
    return some;
}

/* ---- merging ------------------------------------------------------------- */

static void set_top(hf_pipeline *p, hf_pipeline_client *c, hf_event_block *b)
{
    c->head = b;
    p->heap.at[0].before = b->events[b->at].before;
    sift_down(p->heap.at, p->heap.n, 0);
}

/* The block at the top is used up: its next, or the client is dry. */
static void refill_top(hf_pipeline *p)
{
    hf_pipeline_client *c = p->heap.at[0].client;
    hf_event_block *b = c->ready;

    c->head->next = p->used;
    p->used = c->head;
    if (b) {
        c->ready = b->next;
        b->next = NULL;
        set_top(p, c, b);
        return;
    }
    pthread_mutex_lock(&p->mutex);
    hf_blocks_put_used(p);
    c->head = next_block(p, c);
    if (c->head) {
        set_top(p, c, c->head);
    } else {
        heap_drop_top(p);
        if (c->left)
            hf_vec_push(&p->gone, c->number);
        else
            hf_vec_push(&p->dry, c);
        if (!c->left && c->promise < p->watermark)
            p->watermark = c->promise;
    }
    pthread_mutex_unlock(&p->mutex);
}

/* How far the top may go: up to the second, and the watermark. */
static uint64_t limit_of(const hf_pipeline *p)
{
    const hf_heap_entry *h = p->heap.at;
    uint64_t limit = p->watermark;

    if (p->heap.n > 1 && h[1].before < limit)
        limit = h[1].before;
    if (p->heap.n > 2 && h[2].before < limit)
        limit = h[2].before;
    return limit;
}

size_t hf_pipeline_merge(hf_pipeline *p, hf_event *to, size_t most)
{
    uint64_t batches = 0;
    size_t n = 0;

    while (n < most && p->heap.n > 0 && p->heap.at[0].before <= p->watermark) {
        hf_event_block *b = p->heap.at[0].client->head;
        uint64_t limit = limit_of(p);
        uint32_t i = b->at, end = b->n;

        if (end - i > most - n)
            end = i + (uint32_t)(most - n);
        do { /* they were written by another core */
            __builtin_prefetch(&b->events[i + AHEAD]);
            to[n++] = b->events[i++];
        } while (i < end && b->events[i].before <= limit);
        b->at = i;
        p->done = to[n - 1].before;
        batches++;
        if (i == b->n) {
            refill_top(p);
        } else {
            p->heap.at[0].before = b->events[i].before;
            sift_down(p->heap.at, p->heap.n, 0);
        }
    }
    p->n_batches += batches;
    p->n_taken += n;
    return n;
}
