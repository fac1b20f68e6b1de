/* weak_engine.c: the levels below prefix, without an order of versions.
 *
 * The facts are those of the graph engine: versions, the sources of reads,
 * what is known of orders, anomalies without a cycle.  On top of them the
 * forced edges of the level (weak.h) are added until nothing changes.  The
 * level holds exactly if no cycle comes up: then the order in hand is the
 * commit order, and the witness.
 *
 * Rounds of expanding what is stale and ordering again are few where the
 * recorded order is nearly right, and each adds much less than the one before.
 * After ROUNDS of them, if one has added more than half of what the last one
 * had, all reads are expanded, stale or not, and the next order is the last.
 *
 * Cost: see weak_direct.c (O(n^1.5)), weak_causal.c (O(n * k) with k sessions)
 * and weak_session.c; everything else is linear.
 */
#include "check/weak_engine.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "check/weak.h"

#define ROUNDS 3u

typedef struct engine {
    hf_graph g;
    hf_weak w;
    hf_graph_report report;
    hf_result *r;
} engine;

/* ---- verdicts ------------------------------------------------------------ */

static void set_unknown(engine *e, const char *reason)
{
    e->r->verdict = HF_UNKNOWN;
    e->r->reason = hf_arena_text(&e->r->arena, reason, strlen(reason));
}

static void tell_stop(engine *e)
{
    char text[160];

    (void)snprintf(text, sizeof(text),
                   "neither an order nor a contradiction was found; %s",
                   hf_budget_reason(e->g.budget));
    set_unknown(e, text);
}

static void set_valid(engine *e)
{
    hf_witness *w = &e->r->witness;
    uint32_t n = e->w.n_order;

    e->r->verdict = HF_VALID;
    w->kind = HF_WITNESS_COMMIT;
    /* it proves itself, but for what the user wants kept */
    w->rests = e->g.options.assume & HF_REST_ASSUMABLE;
    w->order = hf_arena_get(&e->r->arena, hf_array_size(n, sizeof(uint32_t)));
    w->n_order = n;
    if (n > 0)
        memcpy(w->order, e->w.order, n * sizeof(uint32_t));
}

/* ---- forced edges -------------------------------------------------------- */

/* True if there is a commit order; it is in hand then. */
static bool saturate(engine *e)
{
    hf_weak *w = &e->w;
    size_t last = SIZE_MAX; /* edges added in the round before */

    for (unsigned round = 0;; round++) {
        size_t before = w->edges.n;

        hf_weak_find_stale(w);
        if (w->stale.n == 0)
            return true;
        hf_weak_expand_near(w);
        hf_weak_expand_direct(w);
        hf_weak_expand_sessions(w);
        hf_weak_expand_causal(w);
        if (e->g.stopped || w->missed.n > 0)
            return false;
        if (w->edges.n == before)
            return true;
        if (!hf_weak_sort(w))
            return false;
        w->all |= round >= ROUNDS && w->edges.n - before > last / 2;
        last = w->edges.n - before;
    }
}

static unsigned axiom_of(const hf_level_info *level)
{
    return level->shape == HF_SHAPE_OTV ? HF_AXIOM_EARLIER_READ : level->axiom;
}

static bool is_murky(const hf_graph *g)
{
    for (hf_key_id k = 0; g->has_lists && k < g->h->n_keys; k++)
        if ((g->key_use[k] & HF_USE_MURKY) && g->longest_op[k] != HF_NONE)
            return true;
    return false;
}

/* ---- all ----------------------------------------------------------------- */

static void settle(engine *e)
{
    hf_graph *g = &e->g;

    hf_report_odd_lists(&e->report);
    if (e->report.found.n > 0) {
        hf_report_deliver(&e->report, e->r);
        return;
    }
    if (g->odd.n > 0) {
        set_unknown(e, "a list was read that no order of the appends explains, "
                       "and its transactions are too many to prove it");
        return;
    }
    if (g->undecided[0] && (g->undecided_everywhere || g->reads_matter)) {
        set_unknown(e, g->undecided);
        return;
    }
    if (is_murky(g) ||
        (g->open_reads > 0 && (g->reads_matter || g->options.assume))) {
        g->n_open_keys = 0; /* they are no hindrance */
        set_unknown(e, hf_graph_missing(g, &e->r->arena));
        return;
    }
    set_valid(e);
}

