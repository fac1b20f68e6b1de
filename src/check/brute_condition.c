/* brute_condition.c: does one version satisfy a condition?
 *
 * A condition is a SQL expression over the columns of one row; `value` names
 * a value that has no columns.  It is parsed and evaluated in one recursive
 * descent, for one row at a time, with SQL's three-valued logic.
 *
 *   or      and (OR and)*
 *   and     not (AND not)*
 *   not     NOT not | test
 *   test    sum [ (= <> != < <= > >=) sum | IS [NOT] NULL
 *               | [NOT] BETWEEN sum AND sum | [NOT] IN ( sum, ... ) ]
 *   sum     term ((+ | -) term)*
 *   term    unary ((* | / | %) unary)*
 *   unary   - unary | + unary | primary
 *   primary number | 'text' | TRUE | FALSE | NULL | column | ( or )
 *
 * What databases disagree about is an error, not a guess: the order of texts
 * (collations), division with a rest, overflow, comparing unlike types.
 * Evaluation never stops early, so an error is one for every row that has the
 * columns.  O(length) for each row.
 */
#include "check/brute.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_in.h"

#define MAX_DEPTH 64u

typedef struct parser {
    const char *at, *end;
    hf_scalar row;
    unsigned depth;
    bool failed;
} parser;

static hf_scalar or_expression(parser *p);

static hf_scalar fail(parser *p)
{
    p->failed = true;
    return (hf_scalar){.type = HF_NIL};
}

static hf_scalar truth(bool b)
{
    return (hf_scalar){.type = HF_BOOL, .number = b};
}

static const hf_scalar null_value = {.type = HF_NIL};

/* ---- words -------------------------------------------------------------- */

static void skip_space(parser *p)
{
    while (p->at < p->end && isspace((unsigned char)*p->at))
        p->at++;
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Consumes a symbol such as "<=". */
static bool take(parser *p, const char *symbol)
{
    size_t n = strlen(symbol);

    skip_space(p);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, symbol, n) != 0)
        return false;
    p->at += n;
    return true;
}

static hf_str peek_word(parser *p)
{
    const char *end;

    skip_space(p);
    end = p->at;
    if (end < p->end && !isdigit((unsigned char)*end))
        while (end < p->end && is_word_char(*end))
            end++;
    return (hf_str){p->at, (size_t)(end - p->at)};
}

/* Consumes a keyword, in any case. */
static bool take_word(parser *p, const char *keyword)
{
    hf_str word = peek_word(p);

    if (word.len != strlen(keyword))
        return false;
    for (size_t i = 0; i < word.len; i++)
        if (toupper((unsigned char)word.ptr[i]) != keyword[i])
            return false;
    p->at += word.len;
    return true;
}

/* ---- numbers ------------------------------------------------------------ */

/* A number as a long double; false if it is none. */
static bool as_real(hf_scalar v, long double *ret)
{
    char text[64];
    char *end;

    if (v.type == HF_INT) {
        *ret = (long double)v.number;
        return true;
    }
    if (v.type != HF_REAL || v.length == 0 || v.length >= sizeof(text))
        return false;
    memcpy(text, v.text, v.length);
    text[v.length] = '\0';
    *ret = strtold(text, &end);
    return *end == '\0';
}

static hf_scalar number_literal(parser *p)
{
    const char *start = p->at;
    hf_scalar v = {.type = HF_INT};

    while (p->at < p->end && isdigit((unsigned char)*p->at))
        p->at++;
    if (p->at < p->end && (*p->at == '.' || is_word_char(*p->at))) {
        while (p->at < p->end &&
               (isdigit((unsigned char)*p->at) || *p->at == '.'))
            p->at++;
        v.type = HF_REAL;
        v.text = start;
        v.length = (size_t)(p->at - start);
        if (p->at < p->end && is_word_char(*p->at))
            return fail(p);
        return v;
    }
    if (!hf_str_to_int((hf_str){start, (size_t)(p->at - start)}, &v.number))
        return fail(p);
    return v;
}

/* 'it''s' is refused: no fixture needs a quote inside a text. */
static hf_scalar text_literal(parser *p)
{
    const char *start = ++p->at;
    hf_scalar v = {.type = HF_TEXT, .text = start};

    while (p->at < p->end && *p->at != '\'')
        p->at++;
    if (p->at == p->end)
        return fail(p);
    v.length = (size_t)(p->at - start);
    p->at++;
    if (p->at < p->end && *p->at == '\'')
        return fail(p);
    return v;
}

static hf_scalar arithmetic(parser *p, char sign, hf_scalar a, hf_scalar b)
{
    int64_t result = 0;
    bool bad = false;

    if (p->failed)
        return null_value;
    if (a.type == HF_NIL || b.type == HF_NIL)
        return null_value;
    if (a.type != HF_INT || b.type != HF_INT)
        return fail(p);
    switch (sign) {
    case '+':
        bad = __builtin_add_overflow(a.number, b.number, &result);
        break;
    case '-':
        bad = __builtin_sub_overflow(a.number, b.number, &result);
        break;
    case '*':
        bad = __builtin_mul_overflow(a.number, b.number, &result);
        break;
    default: /* '/' and '%' */
        if (b.number == 0 || (a.number == INT64_MIN && b.number == -1))
            return fail(p);
        if (sign == '/' && a.number % b.number != 0)
            return fail(p);
        result = sign == '/' ? a.number / b.number : a.number % b.number;
    }
    if (bad)
        return fail(p);
    return (hf_scalar){.type = HF_INT, .number = result};
}

