/* search.c: a legal execution, its order, a clause against that order.
 *
 *     a model of the clauses: an execution that the level allows
 *     its forced order has a cycle         a prediction
 *     else there is a commit order         a clause: some read is not served
 *                                          by it; again
 *     else there is none                   a prediction, by an exact strategy;
 *                                          an approximate one goes on
 *     no model                             nothing else exists
 *
 * (Counterexample-guided, as an exists-forall problem.)  Each clause removes
 * every execution that the order serves, so the loop ends.
 *
 * Before all that, a single change is tried without a solver (direct.c).
 *
 * First it is asked whether there is one at all; if not, that is the answer.
 * That one is kept for the case that a limit comes before a better one.  Then
 * the wishes of encode.h are asked for, those that leave the application
 * nothing to do otherwise first, in the end none.
 *
 * All that with transactions that go on as observed (encode_beyond.c).  What is
 * left after that is asked for without, so that "none" means none.
 *
 * A prediction is made smaller (reads go back to what was observed, or their
 * session stops before them, one by one, as long as it stays one), sessions in
 * which nothing changes go on to where they ended, and then it is excluded
 * together with all that change the same reads and more; if its shape keeps
 * coming back, with all that change reads in the same places of the
 * application.
 */
#include "predict/search_impl.h"

#include <string.h>

#include "base/error.h"
#include "base/map.h"

#define SAME_SHAPE 6u /* so often in a row: exclude the places */
/* For wishes, after which fewer are asked for: conflicts of one answer, and
 * answers, at most, at least, and in between by the clauses of the order (n^3
 * of n transactions); a half, a third, ... after sets that were too much.
 * Counted, not timed: the same every time. */
#define WISH_CONFLICTS 10000u
#define LEAST_CONFLICTS 300u
#define WISH_ANSWERS 1000u
#define LEAST_ANSWERS 5u
#define WISH_CLAUSES 30000000u
/* The same for a cycle to show, after which one without is asked for. */
#define CYCLE_CONFLICTS 20000
#define CYCLE_ANSWERS 200u

/* What is wished for, one after the other.  Who inserts a row that is there
 * aborts for certain, who does not finish only perhaps. */
#define GOES_ON (HF_WISH_FINISH | HF_WISH_PRESENT)
#define LIKELY (GOES_ON | HF_WISH_NAMES)
#define INSERTS (HF_WISH_PRESENT | HF_WISH_NAMES)
static const unsigned wishes_of_best[] = {LIKELY | HF_WISH_UNSEEN,
                                          LIKELY | HF_WISH_QUIET |
                                              HF_WISH_STRICT,
                                          LIKELY | HF_WISH_QUIET,
                                          LIKELY | HF_WISH_STRICT,
                                          LIKELY,
                                          INSERTS | HF_WISH_UNSEEN,
                                          INSERTS | HF_WISH_STRICT,
                                          INSERTS,
                                          HF_WISH_NAMES | HF_WISH_GONE,
                                          HF_WISH_NAMES,
                                          GOES_ON | HF_WISH_STRICT,
                                          GOES_ON,
                                          HF_WISH_FINISH | HF_WISH_STRICT,
                                          HF_WISH_FINISH,
                                          HF_WISH_STRICT,
                                          0};
static const unsigned wishes_of_others[] = {LIKELY | HF_WISH_UNSEEN,
                                            LIKELY | HF_WISH_QUIET,
                                            LIKELY,
                                            INSERTS | HF_WISH_UNSEEN,
                                            INSERTS,
                                            HF_WISH_NAMES | HF_WISH_GONE,
                                            HF_WISH_NAMES,
                                            GOES_ON,
                                            HF_WISH_FINISH,
                                            0};

static const unsigned *wishes_of(const hf_predict_options *options)
{
    return options->strategy == HF_PREDICT_BEST ? wishes_of_best
                                                : wishes_of_others;
}

/* ---- not again ----------------------------------------------------------- */

