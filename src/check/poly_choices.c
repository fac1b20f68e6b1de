/* poly_choices.c: sources and outcomes as variables, with their clauses.
 *
 * A read with several possible sources has one of them, and then its writer
 * happened; where the level wants repeated reads of a key to agree, they are
 * one choice.
 */
#include "check/poly_worlds.h"

#include <string.h>

#include "base/error.h"
#include "check/counters.h"

/* ---- variables and clauses ----------------------------------------------- */

uint32_t hf_worlds_add_clause(hf_poly *p, hf_poly_clause c)
{
    hf_vec_push(&p->clauses, c);
    return (uint32_t)p->clauses.n - 1;
}

/* "It happened"; HF_LIT_NONE: it certainly did. */
hf_lit hf_poly_happened(hf_poly *p, hf_txn_id t)
{
    if (!hf_poly_is_uncertain(p, t))
        return HF_LIT_NONE;
    if (p->happened_of[t] == HF_NONE)
        p->happened_of[t] = hf_poly_new_var(p, HF_POLY_HAPPENED, t, 0);
    return 2 * p->happened_of[t];
}

/* An earlier read of the same key, if the level wants them to agree. */
static uint32_t same_choice(const hf_worlds *w, hf_txn_id t, hf_op_id op)
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
    uint32_t ver = writer == HF_NONE
                       ? p->g->ver_first[c->key]
                       : hf_graph_version_of(p->g, writer, c->key);

    c->n++;
    hf_vec_push(&p->candidates, (hf_poly_candidate){writer, var, ver, HF_NONE});
}

void hf_worlds_add_candidates(hf_worlds *w, hf_value_id v)
{
    hf_poly *p = &w->p;
    const hf_history *h = w->g->h;
    hf_poly_choice c = p->choices.at[p->choices.n - 1];

    if (hf_value_is_initial(h, c.key, v))
        add_candidate(p, HF_NONE);
    for (uint32_t i = w->write_first[v]; i < w->write_first[v + 1]; i++) {
        hf_txn_id from = hf_op_txn(h, w->writes[i]);

        if (from != c.reader && w->all[from] &&
            hf_worlds_is_last_write(h, from, w->writes[i]))
            add_candidate(p, from);
    }
}

void hf_worlds_add_unlisted(hf_worlds *w, uint32_t condition)
{
    const hf_graph *g = w->g;
    hf_poly_choice c = w->p.choices.at[w->p.choices.n - 1];
    const hf_pred_condition *x = hf_pred_sets(w->pred, condition);

    for (uint32_t v = g->ver_first[c.key]; v < g->ver_end[c.key]; v++) {
        hf_txn_id from = g->ver_txn[v];

        if (!hf_pred_holds(w->pred, x, v) &&
            (from == HF_NONE || (from != c.reader && w->all[from])))
            add_candidate(&w->p, from);
    }
}

/* Of a key with increments without results: everybody who may have left it. */
static void add_counted(hf_worlds *w, hf_value_id v)
{
    hf_poly *p = &w->p;
    const hf_graph *g = w->g;
    hf_poly_choice c = p->choices.at[p->choices.n - 1];

    if (hf_amount_eq(hf_amount_first(g->h, c.key), hf_amount_of(g->h, v)))
        add_candidate(p, HF_NONE);
    for (uint32_t i = g->ver_first[c.key] + 1; i < g->ver_end[c.key]; i++)
        if (g->ver_txn[i] != c.reader && w->all[g->ver_txn[i]] &&
            hf_counting_leaves(g->h, g->ver_txn[i], c.key, v))
            add_candidate(p, g->ver_txn[i]);
}

static void add_choice(hf_worlds *w, hf_op_id op)
{
    hf_poly *p = &w->p;
    const hf_history *h = w->g->h;
    hf_txn_id t = hf_op_txn(h, op);
    hf_value_id v = hf_worlds_value_read(h, op);
    hf_poly_choice c = {.op = op,
                        .reader = t,
                        .key = h->op_key[op],
                        .first = (uint32_t)p->candidates.n};

    p->choice_of[op] = same_choice(w, t, op);
    if (p->choice_of[op] != HF_NONE)
        return;
    p->choice_of[op] = (uint32_t)p->choices.n;
    hf_vec_push(&p->choices, c);
    if (hf_worlds_is_counted(w, op))
        add_counted(w, v);
    else
        hf_worlds_add_candidates(w, v);
}

