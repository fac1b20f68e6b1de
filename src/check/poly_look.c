/* poly_look.c: what an order breaks, and what to choose next.
 *
 * The atoms of a key, sorted by the places of their first writers, are in
 * order if each two neighbours are: everybody who reads the last version of
 * the one comes before the first writer of the other.  Then all are.  Only
 * atoms of which a transaction moved, the dirty ones, are put in their place
 * again and compared with their neighbours: a look at a key costs these, with
 * their readers, a binary search for each, and moving the numbers in between.
 *
 * Neighbours that are not in order become a pair that is chosen, the way that
 * moves less, or the way it was before.
 */
#include "check/poly.h"

#include <string.h>

#include "base/sort.h"

#define FEW 16u            /* atoms that are moved one by one */
#define READERS_AT_ONCE 8u /* edges that a chosen pair brings at once */

void hf_poly_mark_dirty(hf_poly *p, uint32_t atom)
{
    const hf_graph *g = p->g;
    uint32_t last = p->tail[atom], key;

    if ((p->dirty[atom] & HF_ATOM_MOVED) ||
        (g->ver_txn[last] == HF_NONE && !p->events))
        return;
    key = p->events ? p->open_of[atom]
                    : p->key_index[g->h->op_key[g->ver_op[last]]];
    p->moved_next[atom] = p->moved_head[key];
    p->moved_head[key] = atom;
    if (!(p->dirty[atom] & HF_ATOM_DIRTY)) {
        p->dirty_next[atom] = p->dirty_head[key];
        p->dirty_head[key] = atom;
        if (p->n_dirty[key]++ == 0)
            hf_vec_push(&p->queue, key);
    }
    p->dirty[atom] = HF_ATOM_DIRTY | HF_ATOM_MOVED;
    if (p->stale_key)
        hf_poly_mark_key_stale(p, key);
}

void hf_poly_all_dirty(hf_poly *p)
{
    for (uint32_t i = p->atom_first[p->n_keys]; i-- > 0;)
        hf_poly_mark_dirty(p, p->atoms[i]);
}

void hf_poly_moved(void *user, uint32_t node)
{
    hf_poly *p = user;
    hf_txn_id t;

    if (node == HF_NO_TAG) {
        hf_poly_all_dirty(p);
        return;
    }
    if (node >= p->nodes.times)
        return;
    t = hf_poly_txn(p, node);
    for (uint32_t i = p->touch_first[t]; i < p->touch_first[t + 1]; i++)
        hf_poly_mark_dirty(p, p->touched[i]);
    if (p->choice_first)
        hf_poly_mark_chosen(p, t);
}

/* ---- pairs --------------------------------------------------------------- */

uint32_t hf_poly_new_var(hf_poly *p, hf_poly_kind kind, uint32_t a, uint32_t b)
{
    hf_vec_push(&p->vars, (hf_poly_var){kind, a, b});
    return hf_order_new_var(p->order);
}

hf_lit hf_poly_before(hf_poly *p, uint32_t a, uint32_t b)
{
    bool turned = a > b;
    uint64_t name = turned ? (uint64_t)b << 32 | a : (uint64_t)a << 32 | b;
    uint32_t var = hf_map_get(&p->pair_of, name);

    if (var == UINT32_MAX) {
        var = hf_poly_new_var(p, HF_POLY_PAIR, turned ? b : a, turned ? a : b);
        hf_map_set(&p->pair_of, name, var);
    }
    return 2 * var + turned;
}

/* By how much the order breaks "a is before b"; 0: it does not. */
static uint32_t displacement(const hf_poly *p, uint32_t a, uint32_t b)
{
    const hf_graph *g = p->g;
    const uint32_t *place = hf_order_place(p->order);
    uint32_t last = p->tail[a], worst = 0, at;
    hf_txn_id w = g->ver_txn[last], t = g->ver_txn[b];

    if (p->events)
        return hf_poly_far(p, a, b);
    at = place[hf_poly_commit(p, t)];
    if (place[hf_poly_commit(p, w)] > place[hf_poly_entry(p, t)])
        worst = place[hf_poly_commit(p, w)] - place[hf_poly_entry(p, t)];
    for (uint32_t i = hf_graph_first_reader(g, last);
         i < hf_graph_end_reader(g, last); i++) {
        hf_txn_id r = g->reader_txn[i];
        uint32_t from = place[hf_poly_start(p, r)];

        if (r != t && from > at && from - at > worst)
            worst = from - at;
    }
    return worst;
}