static int site_lit(hf_searcher *q, uint64_t site)
{
    uint32_t at = hf_map_get(&q->sites, site);
    int lit;

    if (at != UINT32_MAX)
        return q->site_lits.at[at];
    lit = hf_sat_lit(q->c.sat, false);
    hf_map_set(&q->sites, site, (uint32_t)q->site_lits.n);
    hf_vec_push(&q->site_lits, lit);
    for (uint32_t i = 0; i < q->e->reads.n; i++)
        for (uint32_t j = 0; j < q->e->reads.at[i].n_sources; j++)
            if (hf_searcher_changed(q, i, j) &&
                hf_shape_site(q->shapes, i, j) == site)
                HF_CLAUSE(&q->c, -q->c.choice[q->e->reads.at[i].source + j],
                          lit);
    return lit;
}

static void exclude(hf_searcher *q, bool by_site)
{
    HF_VEC(int) clause = {0};

    for (uint32_t i = 0; i < q->e->reads.n; i++) {
        const hf_event_read *r = &q->e->reads.at[i];
        uint32_t j = q->x.source[i];

        if (!hf_searcher_changed(q, i, j))
            continue;
        hf_vec_push(&clause, by_site
                                 ? -site_lit(q, hf_shape_site(q->shapes, i, j))
                                 : -q->c.choice[r->source + j]);
    }
    if (clause.n == 0)
        q->ended = true; /* the observed execution itself */
    else
        hf_encoding_add(&q->c, clause.at, (uint32_t)clause.n);
    hf_vec_release(&clause);
}

/* ---- the loop ------------------------------------------------------------ */

static bool is_known(const hf_searcher *q, uint64_t shape)
{
    for (size_t i = 0; i < q->found->n; i++)
        if (q->found->at[i].shape == shape)
            return true;
    return false;
}

/* The prediction q->x, of the last model. */
static hf_prediction prediction_of(hf_searcher *q, hf_serial_answer a,
                                   bool finishes)
{
    hf_prediction p = {.target = q->options->target, .finishes = finishes};

    hf_encoding_places(&q->c, q->place);
    hf_prediction_fill(&p, q->e, &q->x, q->place, q->c.boundary);
    p.is_sure = p.finishes && q->others.n == 0 && (p.is_strict || p.is_unseen);
    p.others = HF_NEW_ARRAY(hf_predicted_other, q->others.n + 1);
    p.n_others = (uint32_t)q->others.n;
    for (size_t i = 0; i < q->others.n; i++)
        p.others[i] = (hf_predicted_other){q->e->txn_of[q->others.at[i].txn],
                                           q->e->txn_of[q->others.at[i].rival]};
    if (a == HF_SERIAL_CYCLE) {
        p.edges = HF_NEW_ARRAY(hf_predicted_edge, q->e->n);
        p.n_edges = hf_serial_cycle(q->serial, &q->x, p.edges);
    }
    p.shape = hf_shape_of(q->shapes, &p);
    return p;
}

/* Who has to go on otherwise for q->x, of the last model?  The next one has
 * all others as observed. */
static bool find_others(hf_searcher *q, unsigned wishes)
{
    hf_encoding_others(&q->c, &q->x, &q->others);
    return q->c.as_seen ||
           hf_encoding_allows(&q->c, &q->x, wishes) == HF_SAT_YES;
}

/* q->x is a prediction: keeps it, unless its shape is known. */
static void keep(hf_searcher *q)
{
    unsigned wishes = *q->wishes | HF_WISH_FINISH;
    hf_prediction p;
    hf_serial_answer a;

    hf_searcher_shrink(q);
    hf_searcher_stretch(q);
    a = hf_serial_judge(q->serial, &q->x, q->options->budget, NULL);
    if (!hf_searcher_is_one(q, a))
        return; /* the budget was spent meanwhile */
    if (hf_encoding_allows(&q->c, &q->x, wishes) != HF_SAT_YES) {
        wishes = *q->wishes;
        if (hf_encoding_allows(&q->c, &q->x, wishes) != HF_SAT_YES)
            return;
    }
    if (!find_others(q, wishes))
        return;
    p = prediction_of(q, a, wishes & HF_WISH_FINISH);
    q->c.writers.n = 0;
    if (is_known(q, p.shape)) {
        hf_prediction_release(&p);
        q->again++;
    } else {
        hf_vec_push(q->found, p);
        q->again = 0;
    }
    exclude(q, q->again >= SAME_SHAPE);
}

