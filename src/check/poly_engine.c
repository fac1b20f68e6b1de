/* poly_engine.c: the stages of a check by choices.
 *
 * Each stage may end it; the later ones cost more.
 *   1. A search from each of a few orders (times, the file), a few conflicts
 *      each.  A history that a database made in some order like these is
 *      accepted here.  For levels weaker than serializable a serial order is
 *      looked for first: it has half the nodes.
 *   2. Session order, where the level does not ask for it but there are
 *      sessions: a database that keeps it leaves little open.  Only an order
 *      that is found says something.
 *   3. A walk to a serial order (poly_walk.c), as long as it comes nearer,
 *      and a search from where it ends.  Blind writes without times and
 *      sessions are accepted here.
 *   4. Pairs that reachability decides (poly_prune.c), then searches in turn
 *      with different settings, each longer than the one before, and the walk
 *      in between, until there is an answer or the user's limit is reached.
 */
#include "check/poly_stages.h"

#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "base/threads.h"

#define FIRST_CONFLICTS 200u
#define GUESS_CONFLICTS 2000u
#define PATIENCE 3u /* slices of a walk that come no nearer */
#define COOL 1.2    /* heat of a walk; ... */
#define HOT 1.9     /* where it is stuck */
#define MANY_TRANSACTIONS 30000u
#define MANY_PAIRS 10000000u
#define MOST_BYTES ((size_t)2 << 30) /* for reachability */

/* ---- verdicts ------------------------------------------------------------ */

static void set_valid(hf_poly *p, hf_result *r)
{
    const uint32_t *place = hf_order_place(p->order);
    uint32_t n = hf_poly_n_nodes(p);
    uint32_t *at = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    hf_witness *w = &r->witness;

    for (uint32_t i = 0; i < n; i++)
        at[place[i]] = i;
    r->verdict = HF_VALID;
    w->kind = p->walk.form == HF_WALK_PLAIN      ? HF_WITNESS_SERIAL
              : p->walk.form == HF_WALK_SNAPSHOT ? HF_WITNESS_SNAPSHOT
                                                 : HF_WITNESS_COMMIT;
    w->order =
        hf_arena_get(&r->arena, hf_array_size((size_t)n + 1, sizeof(uint32_t)));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = at[i];

        if (node >= p->nodes.times ||
            !p->g->happened[p->walk.form == HF_WALK_PLAIN ? node : node / 2])
            continue;
        if (p->walk.form != HF_WALK_PREFIX)
            w->order[w->n_order++] = node;
        else if (node & 1u)
            w->order[w->n_order++] = node / 2;
    }
    hf_free(at);
}

static void set_unknown(hf_stages *s)
{
    char text[500], pruned[120] = "", walked[120] = "";

    if (s->pruned)
        (void)snprintf(pruned, sizeof(pruned),
                       ", %lu pairs decided by reachability",
                       (unsigned long)s->forced);
    if (s->walk)
        (void)snprintf(walked, sizeof(walked),
                       ", a walk of %llu steps with %lu reads broken at its "
                       "end",
                       (unsigned long long)s->walk->steps,
                       (unsigned long)s->walk->n_bad);
    (void)snprintf(
        text, sizeof(text),
        "no order was found and none excluded: %lu searches with %llu "
        "conflicts%s%s%s; %s",
        (unsigned long)s->searches, (unsigned long long)s->conflicts,
        s->guessed_sessions ? ", session order tried as a guess" : "", walked,
        pruned, hf_budget_reason(s->g->budget));
    s->r->verdict = HF_UNKNOWN;
    s->r->reason = hf_arena_text(&s->r->arena, text, strlen(text));
}

/* ---- searches ------------------------------------------------------------ */

static void add_known(void *user, uint32_t from, uint32_t to)
{
    hf_order_known(user, from, to);
}

static void begin(hf_poly *p)
{
    hf_order_client client = hf_poly_client(p);

    p->order = hf_order_new(hf_poly_n_nodes(p), &client);
    hf_poly_known(p, add_known, p->order);
}

