/* poly_counters.c: reads of keys with increments without results, in a world.
 *
 * Which version such a read returned is a choice (poly_choices.c) among all who
 * wrote the key.  In a world the order of versions gives each its number; if
 * that is not what was read, not everything it rests on can be so: the source,
 * who set the key last before it, who is between the two.
 *
 * Of those who only add not all have to be named.  If the number is too small,
 * somebody between the two who makes it larger cannot do more than that, and
 * somebody elsewhere who would make it smaller would not help: only the others
 * count, and even of these some may be anywhere if it stays too small.  If it
 * is too large it is the other way round.  See verify/proof_counters.c.
 *
 * For each world: the reads of such keys, and the writers of the key for each.
 */
#include "check/counters.h"
#include "check/poly_worlds.h"

#include <stdlib.h>
#include <string.h>

/* More than all increments of a history. */
#define FAR_OFF ((hf_wide)1 << 110)

/* ---- which --------------------------------------------------------------- */

static bool is_counter(const hf_graph *g, hf_key_id key)
{
    return key != HF_NONE &&
           (g->key_use[key] & (HF_USE_BLIND | HF_USE_LIST)) == HF_USE_BLIND;
}

void hf_worlds_find_counts(hf_worlds *w)
{
    const hf_graph *g = w->base;
    const hf_history *h = g->h;

    for (hf_txn_id t = 0; t < h->n_txns && g->has_increments; t++)
        for (hf_op_id o = h->op_first[t];
             h->txn_outcome[t] != HF_ABORTED && hf_graph_reads_matter(g, t) &&
             o < h->op_first[t + 1];
             o++)
            if (is_counter(g, h->op_key[o]) &&
                hf_worlds_value_read(h, o) != HF_NONE)
                hf_vec_push(&w->counts, o);
}

uint64_t hf_worlds_n_counted(const hf_worlds *w)
{
    const hf_graph *g = w->g;
    uint64_t n = 0;

    for (size_t i = 0; i < w->counts.n; i++) {
        hf_key_id key = g->h->op_key[w->counts.at[i]];

        n += g->ver_end[key] - g->ver_first[key];
    }
    return n;
}

bool hf_worlds_counts(const hf_worlds *w, hf_txn_id t)
{
    const hf_history *h = w->base->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        if (is_counter(w->base, h->op_key[o]) && hf_graph_writes(h, o))
            return true;
    return false;
}

bool hf_worlds_is_counted(const hf_worlds *w, hf_op_id op)
{
    return w->counts.n > 0 && is_counter(w->g, w->g->h->op_key[op]);
}

/* ---- the key in the world at hand ---------------------------------------- */

typedef struct writer {
    uint32_t ver;
    uint32_t place; /* HF_NONE: it did not happen */
    hf_counting does;
} writer;

typedef struct counter {
    hf_worlds *w;
    const hf_history *h;
    hf_key_id key;
    HF_VEC(writer) all; /* by place */
} counter;

static int by_place(const void *a, const void *b)
{
    const writer *x = a, *y = b;

    return (x->place > y->place) - (x->place < y->place);
}

static void load(counter *c, hf_key_id key)
{
    const hf_graph *g = c->w->g;

    c->key = key;
    c->all.n = 0;
    for (uint32_t v = g->ver_first[key] + 1; v < g->ver_end[key]; v++) {
        hf_txn_id t = g->ver_txn[v];

        hf_vec_push(&c->all, (writer){v, c->w->place[t],
                                      hf_counting_of(c->h, t, key,
                                                     c->h->op_first[t + 1])});
    }
    if (c->all.n > 1)
        qsort(c->all.at, c->all.n, sizeof(writer), by_place);
}

/* A read, and whose version it is. */
typedef struct counted {
    hf_op_id op;
    hf_txn_id reader;
    uint32_t at;      /* in `all` */
    bool own;         /* after an own write */
    hf_counting mine; /* what is there then, done by the writer */
    uint32_t last;    /* who sets it before; HF_NONE: the initial version */
    hf_amount wanted;
    hf_wide missing; /* that others would have to add */
    bool never;      /* they add whole numbers, and it is none */
} counted;

static bool own_write_before(const hf_history *h, hf_txn_id t, hf_op_id op)
{
    for (hf_op_id o = h->op_first[t]; o < op; o++)
        if (h->op_key[o] == h->op_key[op] && hf_graph_writes(h, o))
            return true;
    return false;
}

static uint32_t place_of(const counter *c, hf_txn_id t)
{
    for (uint32_t i = 0; i < c->all.n; i++)
        if (c->w->g->ver_txn[c->all.at[i].ver] == t)
            return i;
    return HF_NONE;
}

