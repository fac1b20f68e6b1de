/* graph_walk.c: is the graph acyclic, and if not, where are the cycles?
 *
 * Depth first along the edges into a node, so that a node is finished after
 * all that comes before it: the order of finishing is a topological order.
 * Roots are tried in the order of the file, which is nearly the order of
 * commits; then nearly everything a transaction depends on is finished
 * already, the stack stays short and memory is read almost in sequence.
 *
 * If an edge leads back into the stack there is a cycle, and Tarjan's
 * algorithm is run over the same edges for the components.
 *
 * Nodes are transactions (or starts 2t and commits 2t + 1), then one for each
 * end in real time, then one for each group (graph_open.c), then those of
 * chains of predicates (pred_timed.c).
 *
 * O(nodes + edges); a version with r readers and several children costs r
 * once, thanks to groups.
 */
#include "check/graph.h"

#include <string.h>

#include "check/pred.h"

typedef struct frame {
    uint32_t node;
    uint32_t op;   /* the next operation to look at */
    uint32_t link; /* how far in that operation */
    uint32_t sub;  /* ... and in the readers of one pair */
    uint32_t more; /* how far in the edges of predicates */
    uint32_t stage;
} frame;

typedef struct walker {
    const hf_graph *g;
    unsigned mask;
    hf_walk_form form;
    uint32_t time_base, group_base, more_base, n_nodes;
} walker;

enum { STAGE_START, STAGE_SESSION, STAGE_TIME, STAGE_OPS };

/* The node that an edge of a kind from t starts at. */
static inline uint32_t from_node(const walker *w, hf_txn_id t, bool rw)
{
    if (w->form == HF_WALK_PLAIN)
        return t;
    return 2 * t + !rw;
}

static inline frame open_node(const walker *w, uint32_t node)
{
    frame f = {.node = node};

    if (node < w->time_base)
        f.op = w->g->h->op_first[w->form == HF_WALK_PLAIN ? node : node / 2];
    return f;
}

/* ---- edges into a node --------------------------------------------------- */

/* The next reader of version p but t, from f->sub on; HF_NONE: no more. */
static inline uint32_t next_reader(const walker *w, frame *f, uint32_t p,
                                   hf_txn_id t)
{
    const hf_graph *g = w->g;
    uint32_t n = g->reader_first[p + 1] - g->reader_first[p];

    while (f->sub < n) {
        hf_txn_id r = g->reader_txn[g->reader_first[p] + f->sub++];

        if (r != t)
            return from_node(w, r, true);
    }
    return HF_NONE;
}

/* Edges of a write whose key is one chain. */
static inline uint32_t next_of_chain(const walker *w, frame *f, uint32_t p,
                                     hf_txn_id t, unsigned mask)
{
    if (f->link == 0) {
        f->link = 1;
        if ((mask & HF_WALK_WW) && w->g->ver_txn[p] != HF_NONE)
            return from_node(w, w->g->ver_txn[p], false);
    }
    return mask & HF_WALK_RW ? next_reader(w, f, p, t) : HF_NONE;
}

/* The pairs that end in version v: their writers, then their readers. */
static uint32_t next_of_pairs(const walker *w, frame *f, uint32_t v,
                              hf_txn_id t, unsigned mask)
{
    const hf_graph *g = w->g;

    while (g->pair_first &&
           f->link - 4 < 2 * (g->pair_first[v + 1] - g->pair_first[v])) {
        uint32_t i = f->link - 4;
        uint32_t p = g->pairs[g->pair_first[v] + i / 2].first;
        uint32_t node;

        if (i % 2 == 0) {
            f->link++;
            f->sub = 0;
            if ((mask & HF_WALK_WW) && g->ver_txn[p] != HF_NONE &&
                g->ver_txn[p] != t)
                return from_node(w, g->ver_txn[p], false);
            continue;
        }
        node = mask & HF_WALK_RW ? next_reader(w, f, p, t) : HF_NONE;
        if (node != HF_NONE)
            return node;
        f->link++;
    }
    return HF_NONE;
}

