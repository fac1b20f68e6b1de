/* lex.c: a look at the text before the parser sees it.
 *
 * libpg_query recurses over the tree it writes, so long chains and deep nests
 * have to be stopped before (a chain of 100,000 additions overflows its
 * stack).  What counts is how many tokens stand between two commas at one
 * depth of parentheses; rows of VALUES may be many.  The same pass rewrites
 * what other databases write differently: ? and :name become $n, `name`
 * becomes "name", == becomes =.  It keeps where the parentheses are: the
 * parser's tree does not tell a + b || c from (a + b) || c, and databases
 * read the first differently.  One pass, O(length).
 */
#include "sql/tree.h"

#include <ctype.h>
#include <strings.h>

#include "base/error.h"
#include "base/out.h"
#include "base/vec.h"

#define MAX_BYTES (64u << 20)
#define MAX_RUN 8000u  /* tokens in a row without a comma */
#define MAX_DEPTH 300u /* parentheses and brackets */
#define MAX_CHAINED 300u
#define MAX_TOKENS 4000000u

typedef struct lexer {
    const char *at, *end;
    hf_out out;
    hf_arena *arena;
    hf_error *err;
    uint32_t runs[MAX_DEPTH + 1];
    uint32_t depth;   /* of parentheses, brackets and CASE */
    uint32_t open;    /* of parentheses and brackets */
    uint32_t chained; /* JOIN, UNION */
    uint32_t tokens;
    HF_VEC(hf_str) params; /* names, empty for ? */
    HF_VEC(uint32_t) parens;
    HF_VEC(uint16_t) depths;
    bool numbered; /* $n seen */
} lexer;

