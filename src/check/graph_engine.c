/* graph_engine.c: the graph engine.
 *
 *   1. Facts: versions, their order as far as it is known, what reads mean
 *      (graph_facts.c and those it calls).
 *   2. Anomalies without a cycle were noted on the way.
 *   3. A walk over the edges the level cares about: a topological order, or
 *      components with cycles, in which the shortest of each class are found.
 *   4. No anomaly, and the order of every key is known: valid, with the order
 *      of the walk as witness.
 *   5. No anomaly, but something is not known: the order of the walk, and a
 *      few others, are tried as a completion.  If none fits the answer is
 *      unknown, with what would have decided it.
 *   6. Engine polygraph searches instead: for an order of versions and sources
 *      (poly.h), or, where these are not what is open, over states (states.h).
 *
 * A level given by a condition on single reads (the weak levels) or on paths
 * (consistent view, parallel snapshot isolation) needs more than a walk, but
 * a history that is even serializable does not: that is tried first.
 */
#include "check/graph_engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "check/brute_engine.h"
#include "check/graph.h"
#include "check/poly.h"
#include "check/pred.h"
#include "check/states.h"
#include "check/weak_engine.h"

typedef struct engine {
    hf_graph g;
    hf_graph_report report;
    hf_result *r;
    hf_walk walk;    /* the one whose order is the witness */
    bool is_serial;  /* it has all edges: its order is a serial one */
    bool choose;     /* what is open is decided by a search: poly.h */
    bool impossible; /* a search over states came to its end */
} engine;

/* ---- verdicts ------------------------------------------------------------ */

static void set_unknown(engine *e, const char *reason)
{
    e->r->verdict = HF_UNKNOWN;
    e->r->reason = hf_arena_text(&e->r->arena, reason, strlen(reason));
}

/* The order as a witness: of a split walk, events; for levels that want
 * commits, the commits among them. */
static void set_order(engine *e, const uint32_t *order, uint32_t n,
                      hf_witness_kind kind, bool commits_only)
{
    hf_witness *w = &e->r->witness;

    e->r->verdict = HF_VALID;
    w->kind = kind;
    /* it proves itself, but for what the user wants kept */
    w->rests = e->g.options.assume & HF_REST_ASSUMABLE;
    w->order = hf_arena_get(&e->r->arena, hf_array_size(n, sizeof(uint32_t)));
    for (uint32_t i = 0; i < n; i++) {
        if (!commits_only)
            w->order[w->n_order++] = order[i];
        else if (order[i] & 1u)
            w->order[w->n_order++] = order[i] / 2;
    }
}

static void set_valid(engine *e)
{
    const hf_walk *w = &e->walk;
    hf_witness_kind kind = HF_WITNESS_COMMIT;

    if (w->form == HF_WALK_SNAPSHOT)
        kind = HF_WITNESS_SNAPSHOT;
    else if (e->is_serial)
        kind = HF_WITNESS_SERIAL;
    set_order(e, w->order, w->n_order, kind, w->form == HF_WALK_PREFIX);
}

/* ---- cycles -------------------------------------------------------------- */

static unsigned orders_mask(const hf_level_info *level)
{
    return (level->session_order ? HF_WALK_SO : 0) |
           (level->real_time ? HF_WALK_RT : 0);
}

/* A walk; its components, if it has any, are reported.  False if the budget
 * ran out. */
static bool walk(engine *e, unsigned mask, hf_walk_form form, bool report)
{
    hf_walk_release(&e->walk);
    e->walk = (hf_walk){.g = &e->g, .mask = mask, .form = form};
    e->is_serial = form == HF_WALK_PLAIN && (mask & HF_WALK_RW) != 0;
    if (!hf_walk_run(&e->walk, NULL, 0))
        return false;
    if (!e->walk.acyclic && report)
        hf_report_components(&e->report, &e->walk);
    return !e->g.stopped;
}

/* The conditions that a walk over W alone does not show. */
static bool look_beyond(engine *e, unsigned mask)
{
    const hf_level_info *level = e->g.level;
    unsigned all = mask | HF_WALK_A;

    if (level->shape == HF_SHAPE_SINGLE)
        return walk(e, all, HF_WALK_SNAPSHOT, true);
    if (level->axiom & HF_AXIOM_PREFIX)
        return walk(e, all, HF_WALK_PREFIX, true);
    if (!walk(e, all, HF_WALK_PLAIN, (level->axiom & HF_AXIOM_CAUSAL) != 0))
        return false;
    if (!e->walk.acyclic && !(level->axiom & HF_AXIOM_CAUSAL)) {
        hf_report_weak(&e->report, &e->walk);
        if (e->g.pred && e->report.found.n == 0)
            hf_pred_report_weak(&e->report, &e->walk);
    }
    return !e->g.stopped;
}

