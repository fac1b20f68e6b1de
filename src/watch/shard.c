/* shard.c: the versions of a shard's keys, and who may have read them.
 *
 * Consistent read (Leopard, section V-A).  A version is installed when its
 * writer commits, at an instant inside the commit's interval; a read is of
 * the last version installed before its snapshot.  By its interval, a version
 * is for a snapshot
 *
 *   future         it begins after the snapshot's end
 *   overlap        it overlaps the snapshot
 *   pivot          it ends before the snapshot, and of those begins last
 *   pivot overlap  it overlaps the pivot
 *   garbage        it ends before the pivot begins
 *
 * and the candidates are overlap, pivot and pivot overlap: for each of them
 * there are instants at which it is the one read, for the others there are
 * none.  A version that may not have been committed is never the pivot.
 *
 * Sharpening.  If exactly one candidate has the value that was read, it was
 * installed before the snapshot's end.  If two committed transactions wrote a
 * row, and locks or first-updater-wins allow one order only, the first was
 * committed before the second got its lock, or its snapshot.  Both make the
 * interval of the version smaller, for all reads to come.  (The other order is
 * out if the second commits after the first has its lock: a client calls
 * commit after its write has returned, so that is when its commit begins
 * later than the first's, by more than the error of two clocks.)  Locks that
 * are only taken by the commit itself leave both orders, as does a snapshot
 * where the second may have put a row in the place of one that was deleted.
 *
 * What overwrote a read.  A version that begins later than the next one known
 * may still have come before it, if that one got its lock and its snapshot no
 * earlier than it called commit: clocks that differ, calls that touch, and
 * inserts into the place of a row that was deleted meanwhile make that so.  To
 * cycles, OCC and timestamp order both were then overwriting, one after the
 * other.  SSI asks for the first of the two, so it is told nothing until all
 * that overlaps the version is known (VERSION_TIED).
 *
 * Garbage.  Versions: versions.c.  A reader's entry is dropped when its
 * snapshot is older than `live`: its
 * transaction has then ended before everyone who is running began, so an
 * anti-dependency from it is not between concurrent transactions, which is all
 * that the certifiers ask about.
 *
 * Cost: O(versions of the key that overlap somebody's snapshot) for an item.
 */
#include "watch/inside.h"

#include <string.h>

_Static_assert(sizeof(watch_key) == 64, "a key is one cache line");
_Static_assert(sizeof(watch_reader) == 64, "a reader, too");

void hf_watch_shard_init(watch_shard *s, hf_watch *w)
{
    *s = (watch_shard){.w = w};
    s->lock_ring = s->reader_ring = s->thick_ring = (watch_ring){1, 1, 63};
    s->thick = HF_NEW_ARRAY(thick_key, 64);
    s->locks = HF_NEW_ARRAY(watch_held, 64);
    s->readers = HF_NEW_ARRAY(watch_reader, 64);
}

void hf_watch_shard_release(watch_shard *s)
{
    for (size_t i = 0; i < s->slabs.n; i++)
        hf_free(s->slabs.at[i]);
    hf_vec_release(&s->slabs);
    hf_vec_release(&s->items);
    hf_vec_release(&s->next);
    hf_vec_release(&s->heap);
    hf_vec_release(&s->found);
    hf_vec_release(&s->violations);
    hf_vec_release(&s->total_parts);
    hf_vec_release(&s->total_choices);
    hf_vec_release(&s->open);
    hf_vec_release(&s->doubts);
    hf_free(s->locks);
    hf_free(s->readers);
    hf_free(s->thick);
}

void hf_watch_key_init(watch_key *k, hf_watch_initial initial, uint64_t value)
{
    *k = (watch_key){.n = 1, .row = NO_ID};
    k->one.value = initial == HF_WATCH_INITIAL_VALUE ? value : HF_EVENT_NO_ROW;
    k->one.ref = VERSION_INITIAL |
                 (initial == HF_WATCH_INITIAL_UNKNOWN ? VERSION_WILD : 0);
}

/* ---- findings ------------------------------------------------------------ */