/* The edges of a true pair; `all`, or those that the order breaks.  True if
 * one was added, or a conflict met. */
static bool add_edges(hf_poly *p, hf_lit lit, bool all)
{
    const hf_graph *g = p->g;
    const uint32_t *place = hf_order_place(p->order);
    hf_poly_var pair = p->vars.at[HF_LIT_VAR(lit)];
    uint32_t a = lit & 1u ? pair.b : pair.a;
    uint32_t b = lit & 1u ? pair.a : pair.b;
    uint32_t last = p->tail[a], from, to;
    hf_txn_id t = g->ver_txn[b];
    bool added = false;

    if (p->events)
        return hf_poly_link(p, lit, all);
    from = hf_poly_commit(p, g->ver_txn[last]);
    to = hf_poly_entry(p, t);
    if (all || place[from] > place[to]) {
        if (!hf_order_edge(p->order, from, to, lit, &lit, 1))
            return true;
        added = true;
    }
    to = hf_poly_commit(p, t);
    for (uint32_t i = hf_graph_first_reader(g, last);
         i < hf_graph_end_reader(g, last); i++) {
        from = hf_poly_start(p, g->reader_txn[i]);
        if (g->reader_txn[i] == t || (!all && place[from] < place[to]))
            continue;
        if (!hf_order_edge(p->order, from, to, lit, &lit, 1))
            return true;
        added = true;
    }
    return added;
}

void hf_poly_take_pair(void *user, hf_order *o, hf_lit lit)
{
    hf_poly *p = user;
    const hf_graph *g = p->g;
    hf_poly_var pair = p->vars.at[HF_LIT_VAR(lit)];
    uint32_t a = lit & 1u ? pair.b : pair.a, last = p->tail[a];
    uint32_t readers =
        g->reader_first ? g->reader_first[last + 1] - g->reader_first[last] : 0;

    (void)o;
    (void)add_edges(p, lit, readers <= READERS_AT_ONCE);
    hf_poly_mark_dirty(p, a);
}

/* ---- keys ---------------------------------------------------------------- */

static uint32_t place_of(const hf_poly *p, const uint32_t *place, uint32_t atom)
{
    hf_txn_id t = p->g->ver_txn[atom];

    return t == HF_NONE ? 0 : place[hf_poly_commit(p, t)] + 1;
}

static void sort_all(hf_poly *p, uint32_t *atoms, uint32_t n)
{
    const uint32_t *place = hf_order_place(p->order);
    hf_sortable *s = HF_NEW_ARRAY(hf_sortable, (size_t)n + 1);

    for (uint32_t i = 0; i < n; i++)
        s[i] = (hf_sortable){place_of(p, place, atoms[i]), atoms[i]};
    hf_sort(s, n);
    for (uint32_t i = 0; i < n; i++) {
        atoms[i] = (uint32_t)s[i].value;
        p->sorted_at[atoms[i]] = (uint32_t)s[i].key;
    }
    hf_free(s);
}