/* From this order; the hint is given away. */
static hf_order_answer search_from(hf_stages *s, hf_poly *p, uint32_t *hint,
                                   uint64_t conflicts, uint32_t unit)
{
    uint64_t before = hf_order_conflicts(p->order);
    hf_order_answer answer;

    (void)hf_order_begin(p->order, hint);
    hf_free(hint);
    answer = hf_order_search(p->order, conflicts, unit, s->g->budget);
    s->searches++;
    s->conflicts += hf_order_conflicts(p->order) - before;
    hf_budget_progress(s->g->budget, "conflicts", s->conflicts, 0);
    (void)hf_graph_spent(s->g);
    return answer;
}

static bool is_worth_a_try(const hf_poly *p, hf_hint kind, bool times)
{
    if (kind == HF_HINT_SERIAL)
        return p->g->h->cert.n_serial > 0;
    if (kind == HF_HINT_COMMIT)
        return hf_poly_has_commits(p->g->h);
    if (kind == HF_HINT_TIMES && p->walk.form == HF_WALK_PLAIN)
        return false;
    return (kind == HF_HINT_FILE) != times;
}

static hf_order_answer search_by_hints(hf_stages *s, hf_poly *p,
                                       uint64_t conflicts)
{
    bool times = hf_poly_has_times(s->g->h);
    unsigned wanted = s->g->options.hint;
    hf_order_answer answer = HF_ORDER_LIMIT;

    for (unsigned k = HF_HINT_AUTO + 1; k < HF_HINT_COUNT; k++) {
        if (wanted ? k != wanted : !is_worth_a_try(p, (hf_hint)k, times))
            continue;
        answer = search_from(s, p, hf_poly_hint(p, (hf_hint)k), conflicts, 20);
        if (answer != HF_ORDER_LIMIT || s->g->stopped)
            break;
    }
    return answer;
}

static void deliver_proof(hf_stages *s, hf_poly *p)
{
    hf_order_proof proof;

    hf_order_proof_make(p->order, &proof);
    (void)hf_poly_prove(p, &proof, s->report);
    hf_order_proof_release(&proof);
    hf_report_deliver(s->report, s->r);
}

/* ---- walks --------------------------------------------------------------- */

/* False: it cannot. */
static bool begin_walk(hf_stages *s, unsigned mask)
{
    hf_txn_id *start;

    if (s->walk)
        return true;
    start = hf_poly_has_times(s->g->h) ? hf_poly_by_middle(s->g->h) : NULL;
    s->walk = hf_poly_walk_new(s->g, mask, start);
    hf_free(start);
    return s->walk != NULL;
}

/* Transactions as the walk has them, then all other nodes. */
static uint32_t *walk_hint(const hf_poly_walk *w, const hf_poly *p)
{
    uint32_t n = hf_poly_n_nodes(p), at = 0;
    uint32_t *hint = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    uint8_t *there = HF_NEW_ZEROED(uint8_t, (size_t)n + 1);

    for (uint32_t i = 0; i < w->n; i++) {
        uint32_t start = hf_poly_start(p, w->rank[i]);
        uint32_t commit = hf_poly_commit(p, w->rank[i]);

        hint[at++] = start;
        if (commit != start)
            hint[at++] = commit;
        there[start] = there[commit] = 1;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!there[i])
            hint[at++] = i;
    hf_free(there);
    return hint;
}

/* Walks as long as it comes nearer; one that was stuck is shaken first. */
static void walk_on(hf_stages *s)
{
    hf_poly_walk *w = s->walk;
    uint64_t slice = 10 * (uint64_t)w->n + 1000;
    uint32_t best = UINT32_MAX, stuck = 0;
    bool there = false;

    if (w->steps > 0) {
        w->heat = HOT;
        there = hf_poly_walk_run(w, slice);
    }
    w->heat = COOL;
    while (!there && stuck < PATIENCE && !s->g->stopped) {
        there = hf_poly_walk_run(w, slice);
        stuck = w->n_bad < best - best / 10 ? 0 : stuck + 1;
        if (stuck == 0)
            best = w->n_bad;
    }
}

/* A search from where a walk ends. */
static hf_order_answer search_by_walk(hf_stages *s, hf_poly *p)
{
    if (!begin_walk(s, p->walk.mask))
        return HF_ORDER_LIMIT;
    walk_on(s);
    if (s->g->stopped)
        return HF_ORDER_LIMIT;
    return search_from(s, p, walk_hint(s->walk, p), FIRST_CONFLICTS, 20);
}