watch_finding *hf_watch_shard_find(watch_shard *s, finding_kind kind,
                                   uint64_t time, uint64_t seq)
{
    hf_vec_push(&s->found,
                (watch_finding){.kind = kind, .time = time, .seq = seq});
    return &s->found.at[s->found.n - 1];
}

hf_violation *hf_watch_shard_violation(watch_shard *s, const watch_item *it,
                                       uint64_t time)
{
    watch_finding *f = hf_watch_shard_find(s, FOUND_VIOLATION, time, it->seq);
    hf_violation *v;

    f->index = (uint32_t)s->violations.n;
    hf_vec_reserve(&s->violations, 1);
    v = &s->violations.at[s->violations.n++];
    memset(v, 0, offsetof(hf_violation, parts));
    v->time = time;
    v->txn = it->txn;
    v->other = HF_WATCH_NO_TXN;
    v->key = it->key;
    v->value = it->value;
    v->clock_suspect = (it->flags & ITEM_SUSPECT) != 0;
    return v;
}

static watch_instant commit_of(const watch_version *v)
{
    return (watch_instant){v->ref >> VERSION_BITS, v->serial, v->at,
                           INSTANT_COMMIT};
}

static watch_instant snapshot_of(const watch_shard *s, const watch_item *it)
{
    uint32_t what = s->w->profile.read == HF_WATCH_READ_TRANSACTION
                        ? INSTANT_SNAPSHOT
                        : it->statement;

    return (watch_instant){it->txn, it->serial, it->snapshot, what};
}

static void find_edge(watch_shard *s, finding_kind kind, const watch_item *it,
                      uint64_t time, watch_instant from, watch_instant to,
                      hf_watch_dependency dependency)
{
    watch_finding *f = hf_watch_shard_find(s, kind, time, it->seq);

    f->from = from;
    f->to = to;
    f->key = it->key;
    f->dependency = (uint8_t)dependency;
    f->flags = it->flags;
}

/* ---- reads --------------------------------------------------------------- */

typedef enum fit { FIT_NO, FIT_YES, FIT_ANY } fit;

/* Is reading version v what the item reports? */
static fit fits(watch_shard *s, const watch_item *it, const watch_version *v)
{
    const hf_watch_options *o = &s->w->options;

    if (v->ref & VERSION_WILD)
        return FIT_ANY;
    if (!(it->flags & ITEM_UNSEEN))
        return v->value == it->value ? FIT_YES : FIT_NO;
    if (v->value == HF_EVENT_NO_ROW)
        return FIT_YES;
    if (!(it->flags & ITEM_CONDITION))
        return FIT_NO;
    switch (o->matches ? o->matches(o->user, it->scan, it->key, v->value)
                       : HF_MATCH_UNKNOWN) {
    case HF_MATCH_NO:
        return FIT_YES;
    case HF_MATCH_YES:
        return FIT_NO;
    case HF_MATCH_UNKNOWN:
        break;
    }
    s->stats.unjudged[HF_UNJUDGED_CONDITION]++;
    return FIT_ANY;
}

typedef struct candidates {
    unsigned n, fitting, any;
    unsigned match; /* a fitting one, the newest */
    uint64_t floor; /* what ends before is garbage */
} candidates;

static candidates look(watch_shard *s, const watch_item *it,
                       const watch_version *v, unsigned n)
{
    candidates c = {0};
    bool has_pivot = false;

    for (unsigned i = n; i-- > 0;) {
        fit f;

        if (v[i].at.lo > it->snapshot.hi || v[i].at.hi < c.floor)
            continue;
        if (!has_pivot && v[i].at.hi < it->snapshot.lo &&
            !(v[i].ref & VERSION_MAYBE)) {
            has_pivot = true;
            c.floor = v[i].at.lo;
        }
        c.n++;
        f = fits(s, it, &v[i]);
        if (f == FIT_NO)
            continue;
        if (c.fitting++ == 0)
            c.match = i;
        c.any += f == FIT_ANY;
    }
    return c;
}

