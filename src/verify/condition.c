/* condition.c: see condition.h.
 *
 * The language is the part of SQL expressions over one row that needs no
 * schema: columns, numbers, texts, TRUE, FALSE, NULL; + - * / %; = <> != <
 * <= > >=; IS [NOT] NULL; [NOT] BETWEEN; [NOT] IN (list); NOT, AND, OR;
 * parentheses.  Operators are compiled by precedence climbing into postfix
 * order.  Nulls follow SQL's three-valued logic.
 *
 * Not known: arithmetic with fractions, numbers of more digits than a double
 * keeps or with an exponent, the order of texts (collations), division with a
 * rest or by zero, overflow, unlike types compared, nesting deeper than 48,
 * more than 512 steps.
 *
 * O(length) to compile, O(steps) for a row.
 */
#include "verify/condition.h"

#include <ctype.h>

#include "base/json_in.h"
#include "verify/condition_steps.h"

#define MOST_STEPS 512
#define MOST_DEPTH HF_CONDITION_DEPTH

typedef struct compiler {
    const char *at, *end;
    bool failed;
    unsigned depth;
    uint32_t n;
    int64_t height, highest; /* of the stack when the steps are run */
    step steps[MOST_STEPS];
} compiler;

/* ---- words --------------------------------------------------------------- */

static void fail(compiler *c)
{
    c->failed = true;
    c->at = c->end;
}

static char peek(compiler *c)
{
    while (c->at < c->end && isspace((unsigned char)*c->at))
        c->at++;
    return c->at < c->end ? *c->at : '\0';
}

static bool accept(compiler *c, const char *symbol)
{
    size_t n = strlen(symbol);

    (void)peek(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, symbol, n) != 0)
        return false;
    c->at += n;
    return true;
}

static hf_str word(compiler *c)
{
    const char *start;

    (void)peek(c);
    start = c->at;
    if (start < c->end && (isalpha((unsigned char)*start) || *start == '_'))
        while (c->at < c->end &&
               (isalnum((unsigned char)*c->at) || *c->at == '_'))
            c->at++;
    return (hf_str){start, (size_t)(c->at - start)};
}

static bool is_word(hf_str w, const char *keyword)
{
    size_t i = 0;

    while (i < w.len && keyword[i] &&
           toupper((unsigned char)w.ptr[i]) == keyword[i])
        i++;
    return i == w.len && keyword[i] == '\0';
}

static bool accept_word(compiler *c, const char *keyword)
{
    const char *start = c->at;

    if (is_word(word(c), keyword))
        return true;
    c->at = start;
    return false;
}

/* ---- compiling ----------------------------------------------------------- */

/* `pops` values are taken from the stack and one is put there. */
static void emit(compiler *c, opcode code, hf_scalar operand, int64_t pops)
{
    if (c->failed)
        return;
    if (c->n == MOST_STEPS) {
        fail(c);
        return;
    }
    c->steps[c->n++] = (step){code, operand};
    c->height += 1 - pops;
    if (c->height > c->highest)
        c->highest = c->height;
}

static void emit_plain(compiler *c, opcode code, int64_t pops)
{
    emit(c, code, (hf_scalar){.type = HF_NIL}, pops);
}

/* Precedences: the higher binds tighter. */
enum { P_OR = 1, P_AND, P_NOT, P_TEST, P_SUM, P_TERM, P_SIGN };

static void expression(compiler *c, int least);

static void digits(compiler *c)
{
    while (c->at < c->end && isdigit((unsigned char)*c->at))
        c->at++;
}

/* Digits, or digits with a point between them; `start` is at the first, or at
 * a sign before it, which counts for the latter only. */
static void number(compiler *c, const char *start)
{
    hf_scalar s = {.type = HF_INT};
    hf_str whole = {c->at, 0};
    hf_wide units;

    digits(c);
    whole.len = (size_t)(c->at - whole.ptr);
    if (c->at + 1 < c->end && *c->at == '.' &&
        isdigit((unsigned char)c->at[1])) {
        c->at++;
        digits(c);
        s = (hf_scalar){HF_REAL, 0, start, (size_t)(c->at - start)};
    }
    if ((c->at < c->end &&
         (*c->at == '.' || *c->at == '_' || isalpha((unsigned char)*c->at))) ||
        (s.type == HF_INT ? !hf_str_to_int(whole, &s.number)
                          : !hf_condition_number(s, &units))) {
        fail(c);
        return;
    }
    emit(c, PUSH, s, 0);
}

