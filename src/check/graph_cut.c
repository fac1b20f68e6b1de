/* graph_cut.c: components with a cycle, cut out of the graph and explained.
 *
 * Each component becomes a small graph with labelled edges in which the
 * shortest cycle of each class that the level forbids is looked for.  Cycles
 * that need session order or real time are named only if the component has
 * no cycle without them.
 */
#include "check/graph.h"

#include <stdlib.h>
#include <string.h>

#include "check/cycle_name.h"
#include "check/pred.h"
#include "graph/labelled.h"

#define SEARCH_STEPS 2000000u /* for one class in one component */
#define FAR_MOST 300u /* transactions for which far edges are looked at */

typedef struct session_place {
    hf_session_id session;
    uint32_t node;
} session_place;

/* A version that a transaction of the component writes or reads. */
typedef struct touch {
    uint32_t ver;
    hf_key_id key;
} touch;

typedef struct cut {
    hf_graph_report *r;
    const hf_walk *walk;
    uint32_t *local;  /* per transaction: its node */
    uint32_t *end_at; /* per transaction: its place in time_txn */
    HF_VEC(hf_txn_id) txns;
    HF_VEC(uint32_t) ends; /* places in time_txn, sorted */
    HF_VEC(session_place) places;
    HF_VEC(touch) touched; /* sorted by version */
    bool far;              /* versions as chains, so that edges may skip some */
    bool thorough;         /* no limit of steps; one cycle is enough */
    hf_in_edges in;
    hf_labelled graph;
} cut;

/* ---- reporting ----------------------------------------------------------- */

unsigned hf_graph_rests_of(const hf_graph *g, const hf_edge *edges, uint32_t n)
{
    unsigned rests = 0;

    for (uint32_t i = 0; i < n; i++) {
        hf_key_id key = edges[i].key;

        if (edges[i].kind == HF_EDGE_WR || key == HF_NONE)
            continue;
        if (g->key_use[key] & HF_USE_RANKED)
            rests |= HF_REST_ORDER;
        if (g->open_key[key])
            rests |= g->rests & HF_REST_ASSUMABLE;
    }
    return rests;
}

void hf_report_cycle(hf_graph_report *r, hf_anomaly anomaly,
                     const hf_edge *edges, uint32_t n)
{
    hf_finding f = {.anomaly = anomaly,
                    .witness = {.kind = HF_WITNESS_CYCLE,
                                .anomaly = anomaly,
                                .n_edges = n}};
    uint32_t most = r->g->options.most > 100 ? r->g->options.most : 100;

    if (r->count[anomaly]++ >= most)
        return;
    f.alias = hf_cycle_alias(r->g->h, edges, n);
    f.witness.rests = hf_graph_rests_of(r->g, edges, n);
    f.witness.edges = hf_arena_get(r->arena, n * sizeof(*edges));
    memcpy(f.witness.edges, edges, n * sizeof(*edges));
    hf_vec_push(&r->found, f);
}

/* ---- cutting ------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Ends in real time of the component: nodes after the transactions. */
static void cut_times(cut *c)
{
    const hf_graph *g = c->r->g;
    uint32_t n = (uint32_t)c->txns.n;

    for (uint32_t i = 0; i < c->ends.n; i++) {
        hf_labelled_edge e = {.key = HF_NONE,
                              .from_op = HF_NONE,
                              .to_op = HF_NONE,
                              .kind = HF_LABEL_FREE,
                              .from = c->local[g->time_txn[c->ends.at[i]]],
                              .to = n + i};

        hf_labelled_add(&c->graph, e);
        e.from = n + i;
        e.to = n + i + 1;
        if (i + 1 < c->ends.n)
            hf_labelled_add(&c->graph, e);
    }
    for (uint32_t v = 0; v < n; v++) {
        uint32_t before = g->time_before[c->txns.at[v]], low = 0;
        uint32_t high = (uint32_t)c->ends.n;

        while (low < high) {
            uint32_t middle = low + (high - low) / 2;

            if (c->ends.at[middle] < before)
                low = middle + 1;
            else
                high = middle;
        }
        if (low > 0)
            hf_labelled_add(&c->graph,
                            (hf_labelled_edge){n + low - 1, v, HF_EDGE_RT,
                                               HF_NONE, HF_NONE, HF_NONE});
    }
}

static hf_labelled_edge link_edge(uint32_t from, uint32_t to, unsigned kind)
{
    return (hf_labelled_edge){from, to, kind, HF_NONE, HF_NONE, HF_NONE};
}

