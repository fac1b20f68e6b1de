/* poly_worlds.c: the search over worlds.
 *
 * The order of nodes is a guess at a world: the order of open versions is that
 * of their writers, each read with several possible sources has one, and of
 * those of unknown outcome some happened.  Edges come with the choices, as in
 * the search over orders alone (poly_look.c).
 *
 * When the order keeps everything, the graph engine judges that world: for
 * levels that are an order of events it agrees; of the others each cycle it
 * finds says that not everything it rests on can be so, a clause.  The search
 * goes on until a world is right or none is left.  There are finitely many.
 *
 * A source costs its edges; a judgement, the whole history.
 */
#include "check/poly_worlds.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "check/graph_engine.h"

#define GUESS_CONFLICTS 2000u
#define MOST_BYTES ((size_t)2 << 30) /* for reachability */
#define MOST_COUNTED 16000000u       /* sources of sums: about 1.6 GB */
#define FEW 20u /* transactions for which no guess is worth it */

/* ---- the world at hand --------------------------------------------------- */

/* The source that the order suggests: the newest before the reader, else the
 * oldest. */
static hf_lit suggest(const hf_poly *p, const hf_poly_choice *c)
{
    const uint32_t *place = hf_order_place(p->order);
    uint32_t at = place[hf_poly_start(p, c->reader)], best = HF_NONE,
             best_place = 0;
    bool best_before = false;

    for (uint32_t i = 0; i < c->n; i++) {
        hf_poly_candidate x = p->candidates.at[c->first + i];
        uint32_t its =
            x.writer == HF_NONE ? 0 : place[hf_poly_commit(p, x.writer)] + 1;
        bool before = its <= at;

        if (hf_order_value(p->order, 2 * x.var) == 0)
            continue;
        if (best == HF_NONE || (before && (!best_before || its > best_place)) ||
            (!before && !best_before && its < best_place)) {
            best = x.var;
            best_place = its;
            best_before = before;
        }
    }
    if (best == HF_NONE)
        HF_BUG("a read without a source left was not a conflict");
    return 2 * best;
}

/* For a read that the order breaks. */
static bool choose_source(hf_worlds *w, bool all, hf_lit *ret)
{
    uint32_t choice = hf_poly_next_broken(&w->p, all);

    if (choice == HF_NONE)
        return false;
    *ret = suggest(&w->p, &w->p.choices.at[choice]);
    return true;
}

static uint32_t set_world(hf_worlds *w)
{
    const hf_poly *p = &w->p;
    const hf_history *h = w->g->h;
    const uint32_t *place = hf_order_place(p->order);
    uint32_t n_nodes = hf_poly_n_nodes(p), n = 0;
    uint32_t *at = HF_NEW_ARRAY(uint32_t, (size_t)n_nodes + 1);

    for (uint32_t i = 0; i < n_nodes; i++)
        at[place[i]] = i;
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        w->happened[t] = w->all[t] && hf_poly_happens(p, t);
    memset(w->place, 0xff, (size_t)h->n_txns * sizeof(*w->place));
    for (uint32_t i = 0; i < n_nodes; i++) {
        hf_txn_id t = at[i] / 2;

        if (at[i] >= p->nodes.times || !w->happened[t])
            continue;
        if (at[i] & 1u) {
            w->place[t] = n;
            w->order[n++] = t;
        }
    }
    hf_free(at);
    memcpy(w->source, w->fixed, h->n_ops * sizeof(*w->source));
    for (size_t i = 0; i < w->g->open.n && p->choices.n > 0; i++) {
        hf_op_id op = w->g->open.at[i];
        const hf_poly_choice *c = &p->choices.at[p->choice_of[op]];
        uint32_t taken;
        hf_txn_id from;

        if (!w->happened[c->reader])
            continue;
        taken = hf_poly_taken(p, p->choice_of[op]);
        if (taken == HF_NONE)
            taken = hf_poly_told(p, p->choice_of[op]);
        from = p->candidates.at[c->first + taken].writer;
        w->source[op] = from == HF_NONE ? HF_CHOSEN_INITIAL : HF_CHOSEN(from);
    }
    hf_worlds_set_entries(w);
    return n;
}

/* ---- the client ---------------------------------------------------------- */

