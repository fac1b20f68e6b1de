/* poly_worlds.c: choices of sources and outcomes, and levels of other shapes.
 *
 * Here the order of nodes is a guess at a world (docs/semantics.md): the order
 * of open versions is that of their writers, each read with several possible
 * sources has one, and of those of unknown outcome some happened.  The graph
 * engine judges that world.  Each cycle it finds says that not everything it
 * rests on can be so: a clause.  The solver looks for a world that keeps all
 * clauses, until one is right or none is left.  There are finitely many.
 *
 * Of unknown outcome only those matter that somebody may have read from, and
 * one that nobody reads from may as well not have happened: so that a
 * transaction happened is never chosen, it follows from the choice of a source.
 *
 * Each guess costs one judgement of the whole history: this is for levels and
 * histories that the search over nodes (poly_look.c) does not cover.
 */
#include "check/poly.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "check/graph_engine.h"

/* An edge that is there if `guard` happened. */
typedef struct guarded {
    hf_txn_id from, to, guard;
} guarded;

typedef struct worlds {
    hf_poly p;
    hf_graph_report *report;
    hf_graph *g;      /* of everybody who may have happened */
    hf_graph again;   /* room for it, if it is not `base` */
    hf_graph *base;   /* of those that certainly happened */
    hf_graph settled; /* room for it, if it is not the report's */
    uint8_t *sure;    /* per transaction: certainly happened */
    uint32_t *fixed;  /* per operation: the only source there can be */
    hf_result *r;
    uint8_t *all;       /* per transaction: may have happened */
    uint8_t *uncertain; /* ... and need not have */
    uint32_t n_uncertain;
    /* writes by value, where there are several */
    uint32_t *write_first;
    hf_op_id *writes;
    HF_VEC(guarded) guarded;
    /* the world at hand */
    uint8_t *happened;
    uint32_t *source; /* per operation */
    hf_txn_id *order;
    bool found, stuck;
    uint64_t n_judged;
} worlds;

/* ---- who may have happened ----------------------------------------------- */

static bool may_happen(const hf_history *h, hf_txn_id t)
{
    return h->txn_outcome[t] != HF_ABORTED;
}

static bool is_last_write(const hf_history *h, hf_txn_id t, hf_op_id op)
{
    for (hf_op_id o = op + 1; o < h->op_first[t + 1]; o++)
        if (h->op_key[o] == h->op_key[op] && hf_graph_writes(h, o))
            return false;
    return true;
}

static void each_write(worlds *w, uint32_t *first, hf_op_id *writes)
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

static void list_writes(worlds *w)
{
    uint32_t n = w->report->g->h->n_values;

    w->write_first = HF_NEW_ZEROED(uint32_t, (size_t)n + 3);
    each_write(w, w->write_first, NULL);
    for (uint32_t v = 0; v <= n; v++)
        w->write_first[v + 1] += w->write_first[v];
    w->writes = HF_NEW_ARRAY(hf_op_id, (size_t)w->write_first[n + 1] + 1);
    each_write(w, w->write_first, w->writes);
}

static hf_value_id value_read(const hf_history *h, hf_op_id op)
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
static void meet_writers(worlds *w, hf_value_id v, hf_txn_id *stack,
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

/* ... of what t read; of lists, every element. */
static void meet_sources(worlds *w, hf_txn_id t, hf_txn_id *stack, uint32_t *n)
{
    const hf_history *h = w->report->g->h;

    if (!hf_graph_reads_matter(w->report->g, t))
        return;
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        hf_value_id v = value_read(h, o);

        if (v == HF_NONE)
            continue;
        if (h->value_type[v] != HF_LIST) {
            if (!own_write_before(h, t, o))
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
static uint32_t only_source(const worlds *w, hf_op_id op)
{
    const hf_history *h = w->base->h;
    hf_txn_id t = hf_op_txn(h, op);
    hf_value_id v = value_read(h, op);
    uint32_t found = HF_CHOSEN_ONLY;

    if (v == HF_NONE || h->value_type[v] == HF_LIST)
        return HF_CHOSEN_ONLY;
    if (hf_value_is_initial(h, h->op_key[op], v))
        found = HF_CHOSEN_INITIAL;
    for (uint32_t i = w->write_first[v]; i < w->write_first[v + 1]; i++) {
        hf_txn_id from = hf_op_txn(h, w->writes[i]);

        if (from == t || !is_last_write(h, from, w->writes[i]))
            continue;
        if (found != HF_CHOSEN_ONLY)
            return HF_CHOSEN_ONLY;
        found = HF_CHOSEN(from);
    }
    return found;
}

/* True if a read has its source now. */
static bool settle_reads(worlds *w)
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

static bool rebuild(worlds *w, hf_graph *g, const uint8_t *happened,
                    bool spread)
{
    const hf_graph *like = w->report->g;

    *g = (hf_graph){.h = like->h,
                    .level = like->level,
                    .budget = like->budget,
                    .options = like->options,
                    .own = like->own,
                    .others = like->others,
                    .world = {happened, w->fixed, spread}};
    g->options.most = UINT32_MAX;
    if (!hf_graph_build_facts(g))
        return false;
    hf_graph_sessions_and_time(g);
    return hf_graph_build_edges(g);
}

/* A source that is certain makes its writer certain, whose reads may then have
 * one source: until nothing changes.  False: stopped. */
static bool settle(worlds *w)
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
        if (!rebuild(w, &w->settled, w->sure, true))
            return false;
        memcpy(w->sure, w->settled.happened, h->n_txns);
    }
    return true;
}

/* ---- who may have happened, besides -------------------------------------- */

/* Fills all, uncertain. */
static void find_uncertain(worlds *w)
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
    while (n > 0)
        meet_sources(w, stack[--n], stack, &n);
    hf_free(stack);
}