/* One of the sources, if the reader happened; and then its writer did. */
static void add_source_clauses(hf_worlds *w, uint32_t index)
{
    hf_poly *p = &w->p;
    hf_poly_choice c = p->choices.at[index];
    hf_lit reader = hf_poly_happened(p, c.reader);
    HF_VEC(hf_lit) lits = {0};
    uint32_t source;

    for (uint32_t i = 0; i < c.n; i++)
        hf_vec_push(&lits, 2 * p->candidates.at[c.first + i].var);
    if (reader != HF_LIT_NONE)
        hf_vec_push(&lits, HF_LIT_NOT(reader));
    source = hf_worlds_add_clause(
        p, (hf_poly_clause){.kind = HF_STEP_SOURCES,
                            .op = c.op,
                            .writer = HF_NONE,
                            .entry = c.entry ? c.key + 1 : 0});
    (void)hf_order_clause(p->order, lits.at, (uint32_t)lits.n, source);
    for (uint32_t i = 0; i < c.n; i++) {
        hf_poly_candidate from = p->candidates.at[c.first + i];
        hf_lit writer = from.writer == HF_NONE
                            ? HF_LIT_NONE
                            : hf_poly_happened(p, from.writer);

        if (writer == HF_LIT_NONE)
            continue;
        lits.n = 0;
        hf_vec_push(&lits, writer);
        hf_vec_push(&lits, HF_LIT_NOT(2 * from.var));
        if (reader != HF_LIT_NONE)
            hf_vec_push(&lits, HF_LIT_NOT(reader));
        source = hf_worlds_add_clause(
            p, (hf_poly_clause){.kind = HF_STEP_HAPPENED,
                                .op = c.op,
                                .writer = from.writer,
                                .entry = c.entry ? c.key + 1 : 0});
        (void)hf_order_clause(p->order, lits.at, (uint32_t)lits.n, source);
    }
    hf_vec_release(&lits);
}

void hf_worlds_add_outcome(hf_worlds *w, hf_txn_id t, hf_poly_clause c)
{
    hf_poly *p = &w->p;
    hf_lit lits[2];

    if (c.writer == HF_NONE || c.writer == t ||
        !hf_poly_is_uncertain(p, c.writer))
        return;
    lits[0] = hf_poly_happened(p, c.writer);
    lits[1] = HF_LIT_NOT(hf_poly_happened(p, t));
    (void)hf_order_clause(p->order, lits, 2, hf_worlds_add_clause(p, c));
}

/* Of an element: nobody else may have appended it, and the list was empty to
 * begin with. */
static bool has_one_writer(const hf_worlds *w, hf_key_id key, hf_value_id e)
{
    const hf_history *h = w->g->h;

    return w->g->value[e].op != HF_NONE &&
           w->write_first[e + 1] - w->write_first[e] == 1 &&
           (!h->key_initial || h->key_initial[key] == HF_NONE ||
            h->value_type[h->key_initial[key]] != HF_LIST);
}

/* Reads of one who need not have happened, from another: one happened only if
 * the other did. */
static void add_outcome_clauses(hf_worlds *w, hf_txn_id t)
{
    const hf_graph *g = w->g;
    const hf_history *h = g->h;

    if (!hf_graph_reads_matter(g, t))
        return;
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t ver = hf_graph_source(g, o);
        hf_value_id v = hf_worlds_value_read(h, o);

        if (ver != HF_NONE)
            hf_worlds_add_outcome(w, t,
                                  (hf_poly_clause){.kind = HF_STEP_HAPPENED,
                                                   .op = o,
                                                   .writer = g->ver_txn[ver]});
        if (v == HF_NONE || h->value_type[v] != HF_LIST)
            continue;
        for (; v != HF_NONE; v = hf_list_parent(h, v)) {
            hf_value_id e = hf_list_last(h, v);

            if (e != HF_NONE && has_one_writer(w, h->op_key[o], e))
                hf_worlds_add_outcome(
                    w, t,
                    (hf_poly_clause){.kind = HF_STEP_HAPPENED,
                                     .op = o,
                                     .writer = hf_op_txn(h, g->value[e].op)});
        }
    }
}

/* The operation that is wrong by itself, or (*ret_with) with what another did;
 * HF_NONE: a proof cannot say it. */