/* Judges the world at hand.  DONE: it is right, or nothing can be said. */
static hf_order_next judge(hf_worlds *w, hf_lit *ret_lit)
{
    hf_graph_findings cycles = {0};
    hf_graph_world world = {.happened = w->happened,
                            .source = w->source,
                            .entries = &w->entries,
                            .loose = w->loose,
                            .counted = w->counts.n > 0};
    uint32_t n = set_world(w);
    hf_order_next next = HF_ORDER_AGAIN;

    if (w->lists.n > 0 && !hf_worlds_take_lists(w, ret_lit))
        return *ret_lit == HF_LIT_NONE ? HF_ORDER_AGAIN : HF_ORDER_DECIDE;
    if (w->counts.n > 0 && !hf_worlds_take_counts(w, ret_lit))
        return *ret_lit == HF_LIT_NONE ? HF_ORDER_AGAIN : HF_ORDER_DECIDE;
    if (w->promised && !hf_worlds_keeps_promises(w, ret_lit))
        return *ret_lit == HF_LIT_NONE ? HF_ORDER_AGAIN : HF_ORDER_DECIDE;
    w->found =
        w->g->own
            ? hf_poly_judge_mixed(&w->p, &world, w->order, n, w->r, &cycles)
            : hf_graph_judge_world(w->g, &world, w->order, n, w->r, &cycles);
    w->n_judged++;
    hf_budget_progress(w->g->budget, "worlds", w->n_judged, 0);
    w->stuck = !w->found && cycles.n == 0;
    if (w->found || w->stuck)
        next = HF_ORDER_DONE;
    for (size_t i = 0; i < cycles.n && next == HF_ORDER_AGAIN; i++) {
        hf_lit torn = hf_worlds_forbid_cycle(w, &cycles.at[i].witness);

        if (torn != HF_LIT_NONE && hf_order_value(w->p.order, torn) < 0) {
            *ret_lit = torn;
            next = HF_ORDER_DECIDE;
        }
    }
    hf_vec_release(&cycles);
    return next;
}

/* Keys are put in order first, then sources are chosen by that order, one by
 * one; in the end the world is judged. */
static hf_order_next look(void *user, hf_order *o, hf_lit *ret_lit)
{
    hf_worlds *w = user;
    hf_order_next next = hf_poly_look_at_keys(&w->p, ret_lit);

    (void)o;
    if (next != HF_ORDER_DONE)
        return next;
    if (choose_source(w, false, ret_lit) || choose_source(w, true, ret_lit))
        return HF_ORDER_DECIDE;
    *ret_lit = hf_worlds_turn_broken(&w->p);
    if (*ret_lit != HF_LIT_NONE)
        return HF_ORDER_DECIDE;
    return judge(w, ret_lit);
}

/* Pairs that were chosen before t happened have their edges now.  O(variables),
 * for each of unknown outcome that happens. */
static void link_pairs(hf_poly *p, hf_txn_id t)
{
    for (uint32_t i = 0; i < p->vars.n; i++) {
        hf_poly_var v = p->vars.at[i];
        int value;

        if (v.kind != HF_POLY_PAIR ||
            (p->g->ver_txn[v.a] != t && p->g->ver_txn[v.b] != t &&
             p->g->ver_txn[p->tail[v.a]] != t &&
             p->g->ver_txn[p->tail[v.b]] != t))
            continue;
        value = hf_order_value(p->order, 2 * i);
        if (value >= 0)
            (void)hf_poly_link(p, 2 * i + (value == 0), true);
    }
}

/* Somebody happened after all. */
static void take_happened(hf_worlds *w, hf_txn_id t, hf_lit lit)
{
    hf_poly *p = &w->p;

    for (uint32_t i = p->choice_first[t]; i < p->choice_first[t + 1]; i++)
        hf_poly_mark_stale(p, i);
    for (uint32_t i = w->guard_first[t]; i < w->guard_first[t + 1]; i++) {
        hf_guarded x = w->guarded.at[w->guards[i]];
        hf_lit why[3];

        if (!hf_poly_add_edge(p, x.from, x.to, lit, why, 0))
            return;
    }
    if (hf_poly_link_happened(p, t))
        link_pairs(p, t);
}

static void taken(void *user, hf_order *o, hf_lit lit)
{
    hf_worlds *w = user;
    hf_poly_var v = w->p.vars.at[HF_LIT_VAR(lit)];

    if (v.kind == HF_POLY_PAIR)
        hf_poly_take_pair(&w->p, o, lit);
    else if (lit & 1u)
        return;
    else if (v.kind == HF_POLY_HAPPENED)
        take_happened(w, v.a, lit);
    else if (!w->p.choices.at[v.a].entry)
        hf_poly_take_source(&w->p, lit);
}