/* ---- columns ------------------------------------------------------------ */

static bool json_column(hf_json_in *j, hf_scalar row, hf_str name,
                        hf_scalar *ret)
{
    hf_str key;

    hf_json_in_init(j, row.text, row.length);
    if (!hf_json_in_open(j, '{'))
        return false;
    while (hf_json_in_next_key(j, &key)) {
        if (hf_str_eq(key, name))
            return hf_json_in_scalar(j, ret);
        hf_json_in_skip(j, NULL);
    }
    return false;
}

bool hf_brute_column(hf_scalar row, hf_str name, hf_scalar *ret_value)
{
    hf_json_in j;
    hf_scalar v;
    bool found;

    if (row.type != HF_ROW) {
        *ret_value = row;
        return hf_str_eq(name, HF_STR("value"));
    }
    found = json_column(&j, row, name, &v) && v.type != HF_ROW;
    /* text with escapes would be gone with the reader */
    if (found && (v.type == HF_TEXT || v.type == HF_REAL))
        found = v.text >= row.text && v.text < row.text + row.length;
    hf_json_in_release(&j);
    if (found)
        *ret_value = v;
    return found;
}

/* ---- the grammar, innermost first --------------------------------------- */

static hf_scalar primary(parser *p)
{
    hf_scalar v;
    hf_str word;

    if (take(p, "(")) {
        v = or_expression(p);
        return take(p, ")") ? v : fail(p);
    }
    skip_space(p);
    if (p->at < p->end && isdigit((unsigned char)*p->at))
        return number_literal(p);
    if (p->at < p->end && *p->at == '\'')
        return text_literal(p);
    if (take_word(p, "TRUE"))
        return truth(true);
    if (take_word(p, "FALSE"))
        return truth(false);
    if (take_word(p, "NULL"))
        return null_value;
    word = peek_word(p);
    if (word.len == 0)
        return fail(p);
    p->at += word.len;
    return hf_brute_column(p->row, word, &v) ? v : fail(p);
}

static hf_scalar unary(parser *p)
{
    bool minus = false;
    hf_scalar v;

    for (;;) {
        if (take(p, "-"))
            minus = !minus;
        else if (!take(p, "+"))
            break;
    }
    v = primary(p);
    if (minus)
        v = arithmetic(p, '-', (hf_scalar){.type = HF_INT}, v);
    return v;
}

static hf_scalar term(parser *p)
{
    hf_scalar v = unary(p);

    for (;;) {
        if (take(p, "*"))
            v = arithmetic(p, '*', v, unary(p));
        else if (take(p, "/"))
            v = arithmetic(p, '/', v, unary(p));
        else if (take(p, "%"))
            v = arithmetic(p, '%', v, unary(p));
        else
            return v;
    }
}

static hf_scalar sum(parser *p)
{
    hf_scalar v = term(p);

    for (;;) {
        if (take(p, "+"))
            v = arithmetic(p, '+', v, term(p));
        else if (take(p, "-"))
            v = arithmetic(p, '-', v, term(p));
        else
            return v;
    }
}

typedef enum comparison {
    CMP_NONE = 0,
    CMP_EQ,
    CMP_NE,
    CMP_LE,
    CMP_LT,
    CMP_GE,
    CMP_GT
} comparison;

static comparison take_comparison(parser *p)
{
    static const struct {
        const char *symbol;
        comparison kind;
    } symbols[] = {{"<=", CMP_LE}, {">=", CMP_GE}, {"<>", CMP_NE},
                   {"!=", CMP_NE}, {"==", CMP_EQ}, {"=", CMP_EQ},
                   {"<", CMP_LT},  {">", CMP_GT}};

    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
        if (take(p, symbols[i].symbol))
            return symbols[i].kind;
    return CMP_NONE;
}

/* -1, 0, 1 for less, equal, greater; texts are equal or not (2). */
static int order_of(parser *p, hf_scalar a, hf_scalar b)
{
    long double x, y;

    if ((a.type == HF_INT && b.type == HF_INT) ||
        (a.type == HF_BOOL && b.type == HF_BOOL))
        return a.number < b.number ? -1 : a.number > b.number;
    if (a.type == HF_TEXT && b.type == HF_TEXT)
        return hf_str_eq((hf_str){a.text, a.length}, (hf_str){b.text, b.length})
                   ? 0
                   : 2;
    if (as_real(a, &x) && as_real(b, &y))
        return x < y ? -1 : x > y;
    fail(p);
    return 0;
}