/* Edges of a write whose key has open orders. */
static uint32_t next_of_tree(const walker *w, frame *f, uint32_t v, hf_txn_id t,
                             unsigned mask)
{
    const hf_graph *g = w->g;
    uint32_t p = g->prev[v], group = g->group_of[p], node;

    if (f->link <= 1 && group == HF_NONE) {
        node = next_of_chain(w, f, p, t, mask);
        if (node != HF_NONE)
            return node;
        f->link = 4;
    }
    if (f->link == 0) {
        f->link = 2;
        if ((mask & HF_WALK_WW) && g->ver_txn[p] != HF_NONE)
            return from_node(w, g->ver_txn[p], false);
    }
    if (f->link == 2) {
        f->link = 3;
        if (mask & HF_WALK_RW)
            return w->group_base + group;
    }
    if (f->link == 3) {
        f->link = 4;
        if ((mask & HF_WALK_RW) && g->group_alone[group] != HF_NONE &&
            g->group_alone[group] != t)
            return from_node(w, g->group_alone[group], true);
    }
    return next_of_pairs(w, f, v, t, mask);
}

static inline uint32_t next_of_ops(const walker *w, frame *f, hf_txn_id t,
                                   unsigned mask)
{
    const hf_graph *g = w->g;
    hf_op_id end = g->h->op_first[t + 1];

    for (; f->op < end; f->op++, f->link = f->sub = 0) {
        uint32_t role = g->op_role[f->op], node;

        if (role == HF_NONE)
            continue;
        if (!(role & 1u)) {
            if ((mask & HF_WALK_WR) && g->ver_txn[role / 2] != HF_NONE) {
                f->op++;
                return from_node(w, g->ver_txn[role / 2], false);
            }
            continue;
        }
        node = g->total ? next_of_chain(w, f, role / 2 - 1, t, mask)
                        : next_of_tree(w, f, role / 2, t, mask);
        if (node != HF_NONE)
            return node;
    }
    return HF_NONE;
}

/* What increments read: after everything else, as they are few. */
static uint32_t next_of_sources(const walker *w, frame *f, hf_txn_id t,
                                unsigned mask)
{
    const hf_graph *g = w->g;
    hf_op_id first = g->h->op_first[t], end = g->h->op_first[t + 1];

    while ((mask & HF_WALK_WR) && first + f->link < end) {
        uint32_t role = g->op_source[first + f->link++];

        if (role != HF_NONE && g->ver_txn[role / 2] != HF_NONE)
            return from_node(w, g->ver_txn[role / 2], false);
    }
    return HF_NONE;
}

/* Edges of predicates into a transaction, or a node of a chain. */
static uint32_t next_of_more(const walker *w, frame *f, uint32_t index,
                             unsigned mask)
{
    const hf_pred *p = w->g->pred;
    uint32_t n_txns = w->g->h->n_txns;

    while (p->first[index] + f->more < p->first[index + 1]) {
        uint32_t i = p->first[index] + f->more++;
        uint32_t from = p->from[i];
        unsigned kind = 1u << p->kind[i];

        if (!(mask & kind))
            continue;
        if (from >= n_txns)
            return w->more_base + (from - n_txns);
        return from_node(w, from, (kind & HF_WALK_A) != 0);
    }
    return HF_NONE;
}

static inline unsigned mask_of(const walker *w, uint32_t node)
{
    unsigned late = HF_WALK_A;

    if (w->form == HF_WALK_PLAIN)
        return w->mask;
    if (w->form == HF_WALK_PREFIX)
        late |= HF_WALK_WW;
    return node & 1u ? w->mask & late : w->mask & ~late;
}

static inline uint32_t next_of_txn(const walker *w, frame *f)
{
    const hf_graph *g = w->g;
    unsigned mask = mask_of(w, f->node);
    hf_txn_id t = w->form == HF_WALK_PLAIN ? f->node : f->node / 2;
    uint32_t node;

    if (f->stage == STAGE_START) {
        f->stage = STAGE_SESSION;
        if (w->form != HF_WALK_PLAIN && (f->node & 1u))
            return f->node - 1;
    }
    if (f->stage == STAGE_SESSION) {
        f->stage = STAGE_TIME;
        if ((mask & HF_WALK_SO) && g->session_prev[t] != HF_NONE)
            return from_node(w, g->session_prev[t], false);
    }
    if (f->stage == STAGE_TIME) {
        f->stage = STAGE_OPS;
        if ((mask & HF_WALK_RT) && g->time_before[t] > 0)
            return w->time_base + g->time_before[t] - 1;
    }
    node = next_of_ops(w, f, t, mask);
    if (node == HF_NONE && g->op_source)
        node = next_of_sources(w, f, t, mask);
    if (node == HF_NONE && g->pred)
        node = next_of_more(w, f, t, mask);
    return node;
}

