/* weak_order.c: an order of known and forced edges, and what is stale in it.
 *
 * Known edges lead into each transaction from the one before it in its
 * session and from those it reads from: one flat array; and, where the order of
 * a key's versions is known, from the writer of the version before its own:
 * these stand with the forced edges.  Most histories are recorded in an order
 * that keeps them all; that shows on the way, and nothing has to be sorted
 * then.  Otherwise a
 * search backward along the edges begins with the transactions as they ended,
 * or, where no times are known, with all sessions side by side; later orders
 * follow the one before.
 *
 * O(operations + edges) each time.
 */
#include "check/weak.h"

#include <string.h>

#include "base/sort.h"

/* ---- known edges --------------------------------------------------------- */

/* Is there a key with two versions in known order, or a list? */
static bool has_chains(const hf_graph *g)
{
    for (hf_key_id k = 0; k < g->h->n_keys; k++)
        if ((g->key_use[k] & HF_USE_LIST) ||
            g->chain_end[k] > g->ver_first[k] + 2)
            return true;
    return false;
}

/* The writer of the version known to be just before v; HF_NONE: none. */
static hf_txn_id writer_before(const hf_graph *g, hf_key_id key, uint32_t v)
{
    if (v < g->chain_end[key])
        return g->ver_txn[v - 1];
    return g->key_use[key] & HF_USE_LIST ? g->ver_txn[g->chain_end[key] - 1]
                                         : HF_NONE;
}

static void add_pairs(hf_weak *w)
{
    hf_graph *g = w->g;

    for (size_t i = 0; i < g->listed.n; i++)
        hf_vec_push(&w->pairs, g->listed.at[i]);
    if (g->options.assume & HF_REST_ASSUMABLE)
        hf_graph_assume(g, &w->pairs);
    for (size_t i = 0; i < w->pairs.n; i++) {
        hf_weak_edge e = {g->ver_txn[w->pairs.at[i].first],
                          g->ver_txn[w->pairs.at[i].then], HF_NONE};

        if (e.from == HF_NONE || e.to == HF_NONE || e.from == e.to)
            continue;
        hf_vec_push(&w->edges, e);
        w->in_file_order &= e.from < e.to;
    }
}

/* The edges into t from its session and its sources, behind those that are
 * there. */
static inline uint32_t add_causes(hf_weak *w, hf_txn_id t, uint32_t n)
{
    const hf_graph *g = w->g;
    const hf_history *h = g->h;
    hf_txn_id *dep = w->dep;

    if (g->session_prev && g->session_prev[t] != HF_NONE)
        dep[n++] = g->session_prev[t];
    for (hf_op_id o = h->op_first[t]; g->reads_matter && o < h->op_first[t + 1];
         o++) {
        uint32_t role = g->op_role[o];

        dep[n] = role & 1u ? HF_NONE : g->ver_txn[role / 2];
        n += dep[n] != HF_NONE;
        if (g->op_source && g->op_source[o] != HF_NONE) {
            dep[n] = g->ver_txn[g->op_source[o] / 2];
            n += dep[n] != HF_NONE;
        }
    }
    return n;
}

/* The edges into t from the writers of versions before its own. */
static void add_chains(hf_weak *w, hf_txn_id t)
{
    const hf_graph *g = w->g;
    const hf_history *h = g->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t role = g->op_role[o];
        hf_txn_id from;

        if (role == HF_NONE || !(role & 1u))
            continue;
        from = writer_before(g, h->op_key[o], role / 2);
        if (from == HF_NONE)
            continue;
        hf_vec_push(&w->edges, (hf_weak_edge){from, t, HF_NONE});
        w->in_file_order &= from < t;
    }
}

void hf_weak_build(hf_weak *w)
{
    const hf_graph *g = w->g;
    const hf_history *h = g->h;
    size_t room = (size_t)h->n_txns + h->n_ops + 2;
    bool chains = has_chains(g);
    uint32_t n = 0;

    if (g->op_source)
        room += h->n_ops;
    w->dep = hf_alloc_large(hf_array_size(room, sizeof(*w->dep)));
    w->dep_first =
        hf_alloc_large(hf_array_size((size_t)h->n_txns + 1, sizeof(uint32_t)));
    w->in_file_order = true;
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        uint32_t first = n;

        w->dep_first[t] = n;
        if (!g->happened[t])
            continue;
        n = add_causes(w, t, n);
        for (uint32_t i = first; i < n; i++)
            w->in_file_order &= w->dep[i] < t;
        if (chains)
            add_chains(w, t);
        if ((t & 0xff) == 0 && hf_graph_spent(w->g))
            break;
    }
    w->dep_first[h->n_txns] = n;
    w->n_nodes = h->n_txns;
    add_pairs(w);
}

