/* proof_steps.c: the steps of a proof that rest on the history.
 *
 * CYCLE.  If every edge is there the world is not good: the cycle is of a
 * kind that the level forbids (cycle_shape.c).  Each edge is looked at as in
 * cycle.c, but what is not certain becomes a literal.  That those suffice: ww
 * needs both ends to have happened, and the order.  wr needs them, and the
 * source.  rw needs the ends and the source, and that the version read is
 * before the one written; the writer of the version read has happened in
 * every good world in which the reader has, since no level from
 * read-committed up accepts an aborted read, and at read-uncommitted no cycle
 * has such an edge.  It installed that version, since only last writes of
 * transactions that did not abort are possible sources.
 *
 * Edges of conditions.  The operation certainly looked at a version that it
 * did not return.  If another one satisfies the condition and is later, one of
 * those in between, or that one, changes the matches, and is not behind it: an
 * anti-dependency, then ww.  If it is earlier, one after it, up to the version
 * looked at, changes them: ww, then a dependency.  So the order of the two
 * versions is all that is needed.
 *
 * A dependency on a version a that does not satisfy it, or where visibility
 * counts, is there if a changes the matches: the version just before it is of
 * the other kind.  For that the step names orders of versions, behind the edges
 * of the cycle: b is before a, b is of the other kind, and everybody else of
 * a's kind is before b or behind a, or did not happen.  Else the change has to
 * be certain.
 *
 * SOURCES.  In a good world a read has one of its possible sources (sources.h)
 * or its transaction did not happen.
 *
 * HAPPENED.  For the same reason the writer has; of a list whoever alone
 * appended one of its elements.
 *
 * LIST.  See proof_lists.c.  PROMISE.  See proof_promises.c.  FAULT.  See
 * proof_faults.c.
 *
 * Cost: the operations of the witness, each with a search in the keys that a
 * transaction writes, and for SOURCES the writers of the value.
 */
#include "verify/counters.h"
#include "verify/proof.h"

void hf_proof_assume(hf_proof *p, uint32_t literal)
{
    if (literal != HF_NONE)
        hf_vec_push(&p->literals, literal ^ 1);
}

static bool check_ww(hf_proof *p, const hf_edge *e, uint32_t *ret_before)
{
    hf_verifier *v = p->v;
    uint32_t a = hf_facts_slot(&v->facts, e->from, e->key);
    uint32_t b = hf_facts_slot(&v->facts, e->to, e->key);

    if (!hf_writes_key(v->h, e->from_op, e->key) ||
        !hf_writes_key(v->h, e->to_op, e->key))
        return hf_refuse_edge(v, e, "its operations do not both write it");
    *ret_before = hf_fact_before(p, a, b);
    if (hf_elements_show(p->c, e))
        (void)hf_fact_before_known(p, a, b);
    return true;
}

/* What a predicate operation saw of a key. */
typedef struct hf_look {
    hf_txn_id t;
    hf_op_id op;
    hf_key_id key;
    uint32_t chosen; /* what it is taken to be */
    hf_look_kind kind;
} hf_look;

/* Which version that is: certainly, or by what the step takes for granted:
 * *ret_from. */
static bool look_at(hf_proof *p, const hf_look *l, hf_txn_id *ret_source,
                    uint32_t *ret_from)
{
    hf_verifier *v = p->v;
    hf_choice choice;

    *ret_from = HF_NONE;
    if (hf_certain_look(p->c, l->t, l->op, l->key, l->kind, ret_source))
        return l->chosen == HF_CHOSEN_ONLY ||
               l->chosen == (*ret_source == HF_NONE ? HF_CHOSEN_INITIAL
                                                    : HF_CHOSEN(*ret_source));
    if (l->chosen == HF_CHOSEN_ONLY || !hf_reads_matter_to(v, l->t) ||
        (hf_is_unlisted(v, l->t, l->op, l->key)
             ? HF_LOOK_VIEW
             : hf_look_at_key(v, l->op, l->key)) != l->kind ||
        !hf_choice_of_entry(v, p->sources, l->t, l->op, l->key, &choice))
        return false;
    *ret_source = l->chosen == HF_CHOSEN_INITIAL ? HF_NONE : l->chosen - 1;
    if (!hf_choice_has_entry(l->t, &choice, *ret_source))
        return false;
    *ret_from =
        hf_fact_from_entry(p, l->t, l->op, l->key, &choice, *ret_source);
    return true;
}

