/* poly_lists.c: lists whose sources follow from the order of appends.
 *
 * Mostly a list that was read tells the order of those who appended to it
 * (graph_lists.c).  Where it does not, because several may have appended an
 * element, there were some to begin with, or a reader or writer need not have
 * happened, the key is loose: its order is open, and when the search has one,
 * each list has to be a beginning of what was appended in that order.  What it
 * ends with is its source.
 *
 * If a list does not fit, let b be the first writer whose elements are not
 * where they would have to be, behind those of a set S of others.  That rests
 * on S being before b and all others behind it, not on the order of S: where
 * b's elements stand follows from how many those of S are.
 *
 * At read-uncommitted a list may have elements of those that did not happen
 * besides; there it rests on the whole order of the key.
 *
 * For each world: the lists read of loose keys, element by element, and the
 * writers of the key for each that does not fit.
 */
#include "check/poly_worlds.h"

#include <string.h>

typedef HF_VEC(hf_value_id) value_list;
typedef HF_VEC(uint32_t) version_list;

/* ---- which --------------------------------------------------------------- */

static hf_value_id list_read(const hf_history *h, hf_op_id o)
{
    hf_value_id v = h->op_value[o];

    if ((h->op_kind[o] & HF_OP_FAILED) ||
        !hf_op_reads_item(hf_op_kind_of(h, o)) || v == HF_NONE ||
        h->op_key[o] == HF_NONE)
        return HF_NONE;
    return v;
}

bool hf_worlds_reads_list(const hf_history *h, hf_txn_id t)
{
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        hf_value_id v = list_read(h, o);

        if (v != HF_NONE && h->value_type[v] == HF_LIST)
            return true;
    }
    return false;
}

static void mark(hf_worlds *w, hf_key_id key)
{
    const hf_graph *g = w->base;

    if (!(g->key_use[key] & HF_USE_LIST) || (g->key_use[key] & HF_USE_WRITTEN))
        return;
    if (!w->loose)
        w->loose = HF_NEW_ZEROED(uint8_t, (size_t)g->h->n_keys + 1);
    w->loose[key] = 1;
}

/* Lists that one of unknown outcome read or appended to. */
static void mark_uncertain(hf_worlds *w, hf_txn_id t)
{
    const hf_history *h = w->base->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        if (h->op_key[o] != HF_NONE &&
            (list_read(h, o) != HF_NONE || hf_graph_writes(h, o)))
            mark(w, h->op_key[o]);
}

void hf_worlds_find_loose(hf_worlds *w)
{
    const hf_graph *g = w->base;
    const hf_history *h = g->h;
    bool all =
        g->odd.n > 0 || (g->pred ? g->pred->undecided_before : g->undecided)[0];

    if (!g->has_lists)
        return;
    for (hf_key_id k = 0; k < h->n_keys; k++)
        if ((all || (g->key_use[k] & HF_USE_MURKY)) &&
            g->longest_op[k] != HF_NONE)
            mark(w, k);
    for (hf_txn_id t = 0; t < h->n_txns && w->n_uncertain > 0; t++)
        if (w->uncertain[t])
            mark_uncertain(w, t);
    for (hf_txn_id t = 0; t < h->n_txns && w->loose; t++)
        for (hf_op_id o = h->op_first[t]; w->all[t] && o < h->op_first[t + 1];
             o++)
            if (list_read(h, o) != HF_NONE && w->loose[h->op_key[o]])
                hf_vec_push(&w->lists, o);
}

/* ---- a list -------------------------------------------------------------- */

/* The key in the world at hand. */
typedef struct sequence {
    hf_worlds *w;
    const hf_history *h;
    hf_key_id key;
    version_list order; /* of those that happened */
    value_list initial;
} sequence;

/* A list and whom it is for. */
typedef struct reading {
    hf_op_id op;
    hf_txn_id t;
    bool dirty;       /* may have elements of those that did not happen */
    uint32_t own;     /* appends of the reader before it */
    value_list items; /* behind the initial ones */
    bool odd;         /* no order explains it */
    hf_txn_id source; /* of the last element; HF_NONE: initial */
} reading;

static void load(const hf_history *h, hf_value_id v, value_list *ret)
{
    ret->n = 0;
    if (v == HF_NONE || h->value_type[v] != HF_LIST)
        return;
    hf_vec_reserve(ret, hf_list_items(h, v, NULL));
    ret->n = hf_list_items(h, v, ret->at);
}

