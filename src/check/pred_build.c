/* pred_build.c: predicates, from operations to edges.  See pred.h. */
#include "check/pred.h"

#include <string.h>

/* Keys that a transaction of unknown outcome wrote, of which nobody knows
 * whether it happened: with it, other versions might be flips.  And keys whose
 * order follows from reads alone: it proves a history valid, but an edge of a
 * condition cannot be shown by it. */
static void find_uncertain(hf_pred *p)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;

    p->uncertain = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    for (hf_key_id k = 0; k < h->n_keys; k++)
        if (g->key_use[k] & HF_USE_PATH) {
            p->uncertain[k] = 1;
            p->any_uncertain = true;
        }
    for (hf_txn_id t = 0; !g->all_happened && t < h->n_txns; t++) {
        if (g->happened[t] || h->txn_outcome[t] == HF_ABORTED)
            continue;
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
            if (hf_graph_writes(h, o)) {
                p->uncertain[h->op_key[o]] = 1;
                p->any_uncertain = true;
            }
    }
}

hf_snapshots *hf_pred_snapshots(hf_pred *p)
{
    if (!p->snapshots)
        p->snapshots = hf_snapshots_new(p->g->h);
    return p->snapshots;
}

static size_t count_predicates(const hf_history *h)
{
    size_t n = 0;

    for (hf_op_id o = 0; o < h->n_ops; o++)
        n += hf_op_has_predicate(hf_op_kind_of(h, o));
    return n;
}

static void list_ops(hf_pred *p)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;

    p->op_first = HF_NEW_ARRAY(uint32_t, (size_t)h->n_txns + 1);
    hf_vec_reserve(&p->ops, count_predicates(h));
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        bool fresh = true;

        p->op_first[t] = (uint32_t)p->ops.n;
        for (hf_op_id o = h->op_first[t];
             g->happened[t] && o < h->op_first[t + 1]; o++) {
            hf_op_kind kind = hf_op_kind_of(h, o);

            fresh &= !hf_graph_writes(h, o);
            if (!hf_op_has_predicate(kind) || (h->op_kind[o] & HF_OP_FAILED))
                continue;
            hf_vec_push(&p->ops, (hf_pred_op){.q = hf_op_predicate(h, o),
                                              .op = o,
                                              .txn = t,
                                              .fresh = fresh,
                                              .aggregate = kind >= HF_OP_MIN});
        }
    }
    p->op_first[h->n_txns] = (uint32_t)p->ops.n;
}

/* Which commit times snapshots are compared with. */
static void choose_clock(hf_pred *p)
{
    if (hf_pred_clock_of_ids(p))
        return;
    p->commit = p->g->h->cert.commit_ts;
    for (size_t i = 0; p->commit && i < p->ops.n; i++) {
        hf_pred_op *o = &p->ops.at[i];

        o->on_clock = o->q.snapshot == HF_SNAPSHOT_TIME;
        o->moment = o->q.snapshot_time;
    }
}

static void look_at_all(hf_pred *p)
{
    const hf_history *h = p->g->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        if (p->op_first[t] == p->op_first[t + 1])
            continue;
        for (uint32_t i = p->op_first[t]; i < p->op_first[t + 1]; i++) {
            if (p->ops.at[i].timed)
                hf_pred_look_timed(p, &p->ops.at[i]);
            else
                hf_pred_look(p, &p->ops.at[i]);
        }
        hf_pred_compare(p, t);
        if (hf_graph_spent(p->g))
            return;
        hf_budget_progress(p->g->budget, "predicates", t, h->n_txns);
    }
}

static hf_pred *make(hf_graph *g, bool certain_only)
{
    hf_pred *p = HF_NEW(hf_pred);

    p->g = g;
    g->pred = p;
    hf_arena_init(&p->arena);
    hf_map_init(&p->by_text);
    p->certain_only = certain_only;
    _Static_assert(sizeof(p->undecided_before) == sizeof(g->undecided),
                   "one is a copy of the other");
    memcpy(p->undecided_before, g->undecided, sizeof(g->undecided));
    p->everywhere_before = g->undecided_everywhere;
    p->cache = g->options.cache ? g->options.cache
                                : hf_sql_cache_new(g->options.dialect);
    find_uncertain(p);
    list_ops(p);
    choose_clock(p);
    hf_pred_make_tables(p);
    for (size_t i = 0; i < p->ops.n; i++) {
        hf_pred_op *o = &p->ops.at[i];

        o->condition = hf_pred_condition_of(p, o->q.table, o->q.condition);
        p->conditions.at[o->condition].n_timed += o->on_clock;
    }
    hf_pred_judge_conditions(p);
    return p;
}

bool hf_pred_build(hf_graph *g)
{
    hf_pred *p = make(g, false);

    if (g->stopped)
        return false;
    hf_pred_make_chains(p);
    if (g->stopped) /* not all parts are there */
        return false;
    look_at_all(p);
    if (!g->stopped)
        hf_pred_timed_totals(p);
    return !g->stopped;
}

void hf_pred_rebuild(hf_graph *g, bool certain_only)
{
    hf_places places[HF_G0];
    hf_pred *p = g->pred;

    memcpy(g->undecided, p->undecided_before, sizeof(g->undecided));
    g->undecided_everywhere = p->everywhere_before;
    hf_pred_free(p);
    memcpy(places, g->places, sizeof(places));
    memset(g->places, 0, sizeof(g->places));
    p = make(g, certain_only);
    hf_pred_make_chains(p);
    if (!g->stopped)
        look_at_all(p);
    if (!g->stopped)
        hf_pred_timed_totals(p);
    hf_pred_link(p);
    for (unsigned a = 0; a < HF_G0; a++)
        hf_vec_release(&g->places[a].kept);
    memcpy(g->places, places, sizeof(places));
}

void hf_pred_free(hf_pred *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->conditions.n; i++) {
        hf_free(p->conditions.at[i].match.at);
        hf_free(p->conditions.at[i].flip.at);
        hf_free(p->conditions.at[i].flip_on);
        hf_free(p->conditions.at[i].odd.at);
    }
    hf_pred_release_tables(p);
    hf_snapshots_free(p->snapshots);
    if (p->cache != p->g->options.cache)
        hf_sql_cache_free(p->cache);
    if (p->oracle)
        p->g->options.oracle->close(p->oracle);
    hf_map_release(&p->by_text);
    hf_vec_release(&p->conditions);
    hf_vec_release(&p->chain);
    hf_vec_release(&p->covers);
    hf_vec_release(&p->parts);
    hf_vec_release(&p->part_vers);
    hf_vec_release(&p->ops);
    hf_vec_release(&p->edges);
    hf_vec_release(&p->joints);
    hf_vec_release(&p->aparts);
    hf_vec_release(&p->outs);
    hf_vec_release(&p->seen);
    hf_vec_release(&p->conflicts);
    hf_vec_release(&p->renewed);
    hf_vec_release(&p->entries);
    hf_vec_release(&p->rows);
    hf_vec_release(&p->found);
    hf_free(p->event);
    hf_free(p->own_commit);
    hf_free(p->rank_time);
    hf_free(p->rank);
    hf_free(p->tick_ver);
    hf_free(p->rank_tick);
    hf_free(p->shared_rank);
    hf_free(p->op_first);
    hf_free(p->uncertain);
    hf_free(p->first);
    hf_free(p->from);
    hf_free(p->kind);
    hf_arena_release(&p->arena);
    hf_free(p);
}