bool hf_proof_check_read(hf_proof *p, const hf_edge *e, hf_txn_id t,
                         hf_op_id op, uint32_t chosen, hf_txn_id *ret_source,
                         uint32_t *ret_from)
{
    hf_verifier *v = p->v;
    hf_choice choice;

    if (!hf_reads_matter_to(v, t))
        return hf_refuse_edge(v, e, "reads prove nothing at this level");
    *ret_from = HF_NONE;
    if (hf_op_has_predicate(hf_op_kind_of(v->h, op))) {
        hf_look l = {t, op, e->key, chosen, HF_LOOK_ITEM};

        return look_at(p, &l, ret_source, ret_from) ||
               hf_refuse_edge(v, e,
                              "it is not certain which version the "
                              "condition looked at");
    }
    if (v->h->op_key[op] != e->key ||
        !hf_choice_of(v, p->sources, t, op, &choice))
        return hf_refuse_edge(v, e, "it has no read of another's version");
    if (chosen == HF_CHOSEN_ONLY)
        return hf_choice_only(t, &choice, ret_source) ||
               hf_refuse_edge(v, e, "its read may come from several writes");
    *ret_source = chosen == HF_CHOSEN_INITIAL ? HF_NONE : chosen - 1;
    if (!hf_choice_has(v, t, op, &choice, *ret_source))
        return hf_refuse_edge(v, e, "its read does not come from there");
    if (choice.n > 1)
        *ret_from = hf_fact_from(p, t, op, &choice, *ret_source);
    return true;
}

static bool check_wr(hf_proof *p, const hf_edge *e, uint32_t chosen,
                     uint32_t *ret_from)
{
    hf_verifier *v = p->v;
    hf_txn_id source;

    if (!hf_writes_key(v->h, e->from_op, e->key))
        return hf_refuse_edge(v, e, "its first operation does not write it");
    if (chosen == HF_CHOSEN_ONLY &&
        !hf_op_has_predicate(hf_op_kind_of(v->h, e->to_op)))
        chosen = HF_CHOSEN(e->from); /* what the edge says */
    if (!hf_proof_check_read(p, e, e->to, e->to_op, chosen, &source, ret_from))
        return false;
    if (source != e->from)
        return hf_refuse_edge(v, e, "its read is taken from another");
    if (!hf_is_counter(&v->facts, e->key) &&
        hf_op_written(v->h, e->from_op) != hf_version_read(v, e->to_op, e->key))
        return hf_refuse_edge(v, e, "what is written is not what is read");
    return true;
}

static bool check_rw(hf_proof *p, const hf_edge *e, uint32_t chosen,
                     uint32_t *ret_before, uint32_t *ret_from)
{
    hf_verifier *v = p->v;
    uint32_t a, b = hf_facts_slot(&v->facts, e->to, e->key);
    hf_txn_id source;

    if (!hf_writes_key(v->h, e->to_op, e->key))
        return hf_refuse_edge(v, e, "its second operation does not write it");
    if (!hf_proof_check_read(p, e, e->from, e->from_op, chosen, &source,
                             ret_from))
        return false;
    if (source == HF_NONE)
        return true; /* the initial version is before all others */
    if (source == e->to)
        return hf_refuse_edge(v, e, "that is the version read");
    a = hf_facts_slot(&v->facts, source, e->key);
    *ret_before = hf_fact_before(p, a, b);
    if (!hf_is_missing_in_list(v, e->from_op, e->key, e->to))
        return true;
    if (*ret_from == HF_NONE && p->c->happened[e->from]) {
        (void)hf_fact_before_known(p, a, b);
    } else { /* if it happened, and read that */
        *ret_before = HF_NONE;
        p->is_short[p->at] = true;
    }
    return true;
}

