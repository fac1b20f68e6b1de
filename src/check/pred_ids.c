/* pred_ids.c: a clock made of snapshots by ids.
 *
 * A snapshot by ids says who was visible, not when.  But a database takes its
 * snapshots one after the other and nobody who became visible disappears
 * again: what they hold grows.  Where the recorded ones do that, sorted by how
 * many they hold, each writer has a place, the first snapshot that holds it,
 * and numbers can be given so that every snapshot is a prefix: a clock, for
 * all that knows snapshots by time (pred_clock.c, pred_timed.c).  Writers who
 * became visible together stand in the order of their versions.
 *
 * Nothing is assumed: if the snapshots are not nested, or there are snapshots
 * by time as well, there is no such clock; a key whose versions do not all
 * stand in the certificate's order, or not in that of the clock, is not regular
 * (pred_columns.c), and operations on its table look at keys one by one.
 *
 * O(W log W + V + the listed ids * log W) for W writers, V versions.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

typedef struct visible {
    hf_snapshot_ids ids;
    hf_string_id text;
    uint32_t n; /* how many writers it holds */
} visible;

typedef struct clock_maker {
    hf_pred *p;
    hf_sortable *writer; /* by id; the transaction */
    uint32_t n;
    HF_VEC(visible) sets;
    hf_map by_text;    /* of a snapshot: its place in sets, before sorting */
    uint32_t *first;   /* per writer: the first snapshot that holds it */
    uint32_t *waiting; /* writers that are in none so far */
} clock_maker;

/* ---- who, and which snapshots -------------------------------------------- */

static void find_writers(clock_maker *m)
{
    const hf_graph *g = m->p->g;
    uint8_t *writes = HF_NEW_ZEROED(uint8_t, (size_t)g->h->n_txns + 1);

    for (uint32_t v = 0; v < g->n_versions; v++)
        if (g->ver_txn[v] != HF_NONE)
            writes[g->ver_txn[v]] = 1;
    m->writer = hf_alloc_large(
        hf_array_size((size_t)g->h->n_txns + 1, sizeof(*m->writer)));
    for (hf_txn_id t = 0; t < g->h->n_txns; t++)
        if (writes[t]) /* ids below 0 come first */
            m->writer[m->n++] = (hf_sortable){
                (uint64_t)hf_txn_label(g->h, t) ^ (UINT64_C(1) << 63), t};
    hf_sort(m->writer, m->n);
    hf_free(writes);
}

static int64_t id_of(const clock_maker *m, uint32_t writer)
{
    return (int64_t)(m->writer[writer].key ^ (UINT64_C(1) << 63));
}

