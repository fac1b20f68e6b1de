/* pipeline.c: local buffers of clients, waiting and stalls.
 *
 * The mutex is taken once for each push (a transaction, usually), or for each
 * block of what is put, and by the consumer when it takes all that a client has
 * in its queue: never for a single event.  It is held for a microsecond at
 * most, so who finds it taken spins before he sleeps.
 */
#include "watch/pipeline.h"

#include <time.h>
#include <unistd.h>

#include "base/budget.h"
#include "watch/pipeline_impl.h"

#define DEFAULT_BYTES ((size_t)64 << 20)
#define FEWEST_BLOCKS 16u
#define SMALL_FROM 256u /* clients */
/* A consumer that sleeps is woken for so many events, else it looks by itself
 * now and then. */
#define WAKE_EVENTS 16384u
#define LOOK_NS 5000000u

/* ---- blocks -------------------------------------------------------------- */

static size_t block_bytes(uint32_t room)
{
    return sizeof(hf_event_block) + room * sizeof(hf_event);
}

static size_t blocks_in_use(const hf_pipeline *p)
{
    return p->n_blocks + p->n_small / HF_SMALL_IN_BLOCK;
}

static bool is_full(const hf_pipeline *p)
{
    return blocks_in_use(p) >= p->most_blocks;
}

hf_event_block *hf_block_get(hf_pipeline *p, bool small)
{
    uint32_t room = small ? HF_SMALL_EVENTS : HF_BLOCK_EVENTS;
    hf_event_block **spare = small ? &p->free_small : &p->free_blocks;
    hf_event_block *b = *spare;

    if (b) {
        *spare = b->next;
        *(small ? &p->n_free_small : &p->n_free) -= 1;
    } else {
        b = hf_alloc_aligned(HF_CACHE_LINE, block_bytes(room));
        b->room = room;
    }
    b->next = NULL;
    b->at = b->n = 0;
    *(small ? &p->n_small : &p->n_blocks) += 1;
    return b;
}

void hf_block_put(hf_pipeline *p, hf_event_block *b)
{
    bool small = b->room == HF_SMALL_EVENTS;
    hf_event_block **spare = small ? &p->free_small : &p->free_blocks;

    *(small ? &p->n_small : &p->n_blocks) -= 1;
    if (p->n_free + p->n_free_small / HF_SMALL_IN_BLOCK > p->most_blocks) {
        hf_free(b);
    } else {
        b->next = *spare;
        *spare = b;
        *(small ? &p->n_free_small : &p->n_free) += 1;
    }
    /* not for a single block: it would wait again at once */
    if (p->held && blocks_in_use(p) <= p->low_blocks) {
        p->held = false;
        pthread_cond_broadcast(&p->room);
    }
}

void hf_blocks_put_used(hf_pipeline *p)
{
    while (p->used) {
        hf_event_block *b = p->used;

        p->used = b->next;
        hf_block_put(p, b);
    }
}

/* ---- life ---------------------------------------------------------------- */

hf_pipeline *hf_pipeline_new(const hf_pipeline_options *o)
{
    hf_pipeline *p = HF_NEW(hf_pipeline);
    size_t bytes = o->bytes ? o->bytes : DEFAULT_BYTES;
    pthread_mutexattr_t spins;
    pthread_condattr_t monotonic;

    p->o = *o;
    p->most_blocks = bytes / block_bytes(HF_BLOCK_EVENTS);
    if (p->most_blocks < FEWEST_BLOCKS)
        p->most_blocks = FEWEST_BLOCKS;
    p->ahead_blocks = o->ahead / block_bytes(HF_BLOCK_EVENTS);
    if (p->ahead_blocks < FEWEST_BLOCKS || p->ahead_blocks > p->most_blocks)
        p->ahead_blocks = p->most_blocks;
    p->low_blocks = p->ahead_blocks / 2;
    p->spill_fd = -1;
    p->watermark = UINT64_MAX;
    pthread_mutexattr_init(&spins);
    pthread_mutexattr_settype(&spins, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&p->mutex, &spins);
    pthread_mutexattr_destroy(&spins);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->work, &monotonic);
    pthread_cond_init(&p->room, NULL);
    pthread_condattr_destroy(&monotonic);
    return p;
}