static void load_sequence(sequence *s, hf_key_id key)
{
    const hf_graph *g = s->w->g;
    const uint32_t *place = s->w->place;

    s->key = key;
    load(s->h, s->h->key_initial ? s->h->key_initial[key] : HF_NONE,
         &s->initial);
    s->order.n = 0;
    for (uint32_t v = g->ver_first[key] + 1; v < g->ver_end[key]; v++) {
        size_t at = s->order.n;

        if (place[g->ver_txn[v]] == HF_NONE)
            continue;
        hf_vec_push(&s->order, v);
        for (; at > 0 &&
               place[g->ver_txn[s->order.at[at - 1]]] > place[g->ver_txn[v]];
             at--)
            s->order.at[at] = s->order.at[at - 1];
        s->order.at[at] = v;
    }
}

static bool appends(const sequence *s, hf_op_id o)
{
    return s->h->op_key[o] == s->key && hf_graph_writes(s->h, o);
}

/* Is an element there more often than it was appended, by whomever? */
static bool is_too_often(const sequence *s, const reading *r)
{
    const uint32_t *times = s->w->g->list_times;

    for (size_t i = 0; i < r->items.n; i++) {
        uint32_t n = 0;

        for (size_t k = 0; k < r->items.n; k++)
            n += r->items.at[k] == r->items.at[i];
        if (n > times[r->items.at[i]])
            return true;
    }
    return false;
}

static void load_reading(const sequence *s, hf_op_id op, reading *r)
{
    const hf_history *h = s->h;

    r->op = op;
    r->t = hf_op_txn(h, op);
    r->dirty = !hf_graph_reads_matter(s->w->g, r->t);
    r->own = 0;
    r->source = HF_NONE;
    for (hf_op_id o = h->op_first[r->t]; o < op; o++)
        r->own += appends(s, o);
    load(h, h->op_value[op], &r->items);
    r->odd = r->items.n < s->initial.n ||
             (h->value_type[h->op_value[op]] != HF_LIST &&
              h->value_type[h->op_value[op]] != HF_NIL);
    for (size_t i = 0; i < s->initial.n && !r->odd; i++)
        r->odd = r->items.at[i] != s->initial.at[i];
    if (r->odd)
        return;
    r->items.n -= s->initial.n;
    if (r->items.n > 0)
        memmove(r->items.at, r->items.at + s->initial.n,
                r->items.n * sizeof(hf_value_id));
    r->odd = is_too_often(s, r);
}

/* ---- does it fit? -------------------------------------------------------- */

/* Of version b, from element `at` of the list on: how many elements there are
 * in it.  False: they are not the next ones. */
static bool takes(const sequence *s, const reading *r, uint32_t b, uint32_t at,
                  uint32_t *ret_n)
{
    const hf_history *h = s->h;
    hf_txn_id t = s->w->g->ver_txn[b];
    uint32_t n = 0;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        if (!appends(s, o))
            continue;
        if (t == r->t && n == r->own)
            break; /* what it appended later is not in it */
        if (at + n == r->items.n || r->items.at[at + n] != h->op_value[o])
            return false;
        n++;
    }
    *ret_n = n;
    return true;
}

/* The list is a beginning of the sequence, and ends with the last element of
 * somebody.  Otherwise *ret_at is the place in the order where that breaks; all
 * of it if elements are left over. */
static bool fits(const sequence *s, reading *r, uint32_t *ret_at)
{
    const hf_graph *g = s->w->g;
    uint32_t at = 0, n, i;

    for (i = 0; i < s->order.n; i++) {
        hf_txn_id t = g->ver_txn[s->order.at[i]];

        if (at == r->items.n && (r->own == 0 || r->source == r->t))
            break;
        *ret_at = i;
        if (!takes(s, r, s->order.at[i], at, &n) ||
            (t == r->t && (r->own == 0 || at + n != r->items.n)))
            return false;
        at += n;
        r->source = t;
    }
    *ret_at = i;
    return at == r->items.n && (r->own == 0 || r->source == r->t);
}

/* Of somebody who did not happen. */
static bool may_be_gone(const sequence *s, hf_value_id e)
{
    const hf_history *h = s->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t];
             s->w->place[t] == HF_NONE && o < h->op_first[t + 1]; o++)
            if (appends(s, o) && h->op_value[o] == e)
                return true;
    return false;
}

/* Element n of the sequence; HF_NONE: there are not so many. */
static hf_op_id element_at(const sequence *s, uint32_t n)
{
    const hf_history *h = s->h;

    for (size_t i = 0; i < s->order.n; i++) {
        hf_txn_id t = s->w->g->ver_txn[s->order.at[i]];

        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
            if (appends(s, o) && n-- == 0)
                return o;
    }
    return HF_NONE;
}

static bool ends_with_own(const sequence *s, const reading *r, hf_op_id last)
{
    uint32_t n = 0;

    if (r->own == 0)
        return true;
    if (last == HF_NONE || hf_op_txn(s->h, last) != r->t)
        return false;
    for (hf_op_id o = s->h->op_first[r->t]; o <= last; o++)
        n += appends(s, o);
    return n == r->own;
}

