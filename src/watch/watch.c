/* watch.c: the engine from outside: keys, batches, figures.
 *
 * See inside.h for the stages.  Events are handed over in batches; while one
 * is judged the next is taken in, with threads or without, so that the order
 * of things is the same.
 *
 * The horizon (inside.h) is the begin of the oldest transaction that runs, or
 * has ended but whose last call may not be over yet for someone else's clock.
 */
#include "watch/inside.h"

#include <string.h>

#define BATCH_EVENTS 2048u
#define SLAB_PAGES 128u /* 2 MiB of keys */

/* ---- making and freeing -------------------------------------------------- */

static const generations no_generations = {{FOR_EVER, 0}, {FOR_EVER, 0}};

hf_watch *hf_watch_new(const hf_watch_options *options)
{
    hf_watch *w = HF_NEW(hf_watch);
    const hf_profile *p = options->profile;

    w->options = *options;
    w->profile = *p;
    w->error = options->clock_error + p->slack;
    w->locks = p->lock != HF_WATCH_LOCK_NONE;
    w->fuw = p->first_updater_wins || p->certifier == HF_WATCH_SC_PERCOLATOR;
    w->free_inserts = w->fuw && !p->inserts_conflict && !p->one_writer;
    /* without locks an insert may come after all who commit with it */
    w->fuw_sharpens =
        w->fuw && p->snapshot != HF_WATCH_AT_ANY &&
        (w->locks || (p->snapshot != HF_WATCH_AT_READ && !w->free_inserts));
    w->tracks_reads = p->certifier != HF_WATCH_SC_NONE &&
                      p->certifier != HF_WATCH_SC_PERCOLATOR;
    w->direct_only = p->certifier == HF_WATCH_SC_SSI;
    w->all_edges =
        p->certifier == HF_WATCH_SC_TO || p->certifier == HF_WATCH_SC_CYCLE;
    w->instants = p->read == HF_WATCH_READ_STATEMENT ||
                  p->read == HF_WATCH_READ_TRANSACTION;
    w->unripe = w->recent = no_generations;
    w->past = HF_NEW_ZEROED(past_write, PAST_WRITES);
    if (w->options.batch == 0)
        w->options.batch = BATCH_EVENTS;
    for (uint32_t i = 0; i < SHARDS; i++)
        hf_watch_shard_init(&w->shards[i], w);
    w->join = hf_watch_join_new(w);
    if (options->threads > 1 || options->helpers)
        w->crew = hf_watch_crew_new(w, options->threads);
    return w;
}

static void txn_release(watch_txn *t)
{
    hf_vec_release(&t->writes);
    hf_vec_release(&t->doubtful);
    hf_vec_release(&t->locks);
    hf_vec_release(&t->rows);
    hf_vec_release(&t->places);
}

void hf_watch_free(hf_watch *w)
{
    if (!w)
        return;
    if (w->crew && w->has_batch)
        hf_watch_crew_wait(w->crew);
    hf_watch_crew_free(w->crew);
    hf_watch_join_free(w->join);
    for (uint32_t i = 0; i < SHARDS; i++)
        hf_watch_shard_release(&w->shards[i]);
    for (size_t i = 0; i < w->txns.n; i++)
        txn_release(&w->txns.at[i]);
    hf_watch_scans_release(w);
    for (size_t i = 0; i < w->slabs.n; i++)
        hf_pages_release(w->slabs.at[i].keys,
                         w->slabs.at[i].n * PAGE_KEYS * sizeof(watch_key));
    for (size_t i = 0; i < w->old_tables.n; i++)
        hf_free(w->old_tables.at[i]);
    hf_vec_release(&w->totals);
    hf_vec_release(&w->slabs);
    hf_vec_release(&w->old_tables);
    hf_free((void *)w->pages);
    hf_vec_release(&w->txns);
    hf_vec_release(&w->free_txns);
    hf_vec_release(&w->clients);
    hf_vec_release(&w->found);
    hf_vec_release(&w->ready);
    hf_vec_release(&w->violations);
    hf_vec_release(&w->ready_violations);
    hf_free(w->whole);
    hf_free(w->past);
    hf_free(w);
}

