/* cycle.c: a cycle of dependencies that proves a history invalid.
 *
 * Three questions, in this order.  Do the edges chain, close and visit no
 * transaction twice?  Is each edge there in every world, re-derived from the
 * two operations it names (certain.h)?  Does the level forbid a cycle of
 * these edges, and is the claimed name the name of such a cycle?
 *
 * An edge means "somewhere before", not "directly before": a ww edge is a
 * path of ww edges in the strict sense, an rw edge is an rw edge followed by
 * ww edges, or, if the reader itself wrote the next version, a path of ww
 * edges.  Putting those paths in never adds anti-dependencies and never makes
 * two of them neighbours, so a cycle that is forbidden as claimed is
 * forbidden as it is.
 *
 * Cost: O(operations + values) once in a session, then the operations of the
 * transactions in the cycle; for a predicate edge also the writers of its key,
 * squared at worst.
 */
#include "verify/cycle.h"

/* ---- edges --------------------------------------------------------------- */

bool hf_refuse_edge(hf_verifier *v, const hf_edge *e, const char *why)
{
    return hf_refuse(
        v, "edge %s %s -> %s on key %s: %s", hf_edge_kind_name(e->kind),
        hf_label_txn(v->h, e->from).text, hf_label_txn(v->h, e->to).text,
        hf_label_key(v->h, e->key).text, why);
}

bool hf_writes_key(const hf_history *h, hf_op_id op, hf_key_id key)
{
    return hf_op_writes(h, op) && h->op_key[op] == key;
}

/* The value that a read of key returned, or the last element of the list. */
hf_value_id hf_version_read(hf_verifier *v, hf_op_id op, hf_key_id key)
{
    hf_item_read read;

    if (!hf_read_of_key(v, op, key, &read))
        return HF_NONE;
    if ((v->facts.key_use[key] & HF_KEY_LIST) &&
        v->h->value_type[read.value] == HF_LIST)
        return hf_list_last(v->h, read.value);
    return read.value;
}

/* A list has the element of the one before that of the other.  All elements of
 * a transaction stand next to each other, so any two will do. */
bool hf_elements_show(const hf_certain *c, const hf_edge *e)
{
    hf_value_id first = hf_op_written(c->v->h, e->from_op);
    hf_value_id second = hf_op_written(c->v->h, e->to_op);

    return first != HF_NONE && second != HF_NONE &&
           c->v->facts.writer[first] == e->from &&
           c->v->facts.writer[second] == e->to &&
           hf_list_has_before(c, e->key, first, second);
}

static bool check_ww(const hf_certain *c, const hf_edge *e)
{
    if (!hf_writes_key(c->v->h, e->from_op, e->key) ||
        !hf_writes_key(c->v->h, e->to_op, e->key))
        return hf_refuse_edge(c->v, e, "its operations do not both write it");
    if (!hf_certainly_before(c, e->from, e->to, e->key) &&
        !hf_elements_show(c, e))
        return hf_refuse_edge(c->v, e, "this version order is not certain");
    return true;
}

static bool check_wr(const hf_certain *c, const hf_edge *e)
{
    hf_txn_id source;

    if (!hf_writes_key(c->v->h, e->from_op, e->key))
        return hf_refuse_edge(c->v, e, "its first operation does not write it");
    if (!hf_certain_source(c, e->to, e->to_op, e->key, &source) ||
        source != e->from)
        return hf_refuse_edge(c->v, e,
                              "its second operation does not certainly "
                              "read that version");
    if (hf_op_written(c->v->h, e->from_op) !=
        hf_version_read(c->v, e->to_op, e->key))
        return hf_refuse_edge(c->v, e, "what is written is not what is read");
    return true;
}

/* None of t's elements is in the list that op read. */
bool hf_is_missing_in_list(hf_verifier *v, hf_op_id op, hf_key_id key,
                           hf_txn_id t)
{
    hf_item_read read;

    if (!(v->facts.key_use[key] & HF_KEY_LIST) ||
        !hf_read_of_key(v, op, key, &read) ||
        v->h->value_type[read.value] != HF_LIST)
        return false;
    for (hf_value_id x = read.value; x != HF_NONE;
         x = hf_list_parent(v->h, x)) {
        hf_txn_id writer = v->facts.writer[hf_list_last(v->h, x)];

        if (writer == t || writer == HF_SEVERAL)
            return false;
    }
    return true;
}

