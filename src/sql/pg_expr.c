/* pg_expr.c: libpg_query's expressions into ours.
 *
 * NOT IN and its like become a flag.  Depth is
 * bounded, so a hostile text cannot exhaust the stack.
 */
#include "sql/pg_convert.h"

#include <stdio.h>

#include "base/error.h"
#include "sql/value.h"

#define MAX_DEPTH 1500u

void *hf_pg_unsupported(hf_pg_convert *c, const char *what)
{
    (void)hf_fail(c->err, HF_ERR_UNSUPPORTED, "%s not supported", what);
    return NULL;
}

hf_str hf_pg_text(hf_pg_convert *c, const char *c_string)
{
    size_t n = c_string ? strlen(c_string) : 0;

    return (hf_str){n ? hf_arena_text(c->arena, c_string, n) : "", n};
}

hf_sql_node *hf_pg_node(hf_pg_convert *c, hf_sql_kind kind, uint32_t n)
{
    hf_sql_node *node = hf_arena_get(c->arena, sizeof(*node));

    node->kind = (uint8_t)kind;
    node->n = n;
    if (n > 0)
        node->args = hf_arena_get(c->arena, n * sizeof(*node->args));
    return node;
}

bool hf_pg_exprs(hf_pg_convert *c, PgQuery__Node *const *nodes, size_t n,
                 hf_sql_node **ret)
{
    for (size_t i = 0; i < n; i++)
        if (!(ret[i] = hf_pg_expr(c, nodes[i])))
            return false;
    return true;
}

const char *hf_pg_string(const PgQuery__Node *node)
{
    return node && node->node_case == PG_QUERY__NODE__NODE_STRING
               ? node->string->sval
               : "";
}

static hf_sql_node *unary(hf_pg_convert *c, hf_sql_kind kind,
                          const PgQuery__Node *arg)
{
    hf_sql_node *node = hf_pg_node(c, kind, 1);

    node->args[0] = hf_pg_expr(c, arg);
    return node->args[0] ? node : NULL;
}

static hf_sql_node *binary(hf_pg_convert *c, hf_sql_kind kind,
                           const PgQuery__Node *a, const PgQuery__Node *b)
{
    hf_sql_node *node = hf_pg_node(c, kind, 2);

    node->args[0] = hf_pg_expr(c, a);
    node->args[1] = node->args[0] ? hf_pg_expr(c, b) : NULL;
    return node->args[1] ? node : NULL;
}

/* ---- leaves ------------------------------------------------------------- */

static hf_sql_node *constant(hf_pg_convert *c, const PgQuery__AConst *a)
{
    hf_sql_node *node = hf_pg_node(c, HF_N_CONST, 0);
    hf_sql_value *v = &node->value;

    if (a->isnull)
        return node;
    switch (a->val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
        *v = hf_sql_of_int(a->ival->ival);
        v->note = HF_SQL_NOTE_INT4;
        return node;
    case PG_QUERY__A__CONST__VAL_FVAL:
        if (!hf_sql_number(hf_pg_text(c, a->fval->fval), v))
            return hf_pg_unsupported(c, "a number of this form is");
        if (v->type == HF_SQL_INT)
            v->note = v->integer == (int32_t)v->integer ? HF_SQL_NOTE_INT4
                                                        : HF_SQL_NOTE_INT8;
        if (v->type == HF_SQL_REAL)
            return hf_pg_unsupported(c, "a number of so many digits is");
        return node;
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
        *v = hf_sql_of_bool(a->boolval->boolval);
        return node;
    case PG_QUERY__A__CONST__VAL_SVAL:
        *v = hf_sql_of_text(hf_pg_text(c, a->sval->sval));
        v->note = HF_SQL_NOTE_LITERAL;
        return node;
    default:
        return hf_pg_unsupported(c, "a bit string is");
    }
}