static void grow_table(hf_watch *w, uint32_t page)
{
    uint32_t room = w->page_room ? w->page_room : 64;
    watch_key **more;

    while (room <= page)
        room *= 2;
    more = HF_NEW_ZEROED(watch_key *, room);
    if (w->pages) {
        memcpy(more, w->pages, w->page_room * sizeof(*more));
        hf_vec_push(&w->old_tables, (void *)w->pages);
    }
    w->pages = more;
    w->page_room = room;
}

void hf_watch_new_page(hf_watch *w, uint32_t at)
{
    watch_key *page;

    if (at >= w->page_room)
        grow_table(w, at);
    if (w->slab_left == 0) {
        size_t n = w->n_pages < SLAB_PAGES ? w->n_pages + 1 : SLAB_PAGES;

        w->slab = hf_pages_get(n * PAGE_KEYS * sizeof(watch_key));
        hf_vec_push(&w->slabs, (key_slab){w->slab, n});
        w->slab_left = n;
    }
    page = w->slab + --w->slab_left * PAGE_KEYS;
    w->n_pages++;
    for (uint32_t i = 0; i < PAGE_KEYS; i++)
        hf_watch_key_init(&page[i], HF_WATCH_INITIAL_UNKNOWN, 0);
    w->pages[at] = page;
}

void hf_watch_key(hf_watch *w, uint32_t key, hf_watch_initial initial,
                  uint64_t value)
{
    if (key >= WHOLE_DATABASE)
        return;
    hf_watch_page(w, key);
    if (key_at(w, key)->row == NO_ID) /* it was not met yet */
        hf_watch_key_init(key_at(w, key), initial, value);
}

/* ---- batches ------------------------------------------------------------- */

/* The least of those whose greatest is not below `limit`, or `least`. */
static uint64_t generations_least(generations *g, uint64_t limit,
                                  uint64_t least)
{
    if (g->old.greatest < limit) {
        g->old = g->young;
        g->young = no_generations.young;
    }
    if (g->old.least < least)
        least = g->old.least;
    return g->young.least < least ? g->young.least : least;
}

static void set_horizon(hf_watch *w)
{
    uint64_t running = w->now;

    for (size_t i = 0; i < w->clients.n; i++) {
        uint32_t at = w->clients.at[i].txn;

        if (at != NO_ID && !w->txns.at[at].is_spoiled &&
            w->txns.at[at].first_lo < running)
            running = w->txns.at[at].first_lo;
    }
    /* what ripens only now is judged among the items of this batch, and its
     * candidates stay until then */
    w->horizon = generations_least(&w->unripe, w->judged_now, running);
    w->live = generations_least(&w->recent, running, w->horizon);
}

/* Everything of the batch that is being judged is judged and told. */
static void drain(hf_watch *w)
{
    if (!w->has_batch)
        return;
    if (w->crew)
        hf_watch_crew_wait(w->crew);
    else
        for (uint32_t i = 0; i < SHARDS; i++)
            hf_watch_shard_run(&w->shards[i]);
    w->has_batch = false;
    hf_watch_join_batch(w, w->judged_horizon);
}

#define SWAP(type, a, b)                                                       \
    do {                                                                       \
        type keep_;                                                            \
        memcpy(&keep_, &(a), sizeof(keep_));                                   \
        memcpy(&(a), &(b), sizeof(keep_));                                     \
        memcpy(&(b), &keep_, sizeof(keep_));                                   \
    } while (0)

typedef HF_VEC(char) any_vec;

/* Hands over what has come in. */
static void cut(hf_watch *w)
{
    drain(w);
    set_horizon(w);
    hf_watch_scans_trim(w);
    for (uint32_t i = 0; i < SHARDS; i++) {
        watch_shard *s = &w->shards[i];

        SWAP(any_vec, s->items, s->next);
        s->pages = w->pages;
        s->now = w->now;
        s->horizon = w->horizon;
        s->live = w->live;
    }
    SWAP(any_vec, w->found, w->ready);
    SWAP(any_vec, w->violations, w->ready_violations);
    w->judged_horizon = w->horizon;
    w->judged_now = w->now;
    w->has_batch = true;
    w->in_batch = 0;
    if (w->crew)
        hf_watch_crew_start(w->crew);
}

