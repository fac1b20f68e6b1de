/* states_solve.c: the order of a part, asked of a SAT solver.
 *
 * Counters make the search over states long: who adds to a key and reads
 * nothing can come at any time, and only a sum that is read much later tells
 * that it was the wrong one.  A solver that learns is better at that.
 *
 * A variable for every two nodes says which commit comes first; three of them
 * are no circle.  On snapshots another one says that the first is visible to
 * the second, and with it all that come before.  Where visibility counts
 * (`partial`) it says that the one is visible to the other, and two that write
 * no cell in common may be unordered.  Of a demand:
 *
 *   last(s)    s, or the initial version, set the cell last before it: it is
 *              before, and all others who set it are before s or not before
 *   counts(a)  a adds to what is found: it is before, and s is before a
 *   sum(i, x)  the first i of those who add make x of what s left
 *
 * Sums that lead to no number that is wanted are left out.  If reads find what
 * was there at any time before, each who adds to a cell has such sums, and a
 * demand a choice among them.
 *
 * What is found is an order like that of any other search; that there is none
 * is found again by verify, in clauses of its own.  Lists, and counters that
 * hold what is no number, are left out: then only NONE is an answer.
 *
 * O(nodes^3) clauses, and for each demand its writers times their sums.
 */
#include "check/states.h"

#include <stdlib.h>
#include <string.h>

#include "solver/sat.h"

#define MOST_NODES 1000u
#define MOST_CLAUSES 60000000u /* about 3 GB */
#define MOST_SUMS                                                              \
    ((size_t)1 << 22) /* of one demand, before any is left out                 \
                       */

typedef HF_VEC(int64_t) sums;
typedef HF_VEC(int) literals;

/* One who writes a cell. */
typedef struct writer {
    uint32_t node;
    const hf_effect *does;
} writer;

typedef struct formula {
    const hf_states *s;
    const uint32_t *rank; /* per event: an order to begin with */
    hf_budget *budget;
    hf_sat *sat;
    uint32_t first, n; /* nodes */
    int *before;       /* per two nodes: the commit is before the other's */
    int *visible;      /* ... before the start of the other; NULL: the same */
    int *there;        /* per node: it happened; 0: certainly */
    int *sees;         /* per two nodes, once asked for; 0: not yet */
    uint32_t *writer_first; /* per cell; n_keys + 1 */
    writer *writers;
    uint8_t *fit; /* per cell */
    /* `past`: per cell, the numbers that are wanted of it; per writer: that it
     * leaves them, one after the other */
    sums *wanted;
    int **leaves;
    literals clause;
    literals selected;   /* per demand, if that is asked: it counts */
    hf_states_uses uses; /* ... and which that is */
    bool left_out, too_large;
} formula;

/* ---- order --------------------------------------------------------------- */

static size_t pair_of(const formula *f, uint32_t a, uint32_t b)
{
    return (size_t)(a - f->first) * f->n + (b - f->first);
}

/* The commit of a is before that of b. */
static int before(const formula *f, uint32_t a, uint32_t b)
{
    return a < b || f->s->partial ? f->before[pair_of(f, a, b)]
                                  : -f->before[pair_of(f, b, a)];
}

/* The commit of a is before the start of b. */
static int visible(const formula *f, uint32_t a, uint32_t b)
{
    return f->visible ? f->visible[pair_of(f, a, b)] : before(f, a, b);
}

static void add(formula *f, int lit)
{
    if (lit != 0)
        hf_vec_push(&f->clause, lit);
}

/* One of those that were added. */
static void close_clause(formula *f)
{
    hf_sat_clause(f->sat, f->clause.at, (uint32_t)f->clause.n);
    f->clause.n = 0;
    f->too_large |= hf_sat_n_clauses(f->sat) > MOST_CLAUSES;
}

static void clause(formula *f, int a, int b, int c)
{
    add(f, a);
    add(f, b);
    add(f, c);
    close_clause(f);
}