static void complain(watch_shard *s, const watch_item *it, uint64_t time,
                     const watch_version *v, unsigned n, uint64_t floor)
{
    hf_violation *out = hf_watch_shard_violation(s, it, time);

    out->time = it->snapshot.hi > it->now ? it->snapshot.hi : it->now;
    out->mechanism = HF_WATCH_CR;
    out->rule = it->flags & ITEM_UNSEEN ? HF_RULE_MISSING_ROW : HF_RULE_NEVER;
    hf_watch_part_add(out, (hf_violation_part){.txn = it->txn,
                                               .key = UINT32_MAX,
                                               .before = it->snapshot.lo,
                                               .after = it->snapshot.hi,
                                               .part = HF_PART_SNAPSHOT});
    hf_watch_part_add(out, (hf_violation_part){.txn = it->txn,
                                               .key = it->key,
                                               .value = it->value,
                                               .has_value = true,
                                               .before = it->at.lo,
                                               .after = it->at.hi,
                                               .part = HF_PART_READ});
    for (unsigned i = n; i-- > 0;) {
        if (v[i].at.lo > it->snapshot.hi || v[i].at.hi < floor)
            continue;
        if (v[i].ref & VERSION_SUSPECT)
            out->clock_suspect = true;
        if (out->other == HF_WATCH_NO_TXN)
            out->other = version_txn(&v[i]);
        hf_watch_part_add(
            out, (hf_violation_part){.txn = version_txn(&v[i]),
                                     .key = it->key,
                                     .value = v[i].value,
                                     .has_value = true,
                                     .before = v[i].at.lo,
                                     .after = v[i].at.hi,
                                     .part = HF_PART_CANDIDATE,
                                     .is_unknown = v[i].ref & VERSION_MAYBE});
    }
}

/* The version that certainly comes right after v[i], or n.  All that begins
 * before `time` is known. */
static unsigned next_certain(const watch_version *v, unsigned n, unsigned i,
                             uint64_t time)
{
    unsigned next = i + 1;

    if (next >= n || (v[next].ref & VERSION_MAYBE) ||
        !certainly_before(v[i].at, v[next].at) ||
        ((v[next].ref & VERSION_TIED) && v[next].at.hi >= time))
        return n;
    for (unsigned j = 0; j < n; j++) {
        if (j < i && v[j].at.hi >= v[i].at.lo && !(v[j].ref & VERSION_INITIAL))
            return n;
        if (j > next && v[j].at.lo <= v[next].at.hi)
            return n;
    }
    return next;
}

static bool has_reader(const watch_shard *s, uint32_t at, uint32_t key)
{
    const watch_ring *r = &s->reader_ring;

    return ring_has(r, at) && s->readers[at & r->mask].key == key;
}

static void add_reader(watch_shard *s, watch_key *k, const watch_item *it,
                       uint64_t ref)
{
    watch_ring *r = &s->reader_ring;
    uint32_t at;

    while (r->begin != r->end &&
           s->readers[r->begin & r->mask].snapshot.lo < s->live)
        r->begin++;
    if (r->end - r->begin > r->mask) {
        uint32_t room = (r->mask + 1) * 2;
        watch_reader *more = HF_NEW_ARRAY(watch_reader, room);

        for (uint32_t i = r->begin; i != r->end; i++)
            more[i & (room - 1)] = s->readers[i & r->mask];
        hf_free(s->readers);
        s->readers = more;
        r->mask = room - 1;
    }
    if (!has_reader(s, k->readers, it->key))
        k->readers = r->begin - 1;
    at = r->end++;
    s->readers[at & r->mask] = (watch_reader){.txn = it->txn,
                                              .key = it->key,
                                              .ref = ref & ~VERSION_FLAGS,
                                              .snapshot = it->snapshot,
                                              .serial = it->serial,
                                              .next = k->readers,
                                              .scan = it->scan,
                                              .statement = it->statement,
                                              .flags = it->flags};
    k->readers = at;
}

