/* pred_timed.c: predicate operations with a snapshot by time.
 *
 * Where commit times ascend along the versions of every key, what a snapshot
 * at time s looked at is what was committed by s.  So the flips of a
 * condition, whatever their keys, stand in one order, that of time: an
 * operation depends on all of them up to its snapshot, and all later ones
 * depend on it.  Where an operation stands in such a chain there are two
 * nodes, one that gathers all flips before it and one that leads to all behind
 * it, linked to those of the next operation; so an operation is two edges,
 * however many keys there are, and a flip is two more (pred_edges.c).
 *
 * Two kinds of edge are not right for the transaction T of the operation:
 *
 *   to T itself    T's own flips stand at its commit.  The flips between the
 *                  snapshot and that are linked one by one, and the chain is
 *                  entered behind it.
 *   own writes     A key that T wrote before the operation makes no edges.
 *                  Flips of it before the snapshot lead to T along the
 *                  versions of the key anyway, and so do those behind T's
 *                  commit from T; those in between are left out.
 *
 * The second holds for levels that treat ww like wr; others list the version
 * set (pred_looks.c).  Aggregates read what they match as items: their chain
 * has all changes of matches, since what is read depends on its writer, and
 * the next version on the reader, in the same way.
 *
 * The number of rows that a snapshot should give is counted along the chain;
 * the rows that were returned are looked up one by one.
 *
 * O(flips) for a chain; O(log flips + rows + own writes + flips while the
 * transaction ran) for an operation.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

/* ---- ranks --------------------------------------------------------------- */

static void make_ranks(hf_pred *p)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;
    const uint64_t *commit = h->cert.commit_ts;
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