static hf_sql_node *column(hf_pg_convert *c, const PgQuery__ColumnRef *r)
{
    hf_sql_node *node = hf_pg_node(c, HF_N_COLUMN, 0);
    const PgQuery__Node *last;

    if (r->n_fields == 0 || r->n_fields > 2)
        return hf_pg_unsupported(c, "a column name of three parts is");
    last = r->fields[r->n_fields - 1];
    if (r->n_fields == 2)
        node->table = hf_pg_text(c, hf_pg_string(r->fields[0]));
    if (last->node_case == PG_QUERY__NODE__NODE_A_STAR)
        node->kind = HF_N_STAR;
    else
        node->name = hf_pg_text(c, hf_pg_string(last));
    return node;
}

static hf_sql_node *parameter(hf_pg_convert *c, const PgQuery__ParamRef *p)
{
    hf_sql_node *node = hf_pg_node(c, HF_N_PARAM, 0);

    if (p->number < 1 || p->number > 65535)
        return hf_pg_unsupported(c, "a parameter without number is");
    node->slot = (uint32_t)p->number - 1;
    if (c->n_params < (uint32_t)p->number)
        c->n_params = (uint32_t)p->number;
    return node;
}

/* ---- operators ---------------------------------------------------------- */

static hf_sql_node *between(hf_pg_convert *c, const PgQuery__AExpr *e)
{
    hf_sql_node *node = hf_pg_node(c, HF_N_BETWEEN, 3);

    if (!e->rexpr || e->rexpr->node_case != PG_QUERY__NODE__NODE_LIST ||
        e->rexpr->list->n_items != 2)
        return hf_pg_unsupported(c, "BETWEEN of this form is");
    node->op = e->kind == PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM ||
               e->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM;
    if (e->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN ||
        e->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM)
        node->flags |= HF_NF_NEGATED;
    node->args[0] = hf_pg_expr(c, e->lexpr);
    return node->args[0] &&
                   hf_pg_exprs(c, e->rexpr->list->items, 2, node->args + 1)
               ? node
               : NULL;
}

static hf_sql_node *in_list(hf_pg_convert *c, const PgQuery__AExpr *e)
{
    hf_sql_node *node;
    size_t n;

    if (!e->rexpr || e->rexpr->node_case != PG_QUERY__NODE__NODE_LIST)
        return hf_pg_unsupported(c, "IN of this form is");
    n = e->rexpr->list->n_items;
    node = hf_pg_node(c, HF_N_IN, (uint32_t)n + 1);
    node->args[0] = hf_pg_expr(c, e->lexpr);
    if (!node->args[0] ||
        !hf_pg_exprs(c, e->rexpr->list->items, n, node->args + 1))
        return NULL;
    if (strcmp(hf_pg_string(e->name[0]), "<>") == 0)
        node->flags |= HF_NF_NEGATED;
    return node;
}

/* The pattern of LIKE ... ESCAPE comes wrapped in a function. */
static hf_sql_node *like(hf_pg_convert *c, const PgQuery__AExpr *e)
{
    const PgQuery__Node *pattern = e->rexpr, *escape = NULL;
    hf_sql_node *node;

    if (pattern && pattern->node_case == PG_QUERY__NODE__NODE_FUNC_CALL &&
        pattern->func_call->n_funcname == 2 &&
        strcmp(hf_pg_string(pattern->func_call->funcname[1]), "like_escape") ==
            0 &&
        pattern->func_call->n_args == 2) {
        escape = pattern->func_call->args[1];
        pattern = pattern->func_call->args[0];
    }
    node = hf_pg_node(c, HF_N_LIKE, escape ? 3 : 2);
    if (!(node->args[0] = hf_pg_expr(c, e->lexpr)) ||
        !(node->args[1] = hf_pg_expr(c, pattern)))
        return NULL;
    if (escape && !(node->args[2] = hf_pg_expr(c, escape)))
        return NULL;
    node->op = e->kind == PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE;
    if (hf_pg_string(e->name[0])[0] == '!')
        node->flags |= HF_NF_NEGATED;
    return node;
}