bool hf_proof_has_order(const hf_proof *p, hf_txn_id a, hf_txn_id b,
                        hf_key_id key)
{
    for (uint32_t i = 0; i < p->n_orders; i++)
        if (p->orders[i].from == a && p->orders[i].to == b &&
            p->orders[i].key == key)
            return true;
    return false;
}

/* The version that the step puts just before that of t; HF_NONE: the initial
 * one. */
static hf_txn_id put_before(const hf_proof *p, hf_txn_id t, hf_key_id key,
                            const hf_condition *condition)
{
    hf_match mine = hf_version_match(p->c, t, key, condition);

    for (uint32_t i = 0; i < p->n_orders; i++)
        if (p->orders[i].to == t && p->orders[i].key == key &&
            hf_version_match(p->c, p->orders[i].from, key, condition) != mine)
            return p->orders[i].from;
    return HF_NONE;
}

/* By the orders that the step names: t's version changes the matches.  The
 * facts that this takes for granted besides become literals. */
static bool changes_by_orders(hf_proof *p, hf_txn_id t, hf_key_id key,
                              const hf_condition *condition)
{
    hf_verifier *v = p->v;
    const hf_key_index *all = hf_writers_of_keys(v);
    hf_txn_id before = put_before(p, t, key, condition);
    hf_match mine = hf_version_match(p->c, t, key, condition);
    hf_match other = hf_version_match(p->c, before, key, condition);

    if (!all || mine == HF_MATCH_UNKNOWN || other == HF_MATCH_UNKNOWN ||
        mine == other)
        return false;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t i = all->first[key]; i < all->first[key + 1]; i++) {
            hf_txn_id u = all->at[i];

            if (u == t || u == before || v->h->txn_outcome[u] == HF_ABORTED ||
                hf_version_match(p->c, u, key, condition) == other ||
                (before != HF_NONE && hf_proof_has_order(p, u, before, key)) ||
                hf_proof_has_order(p, t, u, key))
                continue;
            if (v->h->txn_outcome[u] == HF_COMMITTED)
                return false;
            if (pass == 1)
                hf_vec_push(&p->literals, hf_fact_happened(p, u));
        }
    if (before != HF_NONE)
        hf_proof_assume(p, hf_fact_happened(p, before));
    return true;
}

/* An edge of a condition that is there in every world. */
static bool check_certain(hf_proof *p, const hf_cycle *cycle, const hf_edge *e,
                          uint32_t *ret_from)
{
    *ret_from = HF_NONE;
    return hf_check_predicate_edge(p->c, cycle, e);
}

/* A dependency on a version that changes the matches, up to the one looked
 * at. */
static bool check_change(hf_proof *p, const hf_cycle *cycle, const hf_edge *e,
                         uint32_t chosen, uint32_t *ret_before,
                         uint32_t *ret_from)
{
    hf_verifier *v = p->v;
    hf_look l = {e->to, e->to_op, e->key, chosen, HF_LOOK_VIEW};
    const hf_condition *condition;
    hf_txn_id source;

    if (!hf_writes_key(v->h, e->from_op, e->key) ||
        !hf_op_has_predicate(hf_op_kind_of(v->h, e->to_op)) ||
        !look_at(p, &l, &source, ret_from) || source == HF_NONE)
        return check_certain(p, cycle, e, ret_from);
    condition = hf_predicate_condition(v, e->to_op);
    if (!changes_by_orders(p, e->from, e->key, condition))
        return check_certain(p, cycle, e, ret_from);
    if (source != e->from)
        *ret_before =
            hf_fact_before(p, hf_facts_slot(&v->facts, e->from, e->key),
                           hf_facts_slot(&v->facts, source, e->key));
    return true;
}

/* A condition and a version that satisfies it, and was not returned: the order
 * of that and the one looked at is a fact. */