static bool is_likely(const formula *f, uint32_t a, uint32_t b, bool commit)
{
    return f->rank[2 * a + 1] < f->rank[2 * b + commit];
}

/* It takes no more: of clauses, or of the user's limits. */
static bool is_full(const formula *f)
{
    return f->too_large || (f->budget && hf_budget_look(f->budget));
}

/* No circle of three; of a partial order, all that follows. */
static void make_transitive(formula *f)
{
    uint32_t end = f->first + f->n;

    for (uint32_t c = f->first; c < end && !is_full(f); c++)
        for (uint32_t b = f->first; b < end; b++)
            for (uint32_t a = f->first; b != c && a < end; a++)
                if (a != b && a != c && (f->s->partial || (c > a && c > b)))
                    clause(f, -before(f, a, b), -before(f, b, c),
                           before(f, a, c));
}

/* What is before something visible is visible; it is before oneself. */
static void make_visible(formula *f)
{
    uint32_t end = f->first + f->n;

    f->visible = HF_NEW_ZEROED(int, (size_t)f->n * f->n + 1);
    for (uint32_t a = f->first; a < end; a++)
        for (uint32_t b = f->first; b < end; b++)
            if (a != b) {
                f->visible[pair_of(f, a, b)] =
                    hf_sat_lit(f->sat, is_likely(f, a, b, false));
                clause(f, -visible(f, a, b), before(f, a, b), 0);
            }
    for (uint32_t c = f->first; c < end && !is_full(f); c++)
        for (uint32_t b = f->first; b < end; b++)
            for (uint32_t a = f->first; b != c && a < end; a++)
                if (a != b && a != c)
                    clause(f, -before(f, a, b), -visible(f, b, c),
                           visible(f, a, c));
}

static void make_order(formula *f)
{
    uint32_t end = f->first + f->n;

    f->before = HF_NEW_ZEROED(int, (size_t)f->n * f->n + 1);
    for (uint32_t a = f->first; a < end; a++)
        for (uint32_t b = f->first; b < end; b++)
            if (a < b || (a != b && f->s->partial))
                f->before[pair_of(f, a, b)] =
                    hf_sat_lit(f->sat, is_likely(f, a, b, true));
    for (uint32_t a = f->first; a < end && f->s->partial; a++)
        for (uint32_t b = f->first; b < a; b++)
            clause(f, -before(f, a, b), -before(f, b, a), 0);
    make_transitive(f);
    if (f->s->snapshots)
        make_visible(f);
    f->there = HF_NEW_ZEROED(int, (size_t)f->n + 1);
    for (uint32_t i = 0; i < f->n; i++)
        if (f->s->maybe[f->first + i])
            f->there[i] = hf_sat_lit(f->sat, true);
    f->sees = HF_NEW_ZEROED(int, (size_t)f->n * f->n + 1);
}

/* `a` happened, and is visible to b. */
static int sees(formula *f, uint32_t b, uint32_t a)
{
    int *lit = &f->sees[pair_of(f, b, a)];
    int order = visible(f, a, b), there = f->there[a - f->first];

    if (*lit != 0)
        return *lit;
    if (there == 0)
        return *lit = order;
    *lit = hf_sat_lit(f->sat, true);
    clause(f, -*lit, order, 0);
    clause(f, -*lit, there, 0);
    clause(f, *lit, -order, -there);
    return *lit;
}

/* ... if both happened: those that did not may go in a circle. */
static void come_first(formula *f, uint32_t a, uint32_t b)
{
    if (a >= f->first && a < f->first + f->n)
        clause(f, visible(f, a, b), -f->there[a - f->first],
               -f->there[b - f->first]);
}

static bool share_cell(const hf_states *s, uint32_t a, uint32_t b)
{
    for (uint32_t i = s->effect_first[a]; i < s->effect_first[a + 1]; i++)
        for (uint32_t k = s->effect_first[b]; k < s->effect_first[b + 1]; k++)
            if (s->effects.at[i].cell == s->effects.at[k].cell)
                return true;
    return false;
}

