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
 * Which cycles a level forbids follows from its definition.  For the levels
 * given by a commit order co: co contains wr, so and the version order, so no
 * cycle of those.  An anti-dependency t3 -> t2 on x means that t3 reads x
 * from a t1 older than t2; the level's condition wants t2 before t1 if t2 is
 * visible to t3, so the way back from t2 to t3 must not be one that makes t2
 * visible.  For prefix, visible means co?;(so + wr), and co is total, so a
 * step (so + wr);rw lies in co: no cycle in which each rw follows a wr or so.
 *
 * Simple cycles are enough: a closed walk of forbidden shape that visits a
 * transaction twice falls apart there into two, one of which is forbidden.
 *
 * Cost: O(operations + values) once in a session, then the operations of the
 * transactions in the cycle; for a predicate edge also the writers of its key,
 * squared at worst.
 */
#include "verify/certain.h"

static bool is_anti(hf_edge_kind kind)
{
    return kind == HF_EDGE_RW || kind == HF_EDGE_PRW;
}

static bool is_read_from(hf_edge_kind kind)
{
    return kind == HF_EDGE_WR || kind == HF_EDGE_PWR;
}

/* ---- edges --------------------------------------------------------------- */

static bool refuse_edge(hf_verifier *v, const hf_edge *e, const char *why)
{
    return hf_refuse(
        v, "edge %s %s -> %s on key %s: %s", hf_edge_kind_name(e->kind),
        hf_label_txn(v->h, e->from).text, hf_label_txn(v->h, e->to).text,
        hf_label_key(v->h, e->key).text, why);
}

static bool writes_key(const hf_history *h, hf_op_id op, hf_key_id key)
{
    return hf_op_writes(h, op) && h->op_key[op] == key;
}

/* The value that a read of key returned, or the last element of the list. */
static hf_value_id version_read(hf_verifier *v, hf_op_id op, hf_key_id key)
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
static bool elements_show(const hf_certain *c, const hf_edge *e)
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
    if (!writes_key(c->v->h, e->from_op, e->key) ||
        !writes_key(c->v->h, e->to_op, e->key))
        return refuse_edge(c->v, e, "its operations do not both write it");
    if (!hf_certainly_before(c, e->from, e->to, e->key) && !elements_show(c, e))
        return refuse_edge(c->v, e, "this version order is not certain");
    return true;
}

static bool check_wr(const hf_certain *c, const hf_edge *e)
{
    hf_txn_id source;

    if (!writes_key(c->v->h, e->from_op, e->key))
        return refuse_edge(c->v, e, "its first operation does not write it");
    if (!hf_certain_source(c, e->to, e->to_op, e->key, &source) ||
        source != e->from)
        return refuse_edge(c->v, e,
                           "its second operation does not certainly "
                           "read that version");
    if (hf_op_written(c->v->h, e->from_op) !=
        version_read(c->v, e->to_op, e->key))
        return refuse_edge(c->v, e, "what is written is not what is read");
    return true;
}

/* None of t's elements is in the list that op read. */
static bool is_missing_in_list(hf_verifier *v, hf_op_id op, hf_key_id key,
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

    if (!writes_key(c->v->h, e->to_op, e->key))
        return refuse_edge(c->v, e, "its second operation does not write it");
    if (!hf_certain_source(c, e->from, e->from_op, e->key, &source))
        return refuse_edge(c->v, e,
                           "it is not certain which version its "
                           "first operation reads");
    if (!hf_certainly_before(c, source, e->to, e->key) &&
        !is_missing_in_list(c->v, e->from_op, e->key, e->to))
        return refuse_edge(c->v, e,
                           "the version read is not certainly "
                           "before the one written");
    return true;
}

/* A strict reads-from edge is what makes a transaction visible under the
 * axiomatic levels; where only cycles count, a path of ww and pwr will do. */
static bool needs_strict(const hf_verifier *v)
{
    bool anti = false;

    for (uint32_t i = 0; i < v->w->n_edges; i++)
        anti |= is_anti(v->w->edges[i].kind);
    return anti &&
           (v->info->shape == HF_SHAPE_AXIOM || v->info->shape == HF_SHAPE_OTV);
}

/* from installed a version up to the one that to's condition looked at and
 * did not return, and it changes the matches.  If it satisfies the condition
 * some version after it, up to the one looked at, does not, and changes. */