/* Edges by where they lead. */
void hf_weak_index_edges(hf_weak *w)
{
    uint32_t n = (uint32_t)w->edges.n, sum = 0;
    uint32_t *first = HF_NEW_ZEROED(uint32_t, (size_t)w->n_nodes + 2);

    hf_free(w->in_first);
    hf_free(w->in);
    w->in = hf_alloc_large(hf_array_size((size_t)n + 1, sizeof(uint32_t)));
    for (uint32_t i = 0; i < n; i++)
        first[w->edges.at[i].to + 1]++;
    for (uint32_t v = 0; v <= w->n_nodes; v++) {
        sum += first[v];
        first[v] = sum;
    }
    for (uint32_t i = 0; i < n; i++)
        w->in[first[w->edges.at[i].to]++] = i;
    memmove(first + 1, first, (size_t)w->n_nodes * sizeof(*first));
    first[0] = 0;
    w->in_first = first;
}

/* ---- where to begin ------------------------------------------------------ */

static uint32_t *as_recorded(const hf_weak *w)
{
    const hf_history *h = w->h;
    uint32_t *order =
        hf_alloc_large(hf_array_size((size_t)h->n_txns + 1, sizeof(*order)));
    uint32_t n = 0;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        order[n] = t;
        n += w->g->happened[t];
    }
    return order;
}

/* How far t is in its session, of 2^32. */
static uint64_t share_of(const hf_history *h, uint32_t place, hf_session_id s)
{
    uint64_t n = h->session_first[s + 1] - h->session_first[s];

    return ((uint64_t)(place - h->session_first[s]) << 32) / n;
}

/* By the time of their end; where none was recorded, by how far they are in
 * their session. */
static uint32_t *first_guess(const hf_weak *w)
{
    const hf_history *h = w->h;
    const uint64_t *end = h->cert.commit_ts ? h->cert.commit_ts : h->txn_end;
    hf_sortable *all =
        hf_alloc_large(hf_array_size((size_t)h->n_txns + 1, sizeof(*all)));
    uint32_t *order = as_recorded(w), n = 0;

    for (hf_session_id s = 0; s < h->n_sessions; s++)
        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            if (w->g->happened[t])
                all[n++] = (hf_sortable){end ? end[t] : share_of(h, i, s), t};
        }
    hf_sort(all, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = (uint32_t)all[i].value;
    hf_free(all);
    return order;
}

/* ---- sorting ------------------------------------------------------------- */

typedef struct frame {
    uint32_t node, dep, in;
} frame;

typedef HF_VEC(frame) frames;

enum { WHITE, GREY, BLACK };

typedef struct sorter {
    hf_weak *w;
    uint8_t *color;
    uint32_t *order;
    uint32_t n;
    frames stack;
} sorter;

static inline frame open_node(const hf_weak *w, uint32_t node)
{
    return (frame){node, node < w->h->n_txns ? w->dep_first[node] : 0,
                   w->in_first ? w->in_first[node] : 0};
}

/* The next node before f->node; HF_NONE: no more. */
static inline uint32_t next_before(const hf_weak *w, frame *f)
{
    if (f->node < w->h->n_txns && f->dep < w->dep_first[f->node + 1])
        return w->dep[f->dep++];
    if (w->in_first && f->in < w->in_first[f->node + 1])
        return w->edges.at[w->in[f->in++]].from;
    return HF_NONE;
}

static void finish(sorter *s, uint32_t node)
{
    s->color[node] = BLACK;
    if (node < s->w->h->n_txns)
        s->order[s->n++] = node;
}

/* Everything before `root`, then root.  False on a cycle. */
static bool visit(sorter *s, uint32_t root)
{
    frame top = open_node(s->w, root);

    s->color[root] = GREY;
    for (;;) {
        uint32_t node = next_before(s->w, &top);

        if (node == HF_NONE) {
            finish(s, top.node);
            if (s->stack.n == 0)
                return true;
            top = s->stack.at[--s->stack.n];
        } else if (s->color[node] == WHITE) {
            hf_vec_push(&s->stack, top);
            top = open_node(s->w, node);
            s->color[node] = GREY;
        } else if (s->color[node] == GREY) {
            return false;
        }
    }
}

static bool sort_after(sorter *s, const uint32_t *hint, uint32_t n)
{
    hf_weak *w = s->w;

    for (uint32_t i = 0; i < n; i++) {
        if (s->color[hint[i]] == WHITE && !visit(s, hint[i]))
            return false;
        if ((i & 0xff) == 0) {
            if (hf_graph_spent(w->g))
                return false;
            hf_budget_progress(w->g->budget, "transactions", i, n);
        }
    }
    return true;
}

void hf_weak_note_places(hf_weak *w)
{
    if (w->first_place)
        return;
    w->first_place = hf_alloc_large(
        hf_array_size((size_t)w->h->n_txns + 1, sizeof(uint32_t)));
    for (uint32_t i = 0; i < w->n_order; i++)
        w->first_place[w->order[i]] = i;
}

