/* graph_lists.c: version orders from lists that were read.
 *
 * Every list read of a key should be a beginning of one sequence: that of the
 * appends in version order.  The longest list gives the chain of the key;
 * whoever appended and is not in it comes after it, in an order that nobody
 * saw.  Lists are paths in a tree, so "is it a beginning of the longest" is
 * one bit for each list value, and almost all reads cost nothing more.
 *
 * What does not fit is looked at element by element: elements nobody
 * appended, aborted ones, the same twice, the appends of one transaction torn
 * apart, and lists that contradict each other.
 *
 * O(values + elements of the longest lists), plus the length of each list
 * that does not fit.
 */
#include "check/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

/* What an element of a list is. */
typedef enum element_kind {
    ELEMENT_KEPT,
    ELEMENT_ABORTED, /* not there in any world */
    ELEMENT_GARBAGE,
    ELEMENT_SEVERAL,
} element_kind;

static element_kind kind_of(const hf_graph *g, hf_value_id e)
{
    switch (g->value[e].ver) {
    case HF_VER_NOBODY:
        return ELEMENT_GARBAGE;
    case HF_VER_ABORTED:
    case HF_VER_ABSENT:
        return ELEMENT_ABORTED;
    case HF_VER_SEVERAL:
        return ELEMENT_SEVERAL;
    default:
        return ELEMENT_KEPT;
    }
}

static hf_txn_id writer_of(const hf_graph *g, hf_value_id e)
{
    uint32_t ver = g->value[e].ver;

    return ver < HF_VER_MOST ? g->ver_txn[ver]
                             : hf_op_txn(g->h, g->value[e].op);
}

/* By transactions of any outcome; what nobody appended is garbage however
 * often it is there. */
static uint32_t times_appended(const hf_graph *g, hf_value_id e)
{
    return g->list_times[e] > 0 ? g->list_times[e] : UINT32_MAX;
}

/* A list that a transaction that happened read, or HF_NONE. */
static hf_value_id list_read(const hf_graph *g, hf_op_id o)
{
    const hf_history *h = g->h;
    hf_value_id v = h->op_value[o];

    if ((h->op_kind[o] & HF_OP_FAILED) ||
        !hf_op_reads_item(hf_op_kind_of(h, o)) || v == HF_NONE ||
        h->value_type[v] != HF_LIST)
        return HF_NONE;
    return v;
}

static void measure_lists(hf_graph *g)
{
    const hf_history *h = g->h;

    g->list_length = hf_alloc_large(
        hf_array_size((size_t)h->n_values + 1, sizeof(uint32_t)));
    g->list_several = HF_NEW_ZEROED(uint8_t, (size_t)h->n_values + 1);
    g->list_kept = hf_alloc_large(
        hf_array_size((size_t)h->n_values + 1, sizeof(uint32_t)));
    for (hf_value_id v = 0; v < h->n_values; v++) {
        hf_value_id parent;
        element_kind kind;

        g->list_length[v] = g->list_kept[v] = 0;
        if (h->value_type[v] != HF_LIST)
            continue;
        parent = hf_list_parent(h, v);
        kind = kind_of(g, hf_list_last(h, v));
        g->list_kept[v] = kind == ELEMENT_KEPT;
        g->list_several[v] = kind == ELEMENT_SEVERAL;
        g->list_length[v] = 1;
        if (parent != HF_NONE) {
            g->list_several[v] |= g->list_several[parent];
            g->list_length[v] += g->list_length[parent];
            g->list_kept[v] += g->list_kept[parent];
        }
    }
}

/* How often elements were appended, of which several are. */
static void count_appends(hf_graph *g)
{
    const hf_history *h = g->h;

    g->list_times = HF_NEW_ZEROED(uint32_t, (size_t)h->n_values + 1);
    for (hf_op_id o = 0; o < h->n_ops; o++)
        if (hf_op_kind_of(h, o) == HF_OP_APPEND && hf_graph_writes(h, o))
            g->list_times[h->op_value[o]]++;
}

