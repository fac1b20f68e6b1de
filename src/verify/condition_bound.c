/* condition_bound.c: which rows a condition can be true for.
 *
 * The steps are run on what is known instead of on values: a literal, a
 * column, bounds that a true result implies, or nothing.  Comparisons of a
 * column with a literal give a bound; AND keeps those of both sides, and of
 * one column what they have in common; OR keeps the columns that both sides
 * bound, and joins the ranges; NOT turns one exact bound round; everything
 * else gives nothing.
 *
 * A row outside of a bound makes the comparison false, and then whatever
 * stands beside it in an AND cannot make the whole true.
 *
 * Numbers are counted in units of HF_DECIMAL_ONE.  Those that doubles cannot
 * tell apart are not spoken of, so two that differ do so by a unit at least,
 * and an open end is the closed one beside it.
 *
 * Bounds are exact if they are made of exact ones only, and without OR and NOT
 * over several columns: then all inside make the condition true, too.
 */
#include "verify/condition_steps.h"

#include <ctype.h>
#include <string.h>

typedef enum kind { NOTHING, LITERAL, NAME, BOUND } kind;

typedef struct known {
    kind kind;
    hf_scalar scalar; /* LITERAL; NAME: the name as a text */
    hf_bounds bounds;
} known;

typedef struct stack {
    known at[HF_CONDITION_DEPTH];
    uint32_t n;
    hf_arena *arena;
} stack;

static known nothing(void)
{
    return (known){.kind = NOTHING};
}

static known pop(stack *s)
{
    return s->n > 0 ? s->at[--s->n] : nothing();
}

static bool is_int(const known *x)
{
    return x->kind == LITERAL && x->scalar.type == HF_INT;
}

/* ---- numbers ------------------------------------------------------------- */

/* Digits that a double keeps. */
#define MOST_DIGITS 15

bool hf_condition_number(hf_scalar x, hf_wide *ret)
{
    size_t n = 0;

    for (size_t i = 0; x.type == HF_REAL && i < x.length; i++) {
        if (x.text[i] == 'e' || x.text[i] == 'E')
            return false;
        n += isdigit((unsigned char)x.text[i]) != 0;
    }
    return n <= MOST_DIGITS && hf_decimal_of(x, ret);
}

/* ---- one comparison ------------------------------------------------------ */

/* Room for this many ranges; exact, and none in it yet. */
static known bound(stack *s, hf_str column, bool is_text, size_t most)
{
    known k = {.kind = BOUND, .bounds = {.n = 1, .exact = true}};

    k.bounds.at = hf_arena_get(s->arena, sizeof(*k.bounds.at));
    *k.bounds.at = (hf_bound){.column = column, .is_text = is_text};
    k.bounds.at->at = hf_arena_get(s->arena, (most + 1) * sizeof(hf_range));
    return k;
}

static known between(stack *s, const known *column, hf_wide low, hf_wide high)
{
    known k = bound(s, (hf_str){column->scalar.text, column->scalar.length},
                    false, 1);

    k.bounds.at->at[0] = (hf_range){.low = low, .high = high};
    k.bounds.at->n = low <= high;
    return k;
}

static known text(stack *s, const known *column, hf_str value)
{
    known k =
        bound(s, (hf_str){column->scalar.text, column->scalar.length}, true, 1);

    k.bounds.at->at[0] = (hf_range){.from = value, .to = value};
    k.bounds.at->n = 1;
    return k;
}

/* The column stands on the left.  There is no number between two units. */
static known compare(stack *s, opcode code, const known *column,
                     const known *literal)
{
    hf_wide n;

    if (literal->scalar.type == HF_TEXT && code == EQUAL)
        return text(s, column,
                    (hf_str){literal->scalar.text, literal->scalar.length});
    if (!hf_condition_number(literal->scalar, &n))
        return nothing();
    switch (code) {
    case EQUAL:
        return between(s, column, n, n);
    case LESS:
        return between(s, column, HF_LEAST_NUMBER, n - 1);
    case LESS_EQUAL:
        return between(s, column, HF_LEAST_NUMBER, n);
    case GREATER:
        return between(s, column, n + 1, HF_MOST_NUMBER);
    case GREATER_EQUAL:
        return between(s, column, n, HF_MOST_NUMBER);
    default:
        return nothing();
    }
}

