/* entries.c: see entries.h.
 *
 * Who becomes visible when is a sorted array of transactions for each kind of
 * snapshot; a snapshot is a place in it, and for ids a few exceptions.
 */
#include "verify/entries.h"

#include "base/sort.h"

bool hf_has_snapshot(const hf_verifier *v, hf_op_id op)
{
    return v->entries && hf_op_has_predicate(hf_op_kind_of(v->h, op)) &&
           hf_op_predicate(v->h, op).snapshot != HF_SNAPSHOT_NONE;
}

/* ---- making them --------------------------------------------------------- */

static void *copy(hf_verifier *v, const void *from, size_t n, size_t more,
                  size_t size)
{
    void *to = hf_kept_zeros(v, n + more, size);

    if (n > 0)
        memcpy(to, from, n * size);
    return to;
}

/* An entry may be the initial version of a key that nobody read: it needs a
 * value of its own to be spoken of. */
static void add_nils(hf_verifier *v, hf_entries *e)
{
    const hf_history *old = v->h;
    hf_history *h = hf_kept_zeros(v, 1, sizeof(*h));
    uint32_t n = old->n_values;

    *h = *old;
    h->value_key = copy(v, old->value_key, n, h->n_keys, sizeof(hf_key_id));
    h->value_type = copy(v, old->value_type, n, h->n_keys, sizeof(uint8_t));
    h->value_data = copy(v, old->value_data, n, h->n_keys, sizeof(int64_t));
    e->nil = hf_kept_nones(v, h->n_keys, sizeof(*e->nil));
    for (hf_value_id x = 0; x < n; x++)
        if (h->value_type[x] == HF_NIL)
            e->nil[h->value_key[x]] = x;
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        if (e->nil[k] != HF_NONE)
            continue;
        h->value_key[h->n_values] = k;
        h->value_type[h->n_values] = HF_NIL;
        e->nil[k] = h->n_values++;
    }
    e->h = h;
    v->h = h;
}

void hf_entries_open(hf_verifier *v)
{
    hf_snapshots *s;

    if (v->entries || (uint64_t)v->h->n_values + v->h->n_keys >= HF_SEVERAL)
        return;
    s = hf_snapshots_new(v->h);
    if (!s)
        return;
    v->entries = hf_kept_zeros(v, 1, sizeof(*v->entries));
    v->entries->snapshots = s;
    add_nils(v, v->entries);
}

void hf_entries_close(hf_verifier *v)
{
    if (v->entries)
        hf_snapshots_free(v->entries->snapshots);
    v->entries = NULL;
}

/* ---- timelines ----------------------------------------------------------- */

static uint64_t place_of_id(int64_t id)
{
    return (uint64_t)id ^ (UINT64_C(1) << 63);
}

static uint64_t time_of(const hf_history *h, hf_txn_id t)
{
    return h->cert.commit_ts ? h->cert.commit_ts[t] : HF_TIME_NONE;
}

const hf_timeline *hf_timeline_of(hf_verifier *v, hf_snapshot_kind kind)
{
    const hf_history *h = v->h;
    hf_timeline **kept = &v->entries->lines[kind == HF_SNAPSHOT_IDS];
    hf_timeline *line = *kept;
    hf_sortable *all;
    uint32_t n = 0;

    if (line)
        return line;
    line = *kept = hf_kept_zeros(v, 1, sizeof(*line));
    all = hf_zeros(v, h->n_txns, sizeof(*all));
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (h->txn_outcome[t] != HF_ABORTED &&
            v->facts.write_first[t] < v->facts.write_first[t + 1])
            all[n++] = (hf_sortable){kind == HF_SNAPSHOT_IDS
                                         ? place_of_id(hf_txn_label(h, t))
                                         : time_of(h, t),
                                     t};
    hf_sort(all, n);
    line->n = n;
    line->txn = hf_kept_zeros(v, n, sizeof(*line->txn));
    line->at = hf_kept_zeros(v, n, sizeof(*line->at));
    line->index = hf_kept_nones(v, h->n_txns, sizeof(*line->index));
    for (uint32_t i = 0; i < n; i++) {
        line->txn[i] = (hf_txn_id)all[i].value;
        line->at[i] = all[i].key;
        line->index[all[i].value] = i;
    }
    return line;
}