static void find_longest(hf_graph *g)
{
    const hf_history *h = g->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        if (!g->happened[t])
            continue;
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            hf_value_id v = list_read(g, o);
            hf_op_id *best;

            if (v == HF_NONE)
                continue;
            if (g->list_several[v])
                g->key_use[h->op_key[o]] |= HF_USE_MURKY;
            best = &g->longest_op[h->op_key[o]];
            if (*best == HF_NONE ||
                g->list_kept[v] > g->list_kept[h->op_value[*best]])
                *best = o;
        }
        if ((t & 0xff) == 0 && hf_graph_spent(g))
            return;
    }
}

/* ---- the chain of one key ------------------------------------------------ */

typedef struct chain {
    hf_graph *g;
    hf_key_id key;
    hf_op_id read; /* who read the longest list */
    HF_VEC(hf_value_id) elements;
    HF_VEC(uint32_t) order; /* versions, as they were placed before */
    uint32_t *met;          /* per value: how often in the list so far */
    uint8_t *placed;        /* per version: in `order` */
} chain;

/* What is wrong with the element at place i of the longest list. */
static void look_at_element(chain *c, uint32_t i, hf_value_id e)
{
    hf_graph *g = c->g;
    hf_bad_list *bad = &g->list_bad[c->key];
    uint32_t ver = g->value[e].ver;
    element_kind kind = kind_of(g, e);

    if (kind == ELEMENT_GARBAGE && i < bad->garbage)
        bad->garbage = i;
    if (c->met[e] >= times_appended(g, e) && i < bad->twice)
        bad->twice = i;
    if (ver == HF_VER_ABORTED && i < bad->aborted) {
        bad->aborted = i;
        bad->aborted_op = g->value[e].op;
    }
    if (kind == ELEMENT_KEPT && bad->aborted < i && i < bad->upon) {
        bad->upon = i;
        bad->upon_op = g->value[e].op;
    }
    if ((kind != ELEMENT_KEPT || c->met[e]) && i < bad->first)
        bad->first = i;
}

/* The appends of t to the key are c->elements[at ..], in order, all of them
 * or up to the end of the list.  Returns how many, or 0. */
static uint32_t group_length(const chain *c, hf_txn_id t, uint32_t at)
{
    const hf_history *h = c->g->h;
    uint32_t n = 0;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        if (h->op_key[o] != c->key || !hf_graph_writes(h, o))
            continue;
        if (at + n == c->elements.n)
            break;
        if (c->elements.at[at + n] != h->op_value[o])
            return 0;
        n++;
    }
    return n;
}

static void odd(chain *c, hf_op_id a, hf_op_id b)
{
    hf_graph *g = c->g;

    if (g->odd.n < 1000)
        hf_vec_push(&g->odd, (hf_place){{a, b, c->read, HF_NONE}});
}

/* Takes the element at `at`; returns how many were taken. */
static uint32_t take_element(chain *c, uint32_t at)
{
    hf_graph *g = c->g;
    hf_value_id e = c->elements.at[at];
    uint32_t n, ver;
    hf_txn_id t;

    t = writer_of(g, e);
    n = group_length(c, t, at);
    ver = hf_graph_version_of(g, t, c->key);
    if (n == 0 || ver == HF_NONE || c->placed[ver]) {

        odd(c, g->value[e].op,
            at > 0 ? g->value[c->elements.at[at - 1]].op : HF_NONE);
        if (ver == HF_NONE || c->placed[ver])
            return 1;
        n = 1;
    }
    c->placed[ver] = 1;
    hf_vec_push(&c->order, ver);
    return n;
}