/* What stands after a minus.  A decimal takes the sign if they touch. */
static void negated(compiler *c)
{
    const char *sign = c->at - 1;

    if (c->at < c->end && isdigit((unsigned char)*c->at)) {
        number(c, sign);
        if (!c->failed && c->steps[c->n - 1].operand.type == HF_REAL)
            return;
    } else {
        expression(c, P_SIGN);
    }
    emit_plain(c, NEGATE, 1);
}

static void text(compiler *c)
{
    hf_scalar s = {.type = HF_TEXT, .text = ++c->at};

    while (c->at < c->end && *c->at != '\'')
        c->at++;
    s.length = (size_t)(c->at - s.text);
    /* a quote in a text is written twice: not understood */
    if (c->at == c->end || (c->at + 1 < c->end && c->at[1] == '\'')) {
        fail(c);
        return;
    }
    c->at++;
    emit(c, PUSH, s, 0);
}

static void name_or_constant(compiler *c)
{
    static const char *const reserved[] = {"AND", "OR",      "NOT", "IS",
                                           "IN",  "BETWEEN", NULL};
    hf_str w = word(c);

    for (size_t i = 0; reserved[i]; i++)
        if (is_word(w, reserved[i]))
            w.len = 0;
    if (w.len == 0)
        fail(c);
    else if (is_word(w, "NULL"))
        emit_plain(c, PUSH, 0);
    else if (is_word(w, "TRUE") || is_word(w, "FALSE"))
        emit(c, PUSH,
             (hf_scalar){.type = HF_BOOL, .number = is_word(w, "TRUE")}, 0);
    else
        emit(c, COLUMN,
             (hf_scalar){.type = HF_TEXT, .text = w.ptr, .length = w.len}, 0);
}

static void operand(compiler *c)
{
    char next = peek(c);

    if (accept(c, "(")) {
        expression(c, P_OR);
        if (!accept(c, ")"))
            fail(c);
    } else if (accept(c, "-")) {
        negated(c);
    } else if (accept(c, "+")) {
        expression(c, P_SIGN);
    } else if (isdigit((unsigned char)next)) {
        number(c, c->at);
    } else if (next == '\'') {
        text(c);
    } else {
        name_or_constant(c);
    }
}

/* BETWEEN or IN, after an optional NOT. */
static bool list_test(compiler *c)
{
    const char *start = c->at;
    bool negate = accept_word(c, "NOT");

    if (accept_word(c, "BETWEEN")) {
        expression(c, P_SUM);
        if (!accept_word(c, "AND"))
            fail(c);
        expression(c, P_SUM);
        emit_plain(c, BETWEEN, 3);
    } else if (accept_word(c, "IN")) {
        hf_scalar count = {.type = HF_INT};

        if (!accept(c, "("))
            fail(c);
        do {
            expression(c, P_SUM);
            count.number++;
        } while (!c->failed && accept(c, ","));
        if (!accept(c, ")"))
            fail(c);
        emit(c, IN, count, count.number + 1);
    } else {
        c->at = start;
        return false;
    }
    if (negate)
        emit_plain(c, NOT, 1);
    return true;
}

static bool null_test(compiler *c)
{
    bool negate;

    if (!accept_word(c, "IS"))
        return false;
    negate = accept_word(c, "NOT");
    if (!accept_word(c, "NULL"))
        fail(c);
    emit_plain(c, IS_NULL, 1);
    if (negate)
        emit_plain(c, NOT, 1);
    return true;
}

/* One operator of arithmetic or comparison of precedence `least` or more,
 * with its right side; its precedence, or 0. */
static int binary(compiler *c, int least)
{
    static const struct {
        const char *symbol;
        opcode code;
        int precedence;
    } symbols[] = {
        {"<=", LESS_EQUAL, P_TEST}, {">=", GREATER_EQUAL, P_TEST},
        {"<>", UNEQUAL, P_TEST},    {"!=", UNEQUAL, P_TEST},
        {"==", EQUAL, P_TEST},      {"=", EQUAL, P_TEST},
        {"<", LESS, P_TEST},        {">", GREATER, P_TEST},
        {"+", ADD, P_SUM},          {"-", SUBTRACT, P_SUM},
        {"*", MULTIPLY, P_TERM},    {"/", DIVIDE, P_TERM},
        {"%", REMAINDER, P_TERM},
    };

    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
        if (symbols[i].precedence >= least && accept(c, symbols[i].symbol)) {
            expression(c, symbols[i].precedence + 1);
            emit_plain(c, symbols[i].code, 2);
            return symbols[i].precedence;
        }
    return 0;
}