static bool check_condition(hf_proof *p, const hf_cycle *cycle,
                            const hf_edge *e, uint32_t chosen,
                            uint32_t *ret_before, uint32_t *ret_from)
{
    hf_verifier *v = p->v;
    bool anti = e->kind == HF_EDGE_PRW;
    hf_op_id look = anti ? e->from_op : e->to_op;
    hf_op_id write = anti ? e->to_op : e->from_op;
    hf_txn_id reader = anti ? e->from : e->to;
    hf_txn_id writer = anti ? e->to : e->from, source;
    hf_look l = {reader, look, e->key, chosen, HF_LOOK_VIEW};
    uint32_t seen, other;

    if (!anti && hf_writes_key(v->h, write, e->key) &&
        hf_op_has_predicate(hf_op_kind_of(v->h, look)) &&
        (hf_needs_strict_reads(v, cycle) ||
         hf_version_match(p->c, writer, e->key,
                          hf_predicate_condition(v, look)) != HF_MATCH_YES))
        return check_change(p, cycle, e, chosen, ret_before, ret_from);
    if (!hf_writes_key(v->h, write, e->key) ||
        !hf_op_has_predicate(hf_op_kind_of(v->h, look)) ||
        !look_at(p, &l, &source, ret_from) || source == writer ||
        (source == HF_NONE && !anti) ||
        (!anti && hf_needs_strict_reads(v, cycle)) ||
        hf_version_match(p->c, writer, e->key,
                         hf_predicate_condition(v, look)) != HF_MATCH_YES)
        return check_certain(p, cycle, e, ret_from);
    if (source == HF_NONE)
        return true; /* the initial version is before all others */
    seen = hf_facts_slot(&v->facts, source, e->key);
    other = hf_facts_slot(&v->facts, writer, e->key);
    *ret_before =
        anti ? hf_fact_before(p, seen, other) : hf_fact_before(p, other, seen);
    return true;
}

static bool check_edge(hf_proof *p, const hf_cycle *cycle, uint32_t i)
{
    const hf_edge *e = &cycle->edges[i];
    hf_verifier *v = p->v;
    size_t at = (size_t)(e - v->w->edges);
    uint32_t chosen = v->w->chosen ? v->w->chosen[at] : HF_CHOSEN_ONLY;
    uint32_t before = HF_NONE, from = HF_NONE;
    bool fine = true;

    if (v->h->txn_outcome[e->from] == HF_ABORTED)
        return hf_refuse_edge(v, e, "its first transaction was aborted");
    hf_proof_assume(p, hf_fact_happened(p, e->from));
    if (e->kind == HF_EDGE_SO || e->kind == HF_EDGE_RT)
        return hf_check_order_edge(v, e);
    if (!hf_edge_ops_are_theirs(v, e))
        return false;
    if (e->kind == HF_EDGE_WW)
        fine = check_ww(p, e, &before);
    else if (e->kind == HF_EDGE_WR)
        fine = check_wr(p, e, chosen, &from);
    else if (e->kind == HF_EDGE_RW)
        fine = check_rw(p, e, chosen, &before, &from);
    else
        fine = check_condition(p, cycle, e, chosen, &before, &from);
    hf_proof_assume(p, before);
    hf_proof_assume(p, from);
    p->edge_before[at] = before;
    p->edge_from[at] = from;
    return fine;
}

bool hf_proof_order(hf_proof *p, const hf_edge *e)
{
    hf_verifier *v = p->v;
    size_t at = (size_t)(e - v->w->edges);
    uint32_t before = HF_NONE;

    if (e->kind != HF_EDGE_WW || e->from == e->to ||
        v->h->txn_outcome[e->from] == HF_ABORTED ||
        v->h->txn_outcome[e->to] == HF_ABORTED)
        return hf_refuse_edge(v, e, "it is no order of two versions");
    if (!hf_edge_ops_are_theirs(v, e) || !check_ww(p, e, &before))
        return false;
    hf_proof_assume(p, before);
    p->edge_before[at] = before;
    return true;
}