static bool check_rw(const hf_certain *c, const hf_edge *e)
{
    hf_txn_id source;

    if (!hf_writes_key(c->v->h, e->to_op, e->key))
        return hf_refuse_edge(c->v, e,
                              "its second operation does not write it");
    if (!hf_certain_source(c, e->from, e->from_op, e->key, &source))
        return hf_refuse_edge(c->v, e,
                              "it is not certain which version its "
                              "first operation reads");
    if (!hf_certainly_before(c, source, e->to, e->key) &&
        !hf_is_missing_in_list(c->v, e->from_op, e->key, e->to))
        return hf_refuse_edge(c->v, e,
                              "the version read is not certainly "
                              "before the one written");
    return true;
}

bool hf_needs_strict_reads(const hf_verifier *v, const hf_cycle *cycle)
{
    for (uint32_t i = 0; i < cycle->n; i++) {
        hf_level_shape shape = hf_level_of(v, cycle->edges[i].from)->shape;

        if (hf_edge_is_anti(cycle->edges[i].kind) &&
            (shape == HF_SHAPE_AXIOM || shape == HF_SHAPE_OTV))
            return true;
    }
    return false;
}

/* from installed a version up to the one that to's condition looked at and
 * did not return, and it changes the matches.  If it satisfies the condition
 * some version after it, up to the one looked at, does not, and changes. */
static bool check_pwr(const hf_certain *c, const hf_cycle *cycle,
                      const hf_edge *e)
{
    const hf_condition *condition;
    hf_txn_id source;

    if (!hf_writes_key(c->v->h, e->from_op, e->key) ||
        !hf_op_has_predicate(hf_op_kind_of(c->v->h, e->to_op)))
        return hf_refuse_edge(c->v, e, "expected a write and a condition");
    if (!hf_certain_look(c, e->to, e->to_op, e->key, HF_LOOK_VIEW, &source) ||
        source == HF_NONE ||
        (source != e->from && !hf_certainly_before(c, e->from, source, e->key)))
        return hf_refuse_edge(c->v, e,
                              "the condition did not certainly look at "
                              "that version or a later one");
    condition = hf_predicate_condition(c->v, e->to_op);
    if (!hf_needs_strict_reads(c->v, cycle) &&
        hf_version_match(c, e->from, e->key, condition) == HF_MATCH_YES)
        return true;
    return hf_certainly_changes(c, e->from, e->key, condition) ||
           hf_refuse_edge(c->v, e, "it does not certainly change the matches");
}

/* from's condition looked at a version and did not return it, to installed a
 * later one, and a version after the one looked at, up to to's, changes. */
static bool check_prw(const hf_certain *c, const hf_edge *e)
{
    const hf_condition *condition;
    hf_txn_id source;

    if (!hf_writes_key(c->v->h, e->to_op, e->key) ||
        !hf_op_has_predicate(hf_op_kind_of(c->v->h, e->from_op)))
        return hf_refuse_edge(c->v, e, "expected a condition and a write");
    if (!hf_certain_look(c, e->from, e->from_op, e->key, HF_LOOK_VIEW,
                         &source) ||
        !hf_certainly_before(c, source, e->to, e->key))
        return hf_refuse_edge(c->v, e,
                              "the condition did not certainly look at "
                              "an earlier version");
    condition = hf_predicate_condition(c->v, e->from_op);
    return hf_version_match(c, e->to, e->key, condition) == HF_MATCH_YES ||
           hf_certainly_changes(c, e->to, e->key, condition) ||
           hf_refuse_edge(c->v, e, "the matches do not certainly change");
}

bool hf_check_order_edge(hf_verifier *v, const hf_edge *e)
{
    bool session = e->kind == HF_EDGE_SO;

    if (session ? hf_session_before(v->h, e->from, e->to)
                : hf_time_before(v->h, e->from, e->to))
        return true;
    return hf_refuse(v, "%s is not before %s in %s",
                     hf_label_txn(v->h, e->from).text,
                     hf_label_txn(v->h, e->to).text,
                     session ? "session order" : "real time");
}

bool hf_check_predicate_edge(const hf_certain *c, const hf_cycle *cycle,
                             const hf_edge *e)
{
    return e->kind == HF_EDGE_PWR ? check_pwr(c, cycle, e) : check_prw(c, e);
}

bool hf_edge_ops_are_theirs(hf_verifier *v, const hf_edge *e)
{
    return (e->key < v->h->n_keys && e->from_op < v->h->n_ops &&
            e->to_op < v->h->n_ops && hf_op_is_of(v->h, e->from_op, e->from) &&
            hf_op_is_of(v->h, e->to_op, e->to)) ||
           hf_refuse_edge(v, e, "its operations are not theirs");
}