static void undone(void *user, hf_order *o, hf_lit lit)
{
    hf_worlds *w = user;
    hf_poly_var v = w->p.vars.at[HF_LIT_VAR(lit)];

    (void)o;
    if (v.kind != HF_POLY_FROM || (lit & 1u))
        return;
    if (!w->p.choices.at[v.a].entry)
        hf_poly_drop_source(&w->p, lit);
    hf_poly_mark_stale(&w->p, v.a);
}

static void moved(void *user, uint32_t node)
{
    hf_worlds *w = user;

    hf_poly_moved(&w->p, node);
}

/* ---- what is known ------------------------------------------------------- */

static bool is_guarded(const hf_worlds *w, uint32_t node)
{
    return w->n_uncertain > 0 && node < w->p.nodes.times &&
           w->uncertain[node / 2];
}

static void add_known(void *user, uint32_t from, uint32_t to,
                      hf_event_label label)
{
    hf_worlds *w = user;

    (void)label;
    if (from / 2 == to / 2 && to < w->p.nodes.times)
        hf_order_known(w->p.order, from, to);
    else if (is_guarded(w, from) || is_guarded(w, to))
        hf_vec_push(&w->guarded, (hf_guarded){from, to});
    else
        hf_order_known(w->p.order, from, to);
}

/* Guarded edges by the transactions at their ends. */
static void list_guards(hf_worlds *w)
{
    uint32_t n = w->g->h->n_txns;

    w->guard_first = HF_NEW_ZEROED(uint32_t, (size_t)n + 3);
    w->guards = HF_NEW_ARRAY(uint32_t, 2 * w->guarded.n + 1);
    for (size_t i = 0; i < w->guarded.n; i++) {
        if (is_guarded(w, w->guarded.at[i].from))
            w->guard_first[w->guarded.at[i].from / 2 + 2]++;
        if (is_guarded(w, w->guarded.at[i].to))
            w->guard_first[w->guarded.at[i].to / 2 + 2]++;
    }
    for (uint32_t t = 0; t <= n; t++)
        w->guard_first[t + 1] += w->guard_first[t];
    for (size_t i = 0; i < w->guarded.n; i++) {
        hf_guarded x = w->guarded.at[i];

        if (is_guarded(w, x.from))
            w->guards[w->guard_first[x.from / 2 + 1]++] = (uint32_t)i;
        if (is_guarded(w, x.to))
            w->guards[w->guard_first[x.to / 2 + 1]++] = (uint32_t)i;
    }
}

/* ---- all ----------------------------------------------------------------- */

/* The sources that were chosen are part of the witness. */
void hf_worlds_store_sources(hf_worlds *w, const uint32_t *source)
{
    const hf_history *h = w->g->h;
    hf_witness *out = &w->r->witness;
    hf_worlds_sources all = {0};

    for (hf_op_id op = 0; op < h->n_ops && w->g->reads_matter; op++) {
        if (source[op] != HF_CHOSEN_ONLY)
            hf_vec_push(&all, (hf_source){op, 0,
                                          source[op] == HF_CHOSEN_INITIAL
                                              ? HF_NONE
                                              : source[op] - 1});
        if (w->pred && hf_op_has_predicate(hf_op_kind_of(h, op)))
            hf_worlds_add_entries(w, op, &all);
    }
    out->rests |= w->promised;
    out->n_sources = (uint32_t)all.n;
    out->sources =
        hf_arena_get(&w->r->arena, hf_array_size(all.n + 1, sizeof(hf_source)));
    if (all.n > 0)
        memcpy(out->sources, all.at, all.n * sizeof(hf_source));
    hf_vec_release(&all);
}

static void set_unknown(hf_worlds *w, const char *reason)
{
    w->r->verdict = HF_UNKNOWN;
    w->r->reason = hf_arena_text(&w->r->arena, reason, strlen(reason));
}

static void set_excluded(hf_worlds *w)
{
    set_unknown(w, "no world is left, but there are too many transactions "
                   "to prove it");
    w->r->is_excluded = true;
}

static void tell_early_limit(hf_worlds *w)
{
    char text[200];

    (void)snprintf(text, sizeof(text),
                   "what is open was listed, no world was tried; %s",
                   hf_budget_reason(w->report->g->budget));
    set_unknown(w, text);
}