/* The elements that count, each once. */
static void load_elements(chain *c, hf_value_id list)
{
    hf_graph *g = c->g;
    uint32_t n = g->list_length[list];

    c->elements.n = 0;
    hf_vec_reserve(&c->elements, n);
    for (hf_value_id v = list; v != HF_NONE; v = hf_list_parent(g->h, v)) {
        c->elements.at[--n] = hf_list_last(g->h, v);
        g->list_on_path[v] = 1;
    }
    for (uint32_t i = 0; i < g->list_length[list]; i++) {
        hf_value_id e = c->elements.at[i];
        element_kind kind = kind_of(g, e);

        if (kind == ELEMENT_SEVERAL)
            g->key_use[c->key] |= HF_USE_MURKY;
        look_at_element(c, i, e);
        if (!c->met[e] && kind == ELEMENT_KEPT)
            c->elements.at[c->elements.n++] = e;
        c->met[e]++;
    }
}

/* The versions in the order of the list, then the others; returns how many
 * the list has. */
static uint32_t order_by_list(chain *c)
{
    hf_graph *g = c->g;
    size_t n_odd = g->odd.n;
    uint32_t chained;

    c->order.n = 0;
    if (c->read != HF_NONE) {
        load_elements(c, g->h->op_value[c->read]);
        for (uint32_t at = 0; at < c->elements.n;)
            at += take_element(c, at);
    }
    if (g->key_use[c->key] & HF_USE_MURKY) {
        /* who appended what is not known, so nothing is odd about it */
        c->order.n = 0;
        g->odd.n = n_odd;
    }
    chained = (uint32_t)c->order.n;
    for (uint32_t v = g->ver_first[c->key] + 1; v < g->ver_end[c->key]; v++)
        if (!c->placed[v] || (g->key_use[c->key] & HF_USE_MURKY))
            hf_vec_push(&c->order, v);
    return chained;
}

static hf_edge ww_edge(const hf_graph *g, hf_key_id key, uint32_t a, uint32_t b)
{
    return (hf_edge){HF_EDGE_WW, g->ver_txn[a], g->ver_txn[b],
                     key,        g->ver_op[a],  g->ver_op[b]};
}

/* Before they are reordered, the versions that the certificate lists stand
 * in its order, first + 1 .. last.  A list that shows two of them the other
 * way round makes a cycle. */
static void compare_with_list(chain *c, uint32_t last, uint32_t chained)
{
    hf_graph *g = c->g;
    uint32_t newest = HF_NONE; /* of those the list has, by certificate */

    for (uint32_t i = 0; i < c->order.n; i++) {
        uint32_t v = c->order.at[i];

        if (v > last)
            continue;
        if (newest != HF_NONE && v < newest) {
            hf_vec_push(&g->clashes, ww_edge(g, c->key, newest, v));
            hf_vec_push(&g->clashes, ww_edge(g, c->key, v, newest));
            return;
        }
        if (i < chained)
            newest = v;
    }
}

/* Pairs of neighbours in the certificate, after reordering. */
static void keep_listed_pairs(chain *c, uint32_t last)
{
    hf_graph *g = c->g;
    uint32_t base = g->ver_first[c->key] + 1;
    uint32_t *now = HF_NEW_ARRAY(uint32_t, c->order.n + 1);

    for (uint32_t i = 0; i < c->order.n; i++)
        now[c->order.at[i] - base] = base + i;
    for (uint32_t v = base; v < last; v++)
        hf_vec_push(&g->listed,
                    (hf_version_pair){now[v - base], now[v + 1 - base], HF_NONE,
                                      HF_NONE});
    hf_free(now);
}

static void order_key(chain *c)
{
    hf_graph *g = c->g;
    uint32_t base = g->ver_first[c->key] + 1;
    uint32_t last = g->chain_end[c->key] - 1; /* listed ones end here */
    uint32_t chained = order_by_list(c);

    if (last >= base)
        compare_with_list(c, last, chained);
    if (last + 1 == g->ver_end[c->key] && last >= base)
        return; /* the certificate has them all */
    if (last > base)
        keep_listed_pairs(c, last);
    hf_graph_permute(g, c->key, c->order.at, (uint32_t)c->order.n);
    g->chain_end[c->key] = base + chained;
}

/* What all keys share: each writes only what is its own. */
typedef struct marks {
    uint32_t *met;
    uint8_t *placed;
} marks;

