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
 * The second holds for levels that treat ww like wr.  At prefix, where a ww
 * leads to the commit of T and a wr to its start, the flips of such keys before
 * the snapshot are left out: the events between them are gathered by nodes over
 * 1, 2, 4, ... of them.  Aggregates read what they match as items: their chain
 * has all changes of matches, since what is read depends on its writer, and
 * the next version on the reader, in the same way.
 *
 * The number of rows that a snapshot should give is counted along the chain;
 * the rows that were returned are looked up one by one.  An operation may stand
 * in several chains, see pred_chains.c.
 *
 * O(rows + own writes + chains * log flips + flips while the transaction ran)
 * for an operation.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

/* ---- operations ---------------------------------------------------------- */

uint32_t hf_pred_version_at(const hf_pred *p, const hf_pred_op *o,
                            hf_key_id key)
{
    const hf_graph *g = p->g;
    uint32_t low = g->ver_first[key], high = g->ver_end[key];

    while (high - low > 1) { /* low is in it */
        uint32_t middle = low + (high - low) / 2;

        if (p->rank[g->ver_txn[middle]] < o->ranks)
            low = middle;
        else
            high = middle;
    }
    return low;
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
        difference -= hf_pred_holds(p, c, hf_pred_version_at(p, o, key));
    }
    return difference;
}

/* One row: the version looked at, and one that satisfies the condition. */
static bool is_right(hf_pred *p, const hf_pred_op *o, const hf_pred_row *row)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;
    const hf_pred_condition *c = &p->conditions.at[o->condition];
    hf_version_ref ref = row->ref;
    uint32_t ver = row->ver;

    if (p->table_of_key[row->key] != c->table)
        return hf_pred_test_value(p, o->condition, ref.value) == HF_SQL_TRUE;
    if (row->own != HF_NONE) {
        if (hf_graph_written(h, row->own) != ref.value ||
            (ref.writer != HF_NONE && ref.writer != o->txn))
            return false;
        ver = hf_pred_installed(g, row->own);
        return ver != HF_NONE ? hf_pred_holds(p, c, ver)
                              : hf_pred_test_value(p, o->condition,
                                                   ref.value) == HF_SQL_TRUE;
    }
    if (ref.writer != HF_NONE &&
        ref.writer !=
            (g->ver_txn[ver] == HF_NONE ? HF_WRITER_INITIAL : g->ver_txn[ver]))
        return false;
    return hf_pred_value_of(g, ver) == ref.value && hf_pred_holds(p, c, ver);
}

/* The rows that were returned, as versions. */
static void find_rows(hf_pred *p, const hf_pred_op *o)
{
    const hf_history *h = p->g->h;
    uint32_t table = p->conditions.at[o->condition].table;

    p->found.n = 0;
    for (size_t i = 0; i < p->rows.n; i++) {
        hf_pred_row row = {.ref = p->rows.at[i],
                           .key = h->value_key[p->rows.at[i].value],
                           .ver = HF_NONE,
                           .own = HF_NONE};

        if (!o->fresh)
            (void)hf_pred_own_write(h, o->txn, o->op, row.key, &row.own);
        if (row.own == HF_NONE && p->table_of_key[row.key] == table)
            row.ver = hf_pred_version_at(p, o, row.key);
        hf_vec_push(&p->found, row);
    }
}

/* The rows against `matches`, what the snapshot has. */
static void judge_rows(hf_pred *p, const hf_pred_op *o, int64_t matches)
{
    const hf_pred_condition *c = &p->conditions.at[o->condition];
    bool unclear = false;

    matches += own_difference(p, o, &unclear);
    for (size_t i = 0; i < p->found.n; i++) {
        const hf_pred_row *row = &p->found.at[i];

        if (!is_right(p, o, row)) {
            hf_pred_mismatch(p, o);
            return;
        }
        matches -= p->table_of_key[row->key] == c->table;
    }
    if (unclear)
        hf_pred_unclear(p, o, true, c->why);
    else if (matches != 0)
        hf_pred_mismatch(p, o);
}

static void take_rows(hf_pred *p, const hf_pred_op *o)
{
    uint32_t table = p->conditions.at[o->condition].table;

    for (size_t i = 0; i < p->found.n; i++) {
        const hf_pred_row *row = &p->found.at[i];

        if (row->own != HF_NONE)
            continue;
        hf_pred_item(p, o, row->key,
                     p->table_of_key[row->key] == table
                         ? row->ver
                         : hf_pred_version(p, o, row->ref, false));
    }
}

/* ---- chains -------------------------------------------------------------- */

/* What the transaction of an operation wrote to its table. */
typedef struct own_writes {
    bool any;    /* anything */
    bool before; /* before the operation */
} own_writes;