/* What an order has to keep. */
static void keep_orders(formula *f)
{
    const hf_states *s = f->s;

    for (uint32_t a = f->first; a < f->first + f->n; a++) {
        for (uint32_t i = s->out_first[a]; i < s->out_first[a + 1]; i++)
            come_first(f, a, s->out[i]);
        for (uint32_t i = s->kill_first[a]; i < s->kill_first[a + 1]; i++)
            come_first(f, s->kill[i], a);
        for (uint32_t b = f->first; b < f->first + f->n; b++) {
            if (s->times && a != b && s->end[a] < s->begin[b])
                come_first(f, a, b);
            if ((s->snapshots || s->partial) && a < b && share_cell(s, a, b)) {
                add(f, -f->there[a - f->first]);
                add(f, -f->there[b - f->first]);
                clause(f, visible(f, a, b), visible(f, b, a), 0);
            }
        }
    }
}

static void list_writers(formula *f)
{
    const hf_states *s = f->s;
    uint32_t end = f->first + f->n, n_keys = s->h->n_keys;

    f->writer_first = HF_NEW_ZEROED(uint32_t, (size_t)n_keys + 3);
    f->writers = HF_NEW_ARRAY(writer, s->effects.n + 1);
    for (uint32_t i = s->effect_first[f->first]; i < s->effect_first[end]; i++)
        f->writer_first[s->effects.at[i].cell + 2]++;
    for (uint32_t k = 0; k <= n_keys; k++)
        f->writer_first[k + 1] += f->writer_first[k];
    for (uint32_t t = f->first; t < end; t++)
        for (uint32_t i = s->effect_first[t]; i < s->effect_first[t + 1]; i++) {
            const hf_effect *e = &s->effects.at[i];

            f->writers[f->writer_first[e->cell + 1]++] = (writer){t, e};
        }
}

/* ---- what is found ------------------------------------------------------- */

/* What a cell holds when a node starts. */
typedef struct place {
    hf_key_id cell;
    uint32_t node;
    int unless;      /* nothing is asked then; 0: it always is */
    int selected;    /* ... nor unless this is so; 0: it always is */
    literals last;   /* per writer of the cell, then initial; 0: not */
    literals counts; /* per writer; 0: not */
} place;

static writer *writer_at(const formula *f, const place *p, uint32_t i)
{
    return &f->writers[f->writer_first[p->cell] + i];
}

static uint32_t n_writers(const formula *f, const place *p)
{
    return f->writer_first[p->cell + 1] - f->writer_first[p->cell];
}

/* Who may have set it last: all, or (registers) those who set it to
 * `wanted`. */
static void add_last(formula *f, place *p, hf_holding wanted)
{
    const hf_states *s = f->s;
    bool any = s->kind[p->cell] == HF_CELL_COUNTER;
    uint32_t n = n_writers(f, p);

    for (uint32_t i = 0; i <= n; i++) {
        const writer *w = writer_at(f, p, i);
        bool may = i == n
                       ? any || s->initial[p->cell] == wanted
                       : w->node != p->node && w->does->kind == HF_EFFECT_SET &&
                             (any || w->does->set == wanted);

        hf_vec_push(&p->last, may ? hf_sat_lit(f->sat, false) : 0);
    }
    for (uint32_t i = 0; i <= n; i++) {
        const writer *w = writer_at(f, p, i);

        if (p->last.at[i] == 0)
            continue;
        if (i < n)
            clause(f, -p->last.at[i], sees(f, p->node, w->node), 0);
        for (uint32_t k = 0; k < n; k++) {
            const writer *o = writer_at(f, p, k);

            if (k == i || o->node == p->node || o->does->kind != HF_EFFECT_SET)
                continue;
            clause(f, -p->last.at[i], -sees(f, p->node, o->node),
                   i < n ? before(f, o->node, w->node) : 0);
        }
    }
    for (uint32_t i = 0; i <= n; i++)
        add(f, p->last.at[i]);
    clause(f, p->unless, -p->selected, 0);
}