/* ---- chains of versions -------------------------------------------------- */

static bool is_chain(const cut *c, hf_key_id key)
{
    return c->far && !(c->r->g->key_use[key] & HF_USE_PATH) &&
           !c->r->g->open_key[key];
}

static int by_version(const void *a, const void *b)
{
    const touch *x = a, *y = b;

    return (x->ver > y->ver) - (x->ver < y->ver);
}

static uint32_t written_by(const hf_graph *g, hf_op_id o)
{
    return g->op_role[o] != HF_NONE && (g->op_role[o] & 1u) ? g->op_role[o] / 2
                                                            : HF_NONE;
}

static void collect_touched(cut *c)
{
    const hf_graph *g = c->r->g;
    const hf_history *h = g->h;
    size_t n = 0;

    c->touched.n = 0;
    for (size_t i = 0; c->far && i < c->txns.n; i++) {
        hf_txn_id t = c->txns.at[i];

        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            uint32_t read = hf_graph_source(g, o), write = written_by(g, o);

            if (read != HF_NONE && is_chain(c, h->op_key[o]))
                hf_vec_push(&c->touched, (touch){read, h->op_key[o]});
            if (write != HF_NONE && is_chain(c, h->op_key[o]))
                hf_vec_push(&c->touched, (touch){write, h->op_key[o]});
        }
    }
    if (c->touched.n > 1)
        qsort(c->touched.at, c->touched.n, sizeof(touch), by_version);
    for (size_t i = 0; i < c->touched.n; i++)
        if (i == 0 || c->touched.at[i].ver != c->touched.at[n - 1].ver)
            c->touched.at[n++] = c->touched.at[i];
    c->touched.n = n;
}

static uint32_t place_of(const cut *c, uint32_t ver)
{
    size_t low = 0, high = c->touched.n;

    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;

        if (c->touched.at[middle].ver <= ver)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

/* Two chains of nodes: behind a written version (ww), behind a read one (rw).
 * Nodes start at `base`. */
static void cut_versions(cut *c, uint32_t base)
{
    const hf_graph *g = c->r->g;
    const hf_history *h = g->h;
    uint32_t n = (uint32_t)c->touched.n;

    for (uint32_t i = 0; i + 1 < n; i++)
        for (unsigned k = 0; k < 2; k++)
            if (c->touched.at[i].key == c->touched.at[i + 1].key)
                hf_labelled_add(&c->graph,
                                link_edge(base + k * n + i,
                                          base + k * n + i + 1, HF_LABEL_FREE));
    for (uint32_t v = 0; v < c->txns.n; v++) {
        hf_txn_id t = c->txns.at[v];

        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            uint32_t read = hf_graph_source(g, o), write = written_by(g, o), at;
            hf_key_id key = h->op_key[o];

            if (read != HF_NONE && is_chain(c, key) &&
                (c->walk->mask & HF_WALK_RW))
                hf_labelled_add(&c->graph, (hf_labelled_edge){
                                               v, base + n + place_of(c, read),
                                               HF_LABEL_FREE, key, o, HF_NONE});
            if (write == HF_NONE || !is_chain(c, key))
                continue;
            at = place_of(c, write);
            hf_labelled_add(&c->graph,
                            (hf_labelled_edge){v, base + at, HF_LABEL_FREE, key,
                                               o, HF_NONE});
            if (at == 0 || c->touched.at[at - 1].key != key)
                continue;
            hf_labelled_add(&c->graph,
                            (hf_labelled_edge){base + at - 1, v, HF_EDGE_WW,
                                               key, HF_NONE, o});
            hf_labelled_add(&c->graph,
                            (hf_labelled_edge){base + n + at - 1, v, HF_EDGE_RW,
                                               key, HF_NONE, o});
        }
    }
}

/* The transactions of one session, in order, as a chain of nodes: a step of
 * any width in session order is one edge.  Nodes start at `base`. */
static uint32_t cut_session(cut *c, const session_place *p, uint32_t n,
                            uint32_t base)
{
    for (uint32_t i = 0; i + 1 < n; i++) {
        hf_labelled_add(&c->graph, link_edge(p[i].node, base, HF_LABEL_FREE));
        hf_labelled_add(&c->graph, link_edge(base, p[i + 1].node, HF_EDGE_SO));
        if (i + 2 < n)
            hf_labelled_add(&c->graph,
                            link_edge(base, base + 1, HF_LABEL_FREE));
        base++;
    }
    return base;
}

