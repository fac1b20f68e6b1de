/* order_search.c: choices, what follows from them, and learning.
 *
 * The usual search with learning: two watched literals a clause, the first
 * unique implication point, restarts by Luby's sequence, the less used half of
 * the long learned clauses forgotten now and then.  There are no clauses to
 * begin with but those of the client; a cycle of edges becomes one when it is
 * met.  What to choose next the client reads from the order, which has drifted
 * from the hint when a restart comes: it is then made anew.
 *
 * An edge may come later than the choices it rests on.  A conflict may
 * therefore lie below the newest choice; the search first goes back to it.
 */
#include "solver/order_search.h"

#include <string.h>

hf_order *hf_order_new(uint32_t n_nodes, const hf_order_client *client)
{
    hf_order *o = HF_NEW(hf_order);

    o->client = *client;
    o->step = 1;
    o->most_learned = 2000;
    hf_order_graph_init(&o->graph, n_nodes);
    return o;
}

void hf_order_free(hf_order *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < 2 * o->vars.n; i++)
        hf_vec_release(&o->watches[i]);
    hf_free(o->watches);
    hf_free(o->hint);
    hf_vec_release(&o->vars);
    hf_vec_release(&o->words);
    hf_vec_release(&o->learned);
    hf_vec_release(&o->trail);
    hf_vec_release(&o->level_trail);
    hf_vec_release(&o->level_links);
    hf_vec_release(&o->conflict);
    hf_vec_release(&o->facts);
    hf_vec_release(&o->fact_edges);
    hf_vec_release(&o->fact_used);
    hf_vec_release(&o->way);
    hf_vec_release(&o->learning);
    hf_vec_release(&o->chain);
    hf_order_graph_release(&o->graph);
    hf_free(o);
}

void hf_order_known(hf_order *o, uint32_t from, uint32_t to)
{
    if (from != to)
        hf_vec_push(&o->graph.collected, (uint64_t)from << 32 | to);
}

/* ---- choices ------------------------------------------------------------- */

uint32_t hf_order_n_vars(const hf_order *o)
{
    return (uint32_t)o->vars.n;
}

uint32_t hf_order_new_var(hf_order *o)
{
    uint32_t v = (uint32_t)o->vars.n;

    hf_vec_push(&o->vars, (hf_order_var){.value = -1, .last = -1});
    if (2 * o->vars.n > o->watches_cap)
        hf_vec_grow((void **)&o->watches, &o->watches_cap, 2 * o->vars.n,
                    sizeof(*o->watches));
    o->watches[2 * v] = o->watches[2 * v + 1] = (hf_order_numbers){0};
    return v;
}

int hf_order_value(const hf_order *o, hf_lit lit)
{
    int value = o->vars.at[HF_LIT_VAR(lit)].value;

    return value < 0 ? value : value ^ (int)(lit & 1u);
}

hf_lit hf_order_last(const hf_order *o, uint32_t var)
{
    const hf_order_var *v = &o->vars.at[var];

    return v->last < 0 ? HF_LIT_NONE : 2 * var + (v->last == 0);
}

const uint32_t *hf_order_place(const hf_order *o)
{
    return o->graph.place;
}

uint64_t hf_order_conflicts(const hf_order *o)
{
    return o->n_conflicts;
}

static uint32_t level_now(const hf_order *o)
{
    return (uint32_t)o->level_trail.n;
}

static uint32_t level_of(const hf_order *o, hf_lit lit)
{
    return o->vars.at[HF_LIT_VAR(lit)].level;
}

static uint32_t *clause_at(hf_order *o, uint32_t c)
{
    return o->words.at + c;
}

/* At level 0 a literal is a fact by itself: its reason, with the facts that
 * the other literals of the reason are false. */
static uint32_t fact_of_unit(hf_order *o, hf_lit lit, uint32_t reason)
{
    const uint32_t *c = clause_at(o, reason);

    o->chain.n = 0;
    hf_vec_push(&o->chain, c[HF_CLAUSE_FACT]);
    for (uint32_t i = 0; i < c[HF_CLAUSE_SIZE]; i++)
        if (c[HF_CLAUSE_HEAD + i] != lit)
            hf_vec_push(&o->chain,
                        o->vars.at[HF_LIT_VAR(c[HF_CLAUSE_HEAD + i])].fact);
    return hf_order_fact_chain(o);
}