static bool read_cycle(hf_proof *p, const hf_step *step)
{
    hf_verifier *v = p->v;
    const hf_edge *edges = v->w->edges + step->first;
    hf_cycle cycle = {edges, hf_step_cycle(v->w, step)};
    hf_cycle_shape shape;

    p->orders = edges + cycle.n;
    p->n_orders = step->n - cycle.n;
    for (uint32_t i = 0; i < p->n_orders; i++)
        if (!hf_proof_order(p, &p->orders[i]))
            return false;
    if (!hf_cycle_closes(v, &cycle))
        return false;
    shape = hf_cycle_shape_of(&cycle);
    if (!hf_level_forbids_cycle(v, &cycle, &shape))
        return hf_refuse(v, "%s%s a cycle of these edges",
                         v->w->mixed ? "their levels" : v->info->name,
                         v->w->mixed ? " allow" : " allows");
    for (uint32_t i = 0; i < cycle.n; i++)
        if (!check_edge(p, &cycle, i))
            return false;
    return true;
}

/* The transaction of a read whose possible sources are known. */
static bool find_choice(hf_proof *p, hf_op_id op, hf_txn_id *ret_t,
                        hf_choice *ret)
{
    hf_verifier *v = p->v;

    *ret_t = hf_op_txn(v->h, op);
    if (!hf_reads_matter_to(v, *ret_t))
        return hf_refuse(v, "reads prove nothing at this level");
    if (v->h->txn_outcome[*ret_t] == HF_ABORTED)
        return hf_refuse(v, "the transaction of operation %u was aborted",
                         (unsigned)op);
    return (v->h->op_key[op] != HF_NONE &&
            hf_choice_of(v, p->sources, *ret_t, op, ret)) ||
           hf_refuse(v, "operation %u is no read of another's version",
                     (unsigned)op);
}

/* The same of an entry of a version set. */
static bool find_entry(hf_proof *p, const hf_step *step, hf_txn_id *ret_t,
                       hf_choice *ret)
{
    hf_verifier *v = p->v;

    *ret_t = hf_op_txn(v->h, step->op);
    return (hf_reads_matter_to(v, *ret_t) &&
            v->h->txn_outcome[*ret_t] != HF_ABORTED &&
            hf_choice_of_entry(v, p->sources, *ret_t, step->op, step->entry - 1,
                               ret)) ||
           hf_refuse(v, "operation %u has no such version set",
                     (unsigned)step->op);
}

static bool read_sources_of_entry(hf_proof *p, const hf_step *step)
{
    hf_key_id key = step->entry - 1;
    hf_choice choice;
    hf_txn_id t;

    if (!find_entry(p, step, &t, &choice))
        return false;
    hf_proof_assume(p, hf_fact_happened(p, t));
    if (choice.initial)
        hf_vec_push(&p->literals,
                    hf_fact_from_entry(p, t, step->op, key, &choice, HF_NONE));
    for (uint32_t i = 0; i < choice.n_at; i++)
        if (choice.at[i] != t)
            hf_vec_push(
                &p->literals,
                hf_fact_from_entry(p, t, step->op, key, &choice, choice.at[i]));
    return true;
}

static bool read_sources(hf_proof *p, const hf_step *step)
{
    hf_choice choice;
    hf_txn_id t;

    if (step->entry)
        return read_sources_of_entry(p, step);
    if (!find_choice(p, step->op, &t, &choice))
        return false;
    hf_proof_assume(p, hf_fact_happened(p, t));
    if (choice.initial)
        hf_vec_push(&p->literals,
                    hf_fact_from(p, t, step->op, &choice, HF_NONE));
    for (uint32_t i = 0; i < choice.n_at; i++)
        if (choice.at[i] != t)
            hf_vec_push(&p->literals,
                        hf_fact_from(p, t, step->op, &choice, choice.at[i]));
    return true;
}

/* Nobody else who may have happened appended the element.  That others did who
 * aborted is rare, and worth a look at everybody. */
static bool is_appended_by(const hf_verifier *v, hf_value_id e, hf_txn_id t)
{
    const hf_history *h = v->h;
    bool found = false;

    if (v->facts.writer[e] != HF_SEVERAL)
        return v->facts.writer[e] == t;
    for (hf_txn_id u = 0; u < h->n_txns; u++)
        for (hf_op_id op = h->op_first[u];
             op < h->op_first[u + 1] && h->txn_outcome[u] != HF_ABORTED; op++)
            if (hf_op_writes(h, op) && hf_op_written(h, op) == e) {
                if (u != t)
                    return false;
                found = true;
            }
    return found;
}

