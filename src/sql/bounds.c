/* bounds.c: what a condition says about single columns.
 *
 * A walk from the root collects, for each column, the ranges outside of which
 * the condition cannot be TRUE: comparisons with constants, BETWEEN, IN and
 * LIKE give ranges, AND intersects them, OR unites them, NOT is pushed down
 * to the comparisons (NOT (c < 5) is TRUE where c >= 5 is).  Ranges of one
 * class of values only (numbers, texts, booleans); rows whose column is of
 * another class are not spoken of.  O(n log n) for n constants, except for an
 * AND of many <>.
 */
#include "sql/cache.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/error.h"

typedef struct ranges {
    uint32_t column;
    hf_sql_type class_of;
    uint32_t n;
    hf_sql_range *at; /* ascending, disjoint */
} ranges;

/* What a part of the condition says; exact: it says no more than all these. */
typedef struct finding {
    uint32_t n;
    ranges *at;
    bool exact;
} finding;

typedef struct finder {
    hf_arena *arena;
    hf_sql_dialect dialect;
} finder;

static const finding nothing = {0, NULL, false};

static finding derive(finder *f, const hf_sql_node *node, bool negate);

/* ---- ranges ------------------------------------------------------------- */

/* By where they begin. */
static int compare_lows(const hf_sql_range *a, const hf_sql_range *b)
{
    int order;

    if (!a->has_low || !b->has_low)
        return (int)a->has_low - (int)b->has_low;
    order = hf_sql_order(&a->low, &b->low);
    return order ? order : (int)a->low_open - (int)b->low_open;
}

static int compare_highs(const hf_sql_range *a, const hf_sql_range *b)
{
    int order;

    if (!a->has_high || !b->has_high)
        return (int)b->has_high - (int)a->has_high;
    order = hf_sql_order(&a->high, &b->high);
    return order ? order : (int)b->high_open - (int)a->high_open;
}

static bool is_empty(const hf_sql_range *r)
{
    int order;

    if (!r->has_low || !r->has_high)
        return false;
    order = hf_sql_order(&r->low, &r->high);
    return order > 0 || (order == 0 && (r->low_open || r->high_open));
}

/* a begins before b: is there a gap between them? */
static bool apart(const hf_sql_range *a, const hf_sql_range *b)
{
    int order;

    if (!a->has_high || !b->has_low)
        return false;
    order = hf_sql_order(&a->high, &b->low);
    return order < 0 || (order == 0 && a->high_open && b->low_open);
}

static int by_low(const void *a, const void *b)
{
    return compare_lows(a, b);
}

/* Sorts and joins what touches; returns how many are left. */
static uint32_t unite(hf_sql_range *at, uint32_t n)
{
    uint32_t kept = 0;

    qsort(at, n, sizeof(*at), by_low);
    for (uint32_t i = 0; i < n; i++) {
        if (is_empty(&at[i]))
            continue;
        if (kept > 0 && !apart(&at[kept - 1], &at[i])) {
            if (compare_highs(&at[kept - 1], &at[i]) < 0) {
                at[kept - 1].has_high = at[i].has_high;
                at[kept - 1].high = at[i].high;
                at[kept - 1].high_open = at[i].high_open;
            }
        } else {
            at[kept++] = at[i];
        }
    }
    return kept;
}

static void intersect(finder *f, ranges *a, const ranges *b)
{
    hf_sql_range *made =
        hf_arena_get(f->arena, (a->n + b->n + 1) * sizeof(*made));
    uint32_t n = 0, i = 0, j = 0;

    while (i < a->n && j < b->n) {
        const hf_sql_range *x = &a->at[i], *y = &b->at[j];
        hf_sql_range r = compare_lows(x, y) >= 0 ? *x : *y;
        const hf_sql_range *shorter = compare_highs(x, y) <= 0 ? x : y;

        r.has_high = shorter->has_high;
        r.high = shorter->high;
        r.high_open = shorter->high_open;
        if (!is_empty(&r))
            made[n++] = r;
        if (shorter == x)
            i++;
        else
            j++;
    }
    a->at = made;
    a->n = n;
}

/* ---- leaves ------------------------------------------------------------- */

static bool class_of(const hf_sql_value *v, hf_sql_type *ret)
{
    switch (v->type) {
    case HF_SQL_INT:
    case HF_SQL_DECIMAL:
    case HF_SQL_REAL:
        *ret = HF_SQL_INT;
        return true;
    case HF_SQL_TEXT:
    case HF_SQL_BOOL:
        *ret = (hf_sql_type)v->type;
        return true;
    default:
        return false;
    }
}