static void set_true(hf_order *o, hf_lit lit, uint32_t reason)
{
    hf_order_var *v = &o->vars.at[HF_LIT_VAR(lit)];

    v->value = !(lit & 1u);
    v->level = level_now(o);
    v->reason = reason;
    if (v->level == 0)
        v->fact = fact_of_unit(o, lit, reason);
    hf_vec_push(&o->trail, lit);
}

/* ---- going back ---------------------------------------------------------- */

static void go_back(hf_order *o, uint32_t level)
{
    size_t keep;

    if (level_now(o) <= level)
        return;
    keep = o->level_trail.at[level];
    hf_order_graph_shrink(&o->graph, o->level_links.at[level]);
    while (o->trail.n > keep) {
        hf_lit lit = o->trail.at[o->trail.n - 1];
        hf_order_var *v = &o->vars.at[HF_LIT_VAR(lit)];

        if (o->trail.n <= o->n_spread && o->client.undone)
            o->client.undone(o->client.user, o, lit);
        o->trail.n--;
        v->last = v->value;
        v->value = -1;
    }
    if (o->n_spread > keep)
        o->n_spread = keep;
    o->level_trail.n = o->level_links.n = level;
}

bool hf_order_begin(hf_order *o, const uint32_t *hint)
{
    hf_free(o->hint);
    o->hint = NULL;
    if (hint) {
        o->hint = HF_NEW_ARRAY(uint32_t, (size_t)o->graph.n + 1);
        memcpy(o->hint, hint, o->graph.n * sizeof(*hint));
    }
    if (!o->graph.out_first)
        hf_order_graph_settle(&o->graph);
    else
        go_back(o, 0);
    if (hf_order_graph_sort(&o->graph, o->hint)) {
        if (o->client.moved)
            o->client.moved(o->client.user, HF_NO_TAG);
        return true;
    }
    hf_order_graph_cycle(&o->graph, o->graph.on_cycle, &o->way);
    o->empty_fact = hf_order_fact_way(o, &o->way);
    o->refuted = true;
    return false;
}

void hf_order_restart(hf_order *o)
{
    go_back(o, 0);
    o->graph.n_fixed = (uint32_t)o->graph.links.n;
    (void)hf_order_graph_sort(&o->graph, o->hint);
    if (o->client.moved)
        o->client.moved(o->client.user, HF_NO_TAG);
    o->n_restarts++;
    o->at_restart = o->n_conflicts;
}

/* ---- clauses ------------------------------------------------------------- */

/* The two literals that are set last, or open, first. */
static void order_watched(const hf_order *o, hf_lit *lits, uint32_t n)
{
    for (uint32_t k = 0; k < 2 && k < n; k++) {
        uint32_t best = k;

        for (uint32_t i = k; i < n; i++) {
            int bv = hf_order_value(o, lits[best]);
            int iv = hf_order_value(o, lits[i]);

            if ((bv == 0 && iv != 0) ||
                (bv == 0 && iv == 0 &&
                 level_of(o, lits[i]) > level_of(o, lits[best])))
                best = i;
        }
        if (best != k) {
            hf_lit swap = lits[k];

            lits[k] = lits[best];
            lits[best] = swap;
        }
    }
}

static uint32_t store_clause(hf_order *o, const hf_lit *lits, uint32_t n,
                             uint32_t fact)
{
    uint32_t c = (uint32_t)o->words.n;
    float zero = 0;

    hf_vec_reserve(&o->words, HF_CLAUSE_HEAD + n);
    o->words.at[c + HF_CLAUSE_SIZE] = n;
    o->words.at[c + HF_CLAUSE_FACT] = fact;
    memcpy(&o->words.at[c + HF_CLAUSE_ACTIVITY], &zero, sizeof(zero));
    if (n > 0)
        memcpy(&o->words.at[c + HF_CLAUSE_HEAD], lits, n * sizeof(*lits));
    o->words.n += HF_CLAUSE_HEAD + n;
    if (n >= 2) {
        hf_vec_push(&o->watches[HF_LIT_NOT(lits[0])], c);
        hf_vec_push(&o->watches[HF_LIT_NOT(lits[1])], c);
    }
    return c;
}

static void set_conflict(hf_order *o, const hf_lit *lits, uint32_t n,
                         uint32_t fact)
{
    o->in_conflict = true;
    o->conflict.n = 0;
    for (uint32_t i = 0; i < n; i++)
        hf_vec_push(&o->conflict, lits[i]);
    o->conflict_fact = fact;
}