/* Who adds to what is found. */
static void add_counts(formula *f, place *p)
{
    uint32_t n = n_writers(f, p);
    bool sets = false;

    for (uint32_t i = 0; i < n; i++)
        sets |= p->last.at[i] != 0;
    for (uint32_t i = 0; i < n; i++) {
        const writer *w = writer_at(f, p, i);
        bool adds = w->does->kind == HF_EFFECT_ADD && w->node != p->node;
        int seen = adds ? sees(f, p->node, w->node) : 0;
        int counts = adds && sets ? hf_sat_lit(f->sat, true) : seen;

        hf_vec_push(&p->counts, counts);
        if (counts == seen)
            continue;
        clause(f, -counts, seen, 0);
        clause(f, -p->last.at[n], -seen, counts);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t other = writer_at(f, p, k)->node;
            int behind;

            if (p->last.at[k] == 0)
                continue;
            behind = before(f, other, w->node);
            clause(f, -p->last.at[k], behind, -counts);
            add(f, -p->last.at[k]);
            clause(f, -behind, -seen, counts);
        }
    }
}

static void release_place(place *p)
{
    hf_vec_release(&p->last);
    hf_vec_release(&p->counts);
}

/* ---- sums ---------------------------------------------------------------- */

typedef struct layer {
    sums sums; /* ascending */
    literals lits;
    int64_t amount; /* what the next one adds */
    int counts;
} layer;

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void sort_sums(sums *s)
{
    size_t n = 0;

    if (s->n > 1)
        qsort(s->at, s->n, sizeof(*s->at), by_number);
    for (size_t i = 0; i < s->n; i++)
        if (n == 0 || s->at[n - 1] != s->at[i])
            s->at[n++] = s->at[i];
    s->n = n;
}

static size_t find_sum(const layer *l, int64_t x)
{
    size_t low = 0, high = l->sums.n;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (l->sums.at[mid] < x)
            low = mid + 1;
        else
            high = mid;
    }
    return low < l->sums.n && l->sums.at[low] == x ? low : SIZE_MAX;
}

static int sum_lit(const layer *l, int64_t x)
{
    size_t i = find_sum(l, x);

    return i == SIZE_MAX ? 0 : l->lits.at[i];
}

static int64_t base_of(const formula *f, const place *p, uint32_t i)
{
    return i == n_writers(f, p) ? f->s->initial_number[p->cell]
                                : writer_at(f, p, i)->does->number;
}

/* The sums that lead from what was set to what is wanted. */
static void list_layers(formula *f, const place *p, layer *layers, uint32_t n,
                        const sums *wanted)
{
    int64_t low = 0, high = 0;
    size_t all = 0;

    for (uint32_t i = 0; i < n; i++) {
        low += layers[i].amount < 0 ? layers[i].amount : 0;
        high += layers[i].amount > 0 ? layers[i].amount : 0;
    }
    for (uint32_t i = 0; i < p->last.n; i++)
        if (p->last.at[i] != 0)
            hf_vec_push(&layers[0].sums, base_of(f, p, i));
    sort_sums(&layers[0].sums);
    for (uint32_t i = 0; i < n; i++) {
        int64_t by = layers[i].amount;

        all += 2 * layers[i].sums.n;
        f->too_large |= all > MOST_SUMS;
        if (is_full(f))
            return;
        low -= by < 0 ? by : 0;
        high -= by > 0 ? by : 0;
        for (size_t k = 0; k < 2 * layers[i].sums.n; k++) {
            int64_t x = layers[i].sums.at[k / 2] + (k % 2 ? by : 0);

            if (x + low <= wanted->at[wanted->n - 1] &&
                x + high >= wanted->at[0])
                hf_vec_push(&layers[i + 1].sums, x);
        }
        sort_sums(&layers[i + 1].sums);
    }
    for (uint32_t i = n + 1; i-- > 0;) {
        layer *l = &layers[i];
        size_t kept = 0;

        for (size_t k = 0; k < l->sums.n; k++) {
            int64_t x = l->sums.at[k];
            bool leads = i == n
                             ? bsearch(&x, wanted->at, wanted->n, sizeof(x),
                                       by_number) != NULL
                             : find_sum(l + 1, x) != SIZE_MAX ||
                                   find_sum(l + 1, x + l->amount) != SIZE_MAX;

            if (leads)
                l->sums.at[kept++] = x;
        }
        l->sums.n = kept;
    }
}