/* Nobody who need not have happened appends what is in the list: then it is a
 * beginning of the sequence even where dirty reads are allowed. */
static bool is_clean(const sequence *s, const reading *r)
{
    const hf_history *h = s->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t];
             h->txn_outcome[t] != HF_COMMITTED && o < h->op_first[t + 1]; o++)
            for (size_t i = 0; appends(s, o) && i < r->items.n; i++)
                if (r->items.at[i] == h->op_value[o])
                    return false;
    return true;
}

/* The place in the order of the first writer whose elements are not in a clean
 * list where they should be; HF_NONE: there is none. */
static uint32_t first_break(const sequence *s, const reading *r)
{
    const hf_history *h = s->h;
    uint32_t at = 0;

    for (uint32_t i = 0; i < s->order.n && at < r->items.n; i++) {
        hf_txn_id t = s->w->g->ver_txn[s->order.at[i]];

        for (hf_op_id o = h->op_first[t];
             o < h->op_first[t + 1] && at < r->items.n; o++)
            if (appends(s, o) && r->items.at[at++] != h->op_value[o])
                return i;
    }
    return HF_NONE;
}

/* The same where dirty reads are allowed: some elements may be left out. */
static bool fits_dirty(const sequence *s, const reading *r, uint32_t i,
                       uint32_t n)
{
    hf_op_id last = HF_NONE;

    for (; i < r->items.n; i++, n++) {
        bool may_skip = may_be_gone(s, r->items.at[i]);

        last = element_at(s, n);
        if (last == HF_NONE || s->h->op_value[last] != r->items.at[i]) {
            if (!may_skip)
                return false;
            last = HF_NONE;
            n--;
        } else if (may_skip && fits_dirty(s, r, i + 1, n)) {
            return true;
        }
    }
    return ends_with_own(s, r, last);
}

/* ---- what that rests on -------------------------------------------------- */

static void add_happened(hf_worlds *w, uint32_t ver, hf_lit_list *list)
{
    hf_lit lit = hf_poly_happened(&w->p, w->g->ver_txn[ver]);

    if (lit != HF_LIT_NONE)
        hf_worlds_add_lit(list, w->place[w->g->ver_txn[ver]] == HF_NONE
                                    ? HF_LIT_NOT(lit)
                                    : lit);
}

/* Those before the writer at place `at`, and those behind it. */
static void add_around(const sequence *s, uint32_t at, hf_lit_list *list)
{
    hf_worlds *w = s->w;
    const hf_graph *g = w->g;

    for (uint32_t v = g->ver_first[s->key] + 1; v < g->ver_end[s->key]; v++)
        if (w->place[g->ver_txn[v]] == HF_NONE)
            add_happened(w, v, list);
    for (uint32_t i = 0; i < s->order.n; i++) {
        if (i <= at)
            add_happened(w, s->order.at[i], list);
        if (i < at && at < s->order.n)
            hf_worlds_add_before(w, list, s->key, s->order.at[i],
                                 s->order.at[at]);
        else if (i > at)
            hf_worlds_add_before(w, list, s->key, s->order.at[at],
                                 s->order.at[i]);
    }
}

/* ---- the same, for a proof ----------------------------------------------- */

/* As verify/proof_lists.c reads it: who is before the writer at place `at`, and
 * who behind it. */
static void tell_edge(const sequence *s, uint32_t i, uint32_t k)
{
    const hf_graph *g = s->w->g;
    uint32_t a = s->order.at[i], b = s->order.at[k];
    hf_poly *p = &s->w->p;

    hf_vec_push(&p->lemma_edges,
                (hf_edge){HF_EDGE_WW, g->ver_txn[a], g->ver_txn[b], s->key,
                          g->ver_op[a], g->ver_op[b]});
    hf_vec_push(&p->lemma_chosen, HF_CHOSEN_ONLY);
}

/* All of them, one after the other: their order, with all that it says, or that
 * there are no more. */
static void tell_order(const sequence *s, bool all, hf_poly_clause *c)
{
    for (uint32_t i = 1; i < s->order.n; i++)
        tell_edge(s, i - 1, i);
    for (uint32_t i = 0; i < s->order.n && all; i++)
        for (uint32_t k = i + 2; k < s->order.n; k++)
            tell_edge(s, i, k);
    if (s->order.n == 1)
        c->writer = s->w->g->ver_txn[s->order.at[0]];
}

