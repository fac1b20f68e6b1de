/* pred_weak.c: the levels that ask what a transaction may have seen, with
 * predicates.
 *
 * If t3 looked at a version of x, and t2 is visible to t3 and wrote a later
 * one, the level is broken; for a version that the condition did not return
 * only if one in between, or t2's, changes the matches.  t3 reads from the
 * writers of the items it read and from all that a condition depends on
 * (pwr).  What makes t2 visible is in the head of graph_weak.c, which judges
 * items alone; here the reads of a transaction are lists.
 *
 * Where all conditions were asked of snapshots by time it is done without
 * listing anything (pred_visible.c).
 *
 * Only transactions that are part of a cycle are looked at.  Each look goes
 * through the later versions of its key, with a binary search for each, or one
 * for each transaction that t3 reads from where the level looks through
 * those: this is for explaining what is broken, not for large histories in
 * which everything is.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

#include "check/cycle_name.h"

/* t3 looked at a version. */
typedef struct look {
    hf_op_id op;
    hf_key_id key;
    uint32_t ver;
    uint32_t condition; /* HF_NONE: an item */
} look;

/* A transaction reads from another. */
typedef struct source {
    hf_edge edge;
} source;

typedef HF_VEC(look) looks;
typedef HF_VEC(source) sources;

typedef struct sight {
    hf_graph_report *r;
    hf_graph *g;
    hf_pred *p;
    unsigned axiom;
    looks mine;
    uint32_t *first; /* per transaction: its sources; n_txns + 1 */
    sources all;
    hf_map seen_first; /* session and writer: the first source of it there */
    hf_edge *best;     /* the shortest cycle of one transaction */
    uint32_t n_best;
    hf_pred_entries entries;
} sight;

/* ---- what a transaction looked at and read from -------------------------- */

static void add_source(sight *s, hf_txn_id t, hf_edge_kind kind, hf_key_id key,
                       uint32_t ver, hf_op_id op)
{
    const hf_graph *g = s->g;
    hf_txn_id from = g->ver_txn[ver];

    if (from != HF_NONE && from != t)
        hf_vec_push(&s->all,
                    (source){{kind, from, t, key, g->ver_op[ver], op}});
}

static void add_look(sight *s, hf_txn_id t, look l, bool keep)
{
    const hf_graph *g = s->g;

    if (keep)
        hf_vec_push(&s->mine, l);
    if (l.condition == HF_NONE) {
        add_source(s, t, HF_EDGE_WR, l.key, l.ver, l.op);
    } else {
        const hf_pred_set *f = &hf_pred_sets(s->p, l.condition)->flip;

        for (uint32_t i = hf_pred_below(f, l.ver + 1);
             i-- > 0 && f->at[i] > g->ver_first[l.key];)
            add_source(s, t, HF_EDGE_PWR, l.key, f->at[i], l.op);
    }
}

static void look_at_predicate(sight *s, hf_txn_id t, const hf_pred_op *o,
                              bool keep)
{
    hf_pred *p = s->p;
    const hf_history *h = s->g->h;
    hf_predicate q = o->q;
    bool has_set;

    if (!hf_pred_sort_rows(p, &q))
        return;
    has_set = hf_pred_entries_of(p, o, true, &s->entries);
    for (size_t i = 0; has_set && i < s->entries.n; i++) {
        const hf_pred_entry *e = &s->entries.at[i];

        if (!e->own && e->ver != HF_NONE)
            add_look(s, t,
                     (look){o->op, e->key, e->ver,
                            e->returned ? HF_NONE : o->condition},
                     keep);
    }
    for (size_t i = 0; !o->aggregate && i < p->rows.n; i++) {
        hf_key_id key = h->value_key[p->rows.at[i].value];
        hf_op_id own;
        uint32_t ver;
        bool listed = false;

        for (size_t k = 0; has_set && k < s->entries.n && !listed; k++)
            listed = s->entries.at[k].key == key;
        if (listed || hf_pred_own_write(h, t, o->op, key, &own))
            continue;
        ver = hf_pred_version(p, o, p->rows.at[i], true);
        if (ver != HF_NONE)
            add_look(s, t, (look){o->op, key, ver, HF_NONE}, keep);
    }
}

/* Fills the sources of t (at the end of `all`), and with `keep` its looks. */
static void look_at(sight *s, hf_txn_id t, bool keep)
{
    const hf_graph *g = s->g;
    const hf_history *h = g->h;
    uint32_t next = s->p->op_first[t];

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t ver = hf_graph_source(g, o);

        if (ver != HF_NONE)
            add_look(s, t, (look){o, h->op_key[o], ver, HF_NONE}, keep);
        if (next < s->p->op_first[t + 1] && s->p->ops.at[next].op == o)
            look_at_predicate(s, t, &s->p->ops.at[next++], keep);
    }
}

/* ---- visible ------------------------------------------------------------- */