static bool check_edge(const hf_certain *c, const hf_cycle *cycle,
                       const hf_edge *e)
{
    hf_verifier *v = c->v;

    if (!c->happened[e->from] || !c->happened[e->to])
        return hf_refuse_edge(v, e, "one of the two did not certainly happen");
    if (e->kind == HF_EDGE_SO || e->kind == HF_EDGE_RT)
        return hf_check_order_edge(v, e);
    if (!hf_edge_ops_are_theirs(v, e))
        return false;
    switch (e->kind) {
    case HF_EDGE_WW:
        return check_ww(c, e);
    case HF_EDGE_WR:
        return check_wr(c, e);
    case HF_EDGE_RW:
        return check_rw(c, e);
    case HF_EDGE_PWR:
    case HF_EDGE_PRW:
        return hf_check_predicate_edge(c, cycle, e);
    default:
        return hf_refuse_edge(v, e, "its kind is not known");
    }
}

bool hf_cycle_closes(hf_verifier *v, const hf_cycle *cycle)
{
    uint32_t n = cycle->n;
    const hf_edge *e = cycle->edges;
    hf_notes *met = hf_notes_begin(v, HF_NOTES_TXNS);

    if (n < 2)
        return hf_refuse(v, "a cycle has at least two edges");
    for (uint32_t i = 0; i < n; i++) {
        if (e[i].from == e[i].to || e[i].to != e[(i + 1) % n].from)
            return hf_refuse(v, "edge %u does not lead to the next",
                             (unsigned)i);
        if (hf_note_of(met, e[i].from))
            return hf_refuse(v, "the cycle visits %s twice",
                             hf_label_txn(v->h, e[i].from).text);
        hf_note(met, e[i].from, 1);
    }
    return true;
}

/* ---- names ------------------------------------------------------------ */

/* The row of the class, without its session and real-time forms. */
static hf_anomaly class_of(const hf_cycle_shape *s)
{
    bool predicate = s->n[HF_EDGE_PRW] > 0;

    if (s->anti == 0)
        return s->n[HF_EDGE_WR] + s->n[HF_EDGE_PWR] > 0 ? HF_G1C : HF_G0;
    if (s->anti == 1)
        return predicate ? HF_G_SINGLE : HF_G_SINGLE_ITEM;
    if (!s->adjacent)
        return predicate ? HF_G_NONADJACENT : HF_G_NONADJACENT_ITEM;
    return predicate ? HF_G2 : HF_G2_ITEM;
}

/* G-single and G-nonadjacent may be said of their item forms as well. */
static bool check_name(hf_verifier *v, const hf_cycle_shape *s)
{
    hf_anomaly named = v->w->anomaly, row = class_of(s), general = row;
    unsigned form = s->n[HF_EDGE_RT] ? 2 : s->n[HF_EDGE_SO] ? 1 : 0;

    if (row == HF_G_SINGLE_ITEM)
        general = HF_G_SINGLE;
    if (row == HF_G_NONADJACENT_ITEM)
        general = HF_G_NONADJACENT;
    if (named == (hf_anomaly)(row + form) ||
        named == (hf_anomaly)(general + form))
        return true;
    if (named == HF_CYCLIC_VERSIONS && row == HF_G0 && s->one_key)
        return true;
    return hf_refuse(v, "a cycle of these edges is %s, not %s",
                     hf_anomaly_get((hf_anomaly)(row + form))->name,
                     hf_anomaly_get(named)->name);
}

bool hf_verify_cycle(hf_verifier *v)
{
    hf_cycle cycle = {v->w->edges, v->w->n_edges};
    const hf_certain *c;
    hf_cycle_shape s;

    if (!hf_cycle_closes(v, &cycle))
        return false;
    s = hf_cycle_shape_of(&cycle);
    if (!check_name(v, &s))
        return false;
    if (!hf_level_forbids_cycle(v, &cycle, &s))
        return hf_refuse(v, "%s%s a cycle of these edges",
                         v->w->mixed ? "their levels" : v->info->name,
                         v->w->mixed ? " allow" : " allows");
    c = hf_certain_get(v);
    if (!c)
        return false;
    for (uint32_t i = 0; i < v->w->n_edges; i++) {
        if (!check_edge(c, &cycle, &v->w->edges[i]))
            return false;
        if (hf_out_of_budget(v))
            return false;
    }
    return true;
}
