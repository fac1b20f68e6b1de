/* pred_cut.c: the edges of predicates inside one component.
 *
 * A walk needs no names and can do with the nearest edges; a cycle that is
 * shown needs the operations behind each edge, and is shorter if edges may
 * lead past the nearest flip.  So the operations of the component are looked
 * at again, entry by entry; of a snapshot by time, those of the keys that the
 * component wrote, as others have no edges inside it.  In a large component
 * only those operations are looked at that a cycle needs (pred_needed.c), and
 * if these are many nearest flips have to do.  After MOST edges no more are
 * added: what is there already has cycles enough, or else nothing is said.
 *
 * O(operations * (entries + flips inside the component)).
 */
#include "check/pred.h"

#include <string.h>

#define SMALL 300u
#define MOST 6000000u

typedef struct cutter {
    hf_pred *p;
    const uint32_t *in, *local;
    uint32_t wanted;
    unsigned mask;
    bool all; /* flips, not only the nearest */
    hf_labelled *graph;
    hf_pred_entries entries;
    hf_map first;              /* condition -> where its flips are */
    HF_VEC(uint32_t) flips;    /* of the component: how many, then these */
    HF_VEC(uint32_t) versions; /* that it installed, ascending */
    HF_VEC(hf_key_id) keys;    /* of these, ascending */
} cutter;

static bool inside(const cutter *c, hf_txn_id t)
{
    return t != HF_NONE && c->in[t] == c->wanted;
}

static void add(cutter *c, hf_txn_id from, hf_txn_id to, hf_edge_kind kind,
                hf_key_id key, hf_op_id from_op, hf_op_id to_op)
{
    if ((c->mask >> kind & 1u) && inside(c, from) && inside(c, to) &&
        from != to)
        hf_labelled_add(c->graph,
                        (hf_labelled_edge){c->local[from], c->local[to], kind,
                                           key, from_op, to_op});
}

/* Of a key without a known order: is v certainly after ver? */
static bool is_next(const hf_graph *g, uint32_t ver, uint32_t v)
{
    return g->ver_txn[ver] == HF_NONE || (g->prev && g->prev[v] == ver);
}

static void add_item(cutter *c, const hf_pred_op *o, hf_key_id key,
                     uint32_t ver)
{
    const hf_graph *g = c->p->g;

    if (ver == HF_NONE)
        return;
    add(c, g->ver_txn[ver], o->txn, HF_EDGE_WR, key, g->ver_op[ver], o->op);
    for (uint32_t v = g->ver_first[key] + 1; v < g->ver_end[key]; v++) {
        if (g->open_key[key] ? !is_next(g, ver, v) : v <= ver)
            continue;
        add(c, o->txn, g->ver_txn[v], HF_EDGE_RW, key, o->op, g->ver_op[v]);
        if (!g->open_key[key] && g->ver_txn[v] != o->txn &&
            (!c->all || (g->key_use[key] & HF_USE_PATH)))
            return;
    }
}

/* The versions that the transactions of the component installed. */
static void find_versions(cutter *c, const hf_txn_id *txns, uint32_t n)
{
    const hf_graph *g = c->p->g;
    const hf_history *h = g->h;
    hf_sortable *all;
    size_t count = 0;

    for (uint32_t i = 0; i < n; i++)
        for (hf_op_id o = h->op_first[txns[i]]; o < h->op_first[txns[i] + 1];
             o++)
            if (hf_pred_installed(g, o) != HF_NONE)
                hf_vec_push(&c->versions, hf_pred_installed(g, o));
    all = HF_NEW_ARRAY(hf_sortable, c->versions.n + 1);
    for (size_t i = 0; i < c->versions.n; i++)
        all[i] = (hf_sortable){c->versions.at[i], 0};
    hf_sort(all, c->versions.n);
    for (size_t i = 0; i < c->versions.n; i++)
        if (i == 0 || all[i].key != all[i - 1].key)
            c->versions.at[count++] = (uint32_t)all[i].key;
    c->versions.n = count;
    hf_free(all);
    for (size_t i = 0; i < count; i++) {
        hf_key_id key = c->p->ver_key[c->versions.at[i]];

        if (c->keys.n == 0 || c->keys.at[c->keys.n - 1] != key)
            hf_vec_push(&c->keys, key);
    }
}