static int by_place(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static own_writes find_own(const hf_pred *p, const hf_pred_op *o)
{
    const hf_history *h = p->g->h;
    uint32_t table = p->conditions.at[o->condition].table;
    own_writes own = {false, false};

    for (hf_op_id w = h->op_first[o->txn]; w < h->op_first[o->txn + 1]; w++)
        if (hf_graph_writes(h, w) && p->table_of_key[h->op_key[w]] == table) {
            own.any = true;
            own.before = w < o->op;
            break;
        }
    return own;
}

/* Is one of the events the transaction's own?  `until`: those of the
 * snapshot. */
static bool has_own_event(const hf_pred *p, const hf_pred_op *o,
                          const hf_pred_chain *c, uint32_t until)
{
    uint32_t rank = p->rank[o->txn];

    for (uint32_t i = hf_pred_events_from(p, c, until, p->rank_tick[rank]);
         i < c->n && p->event[c->first + i].tick < p->rank_tick[rank + 1]; i++)
        if (p->g->ver_txn[hf_pred_event_ver(p, c->first + i)] == o->txn)
            return true;
    return false;
}

/* The events before the snapshot of keys that the transaction wrote before the
 * operation. */
static void leave_out(hf_pred *p, const hf_pred_op *o, const hf_pred_chain *c,
                      uint32_t until)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;
    size_t first = p->outs.n;

    for (hf_op_id w = h->op_first[o->txn]; w < o->op; w++) {
        hf_key_id key = h->op_key[w];
        hf_op_id last;

        if (!hf_graph_writes(h, w) ||
            p->table_of_key[key] != p->conditions.at[o->condition].table)
            continue;
        (void)hf_pred_own_write(h, o->txn, o->op, key, &last);
        if (last != w)
            continue;
        for (uint32_t v = hf_pred_version_at(p, o, key); v > g->ver_first[key];
             v--) {
            uint32_t rank = p->rank[g->ver_txn[v]];
            uint32_t i = hf_pred_events_before(p, c, p->rank_tick[rank]);

            for (; i < until &&
                   p->event[c->first + i].tick < p->rank_tick[rank + 1];
                 i++)
                if (hf_pred_event_ver(p, c->first + i) == v)
                    hf_vec_push(&p->outs, c->first + i);
        }
    }
    if (p->outs.n - first > 1)
        qsort(p->outs.at + first, p->outs.n - first, sizeof(uint32_t),
              by_place);
    if (p->outs.n > first)
        hf_vec_push(&p->aparts,
                    (hf_pred_apart){o->txn, c->first, c->first + until,
                                    (uint32_t)first,
                                    (uint32_t)(p->outs.n - first)});
}

/* Where the operation stands in one of its chains, and edges to events while
 * its transaction ran.  Returns how many keys the snapshot has there. */
static int64_t link(hf_pred *p, const hf_pred_op *o, uint32_t chain,
                    own_writes wrote)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;
    hf_pred_chain *c = &p->chain.at[chain];
    uint32_t until = 0, behind;
    hf_op_id own;

    if (c->n == 0)
        return c->start;
    /* operations come roughly in the order of time */
    if (c->last == 0 || p->event[c->first + c->last - 1].tick < o->ticks)
        until = c->last;
    until = hf_pred_events_from(p, c, until, o->ticks);
    c->last = behind = until;
    if (p->rank[o->txn] != HF_NONE && wrote.any &&
        (wrote.before || has_own_event(p, o, c, until))) {
        behind =
            hf_pred_events_from(p, c, until, p->rank_tick[p->rank[o->txn] + 1]);
        for (uint32_t i = until; i < behind; i++) {
            uint32_t ver = hf_pred_event_ver(p, c->first + i);

            if (g->ver_txn[ver] != o->txn &&
                !hf_pred_own_write(h, o->txn, o->op, p->ver_key[ver], &own))
                hf_pred_add_edge(p, o->txn, g->ver_txn[ver], HF_EDGE_PRW);
        }
    }
    if (g->level->shape != HF_SHAPE_WW) {
        size_t aparts = p->aparts.n;

        if (wrote.before && (g->level->axiom & HF_AXIOM_PREFIX))
            leave_out(p, o, c, until);
        hf_vec_push(&p->joints,
                    (hf_pred_joint){o->txn, chain, p->aparts.n > aparts,
                                    c->first + until, c->first + behind});
    }
    return c->start + (until > 0 ? p->event[c->first + until - 1].net : 0);
}

void hf_pred_look_timed(hf_pred *p, const hf_pred_op *o)
{
    const hf_pred_condition *c = &p->conditions.at[o->condition];
    own_writes wrote = find_own(p, o);
    bool unclear = false;
    int64_t matches = 0;

    if (!hf_pred_sort_rows(p, &o->q)) {
        hf_graph_note(p->g, HF_TWO_VERSIONS, o->op, HF_NONE, HF_NONE, HF_NONE);
        return;
    }
    for (uint32_t i = 0; i < c->n_covers[o->all]; i++)
        matches += link(p, o, p->covers.at[c->cover_first[o->all] + i], wrote);
    if (!o->aggregate)
        find_rows(p, o);
    if (!o->aggregate && o->q.has_result_set)
        judge_rows(p, o, matches);
    else if (!o->fresh)
        (void)own_difference(p, o, &unclear);
    if (unclear)
        hf_pred_unclear(p, o, false, c->why);
    if (!o->aggregate)
        take_rows(p, o);
}