/* On to the next wishes that do not have all that stood in the way.  That rows
 * keep their names is worth more than finishing where that is a matter at all
 * and no rule of conflicts has seen to it; elsewhere those sets are passed
 * over. */
static void wish_next(hf_searcher *q, unsigned failed)
{
    bool counts = hf_target_is_unique(q->c.rules) && !q->c.rules->conflict;

    while ((*q->wishes & failed) == failed ||
           (!counts &&
            (*q->wishes & (HF_WISH_NAMES | HF_WISH_FINISH)) == HF_WISH_NAMES))
        q->wishes++;
    q->answers = 0;
    q->cycling = q->c.cycle != 0;
}

/* On to the next wishes that do not have all that stood in the way; false:
 * nothing did, there is nothing more. */
static bool wish_less(hf_searcher *q)
{
    unsigned failed = hf_encoding_failed(&q->c, *q->wishes);

    if (failed == 0)
        return false;
    if (failed == HF_WISH_FINISH && q->found->n == 0 && q->c.as_seen)
        q->stats->none_finishes = true;
    wish_next(q, failed);
    return true;
}

/* Nothing is left with transactions that go on as observed: now those in which
 * somebody does not.  False: that does not matter, or nobody asks. */
static bool goes_otherwise(hf_searcher *q)
{
    if (!hf_encoding_rests(&q->c))
        return false;
    q->stats->rests_on_writes = true;
    if (q->options->as_seen)
        return false;
    q->c.as_seen = false;
    q->wishes = wishes_of(q->options);
    q->probing = q->found->n == 0;
    q->given_up = 0;
    q->answers = 0;
    q->again = 0;
    q->cycling = q->c.cycle != 0;
    return true;
}

/* Too much effort for wishes: there is one without, so on to fewer. */
static bool gives_up(hf_searcher *q)
{
    hf_budget *budget = q->options->budget;

    if (q->probing || *q->wishes == 0 || (budget && hf_budget_look(budget)))
        return false;
    q->wishes++;
    q->given_up++;
    wish_next(q, HF_WISH_ALL);
    return true;
}

/* After that: does what probing found have fewer wishes?  Then it will do. */
static bool first_will_do(hf_searcher *q)
{
    if (!q->has_first ||
        hf_encoding_allows(&q->c, &q->z, *q->wishes) != HF_SAT_YES)
        return false;
    hf_searcher_copy(q, &q->x, &q->z);
    return true;
}

static uint64_t between(uint64_t n, uint64_t least, uint64_t most)
{
    return n < least ? least : n > most ? most : n;
}

static hf_sat_answer solve(hf_searcher *q)
{
    uint64_t n = q->e->n;

    if (q->probing || *q->wishes == 0) {
        if (q->cycling && q->answers++ >= CYCLE_ANSWERS)
            return HF_SAT_LIMIT;
        if (q->cycling)
            hf_sat_effort(q->c.sat, CYCLE_CONFLICTS);
    } else {
        uint64_t most = WISH_CLAUSES / (n * n * n);

        if (q->answers++ >= between(most, LEAST_ANSWERS, WISH_ANSWERS))
            return HF_SAT_LIMIT;
        hf_sat_effort(q->c.sat,
                      (int)(between(4 * most, LEAST_CONFLICTS, WISH_CONFLICTS) /
                            (1 + q->given_up)));
    }
    hf_encoding_assume(&q->c, q->probing ? 0 : *q->wishes);
    if (q->cycling)
        hf_sat_assume(q->c.sat, q->c.cycle);
    return hf_sat_solve(q->c.sat);
}