/* A sum comes from one of two before it; if it must lead to one that is
 * wanted, it leads to one of two. */
static void add_layer(formula *f, const layer *l, bool must)
{
    const layer *next = l + 1;

    for (size_t k = 0; must && k < l->sums.n; k++) {
        int64_t x = l->sums.at[k];
        int with = sum_lit(next, x + l->amount), without = sum_lit(next, x);

        clause(f, -l->lits.at[k], -l->counts, with);
        clause(f, -l->lits.at[k], l->counts, without);
        clause(f, -l->lits.at[k], with, without);
    }
    for (size_t k = 0; k < next->sums.n; k++) {
        int64_t x = next->sums.at[k];
        int with = sum_lit(l, x - l->amount), without = sum_lit(l, x);

        clause(f, -next->lits.at[k], -l->counts, with);
        clause(f, -next->lits.at[k], l->counts, without);
        clause(f, -next->lits.at[k], with, without);
    }
}

static void add_bases(formula *f, const place *p, const layer *first, bool must)
{
    for (uint32_t i = 0; must && i < p->last.n; i++)
        if (p->last.at[i] != 0) {
            add(f, -p->selected);
            clause(f, -p->last.at[i], sum_lit(first, base_of(f, p, i)), 0);
        }
    for (size_t k = 0; k < first->sums.n; k++) {
        add(f, -first->lits.at[k]);
        for (uint32_t i = 0; i < p->last.n; i++)
            if (p->last.at[i] != 0 && base_of(f, p, i) == first->sums.at[k])
                add(f, p->last.at[i]);
        close_clause(f);
    }
}

/* ret_lits gets, for each of these numbers, ascending, that the counter holds
 * it; 0: never.  `must`: it holds one of them. */
static void add_sums(formula *f, const place *p, const sums *wanted, bool must,
                     literals *ret_lits)
{
    uint32_t n = 0;
    layer *layers = HF_NEW_ZEROED(layer, p->counts.n + 1);
    bool full;

    for (uint32_t i = 0; i < p->counts.n; i++)
        if (p->counts.at[i] != 0) {
            layers[n].amount = writer_at(f, p, i)->does->number;
            layers[n++].counts = p->counts.at[i];
        }
    list_layers(f, p, layers, n, wanted);
    full = is_full(f); /* then nobody is asked */
    for (uint32_t i = 0; i <= n && !full; i++)
        for (size_t k = 0; k < layers[i].sums.n; k++)
            hf_vec_push(&layers[i].lits, hf_sat_lit(f->sat, false));
    if (!full)
        add_bases(f, p, &layers[0], must);
    for (uint32_t i = 0; i < n && !full && !f->too_large; i++)
        add_layer(f, &layers[i], must);
    for (size_t i = 0; i < wanted->n; i++)
        hf_vec_push(ret_lits, full ? 0 : sum_lit(&layers[n], wanted->at[i]));
    for (uint32_t i = 0; i <= n; i++) {
        hf_vec_release(&layers[i].sums);
        hf_vec_release(&layers[i].lits);
    }
    hf_free(layers);
}

/* ---- demands ------------------------------------------------------------- */

/* What a cell holds where the node starts. */
static void find_now(formula *f, place *p, hf_holding wanted)
{
    sums numbers = {0};
    literals lits = {0};
    int64_t number = 0;

    add_last(f, p, wanted);
    if (f->s->kind[p->cell] == HF_CELL_COUNTER) {
        add_counts(f, p);
        (void)hf_states_number_in(f->s, wanted, &number);
        hf_vec_push(&numbers, number);
        add_sums(f, p, &numbers, true, &lits);
        clause(f, lits.at[0], p->unless, -p->selected);
    }
    hf_vec_release(&numbers);
    hf_vec_release(&lits);
}