/* Levels between read-committed and snapshot isolation. */
static bool judge_middle(engine *e, unsigned mask)
{
    if (!walk(e, mask | HF_WALK_A, HF_WALK_PLAIN, false))
        return false;
    if (e->walk.acyclic)
        return true;
    if (!walk(e, mask, HF_WALK_PLAIN, true))
        return false;
    if (!e->walk.acyclic)
        return true;
    if (!look_beyond(e, mask))
        return false;
    if (e->report.found.n > 0 || e->walk.form == HF_WALK_PREFIX)
        return true;
    return walk(e, mask, HF_WALK_PLAIN, false); /* for its order */
}

/* Fills the report; false if the budget ran out. */
static bool judge_cycles(engine *e)
{
    const hf_level_info *level = e->g.level;
    unsigned mask = HF_WALK_W | orders_mask(level);

    switch (level->shape) {
    case HF_SHAPE_WW:
        return walk(e, HF_WALK_WW, HF_WALK_PLAIN, true);
    case HF_SHAPE_W:
        return walk(e, mask, HF_WALK_PLAIN, true);
    case HF_SHAPE_ITEM:
        return walk(e, mask | HF_WALK_RW, HF_WALK_PLAIN, true);
    case HF_SHAPE_SERIAL:
        return walk(e, mask | HF_WALK_A, HF_WALK_PLAIN, true);
    case HF_SHAPE_SNAPSHOT:
        return walk(e, mask | HF_WALK_A, HF_WALK_SNAPSHOT, true);
    default:
        return judge_middle(e, mask);
    }
}

/* ---- completing ---------------------------------------------------------- */

static bool is_murky(const hf_graph *g)
{
    for (hf_key_id k = 0; g->has_lists && k < g->h->n_keys; k++)
        if ((g->key_use[k] & HF_USE_MURKY) && g->longest_op[k] != HF_NONE)
            return true;
    return false;
}

/* A serial order is a proof for every level but read-uncommitted. */
static bool try_serial(engine *e, const hf_txn_id *order, uint32_t n)
{
    hf_source_list sources = {0};
    bool fine = hf_graph_replay(&e->g, order, n, &sources);
    hf_witness *w = &e->r->witness;

    if (fine) {
        set_order(e, order, n, HF_WITNESS_SERIAL, false);
        w->n_sources = (uint32_t)sources.n;
        w->sources = hf_arena_get(&e->r->arena,
                                  hf_array_size(sources.n, sizeof(hf_source)));
        if (sources.n > 0)
            memcpy(w->sources, sources.at, sources.n * sizeof(hf_source));
    }
    hf_vec_release(&sources);
    return fine;
}

/* Transactions that happened: by recorded order or the time of their end,
 * where that is known; else in the order of the file. */
static hf_txn_id *guess_order(const hf_graph *g, uint32_t *ret_n)
{
    const hf_history *h = g->h;
    hf_sortable *all =
        hf_alloc_large(hf_array_size((size_t)h->n_txns + 1, sizeof(*all)));
    hf_txn_id *order = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);
    uint32_t n = 0;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (g->happened[t])
            all[n++] = (hf_sortable){h->cert.commit_ts ? h->cert.commit_ts[t]
                                                       : hf_txn_end_time(h, t),
                                     t};
    hf_sort(all, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = (hf_txn_id)all[i].value;
    *ret_n = n;
    hf_free(all);
    return order;
}

/* An order that keeps the edges in the mask and otherwise follows the hint;
 * NULL if there is none. */
static uint32_t *order_with(engine *e, unsigned mask, const hf_txn_id *hint,
                            uint32_t n_hint, uint32_t *ret_n)
{
    hf_walk w = {.g = &e->g, .mask = mask, .form = HF_WALK_PLAIN};
    uint32_t *order = NULL;

    if (hf_walk_run(&w, hint, n_hint) && w.acyclic) {
        order = w.order;
        *ret_n = w.n_order;
        w.order = NULL;
    }
    hf_walk_release(&w);
    return order;
}

static void clear_report(engine *e)
{
    e->report.found.n = 0;
    memset(e->report.count, 0, sizeof(e->report.count));
    memset(e->report.at_least, 0, sizeof(e->report.at_least));
}