/* How many writers have an id below. */
static uint32_t writers_below(const clock_maker *m, int64_t id)
{
    uint32_t low = 0, high = m->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (id_of(m, middle) < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t count_held(const clock_maker *m, const hf_snapshot_ids *s)
{
    uint32_t n = writers_below(m, s->max);

    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t at;

        if (s->active[i] < s->min || s->active[i] >= s->max ||
            (i > 0 && s->active[i] == s->active[i - 1]))
            continue;
        at = writers_below(m, s->active[i]);
        n -= at < m->n && id_of(m, at) == s->active[i];
    }
    return n;
}

static bool has_ids_only(const hf_pred *p)
{
    bool any = false;

    for (size_t i = 0; i < p->ops.n; i++) {
        if (p->ops.at[i].q.snapshot == HF_SNAPSHOT_TIME)
            return false;
        any |= p->ops.at[i].q.snapshot == HF_SNAPSHOT_IDS;
    }
    return any;
}

static void find_sets(clock_maker *m)
{
    hf_pred *p = m->p;

    for (size_t i = 0; i < p->ops.n; i++) {
        const hf_predicate *q = &p->ops.at[i].q;
        uint32_t n = (uint32_t)m->sets.n;
        visible v = {.text = q->snapshot_ids};

        if (q->snapshot != HF_SNAPSHOT_IDS ||
            hf_map_add(&m->by_text, q->snapshot_ids, n) != n)
            continue;
        v.ids = hf_snapshot_ids_of(hf_pred_snapshots(p), q->snapshot_ids);
        v.n = count_held(m, &v.ids);
        hf_vec_push(&m->sets, v);
    }
}

/* ---- places -------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const visible *x = a, *y = b;

    return (x->n > y->n) - (x->n < y->n);
}

/* Gives everybody the first snapshot that holds him.  False: someone is in a
 * small one and not in a larger one.  Who waits is listed in the snapshot at
 * hand, or will be visible by it: so all these walks cost what is listed. */
static bool place_writers(clock_maker *m)
{
    uint32_t seen = 0, placed = 0, n_waiting = 0;

    qsort(m->sets.at, m->sets.n, sizeof(*m->sets.at), by_size);
    m->first = HF_NEW_ARRAY(uint32_t, (size_t)m->n + 1);
    m->waiting = HF_NEW_ARRAY(uint32_t, (size_t)m->n + 1);
    memset(m->first, 0xff, ((size_t)m->n + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < m->sets.n; i++) {
        const visible *s = &m->sets.at[i];
        uint32_t kept = 0;

        while (seen < m->n && id_of(m, seen) < s->ids.max)
            m->waiting[n_waiting++] = seen++;
        for (uint32_t k = 0; k < n_waiting; k++) {
            uint32_t w = m->waiting[k];

            if (hf_snapshot_ids_hold(&s->ids, id_of(m, w))) {
                m->first[w] = i;
                placed++;
            } else {
                m->waiting[kept++] = w;
            }
        }
        n_waiting = kept;
        if (placed != s->n)
            return false;
        if (hf_graph_spent(m->p->g))
            return false;
    }
    return true;
}

/* ---- in the order of versions -------------------------------------------- */

/* Puts writers of one snapshot in an order that their versions have. */
typedef struct sorter {
    uint32_t *place; /* per transaction: of its first snapshot */
    uint32_t *left;  /* how many have to be before it */
    uint32_t *next_first;
    hf_txn_id *next;
} sorter;

static bool is_link(const hf_graph *g, const sorter *s, uint32_t ver)
{
    hf_txn_id a = g->ver_txn[ver - 1], b = g->ver_txn[ver];

    return a != HF_NONE && b != HF_NONE && a != b && s->place[a] == s->place[b];
}

static void find_links(const hf_graph *g, sorter *s)
{
    size_t n = g->h->n_txns;

    s->left = HF_NEW_ZEROED(uint32_t, n + 1);
    s->next_first = HF_NEW_ZEROED(uint32_t, n + 3);
    for (hf_key_id k = 0; k < g->h->n_keys; k++)
        for (uint32_t v = g->ver_first[k] + 1; v < g->ver_end[k]; v++)
            if (is_link(g, s, v)) {
                s->next_first[g->ver_txn[v - 1] + 2]++;
                s->left[g->ver_txn[v]]++;
            }
    for (size_t t = 0; t < n; t++)
        s->next_first[t + 2] += s->next_first[t + 1];
    s->next = HF_NEW_ARRAY(hf_txn_id, (size_t)s->next_first[n + 1] + 1);
    for (hf_key_id k = 0; k < g->h->n_keys; k++)
        for (uint32_t v = g->ver_first[k] + 1; v < g->ver_end[k]; v++)
            if (is_link(g, s, v))
                s->next[s->next_first[g->ver_txn[v - 1] + 1]++] = g->ver_txn[v];
}

/* All of one snapshot stand in all[first .. end - 1]; a queue in place: those
 * in front of `ready` have nobody before them.  Who is in a circle stays where
 * he is, and his keys are not regular. */
static void sort_place(const sorter *s, hf_sortable *all, uint32_t first,
                       uint32_t end, uint32_t *where)
{
    uint32_t ready = first;

    for (uint32_t i = first; i < end; i++)
        where[all[i].value] = i;
    for (uint32_t i = first; i < end; i++) {
        hf_txn_id t = (hf_txn_id)all[i].value, other;

        if (s->left[t] > 0)
            continue;
        other = (hf_txn_id)all[ready].value;
        all[ready].value = t;
        all[i].value = other;
        where[t] = ready++;
        where[other] = i;
    }
    for (uint32_t i = first; i < ready; i++) {
        hf_txn_id t = (hf_txn_id)all[i].value;

        for (uint32_t k = s->next_first[t]; k < s->next_first[t + 1]; k++) {
            hf_txn_id u = s->next[k], other;
            uint32_t at = where[u];

            if (--s->left[u] > 0)
                continue;
            other = (hf_txn_id)all[ready].value;
            all[ready].value = u;
            all[at].value = other;
            where[other] = at;
            where[u] = ready++;
        }
    }
}

/* Everybody's time: 2, 4, 6, ... in the order that was found. */
static uint64_t *make_times(clock_maker *m)
{
    const hf_graph *g = m->p->g;
    size_t n_txns = g->h->n_txns;
    uint64_t *time = HF_NEW_ARRAY(uint64_t, n_txns + 1);
    uint32_t *where = HF_NEW_ARRAY(uint32_t, n_txns + 1);
    sorter s = {.place = HF_NEW_ARRAY(uint32_t, n_txns + 1)};

    memset(time, 0xff, (n_txns + 1) * sizeof(*time));
    memset(s.place, 0xff, (n_txns + 1) * sizeof(*s.place));
    for (uint32_t w = 0; w < m->n; w++) {
        s.place[m->writer[w].value] = m->first[w];
        m->writer[w].key = m->first[w];
    }
    find_links(g, &s);
    hf_sort(m->writer, m->n);
    for (uint32_t i = 0, end; i < m->n; i = end) {
        for (end = i + 1; end < m->n && m->writer[end].key == m->writer[i].key;)
            end++;
        sort_place(&s, m->writer, i, end, where);
    }
    for (uint32_t i = 0; i < m->n; i++)
        time[m->writer[i].value] = 2 * ((uint64_t)i + 1);
    hf_free(s.place);
    hf_free(s.left);
    hf_free(s.next_first);
    hf_free(s.next);
    hf_free(where);
    return time;
}

/* The snapshot of an operation, as a time: just behind all that it holds. */
static void give_times(clock_maker *m)
{
    hf_pred *p = m->p;
    uint32_t *held = HF_NEW_ARRAY(uint32_t, m->sets.n + 1);

    for (uint32_t i = 0; i < m->sets.n; i++)
        held[hf_map_get(&m->by_text, m->sets.at[i].text)] = m->sets.at[i].n;
    for (size_t i = 0; i < p->ops.n; i++) {
        hf_pred_op *o = &p->ops.at[i];

        o->on_clock = o->q.snapshot == HF_SNAPSHOT_IDS;
        if (o->on_clock)
            o->moment =
                2 * (uint64_t)held[hf_map_get(&m->by_text, o->q.snapshot_ids)] +
                1;
    }
    hf_free(held);
}

bool hf_pred_clock_of_ids(hf_pred *p)
{
    clock_maker m = {.p = p};
    bool made;

    if (!has_ids_only(p))
        return false;
    hf_map_init(&m.by_text);
    find_writers(&m);
    find_sets(&m);
    made = place_writers(&m);
    if (made) {
        p->own_commit = make_times(&m);
        p->commit = p->own_commit;
        give_times(&m);
    }
    hf_free(m.writer);
    hf_free(m.first);
    hf_free(m.waiting);
    hf_vec_release(&m.sets);
    hf_map_release(&m.by_text);
    return made;
}