static hf_sql_node *operator_node(hf_pg_convert *c, const PgQuery__AExpr *e)
{
    static const struct {
        const char *symbol;
        hf_sql_comparison op;
    } comparisons[] = {{"=", HF_CMP_EQ},  {"==", HF_CMP_EQ}, {"<>", HF_CMP_NE},
                       {"<", HF_CMP_LT},  {"<=", HF_CMP_LE}, {">", HF_CMP_GT},
                       {">=", HF_CMP_GE}, {"!=", HF_CMP_NE}};
    const char *name = e->n_name == 1 ? hf_pg_string(e->name[0]) : "";
    hf_sql_node *node;
    char what[80];

    if (!e->lexpr && strcmp(name, "-") == 0)
        return unary(c, HF_N_NEGATE, e->rexpr);
    if (!e->lexpr && strcmp(name, "+") == 0)
        return hf_pg_expr(c, e->rexpr);
    for (size_t i = 0; e->lexpr && i < 8; i++)
        if (strcmp(name, comparisons[i].symbol) == 0) {
            node = binary(c, HF_N_COMPARE, e->lexpr, e->rexpr);
            if (node)
                node->op = (uint8_t)comparisons[i].op;
            return node;
        }
    if (e->lexpr && strcmp(name, "||") == 0)
        return binary(c, HF_N_CONCAT, e->lexpr, e->rexpr);
    if (e->lexpr && strlen(name) == 1 && strchr("+-*/%", name[0])) {
        node = binary(c, HF_N_ARITHMETIC, e->lexpr, e->rexpr);
        if (node)
            node->op = (uint8_t)name[0];
        return node;
    }
    (void)snprintf(what, sizeof(what), "operator %.20s is", name);
    return hf_pg_unsupported(c, what);
}

static hf_sql_node *a_expr(hf_pg_convert *c, const PgQuery__AExpr *e)
{
    hf_sql_node *node;

    switch (e->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
        return operator_node(c, e);
    case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT:
        node = binary(c, HF_N_DISTINCT, e->lexpr, e->rexpr);
        if (node && e->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT)
            node->flags |= HF_NF_NEGATED;
        return node;
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
        return binary(c, HF_N_NULLIF, e->lexpr, e->rexpr);
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
        return in_list(c, e);
    case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE:
    case PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE:
        return like(c, e);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM:
        return between(c, e);
    case PG_QUERY__A__EXPR__KIND__AEXPR_SIMILAR:
        return hf_pg_unsupported(c, "SIMILAR TO is");
    default:
        return hf_pg_unsupported(c, "ANY and ALL over arrays are");
    }
}

/* ---- logic -------------------------------------------------------------- */

static hf_sql_node *bool_expr(hf_pg_convert *c, const PgQuery__BoolExpr *b)
{
    hf_sql_kind kind =
        b->boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR  ? HF_N_AND
        : b->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR ? HF_N_OR
                                                         : HF_N_NOT;
    hf_sql_node *node = hf_pg_node(c, kind, (uint32_t)b->n_args);

    return hf_pg_exprs(c, b->args, b->n_args, node->args) ? node : NULL;
}

static hf_sql_node *boolean_test(hf_pg_convert *c,
                                 const PgQuery__BooleanTest *t)
{
    hf_sql_node *node = unary(c, HF_N_IS_TRUTH, t->arg);

    if (!node)
        return NULL;
    switch (t->booltesttype) {
    case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE:
        node->flags |= HF_NF_NEGATED;
        node->op = HF_SQL_TRUE;
        break;
    case PG_QUERY__BOOL_TEST_TYPE__IS_FALSE:
        node->op = HF_SQL_FALSE;
        break;
    case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_FALSE:
        node->flags |= HF_NF_NEGATED;
        node->op = HF_SQL_FALSE;
        break;
    case PG_QUERY__BOOL_TEST_TYPE__IS_UNKNOWN:
        node->op = HF_SQL_UNKNOWN;
        break;
    case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN:
        node->flags |= HF_NF_NEGATED;
        node->op = HF_SQL_UNKNOWN;
        break;
    default:
        node->op = HF_SQL_TRUE;
    }
    return node;
}