bool hf_watch_feed(hf_watch *w, const hf_event *events, size_t n)
{
    for (size_t i = 0; i < n && !w->stopped; i++) {
        hf_watch_take(w, &events[i]);
        if (++w->in_batch >= w->options.batch)
            cut(w);
    }
    return !w->stopped;
}

void hf_watch_feed_late(hf_watch *w, const hf_event *events, size_t n)
{
    for (size_t i = 0; i < n && !w->stopped; i++) {
        hf_watch_take_late(w, &events[i]);
        if (++w->in_batch >= w->options.batch)
            cut(w);
    }
}

bool hf_watch_advance(hf_watch *w, uint64_t t)
{
    if (w->stopped || w->finished)
        return !w->stopped;
    if (t > w->watermark) {
        w->watermark = t;
        w->now = t > w->error ? t - w->error : 0;
    }
    cut(w);
    drain(w);
    return !w->stopped;
}

uint64_t hf_watch_reached(const hf_watch *w)
{
    return w->watermark;
}

bool hf_watch_help(hf_watch *w)
{
    return w->crew && hf_watch_crew_help(w->crew);
}

void hf_watch_lost(hf_watch *w, uint32_t client)
{
    if (client < w->clients.n && w->clients.at[client].txn != NO_ID) {
        uint32_t slot = w->clients.at[client].txn;

        hf_watch_end_maybe(w, slot, w->txns.at[slot].last_ok);
    }
}

bool hf_watch_finish(hf_watch *w)
{
    if (w->finished)
        return !w->stopped;
    for (size_t i = 0; i < w->clients.n; i++)
        if (w->clients.at[i].txn != NO_ID)
            hf_watch_scan_close(w, w->clients.at[i].txn);
    w->finished = true;
    cut(w);
    w->now = FOR_EVER;
    cut(w);
    drain(w);
    return !w->stopped;
}

/* ---- figures ------------------------------------------------------------- */

static void add_counts(hf_watch_stats *to, const hf_watch_stats *s)
{
    to->reads_judged += s->reads_judged;
    to->versions_kept += s->versions_kept;
    for (unsigned i = 0; i < HF_WATCH_DEPENDENCY_COUNT; i++) {
        to->certain[i] += s->certain[i];
        to->deduced[i] += s->deduced[i];
        to->uncertain[i] += s->uncertain[i];
    }
    for (unsigned i = 0; i < HF_UNJUDGED_COUNT; i++)
        to->unjudged[i] += s->unjudged[i];
}

void hf_watch_stats_get(hf_watch *w, hf_watch_stats *ret)
{
    drain(w);
    *ret = w->stats;
    ret->watermark = w->watermark;
    ret->bytes = w->n_pages * PAGE_KEYS * sizeof(watch_key) + sizeof(*w) +
                 w->whole_room * sizeof(*w->whole) +
                 PAST_WRITES * sizeof(*w->past);
    for (uint32_t i = 0; i < SHARDS; i++) {
        const watch_shard *s = &w->shards[i];

        add_counts(ret, &s->stats);
        ret->locks_kept += s->lock_ring.end - s->lock_ring.begin + s->open.n;
        ret->readers_kept += s->reader_ring.end - s->reader_ring.begin;
        ret->bytes +=
            s->bytes +
            (s->items.cap + s->next.cap + s->heap.cap) * sizeof(watch_item) +
            s->found.cap * sizeof(watch_finding) +
            s->violations.cap * sizeof(hf_violation) +
            (s->lock_ring.mask + 1ul) * sizeof(watch_held) +
            (s->reader_ring.mask + 1ul) * sizeof(watch_reader);
    }
    for (size_t i = 0; i < w->clients.n; i++)
        ret->running += w->clients.at[i].txn != NO_ID;
    hf_watch_join_stats(w->join, ret);
}