bool hf_weak_sort(hf_weak *w)
{
    uint32_t n = w->g->n_happened;
    sorter s = {.w = w};
    uint32_t *hint = w->order;
    bool fine;

    if (w->in_file_order && !w->order) {
        w->order = as_recorded(w);
        w->n_order = n;
        return true;
    }
    if (w->edges.n > 0)
        hf_weak_index_edges(w);
    if (hint)
        hf_weak_note_places(w);
    if (!hint)
        hint = first_guess(w);
    s.color = HF_NEW_ZEROED(uint8_t, (size_t)w->n_nodes + 1);
    s.order = hf_alloc_large(
        hf_array_size((size_t)w->h->n_txns + 1, sizeof(uint32_t)));
    fine = sort_after(&s, hint, n);
    hf_free(hint);
    w->order = s.order;
    w->n_order = s.n;
    hf_vec_release(&s.stack);
    hf_free(s.color);
    return fine;
}

/* ---- what is stale ------------------------------------------------------- */

/* Marks the reads of t; true if there is one to expand. */
static inline bool mark_stale(hf_weak *w, uint32_t *current, hf_txn_id t)
{
    const hf_graph *g = w->g;
    const hf_history *h = w->h;
    bool any = false;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t role = g->op_role[o], *now, source = role / 2;
        bool reads = !(role & 1u);

        if (g->op_source && g->op_source[o] != HF_NONE) {
            reads = true;
            source = g->op_source[o] / 2;
        }
        if (role == HF_NONE && !reads)
            continue;
        now = &current[h->op_key[o]];
        if (reads && (*now != source || w->all) && w->state[o] == 0) {
            w->state[o] = HF_WEAK_STALE;
            any = true;
        }
        if (role != HF_NONE && (role & 1u))
            *now = role / 2;
    }
    return any;
}

void hf_weak_find_stale(hf_weak *w)
{
    size_t bytes = hf_array_size((size_t)w->h->n_keys + 1, sizeof(uint32_t));
    uint32_t *current = hf_alloc(bytes);

    if (!w->state)
        w->state = HF_NEW_ZEROED(uint8_t, (size_t)w->h->n_ops + 1);
    for (size_t i = 0; i < w->stale.n; i++) {
        hf_txn_id t = w->stale.at[i];

        for (hf_op_id o = w->h->op_first[t]; o < w->h->op_first[t + 1]; o++)
            if (w->state[o] == HF_WEAK_STALE)
                w->state[o] = HF_WEAK_EXPANDED;
    }
    w->stale.n = 0;
    memcpy(current, w->g->ver_first, bytes);
    for (uint32_t i = 0; i < w->n_order; i++) {
        if (mark_stale(w, current, w->order[i]))
            hf_vec_push(&w->stale, w->order[i]);
        if ((i & 0xff) == 0 && hf_graph_spent(w->g))
            break;
    }
    hf_free(current);
}

/* ---- components ---------------------------------------------------------- */

typedef struct tarjan {
    hf_weak *w;
    uint32_t *index, *low, *component;
    uint32_t count, n_components;
    HF_VEC(uint32_t) open;
    frames stack;
} tarjan;

#define DONE (HF_NONE - 1)

static void close_component(tarjan *s, uint32_t node)
{
    size_t first = s->open.n;
    bool several;

    while (s->open.at[--first] != node)
        ;
    several = s->open.n - first > 1;
    for (size_t i = first; i < s->open.n; i++) {
        s->index[s->open.at[i]] = DONE;
        s->component[s->open.at[i]] = several ? s->n_components : HF_NONE;
    }
    s->n_components += several;
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
        uint32_t node = next_before(s->w, &top), done = top.node;

        if (node == HF_NONE) {
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
        } else if (s->index[node] != DONE && s->index[node] < s->low[done]) {
            s->low[done] = s->index[node];
        }
    }
}

uint32_t *hf_weak_components(hf_weak *w, uint32_t *ret_n)
{
    size_t bytes = hf_array_size((size_t)w->n_nodes + 1, sizeof(uint32_t));
    tarjan s = {.w = w};

    s.index = hf_alloc_large(bytes);
    s.low = hf_alloc_large(bytes);
    s.component = hf_alloc_large(bytes);
    memset(s.index, 0xff, bytes);
    memset(s.component, 0xff, bytes);
    for (hf_txn_id t = 0; t < w->h->n_txns; t++) {
        if (w->g->happened[t] && s.index[t] == HF_NONE)
            explore(&s, t);
        if ((t & 0xff) == 0 && hf_graph_spent(w->g))
            break;
    }
    hf_free(s.index);
    hf_free(s.low);
    hf_vec_release(&s.open);
    hf_vec_release(&s.stack);
    *ret_n = s.n_components;
    return s.component;
}
