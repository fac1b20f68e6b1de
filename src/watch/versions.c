/* versions.c: where the versions of a key stand, and when they go.
 *
 * A key with one version has it inside; more stand in an array of 4 << rank,
 * taken from slabs by class, given back when one is left.  They are in the
 * order in which their commits begin.
 *
 * Garbage.  Let p be a version certainly committed that ends before the
 * horizon.  Every read still to be judged has a snapshot after that, so its
 * pivot begins no earlier than p does; a version that ends before p begins is
 * garbage to all of them, and is dropped when the key gets its next version
 * or when that one has passed the horizon.  The newest is never dropped.
 *
 * Limit.  Someone who stays open keeps all versions from going.  When a key
 * has as many as are counted, its newest stands for all that follow: nobody
 * knows what it is, and it may not be there, so that reads of any of them, and
 * of those before, stay possible.
 *
 * Cost: O(1) for a version, besides those that came late.
 */
#include <string.h>

#include "watch/inside.h"

#define SLAB_BYTES (64u << 10)
#define CLASS_ROOM(rank) (4u << (rank))

_Static_assert(CLASS_ROOM(VERSION_CLASSES - 1) > MOST_VERSIONS,
               "the last class has room for all");

/* ---- room ---------------------------------------------------------------- */

static void room_give(watch_shard *s, watch_version *v, unsigned rank)
{
    v->value = (uint64_t)(uintptr_t)s->spare[rank];
    s->spare[rank] = v;
}

static watch_version *room_take(watch_shard *s, unsigned rank)
{
    watch_version *v = s->spare[rank];
    size_t bytes = CLASS_ROOM(rank) * sizeof(*v);
    size_t n = bytes < SLAB_BYTES ? SLAB_BYTES / bytes : 1;
    char *slab;

    if (v) {
        s->spare[rank] = (watch_version *)(uintptr_t)v->value;
        return v;
    }
    slab = hf_alloc(n * bytes);
    hf_vec_push(&s->slabs, slab);
    s->bytes += n * bytes;
    for (size_t i = 1; i < n; i++) {
        watch_version *other = (watch_version *)(void *)(slab + i * bytes);

        room_give(s, other, rank);
    }
    return (watch_version *)(void *)slab;
}

/* ---- garbage ------------------------------------------------------------- */

static void drop_first(watch_shard *s, uint32_t key, watch_key *k, unsigned n)
{
    watch_version *v = k->many;

    if (n == 0)
        return;
    for (unsigned i = 0; i < n; i++)
        s->dropped[s->n_dropped++ % DROPPED] = (dropped_version){v[i], key};
    memmove(v, v + n, (k->n - n) * sizeof(*v));
    k->n = (uint16_t)(k->n - n);
    s->stats.versions_kept -= n;
    if (k->n == 1) {
        k->one = v[0];
        room_give(s, v, k->rank);
        k->many = NULL;
    }
}

void hf_watch_versions_collect(watch_shard *s, uint32_t key, watch_key *k)
{
    const watch_version *v = versions_of(k);
    unsigned n = 0;
    uint64_t floor = 0;

    if (k->n == 1)
        return;
    for (unsigned i = k->n; i-- > 0;) {
        if (v[i].at.hi < s->horizon && !(v[i].ref & VERSION_MAYBE)) {
            floor = v[i].at.lo;
            break;
        }
    }
    while (n + 1 < k->n && v[n].at.hi < floor)
        n++;
    drop_first(s, key, k, n);
}

/* Keys with several versions stand in a queue, and are looked at when the
 * newest of when they came in has passed the horizon: what is cold has one
 * version, inside its key. */
static void queue_put(watch_shard *s, uint32_t key, uint64_t until)
{
    watch_ring *r = &s->thick_ring;

    if (r->end - r->begin > r->mask) {
        uint32_t room = (r->mask + 1) * 2;
        thick_key *more = HF_NEW_ARRAY(thick_key, room);

        for (uint32_t i = r->begin; i != r->end; i++)
            more[i & (room - 1)] = s->thick[i & r->mask];
        hf_free(s->thick);
        s->thick = more;
        r->mask = room - 1;
    }
    s->thick[r->end++ & r->mask] = (thick_key){until, key};
}

void hf_watch_versions_look(watch_shard *s)
{
    watch_ring *r = &s->thick_ring;

    for (uint32_t n = r->end - r->begin; n > 0; n--) {
        thick_key q = s->thick[r->begin & r->mask];
        watch_key *k = page_key(s->pages, q.key);

        if (q.until >= s->horizon)
            break;
        if (n > 4)
            __builtin_prefetch(
                page_key(s->pages, s->thick[(r->begin + 4) & r->mask].key));
        r->begin++;
        hf_watch_versions_collect(s, q.key, k);
        if (k->n > 1) /* by its newest version, or again later */
            queue_put(s, q.key,
                      k->many[k->n - 1].at.hi == FOR_EVER
                          ? s->now
                          : k->many[k->n - 1].at.hi);
    }
}

void hf_watch_versions_append(watch_shard *s, uint32_t key, watch_key *k,
                              const watch_version *v)
{
    watch_version *at;
    unsigned i;

    if (k->n == 1) {
        k->rank = 0;
        k->many = room_take(s, 0);
        k->many[0] = k->one;
        queue_put(s, key, v->at.hi == FOR_EVER ? s->now : v->at.hi);
    } else if (k->n == CLASS_ROOM(k->rank)) {
        watch_version *more = room_take(s, k->rank + 1u);

        memcpy(more, k->many, k->n * sizeof(*more));
        room_give(s, k->many, k->rank);
        k->many = more;
        k->rank++;
    }
    at = k->many;
    for (i = k->n; i > 0 && at[i - 1].at.lo > v->at.lo; i--)
        at[i] = at[i - 1]; /* only what came late */
    at[i] = *v;
    k->n++;
    s->stats.versions_kept++;
}

void hf_watch_versions_blur(watch_key *k, const watch_version *v)
{
    watch_version all = k->many[k->n - 1];
    unsigned i = k->n - 1u;

    if (v->at.lo < all.at.lo)
        all.at.lo = v->at.lo;
    if (v->at.hi > all.at.hi)
        all.at.hi = v->at.hi;
    all.ref = ~VERSION_FLAGS | VERSION_MAYBE | VERSION_WILD | VERSION_SUSPECT;
    for (; i > 0 && k->many[i - 1].at.lo > all.at.lo; i--)
        k->many[i] = k->many[i - 1];
    k->many[i] = all;
}