/* Where an atom that is sorted by that place is, or belongs, among n. */
static uint32_t find_slot(const hf_poly *p, const uint32_t *atoms, uint32_t n,
                          uint32_t at)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (p->sorted_at[atoms[middle]] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The atoms of a key that moved, by their places. */
static void list_moved(hf_poly *p, uint32_t key)
{
    const uint32_t *place = hf_order_place(p->order);

    p->moving.n = 0;
    for (uint32_t a = p->moved_head[key]; a != HF_NONE; a = p->moved_next[a])
        hf_vec_push(&p->moving, (hf_sortable){place_of(p, place, a), a});
    hf_sort(p->moving.at, p->moving.n);
    p->moved_head[key] = HF_NONE;
}

static void forget_moved(hf_poly *p)
{
    for (size_t i = 0; i < p->moving.n; i++)
        p->dirty[p->moving.at[i].value] &= (uint8_t)~HF_ATOM_MOVED;
}

/* All at once, in one pass. */
static void merge_atoms(hf_poly *p, uint32_t *atoms, uint32_t n)
{
    size_t m = p->moving.n;
    uint32_t kept = 0, to = n;

    for (uint32_t i = 0; i < n; i++)
        if (!(p->dirty[atoms[i]] & HF_ATOM_MOVED))
            atoms[kept++] = atoms[i];
    while (m > 0) { /* from the end */
        hf_sortable x = p->moving.at[m - 1];

        if (kept > 0 && p->sorted_at[atoms[kept - 1]] > x.key) {
            atoms[--to] = atoms[--kept];
            continue;
        }
        atoms[--to] = (uint32_t)x.value;
        p->sorted_at[x.value] = (uint32_t)x.key;
        m--;
    }
}

/* One after the other. */
static void move_atoms(hf_poly *p, uint32_t *atoms, uint32_t n)
{
    uint32_t kept = n;

    for (size_t i = 0; i < p->moving.n; i++) {
        uint32_t atom = (uint32_t)p->moving.at[i].value;
        uint32_t slot = find_slot(p, atoms, kept, p->sorted_at[atom]);

        HF_ASSERT(slot < kept && atoms[slot] == atom);
        kept--;
        memmove(atoms + slot, atoms + slot + 1, (kept - slot) * sizeof(*atoms));
    }
    for (size_t i = 0; i < p->moving.n; i++) {
        uint32_t atom = (uint32_t)p->moving.at[i].value;
        uint32_t at = (uint32_t)p->moving.at[i].key;
        uint32_t slot = find_slot(p, atoms, kept, at);

        memmove(atoms + slot + 1, atoms + slot, (kept - slot) * sizeof(*atoms));
        atoms[slot] = atom;
        p->sorted_at[atom] = at;
        kept++;
    }
}

/* Those that moved are taken out and put where they belong; the others are in
 * order, but for the first time. */
static void sort_atoms(hf_poly *p, uint32_t key)
{
    uint32_t *atoms = p->atoms + p->atom_first[key];
    uint32_t n = p->atom_first[key + 1] - p->atom_first[key];

    list_moved(p, key);
    if (p->sorted_at[atoms[0]] == HF_NONE || p->moving.n > n / 2)
        sort_all(p, atoms, n);
    else if (p->moving.n > FEW)
        merge_atoms(p, atoms, n);
    else
        move_atoms(p, atoms, n);
    forget_moved(p);
}

/* The dirty atom at the head of the list is in order with its neighbours. */
static void clean_first(hf_poly *p, uint32_t key)
{
    uint32_t atom = p->dirty_head[key];

    p->dirty_head[key] = p->dirty_next[atom];
    p->dirty[atom] = 0;
    p->n_dirty[key]--;
}

/* What to do about two neighbours; DONE: nothing. */
static hf_order_next look_at_pair(hf_poly *p, uint32_t a, uint32_t b,
                                  hf_lit *ret_lit)
{
    uint32_t there, back;
    hf_lit lit, last;

    if (p->g->ver_txn[a] == HF_NONE)
        return HF_ORDER_DONE; /* known */
    there = displacement(p, a, b);
    if (there == 0)
        return HF_ORDER_DONE;
    lit = hf_poly_before(p, a, b);
    if (hf_order_value(p->order, lit) >= 0) {
        /* the other way round: somebody happened after it was chosen */
        if (hf_order_value(p->order, lit) == 0)
            lit = HF_LIT_NOT(lit);
        (void)add_edges(p, lit, false);
        return HF_ORDER_AGAIN;
    }
    last = hf_order_last(p->order, HF_LIT_VAR(lit));
    back = displacement(p, b, a);
    *ret_lit = last != HF_LIT_NONE ? last
               : back < there      ? HF_LIT_NOT(lit)
                                   : lit;
    return HF_ORDER_DECIDE;
}

/* In a world: those that did not happen are not there, and readers of the
 * initial atom may have been chosen. */
static hf_order_next look_at_world_key(hf_poly *p, uint32_t key,
                                       hf_lit *ret_lit)
{
    const uint32_t *atoms = p->atoms + p->atom_first[key];
    uint32_t n = p->atom_first[key + 1] - p->atom_first[key];

    sort_atoms(p, key);
    p->there.n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (p->g->ver_txn[atoms[i]] == HF_NONE ||
            hf_poly_happens(p, p->g->ver_txn[atoms[i]]))
            hf_vec_push(&p->there, atoms[i]);
    if (p->chosen_head[p->tail[p->there.at[0]]] != HF_NONE &&
        p->g->ver_txn[p->there.at[0]] == HF_NONE &&
        hf_poly_link_first(p, p->there.at, (uint32_t)p->there.n))
        return HF_ORDER_AGAIN;
    for (size_t i = 0; i + 1 < p->there.n; i++) {
        hf_order_next next;

        if (!p->dirty[p->there.at[i]] && !p->dirty[p->there.at[i + 1]])
            continue;
        next = look_at_pair(p, p->there.at[i], p->there.at[i + 1], ret_lit);
        if (next != HF_ORDER_DONE)
            return next;
    }
    while (p->dirty_head[key] != HF_NONE)
        clean_first(p, key);
    return HF_ORDER_DONE;
}

/* DONE: the key is in order. */
static hf_order_next look_at_key(hf_poly *p, uint32_t key, hf_lit *ret_lit)
{
    const uint32_t *atoms = p->atoms + p->atom_first[key];
    uint32_t n = p->atom_first[key + 1] - p->atom_first[key];

    if (p->events)
        return look_at_world_key(p, key, ret_lit);
    sort_atoms(p, key);
    while (p->dirty_head[key] != HF_NONE) {
        uint32_t atom = p->dirty_head[key];
        uint32_t slot = find_slot(p, atoms, n, p->sorted_at[atom]);
        hf_order_next next = HF_ORDER_DONE;

        if (slot > 0)
            next = look_at_pair(p, atoms[slot - 1], atom, ret_lit);
        if (next == HF_ORDER_DONE && slot + 1 < n)
            next = look_at_pair(p, atom, atoms[slot + 1], ret_lit);
        if (next != HF_ORDER_DONE)
            return next;
        clean_first(p, key);
    }
    return HF_ORDER_DONE;
}

/* Every pair that is not decided, as the order has it: what a search without
 * lazy pairs does, to compare with. */
static bool next_pair(hf_poly *p, hf_lit *ret_lit)
{
    for (; p->eager_key < p->n_keys; p->eager_key++, p->eager_i = 1) {
        const uint32_t *atoms = p->atoms + p->atom_first[p->eager_key];
        uint32_t n =
            p->atom_first[p->eager_key + 1] - p->atom_first[p->eager_key];

        for (; p->eager_i < n; p->eager_i++)
            for (uint32_t j = 0; j < p->eager_i; j++) {
                hf_lit lit;

                if (p->g->ver_txn[atoms[j]] == HF_NONE)
                    continue;
                lit = hf_poly_before(p, atoms[j], atoms[p->eager_i]);
                if (hf_order_value(p->order, lit) >= 0)
                    continue;
                *ret_lit = lit;
                return true;
            }
    }
    return false;
}

hf_order_next hf_poly_look_at_keys(hf_poly *p, hf_lit *ret_lit)
{
    while (p->queue.n > 0) {
        size_t i = p->queue.n - 1;
        uint32_t key;
        hf_order_next next;

        if (p->random) {
            size_t j;

            p->seed = hf_mix64(p->seed + 1);
            j = (size_t)(p->seed % p->queue.n);
            key = p->queue.at[j];
            p->queue.at[j] = p->queue.at[i];
            p->queue.at[i] = key;
        }
        key = p->queue.at[i];
        next = look_at_key(p, key, ret_lit);
        if (next != HF_ORDER_DONE)
            return next;
        /* nothing was added meanwhile, so it is still the last */
        p->queue.n--;
    }
    return HF_ORDER_DONE;
}

static hf_order_next look(void *user, hf_order *o, hf_lit *ret_lit)
{
    hf_poly *p = user;

    (void)o;
    if (p->eager && next_pair(p, ret_lit))
        return HF_ORDER_DECIDE;
    return hf_poly_look_at_keys(p, ret_lit);
}

/* Pairs that were decided have to be again. */
static void undone(void *user, hf_order *o, hf_lit lit)
{
    hf_poly *p = user;

    (void)o;
    (void)lit;
    p->eager_key = 0;
    p->eager_i = 1;
}

hf_order_client hf_poly_client(hf_poly *p)
{
    return (hf_order_client){.user = p,
                             .look = look,
                             .taken = hf_poly_take_pair,
                             .undone = p->eager ? undone : NULL,
                             .moved = hf_poly_moved};
}