/* Per writer of a counter that adds to it: that it leaves what is wanted. */
static void list_leavings(formula *f, hf_key_id cell)
{
    const sums *wanted = &f->wanted[cell];
    uint32_t first = f->writer_first[cell];
    uint32_t n = f->writer_first[cell + 1] - first;

    if (f->leaves[cell])
        return;
    f->leaves[cell] = HF_NEW_ZEROED(int, (size_t)n * wanted->n + 1);
    for (uint32_t i = 0; i < n && !is_full(f); i++) {
        const writer *w = &f->writers[first + i];
        place p = {.cell = cell,
                   .node = w->node,
                   .unless = -f->there[w->node - f->first]};
        sums numbers = {0};
        literals lits = {0};

        if (w->does->kind != HF_EFFECT_ADD)
            continue;
        for (size_t k = 0; k < wanted->n; k++)
            hf_vec_push(&numbers, wanted->at[k] - w->does->number);
        add_last(f, &p, HF_OFF);
        add_counts(f, &p);
        add_sums(f, &p, &numbers, false, &lits);
        memcpy(f->leaves[cell] + i * wanted->n, lits.at,
               wanted->n * sizeof(int));
        hf_vec_release(&numbers);
        hf_vec_release(&lits);
        release_place(&p);
    }
}

/* The writer leaves what is wanted; false: never; *ret_lit 0: always. */
static bool may_leave(formula *f, const place *p, uint32_t i, hf_holding wanted,
                      int *ret_lit)
{
    const writer *w = writer_at(f, p, i);
    const sums *all = &f->wanted[p->cell];
    int64_t number = 0;
    size_t at = 0;

    *ret_lit = 0;
    if (w->node == p->node)
        return false;
    if (w->does->kind == HF_EFFECT_SET)
        return w->does->set == wanted;
    (void)hf_states_number_in(f->s, wanted, &number);
    while (all->at[at] != number)
        at++;
    *ret_lit = f->leaves[p->cell][i * all->n + at];
    return *ret_lit != 0;
}

/* Somebody before it left it. */
static void find_past(formula *f, const place *p, hf_holding wanted)
{
    literals from = {0};

    if (f->s->initial[p->cell] == wanted)
        return;
    if (f->s->kind[p->cell] == HF_CELL_COUNTER)
        list_leavings(f, p->cell);
    for (uint32_t i = 0; i < n_writers(f, p) && !f->too_large; i++) {
        int left, lit;

        if (!may_leave(f, p, i, wanted, &left))
            continue;
        lit = hf_sat_lit(f->sat, false);
        hf_vec_push(&from, lit);
        clause(f, -lit, sees(f, p->node, writer_at(f, p, i)->node), 0);
        if (left != 0)
            clause(f, -lit, left, 0);
    }
    for (size_t i = 0; i < from.n; i++)
        add(f, from.at[i]);
    clause(f, p->unless, -p->selected, 0);
    hf_vec_release(&from);
}

static void add_demand(formula *f, uint32_t node, const hf_demand *d,
                       bool select)
{
    place p = {
        .cell = d->cell, .node = node, .unless = -f->there[node - f->first]};
    int64_t number;

    if (!f->fit[d->cell] || (f->s->kind[d->cell] == HF_CELL_COUNTER &&
                             !hf_states_number_in(f->s, d->wanted, &number))) {
        f->left_out = true;
        return;
    }
    if (select) {
        p.selected = hf_sat_lit(f->sat, true);
        hf_vec_push(&f->selected, p.selected);
        hf_vec_push(&f->uses, (hf_states_use){f->s->txn[node], d->cell});
    }
    if (d->before)
        find_past(f, &p, d->wanted);
    else
        find_now(f, &p, d->wanted);
    release_place(&p);
}