static bool is_earlier(const sight *s, hf_txn_id first, hf_txn_id then)
{
    const hf_history *h = s->g->h;

    return first < then && h->txn_session[first] == h->txn_session[then];
}

static hf_edge so_edge(hf_txn_id first, hf_txn_id then)
{
    return (hf_edge){HF_EDGE_SO, first, then, HF_NONE, HF_NONE, HF_NONE};
}

/* t reads from t2, with an operation before `before`; the first such. */
static const source *source_from(const sight *s, hf_txn_id t, hf_txn_id t2,
                                 hf_op_id before)
{
    uint32_t low = s->first[t], high = s->first[t + 1];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (s->all.at[middle].edge.from < t2)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == s->first[t + 1] || s->all.at[low].edge.from != t2 ||
        s->all.at[low].edge.to_op >= before)
        return NULL;
    return &s->all.at[low];
}

/* Someone in t's session, before t, reads from t2. */
static uint32_t seen_by_session(const sight *s, hf_txn_id t, hf_txn_id t2,
                                hf_edge *way)
{
    uint64_t key = (uint64_t)s->g->h->txn_session[t] << 32 | t2;
    uint32_t i = hf_map_get(&s->seen_first, key);

    if (i == UINT32_MAX || s->all.at[i].edge.to >= t)
        return 0;
    way[0] = s->all.at[i].edge;
    way[1] = so_edge(way[0].to, t);
    return 2;
}

/* Through u, which t3 reads from; the shortest way. */
static uint32_t through(const sight *s, hf_txn_id t3, hf_txn_id t2,
                        hf_edge *way)
{
    uint32_t best = 0;

    for (uint32_t i = s->first[t3]; i < s->first[t3 + 1] && best != 2; i++) {
        hf_txn_id u = s->all.at[i].edge.from;
        const source *x;
        hf_edge found[3];
        uint32_t n = 0;

        if (u == t2)
            continue;
        if ((s->axiom & HF_AXIOM_SO_WR) && is_earlier(s, t2, u))
            found[n++] = so_edge(t2, u);
        else if ((s->axiom & HF_AXIOM_WR_WR) &&
                 (x = source_from(s, u, t2, HF_NONE)))
            found[n++] = x->edge;
        else if ((s->axiom & HF_AXIOM_WR_SO_WR) && best == 0)
            n = seen_by_session(s, u, t2, found);
        if (n == 0)
            continue;
        found[n++] = s->all.at[i].edge;
        memcpy(way, found, n * sizeof(*way));
        best = n;
    }
    return best;
}

/* The edges that lead from t2 to t3; 0: t2 is not visible to t3's look. */
static uint32_t way_to(const sight *s, hf_txn_id t2, hf_txn_id t3, hf_op_id op,
                       hf_edge *way)
{
    const source *x = NULL;
    uint32_t n;

    if (s->axiom & HF_AXIOM_WR)
        x = source_from(s, t3, t2, HF_NONE);
    else if (s->axiom & HF_AXIOM_EARLIER_READ)
        x = source_from(s, t3, t2, op);
    if (x) {
        way[0] = x->edge;
        return 1;
    }
    if ((s->axiom & HF_AXIOM_SO) && is_earlier(s, t2, t3)) {
        way[0] = so_edge(t2, t3);
        return 1;
    }
    if (s->axiom & HF_AXIOM_WR_SO) {
        n = seen_by_session(s, t3, t2, way);
        if (n > 0)
            return n;
    }
    return through(s, t3, t2, way);
}

/* ---- evidence ------------------------------------------------------------ */

/* Appends the way along the key's versions, from behind `from` to `to`. */
static uint32_t along(const hf_graph *g, hf_key_id key, uint32_t from,
                      uint32_t to, hf_edge *e)
{
    uint32_t n = 0;

    if (from == to)
        return 0;
    if (!(g->key_use[key] & HF_USE_PATH)) {
        e[0] = (hf_edge){HF_EDGE_WW, g->ver_txn[from], g->ver_txn[to],
                         key,        g->ver_op[from],  g->ver_op[to]};
        return 1;
    }
    for (uint32_t v = from; v < to; v++)
        e[n++] = (hf_edge){HF_EDGE_WW, g->ver_txn[v], g->ver_txn[v + 1],
                           key,        g->ver_op[v],  g->ver_op[v + 1]};
    return n;
}

/* The cycle, if it is shorter than the one at hand. */
static void offer(sight *s, hf_txn_id t3, const look *l, uint32_t first,
                  uint32_t ver, const hf_edge *way, uint32_t n_way)
{
    const hf_graph *g = s->g;
    hf_edge *e = HF_NEW_ARRAY(hf_edge, (size_t)(ver - first) + n_way + 2);
    uint32_t n = 1;

    e[0] = (hf_edge){l->condition == HF_NONE ? HF_EDGE_RW : HF_EDGE_PRW,
                     t3,
                     g->ver_txn[first],
                     l->key,
                     l->op,
                     g->ver_op[first]};
    n += along(g, l->key, first, ver, e + 1);
    memcpy(e + n, way, n_way * sizeof(*way));
    n += n_way;
    if (s->n_best == 0 || n < s->n_best) {
        hf_free(s->best);
        s->best = e;
        s->n_best = n;
    } else {
        hf_free(e);
    }
}