static bool check_pwr(const hf_certain *c, const hf_edge *e)
{
    const hf_condition *condition;
    hf_txn_id source;

    if (!writes_key(c->v->h, e->from_op, e->key) ||
        !hf_op_has_predicate(hf_op_kind_of(c->v->h, e->to_op)))
        return refuse_edge(c->v, e, "expected a write and a condition");
    if (!hf_certain_look(c, e->to, e->to_op, e->key, HF_LOOK_VIEW, &source) ||
        source == HF_NONE ||
        (source != e->from && !hf_certainly_before(c, e->from, source, e->key)))
        return refuse_edge(c->v, e,
                           "the condition did not certainly look at "
                           "that version or a later one");
    condition = hf_predicate_condition(c->v, e->to_op);
    if (!needs_strict(c->v) &&
        hf_version_match(c, e->from, e->key, condition) == HF_MATCH_YES)
        return true;
    return hf_certainly_changes(c, e->from, e->key, condition) ||
           refuse_edge(c->v, e, "it does not certainly change the matches");
}

/* from's condition looked at a version and did not return it, to installed a
 * later one, and a version after the one looked at, up to to's, changes. */
static bool check_prw(const hf_certain *c, const hf_edge *e)
{
    const hf_condition *condition;
    hf_txn_id source;

    if (!writes_key(c->v->h, e->to_op, e->key) ||
        !hf_op_has_predicate(hf_op_kind_of(c->v->h, e->from_op)))
        return refuse_edge(c->v, e, "expected a condition and a write");
    if (!hf_certain_look(c, e->from, e->from_op, e->key, HF_LOOK_VIEW,
                         &source) ||
        !hf_certainly_before(c, source, e->to, e->key))
        return refuse_edge(c->v, e,
                           "the condition did not certainly look at "
                           "an earlier version");
    condition = hf_predicate_condition(c->v, e->from_op);
    return hf_version_match(c, e->to, e->key, condition) == HF_MATCH_YES ||
           hf_certainly_changes(c, e->to, e->key, condition) ||
           refuse_edge(c->v, e, "the matches do not certainly change");
}

static bool check_order_edge(hf_verifier *v, const hf_edge *e)
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

static bool check_edge(const hf_certain *c, const hf_edge *e)
{
    hf_verifier *v = c->v;

    if (!c->happened[e->from] || !c->happened[e->to])
        return refuse_edge(v, e, "one of the two did not certainly happen");
    if (e->kind == HF_EDGE_SO || e->kind == HF_EDGE_RT)
        return check_order_edge(v, e);
    if (e->key >= v->h->n_keys || e->from_op >= v->h->n_ops ||
        e->to_op >= v->h->n_ops || !hf_op_is_of(v->h, e->from_op, e->from) ||
        !hf_op_is_of(v->h, e->to_op, e->to))
        return refuse_edge(v, e, "its operations are not theirs");
    switch (e->kind) {
    case HF_EDGE_WW:
        return check_ww(c, e);
    case HF_EDGE_WR:
        return check_wr(c, e);
    case HF_EDGE_RW:
        return check_rw(c, e);
    case HF_EDGE_PWR:
        return check_pwr(c, e);
    case HF_EDGE_PRW:
        return check_prw(c, e);
    default:
        return refuse_edge(v, e, "its kind is not known");
    }
}