static finding one(finder *f, uint32_t column, hf_sql_type class_of_column,
                   uint32_t n, bool exact)
{
    finding made = {.n = 1, .exact = exact};

    made.at = hf_arena_get(f->arena, sizeof(*made.at));
    made.at->column = column;
    made.at->class_of = class_of_column;
    made.at->at = hf_arena_get(f->arena, (n + 1) * sizeof(hf_sql_range));
    return made;
}

static void add_range(finding *to, const hf_sql_value *low, bool low_open,
                      const hf_sql_value *high, bool high_open)
{
    hf_sql_range *r = &to->at->at[to->at->n++];

    r->has_low = low != NULL;
    r->has_high = high != NULL;
    if (low)
        r->low = *low;
    if (high)
        r->high = *high;
    r->low_open = low && low_open;
    r->high_open = high && high_open;
}

/* Is the order of this class what the database's < goes by? */
static bool ordered(const finder *f, hf_sql_type c)
{
    return c == HF_SQL_INT || c == HF_SQL_BOOL || f->dialect != HF_SQL_ANY;
}

static finding compare_with(finder *f, const hf_sql_node *column,
                            hf_sql_comparison op, const hf_sql_value *v)
{
    hf_sql_type c;
    finding made;

    if (column->kind != HF_N_COLUMN || !class_of(v, &c))
        return nothing;
    if (op != HF_CMP_EQ && op != HF_CMP_NE && !ordered(f, c))
        return nothing;
    made = one(f, column->slot, c, 2, true);
    switch (op) {
    case HF_CMP_EQ:
        add_range(&made, v, false, v, false);
        break;
    case HF_CMP_NE:
        add_range(&made, NULL, false, v, true);
        add_range(&made, v, true, NULL, false);
        break;
    case HF_CMP_LT:
    case HF_CMP_LE:
        add_range(&made, NULL, false, v, op == HF_CMP_LT);
        break;
    default:
        add_range(&made, v, op == HF_CMP_GT, NULL, false);
    }
    return made;
}

static hf_sql_comparison opposite(hf_sql_comparison op)
{
    static const hf_sql_comparison map[] = {HF_CMP_NE, HF_CMP_EQ, HF_CMP_GE,
                                            HF_CMP_GT, HF_CMP_LE, HF_CMP_LT};
    return map[op];
}

static hf_sql_comparison mirrored(hf_sql_comparison op)
{
    static const hf_sql_comparison map[] = {HF_CMP_EQ, HF_CMP_NE, HF_CMP_GT,
                                            HF_CMP_GE, HF_CMP_LT, HF_CMP_LE};
    return map[op];
}

static finding compare(finder *f, const hf_sql_node *node, bool negate)
{
    hf_sql_comparison op = (hf_sql_comparison)node->op;

    if (negate)
        op = opposite(op);
    if (node->args[1]->kind == HF_N_CONST)
        return compare_with(f, node->args[0], op, &node->args[1]->value);
    if (node->args[0]->kind == HF_N_CONST)
        return compare_with(f, node->args[1], mirrored(op),
                            &node->args[0]->value);
    return nothing;
}

static finding between(finder *f, const hf_sql_node *node, bool negate)
{
    const hf_sql_value *low = &node->args[1]->value;
    const hf_sql_value *high = &node->args[2]->value;
    hf_sql_type c, d;
    finding made;

    if (node->args[0]->kind != HF_N_COLUMN || node->op != 0 ||
        node->args[1]->kind != HF_N_CONST ||
        node->args[2]->kind != HF_N_CONST || !class_of(low, &c) ||
        !class_of(high, &d) || c != d || !ordered(f, c))
        return nothing;
    made = one(f, node->args[0]->slot, c, 2, true);
    if (negate) {
        add_range(&made, NULL, false, low, true);
        add_range(&made, high, true, NULL, false);
    } else {
        add_range(&made, low, false, high, false);
    }
    made.at->n = unite(made.at->at, made.at->n);
    return made;
}

/* All gaps between the points. */
static finding all_but(finder *f, const ranges *points)
{
    finding made =
        one(f, points->column, points->class_of, points->n + 1, true);
    const hf_sql_value *last = NULL;

    for (uint32_t i = 0; i < points->n; i++) {
        add_range(&made, last, true, &points->at[i].low, true);
        last = &points->at[i].low;
    }
    add_range(&made, last, true, NULL, false);
    return made;
}

