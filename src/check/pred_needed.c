/* pred_needed.c: whose predicate operations a large component needs.
 *
 * To show a cycle the operations of a component are looked at entry by entry
 * (pred_cut.c).  In a component of thousands that is too much, and of no use:
 * a cycle has few transactions.  So those on some short cycles are found in the
 * graph of the walk, with its chains of changes, and only these have their
 * operations looked at.  That is enough: an edge of a chain stands for a path
 * that begins or ends with an edge of the same operation and goes on along ww
 * (pred_chains.c), and the edges between items are all there.
 *
 * Where exactly one anti-dependency is wanted, that of t3, and the way back has
 * none, any cycle will not do.  Let the versions of every key ascend by commit
 * time.  The way back begins with a writer who committed after t3's snapshot
 * (for an item: who is not before the version after the one read).  So t3 is
 * suspect only if somebody before it, along all but anti-dependencies, has so
 * late a commit; and only who has one before it, or is one, can be on the way.
 * From each suspect the way is looked for backward, for the nearest version
 * that contradicts what it looked at; if none has one the component has no such
 * cycle.  At causal the way back has no ww, which edges of chains stand for;
 * there it is looked for among what each transaction reads from (pred_sight.c).
 *
 * O(edges of the walk), a few times; for a suspect those of the transactions
 * between its snapshot and it.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

#define TRIES 12u
#define SHORT 3u
#define ENOUGH 16u /* suspects with a cycle */

typedef struct finder {
    hf_pred *p;
    const hf_graph *g;
    const uint32_t *in;
    uint32_t wanted;
    hf_walk walk;
    hf_walk_nodes nodes;
    bool backward; /* edges are listed by where they lead to */
    bool fill;
    uint32_t *first, *to; /* of node v: to[first[v]] .. */
    uint32_t *stamp, *parent, round;
    HF_VEC(uint32_t) now, next;
    uint8_t *needed; /* per transaction */
    hf_pred_sight *sight;
    hf_txn_id at; /* whose sources are asked for */
} finder;

/* ---- the graph of the walk, inside the component ------------------------- */

/* HF_NONE: a node in between. */
static hf_txn_id txn_of(const finder *f, uint32_t node)
{
    if (node >= f->nodes.times)
        return HF_NONE;
    return f->walk.form == HF_WALK_PLAIN ? node : node / 2;
}

static bool is_inside(const finder *f, uint32_t node)
{
    hf_txn_id t = txn_of(f, node);

    return t == HF_NONE || f->in[t] == f->wanted;
}

static void take_edge(void *user, uint32_t from, uint32_t to)
{
    finder *f = user;
    uint32_t a = f->backward ? to : from, b = f->backward ? from : to;

    if (from == to || !is_inside(f, from) || !is_inside(f, to))
        return;
    if (f->fill)
        f->to[f->first[a + 1]++] = b;
    else
        f->first[a + 2]++;
}

static void list_edges(finder *f)
{
    uint32_t n;

    f->nodes = hf_walk_count(&f->walk);
    n = f->nodes.n;
    f->first = hf_alloc_large(hf_array_size((size_t)n + 3, sizeof(uint32_t)));
    memset(f->first, 0, ((size_t)n + 3) * sizeof(uint32_t));
    f->fill = false;
    hf_walk_edges(&f->walk, take_edge, f);
    for (uint32_t v = 0; v < n; v++)
        f->first[v + 2] += f->first[v + 1];
    f->to = hf_alloc_large(
        hf_array_size((size_t)f->first[n + 1] + 1, sizeof(uint32_t)));
    f->fill = true;
    hf_walk_edges(&f->walk, take_edge, f);
    f->stamp = hf_alloc_large(hf_array_size((size_t)n + 1, sizeof(uint32_t)));
    memset(f->stamp, 0, ((size_t)n + 1) * sizeof(uint32_t));
    f->parent = hf_alloc_large(hf_array_size((size_t)n + 1, sizeof(uint32_t)));
}

static void release(finder *f)
{
    hf_free(f->first);
    hf_free(f->to);
    hf_free(f->stamp);
    hf_free(f->parent);
    hf_vec_release(&f->now);
    hf_vec_release(&f->next);
}

/* ---- any cycle ----------------------------------------------------------- */

/* Marks the transactions on the way from start to node; returns how many. */
static uint32_t mark_way(finder *f, uint32_t node, uint32_t start)
{
    uint32_t n = 0;

    for (;; node = f->parent[node]) {
        hf_txn_id t = txn_of(f, node);

        if (t != HF_NONE) {
            n += f->needed[t] == 0;
            f->needed[t] = 1;
        }
        if (node == start)
            return n;
    }
}

/* The shortest cycle through the node: how many transactions it adds; 0: there
 * is none, or all are marked. */