/* Does the version change the matches of a condition that is ranges? */
static bool is_flip(const hf_pred *p, const hf_pred_condition *c, uint32_t ver)
{
    hf_key_id key = p->ver_key[ver];

    return p->table_of_key[key] == c->table && ver > p->g->ver_first[key] &&
           hf_pred_holds(p, c, ver) != hf_pred_holds(p, c, ver - 1);
}

static void add_flip(cutter *c, uint32_t at, uint32_t ver)
{
    hf_vec_push(&c->flips, ver);
    c->flips.at[at]++;
}

/* The flips of the condition by transactions of the component: of its flips,
 * or, if these would first have to be found, of the component's versions. */
static hf_pred_set flips_of(cutter *c, uint32_t condition)
{
    const hf_pred_condition *of = &c->p->conditions.at[condition];
    uint32_t at = (uint32_t)c->flips.n;
    uint32_t known = hf_map_add(&c->first, condition, at);

    if (known != at)
        return (hf_pred_set){c->flips.at + known + 1, c->flips.at[known]};
    hf_vec_push(&c->flips, 0);
    if (of->has_sets || of->n_within < c->versions.n) {
        const hf_pred_set *all = &hf_pred_sets(c->p, condition)->flip;

        for (uint32_t i = 0; i < all->n; i++)
            if (inside(c, c->p->g->ver_txn[all->at[i]]))
                add_flip(c, at, all->at[i]);
    } else {
        for (size_t i = 0; i < c->versions.n; i++)
            if (is_flip(c->p, of, c->versions.at[i]))
                add_flip(c, at, c->versions.at[i]);
    }
    return (hf_pred_set){c->flips.at + at + 1, c->flips.at[at]};
}

static void add_flips(cutter *c, const hf_pred_op *o, hf_key_id key,
                      uint32_t ver)
{
    const hf_graph *g = c->p->g;
    hf_pred_set f = flips_of(c, o->condition);
    uint32_t at = hf_pred_below(&f, ver + 1);

    for (uint32_t i = at; i-- > 0 && f.at[i] > g->ver_first[key];) {
        add(c, g->ver_txn[f.at[i]], o->txn, HF_EDGE_PWR, key,
            g->ver_op[f.at[i]], o->op);
        if (!c->all && g->ver_txn[f.at[i]] != o->txn)
            break;
    }
    for (uint32_t i = at; i < f.n && f.at[i] < g->ver_end[key]; i++) {
        add(c, o->txn, g->ver_txn[f.at[i]], HF_EDGE_PRW, key, o->op,
            g->ver_op[f.at[i]]);
        if (!c->all && g->ver_txn[f.at[i]] != o->txn)
            break;
    }
}

/* An operation with a snapshot by time. */
static void cut_timed(cutter *c, const hf_pred_op *o)
{
    hf_pred *p = c->p;
    const hf_history *h = p->g->h;
    const hf_pred_condition *of = &p->conditions.at[o->condition];
    hf_op_id own;

    if (!hf_pred_sort_rows(p, &o->q))
        return;
    for (size_t i = 0; i < c->keys.n; i++) {
        hf_key_id key = c->keys.at[i];
        uint32_t ver;

        if (p->table_of_key[key] != of->table ||
            (!o->fresh && hf_pred_own_write(h, o->txn, o->op, key, &own)))
            continue;
        ver = hf_pred_version_at(p, o, key);
        if (o->all ? hf_pred_holds(p, of, ver) : hf_pred_row_of(p, key) != NULL)
            add_item(c, o, key, ver);
        else
            add_flips(c, o, key, ver);
    }
    for (size_t i = 0; !o->aggregate && i < p->rows.n; i++) {
        hf_key_id key = h->value_key[p->rows.at[i].value];

        if (p->table_of_key[key] != of->table &&
            !hf_pred_own_write(h, o->txn, o->op, key, &own))
            add_item(c, o, key, hf_pred_version(p, o, p->rows.at[i], true));
    }
}