static void order_piece(hf_graph *g, void *user, uint32_t piece, uint32_t first,
                        uint32_t end)
{
    const marks *m = user;
    chain c = {.g = g, .met = m->met, .placed = m->placed};

    (void)piece;
    for (hf_key_id k = first; k < end; k++) {
        if (!(g->key_use[k] & HF_USE_LIST))
            continue;
        c.key = k;
        c.read = g->longest_op[k];
        order_key(&c);
    }
    hf_vec_release(&c.elements);
    hf_vec_release(&c.order);
}

void hf_graph_order_lists(hf_graph *g)
{
    const hf_history *h = g->h;
    marks m;

    measure_lists(g);
    count_appends(g);
    g->list_on_path = HF_NEW_ZEROED(uint8_t, (size_t)h->n_values + 1);
    g->longest_op = HF_NEW_ARRAY(hf_op_id, (size_t)h->n_keys + 1);
    g->list_bad = HF_NEW_ARRAY(hf_bad_list, (size_t)h->n_keys + 1);
    memset(g->longest_op, 0xff, ((size_t)h->n_keys + 1) * sizeof(hf_op_id));
    memset(g->list_bad, 0xff, ((size_t)h->n_keys + 1) * sizeof(hf_bad_list));
    find_longest(g);
    m.met = HF_NEW_ZEROED(uint32_t, (size_t)h->n_values + 1);
    m.placed = HF_NEW_ZEROED(uint8_t, (size_t)g->n_versions + 1);
    if (!g->stopped)
        hf_graph_in_pieces(g, h->n_keys, order_piece, &m);
    hf_free(m.met);
    hf_free(m.placed);
}

/* ---- single reads -------------------------------------------------------- */

/* Did somebody else, who did not happen, append an equal element?  O(operations
 * of those), and asked only where something is wrong otherwise. */
static bool is_lost_too(const hf_graph *g, hf_value_id e, hf_txn_id t)
{
    const hf_history *h = g->h;

    for (hf_txn_id u = 0; u < h->n_txns; u++)
        for (hf_op_id o = h->op_first[u];
             u != t && !g->happened[u] && o < h->op_first[u + 1]; o++)
            if (h->op_value[o] == e && hf_graph_writes(h, o))
                return true;
    return false;
}

bool hf_graph_ends_with_own(const hf_graph *g, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = g->h;
    hf_key_id key = h->op_key[op];
    hf_value_id v = h->op_value[op];
    bool any = false;

    if (h->value_type[v] != HF_LIST)
        v = HF_NONE;
    for (hf_op_id o = op; o-- > h->op_first[t];) {
        if (h->op_key[o] != key || !hf_graph_writes(h, o))
            continue;
        while (any && v != HF_NONE && hf_list_last(h, v) != h->op_value[o] &&
               !hf_graph_reads_matter(g, t) &&
               is_lost_too(g, hf_list_last(h, v), t))
            v = hf_list_parent(h, v);
        if (v == HF_NONE || hf_list_last(h, v) != h->op_value[o])
            return false;
        any = true;
        /* what did not happen may stand in between */
        do
            v = hf_list_parent(h, v);
        while (v != HF_NONE &&
               kind_of(g, hf_list_last(h, v)) == ELEMENT_ABORTED);
    }
    return true;
}

typedef struct list_look {
    bool garbage, twice, several;
    hf_op_id aborted, upon; /* an aborted append; a kept one after it */
    uint32_t n_kept;
    hf_value_id *kept; /* n_kept of them */
} list_look;

/* Goes through a list from its first element. */
static void look(const hf_graph *g, const hf_value_id *items, uint32_t n,
                 hf_value_id *room, list_look *ret)
{
    *ret = (list_look){.aborted = HF_NONE, .upon = HF_NONE, .kept = room};
    for (uint32_t i = 0; i < n; i++) {
        hf_value_id e = items[i];

        switch (kind_of(g, e)) {
        case ELEMENT_GARBAGE:
            ret->garbage = true;
            break;
        case ELEMENT_SEVERAL:
            ret->several = true;
            break;
        case ELEMENT_ABORTED:
            if (ret->aborted == HF_NONE && g->value[e].ver == HF_VER_ABORTED)
                ret->aborted = g->value[e].op;
            break;
        case ELEMENT_KEPT:
            if (ret->aborted != HF_NONE && ret->upon == HF_NONE)
                ret->upon = g->value[e].op;
            room[ret->n_kept++] = e;
            break;
        }
    }
}