/* A scan that did not return the key cares for versions that it would. */
static bool changes_scan(watch_shard *s, const watch_item *it,
                         const watch_version *v)
{
    return !(it->flags & ITEM_UNSEEN) || fits(s, it, v) == FIT_NO;
}

/* Anti-dependencies of a read of v[i], for the certifier. */
static void follow(watch_shard *s, watch_key *k, const watch_item *it,
                   uint64_t time, unsigned i)
{
    const watch_version *v = versions_of(k);
    watch_instant reader = snapshot_of(s, it);
    unsigned next;

    while ((next = next_certain(v, k->n, i, time)) < k->n) {
        if (version_txn(&v[next]) != it->txn && changes_scan(s, it, &v[next])) {
            find_edge(s, FOUND_RW, it, time, reader, commit_of(&v[next]),
                      HF_WATCH_RW);
            return;
        }
        if (!(it->flags & ITEM_UNSEEN))
            return;
        i = next;
    }
    if (i + 1 == k->n)
        add_reader(s, k, it, v[i].ref);
}

/* What follows from reading v[i] and none of the other candidates. */
static void deduce(watch_shard *s, watch_key *k, const watch_item *it,
                   uint64_t time, unsigned i)
{
    watch_version *v = versions_of(k);
    bool initial = (v[i].ref & VERSION_INITIAL) != 0;
    span was = v[i].at;

    if (v[i].ref & VERSION_MAYBE)
        v[i].ref &= ~(uint64_t)VERSION_MAYBE;
    if (v[i].at.hi > it->snapshot.hi)
        v[i].at.hi = it->snapshot.hi;
    if (s->w->instants && !(it->flags & ITEM_LOOSE)) {
        if (!initial && was.hi >= it->snapshot.lo)
            find_edge(s, FOUND_INSTANTS, it, time, commit_of(&v[i]),
                      snapshot_of(s, it), HF_WATCH_WR);
        for (unsigned j = i + 1; j < k->n && v[j].at.lo <= it->snapshot.hi; j++)
            if (v[j].at.lo > was.hi && !(v[j].ref & VERSION_MAYBE))
                find_edge(s, FOUND_INSTANTS, it, time, snapshot_of(s, it),
                          commit_of(&v[j]), HF_WATCH_RW);
    }
    if (s->w->all_edges && !initial)
        find_edge(s, FOUND_EDGE, it, time, commit_of(&v[i]), snapshot_of(s, it),
                  HF_WATCH_WR);
    if (s->w->tracks_reads)
        follow(s, k, it, time, i);
}

/* Does a version stand for many (hf_watch_versions_blur())? */
static bool is_blurred(const watch_version *v)
{
    return (v->ref & (VERSION_WILD | VERSION_INITIAL)) == VERSION_WILD;
}

static void count_read(watch_shard *s, const watch_item *it,
                       const candidates *c, const watch_version *v, unsigned n)
{
    hf_watch_stats *st = &s->stats;

    st->reads_judged++;
    if (c->fitting > 1 || is_blurred(&v[c->match])) {
        st->uncertain[HF_WATCH_WR]++;
        st->unjudged[is_blurred(&v[c->match]) ? HF_UNJUDGED_LIMIT
                     : c->any                 ? HF_UNJUDGED_INITIAL
                                              : HF_UNJUDGED_EQUAL]++;
        return;
    }
    if (v[c->match].ref & VERSION_INITIAL)
        ;
    else if (c->n == 1 && v[c->match].at.hi < it->snapshot.lo)
        st->certain[HF_WATCH_WR]++;
    else
        st->deduced[HF_WATCH_WR]++;
    if (c->match + 1 < n) {
        const watch_version *next = &v[c->match + 1];

        if (next->at.lo > it->snapshot.hi)
            st->certain[HF_WATCH_RW]++;
        else if (certainly_before(v[c->match].at, next->at))
            st->deduced[HF_WATCH_RW]++;
        else
            st->uncertain[HF_WATCH_RW]++;
    }
}

/* The usual case: the key has one version, it was committed before the
 * snapshot, and it is what was read.  False: it is not that. */
