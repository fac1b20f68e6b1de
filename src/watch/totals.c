/* totals.c: sums, counts, minima and maxima of conditions.
 *
 * A total is a read of all keys in its range of which only one number is
 * known.  Each key has candidate versions (shard.c), each of them counts with
 * a number or does not; the total is impossible if no choice of one candidate
 * for each key gives the number that was returned.
 *
 *   count     each key counts 0 or 1, so all numbers between the least and the
 *             greatest are possible, and no others
 *   sum       the set of all sums, key by key; if it has too many, its least
 *             and greatest
 *   min, max  somebody may count exactly that, and everybody has a candidate
 *             that is not below (above)
 *
 * Candidates are all that could have been read, so what is called impossible
 * is: that the choices may contradict each other or other reads only makes
 * fewer of them possible.  A row whose value or number nobody knows may count
 * anything: the total is then counted as not judged.  No dependencies follow
 * from a total.
 *
 * The transaction's own writes are known when the statement ends; every other
 * key goes to its shard as an item, is looked at when the snapshot is over,
 * like a read, and adds to the shard's part.  All parts of a total are there
 * in the same batch, as the times are the same; the join adds them up.
 *
 * Keys that are placed after the statement and before it is judged are added;
 * those placed later have no version of that time, as they had none at the
 * beginning: the source says so (hf_watch_total()).
 *
 * Cost: O(1) for each key and candidate; for a sum MOST_SUMS for each key that
 * has a choice.
 */
#include <stdlib.h>
#include <string.h>

#include "watch/inside.h"

#define MOST_SUMS 4096u

static const total_part nothing = {.least = INT64_MAX, .greatest = INT64_MIN};

/* ---- intake -------------------------------------------------------------- */

void hf_watch_total_open(hf_watch *w, const watch_txn *t, live_scan *s)
{
    watch_total x = {.txn = t->id,
                     .serial = t->serial,
                     .seq = w->seq,
                     .value = t->scan_value,
                     .number = t->scan_number,
                     .at = s->at,
                     .snapshot = s->snapshot,
                     .own = nothing,
                     .scan = s->scan,
                     .group = w->scans.at[s->scan].group,
                     .what = w->scans.at[s->scan].total,
                     .flags = s->flags};

    hf_vec_push(&w->totals, x);
}

static void add_number(total_part *p, int64_t number)
{
    p->n++;
    if (__builtin_add_overflow(p->sum, number, &p->sum))
        p->is_open = true;
    if (number < p->least)
        p->least = number;
    if (number > p->greatest)
        p->greatest = number;
}

static hf_watch_match count(const hf_watch *w, uint32_t scan, uint32_t key,
                            uint64_t value, int64_t *ret)
{
    const hf_watch_options *o = &w->options;

    if (value == HF_EVENT_NO_ROW)
        return HF_MATCH_NO;
    return o->counts ? o->counts(o->user, scan, key, value, ret)
                     : HF_MATCH_UNKNOWN;
}

static void push_key(hf_watch *w, const watch_total *x, uint64_t number,
                     uint32_t key)
{
    watch_item it = {.now = w->now,
                     .seq = x->seq,
                     .txn = x->txn,
                     .serial = x->serial,
                     .value = number,
                     .at = x->at,
                     .snapshot = x->snapshot,
                     .key = key,
                     .row = key_at(w, key)->row,
                     .scan = x->scan,
                     .kind = ITEM_TOTAL,
                     .flags = x->flags};

    hf_watch_push_item(w, &it);
}

void hf_watch_total_key(hf_watch *w, uint32_t key, const own_write *own)
{
    watch_total *x = &w->totals.at[w->totals.n - 1];
    int64_t number = 0;

    if (!own) {
        x->own.n_keys++;
        push_key(w, x, w->first_total + w->totals.n - 1, key);
        return;
    }
    if (own->is_doubtful || w->profile.locks_at_commit) {
        x->own.is_open = true;
        return;
    }
    switch (count(w, x->scan, key, own->value, &number)) {
    case HF_MATCH_YES:
        add_number(&x->own, number);
        break;
    case HF_MATCH_UNKNOWN:
        x->own.is_open = true;
        break;
    case HF_MATCH_NO:
        break;
    }
}

