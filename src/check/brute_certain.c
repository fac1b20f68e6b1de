/* brute_certain.c: the edges that are there in every world.
 *
 * A cycle proves a history invalid only if no world lacks one of its edges.
 * Certain are
 *   so, rt  between transactions that surely happened
 *   ww      what the certificate lists; what lists that were read show: their
 *           elements in this order, and before all that are not there; and
 *           from T1 to T2 where T2 reads from T1 or follows it in session
 *           order or real time (where the level has those), and both write
 *           the key: the other order is a cycle that the level forbids
 *   wr      a read of a value with one candidate, its writer's last write
 *   rw      from such a read to those that are certainly after it; the
 *           initial version is before all
 *   pwr,prw if the order of all writers of the key is certain
 *
 * "Every world" leaves out the worlds that already fail because something
 * read a transaction of unknown outcome that did not happen there.
 */
#include "check/brute.h"

#include <string.h>

static bool in(uint8_t set, unsigned node)
{
    return node < HF_BRUTE_NODES && (set >> node & 1u);
}

uint8_t hf_brute_sure(const hf_brute_case *c, uint8_t readers)
{
    uint8_t all = (uint8_t)((1u << c->n_nodes) - 1), before;
    uint8_t sure = (uint8_t)(all & ~c->maybe);

    do {
        before = sure;
        for (size_t i = 0; i < c->reads.n; i++) {
            const hf_brute_read *r = &c->reads.at[i];

            if (in(sure & readers, r->node) && r->only_write != HF_NONE &&
                c->writes.at[r->only_write].node != HF_BRUTE_UNSET)
                sure |= (uint8_t)(1u << c->writes.at[r->only_write].node);
        }
    } while (sure != before);
    return sure;
}

typedef struct builder {
    const hf_brute_case *c;
    hf_brute_certain *out;
    hf_relation *before; /* per key: the certain part of the version order */
} builder;

/* Of several edges of a kind between two nodes the first read from and the
 * last read that misses something are kept: they show best that a transaction
 * vanished after it had been observed. */
static void add(builder *b, hf_edge_kind kind, unsigned from, unsigned to,
                hf_edge e)
{
    if (from == to || !in(b->out->sure, from) || !in(b->out->sure, to))
        return;
    if (hf_relation_has(&b->out->has[kind], from, to) && kind != HF_EDGE_RW &&
        kind != HF_EDGE_PRW)
        return;
    e.kind = kind;
    e.from = b->c->txn[from];
    e.to = b->c->txn[to];
    hf_relation_add(&b->out->has[kind], from, to);
    b->out->edge[kind][from][to] = e;
}

static hf_op_id last_write(const hf_brute_case *c, hf_key_id key, unsigned node)
{
    return c->writes.at[c->keys[key].last[node]].op;
}

static void add_orders(builder *b)
{
    hf_edge none = {.key = HF_NONE, .from_op = HF_NONE, .to_op = HF_NONE};

    for (unsigned i = 0; i < b->c->n_nodes; i++) {
        for (unsigned j = 0; j < b->c->n_nodes; j++) {
            if (hf_relation_has(&b->c->so, i, j))
                add(b, HF_EDGE_SO, i, j, none);
            if (hf_relation_has(&b->c->rt, i, j))
                add(b, HF_EDGE_RT, i, j, none);
        }
    }
}

/* The one version a read can come from: a node, the initial version, or
 * HF_BRUTE_UNSET if there are several or it is none of these. */
static unsigned certain_source(const hf_brute_case *c, const hf_brute_read *r)
{
    const hf_brute_write *w;

    if (r->n_candidates != 1 || r->own_before > 0)
        return HF_BRUTE_UNSET;
    if (r->only_write == HF_NONE)
        return HF_BRUTE_INITIAL;
    w = &c->writes.at[r->only_write];
    return w->last && w->node != r->node ? w->node : HF_BRUTE_UNSET;
}

/* ---- version orders ----------------------------------------------------- */

/* Does the list hold an element that was appended twice?  Then it may be
 * anybody's, and nothing is said about who is not there. */
static bool has_ambiguous(const hf_brute_case *c, const hf_brute_read *r)
{
    for (uint32_t i = 0; i < r->n_elements; i++)
        if (c->elements.at[r->first_element + i].write == HF_NONE)
            return true;
    return false;
}

/* The order in which a list shows the writers of its elements; those it does
 * not show come after. */
static hf_relation order_of_list(const builder *b, const hf_brute_read *r)
{
    const hf_brute_case *c = b->c;
    hf_relation order = {0};
    uint8_t shown = 0;

    for (uint32_t i = 0; i < r->n_elements; i++) {
        uint32_t w = c->elements.at[r->first_element + i].write;
        uint8_t node = c->writes.at[w].node;

        if (!in(b->out->sure, node) || in(shown, node))
            continue;
        for (unsigned j = 0; j < c->n_nodes; j++)
            if (in(shown, j))
                hf_relation_add(&order, j, node);
        shown |= (uint8_t)(1u << node);
    }
    for (unsigned j = 0; j < c->n_nodes; j++)
        if (in(shown, j))
            order.to[j] |=
                (uint8_t)(c->keys[r->key].writers & b->out->sure & ~shown);
    return order;
}

/* Lists that contradict each other are an anomaly of their own: only the
 * first of them is followed. */
static void order_from_lists(builder *b)
{
    for (size_t i = 0; i < b->c->reads.n; i++) {
        const hf_brute_read *r = &b->c->reads.at[i];
        hf_relation both;

        if (!r->list || !in(b->out->sure, r->node) || has_ambiguous(b->c, r))
            continue;
        both = hf_relation_union(b->before[r->key], order_of_list(b, r));
        if (hf_relation_acyclic(both))
            b->before[r->key] = both;
    }
}