bool hf_order_clause(hf_order *o, const hf_lit *lits, uint32_t n,
                     uint32_t source)
{
    uint32_t fact = hf_order_fact_clause(o, source), c;

    if (o->in_conflict)
        return false;
    o->learning.n = 0;
    for (uint32_t i = 0; i < n; i++)
        hf_vec_push(&o->learning, lits[i]);
    order_watched(o, o->learning.at, n);
    c = store_clause(o, o->learning.at, n, fact);
    if (n == 0 || hf_order_value(o, o->learning.at[0]) == 0) {
        set_conflict(o, o->learning.at, n, fact);
        return false;
    }
    if (hf_order_value(o, o->learning.at[0]) < 0 &&
        (n == 1 || hf_order_value(o, o->learning.at[1]) == 0)) {
        if (n == 1)
            go_back(o, 0);
        set_true(o, o->learning.at[0], c);
    }
    return true;
}

/* ---- edges --------------------------------------------------------------- */

static void add_why(hf_order *o, const hf_lit *why, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        hf_order_var *v = &o->vars.at[HF_LIT_VAR(why[i])];

        if (v->seen)
            continue;
        v->seen = true;
        hf_vec_push(&o->conflict, HF_LIT_NOT(why[i]));
    }
}

static void cycle_conflict(hf_order *o, uint32_t from, uint32_t to,
                           uint32_t tag, const hf_lit *why, uint32_t n_why)
{
    (void)hf_order_graph_way(&o->graph, to, from, true, &o->way);
    o->in_conflict = true;
    o->conflict.n = 0;
    add_why(o, why, n_why);
    for (size_t i = 0; i < o->way.n; i++) {
        const hf_order_link *l;

        if (o->way.at[i].link == HF_NO_TAG)
            continue;
        l = &o->graph.links.at[o->way.at[i].link];
        add_why(o, o->graph.whys.at + l->first_why, l->n_why);
    }
    for (size_t i = 0; i < o->conflict.n; i++)
        o->vars.at[HF_LIT_VAR(o->conflict.at[i])].seen = false;
    o->conflict_fact = hf_order_fact_cycle(o, &o->way, from, to, tag);
}

bool hf_order_edge(hf_order *o, uint32_t from, uint32_t to, uint32_t tag,
                   const hf_lit *why, uint32_t n_why)
{
    hf_order_graph *g = &o->graph;

    if (o->in_conflict)
        return false;
    if (!hf_order_graph_add(g, from, to, tag, why, n_why)) {
        cycle_conflict(o, from, to, tag, why, n_why);
        return false;
    }
    if (o->client.moved)
        for (size_t i = 0; i < g->moved.n; i++)
            o->client.moved(o->client.user, g->moved.at[i]);
    return true;
}

/* ---- propagation --------------------------------------------------------- */

/* The clause is true, is watched elsewhere, makes its other literal true, or
 * is a conflict.  True if it stays in this list. */
static bool visit_clause(hf_order *o, uint32_t c, hf_lit false_lit)
{
    uint32_t *w = clause_at(o, c), size = w[HF_CLAUSE_SIZE];
    hf_lit *lits = w + HF_CLAUSE_HEAD;

    if (lits[0] == false_lit) {
        lits[0] = lits[1];
        lits[1] = false_lit;
    }
    if (hf_order_value(o, lits[0]) == 1)
        return true;
    for (uint32_t i = 2; i < size; i++)
        if (hf_order_value(o, lits[i]) != 0) {
            lits[1] = lits[i];
            lits[i] = false_lit;
            hf_vec_push(&o->watches[HF_LIT_NOT(lits[1])], c);
            return false;
        }
    if (hf_order_value(o, lits[0]) == 0)
        set_conflict(o, lits, size, w[HF_CLAUSE_FACT]);
    else
        set_true(o, lits[0], c);
    return true;
}

static void spread(hf_order *o, hf_lit lit)
{
    hf_order_numbers *list = &o->watches[lit];
    size_t kept = 0, i = 0;

    for (; i < list->n && !o->in_conflict; i++) {
        uint32_t c = list->at[i];

        if (visit_clause(o, c, HF_LIT_NOT(lit)))
            o->watches[lit].at[kept++] = c;
        list = &o->watches[lit];
    }
    for (; i < list->n; i++)
        list->at[kept++] = list->at[i];
    list->n = kept;
}