void hf_watch_total_place(hf_watch *w, uint32_t key, uint32_t group,
                          uint64_t place)
{
    for (size_t i = 0; i < w->totals.n; i++) {
        watch_total *x = &w->totals.at[i];
        const scan_range *r = &w->scans.at[x->scan];

        if (x->is_judged || x->group != group || place < r->first ||
            place > r->last)
            continue;
        if (x->snapshot.hi < w->now) /* it may be judged already */
            continue;
        push_key(w, x, w->first_total + i, key);
    }
}

/* ---- shards -------------------------------------------------------------- */

static total_part *part_of(watch_shard *s, const watch_item *it)
{
    size_t n = s->total_parts.n;
    total_part p = nothing;
    watch_finding *f;

    if (n > 0 && s->total_parts.at[n - 1].total == it->value)
        return &s->total_parts.at[n - 1];
    p.total = it->value;
    f = hf_watch_shard_find(
        s, FOUND_TOTAL,
        it->snapshot.hi < it->now ? it->now : it->snapshot.hi + 1, it->seq);
    f->index = (uint32_t)n;
    hf_vec_push(&s->total_parts, p);
    return &s->total_parts.at[n];
}

/* One candidate of a key; false: nobody knows what it counts. */
static bool add_choice(watch_shard *s, const watch_item *it,
                       const watch_version *v)
{
    total_choice c = {.total = it->value, .version = *v, .key = it->key};
    hf_watch_match match = HF_MATCH_UNKNOWN;

    if (!(v->ref & VERSION_WILD))
        match = count(s->w, it->scan, it->key, v->value, &c.number);
    if (match == HF_MATCH_UNKNOWN)
        return false;
    c.counts = match == HF_MATCH_YES;
    if (!c.counts)
        c.number = 0;
    hf_vec_push(&s->total_choices, c);
    return true;
}

void hf_watch_total_look(watch_shard *s, const watch_item *it)
{
    watch_key *k = page_key(s->pages, it->key);
    const watch_version *v = versions_of(k);
    total_part *p = part_of(s, it);
    size_t first = s->total_choices.n;
    const total_choice *c;
    uint64_t floor = 0;
    bool has_pivot = false, same = true;

    p->n_keys++;
    for (unsigned i = k->n; i-- > 0;) {
        if (v[i].at.lo > it->snapshot.hi || v[i].at.hi < floor)
            continue;
        if (!has_pivot && v[i].at.hi < it->snapshot.lo &&
            !(v[i].ref & VERSION_MAYBE)) {
            has_pivot = true;
            floor = v[i].at.lo;
        }
        p->is_open |= !add_choice(s, it, &v[i]);
    }
    if (first == s->total_choices.n)
        return;
    c = &s->total_choices.at[first];
    for (size_t i = first + 1; i < s->total_choices.n; i++)
        same &= s->total_choices.at[i].counts == c->counts &&
                s->total_choices.at[i].number == c->number;
    if (!same)
        return;
    if (c->counts)
        add_number(p, c->number);
    s->total_choices.n = first;
}

/* ---- judging ------------------------------------------------------------- */

typedef HF_VEC(total_choice) choice_vec;
typedef HF_VEC(int64_t) sum_vec;

/* The choices of one key from `from` on; where they end. */
static size_t end_of_key(const choice_vec *c, size_t from)
{
    size_t i = from + 1;

    while (i < c->n && c->at[i].key == c->at[from].key)
        i++;
    return i;
}

/* The least and the greatest that a key may add. */
static void bounds(const choice_vec *c, size_t from, size_t end, bool counts,
                   int64_t *ret_lo, int64_t *ret_hi)
{
    *ret_lo = INT64_MAX;
    *ret_hi = INT64_MIN;
    for (size_t i = from; i < end; i++) {
        int64_t x = counts ? c->at[i].counts : c->at[i].number;

        *ret_lo = x < *ret_lo ? x : *ret_lo;
        *ret_hi = x > *ret_hi ? x : *ret_hi;
    }
}