static opcode turned(opcode code)
{
    switch (code) {
    case LESS:
        return GREATER;
    case LESS_EQUAL:
        return GREATER_EQUAL;
    case GREATER:
        return LESS;
    case GREATER_EQUAL:
        return LESS_EQUAL;
    default:
        return code;
    }
}

static known compare_two(stack *s, opcode code, const known *a, const known *b)
{
    if (a->kind == NAME && b->kind == LITERAL)
        return compare(s, code, a, b);
    if (a->kind == LITERAL && b->kind == NAME)
        return compare(s, turned(code), b, a);
    return nothing();
}

/* ---- ranges -------------------------------------------------------------- */

static int compare_texts(hf_str a, hf_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n > 0 ? memcmp(a.ptr, b.ptr, n) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* Our own texts are single ones. */
static int compare_starts(bool is_text, const hf_range *a, const hf_range *b)
{
    return is_text ? compare_texts(a->from, b->from)
                   : (a->low > b->low) - (a->low < b->low);
}

static void push(hf_bound *to, const hf_range *r)
{
    hf_range *last = to->n > 0 ? &to->at[to->n - 1] : NULL;

    if (last && to->is_text && compare_texts(last->from, r->from) == 0)
        return;
    if (last && !to->is_text && last->high + 1 >= r->low) {
        last->high = r->high > last->high ? r->high : last->high;
        return;
    }
    to->at[to->n++] = *r;
}

static hf_bound unite(stack *s, const hf_bound *a, const hf_bound *b)
{
    hf_bound made =
        *bound(s, a->column, a->is_text, (size_t)a->n + b->n).bounds.at;
    uint32_t i = 0, j = 0;

    while (i < a->n || j < b->n)
        if (j == b->n ||
            (i < a->n && compare_starts(a->is_text, &a->at[i], &b->at[j]) <= 0))
            push(&made, &a->at[i++]);
        else
            push(&made, &b->at[j++]);
    return made;
}

/* What two ranges have in common; false: nothing. */
static bool meet(bool is_text, const hf_range *a, const hf_range *b,
                 hf_range *ret)
{
    *ret = *a;
    if (is_text)
        return compare_texts(a->from, b->from) == 0;
    ret->low = a->low > b->low ? a->low : b->low;
    ret->high = a->high < b->high ? a->high : b->high;
    return ret->low <= ret->high;
}

static hf_bound intersect(stack *s, const hf_bound *a, const hf_bound *b)
{
    hf_bound made =
        *bound(s, a->column, a->is_text, (size_t)a->n * b->n).bounds.at;
    hf_range r;

    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t j = 0; j < b->n; j++)
            if (meet(a->is_text, &a->at[i], &b->at[j], &r))
                push(&made, &r);
    return made;
}

/* ---- AND, OR, NOT -------------------------------------------------------- */

static const hf_bound *of_column(const hf_bounds *in, hf_str column)
{
    for (uint32_t i = 0; i < in->n; i++)
        if (hf_str_eq(in->at[i].column, column))
            return &in->at[i];
    return NULL;
}

static known both(stack *s, const known *a, const known *b)
{
    known r = a->kind == BOUND ? *a : *b;

    if (r.kind != BOUND)
        return nothing();
    r.bounds.exact &= a->kind == b->kind && a->bounds.exact && b->bounds.exact;
    if (a->kind != b->kind)
        return r;
    r.bounds.at = hf_arena_get(s->arena, (size_t)(a->bounds.n + b->bounds.n) *
                                             sizeof(hf_bound));
    memcpy(r.bounds.at, a->bounds.at, a->bounds.n * sizeof(hf_bound));
    for (uint32_t i = 0; i < b->bounds.n; i++) {
        const hf_bound *more = &b->bounds.at[i];
        hf_bound *same = (hf_bound *)of_column(&r.bounds, more->column);

        if (!same)
            r.bounds.at[r.bounds.n++] = *more;
        else if (same->is_text == more->is_text)
            *same = intersect(s, same, more);
        else
            r.bounds.exact = false;
    }
    return r;
}