/* The facts of everybody who may have happened.  False: stopped. */
static bool build_graph(worlds *w)
{
    w->g = w->base;
    if (w->n_uncertain == 0)
        return true;
    w->g = &w->again;
    return rebuild(w, &w->again, w->all, false);
}

/* ---- variables and clauses ----------------------------------------------- */

static uint32_t add_clause(hf_poly *p, hf_poly_clause c)
{
    hf_vec_push(&p->clauses, c);
    return (uint32_t)p->clauses.n - 1;
}

/* "It happened"; HF_LIT_NONE: it certainly did. */
static hf_lit happened_lit(hf_poly *p, hf_txn_id t)
{
    if (!hf_poly_is_uncertain(p, t))
        return HF_LIT_NONE;
    if (p->happened_of[t] == HF_NONE)
        p->happened_of[t] = hf_poly_new_var(p, HF_POLY_HAPPENED, t, 0);
    return 2 * p->happened_of[t];
}

/* An earlier read of the same key, if the level wants them to agree. */
static uint32_t same_choice(const worlds *w, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = w->g->h;

    const hf_level_info *level = w->g->own ? w->g->own[t] : w->g->level;

    for (hf_op_id o = h->op_first[t]; level->internal && o < op; o++)
        if (h->op_key[o] == h->op_key[op] && w->p.choice_of[o] != HF_NONE)
            return w->p.choice_of[o];
    return HF_NONE;
}

static void add_candidate(hf_poly *p, hf_txn_id writer)
{
    hf_poly_choice *c = &p->choices.at[p->choices.n - 1];
    uint32_t var =
        hf_poly_new_var(p, HF_POLY_FROM, (uint32_t)p->choices.n - 1, c->n);

    c->n++;
    hf_vec_push(&p->candidates, (hf_poly_candidate){writer, var});
}

static void add_choice(worlds *w, hf_op_id op)
{
    hf_poly *p = &w->p;
    const hf_history *h = w->g->h;
    hf_txn_id t = hf_op_txn(h, op);
    hf_value_id v = value_read(h, op);
    hf_poly_choice c = {op, t, h->op_key[op], (uint32_t)p->candidates.n, 0};

    p->choice_of[op] = same_choice(w, t, op);
    if (p->choice_of[op] != HF_NONE)
        return;
    p->choice_of[op] = (uint32_t)p->choices.n;
    hf_vec_push(&p->choices, c);
    if (hf_value_is_initial(h, c.key, v))
        add_candidate(p, HF_NONE);
    for (uint32_t i = w->write_first[v]; i < w->write_first[v + 1]; i++) {
        hf_txn_id from = hf_op_txn(h, w->writes[i]);

        if (from != t && w->all[from] && is_last_write(h, from, w->writes[i]))
            add_candidate(p, from);
    }
}

/* One of the sources, if the reader happened; and then its writer did. */
static void add_source_clauses(worlds *w, uint32_t index)
{
    hf_poly *p = &w->p;
    hf_poly_choice c = p->choices.at[index];
    hf_lit reader = happened_lit(p, c.reader);
    HF_VEC(hf_lit) lits = {0};
    uint32_t source;

    for (uint32_t i = 0; i < c.n; i++)
        hf_vec_push(&lits, 2 * p->candidates.at[c.first + i].var);
    if (reader != HF_LIT_NONE)
        hf_vec_push(&lits, HF_LIT_NOT(reader));
    source = add_clause(p, (hf_poly_clause){.kind = HF_STEP_SOURCES,
                                            .op = c.op,
                                            .writer = HF_NONE});
    (void)hf_order_clause(p->order, lits.at, (uint32_t)lits.n, source);
    for (uint32_t i = 0; i < c.n; i++) {
        hf_poly_candidate from = p->candidates.at[c.first + i];
        hf_lit writer =
            from.writer == HF_NONE ? HF_LIT_NONE : happened_lit(p, from.writer);

        if (writer == HF_LIT_NONE)
            continue;
        lits.n = 0;
        hf_vec_push(&lits, writer);
        hf_vec_push(&lits, HF_LIT_NOT(2 * from.var));
        if (reader != HF_LIT_NONE)
            hf_vec_push(&lits, HF_LIT_NOT(reader));
        source = add_clause(p, (hf_poly_clause){.kind = HF_STEP_HAPPENED,
                                                .op = c.op,
                                                .writer = from.writer});
        (void)hf_order_clause(p->order, lits.at, (uint32_t)lits.n, source);
    }
    hf_vec_release(&lits);
}