static void free_blocks(hf_event_block *b)
{
    while (b) {
        hf_event_block *next = b->next;

        hf_free(b);
        b = next;
    }
}

void hf_pipeline_free(hf_pipeline *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->clients.n; i++) {
        hf_pipeline_client *c = p->clients.at[i];

        for (size_t k = c->local.first; k < c->local.runs.n; k++)
            hf_free(c->local.runs.at[k].block);
        hf_vec_release(&c->local.runs);
        free_blocks(c->ready);
        hf_free(c->draft);
        hf_free(c->head);
        hf_free(c);
    }
    free_blocks(p->free_blocks);
    free_blocks(p->free_small);
    free_blocks(p->used);
    hf_vec_release(&p->clients);
    hf_vec_release(&p->late);
    hf_vec_release(&p->gone);
    hf_vec_release(&p->spill_free);
    hf_merge_tree_release(&p->tree);
    hf_vec_release(&p->dry);
    hf_vec_release(&p->drafting);
    if (p->spill_fd >= 0)
        (void)close(p->spill_fd);
    pthread_mutex_destroy(&p->mutex);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->room);
    hf_free(p);
}

/* ---- producers ----------------------------------------------------------- */

uint32_t hf_pipeline_join(hf_pipeline *p, uint64_t from)
{
    hf_pipeline_client *c;

    pthread_mutex_lock(&p->mutex);
    if (p->gone.n > 0) {
        c = p->clients.at[p->gone.at[--p->gone.n]];
    } else {
        c = HF_NEW(hf_pipeline_client);
        c->number = (uint32_t)p->clients.n;
        hf_vec_push(&p->clients, c);
    }
    c->left = c->passed = c->stands_in = false;
    c->is_new = true;
    c->answered = 0;
    c->promise = from;
    c->last = from == UINT64_MAX ? 0 : from;
    c->bad_txn = c->late_txn = UINT64_MAX;
    c->heard_ns = hf_clock_ns();
    hf_vec_push(&p->dry, c);
    p->stats.clients++;
    pthread_mutex_unlock(&p->mutex);
    return c->number;
}

void hf_pipeline_stand_in(hf_pipeline *p, uint32_t client)
{
    pthread_mutex_lock(&p->mutex);
    p->clients.at[client]->stands_in = true;
    p->stats.clients--;
    pthread_mutex_unlock(&p->mutex);
}

static hf_event_run *last_run(hf_event_queue *q)
{
    return q->runs.n > q->first ? &q->runs.at[q->runs.n - 1] : NULL;
}

/* Under the mutex, which others have meanwhile: there is room, the consumer
 * needs more to go on with, or all is over. */
static void wait_for_room(hf_pipeline *p)
{
    p->held = true;
    while (p->held && !p->stopped && !p->starved) {
        uint64_t nudges = p->nudges;
        bool helped = false;

        if (p->o.help) {
            pthread_mutex_unlock(&p->mutex);
            helped = p->o.help(p->o.user);
            pthread_mutex_lock(&p->mutex);
        }
        if (!helped && nudges == p->nudges && p->held && !p->stopped &&
            !p->starved)
            pthread_cond_wait(&p->room, &p->mutex);
    }
}

/* A block for the client; waits until there may be one.  NULL: stopped. */
static hf_event_block *new_block(hf_pipeline *p, hf_pipeline_client *c)
{
    hf_event_run *last;

    if (blocks_in_use(p) >= p->ahead_blocks && !p->o.one_thread)
        wait_for_room(p);
    if (p->stopped)
        return NULL;
    /* the consumer may have taken it meanwhile */
    last = last_run(&c->local);
    if (is_full(p) && last && last->block && !hf_spill_out(p, last))
        return NULL;
    return hf_block_get(p, !last && p->clients.n > SMALL_FROM);
}

