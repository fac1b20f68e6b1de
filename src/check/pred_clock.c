/* pred_clock.c: commit times, and the operations with a snapshot by time.
 *
 * Times are counted: the rank of a transaction is the place of its commit time
 * among all of these, and versions have ticks, their places in the order of
 * the ranks of their writers; so what a snapshot has of everything is the
 * versions before one tick.
 *
 * O(T log T + V + P log T) for T transactions, V versions, P operations.
 */
#include "check/pred.h"

#include <string.h>

/* ---- ranks --------------------------------------------------------------- */

static void make_ranks(hf_pred *p)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;
    const uint64_t *commit = p->commit;
    hf_sortable *all =
        hf_alloc_large(hf_array_size((size_t)h->n_txns + 1, sizeof(*all)));
    uint32_t n = 0;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (g->happened[t] && commit[t] != HF_TIME_NONE)
            all[n++] = (hf_sortable){commit[t], t};
    hf_sort(all, n);
    p->rank = HF_NEW_ARRAY(uint32_t, (size_t)h->n_txns + 1);
    memset(p->rank, 0xff, ((size_t)h->n_txns + 1) * sizeof(uint32_t));
    p->rank_time = HF_NEW_ARRAY(uint64_t, (size_t)n + 1);
    p->shared_rank = HF_NEW_ZEROED(uint8_t, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || all[i].key != all[i - 1].key)
            p->rank_time[p->n_ranks++] = all[i].key;
        else
            p->shared_rank[p->n_ranks - 1] = 1;
        p->rank[all[i].value] = p->n_ranks - 1;
    }
    hf_free(all);
}

/* How many ranks are at or before the time; `near`: a guess, as operations
 * come roughly in the order of time. */
static uint32_t ranks_until(const hf_pred *p, uint64_t time, uint32_t near)
{
    uint32_t low = 0, high = p->n_ranks, step = 1;

    if (near > 0 && p->rank_time[near - 1] > time) {
        high = near - 1;
        for (; step <= high && p->rank_time[high - step] > time; step *= 2)
            high -= step;
        low = step <= high ? high - step : 0;
    } else {
        low = near;
        for (; low + step <= high && p->rank_time[low + step - 1] <= time;
             step *= 2)
            low += step;
        high = low + step <= high ? low + step : high;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (p->rank_time[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Versions by the commit times of their writers. */
static void make_ticks(hf_pred *p)
{
    const hf_graph *g = p->g;
    uint32_t *at;

    p->rank_tick = HF_NEW_ZEROED(uint32_t, (size_t)p->n_ranks + 2);
    p->tick_ver = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
    at = p->rank_tick + 1;
    for (uint32_t v = 0; v < g->n_versions; v++)
        if (g->ver_txn[v] != HF_NONE && p->rank[g->ver_txn[v]] != HF_NONE) {
            at[p->rank[g->ver_txn[v]]]++;
            p->n_ticks++;
        }
    for (uint32_t r = 0; r < p->n_ranks; r++)
        at[r] += p->rank_tick[r];
    /* from the back, so that ends become beginnings */
    for (uint32_t v = g->n_versions; v-- > 0;)
        if (g->ver_txn[v] != HF_NONE && p->rank[g->ver_txn[v]] != HF_NONE)
            p->tick_ver[--at[p->rank[g->ver_txn[v]]]] = v;
    memmove(p->rank_tick, at, p->n_ranks * sizeof(uint32_t));
    p->rank_tick[p->n_ranks] = p->n_ticks;
}

/* ---- operations ---------------------------------------------------------- */

/* A transaction is never in its own snapshot; where it is of the time of its
 * own commit, that is the snapshot just before. */
static uint64_t time_of(const hf_pred *p, const hf_pred_op *o)
{
    return o->moment - (o->moment > 0 && p->commit[o->txn] == o->moment);
}

static bool is_timed(const hf_pred *p, const hf_pred_op *o)
{
    const hf_pred_condition *c = &p->conditions.at[o->condition];
    uint64_t commit = p->commit[o->txn];

    if (!o->on_clock || !c->judged || c->odd.n > 0 ||
        !p->tables.at[c->table].regular)
        return false;
    if (commit == o->moment)
        return commit > 0 && !p->shared_rank[p->rank[o->txn]];
    return commit > o->moment; /* or not known */
}

/* At prefix, what an operation depends on leaves out events of keys that its
 * transaction wrote before (pred_timed.c).  If these are many it is less work
 * to look at the keys one by one. */
static bool is_better_listed(const hf_pred *p, const hf_pred_op *o)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;
    const hf_pred_table *t =
        &p->tables.at[p->conditions.at[o->condition].table];
    uint64_t n = 0;

    if (!(g->level->axiom & HF_AXIOM_PREFIX) || o->fresh)
        return false;
    for (hf_op_id w = h->op_first[o->txn]; w < o->op; w++)
        if (hf_graph_writes(h, w) && p->table_of_key[h->op_key[w]] ==
                                         p->conditions.at[o->condition].table)
            n += hf_pred_version_at(p, o, h->op_key[w]) -
                 g->ver_first[h->op_key[w]];
    return n > 64 && n > t->n_keys / 16;
}

bool hf_pred_find_timed(hf_pred *p)
{
    bool any = false;
    uint32_t near = 0;

    if (!p->commit)
        return false;
    make_ranks(p);
    make_ticks(p);
    for (size_t i = 0; i < p->ops.n; i++) {
        hf_pred_op *o = &p->ops.at[i];

        o->timed = is_timed(p, o);
        o->known = o->timed;
        o->all = o->aggregate || !o->q.has_result_set;
        o->time = time_of(p, o);
        if (!o->timed)
            continue;
        o->ranks = near = ranks_until(p, o->time, near);
        if (is_better_listed(p, o)) {
            o->timed = o->known = false;
            continue;
        }
        o->ticks = p->rank_tick[o->ranks];
        p->conditions.at[o->condition].uses[o->all]++;
        any = true;
    }
    return any;
}