static known either(stack *s, const known *a, const known *b)
{
    known r = *a;

    if (a->kind != BOUND || b->kind != BOUND)
        return nothing();
    r.bounds = (hf_bounds){.exact = a->bounds.exact && b->bounds.exact &&
                                    a->bounds.n == 1 && b->bounds.n == 1};
    r.bounds.at = hf_arena_get(s->arena, a->bounds.n * sizeof(hf_bound));
    for (uint32_t i = 0; i < a->bounds.n; i++) {
        const hf_bound *x = &a->bounds.at[i];
        const hf_bound *y = of_column(&b->bounds, x->column);

        if (y && x->is_text == y->is_text)
            r.bounds.at[r.bounds.n++] = unite(s, x, y);
    }
    return r.bounds.n > 0 ? r : nothing();
}

static known one_of(stack *s, int64_t count)
{
    known found = nothing(), column;

    if (count < 1 || s->n < (uint64_t)count + 1)
        return nothing();
    column = s->at[s->n - 1 - (uint32_t)count];
    for (int64_t i = 0; i < count; i++) {
        known literal = pop(s);
        known equal = compare_two(s, EQUAL, &column, &literal);

        found = i == 0 ? equal : either(s, &found, &equal);
    }
    (void)pop(s);
    return found;
}

static known negative(const known *a)
{
    known r = *a;

    if (!is_int(a) || a->scalar.number == INT64_MIN)
        return nothing();
    r.scalar.number = -a->scalar.number;
    return r;
}

/* Of an exact bound of numbers: all others make the condition false. */
static known all_but(stack *s, const known *a)
{
    const hf_bound *from = a->bounds.at;
    hf_range gap = {.low = HF_LEAST_NUMBER};
    known r;

    if (a->kind != BOUND || !a->bounds.exact || a->bounds.n != 1 ||
        from->is_text)
        return nothing();
    r = bound(s, from->column, false, (size_t)from->n + 1);
    for (uint32_t i = 0; i < from->n; i++) {
        if (from->at[i].low > gap.low) {
            gap.high = from->at[i].low - 1;
            push(r.bounds.at, &gap);
        }
        gap.low = from->at[i].high + 1;
    }
    gap.high = HF_MOST_NUMBER;
    if (gap.low <= gap.high)
        push(r.bounds.at, &gap);
    return r;
}

static known run_step(stack *s, const step *now)
{
    known a, b, c;

    switch (now->code) {
    case PUSH:
        return (known){.kind = LITERAL, .scalar = now->operand};
    case COLUMN:
        return (known){.kind = NAME, .scalar = now->operand};
    case IN:
        return one_of(s, now->operand.number);
    case NEGATE:
        a = pop(s);
        return negative(&a);
    case NOT:
        a = pop(s);
        return all_but(s, &a);
    case IS_NULL:
        (void)pop(s);
        return nothing();
    default:
        break;
    }
    c = pop(s);
    b = pop(s);
    switch (now->code) {
    case BETWEEN:
        a = pop(s);
        b = compare_two(s, GREATER_EQUAL, &a, &b);
        c = compare_two(s, LESS_EQUAL, &a, &c);
        return both(s, &b, &c);
    case AND:
        return both(s, &b, &c);
    case OR:
        return either(s, &b, &c);
    default:
        return compare_two(s, now->code, &b, &c);
    }
}

hf_bounds hf_condition_bounds(const hf_condition *c, hf_arena *arena)
{
    hf_bounds none = {0};
    stack s;

    s.n = 0;
    s.arena = arena;
    if (!c->understood)
        return none;
    for (uint32_t i = 0; i < c->n; i++) {
        known x = run_step(&s, &c->steps[i]);

        if (s.n == HF_CONDITION_DEPTH)
            return none;
        s.at[s.n++] = x;
    }
    return s.n == 1 && s.at[0].kind == BOUND ? s.at[0].bounds : none;
}