static int by_id(const void *a, const void *b)
{
    hf_value_id x = *(const hf_value_id *)a, y = *(const hf_value_id *)b;

    return (x > y) - (x < y);
}

/* Is an element there more often than it was appended? */
static bool has_twice(const hf_graph *g, const hf_value_id *items, uint32_t n)
{
    uint32_t run = 1;
    hf_value_id *sorted = HF_NEW_ARRAY(hf_value_id, (size_t)n + 1);
    bool twice = false;

    memcpy(sorted, items, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), by_id);
    for (uint32_t i = 1; i < n; i++) {
        run = sorted[i] == sorted[i - 1] ? run + 1 : 1;
        twice |= run > times_appended(g, sorted[i]);
    }
    hf_free(sorted);
    return twice;
}

static hf_value_id *items_of(const hf_graph *g, hf_value_id v, uint32_t *ret_n)
{
    *ret_n = g->list_length[v];
    hf_value_id *items = HF_NEW_ARRAY(hf_value_id, (size_t)*ret_n + 1);

    (void)hf_list_items(g->h, v, items);
    return items;
}

/* Neither list is a beginning of the other, aborted elements aside. */
static bool contradicts(const hf_graph *g, const list_look *a, hf_value_id v)
{
    uint32_t n;
    hf_value_id *items = items_of(g, v, &n);
    list_look b;
    bool differs = false;

    look(g, items, n, items, &b);
    for (uint32_t i = 0; i < a->n_kept && i < b.n_kept; i++)
        differs |= a->kept[i] != b.kept[i];
    if (a->several || b.several)
        differs = false;
    hf_free(items);
    return differs;
}

/* The elements of each transaction stand together, in program order; only at
 * the end some may be missing.  Returns one of which that is not so, or
 * HF_NONE. */
static hf_txn_id find_torn(const hf_graph *g, hf_key_id key, const list_look *l)
{
    const hf_history *h = g->h;

    for (uint32_t at = 0; at < l->n_kept;) {
        hf_txn_id t = writer_of(g, l->kept[at]);
        uint32_t n = 0;

        for (hf_op_id o = h->op_first[t];
             o < h->op_first[t + 1] && at + n < l->n_kept; o++) {
            if (h->op_key[o] != key || !hf_graph_writes(h, o))
                continue;
            if (l->kept[at + n] != h->op_value[o])
                return t;
            n++;
        }
        at += n;
    }
    return HF_NONE;
}

static hf_edge shown_edge(const hf_graph *g, hf_key_id key, hf_value_id a,
                          hf_value_id b)
{
    return (hf_edge){HF_EDGE_WW, writer_of(g, a), writer_of(g, b),
                     key,        g->value[a].op,  g->value[b].op};
}

/* Two elements of one transaction with another's in between: each comes
 * before the other. */
static bool find_between(const hf_graph *g, hf_key_id key, const list_look *l,
                         hf_edge *ret)
{
    hf_map last; /* transaction -> place of its last element */
    bool found = false;

    hf_map_init(&last);
    for (uint32_t i = 0; i < l->n_kept && !found; i++) {
        hf_txn_id t = writer_of(g, l->kept[i]);
        uint32_t before = hf_map_get(&last, t);

        found = before != UINT32_MAX && before + 1 != i;
        if (found) {
            ret[0] = shown_edge(g, key, l->kept[before], l->kept[i - 1]);
            ret[1] = shown_edge(g, key, l->kept[i - 1], l->kept[i]);
        }
        hf_map_set(&last, t, i);
    }
    hf_map_release(&last);
    return found;
}