/* How many ranks are at or before the time. */
static uint32_t ranks_until(const hf_pred *p, uint64_t time)
{
    uint32_t low = 0, high = p->n_ranks;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (p->rank_time[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- chains -------------------------------------------------------------- */

/* A transaction is never in its own snapshot; where it is of the time of its
 * own commit, that is the snapshot just before. */
static uint64_t time_of(const hf_pred *p, hf_txn_id t, const hf_predicate *q)
{
    return q->snapshot_time - (q->snapshot_time > 0 &&
                               p->g->h->cert.commit_ts[t] == q->snapshot_time);
}

static bool is_timed(const hf_pred *p, hf_txn_id t, const hf_predicate *q,
                     uint32_t condition)
{
    const hf_pred_condition *c = &p->conditions.at[condition];
    const uint64_t *commit = p->g->h->cert.commit_ts;

    if (!p->chains || q->snapshot != HF_SNAPSHOT_TIME || !c->judged ||
        c->odd.n > 0 || !p->tables.at[c->table].regular || !commit)
        return false;
    if (commit[t] == q->snapshot_time)
        return commit[t] > 0 && !p->shared_rank[p->rank[t]];
    return commit[t] > q->snapshot_time; /* or not known */
}

static void need_chain(hf_pred *p, uint32_t condition, bool all)
{
    hf_pred_condition *c = &p->conditions.at[condition];
    hf_pred_chain chain = {.condition = condition, .all = all};

    if (c->chain[all] != HF_NONE)
        return;
    for (uint32_t i = 0; i < c->match.n; i++)
        chain.start +=
            c->match.at[i] == p->g->ver_first[p->ver_key[c->match.at[i]]];
    c->chain[all] = (uint32_t)p->chain.n;
    hf_vec_push(&p->chain, chain);
}

/* Calls back with every event of a chain: the flips of its condition; of one
 * of all changes, every match that somebody wrote and what ends one.  Both
 * sets ascend. */
typedef void (*event_work)(void *user, uint32_t chain, uint32_t ver,
                           bool matches);

static inline void each_event(const hf_pred *p, uint32_t chain, event_work work,
                              void *user)
{
    const hf_pred_condition *c =
        &p->conditions.at[p->chain.at[chain].condition];
    bool changes = p->chain.at[chain].all;

    for (uint32_t i = 0; i < c->flip.n; i++)
        if (!changes || !c->flip_on[i])
            work(user, chain, c->flip.at[i], c->flip_on[i]);
    for (uint32_t m = 0; changes && m < c->match.n; m++)
        if (p->g->ver_txn[c->match.at[m]] != HF_NONE)
            work(user, chain, c->match.at[m], true);
}

/* Events are put in the order of time without comparing them: listed by
 * version first, then the versions are gone through by commit time, each
 * handing its events to their chains. */
typedef struct sorter {
    hf_pred *p;
    uint32_t *first; /* per version */
    uint32_t *chain; /* of an event: twice, plus 1 if it matches */
} sorter;

static inline void count_event(void *user, uint32_t chain, uint32_t ver,
                               bool matches)
{
    sorter *s = user;

    (void)matches;
    s->first[ver + 2]++;
    s->p->chain.at[chain].n++;
}

static inline void list_event(void *user, uint32_t chain, uint32_t ver,
                              bool matches)
{
    sorter *s = user;

    s->chain[s->first[ver + 1]++] = 2 * chain + matches;
}

/* Versions by the commit times of their writers. */
static hf_sortable *versions_by_time(const hf_pred *p, uint32_t *ret_n)
{
    const hf_graph *g = p->g;
    hf_sortable *all =
        hf_alloc_large(hf_array_size((size_t)g->n_versions + 1, sizeof(*all)));
    uint32_t n = 0;

    for (uint32_t v = 0; v < g->n_versions; v++)
        if (g->ver_txn[v] != HF_NONE && p->rank[g->ver_txn[v]] != HF_NONE)
            all[n++] = (hf_sortable){p->rank[g->ver_txn[v]], v};
    hf_sort(all, n);
    *ret_n = n;
    return all;
}

static void hand_out(sorter *s)
{
    hf_pred *p = s->p;
    uint32_t n, *at = HF_NEW_ARRAY(uint32_t, p->chain.n + 1);
    hf_sortable *all = versions_by_time(p, &n);

    for (size_t i = 0; i < p->chain.n; i++)
        at[i] = p->chain.at[i].first;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t ver = (uint32_t)all[i].value;

        for (uint32_t k = s->first[ver]; k < s->first[ver + 1]; k++)
            p->event[at[s->chain[k] / 2]++] =
                (hf_pred_event){(uint32_t)all[i].key, ver, s->chain[k] & 1u};
    }
    hf_free(all);
    hf_free(at);
}

/* How many more match than at the start of the chain. */
static void count_matches(hf_pred *p)
{
    for (size_t i = 0; i < p->chain.n; i++) {
        const hf_pred_chain *c = &p->chain.at[i];
        int32_t net = 0;

        for (uint32_t k = c->first; !c->all && k < c->first + c->n; k++) {
            net += p->event[k].matches ? 1 : -1;
            p->net[k] = net;
        }
    }
}

static void place_events(hf_pred *p)
{
    sorter s = {.p = p};
    uint32_t n_versions = p->g->n_versions, total = 0;

    s.first = HF_NEW_ZEROED(uint32_t, (size_t)n_versions + 3);
    for (uint32_t i = 0; i < p->chain.n; i++) {
        p->chain.at[i].first = total;
        each_event(p, i, count_event, &s);
        total += p->chain.at[i].n;
    }
    for (uint32_t v = 0; v < n_versions; v++)
        s.first[v + 2] += s.first[v + 1];
    s.chain = hf_alloc_large(hf_array_size((size_t)total + 1, 4));
    for (uint32_t i = 0; i < p->chain.n; i++)
        each_event(p, i, list_event, &s);
    p->event =
        hf_alloc_large(hf_array_size((size_t)total + 1, sizeof(*p->event)));
    p->net = hf_alloc_large(hf_array_size((size_t)total + 1, 4));
    hand_out(&s);
    count_matches(p);
    hf_free(s.first);
    hf_free(s.chain);
}

void hf_pred_make_chains(hf_pred *p)
{
    bool any = false;

    if (!p->chains || !p->g->h->cert.commit_ts)
        return;
    make_ranks(p);
    for (size_t i = 0; i < p->ops.n; i++) {
        hf_pred_op *o = &p->ops.at[i];

        o->timed = is_timed(p, o->txn, &o->q, o->condition);
        o->known = o->timed;
        o->all = o->aggregate || !o->q.has_result_set;
        o->time = time_of(p, o->txn, &o->q);
        if (o->timed)
            o->ranks = ranks_until(p, o->time);
        if (o->timed)
            need_chain(p, o->condition, o->all);
        any |= o->timed;
    }
    if (any)
        place_events(p);
}

/* Events of the chain below a rank. */
static uint32_t events_below(const hf_pred *p, const hf_pred_chain *c,
                             uint32_t rank)
{
    uint32_t low = 0, high = c->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (p->event[c->first + middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t hf_pred_events_until(const hf_pred *p, const hf_pred_chain *c,
                              const hf_pred_op *o)
{
    return events_below(p, c, o->ranks);
}

/* ---- operations ---------------------------------------------------------- */

/* The version of the key in the snapshot of the operation. */
static uint32_t version_in(const hf_pred *p, const hf_pred_op *o, hf_key_id key)
{
    hf_op_id w = hf_snapshot_at(p->snapshots, o->txn, o->time, key);

    if (w == HF_WRITER_INITIAL)
        return p->g->ver_first[key];
    return p->g->op_role[w] / 2;
}

/* Own writes before the operation: how many more rows than the snapshot has;
 * `unclear` if that cannot be said. */
static int64_t own_difference(hf_pred *p, const hf_pred_op *o, bool *unclear)
{
    const hf_history *h = p->g->h;
    const hf_pred_condition *c = &p->conditions.at[o->condition];
    int64_t difference = 0;

    for (hf_op_id w = h->op_first[o->txn]; !o->fresh && w < o->op; w++) {
        hf_key_id key = h->op_key[w];
        hf_op_id last;
        hf_pred_entry e = {.key = key, .ver = HF_NONE, .own = true};
        hf_sql_truth m;

        if (!hf_graph_writes(h, w) || p->table_of_key[key] != c->table)
            continue;
        (void)hf_pred_own_write(h, o->txn, o->op, key, &last);
        if (last != w)
            continue;
        e.value = hf_graph_written(h, w);
        e.ver = hf_pred_installed(p->g, w);
        m = hf_pred_matches(p, o, &e);
        *unclear |= m == HF_SQL_ERROR;
        difference += m == HF_SQL_TRUE;
        difference -= hf_pred_has(&c->match, version_in(p, o, key));
    }
    return difference;
}

/* One row: the version looked at, and one that satisfies the condition. */
static bool is_right(hf_pred *p, const hf_pred_op *o, hf_version_ref row)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;
    const hf_pred_condition *c = &p->conditions.at[o->condition];
    hf_key_id key = h->value_key[row.value];
    uint32_t ver;
    hf_op_id own;

    if (p->table_of_key[key] != c->table)
        return hf_pred_test_value(p, o->condition, row.value) == HF_SQL_TRUE;
    if (!o->fresh && hf_pred_own_write(h, o->txn, o->op, key, &own))
        return hf_graph_written(h, own) == row.value &&
               (row.writer == HF_NONE || row.writer == o->txn) &&
               hf_pred_test_value(p, o->condition, row.value) == HF_SQL_TRUE;
    ver = version_in(p, o, key);
    if (row.writer != HF_NONE &&
        row.writer !=
            (g->ver_txn[ver] == HF_NONE ? HF_WRITER_INITIAL : g->ver_txn[ver]))
        return false;
    return hf_pred_value_of(g, ver) == row.value && hf_pred_has(&c->match, ver);
}

/* Rows of another table do not count. */
static size_t rows_of_table(const hf_pred *p, uint32_t table)
{
    size_t n = 0;

    for (size_t i = 0; i < p->rows.n; i++)
        n += p->table_of_key[p->g->h->value_key[p->rows.at[i].value]] == table;
    return n;
}

static void judge_rows(hf_pred *p, const hf_pred_op *o)
{
    const hf_pred_condition *c = &p->conditions.at[o->condition];
    const hf_pred_chain *chain = &p->chain.at[c->chain[0]];
    uint32_t until = hf_pred_events_until(p, chain, o);
    bool unclear = false;
    int64_t expected = chain->start + own_difference(p, o, &unclear);

    if (until > 0)
        expected += p->net[chain->first + until - 1];
    for (size_t i = 0; i < p->rows.n; i++)
        if (!is_right(p, o, p->rows.at[i])) {
            hf_pred_mismatch(p, o);
            return;
        }
    if (unclear)
        hf_pred_unclear(p, o, true, c->why);
    else if (expected != (int64_t)rows_of_table(p, c->table))
        hf_pred_mismatch(p, o);
}

static void take_rows(hf_pred *p, const hf_pred_op *o)
{
    const hf_history *h = p->g->h;

    for (size_t i = 0; i < p->rows.n; i++) {
        hf_key_id key = h->value_key[p->rows.at[i].value];
        bool listed =
            p->table_of_key[key] == p->conditions.at[o->condition].table;
        hf_op_id own;

        if (!o->fresh && hf_pred_own_write(h, o->txn, o->op, key, &own))
            continue;
        hf_pred_item(p, o, key,
                     listed ? version_in(p, o, key)
                            : hf_pred_version(p, o, p->rows.at[i], false));
    }
}

/* Is one of the events the transaction's own, or did it write a key of the
 * table before the operation? */
static bool is_involved(const hf_pred *p, const hf_pred_op *o,
                        const hf_pred_chain *c)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;
    uint32_t table = p->conditions.at[c->condition].table;

    for (hf_op_id w = h->op_first[o->txn]; !o->fresh && w < o->op; w++)
        if (hf_graph_writes(h, w) && p->table_of_key[h->op_key[w]] == table)
            return true;
    for (uint32_t i = events_below(p, c, p->rank[o->txn]);
         i < c->n && p->event[c->first + i].rank == p->rank[o->txn]; i++)
        if (g->ver_txn[p->event[c->first + i].ver] == o->txn)
            return true;
    return false;
}

/* Where the operation stands in its chain, and edges to flips while its
 * transaction ran. */
static void link(hf_pred *p, const hf_pred_op *o, uint32_t chain)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;
    const hf_pred_chain *c = &p->chain.at[chain];
    uint32_t until = hf_pred_events_until(p, c, o), behind = until;
    hf_op_id own;

    if (p->rank[o->txn] != HF_NONE && is_involved(p, o, c)) {
        behind = events_below(p, c, p->rank[o->txn] + 1);
        for (uint32_t i = until; i < behind; i++) {
            uint32_t ver = p->event[c->first + i].ver;

            if (g->ver_txn[ver] != o->txn &&
                !hf_pred_own_write(h, o->txn, o->op, p->ver_key[ver], &own))
                hf_pred_add_edge(p, o->txn, g->ver_txn[ver], HF_EDGE_PRW);
        }
    }
    hf_vec_push(&p->joints, (hf_pred_joint){o->txn, chain, c->first + until,
                                            c->first + behind});
}

void hf_pred_look_timed(hf_pred *p, const hf_pred_op *o)
{
    const hf_pred_condition *c = &p->conditions.at[o->condition];
    bool unclear = false;

    if (!hf_pred_sort_rows(p, &o->q)) {
        hf_graph_note(p->g, HF_TWO_VERSIONS, o->op, HF_NONE, HF_NONE, HF_NONE);
        return;
    }
    if (!o->aggregate && o->q.has_result_set)
        judge_rows(p, o);
    else if (!o->fresh)
        (void)own_difference(p, o, &unclear);
    if (unclear)
        hf_pred_unclear(p, o, false, c->why);
    if (!o->aggregate)
        take_rows(p, o);
    link(p, o, c->chain[o->all]);
}