/* False: it reads what was there to begin with, or is not settled. */
static bool open_read(const counter *c, hf_op_id op, counted *r)
{
    const hf_history *h = c->h;
    uint32_t source = c->w->source[op];
    hf_txn_id t = hf_op_txn(h, op);

    *r = (counted){.op = op, .reader = t, .last = HF_NONE};
    r->own = own_write_before(h, t, op);
    if (!r->own && (source == HF_CHOSEN_INITIAL || source == HF_CHOSEN_ONLY))
        return false;
    r->at = place_of(c, r->own ? t : source - 1);
    r->wanted = hf_amount_of(h, hf_worlds_value_read(h, op));
    r->mine = r->own ? hf_counting_of(h, t, c->key, op) : c->all.at[r->at].does;
    return true;
}

/* Does the version have the number?  Otherwise the rest of r is filled. */
static bool fits(const counter *c, counted *r)
{
    hf_amount now = hf_amount_first(c->h, c->key);
    hf_amount base = hf_amount_plus(now, 0);

    for (uint32_t i = 0; i < r->at; i++) {
        const hf_counting *d = &c->all.at[i].does;

        now = hf_counting_on(now, d);
        if (d->sets) {
            r->last = i;
            base = hf_amount_plus(now, 0);
        }
    }
    r->missing = r->wanted.number - base.number - r->mine.added;
    r->never = r->wanted.rest != base.rest;
    return hf_amount_eq(hf_counting_on(now, &r->mine), r->wanted);
}

/* ---- what that rests on -------------------------------------------------- */

typedef struct naming {
    const counter *c;
    const counted *r;
    bool small;    /* what was read is larger */
    hf_wide all;   /* what others add, as far as they are named exactly */
    hf_wide loose; /* ... and at most, if some are not */
    bool out;      /* those not named who need not have happened did not */
    uint8_t *named;
    hf_lit_list lits;
    hf_worlds_edges orders;
} naming;

static hf_txn_id txn_of(const counter *c, uint32_t i)
{
    return c->w->g->ver_txn[c->all.at[i].ver];
}

/* Between the one who sets it last and the version read. */
static bool is_between(const naming *n, uint32_t i)
{
    return i < n->r->at && (n->r->last == HF_NONE || i > n->r->last);
}

static bool is_gone(const naming *n, uint32_t i)
{
    return n->c->all.at[i].place == HF_NONE;
}

/* One who only adds: what it adds, as it would have to be to help. */
static hf_wide help_of(const naming *n, uint32_t i)
{
    hf_wide added = n->c->all.at[i].does.added;

    return n->small ? added : -added;
}

/* What it costs not to name it. */
static hf_wide cost_of(const naming *n, uint32_t i)
{
    hf_wide help = help_of(n, i);

    if (is_between(n, i) && !is_gone(n, i))
        return help < 0 ? -help : 0;
    return help > 0 ? help : 0;
}

static bool counts(const naming *n, uint32_t i)
{
    return i != n->r->at && i != n->r->last && !n->c->all.at[i].does.sets;
}

/* How far what others add is from what is missing. */
static hf_wide slack_of(const naming *n)
{
    hf_wide sum = 0;

    if (n->r->never)
        return FAR_OFF;
    for (uint32_t i = 0; i < n->c->all.n; i++)
        if (counts(n, i) && is_between(n, i) && !is_gone(n, i))
            sum += n->c->all.at[i].does.added;
    return sum - n->r->missing;
}

/* Must those who did not happen be told?  If somebody of them sets the key, or
 * they could make up for it. */
static bool must_leave_out(const naming *n, hf_wide slack)
{
    for (uint32_t i = 0; i < n->c->all.n; i++) {
        if (!is_gone(n, i) || i == n->r->at)
            continue;
        if (n->c->all.at[i].does.sets)
            return true;
        slack -= cost_of(n, i);
    }
    return slack <= 0;
}

/* Names as few as it takes: the dearest first. */
static void choose_names(naming *n, hf_wide slack)
{
    const counter *c = n->c;

    for (uint32_t i = 0; i < c->all.n; i++) {
        n->named[i] = !is_gone(n, i) && counts(n, i);
        if (is_gone(n, i) && !n->out && counts(n, i))
            slack -= cost_of(n, i);
    }
    for (;;) {
        uint32_t best = HF_NONE;

        for (uint32_t i = 0; i < c->all.n; i++)
            if (n->named[i] && counts(n, i) &&
                !(n->out && c->h->txn_outcome[txn_of(c, i)] != HF_COMMITTED) &&
                (best == HF_NONE || cost_of(n, i) < cost_of(n, best)))
                best = i;
        if (best == HF_NONE || cost_of(n, best) >= slack)
            return;
        slack -= cost_of(n, best);
        n->named[best] = 0;
    }
}

static void add_order(naming *n, uint32_t i, uint32_t k)
{
    const hf_graph *g = n->c->w->g;
    uint32_t a = n->c->all.at[i].ver, b = n->c->all.at[k].ver;

    hf_worlds_add_before(n->c->w, &n->lits, n->c->key, a, b);
    hf_vec_push(&n->orders, (hf_edge){HF_EDGE_WW, g->ver_txn[a], g->ver_txn[b],
                                      n->c->key, g->ver_op[a], g->ver_op[b]});
}