bool hf_graph_explain_torn(const hf_graph *g, hf_op_id read, hf_edge *ret,
                           hf_txn_id *ret_torn)
{
    const hf_history *h = g->h;
    uint32_t n;
    hf_value_id *items = items_of(g, h->op_value[read], &n);
    list_look l;
    bool found;

    look(g, items, n, items, &l);
    *ret_torn = find_torn(g, h->op_key[read], &l);
    found = find_between(g, h->op_key[read], &l, ret);
    hf_free(items);
    return found;
}

/* With mixed levels, one of the two may be allowed to read anything. */
static void note_contradiction(hf_graph *g, hf_op_id a, hf_op_id b)
{
    if (!g->own || (hf_graph_reads_matter(g, hf_op_txn(g->h, a)) &&
                    hf_graph_reads_matter(g, hf_op_txn(g->h, b))))
        hf_graph_note(g, HF_INCOMPATIBLE_ORDER, a, b, HF_NONE, HF_NONE);
    else
        hf_graph_undecided(g, true,
                           "two lists contradict each other, one of them read "
                           "where dirty reads are allowed");
}

static void look_closer(hf_graph *g, hf_op_id op)
{
    const hf_history *h = g->h;
    hf_key_id key = h->op_key[op];
    uint32_t n;
    hf_value_id *items = items_of(g, h->op_value[op], &n);
    hf_value_id *room = HF_NEW_ARRAY(hf_value_id, (size_t)n + 1);
    hf_op_id longest = g->longest_op[key];
    list_look l;
    bool twice = has_twice(g, items, n);

    look(g, items, n, room, &l);
    if (l.garbage)
        hf_graph_note(g, HF_GARBAGE_READ, op, HF_NONE, HF_NONE, HF_NONE);
    if (twice)
        hf_graph_note(g, HF_DUPLICATE_WRITE, op, HF_NONE, HF_NONE, HF_NONE);
    if (l.aborted != HF_NONE)
        hf_graph_note(g, HF_G1A, l.aborted, op, HF_NONE, HF_NONE);
    if (l.upon != HF_NONE && !twice)
        hf_graph_note(g, HF_DIRTY_UPDATE, l.aborted, l.upon, op, HF_NONE);
    if (longest != op && contradicts(g, &l, h->op_value[longest]))
        note_contradiction(g, longest, op);
    else if (!l.garbage && !l.several && !twice &&
             find_torn(g, key, &l) != HF_NONE && g->odd.n < 1000)
        hf_vec_push(&g->odd, (hf_place){{HF_NONE, HF_NONE, op, HF_NONE}});
    hf_free(items);
    hf_free(room);
}

/* A beginning of the longest list: what is wrong with it is known from that
 * one.  (That its elements are torn apart has been noted, too.) */
static void look_at_beginning(hf_graph *g, hf_op_id op, const hf_bad_list *bad)
{
    uint32_t n = g->list_length[g->h->op_value[op]];

    if (n > bad->garbage)
        hf_graph_note(g, HF_GARBAGE_READ, op, HF_NONE, HF_NONE, HF_NONE);
    if (n > bad->twice)
        hf_graph_note(g, HF_DUPLICATE_WRITE, op, HF_NONE, HF_NONE, HF_NONE);
    if (n > bad->aborted)
        hf_graph_note(g, HF_G1A, bad->aborted_op, op, HF_NONE, HF_NONE);
    if (n > bad->upon && n <= bad->twice)
        hf_graph_note(g, HF_DIRTY_UPDATE, bad->aborted_op, bad->upon_op, op,
                      HF_NONE);
}

void hf_graph_look_at_list(hf_graph *g, hf_op_id op)
{
    const hf_history *h = g->h;
    hf_key_id key = h->op_key[op];
    hf_value_id v = h->op_value[op];

    if (h->value_type[v] != HF_LIST)
        return;
    if (!g->list_on_path[v])
        look_closer(g, op);
    else if (g->list_length[v] > g->list_bad[key].first)
        look_at_beginning(g, op, &g->list_bad[key]);
}