/* Is a walk likely to end sooner than reachability is known?  That decides
 * little where most versions were never read and nothing but reads tells the
 * order, and takes long where there are many transactions or hot keys. */
static bool is_for_walk(const hf_poly *p)
{
    const hf_graph *g = p->g;
    uint64_t pairs = 0;
    bool blind;

    if (!g->reader_first)
        return false;
    for (uint32_t i = 0; i < p->n_keys; i++) {
        uint64_t n = p->atom_first[i + 1] - p->atom_first[i];

        pairs += n * n / 2;
    }
    blind = g->n_versions / 2 > g->reader_first[g->n_versions] &&
            !g->session_prev && g->n_times == 0;
    return blind || g->n_happened > MANY_TRANSACTIONS || pairs > MANY_PAIRS;
}

/* ---- stages -------------------------------------------------------------- */

bool hf_poly_has_form(const hf_graph *g)
{
    hf_level_shape shape = g->level->shape;

    return !g->own &&
           (shape == HF_SHAPE_SERIAL || shape == HF_SHAPE_ITEM ||
            shape == HF_SHAPE_SNAPSHOT || (g->level->axiom & HF_AXIOM_PREFIX));
}

bool hf_poly_is_order(const hf_graph *g)
{
    return g->open_reads == 0 && hf_poly_has_form(g);
}

static hf_walk_form form_of(const hf_level_info *level)
{
    if (level->shape == HF_SHAPE_SNAPSHOT)
        return HF_WALK_SNAPSHOT;
    return level->axiom & HF_AXIOM_PREFIX ? HF_WALK_PREFIX : HF_WALK_PLAIN;
}

static unsigned mask_of(const hf_level_info *level)
{
    return HF_WALK_W | HF_WALK_RW |
           (level->shape == HF_SHAPE_ITEM ? 0 : HF_WALK_A) |
           (level->session_order ? HF_WALK_SO : 0) |
           (level->real_time ? HF_WALK_RT : 0);
}

/* Transactions of one session follow each other, though the level does not
 * say so. */
static hf_txn_id *link_sessions(const hf_graph *g)
{
    const hf_history *h = g->h;
    hf_txn_id *prev = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);
    bool any = false;

    memset(prev, 0xff, ((size_t)h->n_txns + 1) * sizeof(*prev));
    for (hf_session_id i = 0; i < h->n_sessions; i++) {
        hf_txn_id last = HF_NONE;

        for (uint32_t k = h->session_first[i]; k < h->session_first[i + 1];
             k++) {
            hf_txn_id t = h->session_txns[k];

            if (!g->happened[t])
                continue;
            any |= last != HF_NONE;
            prev[t] = last;
            last = t;
        }
    }
    if (!any) {
        hf_free(prev);
        return NULL;
    }
    return prev;
}

/* p, for another form. */
static void rebuild(hf_stages *s, hf_poly *p, unsigned more, hf_walk_form form)
{
    hf_poly_release(p);
    hf_poly_build(p, s->g, mask_of(s->g->level) | more, form, NULL);
}

/* A guess asks for more than the level: that there is no such order says
 * nothing. */
static hf_order_answer as_guess(hf_order_answer answer)
{
    return answer == HF_ORDER_FOUND ? HF_ORDER_FOUND : HF_ORDER_LIMIT;
}

/* Session order as a guess. */
static hf_order_answer guess_sessions(hf_stages *s, hf_poly *p,
                                      hf_walk_form form)
{
    hf_graph *g = s->g;
    uint32_t *hint = NULL;
    hf_order_answer answer = HF_ORDER_LIMIT;

    if (g->session_prev)
        return HF_ORDER_LIMIT;
    g->session_prev = link_sessions(g);
    if (!g->session_prev)
        return HF_ORDER_LIMIT;
    s->guessed_sessions = true;
    rebuild(s, p, HF_WALK_SO, form);
    if (hf_poly_prune(p, MOST_BYTES, &hint) && hint) {
        begin(p);
        answer = search_from(s, p, hint, GUESS_CONFLICTS, 20);
    }
    hf_free(g->session_prev);
    g->session_prev = NULL;
    return as_guess(answer);
}