/* How far it came. */
static void tell_limit(hf_worlds *w)
{
    char text[300];

    (void)snprintf(
        text, sizeof(text),
        "no world was found and none excluded: %llu tried, %zu "
        "reads with several possible sources, %lu transactions that "
        "need not have happened, %llu conflicts; %s",
        (unsigned long long)w->n_judged, w->p.choices.n,
        (unsigned long)w->n_uncertain,
        (unsigned long long)(w->conflicts + hf_order_conflicts(w->p.order)),
        hf_budget_reason(w->g->budget));
    set_unknown(w, text);
}

/* A proof that uses what the user assumes rests on it. */
static void add_rests(const hf_worlds *w, hf_witness *proof)
{
    for (uint32_t i = 0; i < proof->n_steps; i++)
        if (proof->steps[i].kind == HF_STEP_PROMISE)
            proof->rests |= w->promised;
}

static void deliver(hf_worlds *w, hf_order_answer answer)
{
    hf_order_proof proof;

    if (answer == HF_ORDER_FOUND && w->found) {
        hf_worlds_store_sources(w, w->source);
        return;
    }
    if (answer == HF_ORDER_LIMIT || hf_graph_spent(w->g)) {
        tell_limit(w);
        return;
    }
    if (answer == HF_ORDER_FOUND && w->r->reason) {
        w->r->verdict = HF_UNKNOWN; /* of the conditions, in every world */
        return;
    }
    if (answer == HF_ORDER_FOUND) {
        set_unknown(w, "there is a cycle in a world that was tried, but "
                       "the search for one to show was cut short");
        return;
    }
    hf_order_proof_make(w->p.order, &proof);
    if (hf_poly_prove(&w->p, &proof, w->report))
        add_rests(w, &w->report->found.at[w->report->found.n - 1].witness);
    else
        hf_worlds_enumerate(w, &proof);
    hf_order_proof_release(&proof);
    if (w->report->found.n > 0)
        hf_report_deliver(w->report, w->r);
    else
        set_excluded(w);
}

/* Where only orders are open: an order that proves more. */
static hf_txn_id *stronger_order(hf_worlds *w)
{
    const hf_graph *g = w->g;
    hf_graph_report report = *w->report;

    if (g->open_reads > 0 || !g->reads_matter || g->own || g->predicates ||
        w->loose)
        return NULL;
    report.g = w->g;
    return hf_poly_stronger_order(&report, w->r);
}

/* All nodes, with the commits of `order` in that order. */
static uint32_t *hint_of(const hf_worlds *w, const hf_txn_id *order)
{
    uint32_t n_txns = w->g->h->n_txns, n_nodes = hf_poly_n_nodes(&w->p);
    uint32_t *hint = HF_NEW_ARRAY(uint32_t, (size_t)n_nodes + 1), n = 0;
    uint8_t *there = HF_NEW_ZEROED(uint8_t, (size_t)n_txns + 1);

    for (uint32_t i = 0; i < w->base->n_happened; i++) {
        hint[n++] = 2 * order[i];
        hint[n++] = 2 * order[i] + 1;
        there[order[i]] = 1;
    }
    for (hf_txn_id t = 0; t < n_txns; t++)
        if (!there[t]) {
            hint[n++] = 2 * t;
            hint[n++] = 2 * t + 1;
        }
    for (uint32_t i = w->p.nodes.times; i < n_nodes; i++)
        hint[n++] = i;
    hf_free(there);
    return hint;
}

static void add_forced(void *user, uint32_t from, uint32_t to)
{
    hf_worlds *w = user;

    hf_order_known(w->p.order, from, to);
}

/* From this order; it is given away. */
static void start_from(hf_worlds *w, uint32_t *hint)
{
    (void)hf_order_begin(w->p.order, hint);
    hf_free(hint);
}

/* The nodes, the known edges and the choices; from an order that is likely.
 * `ret_balance`: pairs that reachability decides are known, and it gets another
 * order to begin with. */
