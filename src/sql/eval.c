/* eval.c: evaluating a bound expression on one row.
 *
 * Two mutually recursive walks: one for values, one for truth, so that the
 * usual condition (comparisons under AND and OR) makes no values at all.
 * Nothing is allocated unless a text has to be made.  O(nodes).
 */
#include "sql/eval.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

/* ---- failing ------------------------------------------------------------ */

static bool fail(hf_sql_eval *ev, hf_status status, const char *format,
                 va_list args)
{
    char text[400];

    ev->status = status;
    if (ev->err) {
        (void)vsnprintf(text, sizeof(text), format, args);
        (void)hf_fail(ev->err, status, "%s", text);
    }
    return false;
}

bool hf_sql_raise(hf_sql_eval *ev, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)fail(ev, HF_ERR_INPUT, format, args);
    va_end(args);
    return false;
}

bool hf_sql_unsaid(hf_sql_eval *ev, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)fail(ev, HF_ERR_UNSUPPORTED, format, args);
    va_end(args);
    return false;
}

bool hf_sql_refuse(hf_sql_eval *ev, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)fail(ev,
               ev->dialect == HF_SQL_ANY ? HF_ERR_UNSUPPORTED : HF_ERR_INPUT,
               format, args);
    va_end(args);
    return false;
}

hf_arena *hf_sql_scratch(hf_sql_eval *ev)
{
    if (ev->arena)
        return ev->arena;
    if (!ev->has_own) {
        hf_arena_init(&ev->own);
        ev->has_own = true;
    }
    return &ev->own;
}

const char *hf_sql_type_name(unsigned type, unsigned note)
{
    static const char *const names[HF_SQL_TYPE_COUNT] = {
        [HF_SQL_NULL] = "null",   [HF_SQL_BOOL] = "boolean",
        [HF_SQL_INT] = "integer", [HF_SQL_DECIMAL] = "numeric",
        [HF_SQL_TEXT] = "text",   [HF_SQL_REAL] = "double precision",
        [HF_SQL_DATE] = "date",   [HF_SQL_TIMESTAMP] = "timestamp"};

    if (type == HF_SQL_INT && note & HF_SQL_NOTE_INT8)
        return "bigint";
    return type < HF_SQL_TYPE_COUNT ? names[type] : "a value";
}

/* ---- truth -------------------------------------------------------------- */

/* A leaf is looked at where it is; others are computed into `room`. */
static inline const hf_sql_value *
leaf_or_value(hf_sql_eval *ev, const hf_sql_node *node, hf_sql_value *room)
{
    if (node->kind == HF_N_COLUMN && node->depth == 0)
        return &ev->frame.row[node->slot];
    if (node->kind == HF_N_CONST)
        return &node->value;
    return hf_sql_value_of(ev, node, room) ? room : NULL;
}

static hf_sql_truth compare_node(hf_sql_eval *ev, const hf_sql_node *node)
{
    hf_sql_value left, right;
    const hf_sql_value *a = leaf_or_value(ev, node->args[0], &left);
    const hf_sql_value *b;
    int64_t x, y;

    if (!a)
        return HF_SQL_ERROR;
    b = leaf_or_value(ev, node->args[1], &right);
    if (!b)
        return HF_SQL_ERROR;
    if (a->type != HF_SQL_INT || b->type != HF_SQL_INT)
        return hf_sql_compare_truth(ev, (hf_sql_comparison)node->op, a, b,
                                    node->args[0], node->args[1]);
    x = a->integer;
    y = b->integer;
    switch (node->op) {
    case HF_CMP_EQ:
        return (hf_sql_truth)(x == y);
    case HF_CMP_NE:
        return (hf_sql_truth)(x != y);
    case HF_CMP_LT:
        return (hf_sql_truth)(x < y);
    case HF_CMP_LE:
        return (hf_sql_truth)(x <= y);
    case HF_CMP_GT:
        return (hf_sql_truth)(x > y);
    default:
        return (hf_sql_truth)(x >= y);
    }
}