/* The first version after the one looked at that contradicts it; HF_NONE. */
static uint32_t first_later(const sight *s, hf_txn_id t3, const look *l)
{
    const hf_graph *g = s->g;
    const hf_pred_set *f;

    if (l->condition == HF_NONE) {
        uint32_t v = l->ver + 1;

        while (v < g->ver_end[l->key] && g->ver_txn[v] == t3)
            v++;
        return v < g->ver_end[l->key] ? v : HF_NONE;
    }
    f = &hf_pred_sets(s->p, l->condition)->flip;
    for (uint32_t i = hf_pred_below(f, l->ver + 1);
         i < f->n && f->at[i] < g->ver_end[l->key]; i++)
        if (g->ver_txn[f->at[i]] != t3)
            return f->at[i];
    return HF_NONE;
}

static void judge_look(sight *s, hf_txn_id t3, const look *l)
{
    const hf_graph *g = s->g;
    uint32_t first = g->open_key[l->key] ? HF_NONE : first_later(s, t3, l);
    hf_edge way[4];

    for (uint32_t v = first; first != HF_NONE && v < g->ver_end[l->key]; v++) {
        uint32_t n;

        if (g->ver_txn[v] == t3)
            continue;
        n = way_to(s, g->ver_txn[v], t3, l->op, way);
        if (n == 0)
            continue;
        if (l->condition == HF_NONE
                ? !(g->key_use[l->key] & HF_USE_PATH)
                : hf_pred_has(&hf_pred_sets(s->p, l->condition)->flip, v))
            offer(s, t3, l, v, v, way, n);
        else
            offer(s, t3, l, first, v, way, n);
        if (s->n_best == 2)
            return;
    }
}

static int by_writer(const void *a, const void *b)
{
    const hf_edge *x = &((const source *)a)->edge;
    const hf_edge *y = &((const source *)b)->edge;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to_op > y->to_op) - (x->to_op < y->to_op);
}

/* The sources of every transaction, each writer once: the first read from
 * it. */
static void find_sources(sight *s)
{
    const hf_history *h = s->g->h;

    hf_map_init(&s->seen_first);
    s->first = HF_NEW_ARRAY(uint32_t, (size_t)h->n_txns + 1);
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        size_t first = s->all.n, n = first;

        s->first[t] = (uint32_t)first;
        if (s->g->happened[t] && !hf_graph_spent(s->g))
            look_at(s, t, false);
        if (s->all.n - first > 1)
            qsort(s->all.at + first, s->all.n - first, sizeof(source),
                  by_writer);
        for (size_t i = first; i < s->all.n; i++)
            if (n == first ||
                s->all.at[n - 1].edge.from != s->all.at[i].edge.from)
                s->all.at[n++] = s->all.at[i];
        s->all.n = n;
        /* sessions are in the order of transactions */
        for (size_t i = first; i < n; i++)
            (void)hf_map_add(&s->seen_first,
                             (uint64_t)h->txn_session[t] << 32 |
                                 s->all.at[i].edge.from,
                             (uint32_t)i);
    }
    s->first[h->n_txns] = (uint32_t)s->all.n;
}

void hf_pred_report_weak(hf_graph_report *r, const hf_walk *walk)
{
    sight s = {.r = r, .g = r->g, .p = r->g->pred};
    const hf_history *h = r->g->h;

    if (hf_pred_report_timed(r, walk))
        return;
    s.axiom = r->g->level->shape == HF_SHAPE_OTV ? HF_AXIOM_EARLIER_READ
                                                 : r->g->level->axiom;
    find_sources(&s);
    for (hf_txn_id t = 0; t < h->n_txns && !hf_graph_spent(r->g); t++) {
        size_t kept = s.all.n;

        if (walk->component[t] == HF_NONE)
            continue;
        s.mine.n = 0;
        look_at(&s, t, true);
        s.all.n = kept;
        s.n_best = 0;
        for (size_t i = 0; i < s.mine.n && s.n_best != 2; i++)
            judge_look(&s, t, &s.mine.at[i]);
        if (s.n_best > 0)
            hf_report_cycle(r, hf_cycle_name(s.best, s.n_best), s.best,
                            s.n_best);
    }
    hf_map_release(&s.seen_first);
    hf_free(s.best);
    hf_free(s.first);
    hf_vec_release(&s.mine);
    hf_vec_release(&s.all);
    hf_vec_release(&s.entries);
}