static hf_poly_clause tell_list(const sequence *s, hf_op_id op, uint32_t at,
                                bool dirty)
{
    hf_poly *p = &s->w->p;
    hf_poly_clause c = {.kind = HF_STEP_LIST,
                        .first = (uint32_t)p->lemma_edges.n,
                        .op = op,
                        .writer = HF_NONE};

    if (dirty || at >= s->order.n)
        tell_order(s, dirty, &c);
    else
        c.writer = s->w->g->ver_txn[s->order.at[at]];
    for (uint32_t i = 0; !dirty && at < s->order.n && i < s->order.n; i++)
        if (i < at)
            tell_edge(s, i, at);
        else if (i > at)
            tell_edge(s, at, i);
    c.n = (uint32_t)p->lemma_edges.n - c.first;
    return c;
}

static void add_all(const sequence *s, hf_lit_list *list)
{
    for (uint32_t i = 0; i < s->order.n; i++)
        add_around(s, i, list);
    if (s->order.n == 0)
        add_around(s, 0, list);
}

/* Not all of this.  Returns what to choose first; HF_LIT_NONE: nothing. */
static hf_lit forbid(const sequence *s, const reading *r, uint32_t at,
                     hf_lit_list *lits)
{
    hf_poly *p = &s->w->p;
    hf_poly_clause c = {.kind = HF_STEP_LIST, .op = r->op, .writer = HF_NONE};
    hf_lit first;

    hf_worlds_add_lit(lits, hf_poly_happened(p, r->t));
    first = hf_worlds_unsaid(p, lits);
    if (first != HF_LIT_NONE)
        return first;
    if (r->odd)
        c.first = (uint32_t)p->lemma_edges.n;
    else
        c = tell_list(s, r->op, at, r->dirty);
    hf_worlds_add_lemma(p, c, lits);
    return HF_LIT_NONE;
}

/* ---- all ----------------------------------------------------------------- */

/* False: the list does not fit. */
static bool take(const sequence *s, reading *r, hf_lit *ret_lit)
{
    hf_worlds *w = s->w;
    hf_lit_list lits = {0};
    uint32_t at = 0;

    if (!r->odd && (r->dirty ? fits_dirty(s, r, 0, 0) : fits(s, r, &at))) {
        w->source[r->op] = r->dirty || r->own > 0 ? HF_CHOSEN_ONLY
                           : r->source == HF_NONE ? HF_CHOSEN_INITIAL
                                                  : HF_CHOSEN(r->source);
        return true;
    }
    if (!r->odd && r->dirty && s->order.n > 1 && is_clean(s, r)) {
        at = first_break(s, r);
        r->dirty = at == HF_NONE;
    }
    if (!r->odd && r->dirty)
        add_all(s, &lits);
    else if (!r->odd)
        add_around(s, at, &lits);
    *ret_lit = forbid(s, r, at, &lits);
    hf_vec_release(&lits);
    return false;
}

bool hf_worlds_take_lists(hf_worlds *w, hf_lit *ret_lit)
{
    sequence s = {.w = w, .h = w->g->h, .key = HF_NONE};
    reading r = {0};
    bool fine = true;

    for (size_t i = 0; i < w->lists.n && fine; i++) {
        hf_op_id op = w->lists.at[i];

        if (!w->happened[hf_op_txn(s.h, op)])
            continue;
        if (s.h->op_key[op] != s.key)
            load_sequence(&s, s.h->op_key[op]);
        load_reading(&s, op, &r);
        fine = take(&s, &r, ret_lit);
    }
    hf_vec_release(&s.order);
    hf_vec_release(&s.initial);
    hf_vec_release(&r.items);
    return fine;
}

/* Where reads have to agree, those of one key are one. */
static bool is_same_read(const hf_worlds *w, hf_op_id a, hf_op_id b)
{
    const hf_graph *g = w->g;
    hf_txn_id t = hf_op_txn(g->h, a);

    return a == b ||
           (t == hf_op_txn(g->h, b) && g->h->op_key[a] == g->h->op_key[b] &&
            (g->own ? g->own[t] : g->level)->internal);
}

void hf_worlds_lits_of_list(hf_worlds *w, hf_op_id op, hf_lit_list *list)
{
    sequence s = {.w = w, .h = w->g->h};
    hf_txn_id source =
        w->source[op] == HF_CHOSEN_INITIAL ? HF_NONE : w->source[op] - 1;

    if (w->source[op] == HF_CHOSEN_ONLY || source == HF_NONE)
        return; /* what is there to begin with */
    for (size_t i = w->first_list; i < w->p.lemma_lists.n; i++)
        if (is_same_read(w, w->p.lemma_lists.at[i].op, op))
            return; /* twice in one cycle */
    load_sequence(&s, s.h->op_key[op]);
    for (uint32_t i = 0; i < s.order.n; i++)
        if (w->g->ver_txn[s.order.at[i]] == source) {
            add_around(&s, i, list);
            hf_vec_push(&w->p.lemma_lists, tell_list(&s, op, i, false));
        }
    hf_vec_release(&s.order);
    hf_vec_release(&s.initial);
}