/* What AND and OR have seen so far. */
typedef struct gathering {
    hf_sql_truth decides; /* FALSE for AND, TRUE for OR */
    bool unknown, failed;
    hf_status status;
} gathering;

/* True: the outcome is known, look no further. */
static bool gather(hf_sql_eval *ev, gathering *g, hf_sql_truth t)
{
    if (t == g->decides)
        return true;
    g->unknown |= t == HF_SQL_UNKNOWN;
    if (t != HF_SQL_ERROR)
        return false;
    if (!g->failed)
        g->status = ev->status;
    g->failed = true;
    return ev->strict && ev->status == HF_ERR_INPUT;
}

static hf_sql_truth gathered(hf_sql_eval *ev, const gathering *g, bool decided)
{
    if (decided && !(ev->strict && g->failed && g->status == HF_ERR_INPUT)) {
        ev->status = HF_OK;
        return g->decides;
    }
    if (g->failed) {
        ev->status = g->status;
        return HF_SQL_ERROR;
    }
    if (g->unknown)
        return HF_SQL_UNKNOWN;
    return g->decides == HF_SQL_TRUE ? HF_SQL_FALSE : HF_SQL_TRUE;
}

static hf_sql_truth logic(hf_sql_eval *ev, const hf_sql_node *node,
                          hf_sql_truth decides)
{
    gathering g = {.decides = decides};

    for (uint32_t i = 0; i < node->n; i++)
        if (gather(ev, &g, hf_sql_truth_of(ev, node->args[i])))
            return gathered(ev, &g, true);
    return gathered(ev, &g, false);
}

static hf_sql_truth negated_if(const hf_sql_node *node, hf_sql_truth t)
{
    if (!(node->flags & HF_NF_NEGATED) || t > HF_SQL_TRUE)
        return t;
    return t == HF_SQL_TRUE ? HF_SQL_FALSE : HF_SQL_TRUE;
}

static hf_sql_truth in_list(hf_sql_eval *ev, const hf_sql_node *node)
{
    gathering g = {.decides = HF_SQL_TRUE};
    hf_sql_value left, right;
    const hf_sql_value *a = leaf_or_value(ev, node->args[0], &left), *b;
    hf_sql_node plain = {0}; /* the list has no affinity of its own */
    hf_sql_truth t;

    if (!a)
        return HF_SQL_ERROR;
    for (uint32_t i = 1; i < node->n; i++) {
        b = leaf_or_value(ev, node->args[i], &right);
        t = b ? hf_sql_compare_truth(ev, HF_CMP_EQ, a, b, node->args[0], &plain)
              : HF_SQL_ERROR;
        if (gather(ev, &g, t))
            return gathered(ev, &g, true);
    }
    return gathered(ev, &g, false);
}

/* low <= v and v <= high */
static hf_sql_truth within(hf_sql_eval *ev, const hf_sql_node *node,
                           const hf_sql_value *v, const hf_sql_value *low,
                           const hf_sql_value *high)
{
    gathering g = {.decides = HF_SQL_FALSE};
    bool done;

    done = gather(ev, &g,
                  hf_sql_compare_truth(ev, HF_CMP_GE, v, low, node->args[0],
                                       node->args[1])) ||
           gather(ev, &g,
                  hf_sql_compare_truth(ev, HF_CMP_LE, v, high, node->args[0],
                                       node->args[2]));
    return gathered(ev, &g, done);
}

static hf_sql_truth between(hf_sql_eval *ev, const hf_sql_node *node)
{
    hf_sql_value room[3];
    const hf_sql_value *v[3];
    gathering g = {.decides = HF_SQL_TRUE};
    bool done;

    for (int i = 0; i < 3; i++)
        if (!(v[i] = leaf_or_value(ev, node->args[i], &room[i])))
            return HF_SQL_ERROR;
    if (node->op == 0)
        return within(ev, node, v[0], v[1], v[2]);
    done = gather(ev, &g, within(ev, node, v[0], v[1], v[2])) ||
           gather(ev, &g, within(ev, node, v[0], v[2], v[1]));
    return gathered(ev, &g, done);
}

