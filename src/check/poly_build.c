/* poly_build.c: atoms of versions, and everything that is known.
 *
 * An atom is a run of versions of one key between which no other can be: the
 * part of a list that somebody read; or, where the level forbids lost updates,
 * versions each of which was written by a transaction that had read the one
 * before it.  For had another version come in between, the reader would have
 * overwritten what it did not see.
 *
 * The atom of the initial version is before all others of its key.  The known
 * graph may not have that yet: readers of its last version come before all
 * other atoms, through one node for each such key, a gate.
 *
 * O(operations + versions).
 */
#include "check/poly.h"

#include <string.h>

static uint32_t *nones(size_t n)
{
    uint32_t *a = hf_alloc_large(hf_array_size(n + 1, sizeof(*a)));

    memset(a, 0xff, (n + 1) * sizeof(*a));
    return a;
}

uint32_t hf_poly_n_nodes(const hf_poly *p)
{
    return p->nodes.n + p->n_gates;
}

/* ---- atoms --------------------------------------------------------------- */

/* The version of its key that the writer of v read before it wrote; HF_NONE:
 * it did not, or read two. */
static uint32_t read_before(const hf_graph *g, hf_key_id key, uint32_t v)
{
    const hf_history *h = g->h;
    hf_txn_id t = g->ver_txn[v];
    uint32_t before = HF_NONE;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t source;

        if (h->op_key[o] != key)
            continue;
        source = hf_graph_source(g, o);
        if (source != HF_NONE && before != HF_NONE && source != before)
            return HF_NONE;
        if (source != HF_NONE)
            before = source;
        if (hf_graph_writes(h, o))
            break;
    }
    return before;
}

/* Does the writer's level forbid lost updates? */
static bool loses_nothing(const hf_poly *p, hf_txn_id t)
{
    const hf_graph *g = p->g;

    if (g->options.no_chains)
        return false;
    return g->own ? hf_graph_forbids(g, t, HF_LOST_UPDATE) : p->chains;
}

#define TWO (HF_NONE - 1)

static void link_key(hf_poly *p, hf_key_id key)
{
    const hf_graph *g = p->g;
    uint32_t v = g->ver_first[key] + 1;
    bool list = g->key_use[key] & HF_USE_LIST;

    if (list)
        for (; v < g->chain_end[key]; v++)
            p->next[v - 1] = v;
    for (; v < g->ver_end[key]; v++) {
        uint32_t before;

        if (!loses_nothing(p, g->ver_txn[v]))
            continue;
        before = read_before(g, key, v);

        if (before == HF_NONE || hf_poly_is_uncertain(p, g->ver_txn[v]) ||
            (g->ver_txn[before] != HF_NONE &&
             hf_poly_is_uncertain(p, g->ver_txn[before])))
            continue;
        /* a list that was read has its order */
        if (!list || before + 1 >= g->chain_end[key])
            p->next[before] = p->next[before] == HF_NONE ? v : TWO;
    }
    /* two that read and replaced one version lost an update: that is for the
     * edges to show */
    for (v = g->ver_first[key]; v < g->ver_end[key]; v++)
        if (p->next[v] == TWO)
            p->next[v] = HF_NONE;
}

static void cut_key(hf_poly *p, hf_key_id key)
{
    const hf_graph *g = p->g;

    for (uint32_t v = g->ver_first[key]; v < g->ver_end[key]; v++)
        if (p->next[v] != HF_NONE)
            p->atom[p->next[v]] = v; /* not the first */
    for (uint32_t v = g->ver_first[key]; v < g->ver_end[key]; v++) {
        uint32_t last = v;

        if (p->atom[v] != HF_NONE)
            continue;
        hf_vec_push(&p->queue, v);
        while (p->next[last] != HF_NONE)
            last = p->next[last];
        p->tail[v] = last;
    }
    for (size_t i = p->queue.n; i-- > 0;) {
        uint32_t head = p->queue.at[i];

        if (p->tail[head] == HF_NONE || p->atom[head] != HF_NONE)
            break;
        for (uint32_t v = head; v != HF_NONE; v = p->next[v])
            p->atom[v] = head;
    }
}