/* If t happened, so did `from`.  A step of a proof can say it of the version
 * that was read. */
static void add_outcome_clause(worlds *w, hf_txn_id t, hf_op_id op,
                               hf_txn_id from, bool is_source)
{
    hf_poly *p = &w->p;
    hf_lit lits[2];
    uint32_t source;

    if (from == HF_NONE || from == t || !hf_poly_is_uncertain(p, from))
        return;
    lits[0] = happened_lit(p, from);
    lits[1] = HF_LIT_NOT(happened_lit(p, t));
    source =
        add_clause(p, (hf_poly_clause){.kind = is_source ? HF_STEP_HAPPENED
                                                         : HF_STEP_KIND_COUNT,
                                       .op = op,
                                       .writer = from});
    (void)hf_order_clause(p->order, lits, 2, source);
}

/* Reads of one who need not have happened, from another: one happened only if
 * the other did. */
static void add_outcome_clauses(worlds *w, hf_txn_id t)
{
    const hf_graph *g = w->g;
    const hf_history *h = g->h;

    if (!hf_graph_reads_matter(g, t))
        return;
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t ver = hf_graph_source(g, o);
        hf_value_id v = value_read(h, o);

        if (ver != HF_NONE)
            add_outcome_clause(w, t, o, g->ver_txn[ver], true);
        if (v == HF_NONE || h->value_type[v] != HF_LIST)
            continue;
        for (; v != HF_NONE; v = hf_list_parent(h, v)) {
            hf_value_id e = hf_list_last(h, v);

            if (e != HF_NONE && g->value[e].op != HF_NONE)
                add_outcome_clause(w, t, o, hf_op_txn(h, g->value[e].op),
                                   false);
        }
    }
}

/* One of those that need not have happened did not. */
static void forbid_place(worlds *w, hf_anomaly anomaly, const hf_place *place)
{
    hf_poly *p = &w->p;
    const hf_history *h = w->g->h;
    hf_op_id read = hf_place_read(anomaly, place);
    hf_lit lits[4];
    uint32_t n = 0, source;

    for (unsigned i = 0; i < 4; i++) {
        hf_op_id op = read == HF_NONE ? place->ops[i] : read;
        hf_lit lit;

        if (op == HF_NONE || (read != HF_NONE && i > 0))
            continue;
        lit = happened_lit(p, hf_op_txn(h, op));
        if (lit != HF_LIT_NONE)
            lits[n++] = HF_LIT_NOT(lit);
    }
    if (n == 0)
        return; /* of those that happened, and reported already */
    source = add_clause(p, (hf_poly_clause){.kind = HF_STEP_KIND_COUNT});
    (void)hf_order_clause(p->order, lits, n, source);
}

static void forbid_places(worlds *w)
{
    const hf_graph *g = w->g;

    for (unsigned a = 0; a < HF_G0 && w->n_uncertain; a++) {
        const hf_places *places = &g->places[a];

        for (size_t i = 0; i < places->kept.n && a != HF_DUPLICATE_WRITE; i++)
            if (hf_place_is_forbidden(g, (hf_anomaly)a, &places->kept.at[i]))
                forbid_place(w, (hf_anomaly)a, &places->kept.at[i]);
    }
}

static void make_choices(worlds *w)
{
    hf_poly *p = &w->p;
    const hf_graph *g = w->g;
    size_t ops = (size_t)g->h->n_ops + 1, txns = (size_t)g->h->n_txns + 1;

    p->choice_of = HF_NEW_ARRAY(uint32_t, ops);
    memset(p->choice_of, 0xff, ops * sizeof(uint32_t));
    p->happened_of = HF_NEW_ARRAY(uint32_t, txns);
    memset(p->happened_of, 0xff, txns * sizeof(uint32_t));
    for (size_t i = 0; i < g->open.n && g->reads_matter; i++)
        add_choice(w, g->open.at[i]);
    for (uint32_t i = 0; i < p->choices.n; i++)
        add_source_clauses(w, i);
    for (hf_txn_id t = 0; w->n_uncertain && t < g->h->n_txns; t++)
        if (w->uncertain[t])
            add_outcome_clauses(w, t);
    forbid_places(w);
}

/* ---- known orders around those that need not have happened --------------- */

/* Where a known order of versions goes through one that need not be there, it
 * goes on behind it. */
static void guard_orders(worlds *w)
{
    const hf_graph *g = w->g;

    for (uint32_t i = 0; w->n_uncertain && g->prev && i < w->p.n_keys; i++) {
        hf_key_id key = w->p.keys[i];
        hf_txn_id first = g->ver_txn[w->p.tail[g->ver_first[key]]];

        for (uint32_t v = g->ver_first[key] + 1; v < g->ver_end[key]; v++) {
            hf_txn_id t = g->ver_txn[v], from = HF_NONE;
            uint32_t a = g->prev[v];

            if (w->uncertain[t] && first != HF_NONE && first != t)
                hf_vec_push(&w->guarded, (guarded){first, t, t});

            for (; a != HF_NONE && g->ver_txn[a] != HF_NONE; a = g->prev[a]) {
                from = g->ver_txn[a];
                if (!w->uncertain[from])
                    break;
                hf_vec_push(&w->guarded, (guarded){from, t, from});
                from = HF_NONE;
            }
            if (from == HF_NONE)
                continue;
            if (w->uncertain[t])
                hf_vec_push(&w->guarded, (guarded){from, t, t});
            else if (a != g->prev[v])
                hf_order_known(w->p.order, from, t);
        }
    }
}