static hf_sql_truth distinct(hf_sql_eval *ev, const hf_sql_node *node)
{
    hf_sql_value a, b;
    hf_sql_truth t;

    if (!hf_sql_value_of(ev, node->args[0], &a) ||
        !hf_sql_value_of(ev, node->args[1], &b))
        return HF_SQL_ERROR;
    if (a.type == HF_SQL_NULL || b.type == HF_SQL_NULL)
        t = a.type != b.type ? HF_SQL_TRUE : HF_SQL_FALSE;
    else
        t = hf_sql_compare_truth(ev, HF_CMP_NE, &a, &b, node->args[0],
                                 node->args[1]);
    return t;
}

static hf_sql_truth null_test(hf_sql_eval *ev, const hf_sql_node *node)
{
    hf_sql_value room;
    const hf_sql_value *v = leaf_or_value(ev, node->args[0], &room);

    if (!v)
        return HF_SQL_ERROR;
    return v->type == HF_SQL_NULL ? HF_SQL_TRUE : HF_SQL_FALSE;
}

static hf_sql_truth truth_test(hf_sql_eval *ev, const hf_sql_node *node)
{
    hf_sql_truth t = hf_sql_truth_of(ev, node->args[0]);

    if (t == HF_SQL_ERROR)
        return t;
    return t == (hf_sql_truth)node->op ? HF_SQL_TRUE : HF_SQL_FALSE;
}

static hf_sql_truth by_value(hf_sql_eval *ev, const hf_sql_node *node)
{
    hf_sql_value room;
    const hf_sql_value *v = leaf_or_value(ev, node, &room);

    return v ? hf_sql_value_truth(ev, v) : HF_SQL_ERROR;
}

hf_sql_truth hf_sql_truth_of(hf_sql_eval *ev, const hf_sql_node *node)
{
    hf_sql_truth t;

    switch (node->kind) {
    case HF_N_COMPARE:
        return compare_node(ev, node);
    case HF_N_AND:
        return logic(ev, node, HF_SQL_FALSE);
    case HF_N_OR:
        return logic(ev, node, HF_SQL_TRUE);
    case HF_N_NOT:
        t = hf_sql_truth_of(ev, node->args[0]);
        return t > HF_SQL_TRUE ? t : (hf_sql_truth)(t == HF_SQL_FALSE);
    case HF_N_BETWEEN:
        return negated_if(node, between(ev, node));
    case HF_N_IN:
        return negated_if(node, in_list(ev, node));
    case HF_N_IS_NULL:
        return negated_if(node, null_test(ev, node));
    case HF_N_IS_TRUTH:
        return negated_if(node, truth_test(ev, node));
    case HF_N_DISTINCT:
        return negated_if(node, distinct(ev, node));
    case HF_N_LIKE:
        if (!hf_sql_like(ev, node, &t))
            return HF_SQL_ERROR;
        return negated_if(node, t);
    default:
        return by_value(ev, node);
    }
}

/* ---- values ------------------------------------------------------------- */

static bool truth_value(hf_sql_eval *ev, const hf_sql_node *node,
                        hf_sql_value *ret)
{
    hf_sql_truth t = hf_sql_truth_of(ev, node);

    if (t == HF_SQL_ERROR)
        return false;
    *ret =
        t == HF_SQL_UNKNOWN ? hf_sql_null() : hf_sql_of_bool(t == HF_SQL_TRUE);
    if (ev->dialect == HF_SQL_SQLITE)
        *ret = hf_sqlite_storage(*ret);
    return true;
}