/* No cycle to show, or too much effort for it: anything will do. */
static bool stops_cycling(hf_searcher *q, hf_sat_answer a)
{
    hf_budget *budget = q->options->budget;

    if (!q->cycling || a == HF_SAT_YES || (budget && hf_budget_look(budget)) ||
        (a == HF_SAT_NO && !hf_sat_failed(q->c.sat, q->c.cycle)) ||
        (a == HF_SAT_LIMIT && !q->probing && *q->wishes != 0))
        return false;
    q->cycling = false;
    q->answers = 0;
    return true;
}

/* q->x is one; false: that is enough. */
static bool keep_on(hf_searcher *q, hf_search_end *ret_end)
{
    keep(q);
    *ret_end = HF_SEARCH_ENOUGH;
    if (q->found->n >= (q->options->most ? q->options->most : 1))
        return false;
    *ret_end = HF_SEARCH_ALL;
    return !q->ended;
}

/* One model; false: it is over, *ret_end says how. */
static bool step(hf_searcher *q, hf_search_end *ret_end)
{
    hf_budget *budget = q->options->budget;
    hf_sat_answer answer = solve(q);
    hf_serial_answer a;

    if (stops_cycling(q, answer))
        return true;
    switch (answer) {
    case HF_SAT_LIMIT:
        *ret_end = HF_SEARCH_LIMIT;
        if (!gives_up(q))
            return false;
        return !first_will_do(q) || keep_on(q, ret_end);
    case HF_SAT_NO:
        *ret_end = HF_SEARCH_ALL;
        return (!q->probing && wish_less(q)) || goes_otherwise(q);
    default:
        break;
    }
    q->stats->iterations++;
    if (hf_encoding_repair(&q->c) > 0)
        return true;
    hf_encoding_chosen(&q->c, &q->x);
    a = hf_serial_judge(q->serial, &q->x, budget, q->place);
    switch (a) {
    case HF_SERIAL_LIMIT:
        *ret_end = HF_SEARCH_LIMIT;
        return false;
    case HF_SERIAL_ORDER:
        hf_encoding_refute(&q->c, q->place, &q->x);
        return true;
    case HF_SERIAL_NO_ORDER:
        if (!q->exact) {
            hf_encoding_block(&q->c, &q->x);
            return true;
        }
        break;
    case HF_SERIAL_CYCLE:
        break;
    }
    if (q->probing) {
        if (!find_others(q, 0)) {
            *ret_end = HF_SEARCH_LIMIT;
            return false;
        }
        q->first = prediction_of(q, a, false);
        q->c.writers.n = 0;
        q->has_first = true;
        q->probing = false;
        q->answers = 0;
        q->cycling = q->c.cycle != 0;
        hf_searcher_copy(q, &q->z, &q->x);
        return true;
    }
    return keep_on(q, ret_end);
}

static void loop(hf_searcher *q, hf_search_end *ret_end)
{
    hf_budget *budget = q->options->budget;

    /* the order of the file is one that serves what was observed, mostly */
    for (uint32_t t = 0; t < q->e->n; t++)
        q->place[t] = t;
    hf_encoding_refute(&q->c, q->place, NULL);
    while (step(q, ret_end)) {
        if (!budget)
            continue;
        hf_budget_progress(budget, "predicting", q->stats->iterations, 0);
        if (hf_budget_look(budget)) {
            *ret_end = HF_SEARCH_LIMIT;
            return;
        }
    }
}

static hf_boundary boundary_of(hf_predict_strategy strategy)
{
    switch (strategy) {
    case HF_PREDICT_EXACT_STRICT:
    case HF_PREDICT_APPROX_STRICT:
        return HF_BOUNDARY_STRICT;
    case HF_PREDICT_APPROX_RELAXED:
        return HF_BOUNDARY_RELAXED;
    default:
        return HF_BOUNDARY_BEST;
    }
}