static bool is_group(const hf_poly *p, uint32_t node)
{
    return node >= p->nodes.groups;
}

static void add_known(void *user, uint32_t from, uint32_t to)
{
    worlds *w = user;
    uint32_t txns = w->p.nodes.times;

    if ((from < txns && w->uncertain[from]) || (to < txns && w->uncertain[to]))
        return;
    /* the readers of one version may be fewer than a group has */
    if (w->n_uncertain && (is_group(&w->p, from) || is_group(&w->p, to)))
        return;
    hf_order_known(w->p.order, from, to);
}

/* ---- the world at hand --------------------------------------------------- */

/* The candidate of a choice that is taken; HF_NONE: none yet. */
static uint32_t taken_candidate(const hf_poly *p, const hf_poly_choice *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (hf_order_value(p->order, 2 * p->candidates.at[c->first + i].var) ==
            1)
            return i;
    return HF_NONE;
}

static bool happens(const hf_poly *p, hf_txn_id t)
{
    return !hf_poly_is_uncertain(p, t) ||
           (p->happened_of[t] != HF_NONE &&
            hf_order_value(p->order, 2 * p->happened_of[t]) == 1);
}

/* The source that the order suggests: the newest before the reader, else the
 * oldest. */
static hf_lit suggest(const hf_poly *p, const hf_poly_choice *c)
{
    const uint32_t *place = hf_order_place(p->order);
    uint32_t at = place[c->reader], best = HF_NONE, best_place = 0;
    bool best_before = false;

    for (uint32_t i = 0; i < c->n; i++) {
        hf_poly_candidate x = p->candidates.at[c->first + i];
        uint32_t its = x.writer == HF_NONE ? 0 : place[x.writer] + 1;
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

static bool choose_source(hf_poly *p, hf_lit *ret)
{
    for (uint32_t i = 0; i < p->choices.n; i++) {
        const hf_poly_choice *c = &p->choices.at[i];

        if (!happens(p, c->reader) || taken_candidate(p, c) != HF_NONE)
            continue;
        *ret = suggest(p, c);
        return true;
    }
    return false;
}

static uint32_t set_world(worlds *w)
{
    const hf_poly *p = &w->p;
    const hf_history *h = w->g->h;
    const uint32_t *place = hf_order_place(p->order);
    uint32_t n_nodes = hf_poly_n_nodes(p), n = 0;
    uint32_t *at = HF_NEW_ARRAY(uint32_t, (size_t)n_nodes + 1);

    for (uint32_t i = 0; i < n_nodes; i++)
        at[place[i]] = i;
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        w->happened[t] = w->all[t] && happens(p, t);
    for (uint32_t i = 0; i < n_nodes; i++)
        if (at[i] < h->n_txns && w->happened[at[i]])
            w->order[n++] = at[i];
    hf_free(at);
    memcpy(w->source, w->fixed, h->n_ops * sizeof(*w->source));
    for (size_t i = 0; i < w->g->open.n && p->choices.n > 0; i++) {
        hf_op_id op = w->g->open.at[i];
        const hf_poly_choice *c = &p->choices.at[p->choice_of[op]];
        uint32_t taken;
        hf_txn_id from;

        if (!w->happened[c->reader])
            continue;
        taken = taken_candidate(p, c);
        from = p->candidates.at[c->first + taken].writer;
        w->source[op] = from == HF_NONE ? HF_CHOSEN_INITIAL : HF_CHOSEN(from);
    }
    return n;
}

/* ---- what a cycle rests on ----------------------------------------------- */

typedef HF_VEC(hf_lit) lit_list;

static void add_lit(lit_list *list, hf_lit lit)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i] == lit)
            return;
    if (lit != HF_LIT_NONE)
        hf_vec_push(list, lit);
}

/* Version a of an open key is before b. */
static void add_before(worlds *w, lit_list *list, hf_key_id key, uint32_t a,
                       uint32_t b)
{
    const hf_poly *p = &w->p;

    if (p->key_index[key] == HF_NONE || p->atom[a] == p->atom[b] ||
        p->atom[a] == w->g->ver_first[key])
        return;
    add_lit(list, hf_poly_before(&w->p, p->atom[a], p->atom[b]));
}

/* The source that the world has for a read; the solver may have gone on. */
static hf_poly_candidate candidate_of(const worlds *w, hf_op_id read)
{
    const hf_poly *p = &w->p;
    const hf_poly_choice *c = &p->choices.at[p->choice_of[read]];
    hf_txn_id writer =
        w->source[read] == HF_CHOSEN_INITIAL ? HF_NONE : w->source[read] - 1;

    for (uint32_t i = 0; i < c->n; i++)
        if (p->candidates.at[c->first + i].writer == writer)
            return p->candidates.at[c->first + i];
    HF_BUG("a read has a source that was not its choice");
}