static bool case_value(hf_sql_eval *ev, const hf_sql_node *node,
                       hf_sql_value *ret)
{
    hf_sql_value v = hf_sql_null(), when;
    uint32_t i = node->op;
    hf_sql_truth t;

    if (node->op && !hf_sql_value_of(ev, node->args[0], &v))
        return false;
    for (; i + 1 < node->n; i += 2) {
        if (node->op) {
            if (!hf_sql_value_of(ev, node->args[i], &when))
                return false;
            t = hf_sql_compare_truth(ev, HF_CMP_EQ, &v, &when, node->args[0],
                                     node->args[i]);
        } else {
            t = hf_sql_truth_of(ev, node->args[i]);
        }
        if (t == HF_SQL_ERROR)
            return false;
        if (t == HF_SQL_TRUE)
            return hf_sql_value_of(ev, node->args[i + 1], ret);
    }
    return hf_sql_value_of(ev, node->args[i], ret);
}

static bool coalesce(hf_sql_eval *ev, const hf_sql_node *node,
                     hf_sql_value *ret)
{
    *ret = hf_sql_null();
    for (uint32_t i = 0; i < node->n; i++) {
        if (!hf_sql_value_of(ev, node->args[i], ret))
            return false;
        if (ret->type != HF_SQL_NULL)
            return true;
    }
    return true;
}

/* PostgreSQL passes over NULL, others give it back. */
static bool greatest(hf_sql_eval *ev, const hf_sql_node *node,
                     hf_sql_value *ret)
{
    hf_sql_value best = hf_sql_null(), v;
    bool null = false;
    int order;

    for (uint32_t i = 0; i < node->n; i++) {
        if (!hf_sql_value_of(ev, node->args[i], &v))
            return false;
        if (v.type == HF_SQL_NULL) {
            null = true;
            continue;
        }
        if (best.type == HF_SQL_NULL) {
            best = v;
            continue;
        }
        if (!hf_sql_sort_order(ev, &v, &best, &order))
            return false;
        if (node->op ? order < 0 : order > 0)
            best = v;
    }
    if (null && ev->dialect == HF_SQL_ANY && node->n > 1)
        return hf_sql_unsaid(ev, "databases differ about NULL in greatest()");
    *ret = null && ev->dialect == HF_SQL_SQLITE ? hf_sql_null() : best;
    return true;
}

static bool nullif(hf_sql_eval *ev, const hf_sql_node *node, hf_sql_value *ret)
{
    hf_sql_value a, b;
    hf_sql_truth t;

    if (!hf_sql_value_of(ev, node->args[0], &a) ||
        !hf_sql_value_of(ev, node->args[1], &b))
        return false;
    if (ev->dialect == HF_SQL_SQLITE) { /* the types of columns do not count */
        hf_sql_value x = hf_sqlite_storage(a), y = hf_sqlite_storage(b);

        t = hf_sql_order(&x, &y) == 0 ? HF_SQL_TRUE : HF_SQL_FALSE;
    } else {
        t = hf_sql_compare_truth(ev, HF_CMP_EQ, &a, &b, node->args[0],
                                 node->args[1]);
    }
    if (t == HF_SQL_ERROR)
        return false;
    *ret = t == HF_SQL_TRUE ? hf_sql_null() : a;
    return true;
}

#define MAX_TEXT (64u << 20)

static bool concat(hf_sql_eval *ev, const hf_sql_node *node, hf_sql_value *ret)
{
    hf_sql_value v[2];
    hf_str s[2];
    char *out;

    if (!hf_sql_value_of(ev, node->args[0], &v[0]) ||
        !hf_sql_value_of(ev, node->args[1], &v[1]))
        return false;
    *ret = hf_sql_null();
    if (v[0].type == HF_SQL_NULL || v[1].type == HF_SQL_NULL)
        return true;
    if (ev->dialect == HF_SQL_POSTGRES && v[0].type != HF_SQL_TEXT &&
        v[1].type != HF_SQL_TEXT)
        return hf_sql_raise(ev, "no operator %s || %s",
                            hf_sql_type_name(v[0].type, v[0].note),
                            hf_sql_type_name(v[1].type, v[1].note));
    for (int i = 0; i < 2; i++) {
        if (!hf_sql_cast(ev, v[i], HF_SQL_TEXT, 0, -1, false, &v[i]))
            return false;
        s[i] = hf_sql_text_of(&v[i]);
    }
    if (s[0].len + s[1].len > MAX_TEXT)
        return hf_sql_unsaid(ev, "a text so long");
    out = hf_arena_get(hf_sql_scratch(ev), s[0].len + s[1].len + 1);
    memcpy(out, s[0].ptr, s[0].len);
    memcpy(out + s[0].len, s[1].ptr, s[1].len);
    *ret = hf_sql_of_text((hf_str){out, s[0].len + s[1].len});
    return true;
}