static void enqueue(hf_event_queue *q, hf_event_block *b)
{
    if (q->first > 64 && q->first * 2 > q->runs.n) { /* those gone */
        for (size_t i = q->first; i < q->runs.n; i++)
            q->runs.at[i - q->first] = q->runs.at[i];
        q->runs.n -= q->first;
        q->first = 0;
    }
    hf_vec_push(&q->runs, (hf_event_run){.block = b});
}

/* A block of the queue with room for an event; NULL: stopped. */
static hf_event_block *open_block(hf_pipeline *p, hf_pipeline_client *c)
{
    hf_event_run *last = last_run(&c->local);
    hf_event_block *b;

    if (last && last->block && last->block->n < last->block->room)
        return last->block;
    b = new_block(p, c);
    if (b)
        enqueue(&c->local, b);
    return b;
}

/* False: the event does not ascend, or its transaction did not before. */
static bool ascends(hf_pipeline *p, hf_pipeline_client *c, const hf_event *e)
{
    if (e->before >= c->last && e->txn != c->bad_txn)
        return true;
    p->stats.disordered++;
    p->stats.late_txns += e->txn != c->bad_txn;
    c->bad_txn = e->txn;
    hf_vec_push(&p->late, *e);
    p->late.at[p->late.n - 1].client = c->number;
    if (e->kind != HF_EVENT_SCAN && e->before < c->answered) {
        uint64_t back = (c->answered - e->before) / 1000 + 1;

        p->late.at[p->late.n - 1].extra =
            back < UINT32_MAX ? (uint32_t)back : UINT32_MAX;
    }
    return false;
}

static void write_event(hf_event_block *b, hf_pipeline_client *c,
                        const hf_event *e)
{
    hf_event *to = &b->events[b->n++];

    *to = *e;
    if (to->before == HF_NOTHING)
        to->before--;
    to->client = c->number;
    if (c->is_new)
        to->flags |= HF_EVENT_FIRST;
    c->is_new = false;
    c->last = e->before;
    if (e->after != UINT64_MAX && e->after > c->answered)
        c->answered = e->after;
}

/* So many events more of the client are in its queue. */
static void tell(hf_pipeline *p, hf_pipeline_client *c, size_t n)
{
    if (c->promise != UINT64_MAX && c->last > c->promise)
        c->promise = c->last;
    if (c->last > p->newest)
        p->newest = c->last;
    p->stats.waiting += n;
    p->fresh += n;
    if (p->waits && p->fresh >= WAKE_EVENTS)
        pthread_cond_signal(&p->work);
}

static bool push(hf_pipeline *p, hf_pipeline_client *c, const hf_event *events,
                 size_t n)
{
    hf_event_block *b = NULL;

    for (size_t i = 0; i < n; i++) {
        if (!ascends(p, c, &events[i]))
            continue;
        if (!b || b->n == b->room)
            b = open_block(p, c);
        if (!b)
            return false;
        write_event(b, c, &events[i]);
    }
    return !p->stopped;
}

/* The draft goes to the queue; under the mutex. */
static void hand_over(hf_pipeline *p, hf_pipeline_client *c)
{
    hf_event_block *b = c->draft;

    if (!b)
        return;
    c->draft = NULL;
    enqueue(&c->local, b);
    tell(p, c, b->n);
}

bool hf_pipeline_push(hf_pipeline *p, uint32_t client, const hf_event *events,
                      size_t n)
{
    hf_pipeline_client *c;
    bool fine;

    pthread_mutex_lock(&p->mutex);
    HF_ASSERT(client < p->clients.n);
    c = p->clients.at[client];
    HF_ASSERT(!c->left);
    if (p->o.stall_ns > 0)
        c->heard_ns = hf_clock_ns();
    hand_over(p, c);
    fine = push(p, c, events, n);
    tell(p, c, n);
    pthread_mutex_unlock(&p->mutex);
    return fine;
}

static void hand_over_all(hf_pipeline *p)
{
    for (size_t i = 0; i < p->drafting.n; i++) {
        p->drafting.at[i]->is_drafting = false;
        hand_over(p, p->drafting.at[i]);
    }
    p->drafting.n = 0;
    atomic_store_explicit(&p->asks, false, memory_order_relaxed);
}