static bool judge_quickly(watch_shard *s, watch_key *k, const watch_item *it,
                          uint64_t time)
{
    const watch_version *v = &k->one;

    if (k->n != 1 || v->value != it->value || v->at.hi >= it->snapshot.lo ||
        (v->ref & (VERSION_WILD | VERSION_MAYBE)) || (it->flags & ITEM_UNSEEN))
        return false;
    s->stats.reads_judged++;
    if (!(v->ref & VERSION_INITIAL)) {
        s->stats.certain[HF_WATCH_WR]++;
        if (s->w->all_edges)
            find_edge(s, FOUND_EDGE, it, time, commit_of(v), snapshot_of(s, it),
                      HF_WATCH_WR);
    }
    if (s->w->tracks_reads)
        add_reader(s, k, it, v->ref);
    return true;
}

static void judge(watch_shard *s, const watch_item *it, uint64_t time)
{
    watch_key *k = page_key(s->pages, it->key);
    watch_version *v = versions_of(k);
    candidates c;

    if (it->kind == ITEM_TOTAL) {
        hf_watch_total_look(s, it);
        return;
    }
    if (judge_quickly(s, k, it, time))
        return;
    c = look(s, it, v, k->n);
    if (c.fitting == 0) {
        s->stats.reads_judged++;
        complain(s, it, time, v, k->n, c.floor);
        return;
    }
    count_read(s, it, &c, v, k->n);
    if (c.fitting > 1 || is_blurred(&v[c.match]))
        return;
    if (c.any && (it->flags & ITEM_UNSEEN))
        return;
    if (c.any) { /* so that is what it was */
        v[c.match].value = it->value;
        v[c.match].ref &= ~(uint64_t)VERSION_WILD;
    }
    deduce(s, k, it, time, c.match);
}

/* ---- reads that are not ripe --------------------------------------------- */

static bool riper(const watch_item *a, const watch_item *b)
{
    return a->snapshot.hi != b->snapshot.hi ? a->snapshot.hi < b->snapshot.hi
                                            : a->seq < b->seq;
}