static bool call(hf_sql_eval *ev, const hf_sql_node *node, hf_sql_value *ret)
{
    hf_sql_value args[3];

    for (uint32_t i = 0; i < node->n && i < 3; i++)
        if (!hf_sql_value_of(ev, node->args[i], &args[i]))
            return false;
    return hf_sql_call(ev, (hf_sql_function)node->op, args, node->n, ret);
}

/* op 1: only numbers, and only upwards (see hf_sql_bind_common()). */
static bool cast(hf_sql_eval *ev, const hf_sql_node *node, hf_sql_value *ret)
{
    hf_sql_value v;

    if (!hf_sql_value_of(ev, node->args[0], &v))
        return false;
    if (node->op == 1 && (!hf_sql_is_number(&v) || v.type >= node->type)) {
        *ret = v;
        return true;
    }
    return hf_sql_cast(ev, v, node->type, node->note, node->modifier, false,
                       ret);
}

static void column(const hf_sql_eval *ev, const hf_sql_node *node,
                   hf_sql_value *ret)
{
    const hf_sql_frame *frame = &ev->frame;

    for (unsigned i = 0; i < node->depth; i++)
        frame = frame->outer;
    *ret = frame->row[node->slot];
}

static bool arithmetic(hf_sql_eval *ev, const hf_sql_node *node,
                       hf_sql_value *ret)
{
    hf_sql_value left, right;
    const hf_sql_value *a = leaf_or_value(ev, node->args[0], &left), *b;

    if (!a || !(b = leaf_or_value(ev, node->args[1], &right)))
        return false;
    return hf_sql_arithmetic(ev, (char)node->op, *a, *b, ret);
}

bool hf_sql_value_of(hf_sql_eval *ev, const hf_sql_node *node,
                     hf_sql_value *ret)
{
    hf_sql_value v;

    switch (node->kind) {
    case HF_N_CONST:
        *ret = node->value;
        return true;
    case HF_N_COLUMN:
        column(ev, node, ret);
        return true;
    case HF_N_ARITHMETIC:
        return arithmetic(ev, node, ret);
    case HF_N_NEGATE:
        return hf_sql_value_of(ev, node->args[0], &v) &&
               hf_sql_negate(ev, v, ret);
    case HF_N_CONCAT:
        return concat(ev, node, ret);
    case HF_N_CASE:
        return case_value(ev, node, ret);
    case HF_N_COALESCE:
        return coalesce(ev, node, ret);
    case HF_N_NULLIF:
        return nullif(ev, node, ret);
    case HF_N_GREATEST:
        return greatest(ev, node, ret);
    case HF_N_CAST:
        return cast(ev, node, ret);
    case HF_N_CALL:
        return call(ev, node, ret);
    case HF_N_EXISTS:
    case HF_N_IN_SELECT:
    case HF_N_SCALAR_SELECT:
        HF_ASSERT(ev->subquery);
        return ev->subquery(ev, node, ret);
    case HF_N_PARAM:
    case HF_N_STAR:
    case HF_N_DEFAULT:
    case HF_N_AGGREGATE:
        HF_BUG("an expression is evaluated that was not bound");
    default:
        return truth_value(ev, node, ret);
    }
}
