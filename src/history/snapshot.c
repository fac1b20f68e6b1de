/* snapshot.c: which version of a key a snapshot holds.
 *
 * Two arrays of the versions of each key are made when first needed: by
 * commit time, for snapshots by time, and by version order, for snapshots by
 * ids.  The second is looked through from its end in blocks of which the
 * least id is known, so that versions far in the future of the snapshot cost
 * little.
 */
#include "history/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"

#define BLOCK 32u

typedef struct version {
    uint64_t time; /* HF_TIME_NONE: not recorded */
    int64_t id;
    hf_op_id op;
    hf_txn_id txn;
} version;

typedef hf_snapshot_ids ids;

/* Versions of all keys: those of key k from first[k] on. */
typedef struct by_key {
    uint32_t *first;
    version *all;
} by_key;

struct hf_snapshots {
    const hf_history *h;
    by_key timed;     /* ascending by time, those without one last */
    by_key ordered;   /* in version order; those without a place last */
    uint32_t *placed; /* per key: how many of `ordered` have a place */
    int64_t *least;   /* per block of `ordered` */
    hf_map parsed;    /* string id -> index into sets */
    HF_VEC(ids) sets;
    HF_VEC(hf_string_id) tables;
    uint32_t *table_first; /* into table_keys */
    hf_key_id *table_keys;
    hf_arena arena;
};

/* ---- texts --------------------------------------------------------------- */

/* Digits up to `stop` or the end; moves *at behind the stop. */
static bool take_id(hf_str text, size_t *at, char stop, int64_t *ret)
{
    size_t from = *at;

    while (*at < text.len && text.ptr[*at] >= '0' && text.ptr[*at] <= '9')
        ++*at;
    if (*at == from ||
        !hf_str_to_int((hf_str){text.ptr + from, *at - from}, ret))
        return false;
    if (*at == text.len)
        return stop == ',';
    return text.ptr[(*at)++] == stop;
}

/* Reads the text; active may be NULL to count only. */
static bool parse(hf_str text, ids *ret, int64_t *active)
{
    size_t at = 0;

    *ret = (ids){.active = active};
    if (!take_id(text, &at, ':', &ret->min) ||
        !take_id(text, &at, ':', &ret->max))
        return false;
    while (at < text.len) {
        int64_t id;

        if (!take_id(text, &at, ',', &id))
            return false;
        if (id < ret->min || id >= ret->max)
            return false; /* finished, or not begun */
        if (active)
            active[ret->n] = id;
        ret->n++;
    }
    return ret->min <= ret->max && (text.len == 0 || text.ptr[at - 1] != ',');
}

bool hf_snapshot_text_ok(hf_str text)
{
    ids unused;

    return parse(text, &unused, NULL);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void keep_ids(hf_snapshots *s, hf_string_id text)
{
    hf_str t = hf_string(s->h, text);
    ids set;

    if (hf_map_add(&s->parsed, text, (uint32_t)s->sets.n) != s->sets.n)
        return;
    (void)parse(t, &set, NULL);
    (void)parse(t, &set,
                hf_arena_get(&s->arena, hf_array_size((size_t)set.n + 1,
                                                      sizeof(int64_t))));
    if (set.n > 1)
        qsort(set.active, set.n, sizeof(int64_t), by_number);
    hf_vec_push(&s->sets, set);
}

bool hf_snapshot_ids_hold(const ids *set, int64_t id)
{
    if (id < set->min)
        return true;
    if (id >= set->max)
        return false;
    return set->n == 0 ||
           !bsearch(&id, set->active, set->n, sizeof(id), by_number);
}

hf_snapshot_ids hf_snapshot_ids_of(const hf_snapshots *s, hf_string_id text)
{
    return s->sets.at[hf_map_get(&s->parsed, text)];
}

/* ---- versions ------------------------------------------------------------ */

static bool installs(const hf_history *h, hf_op_id op)
{
    return !(h->op_kind[op] & HF_OP_FAILED) &&
           hf_op_installs(hf_op_kind_of(h, op));
}

/* The last write of its key in the transaction. */
static bool is_last(const hf_history *h, hf_txn_id t, hf_op_id op)
{
    for (hf_op_id o = op + 1; o < h->op_first[t + 1]; o++)
        if (h->op_key[o] == h->op_key[op] && installs(h, o))
            return false;
    return true;
}

static void gather(by_key *ret, const hf_history *h)
{
    uint32_t *first = HF_NEW_ZEROED(uint32_t, (size_t)h->n_keys + 2);

    for (int fill = 0; fill < 2; fill++) {
        for (hf_txn_id t = 0; t < h->n_txns; t++) {
            if (h->txn_outcome[t] == HF_ABORTED)
                continue;
            for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
                if (!installs(h, o) || !is_last(h, t, o))
                    continue;
                if (fill)
                    ret->all[first[h->op_key[o] + 1]++] = (version){
                        h->cert.commit_ts ? h->cert.commit_ts[t] : HF_TIME_NONE,
                        hf_txn_label(h, t), o, t};
                else if ((uint64_t)h->op_key[o] + 2 <= h->n_keys)
                    first[h->op_key[o] + 2]++;
            }
        }
        if (fill)
            break;
        for (hf_key_id k = 1; k <= h->n_keys; k++)
            first[k + 1] += first[k];
        ret->all = HF_NEW_ARRAY(version, (size_t)h->n_ops + 1);
    }
    ret->first = first;
}