/* What the client makes of each literal, then what clauses do. */
static void propagate(hf_order *o)
{
    while (!o->in_conflict && o->n_spread < o->trail.n) {
        hf_lit lit = o->trail.at[o->n_spread++];

        if (o->client.taken)
            o->client.taken(o->client.user, o, lit);
        if (!o->in_conflict)
            spread(o, lit);
    }
    if (level_now(o) == 0)
        o->graph.n_fixed = (uint32_t)o->graph.links.n;
}

/* ---- learning ------------------------------------------------------------ */

static void bump(hf_order *o, uint32_t c)
{
    float a;

    memcpy(&a, &o->words.at[c + HF_CLAUSE_ACTIVITY], sizeof(a));
    a += o->step;
    memcpy(&o->words.at[c + HF_CLAUSE_ACTIVITY], &a, sizeof(a));
    if (a < 1e20f)
        return;
    for (size_t i = 0; i < o->learned.n; i++) {
        uint32_t *w = clause_at(o, o->learned.at[i]);

        memcpy(&a, &w[HF_CLAUSE_ACTIVITY], sizeof(a));
        a *= 1e-20f;
        memcpy(&w[HF_CLAUSE_ACTIVITY], &a, sizeof(a));
    }
    o->step *= 1e-20f;
}

typedef struct learner {
    hf_order *o;
    uint32_t level;        /* of the conflict */
    uint32_t open;         /* literals of that level still to be resolved */
    HF_VEC(uint32_t) zero; /* variables of level 0, resolved at the end */
} learner;

static void take_in(learner *l, hf_lit lit)
{
    hf_order *o = l->o;
    hf_order_var *v = &o->vars.at[HF_LIT_VAR(lit)];

    if (v->seen)
        return;
    v->seen = true;
    if (v->level == 0)
        hf_vec_push(&l->zero, HF_LIT_VAR(lit));
    else if (v->level == l->level)
        l->open++;
    else
        hf_vec_push(&o->learning, lit);
}

/* Resolves until one literal of the level is left, which becomes the first of
 * o->learning (negated). */
static void resolve(learner *l)
{
    hf_order *o = l->o;
    size_t at = o->trail.n;

    for (;;) {
        hf_order_var *v;
        hf_lit lit;
        uint32_t c;

        do
            lit = o->trail.at[--at];
        while (!o->vars.at[HF_LIT_VAR(lit)].seen ||
               o->vars.at[HF_LIT_VAR(lit)].level != l->level);
        v = &o->vars.at[HF_LIT_VAR(lit)];
        if (l->open == 1) {
            o->learning.at[0] = HF_LIT_NOT(lit);
            v->seen = false;
            return;
        }
        l->open--;
        v->seen = false;
        c = v->reason;
        bump(o, c);
        hf_vec_push(&o->chain, o->words.at[c + HF_CLAUSE_FACT]);
        for (uint32_t i = 0; i < o->words.at[c + HF_CLAUSE_SIZE]; i++)
            if (HF_LIT_VAR(o->words.at[c + HF_CLAUSE_HEAD + i]) !=
                HF_LIT_VAR(lit))
                take_in(l, o->words.at[c + HF_CLAUSE_HEAD + i]);
    }
}

static uint32_t highest_level(const hf_order *o, const hf_lit *lits, size_t n)
{
    uint32_t most = 0;

    for (size_t i = 0; i < n; i++)
        if (level_of(o, lits[i]) > most)
            most = level_of(o, lits[i]);
    return most;
}

/* The clause that the conflict teaches is in o->learning, its fact is
 * returned. */
static uint32_t learn(hf_order *o)
{
    learner l = {.o = o};

    l.level = highest_level(o, o->conflict.at, o->conflict.n);
    go_back(o, l.level);
    o->learning.n = 0;
    o->chain.n = 0;
    hf_vec_push(&o->chain, o->conflict_fact);
    if (l.level > 0)
        hf_vec_push(&o->learning, HF_LIT_NONE);
    for (size_t i = 0; i < o->conflict.n; i++)
        take_in(&l, o->conflict.at[i]);
    if (l.level > 0)
        resolve(&l);
    for (size_t i = 0; i < l.zero.n; i++) {
        hf_vec_push(&o->chain, o->vars.at[l.zero.at[i]].fact);
        o->vars.at[l.zero.at[i]].seen = false;
    }
    for (size_t i = 0; i < o->learning.n; i++)
        o->vars.at[HF_LIT_VAR(o->learning.at[i])].seen = false;
    hf_vec_release(&l.zero);
    return hf_order_fact_chain(o);
}