static finding in_list(finder *f, const hf_sql_node *node, bool negate)
{
    hf_sql_type c = HF_SQL_NULL, d;
    bool null = false;
    finding made;

    if (node->args[0]->kind != HF_N_COLUMN)
        return nothing;
    made = one(f, node->args[0]->slot, c, node->n, true);
    for (uint32_t i = 1; i < node->n; i++) {
        const hf_sql_value *v = &node->args[i]->value;

        if (node->args[i]->kind != HF_N_CONST)
            return nothing;
        if (v->type == HF_SQL_NULL) {
            null = true;
            continue;
        }
        if (!class_of(v, &d) || (c != HF_SQL_NULL && c != d))
            return nothing;
        c = d;
        add_range(&made, v, false, v, false);
    }
    made.at->class_of = c;
    made.at->n = unite(made.at->at, made.at->n);
    if (c == HF_SQL_NULL)
        return nothing;
    if (!negate)
        return made;
    made = all_but(f, made.at);
    if (null)
        made.at->n = 0; /* NOT IN a list with NULL is never TRUE */
    return made;
}

/* The first text after all that begin with s; false: there is none. */
static bool after_prefix(finder *f, hf_str s, hf_sql_value *ret)
{
    char *copy = hf_arena_text(f->arena, s.ptr, s.len);

    while (s.len > 0 && (unsigned char)copy[s.len - 1] == 0xff)
        s.len--;
    if (s.len == 0)
        return false;
    copy[s.len - 1]++;
    *ret = hf_sql_of_text((hf_str){copy, s.len});
    return true;
}

static finding like(finder *f, const hf_sql_node *node)
{
    const hf_sql_value *p = &node->args[1]->value;
    bool letters = f->dialect != HF_SQL_POSTGRES || node->op == 1;
    hf_sql_value low, high;
    finding made;
    uint32_t n = 0;

    if (node->args[0]->kind != HF_N_COLUMN || node->n != 2 ||
        node->args[1]->kind != HF_N_CONST || p->type != HF_SQL_TEXT ||
        memchr(p->text, '\\', p->length))
        return nothing;
    /* where letters match in any case, the range ends before the first; so
     * does it before what is not ASCII */
    while (n < p->length && p->text[n] != '%' && p->text[n] != '_' &&
           !(letters && (isalpha((unsigned char)p->text[n]) ||
                         (unsigned char)p->text[n] >= 0x80)))
        n++;
    if (n == 0)
        return nothing;
    low = hf_sql_of_text((hf_str){p->text, n});
    made = one(f, node->args[0]->slot, HF_SQL_TEXT, 1,
               n == p->length || (n + 1 == p->length && p->text[n] == '%'));
    if (n == p->length)
        add_range(&made, &low, false, &low, false);
    else if (after_prefix(f, hf_sql_text_of(&low), &high))
        add_range(&made, &low, false, &high, true);
    else
        add_range(&made, &low, false, NULL, false);
    return made;
}

/* ---- AND, OR ------------------------------------------------------------ */

static ranges *of_column(const finding *in, uint32_t column)
{
    for (uint32_t i = 0; i < in->n; i++)
        if (in->at[i].column == column)
            return &in->at[i];
    return NULL;
}

static finding all_of(finder *f, const hf_sql_node *node, bool negate)
{
    finding *parts = hf_arena_get(f->arena, (node->n + 1) * sizeof(*parts));
    finding made = {.exact = true};
    size_t most = 0;

    for (uint32_t i = 0; i < node->n; i++) {
        parts[i] = derive(f, node->args[i], negate);
        made.exact &= parts[i].exact;
        most += parts[i].n;
    }
    made.at = hf_arena_get(f->arena, (most + 1) * sizeof(*made.at));
    for (uint32_t i = 0; i < node->n; i++)
        for (uint32_t k = 0; k < parts[i].n; k++) {
            const ranges *more = &parts[i].at[k];
            ranges *same = of_column(&made, more->column);

            if (!same)
                made.at[made.n++] = *more;
            else if (same->class_of == more->class_of)
                intersect(f, same, more);
            else
                made.exact = false;
        }
    return made;
}