static bool logical(compiler *c, int least)
{
    if (least <= P_AND && accept_word(c, "AND")) {
        expression(c, P_AND + 1);
        emit_plain(c, AND, 2);
        return true;
    }
    if (least <= P_OR && accept_word(c, "OR")) {
        expression(c, P_OR + 1);
        emit_plain(c, OR, 2);
        return true;
    }
    return false;
}

/* An operand, then all operators of precedence `least` or more.  One test at
 * most, and nothing but AND and OR after it: a < b < c is not SQL. */
static void expression(compiler *c, int least)
{
    bool tested = false;

    if (c->failed || ++c->depth > MOST_DEPTH) {
        fail(c);
        return;
    }
    if (least <= P_NOT && accept_word(c, "NOT")) {
        expression(c, P_NOT);
        emit_plain(c, NOT, 1);
        tested = true;
    } else {
        operand(c);
    }
    while (!c->failed && !tested) {
        int precedence = binary(c, least);

        if (precedence == 0)
            break;
        tested = precedence == P_TEST;
    }
    if (!tested && least <= P_TEST && !c->failed && !null_test(c))
        (void)list_test(c);
    while (!c->failed && logical(c, least))
        ;
    c->depth--;
}

/* A comment is for a real parser. */
static bool has_comment(hf_str text)
{
    bool quoted = false;

    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.ptr[i] == '\'')
            quoted = !quoted;
        else if (!quoted && (memcmp(text.ptr + i, "--", 2) == 0 ||
                             memcmp(text.ptr + i, "/*", 2) == 0))
            return true;
    }
    return false;
}

hf_condition *hf_condition_compile(hf_arena *arena, hf_str condition)
{
    compiler *c = HF_NEW(compiler);
    hf_condition *made;

    c->at = condition.ptr;
    c->end = condition.ptr + condition.len;
    expression(c, P_OR);
    if (peek(c) != '\0' || c->at != c->end || c->highest > MOST_DEPTH ||
        has_comment(condition))
        c->failed = true;
    made = hf_arena_get(arena, sizeof(*made) + c->n * sizeof(step));
    made->understood = !c->failed;
    made->n = c->n;
    made->text = condition;
    memcpy(made->steps, c->steps, c->n * sizeof(step));
    hf_free(c);
    return made;
}

/* ---- running ------------------------------------------------------------- */

typedef struct machine {
    hf_scalar row;
    hf_scalar stack[MOST_DEPTH];
    uint32_t n;
    bool unknown; /* something has no agreed meaning */
} machine;

static const hf_scalar null = {.type = HF_NIL};

static hf_scalar truth(bool b)
{
    return (hf_scalar){.type = HF_BOOL, .number = b};
}

static hf_scalar not_known(machine *m)
{
    m->unknown = true;
    return null;
}

bool hf_condition_column(hf_scalar row, hf_str name, hf_scalar *ret)
{
    bool found = false;
    hf_json_in j;
    hf_str key;

    if (row.type != HF_ROW) {
        *ret = row;
        return hf_str_eq(name, HF_STR("value"));
    }
    hf_json_in_init(&j, row.text, row.length);
    if (hf_json_in_open(&j, '{'))
        while (!found && hf_json_in_next_key(&j, &key)) {
            if (hf_str_eq(key, name))
                found = hf_json_in_scalar(&j, ret);
            else
                (void)hf_json_in_skip(&j, NULL);
        }
    /* text with escapes is gone with the reader; numbers and truth are not */
    if (found && ret->type != HF_NIL && ret->type != HF_INT &&
        ret->type != HF_BOOL &&
        (ret->text < row.text || ret->text >= row.text + row.length))
        found = false;
    hf_json_in_release(&j);
    return found;
}

static hf_scalar calculate(machine *m, opcode code, hf_scalar a, hf_scalar b)
{
    hf_scalar r = {.type = HF_INT};
    bool bad = false;

    if (a.type == HF_NIL || b.type == HF_NIL)
        return null;
    if (a.type != HF_INT || b.type != HF_INT)
        return not_known(m);
    switch (code) {
    case ADD:
        bad = __builtin_add_overflow(a.number, b.number, &r.number);
        break;
    case SUBTRACT:
        bad = __builtin_sub_overflow(a.number, b.number, &r.number);
        break;
    case MULTIPLY:
        bad = __builtin_mul_overflow(a.number, b.number, &r.number);
        break;
    default:
        if (b.number == 0 || (a.number == INT64_MIN && b.number == -1))
            return not_known(m);
        if (code == REMAINDER)
            r.number = a.number % b.number;
        else if (a.number % b.number == 0)
            r.number = a.number / b.number;
        else
            bad = true;
    }
    return bad ? not_known(m) : r;
}

