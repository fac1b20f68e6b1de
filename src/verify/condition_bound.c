/* condition_bound.c: which rows a condition can be true for.
 *
 * The steps are run on what is known instead of on values: a literal, a
 * column, a bound that a true result implies, or nothing.  Comparisons of a
 * column with a literal give a bound; AND keeps both if they are of one
 * column, else one of them; OR the smallest interval around both; NOT what is
 * left on one side; everything else gives nothing.
 *
 * A row outside of the bound makes the comparison false, and then whatever
 * stands beside it in an AND cannot make the whole true.
 *
 * A bound of integers is exact if it is made of exact ones only and no gap was
 * closed: then every integer inside makes the condition true, too.
 */
#include "verify/condition_steps.h"

typedef enum kind { NOTHING, LITERAL, NAME, BOUND } kind;

typedef struct known {
    kind kind;
    hf_scalar scalar; /* LITERAL; NAME: the name as a text */
    hf_bound bound;
} known;

typedef struct stack {
    known at[HF_CONDITION_DEPTH];
    uint32_t n;
} stack;

static known nothing(void)
{
    return (known){.kind = NOTHING};
}

static known pop(stack *s)
{
    return s->n > 0 ? s->at[--s->n] : nothing();
}

static hf_str name_of(const known *column)
{
    return (hf_str){column->scalar.text, column->scalar.length};
}

static bool is_int(const known *x)
{
    return x->kind == LITERAL && x->scalar.type == HF_INT;
}

static known between(const known *column, int64_t low, int64_t high)
{
    return (known){.kind = BOUND,
                   .bound = {.column = name_of(column),
                             .low = low,
                             .high = high,
                             .exact = true}};
}

/* The column stands on the left. */
static known compare(opcode code, const known *column, const known *literal)
{
    int64_t n = literal->scalar.number;

    if (literal->scalar.type == HF_TEXT && code == EQUAL)
        return (known){
            .kind = BOUND,
            .bound = {.column = name_of(column),
                      .is_text = true,
                      .text = {literal->scalar.text, literal->scalar.length}}};
    if (!is_int(literal))
        return nothing();
    switch (code) {
    case EQUAL:
        return between(column, n, n);
    case LESS:
        return n == INT64_MIN ? between(column, 1, 0)
                              : between(column, INT64_MIN, n - 1);
    case LESS_EQUAL:
        return between(column, INT64_MIN, n);
    case GREATER:
        return n == INT64_MAX ? between(column, 1, 0)
                              : between(column, n + 1, INT64_MAX);
    case GREATER_EQUAL:
        return between(column, n, INT64_MAX);
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

static known compare_two(opcode code, const known *a, const known *b)
{
    if (a->kind == NAME && b->kind == LITERAL)
        return compare(code, a, b);
    if (a->kind == LITERAL && b->kind == NAME)
        return compare(turned(code), b, a);
    return nothing();
}

static bool is_alike(const known *a, const known *b)
{
    return a->kind == BOUND && b->kind == BOUND &&
           hf_str_eq(a->bound.column, b->bound.column) &&
           a->bound.is_text == b->bound.is_text;
}

static known both(const known *a, const known *b)
{
    known r = a->kind == BOUND ? *a : *b;

    if (r.kind != BOUND)
        return nothing();
    r.bound.exact = a->kind == b->kind && a->bound.exact && b->bound.exact;
    if (!is_alike(a, b) || a->bound.is_text) {
        r.bound.exact = false;
        return r;
    }
    if (b->bound.low > r.bound.low)
        r.bound.low = b->bound.low;
    if (b->bound.high < r.bound.high)
        r.bound.high = b->bound.high;
    return r;
}

/* Is there a number between the end of one and the begin of the other? */
static bool has_gap(const hf_bound *a, const hf_bound *b)
{
    return (a->high < b->low && a->high + 1 < b->low) ||
           (b->high < a->low && b->high + 1 < a->low);
}

static known either(const known *a, const known *b)
{
    known r = *a;

    if (!is_alike(a, b))
        return nothing();
    if (a->bound.is_text)
        return hf_str_eq(a->bound.text, b->bound.text) ? r : nothing();
    r.bound.exact &= b->bound.exact;
    if (b->bound.low > b->bound.high)
        return r;
    if (a->bound.low > a->bound.high) {
        r.bound.low = b->bound.low;
        r.bound.high = b->bound.high;
        return r;
    }
    r.bound.exact &= !has_gap(&a->bound, &b->bound);
    if (b->bound.low < r.bound.low)
        r.bound.low = b->bound.low;
    if (b->bound.high > r.bound.high)
        r.bound.high = b->bound.high;
    return r;
}

static known one_of(stack *s, int64_t count)
{
    known found = nothing(), column;

    if (count < 1 || s->n < (uint64_t)count + 1)
        return nothing();
    column = s->at[s->n - 1 - (uint32_t)count];
    for (int64_t i = 0; i < count; i++) {
        known literal = pop(s), equal = compare_two(EQUAL, &column, &literal);

        found = i == 0 ? equal : either(&found, &equal);
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

/* Of an exact bound that is open on one side. */
static known all_but(const known *a)
{
    known r = *a;

    if (a->kind != BOUND || !a->bound.exact)
        return nothing();
    r.bound.low = INT64_MIN;
    r.bound.high = INT64_MAX;
    if (a->bound.low > a->bound.high)
        return r;
    if (a->bound.low == INT64_MIN && a->bound.high == INT64_MAX) {
        r.bound.low = 1;
        r.bound.high = 0;
    } else if (a->bound.low == INT64_MIN) {
        r.bound.low = a->bound.high + 1;
    } else if (a->bound.high == INT64_MAX) {
        r.bound.high = a->bound.low - 1;
    } else {
        return nothing();
    }
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
        return all_but(&a);
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
        b = compare_two(GREATER_EQUAL, &a, &b);
        c = compare_two(LESS_EQUAL, &a, &c);
        return both(&b, &c);
    case AND:
        return both(&b, &c);
    case OR:
        return either(&b, &c);
    default:
        return compare_two(now->code, &b, &c);
    }
}

bool hf_condition_bound(const hf_condition *c, hf_bound *ret)
{
    stack s = {.n = 0};

    if (!c->understood)
        return false;
    for (uint32_t i = 0; i < c->n; i++) {
        known x = run_step(&s, &c->steps[i]);

        if (s.n == HF_CONDITION_DEPTH)
            return false;
        s.at[s.n++] = x;
    }
    if (s.n != 1 || s.at[0].kind != BOUND)
        return false;
    *ret = s.at[0].bound;
    return true;
}