static bool check_chain(hf_verifier *v)
{
    uint32_t n = v->w->n_edges;
    const hf_edge *e = v->w->edges;
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

/* ---- classes ------------------------------------------------------------- */

typedef struct shape {
    uint32_t n[HF_EDGE_KIND_COUNT];
    uint32_t anti; /* rw and prw */
    bool adjacent; /* two anti-dependencies follow each other */
    bool one_key;  /* all ww edges are of one key */
} shape;

static shape shape_of(const hf_witness *w)
{
    shape s = {.one_key = true};
    hf_key_id key = HF_NONE;

    for (uint32_t i = 0; i < w->n_edges; i++) {
        const hf_edge *e = &w->edges[i];
        const hf_edge *next = &w->edges[(i + 1) % w->n_edges];

        s.n[e->kind]++;
        s.anti += is_anti(e->kind);
        s.adjacent |= is_anti(e->kind) && is_anti(next->kind);
        if (e->kind != HF_EDGE_WW)
            continue;
        s.one_key &= key == HF_NONE || key == e->key;
        key = e->key;
    }
    return s;
}

/* The row of the class, without its session and real-time forms. */
static hf_anomaly class_of(const shape *s)
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
static bool check_name(hf_verifier *v, const shape *s)
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

/* ---- levels -------------------------------------------------------------- */

/* Edge i of the cycle, counted from its first anti-dependency. */
static const hf_edge *edge_after(const hf_witness *w, uint32_t first,
                                 uint32_t i)
{
    return &w->edges[(first + i) % w->n_edges];
}

/* The way back from the only anti-dependency, `first`, to its reader, as
 * letters: r(eads from), s(ession order; runs of it made one), others '?'.
 * Way stations of the same key at the beginning are left out: each is an
 * overwriter as good as the first. */
static void way_back(const hf_witness *w, uint32_t first, char *ret,
                     uint32_t size, bool *ret_causal)
{
    uint32_t n = 0, i = 1;

    while (i < w->n_edges && edge_after(w, first, i)->kind == HF_EDGE_WW &&
           edge_after(w, first, i)->key == w->edges[first].key)
        i++;
    *ret_causal = i < w->n_edges;
    for (; i < w->n_edges; i++) {
        hf_edge_kind kind = edge_after(w, first, i)->kind;
        char letter = is_read_from(kind) ? 'r' : kind == HF_EDGE_SO ? 's' : '?';

        *ret_causal &= letter != '?';
        if (letter == 's' && n > 0 && n < size && ret[n - 1] == 's')
            continue;
        if (n < size)
            ret[n] = letter;
        n++;
    }
    ret[n < size ? n : 0] = '\0'; /* too long for any of the short ways */
}

/* Does the way back make the overwriter visible to the reader? */
static bool is_visible(const hf_witness *w, unsigned axiom)
{
    static const struct {
        unsigned axiom;
        const char *way;
    } ways[] = {
        {HF_AXIOM_SO, "s"},     {HF_AXIOM_WR, "r"},
        {HF_AXIOM_WR_SO, "rs"}, {HF_AXIOM_SO_WR, "sr"},
        {HF_AXIOM_WR_WR, "rr"}, {HF_AXIOM_WR_SO_WR, "rsr"},
    };
    char way[8];
    uint32_t first = 0;
    bool causal;

    while (!is_anti(w->edges[first].kind))
        first++;
    way_back(w, first, way, sizeof(way), &causal);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if ((axiom & ways[i].axiom) && strcmp(way, ways[i].way) == 0)
            return true;
    if ((axiom & HF_AXIOM_EARLIER_READ) && strcmp(way, "r") == 0 &&
        edge_after(w, first, w->n_edges - 1)->to_op < w->edges[first].from_op)
        return true;
    return (axiom & HF_AXIOM_CAUSAL) && causal;
}

/* Each anti-dependency follows an edge that makes what was before visible. */
static bool prefix_forbids(const hf_witness *w)
{
    for (uint32_t i = 0; i < w->n_edges; i++) {
        hf_edge_kind kind = w->edges[i].kind;

        if (is_anti(w->edges[(i + 1) % w->n_edges].kind) &&
            !is_read_from(kind) && kind != HF_EDGE_SO)
            return false;
    }
    return true;
}

static bool level_forbids(const hf_verifier *v, const shape *s)
{
    uint32_t reads = s->n[HF_EDGE_WR] + s->n[HF_EDGE_PWR];

    if ((s->n[HF_EDGE_SO] && !v->info->session_order) ||
        (s->n[HF_EDGE_RT] && !v->info->real_time))
        return false;
    switch (v->info->shape) {
    case HF_SHAPE_WW:
        return s->anti == 0 && reads == 0;
    case HF_SHAPE_W:
        return s->anti == 0;
    case HF_SHAPE_OTV:
        return s->anti == 0 ||
               (s->anti == 1 && is_visible(v->w, HF_AXIOM_EARLIER_READ));
    case HF_SHAPE_AXIOM:
        return s->anti == 0 ||
               (s->anti == 1 && is_visible(v->w, v->info->axiom)) ||
               ((v->info->axiom & HF_AXIOM_PREFIX) && prefix_forbids(v->w));
    case HF_SHAPE_SINGLE:
        return s->anti <= 1;
    case HF_SHAPE_ITEM:
        return s->n[HF_EDGE_PRW] == 0;
    case HF_SHAPE_SNAPSHOT:
        return !s->adjacent;
    case HF_SHAPE_SERIAL:
        return true;
    default:
        return false;
    }
}

bool hf_verify_cycle(hf_verifier *v)
{
    const hf_certain *c;
    shape s;

    if (!check_chain(v))
        return false;
    s = shape_of(v->w);
    if (!check_name(v, &s))
        return false;
    if (!level_forbids(v, &s))
        return hf_refuse(v, "%s allows a cycle of these edges", v->info->name);
    c = hf_certain_get(v);
    if (!c)
        return false;
    for (uint32_t i = 0; i < v->w->n_edges; i++) {
        if (!check_edge(c, &v->w->edges[i]))
            return false;
        if (hf_out_of_budget(v))
            return false;
    }
    return true;
}
