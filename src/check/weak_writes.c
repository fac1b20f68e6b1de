/* weak_writes.c: who writes a key: one transaction, or a session up to a place.
 *
 * "Does t write x" is a look at the operations of a short transaction; those
 * of long ones are sorted by key once, which the walk over all versions of
 * all keys does by itself.
 *
 * "Who of a session was the last to write x before this place" is a binary
 * search: session_txns has the transactions of each session side by side, so
 * a place there says both the session and how far it is, and the places of a
 * key's writers, ascending, are parts of one session each.
 *
 * O(operations + versions) to build, each when first asked.
 */
#include "check/weak.h"

#include <string.h>

#define LONG_TXN 24u /* operations */

/* A write of a long transaction. */
typedef struct long_write {
    hf_key_id key;
    uint32_t ver;
} long_write;

struct hf_weak_long {
    uint32_t *first; /* per transaction; n_txns + 1 */
    long_write *at;
};

static bool is_long(const hf_history *h, hf_txn_id t)
{
    return h->op_first[t + 1] - h->op_first[t] > LONG_TXN;
}

static struct hf_weak_long *index_long(const hf_weak *w)
{
    const hf_graph *g = w->g;
    const hf_history *h = w->h;
    struct hf_weak_long *l = HF_NEW(struct hf_weak_long);
    uint32_t *first = HF_NEW_ZEROED(uint32_t, (size_t)h->n_txns + 2);

    for (hf_key_id k = 0; k < h->n_keys; k++)
        for (uint32_t v = g->ver_first[k] + 1; v < g->ver_end[k]; v++)
            if (is_long(h, g->ver_txn[v]))
                first[g->ver_txn[v] + 2]++;
    for (uint32_t t = 0; t < h->n_txns; t++)
        first[t + 2] += first[t + 1];
    l->at = HF_NEW_ARRAY(long_write, (size_t)first[h->n_txns + 1] + 1);
    for (hf_key_id k = 0; k < h->n_keys; k++)
        for (uint32_t v = g->ver_first[k] + 1; v < g->ver_end[k]; v++)
            if (is_long(h, g->ver_txn[v]))
                l->at[first[g->ver_txn[v] + 1]++] = (long_write){k, v};
    l->first = first;
    return l;
}

uint32_t hf_weak_version_of(hf_weak *w, hf_txn_id t, hf_key_id key)
{
    uint32_t low, high;

    if (!is_long(w->h, t))
        return hf_graph_version_of(w->g, t, key);
    if (!w->longs)
        w->longs = index_long(w);
    low = w->longs->first[t];
    high = w->longs->first[t + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (w->longs->at[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->longs->first[t + 1] && w->longs->at[low].key == key
               ? w->longs->at[low].ver
               : HF_NONE;
}

/* ---- by session ---------------------------------------------------------- */

/* The places of the writers of each key, in the order of places. */
static void list_writers(hf_weak *w)
{
    const hf_graph *g = w->g;
    const hf_history *h = w->h;
    size_t bytes = hf_array_size((size_t)h->n_keys + 1, sizeof(uint32_t));
    uint32_t *at = hf_alloc(bytes);

    w->writer_at = hf_alloc_large(
        hf_array_size((size_t)g->n_versions + 1, sizeof(uint32_t)));
    memcpy(at, g->ver_first, bytes);
    for (uint32_t i = 0; i < h->n_txns; i++) {
        hf_txn_id t = h->session_txns[i];

        if (!g->happened[t])
            continue;
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
            if (g->op_role[o] != HF_NONE && (g->op_role[o] & 1u))
                w->writer_at[++at[h->op_key[o]]] = i;
    }
    hf_free(at);
}

static hf_session_id session_at(const hf_history *h, uint32_t place)
{
    return h->txn_session[h->session_txns[place]];
}

/* Where each session begins among the writers of each key. */
static void list_parts(hf_weak *w)
{
    const hf_graph *g = w->g;
    const hf_history *h = w->h;
    HF_VEC(uint32_t) parts = {0};
    HF_VEC(hf_session_id) sessions = {0};

    w->part_first = HF_NEW_ARRAY(uint32_t, (size_t)h->n_keys + 1);
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        uint32_t end = 0; /* of the session in hand, as a place */

        w->part_first[k] = (uint32_t)parts.n;
        for (uint32_t v = g->ver_first[k] + 1; v < g->ver_end[k]; v++) {
            hf_session_id s;

            if (w->writer_at[v] < end)
                continue;
            s = session_at(h, w->writer_at[v]);
            end = h->session_first[s + 1];
            hf_vec_push(&parts, v);
            hf_vec_push(&sessions, s);
        }
    }
    w->part_first[h->n_keys] = (uint32_t)parts.n;
    hf_vec_push(&parts, 0);
    w->part = parts.at;
    w->part_session = sessions.at;
}

void hf_weak_index_places(hf_weak *w)
{
    const hf_history *h = w->h;

    if (w->pos)
        return;
    w->pos =
        hf_alloc_large(hf_array_size((size_t)h->n_txns + 1, sizeof(uint32_t)));
    for (uint32_t i = 0; i < h->n_txns; i++)
        w->pos[h->session_txns[i]] = i;
}

void hf_weak_index_sessions(hf_weak *w)
{
    hf_weak_index_places(w);
    if (w->part)
        return;
    list_writers(w);
    list_parts(w);
}

hf_txn_id hf_weak_last_writer(const hf_weak *w, hf_key_id key, uint32_t first,
                              uint32_t end)
{
    uint32_t low = w->g->ver_first[key] + 1, base = low;
    uint32_t high = w->g->ver_end[key];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (w->writer_at[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == base || w->writer_at[low - 1] < first)
        return HF_NONE;
    return w->h->session_txns[w->writer_at[low - 1]];
}

/* ---- all ----------------------------------------------------------------- */

void hf_weak_force(hf_weak *w, hf_txn_id t2, hf_op_id read)
{
    hf_txn_id t1 = hf_weak_source(w, read);

    if (t2 == t1)
        return;
    if (t1 == HF_NONE)
        hf_vec_push(&w->missed, (hf_weak_miss){t2, read});
    else
        hf_vec_push(&w->edges, (hf_weak_edge){t2, t1, read});
}

void hf_weak_release(hf_weak *w)
{
    void *all[] = {w->dep_first, w->dep,         w->in_first, w->in,
                   w->order,     w->first_place, w->state,    w->pos,
                   w->writer_at, w->part_first,  w->part,     w->part_session,
                   w->met_first, w->met_at,      w->line,     w->line_at,
                   w->line_end};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        hf_free(all[i]);
    hf_weak_release_clocks(w);
    if (w->longs) {
        hf_free(w->longs->first);
        hf_free(w->longs->at);
        hf_free(w->longs);
    }
    hf_vec_release(&w->pairs);
    hf_vec_release(&w->edges);
    hf_vec_release(&w->missed);
    hf_vec_release(&w->stale);
}