static void learn_from_conflict(hf_order *o)
{
    uint32_t fact = learn(o), c, back;

    o->in_conflict = false;
    o->n_conflicts++;
    o->step *= 1.001f;
    if (o->learning.n == 0) {
        o->refuted = true;
        o->empty_fact = fact;
        return;
    }
    order_watched(o, o->learning.at + 1, (uint32_t)o->learning.n - 1);
    back = highest_level(o, o->learning.at + 1, o->learning.n - 1);
    go_back(o, back);
    c = store_clause(o, o->learning.at, (uint32_t)o->learning.n, fact);
    if (o->learning.n > 3)
        hf_vec_push(&o->learned, c);
    bump(o, c);
    set_true(o, o->learning.at[0], c);
}

/* ---- forgetting ---------------------------------------------------------- */

static bool is_reason(hf_order *o, uint32_t c)
{
    const uint32_t *w = clause_at(o, c);
    const hf_order_var *v = &o->vars.at[HF_LIT_VAR(w[HF_CLAUSE_HEAD])];

    return v->value >= 0 && v->reason == c;
}

static void unwatch(hf_order *o, hf_lit lit, uint32_t c)
{
    hf_order_numbers *list = &o->watches[HF_LIT_NOT(lit)];

    for (size_t i = 0; i < list->n; i++)
        if (list->at[i] == c) {
            list->at[i] = list->at[--list->n];
            return;
        }
}

/* The long clauses whose activity is below the mean.  Their room is not used
 * again: clauses are small next to everything else. */
static void forget(hf_order *o)
{
    double sum = 0;
    size_t kept = 0;

    for (size_t i = 0; i < o->learned.n; i++) {
        float a;

        memcpy(&a, &o->words.at[o->learned.at[i] + HF_CLAUSE_ACTIVITY],
               sizeof(a));
        sum += (double)a;
    }
    for (size_t i = 0; i < o->learned.n; i++) {
        uint32_t c = o->learned.at[i];
        float a;

        memcpy(&a, &o->words.at[c + HF_CLAUSE_ACTIVITY], sizeof(a));
        if ((double)a * (double)o->learned.n >= sum || is_reason(o, c)) {
            o->learned.at[kept++] = c;
            continue;
        }
        unwatch(o, o->words.at[c + HF_CLAUSE_HEAD], c);
        unwatch(o, o->words.at[c + HF_CLAUSE_HEAD + 1], c);
    }
    o->learned.n = kept;
    o->most_learned += o->most_learned / 10;
}

/* ---- search -------------------------------------------------------------- */

/* 1 1 2 1 1 2 4 ... */
static uint64_t luby(uint64_t i)
{
    uint64_t k = 1;

    for (;;) {
        while ((1ull << k) - 1 < i + 1)
            k++;
        if (i + 1 == (1ull << k) - 1)
            return 1ull << (k - 1);
        i -= (1ull << (k - 1)) - 1;
        k = 1;
    }
}

static void choose(hf_order *o, hf_lit lit)
{
    hf_vec_push(&o->level_trail, (uint32_t)o->trail.n);
    hf_vec_push(&o->level_links, (uint32_t)o->graph.links.n);
    set_true(o, lit, HF_NO_CLAUSE);
}

hf_order_answer hf_order_search(hf_order *o, uint64_t conflicts, uint32_t unit,
                                hf_budget *budget)
{
    uint64_t last = o->n_conflicts + conflicts;

    while (!o->refuted) {
        hf_lit lit = HF_LIT_NONE;
        hf_order_next next;

        propagate(o);
        if (o->in_conflict) {
            learn_from_conflict(o);
            continue;
        }
        if (hf_budget_spent(budget) || o->n_conflicts >= last)
            return HF_ORDER_LIMIT;
        if (o->n_conflicts - o->at_restart >= unit * luby(o->n_restarts)) {
            hf_order_restart(o);
            if (o->learned.n > o->most_learned)
                forget(o);
            continue;
        }
        next = o->client.look(o->client.user, o, &lit);
        /* what a clause forced first: its edges are of this level, and would
         * be lost with a later one while it stays */
        if (o->in_conflict || next == HF_ORDER_AGAIN ||
            o->n_spread < o->trail.n)
            continue;
        if (next == HF_ORDER_DONE)
            return HF_ORDER_FOUND;
        choose(o, lit);
    }
    return HF_ORDER_NONE;
}