static void begin(hf_worlds *w, unsigned guess, uint32_t **ret_balance)
{
    hf_order_client client = {.user = w,
                              .look = look,
                              .taken = taken,
                              .undone = undone,
                              .moved = moved};

    hf_poly_build(&w->p, w->g, 0, HF_WALK_PLAIN,
                  w->n_uncertain ? w->uncertain : NULL);
    hf_poly_make_events(&w->p, guess);
    if (ret_balance)
        (void)hf_poly_prune(&w->p, MOST_BYTES, ret_balance);
    w->p.order = hf_order_new(hf_poly_n_nodes(&w->p), &client);
    hf_poly_event_edges(&w->p, add_known, w);
    hf_poly_forced_edges(&w->p, add_forced, w);
    list_guards(w);
    start_from(w, w->guess ? hint_of(w, w->guess)
                           : hf_poly_hint(&w->p, hf_poly_has_times(w->g->h)
                                                     ? HF_HINT_END
                                                     : HF_HINT_FILE));
    hf_worlds_make_choices(w);
}

static void end(hf_worlds *w)
{
    hf_poly_release(&w->p);
    hf_vec_release(&w->guarded);
    hf_free(w->guard_first);
    hf_free(w->guards);
    w->p = (hf_poly){0};
    w->guarded.at = NULL;
    w->guarded.n = w->guarded.cap = 0;
    w->guard_first = w->guards = NULL;
}

/* More than the level asks for: only a world that is found says something. */
static bool try_guess(hf_worlds *w, unsigned guess)
{
    hf_order_answer answer;

    if (hf_graph_spent(w->g))
        return false;
    begin(w, guess, NULL);
    answer = hf_order_search(w->p.order, GUESS_CONFLICTS, 100, w->g->budget);
    w->conflicts += hf_order_conflicts(w->p.order);
    if (answer == HF_ORDER_FOUND && w->found) {
        hf_worlds_store_sources(w, w->source);
        return true;
    }
    end(w);
    return false;
}

static bool has_sessions(const hf_history *h)
{
    for (hf_session_id s = 0; s < h->n_sessions; s++)
        if (h->session_first[s + 1] - h->session_first[s] > 1)
            return true;
    return false;
}

/* What databases mostly do. */
static bool try_guesses(hf_worlds *w)
{
    unsigned sessions = has_sessions(w->g->h) ? HF_GUESS_SESSIONS : 0;
    bool split = false, weak = false;

    for (hf_txn_id t = 0; t < w->g->h->n_txns; t++) {
        const hf_level_info *l = w->g->own ? w->g->own[t] : w->g->level;
        bool snapshot = l->shape == HF_SHAPE_SNAPSHOT;
        bool serial = l->shape == HF_SHAPE_SERIAL || l->shape == HF_SHAPE_ITEM;

        split |= snapshot || (l->axiom & HF_AXIOM_PREFIX) != 0;
        weak |= !snapshot && !serial && l->shape != HF_SHAPE_WW;
    }
    if ((split || weak) &&
        ((sessions && try_guess(w, HF_GUESS_SERIAL | sessions)) ||
         try_guess(w, HF_GUESS_SERIAL)))
        return true;
    if (weak && (try_guess(w, HF_GUESS_SNAPSHOT) ||
                 (sessions && try_guess(w, HF_GUESS_SNAPSHOT | sessions))))
        return true;
    return sessions && try_guess(w, sessions);
}

/* With pairs that reachability decides, from different orders in turn, until
 * there is an answer. */
static hf_order_answer search_pruned(hf_worlds *w)
{
    static const uint32_t units[] = {100, 20, 5};
    uint64_t conflicts = GUESS_CONFLICTS;
    uint32_t *balance = NULL;
    size_t size;
    hf_order_answer answer = HF_ORDER_LIMIT;

    begin(w, 0, &balance);
    size = hf_poly_n_nodes(&w->p) * sizeof(uint32_t);
    for (uint32_t i = 0; answer == HF_ORDER_LIMIT && !hf_graph_spent(w->g);
         i++) {
        if (i % 3 == 1 && balance) {
            uint32_t *hint = hf_alloc_large(size + 1);

            memcpy(hint, balance, size);
            start_from(w, hint);
        }
        w->p.random = i % 3 == 2;
        answer =
            hf_order_search(w->p.order, conflicts, units[i % 3], w->g->budget);
        if (i % 3 == 2)
            conflicts *= 2;
    }
    hf_free(balance);
    return answer;
}