/* Fills the literals that the edge needs; returns what its read is taken to
 * return. */
static uint32_t lits_of_edge(worlds *w, const hf_edge *e, lit_list *list)
{
    hf_poly *p = &w->p;
    const hf_graph *g = w->g;
    hf_op_id read = e->kind == HF_EDGE_WR ? e->to_op : e->from_op;
    uint32_t a = HF_NONE, chosen = HF_CHOSEN_ONLY;

    add_lit(list, happened_lit(p, e->from));
    add_lit(list, happened_lit(p, e->to));
    if (e->kind == HF_EDGE_WW)
        a = hf_graph_version_of(g, e->from, e->key);
    if (e->kind == HF_EDGE_WR || e->kind == HF_EDGE_RW) {
        if (p->choice_of[read] != HF_NONE) {
            hf_poly_candidate from = candidate_of(w, read);

            add_lit(list, 2 * from.var);
            chosen = w->source[read];
            a = from.writer == HF_NONE
                    ? g->ver_first[e->key]
                    : hf_graph_version_of(g, from.writer, e->key);
        } else {
            a = hf_graph_source(g, read);
        }
    }
    if ((e->kind == HF_EDGE_WW || e->kind == HF_EDGE_RW) && a != HF_NONE)
        add_before(w, list, e->key, a, hf_graph_version_of(g, e->to, e->key));
    return chosen;
}

/* Does the order have atom a before atom b? */
static bool stands_before(const hf_poly *p, uint32_t a, uint32_t b)
{
    const uint32_t *place = hf_order_place(p->order);
    hf_txn_id x = p->g->ver_txn[a], y = p->g->ver_txn[b];

    return x == HF_NONE || (y != HF_NONE && place[x] < place[y]);
}

/* Of the literal, as the world has it now. */
static bool holds_now(const hf_poly *p, hf_lit lit)
{
    const hf_poly_var *v = &p->vars.at[HF_LIT_VAR(lit)];
    int value = hf_order_value(p->order, lit);
    bool positive;

    if (value >= 0)
        return value == 1;
    positive = v->kind == HF_POLY_PAIR && stands_before(p, v->a, v->b);
    return positive == !(lit & 1u);
}

/* A pair that the cycle has one way and the first writers of its atoms the
 * other: the versions of an atom are torn apart, and it has to be chosen. */
static hf_lit torn_pair(const hf_poly *p, const lit_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (p->vars.at[HF_LIT_VAR(list->at[i])].kind == HF_POLY_PAIR &&
            hf_order_value(p->order, list->at[i]) < 0 &&
            !holds_now(p, list->at[i]))
            return list->at[i];
    return HF_LIT_NONE;
}

/* Not everything that the cycle rests on.  Returns a pair to choose first, if
 * there is one. */
static hf_lit forbid_cycle(worlds *w, const hf_witness *cycle)
{
    hf_poly *p = &w->p;
    hf_poly_clause c = {HF_STEP_CYCLE,
                        (uint32_t)p->lemma_edges.n,
                        cycle->n_edges,
                        HF_NONE,
                        HF_NONE,
                        (uint32_t)p->lemma_lits.n,
                        0};
    lit_list lits = {0};
    hf_lit torn;

    for (uint32_t i = 0; i < cycle->n_edges; i++) {
        uint32_t chosen = lits_of_edge(w, &cycle->edges[i], &lits);

        hf_vec_push(&p->lemma_edges, cycle->edges[i]);
        hf_vec_push(&p->lemma_chosen, chosen);
    }
    torn = torn_pair(p, &lits);
    if (torn == HF_LIT_NONE) {
        c.n_lits = (uint32_t)lits.n;
        for (size_t i = 0; i < lits.n; i++) {
            hf_vec_push(&p->lemma_lits, lits.at[i]);
            lits.at[i] = HF_LIT_NOT(lits.at[i]);
        }
        (void)hf_order_clause(p->order, lits.at, (uint32_t)lits.n,
                              add_clause(p, c));
    } else {
        p->lemma_edges.n = p->lemma_chosen.n = c.first;
    }
    hf_vec_release(&lits);
    return torn;
}

/* ---- the client ---------------------------------------------------------- */

/* A clause of a cycle that the world breaks, and of whose pairs one can still
 * be turned: the one turned; HF_LIT_NONE: there is none. */
static hf_lit turn_broken(const hf_poly *p)
{
    for (size_t i = p->clauses.n; i-- > 0;) {
        const hf_poly_clause *c = &p->clauses.at[i];
        hf_lit open = HF_LIT_NONE;
        bool broken = c->n_lits > 0;

        for (uint32_t k = 0; k < c->n_lits && broken; k++) {
            hf_lit lit = p->lemma_lits.at[c->first_lit + k];

            broken = holds_now(p, lit);
            if (hf_order_value(p->order, lit) < 0)
                open = lit;
        }
        if (broken && open != HF_LIT_NONE)
            return HF_LIT_NOT(open);
    }
    return HF_LIT_NONE;
}