/* The next node before f->node; HF_NONE: no more. */
static inline uint32_t next_before(const walker *w, frame *f)
{
    const hf_graph *g = w->g;
    uint32_t i;

    if (f->node < w->time_base)
        return next_of_txn(w, f);
    if (f->node < w->group_base) {
        i = f->node - w->time_base;
        if (f->link == 0) {
            f->link = 1;
            if (i > 0)
                return f->node - 1;
        }
        if (f->link++ == 1)
            return from_node(w, g->time_txn[i], false);
        return HF_NONE;
    }
    if (f->node >= w->more_base)
        return next_of_more(w, f, g->h->n_txns + (f->node - w->more_base),
                            w->mask);
    i = f->node - w->group_base;
    return next_reader(w, f, g->group_ver[i], g->group_alone[i]);
}

/* ---- topological order --------------------------------------------------- */

enum { WHITE, GREY, BLACK };

typedef HF_VEC(frame) frames;

static void finish(hf_walk *out, const walker *w, uint8_t *color, uint32_t node)
{
    color[node] = BLACK;
    if (node < w->time_base)
        out->order[out->n_order++] = node;
}

/* Everything before `root`, then root.  False on a cycle. */
static bool visit(hf_walk *out, const walker *w, uint8_t *color, frames *stack,
                  uint32_t root)
{
    frame top = open_node(w, root);

    color[root] = GREY;
    for (;;) {
        uint32_t node = next_before(w, &top);

        if (node == HF_NONE) {
            finish(out, w, color, top.node);
            if (stack->n == 0)
                return true;
            top = stack->at[--stack->n];
        } else if (color[node] == WHITE) {
            hf_vec_push(stack, top);
            top = open_node(w, node);
            color[node] = GREY;
        } else if (color[node] == GREY) {
            stack->n = 0;
            return false;
        }
    }
}

/* ---- roots that wait for nothing ------------------------------------------
 */

/* In the order of ids all earlier transactions are finished, so an edge from
 * one of them is no edge to follow. */
static inline bool is_past(const walker *w, const uint8_t *color, hf_txn_id t,
                           hf_txn_id from)
{
    return from < t || from == HF_NONE ||
           color[w->form == HF_WALK_PLAIN ? from : 2 * from + 1] == BLACK;
}

/* All readers of version p but t: they are listed in the order of ids, so the
 * last one is enough most of the time. */
static bool readers_are_past(const walker *w, const uint8_t *color, hf_txn_id t,
                             uint32_t p)
{
    const hf_graph *g = w->g;
    uint32_t first = g->reader_first[p], i = g->reader_first[p + 1];

    while (i > first && g->reader_txn[i - 1] >= t) {
        hf_txn_id r = g->reader_txn[--i];

        if (r != t && color[w->form == HF_WALK_PLAIN ? r : 2 * r + 1] != BLACK)
            return false;
    }
    return true;
}

/* The same for edges of predicates, whoever they come from. */
static bool more_is_past(const walker *w, const uint8_t *color, hf_txn_id t)
{
    const hf_pred *p = w->g->pred;
    uint32_t n_txns = w->g->h->n_txns;

    for (uint32_t i = p->first[t]; i < p->first[t + 1]; i++) {
        uint32_t from = p->from[i];
        unsigned kind = 1u << p->kind[i];

        if (!(w->mask & kind))
            continue;
        from = from >= n_txns ? w->more_base + (from - n_txns)
                              : from_node(w, from, (kind & HF_WALK_A) != 0);
        if (color[from] != BLACK)
            return false;
    }
    return true;
}

/* Everything before t is finished: t itself is, without a search.  Asked only
 * where every key is one chain. */