/* Registers, and counters that hold numbers only; and what is wanted of
 * these. */
static void look_at_cells(formula *f)
{
    const hf_states *s = f->s;
    uint32_t end = f->first + f->n;
    int64_t number;

    f->fit = HF_NEW_ZEROED(uint8_t, (size_t)s->h->n_keys + 1);
    f->wanted = HF_NEW_ZEROED(sums, (size_t)s->h->n_keys + 1);
    f->leaves = HF_NEW_ZEROED(int *, (size_t)s->h->n_keys + 1);
    for (hf_key_id k = 0; k < s->h->n_keys; k++)
        f->fit[k] = s->kind[k] == HF_CELL_REGISTER ||
                    (s->kind[k] == HF_CELL_COUNTER &&
                     hf_states_number_in(s, s->initial[k], &number));
    for (uint32_t i = s->effect_first[f->first]; i < s->effect_first[end];
         i++) {
        const hf_effect *e = &s->effects.at[i];

        if (s->kind[e->cell] == HF_CELL_COUNTER && e->kind == HF_EFFECT_SET &&
            !hf_states_number_in(s, e->set, &number))
            f->fit[e->cell] = 0;
    }
    for (uint32_t i = s->demand_first[f->first]; i < s->demand_first[end]; i++)
        if (s->kind[s->demands.at[i].cell] == HF_CELL_COUNTER &&
            hf_states_number_in(s, s->demands.at[i].wanted, &number))
            hf_vec_push(&f->wanted[s->demands.at[i].cell], number);
    for (hf_key_id k = 0; k < s->h->n_keys; k++)
        sort_sums(&f->wanted[k]);
}

/* ---- all ----------------------------------------------------------------- */

static bool happened(const formula *f, uint32_t node)
{
    int there = f->there[node - f->first];

    return there == 0 || hf_sat_true(f->sat, there);
}

static uint32_t count_before(const formula *f, uint32_t node, bool start)
{
    uint32_t n = 0;

    for (uint32_t i = f->first; i < f->first + f->n; i++)
        n += i != node && hf_sat_true(f->sat, start ? visible(f, i, node)
                                                    : before(f, i, node));
    return n;
}

/* Commits by how many are before them, and the starts between them. */
static void list_order(const formula *f, hf_states_order *ret)
{
    hf_sortable *at = HF_NEW_ARRAY(hf_sortable, 2 * (size_t)f->n + 1);
    bool starts = f->s->snapshots;

    for (uint32_t i = 0; i < f->n; i++) {
        uint64_t commit = count_before(f, f->first + i, false);
        uint64_t start = starts ? count_before(f, f->first + i, true) : commit;

        at[2 * i] = (hf_sortable){2 * start + !starts, 2 * i};
        at[2 * i + 1] = (hf_sortable){2 * commit + 1, 2 * i + 1};
    }
    hf_sort(at, 2 * (size_t)f->n);
    for (uint32_t i = 0; i < 2 * f->n; i++)
        if (happened(f, f->first + (uint32_t)at[i].value / 2))
            hf_vec_push(ret, 2 * f->first + (uint32_t)at[i].value);
    hf_free(at);
}

/* The newest version that a node sees of a cell; HF_NONE: the initial one. */
static hf_txn_id newest(formula *f, uint32_t node, hf_key_id cell)
{
    uint32_t best = HF_NONE;

    for (uint32_t i = f->writer_first[cell]; i < f->writer_first[cell + 1];
         i++) {
        uint32_t w = f->writers[i].node;

        if (w != node && happened(f, w) &&
            hf_sat_true(f->sat, visible(f, w, node)) &&
            (best == HF_NONE || hf_sat_true(f->sat, before(f, best, w))))
            best = w;
    }
    return best == HF_NONE ? HF_NONE : f->s->txn[best];
}

