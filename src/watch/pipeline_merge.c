/* pipeline_merge.c: the global level: a tournament of blocks.
 *
 * Invariant: a client that has not left either has a head, and its first
 * event is in the tree, or is in `dry`; the watermark is the least promise of
 * the dry ones (but for those that are passed by).  So whatever is at the top
 * and not above the watermark is the least of all that will ever come.
 *
 * A heap has two comparisons on each level that no processor can guess, and
 * each waits for the one before; here all that a level needs but the time that
 * comes from below is known in advance.
 *
 * O(log clients) for each event.
 */
#include <string.h>

#include "watch/pipeline_impl.h"

#define AHEAD 6u /* events; beyond the block it does no harm */

/* ---- the tournament ------------------------------------------------------ */

void hf_merge_tree_release(hf_merge_tree *t)
{
    hf_free(t->nodes);
    hf_free(t->leaves);
    hf_vec_release(&t->spare);
}

/* The leaf has another first event: up to the root, which is returned.  The way
 * is known before it is gone, so that no level waits for the one below. */
static inline hf_merge_node set_leaf(hf_merge_tree *t, hf_merge_node first)
{
    hf_merge_node *nodes = t->nodes;
    size_t i = (size_t)t->room + first.leaf;

    nodes[i].before = first.before;
    for (; i > 1; i >>= 1) {
        hf_merge_node other = nodes[i ^ 1];
        /* nobody can guess which, so there is no branch */
        uint64_t is_less = -(uint64_t)(other.before < first.before);

        first.before ^= (first.before ^ other.before) & is_less;
        first.leaf ^= (first.leaf ^ other.leaf) & (uint32_t)is_less;
        nodes[i >> 1] = first;
    }
    return first;
}

static void grow_tree(hf_merge_tree *t)
{
    hf_merge_tree old = *t;

    t->room = old.room ? old.room * 2 : 16;
    t->nodes = HF_NEW_ARRAY(hf_merge_node, (size_t)t->room * 2);
    t->leaves = HF_NEW_ZEROED(hf_merge_leaf, t->room);
    if (old.room > 0)
        memcpy(t->leaves, old.leaves, old.room * sizeof(*old.leaves));
    for (uint32_t i = 0; i < t->room; i++)
        t->nodes[t->room + i] = (hf_merge_node){
            i < old.room ? old.nodes[old.room + i].before : HF_NOTHING, i};
    for (uint32_t i = t->room; i > old.room; i--)
        hf_vec_push(&t->spare, i - 1);
    for (uint32_t i = t->room; i-- > 1;)
        t->nodes[i] = t->nodes[2 * i + (t->nodes[2 * i + 1].before <
                                        t->nodes[2 * i].before)];
    hf_free(old.nodes);
    hf_free(old.leaves);
}

/* The client goes on with this block. */
static void set_head(hf_merge_tree *t, hf_pipeline_client *c, hf_event_block *b)
{
    c->head = b;
    t->leaves[c->leaf] =
        (hf_merge_leaf){&b->events[b->at], &b->events[b->n], c};
    (void)set_leaf(t, (hf_merge_node){b->events[b->at].before, c->leaf});
}

static void add_leaf(hf_merge_tree *t, hf_pipeline_client *c, hf_event_block *b)
{
    if (t->spare.n == 0)
        grow_tree(t);
    c->leaf = t->spare.at[--t->spare.n];
    t->n++;
    set_head(t, c, b);
}

static void drop_leaf(hf_merge_tree *t, uint32_t leaf)
{
    hf_vec_push(&t->spare, leaf);
    t->n--;
    (void)set_leaf(t, (hf_merge_node){HF_NOTHING, leaf});
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
 * will be in the tree, so none of them can become late. */
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
            add_leaf(&p->tree, c, c->head);
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

/* The block of the client is used up: its next, or the client is dry. */
static void refill(hf_pipeline *p, hf_pipeline_client *c)
{
    hf_event_block *b = c->ready;

    c->head->next = p->used;
    p->used = c->head;
    if (b) {
        c->ready = b->next;
        b->next = NULL;
        set_head(&p->tree, c, b);
        return;
    }
    pthread_mutex_lock(&p->mutex);
    hf_blocks_put_used(p);
    c->head = next_block(p, c);
    if (c->head) {
        set_head(&p->tree, c, c->head);
    } else {
        drop_leaf(&p->tree, c->leaf);
        if (c->left)
            hf_vec_push(&p->gone, c->number);
        else
            hf_vec_push(&p->dry, c);
        if (!c->left && c->promise < p->watermark)
            p->watermark = c->promise;
    }
    pthread_mutex_unlock(&p->mutex);
}

size_t hf_pipeline_merge(hf_pipeline *p, hf_event *to, size_t most)
{
    hf_merge_tree *t = &p->tree;
    hf_merge_node first = t->n > 0 ? t->nodes[1] : (hf_merge_node){0};
    uint64_t batches = 0;
    size_t n = 0;

    while (n < most && t->n > 0 && first.before <= p->watermark) {
        hf_merge_leaf *l = &t->leaves[first.leaf];
        const hf_event *e = l->at;
        uint32_t leaf = first.leaf;

        __builtin_prefetch(e + AHEAD); /* written by another core */
        to[n++] = *e++;
        l->at = e;
        if (e == l->end) {
            p->done = to[n - 1].before; /* asked for there */
            refill(p, l->client);
            first = t->nodes[1];
        } else {
            first = set_leaf(t, (hf_merge_node){e->before, leaf});
        }
        batches += first.leaf != leaf;
    }
    if (n > 0)
        p->done = to[n - 1].before;
    p->n_batches += batches;
    p->n_taken += n;
    return n;
}