/* The first place at or after `at`. */
static uint32_t place_from(const hf_timeline *line, uint64_t at)
{
    uint32_t low = 0, high = line->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (line->at[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool next_number(hf_str text, size_t *at, int64_t *ret)
{
    size_t from = *at;

    while (*at < text.len && text.ptr[*at] >= '0' && text.ptr[*at] <= '9')
        ++*at;
    if (*at == from ||
        !hf_str_to_int((hf_str){text.ptr + from, *at - from}, ret))
        return false;
    ++*at; /* what stands between */
    return true;
}

uint32_t hf_timeline_place(const hf_timeline *line, const hf_verifier *v,
                           hf_op_id op)
{
    hf_predicate p = hf_op_predicate(v->h, op);
    int64_t id = 0;
    size_t at = 0;

    if (p.snapshot == HF_SNAPSHOT_TIME)
        return place_from(line, p.snapshot_time + 1);
    for (int i = 0; i < 2; i++) /* the second is xmax */
        (void)next_number(hf_string(v->h, p.snapshot_ids), &at, &id);
    return place_from(line, place_of_id(id));
}

bool hf_next_active(const hf_timeline *line, const hf_verifier *v, hf_op_id op,
                    size_t *at, hf_txn_id *ret)
{
    hf_predicate p = hf_op_predicate(v->h, op);
    hf_str text;
    int64_t id;

    if (p.snapshot != HF_SNAPSHOT_IDS)
        return false;
    text = hf_string(v->h, p.snapshot_ids);
    if (*at == 0) { /* behind xmin and xmax */
        (void)next_number(text, at, &id);
        (void)next_number(text, at, &id);
    }
    while (next_number(text, at, &id)) {
        uint32_t i = place_from(line, place_of_id(id));

        if (i < line->n && line->at[i] == place_of_id(id)) {
            *ret = line->txn[i];
            return true;
        }
    }
    return false;
}

/* ---- doubt --------------------------------------------------------------- */

/* Per slot: is it in the certificate's order of its key? */
static bool *find_listed(hf_verifier *v)
{
    const hf_certificate *c = &v->h->cert;
    bool *listed =
        hf_zeros(v, v->facts.write_first[v->h->n_txns], sizeof(bool));

    for (hf_key_id k = 0; c->order_first && k < v->h->n_keys; k++)
        for (uint64_t i = c->order_first[k]; i < c->order_first[k + 1]; i++) {
            uint32_t slot = hf_facts_slot(&v->facts, c->order_txn[i], k);

            if (slot != HF_NONE)
                listed[slot] = true;
        }
    return listed;
}

static bool is_ordered(const hf_history *h, hf_key_id key)
{
    const uint64_t *first = h->cert.order_first;

    return first && first[key] < first[key + 1];
}

/* Goes through the writes by commit time, so that equal times of a key meet.
 * By ids the certificate's order comes first, commit times stand in. */
static void find_doubtful(hf_verifier *v, bool by_ids, bool *is_doubtful)
{
    const hf_history *h = v->h;
    const hf_facts *f = &v->facts;
    const hf_timeline *line = hf_timeline_of(v, HF_SNAPSHOT_TIME);
    uint64_t *last = hf_nones(v, h->n_keys, sizeof(*last));
    bool *listed = find_listed(v);

    for (uint32_t i = 0; i < line->n; i++) {
        hf_txn_id t = line->txn[i];
        uint64_t time = line->at[i];

        for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++) {
            hf_key_id k = f->write_key[s];
            bool unplaced = time == HF_TIME_NONE &&
                            (by_ids || h->txn_outcome[t] == HF_COMMITTED);
            bool shared = time != HF_TIME_NONE && last[k] == time;

            last[k] = time;
            if (by_ids && is_ordered(h, k))
                is_doubtful[k] |= !listed[s];
            else
                is_doubtful[k] |= unplaced || shared;
            is_doubtful[k] |=
                (f->key_use[k] & (HF_KEY_LIST | HF_KEY_BLIND)) != 0;
        }
    }
}

const hf_doubt *hf_doubt_of(hf_verifier *v, hf_snapshot_kind kind)
{
    const hf_history *h = v->h;
    hf_doubt **kept = &v->entries->doubts[kind == HF_SNAPSHOT_IDS];
    hf_doubt *d = *kept;
    uint32_t *next, *first;

    if (d)
        return d;
    d = *kept = hf_kept_zeros(v, 1, sizeof(*d));
    d->is_doubtful = hf_kept_zeros(v, h->n_keys, sizeof(bool));
    find_doubtful(v, kind == HF_SNAPSHOT_IDS, d->is_doubtful);
    next = hf_zeros(v, (size_t)h->n_strings + 1, sizeof(*next));
    first = hf_kept_zeros(v, (size_t)h->n_strings + 2, sizeof(*first));
    for (hf_key_id k = 0; k < h->n_keys; k++)
        first[hf_table_place(h, hf_table_of(h, k)) + 1] += d->is_doubtful[k];
    for (uint32_t i = 0; i <= h->n_strings; i++) {
        next[i] = first[i];
        first[i + 1] += first[i];
    }
    d->keys = (hf_key_index){
        first, hf_kept_zeros(v, first[h->n_strings + 1], sizeof(uint32_t))};
    for (hf_key_id k = 0; k < h->n_keys; k++)
        if (d->is_doubtful[k])
            d->keys.at[next[hf_table_place(h, hf_table_of(h, k))]++] = k;
    return d;
}

/* ---- questions ----------------------------------------------------------- */

/* The entry of a key of op's table, whatever is known of others. */
static bool find_entry(const hf_verifier *v, hf_txn_id t, hf_op_id op,
                       hf_key_id key, hf_item_read *ret)
{
    const hf_history *h = v->h;
    hf_op_id from = hf_own_write_before(h, &v->facts, t, op, key);

    *ret = (hf_item_read){.key = key, .writer = t, .op = op};
    if (v->facts.key_use[key] & HF_KEY_LIST)
        return false;
    if (from == HF_NONE) {
        from = hf_snapshot_others(v->entries->snapshots, t, op, key);
        if (from == HF_NONE)
            return false;
        if (from == HF_WRITER_INITIAL) {
            ret->writer = HF_WRITER_INITIAL;
            ret->value = h->key_initial ? h->key_initial[key] : HF_NONE;
            if (ret->value == HF_NONE)
                ret->value = v->entries->nil[key];
            return true;
        }
        ret->writer = hf_op_txn(h, from);
    }
    ret->value = hf_op_written(h, from);
    return ret->value != HF_NONE;
}

/* In hf_entries.whole. */
enum { NOT_ASKED, WHOLE, GAP };

bool hf_is_whole(hf_verifier *v, hf_txn_id t, hf_op_id op)
{
    hf_entries *e = v->entries;
    const hf_key_index *doubtful;
    hf_predicate p;
    uint32_t table;
    hf_item_read entry;

    if (!e->whole)
        e->whole = hf_kept_zeros(v, v->h->n_ops, sizeof(*e->whole));
    if (e->whole[op] != NOT_ASKED)
        return e->whole[op] == WHOLE;
    p = hf_op_predicate(v->h, op);
    table = hf_table_place(v->h, p.table);
    doubtful = &hf_doubt_of(v, p.snapshot)->keys;
    e->whole[op] = WHOLE;
    for (uint32_t i = doubtful->first[table];
         i < doubtful->first[table + 1] && e->whole[op] == WHOLE; i++)
        if (!find_entry(v, t, op, doubtful->at[i], &entry))
            e->whole[op] = GAP;
    return e->whole[op] == WHOLE;
}

bool hf_entry_of(hf_verifier *v, hf_txn_id t, hf_op_id op, hf_key_id key,
                 hf_item_read *ret)
{
    return v->entries &&
           hf_op_predicate(v->h, op).table == hf_table_of(v->h, key) &&
           hf_is_whole(v, t, op) && find_entry(v, t, op, key, ret);
}

hf_value_id hf_version_value(const hf_verifier *v, uint32_t version)
{
    const hf_history *h = v->h;

    if (!hf_is_initial_version(v, version))
        return hf_op_written(h, v->facts.write_op[version]);
    return h->key_initial ? h->key_initial[hf_version_key(v, version)]
                          : HF_NONE;
}