/* Where two may be unordered, an order does not tell what was read. */
static void list_sources(formula *f, hf_map *ret)
{
    const hf_states *s = f->s;

    for (uint32_t t = f->first; t < f->first + f->n; t++)
        for (uint32_t i = s->demand_first[t];
             happened(f, t) && i < s->demand_first[t + 1]; i++)
            if (newest(f, t, s->demands.at[i].cell) != HF_NONE)
                hf_map_set(ret,
                           (uint64_t)s->txn[t] << 32 | s->demands.at[i].cell,
                           newest(f, t, s->demands.at[i].cell));
}

static void release(formula *f)
{
    for (hf_key_id k = 0; f->wanted && k < f->s->h->n_keys; k++) {
        hf_vec_release(&f->wanted[k]);
        hf_free(f->leaves[k]);
    }
    hf_free(f->wanted);
    hf_free(f->leaves);
    hf_free(f->fit);
    hf_sat_free(f->sat);
    hf_free(f->before);
    hf_free(f->visible);
    hf_free(f->there);
    hf_free(f->sees);
    hf_free(f->writer_first);
    hf_free(f->writers);
    hf_vec_release(&f->clause);
    hf_vec_release(&f->selected);
    hf_vec_release(&f->uses);
}

static hf_states_answer ask(formula *f, hf_states_model *ret)
{
    for (size_t i = 0; i < f->selected.n; i++)
        hf_sat_assume(f->sat, f->selected.at[i]);
    switch (hf_sat_solve(f->sat)) {
    case HF_SAT_YES:
        if (f->left_out)
            return HF_STATES_OPEN;
        list_order(f, &ret->order);
        if (f->s->partial)
            list_sources(f, &ret->sources);
        return HF_STATES_FOUND;
    case HF_SAT_NO:
        for (size_t i = 0; i < f->selected.n; i++)
            if (hf_sat_failed(f->sat, f->selected.at[i]))
                hf_vec_push(&ret->uses, f->uses.at[i]);
        return HF_STATES_NONE;
    case HF_SAT_LIMIT:
        ret->cut_short = true;
        break;
    }
    return HF_STATES_OPEN;
}

static hf_states_answer solve_part(const hf_states *s, uint32_t part,
                                   const uint32_t *rank, hf_budget *budget,
                                   hf_states_model *ret)
{
    formula f = {.s = s,
                 .rank = rank,
                 .budget = budget,
                 .first = s->part_first[part],
                 .n = s->part_first[part + 1] - s->part_first[part]};
    hf_states_answer answer = HF_STATES_OPEN;

    for (uint32_t t = f.first; t < f.first + f.n; t++)
        if (s->broken[t])
            return HF_STATES_NONE;
    if (f.n > MOST_NODES)
        return HF_STATES_OPEN;
    f.sat = hf_sat_new(budget);
    make_order(&f);
    keep_orders(&f);
    list_writers(&f);
    look_at_cells(&f);
    for (uint32_t t = f.first; t < f.first + f.n && !is_full(&f); t++)
        for (uint32_t i = s->demand_first[t]; i < s->demand_first[t + 1]; i++)
            add_demand(&f, t, &s->demands.at[i], ret->wants_uses);
    if (!f.too_large)
        answer = ask(&f, ret);
    release(&f);
    return answer;
}

void hf_states_model_init(hf_states_model *m)
{
    *m = (hf_states_model){.part = HF_NONE};
    hf_map_init(&m->sources);
}

void hf_states_model_release(hf_states_model *m)
{
    hf_vec_release(&m->order);
    hf_vec_release(&m->uses);
    hf_map_release(&m->sources);
}

hf_states_answer hf_states_solve(const hf_states *s, const uint32_t *rank,
                                 hf_budget *budget, hf_states_model *ret)
{
    hf_states_answer answer = HF_STATES_FOUND;

    if (!hf_sat_available())
        return HF_STATES_OPEN;
    for (uint32_t p = 0; p < s->n_parts && answer == HF_STATES_FOUND; p++) {
        ret->part = p;
        answer = solve_part(s, p, rank, budget, ret);
    }
    return answer;
}