/* Is the number between the least and the greatest?  True if they are too large
 * to tell. */
static bool is_between(const choice_vec *c, int64_t base, int64_t number,
                       bool counts)
{
    int64_t lo = base, hi = base, x, y;

    for (size_t i = 0; i < c->n;) {
        size_t end = end_of_key(c, i);

        bounds(c, i, end, counts, &x, &y);
        if (__builtin_add_overflow(lo, x, &lo) ||
            __builtin_add_overflow(hi, y, &hi))
            return true;
        i = end;
    }
    return lo <= number && number <= hi;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* All sums of `from` with the choices of a key; false: there are too many. */
static bool add_key(const sum_vec *from, const choice_vec *c, size_t first,
                    size_t end, sum_vec *to)
{
    size_t kept = 0;

    to->n = 0;
    for (size_t k = first; k < end; k++)
        for (size_t i = 0; i < from->n; i++) {
            int64_t sum;

            if (__builtin_add_overflow(from->at[i], c->at[k].number, &sum))
                return false;
            hf_vec_push(to, sum);
        }
    qsort(to->at, to->n, sizeof(*to->at), by_number);
    for (size_t i = 0; i < to->n; i++)
        if (i == 0 || to->at[i] != to->at[kept - 1])
            to->at[kept++] = to->at[i];
    to->n = kept;
    return kept <= MOST_SUMS;
}

static bool is_sum(const choice_vec *c, int64_t base, int64_t number)
{
    sum_vec sums[2] = {{0}, {0}};
    unsigned now = 0;
    bool all = true, found = false;

    if (!is_between(c, base, number, false))
        return false;
    hf_vec_push(&sums[0], base);
    for (size_t i = 0; i < c->n && all;) {
        size_t end = end_of_key(c, i);

        all = add_key(&sums[now], c, i, end, &sums[1 - now]);
        now = 1 - now;
        i = end;
    }
    for (size_t i = 0; i < sums[now].n && all; i++)
        found |= sums[now].at[i] == number;
    hf_vec_release(&sums[0]);
    hf_vec_release(&sums[1]);
    return found || !all;
}

/* A minimum; a maximum is that of the numbers' opposites. */
static bool is_least(const choice_vec *c, const total_part *p, int64_t number,
                     bool greatest)
{
    bool some = greatest ? p->greatest == number : p->least == number;

    if (p->n > 0 && (greatest ? p->greatest > number : p->least < number))
        return false;
    for (size_t i = 0; i < c->n;) {
        size_t end = end_of_key(c, i);
        bool fits = false;

        for (; i < end; i++) {
            const total_choice *x = &c->at[i];

            fits |= !x->counts ||
                    (greatest ? x->number <= number : x->number >= number);
            some |= x->counts && x->number == number;
        }
        if (!fits)
            return false;
    }
    return some;
}

static bool is_possible(const watch_total *x, const total_part *p,
                        const choice_vec *c)
{
    if (p->is_open)
        return true;
    switch ((hf_watch_total_kind)x->what) {
    case HF_TOTAL_COUNT:
        return is_between(c, p->n, x->number, true);
    case HF_TOTAL_SUM:
        return is_sum(c, p->sum, x->number);
    case HF_TOTAL_MIN:
    case HF_TOTAL_MAX:
        return is_least(c, p, x->number, x->what == HF_TOTAL_MAX);
    case HF_TOTAL_NONE:
        break;
    }
    return true;
}

static void fill(hf_violation *v, const watch_total *x, const choice_vec *c,
                 uint32_t n_keys)
{
    v->rule = HF_RULE_TOTAL;
    v->key = UINT32_MAX;
    v->value = x->value;
    hf_watch_part_add(v, (hf_violation_part){.txn = x->txn,
                                             .key = UINT32_MAX,
                                             .before = x->snapshot.lo,
                                             .after = x->snapshot.hi,
                                             .part = HF_PART_SNAPSHOT});
    hf_watch_part_add(v, (hf_violation_part){.txn = x->txn,
                                             .key = UINT32_MAX,
                                             .value = x->value,
                                             .has_value = true,
                                             .before = x->at.lo,
                                             .after = x->at.hi,
                                             .part = HF_PART_READ});
    for (size_t i = 0; i < c->n; i++) {
        const watch_version *e = &c->at[i].version;

        if (v->other == HF_WATCH_NO_TXN)
            v->other = version_txn(e);
        v->clock_suspect |= (e->ref & VERSION_SUSPECT) != 0;
        hf_watch_part_add(
            v, (hf_violation_part){.txn = version_txn(e),
                                   .key = c->at[i].key,
                                   .value = e->value,
                                   .has_value = true,
                                   .before = e->at.lo,
                                   .after = e->at.hi,
                                   .part = HF_PART_CANDIDATE,
                                   .is_unknown = e->ref & VERSION_MAYBE});
    }
    v->parts_left_out += n_keys; /* rows of which there is one candidate */
}

static void add_part(total_part *to, const total_part *p)
{
    to->n += p->n;
    to->n_keys += p->n_keys;
    to->is_open |=
        p->is_open || __builtin_add_overflow(to->sum, p->sum, &to->sum);
    to->least = p->least < to->least ? p->least : to->least;
    to->greatest = p->greatest > to->greatest ? p->greatest : to->greatest;
}

static void tally(hf_watch *w, const total_part *p, const choice_vec *c)
{
    if (p->is_open) {
        w->stats.unjudged[HF_UNJUDGED_TOTAL]++;
        return;
    }
    w->stats.reads_judged++;
    w->stats.uncertain[HF_WATCH_WR] += c->n > 0;
}

void hf_watch_total_close(hf_watch *w, const watch_txn *t)
{
    watch_total *x = &w->totals.at[w->totals.n - 1];
    const choice_vec none = {0};

    if (x->own.n_keys > 0)
        return; /* the join will */
    x->is_judged = true;
    x->own.is_open |= x->snapshot.hi >= w->now; /* a key may still come */
    tally(w, &x->own, &none);
    if (!is_possible(x, &x->own, &none))
        fill(hf_watch_intake_violation(w, t), x, &none, 0);
}

void hf_watch_total_judge(hf_watch *w, const watch_finding *f, uint64_t total)
{
    watch_total *x = &w->totals.at[total - w->first_total];
    choice_vec choices = {0};
    total_part all = x->own;

    if (x->is_judged)
        return; /* with another shard's part */
    x->is_judged = true;
    all.n_keys = 0;
    for (uint32_t i = 0; i < SHARDS; i++) {
        const watch_shard *s = &w->shards[i];

        for (size_t k = 0; k < s->total_parts.n; k++)
            if (s->total_parts.at[k].total == total)
                add_part(&all, &s->total_parts.at[k]);
        for (size_t k = 0; k < s->total_choices.n; k++)
            if (s->total_choices.at[k].total == total)
                hf_vec_push(&choices, s->total_choices.at[k]);
    }
    tally(w, &all, &choices);
    if (!is_possible(x, &all, &choices)) {
        hf_violation v;

        memset(&v, 0, offsetof(hf_violation, parts));
        v.mechanism = HF_WATCH_CR;
        v.time = f->time;
        v.txn = x->txn;
        v.other = HF_WATCH_NO_TXN;
        v.clock_suspect = (x->flags & ITEM_SUSPECT) != 0;
        fill(&v, x, &choices, all.n_keys);
        hf_watch_deliver(w, &v);
    }
    hf_vec_release(&choices);
}

void hf_watch_totals_trim(hf_watch *w)
{
    size_t n = 0;

    while (n < w->totals.n && w->totals.at[n].is_judged)
        n++;
    if (n == 0)
        return;
    w->totals.n -= n;
    w->first_total += n;
    memmove(w->totals.at, w->totals.at + n,
            w->totals.n * sizeof(*w->totals.at));
}