/* Every order is known now, or taken for known: valid? */
static bool try_judged(engine *e)
{
    if (!judge_cycles(e) || e->report.found.n > 0 || !e->walk.acyclic) {
        clear_report(e);
        return false;
    }
    set_valid(e);
    return true;
}

/* Takes the order for that of all versions and asks again. */
static bool try_completed(engine *e, const hf_txn_id *order, uint32_t n)
{
    hf_graph_complete(&e->g, order, n);
    return try_judged(e);
}

/* A serial order that keeps every known edge. */
static bool complete_serially(engine *e, unsigned mask, const hf_txn_id *hint,
                              uint32_t n_hint)
{
    uint32_t n = 0;
    uint32_t *order = order_with(e, mask | HF_WALK_RW, hint, n_hint, &n);
    bool done = order && try_serial(e, order, n);

    hf_free(order);
    return done;
}

/* True if one of a few orders proves the history valid: by recorded order or
 * time, and by place in the file. */
static bool complete(engine *e)
{
    hf_graph *g = &e->g;
    unsigned mask = HF_WALK_W | orders_mask(g->level);
    uint32_t n_hint = 0, n[2] = {0, 0};
    hf_txn_id *hint;
    uint32_t *order[2];
    bool done = false;

    if (is_murky(g))
        return false;
    hint = guess_order(g, &n_hint);
    if (g->reads_matter)
        done = complete_serially(e, mask, hint, n_hint) ||
               complete_serially(e, mask, NULL, 0);
    else
        mask = HF_WALK_WW;
    if (!done && !g->total && (g->open_reads == 0 || !g->reads_matter)) {
        order[0] = order_with(e, mask, hint, n_hint, &n[0]);
        order[1] = order_with(e, mask, NULL, 0, &n[1]);
        for (unsigned i = 0; i < 2; i++) {
            done = done || (order[i] && try_completed(e, order[i], n[i]));
            hf_free(order[i]);
        }
    }
    hf_free(hint);
    return done;
}

/* The same with predicates, which have to be asked again: another order has
 * other versions that change the matches. */
static bool complete_with_predicates(engine *e)
{
    hf_graph *g = &e->g;
    uint32_t n_hint = 0, n[2] = {0, 0};
    hf_txn_id *hint;
    uint32_t *order[2];
    unsigned mask = HF_WALK_W | orders_mask(g->level);
    bool done = false;

    if (g->total || is_murky(g) || g->pred->undecided_before[0] ||
        g->open_reads > 0 || g->options.assume || !e->walk.acyclic)
        return false;
    hint = guess_order(g, &n_hint);
    if (!g->reads_matter)
        mask = HF_WALK_WW;
    order[0] = order_with(e, mask, hint, n_hint, &n[0]);
    order[1] = order_with(e, mask, NULL, 0, &n[1]);
    for (unsigned i = 0; i < 2; i++) {
        if (!done && !g->stopped && order[i]) {
            hf_graph_complete(g, order[i], n[i]);
            memset(g->open_key, 0, g->h->n_keys);
            hf_pred_rebuild(g, false);
            done = !g->stopped && !g->undecided[0] &&
                   g->pred->conflicts.n == 0 && try_judged(e);
        }
        hf_free(order[i]);
    }
    hf_free(hint);
    return done;
}

static bool is_undecided(const hf_graph *g)
{
    return g->undecided[0] && (g->undecided_everywhere || g->reads_matter);
}

/* ---- states -------------------------------------------------------------- */

/* Lists with elements that several appended, or with some to begin with;
 * counters: what was read says nothing about single versions. */
static bool is_beyond_items(const hf_graph *g)
{
    return !g->pred && !g->options.assume &&
           (is_murky(g) || g->odd.n > 0 || is_undecided(g));
}

/* A search that is soon over, before one that may not be. */
static bool find_soon(engine *e)
{
    const hf_graph *g = &e->g;
    uint64_t n = g->h->n_txns;

    return hf_states_find(g->h, 20000 + 50 * n, 0.3 + (double)n * 1e-4,
                          g->budget, e->r, &e->impossible);
}

/* What the lists that are not understood say is left out: is the rest
 * impossible? */
static bool refute_rest(engine *e)
{
    hf_graph *g = &e->g;
    size_t n = 0;

    for (size_t i = 0; i < g->open.n; i++)
        if (!(g->key_use[g->h->op_key[g->open.at[i]]] & HF_USE_MURKY))
            g->open.at[n++] = g->open.at[i];
    g->open.n = n;
    g->open_reads = n;
    if (g->odd.n > 0 || !e->walk.acyclic || !hf_poly_is_order(g) || g->stopped)
        return false;
    hf_poly_decide(&e->report, e->r);
    if (e->r->verdict == HF_INVALID)
        return true;
    e->r->verdict = HF_UNKNOWN;
    e->r->witness = (hf_witness){.kind = HF_WITNESS_NONE};
    return false;
}

