/* scans.c: conditions and ranges: every key they cover is read.
 *
 * A scan is a read of all keys placed in its range, those that it did not
 * return as well: of each it says either what it returned, or that there was
 * no row that satisfies the condition.  So it is judged by the candidate
 * versions of every key, like any read.  A key that is placed later, while
 * the scan may still matter to a certifier or as a range lock, is read then.
 *
 * The keys of a group stand in blocks, ordered by place: finding a range is
 * two binary searches, a new key moves at most one block.  They are put there
 * when a scan asks for them; a table that nobody scans keeps a mere list.
 *
 * Garbage: a scan is forgotten, for keys to come, with the readers' entries
 * (shard.c) when its snapshot is older than `live`.
 */
#include <stdlib.h>
#include <string.h>

#include "watch/inside.h"

#define MOST_GROUPS (1u << 22)

/* ---- places -------------------------------------------------------------- */

static watch_group *group_at(hf_watch *w, uint32_t group)
{
    while (w->groups.n <= group)
        hf_vec_push(&w->groups, (watch_group){0});
    return &w->groups.at[group];
}

/* The block where `place` belongs: the last that begins no later. */
static size_t block_of(const watch_group *g, uint64_t place)
{
    size_t lo = 0, hi = g->blocks.n;

    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;

        if (g->blocks.at[mid]->at[0].place <= place)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static uint32_t place_in(const place_block *b, uint64_t place)
{
    uint32_t lo = 0, hi = b->n;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (b->at[mid].place < place)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static place_block *split(watch_group *g, size_t i, uint64_t place)
{
    place_block *b = g->blocks.at[i], *c = HF_NEW(place_block);
    uint32_t keep =
        i + 1 == g->blocks.n && place > b->at[b->n - 1].place ? b->n : b->n / 2;

    c->n = b->n - keep;
    memcpy(c->at, b->at + keep, c->n * sizeof(c->at[0]));
    b->n = keep;
    hf_vec_push(&g->blocks, NULL);
    memmove(&g->blocks.at[i + 2], &g->blocks.at[i + 1],
            (g->blocks.n - i - 2) * sizeof(c));
    g->blocks.at[i + 1] = c;
    return c->n == 0 || c->at[0].place <= place ? c : b;
}

static void put(watch_group *g, placed p)
{
    place_block *b;
    size_t i;
    uint32_t at;

    if (g->blocks.n == 0) {
        b = HF_NEW(place_block);
        hf_vec_push(&g->blocks, b);
    }
    i = block_of(g, p.place);
    b = g->blocks.at[i];
    if (b->n == BLOCK_KEYS)
        b = split(g, i, p.place);
    at = place_in(b, p.place);
    memmove(&b->at[at + 1], &b->at[at], (b->n - at) * sizeof(p));
    b->at[at] = p;
    b->n++;
}

static void settle(watch_group *g)
{
    for (size_t i = 0; i < g->fresh.n; i++)
        put(g, g->fresh.at[i]);
    g->fresh.n = 0;
}

/* ---- what a scan says of a key ------------------------------------------- */

static bool covers(const scan_range *r, uint64_t place)
{
    return r->first <= place && place <= r->last;
}

static void push_unseen(hf_watch *w, const live_scan *s, uint32_t key,
                        uint8_t flags)
{
    watch_item it = {.now = w->now,
                     .seq = w->seq,
                     .txn = s->txn,
                     .serial = s->serial,
                     .snapshot = s->snapshot,
                     .at = s->at,
                     .key = key,
                     .row = key_at(w, key)->row,
                     .scan = s->scan,
                     .statement = s->statement,
                     .kind = ITEM_READ,
                     .flags = flags | ITEM_UNSEEN | ITEM_SCANNED};

    if (w->scans.at[s->scan].has_condition)
        it.flags |= ITEM_CONDITION;
    hf_watch_push_item(w, &it);
}

/* A range is locked against rows that would be in it; with a condition, an
 * index may have led past all others. */
static void lock_range(hf_watch *w, watch_txn *t, const live_scan *s,
                       uint32_t row)
{
    bool all = !w->scans.at[s->scan].has_condition;

    hf_watch_lock_read(w, t,
                       (own_lock){s->at, row, all ? NO_ID : s->scan,
                                  s->is_exclusive ? ITEM_EXCLUSIVE : 0});
}

void hf_watch_place(hf_watch *w, uint32_t key, uint32_t row, uint32_t group,
                    uint64_t place)
{
    watch_group *g;
    watch_key *k;

    if (key >= WHOLE_DATABASE || row >= WHOLE_DATABASE || group >= MOST_GROUPS)
        return;
    hf_watch_page(w, key);
    if (row != key)
        hf_watch_page(w, row);
    k = key_at(w, key);
    if (k->row != NO_ID && k->row != row)
        return;
    k->row = row;
    if (key == row)
        hf_watch_mark_whole(w, key);
    g = group_at(w, group);
    hf_vec_push(&g->fresh, (placed){place, key});
    if (w->totals.n > 0)
        hf_watch_total_place(w, key, group, place);
    for (size_t i = 0; i < g->live.n; i++) {
        const live_scan *s = &g->live.at[i];
        watch_txn *t = &w->txns.at[s->slot];

        if (!covers(&w->scans.at[s->scan], place))
            continue;
        if (w->profile.read != HF_WATCH_READ_NONE)
            push_unseen(w, s, key, s->flags);
        if (w->profile.lock == HF_WATCH_LOCK_RANGES && t->is_running &&
            t->serial == s->serial)
            lock_range(w, t, s, row);
    }
}

void hf_watch_scan(hf_watch *w, uint32_t scan, uint32_t group, uint64_t first,
                   uint64_t last, bool has_condition)
{
    if (scan == NO_ID || group >= MOST_GROUPS)
        return;
    (void)group_at(w, group);
    while (w->scans.n <= scan)
        hf_vec_push(&w->scans, (scan_range){0});
    w->scans.at[scan] = (scan_range){.first = first,
                                     .last = last,
                                     .group = group,
                                     .has_condition = has_condition,
                                     .is_defined = true};
}

void hf_watch_total(hf_watch *w, uint32_t scan, uint32_t group, uint64_t first,
                    uint64_t last, hf_watch_total_kind what)
{
    hf_watch_scan(w, scan, group, first, last, true);
    if (scan < w->scans.n)
        w->scans.at[scan].total = (uint8_t)what;
}

/* ---- a statement --------------------------------------------------------- */

void hf_watch_scan_open(hf_watch *w, uint32_t slot, const hf_event *e, span at)
{
    watch_txn *t = &w->txns.at[slot];

    if (t->scan != NO_ID) /* a second condition in one statement */
        hf_watch_scan_close(w, slot);
    t->has_statement = true;
    w->stats.scans++;
    if (e->extra >= w->scans.n || !w->scans.at[e->extra].is_defined ||
        at.hi == FOR_EVER)
        return; /* nobody knows what it covers */
    t->scan = e->extra;
    t->scan_at = at;
    t->scan_flags = e->flags;
    t->scan_value = e->value;
    t->scan_number = hf_event_number(e);
    t->rows.n = 0;
}

static void tell_row(hf_watch *w, const watch_txn *t, hf_watch_rule rule,
                     uint32_t key, uint64_t value)
{
    hf_violation *v = hf_watch_intake_violation(w, t);

    v->rule = rule;
    v->key = key;
    v->value = value;
    hf_watch_part_add(v, (hf_violation_part){.txn = t->id,
                                             .key = key,
                                             .value = value,
                                             .has_value = true,
                                             .before = t->scan_at.lo,
                                             .after = t->scan_at.hi,
                                             .part = HF_PART_READ});
}

void hf_watch_scan_row(hf_watch *w, uint32_t slot, const hf_event *e)
{
    watch_txn *t = &w->txns.at[slot];
    const hf_watch_options *o = &w->options;

    if (t->scan == NO_ID)
        return;
    hf_vec_push(&t->rows, (own_read){e->value, e->key});
    if (w->scans.at[t->scan].has_condition && o->matches &&
        e->value != HF_EVENT_NO_ROW &&
        o->matches(o->user, t->scan, e->key, e->value) == HF_MATCH_NO)
        tell_row(w, t, HF_RULE_WRONG_ROW, e->key, e->value);
}

static int by_key(const void *a, const void *b)
{
    const own_read *x = a, *y = b;

    return x->key < y->key   ? -1
           : x->key > y->key ? 1
                             : (x->value > y->value) - (x->value < y->value);
}

static void find_twins(hf_watch *w, watch_txn *t)
{
    if (t->rows.n > 1)
        qsort(t->rows.at, t->rows.n, sizeof(*t->rows.at), by_key);
    for (size_t i = 1; i < t->rows.n; i++)
        if (t->rows.at[i].key == t->rows.at[i - 1].key &&
            t->rows.at[i].value != t->rows.at[i - 1].value)
            tell_row(w, t, HF_RULE_TWO_VERSIONS, t->rows.at[i].key,
                     t->rows.at[i].value);
}

static bool has_row(const watch_txn *t, uint32_t key)
{
    size_t lo = 0, hi = t->rows.n;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (t->rows.at[mid].key < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < t->rows.n && t->rows.at[lo].key == key;
}

/* A key in the range that was not returned. */
static void miss(hf_watch *w, watch_txn *t, const live_scan *s, uint32_t key)
{
    const own_write *own = hf_watch_own(t, key);
    const hf_watch_options *o = &w->options;

    if (w->scans.at[s->scan].total) {
        hf_watch_total_key(w, key, own);
        return;
    }
    if (w->profile.lock == HF_WATCH_LOCK_RANGES)
        lock_range(w, t, s, key_at(w, key)->row);
    if (!own) {
        if (w->profile.read != HF_WATCH_READ_NONE)
            push_unseen(w, s, key, s->flags);
        return;
    }
    if (own->value == HF_EVENT_NO_ROW || own->is_doubtful ||
        w->profile.locks_at_commit)
        return;
    if (w->scans.at[s->scan].has_condition &&
        (!o->matches ||
         o->matches(o->user, s->scan, key, own->value) != HF_MATCH_YES))
        return;
    tell_row(w, t, HF_RULE_MISSING_ROW, key, own->value);
}

static void walk(hf_watch *w, watch_txn *t, const live_scan *s)
{
    const scan_range *r = &w->scans.at[s->scan];
    watch_group *g = &w->groups.at[r->group];

    settle(g);
    if (g->blocks.n == 0)
        return;
    for (size_t i = block_of(g, r->first); i < g->blocks.n; i++) {
        const place_block *b = g->blocks.at[i];

        for (uint32_t k = place_in(b, r->first); k < b->n; k++) {
            if (b->at[k].place > r->last)
                return;
            if (!has_row(t, b->at[k].key))
                miss(w, t, s, b->at[k].key);
        }
    }
}

void hf_watch_scan_close(hf_watch *w, uint32_t slot)
{
    watch_txn *t = &w->txns.at[slot];
    live_scan s;
    bool locks;

    if (t->scan == NO_ID)
        return;
    locks = (t->scan_flags & (HF_EVENT_FOR_UPDATE | HF_EVENT_FOR_SHARE)) != 0;
    s = (live_scan){.txn = t->id,
                    .serial = t->serial,
                    .at = t->scan_at,
                    .slot = slot,
                    .scan = t->scan,
                    .statement = t->statement,
                    .flags = t->is_suspect ? ITEM_SUSPECT : 0,
                    .is_exclusive = (t->scan_flags & HF_EVENT_FOR_UPDATE) != 0};
    s.snapshot = hf_watch_read_snapshot(w, t, t->scan_at, locks, &s.flags);
    if (t->statement >= MOST_STATEMENTS)
        s.flags |= ITEM_LOOSE;
    if (w->scans.at[t->scan].total) {
        if (w->profile.read != HF_WATCH_READ_NONE) {
            hf_watch_total_open(w, t, &s);
            walk(w, t, &s);
            hf_watch_total_close(w, t);
        }
        t->scan = NO_ID;
        return;
    }
    find_twins(w, t);
    walk(w, t, &s);
    if (w->tracks_reads || w->profile.lock == HF_WATCH_LOCK_RANGES) {
        uint32_t group = w->scans.at[t->scan].group;

        if (w->groups.at[group].live.n == 0)
            hf_vec_push(&w->busy_groups, group);
        hf_vec_push(&w->groups.at[group].live, s);
    }
    t->scan = NO_ID;
    t->rows.n = 0;
}

void hf_watch_scans_trim(hf_watch *w)
{
    size_t busy = 0;

    for (size_t i = 0; i < w->busy_groups.n; i++) {
        watch_group *g = &w->groups.at[w->busy_groups.at[i]];
        size_t kept = 0;

        for (size_t k = 0; k < g->live.n; k++)
            if (g->live.at[k].snapshot.lo >= w->live)
                g->live.at[kept++] = g->live.at[k];
        g->live.n = kept;
        if (kept > 0)
            w->busy_groups.at[busy++] = w->busy_groups.at[i];
    }
    w->busy_groups.n = busy;
}

void hf_watch_scans_release(hf_watch *w)
{
    for (size_t i = 0; i < w->groups.n; i++) {
        watch_group *g = &w->groups.at[i];

        for (size_t k = 0; k < g->blocks.n; k++)
            hf_free(g->blocks.at[k]);
        hf_vec_release(&g->fresh);
        hf_vec_release(&g->blocks);
        hf_vec_release(&g->live);
    }
    hf_vec_release(&w->groups);
    hf_vec_release(&w->busy_groups);
    hf_vec_release(&w->scans);
}