static void order_from_certificate(builder *b)
{
    for (hf_key_id k = 0; k < b->c->h->n_keys; k++) {
        const hf_brute_key *key = &b->c->keys[k];

        for (unsigned i = 0; i < key->n_listed; i++)
            for (unsigned j = i + 1; j < key->n_listed; j++)
                hf_relation_add(&b->before[k], key->listed[i], key->listed[j]);
    }
}

/* What must come before what because the level forbids the other order. */
static void order_from_reads(builder *b, const hf_level_info *level)
{
    const hf_brute_case *c = b->c;
    hf_relation r = {0};

    if (level->shape == HF_SHAPE_WW)
        return;
    for (size_t i = 0; i < c->reads.n; i++) {
        unsigned source = certain_source(c, &c->reads.at[i]);

        if (c->reads.at[i].item && in(b->out->sure, source))
            hf_relation_add(&r, source, c->reads.at[i].node);
    }
    if (level->session_order)
        r = hf_relation_union(r, c->so);
    if (level->real_time)
        r = hf_relation_union(r, c->rt);
    for (hf_key_id k = 0; k < c->h->n_keys; k++) {
        hf_relation both = hf_relation_union(
            b->before[k],
            hf_relation_within(r, c->keys[k].writers & b->out->sure));

        /* where it contradicts, the cycle is shown by the edges themselves */
        if (hf_relation_acyclic(both))
            b->before[k] = both;
    }
}

static void add_version_orders(builder *b, const hf_level_info *level)
{
    const hf_brute_case *c = b->c;

    order_from_lists(b);
    order_from_certificate(b);
    order_from_reads(b, level);
    for (hf_key_id k = 0; k < c->h->n_keys; k++)
        for (unsigned i = 0; i < c->n_nodes; i++)
            for (unsigned j = 0; j < c->n_nodes; j++)
                if (hf_relation_has(&b->before[k], i, j))
                    add(b, HF_EDGE_WW, i, j,
                        (hf_edge){.key = k,
                                  .from_op = last_write(c, k, i),
                                  .to_op = last_write(c, k, j)});
}

/* ---- reads -------------------------------------------------------------- */

static bool certainly_before(const builder *b, hf_key_id key, unsigned source,
                             unsigned node)
{
    if (!in(b->c->keys[key].writers & b->out->sure, node))
        return false;
    return source == HF_BRUTE_INITIAL ||
           hf_relation_has(&b->before[key], source, node);
}

static void add_item_edges(builder *b, const hf_brute_read *r, unsigned source)
{
    const hf_brute_case *c = b->c;
    hf_key_id k = r->key;

    if (source != HF_BRUTE_INITIAL)
        add(b, HF_EDGE_WR, source, r->node,
            (hf_edge){
                .key = k, .from_op = last_write(c, k, source), .to_op = r->op});
    for (unsigned t = 0; t < c->n_nodes; t++)
        if (t != source && certainly_before(b, k, source, t))
            add(b, HF_EDGE_RW, r->node, t,
                (hf_edge){
                    .key = k, .from_op = r->op, .to_op = last_write(c, k, t)});
}

/* The version order of a key as a world, if all of it is certain. */
static bool whole_order(const builder *b, hf_key_id key, hf_brute_world *w)
{
    const hf_brute_key *k = &b->c->keys[key];

    *w = (hf_brute_world){.committed = k->writers};
    if (k->writers & ~b->out->sure)
        return false;
    w->place[HF_BRUTE_INITIAL] = -1;
    for (unsigned t = 0; t < b->c->n_nodes; t++)
        w->n += in(k->writers, t);
    if (w->n == 1 && k->n_listed == 0) {
        while (!in(k->writers, w->order[0]))
            w->order[0]++;
        return true;
    }
    if (k->n_listed != w->n)
        return false;
    memcpy(w->order, k->listed, w->n);
    for (unsigned at = 0; at < w->n; at++)
        w->place[w->order[at]] = (int8_t)at;
    return true;
}

static void add_predicate_edges(builder *b, const hf_brute_read *r,
                                unsigned source)
{
    const hf_brute_case *c = b->c;
    hf_brute_world w;

    if (!whole_order(b, r->key, &w))
        return;
    for (unsigned t = 0; t < c->n_nodes; t++) {
        hf_edge e = {.key = r->key};

        if (!in(w.committed, t) || !hf_brute_changes(c, &w, r, t))
            continue;
        if (w.place[t] <= w.place[source]) {
            e.from_op = last_write(c, r->key, t);
            e.to_op = r->op;
            add(b, HF_EDGE_PWR, t, r->node, e);
        } else {
            e.from_op = r->op;
            e.to_op = last_write(c, r->key, t);
            add(b, HF_EDGE_PRW, r->node, t, e);
        }
    }
}

void hf_brute_certain_edges(const hf_brute_case *c, const hf_level_info *level,
                            hf_brute_certain *ret)
{
    builder b = {.c = c, .out = ret};

    memset(ret, 0, sizeof(*ret));
    ret->sure = hf_brute_sure(c, level->shape == HF_SHAPE_WW ? 0 : UINT8_MAX);
    b.before = HF_NEW_ZEROED(hf_relation, c->h->n_keys + 1u);
    add_orders(&b);
    add_version_orders(&b, level);
    for (size_t i = 0; i < c->reads.n; i++) {
        const hf_brute_read *r = &c->reads.at[i];
        unsigned source = certain_source(c, r);

        if (source == HF_BRUTE_UNSET)
            continue;
        if (r->item)
            add_item_edges(&b, r, source);
        else
            add_predicate_edges(&b, r, source);
    }
    hf_free(b.before);
}