static int by_session(const void *a, const void *b)
{
    const session_place *x = a, *y = b;

    if (x->session != y->session)
        return x->session < y->session ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Nodes are in the order of transactions, so sessions are, too. */
static void cut_sessions(cut *c)
{
    const hf_history *h = c->r->g->h;
    uint32_t n = (uint32_t)c->txns.n, base = n + (uint32_t)c->ends.n, i = 0;

    c->places.n = 0;
    for (uint32_t v = 0; v < n; v++)
        hf_vec_push(&c->places,
                    (session_place){h->txn_session[c->txns.at[v]], v});
    qsort(c->places.at, n, sizeof(session_place), by_session);
    while (i < n) {
        uint32_t first = i;

        while (i < n && c->places.at[i].session == c->places.at[first].session)
            i++;
        base = cut_session(c, c->places.at + first, i - first, base);
    }
}

static void cut_component(cut *c, const hf_txn_id *txns, uint32_t n)
{
    const hf_graph *g = c->r->g;
    uint32_t id = c->walk->component[txns[0]], versions;

    c->txns.n = c->ends.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        c->local[txns[i]] = i;
        hf_vec_push(&c->txns, txns[i]);
        if (c->end_at && c->end_at[txns[i]] != HF_NONE)
            hf_vec_push(&c->ends, c->end_at[txns[i]]);
    }
    if (c->ends.n > 1)
        qsort(c->ends.at, c->ends.n, sizeof(uint32_t), by_value);
    collect_touched(c);
    versions = 2 * n + (uint32_t)c->ends.n;
    hf_labelled_init(&c->graph, n, versions + 2 * (uint32_t)c->touched.n);
    for (uint32_t i = 0; i < n; i++) {
        hf_graph_edges_into(g, txns[i], c->walk->mask & ~HF_WALK_SO, &c->in);
        for (size_t k = 0; k < c->in.n; k++) {
            const hf_in_edge *e = &c->in.at[k];

            if (c->walk->component[e->from] == id &&
                (e->kind == HF_EDGE_WR || !is_chain(c, e->key)))
                hf_labelled_add(&c->graph, (hf_labelled_edge){
                                               c->local[e->from], i, e->kind,
                                               e->key, e->from_op, e->to_op});
        }
    }
    cut_versions(c, versions);
    if (g->pred)
        hf_pred_cut(g->pred, txns, n, c->walk->component, id, c->local,
                    c->walk->mask, &c->graph);
    if (c->end_at)
        cut_times(c);
    if ((c->walk->mask & HF_WALK_SO) && g->session_prev)
        cut_sessions(c);
    hf_labelled_finish(&c->graph);
}

/* ---- searching ----------------------------------------------------------- */

/* The cycle in terms of transactions: a run of steps in time is one edge. */
static uint32_t edges_of(const cut *c, const hf_cycle_search *s, hf_edge *ret)
{
    const hf_labelled_edge *e = c->graph.edges.at;
    uint32_t n = 0, start = 0;

    /* begin at a node that is a transaction */
    while (e[s->cycle[start]].from >= c->txns.n)
        start++;
    for (uint32_t i = 0; i < s->n; i++) {
        const hf_labelled_edge *x = &e[s->cycle[(start + i) % s->n]];

        if (x->from < c->txns.n) {
            ret[n].from = c->txns.at[x->from];
            ret[n].from_op = x->from_op;
        }
        if (x->kind == HF_LABEL_FREE)
            continue;
        ret[n].kind = (hf_edge_kind)x->kind;
        ret[n].to = c->txns.at[x->to];
        ret[n].key = x->key;
        ret[n].to_op = x->to_op;
        n++;
    }
    return n;
}

/* The version that edge e, a ww or rw, starts from. */
static uint32_t version_before(const hf_graph *g, const hf_edge *e)
{
    if (e->kind == HF_EDGE_WW)
        return hf_graph_version_of(g, e->from, e->key);
    return hf_graph_source(g, e->from_op);
}

/* t comes after `first` in session order or real time, where they count. */
static bool follows(const hf_graph *g, hf_txn_id first, hf_txn_id t)
{
    const hf_history *h = g->h;

    if (g->session_prev && first < t &&
        h->txn_session[first] == h->txn_session[t])
        return true;
    return g->time_txn && h->txn_outcome[first] == HF_COMMITTED &&
           hf_txn_end_time(h, first) != HF_TIME_NONE &&
           hf_txn_begin_time(h, t) != HF_TIME_NONE &&
           hf_txn_end_time(h, first) < hf_txn_begin_time(h, t);
}