static void search(hf_worlds *w)
{
    const hf_history *h = w->g->h;
    hf_order_answer answer;

    w->happened = HF_NEW_ZEROED(uint8_t, (size_t)h->n_txns + 1);
    w->source = HF_NEW_ZEROED(uint32_t, (size_t)h->n_ops + 1);
    w->order = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);
    w->place = HF_NEW_ARRAY(uint32_t, (size_t)h->n_txns + 1);
    w->g->world.entries = &w->entries;
    if (!w->guess)
        w->guess = stronger_order(w);
    if (h->n_txns > FEW && try_guesses(w))
        return;
    begin(w, 0, NULL);
    answer = hf_order_search(w->p.order, GUESS_CONFLICTS, 100, w->g->budget);
    if (answer == HF_ORDER_LIMIT && !hf_graph_spent(w->g)) {
        w->conflicts += hf_order_conflicts(w->p.order);
        end(w);
        answer = search_pruned(w);
    }
    deliver(w, answer);
}

/* What items cannot judge, lists that are not understood apart. */
static const char *undecided(const hf_worlds *w)
{
    return w->g->pred ? w->g->pred->undecided_before : w->g->undecided;
}

/* What cannot be judged is left out: is the rest impossible? */
static void refute_rest(hf_worlds *w)
{
    search(w);
    if (w->r->verdict != HF_VALID)
        return;
    w->r->witness = (hf_witness){.kind = HF_WITNESS_NONE};
    set_unknown(w, undecided(w));
}

/* Every source is settled, and the level is an order of nodes. */
static void decide_order(hf_worlds *w)
{
    hf_graph_report report = *w->report;

    report.g = w->base;
    hf_poly_decide(&report, w->r);
    *w->report = report; /* with what was found */
    if (w->r->verdict == HF_VALID)
        hf_worlds_store_sources(w, w->fixed);
}

/* Where sources that are certain have settled who happened: what these did
 * wrong besides, as conditions tell.  True: something. */
static bool report_places(hf_worlds *w)
{
    hf_graph *g = w->report->g;

    if (!w->g->predicates || w->n_uncertain > 0 || w->g == g)
        return false;
    w->report->g = w->g;
    hf_report_places(w->report);
    w->report->g = g;
    if (w->report->found.n == 0)
        return false;
    hf_report_deliver(w->report, w->r);
    return true;
}

static void decide(hf_worlds *w)
{
    if (!hf_worlds_settle(w)) {
        tell_early_limit(w);
        return;
    }
    if (w->base == &w->settled) {
        hf_graph_find_known(w->base, w->report, w->r);
        if (w->report->found.n > 0) {
            hf_report_deliver(w->report, w->r);
            return;
        }
    }
    if (!hf_worlds_gather(w))
        tell_early_limit(w);
    else if (hf_worlds_n_counted(w) > MOST_COUNTED)
        set_unknown(w, "reads of keys that have increments without results, "
                       "and writes of these, are too many for a search");
    else if (w->g->predicates && !hf_worlds_take_conditions(w))
        tell_early_limit(w);
    else if (report_places(w))
        return;
    else if (undecided(w)[0])
        refute_rest(w);
    else if (w->g->predicates || w->lists.n > 0 || w->counts.n > 0 ||
             w->promised)
        search(w);
    else if (w->base == &w->settled && hf_poly_is_order(w->base))
        decide_order(w);
    else if (w->n_uncertain > 0 || !hf_poly_has_form(w->base) ||
             w->g->stopped || !hf_worlds_decide_by_guess(w))
        search(w);
}

void hf_poly_decide_world(hf_graph_report *report, hf_result *r)
{
    hf_graph *g = report->g;
    unsigned assume = g->options.assume;
    hf_worlds w = {
        .report = report, .r = r, .promised = assume & HF_REST_ASSUMABLE};

    hf_map_init(&w.entries);
    g->options.assume = 0; /* each world is asked whether it keeps it */
    hf_worlds_list_writes(&w);
    decide(&w);
    report->g = g;
    g->options.assume = assume;
    end(&w);
    if (w.pred && w.pred != g->pred)
        hf_pred_free(w.pred);
    if (w.g && w.g == &w.again)
        hf_graph_release(&w.again);
    if (w.base == &w.settled)
        hf_graph_release(&w.settled);
    hf_free(w.sure);
    hf_free(w.fixed);
    hf_free(w.all);
    hf_free(w.uncertain);
    hf_free(w.loose);
    hf_vec_release(&w.lists);
    hf_vec_release(&w.counts);
    hf_free(w.write_first);
    hf_free(w.writes);
    hf_free(w.happened);
    hf_free(w.source);
    hf_free(w.order);
    g->world.entries = NULL;
    hf_map_release(&w.entries);
    hf_free(w.place);
    hf_free(w.guess);
}