static inline bool is_ready(const walker *w, const uint8_t *color, hf_txn_id t)
{
    const hf_graph *g = w->g;
    const hf_history *h = g->h;

    if ((w->mask & HF_WALK_SO) && !is_past(w, color, t, g->session_prev[t]))
        return false;
    if ((w->mask & HF_WALK_RT) && g->time_before[t] > 0 &&
        color[w->time_base + g->time_before[t] - 1] != BLACK)
        return false;
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t role = g->op_role[o];

        if (role == HF_NONE)
            continue;
        /* a read: its version's writer; a write: the one before it */
        if (!is_past(w, color, t, g->ver_txn[role / 2 - (role & 1u)]))
            return false;
        if ((role & 1u) && (w->mask & HF_WALK_RW) &&
            !readers_are_past(w, color, t, role / 2 - 1))
            return false;
    }
    return !g->pred || more_is_past(w, color, t);
}

static void finish_root(hf_walk *out, const walker *w, uint8_t *color,
                        hf_txn_id t)
{
    if (w->form != HF_WALK_PLAIN)
        finish(out, w, color, 2 * t);
    finish(out, w, color, w->form == HF_WALK_PLAIN ? t : 2 * t + 1);
}

/* A root: of a split walk, the commit, which has the start before it. */
static uint32_t root_of(const walker *w, hf_txn_id t)
{
    return w->form == HF_WALK_PLAIN ? t : 2 * t + 1;
}

static bool find_order(hf_walk *out, const walker *w, const hf_txn_id *hint,
                       uint32_t n_hint)
{
    hf_graph *g = out->g;
    uint8_t *color = HF_NEW_ZEROED(uint8_t, (size_t)w->n_nodes + 1);
    uint32_t n = hint ? n_hint : g->h->n_txns;
    frames stack = {0};
    bool acyclic = true, quick = !hint && g->total && !g->op_source;
    uint32_t split = w->form != HF_WALK_PLAIN;

    for (uint32_t i = 0; i < n && acyclic; i++) {
        hf_txn_id t = hint ? hint[i] : i;

        if (!g->happened[t] || color[root_of(w, t)] != WHITE)
            continue;
        if (quick && color[root_of(w, t) & ~split] == WHITE &&
            is_ready(w, color, t))
            finish_root(out, w, color, t);
        else
            acyclic = visit(out, w, color, &stack, root_of(w, t));
        if ((i & 0xff) == 0) {
            if (hf_graph_spent(g))
                break;
            hf_budget_progress(g->budget, "transactions", i, n);
        }
    }
    hf_vec_release(&stack);
    hf_free(color);
    return acyclic;
}

/* ---- components ---------------------------------------------------------- */

typedef struct tarjan {
    const walker *w;
    hf_walk *out;
    uint32_t *index, *low;
    uint32_t count;
    HF_VEC(uint32_t) open;
    frames stack;
    HF_VEC(uint32_t) joined; /* component -> itself, or one it is part of */
} tarjan;

#define DONE (HF_NONE - 1)

static uint32_t component_root(const tarjan *s, uint32_t c)
{
    while (s->joined.at[c] != c)
        c = s->joined.at[c];
    return c;
}

/* Gives the nodes of a component that has more than one its number.  In a
 * split walk a transaction may be in two: they become one. */
static void close_component(tarjan *s, uint32_t node)
{
    const walker *w = s->w;
    size_t first = s->open.n;
    uint32_t c = (uint32_t)s->joined.n;

    while (s->open.at[--first] != node)
        ;
    if (s->open.n - first > 1)
        hf_vec_push(&s->joined, c);
    for (size_t i = first; i < s->open.n; i++) {
        uint32_t at = s->open.at[i];
        hf_txn_id t = w->form == HF_WALK_PLAIN ? at : at / 2;

        s->index[at] = DONE;
        if (at >= w->time_base || s->open.n - first == 1)
            continue;
        if (s->out->component[t] != HF_NONE) {
            uint32_t other = component_root(s, s->out->component[t]);
            uint32_t mine = component_root(s, c);

            s->joined.at[other > mine ? other : mine] =
                other > mine ? mine : other;
        }
        s->out->component[t] = c;
    }
    s->open.n = first;
}

static void enter(tarjan *s, uint32_t node)
{
    s->index[node] = s->low[node] = s->count++;
    hf_vec_push(&s->open, node);
}