static uint32_t n_of(const by_key *b, hf_key_id key)
{
    return b->first[key + 1] - b->first[key];
}

static int earlier(const void *a, const void *b)
{
    const version *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

/* They often are in order already. */
static void sort_versions(version *v, uint32_t n)
{
    uint32_t i = 1;

    while (i < n && earlier(&v[i - 1], &v[i]) < 0)
        i++;
    if (i < n)
        qsort(v, n, sizeof(*v), earlier);
}

static void sort_by_time(hf_snapshots *s)
{
    gather(&s->timed, s->h);
    for (hf_key_id k = 0; k < s->h->n_keys; k++)
        sort_versions(s->timed.all + s->timed.first[k], n_of(&s->timed, k));
}

static bool all_timed(const version *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (v[i].time == HF_TIME_NONE || (i > 0 && v[i].time == v[i - 1].time))
            return false;
    return true;
}

/* Puts the versions of one key in order, as far as it is known; `place` is
 * 0 for every transaction.  Returns how many have a place. */
static uint32_t sort_key(hf_snapshots *s, hf_key_id k, uint32_t *place)
{
    const hf_certificate *c = &s->h->cert;
    version *v = s->ordered.all + s->ordered.first[k], swap;
    uint32_t n = n_of(&s->ordered, k), placed = 0;
    uint64_t from = c->order_first ? c->order_first[k] : 0;
    uint64_t to = c->order_first ? c->order_first[k + 1] : 0;

    for (uint64_t i = from; i < to; i++)
        place[c->order_txn[i]] = (uint32_t)(i - from) + 1;
    for (uint32_t i = 0; i < n; i++) /* the unplaced and the rest */
        v[i].time = place[v[i].txn] ? place[v[i].txn] : HF_TIME_NONE;
    for (uint64_t i = from; i < to; i++)
        place[c->order_txn[i]] = 0;
    for (uint32_t i = 0; i < n; i++)
        if (v[i].time != HF_TIME_NONE) {
            swap = v[placed];
            v[placed++] = v[i];
            v[i] = swap;
        }
    sort_versions(v, placed);
    if (placed > 0)
        return placed;
    for (uint32_t i = 0; i < n; i++)
        v[i].time = c->commit_ts ? c->commit_ts[v[i].txn] : HF_TIME_NONE;
    sort_versions(v, n);
    return all_timed(v, n) ? n : 0;
}

static void sort_by_order(hf_snapshots *s)
{
    const hf_history *h = s->h;
    uint32_t *place = HF_NEW_ZEROED(uint32_t, (size_t)h->n_txns + 1);
    uint32_t blocks = h->n_ops / BLOCK + 2;

    gather(&s->ordered, h);
    s->placed = HF_NEW_ARRAY(uint32_t, (size_t)h->n_keys + 1);
    for (hf_key_id k = 0; k < h->n_keys; k++)
        s->placed[k] = sort_key(s, k, place);
    hf_free(place);
    s->least = HF_NEW_ARRAY(int64_t, blocks);
    for (uint32_t i = 0; i < blocks; i++)
        s->least[i] = INT64_MAX;
    for (uint32_t i = 0; i < s->ordered.first[h->n_keys]; i++)
        if (s->ordered.all[i].id < s->least[i / BLOCK])
            s->least[i / BLOCK] = s->ordered.all[i].id;
}

/* ---- questions ----------------------------------------------------------- */

/* The certificate does not say which version it is; *ret, if not NULL, is
 * told why. */
static hf_op_id not_said(hf_snapshot_lack *ret, hf_txn_id first,
                         hf_txn_id second, uint64_t time)
{
    if (ret)
        *ret = (hf_snapshot_lack){first, second, time};
    return HF_NONE;
}

static hf_op_id at_time(const hf_snapshots *s, hf_txn_id t, uint64_t time,
                        hf_key_id key, hf_snapshot_lack *lack)
{
    const version *v = s->timed.all + s->timed.first[key];
    uint32_t n = n_of(&s->timed, key), low = 0, high;

    while (n > 0 && v[n - 1].time == HF_TIME_NONE) {
        if (s->h->txn_outcome[v[n - 1].txn] == HF_COMMITTED &&
            v[n - 1].txn != t)
            return not_said(lack, v[n - 1].txn, HF_NONE,
                            HF_TIME_NONE); /* it may have been there */
        n--;
    }
    high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (v[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && v[low - 1].txn == t)
        low--;
    if (low == 0)
        return HF_WRITER_INITIAL;
    high = low - 1; /* the one before it, t left out */
    if (high > 0 && v[high - 1].txn == t)
        high--;
    if (high > 0 && v[high - 1].time == v[low - 1].time)
        return not_said(lack, v[high - 1].txn, v[low - 1].txn, v[low - 1].time);
    return v[low - 1].op;
}

hf_op_id hf_snapshot_at(const hf_snapshots *s, hf_txn_id t, uint64_t time,
                        hf_key_id key)
{
    return at_time(s, t, time, key, NULL);
}

static hf_op_id among_ids(const hf_snapshots *s, hf_txn_id t, hf_key_id key,
                          const ids *set, hf_snapshot_lack *lack)
{
    uint32_t first = s->ordered.first[key], i = first + s->placed[key];
    uint32_t unplaced = HF_NONE;

    for (uint32_t u = i; u < s->ordered.first[key + 1]; u++) {
        const version *v = &s->ordered.all[u];

        if (!hf_snapshot_ids_hold(set, v->id) || v->txn == t ||
            s->h->txn_outcome[v->txn] != HF_COMMITTED)
            continue;
        if (unplaced != HF_NONE)
            return not_said(lack, s->ordered.all[unplaced].txn, v->txn,
                            HF_TIME_NONE);
        unplaced = u;
    }
    while (i > first) {
        if (i % BLOCK == 0 && i - first >= BLOCK &&
            s->least[i / BLOCK - 1] >= set->max) {
            i -= BLOCK;
            continue;
        }
        i--;
        if (s->ordered.all[i].txn != t &&
            hf_snapshot_ids_hold(set, s->ordered.all[i].id))
            return unplaced == HF_NONE
                       ? s->ordered.all[i].op
                       : not_said(lack, s->ordered.all[i].txn,
                                  s->ordered.all[unplaced].txn, HF_TIME_NONE);
    }
    return unplaced == HF_NONE ? HF_WRITER_INITIAL
                               : s->ordered.all[unplaced].op;
}

static hf_op_id of_others(const hf_snapshots *s, hf_txn_id t, hf_op_id op,
                          hf_key_id key, hf_snapshot_lack *lack)
{
    hf_predicate p = hf_op_predicate(s->h, op);
    uint32_t set;

    if (p.snapshot == HF_SNAPSHOT_TIME)
        return at_time(s, t, p.snapshot_time, key, lack);
    set = hf_map_get(&s->parsed, p.snapshot_ids);
    return among_ids(s, t, key, &s->sets.at[set], lack);
}

hf_op_id hf_snapshot_others(const hf_snapshots *s, hf_txn_id t, hf_op_id op,
                            hf_key_id key)
{
    return of_others(s, t, op, key, NULL);
}

bool hf_snapshot_lacks(const hf_snapshots *s, hf_txn_id t, hf_op_id op,
                       hf_key_id key, hf_snapshot_lack *ret)
{
    return hf_snapshot_version(s, t, op, key) == HF_NONE &&
           of_others(s, t, op, key, ret) == HF_NONE;
}

hf_op_id hf_snapshot_version(const hf_snapshots *s, hf_txn_id t, hf_op_id op,
                             hf_key_id key)
{
    const hf_history *h = s->h;

    for (hf_op_id o = op; o-- > h->op_first[t];)
        if (h->op_key[o] == key && installs(h, o))
            return o;
    return hf_snapshot_others(s, t, op, key);
}

/* ---- tables -------------------------------------------------------------- */

static hf_string_id table_of(const hf_history *h, hf_key_id key)
{
    return h->key_table ? h->key_table[key] : HF_NONE;
}

static void group_tables(hf_snapshots *s)
{
    const hf_history *h = s->h;
    hf_sortable *all = HF_NEW_ARRAY(hf_sortable, (size_t)h->n_keys + 1);
    HF_VEC(uint32_t) first = {0};

    for (hf_key_id k = 0; k < h->n_keys; k++)
        all[k] = (hf_sortable){table_of(h, k), k};
    hf_sort(all, h->n_keys);
    s->table_keys = HF_NEW_ARRAY(hf_key_id, (size_t)h->n_keys + 1);
    for (uint32_t i = 0; i < h->n_keys; i++) {
        if (i == 0 || all[i].key != all[i - 1].key) {
            hf_vec_push(&s->tables, (hf_string_id)all[i].key);
            hf_vec_push(&first, i);
        }
        s->table_keys[i] = (hf_key_id)all[i].value;
    }
    hf_vec_push(&first, h->n_keys);
    s->table_first = first.at;
    hf_free(all);
}

uint32_t hf_snapshot_keys(const hf_snapshots *s, hf_string_id table,
                          const hf_key_id **ret_keys)
{
    size_t low = 0, high = s->tables.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->tables.at[middle] < table)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == s->tables.n || s->tables.at[low] != table)
        return 0;
    *ret_keys = s->table_keys + s->table_first[low];
    return s->table_first[low + 1] - s->table_first[low];
}