static uint32_t find_cycle(finder *f, uint32_t start)
{
    f->round++;
    f->now.n = f->next.n = 0;
    hf_vec_push(&f->now, start);
    while (f->now.n > 0) {
        while (f->now.n > 0) {
            uint32_t node = f->now.at[--f->now.n];

            for (uint32_t i = f->first[node]; i < f->first[node + 1]; i++) {
                uint32_t to = f->to[i];

                if (to == start)
                    return mark_way(f, node, start);
                if (f->stamp[to] == f->round)
                    continue;
                f->stamp[to] = f->round;
                f->parent[to] = node;
                if (txn_of(f, to) == HF_NONE ||
                    txn_of(f, to) == txn_of(f, node))
                    hf_vec_push(&f->now, to);
                else
                    hf_vec_push(&f->next, to);
            }
        }
        for (size_t i = 0; i < f->next.n; i++)
            hf_vec_push(&f->now, f->next.at[i]);
        f->next.n = 0;
    }
    return 0;
}

/* How far behind its commit the oldest snapshot of t is. */
static uint32_t age_of(const hf_pred *p, hf_txn_id t)
{
    uint32_t oldest = UINT32_MAX;

    if (!p->rank || p->rank[t] == HF_NONE)
        return 0;
    for (uint32_t i = p->op_first[t]; i < p->op_first[t + 1]; i++)
        if (p->ops.at[i].timed && p->ops.at[i].ranks < oldest)
            oldest = p->ops.at[i].ranks;
    return oldest < p->rank[t] ? p->rank[t] - oldest : 0;
}

/* Those with the oldest snapshots, and some others. */
static bool find_cycles(finder *f, const hf_txn_id *txns, uint32_t n)
{
    hf_sortable *all =
        hf_alloc_large(hf_array_size((size_t)n + 1, sizeof(*all)));
    unsigned split = f->walk.form != HF_WALK_PLAIN;
    bool any = false;

    for (uint32_t i = 0; i < n; i++)
        all[i] = (hf_sortable){UINT32_MAX - age_of(f->p, txns[i]), txns[i]};
    hf_sort(all, n);
    for (uint32_t i = 0; i < TRIES && i < n; i++) {
        uint32_t at = i < TRIES / 2 ? i : (uint32_t)((uint64_t)n * i / TRIES);
        uint32_t t = (uint32_t)all[at].value, found = 0;

        for (uint32_t k = 0; k <= split && found == 0; k++)
            found = find_cycle(f, split ? 2 * t + k : t);
        any |= found > 0;
        if (found > 0 && found <= SHORT)
            break;
    }
    hf_free(all);
    return any;
}

/* ---- with one anti-dependency -------------------------------------------- */

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t own_rank(const finder *f, uint32_t node)
{
    return node < f->nodes.times && f->p->rank[node] != HF_NONE
               ? f->p->rank[node] + 1
               : 0;
}

/* Per node: the latest commit rank + 1 before it, not its own.  Depth first
 * along the edges into nodes, which have no cycles. */
static uint32_t *find_reach(finder *f)
{
    uint32_t n = f->nodes.n;
    uint32_t *reach = hf_alloc_large(hf_array_size((size_t)n + 1, 4));
    uint32_t *cursor = f->parent;

    memset(reach, 0, ((size_t)n + 1) * 4);
    f->round++;
    for (uint32_t root = 0; root < n; root++) {
        if (f->stamp[root] == f->round || !is_inside(f, root))
            continue;
        f->now.n = 0;
        hf_vec_push(&f->now, root);
        f->stamp[root] = f->round;
        cursor[root] = f->first[root];
        while (f->now.n > 0) {
            uint32_t node = f->now.at[f->now.n - 1], before;

            if (cursor[node] == f->first[node + 1]) {
                f->now.n--;
                continue;
            }
            before = f->to[cursor[node]];
            if (f->stamp[before] != f->round) {
                f->stamp[before] = f->round;
                cursor[before] = f->first[before];
                hf_vec_push(&f->now, before);
                continue; /* and once more when it is done */
            }
            cursor[node]++;
            reach[node] =
                later(reach[node], later(reach[before], own_rank(f, before)));
        }
    }
    return reach;
}

static uint32_t next_rank(const hf_pred *p, uint32_t ver)
{
    const hf_graph *g = p->g;

    return ver != HF_NONE && ver + 1 < g->ver_end[p->ver_key[ver]]
               ? p->rank[g->ver_txn[ver + 1]]
               : UINT32_MAX;
}

/* Rows of its own table are of its snapshot. */
static uint32_t limit_of_op(hf_pred *p, const hf_pred_op *o)
{
    uint32_t least = o->ranks;

    if (o->aggregate || !hf_pred_sort_rows(p, &o->q))
        return least;
    for (size_t i = 0; i < p->rows.n; i++) {
        hf_version_ref ref = p->rows.at[i];
        uint32_t next;

        if (p->table_of_key[p->g->h->value_key[ref.value]] ==
            p->conditions.at[o->condition].table)
            continue;
        next = next_rank(p, hf_pred_version(p, o, ref, true));
        least = next < least ? next : least;
    }
    return least;
}