static hf_scalar compare(parser *p, comparison kind, hf_scalar a, hf_scalar b)
{
    int order;

    if (p->failed || a.type == HF_NIL || b.type == HF_NIL)
        return null_value;
    order = order_of(p, a, b);
    switch (kind) {
    case CMP_EQ:
        return truth(order == 0);
    case CMP_NE:
        return truth(order != 0);
    default:
        break;
    }
    if (a.type == HF_TEXT)
        return fail(p);
    switch (kind) {
    case CMP_LE:
        return truth(order <= 0);
    case CMP_LT:
        return truth(order < 0);
    case CMP_GE:
        return truth(order >= 0);
    default:
        return truth(order > 0);
    }
}

static hf_scalar logic_not(parser *p, hf_scalar a)
{
    if (p->failed || a.type == HF_NIL)
        return null_value;
    return a.type == HF_BOOL ? truth(!a.number) : fail(p);
}

/* a AND b with is_and, else a OR b; null is "not known". */
static hf_scalar logic(parser *p, bool is_and, hf_scalar a, hf_scalar b)
{
    if (p->failed)
        return null_value;
    if ((a.type != HF_NIL && a.type != HF_BOOL) ||
        (b.type != HF_NIL && b.type != HF_BOOL))
        return fail(p);
    if ((a.type == HF_BOOL && (a.number != 0) != is_and) ||
        (b.type == HF_BOOL && (b.number != 0) != is_and))
        return truth(!is_and);
    if (a.type == HF_NIL || b.type == HF_NIL)
        return null_value;
    return truth(is_and);
}

static hf_scalar between(parser *p, hf_scalar v)
{
    hf_scalar low = sum(p), high;

    if (!take_word(p, "AND"))
        return fail(p);
    high = sum(p);
    return logic(p, true, compare(p, CMP_GE, v, low),
                 compare(p, CMP_LE, v, high));
}

static hf_scalar in_list(parser *p, hf_scalar v)
{
    hf_scalar found = truth(false);

    if (!take(p, "("))
        return fail(p);
    do
        found = logic(p, false, found, compare(p, CMP_EQ, v, sum(p)));
    while (!p->failed && take(p, ","));
    return take(p, ")") ? found : fail(p);
}

static hf_scalar test(parser *p)
{
    hf_scalar v = sum(p);
    comparison kind = take_comparison(p);
    bool negate;

    if (kind != CMP_NONE)
        return compare(p, kind, v, sum(p));
    if (take_word(p, "IS")) {
        negate = take_word(p, "NOT");
        if (!take_word(p, "NULL"))
            return fail(p);
        return truth((v.type == HF_NIL) != negate);
    }
    negate = take_word(p, "NOT");
    if (take_word(p, "BETWEEN"))
        v = between(p, v);
    else if (take_word(p, "IN"))
        v = in_list(p, v);
    else
        return negate ? fail(p) : v;
    return negate ? logic_not(p, v) : v;
}

static hf_scalar not_expression(parser *p)
{
    bool negate = false;
    hf_scalar v;

    while (take_word(p, "NOT"))
        negate = !negate;
    v = test(p);
    /* NOT NOT x is still a truth value or an error */
    return negate ? logic_not(p, v) : v;
}

static hf_scalar and_expression(parser *p)
{
    hf_scalar v = not_expression(p);

    while (!p->failed && take_word(p, "AND"))
        v = logic(p, true, v, not_expression(p));
    return v;
}

static hf_scalar or_expression(parser *p)
{
    hf_scalar v;

    if (p->failed || ++p->depth > MAX_DEPTH)
        return fail(p);
    v = and_expression(p);
    while (!p->failed && take_word(p, "OR"))
        v = logic(p, false, v, and_expression(p));
    p->depth--;
    return v;
}

/* A comment would have to be left out; no fixture needs one. */
static bool has_comment(hf_str text)
{
    bool quoted = false;

    for (size_t i = 0; i + 1 < text.len; i++) {
        quoted ^= text.ptr[i] == '\'';
        if (!quoted && ((text.ptr[i] == '-' && text.ptr[i + 1] == '-') ||
                        (text.ptr[i] == '/' && text.ptr[i + 1] == '*')))
            return true;
    }
    return false;
}

hf_brute_match hf_brute_condition(hf_str condition, hf_scalar row)
{
    parser p = {
        .at = condition.ptr, .end = condition.ptr + condition.len, .row = row};
    hf_scalar v;

    if (row.type == HF_NIL)
        return HF_BRUTE_MATCH_NO;
    if (has_comment(condition))
        return HF_BRUTE_MATCH_ERROR;
    v = or_expression(&p);
    skip_space(&p);
    if (p.failed || p.at != p.end)
        return HF_BRUTE_MATCH_ERROR;
    if (v.type == HF_NIL)
        return HF_BRUTE_MATCH_NO;
    if (v.type != HF_BOOL)
        return HF_BRUTE_MATCH_ERROR;
    return v.number ? HF_BRUTE_MATCH_YES : HF_BRUTE_MATCH_NO;
}
