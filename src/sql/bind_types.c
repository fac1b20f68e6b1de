/* bind_types.c: static types that have to fit: casts, comparisons, the common
 * type of branches; as PostgreSQL resolves them. */
#include "sql/bind.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

hf_sql_node *hf_sql_bind_refuse(hf_sql_binder *b, hf_status status,
                                const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    b->status = hf_fail(b->err, status, "%s", text);
    return NULL;
}

hf_sql_node *hf_sql_copy_node(hf_sql_binder *b, const hf_sql_node *node)
{
    hf_sql_node *made = hf_arena_get(b->arena, sizeof(*made));

    *made = *node;
    if (node->kind != HF_N_CAST)
        made->type = HF_SQL_TYPE_ANY;
    if (node->n > 0)
        made->args = hf_arena_get(b->arena, node->n * sizeof(*made->args));
    return made;
}

/* ---- casts -------------------------------------------------------------- */

/* A constant cast now instead of for every row. */
hf_sql_node *hf_sql_fold_cast(hf_sql_binder *b, hf_sql_node *cast)
{
    hf_sql_eval ev = {.dialect = b->dialect, .arena = b->arena};
    hf_sql_node *made;

    ev.err = b->err;
    if (cast->args[0]->kind != HF_N_CONST || cast->op == 1)
        return cast;
    made = hf_sql_copy_node(b, cast);
    if (!hf_sql_cast(&ev, cast->args[0]->value, cast->type, cast->note,
                     cast->modifier, false, &made->value)) {
        b->status = ev.status;
        return NULL;
    }
    made->kind = HF_N_CONST;
    made->n = 0;
    made->type = cast->type;
    made->note = cast->note;
    return made;
}

hf_sql_node *hf_sql_bind_cast(hf_sql_binder *b, hf_sql_node *node,
                              unsigned type, unsigned note)
{
    hf_sql_node *cast;

    if (node->type == type && node->note == note && !hf_sql_is_literal(node))
        return node;
    cast = hf_arena_get(b->arena, sizeof(*cast));
    cast->kind = HF_N_CAST;
    cast->type = (uint8_t)type;
    cast->note = (uint8_t)note;
    cast->modifier = -1;
    cast->n = 1;
    cast->args = hf_arena_get(b->arena, sizeof(*cast->args));
    cast->args[0] = node;
    return hf_sql_fold_cast(b, cast);
}

/* ---- types that must fit ------------------------------------------------ */

/* Two sides of a comparison: literals take the other's type. */
bool hf_sql_fit_pair(hf_sql_binder *b, hf_sql_node **x, hf_sql_node **y)
{
    hf_sql_node *a = *x, *c = *y;

    if (!hf_sql_is_static(b))
        return true;
    if (hf_sql_is_literal(a) && hf_sql_is_literal(c)) {
        *x = hf_sql_bind_cast(b, a, HF_SQL_TEXT, 0);
        *y = hf_sql_bind_cast(b, c, HF_SQL_TEXT, 0);
        return true;
    }
    if (a->type == HF_SQL_TYPE_ANY || c->type == HF_SQL_TYPE_ANY ||
        a->type == HF_SQL_NULL || c->type == HF_SQL_NULL)
        return true;
    if (hf_sql_is_literal(a))
        return (*x = hf_sql_bind_cast(b, a, c->type, c->note)) != NULL;
    if (hf_sql_is_literal(c))
        return (*y = hf_sql_bind_cast(b, c, a->type, a->note)) != NULL;
    if (a->type == c->type ||
        (hf_sql_is_numeric_type(a->type) && hf_sql_is_numeric_type(c->type)) ||
        (hf_sql_is_time_type(a->type) && hf_sql_is_time_type(c->type)))
        return true;
    hf_sql_bind_refuse(b, HF_ERR_INPUT, "no operator to compare %s with %s",
                       hf_sql_type_name(a->type, a->note),
                       hf_sql_type_name(c->type, c->note));
    return false;
}

/* The type that both can become; false: none. */
bool hf_sql_wider(hf_sql_node *best, const hf_sql_node *n)
{
    if (best->type == HF_SQL_NULL) {
        best->type = n->type;
        best->note = n->note;
        return true;
    }
    if (hf_sql_is_numeric_type(best->type) && hf_sql_is_numeric_type(n->type)) {
        if (n->type > best->type) {
            best->type = n->type;
            best->note = n->note;
        } else if (n->type == best->type && n->type == HF_SQL_INT &&
                   n->note != best->note) {
            best->note =
                best->note == HF_SQL_NOTE_INT8 || n->note == HF_SQL_NOTE_INT8
                    ? HF_SQL_NOTE_INT8
                    : 0;
        }
        return true;
    }
    if (hf_sql_is_time_type(best->type) && hf_sql_is_time_type(n->type)) {
        if (n->type > best->type)
            best->type = n->type;
        return true;
    }
    return best->type == n->type;
}

static hf_sql_node *widen_later(hf_sql_binder *b, hf_sql_node *node,
                                const hf_sql_node *best)
{
    hf_sql_node *cast;

    if (node->type != HF_SQL_TYPE_ANY || !hf_sql_is_numeric_type(best->type) ||
        best->type == HF_SQL_INT)
        return node;
    cast = hf_arena_get(b->arena, sizeof(*cast));
    *cast = (hf_sql_node){.kind = HF_N_CAST, .op = 1, .modifier = -1, .n = 1};
    cast->type = best->type;
    cast->args = hf_arena_get(b->arena, sizeof(*cast->args));
    cast->args[0] = node;
    return cast;
}

bool hf_sql_bind_common(hf_sql_binder *b, hf_sql_node **nodes, uint32_t n,
                        const char *what, hf_sql_node *ret_type)
{
    hf_sql_node best = {.type = HF_SQL_NULL};
    bool any = false;

    ret_type->type = HF_SQL_TYPE_ANY;
    ret_type->note = 0;
    if (!hf_sql_is_static(b))
        return true;
    for (uint32_t i = 0; i < n; i++) {
        any |= nodes[i]->type == HF_SQL_TYPE_ANY;
        if (nodes[i]->type == HF_SQL_TYPE_ANY || hf_sql_is_literal(nodes[i]) ||
            nodes[i]->type == HF_SQL_NULL)
            continue;
        if (!hf_sql_wider(&best, nodes[i])) {
            hf_sql_bind_refuse(
                b, HF_ERR_INPUT, "%s: types %s and %s do not fit", what,
                hf_sql_type_name(best.type, best.note),
                hf_sql_type_name(nodes[i]->type, nodes[i]->note));
            return false;
        }
    }
    if (best.type == HF_SQL_NULL && !any)
        best.type = HF_SQL_TEXT;
    for (uint32_t i = 0; i < n; i++) {
        if (any)
            nodes[i] = widen_later(b, nodes[i], &best);
        else if (nodes[i]->type != HF_SQL_NULL)
            nodes[i] = hf_sql_bind_cast(b, nodes[i], best.type, best.note);
        if (!nodes[i])
            return false;
    }
    if (!any) {
        ret_type->type = best.type;
        ret_type->note = best.note;
    }
    return true;
}