/* Commits below this rank do not contradict what t looked at. */
static uint32_t limit_of(hf_pred *p, hf_txn_id t)
{
    const hf_history *h = p->g->h;
    uint32_t least = UINT32_MAX;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t next = next_rank(p, hf_graph_source(p->g, o));

        least = next < least ? next : least;
    }
    for (uint32_t i = p->op_first[t]; i < p->op_first[t + 1]; i++) {
        uint32_t limit = limit_of_op(p, &p->ops.at[i]);

        least = limit < least ? limit : least;
    }
    return least;
}

static void visit(finder *f, uint32_t node, uint32_t from, bool free_step)
{
    if (f->stamp[node] == f->round)
        return;
    f->stamp[node] = f->round;
    f->parent[node] = from;
    if (free_step)
        hf_vec_push(&f->now, node);
    else
        hf_vec_push(&f->next, node);
}

static void visit_source(void *user, hf_txn_id from)
{
    finder *f = user;

    if (f->in[from] == f->wanted)
        visit(f, from, f->at, false);
}

/* Whoever is directly before the node, along edges of the walk. */
static void visit_before(finder *f, const uint32_t *reach, uint32_t node,
                         uint32_t limit)
{
    for (uint32_t i = f->first[node]; i < f->first[node + 1]; i++) {
        uint32_t before = f->to[i];

        if (later(reach[before], own_rank(f, before)) > limit)
            visit(f, before, node, before >= f->nodes.times);
    }
}

/* ... in the session, or read from. */
static void visit_visible(finder *f, hf_txn_id t, uint32_t limit)
{
    f->at = t;
    if (f->g->session_prev && f->g->session_prev[t] != HF_NONE)
        visit_source(f, f->g->session_prev[t]);
    hf_pred_sight_sources(f->sight, t, limit, visit_source, f);
}

/* Marks t3 and the way back to it, if there is one. */
static bool mark_suspect(finder *f, const uint32_t *reach, hf_txn_id t3,
                         uint32_t limit)
{
    bool causal = f->g->level->axiom & HF_AXIOM_CAUSAL;

    f->round++;
    f->now.n = f->next.n = 0;
    hf_vec_push(&f->now, t3);
    f->stamp[t3] = f->round;
    while (f->now.n > 0) {
        while (f->now.n > 0) {
            uint32_t node = f->now.at[--f->now.n];

            if (node != t3 && own_rank(f, node) > limit &&
                hf_pred_sight_misses(f->sight, t3, node)) {
                (void)mark_way(f, node, t3);
                return true;
            }
            if (causal)
                visit_visible(f, node, limit);
            else
                visit_before(f, reach, node, limit);
        }
        for (size_t i = 0; i < f->next.n; i++)
            hf_vec_push(&f->now, f->next.at[i]);
        f->next.n = 0;
    }
    return false;
}

static bool find_suspects(finder *f, const hf_txn_id *txns, uint32_t n)
{
    uint32_t *reach, found = 0;

    if (!hf_pred_is_timed(f->p))
        return false;
    reach = find_reach(f);
    f->sight = hf_pred_sight_new(f->p, reach);
    for (uint32_t i = 0; i < n && found < ENOUGH && !hf_graph_spent(f->p->g);
         i++) {
        uint32_t limit = limit_of(f->p, txns[i]);

        if (reach[txns[i]] > limit)
            found += mark_suspect(f, reach, txns[i], limit);
    }
    hf_pred_sight_free(f->sight);
    hf_free(reach);
    return true;
}

uint8_t *hf_pred_needed(hf_pred *p, const hf_txn_id *txns, uint32_t n,
                        const uint32_t *in, uint32_t wanted, unsigned mask)
{
    const hf_level_info *level = p->g->level;
    finder f = {.p = p, .g = p->g, .in = in, .wanted = wanted};
    bool single = (mask & HF_WALK_A) && (level->shape == HF_SHAPE_SINGLE ||
                                         (level->axiom & HF_AXIOM_CAUSAL));
    bool fine;

    f.walk = (hf_walk){.g = p->g, .mask = mask, .form = HF_WALK_PLAIN};
    if (single)
        f.walk.mask &= ~HF_WALK_A;
    else if ((mask & HF_WALK_A) && level->shape == HF_SHAPE_SNAPSHOT)
        f.walk.form = HF_WALK_SNAPSHOT;
    else if ((mask & HF_WALK_A) && (level->axiom & HF_AXIOM_PREFIX))
        f.walk.form = HF_WALK_PREFIX;
    f.backward = single;
    f.needed = HF_NEW_ZEROED(uint8_t, (size_t)p->g->h->n_txns + 1);
    list_edges(&f);
    fine = single ? find_suspects(&f, txns, n) : find_cycles(&f, txns, n);
    release(&f);
    if (!fine) {
        hf_free(f.needed);
        return NULL;
    }
    return f.needed;
}