static void decide_by_states(engine *e)
{
    hf_graph *g = &e->g;
    char *reason = NULL;

    if (find_soon(e) || refute_rest(e) ||
        hf_states_decide(g->h, false, g->budget, e->r, &reason))
        return;
    if (!reason)
        reason =
            g->undecided[0] ? g->undecided : hf_graph_missing(g, &e->r->arena);
    set_unknown(e, reason);
}

/* The search by choices, for a while. */
static void choose_for_a_while(engine *e, double seconds)
{
    hf_graph *g = &e->g;
    hf_budget *all = g->budget;
    hf_budget share = hf_states_share(all, seconds);

    g->budget = &share;
    hf_poly_decide_world(&e->report, e->r);
    g->budget = all;
    g->stopped = false;
}

/* Orders of versions, and sources.  Where values repeat, executing the
 * transactions may be quicker. */
static void decide_by_choices(engine *e)
{
    hf_graph *g = &e->g;
    char *reason = NULL;

    if (hf_poly_is_order(g)) {
        hf_poly_decide(&e->report, e->r);
        return;
    }
    if (g->reads_matter && find_soon(e))
        return;
    if (e->impossible) { /* it is a matter of saying why */
        choose_for_a_while(e, 1);
        if (e->r->verdict != HF_UNKNOWN ||
            hf_states_decide(g->h, false, g->budget, e->r, &reason))
            return;
    }
    hf_poly_decide_world(&e->report, e->r);
    if (e->r->verdict != HF_UNKNOWN || !g->reads_matter)
        return;
    if (e->impossible && reason)
        set_unknown(e, reason);
    else if (!hf_graph_spent(g) && !(g->budget && g->budget->spent))
        (void)hf_states_decide(g->h, false, g->budget, e->r, &reason);
}

/* Orders or sources are open, and conditions depend on them; nothing else is
 * in the way. */
static bool is_open_with_predicates(const engine *e)
{
    const hf_graph *g = &e->g;

    return g->pred && (!g->total || g->open_reads > 0) && !is_murky(g) &&
           !g->pred->undecided_before[0] && !g->options.assume &&
           g->odd.n == 0 && e->walk.acyclic && !g->stopped;
}

/* ---- all ----------------------------------------------------------------- */

static void settle(engine *e)
{
    hf_graph *g = &e->g;
    char *missing;

    hf_report_odd_lists(&e->report);
    if (g->pred && e->report.found.n == 0)
        hf_pred_report_conflicts(&e->report);
    if (e->report.found.n > 0) {
        hf_report_deliver(&e->report, e->r);
        return;
    }
    if (e->choose && is_beyond_items(g)) {
        decide_by_states(e);
        return;
    }
    if (g->odd.n > 0) {
        set_unknown(e, "the elements of one transaction do not stand together "
                       "in a list that was read, and those involved are too "
                       "many to prove it");
        return;
    }
    missing = hf_graph_missing(g, &e->r->arena);
    if (e->choose && is_open_with_predicates(e)) {
        hf_poly_decide_world(&e->report, e->r);
        return;
    }
    if (is_undecided(g)) {
        char reason[sizeof(g->undecided)];

        memcpy(reason, g->undecided, sizeof(reason));
        if (!g->pred || !complete_with_predicates(e))
            set_unknown(e, reason);
        return;
    }
    if (g->options.assume && g->open_reads > 0) {
        set_unknown(e, missing);
        return;
    }
    if (!e->walk.acyclic) {
        set_unknown(e, "there is a cycle, but the search for one to show was "
                       "cut short");
        return;
    }
    if (g->total && !is_murky(g) && (g->open_reads == 0 || !g->reads_matter)) {
        set_valid(e);
        return;
    }
    if (e->choose && !g->pred && !is_murky(g) && !g->options.assume) {
        decide_by_choices(e);
        return;
    }
    if (!(g->pred ? complete_with_predicates(e) : complete(e)) && !g->stopped)
        set_unknown(e, missing);
}