static void judge(engine *e)
{
    hf_graph *g = &e->g;
    hf_weak *w = &e->w;
    bool valid;

    if (!hf_graph_build_facts(g))
        return;
    hf_graph_sessions_and_time(g);
    hf_weak_build(w);
    if (g->stopped)
        return;
    for (size_t i = 0; i < g->clashes.n; i += 2)
        hf_report_cycle(&e->report, HF_G0, g->clashes.at + i, 2);
    valid = hf_weak_sort(w) && (w->axiom == 0 || saturate(e));
    if (g->stopped)
        return;
    if (!valid) {
        size_t before = e->report.found.n;

        hf_weak_report(w, &e->report);
        if (g->stopped)
            return;
        if (e->report.found.n == before)
            hf_graph_undecided(g, true,
                               "there is a cycle, but the search for one to "
                               "show was cut short");
    }
    hf_report_places(&e->report);
    hf_report_circles(&e->report);
    settle(e);
}

static bool is_weak(const hf_level_info *level)
{
    switch (level->shape) {
    case HF_SHAPE_WW:
    case HF_SHAPE_W:
    case HF_SHAPE_OTV:
        return !level->real_time;
    case HF_SHAPE_AXIOM:
        return !level->real_time && !(level->axiom & HF_AXIOM_PREFIX);
    default:
        return false;
    }
}

/* What is beyond items; NULL: nothing. */
static const char *find_beyond(const hf_history *h)
{
    if (hf_has_predicates(h))
        return "the history has predicate operations, which engine weak does "
               "not judge";
    for (hf_op_id o = 0; h->n_extra > 0 && o < h->n_ops; o++)
        if (hf_op_is_opaque(h, o))
            return "the history has SQL statements, which engine weak does "
                   "not judge";
    return NULL;
}

static void begin(engine *e, const hf_history *h,
                  const hf_check_options *options, hf_budget *budget)
{
    e->g.h = e->w.h = h;
    e->g.level = hf_level_get(e->r->level);
    e->g.budget = budget;
    if (options)
        e->g.options = *options;
    e->w.g = &e->g;
    e->w.axiom = axiom_of(e->g.level);
    e->report.g = &e->g;
    e->report.arena = &e->r->arena;
}

static void decide(engine *e)
{
    const char *beyond = find_beyond(e->g.h);

    if (!is_weak(e->g.level)) {
        set_unknown(e, "engine weak judges causal and the levels below it "
                       "only");
        return;
    }
    if (beyond) {
        set_unknown(e, beyond);
        return;
    }
    judge(e);
    if (e->g.stopped && e->report.found.n > 0)
        hf_report_deliver(&e->report, e->r); /* what was found stands */
    else if (e->g.stopped)
        tell_stop(e);
    else if (e->g.too_large)
        set_unknown(e, "the history has more versions than engine weak can "
                       "number (about 2,000 million)");
}

hf_status hf_weak_check(const hf_history *h, hf_level level,
                        const hf_check_options *options, hf_budget *budget,
                        hf_result **ret, hf_error *err)
{
    uint64_t start = hf_clock_ns();
    engine *e = HF_NEW(engine);

    (void)err;
    e->r = hf_result_new(level, "weak");
    begin(e, h, options, budget);
    decide(e);
    e->r->seconds = (double)(hf_clock_ns() - start) / 1e9;
    *ret = e->r;
    hf_weak_release(&e->w);
    hf_vec_release(&e->report.found);
    hf_graph_release(&e->g);
    hf_free(e);
    return HF_OK;
}