/* Judges the world at hand.  DONE: it is right, or nothing can be said. */
static hf_order_next judge(worlds *w, hf_lit *ret_lit)
{
    hf_graph_findings cycles = {0};
    hf_graph_world world = {.happened = w->happened, .source = w->source};
    uint32_t n = set_world(w);
    hf_order_next next = HF_ORDER_AGAIN;

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
        hf_lit torn = forbid_cycle(w, &cycles.at[i].witness);

        if (torn != HF_LIT_NONE && hf_order_value(w->p.order, torn) < 0) {
            *ret_lit = torn;
            next = HF_ORDER_DECIDE;
        }
    }
    hf_vec_release(&cycles);
    return next;
}

static hf_order_next look(void *user, hf_order *o, hf_lit *ret_lit)
{
    worlds *w = user;

    (void)o;
    if (choose_source(&w->p, ret_lit))
        return HF_ORDER_DECIDE;
    *ret_lit = turn_broken(&w->p);
    if (*ret_lit != HF_LIT_NONE)
        return HF_ORDER_DECIDE;
    return judge(w, ret_lit);
}

/* An edge that comes with a literal, if both ends happened: what is said of
 * one that did not is free.  False: a conflict. */
static bool add_link(worlds *w, hf_txn_id from, hf_txn_id to, hf_lit lit)
{
    hf_poly *p = &w->p;
    hf_txn_id ends[2] = {from, to};
    hf_lit why[3] = {lit};
    uint32_t n = 1;

    for (unsigned i = 0; i < 2; i++) {
        hf_lit happened = happened_lit(p, ends[i]);

        if (happened == HF_LIT_NONE || happened == lit)
            continue;
        if (hf_order_value(p->order, happened) != 1)
            return true;
        why[n++] = happened;
    }
    return hf_order_edge(p->order, from, to, lit, why, n);
}

/* The edge of a true literal of either kind. */
static bool take_choice(worlds *w, hf_lit lit)
{
    const hf_poly *p = &w->p;
    hf_poly_var v = p->vars.at[HF_LIT_VAR(lit)];

    if (v.kind == HF_POLY_PAIR) {
        uint32_t a = lit & 1u ? v.b : v.a, b = lit & 1u ? v.a : v.b;

        return add_link(w, p->g->ver_txn[p->tail[a]], p->g->ver_txn[b], lit);
    }
    if (v.kind == HF_POLY_FROM && !(lit & 1u)) {
        const hf_poly_choice *c = &p->choices.at[v.a];
        hf_txn_id from = p->candidates.at[c->first + v.b].writer;

        return from == HF_NONE || add_link(w, from, c->reader, lit);
    }
    return true;
}

/* Somebody happened after all: known orders, and what was chosen about it. */
static void take_happened(worlds *w, hf_txn_id t, hf_lit lit)
{
    const hf_poly *p = &w->p;
    uint32_t n = hf_order_n_vars(p->order);

    for (size_t i = 0; i < w->guarded.n; i++) {
        guarded x = w->guarded.at[i];

        if ((x.from == t || x.to == t) && !add_link(w, x.from, x.to, lit))
            return;
    }
    for (uint32_t v = 0; v < n; v++) {
        int value = hf_order_value(p->order, 2 * v);

        if (p->vars.at[v].kind != HF_POLY_HAPPENED && value >= 0 &&
            !take_choice(w, 2 * v + !value))
            return;
    }
}

static void taken(void *user, hf_order *o, hf_lit lit)
{
    worlds *w = user;
    const hf_poly_var *v = &w->p.vars.at[HF_LIT_VAR(lit)];

    (void)o;
    if (v->kind != HF_POLY_HAPPENED)
        (void)take_choice(w, lit);
    else if (!(lit & 1u))
        take_happened(w, v->a, lit);
}

/* ---- all ----------------------------------------------------------------- */

/* Of mixed levels only the order of versions is common. */
static unsigned mask_of(const hf_graph *g)
{
    const hf_level_info *level = g->level;
    unsigned mask = HF_WALK_W | (level->session_order ? HF_WALK_SO : 0) |
                    (level->real_time ? HF_WALK_RT : 0);

    if (level->shape == HF_SHAPE_WW || g->own)
        return HF_WALK_WW;
    if (level->shape == HF_SHAPE_SERIAL || level->shape == HF_SHAPE_ITEM)
        mask |= HF_WALK_RW;
    return mask;
}

/* The sources that were chosen are part of the witness. */
static void store_sources(worlds *w, const uint32_t *source)
{
    const hf_history *h = w->g->h;
    hf_witness *out = &w->r->witness;
    HF_VEC(hf_source) all = {0};

    for (hf_op_id op = 0; op < h->n_ops && w->g->reads_matter; op++)
        if (source[op] != HF_CHOSEN_ONLY)
            hf_vec_push(&all, (hf_source){op, 0,
                                          source[op] == HF_CHOSEN_INITIAL
                                              ? HF_NONE
                                              : source[op] - 1});
    out->n_sources = (uint32_t)all.n;
    out->sources =
        hf_arena_get(&w->r->arena, hf_array_size(all.n + 1, sizeof(hf_source)));
    if (all.n > 0)
        memcpy(out->sources, all.at, all.n * sizeof(hf_source));
    hf_vec_release(&all);
}