/* A limit came before anything better. */
static void fall_back(hf_searcher *q)
{
    if (q->has_first && q->found->n == 0)
        hf_vec_push(q->found, q->first);
    else if (q->has_first)
        hf_prediction_release(&q->first);
}

static void count(hf_searcher *q)
{
    q->stats->choices = (uint32_t)q->e->sources.n;
    q->stats->variables = hf_sat_n_vars(q->c.sat);
    q->stats->clauses = hf_sat_n_clauses(q->c.sat);
    q->stats->literals = hf_sat_n_literals(q->c.sat);
}

/* One prediction is asked for, and there is one of the kind that is wished for
 * most. */
static bool find_directly(hf_searcher *q, hf_boundary boundary)
{
    hf_prediction p = {.target = q->options->target, .finishes = true};

    if (q->options->most > 1 ||
        !hf_direct(q->e, boundary, q->serial, &q->x, q->place))
        return false;
    hf_prediction_fill(&p, q->e, &q->x, q->place, boundary);
    p.is_sure = p.is_strict || p.is_unseen;
    p.edges = HF_NEW_ARRAY(hf_predicted_edge, q->e->n);
    p.n_edges = hf_serial_cycle(q->serial, &q->x, p.edges);
    p.shape = hf_shape_of(q->shapes, &p);
    hf_vec_push(q->found, p);
    q->stats->choices = (uint32_t)q->e->sources.n;
    return true;
}

static hf_status search(hf_searcher *q, hf_boundary boundary,
                        hf_search_end *ret_end, hf_error *err)
{
    const hf_predict_options *options = q->options;
    uint64_t start = hf_clock_cpu_ns(), encoded;
    hf_status st =
        hf_encoding_init(&q->c, q->e, boundary, options->budget, err);

    if (st == HF_OK) {
        hf_encoding_pivots(&q->c);
        hf_encoding_cycles(&q->c);
    }
    encoded = hf_clock_cpu_ns();
    q->stats->encode_seconds += (double)(encoded - start) / 1e9;
    if (st != HF_OK)
        return st;
    q->exact = options->strategy == HF_PREDICT_BEST ||
               options->strategy == HF_PREDICT_EXACT_STRICT;
    q->wishes = wishes_of(options);
    q->probing = true;
    q->cycling = q->c.cycle != 0;
    hf_chosen_init(&q->y, q->e);
    hf_chosen_init(&q->z, q->e);
    hf_map_init(&q->sites);
    count(q);
    loop(q, ret_end);
    fall_back(q);
    q->stats->solve_seconds += (double)(hf_clock_cpu_ns() - encoded) / 1e9;
    hf_encoding_release(&q->c);
    hf_chosen_release(&q->y);
    hf_chosen_release(&q->z);
    hf_map_release(&q->sites);
    hf_vec_release(&q->site_lits);
    hf_vec_release(&q->others);
    return HF_OK;
}

hf_status hf_search(const hf_events *e, const hf_predict_options *options,
                    hf_predictions *ret, hf_predict_stats *stats,
                    hf_search_end *ret_end, hf_error *err)
{
    hf_searcher q = {.e = e, .options = options, .found = ret, .stats = stats};
    hf_boundary boundary = boundary_of(options->strategy);
    uint64_t start = hf_clock_cpu_ns();
    hf_status st = HF_OK;
    bool found;

    q.serial = hf_serial_new(e);
    q.shapes = hf_shapes_new(e);
    hf_chosen_init(&q.x, e);
    q.place = HF_NEW_ARRAY(uint32_t, e->n);
    *ret_end = HF_SEARCH_ENOUGH;
    found = find_directly(&q, boundary);
    stats->solve_seconds += (double)(hf_clock_cpu_ns() - start) / 1e9;
    if (!found)
        st = search(&q, boundary, ret_end, err);
    hf_serial_free(q.serial);
    hf_shapes_free(q.shapes);
    hf_chosen_release(&q.x);
    hf_free(q.place);
    return st;
}