/* Edge e leads to a version of its key; is the one of t known to be later?
 * Then e may lead to t as well. */
static bool leads_to(const hf_graph *g, const hf_edge *e, hf_txn_id t)
{
    uint32_t first, then, far;

    if ((e->kind != HF_EDGE_WW && e->kind != HF_EDGE_RW) ||
        (e->kind == HF_EDGE_RW &&
         hf_op_has_predicate(hf_op_kind_of(g->h, e->from_op))))
        return false;
    first = version_before(g, e);
    then = hf_graph_version_of(g, e->to, e->key);
    far = hf_graph_version_of(g, t, e->key);
    if (far == HF_NONE || far == first || t == e->from)
        return false;
    if (first == g->ver_first[e->key])
        return true; /* the initial version is before all */
    if (follows(g, g->ver_txn[first], t))
        return true;
    return first < then && then < far && !(g->key_use[e->key] & HF_USE_PATH) &&
           !g->open_key[e->key];
}

/* Leaves out transactions between two versions of one key, as long as the
 * cycle stays in its class. */
static uint32_t contract(const hf_graph *g, hf_cycle_class class_, hf_edge *e,
                         uint32_t n)
{
    hf_anomaly name = hf_cycle_name(e, n);

    for (uint32_t i = 0; i < n && n > 2; i++) {
        hf_edge old = e[i], next = e[(i + 1) % n];

        while (n > 2 &&
               (class_ != HF_CLASS_PREFIX || next.kind == HF_EDGE_WW ||
                e[i].kind == HF_EDGE_RW) &&
               (class_ != HF_CLASS_CAUSAL || next.kind == HF_EDGE_WW) &&
               leads_to(g, &e[i], next.to)) {
            hf_edge *gone = &e[(i + 1) % n];
            uint32_t at = (uint32_t)(gone - e);
            uint32_t far = hf_graph_version_of(g, next.to, e[i].key);

            e[i].to = next.to;
            e[i].to_op = g->ver_op[far];
            memmove(gone, gone + 1, (n - 1 - at) * sizeof(*e));
            if (hf_cycle_name(e, n - 1) != name) {
                memmove(gone + 1, gone, (n - 1 - at) * sizeof(*e));
                *gone = next;
                e[i] = old;
                break;
            }
            n--;
            if (at < i)
                i--;
            old = e[i];
            next = e[(i + 1) % n];
        }
    }
    return n;
}

/* The row of a class, to which a form is added. */
static hf_anomaly base_of(hf_cycle_class class_)
{
    static const hf_anomaly rows[HF_CLASS_COUNT] = {
        HF_G0,      HF_G1C,           HF_G_SINGLE_ITEM, HF_G_NONADJACENT_ITEM,
        HF_G2_ITEM, HF_G_SINGLE_ITEM, HF_G_SINGLE_ITEM};

    return rows[class_];
}

/* True if there is one. */
static bool report_class(cut *c, hf_cycle_class class_, hf_cycle_form form,
                         uint64_t steps)
{
    hf_graph_report *r = c->r;
    hf_cycle_search s = {.graph = &c->graph,
                         .class_ = class_,
                         .form = form,
                         .most_steps = steps,
                         .budget = r->g->budget};
    hf_edge *edges;
    uint32_t n;

    hf_cycle_search_run(&s);
    if (s.gave_up) /* at the limit: that none was found says nothing then */
        (void)hf_graph_spent(r->g);
    if (s.n == 0) {
        if (s.gave_up)
            r->at_least[base_of(class_) + (form % 3)] = true;
        return false;
    }
    edges = HF_NEW_ARRAY(hf_edge, (size_t)s.n + 1);
    n = contract(r->g, class_, edges, edges_of(c, &s, edges));
    hf_report_cycle(r, hf_cycle_name(edges, n), edges, n);
    hf_free(edges);
    hf_free(s.cycle);
    return true;
}

/* The worst class first; classes up to `last`. */
static bool report_form(cut *c, hf_cycle_class last, hf_cycle_form form)
{
    bool found = false;

    for (unsigned k = 0; k <= last && !(found && c->thorough); k++)
        found |= report_class(c, (hf_cycle_class)k, form,
                              c->thorough ? 0 : SEARCH_STEPS);
    return found;
}