/* A draft with room. */
static bool open_draft(hf_pipeline *p, hf_pipeline_client *c)
{
    pthread_mutex_lock(&p->mutex);
    hand_over(p, c);
    c->draft = new_block(p, c);
    if (!c->is_drafting)
        hf_vec_push(&p->drafting, c);
    c->is_drafting = true;
    pthread_mutex_unlock(&p->mutex);
    return c->draft != NULL;
}

/* An event that cannot stand where it is. */
static void set_aside(hf_pipeline *p, hf_pipeline_client *c, const hf_event *e)
{
    pthread_mutex_lock(&p->mutex);
    (void)ascends(p, c, e);
    p->stats.waiting++;
    pthread_mutex_unlock(&p->mutex);
}

bool hf_pipeline_put(hf_pipeline *p, uint32_t client, const hf_event *events,
                     size_t n)
{
    /* only this thread adds clients */
    hf_pipeline_client *c = p->clients.at[client];

    HF_ASSERT(!c->left && p->o.stall_ns == 0);
    for (size_t i = 0; i < n; i++) {
        if (events[i].before < c->last || events[i].txn == c->bad_txn) {
            set_aside(p, c, &events[i]);
            continue;
        }
        if ((!c->draft || c->draft->n == c->draft->room) && !open_draft(p, c))
            return false;
        write_event(c->draft, c, &events[i]);
    }
    if (atomic_load_explicit(&p->asks, memory_order_relaxed)) {
        pthread_mutex_lock(&p->mutex);
        hand_over_all(p);
        pthread_mutex_unlock(&p->mutex);
    }
    return true;
}

void hf_pipeline_promise(hf_pipeline *p, uint32_t client, uint64_t from)
{
    hf_pipeline_client *c;

    pthread_mutex_lock(&p->mutex);
    c = p->clients.at[client];
    hand_over(p, c);
    if (from > c->promise)
        c->promise = from;
    if (from > c->last)
        c->last = from;
    c->heard_ns = hf_clock_ns();
    pthread_mutex_unlock(&p->mutex);
}

void hf_pipeline_leave(hf_pipeline *p, uint32_t client)
{
    pthread_mutex_lock(&p->mutex);
    hand_over(p, p->clients.at[client]);
    if (!p->clients.at[client]->left)
        p->stats.clients--;
    p->clients.at[client]->left = true;
    pthread_mutex_unlock(&p->mutex);
}

void hf_pipeline_end(hf_pipeline *p)
{
    pthread_mutex_lock(&p->mutex);
    hand_over_all(p);
    for (size_t i = 0; i < p->clients.n; i++)
        p->clients.at[i]->left = true;
    p->stats.clients = 0;
    p->ended = true;
    pthread_cond_signal(&p->work);
    p->low_blocks = 0; /* to the end */
    if (p->o.help && !p->o.one_thread && blocks_in_use(p) > 0)
        wait_for_room(p);
    pthread_mutex_unlock(&p->mutex);
}

void hf_pipeline_nudge(hf_pipeline *p)
{
    pthread_mutex_lock(&p->mutex);
    p->nudges++;
    if (p->held)
        pthread_cond_broadcast(&p->room);
    pthread_mutex_unlock(&p->mutex);
}

void hf_pipeline_stop(hf_pipeline *p)
{
    pthread_mutex_lock(&p->mutex);
    p->stopped = true;
    pthread_cond_broadcast(&p->room);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->mutex);
}

/* ---- the consumer -------------------------------------------------------- */

/* Passes by clients that hold the others up for too long.  True: one was. */
static bool pass_by(hf_pipeline *p)
{
    uint64_t now;
    bool some = false;

    if (p->o.stall_ns == 0 || p->tree.n == 0)
        return false;
    now = hf_clock_ns();
    for (size_t i = 0; i < p->dry.n; i++) {
        hf_pipeline_client *c = p->dry.at[i];

        if (c->passed || c->promise >= hf_pipeline_first(p) ||
            now - c->heard_ns < p->o.stall_ns)
            continue;
        c->passed = some = true;
        if (c->stands_in)
            continue;
        p->stats.stalls++;
        p->stats.stalled_client = c->number;
    }
    return some;
}