/* The ranges of one column in all parts, if all have some. */
static bool unite_column(finder *f, const finding *parts, uint32_t n,
                         const ranges *first, ranges *ret)
{
    size_t total = 0;

    for (uint32_t i = 0; i < n; i++) {
        const ranges *r = of_column(&parts[i], first->column);

        if (!r || r->class_of != first->class_of)
            return false;
        total += r->n;
    }
    *ret = *first;
    ret->at = hf_arena_get(f->arena, (total + 1) * sizeof(*ret->at));
    ret->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const ranges *r = of_column(&parts[i], first->column);

        memcpy(ret->at + ret->n, r->at, r->n * sizeof(*r->at));
        ret->n += r->n;
    }
    ret->n = unite(ret->at, ret->n);
    return true;
}

static finding any_of(finder *f, const hf_sql_node *node, bool negate)
{
    finding *parts = hf_arena_get(f->arena, node->n * sizeof(*parts));
    finding made = {.exact = true};

    for (uint32_t i = 0; i < node->n; i++) {
        parts[i] = derive(f, node->args[i], negate);
        if (parts[i].n == 0)
            return nothing;
        made.exact &= parts[i].exact && parts[i].n == 1;
    }
    made.at = hf_arena_get(f->arena, parts[0].n * sizeof(*made.at));
    for (uint32_t k = 0; k < parts[0].n; k++)
        made.n +=
            unite_column(f, parts, node->n, &parts[0].at[k], &made.at[made.n]);
    made.exact &= made.n == 1;
    return made;
}

static finding truth_test(finder *f, const hf_sql_node *node, bool negate)
{
    bool wants = !(node->flags & HF_NF_NEGATED) != negate;

    if (!wants || node->op == HF_SQL_UNKNOWN)
        return nothing;
    return derive(f, node->args[0], node->op == HF_SQL_FALSE);
}

static finding derive(finder *f, const hf_sql_node *node, bool negate)
{
    bool flip = negate != ((node->flags & HF_NF_NEGATED) != 0);

    switch (node->kind) {
    case HF_N_COMPARE:
        return compare(f, node, negate);
    case HF_N_BETWEEN:
        return between(f, node, flip);
    case HF_N_IN:
        return in_list(f, node, flip);
    case HF_N_LIKE:
        return flip ? nothing : like(f, node);
    case HF_N_AND:
        return negate ? any_of(f, node, true) : all_of(f, node, false);
    case HF_N_OR:
        return negate ? all_of(f, node, true) : any_of(f, node, false);
    case HF_N_NOT:
        return derive(f, node->args[0], !negate);
    case HF_N_IS_TRUTH:
        return truth_test(f, node, negate);
    default:
        return nothing;
    }
}

/* ---- the result --------------------------------------------------------- */

/* 0: points only, 1: two ends, 2: one end, 3: more than that. */
static int looseness(const hf_sql_bound *b)
{
    int worst = 0;

    for (uint32_t i = 0; i < b->n_ranges; i++) {
        const hf_sql_range *r = &b->ranges[i];
        int is = r->has_low && r->has_high
                     ? hf_sql_order(&r->low, &r->high) != 0
                     : 2 + !(r->has_low || r->has_high);

        worst = is > worst ? is : worst;
    }
    return b->n_ranges > 1 && worst == 2 ? 3 : worst;
}

static int by_looseness(const void *a, const void *b)
{
    int x = looseness(a), y = looseness(b);
    const hf_sql_bound *p = a, *q = b;

    if (x != y)
        return x - y;
    if (p->n_ranges != q->n_ranges)
        return p->n_ranges < q->n_ranges ? -1 : 1;
    return p->column < q->column ? -1 : p->column > q->column;
}

void hf_sql_find_bounds(hf_sql_expr *e, hf_arena *arena)
{
    finder f = {arena, e->dialect};
    finding found = derive(&f, e->root, false);

    e->n_bounds = found.n;
    e->bounds = hf_arena_get(arena, (found.n + 1) * sizeof(*e->bounds));
    for (uint32_t i = 0; i < found.n; i++)
        e->bounds[i] = (hf_sql_bound){
            .column = found.at[i].column,
            .n_ranges = found.at[i].n,
            .ranges = found.at[i].at,
            .class_of = found.at[i].class_of,
            .exact = found.exact && found.n == 1,
        };
    e->bounds_say_all = found.exact && found.n > 0;
    if (e->n_bounds > 1)
        qsort(e->bounds, e->n_bounds, sizeof(*e->bounds), by_looseness);
}

uint32_t hf_sql_bounds(const hf_sql_expr *e, const hf_sql_bound **ret)
{
    *ret = e->bounds;
    return e->n_bounds;
}

bool hf_sql_bounds_say_all(const hf_sql_expr *e)
{
    return e->bounds_say_all;
}