static bool refuse(lexer *l, const char *what)
{
    (void)hf_fail(l->err, HF_ERR_INPUT, "%s", what);
    return false;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void copy(lexer *l, const char *end)
{
    hf_out_bytes(&l->out, l->at, (size_t)(end - l->at));
    l->at = end;
}

/* Past a quoted thing; `escapes`: a backslash hides the next character. */
static bool quoted(lexer *l, char quote, bool escapes)
{
    const char *p = l->at + 1;

    for (; p < l->end; p++) {
        if (*p == quote) {
            if (p + 1 == l->end || p[1] != quote) {
                copy(l, p + 1);
                return true;
            }
            p++;
        } else if (escapes && *p == '\\' && p + 1 < l->end) {
            p++;
        }
    }
    return refuse(l, "a quote is not closed");
}

/* `name` of MariaDB. */
static bool backquoted(lexer *l)
{
    const char *p = l->at + 1;

    hf_out_char(&l->out, '"');
    for (; p < l->end && *p != '`'; p++) {
        if (*p == '"')
            hf_out_char(&l->out, '"');
        hf_out_char(&l->out, *p);
    }
    if (p == l->end)
        return refuse(l, "a quote is not closed");
    hf_out_char(&l->out, '"');
    l->at = p + 1;
    return true;
}

/* $$...$$ and $tag$...$tag$; false if it is none (then nothing is taken). */
static bool dollar_quoted(lexer *l)
{
    const char *tag_end = l->at + 1, *p;
    size_t n;

    while (tag_end < l->end && is_name(*tag_end))
        tag_end++;
    if (tag_end == l->end || *tag_end != '$')
        return false;
    n = (size_t)(tag_end + 1 - l->at);
    p = memmem(tag_end + 1, (size_t)(l->end - tag_end - 1), l->at, n);
    if (!p)
        return false;
    copy(l, p + n);
    return true;
}

static bool comment(lexer *l)
{
    const char *p = l->at + 2;
    unsigned depth = 1;

    hf_out_char(&l->out, ' '); /* in its place; nested ones are slow later */
    if (*l->at == '-') {
        while (p < l->end && *p != '\n')
            p++;
        l->at = p;
        return true;
    }
    while (p < l->end && depth > 0) {
        if (*p == '*' && p + 1 < l->end && p[1] == '/') {
            depth--;
            p++;
        } else if (*p == '/' && p + 1 < l->end && p[1] == '*') {
            depth++;
            p++;
        }
        p++;
    }
    l->at = p;
    return depth == 0 || refuse(l, "a comment is not closed");
}

static void parameter(lexer *l, hf_str name)
{
    size_t i = l->params.n;

    if (name.len > 0)
        for (i = 0; i < l->params.n; i++)
            if (hf_str_eq(l->params.at[i], name))
                break;
    if (i == l->params.n)
        hf_vec_push(&l->params, name);
    hf_out_format(&l->out, " $%zu ", i + 1);
}

static bool count(lexer *l)
{
    if (++l->tokens > MAX_TOKENS)
        return refuse(l, "the text has too many words");
    if (++l->runs[l->depth] > MAX_RUN)
        return refuse(l, "an expression is too long");
    return true;
}

static bool push(lexer *l)
{
    if (l->depth == MAX_DEPTH)
        return refuse(l, "parentheses or CASE are nested too deeply");
    l->runs[++l->depth] = 0;
    return true;
}

static void pop(lexer *l)
{
    if (l->depth > 0)
        l->depth--;
}

static bool bracket(lexer *l, char c)
{
    bool opens = c == '(' || c == '[';

    if (opens && !push(l))
        return false;
    if (!opens)
        pop(l);
    if (opens)
        l->open++;
    else if (l->open > 0)
        l->open--;
    hf_vec_push(&l->parens, (uint32_t)l->out.n);
    hf_vec_push(&l->depths, (uint16_t)l->open);
    copy(l, l->at + 1);
    return true;
}

static bool is_word(hf_str s, const char *word)
{
    return s.len == strlen(word) && strncasecmp(s.ptr, word, s.len) == 0;
}

/* AND and OR make flat lists; CASE nests; joins and unions nest to the left
 * without end. */
static bool keyword(lexer *l, hf_str s)
{
    static const char *const chains[] = {"join", "union", "intersect",
                                         "except"};

    if (s.len > 9)
        return true;
    if (is_word(s, "and") || is_word(s, "or"))
        l->runs[l->depth] = 0;
    else if (is_word(s, "case"))
        return push(l);
    else if (is_word(s, "end"))
        pop(l);
    for (size_t i = 0; i < 4; i++)
        if (is_word(s, chains[i]) && ++l->chained > MAX_CHAINED)
            return refuse(l, "too many joins or unions");
    return true;
}

/* A word or a number; E'...' has backslash escapes. */
static bool word(lexer *l)
{
    const char *p = l->at;
    hf_str s = {p, 0};

    while (p < l->end && (is_name(*p) || *p == '$' || *p == '.'))
        p++;
    s.len = (size_t)(p - l->at);
    if (s.len == 1 && (*s.ptr == 'e' || *s.ptr == 'E') && p < l->end &&
        *p == '\'') {
        copy(l, p);
        return quoted(l, '\'', true);
    }
    copy(l, p);
    return keyword(l, s);
}

static bool symbol(lexer *l, char c, char next)
{
    static const char operators[] = "=<>!~@#%^&|*/+-?";
    const char *p = l->at + 1;
    char before =
        l->out.n > 0 && l->out.at[l->out.n - 1] ? l->out.at[l->out.n - 1] : ' ';

    if (c == '$') {
        if (dollar_quoted(l))
            return true;
        while (p < l->end && isdigit((unsigned char)*p))
            p++;
        l->numbered |= p > l->at + 1;
        copy(l, p);
        return true;
    }
    if (c == '?') {
        l->at++;
        parameter(l, (hf_str){NULL, 0});
        return true;
    }
    if (c == ':' && next == ':') {
        copy(l, l->at + 2);
        return true;
    }
    if (c == ':' && (isalpha((unsigned char)next) || next == '_')) {
        while (p < l->end && is_name(*p))
            p++;
        parameter(l, (hf_str){l->at + 1, (size_t)(p - l->at - 1)});
        l->at = p;
        return true;
    }
    if (c == '=' && next == '=' && !strchr(operators, before) &&
        !(p + 1 < l->end && p[1] && strchr(operators, p[1]))) {
        l->at++; /* == is = */
        copy(l, p + 1);
        return true;
    }
    if (c == ',' || c == ';')
        l->runs[l->depth] = 0;
    copy(l, p);
    return true;
}

static bool token(lexer *l)
{
    char c = *l->at, next = l->at + 1 < l->end ? l->at[1] : '\0';

    if (c == '\0')
        return refuse(l, "the text has a zero byte");
    if (isspace((unsigned char)c)) {
        copy(l, l->at + 1);
        return true;
    }
    if ((c == '-' && next == '-') || (c == '/' && next == '*'))
        return comment(l);
    if (!count(l))
        return false;
    if (c == '\'' || c == '"')
        return quoted(l, c, false);
    if (c == '`')
        return backquoted(l);
    if (is_name(c))
        return word(l);
    if (strchr("()[]", c))
        return bracket(l, c);
    return symbol(l, c, next);
}

static void keep_params(lexer *l, hf_sql_lexed *ret)
{
    hf_str *names;

    if (l->params.n == 0)
        return;
    names = hf_arena_get(l->arena, l->params.n * sizeof(hf_str));
    for (size_t i = 0; i < l->params.n; i++)
        if (l->params.at[i].len > 0)
            names[i] = (hf_str){hf_arena_text(l->arena, l->params.at[i].ptr,
                                              l->params.at[i].len),
                                l->params.at[i].len};
    ret->param_names = names;
    ret->n_params = (uint32_t)l->params.n;
}

static void keep_parens(lexer *l, hf_sql_lexed *ret)
{
    size_t n = l->parens.n;
    uint32_t *at = hf_arena_get(l->arena, (n + 1) * sizeof(*at));
    uint16_t *depths = hf_arena_get(l->arena, (n + 1) * sizeof(*depths));

    for (size_t i = 0; i < n; i++) {
        at[i] = l->parens.at[i];
        depths[i] = l->depths.at[i];
    }
    ret->parens = at;
    ret->depths = depths;
    ret->n_parens = (uint32_t)n;
}

unsigned hf_sql_lexed_depth(const hf_sql_lexed *l, uint32_t at)
{
    uint32_t low = 0, high = l->n_parens; /* the first one at or after */

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (l->parens[mid] < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 ? l->depths[low - 1] : 0;
}

bool hf_sql_lex(hf_arena *arena, hf_str text, const char *prefix,
                hf_sql_lexed *ret, hf_error *err)
{
    lexer l = {.at = text.ptr, .end = text.ptr + text.len, .arena = arena};
    bool ok = true;

    l.err = err;
    *ret = (hf_sql_lexed){0};
    if (text.len > MAX_BYTES)
        return refuse(&l, "the text is too long");
    hf_out_init_memory(&l.out);
    hf_out_text(&l.out, prefix);
    while (ok && l.at < l.end)
        ok = token(&l);
    if (ok && l.numbered && l.params.n > 0)
        ok = refuse(&l, "parameters are both numbered and not");
    if (ok) {
        ret->text = (hf_str){hf_arena_text(arena, l.out.at, l.out.n), l.out.n};
        keep_params(&l, ret);
        keep_parens(&l, ret);
    }
    hf_vec_release(&l.params);
    hf_vec_release(&l.parens);
    hf_vec_release(&l.depths);
    hf_out_release(&l.out);
    return ok;
}