/* Nothing is wrong so far, and everything is known. */
static bool is_clean(const hf_graph *g)
{
    for (unsigned a = 0; a < HF_G0; a++)
        if (g->places[a].count > 0)
            return false;
    return g->n_open_keys == 0 && g->open_reads == 0 && g->odd.n == 0 &&
           g->clashes.n == 0 && !g->undecided[0] && !is_murky(g) &&
           (!g->pred || g->pred->conflicts.n == 0) && g->options.assume == 0;
}

/* Every transaction is after those that ended before it began. */
static bool keeps_time(const hf_history *h, const hf_txn_id *order, uint32_t n)
{
    uint64_t earliest = HF_TIME_NONE; /* end of those behind */

    for (uint32_t i = n; i-- > 0;) {
        uint64_t begin = hf_txn_begin_time(h, order[i]);
        uint64_t end = hf_txn_end_time(h, order[i]);

        if (begin != HF_TIME_NONE && earliest < begin)
            return false;
        if (h->txn_outcome[order[i]] == HF_COMMITTED && end < earliest)
            earliest = end;
    }
    return true;
}

/* Transactions of one session follow each other as in the file. */
static bool keeps_sessions(const hf_history *h, const hf_txn_id *order,
                           uint32_t n)
{
    hf_txn_id *last = HF_NEW_ZEROED(hf_txn_id, (size_t)h->n_sessions + 1);
    bool fine = true;

    for (uint32_t i = 0; i < n; i++) {
        hf_txn_id *before = &last[h->txn_session[order[i]]];

        fine &= order[i] >= *before;
        *before = order[i];
    }
    hf_free(last);
    return fine;
}

/* Takes the order as the witness if it is a serial one that keeps what the
 * level wants kept. */
static bool accept(engine *e, const hf_txn_id *order, uint32_t n)
{
    const hf_graph *g = &e->g;
    hf_witness *w = &e->r->witness;

    if (n != g->n_happened || !hf_graph_is_serial(g, order, n) ||
        (g->level->session_order && !keeps_sessions(g->h, order, n)) ||
        (g->level->real_time && !keeps_time(g->h, order, n)) ||
        (g->pred && !hf_pred_fits(g->pred, order, n)))
        return false;
    e->r->verdict = HF_VALID;
    w->kind = HF_WITNESS_SERIAL;
    w->n_order = n;
    w->order = hf_arena_get(&e->r->arena, hf_array_size(n, sizeof(*order)));
    if (n > 0)
        memcpy(w->order, order, n * sizeof(*order));
    return true;
}

/* The recorded serial order, that of the file, that of commits: one of them is
 * often right.  To see whether it is takes one pass, and if it is not that
 * shows soon. */
static bool accept_order(engine *e)
{
    hf_graph *g = &e->g;
    const hf_history *h = g->h;
    hf_txn_id *order;
    uint32_t n = 0;
    bool fine;

    if (!g->reads_matter || !is_clean(g))
        return false;
    if (accept(e, h->cert.serial, h->cert.n_serial))
        return true;
    order = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (g->happened[t])
            order[n++] = t;
    fine = accept(e, order, n);
    hf_free(order);
    if (!fine && h->cert.commit_ts) {
        order = guess_order(g, &n);
        fine = accept(e, order, n);
        hf_free(order);
    }
    return fine;
}

/* The order of commits as a witness of a weak level. */
static bool accept_times(engine *e)
{
    const hf_graph *g = &e->g;
    uint32_t n = 0, *order;

    if ((g->level->shape != HF_SHAPE_AXIOM &&
         g->level->shape != HF_SHAPE_OTV) ||
        !is_clean(g) || (g->level->real_time))
        return false;
    order = hf_pred_order_by_time(g->pred, &n);
    if (order)
        set_order(e, order, n, HF_WITNESS_COMMIT, false);
    hf_free(order);
    return order != NULL;
}

void hf_graph_find_known(hf_graph *g, hf_graph_report *report, hf_result *r)
{
    engine *e = HF_NEW(engine);

    e->g = *g;
    e->r = r;
    e->report = *report;
    e->report.g = &e->g;
    if (!g->own && judge_cycles(e) && e->report.found.n > 0 &&
        hf_level_forbids(g->level->level, HF_LOST_UPDATE))
        hf_graph_lost_updates(&e->g);
    hf_report_places(&e->report);
    *g = e->g;
    e->report.g = report->g;
    *report = e->report;
    hf_walk_release(&e->walk);
    hf_free(e);
}

/* Of a world, in which every order is known.  False: they leave open whether
 * it is right. */