static void set_unknown(worlds *w, const char *reason)
{
    w->r->verdict = HF_UNKNOWN;
    w->r->reason = hf_arena_text(&w->r->arena, reason, strlen(reason));
}

/* How far it came. */
static void tell_limit(worlds *w)
{
    char text[300];

    (void)snprintf(text, sizeof(text),
                   "no world was found and none excluded: %llu tried, %zu "
                   "reads with several possible sources, %lu transactions that "
                   "need not have happened, %llu conflicts; %s",
                   (unsigned long long)w->n_judged, w->p.choices.n,
                   (unsigned long)w->n_uncertain,
                   (unsigned long long)hf_order_conflicts(w->p.order),
                   hf_budget_reason(w->g->budget));
    set_unknown(w, text);
}

/* Where the steps of a proof cannot say it: all transactions, if they are
 * few. */
static void prove_by_enumeration(worlds *w)
{
    const hf_history *h = w->g->h;
    hf_txn_id *core = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        core[t] = t;
    hf_report_core(w->report, core, h->n_txns);
    hf_free(core);
}

static void deliver(worlds *w, hf_order_answer answer)
{
    hf_order_proof proof;

    if (answer == HF_ORDER_FOUND && w->found) {
        store_sources(w, w->source);
        return;
    }
    if (answer == HF_ORDER_LIMIT || hf_graph_spent(w->g)) {
        tell_limit(w);
        return;
    }
    if (answer == HF_ORDER_FOUND) {
        set_unknown(w, "there is a cycle in a world that was tried, but the "
                       "search for one to show was cut short");
        return;
    }
    hf_order_proof_make(w->p.order, &proof);
    if (!hf_poly_prove(&w->p, &proof, w->report))
        prove_by_enumeration(w);
    hf_order_proof_release(&proof);
    if (w->report->found.n > 0)
        hf_report_deliver(w->report, w->r);
    else
        set_unknown(w, "no world is left, but there are too many transactions "
                       "to prove it");
}

/* Where only orders are open: an order that proves more. */
static uint32_t *stronger_hint(worlds *w)
{
    const hf_graph *g = w->g;
    hf_graph_report report = *w->report;
    uint32_t n_nodes = hf_poly_n_nodes(&w->p), n = 0;
    hf_txn_id *order;
    uint32_t *hint;

    if (g->open_reads > 0 || !g->reads_matter || g->own)
        return NULL;
    report.g = w->g;
    order = hf_poly_stronger_order(&report, w->r);
    if (!order)
        return NULL;
    hint = HF_NEW_ARRAY(uint32_t, (size_t)n_nodes + 1);
    for (; n < g->n_happened; n++)
        hint[n] = order[n];
    for (hf_txn_id t = 0; t < g->h->n_txns; t++)
        if (!g->happened[t])
            hint[n++] = t;
    for (uint32_t i = g->h->n_txns; i < n_nodes; i++)
        hint[n++] = i;
    hf_free(order);
    return hint;
}

static void search(worlds *w)
{
    const hf_history *h = w->g->h;
    hf_order_client client = {.user = w, .look = look, .taken = taken};
    uint32_t *hint;

    hf_poly_build(&w->p, w->g, mask_of(w->g), HF_WALK_PLAIN, w->uncertain);
    w->p.order = hf_order_new(hf_poly_n_nodes(&w->p), &client);
    hf_poly_known(&w->p, add_known, w);
    guard_orders(w);
    w->happened = HF_NEW_ZEROED(uint8_t, (size_t)h->n_txns + 1);
    w->source = HF_NEW_ZEROED(uint32_t, (size_t)h->n_ops + 1);
    w->order = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);
    hint = stronger_hint(w);
    if (!hint)
        hint = hf_poly_hint(&w->p,
                            hf_poly_has_times(h) ? HF_HINT_END : HF_HINT_FILE);
    (void)hf_order_begin(w->p.order, hint);
    hf_free(hint);
    make_choices(w);
    deliver(w, hf_order_search(w->p.order, UINT64_MAX / 2, 100, w->g->budget));
}

/* Lists in which it is not known who appended what. */
static bool has_odd_lists(const hf_graph *g)
{
    for (hf_key_id k = 0; g->has_lists && k < g->h->n_keys; k++)
        if ((g->key_use[k] & HF_USE_MURKY) && g->longest_op[k] != HF_NONE)
            return true;
    return g->odd.n > 0 || g->undecided[0];
}

/* What one of unknown outcome read of a list, or appended to it, says
 * something about its order only if it happened. */
static bool has_doubtful_lists(const worlds *w)
{
    const hf_history *h = w->g->h;

    for (hf_txn_id t = 0; w->n_uncertain > 0 && t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t];
             w->uncertain[t] && o < h->op_first[t + 1]; o++) {
            hf_value_id v = value_read(h, o);

            if (hf_op_kind_of(h, o) == HF_OP_APPEND ||
                (v != HF_NONE && h->value_type[v] == HF_LIST))
                return true;
        }
    return false;
}