static void find_atoms(hf_poly *p)
{
    const hf_graph *g = p->g;

    p->next = nones(g->n_versions);
    p->atom = nones(g->n_versions);
    p->tail = nones(g->n_versions);
    p->key_index = nones(g->h->n_keys);
    p->keys = HF_NEW_ARRAY(hf_key_id, (size_t)g->n_open_keys + 1);
    p->atom_first = HF_NEW_ZEROED(uint32_t, (size_t)g->n_open_keys + 2);
    for (hf_key_id k = 0; k < g->h->n_keys; k++) {
        if (!g->open_key[k])
            continue;
        p->key_index[k] = p->n_keys;
        p->keys[p->n_keys++] = k;
        link_key(p, k);
        cut_key(p, k);
        p->atom_first[p->n_keys] = (uint32_t)p->queue.n;
    }
    p->atoms = p->queue.at;
    p->queue.at = NULL;
    p->queue.n = p->queue.cap = 0;
}

/* ---- gates --------------------------------------------------------------- */

/* The initial atom, if its last version is not the one whose readers are known
 * to come before all others. */
static void find_gates(hf_poly *p)
{
    p->gate_atom = HF_NEW_ARRAY(uint32_t, (size_t)p->n_keys + 1);
    for (uint32_t i = 0; i < p->n_keys; i++) {
        hf_key_id key = p->keys[i];
        uint32_t first = p->g->ver_first[key];
        bool list = p->g->key_use[key] & HF_USE_LIST;

        if (p->tail[first] != (list ? p->g->chain_end[key] - 1 : first))
            p->gate_atom[p->n_gates++] = first;
    }
}

static void gate_edges(const hf_poly *p, uint32_t gate, hf_walk_edge edge,
                       void *user)
{
    const hf_graph *g = p->g;
    uint32_t first = p->gate_atom[gate], last = p->tail[first];
    uint32_t node = p->nodes.n + gate;
    hf_key_id key = g->h->op_key[g->ver_op[last]];
    uint32_t i = p->key_index[key];

    for (uint32_t r = hf_graph_first_reader(g, last);
         (p->walk.mask & HF_WALK_RW) && r < hf_graph_end_reader(g, last); r++)
        edge(user, hf_poly_start(p, g->reader_txn[r]), node);
    for (uint32_t a = p->atom_first[i]; a < p->atom_first[i + 1]; a++) {
        hf_txn_id t;

        if (p->atoms[a] == first)
            continue;
        t = g->ver_txn[p->atoms[a]];
        edge(user, node, hf_poly_commit(p, t));
        edge(user, hf_poly_commit(p, g->ver_txn[last]), hf_poly_entry(p, t));
    }
}

/* ... and not one that followed from others. */
static bool is_forced(const hf_poly *p, hf_poly_ends e)
{
    return hf_map_get(&p->forced_edge, (uint64_t)e.from << 32 | e.to) !=
           UINT32_MAX;
}

void hf_poly_forced_edges(const hf_poly *p, hf_walk_edge edge, void *user)
{
    hf_poly_edges edges = {0};

    for (size_t i = 0; i < p->forced.n; i++) {
        edges.n = 0;
        hf_poly_edges_of(p, p->forced.at[i].a, p->forced.at[i].b, &edges);
        for (size_t k = 0; k < edges.n; k++)
            if (is_forced(p, edges.at[k]))
                edge(user, edges.at[k].from, edges.at[k].to);
    }
    hf_vec_release(&edges);
}

void hf_poly_known(hf_poly *p, hf_walk_edge edge, void *user)
{
    if (p->events) {
        hf_poly_certain_edges(p, edge, user);
    } else {
        hf_walk_edges(&p->walk, edge, user);
        for (uint32_t i = 0; i < p->n_gates; i++)
            gate_edges(p, i, edge, user);
    }
    hf_poly_forced_edges(p, edge, user);
}

/* ---- pairs --------------------------------------------------------------- */

void hf_poly_edges_of(const hf_poly *p, uint32_t a, uint32_t b,
                      hf_poly_edges *ret)
{
    const hf_graph *g = p->g;
    uint32_t last = p->tail[a];
    hf_txn_id t = g->ver_txn[b];

    hf_vec_push(ret, (hf_poly_ends){hf_poly_commit(p, g->ver_txn[last]),
                                    hf_poly_entry(p, t)});
    for (uint32_t i = hf_graph_first_reader(g, last);
         i < hf_graph_end_reader(g, last); i++)
        if (g->reader_txn[i] != t && hf_poly_comes_before(p, g->reader_txn[i]))
            hf_vec_push(ret, (hf_poly_ends){hf_poly_start(p, g->reader_txn[i]),
                                            hf_poly_commit(p, t)});
}

/* ---- who touches what ---------------------------------------------------- */