static hf_sql_node *null_test(hf_pg_convert *c, const PgQuery__NullTest *t)
{
    hf_sql_node *node = unary(c, HF_N_IS_NULL, t->arg);

    if (node && t->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NOT_NULL)
        node->flags |= HF_NF_NEGATED;
    return node;
}

static hf_sql_node *case_expr(hf_pg_convert *c, const PgQuery__CaseExpr *e)
{
    bool has_arg = e->arg != NULL;
    hf_sql_node *node =
        hf_pg_node(c, HF_N_CASE, (uint32_t)(has_arg + 2 * e->n_args + 1));
    hf_sql_node **out = node->args;

    node->op = has_arg;
    if (has_arg && !(*out++ = hf_pg_expr(c, e->arg)))
        return NULL;
    for (size_t i = 0; i < e->n_args; i++) {
        if (e->args[i]->node_case != PG_QUERY__NODE__NODE_CASE_WHEN)
            return hf_pg_unsupported(c, "CASE of this form is");
        if (!(*out++ = hf_pg_expr(c, e->args[i]->case_when->expr)) ||
            !(*out++ = hf_pg_expr(c, e->args[i]->case_when->result)))
            return NULL;
    }
    *out = e->defresult ? hf_pg_expr(c, e->defresult)
                        : hf_pg_node(c, HF_N_CONST, 0);
    return *out ? node : NULL;
}

static hf_sql_node *sub_link(hf_pg_convert *c, const PgQuery__SubLink *s)
{
    hf_sql_node *node;

    if (!s->subselect ||
        s->subselect->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
        return hf_pg_unsupported(c, "a subquery of this form is");
    switch (s->sub_link_type) {
    case PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK:
        node = hf_pg_node(c, HF_N_EXISTS, 0);
        break;
    case PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK:
        node = hf_pg_node(c, HF_N_SCALAR_SELECT, 0);
        break;
    case PG_QUERY__SUB_LINK_TYPE__ANY_SUBLINK:
        if (s->n_oper_name > 0 && strcmp(hf_pg_string(s->oper_name[0]), "="))
            return hf_pg_unsupported(c, "ANY with another operator than = is");
        node = unary(c, HF_N_IN_SELECT, s->testexpr);
        if (!node)
            return NULL;
        break;
    default:
        return hf_pg_unsupported(c, "a subquery with ALL or ARRAY is");
    }
    node->select = hf_pg_select(c, s->subselect->select_stmt);
    return node->select ? node : NULL;
}

/* ---- the rest ----------------------------------------------------------- */

static hf_sql_node *list_node(hf_pg_convert *c, hf_sql_kind kind,
                              PgQuery__Node *const *args, size_t n)
{
    hf_sql_node *node = hf_pg_node(c, kind, (uint32_t)n);

    return hf_pg_exprs(c, args, n, node->args) ? node : NULL;
}

static hf_sql_node *rare(hf_pg_convert *c, const PgQuery__Node *node)
{
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_SET_TO_DEFAULT:
        return hf_pg_node(c, HF_N_DEFAULT, 0);
    case PG_QUERY__NODE__NODE_ROW_EXPR:
        return hf_pg_unsupported(c, "a row (a, b) as a value is");
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
        return hf_pg_unsupported(c, "COLLATE is");
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
        return hf_pg_unsupported(c, "the current time or user is");
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
        return hf_pg_unsupported(c, "an array is");
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
        return hf_pg_unsupported(c, "a part of a value (v[i], v.f) is");
    case PG_QUERY__NODE__NODE_GROUPING_SET:
    case PG_QUERY__NODE__NODE_GROUPING_FUNC:
        return hf_pg_unsupported(c, "GROUPING is");
    case PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF:
        return hf_pg_unsupported(c, "SET (a, b) = ... is");
    default:
        return hf_pg_unsupported(c, "this construct is");
    }
}