static bool judge_conditions(engine *e)
{
    hf_graph *g = &e->g;

    if (!g->predicates)
        return true;
    memset(g->open_key, 0, g->h->n_keys);
    if (!hf_pred_build(g))
        return false;
    if (g->open_reads > 0)
        hf_graph_undecided(g, false,
                           "a condition looked at a version that only one of "
                           "unknown outcome may have written");
    if (g->undecided[0])
        set_unknown(e, g->undecided);
    if (g->undecided[0] || g->pred->conflicts.n > 0)
        return false;
    hf_pred_link(g->pred);
    return true;
}

bool hf_graph_judge_world(const hf_graph *like, const hf_graph_world *world,
                          const hf_txn_id *order, uint32_t n, hf_result *r,
                          hf_graph_findings *ret)
{
    engine *e = HF_NEW(engine);
    hf_graph *g = &e->g;
    bool valid;

    e->r = r;
    g->h = like->h;
    g->level = like->level;
    g->budget = like->budget;
    g->options = like->options;
    g->predicates = like->predicates;
    g->world = *world;
    e->report.g = g;
    e->report.arena = &r->arena;
    valid = hf_graph_build_facts(g);
    if (valid) {
        hf_graph_sessions_and_time(g);
        valid = hf_graph_build_edges(g);
    }
    if (valid) {
        if (!g->total)
            hf_graph_complete(g, order, n);
        valid = judge_conditions(e) && judge_cycles(e) &&
                e->report.found.n == 0 && e->walk.acyclic;
    }
    if (valid)
        set_valid(e);
    else
        for (size_t i = 0; i < e->report.found.n; i++)
            hf_vec_push(ret, e->report.found.at[i]);
    hf_walk_release(&e->walk);
    hf_vec_release(&e->report.found);
    hf_pred_free(g->pred);
    hf_graph_release(g);
    hf_free(e);
    return valid;
}

/* A transaction of unknown outcome may change what a predicate depends on: if
 * there are cycles, only those count that are there with or without it. */
static bool judge_with_doubt(engine *e)
{
    hf_graph *g = &e->g;

    if (!judge_cycles(e))
        return false;
    if (!g->pred || !g->pred->any_uncertain || e->report.found.n == 0)
        return true;
    clear_report(e);
    hf_pred_rebuild(g, true);
    if (g->stopped || !judge_cycles(e))
        return false;
    if (e->report.found.n == 0)
        hf_graph_undecided(g, false,
                           "there is a cycle, but it rests on a transaction of "
                           "unknown outcome, or on an order of versions that "
                           "only reads suggest");
    return true;
}

static void judge(engine *e)
{
    hf_graph *g = &e->g;

    g->predicates = g->predicates && hf_has_predicates(g->h);
    if (!hf_graph_build_facts(g))
        return;
    if (g->level->shape != HF_SHAPE_SNAPSHOT && !g->predicates &&
        accept_order(e))
        return;
    hf_graph_sessions_and_time(g);
    if (g->level->shape == HF_SHAPE_SNAPSHOT && hf_graph_stamps(g, e->r))
        return;
    if (g->stopped || !hf_graph_build_edges(g))
        return;
    if (g->predicates) {
        if (!hf_pred_build(g) ||
            (g->level->shape != HF_SHAPE_SNAPSHOT && accept_order(e)) ||
            accept_times(e))
            return;
        hf_pred_link(g->pred);
    }
    for (size_t i = 0; i < g->clashes.n; i += 2)
        hf_report_cycle(&e->report, HF_G0, g->clashes.at + i, 2);
    if (!judge_with_doubt(e) && e->report.found.n == 0)
        return;
    if (g->reads_matter && (!g->total || e->report.found.n > 0) &&
        hf_level_forbids(g->level->level, HF_LOST_UPDATE)) {
        hf_graph_lost_updates(g);
        if (g->pred)
            hf_pred_lost_updates(g->pred);
    }
    hf_report_places(&e->report);
    hf_report_circles(&e->report);
    settle(e);
}

/* ---- mixed levels -------------------------------------------------------- */

static void judge_mixed(engine *e)
{
    hf_graph *g = &e->g;

    if (!hf_graph_build_facts(g) || !hf_graph_build_edges(g))
        return;
    hf_report_places(&e->report);
    for (size_t i = 0; i < g->clashes.n; i += 2)
        hf_report_cycle(&e->report, HF_G0, g->clashes.at + i, 2);
    if (e->report.found.n > 0)
        hf_report_deliver(&e->report, e->r);
    else if (g->undecided[0])
        set_unknown(e, g->undecided);
    else if (is_murky(g) || g->odd.n > 0)
        set_unknown(e, "a list was read with an element that several appended, "
                       "or whose elements do not stand together; with mixed "
                       "levels that is not judged");
    else
        hf_poly_decide_world(&e->report, e->r);
}