/* The atom whose place among the others an operation has to do with. */
static uint32_t atom_of_op(const hf_poly *p, hf_op_id o)
{
    const hf_graph *g = p->g;
    uint32_t role = g->op_role[o], v, atom;

    if (role == HF_NONE)
        return HF_NONE;
    v = role / 2;
    atom = p->atom[v];
    if (atom == HF_NONE || (v != p->tail[atom] && (v != atom || !(role & 1u))))
        return HF_NONE;
    return atom;
}

static void each_touch(const hf_poly *p, uint32_t *first, uint32_t *touched)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            uint32_t atom[2] = {atom_of_op(p, o), HF_NONE};

            if (g->op_source && g->op_source[o] != HF_NONE &&
                p->atom[g->op_source[o] / 2] != HF_NONE)
                atom[1] = p->atom[g->op_source[o] / 2];
            for (unsigned i = 0; i < 2; i++) {
                if (atom[i] == HF_NONE)
                    continue;
                if (touched)
                    touched[first[t + 1]++] = atom[i];
                else
                    first[t + 2]++;
            }
        }
}

static void find_touched(hf_poly *p)
{
    uint32_t n = p->g->h->n_txns;
    uint32_t *first = HF_NEW_ZEROED(uint32_t, (size_t)n + 3);

    each_touch(p, first, NULL);
    for (uint32_t t = 0; t <= n; t++)
        first[t + 1] += first[t];
    p->touched = HF_NEW_ARRAY(uint32_t, (size_t)first[n + 1] + 1);
    each_touch(p, first, p->touched);
    p->touch_first = first;
}

void hf_poly_build(hf_poly *p, hf_graph *g, unsigned mask, hf_walk_form form,
                   const uint8_t *uncertain)
{
    *p = (hf_poly){.g = g, .uncertain = uncertain, .eager = g->options.eager};
    p->walk = (hf_walk){.g = g, .mask = mask, .form = form};
    p->chains = hf_level_forbids(g->level->level, HF_LOST_UPDATE) &&
                form != HF_WALK_PREFIX;
    p->nodes = hf_walk_count(&p->walk);
    hf_map_init(&p->pair_of);
    find_atoms(p);
    find_gates(p);
    find_touched(p);
    p->dirty = HF_NEW_ZEROED(uint8_t, (size_t)g->n_versions + 1);
    p->n_dirty = HF_NEW_ZEROED(uint32_t, (size_t)p->n_keys + 1);
    p->dirty_head = nones(p->n_keys);
    p->dirty_next = nones(g->n_versions);
    p->moved_head = nones(p->n_keys);
    p->moved_next = nones(g->n_versions);
    p->sorted_at = nones(g->n_versions);
    hf_map_init(&p->forced_edge);
}

void hf_poly_release(hf_poly *p)
{
    hf_walk_release(&p->walk);
    hf_free(p->next);
    hf_free(p->atom);
    hf_free(p->tail);
    hf_free(p->keys);
    hf_free(p->key_index);
    hf_free(p->atom_first);
    hf_free(p->atoms);
    hf_free(p->dirty);
    hf_free(p->n_dirty);
    hf_free(p->dirty_head);
    hf_free(p->dirty_next);
    hf_free(p->moved_head);
    hf_free(p->moved_next);
    hf_free(p->sorted_at);
    hf_vec_release(&p->moving);
    hf_vec_release(&p->forced);
    hf_map_release(&p->forced_edge);
    hf_free(p->touch_first);
    hf_free(p->touched);
    hf_free(p->gate_atom);
    hf_vec_release(&p->queue);
    hf_vec_release(&p->vars);
    hf_vec_release(&p->choices);
    hf_map_release(&p->entry_of);
    hf_vec_release(&p->candidates);
    hf_vec_release(&p->clauses);
    hf_vec_release(&p->lemma_lits);
    hf_vec_release(&p->lemma_edges);
    hf_vec_release(&p->lemma_lists);
    hf_vec_release(&p->lemma_chosen);
    hf_vec_release(&p->both);
    hf_vec_release(&p->stale_keys);
    hf_vec_release(&p->stale_choices);
    hf_free(p->key_choice_first);
    hf_free(p->key_choices);
    hf_free(p->stale_key);
    hf_free(p->stale);
    hf_vec_release(&p->there);
    if (p->events)
        hf_map_release(&p->both_of);
    hf_free(p->events);
    hf_free(p->open_of);
    hf_free(p->chosen_head);
    hf_free(p->choice_first);
    hf_free(p->choice_of);
    hf_free(p->happened_of);
    hf_map_release(&p->pair_of);
    hf_order_free(p->order);
}