static hf_sql_node *expr(hf_pg_convert *c, const PgQuery__Node *node)
{
    hf_sql_node *made;

    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_A_CONST:
        return constant(c, node->a_const);
    case PG_QUERY__NODE__NODE_COLUMN_REF:
        return column(c, node->column_ref);
    case PG_QUERY__NODE__NODE_PARAM_REF:
        return parameter(c, node->param_ref);
    case PG_QUERY__NODE__NODE_A_EXPR:
        return a_expr(c, node->a_expr);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
        return bool_expr(c, node->bool_expr);
    case PG_QUERY__NODE__NODE_NULL_TEST:
        return null_test(c, node->null_test);
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
        return boolean_test(c, node->boolean_test);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        return case_expr(c, node->case_expr);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return list_node(c, HF_N_COALESCE, node->coalesce_expr->args,
                         node->coalesce_expr->n_args);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
        made = list_node(c, HF_N_GREATEST, node->min_max_expr->args,
                         node->min_max_expr->n_args);
        if (made)
            made->op = node->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_LEAST;
        return made;
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        return hf_pg_cast(c, node->type_cast);
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        return hf_pg_call(c, node->func_call);
    case PG_QUERY__NODE__NODE_SUB_LINK:
        return sub_link(c, node->sub_link);
    default:
        return rare(c, node);
    }
}

/* ---- who comes first ---------------------------------------------------- */

/* Comparisons and their like: 1; sums and products: 2; ||: 3; others: 0. */
static unsigned rank_of(const hf_sql_node *node)
{
    switch (node->kind) {
    case HF_N_COMPARE:
    case HF_N_DISTINCT:
    case HF_N_IS_NULL:
    case HF_N_IS_TRUTH:
    case HF_N_IN:
    case HF_N_IN_SELECT:
    case HF_N_BETWEEN:
    case HF_N_LIKE:
        return 1;
    case HF_N_ARITHMETIC:
        return 2;
    case HF_N_CONCAT:
        return 3;
    default:
        return 0;
    }
}

static int location_of(const PgQuery__Node *node)
{
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_A_EXPR:
        return node->a_expr->location;
    case PG_QUERY__NODE__NODE_NULL_TEST:
        return node->null_test->location;
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
        return node->boolean_test->location;
    case PG_QUERY__NODE__NODE_SUB_LINK:
        return node->sub_link->location;
    default:
        return 0;
    }
}

/* Keeps how deep in parentheses an operator stands (in slot, which operators
 * do not use), and marks those that another one at the same depth touches
 * where databases differ: a comparison in another operator, || beside + or
 * *. */
static void mark_loose(hf_pg_convert *c, const PgQuery__Node *from,
                       hf_sql_node *made)
{
    unsigned rank = rank_of(made);

    if (rank == 0)
        return;
    made->slot = hf_sql_lexed_depth(c->lexed, (uint32_t)location_of(from));
    for (uint32_t i = 0; i < made->n; i++) {
        unsigned other = rank_of(made->args[i]);

        if (other != 0 && made->args[i]->slot == made->slot &&
            (other == 1 || rank + other == 5))
            made->flags |= HF_NF_LOOSE;
    }
}

hf_sql_node *hf_pg_expr(hf_pg_convert *c, const PgQuery__Node *node)
{
    hf_sql_node *made;

    if (!node)
        return hf_pg_unsupported(c, "an empty expression is");
    if (c->depth >= MAX_DEPTH)
        return hf_pg_unsupported(c, "an expression nested so deeply is");
    c->depth++;
    made = expr(c, node);
    c->depth--;
    if (made)
        mark_loose(c, node, made);
    return made;
}
