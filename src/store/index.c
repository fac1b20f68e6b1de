/* index.c: committed rows by their number; see index.h. */
#include "store/index.h"

#include <stdlib.h>

void hf_index_init(hf_store *s, uint32_t span)
{
    s->n_buckets = span;
    s->buckets = HF_NEW_ARRAY(index_bucket, span);
    for (uint32_t i = 0; i < span; i++)
        s->buckets[i] = (index_bucket){HF_NONE, 0};
}

void hf_index_release(hf_store *s)
{
    hf_free(s->buckets);
    hf_vec_release(&s->entries);
}

static uint32_t bucket_of(const hf_store *s, int64_t number)
{
    if (number < 0)
        return 0;
    return number < s->n_buckets ? (uint32_t)number : s->n_buckets - 1;
}

static index_bucket *bucket_at(hf_store *s, uint32_t v)
{
    return &s->buckets[bucket_of(s, s->versions.at[v].number)];
}

void hf_index_add(hf_store *s, uint32_t key, uint32_t v)
{
    index_bucket *b = bucket_at(s, v);

    while (s->entries.n <= v)
        hf_vec_push(&s->entries, (index_entry){HF_NONE, HF_NONE, 0, 0});
    s->entries.at[v] = (index_entry){b->first, HF_NONE, key, INVISIBLE};
    if (!is_row(s, v))
        return; /* nobody looks for it, but it will be overwritten */
    if (b->first != HF_NONE)
        s->entries.at[b->first].prev = v;
    b->first = v;
}

void hf_index_install(hf_store *s, uint32_t key, uint32_t v)
{
    uint32_t before = s->versions.at[v].prev;

    hf_index_add(s, key, v);
    s->rows_changed = s->clock;
    if (is_row(s, v))
        bucket_at(s, v)->changed = s->clock;
    if (before == HF_NONE)
        return;
    s->entries.at[before].until = s->clock;
    if (is_row(s, before))
        bucket_at(s, before)->changed = s->clock;
}

void hf_index_remove(hf_store *s, uint32_t v)
{
    const index_entry *e = &s->entries.at[v];

    if (!is_row(s, v))
        return;
    if (e->next != HF_NONE)
        s->entries.at[e->next].prev = e->prev;
    if (e->prev != HF_NONE)
        s->entries.at[e->prev].next = e->next;
    else
        bucket_at(s, v)->first = e->next;
}

/* ---- scans --------------------------------------------------------------- */

static bool matches(const hf_store *s, uint32_t v, const hf_store_scanned *scan)
{
    int64_t number = s->versions.at[v].number;

    return scan->lo <= number && number <= scan->hi;
}

static void add_row(hf_store *s, store_txn *t, uint32_t key, uint32_t v)
{
    const hf_store_version *version = &s->versions.at[v];

    hf_vec_push(&t->rows, (hf_store_row){.key = key,
                                         .version = v,
                                         .id = version->id,
                                         .writer = version->writer,
                                         .number = version->number,
                                         .present = true,
                                         .in_set = true,
                                         .returned = true});
}

/* The transaction's own rows. */
static void scan_own(hf_store *s, store_txn *t, const hf_store_scanned *scan)
{
    for (size_t i = 0; i < t->writes.n; i++) {
        const hf_store_write_ref *w = &t->writes.at[i];

        if (is_row(s, w->version) && matches(s, w->version, scan))
            add_row(s, t, w->key, w->version);
    }
}

/* The rows of others in one bucket. */
static void scan_bucket(hf_store *s, store_txn *t, uint32_t snapshot,
                        const hf_store_scanned *scan, uint32_t bucket)
{
    uint32_t v = s->buckets[bucket].first;

    for (; v != HF_NONE; v = s->entries.at[v].next) {
        const index_entry *e = &s->entries.at[v];

        if (s->versions.at[v].stamp <= snapshot && snapshot < e->until &&
            matches(s, v, scan) && own_version(s, t, e->key) == HF_NONE)
            add_row(s, t, e->key, v);
    }
}

/* Of the rows from the first-th on, keeps one with the least (sign 1) or
 * greatest (sign -1) number. */
static void keep_extreme(store_txn *t, size_t first, int sign)
{
    for (size_t i = first + 1; i < t->rows.n; i++) {
        bool less = t->rows.at[i].number < t->rows.at[first].number;
        bool more = t->rows.at[i].number > t->rows.at[first].number;

        if (sign > 0 ? less : more)
            t->rows.at[first] = t->rows.at[i];
    }
    if (t->rows.n > first + 1)
        t->rows.n = first + 1;
}

static int by_key(const void *a, const void *b)
{
    const hf_store_row *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

void hf_index_scan(hf_store *s, store_txn *t, hf_op_kind kind,
                   uint32_t snapshot, const hf_store_scanned *scan)
{
    uint32_t low = bucket_of(s, scan->lo), high = bucket_of(s, scan->hi);
    bool extreme = kind == HF_OP_MIN || kind == HF_OP_MAX;
    int step = kind == HF_OP_MAX ? -1 : 1;
    size_t first = t->rows.n, own;

    if (scan->lo > scan->hi)
        return;
    scan_own(s, t, scan);
    own = t->rows.n;
    for (uint32_t i = 0; i <= high - low; i++) {
        scan_bucket(s, t, snapshot, scan, step > 0 ? low + i : high - i);
        if (extreme && t->rows.n > own)
            break;
    }
    if (extreme)
        keep_extreme(t, first, step);
    else if (t->rows.n > first + 1)
        qsort(t->rows.at + first, t->rows.n - first, sizeof(hf_store_row),
              by_key);
}

bool hf_index_touched(const hf_store *s, const hf_store_scanned *scan,
                      uint32_t snapshot)
{
    uint32_t low = bucket_of(s, scan->lo), high = bucket_of(s, scan->hi);

    if (scan->lo > scan->hi || s->rows_changed <= snapshot)
        return false;
    if (low == 0 && high == s->n_buckets - 1)
        return true;
    for (uint32_t i = low; i <= high; i++)
        if (s->buckets[i].changed > snapshot)
            return true;
    return false;
}