static void cut_op(cutter *c, const hf_pred_op *o)
{
    hf_pred *p = c->p;
    const hf_history *h = p->g->h;
    hf_predicate q = o->q;
    bool has_set;

    if (!hf_pred_sort_rows(p, &q))
        return;
    has_set = hf_pred_entries_of(p, o, true, &c->entries);
    for (size_t i = 0; has_set && i < c->entries.n; i++) {
        const hf_pred_entry *e = &c->entries.at[i];

        if (e->own || e->ver == HF_NONE)
            continue;
        if (e->returned)
            add_item(c, o, e->key, e->ver);
        else
            add_flips(c, o, e->key, e->ver);
    }
    for (size_t i = 0; !o->aggregate && i < p->rows.n; i++) {
        hf_key_id key = h->value_key[p->rows.at[i].value];
        hf_op_id own;
        bool listed = false;

        for (size_t k = 0; has_set && k < c->entries.n && !listed; k++)
            listed = c->entries.at[k].key == key;
        if (!listed && !hf_pred_own_write(h, o->txn, o->op, key, &own))
            add_item(c, o, key, hf_pred_version(p, o, p->rows.at[i], true));
    }
}

/* Without all edges it cannot be said that there is no cycle; a walk says it
 * of all levels but those that want one anti-dependency. */
static void note_missing(const hf_pred *p)
{
    if (p->g->level->shape == HF_SHAPE_SINGLE ||
        (p->g->level->axiom & HF_AXIOM_CAUSAL))
        hf_graph_undecided(p->g, false,
                           "transactions that depend on each other in a circle "
                           "have too many dependencies by conditions");
}

static void cut_all(cutter *c, const hf_txn_id *txns, uint32_t n,
                    const uint8_t *needed)
{
    const hf_pred *p = c->p;

    for (uint32_t i = 0; i < n; i++) {
        if (needed && !needed[txns[i]])
            continue;
        if (c->graph->edges.n >= MOST) {
            note_missing(p);
            return;
        }
        for (uint32_t k = p->op_first[txns[i]]; k < p->op_first[txns[i] + 1];
             k++) {
            if (p->ops.at[k].timed)
                cut_timed(c, &p->ops.at[k]);
            else
                cut_op(c, &p->ops.at[k]);
        }
        if (hf_graph_spent(p->g))
            return;
    }
}

static uint32_t count_needed(const uint8_t *needed, const hf_txn_id *txns,
                             uint32_t n)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++)
        count += needed[txns[i]];
    return count;
}

void hf_pred_cut(hf_pred *p, const hf_txn_id *txns, uint32_t n,
                 const uint32_t *in, uint32_t wanted, const uint32_t *local,
                 unsigned mask, hf_labelled *graph)
{
    uint32_t small = p->g->options.large ? p->g->options.large : SMALL;
    uint8_t *needed = NULL;
    cutter c = {.p = p,
                .in = in,
                .local = local,
                .wanted = wanted,
                .mask = mask,
                .all = n <= small,
                .graph = graph};

    hf_map_init(&c.first);
    find_versions(&c, txns, n);
    if (!c.all)
        needed = hf_pred_needed(p, txns, n, in, wanted, mask);
    /* everybody whom a condition depends on is visible, not only the nearest */
    c.all |= (p->g->level->axiom & HF_AXIOM_CAUSAL) && !needed;
    c.all |= needed && count_needed(needed, txns, n) <= SMALL;
    cut_all(&c, txns, n, needed);
    hf_free(needed);
    hf_map_release(&c.first);
    hf_vec_release(&c.flips);
    hf_vec_release(&c.versions);
    hf_vec_release(&c.keys);
    hf_vec_release(&c.entries);
}