/* Facts are gathered as for read-committed: sessions, times and what a level
 * makes of reads are looked at one by one. */
static const hf_level_info **use_own_levels(engine *e, hf_level level)
{
    hf_graph *g = &e->g;
    const hf_level_info **own =
        HF_NEW_ARRAY(const hf_level_info *, (size_t)g->h->n_txns + 1);

    for (hf_txn_id t = 0; t < g->h->n_txns; t++)
        own[t] = hf_level_get((hf_level)hf_txn_own_level(g->h, t, level));
    g->own = own;
    g->others = level;
    g->level = hf_level_get(HF_READ_COMMITTED);
    g->predicates = false;
    g->options.most = UINT32_MAX;
    e->r->mixed = true;
    return own;
}

static void mark_mixed(hf_result *r)
{
    r->witness.mixed = r->witness.kind != HF_WITNESS_NONE;
    for (uint32_t i = 0; i < r->n_findings; i++)
        r->findings[i].witness.mixed = true;
}

/* ---- predicates, and reads with several possible sources ------------------
 */

/* When transactions started and committed: by the recorded timestamps, or by
 * their place in the recorded order.  False: neither is there. */
static bool recorded_times(const hf_history *h, bool stamps, uint64_t *start,
                           uint64_t *commit)
{
    if (stamps) {
        for (hf_txn_id t = 0; h->cert.commit_ts && t < h->n_txns; t++) {
            commit[t] = h->cert.commit_ts[t];
            start[t] =
                h->cert.start_ts ? h->cert.start_ts[t] : h->cert.commit_ts[t];
        }
        return h->cert.commit_ts != NULL;
    }
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        start[t] = commit[t] = h->cert.n_serial;
    for (uint32_t i = 0; i < h->cert.n_serial; i++)
        start[h->cert.serial[i]] = commit[h->cert.serial[i]] = i;
    return h->cert.n_serial > 0;
}

static void store_sources(const hf_graph *g, const uint32_t *source,
                          hf_result *r)
{
    hf_witness *w = &r->witness;

    w->sources = hf_arena_get(
        &r->arena, hf_array_size(g->open.n + 1, sizeof(*w->sources)));
    for (size_t i = 0; i < g->open.n; i++) {
        hf_op_id op = g->open.at[i];

        if (source[op] != HF_CHOSEN_ONLY)
            w->sources[w->n_sources++] = (hf_source){
                op, 0,
                source[op] == HF_CHOSEN_INITIAL ? HF_NONE : source[op] - 1};
    }
}

/* Judges the world in which the open reads return what the times suggest: if
 * it is right, that is the answer.  *ret: the result, or as it was. */
static bool try_recorded_sources(const engine *e, const uint32_t *source,
                                 hf_result **ret)
{
    engine *again = HF_NEW(engine);
    bool valid;

    again->r = hf_result_new(e->r->level, e->r->engine);
    again->g = (hf_graph){.h = e->g.h,
                          .level = e->g.level,
                          .budget = e->g.budget,
                          .options = e->g.options,
                          .predicates = true,
                          .world = {e->g.happened, source, false}};
    again->report.g = &again->g;
    again->report.arena = &again->r->arena;
    judge(again);
    valid = again->r->verdict == HF_VALID && again->r->witness.n_sources == 0 &&
            !again->g.stopped;
    if (valid) {
        store_sources(&e->g, source, again->r);
        hf_result_free(*ret);
        *ret = again->r;
    } else {
        hf_result_free(again->r);
    }
    hf_walk_release(&again->walk);
    hf_vec_release(&again->report.found);
    hf_pred_free(again->g.pred);
    hf_graph_release(&again->g);
    hf_free(again);
    return valid;
}

/* With predicates no search decides which of several equal values a read
 * returned (absent rows are all equal); what was recorded mostly tells. */
static void settle_by_record(engine *e)
{
    hf_graph *g = &e->g;
    size_t n = (size_t)g->h->n_txns + 1;
    uint64_t *start, *commit;
    uint32_t *source;
    bool done = false;

    if (e->r->verdict != HF_UNKNOWN || !g->pred || g->open_reads == 0 ||
        g->options.assume || g->stopped)
        return;
    start = HF_NEW_ARRAY(uint64_t, n);
    commit = HF_NEW_ARRAY(uint64_t, n);
    source = HF_NEW_ZEROED(uint32_t, (size_t)g->h->n_ops + 1);
    for (unsigned stamps = 0; stamps < 2 && !done; stamps++)
        if (recorded_times(g->h, stamps == 1, start, commit)) {
            hf_poly_guess_sources(g, start, commit, source);
            done = try_recorded_sources(e, source, &e->r);
        }
    hf_free(start);
    hf_free(commit);
    hf_free(source);
}

