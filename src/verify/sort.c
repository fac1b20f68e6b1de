/* sort.c: another order with the same version orders.
 *
 * For the levels that are conditions on dependencies (read committed,
 * consistent view, ...) a commit order settles the version orders, and the
 * condition begins with "no cycle of ww, wr (and so)".  An order in which a
 * reader stands before its source can still be a proof: another order with
 * the same version orders puts it after.  This finds that order, or the lack
 * of one, by taking transactions away that nobody left precedes.
 *
 * O(operations).
 */
#include "verify/world.h"

typedef struct sorter {
    hf_verifier *v;
    hf_world *w;
    uint32_t *next_first; /* per transaction, into `next` */
    hf_txn_id *next;
    uint32_t *fill;   /* per transaction: where its next edge goes */
    uint32_t *before; /* per transaction: edges that lead to it */
} sorter;

/* Called twice for every edge: to count, then to fill. */
static void edge(sorter *s, hf_txn_id from, hf_txn_id to, bool fill)
{
    if (from == HF_NONE)
        return;
    if (!fill) {
        s->next_first[from + 1]++;
        s->before[to]++;
        return;
    }
    s->next[s->fill[from]++] = to;
}

static void all_edges(sorter *s, bool fill)
{
    const hf_history *h = s->v->h;
    const hf_facts *f = &s->v->facts;
    const hf_world *w = s->w;
    hf_txn_id *current = hf_nones(s->v, h->n_keys, sizeof(*current));
    hf_txn_id *last = hf_nones(s->v, h->n_sessions, sizeof(*last));

    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];

        for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++)
            edge(s, w->reads[r].source, t, fill);
        for (uint32_t k = f->write_first[t]; k < f->write_first[t + 1]; k++) {
            edge(s, current[f->write_key[k]], t, fill);
            current[f->write_key[k]] = t;
        }
    }
    for (hf_txn_id t = 0; s->v->info->session_order && t < h->n_txns; t++) {
        if (w->place[t] == HF_NONE)
            continue;
        edge(s, last[h->txn_session[t]], t, fill);
        last[h->txn_session[t]] = t;
    }
}

bool hf_world_sort(hf_verifier *v, hf_world *w)
{
    uint32_t n_txns = v->h->n_txns, done = 0, ready = 0;
    sorter s = {.v = v, .w = w};
    hf_txn_id *order = hf_nones(v, w->n, sizeof(*order));

    s.next_first = hf_zeros(v, (size_t)n_txns + 1, sizeof(uint32_t));
    s.before = hf_zeros(v, n_txns, sizeof(uint32_t));
    s.fill = hf_zeros(v, n_txns, sizeof(uint32_t));
    all_edges(&s, false);
    for (hf_txn_id t = 0; t < n_txns; t++) {
        s.next_first[t + 1] += s.next_first[t];
        s.fill[t] = s.next_first[t];
    }
    s.next = hf_nones(v, s.next_first[n_txns], sizeof(*s.next));
    all_edges(&s, true);
    for (uint32_t i = 0; i < w->n; i++)
        if (s.before[w->at[i]] == 0)
            order[ready++] = w->at[i];
    while (done < ready) {
        hf_txn_id t = order[done++];

        for (uint32_t i = s.next_first[t]; i < s.next_first[t + 1]; i++)
            if (--s.before[s.next[i]] == 0)
                order[ready++] = s.next[i];
        if ((done & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    if (done < w->n)
        return hf_refuse(v, "with the version orders of this order, reads "
                            "and versions depend on each other in a circle");
    for (uint32_t i = 0; i < w->n; i++) {
        w->at[i] = order[i];
        w->place[order[i]] = i;
    }
    return true;
}