static void sleep_until(hf_pipeline *p, uint64_t until)
{
    uint64_t now = hf_clock_ns(), wake = now + LOOK_NS;
    struct timespec t;

    if (wake > until)
        wake = until;
    t.tv_sec = (time_t)(wake / 1000000000u);
    t.tv_nsec = (long)(wake % 1000000000u);
    p->waits = true;
    p->fresh = 0;
    (void)pthread_cond_timedwait(&p->work, &p->mutex, &t);
    p->waits = false;
}

/* Under the mutex: is there something to merge?  Waits for it. */
static bool await(hf_pipeline *p, uint64_t until)
{
    for (;;) {
        bool some = hf_pipeline_fetch(p);

        if (pass_by(p))
            some |= hf_pipeline_fetch(p);
        if (p->tree.n > 0 && hf_pipeline_first(p) <= p->watermark) {
            p->starved = false;
            return true;
        }
        if (p->stopped || (p->ended && p->tree.n == 0 && p->dry.n == 0)) {
            p->is_done = true;
            return false;
        }
        atomic_store_explicit(&p->asks, true, memory_order_relaxed);
        if (!p->starved) {
            p->starved = true;
            pthread_cond_broadcast(&p->room);
        }
        if (hf_clock_ns() >= until)
            return false;
        sleep_until(p, until);
    }
}

static void publish(hf_pipeline *p)
{
    uint64_t passed = 0;

    p->stats.events = p->n_taken;
    p->stats.batches = p->n_batches;
    p->stats.lag_ns = p->newest > p->done ? p->newest - p->done : 0;
    for (size_t i = 0; i < p->dry.n; i++)
        passed += p->dry.at[i]->passed && !p->dry.at[i]->stands_in;
    p->stats.passed = (uint32_t)passed;
}

size_t hf_pipeline_take(hf_pipeline *p, hf_event *to, size_t most,
                        uint64_t wait_ns)
{
    uint64_t until = wait_ns > 0 ? hf_clock_ns() + wait_ns : 0;
    size_t n = 0;

    for (;;) {
        bool some;

        pthread_mutex_lock(&p->mutex);
        hf_blocks_put_used(p);
        some = await(p, n > 0 ? 0 : until);
        publish(p);
        pthread_mutex_unlock(&p->mutex);
        if (!some)
            return n;
        n += hf_pipeline_merge(p, to + n, most - n);
        if (n == most)
            return n;
    }
}

bool hf_pipeline_is_done(const hf_pipeline *p)
{
    return p->is_done;
}

uint64_t hf_pipeline_reached(const hf_pipeline *p)
{
    uint64_t reached = p->watermark;

    if (hf_pipeline_first(p) < reached)
        reached = hf_pipeline_first(p);
    return reached == UINT64_MAX || reached < p->done ? p->done : reached;
}

size_t hf_pipeline_take_late(hf_pipeline *p, hf_event *to, size_t most)
{
    size_t n;

    pthread_mutex_lock(&p->mutex);
    n = p->late.n < most ? p->late.n : most;
    for (size_t i = 0; i < n; i++)
        to[i] = p->late.at[i];
    for (size_t i = n; i < p->late.n; i++)
        p->late.at[i - n] = p->late.at[i];
    p->late.n -= n;
    pthread_mutex_unlock(&p->mutex);
    return n;
}

void hf_pipeline_look(hf_pipeline *p, hf_pipeline_stats *ret)
{
    pthread_mutex_lock(&p->mutex);
    *ret = p->stats;
    ret->waiting -= ret->events + ret->late + ret->disordered;
    ret->bytes = (p->n_blocks + p->n_free) * block_bytes(HF_BLOCK_EVENTS) +
                 (p->n_small + p->n_free_small) * block_bytes(HF_SMALL_EVENTS) +
                 p->late.cap * sizeof(hf_event);
    pthread_mutex_unlock(&p->mutex);
}