static hf_op_id wrong_operation(const hf_graph *g, hf_anomaly anomaly,
                                const hf_place *place, hf_txn_id *ret_with)
{
    hf_txn_id first = hf_op_txn(g->h, place->ops[0]);
    hf_op_id op = hf_place_read(anomaly, place);

    *ret_with = HF_NONE;
    if (anomaly == HF_RESULT_SET_MISMATCH || anomaly == HF_TWO_VERSIONS)
        return place->ops[0];
    if (anomaly == HF_DIRTY_UPDATE) /* what it reads was aborted, whoever
                                       appended behind it */
        return place->ops[2];
    if (anomaly == HF_INCOMPATIBLE_ORDER || anomaly == HF_PHANTOM)
        op = place->ops[1];
    if (anomaly == HF_LOST_UPDATE && hf_graph_forbids(g, first, anomaly))
        op = place->ops[2];
    if ((anomaly == HF_INCOMPATIBLE_ORDER || anomaly == HF_LOST_UPDATE) &&
        op != HF_NONE && first != hf_op_txn(g->h, op))
        *ret_with = first;
    return op;
}

/* One of those that need not have happened did not. */
static void forbid_place(hf_worlds *w, hf_anomaly anomaly,
                         const hf_place *place)
{
    hf_poly *p = &w->p;
    const hf_history *h = w->g->h;
    hf_txn_id with;
    hf_op_id read = wrong_operation(w->g, anomaly, place, &with);
    hf_poly_clause c = {.kind = HF_STEP_FAULT, .op = read, .writer = with};
    hf_lit_list happened = {0};

    if (read == HF_NONE)
        c.kind = HF_STEP_KIND_COUNT;
    else
        hf_worlds_add_lit(&happened, hf_poly_happened(p, hf_op_txn(h, read)));
    if (with != HF_NONE)
        hf_worlds_add_lit(&happened, hf_poly_happened(p, with));
    for (unsigned i = 0; i < 4 && read == HF_NONE; i++)
        if (place->ops[i] != HF_NONE)
            hf_worlds_add_lit(&happened,
                              hf_poly_happened(p, hf_op_txn(h, place->ops[i])));
    for (size_t i = 0; i < happened.n; i++)
        happened.at[i] = HF_LIT_NOT(happened.at[i]);
    if (happened.n > 0) /* else reported already */
        (void)hf_order_clause(p->order, happened.at, (uint32_t)happened.n,
                              hf_worlds_add_clause(p, c));
    hf_vec_release(&happened);
}

static void forbid_places(hf_worlds *w)
{
    const hf_graph *g = w->g;

    for (unsigned a = 0; a < HF_G0 && w->n_uncertain; a++) {
        const hf_places *places = &g->places[a];

        for (size_t i = 0; i < places->kept.n && a != HF_DUPLICATE_WRITE; i++)
            if (hf_place_is_forbidden(g, (hf_anomaly)a, &places->kept.at[i]))
                forbid_place(w, (hf_anomaly)a, &places->kept.at[i]);
    }
}

/* By transaction: open reads are in the order of the history. */
static void list_choices(hf_poly *p)
{
    uint32_t n = p->g->h->n_txns, i = 0;

    p->choice_first = HF_NEW_ZEROED(uint32_t, (size_t)n + 2);
    for (hf_txn_id t = 0; t < n; t++) {
        p->choice_first[t] = i;
        while (i < p->choices.n && p->choices.at[i].reader == t)
            i++;
    }
    p->choice_first[n] = i;
    if (i != p->choices.n)
        HF_BUG("open reads are not in the order of the history");
}

void hf_worlds_make_choices(hf_worlds *w)
{
    hf_poly *p = &w->p;
    const hf_graph *g = w->g;
    size_t ops = (size_t)g->h->n_ops + 1, txns = (size_t)g->h->n_txns + 1;
    size_t open = 0;

    p->choice_of = HF_NEW_ARRAY(uint32_t, ops);
    memset(p->choice_of, 0xff, ops * sizeof(uint32_t));
    p->happened_of = HF_NEW_ARRAY(uint32_t, txns);
    memset(p->happened_of, 0xff, txns * sizeof(uint32_t));
    hf_map_init(&p->entry_of);
    for (hf_txn_id t = 0; t < g->h->n_txns && g->reads_matter; t++) {
        for (; open < g->open.n && g->open.at[open] < g->h->op_first[t + 1];
             open++)
            add_choice(w, g->open.at[open]);
        if (w->pred && g->happened[t])
            hf_worlds_choose_entries(w, t);
    }
    list_choices(p);
    hf_poly_list_lazy(p);
    for (uint32_t i = 0; i < p->choices.n; i++)
        add_source_clauses(w, i);
    for (hf_txn_id t = 0; w->n_uncertain && t < g->h->n_txns; t++)
        if (w->uncertain[t]) {
            add_outcome_clauses(w, t);
            if (w->pred)
                hf_worlds_bind_entries(w, t);
        }
    forbid_places(w);
}