/* The next order to begin with. */
static uint32_t *next_hint(hf_stages *s, const hf_poly *p, uint32_t turn,
                           const uint32_t *balance)
{
    bool times = hf_poly_has_times(s->g->h);
    size_t n = hf_poly_n_nodes(p);
    uint32_t *hint;

    if (turn % 4 == 2 && begin_walk(s, p->walk.mask)) {
        walk_on(s);
        return walk_hint(s->walk, p);
    }
    if (balance && turn % 2 == 0) {
        hint = HF_NEW_ARRAY(uint32_t, n + 1);
        memcpy(hint, balance, n * sizeof(*hint));
        return hint;
    }
    return hf_poly_hint(p, !times              ? HF_HINT_FILE
                           : turn / 2 % 2 == 0 ? HF_HINT_TIMES
                                               : HF_HINT_MIDDLE);
}

hf_order_answer hf_stage_in_turn(hf_stages *s, hf_poly *p, uint32_t *balance)
{
    static const uint32_t units[] = {20, 100, 5, 20};
    uint64_t conflicts = 500;
    hf_order_answer answer = HF_ORDER_LIMIT;

    for (uint32_t i = 0; answer == HF_ORDER_LIMIT && !s->g->stopped; i++) {
        p->random = i % 4 == 3;
        answer = search_from(s, p, next_hint(s, p, i, balance), conflicts,
                             units[i % 4]);
        if (i % 4 == 3)
            conflicts *= 2;
    }
    return answer;
}

/* A search with pruning; `p` is built anew.  Its pairs may have been decided
 * against it. */
static hf_order_answer search_pruned(hf_stages *s, hf_poly *p,
                                     hf_walk_form form, bool to_the_end)
{
    uint32_t *balance = NULL;
    hf_order_answer answer;

    rebuild(s, p, 0, form);
    s->pruned = hf_poly_prune(p, MOST_BYTES, &balance);
    s->forced = (uint32_t)p->forced.n;
    begin(p);
    if (to_the_end) {
        answer = hf_stage_in_turn(s, p, balance);
        hf_free(balance);
    } else {
        answer =
            search_from(s, p, balance ? balance : hf_poly_hint(p, HF_HINT_FILE),
                        GUESS_CONFLICTS, 20);
    }
    return answer;
}

hf_order_answer hf_stage_pruned(hf_stages *s, hf_poly *p, hf_walk_form form)
{
    return search_pruned(s, p, form, true);
}

hf_order_answer hf_stage_walks(hf_stages *s, hf_poly *p, hf_walk_form form,
                               bool walks)
{
    hf_order_answer answer = HF_ORDER_LIMIT;

    if (walks) {
        rebuild(s, p, 0, HF_WALK_PLAIN);
        begin(p);
        answer = search_by_walk(s, p);
        if (form != HF_WALK_PLAIN)
            answer = as_guess(answer);
    }
    if (answer == HF_ORDER_LIMIT && form != HF_WALK_PLAIN && !s->g->stopped)
        answer = guess_sessions(s, p, form);
    /* a serial order is one for every form, and sooner found */
    if (answer == HF_ORDER_LIMIT && form != HF_WALK_PLAIN && !s->g->stopped)
        answer = as_guess(search_pruned(s, p, HF_WALK_PLAIN, false));
    return answer;
}

hf_order_answer hf_stage_plain(hf_stages *s, hf_poly *p, hf_walk_form form)
{
    rebuild(s, p, 0, form);
    begin(p);
    return hf_stage_in_turn(s, p, NULL);
}

static bool has_threads(const hf_graph *g)
{
    return !g->options.eager &&
           (g->options.threads ? g->options.threads : hf_threads_available()) >
               1;
}

/* What does not come out of a few conflicts. */
static hf_order_answer decide_slowly(hf_stages *s, hf_poly *p)
{
    hf_walk_form form = p->walk.form;
    bool walks = is_for_walk(p);
    hf_order_answer answer = guess_sessions(s, p, HF_WALK_PLAIN);

    if (answer == HF_ORDER_LIMIT && !s->g->stopped && has_threads(s->g))
        return hf_stages_race(s, p, form, walks);
    if (answer == HF_ORDER_LIMIT && !s->g->stopped)
        answer = hf_stage_walks(s, p, form, walks);
    if (answer == HF_ORDER_LIMIT && !s->g->stopped)
        answer = hf_stage_pruned(s, p, form);
    return answer;
}

