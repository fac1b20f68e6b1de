/* poly_sources.c: who may have happened, and where reads may come from.
 *
 * Of unknown outcome only those matter that somebody may have read from, and
 * one that nobody reads from may as well not have happened: so that a
 * transaction happened is never chosen, it follows from the choice of a source.
 * Where there are conditions that is not so: a version more, read by nobody,
 * may be the one that changes the matches, instead of another.
 *
 * Where several wrote a value, but all others aborted or overwrote it, the
 * source of a read is certain all the same.
 */
#include "check/poly_worlds.h"

#include <string.h>

/* ---- who may have happened ----------------------------------------------- */

static bool may_happen(const hf_history *h, hf_txn_id t)
{
    return h->txn_outcome[t] != HF_ABORTED;
}

bool hf_worlds_is_last_write(const hf_history *h, hf_txn_id t, hf_op_id op)
{
    for (hf_op_id o = op + 1; o < h->op_first[t + 1]; o++)
        if (h->op_key[o] == h->op_key[op] && hf_graph_writes(h, o))
            return false;
    return true;
}

static void each_write(hf_worlds *w, uint32_t *first, hf_op_id *writes)
{
    const hf_history *h = w->report->g->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            hf_value_id v;

            if (!may_happen(h, t) || !hf_graph_writes(h, o))
                continue;
            v = hf_graph_written(h, o);
            if (v == HF_NONE)
                continue;
            if (writes)
                writes[first[v + 1]++] = o;
            else
                first[v + 2]++;
        }
}

void hf_worlds_list_writes(hf_worlds *w)
{
    uint32_t n = w->report->g->h->n_values;

    w->write_first = HF_NEW_ZEROED(uint32_t, (size_t)n + 3);
    each_write(w, w->write_first, NULL);
    for (uint32_t v = 0; v <= n; v++)
        w->write_first[v + 1] += w->write_first[v];
    w->writes = HF_NEW_ARRAY(hf_op_id, (size_t)w->write_first[n + 1] + 1);
    each_write(w, w->write_first, w->writes);
}

hf_value_id hf_worlds_value_read(const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (h->op_kind[op] & HF_OP_FAILED)
        return HF_NONE;
    if (kind == HF_OP_INCREMENT)
        return hf_op_increment(h, op).before;
    return hf_op_reads_item(kind) ? h->op_value[op] : HF_NONE;
}

static bool own_write_before(const hf_history *h, hf_txn_id t, hf_op_id op)
{
    for (hf_op_id o = h->op_first[t]; o < op; o++)
        if (h->op_key[o] == h->op_key[op] && hf_graph_writes(h, o))
            return true;
    return false;
}

/* Everybody who wrote the value may have happened. */
static void meet_writers(hf_worlds *w, hf_value_id v, hf_txn_id *stack,
                         uint32_t *n)
{
    for (uint32_t i = w->write_first[v]; i < w->write_first[v + 1]; i++) {
        hf_txn_id from = hf_op_txn(w->report->g->h, w->writes[i]);

        if (w->all[from])
            continue;
        w->all[from] = w->uncertain[from] = 1;
        w->n_uncertain++;
        stack[(*n)++] = from;
    }
}

/* ... of what t read; of lists, every element.  Those whose elements only dirty
 * reads returned need not have happened; but with mixed levels a proof has to
 * say what if they did. */
static void meet_sources(hf_worlds *w, hf_txn_id t, hf_txn_id *stack,
                         uint32_t *n)
{
    const hf_graph *g = w->report->g;
    const hf_history *h = g->h;
    bool dirty = !hf_graph_reads_matter(g, t);

    if (dirty && !g->own)
        return;
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        hf_value_id v = hf_worlds_value_read(h, o);

        if (v == HF_NONE)
            continue;
        if (h->value_type[v] != HF_LIST) {
            if (!dirty && !own_write_before(h, t, o))
                meet_writers(w, v, stack, n);
            continue;
        }
        for (; v != HF_NONE; v = hf_list_parent(h, v))
            if (hf_list_last(h, v) != HF_NONE)
                meet_writers(w, hf_list_last(h, v), stack, n);
    }
}

/* ---- reads with one source after all ------------------------------------- */

/* Where several wrote a value, but all others aborted or overwrote it: the one
 * source the read can have; HF_CHOSEN_ONLY: there are none, or several. */