/* ---- making one ---------------------------------------------------------- */

hf_snapshots *hf_snapshots_new(const hf_history *h)
{
    hf_snapshots *s = HF_NEW(hf_snapshots);
    bool times = false;

    s->h = h;
    hf_map_init(&s->parsed);
    for (hf_op_id o = 0; h->n_extra > 0 && o < h->n_ops; o++) {
        hf_snapshot_kind kind;

        if (!hf_op_has_predicate(hf_op_kind_of(h, o)))
            continue;
        kind = hf_op_snapshot_kind(h, o);
        times |= kind == HF_SNAPSHOT_TIME;
        if (kind == HF_SNAPSHOT_IDS)
            keep_ids(s, hf_op_predicate(h, o).snapshot_ids);
    }
    if (!times && s->sets.n == 0) {
        hf_snapshots_free(s);
        return NULL;
    }
    if (times)
        sort_by_time(s);
    if (s->sets.n > 0)
        sort_by_order(s);
    group_tables(s);
    return s;
}

void hf_snapshots_free(hf_snapshots *s)
{
    if (!s)
        return;
    hf_free(s->timed.first);
    hf_free(s->timed.all);
    hf_free(s->ordered.first);
    hf_free(s->ordered.all);
    hf_free(s->placed);
    hf_free(s->least);
    hf_map_release(&s->parsed);
    hf_vec_release(&s->sets);
    hf_vec_release(&s->tables);
    hf_free(s->table_first);
    hf_free(s->table_keys);
    hf_arena_release(&s->arena);
    hf_free(s);
}