static void explore(tarjan *s, uint32_t root)
{
    frame top = open_node(s->w, root);

    enter(s, root);
    for (;;) {
        uint32_t node = next_before(s->w, &top);

        if (node == HF_NONE) {
            uint32_t done = top.node;

            if (s->low[done] == s->index[done])
                close_component(s, done);
            if (s->stack.n == 0)
                return;
            top = s->stack.at[--s->stack.n];
            if (s->low[done] < s->low[top.node])
                s->low[top.node] = s->low[done];
        } else if (s->index[node] == HF_NONE) {
            hf_vec_push(&s->stack, top);
            top = open_node(s->w, node);
            enter(s, node);
        } else if (s->index[node] != DONE &&
                   s->index[node] < s->low[top.node]) {
            s->low[top.node] = s->index[node];
        }
    }
}

static void number_components(tarjan *s)
{
    hf_walk *out = s->out;
    uint32_t n = 0;
    uint32_t *number = HF_NEW_ARRAY(uint32_t, s->joined.n + 1);

    for (uint32_t c = 0; c < s->joined.n; c++)
        if (s->joined.at[c] == c)
            number[c] = n++;
    for (hf_txn_id t = 0; t < out->g->h->n_txns; t++)
        if (out->component[t] != HF_NONE)
            out->component[t] = number[component_root(s, out->component[t])];
    out->n_components = n;
    hf_free(number);
}

static void find_components(hf_walk *out, const walker *w)
{
    hf_graph *g = out->g;
    tarjan s = {.w = w, .out = out};
    size_t bytes = ((size_t)w->n_nodes + 1) * sizeof(uint32_t);

    s.index = hf_alloc_large(bytes);
    s.low = hf_alloc_large(bytes);
    memset(s.index, 0xff, bytes);
    bytes = ((size_t)g->h->n_txns + 1) * sizeof(uint32_t);
    out->component = hf_alloc_large(bytes);
    memset(out->component, 0xff, bytes);
    for (hf_txn_id t = 0; t < g->h->n_txns; t++) {
        if (g->happened[t] && s.index[root_of(w, t)] == HF_NONE)
            explore(&s, root_of(w, t));
        if ((t & 0xff) == 0 && hf_graph_spent(g))
            break;
    }
    number_components(&s);
    hf_free(s.index);
    hf_free(s.low);
    hf_vec_release(&s.open);
    hf_vec_release(&s.stack);
    hf_vec_release(&s.joined);
}

/* ---- all ----------------------------------------------------------------- */

static walker walker_of(const hf_walk *walk)
{
    const hf_graph *g = walk->g;
    walker w = {.g = g, .mask = walk->mask, .form = walk->form};

    if (!g->session_prev)
        w.mask &= ~HF_WALK_SO;
    if (!g->time_txn)
        w.mask &= ~HF_WALK_RT;
    w.time_base = g->h->n_txns * (walk->form == HF_WALK_PLAIN ? 1u : 2u);
    w.group_base = w.time_base + g->n_times;
    w.more_base = w.group_base + g->n_groups;
    w.n_nodes = w.more_base + (g->pred ? g->pred->n_nodes : 0);
    return w;
}

bool hf_walk_run(hf_walk *out, const hf_txn_id *hint, uint32_t n_hint)
{
    walker w = walker_of(out);

    out->order = hf_alloc_large(
        hf_array_size((size_t)w.time_base + 1, sizeof(*out->order)));
    out->acyclic = find_order(out, &w, hint, n_hint);
    if (!out->acyclic && !out->g->stopped)
        find_components(out, &w);
    return !out->g->stopped;
}

hf_walk_nodes hf_walk_count(const hf_walk *walk)
{
    walker w = walker_of(walk);

    return (hf_walk_nodes){w.time_base, w.group_base, w.more_base, w.n_nodes};
}

void hf_walk_edges(const hf_walk *walk, hf_walk_edge edge, void *user)
{
    walker w = walker_of(walk);

    for (uint32_t node = 0; node < w.n_nodes; node++) {
        frame f = open_node(&w, node);
        uint32_t from;

        if (node < w.time_base &&
            !w.g->happened[w.form == HF_WALK_PLAIN ? node : node / 2])
            continue;
        if (node >= w.group_base && node < w.more_base &&
            !(w.mask & HF_WALK_RW))
            continue;
        while ((from = next_before(&w, &f)) != HF_NONE)
            edge(user, from, node);
    }
}

void hf_walk_release(hf_walk *w)
{
    hf_free(w->order);
    hf_free(w->component);
    w->order = w->component = NULL;
}