/* A search that came to an answer, or said how far it came. */
static bool is_told(const hf_result *r)
{
    return r->verdict != HF_UNKNOWN || r->reason;
}

static void check(const hf_history *h, hf_level level,
                  const hf_check_options *options, hf_budget *budget,
                  const char *name, hf_result **ret)
{
    uint64_t start = hf_clock_ns();
    const hf_level_info **own = NULL;
    engine *e = HF_NEW(engine);

    e->r = hf_result_new(level, name);
    e->choose = strcmp(name, "polygraph") == 0;
    e->g.predicates = strcmp(name, "graph") != 0;
    e->g.h = h;
    e->g.level = hf_level_get(level);
    e->g.budget = budget;
    if (options)
        e->g.options = *options;
    e->report.g = &e->g;
    e->report.arena = &e->r->arena;
    if (e->g.options.mixed) {
        own = use_own_levels(e, level);
        judge_mixed(e);
    } else {
        judge(e);
        settle_by_record(e);
    }
    if (e->g.stopped && e->report.found.n > 0)
        hf_report_deliver(&e->report, e->r); /* what was found stands */
    else if (e->g.stopped && !(e->choose && is_told(e->r)))
        set_unknown(e, hf_budget_reason(budget));
    else if (e->g.too_large)
        set_unknown(e, "the history has more versions than engine graph can "
                       "number (about 2,000 million)");
    if (e->g.options.mixed)
        mark_mixed(e->r);
    e->r->seconds = (double)(hf_clock_ns() - start) / 1e9;
    *ret = e->r;
    hf_free(own);
    hf_walk_release(&e->walk);
    hf_vec_release(&e->report.found);
    hf_pred_free(e->g.pred);
    hf_graph_release(&e->g);
    hf_free(e);
}

hf_status hf_graph_check(const hf_history *h, hf_level level,
                         const hf_check_options *options, hf_budget *budget,
                         hf_result **ret, hf_error *err)
{
    (void)err;
    check(h, level, options, budget, "graph", ret);
    return HF_OK;
}

hf_status hf_certificate_engine(const hf_history *h, hf_level level,
                                const hf_check_options *options,
                                hf_budget *budget, hf_result **ret,
                                hf_error *err)
{
    (void)err;
    check(h, level, options, budget, "certificate", ret);
    return HF_OK;
}

/* Levels that engine weak knows. */
static bool is_weak(hf_level level)
{
    const hf_level_info *info = hf_level_get(level);

    return info->shape == HF_SHAPE_WW || info->shape == HF_SHAPE_W ||
           info->shape == HF_SHAPE_OTV ||
           (info->shape == HF_SHAPE_AXIOM && !(info->axiom & HF_AXIOM_PREFIX));
}

/* What a search does not know, of a few transactions. */
static hf_status enumerate(const hf_history *h, hf_level level,
                           const hf_check_options *options, hf_budget *budget,
                           hf_result **ret, hf_error *err)
{
    hf_result *r = NULL;
    hf_status st = hf_brute_check(h, level, options, budget, &r, err);

    if (st != HF_OK || r->verdict == HF_UNKNOWN) {
        hf_result_free(r);
        return HF_OK;
    }
    hf_result_free(*ret);
    *ret = r;
    return HF_OK;
}

hf_status hf_polygraph_check(const hf_history *h, hf_level level,
                             const hf_check_options *options, hf_budget *budget,
                             hf_result **ret, hf_error *err)
{
    if (is_weak(level) && !(options && options->mixed) &&
        !hf_has_predicates(h)) {
        /* decided without a search, but for duplicates */
        hf_status st = hf_weak_check(h, level, options, budget, ret, err);

        if (st != HF_OK || (*ret)->verdict != HF_UNKNOWN ||
            (budget && budget->spent))
            return st;
        hf_result_free(*ret);
    }
    check(h, level, options, budget, "polygraph", ret);
    if ((*ret)->verdict == HF_UNKNOWN && !(budget && budget->spent) &&
        !(options && options->no_enumeration))
        return enumerate(h, level, options, budget, ret, err);
    return HF_OK;
}