static hf_cycle_class last_class(const hf_level_info *level)
{
    switch (level->shape) {
    case HF_SHAPE_WW:
        return HF_CLASS_G0;
    case HF_SHAPE_SINGLE:
        return HF_CLASS_SINGLE;
    case HF_SHAPE_SNAPSHOT:
        return HF_CLASS_NONADJACENT;
    case HF_SHAPE_ITEM:
    case HF_SHAPE_SERIAL:
        return HF_CLASS_G2;
    default:
        return HF_CLASS_G1C;
    }
}

static bool report_component(cut *c)
{
    const hf_level_info *level = c->r->g->level;
    hf_cycle_class last = last_class(level);
    bool found = report_form(c, last, HF_FORM_PLAIN);

    if (!found && level->session_order)
        found = report_form(c, last, HF_FORM_SESSION);
    if (!found && level->real_time)
        found = report_form(c, last, HF_FORM_REALTIME);
    if (!(c->walk->mask & HF_WALK_RW))
        return found;
    if (level->axiom & HF_AXIOM_PREFIX)
        found |= report_class(c, HF_CLASS_PREFIX, HF_FORM_ANY,
                              c->thorough ? 0 : SEARCH_STEPS);
    if (level->axiom & HF_AXIOM_CAUSAL)
        found |= report_class(c, HF_CLASS_CAUSAL, HF_FORM_ANY, 0);
    return found;
}

/* ---- all components ------------------------------------------------------ */

/* Transactions by component; the caller frees both arrays. */
static void list_components(const hf_walk *w, uint32_t **ret_first,
                            hf_txn_id **ret_txns)
{
    uint32_t n = w->g->h->n_txns;
    uint32_t *first = HF_NEW_ZEROED(uint32_t, (size_t)w->n_components + 2);
    hf_txn_id *txns = HF_NEW_ARRAY(hf_txn_id, (size_t)n + 1);

    for (hf_txn_id t = 0; t < n; t++)
        if (w->component[t] != HF_NONE)
            first[w->component[t] + 2]++;
    for (uint32_t c = 0; c < w->n_components; c++)
        first[c + 2] += first[c + 1];
    for (hf_txn_id t = 0; t < n; t++)
        if (w->component[t] != HF_NONE)
            txns[first[w->component[t] + 1]++] = t;
    *ret_first = first;
    *ret_txns = txns;
}

static void prepare(cut *c)
{
    const hf_graph *g = c->r->g;
    size_t bytes = ((size_t)g->h->n_txns + 1) * sizeof(uint32_t);

    c->local = hf_alloc_large(bytes);
    if (!(c->walk->mask & HF_WALK_RT) || !g->time_txn)
        return;
    c->end_at = hf_alloc_large(bytes);
    memset(c->end_at, 0xff, bytes);
    for (uint32_t i = 0; i < g->n_times; i++)
        c->end_at[g->time_txn[i]] = i;
}

/* Small components with edges that skip versions; large ones, and those in
 * which that finds nothing, with the edges to the next version only; and if
 * the search was cut short before it found anything, without a limit. */
static void explain(cut *c, const hf_txn_id *txns, uint32_t n)
{
    static const struct {
        bool far, thorough;
    } ways[] = {{true, false}, {false, false}, {false, true}};
    bool found = false;

    for (unsigned i = n <= FAR_MOST ? 0 : 1; i < 3 && !found; i++) {
        c->far = ways[i].far;
        c->thorough = ways[i].thorough;
        cut_component(c, txns, n);
        found = report_component(c);
        hf_labelled_release(&c->graph);
    }
}

void hf_report_components(hf_graph_report *r, const hf_walk *w)
{
    cut c = {.r = r, .walk = w};
    uint32_t *first;
    hf_txn_id *txns;

    list_components(w, &first, &txns);
    prepare(&c);
    for (uint32_t i = 0; i < w->n_components && !hf_graph_spent(r->g); i++) {
        hf_budget_progress(r->g->budget, "components with a cycle", i,
                           w->n_components);
        explain(&c, txns + first[i], first[i + 1] - first[i]);
    }
    hf_free(first);
    hf_free(txns);
    hf_free(c.local);
    hf_free(c.end_at);
    hf_vec_release(&c.txns);
    hf_vec_release(&c.ends);
    hf_vec_release(&c.places);
    hf_vec_release(&c.touched);
    hf_vec_release(&c.in);
}