/* Every source is settled, and the level is an order of nodes. */
static void decide_order(worlds *w)
{
    hf_graph_report report = *w->report;

    report.g = w->base;
    hf_poly_decide(&report, w->r);
    *w->report = report; /* with what was found */
    if (w->r->verdict == HF_VALID)
        store_sources(w, w->fixed);
}

/* The newest candidate before the reader in an order of transactions; else the
 * oldest. */
static uint32_t guess_source(const worlds *w, hf_op_id op,
                             const uint32_t *place)
{
    const hf_history *h = w->base->h;
    hf_txn_id t = hf_op_txn(h, op);
    hf_value_id v = value_read(h, op);
    uint32_t best = HF_CHOSEN_ONLY, best_place = 0;
    bool best_before = false;

    if (hf_value_is_initial(h, h->op_key[op], v)) {
        best = HF_CHOSEN_INITIAL;
        best_before = true;
    }
    for (uint32_t i = w->write_first[v]; i < w->write_first[v + 1]; i++) {
        hf_txn_id from = hf_op_txn(h, w->writes[i]);
        bool before = place[from] < place[t];

        if (from == t || !w->sure[from] ||
            !is_last_write(h, from, w->writes[i]))
            continue;
        if (best == HF_CHOSEN_ONLY ||
            (before && (!best_before || place[from] >= best_place)) ||
            (!before && !best_before && place[from] < best_place)) {
            best = HF_CHOSEN(from);
            best_place = place[from];
            best_before = before;
        }
    }
    return best;
}

/* All open reads take the source that the order suggests. */
static bool try_sources(worlds *w, const hf_txn_id *order)
{
    const hf_history *h = w->base->h;
    uint32_t *place = HF_NEW_ZEROED(uint32_t, (size_t)h->n_txns + 1);
    uint32_t *kept = w->fixed;
    hf_graph_report report = *w->report;
    hf_graph guess;
    bool valid = false;

    for (uint32_t i = 0; i < w->base->n_happened; i++)
        place[order[i]] = i;
    w->fixed = HF_NEW_ARRAY(uint32_t, (size_t)h->n_ops + 1);
    memcpy(w->fixed, kept, h->n_ops * sizeof(*kept));
    for (size_t i = 0; i < w->base->open.n; i++)
        w->fixed[w->base->open.at[i]] =
            guess_source(w, w->base->open.at[i], place);
    if (rebuild(w, &guess, w->sure, false) && guess.open_reads == 0) {
        report.g = &guess;
        valid = hf_poly_attempt(&report, w->r, true, NULL) == HF_ORDER_FOUND;
        if (valid)
            store_sources(w, w->fixed);
    }
    hf_graph_release(&guess);
    hf_free(w->fixed);
    hf_free(place);
    w->fixed = kept;
    return valid;
}

/* Without the open reads first: if there is no order even so, that is the
 * answer; else it says where they may come from.  True: decided. */
static bool decide_by_guess(worlds *w)
{
    hf_graph_report report = *w->report;
    hf_txn_id *order = NULL;
    hf_order_answer answer;
    bool done;

    report.g = w->base;
    answer = hf_poly_attempt(&report, w->r, false, &order);
    *w->report = report; /* with what was found */
    done = answer == HF_ORDER_NONE || (order && try_sources(w, order));
    hf_free(order);
    return done;
}

static void decide(worlds *w)
{
    if (!settle(w)) {
        set_unknown(w, hf_budget_reason(w->report->g->budget));
        return;
    }
    if (w->base == &w->settled) {
        hf_graph_find_known(w->base, w->report, w->r);
        if (w->report->found.n > 0) {
            hf_report_deliver(w->report, w->r);
            return;
        }
    }
    find_uncertain(w);
    if (!build_graph(w))
        set_unknown(w, hf_budget_reason(w->report->g->budget));
    else if (has_odd_lists(w->g))
        set_unknown(w, "a list that one of unknown outcome may have read or "
                       "written has elements that were appended more than "
                       "once");
    else if (has_doubtful_lists(w))
        set_unknown(w, "a list was read by one of unknown outcome, of whom it "
                       "is not known whether anybody read from it");
    else if (w->base == &w->settled && hf_poly_is_order(w->base))
        decide_order(w);
    else if (w->n_uncertain > 0 || !hf_poly_has_form(w->base) ||
             w->g->stopped || !decide_by_guess(w))
        search(w);
}

void hf_poly_decide_world(hf_graph_report *report, hf_result *r)
{
    worlds w = {.report = report, .r = r};
    hf_graph *g = report->g;

    list_writes(&w);
    decide(&w);
    report->g = g;
    hf_poly_release(&w.p);
    if (w.g && w.g == &w.again)
        hf_graph_release(&w.again);
    if (w.base == &w.settled)
        hf_graph_release(&w.settled);
    hf_vec_release(&w.guarded);
    hf_free(w.sure);
    hf_free(w.fixed);
    hf_free(w.all);
    hf_free(w.uncertain);
    hf_free(w.write_first);
    hf_free(w.writes);
    hf_free(w.happened);
    hf_free(w.source);
    hf_free(w.order);
}
