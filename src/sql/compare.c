/* compare.c: comparisons, truth of values, LIKE. */
#include "sql/eval.h"

#include <ctype.h>

#include "base/error.h"

/* ---- comparing ---------------------------------------------------------- */

static int sign_of(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static bool compare_sqlite(hf_sql_eval *ev, hf_sql_value a, hf_sql_value b,
                           hf_sql_affinity x, hf_sql_affinity y, int *ret)
{
    bool text_a, text_b;

    a = hf_sqlite_storage(a);
    b = hf_sqlite_storage(b);
    text_a = a.type == HF_SQL_TEXT;
    text_b = b.type == HF_SQL_TEXT;
    if (text_a != text_b) {
        if (x == HF_AFFINITY_UNSAID || y == HF_AFFINITY_UNSAID) {
            hf_sql_value n =
                hf_sqlite_affinity(text_a ? a : b, HF_AFFINITY_NUMERIC, NULL);

            /* a column that holds a number keeps it beside such a text */
            if (n.type != HF_SQL_TEXT || (text_a ? x : y) == HF_AFFINITY_UNSAID)
                return hf_sql_unsaid(ev, "the column's declared type decides "
                                         "how a text and a number compare");
        } else if (x >= HF_AFFINITY_NUMERIC && y < HF_AFFINITY_NUMERIC) {
            b = hf_sqlite_affinity(b, HF_AFFINITY_NUMERIC, NULL);
        } else if (y >= HF_AFFINITY_NUMERIC && x < HF_AFFINITY_NUMERIC) {
            a = hf_sqlite_affinity(a, HF_AFFINITY_NUMERIC, NULL);
        } else if (x == HF_AFFINITY_TEXT && y == HF_AFFINITY_NONE) {
            b = hf_sqlite_affinity(b, HF_AFFINITY_TEXT, hf_sql_scratch(ev));
        } else if (y == HF_AFFINITY_TEXT && x == HF_AFFINITY_NONE) {
            a = hf_sqlite_affinity(a, HF_AFFINITY_TEXT, hf_sql_scratch(ev));
        }
    }
    *ret = hf_sql_order(&a, &b);
    return true;
}

/* Dates recorded as texts, dates beside timestamps. */
static bool align_times(hf_sql_value *a, hf_sql_value *b)
{
    int64_t n;

    if (a->type == HF_SQL_TEXT) {
        if (b->type == HF_SQL_DATE && hf_sql_date(hf_sql_text_of(a), &n))
            *a = hf_sql_of_time(HF_SQL_DATE, n);
        else if (hf_sql_timestamp(hf_sql_text_of(a), &n))
            *a = hf_sql_of_time(HF_SQL_TIMESTAMP, n);
        else
            return false;
    }
    if (a->type == HF_SQL_DATE && b->type == HF_SQL_TIMESTAMP)
        *a =
            hf_sql_of_time(HF_SQL_TIMESTAMP, a->integer * INT64_C(86400000000));
    return true;
}

static bool is_time(const hf_sql_value *v)
{
    return v->type == HF_SQL_DATE || v->type == HF_SQL_TIMESTAMP;
}

static bool compare_mixed(hf_sql_eval *ev, hf_sql_value a, hf_sql_value b,
                          int *ret)
{
    if ((is_time(&a) && (is_time(&b) || b.type == HF_SQL_TEXT)) ||
        (is_time(&b) && a.type == HF_SQL_TEXT)) {
        if (!align_times(&a, &b) || !align_times(&b, &a))
            return hf_sql_refuse(ev, "a text is not a date");
        *ret = sign_of(a.integer, b.integer);
        return true;
    }
    if (ev->dialect == HF_SQL_POSTGRES) {
        if ((a.note & HF_SQL_NOTE_LITERAL && !hf_sql_literal_as(ev, &b, &a)) ||
            (b.note & HF_SQL_NOTE_LITERAL && !hf_sql_literal_as(ev, &a, &b)))
            return false;
        if (a.type == b.type ||
            (hf_sql_is_number(&a) && hf_sql_is_number(&b))) {
            *ret = hf_sql_order(&a, &b);
            return true;
        }
    }
    return hf_sql_refuse(ev, "comparing %s with %s",
                         hf_sql_type_name(a.type, a.note),
                         hf_sql_type_name(b.type, b.note));
}

bool hf_sql_compare(hf_sql_eval *ev, const hf_sql_value *a,
                    const hf_sql_value *b, hf_sql_affinity affinity_a,
                    hf_sql_affinity affinity_b, int *ret)
{
    HF_ASSERT(a->type != HF_SQL_NULL && b->type != HF_SQL_NULL);
    if (a->type == HF_SQL_INT && b->type == HF_SQL_INT) {
        *ret = sign_of(a->integer, b->integer);
        return true;
    }
    if (ev->dialect == HF_SQL_SQLITE)
        return compare_sqlite(ev, *a, *b, affinity_a, affinity_b, ret);
    if (a->type == HF_SQL_TEXT && b->type == HF_SQL_TEXT) {
        *ret = hf_sql_order(a, b);
        if (*ret != 0 && ev->dialect == HF_SQL_ANY)
            *ret = 2;
        return true;
    }
    if (a->type == b->type || (hf_sql_is_number(a) && hf_sql_is_number(b))) {
        *ret = hf_sql_order(a, b);
        return true;
    }
    return compare_mixed(ev, *a, *b, ret);
}

static hf_sql_truth as_truth(bool b)
{
    return b ? HF_SQL_TRUE : HF_SQL_FALSE;
}

hf_sql_truth hf_sql_compare_truth(hf_sql_eval *ev, hf_sql_comparison op,
                                  const hf_sql_value *a, const hf_sql_value *b,
                                  const hf_sql_node *node_a,
                                  const hf_sql_node *node_b)
{
    int order;

    if (a->type == HF_SQL_NULL || b->type == HF_SQL_NULL)
        return HF_SQL_UNKNOWN;
    if (!hf_sql_compare(
            ev, a, b,
            node_a ? (hf_sql_affinity)node_a->affinity : HF_AFFINITY_NONE,
            node_b ? (hf_sql_affinity)node_b->affinity : HF_AFFINITY_NONE,
            &order))
        return HF_SQL_ERROR;
    if (order == 2 && op != HF_CMP_EQ && op != HF_CMP_NE) {
        (void)hf_sql_unsaid(ev, "databases differ in the order of texts");
        return HF_SQL_ERROR;
    }
    switch (op) {
    case HF_CMP_EQ:
        return as_truth(order == 0);
    case HF_CMP_NE:
        return as_truth(order != 0);
    case HF_CMP_LT:
        return as_truth(order < 0);
    case HF_CMP_LE:
        return as_truth(order <= 0);
    case HF_CMP_GT:
        return as_truth(order > 0);
    default:
        return as_truth(order >= 0);
    }
}

bool hf_sql_sort_order(hf_sql_eval *ev, const hf_sql_value *a,
                       const hf_sql_value *b, int *ret)
{
    if (a->type == HF_SQL_NULL || b->type == HF_SQL_NULL) {
        *ret = (a->type != HF_SQL_NULL) - (b->type != HF_SQL_NULL);
        return true;
    }
    if (!hf_sql_compare(ev, a, b, HF_AFFINITY_NONE, HF_AFFINITY_NONE, ret))
        return false;
    if (*ret == 2)
        return hf_sql_unsaid(ev, "databases differ in the order of texts");
    return true;
}

/* ---- truth -------------------------------------------------------------- */

hf_sql_truth hf_sql_value_truth(hf_sql_eval *ev, const hf_sql_value *v)
{
    hf_sql_value number;

    if (v->type == HF_SQL_NULL)
        return HF_SQL_UNKNOWN;
    if (v->type == HF_SQL_BOOL)
        return as_truth(v->integer != 0);
    if (ev->dialect == HF_SQL_SQLITE) {
        number = hf_sqlite_number(v);
        return as_truth(number.type == HF_SQL_INT ? number.integer != 0
                                                  : number.real != 0);
    }
    if (v->note & HF_SQL_NOTE_LITERAL && ev->dialect == HF_SQL_POSTGRES) {
        if (!hf_sql_cast(ev, *v, HF_SQL_BOOL, 0, -1, false, &number))
            return HF_SQL_ERROR;
        return as_truth(number.integer != 0);
    }
    (void)hf_sql_refuse(ev, "%s is no truth value",
                        hf_sql_type_name(v->type, v->note));
    return HF_SQL_ERROR;
}

/* ---- LIKE --------------------------------------------------------------- */

typedef struct pattern {
    const char *at, *end;
    int escape; /* -1: none */
    bool fold;  /* letters of ASCII in any case */
} pattern;

static size_t char_length(const char *at, const char *end)
{
    size_t n = 1;

    if ((unsigned char)*at >= 0xc0)
        while (at + n < end && ((unsigned char)at[n] & 0xc0) == 0x80)
            n++;
    return n;
}

static bool same_byte(char a, char b, bool fold)
{
    if (a == b)
        return true;
    return fold && (unsigned char)a < 0x80 && (unsigned char)b < 0x80 &&
           tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* One step of the pattern that is not %: how it fits at the text. */
static bool step(pattern *p, const char **text, const char *end)
{
    if (*text == end)
        return false;
    if (p->escape >= 0 && *p->at == (char)p->escape && p->at + 1 < p->end) {
        p->at++;
    } else if (*p->at == '_') {
        *text += char_length(*text, end);
        p->at++;
        return true;
    }
    if (!same_byte(*p->at, **text, p->fold))
        return false;
    p->at++;
    (*text)++;
    return true;
}

/* The last % is the only one to come back to: O(text * pattern). */
static bool matches(pattern p, hf_str s)
{
    const char *text = s.ptr, *end = s.ptr + s.len;
    const char *back_pattern = NULL, *back_text = NULL;

    for (;;) {
        if (p.at < p.end && *p.at == '%' && p.escape != '%') {
            back_pattern = ++p.at;
            back_text = text;
            continue;
        }
        if (p.at == p.end && text == end)
            return true;
        if (p.at < p.end && step(&p, &text, end))
            continue;
        if (!back_pattern || back_text == end)
            return false;
        back_text += char_length(back_text, end);
        text = back_text;
        p.at = back_pattern;
    }
}

/* An escape character that ends the pattern: PostgreSQL refuses. */
static bool ends_in_escape(hf_str s, int escape)
{
    for (size_t i = 0; i < s.len; i++)
        if (escape >= 0 && s.ptr[i] == (char)escape && ++i == s.len)
            return true;
    return false;
}

static bool like_text(hf_sql_eval *ev, hf_sql_value *v)
{
    if (v->type == HF_SQL_TEXT)
        return true;
    if (ev->dialect == HF_SQL_SQLITE) {
        *v = hf_sqlite_storage(*v);
        *v = hf_sql_of_text(hf_sql_print(v, ev->dialect, hf_sql_scratch(ev)));
        return true;
    }
    return hf_sql_refuse(ev, "LIKE of %s", hf_sql_type_name(v->type, v->note));
}

static bool match_any(hf_sql_eval *ev, pattern p, hf_str text, bool has_escape,
                      hf_sql_truth *ret)
{
    bool plain, folded;

    if (!has_escape && memchr(p.at, '\\', (size_t)(p.end - p.at)))
        return hf_sql_unsaid(ev, "databases differ about \\ in LIKE");
    p.fold = false;
    plain = matches(p, text);
    p.fold = true;
    folded = matches(p, text);
    if (plain != folded)
        return hf_sql_unsaid(ev, "databases differ about LIKE and the case of "
                                 "letters");
    *ret = as_truth(plain);
    return true;
}

static bool escape_of(hf_sql_eval *ev, const hf_sql_value *v, int *ret)
{
    if (v->type != HF_SQL_TEXT || v->length != 1) {
        if (v->type == HF_SQL_TEXT && v->length == 0 &&
            ev->dialect == HF_SQL_POSTGRES) {
            *ret = -1;
            return true;
        }
        return hf_sql_refuse(ev, "ESCAPE must be one character");
    }
    *ret = (unsigned char)v->text[0];
    return true;
}

bool hf_sql_like(hf_sql_eval *ev, const hf_sql_node *node, hf_sql_truth *ret)
{
    hf_sql_value v[3];
    pattern p = {.escape = ev->dialect == HF_SQL_SQLITE ? -1 : '\\'};

    *ret = HF_SQL_UNKNOWN;
    for (uint32_t i = 0; i < node->n; i++)
        if (!hf_sql_value_of(ev, node->args[i], &v[i]))
            return false;
    for (uint32_t i = 0; i < node->n; i++)
        if (v[i].type == HF_SQL_NULL)
            return true;
    if (!like_text(ev, &v[0]) || !like_text(ev, &v[1]) ||
        (node->n == 3 && !escape_of(ev, &v[2], &p.escape)))
        return false;
    p.at = v[1].text;
    p.end = v[1].text + v[1].length;
    p.fold = ev->dialect == HF_SQL_SQLITE || node->op == 1;
    if (ends_in_escape(hf_sql_text_of(&v[1]), p.escape))
        return hf_sql_unsaid(ev, "the pattern of LIKE ends in its escape");
    if (ev->dialect == HF_SQL_ANY)
        return match_any(ev, p, hf_sql_text_of(&v[0]), node->n == 3, ret);
    *ret = as_truth(matches(p, hf_sql_text_of(&v[0])));
    return true;
}