static void decide(hf_stages *s)
{
    const hf_level_info *level = s->g->level;
    hf_walk_form form = form_of(level);
    hf_order_answer answer = HF_ORDER_LIMIT;
    hf_poly p = {0};

    if (form != HF_WALK_PLAIN) {
        rebuild(s, &p, 0, HF_WALK_PLAIN);
        begin(&p);
        answer = as_guess(search_by_hints(s, &p, FIRST_CONFLICTS));
    }
    if (answer == HF_ORDER_LIMIT && !s->g->stopped) {
        rebuild(s, &p, 0, form);
        if (p.eager)
            s->pruned = hf_poly_prune(&p, MOST_BYTES, NULL);
        begin(&p);
        answer = search_by_hints(s, &p, FIRST_CONFLICTS);
    }
    if (answer == HF_ORDER_LIMIT && !s->g->stopped)
        answer = decide_slowly(s, &p);
    if (answer == HF_ORDER_FOUND)
        set_valid(&p, s->r);
    else if (answer == HF_ORDER_NONE)
        deliver_proof(s, &p);
    else
        set_unknown(s);
    hf_poly_release(&p);
}

void hf_poly_decide(hf_graph_report *report, hf_result *r)
{
    hf_stages s = {.report = report, .g = report->g, .r = r};

    decide(&s);
    hf_poly_walk_free(s.walk);
}

/* Transactions by their commits. */
static hf_txn_id *commits_of(const hf_poly *p)
{
    const uint32_t *place = hf_order_place(p->order);
    const hf_graph *g = p->g;
    hf_txn_id *order = HF_NEW_ARRAY(hf_txn_id, (size_t)g->h->n_txns + 1);
    hf_sortable *s = HF_NEW_ARRAY(hf_sortable, (size_t)g->h->n_txns + 1);
    uint32_t n = 0;

    for (hf_txn_id t = 0; t < g->h->n_txns; t++)
        if (g->happened[t])
            s[n++] = (hf_sortable){place[hf_poly_commit(p, t)], t};
    hf_sort(s, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = (hf_txn_id)s[i].value;
    hf_free(s);
    return order;
}

hf_txn_id *hf_poly_stronger_order(hf_graph_report *report, hf_result *r)
{
    hf_stages s = {.report = report, .g = report->g, .r = r};
    hf_txn_id *order = NULL;

    for (unsigned i = 0; i < 2 && !order && !s.g->stopped; i++) {
        hf_walk_form form = i == 0 ? HF_WALK_PLAIN : HF_WALK_SNAPSHOT;
        hf_order_answer answer;
        hf_poly p;

        hf_poly_build(&p, s.g, mask_of(s.g->level), form, NULL);
        begin(&p);
        answer = search_by_hints(&s, &p, FIRST_CONFLICTS);
        if (answer == HF_ORDER_LIMIT && form == HF_WALK_PLAIN &&
            !s.g->stopped && is_for_walk(&p))
            answer = search_by_walk(&s, &p);
        if (answer == HF_ORDER_LIMIT && !s.g->stopped)
            answer = search_pruned(&s, &p, form, false);
        if (answer == HF_ORDER_FOUND)
            order = commits_of(&p);
        hf_poly_release(&p);
    }
    hf_poly_walk_free(s.walk);
    return order;
}

hf_order_answer hf_poly_attempt(hf_graph_report *report, hf_result *r,
                                bool guessed, hf_txn_id **ret_order)
{
    hf_stages s = {.report = report, .g = report->g, .r = r};
    hf_walk_form form = form_of(s.g->level);
    hf_order_answer answer;
    hf_poly p;

    hf_poly_build(&p, s.g, mask_of(s.g->level), form, NULL);
    begin(&p);
    answer = search_by_hints(&s, &p, FIRST_CONFLICTS);
    if (answer == HF_ORDER_LIMIT && !s.g->stopped)
        answer = search_pruned(&s, &p, form, false);
    if (answer == HF_ORDER_FOUND && ret_order)
        *ret_order = commits_of(&p);
    if (answer == HF_ORDER_FOUND && guessed)
        set_valid(&p, r);
    if (answer == HF_ORDER_NONE && !guessed)
        deliver_proof(&s, &p);
    hf_poly_release(&p);
    hf_poly_walk_free(s.walk);
    return answer;
}