/* A list with an element that nobody else appended. */
static bool has_element_of(hf_proof *p, hf_op_id op, hf_txn_id writer)
{
    hf_verifier *v = p->v;
    hf_key_id key = v->h->op_key[op];
    hf_item_read read;

    if (writer == HF_NONE || key == HF_NONE ||
        !(v->facts.key_use[key] & HF_KEY_LIST) ||
        (v->h->key_initial && v->h->key_initial[key] != HF_NONE &&
         v->h->value_type[v->h->key_initial[key]] == HF_LIST) ||
        !hf_read_of_key(v, op, key, &read) ||
        v->h->value_type[read.value] != HF_LIST)
        return false;
    for (hf_value_id x = read.value; x != HF_NONE; x = hf_list_parent(v->h, x))
        if (is_appended_by(v, hf_list_last(v->h, x), writer))
            return true;
    return false;
}

/* Its element is in the list that t read. */
static bool read_element(hf_proof *p, const hf_step *step)
{
    hf_verifier *v = p->v;
    hf_txn_id t = hf_op_txn(v->h, step->op);
    uint32_t literal = hf_fact_happened(p, step->writer);

    if (!hf_reads_matter_to(v, t) || v->h->txn_outcome[t] == HF_ABORTED ||
        t == step->writer || literal == HF_NONE)
        return hf_refuse(v, "operation %u says nothing about it",
                         (unsigned)step->op);
    hf_proof_assume(p, hf_fact_happened(p, t));
    hf_vec_push(&p->literals, literal);
    return true;
}

static bool read_happened(hf_proof *p, const hf_step *step)
{
    hf_choice choice;
    uint32_t literal;
    hf_txn_id t;

    if (!step->entry && has_element_of(p, step->op, step->writer))
        return read_element(p, step);
    if (!(step->entry ? find_entry(p, step, &t, &choice)
                      : find_choice(p, step->op, &t, &choice)))
        return false;
    if (step->writer == HF_NONE ||
        !(step->entry
              ? hf_choice_has_entry(t, &choice, step->writer)
              : hf_choice_has(p->v, t, step->op, &choice, step->writer)))
        return hf_refuse(p->v, "operation %u does not read from %s",
                         (unsigned)step->op,
                         hf_label_txn(p->v->h, step->writer).text);
    literal = hf_fact_happened(p, step->writer);
    if (literal == HF_NONE)
        return hf_refuse(p->v, "%s was committed",
                         hf_label_txn(p->v->h, step->writer).text);
    hf_proof_assume(p, hf_fact_happened(p, t));
    hf_proof_assume(
        p, step->entry ? hf_fact_from_entry(p, t, step->op, step->entry - 1,
                                            &choice, step->writer)
                       : hf_fact_from(p, t, step->op, &choice, step->writer));
    hf_vec_push(&p->literals, literal);
    return true;
}

bool hf_proof_read_steps(hf_proof *p)
{
    const hf_witness *w = p->v->w;

    for (uint32_t i = 0; i < w->n_steps; i++) {
        const hf_step *step = &w->steps[i];
        bool fine = true;

        p->at = i;
        p->first[i] = p->literals.n;
        p->first_spare[i] = p->spare.n;
        if (step->kind == HF_STEP_CYCLE)
            fine = read_cycle(p, step);
        else if (step->kind == HF_STEP_SOURCES)
            fine = read_sources(p, step);
        else if (step->kind == HF_STEP_HAPPENED)
            fine = read_happened(p, step);
        else if (step->kind == HF_STEP_LIST)
            fine = hf_proof_read_list(p, step);
        else if (step->kind == HF_STEP_PROMISE)
            fine = hf_proof_read_promise(p, step);
        else if (step->kind == HF_STEP_FAULT)
            fine = hf_proof_read_fault(p, step);
        if (!fine)
            return hf_refuse_in_step(p->v, i);
        if (hf_out_of_budget(p->v))
            return false;
    }
    p->first[w->n_steps] = p->literals.n;
    p->first_spare[w->n_steps] = p->spare.n;
    return true;
}