static void heap_put(watch_shard *s, const watch_item *it)
{
    size_t i = s->heap.n;

    hf_vec_push(&s->heap, *it);
    while (i > 0 && riper(it, &s->heap.at[(i - 1) / 2])) {
        s->heap.at[i] = s->heap.at[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->heap.at[i] = *it;
}

static watch_item heap_take(watch_shard *s)
{
    watch_item top = s->heap.at[0], last = s->heap.at[--s->heap.n];
    size_t i = 0, n = s->heap.n;

    while (2 * i + 1 < n) {
        size_t child = 2 * i + 1;

        if (child + 1 < n && riper(&s->heap.at[child + 1], &s->heap.at[child]))
            child++;
        if (!riper(&s->heap.at[child], &last))
            break;
        s->heap.at[i] = s->heap.at[child];
        i = child;
    }
    if (n > 0)
        s->heap.at[i] = last;
    return top;
}

/* Judges the reads whose snapshot ends before `now`.  What is found comes after
 * all that was known when the snapshot ended: the ends of those it speaks of
 * are joined before it. */
static void ripen(watch_shard *s, uint64_t now)
{
    while (s->heap.n > 0 && s->heap.at[0].snapshot.hi < now) {
        watch_item it = heap_take(s);

        judge(s, &it, it.snapshot.hi + 1);
    }
}

/* ---- writes -------------------------------------------------------------- */

bool hf_watch_may_insert(watch_shard *s, uint32_t key, span snapshot,
                         uint8_t flags)
{
    watch_key *k = page_key(s->pages, key);
    const watch_version *v = versions_of(k);

    if (flags & ITEM_WEAKER)
        return true;
    if (!s->w->free_inserts || (flags & ITEM_DELETED))
        return false;
    if ((flags & ITEM_INSERTED) || !s->w->locks)
        return true; /* without locks, someone may still come in between */
    /* not said; where a row was deleted meanwhile, it may have */
    for (unsigned i = 0; i < k->n; i++)
        if (v[i].value == HF_EVENT_NO_ROW && !(v[i].ref & VERSION_INITIAL) &&
            v[i].at.hi >= snapshot.lo)
            return true;
    return false;
}

static bool may_insert(watch_shard *s, const watch_item *it)
{
    return it->may_insert ||
           hf_watch_may_insert(s, it->key, it->snapshot, it->flags);
}

/* Versions before this one were committed by then: it got its lock, or its
 * snapshot.  FOR_EVER: nobody knows. */
static uint64_t latest_before(watch_shard *s, const watch_item *it)
{
    uint64_t limit = FOR_EVER;

    if (s->w->locks && !s->w->profile.locks_at_commit)
        limit = it->at.hi;
    if (s->w->fuw_sharpens && it->snapshot.hi < limit && !may_insert(s, it))
        limit = it->snapshot.hi;
    return limit;
}

/* The last versions before this one came before that: no other order was
 * possible. */
static void sharpen(watch_shard *s, watch_key *k, const watch_item *it,
                    uint64_t limit)
{
    watch_version *v = versions_of(k);

    if (limit == FOR_EVER)
        return;
    for (unsigned i = k->n; i-- > 0;) {
        if (it->end.lo <= v[i].at.lo + 2 * s->w->error || v[i].at.lo > limit ||
            (v[i].ref & VERSION_SUSPECT))
            continue;
        if (v[i].at.hi > limit)
            v[i].at.hi = limit;
    }
}

static void count_write(watch_shard *s, span before, const watch_version *last,
                        const watch_item *it)
{
    if (last->ref & VERSION_INITIAL)
        return;
    if (before.hi < it->end.lo)
        s->stats.certain[HF_WATCH_WW]++;
    else if (last->at.hi < it->end.lo)
        s->stats.deduced[HF_WATCH_WW]++;
    else
        s->stats.uncertain[HF_WATCH_WW]++;
}

/* Those who read the version before v[i] depend on its end. */
static void tell_readers(watch_shard *s, watch_key *k, const watch_item *it,
                         unsigned i)
{
    const watch_version *v = versions_of(k);
    bool certain = i > 0 && v[i].ref >> VERSION_BITS == it->txn &&
                   next_certain(v, k->n, i - 1, it->now) == i;
    uint32_t at = k->readers, kept = NO_ID;

    k->readers = s->reader_ring.begin - 1; /* none */
    while (certain && has_reader(s, at, it->key)) {
        watch_reader *r = &s->readers[at & s->reader_ring.mask];
        uint32_t next = r->next;
        watch_item as = {.txn = r->txn,
                         .serial = r->serial,
                         .key = it->key,
                         .seq = it->seq,
                         .snapshot = r->snapshot,
                         .scan = r->scan,
                         .statement = r->statement,
                         .flags = r->flags};

        if (r->txn != it->txn && r->ref == (v[i - 1].ref & ~VERSION_FLAGS)) {
            if (changes_scan(s, &as, &v[i])) {
                find_edge(s, FOUND_RW, &as, it->now, snapshot_of(s, &as),
                          commit_of(&v[i]), HF_WATCH_RW);
            } else {
                r->ref = v[i].ref & ~VERSION_FLAGS;
                r->next = kept == NO_ID ? s->reader_ring.begin - 1 : kept;
                kept = at;
            }
        }
        at = next;
    }
    if (kept != NO_ID)
        k->readers = kept;
}

/* Where an insert may follow a concurrent delete, someone's write may come
 * after this one though it was there first; if this transaction has read the
 * key as well, it is not the reader's version that the other overwrote. */
static void tell_own(watch_shard *s, watch_key *k, const watch_item *it)
{
    const watch_version *v = versions_of(k);

    for (unsigned i = 0; i < k->n; i++) {
        if ((v[i].ref & VERSION_INITIAL) ||
            v[i].ref >> VERSION_BITS == it->txn || v[i].at.hi < it->end.lo)
            continue;
        find_edge(s, FOUND_OWN, it, it->now, snapshot_of(s, it),
                  commit_of(&v[i]), HF_WATCH_RW);
        return;
    }
}

static void link_writes(watch_shard *s, watch_key *k, const watch_item *it)
{
    const watch_version *v = versions_of(k);
    unsigned last = k->n - 1;
    const watch_version *before;
    watch_finding *f;

    if (k->n < 2 || v[last].ref >> VERSION_BITS != it->txn)
        return;
    before = &v[last - 1];
    if ((before->ref & (VERSION_INITIAL | VERSION_MAYBE)) ||
        !certainly_before(before->at, v[last].at))
        return;
    if (s->w->all_edges)
        find_edge(s, FOUND_EDGE, it, it->now, commit_of(before),
                  commit_of(&v[last]), HF_WATCH_WW);
    if (!s->w->fuw || !s->w->instants || before->at.hi < it->snapshot.lo ||
        before->at.lo > it->snapshot.hi || may_insert(s, it))
        return;
    f = hf_watch_shard_find(s, FOUND_INSTANTS, it->now, it->seq);
    f->from = commit_of(before);
    f->to =
        (watch_instant){it->txn, it->serial, it->snapshot, INSTANT_SNAPSHOT};
    f->key = it->key;
    f->dependency = HF_WATCH_WW;
    f->is_forced = true;
}

static void install(watch_shard *s, const watch_item *it)
{
    watch_key *k = page_key(s->pages, it->key);
    watch_version v = {.value = it->value,
                       .at = it->end,
                       .ref = it->txn << VERSION_BITS,
                       .serial = it->serial};
    span before = versions_of(k)[k->n - 1].at;

    if (it->flags & ITEM_MAYBE)
        v.ref |= VERSION_MAYBE;
    if (it->flags & ITEM_SUSPECT)
        v.ref |= VERSION_SUSPECT;
    if (!(it->flags & ITEM_MAYBE)) {
        uint64_t limit = FOR_EVER;

        if ((s->w->locks || s->w->fuw) && !(it->flags & ITEM_SUSPECT))
            limit = latest_before(s, it);
        sharpen(s, k, it, limit);
        if (s->w->direct_only && limit >= it->now)
            v.ref |= VERSION_TIED;
        count_write(s, before, &versions_of(k)[k->n - 1], it);
    }
    hf_watch_versions_collect(s, it->key, k);
    if (k->n == MOST_VERSIONS) {
        s->stats.unjudged[HF_UNJUDGED_LIMIT]++;
        hf_watch_versions_blur(k, &v);
        return;
    }
    hf_watch_versions_append(s, it->key, k, &v);
    if (s->doubts.n > 0 && v.value == HF_EVENT_NO_ROW)
        hf_watch_doubts_drop(s, it->row);
    if (it->flags & ITEM_MAYBE)
        return;
    link_writes(s, k, it);
    if (s->w->free_inserts && s->w->tracks_reads)
        tell_own(s, k, it);
    if (s->w->tracks_reads)
        tell_readers(s, k, it, k->n - 1u);
}

/* ---- the batch ----------------------------------------------------------- */

void hf_watch_shard_run(watch_shard *s)
{
    for (size_t i = 0; i < s->items.n; i++) {
        const watch_item *it = &s->items.at[i];

        if (i + 8 < s->items.n)
            __builtin_prefetch(page_key(s->pages, s->items.at[i + 8].key));
        ripen(s, it->now);
        if (s->doubts.n > 0)
            hf_watch_doubts_tell(s, it->now);
        if (it->kind == ITEM_READ || it->kind == ITEM_TOTAL) {
            if (it->snapshot.hi < it->now)
                judge(s, it, it->now);
            else
                heap_put(s, it);
            continue;
        }
        if (it->kind == ITEM_LOCK || (it->flags & ITEM_LOCKS))
            hf_watch_shard_lock(s, it);
        if (it->kind == ITEM_INSTALL)
            install(s, it);
    }
    ripen(s, s->now);
    hf_watch_doubts_tell(s, s->now);
    hf_watch_shard_locks_trim(s);
    hf_watch_versions_look(s);
    s->items.n = 0;
}