static uint32_t only_source(const hf_worlds *w, hf_op_id op)
{
    const hf_history *h = w->base->h;
    hf_txn_id t = hf_op_txn(h, op);
    hf_value_id v = hf_worlds_value_read(h, op);
    uint32_t found = HF_CHOSEN_ONLY;

    if (v == HF_NONE || h->value_type[v] == HF_LIST)
        return HF_CHOSEN_ONLY;
    if (hf_value_is_initial(h, h->op_key[op], v))
        found = HF_CHOSEN_INITIAL;
    for (uint32_t i = w->write_first[v]; i < w->write_first[v + 1]; i++) {
        hf_txn_id from = hf_op_txn(h, w->writes[i]);

        if (from == t || !hf_worlds_is_last_write(h, from, w->writes[i]))
            continue;
        if (found != HF_CHOSEN_ONLY)
            return HF_CHOSEN_ONLY;
        found = HF_CHOSEN(from);
    }
    return found;
}

/* True if a read has its source now. */
static bool settle_reads(hf_worlds *w)
{
    const hf_graph *g = w->base;
    bool any = false;

    for (size_t i = 0; i < g->open.n; i++) {
        hf_op_id op = g->open.at[i];
        uint32_t source = only_source(w, op);

        if (source == HF_CHOSEN_ONLY || w->fixed[op] != HF_CHOSEN_ONLY)
            continue;
        w->fixed[op] = source;
        if (source != HF_CHOSEN_INITIAL)
            w->sure[source - 1] = 1;
        any = true;
    }
    return any;
}

bool hf_worlds_rebuild(hf_worlds *w, hf_graph *g, const uint8_t *happened,
                       bool spread)
{
    const hf_graph *like = w->report->g;

    *g = (hf_graph){.h = like->h,
                    .level = like->level,
                    .budget = like->budget,
                    .options = like->options,
                    .own = like->own,
                    .others = like->others,
                    .predicates = like->predicates,
                    .world = {.happened = happened,
                              .source = w->fixed,
                              .spread = spread,
                              .loose = w->loose,
                              .counted = w->counts.n > 0}};
    g->options.most = UINT32_MAX;
    if (!hf_graph_build_facts(g))
        return false;
    hf_graph_sessions_and_time(g);
    return hf_graph_build_edges(g);
}

/* A source that is certain makes its writer certain, whose reads may then have
 * one source: until nothing changes.  False: stopped. */
bool hf_worlds_settle(hf_worlds *w)
{
    const hf_history *h = w->report->g->h;

    w->base = w->report->g;
    w->fixed = HF_NEW_ZEROED(uint32_t, (size_t)h->n_ops + 1);
    w->sure = HF_NEW_ZEROED(uint8_t, (size_t)h->n_txns + 1);
    memcpy(w->sure, w->base->happened, h->n_txns);
    while (w->base->reads_matter && settle_reads(w)) {
        if (w->base == &w->settled)
            hf_graph_release(&w->settled);
        w->base = &w->settled;
        if (!hf_worlds_rebuild(w, &w->settled, w->sure, true))
            return false;
        memcpy(w->sure, w->settled.happened, h->n_txns);
    }
    return true;
}

/* ---- who may have happened, besides -------------------------------------- */

/* Fills all, uncertain. */
static void find_uncertain(hf_worlds *w)
{
    const hf_graph *g = w->base;
    const hf_history *h = g->h;
    hf_txn_id *stack = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);
    uint32_t n = 0;

    w->all = HF_NEW_ZEROED(uint8_t, (size_t)h->n_txns + 1);
    w->uncertain = HF_NEW_ZEROED(uint8_t, (size_t)h->n_txns + 1);
    memcpy(w->all, g->happened, h->n_txns);
    for (size_t i = 0; i < g->open.n && g->reads_matter; i++)
        meet_sources(w, hf_op_txn(h, g->open.at[i]), stack, &n);
    for (hf_txn_id t = 0; t < h->n_txns && g->has_lists; t++)
        if (g->happened[t] && hf_worlds_reads_list(h, t))
            meet_sources(w, t, stack, &n);
    for (hf_txn_id t = 0; t < h->n_txns && w->counts.n > 0; t++)
        if (may_happen(h, t) && !w->all[t] && hf_worlds_counts(w, t)) {
            w->all[t] = w->uncertain[t] = 1;
            w->n_uncertain++;
            stack[n++] = t;
        }
    while (n > 0)
        meet_sources(w, stack[--n], stack, &n);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (g->predicates && g->reads_matter && may_happen(h, t) &&
            !w->all[t]) {
            w->all[t] = w->uncertain[t] = 1;
            w->n_uncertain++;
        }
    hf_free(stack);
}

/* The facts of everybody who may have happened.  False: stopped. */
static bool build_graph(hf_worlds *w)
{
    w->g = w->base;
    if (w->n_uncertain == 0 && !w->loose && w->counts.n == 0)
        return true;
    w->g = &w->again;
    return hf_worlds_rebuild(w, &w->again, w->all, false);
}

bool hf_worlds_gather(hf_worlds *w)
{
    hf_worlds_find_counts(w);
    find_uncertain(w);
    hf_worlds_find_loose(w);
    return build_graph(w);
}