static void add_happened(naming *n, uint32_t i)
{
    hf_lit lit = hf_poly_happened(&n->c->w->p, txn_of(n->c, i));

    if (lit != HF_LIT_NONE && is_gone(n, i))
        lit = HF_LIT_NOT(lit);
    hf_worlds_add_lit(&n->lits, lit);
}

/* Before who sets it last, between, or behind. */
static void add_place(naming *n, uint32_t i)
{
    uint32_t at = n->r->at, last = n->r->last;

    if (i > at) {
        add_order(n, at, i);
    } else if (last != HF_NONE && i < last) {
        add_order(n, i, last);
    } else {
        add_order(n, i, at);
        if (last != HF_NONE)
            add_order(n, last, i);
        add_happened(n, i);
    }
}

static void name_others(naming *n)
{
    const counter *c = n->c;
    hf_wide slack = slack_of(n);

    n->small = slack < 0;
    if (slack < 0)
        slack = -slack;
    n->out = must_leave_out(n, slack);
    choose_names(n, slack);
    if (n->r->last != HF_NONE) {
        add_order(n, n->r->last, n->r->at);
        add_happened(n, n->r->last);
    }
    for (uint32_t i = 0; i < c->all.n; i++) {
        if (i == n->r->at || i == n->r->last)
            continue;
        if (is_gone(n, i) && n->out)
            add_happened(n, i);
        else if (!is_gone(n, i) && (n->named[i] || c->all.at[i].does.sets))
            add_place(n, i);
    }
}

/* The literal of the source. */
static hf_lit source_lit(const counter *c, const counted *r)
{
    const hf_poly *p = &c->w->p;
    const hf_poly_choice *choice = &p->choices.at[p->choice_of[r->op]];

    for (uint32_t i = 0; i < choice->n; i++)
        if (p->candidates.at[choice->first + i].writer == txn_of(c, r->at))
            return 2 * p->candidates.at[choice->first + i].var;
    return HF_LIT_NONE;
}

/* Not all of this.  Returns what to choose first; HF_LIT_NONE: nothing. */
static hf_lit forbid(naming *n)
{
    hf_poly *p = &n->c->w->p;
    hf_poly_clause c = {.kind = HF_STEP_LIST,
                        .first = (uint32_t)p->lemma_edges.n,
                        .n = (uint32_t)n->orders.n,
                        .op = n->r->op,
                        .writer = txn_of(n->c, n->r->at),
                        .first_lit = (uint32_t)p->lemma_lits.n,
                        .n_lits = (uint32_t)n->lits.n};
    hf_lit first = hf_worlds_unsaid(p, &n->lits);

    if (first != HF_LIT_NONE)
        return first;
    for (size_t i = 0; i < n->orders.n; i++) {
        hf_vec_push(&p->lemma_edges, n->orders.at[i]);
        hf_vec_push(&p->lemma_chosen, HF_CHOSEN_ONLY);
    }
    for (size_t i = 0; i < n->lits.n; i++) {
        hf_vec_push(&p->lemma_lits, n->lits.at[i]);
        n->lits.at[i] = HF_LIT_NOT(n->lits.at[i]);
    }
    (void)hf_order_clause(p->order, n->lits.at, (uint32_t)n->lits.n,
                          hf_worlds_add_clause(p, c));
    return HF_LIT_NONE;
}

static hf_lit refuse(const counter *c, const counted *r)
{
    naming n = {.c = c, .r = r};
    hf_lit first;

    n.named = HF_NEW_ZEROED(uint8_t, c->all.n + 1);
    hf_worlds_add_lit(&n.lits, hf_poly_happened(&c->w->p, r->reader));
    if (!r->own)
        hf_worlds_add_lit(&n.lits, source_lit(c, r));
    if (!r->mine.sets && r->wanted.is_number)
        name_others(&n);
    first = forbid(&n);
    hf_vec_release(&n.lits);
    hf_vec_release(&n.orders);
    hf_free(n.named);
    return first;
}

/* ---- all ----------------------------------------------------------------- */

bool hf_worlds_take_counts(hf_worlds *w, hf_lit *ret_lit)
{
    counter c = {.w = w, .h = w->g->h, .key = HF_NONE};
    bool fine = true;

    for (size_t i = 0; i < w->counts.n && fine; i++) {
        hf_op_id op = w->counts.at[i];
        counted r;

        if (!w->happened[hf_op_txn(c.h, op)])
            continue;
        if (c.h->op_key[op] != c.key)
            load(&c, c.h->op_key[op]);
        if (!open_read(&c, op, &r) || fits(&c, &r))
            continue;
        *ret_lit = refuse(&c, &r);
        fine = false;
    }
    hf_vec_release(&c.all);
    return fine;
}