static hf_scalar compare(machine *m, opcode code, hf_scalar a, hf_scalar b)
{
    hf_wide x, y;
    int order;

    if (a.type == HF_NIL || b.type == HF_NIL)
        return null;
    if (a.type == HF_TEXT && b.type == HF_TEXT &&
        (code == EQUAL || code == UNEQUAL))
        return truth(hf_str_eq((hf_str){a.text, a.length},
                               (hf_str){b.text, b.length}) == (code == EQUAL));
    if (a.type == HF_BOOL && b.type == HF_BOOL)
        order = (a.number > b.number) - (a.number < b.number);
    else if (hf_condition_number(a, &x) && hf_condition_number(b, &y))
        order = (x > y) - (x < y);
    else
        return not_known(m);
    switch (code) {
    case EQUAL:
        return truth(order == 0);
    case UNEQUAL:
        return truth(order != 0);
    case LESS:
        return truth(order < 0);
    case LESS_EQUAL:
        return truth(order <= 0);
    case GREATER:
        return truth(order > 0);
    default:
        return truth(order >= 0);
    }
}

/* AND, or OR by turning everything round. */
static hf_scalar both(machine *m, hf_scalar a, hf_scalar b, bool is_or)
{
    if ((a.type != HF_NIL && a.type != HF_BOOL) ||
        (b.type != HF_NIL && b.type != HF_BOOL))
        return not_known(m);
    if ((a.type == HF_BOOL && (bool)a.number == is_or) ||
        (b.type == HF_BOOL && (bool)b.number == is_or))
        return truth(is_or);
    return a.type == HF_NIL || b.type == HF_NIL ? null : truth(!is_or);
}

static hf_scalar negate(machine *m, hf_scalar a)
{
    if (a.type == HF_NIL)
        return null;
    return a.type == HF_BOOL ? truth(!a.number) : not_known(m);
}

static hf_scalar pop(machine *m)
{
    return m->n > 0 ? m->stack[--m->n] : not_known(m);
}

static hf_scalar is_one_of(machine *m, int64_t count)
{
    hf_scalar found = truth(false), value;

    if (count < 0 || m->n < (uint64_t)count + 1)
        return not_known(m);
    value = m->stack[m->n - 1 - (uint32_t)count];
    for (int64_t i = 0; i < count; i++)
        found = both(m, found, compare(m, EQUAL, value, pop(m)), true);
    (void)pop(m);
    return found;
}

static hf_scalar run_step(machine *m, const step *s)
{
    hf_scalar a, b, c;

    switch (s->code) {
    case PUSH:
        return s->operand;
    case COLUMN:
        return hf_condition_column(
                   m->row, (hf_str){s->operand.text, s->operand.length}, &a)
                   ? a
                   : not_known(m);
    case IN:
        return is_one_of(m, s->operand.number);
    case NEGATE:
        return calculate(m, SUBTRACT, (hf_scalar){.type = HF_INT}, pop(m));
    case NOT:
        return negate(m, pop(m));
    case IS_NULL:
        return truth(pop(m).type == HF_NIL);
    default:
        break;
    }
    c = pop(m);
    b = pop(m);
    switch (s->code) {
    case BETWEEN:
        a = pop(m);
        return both(m, compare(m, GREATER_EQUAL, a, b),
                    compare(m, LESS_EQUAL, a, c), false);
    case AND:
    case OR:
        return both(m, b, c, s->code == OR);
    case ADD:
    case SUBTRACT:
    case MULTIPLY:
    case DIVIDE:
    case REMAINDER:
        return calculate(m, s->code, b, c);
    default:
        return compare(m, s->code, b, c);
    }
}

hf_match hf_condition_holds(const hf_condition *c, hf_scalar row)
{
    machine m = {.row = row};

    if (row.type == HF_NIL)
        return HF_MATCH_NO;
    if (!c->understood || row.type == HF_LIST)
        return HF_MATCH_UNKNOWN;
    for (uint32_t i = 0; i < c->n && !m.unknown; i++) {
        hf_scalar v = run_step(&m, &c->steps[i]);

        if (m.n == MOST_DEPTH)
            return HF_MATCH_UNKNOWN;
        m.stack[m.n++] = v;
    }
    if (m.unknown || m.n != 1 ||
        (m.stack[0].type != HF_BOOL && m.stack[0].type != HF_NIL))
        return HF_MATCH_UNKNOWN;
    return m.stack[0].type == HF_BOOL && m.stack[0].number ? HF_MATCH_YES
                                                           : HF_MATCH_NO;
}
